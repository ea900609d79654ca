//! The lines of labels and instructions.

use std::fmt::Write as _;

use amdgpu_isa::{Flow, Inst, Op};
use amdgpu_object::labels::Target;

/// The column at which the address comment begins, the leading tab not counted.
const COMMENT_COLUMN: usize = 59;

/// Writes a label, with the empty line before it.
pub(super) fn label(out: &mut String, address: u64, name: &str) {
    // Writing to a String cannot fail, here and below.
    let _ = writeln!(out, "\n{address:016x} <{name}>:");
}

/// The least digits of an address in a comment.
const ADDRESS_DIGITS: u32 = 12;

/// Writes the last hexadecimal digits of a number, zeros in front. They are half of a listing: `fmt` would
/// take as long for them as decoding does.
fn push_hex(out: &mut String, number: u64, digits: u32) {
    let digit = |place: u32| char::from(b"0123456789ABCDEF"[(number >> (4 * place) & 0xf) as usize]);
    out.extend((0..digits).rev().map(digit));
}

/// Writes the line of an instruction:
///
/// `␉s_load_dword s0, s[4:5], 0x18                              // 000000001500: C0020002 00000018`
///
/// For a branch, `target` is asked what stands at the target's address.
pub(super) fn instruction<'a>(
    out: &mut String,
    inst: &Inst,
    for_target: amdgpu_isa::Target,
    pc: u64,
    bytes: &[u8],
    target: impl FnOnce(u64) -> Option<Target<'a>>,
) {
    out.push('\t');
    let start = out.len();
    inst.write_text(for_target, out);
    let (offset, is_plain_branch) = match inst.flow() {
        Flow::Branch { offset } | Flow::CondBranch { offset, .. } => (Some(offset), true),
        // Behind these LLVM names no symbol, for their first operand is a register.
        Flow::Call { offset } => (offset, false),
        Flow::Other if inst.op == Op::s_cbranch_i_fork => (Some(inst.target_offset()), false),
        _ => (None, false),
    };
    let address = offset.map(|offset| pc.wrapping_add(inst.size.into()).wrapping_add_signed(offset.into()));
    let target = address.and_then(target);
    if let Some(Target::Label(name)) = target {
        // The target is the last operand of every branch.
        let operand = out[start..].rfind(' ').map_or(out.len(), |space| start + space + 1);
        out.truncate(operand);
        out.push_str(name);
    }
    let width = out.len() - start;
    out.extend(std::iter::repeat_n(' ', COMMENT_COLUMN.saturating_sub(width)));
    out.push_str("// ");
    // LLVM's twelve digits, and more where an address needs them.
    push_hex(out, pc, ADDRESS_DIGITS.max(u64::BITS / 4 - pc.leading_zeros() / 4));
    out.push(':');
    for word in bytes.chunks_exact(4) {
        out.push(' ');
        push_hex(out, u32::from_le_bytes([word[0], word[1], word[2], word[3]]).into(), u32::BITS / 4);
    }
    if let (Some(Target::Inside(name, distance)), true) = (target, is_plain_branch) {
        let _ = match distance {
            0 => write!(out, " <{name}>"),
            _ => write!(out, " <{name}+{distance:#x}>"),
        };
    }
    out.push('\n');
}
