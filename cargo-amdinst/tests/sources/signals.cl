kernel void endless(global volatile uint *p) { uint n = 1; while (p[0] == 0) n = n * 3 + 1; p[0] = n; }
