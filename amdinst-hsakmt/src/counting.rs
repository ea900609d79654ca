//! Launches of instrumented kernels: a counter buffer for each, and what they counted, by kernel.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use amdinst_core::counters::{self, Layout};
use amdinst_core::instrument::KernelProbes;
use amdinst_core::names;
use amdinst_core::report::{self, Report};

use crate::objects::Object;
use crate::tell::tell;

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Workgroups.
    pub(crate) grid: [u32; 3],
    /// Work-items of a workgroup.
    pub(crate) block: [u32; 3],
}

impl Shape {
    /// The shape of the launch that a dispatch packet asks for, from the packet's words.
    pub(crate) fn of_packet(words: [u64; 3]) -> Self {
        let half = |word: u64, at: u32| (word >> at) as u16;
        let block = [half(words[0], 32), half(words[0], 48), half(words[1], 0)].map(u32::from);
        let items = [(words[1] >> 32) as u32, words[2] as u32, (words[2] >> 32) as u32];
        // No size is zero in a packet that runs.
        Self { grid: std::array::from_fn(|axis| items[axis].div_ceil(block[axis].max(1))), block }
    }
}

/// A kernel that counts, as it is loaded.
#[derive(Debug)]
pub(crate) struct Counted {
    object: Arc<Object>,
    kernel: String,
    /// Address of the variable that says where the counter buffer is.
    pub(crate) variable: u64,
    /// LDS bytes that it needs and that the packet does not ask for: HIP takes what it knows of a kernel from
    /// the code object as the program has it.
    pub(crate) more_lds: u32,
}

impl Counted {
    pub(crate) fn new(object: Arc<Object>, kernel: &str, variable: u64) -> Option<Self> {
        object.probes(kernel).is_some_and(KernelProbes::is_instrumented).then(|| Self {
            more_lds: object.more_lds(kernel),
            object,
            kernel: kernel.to_owned(),
            variable,
        })
    }

    /// How a launch's counter buffer is laid out.
    pub(crate) fn layout(&self, shape: Shape) -> Option<Layout> {
        self.object.probes(&self.kernel).map(|probes| probes.layout(shape.grid, shape.block))
    }

    /// What a launch counted, or why that means nothing.
    pub(crate) fn report(&self, shape: Shape, buffer: &[u8]) -> Result<Report, String> {
        let records = counters::decode(buffer).map_err(|error| error.to_string())?;
        let probes = self.object.probes(&self.kernel).ok_or_else(|| "no probes".to_owned())?;
        let demangled = names::demangled(&self.kernel);
        let launch = report::Launch {
            probes,
            demangled: demangled.as_deref(),
            target: &self.object.target(),
            grid: shape.grid,
            block: shape.block,
            records: &records,
            seconds: None,
        };
        Report::new(&launch).map_err(|error| error.to_string())
    }
}

/// What has been counted, by kernel.
#[derive(Debug, Default)]
pub(crate) struct Reports(Mutex<BTreeMap<String, (u64, Report)>>);

impl Reports {
    /// Add a launch.
    pub(crate) fn add(&self, mut report: Report) {
        // The sums are printed; figures of each wave would grow with every launch.
        report.leave_out_waves();
        let mut reports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match reports.get_mut(&report.kernel) {
            Some((launches, sum)) => {
                *launches += 1;
                sum.add_launch(&report);
            }
            None => drop(reports.insert(report.kernel.clone(), (1, report))),
        }
    }

    /// Print all, kernel by kernel.
    pub(crate) fn print(&self) {
        let reports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if reports.is_empty() {
            tell("no instrumented kernel has been launched");
        }
        for (launches, report) in reports.values() {
            let times = if *launches == 1 { "1 launch" } else { &format!("{launches} launches") };
            let mut text = format!("{times}; {}\n", report.heading());
            // Instances of one template may differ in what a heading has no room for.
            let short = names::short(&report.kernel);
            if reports.keys().filter(|kernel| names::short(kernel) == short).count() > 1 {
                text.extend(["  ", &report.kernel, "\n"]);
            }
            text.push_str(&report.table());
            tell(text.trim_end_matches('\n'));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packets_shape_counts_partial_workgroups() {
        // Workgroups of 64 x 4 x 1, a grid of 130 x 8 x 3 work-items.
        let words = [2 | 64 << 32 | 4 << 48, 1 | 130 << 32, 8 | 3 << 32];
        assert_eq!(Shape::of_packet(words), Shape { grid: [3, 2, 3], block: [64, 4, 1] });
    }
}
