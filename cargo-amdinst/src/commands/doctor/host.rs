//! The toolchain that builds tests: the user's own.

use std::process::Command;

use super::{Area, Check};

const NAME: &str = "rust";
const INSTALL: &str = "install Rust with rustup: https://rustup.rs";

/// The cargo that runs us, else the one on `PATH`, and the rustc that it takes.
pub(super) fn check() -> Check {
    let program = |variable: &str, name: &str| std::env::var_os(variable).unwrap_or_else(|| name.into());
    let cargo = match version(Command::new(program("CARGO", "cargo")).arg("--version")) {
        Ok(version) => version,
        Err(reason) => {
            return Check::error(Area::Toolchain, NAME, format!("cargo does not run: {reason}"), INSTALL);
        }
    };
    match version(Command::new(program("RUSTC", "rustc")).arg("--version")) {
        Ok(rustc) => judge(&cargo, &rustc),
        Err(reason) => Check::error(Area::Toolchain, NAME, format!("rustc does not run: {reason}"), INSTALL),
    }
}

/// Whether the compiler is as recent as our crates ask for.
fn judge(cargo: &str, rustc: &str) -> Check {
    let oldest = env!("CARGO_PKG_RUST_VERSION");
    let found = format!("{cargo}; {rustc}");
    let number = |text: &str| -> Option<(u32, u32)> {
        let mut parts = text.split(['.', '-']);
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    let release = rustc.split_whitespace().nth(1).and_then(number);
    if release.is_some() && release < number(oldest) {
        let help = format!("tests need Rust {oldest}: `rustup update stable`");
        return Check::error(Area::Toolchain, NAME, found, help);
    }
    Check::ok(Area::Toolchain, NAME, found)
}

fn version(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        let text = String::from_utf8_lossy(&output.stderr);
        Err(text.lines().next().unwrap_or("it failed without a word").to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::*;

    #[test]
    fn old_compilers_are_told_apart() {
        let status = |rustc: &str| judge("cargo 1", rustc).status;
        assert_eq!(status("rustc 1.95.0 (59807616e 2026-04-14)"), Status::Ok);
        assert_eq!(status("rustc 1.100.0-nightly (x)"), Status::Ok);
        assert_eq!(status("rustc 1.94.1 (x)"), Status::Error);
        assert_eq!(status("something else"), Status::Ok);
    }
}
