//! `cargo xtask libraries`, with shell scripts in place of the test programs, of `cargo-amdinst` and of
//! Debian 13's loader: each way in which tests and programs end has its name in the table, and only one of
//! them is good.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What each program begins with: `left TEST` says whether the test is to be run.
const PROGRAM: &str = r#"#!/bin/sh
# The tests that are to be run, or all but those.
filter=
for option; do
  case $option in --gtest_flagfile=*) filter=$(sed 's/^--gtest_filter=//' "${option#*=}");; esac
done
named() { case ":${filter#\*-}:" in *":$1:"*) ;; *) return 1;; esac; }
left() { case $filter in '*-'*) ! named "$1";; *) named "$1";; esac; }
pass() { left "$1" || return 0; echo "[ RUN      ] $1"; echo "[       OK ] $1 (3 ms)"; }
fail() { left "$1" || return 0; echo "[ RUN      ] $1"; echo 'f.cpp:3: Failure'; echo "[  FAILED  ] $1 (3 ms)"; code=1; }
skip() { left "$1" || return 0; echo "[ RUN      ] $1"; echo "[  SKIPPED ] $1 (0 ms)"; }
die() { left "$1" || return 0; echo "[ RUN      ] $1"; echo "it was $1" >&2; shift; exec "$@"; }
code=0
"#;

/// What lists two tests.
const TWO: &str = "if [ \"$1\" = --gtest_list_tests ]; then printf 'a.\\n  one\\n  two\\n'; exit; fi\n";

/// A tree with test programs of hipRAND.
struct Tree {
    directory: PathBuf,
}

impl Tree {
    fn new(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libraries").join(name);
        if directory.exists() {
            fs::remove_dir_all(&directory).unwrap();
        }
        let tree = Self { directory };
        tree.write("unpacked", "libhiprand1-tests\n");
        tree.write("root/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1", "");
        tree.script("root/usr/lib64/ld-linux-x86-64.so.2", "#!/bin/sh\nshift 2\nexec \"$@\"\n");
        tree.script(
            "cargo-amdinst",
            "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n",
        );
        tree
    }

    /// A tree with one program, which lists the tests `a.one` and `a.two`.
    fn with(name: &str, body: &str) -> Self {
        let tree = Self::new(name);
        tree.program("test_it", &format!("{TWO}{body}"));
        tree
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.directory.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn script(&self, file: &str, text: &str) {
        self.write(file, text);
        fs::set_permissions(self.directory.join(file), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn program(&self, name: &str, body: &str) {
        self.script(&format!("root/usr/libexec/rocm/libhiprand1-tests/{name}"), &format!("{PROGRAM}{body}"));
    }

    /// Runs the programs; whether all is good, and what it prints.
    fn run(&self, options: &[&str]) -> (bool, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["libraries", "hipRAND", "--tree"])
            .arg(&self.directory)
            .arg("--command")
            .arg(self.directory.join("cargo-amdinst"))
            .args(options)
            // What would have the programs leave out tests.
            .env("GTEST_FILTER", "a.one")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        (output.status.success(), text.into_owned())
    }

    /// Runs the one program, which is not good; its row of the table begins with `figures`, from the programs
    /// in trouble on, and the lines below say `why`.
    fn is_bad(&self, options: &[&str], figures: &str, why: &str) {
        let (is_good, text) = self.run(options);
        assert!(!is_good && text.contains(&format!("\n| hipRAND | 1 | {figures} |")), "{text}");
        assert!(text.contains(&format!("\n- hipRAND, `test_it`{why}\n")), "{text}");
    }
}

/// Of four tests, two are run, again and again until both have ended; the others are counted.
#[test]
fn a_sample_runs_some_tests_alone() {
    let list = "if [ \"$1\" = --gtest_list_tests ]; then printf 'a.\\n  four\\n  one\\n  three\\n  two\\n'; exit; fi\n";
    let tree = Tree::new("sample");
    tree.program(
        "test_it",
        &format!("{list}pass a.four; die a.one sh -c 'kill -6 $$'; pass a.three; pass a.two"),
    );
    let (is_good, text) = tree.run(&["--sample", "2"]);
    assert!(!is_good && text.contains("\n| hipRAND | 1 | 0 | 2 of 4 | 1 | 0 | 0 | 1 | 0 | 0 |"), "{text}");
    let (_, text) = tree.run(&["--sample", "4"]);
    assert!(text.contains("\n| hipRAND | 1 | 0 | 4 | 3 | 0 | 0 | 1 | 0 | 0 |"), "{text}");
}

/// Tests that are not asked for do not run, and are counted; a program without any that is asked for is in no
/// trouble.
#[test]
fn tests_are_chosen_by_words_in_their_names() {
    let list =
        "if [ \"$1\" = --gtest_list_tests ]; then printf 'a.\\n  four\\n  one\\n  three\\n'; exit; fi\n";
    let tree = Tree::new("words");
    tree.program("test_it", &format!("{list}pass a.four; pass a.one; die a.three sh -c 'kill -6 $$'"));
    let (is_good, text) = tree.run(&["--test", "one", "--test", "fo"]);
    assert!(is_good && text.contains("\n| hipRAND | 1 | 0 | 2 of 3 | 2 | 0 | 0 | 0 | 0 | 0 |"), "{text}");
    let (is_good, text) = tree.run(&["--test", "five"]);
    assert!(!is_good && text.contains("no test has that in its name"), "{text}");
}

#[test]
fn tests_that_pass_are_good() {
    let (is_good, text) = Tree::with("good", "pass a.one; skip a.two").run(&[]);
    // Tests, passed, failed, skipped, program ended, time over, not finished.
    assert!(is_good && text.contains("\n| hipRAND | 1 | 0 | 2 | 1 | 0 | 1 | 0 | 0 | 0 | 0 |\n"), "{text}");
    assert!(!text.contains("\n- "), "{text}");
}

#[test]
fn no_variable_leaves_out_tests() {
    let tree = Tree::with("variables", "pass a.one; [ \"$GTEST_FILTER\" ] || pass a.two");
    assert!(tree.run(&[]).0);
}

#[test]
fn a_test_that_fails() {
    let tree = Tree::with("failed", "fail a.one; pass a.two; exit $code");
    tree.is_bad(&[], "0 | 2 | 1 | 1 | 0 | 0 | 0 | 0", ", `a.one`: failed: f.cpp:3: Failure");
}

#[test]
fn an_end_before_the_first_test() {
    let tree = Tree::with("first", "echo; echo no device >&2; exit 3");
    let why = " ended before its first test: exit code 3, stderr: no device";
    tree.is_bad(&[], "1 | 2 | 0 | 0 | 0 | 0 | 0 | 2", why);
    let tree = Tree::with("first-signal", "kill -SEGV $$");
    let why = " ended before its first test: signal: 11 (SIGSEGV) (core dumped)";
    let (is_good, text) = tree.run(&[]);
    // Whether there is a core is the machine's matter.
    assert!(!is_good && text.contains(why.trim_end_matches(" (core dumped)")), "{text}");
    // As one that believes to have no tests.
    let why = " ended before its first test: exit code 0";
    Tree::with("first-good", "exit 0").is_bad(&[], "1 | 2 | 0 | 0 | 0 | 0 | 0 | 2", why);
}

#[test]
fn an_end_in_a_test_costs_only_that_test() {
    let tree = Tree::with("died", "die a.one sh -c 'kill -ABRT $$'; pass a.two");
    let (is_good, text) = tree.run(&[]);
    assert!(!is_good && text.contains("\n| hipRAND | 1 | 0 | 2 | 1 | 0 | 0 | 1 | 0 | 0 |"), "{text}");
    assert!(text.contains("`a.one`: program ended: signal: 6 (SIGABRT)"), "{text}");
    assert!(text.contains(", stderr: it was a.one\n"), "{text}");
    // What the emulator says goes before what comes of it.
    let fault = "pass a.one; die a.two sh -c 'echo \"amdinst: no memory\" >&2; echo aborting >&2; exit 6'";
    let why = ", `a.two`: program ended: exit code 6, stderr: amdinst: no memory … aborting";
    Tree::with("died-fault", fault).is_bad(&[], "0 | 2 | 1 | 0 | 0 | 1 | 0 | 0", why);
    // An exit code does not make it good, not even that of a program that is stopped for its time.
    for code in ["0", "124"] {
        let tree = Tree::with("died-good", &format!("pass a.one; die a.two sh -c 'exit {code}'"));
        let why = format!(", `a.two`: program ended: exit code {code}, stderr: it was a.two");
        tree.is_bad(&[], "0 | 2 | 1 | 0 | 0 | 1 | 0 | 0", &why);
    }
}

#[test]
fn a_test_that_is_never_reported() {
    let tree = Tree::with("silent", "left a.one && echo '[ RUN      ] a.one'; pass a.two");
    let why = ", `a.one`: failed: the program began its next test without a word on this one";
    tree.is_bad(&[], "0 | 2 | 1 | 1 | 0 | 0 | 0 | 0", why);
    // Or never begun, by a program that has no more to say.
    let tree = Tree::with("never", "pass a.one; exit 0");
    let why = " ended after `a.one`, with tests left: exit code 0";
    tree.is_bad(&[], "1 | 2 | 1 | 0 | 0 | 0 | 0 | 1", why);
}

#[test]
fn an_end_between_tests() {
    let tree = Tree::with("between", "left a.one && { pass a.one; exit 5; }; pass a.two");
    tree.is_bad(&[], "1 | 2 | 2 | 0 | 0 | 0 | 0 | 0", " ended after `a.one`, with tests left: exit code 5");
}

#[test]
fn an_end_after_the_last_test() {
    let tree = Tree::with("after", "pass a.one; pass a.two; echo 'double free' >&2; exit 134");
    let why = " ended badly after its tests: exit code 134, stderr: double free";
    tree.is_bad(&[], "1 | 2 | 2 | 0 | 0 | 0 | 0 | 0", why);
}

#[test]
fn a_test_over_its_time_costs_only_that_test() {
    let tree = Tree::with("test-time", "die a.one sleep 100; pass a.two");
    let why = ", `a.one`: time over: the time was over after 1 s";
    tree.is_bad(&["--test-seconds", "1"], "0 | 2 | 1 | 0 | 0 | 0 | 1 | 0", why);
}

#[test]
fn a_program_over_its_time() {
    let tree = Tree::with("time", "pass a.one; die a.two sleep 100");
    let why = " was stopped in `a.two`: the time was over after 3 s";
    tree.is_bad(&["--seconds", "3"], "1 | 2 | 1 | 0 | 0 | 0 | 0 | 1", why);
    let tree = Tree::with("time-first", "exec sleep 100");
    let why = " was stopped in no test: the time was over after 3 s";
    tree.is_bad(&["--seconds", "3"], "1 | 2 | 0 | 0 | 0 | 0 | 0 | 2", why);
}

#[test]
fn a_partial_run_may_lack_time_and_nothing_else() {
    let tree = Tree::with("partial", "pass a.one; die a.two sleep 100");
    assert!(tree.run(&["--partial", "--seconds", "3"]).0);
    assert!(tree.run(&["--partial", "--test-seconds", "1"]).0);
    // Between its tests.
    assert!(
        Tree::with("partial-between", "pass a.one; exec sleep 100").run(&["--partial", "--seconds", "3"]).0
    );
    let why = " was stopped in no test: the time was over after 3 s";
    let options = ["--partial", "--seconds", "3"];
    Tree::with("partial-first", "exec sleep 100").is_bad(&options, "1 | 2 | 0 | 0 | 0 | 0 | 0 | 2", why);
    let why = " ended before its first test: exit code 0";
    Tree::with("partial-ended", "exit 0").is_bad(&options, "1 | 2 | 0 | 0 | 0 | 0 | 0 | 2", why);
    let tree = Tree::with("partial-failed", "fail a.one; die a.two sleep 100");
    tree.is_bad(&options, "1 | 2 | 0 | 1 | 0 | 0 | 0 | 1", ", `a.one`: failed: f.cpp:3: Failure");
    // Started again after `a.one`, it takes no notice.
    let tree = Tree::with("partial-stuck", "filter='*-'; die a.one true; pass a.two");
    tree.is_bad(&options, "1 | 2 | 0 | 0 | 0 | 1 | 0 | 1", " runs tests again, and none that is left");
}

#[test]
fn no_tests() {
    let none = "0 | 0 | 0 | 0 | 0 | 0 | 0";
    let tree = Tree::new("none");
    tree.program("test_it", "exit 0");
    tree.is_bad(&[], &format!("1 | {none}"), " lists no test");
    // But for those that are known to be empty.
    let tree = Tree::new("empty");
    tree.program("test_no_half_operators", "exit 0");
    assert!(tree.run(&[]).0);
    let tree = Tree::new("no-list");
    tree.program("test_it", "echo no device >&2; exit 3");
    let why = " does not list its tests: exit code 3, stderr: no device";
    tree.is_bad(&[], &format!("1 | {none}"), why);
    let tree = Tree::with("skipped", "skip a.one; skip a.two");
    tree.is_bad(&[], "1 | 2 | 0 | 0 | 2 | 0 | 0 | 0", " skipped all of its tests");
    // No programs are not good either.
    let (is_good, text) = tree.run(&["--program", "other"]);
    assert!(!is_good && text.contains("no test program has that in its name"), "{text}");
    fs::remove_dir_all(tree.directory.join("root/usr/libexec/rocm/libhiprand1-tests")).unwrap();
    fs::create_dir(tree.directory.join("root/usr/libexec/rocm/libhiprand1-tests")).unwrap();
    assert!(!tree.run(&[]).0);
}

#[test]
fn a_run_goes_on_with_the_results_of_another() {
    let tree =
        Tree::with("resumed", "echo >>\"$0.starts\"; pass a.one; left a.two && sleep 5; pass a.two; exit 9");
    let file = tree.directory.join("results");
    let results = ["--results", file.to_str().unwrap()];
    let starts = || {
        let starts = tree.directory.join("root/usr/libexec/rocm/libhiprand1-tests/test_it.starts");
        fs::read_to_string(starts).unwrap().len()
    };
    let (is_good, text) = tree.run(&[&results[..], &["--seconds", "3"]].concat());
    assert!(!is_good && text.contains("\n| hipRAND | 1 | 1 | 2 | 1 | 0 | 0 | 0 | 0 | 1 |"), "{text}");
    // What a run leaves that is killed in the middle of a line.
    let whole = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{whole}gfx90a\thipRAND\ttest_it\ta.tw")).unwrap();
    // The second run passes the test that was left; the third has nothing to run, and still says how the
    // second ended.
    for _ in 0..2 {
        let why = " ended badly after its tests: exit code 9";
        tree.is_bad(&results, "1 | 2 | 2 | 0 | 0 | 0 | 0 | 0", why);
        assert_eq!(starts(), 2);
    }
    let lines: Vec<Vec<String>> = fs::read_to_string(&file)
        .unwrap()
        .lines()
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(lines[1][..5], ["gfx90a", "hipRAND", "test_it", "a.two", "passed"]);
    // Another GPU has other results.
    tree.run(&[&results[..], &["--target-cpu", "gfx1030"]].concat());
    assert_eq!(starts(), 3);
}

#[test]
fn a_longer_limit_runs_again_what_took_too_long() {
    let slow = "left a.one && { echo '[ RUN      ] a.one'; sleep 2; echo '[       OK ] a.one (2000 ms)'; }; pass a.two; exit 0";
    let tree = Tree::with("longer", slow);
    let file = tree.directory.join("results");
    let results = ["--results", file.to_str().unwrap()];
    let why = ", `a.one`: time over: the time was over after 1 s";
    for _ in 0..2 {
        let short = [&results[..], &["--test-seconds", "1"]].concat();
        tree.is_bad(&short, "0 | 2 | 1 | 0 | 0 | 0 | 1 | 0", why);
    }
    assert!(tree.run(&results).0);
}
