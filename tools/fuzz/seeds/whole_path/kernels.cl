// What the mutants of the whole path begin with, beside the fixture of `cargo-amdinst`. Each kernel has means of its own to go
// wrong: LDS and barriers, atomics, scratch memory and a call, lanes that leave a loop one by one. Made by, for each NAME:
//
//   clang-22 --target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -O1 -g0 -x cl -cl-std=CL2.0 -Xclang -finclude-default-header -DNAME kernels.cl -o name.elf
//
// and those of GFX11 with -mcpu=gfx1100 and -o name.gfx1100.elf.

#define item (uint) __builtin_amdgcn_workitem_id_x()
#define group (uint) __builtin_amdgcn_workgroup_id_x()

#ifdef SHARED
__kernel void shared(__global uint *out, uint n) {
    __local uint tile[256];
    tile[item & 255] = out[(group * 64 + item) & 1023];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    if (item < n)
        out[(group * 64 + item) & 1023] = tile[(item + 1) & 63];
}
#endif

#ifdef ATOMICS
__kernel void atomics(__global uint *out, uint n) {
    uint i = group * 64 + item;
    if (i % 3 == 0)
        __opencl_atomic_fetch_add((__global atomic_uint *)&out[i % (n + 1)], i, memory_order_relaxed, memory_scope_device);
    else if (i % 3 == 1)
        __opencl_atomic_fetch_max((__global atomic_uint *)&out[512 + i % 7], i, memory_order_relaxed, memory_scope_device);
}
#endif

#ifdef CALLED
__attribute__((noinline)) uint digits(uint x, uint base) {
    uint found[16];
    uint count = 0;
    while (x != 0 && count < 16) {
        found[count++] = x % base;
        x /= base;
    }
    uint sum = 0;
    for (uint i = 0; i < count; i++)
        sum = sum * 31 + found[(i * 7) & 15 & (count - 1)];
    return sum;
}
__kernel void called(__global uint *out, uint n) {
    uint i = group * 64 + item;
    out[i & 1023] = digits(out[i & 1023] + i, (n & 7) + 2);
}
#endif

#ifdef LANES
__kernel void lanes(__global uint *out, __global const uint *in, uint n) {
    uint i = group * 64 + item;
    uint x = in[i & 1023] + 1;
    uint steps = 0;
    while (x > 1 && steps < n) {
        x = (x & 1) ? 3 * x + 1 : x / 2;
        if (x > 5000)
            break;
        steps++;
    }
    if (__builtin_amdgcn_readfirstlane(i) & 64)
        out[i & 1023] = steps + (uint)__builtin_popcountl(__builtin_amdgcn_read_exec());
    else
        out[i & 1023] = steps;
}
#endif
