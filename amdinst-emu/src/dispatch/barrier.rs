//! When a barrier lets a workgroup's waves pass.
//!
//! [`Config::strict_barriers`](crate::Config::strict_barriers) counts waves that ended, and lanes that are
//! off, at each barrier.

use crate::check::FaultKind;
use crate::machine::Config;
use crate::wave::{Status, Wave};

/// What becomes of the waves that wait at a barrier.
#[derive(Debug)]
pub(crate) enum Barrier {
    /// None does, or others are still to come.
    Waits,
    /// All have arrived.
    Passes,
    /// The barrier is a fault of the wave of this number in the workgroup.
    Fails(usize, FaultKind),
}

impl Barrier {
    /// The fault of waves that halted, if no other is left to run, and the first of them.
    pub(crate) fn halted<'a>(waves: impl IntoIterator<Item = &'a Wave>) -> Option<(usize, FaultKind)> {
        let mut halted = waves.into_iter().enumerate().filter(|(_, wave)| wave.status == Status::Halted);
        let (first, _) = halted.next()?;
        Some((first, FaultKind::Halted { halted: 1 + halted.count() as u32 }))
    }

    /// Of all the waves of a workgroup. A wave that has ended counts as arrived.
    pub(crate) fn of<'a>(waves: impl Iterator<Item = &'a Wave> + Clone, config: &Config) -> Self {
        let count = |status| waves.clone().filter(|wave| wave.status == status).count() as u32;
        let waiting = count(Status::AtBarrier);
        let (halted, ended) = (count(Status::Halted), count(Status::Ended));
        if waiting == 0 || waiting + halted + ended < waves.clone().count() as u32 {
            return Self::Waits;
        }
        let mut at_it = waves.enumerate().filter(|(_, wave)| wave.status == Status::AtBarrier);
        let first = at_it.clone().next().map_or(0, |(number, _)| number);
        if halted > 0 {
            return Self::Fails(first, FaultKind::BarrierDeadlock { waiting, halted });
        }
        if !config.strict_barriers {
            return Self::Passes;
        }
        if ended > 0 {
            return Self::Fails(first, FaultKind::BarrierMismatch { waiting, ended });
        }
        match at_it.find(|(_, wave)| wave.place.work_items & !wave.exec != 0) {
            Some((number, wave)) => {
                let [arrived, started] =
                    [wave.place.work_items & wave.exec, wave.place.work_items].map(u64::count_ones);
                Self::Fails(number, FaultKind::BarrierDivergence { arrived, started })
            }
            None => Self::Passes,
        }
    }
}
