//! What a round of a loop does to device memory, while it is asked whether its wave waits for another workgroup.

use amdgpu_isa::Families;

use crate::program::Step;

/// What the steps of a loop have done to device memory.
#[derive(Debug, Default)]
pub(crate) struct Round {
    /// Something is not as it was.
    pub(crate) changed: bool,
    /// The last load or atomic.
    pub(crate) polled: Option<Polled>,
    /// Something was read that other workgroups can write.
    pub(crate) asks: bool,
    /// LDS was read, or may have been.
    pub(crate) reads_lds: bool,
}

impl Round {
    /// The wave runs this step, of which vector accesses are noted where their addresses are known.
    pub(crate) fn begin(&mut self, step: &Step) {
        let extra = step.extra.as_ref();
        self.asks |=
            extra.is_some_and(|extra| extra.scalar.is_some() || extra.memory.is_some_and(|of| of.lds_dma));
        self.reads_lds |= step.op.is_of(Families::DATA_SHARE);
    }
}

/// What a wave asks for again and again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Polled {
    /// The load's or atomic's step.
    pub(crate) step: u32,
    /// Its first active lane.
    pub(crate) lane: usize,
    /// Where that one's access is.
    pub(crate) address: u64,
    /// How many bytes.
    pub(crate) bytes: u8,
}
