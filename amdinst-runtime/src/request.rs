//! A launch, checked against the code object.

use std::sync::Arc;

use amdgpu_isa::WaveSize;
use amdgpu_object::KernelArg;
use amdinst_core::counters::Layout;
use amdinst_core::instrument::KernelProbes;
use amdinst_core::names;
use amdinst_core::panics::Panic;
use amdinst_core::printed::Printed;
use amdinst_core::report::{self, SCHEMA};
use amdinst_format::interface::LaunchFailure;

use crate::built::Built;

/// A launch, checked against the code object.
pub(crate) struct Request<'a> {
    pub(crate) built: &'a Arc<Built>,
    pub(crate) kernel: &'a str,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) lds: u32,
    /// The explicit arguments, at their offsets.
    pub(crate) kernarg: Vec<u8>,
    /// The parameter that each of them is of, if that is known.
    pub(crate) parameters: &'a [String],
}

impl Request<'_> {
    /// Whether its work-items have LDS or scratch memory.
    pub(crate) fn has_memory_of_its_own(&self) -> bool {
        self.lds > 0
            || self.built.original.kernel(self.kernel).is_some_and(|kernel| {
                let metadata = &kernel.metadata;
                metadata.group_segment_fixed_size > 0
                    || metadata.private_segment_fixed_size > 0
                    || metadata.uses_dynamic_stack
            })
    }

    /// The emulator's form of the launch.
    pub(crate) fn emulated(&self, kernarg: Vec<u8>) -> amdinst_emu::Launch {
        let mut launch = amdinst_emu::Launch::new(self.kernel);
        launch.grid = self.grid;
        launch.block = self.block;
        launch.dynamic_lds = self.lds;
        launch.kernarg = kernarg;
        launch
    }

    /// The arguments with that of the counter buffer at an address appended.
    pub(crate) fn instrumented_kernarg(
        &self,
        probes: &KernelProbes,
        layout: &Layout,
        buffer: u64,
    ) -> Result<Vec<u8>, LaunchFailure> {
        let mut bytes = self.kernarg.clone();
        let set = probes.set_argument(&mut bytes, layout, buffer);
        set.map_err(|error| self.counters(error.to_string()))?;
        Ok(bytes)
    }

    /// A report without counters: of a kernel that has no site, was refused, or was not selected.
    ///
    /// # Errors
    /// There is no such kernel.
    pub(crate) fn empty_report(
        &self,
        probes: Option<&KernelProbes>,
    ) -> Result<report::Report, LaunchFailure> {
        let demangled = self.demangled();
        let lanes = amdinst_core::lanes(self.built.wave_size(self.kernel)?);
        let launch = probes.map(|probes| report::Launch {
            probes,
            demangled: demangled.as_deref(),
            target: &self.built.probes.target,
            grid: self.grid,
            block: self.block,
            records: &[],
            seconds: None,
        });
        let report = launch.and_then(|launch| report::Report::new(&launch).ok());
        let report = report.unwrap_or_else(|| report::Report {
            schema: SCHEMA,
            kernel: self.kernel.to_owned(),
            demangled: demangled.clone(),
            target: self.built.probes.target.clone(),
            probe: amdinst_core::counters::Probe::Branches,
            lanes,
            counter_storage: "none".to_owned(),
            grid: self.grid,
            block: self.block,
            waves: Layout::new(self.grid, self.block, 0).with_lanes(lanes).waves(),
            unfinished: Vec::new(),
            memory_equal: None,
            oracle_equal: None,
            blocks: Vec::new(),
            time: None,
            sites: Vec::new(),
            probes: Vec::new(),
            sites_not_selected: Vec::new(),
            uniform: Vec::new(),
            not_instrumented: None,
            // A map with others and without this one is of a build that named kernels.
            not_selected: !self.built.probes.kernels.is_empty(),
            refusals: if self.built.probes.kernels.is_empty() {
                vec!["it ran as it was compiled, without counters".to_owned()]
            } else {
                Vec::new()
            },
        });
        Ok(report)
    }

    /// The kernel's name as the source has it, if it is mangled.
    pub(crate) fn demangled(&self) -> Option<String> {
        names::demangled(self.kernel)
    }

    /// Whether the code object has a variable.
    pub(crate) fn has_variable(&self, name: &str) -> bool {
        self.built.original.variables.iter().any(|variable| variable.name == name)
    }

    /// What the panics of this launch have said, as their buffer has it.
    pub(crate) fn panics(&self, lines: &Printed) -> Vec<Panic> {
        let lanes = self.built.wave_size(self.kernel).map_or(0, WaveSize::lanes);
        Panic::all(lines, self.block, lanes)
    }

    /// A counter buffer that cannot be read.
    pub(crate) fn counters(&self, message: String) -> LaunchFailure {
        LaunchFailure::Counters { kernel: self.kernel.to_owned(), message }
    }
}

/// The explicit arguments at the offsets that the code object's note gives them.
///
/// # Errors
/// The test was compiled with another kernel: other arguments, or other sizes.
pub(crate) fn kernarg(
    built: &Built,
    kernel: &str,
    arguments: &[Vec<u8>],
    parameters: &[String],
) -> Result<Vec<u8>, LaunchFailure> {
    let found = built.kernel(kernel)?;
    let explicit: Vec<&KernelArg> = found.metadata.args.iter().filter(|arg| !arg.is_hidden()).collect();
    let stale = |what: String| LaunchFailure::Stale {
        kernel: kernel.to_owned(),
        package: built.package.clone(),
        what,
    };
    if explicit.len() != arguments.len() {
        let (there, here) = (explicit.len(), arguments.len());
        return Err(stale(format!("it takes {there} arguments there and {here} here")));
    }
    let mut bytes = Vec::new();
    for (number, (argument, value)) in (1..).zip(explicit.iter().zip(arguments)) {
        if argument.size as usize != value.len() {
            let (there, here) = (argument.size, value.len());
            let of = parameters.get(number - 1).map(|name| format!(" (`{name}`)")).unwrap_or_default();
            return Err(stale(format!("argument {number}{of} has {there} bytes there and {here} here")));
        }
        let start = argument.offset as usize;
        bytes.resize(bytes.len().max(start + value.len()), 0);
        bytes[start..start + value.len()].copy_from_slice(value);
    }
    Ok(bytes)
}
