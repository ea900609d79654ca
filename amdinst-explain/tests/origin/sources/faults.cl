// Faults, each with a line that is the reason.

#define ITEM (int)__builtin_amdgcn_workitem_id_x()

kernel void beyond(global int *out, global const int *x, int n)
{
    int row = ITEM / 8;
    int stride = n * 1000;
    int at = row * stride;
    out[ITEM] = x[at];
}

kernel void trapped(global int *out, global const int *x, int n)
{
    int limit = x[1] + n;
    int index = ITEM * 2;
    if (index > limit)
        __builtin_trap();
    out[ITEM] = index;
}

kernel void endless(global int *out, global const int *x, int n)
{
    int step = x[0] * n;
    volatile int at = 1;
    while (at < 100)
        at += step;
    out[ITEM] = at;
}

kernel void scalar(global int *out, global const int *x, int n)
{
    int far = n * 40000;
    out[ITEM] = x[far];
}
