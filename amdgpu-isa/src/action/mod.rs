//! What instructions do: accesses to memory, products of matrices, comparisons, conversions. `signature` says
//! which opcode does what, once for all generations.

mod compare;
mod convert;
mod matrix;
mod memory;

pub use compare::{Compared, Comparison, Relation};
pub use convert::{Conversion, ConvertedGroup, SmallFloat};
pub use matrix::{Accumulator, Element, MatrixProduct, MatrixUnit};
pub use memory::{AtomicOp, Components, Half, MemoryAction, MemoryUse, Moved, Packing};

use std::sync::LazyLock;

use crate::encoding::table::all_rows;
use crate::signature::Signature;
use crate::{Numbers, Op};

/// What the signatures of opcodes say that they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Memory(MemoryAction),
    Matrix(MatrixProduct),
    Compare(Comparison),
    Convert(Conversion),
    /// Something else, with these numbers, of which the types of operands do not tell.
    Numbers(Numbers),
}

/// What signatures tell, in the order of [`Op::ALL`].
fn by_op<T: Copy>(told: impl Fn(&Signature) -> Option<T>) -> Vec<Option<T>> {
    let mut all = vec![None; Op::ALL.len()];
    for (_, row) in all_rows() {
        all[row.signature.op as usize] = told(row.signature);
    }
    all
}

impl Op {
    /// The access to memory that it is; `None` if it is none, or one that has no such form: images, counters
    /// by which waves wait for each other, moves between lanes.
    pub fn memory_use(self) -> Option<MemoryUse> {
        static USES: LazyLock<Vec<Option<MemoryUse>>> = LazyLock::new(|| by_op(memory::memory_use));
        USES[self as usize]
    }

    /// What its signature says that it does, if that has a word for it.
    fn action(self) -> Option<&'static Action> {
        static ACTIONS: LazyLock<Vec<Option<Action>>> = LazyLock::new(|| by_op(|signature| signature.action));
        ACTIONS[self as usize].as_ref()
    }

    /// The product of matrices that it is, if it is one.
    pub fn matrix_product(self) -> Option<&'static MatrixProduct> {
        match self.action()? {
            Action::Matrix(product) => Some(product),
            _ => None,
        }
    }

    /// The comparison of numbers that it is, if it is one: of lanes, or of scalars. Tests of a float's class
    /// are none.
    pub fn comparison(self) -> Option<Comparison> {
        match self.action()? {
            Action::Compare(comparison) => Some(*comparison),
            _ => None,
        }
    }

    /// The conversion from or to small floats that it is, if it is one.
    pub fn conversion(self) -> Option<&'static Conversion> {
        match self.action()? {
            Action::Convert(conversion) => Some(conversion),
            _ => None,
        }
    }
}
