//! The two counting schemes of "Efficient Binary Instrumentation for GPU Profiling" (Scalable Tools Workshop 2022), as its
//! slides write them: what ours are compared with in evaluations, and of no other use.
//!
//! Two counters a site, eight bytes: *agree* (EXEC did not change, or became empty) and *total*. Behind the narrowing
//! instruction one lane computes the counters' address from the wave's number, compares OLD with NEW and NEW with zero, and
//! adds each result to *agree*, then one to *total*: three atomics, in LDS or in memory. With LDS the counters are copied to
//! memory before the wave ends.
//!
//! Instruction by instruction that is the slides' sequence; registers are chosen as for our own schemes, where the slides have
//! fixed ones. What the slides leave open is done as our schemes do it (the prologue that finds the wave's number) or in the
//! manner of what they show, one lane at a time (clearing and copying LDS).
//!
//! Of the forms that a narrowing has they show one, `s_and_saveexec_b64`, and count no other: the counts that their author
//! published have three sites for b+tree's `findK`, in whose code object two `s_and_b64 exec` stand besides.
//!
//! The buffer has our header, then eight bytes for each wave and site: not the records that `counters` decodes.

use super::allocate::NoRegisters;
use super::layout::Temps;
use super::refusal::Reason;
use super::sequence::{Sequence, sgpr};
use crate::isa::{LAST_SGPR, Op, Value};

/// Bytes of a site's counters.
const SITE_BYTES: u32 = 8;
/// Atomics that count an execution.
pub(super) const OPERATIONS: u32 = 3;
/// The registers that all code owns are above those that prologues use.
const LOWEST_OWNED: u8 = 48;
/// With the six specials (VCC and its like) that is 100 SGPRs: as many as eight waves a SIMD have.
const HIGHEST_OWNED: u8 = 93;
/// SCC as a source operand.
const SCC: Value = Value::Special(253);

/// Whether what narrows EXEC so is counted.
pub(super) fn counts(op: Op) -> bool {
    op == Op::s_and_saveexec_b64
}

/// Bytes from one wave's counters to the next.
pub(super) const fn stride(sites: u32) -> u32 {
    SITE_BYTES * sites
}

/// Registers of the schemes, beside the pair with an address: of the wave's counters in memory where they live in LDS, else of
/// the first wave's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SeedRegisters {
    /// In LDS, not in memory.
    pub(super) lds: bool,
    /// Sites of the kernel.
    pub(super) sites: u32,
    /// SGPR: the wave's number, in its workgroup or in the launch.
    pub(super) wave: u8,
    /// SGPR: where the workgroup's counters start in LDS.
    pub(super) base: u8,
    /// Even pair of VGPRs.
    pub(super) address: u8,
    /// Even pair of VGPRs.
    pub(super) data: u8,
    /// VGPR: the largest number, so that an atomic increment does not wrap around.
    pub(super) limit: u8,
}

impl SeedRegisters {
    /// Takes them from ascending lists of unused registers.
    pub(super) fn take(
        lds: bool,
        sites: u32,
        sgprs: &mut Vec<u8>,
        vgprs: impl Iterator<Item = u8>,
    ) -> Result<Self, NoRegisters> {
        let mut single = || {
            // Not so high that they alone lower occupancy.
            let at = sgprs.iter().rposition(|register| (LOWEST_OWNED..=HIGHEST_OWNED).contains(register));
            let missing = || (Reason::NoFreeSgpr, "no SGPR above those of prologues is unused".to_owned());
            at.map(|at| sgprs.remove(at)).ok_or_else(missing)
        };
        let (wave, base) = (single()?, single()?);
        let mut vgprs = vgprs.collect::<Vec<u8>>();
        let missing = || (Reason::NoFreeVgpr, "five VGPRs, two of them even pairs, are wanted".to_owned());
        let mut pair = || {
            let at = vgprs.windows(2).position(|two| two[0] % 2 == 0 && two[1] == two[0] + 1)?;
            vgprs.drain(at..at + 2).next()
        };
        let (address, data) = pair().zip(pair()).ok_or_else(missing)?;
        let limit = vgprs.first().copied().ok_or_else(missing)?;
        Ok(Self { lds, sites, wave, base, address, data, limit })
    }

    /// The prologue's last part: everything else is in place, EXEC is the program's, the pair at `exec` and `temp` are free.
    pub(super) fn enter(&self, code: &mut Sequence, exec: u8, temp: u8) {
        code.sop1(Op::s_mov_b64, sgpr(exec), Value::EXEC);
        code.sop1(Op::s_mov_b64, Value::EXEC, Value::int(1));
        code.v_mov(self.limit, Value::int(-1));
        if self.lds {
            self.wave_in_lds(code, temp);
            for half in 0..2 {
                code.v_mov(self.data + half, Value::int(0));
            }
            for site in 0..self.sites {
                code.ds_write_pair(self.address, self.data, SITE_BYTES * site);
            }
        }
        code.sop1(Op::s_mov_b64, Value::EXEC, sgpr(exec));
    }

    /// The address of the wave's counters in LDS, into the first VGPR of the address.
    fn wave_in_lds(&self, code: &mut Sequence, temp: u8) {
        code.sop2(Op::s_mul_i32, temp, sgpr(self.wave), Value::int(self.sites as i32));
        code.sop2(Op::s_lshl_b32, temp, sgpr(temp), Value::int(3));
        code.sop2(Op::s_add_u32, temp, sgpr(temp), sgpr(self.base));
        code.v_mov(self.address, sgpr(temp));
    }

    /// Counts an execution of a site. `old` is OLD, `record` the pair with the address in memory.
    pub(super) fn count(&self, code: &mut Sequence, old: Value, temps: &Temps, record: u8, site: u32) {
        let (Some(saved), [Some(low), Some(high), _]) = (temps.pair, temps.singles) else { return };
        code.sop1(Op::s_mov_b64, sgpr(saved), Value::EXEC);
        code.sop1(Op::s_mov_b64, Value::EXEC, Value::int(1));
        code.sop2(Op::s_mul_i32, low, Value::int(self.sites as i32), sgpr(self.wave));
        code.sop2(Op::s_add_u32, low, Value::int(site as i32), sgpr(low));
        code.sop2(Op::s_lshl_b32, low, sgpr(low), Value::int(3));
        if self.lds {
            code.sop2(Op::s_add_u32, low, sgpr(self.base), sgpr(low));
        } else {
            code.sop2(Op::s_add_u32, low, sgpr(record), sgpr(low));
            code.sop2(Op::s_addc_u32, high, sgpr(record + 1), Value::int(0));
            code.v_mov(self.address + 1, sgpr(high));
        }
        code.v_mov(self.address, sgpr(low));
        for compared in [old, Value::int(0)] {
            code.sopc(Op::s_cmp_eq_u64, compared, sgpr(saved));
            code.v_mov(self.data, SCC);
            if self.lds {
                code.ds_add(self.address, self.data, 0);
            } else {
                code.global_atomic_at(Op::global_atomic_add, self.address, self.data, 0);
            }
        }
        if self.lds {
            code.vop2(Op::v_add_u32, self.address, Value::int(4), self.address);
            code.ds_increment(self.address, self.limit);
        } else {
            code.global_atomic_at(Op::global_atomic_inc, self.address, self.limit, 4);
        }
        code.sop1(Op::s_mov_b64, Value::EXEC, sgpr(saved));
    }

    /// Before the wave ends: copies its counters from LDS to memory. Every SGPR but the probes' own is dead.
    pub(super) fn leave(&self, code: &mut Sequence, record: u8) {
        if !self.lds {
            return;
        }
        let owned = [record, record + 1, self.wave, self.base];
        let temp = (0..LAST_SGPR).find(|register| !owned.contains(register)).unwrap_or_default();
        // A scalar load that nobody waited for may still write to it.
        code.wait_scalar_loads();
        code.sop1(Op::s_mov_b64, Value::EXEC, Value::int(1));
        self.wave_in_lds(code, temp);
        code.v_mov(self.limit, sgpr(temp));
        for half in 0..2 {
            code.v_mov(self.address + half, sgpr(record + half));
        }
        for site in 0..self.sites {
            code.ds_read_pair(self.data, self.limit, SITE_BYTES * site);
            code.wait_scalar_loads();
            code.global_store_pair(self.address, self.data, (SITE_BYTES * site) as i32);
        }
    }
}
