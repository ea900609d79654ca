//! Memory instructions: a wave, a buffer of device memory, LDS, and the same done on the host.

mod atomics;
mod buffers;
mod data_share;
mod exchange;
mod flat;
mod formats;
mod lds_dma;
mod scalar;
mod spelling;

use amdgpu_isa::{Arch, Feature, Target};
use amdinst_emu::{Config, Fault, Machine, VectorRegister, WaveState};

use crate::coverage::Snippet;
use crate::targets::is_gcn;

/// A machine with one buffer.
pub(crate) struct Bench {
    pub(crate) machine: Machine,
    pub(crate) buffer: u64,
    target: Target,
    size: usize,
}

impl Bench {
    pub(crate) fn new(target: impl Into<Target>, contents: &[u8]) -> Self {
        let target = target.into();
        let mut machine = Machine::new(target.arch, Config::default());
        let buffer = machine.alloc(contents.len() as u64, 256, "buffer").expect("allocating");
        machine.write(buffer, contents).expect("writing");
        Self { machine, buffer, target, size: contents.len() }
    }

    /// Run instructions in GFX9's spelling.
    pub(crate) fn run(&mut self, text: &str, state: &WaveState) -> Result<WaveState, Fault> {
        let snippet = Snippet::assemble(self.target, &spelling::of(self.target, text))
            .unwrap_or_else(|error| panic!("{}: {error}", self.target.arch));
        // All of LDS, where M0 says how much of it is there and no instruction takes it for something else.
        if self.target.arch.has(Feature::LdsLimitInM0) && text.starts_with("ds_") && state.m0 == 0 {
            let after = snippet.run(&mut self.machine, &WaveState { m0: u32::MAX, ..state.clone() })?;
            return Ok(WaveState { m0: state.m0, ..after });
        }
        snippet.run(&mut self.machine, state)
    }

    /// Run, expecting a good end.
    pub(crate) fn good(&mut self, text: &str, state: &WaveState) -> WaveState {
        let target = self.target;
        self.run(text, state).unwrap_or_else(|fault| panic!("{target:?} {text}: {fault}"))
    }

    pub(crate) fn contents(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.size];
        self.machine.read(self.buffer, &mut bytes).expect("reading");
        bytes
    }
}

/// Whether a processor has an instruction.
pub(crate) fn exists(target: impl Into<Target>, text: &str) -> bool {
    let target = target.into();
    Snippet::assemble(target, &spelling::of(target, text)).is_ok()
}

/// A wave with all the lanes that it may have.
pub(crate) fn whole(target: Target) -> WaveState {
    WaveState { exec: target.wave.all_lanes(), ..WaveState::default() }
}

/// Deterministic numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }

    pub(crate) fn register(&mut self) -> VectorRegister {
        std::array::from_fn(|_| self.next() as u32)
    }

    /// Masks with all, no, some and single lanes.
    pub(crate) fn exec(&mut self, target: Target) -> u64 {
        let exec = match self.below(8) {
            0 => 0,
            1 | 2 => u64::MAX,
            3 => 1 << self.below(target.wave.lanes().into()),
            _ => self.next() | self.next() & self.next(),
        };
        exec & target.wave.all_lanes()
    }
}

pub(crate) fn active(exec: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |lane| exec >> lane & 1 == 1)
}

/// Little-endian bytes as a number.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().enumerate().map(|(index, byte)| u64::from(*byte) << (8 * index)).sum()
}

/// Whether a load to one half of a register keeps the other: not where ECC protects registers (CDNA ISA
/// manuals, "16-bit Memory Operations"), which no RDNA has.
pub(crate) fn keeps_half(arch: Arch) -> bool {
    !is_gcn(arch.into())
        || matches!(
            arch,
            Arch::Gfx803 | Arch::Gfx900 | Arch::Gfx902 | Arch::Gfx904 | Arch::Gfx909 | Arch::Gfx90c
        )
}

/// A register's value after a load of one or two bytes: extended, or in one half beside the old other half or
/// zero.
pub(crate) fn small(arch: Arch, name: &str, bytes: &[u8], old: u32) -> u32 {
    let old = if keeps_half(arch) { old } else { 0 };
    let raw = number(bytes) as u32;
    let signed =
        name.contains("sbyte") || name.contains("sshort") || name.contains("_i8") || name.contains("_i16");
    let bits = 8 * bytes.len() as u32;
    let value = if signed && raw >> (bits - 1) == 1 { raw.wrapping_sub(1 << bits) } else { raw };
    if name.ends_with("_d16_hi") {
        value << 16 | old & 0xffff
    } else if name.ends_with("_d16") {
        old & 0xffff_0000 | value & 0xffff
    } else {
        value
    }
}

/// The tests in here that execute instructions, for [`crate::coverage`].
pub(crate) fn all() {
    atomics::in_lds();
    atomics::in_device_memory();
    atomics::in_lds_by_flat_addresses();
    atomics::scalar();
    atomics::with_data_in_lds();
    buffers::loads_and_stores();
    buffers::unbound();
    data_share::loads();
    data_share::stores();
    data_share::two_addresses();
    data_share::exchanges_of_two();
    data_share::addressed_by_m0();
    data_share::lds_ends_where_m0_says();
    data_share::transposing_loads();
    exchange::swizzles();
    exchange::permutes();
    flat::device_memory();
    flat::flat_into_lds();
    flat::private_memory();
    flat::cache_policies();
    flat::addressed_by_lane();
    formats::loads_with_the_format_in_the_instruction();
    formats::stores_with_the_format_in_the_instruction();
    formats::formats_and_selectors_of_the_resource();
    lds_dma::loads();
    lds_dma::stores();
    lds_dma::loads_of_private_memory();
    scalar::loads();
    scalar::loads_from_buffers();
    scalar::loads_of_parts_of_dwords();
    scalar::stores();
    scalar::scratch_forms();
    scalar::clocks_go_forward();
    scalar::caches_are_no_business_of_results();
}
