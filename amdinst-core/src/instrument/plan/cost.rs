//! What inserted code takes: instructions, bytes.

use crate::instrument::emit::assembler::Assembled;

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
