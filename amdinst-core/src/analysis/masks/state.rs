//! What is known of every place that can hold a mask, at one point.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::nonzero::Chain;
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
    /// Of the scalar registers that are followed ([`Slice::place`](super::slice::Slice::place)). Where their values do not matter,
    /// they hold anything.
    pub(super) scalars: Vec<Vn>,
    pub(super) rest: Rest,
}

impl State {
    pub(super) fn lanes_mut(&mut self) -> &mut BTreeMap<(u32, u8), Vn> {
        Rc::make_mut(&mut self.rest.lanes)
    }
}

/// Values of all places but scalar registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rest {
    /// By (VGPR, AGPR or slot; lane). Few functions have any: what is known at many places is shared.
    pub(super) lanes: Rc<BTreeMap<(u32, u8), Vn>>,
    pub(super) exec: Vn,
    /// EXEC is all lanes, or those that the kernel was started with.
    pub(super) full: bool,
    /// The masks that have some lane.
    pub(super) nonzero: Chain,
}

/// The known lanes of a vector register or slot.
pub(super) fn lanes_of(state: &State, register: u32) -> impl Iterator<Item = ((u32, u8), Vn)> {
    state.rest.lanes.range((register, 0)..=(register, u8::MAX)).map(|(&place, &value)| (place, value))
}

/// Nothing is known of a vector register's lanes any more.
pub(super) fn forget_lanes(state: &mut State, register: u32) {
    if state.rest.lanes.is_empty() {
        return;
    }
    let known: Vec<_> = lanes_of(state, register).map(|(place, _)| place).collect();
    for place in known {
        state.lanes_mut().remove(&place);
    }
}
