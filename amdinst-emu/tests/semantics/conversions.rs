//! Conversions of small floats. Expected codes are found by looking at every code of the result's format.

use std::collections::BTreeSet;

use amdgpu_isa::{Arch, Encoding, Inst, Target, Value, WaveSize};
use amdinst_emu::{Config, Machine, WaveState};

use crate::coverage::Snippet;
use crate::formats::{self, Format, Specials};
use crate::random::Random;

/// One row of `conversions.txt`.
#[derive(Clone, Copy, Debug)]
struct Row {
    name: &'static str,
    from: &'static str,
    to: &'static str,
    count: usize,
    sources: &'static str,
}

fn rows() -> impl Iterator<Item = Row> {
    include_str!("conversions.txt").lines().filter(|line| !line.starts_with('#')).map(|line| {
        let words: Vec<&'static str> = line.split_whitespace().collect();
        Row {
            name: words[0],
            from: words[1],
            to: words[2],
            count: words[3].parse().unwrap(),
            sources: words[4],
        }
    })
}

/// With waves of 64 lanes, a trial in each.
fn wide(arch: Arch) -> Target {
    Target { arch, wave: WaveSize::Wave64 }
}

/// The plain forms of a conversion: VOP3, or VOP1 where there is no other.
fn forms(arch: Arch, name: &str) -> Option<Inst> {
    let mut all: Vec<_> = amdgpu_isa::opcodes(wide(arch))
        .filter(|opcode| opcode.op().name() == name)
        .filter(|opcode| matches!(opcode.encoding(), Encoding::Vop1 | Encoding::Vop3))
        .collect();
    all.sort_by_key(|opcode| opcode.encoding() == Encoding::Vop1);
    all.first().map(|opcode| opcode.plain().unwrap())
}

fn first_register(inst: &Inst, at: usize) -> usize {
    match inst.operands[at].value {
        Value::Vgpr(register) => usize::from(register),
        other => panic!("{other:?} is no VGPR"),
    }
}

/// Bits of registers, as one number a lane.
fn get_bits(state: &WaveState, first: usize, lane: usize, low: usize, width: usize) -> u64 {
    (0..width).fold(0, |bits, at| {
        let position = low + at;
        bits | u64::from(state.vgpr(first + position / 32)[lane] >> (position % 32) & 1) << at
    })
}

fn put_bits(state: &mut WaveState, first: usize, lane: usize, low: usize, width: usize, bits: u64) {
    for at in 0..width {
        let position = low + at;
        let mut lanes = state.vgpr(first + position / 32);
        let mask = 1 << (position % 32);
        lanes[lane] = if bits >> at & 1 == 1 { lanes[lane] | mask } else { lanes[lane] & !mask };
        state.set_vgpr(first + position / 32, lanes);
    }
}

/// Largest finite value and its code.
fn largest(format: Format) -> (f64, u64) {
    let Format::Float { exponent, mantissa, specials, .. } = format else { panic!("{format:?}") };
    let all = (1u64 << (exponent + mantissa)) - 1;
    let code = match specials {
        Specials::Ieee => all - (1 << mantissa),
        Specials::AllOnesIsNan => all - 1,
        _ => all,
    };
    (format.value(code), code)
}

/// What an overflowing result is: an infinity or a NaN where the format has one, else the largest number.
fn overflow(format: Format, negative: bool, saturates: bool) -> u64 {
    let Format::Float { specials, mantissa, .. } = format else { panic!("{format:?}") };
    let sign = u64::from(negative) << (format.bits() - 1);
    let (_, code) = largest(format);
    match specials {
        Specials::None => sign | code,
        _ if saturates => sign | code,
        Specials::Ieee => sign | ((code >> mantissa << mantissa) + (1 << mantissa)),
        Specials::AllOnesIsNan => sign | (code + 1),
        Specials::NegativeZeroIsNan => 1 << (format.bits() - 1),
    }
}

/// The nearest code, or with a seed the one that stochastic rounding gives, of a finite value.
fn rounded(format: Format, value: f64, source_mantissa: u32, seed: Option<u32>, saturates: bool) -> u64 {
    let Format::Float { mantissa, specials, .. } = format else { panic!("{format:?}") };
    let (max, max_code) = largest(format);
    let negative = value.is_sign_negative();
    let sign = if negative && specials != Specials::NegativeZeroIsNan { 1 << (format.bits() - 1) } else { 0 };
    let magnitude = value.abs();
    let signed = |code: u64| if code == 0 { sign } else { code | u64::from(negative) << (format.bits() - 1) };
    // Distance of neighbouring numbers at the value.
    let exponent = if magnitude == 0.0 { -1000 } else { magnitude.log2().floor() as i32 };
    let unit = f64::from(exponent.max(format.least_exponent()) - mantissa as i32).exp2();
    let steps = magnitude / unit;
    let kept = match seed {
        None => {
            let (down, lost) = (steps.floor(), steps - steps.floor());
            if lost > 0.5 || lost == 0.5 && down % 2.0 == 1.0 { down + 1.0 } else { down }
        }
        Some(seed) => {
            let bits = source_mantissa - mantissa;
            let scale = f64::from(bits).exp2();
            let lost = ((steps - steps.floor()) * scale).floor();
            let random = f64::from(seed >> (32 - bits));
            if lost + random >= scale { steps.floor() + 1.0 } else { steps.floor() }
        }
    };
    let result = kept * unit;
    if result > max {
        return overflow(format, negative, saturates);
    }
    let code = if format.bits() <= 8 {
        (0..=max_code).find(|code| format.value(*code) == result).unwrap()
    } else {
        // The exponent field and the steps above the smallest normal number.
        let field = (exponent.max(format.least_exponent()) - format.least_exponent()) as u64;
        (field << mantissa) + kept as u64
    };
    assert_eq!(format.value(code), result);
    signed(code)
}

/// One step of the linear feedback shift register of `v_prng_b32`.
fn next_seed(seed: u32) -> u32 {
    (seed << 1) ^ if seed & 0x8000_0000 != 0 { 197 } else { 0 }
}

fn mantissa(format: Format) -> u32 {
    match format {
        Format::Float { mantissa, .. } => mantissa,
        _ => panic!("{format:?}"),
    }
}

/// Random codes of the source, near the range of the result; specials among them.
fn source_code(random: &mut Random, from: Format, to: Format) -> u64 {
    let any = random.next() & ((1 << from.bits()) - 1);
    if from.bits() <= 8 || random.below(4) == 0 {
        return any;
    }
    let Format::Float { bias, exponent, mantissa: width, .. } = from else { panic!("{from:?}") };
    let (max, _) = largest(to);
    let high = (max.log2() as i32 + 2).min((1 << (exponent - 1)) - 2);
    let low = (to.least_exponent() - mantissa(to) as i32 - 3).max(1 - bias);
    let field = (low + random.below((high - low) as u64) as i32 + bias) as u64;
    // Short mantissas fall between codes exactly.
    let keep = (mantissa(to) + 1 + random.below(3) as u32).min(width);
    let fraction = (any & ((1 << width) - 1)) >> (width - keep) << (width - keep);
    any >> (from.bits() - 1) << (from.bits() - 1) | field << width | fraction
}

/// What the code is of an element, given its source, the scale's exponent and a seed. None: some NaN.
fn element(
    row: &Row,
    [from, to]: [Format; 2],
    code: u64,
    scale: Option<u32>,
    seed: Option<u32>,
    ovfl: bool,
) -> Option<u64> {
    let value = from.value(code);
    if value.is_nan() || scale == Some(255) {
        return match to {
            Format::Float { specials: Specials::None, .. } => {
                Some(code >> (from.bits() - 1) << (to.bits() - 1) | largest(to).1)
            }
            _ => None,
        };
    }
    let narrows = from.bits() > to.bits();
    let saturates = ovfl && (to.bits() == 8 || row.to == "f16");
    if value.is_infinite() {
        return Some(overflow(to, value < 0.0, saturates && to.bits() == 8));
    }
    let factor = match scale {
        Some(scale) if narrows => f64::from(127 - scale as i32).exp2(),
        Some(scale) => f64::from(scale as i32 - 127).exp2(),
        None => 1.0,
    };
    Some(rounded(to, value * factor, mantissa(from), seed, saturates))
}

/// Parts of a register that OP_SEL chooses: first bits, and the OP_SEL that chooses each.
fn parts(bits: usize, source: bool) -> Vec<(usize, u8)> {
    match (bits, source) {
        (8, true) => (0..4).map(|part| (8 * part, part as u8)).collect(),
        (16, true) => (0..2).map(|part| (16 * part, part as u8)).collect(),
        (8, false) => (0..4).map(|part| (8 * part, (part as u8) << 2)).collect(),
        (16, false) => (0..2).map(|part| (16 * part, (part as u8) << 3)).collect(),
        _ => vec![(0, 0)],
    }
}

fn check(
    arch: Arch,
    inst: &Inst,
    row: &Row,
    (low, part): (usize, Option<usize>),
    random: &mut Random,
    ovfl: bool,
) -> usize {
    let formats = [formats::named(arch, row.from), formats::named(arch, row.to)];
    let [from, to] = formats;
    let data = row.sources.matches('D').count();
    let position = |letter: char| row.sources.find(letter).map(|at| 1 + at);
    let mut state = WaveState { exec: 0xffff_0000_ffff_fffe, ..WaveState::default() };
    state.mode |= if ovfl { 1 << 23 } else { 0 };
    let registers = (row.count * to.bits()).div_ceil(32);
    for lane in 0..64 {
        for register in 0..registers.max(1) {
            put_bits(
                &mut state,
                first_register(inst, 0) + register,
                lane,
                0,
                32,
                random.next() & 0xffff_ffff,
            );
        }
        for at in 0..row.count {
            let (source, index) = if data == 2 { (1 + at % 2, at / 2) } else { (1, at) };
            let code = source_code(random, from, to);
            put_bits(
                &mut state,
                first_register(inst, source),
                lane,
                low + index * from.bits(),
                from.bits(),
                code,
            );
        }
        if let Some(seed) = position('S') {
            put_bits(&mut state, first_register(inst, seed), lane, 0, 32, random.next() & 0xffff_ffff);
        }
        if let Some(scale) = position('X') {
            let exponent = match random.below(8) {
                0 => 255,
                1 => random.below(255),
                _ => 124 + random.below(7),
            };
            let bits = random.next() & 0x807f_ffff | exponent << 23;
            put_bits(&mut state, first_register(inst, scale), lane, 0, 32, bits);
        }
    }
    let bytes: Vec<u8> =
        inst.encode(wide(arch)).unwrap().iter().flat_map(|word| word.to_le_bytes()).collect();
    let snippet = Snippet::from_bytes(wide(arch), &bytes);
    let after = snippet
        .run(&mut Machine::new(arch, Config::default()), &state)
        .unwrap_or_else(|fault| panic!("{arch}: {fault}"));
    let d = first_register(inst, 0);
    let mut compared = 0;
    for lane in 0..64 {
        let word = |at: Option<usize>| at.map(|at| state.vgpr(first_register(inst, at))[lane]);
        let scale = word(position('X')).map(|bits| bits >> 23 & 255);
        let mut seed = word(position('S'));
        for at in 0..row.count {
            let (source, index) = if data == 2 { (1 + at % 2, at / 2) } else { (1, at) };
            let code =
                get_bits(&state, first_register(inst, source), lane, low + index * from.bits(), from.bits());
            let place = part.unwrap_or(0) + at * to.bits();
            let found = get_bits(&after, d, lane, place, to.bits());
            if state.exec >> lane & 1 == 0 {
                assert_eq!(found, get_bits(&state, d, lane, place, to.bits()), "{}: inactive", row.name);
                continue;
            }
            let expected = element(row, formats, code, scale, seed, ovfl);
            let why = format!("{arch}: {} of {code:#x}, scale {scale:?}, seed {seed:x?}", row.name);
            match expected {
                Some(expected) => assert_eq!(found, expected, "{why}: {found:#x}, not {expected:#x}"),
                None => assert!(to.value(found).is_nan(), "{why}: {found:#x}"),
            }
            seed = seed.map(next_seed);
            compared += 1;
        }
        if let Some(part) = part {
            let written = row.count * to.bits();
            for bit in (0..32).filter(|bit| !(part..part + written).contains(bit)) {
                let kept = get_bits(&state, d, lane, bit, 1);
                assert_eq!(get_bits(&after, d, lane, bit, 1), kept, "{}: bit {bit} is kept", row.name);
            }
        }
    }
    compared
}

/// All conversions of both processors, every part that OP_SEL selects.
#[test]
pub(crate) fn conversions_round_as_their_formats_do() {
    let mut random = Random(7);
    let mut compared = 0;
    for arch in [Arch::Gfx942, Arch::Gfx950, Arch::Gfx1201] {
        let mut executed = 0;
        for row in rows() {
            let Some(inst) = forms(arch, row.name) else { continue };
            executed += 1;
            let (from, to) = (formats::named(arch, row.from), formats::named(arch, row.to));
            let selects = inst.encoding == Encoding::Vop3
                && !row.name.starts_with("v_cvt_f32")
                && !row.name.starts_with("v_cvt_pk_f32");
            let group = from.bits() * row.count;
            let sources =
                if selects && from.bits() < 16 && group < 32 { parts(group, true) } else { vec![(0, 0)] };
            let written = to.bits() * row.count;
            let is_part = written < 32;
            let results = if is_part { parts(written, false) } else { vec![(0, 0)] };
            for (low, select) in &sources {
                for (place, more) in &results {
                    let mut inst = inst.clone();
                    inst.mods.op_sel = select | more;
                    let part = is_part.then_some(*place);
                    compared += check(arch, &inst, &row, (*low, part), &mut random, false);
                }
            }
            compared += check(arch, &inst, &row, (0, is_part.then_some(0)), &mut random, true);
        }
        println!("{arch}: {executed} conversions");
    }
    println!("{compared} elements");
}

/// The table has every conversion that the processors have.
#[test]
pub(crate) fn no_conversion_is_left_out() {
    let table: BTreeSet<&str> = rows().map(|row| row.name).collect();
    for arch in [Arch::Gfx942, Arch::Gfx950] {
        for opcode in amdgpu_isa::opcodes(arch) {
            let name = opcode.op().name();
            let small =
                ["fp8", "bf8", "fp6", "bf6", "fp4", "bf16"].iter().any(|format| name.contains(format));
            if name.starts_with("v_cvt_") && (small || name.contains("_sr_")) {
                assert!(table.contains(name), "{arch}: {name}");
            }
        }
    }
}

/// Parts that SDWA selects; the VOP1 forms alone; and a source modifier.
#[test]
pub(crate) fn forms_of_the_conversions_from_8_bits() {
    let run = |text: &str, bits: u32| {
        let mut state = WaveState::default();
        state.set_vgpr(1, [bits; 64]);
        let snippet = Snippet::assemble(Arch::Gfx942, text).unwrap();
        let after = snippet.run(&mut Machine::new(Arch::Gfx942, Config::default()), &state).unwrap();
        (f32::from_bits(after.vgpr(2)[5]), f32::from_bits(after.vgpr(3)[5]))
    };
    // FNUZ: 0x40 is 1, 0x48 is 2, 0x50 is 4, 0x58 is 8.
    assert_eq!(run("v_cvt_f32_fp8 v2, v1", 0x5850_4840).0, 1.0);
    assert_eq!(run("v_cvt_f32_fp8_sdwa v2, v1 src0_sel:BYTE_1", 0x5850_4840).0, 2.0);
    assert_eq!(run("v_cvt_f32_fp8_sdwa v2, v1 src0_sel:BYTE_3", 0x5850_4840).0, 8.0);
    assert_eq!(run("v_cvt_pk_f32_fp8 v[2:3], v1", 0x5850_4840), (1.0, 2.0));
    assert_eq!(run("v_cvt_pk_f32_fp8_sdwa v[2:3], v1 src0_sel:WORD_1", 0x5850_4840), (4.0, 8.0));
    assert_eq!(run("v_cvt_f32_fp8_e64 v2, v1 clamp", 0x48).0, 1.0);
    let mut state = WaveState::default();
    state.set_vgpr(1, [(-3f32).to_bits(); 64]);
    let text = "v_cvt_pk_fp8_f32 v2, -v1, |v1|";
    let after = Snippet::assemble(Arch::Gfx942, text)
        .unwrap()
        .run(&mut Machine::new(Arch::Gfx942, Config::default()), &state)
        .unwrap();
    assert_eq!(after.vgpr(2)[0], 0x4c4c);
}

/// What MODE has a say in: "Output modifiers are ignored if the IEEE mode bit is set to 1" and if "output
/// denormals are enabled"; `v_cvt_f16_f32`, whose conversion `v_cvt_pk_f16_f32` makes twice, flushes "denorms
/// on output if specified based on DP denorm mode".
#[test]
pub(crate) fn conversions_follow_the_mode() {
    let run = |text: &str, mode: u32, bits: u32| {
        let mut state = WaveState { mode, ..WaveState::default() };
        state.set_vgpr(1, [bits; 64]);
        let snippet = Snippet::assemble(Arch::Gfx950, text).unwrap();
        let after = snippet.run(&mut Machine::new(Arch::Gfx950, Config::default()), &state).unwrap();
        after.vgpr(2)[5]
    };
    // 0x38 is 1 in OCP's E4M3. Output subnormals flushed without and with IEEE, then kept without.
    for (mode, doubled) in [(0x1d0, 2f32), (0x3d0, 1.0), (0x1f0, 1.0), (0x3f0, 1.0)] {
        let found = run("v_cvt_f32_fp8_e64 v2, v1 mul:2", mode, 0x38);
        assert_eq!(f32::from_bits(found), doubled, "mode {mode:#x}");
    }
    assert_eq!(run("v_cvt_f32_bf16_e64 v2, v1 div:2", 0x1d0, 0x4080), 2f32.to_bits());
    assert_eq!(run("v_cvt_f32_bf16_e64 v2, v1 mul:4", 0x1d0, 0x8000), 0, "-0 becomes +0");
    // ±2^-20 are subnormal halves.
    let tiny = 2f32.powi(-20).to_bits();
    assert_eq!(run("v_cvt_pk_f16_f32 v2, v1, -v1", 0x3f0, tiny), 0x8010_0010);
    assert_eq!(run("v_cvt_pk_f16_f32 v2, v1, -v1", 0x370, tiny), 0x8000_0000);
    assert_eq!(run("v_cvt_pk_f16_f32 v2, v1, -v1", 0x3b0, tiny), 0x8010_0010);
    assert_eq!(run("v_cvt_f16_f32 v2, v1", 0x370, tiny), 0);
}
