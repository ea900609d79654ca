//! Where a wave is among the barriers of its workgroup.

/// Where a wave is when it makes an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Behind the last barrier and before the next one.
    Between,
    /// It has signalled the next barrier, which is not complete.
    Signalled,
    /// It has signalled the last barrier, which is complete, and has not waited there yet.
    NotWaited,
}
