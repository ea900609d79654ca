//! `ds_*_src2_*`: atomics whose data lie in LDS as well (Vega ISA manual, "SRC2 Ops").

use super::memory::{check_to_m0, load, store};
use super::{access_of, no_gds};
use crate::check::{AccessKind, Outcome};
use crate::exec::atomic;
use crate::exec::atomic_float::FloatRules;
use crate::program::{Action, Context, Step};
use crate::wave::{LANES, odd_operand};

/// `MEM[A] = op(MEM[A], MEM[B])`.
pub(super) fn access(context: &mut Context<'_>, step: &Step) -> Outcome {
    let access = access_of(step)?;
    no_gds(step)?;
    let (Some(vaddr), Action::Atomic { op, bytes, .. }) = (access.vaddr, access.action) else {
        return Err(odd_operand(step.op));
    };
    let Context { wave: w, lds, .. } = context;
    let exec = w.exec;
    let float_rules = FloatRules::in_lds(op, bytes, w);
    let size = usize::from(bytes);
    for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
        let [target, source] = addresses(w.rows[usize::from(vaddr)][lane], access.offset as u16);
        let target = check_to_m0(lds, w, AccessKind::Atomic, target, bytes, bytes, lane)?;
        let source = check_to_m0(lds, w, AccessKind::Read, source, bytes, bytes.min(4), lane)?;
        let (old, data) = (load(lds, target, size), load(lds, source, size));
        store(lds, target, size, atomic::apply(op, bytes, old, data, 0, float_rules));
    }
    Ok(())
}

/// Byte addresses of what is changed and of the data. Bit 15 of the offset says where the distance between
/// them, in dwords, comes from: the offset's other bits, or the upper 15 bits of the address register.
fn addresses(register: u32, offset: u16) -> [u64; 2] {
    let (target, dwords) = if offset & 0x8000 != 0 {
        (register & 0x1_ffff, register as i32 >> 17)
    } else {
        // Sign bit 14.
        (register, i32::from((offset << 1) as i16 >> 1))
    };
    [target, target.wrapping_add_signed(4 * dwords)].map(u64::from)
}
