//! Whose fault a difference is, or a stop, as far as a machine can tell.
//!
//! A kernel that differs is compiled in other ways: without optimisation, with the other instruction
//! selector, with the compiler's passes up to some number (`-opt-bisect-limit`). Where one of them gives the
//! host's result, the pass is named with which the result becomes wrong. Where none does, generator or
//! emulator err, or the compiler errs in each way. Where there is no host to compare with, a kernel that
//! stops is right in the ways in which it does not. That is no proof that the compiler errs: the generator
//! may have asked for what C does not define.

use std::fmt;

use crate::device::Device;
use crate::program::Program;
use crate::render;
use crate::run;
use crate::target::Target;
use crate::toolchain::Workshop;

/// Other ways to compile a kernel.
const OTHERS: [(&str, &[&str]); 2] = [
    ("at -O0", &["-O0"]),
    ("with GlobalISel", &["-mllvm", "-global-isel", "-mllvm", "-global-isel-abort=2"]),
];

/// Compiler, or generator and emulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The compiler errs: the kernel gives the host's result if it is compiled in `ways`.
    Compiler {
        /// Those ways.
        ways: Vec<&'static str>,
        /// The first pass with which it does not, as the compiler numbers and names it.
        pass: Option<String>,
    },
    /// No other way to compile it is right either.
    Unknown,
    /// It stops, and does not if it is compiled in `ways`.
    Ends {
        /// Those ways.
        ways: Vec<&'static str>,
        /// The first pass with which it stops.
        pass: Option<String>,
    },
    /// It stops in each way.
    Stops,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compiler { ways, pass } => {
                write!(f, "compiler: right {}", ways.join(" and "))?;
                pass.iter().try_for_each(|pass| write!(f, ", wrong from pass {pass}"))
            }
            Self::Unknown => f.write_str("generator or emulator: as wrong in each way to compile it"),
            Self::Ends { ways, pass } => {
                write!(f, "compiler or generator: ends {}", ways.join(" and "))?;
                pass.iter().try_for_each(|pass| write!(f, ", stops from pass {pass}"))
            }
            Self::Stops => f.write_str("generator or emulator: stops in each way to compile it"),
        }
    }
}

/// Tries a program that differs on `target` from the host, or that stops, if there is no host. `None` if it
/// cannot be tried.
pub fn triage(program: &Program, target: &Target, input: &[u8], has_host: bool) -> Option<Verdict> {
    let programs = std::slice::from_ref(program);
    let workshop = Workshop::new(&render::source(programs)).ok()?;
    let host = match has_host {
        true => Some(run::on_the_host(&workshop, target.waves(), programs, input).ok()?),
        false => None,
    };
    let is_right = |flags: &[&str]| {
        let Ok(object) = workshop.device_with(target, flags) else { return false };
        let Ok(mut device) = Device::new(&object, input) else { return false };
        let kernarg = device.kernarg.clone();
        let launched = device.launch(0, program, kernarg, false);
        launched.is_ok_and(|(output, _)| host.as_ref().is_none_or(|host| output == *host))
    };
    let limited = |limit: usize| is_right(&["-mllvm", &format!("-opt-bisect-limit={limit}")]);
    let mut ways: Vec<&str> =
        OTHERS.iter().filter(|(_, flags)| is_right(flags)).map(|(name, _)| *name).collect();
    let passes = workshop.passes(target).unwrap_or_default();
    let pass = first_wrong(passes.len(), limited).map(|number| passes[number - 1].clone());
    if pass.is_some() {
        ways.push("without some passes");
    }
    Some(match (has_host, ways.is_empty()) {
        (true, true) => Verdict::Unknown,
        (true, false) => Verdict::Compiler { ways, pass },
        (false, true) => Verdict::Stops,
        (false, false) => Verdict::Ends { ways, pass },
    })
}

/// How many numbers of passes are tried for one that is right.
const TRIES: usize = 16;

/// The number, from 1, of a pass of so many with which it becomes wrong. It is wrong with all.
fn first_wrong(passes: usize, is_right: impl Fn(usize) -> bool) -> Option<usize> {
    let mut wrong = passes;
    let tries = (0..TRIES).rev().map(|number| passes * number / TRIES);
    let mut right = tries.filter(|limit| *limit < passes).find(|limit| {
        let right = is_right(*limit);
        if !right {
            wrong = *limit;
        }
        right
    })?;
    while wrong - right > 1 {
        let middle = right + (wrong - right) / 2;
        if is_right(middle) {
            right = middle;
        } else {
            wrong = middle;
        }
    }
    Some(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wrong_pass_is_found() {
        for wrong in 1..=140 {
            assert_eq!(first_wrong(140, |limit| limit < wrong), Some(wrong));
        }
        // As wrong with few passes, for another reason.
        assert_eq!(first_wrong(140, |limit| (60..112).contains(&limit)), Some(112));
        assert_eq!(first_wrong(140, |_| false), None);
        assert_eq!(first_wrong(0, |_| false), None);
    }

    /// What stops in no way ends in others; what stops whatever is done is told so.
    #[test]
    fn stops_are_tried_without_a_host() {
        if !crate::toolchain::installed() {
            println!("SKIPPED: clang-22 and ld.lld-22 are missing: apt-get install clang-22 lld-22");
            return;
        }
        let target = Target { arch: amdgpu_isa::Arch::Gfx90a, lanes: 64, level: "-O1" };
        let program = crate::generate::program(1, crate::alone::count(), crate::generate::Calls::Seldom);
        let input = run::input(1);
        let verdict = triage(&program, &target, &input, false);
        assert!(matches!(verdict, Some(Verdict::Ends { .. })), "{verdict:?}");
        // There is no such grid.
        let stopping = Program { grid: 0, ..program };
        assert_eq!(triage(&stopping, &target, &input, false), Some(Verdict::Stops));
    }

    #[test]
    fn verdicts_in_words() {
        let pass = Some("112: dead-mi-elimination on function (k0)".to_owned());
        let verdict = Verdict::Compiler { ways: vec!["at -O0", "with GlobalISel"], pass };
        assert_eq!(
            verdict.to_string(),
            "compiler: right at -O0 and with GlobalISel, wrong from pass 112: dead-mi-elimination on function (k0)"
        );
        assert_eq!(Verdict::Unknown.to_string(), "generator or emulator: as wrong in each way to compile it");
        let ends = Verdict::Ends { ways: vec!["at -O0"], pass: None };
        assert_eq!(ends.to_string(), "compiler or generator: ends at -O0");
        assert_eq!(Verdict::Stops.to_string(), "generator or emulator: stops in each way to compile it");
    }
}
