//! Operations of which LLVM makes calls of a C library, which no kernel has: they get definitions.
//!
//! LLVM expands conversions between floats and integers of 128 bits, and divisions of these, but not the
//! conversions that Rust's `as` asks for, which saturate: "unsupported library call operation". Of `powi` it
//! makes `exp2(n * log2(x))` for `f32`, which is NaN for each x below 0, and nothing for `f64`. Here each is
//! a function, with the results of the host's.

use std::fmt::Write as _;

/// A type of floats, as LLVM has it.
#[derive(Clone, Copy, Debug)]
struct Float {
    /// In the names of intrinsics.
    suffix: &'static str,
    ty: &'static str,
    /// 2^127 as a constant; infinity, if that is too large.
    two_to_127: &'static str,
    /// 2^128, likewise.
    two_to_128: &'static str,
    one: &'static str,
}

const FLOATS: [Float; 3] = [
    Float { suffix: "f16", ty: "half", two_to_127: "0xH7C00", two_to_128: "0xH7C00", one: "0xH3C00" },
    Float {
        suffix: "f32",
        ty: "float",
        two_to_127: "0x47E0000000000000",
        two_to_128: "0x7FF0000000000000",
        one: "1.0",
    },
    Float {
        suffix: "f64",
        ty: "double",
        two_to_127: "0x47E0000000000000",
        two_to_128: "0x47F0000000000000",
        one: "1.0",
    },
];

/// An operation that gets a definition.
#[derive(Clone, Copy, Debug)]
enum Operation {
    ToUnsigned,
    ToSigned,
    Powi,
}

impl Operation {
    const ALL: [Self; 3] = [Self::ToUnsigned, Self::ToSigned, Self::Powi];

    /// LLVM's intrinsic for a type of floats.
    fn intrinsic(self, float: Float) -> String {
        let of = float.suffix;
        match self {
            Self::ToUnsigned => format!("llvm.fptoui.sat.i128.{of}"),
            Self::ToSigned => format!("llvm.fptosi.sat.i128.{of}"),
            Self::Powi => format!("llvm.powi.{of}.i32"),
        }
    }

    /// The function `name` that does the same.
    fn definition(self, float: Float, name: &str) -> String {
        let Float { ty, two_to_127, two_to_128, one, .. } = float;
        match self {
            Self::ToUnsigned => format!(
                "define internal i128 @{name}({ty} %x) alwaysinline nounwind {{\n  \
                 %inside = fptoui {ty} %x to i128\n  \
                 %is.positive = fcmp ogt {ty} %x, 0.0\n  \
                 %positive = select i1 %is.positive, i128 %inside, i128 0\n  \
                 %is.above = fcmp oge {ty} %x, {two_to_128}\n  \
                 %result = select i1 %is.above, i128 -1, i128 %positive\n  \
                 ret i128 %result\n}}\n"
            ),
            Self::ToSigned => {
                let (least, most) = (i128::MIN, i128::MAX);
                format!(
                    "define internal i128 @{name}({ty} %x) alwaysinline nounwind {{\n  \
                     %inside = fptosi {ty} %x to i128\n  \
                     %negated = fneg {ty} %x\n  \
                     %is.below = fcmp oge {ty} %negated, {two_to_127}\n  \
                     %not.below = select i1 %is.below, i128 {least}, i128 %inside\n  \
                     %is.above = fcmp oge {ty} %x, {two_to_127}\n  \
                     %not.above = select i1 %is.above, i128 {most}, i128 %not.below\n  \
                     %is.nan = fcmp uno {ty} %x, %x\n  \
                     %result = select i1 %is.nan, i128 0, i128 %not.above\n  \
                     ret i128 %result\n}}\n"
                )
            }
            // The host multiplies floats, for want of halves.
            Self::Powi if ty == "half" => {
                let float = FLOATS[1];
                let wide = format!("{name}.wide");
                format!(
                    "{}define internal half @{name}(half %x, i32 %n) alwaysinline nounwind {{\n  \
                     %x.wide = fpext half %x to float\n  \
                     %power = call float @{wide}(float %x.wide, i32 %n)\n  \
                     %result = fptrunc float %power to half\n  \
                     ret half %result\n}}\n",
                    self.definition(float, &wide)
                )
            }
            Self::Powi => format!(
                "define internal {ty} @{name}({ty} %x, i32 %n) alwaysinline nounwind {{\n\
                 entry:\n  \
                 %is.negative = icmp slt i32 %n, 0\n  \
                 %opposite = sub i32 0, %n\n  \
                 %times = select i1 %is.negative, i32 %opposite, i32 %n\n  \
                 br label %step\n\
                 step:\n  \
                 %square = phi {ty} [ %x, %entry ], [ %next.square, %step ]\n  \
                 %product = phi {ty} [ {one}, %entry ], [ %next, %step ]\n  \
                 %left = phi i32 [ %times, %entry ], [ %half, %step ]\n  \
                 %is.odd = trunc i32 %left to i1\n  \
                 %multiplied = fmul {ty} %product, %square\n  \
                 %next = select i1 %is.odd, {ty} %multiplied, {ty} %product\n  \
                 %next.square = fmul {ty} %square, %square\n  \
                 %half = lshr i32 %left, 1\n  \
                 %more = icmp ne i32 %half, 0\n  \
                 br i1 %more, label %step, label %done\n\
                 done:\n  \
                 %inverse = fdiv {ty} {one}, %next\n  \
                 %result = select i1 %is.negative, {ty} %inverse, {ty} %next\n  \
                 ret {ty} %result\n}}\n"
            ),
        }
    }
}

/// The program with definitions in the place of what it has of these intrinsics.
pub(crate) fn defined(ir: String) -> String {
    let all = Operation::ALL.into_iter().flat_map(|operation| FLOATS.map(|float| (operation, float)));
    let is_there = |(operation, float): &(Operation, Float)| ir.contains(&operation.intrinsic(*float));
    let found: Vec<_> = all.filter(is_there).collect();
    let mut ir = ir;
    for (operation, float) in found {
        let intrinsic = operation.intrinsic(float);
        let name = intrinsic.replacen("llvm.", "__amdinst_", 1);
        let called = format!("@{intrinsic}(");
        let is_declaration = |line: &str| line.starts_with("declare ") && line.contains(&called);
        let lines = ir.split_inclusive('\n').filter(|line| !is_declaration(line));
        ir = lines.collect::<String>().replace(&called, &format!("@{name}("));
        let _ = write!(ir, "\n{}", operation.definition(float, &name));
    }
    ir
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_of_definitions() {
        let ir = "define void @k(float %x) {\n  %a = call i128 @llvm.fptoui.sat.i128.f32(float %x) #3, !dbg !7\n  \
                  %b = call i64 @llvm.fptoui.sat.i64.f32(float %x)\n  ret void\n}\n\
                  declare i128 @llvm.fptoui.sat.i128.f32(float) #1\ndeclare i64 @llvm.fptoui.sat.i64.f32(float)\n";
        let defined = defined(ir.to_owned());
        assert!(defined.contains("%a = call i128 @__amdinst_fptoui.sat.i128.f32(float %x) #3, !dbg !7\n"));
        assert!(defined.contains("%b = call i64 @llvm.fptoui.sat.i64.f32(float %x)\n"));
        assert_eq!(defined.matches("@__amdinst_fptoui.sat.i128.f32(float").count(), 2);
        assert_eq!(defined.matches("declare ").count(), 1);
    }

    #[test]
    fn programs_without_stay_as_they_are() {
        let ir = "define void @k() {\n  ret void\n}\n";
        assert_eq!(defined(ir.to_owned()), ir);
    }
}
