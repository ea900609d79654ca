//! The toolchain that builds kernels: its parts one by one, or why none will do.

use std::fmt::Write as _;

use amdgpu_isa::Arch;

use super::{Area, Check};
use crate::linker::Slsr;
use crate::setup::plan;
use crate::toolchain::{LlvmTools, Places, Rejection, TARGET, discover};

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

/// LLVM's own faults that are known, found by trying. None is worth a word where LLVM is right.
fn faults(llvm: &LlvmTools) -> Option<Check> {
    const NAME: &str = "llvm faults";
    // The level and the processor do not matter, as long as the backend optimises.
    match Slsr::of(llvm, Arch::Gfx90a.name(), 3) {
        Ok(Slsr::Sound) => None,
        Ok(Slsr::KeptOff(switch)) => Some(Check::ok(
            Area::Toolchain,
            NAME,
            format!(
                "its pass `slsr` computes wrong addresses (llvm/llvm-project#204278): kernels are built without, `{switch}`"
            ),
        )),
        Ok(Slsr::Wrong) => Some(Check::error(
            Area::Toolchain,
            NAME,
            "its pass `slsr` computes wrong addresses (llvm/llvm-project#204278), and cannot be turned off",
            "`opt-level = 1` in the profile of the kernels, or another toolchain",
        )),
        Err(error) => {
            Some(Check::error(Area::Toolchain, NAME, error.to_string(), "install LLVM's tools anew"))
        }
    }
}
