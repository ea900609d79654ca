//! Ten crates of crates.io in kernels, as they are. Each makes 64 bytes of a message, on the device and on the host.

#![cfg_attr(target_arch = "amdgpu", no_std)]

use amdinst_device::{PerItem, global_id_x, kernel};

/// For each function a kernel of the same name, in [`kernels`], that calls it for a work-item's message.
macro_rules! crates {
    ($($(#[$doc:meta])* $name:ident($message:ident) $body:block)*) => {
        $(
            $(#[$doc])*
            pub fn $name($message: &[u8]) -> [u8; 64] {
                let result = $body;
                folded(result.as_ref())
            }
        )*

        /// A kernel for each function of this crate.
        pub mod kernels {
            use super::{PerItem, global_id_x, kernel};

            $(
                $(#[$doc])*
                #[kernel]
                pub fn $name(messages: &[u8], ends: &[u32], mut output: PerItem<u8, 64>) {
                    let i = global_id_x() as usize;
                    if i < ends.len() {
                        let from = if i == 0 { 0 } else { ends[i - 1] };
                        let message = &messages[from as usize..ends[i] as usize];
                        output.chunk().copy_from_slice(&super::$name(message));
                    }
                }
            )*
        }

        /// Calls `each` with the name of every function.
        #[macro_export]
        macro_rules! for_each_crate {
            ($each:ident) => {
                $each! { $($name)* }
            };
        }
    };
}

/// As many bytes of a message as asked for, with zeros behind.
fn first<const N: usize>(message: &[u8]) -> [u8; N] {
    core::array::from_fn(|i| message.get(i).copied().unwrap_or_default())
}

/// 64 bytes that each byte of a result has a part in.
fn folded(bytes: &[u8]) -> [u8; 64] {
    let mut folded = [0; 64];
    for (i, byte) in bytes.iter().enumerate() {
        folded[i % 64] = u8::wrapping_mul(folded[i % 64], 31) ^ byte;
    }
    folded
}

crates! {
    /// AES-128: a message's first 16 bytes are the key, and encrypted.
    aes(message) {
        use aes::cipher::{BlockEncrypt as _, KeyInit as _};
        let key = first::<16>(message).into();
        let mut block = key;
        aes::Aes128::new(&key).encrypt_block(&mut block);
        block
    }

    /// BLAKE3.
    blake3(message) {
        *blake3::hash(message).as_bytes()
    }

    /// ChaCha20, seeded with a message.
    chacha(message) {
        use rand_chacha::rand_core::{RngCore as _, SeedableRng as _};
        let mut bytes = [0; 64];
        rand_chacha::ChaCha20Rng::from_seed(first(message)).fill_bytes(&mut bytes);
        bytes
    }

    /// A point of Curve25519: the base point times a message.
    curve(message) {
        use curve25519_dalek::{EdwardsPoint, Scalar};
        EdwardsPoint::mul_base(&Scalar::from_bytes_mod_order(first(message))).compress().to_bytes()
    }

    /// The text of a float: Ryū.
    format(message) {
        first::<32>(ryu::Buffer::new().format(f64::from_le_bytes(first(message))).as_bytes())
    }

    /// DEFLATE, unpacked.
    inflate(message) {
        use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};
        let mut page = [0; 512];
        let flags = inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        decompress(&mut DecompressorOxide::new(), message, &mut page, 0, flags);
        page
    }

    /// LZ4, unpacked.
    lz4(message) {
        let mut page = [0; 512];
        lz4_flex::block::decompress_into(message, &mut page).unwrap();
        page
    }

    /// Inverse, determinant and singular values of a matrix.
    matrix(message) {
        let values = first::<9>(message).map(|byte| (f32::from(byte) - 128.0) / 64.0);
        let matrix = nalgebra::Matrix3::from_column_slice(&values);
        let inverse = matrix.try_inverse().unwrap_or_default();
        let singular = matrix.svd(false, false).singular_values;
        let results = inverse.iter().chain(&singular).copied().chain([matrix.determinant()]);
        let mut bytes = [0; 52];
        for (place, result) in bytes.chunks_exact_mut(4).zip(results) {
            place.copy_from_slice(&result.to_bits().to_le_bytes());
        }
        bytes
    }

    /// The float of a text.
    parse(message) {
        let value = fast_float2::parse::<f64, _>(message);
        value.map_or(u64::MAX, f64::to_bits).to_le_bytes()
    }

    /// SHA-256.
    sha256(message) {
        use sha2::Digest as _;
        sha2::Sha256::digest(message)
    }
}
