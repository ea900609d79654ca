//! `replay`: archives, written as their format is described, replayed and held against what they say that the
//! GPU gave.

mod archive;
mod hostile;
mod kerncap;
#[path = "../support/schema.rs"]
mod schema;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use archive::{Argument, Writer, function, words};
use serde_json::Value;

const A: u64 = 0x7f12_3400_0000;
const B: u64 = 0x7f12_3400_1000;
const C: u64 = 0x7e00_0000_0000;

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).unwrap()
}

/// The archive of the guide's page: two launches, the second of which left something else on the GPU in one
/// element, and a graph.
fn recorded(root: &Path) -> PathBuf {
    let mut writer = Writer::new(root);
    let code = writer.load(0xc0de, &fixture("branches.elf"));
    for at in [A, B, C] {
        writer.malloc(at, 400);
    }
    writer.copy_in(A, &words(1..101));
    writer.copy_in(B, &words((0..100).map(|i| 10 * i)));
    let arguments = [Argument::Pointer(C), Argument::Pointer(A), Argument::Pointer(B), Argument::Word(100)];
    writer.launch("add", code, [[2, 1, 1], [64, 1, 1]], &arguments);
    writer.copy_out(C, &words((0..100).map(|i| 11 * i + 1)));
    let arguments = [Argument::Pointer(A), Argument::Word(100), Argument::Word(1000)];
    writer.launch("collatz", code, [[2, 1, 1], [64, 1, 1]], &arguments);
    let mut steps: Vec<u32> = (1..101).map(collatz).collect();
    steps[26] -= 1;
    writer.copy_out(A, &words(steps));
    writer.longs(function::GRAPH_LAUNCH, &[0x6, 0x51]);
    writer.finish()
}

/// Steps to 1, as the fixture's kernel counts them.
fn collatz(mut x: u32) -> u32 {
    let mut count = 0;
    while x > 1 {
        x = if x.is_multiple_of(2) { x / 2 } else { 3 * x + 1 };
        count += 1;
    }
    count
}

#[test]
fn the_archive_of_the_guide_is_as_it_was_written() {
    let place = tempfile::tempdir().unwrap();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/recorded");
    let written = hostile::files(&recorded(place.path()));
    assert_eq!(hostile::files(&kept), written);
}

#[test]
fn json_is_as_the_schemas_say() {
    let place = tempfile::tempdir().unwrap();
    let archive = recorded(place.path());
    let is_as_said = |name: &str, options: &str, code: i32| {
        let errors = schema::errors(name, &json(&archive, options, code));
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    };
    is_as_said("replay-list.v1.json", "--list", 0);
    is_as_said("replay.v1.json", "--strict", 1);
    is_as_said("replay.v1.json", "--sample-workgroups 1 --original --as f32", 0);
    is_as_said("replay.v1.json", "--budget 20", 9);
}

fn replay(archive: &Path, options: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command.env("NO_COLOR", "1").env_remove("CARGO_TERM_COLOR");
    command.arg("replay").arg(archive).args(options.split_whitespace()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What it prints, after it has ended with a code.
fn json(archive: &Path, options: &str, code: i32) -> Value {
    let output = replay(archive, &format!("{options} --format json"));
    assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// `add` of the fixture: 100 sums in two workgroups, each copied back.
pub(crate) fn sums(root: &Path, wrong: Option<usize>) -> PathBuf {
    let mut writer = Writer::new(root);
    let code = writer.load(0xc0de, &fixture("branches.elf"));
    for at in [A, B, C] {
        writer.malloc(at, 400);
    }
    writer.copy_in(A, &words(0..100));
    writer.copy_in(B, &words((0..100).map(|i| 10 * i)));
    let arguments = [Argument::Pointer(C), Argument::Pointer(A), Argument::Pointer(B), Argument::Word(100)];
    writer.launch("add", code, [[2, 1, 1], [64, 1, 1]], &arguments);
    let mut expected = words((0..100).map(|i| 11 * i));
    wrong.iter().for_each(|&at| expected[at] ^= 1);
    writer.copy_out(C, &expected);
    writer.finish()
}

#[test]
fn what_the_gpu_gave_is_what_the_emulator_has() {
    let place = tempfile::tempdir().unwrap();
    let view = json(&sums(place.path(), None), "--strict", 0);
    assert_eq!(
        view["summary"],
        serde_json::json!({"ok": 1, "faults": 0, "equal": 1, "within": 0, "differs": 0,
        "not_comparable": 0, "not_replayed": 0})
    );
    let launch = &view["launches"][0];
    assert_eq!((launch["kernel"].as_str(), launch["waves"].as_u64()), (Some("add"), Some(2)));
    assert_eq!((launch["branches"].as_u64(), launch["diverged"].as_array().unwrap().len()), (Some(1), 1));
    // By hand: wave 1 has 36 of 64 lanes in range.
    assert_eq!(launch["diverged"][0]["diverged"], 1);
    assert_eq!(launch["memory_equal"], true);
    assert_eq!(launch["oracle_equal"], true);
    assert_eq!(view["copies"][0]["after_launch"], 1);
    let human = text(&replay(place.path(), "").stdout);
    assert!(
        human.contains("ok, 2 waves; 1 of 1 branch diverged (") && human.contains("branches.cl:9"),
        "{human}"
    );
    let alone = json(place.path(), "--original", 0);
    assert_eq!(
        (alone["launches"][0]["branches"].as_u64(), alone["copies"][0]["result"].as_str()),
        (None, Some("equal"))
    );
}

#[test]
fn the_first_element_that_differs_and_the_launch_that_wrote_it_are_told() {
    let place = tempfile::tempdir().unwrap();
    let archive = sums(place.path(), Some(4 * 7));
    let view = json(&archive, "--as u32", 0);
    let copy = &view["copies"][0];
    assert_eq!(
        (copy["result"].as_str(), copy["differing"].as_u64(), copy["of"].as_u64()),
        (Some("differs"), Some(1), Some(100))
    );
    let first = &copy["first"];
    assert_eq!(
        (first["index"].as_u64(), first["offset"].as_u64(), first["launch"].as_u64()),
        (Some(7), Some(28), Some(1))
    );
    assert_eq!((first["gpu"].as_str(), first["emulator"].as_str()), (Some("76"), Some("77")));
    assert_eq!(json(&archive, "--strict", 1)["summary"]["differs"], 1);
    let human = text(&replay(&archive, "").stdout);
    assert!(human.contains("differs in 1 of 400 bytes: first at byte 28, 0x4c on the GPU, 0x4d here, last written by launch 1 (`add`)"), "{human}");
}

#[test]
fn floats_may_differ_by_units_in_the_last_place() {
    let place = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(place.path());
    writer.malloc(A, 8);
    writer.copy_in(A, &words([1.0_f32.to_bits(), 2.0_f32.to_bits()]));
    writer.copy_out(A, &words([1.0_f32.to_bits() + 2, 2.0_f32.to_bits()]));
    let archive = writer.finish();
    assert_eq!(json(&archive, "--as f32 --ulp 2 --strict", 0)["copies"][0]["ulp"], 2);
    let view = json(&archive, "--as f32 --ulp 1 --strict", 1);
    assert_eq!(view["copies"][0]["first"]["written_by"], "event 1 (hipMemcpy)");
}

#[test]
fn memory_is_filled_and_copied_on_several_streams() {
    let place = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(place.path());
    writer.longs(function::STREAM_CREATE, &[0x51]);
    writer.longs(function::STREAM_CREATE, &[0x52]);
    writer.malloc(A, 64);
    writer.malloc(B, 64);
    // hipMemset: destination, value of 32 bits, size.
    let mut fields = vec![0; 4];
    fields.extend(A.to_le_bytes());
    fields.extend(0x1ab_u32.to_le_bytes());
    fields.extend(64_u64.to_le_bytes());
    writer.event(function::MEMSET, &fields);
    // hipMemsetD32Async: destination, value of 32 bits, elements, stream.
    let mut fields = vec![0; 4];
    fields.extend((A + 16).to_le_bytes());
    fields.extend(0x0102_0304_u32.to_le_bytes());
    fields.extend(2_u64.to_le_bytes());
    fields.extend(0x52_u64.to_le_bytes());
    writer.event(function::MEMSET_D32_ASYNC, &fields);
    writer.longs(function::EVENT_RECORD, &[0xe1, 0x52]);
    writer.longs(function::STREAM_SYNCHRONIZE, &[0x52]);
    let (low, high) = writer.blob(&[7; 4]);
    writer.longs(function::MEMCPY_HTOD_ASYNC, &[A + 60, 0x1000, 4, 0x51, low, high]);
    writer.longs(function::MEMCPY_DTOD, &[B, A, 64]);
    let mut expected = vec![0xab; 64];
    expected[16..24].copy_from_slice(&[4, 3, 2, 1, 4, 3, 2, 1]);
    expected[60..].copy_from_slice(&[7; 4]);
    let (low, high) = writer.blob(&expected);
    writer.longs(function::MEMCPY_DTOH, &[0x2000, B, 64, low, high]);
    writer.longs(function::FREE, &[A]);
    writer.malloc(A, 32);
    let archive = writer.finish();
    assert_eq!(json(&archive, "--strict", 0)["summary"]["equal"], 1);
}

#[test]
fn code_is_found_by_name_and_variables_by_their_address() {
    let place = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(place.path());
    writer.load(0xc0de, &fixture("branches.elf"));
    writer.longs(function::MODULE_GET_FUNCTION, &[0xf, 0xc0de, 0x6000]);
    // A bundle that is part of the program: handle, hash, size.
    let (low, high) = writer.blob(&fixture("beside.functions.elf"));
    let mut fields = Vec::new();
    for long in [0xfa7_u64, low, high, 1] {
        fields.extend(long.to_le_bytes());
    }
    writer.event(function::REGISTER_FAT_BINARY, &fields);
    writer.longs(function::MODULE_GET_GLOBAL, &[B, 0x7000, 0xfa7, 0x8000]);
    writer.copy_out(B, &3.0_f32.to_le_bytes());
    writer.copy_in(B, &4.0_f32.to_le_bytes());
    writer.copy_out(B, &4.0_f32.to_le_bytes());
    writer.malloc(A, 256);
    writer.copy_in(A, &words(0..64));
    writer.launch(
        "collatz",
        (0, 0),
        [[1, 1, 1], [64, 1, 1]],
        &[Argument::Pointer(A), Argument::Word(64), Argument::Word(1000)],
    );
    writer.copy_out(A, &words((0..64).map(collatz)));
    let archive = writer.finish();
    let view = json(&archive, "--original --strict", 0);
    assert_eq!(
        (view["summary"]["equal"].as_u64(), view["summary"]["not_replayed"].as_u64()),
        (Some(3), Some(0))
    );
    let view = json(&archive, "", 0);
    assert_eq!(view["copies"].as_array().unwrap().last().unwrap()["result"], "equal");
    assert_eq!(
        view["launches"][0]["diverged"].as_array().unwrap().len(),
        3,
        "the first branch takes all lanes"
    );
}

#[test]
fn what_is_not_replayed_is_told_and_not_compared() {
    let place = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(place.path());
    writer.malloc(A, 64);
    writer.longs(function::GRAPH_LAUNCH, &[0x6, 0x51]);
    writer.longs(function::MEMCPY_TO_SYMBOL, &[0x7, 0x1000, 4, 0]);
    writer.longs(function::HOST_MALLOC, &[B, 64]);
    writer.longs(function::MEMCPY_DTOD, &[A, B, 64]);
    writer.copy_out(A, &[0; 64]);
    writer.malloc(C, 4);
    writer.copy_in(C, &[1; 4]);
    writer.longs(function::GRAPH_LAUNCH, &[0x6, 0x51]);
    writer.copy_out(C, &[1; 4]);
    writer.launch("absent", (1, 2), [[1, 1, 1], [64, 1, 1]], &[]);
    writer.event(600, &[]);
    let archive = writer.finish();
    let view = json(&archive, "--strict", 8);
    let calls = view["not_replayed"].as_array().unwrap();
    let of = |event: u64| calls.iter().find(|call| call["event"] == event).unwrap();
    assert_eq!(
        (of(1)["function"].as_str(), of(1)["why"].as_str()),
        (Some("hipGraphLaunch"), Some("it is not replayed yet"))
    );
    assert!(of(2)["why"].as_str().unwrap().contains("neither the variable's name nor its value"));
    assert_eq!((of(10)["launch"].as_u64(), of(10)["kernel"].as_str()), (Some(1), Some("absent")));
    assert_eq!(of(11)["function"], "an unknown function");
    let copy = &view["copies"][0];
    assert_eq!(copy["result"], "not_comparable");
    assert!(copy["why"].as_str().unwrap().contains("event 3: hipHostMalloc"), "{copy}");
    assert_eq!(view["copies"][1]["why"], "event 8: hipGraphLaunch was not replayed");
    let human = text(&replay(&archive, "").stdout);
    assert!(human.contains("event 1: hipGraphLaunch: it is not replayed yet"), "{human}");
}

#[test]
fn memory_that_nothing_wrote_is_not_compared() {
    let place = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(place.path());
    writer.malloc(A, 8);
    writer.copy_in(A, &[1, 2, 3, 4]);
    writer.copy_out(A, &[1, 2, 3, 4, 9, 9, 9, 9]);
    writer.copy_out(A, &[1, 2, 3, 5, 9, 9, 9, 9]);
    let view = json(&writer.finish(), "", 0);
    assert!(view["copies"][0]["why"].as_str().unwrap().contains("never written by any call"), "{view}");
    assert_eq!(
        (view["copies"][1]["result"].as_str(), view["copies"][1]["first"]["offset"].as_u64()),
        (Some("differs"), Some(3))
    );
}

#[test]
fn a_fault_is_told_with_its_place_in_the_source() {
    let place = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(place.path());
    let code = writer.load(0xc0de, &fixture("branches.elf"));
    writer.malloc(A, 400);
    writer.malloc(C, 200);
    let arguments = [Argument::Pointer(C), Argument::Pointer(A), Argument::Pointer(A), Argument::Word(100)];
    writer.launch("add", code, [[2, 1, 1], [64, 1, 1]], &arguments);
    writer.copy_out(C, &[0; 200]);
    let archive = writer.finish();
    let output = replay(&archive, "");
    assert_eq!(output.status.code(), Some(9));
    let told = text(&output.stderr);
    assert!(told.contains("branches.cl:10") && told.contains("in launch 1 (`add`)"), "{told}");
    assert!(text(&output.stdout).contains("not comparable: launch 1 (`add`) ended with a fault"));
    let view = json(&archive, "", 9);
    assert_eq!(view["launches"][0]["result"], "fault");
    assert_eq!(view["launches"][0]["fault"]["line"], 10);
}

/// 10⁷ work-items are run in 30 of their workgroups; what they leave is not compared.
#[test]
fn a_large_launch_is_sampled() {
    let place = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(place.path());
    let code = writer.load(0xc0de, &fixture("branches.elf"));
    let (groups, bytes) = (156_250, 40_000_000);
    writer.malloc(A, bytes);
    writer.launch(
        "collatz",
        code,
        [[groups, 1, 1], [64, 1, 1]],
        &[Argument::Pointer(A), Argument::Word(10_000_000), Argument::Word(9)],
    );
    writer.copy_out(A, &[0; 16]);
    let start = Instant::now();
    let view = json(&writer.finish(), "--sample-workgroups 30", 0);
    assert_eq!(
        (view["launches"][0]["sampled_workgroups"].as_u64(), view["launches"][0]["waves"].as_u64()),
        (Some(30), Some(30))
    );
    assert_eq!(view["copies"][0]["why"], "launch 1 (`collatz`) was sampled: 30 of 156250 workgroups ran");
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn launches_are_chosen_and_those_before_leave_what_they_find() {
    let place = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(place.path());
    let code = writer.load(0xc0de, &fixture("branches.elf"));
    writer.malloc(A, 256);
    writer.copy_in(A, &words([7; 64]));
    for (round, left) in [16, 4, 2, 1].into_iter().enumerate() {
        let kernel = if round == 2 { "add" } else { "collatz" };
        let arguments = match kernel {
            "add" => {
                vec![Argument::Pointer(A), Argument::Pointer(A), Argument::Pointer(A), Argument::Word(0)]
            }
            _ => vec![Argument::Pointer(A), Argument::Word(64), Argument::Word(1000)],
        };
        writer.launch(kernel, code, [[1, 1, 1], [64, 1, 1]], &arguments);
        writer.copy_out(A, &words([if round == 2 { 4 } else { left }; 64]));
    }
    let archive = writer.finish();
    let view = json(&archive, "--launch 2", 0);
    let chosen = |view: &Value| -> Vec<(u64, bool)> {
        let launches = view["launches"].as_array().unwrap().iter();
        launches.map(|one| (one["launch"].as_u64().unwrap(), one["chosen"].as_bool().unwrap())).collect()
    };
    assert_eq!(chosen(&view), [(1, false), (2, true)]);
    assert_eq!(
        (view["summary"]["equal"].as_u64(), view["launches"][0]["branches"].as_u64()),
        (Some(2), None)
    );
    assert_eq!(chosen(&json(&archive, "--kernel add", 0)), [(1, false), (2, false), (3, true)]);
    assert_eq!(chosen(&json(&archive, "--from 2 --to 3", 0)), [(1, false), (2, true), (3, true)]);
    let output = replay(&archive, "--launch 9");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("it has 4 launches"));
}

/// A log is listed without a look at contents, of which one would be 2 GB.
#[test]
fn an_archive_is_listed_without_its_contents() {
    let place = tempfile::tempdir().unwrap();
    let archive = sums(place.path(), None);
    let large = archive.join("blobs/aa");
    fs::create_dir_all(&large).unwrap();
    fs::File::create(large.join("aa".repeat(16) + ".blob")).unwrap().set_len(2 << 30).unwrap();
    for entry in fs::read_dir(archive.join("blobs")).unwrap() {
        let folder = entry.unwrap().path();
        fs::read_dir(&folder).unwrap().for_each(|file| {
            fs::OpenOptions::new().write(true).open(file.unwrap().path()).unwrap().set_len(2 << 30).unwrap();
        });
    }
    let start = Instant::now();
    let human = text(&replay(&archive, "--list").stdout);
    assert!(start.elapsed() < Duration::from_secs(5));
    let row: Vec<&str> = human.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row, ["1", "6", "add", "2", "64", "gfx90a", "1200"], "{human}");
    let view = json(&archive, "--list", 0);
    assert_eq!((view["events"].as_u64(), view["launches"][0]["target"].as_str()), (Some(8), Some("gfx90a")));
}

#[test]
fn processes_have_memory_of_their_own() {
    let place = tempfile::tempdir().unwrap();
    sums(&place.path().join("pid-20"), None);
    sums(&place.path().join("pid-3"), Some(0));
    fs::create_dir(place.path().join("pid-none")).unwrap();
    let list = json(place.path(), "--list", 0);
    let names: Vec<_> =
        list["launches"].as_array().unwrap().iter().map(|one| one["process"].as_str().unwrap()).collect();
    assert_eq!(names, ["pid 3", "pid 20"]);
    let view = json(place.path(), "", 0);
    assert_eq!(
        (view["copies"][0]["result"].as_str(), view["copies"][1]["result"].as_str()),
        (Some("differs"), Some("equal"))
    );
    assert_eq!(view["copies"][0]["first"]["launch"], 1);
    assert_eq!(view["launches"][1]["launch"], 2);
}
