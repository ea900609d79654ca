//! What `bench seed` finds: its JSON form, and what is told from it.

use amdinst_emu::timing::Model;
use serde::{Deserialize, Serialize};

/// Version of the JSON form.
pub(super) const SCHEMA: u32 = 2;

/// The whole table. Every figure is modelled, except those called measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SeedView {
    pub(super) schema: u32,
    /// The device that was modelled.
    pub(super) device: String,
    /// How large the inputs were: `full` or `quick`.
    pub(super) sizes: String,
    pub(super) kernels: Vec<KernelFigures>,
    /// Geometric means of the slowdowns.
    pub(super) means: Columns,
    /// The largest of the slowdowns.
    pub(super) worst: Columns,
}

/// One kernel. Cycles are a wave's mean residency, in the launch that stands for its program: the first,
/// which finds all caches empty, or one that finds L2 and the instruction caches as one before left them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct KernelFigures {
    pub(super) kernel: String,
    pub(super) workgroups: u64,
    pub(super) waves: u64,
    /// The program launches it many times, and not once.
    pub(super) repeated: bool,
    pub(super) baseline: HomeView,
    pub(super) register: HomeView,
    pub(super) lds: HomeView,
    pub(super) global: HomeView,
    /// What these were measured against, their clock alone. Its cycles, and those of the next two, are
    /// between the readings of the clock, and slowdowns by these.
    pub(super) seed_baseline: HomeView,
    /// With the counters of 2022.
    pub(super) seed_lds: HomeView,
    pub(super) seed_global: HomeView,
    /// What was measured in 2022, in cycles, on a GFX9 GPU.
    pub(super) measured: MeasuredView,
}

/// A kernel with its counters in one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct HomeView {
    pub(super) cycles: f64,
    /// `cycles` by the baseline's; with counters of 2022, by theirs.
    pub(super) slowdown: f64,
    pub(super) wave_instructions: u64,
    /// The first launch.
    pub(super) first: LaunchView,
    /// The second.
    pub(super) again: LaunchView,
    /// Waves that a SIMD holds.
    pub(super) waves_per_simd: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LaunchView {
    pub(super) cycles: f64,
    pub(super) slowdown: f64,
    /// Cycles of the whole dispatch.
    pub(super) dispatch: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct MeasuredView {
    pub(super) baseline: u64,
    pub(super) lds: u64,
    pub(super) global: u64,
}

impl SeedView {
    /// The device that was modelled is the one that was measured on.
    pub(super) fn is_comparable(&self) -> bool {
        self.device == Model::Vega10.parameters().name
    }
}

impl MeasuredView {
    /// Slowdowns with counters in LDS and in memory.
    pub(super) fn slowdowns(&self) -> [f64; 2] {
        [self.lds, self.global].map(|cycles| cycles as f64 / self.baseline.max(1) as f64)
    }
}

/// One figure for each column of slowdowns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Columns {
    pub(super) register: f64,
    pub(super) lds: f64,
    pub(super) global: f64,
    pub(super) seed_lds: f64,
    pub(super) seed_global: f64,
    pub(super) measured_lds: f64,
    pub(super) measured_global: f64,
}

impl KernelFigures {
    /// The slowdowns, in the order of [`Columns`].
    pub(super) fn slowdowns(&self) -> [f64; 7] {
        let [lds, global] = self.measured.slowdowns();
        let ours = [&self.register, &self.lds, &self.global, &self.seed_lds, &self.seed_global];
        let [a, b, c, d, e] = ours.map(|home| home.slowdown);
        [a, b, c, d, e, lds, global]
    }

    /// How far the modelled slowdowns of 2022's counters are from those that were measured: LDS, memory.
    pub(super) fn errors(&self) -> [f64; 2] {
        let [lds, global] = self.measured.slowdowns();
        [self.seed_lds.slowdown / lds - 1.0, self.seed_global.slowdown / global - 1.0]
    }

    /// How far the modelled cycles of what these are measured against are from those that were measured.
    pub(super) fn baseline_error(&self) -> f64 {
        self.seed_baseline.cycles / self.measured.baseline.max(1) as f64 - 1.0
    }

    /// Whether both are within 25 %.
    pub(super) fn predicted(&self) -> bool {
        self.errors().iter().all(|error| error.abs() <= 0.25)
    }

    /// Constants of the model were fitted on it.
    pub(super) fn is_fitted(&self) -> bool {
        FITTED.contains(&self.kernel.as_str())
    }
}

/// The kernels that constants of the model may be fitted on. The other six are predictions.
pub(super) const FITTED: [&str; 3] = ["bpnn_adjust_weights", "hotspot", "euclid"];

impl Columns {
    fn of(kernels: &[KernelFigures], fold: impl Fn(&mut dyn Iterator<Item = f64>) -> f64) -> Self {
        let column = |at: usize| fold(&mut kernels.iter().map(|kernel| kernel.slowdowns()[at]));
        Self {
            register: column(0),
            lds: column(1),
            global: column(2),
            seed_lds: column(3),
            seed_global: column(4),
            measured_lds: column(5),
            measured_global: column(6),
        }
    }

    /// The geometric means.
    pub(super) fn means(kernels: &[KernelFigures]) -> Self {
        let count = kernels.len().max(1) as f64;
        Self::of(kernels, |column| (column.map(f64::ln).sum::<f64>() / count).exp())
    }

    /// The largest.
    pub(super) fn worst(kernels: &[KernelFigures]) -> Self {
        Self::of(kernels, |column| column.fold(0.0, f64::max))
    }

    /// In the order of the fields.
    pub(super) const fn all(&self) -> [f64; 7] {
        let Self { register, lds, global, seed_lds, seed_global, measured_lds, measured_global } = *self;
        [register, lds, global, seed_lds, seed_global, measured_lds, measured_global]
    }
}
