//! A probe map and its code object, when whoever writes them is killed, is not alone, or has no room.
//! `cargo xtask drill` does all of it a thousand times.

#[path = "support/drill.rs"]
mod drill;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use amdgpu_object::CodeObject;
use amdinst_core::instrument::{ProbeMap, check_pair, map_for};
use amdinst_core::manifest::Manifest;

use drill::{Disk, Own, killed, names, tell_turn, times, without_room};

const HOMES: [&str; 2] = ["global", "register"];

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

#[test]
fn whoever_is_killed_leaves_the_old_pair_or_the_new_one() {
    let place = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    assert!(instrument(place.path(), HOMES[0]).status().unwrap().success());
    let whole = begun.elapsed();
    let times = times(40);
    let mut finished = 0;
    for turn in 0..times {
        // Every moment of a run has its turn, in no order.
        let command = instrument(place.path(), HOMES[turn as usize / 2 % 2]);
        finished += u32::from(killed(command, whole, turn, times));
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
        let ended = without_room(&instrument(place.path(), HOMES[1]), blocks);
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

/// A package of this workspace whose kernels are built.
const PACKAGE: &str = "plain";

fn build(home: &str) -> [&str; 5] {
    ["build", "-p", PACKAGE, "--counters", home]
}

/// All that the manifest names is there and belongs together. A reader who has no lock looks again if another
/// build came in between.
fn check_build(own: &Own, what: &str) {
    let artifacts = own.artifacts().join(PACKAGE);
    let manifest = || fs::read(artifacts.join("manifest.json")).unwrap();
    let mut now = manifest();
    while let Err(problem) = check_manifest(&artifacts, &now) {
        let before = std::mem::replace(&mut now, manifest());
        assert!(now != before, "{what}: {problem}");
    }
}

fn check_manifest(artifacts: &Path, manifest: &[u8]) -> Result<(), String> {
    let manifest = Manifest::from_json(manifest).map_err(|error| error.to_string())?;
    let read = |name: &String| fs::read(artifacts.join(name)).map_err(|error| format!("{name}: {error}"));
    for artifact in &manifest.code_objects {
        let original = read(&artifact.original)?;
        for form in &artifact.instrumented {
            let bytes = form.file.as_ref().map(read).transpose()?;
            let object = bytes.map(CodeObject::parse).transpose().map_err(|error| error.to_string())?;
            let file = read(&form.probes)?;
            let map = ProbeMap::from_json(&file).map_err(|error| error.to_string())?;
            check_pair(&map, &file, Some(&original), object.as_ref()).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

/// Nothing is there but the last build.
fn check_no_other_build(own: &Own) {
    let artifacts = own.artifacts().join(PACKAGE);
    let left = names(&artifacts.join("gfx90a/release"));
    let generations = left.iter().filter(|name| !name.ends_with(".elf")).count();
    assert_eq!(generations, 1, "{left:?}");
    let beside = names(&artifacts);
    assert!(!beside.iter().any(|name| name.starts_with('.')), "{beside:?}");
}

/// Builds kernels of this workspace, again and again.
#[test]
#[ignore = "takes as long as a thousand builds: `cargo xtask drill`"]
fn builds_that_are_killed_or_not_alone_leave_an_old_build_or_a_new_one() {
    let place = tempfile::tempdir().unwrap();
    let own = Own::new(&place.path().join("target"));
    own.run(&build(HOMES[0]));
    let begun = Instant::now();
    own.run(&build(HOMES[1]));
    let (whole, times) = (begun.elapsed(), times(100));
    let mut finished = 0;
    for turn in 0..times {
        tell_turn("builds that are killed", turn, times);
        finished += u32::from(killed(own.command(&build(HOMES[turn as usize % 2])), whole, turn, times));
        check_build(&own, &format!("turn {turn}"));
    }
    own.run(&build(HOMES[0]));
    check_no_other_build(&own);
    eprintln!(
        "{times} kills of `build`, of which {finished} came too late: the old one or the new one each time"
    );
    for turn in 0..times {
        tell_turn("two builds at once", turn, times);
        let mut both = HOMES.map(|home| own.command(&build(home)).spawn().unwrap());
        while both.iter_mut().any(|one| one.try_wait().unwrap().is_none()) {
            check_build(&own, &format!("turn {turn} of two"));
            std::thread::sleep(whole / 20);
        }
        assert!(both.iter_mut().all(|one| one.wait().unwrap().success()), "turn {turn}");
        check_no_other_build(&own);
    }
    eprintln!("{times} times two `build`s at once: a whole one at any time");
}

/// Every block of a disk in turn is the first that there is no room for.
#[test]
#[ignore = "compiles kernels: `cargo xtask drill`"]
fn builds_on_a_full_disk_leave_the_old_build_or_the_new_one() {
    let name = "builds_on_a_full_disk_leave_the_old_build_or_the_new_one";
    let Some(disk) = Disk::of_test(name, "1g") else { return };
    let own = Own::new(&disk.path().join("target"));
    own.run(&build(HOMES[0]));
    let (mut failed, mut done) = (0, 0);
    for left in 0..48 {
        let filler = disk.fill(left);
        let begun = Instant::now();
        let home = HOMES[(left as usize + 1) % 2];
        let ended = own.command(&build(home)).stderr(Stdio::piped()).output().unwrap();
        let took = begun.elapsed();
        drop(filler);
        let told = String::from_utf8_lossy(&ended.stderr);
        check_build(&own, &format!("{left} blocks"));
        assert!(took.as_secs() < 60, "{left} blocks: {took:?}: {told}");
        if ended.status.success() {
            done += 1;
            check_no_other_build(&own);
        } else {
            failed += 1;
            // cargo has its own files to write.
            assert!(matches!(ended.status.code(), Some(4 | 11)), "{left} blocks: {:?}: {told}", ended.status);
            assert!(told.contains("No space left on device"), "{left} blocks: {told}");
        }
    }
    own.run(&build(HOMES[0]));
    check_no_other_build(&own);
    eprintln!("`build` on a full disk: {failed} without room, {done} with: the old one or the new one");
    assert!(failed > 2 && done > 4, "{failed} {done}");
}
