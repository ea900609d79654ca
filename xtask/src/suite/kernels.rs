//! The kernel tests: for which processors and at which levels of optimization they are compiled, and where their counters live.
//!
//! A push tries each level and each processor, but not each with each: compiling `core` and the kernels for one more pair takes longer
//! than all of their tests. `--every-level` tries them all, as nights do.

use std::path::Path;

use super::step::{Counting, Step};

/// Cargo profiles, one a level of optimization.
const PROFILES: [&str; 5] = ["kernel-o0", "kernel-o1", "kernel-o2", "kernel-o3", "kernel-os"];

/// All packages with kernels but the one that tries the language.
const WITHOUT_FEATURES: [&str; 3] = ["--workspace", "--exclude", "features"];

/// Where counters live.
pub(super) const HOMES: [&str; 3] = ["register", "lds", "global"];

/// What each processor is tried as.
const PROCESSORS: [Processor; 5] = [
    Processor {
        cpu: "gfx90a",
        lanes: None,
        profiles: &["kernel-o0", "kernel-o3"],
        features: true,
        homes: &HOMES,
    },
    Processor {
        cpu: "gfx1100",
        lanes: Some("32"),
        profiles: &["kernel-o2"],
        features: true,
        homes: &["auto"],
    },
    Processor {
        cpu: "gfx1151",
        lanes: Some("64"),
        profiles: &["kernel-os"],
        features: false,
        homes: &["auto"],
    },
    Processor {
        cpu: "gfx1201",
        lanes: Some("32"),
        profiles: &["kernel-o0"],
        features: false,
        homes: &["auto"],
    },
    Processor {
        cpu: "gfx1201",
        lanes: Some("64"),
        profiles: &["kernel-o1"],
        features: false,
        homes: &["auto"],
    },
];

/// A processor, or waves of one size of it.
struct Processor {
    cpu: &'static str,
    /// Lanes of a wave, where it has two sizes.
    lanes: Option<&'static str>,
    /// Cargo profiles, unless each is to be tried.
    profiles: &'static [&'static str],
    /// Whether the language is tried at these as well, which takes long to compile.
    features: bool,
    /// Where counters live.
    homes: &'static [&'static str],
}

/// Kernels as they are compiled once, for all of their tests.
pub(super) struct Compiled {
    processor: &'static Processor,
    profile: &'static str,
}

/// All that is compiled: each level on each processor, or each of both at least once.
pub(super) fn compiled(every_level: bool) -> Vec<Compiled> {
    let of = |processor: &'static Processor| {
        let profiles = if every_level { &PROFILES } else { processor.profiles };
        profiles.iter().map(move |&profile| Compiled { processor, profile })
    };
    PROCESSORS.iter().flat_map(of).collect()
}

impl Compiled {
    fn name(&self) -> String {
        let Processor { cpu, lanes, .. } = self.processor;
        let lanes = lanes.map_or_else(String::new, |lanes| format!(" wave{lanes}"));
        format!("kernels {cpu}{lanes} {}", self.profile)
    }

    fn tries_features(&self) -> bool {
        self.processor.features && self.processor.profiles.contains(&self.profile)
    }

    /// What `cargo amdinst` is told of it, with or without the package that tries the language.
    fn args(&self, features: bool) -> Vec<String> {
        let mut args = vec!["--profile", self.profile, "--target-cpu", self.processor.cpu];
        args.extend(self.processor.lanes.into_iter().flat_map(|lanes| ["--wave-size", lanes]));
        if !features {
            args.extend(WITHOUT_FEATURES);
        }
        args.into_iter().map(str::to_owned).collect()
    }

    /// Compiles the kernels.
    pub(super) fn build(&self) -> Step {
        let mut step = Step::new(&format!("{} build", self.name()), Counting::One, ["amdinst", "build"]);
        step.args.extend(self.args(self.tries_features()));
        step
    }

    /// Tests them, once for each place of counters.
    pub(super) fn tests(&self, junit: &Path) -> impl Iterator<Item = Step> {
        self.processor.homes.iter().enumerate().map(move |(number, home)| {
            let name = format!("{} {home}", self.name());
            let args = ["amdinst", "test", "--device", "emu", "--counters", home];
            let mut step = Step::new(&name, Counting::Tests, args).writing_junit(junit);
            // Features of the language count alike wherever counters live.
            step.args.extend(self.args(self.tries_features() && number == 0));
            step
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_push_tries_each_level_and_each_processor() {
        let pushed: BTreeSet<_> = compiled(false).iter().map(|kernels| kernels.profile).collect();
        assert_eq!(pushed, BTreeSet::from(PROFILES));
        let names = |every_level| compiled(every_level).iter().map(Compiled::name).collect::<BTreeSet<_>>();
        assert!(PROCESSORS.iter().all(|processor| !processor.profiles.is_empty()));
        assert!(names(false).is_subset(&names(true)));
        assert_eq!(names(true).len(), PROCESSORS.len() * PROFILES.len());
    }
}
