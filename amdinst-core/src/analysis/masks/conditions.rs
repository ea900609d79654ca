//! Which masks comparisons made, as opposed to those that were copied from EXEC or come from elsewhere.

use std::collections::BTreeMap;

use super::flow::Flowing;
use super::made::Made;
use crate::analysis::values::{Expr, Vn};

/// How far down an expression is looked at.
const DEPTH: u32 = 8;

impl Flowing<'_> {
    /// Whether a mask is made of comparisons: of lanes, of numbers that all lanes share, or of lane numbers
    /// with such a number (`s_bfm_b64`, and shifts of a constant mask).
    pub(super) fn is_condition(&self, mask: Vn) -> bool {
        self.made_of(mask) == Made::Conditions
    }

    /// Whether a mask is computed in any way, rather than copied from EXEC, read from memory or handed over
    /// by a caller. Nothing says of a sum which lanes it has.
    pub(super) fn is_computed(&self, mask: Vn) -> bool {
        matches!(self.made_of(mask), Made::Conditions | Made::Numbers)
    }

    /// What values that are joined from others are made of: of the worst that comes in, if anything ever
    /// does.
    fn joined(&self) -> BTreeMap<Vn, Option<Made>> {
        let joins = self.joins();
        let mut made: BTreeMap<Vn, Option<Made>> = joins.iter().map(|&(joined, _)| (joined, None)).collect();
        loop {
            let mut news = false;
            for &(joined, part) in &joins {
                let now = self.made_by(part, DEPTH, &made);
                let worst = made.entry(joined).or_default();
                news |= now > *worst;
                *worst = now.max(*worst);
            }
            if !news {
                return made;
            }
        }
    }

    /// Every value that is joined at the start of a block, with each that it is joined from.
    fn joins(&self) -> Vec<(Vn, Vn)> {
        let mut joins = Vec::new();
        for block in 0..self.function.blocks.len() {
            if self.starts.rest(block).is_none() {
                continue;
            }
            for &(register, place) in self.slice.at_start(block) {
                let place = usize::from(place);
                let joined = self.starts.scalars(block)[place];
                if self.values.expr(joined) != Expr::Phi(block, register.into()) {
                    continue;
                }
                let predecessors = self.function.predecessors(block).iter();
                let reached = predecessors.filter(|&&from| self.ends.rest(from).is_some());
                let entry = (block == 0).then_some(self.entry.scalars[place]);
                let parts = entry.into_iter().chain(reached.map(|&from| self.ends.scalars(from)[place]));
                joins.extend(parts.filter(|&part| part != joined).map(|part| (joined, part)));
            }
        }
        joins
    }

    fn made_of(&self, value: Vn) -> Made {
        let joined = self.joined.get_or_init(|| self.joined());
        self.made_by(value, DEPTH, joined).unwrap_or(Made::Other)
    }

    /// What a value is made of; none if that depends on joined values of which nothing is known yet.
    fn made_by(&self, value: Vn, depth: u32, joined: &BTreeMap<Vn, Option<Made>>) -> Option<Made> {
        let Some(depth) = depth.checked_sub(1) else { return Some(Made::Other) };
        let part = |value| self.made_by(value, depth, joined);
        let worse = |a, b| Some(Made::max(part(a)?, part(b)?));
        match self.values.expr(value) {
            Expr::Const32(_) | Expr::Const64(_) => Some(Made::Constants),
            Expr::Opaque(inst, _) => Some(match self.program.insts.get(inst) {
                Some(_) => Made::by(self.program.inst(inst), self.wave_size()),
                None => Made::Other,
            }),
            Expr::Phi(..) => joined.get(&value).copied().unwrap_or(Some(Made::Other)),
            // A comparison's mask has only lanes that were active.
            Expr::And(a, b) => match (part(a), part(b)) {
                (Some(Made::Conditions), _) | (_, Some(Made::Conditions)) => Some(Made::Conditions),
                (a, b) => Some(a?.max(b?)),
            },
            // Which of the two is a condition itself, of all lanes.
            Expr::Select(_, a, b) => worse(a, b).max(Some(Made::Conditions)),
            Expr::Or(a, b) | Expr::Xor(a, b) | Expr::Pair(a, b) => worse(a, b),
            Expr::Not(a) | Expr::Half(a, _) | Expr::Widened(a) => part(a),
            Expr::Entry(_) => Some(Made::Other),
        }
    }
}
