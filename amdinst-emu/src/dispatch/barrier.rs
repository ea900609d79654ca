//! When a barrier lets a workgroup's waves pass.
//!
//! [`Config::strict_barriers`](crate::Config::strict_barriers) counts waves that ended, and lanes that are
//! off, at each barrier.

use crate::check::FaultKind;
use crate::config::Config;
use crate::wave::{Status, Wave};

/// What becomes of the waves that wait at a barrier.
#[derive(Debug)]
pub(crate) enum Barrier {
    /// None has arrived, or others are still to come.
    Waits,
    /// All have arrived.
    Passes,
    /// The barrier is a fault of the wave of this number in the workgroup.
    Fails(usize, FaultKind),
}

impl Barrier {
    /// The fault of waves that halted, or wait at a barrier which nobody will complete, if no other is left
    /// to run; and the first of them.
    pub(crate) fn stuck<'a>(waves: impl IntoIterator<Item = &'a Wave> + Clone) -> Option<(usize, FaultKind)> {
        let of = |status| {
            let mut found =
                waves.clone().into_iter().enumerate().filter(move |(_, wave)| wave.status == status);
            let (first, _) = found.next()?;
            Some((first, 1 + found.count() as u32))
        };
        let waits =
            of(Status::AtBarrier).map(|(first, waiting)| (first, FaultKind::BarrierUnsignalled { waiting }));
        waits.or_else(|| of(Status::Halted).map(|(first, halted)| (first, FaultKind::Halted { halted })))
    }

    /// Of all the waves of a workgroup. A wave that has ended counts as arrived.
    pub(crate) fn of<'a>(waves: impl Iterator<Item = &'a Wave> + Clone, config: &Config) -> Self {
        let count = |status| waves.clone().filter(|wave| wave.status == status).count() as u32;
        let waiting = waves.clone().filter(|wave| wave.arrived().is_some()).count() as u32;
        let (halted, ended) = (count(Status::Halted), count(Status::Ended));
        if waiting == 0 || waiting + halted + ended < waves.clone().count() as u32 {
            return Self::Waits;
        }
        let mut at_it = waves.enumerate().filter_map(|(number, wave)| Some((number, wave, wave.arrived()?)));
        let first = at_it.clone().next().map_or(0, |(number, ..)| number);
        if halted > 0 {
            return Self::Fails(first, FaultKind::BarrierDeadlock { waiting, halted });
        }
        if !config.strict_barriers {
            return Self::Passes;
        }
        if ended > 0 {
            return Self::Fails(first, FaultKind::BarrierMismatch { waiting, ended });
        }
        match at_it.find(|(_, wave, lanes)| wave.place.work_items & !lanes != 0) {
            Some((number, wave, lanes)) => {
                let [arrived, started] =
                    [wave.place.work_items & lanes, wave.place.work_items].map(u64::count_ones);
                Self::Fails(number, FaultKind::BarrierDivergence { arrived, started })
            }
            None => Self::Passes,
        }
    }
}
