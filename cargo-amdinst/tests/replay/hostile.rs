//! Archives that are damaged, or made to do harm.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use amdinst_replay::{Archive, Player, Settings};

use super::archive::{Writer, function};
use super::{A, replay, sums, text};

#[test]
fn a_torn_log_is_replayed_as_far_as_it_goes() {
    let place = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(place.path());
    writer.malloc(A, 4);
    writer.copy_in(A, &[1, 2, 3, 4]);
    writer.copy_out(A, &[1, 2, 3, 4]);
    let whole = writer.log.len();
    writer.copy_out(A, &[1, 2, 3, 4]);
    for left in [1, 31, 40] {
        let torn = Writer {
            root: writer.root.clone(),
            log: writer.log[..whole + left].to_vec(),
            ..Writer::new(place.path())
        };
        let output = replay(&torn.finish_torn(0), "");
        assert!(output.status.success());
        let told = text(&output.stderr);
        assert!(
            told.contains(&format!(
                "events.bin breaks off in the event at byte {} ({left} bytes left)",
                8 + whole
            )),
            "{told}"
        );
        assert!(text(&output.stdout).contains("1 copy: 1 equal"));
    }
    let output = replay(&writer.finish_torn(0), "");
    assert!(
        text(&output.stderr).contains("no end mark") && text(&output.stdout).contains("2 copies: 2 equal")
    );
}

#[test]
fn what_is_no_archive_is_told() {
    let place = tempfile::tempdir().unwrap();
    let refused = |code: i32, said: &[&str]| {
        let output = replay(place.path(), "");
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{told}");
        said.iter().for_each(|said| assert!(told.contains(said), "{said}: {told}"));
    };
    refused(5, &["no archive", "HIP_HRR_CAPTURE_OUTPUT"]);
    let writer = Writer { version: 6, ..Writer::new(place.path()) };
    writer.finish_torn(0);
    refused(8, &["format version 6", "reads version 3"]);
    fs::write(place.path().join("events.bin"), "EHR").unwrap();
    refused(5, &["its first bytes are [45, 48, 52]"]);
    fs::write(place.path().join("events.bin"), "").unwrap();
    refused(5, &["its first bytes are []"]);
    fs::write(place.path().join("dispatch.json"), "{}").unwrap();
    fs::remove_file(place.path().join("events.bin")).unwrap();
    refused(5, &["dispatch.json: missing field"]);
}

/// A blob that is a link out of the archive is not read; neither is one of another size, or other contents.
#[test]
fn contents_are_those_of_the_archive() {
    let place = tempfile::tempdir().unwrap();
    let secret = place.path().join("secret");
    fs::write(&secret, [1, 2, 3, 4]).unwrap();
    for (damage, said) in [
        ("link", "is a link"),
        ("size", "has 3 bytes, and 4 are asked for"),
        ("contents", "it is damaged"),
        ("none", "cannot read"),
    ] {
        let root = place.path().join(damage);
        let mut writer = Writer::new(&root);
        writer.malloc(A, 4);
        writer.copy_in(A, &[1, 2, 3, 4]);
        writer.copy_out(A, &[1, 2, 3, 4]);
        let (low, high) = super::archive::hash(&[1, 2, 3, 4]);
        let name = format!("{low:016x}{high:016x}");
        let file = root.join("blobs").join(&name[..2]).join(format!("{name}.blob"));
        match damage {
            "size" => fs::write(&file, [1, 2, 3]).unwrap(),
            "contents" => fs::write(&file, [1, 2, 3, 5]).unwrap(),
            _ => fs::remove_file(&file).unwrap(),
        }
        if damage == "link" {
            std::os::unix::fs::symlink(&secret, &file).unwrap();
        }
        let output = replay(&writer.finish(), "");
        let told = text(&output.stdout);
        assert!(
            told.contains(said) && told.contains("1 not comparable") && told.contains("1 call not replayed"),
            "{damage}: {told}"
        );
    }
}

#[test]
fn sizes_are_not_believed() {
    let place = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(place.path());
    writer.malloc(A, u64::MAX);
    writer.malloc(A, 1 << 60);
    writer.malloc(u64::MAX - 3, 64);
    writer.malloc(8, 64);
    writer.malloc(A, 64);
    writer.malloc(A + 32, 64);
    writer.longs(function::MEMCPY_DTOD, &[A, A, 1 << 62]);
    writer.longs(function::MEMSET, &[A, u64::MAX, u64::MAX]);
    writer.longs(function::FREE, &[A + 1]);
    let output = replay(&writer.finish(), "");
    assert!(output.status.success());
    let told = text(&output.stdout);
    assert!(told.contains("8 calls not replayed"), "{told}");
}

/// All files of a folder, by their names in it, with their contents.
pub(crate) fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(root).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), PathBuf::from(entry.file_name()))).unwrap();
        match path.is_dir() {
            true => found.extend(files(&path).into_iter().map(|(file, bytes)| (name.join(file), bytes))),
            false => drop(found.insert(name, fs::read(&path).unwrap())),
        }
    }
    found
}

/// Numbers that are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit as u64) as usize
    }
}

/// 200 archives with some bytes changed: each is replayed or refused, and nothing is written anywhere.
#[test]
fn mutants_do_no_harm() {
    let place = tempfile::tempdir().unwrap();
    let archive = sums(&place.path().join("archive"), None);
    let (events, before) = (fs::read(archive.join("events.bin")).unwrap(), files(place.path()));
    let mut config = amdinst_emu::Config::default();
    config.budget = 10_000;
    let instrument = Some(amdinst_core::instrument::Options::default());
    let settings = Settings { config, instrument, sample: Some(4), threads: 1, ..Settings::default() };
    let mut random = Random(71);
    for _ in 0..200 {
        let mut mutant = events.clone();
        for _ in 0..1 + random.below(4) {
            let at = random.below(mutant.len());
            match random.below(4) {
                0 => mutant.truncate(at.max(8)),
                1 => mutant[at] = 0xff,
                2 => mutant[at] ^= 1 << random.below(8),
                _ => mutant[at] = random.below(256) as u8,
            }
        }
        fs::write(archive.join("events.bin"), mutant).unwrap();
        if let Ok(read) = Archive::open(&archive) {
            drop(amdinst_replay::Launches::of(&read));
            for process in &read.processes {
                drop(Player::new(process, 0, &settings).play(&mut |_, _| true));
            }
        }
    }
    fs::write(archive.join("events.bin"), events).unwrap();
    assert_eq!(files(place.path()), before);
}
