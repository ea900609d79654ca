//! Bandwidth of vL1D, and of L2 by way of it: `gpu-cache` and `gpu-strides` of gpu-benches, with their results.

use super::benchmark::{Benchmark, close};
use crate::support::{compile_with, tools};

/// As there: each work-item sums vectors of four floats; or floats at a stride, at eight offsets.
const SOURCE: &str = r#"
#define X __builtin_amdgcn_workitem_id_x()
kernel __attribute__((amdgpu_flat_work_group_size(256, 256)))
void sum(global float4 *out, global const float4 *in, ulong rounds, ulong zero) {
    float4 sum = 0;
    in += X;
    #pragma unroll OUTER
    for (ulong round = 0; round < rounds; round++) {
        in += zero;
        #pragma unroll INNER
        for (uint at = 0; at < COUNT; at += 256) sum += in[at];
        sum *= 1.3f;
    }
    if (sum.x == 1233.0f) out[X] = sum;
}
kernel __attribute__((amdgpu_flat_work_group_size(1024, 1024)))
void strided(global float *out, global const float *in, ulong rounds, ulong zero, ulong stride) {
    float sum = 0;
    in += (X % 64) * stride;
    for (ulong n = 0; n < rounds; n++) {
        in += zero;
        sum += in[0] * in[4];
        sum += in[8] * in[12];
        sum += in[20] * in[16];
        sum += in[24] * in[28];
    }
    if (sum == 123123.23f) out[X] = sum;
}
"#;

#[test]
fn bandwidth() {
    if !tools("bandwidth") {
        return;
    }
    // Kilobytes, and gigabytes a second that were measured, of 104 compute units at 1.7 GHz.
    for (kilobytes, rounds, measured) in
        [(4, 128, 10566.5), (16, 32, 10615.8), (128, 2, 5144.4), (1048, 1, 4903.5)]
    {
        let count = kilobytes * 64;
        // Unrolled as there.
        let inner = if count / 256 >= 64 { 32 } else { count / 256 };
        let outer = (32 / (count / 256)).max(1);
        let options = [format!("-DCOUNT={count}"), format!("-DINNER={inner}"), format!("-DOUTER={outer}")];
        let object = compile_with(SOURCE, "gfx90a", "-O3", &options.each_ref().map(String::as_str));
        let mut benchmark = Benchmark::new(&object);
        let bytes = kilobytes * 1024;
        let input = benchmark.zeroed(bytes);
        // The time of more rounds less that of fewer: without what a launch takes, and with full caches.
        let mut time = |rounds: u64| benchmark.launch("sum", 104, 256, &[input, input, rounds, 0]).cycles;
        time(rounds);
        let cycles = time(2 * rounds) - time(rounds);
        let modelled = (bytes * rounds) as f64 / cycles as f64;
        close(&format!("{kilobytes} kB"), modelled, measured / 104.0 / 1.7);
    }
}

#[test]
fn strides() {
    if !tools("strides") {
        return;
    }
    let options = ["-DCOUNT=256", "-DINNER=1", "-DOUTER=1"];
    let object = compile_with(SOURCE, "gfx90a", "-O2", &options);
    for (stride, measured) in [
        (0, 4.36),
        (1, 4.36),
        (2, 32.2),
        (3, 16.2),
        (4, 64.4),
        (5, 28.2),
        (7, 28.2),
        (8, 64.4),
        (12, 64.4),
        (13, 28.2),
        (15, 48.4),
        (16, 64.4),
        (18, 32.2),
    ] {
        let mut benchmark = Benchmark::new(&object);
        let input = benchmark.zeroed(1 << 16);
        // One workgroup of sixteen waves.
        let mut time =
            |rounds: u64| benchmark.launch("strided", 1, 1024, &[input, input, rounds, 0, stride]).cycles;
        let cycles = time(40) - time(20);
        close(&format!("stride {stride}"), cycles as f64 / (20.0 * 8.0 * 16.0), measured);
    }
}
