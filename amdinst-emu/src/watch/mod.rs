//! Watchers of single accesses, besides races: each is there while something is looked for.

mod round;
mod trace;

pub(crate) use round::{Polled, Round};
pub(crate) use trace::Trace;
