//! Kernels and tests with mistakes: the launch fails, and the message names the mistake and its source line.
//!
//! An instruction that the emulator does not execute cannot be had from Rust, which refuses inline assembly for this target:
//! that fault, and others that only assembly makes, are in `cargo-amdinst/tests/faults/`.

mod called;

use harness::{Checks, Device, FaultReport, Launch as _, LaunchError, Settings};
use test_kernels::broken::{
    barrier_in_a_branch, checked_index, copy_unguarded, countdown, exchange, follow, in_small_workgroups,
    move_down, scatter, stack_index, store_at_unwritten, sum_of_neighbors, sum_of_written_neighbors,
    turn_around, two_to_one,
};
use test_kernels::vector_add::vector_add;

/// The line of `text` in the kernels' source, from 1.
fn line_of(text: &str) -> u32 {
    let source = include_str!("../../src/broken.rs");
    let line = source.lines().position(|line| line.contains(text));
    line.map_or(0, |line| line as u32 + 1)
}

/// The fault of a launch that must fail with one.
#[track_caller]
fn fault(result: Result<harness::Run, LaunchError>) -> (FaultReport, String) {
    let error = result.expect_err("the launch must fail");
    let text = error.to_string();
    match error.fault() {
        Some(fault) => (fault.clone(), text),
        None => panic!("not a fault: {text}"),
    }
}

/// Asserts on the line of a fault. Without optimisation the instruction stands in a function of Rust's own library: the line is
/// the one that called it all the same.
#[track_caller]
fn assert_at(fault: &FaultReport, text: &str, line: u32) {
    let location = &fault.location;
    assert!(location.file.as_deref().is_some_and(|file| file.ends_with("src/broken.rs")), "{text}");
    assert_eq!(location.line, Some(line), "{text}");
}

/// An element that is wrong: the kernel's lines say where it is from, and the buffers of the launch are gone by then.
#[harness::test]
fn a_wrong_element_says_where_it_is_from(device: &Device) {
    let b: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let mut a = device.buffer(&[0.0_f32; 100]);
    let c = device.buffer(&[7.0_f32; 100]);
    vector_add.launch(device, 1, 128, (&mut a, &device.buffer(&b), &c, 100)).expect("it ends well");
    drop(c);
    // A later launch that writes elsewhere.
    let mut other = device.buffer(&[0.0_f32]);
    vector_add.launch(device, 1, 64, (&mut other, &a, &device.buffer(&b), 1)).expect("it ends well");

    let mut expected: Vec<f32> = b.iter().map(|b| b + 7.0).collect();
    a.assert_eq(&expected);
    a.assert_close(&expected, 0);
    expected[70] = 0.5;
    let text = said(|| a.assert_eq(&expected));
    assert!(text.starts_with("element 70 of a buffer of 100 f32 is 77.0, not 0.5\n"), "{text}");
    expected[80] = f32::NAN;
    let close = said(|| a.assert_close(&expected, 3));
    assert!(
        close.contains("is 77.0, not 0.5, ") && close.contains("; 2 of 100 elements differ\n"),
        "{close}"
    );
    assert!(close.contains("\nat most 3 ULP are allowed; elements by ULP: 0: 98, "), "{close}");
    assert!(close.contains("the worst is element 80: 87.0, not NaN"), "{close}");
    if device.is_emulator() {
        let of_line = |text: &str| text.lines().any(|line| line.contains("src/vector_add.rs:17:"));
        assert!(text.contains("\nelement 70: `vector_add` made it\n") && of_line(&text), "{text}");
        assert!(text.contains(" from buffer of 100 f32+0x118\n"), "{text}");
        assert!(close.contains("\nelement 80: `vector_add` made it\n") && of_line(&close), "{close}");
    }
    // The test put that there.
    let text = said(|| device.buffer(&[1_u32]).assert_eq([2]));
    assert_eq!(text, "element 0 of a buffer of 1 u32 is 1, not 2");
    let text = said(|| device.buffer(&[1_u32]).assert_eq([]));
    assert!(text.contains("has not as many elements as are expected"), "{text}");
}

/// What an assertion that fails says.
fn said(assertion: impl FnOnce()) -> String {
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(assertion));
    let payload = ended.expect_err("it must fail");
    payload.downcast_ref::<String>().expect("a text").clone()
}

/// Where a fault must be told to have happened.
struct Place {
    kernel: &'static str,
    workgroup: u32,
    wave: u64,
    lane: Option<u8>,
    /// The instruction's name without its space: a pointer may be known to be one to global memory or not.
    instruction: &'static [&'static str],
    line: u32,
}

/// Asserts on the whole message: kernel, what happened, file and line, pc, instruction, workgroup, wave and lane.
#[track_caller]
fn assert_told(fault: &FaultReport, text: &str, what: &str, place: &Place) {
    let first = text.lines().next().unwrap_or_default();
    assert!(first.starts_with(&format!("kernel `{}`: {what}", place.kernel)), "{text}");
    assert_at(fault, text, place.line);
    assert!(
        text.lines().any(|line| line.trim_start().starts_with("--> ") && line.contains(".rs:")),
        "{text}"
    );
    // Behind it is at most what mends the fault.
    let is_instruction = |line: &&str| line.trim_start().starts_with("= note: pc 0x");
    let last = text.lines().rfind(is_instruction).unwrap_or_default();
    let lane = place.lane.map_or_else(String::new, |lane| format!(", lane {lane}"));
    let end = format!("`, workgroup ({}, 0, 0), wave {}{lane}", place.workgroup, place.wave);
    assert!(last.ends_with(&end), "{text}");
    let told = place.instruction.iter().any(|name| last.contains(&format!(" `{name}")));
    assert!(told, "{text}");
}

/// Loads and atomics through a pointer that may be to any memory, or is known to be to global memory.
const LOADS: &[&str] = &[
    "global_load_dword ",
    "flat_load_dword ",
    "s_load_dword ",
    "global_load_b32 ",
    "flat_load_b32 ",
    "s_load_b32 ",
];
const SWAPS: &[&str] =
    &["global_atomic_swap ", "flat_atomic_swap ", "global_atomic_swap_b32 ", "flat_atomic_swap_b32 "];

/// Where a work-item stands in its workgroup of one dimension: wave and lane, with waves of so many lanes.
fn place_of(item: u32, lanes: u32) -> (u32, u8) {
    (item / lanes, (item % lanes) as u8)
}

/// The kernel says how large its workgroups are; the launch says which of its arguments that is.
#[harness::test]
fn a_workgroup_larger_than_declared(device: &Device) {
    let mut output = device.zeroed::<u32>(128);
    in_small_workgroups.launch(device, 2, 64, (&mut output,)).expect("workgroups of 64");
    assert_eq!(output.to_vec(), Vec::from_iter(0..128));
    let (_, text) = fault(in_small_workgroups.launch(device, 1, 128, (&mut output,)));
    assert!(text.contains("128 work-items a workgroup; the kernel takes 64 at most"), "{text}");
    assert!(text.contains("= help: `launch(device, workgroups, work_items, …)`"), "{text}");
    assert!(text.contains("from 1 to 64"), "{text}");
}

/// 128 work-items on 100 elements: number 100 is the first to read past the end.
#[harness::test]
fn reading_past_the_end_of_a_buffer(device: &Device) {
    let input = device.buffer(&[1.0_f32; 100]);
    let mut output = device.zeroed(128);
    let (fault, text) = fault(copy_unguarded.launch(device, 1, 128, (&input, &mut output)));
    assert!(text.contains("out of bounds: read of 4 bytes"), "{text}");
    assert!(text.contains("buffer of 100 f32"), "{text}");
    assert!(text.contains("which is the kernel's argument `input`"), "{text}");
    let (wave, lane) = place_of(100, copy_unguarded.wave_size(device).expect("a kernel"));
    assert_eq!((fault.wave.wave, fault.lane), (wave, Some(lane)), "{text}");
    assert_at(&fault, &text, line_of("*output.add(i) = *input.add(i)"));
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
    let location = &fault.location;
    let line = location.line.unwrap_or(0);
    let first = line_of("while rest != 0");
    // Without optimisation, constants that the loop uses may have the line of the function's end.
    assert!((first..first + 6).contains(&line), "{text}");
}

/// Words at a stride of 6 bytes: lane 1 swaps at 6, which is no multiple of 4. (A plain load or store may be anywhere.)
#[harness::test]
fn misaligned_lds(device: &Device) {
    let mut output = device.zeroed(64);
    let (fault, text) = fault(scatter.launch(device, 1, 64, (6, &mut output)));
    assert!(text.contains("misaligned: write of 4 bytes at 0x6 in LDS"), "{text}");
    assert_eq!(fault.lane, Some(1), "{text}");
    assert_at(&fault, &text, line_of("atomic_u32(word)"));
}

/// Index 4 of 4: Rust's own check ends the kernel.
#[harness::test]
fn a_failed_bounds_check(device: &Device) {
    let table = device.buffer(&[10_u32, 20, 30, 40]);
    let indices: Vec<u32> = (0..64).map(|i| i % 5).collect();
    let mut output = device.zeroed(64);
    let (fault, text) =
        fault(checked_index.launch(device, 1, 64, (&table, &device.buffer(&indices), &mut output)));
    assert!(text.contains("the kernel panicked: index out of bounds"), "{text}");
    assert!(fault.panic.as_deref().is_some_and(|said| said.starts_with("index out of bounds")), "{text}");
    assert_at(&fault, &text, line_of("table[*indices.add(i) as usize]"));
}

/// The address of a buffer that has been dropped.
#[harness::test]
fn use_of_a_freed_buffer(device: &Device) {
    let freed = device.buffer(&[1_u32; 128]).address();
    let mut output = device.zeroed(128);
    let (fault, text) = fault(follow.launch(device, 2, 64, (freed, &mut output)));
    let what =
        format!("use after free: read of 4 bytes at {freed:#x}, in `buffer of 128 u32` which has been freed");
    let line = line_of("words.add(i).read_volatile()");
    let place = Place { kernel: "follow", workgroup: 0, wave: 0, lane: Some(0), instruction: LOADS, line };
    assert_told(&fault, &text, &what, &place);
    // An atomic is a write.
    let (fault, text) = self::fault(exchange.launch(device, 2, 64, (freed, &mut output)));
    let what = format!(
        "use after free: write of 4 bytes at {freed:#x}, in `buffer of 128 u32` which has been freed"
    );
    let line = line_of("swap(1, Relaxed)");
    let place = Place { kernel: "exchange", instruction: SWAPS, line, ..place };
    assert_told(&fault, &text, &what, &place);
}

/// Element 0 of a null pointer.
#[harness::test]
fn a_null_pointer(device: &Device) {
    let mut output = device.zeroed(64);
    let (fault, text) = fault(follow.launch(device, 1, 64, (0, &mut output)));
    let line = line_of("words.add(i).read_volatile()");
    let place = Place { kernel: "follow", workgroup: 0, wave: 0, lane: Some(0), instruction: LOADS, line };
    assert_told(&fault, &text, "null pointer: read of 4 bytes at 0x0", &place);
}

/// The second workgroup is past the end of a buffer that is no argument, in its first wave.
#[harness::test]
fn past_the_end_of_a_buffer_by_its_address(device: &Device) {
    let words = device.zeroed::<u32>(70);
    let mut output = device.zeroed(256);
    let (fault, text) = fault(exchange.launch(device, 2, 128, (words.address(), &mut output)));
    let what = format!(
        "out of bounds: write of 4 bytes at {:#x} in global memory: it runs over the end of `buffer of 70 u32` (280 bytes at {:#x})",
        words.address() + 280,
        words.address()
    );
    let line = line_of("swap(1, Relaxed)");
    let (wave, lane) = place_of(70, exchange.wave_size(device).expect("a kernel"));
    let (kernel, wave, lane) = ("exchange", wave.into(), Some(lane));
    let place = Place { kernel, workgroup: 0, wave, lane, instruction: SWAPS, line };
    assert_told(&fault, &text, &what, &place);
}

/// An atomic at an odd address.
#[harness::test]
fn misaligned_global(device: &Device) {
    let words = device.zeroed::<u32>(65);
    let mut output = device.zeroed(64);
    let (fault, text) = fault(exchange.launch(device, 1, 64, (words.address() + 1, &mut output)));
    let what = format!(
        "misaligned: write of 4 bytes at {:#x} in global memory must be a multiple of 4",
        words.address() + 1
    );
    let line = line_of("swap(1, Relaxed)");
    let place = Place { kernel: "exchange", workgroup: 0, wave: 0, lane: Some(0), instruction: SWAPS, line };
    assert_told(&fault, &text, &what, &place);
}

/// 64 words of LDS, 8 bytes apart: work-item 32 is the first outside.
#[harness::test]
fn past_the_end_of_lds(device: &Device) {
    let mut output = device.zeroed(64);
    let (fault, text) = fault(scatter.launch(device, 1, 64, (8, &mut output)));
    let line = line_of("atomic_u32(word)");
    let instruction: &[&str] = &[
        "ds_wrxchg_rtn_b32 ",
        "ds_write_b32 ",
        "flat_atomic_swap ",
        "ds_storexchg_rtn_b32 ",
        "ds_store_b32 ",
        "flat_atomic_swap_b32 ",
    ];
    let (wave, lane) = place_of(32, scatter.wave_size(device).expect("a kernel"));
    let (kernel, wave, lane) = ("scatter", wave.into(), Some(lane));
    let place = Place { kernel, workgroup: 0, wave, lane, instruction, line };
    let what = "out of bounds: write of 4 bytes at 0x100 in LDS: it runs over the end of `the workgroup's LDS` (256 bytes at 0x0)";
    assert_told(&fault, &text, what, &place);
}

/// Far outside the work-item's stack; a little behind the array would still be in it.
#[harness::test]
fn past_the_end_of_the_stack(device: &Device) {
    let mut output = device.zeroed(128);
    let (fault, text) = fault(stack_index.launch(device, 1, 128, (50_000, &mut output)));
    let line = line_of("write_volatile(7)");
    let instruction: &[&str] = &[
        "buffer_store_dword ",
        "scratch_store_dword ",
        "flat_store_dword ",
        "scratch_store_b32 ",
        "flat_store_b32 ",
    ];
    let place = Place { kernel: "stack_index", workgroup: 0, wave: 0, lane: Some(0), instruction, line };
    assert_told(&fault, &text, "out of bounds: write of 4 bytes at 0x", &place);
    assert!(
        text.contains(" in scratch: ") && text.contains("past the end of `the work-item's scratch` ("),
        "{text}"
    );
    // Whether its stack grows depends on the level of optimisation.
    assert!(text.contains("= help: ") && text.contains(" an index into an array among "), "{text}");
}

/// The second half of the workgroup ends without coming to the barrier. Hardware lets the first one pass, so this is a
/// fault only where one asks for it.
#[harness::test]
fn a_barrier_that_not_all_waves_reach(device: &Device) -> harness::TestResult {
    let settings = Settings { check: Some(Checks::NONE), ..device.settings().clone() };
    let device = &Device::emulator(&settings)?;
    let mut output = device.zeroed(256);
    barrier_in_a_branch.launch(device, 2, 128, (&mut output,))?;
    assert_eq!(output.to_vec().iter().sum::<u32>(), 128);
    let settings =
        Settings { check: Some(Checks { barriers: true, ..Checks::NONE }), ..device.settings().clone() };
    let device = &Device::emulator(&settings)?;
    let mut output = device.zeroed(256);
    let (fault, text) = fault(barrier_in_a_branch.launch(device, 2, 128, (&mut output,)));
    let what = match 64 / barrier_in_a_branch.wave_size(device)? {
        1 => "1 wave waits at it and 1 wave has ended".to_owned(),
        waves => format!("{waves} waves wait at it and {waves} waves have ended"),
    };
    let what = format!("kernel `barrier_in_a_branch`: barrier in divergent control flow: {what}\n");
    assert!(text.starts_with(&what), "{text}");
    let pc = text.lines().find(|line| line.contains(" = note: pc 0x")).unwrap_or_default();
    assert!(pc.contains(" `s_barrier") && pc.ends_with("`, workgroup (0, 0, 0), wave 0"), "{text}");
    let (mends, allows) =
        ("move it out of the `if` or loop", "`#[harness::test(check = \"races,uninitialized\")]`");
    assert!(text.find(mends).is_some_and(|mends| text[mends..].contains(allows)), "{text}");
    assert_eq!((fault.wave.wave, fault.lane), (0, None), "{text}");
    // The instruction stands in a function of the library, behind the line that calls it.
    assert_at(&fault, &text, line_of("        barrier();"));
    assert!(text.contains(" at amdinst-device/src/sync.rs:"), "{text}");
    Ok(())
}

/// The first half of the waves loads what the second is still to store. Every order of the waves is one that hardware may take, so this
/// is a fault only where one asks for it.
#[harness::test]
fn a_missing_barrier(device: &Device) -> harness::TestResult {
    let settings =
        Settings { check: Some(Checks { races: true, ..Checks::NONE }), ..device.settings().clone() };
    let device = &Device::emulator(&settings)?;
    let mut output = device.zeroed(256);
    let (fault, text) = fault(turn_around.launch(device, 2, 128, (&mut output,)));
    let (store, load) = (line_of("write_volatile(global_id_x())"), line_of("turned.add(127 - i)"));
    let what = "data race in LDS: write of 4 bytes at 0x";
    let instruction: &[&str] = &["ds_write_b32 ", "flat_store_dword ", "ds_store_b32 ", "flat_store_b32 "];
    let first = text.lines().next().unwrap_or_default();
    assert!(first.starts_with(&format!("kernel `turn_around`: {what}")), "{text}");
    // In order of waves, the first that stores what another has loaded is the first of the second half.
    let half = 64 / turn_around.wave_size(device)?;
    let read = format!(", after a read by wave {} with no barrier in between", half - 1);
    assert!(first.ends_with(&read), "{text}");
    assert_at(&fault, &text, store);
    let last = text.lines().find(|line| line.contains("; before it pc 0x")).unwrap_or_default();
    let (pc, before) = last.split_once("; before it pc 0x").unwrap_or_default();
    assert!(pc.ends_with(&format!("`, workgroup (0, 0, 0), wave {half}, lane 0")), "{text}");
    assert!(instruction.iter().any(|name| pc.contains(&format!(" `{name}"))), "{text}");
    let loads = ["_read_b32 ", "_load_dword ", "_load_b32 "];
    assert!(loads.iter().any(|load| before.contains(load)), "{text}");
    assert!(text.contains("`#[harness::test(check = \"barriers,uninitialized\")]`"), "{text}");
    let earlier = fault.earlier.as_ref().ok_or("no earlier access")?;
    assert!(earlier.pc.is_some() && earlier.pc != fault.pc, "{text}");
    assert_eq!(earlier.location.line, Some(load), "{text}");
    Ok(())
}

/// The second workgroup stores to what the last work-item of the first has loaded, and may have done so before it. Each is one wave, whose
/// lanes load before any stores.
#[harness::test]
fn workgroups_that_share_an_element(device: &Device) -> harness::TestResult {
    let lanes = move_down.wave_size(device)?;
    let values: Vec<u32> = (0..2 * lanes + 1).collect();
    if !device.settings().checks().races {
        move_down.launch(device, 2, lanes, (&mut device.buffer(&values),))?;
    }
    let settings =
        Settings { check: Some(Checks { races: true, ..Checks::NONE }), ..device.settings().clone() };
    let device = &Device::emulator(&settings)?;
    let mut data = device.buffer(&values);
    let (fault, text) = fault(move_down.launch(device, 2, lanes, (&mut data,)));
    let first = text.lines().next().unwrap_or_default();
    let what = "kernel `move_down`: data race in global memory: write of 4 bytes at 0x";
    assert!(first.starts_with(what), "{text}");
    let place = format!(
        " (byte {} of `buffer of {} u32`), after a read by wave 0 of workgroup (0, 0, 0), and nothing orders the two",
        4 * lanes,
        values.len()
    );
    assert!(first.contains(&place), "{text}");
    assert_eq!((fault.wave.workgroup, fault.wave.wave, fault.lane), ([1, 0, 0], 0, Some(0)), "{text}");
    assert_at(&fault, &text, line_of("*data.add(i + 1)"));
    let earlier = fault.earlier.as_ref().ok_or("no earlier access")?;
    assert!(earlier.pc.is_some() && !earlier.frames.is_empty(), "{text}");
    let last = text.lines().find(|line| line.contains("; before it pc 0x")).unwrap_or_default();
    let before = last.split_once("; before it pc 0x").map_or("", |(_, before)| before);
    assert!(before.contains("_load_dword ") || before.contains("_load_b32 "), "{text}");
    // Workgroups of their own elements do not meet.
    move_down.launch(device, 1, lanes, (&mut data,))?;
    Ok(())
}

/// Which of two lanes' values stays, nothing tells: a fault only where one asks for it.
#[harness::test]
fn lanes_that_write_to_one_element(device: &Device) -> harness::TestResult {
    let mut output = device.zeroed(128);
    let settings =
        Settings { check: Some(Checks { races: true, ..Checks::NONE }), ..device.settings().clone() };
    if !device.settings().checks().races {
        two_to_one.launch(device, 2, 128, (&mut output,))?;
    }
    let device = &Device::emulator(&settings)?;
    let mut output = device.zeroed(128);
    let (fault, text) = fault(two_to_one.launch(device, 2, 128, (&mut output,)));
    let first = text.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("kernel `two_to_one`: data race in global memory: write of 4 bytes at 0x"),
        "{text}"
    );
    assert!(first.ends_with(", where lane 0 writes another value by the same instruction"), "{text}");
    assert_eq!((fault.wave.wave, fault.lane), (0, Some(1)), "{text}");
    assert_at(&fault, &text, line_of("i as usize / 2"));
    Ok(())
}

/// The device of tests that do not say what is to be looked for.
fn with_defaults(device: &Device) -> Device {
    let settings = Settings { check: None, check_by_default: Checks::ALL, ..device.settings().clone() };
    Device::emulator(&settings).expect("an emulator")
}

/// The last work-item adds what nobody has written. Both dwords that stand for it are tried, so the sum is told by what it
/// depends on, not by what it looks like.
#[harness::test]
fn a_sum_of_what_nobody_has_written(device: &Device) {
    let device = &with_defaults(device);
    let mut output = device.zeroed(64);
    let (fault, text) = fault(sum_of_neighbors.launch(device, 1, 64, (&mut output,)));
    let first = text.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("kernel `sum_of_neighbors`: uninitialized value: write of 4 bytes at 0x"),
        "{text}"
    );
    let depends = " (byte 252 of `buffer of 64 u32`) depends on LDS that nothing has written";
    assert!(first.contains(depends), "{text}");
    let (wave, lane) = place_of(63, sum_of_neighbors.wave_size(device).expect("a kernel"));
    assert_eq!(
        (fault.wave.wave, fault.lane, fault.kind.as_str()),
        (wave, Some(lane), "uninitialized"),
        "{text}"
    );
    assert_at(&fault, &text, line_of("*output.add(i) = sum;"));
    let earlier = fault.earlier.as_ref().expect("a read");
    let loads = ["ds_read", "ds_load", "flat_load"];
    assert!(loads.iter().any(|load| earlier.instruction.starts_with(load)), "{text}");
    // What the kernel has left is what the test reads, as before.
    assert_eq!(output.to_vec()[..63], std::array::from_fn::<u32, 63, _>(|i| 2 * i as u32 + 1));
    // Where it is not looked for, it shows in the result.
    let settings = Settings { check: Some(Checks::NONE), ..device.settings().clone() };
    let device = &Device::emulator(&settings).expect("an emulator");
    let mut output = device.zeroed(64);
    sum_of_neighbors.launch(device, 1, 64, (&mut output,)).expect("not looked for");
    assert_eq!(output.to_vec()[63], 0x7ffb_7ffb + 63);
}

/// What is read and not used is no mistake.
#[harness::test]
fn what_is_read_and_not_used(device: &Device) -> harness::TestResult {
    let device = &with_defaults(device);
    let mut output = device.zeroed(64);
    sum_of_written_neighbors.launch(device, 1, 64, (&mut output,))?;
    assert_eq!(output.to_vec()[63], 63);
    Ok(())
}

/// A fault that another dword in place of what was not written would not have made says so.
#[harness::test]
fn an_address_that_nobody_has_written(device: &Device) {
    let device = &with_defaults(device);
    let mut output = device.zeroed::<u32>(64);
    let (_, text) = fault(store_at_unwritten.launch(device, 1, 64, (&mut output,)));
    let first = text.lines().next().unwrap_or_default();
    assert!(first.starts_with("kernel `store_at_unwritten`: out of bounds: write of 4 bytes"), "{text}");
    assert!(
        first.ends_with("; it depends on a register, LDS or scratch memory that nothing has written"),
        "{text}"
    );
    let mut output = device.zeroed(128);
    let (_, text) = fault(stack_index.launch(device, 1, 128, (50_000, &mut output)));
    assert!(!text.contains("nothing has written"), "{text}");
}

/// What may be looked for in a test can be less than what is looked for in others.
#[harness::test(check = "none")]
fn a_test_that_asks_for_no_checks(device: &Device) -> harness::TestResult {
    assert_eq!(device.settings().checks(), Checks::NONE);
    turn_around.launch(device, 2, 128, (&mut device.zeroed(256),))?;
    Ok(())
}

/// A test that expects too much: the second wave diverges, the first does not.
#[harness::test]
#[ignore = "fails on purpose; `a_wrong_expectation_names_both_lines` runs it"]
fn expects_two(device: &Device) -> harness::TestResult {
    let (b, c) = (device.buffer(&[1.0_f32; 100]), device.buffer(&[2.0_f32; 100]));
    let mut a = device.zeroed::<f32>(100);
    let run = vector_add.launch(device, 1, 128, (&mut a, &b, &c, 100))?;
    assert_eq!(run.report().branch("tail").diverged(), 2);
    Ok(())
}

/// What is printed then: the place of the assertion, and the line of the probe with its figures.
#[harness::test]
fn a_wrong_expectation_names_both_lines(device: &Device) -> harness::TestResult {
    // Without counts there is no figure to be wrong.
    let (b, c) = (device.buffer(&[1.0_f32; 64]), device.buffer(&[2.0_f32; 64]));
    let run = vector_add.launch(device, 1, 64, (&mut device.zeroed::<f32>(64), &b, &c, 64))?;
    run.report().branch("tail");
    let output = std::process::Command::new(std::env::current_exe()?)
        .args(["--ignored", "--exact", "expects_two"])
        .env_remove("AMDINST_JUNIT")
        .env_remove("AMDINST_STATUS")
        .env_remove("AMDINST_RUN")
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
    run.report().branch("tail");
    let told = run.report().find("tial").unwrap_err().to_string();
    assert_eq!(told, "kernel `vector_add` has no probe `tial`; it has `tail`");
    Ok(())
}

harness::main!();
