//! Which packages a command takes, by the commands that `show-env` prints: one a package.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A workspace: `ours` depends on our crate, `plain` defines a kernel without, `host` has none and `off` says
/// so.
fn workspace(place: &Path) {
    let write = |name: &str, text: &str| {
        let path = place.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        "Cargo.toml",
        "[workspace]\nresolver = \"3\"\nmembers = [\"host\", \"off\", \"ours\", \"plain\"]\n",
    );
    let package = |name: &str, rest: &str, source: &str| {
        let head = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        write(&format!("{name}/Cargo.toml"), &(head + rest));
        write(&format!("{name}/src/lib.rs"), source);
    };
    let device = concat!(env!("CARGO_MANIFEST_DIR"), "/../amdinst-device");
    let dependency = format!("[dependencies]\namdinst-device = {{ path = {device:?} }}\n");
    package("ours", &format!("{dependency}[features]\nfast = []\n"), "#![no_std]\n");
    package("plain", "[features]\nsmall = []\n", "#![no_std]\nmod deep;\n");
    write("plain/src/deep/mod.rs", "pub extern \"gpu-kernel\" fn k() {}\n");
    package("host", "", "// extern \"gpu-kernel\" fn k() {}\n");
    package("off", &format!("{dependency}[package.metadata.amdinst]\nkernels = false\n"), "");
}

fn show_env(directory: &Path, arguments: &[&str]) -> Option<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command.current_dir(directory).args(["--color", "never", "show-env"]).args(arguments);
    command.env_remove("AMDINST_TOOLCHAIN");
    let output = command.output().unwrap();
    if output.status.code() == Some(3) {
        let required = std::env::var_os("AMDINST_REQUIRE_TOOLS").is_some_and(|value| value == "1");
        assert!(!required, "{output:?}");
        eprintln!("SKIPPED: selection: no toolchain for kernels (cargo amdinst setup)");
        return None;
    }
    Some(output)
}

/// The packages that are taken, and what cargo is told of each.
fn taken(directory: &Path, arguments: &[&str]) -> Option<Vec<(String, String)>> {
    let output = show_env(directory, arguments)?;
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let blocks = text.split("# ").skip(1);
    let name = |block: &str| block.split(' ').next().unwrap().to_owned();
    Some(blocks.map(|block| (name(block), block.lines().last().unwrap().to_owned())).collect())
}

#[test]
fn packages_as_cargo_chooses_them() {
    let place = tempfile::tempdir().unwrap();
    workspace(place.path());
    for (directory, arguments, expected) in [
        ("", &[][..], "ours plain"),
        ("ours", &[], "ours"),
        ("ours/src", &[], "ours"),
        ("plain", &[], "plain"),
        ("", &["--workspace"], "ours plain"),
        ("ours", &["--workspace"], "ours plain"),
        ("", &["--all", "--exclude", "ours"], "plain"),
        ("ours", &["-p", "plain"], "plain"),
        ("", &["-p", "plain", "-p", "ours"], "ours plain"),
        // Who names one knows better.
        ("", &["-p", "host"], "host"),
        ("", &["--manifest-path", "plain/Cargo.toml"], "plain"),
    ] {
        let Some(found) = taken(&place.path().join(directory), arguments) else { return };
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.join(" "), expected, "{directory} {arguments:?}");
    }
}

/// Kernels may come from macros: procedural ones of a package beside, ones by example, and those of a
/// registry, whose sources nobody looks at.
#[test]
fn kernels_of_macros_are_found() {
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = place.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let package = |name: &str, rest: &str, source: &str| {
        let head = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        write(&format!("{name}/Cargo.toml"), &(head + rest));
        write(&format!("{name}/src/lib.rs"), source);
    };
    let members = ["by-attribute", "by-example", "host", "macros", "other", "rules"];
    write("Cargo.toml", &format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n"));
    package("macros", "[lib]\nproc-macro = true\n", "fn abi() { parse(\"extern\", \"gpu-kernel\") }\n");
    let rules = "macro_rules! kernel { ($name:ident) => { pub extern \"gpu-kernel\" fn $name() {} } }\n";
    package("rules", "", &format!("#![no_std]\n#[macro_export]\n{rules}"));
    let on = |name: &str| format!("[dependencies]\n{name} = {{ path = \"../{name}\" }}\n");
    package("by-attribute", &on("macros"), "#![no_std]\n#[macros::kernel]\npub fn k() {}\n");
    package("by-example", &on("rules"), "#![no_std]\nrules::kernel!(k);\n");
    package("host", &on("by-attribute"), "pub fn launch() {}\n");
    package("other", "", "#![cfg_attr(target_arch = \"amdgpu\", no_std)]\n");
    for (directory, expected) in
        [("", "by-attribute by-example"), ("by-attribute", "by-attribute"), ("by-example", "by-example")]
    {
        let Some(found) = taken(&place.path().join(directory), &[]) else { return };
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.join(" "), expected, "{directory}");
    }
    // Where no package has kernels that are seen, the one here is taken if it may have some.
    write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"other\"]\n");
    let found = taken(&place.path().join("other"), &[]).unwrap();
    assert_eq!(found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["other"]);
    assert!(!show_env(place.path(), &[]).unwrap().status.success());
}

#[test]
fn features_go_to_the_packages_that_have_them() {
    let place = tempfile::tempdir().unwrap();
    workspace(place.path());
    let arguments = ["--workspace", "--features", "fast plain/small", "--no-default-features", "-r"];
    let Some(found) = taken(place.path(), &arguments) else { return };
    assert!(found[0].1.contains(" --features fast --no-default-features"), "{}", found[0].1);
    assert!(found[1].1.contains(" --features small --no-default-features"), "{}", found[1].1);
    assert!(found.iter().all(|(_, command)| command.contains(" --profile release ")), "{found:?}");
    let found = taken(place.path(), &["-p", "ours", "--all-features"]).unwrap();
    assert!(found[0].1.contains(" --all-features"), "{}", found[0].1);
}

#[test]
fn mistakes() {
    let place = tempfile::tempdir().unwrap();
    workspace(place.path());
    for (directory, arguments, code, message) in [
        (
            "",
            &["-p", "our"][..],
            2,
            "error: no package `our` in this workspace\nnote: its packages: host, off, ours, plain\n",
        ),
        (
            "",
            &["--workspace", "--exclude", "ours", "--exclude", "plain"],
            2,
            "error: every package with kernels is excluded\n",
        ),
        (
            "",
            &["--exclude", "ours"],
            2,
            "error: the following required arguments were not provided:\n  --workspace\n",
        ),
        (
            "",
            &["-p", "ours", "--workspace"],
            2,
            "error: the argument '--package <PKG>' cannot be used with '--workspace'\n",
        ),
        (
            "",
            &["--workspace", "-F", "nosuch"],
            2,
            "error: none of the selected packages has the feature `nosuch`\nnote: they are: ours, plain\n",
        ),
        (
            "",
            &["--release", "--profile", "dev"],
            2,
            "error: the argument '--release' cannot be used with '--profile <P>'\n",
        ),
    ] {
        let Some(output) = show_env(&place.path().join(directory), arguments) else { return };
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
        assert!(told.starts_with(message), "{arguments:?}: {told}");
    }
    let empty = tempfile::tempdir().unwrap();
    let output = show_env(empty.path(), &[]).unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.starts_with("error: could not find `Cargo.toml` in `") && told.lines().count() == 1,
        "{told}"
    );
    fs::remove_dir_all(place.path().join("ours")).unwrap();
    fs::remove_dir_all(place.path().join("plain")).unwrap();
    let output = show_env(&place.path().join("host"), &[]).unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.starts_with("error: failed to load manifest for workspace member"), "{told}");

    let place = tempfile::tempdir().unwrap();
    workspace(place.path());
    let output =
        show_env(&place.path().join("host"), &["--exclude", "ours", "--workspace", "--exclude", "plain"]);
    assert_eq!(output.unwrap().status.code(), Some(2));
    fs::write(place.path().join("Cargo.toml"), "[workspace]\nmembers = [\"host\", \"off\"]\n").unwrap();
    let output = show_env(&place.path().join("host"), &[]).unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    let none = "error: no package with kernels: none here depends on `amdinst-device` or `gpu-kernel`, or has an `extern \"gpu-kernel\" fn`\nhelp: ";
    assert!(told.starts_with(none), "{told}");

    let place = tempfile::tempdir().unwrap();
    workspace(place.path());
    let Some(output) = show_env(place.path(), &["--workspace", "--exclude", "other"]) else { return };
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(told, "warning: `--exclude other`: no package of this name in this workspace\n");
}
