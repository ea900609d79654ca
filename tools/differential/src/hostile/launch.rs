//! Launches of kernels that nobody knows, with made-up arguments: buffers of a size, and numbers.

use amdgpu_isa::{Op, decode};
use amdgpu_object::{CodeObject, Kernel};
use amdinst_emu::{Config, Fault, Launch, Machine, Program};
use amdinst_format::probes::{KernelProbes, ProbeMap};
use amdinst_proof::{Comparison, Counting, CountingError, Difference};

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

impl How {
    fn config(self) -> Config {
        let mut config = Config::default();
        (config.fast_layer, config.deterministic) = (self.fast, true);
        config
    }
}

/// What is compared of a launch: what it leaves in its buffers, or how it failed.
pub(crate) type Left = Result<Ran, Fault>;

pub(crate) struct Ran {
    buffers: Vec<u8>,
    execution: amdinst_emu::Execution,
}

impl Ran {
    /// How often EXEC was changed at sites of an instrumented form.
    pub(crate) fn executions(&self, probes: &KernelProbes) -> u64 {
        let is_site = |pc: u64| probes.sites.iter().any(|site| site.pc == pc);
        self.execution.masks.iter().filter(|record| is_site(record.pc)).map(|record| record.writes).sum()
    }
}

/// Runs a kernel on a machine of its own; `None` if it cannot be loaded.
pub(crate) fn run(object: &CodeObject, kernel: &Kernel, launch: &Launch, how: How) -> Option<Left> {
    let mut ready = Ready::new(object, kernel, launch, how.config(), how)?;
    Some(ready.machine.launch(&ready.program, &ready.launch).map(|execution| ready.ran(execution)))
}

/// A kernel's instrumented form.
#[derive(Clone, Copy)]
pub(crate) struct Instrumented<'a> {
    pub(crate) object: &'a CodeObject,
    pub(crate) map: &'a ProbeMap,
    pub(crate) probes: &'a KernelProbes,
}

/// Runs the instrumented form of a kernel that ended well: what it does otherwise, if it does. `None` if it
/// cannot be loaded.
pub(crate) fn difference(
    object: &CodeObject,
    form: Instrumented<'_>,
    (kernel, launch): (&Kernel, &Launch),
    how: How,
    original: &Ran,
) -> Option<Option<String>> {
    let mut ready = Ready::new(form.object, kernel, launch, how.config(), how)?;
    let (layout, all) = (form.probes.layout(launch.grid, launch.block), 0..launch.workgroups());
    let Ready { machine, program, launch, .. } = &mut ready;
    let counted = Counting::new(machine, program, form.probes, &layout, all.end)
        .map_err(CountingError::from)
        .and_then(|counting| counting.launch(machine, program, launch, &all, &original.execution));
    let counted = match counted {
        Ok(counted) => counted,
        Err(CountingError::Memory(_) | CountingError::Argument(_)) => return None,
        Err(error) => {
            return Some(Some(format!("the original ends well, the instrumented kernel does not: {error}")));
        }
    };
    let left = ready.buffers();
    if let Some(Difference { offset, .. }) = Difference::between(&original.buffers, &left) {
        return Some(Some(format!("memory differs at byte {offset}")));
    }
    let mut comparison = Comparison::new(object, form.map, form.probes, true, 1);
    comparison.add(&original.execution, &counted, 0);
    Some(comparison.into_disagreements().first().map(ToString::to_string))
}

/// A kernel that can be launched.
struct Ready {
    machine: Machine,
    program: Program,
    launch: Launch,
    /// Bytes of each buffer, and where they are.
    buffer: usize,
    buffers: Vec<u64>,
}

impl Ready {
    fn new(
        object: &CodeObject,
        kernel: &Kernel,
        launch: &Launch,
        config: Config,
        How { arguments: Arguments { buffer, number }, threads, .. }: How,
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
        let launch = Launch { kernarg, threads, record_masks: true, record_steps: true, ..launch.clone() };
        Some(Self { machine, program, launch, buffer, buffers })
    }

    fn ran(&self, execution: amdinst_emu::Execution) -> Ran {
        Ran { buffers: self.buffers(), execution }
    }

    /// The contents of all buffers, one behind the other.
    fn buffers(&self) -> Vec<u8> {
        let read = |address: &u64| {
            let mut bytes = vec![0; self.buffer];
            // It was allocated above.
            self.machine.read(*address, &mut bytes).map(|()| bytes).unwrap_or_default()
        };
        self.buffers.iter().flat_map(read).collect()
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
    let how = How { arguments, fast: true, threads: 1 };
    let Some(mut ready) = Ready::new(object, kernel, launch, config, how) else { return true };
    let launch = ready.launch.without_records();
    match amdinst_proof::look(&mut ready.machine, &ready.program, &launch, true) {
        Ok(looked) => looked.cause.is_some() || looked.is_nothing(),
        Err(_) => true,
    }
}

/// Whether code reads what a rewritten kernel has another of: its own address, the clock, how it was
/// launched.
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
