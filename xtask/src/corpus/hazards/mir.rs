//! Functions as machine IR, for LLVM's hazard recognizer.
//!
//! The disassembler's opcodes are those of one generation's encoding (`V_ADD_U32_e32_gfx9`), the recognizer's are the pseudo
//! instructions they come from (`V_ADD_U32_e32`). Operands are the same, but for implicit ones, which machine IR wants
//! written down: those of an opcode are learned from what the parser misses.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use super::mcinst::{McInst, McOperand};

/// An instruction of a function to be judged.
#[derive(Debug)]
pub(super) struct Step<'a> {
    /// LLVM's view of it; `None` where it has none.
    pub(super) inst: Option<&'a McInst>,
    /// How many of its first operands it writes.
    pub(super) written: usize,
    /// The block it branches to.
    pub(super) target: Option<usize>,
}

/// A block of a function to be judged.
#[derive(Debug, Default)]
pub(super) struct Block<'a> {
    pub(super) steps: Vec<Step<'a>>,
    pub(super) successors: Vec<usize>,
}

/// What is known of the pseudo instructions of one processor.
#[derive(Debug)]
pub(super) struct Recognizer {
    cpu: String,
    /// XNACK is on, or may be.
    replays: bool,
    /// By opcode of the encoding; `None` if nothing was found.
    pseudos: HashMap<String, Option<Pseudo>>,
}

/// A pseudo instruction and how its operands differ from those of an encoding.
#[derive(Clone, Debug)]
struct Pseudo {
    name: String,
    /// What it has of the disassembler's operands.
    operands: Explicit,
    implicit: Vec<String>,
}

/// How the operands of a pseudo instruction differ from those of an encoding.
#[derive(Clone, Copy, Debug)]
enum Explicit {
    /// There are so many more behind them (modifiers that are zero), or fewer.
    More(isize),
    /// The first stands in place of the last, too: what of the result stays as it was.
    Tied,
    /// The first is not among them: the result's register is implied.
    WithoutFirst,
}

/// In the order in which they are tried.
const FORMS: [Explicit; 9] = [
    Explicit::More(0),
    Explicit::More(1),
    Explicit::More(2),
    Explicit::More(4),
    Explicit::More(3),
    Explicit::More(-1),
    Explicit::More(-2),
    Explicit::Tied,
    Explicit::WithoutFirst,
];

impl Pseudo {
    fn line(&self, explicit: &[String]) -> String {
        let (kept, behind) = match self.operands {
            Explicit::More(more) => {
                let kept = explicit.len().saturating_add_signed(more.min(0));
                (&explicit[..kept], vec!["0"; more.max(0) as usize])
            }
            Explicit::Tied => {
                let first = explicit.first().map(|first| first.trim_start_matches("def "));
                (&explicit[..explicit.len().saturating_sub(1)], Vec::from_iter(first))
            }
            Explicit::WithoutFirst => (explicit.get(1..).unwrap_or_default(), Vec::new()),
        };
        let implicit = self.implicit.iter().map(String::as_str);
        let operands: Vec<&str> = kept.iter().map(String::as_str).chain(behind).chain(implicit).collect();
        format!("{} {}", self.name, operands.join(", "))
    }
}

impl Recognizer {
    pub(super) fn new(cpu: &str, replays: bool) -> Self {
        Self { cpu: cpu.to_owned(), replays, pseudos: HashMap::new() }
    }

    /// The wait states that LLVM adds before each instruction, by block.
    ///
    /// Instructions without a pseudo instruction stand as `s_nop 0`: they take their wait state and do nothing. Their
    /// opcodes are counted in `missing`.
    pub(super) fn missing_states(
        &mut self,
        blocks: &[Block<'_>],
        missing: &mut HashMap<String, usize>,
    ) -> Result<Vec<Vec<u32>>> {
        let mut text = "---\nname: function\nbody: |\n".to_owned();
        let mut is_nop: Vec<Vec<bool>> = Vec::new();
        for (number, block) in blocks.iter().enumerate() {
            let _ = writeln!(text, "  bb.{number}:");
            if !block.successors.is_empty() {
                let names: Vec<String> = block.successors.iter().map(|next| format!("%bb.{next}")).collect();
                let _ = writeln!(text, "    successors: {}", names.join(", "));
            }
            let mut nops = Vec::new();
            for step in &block.steps {
                let line = match step.inst {
                    Some(inst) => self.line(inst, step)?,
                    None => None,
                };
                let line = line.unwrap_or_else(|| {
                    let name = step.inst.map_or("not decoded", |inst| &inst.opcode);
                    *missing.entry(name.to_owned()).or_default() += 1;
                    "S_NOP 0".to_owned()
                });
                nops.push(nop(&line).is_some());
                let _ = writeln!(text, "    {line}");
            }
            is_nop.push(nops);
        }
        text.push_str("...\n");
        let output = match self.run(&text)? {
            Ok(output) => output,
            Err(error) => {
                let lines =
                    error.lines().skip_while(|line| !line.contains("rror: ") && !line.starts_with("***"));
                let lines: Vec<&str> = lines.take(8).collect();
                bail!("llc-22 refuses the translated function: {}", lines.join("\n"))
            }
        };
        compare(&output, &is_nop)
    }

    /// Whether an instruction without a target has a pseudo instruction.
    pub(super) fn knows(&mut self, step: &Step<'_>) -> Result<bool> {
        Ok(step.inst.map(|inst| self.line(inst, step)).transpose()?.flatten().is_some())
    }

    fn line(&mut self, inst: &McInst, step: &Step<'_>) -> Result<Option<String>> {
        let explicit = explicit_operands(inst, step, step.target);
        if !self.pseudos.contains_key(&inst.opcode) {
            // The function it is tried in has two blocks.
            let found = self.find(inst, &explicit_operands(inst, step, step.target.map(|_| 1)))?;
            self.pseudos.insert(inst.opcode.clone(), found);
        }
        let Some(Some(pseudo)) = self.pseudos.get(&inst.opcode) else { return Ok(None) };
        Ok(Some(pseudo.line(&explicit)))
    }

    /// The pseudo instruction of an encoding's opcode.
    fn find(&self, inst: &McInst, explicit: &[String]) -> Result<Option<Pseudo>> {
        for name in pseudo_names(&inst.opcode) {
            for operands in FORMS {
                let mut pseudo = Pseudo { name: name.clone(), operands, implicit: Vec::new() };
                loop {
                    let line = pseudo.line(explicit);
                    let text = format!(
                        "---\nname: function\nbody: |\n  bb.0:\n    {line}\n  bb.1:\n    S_NOP 0\n...\n"
                    );
                    match self.run(&text)? {
                        Ok(_) => return Ok(Some(pseudo)),
                        Err(error) => match missing_operand(&error) {
                            Some(operand) if !pseudo.implicit.contains(&operand) => {
                                pseudo.implicit.push(operand)
                            }
                            _ => break,
                        },
                    }
                }
            }
        }
        Ok(None)
    }

    /// Machine IR after the recognizer, or the parser's complaint.
    fn run(&self, text: &str) -> Result<Result<String, String>> {
        let mut child = Command::new("llc-22")
            .args(["-mtriple=amdgcn-amd-amdhsa", "-run-pass=post-RA-hazard-rec", "-x", "mir", "-", "-o", "-"])
            .arg(format!("-mcpu={}", self.cpu))
            .args((!self.replays).then_some("-mattr=-xnack"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("running llc-22 (apt-get install llvm-22)")?;
        let mut stdin = child.stdin.take().context("llc-22 has no standard input")?;
        let input = text.to_owned();
        let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
        let output = child.wait_with_output()?;
        let _ = writer.join();
        Ok(if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        })
    }
}

/// Registers as machine IR names them, those that are written marked.
fn explicit_operands(inst: &McInst, step: &Step<'_>, target: Option<usize>) -> Vec<String> {
    let mut operands: Vec<String> = Vec::new();
    for (index, operand) in inst.operands.iter().enumerate() {
        operands.push(match operand {
            McOperand::Register(name) if name.is_empty() || name == "NoRegister" => "$noreg".to_owned(),
            McOperand::Register(name) => {
                let name = strip(&name.to_lowercase()).to_owned();
                if index < step.written { format!("def ${name}") } else { format!("${name}") }
            }
            // The disassembler does not extend the sign of 16-bit immediates.
            McOperand::Immediate(value) if inst.opcode.contains("K_I32") => {
                value.parse::<u16>().map_or_else(|_| value.clone(), |value| (value as i16).to_string())
            }
            McOperand::Immediate(value) => value.clone(),
        });
    }
    if let (Some(target), Some(last)) = (target, operands.last_mut()) {
        *last = format!("%bb.{target}");
    }
    operands
}

/// Suffixes by which encodings of one pseudo instruction, and registers with several numbers, are told apart.
const SUFFIXES: [&str; 12] = [
    "_vi",
    "_gfx9",
    "_gfx90a",
    "_gfx940",
    "_gfx950",
    "_gfx9plus",
    "_gfxpre11",
    "_gfx10",
    "_gfx8",
    "_gfx6",
    "_gfx7",
    "_opsel",
];

fn strip(name: &str) -> &str {
    let mut name = name;
    while let Some(rest) = SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)) {
        name = rest;
    }
    name
}

/// What the pseudo instruction of an opcode may be called.
fn pseudo_names(opcode: &str) -> Vec<String> {
    let mut names = Vec::new();
    // Matrix instructions: by the register file of the accumulator.
    for (suffix, pseudo) in [("_acd", "_e64"), ("_vcd", "_vgprcd_e64")] {
        if let Some(rest) = opcode.strip_suffix(suffix) {
            names.push(format!("{}{pseudo}", strip(rest)));
        }
    }
    let bare = strip(opcode);
    names.extend([bare.to_owned(), format!("{bare}_e64"), format!("{bare}_gfx9"), opcode.to_owned()]);
    names
}

/// `missing implicit register operand 'implicit $exec'`.
fn missing_operand(error: &str) -> Option<String> {
    let (_, rest) = error.split_once("missing implicit register operand '")?;
    Some(rest.split_once('\'')?.0.to_owned())
}

/// Aligns LLVM's output with its input, of which `is_nop` tells the `S_NOP`s. Those that LLVM adds stand right before
/// the instruction that needs them, which is none itself.
fn compare(output: &str, is_nop: &[Vec<bool>]) -> Result<Vec<Vec<u32>>> {
    let mut written: Vec<Vec<&str>> = Vec::new();
    for line in output.lines().skip_while(|line| !line.starts_with("body:")).skip(1) {
        let line = line.trim();
        if line.starts_with("bb.") {
            written.push(Vec::new());
        } else if let Some(block) = written.last_mut()
            && !line.is_empty()
            && !line.starts_with("successors:")
            && line != "..."
        {
            block.push(line);
        }
    }
    if written.len() != is_nop.len() {
        bail!("{} blocks went in, {} came out", is_nop.len(), written.len());
    }
    let mut all = Vec::new();
    for (is_nop, lines) in is_nop.iter().zip(written) {
        let mut lines = lines.into_iter().peekable();
        let mut states = Vec::with_capacity(is_nop.len());
        for &is_nop in is_nop {
            let mut added = 0;
            while let Some(count) = lines.peek().and_then(|line| nop(line)).filter(|_| !is_nop) {
                added += count;
                lines.next();
            }
            if lines.next().is_none() {
                bail!("fewer instructions came out than went in");
            }
            states.push(added);
        }
        if let Some(line) = lines.next() {
            bail!("`{line}` came out, which did not go in");
        }
        all.push(states);
    }
    Ok(all)
}

/// The wait states of `S_NOP n`.
fn nop(line: &str) -> Option<u32> {
    line.strip_prefix("S_NOP ")?.trim().parse::<u32>().ok().map(|count| count + 1)
}
