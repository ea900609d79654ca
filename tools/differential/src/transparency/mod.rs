//! Programs beside their instrumented forms: equal memory, and counters equal to what the emulator saw of
//! EXEC.
//!
//! The emulator notes every change of EXEC by address and knows of no site. So this compares three things:
//! what the program leaves in memory, what each site counted with what the emulator saw at its address, and
//! the addresses at which lanes went away with what the analysis says of them.

mod tally;

use amdgpu_object::CodeObject;
use amdinst_core::instrument::{Abi, Counters, KernelProbes, Level, Options, Probe, ProbeMap, apply, plan};
use amdinst_core::report::cover;
use amdinst_emu::Execution;
use amdinst_proof::{Comparison, Counting, CountingError};
use anyhow::{Context as _, Result};

pub use tally::{Form, Tally};

use crate::device::Device;
use crate::difference::{Difference, first_difference};
use crate::program::Program;
use crate::way::{Spare, Way};

/// Every home, at both levels; such as leave the instrumenter one unused VGPR, none, or no unused register at
/// all; such as have counters of what only pointers reach in memory, and others in registers; and blocks in
/// each home, two of them with the buffer's address in a variable.
pub const WAYS: [Way; 14] = [
    branches(Counters::Register, Level::Basic),
    branches(Counters::Register, Level::Lanes),
    branches(Counters::Lds, Level::Basic),
    branches(Counters::Lds, Level::Lanes),
    branches(Counters::Global, Level::Basic),
    branches(Counters::Global, Level::Lanes),
    short(Counters::Lds, Spare { vgprs: 1, sgprs: None }),
    short(Counters::Global, Spare { vgprs: 1, sgprs: None }),
    short(Counters::Global, Spare { vgprs: 0, sgprs: None }),
    short(Counters::Global, Spare { vgprs: 0, sgprs: Some(0) }),
    short(Counters::Auto, Spare { vgprs: 6, sgprs: Some(30) }),
    blocks(Counters::Register, Level::Lanes, Abi::Global),
    blocks(Counters::Lds, Level::Lanes, Abi::Argument),
    blocks(Counters::Global, Level::Basic, Abi::Global),
];

const fn branches(counters: Counters, level: Level) -> Way {
    Way { probe: Probe::Branches, abi: Abi::Argument, counters, level, spare: None }
}

const fn short(counters: Counters, spare: Spare) -> Way {
    Way { spare: Some(spare), ..branches(counters, Level::Lanes) }
}

const fn blocks(counters: Counters, level: Level, abi: Abi) -> Way {
    Way { probe: Probe::Blocks, abi, counters, level, spare: None }
}

/// What the original of a program did.
#[derive(Clone, Debug)]
pub(crate) struct Original {
    /// What it left in the output.
    pub(crate) output: Vec<u8>,
    /// What it did, to EXEC and with each instruction.
    pub(crate) execution: Execution,
}

/// Instruments a batch's code object in every way, runs each program, and compares with its original (`None`
/// where that stopped). What differs, by the program's place in the batch.
///
/// # Errors
/// The code object cannot be instrumented at all, or a machine cannot be filled.
pub(crate) fn compare(
    object: &CodeObject,
    programs: &[Program],
    originals: &[Option<Original>],
    input: &[u8],
    tally: &mut Tally,
) -> Result<Vec<(usize, Difference)>> {
    let mut differences = Vec::new();
    for (turn, way) in WAYS.into_iter().enumerate() {
        let Way { probe, abi, counters, level, spare } = way;
        let spare_vgprs = spare.map(|spare| spare.vgprs);
        let spare_sgprs = spare.and_then(|spare| spare.sgprs);
        let options = Options { probe, abi, counters, level, spare_vgprs, spare_sgprs, ..Options::default() };
        let plan = match plan(object, &options) {
            Ok(plan) => plan,
            // Of a batch the caller makes two, until what cannot be moved is alone.
            Err(error) if programs.len() > 1 => return Err(error).with_context(|| way.to_string()),
            Err(error) => {
                tally.refused_whole(way, &error);
                continue;
            }
        };
        let ran = || programs.iter().zip(originals).enumerate();
        let kernel = |slot: usize| plan.kernels().iter().find(|kernel| kernel.name == format!("k{slot}"));
        for (slot, (_, original)) in ran() {
            let (Some(kernel), Some(original)) = (kernel(slot), original) else { continue };
            tally.refusals(way, kernel);
            if probe == Probe::Blocks && kernel.is_instrumented() {
                let faults = cover::faults(object, kernel);
                tally.covered += u64::from(kernel.refusals.is_empty() && faults.is_empty());
                let told = faults.first().map(ToString::to_string);
                differences.extend(told.map(|fault| (slot, Difference::Instrumented(way, fault))));
            }
            if turn == 0 {
                let stray = tally.narrowings(kernel, &original.execution.masks);
                differences
                    .extend(stray.into_iter().map(|stray| (slot, Difference::Instrumented(way, stray))));
            }
        }
        if !plan.kernels().iter().any(KernelProbes::is_instrumented) {
            continue;
        }
        let instrumented = apply(object, plan).with_context(|| way.to_string())?;
        let rewritten = CodeObject::parse(instrumented.bytes)
            .with_context(|| format!("{way}: reading the instrumented code object back"))?;
        let mut device = Device::new(&rewritten, input)?;
        for (slot, (program, original)) in ran() {
            let kernel = instrumented.map.kernel(&format!("k{slot}"));
            let (Some(kernel), Some(original)) = (kernel.filter(|kernel| kernel.is_instrumented()), original)
            else {
                continue;
            };
            match one(&mut device, slot, program, (object, &instrumented.map, kernel), original) {
                Ok(None) => tally.equal(way, kernel, original),
                Ok(Some(what)) | Err(what) => {
                    differences.push((slot, Difference::Instrumented(way, what)));
                }
            }
        }
    }
    Ok(differences)
}

/// Runs one program's instrumented form; what is different, if something is. The error is a fault.
fn one(
    device: &mut Device<'_>,
    slot: usize,
    program: &Program,
    form: (&CodeObject, &ProbeMap, &KernelProbes),
    original: &Original,
) -> Result<Option<String>, String> {
    let (object, map, kernel) = form;
    let launch = device.ready(slot, program, device.kernarg.clone(), true)?;
    let layout = kernel.layout(launch.grid, launch.block);
    let all = 0..launch.workgroups();
    let Device { machine, program: loaded, .. } = device;
    let counted = Counting::new(machine, loaded, kernel, &layout, all.end)
        .map_err(CountingError::from)
        .and_then(|counting| counting.launch(machine, loaded, &launch, &all, &original.execution))
        .map_err(|error| error.to_string())?;
    let output = device.output(program)?;
    if let Some(difference) = first_difference(&output, &original.output) {
        return Ok(Some(format!("memory: {}", difference.between("instrumented", "original"))));
    }
    let mut comparison = Comparison::new(object, map, kernel, true, 1);
    comparison.add(&original.execution, &counted, 0);
    Ok(comparison.into_disagreements().first().map(ToString::to_string))
}
