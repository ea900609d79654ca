//! Launches of kernels that nobody knows, with made-up arguments: buffers of a size, and numbers.

use amdgpu_isa::{Op, decode};
use amdgpu_object::{CodeObject, Kernel};
use amdinst_core::counters::{HEADER_BYTES, Probe, decode_part};
use amdinst_core::instrument::KernelProbes;
use amdinst_core::report::oracle;
use amdinst_emu::{Config, Fault, Launch, Machine};
use amdinst_explain::{native_blocks, native_counts};

/// Arguments of a kernel, by what its metadata says of them.
#[derive(Clone, Copy, Debug)]
pub struct Arguments {
    /// Bytes of each buffer.
    pub buffer: usize,
    /// The lowest byte of everything else.
    pub number: u8,
}

/// Bytes of arguments that are made up, at most.
const MOST_ARGUMENTS: usize = 4096;

/// A few workgroups of the size that the kernel takes, and of so many work-items at most if it takes several.
pub(crate) fn as_it_takes(kernel: &Kernel, groups: u32, most_work_items: u32, budget: u64) -> Launch {
    let block = match (kernel.metadata.reqd_workgroup_size, kernel.metadata.max_flat_workgroup_size) {
        (Some(required), _) => required,
        (None, 0) => [64, 1, 1],
        (None, most) => [most.min(most_work_items), 1, 1],
    };
    Launch { grid: [groups, 1, 1], block, budget, threads: 1, ..Launch::new(&kernel.name) }
}

/// How a kernel runs.
#[derive(Clone, Copy)]
pub(crate) struct How {
    pub(crate) arguments: Arguments,
    pub(crate) fast: bool,
    pub(crate) threads: usize,
}

/// What is compared of a launch: what it leaves in its buffers, or how it failed.
pub(crate) type Left = Result<Ran, Fault>;

pub(crate) struct Ran {
    buffers: Vec<u8>,
    records: Vec<u8>,
    execution: amdinst_emu::Execution,
}

impl Ran {
    /// How often EXEC was changed at sites of an instrumented form.
    pub(crate) fn executions(&self, probes: &KernelProbes) -> u64 {
        let is_site = |pc: u64| probes.sites.iter().any(|site| site.pc == pc);
        self.execution.masks.iter().filter(|record| is_site(record.pc)).map(|record| record.writes).sum()
    }
}

/// The first difference between a kernel and its instrumented form, which both ended well.
pub(crate) fn differences(
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
pub(crate) fn run(
    object: &CodeObject,
    kernel: &Kernel,
    launch: &Launch,
    how: How,
    probes: Option<&KernelProbes>,
) -> Option<Left> {
    let mut config = Config::default();
    (config.fast_layer, config.deterministic) = (how.fast, true);
    let mut ready = Ready::new(object, kernel, launch, (config, how.arguments), probes)?;
    ready.launch.threads = how.threads;
    Some(ready.run())
}

/// A kernel that can be launched.
struct Ready {
    machine: Machine,
    program: amdinst_emu::Program,
    launch: Launch,
    /// Bytes of each buffer, and where they are.
    buffer: usize,
    buffers: Vec<u64>,
    /// The counters' place and size.
    counters: Option<(u64, usize)>,
}

impl Ready {
    fn new(
        object: &CodeObject,
        kernel: &Kernel,
        launch: &Launch,
        (config, Arguments { buffer, number }): (Config, Arguments),
        probes: Option<&KernelProbes>,
    ) -> Option<Self> {
        let mut machine = Machine::new(object.target.arch, config);
        let mut kernarg = vec![0; (kernel.metadata.kernarg_segment_size as usize).min(MOST_ARGUMENTS)];
        let mut buffers = Vec::new();
        for argument in kernel.metadata.args.iter().filter(|argument| !argument.is_hidden()).take(16) {
            let (start, size) = (argument.offset as usize, argument.size as usize);
            let Some(place) = kernarg.get_mut(start..start.saturating_add(size)) else { continue };
            if argument.value_kind == "global_buffer" && size == 8 {
                let address = machine.alloc(buffer as u64, 256, "buffer").ok()?;
                let words = (0..buffer as u32 / 4).flat_map(|word| (word % 67).to_le_bytes());
                machine.write(address, &words.collect::<Vec<_>>()).ok()?;
                place.copy_from_slice(&address.to_le_bytes());
                buffers.push(address);
            } else if let Some(low) = place.first_mut() {
                *low = number;
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
        Some(Self { machine, program, launch, buffer, buffers, counters })
    }

    fn run(mut self) -> Left {
        let execution = self.machine.launch(&self.program, &self.launch)?;
        let read = |address: u64, size: usize| {
            let mut bytes = vec![0; size];
            // It was allocated above.
            self.machine.read(address, &mut bytes).map(|()| bytes).unwrap_or_default()
        };
        let buffers = self.buffers.iter().flat_map(|address| read(*address, self.buffer)).collect();
        let records = self
            .counters
            .map(|(address, size)| read(address + u64::from(HEADER_BYTES), size - HEADER_BYTES as usize));
        Ok(Ran { buffers, records: records.unwrap_or_default(), execution })
    }
}

/// Two launches of one kernel that must be the same: in memory, in what was recorded, in how they failed.
pub(crate) fn same(one: &Left, other: Option<&Left>) -> Result<(), String> {
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
pub(crate) fn is_by_chance(
    object: &CodeObject,
    kernel: &Kernel,
    launch: &Launch,
    arguments: Arguments,
) -> bool {
    let mut config = Config::default();
    (config.check_races, config.thorough) = (true, true);
    let Some(mut ready) = Ready::new(object, kernel, launch, (config, arguments), None) else { return true };
    let before = ready.machine.snapshot();
    let Ok(first) = ready.machine.launch_from(&ready.program, &ready.launch, &before) else { return true };
    // What is only moved, from nowhere to memory, the first of the two finds.
    ready.machine.find_unwritten(&ready.program, &ready.launch, &first, &before).is_err()
        || ready.machine.find_unwritten_read(&ready.program, &ready.launch, &before).is_err()
}

/// Whether code reads what a rewritten kernel has another of: its own address, the clock, how it was launched.
pub(crate) fn looks_at_the_machine(object: &CodeObject) -> bool {
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
