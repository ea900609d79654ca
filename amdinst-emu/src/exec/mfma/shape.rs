//! What a matrix instruction's mnemonic says: sizes, blocks, formats.

use std::sync::OnceLock;

use amdgpu_isa::Op;

/// Format of the elements of A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    F64,
    F32,
    /// Single precision of which 10 bits of the mantissa count.
    Xf32,
    F16,
    Bf16,
    I8,
    Fp8,
    Bf8,
    /// FP8, BF8, FP6, BF6 or FP4, as CBSZ (A) and BLGP (B) say.
    Small,
}

impl Element {
    /// Bits of an element in a register; of [`Element::Small`], of the widest.
    pub(super) fn bits(self) -> usize {
        match self {
            Self::F64 => 64,
            Self::F32 | Self::Xf32 => 32,
            Self::F16 | Self::Bf16 => 16,
            Self::I8 | Self::Fp8 | Self::Bf8 | Self::Small => 8,
        }
    }
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Rows of A and of the result, columns of B and of the result.
    pub(super) size: usize,
    /// Columns of A, rows of B: of one block.
    pub(super) depth: usize,
    pub(super) blocks: usize,
    pub(super) a: Element,
    pub(super) b: Element,
    /// A holds two of every four elements (SMFMAC).
    pub(super) sparse: bool,
}

impl Shape {
    /// Consecutive elements along the depth that a lane holds of B, and of A unless that is sparse.
    pub(super) fn per_lane(&self) -> usize {
        self.depth * self.size * self.blocks / 64
    }
}

/// The instruction that a mnemonic names; none if it is no matrix instruction.
pub(super) fn of(op: Op) -> Option<&'static Shape> {
    static SHAPES: OnceLock<Vec<Option<Shape>>> = OnceLock::new();
    let shapes = SHAPES.get_or_init(|| Op::ALL.iter().map(|op| parse(op.name())).collect());
    shapes.get(op as usize)?.as_ref()
}

/// `v_mfma_f32_32x32x4_2b_f16`, `v_mfma_f32_32x32x4bf16_1k`, `v_smfmac_f32_16x16x64_bf8_fp8`, ….
fn parse(name: &str) -> Option<Shape> {
    let (sparse, rest) = match name.strip_prefix("v_smfmac_") {
        Some(rest) => (true, rest),
        None => (false, name.strip_prefix("v_mfma_")?),
    };
    let rest = rest.strip_prefix("scale_").unwrap_or(rest);
    let (_, rest) = rest.split_once('_')?;
    // The sizes end at the first letter that is no `x` between digits; older mnemonics have no `_` there.
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != 'x').unwrap_or(rest.len());
    let mut sizes = rest[..end].split('x').map(str::parse::<usize>);
    let (Some(Ok(size)), Some(Ok(columns)), Some(Ok(depth))) = (sizes.next(), sizes.next(), sizes.next())
    else {
        return None;
    };
    let mut formats = rest[end..].trim_start_matches('_').split('_').filter(|part| *part != "1k");
    let mut first = formats.next()?;
    let mut named_blocks = None;
    if let Some(blocks) = first.strip_suffix('b').and_then(|blocks| blocks.parse::<usize>().ok()) {
        named_blocks = Some(blocks);
        first = formats.next()?;
    }
    let a = element(first)?;
    let b = formats.next().map_or(Some(a), element)?;
    // A mnemonic without a count of blocks has as many as fill the lanes of its registers.
    let per_register = match (a, name.contains("bf16_1k")) {
        (Element::Bf16, true) | (Element::F16, _) => 4,
        (Element::Bf16, false) => 2,
        (Element::I8, _) => 4,
        _ => 1,
    };
    let old = !rest[..end].is_empty() && !rest[end..].starts_with('_');
    let blocks = match named_blocks {
        Some(blocks) => blocks,
        None if old => 64 * per_register / (size * depth),
        None => 1,
    };
    (size == columns).then_some(Shape { size, depth, blocks, a, b, sparse })
}

fn element(name: &str) -> Option<Element> {
    Some(match name {
        "f64" => Element::F64,
        "f32" => Element::F32,
        "xf32" => Element::Xf32,
        "f16" => Element::F16,
        "bf16" => Element::Bf16,
        "i8" => Element::I8,
        "fp8" => Element::Fp8,
        "bf8" => Element::Bf8,
        "f8f6f4" => Element::Small,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mnemonics_give_shapes() {
        let shape = |size, depth, blocks, a, b, sparse| Some(Shape { size, depth, blocks, a, b, sparse });
        use Element as E;
        for (name, expected) in [
            ("v_mfma_f32_32x32x1f32", shape(32, 1, 2, E::F32, E::F32, false)),
            ("v_mfma_f32_4x4x4f16", shape(4, 4, 16, E::F16, E::F16, false)),
            ("v_mfma_f32_32x32x8f16", shape(32, 8, 1, E::F16, E::F16, false)),
            ("v_mfma_f32_16x16x2bf16", shape(16, 2, 4, E::Bf16, E::Bf16, false)),
            ("v_mfma_f32_16x16x8bf16", shape(16, 8, 1, E::Bf16, E::Bf16, false)),
            ("v_mfma_f32_4x4x4bf16_1k", shape(4, 4, 16, E::Bf16, E::Bf16, false)),
            ("v_mfma_i32_16x16x16i8", shape(16, 16, 1, E::I8, E::I8, false)),
            ("v_mfma_f64_4x4x4f64", shape(4, 4, 4, E::F64, E::F64, false)),
            ("v_mfma_f64_16x16x4_f64", shape(16, 4, 1, E::F64, E::F64, false)),
            ("v_mfma_f32_16x16x4_4b_bf16", shape(16, 4, 4, E::Bf16, E::Bf16, false)),
            ("v_mfma_f32_32x32x4_xf32", shape(32, 4, 1, E::Xf32, E::Xf32, false)),
            ("v_smfmac_f32_16x16x64_bf8_fp8", shape(16, 64, 1, E::Bf8, E::Fp8, true)),
            ("v_mfma_f32_16x16x128_f8f6f4", shape(16, 128, 1, E::Small, E::Small, false)),
            ("v_mfma_scale_f32_32x32x64_f8f6f4", shape(32, 64, 1, E::Small, E::Small, false)),
            ("v_mfma_ld_scale_b32", None),
            ("v_add_f32", None),
        ] {
            assert_eq!(parse(name), expected, "{name}");
        }
    }

    #[test]
    fn every_matrix_mnemonic_is_understood() {
        let matrices = Op::ALL.iter().filter(|op| {
            (op.name().starts_with("v_mfma_") && **op != Op::v_mfma_ld_scale_b32)
                || op.name().starts_with("v_smfmac_")
        });
        for op in matrices {
            let shape = of(*op).unwrap_or_else(|| panic!("{} has no shape", op.name()));
            assert!(shape.blocks >= 1 && shape.per_lane() >= 1, "{}", op.name());
            assert_eq!(shape.blocks * shape.size * shape.depth % 64, 0, "{}", op.name());
        }
    }
}
