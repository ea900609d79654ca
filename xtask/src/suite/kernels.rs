//! The kernel tests: for which processors and at which levels of optimization they are compiled, and where their counters live.
//!
//! A push tries each level and each processor, but not each with each: compiling `core` and the kernels for one more pair takes longer
//! than all of their tests. `--every-level` tries them all, as nights do.

use std::path::Path;

use super::step::{Counting, Step};

/// Cargo profiles, one a level of optimization: what the README's commands and the other steps use, and those between.
const PROFILES: [&str; 5] = ["dev", "kernel-o1", "kernel-o2", "release", "kernel-os"];

/// The package that tries the language. By itself: beside it, cargo would turn on for all what it asks of the packages below, and
/// compile the others otherwise than the README's commands do.
const FEATURES: &str = "features";

/// All packages with kernels but that.
const ALL: [&str; 3] = ["--workspace", "--exclude", FEATURES];

/// Where counters live.
pub(super) const HOMES: [&str; 3] = ["register", "lds", "global"];

/// What each processor is tried as.
const PROCESSORS: [Processor; 5] = [
    Processor {
        cpu: "gfx90a",
        lanes: None,
        profiles: &["dev", "release"],
        features: Some("dev"),
        homes: &HOMES,
    },
    Processor {
        cpu: "gfx1100",
        lanes: Some("32"),
        profiles: &["release"],
        features: Some("release"),
        homes: &["auto"],
    },
    Processor {
        cpu: "gfx1151",
        lanes: Some("64"),
        profiles: &["kernel-os"],
        features: None,
        homes: &["auto"],
    },
    Processor {
        cpu: "gfx1201",
        lanes: Some("32"),
        profiles: &["kernel-o2"],
        features: None,
        homes: &["auto"],
    },
    Processor {
        cpu: "gfx1201",
        lanes: Some("64"),
        profiles: &["kernel-o1"],
        features: None,
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
    /// At which of these the language is tried as well, which takes long to compile.
    features: Option<&'static str>,
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

    /// `cargo amdinst COMMAND` for them.
    fn step(&self, what: &str, counting: Counting, command: &[&str], packages: &[&str]) -> Step {
        let mut step = Step::new(&format!("{} {what}", self.name()), counting, ["amdinst"]);
        let processor = ["--profile", self.profile, "--target-cpu", self.processor.cpu];
        let lanes = self.processor.lanes.into_iter().flat_map(|lanes| ["--wave-size", lanes]);
        let args = command.iter().chain(&processor).copied().chain(lanes).chain(packages.iter().copied());
        step.args.extend(args.map(str::to_owned));
        step
    }

    /// Compiles the kernels.
    pub(super) fn build(&self) -> Step {
        self.step("build", Counting::One, &["build"], &ALL)
    }

    /// Tests them, once for each place of counters; and the language once, for it counts alike wherever counters live.
    pub(super) fn tests(&self, junit: &Path) -> impl Iterator<Item = Step> {
        let test = |what, counters, packages: &[&str]| {
            let command = ["test", "--device", "emu", "--counters", counters];
            self.step(what, Counting::Tests, &command, packages).writing_junit(junit)
        };
        let homes = self.processor.homes.iter().map(move |&home| test(home, home, &ALL));
        let language = self.processor.features == Some(self.profile);
        homes.chain(language.then(|| test(FEATURES, self.processor.homes[0], &["-p", FEATURES])))
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
