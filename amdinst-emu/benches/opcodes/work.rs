//! The work that an instruction does.

use amdgpu_isa::{Encoding, Inst, Slot, Target};

/// Operations of one instruction of a wave: one for each lane, elements of a conversion of many, dwords of an
/// access, multiply-adds of a matrix instruction.
pub(crate) fn operations(target: Target, inst: &Inst) -> u32 {
    let lanes = target.wave.lanes();
    if let Some(multiply_adds) = multiply_adds(inst, lanes) {
        return multiply_adds;
    }
    // Conversions of as many elements, in sixteen and more registers.
    let name = inst.op.name();
    if name.contains("_pk32_") || name.contains("_2xpk16_") {
        return 32 * lanes;
    }
    let accesses = matches!(
        inst.encoding,
        Encoding::Ds
            | Encoding::Flat
            | Encoding::Global
            | Encoding::Scratch
            | Encoding::Mubuf
            | Encoding::Mtbuf
    );
    let data = |slot: Slot| matches!(slot, Slot::Vdst | Slot::Vdata | Slot::Data0 | Slot::Data1);
    let dwords =
        inst.operands.iter().filter(|operand| data(operand.slot)).map(|operand| u32::from(operand.dwords));
    if accesses { lanes * dwords.sum::<u32>().max(1) } else { lanes }
}

/// Of a matrix instruction: what it multiplies for each of its results, whose name has rows, columns and
/// depth, `32x32x4`.
fn multiply_adds(inst: &Inst, lanes: u32) -> Option<u32> {
    let name = inst.op.name();
    let has_blocks = name.starts_with("v_mfma") || name.starts_with("v_smfmac");
    if !has_blocks && !name.starts_with("v_wmma") && !name.starts_with("v_swmmac") {
        return None;
    }
    let sizes = name.split('_').find(|part| part.matches('x').count() == 2)?;
    let number = |text: &str| -> Option<u32> {
        text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
    };
    let [rows, columns, depth] = sizes.split('x').map(number).collect::<Option<Vec<u32>>>()?[..] else {
        return None;
    };
    let dwords = u32::from(inst.operands.first()?.dwords);
    let of_blocks = lanes * dwords / if name.contains("_f64_") { 2 } else { 1 };
    Some(depth * if has_blocks { of_blocks } else { rows * columns })
}
