//! Functions that LLVM has no code for: told by name and place, and all others go on.
//!
//! `llc` gives up at the first one, or reports several, some of them without a name. The bodies of these are
//! taken out: such a function says why it is not compiled, as a panic does (`amdinst_format::panics`), and
//! traps. A section of the code object that is not loaded, [`REFUSED_SECTION`], has a line for each, for
//! builds to tell, those that find all up to date among them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use amdinst_format::manifest::REFUSED_SECTION;
use amdinst_format::panics::NOT_COMPILED;

use super::places;
use crate::definitions::support::panics;
use crate::ir::text::{escaped, text_section};
use crate::program::records::SharedVariable;

/// A function without code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// Its symbol.
    symbol: String,
    /// `file:line`, if that is known.
    place: Option<String>,
    /// Why.
    reason: String,
}

/// What is said of refusals beside LLVM's own words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About<'a> {
    pub(crate) llvm: &'a str,
    pub(crate) cpu: &'a str,
    /// The variables in LDS, in the order in which the program has them.
    pub(crate) shared: &'a [SharedVariable],
}

impl Refused {
    /// For people.
    fn told(&self, about: About<'_>, program: &str) -> String {
        let Self { symbol, place, reason } = self;
        let is_kernel = line_of(program, symbol).is_some_and(|line| line.contains(" amdgpu_kernel "));
        let kind = if is_kernel { "kernel" } else { "function" };
        let name = format!("{:#}", rustc_demangle::demangle(symbol));
        let at = place.as_ref().map_or(String::new(), |place| format!(" at {place}"));
        format!("{kind} `{name}`{at} has no code for {}: {reason}", about.cpu)
    }

    /// As a panic says it.
    fn said(&self) -> String {
        let place = self.place.as_deref().unwrap_or_default();
        format!("{place}:1\n{NOT_COMPILED}{}", self.reason)
    }
}

/// The functions of `program`, LLVM IR, that `output` of `llc` is about; none if it names none.
pub(crate) fn of(output: &str, program: &str, about: About<'_>) -> Vec<Refused> {
    let mut found: Vec<Refused> = Vec::new();
    let mut add = |refused: Refused| {
        let is_new = found.iter().all(|other| other.symbol != refused.symbol);
        if is_new && line_of(program, &refused.symbol).is_some() {
            found.push(refused);
        }
    };
    // What ends a run is about the function that its last lines name.
    let last = output.lines().find_map(|line| {
        let named = line.strip_prefix("In function: ");
        let running = || line.split_once(" on function '@")?.1.strip_suffix('\'');
        named.or_else(running).map(|name| name.trim_matches('"').to_owned())
    });
    for line in output.lines() {
        let Some((before, message)) = line.split_once("error: ").or_else(|| line.split_once("LLVM ERROR: "))
        else {
            continue;
        };
        let (place, message) = place_before(message).unwrap_or((None, message));
        if let Some(node) = message.strip_prefix("no libcall available for ") {
            let operation = operation_of(node);
            let reason = no_code(&operation, about);
            for (symbol, place) in places::with_instruction(program, |body| body.contains(&operation)) {
                add(Refused { symbol, place, reason: reason.clone() });
            }
        } else if let Some((what, symbol)) = in_function(message) {
            let reason = match local_memory(what) {
                Some(limits) => lds(limits, symbol, program, about),
                None => format!("LLVM {}: {what}", about.llvm),
            };
            add(Refused { symbol: symbol.to_owned(), place, reason });
        } else if let (true, Some(symbol)) = (before.is_empty(), &last) {
            let quadruple = || (message == LIBRARY_CALL).then(|| QUADRUPLE.to_owned());
            let of_operation = selected(message).or_else(quadruple).and_then(|operation| {
                let place = place_in(program, symbol, |body| body.contains(&operation))?;
                Some((place, no_code(&operation, about)))
            });
            let (place, reason) = of_operation.unwrap_or_else(|| {
                let place = place_in(program, symbol, |_| true).flatten();
                (place, format!("LLVM {}: {message}", about.llvm))
            });
            add(Refused { symbol: symbol.clone(), place, reason });
        }
    }
    found
}

/// The place of a function's first instruction of that kind, if it has any.
fn place_in(program: &str, symbol: &str, is_it: impl Fn(&str) -> bool) -> Option<Option<String>> {
    let mut of_it = places::with_instruction(program, is_it).into_iter();
    of_it.find(|(name, _)| name == symbol).map(|(_, place)| place)
}

/// `src/lib.rs:5` and the rest of `src/lib.rs:5:0: rest`; no place of `<unknown>:0:0: rest`.
fn place_before(message: &str) -> Option<(Option<String>, &str)> {
    let (place, rest) = message.split_once(": ")?;
    let (place, _column) = place.rsplit_once(':')?;
    let (file, line) = place.rsplit_once(':')?;
    let line: u32 = line.parse().ok()?;
    Some(((file != "<unknown>").then(|| format!("{file}:{line}")), rest))
}

/// What is wrong in which function: `… in function 'k'`, or `in function k void (): …`.
fn in_function(message: &str) -> Option<(&str, &str)> {
    if let Some((what, name)) = message.rsplit_once(" in function '") {
        return Some((what, name.strip_suffix('\'')?));
    }
    let (name, what) = message.strip_prefix("in function ")?.split_once(' ')?;
    Some((what.split_once("): ").map_or(what, |(_, what)| what), name))
}

/// The intrinsic of a node that instructions are selected from: `@llvm.sin.` of `fsin`; other nodes are
/// instructions.
fn operation_of(node: &str) -> String {
    match node {
        "frem" => "frem ".to_owned(),
        "fmodf" => "@llvm.modf.".to_owned(),
        _ => format!("@llvm.{}.", node.strip_prefix('f').unwrap_or(node)),
    }
}

/// The operation of `Cannot select: 0x1: f64 = fsin …`, if LLVM has it as a function of mathematics.
fn selected(message: &str) -> Option<String> {
    let node = message.strip_prefix("Cannot select: ")?.split_once(" = ")?.1.split(' ').next()?;
    node.strip_prefix('f').map(|_| operation_of(node))
}

/// What LLVM says of an operation that is a call of a C library elsewhere.
const LIBRARY_CALL: &str = "unsupported library call operation";
/// LLVM's name of `f128`, all of whose operations are that.
const QUADRUPLE: &str = "fp128";

fn no_code(operation: &str, about: About<'_>) -> String {
    if operation == QUADRUPLE {
        return format!("LLVM {} has no instructions for `f128`", about.llvm);
    }
    let operation = operation.trim_start_matches('@').trim_end_matches(['.', ' ']);
    format!(
        "LLVM {} has no instructions for `{operation}`; `amdinst_device::math` and the crate `libm` have functions in software",
        about.llvm
    )
}

/// Bytes of LDS that a kernel takes, and that there are: `local memory (80000) exceeds limit (65536)`.
fn local_memory(message: &str) -> Option<(u64, u64)> {
    let (taken, limit) = message.strip_prefix("local memory (")?.split_once(") exceeds limit (")?;
    Some((taken.parse().ok()?, limit.strip_suffix(')')?.parse().ok()?))
}

/// Why a kernel takes too much LDS: its variables, the largest first.
fn lds((taken, limit): (u64, u64), kernel: &str, program: &str, about: About<'_>) -> String {
    let reached = reached(program, kernel);
    let mut variables = Vec::new();
    for (index, variable) in about.shared.iter().enumerate() {
        if reached.contains(&format!("__amdinst_lds.{index}")) {
            variables.push((variable.size, name_of_shared(&variable.symbol)));
        }
    }
    variables.sort_unstable();
    variables.reverse();
    let variables: Vec<_> = variables.iter().map(|(size, name)| format!("`{name}` {size}")).collect();
    let mut reason = format!("it takes {taken} bytes of LDS, and a workgroup has {limit}");
    if !variables.is_empty() {
        let _ = write!(reason, " ({})", variables.join(", "));
    }
    reason
}

/// `TILE` of `__amdinst_lds_TILE_d6bf1201f8d5b162_0`, as `shared!` makes symbols.
fn name_of_shared(symbol: &str) -> &str {
    let name = symbol.strip_prefix("__amdinst_lds_").unwrap_or(symbol);
    name.rsplitn(3, '_').nth(2).unwrap_or(name)
}

/// The names that a function's body has, and those of the functions that it has, and so on.
fn reached(program: &str, function: &str) -> BTreeSet<String> {
    let mut bodies: BTreeMap<String, &str> = BTreeMap::new();
    for definition in program.split("\ndefine ").skip(1) {
        let body = definition.split("\n}").next().unwrap_or_default();
        if let Some(name) = names(body).next() {
            bodies.insert(name.to_owned(), body);
        }
    }
    let (mut found, mut left) = (BTreeSet::new(), vec![function.to_owned()]);
    while let Some(name) = left.pop() {
        if let Some(body) = bodies.get(&name) {
            left.extend(names(body).filter(|name| !found.contains(*name)).map(str::to_owned));
        }
        found.insert(name);
    }
    found
}

/// The names behind `@`.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('@').skip(1).filter_map(|rest| match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split(|next: char| !(next.is_ascii_alphanumeric() || "._-$".contains(next))).next(),
    })
}

/// The line that begins a function.
fn line_of<'p>(program: &'p str, symbol: &str) -> Option<&'p str> {
    program.lines().find(|line| line.starts_with("define ") && names(line).next() == Some(symbol))
}

/// The program without the bodies of these functions: each calls a function of [`module`] that says why, and
/// traps.
pub(crate) fn without(program: &str, refused: &[Refused]) -> String {
    let mut out = String::with_capacity(program.len());
    let mut lines = program.split_inclusive('\n');
    while let Some(line) = lines.next() {
        if line.starts_with("attributes #") {
            out.push_str(&with_ids(line));
            continue;
        }
        out.push_str(line);
        let is_it =
            |refused: &Refused| line.starts_with("define ") && names(line).next() == Some(&*refused.symbol);
        let Some(number) = refused.iter().position(is_it) else { continue };
        let at = refused[number].place.as_deref().and_then(|place| place.rsplit_once(':'));
        let at = at.map_or("0", |(_, line)| line);
        let scope = line.rsplit_once("!dbg !").and_then(|(_, rest)| rest.split([' ', '{']).next());
        let debug =
            scope.map_or(String::new(), |scope| format!(", !dbg !DILocation(line: {at}, scope: !{scope})"));
        let _ = write!(
            out,
            "  call void @{}(){debug}\n  call void @llvm.trap(){debug}\n  unreachable{debug}\n}}\n",
            function(number)
        );
        let _ = lines.by_ref().find(|line| line.trim_end() == "}");
    }
    for number in 0..refused.len() {
        let _ = writeln!(out, "declare void @{}()", function(number));
    }
    if !program.contains("declare void @llvm.trap()") {
        out.push_str("declare void @llvm.trap()\n");
    }
    out
}

/// Attributes of functions that read the ids of workgroup and work-item, which what says why does, whatever
/// LLVM has found before.
fn with_ids(attributes: &str) -> String {
    let mut attributes = attributes.to_owned();
    for id in ["workgroup-id", "workitem-id"] {
        for dimension in ["x", "y", "z"] {
            let without =
                [format!(" \"amdgpu-no-{id}-{dimension}\"=\"\""), format!(" \"amdgpu-no-{id}-{dimension}\"")];
            without.iter().for_each(|without| attributes = attributes.replace(without, ""));
        }
    }
    attributes
}

/// The function that says why the one of this number has no code.
fn function(number: usize) -> String {
    format!("__amdinst_refused.{number}")
}

/// The functions that say why these of `program` have no code.
pub(crate) fn module(refused: &[Refused], program: &str, about: About<'_>) -> String {
    let mut ir = String::from("target triple = \"amdgcn-amd-amdhsa\"\n");
    let lines: Vec<_> = refused.iter().map(|one| one.told(about, program)).collect();
    ir.push_str(&text_section(REFUSED_SECTION, &lines));
    ir.push_str(&panics(program));
    for (number, one) in refused.iter().enumerate() {
        let text = one.said();
        let (name, len) = (function(number), text.len());
        let _ = write!(
            ir,
            "\n@{name}.text = private addrspace(4) constant [{len} x i8] c\"{}\"\n\
             define hidden void @{name}() noinline convergent cold {{\n  \
             call void @__amdinst_panic(ptr addrspacecast (ptr addrspace(4) @{name}.text to ptr), i32 {len})\n  \
             ret void\n}}\n",
            escaped(&text)
        );
    }
    ir
}

/// What a code object says of functions without code.
pub fn refused_of(path: &Path) -> Vec<String> {
    places::lines_of(path, REFUSED_SECTION)
}

/// What `llc` says of itself, without its stack and its own program's arguments.
pub(crate) fn without_stack(output: &str) -> String {
    let is_told = |line: &&str| !line.starts_with("PLEASE submit a bug report");
    output.lines().take_while(is_told).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "@__amdinst_lds.0 = internal addrspace(3) global [80000 x i8] poison, align 4\n
define amdgpu_kernel void @big(ptr %x) #0 !dbg !5 {\n  %p = call ptr @tile(), !dbg !7\n  ret void\n}\n
define internal ptr @tile() #0 {\n  ret ptr addrspacecast (ptr addrspace(3) @__amdinst_lds.0 to ptr)\n}\n
define amdgpu_kernel void @waves(double %x) #0 !dbg !6 {\n  %a = fmul double %x, %x, !dbg !8\n  \
%b = call double @llvm.sin.f64(double %a), !dbg !9\n  %c = call float @llvm.acos.f32(float 1.0), !dbg !9\n  ret void\n}\n
attributes #0 = { nounwind \"amdgpu-no-queue-ptr\" \"amdgpu-no-workgroup-id-y\" \"amdgpu-no-workitem-id-z\" }
!4 = !DIFile(filename: \"src/lib.rs\", directory: \"/k\")
!5 = distinct !DISubprogram(name: \"big\", file: !4, line: 5)
!6 = distinct !DISubprogram(name: \"waves\", file: !4, line: 15)
!7 = !DILocation(line: 7, column: 5, scope: !5)
!8 = !DILocation(line: 18, column: 5, scope: !6)
!9 = !DILocation(line: 20, column: 16, scope: !6)
";

    fn about(shared: &[SharedVariable]) -> About<'_> {
        About { llvm: "22.1.8", cpu: "gfx1100", shared }
    }

    fn told(output: &str) -> Vec<String> {
        let symbol = "__amdinst_lds_A_TILE_d6bf1201f8d5b162_0".to_owned();
        let shared = [SharedVariable { symbol, size: 80_000, align: 4 }];
        let about = about(&shared);
        of(output, PROGRAM, about).iter().map(|one| one.told(about, PROGRAM)).collect()
    }

    #[test]
    fn each_kind_of_complaint_is_told() {
        let lds = "error: src/lib.rs:5:0: local memory (80000) exceeds limit (65536) in function 'big'\n";
        let selected = "LLVM ERROR: Cannot select: 0x5: f64 = fsin # D:1 0x6, src/lib.rs:20:16\nIn function: waves\nPLEASE\n";
        let both = told(&format!("{lds}{selected}"));
        let of_lds = "kernel `big` at src/lib.rs:5 has no code for gfx1100: it takes 80000 bytes of LDS, and a workgroup has 65536 \
                      (`A_TILE` 80000)";
        let of_sine = "kernel `waves` at src/lib.rs:20 has no code for gfx1100: LLVM 22.1.8 has no instructions for `llvm.sin`; \
                       `amdinst_device::math` and the crate `libm` have functions in software";
        assert_eq!(both, [of_lds, of_sine]);

        let [arc] = &told("error: no libcall available for facos\n")[..] else { panic!() };
        assert!(
            arc.starts_with("kernel `waves` at src/lib.rs:20 has no code for gfx1100: ")
                && arc.contains("`llvm.acos`")
        );

        let library_call = "LLVM ERROR: unsupported library call operation\nStack dump:\n2.\tRunning pass 'X' on function '@waves'\n";
        let [call] = &told(library_call)[..] else { panic!() };
        assert!(call.ends_with(
            "waves` at src/lib.rs:18 has no code for gfx1100: LLVM 22.1.8: unsupported library call operation"
        ));

        let quadruple = PROGRAM.replace("fmul double %x, %x", "fmul fp128 %q, %q");
        let of_quadruple = of(library_call, &quadruple, about(&[]));
        assert_eq!(
            of_quadruple[0].said(),
            "src/lib.rs:18:1\nnot compiled: LLVM 22.1.8 has no instructions for `f128`"
        );

        let stack = told("error: <unknown>:0:0: stack frame size (9) exceeds limit (8) in function 'tile'\n");
        assert_eq!(
            stack,
            ["function `tile` has no code for gfx1100: LLVM 22.1.8: stack frame size (9) exceeds limit (8)"]
        );

        assert!(told("LLVM ERROR: out of memory\n").is_empty());
        assert!(told("error: stack frame size (9) exceeds limit (8) in function 'another'\n").is_empty());
    }

    #[test]
    fn bodies_are_taken_out() {
        let refused = of("error: no libcall available for facos\n", PROGRAM, about(&[]));
        let without = without(PROGRAM, &refused);
        let body = "define amdgpu_kernel void @waves(double %x) #0 !dbg !6 {\n  \
                    call void @__amdinst_refused.0(), !dbg !DILocation(line: 20, scope: !6)\n  \
                    call void @llvm.trap(), !dbg !DILocation(line: 20, scope: !6)\n  \
                    unreachable, !dbg !DILocation(line: 20, scope: !6)\n}\n";
        assert!(without.contains(body), "{without}");
        assert!(without.contains("%p = call ptr @tile(), !dbg !7") && !without.contains("llvm.sin"));
        assert!(without.contains("attributes #0 = { nounwind \"amdgpu-no-queue-ptr\" }\n"), "{without}");
    }
}
