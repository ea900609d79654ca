//! The points of a program at which something is counted.

use super::survey::Survey;

/// A point, and what is counted there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    /// Index of the instruction at which code is inserted.
    pub(super) inst: usize,
    /// Its block in its function.
    pub(super) block: usize,
    /// What is counted.
    pub(super) what: What,
}

/// What a point counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The site of this index in its function's masks, right after its instruction.
    Site(usize),
}

impl Point {
    /// A function's site.
    pub(super) fn of_site(survey: &Survey, function: usize, site: usize) -> Self {
        let found = &survey.masks[function].sites[site];
        Self { inst: found.inst, block: found.block, what: What::Site(site) }
    }
}

/// The points of every function, in order of address.
#[derive(Clone, Debug, Default)]
pub(super) struct Points {
    by_function: Vec<Vec<Point>>,
}

impl Points {
    /// Every site of every function.
    pub(super) fn sites(survey: &Survey) -> Self {
        let of = |function: usize| {
            let sites = 0..survey.masks[function].sites.len();
            sites.map(|site| Point::of_site(survey, function, site)).collect()
        };
        Self { by_function: (0..survey.program.functions.len()).map(of).collect() }
    }

    /// Nothing is counted anywhere.
    pub(super) fn none(survey: &Survey) -> Self {
        Self { by_function: vec![Vec::new(); survey.program.functions.len()] }
    }

    /// Keeps the points for which `keep`, given the function and the point, is true.
    pub(super) fn retain(&mut self, keep: impl Fn(usize, &Point) -> bool) {
        for (function, points) in self.by_function.iter_mut().enumerate() {
            points.retain(|point| keep(function, point));
        }
    }

    /// A function's points.
    pub(super) fn of(&self, function: usize) -> &[Point] {
        &self.by_function[function]
    }
}
