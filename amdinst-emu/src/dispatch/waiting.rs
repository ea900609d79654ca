//! Whether a wave waits for another workgroup.
//!
//! A wave that polls goes round a loop that leaves everything as it was: its registers, its private memory,
//! LDS and device memory. What it does next it has done before, and it will do so again until someone else
//! writes. So a wave that has come back to a step with all as it was waits, whatever the loop looks like. If
//! nobody can write what it reads, or it reads nothing, it never ends. A loop that counts its rounds or reads
//! a clock is not known for one.

use amdgpu_isa::Families;

use crate::program::{Space, Step};
use crate::watch::Round;
use crate::wave::{Held, Wave};

use super::order;

/// The wave of a round runs this step, of which vector accesses are noted where their addresses are known.
pub(super) fn begin(round: &mut Round, step: &Step) {
    let extra = step.extra.as_ref();
    round.asks |=
        extra.is_some_and(|extra| extra.scalar.is_some() || extra.memory.is_some_and(|of| of.lds_dma));
    round.reads_lds |= step.op.is_of(Families::DATA_SHARE);
}

/// Steps of a wave that are looked at.
pub(super) const WINDOW: usize = 2048;

/// How often a wave may come back to its first step with something changed.
const RETURNS: u32 = 16;

/// A look at one wave's steps.
#[derive(Debug)]
pub(super) struct Look {
    first: u32,
    held: Held,
    lds: Vec<u8>,
    returns: u32,
}

/// What is known after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Nothing yet.
    Nothing,
    /// All is as it was at the first step.
    Round,
    /// The wave gets on, or may.
    GetsOn,
}

impl Look {
    /// Begins at the wave's next step.
    pub(super) fn new(wave: &Wave, lds: &[u8]) -> Self {
        Self { first: wave.next, held: wave.held(), lds: lds.to_vec(), returns: 0 }
    }

    /// Whether a step may change what is not looked at.
    pub(super) fn cannot_see(step: &Step) -> bool {
        order::is_sensitive_scalar(step) || order::converts(step) || step.op.is_of(Families::BARRIER)
    }

    /// The wave has run this step.
    pub(super) fn step(&mut self, step: &Step, wave: &Wave, lds: &[u8], round: &Round) -> Seen {
        let access = step.extra.as_ref().and_then(|extra| extra.memory.as_ref());
        let may_write_lds = access.is_some_and(|access| access.space == Space::Flat || access.lds_dma)
            || step.op.is_of(Families::DATA_SHARE);
        if round.changed || may_write_lds && lds != self.lds {
            return Seen::GetsOn;
        }
        if wave.next != self.first {
            return Seen::Nothing;
        }
        self.returns += 1;
        match wave.holds(&self.held) {
            true => Seen::Round,
            false if self.returns == RETURNS => Seen::GetsOn,
            false => Seen::Nothing,
        }
    }
}
