//! What is the same in every scheme of a group of kernels.
//!
//! The points, what is live at them, and the registers that they leave are found once per group, and not for
//! each scheme that is tried.

use amdgpu_isa::Reg;
use amdgpu_object::KernelDescriptor;

use super::Planner;
use super::groups::KernelGroup;
use crate::instrument::allocate::{Component, Limits, scc_tells_new};
use crate::instrument::block_code;
use crate::instrument::layout::CounterPlace;
use crate::instrument::options::Level;
use crate::instrument::points::{Point, What};
use crate::instrument::site_code::{Needs, SiteFacts};

/// The points of a group, and what registers there are.
pub(super) struct Prepared<'a> {
    /// With the function that each stands in: those of shared functions, then those of each kernel.
    pub(super) points: Vec<(usize, Point)>,
    /// How many of these stand in shared functions.
    pub(super) shared: usize,
    /// Points of a record that has room for those of any kernel of the group.
    pub(super) total: usize,
    /// By point.
    pub(super) counted: Vec<Counted>,
    pub(super) component: Component<'a>,
}

/// What the code at a point depends on wherever its counters are.
pub(super) enum Counted {
    Site(SiteFacts),
    Block { scc_is_live: bool },
}

impl Counted {
    /// What the code needs to hold for a moment, with counters in a place like this.
    pub(super) fn needs(&self, place: CounterPlace, level: Level) -> Needs {
        match *self {
            Self::Site(facts) => facts.needs(place, level),
            Self::Block { scc_is_live } => block_code::needs(place, level, scc_is_live),
        }
    }
}

impl<'a> Planner<'a> {
    pub(super) fn prepare(&self, group: &KernelGroup) -> Prepared<'a> {
        let arch = self.object.target.arch;
        let points_of =
            |&function: &usize| self.points.of(function).iter().map(move |&point| (function, point));
        let mut points: Vec<(usize, Point)> = group.shared.iter().flat_map(points_of).collect();
        let shared = points.len();
        points.extend(group.kernels.iter().flat_map(points_of));
        let most_own = group.kernels.iter().map(|&kernel| self.points.of(kernel).len()).max().unwrap_or(0);
        let descriptors = || group.kernels.iter().map(|&kernel| &self.kernel(kernel).descriptor);
        let vgprs = |descriptor: &KernelDescriptor| descriptor.vector_registers(arch).vgprs;
        let limits = Limits {
            allotted_vgprs: descriptors().map(vgprs).min().unwrap_or(0),
            most_vgprs: descriptors().map(vgprs).max().unwrap_or(0),
            most_sgprs: descriptors().map(|descriptor| descriptor.sgpr_count(arch)).max().unwrap_or(0),
            spare_vgprs: self.options.spare_vgprs,
            spare_sgprs: self.options.spare_sgprs,
        };
        let counted = points.iter().map(|&(function, point)| self.counted(function, point)).collect();
        let component = Component::new(self.survey, limits, &group.functions, &points);
        Prepared { points, shared, total: shared + most_own, counted, component }
    }

    fn counted(&self, function: usize, point: Point) -> Counted {
        let survey = self.survey;
        let (before, after) = survey.liveness.around(&survey.program, function, point.block, point.inst);
        match point.what {
            What::Block(_) => Counted::Block { scc_is_live: before.contains(Reg::SCC) },
            What::Site(site) => {
                let found = &survey.masks[function].sites[site];
                Counted::Site(SiteFacts {
                    saved: found.saves_old,
                    scc_is_some: scc_tells_new(survey.program.inst(found.inst), survey.program.wave_size()),
                    scc_is_live: after.contains(Reg::SCC),
                    old_is_nonzero: found.old_is_nonzero,
                })
            }
        }
    }
}
