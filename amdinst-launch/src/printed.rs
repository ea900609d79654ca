//! What kernels have said: lines in a buffer of their program.

use amdinst_emu::{Machine, Program};
use amdinst_format::printed::{self, Printed};

/// The lines that the kernels of a program have printed on a machine; `None` if it has nothing to print with.
pub fn printed_in(machine: &Machine, program: &Program) -> Option<Printed> {
    lines(machine, program, printed::SYMBOL)
}

/// The lines of a buffer, if the program has it.
pub(crate) fn lines(machine: &Machine, program: &Program, symbol: &str) -> Option<Printed> {
    let address = program.variable(symbol)?;
    Printed::at(address, |address, bytes| machine.read(address, bytes)).ok()
}
