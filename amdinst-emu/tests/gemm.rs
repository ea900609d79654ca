//! Matrix multiplication by matrix instructions: kernels as a library would write them, compiled by clang for
//! each processor, against a triple loop on the host. The values are small integers, so that every order of
//! sums is exact.

mod support;

use support::{Device, random, tools};

const SIZE: usize = 64;

/// D = A · B for square matrices, a wave a tile; the layouts are those of the matrix instructions.
const SOURCE: &str = include_str!("sources/gemm.cl");

/// How an integer from -3 to 3 is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Store {
    /// The highest bits of a single, so many.
    SingleTop(u32),
    Half,
    Byte,
    Double,
    /// By a table of the magnitudes 0 to 3.
    Fp8([u8; 4]),
}

impl Store {
    fn bytes(self, value: i32) -> Vec<u8> {
        let single = (value as f32).to_bits();
        match self {
            Self::SingleTop(bits) => single.to_le_bytes()[4 - bits as usize / 8..].to_vec(),
            Self::Half => {
                let magnitude: [u16; 4] = [0, 0x3c00, 0x4000, 0x4200];
                let sign = if value < 0 { 0x8000 } else { 0 };
                (magnitude[value.unsigned_abs() as usize] | sign).to_le_bytes().to_vec()
            }
            Self::Byte => vec![value as u8],
            Self::Double => f64::from(value).to_le_bytes().to_vec(),
            Self::Fp8(magnitude) => {
                vec![magnitude[value.unsigned_abs() as usize] | if value < 0 { 0x80 } else { 0 }]
            }
        }
    }
}

fn check(device: &mut Device, what: &str, kernel: &str, tile: usize, store: Store) {
    let matrix = |seed| -> Vec<i32> {
        random(SIZE * SIZE, seed).into_iter().map(|value| (value >> 40) as i32 % 7 - 3).collect()
    };
    let (a, b) = (matrix(1), matrix(2));
    let stored = |values: &[i32]| values.iter().flat_map(|value| store.bytes(*value)).collect::<Vec<u8>>();
    let [left, right] = [("a", &a), ("b", &b)].map(|(name, values)| device.buffer(name, &stored(values)));
    let out = device.buffer("d", &vec![0u64; SIZE * SIZE]);
    let waves = (SIZE / tile) * (SIZE / tile);
    device
        .launch(kernel, waves as u32, 64, &[left, right, out])
        .unwrap_or_else(|fault| panic!("{what}: {fault}"));
    for i in 0..SIZE {
        for j in 0..SIZE {
            let expected: i32 = (0..SIZE).map(|k| a[i * SIZE + k] * b[k * SIZE + j]).sum();
            let at = (i * SIZE + j) as u64;
            let found = match store {
                Store::Double => device.contents(out + 8 * at, 1, f64::from_le_bytes)[0] as i32,
                Store::Byte => device.contents(out + 4 * at, 1, i32::from_le_bytes)[0],
                _ => device.contents(out + 4 * at, 1, f32::from_le_bytes)[0] as i32,
            };
            assert_eq!(found, expected, "{what}: ({i}, {j})");
        }
    }
}

#[test]
fn gemm_by_matrix_instructions() {
    if !tools("gemm_by_matrix_instructions") {
        return;
    }
    const FNUZ: Store = Store::Fp8([0, 0x40, 0x48, 0x4c]);
    const OCP: Store = Store::Fp8([0, 0x38, 0x40, 0x44]);
    let half = ("half_gemm", 32, Store::Half);
    let bf16 = ("bf16_gemm", 32, Store::SingleTop(16));
    let single = ("single_gemm", 16, Store::SingleTop(32));
    let byte = ("byte_gemm", 32, Store::Byte);
    let double = ("double_gemm", 16, Store::Double);
    for (cpu, kernels) in [
        ("gfx908", vec![half, bf16, single, byte]),
        ("gfx90a", vec![half, bf16, single, byte, double]),
        ("gfx942", vec![half, bf16, single, byte, double, ("fp8_gemm", 16, FNUZ)]),
        ("gfx950", vec![half, bf16, single, byte, double, ("fp8_gemm", 16, OCP)]),
    ] {
        for level in ["-O0", "-O2"] {
            let mut device = Device::new(SOURCE, cpu, level);
            for (kernel, tile, store) in &kernels {
                check(&mut device, &format!("{cpu} {level} {kernel}"), kernel, *tile, *store);
            }
        }
    }
}
