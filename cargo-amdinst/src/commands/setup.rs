//! `cargo amdinst setup`: Find or prepare the toolchain that builds kernels.

use amdinst_llvm::toolchain::{Places, discover};

use crate::cli::SetupArgs;
use crate::context::Context;
use crate::exit::{CommandResult, Exit};
use crate::output;
use crate::setup::{self, Consent, plan};

/// Runs the command.
///
/// # Errors
/// [`Exit::ToolchainMissing`] if there is no toolchain and none could be prepared; with `--print` if there is
/// none.
pub fn run(context: &mut Context, args: &SetupArgs) -> CommandResult {
    let asked = args.toolchain.toolchain.as_deref();
    if !args.print {
        let consent = if args.yes { Consent::Given } else { Consent::Ask };
        let toolchain = setup::ready(context, asked, consent)?;
        context.shell.verbose_status("Found", format_args!("{} ({})", toolchain.version, toolchain.origin));
        return Ok(Exit::Success);
    }

    let places = Places::from_environment(asked);
    let mut discovery = discover(&places);
    for rejection in &discovery.rejected {
        context.shell.verbose_status("Rejected", format_args!("{}: {}", rejection.place, rejection.reason));
    }
    let Some(toolchain) = discovery.found.take() else {
        let ways = if places.asked.is_some() { Vec::new() } else { plan::ways(&places) };
        return Err(setup::failure(&discovery, &ways));
    };
    let text = format!(
        "origin: {}\nrustc: {} ({})\ncargo: {}\nllvm: {} ({})\nlld: {}\n",
        toolchain.origin,
        toolchain.rustc.display(),
        toolchain.version,
        toolchain.cargo.display(),
        toolchain.llvm.pattern.replace("{}", "*"),
        toolchain.llvm.version,
        toolchain.llvm.lld.display()
    );
    output::print(&text)?;
    Ok(Exit::Success)
}
