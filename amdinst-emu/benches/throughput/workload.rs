//! What is measured: a kernel, its sizes and data, and the same function of the host.

use super::host::{self, Host};

/// A kernel with its data.
pub(crate) struct Workload {
    /// The kernel's name.
    pub(crate) kernel: &'static str,
    /// What it is, for the table.
    pub(crate) what: String,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// Words of the input buffers.
    pub(crate) inputs: Vec<Vec<u32>>,
    /// Words of the output buffer.
    pub(crate) output: usize,
    /// The last argument: iterations, elements, or rows of a square matrix.
    pub(crate) n: u32,
    pub(crate) host: Host,
    /// Words of the output that the host computes at a time.
    pub(crate) piece: usize,
}

impl Workload {
    /// Work-items of a launch.
    pub(crate) fn items(&self) -> u64 {
        self.grid.iter().chain(&self.block).map(|size| u64::from(*size)).product()
    }
}

/// Small whole numbers, as floats: their sums and products are exact in any order.
fn floats(count: usize, seed: u32) -> Vec<u32> {
    let mut state = seed;
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 28) as f32 - 8.0).to_bits()
    })
    .take(count)
    .collect()
}

/// Pairs of small whole numbers, as halves.
fn halves(count: usize, seed: u32) -> Vec<u32> {
    const NUMBERS: [u32; 8] = [0, 0x3c00, 0x4000, 0x4200, 0x4400, 0xbc00, 0xc000, 0xc200];
    let mut state = seed;
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        NUMBERS[(state >> 29) as usize] | NUMBERS[(state >> 26) as usize & 7] << 16
    })
    .take(count)
    .collect()
}

fn alu(kernel: &'static str, host: Host, what: &str, groups: u32, n: u32) -> Workload {
    Workload {
        kernel,
        what: format!("32 VALU + 3 SALU, {what}"),
        grid: [groups, 1, 1],
        block: [256, 1, 1],
        inputs: Vec::new(),
        output: 256 * groups as usize,
        n,
        host,
        piece: 64,
    }
}

/// Workgroups of work-items side by side: how many, of how many. The host computes 4096 words of the output
/// at a time.
fn rows(
    kernel: &'static str,
    host: Host,
    what: String,
    [groups, items]: [u32; 2],
    inputs: Vec<Vec<u32>>,
    output: usize,
    n: u32,
) -> Workload {
    let (grid, block) = ([groups, 1, 1], [items, 1, 1]);
    Workload { kernel, what, grid, block, inputs, output, n, host, piece: 4096 }
}

fn square(
    kernel: &'static str,
    host: Host,
    what: &str,
    tile: u32,
    block: [u32; 3],
    n: u32,
    inputs: u32,
) -> Workload {
    let words = (n * n) as usize;
    Workload {
        kernel,
        what: format!("{n} x {n}, {what}"),
        grid: [n / tile, n / tile, 1],
        block,
        inputs: (1..=inputs).map(|seed| floats(words, seed)).collect(),
        output: words,
        n,
        host,
        piece: n as usize,
    }
}

/// Doubles between 0 and 1, low words first.
fn doubles(count: usize, seed: u32) -> Vec<u32> {
    let words = |word: u32| {
        let bits = (f64::from(word) / f64::from(u32::MAX)).to_bits();
        [bits as u32, (bits >> 32) as u32]
    };
    below(u32::MAX, count, seed).into_iter().flat_map(words).collect()
}

/// The powers of the 256th root of one that a transform takes.
fn turns() -> Vec<u32> {
    let turn = |at: u32| f64::from(at) * std::f64::consts::TAU / 256.0;
    (0..128).flat_map(|at| [turn(at).cos() as f32, -turn(at).sin() as f32].map(f32::to_bits)).collect()
}

/// Numbers below a limit.
fn below(limit: u32, count: usize, seed: u32) -> Vec<u32> {
    let mut state = u64::from(seed);
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((state >> 32) * u64::from(limit)) >> 32) as u32
    })
    .take(count)
    .collect()
}

/// All workloads, for waves of so many lanes; `short` is for checking that they work.
pub(crate) fn all(short: bool, lanes: u32) -> Vec<Workload> {
    let size = |long: u32, short_one: u32| if short { short_one } else { long };
    let vector = size(1 << 20, 5000);
    vec![
        alu("alu", host::alu, "full EXEC", size(16, 2), size(8000, 10)),
        alu("alu_partial", host::alu_partial, "2 of 3 lanes", size(16, 2), size(8000, 10)),
        Workload {
            kernel: "vector_add",
            what: format!("{vector} floats"),
            grid: [vector.div_ceil(256), 1, 1],
            block: [256, 1, 1],
            inputs: vec![floats(vector as usize, 1), floats(vector as usize, 2)],
            output: vector as usize,
            n: vector,
            host: host::vector_add,
            piece: 4096,
        },
        Workload {
            what: "loop, single ones and pairs".to_owned(),
            ..alu("half_alu", host::half_alu, "", size(16, 2), size(8000, 10))
        },
        Workload {
            kernel: "half_axpy",
            what: format!("{vector} halves"),
            grid: [vector.div_ceil(256), 1, 1],
            block: [256, 1, 1],
            inputs: vec![halves(vector as usize / 2, 1), halves(vector as usize / 2, 2)],
            output: vector as usize / 2,
            n: vector,
            host: host::half_axpy,
            piece: 4096,
        },
        {
            let items = size(1 << 16, 1 << 9);
            Workload {
                kernel: "collatz",
                what: format!("from 1 to {items}"),
                grid: [items / 256, 1, 1],
                block: [256, 1, 1],
                inputs: Vec::new(),
                output: items as usize,
                n: items,
                host: host::collatz,
                piece: 256,
            }
        },
        square("transpose", host::transpose, "through LDS", 32, [32, 8, 1], size(1024, 64), 1),
        square("matmul", host::matmul, "tiles in LDS", 16, [16, 16, 1], size(256, 32), 2),
        square("mfma_gemm", host::matmul, "v_mfma_f32_16x16x4f32", 16, [64, 1, 1], size(256, 32), 2),
        {
            let n = size(256, 32);
            let halves = |seed| halves((n * n / 2) as usize, seed);
            Workload {
                inputs: vec![halves(1), halves(2)],
                block: [lanes, 1, 1],
                ..square("wmma_gemm", host::wmma_gemm, "v_wmma_f32_16x16x16_f16", 16, [32, 1, 1], n, 0)
            }
        },
        {
            let bodies = size(1024, 256);
            Workload {
                piece: 64,
                ..rows(
                    "n_body",
                    host::n_body,
                    format!("{bodies} bodies, doubles"),
                    [bodies / 256, 256],
                    vec![doubles(3 * bodies as usize, 1)],
                    2 * bodies as usize,
                    bodies,
                )
            }
        },
        {
            let count = size(1024, 4);
            let numbers = 256 * count as usize;
            let inputs = vec![floats(numbers, 1)];
            let what = format!("{count} rows of 256");
            rows("softmax", host::softmax, what, [count, 256], inputs, numbers, count)
        },
        {
            let count = size(512, 4);
            let numbers = 512 * count as usize;
            let inputs = vec![floats(numbers, 1), turns()];
            let what = format!("{count} of 256 complex numbers");
            rows("fft", host::fft, what, [count, 128], inputs, numbers, count)
        },
        {
            let inputs = vec![floats(vector as usize, 1), below(vector, vector as usize, 2)];
            let (what, grid) = (format!("{vector} floats"), [vector.div_ceil(256), 256]);
            rows("gather", host::gather, what, grid, inputs, vector as usize, vector)
        },
        {
            let inputs = vec![below(4096, vector as usize, 1), below(u32::MAX, vector as usize, 2)];
            let (what, grid) = (format!("{vector} numbers, 4096 keys, atomics"), [vector.div_ceil(256), 256]);
            rows("smallest_of_key", host::smallest_of_key, what, grid, inputs, 4096, vector)
        },
    ]
}
