//! Matrix multiplication by matrix instructions: kernels as a library would write them, compiled by clang for each
//! processor, against a triple loop on the host. The values are small integers, so that every order of sums is exact.

mod support;

use support::{Device, random, tools};

const SIZE: usize = 64;

/// D = A · B for square matrices, a wave a tile; the layouts are those of the matrix instructions.
const SOURCE: &str = r#"
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f16v __attribute__((ext_vector_type(16)));
typedef double d4 __attribute__((ext_vector_type(4)));
typedef int i16v __attribute__((ext_vector_type(16)));
typedef int i8v __attribute__((ext_vector_type(8)));
typedef half h4 __attribute__((ext_vector_type(4)));
typedef half h8 __attribute__((ext_vector_type(8)));
typedef short s2 __attribute__((ext_vector_type(2)));
typedef short s4 __attribute__((ext_vector_type(4)));

// EACH elements of A and B a lane, tiles of TILE rows and columns and DEPTH.
#define GEMM(name, element, packed, each, TILE, DEPTH, result, accumulator, row_of, multiply) \
    __attribute__((reqd_work_group_size(64, 1, 1))) \
    kernel void name(global const element *a, global const element *b, global result *d) { \
        const int n = 64; \
        const int lane = __builtin_amdgcn_workitem_id_x(); \
        const int top = __builtin_amdgcn_workgroup_id_x() / (n / TILE) * TILE, left = __builtin_amdgcn_workgroup_id_x() % (n / TILE) * TILE; \
        const int at = lane % TILE, group = lane / TILE; \
        accumulator sum = 0; \
        for (int k = 0; k < n; k += DEPTH) { \
            union { element e[each]; packed p; } x, y; \
            for (int t = 0; t < each; t++) { \
                x.e[t] = a[(top + at) * n + k + group * each + t]; \
                y.e[t] = b[(k + group * each + t) * n + left + at]; \
            } \
            sum = multiply(x.p, y.p, sum, 0, 0, 0); \
        } \
        union { accumulator v; result e[sizeof(accumulator) / sizeof(result)]; } out; \
        out.v = sum; \
        for (int r = 0; r < sizeof(accumulator) / sizeof(result); r++) \
            d[(top + row_of) * n + left + at] = out.e[r]; \
    }
#define ROWS32 (r % 4 + 8 * (r / 4) + 4 * group)
#define ROWS16 (r + 4 * group)
#define ROWS16_DOUBLE (4 * r + group)

#if defined(__gfx908__) || defined(__gfx90a__)
GEMM(half_gemm, half, h4, 4, 32, 8, float, f16v, ROWS32, __builtin_amdgcn_mfma_f32_32x32x8f16)
GEMM(single_gemm, float, float, 1, 16, 4, float, f4, ROWS16, __builtin_amdgcn_mfma_f32_16x16x4f32)
GEMM(byte_gemm, char, int, 4, 32, 8, int, i16v, ROWS32, __builtin_amdgcn_mfma_i32_32x32x8i8)
#else
GEMM(single_gemm, float, float, 1, 16, 4, float, f4, ROWS16, __builtin_amdgcn_mfma_f32_16x16x4f32)
GEMM(byte_gemm, char, long, 8, 32, 16, int, i16v, ROWS32, __builtin_amdgcn_mfma_i32_32x32x16_i8)
GEMM(fp8_gemm, uchar, long, 8, 16, 32, float, f4, ROWS16, __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8)
#endif
#if defined(__gfx908__)
GEMM(bf16_gemm, short, s2, 2, 32, 4, float, f16v, ROWS32, __builtin_amdgcn_mfma_f32_32x32x4bf16)
#else
GEMM(bf16_gemm, short, s4, 4, 32, 8, float, f16v, ROWS32, __builtin_amdgcn_mfma_f32_32x32x8bf16_1k)
GEMM(double_gemm, double, double, 1, 16, 4, double, d4, ROWS16_DOUBLE, __builtin_amdgcn_mfma_f64_16x16x4f64)
#endif
#if defined(__gfx942__)
GEMM(half_gemm, half, h4, 4, 32, 8, float, f16v, ROWS32, __builtin_amdgcn_mfma_f32_32x32x8f16)
#endif
#if defined(__gfx950__)
GEMM(half_gemm, half, h8, 8, 32, 16, float, f16v, ROWS32, __builtin_amdgcn_mfma_f32_32x32x16_f16)
#endif
"#;

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
