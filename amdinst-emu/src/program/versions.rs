//! The work of an instruction on lanes, for vector extensions of the host.

use super::Step;
use crate::wave::Wave;

/// A function of a wave whose operands have been prepared.
pub(crate) type LaneWork = unsafe fn(&mut Wave, &Step);

/// Such a function, compiled for the vector extensions that x86-64 processors commonly have.
#[derive(Debug)]
pub(crate) struct Versions {
    pub(crate) any: LaneWork,
    pub(crate) avx2: LaneWork,
}

impl Versions {
    /// One that does nothing.
    pub(crate) const NOTHING: &'static Self = {
        fn nothing(_: &mut Wave, _: &Step) {}
        &Self { any: nothing, avx2: nothing }
    };

    /// Execute one instruction.
    #[inline]
    pub(crate) fn run(&self, w: &mut Wave, step: &Step) {
        let work = if w.avx2 { self.avx2 } else { self.any };
        // SAFETY: `Wave::new` sets it only where the host has these features.
        unsafe { work(w, step) }
    }
}
