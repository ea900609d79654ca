//! The calls of `/dev/kfd` (`ioctl`), as `linux/kfd_ioctl.h` numbers them and lays out their arguments.
//!
//! Arguments are copied in and out as the kernel does it, so that no address that a program gives makes this
//! library crash. A call that is known and not emulated is refused, and told once.

mod arguments;
mod events;
mod machine;
mod memory;
mod queues;

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

pub(crate) use arguments::{Arguments, Request};

use crate::driver::Driver;
use crate::errno::{Errno, Outcome};
use crate::tell::tell;

/// What answers a call.
type Answer = fn(&'static Driver, &mut Arguments) -> Outcome;

/// The letter of these calls.
pub(crate) const LETTER: u8 = b'K';

/// What answers a call of that number; `None` if nothing does.
fn answer(number: u8) -> Option<Answer> {
    Some(match number {
        0x01 => machine::version,
        0x02 => queues::create,
        0x03 => queues::destroy,
        // Where caches may hold what, what scratch memory and traps need: the emulator has its own.
        0x04 => machine::accept_at::<16>,
        0x05 => machine::clocks,
        0x06 => machine::apertures_of_few,
        0x07 => queues::update,
        0x08 => events::create,
        0x09 => events::destroy,
        0x0a => events::set,
        0x0b => events::reset,
        0x0c => events::wait,
        0x11 => machine::accept_at::<8>,
        0x12 => machine::tiles,
        0x13 => machine::accept_at::<16>,
        0x14 => machine::apertures,
        0x15 => machine::accept_at::<4>,
        0x16 => memory::allocate,
        0x17 => memory::free,
        0x18 => memory::map,
        0x19 => memory::unmap,
        0x1a => queues::set_mask,
        0x1e => queues::allocate_syncs,
        0x21 => machine::xnack,
        0x23 => memory::available,
        _ => return None,
    })
}

/// What a call that is known and not emulated is for.
fn unanswered(number: u8) -> Option<&'static str> {
    Some(match number {
        0x0d..=0x10 | 0x26 => "debugging",
        0x1b => "the state of a queue's waves",
        0x1c | 0x1d | 0x24 => "memory shared by dma-buf",
        0x1f => "the GPU's system events",
        0x20 => "memory that migrates (SVM)",
        0x22 => "checkpoints",
        0x25 => "a debugger's attachment",
        0x80 | 0x81 => "memory shared with another process",
        0x83 => "another process's memory",
        0x84 => "streams of performance counters",
        0x85 => "samples of program counters",
        _ => return None,
    })
}

/// Whether runtimes make a call by themselves, to see if it is there: when they start, or after a fault.
const fn is_tried(number: u8) -> bool {
    matches!(number, 0x20 | 0x25 | 0x26)
}

/// Answer a call.
pub(crate) fn call(driver: &'static Driver, request: Request, argument: u64) -> Outcome {
    let number = request.number();
    if let Some(what) = unanswered(number) {
        if !is_tried(number) {
            tell_once(number, what);
        }
        return Err(Errno::NotSupported);
    }
    let answer = answer(number).ok_or(Errno::NoSuchCall)?;
    let mut arguments = Arguments::take(request, argument)?;
    let outcome = answer(driver, &mut arguments);
    // The kernel gives arguments back even if the call failed half way.
    arguments.give(request, argument)?;
    outcome
}

/// Tells of a call that is not emulated, the first time.
fn tell_once(number: u8, what: &str) {
    static TOLD: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];
    let bit = 1 << (number % 64);
    if TOLD[usize::from(number / 64)].fetch_or(bit, SeqCst) & bit == 0 {
        tell(format_args!(
            "the program asks the GPU's driver for {what}, which the emulated one has not got"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    /// Numbers that look random, the same each time.
    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state >> 11 ^ *state << 40
    }

    fn driver() -> &'static Driver {
        let settings = Settings::read(|name| (name == "AMDINST_GPUS").then(|| "2".to_owned())).unwrap();
        Box::leak(Box::new(Driver::with(settings).unwrap()))
    }

    #[test]
    fn hostile_calls_are_refused_and_nothing_else_happens() {
        let driver = driver();
        let mut state = 70;
        for round in 0..4000 {
            let mut bytes = [0u8; 1 << 14];
            // Small numbers, addresses and noise, so that more than the first check is reached.
            for word in bytes.as_chunks_mut::<8>().0.iter_mut().take(16) {
                let random = random(&mut state);
                let value = match random % 5 {
                    0 => random >> 60,
                    1 => (random % (1 << 47)) & !4095,
                    2 => 0,
                    3 => 0x0000_a001_0000_0001,
                    _ => random,
                };
                *word = value.to_ne_bytes();
            }
            let number = random(&mut state) % 0x90;
            let size = random(&mut state) % 128;
            let request = Request(3 << 30 | size << 16 | u64::from(LETTER) << 8 | number);
            // A wait for events that never come would never end.
            if number == 0x0c {
                bytes[8..12].fill(0);
                bytes[16..20].fill(0);
            }
            let argument = bytes.as_mut_ptr().expose_provenance() as u64;
            let outcome = call(driver, request, argument);
            if answer(number as u8).is_none() {
                assert!(matches!(outcome, Err(Errno::NoSuchCall | Errno::NotSupported)), "{round}");
            }
        }
    }

    #[test]
    fn arguments_that_are_nowhere_are_a_fault_and_unknown_calls_are_named() {
        let driver = driver();
        for number in 1..=0x23u64 {
            let request = Request(3 << 30 | 40 << 16 | u64::from(LETTER) << 8 | number);
            let outcome = call(driver, request, 0x10);
            let expected =
                if unanswered(number as u8).is_some() { Errno::NotSupported } else { Errno::Fault };
            assert_eq!(outcome, Err(expected), "{number:#x}");
        }
        for number in [0, 0x27, 0x7f, 0x82, 0xff] {
            assert_eq!(call(driver, Request(number), 0), Err(Errno::NoSuchCall));
        }
    }
}
