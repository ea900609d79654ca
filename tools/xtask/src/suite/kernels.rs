//! The kernel tests: for which processors and at which levels of optimization they are compiled, and where
//! their counters live.
//!
//! A push tries each level and each processor, but not each with each: compiling `core` and the kernels for
//! one more pair takes longer than all of their tests. `--every-level` tries them all, as nights do.

use std::path::Path;

use super::step::{Counting, Step};

/// Cargo profiles, one a level of optimization: what the README's commands and the other steps use, and those
/// between.
const PROFILES: [&str; 5] = ["dev", "kernel-o1", "kernel-o2", "release", "kernel-os"];

/// The package that tries the language. By itself: beside it, cargo would turn on for all what it asks of the
/// packages below, and compile the others otherwise than the README's commands do.
const FEATURES: &str = "features";

/// The package whose panics say why, which asks for other flags of the compiler than all others.
pub(super) const PANICS: &str = "panics";

/// The package whose kernels are wrong on purpose, one of them too large to be built. The guide's commands
/// run its tests.
const PORTABILITY: &str = "portability";

/// All packages with kernels but those.
const ALL: [&str; 7] = ["--workspace", "--exclude", FEATURES, "--exclude", PANICS, "--exclude", PORTABILITY];

/// Where counters live.
pub(super) const HOMES: [&str; 3] = ["register", "lds", "global"];

/// What is tried: processors of each generation, those with two wave sizes as each.
const TARGETS: [Target; 9] = [
    Target { language: Language::AtNight, homes: &HOMES, ..Target::of("gfx90a", None, &["dev", "release"]) },
    Target::of("gfx1030", Some("32"), &[]),
    Target::of("gfx1030", Some("64"), &["kernel-o1"]),
    Target { language: Language::Pushed, ..Target::of("gfx1100", Some("32"), &["release"]) },
    Target::of("gfx1100", Some("64"), &[]),
    Target::of("gfx1151", Some("32"), &[]),
    Target::of("gfx1151", Some("64"), &["kernel-os"]),
    Target::of("gfx1201", Some("32"), &["kernel-o2"]),
    Target::of("gfx1201", Some("64"), &[]),
];

/// A processor, or waves of one size of it.
struct Target {
    cpu: &'static str,
    /// Lanes of a wave, where it has two sizes.
    lanes: Option<&'static str>,
    /// At which cargo profiles a push tries it.
    pushed: &'static [&'static str],
    language: Language,
    /// Where counters live.
    homes: &'static [&'static str],
}

/// When a target tries the language as well, which takes longer to compile than all other kernels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    No,
    AtNight,
    Pushed,
}

impl Target {
    /// Without the language, and with counters where they are by default.
    const fn of(cpu: &'static str, lanes: Option<&'static str>, pushed: &'static [&'static str]) -> Self {
        Self { cpu, lanes, pushed, language: Language::No, homes: &["auto"] }
    }
}

/// Kernels as they are compiled once, for all of their tests.
pub(super) struct Compiled {
    target: &'static Target,
    profile: &'static str,
    /// Whether the language is tried as well.
    features: bool,
}

/// All that is compiled: each level for each target, or each level and each processor at least once.
pub(super) fn compiled(every_level: bool) -> Vec<Compiled> {
    let of = |target: &'static Target| {
        let profiles = if every_level { &PROFILES } else { target.pushed };
        let features = match target.language {
            Language::No => false,
            Language::AtNight => every_level,
            Language::Pushed => true,
        };
        profiles.iter().map(move |&profile| Compiled { target, profile, features })
    };
    TARGETS.iter().flat_map(of).collect()
}

impl Compiled {
    fn name(&self) -> String {
        let Target { cpu, lanes, .. } = self.target;
        let lanes = lanes.map_or_else(String::new, |lanes| format!(" wave{lanes}"));
        format!("kernels {cpu}{lanes} {}", self.profile)
    }

    /// `cargo amdinst COMMAND` for them.
    fn step(&self, what: &str, counting: Counting, command: &[&str], packages: &[&str]) -> Step {
        let mut step = Step::new(&format!("{} {what}", self.name()), counting, ["amdinst"]);
        let processor = ["--profile", self.profile, "--target-cpu", self.target.cpu];
        let lanes = self.target.lanes.into_iter().flat_map(|lanes| ["--wave-size", lanes]);
        let args = command.iter().chain(&processor).copied().chain(lanes).chain(packages.iter().copied());
        step.args.extend(args.map(str::to_owned));
        step
    }

    /// Compiles the kernels.
    pub(super) fn build(&self) -> Step {
        self.step("build", Counting::One, &["build"], &ALL)
    }

    /// Tests them, once for each place of counters; and the language once, for it counts alike wherever
    /// counters live.
    pub(super) fn tests(&self, junit: &Path) -> impl Iterator<Item = Step> {
        let test = |what, counters, packages: &[&str]| {
            let command = ["test", "--device", "emu", "--counters", counters];
            self.step(what, Counting::Tests, &command, packages).writing_junit(junit)
        };
        let homes = self.target.homes.iter().map(move |&home| test(home, home, &ALL));
        homes.chain(self.features.then(|| test(FEATURES, self.target.homes[0], &["-p", FEATURES])))
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
        let processors: BTreeSet<_> = compiled(false).iter().map(|kernels| kernels.target.cpu).collect();
        assert_eq!(processors, TARGETS.iter().map(|target| target.cpu).collect());
        let names = |every_level| compiled(every_level).iter().map(Compiled::name).collect::<BTreeSet<_>>();
        assert!(names(false).is_subset(&names(true)));
        assert_eq!(names(true).len(), TARGETS.len() * PROFILES.len());
    }
}
