//! Places of a program that LLVM is known to compile wrongly, where no switch helps (`faults` has the
//! others): the build warns of each.
//!
//! A false alarm is worse than none. So each place is tried: the instructions at fault are copied into a
//! function of their own, which LLVM compiles as it compiles the program, and the assembly is looked at. What
//! is right in a later LLVM, or on another processor, gives no warning.
//!
//! `llc` prepares the program before it selects instructions, so that is where it is looked at. Programs that
//! have none of the constants in question are not looked at twice.
//!
//! The warnings stand in a section of the code object that is not loaded, [`SECTION`], a line each. So they
//! are told by builds that find the code object up to date, too.

mod lost_signs;
mod negated_zeros;
mod off_lanes;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use super::faults::assembly;
use crate::error::LinkError;
use crate::ir::functions::{Function, Instruction, Metadata, functions, of_machine_ir};
use crate::ir::text::{renamed, text_section};
use crate::toolchain::LlvmTools;

pub(crate) use off_lanes::marked;

/// The section of a code object that has the warnings of its link.
const SECTION: &str = ".amdinst.warnings";

/// The option of `llc` that leaves a program as it is before instructions are selected.
pub(crate) const STOP: &str = "-stop-before=amdgpu-isel";

/// How many places of a fault are told one by one.
const MOST: usize = 5;

/// What LLVM compiles wrongly, whatever its switches.
#[derive(Debug)]
struct Lasting {
    /// What LLVM does wrong. Stands behind "LLVM".
    what: &'static str,
    /// What to write instead.
    instead: &'static str,
    /// Whether a program, LLVM IR, may have such places.
    may_have: fn(&str) -> bool,
    /// The places in a function.
    find: for<'a> fn(&Function<'a>) -> Vec<Suspect<'a>>,
    /// Whether the assembly of a function to try is right.
    is_right: fn(&str) -> bool,
}

/// Those that are looked for before instructions are selected.
const SELECTED: [&Lasting; 2] = [&lost_signs::FAULT, &negated_zeros::FAULT];

/// Where LLVM may be wrong.
#[derive(Debug)]
struct Suspect<'a> {
    at: Instruction<'a>,
    /// It is wrong if each of them comes out wrong. With none, the program itself shows it.
    trials: Vec<String>,
}

/// How a program is compiled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compiled<'a> {
    pub(crate) tools: &'a LlvmTools,
    pub(crate) processor: &'a [String],
    pub(crate) opt_level: u8,
    pub(crate) switches: &'a [String],
}

/// Whether the program is to be looked at as it is before instructions are selected.
pub(crate) fn may_be_in(program: &str) -> bool {
    SELECTED.iter().any(|fault| (fault.may_have)(program))
}

/// The warnings of an optimised program.
pub(crate) fn of_optimised(how: Compiled<'_>, program: &str) -> Vec<String> {
    if (off_lanes::FAULT.may_have)(program) {
        warnings(how, program, &[&off_lanes::FAULT])
    } else {
        Vec::new()
    }
}

/// The warnings of a program in a file of machine IR, whose instructions are not selected.
pub(crate) fn of_selected(how: Compiled<'_>, machine_ir: &str) -> Vec<String> {
    warnings(how, &of_machine_ir(machine_ir), &SELECTED)
}

/// The section that leaves the warnings in the code object, if there are some.
pub(crate) fn section(warnings: &[String]) -> String {
    if warnings.is_empty() { String::new() } else { text_section(SECTION, warnings) }
}

/// The warnings that the link of a code object left in it.
pub fn warnings_of(path: &Path) -> Vec<String> {
    lines_of(path, SECTION)
}

/// The lines that the link of a code object left in a section of it.
pub(crate) fn lines_of(path: &Path, section: &str) -> Vec<String> {
    let object = std::fs::read(path).ok().and_then(|bytes| amdgpu_object::CodeObject::parse(bytes).ok());
    let bytes = object.as_ref().and_then(|object| object.section_bytes(section)).unwrap_or_default();
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
}

/// The functions of a program that have an instruction with such a text, each with the place of its first in
/// the source.
pub(crate) fn with_instruction(program: &str, is_it: impl Fn(&str) -> bool) -> Vec<(String, Option<String>)> {
    let metadata = Metadata::of(program);
    let first = |function: Function<'_>| {
        let mut of_it = function.instructions.iter().filter(|instruction| is_it(instruction.body));
        let first = of_it.next()?;
        // Some instructions have no place.
        let places = std::iter::once(first).chain(of_it).filter_map(Instruction::location);
        let place = places.filter_map(|location| metadata.place(location)).next();
        Some((function.name, place))
    };
    functions(program).into_iter().filter_map(first).collect()
}

fn warnings(how: Compiled<'_>, program: &str, faults: &[&Lasting]) -> Vec<String> {
    let defined = functions(program);
    let found: Vec<Vec<(&Function<'_>, Suspect<'_>)>> = faults
        .iter()
        .map(|fault| {
            let of = |function| (fault.find)(function).into_iter().map(move |suspect| (function, suspect));
            defined.iter().flat_map(of).collect()
        })
        .collect();
    if found.iter().all(Vec::is_empty) {
        return Vec::new();
    }
    let trials: BTreeSet<&str> =
        found.iter().flatten().flat_map(|(_, suspect)| suspect.trials.iter().map(String::as_str)).collect();
    // A link does not fail because nobody knows whether to warn.
    let Ok(tried) = tried(how, &trials) else { return Vec::new() };
    let metadata = Metadata::of(program);
    let mut warnings = Vec::new();
    for (fault, suspects) in faults.iter().zip(&found) {
        let is_wrong = |trial: &String| tried.get(trial.as_str()).is_some_and(|text| !(fault.is_right)(text));
        let mut places = Vec::new();
        for (function, suspect) in suspects {
            let place = place(function, &suspect.at, &metadata);
            if suspect.trials.iter().all(is_wrong) && !places.contains(&place) {
                places.push(place);
            }
        }
        warnings.extend(told(fault, &how.tools.version, &places));
    }
    warnings
}

/// The warnings of one fault at these places.
fn told(fault: &Lasting, version: &str, places: &[String]) -> Vec<String> {
    let Lasting { what, instead, .. } = fault;
    let one = |place: &String| {
        format!("in {place}, LLVM {version} {what}: {instead} (see \"Is it the compiler?\" in the guide)")
    };
    let mut warnings: Vec<_> = places.iter().take(MOST).map(one).collect();
    let more = places.len().saturating_sub(MOST);
    if more > 0 {
        let places = if more == 1 { "place" } else { "places" };
        warnings.push(format!("and in {more} more {places}, LLVM {version} {what}"));
    }
    warnings
}

/// `` `function` at src/lib.rs:12 ``.
fn place(function: &Function<'_>, at: &Instruction<'_>, metadata: &Metadata<'_>) -> String {
    let name = match rustc_demangle::try_demangle(&function.name) {
        Ok(name) => format!("`{name:#}`"),
        Err(_) => format!("`{}`", function.name),
    };
    match at.location().and_then(|location| metadata.place(location)) {
        Some(place) => format!("{name} at {place}"),
        None => name,
    }
}

/// The functions to try, each with its assembly.
fn tried<'t>(how: Compiled<'_>, trials: &BTreeSet<&'t str>) -> Result<BTreeMap<&'t str, String>, LinkError> {
    if trials.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut module = String::from("target triple = \"amdgcn-amd-amdhsa\"\n");
    let mut declarations = BTreeSet::new();
    for (number, trial) in trials.iter().enumerate() {
        let (declared, functions): (Vec<_>, Vec<_>) =
            trial.lines().partition(|line| line.starts_with("declare "));
        declarations.extend(declared);
        for line in functions {
            let _ = writeln!(module, "{}", line.replace(TRIAL, &format!("@{}", name(number))));
        }
    }
    for declaration in declarations {
        let _ = writeln!(module, "{declaration}");
    }
    let text = assembly(how.tools, how.processor, how.opt_level, how.switches, &module)?;
    let of = |(number, trial): (usize, &&'t str)| {
        let begin = format!("{}:", name(number));
        let lines = text.lines().skip_while(|line| !line.starts_with(&begin)).skip(1);
        // Instructions are indented, and what is behind the function's end is not code.
        let lines = lines.take_while(|line| !line.starts_with(".Lfunc_end") && !line.contains(".section"));
        (*trial, lines.flat_map(|line| [line, "\n"]).collect())
    };
    Ok(trials.iter().enumerate().map(of).collect())
}

/// The name of a function to try.
const TRIAL: &str = "@amdinst.trial";

fn name(number: usize) -> String {
    format!("amdinst_trial_{number}")
}

/// A function of instructions, in order, that gives the result of the last. What else they take are its
/// arguments: of each lane, or those of a kernel, that are a whole wave's.
fn trial(instructions: &[&Instruction<'_>], is_uniform: bool) -> Option<String> {
    let (mut parameters, mut body, mut declarations) = (Vec::new(), String::new(), String::new());
    let mut names: Vec<(&str, String)> = Vec::new();
    for (number, instruction) in instructions.iter().enumerate() {
        let mut text = instruction.copied()?.to_owned();
        let operands = instruction.operands()?;
        for operand in operands.iter().filter(|operand| operand.value.starts_with('%')) {
            let known = names.iter().find(|(value, _)| *value == operand.value);
            let name = match known {
                Some((_, name)) => name.clone(),
                None => {
                    let name = format!("%amdinst.a{}", parameters.len());
                    parameters.push(format!("{} {name}", operand.ty));
                    names.push((operand.value, name.clone()));
                    name
                }
            };
            text = renamed(&text, operand.value, &name);
        }
        let result = format!("%amdinst.r{number}");
        let _ = writeln!(body, "  {result} = {text}");
        names.push((instruction.result?, result));
        if let Some(callee) = instruction.callee() {
            // What a program calls itself is not here to be called.
            instruction.intrinsic()?;
            let types: Vec<_> = operands.iter().map(|operand| operand.ty).collect();
            let _ = writeln!(
                declarations,
                "declare {} @{callee}({})",
                instruction.result_type()?,
                types.join(", ")
            );
        }
    }
    let (ty, result) = (instructions.last()?.result_type()?, names.last()?.1.clone());
    let (kind, end) = if is_uniform {
        parameters.push("ptr addrspace(1) %amdinst.to".to_owned());
        ("amdgpu_kernel void", format!("store {ty} {result}, ptr addrspace(1) %amdinst.to\n  ret void"))
    } else {
        (ty, format!("ret {ty} {result}"))
    };
    Some(format!("define {kind} {TRIAL}({}) {{\n{body}  {end}\n}}\n{declarations}", parameters.join(", ")))
}

/// The functions to try if lanes have values of their own, or one: both, if that is not known.
fn trials(instructions: &[&Instruction<'_>], is_uniform: Option<bool>) -> Option<Vec<String>> {
    let kinds =
        is_uniform.map_or(&[true, false][..], |is_uniform| if is_uniform { &[true] } else { &[false] });
    kinds.iter().map(|is_uniform| trial(instructions, *is_uniform)).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::faults::tests::tools;
    use super::*;

    /// The warnings of a link of this program, if there is an LLVM 22 here.
    pub(crate) fn found(program: &str, cpu: &str, opt_level: u8) -> Option<Vec<String>> {
        let tools = tools()?;
        if !matches!(&tools.version[..], "22.1.2" | "22.1.8") {
            eprintln!("SKIPPED: places: LLVM {} was not looked at", tools.version);
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let (input, output) = (directory.path().join("a.ll"), directory.path().join("b.ll"));
        std::fs::write(&input, format!("target triple = \"amdgcn-amd-amdhsa\"\n{program}")).unwrap();
        let run = |tool: &str, arguments: &[String]| {
            let done =
                Command::new(tools.path(tool)).args(arguments).arg("-o").arg(&output).output().unwrap();
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            std::fs::read_to_string(&output).unwrap()
        };
        let processor = [format!("-mcpu={cpu}")];
        let how = Compiled { tools: &tools, processor: &processor, opt_level, switches: &[] };
        let input = input.display().to_string();
        let optimised =
            run("opt", &["-S".to_owned(), format!("-passes=default<O{opt_level}>"), input.clone()]);
        let mut warnings = of_optimised(how, &optimised);
        if may_be_in(program) {
            let level = format!("-O{opt_level}");
            let selected = run("llc", &[STOP.to_owned(), level, processor[0].clone(), input]);
            warnings.extend(of_selected(how, &selected));
        }
        Some(warnings)
    }

    #[test]
    fn many_places_are_counted() {
        let places: Vec<_> = (1..=7).map(|line| format!("`k` at src/lib.rs:{line}")).collect();
        let warnings = told(&lost_signs::FAULT, "22.1.8", &places);
        assert_eq!(warnings.len(), MOST + 1);
        assert!(warnings[0].starts_with("in `k` at src/lib.rs:1, LLVM 22.1.8 takes "), "{}", warnings[0]);
        assert!(warnings[MOST].starts_with("and in 2 more places, LLVM 22.1.8 takes "), "{}", warnings[MOST]);
        assert_eq!(told(&lost_signs::FAULT, "22.1.8", &places[..MOST]).len(), MOST);
        assert!(told(&lost_signs::FAULT, "22.1.8", &places[..=MOST])[MOST].contains(" 1 more place, "));
    }

    #[test]
    fn functions_to_try_have_what_is_missing_as_arguments() {
        let ir = "define void @k(float %x) {\n  %d = fsub float 0.000000e+00, %x, !dbg !1\n  \
                  %r = tail call float @llvm.ldexp.f32.i32(float noundef %d, i32 %7) #2, !dbg !1\n  \
                  %s = call float @own(float %d)\n  ret void\n}\n";
        let defined = functions(ir);
        let [sub, call, own, _] = &defined[0].instructions[..] else { panic!() };
        let body = "  %amdinst.r0 = fsub float 0.000000e+00, %amdinst.a0\n  \
                    %amdinst.r1 = tail call float @llvm.ldexp.f32.i32(float noundef %amdinst.r0, i32 %amdinst.a1)\n";
        let end = "}\ndeclare float @llvm.ldexp.f32.i32(float, i32)\n";
        assert_eq!(
            trials(&[sub, call], None).unwrap(),
            [
                format!(
                    "define amdgpu_kernel void @amdinst.trial(float %amdinst.a0, i32 %amdinst.a1, ptr addrspace(1) %amdinst.to) \
                     {{\n{body}  store float %amdinst.r1, ptr addrspace(1) %amdinst.to\n  ret void\n{end}"
                ),
                format!(
                    "define float @amdinst.trial(float %amdinst.a0, i32 %amdinst.a1) {{\n{body}  ret float %amdinst.r1\n{end}"
                ),
            ]
        );
        assert_eq!(trials(&[sub, own], None), None);
    }
}
