//! Variables of a loaded code object that the kernels of `amdinst_device` share with whoever launches them: the lines that they print, and
//! the memory that they allocate from.
//!
//! Both are emptied when a launch begins, and the lines shown when it ends; until the next one the program may read them, too. Launches of
//! several queues may share them: then the first begins, and the last ends.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use amdinst_core::heap;
use amdinst_core::printed::{self, Printed};
use amdinst_emu::Machine;

use crate::cells::Cell64;
use crate::image::Image;
use crate::tell::tell;

/// Where they are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Variables {
    printed: Option<u64>,
    heap: Option<u64>,
}

impl Variables {
    /// Those of a loaded code object.
    pub(crate) fn of(image: &Image, machine: &Machine) -> Self {
        let find = |name| image.symbol(machine, name).filter(|address| address.is_multiple_of(8));
        Self { printed: find(printed::SYMBOL), heap: find(heap::SYMBOL) }
    }

    /// One address for all launches that share them; none if there are no such variables.
    fn key(self) -> Option<u64> {
        self.printed.or(self.heap)
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
            for address in variables.printed.iter().chain(&variables.heap).filter(|_| *others == 1) {
                // SAFETY: a variable of a loaded code object, 8 aligned bytes, whose pages this machine keeps.
                unsafe { Cell64::at(*address) }.store(0);
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
    let (mut head, mut lines) = ([0; printed::HEAD], Vec::new());
    let read = machine.read(address, &mut head).and_then(|()| {
        lines.resize(Printed::taken(head), 0);
        machine.read(address + printed::HEAD as u64, &mut lines)
    });
    if read.is_ok() {
        for line in Printed::read(head, &lines).to_string().lines() {
            tell(line);
        }
    }
}
