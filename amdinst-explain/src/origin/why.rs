//! Backwards from a value: the lines that made it.

use std::collections::{BTreeSet, VecDeque};

use amdgpu_isa::NumberKind;
use amdinst_format::report::Location;
use amdinst_format::report::why::{OriginStep, ValueOrigin};

use super::meaning::{is_special, shown};
use super::rerun::{Lost, Rerun};
use super::slice::Slice;
use super::source::Source;

/// Lines that are told, at most.
const LINES: usize = 24;

/// Values that are looked at for them, at most.
const NODES: usize = 300;

/// Where the value of a dword of device memory comes from, after a launch that has left `value` there.
///
/// # Errors
/// What led there cannot be followed.
pub fn why(rerun: &mut Rerun<'_>, element: String, dword: u64, value: u32) -> Result<ValueOrigin, Lost> {
    let told = |end: &str| ValueOrigin {
        element: element.clone(),
        value: shown(NumberKind::Bits32, value),
        steps: Vec::new(),
        end: end.to_owned(),
    };
    let root = match rerun.of_dword(dword)? {
        Some(Source::Made(root)) => root,
        Some(Source::Memory | Source::Register) => {
            return Ok(told("it is a value that the kernel begins with"));
        }
        None => return Ok(told("nothing in this launch has written it")),
    };
    let mut slice = Slice::of(rerun, root);
    slice.expand(rerun, 0, 0)?;
    let kind = slice.kind(rerun, 0);
    let (steps, end) = match is_special(kind, value) {
        true => specials(rerun, &mut slice, kind)?,
        false => lines(rerun, &mut slice)?,
    };
    Ok(ValueOrigin { element, value: shown(kind, value), steps, end })
}

/// The way back to the instruction that made the first NaN or infinity.
fn specials(
    rerun: &mut Rerun<'_>,
    slice: &mut Slice,
    kind: NumberKind,
) -> Result<(Vec<OriginStep>, String), Lost> {
    let mut steps: Vec<OriginStep> = Vec::new();
    let (mut at, mut looked) = (0, 0);
    loop {
        slice.expand(rerun, at, 0)?;
        let told = step(rerun, slice, at, kind);
        looked += 1;
        // Of a loop, its first and its last step.
        if let [.., before, last] = &mut *steps
            && before.made.location == told.made.location
            && last.made.location == told.made.location
        {
            *last = told;
        } else {
            steps.push(told);
        }
        let inputs = slice.nodes[at].inputs.clone().unwrap_or_default();
        let next = inputs.into_iter().find(|index| is_special(kind, slice.nodes[*index].made.value));
        match next {
            Some(next) if looked < NODES => at = next,
            Some(_) => return Ok((steps, "there is more behind it".to_owned())),
            None => break,
        }
    }
    let last = steps.last();
    let end = match last.and_then(|step| step.loaded.as_ref()) {
        Some(loaded) => format!("it was in {loaded} before the launch"),
        None => "there it was made: no operand is a NaN or an infinity".to_owned(),
    };
    Ok((steps, end))
}

/// The lines that the values depend on which the slice has, the nearest first; and where they end.
pub(super) fn lines(rerun: &mut Rerun<'_>, slice: &mut Slice) -> Result<(Vec<OriginStep>, String), Lost> {
    let mut steps: Vec<OriginStep> = Vec::new();
    let (mut lines, mut loads): (BTreeSet<Location>, BTreeSet<Location>) = Default::default();
    let mut open: VecDeque<usize> = (0..slice.nodes.len()).collect();
    let mut seen: BTreeSet<usize> = open.iter().copied().collect();
    while let Some(index) = open.pop_front() {
        if lines.len() >= LINES || seen.len() >= NODES {
            return Ok((steps, "there is more behind it".to_owned()));
        }
        match slice.expand(rerun, index, 0) {
            Err(Lost::TooLong) if !steps.is_empty() => {
                return Ok((steps, "there is more behind it: the launch is too long for that".to_owned()));
            }
            expanded => expanded?,
        }
        let step = step(rerun, slice, index, NumberKind::Bits32);
        let line = Location { column: None, ..step.made.location.clone() };
        // Of what is loaded, each place in the source once.
        let is_new = lines.insert(line);
        if is_new || step.loaded.is_some() && loads.insert(step.made.location.clone()) {
            steps.push(step);
        }
        let inputs = slice.nodes[index].inputs.clone().unwrap_or_default();
        open.extend(inputs.into_iter().filter(|index| seen.insert(*index)));
    }
    Ok((
        steps,
        "that is all: what is left are arguments, constants and memory from before the launch".to_owned(),
    ))
}

/// What is told of a node, of which the inputs are known; its numbers are of this kind where the instructions
/// do not tell.
fn step(rerun: &Rerun<'_>, slice: &Slice, index: usize, otherwise: NumberKind) -> OriginStep {
    let node = &slice.nodes[index];
    let inputs = node.inputs.iter().flatten();
    let from = rerun.taken_from(&node.made).filter(|_| node.made.step.from_lane.is_none());
    OriginStep {
        made: slice.step(rerun, index, otherwise),
        operands: inputs.map(|input| slice.shown(rerun, *input, otherwise)).collect(),
        loaded: from.map(|(label, offset)| format!("{label}+{offset:#x}")),
    }
}
