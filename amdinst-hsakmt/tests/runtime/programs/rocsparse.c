/* y = 2 A x - 3 y by rocSPARSE, for a sparse matrix whose rows have 0 to 96 entries, and a host that does the same. */
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef void *handle, *description, *information;
int rocsparse_create_handle(handle *);
int rocsparse_destroy_handle(handle);
int rocsparse_create_mat_descr(description *);
int rocsparse_scsrmv(handle, int, int, int, int, const float *, description, const float *, const int *, const int *, information, const float *, const float *, float *);
enum { OPERATION_NONE = 111 };

#define CHECK(call) if ((call) != 0) return printf("%s failed\n", #call), 1
enum { ROWS = 3000, COLUMNS = 2000 };

static void *on_device(const void *from, size_t bytes) {
    void *to = NULL;
    if (hipMalloc(&to, bytes) != 0 || hipMemcpy(to, from, bytes, hipMemcpyHostToDevice) != 0) printf("no memory\n"), exit(1);
    return to;
}

int main(void) {
    static int starts[ROWS + 1], columns[ROWS * 97];
    static float values[ROWS * 97], x[COLUMNS], y[ROWS], result[ROWS];
    unsigned state = 1;
    int count = 0, wrong = 0;
    for (int i = 0; i < COLUMNS; ++i) x[i] = (float)(i % 17) - 8;
    for (int row = 0; row < ROWS; ++row) {
        state = state * 1664525u + 1013904223u;
        int entries = (int)((state >> 8) % 97), column = (int)((state >> 16) % 20);
        for (int entry = 0; entry < entries; ++entry, ++count) {
            columns[count] = column + 20 * entry;
            values[count] = (float)((row + entry) % 9) - 4;
        }
        starts[row + 1] = count;
        y[row] = (float)(row % 5);
    }
    handle h;
    description matrix;
    const float alpha = 2, beta = -3;
    float *device = on_device(y, sizeof y);
    CHECK(rocsparse_create_handle(&h));
    CHECK(rocsparse_create_mat_descr(&matrix));
    CHECK(rocsparse_scsrmv(h, OPERATION_NONE, ROWS, COLUMNS, count, &alpha, matrix, on_device(values, count * sizeof *values),
                           on_device(starts, sizeof starts), on_device(columns, count * sizeof *columns), NULL, on_device(x, sizeof x), &beta, device));
    CHECK(hipMemcpy(result, device, sizeof result, hipMemcpyDeviceToHost));
    /* Whole numbers below 2^24 throughout, so each order of the sums gives the same. */
    for (int row = 0; row < ROWS; ++row) {
        double sum = 0;
        for (int entry = starts[row]; entry < starts[row + 1]; ++entry) sum += (double)values[entry] * x[columns[entry]];
        wrong += 2 * sum - 3 * y[row] != result[row];
    }
    printf("%d entries, %d rows, %d wrong\n", count, ROWS, wrong);
    return rocsparse_destroy_handle(h);
}
