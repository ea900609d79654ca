// A kernel of `tests/abi.rs`.
kernel void k(global ulong *out, uint n) {
    constant uint *packet = (constant uint *)__builtin_amdgcn_dispatch_ptr();
    constant ushort *shorts = (constant ushort *)packet;
    out[0] = shorts[0] & 0xff; out[1] = shorts[1];
    for (int i = 0; i < 3; ++i) { out[2 + i] = shorts[2 + i]; out[5 + i] = packet[3 + i]; }
    out[8] = packet[6]; out[9] = packet[7];
    constant ulong *pointers = (constant ulong *)packet;
    out[10] = *(constant ulong *)pointers[5] == (ulong)out;
    out[11] = pointers[7];
    constant uint *queue = (constant uint *)__builtin_amdgcn_queue_ptr();
    local uint shared[4]; uint private_value[2];
    shared[0] = n; private_value[0] = n;
    out[12] = queue[16] == (uint)((ulong)(uint *)shared >> 32);
    out[13] = queue[17] == (uint)((ulong)(uint *)private_value >> 32);
}
