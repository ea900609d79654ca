//! Mistakes in functions that a kernel calls: whatever was inlined, the message names the nearest line of this package, then
//! the calls that led there. Whole messages, optimised and not.

use harness::insta::{Settings as Snapshots, assert_snapshot};
use harness::{Checks, Device, Launch as _, LaunchError, Run, Settings};
use test_kernels::called::{
    add, assert_few, barrier_of_called, endless_in_called, index_by_called, index_by_inlined, panic_at,
    race_of_called,
};

const SOURCE: &str = include_str!("../../src/called.rs");

/// The profiles whose messages are kept as they are: what a compiler leaves of a panic's text differs.
const PROFILES: [&str; 2] = ["release", "dev"];

/// What a message must say in any profile; and as a whole in some.
#[track_caller]
fn assert_told(device: &Device, name: &str, result: Result<Run, LaunchError>, line: &str) {
    let error = result.expect_err("the launch must fail");
    let text = error.to_string();
    let Some(fault) = error.fault() else { panic!("not a fault: {text}") };
    let place = &fault.location;
    assert!(place.file.as_deref().is_some_and(|file| file.ends_with("src/called.rs")), "{text}");
    let number = SOURCE.lines().position(|text| text.contains(line)).map_or(0, |line| line as u32 + 1);
    assert_eq!(place.line, Some(number), "{text}");
    // The excerpt.
    assert!(
        text.lines().any(|shown| shown.starts_with(&number.to_string()) && shown.contains(line)),
        "{text}"
    );
    // The kernel is the outermost of the frames.
    let outermost = fault.frames.last().and_then(|frame| frame.function.as_deref());
    assert_eq!(outermost, Some(fault.kernel.as_str()), "{text}");
    assert_whole(device, name, &text);
}

/// Asserts on a whole message, in the profiles whose messages are kept.
#[track_caller]
fn assert_whole(device: &Device, name: &str, text: &str) {
    let profile = device.settings().profile.as_deref().unwrap_or("release");
    if PROFILES.contains(&profile) && device.cpu() == "gfx90a" {
        let mut snapshots = Snapshots::clone_current();
        snapshots.set_snapshot_suffix(profile);
        snapshots.set_prepend_module_to_snapshot(false);
        snapshots.set_omit_expression(true);
        snapshots.bind(|| assert_snapshot!(name, without_what_compilers_change(text)));
    }
}

/// Without addresses, instructions, and line numbers of libraries.
fn without_what_compilers_change(text: &str) -> String {
    let line = |line: &str| {
        if let Some((before, rest)) = line.split_once("pc 0x") {
            let place = rest.split_once(", workgroup").map_or("", |(_, place)| place);
            let place = place.split_once("; before it").map_or(place, |(place, _)| place);
            return format!("{before}pc …, workgroup{place}");
        }
        let of_library = |place: &&str| place.starts_with("core/") || place.starts_with("amdinst-device/");
        match line.rsplit_once(" at ").filter(|(_, place)| of_library(place)) {
            Some((before, place)) => format!("{before} at {}", place.split(':').next().unwrap_or_default()),
            None => line.to_owned(),
        }
    };
    let mut text = text.to_owned();
    for address in ["write of 4 bytes at 0x", "read of 4 bytes at 0x"] {
        if let Some(at) = text.find(address).map(|at| at + address.len()) {
            let digits = text[at..].chars().take_while(char::is_ascii_hexdigit).count();
            text.replace_range(at..at + digits, "…");
        }
    }
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A device as the tests' one, but for what is changed.
fn with(device: &Device, change: impl FnOnce(&mut Settings)) -> Device {
    let mut settings = device.settings().clone();
    change(&mut settings);
    Device::emulator(&settings).expect("an emulator of the same processor")
}

#[harness::test]
fn an_index_in_an_inlined_function(device: &Device) {
    let (table, mut output) = (device.buffer(&[1_u32; 4]), device.zeroed(64));
    let result = index_by_inlined.launch(device, 1, 64, (&table, &mut output));
    assert_told(device, "index_by_inlined", result, "    table[i]");
}

#[harness::test]
fn an_index_in_a_called_function(device: &Device) {
    let (table, mut output) = (device.buffer(&[1_u32; 4]), device.zeroed(64));
    let result = index_by_called.launch(device, 1, 64, (&table, &mut output));
    // The second of the two lines.
    let error = result.as_ref().expect_err("the launch must fail").to_string();
    assert!(error.contains("element_twice at "), "{error}");
    let fault = result.err().and_then(|error| error.fault().cloned()).expect("a fault");
    let called =
        SOURCE.lines().position(|line| line == "fn element_called(table: &[u32], i: usize) -> u32 {");
    assert_eq!(fault.location.line, called.map(|line| line as u32 + 2), "{error}");
    assert_whole(device, "index_by_called", &error);
}

/// Overflow is checked in profile dev alone.
#[harness::test]
fn an_overflow(device: &Device) -> harness::TestResult {
    let mut output = device.zeroed(64);
    let result = add.launch(device, 1, 64, (&mut output, u32::MAX - 5));
    if device.settings().profile.as_deref() == Some("dev") {
        assert_told(device, "overflow", result, "i + offset");
    } else {
        result?;
    }
    Ok(())
}

#[harness::test]
fn an_assertion(device: &Device) {
    let mut output = device.zeroed(128);
    let result = assert_few.launch(device, 1, 64, (&mut output, 60));
    assert_told(device, "assertion", result, "assert!(i < most");
    let result = assert_few.launch(device, 2, 64, (&mut output, 128));
    assert_told(device, "assertion_of_two", result, "assert_eq!(i, workitem_id_x()");
}

#[harness::test]
fn a_panic(device: &Device) {
    let mut output = device.zeroed(64);
    // The wave whose lanes panic for one reason has others that do for another: the compiler's order decides.
    let result = panic_at.launch(device, 1, 1, (&mut output, 0));
    assert_told(device, "panic", result, "panic!(\"no such item");
    let result = panic_at.launch(device, 1, 64, (&mut output, 100));
    assert_told(device, "unwrap", result, "half(i).unwrap()");
}

#[harness::test]
fn a_race(device: &Device) {
    let device = &with(device, |settings| settings.check = Some(Checks { races: true, ..Checks::NONE }));
    let mut output = device.zeroed(128);
    let result = race_of_called.launch(device, 1, 128, (&mut output,));
    let earlier = result.as_ref().err().and_then(|error| error.fault()?.earlier.clone()).expect("a race");
    let load = SOURCE.lines().position(|line| line.contains("add(i).read_volatile()"));
    assert_eq!(earlier.location.line, load.map(|line| line as u32 + 1));
    let mut calls = earlier.frames.iter().filter_map(|frame| frame.function.as_deref());
    assert_eq!(calls.next_back(), Some("race_of_called"));
    assert_told(device, "race", result, "add(i).write_volatile(value)");
}

#[harness::test]
fn a_barrier(device: &Device) {
    let device = &with(device, |settings| settings.check = Some(Checks { barriers: true, ..Checks::NONE }));
    let mut output = device.zeroed(128);
    let result = barrier_of_called.launch(device, 1, 128, (&mut output,));
    assert_told(device, "barrier", result, "    barrier();");
}

/// Where in the loop it is stopped is the compiler's choice: where not optimized, that may be a check of `core`, which has no line of ours.
#[harness::test]
fn an_endless_loop(device: &Device) {
    let device = &with(device, |settings| settings.budget = Some(1 << 16));
    let mut output = device.zeroed(64);
    let error = endless_in_called.launch(device, 1, 64, (&mut output,)).expect_err("it never ends");
    let text = error.to_string();
    let fault = error.fault().expect("a fault");
    let first =
        SOURCE.lines().position(|line| line.contains("while rest != 0")).map_or(0, |line| line as u32 + 1);
    let is_in_loop = fault.location.line.is_some_and(|line| (first..first + 5).contains(&line));
    let is_told = match is_in_loop {
        true => text.contains("called by endless_in_called at "),
        false => text.contains("inside test_kernels::called::spin at core/"),
    };
    assert!(is_told, "{text}");
    assert_whole(device, "endless", &text);
}
