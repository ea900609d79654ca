//! What is known of every place that can hold a mask, at one point.

use super::tries::Trie;
use crate::analysis::values::Vn;

/// The id under which the lanes of accumulation registers are known; spill slots follow.
pub(super) const AGPRS: u32 = 256;
pub(super) const SLOTS: u32 = 512;
/// The number of the EXEC place in `Expr::Phi`.
pub(super) const EXEC_PLACE: u32 = 200;

/// Scalar registers by operand code.
pub(super) const SCALARS: usize = 128;

/// Values of all places at a point.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// Of the scalar registers that are followed ([`Slice::place`](super::slice::Slice::place)). Where their
    /// values do not matter, they hold anything.
    pub(super) scalars: Vec<Vn>,
    pub(super) rest: Rest,
}

/// Values of all places but scalar registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    /// By [`lane`]. Few functions have any.
    pub(super) lanes: Trie,
    pub(super) exec: Vn,
    /// EXEC is all lanes, or those that the kernel was started with.
    pub(super) full: bool,
    /// The masks that have some lane.
    pub(super) nonzero: Trie,
}

/// Lanes of one vector register or slot.
pub(super) const LANES: u32 = 1 << 8;

/// The number of a lane of a vector register or slot.
pub(super) fn lane(register: u32, lane: u8) -> u32 {
    register * LANES + u32::from(lane)
}
