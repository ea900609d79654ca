//! FLAT, GLOBAL and SCRATCH loads and stores: every width, kind of address and aperture.

use amdgpu_isa::{Arch, Feature, Generation, Target, WaveSize, opcodes};
use amdinst_emu::WaveState;

use super::spelling::{flat_offsets, global_offsets};
use super::{Bench, Random, active, exists, number, small, whole};
use crate::targets::{TARGETS, is_gcn, is_gfx12};

/// Suffix, bytes.
const LOADS: [(&str, usize); 14] = [
    ("ubyte", 1),
    ("sbyte", 1),
    ("ushort", 2),
    ("sshort", 2),
    ("dword", 4),
    ("dwordx2", 8),
    ("dwordx3", 12),
    ("dwordx4", 16),
    ("ubyte_d16", 1),
    ("ubyte_d16_hi", 1),
    ("sbyte_d16", 1),
    ("sbyte_d16_hi", 1),
    ("short_d16", 2),
    ("short_d16_hi", 2),
];
/// Suffix, bytes, first byte of the data registers.
const STORES: [(&str, usize, usize); 8] = [
    ("byte", 1, 0),
    ("byte_d16_hi", 1, 2),
    ("short", 2, 0),
    ("short_d16_hi", 2, 2),
    ("dword", 4, 0),
    ("dwordx2", 8, 0),
    ("dwordx3", 12, 0),
    ("dwordx4", 16, 0),
];

fn registers(first: usize, bytes: usize) -> String {
    if bytes <= 4 { format!("v{first}") } else { format!("v[{first}:{}]", first + bytes / 4 - 1) }
}

/// The state after a load of `bytes` to v8.
fn loaded(
    target: Target,
    state: &WaveState,
    name: &str,
    bytes: usize,
    data: impl Fn(usize) -> Vec<u8>,
) -> WaveState {
    let mut expected = state.clone();
    for lane in active(state.exec) {
        let data = data(lane);
        if bytes < 4 {
            expected.vgprs[8][lane] = small(target.arch, name, &data, state.vgpr(8)[lane]);
        } else {
            for (index, dword) in data.chunks(4).enumerate() {
                expected.vgprs[8 + index][lane] = number(dword) as u32;
            }
        }
    }
    expected
}

fn data_of(state: &WaveState, lane: usize) -> Vec<u8> {
    (8..12).flat_map(|register| state.vgpr(register)[lane].to_le_bytes()).collect()
}

fn state(random: &mut Random, target: Target) -> WaveState {
    let mut state = WaveState { exec: random.exec(target), ..WaveState::default() };
    for register in 0..12 {
        state.set_vgpr(register, random.register());
    }
    state
}

/// Device memory by vector address, by scalar base and vector offset, and by flat address; at any byte.
#[test]
pub(crate) fn device_memory() {
    let mut random = Random(30);
    const SIZE: u64 = 8192;
    for target in TARGETS {
        for way in ["global", "global saddr", "flat"] {
            for round in 0..LOADS.len() + STORES.len() {
                let mut bench = Bench::new(target, &random.bytes(SIZE as usize));
                let mut state = state(&mut random, target);
                let (least, count) =
                    if way == "flat" { flat_offsets(target) } else { global_offsets(target) };
                let offset = match random.below(8) {
                    0 => least,
                    1 => least + count as i64 - 1,
                    _ => random.below(count) as i64 + least,
                };
                let places: [u64; 64] = std::array::from_fn(|_| random.below(SIZE - 16));
                let start = bench.buffer.wrapping_sub(3 << 30);
                state.set_vgpr_pair(
                    0,
                    places.map(|place| bench.buffer.wrapping_add_signed(place as i64 - offset)),
                );
                state.set_vgpr(2, places.map(|place| (place as i64 - offset + (3 << 30)) as u32));
                state.set_sgpr_pair(4, start);
                let address = |data: Option<&str>| {
                    let data = data.map_or(String::new(), |data| format!(", {data}"));
                    match way {
                        "global" => format!("v[0:1]{data}, off offset:{offset}"),
                        "global saddr" => format!("v2{data}, s[4:5] offset:{offset}"),
                        _ => format!("v[0:1]{data} offset:{offset}"),
                    }
                };
                let kind = way.split(' ').next().unwrap_or_default();
                let name = LOADS.get(round).map_or_else(
                    || format!("store_{}", STORES[round - LOADS.len()].0),
                    |(name, _)| format!("load_{name}"),
                );
                if !has(target, &format!("{kind}_{name}")) {
                    continue;
                }
                let before = bench.contents();
                if let Some((name, bytes)) = LOADS.get(round) {
                    let text = format!("{kind}_load_{name} {}, {}", registers(8, *bytes), address(None));
                    let after = bench.good(&text, &state);
                    let expected =
                        loaded(target, &state, text.split(' ').next().unwrap_or_default(), *bytes, |lane| {
                            before[places[lane] as usize..][..*bytes].to_vec()
                        });
                    assert_eq!(after, expected, "{target:?} {text}");
                    assert_eq!(bench.contents(), before);
                } else {
                    let (name, bytes, first) = STORES[round - LOADS.len()];
                    let text = format!("{kind}_store_{name} {}", address(Some(&registers(8, bytes))));
                    let after = bench.good(&text, &state);
                    let mut expected = before;
                    for lane in active(state.exec) {
                        let data = data_of(&state, lane);
                        expected[places[lane] as usize..][..bytes]
                            .copy_from_slice(&data[first..first + bytes]);
                    }
                    assert_eq!(after, state, "{target:?} {text}");
                    assert!(bench.contents() == expected, "{target:?} {text}");
                }
            }
        }
    }
}

/// Whether a processor has an instruction of GFX9's name.
fn has(target: Target, name: &str) -> bool {
    target.arch.generation() != Generation::Gfx8 || opcodes(target).any(|opcode| opcode.op().name() == name)
}

/// Has s1 the high half of the addresses of an aperture: where no source is one, the queue says it (AMDGPU
/// user guide, `amd_queue_t`), and the emulator's constants are what it says.
fn aperture(target: Target, source: &str, base: u64) -> String {
    match target.arch.has(Feature::ApertureRegisters) {
        true => format!("s_mov_b64 s[0:1], {source}"),
        false => format!("s_mov_b32 s1, {:#x}", base >> 32),
    }
}

/// Flat addresses in the shared aperture reach LDS: `src_shared_base` is its first byte.
#[test]
pub(crate) fn flat_into_lds() {
    let mut random = Random(31);
    for target in TARGETS {
        let shared = aperture(target, "src_shared_base", amdinst_emu::SHARED_APERTURE);
        let offset = if target.arch.has(Feature::FlatOffsets) { 16 } else { 0 };
        for (name, bytes) in LOADS.into_iter().filter(|(name, _)| has(target, &format!("flat_load_{name}"))) {
            let mut state = state(&mut random, target);
            state.lds = random.bytes(4096);
            state.set_vgpr(0, std::array::from_fn(|_| random.below(4000) as u32));
            let load = format!("flat_load_{name}");
            let text =
                format!("{shared}\nv_mov_b32 v1, s1\n{load} {}, v[0:1] offset:{offset}", registers(8, bytes));
            let after = Bench::new(target, &[0]).good(&text, &state);
            let mut expected = loaded(target, &state, &load, bytes, |lane| {
                state.lds[state.vgpr(0)[lane] as usize + offset..][..bytes].to_vec()
            });
            expected.vgprs[1] = after.vgpr(1);
            expected.sgprs = after.sgprs;
            assert_eq!(after, expected, "{target:?} {text}");
        }
        for (name, bytes, first) in
            STORES.into_iter().filter(|(name, ..)| has(target, &format!("flat_store_{name}")))
        {
            let mut state = state(&mut random, target);
            state.lds = random.bytes(4096);
            state.set_vgpr(0, std::array::from_fn(|_| random.below(4000) as u32));
            let text = format!(
                "{shared}\nv_mov_b32 v1, s1\nflat_store_{name} v[0:1], {} offset:{offset}",
                registers(8, bytes)
            );
            let after = Bench::new(target, &[0]).good(&text, &state);
            let mut lds = state.lds.clone();
            for lane in active(state.exec) {
                let data = data_of(&state, lane);
                lds[state.vgpr(0)[lane] as usize + offset..][..bytes]
                    .copy_from_slice(&data[first..first + bytes]);
            }
            assert_eq!(after.lds, lds, "{target:?} {text}");
        }
    }
}

/// Device address of the wave's private memory, as the loader would put it into FLAT_SCRATCH.
const SCRATCH: u64 = 0x7d00_0000_0000;

/// A private array of each lane: what one instruction stores, another of any width loads, by scratch
/// instructions and by flat addresses in the private aperture.
#[test]
pub(crate) fn private_memory() {
    let mut random = Random(32);
    for target in TARGETS {
        for round in 0..60 {
            let mut state = state(&mut random, target);
            state.scratch = 256;
            let by_offset = target.arch.generation() == Generation::Gfx8;
            // A size, and an offset of zero.
            state.flat_scratch = if by_offset { 256 } else { SCRATCH };
            state.set_vgpr(0, std::array::from_fn(|_| random.below(200) as u32));
            let places = state.vgpr(0).map(|place| place as usize);
            let (store, stored, first) = STORES[round % STORES.len()];
            let (load, bytes) = LOADS[round % LOADS.len()];
            let constant = if by_offset { 0 } else { 4 * random.below(4) };
            if !has(target, &format!("flat_store_{store}")) || !has(target, &format!("flat_load_{load}")) {
                continue;
            }
            let private = aperture(target, "src_private_base", amdinst_emu::PRIVATE_APERTURE);
            let by_flat = format!("{private}\nv_mov_b32 v1, s1\n");
            // By vector offset, by flat address, and (where there is such a form) by both a scalar and a
            // vector offset. RDNA has it with neither, too: all lanes at the same place.
            let (prefix, place) = match round % 5 {
                _ if by_offset => (&*by_flat, "v[0:1]".to_owned()),
                0 => ("", "v0, off".to_owned()),
                1 => (&*by_flat, "v[0:1]".to_owned()),
                2 if exists(target, "scratch_load_dword v1, off, off offset:4") => {
                    ("", "off, off".to_owned())
                }
                3 => ("", "off, s20".to_owned()),
                _ if exists(target, "scratch_load_dword v1, v0, s20") => ("", "v0, s20".to_owned()),
                _ => ("", "v0, off".to_owned()),
            };
            let scalar = if place.contains("s20") { 8 } else { 0 };
            let is_by_vector = place.starts_with('v');
            state.sgprs[20] = 8;
            // Offsets have a sign there (RDNA4 ISA, section 11.2.2): what is too much in one is taken off by
            // the other.
            if scalar != 0 && is_by_vector && is_gfx12(target) {
                state.sgprs[20] = 8_u32.wrapping_sub(1000);
                state.set_vgpr(0, places.map(|place| place as u32 + 1000));
            }
            let kind = if prefix.is_empty() { "scratch" } else { "flat" };
            let data = registers(8, stored);
            let stored_to = place.replacen(',', &format!(", {data},"), 1);
            let stored_to = if prefix.is_empty() { stored_to } else { format!("{place}, {data}") };
            let text = format!(
                "{prefix}{kind}_store_{store} {stored_to} offset:{constant}\n{kind}_load_{load} {}, {place} offset:{constant}",
                registers(8, bytes)
            );
            let after = Bench::new(target, &[0]).good(&text, &state);
            let expected = loaded(target, &state, load, bytes, |lane| {
                let mut memory = vec![0; 512];
                let place = if is_by_vector { places[lane] } else { 0 };
                let at = place + constant as usize + scalar;
                memory[at..at + stored].copy_from_slice(&data_of(&state, lane)[first..first + stored]);
                memory[at..at + bytes].to_vec()
            });
            for register in 8..12 {
                assert_eq!(after.vgpr(register), expected.vgpr(register), "{target:?} {text}");
            }
        }
    }
}

/// The interleaving: dword `n` of lane `l` is at byte `4 (n lanes + l)` of the wave's part. Of waves of 32
/// lanes only buffer resources are read so (`memory/buffers.rs`): what they have has room for 64 lanes here.
#[test]
pub(crate) fn private_memory_is_interleaved() {
    let with_scratch = |target: &Target| has(*target, "scratch_store_dword");
    let targets = TARGETS.into_iter().filter(|target| target.wave == WaveSize::Wave64);
    for target in targets.filter(with_scratch) {
        let mut state = WaveState { scratch: 64, flat_scratch: SCRATCH, ..whole(target) };
        state.set_vgpr(0, [8; 64]);
        state.set_vgpr(1, std::array::from_fn(|lane| 1000 + lane as u32));
        state.set_sgpr_pair(2, SCRATCH);
        // Two dwords of as many lanes as there are come first.
        let at = 2 * 4 * target.wave.lanes();
        let text = format!(
            "scratch_store_dword v0, v1, off\ns_load_dword s4, s[2:3], {}\ns_load_dwordx2 s[6:7], s[2:3], {}",
            at + 12,
            at + 8
        );
        let after = Bench::new(target, &[0]).good(&text, &state);
        assert_eq!((after.sgprs[4], after.sgprs[6], after.sgprs[7]), (1003, 1002, 1003), "{target:?}");
    }
}

/// Cache policies do not change results.
#[test]
pub(crate) fn cache_policies() {
    for target in TARGETS {
        let policies: &[&str] = match target.arch {
            Arch::Gfx942 | Arch::Gfx950 => &["sc0", "nt", "sc1", "sc0 nt sc1"],
            Arch::Gfx90a => &["glc", "slc", "scc", "glc slc scc"],
            Arch::Gfx1201 => &["th:1", "scope:SCOPE_DEV", "th:3 scope:SCOPE_SYS"],
            _ if is_gcn(target) => &["glc", "slc", "glc slc"],
            _ => &["glc", "slc", "dlc", "glc slc dlc"],
        };
        for policy in policies {
            let mut bench = Bench::new(target, &[1, 2, 3, 4, 5, 6, 7, 8]);
            let mut state = whole(target);
            state.set_vgpr_pair(0, [bench.buffer; 64]);
            let mut text = format!(
                "global_load_dword v2, v[0:1], off {policy}\nflat_store_dword v[0:1], v2 offset:4 {policy}"
            );
            if target.arch.generation() == Generation::Gfx8 {
                state.set_vgpr_pair(4, [bench.buffer + 4; 64]);
                text = format!("flat_load_dword v2, v[0:1] {policy}\nflat_store_dword v[4:5], v2 {policy}");
            }
            let after = bench.good(&text, &state);
            assert_eq!(after.vgpr(2)[..32], [0x0403_0201; 32]);
            assert_eq!(bench.contents(), [1, 2, 3, 4, 1, 2, 3, 4], "{target:?} {policy}");
        }
    }
}

/// What lanes have one behind the other from a scalar address on (RDNA3 ISA, section 11.1: the address, the
/// offset, four bytes a lane).
#[test]
pub(crate) fn addressed_by_lane() {
    let mut random = Random(33);
    let mut count = 0;
    for target in TARGETS {
        if !exists(target, "global_load_addtid_dword v8, s[4:5]") {
            continue;
        }
        count += 1;
        for _ in 0..8 {
            let mut bench = Bench::new(target, &random.bytes(1024));
            let mut state = state(&mut random, target);
            let (place, (least, reach)) = (4 * random.below(150), global_offsets(target));
            let offset = (random.below(reach) as i64 + least) & !3;
            state.set_sgpr_pair(4, bench.buffer.wrapping_add_signed(place as i64 - offset));
            let before = bench.contents();
            let text = format!("global_load_addtid_dword v8, s[4:5] offset:{offset}");
            let expected =
                loaded(target, &state, "", 4, |lane| before[place as usize + 4 * lane..][..4].to_vec());
            assert_eq!(bench.good(&text, &state), expected, "{target:?} {text}");
            let text = format!("global_store_addtid_dword v9, s[4:5] offset:{offset}");
            let mut memory = before;
            for lane in active(state.exec) {
                memory[place as usize + 4 * lane..][..4].copy_from_slice(&state.vgpr(9)[lane].to_le_bytes());
            }
            assert_eq!(bench.good(&text, &state), state, "{target:?} {text}");
            assert!(bench.contents() == memory, "{target:?} {text}");
        }
    }
    assert!(count >= 8, "{count}");
}
