//! Corrects what code says about addresses: branches, and addresses formed from the program counter.

use std::collections::BTreeMap;

use amdgpu_isa::{Arch, EncodeError, Encoding, Feature, Flow, Inst, Mods, Op, Operand, Value, assemble};
use amdgpu_object::rewrite::Edge;

use super::RelocateError;
use super::islands::{Islands, Source, Target};
use super::layout::Layout;
use super::stays::Stays;
use crate::analysis::addresses::PcRelative;
use crate::analysis::program::{Function, JumpTable, Located, Program};
use crate::instrument::emit::stub::STUB_BYTES;

/// Bytes of a branch or a trap.
const SOPP_BYTES: u64 = 4;

/// A branch that does not reach what it has to.
#[derive(Clone, Debug)]
pub(super) struct Far {
    pub(super) source: Source,
    pub(super) target: Target,
    /// New addresses of the branch and of its target, whatever is to lie between.
    pub(super) span: (u64, u64),
    function: usize,
}

impl Far {
    pub(super) fn error(&self) -> RelocateError {
        let pc = match self.source {
            Source::Branch(pc) => pc,
            Source::Island(_, target) => target.old,
        };
        let distance = self.span.1.wrapping_sub(self.span.0) as i64;
        RelocateError::BranchOutOfRange { function: self.function, pc, distance }
    }
}

/// The branches that do not do what they have to; the text is of use only without any.
#[derive(Clone, Debug, Default)]
pub(super) struct Wrong {
    /// Those that do not reach it.
    pub(super) far: Vec<Far>,
    /// Old addresses that branches of the length of an erratum go past or to.
    pub(super) unsafe_past: Vec<u64>,
}

/// The offset of branches that go elsewhere, in dwords, where a processor has that erratum.
const BROKEN_OFFSET: i16 = 0x3f;

/// Corrects all branches and fills in the islands.
pub(super) fn retarget(
    layout: &mut Layout,
    program: &Program,
    islands: &Islands,
) -> Result<Wrong, RelocateError> {
    let mut wrong = Wrong::default();
    let is_broken = |dwords: i16| dwords == BROKEN_OFFSET && program.arch.has(Feature::BranchOver63Bug);
    for (number, function) in program.functions.iter().enumerate() {
        for block in &function.blocks {
            let index = block.insts.end - 1;
            let located = &program.insts[index];
            let offset = match located.flow() {
                Flow::Branch { offset } | Flow::CondBranch { offset, .. } => offset,
                Flow::Call { offset: Some(offset) } => offset,
                _ => continue,
            };
            let to = located.end().wrapping_add_signed(offset.into());
            let target = Target { old: to, enters: enters(program, function, located.pc, to) };
            let source = Source::Branch(located.pc);
            // What stays where it was goes where it went.
            let Some(new_pc) = layout.copied(located.pc) else { continue };
            let final_to =
                final_place(layout, program, target).ok_or_else(|| RelocateError::NotRelocatable {
                    pc: located.pc,
                    detail: format!("the target {to:#x} of `{}` is not carried over", located.op),
                })?;
            let hop = islands.hop(source).and_then(|zone| islands.address(layout, zone, target));
            let distance = hop.unwrap_or(final_to).wrapping_sub(new_pc + u64::from(located.size)) as i64;
            if distance == i64::from(offset) {
                continue;
            }
            let Ok(dwords) = i16::try_from(distance / 4) else {
                wrong.far.push(Far { source, target, span: (new_pc, final_to), function: number });
                continue;
            };
            if is_broken(dwords) {
                wrong.unsafe_past.push(located.end());
            }
            // SIMM16 of SOPP and SOPK, the low half of the first word.
            let at = (new_pc - layout.address) as usize;
            if let Some(half) = layout.text.get_mut(at..at + 2) {
                half.copy_from_slice(&dwords.to_le_bytes());
            }
        }
    }
    for source in islands.islands() {
        let Source::Island(zone, target) = source else { continue };
        let places = (islands.address(layout, zone, target), final_place(layout, program, target));
        let (Some(at), Some(final_to)) = places else { continue };
        let hop = islands.hop(source).and_then(|next| islands.address(layout, next, target));
        match i16::try_from((hop.unwrap_or(final_to).wrapping_sub(at + SOPP_BYTES) as i64) / 4) {
            Ok(dwords) => {
                if is_broken(dwords) {
                    wrong.unsafe_past.push(zone);
                }
                write_branch(layout, program.arch, at, dwords)?;
            }
            Err(_) => {
                let Some(function) = program.function_at(target.old) else {
                    let detail = format!("a branch leads to {:#x}, which is in no function", target.old);
                    return Err(RelocateError::NotRelocatable { pc: target.old, detail });
                };
                wrong.far.push(Far { source, target, span: (at, final_to), function });
            }
        }
    }
    for (zone, islands) in islands.passed() {
        if let Some(&at) = layout.zones.get(&zone) {
            if is_broken(islands as i16) {
                wrong.unsafe_past.push(zone);
            }
            write_branch(layout, program.arch, at, islands as i16)?;
        }
    }
    Ok(wrong)
}

/// Whether what goes from one place of a function to another runs what stands before that for those who
/// enter.
fn enters(program: &Program, function: &Function, from: u64, to: u64) -> bool {
    // A kernel's stub for firmware without preloading jumps over itself, to where a prologue stands.
    let stub_end = function.range.start + STUB_BYTES;
    let in_stub = function.kernel.is_some() && from < stub_end;
    let is_own = || function.range.contains(&to) && (to == function.range.start || !program.is_entry(to));
    in_stub && to == stub_end || !is_own()
}

/// The new address of a target.
fn final_place(layout: &Layout, program: &Program, target: Target) -> Option<u64> {
    let place =
        if target.enters { layout.place(target.old, Edge::Start) } else { layout.branch_target(target.old) };
    place.or_else(|| {
        // A branch that skips the trap at the end of a function leads behind it, where there may be nothing.
        let last = target.old.checked_sub(SOPP_BYTES)?;
        let function = &program.functions[program.function_at(last)?];
        (function.range.end == target.old).then(|| layout.copied(last))?.map(|at| at + SOPP_BYTES)
    })
}

fn write_branch(layout: &mut Layout, arch: Arch, at: u64, dwords: i16) -> Result<(), RelocateError> {
    let fail = |error: EncodeError| RelocateError::NotRelocatable { pc: at, detail: error.to_string() };
    let values = [Value::Imm(dwords.into())];
    let inst = assemble(arch, Op::s_branch, Encoding::Sopp, &values, Mods::default()).map_err(fail)?;
    let words = inst.encode(arch).map_err(fail)?;
    let start = (at - layout.address) as usize;
    if let (Some(word), Some(place)) = (words.first(), layout.text.get_mut(start..start + 4)) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    Ok(())
}

/// Corrects an address formed from the program counter.
pub(super) fn readdress(
    layout: &mut Layout,
    program: &Program,
    stays: &Stays,
    address: &PcRelative,
) -> Result<(), RelocateError> {
    let getpc = &program.insts[address.getpc];
    if stays.left_out(getpc.pc).is_some() {
        return Ok(());
    }
    let fail = |detail: String| RelocateError::NotRelocatable { pc: getpc.pc, detail };
    let target = formed(layout, program, stays, (getpc.pc, address.target))?;
    let not_copied =
        |pc: u64| fail(format!("the instruction at {pc:#x} that works with it is not carried over"));
    let base = layout.copied(getpc.pc).ok_or_else(|| not_copied(getpc.pc))? + u64::from(getpc.size);
    let distance = if address.subtracts { base.wrapping_sub(target) } else { target.wrapping_sub(base) };
    for (part, value) in address.parts.iter().zip([distance as u32, (distance >> 32) as u32]) {
        let located = &program.insts[part.inst];
        let no_room = || fail(format!("`{}` has no room for the distance", located.op));
        let value = part.constant(value).ok_or_else(no_room)?;
        let mut inst = program.inst(part.inst).clone();
        // Of two constants, the literal one.
        let varies = |operand: &&mut Operand, literal: bool| match operand.value {
            Value::Literal(_) => true,
            Value::Inline(_) | Value::Imm(_) => !literal,
            _ => false,
        };
        let has_literal = inst.operands.iter().any(|operand| matches!(operand.value, Value::Literal(_)));
        let mut sources = inst.operands[1..].iter_mut();
        let Some(operand) = sources.find(|operand| varies(operand, has_literal)) else { continue };
        operand.value = match operand.value {
            Value::Literal(_) => Value::Literal(value),
            Value::Imm(_) => {
                let fits = i16::try_from(value as i32).map_err(|_| no_room())?;
                Value::Imm(fits.into())
            }
            _ => Value::int(value as i32),
        };
        if !has_literal && matches!(operand.value, Value::Literal(_)) {
            return Err(no_room());
        }
        let new_pc = layout.copied(located.pc).ok_or_else(|| not_copied(located.pc))?;
        replace(layout, program, located, new_pc, &inst)?;
    }
    Ok(())
}

/// The new address of what code at `pc` forms the old address of.
fn formed(
    layout: &Layout,
    program: &Program,
    stays: &Stays,
    (pc, target): (u64, u64),
) -> Result<u64, RelocateError> {
    if stays.is_for_all(target) || !layout.old.contains(&target) {
        return Ok(target);
    }
    let function = program.function_at(pc).map(|number| &program.functions[number]);
    let enters = function.is_none_or(|function| enters(program, function, pc, target));
    // As a branch there would: a jump back to its own entry runs no prologue.
    let found = final_place(layout, program, Target { old: target, enters });
    found.ok_or_else(|| RelocateError::NotRelocatable {
        pc,
        detail: format!("the address {target:#x} that it forms is not carried over"),
    })
}

/// Corrects the distances of a table; those that are not in the text are put into `data`.
pub(super) fn retable(
    layout: &mut Layout,
    program: &Program,
    stays: &Stays,
    table: &JumpTable,
    data: &mut BTreeMap<u64, u32>,
) -> Result<(), RelocateError> {
    let pc = program.insts[table.jump].pc;
    if stays.left_out(pc).is_some() {
        return Ok(());
    }
    let fail = |detail: String| RelocateError::NotRelocatable { pc, detail };
    let base = match table.base.getpc {
        Some(getpc) => {
            let getpc = &program.insts[getpc];
            let copied = layout.copied(getpc.pc);
            copied.ok_or_else(|| fail("its base is not carried over".to_owned()))? + u64::from(getpc.size)
        }
        None => formed(layout, program, stays, (pc, table.base.address))?,
    };
    let function = program.function_at(pc).map(|number| &program.functions[number]);
    for &(at, place) in &table.entries {
        let enters = function.is_none_or(|function| enters(program, function, pc, place));
        let to = final_place(layout, program, Target { old: place, enters });
        let to = to.ok_or_else(|| fail(format!("the place {place:#x} of its table is not carried over")))?;
        let distance = to.wrapping_sub(base) as i64;
        let fits =
            if table.signed { i32::try_from(distance).is_ok() } else { u32::try_from(distance).is_ok() };
        // What stays may go by the table as it is.
        if !fits || stays.any() || program.at(at).is_some() {
            return Err(fail(format!("the table at {at:#x} cannot be given other distances")));
        }
        if data.insert(at, distance as u32).is_some_and(|other| other != distance as u32) {
            return Err(fail(format!("the table at {at:#x} would need two distances in one place")));
        }
        if let Some(new) = layout.copied(at).filter(|_| layout.old.contains(&at)) {
            let start = (new - layout.address) as usize;
            if let Some(entry) = layout.text.get_mut(start..start + 4) {
                entry.copy_from_slice(&(distance as u32).to_le_bytes());
            }
        }
    }
    Ok(())
}

fn replace(
    layout: &mut Layout,
    program: &Program,
    old: &Located,
    new_pc: u64,
    inst: &Inst,
) -> Result<(), RelocateError> {
    let words = inst.encode(program.arch).map_err(|error: EncodeError| RelocateError::NotRelocatable {
        pc: old.pc,
        detail: error.to_string(),
    })?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let at = (new_pc - layout.address) as usize;
    match layout.text.get_mut(at..at + bytes.len()) {
        Some(place) if bytes.len() == usize::from(old.size) => {
            place.copy_from_slice(&bytes);
            Ok(())
        }
        _ => {
            let detail = format!("`{}` changed its size", old.op);
            Err(RelocateError::NotRelocatable { pc: old.pc, detail })
        }
    }
}
