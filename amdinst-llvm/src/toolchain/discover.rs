//! Looking for a toolchain.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::llvm::LlvmTools;
use super::rustc::{self, OLDEST};
use super::{TARGET, Toolchain};

/// Where to look. Taken from the environment, or made up by a test.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// What `--toolchain` or `AMDINST_TOOLCHAIN` asks for, and which of the two. Nothing else is tried then.
    pub asked: Option<(String, &'static str)>,
    /// rustup's home.
    pub rustup: Option<PathBuf>,
    /// The directories of `PATH`.
    pub path: Vec<PathBuf>,
}

impl Places {
    /// The places that the environment and `--toolchain` name.
    pub fn from_environment(toolchain: Option<&str>) -> Self {
        let asked = toolchain.map(|name| (name.to_owned(), "--toolchain")).or_else(|| {
            Some((env::var("AMDINST_TOOLCHAIN").ok().filter(|name| !name.is_empty())?, "AMDINST_TOOLCHAIN"))
        });
        let rustup = env::var_os("RUSTUP_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(env::home_dir()?.join(".rustup")))
            .filter(|path| path.is_dir());
        let mut path: Vec<PathBuf> =
            env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
        path.push(PathBuf::from("/usr/bin"));
        let mut seen = Vec::new();
        path.retain(|directory| {
            let new = !seen.contains(directory);
            seen.push(directory.clone());
            new
        });
        Self { asked, rustup, path }
    }
}

/// A compiler that will not do, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The compiler, or the place that has none.
    pub place: String,
    /// Its problem.
    pub reason: String,
}

/// The outcome of a search.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    /// The first toolchain that will do.
    pub found: Option<Toolchain>,
    /// The candidates passed over before it.
    pub rejected: Vec<Rejection>,
}

/// Looks for a toolchain.
pub fn discover(places: &Places) -> Discovery {
    let mut discovery = Discovery::default();
    for (rustc, origin) in candidates(places, &mut discovery.rejected) {
        match complete(&rustc, &origin, &places.path) {
            Ok(toolchain) => {
                discovery.found = Some(toolchain);
                break;
            }
            Err(reason) => {
                let place = format!("{} ({origin})", rustc.display());
                discovery.rejected.push(Rejection { place, reason });
            }
        }
    }
    discovery
}

/// Compilers in the order in which to try them.
fn candidates(places: &Places, rejected: &mut Vec<Rejection>) -> Vec<(PathBuf, String)> {
    if let Some((name, by)) = &places.asked {
        let path = Path::new(name);
        if path.components().count() > 1 {
            let rustc = if path.is_dir() { path.join("bin/rustc") } else { path.to_owned() };
            return vec![(rustc, (*by).to_owned())];
        }
        let found = rustup_toolchains(places, name);
        if found.is_empty() {
            rejected.push(Rejection {
                place: format!("{by} `{name}`"),
                reason: "rustup has no toolchain of that name (a compiler is named by its path)".to_owned(),
            });
        }
        return found.into_iter().map(|rustc| (rustc, format!("{by} `{name}`"))).collect();
    }

    let mut candidates: Vec<_> = rustup_toolchains(places, "nightly")
        .into_iter()
        .map(|rustc| (rustc, "rustup's nightly".to_owned()))
        .collect();
    if candidates.is_empty() {
        let reason = if places.rustup.is_some() { "not installed" } else { "there is no rustup" };
        rejected.push(Rejection { place: "rustup's nightly".to_owned(), reason: reason.to_owned() });
    }
    let mut seen = Vec::new();
    for directory in &places.path {
        let rustc = directory.join("rustc");
        if let Ok(real) = rustc.canonicalize()
            && !is_rustup_proxy(&real)
            && !seen.contains(&real)
        {
            seen.push(real);
            candidates.push((rustc, "on PATH".to_owned()));
        }
    }
    if seen.is_empty() {
        rejected.push(Rejection {
            place: "a distribution's rustc".to_owned(),
            reason: "none on PATH or in /usr/bin".to_owned(),
        });
    }
    candidates
}

/// The compilers of rustup's toolchain `name`: itself, or with a host triple behind.
fn rustup_toolchains(places: &Places, name: &str) -> Vec<PathBuf> {
    let Some(home) = &places.rustup else { return Vec::new() };
    let Ok(entries) = fs::read_dir(home.join("toolchains")) else { return Vec::new() };
    let is_of_that_name = |entry: &OsStr| {
        // `nightly-x86_64-unknown-linux-gnu` is `nightly`; `nightly-2026-05-19-…` is a name of its own.
        entry.to_str().and_then(|entry| entry.strip_prefix(name)).is_some_and(|rest| {
            rest.is_empty()
                || rest.strip_prefix('-').is_some_and(|host| !host.starts_with(|c: char| c.is_ascii_digit()))
        })
    };
    let mut found: Vec<_> = entries
        .flatten()
        .filter(|entry| is_of_that_name(&entry.file_name()))
        .map(|entry| entry.path().join("bin/rustc"))
        .filter(|rustc| rustc.is_file())
        .collect();
    found.sort();
    found
}

/// A proxy is rustup itself under another name, by link or by copy.
fn is_rustup_proxy(real: &Path) -> bool {
    real.file_name().is_some_and(|name| name == "rustup")
        || real.parent().is_some_and(|directory| directory.join("rustup").is_file())
}

/// The toolchain around a compiler, if nothing is missing.
fn complete(rustc: &Path, origin: &str, path: &[PathBuf]) -> Result<Toolchain, String> {
    let (version, sysroot) = rustc::interrogate(rustc)?;
    if !version.is_recent() {
        return Err(format!("{version} is older than {}.{}", OLDEST.0, OLDEST.1));
    }
    if !sysroot.has_sources() {
        return Err(format!(
            "{version} lacks the standard library's sources (`rust-src`), which {TARGET} is built from"
        ));
    }
    let cargo = rustc.with_file_name("cargo");
    if !cargo.is_file() {
        return Err(format!("there is no cargo beside it ({})", cargo.display()));
    }
    let llvm = LlvmTools::find(version.llvm_major(), &sysroot.tools(&version.host), path)
        .map_err(|reasons| format!("{version}: {}", reasons.join("; ")))?;
    Ok(Toolchain { rustc: rustc.to_owned(), cargo, version, llvm, origin: origin.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_anywhere_names_every_place() {
        let directory = tempfile::tempdir().unwrap();
        let places = Places {
            asked: None,
            rustup: Some(directory.path().to_owned()),
            path: vec![directory.path().to_owned()],
        };
        let discovery = discover(&places);
        assert_eq!(discovery.found, None);
        let places: Vec<_> = discovery.rejected.iter().map(|rejection| &rejection.place[..]).collect();
        assert_eq!(places, ["rustup's nightly", "a distribution's rustc"]);
    }

    #[test]
    fn what_is_asked_for_is_the_only_candidate() {
        let places =
            Places { asked: Some(("/nowhere/rustc".to_owned(), "--toolchain")), ..Places::default() };
        let rejected = discover(&places).rejected;
        assert_eq!(rejected.len(), 1);
        assert!(rejected[0].reason.starts_with("cannot be started"), "{rejected:?}");

        let places =
            Places { asked: Some(("fortnightly".to_owned(), "AMDINST_TOOLCHAIN")), ..Places::default() };
        assert!(discover(&places).rejected[0].reason.contains("no toolchain of that name"));
    }

    #[test]
    fn dated_nightlies_are_not_the_nightly() {
        let home = tempfile::tempdir().unwrap();
        for name in ["nightly-x86_64-unknown-linux-gnu", "nightly-2026-01-01-x86_64-unknown-linux-gnu"] {
            let bin = home.path().join("toolchains").join(name).join("bin");
            fs::create_dir_all(&bin).unwrap();
            fs::write(bin.join("rustc"), "").unwrap();
        }
        let places = Places { rustup: Some(home.path().to_owned()), ..Places::default() };
        assert_eq!(rustup_toolchains(&places, "nightly").len(), 1);
        assert_eq!(rustup_toolchains(&places, "nightly-2026-01-01").len(), 1);
    }
}
