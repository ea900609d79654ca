//! The two counting schemes of "Efficient Binary Instrumentation for GPU Profiling" (Scalable Tools Workshop 2022), and what
//! they were measured against: what ours are compared with in evaluations, and of no other use.
//!
//! Two counters a site, eight bytes: *agree* (EXEC did not change, or became empty) and *total*. Behind the narrowing
//! instruction one lane compares OLD with NEW and NEW with zero, and adds each result to *agree*, then one to *total*: three
//! atomics, in LDS or in memory. With LDS the counters are copied to memory before the wave ends. The clock is read when a wave
//! starts and when it ends, and both readings are written behind the counters.
//!
//! Instruction by instruction these are the sequences of code objects that the tool's author published beside it, which say more
//! than the slides (`bbiiggppiigg/KernelReorderTool`, July 2022: `backprop/backprop.{base,instr}.k1.new` and
//! `b+tree/tmp_00.hsaco`): each atomic in LDS is waited for, of the three in memory the last; at the end each read of LDS and each
//! store is. Where something is counted the clock is read first of all, else behind the prologue, so that what is compared with
//! lacks that. Registers are chosen as for our own schemes, where those have fixed ones, and the wave's place is worked out from
//! the strides that come with the argument, where those have the launch's shape as constants.
//!
//! Of the forms that a narrowing has they know one, `s_and_saveexec_b64`: in the `findK` of those code objects three are counted,
//! and two `s_and_b64 exec` are not.
//!
//! The buffer has our header, then for each wave eight bytes a site and sixteen of the clock: not the records that `counters`
//! decodes.

use amdgpu_isa::{Arch, Op, Special, Value};

use super::allocate::{NoRegisters, take_pair};
use super::deferred::Deferred;
use super::layout::Temps;
use super::refusal::Reason;
use super::sequence::{Sequence, sgpr};

/// Bytes of a site's counters.
const SITE_BYTES: u32 = 8;
/// Bytes of the clock's two readings.
const CLOCK_BYTES: u32 = 16;
/// Atomics that count an execution.
pub(super) const OPERATIONS: u32 = 3;
/// The registers that are reserved for all code are above those that prologues use.
const LOWEST_OWNED: u8 = 48;
/// With the six specials (VCC and its like) that is 100 SGPRs: as many as eight waves a SIMD have.
const HIGHEST_OWNED: u8 = 93;
/// SCC as a source operand.
const SCC: Value = Value::Special(Special::Scc);

/// Where counters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SeedPlace {
    /// Nowhere: the clock is read, and nothing counted.
    Nowhere,
    Lds,
    Memory,
}

/// Whether what narrows EXEC so is counted.
pub(super) fn counts(op: Op) -> bool {
    op == Op::s_and_saveexec_b64
}

/// Bytes from one wave's counters to the next in memory.
pub(super) const fn stride(sites: u32) -> u32 {
    image_bytes(sites) + CLOCK_BYTES
}

/// Bytes of a wave's counters in LDS.
pub(super) const fn image_bytes(sites: u32) -> u32 {
    SITE_BYTES * sites
}

/// Registers of the schemes, beside the pair with the address of the wave's counters in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SeedRegisters {
    pub(super) place: SeedPlace,
    /// Sites of the kernel.
    sites: u32,
    /// Pair of SGPRs: the clock when the wave started.
    begin: u8,
    /// Pair of SGPRs: the clock when it ends.
    end: u8,
    /// SGPR: where the wave's counters are in LDS.
    image: u8,
    /// Even pair of VGPRs.
    address: u8,
    /// Even pair of VGPRs.
    data: u8,
    /// VGPR: the largest number, so that an atomic increment does not wrap around; at the end an address in LDS.
    limit: u8,
}

impl SeedRegisters {
    /// Takes them from ascending lists of unused registers.
    pub(super) fn take(
        place: SeedPlace,
        sites: u32,
        sgprs: &mut Vec<u8>,
        vgprs: impl Iterator<Item = u8>,
    ) -> Result<Self, NoRegisters> {
        // Not so high that they alone lower occupancy.
        let mut above: Vec<u8> = sgprs
            .iter()
            .copied()
            .filter(|register| (LOWEST_OWNED..=HIGHEST_OWNED).contains(register))
            .collect();
        let missing = || (Reason::NoFreeSgpr, "too few SGPRs above those of prologues are unused".to_owned());
        let (begin, end) = take_pair(&mut above).zip(take_pair(&mut above)).ok_or_else(missing)?;
        let image = above.pop().ok_or_else(missing)?;
        let taken = [begin, begin + 1, end, end + 1, image];
        sgprs.retain(|register| !taken.contains(register));
        let mut vgprs = vgprs.collect::<Vec<u8>>();
        let missing = || (Reason::NoFreeVgpr, "five VGPRs, two of them even pairs, are wanted".to_owned());
        let (address, data) = take_pair(&mut vgprs).zip(take_pair(&mut vgprs)).ok_or_else(missing)?;
        let limit = vgprs.first().copied().ok_or_else(missing)?;
        Ok(Self { place, sites, begin, end, image, address, data, limit })
    }

    /// The prologue but for its last part, with registers of its own from `first` on, the argument at a byte of what a pair points
    /// to, and the ids of the workgroup where they arrived; the pair with the address of the wave's counters. They start in LDS,
    /// if they are there, `at` such a byte.
    pub(super) fn enter(
        &self,
        code: &mut Sequence,
        (arch, first): (Arch, u8),
        argument: (u8, u32),
        workgroup: [u8; 3],
        at: u32,
    ) -> u8 {
        if self.place != SeedPlace::Nowhere {
            code.memtime(self.begin);
        }
        let place = Deferred::at(arch, first);
        place.begin_load(code, argument);
        place.keep_work_item(code, arch);
        code.wait_scalar_loads();
        if self.place != SeedPlace::Lds {
            return place.resolve(code, arch, workgroup, None);
        }
        let record = place.resolve(code, arch, workgroup, Some((self.image, image_bytes(self.sites))));
        code.sop2(Op::s_add_u32, self.image, sgpr(self.image), Value::int(at as i32));
        record
    }

    /// The prologue's last part: all registers but these are the program's.
    pub(super) fn start(&self, code: &mut Sequence) {
        if self.place == SeedPlace::Lds {
            code.v_mov(self.address, sgpr(self.image));
            for half in 0..2 {
                code.v_mov(self.data + half, Value::int(0));
            }
            for site in 0..self.sites {
                code.ds_write_pair(self.address, self.data, SITE_BYTES * site);
            }
        }
        code.v_mov(self.limit, Value::int(-1));
        if self.place == SeedPlace::Nowhere {
            code.memtime(self.begin);
        }
    }

    /// Counts an execution of a site. `old` is OLD, `record` the pair with the address in memory.
    pub(super) fn count(&self, code: &mut Sequence, old: Value, temps: &Temps, record: u8, site: u32) {
        let (Some(saved), [Some(low), Some(high), _]) = (temps.pair, temps.singles) else { return };
        let lds = self.place == SeedPlace::Lds;
        code.move_mask(sgpr(saved), Value::EXEC);
        code.move_mask(Value::EXEC, Value::int(1));
        code.sop1(Op::s_mov_b32, sgpr(low), Value::int((SITE_BYTES * site) as i32));
        code.sop2(Op::s_add_u32, low, sgpr(if lds { self.image } else { record }), sgpr(low));
        if !lds {
            code.sop2(Op::s_addc_u32, high, sgpr(record + 1), Value::int(0));
        }
        code.v_mov(self.address, sgpr(low));
        if !lds {
            code.v_mov(self.address + 1, sgpr(high));
        }
        for compared in [old, Value::int(0)] {
            code.sopc(Op::s_cmp_eq_u64, compared, sgpr(saved));
            code.v_mov(self.data, SCC);
            if lds {
                code.ds_add(self.address, self.data, 0);
                code.wait_for_all();
            } else {
                code.global_atomic_at(Op::global_atomic_add, self.address, self.data, 0);
            }
        }
        if lds {
            code.ds_increment(self.address, self.limit, 4);
        } else {
            code.global_atomic_at(Op::global_atomic_inc, self.address, self.limit, 4);
        }
        code.wait_for_all();
        code.move_mask(Value::EXEC, sgpr(saved));
    }

    /// Before the wave ends: copies its counters from LDS to memory, and writes the clock's readings.
    pub(super) fn leave(&self, code: &mut Sequence, record: u8) {
        code.move_mask(Value::EXEC, Value::int(1));
        for half in 0..2 {
            code.v_mov(self.address + half, sgpr(record + half));
        }
        if self.place == SeedPlace::Lds {
            code.v_mov(self.limit, sgpr(self.image));
            for site in 0..self.sites {
                code.ds_read_pair(self.data, self.limit, SITE_BYTES * site);
                code.wait_for_all();
                code.global_store_pair_through(self.address, self.data, (SITE_BYTES * site) as i32);
                code.wait_for_all();
            }
        }
        code.memtime(self.end);
        let behind = image_bytes(self.sites) as i32;
        for (clock, at) in [(self.begin, behind), (self.end, behind + 8)] {
            for half in 0..2 {
                code.v_mov(self.data + half, sgpr(clock + half));
            }
            code.global_store_pair_through(self.address, self.data, at);
            if clock == self.begin {
                code.wait_for_all();
            }
        }
    }
}
