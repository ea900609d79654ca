//! Steps in the form in which `fast` executes them.

use std::any::Any;
use std::sync::OnceLock;

use super::Context;
use crate::vectors::Vectors;

/// Executes one step; returns the number of the next one, or a mark that the loop is to be left
/// (`fast::STOP`).
///
/// # Safety
/// The step has been made by `fast` for a level that this host has, for the program in the context.
pub(crate) type HotHandler = unsafe fn(&mut Context<'_>, &Hot) -> u32;

/// A step, compact: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Hot {
    pub(crate) run: HotHandler,
    /// First dword of the result's row, or number of a scalar register.
    pub(crate) dst: u32,
    /// First dword of a row, or a scalar register by its number, or a constant: `fast` has the marks.
    pub(crate) src: [u32; 3],
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
    /// The end of the straight run that the step is in: the number of the next step behind one that may go
    /// elsewhere, wait, or write EXEC.
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
