//! Values that LLVM carries into paths that never had them (its pass `structurizecfg`,
//! llvm/llvm-project#183792).
//!
//! The pass makes control flow nested. To save copies, LLVM 22 moves an instruction that costs nothing (an
//! element put into a vector, a cast) out of a branch that hands its result to the block where both ways
//! meet, to where they part. Then the result stands for what comes over other ways as well: of
//! `if first || !second { pair[0] = 1 }` one way does not get its 1. A break in an inner loop made such
//! blocks, at every opt-level, on every processor.
//!
//! No switch turns that off. But the pass moves only what is made in the very block that ends in the meeting
//! block. So the program is taken from `llc` ahead of the pass, each such block gets an empty one behind it,
//! and `llc` goes on from there. Empty blocks leave no code.
//!
//! `hoists.ll` has such a branch. Its code is right if the instruction stays in it.

use std::collections::BTreeMap;

use super::faults::assembly;
use crate::error::LinkError;
use crate::toolchain::LlvmTools;

/// What LLVM does wrong. Stands behind "LLVM".
pub const WHAT: &str =
    "carries values into paths that never had them (its pass `structurizecfg`, llvm/llvm-project#183792)";

/// What keeps that away. Stands behind "kernels are built".
pub const MEND: &str = "in two steps, with empty blocks between them";

/// The options of `llc` that take a program from it ahead of the pass, and go on from there.
pub(crate) const STOP: &str = "-stop-before=structurizecfg";
pub(crate) const START: &str = "-start-before=structurizecfg";

const REPRODUCER: &str = include_str!("hoists.ll");

/// Whether this LLVM does it, for the processor that its options name, at `opt_level`.
///
/// # Errors
/// `llc` cannot be started, or does not take the function.
pub fn are_there(tools: &LlvmTools, processor: &[String], opt_level: u8) -> Result<bool, LinkError> {
    let after = assembly(tools, processor, opt_level, &["-stop-after=structurizecfg"], REPRODUCER)?;
    Ok(!is_right(&after))
}

/// Whether what is made in the block `change` is made there.
fn is_right(ir: &str) -> bool {
    match (ir.find("change:"), ir.find("%new = ")) {
        (Some(block), Some(value)) => block < value,
        _ => false,
    }
}

/// A program in whose functions no block hands what it makes itself to one where ways meet. Nothing if that
/// is so already.
pub(crate) fn padded(program: &str) -> Option<String> {
    let mut out = String::with_capacity(program.len() + program.len() / 16);
    let mut lines = program.lines();
    let mut has_pads = false;
    while let Some(line) = lines.next() {
        if !line.starts_with("define ") {
            out.extend([line, "\n"]);
            continue;
        }
        let body = lines.by_ref().take_while(|line| *line != "}");
        let mut function: Vec<String> = std::iter::once(line).chain(body).map(str::to_owned).collect();
        has_pads |= pad(&mut function);
        for line in function.iter().map(String::as_str).chain(["}"]) {
            out.extend([line, "\n"]);
        }
    }
    has_pads.then_some(out)
}

/// A block of a function, by the numbers of its lines.
#[derive(Debug, Default)]
struct Block {
    phis: Vec<usize>,
    /// The branch at its end, and where it leads, if there is no other way on.
    end: Option<(usize, String)>,
}

/// Puts empty blocks into a function, given by its lines. Whether it needs any.
fn pad(lines: &mut [String]) -> bool {
    let mut blocks: BTreeMap<String, Block> = BTreeMap::new();
    // In which block a value is made. What is loaded does cost something, and phis stay.
    let mut made: BTreeMap<String, String> = BTreeMap::new();
    // The first block has no ways that meet ahead of it.
    let mut current = String::new();
    for (number, line) in lines.iter().enumerate().skip(1) {
        if let Some(label) = label(line) {
            current = format!("%{label}");
        } else if let Some(target) = line.strip_prefix("  br label ") {
            let target = target.split(", !").next().unwrap_or(target).trim_end();
            blocks.entry(current.clone()).or_default().end = Some((number, target.to_owned()));
        } else if let Some((result, instruction)) = line.trim_start().split_once(" = ") {
            if instruction.starts_with("phi ") {
                blocks.entry(current.clone()).or_default().phis.push(number);
            } else if !instruction.starts_with("load ") {
                made.insert(result.to_owned(), current.clone());
            }
        }
    }
    let mut count = 0;
    for (name, Block { end, .. }) in blocks.iter().filter(|(name, _)| !name.is_empty()) {
        let Some((branch, target)) = end else { continue };
        let Some(Block { phis, .. }) = blocks.get(target) else { continue };
        let is_own = |phi: &usize| incoming(&lines[*phi], name).is_some_and(|it| made.get(it) == Some(name));
        if !phis.iter().any(is_own) {
            continue;
        }
        let empty = format!("amdinst.empty.{count}");
        count += 1;
        lines[*branch] = format!("  br label %{empty}\n\n{empty}:\n{}", lines[*branch]);
        for phi in phis {
            lines[*phi] = lines[*phi].replacen(&format!(", {name} ]"), &format!(", %{empty} ]"), 1);
        }
    }
    count > 0
}

/// The name of the block that begins with this line.
fn label(line: &str) -> Option<&str> {
    if line.starts_with([' ', ';', '#']) {
        return None;
    }
    let end = match line.strip_prefix('"') {
        Some(rest) => rest.find('"')? + 2,
        None => line.find(':')?,
    };
    line[end..].starts_with(':').then_some(&line[..end])
}

/// What a phi has from a block.
fn incoming<'a>(phi: &'a str, block: &str) -> Option<&'a str> {
    let before = &phi[..phi.find(&format!(", {block} ]"))?];
    Some(&before[before.rfind("[ ")? + 2..])
}

#[cfg(test)]
mod tests {
    use super::super::faults::tests::{processors, tools};
    use super::*;

    #[test]
    fn blocks_that_hand_on_what_they_make_get_an_empty_one() {
        let program = "define i32 @f(i1 %a, i32 %b) {\n  br i1 %a, label %\"a way\", label %4\n\n\
                       \"a way\":                  ; preds = %2\n  %x = freeze i32 %b\n  br label %5, !dbg !7\n\n\
                       4:                                                ; preds = %2\n  %y = load i32, ptr null, align 4\n  \
                       br label %5\n\n\
                       5:                                                ; preds = %4, %\"a way\"\n  \
                       %r = phi i32 [ %x, %\"a way\" ], [ %y, %4 ]\n  %s = phi [1 x i32] [ [i32 3], %\"a way\" ], [ [i32 4], %4 ]\n  \
                       ret i32 %r\n}\n\n!7 = !{}\n";
        let expected = program
            .replace(
                "  br label %5, !dbg !7\n",
                "  br label %amdinst.empty.0\n\namdinst.empty.0:\n  br label %5, !dbg !7\n",
            )
            .replace("[ %x, %\"a way\" ]", "[ %x, %amdinst.empty.0 ]")
            .replace("[ [i32 3], %\"a way\" ]", "[ [i32 3], %amdinst.empty.0 ]");
        assert_eq!(padded(program).unwrap(), expected);
        assert_eq!(padded(&expected), None);
    }

    /// LLVM 22 does it at every level, for every processor, and not with an empty block.
    #[test]
    fn llvm_22_hoists_and_is_kept_from_it() {
        let Some(tools) = tools() else { return };
        let mended = padded(REPRODUCER).unwrap();
        for (arch, processor) in processors() {
            for level in 0..=3 {
                if matches!(&tools.version[..], "22.1.2" | "22.1.8") {
                    assert!(are_there(&tools, &processor, level).unwrap(), "{arch} {level}");
                }
                let switches = [START, "-stop-after=structurizecfg"];
                let after = assembly(&tools, &processor, level, &switches, &mended).unwrap();
                assert!(is_right(&after), "{arch} {level}: {after}");
            }
        }
    }

    /// What goes on from there is what one step makes.
    #[test]
    fn two_steps_are_one() {
        let Some(tools) = tools() else { return };
        for (arch, processor) in processors() {
            for level in 0..=3 {
                let whole = assembly(&tools, &processor, level, &[""; 0], REPRODUCER).unwrap();
                let half = assembly(&tools, &processor, level, &[STOP], REPRODUCER).unwrap();
                let half = crate::ir::functions::of_machine_ir(&half);
                assert_eq!(
                    assembly(&tools, &processor, level, &[START], &half).unwrap(),
                    whole,
                    "{arch} {level}"
                );
            }
        }
    }
}
