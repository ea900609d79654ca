//! What an instruction costs the host, and what loading code costs, counted in the host's own instructions:
//! no clock, so that a change of the code shows and a busy machine does not.
//!
//! Valgrind runs loops of one instruction, or of loads, and counts. The figures are in `cost.txt`; one that
//! differs by more than [`LIMIT`] fails the test, in either direction. `AMDINST_BLESS=1` with `--release`
//! writes the file anew, as a newer compiler may ask for. The compiler divides incremental builds otherwise:
//! `CARGO_INCREMENTAL=0 cargo test` counts what `--release` does. Valgrind has no AVX-512.

#[path = "../benches/opcodes/trial.rs"]
mod trial;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use amdgpu_isa::{Arch, Target, WaveSize};
use amdgpu_object::CodeObject;
use amdinst_emu::{Config, Machine, Vectors, WaveState};
use trial::{COPIES, COUNTER, Trial};

/// How much a figure may change, of itself.
const LIMIT: f64 = 0.15;
/// What a figure may change whatever it is: the loop around the instruction is in it.
const LEAST: f64 = 4.0;
/// Turns of the shorter and of the longer loop, whose difference counts.
const TURNS: [u32; 2] = [2, 4];

/// Singles and doubles without subnormals.
const FLUSHING: u32 = 0x300;
/// Both rounded down.
const DOWN: u32 = 0x3fa;

/// Instructions of a processor, with the mode if it is not the default.
const OF_GFX9: &[(&str, u32)] = &[
    ("v_add_f32 v0, v1, v2", WaveState::KERNEL_MODE),
    ("v_add_f32 v0, v1, v2", FLUSHING),
    ("v_add_f32 v0, v1, v2", DOWN),
    ("v_fma_f32 v0, v1, v2, v3", WaveState::KERNEL_MODE),
    ("v_fma_f32 v0, v1, v2, v3", FLUSHING),
    ("v_mad_f32 v0, v1, v2, v3", WaveState::KERNEL_MODE),
    ("v_mul_f32_e64 v0, -v1, |v2| clamp", WaveState::KERNEL_MODE),
    ("v_mul_f32 v0, v1, v2", FLUSHING),
    ("v_min_f32 v0, v1, v2", FLUSHING),
    ("v_floor_f32 v0, v1", FLUSHING),
    ("v_div_fmas_f32 v0, v1, v2, v3", DOWN),
    ("v_ldexp_f32 v0, v1, v10", DOWN),
    ("v_max3_f32 v0, v1, v2, v3", WaveState::KERNEL_MODE),
    ("v_med3_f32 v0, v1, v2, v3", WaveState::KERNEL_MODE),
    ("v_cvt_f32_i32 v0, v1", WaveState::KERNEL_MODE),
    ("v_cvt_i32_f32 v0, v1", WaveState::KERNEL_MODE),
    ("v_floor_f32 v0, v1", WaveState::KERNEL_MODE),
    ("v_fract_f32 v0, v1", WaveState::KERNEL_MODE),
    ("v_rcp_f32 v0, v1", WaveState::KERNEL_MODE),
    ("v_rcp_f32 v0, v1", FLUSHING),
    ("v_sqrt_f32 v0, v1", WaveState::KERNEL_MODE),
    ("v_exp_f32 v0, v1", WaveState::KERNEL_MODE),
    ("v_log_f32 v0, v1", WaveState::KERNEL_MODE),
    ("v_sin_f32 v0, v1", WaveState::KERNEL_MODE),
    ("v_ldexp_f32 v0, v1, v10", WaveState::KERNEL_MODE),
    ("v_div_scale_f32 v0, vcc, v1, v1, v2", WaveState::KERNEL_MODE),
    ("v_div_fmas_f32 v0, v1, v2, v3", WaveState::KERNEL_MODE),
    ("v_div_fixup_f32 v0, v1, v2, v3", WaveState::KERNEL_MODE),
    ("v_add_f64 v[0:1], v[2:3], v[4:5]", WaveState::KERNEL_MODE),
    ("v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]", WaveState::KERNEL_MODE),
    ("v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]", FLUSHING),
    ("v_rcp_f64 v[0:1], v[2:3]", WaveState::KERNEL_MODE),
    ("v_cvt_f64_f32 v[0:1], v2", WaveState::KERNEL_MODE),
    ("v_fma_f16 v0, v1, v2, v3", WaveState::KERNEL_MODE),
    ("v_pk_fma_f16 v0, v1, v2, v3", WaveState::KERNEL_MODE),
    ("v_rcp_f16 v0, v1", WaveState::KERNEL_MODE),
    ("v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", WaveState::KERNEL_MODE),
    ("v_dot2_f32_f16 v0, v1, v2, v3", WaveState::KERNEL_MODE),
    ("v_dot4_i32_i8 v0, v1, v2, v3", WaveState::KERNEL_MODE),
    ("v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf", WaveState::KERNEL_MODE),
    ("v_add_f32_dpp v0, v1, v2 row_ror:4 row_mask:0xf bank_mask:0xf", WaveState::KERNEL_MODE),
    (
        "v_add_u32_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD",
        WaveState::KERNEL_MODE,
    ),
    ("v_cmp_lt_f32 vcc, v1, v2", WaveState::KERNEL_MODE),
    ("v_cmp_lt_f64 vcc, v[2:3], v[4:5]", WaveState::KERNEL_MODE),
    ("v_cmp_class_f32 vcc, v1, v2", WaveState::KERNEL_MODE),
    ("v_mad_u64_u32 v[0:1], vcc, v2, v3, v[4:5]", WaveState::KERNEL_MODE),
    ("v_lshlrev_b64 v[0:1], v2, v[4:5]", WaveState::KERNEL_MODE),
    ("v_bfe_i32 v0, v1, v2, v3", WaveState::KERNEL_MODE),
    ("v_perm_b32 v0, v1, v2, v3", WaveState::KERNEL_MODE),
    ("v_mbcnt_lo_u32_b32 v0, v1, v2", WaveState::KERNEL_MODE),
    ("v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]", WaveState::KERNEL_MODE),
    ("v_mfma_f32_16x16x4f32 a[0:3], v0, v1, a[0:3]", WaveState::KERNEL_MODE),
    ("ds_read_b32 v0, v1", WaveState::KERNEL_MODE),
    ("ds_read_u8 v0, v1", WaveState::KERNEL_MODE),
    ("ds_write_b128 v1, v[4:7]", WaveState::KERNEL_MODE),
    ("ds_add_u32 v1, v2", WaveState::KERNEL_MODE),
    ("global_load_dword v0, v[2:3], off", WaveState::KERNEL_MODE),
    ("global_store_dwordx4 v[2:3], v[4:7], off", WaveState::KERNEL_MODE),
    ("global_load_ubyte v0, v[2:3], off", WaveState::KERNEL_MODE),
    ("global_atomic_add v[2:3], v4, off", WaveState::KERNEL_MODE),
    ("buffer_load_dword v0, v1, s[16:19], 0 offen", WaveState::KERNEL_MODE),
    ("s_add_u32 s4, s5, s6", WaveState::KERNEL_MODE),
    ("s_load_dwordx4 s[4:7], s[16:17], 0x0", WaveState::KERNEL_MODE),
];

/// What the matrices of machine learning are made of.
const OF_GFX942: &[(&str, u32)] = &[
    ("v_cvt_f32_fp8 v0, v1", WaveState::KERNEL_MODE),
    ("v_cvt_pk_fp8_f32 v0, v1, v2", WaveState::KERNEL_MODE),
    ("v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[4:5], v[8:9], v[12:15]", WaveState::KERNEL_MODE),
    ("v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[8:9], v[12:15]", WaveState::KERNEL_MODE),
];

const OF_GFX11: &[(&str, u32)] = &[
    ("v_add_f32 v0, v1, v2", WaveState::KERNEL_MODE),
    ("v_fma_f32 v0, v1, v2, v3", FLUSHING),
    ("v_add_f64 v[0:1], v[2:3], v[4:5]", WaveState::KERNEL_MODE),
    ("v_exp_f32 v0, v1", WaveState::KERNEL_MODE),
    ("v_minmax_f32 v0, v1, v2, v3", WaveState::KERNEL_MODE),
    ("v_fma_mix_f32 v0, v1, v2, v3", WaveState::KERNEL_MODE),
    ("v_add_f32_dpp v0, v1, v2 dpp8:[1,0,3,2,5,4,7,6]", WaveState::KERNEL_MODE),
    ("v_dual_fmac_f32 v0, v1, v2 :: v_dual_mul_f32 v3, v4, v5", WaveState::KERNEL_MODE),
    ("v_dot2_f32_f16 v0, v1, v2, v3", WaveState::KERNEL_MODE),
    ("v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", WaveState::KERNEL_MODE),
    ("v_wmma_i32_16x16x16_iu8 v[0:7], v[8:11], v[12:15], v[0:7]", WaveState::KERNEL_MODE),
    ("ds_load_b32 v0, v1", WaveState::KERNEL_MODE),
    ("ds_add_rtn_u32 v0, v1, v2", WaveState::KERNEL_MODE),
    ("global_load_b32 v0, v[2:3], off", WaveState::KERNEL_MODE),
    ("buffer_load_b32 v0, v1, s[16:19], 0 offen", WaveState::KERNEL_MODE),
];

/// Code objects that are loaded.
const LOADED: [&[u8]; 2] = [
    include_bytes!("../../tools/fuzz/seeds/whole_path/lanes.elf"),
    include_bytes!("../../tools/fuzz/seeds/whole_path/lanes.gfx1100.elf"),
];

const LEVELS: [Vectors; 2] = [Vectors::Baseline, Vectors::Avx2];

/// What is counted.
enum Case {
    /// A loop of one instruction.
    Loop(Box<Trial>),
    /// Loads of a code object, each into a machine of its own.
    Loads(Box<CodeObject>),
}

impl Case {
    fn run(&mut self, turns: u32) {
        match self {
            Self::Loop(trial) => {
                let after = trial.run(turns).unwrap_or_else(|fault| panic!("{}: {fault}", trial.text));
                assert_eq!(after.sgprs[COUNTER], 0, "{} ends its loop", trial.text);
            }
            Self::Loads(object) => (0..turns).for_each(|_| {
                let mut machine = Machine::new(object.target.arch, Config::default());
                machine.load(object).expect("it is loaded");
            }),
        }
    }

    /// Instructions of a turn, or dwords of code that are loaded.
    fn copies(&self) -> u32 {
        match self {
            Self::Loop(_) => COPIES,
            Self::Loads(object) => object.code().map(|section| section.range.len() as u32 / 4).sum(),
        }
    }
}

/// A name for each case, and what it is.
fn cases() -> impl Iterator<Item = (String, Case)> {
    let gfx9 = Target::from(Arch::Gfx90a);
    let gfx942 = Target::from(Arch::Gfx942);
    let gfx11 = Target { arch: Arch::Gfx1100, wave: WaveSize::Wave32 };
    let loops = LEVELS.into_iter().flat_map(move |level| {
        [(gfx9, OF_GFX9), (gfx942, OF_GFX942), (gfx11, OF_GFX11)].into_iter().flat_map(
            move |(target, instructions)| {
                instructions.iter().map(move |&(text, mode)| {
                    let name = format!("{} {} {mode:#x} {text}", level.name(), target.arch);
                    let inst =
                        amdgpu_isa::parse(target, text).unwrap_or_else(|error| panic!("{text}: {error}"));
                    (
                        name,
                        Case::Loop(Box::new(Trial::new(target, &inst, level, mode).expect("a loop of it"))),
                    )
                })
            },
        )
    });
    let loads = LOADED.into_iter().map(|bytes| {
        let object = CodeObject::parse(bytes.to_vec()).expect("a code object");
        (format!("load {} a dword of code", object.target.arch), Case::Loads(Box::new(object)))
    });
    loops.chain(loads)
}

/// What is counted.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn amdinst_counted_loop(case: &mut Case, turns: u32) {
    case.run(turns);
}

/// Not a test of its own: what `what_instructions_cost` counts.
#[test]
#[ignore = "another test runs it under Valgrind"]
fn loops_that_are_counted() {
    for (_, mut case) in cases() {
        // What is made once is there then.
        case.run(1);
        for turns in TURNS {
            amdinst_counted_loop(&mut case, turns);
        }
    }
}

/// Instructions of each counted loop, in order.
fn counted() -> Option<Vec<u64>> {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("counts");
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no", "--toggle-collect=amdinst_counted_loop"])
        .arg("--dump-after=amdinst_counted_loop")
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(std::env::current_exe().expect("this test"))
        .args(["--ignored", "--exact", "loops_that_are_counted", "--test-threads=1"])
        .output();
    let output = match status {
        Ok(output) => output,
        Err(error) => {
            assert!(std::env::var_os("AMDINST_REQUIRE_TOOLS").is_none(), "valgrind: {error}");
            eprintln!("skipped: valgrind: {error}");
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let total = |number: usize| -> Option<u64> {
        let text = std::fs::read_to_string(directory.path().join(format!("counts.{number}"))).ok()?;
        let line = text.lines().find(|line| line.starts_with("totals:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    Some((1..).map_while(total).collect())
}

/// The host's instructions for one instruction of a wave, or for a dword of code that is loaded, by case.
fn costs() -> Option<BTreeMap<String, f64>> {
    let counts = counted()?;
    let cases: Vec<(String, Case)> = cases().collect();
    assert_eq!(counts.len(), 2 * cases.len(), "a count for each loop");
    let cost = |case: &Case, loops: &[u64]| {
        (loops[1] as f64 - loops[0] as f64) / f64::from((TURNS[1] - TURNS[0]) * case.copies())
    };
    let found = cases.into_iter().zip(counts.chunks_exact(2));
    Some(found.map(|((name, case), loops)| (name, cost(&case, loops))).collect())
}

/// Whether cargo has built this incrementally, as it does unless it is told otherwise, or with `--release`.
fn is_incremental() -> bool {
    let exe = std::env::current_exe().expect("this test");
    let is_release = exe.components().any(|part| part.as_os_str() == "release");
    !is_release && option_env!("CARGO_INCREMENTAL") != Some("0")
}

#[test]
#[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), ignore = "Valgrind runs there")]
fn what_instructions_cost() {
    if is_incremental() {
        eprintln!(
            "skipped: in an incremental build, instructions cost something else; CARGO_INCREMENTAL=0 turns that off"
        );
        return;
    }
    let Some(costs) = costs() else { return };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cost.txt");
    if std::env::var_os("AMDINST_BLESS").is_some() {
        let mut text = String::from(
            "# The host's instructions for one instruction of a wave: level of vectors, processor, MODE, instruction. And for a dword of code that is loaded.\n",
        );
        for (name, cost) in &costs {
            writeln!(text, "{cost:8.1}  {name}").expect("writing to a string");
        }
        std::fs::write(&path, text).expect("writing the figures");
        return;
    }
    let text = std::fs::read_to_string(&path).expect("the figures");
    let recorded: BTreeMap<&str, f64> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.trim().split_once("  ").expect("a figure and a name"))
        .map(|(cost, name)| (name.trim(), cost.parse().expect("a figure")))
        .collect();
    let mut changed = String::new();
    for (name, cost) in &costs {
        let before = recorded.get(name.as_str()).copied().unwrap_or(0.0);
        if (cost - before).abs() > LEAST.max(before * LIMIT) {
            writeln!(changed, "{name}: {before:.1} host instructions, now {cost:.1}").expect("a string");
        }
    }
    assert!(changed.is_empty(), "changed by more than 15 %; `AMDINST_BLESS=1` takes that over:\n{changed}");
    assert_eq!(recorded.len(), costs.len(), "{} has others", path.display());
}
