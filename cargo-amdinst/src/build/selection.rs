//! Which packages of a workspace a command means, as cargo's own options say it.

use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, Package};

use super::foreign;
use super::settings::Settings;
use crate::cli::PackageArgs;
use crate::commands::Context;
use crate::exit::{CommandResult, Exit, Failure};

/// What a package with kernels depends on, unless it writes them without.
pub(super) const DEVICE_CRATE: &str = "amdinst-device";

/// The packages that `args` ask for: those named; with `--workspace`, every member that has kernels; else the one of the current
/// directory, if it has kernels; else the workspace's default members that have.
///
/// # Errors
/// No package of a name, or none with kernels.
pub(super) fn choose<'m>(
    context: &Context,
    metadata: &'m Metadata,
    args: &PackageArgs,
) -> CommandResult<Vec<&'m Package>> {
    let members = metadata.workspace_packages();
    let is = |package: &Package, name: &str| package.name.as_str() == name;
    if let Some(name) = args.package.iter().find(|name| !members.iter().any(|package| is(package, name))) {
        let known: Vec<&str> = members.iter().map(|package| package.name.as_str()).collect();
        let message = format!("no package `{name}` in this workspace");
        return Err(Failure::msg(Exit::Usage, message).note(format!("its packages: {}", known.join(", "))));
    }
    if !args.package.is_empty() {
        let named = |package: &&Package| args.package.iter().any(|name| is(package, name));
        return Ok(members.into_iter().filter(named).collect());
    }
    for name in args.exclude.iter().filter(|name| !members.iter().any(|package| is(package, name))) {
        context.shell.warn(format_args!("`--exclude {name}`: no package of this name in this workspace"));
    }
    if !args.workspace
        && let Some(here) = manifest_here(args.manifest_path.as_deref())
        && let Some(package) = members.iter().find(|package| package.manifest_path.as_std_path() == here)
        && has_kernels(package)
    {
        return Ok(vec![package]);
    }
    let mut candidates = members;
    if !args.workspace && metadata.workspace_default_members.is_available() {
        candidates = metadata.workspace_default_packages();
    }
    candidates.retain(|package| has_kernels(package));
    let before = candidates.len();
    candidates.retain(|package| !args.exclude.iter().any(|name| is(package, name)));
    if candidates.is_empty() && before > 0 {
        return Err(Failure::msg(Exit::Usage, "every package with kernels is excluded"));
    }
    if candidates.is_empty() {
        let message = format!(
            "no package with kernels: none here depends on `{DEVICE_CRATE}` or `gpu-kernel`, or has an `extern \"gpu-kernel\" fn`"
        );
        return Err(Failure::msg(Exit::BuildFailed, message).help(format!(
            "`cargo amdinst new DIR` makes one; or `cargo add {DEVICE_CRATE}` to this one, or name a package with `-p`"
        )));
    }
    Ok(candidates)
}

/// The `Cargo.toml` that cargo would take: the one given, else that of the nearest directory above the current one.
fn manifest_here(given: Option<&Path>) -> Option<PathBuf> {
    if let Some(path) = given {
        return path.canonicalize().ok();
    }
    let directory = std::env::current_dir().ok()?;
    directory.ancestors().map(|directory| directory.join("Cargo.toml")).find(|path| path.is_file())
}

/// Whether a package has kernels: as its settings say, else if it depends on our crate, else if its library defines one.
fn has_kernels(package: &Package) -> bool {
    let settings = Settings::read(&package.metadata);
    let told = settings.ok().and_then(|(settings, _)| settings.kernels);
    let depends = || {
        let normal = package.dependencies.iter().filter(|other| other.kind == DependencyKind::Normal);
        normal.into_iter().any(|other| other.name == DEVICE_CRATE)
    };
    match library(package) {
        _ if foreign::has_kernels(package) => told.unwrap_or(true),
        Some(sources) => told.unwrap_or_else(|| depends() || defines_kernel(&sources)),
        None => false,
    }
}

/// The directory of the sources of a package's library; `None` if it has none.
fn library(package: &Package) -> Option<PathBuf> {
    let target =
        package.targets.iter().find(|target| target.is_lib() || target.is_cdylib() || target.is_rlib())?;
    Some(target.src_path.parent()?.as_std_path().to_owned())
}

/// Whether a source file in `directory`, or below it, defines a kernel in plain Rust.
fn defines_kernel(directory: &Path) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    entries.flatten().any(|entry| {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => defines_kernel(&path),
            // A file that is not UTF-8 is no Rust.
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|extension| extension == "rs") => {
                fs::read_to_string(&path).is_ok_and(|text| has_plain_kernel(&text))
            }
            _ => false,
        }
    })
}

/// Whether `extern "gpu-kernel" fn NAME` stands in a source, not in a comment that begins before it in its line.
fn has_plain_kernel(source: &str) -> bool {
    source.match_indices("\"gpu-kernel\"").any(|(at, matched)| {
        let (before, after) = (&source[..at], &source[at + matched.len()..]);
        let line = before.rsplit('\n').next().unwrap_or_default();
        let mut words = after.split_whitespace();
        before.trim_end().ends_with("extern")
            && !line.contains("//")
            && words.next() == Some("fn")
            && words.next().is_some_and(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_'))
    })
}

/// The features of `args` that are for `package`, one of `chosen`. Of several packages, each takes those that it has.
///
/// # Errors
/// A feature that none of several packages has. What a single package lacks, cargo says.
pub(super) fn features(
    package: &Package,
    chosen: &[&Package],
    args: &PackageArgs,
) -> CommandResult<Vec<String>> {
    let asked = args.features.iter().flat_map(|list| list.split([',', ' '])).filter(|name| !name.is_empty());
    let mut own = Vec::new();
    for name in asked {
        let takers = chosen.iter().filter(|package| feature_of(package, name).is_some()).count();
        if chosen.len() == 1 {
            own.push(name.to_owned());
        } else if takers == 0 {
            let message = format!("none of the selected packages has the feature `{name}`");
            let names: Vec<&str> = chosen.iter().map(|package| package.name.as_str()).collect();
            return Err(Failure::msg(Exit::Usage, message).note(format!("they are: {}", names.join(", "))));
        } else {
            own.extend(feature_of(package, name));
        }
    }
    Ok(own)
}

/// What cargo is told to activate `name` of one of several packages with, if `package` has it: `f`, `package/f`, `dependency/f`.
fn feature_of(package: &Package, name: &str) -> Option<String> {
    match name.split_once('/') {
        Some((of, feature)) if of == package.name.as_str() => {
            package.features.contains_key(feature).then(|| feature.to_owned())
        }
        Some((of, _)) => {
            let of = of.trim_end_matches('?');
            let depends =
                |other: &cargo_metadata::Dependency| other.rename.as_deref().unwrap_or(&other.name) == of;
            package.dependencies.iter().any(depends).then(|| name.to_owned())
        }
        None => package.features.contains_key(name).then(|| name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_in_plain_rust() {
        for source in [
            "pub unsafe extern \"gpu-kernel\" fn ramp(n: u32) {}",
            "#[unsafe(no_mangle)]\npub extern\n  \"gpu-kernel\"\nfn _k() {}",
        ] {
            assert!(has_plain_kernel(source), "{source}");
        }
        for source in [
            "// pub extern \"gpu-kernel\" fn ramp() {}",
            "type F = unsafe extern \"gpu-kernel\" fn(u32);",
            "parse_quote!(extern \"gpu-kernel\")",
            "let text = \"extern \\\"gpu-kernel\\\" fn k() {}\";",
            "pub fn gpu_kernel() {}",
        ] {
            assert!(!has_plain_kernel(source), "{source}");
        }
    }
}
