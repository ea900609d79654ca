//! What a round of a loop does to device memory, while it is asked whether its wave waits for another
//! workgroup.

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
