__constant int table[5] = {3, 1, 4, 1, 5};
__attribute__((noinline)) int walk(global int *p, int x) {
    int sum = 0;
    for (int i = 0; i < x; i++) { if (p[i] > 3) sum += table[p[i] % 5]; if (sum > 100) break; }
    return sum;
}
kernel void first(global int *p, global int *q, int n, char c) {
    int i = __builtin_amdgcn_workitem_id_x();
    if (i < n) q[i] = walk(p, i); else q[i] = c;
}
kernel __attribute__((reqd_work_group_size(64, 2, 1))) void second(global int *p, local int *tile, float4 v) {
    int i = __builtin_amdgcn_workitem_id_x();
    tile[i] = v.x;
    if (i & 1) p[i] = tile[i ^ 1];
}
