//! The recorded calls, made again on an emulated GPU.
//!
//! * `machines`: allocations at their recorded addresses, on both machines.
//! * `code`: code objects on them; `arguments`: kernarg segments; `launch`: kernels.
//! * `spans`: memory whose contents on the GPU are unknown. Such memory is not compared. It spreads by
//!   copies, and by launches to the memory that their arguments point into.
//! * `compare`: the emulator's memory beside the GPU's; `writers`: who wrote what differs.

mod arguments;
mod code;
mod compare;
mod launch;
mod machines;
mod results;
mod settings;
mod spans;
mod writers;

use std::collections::BTreeSet;
use std::sync::Arc;

use amdgpu_isa::Arch;
use amdgpu_object::CodeObject;
use amdinst_emu::{Config, Execution, Launch, Machine, MemoryError, Snapshot};
use amdinst_launch::language::Element;

pub use results::{CopyResult, Counted, Ending, First, LaunchResult, NotReplayed, Step, Verdict, Writer};
pub use settings::{Choice, Settings};

use crate::calls::{Address, Call, DataName, Event, LaunchCall, Lds};
use crate::hash::ContentHash;
use crate::process::Process;
use code::{Code, Codes, Loader};
use machines::{Machines, Piece};
use spans::Spans;
use writers::Watched;

/// All memory is compared after a launch if it is not more than this; else what its arguments point into.
const ALL: u64 = 256 << 20;
/// Bytes that a fill writes at a time.
const CHUNK: usize = 1 << 20;
/// What functions begin with that may write memory of the GPU.
const WRITING: [&str; 10] = [
    "hipMemcpy",
    "hipMemset",
    "hipDrvMemcpy",
    "hipGraphLaunch",
    "hipLaunch",
    "hipModuleLaunch",
    "hipHccModuleLaunch",
    "hipExtLaunch",
    "hipStreamWriteValue",
    "hipStreamBatchMemOp",
];
/// Work-items of a workgroup, at most.
const MOST_ITEMS: u64 = 1024;
/// Workgroups of a launch, at most.
const MOST_GROUPS: u64 = 1 << 40;
/// Elements whose writers are looked for in one go, at most.
const WATCHED: usize = 1 << 16;

/// A copy that differs, whose writers are to be found.
struct Pending {
    /// Its place among the steps.
    step: usize,
    /// The place of its event.
    event: usize,
    from: u64,
    element: Element,
    gpu: Vec<u8>,
    emulator: Vec<u8>,
    differing: Vec<u64>,
}

/// A variable of loaded code at the address that it had in the recorded process.
struct Alias {
    at: u64,
    bytes: u64,
    here: u64,
}

/// Replays a process.
pub struct Player<'a> {
    process: &'a Process,
    settings: &'a Settings,
    machines: Machines,
    codes: Codes,
    arch: Arch,
    unknown: Spans,
    /// Why it is not known what the GPU had in variables of code, if it is not.
    unknown_variables: Option<String>,
    aliases: Vec<Alias>,
    /// Streams whose calls become parts of graphs.
    graphs: BTreeSet<u64>,
    steps: Vec<Step>,
    pending: Vec<Pending>,
    watched: Vec<Watched>,
    /// What the last call wrote.
    wrote: Option<(u64, u64)>,
    /// Launches so far, those of processes before included.
    launches: u64,
    before: Snapshot,
}

impl<'a> Player<'a> {
    /// Replays a process, the first of whose launches is the one after number `launches` of the archive.
    pub fn new(process: &'a Process, launches: u64, settings: &'a Settings) -> Self {
        let arch = arch_of(process);
        let original = Machine::for_code(arch, settings.config.clone());
        let twin = settings.instrument.as_ref().map(|_| {
            let mut config = Config::default();
            (config.out_of_range, config.member) = (settings.config.out_of_range, settings.config.member);
            config.stop = settings.config.stop;
            config.uninitialised = settings.config.uninitialised;
            Machine::for_code(arch, config)
        });
        Self {
            process,
            settings,
            machines: Machines::new(original, twin),
            codes: Codes::default(),
            arch,
            unknown: Spans::default(),
            unknown_variables: None,
            aliases: Vec::new(),
            graphs: BTreeSet::new(),
            steps: Vec::new(),
            pending: Vec::new(),
            watched: Vec::new(),
            wrote: None,
            launches,
            before: Snapshot::default(),
        }
    }

    /// Replays it to its end, or to the end of the last launch asked for. `tell` gets the number of each
    /// launch, and its kernel, before it runs, and says whether to go on.
    pub fn play(mut self, tell: &mut dyn FnMut(u64, &str) -> bool) -> Vec<Step> {
        let last = self.last();
        for (place, event) in self.process.events.iter().enumerate() {
            if let Call::Launch(launch) = &event.call {
                if last.is_some_and(|last| self.launches >= last) || !tell(self.launches + 1, &launch.kernel)
                {
                    break;
                }
                self.launches += 1;
            }
            self.make(place, event);
        }
        self.find_writers(tell);
        self.steps
    }

    /// The number of the last launch that is asked for.
    fn last(&self) -> Option<u64> {
        let kernels = self.process.events.iter().filter_map(|event| match &event.call {
            Call::Launch(launch) => Some(launch.kernel.as_str()),
            _ => None,
        });
        let choice = &self.settings.choice;
        let numbered = (self.launches + 1..).zip(kernels);
        let chosen = numbered.filter(|(number, kernel)| choice.takes(*number, kernel));
        let last = chosen.map(|(number, _)| number).last().unwrap_or(self.launches);
        (*choice != Choice::default()).then_some(last)
    }

    /// Makes a call.
    fn make(&mut self, place: usize, event: &Event) {
        self.wrote = None;
        let is_part = event.stream.is_some_and(|stream| self.graphs.contains(&stream));
        let done = match &event.call {
            Call::Order | Call::Failed => return,
            Call::Unknown(why) => {
                self.lose(event);
                Err(why.clone())
            }
            Call::BeginGraph => {
                self.graphs.extend(event.stream);
                Err("graphs are not replayed yet".to_owned())
            }
            Call::EndGraph => {
                event.stream.iter().for_each(|stream| {
                    self.graphs.remove(stream);
                });
                return;
            }
            Call::Launch(launch) if is_part => {
                self.spoil(event, launch);
                Err("it is part of a graph, and graphs are not replayed yet".to_owned())
            }
            _ if is_part => Err("it is part of a graph, and graphs are not replayed yet".to_owned()),
            Call::Launch(launch) => self.launch(event, launch),
            Call::CopyOut { from, to, bytes, data } => {
                self.copy_out(place, event, (*from, *to, *bytes), data.as_ref());
                Ok(())
            }
            call => self.change(event, call),
        };
        if let Err(why) = done {
            let launch = match &event.call {
                Call::Launch(launch) => Some((self.launches, launch.kernel.clone())),
                _ => None,
            };
            self.steps.push(Step::NotReplayed(NotReplayed {
                event: event.number,
                function: event.name,
                launch,
                why,
            }));
        }
        self.look(place, event);
    }

    /// Looks at the elements whose writers are looked for.
    fn look(&mut self, place: usize, event: &Event) {
        if self.watched.is_empty() {
            return;
        }
        let writer = match &event.call {
            Call::Launch(launch) => Writer::Launch { number: self.launches, kernel: launch.kernel.clone() },
            _ => Writer::Event { number: event.number, function: event.name },
        };
        let is_new = matches!(event.call, Call::Allocate { .. });
        for watched in self.watched.iter_mut().filter(|watched| place < watched.until) {
            if let Some((at, bytes)) = self.wrote.filter(|_| is_new) {
                // What was there before is gone.
                if watched.is_in(at, bytes)
                    && self.machines.write(watched.address, &watched.unwritten).is_ok()
                {
                    watched.forget();
                    watched.value.clone_from(&watched.unwritten);
                }
                continue;
            }
            match self.machines.read(watched.address, watched.bytes) {
                Ok(now) => watched.look(now, self.wrote, &writer),
                Err(_) => watched.forget(),
            }
        }
    }

    /// Makes a call that changes memory or code.
    fn change(&mut self, event: &Event, call: &Call) -> Result<(), String> {
        match call {
            Call::Allocate { at, bytes, is_host } => self.allocate(event, *at, *bytes, *is_host),
            Call::Free { at: Address(0) } => Ok(()),
            Call::Free { at } => {
                let bytes = self.machines.pieces.get(&at.0).map_or(0, |piece| piece.bytes);
                self.machines.free(at.0).map_err(|error| error.to_string())?;
                self.unknown.clear(at.0..at.0 + bytes);
                Ok(())
            }
            Call::CopyIn { to, from, bytes, data } => self.copy_in((*to, *from, *bytes), data.as_ref()),
            Call::Copy { from, to, bytes } => self.copy(*from, *to, *bytes),
            Call::Fill { to, element, count, rows, pitch } => {
                self.fill(*to, element, (*count, *rows, *pitch))
            }
            Call::Load { module, code } => {
                self.codes.load(*module, code);
                Ok(())
            }
            Call::Unload { module } => {
                self.codes.unload(*module);
                Ok(())
            }
            Call::FindVariable { module, at } => self.find_variable(*module, *at),
            Call::SetVariable { module, name, bytes, data } => {
                let code = self.module(*module)?;
                let contents = self.contents(data, *bytes)?;
                let address = code
                    .program
                    .variable(name)
                    .ok_or_else(|| format!("its code has no variable `{name}`"))?;
                let to_twin = code.twin.as_ref().and_then(|twin| twin.program.variable(name));
                let machines = &mut self.machines;
                machines.original.write(address, &contents).map_err(|error| error.to_string())?;
                match machines.twin.as_mut().zip(to_twin) {
                    Some((twin, address)) => {
                        twin.write(address, &contents).map_err(|error| error.to_string())
                    }
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn allocate(&mut self, event: &Event, at: Address, bytes: u64, is_host: bool) -> Result<(), String> {
        if at.0 == 0 {
            return Ok(());
        }
        let what = if is_host { "host memory" } else { "memory" };
        let label = format!("the {what} of event {}", event.number);
        let piece = Piece { bytes: bytes.max(1) };
        let allocated = self.machines.allocate(at.0, piece, &label);
        allocated.map_err(|error| match error {
            MemoryError::OutOfBounds { .. } => {
                format!("its address {at} is taken, or none that the emulator can give")
            }
            other => other.to_string(),
        })?;
        self.wrote = Some((at.0, bytes));
        if is_host {
            let why = format!(
                "event {}: {} gave memory that the program writes to without a call",
                event.number, event.name
            );
            self.unknown.add(at.0..at.0 + bytes, &why.into());
        }
        Ok(())
    }

    /// The address in the emulator.
    fn here(&self, Address(address): Address) -> u64 {
        let alias = self.aliases.iter().find(|alias| address >= alias.at && address - alias.at < alias.bytes);
        alias.map_or(address, |alias| alias.here + (address - alias.at))
    }

    /// The contents of a file of the archive, which is to have so many bytes.
    fn contents(&self, data: &DataName, bytes: u64) -> Result<Vec<u8>, String> {
        let file = data.file();
        let contents = self.process.folder.read_exactly(&file, bytes).map_err(|error| error.to_string())?;
        match data.hash() {
            Some(hash) if hash != ContentHash::of(&contents) => {
                let path = self.process.folder.file(&file);
                Err(crate::folder::FolderError::Damaged { path }.to_string())
            }
            _ => Ok(contents),
        }
    }

    /// Where some memory is that is all in one allocation.
    fn place_of(&self, address: Address, bytes: u64) -> Result<u64, String> {
        let here = self.here(address);
        let (at, size) = match self.machines.piece(here) {
            Some((at, piece)) => (at, piece.bytes),
            // A variable.
            None => {
                self.machines.original.allocation_around(here).map_or((here, 0), |(at, size, _)| (at, size))
            }
        };
        match bytes <= size.saturating_sub(here - at) {
            true => Ok(here),
            false => Err(format!("{bytes} bytes at {address} are not within one allocation")),
        }
    }

    fn copy_in(
        &mut self,
        (to, from, bytes): (Address, Address, u64),
        data: Option<&DataName>,
    ) -> Result<(), String> {
        if bytes == 0 {
            return Ok(());
        }
        let here = self.place_of(to, bytes)?;
        let contents = data.ok_or_else(|| "the archive does not hold what it copied".to_owned());
        let contents = contents.and_then(|data| self.contents(data, bytes));
        let written = contents.and_then(|contents| {
            // The host's memory held the same.
            if self.machines.holds(from.0, bytes) && self.machines.write(from.0, &contents).is_ok() {
                self.unknown.clear(from.0..from.0 + bytes);
            }
            self.machines.write(here, &contents).map_err(|error| error.to_string())
        });
        self.wrote = Some((here, bytes));
        match written {
            Ok(()) => {
                self.unknown.clear(here..here + bytes);
                Ok(())
            }
            Err(why) => {
                self.unknown.add(here..here + bytes, &format!("a copy to it was not replayed: {why}").into());
                Err(why)
            }
        }
    }

    fn copy(&mut self, from: Address, to: Address, bytes: u64) -> Result<(), String> {
        if bytes == 0 {
            return Ok(());
        }
        let (source, target) = (self.place_of(from, bytes), self.place_of(to, bytes));
        match (source, target) {
            (Ok(source), Ok(target)) => {
                self.machines.copy(source, target, bytes).map_err(|error| error.to_string())?;
                self.unknown.copy(source, target, bytes);
                self.wrote = Some((target, bytes));
                Ok(())
            }
            (Err(_), Ok(target)) => {
                let why = format!(
                    "it copies from {from}, which is the host's: the archive does not hold what it copied"
                );
                self.unknown
                    .add(target..target + bytes, &format!("a copy to it was not replayed: {why}").into());
                Err(why)
            }
            (Ok(_), Err(_)) => Err(format!(
                "it copies to {to}, which is the host's: the archive does not hold what the GPU gave"
            )),
            (Err(why), Err(_)) => Err(why),
        }
    }

    fn fill(
        &mut self,
        to: Address,
        element: &[u8],
        (count, rows, pitch): (u64, u64, u64),
    ) -> Result<(), String> {
        let overflow = || format!("{rows} rows of {count} elements are more than memory has");
        let row = count.checked_mul(element.len() as u64).ok_or_else(overflow)?;
        if row == 0 || rows == 0 {
            return Ok(());
        }
        let all =
            pitch.checked_mul(rows - 1).and_then(|start| start.checked_add(row)).ok_or_else(overflow)?;
        if rows > 1 && pitch < row {
            return Err(format!("its rows have {row} bytes, and begin every {pitch}"));
        }
        let here = self.place_of(to, all)?;
        let per_chunk = (CHUNK / element.len()).min(count as usize);
        let chunk = element.repeat(per_chunk);
        for start in (0..rows).map(|number| here + number * pitch) {
            let mut at = 0;
            while at < row {
                let size = (row - at).min(chunk.len() as u64);
                self.machines
                    .write(start + at, &chunk[..size as usize])
                    .map_err(|error| error.to_string())?;
                at += size;
            }
            self.unknown.clear(start..start + row);
        }
        self.wrote = Some((here, all));
        Ok(())
    }

    /// The code of a module.
    fn module(&mut self, module: u64) -> Result<Arc<Code>, String> {
        let name = self.codes.of_module(module).ok_or_else(|| format!("no module {module:#x} is loaded"))?;
        let loader =
            Loader { process: self.process, instrument: self.settings.instrument.as_ref(), arch: self.arch };
        self.codes.get(&name, &loader, &mut self.machines)
    }

    /// A variable by its address: its name is not recorded, so its module must have one alone.
    fn find_variable(&mut self, module: u64, at: Address) -> Result<(), String> {
        let code = self.module(module)?;
        let [variable] = &code.object.variables[..] else {
            let has = amdinst_text::count(code.object.variables.len(), "variable");
            return Err(format!(
                "archives of version 3 do not hold the variable's name, and the module has {has}"
            ));
        };
        let here = code.program.device_address(variable.address);
        self.aliases.retain(|alias| alias.at != at.0);
        self.aliases.push(Alias { at: at.0, bytes: variable.size, here });
        if code.twin.is_some() {
            // The second machine may have it elsewhere.
            let there = code.twin.as_ref().and_then(|twin| twin.program.variable(&variable.name));
            if there != Some(here) {
                return Err("its module's instrumented form has the variable elsewhere: replay without counters (--original)".to_owned());
            }
        }
        Ok(())
    }

    fn copy_out(
        &mut self,
        place: usize,
        event: &Event,
        (from, to, bytes): (Address, Address, u64),
        data: Option<&DataName>,
    ) {
        let after = Some(self.launches).filter(|&number| number > 0);
        let mut result = CopyResult {
            event: event.number,
            function: event.name,
            from: from.0,
            bytes,
            after,
            verdict: Verdict::Equal,
        };
        let element = self.settings.element;
        let gpu = data.ok_or_else(|| "the archive does not hold what the GPU gave".to_owned());
        let gpu = gpu.and_then(|data| {
            self.place_of(from, bytes)?;
            self.contents(data, bytes)
        });
        let here = self.here(from);
        let compared = gpu.and_then(|gpu| {
            // What the program has is what the GPU gave it.
            let unknown = self.unknown.why(here..here.saturating_add(bytes)).map(|why| why.to_string());
            let emulator = self.machines.read(here, bytes).map_err(|error| error.to_string());
            if self.machines.holds(to.0, bytes) && self.machines.write(to.0, &gpu).is_ok() {
                self.unknown.clear(to.0..to.0 + bytes);
            }
            if let Some(why) = unknown {
                return Err(why);
            }
            let emulator = emulator?;
            let compared = compare::compare(&gpu, &emulator, element, self.settings.ulp);
            Ok((gpu, emulator, compared))
        });
        match compared {
            Err(why) => result.verdict = Verdict::NotComparable(why),
            Ok((gpu, emulator, compared)) => {
                if let Verdict::Differs { of, .. } = compared.verdict {
                    let size = gpu.len() as u64 / of.max(1);
                    let element =
                        element.filter(|element| element.size() as u64 == size).unwrap_or(Element::U8);
                    let (step, differing) = (self.steps.len(), compared.differing);
                    self.pending.push(Pending {
                        step,
                        event: place,
                        from: here,
                        element,
                        gpu,
                        emulator,
                        differing,
                    });
                }
                result.verdict = compared.verdict;
            }
        }
        self.steps.push(Step::Copy(Box::new(result)));
    }

    /// Launches a kernel.
    fn launch(&mut self, event: &Event, call: &LaunchCall) -> Result<(), String> {
        let ready = self.ready(call);
        let (code, kernel, segment) = match ready {
            Ok(ready) => ready,
            Err(why) => {
                self.spoil(event, call);
                return Err(why);
            }
        };
        let reached = self.reached(&segment);
        let settings = self.settings;
        let is_chosen = settings.choice.takes(self.launches, &call.kernel);
        let fixed = code.object.kernel(&kernel).map_or(0, |kernel| kernel.metadata.group_segment_fixed_size);
        let launch = Launch {
            grid: call.grid,
            block: call.block,
            kernarg: segment,
            dynamic_lds: match call.lds {
                Lds::Added(bytes) => bytes,
                Lds::All(bytes) => bytes.saturating_sub(fixed),
            },
            threads: settings.threads,
            budget: settings.budget,
            ..Launch::new(&kernel)
        };
        let all = launch.workgroups();
        let ranges = launch::sample(all, settings.sample);
        let ran: u64 = ranges.iter().map(|range| range.end - range.start).sum();
        let waits = settings.finds_missing_waits
            && code.early.has(&code.object, &kernel, launch.dynamic_lds, settings.config.thorough);
        let looks =
            is_chosen && (settings.finds_unwritten || waits || settings.finds_non_finite) && ran == all;
        if looks {
            self.machines.original.snapshot_into(&mut self.before);
        }
        let counts = (is_chosen && settings.instrument.is_some(), settings.config.check_races);
        let outcome = launch::run(&mut self.machines, &code, &launch, &ranges, counts);
        let mut counted = outcome.counted;
        let (mut looked_for_waits, mut looked_for_nan) = (None, None);
        let original = outcome.original.and_then(|execution| {
            self.compare_twins(&reached, outcome.is_in_step, &mut counted);
            let original = &mut self.machines.original;
            if looks && settings.finds_unwritten {
                original.find_unwritten(&code.program, &launch, &execution, &self.before)?;
            }
            if looks && waits {
                let looked = original.find_early_use(&code.program, &launch, &execution, &self.before)?;
                looked_for_waits = looked.map(|sampled| sampled.workgroups);
            }
            if looks && settings.finds_non_finite {
                let looked = original.find_non_finite(&code.program, &launch, &self.before)?;
                looked_for_nan = looked.map(|sampled| sampled.workgroups);
            }
            Ok(execution)
        });
        let what = format!("launch {} (`{}`)", self.launches, amdinst_text::shown(&kernel));
        let spoiled: Option<String> = match &original {
            Err(fault) if fault.kind == amdinst_emu::FaultKind::Stopped => {
                Some(format!("{what} was stopped"))
            }
            Err(_) => Some(format!("{what} ended with a fault")),
            Ok(_) if ran < all => Some(format!("{what} was sampled: {ran} of {all} workgroups ran")),
            Ok(_) if code.object.variables.is_empty() => None,
            Ok(_) => self.unknown_variables.clone(),
        };
        if original.is_err() {
            // What is not there cannot be copied; what is, is there on both.
            let _ = self.machines.align();
        }
        self.settle(&reached, spoiled);
        self.steps.push(Step::Launch(Box::new(LaunchResult {
            number: self.launches,
            event: event.number,
            is_chosen,
            kernel,
            grid: call.grid,
            block: call.block,
            target: code.object.target,
            object: code.object.clone(),
            ending: match original {
                Ok(execution) => {
                    Ending::Well(Box::new(Execution { masks: Vec::new(), steps: Vec::new(), ..execution }))
                }
                Err(fault) => Ending::Fault(Box::new(fault)),
            },
            sampled: (ran < all).then_some(ran),
            looked_for_waits,
            looked_for_nan,
            counted,
        })));
        Ok(())
    }

    /// What a launch needs: its code, the kernel's whole name, the kernarg segment.
    fn ready(&mut self, call: &LaunchCall) -> Result<(Arc<Code>, String, Vec<u8>), String> {
        let loader =
            Loader { process: self.process, instrument: self.settings.instrument.as_ref(), arch: self.arch };
        let named = (call.code.as_ref(), call.kernel.as_str());
        let items =
            |sizes: [u32; 3]| sizes.iter().fold(1_u64, |all, size| all.saturating_mul((*size).into()));
        if !(1..=MOST_ITEMS).contains(&items(call.block)) || !(1..=MOST_GROUPS).contains(&items(call.grid)) {
            return Err(format!(
                "no GPU runs a grid of {:?} workgroups of {:?} work-items",
                call.grid, call.block
            ));
        }
        let (code, kernel) = self.codes.of_kernel(named, &loader, &mut self.machines)?;
        let of = code.object.kernel(&kernel).ok_or("it has no such kernel")?;
        let mut segment = arguments::segment(self.process, of, &call.arguments)?;
        let words: Vec<(usize, u64)> = arguments::words(&segment).collect();
        for (at, word) in words {
            let here = self.here(Address(word));
            if here != word {
                segment[at..at + 8].copy_from_slice(&here.to_le_bytes());
            }
        }
        Ok((code, kernel, segment))
    }

    /// The allocations that a kernarg segment points into.
    fn reached(&self, segment: &[u8]) -> Vec<u64> {
        let found = arguments::words(segment).filter_map(|(_, word)| Some(self.machines.piece(word)?.0));
        found.collect::<BTreeSet<u64>>().into_iter().collect()
    }

    /// After a launch that did not run: what it would have written is unknown.
    fn spoil(&mut self, event: &Event, call: &LaunchCall) {
        let why = format!(
            "launch {} (`{}`, event {}) was not replayed",
            self.launches,
            amdinst_text::shown(&call.kernel),
            event.number
        );
        let all: Vec<u64> = self.machines.pieces.keys().copied().collect();
        self.settle(&all, Some(why));
    }

    /// After a call that is not replayed: what it may have written is unknown.
    fn lose(&mut self, event: &Event) {
        let why = format!("event {}: {} was not replayed", event.number, event.name);
        let is_one = |words: &[&str]| words.iter().any(|word| event.name.starts_with(word));
        if event.name.contains("ToSymbol") {
            self.unknown_variables = Some(why);
        } else if !event.name.contains("FromSymbol") && is_one(&WRITING) {
            let all: Vec<u64> = self.machines.pieces.keys().copied().collect();
            self.settle(&all, Some(why));
        }
    }

    /// The state of memory after a launch that reaches it: unknown if the launch is `spoiled`, or if some of
    /// it was unknown before.
    fn settle(&mut self, reached: &[u64], spoiled: Option<String>) {
        let range = |at: &u64| Some(*at..*at + self.machines.pieces.get(at)?.bytes);
        let ranges: Vec<_> = reached.iter().filter_map(range).collect();
        let spoiled = spoiled.map(Arc::from);
        let why =
            spoiled.or_else(|| ranges.iter().find_map(|range| self.unknown.why(range.clone())).cloned());
        if let Some(why) = why {
            for range in ranges {
                // What was unknown before keeps its reason.
                if self.unknown.why(range.clone()).is_none() {
                    self.unknown.add(range, &why);
                }
            }
        }
    }

    /// Compares what both kernels have left, and keeps the machines in step.
    fn compare_twins(&mut self, reached: &[u64], is_in_step: bool, counted: &mut Counted) {
        if self.machines.twin.is_none() {
            return;
        }
        let all: Vec<u64> = self.machines.pieces.keys().copied().collect();
        let pieces = if self.machines.bytes() <= ALL { &all } else { reached };
        let different = if is_in_step { self.machines.difference(pieces) } else { None };
        if let Counted::Counted { report, disagreements } = counted {
            report.memory_equal = Some(different.is_none());
            disagreements.extend(different.map(|at| {
                let told = self.machines.told(at);
                format!("memory differs from {told} on, after the original and the instrumented kernel")
            }));
        }
        if !is_in_step || different.is_some() {
            // Both have all of it.
            let _ = self.machines.align();
        }
    }

    /// Finds who wrote what differs, by another replay.
    fn find_writers(&mut self, tell: &mut dyn FnMut(u64, &str) -> bool) {
        let pending = std::mem::take(&mut self.pending);
        let mut watched = Vec::new();
        for Pending { event, from, element, differing, emulator, .. } in &pending {
            let left = WATCHED.saturating_sub(watched.len());
            for offset in differing.iter().take(left).map(|index| *index as usize * element.size()) {
                let value = emulator.get(offset..offset + element.size()).unwrap_or_default();
                watched.push(Watched::new(*event, from + offset as u64, value));
            }
        }
        let Some(last) = pending.iter().map(|pending| pending.event).max() else { return };
        let launched = |event: &&Event| matches!(event.call, Call::Launch(_));
        let first = self.launches - self.process.events.iter().take(last).filter(launched).count() as u64;
        let settings = Settings {
            config: plain(self.settings),
            threads: self.settings.threads,
            budget: self.settings.budget,
            ..Settings::default()
        };
        let mut again = Player::new(self.process, first.min(self.launches), &settings);
        again.watched = watched;
        for (place, event) in self.process.events.iter().enumerate().take(last) {
            if let Call::Launch(launch) = &event.call {
                again.launches += 1;
                if !tell(again.launches, &launch.kernel) {
                    return;
                }
            }
            again.make(place, event);
        }
        let mut found = again.watched.into_iter();
        for Pending { step, element, gpu, emulator, differing, .. } in pending {
            let of_it: Vec<_> = found.by_ref().take(differing.len()).collect();
            let written = differing.iter().zip(&of_it).find(|(_, watched)| watched.writer.is_some());
            let Some(Step::Copy(copy)) = self.steps.get_mut(step) else { continue };
            let Verdict::Differs { differing: number, first, .. } = &mut copy.verdict else { continue };
            match written {
                Some((index, watched)) => {
                    *first = First {
                        writer: watched.writer.clone(),
                        ..compare::first_at(&gpu, &emulator, element, *index)
                    };
                }
                None if of_it.len() as u64 == *number => {
                    let at = first.offset;
                    let why = format!(
                        "what differs (first at byte {at}) was never written by any call of the archive"
                    );
                    copy.verdict = Verdict::NotComparable(why);
                }
                None => {}
            }
        }
    }
}

/// The settings of a replay that only asks what is in memory.
fn plain(settings: &Settings) -> Config {
    let mut config = Config::default();
    (config.deterministic, config.member) = (true, settings.config.member);
    config.stop = settings.config.stop;
    (config.uninitialised, config.out_of_range) =
        (settings.config.uninitialised, settings.config.out_of_range);
    config.schedule = settings.config.schedule;
    config
}

/// The processor of a process: that of the first code object that can be read, else that of its machine.
fn arch_of(process: &Process) -> Arch {
    let named = process.events.iter().filter_map(|event| match &event.call {
        Call::Launch(launch) => launch.code.as_ref(),
        Call::Load { code, .. } => Some(code),
        _ => None,
    });
    let mut seen: Vec<&DataName> = Vec::new();
    for name in named {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        if let Ok(CodeObject { target, .. }) = code::read(process, name, None) {
            return target.arch;
        }
    }
    process.recorded_on.iter().find_map(|name| name.parse().ok()).unwrap_or(Arch::Gfx90a)
}
