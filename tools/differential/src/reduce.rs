//! Cuts a program that differs down to one that still does.
//!
//! Each round makes every smaller program that is one cut away, and takes the first that still differs, until
//! none does. What stops is cut down to what stops, and not to another thing that is wrong. Cuts keep the
//! program free of races: barriers stay, and nothing is moved.

use crate::difference::Difference;
use crate::program::{Expr, Program, Step, Stmt};
use crate::run::{self, Checks};
use crate::target::Target;
use crate::ty::Ty;

/// Cuts tried for one program, at most.
const TRIES: usize = 600;

/// The smallest program found that differs in the way of `first`, and how; the program itself if it differs
/// so no more.
pub fn reduce(
    program: &Program,
    target: &Target,
    input: &[u8],
    checks: Checks,
    first: &Difference,
) -> (Program, Option<Difference>) {
    let kind = std::mem::discriminant(first);
    let differs = |program: &Program| {
        let outcome =
            run::compare(std::slice::from_ref(program), std::slice::from_ref(target), input, checks).ok()?;
        let mut differences = outcome.differences.into_iter().map(|(.., difference)| difference);
        differences.find(|difference| std::mem::discriminant(difference) == kind)
    };
    let mut best = program.clone();
    let mut how = differs(&best);
    if how.is_none() {
        return (best, None);
    }
    let mut tries = 0;
    let mut cut = 0;
    // `cut` numbers the cuts of the current program; after one that helps, the search goes on at the same
    // place.
    let mut progress = true;
    while tries < TRIES {
        let mut smaller = best.clone();
        if !(Cutter { left: cut }).program(&mut smaller) {
            if !progress {
                break;
            }
            (cut, progress) = (0, false);
            continue;
        }
        tries += 1;
        match differs(&smaller) {
            Some(difference) => (best, how, progress) = (smaller, Some(difference), true),
            None => cut += 1,
        }
    }
    (best, how)
}

/// Walks a program and makes the cut with a given number.
struct Cutter {
    left: usize,
}

impl Cutter {
    /// Whether this is the cut to make.
    fn now(&mut self) -> bool {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                false
            }
            None => true,
        }
    }

    /// Whether there was a cut with that number.
    fn program(&mut self, program: &mut Program) -> bool {
        for index in 0..program.steps.len() {
            if !matches!(program.steps[index], Step::Barrier) && self.now() {
                // An empty phase stands for it, so that barriers keep their neighbours.
                program.steps[index] = Step::Phase(Vec::new(), false);
                return true;
            }
        }
        program.steps.iter_mut().any(|step| match step {
            Step::Barrier => false,
            Step::Phase(statements, _) => self.statements(statements),
            Step::Cross(_, condition, _, value, other) => {
                [(condition, Ty::Bool), (value, Ty::U32), (other, Ty::U32)]
                    .into_iter()
                    .any(|(expr, ty)| self.expression(expr, ty))
            }
        }) || program.functions.iter_mut().any(|function| {
            self.statements(&mut function.body) || self.expression(&mut function.value, function.result)
        })
    }

    fn statements(&mut self, statements: &mut Vec<Stmt>) -> bool {
        for index in 0..statements.len() {
            if self.now() {
                statements.remove(index);
                return true;
            }
            let insides: Vec<Vec<Stmt>> = match &statements[index] {
                Stmt::If(_, then, other) => vec![then.clone(), other.clone()],
                Stmt::Switch(_, arms) => arms.iter().map(|(arm, _)| arm.clone()).collect(),
                _ => Vec::new(),
            };
            for inside in insides {
                if !inside.is_empty() && self.now() {
                    statements.splice(index..=index, inside);
                    return true;
                }
            }
        }
        statements.iter_mut().any(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &mut Stmt) -> bool {
        let table = crate::ops::Table::get();
        match statement {
            Stmt::Assign(var, value) => self.expression(value, var.ty),
            Stmt::Effect(op, _, args) => self.arguments(args, &table.effects[*op].args),
            Stmt::If(condition, then, other) => {
                self.expression(condition, Ty::Bool) || self.statements(then) || self.statements(other)
            }
            Stmt::Loop { rounds, body, leave, .. } => {
                if leave.is_some() && self.now() {
                    *leave = None;
                    return true;
                }
                self.expression(rounds, Ty::U32)
                    || leave.iter_mut().any(|(condition, _)| self.expression(condition, Ty::Bool))
                    || self.statements(body)
            }
            Stmt::Switch(selector, arms) => {
                self.expression(selector, Ty::U32) || arms.iter_mut().any(|(arm, _)| self.statements(arm))
            }
            Stmt::Return(value) => value.iter_mut().any(|value| match value {
                Expr::Op(op, _) => {
                    let ty = table.pure[*op].result.unwrap_or(Ty::U32);
                    self.expression(value, ty)
                }
                _ => false,
            }),
        }
    }

    fn arguments(&mut self, args: &mut [Expr], types: &[Ty]) -> bool {
        args.iter_mut().zip(types).any(|(arg, ty)| self.expression(arg, *ty))
    }

    fn expression(&mut self, expression: &mut Expr, ty: Ty) -> bool {
        let table = crate::ops::Table::get();
        match expression {
            Expr::Op(op, args) => {
                let types = &table.pure[*op].args;
                for (at, of) in types.iter().enumerate() {
                    if *of == ty && self.now() {
                        *expression = args.swap_remove(at);
                        return true;
                    }
                }
                if self.now() {
                    *expression = Expr::Const(ty, 1);
                    return true;
                }
                self.arguments(args, types)
            }
            Expr::Call(_, args, indirect) => {
                if self.now() {
                    *expression = Expr::Const(ty, 1);
                    return true;
                }
                if indirect.is_some() && self.now() {
                    *indirect = None;
                    return true;
                }
                args.iter_mut().any(|arg| match arg {
                    Expr::Op(op, _) => {
                        let ty = table.pure[*op].result.unwrap_or(Ty::U32);
                        self.expression(arg, ty)
                    }
                    _ => false,
                })
            }
            Expr::Const(..) | Expr::Var(_) | Expr::Counter(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cut_is_another_program_and_they_come_to_an_end() {
        let program = (crate::alone::count()..)
            .map(|index| crate::generate::program(3, index, crate::generate::Calls::Seldom))
            .find(|program| program.functions.len() == 2)
            .expect("large programs have functions");
        let mut cut = 0;
        loop {
            let mut smaller = program.clone();
            if !(Cutter { left: cut }).program(&mut smaller) {
                break;
            }
            cut += 1;
            assert!(cut < 10_000);
        }
        assert!(cut > 20, "{cut}");
    }
}
