//! Programs that do one operation each, on variables: every operation of the table gets one.

use crate::dice::Dice;
use crate::ops::{Place, Table};
use crate::program::{Expr, Pressure, Program, Step, Stmt, Var};
use crate::ty::Ty;

/// How many there are: the operations that make expressions, those that write memory, those between lanes.
pub fn count() -> u64 {
    let table = Table::get();
    (table.pure.len() + table.effects.len() + table.cross.len()) as u64
}

/// The program of operation `index`, which is below [`count`].
pub fn program(seed: u64, index: u64) -> Program {
    let table = Table::get();
    let mut dice = Dice::new(seed, index);
    let at = index as usize;
    let effects = table.pure.len();
    let cross = effects + table.effects.len();
    let steps = if at < effects {
        of_expression(at)
    } else if at < cross {
        let op = &table.effects[at - effects];
        let to = op.result.map(|ty| Var { ty, uniform: false, index: 9 });
        vec![Step::Phase(vec![Stmt::Effect(at - effects, to, arguments(&op.args, false))], false)]
    } else {
        between_lanes(at - cross)
    };
    let block = *dice.pick(&[64, 96, 128, 37]);
    Program { index, grid: 2, block, functions: Vec::new(), steps, pressure: Pressure::None }
}

/// On values of work-items and, where it may be, on values of the wave, which the scalar unit computes with.
fn of_expression(at: usize) -> Vec<Step> {
    let op = &Table::get().pure[at];
    let mut statements = Vec::new();
    for uniform in [false, true] {
        if uniform && op.place != Place::Anywhere {
            break;
        }
        let value = Expr::Op(at, arguments(&op.args, uniform));
        let to = |ty| Var { ty, uniform, index: 9 };
        match op.result {
            None | Some(Ty::Bool) => {
                let set = Stmt::Assign(to(Ty::U32), Expr::Const(Ty::U32, 0x5a5a));
                statements.push(Stmt::If(value, vec![set], Vec::new()));
            }
            Some(ty) => statements.push(Stmt::Assign(to(ty), value)),
        }
    }
    vec![Step::Phase(statements, false)]
}

/// By all lanes, then by those whose value is odd.
fn between_lanes(at: usize) -> Vec<Step> {
    let value = |index| Expr::Var(Var { ty: Ty::U32, uniform: false, index });
    let turns = if Table::get().cross[at].place == Place::Anywhere { 1 } else { 2 };
    [Expr::Const(Ty::Bool, 1), condition(2, false)]
        .into_iter()
        .take(turns)
        .enumerate()
        .map(|(turn, condition)| {
            let to = Var { ty: Ty::U32, uniform: false, index: 8 + turn as u8 };
            Step::Cross(at, condition, to, value(0), value(1))
        })
        .collect()
}

fn arguments(types: &[Ty], uniform: bool) -> Vec<Expr> {
    let argument = |(index, ty): (usize, &Ty)| match *ty {
        Ty::Bool => condition(index as u8, uniform),
        ty => Expr::Var(Var { ty, uniform, index: index as u8 }),
    };
    types.iter().enumerate().map(argument).collect()
}

/// Whether a variable is odd.
fn condition(index: u8, uniform: bool) -> Expr {
    let table = Table::get();
    let odd = table
        .pure
        .iter()
        .position(|op| op.result == Some(Ty::Bool) && op.args == [Ty::U32] && op.text == "({0} & 1)");
    let value = Expr::Var(Var { ty: Ty::U32, uniform, index });
    odd.map_or(Expr::Const(Ty::Bool, 1), |odd| Expr::Op(odd, vec![value]))
}
