//! SMEM: loads, stores, clocks.

use amdgpu_isa::{Arch, Generation};
use amdinst_emu::{FaultKind, MemorySpace, WaveState};

use super::buffers::resource;
use super::{Bench, Random, exists, number, whole};
use crate::targets::{PROCESSORS, TARGETS, is_gcn, is_gfx12};

/// Three dwords are RDNA 4's.
const WIDTHS: [(&str, usize); 6] = [("", 1), ("x2", 2), ("x4", 4), ("x8", 8), ("x16", 16), ("x3", 3)];

fn registers(first: usize, dwords: usize) -> String {
    if dwords == 1 { format!("s{first}") } else { format!("s[{first}:{}]", first + dwords - 1) }
}

#[test]
pub(crate) fn loads() {
    let mut random = Random(40);
    for target in TARGETS {
        for (suffix, dwords) in WIDTHS {
            for way in 0..4 {
                let mut bench = Bench::new(target, &random.bytes(4096));
                let mut state = WaveState { exec: 0, ..WaveState::default() };
                let at = 4 * random.below(900) as i64;
                let register = 4 * random.below(1 << 18) as i64;
                let (base, operand) = match way {
                    0 => (at - 0x40, "0x40"),
                    1 => (at - register, "s9"),
                    // Where there is such a form, with what its offset may be.
                    2 => (at - register - 0x1ffc, "s9 offset:0x1ffc"),
                    3 if is_gcn(target) => continue,
                    3 if is_gfx12(target) => (at + (1 << 23), "-0x800000"),
                    _ => (at + (1 << 20), "-0x100000"),
                };
                state.set_sgpr_pair(2, bench.buffer.wrapping_add_signed(base));
                state.sgprs[9] = register as u32;
                let text = format!("s_load_dword{suffix} {}, s[2:3], {operand}", registers(32, dwords));
                if (way == 2 || dwords == 3) && !exists(target, &text) {
                    continue;
                }
                let contents = bench.contents();
                let after = bench.good(&text, &state);
                let mut expected = state.clone();
                for dword in 0..dwords {
                    let from = at as usize + 4 * dword;
                    expected.sgprs[32 + dword] = number(&contents[from..from + 4]) as u32;
                }
                assert_eq!(after, expected, "{target:?} {text}");
            }
        }
    }
}

/// Each dword is checked by itself: bytes without a stride, records with one.
#[test]
pub(crate) fn loads_from_buffers() {
    let mut random = Random(41);
    for target in TARGETS {
        for (suffix, dwords) in WIDTHS {
            for _ in 0..8 {
                let mut bench = Bench::new(target, &random.bytes(1024));
                let mut state = whole(target);
                let stride = [0, 4, 12][random.below(3) as usize];
                let records = if stride == 0 { random.below(512) } else { random.below(128) };
                let size = (records * stride.max(1)) as usize;
                state.set_sgpr_pair(4, bench.buffer | stride << 48);
                state.set_sgpr_pair(6, resource(target, records));
                let at = 4 * random.below(150) as usize;
                // Two bits that do not count.
                let text =
                    format!("s_buffer_load_dword{suffix} {}, s[4:7], {:#x}", registers(32, dwords), at + 3);
                if dwords == 3 && !exists(target, &text) {
                    continue;
                }
                let contents = bench.contents();
                let after = bench.good(&text, &state);
                let mut expected = state.clone();
                for dword in 0..dwords {
                    let from = at + 4 * dword;
                    let inside = from + 4 <= size;
                    expected.sgprs[32 + dword] =
                        if inside { number(&contents[from..from + 4]) as u32 } else { 0 };
                }
                assert_eq!(after, expected, "{target:?} {text}: stride {stride}, {records} records");
            }
        }
    }
}

#[test]
pub(crate) fn stores() {
    let mut random = Random(42);
    for target in TARGETS {
        for (suffix, dwords) in &WIDTHS[..3] {
            let mut bench = Bench::new(target, &random.bytes(256));
            let mut state = whole(target);
            state.sgprs[32..36].copy_from_slice(&[1, 2, 3, 4].map(|factor| factor * 0x0101_0101));
            state.set_sgpr_pair(2, bench.buffer);
            state.set_sgpr_pair(4, bench.buffer);
            // Two dwords of those at 0x80 on are in range.
            state.set_sgpr_pair(6, resource(target, 0x88));
            let data = registers(32, *dwords);
            let text = format!(
                "s_store_dword{suffix} {data}, s[2:3], 0x10\ns_buffer_store_dword{suffix} {data}, s[4:7], 0x80"
            );
            if !exists(target, &text) {
                continue;
            }
            let mut expected = bench.contents();
            let after = bench.good(&text, &state);
            let bytes: Vec<u8> = state.sgprs[32..36].iter().flat_map(|value| value.to_le_bytes()).collect();
            expected[0x10..0x10 + 4 * dwords].copy_from_slice(&bytes[..4 * dwords]);
            let inside = 4 * dwords.min(&2);
            expected[0x80..0x80 + inside].copy_from_slice(&bytes[..inside]);
            assert_eq!((after, bench.contents()), (state, expected), "{target:?} {text}");
        }
    }
}

/// The SGPR offset of scratch forms counts 64 bytes.
#[test]
pub(crate) fn scratch_forms() {
    let mut covered = 0;
    for target in TARGETS {
        for (suffix, dwords) in &WIDTHS[..3] {
            let text = format!(
                "s_scratch_store_dword{suffix} {}, s[2:3], m0\ns_scratch_load_dword{suffix} {}, s[2:3], s9",
                registers(32, *dwords),
                registers(36, *dwords)
            );
            if !exists(target, &text) {
                continue;
            }
            covered += 1;
            let mut bench = Bench::new(target, &[0; 1024]);
            let mut state = WaveState { m0: 3, ..whole(target) };
            state.set_sgpr_pair(2, bench.buffer);
            state.sgprs[9] = 3;
            state.sgprs[32..36].copy_from_slice(&[77, 88, 99, 111]);
            let after = bench.good(&text, &state);
            assert_eq!(after.sgprs[36..36 + dwords], state.sgprs[32..32 + dwords], "{target:?} {text}");
            let contents = bench.contents();
            for (at, value) in state.sgprs[32..36].iter().enumerate() {
                let stored = if at < *dwords { u64::from(*value) } else { 0 };
                assert_eq!(number(&contents[192 + 4 * at..][..4]), stored, "{target:?} {text}");
            }
        }
    }
    assert!(covered > 3);
}

#[test]
pub(crate) fn clocks_go_forward() {
    let text = "s_memtime s[0:1]\ns_nop 0\ns_memtime s[2:3]\ns_memrealtime s[4:5]\ns_memrealtime s[6:7]";
    for target in TARGETS.into_iter().filter(|target| exists(*target, text)) {
        let after = Bench::new(target, &[0]).good(text, &whole(target));
        let times = [0, 2, 4, 6].map(|first| after.sgpr_pair(first));
        // 1 an instruction before it, 64 a reading, its own included.
        assert_eq!(times, [64, 2 + 2 * 64, 3 + 3 * 64, 4 + 4 * 64], "{target:?}");
        let again = Bench::new(target, &[0]).good(text, &whole(target));
        assert_eq!(after, again, "{target:?}: the same each time");
    }
}

#[test]
pub(crate) fn caches_are_no_business_of_results() {
    for text in [
        "s_dcache_inv",
        "s_dcache_wb",
        "s_dcache_inv_vol",
        "s_dcache_wb_vol",
        "buffer_wbinvl1",
        "s_icache_inv",
        "s_gl1_inv",
        "s_dcache_discard s[0:1], 0x0",
        "s_dcache_discard_x2 s[0:1], 0x0",
        "s_atc_probe 0, s[0:1], 0x0",
        "s_atc_probe_buffer 0, s[0:3], 0x0",
        "buffer_gl0_inv",
        "buffer_gl1_inv",
        "global_inv scope:SCOPE_SYS",
        "global_wb scope:SCOPE_SYS",
        "global_wbinv scope:SCOPE_SYS",
        "s_prefetch_inst s[0:1], 0x0, null, 0",
        "s_prefetch_inst_pc_rel 0x0, null, 0",
        "s_prefetch_data s[0:1], 0x0, null, 0",
        "s_buffer_prefetch_data s[0:3], 0x0, null, 0",
        "s_prefetch_data_pc_rel 0x0, null, 0",
    ] {
        let mut count = 0;
        for target in TARGETS.into_iter().filter(|target| exists(*target, text)) {
            let state = whole(target);
            assert_eq!(Bench::new(target, &[0]).good(text, &state), state, "{target:?} {text}");
            count += 1;
        }
        assert!(count > 0, "{text}: no processor has it");
    }
}

#[test]
pub(crate) fn addresses_must_be_those_of_dwords() {
    let mut bench = Bench::new(Arch::Gfx90a, &[0; 64]);
    let mut state = WaveState::default();
    state.set_sgpr_pair(2, bench.buffer + 2);
    let fault = bench.run("s_load_dword s0, s[2:3], 0x0", &state).expect_err("misaligned");
    assert!(
        matches!(
            fault.kind,
            FaultKind::Misaligned { space: MemorySpace::Scalar, required: 4, write: false, .. }
        ),
        "{fault}"
    );
    state.set_sgpr_pair(2, bench.buffer + 4);
    let fault = bench.run("s_atomic_add_x2 s[4:5], s[2:3], 0x0", &state).expect_err("misaligned");
    assert!(
        matches!(
            fault.kind,
            FaultKind::Misaligned { space: MemorySpace::Scalar, required: 8, write: true, .. }
        ),
        "{fault}"
    );
    let fault = bench.run("s_load_dwordx16 s[16:31], s[2:3], 0x8", &state).expect_err("past the end");
    assert!(matches!(fault.kind, FaultKind::OutOfBounds { space: MemorySpace::Scalar, .. }), "{fault}");
}

/// Fields of hardware registers: `{size - 1, offset, register}`.
#[test]
pub(crate) fn hardware_registers() {
    let (all, mode, status, hw_id, bases) = (31 << 11, 1, 2, 4, 15);
    let denormals = 3 << 11 | 4 << 6;
    for (selector, value) in [
        (all | mode, WaveState::KERNEL_MODE),
        (denormals | mode, 0xf),
        // SCC, EXECZ, VCCZ.
        (status, 1),
        (9 << 6 | status, 0),
        (10 << 6 | status, 1),
        (all | hw_id, 0),
        (all | bases, 0x0001_0002),
    ] {
        for arch in PROCESSORS {
            // There are none on GFX8.
            if selector == (all | bases) && arch.generation() == Generation::Gfx8 {
                continue;
            }
            let state = WaveState { scc: true, ..WaveState::default() };
            assert_eq!(read(arch, selector, &state), value, "{arch} {selector:#x}");
        }
    }
}

/// LDS_ALLOC: LDS_SIZE, from bit 12 on, counts units of 64 dwords. LDS is allocated in blocks of 512 bytes,
/// on gfx950 of 1280 (CDNA3 and CDNA4 ISA manuals, "LDS Allocation and Clamping").
#[test]
fn lds_allocation() {
    for arch in PROCESSORS {
        for (bytes, units, units_of_gfx950) in
            [(0, 0, 0), (4, 2, 5), (512, 2, 5), (1280, 6, 5), (1284, 6, 10), (1500, 6, 10), (65536, 256, 260)]
        {
            let state = WaveState { lds: vec![0; bytes], ..WaveState::default() };
            let units = if arch == Arch::Gfx950 { units_of_gfx950 } else { units };
            assert_eq!(read(arch, 31 << 11 | 6, &state), units << 12, "{arch}, {bytes} bytes");
        }
    }
}

/// What `s_getreg_b32` reads.
fn read(arch: Arch, selector: u32, state: &WaveState) -> u32 {
    // s_getreg_b32 s5
    let word: u32 = 0xb000_0000 | 17 << 23 | 5 << 16 | selector;
    let mut bench = Bench::new(arch, &[0]);
    let snippet = crate::coverage::Snippet::from_bytes(arch, &word.to_le_bytes());
    snippet.run(&mut bench.machine, state).unwrap_or_else(|fault| panic!("{arch}: {fault}")).sgprs[5]
}

/// Loads of 8 and 16 bits (RDNA4 ISA, section 8.1.3), extended; what does not end in a buffer is zero.
#[test]
pub(crate) fn loads_of_parts_of_dwords() {
    let mut random = Random(43);
    for target in TARGETS.into_iter().filter(|target| is_gfx12(*target)) {
        for (name, bytes, signed) in [("u8", 1, false), ("i8", 1, true), ("u16", 2, false), ("i16", 2, true)]
        {
            for _ in 0..8 {
                let mut bench = Bench::new(target, &random.bytes(64));
                let mut state = whole(target);
                let at = bytes * random.below(32 / bytes as u64) as usize;
                let register = bytes as u64 * random.below(16);
                let size = 1 + random.below(32);
                state.set_sgpr_pair(2, bench.buffer - register);
                state.set_sgpr_pair(4, bench.buffer);
                state.set_sgpr_pair(6, resource(target, size));
                state.sgprs[9] = register as u32;
                let text = format!(
                    "s_load_{name} s20, s[2:3], s9 offset:{at:#x}\ns_buffer_load_{name} s21, s[4:7], {at:#x}"
                );
                let raw = number(&bench.contents()[at..at + bytes]);
                let value = match (signed, bytes) {
                    (true, 1) => raw as i8 as u32,
                    (true, _) => raw as i16 as u32,
                    _ => raw as u32,
                };
                let after = bench.good(&text, &state);
                let mut expected = state.clone();
                expected.sgprs[20] = value;
                expected.sgprs[21] = if at + bytes <= size as usize { value } else { 0 };
                assert_eq!(after, expected, "{target:?} {text}, {size} bytes");
            }
        }
    }
}
