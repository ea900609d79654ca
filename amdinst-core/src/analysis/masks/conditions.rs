//! Which masks comparisons made, as opposed to those that were copied from EXEC or come from elsewhere.

use super::flow::Flowing;
use crate::analysis::program::Program;
use crate::analysis::values::{Expr, Vn};
use crate::isa::{Families, Op, Value};

/// How far down an expression is looked at.
const DEPTH: u32 = 8;

/// What a mask, or a half of one, is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Made {
    Constants,
    Conditions,
    /// Of numbers that scalar arithmetic computed.
    Numbers,
    Other,
}

impl Flowing<'_> {
    /// Whether a mask is made of comparisons: of lanes, of numbers that all lanes share, or of lane numbers with such a
    /// number (`s_bfm_b64`, and shifts of a constant mask).
    pub(super) fn is_condition(&self, mask: Vn) -> bool {
        self.made_of(mask, DEPTH) == Made::Conditions
    }

    /// Whether a mask is computed in any way, rather than copied from EXEC, read from memory or handed over by a caller. Nothing
    /// says of a sum which lanes it has.
    pub(super) fn is_computed(&self, mask: Vn) -> bool {
        matches!(self.made_of(mask, DEPTH), Made::Conditions | Made::Numbers)
    }

    /// Notes what values that are joined from others are made of: of the worst that ever came in. True if that is news.
    pub(super) fn note_joins(&mut self, joins: &[(Vn, Vn)]) -> bool {
        let mut news = false;
        for &(joined, part) in joins.iter().filter(|(joined, part)| joined != part) {
            let before = self.joined.get(&joined).copied();
            if before == Some(Made::Other) {
                continue;
            }
            let made = Some(self.made_of(part, DEPTH)).max(before);
            if made != before {
                self.joined.extend(made.map(|made| (joined, made)));
                self.joined_changes += 1;
                news = true;
            }
        }
        news
    }

    fn made_of(&self, value: Vn, depth: u32) -> Made {
        let Some(depth) = depth.checked_sub(1) else { return Made::Other };
        let part = |value| self.made_of(value, depth);
        match self.values.expr(value) {
            Expr::Const32(_) | Expr::Const64(_) => Made::Constants,
            Expr::Opaque(inst, _) => match self.program.insts.get(inst) {
                Some(_) if compares(self.program, inst) => Made::Conditions,
                Some(located) if calculates(located.op) => Made::Numbers,
                _ => Made::Other,
            },
            Expr::Phi(..) => self.joined.get(&value).copied().unwrap_or(Made::Other),
            // A comparison's mask has only lanes that were active.
            Expr::And(a, b) => match (part(a), part(b)) {
                (Made::Conditions, _) | (_, Made::Conditions) => Made::Conditions,
                (a, b) => a.max(b),
            },
            // Which of the two is a condition itself, of all lanes.
            Expr::Select(_, a, b) => part(a).max(part(b)).max(Made::Conditions),
            Expr::Or(a, b) | Expr::Xor(a, b) | Expr::Pair(a, b) => part(a).max(part(b)),
            Expr::Not(a) | Expr::Half(a, _) => part(a),
            Expr::Entry(_) => Made::Other,
        }
    }
}

fn compares(program: &Program, index: usize) -> bool {
    let shifts_constant = || {
        let constant = |value| matches!(value, Value::Inline(_) | Value::Literal(_));
        program.inst(index).operands.get(1).is_some_and(|operand| constant(operand.value))
    };
    match program.insts[index].op {
        Op::s_bfm_b64 => true,
        Op::s_lshl_b64 | Op::s_lshr_b64 | Op::s_ashr_i64 => shifts_constant(),
        op => op.is_of(Families::COMPARE),
    }
}

/// Operations on numbers, which nobody does to a copy of EXEC to put it back later.
fn calculates(op: Op) -> bool {
    matches!(
        op,
        Op::s_add_u32
            | Op::s_addc_u32
            | Op::s_sub_u32
            | Op::s_subb_u32
            | Op::s_add_i32
            | Op::s_sub_i32
            | Op::s_mul_i32
            | Op::s_mul_hi_u32
            | Op::s_mul_hi_i32
    )
}
