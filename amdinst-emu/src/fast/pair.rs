//! Steps that refer to others: instructions of two operations (VOPD), and those with DPP.
//!
//! Of two operations each goes by its own handler, one after the other. That is what reading before writing
//! comes to where the one that runs first writes nothing that the other reads. `compile` puts them in an
//! order, and chooses operations whose handlers never leave to the general way, which would run both.

use amdgpu_isa::Op;

use super::Body;
use super::level::Level;
use crate::program::{Context, Hot, Permutation, Step};
use crate::wave::Src;

/// Whether an operation's handler does all of it.
pub(super) fn is_whole(op: Op) -> bool {
    matches!(
        op,
        Op::v_mov_b32
            | Op::v_add_f32
            | Op::v_sub_f32
            | Op::v_subrev_f32
            | Op::v_mul_f32
            | Op::v_min_f32
            | Op::v_max_f32
            | Op::v_fmac_f32
            | Op::v_fmamk_f32
            | Op::v_fmaak_f32
            | Op::v_cndmask_b32
            | Op::v_add_u32
            | Op::v_lshlrev_b32
            | Op::v_and_b32
    )
}

/// The two operations in the order in which they can run one after the other; `None` if each reads what the
/// other writes.
pub(super) fn in_order([first, second]: &[Step; 2]) -> Option<[&Step; 2]> {
    let reads = |step: &Step, row: u16| step.src.contains(&Src::Row(row));
    if !reads(second, first.dst) {
        Some([first, second])
    } else if !reads(first, second.dst) {
        Some([second, first])
    } else {
        None
    }
}

/// Puts the address of what a step refers to into it.
pub(super) fn refer<T>(hot: &mut Hot, to: &T) {
    let address = std::ptr::from_ref(to).expose_provenance() as u64;
    (hot.imm[0], hot.imm[1]) = (address as u32, (address >> 32) as u32);
}

/// What [`refer`] has put into a step.
///
/// # Safety
/// It was one of this type, and is where it was.
#[inline(always)]
unsafe fn referred<'a, T>(hot: &Hot) -> &'a T {
    let address = u64::from(hot.imm[0]) | u64::from(hot.imm[1]) << 32;
    // SAFETY: the caller's.
    unsafe { &*std::ptr::with_exposed_provenance::<T>(address as usize) }
}

/// Two steps.
pub(super) struct Both;

impl Body for Both {
    #[inline(always)]
    fn run<L: Level>(_: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        // SAFETY: `compile` has put the address there, of steps that the program's code owns and never moves.
        unsafe {
            for step in referred::<[Hot; 2]>(hot) {
                (step.run)(context, step);
            }
        }
        hot.next
    }
}

/// A step whose first source is permuted, and the permutation.
#[derive(Debug)]
pub(super) struct Permuted {
    pub(super) permutation: Permutation,
    /// The source's row, the first of its dwords.
    pub(super) source: u16,
    pub(super) dwords: u8,
    /// The step, which reads [`SOURCE_ROWS`](crate::wave::SOURCE_ROWS) instead.
    pub(super) step: Hot,
}

/// An operation with DPP.
pub(super) struct Permute;

impl Body for Permute {
    #[inline(always)]
    fn run<L: Level>(_: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        // SAFETY: as for `Both`.
        unsafe {
            let Permuted { permutation, source, dwords, step } = referred::<Permuted>(hot);
            let exec = context.wave.exec;
            context.wave.permuting = Some(exec);
            context.wave.exec = exec & permutation.apply(context.wave, *source, *dwords);
            let next = (step.run)(context, step);
            context.wave.exec = exec;
            context.wave.permuting = None;
            next
        }
    }
}
