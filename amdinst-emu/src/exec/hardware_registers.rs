//! `s_getreg_b32` and `s_setreg_b32`: the hardware registers (Vega ISA manual, "Hardware Internal Registers"
//! and the tables after it).
//!
//! What they say is the same each time, whatever the host's threads: a workgroup has a compute unit to
//! itself, the first of everything, and its waves are dealt to the four SIMDs in turn. Nothing is outstanding
//! (IB_STS), there is no trap handler (TBA, TMA). TRAPSTS keeps what is written to it: exceptions are not
//! recorded. Registers that would tell of what is not modelled (GPR_ALLOC, the performance snapshots,
//! reserved numbers) are named traps.

use crate::check::{Outcome, Trap};
use crate::memory::{PRIVATE_APERTURE, SHARED_APERTURE};
use crate::program::{Context, Step};
use crate::rules::{HardwareRegister, Rules};
use crate::wave::{EXEC, LANES, Signal, VCC, Wave};
use amdgpu_isa::Feature;

/// A field of a hardware register: number in bits 0-5, first bit in 6-10, width - 1 in 11-15.
fn field(selector: u16) -> (u16, u32, u32) {
    (selector & 63, u32::from(selector >> 6 & 31), u32::from(selector >> 11) + 1)
}

/// The bits of a field.
fn mask(first: u32, width: u32) -> u32 {
    (((1u64 << width) - 1) << first) as u32
}

/// Whether a write to the hardware register field `selector` reaches some bits of MODE.
pub(crate) fn writes_mode(rules: &Rules, selector: u16, bits: u32) -> bool {
    let (register, first, width) = field(selector);
    rules.hardware_register(register) == Some(HardwareRegister::Mode) && mask(first, width) & bits != 0
}

/// Whether the hardware register field `selector` is of a clock.
pub(super) fn is_cycles(rules: &Rules, selector: u16) -> bool {
    let register = rules.hardware_register(field(selector).0);
    use HardwareRegister::{Cycles, CyclesHigh, CyclesLow};
    matches!(register, Some(Cycles | CyclesLow | CyclesHigh))
}

/// Why a register is not executed.
fn unknown(step: &Step, register: Option<HardwareRegister>) -> Box<Trap> {
    Trap::unimplemented(
        step.op,
        match register {
            Some(HardwareRegister::Registers) => "of GPR_ALLOC, the registers' allocation",
            Some(HardwareRegister::Snapshot) => "of a performance snapshot",
            _ => "of a hardware register that is reserved",
        },
    )
}

/// The field that `s_getreg_b32` asks for.
pub(super) fn get(context: &mut Context<'_>, step: &Step) -> Outcome<u32> {
    use HardwareRegister as R;
    let (number, offset, width) = field(step.imm as u16);
    let w = &mut *context.wave;
    let register = w.rules.hardware_register(number);
    let value = match register {
        Some(R::Mode) => w.mode,
        Some(R::Status) => status(w),
        Some(R::TrapStatus) => w.trap_status,
        // WAVE_ID in bits 3:0, SIMD_ID in 5:4. A workgroup has 16 waves at most, so four on a SIMD.
        Some(R::Id) => (w.place.number / SIMDS) | ((w.place.number % SIMDS) << 4),
        // WAVE_ID in bits 4:0, SIMD_ID in 9:8. A workgroup has 32 waves at most, so eight on a SIMD.
        Some(R::Id1) => (w.place.number / SIMDS) | ((w.place.number % SIMDS) << 8),
        // LDS_BASE is zero; LDS_SIZE is in units of 64 dwords.
        Some(R::Lds) => {
            let granule = context.program.target.arch.limits().lds_granule;
            ((context.lds.len() as u32).next_multiple_of(granule) / 256) << 12
        }
        Some(R::Id2 | R::Outstanding | R::TrapHandler | R::TrapControl | R::Scheduling) => 0,
        Some(R::Exceptions) => w.trap_status,
        Some(R::State) => state(w),
        Some(R::Apertures) => (PRIVATE_APERTURE >> 48) as u32 | ((SHARED_APERTURE >> 48) as u32) << 16,
        Some(R::Die) if context.program.target.arch.has(Feature::Dies) => 0,
        Some(R::ScratchLow) => w.flat_scratch() as u32,
        Some(R::ScratchHigh) => (w.flat_scratch() >> 32) as u32,
        Some(R::Cycles) if context.program.target.arch.has(Feature::ShaderCycles) => {
            w.read_clock() as u32 & 0xf_ffff
        }
        Some(R::CyclesLow) => w.read_clock() as u32,
        Some(R::CyclesHigh) => (w.read_clock() >> 32) as u32,
        _ => return Err(unknown(step, register)),
    };
    Ok((u64::from(value) >> offset & ((1 << width) - 1)) as u32)
}

/// SIMDs that the waves of a workgroup are dealt to.
const SIMDS: u32 = 4;

/// SCC, EXECZ, VCCZ, IN_TG, VALID, SCRATCH_EN; nothing else is so of a wave that runs here.
fn status(w: &Wave) -> u32 {
    let flags = [
        (1 << 0, w.scc && w.rules.status_has_scc),
        (1 << 9, w.mask(EXEC) == 0),
        (1 << 10, w.mask(VCC) == 0),
        (1 << 11, w.place.in_group),
        (1 << 16, true),
        (w.rules.scratch_enabled, w.place.scratch),
        (w.rules.wave64, w.lanes() == LANES),
    ];
    set(&flags)
}

/// BARRIER_COMPLETE, SCC, SCRATCH_EN.
fn state(w: &Wave) -> u32 {
    set(&[(1 << 2, w.signal == Signal::Complete), (1 << 9, w.scc), (1 << 18, w.place.scratch)])
}

/// The bits of flags that are set.
fn set(flags: &[(u32, bool)]) -> u32 {
    flags.iter().filter(|(_, flag)| *flag).fold(0, |all, (bit, _)| all | bit)
}

/// `s_setreg_b32`. Registers that a kernel may only read keep their values.
pub(super) fn put(w: &mut Wave, step: &Step, value: u32) -> Outcome {
    use HardwareRegister as R;
    let (number, offset, width) = field(step.imm as u16);
    let mask = mask(offset, width);
    let merged = |old: u32| old & !mask | value << offset & mask;
    let register = w.rules.hardware_register(number);
    match register {
        Some(R::Mode) => w.set_mode(merged(w.mode)),
        Some(R::TrapStatus | R::Exceptions) => w.trap_status = merged(w.trap_status),
        Some(R::ScratchLow) if w.rules.sets_scratch => {
            w.set_s32(w.rules.flat_scratch, merged(w.flat_scratch() as u32))
        }
        Some(R::ScratchHigh) if w.rules.sets_scratch => {
            w.set_s32(w.rules.flat_scratch + 1, merged((w.flat_scratch() >> 32) as u32));
        }
        None | Some(R::Snapshot) => return Err(unknown(step, register)),
        Some(_) => {}
    }
    Ok(())
}
