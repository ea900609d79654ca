//! Waits that are missing: kernels written by hand that lack one, their twins that have it, and compiled
//! kernels from which one wait after another is taken.

#[path = "../../amdinst-emu/tests/support/mod.rs"]
mod support;

use amdgpu_isa::{Families, Op, Waits, Way};
use amdgpu_object::CodeObject;
use amdinst_core::analysis::early::{self, EarlyUse};
use amdinst_core::analysis::program::Program;
use amdinst_core::instrument::{Options, apply, plan};
use amdinst_emu::{Config, Fault, FaultKind, Launch, Machine};
use support::{Assembly, compile_for, everything, targets, tools};

/// The processors that kernels are written for, by how their waits are written.
const PROCESSORS: [&str; 6] = ["gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"];

/// What the loader of a kernel's arguments leaves: `x` at s[4:5], `out` at s[6:7], four times the work-item's
/// number in v1; v20 to v23 are zero.
const PRELUDE: &str = "
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v20, 0
  v_mov_b32 v21, 0
  <scalar 0>
";

/// A kernel that lacks a wait: `<vector N>`, `<lds N>` and `<scalar N>` wait until so many are under way; the
/// one with `!` in front is the one that it lacks.
struct Case {
    name: &'static str,
    body: &'static str,
    register: &'static str,
    reads: bool,
    /// The text alone shows that it is missing, whatever path is taken.
    is_certain: bool,
}

const fn case(name: &'static str, register: &'static str, body: &'static str) -> Case {
    Case { name, body, register, reads: true, is_certain: true }
}

const CASES: [Case; 14] = [
    case(
        "computed with",
        "v2",
        "
  global_load_dword v2, v1, s[4:5]
  !<vector 0>
  v_add_u32 v3, v2, v2
  global_store_dword v1, v3, s[6:7]",
    ),
    case(
        "the first of two",
        "v2",
        "
  global_load_dword v2, v1, s[4:5]
  global_load_dword v3, v1, s[4:5] offset:4
  !<vector 1>
  v_add_u32 v4, v2, v20
  <vector 0>
  v_add_u32 v4, v4, v3
  global_store_dword v1, v4, s[6:7]",
    ),
    case(
        "stored",
        "v2",
        "
  global_load_dword v2, v1, s[4:5]
  !<vector 0>
  global_store_dword v1, v2, s[6:7]",
    ),
    case(
        "an address",
        "v4",
        "
  v_and_b32 v1, 0, v1
  global_load_dword v4, v1, s[4:5]
  !<vector 0>
  v_and_b32 v4, 0xfc, v4
  global_load_dword v5, v4, s[4:5]
  <vector 0>
  global_store_dword v1, v5, s[6:7]",
    ),
    Case {
        reads: false,
        ..case(
            "written before it comes",
            "v2",
            "
  global_load_dword v2, v1, s[4:5]
  !<vector 0>
  v_mov_b32 v2, 1
  <vector 0>
  global_store_dword v1, v2, s[6:7]",
        )
    },
    case(
        "a scalar",
        "s8",
        "
  s_load_dword s8, s[4:5], 0x0
  !<scalar 0>
  s_add_u32 s9, s8, s8
  v_mov_b32 v2, s9
  <scalar 0>
  global_store_dword v1, v2, s[6:7]",
    ),
    case(
        "one of two scalars, which come in any order",
        "s8",
        "
  s_load_dword s8, s[4:5], 0x0
  s_load_dword s9, s[4:5], 0x4
  !<scalar 0>
  v_mov_b32 v2, s8
  <scalar 0>
  v_add_u32 v2, s9, v2
  global_store_dword v1, v2, s[6:7]",
    ),
    case(
        "of LDS",
        "v2",
        "
  ds_write_b32 v1, v1
  ds_read_b32 v2, v1
  ds_read_b32 v3, v1 offset:8
  !<lds 1>
  v_add_u32 v4, v2, v20
  <lds 0>
  v_add_u32 v4, v4, v3
  global_store_dword v1, v4, s[6:7]",
    ),
    case(
        "from other lanes",
        "v2",
        "
  ds_bpermute_b32 v2, v20, v1
  !<lds 0>
  v_add_u32 v2, v2, v2
  global_store_dword v1, v2, s[6:7]",
    ),
    case(
        "what an atomic returns",
        "v2",
        "
  v_mov_b32 v3, 1
  global_atomic_add v2, v1, v3, s[6:7] <returns>
  !<vector 0>
  v_add_u32 v3, v2, v2
  global_store_dword v1, v3, s[4:5]",
    ),
    case(
        "a first lane",
        "v2",
        "
  global_load_dword v2, v1, s[4:5]
  !<vector 0>
  v_readfirstlane_b32 s8, v2
  v_mov_b32 v3, s8
  <vector 0>
  global_store_dword v1, v3, s[6:7]",
    ),
    Case {
        is_certain: false,
        ..case(
            "of the round before",
            "v2",
            "
  v_mov_b32 v2, 0
  s_mov_b32 s8, 4
.Lround:
  v_add_u32 v20, v20, v2
  global_load_dword v2, v1, s[4:5]
  !<vector 0>
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Lround
  <vector 0>
  global_store_dword v1, v20, s[6:7]",
        )
    },
    Case {
        is_certain: false,
        ..case(
            "on the way that is taken",
            "v2",
            "
  s_load_dword s8, s[4:5], 0x0
  global_load_dword v2, v1, s[4:5]
  <scalar 0>
  s_cmp_eq_u32 s8, 12345
  s_cbranch_scc1 .Lwaits
  !<vector 0>
  s_branch .Lmeet
.Lwaits:
  <vector 0>
.Lmeet:
  v_add_u32 v3, v2, v2
  <vector 0>
  global_store_dword v1, v3, s[6:7]",
        )
    },
    Case {
        is_certain: false,
        ..case(
            "of LDS by a FLAT instruction",
            "v2",
            "
  ds_write_b32 v1, v1
  <lds 0>
  s_mov_b64 s[8:9], src_shared_base
  v_mov_b32 v5, s9
  v_mov_b32 v4, v1
  flat_load_dword v2, v[4:5]
  <vector 0>
  !<lds 0>
  v_add_u32 v3, v2, v2
  <lds 0>
  global_store_dword v1, v3, s[6:7]",
        )
    },
];

/// Kernels that nothing is wrong with, though the text of some cannot show it.
const SOUND: [(&str, &str); 6] = [
    (
        "what comes in order may be overwritten",
        "
  global_load_dword v2, v1, s[4:5]
  global_load_dword v2, v1, s[4:5] offset:4
  <vector 0>
  global_store_dword v1, v2, s[6:7]",
    ),
    (
        "other lanes",
        "
  s_mov_b64 s[8:9], exec
  s_mov_b64 exec, 0xff
  global_load_dword v2, v1, s[4:5]
  s_mov_b64 exec, 0xff00
  v_mov_b32 v2, 3
  s_mov_b64 exec, s[8:9]
  <vector 0>
  global_store_dword v1, v2, s[6:7]",
    ),
    (
        "the way that is not taken",
        "
  s_load_dword s8, s[4:5], 0x0
  global_load_dword v2, v1, s[4:5]
  <scalar 0>
  s_cmp_eq_u32 s8, 12345
  s_cbranch_scc1 .Lmeet
  <vector 0>
.Lmeet:
  v_add_u32 v3, v2, v2
  <vector 0>
  global_store_dword v1, v3, s[6:7]",
    ),
    (
        "of memory by a FLAT instruction",
        "
  v_mov_b32 v5, s5
  v_add_co_u32 v4, <carry>, s4, v1
  flat_load_dword v2, v[4:5]
  <vector 0>
  v_add_u32 v3, v2, v2
  <lds 0>
  global_store_dword v1, v3, s[6:7]",
    ),
    (
        "of LDS by FLAT instructions, in order where the processor has it",
        "
  ds_write_b32 v1, v1
  <lds 0>
  s_mov_b64 s[8:9], src_shared_base
  v_mov_b32 v5, s9
  v_mov_b32 v4, v1
  flat_load_dword v2, v[4:5]
  flat_load_dword v3, v[4:5]
  <flat>
  v_add_u32 v6, v2, v20
  <vector 0>
  <lds 0>
  v_add_u32 v6, v6, v3
  global_store_dword v1, v6, s[6:7]",
    ),
    (
        "halves of one register",
        "
  global_load_short_d16 v2, v1, s[4:5]
  global_load_short_d16_hi v2, v1, s[4:5] offset:2
  <vector 0>
  global_store_dword v1, v2, s[6:7]",
    ),
];

/// A body in the words of a processor; the marked wait is there if the kernel is `mended`.
fn written(body: &str, cpu: &str, mended: bool) -> String {
    let is_gfx12 = cpu.starts_with("gfx12");
    let wait = |kind: &str, count: &str| match (kind, is_gfx12) {
        ("vector", true) => format!("s_wait_loadcnt {count}"),
        ("lds", true) => format!("s_wait_dscnt {count}"),
        ("scalar", true) => format!("s_wait_kmcnt {count}"),
        ("vector", false) => format!("s_waitcnt vmcnt({count})"),
        (_, false) => format!("s_waitcnt lgkmcnt({count})"),
        _ => panic!("{kind}"),
    };
    let is_rdna = cpu.starts_with("gfx1");
    let mut text = String::new();
    for line in body.lines() {
        let mut line = line.to_owned();
        if let Some(at) = line.find('!') {
            if !mended {
                continue;
            }
            line.remove(at);
        }
        if let Some((kind, count)) =
            line.trim().strip_prefix('<').and_then(|line| line.strip_suffix('>')?.split_once(' '))
        {
            line = wait(kind, count);
        }
        let returns = match cpu {
            "gfx942" => "sc0",
            _ if is_gfx12 => "th:TH_ATOMIC_RETURN",
            _ => "glc",
        };
        let flat = match is_rdna {
            true if is_gfx12 => "s_wait_loadcnt_dscnt 0x101",
            true => "s_waitcnt vmcnt(1) lgkmcnt(1)",
            false => "s_waitcnt vmcnt(0) lgkmcnt(0)",
        };
        let (carry, exec) = if is_rdna { ("vcc_lo", "exec_lo") } else { ("vcc", "exec") };
        line = line.replace("<flat>", flat).replace("<returns>", returns).replace("<carry>", carry);
        if is_rdna {
            // What carries nothing is called otherwise, and waves have 32 lanes.
            line = line.replace("v_add_u32", "v_add_nc_u32").replace("v_add_co_u32", "v_add_co_u32_e64");
            line = line.replace("s_mov_b64 exec, 0x", &format!("s_mov_b32 {exec}, 0x"));
        }
        if cpu.starts_with("gfx12") || cpu.starts_with("gfx11") {
            line = line
                .replace("global_load_short_d16", "global_load_d16_b16")
                .replace("d16_b16_hi", "d16_hi_b16");
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn object(body: &str, cpu: &str, mended: bool) -> CodeObject {
    let lanes = if cpu.starts_with("gfx1") { 32 } else { 64 };
    let assembly = Assembly { cpu, vgprs: 24, accum_offset: 24, lds: 1024, lanes, ..Assembly::default() };
    assembly.object(&(written(PRELUDE, cpu, true) + &written(body, cpu, mended)))
}

/// The uses that the text shows.
fn shown(object: &CodeObject) -> (Program, Vec<EarlyUse>) {
    let program = Program::new(object);
    // Clang leaves functions that nobody calls.
    let found = early::uses(&program, 0..program.functions.len());
    assert!(found.is_whole);
    (program, found.uses)
}

/// Those, but for what FLAT instructions may bring from LDS: compilers know that they do not.
fn shown_but_for_flat(object: &CodeObject) -> (Program, Vec<EarlyUse>) {
    let (program, mut uses) = shown(object);
    uses.retain(|early| early.way != Way::FlatLds);
    (program, uses)
}

/// The fault that a launch shows.
fn found(object: &CodeObject) -> Option<Fault> {
    let mut machine = Machine::new(object.target.arch, Config::default());
    let program = machine.load(object).expect("loading");
    let x = machine.alloc(1024, 256, "x").expect("allocating");
    let out = machine.alloc(1024, 256, "out").expect("allocating");
    machine.write(x, &[1; 1024]).expect("writing");
    let launch = Launch {
        kernarg: [x, out].iter().flat_map(|argument| argument.to_le_bytes()).collect(),
        ..Launch::new("k")
    };
    let before = machine.snapshot();
    let execution = machine.launch(&program, &launch).expect("a launch");
    let left = |machine: &Machine| {
        let mut bytes = vec![0; 1024];
        machine.read(out, &mut bytes).expect("reading");
        bytes
    };
    let after = left(&machine);
    let found = machine.find_early_use(&program, &launch, &execution, &before);
    assert_eq!(left(&machine), after, "memory stays as it is");
    found.map(|sampled| assert_eq!(sampled, None)).err()
}

#[test]
fn a_missing_wait_is_found_and_the_mended_twin_is_silent() {
    if !tools("a_missing_wait_is_found_and_the_mended_twin_is_silent") {
        return;
    }
    for cpu in PROCESSORS {
        for Case { name, body, register, reads, is_certain } in CASES {
            let what = format!("{name} on {cpu}");
            let missing = body.lines().find_map(|line| line.trim().strip_prefix('!')).expect("a wait");
            let wait = written(missing, cpu, true).trim().to_owned();
            let broken = object(body, cpu, false);
            let (program, uses) = shown(&broken);
            let [early] = uses[..] else { panic!("{what}: {uses:?}") };
            let told = |wait: Waits| Waits::text(wait, program.target());
            let same = |told: &str| told.replace("0x", "") == wait.replace("0x", "");
            assert_eq!((early.register.to_string().as_str(), early.reads), (register, reads), "{what}");
            assert_eq!(early.is_certain, is_certain, "{what}");
            assert!(same(&told(early.wait())), "{what}: {} {wait}", told(early.wait()));
            let fault = found(&broken).unwrap_or_else(|| panic!("{what}: nothing found"));
            let FaultKind::MissingWait { register: of, reads: is_read, wait: told } = &fault.kind else {
                panic!("{what}: {fault}")
            };
            assert_eq!((of.as_str(), *is_read), (register, reads), "{what}: {fault}");
            assert!(same(told), "{what}: {told} {wait}");
            assert_eq!(fault.pc, Some(program.insts[early.index].pc), "{what}");
            let load = fault.earlier.as_ref().map(|load| load.pc);
            assert_eq!(load, Some(program.insts[early.load].pc), "{what}");
            let mended = object(body, cpu, true);
            let left: Vec<_> = shown(&mended).1.into_iter().filter(|early| early.is_certain).collect();
            assert_eq!(left, [], "{what}, mended");
            assert_eq!(found(&mended), None, "{what}, mended");
        }
        for (name, body) in SOUND {
            let sound = object(body, cpu, true);
            assert!(shown(&sound).1.iter().all(|early| !early.is_certain), "{name} on {cpu}");
            assert_eq!(found(&sound), None, "{name} on {cpu}");
        }
    }
}

/// So many waits are taken: each takes as long as the code object is decoded. (`AMDINST_HAZARD_TARGETS=all`:
/// all.)
const ONE_IN: usize = 9;

/// Whether a wait stands where the order of memory is settled, or a function begins or ends, or is for other
/// operations than loads.
fn is_for_order(program: &Program, index: usize) -> bool {
    let waits = |index: &usize| program.insts[*index].op.waits();
    let next = (index..program.insts.len())
        .find(|index| !waits(index) && !matches!(program.insts[*index].op, Op::s_waitcnt_depctr | Op::s_nop));
    let first = (0..=index).rev().take_while(waits).last().expect("the wait");
    let is_entry = program.is_entry(program.insts[first].pc);
    let settles = |op: Op| {
        matches!(
            op,
            Op::buffer_gl0_inv | Op::buffer_wbinvl1_vol | Op::buffer_inv | Op::global_inv | Op::s_setpc_b64
        ) || op.is_of(Families::BARRIER)
    };
    let of_loads = Waits::of(program.inst(index), program.arch.generation())
        .is_some_and(|waits| Waits { exports: None, ..waits } != Waits::default());
    is_entry || !of_loads || next.is_some_and(|next| settles(program.insts[next].op))
}

/// Compiled kernels have their waits, and so has what is inserted into them. Each wait that is taken from
/// them is missing, but those that stand there for the order of memory.
#[test]
fn waits_that_are_taken_from_compiled_kernels_are_missed() {
    if !tools("waits_that_are_taken_from_compiled_kernels_are_missed") {
        return;
    }
    let source = include_str!("../../amdinst-emu/tests/sources/kernels.cl");
    let (mut missed, mut others) = (0, Vec::new());
    for ((cpu, lanes), level) in targets() {
        let object = compile_for(source, (cpu, lanes), level);
        let what = format!("{cpu} {lanes} {level}");
        let (program, uses) = shown_but_for_flat(&object);
        assert_eq!(uses, [], "{what}");
        let all = shown(&object).1;
        let plan = plan(&object, &Options::default()).expect("a plan");
        let instrumented = apply(&object, plan).expect("applying");
        let rewritten = CodeObject::parse(instrumented.bytes).expect("parsing");
        assert_eq!(shown_but_for_flat(&rewritten).1, [], "{what}, instrumented");
        let waits = program.insts.iter().enumerate().filter(|(_, located)| located.op.waits());
        for (index, located) in waits.step_by(if everything() { 1 } else { ONE_IN }) {
            let range = &object.text.range;
            let at = range.start + (located.pc - object.text.address) as usize;
            let mut bytes = object.bytes.to_vec();
            // S_NOP 0 everywhere.
            bytes[at..at + 4].copy_from_slice(&0xbf80_0000u32.to_le_bytes());
            let without = CodeObject::parse(bytes).expect("parsing");
            match () {
                () if shown(&without).1 != all => missed += 1,
                () if is_for_order(&program, index) => {}
                () => others.push(format!("{what}: {:#x} {}", located.pc, program.text(index))),
            }
        }
    }
    println!("{missed} of the waits that were taken are missed; others: {others:#?}");
    assert!(missed > 5000 / ONE_IN && others.len() < missed / 200, "{missed}: {others:#?}");
}
