// What HIP's headers would bring, so that kernels compile with clang alone.
#pragma once

#define __global__ extern "C" __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __noinline __attribute__((noinline))

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;

#define LOCAL_X __builtin_amdgcn_workitem_id_x()
#define LOCAL_Y __builtin_amdgcn_workitem_id_y()
#define LOCAL_Z __builtin_amdgcn_workitem_id_z()
#define GROUP_X __builtin_amdgcn_workgroup_id_x()
#define GROUP_Y __builtin_amdgcn_workgroup_id_y()
#define GROUP_Z __builtin_amdgcn_workgroup_id_z()
#define SIZE_X __builtin_amdgcn_workgroup_size_x()
#define SIZE_Y __builtin_amdgcn_workgroup_size_y()
#define SIZE_Z __builtin_amdgcn_workgroup_size_z()
#define GLOBAL_X (GROUP_X * SIZE_X + LOCAL_X)
#define GLOBAL_Y (GROUP_Y * SIZE_Y + LOCAL_Y)
#define GLOBAL_Z (GROUP_Z * SIZE_Z + LOCAL_Z)

static inline __device__ void barrier() {
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
}
