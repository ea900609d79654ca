//! Variables of code objects that launches begin with empty: what kernels allocate from, and what they leave
//! for the host to read.

use amdinst_core::{heap, panics, printed};
use amdinst_emu::{Machine, Program};

/// Empties the memory that a program's kernels allocate from, if it has such.
pub(super) fn empty_heap(machine: &mut Machine, program: &Program) {
    zero(machine, program, heap::SYMBOL, heap::HEAD);
}

/// Forgets the lines that a program's kernels have left: printed ones, and those of panics.
pub(super) fn forget_lines(machine: &mut Machine, program: &Program) {
    zero(machine, program, printed::SYMBOL, printed::HEAD);
    zero(machine, program, panics::SYMBOL, printed::HEAD);
}

fn zero(machine: &mut Machine, program: &Program, name: &str, bytes: usize) {
    if let Some(address) = program.variable(name) {
        let written = machine.write(address, &vec![0; bytes]);
        debug_assert!(written.is_ok(), "{written:?}");
    }
}
