//! Kernels made up from a seed: nested branches, loops with breaks, switches, calls, and enough variables to
//! spill.

use std::fmt::Write;

/// A linear congruential generator: the same kernels everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// The source of kernel number `seed`.
pub(crate) fn kernel(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut text = String::new();
    for helper in 0..2 {
        let body = block(&mut dice, 2, helper, false);
        writeln!(
            text,
            "__attribute__((noinline)) uint helper{helper}(uint a, uint b, global const uint *in) {{
                uint c = in[a & 255], d = a ^ b, i = b & 255;\n{body}    return a + b * 3 + c + d;\n}}"
        )
        .expect("writing to a string");
    }
    let body = block(&mut dice, 3, 2, true);
    writeln!(
        text,
        "kernel void test(global uint *out, global const uint *in, uint n) {{
            uint i = get_global_id(0), a = in[i], b = i, c = in[i + 1], d = n;\n{body}    out[i] = a ^ b ^ c ^ d;\n}}"
    )
    .expect("writing to a string");
    text
}

/// A few statements. `helpers` says how many helper functions may be called.
fn block(dice: &mut Dice, depth: u64, helpers: u64, is_kernel: bool) -> String {
    let mut text = String::new();
    for _ in 0..2 + dice.roll(3) {
        text.push_str(&statement(dice, depth, helpers, is_kernel));
    }
    text
}

fn variable(dice: &mut Dice) -> char {
    ['a', 'b', 'c', 'd'][dice.roll(4) as usize]
}

fn expression(dice: &mut Dice) -> String {
    let (x, y, k) = (variable(dice), variable(dice), dice.roll(30));
    match dice.roll(6) {
        0 => format!("{x} + {y}"),
        1 => format!("{x} * {k} + 1"),
        2 => format!("({x} >> {}) ^ {y}", k & 7),
        3 => format!("in[({x} + {k}) & 511]"),
        4 => format!("({x} & {k}) | {y}"),
        _ => format!("{x} - {k}"),
    }
}

fn condition(dice: &mut Dice) -> String {
    let (x, y, k) = (variable(dice), variable(dice), dice.roll(30));
    match dice.roll(5) {
        0 => format!("({x} & 31) > {k}"),
        1 => format!("({x} & 3) == {}", k & 3),
        2 => format!("{x} < {y}"),
        3 => format!("in[({x} + i) & 511] > {k} && ({y} & 1)"),
        _ => "n > 100".replace('n', &format!("({x} | 64)")),
    }
}

fn statement(dice: &mut Dice, depth: u64, helpers: u64, is_kernel: bool) -> String {
    let kinds = if depth == 0 { 3 } else { 9 };
    let (x, test) = (variable(dice), condition(dice));
    match dice.roll(kinds) {
        0 | 1 => format!("{x} = {};\n", expression(dice)),
        2 if helpers > 0 => {
            let (which, y) = (dice.roll(helpers), variable(dice));
            format!("{x} += helper{which}({y}, {}, in);\n", expression(dice))
        }
        2 => format!("{x} ^= {};\n", expression(dice)),
        3 | 4 => format!("if ({test}) {{\n{}}}\n", block(dice, depth - 1, helpers, is_kernel)),
        5 => {
            let (then, other) =
                (block(dice, depth - 1, helpers, is_kernel), block(dice, depth - 1, helpers, is_kernel));
            format!("if ({test}) {{\n{then}}} else {{\n{other}}}\n")
        }
        6 => {
            let (limit, body) = (1 + dice.roll(6), block(dice, depth - 1, helpers, is_kernel));
            let leave = ["break", "continue"][dice.roll(2) as usize];
            let k = format!("k{depth}");
            format!(
                "for (uint {k} = 0; {k} < ({x} & {limit}) + 1; ++{k}) {{\n{body}if ({test}) {leave};\n{x} += {k};\n}}\n"
            )
        }
        7 => {
            let arms: String = (0..2 + dice.roll(3))
                .map(|arm| format!("case {arm}: {}break;\n", statement(dice, depth - 1, helpers, is_kernel)))
                .collect();
            format!("switch ({x} & 7) {{\n{arms}default: {x} += 3;\n}}\n")
        }
        _ if is_kernel && dice.roll(3) == 0 => format!("if ({test}) {{ out[i + 512] = {x}; return; }}\n"),
        _ if is_kernel => format!("if ({test}) out[i + 512] += {};\n", expression(dice)),
        _ => format!("if ({test}) return {x};\n"),
    }
}
