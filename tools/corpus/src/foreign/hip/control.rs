//! The host's side of `kernels/control.hip`.

use crate::foreign::bytes::{random, random32};
use crate::foreign::case::{Arg, Case, input, output, value};

/// Lanes that have something to do: no multiple of a wave.
const LANES: usize = 200;

/// A launch of two workgroups for [`LANES`].
fn case(kernel: &str, args: Vec<Arg>) -> Case {
    Case::new(kernel, 2, 128, args)
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        bytecode(),
        function_pointers(),
        calls(),
        insertion_sort(),
        variable_length_array(),
        device_variables(),
        binary_search(),
    ]
}

fn bytecode() -> Case {
    // while (x & 63) x = (x >> 1 ^ x * 3) - 9; x ^ 77
    #[rustfmt::skip]
    let code: [u8; 25] = [
        2, 1, 63, 5, 11, 9, 21,                 // 0: copy, & 63, is it zero? then to 21
        2, 1, 3, 4, 8, 1, 1, 6, 12, 1, 9, 7,    // 7: copy, * 3, swap, >> 1, ^, - 9
        10, 0,                                  // 19: to 0
        1, 77, 12, 0,                           // 21: ^ 77, end
    ];
    // The code is data, so the host reads it as well: a second machine, written from the meaning of the
    // opcodes.
    fn run(code: &[u8], x: u32) -> u32 {
        let mut stack = vec![x];
        let mut pc = 0usize;
        for _ in 0..500 {
            let op = code[pc];
            let immediate = code.get(pc + 1).copied().unwrap_or(0);
            pc += 1;
            if matches!(op, 3..=7 | 12) {
                let right = stack.pop().expect("a right operand");
                let left = stack.pop().expect("a left operand");
                stack.push(match op {
                    3 => left.wrapping_add(right),
                    4 => left.wrapping_mul(right),
                    5 => left & right,
                    6 => left >> (right & 31),
                    7 => left.wrapping_sub(right),
                    _ => left ^ right,
                });
                continue;
            }
            match op {
                0 => return stack[stack.len() - 1],
                1 => {
                    stack.push(u32::from(immediate));
                    pc += 1;
                }
                2 => stack.push(stack[stack.len() - 1]),
                8 => {
                    let top = stack.len() - 1;
                    stack.swap(top, top - 1);
                }
                9 => pc = if stack.pop() == Some(0) { pc + 1 } else { usize::from(immediate) },
                10 => pc = usize::from(immediate),
                11 => {
                    let top = stack.pop() == Some(0);
                    stack.push(u32::from(top));
                }
                _ => return 0xdead_0000 | u32::from(op),
            }
        }
        u32::MAX
    }
    let x = random32(LANES, 1);
    let expected: Vec<u32> = x.iter().map(|&x| run(&code, x)).collect();
    case("bytecode", vec![input(&code), input(&x), output(&expected), value(LANES as u32)])
}

fn function_pointers() -> Case {
    let functions: [fn(u32) -> u32; 4] = [
        |x| x.wrapping_add(3),
        |x| x.wrapping_mul(5),
        |x| x.rotate_left(7),
        |x| (1..=x & 15).rev().fold(0, |sum: u32, k| sum.wrapping_mul(3).wrapping_add(k)),
    ];
    let x = random32(LANES, 2);
    let one =
        |&x: &u32| (0..6).fold(x, |x, round| functions[(x >> round & 3) as usize](x.wrapping_add(round)));
    let expected: Vec<u32> = x.iter().map(one).collect();
    case("function_pointers", vec![input(&x), output(&expected), value(LANES as u32)])
}

fn calls() -> Case {
    let one = |&x: &u32| {
        let mut a: [u32; 12] = std::array::from_fn(|k| x.wrapping_add(k as u32));
        let mut b = u64::from(x) << 20;
        let mut c = x as u8;
        for k in 0..(x & 3) + 1 {
            let p = [x, x.wrapping_add(1), x ^ 2, x.wrapping_mul(3), 4, k, 6, x >> 7, 8, 9, !x, 11];
            a.iter_mut().zip(p.iter().rev()).for_each(|(a, p)| *a = a.wrapping_mul(3).wrapping_add(*p));
            let square = u64::from(x) * u64::from(x);
            b = b.wrapping_add(u64::from(x) ^ (u64::from(k) * 3) ^ square ^ (7777 >> 7));
            c = c.wrapping_add(k as u8).wrapping_add((x >> 3) as u8);
        }
        let start = b.wrapping_add(u64::from(c));
        a.iter().fold(start, |sum, &a| sum.wrapping_mul(31).wrapping_add(u64::from(a)))
    };
    let x = random32(LANES, 3);
    let expected: Vec<u64> = x.iter().map(one).collect();
    case("calls", vec![input(&x), output(&expected), value(LANES as u32)])
}

fn insertion_sort() -> Case {
    let numbers: Vec<u32> = random32(24 * LANES, 4).iter().map(|x| x >> 20).collect();
    let mut expected = numbers.clone();
    expected.chunks_mut(24).for_each(<[u32]>::sort);
    case("insertion_sort", vec![input(&numbers), output(&expected), value(LANES as u32)])
}

fn variable_length_array() -> Case {
    let length = 13;
    let x = random32(LANES, 5);
    let one = |(i, &x): (usize, &u32)| {
        let element = |k: u32| x.wrapping_add(k * k);
        (0..length)
            .fold(0u32, |sum, k| sum.wrapping_mul(3).wrapping_add(element((k * 5 + i as u32) % length)))
    };
    let expected: Vec<u32> = x.iter().enumerate().map(one).collect();
    let args = vec![input(&x), output(&expected), value(LANES as u32), value(length)];
    case("variable_length_array", args)
}

fn device_variables() -> Case {
    let words = ["wave", "lane", "workgroup", "register", ""];
    let x = random32(LANES, 6);
    let one = |&x: &u32| {
        let word = words[x as usize % 5];
        word.bytes().fold(0u32, |sum, letter| sum.wrapping_mul(131).wrapping_add(u32::from(letter)))
    };
    let mut expected: Vec<u32> = x.iter().map(one).collect();
    expected.push(1);
    case("device_variables", vec![input(&x), output(&expected), value(LANES as u32)])
}

fn binary_search() -> Case {
    let mut table = random(333, 7);
    table.sort_unstable();
    let mut keys = random(LANES, 8);
    keys.iter_mut().step_by(3).enumerate().for_each(|(k, key)| *key = table[k * 2]);
    let expected: Vec<u32> =
        keys.iter().map(|key| table.partition_point(|entry| entry < key) as u32).collect();
    let args =
        vec![input(&table), value(table.len() as u32), input(&keys), output(&expected), value(LANES as u32)];
    case("binary_search", args)
}
