//! The units of a program: kernels that are compiled together, with a copy of all that they call.
//!
//! A program of many kernels, of which one was edited, has one unit to compile; the objects of the others are
//! in a store ([`crate::store`]), found by the unit's text and all that the compiler is told. Kernels share
//! no machine code then. They do share variables: those have a name in all units and one place in the code
//! object (`weak_odr`).
//!
//! What few kernels of one file reach is compiled more than once. What formats text is not: kernels that
//! reach it are one unit. Neither is a program whose units would be more than [`MOST_COPIED`] times what it
//! is.

mod module;

use std::collections::{BTreeMap, BTreeSet};

use amdinst_core::instrument::formats_text;
use module::{Item, Kind, Module, numbered_behind};

use crate::ir::text::{escaped, unescaped};
use crate::store::hash;

/// How much larger units may be than their program, all together.
const MOST_COPIED: usize = 2;

/// How many kernels of a file are a unit, on an average.
const KERNELS: u64 = 4;

/// Symbols of the `amdinst-device` records, which stay behind.
const OUR_PREFIX: &str = "__amdinst_";

/// LLVM's lists of what is kept though nothing refers to it.
const KEPT: [&str; 2] = ["llvm.used", "llvm.compiler.used"];

/// A part of a program that is compiled by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// LLVM IR.
    pub(crate) text: String,
    /// The symbols that others see: kernels, exported functions, and variables of all units.
    pub(crate) exports: Vec<String>,
}

/// The units of a `program`, textual LLVM IR, that `support` is linked to. What it exports are `exports`.
pub(crate) fn divide(program: &str, support: &str, exports: &BTreeSet<&str>) -> Vec<Unit> {
    let exports: BTreeSet<String> = exports.iter().map(|name| escaped(name)).collect();
    let support = numbered_behind(support, program);
    let module = Module::read(&[program, &support]);
    let exported = |item: &Item<'_>| exports.contains(item.name) && !item.name.starts_with(OUR_PREFIX);
    let numbers = 0..module.items.len();
    let (kernels, others): (Vec<usize>, Vec<usize>) = numbers
        .filter(|number| exported(&module.items[*number]) && module.items[*number].kind != Kind::Declared)
        .partition(|number| module.items[*number].is_kernel());
    let mut units: Vec<BTreeSet<usize>> = groups(&module, &kernels);
    // What programs have beside kernels: exported functions and variables, and what LLVM is told to keep.
    let kept = module.items.iter().enumerate().filter(|(_, item)| KEPT.contains(&item.name));
    let others: BTreeSet<usize> = others.into_iter().chain(kept.map(|(number, _)| number)).collect();
    let has_others = !others.is_empty() || !module.assembly.is_empty() || units.is_empty();
    units.extend(has_others.then_some(others.clone()));
    if module.items.iter().any(|item| needs_all(item)) {
        units = vec![kernels.iter().copied().chain(others.iter().copied()).collect()];
    }
    let last = units.len() - 1;
    let unit = |(number, roots): (usize, &BTreeSet<usize>)| {
        let assembly = if number == last && has_others { &module.assembly[..] } else { &[] };
        unit(&module, roots, assembly)
    };
    units.iter().enumerate().map(unit).collect()
}

/// Whether a program with that cannot be divided: what runs ahead of kernels, other names of things, and
/// variables whose name may be another one's tomorrow.
fn needs_all(item: &Item<'_>) -> bool {
    let is_numbered =
        || item.name.rsplit_once('.').is_some_and(|(_, end)| end.bytes().all(|of| of.is_ascii_digit()));
    match item.kind {
        Kind::Alias => true,
        Kind::Mutable => item.name.starts_with("llvm.global_") || is_numbered(),
        _ => false,
    }
}

/// The kernels of each unit.
fn groups(module: &Module<'_>, kernels: &[usize]) -> Vec<BTreeSet<usize>> {
    let closures: Vec<BTreeSet<usize>> = kernels.iter().map(|kernel| module.closure([*kernel])).collect();
    let size =
        |items: &BTreeSet<usize>| items.iter().map(|item| module.items[*item].text.len()).sum::<usize>();
    let formats: BTreeSet<usize> = (0..module.items.len())
        .filter(|number| {
            module.items[*number].kind == Kind::Function && formats_text(module.items[*number].name)
        })
        .collect();
    let whole = size(&module.closure(kernels.iter().copied()));
    for parts in [true, false] {
        let mut groups: BTreeMap<(&str, u64), BTreeSet<usize>> = BTreeMap::new();
        let mut of_file: BTreeMap<&str, u64> = BTreeMap::new();
        for (kernel, closure) in kernels.iter().zip(&closures) {
            let item = &module.items[*kernel];
            let file = match closure.is_disjoint(&formats) {
                true => module.file_of(item).unwrap_or(item.name),
                false => "",
            };
            let part = of_file.entry(file).or_default();
            groups.entry((file, *part)).or_default().insert(*kernel);
            // The name decides where a unit ends, so that a kernel more changes one.
            *part += u64::from(
                parts && !file.is_empty() && (hash(item.name.as_bytes()) as u64).is_multiple_of(KERNELS),
            );
        }
        let groups: Vec<BTreeSet<usize>> = groups.into_values().collect();
        let all: usize = groups.iter().map(|group| size(&module.closure(group.iter().copied()))).sum();
        if all <= MOST_COPIED * whole {
            return groups;
        }
    }
    vec![kernels.iter().copied().collect()]
}

fn unit(module: &Module<'_>, roots: &BTreeSet<usize>, assembly: &[&str]) -> Unit {
    let items = module.closure(roots.iter().copied());
    let is_shared = |item: &Item<'_>| item.kind == Kind::Mutable && !item.name.starts_with("llvm.");
    let text = module.part(&items, assembly, |item| is_shared(item).then(|| shared(item.text)));
    let of = |item: usize| &module.items[item];
    let exported = items.iter().filter(|item| roots.contains(item) || is_shared(of(**item)));
    let name = |item: &usize| {
        let name = of(*item).name;
        unescaped(name).map_or_else(|| name.to_owned(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let mut exports: Vec<String> = exported.map(name).collect();
    exports.sort();
    Unit { text, exports }
}

/// The definition of a variable as one that several units have and a linker takes once.
fn shared(definition: &str) -> String {
    let Some((name, rest)) = definition.split_once(" = ") else { return definition.to_owned() };
    let mut rest = rest;
    let mut visibility = "hidden";
    while let Some((word, behind)) = rest.split_once(' ') {
        match word {
            "private" | "internal" | "external" | "weak" | "weak_odr" | "linkonce" | "linkonce_odr"
            | "common" | "dso_local" | "default" => {}
            "hidden" | "protected" => visibility = word,
            _ => break,
        }
        rest = behind;
    }
    format!("{name} = weak_odr {visibility} {rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two kernels of `a.rs`, one of `b.rs`, a function and a variable of all, and what `more` has.
    fn program(more: &str, nodes: u32) -> String {
        let node = |of: u32| nodes + of;
        let kernel = |name: &str, scope: u32, calls: &str| {
            format!(
                "define amdgpu_kernel void @{name}(ptr %p) #0 !dbg !{} {{\n  call void @{calls}(ptr @anon.{nodes}.7), !dbg !{}\n  \
                 ret void\n}}\n",
                node(scope),
                node(6)
            )
        };
        let scope = |number: u32, name: &str, file: u32| {
            format!(
                "!{} = distinct !DISubprogram(name: \"{name}\", file: !{}, unit: !{})\n",
                node(number),
                node(file),
                node(0)
            )
        };
        [
            "target triple = \"amdgcn-amd-amdhsa\"\n\
             @COUNT = internal addrspace(1) global [4 x i8] zeroinitializer, align 4\n\
             @TILE = internal addrspace(3) global [64 x i8] poison, align 4\n",
            &format!("@anon.{nodes}.7 = private constant [9 x i8] c\"! {{#1}} @x\", align 1\n"),
            more,
            &kernel("first", 3, "count"),
            &kernel("second", 4, "count"),
            &kernel("third", 5, "count"),
            "define internal void @count(ptr %p) {\n  store ptr addrspace(3) @TILE, ptr addrspace(1) @COUNT\n  ret void\n}\n\
             attributes #0 = { nounwind }\n",
            &format!("!llvm.dbg.cu = !{{!{}}}\n!llvm.module.flags = !{{!{}}}\n", node(0), node(7)),
            &format!("!{} = distinct !DICompileUnit(file: !{}, globals: !{})\n", node(0), node(1), node(8)),
            &format!("!{} = !DIFile(filename: \"a.rs\", checksumkind: CSK_MD5, checksum: \"{nodes}\")\n", node(1)),
            &format!("!{} = !DIFile(filename: \"b.rs\")\n", node(2)),
            &scope(3, "first", 1),
            &scope(4, "second", 1),
            &scope(5, "third", 2),
            &format!("!{} = !DILocation(line: 1, scope: !{})\n", node(6), node(3)),
            &format!("!{} = !{{i32 2, !\"Debug Info Version\", i32 3}}\n", node(7)),
            &format!("!{} = !{{}}\n", node(8)),
        ]
        .concat()
    }

    fn divided(program: &str, support: &str, more: &[&'static str]) -> Vec<Unit> {
        let exports = ["first", "second", "third"].into_iter().chain(more.iter().copied()).collect();
        divide(program, support, &exports)
    }

    #[test]
    fn a_unit_is_what_it_was_whatever_else_changes() {
        let before = divided(&program("", 0), "", &[]);
        let kernels: Vec<Vec<&str>> =
            before.iter().map(|unit| unit.exports.iter().map(String::as_str).collect()).collect();
        assert!(kernels.iter().all(|exports| exports.contains(&"COUNT")), "{kernels:?}");
        let more = "define amdgpu_kernel void @another(ptr %p) #0 {\n  ret void\n}\n";
        let after = divided(&program(more, 40), "", &["another"]);
        let after: Vec<&Unit> = after.iter().filter(|unit| unit.exports != ["another"]).collect();
        assert_eq!(after, before.iter().collect::<Vec<_>>());
        let third = before.iter().find(|unit| unit.exports.iter().any(|name| name == "third")).unwrap();
        assert!(!third.exports.iter().any(|name| name == "first"), "{third:?}");
        assert_eq!(
            third.text,
            "target triple = \"amdgcn-amd-amdhsa\"\n\
             @COUNT = weak_odr hidden addrspace(1) global [4 x i8] zeroinitializer, align 4\n\
             @TILE = internal addrspace(3) global [64 x i8] poison, align 4\n\
             define internal void @count(ptr %p) {\n  store ptr addrspace(3) @TILE, ptr addrspace(1) @COUNT\n  ret void\n}\n\
             define amdgpu_kernel void @third(ptr %p) #0 !dbg !0 {\n  call void @count(ptr @constant.0), !dbg !1\n  ret void\n}\n\
             @constant.0 = private constant [9 x i8] c\"! {#1} @x\", align 1\n\
             attributes #0 = { nounwind }\n\
             !llvm.module.flags = !{!2}\n\
             !0 = distinct !DISubprogram(name: \"third\", file: !3, unit: !4)\n\
             !1 = !DILocation(line: 1, scope: !5)\n\
             !2 = !{i32 2, !\"Debug Info Version\", i32 3}\n\
             !3 = !DIFile(filename: \"b.rs\")\n\
             !4 = distinct !DICompileUnit(file: !6)\n\
             !5 = distinct !DISubprogram(name: \"first\", file: !6, unit: !4)\n\
             !6 = !DIFile(filename: \"a.rs\")\n\
             !llvm.dbg.cu = !{!4}\n"
        );
    }

    #[test]
    fn definitions_of_support_are_taken_and_its_numbers_are_others() {
        let support = "module asm \".section x\"\ndefine hidden void @barrier() #0 {\n  ret void, !dbg !0\n}\n\
                       attributes #0 = { convergent }\n!llvm.module.flags = !{!1}\n!0 = !{!\"here\"}\n\
                       !1 = !{i32 2, !\"Debug Info Version\", i32 3}\n";
        let calls = "declare void @barrier()\ndefine amdgpu_kernel void @waits() {\n  call void @barrier()\n  ret void\n}\n";
        let units = divided(&program(calls, 0), support, &["waits"]);
        let waits = units.iter().find(|unit| unit.exports == ["waits"]).unwrap();
        assert!(
            waits.text.contains("define hidden void @barrier() #0 {\n  ret void, !dbg !0\n}\n"),
            "{}",
            waits.text
        );
        assert!(
            waits
                .text
                .contains("attributes #0 = { convergent }\n!llvm.module.flags = !{!1}\n!0 = !{!\"here\"}\n")
        );
        // Assembly is compiled once.
        assert_eq!(units.iter().filter(|unit| unit.text.contains("module asm")).count(), 1);
        assert_eq!(units.last().unwrap().exports, [""; 0]);
    }

    #[test]
    fn what_is_no_kernel_and_exported_has_a_unit_of_its_own() {
        let more = "@TABLE = protected addrspace(1) global i32 7\n@KEPT = internal constant i32 1\n\
                    @llvm.used = appending addrspace(1) global [1 x ptr] [ptr @KEPT], section \"llvm.metadata\"\n\
                    define void @helper() {\n  ret void\n}\n";
        let units = divided(&program(more, 0), "", &["TABLE", "helper", "__amdinst_probes_x"]);
        let last = units.last().unwrap();
        assert_eq!(last.exports, ["TABLE", "helper", "llvm.used"]);
        assert!(
            last.text.contains("@TABLE = weak_odr protected addrspace(1) global i32 7\n"),
            "{}",
            last.text
        );
        assert!(last.text.contains("@KEPT = "), "{}", last.text);
        assert!(!units[0].text.contains("@KEPT"), "{}", units[0].text);
    }

    #[test]
    fn what_cannot_be_divided_is_one_unit() {
        for more in [
            "@other = internal alias void (ptr), ptr @count\n",
            "@SEEN.1 = internal addrspace(1) global i32 0\n",
            "@llvm.global_ctors = appending global [0 x i8] zeroinitializer\n",
        ] {
            let units = divided(&program(more, 0), "", &[]);
            assert_eq!(units.len(), 1, "{more}");
            assert!(
                ["first", "second", "third"]
                    .iter()
                    .all(|kernel| units[0].exports.iter().any(|name| name == kernel))
            );
        }
    }

    /// Kernels of a file each that all call a large function, or one that formats.
    #[test]
    fn what_many_kernels_share_is_not_compiled_many_times() {
        let large =
            format!("define internal void @large() {{\n{}  ret void\n}}\n", "  fence acquire\n".repeat(2000));
        let formats = "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE";
        let small = format!("define internal void @{formats}() {{\n  ret void\n}}\n");
        for (name, function) in [("large", large), (formats, small)] {
            let kernels: Vec<String> = (0..8).map(|kernel| format!("kernel_{kernel}")).collect();
            let define = |kernel: &String| {
                format!("define amdgpu_kernel void @{kernel}() {{\n  call void @{name}()\n  ret void\n}}\n")
            };
            let program: String =
                std::iter::once(function.clone()).chain(kernels.iter().map(define)).collect();
            let units = divide(&program, "", &kernels.iter().map(String::as_str).collect());
            assert_eq!(units.len(), 1, "{name}");
            let apart = divide(
                &program.replace(&format!("call void @{name}()"), ""),
                "",
                &kernels.iter().map(String::as_str).collect(),
            );
            assert_eq!(apart.len(), 8, "{name}");
        }
    }
}
