//! Commands on a disk that has no room, which is a file system of its own: each block in turn is the first
//! that does not fit. Every file is the old one or the new one, nothing is left behind, and one line tells
//! why. What builds and tests do is in `together` and `kept`.

#[path = "support/drill.rs"]
mod drill;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use drill::{Disk, PROGRAM, names};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/branches.elf");

/// All files below a directory, with what they hold.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for name in names(directory) {
        let path = directory.join(name);
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    found
}

/// Does `new` where `old` has been done, with more and more room.
fn on_a_full_disk(test: &str, old: &[&str], new: &[&str]) {
    let Some(disk) = Disk::of_test(test, "3m") else { return };
    let place = disk.path().join("work");
    fs::create_dir(&place).unwrap();
    let source = "fn add(n: i32) {\n    if i < n {\n    }\n}\n";
    fs::create_dir(place.join("src")).unwrap();
    fs::write(place.join("src/add.rs"), source).unwrap();
    for kernel in ["add", "mul"] {
        let run = include_str!("fixtures/run.json").replace("\"add\"", &format!("{kernel:?}"));
        fs::write(place.join(format!("{kernel}.json")), run).unwrap();
    }
    let command = |words: &[&str]| {
        let mut command = Command::new(PROGRAM);
        command.current_dir(&place).env("NO_COLOR", "1").stdin(Stdio::null()).args(words);
        command.output().unwrap()
    };
    let made = |words: &[&str]| {
        let ended = command(words);
        assert_eq!(ended.status.code(), Some(0), "{words:?}: {}", String::from_utf8_lossy(&ended.stderr));
        files(&place)
    };
    let (after, before) = (made(new), made(old));
    assert!(
        before != after && before.keys().eq(after.keys()),
        "they write the same files, with other contents"
    );
    let (mut failed, mut left) = (0, 0);
    let mut done = 0;
    while done < 2 {
        let filler = disk.fill(left);
        let ended = command(new);
        drop(filler);
        let (now, told) = (files(&place), String::from_utf8_lossy(&ended.stderr));
        assert!(now.keys().eq(before.keys()), "{left} blocks: {:?}: {told}", now.keys());
        for (path, contents) in &now {
            let name = path.display();
            assert!(*contents == before[path] || *contents == after[path], "{left} blocks: {name}: {told}");
        }
        match ended.status.code() {
            Some(0) => {
                assert!(now == after, "{left} blocks");
                done += 1;
            }
            code => {
                failed += 1;
                assert_eq!(code, Some(11), "{left} blocks: {told}");
                assert_eq!(told.matches("No space left on device").count(), 1, "{left} blocks: {told}");
            }
        }
        assert!(made(old) == before);
        left += 1;
        assert!(left < 300, "there never is room");
    }
    eprintln!("{}: {failed} without room, {done} with: the old files or the new ones each time", new[0]);
    assert!(failed > 0);
}

#[test]
fn instrument_on_a_full_disk_leaves_the_old_pair_or_the_new_one() {
    let words = |home| ["instrument", FIXTURE, "-o", "out.elf", "--counters", home];
    let name = "instrument_on_a_full_disk_leaves_the_old_pair_or_the_new_one";
    on_a_full_disk(name, &words("global"), &words("register"));
}

#[test]
fn reports_on_a_full_disk_are_the_old_ones_or_the_new_ones() {
    let words = |run| ["report", "--run", run, "--sarif", "a.sarif", "--html", "page", "--lcov", "a.info"];
    let name = "reports_on_a_full_disk_are_the_old_ones_or_the_new_ones";
    on_a_full_disk(name, &words("add.json"), &words("mul.json"));
}

#[test]
fn what_run_writes_on_a_full_disk_is_old_or_new() {
    let words = |n| {
        let launch = "run FIXTURE --kernel add --grid 5 --block 192 --arg iota:f32[960] --arg iota:f32[960] --arg out:3840:c.bin --arg";
        let outputs = "--timing mi210 --timeline trace.json --report --waves waves.jsonl";
        let launch = launch.split(' ').map(|word| if word == "FIXTURE" { FIXTURE } else { word });
        launch.chain([n]).chain(outputs.split(' ')).collect::<Vec<&str>>()
    };
    on_a_full_disk("what_run_writes_on_a_full_disk_is_old_or_new", &words("i32:100"), &words("i32:960"));
}
