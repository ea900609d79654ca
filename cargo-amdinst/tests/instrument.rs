//! `instrument`: what is written, and when nothing is.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn amdinst(directory: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/branches.elf");
    let words = words.split_whitespace().map(|word| if word == "FILE" { fixture } else { word });
    command
        .current_dir(directory)
        .env("NO_COLOR", "1")
        .env_remove("CARGO_TERM_COLOR")
        .args(words)
        .output()
        .unwrap()
}

#[test]
fn a_plan_writes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let output = amdinst(directory.path(), "instrument FILE --plan --format json");
    assert!(output.status.success(), "{output:?}");
    let view: Value = serde_json::from_slice(&output.stdout).unwrap();
    let kernels = view["kernels"].as_array().unwrap();
    let figures = |kernel: &Value| (kernel["name"].clone(), kernel["sites"].as_array().unwrap().len());
    assert_eq!(kernels.iter().map(figures).collect::<Vec<_>>(), [("add".into(), 1), ("collatz".into(), 4)]);
    for kernel in kernels {
        assert_eq!(kernel["target"], "gfx90a");
        assert_eq!(kernel["counter_storage"], "register");
        assert_eq!(kernel["refusals"], Value::Array(Vec::new()));
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

/// Of an output that cannot be written the directory is told, not the name of a file that nobody has asked
/// for.
#[test]
fn a_directory_that_is_not_there_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let output = amdinst(directory.path(), "instrument FILE -o nowhere/out.elf");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(11), "{text}");
    assert!(text.starts_with("error: cannot write nowhere/out."), "{text}");
    let reason = "there is no directory nowhere, or no file can be made in it";
    assert_eq!(text.trim_end().lines().last().map(str::trim_start), Some(reason), "{text}");
}

#[test]
fn the_probe_map_stands_beside_the_code_object_and_both_are_the_same_each_time() {
    let directory = tempfile::tempdir().unwrap();
    let mut previous = None;
    for _ in 0..2 {
        let output =
            amdinst(directory.path(), "instrument FILE -o out.elf --kernel collatz --counters global");
        assert!(output.status.success(), "{output:?}");
        let files =
            ["out.elf", "out.probes.json"].map(|name| std::fs::read(directory.path().join(name)).unwrap());
        assert!(previous.is_none_or(|previous| previous == files));
        let map: Value = serde_json::from_slice(&files[1]).unwrap();
        assert_eq!(map["kernels"][0]["counter_storage"], "global");
        previous = Some(files);
    }
    // What was written is a code object like any other.
    let output = amdinst(directory.path(), "inspect out.elf --format json");
    let view: Value = serde_json::from_slice(&output.stdout).unwrap();
    let args = view["code_objects"][0]["kernels"][1]["args"].as_array().unwrap();
    assert!(args.iter().any(|arg| arg["name"] == "amdinst_buffer"));
}

#[test]
fn nothing_is_overwritten_when_nothing_is_instrumented() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out.elf");
    std::fs::write(&out, "precious").unwrap();
    for (words, code) in [
        ("instrument FILE -o out.elf --kernel gone", 2),
        ("instrument /dev/null -o out.elf", 5),
        ("instrument FILE -o out.elf --target-cpu gfx942", 2),
    ] {
        let output = amdinst(directory.path(), words);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert_eq!(std::fs::read_to_string(&out).unwrap(), "precious");
    }
    std::fs::create_dir(directory.path().join("place")).unwrap();
    let made = Command::new("mkfifo").arg(directory.path().join("pipe")).status().unwrap();
    assert!(made.success());
    for (name, what) in [("place", "a directory"), ("pipe", "a device or a pipe")] {
        let output = amdinst(directory.path(), &format!("instrument FILE -o {name}"));
        assert_eq!(output.status.code(), Some(11), "{output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(&format!("error: cannot write {name}: it is {what}\n")), "{stderr}");
        assert!(!directory.path().join(name).with_extension("probes.json").exists());
    }
    let output = amdinst(directory.path(), "instrument FILE -o missing/out.elf");
    assert_eq!(output.status.code(), Some(11), "{output:?}");
}

/// An offload bundle of the fixture, once for each of two targets' names.
fn bundle() -> Vec<u8> {
    let code = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/branches.elf")).unwrap();
    let ids =
        ["host-x86_64-unknown-linux-gnu", "hipv4-amdgcn-amd-amdhsa--gfx90a", "hip-amdgcn-amd-amdhsa--gfx90a"];
    let mut bytes = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    bytes.extend(3u64.to_le_bytes());
    let mut contents = Vec::new();
    for (number, id) in ids.iter().enumerate() {
        let size = if number == 0 { 0 } else { code.len() };
        for field in [4096 + contents.len(), size, id.len()] {
            bytes.extend((field as u64).to_le_bytes());
        }
        bytes.extend(id.as_bytes());
        contents.extend(&code[..size]);
        contents.resize(contents.len().next_multiple_of(4096), 0);
    }
    bytes.resize(4096, 0);
    bytes.extend(contents);
    bytes
}

/// Code objects of one processor that cannot be read are told in one line, with their number.
#[test]
fn code_objects_of_unknown_processors_are_counted() {
    const E_FLAGS: usize = 48;
    let code = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/branches.elf")).unwrap();
    let mut unknown = code.clone();
    unknown[E_FLAGS] = 0x7e;
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("all"), [b"abc", &unknown[..], &code, &unknown].concat()).unwrap();
    let output = amdinst(directory.path(), "inspect all");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let line = "2 of amdgcn-amd-amdhsa--unknown-0x7e: not read: built for an unknown processor (EF_AMDGPU_MACH 0x7e)";
    assert!(text.contains(line) && text.starts_with("gfx90a: code object V6, 2 kernels"), "{text}");
    assert_eq!(text.matches("not read").count(), 1, "{text}");
}

#[test]
fn a_bundle_is_rewritten_in_place() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    std::fs::write(file("fat.bundle"), bundle()).unwrap();
    let output = amdinst(directory.path(), "instrument fat.bundle -o fat.bundle --format json");
    assert!(output.status.success(), "{output:?}");
    let view: Value = serde_json::from_slice(&output.stdout).unwrap();
    let maps: Vec<&str> = view["probe_maps"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(maps, ["fat.0-gfx90a.probes.json", "fat.1-gfx90a.probes.json"]);
    assert!(maps.iter().all(|map| file(map).exists()));
    let output = amdinst(directory.path(), "inspect fat.bundle --format json");
    let view: Value = serde_json::from_slice(&output.stdout).unwrap();
    let objects = view["code_objects"].as_array().unwrap();
    assert_eq!(objects.len(), 2);
    for object in objects {
        let args = object["kernels"][1]["args"].as_array().unwrap();
        assert!(args.iter().any(|arg| arg["name"] == "amdinst_buffer"));
    }
    // Which one, if not all of them, must be said.
    std::fs::write(file("fat.bundle"), bundle()).unwrap();
    for (words, help) in [
        (
            "fat.bundle -o one.elf",
            "choose one with --object N, or choose a kernel with --kernel, or instrument all of them with --whole",
        ),
        (
            "fat.bundle -o one.elf --kernel add",
            "choose one with --object N, or instrument all of them with --whole",
        ),
        ("fat.bundle --plan", "choose one with --object N, or choose a kernel with --kernel"),
    ] {
        let output = amdinst(directory.path(), &format!("instrument {words}"));
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.ends_with(&format!("\nhelp: {help}\n")), "{words}: {error}");
    }
    assert!(!file("one.elf").exists());
    // Nothing is written when no code object has the kernel.
    let output = amdinst(directory.path(), "instrument fat.bundle -o fat.bundle --kernel gone");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(std::fs::read(file("fat.bundle")).unwrap() == bundle());
}

#[test]
fn only_the_sites_asked_for_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let output = amdinst(
        directory.path(),
        "instrument FILE --plan --kernel collatz --line branches.cl:21-22 --format json",
    );
    assert!(output.status.success(), "{output:?}");
    let view: Value = serde_json::from_slice(&output.stdout).unwrap();
    let lines = |list: &Value| {
        let lines = list.as_array().unwrap().iter().map(|site| site["line"].as_u64().unwrap());
        lines.collect::<Vec<_>>()
    };
    let kernel = &view["kernels"][0];
    assert_eq!((lines(&kernel["sites"]), lines(&kernel["sites_not_selected"])), (vec![21, 22], vec![16, 23]));
    let ids: Vec<_> = kernel["sites"].as_array().unwrap().iter().map(|site| site["id"].clone()).collect();
    assert_eq!(ids, [0, 1]);
    assert_eq!(kernel["refusals"], Value::Array(Vec::new()));
    // Kernels without such a site stay as they are; the map says that it was by choice.
    let output = amdinst(directory.path(), "instrument FILE -o out.elf --line branches.cl:9");
    assert!(output.status.success(), "{output:?}");
    let map = std::fs::read(directory.path().join("out.probes.json")).unwrap();
    let map: Value = serde_json::from_slice(&map).unwrap();
    assert_eq!(map["kernels"][0]["sites"].as_array().unwrap().len(), 1);
    assert_eq!(map["kernels"][1]["counter_storage"], Value::Null);
    assert_eq!(map["kernels"][1]["sites_not_selected"].as_array().unwrap().len(), 4);
    assert_eq!(map["kernels"][1]["why"], "none of its sites was asked for");
}

#[test]
fn selecting_nothing_is_an_error_that_tells_what_there_is() {
    let directory = tempfile::tempdir().unwrap();
    for (words, told) in [
        (
            "--line branches.cl:24",
            "`branches.cl:24` selects no branch: that file's branches that can diverge stand at line 7, 9, 14, 16, 21, 22, 23 (all)",
        ),
        ("--line branches.cl:9 --line other.cl:9", "none is of that file; there are some of ././branches.cl"),
        ("--probe tail", "the code object has no `#[probe]`"),
        ("--line branches.cl", "`branches.cl` is not FILE:LINE or FILE:FIRST-LAST"),
        ("--line branches.cl:9-3", "the first comes first"),
    ] {
        for file in ["FILE -o out.elf", "FILE --plan", "FILE -o out.elf --whole"] {
            let output = amdinst(directory.path(), &format!("instrument {file} {words}"));
            assert_eq!(output.status.code(), Some(2), "{output:?}");
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(error.contains(told), "{words}: {error}");
        }
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn either_a_plan_or_an_output() {
    let directory = tempfile::tempdir().unwrap();
    for (words, told) in [("", "<--output <OUT>|--plan>"), ("--plan -o out.elf", "cannot be used with")] {
        let output = amdinst(directory.path(), &format!("instrument FILE {words}"));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && error.contains(told), "{words}: {error}");
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn the_plan_for_blocks_lists_them() {
    let directory = tempfile::tempdir().unwrap();
    let plan =
        |words: &str| amdinst(directory.path(), &format!("instrument FILE --plan --measure blocks {words}"));
    let text = plan("");
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.contains("  blocks      ") && text.contains(" instructions a block ("), "{text}");
    let json = plan("--format json");
    let view: Value = serde_json::from_slice(&json.stdout).unwrap();
    for kernel in view["kernels"].as_array().unwrap() {
        let blocks = kernel["blocks"].as_array().unwrap();
        assert!(!blocks.is_empty() && kernel["sites"].as_array().unwrap().is_empty(), "{kernel}");
        // Each begins where the one before it ends, but for padding.
        for pair in blocks.windows(2).filter(|pair| pair[0]["function"] == pair[1]["function"]) {
            assert!(pair[0]["end_pc"].as_u64() <= pair[1]["pc"].as_u64(), "{pair:?}");
        }
    }
    let one = plan("--format json --line branches.cl:9");
    let view: Value = serde_json::from_slice(&one.stdout).unwrap();
    let counted: usize = view["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|kernel| Some(kernel["blocks"].as_array()?.len()))
        .sum();
    assert!(counted > 0 && counted < 4, "{view}");
    let none = plan("--line branches.cl:99");
    assert_eq!(none.status.code(), Some(2), "{none:?}");
    let error = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(
        error.contains("`branches.cl:99` selects no block: that file's code was compiled to blocks at line"),
        "{error}"
    );
}

#[test]
fn with_a_variable_for_the_buffer_arguments_stay_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let view = |words: &str| -> Value {
        let output = amdinst(directory.path(), words);
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let done = view("instrument FILE -o out.elf --abi global --format json");
    assert!(
        done["kernels"]
            .as_array()
            .unwrap()
            .iter()
            .all(|kernel| kernel["buffer_symbol"] == "__amdinst_buffer")
    );
    let map: Value =
        serde_json::from_slice(&std::fs::read(directory.path().join("out.probes.json")).unwrap()).unwrap();
    assert_eq!(map["kernels"][0]["buffer_symbol"], "__amdinst_buffer");
    assert_eq!(map["kernels"][0]["buffer_argument"], Value::Null);
    let (before, after) = (view("inspect FILE --format json"), view("inspect out.elf --format json"));
    let kernarg = |view: &Value| {
        let of = |kernel: &Value| {
            (kernel["name"].clone(), kernel["kernarg_bytes"].clone(), kernel["args"].clone())
        };
        view["code_objects"][0]["kernels"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(kernarg(&before), kernarg(&after));
    // Once more instruments nothing.
    let again = amdinst(directory.path(), "instrument out.elf -o again.elf --abi global");
    assert_eq!(again.status.code(), Some(6), "{again:?}");
    assert!(!directory.path().join("again.elf").exists());
    assert!(String::from_utf8_lossy(&again.stderr).contains("instrument the original"), "{again:?}");
}

#[test]
fn the_plan_for_times_says_what_they_cost() {
    let directory = tempfile::tempdir().unwrap();
    let output = amdinst(directory.path(), "instrument FILE --plan --measure time");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(
        text.contains("  times       register: the time of entry in SGPRs, which does not lower occupancy"),
        "{text}"
    );
    assert!(text.contains("  cost        instructions: ") && !text.contains("sites"), "{text}");
    let output = amdinst(directory.path(), "instrument FILE --plan --measure time --line branches.cl:9");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
