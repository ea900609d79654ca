//! What is the same in every scheme of a group of kernels.
//!
//! The points, what is live at them, and the registers that they leave are found once per group, and not for
//! each scheme that is tried.
//!
//! A shared function has the same places in the records of all kernels. Those that most kernels call come
//! first, so that a kernel which calls few of them has room for few: see [`Prepared::room`]. Before them are
//! those of *far* functions, whose counters are in memory while those of all others are in registers: so the
//! places of a record are alike up to there.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use amdgpu_object::KernelDescriptor;

use super::Planner;
use super::groups::KernelGroup;
use crate::instrument::find::points::Point;
use crate::instrument::registers::component::{Component, Limits};
use crate::instrument::registers::needs::Counted;

/// The points of a group, and what registers there are.
pub(super) struct Prepared<'a> {
    /// With the function that each stands in: those of shared functions, then those of each kernel.
    points: Vec<(usize, Point)>,
    /// How many of these stand in shared functions.
    shared: usize,
    /// How many of those stand in far ones.
    pub(super) far: usize,
    /// By kernel: how many of the shared ones its records have room for, which is all up to the last that it
    /// can reach, and all far ones.
    room: BTreeMap<usize, usize>,
    /// Points of a record that has room for those of any kernel of the group.
    pub(super) total: usize,
    /// By point.
    pub(super) counted: Vec<Counted>,
    pub(super) component: Component<'a>,
}

impl Prepared<'_> {
    /// With the function that each stands in.
    pub(super) fn points(&self) -> &[(usize, Point)] {
        &self.points
    }

    /// Points of shared functions for which a kernel's records have room: all up to the last that it can
    /// reach.
    pub(super) fn room(&self, kernel: usize) -> &[(usize, Point)] {
        &self.points[..self.room.get(&kernel).copied().unwrap_or(self.shared)]
    }

    /// By point: where its counters are in a record. Points of shared functions come first, then a kernel's
    /// own.
    pub(super) fn ids(&self) -> Vec<usize> {
        let mut ids: Vec<usize> = (0..self.shared).collect();
        for own in self.points[self.shared..].chunk_by(|(one, _), (other, _)| one == other) {
            ids.extend((self.room(own[0].0).len()..).take(own.len()));
        }
        ids
    }
}

impl<'a> Planner<'a> {
    /// What is the same in every scheme in which the counters of `far` functions, of those that the group
    /// shares, are in memory.
    pub(super) fn prepare(&self, group: &KernelGroup, far: &BTreeSet<usize>) -> Prepared<'a> {
        let arch = self.object.target.arch;
        let points_of =
            |&function: &usize| self.points.of(function).iter().map(move |&point| (function, point));
        let reaches = |kernel: usize, function: usize| self.survey.reachable[kernel].contains(&function);
        let mut functions: Vec<usize> = group.shared.iter().copied().collect();
        functions.sort_by_key(|&function| {
            (!far.contains(&function), Reverse(self.callers(group, function)), function)
        });
        let mut points: Vec<(usize, Point)> = functions.iter().flat_map(points_of).collect();
        let shared = points.len();
        let far = points.iter().take_while(|(function, _)| far.contains(function)).count();
        let room = |kernel| {
            let last = points.iter().rposition(|&(function, _)| reaches(kernel, function));
            last.map_or(0, |last| last + 1).max(far)
        };
        let room: BTreeMap<usize, usize> =
            group.kernels.iter().map(|&kernel| (kernel, room(kernel))).collect();
        let total = room.iter().map(|(&kernel, room)| room + self.points.of(kernel).len()).max().unwrap_or(0);
        points.extend(group.kernels.iter().flat_map(points_of));
        let descriptors = || group.kernels.iter().map(|&kernel| &self.kernel(kernel).descriptor);
        let vgprs = |descriptor: &KernelDescriptor| descriptor.vector_registers(arch).vgprs;
        let limits = Limits {
            allotted_vgprs: descriptors().map(vgprs).min().unwrap_or(0),
            most_vgprs: descriptors().map(vgprs).max().unwrap_or(0),
            most_sgprs: descriptors().map(|descriptor| descriptor.sgpr_count(arch)).max().unwrap_or(0),
            spare_vgprs: self.options.spare_vgprs,
            spare_sgprs: self.options.spare_sgprs,
        };
        let counted = |&(function, point): &(usize, Point)| Counted::at(self.survey, function, point);
        let counted = points.iter().map(counted).collect();
        let component = Component::new(self.survey, limits, &group.functions, &points);
        Prepared { points, shared, far, room, total, counted, component }
    }
}
