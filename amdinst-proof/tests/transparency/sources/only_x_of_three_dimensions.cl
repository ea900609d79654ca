kernel void test(global uint *out, global const uint *in, uint n) {
    uint i = get_local_id(0) * 16 + get_group_id(0);
    if (in[i] > 8) atomic_inc(out + i);
}
