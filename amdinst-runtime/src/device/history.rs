//! The last launches of a test, with the memory before each: they run again when an assertion asks where a
//! value comes from.

use std::collections::VecDeque;
use std::sync::Arc;

use amdgpu_object::CodeObject;
use amdinst_core::report::why::{LaunchOrigin, ValueOrigin};
use amdinst_emu::{Fault, Launch, Machine, Program, Snapshot};
use amdinst_explain::origin::{Lost, Rerun, why, why_fault};

use crate::built::Built;
use crate::source::workspace_root;

/// Launches that are kept, at most.
const MOST: usize = 8;

/// Bytes of memory that are kept of them when another one begins, at most.
const ROOM: u64 = 64 << 20;

/// Wave-instructions that an answer may take: a few seconds.
const EFFORT: u64 = 20_000_000;

/// Bytes that are looked at at a time.
const DWORD: u64 = 4;

/// A launch that came to its end.
#[derive(Debug)]
pub(super) struct PastLaunch {
    pub(super) built: Arc<Built>,
    pub(super) program: Arc<Program>,
    /// That of the original.
    pub(super) launch: Launch,
    pub(super) wave_instructions: u64,
    pub(super) before: Snapshot,
}

/// The last launches, the newest first.
#[derive(Debug, Default)]
pub(super) struct History(VecDeque<PastLaunch>);

impl History {
    /// Room for the memory before the next launch: that of a launch which is kept no longer, if there is one.
    pub(super) fn room(&mut self) -> Snapshot {
        let mut room = Snapshot::default();
        while (self.0.len() >= MOST || self.bytes() > ROOM)
            && let Some(past) = self.0.pop_back()
        {
            room = past.before;
        }
        room
    }

    /// Keeps a launch.
    pub(super) fn add(&mut self, past: PastLaunch) {
        self.0.push_front(past);
    }

    fn bytes(&self) -> u64 {
        self.0.iter().map(|past| past.before.bytes()).sum()
    }

    /// Where the byte at an address has its value from; `None` if no launch that is kept has written it.
    ///
    /// # Errors
    /// What led there cannot be followed.
    pub(super) fn why(&self, machine: &Machine, address: u64) -> Result<Option<LaunchOrigin>, Lost> {
        let dword = address & !(DWORD - 1);
        let mut value = [0; DWORD as usize];
        if machine.read(dword, &mut value).is_err() {
            return Ok(None);
        }
        let value = u32::from_le_bytes(value);
        self.0.iter().find_map(|past| past.why(machine, dword, value).transpose()).transpose()
    }
}

impl PastLaunch {
    fn why(&self, machine: &Machine, dword: u64, value: u32) -> Result<Option<LaunchOrigin>, Lost> {
        let Self { built, program, launch, wave_instructions, before } = self;
        // Tests pass buffers that live no longer than the launch.
        let mut machine = machine.as_of(before);
        let mut rerun = rerun(&mut machine, program, &built.original, launch, (*wave_instructions, before))?;
        if !rerun.writes(dword)? {
            return Ok(None);
        }
        let origin = why(&mut rerun, String::new(), dword, value)?;
        Ok(Some(LaunchOrigin { kernel: launch.kernel.clone(), origin }))
    }
}

/// The lines that led to a fault of a launch, from the memory before it; why there are none, if they cannot
/// be followed. `None` of a fault that no value of the kernel's leads to.
pub(super) fn way_to(
    machine: &Machine,
    program: &Program,
    object: &CodeObject,
    launch: &Launch,
    (fault, before): (&Fault, &Snapshot),
) -> Option<ValueOrigin> {
    let mut machine = machine.as_of(before);
    // How long it is, the first time tells.
    let rerun = rerun(&mut machine, program, object, launch, (1, before));
    let followed = rerun.and_then(|mut rerun| why_fault(&mut rerun, fault));
    followed.unwrap_or_else(|lost| Some(ValueOrigin::lost("the way there", &lost)))
}

/// A launch that may run again within an answer's effort.
fn rerun<'a>(
    machine: &'a mut Machine,
    program: &'a Program,
    object: &CodeObject,
    launch: &Launch,
    of: (u64, &'a Snapshot),
) -> Result<Rerun<'a>, Lost> {
    Ok(Rerun::new(machine, program, object, launch, of)?.within(EFFORT).in_workspace(workspace_root()))
}
