//! The toolchain that builds kernels: its parts one by one, or why none will do.

use std::fmt::Write as _;

use amdgpu_isa::Arch;
use amdinst_llvm::toolchain::{LlvmTools, Places, Rejection, TARGET, discover};
use amdinst_llvm::{Fault, LinkError, Verdict, hoists};

use super::{Area, Check};
use crate::setup::plan;

/// What is there of it.
pub(super) fn checks(places: &Places) -> Vec<Check> {
    let discovery = discover(places);
    if let Some(toolchain) = discovery.found {
        let ok = |name, found| Check::ok(Area::Toolchain, name, found);
        let llvm = &toolchain.llvm;
        let mut checks = vec![
            ok(
                "kernels",
                format!("{}, {} ({})", toolchain.version, toolchain.rustc.display(), toolchain.origin),
            ),
            ok("target", format!("{TARGET}, and the sources of `core` (rust-src)")),
            ok("llvm", format!("LLVM {}, {}", llvm.version, llvm.pattern.replace("{}", "*"))),
            ok("lld", llvm.lld.display().to_string()),
        ];
        checks.extend(faults(llvm));
        return checks;
    }
    let mut found = "no toolchain here can build kernels".to_owned();
    for Rejection { place, reason } in &discovery.rejected {
        let _ = write!(found, "\ntried {place}: {reason}");
    }
    // What was asked for by name is for the user to mend.
    let ways = if places.asked.is_some() { Vec::new() } else { plan::ways(places) };
    let help = match (&places.asked, ways.first()) {
        (Some((_, by)), _) => format!("name another with {by}, or none: one is looked for then"),
        (None, Some(way)) => format!("`cargo amdinst setup`, which runs `{}`", way.command_line()),
        (None, None) => "install rustup (https://rustup.rs), then run `cargo amdinst setup`".to_owned(),
    };
    vec![Check::error(Area::Toolchain, "kernels", found, help)]
}

/// LLVM's own faults that are known, found by trying, a line each. None is worth a word where LLVM is right.
fn faults(llvm: &LlvmTools) -> Option<Check> {
    const NAME: &str = "llvm faults";
    let broken = |error: &LinkError| {
        Check::error(Area::Toolchain, NAME, error.to_string(), "install LLVM's tools anew")
    };
    let mut lines = Vec::new();
    let mut safe_level = None;
    for fault in Fault::ALL {
        let rest = match fault.verdict(llvm, &[format!("-mcpu={}", fault.processor)], *fault.levels.end(), "")
        {
            Ok(Verdict::Sound) => continue,
            Ok(Verdict::KeptOff(switch)) => format!("kernels are built with `{switch}`"),
            Ok(Verdict::Wrong) => {
                safe_level = safe_level.or(Some(fault.safe_level));
                "nothing keeps that away".to_owned()
            }
            Err(error) => return Some(broken(&error)),
        };
        lines.push(format!("{}: {rest}", fault.what));
    }
    match hoists::are_there(llvm, &[format!("-mcpu={}", Arch::Gfx90a)], 3) {
        Ok(true) => lines.push(format!("{}: kernels are built {}", hoists::WHAT, hoists::MEND)),
        Ok(false) => {}
        Err(error) => return Some(broken(&error)),
    }
    let found = lines.join("\n");
    match (lines.is_empty(), safe_level) {
        (true, _) => None,
        (false, None) => Some(Check::ok(Area::Toolchain, NAME, found)),
        (false, Some(level)) => {
            let help = format!("`opt-level = {level}` in the profile of the kernels, or another toolchain");
            Some(Check::error(Area::Toolchain, NAME, found, help))
        }
    }
}
