//! Kernels and tests with mistakes: the launch fails, and the message names the mistake and its source line.

use harness::{Device, Launch as _, LaunchError, LocatedFault, Settings};
use test_kernels::broken::{checked_index, copy_unguarded, countdown, scatter};
use test_kernels::vector_add::vector_add;

/// The line of `text` in the kernels' source, from 1.
fn line_of(text: &str) -> u32 {
    let source = include_str!("../../src/broken.rs");
    let line = source.lines().position(|line| line.contains(text));
    line.map_or(0, |line| line as u32 + 1)
}

/// The fault of a launch that must fail with one.
#[track_caller]
fn fault(result: Result<harness::Run, LaunchError>) -> (LocatedFault, String) {
    let error = result.expect_err("the launch must fail");
    let text = error.to_string();
    match error {
        LaunchError::Fault(fault) => (*fault, text),
        other => panic!("not a fault: {other}"),
    }
}

/// Asserts on the line of a fault. Without optimisation nothing is inlined, and the instruction at fault may stand in a
/// function of Rust's own library, whose line is told instead.
#[track_caller]
fn assert_at(device: &Device, fault: &LocatedFault, text: &str, line: u32) {
    if device.settings().profile.as_deref() == Some("kernel-o0") {
        assert!(fault.location().is_some(), "no source line in: {text}");
        return;
    }
    let location = fault.location().unwrap_or_else(|| panic!("no source line in: {text}"));
    assert!(location.file.as_deref().is_some_and(|file| file.ends_with("src/broken.rs")), "{text}");
    assert_eq!(location.line, Some(line), "{text}");
}

/// 128 work-items on 100 elements: lane 36 of wave 1 is the first to read past the end.
#[harness::test]
fn reading_past_the_end_of_a_buffer(device: &Device) {
    let input = device.buffer(&[1.0_f32; 100]);
    let mut output = device.zeroed(128);
    let (fault, text) = fault(copy_unguarded.launch(device, 1, 128, (&input, &mut output)));
    assert!(text.contains("out of bounds: read of 4 bytes"), "{text}");
    assert!(text.contains("buffer of 100 f32"), "{text}");
    assert!(text.contains("argument 0"), "{text}");
    assert_eq!((fault.fault.wave, fault.fault.lane), (1, Some(36)), "{text}");
    assert_at(device, &fault, &text, line_of("*output.add(i) = *input.add(i)"));
}

/// A countdown by twos from odd numbers never meets zero. The budget is cut, for nobody wants to wait for the default's
/// 2^28 instructions.
#[harness::test]
fn an_endless_loop(device: &Device) {
    let settings = Settings { budget: Some(1 << 16), ..device.settings().clone() };
    let device = &Device::emulator(&settings).expect("an emulator of the same processor");
    let start = device.buffer(&[1_u32; 64]);
    let mut steps = device.zeroed(64);
    let (fault, text) = fault(countdown.launch(device, 1, 64, (&start, &mut steps)));
    assert!(text.contains("instruction budget exhausted"), "{text}");
    let location = fault.location().unwrap_or_else(|| panic!("no source line in: {text}"));
    let line = location.line.unwrap_or(0);
    let first = line_of("while rest != 0");
    assert!((first..first + 5).contains(&line), "{text}");
}

/// Words at a stride of 6 bytes: lane 1 swaps at 6, which is no multiple of 4. (A plain load or store may be anywhere.)
#[harness::test]
fn misaligned_lds(device: &Device) {
    let mut output = device.zeroed(64);
    let (fault, text) = fault(scatter.launch(device, 1, 64, (6, &mut output)));
    assert!(text.contains("misaligned: write of 4 bytes at 0x6 in LDS"), "{text}");
    assert_eq!(fault.fault.lane, Some(1), "{text}");
    assert_at(device, &fault, &text, line_of("atomic_u32(word)"));
}

/// Index 4 of 4: Rust's own check ends the kernel.
#[harness::test]
fn a_failed_bounds_check(device: &Device) {
    let table = device.buffer(&[10_u32, 20, 30, 40]);
    let indices: Vec<u32> = (0..64).map(|i| i % 5).collect();
    let mut output = device.zeroed(64);
    let (fault, text) =
        fault(checked_index.launch(device, 1, 64, (&table, &device.buffer(&indices), &mut output)));
    assert!(text.contains("trapped"), "{text}");
    assert_at(device, &fault, &text, line_of("table[*indices.add(i) as usize]"));
}

/// A test that expects too much: the second wave diverges, the first does not.
#[harness::test]
#[ignore = "fails on purpose; `a_wrong_expectation_names_both_lines` runs it"]
fn expects_two(device: &Device) -> harness::TestResult {
    let (b, c) = (device.buffer(&[1.0_f32; 100]), device.buffer(&[2.0_f32; 100]));
    let mut a = device.zeroed::<f32>(100);
    let run = vector_add.launch(device, 1, 128, (&mut a, &b, &c, 100))?;
    assert_eq!(run.report().site("tail").diverged(), 2);
    Ok(())
}

/// What is printed then: the place of the assertion, and the line of the probe with its figures.
#[harness::test]
fn a_wrong_expectation_names_both_lines(_device: &Device) -> harness::TestResult {
    let output = std::process::Command::new(std::env::current_exe()?)
        .args(["--ignored", "--exact", "expects_two"])
        .env_remove("AMDINST_JUNIT")
        .env_remove("AMDINST_STATUS")
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success(), "{text}");
    let source = include_str!("main.rs");
    let assertion =
        source.lines().position(|line| line.contains("diverged(), 2);")).map_or(0, |line| line + 1);
    assert!(text.contains(&format!("failures/main.rs:{assertion}:")), "{text}");
    assert!(text.contains("left: 1\n right: 2"), "{text}");
    assert!(text.contains("src/vector_add.rs:"), "{text}");
    Ok(())
}

/// A probe that the kernel does not have.
#[harness::test]
fn a_misspelt_probe(device: &Device) -> harness::TestResult {
    let (b, c) = (device.buffer(&[1.0_f32; 100]), device.buffer(&[2.0_f32; 100]));
    let mut a = device.zeroed::<f32>(100);
    let run = vector_add.launch(device, 1, 128, (&mut a, &b, &c, 100))?;
    let told = run.report().find("tial").unwrap_err().to_string();
    assert_eq!(told, "kernel `vector_add` has no probe `tial`; it has `tail`");
    Ok(())
}

harness::main!();
