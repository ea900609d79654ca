//! `cargo amdinst new`: what it writes, and that it changes nothing that is there. That the package's test
//! passes is run in the guide's first page (`cargo xtask readme`).

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn new(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"))
        .current_dir(directory)
        .args(["--color", "never", "new"])
        .args(arguments)
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

fn manifest(path: &Path) -> toml::Table {
    fs::read_to_string(path.join("Cargo.toml")).unwrap().parse().unwrap()
}

#[test]
fn a_package_that_cargo_reads() {
    let place = tempfile::tempdir().unwrap();
    let output = new(place.path(), &["my-kernels"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().canonicalize().unwrap();
    let lines: Vec<&str> = stderr(&output).lines().collect();
    let [created, gpu, taking, warning, help, next] = lines[..] else { panic!("{lines:#?}") };
    assert_eq!(created, "     Created package `my-kernels`: a kernel and its test");
    assert!(gpu.starts_with("     Kernels for gfx"), "{gpu}");
    let from =
        format!("      Taking amdinst-device and harness from {}, by its absolute path", checkout.display());
    assert_eq!(taking, from);
    assert_eq!(warning, "warning: other machines do not have this path, which Cargo.toml names");
    assert!(
        help.starts_with("help: `--git ") && help.ends_with("` or `--registry` names what they have"),
        "{help}"
    );
    assert_eq!(next, "        Next cd my-kernels && cargo amdinst test");
    let package = place.path().join("my-kernels");
    assert!(
        fs::read_to_string(package.join("tests/kernels.rs")).unwrap().contains("\nuse my_kernels::saxpy;\n")
    );
    // Its dependencies are the sources that this program was built from.
    let table = manifest(&package);
    let path = table["dependencies"]["amdinst-device"]["path"].as_str().unwrap();
    assert_eq!(Path::new(path), checkout.join("amdinst-device"));
    // The key that chooses the GPU is there to be edited.
    assert!(table["package"]["metadata"]["amdinst"]["target-cpus"][0].as_str().unwrap().starts_with("gfx"));
    // It needs no other settings: tests load the runtime that the command brings. One makes linking tests
    // cheaper, which each edit does.
    assert_eq!(table["profile"]["dev"]["package"]["*"]["debug"].as_bool(), Some(false));
    assert_eq!(table["profile"].as_table().unwrap().len(), 1);

    let metadata = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(&package)
        .output()
        .unwrap();
    assert!(metadata.status.success(), "{}", stderr(&metadata));
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let targets = metadata["packages"][0]["targets"].as_array().unwrap();
    assert!(targets.iter().any(|target| target["name"] == "kernels" && target["kind"][0] == "test"));
}

#[test]
fn the_gpu_that_is_asked_for() {
    let place = tempfile::tempdir().unwrap();
    let output = new(place.path(), &["radeon", "--target-cpu", "gfx1100"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("     Kernels for gfx1100\n"), "{}", stderr(&output));
    let table = manifest(&place.path().join("radeon"));
    assert_eq!(table["package"]["metadata"]["amdinst"]["target-cpus"][0].as_str(), Some("gfx1100"));
    // Nothing is made for one that there is not.
    let output = new(place.path(), &["other", "--target-cpu", "gfx110"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("gfx1100"), "{}", stderr(&output));
    assert!(!place.path().join("other").exists());
}

#[test]
fn the_template_is_formatted() {
    let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/commands/new/template");
    let files = ["lib.rs", "kernels.rs"].map(|name| template.join(name));
    // As a user has it, without this repository's settings.
    let settings = tempfile::tempdir().unwrap();
    fs::write(settings.path().join("rustfmt.toml"), "").unwrap();
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--check", "--edition", "2024", "--config-path"]).arg(settings.path()).args(files);
    let Ok(output) = rustfmt.output() else {
        eprintln!("SKIPPED: the template is not compared with rustfmt, which is not installed");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn in_a_workspace_it_becomes_a_member() {
    let place = tempfile::tempdir().unwrap();
    let root = "[workspace]\nresolver = \"3\"\nmembers = []\n\n[workspace.package]\nedition = \"2024\"\n";
    fs::write(place.path().join("Cargo.toml"), root).unwrap();
    let output = new(place.path(), &["inner", "--name", "kernels-of-mine"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(manifest(place.path())["workspace"]["members"][0].as_str(), Some("inner"));
    let table = manifest(&place.path().join("inner"));
    assert_eq!(table["package"]["name"].as_str(), Some("kernels-of-mine"));
    assert_eq!(table["package"]["edition"]["workspace"].as_bool(), Some(true));
    // Cargo would warn of them.
    assert!(!table.contains_key("profile"), "{table:?}");
}

/// A second package takes our crates from where the first does; or from the workspace's table.
#[test]
fn in_a_workspace_it_takes_what_others_take() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    fs::write(root.join("Cargo.toml"), "[workspace]\nresolver = \"3\"\nmembers = []\n").unwrap();
    let output = new(root, &["first", "--git", "https://example.org/amdinst"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let output = new(root, &["second"]);
    assert!(stderr(&output).contains("harness from https://example.org/amdinst\n"), "{}", stderr(&output));
    assert_eq!(manifest(&root.join("first"))["dependencies"], manifest(&root.join("second"))["dependencies"]);

    let mut text = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    text.push_str("[workspace.dependencies]\namdinst-device = \"1\"\nharness = { package = \"amdinst-harness\", version = \"1\" }\n");
    fs::write(root.join("Cargo.toml"), text).unwrap();
    let output = new(root, &["third"]);
    assert!(stderr(&output).contains("harness from [workspace.dependencies]\n"), "{}", stderr(&output));
    assert_eq!(
        manifest(&root.join("third"))["dev-dependencies"]["harness"]["workspace"].as_bool(),
        Some(true)
    );
}

#[test]
fn where_dependencies_come_from() {
    let place = tempfile::tempdir().unwrap();
    let dependency = |name: &str, arguments: &[&str]| {
        let output = new(place.path(), &[&[name], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let path = manifest(&place.path().join(name))["dev-dependencies"]["harness"].clone();
        let absolute = path.get("path").is_some_and(|path| Path::new(path.as_str().unwrap()).is_absolute());
        assert_eq!(stderr(&output).contains("warning:"), absolute, "{}", stderr(&output));
        path
    };
    let git = dependency("a", &["--git", "https://example.org/amdinst"]);
    assert_eq!(git["git"].as_str(), Some("https://example.org/amdinst"));
    assert_eq!(dependency("b", &["--registry"])["version"].as_str(), Some(env!("CARGO_PKG_VERSION")));
    let checkout = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    assert!(Path::new(dependency("c", &["--path", checkout])["path"].as_str().unwrap()).is_absolute());
    // A relative path stays one, for whoever has both. Nothing is warned of then.
    std::os::unix::fs::symlink(Path::new(checkout), place.path().join("amdinst")).unwrap();
    let path = dependency("d", &["--path", "amdinst"])["path"].as_str().unwrap().to_owned();
    assert!(
        path.starts_with("../") && place.path().join("d").join(&path).join("Cargo.toml").is_file(),
        "{path}"
    );
}

#[test]
fn mistakes() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("there")).unwrap();
    fs::write(place.path().join("there/mine.txt"), "mine").unwrap();
    for (arguments, code, message) in [
        (
            &["there"][..],
            11,
            "error: there is there already; nothing was changed\nhelp: choose another directory\n",
        ),
        (&["harness"], 2, "error: a package cannot be called `harness` and depend on `harness`\n"),
        (&["1st"], 2, "error: `cargo new` failed: invalid character `1` in package name: `1st`"),
        (
            &["x", "--path", "there"],
            2,
            "error: there is no checkout of cargo-amdinst\nnote: there is no there/",
        ),
        (
            &["x", "--git", "u", "--registry"],
            2,
            "error: the argument '--git <URL>' cannot be used with '--registry'",
        ),
        (&["there/mine.txt/x"], 2, "error: `cargo new` failed: "),
    ] {
        let output = new(place.path(), arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).starts_with(message), "{arguments:?}: {}", stderr(&output));
    }
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    assert_eq!(fs::read_dir(place.path().join("there")).unwrap().count(), 1);
}
