//! One kernel in all its forms: built once, instrumented in each way, and modelled.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::{Duration, Instant};

use amdgpu_object::{CodeObject, Kernel};
use amdinst_core::counters::{self, HEADER_BYTES};
use amdinst_core::instrument::{self, Counters, KernelProbes, Level, Options, Probe};
use amdinst_emu::timing::{Device, Parameters};
use amdinst_emu::{Config, Launch, Machine};

use super::cases::{Case, Value};
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};

/// What is run: the kernel as it was compiled, or with counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The kernel as it was compiled.
    Baseline,
    /// Our counters in registers, LDS, memory.
    Register,
    Lds,
    Global,
    /// The reference of the counters of 2022: readings of the clock.
    SeedBaseline,
    /// The counters of 2022 in LDS, in memory, with these.
    SeedLds,
    SeedGlobal,
}

impl Form {
    /// Every one.
    pub(super) const ALL: [Self; 7] = [
        Self::Baseline,
        Self::Register,
        Self::Lds,
        Self::Global,
        Self::SeedBaseline,
        Self::SeedLds,
        Self::SeedGlobal,
    ];

    /// What its slowdown is of.
    pub(super) const fn before(self) -> Self {
        if self.reads_clock() { Self::SeedBaseline } else { Self::Baseline }
    }

    /// Whether the kernel counts.
    pub(super) const fn counts(self) -> bool {
        !matches!(self, Self::Baseline | Self::SeedBaseline)
    }

    const fn counters(self) -> Option<Counters> {
        match self {
            Self::Baseline => None,
            Self::Register => Some(Counters::Register),
            Self::Lds => Some(Counters::Lds),
            Self::Global => Some(Counters::Global),
            Self::SeedBaseline => Some(Counters::SeedClock),
            Self::SeedLds => Some(Counters::SeedLds),
            Self::SeedGlobal => Some(Counters::SeedGlobal),
        }
    }

    /// Whether the kernel writes what the clock was when each wave began and ended.
    const fn reads_clock(self) -> bool {
        matches!(self, Self::SeedBaseline | Self::SeedLds | Self::SeedGlobal)
    }
}

/// A kernel in one form, and its launch.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    pub(super) case: &'a Case,
    pub(super) form: Form,
    object: CodeObject,
    probes: Option<KernelProbes>,
}

/// Of all waves: executions of sites, and those of them in which the lanes agreed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    /// Of all sites; the counters of 2022 do not have all.
    pub(super) all: Option<[u64; 2]>,
    /// Of those that the counters of 2022 have: where `s_and_saveexec_b64` narrows.
    pub(super) saveexec: [u64; 2],
}

/// What running it twice gave.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// Launched on a device whose caches are empty.
    pub(super) cold: Run,
    /// Launched once more.
    pub(super) warm: Run,
    /// Hash of all buffers afterwards, counters excepted.
    pub(super) memory: u64,
    /// What was counted.
    pub(super) counts: Option<Counts>,
    /// Waves of the launch.
    pub(super) waves: u64,
    /// Waves that a SIMD holds.
    pub(super) waves_per_simd: u32,
}

/// One launch, modelled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    /// Mean residency of a wave; in forms that read the clock, the mean of what they found.
    pub(super) cycles: f64,
    /// The whole dispatch.
    pub(super) dispatch: u64,
    /// Instructions of all waves.
    pub(super) wave_instructions: u64,
    /// What modelling it took on the host.
    pub(super) host: Duration,
}

impl<'a> Subject<'a> {
    /// Instruments a kernel of the original in a form.
    ///
    /// # Errors
    /// When it cannot be instrumented so.
    pub(super) fn new(original: &CodeObject, case: &'a Case, form: Form) -> CommandResult<Self> {
        let Some(counters) = form.counters() else {
            return Ok(Self { case, form, object: original.clone(), probes: None });
        };
        let probe = if form == Form::SeedBaseline { Probe::Time } else { Probe::Branches };
        let options = Options {
            probe,
            counters,
            level: Level::Basic,
            kernels: Some(vec![case.kernel.to_owned()]),
            ..Options::default()
        };
        let what = || format!("{} with {form:?}", case.kernel);
        let plan = instrument::plan(original, &options).or_exit_with(Exit::BuildFailed, what)?;
        let new = instrument::apply(original, plan).or_exit_with(Exit::BuildFailed, what)?;
        let object = CodeObject::parse(new.bytes).or_exit_with(Exit::BuildFailed, what)?;
        let probes = new.map.kernel(case.kernel).cloned();
        Ok(Self { case, form, object, probes })
    }

    /// Models two launches, one after the other: the second finds in L2 and the instruction caches what the
    /// first left. Its inputs are the same again.
    ///
    /// # Errors
    /// When the launch does not end well.
    pub(super) fn model(&self, parameters: &Parameters) -> CommandResult<Outcome> {
        let mut prepared = self.prepare()?;
        let mut device = Device::new(parameters.clone());
        let cold = self.launch(&mut prepared, &mut device)?;
        prepared.fill(self.case)?;
        let warm = self.launch(&mut prepared, &mut device)?;
        let (memory, counts) = (prepared.hash()?, self.counts(&prepared)?);
        let Prepared { waves, waves_per_simd, .. } = prepared;
        Ok(Outcome { cold, warm, memory, counts, waves, waves_per_simd })
    }

    /// Models the launch that stands for its program, and none after it; its mean residency.
    ///
    /// # Errors
    /// When the launch does not end well.
    pub(super) fn residency(&self, parameters: &Parameters) -> CommandResult<f64> {
        let mut prepared = self.prepare()?;
        let mut device = Device::new(parameters.clone());
        let mut run = self.launch(&mut prepared, &mut device)?;
        if self.case.repeated {
            prepared.fill(self.case)?;
            run = self.launch(&mut prepared, &mut device)?;
        }
        Ok(run.cycles)
    }

    fn launch(&self, prepared: &mut Prepared, device: &mut Device) -> CommandResult<Run> {
        let mut run = prepared.run(device)?;
        if self.form.reads_clock() {
            let mut sum = 0.0;
            let waves = self.records(prepared, |_, [begin, end]| sum += end.saturating_sub(begin) as f64)?;
            run.cycles = sum / waves.max(1) as f64;
        }
        Ok(run)
    }

    /// Goes through the records that a form of 2022 wrote: words of its counters, and the clock at begin and
    /// end. How many.
    fn records(&self, prepared: &Prepared, mut each: impl FnMut(&[u8], [u64; 2])) -> CommandResult<usize> {
        let Some(probes) = &self.probes else { return Ok(0) };
        let bytes = prepared.counters()?;
        let stride = probes.record_stride as usize;
        let records = bytes[HEADER_BYTES as usize..].chunks_exact(stride);
        let count = records.len();
        for record in records {
            let (counters, clock) = record.split_at(stride - 16);
            let (begin, end) = clock.split_at(8);
            each(counters, [begin, end].map(little_endian));
        }
        Ok(count)
    }

    /// Runs it on the emulator alone, on one thread; how long that takes.
    ///
    /// # Errors
    /// When the launch does not end well.
    pub(super) fn emulate(&self) -> CommandResult<Duration> {
        let mut prepared = self.prepare()?;
        let Prepared { machine, program, launch, .. } = &mut prepared;
        let started = Instant::now();
        machine.launch(program, launch).or_exit(Exit::LaunchFailed)?;
        Ok(started.elapsed())
    }

    fn prepare(&self) -> CommandResult<Prepared> {
        let case = self.case;
        let kernel = self.object.kernel(case.kernel).ok_or_else(|| {
            Failure::msg(Exit::BadInput, format!("the package has no kernel `{}`", case.kernel))
        })?;
        let mut machine = Machine::new(self.object.target.arch, Config::default());
        let (mut kernarg, buffers) = arguments(&mut machine, kernel, case)?;
        let program = machine.load(&self.object).or_exit(Exit::BadInput)?;
        let mut counters = None;
        if let Some(probes) = &self.probes {
            let layout = probes.layout(case.grid, case.block);
            let initial = layout.initial_buffer();
            let address = machine.alloc(initial.len() as u64, 256, "counters").or_exit(Exit::BadInput)?;
            probes.set_argument(&mut kernarg, &layout, address).or_exit(Exit::BadInput)?;
            counters = Some((address, initial));
        }
        let launch =
            Launch { grid: case.grid, block: case.block, kernarg, threads: 1, ..Launch::new(case.kernel) };
        let mut prepared =
            Prepared { machine, program, launch, buffers, counters, waves: 0, waves_per_simd: 0 };
        prepared.fill(case)?;
        Ok(prepared)
    }

    /// Sums up what was counted.
    fn counts(&self, prepared: &Prepared) -> CommandResult<Option<Counts>> {
        let mut saveexec = [0; 2];
        if self.form.reads_clock() {
            self.records(prepared, |counters, _| {
                // Pairs of agree and total.
                for pair in counters.chunks_exact(8) {
                    let (agree, total) = pair.split_at(4);
                    saveexec[0] += little_endian(total);
                    saveexec[1] += little_endian(agree);
                }
            })?;
            return Ok(self.form.counts().then_some(Counts { all: None, saveexec }));
        }
        let Some(probes) = &self.probes else { return Ok(None) };
        let bytes = prepared.counters()?;
        let mut all = [0; 2];
        for record in counters::decode(&bytes).or_exit(Exit::LaunchFailed)? {
            for (site, counted) in probes.sites.iter().zip(&record.sites) {
                let here = [counted.executions, counted.all + counted.none];
                let is_saveexec = site.instruction.starts_with("s_and_saveexec_b64 ");
                for number in 0..2 {
                    all[number] += here[number];
                    saveexec[number] += if is_saveexec { here[number] } else { 0 };
                }
            }
        }
        Ok(Some(Counts { all: Some(all), saveexec }))
    }
}

/// A machine with everything in place.
struct Prepared {
    machine: Machine,
    program: amdinst_emu::Program,
    launch: Launch,
    /// Address and size of each.
    buffers: Buffers,
    /// Address of the counter buffer, and what it holds at first.
    counters: Option<(u64, Vec<u8>)>,
    waves: u64,
    waves_per_simd: u32,
}

impl Prepared {
    /// Puts into the buffers what they hold before a launch.
    fn fill(&mut self, case: &Case) -> CommandResult<()> {
        let values = case.arguments.iter().filter(|value| !matches!(value, Value::Word(_)));
        for (value, &(address, size)) in values.zip(&self.buffers) {
            let zeroed;
            let bytes = match value {
                Value::Bytes(bytes) => bytes,
                _ => {
                    zeroed = vec![0; size];
                    &zeroed
                }
            };
            self.machine.write(address, bytes).or_exit(Exit::BadInput)?;
        }
        if let Some((address, initial)) = &self.counters {
            self.machine.write(*address, initial).or_exit(Exit::BadInput)?;
        }
        Ok(())
    }

    fn run(&mut self, device: &mut Device) -> CommandResult<Run> {
        let Self { machine, program, launch, .. } = self;
        let started = Instant::now();
        let timing = device.launch(machine, program, launch).or_exit(Exit::LaunchFailed)?;
        let host = started.elapsed();
        self.waves = timing.waves.len() as u64;
        self.waves_per_simd = timing.occupancy.waves_per_simd;
        Ok(Run {
            cycles: timing.residency().mean,
            dispatch: timing.cycles,
            wave_instructions: timing.wave_instructions,
            host,
        })
    }

    /// What the counter buffer holds; nothing where there is none.
    fn counters(&self) -> CommandResult<Vec<u8>> {
        let Some((address, initial)) = &self.counters else { return Ok(Vec::new()) };
        let mut bytes = vec![0; initial.len()];
        self.machine.read(*address, &mut bytes).or_exit(Exit::BadInput)?;
        Ok(bytes)
    }

    fn hash(&self) -> CommandResult<u64> {
        let mut hasher = DefaultHasher::new();
        for &(address, size) in &self.buffers {
            let mut bytes = vec![0; size];
            self.machine.read(address, &mut bytes).or_exit(Exit::BadInput)?;
            bytes.hash(&mut hasher);
        }
        Ok(hasher.finish())
    }
}

/// A number of up to eight bytes.
fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Addresses and sizes of buffers.
type Buffers = Vec<(u64, usize)>;

/// The kernarg segment, and its buffers in the order of the arguments.
fn arguments(machine: &mut Machine, kernel: &Kernel, case: &Case) -> CommandResult<(Vec<u8>, Buffers)> {
    let (mut kernarg, mut buffers) = (Vec::new(), Vec::new());
    let places = kernel.metadata.args.iter().filter(|argument| !argument.is_hidden());
    for (value, argument) in case.arguments.iter().zip(places) {
        let bytes = match value {
            Value::Word(word) => word.to_vec(),
            Value::Bytes(_) | Value::Zeroed(_) => {
                let size = value.size();
                let address = machine.alloc(size as u64, 256, case.name).or_exit(Exit::BadInput)?;
                buffers.push((address, size));
                address.to_le_bytes().to_vec()
            }
        };
        let start = argument.offset as usize;
        kernarg.resize(kernarg.len().max(start + bytes.len()), 0);
        kernarg[start..start + bytes.len()].copy_from_slice(&bytes);
    }
    Ok((kernarg, buffers))
}
