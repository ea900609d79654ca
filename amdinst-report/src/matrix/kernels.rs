//! What each kernel takes, and how it diverged, in each column of a matrix.

use std::collections::BTreeMap;

use amdinst_text::count;
use serde::Serialize;

use crate::summary::{KernelSummary, Summary};

/// What a cell's text says, for people.
pub const LEGEND: &str =
    "(w: waves that a SIMD holds, v: VGPRs, B: bytes of scratch memory; branches that diverged of all)";

/// A kernel in all columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelRow {
    /// The cargo package.
    pub package: String,
    /// The kernel.
    pub name: String,
    /// `None` where it was not launched.
    pub cells: Vec<Option<KernelCell>>,
}

/// A kernel in one column. Resources are those without counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct KernelCell {
    /// Launches that ended well.
    pub launches: u64,
    /// VGPRs, those for accumulation included where they share the file.
    pub vgprs: u32,
    /// SGPRs.
    pub sgprs: u32,
    /// Static LDS in bytes a workgroup.
    pub lds: u32,
    /// Private memory in bytes a work-item.
    pub scratch: u32,
    /// Waves that a SIMD can hold; 0 where resources are not known.
    pub occupancy: u32,
    /// Branches that were counted.
    pub branches: u64,
    /// Those of them that diverged.
    pub diverged: u64,
    /// Lanes that stood idle because of them.
    pub lanes_lost: u64,
    /// Lanes lost, of those that came to the branches, in per cent.
    pub lost_percent: f64,
    /// Launches that a mistake of the kernel ended.
    pub faults: u64,
    /// Modeled cycles a launch, if launches were modeled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<f64>,
}

impl KernelCell {
    /// Without a launch that ended well, no figure is known.
    fn of_faults(faults: u64) -> Self {
        Self { faults, ..Self::default() }
    }

    fn of(kernel: &KernelSummary, faults: u64) -> Self {
        let [vgprs, sgprs, lds, scratch, occupancy] = kernel.resources.map_or([0; 5], |resources| {
            [resources.vgprs, resources.sgprs, resources.lds, resources.scratch, resources.occupancy]
                .map(|[without, _]| without)
        });
        let lanes_lost = kernel.branches.iter().map(|branch| branch.lost.lanes).sum();
        let active: u64 = kernel.branches.iter().map(|branch| branch.counts.lanes_taken).sum();
        Self {
            launches: kernel.launches,
            vgprs,
            sgprs,
            lds,
            scratch,
            occupancy,
            branches: kernel.branches.len() as u64,
            diverged: kernel.branches.iter().filter(|branch| branch.counts.diverged > 0).count() as u64,
            lanes_lost,
            lost_percent: 100.0 * lanes_lost as f64 / (lanes_lost + active).max(1) as f64,
            faults,
            cycles: kernel.modelled.as_ref().map(crate::summary::ModelledTime::cycles_a_launch),
        }
    }

    /// Whether a launch of it ended well.
    pub fn has_run(&self) -> bool {
        self.launches > 0
    }

    /// Whether its figures are known.
    pub fn has_figures(&self) -> bool {
        self.has_run() && self.occupancy > 0
    }

    /// For people: `16w 24v 1/3`, with bytes of scratch memory if it has some; `ran` where no more is known.
    pub fn text(&self) -> String {
        if !self.has_run() {
            return "fault".to_owned();
        }
        if !self.has_figures() {
            return "ran".to_owned();
        }
        let Self { occupancy, vgprs, scratch, branches, diverged, .. } = self;
        let scratch = if *scratch > 0 { format!(" {scratch}B") } else { String::new() };
        let cycles = self.cycles.map(|cycles| format!(" {cycles:.0} cycles")).unwrap_or_default();
        format!("{occupancy}w {vgprs}v{scratch} {diverged}/{branches}{cycles}")
    }

    /// Everything, a figure a line.
    pub fn told(&self) -> String {
        if !self.has_run() {
            return count(self.faults, "launch") + " ended in a fault";
        }
        if !self.has_figures() {
            return count(self.launches, "launch");
        }
        let Self {
            vgprs, sgprs, lds, scratch, occupancy, branches, diverged, lanes_lost, lost_percent, ..
        } = self;
        let cycles = self.cycles.map(|cycles| format!("\n{cycles:.0} cycles a launch")).unwrap_or_default();
        format!(
            "{occupancy} waves a SIMD\n{vgprs} VGPRs, {sgprs} SGPRs\n{lds} bytes of LDS, {scratch} of scratch memory\n\
             {diverged} of {branches} branches diverged\n{lanes_lost} lanes lost ({lost_percent:.1} %){cycles}"
        )
    }
}

/// What stands in a table for a kernel in a column.
pub(super) fn text_of(cell: &Option<KernelCell>) -> String {
    cell.as_ref().map_or_else(|| "–".to_owned(), KernelCell::text)
}

/// The kernels of a package's columns, by name; `None` for a column without a run.
pub fn rows(package: &str, columns: &[Option<&Summary>]) -> Vec<KernelRow> {
    let mut rows = BTreeMap::<&str, Vec<Option<KernelCell>>>::new();
    let none = || vec![None; columns.len()];
    for (column, summary) in columns.iter().enumerate() {
        let Some(summary) = summary else { continue };
        let mut faults = BTreeMap::<&str, u64>::new();
        summary.unexpected_faults().for_each(|fault| *faults.entry(&fault.fault.kernel).or_default() += 1);
        for kernel in summary.kernels.iter().filter(|kernel| kernel.launches > 0) {
            let faults = faults.remove(&*kernel.name).unwrap_or_default();
            rows.entry(&kernel.name).or_insert_with(none)[column] = Some(KernelCell::of(kernel, faults));
        }
        for (kernel, faults) in faults {
            rows.entry(kernel).or_insert_with(none)[column] = Some(KernelCell::of_faults(faults));
        }
    }
    let row =
        |(name, cells): (&str, _)| KernelRow { package: package.to_owned(), name: name.to_owned(), cells };
    rows.into_iter().map(row).collect()
}
