//! Backwards from a fault: of an access, what its address comes from; of an uninitialized value, what was
//! stored; of a trap, a loop without end or a barrier that some do not reach, the condition that led there.

use amdgpu_isa::{Condition, Families, Flow, Inst, Op, Reg, Value};
use amdinst_emu::trace::{Moment, TracedStep};
use amdinst_emu::{Fault, FaultKind};
use amdinst_format::report::why::ValueOrigin;

use super::rerun::{Lost, Rerun};
use super::slice::Slice;
use super::source::{Made, Source, addresses};
use super::why::lines;

/// Behind every instruction that a wave can run.
const END: u64 = u64::MAX;

/// The lines that led to a fault, which ended the launch or was found after it. `None` of one that no value
/// of the kernel's leads to.
///
/// # Errors
/// What led there cannot be followed.
pub fn why_fault(rerun: &mut Rerun<'_>, fault: &Fault) -> Result<Option<ValueOrigin>, Lost> {
    match &fault.kind {
        FaultKind::OutOfBounds { address, .. }
        | FaultKind::UseAfterFree { address, .. }
        | FaultKind::NullPointer { address, .. }
        | FaultKind::Misaligned { address, .. }
        | FaultKind::ReadOnly { address, .. }
        | FaultKind::Race { address, .. }
        | FaultKind::LaneRace { address, .. } => of_address(rerun, fault, *address),
        FaultKind::Unwritten { address, .. } => of_stored(rerun, *address),
        FaultKind::NotFinite { .. } => of_operands(rerun, fault),
        FaultKind::Trap(_)
        | FaultKind::Budget { .. }
        | FaultKind::Endless { .. }
        | FaultKind::BarrierDivergence { .. } => of_condition(rerun, fault),
        _ => Ok(None),
    }
}

/// What the address of an access was made from.
fn of_address(rerun: &mut Rerun<'_>, fault: &Fault, address: u64) -> Result<Option<ValueOrigin>, Lost> {
    let Some((at, step)) = last_of(rerun, fault)? else { return Ok(None) };
    let Some(inst) = step.inst.as_deref() else { return Ok(None) };
    let mut roots = Vec::new();
    for reg in addresses(inst) {
        roots.push(rerun.of_register(at, reg, false)?);
    }
    let told = Told { element: "the address".to_owned(), value: format!("{address:#x}") };
    followed(rerun, roots, told).map(Some)
}

/// What the operands of an operation were made from.
fn of_operands(rerun: &mut Rerun<'_>, fault: &Fault) -> Result<Option<ValueOrigin>, Lost> {
    let Some((at, step)) = last_of(rerun, fault)? else { return Ok(None) };
    let Some(&(reg, value)) = step.writes.first() else { return Ok(None) };
    let told = Told {
        element: "the result".to_owned(),
        value: format!("made at {}", rerun.location(&step).short()),
    };
    let made = Source::Made(Made { at, step, reg, value, is_mask: false });
    followed(rerun, vec![made], told).map(Some)
}

/// What a store that nothing defines has stored.
fn of_stored(rerun: &mut Rerun<'_>, address: u64) -> Result<Option<ValueOrigin>, Lost> {
    let Some(stored) = rerun.of_dword(address & !3)? else { return Ok(None) };
    let (label, offset) = rerun.allocation(address);
    let value = "not the same for every value of what nothing has written".to_owned();
    followed(rerun, vec![stored], Told { element: format!("{label}+{offset:#x}"), value }).map(Some)
}

/// What the condition was made from that led to where the wave is.
fn of_condition(rerun: &mut Rerun<'_>, fault: &Fault) -> Result<Option<ValueOrigin>, Lost> {
    let Some((mut at, _)) = last_of(rerun, fault)? else { return Ok(None) };
    // What a panic does on its way to the trap is no reason for it.
    let (step, inst) = loop {
        let Some(step) = rerun.last(at, decides)? else { return Ok(None) };
        at.number = step.number;
        if let Some(inst) = step.inst.clone().filter(|_| !rerun.panics(&step)) {
            break (step, inst);
        }
    };
    let roots = match inst.flow() {
        Flow::CondBranch { condition, .. } => {
            let high = rerun.wave().lanes() > 32 && at.lane >= 32;
            let vcc = if high { Reg::VCC_HI } else { Reg::VCC_LO };
            let is_mask = tests_vcc(condition);
            vec![rerun.of_register(at, if is_mask { vcc } else { Reg::SCC }, is_mask)?]
        }
        _ => {
            let made = Made { at, step: step.clone(), reg: Reg::EXEC_LO, value: 1, is_mask: true };
            rerun.inputs(&made)?.values
        }
    };
    let value = format!("decided at {}", rerun.location(&step).short());
    followed(rerun, roots, Told { element: "the way there".to_owned(), value }).map(Some)
}

/// What is followed, and what is said of it.
struct Told {
    element: String,
    value: String,
}

fn followed(rerun: &mut Rerun<'_>, roots: Vec<Source>, told: Told) -> Result<ValueOrigin, Lost> {
    let mut slice = Slice::default();
    for root in roots {
        if let Source::Made(made) = root {
            slice.add(rerun, made, 0);
        }
    }
    let Told { element, value } = told;
    if slice.nodes.is_empty() {
        let end = "it is a value that the kernel begins with".to_owned();
        return Ok(ValueOrigin { element, value, steps: Vec::new(), end });
    }
    let (steps, end) = lines(rerun, &mut slice)?;
    Ok(ValueOrigin { element, value, steps, end })
}

/// The last time that the wave came to the fault's instruction, in the lane at fault, or the first that was
/// active.
fn last_of(rerun: &mut Rerun<'_>, fault: &Fault) -> Result<Option<(Moment, std::rc::Rc<TracedStep>)>, Lost> {
    let Some(pc) = fault.pc else { return Ok(None) };
    let wave = rerun.wave_of(fault.workgroup, fault.wave);
    let mut at = Moment { wave, lane: fault.lane.unwrap_or(0), number: END };
    let is_there = move |step: &TracedStep| step.pc == pc;
    let Some(mut step) = rerun.last(at, is_there)? else { return Ok(None) };
    if fault.lane.is_none() && !step.active && step.exec_before != 0 {
        at.lane = step.exec_before.trailing_zeros() as u8;
        at.number = step.number + 1;
        step = rerun.step(Moment { number: step.number, ..at })?;
    }
    at.number = step.number;
    Ok(Some((at, step)))
}

/// Whether an instruction decides where the wave goes, or which lanes go on.
fn decides(step: &TracedStep) -> bool {
    let Some(inst) = step.inst.as_deref() else { return false };
    match inst.flow() {
        Flow::CondBranch { condition, .. } => tests_vcc(condition) || tests_scc(condition),
        // All lanes may have gone on, or none.
        _ => step.exec & !step.exec_before == 0 && (step.exec != step.exec_before || narrows(inst)),
    }
}

/// Whether an instruction takes lanes out of EXEC by a mask.
fn narrows(inst: &Inst) -> bool {
    let to_exec = |inst: &Inst| {
        let written = inst.operands.first().map(|operand| operand.value);
        written == Some(Value::EXEC)
    };
    match inst.op {
        Op::s_and_saveexec_b32 | Op::s_and_saveexec_b64 => true,
        Op::s_and_b32 | Op::s_and_b64 | Op::s_andn2_b32 | Op::s_andn2_b64 => to_exec(inst),
        op => op.is_of(Families::COMPARE_EXEC),
    }
}

const fn tests_vcc(condition: Condition) -> bool {
    matches!(condition, Condition::Vccz | Condition::Vccnz)
}

const fn tests_scc(condition: Condition) -> bool {
    matches!(condition, Condition::Scc0 | Condition::Scc1)
}
