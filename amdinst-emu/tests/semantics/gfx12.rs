//! What RDNA 4 has beside the vector and scalar instructions of the models: arithmetic of floats in the
//! scalar ALU (RDNA 3.5, too), functions of one scalar, dot products and conversions of 8 bits, permutations
//! of lanes.

use amdgpu_isa::{Access, Arch, Encoding, Feature, Slot, Target, Value, WaveSize, opcodes};
use amdinst_emu::{Config, Machine, WaveState};

use crate::coverage::Snippet;
use crate::formats;
use crate::lanes::compared;
use crate::model::{Args, Kind, Mode, operation};
use crate::support::{self, Random, trials};
use crate::targets::{RDNA, has_new_names, is_gfx12};

/// RDNA 4 in waves of both sizes.
fn rdna4() -> impl Iterator<Item = Target> {
    RDNA.into_iter().filter(|target| is_gfx12(*target))
}

fn run(target: Target, text: &str, state: &WaveState) -> WaveState {
    let snippet = Snippet::assemble(target, text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut machine = Machine::new(target.arch, Config::default());
    snippet.run(&mut machine, state).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

/// The vector operation whose model a scalar one has.
fn vector_name(name: &str) -> String {
    match name {
        "s_cvt_hi_f32_f16" => "v_cvt_f32_f16".to_owned(),
        "s_cvt_pk_rtz_f16_f32" => "v_cvt_pkrtz_f16_f32".to_owned(),
        _ => format!("v_{}", &name[2..]),
    }
}

/// Each against the model of the vector instruction, in random modes.
#[test]
pub(crate) fn floats_in_the_scalar_alu() {
    // Those whose scalar ALU knows floats.
    for target in RDNA.into_iter().filter(|target| target.arch.has(Feature::ScalarFloats)) {
        let arch = target.arch;
        let is_fixed = is_gfx12(target);
        let mut machine = Machine::new(arch, Config::default());
        let mut count = 0;
        for opcode in opcodes(target) {
            let name = opcode.op().name();
            let is_scalar = matches!(opcode.encoding(), Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopc);
            if !is_scalar || !["_f32", "_f16"].iter().any(|format| name.contains(format)) {
                continue;
            }
            count += 1;
            let vector = vector_name(name);
            let compares = opcode.encoding() == Encoding::Sopc;
            let model = operation(&vector);
            assert!(compares || model.is_some(), "{name}: no model");
            let half = if name.ends_with("_f16") { Kind::F16 } else { Kind::F32 };
            let kinds = model.map_or(vec![half; 2], |model| model.src.to_vec());
            let mut random = Random::new(&format!("{target:?} {name}"));
            for _ in 0..trials(200) {
                let mut inst = opcode.plain().unwrap();
                let mut state = WaveState { mode: support::mode(&mut random), ..WaveState::default() };
                // The operands of the text, in its order.
                let mut s = Vec::new();
                let mut old = 0;
                for operand in &mut inst.operands {
                    let kind = kinds.get(s.len()).copied().unwrap_or(half);
                    let value = support::value(&mut random, kind) as u32;
                    match &mut operand.value {
                        Value::Scalar(register) if operand.slot == Slot::Sdst => {
                            *register = 90;
                            state.sgprs[90] = value;
                            old = value;
                        }
                        Value::Scalar(register) if operand.access == Access::Read => {
                            *register = 40 + s.len() as u8;
                            state.sgprs[usize::from(*register)] = value;
                            s.push(value);
                        }
                        Value::Literal(literal) => {
                            *literal = value;
                            s.push(value);
                        }
                        other => panic!("{name}: {other:?}"),
                    }
                }
                let mut sources = [0u128; 3];
                for (source, value) in sources.iter_mut().zip(&s) {
                    *source = u128::from(if name == "s_cvt_hi_f32_f16" { value >> 16 } else { *value });
                }
                let mode = Mode { register: state.mode, is_fixed, ..Mode::default() };
                // The constant is the second source of `fmamk`; its model has it last.
                if name == "s_fmamk_f32" {
                    sources.swap(1, 2);
                }
                let args = Args { s: sources, old: old.into(), mode, ..Args::default() };
                let bytes: Vec<u8> =
                    inst.encode(target).unwrap().iter().flat_map(|word| word.to_le_bytes()).collect();
                let after = Snippet::from_bytes(target, &bytes).run(&mut machine, &state).unwrap();
                let text = inst.text(target);
                match model {
                    Some(model) if !compares => {
                        let expected = (model.run)(&args).value as u32;
                        let is_half = model.dst == Kind::F16;
                        let found = after.sgprs[90];
                        assert_eq!(
                            found,
                            if is_half { expected & 0xffff } else { expected },
                            "{arch} {text} of {s:x?}, old {old:x}, mode {:x}",
                            state.mode
                        );
                    }
                    _ => assert_eq!(
                        after.scc,
                        compared(&vector, &args),
                        "{arch} {text} of {s:x?}, mode {:x}",
                        state.mode
                    ),
                }
            }
        }
        println!("{arch}: {count} operations on floats in the scalar ALU");
        assert!(count > 40, "{arch}: {count}");
    }
}

/// Two halves of registers change places, in the lanes that EXEC enables; the others stay.
#[test]
pub(crate) fn halves_of_registers_change_places() {
    let mut random = Random::new("halves of registers change places");
    for target in RDNA.into_iter().filter(|target| has_new_names(*target)) {
        let wave = target.wave;
        for (text, first, second) in [
            ("v_swap_b16 v1.l, v2.l", 0, 0),
            ("v_swap_b16 v1.l, v2.h", 0, 16),
            ("v_swap_b16 v1.h, v2.l", 16, 0),
            ("v_swap_b16 v1.h, v2.h", 16, 16),
        ] {
            let mut state =
                WaveState { exec: support::exec(&mut random) & wave.all_lanes(), ..WaveState::default() };
            let [a, b]: [[u32; 64]; 2] =
                std::array::from_fn(|_| std::array::from_fn(|_| random.next() as u32));
            state.set_vgpr(1, a);
            state.set_vgpr(2, b);
            let after = run(target, text, &state);
            let with = |old: u32, at: u32, half: u32| old & !(0xffff << at) | (half & 0xffff) << at;
            for lane in 0..64 {
                let (old_a, old_b) = (a[lane], b[lane]);
                let expected = match state.exec >> lane & 1 {
                    0 => (old_a, old_b),
                    _ => (with(old_a, first, old_b >> second), with(old_b, second, old_a >> first)),
                };
                assert_eq!((after.vgpr(1)[lane], after.vgpr(2)[lane]), expected, "{text}, lane {lane}");
            }
        }
    }
}

/// The constant of a multiply-add of halves is the low half of its dword: 3.14 times 2, and 1.
#[test]
pub(crate) fn constants_of_halves_have_16_bits() {
    for arch in [Arch::Gfx1030, Arch::Gfx1100, Arch::Gfx1201] {
        let target = Target::from(arch);
        let mut state = WaveState { exec: 1, ..WaveState::default() };
        state.set_vgpr(0, [0x4000; 64]);
        state.set_vgpr(1, [0x3c00; 64]);
        for (text, sum) in
            [("v_fmamk_f16 v2, v0, 0xffffc248, v1", 0xc548), ("v_fmaak_f16 v2, v0, v1, 0xffffc248", 0xbc90)]
        {
            let after = run(target, text, &state);
            assert_eq!(after.vgpr(2)[0], sum, "{arch} {text}");
        }
    }
}

/// `v_s_*`: as the vector instruction of a lane, with modifiers, and without lanes, too.
#[test]
pub(crate) fn functions_of_one_scalar() {
    let mut random = Random::new("functions of one scalar");
    for wave in [WaveSize::Wave32, WaveSize::Wave64] {
        let target = Target { arch: Arch::Gfx1201, wave };
        for function in ["exp", "log", "rcp", "rsq", "sqrt"] {
            for (format, kind, sign) in [("f32", Kind::F32, 1 << 31), ("f16", Kind::F16, 1 << 15)] {
                let model = operation(&format!("v_{function}_{format}")).unwrap();
                for trial in 0..trials(100) {
                    let bits = support::value(&mut random, kind) as u32;
                    let (negative, absolute) = (random.flag(), random.flag());
                    let clamp = random.below(3) == 0;
                    let omod = random.below(4) as u8;
                    let state = WaveState {
                        mode: support::mode(&mut random),
                        exec: if trial % 2 == 0 { 0 } else { target.wave.all_lanes() },
                        sgprs: std::array::from_fn(|register| if register == 3 { bits } else { 0xdead_0000 }),
                        ..WaveState::default()
                    };
                    let source = if absolute { "|s3|" } else { "s3" };
                    let source = format!("{}{source}", if negative { "-" } else { "" });
                    let omod_text = ["", " mul:2", " mul:4", " div:2"][usize::from(omod)];
                    let text = format!(
                        "v_s_{function}_{format} s5, {source}{}{omod_text}",
                        if clamp { " clamp" } else { "" }
                    );
                    let after = run(target, &text, &state);
                    let bits = if absolute { bits & !sign } else { bits };
                    let bits = if negative { bits ^ sign } else { bits };
                    let mode = Mode { register: state.mode, clamp, omod, is_fixed: true };
                    let args = Args { s: [bits.into(), 0, 0], mode, ..Args::default() };
                    let expected = (model.run)(&args).value as u32;
                    assert_eq!(after.sgprs[5], expected, "{text} of {bits:#x}, mode {:#x}", state.mode);
                }
            }
        }
    }
}

/// Formats of the factors of a product.
const FORMATS: [(&str, &str); 4] = [("fp8", "fp8"), ("fp8", "bf8"), ("bf8", "fp8"), ("bf8", "bf8")];

/// Four products of 8 bits each, and an addend with signs. Sums of small numbers are exact.
#[test]
pub(crate) fn dot_products_of_8_bits() {
    let mut random = Random::new("dot products of 8 bits");
    for (target, (a, b)) in rdna4().flat_map(|target| FORMATS.map(|formats| (target, formats))) {
        for _ in 0..trials(50) {
            // Codes whose exponents are near that of 1.
            let code = |name: &str, random: &mut Random| -> u32 {
                let base = if name == "fp8" { 0x30 } else { 0x38 };
                (base + random.below(16) as u32) | (random.below(2) as u32) << 7
            };
            let codes: Vec<(u32, u32)> =
                (0..4).map(|_| (code(a, &mut random), code(b, &mut random))).collect();
            let value = |name: &str, code: u32| formats::named(Arch::Gfx1201, name).value(code.into());
            let c = random.below(33) as f32 - 16.0;
            let mut state = WaveState::default();
            let pack = |part: fn(&(u32, u32)) -> u32| {
                codes.iter().rev().fold(0, |word, pair| word << 8 | part(pair))
            };
            state.set_vgpr(0, [pack(|pair| pair.0); 64]);
            state.set_vgpr(1, [pack(|pair| pair.1); 64]);
            state.set_vgpr(2, [c.to_bits(); 64]);
            for (signs, c) in [
                ("", c),
                (" neg_lo:[0,0,1]", -c),
                (" neg_hi:[0,0,1]", c.abs()),
                (" neg_lo:[0,0,1] neg_hi:[0,0,1]", -c.abs()),
            ] {
                let text = format!("v_dot4_f32_{a}_{b} v3, v0, v1, v2{signs}");
                let after = run(target, &text, &state);
                let sum =
                    codes.iter().fold(f64::from(c), |sum, pair| sum + value(a, pair.0) * value(b, pair.1));
                assert_eq!(f64::from(f32::from_bits(after.vgpr(3)[9])), sum, "{text}: {codes:x?} + {c}");
            }
            // Lanes 1, 2, 3, 0 of each four: the same values in all.
            let plain = run(target, &format!("v_dot4_f32_{a}_{b} v3, v0, v1, v2"), &state);
            for control in ["quad_perm:[1,2,3,0] row_mask:0xf bank_mask:0xf", "dpp8:[1,2,3,0,4,5,6,7]"] {
                let text = format!("v_dot4_f32_{a}_{b}_e64_dpp v3, v0, v1, v2 {control}");
                assert_eq!(run(target, &text, &state).vgpr(3)[..32], plain.vgpr(3)[..32], "{text}");
            }
        }
    }
}

/// The byte and the half of a register that conversions from 8 bits read; the manual's examples of OPSEL
/// (`V_CVT_F32_FP8`: "Byte select bits are reversed").
#[test]
pub(crate) fn conversions_from_8_bits() {
    rdna4().for_each(conversions_from_8_bits_of);
}

fn conversions_from_8_bits_of(target: Target) {
    let mut state = WaveState::default();
    // OCP's E4M3: 1, 2, 4, 8 from the lowest byte on; E5M2 likewise.
    state.set_vgpr(1, [0x5048_4038; 64]);
    state.set_vgpr(2, [0x4844_403c; 64]);
    let one = |text: &str| f32::from_bits(run(target, text, &state).vgpr(4)[3]);
    for (byte, value) in [1.0, 2.0, 4.0, 8.0].into_iter().enumerate() {
        assert_eq!(one(&format!("v_cvt_f32_fp8_e64 v4, v1 byte_sel:{byte}")), value);
        assert_eq!(one(&format!("v_cvt_f32_bf8_e64 v4, v2 byte_sel:{byte}")), value);
    }
    assert_eq!(one("v_cvt_f32_fp8 v4, v1"), 1.0);
    assert_eq!(one("v_cvt_f32_bf8_e32 v4, v2"), 1.0);
    assert_eq!(one("v_cvt_f32_fp8_dpp v4, v1 quad_perm:[1,2,3,0] row_mask:0xf bank_mask:0xf"), 1.0);
    assert_eq!(one("v_cvt_f32_bf8_dpp v4, v2 quad_perm:[1,2,3,0] row_mask:0xf bank_mask:0xf"), 1.0);
    assert_eq!(one("v_cvt_f32_fp8_dpp v4, v1 dpp8:[1,2,3,0,4,5,6,7]"), 1.0);
    assert_eq!(one("v_cvt_f32_bf8_dpp v4, v2 dpp8:[1,2,3,0,4,5,6,7]"), 1.0);
    let dpp = "quad_perm:[1,2,3,0] row_mask:0xf bank_mask:0xf";
    assert_eq!(one(&format!("v_cvt_f32_fp8_e64_dpp v4, v1 byte_sel:3 {dpp}")), 8.0);
    assert_eq!(one(&format!("v_cvt_f32_bf8_e64_dpp v4, v2 byte_sel:1 {dpp}")), 2.0);
    assert_eq!(one("v_cvt_f32_fp8_e64_dpp v4, v1 byte_sel:2 dpp8:[1,2,3,0,4,5,6,7]"), 4.0);
    assert_eq!(one("v_cvt_f32_bf8_e64_dpp v4, v2 byte_sel:2 dpp8:[1,2,3,0,4,5,6,7]"), 4.0);
    let two = |text: &str| {
        let after = run(target, text, &state);
        [4, 5].map(|register| f32::from_bits(after.vgpr(register)[3]))
    };
    assert_eq!(two("v_cvt_pk_f32_fp8 v[4:5], v1"), [1.0, 2.0]);
    assert_eq!(two("v_cvt_pk_f32_bf8 v[4:5], v2"), [1.0, 2.0]);
    assert_eq!(two("v_cvt_pk_f32_fp8_e64 v[4:5], v1 op_sel:[1,0]"), [4.0, 8.0]);
    assert_eq!(two("v_cvt_pk_f32_bf8_e64 v[4:5], v2 op_sel:[1,0]"), [4.0, 8.0]);
}

/// Conversions to 8 bits: which part of the result is written, and what comes of what is too large (RDNA4
/// ISA, section 7.6.2).
#[test]
pub(crate) fn conversions_to_8_bits() {
    rdna4().for_each(conversions_to_8_bits_of);
}

fn conversions_to_8_bits_of(target: Target) {
    let convert = |text: &str, mode: u32, value: f32| {
        let mut state = WaveState { mode, ..WaveState::default() };
        state.set_vgpr(1, [value.to_bits(); 64]);
        state.set_vgpr(2, [0xaaaa_aaaa; 64]);
        run(target, text, &state).vgpr(2)[7]
    };
    let (plain, saturating) = (WaveState::KERNEL_MODE, WaveState::KERNEL_MODE | 1 << 23);
    assert_eq!(convert("v_cvt_pk_fp8_f32 v2, v1, -v1", plain, 1.0), 0xaaaa_b838);
    assert_eq!(convert("v_cvt_pk_fp8_f32 v2, v1, -v1 op_sel:[0,0,1]", plain, 1.0), 0xb838_aaaa);
    assert_eq!(convert("v_cvt_pk_bf8_f32 v2, v1, -v1", plain, 1.0), 0xaaaa_bc3c);
    assert_eq!(convert("v_cvt_pk_bf8_f32 v2, v1, -v1 op_sel:[0,0,1]", plain, 1.0), 0xbc3c_aaaa);
    for (value, [fp8, fp8_clamped, bf8, bf8_clamped]) in [
        (f32::INFINITY, [0x7f, 0x7e, 0x7c, 0x7b]),
        (-f32::INFINITY, [0xff, 0xfe, 0xfc, 0xfb]),
        (1e6, [0x7f, 0x7e, 0x7c, 0x7b]),
    ] {
        for (text, mode, code) in [
            ("v_cvt_pk_fp8_f32 v2, v1, v1", plain, fp8),
            ("v_cvt_pk_fp8_f32 v2, v1, v1", saturating, fp8_clamped),
            ("v_cvt_pk_bf8_f32 v2, v1, v1", plain, bf8),
            ("v_cvt_pk_bf8_f32 v2, v1, v1", saturating, bf8_clamped),
        ] {
            assert_eq!(convert(text, mode, value) & 0xff, code, "{text} of {value}, mode {mode:#x}");
        }
    }
    // Without a seed's bits nothing is rounded up; which byte is written.
    for (byte, expected) in [0xaaaa_aa38, 0xaaaa_38aa, 0xaa38_aaaa, 0x38aa_aaaa].into_iter().enumerate() {
        assert_eq!(convert(&format!("v_cvt_sr_fp8_f32 v2, v1, 0 byte_sel:{byte}"), plain, 1.05), expected);
    }
    assert_eq!(convert("v_cvt_sr_bf8_f32 v2, v1, 0 byte_sel:1", plain, 1.2), 0xaaaa_3caa);
    assert_eq!(convert("v_cvt_sr_fp8_f32 v2, v1, -1", plain, 1.05), 0xaaaa_aa39);
    assert_eq!(convert("v_cvt_sr_bf8_f32 v2, v1, -1", plain, 1.2), 0xaaaa_aa3d);
    let dpp = "quad_perm:[1,2,3,0] row_mask:0xf bank_mask:0xf";
    let dpp8 = "dpp8:[1,2,3,0,4,5,6,7]";
    for control in [dpp, dpp8] {
        assert_eq!(
            convert(&format!("v_cvt_pk_fp8_f32_e64_dpp v2, v1, v1 {control}"), plain, 1.0),
            0xaaaa_3838
        );
        assert_eq!(
            convert(&format!("v_cvt_pk_bf8_f32_e64_dpp v2, v1, v1 {control}"), plain, 1.0),
            0xaaaa_3c3c
        );
        assert_eq!(
            convert(&format!("v_cvt_sr_fp8_f32_e64_dpp v2, v1, v3 {control}"), plain, 1.05),
            0xaaaa_aa38
        );
        assert_eq!(
            convert(&format!("v_cvt_sr_bf8_f32_e64_dpp v2, v1, v3 {control}"), plain, 1.2),
            0xaaaa_aa3c
        );
    }
}

/// `v_permlane16_var_b32` and `v_permlanex16_var_b32`: each lane names one of its row, or of the row beside
/// it, by four bits.
#[test]
pub(crate) fn permutations_by_lane() {
    let mut random = Random::new("permutations by lane");
    for wave in [WaveSize::Wave32, WaveSize::Wave64] {
        let target = Target { arch: Arch::Gfx1201, wave };
        for _ in 0..trials(20) {
            let exec = support::exec(&mut random) & wave.all_lanes();
            let mut state = WaveState { exec, ..WaveState::default() };
            let select: [u32; 64] = std::array::from_fn(|_| random.next() as u32);
            state.set_vgpr(0, std::array::from_fn(|lane| 100 + lane as u32));
            state.set_vgpr(1, select);
            state.set_vgpr(2, [7; 64]);
            for (name, beside) in [("v_permlane16_var_b32", 0), ("v_permlanex16_var_b32", 16)] {
                for (text, inactive, zero) in
                    [("", false, false), (" op_sel:[1,0]", true, false), (" op_sel:[0,1]", false, true)]
                {
                    let text = format!("{name} v2, v0, v1{text}");
                    let after = run(target, &text, &state);
                    for (lane, selected) in select.iter().enumerate().take(wave.lanes() as usize) {
                        let from = ((lane & !15) ^ beside) + (selected & 15) as usize;
                        let expected = match (exec >> lane & 1 != 0, inactive || exec >> from & 1 != 0) {
                            (true, true) => 100 + from as u32,
                            (true, false) if zero => 0,
                            _ => 7,
                        };
                        assert_eq!(after.vgpr(2)[lane], expected, "{text}, lane {lane}, exec {exec:#x}");
                    }
                }
            }
        }
    }
}

/// The tests in here, for [`crate::coverage`].
pub(crate) fn all() {
    floats_in_the_scalar_alu();
    functions_of_one_scalar();
    dot_products_of_8_bits();
    conversions_from_8_bits();
    conversions_to_8_bits();
    permutations_by_lane();
    halves_of_registers_change_places();
}
