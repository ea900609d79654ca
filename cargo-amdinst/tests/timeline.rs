//! `run --timeline`: the rules of the trace event format, as far as viewers rely on them, and the waves in
//! it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

use serde::Deserialize;

/// "Trace Event Format", section "JSON Object Format". A field that is not here is none of the format's, or
/// not used.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Trace {
    #[serde(rename = "displayTimeUnit")]
    unit: String,
    #[serde(rename = "otherData")]
    _other: BTreeMap<String, String>,
    #[serde(rename = "traceEvents")]
    events: Vec<Event>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Event {
    name: String,
    #[serde(default)]
    cat: Option<String>,
    ph: String,
    pid: i32,
    tid: i32,
    ts: f64,
    #[serde(default)]
    dur: Option<f64>,
    args: BTreeMap<String, serde_json::Value>,
}

/// Five workgroups of three waves; `add` needs no arguments' contents.
fn run(directory: &Path, options: &[&str]) -> Output {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/branches.elf");
    let launch =
        "--kernel add --grid 5 --block 192 --arg buf:3840 --arg buf:3840 --arg buf:3840 --arg i32:960";
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command
        .current_dir(directory)
        .env("NO_COLOR", "1")
        .env_remove("CARGO_TERM_COLOR")
        .arg("run")
        .arg(fixture);
    command.args(launch.split(' ')).args(options).output().unwrap()
}

fn trace(directory: &Path, name: &str, options: &[&str]) -> (Vec<u8>, Trace) {
    let output = run(directory, &[&["--timing", "mi210", "--timeline", name], options].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bytes = std::fs::read(directory.join(name)).unwrap();
    let trace = serde_json::from_slice(&bytes).unwrap();
    (bytes, trace)
}

/// Nanoseconds, which viewers keep: no more digits may be there.
fn nanoseconds(microseconds: f64) -> i64 {
    let nanoseconds = (microseconds * 1000.0).round();
    assert!((nanoseconds - microseconds * 1000.0).abs() < 1e-6, "{microseconds}");
    nanoseconds as i64
}

#[test]
fn a_timeline_keeps_the_rules_of_its_format() {
    let directory = tempfile::tempdir().unwrap();
    let (_, trace) = trace(directory.path(), "a.json", &["--report"]);
    assert_eq!(trace.unit, "ns");
    let mut named = BTreeSet::new();
    let mut slices = BTreeMap::<(i32, i32), Vec<(i64, i64)>>::new();
    let mut counts = BTreeMap::<i32, Vec<(i64, u64)>>::new();
    for event in &trace.events {
        // 0 is the idle process of the system.
        assert!(event.pid > 0 && event.tid > 0 && event.ts >= 0.0, "{}", event.name);
        match event.ph.as_str() {
            "M" => {
                let (key, kinds) = match event.name.as_str() {
                    "process_name" | "thread_name" => ("name", event.args["name"].is_string()),
                    "process_sort_index" | "thread_sort_index" => {
                        ("sort_index", event.args["sort_index"].is_i64())
                    }
                    other => panic!("no metadata of the format: {other}"),
                };
                assert!(kinds && event.args.len() == 1 && event.args.contains_key(key), "{}", event.name);
                if event.name == "thread_name" {
                    assert!(named.insert((event.pid, event.tid)), "named twice: {}", event.tid);
                }
            }
            "X" => {
                assert_eq!(event.cat.as_deref(), Some("wave"));
                assert!(named.contains(&(event.pid, event.tid)), "a slice of an unnamed thread");
                let (start, length) = (nanoseconds(event.ts), nanoseconds(event.dur.unwrap()));
                slices.entry((event.pid, event.tid)).or_default().push((start, start + length));
            }
            "C" => {
                let waves = event.args["waves"].as_u64().unwrap();
                counts.entry(event.pid).or_default().push((nanoseconds(event.ts), waves));
            }
            other => panic!("no phase that is used: {other}"),
        }
    }
    // Each thread is one process's, and its slices neither overlap nor nest.
    let threads: BTreeSet<i32> = slices.keys().map(|(_, thread)| *thread).collect();
    assert_eq!((threads.len(), named.len()), (slices.len(), slices.len()));
    for (thread, slices) in &slices {
        assert!(slices.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{thread:?}: {slices:?}");
    }
    // Of the original and of the instrumented form, each wave is there once, and the counts are of them.
    assert_eq!(slices.values().map(Vec::len).sum::<usize>(), 2 * 15);
    assert_eq!(counts.len(), 2);
    for counts in counts.values() {
        assert_eq!(counts.iter().map(|(_, waves)| *waves).max(), Some(15));
        assert!(counts.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        assert_eq!(counts.last().map(|(_, waves)| *waves), Some(0));
    }
}

/// The waves of the trace are those that `--format json` tells of.
#[test]
fn a_timeline_is_the_model_s_and_the_same_each_time() {
    let directory = tempfile::tempdir().unwrap();
    let (once, trace_once) = trace(directory.path(), "a.json", &[]);
    let (again, _) = trace(directory.path(), "b.json", &["--threads", "1"]);
    assert!(once == again, "two runs differ");

    let waves: Vec<&Event> = trace_once.events.iter().filter(|event| event.ph == "X").collect();
    let cycles: u64 = waves.iter().map(|wave| wave.args["cycles"].as_u64().unwrap()).sum();
    let json = run(directory.path(), &["--timing", "mi210", "--format", "json"]);
    let view: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let mean = view["timing"]["residency"]["mean"].as_f64().unwrap();
    assert!((cycles as f64 / 15.0 - mean).abs() < 1e-9, "{cycles} cycles, {mean} on average");
    let names: BTreeSet<&str> = waves.iter().map(|wave| wave.name.as_str()).collect();
    let expected = (0..5).flat_map(|group| (0..3).map(move |wave| format!("({group}, 0, 0) wave {wave}")));
    assert!(names.iter().copied().eq(expected.collect::<BTreeSet<_>>().iter().map(String::as_str)));
}

#[test]
fn a_timeline_is_of_a_model() {
    let directory = tempfile::tempdir().unwrap();
    let output = run(directory.path(), &["--timeline", "a.json"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && told.contains("--timing <GPU>"), "{told}");
    let output = run(directory.path(), &["--timing", "mi210", "--timeline", "no/such/directory/a.json"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(11) && told.contains("no/such/directory/a.json"), "{told}");
}
