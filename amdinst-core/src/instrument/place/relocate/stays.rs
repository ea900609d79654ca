//! What stays where it is, because it depends on that in a way that is not understood.
//!
//! As a rule all of `.text` moves, instrumented or not. Where a function cannot, all of the old code is left
//! in place as well: each address that code forms, and each distance in it, is as it was. What leads to the
//! function runs there, and so does all that this may call: symbols, pointers in data and descriptors name
//! the old code. None of that is instrumented. What does not lead there moves. A function that both call is
//! there twice, and what moves calls the new one, which may be instrumented: unless its address is a value,
//! which must be the same for all.
//!
//! The old code stands in a section `.text.kept`, and symbols, descriptors and relocations name it there. The
//! probe map's addresses begin with it. It costs the size of the old code, less that of the functions that
//! stay. Code that no path reaches and that looks at its own address can only be reached by what is not
//! understood, so it stays, too. In code object version 2 headers stand in the code, so nothing can stay:
//! such a code object is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use amdgpu_isa::{Arch, Encoding, Mods, Op, Value, assemble};
use amdgpu_object::{CodeObject, Relocation};

use crate::analysis::program::{ObstacleKind, Program};

/// What stays; nothing in nearly every code object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stays {
    /// Why anything does: where the first thing is that cannot move, and what it is.
    why: Option<(u64, String)>,
    /// Old addresses that remain the ones to go by, ascending.
    ranges: Vec<Range<u64>>,
    /// Ranges of code that stays and is not in the new code at all: no code that moves leads there.
    left_out: Vec<Range<u64>>,
    /// Ranges of code that stays and that code which moves has a copy of.
    twice: Vec<Range<u64>>,
    /// The functions that lead to what cannot move, and those that are there twice.
    functions: [BTreeSet<usize>; 2],
}

impl Stays {
    /// Looks for what cannot move; these functions cannot either, of which the first is told with where and
    /// why.
    pub(crate) fn find(
        object: &CodeObject,
        program: &Program,
        others: &BTreeMap<usize, (u64, String)>,
    ) -> Self {
        let why = unmovable(object, program).or_else(|| others.values().next().cloned());
        let Some(why) = why else { return Self::default() };
        let count = program.functions.len();
        // Code that is not found, and looks at its own address, may be reached from all that is not
        // understood.
        let is_root =
            |number: &usize| !program.functions[*number].obstacles.is_empty() || others.contains_key(number);
        let roots = (0..count).filter(is_root);
        let callers = program.callers();
        let leading = reached(roots, |number| &callers[number]);
        let is_kernel = |number: &usize| program.functions[*number].kernel.is_some();
        let mut staying =
            reached(leading.iter().copied().filter(is_kernel), |number| &program.functions[number].callees);
        staying.extend(&leading);
        let calls_any = |number: &usize| {
            let mut obstacles = program.functions[*number].obstacles.iter();
            obstacles.any(|obstacle| obstacle.kind == ObstacleKind::IndirectTarget)
        };
        if leading.iter().any(calls_any) {
            staying.extend((0..count).filter(|number| !is_kernel(number)));
        }
        let text = object.text.memory();
        // With what stands behind a function up to the next: data of its own, or padding.
        let pieces = program.pieces();
        let ends = pieces.iter().skip(1).map(|&(start, _)| start).chain([text.end]);
        let pieces: Vec<(Range<u64>, usize)> =
            pieces.iter().zip(ends).map(|(&(start, number), end)| (start..end, number)).collect();
        let ranges = |numbers: &BTreeSet<usize>| {
            let of = pieces.iter().filter(|(_, number)| numbers.contains(number));
            of.map(|(range, _)| range.clone()).collect()
        };
        let mut named = named(object, program);
        named.extend(&program.pointed);
        let is_twice =
            |number: &usize| !leading.contains(number) && !named.contains(number) && !is_kernel(number);
        let twice = staying.iter().copied().filter(is_twice).collect();
        Self {
            why: Some(why),
            ranges: ranges(&staying),
            left_out: ranges(&leading),
            twice: ranges(&twice),
            functions: [leading, twice],
        }
    }

    /// Whether `kernel`, which stays, calls another `function` than kernels that move.
    pub(crate) fn are_apart(&self, kernel: usize, function: usize) -> bool {
        let [leading, twice] = &self.functions;
        leading.contains(&kernel) && twice.contains(&function)
    }

    /// Whether the code that moves finds there what it forms this address of.
    pub(super) fn is_for_all(&self, address: u64) -> bool {
        self.contains(address) && find(&self.twice, address).is_none()
    }

    /// Whether anything does.
    pub(crate) const fn any(&self) -> bool {
        self.why.is_some()
    }

    /// Where the first thing is that cannot move, and what it is.
    pub(crate) const fn why(&self) -> Option<&(u64, String)> {
        self.why.as_ref()
    }

    /// Whether the byte at an old address is still to be found there.
    #[inline]
    pub(super) fn contains(&self, address: u64) -> bool {
        !self.ranges.is_empty() && find(&self.ranges, address).is_some()
    }

    /// Where what is left out from an old address on ends, if it is.
    pub(super) fn left_out(&self, address: u64) -> Option<u64> {
        find(&self.left_out, address).map(|range| range.end)
    }

    /// The parts of a range of old addresses that are in the new code.
    pub(super) fn moving(&self, all: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let starts = self.left_out.iter().map(|range| range.start).chain([u64::MAX]);
        let ends = [0].into_iter().chain(self.left_out.iter().map(|range| range.end));
        ends.zip(starts)
            .map(move |(start, end)| start.max(all.start)..end.min(all.end))
            .filter(|range| !range.is_empty())
    }
}

fn find(ranges: &[Range<u64>], address: u64) -> Option<&Range<u64>> {
    let before = ranges.partition_point(|range| range.start <= address);
    ranges.get(before.checked_sub(1)?).filter(|range| range.contains(&address))
}

/// Functions that can be reached from some, these included.
fn reached<'a>(from: impl Iterator<Item = usize>, next: impl Fn(usize) -> &'a Vec<usize>) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<usize> = from.collect();
    while let Some(number) = open.pop() {
        if seen.insert(number) {
            open.extend(next(number));
        }
    }
    seen
}

/// The functions that data have addresses in, as the loader puts them there.
fn named(object: &CodeObject, program: &Program) -> BTreeSet<usize> {
    let target = |relocation: &Relocation| {
        let base = match &relocation.symbol {
            None => 0,
            Some((_, value)) => (*value)?,
        };
        program.function_at(base.wrapping_add_signed(relocation.addend))
    };
    object.relocations.iter().filter_map(target).collect()
}

/// The first thing that depends on where it stands, but for what is corrected.
fn unmovable(object: &CodeObject, program: &Program) -> Option<(u64, String)> {
    let mut incomplete = false;
    for function in &program.functions {
        for obstacle in &function.obstacles {
            if obstacle.kind == ObstacleKind::UnresolvedGetpc {
                return Some((obstacle.pc, format!("in `{}`: {}", function.name, obstacle.detail)));
            }
            incomplete = true;
        }
    }
    if !incomplete {
        return None;
    }
    // Some code may not have been found. Unless it looks at its own address, it can be moved as it is.
    let getpc = getpc(program.arch);
    let mut known = program.insts.iter().peekable();
    for (pc, word) in (object.text.address..).step_by(4).zip(object.text_bytes().chunks_exact(4)) {
        while known.next_if(|located| located.end() <= pc).is_some() {}
        let found = known.peek().is_some_and(|located| located.pc <= pc);
        let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        if !found && Some(word & !SDST) == getpc {
            return Some((pc, format!("`{}` in code that no known path reaches", Op::s_getpc_b64)));
        }
    }
    None
}

/// The word of `s_getpc_b64` but for the register that it writes, SDST in bits 22:16 of SOP1.
fn getpc(arch: Arch) -> Option<u32> {
    let values = [Value::Scalar(0)];
    let inst = assemble(arch, Op::s_getpc_b64, Encoding::Sop1, &values, Mods::default()).ok()?;
    inst.encode(arch).ok()?.first().copied()
}

const SDST: u32 = 0x7f << 16;
