//! Addresses and ranges of untyped buffers (Vega ISA manual, "Buffer Addressing"; ranges as LLVM's developers and AMD's
//! simulator give them: `voffset + imm + payload > num_records - soffset` is out of range).

use amdgpu_isa::{Arch, Feature};
use amdinst_emu::WaveState;

use super::{Bench, PROCESSORS, Random, active, number, small};
use crate::coverage::is_recording;

/// A resource and an instruction's address parts, as the manual's tables name them.
#[derive(Debug)]
struct Access {
    const_stride: u64,
    const_num_records: u64,
    const_swizzle_enable: bool,
    const_index_stride: u64,
    const_add_tid_enable: bool,
    inst_idxen: bool,
    inst_offen: bool,
    inst_offset: u64,
    sgpr_offset: u64,
}

/// "const_element_size": GFX9's resource has no such field.
const ELEMENT: u64 = 4;

impl Access {
    fn random(random: &mut Random) -> Self {
        let swizzle = random.below(2) == 0;
        let stride = [0, 4, 8, 16, 20, 64][random.below(6) as usize];
        let idxen = random.below(2) == 0;
        let bytes = random.below(3) == 0;
        let records =
            if idxen && stride != 0 { random.below(80) } else { random.below(if bytes { 64 } else { 1024 }) };
        Self {
            const_stride: stride,
            const_num_records: records,
            const_swizzle_enable: swizzle,
            const_index_stride: 8 << random.below(4),
            const_add_tid_enable: random.below(3) == 0,
            inst_idxen: idxen,
            inst_offen: random.below(2) == 0,
            inst_offset: random.below(32),
            sgpr_offset: random.below(64),
        }
    }

    /// The byte at `more` behind the access's first, and whether a datum of `size` bytes that begins there is in range.
    fn place(&self, lane: u64, vgpr_index: u64, vgpr_offset: u64, more: u64, size: u64) -> (u64, bool) {
        let index = if self.inst_idxen { vgpr_index } else { 0 };
        let offset = if self.inst_offen { vgpr_offset } else { 0 } + self.inst_offset + more;
        let in_range = if self.inst_idxen && self.const_stride != 0 {
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
        let buffer_offset = if self.const_swizzle_enable {
            let (index_msb, index_lsb) = (index / self.const_index_stride, index % self.const_index_stride);
            let (offset_msb, offset_lsb) = (offset / ELEMENT, offset % ELEMENT);
            (index_msb * self.const_stride + offset_msb * ELEMENT) * self.const_index_stride
                + index_lsb * ELEMENT
                + offset_lsb
        } else {
            self.const_stride * index + offset
        };
        (self.sgpr_offset + buffer_offset, in_range)
    }

    fn resource(&self, base: u64) -> (u64, u64) {
        let low = base | self.const_stride << 48 | u64::from(self.const_swizzle_enable) << 63;
        // The data format (32 bits) is the upper part of the stride where lanes are added: none there.
        let format = if self.const_add_tid_enable { 0 } else { 4 << 15 };
        let index_stride = u64::from(self.const_index_stride.trailing_zeros() - 3);
        let word3 = format | index_stride << 21 | u64::from(self.const_add_tid_enable) << 23;
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
        format!("{name} {data}, {address}, s[4:7], s8{modifiers} offset:{}", self.inst_offset)
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
    for round in 0..if is_recording() { kinds.len() * PROCESSORS.len() } else { 1000 } {
        let arch = PROCESSORS[round % PROCESSORS.len()];
        let (load, store, bytes, first) = kinds[round / PROCESSORS.len() % kinds.len()];
        let access = Access::random(&mut random);
        let mut bench = Bench::new(arch, &contents);
        let mut state = WaveState { exec: random.exec(), ..WaveState::default() };
        for register in 0..12 {
            state.set_vgpr(register, random.register());
        }
        let (index, offset): ([u64; 64], [u64; 64]) = {
            let indices = std::array::from_fn(|_| random.below(90));
            // Offsets that swizzled buffers take: within a dword.
            let unit = if bytes < 4 { bytes as u64 } else { 4 };
            (indices, std::array::from_fn(|_| random.below(64) / unit * unit))
        };
        let unit = if bytes < 4 { bytes as u64 } else { 4 };
        let access = Access { inst_offset: access.inst_offset / unit * unit, ..access };
        let one = |values: [u64; 64]| values.map(|value| value as u32);
        // With both, the index comes first; alone, each is in its register.
        state.set_vgpr(2, one(index));
        state.set_vgpr(3, one(offset));
        let (low, high) = access.resource(bench.buffer);
        state.set_sgpr_pair(4, low);
        state.set_sgpr_pair(6, high);
        state.sgprs[8] = access.sgpr_offset as u32;
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
                *register =
                    if bytes < 4 { small(arch, load, &loaded, *register) } else { number(&loaded) as u32 };
                if in_range {
                    let source = state.vgpr(8 + part)[lane].to_le_bytes();
                    memory[place].copy_from_slice(&source[first..first + size]);
                }
            }
            out_of_range += usize::from(inside == 0);
            in_part += usize::from(inside != 0 && inside != parts);
        }
        let text = access.text(&format!("buffer_load_{load}"), data);
        assert_eq!(bench.good(&text, &state), expected, "{arch} {text}: {access:?}");
        // What no two lanes write has one answer.
        let text = access.text(&format!("buffer_store_{store}"), data);
        assert_eq!(bench.good(&text, &state), state, "{arch} {text}");
        let after = bench.contents();
        if after != memory {
            let at = (0..memory.len()).find(|at| after[*at] != memory[*at]).unwrap_or(0);
            panic!("{arch} {text}: {access:?}: byte {at:#x} is {:#x}, not {:#x}", after[at], memory[at]);
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
    for arch in PROCESSORS {
        let mut bench = Bench::new(arch, &[5; 64]);
        let mut state = WaveState::default();
        state.set_vgpr(8, [9; 64]);
        state.set_vgpr(9, [9; 64]);
        for (low, high) in [(0, 0), (bench.buffer, 64)] {
            state.set_sgpr_pair(4, low);
            state.set_sgpr_pair(6, high);
            let text = "buffer_store_dword v8, off, s[4:7], 0\nbuffer_load_dwordx2 v[8:9], off, s[4:7], 0";
            let after = bench.good(text, &state);
            assert_eq!((after.vgpr(8), after.vgpr(9)), ([0; 64], [0; 64]), "{arch}");
            assert_eq!(bench.contents(), [5; 64], "{arch}");
        }
    }
}

/// The resource that compilers use for private memory: swizzled, the lane added, 64 indices.
#[test]
pub(crate) fn private_memory() {
    const SCRATCH: u64 = 0x7d00_0000_0000;
    let mut random = Random(61);
    for arch in [Arch::Gfx900, Arch::Gfx906, Arch::Gfx908, Arch::Gfx90a] {
        let mut state = WaveState { scratch: 128, flat_scratch: SCRATCH, ..WaveState::default() };
        state.set_sgpr_pair(4, SCRATCH | 1 << 63);
        state.set_sgpr_pair(6, 0x00e0_0000_ffff_ffff);
        // A whole dword of the lanes.
        state.sgprs[8] = 256;
        state.set_vgpr(0, random.register());
        state.set_vgpr(3, std::array::from_fn(|lane| 4 * (lane as u32 % 4)));
        // Below zero, until the constant is added.
        state.set_vgpr(4, state.vgpr(3).map(|offset| offset.wrapping_sub(100)));
        let text = "buffer_store_dword v0, v3, s[4:7], s8 offen offset:8\n\
                    buffer_load_dword v5, v4, s[4:7], 0 offen offset:112\n\
                    v_add_u32 v3, 12, v3\n\
                    scratch_load_dword v1, v3, off\n\
                    buffer_load_ubyte v2, v3, s[4:7], 0 offen offset:2";
        let after = Bench::new(arch, &[0]).good(text, &state);
        assert_eq!(after.vgpr(1), state.vgpr(0), "{arch}");
        assert_eq!(after.vgpr(5), state.vgpr(0), "{arch}");
        assert_eq!(after.vgpr(2), state.vgpr(0).map(|value| value >> 16 & 0xff), "{arch}");
    }
}

/// At the end of a buffer of 22 bytes, which an allocation of 22 bytes holds: what does not end inside is out of range, dword
/// by dword for loads and stores of several, as a whole for atomics and formats; the scalar offset counts.
#[test]
fn the_end_of_a_buffer() {
    let contents: Vec<u8> = (1..=22).collect();
    let dword = |at: usize| number(&contents[at..at + 4]) as u32;
    for arch in PROCESSORS {
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
            let text = if arch.has(Feature::ScopedCachePolicy) {
                text.replace(" glc", " sc0")
            } else {
                text.to_owned()
            };
            let mut bench = Bench::new(arch, &contents);
            let mut state = WaveState { exec: 1, ..WaveState::default() };
            state.set_vgpr(0, [8; 64]);
            state.set_vgpr(8, [0; 64]);
            state.set_vgpr(9, [9; 64]);
            state.sgprs[8] = scalar;
            state.set_sgpr_pair(4, bench.buffer);
            // 32 bits, an unsigned integer, x.
            state.set_sgpr_pair(6, 22 | (4 << 15 | 4 << 12 | 4) << 32);
            let after = bench.good(&text, &state);
            assert_eq!([after.vgpr(8)[0], after.vgpr(9)[0]], expected, "{arch} {text}, s8 = {scalar}");
            let store =
                text.replace("_load_", "_store_").replace("_ushort", "_short").replace("_ubyte", "_byte");
            bench.good(&store, &state);
        }
    }
}
