//! How faithfully each opcode is executed.

use amdgpu_isa::{Arch, Encoding, Op, Opcode};

use crate::check::FaultKind;
use crate::config::Config;
use crate::exec::{approximate, unsupported};
use crate::machine::Machine;
use crate::snippet::{Snippet, WaveState};

/// How faithfully an opcode is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fidelity {
    /// To the bit, as the manuals have it.
    Exact,
    /// Executed, but a device's result may differ.
    Approximate {
        /// By how much, or in what.
        bound: &'static str,
    },
    /// Not executed: a kernel that comes to it ends with [`FaultKind::Unimplemented`].
    Unsupported {
        /// Why.
        reason: &'static str,
    },
}

impl Fidelity {
    /// `exact`, `approximate` or `unsupported`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Approximate { .. } => "approximate",
            Self::Unsupported { .. } => "unsupported",
        }
    }

    /// The bound or the reason; empty if the opcode is exact.
    pub const fn remark(self) -> &'static str {
        match self {
            Self::Exact => "",
            Self::Approximate { bound } => bound,
            Self::Unsupported { reason } => reason,
        }
    }
}

/// How faithfully an opcode is executed; `None` if the processor has not got it.
///
/// It is found out by trial: the opcode's plainest form is decoded, lowered and executed like any kernel's
/// instruction, and whether that ends in [`FaultKind::Unimplemented`] is the answer. Forms of it (a modifier,
/// an operand) may still be left out; a kernel that uses one gets that fault too.
pub fn fidelity(arch: Arch, encoding: Encoding, op: Op) -> Option<Fidelity> {
    Opcode::find(arch, encoding, op).map(of)
}

/// How faithfully a mnemonic is executed, in whichever encoding it is least; `None` if the processor has not
/// got it.
pub fn of_op(arch: Arch, op: Op) -> Option<Fidelity> {
    Opcode::of_op(arch, op).map(of).max_by_key(|fidelity| match fidelity {
        Fidelity::Exact => 0,
        Fidelity::Approximate { .. } => 1,
        Fidelity::Unsupported { .. } => 2,
    })
}

/// How faithfully an opcode is executed. See [`fidelity`].
pub fn of(opcode: Opcode) -> Fidelity {
    let (target, op) = (opcode.target(), opcode.op());
    let arch = target.arch;
    let unsupported = |reason: &'static str| {
        let named = unsupported::reason(op).unwrap_or(UNNAMED);
        Fidelity::Unsupported { reason: if reason.is_empty() { named } else { reason } }
    };
    if arch.to_execute().is_err() {
        return Fidelity::Unsupported { reason: "its processor's code is not executed yet" };
    }
    let Ok(words) = opcode.plain().and_then(|inst| inst.encode(target)) else {
        return unsupported("the tables give it no plain form");
    };
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut machine = Machine::new(arch, Config { budget: TRIAL_BUDGET, ..Config::default() });
    match Snippet::from_bytes(target, &bytes).run(&mut machine, &WaveState::default()) {
        Err(fault) => match fault.kind {
            FaultKind::Unimplemented { form, .. } => unsupported(form),
            FaultKind::Undecodable(_) => unsupported("it does not decode"),
            // It went wrong on an empty machine, as it should.
            _ => known(arch, op),
        },
        Ok(_) => known(arch, op),
    }
}

/// The reason of an opcode that is left out and not among those that are on purpose. There is none, as a test
/// holds.
pub const UNNAMED: &str = "it has no implementation";

/// Instructions that a trial may take: the opcode and the end behind it, and what a jump may come to.
const TRIAL_BUDGET: u64 = 8;

fn known(arch: Arch, op: Op) -> Fidelity {
    approximate::bound(arch, op).map_or(Fidelity::Exact, |bound| Fidelity::Approximate { bound })
}
