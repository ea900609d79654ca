// OpenCL C: vectors, address spaces, saturation by hand, no library.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define ID (__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x())

kernel void rotate_points(global float4 *points, constant float4 *matrix, uint n) {
    uint i = ID;
    if (i >= n) return;
    float4 p = points[i];
    points[i] = p.xxxx * matrix[0] + p.yyyy * matrix[1] + p.zzzz * matrix[2] + p.wwww * matrix[3];
}

kernel void blend(global const uchar4 *a, global const uchar4 *b, global uchar4 *out, uint n, ushort weight) {
    uint i = ID;
    if (i >= n) return;
    ushort4 left = __builtin_convertvector(a[i], ushort4), right = __builtin_convertvector(b[i], ushort4);
    ushort4 sum = (ushort4)(left * weight + right * (ushort)(256 - weight)) >> (ushort4)8;
    out[i] = __builtin_convertvector(sum, uchar4).wzyx;
}

kernel void pairs_of_halves(global const half2 *a, global const half2 *b, global half2 *out, uint n) {
    uint i = ID;
    if (i >= n) return;
    half2 product = a[i] * b[i].yx;
    half2 larger = a[i] > b[i] ? a[i] : b[i];
    out[i] = product - larger;
}

kernel void polynomial(global const double2 *in, global double2 *out, uint n) {
    uint i = ID;
    if (i >= n) return;
    double2 x = in[i], y = 1.0;
    for (int k = 0; k < 6; ++k) y = y * x + (double2)(k - 2.5, k * 0.25);
    out[i] = y.yx;
}
