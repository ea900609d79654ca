// Kernels of `tests/wave_registers.rs`.
#define X __builtin_amdgcn_workitem_id_x()
#define GX __builtin_amdgcn_workgroup_id_x()
#define SIZE __builtin_amdgcn_workgroup_size_x()
__attribute__((reqd_work_group_size(320, 1, 1))) kernel void places(global uint *out) {
    uint id, status;
    __asm__ volatile("s_getreg_b32 %0, hwreg(HW_REG_HW_ID)\n s_getreg_b32 %1, hwreg(HW_REG_STATUS)"
                     : "=s"(id), "=s"(status));
    out[2 * (GX * SIZE + X)] = id;
    out[2 * (GX * SIZE + X) + 1] = status; }
// Reads v[200 + workgroup & 7], which the kernel is allotted and names nowhere, then dirties them.
kernel void indexed(global uint *out) {
    uint seen, mark = GX + 1;
    __asm__ volatile("s_set_gpr_idx_on %1, gpr_idx(SRC0)\n v_mov_b32 %0, v0\n s_set_gpr_idx_off\n"
                     "s_set_gpr_idx_on %1, gpr_idx(DST)\n v_mov_b32 v0, %2\n s_set_gpr_idx_off"
                     : "=v"(seen) : "s"(200 + (GX & 7)), "s"(mark) : "v207");
    out[GX * SIZE + X] = seen; }
