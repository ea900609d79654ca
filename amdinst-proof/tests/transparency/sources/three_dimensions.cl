kernel void test(global uint *out, global const uint *in, uint n) {
    uint i = (get_global_id(2) * 8 + get_global_id(1)) * 10 + get_global_id(0);
    if (get_local_id(2) > 2) out[i] = in[i] + get_group_id(2);
    else if (get_local_id(1) == get_group_id(1)) out[i] = 1000 + get_local_id(0);
}
