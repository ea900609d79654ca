//! Where the executions of one launch on two processors part.
//!
//! The machine code differs, so instructions are not compared. Values are, by the source line that they were
//! computed on: from the element that differs both executions are followed back as long as the values of one
//! do not occur in the other. What made the last such value from values that both have is where they part.

use std::collections::HashSet;

use amdgpu_isa::NumberKind;
use amdinst_format::report::value_step::ValueStep;

use super::rerun::{Lost, Rerun};
use super::slice::Slice;
use super::source::Source;
use super::suspect::suspect;

/// Values that are looked at on each side, at most.
const MOST: usize = 600;

/// How far is looked behind a value that both sides have.
const BEHIND: u32 = 3;

/// Where two executions part: the instruction of either side, if there is one, and what such differences
/// usually come from.
#[derive(Clone, Debug)]
pub struct Parting {
    /// The instruction of the first side where they part; `None` if the other side computed all that.
    pub here: Option<ValueStep>,
    /// That of the other side.
    pub there: Option<ValueStep>,
    /// What such differences usually come from, in a sentence.
    pub suspect: Option<String>,
}

/// Where two executions of a launch part that leave different values in a dword of memory.
///
/// # Errors
/// What led there cannot be followed.
pub fn parting(here: &mut Rerun<'_>, there: &mut Rerun<'_>, dword: u64) -> Result<Parting, Lost> {
    let (mut first, mut second) = (Side::new(here, dword)?, Side::new(there, dword)?);
    grow((here, &mut first), (there, &mut second))?;
    let same_waves = here.wave() == there.wave();
    let one = first.origin(&second.slice, same_waves);
    let other = second.origin(&first.slice, same_waves);
    let node = |side: &'_ Side, index: Option<usize>| index.map(|index| side.slice.nodes[index].made.clone());
    Ok(Parting {
        suspect: suspect((here, node(&first, one).as_ref()), (there, node(&second, other).as_ref())),
        here: one.map(|index| first.slice.step(here, index, NumberKind::Bits32)),
        there: other.map(|index| second.slice.step(there, index, NumberKind::Bits32)),
    })
}

/// What one execution leads back to.
#[derive(Debug, Default)]
struct Side {
    slice: Slice,
    /// Nodes that nobody has looked behind.
    open: Vec<usize>,
}

impl Side {
    /// Nothing, if nothing in the launch has written there.
    fn new(rerun: &mut Rerun<'_>, address: u64) -> Result<Self, Lost> {
        Ok(match rerun.of_dword(address)? {
            Some(Source::Made(root)) => Self { slice: Slice::of(rerun, root), open: vec![0] },
            Some(Source::Memory | Source::Register) | None => Self::default(),
        })
    }

    /// Looks behind the open nodes that the other side does not have, and a little behind the others: what
    /// made them is compared, too. Whether there were any.
    fn expand(&mut self, rerun: &mut Rerun<'_>, other: &Slice) -> Result<bool, Lost> {
        let mut looked = false;
        for index in std::mem::take(&mut self.open) {
            let node = &self.slice.nodes[index];
            let is_common = index > 0 && !self.slice.lacks(index, other);
            let behind = if is_common || node.behind > 0 { node.behind + 1 } else { 0 };
            let known = self.slice.nodes.len();
            if behind > BEHIND || known >= MOST {
                self.open.push(index);
                continue;
            }
            self.slice.expand(rerun, index, behind)?;
            self.open.extend(known..self.slice.nodes.len());
            looked = true;
        }
        Ok(looked && self.slice.nodes.len() < MOST)
    }

    /// The node that made a value which the other side lacks from values that it has.
    fn origin(&self, other: &Slice, same_waves: bool) -> Option<usize> {
        let lacks = |index: &usize| self.slice.lacks(*index, other) && !self.slice.is_constant(*index);
        let mut at = self.slice.nodes.first().map(|_| 0).filter(lacks)?;
        let mut seen = HashSet::from([at]);
        loop {
            let next = self.slice.causes(at, other, same_waves).into_iter().find(lacks);
            match next.filter(|next| seen.insert(*next)) {
                Some(next) => at = next,
                None => return Some(at),
            }
        }
    }
}

/// Follows both executions back until all that is left open stands on the other side, too.
fn grow(
    (here, first): (&mut Rerun<'_>, &mut Side),
    (there, second): (&mut Rerun<'_>, &mut Side),
) -> Result<(), Lost> {
    loop {
        let one = first.expand(here, &second.slice);
        let other = second.expand(there, &first.slice);
        match (one, other) {
            (Ok(false), Ok(false)) | (Err(Lost::TooLong), _) | (_, Err(Lost::TooLong)) => return Ok(()),
            (one, other) => {
                one?;
                other?;
            }
        }
    }
}
