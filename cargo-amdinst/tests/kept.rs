//! What `report` writes and what `test` keeps, when whoever writes is killed, is not alone, or has no room: every file is the old one or
//! the new one. `cargo xtask drill` does all of it a thousand times.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use amdinst_core::report::run::Run;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cargo-amdinst");

/// How often, unless `AMDINST_DRILL` says otherwise.
fn times(usual: u32) -> u32 {
    std::env::var("AMDINST_DRILL").ok().and_then(|times| times.parse().ok()).unwrap_or(usual)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Runs it with files of so many blocks at most.
fn without_room(directory: &Path, blocks: usize, words: &[&str]) -> Output {
    Command::new("sh")
        .current_dir(directory)
        .args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec {PROGRAM} \"$@\""), PROGRAM])
        .args(words)
        .output()
        .unwrap()
}

/// Kills it at a moment that each turn has another one of. Whether it had ended before.
fn killed(mut command: Command, whole: std::time::Duration, turn: u32, times: u32) -> bool {
    let mut writer = command.spawn().unwrap();
    std::thread::sleep(whole * (turn * 37 % times) / times * 11 / 10);
    let ended = writer.try_wait().unwrap().is_some();
    let _ = writer.kill();
    writer.wait().unwrap();
    ended
}

const FILES: [&str; 3] = ["a.info", "a.sarif", "page/index.html"];
const KERNELS: [&str; 2] = ["add", "mul"];
/// A limit that both runs are beyond, so that there is something to write.
const BEYOND: Option<i32> = Some(12);

/// A directory with two kept runs, and what the reports of each are.
struct Reports {
    place: tempfile::TempDir,
    texts: [[Vec<u8>; 3]; 2],
}

impl Reports {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("src")).unwrap();
        let source = "fn add(n: i32) {\n    if i < n {\n    }\n}\n";
        fs::write(place.path().join("src/add.rs"), source).unwrap();
        for kernel in KERNELS {
            let mut run = include_str!("fixtures/run.json").replace("\"add\"", &format!("{kernel:?}"));
            if kernel == KERNELS[1] {
                let taken = |lanes: u32| format!("\"lanes_taken\":{lanes}");
                run = run.replace(&taken(100), &taken(84)).replace(&taken(36), &taken(20));
                run = run.replace("\"executions\":2,", "\"executions\":3,");
            }
            fs::write(place.path().join(format!("{kernel}.json")), run).unwrap();
        }
        let mut new = Self { place, texts: Default::default() };
        new.texts = KERNELS.map(|kernel| {
            assert_eq!(new.command(kernel).status().unwrap().code(), BEYOND);
            new.read()
        });
        assert!(new.texts[0].iter().zip(&new.texts[1]).all(|(one, other)| one != other));
        new
    }

    fn words(kernel: &str) -> [&'static str; 11] {
        let run = if kernel == KERNELS[0] { "add.json" } else { "mul.json" };
        let [lcov, sarif, _] = FILES;
        ["report", "--run", run, "--fail-on", "lost>1", "--lcov", lcov, "--sarif", sarif, "--html", "page"]
    }

    fn command(&self, kernel: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        command.current_dir(self.place.path()).stdout(Stdio::null()).stderr(Stdio::null());
        command.args(Self::words(kernel));
        command
    }

    fn read(&self) -> [Vec<u8>; 3] {
        FILES.map(|name| fs::read(self.place.path().join(name)).unwrap())
    }

    /// Every file is that of one of the runs.
    fn check(&self, what: &str) {
        for (index, text) in self.read().iter().enumerate() {
            assert!(self.texts.iter().any(|texts| texts[index] == *text), "{what}: {}", FILES[index]);
        }
    }

    /// Nothing is there besides.
    fn check_names(&self) {
        let expected = ["a.info", "a.sarif", "add.json", "mul.json", "page", "src"];
        assert_eq!(names(self.place.path()), expected);
        assert_eq!(names(&self.place.path().join("page")), ["index.html"]);
    }
}

#[test]
fn reports_whose_writer_is_killed_are_the_old_ones_or_the_new_ones() {
    let reports = Reports::new();
    let begun = Instant::now();
    assert_eq!(reports.command(KERNELS[0]).status().unwrap().code(), BEYOND);
    let (whole, times) = (begun.elapsed(), times(40));
    let mut finished = 0;
    for turn in 0..times {
        let command = reports.command(KERNELS[turn as usize / 2 % 2]);
        finished += u32::from(killed(command, whole, turn, times));
        reports.check(&format!("turn {turn}"));
    }
    eprintln!("{times} kills, of which {finished} came too late: the old reports or the new ones each time");
    assert!(finished < times, "nobody was killed");
    assert_eq!(reports.command(KERNELS[1]).status().unwrap().code(), BEYOND);
    assert!(reports.read() == reports.texts[1]);
    reports.check_names();
}

#[test]
fn reports_of_two_writers_are_whole() {
    let reports = Reports::new();
    for turn in 0..times(20) {
        let mut writers = KERNELS.map(|kernel| reports.command(kernel).spawn().unwrap());
        while writers.iter_mut().any(|writer| writer.try_wait().unwrap().is_none()) {
            reports.check(&format!("turn {turn}"));
        }
        assert!(writers.iter_mut().all(|writer| writer.wait().unwrap().code() == BEYOND));
        reports.check_names();
    }
}

#[test]
fn reports_without_room_stay_as_they_were() {
    let reports = Reports::new();
    let (mut failed, mut done) = (0, 0);
    let most = reports.texts.as_flattened().iter().map(Vec::len).max().unwrap() / 512 + 8;
    for blocks in (0..6).chain((6..most).step_by(most / 24 + 1)).chain([most]) {
        let ended = without_room(reports.place.path(), blocks, &Reports::words(KERNELS[blocks % 2]));
        reports.check(&format!("{blocks} blocks"));
        reports.check_names();
        if ended.status.code() == BEYOND {
            done += 1;
        } else {
            failed += 1;
            assert_eq!(ended.status.code(), Some(11), "{ended:?}");
        }
    }
    assert!(failed > 4 && done > 0, "{failed} {done}");
}

/// Tests kernels of this workspace, again and again.
#[test]
#[ignore = "takes as long as a thousand runs of tests: `cargo xtask drill`"]
fn tests_that_are_killed_keep_the_old_run_or_the_new_one() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let place = tempfile::tempdir().unwrap();
    let junit = place.path().join("junit.xml");
    let words = ["test", "-p", "matvec", "--device", "emu", "--junit", junit.to_str().unwrap()];
    let test = || {
        let mut command = Command::new(PROGRAM);
        command.current_dir(&workspace).stdout(Stdio::null()).stderr(Stdio::null());
        command.args(words);
        command
    };
    let artifacts: PathBuf = workspace.join("target/amdinst");
    let kept = artifacts.join("matvec/last-run.json");
    let check = |what: &str| {
        let run = serde_json::from_slice::<Run>(&fs::read(&kept).unwrap());
        let run = run.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(!run.programs.is_empty() && run.programs.iter().all(|program| program.finished), "{what}");
        // The old one goes when a command begins, so that nobody takes it for this one's.
        if let Ok(text) = fs::read_to_string(&junit) {
            assert!(text.trim_end().ends_with("</testsuites>"), "{what}: {text}");
        }
    };
    assert!(test().status().unwrap().success());
    let begun = Instant::now();
    assert!(test().status().unwrap().success());
    let (whole, times) = (begun.elapsed(), times(100));
    let mut finished = 0;
    for turn in 0..times {
        finished += u32::from(killed(test(), whole, turn, times));
        check(&format!("turn {turn}"));
    }
    eprintln!("{times} kills, of which {finished} came too late: the old run or the new one each time");
    let (mut failed, mut done) = (0, 0);
    for blocks in [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 1 << 12, 1 << 16] {
        let ended = without_room(&workspace, blocks, &words);
        check(&format!("{blocks} blocks"));
        *if ended.status.success() { &mut done } else { &mut failed } += 1;
        assert!(ended.status.code().is_some_and(|code| code < 128), "{ended:?}");
    }
    assert!(failed > 0 && done > 0, "{failed} {done}");
    eprintln!("{failed} without room, {done} with: the old run or the new one each time");
    assert!(test().status().unwrap().success());
    let left = [names(&artifacts), names(&artifacts.join("matvec"))].concat();
    assert!(!left.iter().any(|name| name.starts_with('.')), "{left:?}");
    assert_eq!(names(place.path()), ["junit.xml"]);
}
