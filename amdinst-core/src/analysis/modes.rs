//! Where vector instructions may do something else than they say: where VGPRs are addressed by an index as well
//! (`s_set_gpr_idx_on`), or vector instructions are skipped (`s_setvskip`). Both are bits of MODE, which `s_setreg` writes, too.
//!
//! Forward data flow over the whole program: a function starts with what any of its callers has on.
//!
//! Where VGPRs may be indexed or vector instructions skipped, only scalar instructions can count. Both modes
//! are ended before a wave ends. `amdinst-emu/tests/transparency/assembly` has such code, and all else that
//! code can do and compilers seldom write.

use amdgpu_isa::{Inst, Op, Value};

use super::program::{Exit, Function, Program};
use super::rounds::Rounds;

/// What may be on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes(u8);

impl Modes {
    /// VGPRs are addressed by an index (MODE.GPR_IDX_EN).
    pub const INDEXED: Self = Self(1);
    /// Vector instructions are skipped (MODE.VSKIP).
    pub const SKIPPED: Self = Self(2);
    /// All modes, with their bits in MODE (Vega ISA manual, "Mode register fields").
    const ALL: [(Self, u32); 2] = [(Self::INDEXED, 27), (Self::SKIPPED, 28)];

    /// Nothing is on.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether one of these may be on.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// What may be on at the blocks of a program.
#[derive(Clone, Debug)]
pub struct ModeFlow {
    /// By function and block: what may be on before its first instruction. Empty where nothing ever is.
    starts: Vec<Vec<Modes>>,
    /// By function: something may be on in it.
    concerned: Vec<bool>,
}

impl ModeFlow {
    /// Looks at the whole program.
    pub fn new(program: &Program) -> Self {
        if !program.insts.iter().any(|located| located.sets_modes) {
            return Self { starts: Vec::new(), concerned: Vec::new() };
        }
        let functions = &program.functions;
        let of_blocks = |function: &Function| vec![Modes::default(); function.blocks.len()];
        let mut starts: Vec<Vec<Modes>> = functions.iter().map(of_blocks).collect();
        let mut returned = vec![Modes::default(); functions.len()];
        // Sets only grow, so this ends.
        let mut grown = true;
        while grown {
            grown = false;
            for (number, function) in functions.iter().enumerate() {
                let mut enters: Vec<(usize, Modes)> = Vec::new();
                let mut rounds = Rounds::new(function.blocks.len());
                while let Some((at, _)) = rounds.next() {
                    let block = &function.blocks[at];
                    let mut modes = starts[number][at];
                    for inst in block.insts.clone() {
                        modes = after(program, inst, modes);
                    }
                    match block.exit {
                        Exit::Call(_) | Exit::CallPointed => {
                            let callees = block.exit.callees(&program.pointed);
                            enters.extend(callees.iter().map(|&callee| (callee, modes)));
                            let none = Modes::default();
                            modes = callees.iter().fold(none, |all, &callee| all.with(returned[callee]));
                        }
                        Exit::TailCall(callee) => {
                            enters.push((callee, modes));
                            modes = returned[callee];
                            grown |= grow(&mut returned[number], modes);
                        }
                        Exit::Return => grown |= grow(&mut returned[number], modes),
                        Exit::Local | Exit::End | Exit::Unknown => {}
                    }
                    for &next in &block.successors {
                        if grow(&mut starts[number][next], modes) {
                            grown = true;
                            rounds.mark(next);
                        }
                    }
                }
                for (callee, modes) in enters {
                    grown |= starts[callee].first_mut().is_some_and(|start| grow(start, modes));
                }
            }
        }
        let concerned = functions.iter().zip(&starts).map(|(function, starts)| {
            let mut insts = function.blocks.iter().flat_map(|block| block.insts.clone());
            starts.iter().any(|modes| !modes.is_none()) || insts.any(|inst| program.insts[inst].sets_modes)
        });
        Self { concerned: concerned.collect(), starts }
    }

    /// Whether anything may be on in a function.
    pub fn concerns(&self, function: usize) -> bool {
        self.concerned.get(function).copied().unwrap_or(false)
    }

    /// What may be on before an instruction of a block.
    pub fn before(&self, program: &Program, function: usize, block: usize, inst: usize) -> Modes {
        let Some(starts) = self.starts.get(function).filter(|_| self.concerns(function)) else {
            return Modes::default();
        };
        let first = program.functions[function].blocks[block].insts.start;
        (first..inst).fold(starts[block], |modes, inst| after(program, inst, modes))
    }
}

fn grow(modes: &mut Modes, by: Modes) -> bool {
    let before = *modes;
    *modes = modes.with(by);
    *modes != before
}

/// Whether an instruction may set or clear one of the bits.
pub(super) fn changes(inst: &Inst) -> bool {
    match inst.op {
        Op::s_set_gpr_idx_on | Op::s_set_gpr_idx_off | Op::s_setvskip => true,
        Op::s_setreg_b32 | Op::s_setreg_imm32_b32 => written(inst).next().is_some(),
        _ => false,
    }
}

/// The bits that `s_setreg` writes, with their places in the field that it writes.
fn written(inst: &Inst) -> impl Iterator<Item = (Modes, u32)> {
    // The field: register in bits 0 to 5, first bit in 6 to 10, width less one in 11 to 15.
    let field = inst.operands.iter().find_map(|operand| match operand.value {
        Value::Imm(field) => Some(field as u32),
        _ => None,
    });
    const MODE: u32 = 1;
    let bits =
        field.filter(|field| field & 63 == MODE).map(|field| (field >> 6 & 31, (field >> 11 & 31) + 1));
    let (first, width) = bits.unwrap_or_default();
    Modes::ALL
        .into_iter()
        .filter(move |(_, bit)| (first..first + width).contains(bit))
        .map(move |(mode, bit)| (mode, bit - first))
}

/// What may be on after an instruction, if so much may be before it.
fn after(program: &Program, index: usize, modes: Modes) -> Modes {
    let located = &program.insts[index];
    if !located.sets_modes {
        return modes;
    }
    let (op, inst) = (located.op, program.inst(index));
    let values: Vec<Value> = inst.operands.iter().map(|operand| operand.value).collect();
    match op {
        Op::s_set_gpr_idx_on => modes.with(Modes::INDEXED),
        Op::s_set_gpr_idx_off => modes.without(Modes::INDEXED),
        Op::s_setvskip => {
            let bit = |bits: u32, at: u32| bits >> (at & 31) & 1;
            match values[..] {
                [bits, at]
                    if constant(bits).zip(constant(at)).is_some_and(|(bits, at)| bit(bits, at) == 0) =>
                {
                    modes.without(Modes::SKIPPED)
                }
                _ => modes.with(Modes::SKIPPED),
            }
        }
        _ => {
            let immediate =
                (op == Op::s_setreg_imm32_b32).then(|| values.iter().find_map(|&value| literal(value)));
            written(inst).fold(modes, |modes, (mode, at)| match immediate.flatten() {
                Some(bits) if bits >> at & 1 == 0 => modes.without(mode),
                _ => modes.with(mode),
            })
        }
    }
}

const fn literal(value: Value) -> Option<u32> {
    if let Value::Literal(value) = value { Some(value) } else { None }
}

fn constant(value: Value) -> Option<u32> {
    match value {
        Value::Literal(value) => Some(value),
        Value::Inline(code @ 128..=192) => Some(u32::from(code) - 128),
        Value::Inline(code @ 193..=208) => Some((192 - i32::from(code)) as u32),
        _ => None,
    }
}
