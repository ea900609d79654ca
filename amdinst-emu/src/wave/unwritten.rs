//! Reads of what nothing has written.

/// A read of LDS.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnwrittenRead {
    /// The wave's number in the workgroup.
    pub(crate) wave: u32,
    pub(crate) step: u32,
}
