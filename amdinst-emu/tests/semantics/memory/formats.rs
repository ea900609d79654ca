//! Typed buffers: every data and number format, loads and stores, both register packings, selectors.

use amdgpu_isa::{Arch, Encoding, Feature, Generation, Mods, Op, Value, assemble};
use amdinst_emu::{FaultKind, WaveState};

use super::{Bench, Random, active, keeps_half};
use crate::coverage::Snippet;
use crate::targets::PROCESSORS;

/// Widths of the components, x first, by data format; the names list them from the high bits down.
const WIDTHS: [&[u32]; 15] = [
    &[],
    &[8],
    &[16],
    &[8, 8],
    &[32],
    &[16, 16],
    &[11, 11, 10],
    &[10, 11, 11],
    &[2, 10, 10, 10],
    &[10, 10, 10, 2],
    &[8, 8, 8, 8],
    &[32, 32],
    &[16, 16, 16, 16],
    &[32, 32, 32],
    &[32, 32, 32, 32],
];
const UNORM: u8 = 0;
const SNORM: u8 = 1;
const USCALED: u8 = 2;
const SSCALED: u8 = 3;
const UINT: u8 = 4;
const SINT: u8 = 5;
const FLOAT: u8 = 7;

fn exists(dfmt: usize, nfmt: u8) -> bool {
    nfmt != FLOAT || !WIDTHS[dfmt].iter().any(|width| matches!(width, 2 | 8))
}

/// The value of an unsigned float of five exponent bits, or of a half with its sign.
fn small_float(raw: u32, fraction: i32, signed: bool) -> f64 {
    let sign = if signed && raw >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = (raw >> fraction & 31) as i32;
    let bits = f64::from(raw & ((1 << fraction) - 1));
    let unit = 2f64.powi(-fraction);
    sign * match (exponent, bits == 0.0) {
        (31, true) => f64::INFINITY,
        (31, false) => f64::NAN,
        (0, _) => bits * unit * 2f64.powi(-14),
        _ => (1.0 + bits * unit) * 2f64.powi(exponent - 15),
    }
}

/// Fraction bits of a component of a float format, and whether it has a sign.
fn layout(width: u32) -> (i32, bool) {
    match width {
        16 => (10, true),
        11 => (6, false),
        _ => (5, false),
    }
}

/// What a register gets of a component.
fn expanded(raw: u32, width: u32, nfmt: u8) -> u32 {
    let signed =
        if raw >> (width - 1) == 1 { f64::from(raw) - 2f64.powi(width as i32) } else { f64::from(raw) };
    if width == 32 {
        return raw;
    }
    let float = match nfmt {
        UNORM => f64::from(raw) / (2f64.powi(width as i32) - 1.0),
        SNORM => (signed / (2f64.powi(width as i32 - 1) - 1.0)).max(-1.0),
        USCALED => f64::from(raw),
        SSCALED => signed,
        UINT => return raw,
        SINT => return signed as i32 as u32,
        _ => {
            let (fraction, sign) = layout(width);
            small_float(raw, fraction, sign)
        }
    };
    (float as f32).to_bits()
}

/// The code of the nearest number, the even one of two. Codes' values grow.
fn nearest(value: f64, codes: u32, value_of: impl Fn(u32) -> f64) -> u32 {
    let (mut low, mut high) = (0, codes - 1);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if value_of(middle) <= value { low = middle } else { high = middle }
    }
    let (down, up) = (value - value_of(low), value_of(high) - value);
    if down < up || down == up && low % 2 == 0 { low } else { high }
}

/// What a component becomes of a register's value.
fn packed(value: u32, width: u32, nfmt: u8) -> u32 {
    let mask = if width == 32 { u32::MAX } else { (1 << width) - 1 };
    let float = f64::from(f32::from_bits(value));
    let ties_even = |value: f64| {
        let floor = value.floor();
        match (value - floor).total_cmp(&0.5) {
            std::cmp::Ordering::Less => floor,
            std::cmp::Ordering::Greater => floor + 1.0,
            std::cmp::Ordering::Equal => floor + floor.rem_euclid(2.0),
        }
    };
    let (top, half) = (2f64.powi(width as i32) - 1.0, 2f64.powi(width as i32 - 1) - 1.0);
    let integer = match nfmt {
        _ if width == 32 => return value,
        UINT => return value.min(mask),
        SINT => (f64::from(value as i32)).clamp(-half - 1.0, half),
        FLOAT => {
            let (fraction, sign) = layout(width);
            let infinity = 31 << fraction;
            let negative = f32::from_bits(value).is_sign_negative();
            let sign_bit = if sign && negative { 1 << 15 } else { 0 };
            if float.is_nan() {
                // The pattern of a NaN is not looked at.
                return infinity | 1 << (fraction - 1) | sign_bit;
            }
            if negative && !sign {
                return 0;
            }
            let value_of = |code: u32| small_float(code, fraction, false);
            let largest = value_of(infinity - 1);
            // Half a step above the largest number, infinity is nearer.
            let limit = largest + (largest - value_of(infinity - 2)) / 2.0;
            let magnitude = float.abs();
            let code = if magnitude >= limit { infinity } else { nearest(magnitude, infinity, value_of) };
            return code | sign_bit;
        }
        _ if float.is_nan() => 0.0,
        UNORM => ties_even(float.clamp(0.0, 1.0) * top),
        SNORM => ties_even(float.clamp(-1.0, 1.0) * half),
        USCALED => ties_even(float.clamp(0.0, top)),
        _ => ties_even(float.clamp(-half - 1.0, half)),
    };
    integer as i64 as u32 & mask
}

fn half_to_f32(raw: u16) -> f32 {
    small_float(u32::from(raw), 10, true) as f32
}

fn f32_to_half(value: f32) -> u16 {
    packed(value.to_bits(), 16, FLOAT) as u16
}

fn component(element: &[u8], widths: &[u32], index: usize) -> u32 {
    let first: u32 = widths[..index].iter().sum();
    (0..widths[index])
        .map(|bit| u32::from(element[((first + bit) / 8) as usize] >> ((first + bit) % 8) & 1) << bit)
        .sum()
}

fn set_component(element: &mut [u8], widths: &[u32], index: usize, value: u32) {
    let first: u32 = widths[..index].iter().sum();
    for bit in 0..widths[index] {
        let (byte, shift) = (((first + bit) / 8) as usize, (first + bit) % 8);
        element[byte] = element[byte] & !(1 << shift) | ((value >> bit & 1) as u8) << shift;
    }
}

fn same(a: u32, b: u32, float: bool) -> bool {
    a == b || float && f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan()
}

fn same_half(a: u32, b: u32) -> bool {
    let nan = |value: u32| value & 0x7fff > 0x7c00;
    a & 0xffff == b & 0xffff || nan(a) && nan(b)
}

/// A typed instruction on v8 upward, by index in v2, resource in s[4:7].
fn instruction(arch: Arch, name: &str, registers: u8, format: Option<(usize, u8)>) -> Snippet {
    let op = Op::from_name(name).unwrap_or_else(|| panic!("{name}"));
    let encoding = if format.is_some() { Encoding::Mtbuf } else { Encoding::Mubuf };
    let bits = format.map_or(0, |(dfmt, nfmt)| dfmt as u8 | nfmt << 4);
    let mods = Mods { idxen: true, format: bits, ..Mods::default() };
    let values = [Value::Vgpr(8), Value::Vgpr(2), Value::Scalar(4), Value::int(0)];
    let inst = assemble(arch, op, encoding, &values, mods).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(registers >= 1);
    let words = inst.encode(arch).unwrap_or_else(|error| panic!("{name}: {error}"));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    Snippet::from_bytes(arch, &bytes)
}

/// Elements of the buffer: random, with edges.
fn contents(random: &mut Random, bytes: usize) -> Vec<u8> {
    let mut contents = random.bytes(64 * bytes);
    for (lane, element) in contents.chunks_exact_mut(bytes).enumerate().take(12) {
        let fill = [0x00, 0xff, 0x80, 0x7f, 0x01, 0x7c, 0xfc, 0x3c][lane % 8];
        element.fill(fill);
    }
    contents
}

fn state(random: &mut Random, bench: &Bench, bytes: usize, word3: u64) -> WaveState {
    let mut state =
        WaveState { exec: random.exec(bench.machine.arch().into()) | 0xff, ..WaveState::default() };
    state.set_vgpr(2, std::array::from_fn(|lane| lane as u32));
    state.set_sgpr_pair(4, bench.buffer | (bytes as u64) << 48);
    // The last eight lanes are out of range.
    state.set_sgpr_pair(6, 56 | word3 << 32);
    for register in 8..12 {
        let special =
            [0u32, 0x3f80_0000, 0xbf80_0000, 0x7fc0_0000, 0x7f80_0000, 0x3f00_0000, 0x3b00_8081, 0xff80_0000];
        let mut values = random.register();
        for (lane, value) in values.iter_mut().enumerate() {
            match lane % 4 {
                0 => *value = special[lane / 4 % 8],
                1 => *value = (random.below(1 << 20) as f32 / 700_000.0 - 0.2).to_bits(),
                2 => *value = ((random.below(1 << 20) as f32 - 500_000.0) / 7.0).to_bits(),
                _ => {}
            }
        }
        state.set_vgpr(register, values);
    }
    state
}

const CHANNELS: [&str; 4] = ["x", "xy", "xyz", "xyzw"];

#[test]
pub(crate) fn loads_with_the_format_in_the_instruction() {
    let mut random = Random(70);
    let mut covered = 0;
    for (dfmt, widths) in WIDTHS.into_iter().enumerate().skip(1) {
        for nfmt in [UNORM, SNORM, USCALED, SSCALED, UINT, SINT, FLOAT] {
            if !exists(dfmt, nfmt) {
                continue;
            }
            let bytes = widths.iter().sum::<u32>() as usize / 8;
            for (count, channels) in CHANNELS.iter().enumerate() {
                for halves in [false, true] {
                    covered += 1;
                    let arch = PROCESSORS[(covered + covered / PROCESSORS.len()) % PROCESSORS.len()];
                    let memory = contents(&mut random, bytes);
                    let mut bench = Bench::new(arch, &memory);
                    let state = state(&mut random, &bench, bytes, 4 << 15);
                    let name = format!("tbuffer_load_format_{}{channels}", if halves { "d16_" } else { "" });
                    let snippet = instruction(arch, &name, 4, Some((dfmt, nfmt)));
                    let after = snippet
                        .run(&mut bench.machine, &state)
                        .unwrap_or_else(|fault| panic!("{name}: {fault}"));
                    let integer = matches!(nfmt, UINT | SINT);
                    for lane in active(state.exec) {
                        let element = &memory[lane * bytes..][..bytes];
                        for channel in 0..=count {
                            let value = if lane < 56 && channel < widths.len() {
                                expanded(component(element, widths, channel), widths[channel], nfmt)
                            } else {
                                0
                            };
                            let what = || {
                                format!(
                                    "{arch} {name} {dfmt} {nfmt}: lane {lane}, channel {channel}, {element:x?}"
                                )
                            };
                            if halves {
                                let (register, shift) = half_at(arch, channel);
                                let got = after.vgpr(register)[lane] >> shift;
                                let half = if integer {
                                    value
                                } else {
                                    u32::from(f32_to_half(f32::from_bits(value)))
                                };
                                assert!(same_half(got, half), "{}: {got:#x}, not {half:#x}", what());
                            } else {
                                let got = after.vgpr(8 + channel)[lane];
                                assert!(same(got, value, !integer), "{}: {got:#x}, not {value:#x}", what());
                            }
                        }
                        if halves && !arch.has(Feature::UnpackedHalves) && count % 2 == 0 {
                            let register = 8 + count / 2;
                            let upper = |state: &WaveState| state.vgpr(register)[lane] >> 16;
                            let kept = if keeps_half(arch) { upper(&state) } else { 0 };
                            assert_eq!(upper(&after), kept, "{arch} {name}: the upper half");
                        }
                    }
                }
            }
        }
    }
    assert!(covered > 600, "{covered}");
}

/// The register with a channel's half, and by how many bits it is moved up there: each has a register, or two
/// share one.
fn half_at(arch: Arch, channel: usize) -> (usize, usize) {
    if arch.has(Feature::UnpackedHalves) { (8 + channel, 0) } else { (8 + channel / 2, channel % 2 * 16) }
}

#[test]
pub(crate) fn stores_with_the_format_in_the_instruction() {
    let mut random = Random(71);
    let mut covered = 0;
    for (dfmt, widths) in WIDTHS.into_iter().enumerate().skip(1) {
        for nfmt in [UNORM, SNORM, USCALED, SSCALED, UINT, SINT, FLOAT] {
            if !exists(dfmt, nfmt) {
                continue;
            }
            let bytes = widths.iter().sum::<u32>() as usize / 8;
            for (count, channels) in CHANNELS.iter().enumerate() {
                for halves in [false, true] {
                    covered += 1;
                    let arch = PROCESSORS[(covered + covered / PROCESSORS.len()) % PROCESSORS.len()];
                    let memory = contents(&mut random, bytes);
                    let mut bench = Bench::new(arch, &memory);
                    let state = state(&mut random, &bench, bytes, 4 << 15);
                    let name = format!("tbuffer_store_format_{}{channels}", if halves { "d16_" } else { "" });
                    let snippet = instruction(arch, &name, 4, Some((dfmt, nfmt)));
                    let after = snippet
                        .run(&mut bench.machine, &state)
                        .unwrap_or_else(|fault| panic!("{name}: {fault}"));
                    assert_eq!(after, state, "{name}");
                    let mut expected = memory.clone();
                    let mut nan = Vec::new();
                    for lane in active(state.exec).filter(|lane| *lane < 56) {
                        for channel in 0..=count.min(widths.len() - 1) {
                            let value = if halves {
                                let (register, shift) = half_at(arch, channel);
                                let raw = (state.vgpr(register)[lane] >> shift) as u16;
                                match nfmt {
                                    UINT => u32::from(raw),
                                    SINT => i32::from(raw as i16) as u32,
                                    _ => half_to_f32(raw).to_bits(),
                                }
                            } else {
                                state.vgpr(8 + channel)[lane]
                            };
                            let kept = nfmt == FLOAT || widths[channel] == 32;
                            if f32::from_bits(value).is_nan() && kept {
                                nan.push(lane);
                            }
                            let raw = packed(value, widths[channel], nfmt);
                            set_component(&mut expected[lane * bytes..][..bytes], widths, channel, raw);
                        }
                    }
                    let contents = bench.contents();
                    for lane in (0..64).filter(|lane| !nan.contains(lane)) {
                        let range = lane * bytes..(lane + 1) * bytes;
                        let sources: Vec<u32> = (8..12).map(|register| state.vgpr(register)[lane]).collect();
                        assert_eq!(
                            contents[range.clone()],
                            expected[range],
                            "{arch} {name} {dfmt} {nfmt}: lane {lane} of {sources:x?}"
                        );
                    }
                }
            }
        }
    }
    assert!(covered > 600, "{covered}");
}

/// MUBUF takes the format from the resource, and DST_SEL selects: 0, 1, then x to w.
#[test]
pub(crate) fn formats_and_selectors_of_the_resource() {
    let mut random = Random(72);
    for round in 0..200 {
        let arch = PROCESSORS[round % PROCESSORS.len()];
        let (dfmt, nfmt) =
            [(10, UNORM), (12, SINT), (5, FLOAT), (14, UINT), (9, SNORM), (1, UINT)][round % 7 % 6];
        let widths = WIDTHS[dfmt];
        let bytes = widths.iter().sum::<u32>() as usize / 8;
        let select: [u64; 4] = std::array::from_fn(|_| [0, 1, 4, 5, 6, 7][random.below(6) as usize]);
        let selectors = select.iter().enumerate().map(|(index, value)| value << (3 * index)).sum::<u64>();
        let word3 = (dfmt as u64) << 15 | u64::from(nfmt) << 12 | selectors;
        let memory = contents(&mut random, bytes);
        let mut bench = Bench::new(arch, &memory);
        let state = state(&mut random, &bench, bytes, word3);
        let snippet = instruction(arch, "buffer_load_format_xyzw", 4, None);
        let after = snippet.run(&mut bench.machine, &state).expect("a load");
        let integer = matches!(nfmt, UINT | SINT);
        let value = |lane: usize, channel: usize| match select[channel] {
            1 if integer => 1,
            1 => 0x3f80_0000,
            select @ 4..=7 if lane < 56 && ((select - 4) as usize) < widths.len() => {
                let (element, index) = (&memory[lane * bytes..][..bytes], (select - 4) as usize);
                expanded(component(element, widths, index), widths[index], nfmt)
            }
            _ => 0,
        };
        let halved = |value: u32| {
            if integer { value } else { u32::from(f32_to_half(f32::from_bits(value))) }
        };
        for (last, channels) in CHANNELS.iter().enumerate() {
            for (halves, d16) in [(false, ""), (true, "d16_")] {
                let name = format!("buffer_load_format_{d16}{channels}");
                let after =
                    instruction(arch, &name, 4, None).run(&mut bench.machine, &state).expect("a load");
                for lane in active(state.exec) {
                    for channel in 0..4 {
                        let value = value(lane, channel);
                        let (register, shift) =
                            if halves { half_at(arch, channel) } else { (8 + channel, 0) };
                        let [got, old] = [&after, &state].map(|state| state.vgpr(register)[lane] >> shift);
                        let right = match (channel <= last, halves) {
                            (true, true) => same_half(got, halved(value)),
                            (true, false) => same(got, value, !integer),
                            (false, true) if arch.has(Feature::UnpackedHalves) => got == old,
                            // The other half of the last register.
                            (false, true) if channel == last + 1 && channel % 2 == 1 && !keeps_half(arch) => {
                                got & 0xffff == 0
                            }
                            (false, true) => got & 0xffff == old & 0xffff,
                            (false, false) => got == old,
                        };
                        assert!(
                            right,
                            "{arch} {name} {dfmt} {nfmt} {select:?}: lane {lane}, channel {channel}: {got:#x}, not {value:#x}"
                        );
                    }
                }
            }
        }
        // d16_hi: the x channel in the upper half, the lower one stays or is cleared.
        if has_high_halves(arch) {
            let snippet = instruction(arch, "buffer_load_format_d16_hi_x", 1, None);
            let low = snippet.run(&mut bench.machine, &state).expect("a load").vgpr(8);
            for lane in active(state.exec) {
                let kept = if keeps_half(arch) { state.vgpr(8)[lane] & 0xffff } else { 0 };
                assert_eq!(low[lane] & 0xffff, kept, "{arch}");
                let whole = after.vgpr(8)[lane];
                let half = if integer { whole } else { u32::from(f32_to_half(f32::from_bits(whole))) };
                assert!(
                    same_half(low[lane] >> 16, half),
                    "{arch} {dfmt} {nfmt}: {:#x} of {whole:#x}",
                    low[lane]
                );
            }
        }
        stores_by_resource(&mut bench, (dfmt, nfmt), select, &memory, &state);
    }
}

/// Whether accesses reach the high half of a register alone.
fn has_high_halves(arch: Arch) -> bool {
    arch.generation() != Generation::Gfx8
}

/// A store puts each component from the first of its channels that selects it.
fn stores_by_resource(
    bench: &mut Bench,
    (dfmt, nfmt): (usize, u8),
    select: [u64; 4],
    memory: &[u8],
    state: &WaveState,
) {
    let (arch, widths, bytes) = (bench.machine.arch(), WIDTHS[dfmt], memory.len() / 64);
    let mut forms: Vec<(String, usize, Option<u32>)> = Vec::new();
    for (last, channels) in CHANNELS.iter().enumerate() {
        forms.push((format!("buffer_store_format_{channels}"), last, None));
        forms.push((format!("buffer_store_format_d16_{channels}"), last, Some(0)));
    }
    if has_high_halves(arch) {
        forms.push(("buffer_store_format_d16_hi_x".to_owned(), 0, Some(16)));
    }
    for (name, last, half) in forms {
        bench.machine.write(bench.buffer, memory).expect("writing");
        instruction(arch, &name, 4, None).run(&mut bench.machine, state).expect("a store");
        let contents = bench.contents();
        for lane in active(state.exec).filter(|lane| *lane < 56) {
            let mut expected = memory[lane * bytes..][..bytes].to_vec();
            let mut nan = false;
            for index in 0..widths.len() {
                let selects = |select: &u64| *select == index as u64 + 4;
                let Some(channel) = select[..=last].iter().position(selects) else { continue };
                let value = match half {
                    None => state.vgpr(8 + channel)[lane],
                    Some(shift) => {
                        let (register, first) = half_at(arch, channel);
                        let raw = (state.vgpr(register)[lane] >> first >> shift) as u16;
                        match nfmt {
                            UINT => u32::from(raw),
                            SINT => i32::from(raw as i16) as u32,
                            _ => half_to_f32(raw).to_bits(),
                        }
                    }
                };
                nan |= f32::from_bits(value).is_nan() && nfmt == FLOAT;
                set_component(&mut expected, widths, index, packed(value, widths[index], nfmt));
            }
            let found = &contents[lane * bytes..][..bytes];
            assert!(
                nan || found == expected,
                "{arch} {name} {dfmt} {nfmt} {select:?}: lane {lane}: {found:x?}, not {expected:x?}"
            );
        }
    }
}

#[test]
pub(crate) fn formats_that_do_not_exist_are_named() {
    let mut random = Random(73);
    let mut bench = Bench::new(Arch::Gfx90a, &[0; 1024]);
    let state = state(&mut random, &bench, 4, 4 << 15);
    for (dfmt, nfmt) in [(0, UINT), (15, UINT), (4, 6), (10, FLOAT), (8, FLOAT)] {
        let snippet = instruction(Arch::Gfx90a, "tbuffer_load_format_x", 1, Some((dfmt, nfmt)));
        let fault = snippet.run(&mut bench.machine, &state).expect_err("no format");
        assert!(
            matches!(fault.kind, FaultKind::Unimplemented { form, .. } if form.contains("format")),
            "{fault}"
        );
    }
}
