//! Addresses and ranges of untyped buffers (Vega ISA manual, "Buffer Addressing"; ranges as LLVM's developers
//! and AMD's simulator give them: `voffset + imm + payload > num_records - soffset` is out of range). RDNA:
//! RDNA2 ISA, section 8.1.5, RDNA3 and RDNA4 ISA, section 9.4.

use amdgpu_isa::{Arch, Generation, Target, WaveSize};
use amdinst_emu::WaveState;

use super::{Bench, Random, active, exists, number, small, whole};
use crate::coverage::is_recording;
use crate::targets::{RDNA, TARGETS, has_new_names, is_gcn, is_gfx12};

/// The upper half of a resource of so many bytes, of 32-bit unsigned integers.
pub(super) fn resource(target: Target, bytes: u64) -> u64 {
    bytes | word3(target, 3) << 32
}

/// The upper half of a resource of so many records, with an offset of any size in each.
pub(super) fn structured(target: Target, records: u64) -> u64 {
    records | word3(target, 1) << 32
}

/// The format, and of RDNA's resources OOB_SELECT (and GFX10's "Resource Level").
fn word3(target: Target, out_of_bounds: u64) -> u64 {
    match target.arch.generation() {
        Generation::Gfx8 | Generation::Gfx9 => 4 << 15,
        Generation::Gfx10 => 20 << 12 | 1 << 24 | out_of_bounds << 28,
        _ => 20 << 12 | out_of_bounds << 28,
    }
}

/// A resource and an instruction's address parts, as the manual's tables name them.
#[derive(Debug)]
struct Access {
    target: Target,
    const_stride: u64,
    /// RDNA 4's: by what the stride is multiplied.
    const_stride_scale: u64,
    const_num_records: u64,
    const_swizzle_enable: bool,
    /// "const_element_size": four bytes where the resource has no such field.
    const_element_size: u64,
    /// OOB_SELECT of RDNA's resources.
    const_out_of_bounds: u64,
    const_index_stride: u64,
    const_add_tid_enable: bool,
    inst_idxen: bool,
    inst_offen: bool,
    inst_offset: u64,
    sgpr_offset: u64,
    /// The offset is in M0.
    by_m0: bool,
}

impl Access {
    fn random(random: &mut Random, target: Target) -> Self {
        let access = Self::any(random, target);
        if is_gcn(target) { access } else { access.of_rdna(random) }
    }

    /// Lanes are added where bounds are not checked, or are those of bytes. Where an offset of a swizzled
    /// record is checked, the manual does not say whether one from a scalar register counts: there is none.
    fn of_rdna(self, random: &mut Random) -> Self {
        let target = self.target;
        let const_out_of_bounds = random.below(4);
        let is_structure = const_out_of_bounds == 0
            || const_out_of_bounds == 3 && self.const_swizzle_enable && self.const_stride != 0;
        let adds_lane = const_out_of_bounds == 2 || const_out_of_bounds == 3 && !is_structure;
        let is_swizzled_structure = is_structure && self.const_swizzle_enable;
        let wide_elements =
            self.const_stride.is_multiple_of(16) && has_new_names(target) && random.below(2) == 0;
        let bytes = const_out_of_bounds == 3 && !is_structure;
        Self {
            const_out_of_bounds,
            const_add_tid_enable: self.const_add_tid_enable && adds_lane,
            const_element_size: if wide_elements { 16 } else { 4 },
            const_stride_scale: match (random.below(4), self.const_stride) {
                (2, ..=16) if is_gfx12(target) => 4,
                (3, ..=8) if is_gfx12(target) => 8,
                _ => 1,
            },
            const_num_records: if bytes { random.below(256) } else { random.below(80) },
            // Where it is swizzled with the others, no datum may lie in two elements.
            sgpr_offset: match () {
                () if is_swizzled_structure => 0,
                () if self.const_swizzle_enable => self.sgpr_offset / 4 * 4,
                () => self.sgpr_offset,
            },
            ..self
        }
    }

    fn any(random: &mut Random, target: Target) -> Self {
        let swizzle = random.below(2) == 0;
        let stride = [0, 4, 8, 16, 20, 64][random.below(6) as usize];
        let idxen = random.below(2) == 0;
        let bytes = random.below(3) == 0;
        let records =
            if idxen && stride != 0 { random.below(80) } else { random.below(if bytes { 64 } else { 1024 }) };
        Self {
            target,
            const_stride: stride,
            const_stride_scale: 1,
            const_num_records: records,
            const_swizzle_enable: swizzle,
            const_element_size: 4,
            const_out_of_bounds: 0,
            const_index_stride: 8 << random.below(4),
            const_add_tid_enable: random.below(3) == 0,
            inst_idxen: idxen,
            inst_offen: random.below(2) == 0,
            inst_offset: random.below(32),
            sgpr_offset: random.below(64),
            by_m0: random.below(4) == 0,
        }
    }

    /// The byte at `more` behind the access's first, and whether a datum of `size` bytes that begins there is
    /// in range.
    fn place(&self, lane: u64, vgpr_index: u64, vgpr_offset: u64, more: u64, size: u64) -> (u64, bool) {
        let index = if self.inst_idxen { vgpr_index } else { 0 };
        let offset = if self.inst_offen { vgpr_offset } else { 0 } + self.inst_offset + more;
        let stride = self.const_stride * self.const_stride_scale;
        let in_range = if !is_gcn(self.target) {
            let in_structure = index < self.const_num_records && offset + size <= stride;
            match self.const_out_of_bounds {
                0 => in_structure,
                1 => index < self.const_num_records,
                2 => self.const_num_records != 0,
                _ if self.const_swizzle_enable && stride != 0 => in_structure,
                _ => self.sgpr_offset + offset + size <= self.const_num_records,
            }
        } else if self.inst_idxen && self.const_stride != 0 {
            // "Structured Buffer"
            index < self.const_num_records
        } else if self.const_add_tid_enable && !self.inst_idxen {
            // "Private (Scratch) Buffer"
            true
        } else {
            // "Raw Buffer"
            self.sgpr_offset + offset + size <= self.const_num_records
        };
        let index = index + if self.const_add_tid_enable { lane } else { 0 };
        // RDNA 4 swizzles all offsets together.
        let is_all_swizzled = self.const_swizzle_enable && is_gfx12(self.target);
        let (inner, outer) = if is_all_swizzled { (self.sgpr_offset, 0) } else { (0, self.sgpr_offset) };
        let buffer_offset = if self.const_swizzle_enable {
            let (offset, element) = (offset + inner, self.const_element_size);
            let (index_msb, index_lsb) = (index / self.const_index_stride, index % self.const_index_stride);
            let (offset_msb, offset_lsb) = (offset / element, offset % element);
            (index_msb * stride + offset_msb * element) * self.const_index_stride
                + index_lsb * element
                + offset_lsb
        } else {
            stride * index + offset
        };
        (outer + buffer_offset, in_range)
    }

    fn resource(&self, base: u64) -> (u64, u64) {
        let target = self.target;
        let swizzle = match (self.const_swizzle_enable, self.const_element_size) {
            (false, _) => 0,
            (true, 16) => 3 << 62,
            (true, _) if has_new_names(target) => 1 << 62,
            (true, _) => 1 << 63,
        };
        let low = base | self.const_stride << 48 | swizzle;
        // GFX9's data format (32 bits) is the upper part of the stride where lanes are added: none there.
        let format = if self.const_add_tid_enable && is_gcn(target) {
            0
        } else {
            word3(target, self.const_out_of_bounds)
        };
        let scale = match self.const_stride_scale {
            1 => 0,
            4 => 1,
            _ => 2,
        } << 18;
        let index_stride = u64::from(self.const_index_stride.trailing_zeros() - 3);
        let word3 = format | scale | index_stride << 21 | u64::from(self.const_add_tid_enable) << 23;
        (low, self.const_num_records | word3 << 32)
    }

    fn text(&self, name: &str, data: &str) -> String {
        let address = match (self.inst_idxen, self.inst_offen) {
            (false, false) => "off",
            (true, true) => "v[2:3]",
            (true, false) => "v2",
            (false, true) => "v3",
        };
        let modifiers = format!(
            "{}{}",
            if self.inst_idxen { " idxen" } else { "" },
            if self.inst_offen { " offen" } else { "" }
        );
        let scalar = if self.by_m0 { "m0" } else { "s8" };
        format!("{name} {data}, {address}, s[4:7], {scalar}{modifiers} offset:{}", self.inst_offset)
    }
}

const MEMORY: u64 = 1 << 15;

#[test]
pub(crate) fn loads_and_stores() {
    let mut random = Random(60);
    let contents = random.bytes(MEMORY as usize);
    // Name, bytes, first byte in the data register.
    let kinds = [
        ("ubyte", "byte", 1usize, 0),
        ("sbyte", "byte", 1, 0),
        ("ushort", "short", 2, 0),
        ("sshort", "short", 2, 0),
        ("short_d16", "short", 2, 0),
        ("short_d16_hi", "short_d16_hi", 2, 2),
        ("ubyte_d16", "byte", 1, 0),
        ("ubyte_d16_hi", "byte_d16_hi", 1, 2),
        ("sbyte_d16", "byte", 1, 0),
        ("sbyte_d16_hi", "byte_d16_hi", 1, 2),
        ("dword", "dword", 4, 0),
        ("dwordx2", "dwordx2", 8, 0),
        ("dwordx3", "dwordx3", 12, 0),
        ("dwordx4", "dwordx4", 16, 0),
    ];
    let (mut out_of_range, mut in_part) = (0, 0);
    // Each kind on each processor, at least.
    for round in 0..if is_recording() { kinds.len() * TARGETS.len() } else { 2000 } {
        let target = TARGETS[round % TARGETS.len()];
        let (load, store, bytes, first) = kinds[round / TARGETS.len() % kinds.len()];
        let access = Access::random(&mut random, target);
        let mut bench = Bench::new(target, &contents);
        let mut state = WaveState { exec: random.exec(target), ..WaveState::default() };
        for register in 0..12 {
            state.set_vgpr(register, random.register());
        }
        // Offsets that swizzled buffers take: within a dword, or within an element of 16 bytes.
        let unit = match (access.const_swizzle_enable, access.const_element_size) {
            (true, 16) if bytes > 4 => 16,
            _ => bytes.min(4) as u64,
        };
        let index: [u64; 64] = std::array::from_fn(|_| random.below(90));
        let offset: [u64; 64] = std::array::from_fn(|_| random.below(64) / unit * unit);
        let sgpr_offset = if unit == 16 { access.sgpr_offset / 16 * 16 } else { access.sgpr_offset };
        let access = Access { inst_offset: access.inst_offset / unit * unit, sgpr_offset, ..access };
        let one = |values: [u64; 64]| values.map(|value| value as u32);
        // With both, the index comes first; alone, each is in its register.
        state.set_vgpr(2, one(index));
        state.set_vgpr(3, one(offset));
        let (low, high) = access.resource(bench.buffer);
        state.set_sgpr_pair(4, low);
        state.set_sgpr_pair(6, high);
        let offset_register = if access.by_m0 { &mut state.m0 } else { &mut state.sgprs[8] };
        *offset_register = access.sgpr_offset as u32;
        let data = match bytes {
            8 => "v[8:9]",
            12 => "v[8:10]",
            16 => "v[8:11]",
            _ => "v8",
        };
        let parts = bytes.div_ceil(4);
        let mut expected = state.clone();
        let mut memory = contents.clone();
        for lane in active(state.exec) {
            let mut inside = 0;
            for part in 0..parts {
                let size = bytes.min(4);
                let (at, in_range) =
                    access.place(lane as u64, index[lane], offset[lane], 4 * part as u64, size as u64);
                inside += usize::from(in_range);
                let place = at as usize..at as usize + size;
                let loaded = if in_range { contents[place.clone()].to_vec() } else { vec![0; size] };
                let register = &mut expected.vgprs[8 + part][lane];
                *register = if bytes < 4 {
                    small(target.arch, load, &loaded, *register)
                } else {
                    number(&loaded) as u32
                };
                if in_range {
                    let source = state.vgpr(8 + part)[lane].to_le_bytes();
                    memory[place].copy_from_slice(&source[first..first + size]);
                }
            }
            out_of_range += usize::from(inside == 0);
            in_part += usize::from(inside != 0 && inside != parts);
        }
        // GFX8 has none of halves.
        let lacks = |text: &str| target.arch.generation() == Generation::Gfx8 && !exists(target, text);
        let text = access.text(&format!("buffer_load_{load}"), data);
        if lacks(&text) || lacks(&access.text(&format!("buffer_store_{store}"), data)) {
            continue;
        }
        assert_eq!(bench.good(&text, &state), expected, "{target:?} {text}: {access:?}");
        // What no two lanes write has one answer.
        let text = access.text(&format!("buffer_store_{store}"), data);
        assert_eq!(bench.good(&text, &state), state, "{target:?} {text}");
        let after = bench.contents();
        if after != memory {
            let at = (0..memory.len()).find(|at| after[*at] != memory[*at]).unwrap_or(0);
            panic!("{target:?} {text}: {access:?}: byte {at:#x} is {:#x}, not {:#x}", after[at], memory[at]);
        }
    }
    assert!(
        is_recording() || out_of_range > 1000 && in_part > 50,
        "{out_of_range} out of range, {in_part} in part"
    );
}

/// A resource of zeros, or without a data format, is no buffer: zeros are read, stores are dropped.
#[test]
pub(crate) fn unbound() {
    for target in TARGETS {
        let mut bench = Bench::new(target, &[5; 64]);
        let mut state = whole(target);
        state.set_vgpr(8, [9; 64]);
        state.set_vgpr(9, [9; 64]);
        for (low, high) in [(0, 0), (bench.buffer, 64)] {
            state.set_sgpr_pair(4, low);
            state.set_sgpr_pair(6, high);
            let text = "buffer_store_dword v8, off, s[4:7], 0\nbuffer_load_dwordx2 v[8:9], off, s[4:7], 0";
            let after = bench.good(text, &state);
            for lane in active(state.exec) {
                assert_eq!((after.vgpr(8)[lane], after.vgpr(9)[lane]), (0, 0), "{target:?}");
            }
            assert_eq!(bench.contents(), [5; 64], "{target:?}");
        }
    }
}

/// The resource that compilers use for private memory: swizzled, the lane added, 64 indices.
#[test]
pub(crate) fn private_memory() {
    const SCRATCH: u64 = 0x7d00_0000_0000;
    let mut random = Random(61);
    let old = [Arch::Gfx900, Arch::Gfx906, Arch::Gfx908, Arch::Gfx90a].map(Target::from);
    for target in old.into_iter().chain(RDNA) {
        let mut state = WaveState { scratch: 128, flat_scratch: SCRATCH, ..whole(target) };
        // As many indices as there are lanes.
        let wide = u64::from(target.wave == WaveSize::Wave64);
        let (swizzle, word3) = match target.arch.generation() {
            Generation::Gfx8 | Generation::Gfx9 => (1 << 63, 0x00e0_0000),
            Generation::Gfx10 => (1 << 63, word3(target, 2) | 1 << 23 | (2 + wide) << 21),
            _ => (1 << 62, word3(target, 2) | 1 << 23 | (2 + wide) << 21),
        };
        state.set_sgpr_pair(4, SCRATCH | swizzle);
        state.set_sgpr_pair(6, 0xffff_ffff | word3 << 32);
        // A whole dword of the lanes; swizzled with the others on RDNA 4.
        state.sgprs[8] = if is_gfx12(target) { 4 } else { 4 * target.wave.lanes() };
        state.set_vgpr(0, random.register());
        state.set_vgpr(3, std::array::from_fn(|lane| 4 * (lane as u32 % 4)));
        // Below zero, until the constant is added.
        state.set_vgpr(4, state.vgpr(3).map(|offset| offset.wrapping_sub(100)));
        let text = "buffer_store_dword v0, v3, s[4:7], s8 offen offset:8\n\
                    buffer_load_dword v5, v4, s[4:7], 0 offen offset:112\n\
                    v_lshl_add_u32 v3, 3, 2, v3\n\
                    scratch_load_dword v1, v3, off\n\
                    buffer_load_ubyte v2, v3, s[4:7], 0 offen offset:2";
        let after = Bench::new(target, &[0]).good(text, &state);
        for lane in active(state.exec) {
            let value = state.vgpr(0)[lane];
            let found = [1, 5, 2].map(|register| after.vgpr(register)[lane]);
            assert_eq!(found, [value, value, value >> 16 & 0xff], "{target:?}");
        }
    }
}

/// At the end of a buffer of 22 bytes, which an allocation of 22 bytes holds: what does not end inside is out
/// of range, dword by dword for loads and stores of several, as a whole for atomics and formats; the scalar
/// offset counts.
#[test]
fn the_end_of_a_buffer() {
    let contents: Vec<u8> = (1..=22).collect();
    let dword = |at: usize| number(&contents[at..at + 4]) as u32;
    for target in TARGETS {
        for (text, scalar, expected) in [
            ("buffer_load_dwordx2 v[8:9], off, s[4:7], s8", 14, [dword(14), dword(18)]),
            ("buffer_load_dwordx2 v[8:9], off, s[4:7], s8", 16, [dword(16), 0]),
            ("buffer_load_dwordx2 v[8:9], off, s[4:7], s8", 19, [0, 0]),
            ("buffer_load_dwordx2 v[8:9], off, s[4:7], s8 offset:4", 12, [dword(16), 0]),
            ("buffer_load_dwordx2 v[8:9], v0, s[4:7], s8 offen offset:4", 4, [dword(16), 0]),
            ("buffer_load_dword v8, off, s[4:7], 0 offset:20", 0, [0, 9]),
            ("buffer_load_ushort v8, off, s[4:7], 0 offset:20", 0, [0x1615, 9]),
            ("buffer_load_ushort v8, off, s[4:7], 0 offset:21", 0, [0, 9]),
            ("buffer_load_ubyte v8, off, s[4:7], s8", 21, [22, 9]),
            ("buffer_load_ubyte v8, off, s[4:7], s8", 22, [0, 9]),
            ("buffer_load_format_x v8, off, s[4:7], s8", 18, [dword(18), 9]),
            ("buffer_load_format_x v8, off, s[4:7], s8", 19, [0, 9]),
            ("buffer_atomic_add_x2 v[8:9], off, s[4:7], s8 glc", 16, [0, 0]),
            ("buffer_atomic_add v8, off, s[4:7], s8 glc", 16, [dword(16), 9]),
        ] {
            // Data formats of RDNA are not executed.
            if text.contains("format") && !is_gcn(target) {
                continue;
            }
            let mut bench = Bench::new(target, &contents);
            let mut state = WaveState { exec: 1, ..WaveState::default() };
            state.set_vgpr(0, [8; 64]);
            state.set_vgpr(8, [0; 64]);
            state.set_vgpr(9, [9; 64]);
            state.sgprs[8] = scalar;
            state.set_sgpr_pair(4, bench.buffer);
            // 32 bits, an unsigned integer, x.
            let selected = if is_gcn(target) { 4 << 12 | 4 } else { 4 };
            state.set_sgpr_pair(6, resource(target, 22) | selected << 32);
            let after = bench.good(text, &state);
            assert_eq!([after.vgpr(8)[0], after.vgpr(9)[0]], expected, "{target:?} {text}, s8 = {scalar}");
            let store =
                text.replace("_load_", "_store_").replace("_ushort", "_short").replace("_ubyte", "_byte");
            bench.good(&store, &state);
        }
    }
}
