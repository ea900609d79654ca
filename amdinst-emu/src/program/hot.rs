//! Steps in the form in which `fast` executes them.

use std::any::Any;
use std::sync::OnceLock;

use super::Context;
use crate::vectors::Vectors;
use crate::wave::RowAt;

/// Executes one step; returns the number of the next one, or a mark that the loop is to be left
/// (`fast::STOP`).
///
/// # Safety
/// The step has been made by `fast` for a level that this host has, for the program in the context.
pub(crate) type HotHandler = unsafe fn(&mut Context<'_>, &Hot) -> u32;

/// A source. It has a row in any case, so that a handler for rows need not ask whether it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HotSource {
    pub(crate) row: RowAt,
    /// Zero for a row; otherwise what it is. Handlers may have bits of their own, from [`HotSource::OWN`] on.
    pub(crate) mark: u16,
}

impl HotSource {
    /// The mark of a scalar register, to which its number is added.
    const SCALAR: u16 = 1 << 8;
    const CONST: u16 = 1 << 9;
    /// The first bit that means what a handler wants.
    pub(crate) const OWN: u16 = 1 << 10;
    /// The constant of its slot.
    pub(crate) const CONSTANT: Self = Self { row: RowAt::new(0), mark: Self::CONST };

    pub(crate) const fn row(row: u16) -> Self {
        Self { row: RowAt::new(row), mark: 0 }
    }

    pub(crate) const fn scalar(register: u8) -> Self {
        Self { row: RowAt::new(0), mark: Self::SCALAR + register as u16 }
    }

    #[inline(always)]
    pub(crate) const fn is_row(self) -> bool {
        self.mark == 0
    }

    #[inline(always)]
    pub(crate) const fn is_constant(self) -> bool {
        self.mark & Self::CONST != 0
    }

    /// The scalar register's number.
    #[inline(always)]
    pub(crate) fn register(self) -> u8 {
        self.mark as u8 & 127
    }
}

/// A step, compact: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Hot {
    pub(crate) run: HotHandler,
    /// The result's row.
    pub(crate) dst: RowAt,
    pub(crate) src: [HotSource; 3],
    /// Constants of the sources, or immediates.
    pub(crate) imm: [u32; 3],
    /// Scalar result besides the lanes'.
    pub(crate) sdst: u32,
    /// Number of the step behind this one.
    pub(crate) next: u32,
    /// Where a branch goes.
    pub(crate) target: u32,
    /// Number of the mask counter.
    pub(crate) slot: u32,
    /// The end of the straight run that the step is in: the number of the next step behind one that may wait,
    /// end, or write EXEC. A branch that is taken leaves the run.
    pub(crate) end: u32,
    /// Instructions that work on lanes among all steps up to this one, with it.
    pub(crate) vectors: u32,
    /// It works on lanes.
    pub(crate) is_vector: bool,
    /// It names registers that the wave has not.
    pub(crate) is_beyond: bool,
}

/// The compact steps of a program, for each level that has been used.
#[derive(Debug, Default)]
pub(crate) struct Code {
    levels: [OnceLock<Compiled>; Vectors::ALL.len()],
}

/// The compact steps of a program for one level.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) steps: Box<[Hot]>,
    /// All that steps refer to.
    pub(crate) _kept: Box<dyn Any + Send + Sync>,
}

impl Code {
    /// The steps for a level, made by `compile` when they are first asked for.
    pub(crate) fn of(&self, vectors: Vectors, compile: impl FnOnce() -> Compiled) -> &[Hot] {
        &self.levels[vectors as usize].get_or_init(compile).steps
    }
}
