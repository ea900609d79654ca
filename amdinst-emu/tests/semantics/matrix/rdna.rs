//! WMMA of RDNA 3 and RDNA 4, and SWMMAC of RDNA 4: whole matrices, where AMD's calculator has their
//! elements, against products on the host.
//!
//! Elements are small whole numbers, so every sum is exact in whatever order.

use std::collections::{BTreeMap, HashMap};

use amdgpu_isa::{Inst, Slot, Target, Value, opcodes};
use amdinst_emu::{Config, Machine, WaveState};

use crate::coverage::Snippet;
use crate::support::Random;
use crate::targets::{RDNA, has_new_names, is_gfx12};

/// By wave size, matrix and mnemonic: VGPR, first bit and index of the elements of each group of 16 lanes.
type Layouts = BTreeMap<(u32, String, String), Vec<Vec<[usize; 3]>>>;

fn layouts(text: &str) -> Layouts {
    let mut layouts = Layouts::new();
    let mut named: Vec<(u32, String, String)> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if !line.starts_with(' ') {
            let mut words = line.split(' ');
            let (wave, matrix) = (words.next().unwrap().parse().unwrap(), words.next().unwrap());
            let names = words.next().unwrap().split(',');
            named = names.map(|name| (wave, matrix.to_owned(), name.to_owned())).collect();
            named.iter().for_each(|key| drop(layouts.insert(key.clone(), Vec::new())));
            continue;
        }
        let place = |word: &str| {
            let (place, index) = word.split_once('=').unwrap();
            let (register, bit) = place.split_once('.').unwrap();
            [register, bit, index].map(|number| number.parse().unwrap())
        };
        let group: Vec<[usize; 3]> = line.split_whitespace().filter(|word| *word != "-").map(place).collect();
        named.iter().for_each(|key| layouts.get_mut(key).unwrap().push(group.clone()));
    }
    layouts
}

/// The code of a whole number from -3 to 3 in an element of a name.
fn code(element: &str, value: i32) -> u32 {
    let (exponent_bits, mantissa_bits, bias) = match element {
        "f32" => (8, 23, 127),
        "f16" => (5, 10, 15),
        "bf16" => (8, 7, 127),
        "fp8" => (4, 3, 7),
        "bf8" => (5, 2, 15),
        "iu8" => return value as u8 as u32,
        "iu4" => return value as u32 & 15,
        _ => return value as u32,
    };
    let size = value.unsigned_abs();
    if size == 0 {
        return 0;
    }
    let power = size.ilog2();
    let fraction = (size - (1 << power)) << (mantissa_bits - power);
    u32::from(value < 0) << (exponent_bits + mantissa_bits) | (bias + power) << mantissa_bits | fraction
}

fn bits_of(element: &str) -> usize {
    match element {
        "f16" | "bf16" => 16,
        "fp8" | "bf8" | "iu8" => 8,
        "iu4" => 4,
        _ => 32,
    }
}

/// First registers of the operands.
const A: u8 = 0;
const B: u8 = 16;
const C: u8 = 32;
const D: u8 = 48;

fn small(random: &mut Random) -> i32 {
    random.below(7) as i32 - 3
}

/// Puts a code into a lane's register.
fn put(state: &mut WaveState, first: u8, lane: usize, [register, bit]: [usize; 2], bits: usize, code: u32) {
    let number = usize::from(first) + register;
    let mut row = state.vgpr(number);
    let mask = u32::MAX >> (32 - bits) << bit;
    row[lane] = row[lane] & !mask | code << bit;
    state.set_vgpr(number, row);
}

fn place_registers(inst: &mut Inst) {
    for operand in &mut inst.operands {
        operand.value = Value::Vgpr(match operand.slot {
            Slot::Vdst => D,
            Slot::Src0 => A,
            Slot::Src1 => B,
            _ => C,
        });
    }
}

/// One product: elements at random, some with signs that the instruction changes, one of the sets of keys.
#[expect(clippy::needless_range_loop, reason = "the number of a line is that of a lane, too")]
fn trial(layouts: &Layouts, target: Target, plain: &Inst, random: &mut Random) {
    let name = plain.op.name();
    let wave = target.wave.lanes();
    let key = |matrix: &str| (wave, matrix.to_owned(), name.to_owned());
    let layout = |matrix: &str| &layouts[&key(matrix)];
    let sparse = name.starts_with("v_swmmac");
    let words: Vec<&str> = name.split('_').collect();
    let (sum, a_type) = (words[2], words[4]);
    let b_type = words.get(5).copied().unwrap_or(a_type);
    let depth: usize = words[3].rsplit('x').next().unwrap().parse().unwrap();
    let mut inst = plain.clone();
    place_registers(&mut inst);
    let whole = sum == "i32";
    if whole {
        inst.mods.neg = 3;
    }
    let mut changed = inst.clone();
    if bits_of(a_type) == 16 {
        changed.mods.neg = random.below(4) as u8;
        changed.mods.neg_hi = random.below(4) as u8;
    }
    if !whole && !sparse {
        changed.mods.neg |= 4 * random.below(2) as u8;
        changed.mods.neg_hi |= 4 * random.below(2) as u8;
    }
    if changed.encode(target).is_ok() {
        inst = changed;
    }
    let sets = (0..4).filter(|set| layouts.contains_key(&key(&format!("K{set}")))).count();
    let set = if sets > 0 { random.below(sets as u64) as u8 } else { 0 };
    if sets > 1 {
        inst.mods.op_sel = set;
    }
    // Halves as sums are in the lower or the upper halves of registers, where they have a register each.
    let has_halves = layouts.contains_key(&key("H"));
    if has_halves {
        inst.mods.op_sel = 4 * random.below(2) as u8;
    }
    let sums = layout(if inst.mods.op_sel & 4 != 0 && has_halves { "H" } else { "D" });
    let mods = inst.mods;
    // Elements that several groups of lanes hold.
    let (mut in_a, mut in_b) = (HashMap::new(), HashMap::new());
    let mut state = WaveState { exec: target.wave.all_lanes(), ..WaveState::default() };
    // A and B as they are multiplied.
    let (mut a, mut b) = (vec![[0i32; 64]; 16], vec![[0i32; 16]; 64]);
    let negated = |source: u8, bit: usize, value: i32| {
        let field = if bit == 0 { mods.neg } else { mods.neg_hi };
        if !whole && field >> source & 1 != 0 { -value } else { value }
    };
    for (group, elements) in layout("A").iter().enumerate() {
        for line in 0..16 {
            let lane = 16 * group + line;
            let bits = bits_of(a_type);
            let keys = sparse.then(|| &layout(&format!("K{set}"))[group]);
            for (number, &[register, bit, k]) in elements.iter().enumerate() {
                let count = if sparse { 2 } else { 1 };
                // Two columns of four, the lower one first.
                let first = random.below(3) as usize;
                let second = first + 1 + random.below(3 - first as u64) as usize;
                for at in 0..count {
                    let bit = bit + at * bits;
                    let column = if sparse { k + [first, second][at] } else { k };
                    let value = *in_a.entry((line, column)).or_insert_with(|| small(random));
                    put(&mut state, A, lane, [register, bit], bits, code(a_type, value));
                    a[line][column] = negated(0, bit, value);
                }
                if let Some(keys) = keys {
                    let [register, bit, _] = keys[number];
                    let pair = (first | second << 2) as u32;
                    put(&mut state, C, lane, [register, bit], 4, pair);
                }
            }
        }
    }
    for (group, elements) in layout("B").iter().enumerate() {
        for line in 0..16 {
            for &[register, bit, k] in elements {
                let value = *in_b.entry((line, k)).or_insert_with(|| small(random));
                put(&mut state, B, 16 * group + line, [register, bit], bits_of(b_type), code(b_type, value));
                b[k][line] = negated(1, bit, value);
            }
        }
    }
    let addend = if sparse { D } else { C };
    let sum_type = if whole { "i32" } else { sum };
    let mut expected = Vec::new();
    for (group, elements) in sums.iter().enumerate() {
        for column in 0..16 {
            let lane = 16 * group + column;
            for &[register, bit, row] in elements {
                let c = small(random);
                put(&mut state, addend, lane, [register, bit], bits_of(sum_type), code(sum_type, c));
                let c = if mods.neg_hi & 4 != 0 { c.abs() } else { c };
                let c = if mods.neg & 4 != 0 { -c } else { c };
                let total: i32 = c + (0..depth).map(|k| a[row][k] * b[k][column]).sum::<i32>();
                expected.push((lane, register, bit, total));
            }
        }
    }
    let text = inst.text(target);
    let encoded = inst.encode(target).unwrap_or_else(|error| panic!("{text}: {error}"));
    let bytes: Vec<u8> = encoded.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut machine = Machine::new(target.arch, Config::default());
    let after = Snippet::from_bytes(target, &bytes)
        .run(&mut machine, &state)
        .unwrap_or_else(|fault| panic!("{text}: {fault}"));
    for (lane, register, bit, total) in expected {
        let bits = bits_of(sum_type);
        let found = after.vgpr(usize::from(D) + register)[lane] >> bit & (u32::MAX >> (32 - bits));
        let value = match sum_type {
            "i32" => f64::from(found as i32),
            "f32" => f64::from(f32::from_bits(found)),
            "bf16" => f64::from(f32::from_bits(found << 16)),
            _ => half_value(found),
        };
        assert_eq!(value, f64::from(total), "{text}, lane {lane}, v{register} bit {bit}");
    }
}

/// A half that is a normal number or zero.
fn half_value(bits: u32) -> f64 {
    if bits & 0x7fff == 0 {
        return 0.0;
    }
    let size = f64::from(1024 + (bits & 1023)) * 2f64.powi((bits >> 10 & 31) as i32 - 25);
    if bits & 0x8000 != 0 { -size } else { size }
}

#[test]
pub(crate) fn whole_matrices_of_rdna3() {
    let is_rdna3 = |target: &Target| has_new_names(*target) && !is_gfx12(*target);
    whole_matrices(&layouts(include_str!("rdna3.txt")), is_rdna3, 6);
}

#[test]
pub(crate) fn whole_matrices_of_rdna4() {
    whole_matrices(&layouts(include_str!("rdna4.txt")), |target| is_gfx12(*target), 22);
}

/// Each instruction of some targets, of which there are so many.
fn whole_matrices(layouts: &Layouts, are_meant: impl Fn(&Target) -> bool, instructions: usize) {
    for target in RDNA.into_iter().filter(are_meant) {
        let mut count = 0;
        for opcode in opcodes(target) {
            let name = opcode.op().name();
            if !name.starts_with("v_wmma") && !name.starts_with("v_swmmac") {
                continue;
            }
            count += 1;
            let mut random = Random::new(&format!("{target:?} {name}"));
            for _ in 0..crate::support::trials(4) {
                trial(layouts, target, &opcode.plain().unwrap(), &mut random);
            }
        }
        assert_eq!(count, instructions, "{target:?}");
    }
}
