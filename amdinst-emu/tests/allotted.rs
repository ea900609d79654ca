//! What a kernel is given and no more: registers that its descriptor allots, its kernarg segment, its scratch
//! memory.

mod support;

use amdgpu_object::CodeObject;
use amdinst_emu::{Config, Execution, Fault, FaultKind, Launch, MemorySpace, RegisterBank, Vectors};
use support::{Assembly, Device, tools};

/// Each way that steps run.
fn configurations() -> Vec<Config> {
    let mut all = Vec::new();
    for vectors in Vectors::ALL.into_iter().filter(|vectors| vectors.is_available()) {
        let mut config = Config::default();
        config.vectors = vectors;
        all.push(config);
    }
    let mut reference = Config::default();
    reference.fast_layer = false;
    all.push(reference);
    all
}

fn launch_in(config: Config, object: &CodeObject, arguments: &[u64]) -> Result<Execution, Fault> {
    Device::with(object, config).launch("k", 1, 64, arguments)
}

/// How a kernel ends, which must be the same in each configuration.
fn launch(object: &CodeObject, arguments: &[u64]) -> Result<(), Fault> {
    let mut ends = configurations().into_iter().map(|config| launch_in(config, object, arguments).map(drop));
    let first = ends.next().expect("one at least");
    assert!(ends.all(|end| end == first));
    first
}

/// The bank, the register's number, and how many there are.
type Beyond = (RegisterBank, i64, u32);

fn register(object: &CodeObject) -> Option<(RegisterBank, i64, u32, String)> {
    match launch(object, &[0; 2]) {
        Ok(()) => None,
        Err(fault) => match fault.kind {
            FaultKind::RegisterIndex { bank, index, available } => {
                assert!(fault.pc.is_some());
                Some((bank, index, available, fault.instruction))
            }
            _ => panic!("{fault}"),
        },
    }
}

#[test]
fn registers_beyond_the_allotment() {
    if !tools("registers_beyond_the_allotment") {
        return;
    }
    use RegisterBank::{Agpr, Sgpr, Vgpr};
    // SGPRs come in blocks of 16, and 24 with VCC, FLAT_SCRATCH and XNACK_MASK are 30; VGPRs in blocks of 4,
    // from gfx90a on of 8, of which the AGPRs take theirs from `accum_offset` on.
    let cases: &[(&str, &str, Option<Beyond>)] = &[
        ("gfx90a", "v_mov_b32 v7, 1", None),
        ("gfx90a", "v_mov_b32 v8, 1", Some((Vgpr, 8, 8))),
        ("gfx90a", "v_add_u32 v1, v2, v200", Some((Vgpr, 200, 8))),
        ("gfx90a", "v_add_f64 v[0:1], v[2:3], v[6:7]", None),
        ("gfx90a", "v_mov_b32_dpp v1, v9 row_shr:1 row_mask:0xf bank_mask:0xf", Some((Vgpr, 9, 8))),
        ("gfx90a", "v_accvgpr_write_b32 a0, v1", Some((Agpr, 0, 0))),
        ("gfx90a", "s_mov_b32 s31, 5", None),
        ("gfx90a", "s_mov_b32 s32, 5", Some((Sgpr, 32, 32))),
        ("gfx90a", "s_mov_b64 s[90:91], exec", Some((Sgpr, 91, 32))),
        ("gfx90a", "s_cmp_eq_u32 s90, 5", Some((Sgpr, 90, 32))),
        ("gfx90a", "s_movk_i32 s90, 5", Some((Sgpr, 90, 32))),
        ("gfx90a", "s_load_dwordx4 s[32:35], s[0:1], 0x0", Some((Sgpr, 35, 32))),
        ("gfx90a", "v_add_u32 v1, s90, v2", Some((Sgpr, 90, 32))),
        ("gfx90a", "v_readfirstlane_b32 s33, v0", Some((Sgpr, 33, 32))),
        ("gfx90a", "v_cmp_eq_u32 s[40:41], v0, v1", Some((Sgpr, 41, 32))),
        ("gfx90a", "s_mov_b64 vcc, 0\n s_mov_b32 m0, 0\n s_mov_b64 flat_scratch, 0", None),
        ("gfx906", "v_mov_b32 v8, 1", Some((Vgpr, 8, 8))),
        ("gfx908", "v_accvgpr_write_b32 a7, v1", None),
        ("gfx908", "v_accvgpr_write_b32 a8, v1", Some((Agpr, 8, 8))),
        // What does not run may name what it likes.
        ("gfx90a", "s_branch 1\n v_mov_b32 v200, 1", None),
    ];
    for &(cpu, body, expected) in cases {
        let object = Assembly { cpu, ..Assembly::default() }.object(body);
        let found = register(&object);
        let found = found.map(|(bank, index, available, _)| (bank, index, available));
        assert_eq!(found, expected, "{cpu}: {body}");
    }
    let object = Assembly { vgprs: 16, ..Assembly::default() }.object("v_accvgpr_write_b32 a7, v1");
    assert_eq!(register(&object), None);
    let object = Assembly::default().object("s_nop 0\n v_mov_b32 v200, 7");
    let fault = launch(&object, &[0; 2]).unwrap_err();
    assert_eq!(
        fault.kind.to_string(),
        "register v200 is beyond the 8 VGPRs that the kernel's descriptor allots"
    );
    assert_eq!(fault.instruction, "v_mov_b32_e32 v200, 7");
}

#[test]
fn registers_beyond_it_by_an_index() {
    if !tools("registers_beyond_it_by_an_index") {
        return;
    }
    use RegisterBank::{Sgpr, Vgpr};
    let cases: &[(&str, Option<Beyond>)] = &[
        ("s_mov_b32 s2, 6\n s_set_gpr_idx_on s2, 1\n v_mov_b32 v0, v1\n s_set_gpr_idx_off", None),
        (
            "s_mov_b32 s2, 7\n s_set_gpr_idx_on s2, 1\n v_mov_b32 v0, v1\n s_set_gpr_idx_off",
            Some((Vgpr, 8, 8)),
        ),
        (
            "s_mov_b32 s2, 255\n s_set_gpr_idx_on s2, 8\n v_mov_b32 v1, v0\n s_set_gpr_idx_off",
            Some((Vgpr, 256, 8)),
        ),
        (
            "s_mov_b32 s2, 7\n s_set_gpr_idx_on s2, 1\n v_mov_b32 v9, v0\n s_set_gpr_idx_off",
            Some((Vgpr, 9, 8)),
        ),
        ("s_mov_b32 m0, 30\n s_movrels_b32 s2, s1", None),
        ("s_mov_b32 m0, 31\n s_movrels_b32 s2, s1", Some((Sgpr, 32, 32))),
        ("s_mov_b32 m0, 28\n s_movreld_b64 s[4:5], 0", Some((Sgpr, 33, 32))),
        ("s_mov_b32 m0, -1\n s_movrels_b32 s2, s1", None),
        ("s_mov_b32 m0, -2\n s_movrels_b32 s2, s1", Some((Sgpr, -1, 32))),
    ];
    for &(body, expected) in cases {
        let found = register(&Assembly::default().object(body));
        let found = found.map(|(bank, index, available, _)| (bank, index, available));
        assert_eq!(found, expected, "{body}");
    }
}

#[test]
fn the_kernarg_segment_ends_where_it_does() {
    if !tools("the_kernarg_segment_ends_where_it_does") {
        return;
    }
    let at = |kernarg: u32, body: &str| {
        let object = Assembly { kernarg, ..Assembly::default() }.object(body);
        let arguments = vec![0; kernarg as usize / 8];
        match launch(&object, &arguments) {
            Ok(()) => None,
            Err(Fault {
                kind: FaultKind::OutOfBounds { space: MemorySpace::Scalar, nearest, .. }, ..
            }) => {
                let nearest = nearest.expect("the segment");
                assert_eq!(nearest.label, "kernarg segment");
                Some((nearest.size, nearest.distance))
            }
            Err(fault) => panic!("{fault}"),
        }
    };
    assert_eq!(at(16, "s_load_dwordx4 s[4:7], s[0:1], 0x0"), None);
    assert_eq!(at(16, "s_load_dword s4, s[0:1], 0x10"), Some((16, 0)));
    assert_eq!(at(16, "s_load_dword s4, s[0:1], 0x14"), Some((16, 4)));
    assert_eq!(at(16, "s_load_dwordx4 s[4:7], s[0:1], 0x8"), Some((16, 0)));
    assert_eq!(at(16, "s_load_dwordx4 s[4:7], s[0:1], 0x30"), Some((16, 32)));
    // Compilers load three dwords as four, and all of the dword that a small argument is in.
    assert_eq!(at(12, "s_load_dwordx4 s[4:7], s[0:1], 0x0"), None);
    assert_eq!(at(40, "s_load_dwordx4 s[4:7], s[0:1], 0x20"), None);
    assert_eq!(at(40, "s_load_dwordx4 s[4:7], s[0:1], 0x1c"), Some((40, 0)));
    assert_eq!(at(40, "s_load_dwordx4 s[4:7], s[0:1], 0x30"), Some((40, 8)));
    assert_eq!(at(9, "s_load_dword s4, s[0:1], 0x8"), None);
    assert_eq!(at(12, "s_load_dword s4, s[0:1], 0xc"), Some((12, 0)));
    assert_eq!(at(0, "s_load_dword s4, s[0:1], 0x0"), Some((0, 0)));
}

#[test]
fn more_than_a_wave_can_have_of_scratch_memory() {
    if !tools("more_than_a_wave_can_have_of_scratch_memory") {
        return;
    }
    let most = 131_056;
    let object = Assembly { scratch: most, ..Assembly::default() }.object("s_nop 0");
    launch(&object, &[0; 2]).expect("as much as there is");
    let object = Assembly { scratch: most + 16, ..Assembly::default() }.object("s_nop 0");
    let fault = launch(&object, &[0; 2]).unwrap_err();
    assert_eq!(
        fault.kind.to_string(),
        "invalid launch: 131072 bytes of scratch memory a work-item; gfx90a has 131056"
    );
}

/// It comes into being as it is touched, in whatever order, and holds what all of it holds.
#[test]
fn scratch_memory_far_away() {
    if !tools("scratch_memory_far_away") {
        return;
    }
    let body = "
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  v_mov_b32 v1, 7
  s_mov_b32 s4, 0x1f000
  scratch_load_dword v2, off, s4
  scratch_load_dword v3, off, off
  scratch_store_dword off, v1, s4 offset:4
  scratch_load_dword v4, off, s4 offset:4
  scratch_load_dword v5, off, s4 offset:8
  v_lshlrev_b32 v0, 4, v0
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_dwordx4 v0, v[2:5], s[2:3]";
    let assembly = Assembly { cpu: "gfx942", scratch: 131_056, ..Assembly::default() };
    let object = assembly.object(body);
    for config in configurations() {
        let dword = config.uninitialised.0;
        let mut device = Device::with(&object, config);
        let out = device.buffer("out", &[0u32; 256]);
        for _ in 0..2 {
            device.launch("k", 3, 64, &[out, 0]).expect("it is inside");
            assert_eq!(device.u32s(out, 256), [dword, dword, 7, dword].repeat(64));
        }
    }
}

#[test]
fn a_kernel_that_is_described_twice() {
    if !tools("a_kernel_that_is_described_twice") {
        return;
    }
    let mut object = Assembly::default().object("s_nop 0");
    object.kernels[0].descriptor.set_group_segment_fixed_size(64);
    let fault = launch(&object, &[0; 2]).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Damaged(_)), "{fault}");
    assert!(
        fault.to_string().contains("group segment of 64 bytes in its descriptor, 0 in its metadata"),
        "{fault}"
    );
}

#[test]
fn halted_waves_have_not_ended() {
    if !tools("halted_waves_have_not_ended") {
        return;
    }
    for instruction in ["s_sethalt 1", "s_sendmsghalt 1"] {
        let object = Assembly::default().object(&format!("s_nop 0\n {instruction}"));
        let fault = launch(&object, &[0; 2]).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Halted { halted: 1 }, "{fault}");
        assert!(fault.to_string().contains("never ends: 1 wave has halted"), "{fault}");
        assert!(fault.instruction.starts_with(&instruction[..9]), "{fault}");
        // Of four waves the second one halts, and the others end.
        let body = format!("v_cmp_eq_u32 vcc, 64, v0\n s_cbranch_vccz .Lon\n {instruction}\n .Lon:");
        let object = Assembly::default().object(&body);
        let fault = Device::with(&object, Config::default()).launch("k", 1, 256, &[0; 2]).unwrap_err();
        assert_eq!((fault.kind, fault.wave), (FaultKind::Halted { halted: 1 }, 1));
    }
}

#[test]
fn a_flag_stops_a_launch_where_it_is() {
    use std::sync::atomic::{AtomicBool, Ordering};

    if !tools("a_flag_stops_a_launch_where_it_is") {
        return;
    }
    static STOP: AtomicBool = AtomicBool::new(false);
    let object = Assembly::default().object("s_nop 0\n .Lagain: s_add_u32 s2, s2, 1\n s_branch .Lagain");
    for (races, deterministic) in [(false, false), (true, false), (false, true)] {
        STOP.store(false, Ordering::SeqCst);
        let mut config = Config::default();
        config.stop = Some(amdinst_emu::StopFlag::new(&STOP));
        (config.check_races, config.deterministic) = (races, deterministic);
        let mut device = Device::with(&object, config);
        std::thread::spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            STOP.store(true, Ordering::SeqCst);
        });
        let launch = Launch {
            grid: [4, 1, 1],
            kernarg: vec![0; 16],
            budget: u64::MAX,
            threads: 2,
            ..Launch::new("k")
        };
        let fault = device.machine.launch(&device.program, &launch).unwrap_err();
        assert_eq!((fault.kind, fault.workgroup), (FaultKind::Stopped, [0; 3]));
        // The first is ahead of the loop: a busy machine may come no farther.
        let all = ["s_nop 0", "s_add_u32 s2, s2, 1", "s_branch 65534"];
        assert!(all.contains(&fault.instruction.as_str()), "{}", fault.instruction);
    }
}
