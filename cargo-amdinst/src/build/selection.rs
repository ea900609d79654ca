//! Which packages of a workspace a command means, as cargo's own options say it.

use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, Package};

use super::foreign;
use super::settings::Settings;
use crate::cli::PackageArgs;
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure};

/// What a package with kernels depends on, unless it writes them without.
pub(super) const DEVICE_CRATE: &str = "amdinst-device";

/// The packages that `args` ask for: those named; with `--workspace`, every member that has kernels; else the
/// one of the current directory, if it has kernels; else the workspace's default members that have; else the
/// one of the current directory, if its library does without `std`, for its kernels may come from another's
/// macros.
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
    let here = manifest_here(args.manifest_path.as_deref()).filter(|_| !args.workspace);
    let here = here
        .and_then(|here| members.iter().copied().find(|package| package.manifest_path.as_std_path() == here));
    if let Some(package) = here.filter(|package| has_kernels(package)) {
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
    if let Some(package) = here.filter(|package| candidates.is_empty() && may_have_kernels(package)) {
        return Ok(vec![package]);
    }
    if candidates.is_empty() {
        let message = format!(
            "no package with kernels: none here depends on `{DEVICE_CRATE}` or `gpu-kernel`, or has an `extern \"gpu-kernel\" fn`"
        );
        return Err(Failure::msg(Exit::BuildFailed, message).help(format!(
            "`cargo amdinst new DIR` makes one; or `cargo add {DEVICE_CRATE}` to this one, or name a package with `-p`, or say \
             `kernels = true` in its [package.metadata.amdinst]"
        )));
    }
    Ok(candidates)
}

/// The `Cargo.toml` that cargo would take: the one given, else that of the nearest directory above the
/// current one.
fn manifest_here(given: Option<&Path>) -> Option<PathBuf> {
    if let Some(path) = given {
        return path.canonicalize().ok();
    }
    let directory = std::env::current_dir().ok()?;
    directory.ancestors().map(|directory| directory.join("Cargo.toml")).find(|path| path.is_file())
}

/// Whether a package has kernels: as its settings say, else if it depends on our crate, or its library
/// defines one, or has them from macros.
fn has_kernels(package: &Package) -> bool {
    let settings = Settings::read(&package.metadata);
    let told = settings.ok().and_then(|(settings, _)| settings.kernels);
    let depends = || {
        let normal = package.dependencies.iter().filter(|other| other.kind == DependencyKind::Normal);
        normal.into_iter().any(|other| other.name == DEVICE_CRATE)
    };
    match library(package) {
        _ if foreign::has_kernels(package) => told.unwrap_or(true),
        Some(main) => told.unwrap_or_else(|| {
            depends()
                || main.parent().is_some_and(|sources| any_source(sources, has_plain_kernel))
                || has_macros(package)
        }),
        None => false,
    }
}

/// Whether a package may have kernels that come from macros which are not seen here: its library does without
/// `std`.
fn may_have_kernels(package: &Package) -> bool {
    let settings = Settings::read(&package.metadata);
    let told = settings.ok().and_then(|(settings, _)| settings.kernels);
    let text = library(package).and_then(|main| fs::read_to_string(main).ok()).unwrap_or_default();
    let is_without_std = |line: &str| line.trim_start().starts_with("#![") && line.contains("no_std");
    told != Some(false) && text.lines().any(is_without_std)
}

/// The main file of a package's library; `None` if it has none.
fn library(package: &Package) -> Option<&Path> {
    let target =
        package.targets.iter().find(|target| target.is_lib() || target.is_cdylib() || target.is_rlib())?;
    Some(target.src_path.as_std_path())
}

/// Whether a package has macros that make kernels, of a package in a directory of the user's.
fn has_macros(package: &Package) -> bool {
    let normal = package.dependencies.iter().filter(|other| other.kind == DependencyKind::Normal);
    normal.filter_map(|other| other.path.as_ref()).any(|directory| {
        let directory = directory.as_std_path();
        let sources = directory.join("src");
        is_of_macros(directory) && any_source(&sources, names_kernels)
            || any_source(&sources, has_kernel_of_macro)
    })
}

/// Whether the library of the package in `directory` is one of procedural macros.
fn is_of_macros(directory: &Path) -> bool {
    let text = fs::read_to_string(directory.join("Cargo.toml")).unwrap_or_default();
    let table: toml::Table = text.parse().unwrap_or_default();
    let library = table.get("lib").and_then(toml::Value::as_table);
    let is_set = |key: &str| library.and_then(|library| library.get(key)).and_then(toml::Value::as_bool);
    is_set("proc-macro").or_else(|| is_set("proc_macro")).unwrap_or_default()
}

/// Whether a source file in `directory`, or below it, has what is looked for.
fn any_source(directory: &Path, has: fn(&str) -> bool) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    entries.flatten().any(|entry| {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => any_source(&path, has),
            // A file that is not UTF-8 is no Rust.
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|extension| extension == "rs") => {
                fs::read_to_string(&path).is_ok_and(|text| has(&text))
            }
            _ => false,
        }
    })
}

/// Whether `extern "gpu-kernel" fn NAME` stands in a source, or in a macro that is its own, with a parameter
/// for the name.
fn has_plain_kernel(source: &str) -> bool {
    let is_own = !source.contains("#[macro_export]");
    let is_name = |first: char| first.is_alphabetic() || first == '_' || first == '$' && is_own;
    kernels(source).any(|name| name.starts_with(is_name))
}

/// Whether a macro of a source has `extern "gpu-kernel" fn $NAME`.
fn has_kernel_of_macro(source: &str) -> bool {
    kernels(source).any(|name| name.starts_with('$'))
}

/// What stands behind each `extern "gpu-kernel" fn` of a source.
fn kernels(source: &str) -> impl Iterator<Item = &str> {
    code_behind_abi(source).filter_map(|(before, after)| {
        let mut words = after.split_whitespace();
        let is_function = before.trim_end().ends_with("extern") && words.next() == Some("fn");
        words.next().filter(|_| is_function)
    })
}

/// Whether a source names the ABI of kernels.
fn names_kernels(source: &str) -> bool {
    code_behind_abi(source).next().is_some()
}

/// What is before and behind each `"gpu-kernel"` of a source that stands in no comment that begins before it
/// in its line.
fn code_behind_abi(source: &str) -> impl Iterator<Item = (&str, &str)> {
    source.match_indices("\"gpu-kernel\"").filter_map(|(at, matched)| {
        let (before, after) = (&source[..at], &source[at + matched.len()..]);
        let line = before.rsplit('\n').next().unwrap_or_default();
        (!line.contains("//")).then_some((before, after))
    })
}

/// The features of `args` that are for `package`, one of `chosen`. Of several packages, each takes those that
/// it has.
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

/// What cargo is told to activate `name` of one of several packages with, if `package` has it: `f`,
/// `package/f`, `dependency/f`.
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
            "macro_rules! k { ($n:ident) => { extern \"gpu-kernel\" fn $n() {} } }",
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
