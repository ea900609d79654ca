kernel void endless(global volatile uint *p) { while (p[0] == 0) {} p[0] = 2; }
