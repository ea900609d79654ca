//! Variables of a loaded code object that the kernels of `amdinst_device` share with whoever launches them:
//! the lines that they print, what their panics say, and the memory that they allocate from.
//!
//! Both are emptied when a launch begins, and the lines shown when it ends; until the next one the program
//! may read them, too. Launches of several queues may share them: then the first begins, and the last ends.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use amdinst_core::heap;
use amdinst_core::panics::{self, Panic};
use amdinst_core::printed::{self, Printed};
use amdinst_emu::Machine;

use crate::image::Image;
use crate::tell::tell;

/// Where they are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Variables {
    printed: Option<u64>,
    panicked: Option<u64>,
    heap: Option<u64>,
}

impl Variables {
    /// Those of a loaded code object.
    pub(crate) fn of(image: &Image, machine: &Machine) -> Self {
        let find = |name| image.symbol(machine, name).filter(|address| address.is_multiple_of(8));
        Self { printed: find(printed::SYMBOL), panicked: find(panics::SYMBOL), heap: find(heap::SYMBOL) }
    }

    /// One address for all launches that share them; none if there are no such variables.
    fn key(self) -> Option<u64> {
        self.all().next()
    }

    fn all(self) -> impl Iterator<Item = u64> {
        [self.printed, self.panicked, self.heap].into_iter().flatten()
    }

    /// What the panics of a launch have said: of workgroups of that shape, in waves of so many lanes.
    pub(crate) fn panics(self, machine: &Machine, block: [u32; 3], lanes: u32) -> Vec<Panic> {
        let lines = self.panicked.and_then(|address| lines(machine, address));
        Panic::all(&lines.unwrap_or_default(), block, lanes)
    }
}

/// How many launches are running that share variables.
#[derive(Debug, Default)]
pub(crate) struct Sharing(Mutex<HashMap<u64, usize>>);

impl Sharing {
    /// A launch of a kernel with these variables: `launch` runs it.
    pub(crate) fn during<T>(&self, machine: &Machine, variables: Variables, launch: impl FnOnce() -> T) -> T {
        let Some(key) = variables.key() else { return launch() };
        let running = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut running = running();
            let others = running.entry(key).or_default();
            *others += 1;
            for address in variables.all().filter(|_| *others == 1) {
                // A variable of a loaded code object, whose pages this machine has.
                let _ = machine.patch(address, &[0; 8]);
            }
        }
        let outcome = launch();
        let mut running = running();
        let others = running.entry(key).or_default();
        *others -= 1;
        if *others == 0 {
            running.remove(&key);
            if let Some(address) = variables.printed {
                show(machine, address);
            }
        }
        outcome
    }
}

/// Shows the lines of a buffer.
fn show(machine: &Machine, address: u64) {
    if let Some(printed) = lines(machine, address) {
        for line in printed.to_string().lines() {
            tell(line);
        }
    }
}

/// The lines of a buffer, if it is there.
fn lines(machine: &Machine, address: u64) -> Option<Printed> {
    Printed::at(address, |address, bytes| machine.read(address, bytes)).ok()
}
