//! `run`: launches of `fixtures/branches.elf`, results, reports and errors.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/branches.elf")
}

/// Runs a kernel of the fixture in `directory` with the words of `options`.
fn run(directory: &Path, kernel: &str, options: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command.current_dir(directory).env("NO_COLOR", "1").env_remove("CARGO_TERM_COLOR");
    command.arg("run").arg(fixture()).args(["--kernel", kernel]);
    command.args(options.split_whitespace()).output().unwrap()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn write_words(path: &Path, words: impl Iterator<Item = u32>) {
    std::fs::write(path, words.flat_map(u32::to_le_bytes).collect::<Vec<_>>()).unwrap();
}

fn read_words(path: &Path) -> Vec<u32> {
    let bytes = std::fs::read(path).unwrap();
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// By hand: wave 0 has 64 lanes with a dword each, four lines; wave 1 has 36, three lines. Two loads, one
/// store. A report beside it changes nothing.
#[test]
fn memory_is_measured_by_line() {
    let directory = tempfile::tempdir().unwrap();
    let options = "--grid 2 --block 64 --arg buf:512 --arg buf:512 --arg buf:512 --arg i32:100 --memory";
    let memory = json(&run(directory.path(), "add", &format!("{options} --format json")))["memory"].take();
    let figure = |line: usize, name: &str| memory["lines"][line][name].as_u64();
    for (line, access, times) in [(0, "load", 2), (1, "store", 1)] {
        assert_eq!(memory["lines"][line]["access"], access);
        assert_eq!(memory["lines"][line]["line"], 10);
        assert_eq!(memory["lines"][line]["coalescing_percent"], 100.0);
        let expected = [("executions", 2), ("lanes", 100), ("bytes", 400), ("lines_64", 7), ("lines_128", 4)];
        for (name, each) in expected {
            assert_eq!(figure(line, name), Some(times * each), "{name}");
        }
    }
    let beside = json(&run(directory.path(), "add", &format!("{options} --report --format json")));
    assert_eq!(beside["memory"], memory);
    let text = run(directory.path(), "add", options);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("14 cache lines, 100 % coalesced"), "{text}");
    let without = run(directory.path(), "add", options.strip_suffix(" --memory").unwrap());
    assert!(!String::from_utf8_lossy(&without.stdout).contains("cache line"));
}

/// Every figure of `--timing` is modelled; what must hold whatever the model's constants are.
#[test]
fn a_launch_is_modelled_and_every_cycle_has_a_cause() {
    let directory = tempfile::tempdir().unwrap();
    write_words(&directory.path().join("a"), 0..100);
    write_words(&directory.path().join("b"), 0..100);
    let options =
        "--grid 2 --block 64 --arg out:400:c --arg in:a --arg in:b --arg i32:100 --timing mi210 --report";
    let view = json(&run(directory.path(), "add", &format!("{options} --format json")));
    for timing in [&view["timing"], &view["instrumented_timing"]] {
        assert_eq!((timing["device"].as_str(), timing["waves"].as_u64()), (Some("mi210"), Some(2)));
        let sum = |breakdown: &Value| {
            let stalls =
                breakdown["stalls"].as_object().unwrap().values().map(|cycles| cycles.as_u64().unwrap());
            breakdown["issue"].as_u64().unwrap() + stalls.sum::<u64>()
        };
        let resident = timing["residency"]["mean"].as_f64().unwrap() * 2.0;
        assert_eq!(sum(&timing["breakdown"]) as f64, resident);
        let lines = timing["lines"].as_array().unwrap();
        assert_eq!(lines.iter().map(|line| sum(&line["breakdown"])).sum::<u64>() as f64, resident);
        assert!(lines.iter().any(|line| line["file"].as_str().unwrap().ends_with("branches.cl")));
        assert_eq!(timing["occupancy"]["waves_per_cu"], 32);
    }
    assert!(view["instrumented_timing"]["cycles"].as_u64() > view["timing"]["cycles"].as_u64());

    let text = run(directory.path(), "add", options);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    for expected in
        ["original, modeled on mi210 (104 compute units, 1700 MHz)", "slowdown, modeled:", "branches.cl:9"]
    {
        assert!(text.contains(expected), "{text}");
    }
}

/// 100 elements in two waves of 64: the first wave goes on with all its lanes, the second with 36 of 64.
#[test]
fn the_tail_of_a_vector_add_diverges_once() {
    let directory = tempfile::tempdir().unwrap();
    write_words(&directory.path().join("a"), 0..100);
    write_words(&directory.path().join("b"), (0..100).map(|i| 1000 * i));
    for home in ["register", "lds", "global"] {
        let options = format!(
            "--grid 2 --block 64 --arg out:400:c --arg in:a --arg in:b --arg i32:100 --report --counters {home} --format json"
        );
        let view = json(&run(directory.path(), "add", &options));
        assert_eq!(view["counter_storage"], home);
        assert_eq!((view["memory_equal"].clone(), view["oracle_equal"].clone()), (true.into(), true.into()));
        assert_eq!(view["waves"], 2);
        let [site] = &view["sites"].as_array().unwrap()[..] else { panic!("{view}") };
        for (figure, value) in [
            ("executions", 2),
            ("all", 1),
            ("none", 0),
            ("diverged", 1),
            ("lanes_in", 128),
            ("lanes_taken", 100),
        ] {
            assert_eq!(site[figure], value, "{figure}");
        }
        assert_eq!(site["waves"][1]["lanes_taken"], 36);
        let expected: Vec<_> = (0..100).map(|i| 1001 * i).collect();
        assert_eq!(read_words(&directory.path().join("c")), expected);
    }
}

fn collatz(start: u32) -> u32 {
    let mut steps = 0;
    let mut x = start;
    while x > 1 {
        x = if x.is_multiple_of(2) { x / 2 } else { 3 * x + 1 };
        steps += 1;
    }
    steps
}

#[test]
fn a_loop_counts_each_way_out() {
    let directory = tempfile::tempdir().unwrap();
    write_words(&directory.path().join("in"), 0..100);
    let options =
        "--grid 2 --block 64 --arg inout:in:out --arg u32:100 --arg u32:1000 --report --stats --format json";
    let view = json(&run(directory.path(), "collatz", options));
    assert_eq!((view["memory_equal"].clone(), view["oracle_equal"].clone()), (true.into(), true.into()));
    let expected: Vec<_> = (0..100).map(collatz).collect();
    assert_eq!(read_words(&directory.path().join("out")), expected);
    // Each wave comes to the exit of the loop as often as its longest work-item takes steps.
    let sites = view["sites"].as_array().unwrap();
    let exit = sites.iter().find(|site| site["kind"] == "loop-exit").unwrap();
    let longest = |range: std::ops::Range<u32>| range.map(collatz).max().unwrap();
    assert_eq!(exit["waves"][0]["executions"], longest(0..64));
    assert_eq!(exit["waves"][1]["executions"], longest(64..100));
    let waits =
        view["opcodes"].as_array().unwrap().iter().find(|opcode| opcode["name"] == "s_endpgm").unwrap();
    assert_eq!(waits["executions"], 2);
}

/// One thread and many give the same, byte for byte, but for the time they took.
#[test]
fn the_number_of_threads_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    write_words(&directory.path().join("in"), 0..1000);
    let with = |threads: u32| {
        let options = format!(
            "--grid 16 --block 64 --arg inout:in:out --arg u32:1000 --arg u32:1000 --report --format json --threads {threads}"
        );
        let mut view = json(&run(directory.path(), "collatz", &options));
        view["seconds"] = 0.into();
        view["threads"] = 0.into();
        (view, read_words(&directory.path().join("out")))
    };
    assert_eq!(with(1), with(4));
}

#[test]
fn faults_name_the_source_line() {
    let directory = tempfile::tempdir().unwrap();
    for (kernel, options, words) in [
        (
            "add",
            "--grid 2 --block 64 --arg buf:400 --arg buf:400 --arg buf:512 --arg i32:128",
            &["out of bounds: read of 4 bytes", "`argument 2` (400 bytes", "branches.cl:10:16", "lane 36"][..],
        ),
        (
            "collatz",
            "--grid 1 --block 64 --arg buf:4 --arg u32:2 --arg u32:1 --budget 10",
            &["instruction budget exhausted", "branches.cl:"],
        ),
    ] {
        let output = run(directory.path(), kernel, options);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(9), "{stderr}");
        for word in words {
            assert!(stderr.contains(word), "expected `{word}`: {stderr}");
        }
    }
}

#[test]
fn wrong_arguments_are_named() {
    let directory = tempfile::tempdir().unwrap();
    for (options, code, words) in [
        ("--grid 1 --block 64 --arg buf:4", 2, "takes 4 arguments, 1 given"),
        ("--grid 1 --block 64 --arg buf:4 --arg buf:4 --arg u32:4 --arg u32:4", 2, "argument 3: u32 given"),
        ("--grid 1 --block 64 --arg buf:4 --arg buf:4 --arg buf:4 --arg u8:4", 2, "u8 (1 bytes) given"),
        ("--grid 1 --block 64 --arg buf:4 --arg in:gone --arg buf:4 --arg u32:4", 5, "cannot read gone"),
        ("--grid 1 --block 2048 --arg buf:4 --arg buf:4 --arg buf:4 --arg u32:4", 2, "256 at most"),
        ("--grid 0 --block 64", 2, "launches nothing"),
        ("--grid 99999999999 --block 64", 2, "`99999999999` does not fit in 32 bits"),
        ("--grid 1 --block 64x", 2, "`64x` is not a whole number"),
        ("--grid 1 --block 64 --budget 0", 2, "a budget of 0 runs nothing"),
        ("--grid 1 --block 64 --budget 1e6", 2, "`1e6` is not a whole number"),
        ("--grid 1 --block 64 --threads 0", 2, "0 is not in 1..=1024"),
        (
            // More than addresses reach, so that no machine has it.
            "--grid 1 --block 64 --arg buf:4 --arg buf:1000000000000000 --arg buf:4 --arg u32:4",
            13,
            "kernel `add`, argument 2: no room for 1000000000000000 bytes: a run holds its buffers up to 4 times",
        ),
        ("--grid 1 --block 64 --measure time", 2, "required arguments were not provided:\n  --report"),
        ("--grid 1 --block 64 --level basic", 2, "required arguments were not provided:\n  --report"),
        ("--grid 1 --block 64 --counters lds", 2, "required arguments were not provided:\n  --report"),
        ("--grid 1 --block 64 --abi global", 2, "required arguments were not provided:\n  --report"),
    ] {
        let output = run(directory.path(), "add", options);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{options}: {stderr}");
        assert!(stderr.contains(words), "expected `{words}`: {stderr}");
    }
}

/// The code object is where it was, also when an argument is to be written to it.
#[test]
fn the_launched_file_is_not_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let object = directory.path().join("a.elf");
    std::fs::copy(fixture(), &object).unwrap();
    let rest = "--arg buf:256 --arg buf:256 --arg u32:64";
    for options in [
        format!("--arg out:256:a.elf {rest}"),
        format!("--arg buf:256 {rest} --timing mi210 --timeline ./a.elf"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
        command
            .current_dir(directory.path())
            .args(["run", "a.elf", "--kernel", "add", "--grid", "1", "--block", "64"]);
        let output = command.args(options.split_whitespace()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{options}: {stderr}");
        assert!(stderr.contains("a.elf is read by this command: it would be overwritten"), "{stderr}");
        assert_eq!(std::fs::read(&object).unwrap(), std::fs::read(fixture()).unwrap());
    }
}

/// What was left out by choice is neither a refusal nor an oversight of the analysis: the counters of the
/// rest agree.
#[test]
fn sites_that_are_left_out_are_no_difference() {
    let directory = tempfile::tempdir().unwrap();
    write_words(&directory.path().join("x"), 1..101);
    let options = "--grid 2 --block 64 --arg inout:x:y --arg i32:100 --arg i32:1000 --report";
    let whole = json(&run(directory.path(), "collatz", &format!("{options} --format json")));
    let part =
        json(&run(directory.path(), "collatz", &format!("{options} --line branches.cl:22 --format json")));
    for figure in ["memory_equal", "oracle_equal"] {
        assert_eq!(part[figure], true, "{part}");
    }
    let [site] = &part["sites"].as_array().unwrap()[..] else { panic!("{part}") };
    let same = whole["sites"].as_array().unwrap().iter().find(|other| other["pc"] == site["pc"]).unwrap();
    assert_eq!(site["waves"], same["waves"]);
    assert_eq!(part["sites_not_selected"].as_array().unwrap().len(), 3);
    assert!(part.get("refusals").is_none());
    let text = run(directory.path(), "collatz", &format!("{options} --line branches.cl:22"));
    assert!(String::from_utf8_lossy(&text.stdout).contains("not selected: 3"), "{text:?}");
    let wrong = run(directory.path(), "collatz", &options.replace("--report", "--line branches.cl:22"));
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
}

/// In the emulator the clock moves by 1 an instruction and by 64 a reading.
#[test]
fn the_time_of_each_wave_is_measured() {
    let directory = tempfile::tempdir().unwrap();
    write_words(&directory.path().join("x"), 1..129);
    let options = "--grid 2 --block 64 --arg inout:x:y --arg i32:100 --arg i32:1000 --report --measure time";
    for home in ["register", "global"] {
        let view =
            json(&run(directory.path(), "collatz", &format!("{options} --counters {home} --format json")));
        assert_eq!((&view["probe"], &view["counter_storage"]), (&"time".into(), &home.into()));
        assert_eq!((&view["memory_equal"], &view["oracle_equal"]), (&true.into(), &true.into()));
        assert_eq!(view["sites"], Value::Array(Vec::new()));
        let time = &view["time"];
        let ticks: Vec<u64> =
            time["waves"].as_array().unwrap().iter().map(|wave| wave["ticks"].as_u64().unwrap()).collect();
        assert_eq!(ticks.len(), 2);
        // 97 takes the most steps of 1 to 128, 118, and it is in the second wave.
        assert!(ticks[1] > ticks[0] && ticks[0] > 64, "{ticks:?}");
        assert_eq!(
            (&time["least"], &time["median"], &time["most"]),
            (&ticks[0].into(), &ticks[0].into(), &ticks[1].into())
        );
    }
    let text = run(directory.path(), "collatz", options);
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.contains("2 waves, times in registers\n  ticks a wave     least"), "{text}");
    let wrong = run(directory.path(), "collatz", &format!("{options} --line branches.cl:22"));
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
}

#[test]
fn the_buffers_address_may_be_in_a_variable() {
    let directory = tempfile::tempdir().unwrap();
    write_words(&directory.path().join("x"), 0..100);
    let options = "--grid 2 --block 64 --arg inout:x:y --arg i32:100 --arg i32:1000 --report --abi global";
    for probe in ["branches", "blocks", "time"] {
        for home in ["register", "lds", "global"] {
            // Times are kept in registers or in memory.
            if (probe, home) == ("time", "lds") {
                continue;
            }
            let words = format!("{options} --probe {probe} --counters {home} --format json");
            let view = json(&run(directory.path(), "collatz", &words));
            let equal = (&view["memory_equal"], &view["oracle_equal"], &view["counter_storage"]);
            assert_eq!(equal, (&true.into(), &true.into(), &home.into()), "{probe} {view}");
        }
    }
}

/// 100 elements in two waves of 64, so the second stores with 36 lanes.
#[test]
fn blocks_are_counted_with_their_lanes() {
    let directory = tempfile::tempdir().unwrap();
    write_words(&directory.path().join("a"), 0..100);
    write_words(&directory.path().join("b"), 0..100);
    let options =
        "--grid 2 --block 64 --arg out:400:c --arg in:a --arg in:b --arg i32:100 --report --measure blocks";
    for home in ["register", "lds", "global"] {
        let view = json(&run(
            directory.path(),
            "add",
            &format!("{options} --counters {home} --format json --stats"),
        ));
        assert_eq!((&view["probe"], &view["counter_storage"]), (&"blocks".into(), &home.into()));
        assert_eq!((&view["memory_equal"], &view["oracle_equal"]), (&true.into(), &true.into()), "{view}");
        let blocks = view["blocks"].as_array().unwrap();
        let figure = |block: &Value, name: &str| block[name].as_u64().unwrap();
        // Nothing that runs is in no block.
        let ran: u64 =
            blocks.iter().map(|block| figure(block, "executions") * figure(block, "instructions")).sum();
        assert_eq!(ran, view["wave_instructions"].as_u64().unwrap());
        let lanes: Vec<u64> = blocks.iter().map(|block| figure(block, "lanes")).collect();
        assert!(lanes.contains(&128) && lanes.contains(&100), "{lanes:?}");
        assert!(blocks.iter().all(|block| figure(block, "executions") == 2));
    }
    let text = run(directory.path(), "add", options);
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.contains("lanes of each") && text.contains("50.0"), "{text}");
    // Only those of one line.
    let view = json(&run(directory.path(), "add", &format!("{options} --line branches.cl:10 --format json")));
    assert_eq!(
        (&view["oracle_equal"], view["blocks"].as_array().unwrap().len()),
        (&true.into(), 1),
        "{view}"
    );
}

/// Of a launch of 300,000 waves, the first 16 do something. A kilobyte a wave would be 300 MB: more than the
/// process may have here.
#[test]
fn a_large_launch_takes_the_memory_of_a_small_one_and_its_sums_are_exact() {
    let directory = tempfile::tempdir().unwrap();
    write_words(&directory.path().join("x"), 1..1001);
    let limited = |command: &str| {
        let mut shell = Command::new("sh");
        shell.current_dir(directory.path()).env("NO_COLOR", "1").arg("-c");
        let program = [env!("CARGO_BIN_EXE_cargo-amdinst"), fixture().to_str().unwrap()].map(str::to_owned);
        let [program, file] = program;
        // One arena: glibc reserves 64 MiB of addresses for each other one, and how many it makes is chance.
        shell.env("MALLOC_ARENA_MAX", "1");
        shell.arg(format!("ulimit -v 250000; exec {program} run {file} --kernel collatz {command}"));
        json(&shell.output().unwrap())
    };
    let options = "--block 64 --arg inout:x:y --arg u32:1000 --arg u32:1000 --report --format json";
    let large = limited(&format!("--grid 300000 {options}"));
    assert_eq!(
        (&large["memory_equal"], &large["oracle_equal"], &large["waves"]),
        (&true.into(), &true.into(), &300_000.into())
    );
    // The sums of the waves that do something, and one execution without lanes of each other.
    let small = limited(&format!("--grid 16 {options}"));
    let sites = |view: &Value| view["sites"].as_array().unwrap().clone();
    let figure = |value: &Value, name: &str| value[name].as_u64().unwrap();
    let (mut idle, mut kept) = (0, 0);
    for (large, small) in sites(&large).iter().zip(&sites(&small)) {
        let more = figure(large, "executions") - figure(small, "executions");
        assert!(more == 0 || more == 300_000 - 16, "{large}");
        assert_eq!(figure(large, "none") - figure(small, "none"), more);
        for name in ["diverged", "all", "lanes_taken"] {
            assert_eq!(large[name], small[name], "{name}");
        }
        idle += more;
        let left_out = large["left_out"]["waves"].as_u64().unwrap_or(0);
        let listed = large["waves"].as_array().unwrap();
        assert!(listed.len() <= 16 + 64, "{}", listed.len());
        assert!(left_out == 0 || left_out + listed.len() as u64 == 300_000);
        // Those that lost most are among them.
        for wave in small["waves"].as_array().unwrap().iter().filter(|wave| wave["diverged"] != 0) {
            kept += 1;
            assert!(listed.contains(wave), "{wave}");
        }
    }
    assert!(idle > 0 && kept > 16, "{idle} {kept}");
}

/// What a report has not wave by wave goes to a file, if it is asked for.
#[test]
fn all_waves_go_to_a_file() {
    let directory = tempfile::tempdir().unwrap();
    write_words(&directory.path().join("x"), 1..5001);
    for (probe, parts) in [("branches", "sites"), ("blocks", "blocks")] {
        let options = format!(
            "--grid 5000 --block 64 --arg inout:x:y --arg u32:5000 --arg u32:50 --report --probe {probe} --format json --waves all.jsonl"
        );
        let view = json(&run(directory.path(), "collatz", &options));
        let text = std::fs::read_to_string(directory.path().join("all.jsonl")).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 5000);
        assert!(
            lines
                .iter()
                .enumerate()
                .all(|(number, line)| line["workgroup"][0] == number && line["flushed"] == true)
        );
        for part in view[parts].as_array().unwrap() {
            let id = part["id"].as_u64().unwrap();
            let sum: u64 = lines
                .iter()
                .filter_map(|line| {
                    let mut of_wave = line[parts].as_array()?.iter().enumerate();
                    let (_, value) =
                        of_wave.find(|(at, value)| value["id"].as_u64().unwrap_or(*at as u64) == id)?;
                    value["executions"].as_u64()
                })
                .sum();
            assert_eq!(sum, part["executions"].as_u64().unwrap(), "{part}");
        }
    }
    let alone = run(
        directory.path(),
        "collatz",
        "--grid 1 --block 64 --arg buf:4 --arg u32:0 --arg u32:0 --waves all.jsonl",
    );
    assert_eq!(alone.status.code(), Some(2));
}

/// Nothing was compared where a kernel has no buffer.
#[test]
fn equal_is_not_said_of_what_was_not_compared() {
    let directory = tempfile::tempdir().unwrap();
    let options = "--grid 1 --block 64 --arg buf:0 --arg u32:0 --arg u32:0 --report";
    let view = json(&run(directory.path(), "collatz", &format!("{options} --format json")));
    assert_eq!((&view["memory_equal"], &view["oracle_equal"]), (&Value::Null, &true.into()));
    let text = run(directory.path(), "collatz", options);
    assert!(
        String::from_utf8_lossy(&text.stdout).contains("memory after both kernels: not compared"),
        "{text:?}"
    );
    std::fs::write(directory.path().join("empty"), "").unwrap();
    let nothing = run(
        directory.path(),
        "collatz",
        "--grid 1 --block 64 --arg buf:0 --arg u32:0 --arg u32:0 --expect 1=empty",
    );
    assert_eq!(nothing.status.code(), Some(1), "{nothing:?}");
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("could be compared"), "{nothing:?}");
}
