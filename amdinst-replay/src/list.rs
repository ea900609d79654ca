//! The launches of an archive, without a look at contents: of a code object the first bytes are read.

use std::collections::{BTreeMap, HashMap};

use amdgpu_isa::Arch;

use crate::archive::Archive;
use crate::calls::{Arguments, Call, DataName, LaunchCall};
use crate::process::Process;

/// Where an ELF file has its processor.
const MACH: usize = 0x30;
/// What an ELF file begins with.
const ELF: &[u8] = b"\x7fELF";

/// A launch of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its number among the launches of the archive, from 1.
    pub number: u64,
    /// The process, by its place among those of the archive.
    pub process: usize,
    /// The event's number.
    pub event: u64,
    /// The kernel's name.
    pub kernel: String,
    /// Workgroups in x, y, z.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in x, y, z.
    pub block: [u32; 3],
    /// The processor, if it can be told.
    pub processor: Option<String>,
    /// Bytes of the allocations that its arguments point into.
    pub bytes: u64,
}

/// The launches of an archive, and figures of the rest of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launches {
    /// In their order.
    pub launches: Vec<Listed>,
    /// Events of all processes.
    pub events: u64,
    /// How often each function was called that is not replayed.
    pub not_replayed: BTreeMap<&'static str, u64>,
}

impl Launches {
    /// Those of an archive.
    pub fn of(archive: &Archive) -> Self {
        let mut all = Self::default();
        for (number, process) in archive.processes.iter().enumerate() {
            all.add(number, process);
        }
        all
    }

    fn add(&mut self, number: usize, process: &Process) {
        let mut processors = HashMap::new();
        let mut pieces: BTreeMap<u64, u64> = BTreeMap::new();
        self.events += process.events.len() as u64;
        for event in &process.events {
            match &event.call {
                Call::Allocate { at, bytes, .. } => drop(pieces.insert(at.0, *bytes)),
                Call::Free { at } => drop(pieces.remove(&at.0)),
                Call::Unknown(_) | Call::BeginGraph => *self.not_replayed.entry(event.name).or_default() += 1,
                Call::Launch(launch) => {
                    let known = launch.code.as_ref().and_then(|code| {
                        processors.entry(code.clone()).or_insert_with(|| processor(process, code)).clone()
                    });
                    self.launches.push(Listed {
                        number: self.launches.len() as u64 + 1,
                        process: number,
                        event: event.number,
                        kernel: launch.kernel.clone(),
                        grid: launch.grid,
                        block: launch.block,
                        processor: known.or_else(|| process.recorded_on.first().cloned()),
                        bytes: reached(launch, &pieces),
                    });
                }
                _ => {}
            }
        }
    }
}

/// Bytes of the allocations that a launch's arguments point into; of a whole snapshot, all of them.
fn reached(launch: &LaunchCall, pieces: &BTreeMap<u64, u64>) -> u64 {
    let Arguments::Values(values) = &launch.arguments else {
        return pieces.values().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes));
    };
    let words = values.iter().flat_map(|value| value.bytes.windows(8).step_by(4));
    let words = words.filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?)));
    let piece = |word| pieces.range(..=word).next_back().filter(|(at, bytes)| word - **at < **bytes);
    let found: BTreeMap<u64, u64> = words.filter_map(piece).map(|(at, bytes)| (*at, *bytes)).collect();
    found.values().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes))
}

/// The processor of a code object, by its first bytes.
fn processor(process: &Process, code: &DataName) -> Option<String> {
    let head = process.folder.head(&code.file(), MACH as u64 + 1).ok()?;
    let mach = *head.get(MACH).filter(|_| head.starts_with(ELF))?;
    Arch::from_mach(mach).map(|arch| arch.to_string())
}
