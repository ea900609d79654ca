//! What a release's archive holds, and where `cargo binstall` looks for it, agree.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn package() -> Value {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    packages.iter().find(|package| package["name"] == env!("CARGO_PKG_NAME")).unwrap().clone()
}

/// As binstall fills its templates in, with names of a shell's variables.
fn filled(template: &Value, bin: &str) -> String {
    let values = [
        ("{ repo }", env!("CARGO_PKG_REPOSITORY")),
        ("{ name }", env!("CARGO_PKG_NAME")),
        ("{ version }", "$version"),
        ("{ target }", "x86_64-unknown-linux-gnu"),
        ("{ bin }", bin),
        ("{ binary-ext }", ""),
    ];
    let text = template.as_str().unwrap().to_owned();
    let text = values.iter().fold(text, |text, (key, value)| text.replace(key, value));
    assert!(!text.contains(['{', '}']), "{text}");
    text
}

#[test]
fn binstall_finds_every_program_in_the_archive() {
    let workflow = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.github/workflows/release.yml");
    let workflow = fs::read_to_string(workflow).unwrap();
    let package = package();
    let binstall = &package["metadata"]["binstall"];
    let name = workflow.lines().find_map(|line| line.trim().strip_prefix("name=")).unwrap();

    let url = filled(&binstall["pkg-url"], "");
    assert_eq!(url, format!("{}/releases/download/v$version/{name}.tar.xz", env!("CARGO_PKG_REPOSITORY")));
    assert_eq!(binstall["pkg-fmt"], "txz");

    let copied = workflow.lines().find(|line| line.ends_with(" \"$name/bin/\"")).unwrap();
    let targets = package["targets"].as_array().unwrap();
    let programs: Vec<&str> = targets
        .iter()
        .filter(|target| target["kind"][0] == "bin")
        .map(|target| target["name"].as_str().unwrap())
        .collect();
    assert!(programs.contains(&"cargo-amdinst"), "{programs:?}");
    for program in programs {
        assert!(copied.contains(&format!("target/release/{program} ")), "{copied}");
        assert_eq!(filled(&binstall["bin-dir"], program), format!("{name}/bin/{program}"));
    }
    for file in ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "sha256sum", "completions", "share/man/man1"] {
        assert!(workflow.contains(file), "{file}");
    }
}
