//! A generated program, as a tree that can be cut down.

use crate::ty::Ty;

/// A variable: one of a type's few. Uniform ones hold the same in all work-items of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Var {
    /// Its type.
    pub ty: Ty,
    /// All work-items of a wave hold the same.
    pub uniform: bool,
    /// Which of its type.
    pub index: u8,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A constant, by its bits.
    Const(Ty, u64),
    /// A variable's value.
    Var(Var),
    /// The counter of the enclosing loop at this depth.
    Counter(u8),
    /// An operation of the table's pure ones.
    Op(usize, Vec<Expr>),
    /// A call of one of the program's functions; through a pointer that the condition chooses, if there is
    /// one.
    Call(usize, Vec<Expr>, Option<Box<Expr>>),
}

/// How a loop is left early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// `break`.
    Break,
    /// `continue`.
    Continue,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// A variable gets a value.
    Assign(Var, Expr),
    /// An operation of the table's effects; the variable gets its result.
    Effect(usize, Option<Var>, Vec<Expr>),
    /// A branch.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// A loop of at most `mask + 1` rounds, as many as the number says.
    Loop {
        /// Its nesting, which names its counter.
        depth: u8,
        /// How many rounds.
        rounds: Expr,
        /// Limit of the rounds.
        mask: u8,
        /// Its statements.
        body: Vec<Stmt>,
        /// When it is left, half-way through the body.
        leave: Option<(Expr, Leave)>,
    },
    /// A switch over the number's low three bits; the last arm is the default. Arms may fall through.
    Switch(Expr, Vec<(Vec<Stmt>, bool)>),
    /// The end of the phase, or of the function with that value.
    Return(Option<Expr>),
}

/// A function that the phases call.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its parameters, which are variables of its own.
    pub params: Vec<Var>,
    /// Its result.
    pub result: Ty,
    /// Not inlined.
    pub outlined: bool,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// Its result at its end.
    pub value: Expr,
}

/// A step that all work-items take together.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Statements; not inlined if the flag is set.
    Phase(Vec<Stmt>, bool),
    /// A workgroup barrier.
    Barrier,
    /// An operation of the table's cross-lane ones, by the work-items for which the condition holds.
    Cross(usize, Expr, Var, Expr, Expr),
}

/// How short of registers a kernel is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pressure {
    /// Registers as the compiler allots them.
    #[default]
    None,
    /// Two dozen VGPRs, so that vectors are spilled.
    FewVgprs,
    /// Some forty SGPRs, so that scalars are spilled to lanes of VGPRs, and those to scratch.
    FewSgprs,
    /// So many waves a SIMD as can be.
    ManyWaves,
    /// Sixty VGPRs and SGPRs; all others hold something from the kernel's start to its end. Calls are
    /// inlined, and where they cannot be, all registers are written at the start.
    AllVgprs,
    /// `AllVgprs`; all AGPRs hold something as well.
    AllAgprs,
}

impl Pressure {
    /// The pressure on program `index`: they take turns.
    pub const fn of(index: u64) -> Self {
        [Self::None, Self::FewVgprs, Self::AllVgprs, Self::FewSgprs, Self::AllAgprs, Self::ManyWaves]
            [(index % 6) as usize]
    }
}

/// A program.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Its number, which names it.
    pub index: u64,
    /// Workgroups.
    pub grid: u32,
    /// Work-items of a workgroup.
    pub block: u32,
    /// Its functions. Each calls only those before it.
    pub functions: Vec<Function>,
    /// Its statements.
    pub steps: Vec<Step>,
    /// How short of registers its kernel is.
    pub pressure: Pressure,
}

impl Program {
    /// The bytes of its output: 256 a work-item, then the shared slots.
    pub fn output_bytes(&self) -> usize {
        (self.grid * self.block * 256) as usize + SLOT_BYTES
    }
}

/// Bytes of the shared slots for atomics.
pub const SLOT_BYTES: usize = 384;

impl Expr {
    /// Makes the least number of each +0 in a floating-point constant.
    pub fn replace_constant_zeros(&mut self) {
        let Self::Const(ty, bits) = self else { return };
        let width = 8 * ty.element().bytes();
        if ty.is_float() {
            for at in (0..8 * ty.bytes()).step_by(width) {
                *bits |= u64::from(*bits >> at << (64 - width) == 0) << at;
            }
        }
    }

    /// Shows every variable in it.
    pub fn visit(&self, seen: &mut impl FnMut(Var)) {
        match self {
            Self::Var(var) => seen(*var),
            Self::Op(_, args) => args.iter().for_each(|arg| arg.visit(seen)),
            Self::Call(_, args, choice) => {
                args.iter().for_each(|arg| arg.visit(seen));
                choice.iter().for_each(|choice| choice.visit(seen));
            }
            Self::Const(..) | Self::Counter(_) => {}
        }
    }
}

/// Shows every variable in statements.
pub fn visit(statements: &[Stmt], seen: &mut impl FnMut(Var)) {
    for statement in statements {
        match statement {
            Stmt::Assign(var, value) => {
                seen(*var);
                value.visit(seen);
            }
            Stmt::Effect(_, var, args) => {
                var.iter().for_each(|var| seen(*var));
                args.iter().for_each(|arg| arg.visit(seen));
            }
            Stmt::If(condition, then, other) => {
                condition.visit(seen);
                visit(then, seen);
                visit(other, seen);
            }
            Stmt::Loop { rounds, body, leave, .. } => {
                rounds.visit(seen);
                visit(body, seen);
                leave.iter().for_each(|(condition, _)| condition.visit(seen));
            }
            Stmt::Switch(selector, arms) => {
                selector.visit(seen);
                arms.iter().for_each(|(arm, _)| visit(arm, seen));
            }
            Stmt::Return(value) => value.iter().for_each(|value| value.visit(seen)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_of_constants_are_replaced() {
        for (ty, before, after) in [
            (Ty::F32, 0, 1),
            (Ty::F32, 0x8000_0000, 0x8000_0000),
            (Ty::F64, 0, 1),
            (Ty::F64, 1 << 63, 1 << 63),
            (Ty::F16x2, 0x3c00_0000, 0x3c00_0001),
            (Ty::F32x2, 0x1_ffff, 0x1_0001_ffff),
            (Ty::U32, 0, 0),
        ] {
            let mut constant = Expr::Const(ty, before);
            constant.replace_constant_zeros();
            assert_eq!(constant, Expr::Const(ty, after));
        }
    }
}
