//! `cargo amdinst report` on a run that was made up by hand: what it prints and writes, what each mistake
//! gives.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A run of one kernel with one branch: two executions of 64 lanes, of which one diverged and kept 36.
const RUN: &str = include_str!("fixtures/run.json");

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(place.path("src")).unwrap();
        std::fs::write(place.path("src/add.rs"), "fn add(n: i32) {\n    if i < n {\n    }\n}\n").unwrap();
        std::fs::write(place.path("run.json"), RUN).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn report(&self, arguments: &[&str]) -> Output {
        run(self.0.path(), &[&["report", "--run", "run.json"], arguments].concat())
    }
}

fn run(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"))
        .current_dir(directory)
        .args(arguments)
        .env("NO_COLOR", "1")
        .env_remove("CARGO_TERM_COLOR")
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

#[test]
fn the_source_line_and_what_happened_there() {
    let output = Place::new().report(&[]);
    assert_eq!(
        stdout(&output),
        "\
warning: branch `tail` of add diverged in 1 of 2 executions (50.0 %)
 --> src/add.rs:2:8
  |
2 |     if i < n {
  |        ^^^^^ 50.0 of 64.0 lanes stay active on average; 28 lanes lost
  |
  = note: diverged in 1 of 2 waves: workgroup (0, 0, 0) wave 1

add on gfx90a: 1 launch, 2 waves
demo: 1 kernel, 1 of 1 branch diverged
"
    );
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    let colours = Place::new().report(&["--color", "always"]);
    assert!(stdout(&colours).contains("\u{1b}["));
}

#[test]
fn lines_of_dependencies_are_no_coverage() {
    let place = Place::new();
    let mut run: serde_json::Value = serde_json::from_str(RUN).unwrap();
    let launch = &mut run["programs"][0]["tests"][0]["launches"][0];
    let lines = |file: &str| serde_json::json!({ "file": file, "lines": [3] });
    let files = [
        "src/add.rs",
        "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/amdinst-device-0.1.0/src/ids.rs",
        "/home/me/.cargo/git/checkouts/some-crate-0123456789abcdef/0123456/src/lib.rs",
        "/rustc/0123456789/library/core/src/num/mod.rs",
    ];
    launch["blocks"] = serde_json::json!([{
        "id": 0, "pc": 4096, "end_pc": 4100, "instructions": 1, "file": "src/add.rs", "line": 3, "column": 1,
        "lines": files.map(lines), "function": "add", "executions": 2, "lanes": 100, "waves": [],
    }]);
    std::fs::write(place.path("run.json"), run.to_string()).unwrap();
    let output = place.report(&["--lcov", "a.info"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let tracefile = std::fs::read_to_string(place.path("a.info")).unwrap();
    let named: Vec<&str> = tracefile.lines().filter(|line| line.starts_with("SF:")).collect();
    assert_eq!(named, ["SF:src/add.rs"]);
    assert!(tracefile.contains("DA:3,2\n"), "{tracefile}");
}

#[test]
fn every_file_is_written() {
    let place = Place::new();
    let output =
        place.report(&["--lcov", "a.info", "--sarif", "a.sarif", "--html", "page/of", "--format", "github"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("::warning file=src/add.rs,line=2,col=8,"), "{}", stdout(&output));
    let read = |name: &str| std::fs::read_to_string(place.path(name)).unwrap();
    assert!(read("a.info").contains("SF:src/add.rs\nBRDA:2,0,0,1\nBRDA:2,0,1,1\nBRDA:2,0,2,0\n"));
    assert!(read("a.sarif").contains("\"version\": \"2.1.0\""));
    assert!(read("page/of/index.html").contains("<title>Divergence of demo</title>"));
    let denied = place.report(&["--lcov", "nowhere/a.info"]);
    assert_eq!(denied.status.code(), Some(11), "{}", stderr(&denied));
}

#[test]
fn limits_and_baselines() {
    let place = Place::new();
    assert_eq!(place.report(&["--fail-on", "diverged>50%", "--fail-on", "lost>28"]).status.code(), Some(0));
    let output = place.report(&["--fail-on", "diverged>5%", "-q"]);
    assert_eq!(output.status.code(), Some(12));
    assert_eq!(
        stderr(&output),
        "error: --fail-on diverged>5%: branch `tail` of add: 50.0 % of its executions diverged (src/add.rs:2:8)\n"
    );

    let json = place.report(&["--format", "json"]);
    std::fs::write(place.path("before.json"), &json.stdout).unwrap();
    for baseline in ["before.json", "run.json"] {
        let same = place.report(&["--baseline", baseline, "--fail-on", "worse"]);
        assert_eq!(same.status.code(), Some(0), "{}", stderr(&same));
        assert!(
            stdout(&same).ends_with("compared with the baseline: 0 worse, 0 other changes, 1 unchanged\n")
        );
    }
    // The wave that diverged did not before: 64 lanes went on.
    let before = RUN.replace("\"all\":1,\"none\":0,\"diverged\":1", "\"all\":2,\"none\":0,\"diverged\":0");
    let before = before.replace("\"all\":0,\"none\":0,\"diverged\":1", "\"all\":1,\"none\":0,\"diverged\":0");
    std::fs::write(place.path("before.json"), before).unwrap();
    let worse = place.report(&["--baseline", "before.json", "--fail-on", "worse"]);
    assert_eq!(worse.status.code(), Some(12));
    assert!(
        stdout(&worse)
            .contains("worse   add on gfx90a: branch `tail` at src/add.rs:2:8: 0.0 % of 2 diverged")
    );
}

#[test]
fn mistakes_are_named() {
    let place = Place::new();
    let fails = |arguments: &[&str], code: i32, message: &str| {
        let output = place.report(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(message), "{arguments:?}: {}", stderr(&output));
    };
    fails(
        &["--kernel", "sub"],
        2,
        "error: the run has no launch of a kernel `sub`\nnote: its kernels: add\n",
    );
    fails(&["--fail-on", "worse"], 2, "error: --fail-on worse needs a --baseline\n");
    fails(&["--fail-on", "speed>5"], 2, "unknown limit `speed`");
    fails(&["--baseline", "nothing.json"], 5, "error: cannot read nothing.json\n");
    fails(&["--baseline", "src/add.rs"], 5, "it is not what `cargo amdinst report --format json` prints");
    for option in ["--lcov", "--sarif"] {
        fails(
            &[option, "./run.json"],
            2,
            "error: ./run.json is read by this command: it would be overwritten\n",
        );
        assert_eq!(std::fs::read_to_string(place.path("run.json")).unwrap(), RUN);
    }

    std::fs::write(place.path("run.json"), RUN.replacen("\"schema\":1", "\"schema\":9", 1)).unwrap();
    fails(&[], 5, "it has schema 9, and this version reads schema 1");
    fails(&[], 5, "help: run the tests again: `cargo amdinst test -p PKG`\n");
    std::fs::write(place.path("run.json"), &RUN[..RUN.len() / 2]).unwrap();
    fails(&[], 5, "it is not what `cargo amdinst test` writes\n  EOF while parsing");
    std::fs::remove_file(place.path("run.json")).unwrap();
    fails(&[], 5, "error: cannot read run.json\n");

    std::fs::write(
        place.path("run.json"),
        r#"{"schema":1,"package":"demo","profile":"release","programs":[],"kernels":[],"sources":[]}"#,
    )
    .unwrap();
    assert_eq!(stdout(&place.report(&[])), "demo: 0 kernels, 0 of 0 branches diverged\n");
    fails(&["--fail-on", "diverged>5%"], 12, "error: --fail-on: the run has no launch\n");
}

#[test]
fn a_package_that_was_never_tested() {
    let package = tempfile::tempdir().unwrap();
    std::fs::create_dir(package.path().join("src")).unwrap();
    std::fs::write(package.path().join("src/lib.rs"), "").unwrap();
    let manifest = "[package]\nname = \"fresh\"\nedition = \"2024\"\n[workspace]\n";
    std::fs::write(package.path().join("Cargo.toml"), manifest).unwrap();
    let output = run(package.path(), &["report", "-p", "fresh"]);
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    assert!(
        stderr(&output).starts_with("error: package `fresh` has no saved run: no "),
        "{}",
        stderr(&output)
    );
    assert!(
        stderr(&output).contains("help: run its tests: `cargo amdinst test -p fresh`\n"),
        "{}",
        stderr(&output)
    );
}
