//! `s_getreg_b32` and `s_setreg_b32`: the hardware registers (Vega ISA manual, "Hardware Internal Registers" and the
//! tables after it).
//!
//! What they say is the same each time, whatever the host's threads: a workgroup has a compute unit to itself, the first
//! of everything, and its waves are dealt to the four SIMDs in turn. Nothing is outstanding (IB_STS), there is no trap
//! handler (TBA, TMA). TRAPSTS keeps what is written to it: exceptions are not recorded. Registers that would tell of what
//! is not modelled (GPR_ALLOC, the performance snapshots, reserved numbers) are named traps.

use super::Context;
use crate::check::{Outcome, Trap};
use crate::memory::{PRIVATE_APERTURE, SHARED_APERTURE};
use crate::program::Step;
use crate::wave::{EXEC, VCC, Wave};
use amdgpu_isa::Feature;

const MODE: u16 = 1;
const STATUS: u16 = 2;
const TRAPSTS: u16 = 3;
const HW_ID: u16 = 4;
const GPR_ALLOC: u16 = 5;
const LDS_ALLOC: u16 = 6;
const IB_STS: u16 = 7;
const SH_MEM_BASES: u16 = 15;
const TBA_LO: u16 = 16;
const TMA_HI: u16 = 19;
const XCC_ID: u16 = 20;

/// A field of a hardware register: number in bits 0-5, first bit in 6-10, width - 1 in 11-15.
fn field(selector: u16) -> (u16, u32, u32) {
    (selector & 63, u32::from(selector >> 6 & 31), u32::from(selector >> 11) + 1)
}

/// Whether a write to the hardware register field `selector` reaches a bit of MODE.
pub(crate) fn writes_mode_bit(selector: u16, bit: u32) -> bool {
    let (register, first, width) = field(selector);
    register == MODE && (first..first + width).contains(&bit)
}

/// Why a register is not executed.
fn unknown(step: &Step, register: u16) -> Box<Trap> {
    Trap::unimplemented(
        step.op,
        match register {
            GPR_ALLOC => "of GPR_ALLOC, the registers' allocation",
            21..=24 => "of a performance snapshot",
            _ => "of a hardware register that is reserved",
        },
    )
}

/// The field that `s_getreg_b32` asks for.
pub(super) fn get(context: &Context<'_>, step: &Step) -> Outcome<u32> {
    let (register, offset, width) = field(step.imm as u16);
    let w = &*context.wave;
    let value = match register {
        MODE => w.mode,
        STATUS => status(w),
        TRAPSTS => w.trap_status,
        // WAVE_ID in bits 3:0, SIMD_ID in 5:4. A workgroup has 16 waves at most, so four on a SIMD.
        HW_ID => (w.place.number / 4) | ((w.place.number % 4) << 4),
        // LDS_BASE is zero; LDS_SIZE is in units of 64 dwords.
        LDS_ALLOC => {
            let granule = context.program.arch.limits().lds_granule;
            ((context.lds.len() as u32).next_multiple_of(granule) / 256) << 12
        }
        IB_STS | TBA_LO..=TMA_HI => 0,
        SH_MEM_BASES => (PRIVATE_APERTURE >> 48) as u32 | ((SHARED_APERTURE >> 48) as u32) << 16,
        XCC_ID if context.program.arch.has(Feature::Dies) => 0,
        _ => return Err(unknown(step, register)),
    };
    Ok((u64::from(value) >> offset & ((1 << width) - 1)) as u32)
}

/// SCC, EXECZ, VCCZ, IN_TG, VALID, SCRATCH_EN; nothing else is so of a wave that runs here.
fn status(w: &Wave) -> u32 {
    let flags = [
        (0, w.scc),
        (9, w.s64(EXEC) == 0),
        (10, w.s64(VCC) == 0),
        (11, w.place.in_group),
        (16, true),
        (28, w.place.scratch),
    ];
    flags.into_iter().fold(0, |status, (bit, flag)| status | u32::from(flag) << bit)
}

/// `s_setreg_b32`. Registers that a kernel may only read keep their values.
pub(super) fn set(w: &mut Wave, step: &Step, value: u32) -> Outcome {
    let (register, offset, width) = field(step.imm as u16);
    let mask = (((1u64 << width) - 1) << offset) as u32;
    let merged = |old: u32| old & !mask | value << offset & mask;
    match register {
        MODE => w.set_mode(merged(w.mode)),
        TRAPSTS => w.trap_status = merged(w.trap_status),
        STATUS | HW_ID..=IB_STS | SH_MEM_BASES..=XCC_ID => {}
        _ => return Err(unknown(step, register)),
    }
    Ok(())
}
