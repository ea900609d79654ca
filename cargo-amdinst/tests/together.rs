//! A probe map and its code object, when whoever writes them is killed, is not alone, or has no room. `cargo xtask drill` does all of it a
//! thousand times.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use amdgpu_object::CodeObject;
use amdinst_core::instrument::{ProbeMap, check_pair, map_for};
use amdinst_core::manifest::Manifest;

const HOMES: [&str; 2] = ["global", "register"];

/// How often, unless `AMDINST_DRILL` says otherwise.
fn times(usual: u32) -> u32 {
    std::env::var("AMDINST_DRILL").ok().and_then(|times| times.parse().ok()).unwrap_or(usual)
}

fn fixture() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/branches.elf").to_owned()
}

fn instrument(directory: &Path, home: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command.current_dir(directory).stdout(Stdio::null()).stderr(Stdio::null());
    command.args(["instrument", &fixture(), "-o", "out.elf", "--counters", home]);
    command
}

/// What a reader finds.
#[derive(Debug, PartialEq)]
enum Found {
    /// A map with its code object, whose counters are there.
    Pair(String),
    /// One of the two.
    Alone,
    /// Two that do not belong together.
    Mixed(String),
}

fn found(directory: &Path) -> Found {
    let read = |name: &str| fs::read(directory.join(name)).ok();
    let (Some(object), Some(file)) = (read("out.elf"), read("out.probes.json")) else { return Found::Alone };
    let Ok(object) = CodeObject::parse(object) else { return Found::Mixed("a torn file".to_owned()) };
    match map_for(&file, &object) {
        Ok(map) => Found::Pair(format!("{:?}", map.kernels[0].home)),
        Err(error) => Found::Mixed(error.to_string()),
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn whoever_is_killed_leaves_the_old_pair_or_the_new_one() {
    let place = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    assert!(instrument(place.path(), HOMES[0]).status().unwrap().success());
    let whole = begun.elapsed();
    let times = times(40);
    let mut finished = 0;
    for turn in 0..times {
        let mut writer = instrument(place.path(), HOMES[turn as usize / 2 % 2]).spawn().unwrap();
        // Every moment of a run has its turn, in no order.
        std::thread::sleep(whole * (turn * 37 % times) / times * 11 / 10);
        finished += u32::from(writer.try_wait().unwrap().is_some());
        let _ = writer.kill();
        writer.wait().unwrap();
        let found = found(place.path());
        assert!(matches!(found, Found::Pair(_)), "turn {turn}: {found:?}");
    }
    eprintln!("{times} kills, of which {finished} came too late: the old pair or the new one each time");
    assert!(finished < times, "nobody was killed");
    assert!(instrument(place.path(), HOMES[1]).status().unwrap().success());
    assert_eq!(found(place.path()), Found::Pair("Some(Register)".to_owned()));
    assert_eq!(names(place.path()), ["out.elf", "out.probes.json"]);
}

#[test]
fn two_writers_leave_the_pair_of_one_of_them_and_a_reader_finds_one_at_any_time() {
    let place = tempfile::tempdir().unwrap();
    assert!(instrument(place.path(), HOMES[0]).status().unwrap().success());
    let mut again = 0;
    for _ in 0..times(20) {
        let mut writers = HOMES.map(|home| instrument(place.path(), home).spawn().unwrap());
        while writers.iter_mut().any(|writer| writer.try_wait().unwrap().is_none()) {
            // A reader looks at the hashes, and once more if another pair came in between its two reads.
            let mut tries = 0;
            while !matches!(found(place.path()), Found::Pair(_)) {
                tries += 1;
                assert!(tries < 100, "{:?}", found(place.path()));
                std::thread::sleep(Duration::from_millis(1));
            }
            again += tries;
        }
        assert!(writers.iter_mut().all(|writer| writer.wait().unwrap().success()));
        assert!(matches!(found(place.path()), Found::Pair(_)), "{:?}", found(place.path()));
        assert_eq!(names(place.path()), ["out.elf", "out.probes.json"]);
    }
    eprintln!("readers read again {again} times");
}

/// A file may have so many bytes and no more: each write in turn is the one that fails.
#[test]
fn without_room_everything_stays_as_it_was() {
    let place = tempfile::tempdir().unwrap();
    assert!(instrument(place.path(), HOMES[0]).status().unwrap().success());
    let old = ["out.elf", "out.probes.json"].map(|name| fs::read(place.path().join(name)).unwrap());
    let (mut failed, mut done) = (0, 0);
    for blocks in 0..64 {
        let program = env!("CARGO_BIN_EXE_cargo-amdinst");
        let (fixture, home) = (fixture(), HOMES[1]);
        let ended = Command::new("sh")
            .current_dir(place.path())
            .args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec {program} instrument {fixture} -o out.elf --counters {home}")])
            .output()
            .unwrap();
        assert_eq!(names(place.path()), ["out.elf", "out.probes.json"], "{ended:?}");
        if ended.status.success() {
            done += 1;
            assert_eq!(found(place.path()), Found::Pair("Some(Register)".to_owned()));
            assert!(instrument(place.path(), HOMES[0]).status().unwrap().success());
        } else {
            failed += 1;
            assert_eq!(ended.status.code(), Some(11), "{ended:?}");
            let now = ["out.elf", "out.probes.json"].map(|name| fs::read(place.path().join(name)).unwrap());
            assert!(now == old, "with {blocks} blocks");
        }
    }
    assert!(failed > 4 && done > 4, "{failed} {done}");
}

#[test]
fn mode_and_owner_stay_and_what_may_not_be_written_is_not_replaced() {
    let place = tempfile::tempdir().unwrap();
    let output = place.path().join("out.elf");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(&output, "old").unwrap();
    fs::set_permissions(&output, fs::Permissions::from_mode(0o751)).unwrap();
    let root = output.metadata().unwrap().uid() == 0;
    if root {
        std::os::unix::fs::chown(&output, Some(1234), Some(4321)).unwrap();
    }
    let before = output.metadata().unwrap();
    assert!(instrument(place.path(), HOMES[0]).status().unwrap().success());
    let after = output.metadata().unwrap();
    let of = |metadata: &fs::Metadata| (metadata.mode(), metadata.uid(), metadata.gid());
    assert_eq!(of(&before), of(&after));
    assert!(fs::read(&output).unwrap().starts_with(b"\x7fELF"));

    fs::set_permissions(&output, fs::Permissions::from_mode(0o444)).unwrap();
    let written = fs::read(&output).unwrap();
    let mut command = instrument(place.path(), HOMES[1]);
    if root {
        command.uid(65534).gid(65534);
    }
    let ended = command.stderr(Stdio::piped()).output();
    // The program may stand where nobody else comes.
    let Ok(ended) = ended else { return };
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(11), "{told}");
    assert!(told.contains("out.elf") && told.contains("Permission denied"), "{told}");
    assert_eq!(fs::read(&output).unwrap(), written);
    assert_eq!(names(place.path()), ["out.elf", "out.probes.json"]);
}

/// Builds kernels of this workspace, again and again.
#[test]
#[ignore = "takes as long as a thousand builds: `cargo xtask drill`"]
fn builds_that_are_killed_leave_an_old_build_or_a_new_one() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let artifacts = workspace.join("target/amdinst/plain");
    let build = |home: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
        command.current_dir(&workspace).stdout(Stdio::null()).stderr(Stdio::null());
        command.args(["build", "-p", "plain", "--counters", home]);
        command
    };
    assert!(build(HOMES[0]).status().unwrap().success());
    let begun = Instant::now();
    assert!(build(HOMES[1]).status().unwrap().success());
    let (whole, times) = (begun.elapsed(), times(100));
    for turn in 0..times {
        let mut writer = build(HOMES[turn as usize % 2]).spawn().unwrap();
        std::thread::sleep(whole * (turn * 37 % times) / times * 11 / 10);
        let _ = writer.kill();
        writer.wait().unwrap();
        let manifest = Manifest::from_json(&fs::read(artifacts.join("manifest.json")).unwrap()).unwrap();
        for artifact in &manifest.code_objects {
            let read = |name: &String| fs::read(artifacts.join(name)).unwrap();
            let original = read(&artifact.original);
            for form in &artifact.instrumented {
                let object = form.file.as_ref().map(|file| CodeObject::parse(read(file)).unwrap());
                let file = read(&form.probes);
                let map = ProbeMap::from_json(&file).unwrap();
                check_pair(&map, &file, Some(&original), object.as_ref()).unwrap();
            }
        }
    }
    assert!(build(HOMES[0]).status().unwrap().success());
    let place = artifacts.join("gfx90a/release");
    let left = names(&place);
    let generations = left.iter().filter(|name| !name.ends_with(".elf")).count();
    assert_eq!(generations, 1, "{left:?}");
    eprintln!("{times} builds killed");
}
