//! Code that formats text (`core::fmt`, and the digits of floats) stays in functions of its own.
//!
//! LLVM inlines on AMDGPU as if calls cost a fortune, and unrolls loops over arrays in scratch memory to have
//! these in registers. So one `println!` of a float became some 270 kB of code: loops over the 40 digits of a
//! big number, unrolled in each of their callers. To compile that took three quarters of a build's time, and
//! it had five sixths of a package's sites. Nobody waits for text that a kernel prints; everybody waits for
//! the build.

use std::collections::BTreeSet;

use amdinst_core::instrument::formats_text;

/// A program whose functions that format are not inlined; one that has to be, still is.
pub(crate) fn outlined(ir: &str) -> String {
    let inlined: BTreeSet<&str> = ir
        .lines()
        .filter_map(|line| line.strip_prefix("attributes ")?.split_once(" = "))
        .filter(|(_, attributes)| {
            attributes.split(' ').any(|word| ["alwaysinline", "noinline"].contains(&word))
        })
        .map(|(group, _)| group)
        .collect();
    let mut out = String::with_capacity(ir.len());
    for line in ir.split_inclusive('\n') {
        match group_of_formatting(line) {
            Some((before, group)) if !inlined.contains(group) => {
                out.extend([before, " noinline ", &line[before.len() + 1..]]);
            }
            _ => out.push_str(line),
        }
    }
    out
}

/// Of the line that begins the definition of a function that formats: what stands before its group of
/// attributes, and that group (`#3`).
fn group_of_formatting(line: &str) -> Option<(&str, &str)> {
    let name = line.strip_prefix("define ")?.split_once('@')?.1;
    let name = match name.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?.0,
        None => name.split_once('(')?.0,
    };
    if !formats_text(name) {
        return None;
    }
    // Parameters have no groups.
    let at = line.rfind(')')?;
    let at = at + line[at..].find(" #")?;
    let group = line[at + 1..].split([' ', '\n']).next()?;
    Some((&line[..at], group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_formats_is_not_inlined_and_nothing_else_changes() {
        let ir = "\
define internal void @_ZN4core3fmt9Formatter3pad17h0123456789abcdefE(ptr align 8 %0) unnamed_addr #1 !dbg !7 {
}
define internal void @_ZN4core3num6bignum8Big32x403add17h0123456789abcdefE(ptr %0) #1 {
}
define internal void @_ZN4core3fmt9Formatter4here17h0123456789abcdefE(ptr align 8 %0) unnamed_addr #2 !dbg !7 {
}
define void @saxpy(ptr %0) #1 {
}
define internal i32 @_ZN4core3num8int_sqrt3u3217h0123456789abcdefE(i32 %0) #1 {
}
attributes #1 = { nounwind }
attributes #2 = { alwaysinline nounwind }
";
        let changed: Vec<(&str, String)> = {
            let outlined = outlined(ir);
            let lines = ir.lines().zip(outlined.lines().map(str::to_owned).collect::<Vec<_>>());
            lines.filter(|(before, after)| before != after).collect()
        };
        let lines: Vec<&str> = changed.iter().map(|(_, after)| &**after).collect();
        assert_eq!(
            lines,
            [
                "define internal void @_ZN4core3fmt9Formatter3pad17h0123456789abcdefE(ptr align 8 %0) unnamed_addr noinline #1 !dbg !7 {",
                "define internal void @_ZN4core3num6bignum8Big32x403add17h0123456789abcdefE(ptr %0) noinline #1 {",
            ]
        );
    }
}
