//! Which of the sites are counted, where the options do not ask for all.

use std::collections::BTreeSet;

use super::Planner;
use super::places::KernelPlaces;
use crate::instrument::find::formatting::formats_text;
use crate::instrument::find::points::{Stretch, What};
use crate::instrument::find::select::{self, Stock};
use crate::instrument::find::sources::Sources;
use crate::instrument::options::{Options, Probe, ProbeSpec};
use crate::instrument::selector::SiteSelector;
use amdinst_format::probes::{ProbeOutcome, ProbeResult};

impl Planner<'_> {
    /// Keeps the points that the options ask for, and notes what selects nothing.
    ///
    /// A function's site is kept if it is selected as part of any of the chosen kernels: they share its code.
    pub(super) fn select(&mut self, sources: &Sources) {
        let only = &self.options.only;
        if only.is_empty() {
            if self.options.skips_formatting {
                let functions = &self.survey.program.functions;
                self.points.retain(|function, _| !formats_text(&functions[function].name));
            }
            return;
        }
        if self.options.probe == Probe::Blocks {
            return self.select_blocks(sources);
        }
        let mut kept: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut matched = vec![false; only.len()];
        let mut stock = Stock::default();
        for &kernel in self.refusals.keys() {
            let owners: Vec<(usize, usize)> = self.survey.reachable[kernel]
                .iter()
                .flat_map(|&function| self.points.of(function).iter().map(move |point| (function, point)))
                .filter_map(|(function, point)| Some((function, point.site()?)))
                .collect();
            let mut places = KernelPlaces::new(sources);
            let mut sites: Vec<_> =
                owners.iter().map(|&(function, site)| self.site(function, site, &mut places)).collect();
            let mut uniform = self.uniform(kernel, &mut places);
            stock.probes.extend(self.assigned(kernel, &mut sites, &mut uniform, &places));
            let places = places.finish();
            for (owner, site) in owners.into_iter().zip(&sites) {
                let frames = places.frames(site.place);
                for (selector, matched) in only.iter().zip(&mut matched) {
                    let selects = match selector {
                        SiteSelector::Probe(name) => site.name.as_ref() == Some(name),
                        SiteSelector::Lines(lines) => lines.contain(&frames),
                    };
                    if selects {
                        *matched = true;
                        kept.insert(owner);
                    }
                }
                stock.sites.push(frames);
            }
            stock.uniform.extend(uniform.iter().map(|branch| places.frames(branch.place)));
        }
        let missing = only.iter().zip(matched).filter(|(_, matched)| !matched);
        self.unmatched = missing.map(|(selector, _)| stock.missing(selector)).collect();
        self.points
            .retain(|function, point| point.site().is_some_and(|site| kept.contains(&(function, site))));
    }

    /// Selects blocks: those with an instruction at the lines, or in the construct of the probe, that are
    /// asked for.
    fn select_blocks(&mut self, sources: &Sources) {
        let Options { only, probes, .. } = self.options;
        let insts = &self.survey.program.insts;
        let mut kept: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut matched = vec![false; only.len()];
        // A probe that selects nothing has no code.
        let removed = |probe: &ProbeSpec| ProbeOutcome { probe: probe.clone(), result: ProbeResult::Removed };
        let mut stock =
            Stock { blocks: true, probes: probes.iter().map(removed).collect(), ..Stock::default() };
        let reached: BTreeSet<usize> =
            self.refusals.keys().flat_map(|&kernel| self.survey.reachable[kernel].iter().copied()).collect();
        for function in reached {
            for point in self.points.of(function) {
                let What::Block(Stretch { insts: (first, end), .. }) = point.what else { continue };
                let chains: Vec<_> =
                    insts[first..end].iter().map(|located| sources.frames(located.pc)).collect();
                for (selector, matched) in only.iter().zip(&mut matched) {
                    let selector = std::slice::from_ref(selector);
                    if chains.iter().any(|frames| select::concerns(selector, probes, frames)) {
                        *matched = true;
                        kept.insert((function, point.inst));
                    }
                }
                stock.sites.extend(chains);
            }
        }
        let missing = only.iter().zip(matched).filter(|(_, matched)| !matched);
        self.unmatched = missing.map(|(selector, _)| stock.missing(selector)).collect();
        self.points.retain(|function, point| kept.contains(&(function, point.inst)));
    }

    /// The sites of a kernel, and of what it may call, that are not counted by choice: (function, site).
    pub(super) fn left_out(&self, kernel: usize) -> impl Iterator<Item = (usize, usize)> {
        let Options { probe, only, skips_formatting, .. } = self.options;
        let chooses = |function: usize| {
            let formats = || formats_text(&self.survey.program.functions[function].name);
            *probe == Probe::Branches && (!only.is_empty() || *skips_formatting && formats())
        };
        let counted = |function: usize, site: usize| {
            self.points.of(function).iter().any(|point| point.what == What::Site(site))
        };
        let sites_of =
            |function: usize| (0..self.survey.masks[function].sites.len()).map(move |site| (function, site));
        let functions = self.survey.reachable[kernel].iter().copied();
        let all = functions.filter(move |&function| chooses(function)).flat_map(sites_of);
        all.filter(move |&(function, site)| !counted(function, site))
    }
}
