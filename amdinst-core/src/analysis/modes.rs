//! Where vector instructions may do something else than they say: where VGPRs are addressed by an index as
//! well (`s_set_gpr_idx_on`), or vector instructions are skipped (`s_setvskip`). Both are bits of MODE, which
//! `s_setreg` writes, too.

use amdgpu_isa::{Inst, Op, Value};

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

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
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
pub(super) fn after(inst: &Inst, modes: Modes) -> Modes {
    let op = inst.op;
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
