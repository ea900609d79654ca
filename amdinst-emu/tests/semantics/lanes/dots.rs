//! Dot products of two halves or brain floats, and of what they are added to. Small whole numbers, whose sums
//! are exact in any order and format: in what order devices add, and what they cut off, no manual tells.

use amdgpu_isa::{Inst, Mods, Op, Opcode, Slot, Target, Value, opcodes};
use amdinst_emu::{Config, Machine, WaveState};

use super::dpp;
use crate::coverage::Snippet;
use crate::support::{self, Random, trials};
use crate::targets::RDNA;

/// The format of the factors, and of the sum.
#[derive(Clone, Copy, PartialEq)]
enum Format {
    Single,
    Half,
    Brain,
}

impl Format {
    /// The code of a whole number that has seven digits at most.
    fn code(self, value: i32) -> u32 {
        let bits = (value as f32).to_bits();
        match (self, value) {
            (Self::Single, _) => bits,
            (_, 0) => 0,
            (Self::Half, _) => bits >> 16 & 0x8000 | ((bits >> 23 & 0xff) - 112) << 10 | bits >> 13 & 0x3ff,
            (Self::Brain, _) => bits >> 16,
        }
    }
}

fn formats(op: Op) -> Option<(Format, Format)> {
    Some(match op {
        Op::v_dot2_f32_f16 | Op::v_dot2c_f32_f16 => (Format::Half, Format::Single),
        Op::v_dot2_f32_bf16 | Op::v_dot2c_f32_bf16 => (Format::Brain, Format::Single),
        Op::v_dot2_f16_f16 => (Format::Half, Format::Half),
        Op::v_dot2_bf16_bf16 => (Format::Brain, Format::Brain),
        _ => return None,
    })
}

/// Numbers of a register: of its halves, or of the whole in the first.
type Numbers = [[i32; 2]; 64];

fn numbers(random: &mut Random) -> Numbers {
    std::array::from_fn(|_| [random.below(7) as i32 - 3, random.below(7) as i32 - 3])
}

fn register(numbers: &Numbers, format: Format) -> [u32; 64] {
    numbers.map(|[low, high]| match format {
        Format::Single => format.code(low),
        _ => format.code(low) | format.code(high) << 16,
    })
}

/// Constants that are whole numbers, by their codes.
const CONSTANTS: [(u8, i32); 6] = [(242, 1), (243, -1), (244, 2), (245, -2), (246, 4), (247, -4)];

/// Puts a constant in the place of one source now and then, where the encoding takes it: the source's number,
/// and the constant.
fn constant(inst: &mut Inst, target: Target, random: &mut Random) -> Option<(usize, i32)> {
    let source = random.below(6) as usize;
    let slot = [Slot::Src0, Slot::Src1, Slot::Src2].get(source)?;
    let (code, value) = CONSTANTS[random.below(6) as usize];
    let mut changed = inst.clone();
    changed.operands.iter_mut().find(|operand| operand.slot == *slot)?.value = Value::Inline(code);
    changed.encode(target).ok()?;
    *inst = changed;
    Some((source, value))
}

fn trial(machine: &mut Machine, target: Target, opcode: Opcode, random: &mut Random) {
    let (factors, sum) = formats(opcode.op()).expect("a dot product");
    let mut inst = opcode.plain().expect("a plain form");
    let accumulates = !inst.operands.iter().any(|operand| operand.slot == Slot::Src2);
    for operand in &mut inst.operands {
        operand.value = Value::Vgpr(match operand.slot {
            Slot::Src0 => 1,
            Slot::Src1 => 2,
            Slot::Src2 => 3,
            _ => 0,
        });
    }
    let permutes = opcode.encoding().is_dpp() || opcode.encoding().is_dpp8();
    let constant = if permutes { None } else { constant(&mut inst, target, random) };
    let mut change = |change: &mut dyn FnMut(&mut Mods)| {
        let mut changed = inst.clone();
        change(&mut changed.mods);
        if changed.encode(target).is_ok() {
            inst = changed;
        }
    };
    if opcode.encoding().is_dpp() {
        let chosen = dpp::any(random);
        change(&mut |mods| mods.dpp = Some(chosen));
    } else if opcode.encoding().is_dpp8() {
        let lanes = [random.next() as u8, random.next() as u8, random.next() as u8];
        change(&mut |mods| mods.dpp8 = Some(lanes));
    }
    let is_packed = opcode.encoding().is_vop3p();
    let bits = random.next();
    if is_packed {
        change(&mut |mods| mods.op_sel = bits as u8 & 3);
        change(&mut |mods| mods.op_sel_hi = (bits >> 4) as u8 & 3 | 4);
        if !permutes {
            change(&mut |mods| mods.neg = (bits >> 8) as u8 & 3);
            change(&mut |mods| mods.neg_hi = (bits >> 12) as u8 & 3);
        }
    } else if sum != Format::Single {
        // Which half of the addend is read, and which of the result is written.
        change(&mut |mods| mods.op_sel = (bits >> 16) as u8 & 12);
    }
    let mods = inst.mods;
    let mut sources: [Numbers; 3] = std::array::from_fn(|_| numbers(random));
    if let Some((source, value)) = constant {
        // It stands in the low half of a pair, but in both of those whose halves nothing selects.
        let high = if sum == Format::Single && source < 2 { 0 } else { value };
        sources[source] = [[value, high]; 64];
    }
    let [a, b, c] = sources;
    let mut state = WaveState {
        exec: support::exec(random) & target.wave.all_lanes(),
        mode: support::mode(random),
        ..WaveState::default()
    };
    state.set_vgpr(0, if accumulates { register(&c, sum) } else { [0x1234_5678; 64] });
    state.set_vgpr(1, register(&a, factors));
    state.set_vgpr(2, register(&b, factors));
    state.set_vgpr(3, register(&c, sum));
    let words = inst.encode(target).unwrap_or_else(|error| panic!("{error}"));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let text = inst.text(target);
    let after = Snippet::from_bytes(target, &bytes)
        .run(machine, &state)
        .unwrap_or_else(|fault| panic!("{text}: {fault}"));
    let readable = if mods.fi { u64::MAX } else { state.exec };
    let numbers_of_lanes: [u128; 64] = std::array::from_fn(|lane| lane as u128 | 1 << 64);
    for lane in 0..64 {
        // The lane whose first source it is; zero if there is none.
        let from = match (&mods.dpp, mods.dpp8) {
            (Some(chosen), _) => dpp::source(chosen, readable, lane, &numbers_of_lanes),
            (None, Some(selectors)) => Some(dpp::source8(selectors, readable, lane, &numbers_of_lanes)),
            (None, None) => Some(numbers_of_lanes[lane]),
        };
        let old = state.vgpr(0)[lane];
        let expected = match from.filter(|_| state.exec >> lane & 1 != 0) {
            None => old,
            Some(from) => {
                let first = if from == 0 { [0; 2] } else { a[from as u64 as usize] };
                let part = |numbers: [i32; 2], source: u32, high: usize| {
                    let (select, sign) = match (is_packed, high) {
                        (true, 0) => (mods.op_sel, mods.neg),
                        (true, _) => (mods.op_sel_hi, mods.neg_hi),
                        (false, 0) => (0, 0),
                        (false, _) => (0xff, 0),
                    };
                    let value = numbers[usize::from(select >> source & 1)];
                    if sign >> source & 1 != 0 { -value } else { value }
                };
                let product = |high| part(first, 0, high) * part(b[lane], 1, high);
                let addend = if sum == Format::Single { 0 } else { usize::from(mods.op_sel >> 2 & 1) };
                let code = sum.code(product(0) + product(1) + c[lane][addend]);
                match (sum, mods.op_sel & 8 != 0) {
                    (Format::Single, _) => code,
                    (_, true) => old & 0xffff | code << 16,
                    (_, false) => old & 0xffff_0000 | code,
                }
            }
        };
        let found = after.vgpr(0)[lane];
        assert_eq!(
            found, expected,
            "{target:?} `{text}`, lane {lane}: {found:#x}, not {expected:#x} of {:?}, {:?} and {:?}, old {old:#x}",
            a[lane], b[lane], c[lane]
        );
    }
}

#[test]
pub(crate) fn dot_products_of_halves() {
    for target in RDNA {
        let mut machine = Machine::new(target.arch, Config::default());
        for opcode in opcodes(target) {
            let is_dot = formats(opcode.op()).is_some() && super::is_vector(opcode.encoding());
            if is_dot {
                let mut random = Random::new(&format!("{target:?} {}", opcode.mnemonic()));
                for _ in 0..trials(20) {
                    trial(&mut machine, target, opcode, &mut random);
                }
            }
        }
    }
}
