// As `mask_where_the_return_address_was`, with more of what reads a mask: halves that it chooses, and carries. Where no lane has set it,
// the return address is there, and no lane uses what came of it.
// cpus: gfx1100 gfx1100:wave64 gfx1151
kernel test
    begin
    site
    call gathers
    site
    finish
end test
function gathers
    v_writelane_b32 v9, s30, 0
    v_writelane_b32 v9, s31, 1
    v_mov_b32_e32 v4, 0
    v_cmp_gt_u32_e32 {vcc}, 32, v2
    s_mov_{wave} {12}, {vcc}
    s_and_saveexec_{wave} {14}, {vcc}
    s_cbranch_execz 0f
    v_cmp_gt_u32_e32 {vcc}, 16, v2
    s_and_{wave} {30}, {vcc}, {exec}
0:
    s_or_{wave} {exec}, {exec}, {14}
    v_cndmask_b16 v4.l, 0, 1, {30}
    v_add_co_ci_u32_e64 v5, {vcc}, v2, v4, {30}
    v_cndmask_b32_e64 v5, 0, v5, {12}
    v_add_nc_u32_e32 v3, v3, v5
    v_readlane_b32 s30, v9, 0
    v_readlane_b32 s31, v9, 1
    s_setpc_b64 s[30:31]
end gathers
