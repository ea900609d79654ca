// Kernels of `tests/uninitialised.rs`.
#define X __builtin_amdgcn_workitem_id_x()
#define AT (__builtin_amdgcn_workgroup_id_x() * 64 + X)
kernel void lds(global uint *out) {
    volatile local uint tile[64]; out[AT] = tile[X]; tile[X] = 1; }
kernel void lds_byte(global uint *out) {
    volatile local uchar tile[67]; out[AT] = tile[X + 3]; for (int i = 0; i < 67; ++i) tile[i] = 1; }
kernel void scratch(global uint *out) {
    volatile uint values[9]; out[AT] = values[X % 9]; for (int i = 0; i < 9; ++i) values[i] = 1; }
kernel void vector(global uint *out) {
    uint value; __asm__ volatile("v_mov_b32 %0, v77\n\tv_mov_b32 v77, 1" : "=v"(value) : : "v77"); out[AT] = value; }
kernel void scalar(global uint *out) {
    uint value; __asm__ volatile("s_mov_b32 %0, s77\n\ts_mov_b32 s77, 1" : "=s"(value) : : "s77"); out[AT] = value; }
kernel void selected(global uint *out) {
    volatile local uint tile[65]; tile[X] = X; uint next = tile[X + 1]; out[AT] = X < 63 ? next : 7; }
kernel void byte_of_four(global uint *out) {
    local uchar tile[256]; volatile local uchar *t = tile; t[X * 4] = 1; t[X * 4 + 2] = X == 9 ? t[X * 4 + 3] : 1;
    ((global uchar *)out)[AT * 4 + 1] = t[X * 4 + 2]; }
kernel void branch(global uint *out) {
    volatile local uint tile[64]; if (tile[X] > 5) out[AT] = 1; }
kernel void shifted(global uint *out) {
    uint value; __asm__ volatile("v_lshl_add_u32 %0, v77, s77, 0" : "=v"(value) : : "v77", "s77"); out[AT] = value & 0x3ff; }
kernel void spill(global uint *out) {
    uint4 value; value.x = X; uint4 copy[2]; volatile uint4 *c = copy; c[X & 1] = value; out[AT] = c[X & 1].x; }
kernel void byte_stored(global uchar *out) {
    uint value; __asm__ volatile("v_mov_b32 %0, v77" : "=v"(value) : : "v77"); out[AT] = value; }
kernel void scratch_byte(global uint *out) {
    volatile uchar values[9]; out[AT] = values[X % 9]; for (int i = 0; i < 9; ++i) values[i] = 1; }
kernel void lds_atomic(global uint *out) {
    volatile local uint tile[64]; out[AT] = __builtin_amdgcn_atomic_inc32(&tile[X], 7, __ATOMIC_RELAXED, "workgroup"); }
kernel void indexed(global uint *out) {
    uint value; __asm__ volatile("v_mov_b32 v70, 1\n\ts_set_gpr_idx_on %1, gpr_idx(SRC0)\n\tv_max_u32 %0, v70, %2\n\t"
    "s_set_gpr_idx_off" : "=&v"(value) : "s"(7), "v"(X) : "v70", "v77"); out[AT] = value; }
kernel void indexed_to_what_is_written(global uint *out) {
    uint value; __asm__ volatile("v_mov_b32 v77, 1\n\ts_set_gpr_idx_on %1, gpr_idx(SRC0)\n\tv_max_u32 %0, v70, %2\n\t"
    "s_set_gpr_idx_off" : "=&v"(value) : "s"(7), "v"(X) : "v70", "v77"); out[AT] = value; }
kernel void moved_by_index(global uint *out) {
    uint value; __asm__ volatile("v_mov_b32 v70, 1\n\ts_set_gpr_idx_on %1, gpr_idx(SRC0)\n\tv_mov_b32 %0, v70\n\t"
    "s_set_gpr_idx_off" : "=&v"(value) : "s"(7) : "v70", "v77"); out[AT] = value; }
kernel void lane(global uint *out) {
    uint value; __asm__ volatile("v_mov_b32 v70, 1\n\tv_readlane_b32 %0, v70, s77" : "=s"(value) : : "s77", "v70"); out[AT] = value; }
kernel void exchanged(global uint *out) {
    uint value; __asm__ volatile("v_mov_b32 v76, 1\n\tv_swap_b32 v76, v77\n\tv_mov_b32 %0, v76" : "=v"(value) : : "v76", "v77");
    out[AT] = value; }
kernel void permuted(global uint *out) {
    uint value; __asm__ volatile("ds_bpermute_b32 %0, %1, v77\n\ts_waitcnt lgkmcnt(0)" : "=v"(value) : "v"(4 * X) : "v77");
    out[AT] = value; }
