#define X __builtin_amdgcn_workitem_id_x()
#define G __builtin_amdgcn_workgroup_id_x()
kernel void arithmetic(global uint *out, global const uint *in) {
    uint v = X;
    for (uint n = 0; n < 500; n++) { v = v * 1664525 + 1013904223; v ^= v >> 7; }
    out[G * 256 + X] = v;
}
kernel void stream(global uint *out, global const uint *in) { out[G * 256 + X] = in[G * 256 + X] * 3; }
kernel void reduce(global uint *out, global const uint *in) {
    local uint tile[256];
    tile[X] = in[G * 256 + X];
    for (uint half_of = 128; half_of > 0; half_of /= 2) {
        __builtin_amdgcn_s_barrier();
        if (X < half_of) tile[X] += tile[X + half_of];
    }
    if (X == 0) out[G] = tile[0];
}
