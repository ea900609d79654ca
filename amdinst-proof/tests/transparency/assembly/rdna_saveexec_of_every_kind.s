// refused: unclassified-narrowing: sets a mask of unknown origin
// cpus: gfx1100 gfx1100:wave64 gfx1151 gfx1201 gfx1201:wave64 gfx1010 gfx1010:wave64 gfx1030 gfx1030:wave64
// Each instruction that saves EXEC, or writes it back, and changes it; the last ones save it nowhere.
kernel test
    begin
    s_mov_{wave} {10}, {exec}
    v_cmp_lt_u32_e64 {12}, 7, v2
    .irp op, s_and_saveexec_{wave}, s_or_saveexec_{wave}, s_xor_saveexec_{wave}, s_and_not1_saveexec_{wave}, s_or_not1_saveexec_{wave}, s_nand_saveexec_{wave}, s_nor_saveexec_{wave}, s_xnor_saveexec_{wave}, s_and_not0_saveexec_{wave}, s_or_not0_saveexec_{wave}
    \op {14}, {12}
    s_and_{wave} {exec}, {exec}, {10}
    v_add_nc_u32_e32 v3, 1, v3
    s_mov_{wave} {exec}, {10}
    .endr
    s_and_not0_wrexec_{wave} {16}, {12}
    v_add_nc_u32_e32 v3, 3, v3
    s_mov_{wave} {exec}, {10}
    s_and_not1_wrexec_{wave} {16}, {12}
    v_add_nc_u32_e32 v3, 5, v3
    s_mov_{wave} {exec}, {10}
    s_and_saveexec_{wave} {12}, {12}
    v_add_nc_u32_e32 v3, 7, v3
    s_and_saveexec_{wave} {16}, {exec}
    s_and_not1_saveexec_{wave} {16}, {exec}
    s_mov_{wave} {exec}, {12}
    finish
end test
