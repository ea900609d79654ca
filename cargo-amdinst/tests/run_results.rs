//! `run`: arguments that the command line makes, results printed, saved and compared, traces.

#[path = "support/schema.rs"]
mod schema;
mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

/// Kernels with the names of their arguments in the note.
const SOURCE: &str = include_str!("fixtures/saxpy.cl");

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/branches.elf")
}

fn run_file(directory: &Path, file: &Path, options: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command.current_dir(directory).env("NO_COLOR", "1").arg("run").arg(file);
    command.args(options.split_whitespace()).output().unwrap()
}

/// Adds two vectors of the fixture: argument 1 is the sum of 2 and 3, of 100 numbers.
fn add(directory: &Path, options: &str) -> Output {
    run_file(directory, &fixture(), &format!("--kernel add --grid 2 --block 64 {options}"))
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn document(output: &Output) -> Value {
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(schema::errors("launched.v1.json", &document), Vec::<String>::new());
    document
}

const ARGUMENTS: &str = "--arg i32[100] --arg iota:i32[100] --arg fill:i32[100]:1000 --arg i32:100";

#[test]
fn elements_are_printed() {
    let directory = tempfile::tempdir().unwrap();
    let text = stdout(&add(
        directory.path(),
        &format!("{ARGUMENTS} --print 1[10] --print 3:u8[398..] --print 2:f32[97..99]"),
    ));
    let expected = "\
argument 1, i32[0..10]
     0:  1000  1001  1002  1003  1004  1005  1006  1007
     8:  1008  1009
argument 3, u8[398..400]
   398:  0  0
argument 2, f32[97..99]
    97:  1.36e-43  1.37e-43
";
    assert_eq!(text, expected);
    let options = format!("{ARGUMENTS} --print 1[98..] --print 2:f32[1..2] --format json");
    let output = add(directory.path(), &options);
    let view = document(&output);
    assert_eq!(view["printed"][0], json!({"argument": 1, "type": "i32", "from": 98, "values": [1098, 1099]}));
    // As few digits as tell an f32 from others.
    assert!(String::from_utf8_lossy(&output.stdout).contains("        1e-45\n"), "{view}");
    assert_eq!(view["arguments"][1], json!({"argument": 2, "value": "iota:i32[100]:0:1", "bytes": 400}));
}

/// What JSON has no number for is a string.
#[test]
fn numbers_of_every_kind_are_printed() {
    let directory = tempfile::tempdir().unwrap();
    let options = "--arg i32[0] --arg f32:[NaN,inf,-inf,-0.0,0.1] --arg f16:[65504,0.1] --arg i32:0 \
        --print 2 --print 3 --print 3:u16";
    let text = stdout(&add(directory.path(), options));
    assert!(text.contains("     0:   NaN   inf  -inf  -0.0   0.1\n"), "{text}");
    assert!(text.contains("     0:      65504.0  0.099975586\n"), "{text}");
    let view = document(&add(directory.path(), &format!("{options} --format json")));
    assert_eq!(view["printed"][0]["values"], json!(["NaN", "inf", "-inf", -0.0, 0.1]));
    assert_eq!(view["printed"][2]["values"], json!([0x7bff, 0x2e66]));
}

#[test]
fn what_is_random_is_told_and_comes_again() {
    let directory = tempfile::tempdir().unwrap();
    let with = |random: &str| {
        let options =
            format!("--arg i32[100] --arg {random} --arg i32[100] --arg i32:100 --print 1 --format json");
        let output = add(directory.path(), &options);
        let view = document(&output);
        (
            view["printed"][0]["values"].clone(),
            view["arguments"][1]["value"].clone(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (values, told, stderr) = with("random:i32[100]:-5..5");
    assert_eq!(told, "random:i32[100]:-5..5:seed=2");
    assert!(stderr.contains("argument 2 is random:i32[100]:-5..5:seed=2"), "{stderr}");
    assert!(values.as_array().unwrap().iter().all(|value| (-5..5).contains(&value.as_i64().unwrap())));
    assert_eq!(with(told.as_str().unwrap()).0, values);
    assert_ne!(with("random:i32[100]:-5..5:seed=3").0, values);
}

#[test]
fn results_are_saved_and_expected() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    assert!(add(here, &format!("{ARGUMENTS} --save 1=sum.npy --save 1=sum.bin")).status.success());
    let raw = std::fs::read(here.join("sum.bin")).unwrap();
    let words: Vec<u8> = (1000..1100_i32).flat_map(i32::to_le_bytes).collect();
    assert_eq!(raw, words);
    let array = std::fs::read(here.join("sum.npy")).unwrap();
    assert_eq!((&array[..6], &array[128..]), (&b"\x93NUMPY"[..], &words[..]));
    // A wrong element in the file, and one too few.
    let mut wrong = words.clone();
    wrong[4 * 7] ^= 2;
    std::fs::write(here.join("wrong.bin"), &wrong).unwrap();
    std::fs::write(here.join("short.bin"), &words[..396]).unwrap();
    for (expectation, code, told) in [
        ("1=sum.npy", 0, "Expected argument 1 is as sum.npy has it: 100 i32, bit by bit"),
        ("1=sum.bin", 0, "Expected argument 1 is as sum.bin has it: 100 i32, bit by bit"),
        (
            "1=wrong.bin",
            1,
            "argument 1 is not what wrong.bin has: 1 of 100 i32 differ\nnote: first at index 7: 1007, expected 1005\n",
        ),
        ("1=wrong.bin~2", 0, "100 i32, within 2.0"),
        ("1=wrong.bin~1", 1, "how they were compared: within 1.0"),
        ("1=wrong.bin~0.002rel", 0, "within 0.002rel"),
        ("1:f32=wrong.bin~2ulp", 0, "100 f32, within 2ulp; a NaN equals every NaN"),
        ("1:f32=wrong.bin~1ulp", 1, "1 of 100 f32 differ"),
        ("1=short.bin", 1, "100 i32, where 99 are expected\nnote: of the first 99, 0 differ"),
        ("1[99]=short.bin", 0, "99 i32"),
        ("1:f32=sum.npy", 2, "argument 1 is f32, and sum.npy has i32"),
        ("1=gone.npy", 5, "--expect: cannot read gone.npy"),
    ] {
        let output = add(here, &format!("{ARGUMENTS} --expect {expectation}"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{expectation}: {stderr}");
        assert!(stderr.contains(told), "{expectation}: {stderr}");
    }
    let output = add(here, &format!("{ARGUMENTS} --expect 1=wrong.bin --expect 1=sum.npy --format json"));
    assert_eq!(output.status.code(), Some(1));
    let expected = document(&output)["expected"].clone();
    assert_eq!(expected[0]["first"], json!({"index": 7, "actual": 1007, "expected": 1005}));
    assert_eq!((&expected[0]["differing"], &expected[1]["differing"]), (&json!(1), &json!(0)));
    // An array comes back as an argument.
    let text =
        stdout(&add(here, "--arg i32[100] --arg sum.npy --arg in:sum.npy --arg i32:100 --print 1[..2]"));
    assert!(text.contains("     0:  2000  2002\n"), "{text}");
}

#[test]
fn standard_output_takes_one_result_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let rest = "--arg iota:i32[100] --arg i32[100] --arg i32:100";
    let output = add(directory.path(), &format!("--arg out:i32[100]:- {rest}"));
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout, (0..100_i32).flat_map(i32::to_le_bytes).collect::<Vec<u8>>());
    for (more, other) in [
        ("--print 1", "--print"),
        ("--format json", "--format json"),
        ("--save 2=-", "another argument"),
        ("--trace", "--trace"),
        ("--stats", "--stats"),
        ("--report", "--report"),
        ("--timing mi210", "--timing"),
    ] {
        let output = add(directory.path(), &format!("--arg out:400:- {rest} {more}"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{more}: {stderr}");
        assert!(
            stderr.contains(&format!("argument 1 goes to standard output (`-`), and {other} does, too")),
            "{stderr}"
        );
    }
}

#[test]
fn what_is_wrong_is_told_before_the_launch() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("text.npy"), "1,2,3").unwrap();
    std::fs::write(directory.path().join("odd.bin"), "123").unwrap();
    for (options, code, told) in [
        ("--print 5", 2, "--print 5: kernel `add` has no argument `5`\nnote: it has argument 1, argument 2"),
        ("--print x", 2, "--print x: kernel `add` has no argument `x`"),
        ("--print 4", 2, "--print 4: argument 4 is a value, which a launch does not change"),
        ("--print 1[101]", 2, "argument 1 has 100 i32, and element 100 is asked for"),
        ("--print 1:f64[51]", 2, "argument 1 has 50 f64, and element 50 is asked for"),
        ("--print 1:f33", 2, "`f33` is no type\n  1:f33\n    ^^^\naccepted here: u8, i8"),
        ("--expect 1=odd.bin", 2, "odd.bin has 3 bytes, which are not whole i32s"),
        ("--expect 1=text.npy", 5, "text.npy: it is no NumPy array"),
        ("--expect 1=a~x", 2, "`x` is no tolerance here\n  1=a~x\n      ^\n"),
        ("--save 1=/no/such/x.bin", 11, "cannot write /no/such/x.bin"),
        ("--trace --trace-wave 2", 2, "there is no wave 2 to trace; the launch has 2 waves"),
        ("--trace --trace-lane 64", 2, "there is no lane 64 to trace"),
        ("--trace-lane 5", 2, "--trace"),
    ] {
        let output = add(directory.path(), &format!("{ARGUMENTS} {options}"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{options}: {stderr}");
        assert!(stderr.contains(told), "{options}: {stderr}");
        assert!(output.stdout.is_empty(), "{options}");
    }
    for (first, code, told) in [
        ("out:400:c.npy", 2, "argument 1: c.npy is to be an array, and its elements have no type"),
        ("out:bf16[200]:c.npy", 2, "bf16 is no type of .npy files"),
        ("text.npy", 5, "argument 1: text.npy: it is no NumPy array"),
        ("a=f32[100]", 2, "kernel `add` has no argument `a`"),
        ("iota:f33[4]", 2, "  iota:f33[4]\n       ^^^"),
    ] {
        let output =
            add(directory.path(), &format!("--arg {first} --arg i32[100] --arg i32[100] --arg i32:100"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{first}: {stderr}");
        assert!(stderr.contains(told), "{first}: {stderr}");
    }
    // With bytes there is no tolerance.
    let rest = "--arg i32[100] --arg i32[100] --arg i32:100 --expect 1=odd.bin~1";
    let output = add(directory.path(), &format!("--arg buf:400 {rest}"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("a tolerance needs a type"), "{output:?}");
}

#[test]
fn kernels_and_arguments_go_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("saxpy.cl");
    std::fs::write(&source, SOURCE).unwrap();
    let file = directory.path().join("saxpy.elf");
    if !support::compile_with(&source, &file, &["-cl-kernel-arg-info"]) {
        return;
    }
    let run = |options: &str| {
        run_file(directory.path(), Path::new("saxpy.elf"), &format!("--grid 2 --block 64 {options}"))
    };
    let orders = [
        "--arg a=f32:2 --arg x=iota:f32[100] --arg y=fill:f32[100]:0.5 --arg n=i32:100",
        "--arg n=i32:100 --arg y=fill:f32[100]:0.5 --arg x=iota:f32[100] --arg a=f32:2",
        "--arg y=fill:f32[100]:0.5 --arg f32:2 --arg iota:f32[100] --arg i32:100",
    ];
    for order in orders {
        let text = stdout(&run(&format!("{order} --print y[3]")));
        assert_eq!(text, "argument 3 (`y`), f32[0..3]\n     0:  0.5  2.5  4.5\n", "{order}");
    }
    for (order, told) in [
        ("--arg z=f32:2", "kernel `saxpy` has no argument `z`\nnote: argument 1 (`a`): 4 bytes"),
        ("--arg a=f32:2 --arg a=f32:3", "kernel `saxpy` is given its argument `a` twice"),
        ("--arg a=f32:2 --arg n=i32:1", "kernel `saxpy` takes 4 arguments, 2 given"),
    ] {
        let output = run(order);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains(told), "{order}: {stderr}");
    }
    let output = run("--arg a=f32:2 --arg x=bytes:none --arg y=fill:f32[100]:0 --arg n=i32:1");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.starts_with("error: argument 2 (`x`): "), "{stderr}");
    let output = run_file(directory.path(), &fixture(), "--grid 1 --block 64");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("has several kernels: name one with --kernel\nnote: it has add, collatz"),
        "{stderr}"
    );
}

#[test]
fn a_wave_is_traced() {
    let directory = tempfile::tempdir().unwrap();
    let text = stdout(&add(directory.path(), &format!("{ARGUMENTS} --trace --trace-wave 1 --trace-lane 40")));
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "wave 1 (workgroup 1,0,0, wave 0 of it), lane 40: 26 instructions");
    assert_eq!(lines[1], "exec=0xffffffffffffffff");
    for expected in [
        "       0  1a00  s_load_dword s0, s[4:5], 0x18                 s0=00000064  at kernarg segment+0x18",
        "       4  1a18  s_and_saveexec_b64 s[0:1], vcc                s0=ffffffff s1=ffffffff scc=1  exec=0x0000000fffffffff (36 lanes)",
        "      11  1a40  v_mov_b32_e32 v3, s7                          lane off",
    ] {
        assert!(lines.contains(&expected), "{expected}\n{text}");
    }
    let limited = stdout(&add(
        directory.path(),
        &format!("{ARGUMENTS} --trace --trace-limit 3 --trace-last --trace-wave 1:0"),
    ));
    assert!(limited.contains("26 instructions, 23 to 25 shown"), "{limited}");
    assert!(limited.trim_end().ends_with("s_endpgm"), "{limited}");
    let view = document(&add(directory.path(), &format!("{ARGUMENTS} --trace --format json --print 1")));
    let steps = view["trace"]["steps"].as_array().unwrap();
    // Work-item 0 stores what is printed.
    let store = steps.iter().find(|step| step["text"].as_str().unwrap().starts_with("global_store")).unwrap();
    assert_eq!(
        (&store["access"]["allocation"], &store["access"]["offset"]),
        (&json!("argument 1"), &json!(0))
    );
    assert!(
        store["reads"].as_array().unwrap().contains(&json!({"register": "v2", "value": 1000})),
        "{store}"
    );
    assert!(store["file"].as_str().unwrap().ends_with("branches.cl"));
}

/// What led to a fault: the wave and lane at fault, and their last instructions.
#[test]
fn a_fault_is_traced() {
    let directory = tempfile::tempdir().unwrap();
    let options = "--arg i32[100] --arg i32[100] --arg i32[90] --arg i32:100 --trace --trace-limit 2";
    let output = add(directory.path(), options);
    assert_eq!(output.status.code(), Some(9));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with("wave 1 (workgroup 1,0,0, wave 0 of it), lane 26: 19 instructions, 17 to 18 shown"),
        "{text}"
    );
    assert!(text.trim_end().contains("global_load_dword v7, v[2:3], off"), "{text}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("out of bounds"));
    let output = add(directory.path(), &format!("{options} --format json"));
    assert_eq!(output.status.code(), Some(9));
    let view = document(&output);
    assert!(view["fault"].as_str().unwrap().contains("lane 26"), "{view}");
    assert_eq!(view["trace"]["steps"].as_array().unwrap().len(), 2);
}
