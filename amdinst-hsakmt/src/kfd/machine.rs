//! Calls about the machine: versions, clocks, ranges of addresses, and what the emulated GPUs have nothing
//! behind.

use amdinst_emu::{PRIVATE_APERTURE, SHARED_APERTURE};

use super::Arguments;
use crate::clock;
use crate::driver::Driver;
use crate::errno::{Errno, Outcome};
use crate::topology::{self, APERTURE};
use crate::user_memory;

/// The version of these calls. With 1.14 events have ages; from 1.15 on runtimes use the graphics driver for
/// memory.
const VERSION: (u32, u32) = (1, 14);
/// Addresses that GPUs share with the host.
const SHARED: (u64, u64) = (1 << 14, (1 << 47) - 1);
/// GPUs that the oldest form of the call tells of.
const FEW: u32 = 7;

/// The node of a GPU that a call names.
pub(super) fn node(driver: &Driver, gpu: u32) -> Result<u32, Errno> {
    topology::node_of(&driver.devices.settings, gpu).ok_or(Errno::Invalid)
}

/// Version of the interface.
pub(super) fn version(_driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    arguments.set_word(0, VERSION.0);
    arguments.set_word(4, VERSION.1);
    Ok(())
}

/// Something that the emulated GPU does without: the field at `GPU` names it.
pub(super) fn accept_at<const GPU: usize>(driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    node(driver, arguments.word(GPU)).map(drop)
}

/// The clocks, now.
pub(super) fn clocks(_driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    let (gpu, system) = (clock::gpu(), clock::system());
    for (field, value) in [gpu, system, system, clock::SYSTEM_HZ].into_iter().enumerate() {
        arguments.set_long(8 * field, value);
    }
    Ok(())
}

/// The ranges of addresses of a GPU: LDS, scratch memory, memory.
fn ranges(driver: &Driver, node: u32) -> [u64; 7] {
    let aperture = |base| [base, base + APERTURE - 1];
    let [lds, lds_end] = aperture(SHARED_APERTURE);
    let [scratch, scratch_end] = aperture(PRIVATE_APERTURE);
    let gpu = topology::gpu_of(&driver.devices.settings, node);
    [lds, lds_end, scratch, scratch_end, SHARED.0, SHARED.1, u64::from(gpu)]
}

/// The ranges of addresses of all GPUs, in an array of the program's.
pub(super) fn apertures(driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    let (array, room) = (arguments.long(0), arguments.word(8));
    let gpus = driver.devices.gpus.len() as u32;
    // Without room it is asked how many there are.
    let count = if room == 0 { 0 } else { gpus.min(room) };
    let bytes: Vec<u8> =
        (1..=count).flat_map(|node| ranges(driver, node)).flat_map(u64::to_ne_bytes).collect();
    user_memory::write(array, &bytes)?;
    arguments.set_word(8, if room == 0 { gpus } else { count });
    Ok(())
}

/// The same of the first few GPUs, in the arguments themselves; older programs ask for them so.
pub(super) fn apertures_of_few(driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    let gpus = (driver.devices.gpus.len() as u32).min(FEW);
    for node in 1..=gpus {
        for (field, value) in ranges(driver, node).into_iter().enumerate() {
            arguments.set_long(56 * (node as usize - 1) + 8 * field, value);
        }
    }
    arguments.set_word(56 * FEW as usize, gpus);
    Ok(())
}

/// How images are tiled: there are no tables, as on every GPU since GFX9.
pub(super) fn tiles(driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    node(driver, arguments.word(24))?;
    arguments.set_word(16, 0);
    arguments.set_word(20, 0);
    arguments.set_word(28, driver.devices.settings.profile.address_config);
    arguments.set_word(32, 0);
    arguments.set_word(36, 0);
    Ok(())
}

/// Whether accesses to pages that are not there are tried again: never.
pub(super) fn xnack(_driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    let asked_for = arguments.word(0) as i32;
    if asked_for > 0 {
        return Err(Errno::NotPermitted);
    }
    arguments.set_word(0, 0);
    Ok(())
}
