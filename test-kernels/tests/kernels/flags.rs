//! What is no data race because it is atomic, and what is one because half of it is not.

use harness::{Checks, Device, Launch as _, Settings, TestResult};
use test_kernels::flags::{half_atomic, leave_a_number, pass_a_message, see_each_other};

/// The device with races looked for in all workgroups, if it is an emulator.
fn looking(device: &Device) -> Device {
    let check = Some(Checks { races: true, ..Checks::NONE });
    Device::emulator(&Settings { check, ..device.settings().clone() }).expect("an emulator")
}

#[harness::test(check = "races,barriers")]
fn relaxed_atomics_in_lds_are_no_race(device: &Device) -> TestResult {
    let mut output = device.zeroed(256);
    see_each_other.launch(device, 2, 128, (&mut output,))?;
    for (i, seen) in output.to_vec().into_iter().enumerate() {
        let half = i as u32 / 64 % 2;
        assert!([0, 2 - half].map(|other| 16 * (1 + half) + other).contains(&seen), "{i}: {seen}");
    }
    Ok(())
}

#[harness::test(check = "races,barriers")]
fn a_flag_in_lds_orders_what_waves_do(device: &Device) -> TestResult {
    let lanes = pass_a_message.wave_size(device)?;
    let mut output = device.zeroed(2 * lanes as usize);
    pass_a_message.launch(device, 2, 2 * lanes, (&mut output,))?;
    let expected: Vec<u32> = (0..2).flat_map(|group| (0..lanes).map(move |i| 3 * i + group)).collect();
    assert_eq!(output.to_vec(), expected);
    Ok(())
}

/// Neither of the lanes of one store, nor of waves. One workgroup: of several, any may come last.
#[harness::test(check = "races,barriers")]
fn relaxed_stores_to_one_word_are_no_race(device: &Device) -> TestResult {
    let mut last = device.zeroed::<u32>(1);
    leave_a_number.launch(device, 1, 128, (&mut last,))?;
    assert!(last.to_vec()[0] < 128);
    Ok(())
}

#[harness::test]
fn an_atomic_and_a_plain_access_are_a_race(device: &Device) -> TestResult {
    let device = &looking(device);
    let mut output = device.zeroed(128);
    let error = half_atomic.launch(device, 1, 128, (&mut output,)).expect_err("a race");
    let fault = error.fault().ok_or("no fault")?;
    assert_eq!(fault.kind, "race");
    assert!(fault.message.starts_with("data race in LDS: "), "{}", fault.message);
    Ok(())
}
