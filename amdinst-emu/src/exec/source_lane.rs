//! The lane that an instruction takes its first vector source from.

use amdgpu_isa::Op;

use super::lds::exchanged_lane;
use crate::program::Step;
use crate::wave::Wave;

/// The lane whose value the next step of a wave uses for `lane`; `None` of a step that uses each lane's own.
pub(crate) fn source_lane(wave: &Wave, step: &Step, lane: usize) -> Option<u8> {
    let from = match step.op {
        Op::v_readfirstlane_b32 => Some(wave.first_lane()),
        Op::v_readlane_b32 => Some(wave.scalar32(step.src[1]) as usize & (wave.lanes() - 1)),
        _ => match step.extra.as_ref().and_then(|extra| extra.permutation.as_ref()) {
            Some(permutation) => permutation.source(lane),
            None => exchanged_lane(wave, step, lane),
        },
    };
    from.and_then(|from| u8::try_from(from).ok())
}
