#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
template <typename T> __device__ inline T inner(T x, int n) {
    T sum = 0;
    for (int i = 0; i < n; i++) { if (x & i) sum += x * i; else sum -= i; }
    return sum;
}
namespace space {
__device__ inline int outer(int x, int n) { return inner(x, n) + inner(x + 1, n * 2); }
__device__ __attribute__((noinline)) int called(int x) { return outer(x, 3) ^ x; }
}
extern "C" __global__ void nested(int *a, int n) {
    int i = __builtin_amdgcn_workitem_id_x();
    if (i < n) a[i] = space::outer(a[i], n) + space::called(i);
}
