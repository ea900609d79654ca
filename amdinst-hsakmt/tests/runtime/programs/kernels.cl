/* Kernels for programs that use the HSA API alone. */
kernel void count(global uint *sum) { __opencl_atomic_fetch_add((global atomic_uint *)sum, 1, memory_order_relaxed, memory_scope_all_svm_devices); }

/* Ends when the host says so. */
kernel void endless(global volatile uint *flag) {
    while (flag[0] == 0) {
    }
}
