//! What is known of every place that can hold a mask, at one point.

use std::collections::BTreeMap;

use crate::analysis::values::Vn;

/// The id under which the lanes of accumulation registers are known; spill slots follow.
pub(super) const AGPRS: u32 = 256;
pub(super) const SLOTS: u32 = 512;
/// The number of the EXEC place in [`Expr::Phi`].
pub(super) const EXEC_PLACE: u32 = 200;

/// Scalar registers by operand code.
pub(super) const SCALARS: usize = 128;

/// A small set of values, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct VnSet(Vec<Vn>);

impl VnSet {
    pub(super) fn of(value: Vn) -> Self {
        Self(vec![value])
    }

    pub(super) fn contains(&self, value: Vn) -> bool {
        self.0.binary_search(&value).is_ok()
    }

    pub(super) fn insert(&mut self, value: Vn) {
        if let Err(at) = self.0.binary_search(&value) {
            self.0.insert(at, value);
        }
    }

    pub(super) fn retain(&mut self, keep: impl Fn(Vn) -> bool) {
        self.0.retain(|&value| keep(value));
    }
}

/// Values of all places at a point.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct State {
    /// Of the scalar registers that are followed ([`Slice::place`](super::slice::Slice::place)).
    pub(super) scalars: Vec<Vn>,
    /// By (VGPR, AGPR or slot; lane).
    pub(super) lanes: BTreeMap<(u32, u8), Vn>,
    pub(super) exec: Vn,
    /// EXEC is all lanes, or those that the kernel was started with.
    pub(super) full: bool,
    pub(super) nonzero: VnSet,
}

impl Clone for State {
    fn clone(&self) -> Self {
        let Self { ref scalars, ref lanes, exec, full, ref nonzero } = *self;
        Self { scalars: scalars.clone(), lanes: lanes.clone(), exec, full, nonzero: nonzero.clone() }
    }

    /// Keeps the memory that this state has: a block is looked at more than once.
    fn clone_from(&mut self, other: &Self) {
        let Self { ref scalars, ref lanes, exec, full, ref nonzero } = *other;
        self.scalars.clone_from(scalars);
        self.lanes.clone_from(lanes);
        (self.exec, self.full) = (exec, full);
        self.nonzero.0.clone_from(&nonzero.0);
    }
}

/// The known lanes of a vector register or slot.
pub(super) fn lanes_of(state: &State, register: u32) -> impl Iterator<Item = ((u32, u8), Vn)> {
    state.lanes.range((register, 0)..=(register, u8::MAX)).map(|(&place, &value)| (place, value))
}

/// Nothing is known of a vector register's lanes any more.
pub(super) fn forget_lanes(state: &mut State, register: u32) {
    if state.lanes.is_empty() {
        return;
    }
    let known: Vec<_> = lanes_of(state, register).map(|(place, _)| place).collect();
    for place in known {
        state.lanes.remove(&place);
    }
}
