//! What must hold of any file, from its bytes to its launches.

use amdgpu_object::verify::verify;
use amdgpu_object::{CodeObject, Kernel, container};
use amdinst_core::counters::Probe;
use amdinst_core::instrument::{
    self, Abi, Counters, InstrumentError, Options, check_pair, digest, probe_specs,
};
use amdinst_emu::Launch;

use super::launch::{
    Arguments, How, Instrumented, as_it_takes, difference, is_by_chance, looks_at_the_machine, run, same,
};

/// Code that is analysed has at most this many bytes, which keeps each input quick.
const MAX_CODE: usize = 1 << 13;
/// Memory that a code object may ask for here.
const MAX_MEMORY: u64 = 16 << 20;
/// Instructions that a workgroup may run.
const BUDGET: u64 = 20_000;
/// What kernels get.
const ARGUMENTS: Arguments = Arguments { buffer: 4096, number: 100 };
/// Workgroups of a launch.
const GROUPS: u32 = 6;
/// Work-items of one, at most, if the kernel does not require a size.
const MOST_WORK_ITEMS: u32 = 80;

/// How far files came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Files.
    pub files: u64,
    /// Code objects that could be read.
    pub parsed: u64,
    /// Kernels that were instrumented.
    pub instrumented: u64,
    /// Kernels that ran, and did the same on every path.
    pub launched: u64,
    /// Kernels whose launch ended well.
    pub ended: u64,
    /// Kernels whose instrumented form ran, and was compared.
    pub compared: u64,
    /// Kernels whose instrumented form did otherwise, as two runs of the kernel itself may: of these nothing
    /// is said.
    pub by_chance: u64,
}

impl std::ops::AddAssign for Reached {
    fn add_assign(&mut self, other: Self) {
        self.files += other.files;
        self.parsed += other.parsed;
        self.instrumented += other.instrumented;
        self.launched += other.launched;
        self.ended += other.ended;
        self.compared += other.compared;
        self.by_chance += other.by_chance;
    }
}

/// Takes a file all the way.
///
/// # Errors
/// What does not hold. A file that is refused is none.
pub fn whole_path(bytes: &[u8]) -> Result<Reached, String> {
    let mut reached = Reached { files: 1, ..Reached::default() };
    let Ok(found) = container::open(bytes) else { return Ok(reached) };
    for embedded in found.into_iter().take(2) {
        let Ok(object) = CodeObject::parse(embedded.bytes.to_vec()) else { continue };
        reached.parsed += 1;
        let memory = object.segments.iter().fold(0u64, |sum, segment| sum.saturating_add(segment.size));
        if object.text.range.len() <= MAX_CODE && memory <= MAX_MEMORY {
            one(&object, &mut reached)?;
        }
    }
    Ok(reached)
}

/// Every way to instrument has its turn, by the file.
fn options(object: &CodeObject) -> Options {
    let hash = digest(&object.bytes);
    let digit = |at: usize| hash.as_bytes().get(hash.len() - 1 - at).map_or(0, |digit| usize::from(*digit));
    let counters = [Counters::Auto, Counters::Register, Counters::Lds, Counters::Global];
    Options {
        counters: counters[digit(0) % 4],
        probe: if digit(1).is_multiple_of(4) { Probe::Blocks } else { Probe::Branches },
        abi: if digit(2).is_multiple_of(4) { Abi::Global } else { Abi::Argument },
        probes: probe_specs(object).unwrap_or_default(),
        ..Options::default()
    }
}

fn one(object: &CodeObject, reached: &mut Reached) -> Result<(), String> {
    let options = options(object);
    let mut form = None;
    let done = instrument::plan(object, &options).and_then(|plan| instrument::apply(object, plan));
    // What the command calls a bug: no input is one.
    if let Err(error @ (InstrumentError::Inconsistent(_) | InstrumentError::Internal { .. })) = &done {
        return Err(error.to_string());
    }
    if let Ok(done) = done {
        let rewritten =
            verify(&done.bytes).map_err(|error| format!("what is written is not sound: {error}"))?;
        check_pair(&done.map, &done.map_file, Some(&object.bytes), Some(&rewritten))
            .map_err(|error| format!("what is written does not belong together: {error}"))?;
        reached.instrumented += 1;
        form = Some((rewritten, done.map));
    }
    for kernel in object.kernels.iter().take(2) {
        let launch = as_it_takes(kernel, GROUPS, MOST_WORK_ITEMS, BUDGET);
        let of_kernel = form.as_ref().and_then(|(object, map)| {
            let probes = map.kernel(&kernel.name).filter(|probes| probes.is_instrumented())?;
            Some(Instrumented { object, map, probes })
        });
        launches(object, kernel, &launch, of_kernel, reached)?;
    }
    Ok(())
}

fn launches(
    object: &CodeObject,
    kernel: &Kernel,
    launch: &Launch,
    form: Option<Instrumented<'_>>,
    reached: &mut Reached,
) -> Result<(), String> {
    let usual = How { arguments: ARGUMENTS, fast: true, threads: 1 };
    let run = |how| run(object, kernel, launch, how);
    let Some(first) = run(usual) else { return Ok(()) };
    let by_the_book = run(How { fast: false, ..usual });
    same(&first, by_the_book.as_ref())
        .map_err(|what| format!("`{}`, fast and by the book: {what}", kernel.name))?;
    // Workgroups that race run in order, so the number of threads makes no difference.
    same(&first, run(How { threads: 8, ..usual }).as_ref())
        .map_err(|what| format!("`{}`, on 1 and on 8 threads: {what}", kernel.name))?;
    reached.launched += 1;
    let Ok(first) = first else { return Ok(()) };
    reached.ended += 1;
    let Some(form) = form else { return Ok(()) };
    if looks_at_the_machine(object) {
        return Ok(());
    }
    let longer = Launch { budget: 16 * BUDGET, ..launch.clone() };
    let Some(what) = difference(object, form, (kernel, &longer), usual, &first) else { return Ok(()) };
    reached.compared += 1;
    match what {
        Some(_) if is_by_chance(object, kernel, launch, ARGUMENTS) => reached.by_chance += 1,
        Some(what) => return Err(format!("`{}`, original and instrumented: {what}", kernel.name)),
        None => {}
    }
    Ok(())
}
