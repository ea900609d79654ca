//! Matrix instructions with scales.

use super::signatures;

// Scaled matrices.
signatures! {
    v_mfma_scale_f32_16x16x128_f8f6f4 [mdst B128, ma B256, mb B256, mc B128, scale_a I32, scale_b I32] [MAI SMALL_FLOATS] mfma (16 128 1 f8f6f4 f8f6f4 f32);
    v_mfma_scale_f32_32x32x64_f8f6f4  [mdst B512, ma B256, mb B256, mc B512, scale_a I32, scale_b I32] [MAI SMALL_FLOATS] mfma (32 64 1 f8f6f4 f8f6f4 f32);
}
