//! What a comparison found.

use std::collections::BTreeMap;
use std::fmt;

use amdgpu_isa::Target;

/// How a word compares.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// LLVM and we decode the word to the same text, which LLVM assembles to the same bytes.
    Same,
    /// LLVM and we decode the word to the same text, but LLVM assembles that to a word without the bits that
    /// mean nothing. We keep them.
    Ignored,
    /// LLVM and we decode the word to the same text, which LLVM assembles to another encoding of the same
    /// instruction.
    Respelled,
    /// LLVM and we decode the word to the same text, which LLVM's assembler takes for another instruction: it
    /// has no text for this one.
    Lossy,
    /// LLVM's disassembler prints another instruction (or crashes), which its assembler shows: our text gives
    /// these bytes.
    Misprint,
    /// LLVM's disassembler refuses it, but its assembler writes it: our text gives these bytes.
    OnlyAssembled,
    /// We decode the word to a text that names halves of registers, as LLVM has it only if asked for that.
    Halves,
    /// Neither decodes it.
    Refused,
    /// LLVM's disassembler prints what its assembler refuses, or gives other bytes for, and we refuse; the
    /// cause.
    IllegalForm(String),
    /// LLVM's disassembler crashes there or makes something up (it is not asked), and we refuse.
    Crash,
}

impl Class {
    /// All, in the order of the report, that of [`Self::IllegalForm`] aside.
    const ALL: [(Self, &str); 9] = [
        (Self::Same, "decoded by both, and back to the same bytes by both"),
        (Self::Ignored, "decoded by both; LLVM drops bits without meaning, we keep them"),
        (Self::Respelled, "decoded by both; LLVM's text stands for another encoding of the same"),
        (Self::Lossy, "decoded by both; LLVM's assembler has no text for it"),
        (Self::Misprint, "decoded by both; LLVM's text assembles to something else, ours to these bytes"),
        (Self::OnlyAssembled, "decoded by us and written by LLVM's assembler, refused by its disassembler"),
        (Self::Halves, "decoded by us, and by LLVM if it is asked for halves of registers: compared below"),
        (Self::Refused, "refused by both"),
        (Self::Crash, "refused by us; LLVM's disassembler crashes there, or makes something up"),
    ];
}

/// Counts and differences.
#[derive(Debug, Default)]
pub(super) struct Report {
    counts: BTreeMap<Class, u64>,
    /// By kind: how many, and the first examples.
    differences: BTreeMap<String, (u64, Vec<String>)>,
}

impl Report {
    /// Counts a word.
    pub(super) fn count(&mut self, class: Class) {
        *self.counts.entry(class).or_default() += 1;
    }

    /// Notes a difference.
    pub(super) fn differ(&mut self, kind: String, example: impl FnOnce() -> String, examples: usize) {
        let (count, shown) = self.differences.entry(kind).or_default();
        *count += 1;
        if shown.len() < examples {
            shown.push(example());
        }
    }

    /// Adds the report of the words that come next.
    pub(super) fn merge(&mut self, other: Self, examples: usize) {
        for (class, count) in other.counts {
            *self.counts.entry(class).or_default() += count;
        }
        for (kind, (count, shown)) in other.differences {
            let (total, all) = self.differences.entry(kind).or_default();
            *total += count;
            all.extend(shown);
            all.truncate(examples);
        }
    }

    /// How many words differ.
    pub(super) fn differences(&self) -> u64 {
        self.differences.values().map(|(count, _)| count).sum()
    }

    /// The causes of what LLVM's disassembler alone takes, the most frequent first.
    fn causes(&self) -> impl Iterator<Item = (&str, u64)> {
        let mut causes: Vec<_> = self
            .counts
            .iter()
            .filter_map(|(class, count)| match class {
                Class::IllegalForm(cause) => Some((&**cause, *count)),
                _ => None,
            })
            .collect();
        causes.sort_by_key(|(cause, count)| (std::cmp::Reverse(*count), *cause));
        causes.into_iter()
    }

    /// How many words are instructions for both.
    #[cfg(test)]
    pub(super) fn accepted(&self) -> u64 {
        [Class::Same, Class::Ignored, Class::Respelled, Class::Lossy, Class::Misprint, Class::Halves]
            .iter()
            .filter_map(|class| self.counts.get(class))
            .sum()
    }

    /// The report as people read it.
    pub(super) fn display(&self, target: impl Into<Target>) -> impl fmt::Display + '_ {
        Display { report: self, target: target.into() }
    }
}

struct Display<'a> {
    report: &'a Report,
    target: Target,
}

impl fmt::Display for Display<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { report, target: Target { arch, wave } } = self;
        let differences = report.differences();
        let total = report.counts.values().sum::<u64>() + differences;
        writeln!(f, "{arch}, {} lanes a wave: {total} words", wave.lanes())?;
        for (class, meaning) in Class::ALL {
            writeln!(f, "{:>12}  {meaning}", report.counts.get(&class).copied().unwrap_or(0))?;
        }
        let causes: Vec<_> = report.causes().collect();
        let printed: u64 = causes.iter().map(|(_, count)| count).sum();
        writeln!(
            f,
            "{printed:>12}  refused by us; LLVM's disassembler prints it, its assembler does not give it back:"
        )?;
        for (cause, count) in causes {
            writeln!(f, "{count:>18}  {cause}")?;
        }
        write!(f, "{differences:>12}  DIFFERENCES")?;
        let mut kinds: Vec<_> = report.differences.iter().collect();
        kinds.sort_by_key(|(kind, (count, _))| (std::cmp::Reverse(*count), *kind));
        for (kind, (count, examples)) in kinds {
            write!(f, "\n{count:>12}  {kind}")?;
            for example in examples {
                write!(f, "\n{:14}{example}", "")?;
            }
        }
        Ok(())
    }
}
