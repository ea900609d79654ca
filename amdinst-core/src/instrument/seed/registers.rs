//! Registers of the schemes of 2022.

use crate::instrument::options::Probe;
use crate::instrument::refusal::Reason;
use crate::instrument::registers::NoRegisters;
use crate::instrument::registers::allocate::{Allocation, Allocator, Request};
use crate::instrument::registers::component::Component;
use crate::instrument::registers::layout::CounterPlace;
use crate::instrument::registers::needs::Needs;
use crate::instrument::registers::pool::take_pair;
use crate::instrument::registers::scheme::SeedPlace;

/// The registers that are reserved for all code are above those that prologues use.
const LOWEST_OWNED: u8 = 48;
/// With the six specials (VCC and its like) that is 100 SGPRs: as many as eight waves a SIMD have.
const HIGHEST_OWNED: u8 = 93;

/// Registers for the scheme that has its counters there, in which each point needs so much.
pub(crate) fn allocate(
    component: &Component<'_>,
    request: Request<'_>,
    place: SeedPlace,
    needs: Vec<Needs>,
) -> Result<(Allocation, SeedRegisters), NoRegisters> {
    let wanted = if place == SeedPlace::Nowhere { Probe::Time } else { Probe::Branches };
    if request.probe != wanted {
        let detail = format!("that scheme of 2022 is one of probe `{}`", wanted.name());
        return Err((Reason::CountersDoNotFit, detail));
    }
    let mut allocator = Allocator::begin(component, request, needs)?;
    let (sgprs, vgprs) = allocator.left();
    let registers = SeedRegisters::take(place, request.sites as u32, sgprs, vgprs)?;
    let counters = if place == SeedPlace::Lds { CounterPlace::Lds } else { CounterPlace::Memory };
    Ok((allocator.finish(vec![counters; request.sites])?, registers))
}

/// Registers of the schemes, beside the pair with the address of the wave's counters in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeedRegisters {
    pub(super) place: SeedPlace,
    /// Sites of the kernel.
    pub(super) sites: u32,
    /// Pair of SGPRs: the clock when the wave started.
    pub(super) begin: u8,
    /// Pair of SGPRs: the clock when it ends.
    pub(super) end: u8,
    /// SGPR: where the wave's counters are in LDS.
    pub(super) image: u8,
    /// Even pair of VGPRs.
    pub(super) address: u8,
    /// Even pair of VGPRs.
    pub(super) data: u8,
    /// VGPR: the largest number, so that an atomic increment does not wrap around; at the end an address in
    /// LDS.
    pub(super) limit: u8,
}

impl SeedRegisters {
    /// Takes them from ascending lists of unused registers.
    fn take(
        place: SeedPlace,
        sites: u32,
        sgprs: &mut Vec<u8>,
        vgprs: impl Iterator<Item = u8>,
    ) -> Result<Self, NoRegisters> {
        // Not so high that they alone lower occupancy.
        let mut above: Vec<u8> = sgprs
            .iter()
            .copied()
            .filter(|register| (LOWEST_OWNED..=HIGHEST_OWNED).contains(register))
            .collect();
        let missing = || (Reason::NoFreeSgpr, "too few SGPRs above those of prologues are unused".to_owned());
        let (begin, end) = take_pair(&mut above).zip(take_pair(&mut above)).ok_or_else(missing)?;
        let image = above.pop().ok_or_else(missing)?;
        let taken = [begin, begin + 1, end, end + 1, image];
        sgprs.retain(|register| !taken.contains(register));
        let mut vgprs = vgprs.collect::<Vec<u8>>();
        let missing = || (Reason::NoFreeVgpr, "five VGPRs, two of them even pairs, are wanted".to_owned());
        let (address, data) = take_pair(&mut vgprs).zip(take_pair(&mut vgprs)).ok_or_else(missing)?;
        let limit = vgprs.first().copied().ok_or_else(missing)?;
        Ok(Self { place, sites, begin, end, image, address, data, limit })
    }
}
