//! Makes a program up from a seed.

use crate::alone;
use crate::dice::Dice;
use crate::ops::{Place, Table};
use crate::program::{Expr, Function, Leave, Pressure, Program, Step, Stmt, Var};
use crate::ty::Ty;

/// Program number `index` of a seed. The first do one operation each ([`alone`]).
pub fn program(seed: u64, index: u64, calls: Calls) -> Program {
    if index < alone::count() {
        return alone::program(seed, index);
    }
    let mut dice = Dice::new(seed, index);
    let size = match dice.roll(20) {
        0..12 => Size::Tiny,
        12..19 => Size::Small,
        _ => Size::Large,
    };
    let count = if size == Size::Tiny { 1 + dice.roll(2) } else { 2 + dice.roll(4) };
    let mut types: Vec<Ty> = (0..count).map(|_| *dice.pick(&Ty::VALUES)).collect();
    types.push(Ty::U32);
    types.sort();
    types.dedup();
    let mut maker = Maker { dice, types, functions: Vec::new(), size, calls };
    let least = usize::from(calls == Calls::ByPointer);
    for _ in 0..least + maker.dice.roll(1 + size as usize) {
        let function = maker.function();
        maker.functions.push(function);
    }
    let steps = maker.steps();
    let block = *maker.dice.pick(&[64, 64, 96, 128, 37]);
    let grid = 1 + maker.dice.roll(2) as u32;
    Program { index, grid, block, functions: maker.functions, steps, pressure: Pressure::None }
}

/// How programs call functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// Seldom, and one in eight of them through a pointer.
    Seldom,
    /// Often, all through pointers, and functions that have much to count.
    ByPointer,
}

/// How much a program does. Most compile in the time that a kernel with nothing in it takes, twice over, and
/// reach the same instructions; spills and long branches need the large ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Size {
    Tiny,
    Small,
    Large,
}

/// Where an expression or a statement stands.
#[derive(Clone, Copy)]
struct Context {
    /// Only what is the same in all work-items of a wave.
    uniform: bool,
    /// All work-items get here together, so uniform variables may be assigned.
    together: bool,
    /// LDS is settled and read from; else it is written.
    shared: bool,
    /// In a function: no memory is written.
    function: Option<Ty>,
    /// The last phase may be left early.
    last: bool,
    /// Loops around.
    loops: u8,
    /// Branches that may still be nested.
    depth: u8,
}

struct Maker {
    dice: Dice,
    types: Vec<Ty>,
    functions: Vec<Function>,
    size: Size,
    calls: Calls,
}

const INDICES: usize = 2;

impl Maker {
    fn steps(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        let phases = 1 + self.dice.roll(if self.size == Size::Large { 3 } else { 2 });
        let mut shared = false;
        for phase in 0..phases {
            if phase > 0 {
                for _ in 0..self.dice.roll(3) {
                    steps.push(self.cross());
                }
                // LDS changes between being written and being read only at a barrier.
                if self.dice.one_in(2) {
                    steps.push(Step::Barrier);
                    shared = !shared;
                }
            }
            let context = Context {
                uniform: false,
                together: true,
                shared,
                function: None,
                last: phase + 1 == phases,
                loops: 0,
                depth: 1 + self.size as u8,
            };
            let statements = self.block(context);
            steps.push(Step::Phase(statements, self.dice.one_in(8)));
        }
        steps
    }

    fn cross(&mut self) -> Step {
        let table = Table::get();
        let index = self.dice.roll(table.cross.len());
        let context = Context {
            uniform: false,
            together: false,
            shared: false,
            function: None,
            last: false,
            loops: 0,
            depth: 0,
        };
        let condition = if table.cross[index].place == Place::Anywhere || self.dice.one_in(2) {
            Expr::Const(Ty::Bool, 1)
        } else {
            self.expression(Ty::Bool, 2, context)
        };
        let to = Var { ty: Ty::U32, uniform: false, index: self.dice.roll(INDICES) as u8 };
        let value = self.expression(Ty::U32, 2, context);
        let other = self.expression(Ty::U32, 2, context);
        Step::Cross(index, condition, to, value, other)
    }

    fn function(&mut self) -> Function {
        let params: Vec<Var> = (0..1 + self.dice.roll(4))
            .map(|index| Var { ty: *self.dice.pick(&self.types), uniform: false, index: index as u8 + 10 })
            .collect();
        let result = *self.dice.pick(&self.types);
        let context = Context {
            uniform: false,
            together: false,
            shared: false,
            function: Some(result),
            last: false,
            loops: 0,
            depth: if self.size == Size::Large || self.calls == Calls::ByPointer { 2 } else { 1 },
        };
        let outlined = !self.dice.one_in(4);
        let mut body: Vec<Stmt> = (0..params.len())
            .map(|_| {
                let param = *self.dice.pick(&params);
                Stmt::Assign(self.variable(param.ty, false), Expr::Var(param))
            })
            .collect();
        for _ in 0..if self.calls == Calls::ByPointer { 16 } else { 1 } {
            body.extend(self.block(context));
        }
        let value = self.expression(result, 2, context);
        Function { params, result, outlined, body, value }
    }

    fn variable(&mut self, ty: Ty, uniform: bool) -> Var {
        Var { ty, uniform, index: self.dice.roll(INDICES) as u8 }
    }

    fn block(&mut self, context: Context) -> Vec<Stmt> {
        let (least, more) = match (self.size, context.depth) {
            (Size::Large, 3) => (2, 3),
            (Size::Tiny, _) => (1, 1),
            _ => (1, 2),
        };
        (0..least + self.dice.roll(more)).map(|_| self.statement(context)).collect()
    }

    fn statement(&mut self, context: Context) -> Stmt {
        let inner = Context { depth: context.depth.saturating_sub(1), ..context };
        let kinds = if context.depth == 0 { 12 } else { 21 };
        match self.dice.roll(kinds) {
            0..=6 => self.assignment(context),
            7..=11 if context.function.is_some() => self.assignment(context),
            7..=11 => self.effect(context),
            kind @ 12..=15 => {
                let (condition, inner) = self.condition(inner);
                let then = self.block(inner);
                let other = if kind < 14 { self.block(inner) } else { Vec::new() };
                Stmt::If(condition, then, other)
            }
            16 | 17 => {
                let uniform = context.together && self.dice.one_in(2);
                let rounds = self.expression(Ty::U32, 1, Context { uniform, ..context });
                let inner = Context { loops: context.loops + 1, together: uniform, ..inner };
                let leaves = self.dice.one_in(2);
                // A divergent exit leaves the others behind, so nothing uniform is assigned then.
                let inner = Context { together: inner.together && !leaves, ..inner };
                let body = self.block(inner);
                let leave = leaves.then(|| {
                    let way = if self.dice.one_in(2) { Leave::Break } else { Leave::Continue };
                    (self.expression(Ty::Bool, 2, Context { uniform: false, ..inner }), way)
                });
                let mask = if context.loops == 0 { 7 } else { 3 };
                Stmt::Loop { depth: context.loops, rounds, mask, body, leave }
            }
            18 => {
                let uniform = context.together && self.dice.one_in(2);
                let selector = self.expression(Ty::U32, 1, Context { uniform, ..context });
                let inner = Context { together: uniform, ..inner };
                // Clang 22 miscompiles more arms where the lanes take different ones: at -O1 its
                // StructurizeCFG pass takes what an arm leaves alone for poison on the way into the default,
                // and for what `default` assigns on the way of `case 2` into `case 3`. With two arms a switch
                // is an if.
                let count = if uniform { 2 + self.dice.roll(4) } else { 2 };
                let arms = (0..count)
                    .map(|_| {
                        let arm = vec![self.statement(inner), self.assignment(inner)];
                        (arm, uniform && self.dice.one_in(4))
                    })
                    .collect();
                Stmt::Switch(selector, arms)
            }
            // Under a condition, so that what follows is not dead.
            19 if context.last || context.function.is_some() => {
                let condition = self.expression(Ty::Bool, 2, Context { uniform: false, ..context });
                let value = context.function.map(|result| self.expression(result, 2, context));
                Stmt::If(condition, vec![Stmt::Return(value)], Vec::new())
            }
            _ => self.assignment(context),
        }
    }

    /// A condition, and the context of what depends on it.
    fn condition(&mut self, inner: Context) -> (Expr, Context) {
        let uniform = inner.together && self.dice.one_in(3);
        let condition = self.expression(Ty::Bool, 2, Context { uniform, ..inner });
        (condition, Context { together: uniform, ..inner })
    }

    fn assignment(&mut self, context: Context) -> Stmt {
        let uniform = context.together && context.function.is_none() && !context.last && self.dice.one_in(3);
        let ty = *self.dice.pick(&self.types);
        let depth = if self.size == Size::Large || self.dice.one_in(3) { 3 } else { 2 };
        let value = self.expression(ty, depth, Context { uniform, ..context });
        Stmt::Assign(self.variable(ty, uniform), value)
    }

    fn effect(&mut self, context: Context) -> Stmt {
        let table = Table::get();
        let fits = |maker: &Self, index: usize| {
            let op = &table.effects[index];
            let place = !(context.shared && op.place == Place::WritesLds);
            let types = op.args.iter().chain(&op.result);
            place && types.into_iter().all(|ty| matches!(ty, Ty::Bool | Ty::U32) || maker.types.contains(ty))
        };
        // By weight; what does not fit is thrown again.
        for _ in 0..64 {
            let index = self.dice.roll(table.effects.len());
            if self.dice.roll(8) < table.effects[index].weight && fits(self, index) {
                let op = &table.effects[index];
                let args = op.args.iter().map(|ty| self.expression(*ty, 2, context)).collect();
                let to = op.result.map(|ty| self.variable(ty, false));
                return Stmt::Effect(index, to, args);
            }
        }
        self.assignment(context)
    }

    fn expression(&mut self, ty: Ty, depth: u8, context: Context) -> Expr {
        let leaf = depth == 0 || self.dice.one_in(6);
        if leaf && ty != Ty::Bool {
            return self.leaf(ty, context);
        }
        let chance = if self.calls == Calls::ByPointer { 4 } else { 12 };
        let may_call =
            depth > 0 && context.function.is_none() && !context.uniform && self.dice.one_in(chance);
        if may_call && let Some(call) = self.call(ty, context) {
            return call;
        }
        let table = Table::get();
        for _ in 0..32 {
            let dice = &mut self.dice;
            let index = table.choose(ty, |total| dice.roll(total));
            let op = &table.pure[index];
            let place = match op.place {
                Place::Anywhere => true,
                Place::Divergent => !context.uniform,
                Place::Shared => !context.uniform && context.shared && context.function.is_none(),
                Place::WritesLds => false,
            };
            // At the bottom only conditions get here: comparisons of leaves.
            let types = op.args.iter().all(|ty| *ty == Ty::Bool && depth > 0 || self.types.contains(ty));
            if place && types || place && depth > 0 && self.dice.one_in(4) {
                let mut args: Vec<Expr> =
                    op.args.iter().map(|ty| self.expression(*ty, depth.saturating_sub(1), context)).collect();
                if op.is_float_difference() {
                    args[0].replace_constant_zeros();
                }
                return Expr::Op(index, args);
            }
        }
        self.leaf(ty, context)
    }

    fn call(&mut self, ty: Ty, context: Context) -> Option<Expr> {
        let fitting: Vec<usize> =
            (0..self.functions.len()).filter(|index| self.functions[*index].result == ty).collect();
        if fitting.is_empty() {
            return None;
        }
        let index = *self.dice.pick(&fitting);
        let params: Vec<Ty> = self.functions[index].params.iter().map(|param| param.ty).collect();
        let args = params.iter().map(|ty| self.expression(*ty, 1, context)).collect();
        let by_pointer = self.calls == Calls::ByPointer || self.dice.one_in(8);
        let indirect = by_pointer.then(|| Box::new(self.expression(Ty::Bool, 1, context)));
        Some(Expr::Call(index, args, indirect))
    }

    fn leaf(&mut self, ty: Ty, context: Context) -> Expr {
        if ty == Ty::Bool {
            return Expr::Const(ty, self.dice.word() & 1);
        }
        if ty == Ty::U32 && context.loops > 0 && !context.uniform && self.dice.one_in(4) {
            return Expr::Counter(self.dice.roll(context.loops as usize) as u8);
        }
        if self.dice.one_in(4) || !self.types.contains(&ty) {
            return Expr::Const(ty, self.constant(ty));
        }
        let uniform = context.function.is_none() && (context.uniform || self.dice.one_in(4));
        Expr::Var(self.variable(ty, uniform))
    }

    /// The bits of a constant: small, at an edge, or any.
    fn constant(&mut self, ty: Ty) -> u64 {
        let dice = &mut self.dice;
        match ty {
            Ty::F32 => match dice.roll(4) {
                0 => u64::from((dice.roll(65) as f32 - 32.0).to_bits()),
                1 => u64::from((dice.roll(64) as f32 / 8.0 - 4.0).to_bits()),
                2 => {
                    *dice.pick(&[0, 1, 0x7fffff, 0x800000, 0x3f800000, 0x7f7fffff, 0x7f800000, 0x7fc00000])
                        ^ (dice.word() & 1) << 31
                }
                _ => dice.word() & 0xffff_ffff,
            },
            Ty::F64 => match dice.roll(4) {
                0 => (dice.roll(65) as f64 - 32.0).to_bits(),
                1 => (dice.roll(64) as f64 / 8.0 - 4.0).to_bits(),
                2 => {
                    *dice.pick(&[0, 1, 1 << 52, 0x3ff << 52, (0x7ff << 52) - 1, 0x7ff << 52])
                        ^ (dice.word() & 1) << 63
                }
                _ => dice.word(),
            },
            Ty::F16 => match dice.roll(3) {
                0 => 0x3c00 + dice.roll(0x1000) as u64,
                1 => *dice.pick(&[0, 1, 0x3ff, 0x400, 0x3c00, 0x7bff, 0x7c00]) ^ (dice.word() & 1) << 15,
                _ => dice.word() & 0xffff,
            },
            _ => match dice.roll(4) {
                0 | 1 => dice.roll(65) as u64,
                2 => (1u64 << dice.roll(64)).wrapping_sub(dice.roll(2) as u64),
                _ => dice.word(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_program() {
        for index in (0..50).chain(alone::count()..alone::count() + 50) {
            assert_eq!(program(7, index, Calls::Seldom), program(7, index, Calls::Seldom));
        }
        let index = alone::count();
        assert_ne!(program(7, index, Calls::Seldom).steps, program(8, index, Calls::Seldom).steps);
    }

    /// LDS that other work-items read must not be written before the next barrier, or the result would be a
    /// race's.
    #[test]
    fn settled_lds_is_not_written() {
        fn writes(statements: &[Stmt]) -> bool {
            statements.iter().any(|statement| match statement {
                Stmt::Effect(op, ..) => Table::get().effects[*op].place == Place::WritesLds,
                Stmt::If(_, then, other) => writes(then) || writes(other),
                Stmt::Loop { body, .. } => writes(body),
                Stmt::Switch(_, arms) => arms.iter().any(|(arm, _)| writes(arm)),
                _ => false,
            })
        }
        let (mut settled, mut written) = (0, 0);
        for index in alone::count()..alone::count() + 500 {
            let mut shared = false;
            for step in program(1, index, Calls::Seldom).steps {
                match step {
                    Step::Barrier => shared = !shared,
                    Step::Phase(statements, _) if shared => {
                        settled += 1;
                        assert!(!writes(&statements), "program {index}");
                    }
                    Step::Phase(statements, _) => written += usize::from(writes(&statements)),
                    Step::Cross(..) => {}
                }
            }
        }
        assert!(settled > 50 && written > 50, "{settled} {written}");
    }
}
