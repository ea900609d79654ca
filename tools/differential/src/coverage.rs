//! Which instructions the programs executed, of those that the emulator executes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use amdgpu_isa::{Arch, Op, opcodes};
use amdinst_emu::{Fidelity, fidelity};
use anyhow::{Context as _, Result, anyhow};

/// How often each mnemonic was executed, by processor. An encoding is not told apart: `v_add_f32` is one,
/// whether it was VOP2, VOP3, SDWA or DPP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage(BTreeMap<Arch, BTreeMap<Op, u64>>);

impl Coverage {
    /// So many executions more.
    pub fn count(&mut self, arch: Arch, op: Op, executions: u64) {
        *self.0.entry(arch).or_default().entry(op).or_default() += executions;
    }

    /// Adds another coverage to this one.
    pub fn add(&mut self, other: &Self) {
        for (arch, ops) in &other.0 {
            ops.iter().for_each(|(op, executions)| self.count(*arch, *op, *executions));
        }
    }

    /// Mnemonics executed on any processor.
    pub fn mnemonics(&self) -> usize {
        self.0.values().flat_map(BTreeMap::keys).collect::<BTreeSet<_>>().len()
    }

    /// One line a processor and mnemonic: `gfx90a v_add_f32 1200`.
    pub fn lines(&self) -> String {
        let mut text = String::new();
        for (cpu, ops) in &self.0 {
            for (op, executions) in ops {
                let _ = writeln!(text, "{cpu} {} {executions}", op.name());
            }
        }
        text
    }

    /// What [`Self::lines`] wrote.
    ///
    /// # Errors
    /// The file cannot be read, or a line is none of these.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        let mut coverage = Self::default();
        for line in text.lines() {
            let mut words = line.split(' ');
            let parsed = (|| {
                let (cpu, op, executions) = (words.next()?, words.next()?, words.next()?);
                Some((Arch::from_name(cpu)?, Op::from_name(op)?, executions.parse().ok()?))
            })();
            let (arch, op, executions) =
                parsed.ok_or_else(|| anyhow!("{}: no line of coverage: `{line}`", path.display()))?;
            coverage.count(arch, op, executions);
        }
        Ok(coverage)
    }

    /// For each processor and encoding the mnemonics executed, of those that the emulator executes; a
    /// mnemonic of several encodings is counted in the first. With `missing`, those that were not.
    pub fn summary(&self, missing: bool) -> String {
        let mut text = String::new();
        for (&arch, executed) in &self.0 {
            let mut known = BTreeSet::new();
            let mut encodings: BTreeMap<_, (usize, Vec<Op>)> = BTreeMap::new();
            for opcode in opcodes(arch) {
                let op = opcode.op();
                let runs = !matches!(fidelity::of(opcode), Fidelity::Unsupported { .. });
                if runs && known.insert(op) {
                    let (reached, left) = encodings.entry(opcode.encoding()).or_default();
                    if executed.contains_key(&op) { *reached += 1 } else { left.push(op) }
                }
            }
            let reached: usize = encodings.values().map(|(reached, _)| reached).sum();
            let _ = write!(text, "{arch}: {reached} of {} mnemonics executed", known.len());
            for (number, (encoding, (reached, left))) in encodings.iter().enumerate() {
                let separator = if number == 0 { ':' } else { ',' };
                let _ = write!(text, "{separator} {encoding:?} {reached}/{}", reached + left.len());
            }
            text.push('\n');
            for (encoding, (_, left)) in encodings.iter().filter(|_| missing) {
                let names: Vec<&str> = left.iter().map(|op| op.name()).collect();
                if !names.is_empty() {
                    let _ = writeln!(text, "{arch} {encoding:?}, not executed: {}", names.join(" "));
                }
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_again_and_added() {
        let mut coverage = Coverage::default();
        coverage.count(Arch::Gfx900, Op::v_add_f32, 3);
        coverage.count(Arch::Gfx90a, Op::s_endpgm, 1);
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), coverage.lines()).expect("written");
        let mut both = Coverage::read(file.path()).expect("lines of coverage");
        assert_eq!(both, coverage);
        both.add(&coverage);
        assert_eq!(both.lines(), "gfx900 v_add_f32 6\ngfx90a s_endpgm 2\n");
        assert_eq!(both.mnemonics(), 2);
        std::fs::write(file.path(), "gfx900 v_nothing 1\n").expect("written");
        assert!(Coverage::read(file.path()).is_err());
    }

    #[test]
    fn the_summary_counts_what_the_processor_has() {
        let mut coverage = Coverage::default();
        coverage.count(Arch::Gfx900, Op::v_add_f32, 3);
        let text = coverage.summary(true);
        assert!(text.starts_with("gfx900: 1 of "), "{text}");
        assert!(text.contains("Vop2 1/"), "{text}");
        assert!(text.contains(" v_sub_f32 ") && !text.contains(" v_add_f32 "), "{text}");
    }
}
