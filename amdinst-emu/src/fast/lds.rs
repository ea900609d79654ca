//! Reads and writes of whole dwords in LDS, when all active lanes' bytes are inside.

use super::level::Level;
use super::memory::is_inside;
use super::{Body, Hot, PARTS, general, parts, rows};
use crate::exec::Context;
use crate::wave::LANES;

/// A read (or write, if `WRITE`) of `DWORDS` a lane at each of `COUNT` offsets (`hot.imm`) from the addresses in row
/// `hot.src[0]`. Reads go to rows from `hot.dst` on; what is written at the first offset comes from there, what is
/// written at the second from `hot.src[1]`.
pub(super) struct Access<const WRITE: bool, const DWORDS: usize, const COUNT: usize>;

impl<const WRITE: bool, const DWORDS: usize, const COUNT: usize> Body for Access<WRITE, DWORDS, COUNT> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let exec = w.exec;
        if exec == 0 {
            return hot.next;
        }
        // SAFETY: rows are in the register file (checked by `compile`), and all bytes in LDS (checked here).
        unsafe {
            let all = rows(w);
            let row = all.add(hot.src[0] as usize).cast_const();
            let farthest = if COUNT == 2 { hot.imm[0].max(hot.imm[1]) } else { hot.imm[0] };
            if !is_inside::<L>(row, exec, u64::from(farthest), 4 * DWORDS as u64, context.lds.len()) {
                return general(context, hot);
            }
            // A read may overwrite its own addresses: keep them.
            let mut addresses = [L::splat(0); PARTS];
            for i in 0..parts::<L>() {
                addresses[i] = L::load(row.add(i * L::N));
            }
            let addresses = addresses.as_ptr().cast::<u32>();
            let lds = context.lds.as_mut_ptr();
            let mut lanes = exec;
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                let address = addresses.add(lane).read() as usize;
                for slot in 0..COUNT {
                    let registers = match (slot, WRITE) {
                        (0, _) => all.add(hot.dst as usize),
                        (_, true) => all.add(hot.src[1] as usize),
                        (_, false) => all.add(hot.dst as usize + DWORDS * LANES),
                    };
                    let at = lds.add(address + hot.imm[slot] as usize).cast::<u32>();
                    for dword in 0..DWORDS {
                        let register = registers.add(dword * LANES + lane);
                        if WRITE {
                            at.add(dword).write_unaligned(register.read().to_le());
                        } else {
                            register.write(u32::from_le(at.add(dword).read_unaligned()));
                        }
                    }
                }
            }
        }
        hot.next
    }
}
