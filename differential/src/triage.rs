//! Whose fault a difference is, as far as a machine can tell.
//!
//! A kernel that differs is compiled in other ways: without optimisation, with the other instruction selector, with the compiler's passes
//! up to some number (`-opt-bisect-limit`). Where one of them gives the host's result, the pass is named with which the result becomes
//! wrong. Where none does, generator or emulator err, or the compiler errs in each way.

use std::fmt;

use crate::program::Program;
use crate::render;
use crate::run::{self, Device, Target};
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
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compiler { ways, pass } => {
                write!(f, "compiler: right {}", ways.join(" and "))?;
                pass.iter().try_for_each(|pass| write!(f, ", wrong from pass {pass}"))
            }
            Self::Unknown => f.write_str("generator or emulator: as wrong in each way to compile it"),
        }
    }
}

/// Tries a program that differs from the host on `target`. `None` if it cannot be tried.
pub fn triage(program: &Program, target: &Target, input: &[u8]) -> Option<Verdict> {
    let programs = std::slice::from_ref(program);
    let workshop = Workshop::new(&render::source(programs)).ok()?;
    let host = run::on_the_host(&workshop, target.waves(), programs, input).ok()?;
    let is_right = |flags: &[&str]| {
        let Ok(object) = workshop.device_with(target, flags) else { return false };
        let Ok(mut device) = Device::new(&object, input) else { return false };
        let kernarg = device.kernarg.clone();
        device.launch(0, program, kernarg, false).is_ok_and(|(output, _)| output == host)
    };
    let limited = |limit: usize| is_right(&["-mllvm", &format!("-opt-bisect-limit={limit}")]);
    let mut ways: Vec<&str> =
        OTHERS.iter().filter(|(_, flags)| is_right(flags)).map(|(name, _)| *name).collect();
    let passes = workshop.passes(target).unwrap_or_default();
    let pass = first_wrong(passes.len(), limited).map(|number| passes[number - 1].clone());
    if pass.is_some() {
        ways.push("without some passes");
    }
    Some(if ways.is_empty() { Verdict::Unknown } else { Verdict::Compiler { ways, pass } })
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

    #[test]
    fn verdicts_in_words() {
        let pass = Some("112: dead-mi-elimination on function (k0)".to_owned());
        let verdict = Verdict::Compiler { ways: vec!["at -O0", "with GlobalISel"], pass };
        assert_eq!(
            verdict.to_string(),
            "compiler: right at -O0 and with GlobalISel, wrong from pass 112: dead-mi-elimination on function (k0)"
        );
        assert_eq!(Verdict::Unknown.to_string(), "generator or emulator: as wrong in each way to compile it");
    }
}
