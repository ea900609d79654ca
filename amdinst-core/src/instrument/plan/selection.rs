//! Which of the sites are counted, where the options do not ask for all.

use std::collections::BTreeSet;

use super::Planner;
use crate::instrument::points::{Point, What};
use crate::instrument::select::{SiteSelector, Stock};
use crate::instrument::sources::Sources;

impl Planner<'_> {
    /// Keeps the points that the options ask for, and notes what selects nothing.
    ///
    /// A function's site is kept if it is selected as part of any of the chosen kernels: they share its code.
    pub(super) fn select(&mut self, sources: &Sources) {
        let only = &self.options.only;
        if only.is_empty() {
            return;
        }
        let mut kept: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut matched = vec![false; only.len()];
        let mut stock = Stock::default();
        for &kernel in self.refusals.keys() {
            let owners: Vec<(usize, usize)> = self.survey.reachable[kernel]
                .iter()
                .flat_map(|&function| self.points.of(function).iter().map(move |point| (function, point)))
                .map(|(function, Point { what: What::Site(site), .. })| (function, *site))
                .collect();
            let mut sites: Vec<_> =
                owners.iter().map(|&(function, site)| self.site(function, site, sources)).collect();
            let mut uniform = self.uniform(kernel, sources);
            stock.probes.extend(self.assigned(kernel, &mut sites, &mut uniform, sources));
            for (owner, site) in owners.into_iter().zip(&sites) {
                for (selector, matched) in only.iter().zip(&mut matched) {
                    let selects = match selector {
                        SiteSelector::Probe(name) => site.name.as_ref() == Some(name),
                        SiteSelector::Lines(lines) => lines.contain(&site.frames),
                    };
                    if selects {
                        *matched = true;
                        kept.insert(owner);
                    }
                }
            }
            stock.sites.extend(sites.into_iter().map(|site| site.frames));
            stock.uniform.extend(uniform.into_iter().map(|branch| branch.frames));
        }
        let missing = only.iter().zip(matched).filter(|(_, matched)| !matched);
        self.unmatched = missing.map(|(selector, _)| stock.missing(selector)).collect();
        self.points
            .retain(|function, Point { what: What::Site(site), .. }| kept.contains(&(function, *site)));
    }

    /// The sites of a kernel, and of what it may call, that are not counted by choice: (function, site).
    pub(super) fn left_out(&self, kernel: usize) -> impl Iterator<Item = (usize, usize)> {
        let counted = |function: usize, site: usize| {
            self.points.of(function).iter().any(|point| point.what == What::Site(site))
        };
        let sites_of = |&function: &usize| {
            (0..self.survey.masks[function].sites.len()).map(move |site| (function, site))
        };
        let all = self.survey.reachable[kernel].iter().flat_map(sites_of);
        all.filter(move |&(function, site)| !self.options.only.is_empty() && !counted(function, site))
    }
}
