//! The calls of a GPU's render node (`ioctl`), as `drm/drm.h` and `drm/amdgpu_drm.h` number them and lay out
//! their arguments: the few by which libdrm finds out what GPU it is. Memory and work go by `/dev/kfd`.

use crate::driver::Driver;
use crate::errno::{Errno, Outcome};
use crate::host_memory::physical_bytes;
use crate::kfd::{Arguments, Request};
use crate::profile::Profile;
use crate::user_memory;

/// The letter of these calls.
pub(crate) const LETTER: u8 = b'd';

/// Numbers of calls.
mod number {
    pub(super) const VERSION: u8 = 0x00;
    pub(super) const INFO: u8 = 0x45;
}

/// Questions about a GPU.
mod question {
    pub(super) const WORKS: u32 = 0x00;
    pub(super) const ENGINES: u32 = 0x03;
    pub(super) const FIRMWARE: u32 = 0x0e;
    pub(super) const DEVICE_MEMORY_USED: u32 = 0x10;
    pub(super) const HOST_MEMORY_USED: u32 = 0x11;
    pub(super) const MEMORY_SIZES: u32 = 0x14;
    pub(super) const REGISTERS: u32 = 0x15;
    pub(super) const DEVICE: u32 = 0x16;
    pub(super) const VISIBLE_MEMORY_USED: u32 = 0x17;
    pub(super) const MEMORY: u32 = 0x19;
}

/// The version of the driver that is answered for.
const VERSION: [u32; 3] = [3, 54, 0];
/// Its name, date and description.
const NAMES: [&str; 3] = ["amdgpu", "20150101", "AMD GPU (emulated)"];
/// Kilohertz of the GPU's clock.
const CLOCK_KHZ: u32 = 100_000;
/// Registers that are asked for at once, at most.
const MOST_REGISTERS: u32 = 128;

/// Answer a call about the GPU of a node.
pub(crate) fn call(driver: &Driver, node: u32, request: Request, argument: u64) -> Outcome {
    let mut arguments = Arguments::take(request, argument)?;
    match request.number() {
        number::VERSION => version(&mut arguments)?,
        number::INFO => info(driver, node, &arguments)?,
        0x01..=0x9f => return Err(Errno::NotSupported),
        _ => return Err(Errno::NoSuchCall),
    }
    arguments.give(request, argument)
}

/// Which driver it is. Names are written as far as there is room.
fn version(arguments: &mut Arguments) -> Outcome {
    for (field, value) in VERSION.into_iter().enumerate() {
        arguments.set_word(4 * field, value);
    }
    for (index, name) in NAMES.into_iter().enumerate() {
        let field = 16 + 16 * index;
        let room = usize::try_from(arguments.long(field)).unwrap_or(0).min(name.len());
        let to = arguments.long(field + 8);
        if room > 0 && to != 0 {
            user_memory::write(to, &name.as_bytes()[..room])?;
        }
        arguments.set_long(field, name.len() as u64);
    }
    Ok(())
}

/// Something about the GPU, written as far as there is room.
fn info(driver: &Driver, node: u32, arguments: &Arguments) -> Outcome {
    let profile = driver.devices.settings.profile;
    let used = driver.allocations().used(node);
    let total = profile.memory;
    let longs = |all: &[u64]| all.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<u8>>();
    let heap = |total: u64, used: u64| [total, total, used, total];
    let answer = match arguments.word(12) {
        question::WORKS => 1u32.to_ne_bytes().into(),
        question::ENGINES => 0u32.to_ne_bytes().into(),
        question::FIRMWARE => vec![0; 8],
        question::DEVICE_MEMORY_USED | question::VISIBLE_MEMORY_USED => longs(&[used]),
        question::HOST_MEMORY_USED => longs(&[0]),
        question::MEMORY_SIZES => longs(&[total, total, physical_bytes()]),
        question::MEMORY => {
            longs(&[heap(total, used), heap(total, used), heap(physical_bytes(), 0)].concat())
        }
        question::REGISTERS => {
            let count = arguments.word(20);
            if count > MOST_REGISTERS {
                return Err(Errno::Invalid);
            }
            (0..count).flat_map(|_| profile.address_config.to_ne_bytes()).collect()
        }
        question::DEVICE => device(profile),
        _ => return Err(Errno::Invalid),
    };
    let room = answer.len().min(arguments.word(8) as usize);
    user_memory::write(arguments.long(0), &answer[..room])
}

/// What is said of a GPU: `drm_amdgpu_info_device`, zero where there is nothing to say.
fn device(profile: &Profile) -> Vec<u8> {
    /// Bytes of the structure.
    const BYTES: usize = 448;
    let (family, chip) = profile.family;
    let words = [
        (0, u32::from(profile.device_id)),
        (8, chip),
        (16, family),
        (20, profile.arrays / profile.arrays_per_engine.max(1)),
        (24, profile.arrays_per_engine),
        (28, CLOCK_KHZ),
        (48, profile.cus),
        (160, 4096),
        (168, 4096),
        (180, profile.bus_width),
        (240, profile.arch.default_wave().lanes()),
        (248, profile.cus.div_ceil(profile.arrays)),
    ];
    let longs = [
        (32, u64::from(profile.clock_mhz) * 1000),
        (40, u64::from(profile.memory_clock_mhz) * 1000),
        // Where the program's addresses begin and end.
        (144, 1 << 21),
        (152, 1 << 47),
    ];
    let mut bytes = vec![0; BYTES];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    words.iter().for_each(|(at, value)| put(*at, &value.to_ne_bytes()));
    longs.iter().for_each(|(at, value)| put(*at, &value.to_ne_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    fn ask(driver: &Driver, number: u8, arguments: &mut [u64]) -> Outcome {
        let size = 8 * arguments.len() as u64;
        let request = Request(3 << 30 | size << 16 | u64::from(LETTER) << 8 | u64::from(number));
        call(driver, 1, request, arguments.as_mut_ptr().expose_provenance() as u64)
    }

    #[test]
    fn libdrm_is_told_which_gpu_it_is() {
        let driver = Driver::with(Settings::read(|_| None).unwrap()).unwrap();
        let mut name = [0u8; 8];
        let mut version = [0, 0, 3, name.as_mut_ptr().expose_provenance() as u64, 0, 0, 0, 0];
        ask(&driver, number::VERSION, &mut version).unwrap();
        assert_eq!((version[0] as u32, version[2], &name[..4]), (3, 6, &b"amd\0"[..]));
        let mut device = [0u32; 200];
        let into = device.as_mut_ptr().expose_provenance() as u64;
        let mut info = [into, 800 | u64::from(question::DEVICE) << 32, 0, 0];
        ask(&driver, number::INFO, &mut info).unwrap();
        assert_eq!((device[0], device[4], device[7]), (0x740f, 141, CLOCK_KHZ));
        assert_eq!(device[12], 104);
        let mut nowhere = [8, 800 | u64::from(question::DEVICE) << 32, 0, 0];
        assert_eq!(ask(&driver, number::INFO, &mut nowhere), Err(Errno::Fault));
        for number in [1, 0x40, 0x41, 0x9f] {
            assert_eq!(ask(&driver, number, &mut [0; 4]), Err(Errno::NotSupported));
        }
        assert_eq!(ask(&driver, 0xff, &mut [0; 4]), Err(Errno::NoSuchCall));
    }

    #[test]
    fn hostile_questions_are_refused() {
        let driver = Driver::with(Settings::read(|_| None).unwrap()).unwrap();
        for value in [8, 1 << 40, u64::MAX, u64::MAX << 32, 0xffff_ffff] {
            for number in 0..=u8::MAX {
                let outcome = ask(&driver, number, &mut [value; 8]);
                assert!(outcome.is_err(), "{number:#x} {value:#x}");
            }
        }
        let mut few = [0u32; 2];
        let into = few.as_mut_ptr().expose_provenance() as u64;
        let registers = 8 | u64::from(question::REGISTERS) << 32;
        assert_eq!(ask(&driver, number::INFO, &mut [into, registers, 1000 << 32, 0]), Err(Errno::Invalid));
        // No more is written than there is room for.
        ask(&driver, number::INFO, &mut [into, registers, 100 << 32, 0]).unwrap();
        assert_eq!(few, [0x2a11_4042; 2]);
    }
}
