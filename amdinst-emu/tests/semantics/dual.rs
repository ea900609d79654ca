//! VOPD: two operations in one instruction (RDNA3 ISA, section 7.6), each with its own model. Both read
//! before either writes.

use amdgpu_isa::{Encoding, Inst, Opcode, Slot, Target, Value, WaveSize, opcodes};
use amdinst_emu::{Config, Machine, WaveState};

use crate::coverage::Snippet;
use crate::model::{Args, Kind, Mode, operation};
use crate::support::{self, Random, trials};
use crate::targets::{RDNA, has_new_names, is_gfx12};

/// Vector registers that operands are chosen from.
const REGISTERS: usize = 24;
/// Scalar registers, likewise.
const SCALARS: [u8; 2] = [40, 61];

/// What one of the two operations reads and writes.
#[derive(Debug, Default)]
struct Half {
    name: &'static str,
    destination: u8,
    sources: [Option<Value>; 3],
}

fn halves(inst: &Inst) -> [Half; 2] {
    let second = inst.mods.dual.expect("two operations").name();
    let mut halves =
        [Half { name: inst.op.name(), ..Half::default() }, Half { name: second, ..Half::default() }];
    let mut at = 0;
    for operand in &inst.operands {
        if operand.slot == Slot::VdstY {
            at = 1;
        }
        let half = &mut halves[at];
        match (operand.slot, operand.value) {
            (_, Value::VCC) => {}
            (Slot::Vdst | Slot::VdstY, Value::Vgpr(register)) => half.destination = register,
            (Slot::Src0 | Slot::Src0Y, value) => half.sources[0] = Some(value),
            (Slot::Src1 | Slot::Src1Y, value) => half.sources[1] = Some(value),
            // The constant of `fmaak` and `fmamk`.
            (Slot::Other, value) => half.sources[2] = Some(value),
            (slot, value) => panic!("{}: {slot:?} {value:?}", half.name),
        }
    }
    halves
}

/// Operands at random: registers that may meet, scalars and constants. The assembler knows which do not go
/// together.
fn choose_operands(plain: &Inst, target: Target, random: &mut Random) -> Inst {
    let literal = support::value(random, Kind::F32) as u32;
    for _ in 0..200 {
        let mut inst = plain.clone();
        for operand in &mut inst.operands {
            let is_first = matches!(operand.slot, Slot::Src0 | Slot::Src0Y);
            operand.value = match operand.value {
                Value::Vgpr(_) if is_first => match random.below(8) {
                    0 => Value::Scalar(random.pick(&SCALARS)),
                    1 => Value::Inline(128 + random.below(81) as u8),
                    2 => Value::Literal(literal),
                    _ => Value::Vgpr(random.below(REGISTERS as u64) as u8),
                },
                Value::Vgpr(_) => Value::Vgpr(random.below(REGISTERS as u64) as u8),
                Value::Literal(_) => Value::Literal(literal),
                other => other,
            };
        }
        if inst.encode(target).is_ok() {
            return inst;
        }
    }
    panic!("{}: no operands go together", plain.text(target));
}

fn is_dot(name: &str) -> bool {
    name.starts_with("v_dot2c")
}

/// A whole number from -3 to 3 in each half, as halves or upper halves of singles.
fn small_halves(name: &str, random: &mut Random) -> u32 {
    let half = |random: &mut Random| {
        let value = random.below(7) as f32 - 3.0;
        let bits = value.to_bits();
        match (name, value == 0.0) {
            ("v_dot2c_f32_bf16", _) => bits >> 16,
            (_, true) => 0,
            // Two bits of fraction; exponents differ by 112.
            _ => bits >> 16 & 0x8000 | ((bits >> 23 & 0xff) - 112) << 10 | bits >> 13 & 0x3ff,
        }
    };
    half(random) | half(random) << 16
}

/// A sum of products that are exact, as is the sum.
fn dot(name: &str, a: u32, b: u32, old: u32) -> u32 {
    let value = |bits: u32| match name {
        "v_dot2c_f32_bf16" => f64::from(f32::from_bits(bits << 16)),
        _ if bits & 0x7fff == 0 => 0.0,
        _ => {
            let size = f64::from(1024 + (bits & 0x3ff)) * 2f64.powi((bits >> 10 & 31) as i32 - 25);
            if bits & 0x8000 != 0 { -size } else { size }
        }
    };
    let product = |shift: u32| value(a >> shift & 0xffff) * value(b >> shift & 0xffff);
    ((f64::from(f32::from_bits(old)) + product(0) + product(16)) as f32).to_bits()
}

fn read(state: &WaveState, value: Value, lane: usize) -> u32 {
    match value {
        Value::Vgpr(register) => state.vgpr(register.into())[lane],
        Value::Scalar(register) => state.sgprs[usize::from(register)],
        Value::Literal(bits) => bits,
        Value::Inline(code @ 128..=192) => u32::from(code) - 128,
        Value::Inline(code) => (192 - i32::from(code)) as u32,
        other => panic!("{other:?}"),
    }
}

/// What one operation writes in a lane.
fn result(half: &Half, state: &WaveState, lane: usize, target: Target) -> u32 {
    let source = |at: usize| half.sources[at].map_or(0, |value| read(state, value, lane));
    let s = [source(0), source(1), source(2)];
    let old = state.vgpr(half.destination.into())[lane];
    if is_dot(half.name) {
        return dot(half.name, s[0], s[1], old);
    }
    let model = operation(half.name).unwrap_or_else(|| panic!("{}: no model", half.name));
    let mode = Mode { register: state.mode, is_fixed: is_gfx12(target), ..Mode::default() };
    let args = Args {
        s: s.map(u128::from),
        old: old.into(),
        bit: state.vcc >> lane & 1 != 0,
        mode,
        ..Args::default()
    };
    (model.run)(&args).value as u32
}

fn trial(machine: &mut Machine, target: Target, opcode: Opcode, random: &mut Random) {
    let inst = choose_operands(&opcode.plain().expect("a plain form"), target, random);
    let halves = halves(&inst);
    let mut state = WaveState {
        exec: support::exec(random) & target.wave.all_lanes(),
        mode: support::mode(random),
        vcc: random.next(),
        ..WaveState::default()
    };
    let dot = halves.iter().find(|half| is_dot(half.name));
    let any = |random: &mut Random| match dot {
        Some(half) => small_halves(half.name, random),
        None => support::value(random, Kind::F32) as u32,
    };
    for register in 0..REGISTERS {
        state.set_vgpr(register, std::array::from_fn(|_| any(random)));
    }
    for register in SCALARS {
        state.sgprs[usize::from(register)] = any(random);
    }
    let mut inst = inst;
    if let Some(half) = dot {
        // Constants that are halves, too, and sums to start with.
        let constant = small_halves(half.name, random);
        for operand in &mut inst.operands {
            match &mut operand.value {
                Value::Literal(bits) => *bits = constant,
                Value::Inline(code) => *code = 128,
                _ => {}
            }
        }
        for half in halves.iter().filter(|half| is_dot(half.name)) {
            let sums = std::array::from_fn(|_| (random.below(9) as f32 - 4.0).to_bits());
            state.set_vgpr(half.destination.into(), sums);
        }
    }
    let halves = self::halves(&inst);
    let text = inst.text(target);
    let words = inst.encode(target).unwrap_or_else(|error| panic!("{text}: {error}"));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let after = Snippet::from_bytes(target, &bytes)
        .run(machine, &state)
        .unwrap_or_else(|fault| panic!("{text}: {fault}"));
    let mut expected = state.clone();
    for lane in (0..target.wave.lanes() as usize).filter(|lane| state.exec >> lane & 1 != 0) {
        for half in &halves {
            expected.vgprs[usize::from(half.destination)][lane] = result(half, &state, lane, target);
        }
    }
    for half in &halves {
        for lane in 0..64 {
            let [found, wanted] = [&after, &expected].map(|state| state.vgpr(half.destination.into())[lane]);
            let sources = half.sources.map(|value| value.map(|value| read(&state, value, lane)));
            assert_eq!(
                found,
                wanted,
                "{:?} `{text}`, {}, mode {:#x}, lane {lane}: {found:#x}, not {wanted:#x} of {sources:x?}, old {:#x}",
                target.arch,
                half.name,
                state.mode,
                state.vgpr(half.destination.into())[lane]
            );
        }
    }
    assert_eq!(after, expected, "{:?} `{text}`", target.arch);
}

/// Every pair, with random operands, EXEC and MODE.
#[test]
pub(crate) fn pairs_do_what_both_models_do() {
    for target in RDNA.into_iter().filter(|target| target.wave == WaveSize::Wave32) {
        let mut machine = Machine::new(target.arch, Config::default());
        let mut count = 0;
        for opcode in opcodes(target).filter(|opcode| opcode.encoding() == Encoding::Vopd) {
            let mut random =
                Random::new(&format!("{} {} {}", target.arch, opcode.mnemonic(), opcode.number()));
            for _ in 0..trials(8) {
                trial(&mut machine, target, opcode, &mut random);
            }
            count += 1;
        }
        println!("{}: {count} pairs of operations", target.arch);
        let has_any = has_new_names(target);
        assert_eq!(count, if has_any { 14 * 17 } else { 0 }, "{}", target.arch);
    }
}
