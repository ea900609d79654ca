//! What was found out, and planned, of functions that stood in a code object before: more than a quarter of the code of a library does
//! (rocSPARSE for gfx90a).
//!
//! The masks of a function depend on nothing but its code, if that calls no other function and has no address in it.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::plan::Remembered;
use crate::Mixer;
use crate::analysis::masks::Masks;
use crate::analysis::program::{Function, Program};
use crate::object::CodeObject;

/// Functions of a processor.
#[derive(Debug, Default)]
pub(super) struct Recall {
    /// By a hash of their code. Of those with the same hash, the last.
    functions: HashMap<u64, Known, BuildHasherDefault<Mixer>>,
    /// Of the functions of a program, by their first instructions.
    hashes: HashMap<usize, u64, BuildHasherDefault<Mixer>>,
    /// Bytes of code of all of them.
    bytes: usize,
}

#[derive(Debug)]
struct Known {
    code: Box<[u8]>,
    is_kernel: bool,
    /// As if the function's first instruction were the first of its program.
    masks: Masks,
    plan: Option<Remembered>,
}

/// Bytes of code that are remembered. Four times as many would find a tenth more.
const MOST_BYTES: usize = 8 << 20;

impl Recall {
    /// The functions of another program are next.
    pub(super) fn begin(&mut self) {
        self.hashes.clear();
        if self.bytes >= MOST_BYTES {
            *self = Self::default();
        }
    }

    /// The masks of a function: those of one that was the same, else what `find` finds.
    pub(super) fn masks(
        &mut self,
        (object, program): (&CodeObject, &Program),
        function: &Function,
        find: impl FnOnce() -> Masks,
    ) -> Masks {
        let first = function.blocks.first().map_or(0, |block| block.insts.start);
        let Some(code) = alone(object, program, function) else { return find() };
        let hash = hash(code);
        self.hashes.insert(first, hash);
        if let Some(known) = self.functions.get(&hash).filter(|known| known.is(function, code)) {
            return known.masks.shifted(|inst| inst + first);
        }
        let masks = find();
        self.bytes += code.len();
        let known = Known {
            code: code.into(),
            is_kernel: function.kernel.is_some(),
            masks: masks.shifted(|inst| inst - first),
            plan: None,
        };
        if let Some(before) = self.functions.insert(hash, known) {
            self.bytes -= before.code.len();
        }
        masks
    }

    /// What was planned for a function that was the same.
    pub(super) fn plan(
        &self,
        object: &CodeObject,
        program: &Program,
        function: usize,
    ) -> Option<&Remembered> {
        let (hash, code) = self.hashed(object, program, &program.functions[function])?;
        let known = self.functions.get(&hash)?;
        known.plan.as_ref().filter(|_| known.is(&program.functions[function], code))
    }

    /// Where that of a function goes whose masks were asked for.
    pub(super) fn plan_place(
        &mut self,
        object: &CodeObject,
        program: &Program,
        function: usize,
    ) -> Option<&mut Option<Remembered>> {
        let (hash, code) = self.hashed(object, program, &program.functions[function])?;
        let known = self.functions.get_mut(&hash)?;
        known.is(&program.functions[function], code).then_some(&mut known.plan)
    }

    fn hashed<'a>(
        &self,
        object: &'a CodeObject,
        program: &Program,
        function: &Function,
    ) -> Option<(u64, &'a [u8])> {
        let hash = self.hashes.get(&function.blocks.first()?.insts.start)?;
        Some((*hash, alone(object, program, function)?))
    }
}

impl Known {
    /// Whether a function with this code is the same.
    fn is(&self, function: &Function, code: &[u8]) -> bool {
        *self.code == *code && self.is_kernel == function.kernel.is_some()
    }
}

/// The code of a function that all that is known of it comes from.
fn alone<'a>(object: &'a CodeObject, program: &Program, function: &Function) -> Option<&'a [u8]> {
    let (first, last) = (function.blocks.first()?.insts.start, function.blocks.last()?.insts.end);
    let from = program.addresses.partition_point(|address| address.addc < first);
    let has_address = program.addresses.get(from).is_some_and(|address| address.addc < last);
    if has_address || !function.callees.is_empty() || !function.obstacles.is_empty() {
        return None;
    }
    let text = object.bytes.get(object.text.range.clone())?;
    let offset = |pc: u64| usize::try_from(pc.checked_sub(object.text.address)?).ok();
    text.get(offset(function.range.start)?..offset(function.range.end)?)
}

fn hash(code: &[u8]) -> u64 {
    let mut mixer = Mixer::default();
    let (words, rest) = code.as_chunks::<8>();
    words.iter().for_each(|word| mixer.write_u64(u64::from_le_bytes(*word)));
    mixer.write(rest);
    mixer.write_usize(code.len());
    mixer.finish()
}
