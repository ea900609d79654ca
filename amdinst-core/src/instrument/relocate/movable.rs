//! Whether code can move at all.

use super::RelocateError;
use crate::analysis::program::{ObstacleKind, Program};
use crate::isa::Op;
use crate::object::CodeObject;

/// All of `.text` moves, instrumented or not: nothing in it may depend on where it stands, but for what is corrected.
pub(super) fn check_movable(object: &CodeObject, program: &Program) -> Result<(), RelocateError> {
    let mut incomplete = false;
    for function in &program.functions {
        for obstacle in &function.obstacles {
            if obstacle.kind == ObstacleKind::UnresolvedGetpc {
                let detail = format!("in `{}`: {}", function.name, obstacle.detail);
                return Err(RelocateError::NotRelocatable { pc: obstacle.pc, detail });
            }
            incomplete = true;
        }
    }
    if !incomplete {
        return Ok(());
    }
    // Some code may not have been found. It must at least not look at its own address.
    let text = object.bytes.get(object.text.range.clone()).unwrap_or_default();
    let mut known = program.insts.iter().peekable();
    for (pc, word) in (object.text.address..).step_by(4).zip(text.chunks_exact(4)) {
        while known.next_if(|located| located.end() <= pc).is_some() {}
        let found = known.peek().is_some_and(|located| located.pc <= pc);
        let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        if !found && is_getpc(word) {
            let detail = format!("`{}` in code that no known path reaches", Op::s_getpc_b64);
            return Err(RelocateError::NotRelocatable { pc, detail });
        }
    }
    Ok(())
}

/// SOP1 (bits 31:23 = 0b101111101) with opcode 28 in bits 15:8.
const fn is_getpc(word: u32) -> bool {
    word & 0xff80_ff00 == 0xbe80_1c00
}
