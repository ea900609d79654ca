//! Whole lines as `llvm-objdump -d` prints them.

use std::fmt::Write as _;

use super::{Flow, Inst};
use crate::Arch;

/// The column at which llvm-objdump begins the address comment, the leading tab not counted.
const COMMENT_COLUMN: usize = 59;

/// The line `llvm-objdump -d` prints for an instruction at `pc` whose bytes are `words`, without the line feed:
///
/// `␉s_load_dword s0, s[4:5], 0x18                              // 000000001500: C0020002 00000018`
///
/// For a branch, `symbol` is asked for the symbol that covers the target's address and answers with its name and the
/// distance from its start; the line then ends with ` <name+0x…>`.
pub fn objdump_line(
    inst: &Inst,
    arch: Arch,
    pc: u64,
    words: &[u32],
    symbol: impl FnOnce(u64) -> Option<(String, u64)>,
) -> String {
    let text = inst.text(arch);
    let mut line = format!("\t{text:<COMMENT_COLUMN$}// {pc:012X}:");
    for word in words {
        // Writing to a String cannot fail.
        let _ = write!(line, " {word:08X}");
    }
    let offset = match inst.flow() {
        Flow::Branch { offset } | Flow::CondBranch { offset, .. } | Flow::Call { offset: Some(offset) } => {
            offset
        }
        _ => return line,
    };
    let target = pc.wrapping_add(u64::from(inst.size)).wrapping_add_signed(offset.into());
    if let Some((name, distance)) = symbol(target) {
        let _ = match distance {
            0 => write!(line, " <{name}>"),
            _ => write!(line, " <{name}+{distance:#x}>"),
        };
    }
    line
}
