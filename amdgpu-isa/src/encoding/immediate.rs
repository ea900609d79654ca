//! Numbers in instructions: what their kinds allow.

use super::format::Field;
use super::operand::{Fields, sign_extend};
use super::table::Entry;
use crate::signature::ImmKind;
use crate::text::immediate::{exp_targets, names_delays, names_message};
use crate::waits;
use crate::{Encoding, Generation, Illegal, Value};

/// The number in a field. Bits that mean nothing are noted as idle.
pub(super) fn value(
    fields: &mut Fields,
    entry: &Entry,
    (kind, field): (ImmKind, Field),
    code: u32,
) -> Result<Value, Illegal> {
    let generation = fields.arch.generation();
    match kind {
        ImmKind::SignedHex | ImmKind::Target | ImmKind::Bytes => {
            Ok(Value::Imm(sign_extend(code, field.width)))
        }
        ImmKind::GprIdx if code > 0xf => Err(Illegal::Immediate(code.into())),
        ImmKind::ExpTarget
            if !exp_targets(generation).iter().any(|(numbers, _)| numbers.contains(&(code as u16))) =>
        {
            Err(Illegal::Immediate(code.into()))
        }
        ImmKind::Param if code > 2 => Err(Illegal::Immediate(code.into())),
        ImmKind::Attribute => {
            let attribute =
                if entry.encoding == Encoding::Vop3 { code << 2 & 0xfc | code >> 6 } else { code };
            // There are 32, and LLVM takes one more.
            if attribute >> 2 > 32 {
                Err(Illegal::Immediate(attribute.into()))
            } else {
                Ok(Value::Imm(attribute as i32))
            }
        }
        ImmKind::Waitcnt => {
            let gap = u32::from(waits::gap(generation));
            fields.idle |= field.put(gap);
            Ok(Value::Imm((code & !gap) as i32))
        }
        ImmKind::Sendmsg if names_message(generation, code as u16) => {
            let gap = match generation {
                // One bit above the operation, the rest above the stream.
                Generation::Gfx8 | Generation::Gfx9 | Generation::Gfx10 => 0xfc80,
                Generation::Gfx11 | Generation::Gfx12 => 0xff00,
            };
            fields.idle |= field.put(gap);
            Ok(Value::Imm((code & !gap) as i32))
        }
        ImmKind::DelayAlu => {
            const GAP: u32 = 0xf800;
            fields.idle |= field.put(GAP);
            if names_delays(code as u16) {
                Ok(Value::Imm((code & !GAP) as i32))
            } else {
                Err(Illegal::Immediate(code.into()))
            }
        }
        _ => Ok(Value::Imm(code as i32)),
    }
}
