//! Places that are called and that no symbol names, as people write them: `s_call_b64` to a label behind the
//! end of a kernel.
//!
//! Each becomes a function of its own, up to the next such place, or to where the code around it goes on.
//! That holds where these pieces lead into each other by calls and jumps to the places alone. Where they do
//! not, nothing is cut, and the call is told as one that leads to no function.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use amdgpu_isa::{Encoding, Mods, Op, ScalarSet, Target, Value, assemble, decode};
use amdgpu_object::{CodeObject, Text};

use super::explore::{Explorer, through};
use super::forms::Forms;
use super::{ObstacleKind, got_slot};
use crate::analysis::addresses::{Pointer, Tracker};

/// Addresses, name, and index of the kernel if it is one.
pub(super) type Symbol = (Range<u64>, String, Option<usize>);

/// How far behind an `s_getpc_b64` a call by its value is looked for, in dwords.
const REACH: usize = 16;

/// Cuts the symbols of `object` where calls lead to places within them. They are in order of address, and
/// stay so.
pub(super) fn cut(object: &CodeObject, target: Target, symbols: &mut Vec<Symbol>) {
    let suspects = suspects(object, target, symbols);
    if suspects.is_empty() {
        return;
    }
    let mut entries: BTreeMap<u64, usize> =
        symbols.iter().enumerate().map(|(index, symbol)| (symbol.0.start, index)).collect();
    let mut forms = Forms::new(target);
    forms.begin(1);
    let mut added = Vec::new();
    for index in suspects {
        let (range, name, kernel) = &mut symbols[index];
        let Some(pieces) = pieces(object, &entries, range, kernel.is_some(), &mut forms) else { continue };
        let (own, cut) = pieces;
        for piece in cut {
            entries.insert(piece.start, usize::MAX);
            let name = format!("{name}+{:#x}", piece.start - range.start);
            added.push((piece, name, None));
        }
        *range = own;
    }
    symbols.extend(added);
    symbols.sort_by_key(|symbol| symbol.0.start);
}

/// The symbols in which something looks like a call of a place that is no symbol's, ascending.
fn suspects(object: &CodeObject, target: Target, symbols: &[Symbol]) -> BTreeSet<usize> {
    /// SIMM16 and SDST of `s_call_b64`, SDST of `s_getpc_b64`, and both registers of `s_swappc_b64`.
    const CALL: u32 = 0x007f_ffff;
    const GETPC: u32 = 0x007f_0000;
    const SWAPPC: u32 = 0x007f_00ff;
    let word = |op: Op, encoding: Encoding, values: &[Value], varies: u32| {
        let inst = assemble(target.arch, op, encoding, values, Mods::default()).ok()?;
        Some(inst.encode(target.arch).ok()?.first()? & !varies)
    };
    let call = word(Op::s_call_b64, Encoding::Sopk, &[Value::Scalar(0), Value::Imm(0)], CALL);
    let getpc = word(Op::s_getpc_b64, Encoding::Sop1, &[Value::Scalar(0)], GETPC);
    let swappc = word(Op::s_swappc_b64, Encoding::Sop1, &[Value::Scalar(0), Value::Scalar(0)], SWAPPC);
    let mut found = BTreeSet::new();
    let mut note = |to: u64| {
        let index = symbols.partition_point(|symbol| symbol.0.start <= to).checked_sub(1);
        let within = |index: &usize| symbols[*index].0.start < to && to < symbols[*index].0.end;
        found.extend(index.filter(within));
    };
    for section in object.code().map(Text::memory) {
        let text = object.code_at(section.start).unwrap_or_default();
        let (words, _) = text.as_chunks::<4>();
        for (place, (pc, &bytes)) in (section.start..).step_by(4).zip(words).enumerate() {
            let word = u32::from_le_bytes(bytes);
            if Some(word & !CALL) == call {
                note((pc + 4).wrapping_add_signed(i64::from(word as u16 as i16) * 4));
            } else if Some(word & !GETPC) == getpc {
                let near = &words[place..words.len().min(place + REACH)];
                let calls = |bytes: &[u8; 4]| Some(u32::from_le_bytes(*bytes) & !SWAPPC) == swappc;
                if near.iter().any(calls) {
                    let to = called_behind(object, target, pc, near.as_flattened());
                    to.into_iter().for_each(&mut note);
                }
            }
        }
    }
    found
}

/// What is called by the value of the program counter that the first of these instructions takes.
fn called_behind(object: &CodeObject, target: Target, mut pc: u64, mut bytes: &[u8]) -> Option<u64> {
    let mut tracker = Tracker::default();
    let (mut addresses, mut misuses) = (Vec::new(), Vec::new());
    loop {
        let inst = decode(target, bytes).ok()?;
        if inst.op == Op::s_swappc_b64 {
            return match through(&inst, &tracker) {
                Pointer::Known(to) => Some(to),
                _ => None,
            };
        }
        let load = |address| got_slot(object, address);
        let writes_scc = ScalarSet::of(&inst.effects(target).writes).intersects(ScalarSet::SCC);
        tracker.step(pc as usize, pc, (&inst, writes_scc), &load, &mut addresses, &mut misuses);
        bytes = bytes.get(usize::from(inst.size)..)?;
        pc += u64::from(inst.size);
    }
}

/// The addresses of a function without the places in it that it calls, and that what is called there calls,
/// and those of these; none if there are no such places, or they cannot be cut off. The function's own
/// addresses may go on behind what is cut out.
fn pieces(
    object: &CodeObject,
    entries: &BTreeMap<u64, usize>,
    range: &Range<u64>,
    is_kernel: bool,
    forms: &mut Forms,
) -> Option<(Range<u64>, Vec<Range<u64>>)> {
    let mut dwords = Vec::new();
    let mut explore = |entries: &BTreeMap<u64, usize>, piece: Range<u64>| {
        let is_kernel = is_kernel && piece.start == range.start;
        let mut explorer = Explorer::new(object, entries, piece, is_kernel, (&mut dwords, forms));
        explorer.explore(0, &mut ());
        let is_whole =
            explorer.obstacles.iter().all(|obstacle| obstacle.kind != ObstacleKind::BrokenControlFlow);
        let (dwords, first) = explorer.dwords();
        let reached = (first..).step_by(4).zip(dwords).filter(|(_, dword)| dword.form().is_some());
        let reached: BTreeSet<u64> = reached.map(|(at, _)| at).collect();
        (explorer.called, reached, is_whole)
    };
    let mut places = BTreeSet::new();
    let mut open = vec![range.start];
    while let Some(start) = open.pop() {
        let (called, ..) = explore(entries, start..range.end);
        let new = called.into_iter().filter(|to| range.contains(to) && *to != range.start);
        open.extend(new.filter(|&to| places.insert(to)));
    }
    let first = *places.first()?;
    let mut all = entries.clone();
    all.extend(places.iter().map(|&place| (place, usize::MAX)));
    let (_, own, is_whole) = explore(&all, range.clone());
    let next = |of: &BTreeSet<u64>, place: u64| of.range(place + 1..).next().copied().unwrap_or(range.end);
    let cut: Vec<Range<u64>> =
        places.iter().map(|&place| place..next(&own, place).min(next(&places, place))).collect();
    let is_apart = |piece: &Range<u64>| !own.contains(&piece.start) && explore(&all, piece.clone()).2;
    let end = if own.range(first..).next().is_some() { range.end } else { first };
    (is_whole && cut.iter().all(is_apart)).then_some((range.start..end, cut))
}
