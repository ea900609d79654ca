//! What the programs compute with: a table of operations, each a piece of C.
//!
//! A piece of C means the same on the host and on the device: it keeps clear of what C leaves undefined, and
//! of what IEEE 754 leaves open (the payload and sign of a NaN, which of two zeros a minimum is). Where the
//! device has an instruction that C has no word for, the prelude gives the host a model of it, written after
//! the ISA's manuals.

mod atomic;
mod cross;
mod float;
mod integer;
mod machine;
mod memory;
mod packed;

use std::sync::OnceLock;

use crate::ty::Ty;

/// What an operation needs of the place where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nothing.
    Anywhere,
    /// All work-items of a wave get the same from it only if it is not used; else it may stand anywhere.
    Divergent,
    /// `Divergent`, and other work-items' LDS must be settled: no work-item writes LDS until the next
    /// barrier.
    Shared,
    /// `Divergent`, and the operation writes LDS.
    WritesLds,
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Op {
    /// C, with `{0}`, `{1}`, … for the arguments.
    pub text: String,
    /// The type of its result; `None` for a statement without one.
    pub result: Option<Ty>,
    /// The types of its arguments.
    pub args: Vec<Ty>,
    /// How often it is taken, compared with the others of its result.
    pub weight: usize,
    /// Where it may stand.
    pub place: Place,
}

/// The tables.
#[derive(Debug, Default)]
pub struct Table {
    /// Operations without side effects: these make expressions.
    pub pure: Vec<Op>,
    /// Operations that write memory: these are statements.
    pub effects: Vec<Op>,
    /// Operations between the lanes of a wave.
    pub cross: Vec<Op>,
    by_result: Vec<Vec<(usize, usize)>>,
}

impl Table {
    /// The table; it is made once.
    pub fn get() -> &'static Self {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(|| {
            let mut table = Self::default();
            integer::add(&mut table);
            float::add(&mut table);
            packed::add(&mut table);
            machine::add(&mut table);
            memory::add(&mut table);
            atomic::add(&mut table);
            cross::add(&mut table);
            table.by_result = vec![Vec::new(); Ty::F32x2 as usize + 1];
            for (index, op) in table.pure.iter().enumerate() {
                if let Some(result) = op.result {
                    let of_result = &mut table.by_result[result as usize];
                    let before = of_result.last().map_or(0, |(_, total)| *total);
                    of_result.push((index, before + op.weight));
                }
            }
            table
        })
    }

    /// The pure operation with this result that number `roll` chooses by weight.
    pub fn choose(&self, result: Ty, roll: impl FnOnce(usize) -> usize) -> usize {
        let of_result = &self.by_result[result as usize];
        let total = of_result.last().map_or(1, |(_, total)| *total);
        let chosen = roll(total);
        of_result[of_result.partition_point(|(_, until)| *until <= chosen)].0
    }

    fn op(&mut self, text: impl Into<String>, result: Ty, args: &[Ty]) -> &mut Op {
        self.pure.push(Op {
            text: text.into(),
            result: Some(result),
            args: args.to_vec(),
            weight: 8,
            place: Place::Anywhere,
        });
        self.pure.last_mut().expect("an operation")
    }

    fn effect(&mut self, text: impl Into<String>, result: Option<Ty>, args: &[Ty]) -> &mut Op {
        self.effects.push(Op {
            text: text.into(),
            result,
            args: args.to_vec(),
            weight: 8,
            place: Place::Divergent,
        });
        self.effects.last_mut().expect("an operation")
    }
}

impl Op {
    /// Whether the operation subtracts a floating-point argument from its first. Clang 22 makes `-m` of
    /// `0.0 - m` where another difference follows, as in `(0.0 - m) - l` with an `m` that is a maximum: with
    /// `m` and `l` zero that is -0 and not 0, so the first argument must not be a constant zero.
    pub fn is_float_difference(&self) -> bool {
        self.result.is_some_and(Ty::is_float) && self.text.contains("{0} - ")
    }

    fn weight(&mut self, weight: usize) -> &mut Self {
        self.weight = weight;
        self
    }

    fn at(&mut self, place: Place) -> &mut Self {
        self.place = place;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_use_their_arguments_and_no_others() {
        let table = Table::get();
        for op in table.pure.iter().chain(&table.effects).chain(&table.cross) {
            for index in 0..4 {
                let used = op.text.contains(&format!("{{{index}}}"));
                assert_eq!(used, index < op.args.len(), "argument {index} of `{}`", op.text);
            }
        }
    }

    #[test]
    fn every_type_can_be_computed() {
        for ty in Ty::VALUES.into_iter().chain([Ty::Bool]) {
            let op = &Table::get().pure[Table::get().choose(ty, |total| total - 1)];
            assert_eq!(op.result, Some(ty));
        }
    }
}
