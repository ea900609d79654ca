//! Which referees the machine lacks, and the one command that brings them.
//!
//! A test that lacks its referee is skipped where it runs, with a line of its own. At the end of the suite,
//! one look at the machine says what all of them came to.

use std::path::Path;
use std::process::Command;

/// Package, file, purpose: see its head. `.ci/run` reads it, too.
const PACKAGES: &str = include_str!("../../../../.ci/packages");
/// The purpose of packages that rustup's nightly can stand in for.
const TOOLCHAIN: &str = "kernels";
/// Components of the host toolchain, and the subcommands that they bring.
const COMPONENTS: [(&str, &str); 2] = [("rustfmt", "fmt"), ("clippy", "clippy")];

/// What is not there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Missing {
    /// Package and purpose.
    packages: Vec<(&'static str, &'static str)>,
    components: Vec<&'static str>,
}

impl Missing {
    /// Looks at this machine.
    pub(crate) fn here() -> Self {
        let component = |subcommand: &str| {
            let output = crate::cargo().args([subcommand, "--version"]).output();
            output.is_ok_and(|output| output.status.success())
        };
        Self::of(|file| Path::new(file).exists(), component)
    }

    fn of(is_there: impl Fn(&str) -> bool, has_subcommand: impl Fn(&str) -> bool) -> Self {
        let wanted = packages().filter(|(_, file, purpose)| *purpose != TOOLCHAIN && !is_there(file));
        let components = COMPONENTS.into_iter().filter(|(_, subcommand)| !has_subcommand(subcommand));
        Self {
            packages: wanted.map(|(package, _, purpose)| (package, purpose)).collect(),
            components: components.map(|(component, _)| component).collect(),
        }
    }

    /// The lines to print. None if all is there.
    pub(crate) fn lines(&self, is_root: bool) -> Vec<String> {
        let mut lines = Vec::new();
        let mut commands = Vec::new();
        if !self.components.is_empty() {
            commands.push(format!("rustup component add {}", self.components.join(" ")));
        }
        if !self.packages.is_empty() {
            let names: Vec<&str> = self.packages.iter().map(|(package, _)| *package).collect();
            let sudo = if is_root { "" } else { "sudo " };
            commands.push(format!("{sudo}apt-get install --no-install-recommends {}", names.join(" ")));
        }
        if commands.is_empty() {
            return lines;
        }
        lines.push("What tests compare with, and this machine lacks:".to_owned());
        let components = self.components.iter().map(|component| (*component, "how the code is written"));
        let all: Vec<_> = components.chain(self.packages.iter().copied()).collect();
        lines.extend(all.iter().map(|(name, purpose)| format!("  {name:<20} {purpose}")));
        lines.push("One command brings it (packages of Debian 12):".to_owned());
        lines.push(format!("  {}", commands.join(" && ")));
        lines
    }
}

/// Whether who runs this may install packages.
pub(crate) fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// The rows of [`PACKAGES`].
fn packages() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    PACKAGES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let (package, rest) = line.split_once(' ')?;
        let (file, purpose) = rest.trim_start().split_once(' ')?;
        Some((package, file, purpose.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_command_for_all_that_is_missing() {
        let missing = Missing::of(
            |file| !file.contains("clang-22") && !file.contains("chromium"),
            |name| name == "fmt",
        );
        let lines = missing.lines(false);
        assert_eq!(lines.len(), 6, "{lines:#?}");
        assert_eq!(
            lines[5],
            "  rustup component add clippy && sudo apt-get install --no-install-recommends clang-22 chromium"
        );
        assert!(lines[2].starts_with("  clang-22  ") && lines[2].ends_with("random programs"), "{lines:#?}");
        assert!(!missing.lines(true).join("\n").contains("sudo"));
        assert!(Missing::of(|_| true, |_| true).lines(true).is_empty());
    }

    #[test]
    fn every_row_is_whole() {
        let rows: Vec<_> = packages().collect();
        let texts = PACKAGES.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).count();
        assert_eq!(rows.len(), texts);
        assert!(
            rows.iter().all(|(_, file, purpose)| file.starts_with('/') && !purpose.is_empty()),
            "{rows:#?}"
        );
    }
}
