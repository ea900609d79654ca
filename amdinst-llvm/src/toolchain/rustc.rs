//! What a rustc says of itself.

use std::fmt;
use std::path::{Path, PathBuf};

use super::TARGET;
use super::answers::answer;

/// The first release whose `core` has what `amdinst-device` uses.
pub(super) const OLDEST: (u32, u32) = (1, 96);

/// The version of a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RustcVersion {
    /// `1.96.0`, `1.97.0-nightly`.
    pub release: String,
    /// Commit, if the compiler knows; else empty.
    pub commit: String,
    /// The host triple.
    pub host: String,
    /// LLVM's version (`22.1.8`).
    pub llvm: String,
}

impl RustcVersion {
    /// Reads `rustc -vV`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let field = |key: &str| {
            text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": ")).map(str::to_owned)
        };
        Some(Self {
            release: field("release")?,
            commit: field("commit-hash").unwrap_or_default(),
            host: field("host")?,
            llvm: field("LLVM version")?,
        })
    }

    /// Whether unstable features are on by themselves.
    pub fn is_nightly(&self) -> bool {
        self.release.contains("-nightly") || self.release.contains("-dev")
    }

    /// LLVM's major version, which decides who can read its bitcode.
    pub fn llvm_major(&self) -> &str {
        self.llvm.split('.').next().unwrap_or_default()
    }

    pub(super) fn is_recent(&self) -> bool {
        let mut numbers = self.release.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= OLDEST
    }
}

impl fmt::Display for RustcVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rustc {} (LLVM {})", self.release, self.llvm)
    }
}

/// Where a compiler keeps its things.
pub(super) struct Sysroot {
    pub(super) root: PathBuf,
}

impl Sysroot {
    /// Where `cargo -Zbuild-std` looks for the standard library's sources.
    pub(super) fn has_sources(&self) -> bool {
        self.root.join("lib/rustlib/src/rust/library/Cargo.lock").is_file()
    }

    /// Where rustup puts the component `llvm-tools`.
    pub(super) fn tools(&self, host: &str) -> PathBuf {
        self.root.join("lib/rustlib").join(host).join("bin")
    }
}

/// Asks `rustc` for its version and its sysroot, and whether it knows the target.
pub(super) fn interrogate(rustc: &Path) -> Result<(RustcVersion, Sysroot), String> {
    let version =
        RustcVersion::parse(&answer(rustc, &["-vV"])?).ok_or("`rustc -vV` says nothing that can be read")?;
    let answer = answer(rustc, &["--print", "sysroot", "--print", "target-libdir", "--target", TARGET])
        .map_err(|error| format!("{version} does not know the target {TARGET}: {error}"))?;
    let root = answer.lines().next().map(PathBuf::from).ok_or("`rustc --print sysroot` says nothing")?;
    Ok((version, Sysroot { root }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let text = "rustc 1.96.0 (ac68faa20 2026-05-25)\nbinary: rustc\ncommit-hash: ac68\nhost: x86_64-unknown-linux-gnu\n\
                    release: 1.96.0\nLLVM version: 22.1.8\n";
        let version = RustcVersion::parse(text).unwrap();
        assert!(version.is_recent() && !version.is_nightly());
        assert_eq!(version.llvm_major(), "22");
        let older = RustcVersion { release: "1.95.0".to_owned(), ..version.clone() };
        assert!(!older.is_recent());
        let nightly = RustcVersion { release: "1.97.0-nightly".to_owned(), ..version };
        assert!(nightly.is_recent() && nightly.is_nightly());
        assert_eq!(RustcVersion::parse("gcc 12"), None);
    }
}
