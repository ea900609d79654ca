//! `0.0 - x`, which LLVM makes `-x` where the next instruction negates for nothing: -0.0 if `x` is 0.0.
//!
//! Instruction selection of LLVM 22 takes a subtraction from zero for a modifier NEG (`SelectVOP3ModsImpl`)
//! and does not ask whether the sign of zero matters. Which instructions have the modifier depends on the
//! type, the processor and what is made of them. So the subtraction is tried together with the instruction
//! that takes it. Both have to be in one block, for instructions of each block are selected by themselves.
//!
//! Only users are looked at that hand the sign of a zero on, or make an infinity of it. Sums are left out:
//! the sign of a zero changes them only if the other term is -0.0.

use super::{Lasting, Suspect, trials};
use crate::ir::functions::{Function, Instruction};

pub(super) const FAULT: Lasting = Lasting {
    what: "computes `-x` for `0.0 - x`, which is -0.0 if `x` is 0.0",
    instead: "write `-x` if the sign of zero does not matter, or test for zero",
    may_have,
    find,
    is_right,
};

/// +0.0 as LLVM writes it.
const ZEROS: [&str; 3] = ["0.000000e+00", "0xH0000", "zeroinitializer"];
/// Instructions that give a zero of the sign that they take, in the first operand.
const KEEP: [&str; 5] = ["fmul", "fdiv", "fneg", "fpext", "fptrunc"];
/// Intrinsics likewise.
const KEEP_INTRINSICS: [&str; 8] =
    ["floor", "ceil", "trunc", "rint", "nearbyint", "roundeven", "ldexp", "sqrt"];
/// Those that make an infinity of a zero, of its sign.
const INVERT: [&str; 2] = ["amdgcn.rcp", "amdgcn.rsq"];
/// The larger of two values.
const LARGER: [&str; 3] = ["maxnum", "maximum", "maximumnum"];
/// The smaller one.
const SMALLER: [&str; 3] = ["minnum", "minimum", "minimumnum"];
/// Instructions and intrinsics to which both zeros are one.
const BLIND: [&str; 5] = ["fcmp", "fptosi", "fptoui", "fadd", "fsub"];
/// Intrinsics likewise.
const BLIND_INTRINSICS: [&str; 9] =
    ["fabs", "exp", "exp2", "exp10", "cos", "fma", "fmuladd", "fptosi.sat", "fptoui.sat"];

fn may_have(program: &str) -> bool {
    program.lines().any(|line| {
        line.split_once(" = fsub ")
            .is_some_and(|(_, rest)| ZEROS.iter().any(|zero| rest.contains(&format!(" {zero}, %"))))
    })
}

/// Whether there is a subtraction: as such, or as a sum with a negated value. Zero may be in a register.
/// Where an instruction is tried that is made of sums itself, nothing is told.
fn is_right(assembly: &str) -> bool {
    assembly.lines().any(|line| {
        let name = line.trim().split([' ', '\t']).next().unwrap_or_default();
        let is_sum = ["_add_", "_sub_", "_subrev_"].iter().any(|sum| name.contains(sum));
        is_sum && name.contains("_f")
    })
}

fn find<'a>(function: &Function<'a>) -> Vec<Suspect<'a>> {
    let mut found = Vec::new();
    for instruction in &function.instructions {
        if let Some(result) = instruction.result
            && instruction.opcode() == "fsub"
            && !instruction.has_no_signed_zeros()
            && let Some(operands) = instruction.operands()
            && matches!(&operands[..], [zero, x] if ZEROS.contains(&zero.value) && x.value.starts_with('%'))
        {
            for user in function.users(result) {
                let same_block = user.block == instruction.block && may_be_wrong(user);
                if same_block
                    && let Some(of_user) = user.result
                    && matters(function, user, result, &mut Vec::new())
                    && let Some(trials) = trials(&[instruction, user], function.is_uniform(of_user))
                {
                    found.push(Suspect { at: *instruction, trials });
                }
            }
        }
    }
    found
}

/// Whether an instruction is one of those that are tried.
fn may_be_wrong(user: &Instruction<'_>) -> bool {
    match user.intrinsic() {
        Some(name) => {
            [&KEEP_INTRINSICS[..], &INVERT, &LARGER, &SMALLER].iter().any(|names| names.contains(&name))
        }
        None => KEEP.contains(&user.opcode()),
    }
}

/// Whether the sign of zero in `value` changes more than a sign that no one looks at, by way of `user`.
fn matters<'a>(
    function: &Function<'a>,
    user: &Instruction<'a>,
    value: &'a str,
    seen: &mut Vec<&'a str>,
) -> bool {
    let (opcode, intrinsic) = (user.opcode(), user.intrinsic());
    if user.has_no_signed_zeros() || BLIND.contains(&opcode) {
        return false;
    }
    let operands = user.operands().unwrap_or_default();
    let place = operands.iter().position(|operand| operand.value == value);
    let other = || operands.iter().map(|operand| operand.value).find(|it| *it != value);
    let is_handed_on = match intrinsic {
        Some(name) if BLIND_INTRINSICS.contains(&name) => return false,
        Some(name) if INVERT.contains(&name) => return true,
        // A constant on the other side keeps zeros out.
        Some(name) if LARGER.contains(&name) => match other().filter(|other| !other.starts_with('%')) {
            Some(constant) if number(constant).is_none_or(|number| number >= 0.0) => return false,
            _ => true,
        },
        Some(name) if SMALLER.contains(&name) => match other().filter(|other| !other.starts_with('%')) {
            Some(constant) if number(constant).is_none_or(|number| number <= 0.0) => return false,
            _ => true,
        },
        Some("copysign") if place == Some(0) => return false,
        Some(name) => KEEP_INTRINSICS.contains(&name),
        None if opcode == "fdiv" && place == Some(1) => return true,
        None => KEEP.contains(&opcode) || matches!(opcode, "select" | "phi"),
    };
    match user.result {
        Some(result) if is_handed_on => {
            if seen.contains(&result) {
                return false;
            }
            seen.push(result);
            function.users(result).any(|user| matters(function, user, result, seen))
        }
        _ => true,
    }
}

/// A constant of any type of float.
fn number(constant: &str) -> Option<f64> {
    if let Some(bits) = constant.strip_prefix("0xH") {
        return Some(half::f16::from_bits(u16::from_str_radix(bits, 16).ok()?).to_f64());
    }
    match constant.strip_prefix("0x") {
        Some(bits) => Some(f64::from_bits(u64::from_str_radix(bits, 16).ok()?)),
        None => constant.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;
    use super::*;
    use crate::ir::functions::functions;

    /// A function that stores what `user` makes of `0.0 - x`.
    fn with(ty: &str, user: &str) -> String {
        let zero = if ty.starts_with('<') { "zeroinitializer" } else { "0.000000e+00" };
        let zero = if ty == "half" { "0xH0000" } else { zero };
        format!(
            "define void @k(ptr addrspace(1) %p, {ty} %x, {ty} %y) {{\n  %d = fsub contract {ty} {zero}, %x\n  %r = {user}\n  \
             store {ty} %r, ptr addrspace(1) %p, align 4\n  ret void\n}}\n"
        )
    }

    #[test]
    fn users_that_see_the_sign_are_found() {
        let count = |ir: &str| find(&functions(ir)[0]).len();
        let of = |user: &str| {
            let ir = with("float", user);
            assert!(may_have(&ir));
            count(&ir)
        };
        for user in [
            "fmul float %d, %y",
            "fmul float %d, 2.000000e+00",
            "fdiv float 1.000000e+00, %d",
            "call float @llvm.maxnum.f32(float %d, float %y)",
            "call float @llvm.maxnum.f32(float %d, float -1.000000e+00)",
            "call float @llvm.minimumnum.f32(float 1.000000e+00, float %d)",
            "call float @llvm.floor.f32(float %d)",
            "call float @llvm.amdgcn.rcp.f32(float %d)",
        ] {
            assert_eq!(of(user), 1, "{user}");
        }
        for user in [
            "fmul nsz float %d, %y",
            "fmul fast float %d, %y",
            "fadd float %d, %y",
            "fsub float %y, %d",
            "call float @llvm.fma.f32(float %d, float %y, float %y)",
            "call float @llvm.fabs.f32(float %d)",
            "call nsz float @llvm.maxnum.f32(float %d, float %y)",
            "call float @llvm.maxnum.f32(float %d, float 0.000000e+00)",
            "call float @llvm.minnum.f32(float %d, float -1.000000e+00)",
            "call float @own(float %d)",
            "select i1 true, float %d, float %y",
        ] {
            assert_eq!(of(user), 0, "{user}");
        }
        let product = with("float", "fmul float %d, %y");
        assert_eq!(count(&product.replace("fsub contract", "fsub nsz")), 0);
        for zero in ["-0.000000e+00", "1.000000e+00"] {
            let other = product.replace("float 0.000000e+00", &format!("float {zero}"));
            assert_eq!((count(&other), may_have(&other)), (0, false));
        }
        // In another block, the value is in a register.
        assert_eq!(count(&product.replace("  %r", "  br label %next\n\nnext:\n  %r")), 0);
    }

    /// What is made of it then may not see the sign.
    #[test]
    fn a_sign_that_is_lost_later_does_not_matter() {
        let count = |rest: &str| {
            let ir = with("float", &format!("fmul float %d, %y\n  {rest}"));
            find(&functions(&ir.replace("store float %r,", "store float %s,"))[0]).len()
        };
        assert_eq!(count("%s = fadd float %r, %y"), 0);
        assert_eq!(count("%t = fmul float %r, %y\n  %s = call float @llvm.fabs.f32(float %t)"), 0);
        assert_eq!(count("%t = fmul float %r, %y\n  %s = fdiv float %y, %t"), 1);
        assert_eq!(count("%s = fneg float %r"), 1);
    }

    #[test]
    fn constants_are_numbers() {
        assert_eq!(number("-1.500000e+00"), Some(-1.5));
        assert_eq!(number("0xHBE00"), Some(-1.5));
        assert_eq!(number("0xBFF8000000000000"), Some(-1.5));
        assert_eq!(number("poison"), None);
    }

    #[test]
    fn subtractions_are_seen() {
        assert!(is_right("\tv_sub_f32_e32 v1, 0, v0\n\tv_mul_f32_e32 v0, v1, v2\n"));
        assert!(is_right("\tv_add_f64 v[0:1], -v[0:1], 0\n"));
        assert!(is_right("\tv_pk_add_f32 v[0:1], v[0:1], 0 op_sel_hi:[1,0] neg_lo:[1,0] neg_hi:[1,0]\n"));
        assert!(!is_right("\tv_add_u32_e32 v0, 0, v1\n\tv_mul_f32_e64 v0, -v0, v1\n"));
    }

    /// What LLVM 22 makes of each type, and where it is right; of values of each lane.
    #[test]
    fn llvm_22_negates_zero() {
        let cases = [
            ("product", "float", "fmul float %d, %y"),
            ("larger", "float", "call float @llvm.maxnum.f32(float %d, float %y)"),
            ("rounded", "float", "call float @llvm.rint.f32(float %d)"),
            ("quotient", "float", "fdiv float %d, %y"),
            ("half", "half", "fmul half %d, %y"),
            // The subtraction stays: as a sum with a negated value, for another instruction that takes it,
            // without the modifier.
            ("double", "double", "fmul double %d, %y"),
            ("root", "float", "call float @llvm.sqrt.f32(float %d)"),
            ("pair", "<2 x half>", "fmul <2 x half> %d, %y"),
        ];
        let of = |(name, ty, user): (&str, &str, &str)| {
            let address = "  %id = call i32 @llvm.amdgcn.workitem.id.x()\n  %p = getelementptr i8, ptr addrspace(1) %q, i32 %id\n";
            let load = format!("  %l = load {ty}, ptr addrspace(1) %p, align 4\n  %d = ");
            let ir =
                with(ty, user).replace("@k(ptr addrspace(1) %p", &format!("@{name}(ptr addrspace(1) %q"));
            ir.replace("  %d = ", &format!("{address}{load}")).replace(", %x\n", ", %l\n")
        };
        let program: String = cases.into_iter().map(of).collect();
        for (cpu, level) in [("gfx900", 0), ("gfx90a", 2), ("gfx1030", 2), ("gfx1100", 0), ("gfx1200", 2)] {
            let Some(warnings) = found(&program, cpu, level) else { return };
            let names: Vec<_> = warnings.iter().filter_map(|warning| warning.split('`').nth(1)).collect();
            assert_eq!(
                names,
                ["product", "larger", "rounded", "quotient", "half"],
                "{cpu}, opt-level {level}"
            );
        }
    }
}
