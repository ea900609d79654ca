#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
__device__ int counter = 3;
__device__ int *pointer = &counter;
__device__ __attribute__((noinline)) int helper(int x) { return x * x + counter; }
typedef int (*function)(int);
__device__ function table = helper;
__device__ inline int inlined(int x) {
    if (x > 3) return x * 7;
    return x + 1;
}
extern "C" __global__ void first(int *a, int n) {
    int i = __builtin_amdgcn_workitem_id_x();
    if (i < n) a[i] = helper(a[i]) + inlined(i) + *pointer;
}
extern "C" __global__ void second(int *a, int n) {
    __attribute__((shared)) static int tile[64];
    int i = __builtin_amdgcn_workitem_id_x() + __builtin_amdgcn_workgroup_id_y();
    tile[i] = i;
    __builtin_amdgcn_s_barrier();
    a[i] = tile[63 - i] + table(n);
}
