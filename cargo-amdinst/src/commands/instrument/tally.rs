//! What is told when code objects have been instrumented.

use std::fmt::Display;

use amdinst_core::instrument::{KernelProbes, Probe};
use amdinst_core::report;
use amdinst_text::count;

use crate::context::Context;
use crate::exit::Exit;
use crate::instrumenting::measured;
use crate::shell::Verbosity;

/// Most warnings of a kind, unless `--verbose` asks for all. Libraries have thousands of kernels.
const MOST: usize = 10;

/// What was done with kernels, and what was not.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// What is measured, once there is a kernel.
    probe: Option<Probe>,
    kernels: usize,
    instrumented: usize,
    sites: usize,
    blocks: usize,
    /// Kernels of which fewer waves fit than before, and why.
    losses: Vec<String>,
    refusals: Vec<String>,
}

impl Tally {
    /// Counts in kernels.
    pub(super) fn add(&mut self, kernels: &[KernelProbes]) {
        for kernel in kernels {
            self.probe.get_or_insert(kernel.probe);
            self.kernels += 1;
            if kernel.is_instrumented() {
                self.instrumented += 1;
                self.sites += kernel.sites.len();
                self.blocks += kernel.blocks.len();
                let loss = kernel.cost.occupancy.loss();
                self.losses.extend(loss.map(|loss| format!("{}: {loss}", kernel.name)));
            }
            self.refusals.extend(
                kernel
                    .refusals
                    .iter()
                    .map(|refusal| format!("refused in {}: {}", kernel.name, report::refusal_text(refusal))),
            );
        }
    }

    /// Counts in what another has, behind its own.
    pub(super) fn append(&mut self, other: Self) {
        self.probe = self.probe.or(other.probe);
        self.kernels += other.kernels;
        self.instrumented += other.instrumented;
        self.sites += other.sites;
        self.blocks += other.blocks;
        self.losses.extend(other.losses);
        self.refusals.extend(other.refusals);
    }

    /// Says it, with what was written.
    pub(super) fn tell(self, context: &Context, wrote: impl Display) -> Exit {
        let shell = &context.shell;
        let measured = measured(self.probe.unwrap_or(Probe::Branches), self.sites, self.blocks);
        let kernels = count(self.kernels, "kernel");
        shell.status("Instrumented", format_args!("{} of {kernels}, {measured}", self.instrumented));
        shell.status("Wrote", wrote);
        let is_verbose = shell.verbosity() >= Verbosity::Verbose;
        for warning in shown(self.losses, is_verbose, "of which fewer waves fit") {
            shell.warn(warning);
        }
        let exit = if self.refusals.is_empty() { Exit::Success } else { Exit::SomeRefused };
        for warning in shown(self.refusals, is_verbose, "refused") {
            shell.warn(warning);
        }
        exit
    }
}

/// The first warnings, and how many more there are of what kind; or all of them.
fn shown(mut warnings: Vec<String>, all: bool, what: &str) -> Vec<String> {
    if !all && let Some(more @ 1..) = warnings.len().checked_sub(MOST) {
        warnings.truncate(MOST);
        warnings.push(format!("{more} more like these, {what}: --verbose shows all"));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_warnings_are_counted() {
        let warnings = |number: usize| (0..number).map(|number| number.to_string()).collect::<Vec<_>>();
        assert_eq!(shown(warnings(MOST), false, "refused"), warnings(MOST));
        assert_eq!(shown(warnings(MOST + 2), true, "refused"), warnings(MOST + 2));
        let cut = shown(warnings(MOST + 2), false, "refused");
        assert_eq!(cut[..MOST], warnings(MOST));
        assert_eq!(cut[MOST..], ["2 more like these, refused: --verbose shows all"]);
    }
}
