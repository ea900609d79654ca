//! How much LDS the kernels declare that have private arrays.
//!
//! LLVM moves private arrays to LDS where they fit: a copy for each work-item of the largest workgroup. The
//! code object says how much LDS a kernel takes in all, so what it declares itself stands in a section beside
//! that (`amdinst_core::instrument::moved_lds` reads it).

use std::collections::{BTreeMap, BTreeSet};

use amdinst_core::instrument::DECLARED_LDS;

use crate::ir::text::{text_section, unescaped};

/// The section as a part of a module, of an optimised program; nothing if no kernel has private arrays.
pub(crate) fn section(program: &str) -> String {
    let functions = functions(program);
    let variables = variables(program);
    let mut lines = Vec::new();
    for (name, function) in functions.iter().filter(|(_, function)| function.is_kernel) {
        let mut reached = BTreeSet::from([name.as_str()]);
        let mut work = vec![function];
        let mut has_arrays = false;
        while let Some(function) = work.pop() {
            has_arrays |= function.has_arrays;
            for name in &function.names {
                if reached.insert(name) {
                    work.extend(functions.get(name));
                }
            }
        }
        if has_arrays {
            let declared: u64 = reached.iter().filter_map(|name| variables.get(*name)).sum();
            lines.push(format!("{name}\t{declared}"));
        }
    }
    if lines.is_empty() { String::new() } else { text_section(DECLARED_LDS, &lines) }
}

#[derive(Default)]
struct Function {
    is_kernel: bool,
    has_arrays: bool,
    /// What it names: functions that it calls or takes the address of, and variables.
    names: BTreeSet<String>,
}

fn functions(program: &str) -> BTreeMap<String, Function> {
    let mut functions = BTreeMap::new();
    let mut open: Option<(String, Function)> = None;
    for line in program.lines() {
        if line.starts_with("define ") {
            let is_kernel = line.contains(" amdgpu_kernel ");
            open = names(line).next().map(|name| (name, Function { is_kernel, ..Function::default() }));
        } else if line == "}" {
            functions.extend(open.take());
        } else if let Some((_, function)) = &mut open {
            function.has_arrays |= line.contains(" = alloca ");
            function.names.extend(names(line));
        }
    }
    functions
}

/// Bytes of the variables in LDS: `@x = internal addrspace(3) global [128 x i8] poison, align 4`.
fn variables(program: &str) -> BTreeMap<String, u64> {
    let of_line = |line: &str| {
        let (_, rest) = line.split_once(" addrspace(3) global [")?;
        let bytes = rest.split_once(" x i8]")?.0.parse().ok()?;
        Some((names(line).next()?, bytes))
    };
    program.lines().filter(|line| line.starts_with('@')).filter_map(of_line).collect()
}

/// The symbols of a line: `@name`, `@"name"`.
fn names(line: &str) -> impl Iterator<Item = String> {
    line.split('@').skip(1).filter_map(|rest| match rest.strip_prefix('"') {
        Some(quoted) => String::from_utf8(unescaped(quoted.split('"').next()?)?).ok(),
        None => {
            let is_symbol = |character: char| character.is_ascii_alphanumeric() || "._-$".contains(character);
            Some(rest.split(|character| !is_symbol(character)).next()?.to_owned())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kernels_with_private_arrays_reach() {
        let program = r#"
@__amdinst_lds.0 = internal addrspace(3) global [1024 x i8] poison, align 4
@__amdinst_lds.1 = internal addrspace(3) global [64 x i8] poison, align 4
define amdgpu_kernel void @"a\5Cb<f32>"(ptr %o) {
  %p = alloca [16 x i32], align 4, addrspace(5)
  call void @f(ptr %o)
}
define amdgpu_kernel void @plain(ptr %o) {
  store i32 0, ptr addrspace(3) @__amdinst_lds.1
}
define amdgpu_kernel void @"none"(ptr %o) {
  call void @g()
}
define internal void @f(ptr %o) {
  store i32 0, ptr addrspace(3) @__amdinst_lds.0
}
define internal void @g() {
  %x = alloca i64
}
"#;
        let expected = ["a\\b<f32>\t1024".to_owned(), "none\t0".to_owned()];
        assert_eq!(section(program), text_section(DECLARED_LDS, &expected));
        assert_eq!(section("define amdgpu_kernel void @k() {\n}\n"), "");
    }
}
