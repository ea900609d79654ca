//! A code object made ready, as it is executed.
//!
//! Each instruction is a [`Step`]: its operands resolved to rows of registers, and the function in `exec/`
//! that knows every case of it. `fast` makes one compact step from each. `load` makes programs.

mod atomicity;
mod context;
mod hot;
mod permutation;
mod step;
mod versions;

pub(crate) use atomicity::Sources;
pub(crate) use context::{Context, Tally};
pub(crate) use hot::{Code, Compiled, Hot, HotHandler, HotSource};
pub(crate) use permutation::{Permutation, permutes};
pub(crate) use step::{
    Action, Extra, Flags, Handler, MemoryAccess, NO_SLOT, Part, ScalarAccess, ScalarKind, Space, Step, Typed,
};
pub(crate) use versions::Versions;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use amdgpu_isa::{Inst, Target};
use amdgpu_object::{Kernel, Variable};

use crate::races::Atomicity;
use crate::wave::Registers;
use atomicity::of_steps;

/// No step begins at this dword.
pub(crate) const NO_STEP: u32 = u32::MAX;

/// A loaded code object. It belongs to the machine that loaded it.
#[derive(Debug)]
pub struct Program {
    /// Its processor, and how many lanes its waves have.
    pub(crate) target: Target,
    pub(crate) steps: Vec<Step>,
    /// Step that begins at each dword of the text, or [`NO_STEP`].
    pub(crate) step_at: Vec<u32>,
    /// Address of the text in the code object.
    pub(crate) text_address: u64,
    /// Device address minus code object address.
    pub(crate) bias: u64,
    /// Kernels, in order of entry address.
    pub(crate) kernels: Vec<Kernel>,
    /// Variables, at their addresses in the code object.
    pub(crate) variables: Vec<Variable>,
    /// Registers are protected by ECC: they are written as a whole.
    pub(crate) sramecc: bool,
    /// Steps that write EXEC, in order.
    pub(crate) exec_writers: Vec<u32>,
    /// Some step reads a clock.
    pub(crate) reads_clock: bool,
    /// Registers that its instructions name.
    pub(crate) registers: Registers,
    /// Compact steps.
    pub(crate) code: Code,
    /// The text as mapped, and behind it that of other code objects.
    pub(crate) text: Vec<u8>,
    /// It calls addresses that it does not make itself, which may be of other code objects.
    pub(crate) calls_by_pointer: bool,
    /// Where the text of other code objects is.
    pub(crate) elsewhere: Vec<Elsewhere>,
    /// What tells whether accesses are atomics, where races are looked for.
    pub(crate) sources: Option<Sources>,
    pub(crate) atomicity: OnceLock<Arc<[Atomicity]>>,
}

/// Code of another code object, which a kernel may call by an address that it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Elsewhere {
    /// Its device addresses.
    pub(crate) device: Range<u64>,
    /// Where it begins in the program's text.
    pub(crate) offset: usize,
}

impl Program {
    /// Whether it calls addresses that it is given, which may be of other code objects
    /// ([`Resident::elsewhere`](crate::Resident::elsewhere)).
    pub fn calls_by_pointer(&self) -> bool {
        self.calls_by_pointer
    }

    /// Device addresses of other code objects' code that it has.
    pub fn elsewhere(&self) -> impl Iterator<Item = Range<u64>> {
        self.elsewhere.iter().map(|piece| piece.device.clone())
    }

    /// Its own text.
    pub(crate) fn own_text(&self) -> &[u8] {
        let end = self.elsewhere.first().map_or(self.text.len(), |piece| piece.offset);
        &self.text[..end]
    }

    /// The code of another code object that a byte of the text is of.
    pub(crate) fn elsewhere_of(&self, offset: usize) -> Option<&Elsewhere> {
        let after = self.elsewhere.partition_point(|piece| piece.offset <= offset);
        self.elsewhere.get(after.checked_sub(1)?)
    }

    /// Where the code of other code objects is in the text.
    pub(crate) fn sections_elsewhere(&self) -> Vec<Range<usize>> {
        let section =
            |piece: &Elsewhere| piece.offset..piece.offset + (piece.device.end - piece.device.start) as usize;
        self.elsewhere.iter().map(section).collect()
    }

    /// What each step's accesses are. Reads debug information when it is first asked for.
    pub(crate) fn atomicity(&self) -> Arc<[Atomicity]> {
        self.atomicity.get_or_init(|| of_steps(self, self.sources.as_ref())).clone()
    }

    /// Bytes that the decoded form of a dword of code takes, at most.
    pub(crate) const DECODED: u64 =
        (size_of::<Step>() + size_of::<Extra>() + size_of::<Hot>() + size_of::<u32>()) as u64;

    /// Bytes of memory that it takes, at most.
    pub fn bytes(&self) -> u64 {
        self.steps.len() as u64 * Self::DECODED + self.text.len() as u64
    }

    /// The names of the kernels it holds.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.kernels.iter().map(|kernel| kernel.name.as_str())
    }

    /// Device address of the variable of that name, as `hipModuleGetGlobal` gives it.
    pub fn variable(&self, name: &str) -> Option<u64> {
        let variable = self.variables.iter().find(|variable| variable.name == name)?;
        Some(self.device_address(variable.address))
    }

    /// Device address of an address of the code object.
    pub fn device_address(&self, address: u64) -> u64 {
        address.wrapping_add(self.bias)
    }

    /// Code object address of a step.
    pub(crate) fn pc(&self, step: &Step) -> u64 {
        let offset = step.offset as usize;
        match self.elsewhere_of(offset) {
            None => self.text_address + u64::from(step.offset),
            Some(piece) => {
                piece.device.start.wrapping_sub(self.bias).wrapping_add((offset - piece.offset) as u64)
            }
        }
    }

    /// The step at a device address.
    #[inline]
    pub(crate) fn step_of(&self, device_address: u64) -> Option<u32> {
        let offset = device_address.wrapping_sub(self.bias).wrapping_sub(self.text_address);
        if self.elsewhere.is_empty() || offset < self.own_text().len() as u64 {
            return self.step_in_text(offset);
        }
        let piece = self.elsewhere.iter().find(|piece| piece.device.contains(&device_address))?;
        self.step_in_text(piece.offset as u64 + (device_address - piece.device.start))
    }

    /// The step at an offset of the text.
    #[inline]
    fn step_in_text(&self, offset: u64) -> Option<u32> {
        if !offset.is_multiple_of(4) {
            return None;
        }
        self.step_at.get(usize::try_from(offset / 4).ok()?).copied().filter(|step| *step != NO_STEP)
    }

    /// The instruction of a step; `None` of what is none, which is a fault when it runs.
    pub(crate) fn inst_of(&self, step: &Step) -> Option<Inst> {
        amdgpu_isa::decode(self.target, self.text.get(step.offset as usize..)?).ok()
    }

    /// The text of a step, for messages.
    pub(crate) fn text_of(&self, step: &Step) -> String {
        if let Some(inst) = self.inst_of(step) {
            return inst.text(self.target);
        }
        let word = self.text.get(step.offset as usize..).and_then(|bytes| bytes.first_chunk());
        word.map_or_else(String::new, |word| format!(".long {:#010x}", u32::from_le_bytes(*word)))
    }
}
