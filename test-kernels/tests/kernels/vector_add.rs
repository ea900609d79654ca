//! 100 elements on 128 work-items: the last wave has lanes beyond the end.

use harness::{Device, Launch as _, Listing as _, TestResult, branch_counts};
use test_kernels::vector_add::{reference, vector_add};

#[harness::test]
fn only_the_last_wave_diverges_at_the_tail(device: &Device) -> TestResult {
    let b: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let c: Vec<f32> = (0..100).map(|i| 0.5 * i as f32).collect();
    let mut a = device.zeroed::<f32>(100);
    let run = vector_add.launch(device, 1, 128, (&mut a, &device.buffer(&b), &device.buffer(&c), 100))?;
    assert_eq!(a.to_vec(), reference(&b, &c));

    let tail = run.report().branch("tail");
    let expected = branch_counts((0..128).map(|i| Some(i < 100)), 128, vector_add.wave_size(device)?);
    assert_eq!(tail.waves().iter().map(|wave| wave.counts).collect::<Vec<_>>(), expected);
    assert_eq!((tail.executions(), tail.diverged()), (expected.len() as u64, 1));
    assert_eq!((tail.lanes_in(), tail.lanes_taken()), (128, 100));
    if run.profile() == "release" {
        harness::assert_report_snapshot!(run.report());
    }
    Ok(())
}

/// A GPU has a clock for launches; the emulator's time would say nothing.
#[harness::test]
fn a_gpu_tells_how_long_it_took(device: &Device) -> TestResult {
    let mut a = device.zeroed::<f32>(1 << 12);
    let run = vector_add.launch(
        device,
        64,
        64,
        (&mut a, &device.zeroed(1 << 12), &device.zeroed(1 << 12), 1 << 12),
    )?;
    match run.elapsed() {
        None => assert!(device.is_emulator()),
        Some(elapsed) => assert!(!device.is_emulator() && !elapsed.is_zero(), "{elapsed:?}"),
    }
    Ok(())
}

/// The compiler makes of the kernel, instruction for instruction, the listing that the talk shows for gfx90a
/// ("Example Kernel: Vector Add"), from `opt-level = 2` on. At 1 the code generator gives out registers differently.
#[harness::test]
fn the_listing_is_that_of_the_talk(device: &Device) -> TestResult {
    let run = vector_add.launch(
        device,
        1,
        64,
        (&mut device.zeroed(64), &device.zeroed(64), &device.zeroed(64), 64),
    )?;
    if device.cpu() == "gfx90a" && !matches!(run.profile(), "dev" | "kernel-o1") {
        harness::insta::assert_snapshot!(vector_add.listing(device)?, @r"
        s_load_dword s0, s[4:5], 0x18
        s_waitcnt lgkmcnt(0)
        v_cmp_gt_i32_e32 vcc, s0, v0
        s_and_saveexec_b64 s[0:1], vcc
        s_cbranch_execz 14
        s_load_dwordx4 s[0:3], s[4:5], 0x0
        s_load_dwordx2 s[6:7], s[4:5], 0x10
        v_lshlrev_b32_e32 v0, 2, v0
        s_waitcnt lgkmcnt(0)
        global_load_dword v1, v0, s[2:3]
        global_load_dword v2, v0, s[6:7]
        s_waitcnt vmcnt(0)
        v_add_f32_e32 v1, v1, v2
        global_store_dword v0, v1, s[0:1]
        s_endpgm
        ");
    }
    // As the code object that `cargo amdinst`'s own tests list, instrument and run.
    if device.cpu() == "gfx1100"
        && vector_add.wave_size(device)? == 32
        && !matches!(run.profile(), "dev" | "kernel-o1")
    {
        harness::insta::assert_snapshot!(vector_add.listing(device)?, @r"
        s_load_b32 s2, s[0:1], 0x18
        s_waitcnt lgkmcnt(0)
        v_cmp_gt_i32_e32 vcc_lo, s2, v0
        s_and_saveexec_b32 s2, vcc_lo
        s_cbranch_execz 16
        s_clause 0x1
        s_load_b128 s[4:7], s[0:1], null
        s_load_b64 s[0:1], s[0:1], 0x10
        v_lshlrev_b32_e32 v0, 2, v0
        s_waitcnt lgkmcnt(0)
        s_clause 0x1
        global_load_b32 v1, v0, s[6:7]
        global_load_b32 v2, v0, s[0:1]
        s_waitcnt vmcnt(0)
        v_add_f32_e32 v1, v1, v2
        global_store_b32 v0, v1, s[4:5]
        s_endpgm
        ");
    }
    Ok(())
}
