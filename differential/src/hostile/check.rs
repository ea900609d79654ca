//! What must hold of any file, from its bytes to its launches.

use amdgpu_isa::{Op, decode};
use amdgpu_object::verify::verify;
use amdgpu_object::{CodeObject, Kernel, container};
use amdinst_core::counters::{HEADER_BYTES, Probe, decode_part};
use amdinst_core::instrument::{self, Abi, Counters, KernelProbes, Options, check_pair, digest, probe_specs};
use amdinst_core::report::oracle;
use amdinst_emu::{Config, Fault, Launch, Machine};
use amdinst_explain::{native_blocks, native_counts};

/// Code that is analysed has at most this many bytes, which keeps each input quick.
const MAX_CODE: usize = 1 << 13;
/// Memory that a code object may ask for here.
const MAX_MEMORY: u64 = 16 << 20;
/// Instructions that a workgroup may run.
const BUDGET: u64 = 20_000;
/// Bytes of each buffer argument.
const BUFFER: usize = 4096;
/// Workgroups of a launch.
const GROUPS: u32 = 6;

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
    /// Kernels whose instrumented form did otherwise, as two runs of the kernel itself may: of these nothing is said.
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
    if let Ok(plan) = instrument::plan(object, &options)
        && let Ok(done) = instrument::apply(object, plan)
    {
        let rewritten =
            verify(&done.bytes).map_err(|error| format!("what is written is not sound: {error}"))?;
        check_pair(&done.map, &done.map_file, Some(&object.bytes), Some(&rewritten))
            .map_err(|error| format!("what is written does not belong together: {error}"))?;
        reached.instrumented += 1;
        form = Some((rewritten, done.map));
    }
    for kernel in object.kernels.iter().take(2) {
        let launch = launch(kernel);
        let probes = form.as_ref().and_then(|(rewritten, map)| Some((rewritten, map.kernel(&kernel.name)?)));
        launches(object, kernel, &launch, probes.filter(|(_, probes)| probes.is_instrumented()), reached)?;
    }
    Ok(())
}

/// A few workgroups of the size that the kernel takes.
fn launch(kernel: &Kernel) -> Launch {
    let block = match (kernel.metadata.reqd_workgroup_size, kernel.metadata.max_flat_workgroup_size) {
        (Some(required), _) => required,
        (None, 0) => [64, 1, 1],
        (None, most) => [most.min(80), 1, 1],
    };
    Launch { grid: [GROUPS, 1, 1], block, budget: BUDGET, threads: 1, ..Launch::new(&kernel.name) }
}

/// How a kernel runs.
#[derive(Clone, Copy)]
struct How {
    fast: bool,
    threads: usize,
}

/// What is compared of a launch: what it leaves in its buffers, or how it failed.
type Left = Result<Ran, Fault>;

struct Ran {
    buffers: Vec<u8>,
    records: Vec<u8>,
    execution: amdinst_emu::Execution,
}

fn launches(
    object: &CodeObject,
    kernel: &Kernel,
    launch: &Launch,
    probes: Option<(&CodeObject, &KernelProbes)>,
    reached: &mut Reached,
) -> Result<(), String> {
    let usual = How { fast: true, threads: 1 };
    let run = |how| run(object, kernel, launch, how, None);
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
    let Some((rewritten, probes)) = probes else { return Ok(()) };
    if looks_at_the_machine(object) {
        return Ok(());
    }
    let longer = Launch { budget: 16 * BUDGET, ..launch.clone() };
    let Some(instrumented) = self::run(rewritten, kernel, &longer, usual, Some(probes)) else {
        return Ok(());
    };
    let what = match instrumented {
        Err(fault) => Some(format!("the original ends well, the instrumented kernel does not: {fault}")),
        Ok(ran) => differences(probes, launch, &first, &ran)?,
    };
    reached.compared += 1;
    match what {
        Some(_) if is_by_chance(object, kernel, launch) => reached.by_chance += 1,
        Some(what) => return Err(format!("`{}`, original and instrumented: {what}", kernel.name)),
        None => {}
    }
    Ok(())
}

/// The first difference between a kernel and its instrumented form, which both ended well.
fn differences(
    probes: &KernelProbes,
    launch: &Launch,
    original: &Ran,
    instrumented: &Ran,
) -> Result<Option<String>, String> {
    if let Some(at) = original.buffers.iter().zip(&instrumented.buffers).position(|(one, other)| one != other)
    {
        return Ok(Some(format!("memory differs at byte {at}")));
    }
    let layout = probes.layout(launch.grid, launch.block);
    let records =
        decode_part(&layout.header_bytes(), &instrumented.records, 0).map_err(|error| error.to_string())?;
    let waves = records.len();
    let execution = &original.execution;
    let found = match probes.probe {
        Probe::Branches => oracle::compare(probes, &records, &native_counts(&execution.masks, waves), 1),
        Probe::Blocks => {
            oracle::compare_blocks(probes, &records, &native_blocks(&execution.steps, waves), true, 1)
        }
        Probe::Time => Vec::new(),
    };
    Ok(found.first().map(ToString::to_string))
}

/// Runs a kernel on a machine of its own; `None` if it cannot be loaded.
fn run(
    object: &CodeObject,
    kernel: &Kernel,
    launch: &Launch,
    how: How,
    probes: Option<&KernelProbes>,
) -> Option<Left> {
    let mut config = Config::default();
    (config.fast_layer, config.deterministic) = (how.fast, true);
    let mut ready = Ready::new(object, kernel, launch, config, probes)?;
    ready.launch.threads = how.threads;
    Some(ready.run())
}

/// A kernel that can be launched.
struct Ready {
    machine: Machine,
    program: amdinst_emu::Program,
    launch: Launch,
    buffers: Vec<u64>,
    /// The counters' place and size.
    counters: Option<(u64, usize)>,
}

impl Ready {
    fn new(
        object: &CodeObject,
        kernel: &Kernel,
        launch: &Launch,
        config: Config,
        probes: Option<&KernelProbes>,
    ) -> Option<Self> {
        let mut machine = Machine::new(object.target.arch, config);
        let mut kernarg = vec![0; (kernel.metadata.kernarg_segment_size as usize).min(BUFFER)];
        let mut buffers = Vec::new();
        for argument in kernel.metadata.args.iter().filter(|argument| !argument.is_hidden()).take(16) {
            let (start, size) = (argument.offset as usize, argument.size as usize);
            let Some(place) = kernarg.get_mut(start..start.saturating_add(size)) else { continue };
            if argument.value_kind == "global_buffer" && size == 8 {
                let address = machine.alloc(BUFFER as u64, 256, "buffer").ok()?;
                let words = (0..BUFFER as u32 / 4).flat_map(|word| (word % 67).to_le_bytes());
                machine.write(address, &words.collect::<Vec<_>>()).ok()?;
                place.copy_from_slice(&address.to_le_bytes());
                buffers.push(address);
            } else if let Some(low) = place.first_mut() {
                *low = 100;
            }
        }
        let program = machine.load(object).ok()?;
        let mut counters = None;
        if let Some(probes) = probes {
            let layout = probes.layout(launch.grid, launch.block);
            let initial = layout.initial_buffer();
            let address = machine.alloc(initial.len() as u64, 256, "counters").ok()?;
            machine.write(address, &initial).ok()?;
            probes.set_argument(&mut kernarg, &layout, address).ok()?;
            if let Some(variable) = probes.buffer_symbol.as_ref().and_then(|name| program.variable(name)) {
                machine.write(variable, &address.to_le_bytes()).ok()?;
            }
            counters = Some((address, initial.len()));
        }
        let records = probes.is_none();
        let launch = Launch { kernarg, record_masks: records, record_steps: records, ..launch.clone() };
        Some(Self { machine, program, launch, buffers, counters })
    }

    fn run(mut self) -> Left {
        let execution = self.machine.launch(&self.program, &self.launch)?;
        let read = |address: u64, size: usize| {
            let mut bytes = vec![0; size];
            // It was allocated above.
            self.machine.read(address, &mut bytes).map(|()| bytes).unwrap_or_default()
        };
        let buffers = self.buffers.iter().flat_map(|address| read(*address, BUFFER)).collect();
        let records = self
            .counters
            .map(|(address, size)| read(address + u64::from(HEADER_BYTES), size - HEADER_BYTES as usize));
        Ok(Ran { buffers, records: records.unwrap_or_default(), execution })
    }
}

/// Two launches of one kernel that must be the same: in memory, in what was recorded, in how they failed.
fn same(one: &Left, other: Option<&Left>) -> Result<(), String> {
    match (one, other) {
        (_, None) => Err("it could be loaded once, and not again".to_owned()),
        (Err(one), Some(Err(other))) if one.to_string() == other.to_string() => Ok(()),
        (Err(one), Some(Err(other))) => Err(format!("{one}, and {other}")),
        (Ok(_), Some(Err(fault))) | (Err(fault), Some(Ok(_))) => Err(format!("only one ends well: {fault}")),
        (Ok(one), Some(Ok(other))) => {
            let (left, right) = (&one.execution, &other.execution);
            if let Some(at) = one.buffers.iter().zip(&other.buffers).position(|(one, other)| one != other) {
                Err(format!("memory differs at byte {at}"))
            } else if (left.wave_instructions, &left.masks) != (right.wave_instructions, &right.masks) {
                Err("they ran otherwise".to_owned())
            } else {
                Ok(())
            }
        }
    }
}

/// Whether two runs of the kernel itself may differ: it races, or computes with what nothing has written.
fn is_by_chance(object: &CodeObject, kernel: &Kernel, launch: &Launch) -> bool {
    let mut config = Config::default();
    (config.check_races, config.thorough) = (true, true);
    let Some(mut ready) = Ready::new(object, kernel, launch, config, None) else { return true };
    let before = ready.machine.snapshot();
    let Ok(first) = ready.machine.launch_from(&ready.program, &ready.launch, &before) else { return true };
    // What is only moved, from nowhere to memory, the first of the two finds.
    ready.machine.find_unwritten(&ready.program, &ready.launch, &first, &before).is_err()
        || ready.machine.find_unwritten_read(&ready.program, &ready.launch, &before).is_err()
}

/// Whether code reads what a rewritten kernel has another of: its own address, the clock, how it was launched.
fn looks_at_the_machine(object: &CodeObject) -> bool {
    let mut at = object.text.address;
    let end = object.text.memory().end;
    while at < end {
        let inst = object.code_at(at).and_then(|code| decode(object.target.arch, code).ok());
        let looks = inst.as_ref().is_some_and(|inst| {
            matches!(
                inst.op,
                Op::s_memtime
                    | Op::s_memrealtime
                    | Op::s_getreg_b32
                    | Op::s_setreg_b32
                    | Op::s_setreg_imm32_b32
                    | Op::s_getpc_b64
                    | Op::s_call_b64
                    | Op::s_swappc_b64
                    | Op::s_rfe_b64
            )
        });
        if looks {
            return true;
        }
        at += inst.map_or(4, |inst| u64::from(inst.size));
    }
    false
}
