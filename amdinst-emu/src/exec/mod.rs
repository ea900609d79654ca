//! Execution of steps, one file an encoding.

pub(crate) mod approximate;
mod atomic;
mod atomic_float;
mod convert;
mod dot;
pub(crate) mod float;
pub(crate) mod footprint;
mod fork;
pub(crate) mod half;
mod halves;
mod hardware_registers;
pub(crate) mod in_double;
mod in_integers;
mod in_vectors;
mod lane_data;
mod lane_ops;
pub(crate) mod lane_race;
mod lds;
mod math;
mod mfma;
mod minifloat;
mod pair;
mod permute;
mod pseudo_scalar;
mod scalar_float;
mod smem;
mod soft;
mod sop;
mod sopp;
mod source_lane;
pub(crate) mod unsupported;
mod valu;
mod vmem;
mod vop1;
mod vop2;
mod vop3;
mod vop3p;
mod vopc;
mod wmma;

use std::sync::LazyLock;

use amdgpu_isa::{Encoding, Inst, Op, Special, Value};

use crate::check::{FaultKind, Outcome, Trap};
use crate::program::{Context, Handler, Step, Versions};

/// Tables of vector arithmetic.
const TABLES: [&[Entry]; 4] = [vop1::TABLE, vop2::TABLE, vop3::TABLE, vop3p::TABLE];

/// Operations of a table, and what executes them.
type Entry = (&'static [Op], Versions);

/// What executes a vector arithmetic instruction. `None`: it has a handler of its own, or is not implemented.
pub(crate) fn lane_work(op: Op) -> Option<&'static Versions> {
    /// By op: a program of a million instructions asks twice for each.
    static BY_OP: LazyLock<Vec<Option<&Versions>>> = LazyLock::new(|| {
        let mut by_op = vec![None; Op::ALL.len()];
        for (ops, versions) in TABLES.iter().copied().flatten() {
            for op in *ops {
                by_op[*op as usize] = Some(versions);
            }
        }
        by_op
    });
    BY_OP[op as usize]
}

/// The function that executes an instruction.
pub(crate) fn handler(inst: &Inst) -> Handler {
    let op = inst.op;
    if inst.operands.iter().any(|operand| is_of_graphics(operand.value)) {
        return of_graphics;
    }
    if let Some(handler) = fork::handler(op) {
        return handler;
    }
    match inst.encoding {
        Encoding::Sop2 => sop::sop2,
        Encoding::Sop1 => sop::sop1,
        Encoding::Sopk => sop::sopk,
        Encoding::Sopc => sop::sopc,
        Encoding::Sopp => sopp::sopp,
        Encoding::Smem => smem::handler(op),
        Encoding::Ds => lds::handler(op),
        Encoding::Flat | Encoding::Global | Encoding::Scratch | Encoding::Mubuf | Encoding::Mtbuf => {
            vmem::handler(op)
        }
        Encoding::Vintrp
        | Encoding::Vinterp
        | Encoding::Ldsdir
        | Encoding::Mimg
        | Encoding::MimgNsa
        | Encoding::MimgNsa2
        | Encoding::MimgNsa3
        | Encoding::Vimage
        | Encoding::Vsample
        | Encoding::Exp => unimplemented_step,
        _ => {
            if let Some(handler) = lane_ops::handler(op) {
                handler
            } else if comparison(op).is_some() {
                vopc::vopc
            } else if let Some(handler) = mfma::handler(op)
                .or_else(|| convert::handler(op))
                .or_else(|| dot::handler(op))
                .or_else(|| halves::handler(op))
                .or_else(|| permute::handler(op))
                .or_else(|| pseudo_scalar::handler(op))
                .or_else(|| wmma::handler(op))
            {
                handler
            } else if lane_work(op).is_some() {
                valu::valu
            } else {
                unimplemented_step
            }
        }
    }
}

pub(crate) use atomic::AtomicWork;
pub(crate) use fork::is_fork;
pub(crate) use hardware_registers::writes_mode;
pub(crate) use lds::is_plain as is_plain_in_lds;
pub(crate) use pair::{operations, pair};
pub(crate) use permute::is_relative;
pub(crate) use sop::is_clock;
pub(crate) use source_lane::source_lane;
pub(crate) use vmem::{Bytes, passes_the_cache, plain};
pub(crate) use vopc::code as comparison;

/// Branches whose target is an immediate.
pub(crate) fn is_direct_branch(op: Op) -> bool {
    matches!(
        op,
        Op::s_branch
            | Op::s_cbranch_scc0
            | Op::s_cbranch_scc1
            | Op::s_cbranch_vccz
            | Op::s_cbranch_vccnz
            | Op::s_cbranch_execz
            | Op::s_cbranch_execnz
            | Op::s_call_b64
            | Op::s_cbranch_i_fork
    )
}

/// Instructions after which the wave may not be running, or runs in another mode.
pub(crate) fn is_control(op: Op) -> bool {
    matches!(
        op,
        Op::s_endpgm
            | Op::s_endpgm_saved
            | Op::s_endpgm_ordered_ps_done
            | Op::s_barrier
            | Op::s_barrier_wait
            | Op::ds_gws_barrier
            | Op::ds_gws_sema_p
            | Op::s_sethalt
            | Op::s_sendmsghalt
            | Op::s_sleep
            | Op::s_sleep_var
            | Op::s_set_gpr_idx_on
            | Op::s_setvskip
            // May write MODE.GPR_IDX_EN and MODE.VSKIP.
            | Op::s_setreg_b32
            | Op::s_setreg_imm32_b32
            | Op::s_set_gpr_idx_off
    )
}

/// A word that is no instruction.
pub(crate) fn undecodable(_: &mut Context<'_>, step: &Step) -> Outcome {
    let message = step.extra.as_ref().map(|extra| extra.message.clone()).unwrap_or_default();
    Err(Trap::new(FaultKind::Undecodable(message)))
}

/// An instruction that is not executed.
pub(crate) fn unimplemented_step(_: &mut Context<'_>, step: &Step) -> Outcome {
    Err(not_executed(step.op))
}

/// The trap of an opcode that is not executed.
fn not_executed(op: Op) -> Box<Trap> {
    Trap::unimplemented(op, unsupported::reason(op).unwrap_or_default())
}

/// Whether an operand is a dword of LDS, as only pixel shaders have it, or comes from the graphics pipeline.
pub(crate) fn is_of_graphics(operand: Value) -> bool {
    matches!(operand, Value::Special(Special::LdsDirect | Special::PopsExitingWaveId))
}

/// An instruction with such an operand.
fn of_graphics(_: &mut Context<'_>, step: &Step) -> Outcome {
    Err(Trap::unimplemented(step.op, "with LDS_DIRECT or POPS_EXITING_WAVE_ID as an operand"))
}

/// An instruction that only a trap handler may execute, or whose operands only that one sets.
pub(crate) fn privileged(_: &mut Context<'_>, step: &Step) -> Outcome {
    Err(Trap::unimplemented(step.op, "with registers of the trap handler (TTMP)"))
}

/// An instruction without effect here: caches and counters.
pub(crate) fn nothing(_: &mut Context<'_>, _: &Step) -> Outcome {
    Ok(())
}

/// Defines a table of lane-wise arithmetic: mnemonics, and what executes them, a function each.
macro_rules! table {
    ($wave:ident, $step:ident; $($(#[$meta:meta])* $first:ident $(| $more:ident)* => $body:expr,)*) => {
        /// The mnemonics that this table executes, and how.
        pub(super) const TABLE: &[crate::exec::Entry] = &[$({
            #[inline(always)]
            fn body($wave: &mut crate::wave::Wave, $step: &crate::program::Step) {
                let _ = (&$wave, &$step);
                $body
            }
            (&[amdgpu_isa::Op::$first, $(amdgpu_isa::Op::$more,)*], crate::exec::versions!(body))
        },)*];
    };
}
pub(crate) use table;

/// Compiles a function for the vector extensions that x86-64 processors commonly have.
macro_rules! versions {
    ($body:ident) => {{
        fn any(wave: &mut crate::wave::Wave, step: &crate::program::Step) {
            $body(wave, step);
        }

        #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt"))]
        fn avx2(wave: &mut crate::wave::Wave, step: &crate::program::Step) {
            $body(wave, step);
        }

        crate::program::Versions { any, avx2 }
    }};
}
pub(crate) use versions;

/// Does what depends on a rounding mode with the commonest one as a constant, or with another.
macro_rules! rounding {
    ($round:ident = $mode:expr; $body:expr) => {
        match $mode {
            0 => {
                let $round = 0;
                $body
            }
            $round => $body,
        }
    };
}
pub(crate) use rounding;
