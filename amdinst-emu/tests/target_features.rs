//! What the target features of a code object change in the results of its instructions.

mod support;

use amdinst_emu::{Config, Launch};
use support::{Device, compile, tools};

const SOURCE: &str = include_str!("sources/target_features.cl");

/// SRAM ECC: "16-bit memory loads write the full 32-bit VGPR. Unused bits are set to zero" (CDNA ISA manuals,
/// "16-bit Memory Operations"). Code that runs with ECC on or off meets it on, where there is any.
#[test]
fn loads_of_halves() {
    if !tools("loads_of_halves") {
        return;
    }
    let kept = [0x5a5a_beef, 0xbeef_1111];
    let cleared = [0x0000_beef, 0xbeef_0000];
    for (target, expected) in [
        ("gfx900", kept),
        ("gfx906", cleared),
        ("gfx906:sramecc+", cleared),
        ("gfx906:sramecc-", kept),
        ("gfx908:sramecc-", kept),
        ("gfx90a", cleared),
        ("gfx90a:sramecc-", kept),
        ("gfx90c", kept),
        ("gfx942", cleared),
        ("gfx950", cleared),
    ] {
        let mut device = Device::with(&compile(SOURCE, target, "-O2"), Config::default());
        let out = device.buffer("out", &[0u32; 2]);
        let input = device.buffer("in", &[0x1234_beef_u32]);
        let kernarg = [out, input].iter().flat_map(|address| address.to_le_bytes()).collect();
        let launch = Launch { block: [1, 1, 1], kernarg, ..Launch::new("halves") };
        device.machine.launch(&device.program, &launch).unwrap_or_else(|fault| panic!("{target}: {fault}"));
        assert_eq!(device.u32s(out, 2), expected, "{target}");
    }
}
