//! Where elements are: one one in A, one in B, one in the result, at the places that AMD's calculator names.

use amdgpu_isa::{Inst, Value};
use amdinst_emu::WaveState;

use super::{ARCHS, element_formats, get, instructions, operand, oracle, put, run, shapes};
use crate::formats;

/// `v3.[15:8]@42`: first register, first bit and width in it, lane.
fn place(text: &str) -> (usize, usize, usize, usize) {
    let (register, lane) = text.split_once('@').unwrap();
    let (register, bits) = register.split_once('.').unwrap_or((register, ""));
    let pair = register.strip_prefix("v[");
    let first = match pair {
        Some(pair) => pair.trim_end_matches(']').split(':').nth(1).unwrap(),
        None => register.trim_start_matches('v'),
    };
    let range: Vec<usize> =
        bits.trim_matches(['[', ']']).split(':').filter_map(|bit| bit.parse().ok()).collect();
    let (low, width) = match range[..] {
        [high, low] => (low, high - low + 1),
        _ => (0, if pair.is_some() { 64 } else { 32 }),
    };
    (first.parse().unwrap(), low, width, lane.parse().unwrap())
}

/// The part of a line that starts with `letter=`.
fn part(words: &[&str], letter: char) -> Option<(usize, usize, usize, usize)> {
    words.iter().find_map(|word| word.strip_prefix(letter)?.strip_prefix('=')).map(place)
}

fn set(
    state: &mut WaveState,
    value: Value,
    (register, low, _, lane): (usize, usize, usize, usize),
    code: u64,
) {
    put(state, value, register, lane, (code as u32) << low);
    if code >> 32 != 0 {
        put(state, value, register + 1, lane, (code >> 32) as u32);
    }
}

#[test]
pub(crate) fn elements_are_where_amds_calculator_has_them() {
    let mut checked = 0;
    for arch in ARCHS {
        for (inst, shape) in instructions(arch) {
            let lines = include_str!("places.txt").lines();
            for line in lines.filter(|line| line.split(' ').next() == Some(shape.name)) {
                let words: Vec<&str> = line.split_whitespace().collect();
                let depth: usize = words[3].parse().unwrap();
                let [a, b] = element_formats(arch, &inst, &shape);
                let mut state = WaveState::default();
                // Register operands exist even where no one stands in them.
                put(&mut state, operand(&inst, 0), 0, 0, 0);
                set(&mut state, operand(&inst, 1), part(&words, 'a').unwrap(), a.code(1.0));
                set(&mut state, operand(&inst, 2), part(&words, 'b').unwrap(), b.code(1.0));
                if let Some(index) = part(&words, 'k') {
                    // The first of the pair that is stored, at the place of its four.
                    set(&mut state, operand(&inst, 3), index, (depth % 4) as u64);
                }
                let after =
                    run(arch, &inst, &state).unwrap_or_else(|fault| panic!("{arch}: {line}: {fault}"));
                only_one(&inst, &after, part(&words, 'd').unwrap(), shape.a, line);
                checked += 1;
            }
        }
    }
    println!("{checked} places");
    assert!(checked > 400, "{checked}");
}

/// The result is zero but for a one.
fn only_one(
    inst: &Inst,
    after: &WaveState,
    (register, _, _, lane): (usize, usize, usize, usize),
    a: &str,
    line: &str,
) {
    let one = match a {
        "i8" => 1,
        "f64" => 0x3ff0_0000,
        _ => 1f32.to_bits(),
    };
    let register = if a == "f64" { register + 1 } else { register };
    for at in 0..usize::from(inst.operands[0].dwords) {
        for other in 0..64 {
            let expected = if (at, other) == (register, lane) { one } else { 0 };
            assert_eq!(
                get(after, operand(inst, 0), at, other),
                expected,
                "{line}: register {at}, lane {other}"
            );
        }
    }
}

/// The oracle's places are the calculator's, all of them: set `AMDINST_MATRIX_PLACES` to a file with lines of
/// architecture, mnemonic, matrix, row, column, depth, block, register and lane.
#[test]
pub(crate) fn oracle_agrees_with_a_full_listing() {
    let Ok(file) = std::env::var("AMDINST_MATRIX_PLACES") else {
        println!("not compared: AMDINST_MATRIX_PLACES is not set");
        return;
    };
    let shapes = shapes();
    let mut compared = 0;
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let shape = shapes.iter().find(|shape| shape.name == words[1]).unwrap();
        let number = |at: usize| words[at].parse::<usize>().unwrap();
        let (i, j, k, block) = (number(3), number(4), number(5), number(6));
        let (register, low, width, lane) = place(&format!("{}@{}", words[7], words[8]));
        let format = formats::named(amdgpu_isa::Arch::Gfx942, shape.a);
        let (expected, bits) = match words[2] {
            "a" if shape.is_sparse() => {
                // The calculator names the pair that holds two of four.
                let (item, lane) = oracle::input(shape, shape.stored(), 1, i, k / 4 * 2, block);
                ((item, lane), format.bits())
            }
            "a" => (oracle::input(shape, shape.depth, 1, i, k, block), format.bits()),
            "b" => (oracle::input(shape, shape.depth, 1, j, k, block), format.bits()),
            _ => (oracle::output(shape, i, j, block), if shape.a == "f64" { 64 } else { 32 }),
        };
        let bit = expected.0 * bits;
        let wide = width.max(bits) > 32;
        assert_eq!((register, lane), (bit / 32, expected.1), "{line}");
        assert!(wide || low == bit % 32 / width * width, "{line}");
        compared += 1;
    }
    println!("{compared} places compared");
    assert!(compared > 100_000);
}
