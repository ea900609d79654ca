struct pair { uint x, y, unused; };
kernel void combine(global uint *out, struct pair a, uint b) { out[0] = a.x * 100 + a.y + b; }
