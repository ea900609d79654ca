// A comparison that writes EXEC and no other register: OLD is saved before it, and SCC says nothing.
    s_mov_{wave} {8}, {exec}
    v_cmpx_gt_u32_e32 7, v0
    v_mov_b32_e32 v1, 1
    s_mov_{wave} {exec}, {8}
    s_endpgm
