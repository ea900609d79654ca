//! What a panic says, with its values, though the compiler has optimized them away: on the emulator and through HIP, where the waves end and
//! the program goes on.

use harness::{Device, Launch as _, LaunchError, Run, TestResult};
use panics::{assert_squares, gather, refuse};

const SOURCE: &str = include_str!("../src/lib.rs");

/// Who panicked.
struct Place {
    workgroup: [u32; 3],
    /// The work-item's number in its workgroup.
    item: u32,
    /// Those of a wave.
    lanes: u32,
}

/// What is said of a panic in a wave's lane, and the line that it names.
#[track_caller]
fn assert_said(result: Result<Run, LaunchError>, said: &str, line: &str, place: Place) {
    let error = result.expect_err("the launch must fail");
    let text = error.to_string();
    let Some(fault) = error.fault() else { panic!("not a fault: {text}") };
    assert_eq!((fault.kind.as_str(), fault.panic.as_deref()), ("trap", Some(said)), "{text}");
    assert!(text.contains(&format!("the kernel panicked: {said}\n")), "{text}");
    let number = SOURCE.lines().position(|text| text.contains(line)).map(|line| line as u32 + 1);
    assert_eq!(fault.location.line, number, "{text}");
    // The excerpt.
    assert!(text.lines().any(|shown| shown.ends_with(line)), "{text}");
    let Place { workgroup, item, lanes } = place;
    assert_eq!(fault.wave.workgroup, workgroup, "{text}");
    assert_eq!((fault.wave.wave, fault.lane), (item / lanes, Some((item % lanes) as u8)), "{text}");
}

#[harness::test]
fn an_index_and_a_length(device: &Device) -> TestResult {
    let table = device.buffer(&[7_u32, 8, 9]);
    let mut indices = vec![1_u32; 256];
    let mut output = device.buffer(&[0_u32; 256]);
    gather.launch(device, 2, 128, (&table, &device.buffer(&indices), &mut output))?;
    assert_eq!(output.to_vec(), [8; 256]);
    // Of the lanes of a wave, the first says it.
    indices[128 + 70..].fill(1000);
    let result = gather.launch(device, 2, 128, (&table, &device.buffer(&indices), &mut output));
    let said = "index out of bounds: the len is 3 but the index is 1000";
    assert_said(
        result,
        said,
        "*output = table[index];",
        Place { workgroup: [1, 0, 0], item: 70, lanes: gather.wave_size(device)? },
    );
    // The next launch is one like any other.
    let run = gather.launch(device, 2, 64, (&table, &device.buffer(&[2_u32; 128]), &mut output))?;
    assert!(run.printed().is_empty());
    assert_eq!(output.to_vec()[..128], [9; 128]);
    Ok(())
}

#[harness::test]
fn both_sides_of_an_assertion(device: &Device) -> TestResult {
    let mut squares: Vec<u32> = (0..64).map(|i| i * i).collect();
    assert_squares.launch(device, 1, 64, (&device.buffer(&squares),))?;
    squares[5] = 24;
    let result = assert_squares.launch(device, 1, 64, (&device.buffer(&squares),));
    let said = "assertion `left == right` failed: the square of 5, left: 24, right: 25";
    assert_said(
        result,
        said,
        "assert_eq!(square, i * i, \"the square of {i}\");",
        Place { workgroup: [0, 0, 0], item: 5, lanes: assert_squares.wave_size(device)? },
    );
    Ok(())
}

#[harness::test]
fn what_is_formatted_in_a_function(device: &Device) -> TestResult {
    refuse.launch(device, 3, 100, (99, 0.5))?;
    let result = refuse.launch(device, 1, 100, (99, 2.25));
    let printed = "printed before it:\n  workgroup (0, 0, 0), work-item (99, 0, 0): 99 is next";
    assert!(result.as_ref().is_err_and(|error| error.to_string().contains(printed)), "{result:?}");
    let line = "panic!(\"a size of {size:.1}, where {} is the most\", 1);";
    assert_said(
        result,
        "a size of 2.2, where 1 is the most",
        line,
        Place { workgroup: [0, 0, 0], item: 99, lanes: refuse.wave_size(device)? },
    );
    Ok(())
}

harness::main!();
