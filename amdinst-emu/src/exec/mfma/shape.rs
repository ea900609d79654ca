//! The products that the matrix core of CDNA executes.

use amdgpu_isa::{MatrixProduct, MatrixUnit, Op};

/// The product of an opcode; none if it is no MFMA or SMFMAC.
pub(super) fn of(op: Op) -> Option<&'static MatrixProduct> {
    op.matrix_product().filter(|product| product.unit == MatrixUnit::Mfma)
}

/// Consecutive elements along the depth that a lane holds of B, and of A unless that is sparse.
pub(super) const fn per_lane(product: &MatrixProduct) -> usize {
    product.depth * product.size * product.blocks / 64
}

#[cfg(test)]
mod tests {
    use amdgpu_isa::{Accumulator, Element};

    use super::*;

    #[test]
    fn opcodes_have_the_products_that_their_mnemonics_say() {
        use Element as E;
        for (op, size, depth, blocks, a, b, is_sparse) in [
            (Op::v_mfma_f32_32x32x1f32, 32, 1, 2, E::F32, E::F32, false),
            (Op::v_mfma_f32_4x4x4f16, 4, 4, 16, E::F16, E::F16, false),
            (Op::v_mfma_f32_32x32x8f16, 32, 8, 1, E::F16, E::F16, false),
            (Op::v_mfma_f32_16x16x2bf16, 16, 2, 4, E::Bf16, E::Bf16, false),
            (Op::v_mfma_f32_16x16x8bf16, 16, 8, 1, E::Bf16, E::Bf16, false),
            (Op::v_mfma_f32_4x4x4bf16_1k, 4, 4, 16, E::Bf16, E::Bf16, false),
            (Op::v_mfma_i32_16x16x16i8, 16, 16, 1, E::I8, E::I8, false),
            (Op::v_mfma_f64_4x4x4f64, 4, 4, 4, E::F64, E::F64, false),
            (Op::v_mfma_f64_16x16x4_f64, 16, 4, 1, E::F64, E::F64, false),
            (Op::v_mfma_f32_16x16x4_4b_bf16, 16, 4, 4, E::Bf16, E::Bf16, false),
            (Op::v_mfma_f32_32x32x4_xf32, 32, 4, 1, E::Xf32, E::Xf32, false),
            (Op::v_smfmac_f32_16x16x64_bf8_fp8, 16, 64, 1, E::Bf8, E::Fp8, true),
            (Op::v_mfma_f32_16x16x128_f8f6f4, 16, 128, 1, E::Small, E::Small, false),
            (Op::v_mfma_scale_f32_32x32x64_f8f6f4, 32, 64, 1, E::Small, E::Small, false),
        ] {
            let result = match a {
                E::F64 => Accumulator::F64,
                E::I8 => Accumulator::I32,
                _ => Accumulator::F32,
            };
            let expected =
                MatrixProduct { unit: MatrixUnit::Mfma, size, depth, blocks, a, b, result, is_sparse };
            assert_eq!(of(op), Some(&expected), "{op}");
        }
        assert_eq!([Op::v_mfma_ld_scale_b32, Op::v_wmma_f32_16x16x16_f16, Op::v_add_f32].map(of), [None; 3]);
    }

    #[test]
    fn every_matrix_opcode_has_a_product_that_fills_the_lanes() {
        let matrices = Op::ALL.iter().filter(|op| {
            (op.name().starts_with("v_mfma_") && **op != Op::v_mfma_ld_scale_b32)
                || op.name().starts_with("v_smfmac_")
        });
        for op in matrices {
            let product = of(*op).unwrap_or_else(|| panic!("{op} has no product"));
            assert!(product.blocks >= 1 && per_lane(product) >= 1, "{op}");
            assert_eq!(product.blocks * product.size * product.depth % 64, 0, "{op}");
        }
    }
}
