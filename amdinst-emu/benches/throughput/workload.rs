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

/// All workloads; `short` is for checking that they work.
pub(crate) fn all(short: bool) -> Vec<Workload> {
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
    ]
}
