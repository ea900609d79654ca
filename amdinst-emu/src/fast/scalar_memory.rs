//! Scalar loads from one allocation.

use super::{Body, Level, general};
use crate::check::AccessKind;
use crate::memory::Protection;
use crate::program::{Context, Hot};
use crate::races::Races;
use crate::watch::Watch;

/// `s_load_dword*` of `hot.imm[1]` dwords, at scalar pair `hot.src[0]` plus `hot.imm[0]`.
pub(super) struct Load;

impl Body for Load {
    #[inline(always)]
    fn run<L: Level>(_: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let address = w.s64(hot.src[0].register()).wrapping_add_signed(i64::from(hot.imm[0] as i32));
        let dwords = hot.imm[1] as usize;
        if !context.watch.wants_each()
            && address.is_multiple_of(4)
            && let Some((allocation, at)) = context.memory.find(address, 4 * dwords as u64)
        {
            let number = || context.memory.number_of(allocation);
            match &mut context.watch {
                Watch::Scan(scan)
                    if allocation.protection == Protection::ReadWrite
                        && scan.wants(number(), AccessKind::Read) =>
                {
                    let mut noting = scan.by(number(), w.place.number, AccessKind::Read);
                    noting.add(at, 4 * dwords);
                    noting.end();
                }
                Watch::Races(Races { focus: Some(focus), .. }) if focus.wants(number(), AccessKind::Read) => {
                    let mut noting = focus.meeting(number());
                    noting.add(at, 4 * dwords);
                    if noting.met() {
                        return general(context, hot);
                    }
                }
                Watch::Nobody | Watch::Scan(_) | Watch::Races(_) | Watch::Trace(_) => {}
            }
            for dword in 0..dwords {
                let value = allocation.bytes.load::<4>(at + 4 * dword) as u32;
                w.set_s32((hot.sdst as usize + dword) as u8, value);
            }
            return hot.next;
        }
        general(context, hot)
    }
}
