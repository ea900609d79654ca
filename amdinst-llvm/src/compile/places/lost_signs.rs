//! A pair of halves whose second one is the constant -0.0, whose sign LLVM drops.
//!
//! LLVM 22 has a pattern for a pair of any half and the constant zero, which clears the upper bits of a
//! register. It matches -0.0 as well: `v_and_b32 v0, 0xffff, v0`. Where the first half comes from float
//! arithmetic, another pattern goes before it, which is right. So it depends on the instruction that makes
//! that half, and on whether lanes have values of their own: on RDNA 3, where VGPRs have halves, values of a
//! whole wave are in SGPRs, and these have none. The switch against another fault (`faults::halves`) takes
//! them away as well.
//!
//! What takes the pair is looked at too: single halves that are taken out of it again are right.

use super::{Lasting, Suspect, trials};
use crate::ir::functions::{Function, Instruction};

pub(super) const FAULT: Lasting = Lasting {
    what: "takes the constant -0.0 in a pair of halves for 0.0",
    instead: "give the kernel -0.0 as an argument",
    may_have: |program| program.contains(NEGATIVE),
    find,
    is_right,
};

/// -0.0 of 16 bits.
const NEGATIVE: &str = "0xH8000";
/// The instructions that are tried as makers of the first half. Others leave open what it is.
const MAKERS: [&str; 12] = [
    "load",
    "bitcast",
    "trunc",
    "extractelement",
    "select",
    "fadd",
    "fsub",
    "fmul",
    "fdiv",
    "fneg",
    "fptrunc",
    "call",
];

/// An element of a vector.
#[derive(Clone, Copy, Debug)]
enum Element<'a> {
    /// A constant, or anything.
    Constant(&'a str),
    Value(&'a str),
    /// That of another vector.
    Of(&'a str),
}

/// Whether the sign is somewhere: as a constant, or made of one bit.
fn is_right(assembly: &str) -> bool {
    ["8000", "_bfrev_", "_bitset1_", "neg", ", -"].iter().any(|sign| assembly.contains(sign))
}

fn find<'a>(function: &Function<'a>) -> Vec<Suspect<'a>> {
    let mut found = Vec::new();
    for instruction in &function.instructions {
        if let Some(result) = instruction.result
            && instruction.opcode() == "insertelement"
            && let Some(elements) = elements(function, instruction, 16)
            && elements.len() % 2 == 0
            && function.users(result).any(|user| takes_whole(function, user, instruction.block))
        {
            let of_pair = |pair: &[Element<'a>]| match pair {
                [first, Element::Constant(NEGATIVE)] => Some(*first),
                _ => None,
            };
            let firsts = elements.chunks(2).map(of_pair).enumerate();
            let firsts = firsts.filter_map(|(pair, first)| Some((pair * 2, first?)));
            let all = firsts
                .filter_map(|(index, first)| tried(function, instruction, index, elements.len(), first));
            found.extend(all.map(|trials| Suspect { at: *instruction, trials }));
        }
    }
    found
}

/// The functions to try for a pair with this first half, the element `index` of a vector that `instruction`
/// makes.
fn tried(
    function: &Function<'_>,
    instruction: &Instruction<'_>,
    index: usize,
    count: usize,
    first: Element<'_>,
) -> Option<Vec<String>> {
    let pair =
        |value: &str| format!("insertelement <2 x half> <half poison, half {NEGATIVE}>, half {value}, i64 0");
    let made = |result, body| Instruction { block: 0, result: Some(result), body, attached: "" };
    match first {
        Element::Constant(_) => None,
        Element::Value(value) => {
            let text = pair(value);
            let pair = made("%amdinst.pair", &text);
            let maker = function.maker(value).filter(|maker| maker.block == instruction.block);
            let is_uniform = function.is_uniform(value);
            match maker {
                // What another block has made, or another function, is in a register and no more is known of
                // it.
                None => trials(&[&pair], is_uniform),
                Some(maker)
                    if maker.opcode() == "phi" || maker.callee().is_some() && maker.intrinsic().is_none() =>
                {
                    trials(&[&pair], is_uniform)
                }
                Some(maker) if MAKERS.contains(&maker.opcode()) => trials(&[maker, &pair], is_uniform),
                Some(_) => None,
            }
        }
        Element::Of(vector) => {
            let taken = format!("extractelement <{count} x half> {vector}, i64 {index}");
            let text = pair("%amdinst.first");
            let pair = made("%amdinst.pair", &text);
            trials(&[&made("%amdinst.first", &taken), &pair], function.is_uniform(vector))
        }
    }
}

/// The elements of the vector of halves that an `insertelement` makes.
fn elements<'a>(
    function: &Function<'a>,
    instruction: &Instruction<'a>,
    depth: usize,
) -> Option<Vec<Element<'a>>> {
    let [vector, element, index] = instruction.operands()?.try_into().ok()?;
    let count: usize = vector.ty.strip_prefix('<')?.strip_suffix(" x half>")?.parse().ok()?;
    let base = vector.value;
    let maker = function.maker(base).filter(|maker| maker.opcode() == "insertelement");
    let mut elements = match maker {
        Some(maker) => elements(function, maker, depth.checked_sub(1)?)?,
        None if base.starts_with('%') => vec![Element::Of(base); count],
        None if base.starts_with('<') => {
            let inner = base.strip_prefix('<')?.strip_suffix('>')?;
            inner
                .split(", ")
                .map(|it| it.strip_prefix("half ").map(Element::Constant))
                .collect::<Option<_>>()?
        }
        None if base.starts_with("splat (half ") => {
            vec![Element::Constant(base.strip_prefix("splat (half ")?.strip_suffix(')')?); count]
        }
        None => vec![Element::Constant(base); count],
    };
    let is_value = element.value.starts_with('%');
    *elements.get_mut(index.value.parse::<usize>().ok()?)? =
        if is_value { Element::Value(element.value) } else { Element::Constant(element.value) };
    Some(elements)
}

/// Whether an instruction takes a vector, made in `block`, as the registers that it is.
fn takes_whole(function: &Function<'_>, user: &Instruction<'_>, block: usize) -> bool {
    match user.opcode() {
        "store" | "ret" | "phi" | "insertvalue" | "fadd" | "fsub" | "fmul" => true,
        "call" => user.intrinsic().is_none(),
        "bitcast" => user.result.is_some_and(|result| {
            let mut users = function.users(result);
            users.all(|user| matches!(user.opcode(), "store" | "ret" | "phi"))
        }),
        "insertelement" | "extractelement" | "shufflevector" => false,
        _ => user.block != block,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;
    use super::*;
    use crate::ir::functions::functions;

    /// A function with a half from each kind of instruction.
    fn pair(first: &str, rest: &str) -> String {
        format!(
            "define void @k(ptr addrspace(1) %p, half %h, half %g, i16 %i, <2 x half> %v) {{\n{first}{rest}\n  \
             store <2 x half> %r, ptr addrspace(1) %p, align 4\n  ret void\n}}\n"
        )
    }

    const SECOND: &str = "  %r = insertelement <2 x half> <half poison, half 0xH8000>, half %x, i64 0";
    const CAST: &str = "  %x = bitcast i16 %i to half\n";

    #[test]
    fn pairs_are_found() {
        let count = |first: &str, rest: &str| find(&functions(&pair(first, rest))[0]).len();
        assert_eq!(count(CAST, SECOND), 1);
        let chain = "  %q = insertelement <2 x half> poison, half %h, i32 0\n  \
                     %r = insertelement <2 x half> %q, half 0xH8000, i32 1";
        assert_eq!(count("", chain), 1);
        assert_eq!(count("", "  %r = insertelement <2 x half> %v, half 0xH8000, i32 1"), 1);
        assert_eq!(count("", "  %r = insertelement <2 x half> splat (half 0xH8000), half %h, i32 0"), 1);
        // In the other half, of another value, or without a half that is not constant.
        assert_eq!(count("", "  %r = insertelement <2 x half> splat (half 0xH8000), half %h, i32 1"), 0);
        assert_eq!(count(CAST, &SECOND.replace("8000", "0000")), 0);
        assert_eq!(count("", "  %r = insertelement <2 x half> poison, half 0xH8000, i32 1"), 0);
        // Taken apart again.
        let apart =
            pair(CAST, SECOND).replace("store <2 x half> %r,", "%e = extractelement <2 x half> %r, i64 1 ;");
        assert_eq!(find(&functions(&apart)[0]).len(), 0);
    }

    #[test]
    fn two_of_four_are_a_pair() {
        let ir = "define <4 x half> @k(half %h) {\n  \
                  %r = insertelement <4 x half> <half 0xH8000, half 0xH8000, half poison, half 0xH8000>, half %h, i64 2\n  \
                  ret <4 x half> %r\n}\n";
        assert_eq!(find(&functions(ir)[0]).len(), 1);
        assert_eq!(find(&functions(&ir.replace("i64 2", "i64 3"))[0]).len(), 0);
    }

    /// LLVM 22 drops the sign on processors whose registers have no halves, unless the half comes from
    /// arithmetic.
    #[test]
    fn llvm_22_drops_the_sign() {
        let sum = "  %x = fadd half %h, %g\n";
        for (cpu, first, expected) in
            [("gfx90a", CAST, 1), ("gfx1030", CAST, 1), ("gfx1100", CAST, 0), ("gfx90a", sum, 0)]
        {
            for level in [0, 2] {
                let Some(warnings) = found(&pair(first, SECOND), cpu, level) else { return };
                assert_eq!(warnings.len(), expected, "{cpu}, {first}, opt-level {level}: {warnings:?}");
            }
        }
    }

    /// Two stores are one to LLVM from opt-level 1 on. A kernel's argument is a whole wave's, which has no
    /// halves on RDNA 3 either.
    #[test]
    fn stores_side_by_side_are_a_pair() {
        let ir = "define amdgpu_kernel void @k(ptr addrspace(1) %p, half %h) {\n  store half %h, ptr addrspace(1) %p, align 4\n  \
                  %q = getelementptr i8, ptr addrspace(1) %p, i64 2\n  store half 0xH8000, ptr addrspace(1) %q, align 2\n  ret void\n}\n";
        for (cpu, level, expected) in
            [("gfx90a", 0, 0), ("gfx90a", 2, 1), ("gfx1100", 2, 1), ("gfx1100", 0, 0)]
        {
            let Some(warnings) = found(ir, cpu, level) else { return };
            assert_eq!(warnings.len(), expected, "{cpu}, opt-level {level}: {warnings:?}");
        }
    }
}
