//! Matrix instructions (VOP3P-MAI): D = A × B + C, for one or more blocks at once, EXEC ignored.
//!
//! Operands are brought from the lanes into dense matrices ([`layout`], [`registers`]), multiplied row by row
//! with the columns side by side, so that the host's vectors run along a row, and put back. What is rounded
//! when is a matter of its own: [`numerics`].
//!
//! MODE (CDNA3 ISA manual, sections 7.1.2 and 7.3): rounding is to nearest even always. FP_DENORM counts for
//! single precision factors only; before gfx942 for C and the result, too. FP16_OVFL, from gfx942 on, keeps
//! what overflows at the largest number, and integers at the ends of their range.

mod blocks;
mod chain;
mod exact;
mod flushed;
mod layout;
mod multiply;
mod numerics;
mod operands;
mod registers;
mod shape;
mod truncated;

use amdgpu_isa::{Arch, Feature, Op};

use crate::check::Outcome;
use crate::program::{Context, Handler, Step};

/// The function that executes a matrix instruction.
pub(super) fn handler(op: Op) -> Option<Handler> {
    shape::of(op).map(|_| execute as Handler)
}

/// In what a matrix instruction's result may differ from a device's; `None`: in nothing ([`numerics`]).
pub(super) fn bound(arch: Arch, op: Op) -> Option<&'static str> {
    use amdgpu_isa::Element::{F32, F64, I8, Small};
    let shape = shape::of(op)?;
    Some(match shape.a {
        F32 | F64 | I8 => return None,
        Small => {
            "the order and rounding of sums are not published: 32 products in double precision, then C, once"
        }
        _ if shape.is_sparse => {
            "the rounding of sums is not published: the selected products' as the dense instructions'"
        }
        _ if arch.has(Feature::ScaledMatrices) => {
            "the rounding of sums is not published: as measured on gfx942"
        }
        _ => return None,
    })
}

/// Every lane takes part, whatever EXEC is.
fn execute(context: &mut Context<'_>, step: &Step) -> Outcome {
    let job = operands::job(context, step)?;
    multiply::run(context.wave, &job);
    Ok(())
}
