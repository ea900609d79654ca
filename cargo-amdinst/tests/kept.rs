//! What `report` writes and what `test` keeps, when whoever writes is killed, is not alone, or has no room:
//! every file is the old one or the new one. `cargo xtask drill` does all of it a thousand times.

#[path = "support/drill.rs"]
mod drill;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use amdinst_core::report::run::Run;

use drill::{Disk, Own, PROGRAM, killed, names, tell_turn, times, without_room};

const FILES: [&str; 3] = ["a.info", "a.sarif", "page/index.html"];
const KERNELS: [&str; 2] = ["add", "mul"];
/// A limit that both runs are beyond, so that there is something to write.
const BEYOND: Option<i32> = Some(12);

/// A directory with two saved runs, and what the reports of each are.
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
        let ended = without_room(&reports.command(KERNELS[blocks % 2]), blocks);
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

/// What tests of a package of this workspace keep.
struct Tests {
    own: Own,
    junit: std::path::PathBuf,
    timelines: std::path::PathBuf,
}

impl Tests {
    const PACKAGE: &str = "rodinia";

    fn new(directory: &Path) -> Self {
        let own = Own::new(&directory.join("target"));
        Self { own, junit: directory.join("junit.xml"), timelines: directory.join("timelines") }
    }

    /// Two tests, of short launches.
    fn words(&self) -> [&str; 13] {
        let [junit, timelines] = [&self.junit, &self.timelines].map(|path| path.to_str().unwrap());
        [
            "test",
            "-p",
            Self::PACKAGE,
            "--device",
            "emu",
            "--timing",
            "mi210",
            "--timeline",
            timelines,
            "--junit",
            junit,
            "--",
            "gaussian::",
        ]
    }

    fn command(&self) -> Command {
        self.own.command(&self.words())
    }

    /// The saved run is one that came to its end, the report and the timelines are whole.
    fn check(&self, what: &str) {
        let kept = self.own.artifacts().join(Self::PACKAGE).join("last-run.json");
        let run = serde_json::from_slice::<Run>(&fs::read(kept).unwrap());
        let run = run.unwrap_or_else(|error| panic!("{what}: {error}"));
        let finished = run.programs.iter().all(|program| program.finished);
        let ran: usize = run.programs.iter().map(|program| program.tests.len()).sum();
        assert!(finished && ran == 2, "{what}: {run:?}");
        // The old one goes when a command begins, so that nobody takes it for this one's.
        if let Ok(text) = fs::read_to_string(&self.junit) {
            assert!(text.trim_end().ends_with("</testsuites>"), "{what}: {text}");
        }
        let timelines = self.timelines.join(Self::PACKAGE);
        if timelines.is_dir() {
            for name in names(&timelines).iter().filter(|name| !name.starts_with('.')) {
                let whole = fs::read(timelines.join(name)).unwrap();
                let read = serde_json::from_slice::<serde_json::Value>(&whole);
                assert!(read.is_ok(), "{what}: {name}: {read:?}");
            }
        }
    }

    /// Nothing is there besides.
    fn check_names(&self) {
        let artifacts = self.own.artifacts();
        let left = [artifacts.clone(), artifacts.join(Self::PACKAGE), self.timelines.join(Self::PACKAGE)];
        let left = left.iter().filter(|place| place.is_dir()).flat_map(|place| names(place));
        let left: Vec<_> = left.filter(|name| name.starts_with('.')).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// Tests kernels of this workspace, again and again.
#[test]
#[ignore = "takes as long as a thousand runs of tests: `cargo xtask drill`"]
fn tests_that_are_killed_or_not_alone_keep_the_old_run_or_the_new_one() {
    let place = tempfile::tempdir().unwrap();
    let tests = Tests::new(place.path());
    tests.own.run(&tests.words());
    let begun = Instant::now();
    tests.own.run(&tests.words());
    let (whole, times) = (begun.elapsed(), times(100));
    let mut finished = 0;
    for turn in 0..times {
        tell_turn("tests that are killed", turn, times);
        finished += u32::from(killed(tests.command(), whole, turn, times));
        tests.check(&format!("turn {turn}"));
    }
    eprintln!(
        "{times} kills of `test`, of which {finished} came too late: the old run or the new one each time"
    );
    tests.own.run(&tests.words());
    tests.check_names();
    for turn in 0..times {
        tell_turn("two tests at once", turn, times);
        let mut both = [(); 2].map(|()| tests.command().spawn().unwrap());
        while both.iter_mut().any(|one| one.try_wait().unwrap().is_none()) {
            tests.check(&format!("turn {turn} of two"));
            std::thread::sleep(whole / 20);
        }
        assert!(both.iter_mut().all(|one| one.wait().unwrap().success()), "turn {turn}");
        tests.check_names();
    }
    eprintln!("{times} times two `test`s at once: a whole run at any time");
    assert_eq!(names(place.path()), ["junit.xml", "target", "timelines"]);
}

/// Every block of a disk in turn is the first that there is no room for.
#[test]
#[ignore = "compiles the tests of a package: `cargo xtask drill`"]
fn tests_on_a_full_disk_keep_the_old_run_or_the_new_one() {
    let name = "tests_on_a_full_disk_keep_the_old_run_or_the_new_one";
    let Some(disk) = Disk::of_test(name, "2g") else { return };
    let tests = Tests::new(disk.path());
    tests.own.run(&tests.words());
    let (mut failed, mut done) = (0, 0);
    for left in (0..64).chain((64..1024).step_by(64)) {
        let filler = disk.fill(left);
        let begun = Instant::now();
        let ended = tests.command().stderr(Stdio::piped()).output().unwrap();
        let took = begun.elapsed();
        drop(filler);
        let told = String::from_utf8_lossy(&ended.stderr);
        tests.check(&format!("{left} blocks"));
        tests.check_names();
        assert!(took.as_secs() < 60, "{left} blocks: {took:?}: {told}");
        if ended.status.success() {
            done += 1;
        } else {
            failed += 1;
            // cargo has its own files to write.
            assert!(matches!(ended.status.code(), Some(4 | 11)), "{left} blocks: {:?}: {told}", ended.status);
            assert!(told.contains("No space left on device"), "{left} blocks: {told}");
        }
    }
    eprintln!("`test` on a full disk: {failed} without room, {done} with: the old run or the new one");
    assert!(failed > 4 && done > 4, "{failed} {done}");
}
