//! DS loads, stores and what is odd about them.

use amdgpu_isa::{Arch, Feature, Target};
use amdinst_emu::{FaultKind, MemorySpace, WaveState};

use super::{Bench, Random, active, exists, number, small, whole};
use crate::targets::TARGETS;

const LDS: usize = 4096;

/// Addresses at any byte, and lanes that differ.
fn state(random: &mut Random, target: Target, reach: u64) -> WaveState {
    let mut state = WaveState { lds: random.bytes(LDS), exec: random.exec(target), ..WaveState::default() };
    state.set_vgpr(0, std::array::from_fn(|_| random.below(LDS as u64 - reach) as u32));
    for register in 1..12 {
        state.set_vgpr(register, random.register());
    }
    state
}

#[test]
pub(crate) fn loads() {
    let mut random = Random(1);
    for (name, bytes) in [
        ("ds_read_b32", 4),
        ("ds_read_b64", 8),
        ("ds_read_b96", 12),
        ("ds_read_b128", 16),
        ("ds_read_u8", 1),
        ("ds_read_i8", 1),
        ("ds_read_u16", 2),
        ("ds_read_i16", 2),
        ("ds_read_u8_d16", 1),
        ("ds_read_u8_d16_hi", 1),
        ("ds_read_i8_d16", 1),
        ("ds_read_i8_d16_hi", 1),
        ("ds_read_u16_d16", 2),
        ("ds_read_u16_d16_hi", 2),
    ] {
        for target in TARGETS {
            for _ in 0..4 {
                let offset = random.below(256);
                let state = state(&mut random, target, 300);
                let result = match bytes {
                    8 => "v[4:5]",
                    12 => "v[4:6]",
                    16 => "v[4:7]",
                    _ => "v4",
                };
                if !exists(target, &format!("{name} {result}, v0")) {
                    continue;
                }
                let after =
                    Bench::new(target, &[0]).good(&format!("{name} {result}, v0 offset:{offset}"), &state);
                let mut expected = state.clone();
                for lane in active(state.exec) {
                    let at = (u64::from(state.vgpr(0)[lane]) + offset) as usize;
                    let data = &state.lds[at..at + bytes];
                    if bytes < 4 {
                        expected.vgprs[4][lane] = small(target.arch, name, data, state.vgpr(4)[lane]);
                    } else {
                        for (register, dword) in data.chunks(4).enumerate() {
                            expected.vgprs[4 + register][lane] = number(dword) as u32;
                        }
                    }
                }
                assert_eq!(after, expected, "{target:?} {name}");
            }
        }
    }
}

#[test]
pub(crate) fn stores() {
    let mut random = Random(2);
    for (name, data, bytes, first) in [
        ("ds_write_b8", "v4", 1, 0),
        ("ds_write_b16", "v4", 2, 0),
        ("ds_write_b8_d16_hi", "v4", 1, 2),
        ("ds_write_b16_d16_hi", "v4", 2, 2),
        ("ds_write_b32", "v4", 4, 0),
        ("ds_write_b64", "v[4:5]", 8, 0),
        ("ds_write_b96", "v[4:6]", 12, 0),
        ("ds_write_b128", "v[4:7]", 16, 0),
    ] {
        for target in TARGETS {
            for _ in 0..4 {
                if !exists(target, &format!("{name} v0, {data}")) {
                    continue;
                }
                let offset = random.below(256);
                let state = state(&mut random, target, 300);
                let after =
                    Bench::new(target, &[0]).good(&format!("{name} v0, {data} offset:{offset}"), &state);
                let mut expected = state.clone();
                for lane in active(state.exec) {
                    let at = (u64::from(state.vgpr(0)[lane]) + offset) as usize;
                    let source: Vec<u8> =
                        (4..8).flat_map(|register| state.vgpr(register)[lane].to_le_bytes()).collect();
                    expected.lds[at..at + bytes].copy_from_slice(&source[first..first + bytes]);
                }
                assert_eq!(after, expected, "{target:?} {name}");
            }
        }
    }
}

#[test]
pub(crate) fn two_addresses() {
    let mut random = Random(3);
    for (width, unit, high) in [("b32", 4usize, ""), ("b64", 8, ""), ("b32", 4, "st64"), ("b64", 8, "st64")] {
        for target in TARGETS {
            for round in 0..6 {
                let scale = unit * if high.is_empty() { 1 } else { 64 };
                let [first, second] = [0; 2].map(|_| random.below(if high.is_empty() { 200 } else { 6 }));
                let second = if round == 0 { first } else { second };
                let state = state(&mut random, target, 3200);
                let dwords = unit / 4;
                let tuple = |at: usize, count: usize| {
                    if count == 1 { format!("v{at}") } else { format!("v[{at}:{}]", at + count - 1) }
                };
                let offsets = format!("offset0:{first} offset1:{second}");
                let places = |lane: usize| {
                    [first, second].map(|offset| state.vgpr(0)[lane] as usize + offset as usize * scale)
                };
                let data = |register: usize, lane: usize| -> Vec<u8> {
                    (0..dwords).flat_map(|dword| state.vgpr(register + dword)[lane].to_le_bytes()).collect()
                };

                let text = format!("ds_read2{high}_{width} {}, v0 {offsets}", tuple(8, 2 * dwords));
                let after = Bench::new(target, &[0]).good(&text, &state);
                let mut expected = state.clone();
                for lane in active(state.exec) {
                    for (half, at) in places(lane).into_iter().enumerate() {
                        for dword in 0..dwords {
                            let from = at + 4 * dword;
                            expected.vgprs[8 + half * dwords + dword][lane] =
                                number(&state.lds[from..from + 4]) as u32;
                        }
                    }
                }
                assert_eq!(after, expected, "{target:?} {text}");

                let text = format!(
                    "ds_write2{high}_{width} v0, {}, {} {offsets}",
                    tuple(2, dwords),
                    tuple(4, dwords)
                );
                let after = Bench::new(target, &[0]).good(&text, &state);
                let mut expected = state.clone();
                for lane in active(state.exec) {
                    let [a, b] = places(lane);
                    expected.lds[a..a + unit].copy_from_slice(&data(2, lane));
                    if a != b {
                        expected.lds[b..b + unit].copy_from_slice(&data(4, lane));
                    }
                }
                assert_eq!(after, expected, "{target:?} {text}");
            }
        }
    }
}

/// Both places are read before either is written, and lanes come in order, also where data and result
/// registers and the lanes' places overlap.
#[test]
pub(crate) fn exchanges_of_two() {
    let mut random = Random(4);
    for (text, unit, scale) in [
        ("ds_wrxchg2_rtn_b32 v[2:3], v0, v2, v4", 4usize, 4),
        ("ds_wrxchg2_rtn_b32 v[2:3], v0, v4, v2", 4, 4),
        ("ds_wrxchg2st64_rtn_b32 v[2:3], v0, v4, v6", 4, 256),
        ("ds_wrxchg2_rtn_b64 v[2:5], v0, v[2:3], v[4:5]", 8, 8),
        ("ds_wrxchg2st64_rtn_b64 v[2:5], v0, v[4:5], v[2:3]", 8, 512),
    ] {
        for target in TARGETS {
            for [first, second] in [[0, 1], [1, 0], [3, 3]] {
                let mut state = state(&mut random, target, 2048);
                // Few places, so that lanes meet, at multiples of the unit.
                state.vgprs[0] = std::array::from_fn(|_| (random.below(4) * unit as u64) as u32);
                let whole = format!("{text} offset0:{first} offset1:{second}");
                let after = Bench::new(target, &[0]).good(&whole, &state);
                let mut expected = state.clone();
                let operands: Vec<usize> = text.split('v').skip(1).filter_map(first_number).collect();
                let [result, _, data0, data1] = operands[..] else { panic!("{operands:?}") };
                for lane in active(state.exec) {
                    let [a, b] = [first, second].map(|offset| state.vgpr(0)[lane] as usize + offset * scale);
                    let old = [a, b].map(|at| expected.lds[at..at + unit].to_vec());
                    let new = [data0, data1].map(|register| -> Vec<u8> {
                        (0..unit / 4)
                            .flat_map(|dword| state.vgpr(register + dword)[lane].to_le_bytes())
                            .collect()
                    });
                    if a != b {
                        expected.lds[b..b + unit].copy_from_slice(&new[1]);
                    }
                    expected.lds[a..a + unit].copy_from_slice(&new[0]);
                    for (index, dword) in old.concat().chunks(4).enumerate() {
                        expected.vgprs[result + index][lane] = number(dword) as u32;
                    }
                }
                assert_eq!(after, expected, "{target:?} {whole}");
            }
        }
    }
}

fn first_number(text: &str) -> Option<usize> {
    let digits: String =
        text.trim_start_matches('[').chars().take_while(|character| character.is_ascii_digit()).collect();
    digits.parse().ok()
}

/// Where M0 says how large LDS is, what lies beyond is out of bounds: for instructions of LDS, not for those
/// of FLAT.
#[test]
pub(crate) fn lds_ends_where_m0_says() {
    for target in TARGETS {
        let limited = target.arch.has(Feature::LdsLimitInM0);
        for (m0, address, is_beyond) in
            [(64, 60, false), (64, 61, true), (64, 64, true), (0, 0, true), (u32::MAX, 252, false)]
        {
            let mut state = WaveState { m0, exec: 1, lds: vec![7; 256], ..WaveState::default() };
            state.set_vgpr(0, [address; 64]);
            // Behind an instruction of another kind, so that M0 is left as it is.
            for text in ["ds_read_b32 v1, v0", "ds_write_b32 v0, v0", "ds_add_u32 v0, v0"] {
                let must_be_aligned = text.starts_with("ds_add") && address % 4 != 0;
                let fault = Bench::new(target, &[0]).run(&format!("s_nop 0\n{text}"), &state).err();
                let told = fault.map(|fault| fault.to_string()).unwrap_or_default();
                let expected = limited && is_beyond && !must_be_aligned;
                assert_eq!(
                    told.contains("out of bounds"),
                    expected,
                    "{target:?} {text} {address} {m0}: {told}"
                );
            }
        }
        let mut state = WaveState { exec: 1, lds: vec![7; 256], ..WaveState::default() };
        state.set_vgpr_pair(0, [amdinst_emu::SHARED_APERTURE + 128; 64]);
        let after = Bench::new(target, &[0]).good("flat_load_dword v2, v[0:1]", &state);
        assert_eq!(after.vgpr(2)[0], 0x0707_0707, "{target:?}");
    }
}

#[test]
pub(crate) fn addressed_by_m0() {
    let mut random = Random(5);
    for target in TARGETS {
        for _ in 0..8 {
            let mut state = state(&mut random, target, 300);
            state.m0 = 0xabcd_0000 | (random.below(64) as u32 * 4);
            let base = (state.m0 & 0xffff) as usize;
            let offset = random.below(32) as usize * 4;
            let place = |lane: usize| base + offset + 4 * lane;

            if exists(target, "ds_read_addtid_b32 v4") {
                let after =
                    Bench::new(target, &[0]).good(&format!("ds_read_addtid_b32 v4 offset:{offset}"), &state);
                let mut expected = state.clone();
                for lane in active(state.exec) {
                    expected.vgprs[4][lane] = number(&state.lds[place(lane)..place(lane) + 4]) as u32;
                }
                assert_eq!(after, expected, "{target:?} ds_read_addtid_b32");

                let after =
                    Bench::new(target, &[0]).good(&format!("ds_write_addtid_b32 v4 offset:{offset}"), &state);
                let mut expected = state.clone();
                for lane in active(state.exec) {
                    expected.lds[place(lane)..place(lane) + 4]
                        .copy_from_slice(&state.vgpr(4)[lane].to_le_bytes());
                }
                assert_eq!(after, expected, "{target:?} ds_write_addtid_b32");
            }
            for (name, sign) in [("ds_append", 1i64), ("ds_consume", -1)] {
                let after = Bench::new(target, &[0]).good(&format!("{name} v4 offset:{offset}"), &state);
                let at = base + offset;
                let old = number(&state.lds[at..at + 4]);
                let lanes = sign * i64::from(state.exec.count_ones());
                let mut expected = state.clone();
                let new = (old as i64 + lanes) as u32;
                expected.lds[at..at + 4].copy_from_slice(&new.to_le_bytes());
                for lane in active(state.exec) {
                    expected.vgprs[4][lane] = old as u32;
                }
                assert_eq!(after, expected, "{target:?} {name}");
            }
        }
    }
}

/// CDNA4 ISA manual, "MFMA Transpose Load from LDS": 16 lanes hold a matrix with 16 columns, row after row;
/// each gets a column.
#[test]
pub(crate) fn transposing_loads() {
    let mut random = Random(6);
    for (name, result, bits, bytes) in [
        ("ds_read_b64_tr_b16", "v[4:5]", 16usize, 8usize),
        ("ds_read_b64_tr_b8", "v[4:5]", 8, 8),
        ("ds_read_b64_tr_b4", "v[4:5]", 4, 8),
        ("ds_read_b96_tr_b6", "v[4:6]", 6, 12),
    ] {
        assert!(!exists(Arch::Gfx942, &format!("{name} {result}, v0")));
        let mut state = state(&mut random, Arch::Gfx950.into(), 300);
        state.exec = u64::MAX;
        state.vgprs[0] = std::array::from_fn(|_| (random.below(100) * 8 + 64) as u32);
        let after = Bench::new(Arch::Gfx950, &[0]).good(&format!("{name} {result}, v0 offset:16"), &state);
        let mut expected = state.clone();
        for group in 0..4 {
            let mut elements = Vec::new();
            for lane in 16 * group..16 * group + 16 {
                let at = state.vgpr(0)[lane] as usize + 16;
                let bit = |index: usize| state.lds[at + index / 8] >> (index % 8) & 1;
                for element in 0..8 * bytes / bits {
                    elements.push(
                        (0..bits).map(|index| u32::from(bit(element * bits + index)) << index).sum::<u32>(),
                    );
                }
            }
            let rows: Vec<&[u32]> = elements.chunks(16).collect();
            for column in 0..16 {
                let mut packed = vec![0u32; bytes / 4];
                for (row, values) in rows.iter().enumerate() {
                    for index in 0..bits {
                        let to = row * bits + index;
                        packed[to / 32] |= (values[column] >> index & 1) << (to % 32);
                    }
                }
                for (dword, value) in packed.into_iter().enumerate() {
                    expected.vgprs[4 + dword][16 * group + column] = value;
                }
            }
        }
        assert_eq!(after, expected, "{name}");
    }
}

/// The order of the 16-bit form as measured on hardware, in the words of ROCm/rocm-systems#10175.
#[test]
pub(crate) fn the_transpose_of_halves_is_the_measured_one() {
    let mut state = WaveState { lds: vec![0; 512], ..WaveState::default() };
    for lane in 0..64 {
        for half in 0..4 {
            let at = 8 * lane + 2 * half;
            state.lds[at..at + 2].copy_from_slice(&((lane << 4 | half) as u16).to_le_bytes());
        }
    }
    state.set_vgpr(0, std::array::from_fn(|lane| 8 * lane as u32));
    let after = Bench::new(Arch::Gfx950, &[0]).good("ds_read_b64_tr_b16 v[2:3], v0", &state);
    for lane in 0..64usize {
        for half in 0..4 {
            let from = (lane & !0xf | lane >> 2 & 3) + 4 * half;
            let got = after.vgpr(2 + half / 2)[lane] >> (16 * (half % 2)) & 0xffff;
            assert_eq!(got as usize, from << 4 | lane & 3, "lane {lane}, half {half}");
        }
    }
}

#[test]
pub(crate) fn outside_of_lds_and_misaligned_atomics_are_faults() {
    for target in TARGETS {
        let mut bench = Bench::new(target, &[0]);
        let size = target.wave.lanes();
        let mut state = WaveState { lds: vec![0; size as usize], ..whole(target) };
        state.set_vgpr(0, std::array::from_fn(|lane| lane as u32));
        let fault = bench.run("ds_read_b32 v1, v0", &state).expect_err("past the end");
        let last = u64::from(size) - 3;
        assert!(
            matches!(
                fault.kind,
                FaultKind::OutOfBounds { space: MemorySpace::Lds, address, size: 4, write: false, .. } if address == last
            ),
            "{target:?}: {fault}"
        );
        assert_eq!(fault.lane, Some(last as u8));
        // One below zero is not the end of LDS.
        state.set_vgpr(0, [u32::MAX; 64]);
        assert!(bench.run("ds_write_b8 v0, v1", &state).is_err());
        state.set_vgpr(0, [4; 64]);
        for (text, required) in [("ds_add_u32 v0, v1 offset:2", 4), ("ds_add_u64 v0, v[2:3]", 8)] {
            let fault = bench.run(text, &state).expect_err("misaligned");
            assert!(
                matches!(&fault.kind, FaultKind::Misaligned { space: MemorySpace::Lds, required: at, .. } if *at == required),
                "{target:?}: {fault}"
            );
        }
    }
}
