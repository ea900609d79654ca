//! What inserted code takes: registers, instructions, bytes.

use crate::instrument::assembler::Assembled;
use crate::instrument::relocate::Patch;
use crate::isa::{Reg, Value};

/// The highest registers that inserted code uses, plus one.
#[derive(Clone, Debug, Default)]
pub(super) struct HighestRegisters {
    pub(super) sgprs: u32,
    pub(super) vgprs: u32,
}

impl HighestRegisters {
    /// No instruction touches SGPRs or VGPRs that its operands do not name.
    pub(super) fn see(&mut self, patch: &Patch) {
        let insts = patch.entry.iter().chain(&patch.before).chain(&patch.after);
        for operand in insts.flat_map(|inst| &inst.operands) {
            let dwords = u32::from(operand.dwords);
            match operand.value {
                Value::Scalar(first) if Reg::scalar(first).as_sgpr().is_some() => {
                    self.sgprs = self.sgprs.max(u32::from(first) + dwords);
                }
                Value::Vgpr(first) => self.vgprs = self.vgprs.max(u32::from(first) + dwords),
                _ => {}
            }
        }
    }
}

/// What was added to a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Added {
    /// Least and most instructions of a site.
    pub(super) per_site: [u32; 2],
    pub(super) sites: u32,
    pub(super) epilogue: u32,
    pub(super) bytes: u64,
}

impl Added {
    pub(super) fn site(&mut self, before: &[Assembled], after: &[Assembled]) {
        let count = (before.len() + after.len()) as u32;
        self.per_site = match self.sites {
            0 => [count; 2],
            _ => [self.per_site[0].min(count), self.per_site[1].max(count)],
        };
        self.sites += 1;
        self.bytes += bytes(before) + bytes(after);
    }

    pub(super) fn exit(&mut self, code: &[Assembled]) {
        self.epilogue = self.epilogue.max(code.len() as u32);
        self.bytes += bytes(code);
    }

    pub(super) fn add(&mut self, other: Option<&Self>) {
        let Some(other) = other else { return };
        if other.sites > 0 {
            self.per_site = match self.sites {
                0 => other.per_site,
                _ => [self.per_site[0].min(other.per_site[0]), self.per_site[1].max(other.per_site[1])],
            };
        }
        self.sites += other.sites;
        self.epilogue = self.epilogue.max(other.epilogue);
        self.bytes += other.bytes;
    }
}

pub(super) fn bytes(code: &[Assembled]) -> u64 {
    code.iter().map(|inst| u64::from(inst.size)).sum()
}
