//! The ways to get a toolchain on this machine.

use std::fs;
use std::path::Path;

use amdinst_llvm::toolchain::Places;
use xshell::{Shell, cmd};

/// One way: commands to run in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// Its name (`rustup`, `apt`).
    pub name: &'static str,
    /// Program and arguments of each command.
    pub commands: Vec<Vec<String>>,
    /// What to set for them.
    pub environment: Vec<(&'static str, &'static str)>,
}

impl Way {
    /// The commands as one line of shell.
    pub fn command_line(&self) -> String {
        self.commands.iter().map(|words| words.join(" ")).collect::<Vec<_>>().join(" && ")
    }
}

/// Debian's packages that together are a toolchain.
const APT_PACKAGES: [&str; 5] = ["rustc-web", "cargo-web", "rust-web-src", "llvm-22", "lld-22"];

/// The ways that this machine allows, best first.
pub fn ways(places: &Places) -> Vec<Way> {
    let has = |program: &str| places.path.iter().any(|directory| directory.join(program).is_file());
    let mut ways = Vec::new();
    if has("rustup") {
        let has_nightly = places.rustup.as_deref().is_some_and(has_nightly);
        ways.push(rustup(has_nightly));
    }
    if has("apt-get")
        && is_debian()
        && let Some(prefix) = privilege(has("sudo"))
    {
        ways.push(apt(prefix));
    }
    ways
}

fn rustup(has_nightly: bool) -> Way {
    let words = if has_nightly {
        "rustup component add rust-src llvm-tools --toolchain nightly"
    } else {
        "rustup toolchain install nightly --profile minimal --component rust-src --component llvm-tools"
    };
    Way {
        name: "rustup",
        commands: vec![split(words)],
        // Where there is no way out, say so soon: there may be another way.
        environment: vec![("RUSTUP_MAX_RETRIES", "1")],
    }
}

fn apt(prefix: &str) -> Way {
    Way {
        name: "apt",
        commands: vec![
            split(&format!("{prefix}apt-get update")),
            split(&format!("{prefix}apt-get install -y --no-install-recommends {}", APT_PACKAGES.join(" "))),
        ],
        environment: vec![("DEBIAN_FRONTEND", "noninteractive")],
    }
}

fn split(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_owned).collect()
}

fn has_nightly(rustup: &Path) -> bool {
    fs::read_dir(rustup.join("toolchains")).is_ok_and(|entries| {
        entries.flatten().any(|entry| {
            let name = entry.file_name();
            let rest = name.to_str().and_then(|name| name.strip_prefix("nightly"));
            // `nightly-2026-05-19-…` is another toolchain.
            rest.is_some_and(|rest| !rest.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()))
        })
    })
}

/// Ubuntu and others have apt-get too, but not these packages.
fn is_debian() -> bool {
    fs::read_to_string("/etc/os-release").is_ok_and(|text| text.lines().any(|line| line == "ID=debian"))
}

/// What to put in front of a command for root, if it can be had without a password.
fn privilege(has_sudo: bool) -> Option<&'static str> {
    let shell = Shell::new().ok()?;
    if cmd!(shell, "id -u").quiet().ignore_stderr().read().is_ok_and(|user| user == "0") {
        return Some("");
    }
    let sudo = cmd!(shell, "sudo -n true").quiet().ignore_stdout().ignore_stderr();
    (has_sudo && sudo.run().is_ok()).then_some("sudo -n ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands() {
        assert_eq!(
            rustup(true).command_line(),
            "rustup component add rust-src llvm-tools --toolchain nightly"
        );
        assert!(rustup(false).command_line().starts_with("rustup toolchain install nightly "));
        assert_eq!(
            apt("sudo -n ").command_line(),
            "sudo -n apt-get update && sudo -n apt-get install -y --no-install-recommends rustc-web cargo-web \
             rust-web-src llvm-22 lld-22"
        );
    }

    #[test]
    fn a_machine_without_either_has_no_way() {
        assert_eq!(ways(&Places::default()), []);
    }
}
