//! Coverage by `--measure blocks`, held against gcov's of the same C functions on the host, one call a
//! work-item.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

/// Lines that every, some and no work-item runs: branches, loops that end at different times, a switch,
/// calls, early returns.
const WORK: &str = "\
int collatz(int x) {
    int steps = 0;
    while (x != 1) {
        if (x % 2)
            x = 3 * x + 1;
        else
            x = x / 2;
        steps++;
        if (steps > 1000)
            return -1;
    }
    return steps;
}
int work(int i, int n, const int *a) {
    int sum = 0;
    if (i >= n)
        return -1;
    if (a[i] > 1000) {
        sum = 1000;
    } else if (a[i] < 0) {
        sum = -a[i];
        if (n < 10)
            sum = n;
    } else {
        sum = a[i];
    }
    for (int k = 0; k < i; k++) {
        if (k == 5)
            continue;
        if (k == 20)
            break;
        sum += k;
    }
    switch (a[i] % 5) {
    case 0:
        sum += 10;
        break;
    case 1:
        sum += 20;
        break;
    case 7:
        sum += 30;
        break;
    default:
        sum -= 1;
    }
    if (i == 3 && n == 0)
        sum = 0;
    if (i % 64 > 64)
        sum = collatz(n);
    if (i % 3 == 0)
        sum += collatz(i + 1);
    return sum;
}
";

const DEVICE: &str = "\
#include \"work.c\"
#define GLOBAL __attribute__((address_space(1)))
__attribute__((amdgpu_kernel)) void kernel(const int GLOBAL *a, int GLOBAL *out, int n) {
    int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    out[i] = work(i, n, (const int *)a);
}
";

/// It prints what `out` holds then.
const HOST: &str = "\
#include \"work.c\"
#include <stdio.h>
int main(void) {
    int a[128];
    FILE *input = fopen(\"a\", \"rb\");
    if (!input || fread(a, sizeof a, 1, input) != 1) return 1;
    for (int i = 0; i < 128; i++) {
        int result = work(i, 100, a);
        fwrite(&result, sizeof result, 1, stdout);
    }
}
";

fn run(directory: &Path, program: &str, arguments: &str) -> Output {
    let output = Command::new(program).current_dir(directory).args(arguments.split_whitespace()).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments}: {errors}");
    output
}

fn tools() -> bool {
    let is_there = |tool: &&str| {
        Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    let missing: Vec<_> =
        ["clang-22", "ld.lld-22", "gcc", "gcov"].into_iter().filter(|tool| !is_there(tool)).collect();
    if missing.is_empty() {
        return true;
    }
    let message = format!("coverage: {} not installed", missing.join(", "));
    assert!(std::env::var_os("AMDINST_REQUIRE_TOOLS").is_none_or(|value| value != "1"), "{message}");
    eprintln!("SKIPPED: {message}");
    false
}

/// How often each line of `work.c` ran on the host.
fn on_the_host(directory: &Path) -> BTreeMap<u32, u64> {
    run(directory, "gcc", "-O0 --coverage -c -o host.o host.c");
    run(directory, "gcc", "--coverage -o host host.o");
    let output = run(directory, "./host", "");
    std::fs::write(directory.join("expected"), output.stdout).unwrap();
    let listing = run(directory, "gcov", "-t host.gcda").stdout;
    let listing = String::from_utf8(listing).unwrap();
    let (_, lines) = listing.split_once("Source:work.c").unwrap();
    let (lines, _) = lines.split_once("Source:").unwrap_or((lines, ""));
    let line = |line: &str| {
        let mut parts = line.splitn(3, ':');
        let (count, number) = (parts.next()?.trim(), parts.next()?.trim().parse().ok()?);
        let count = if count.starts_with('#') { 0 } else { count.trim_end_matches('*').parse().ok()? };
        Some((number, count))
    };
    lines.lines().filter_map(line).filter(|(number, _)| *number > 0).collect()
}

/// What ran on the device: by line the lanes, and how often waves ran it.
fn on_the_device(directory: &Path, level: &str) -> BTreeMap<u32, (u64, u64)> {
    let clang = "--target=amdgcn-amd-amdhsa -nogpulib -fuse-ld=lld-22 -mcpu=gfx90a -g -o device.elf";
    run(directory, "clang-22", &format!("{clang} {level} device.c"));
    let ours = env!("CARGO_BIN_EXE_cargo-amdinst");
    let launch =
        "run device.elf --kernel kernel --grid 2 --block 64 --arg in:a --arg out:512:result --arg i32:100";
    let output = run(directory, ours, &format!("{launch} --report --measure blocks --format json -q"));
    let (result, expected) =
        ["result", "expected"].map(|name| std::fs::read(directory.join(name)).unwrap()).into();
    assert_eq!(result, expected, "{level}");

    // As a run of one test, of which the report tells.
    let mut launch: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&launch["memory_equal"], &launch["oracle_equal"]), (&true.into(), &true.into()));
    launch["probes"] = serde_json::json!([]);
    let test = serde_json::json!({ "name": "a", "ending": "passed", "launches": [launch] });
    let program = serde_json::json!({ "name": "p", "cpu": "gfx90a", "finished": true, "tests": [test] });
    let document = serde_json::json!({
        "schema": 1, "package": "demo", "profile": "release", "programs": [program], "kernels": [], "sources": [],
    });
    std::fs::write(directory.join("run.json"), document.to_string()).unwrap();
    let output = run(directory, ours, "report --run run.json --format json --lcov lanes.info -q");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let lines = report["kernels"][0]["lines"].as_array().unwrap().iter();
    let lines = lines.filter(|line| line["file"].as_str().unwrap().ends_with("work.c"));
    let number = |line: &serde_json::Value, name: &str| line[name].as_u64().unwrap();
    let lines: BTreeMap<u32, (u64, u64)> = lines
        .map(|line| (number(line, "line") as u32, (number(line, "lanes"), number(line, "executions"))))
        .collect();

    // The tracefile tells the same of them.
    let tracefile = std::fs::read_to_string(directory.join("lanes.info")).unwrap();
    let records = tracefile.split("end_of_record");
    let of_work = records.into_iter().find(|record| record.contains("work.c\n")).unwrap();
    let told = of_work.lines().filter_map(|line| line.strip_prefix("DA:")?.split_once(','));
    let told: BTreeMap<u32, u64> =
        told.map(|(line, count)| (line.parse().unwrap(), count.parse().unwrap())).collect();
    assert_eq!(told, lines.iter().map(|(&line, &(_, executions))| (line, executions)).collect());
    lines
}

#[test]
fn lines_that_ran_are_those_of_gcov() {
    if !tools() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    for (name, source) in [("work.c", WORK), ("device.c", DEVICE), ("host.c", HOST)] {
        std::fs::write(directory.join(name), source).unwrap();
    }
    let input: Vec<u8> = (0..128).flat_map(|i: i32| (i * 37 % 101 - 10).to_le_bytes()).collect();
    std::fs::write(directory.join("a"), input).unwrap();
    let host = on_the_host(directory);
    assert!(host.values().any(|count| *count == 0) && host.len() > 40, "{host:?}");

    // The least number of lines that both tell of. The compiler leaves out the rest, or takes it together.
    for (level, least) in [("-O0", 35), ("-O1", 12), ("-O2", 12)] {
        let device = on_the_device(directory, level);
        let both = host.iter().filter_map(|(line, count)| Some((*line, *count, *device.get(line)?)));
        // Of lines without lanes, those of scalar instructions alone, no more is known than that waves came
        // by.
        let both: Vec<_> =
            both.filter(|(_, _, (lanes, executions))| *lanes > 0 || *executions == 0).collect();
        assert!(both.len() >= least, "{level}: {both:?}");
        for &(line, count, (lanes, _)) in &both {
            assert_eq!(
                count > 0,
                lanes > 0,
                "{level}: line {line} ran {count} times on the host, with {lanes} lanes here"
            );
        }
        if level == "-O0" {
            // A work-item is a lane. What is done where branches meet again can be part of another line.
            let equal = both.iter().filter(|(_, count, (lanes, _))| count == lanes).count();
            assert!(equal + 2 >= both.len(), "{both:?}");
        }
    }
}
