//! Functions as machine IR, for LLVM's hazard recognizer.
//!
//! The disassembler's opcodes are those of one generation's encoding (`V_ADD_U32_e32_gfx9`), the recognizer's
//! are the pseudo instructions they come from (`V_ADD_U32_e32`). Operands are the same, but for implicit
//! ones, which machine IR wants written down: those of an opcode are learned from what the parser misses.
//! What is not known yet is tried in the function itself, and the parser names the line that it refuses:
//! starting LLVM is what takes time here.
//!
//! What the recognizer adds are wait states (`S_NOP`), waits for results (`S_WAITCNT_DEPCTR`), and
//! instructions that do nothing but come between (`V_NOP_e32`, and moves of a register to itself or of a
//! number to none). Between LDS and memory a wait for stores (`S_WAITCNT_VSCNT`) is one. On GFX12 a pass of
//! its own adds waits for scalar results (`amdgpu-wait-sgpr-hazards`), which it makes one with a wait that
//! stands there. It asks whether a function is a kernel: others begin with whatever their callers have done.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use amdgpu_isa::{Feature, Target, WaveSize};
use anyhow::{Context as _, Result, bail};

use super::mcinst::{McInst, McOperand};
use crate::attributes_with_halves;

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

/// The passes that judge. Of processors without that hazard the second does nothing.
const PASSES: [&str; 2] = ["post-RA-hazard-rec", "amdgpu-wait-sgpr-hazards"];

/// What makes a function of machine IR a kernel.
const KERNEL: &str = "--- |\n  define amdgpu_kernel void @function() {\n    ret void\n  }\n...\n";

/// What is known of the pseudo instructions of one processor, in waves of one size.
#[derive(Debug)]
pub(super) struct Recognizer {
    target: Target,
    /// XNACK is on, or may be.
    replays: bool,
    /// By opcode of the encoding.
    pseudos: HashMap<String, Known>,
}

/// What is known of an opcode's pseudo instruction.
#[derive(Debug)]
enum Known {
    Found(Pseudo),
    /// LLVM has none of those that were tried.
    Absent,
    /// LLVM has not seen it yet.
    Tried(Trial),
}

/// What was found for one processor, by opcode and size of waves: another one tries it first.
static FOUND: LazyLock<Mutex<HashMap<(String, WaveSize), Pseudo>>> = LazyLock::new(Mutex::default);

fn found() -> MutexGuard<'static, HashMap<(String, WaveSize), Pseudo>> {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A pseudo instruction that is tried, and what comes after it.
#[derive(Debug)]
struct Trial {
    pseudo: Pseudo,
    /// Its place in [`FORMS`].
    form: usize,
    /// Other names to try, the next one last.
    names: Vec<String>,
}

impl Trial {
    /// The first one for an opcode.
    fn new(opcode: &str, wave: WaveSize) -> Option<Self> {
        let mut names = pseudo_names(opcode);
        names.reverse();
        match found().get(&(opcode.to_owned(), wave)) {
            Some(pseudo) => Some(Self { pseudo: pseudo.clone(), form: FORMS.len(), names }),
            None => Self::of_next(names),
        }
    }

    fn of_next(mut names: Vec<String>) -> Option<Self> {
        let name = names.pop()?;
        Some(Self { pseudo: Pseudo::new(name, FORMS[0]), form: 0, names })
    }

    /// The next one, after LLVM's complaint of this one.
    fn next(mut self, error: &str) -> Option<Self> {
        if error.contains("unknown machine instruction name") {
            return Self::of_next(self.names);
        }
        if let Some(operand) = missing_operand(error).filter(|one| !self.pseudo.implicit.contains(one)) {
            self.pseudo.implicit.push(operand);
            return Some(self);
        }
        match FORMS.get(self.form + 1) {
            Some(&form) => {
                let pseudo = Pseudo::new(self.pseudo.name, form);
                Some(Self { pseudo, form: self.form + 1, names: self.names })
            }
            None => Self::of_next(self.names),
        }
    }
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
    /// The first also stands in place of the last: parts of the result stay as they were.
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
    fn new(name: String, operands: Explicit) -> Self {
        let implicit = usual_implicit(&name).map(str::to_owned).collect();
        Self { name, operands, implicit }
    }

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
    pub(super) fn new(target: Target, replays: bool) -> Self {
        Self { target, replays, pseudos: HashMap::new() }
    }

    /// What LLVM adds before each instruction, by block: wait states, and waits as one each.
    ///
    /// Instructions without a pseudo instruction stand as `s_nop 0`: they take their wait state and do
    /// nothing. Their opcodes are counted in `missing`.
    pub(super) fn missing_states(
        &mut self,
        blocks: &[Block<'_>],
        is_kernel: bool,
        missing: &mut HashMap<String, usize>,
    ) -> Result<Vec<Vec<u32>>> {
        loop {
            let written = self.write(blocks, is_kernel);
            let error = match self.run(&written.text)? {
                Ok(output) => {
                    self.accept(&written);
                    for name in written.absent {
                        *missing.entry(name).or_default() += 1;
                    }
                    return compare(&output, &written.lines);
                }
                Err(error) => error,
            };
            let refused = line_number(&error).and_then(|line| written.tried.get(&line));
            if let Some(step) = refused {
                self.refuse(step.inst, &error);
            } else if written.tried.is_empty() {
                let lines =
                    error.lines().skip_while(|line| !line.contains("rror: ") && !line.starts_with("***"));
                let lines: Vec<&str> = lines.take(8).collect();
                bail!("llc-22 refuses the translated function: {}", lines.join("\n"))
            } else {
                // One of them ended it.
                for step in written.tried.values() {
                    self.settle(step.inst, step.step)?;
                }
            }
        }
    }

    /// A function as machine IR.
    fn write<'b>(&mut self, blocks: &'b [Block<'b>], is_kernel: bool) -> Written<'b> {
        let mut written = Written::default();
        for block in blocks {
            let mut lines = Vec::new();
            for step in &block.steps {
                let line = step.inst.and_then(|inst| self.line(inst, step, step.target));
                lines.push(line.unwrap_or_else(|| {
                    let name = step.inst.map_or("not decoded", |inst| &inst.opcode);
                    written.absent.push(name.to_owned());
                    "S_NOP 0".to_owned()
                }));
            }
            written.lines.push(lines);
        }
        if self.target.arch.has(Feature::ScalarReadHazard) {
            name_trap_registers(&mut written.lines);
        }
        let mut text = if is_kernel { KERNEL.to_owned() } else { String::new() };
        text.push_str("---\nname: function\nbody: |\n");
        let mut number = text.lines().count();
        for (name, (block, lines)) in blocks.iter().zip(&written.lines).enumerate() {
            let _ = writeln!(text, "  bb.{name}:");
            number += 1;
            if !block.successors.is_empty() {
                let names: Vec<String> = block.successors.iter().map(|next| format!("%bb.{next}")).collect();
                let _ = writeln!(text, "    successors: {}", names.join(", "));
                number += 1;
            }
            for (step, line) in block.steps.iter().zip(lines) {
                let _ = writeln!(text, "    {line}");
                number += 1;
                if let Some(inst) = step.inst
                    && matches!(self.pseudos.get(&inst.opcode), Some(Known::Tried(_)))
                {
                    written.tried.insert(number, Tried { inst, step });
                }
            }
        }
        text.push_str("...\n");
        Written { text, ..written }
    }

    /// Whether an instruction without a target has a pseudo instruction.
    pub(super) fn knows(&mut self, step: &Step<'_>) -> Result<bool> {
        let Some(inst) = step.inst else { return Ok(false) };
        self.settle(inst, step)?;
        Ok(self.line(inst, step, step.target).is_some())
    }

    /// The line of an instruction: as it is known, or to be tried; none if it has no pseudo instruction.
    fn line(&mut self, inst: &McInst, step: &Step<'_>, target: Option<usize>) -> Option<String> {
        let explicit = explicit_operands(inst, step, target, self.null(inst));
        let wave = self.target.wave;
        let first = || Trial::new(&inst.opcode, wave).map_or(Known::Absent, Known::Tried);
        match self.pseudos.entry(inst.opcode.clone()).or_insert_with(first) {
            Known::Found(pseudo) | Known::Tried(Trial { pseudo, .. }) => Some(pseudo.line(&explicit)),
            Known::Absent => None,
        }
    }

    /// Finds the pseudo instruction of an opcode by itself, in a function of two blocks.
    fn settle(&mut self, inst: &McInst, step: &Step<'_>) -> Result<()> {
        loop {
            let Some(line) = self.line(inst, step, step.target.map(|_| 1)) else { return Ok(()) };
            if !matches!(self.pseudos.get(&inst.opcode), Some(Known::Tried(_))) {
                return Ok(());
            }
            let text =
                format!("---\nname: function\nbody: |\n  bb.0:\n    {line}\n  bb.1:\n    S_NOP 0\n...\n");
            match self.run(&text)? {
                Ok(_) => self.found(&inst.opcode),
                Err(error) => self.refuse(inst, &error),
            }
        }
    }

    /// LLVM took all that was tried in a function.
    fn accept(&mut self, written: &Written<'_>) {
        written.tried.values().for_each(|tried| self.found(&tried.inst.opcode));
    }

    fn found(&mut self, opcode: &str) {
        if let Some(known @ Known::Tried(_)) = self.pseudos.get_mut(opcode)
            && let Known::Tried(trial) = std::mem::replace(known, Known::Absent)
        {
            found().entry((opcode.to_owned(), self.target.wave)).or_insert_with(|| trial.pseudo.clone());
            *known = Known::Found(trial.pseudo);
        }
    }

    /// LLVM did not take what was tried for an instruction.
    fn refuse(&mut self, inst: &McInst, error: &str) {
        if let Some(known @ Known::Tried(_)) = self.pseudos.get_mut(&inst.opcode)
            && let Known::Tried(trial) = std::mem::replace(known, Known::Absent)
            && let Some(next) = trial.next(error)
        {
            *known = Known::Tried(next);
        }
    }

    /// What `null` is to machine IR: a carry or a mask of 64 lanes that is not kept has a register of its
    /// own.
    fn null(&self, inst: &McInst) -> &'static str {
        let is_mask =
            ["V_ADD", "V_SUB", "V_CMP", "V_DIV_SCALE"].iter().any(|head| inst.opcode.starts_with(head));
        if is_mask && self.target.wave == WaveSize::Wave64 { "sgpr_null64" } else { "sgpr_null" }
    }

    /// Machine IR after the recognizer, or the parser's complaint.
    fn run(&self, text: &str) -> Result<Result<String, String>> {
        let xnack = (!self.replays).then(|| "-xnack".to_owned());
        let attributes: Vec<String> = xnack.into_iter().chain(attributes_with_halves(self.target)).collect();
        let mut child = Command::new("llc-22")
            .args(["-mtriple=amdgcn-amd-amdhsa", "-x", "mir", "-", "-o", "-"])
            .args(PASSES.map(|pass| format!("-run-pass={pass}")))
            .arg(format!("-mcpu={}", self.target.arch))
            .arg(format!("-mattr={}", attributes.join(",")))
            // Some forms that are tried end it; its report, which nobody reads, would take seconds.
            .env("LLVM_DISABLE_SYMBOLIZATION", "1")
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

/// A function as machine IR.
#[derive(Default)]
struct Written<'a> {
    text: String,
    /// Its instructions, by block.
    lines: Vec<Vec<String>>,
    /// Instructions that LLVM has not seen yet, by line of the text.
    tried: BTreeMap<usize, Tried<'a>>,
    /// Opcodes of which `s_nop 0` stands in place.
    absent: Vec<String>,
}

/// An instruction of a function, and LLVM's view of it.
struct Tried<'a> {
    inst: &'a McInst,
    step: &'a Step<'a>,
}

/// Has SGPRs of which a function says nothing stand for TTMP registers, as long as there are any.
///
/// LLVM 22's pass against hazards of SGPRs gives all TTMP registers the number of `s0` (their pseudo
/// registers have no encoding), and waits before what reads one for what was written to `s0`. Programs write
/// to none, so no hazard is lost.
fn name_trap_registers(lines: &mut [Vec<String>]) {
    let names = |line: &str| -> Vec<String> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        line.split(|c: char| !is_name(c)).map(str::to_owned).collect()
    };
    let mentioned: BTreeSet<String> = lines.iter().flatten().flat_map(|line| names(line)).collect();
    let named: BTreeSet<&str> = mentioned.iter().flat_map(|name| name.split('_')).collect();
    let free = (0..amdgpu_isa::scalar::VCC).rev().map(|number| format!("sgpr{number}"));
    let free = free.filter(|name| !named.contains(name.as_str()));
    let ttmps = mentioned.iter().rev().filter(|name| name.starts_with("ttmp") && !name.contains('_'));
    for (ttmp, sgpr) in ttmps.zip(free) {
        for line in lines.iter_mut().flatten().filter(|line| line.contains(ttmp)) {
            *line = line.replace(&format!("${ttmp},"), &format!("${sgpr},"));
            if let Some(head) = line.strip_suffix(&format!("${ttmp}")) {
                *line = format!("{head}${sgpr}");
            }
        }
    }
}

/// The line that the parser complains of: `error: <stdin>:9:23: …`.
fn line_number(error: &str) -> Option<usize> {
    let (_, place) = error.split_once("error: <stdin>:")?;
    place.split(':').next()?.parse().ok()
}

/// Registers as machine IR names them, those that are written marked.
fn explicit_operands(inst: &McInst, step: &Step<'_>, target: Option<usize>, null: &str) -> Vec<String> {
    let mut operands: Vec<String> = Vec::new();
    // Of two operations in one instruction, LLVM has both results first.
    let written = if inst.opcode.starts_with("V_DUAL_") { 2 } else { step.written };
    for (index, operand) in inst.operands.iter().enumerate() {
        operands.push(match operand {
            McOperand::Register(name) if name.is_empty() || name == "NoRegister" => "$noreg".to_owned(),
            McOperand::Register(name) => {
                let name = name.to_lowercase();
                let name = Some(strip(&name)).filter(|&name| name != "sgpr_null").unwrap_or(null);
                if index < written { format!("def ${name}") } else { format!("${name}") }
            }
            // The disassembler does not extend the sign of 16-bit immediates.
            McOperand::Immediate(value)
                if ["K_I32", "S_SETREG"].iter().any(|name| inst.opcode.contains(name)) =>
            {
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
const SUFFIXES: [&str; 16] = [
    "_vi",
    "_gfx9",
    "_gfx90a",
    "_gfx940",
    "_gfx950",
    "_gfx9plus",
    "_gfxpre11",
    "_gfx11plus",
    "_gfx11",
    "_gfx12",
    "_gfx10plus",
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

/// Opcodes of RDNA that begin otherwise than their pseudo instructions, which are named as GFX9's are.
const RENAMED: [(&str, &str); 12] = [
    ("V_ADD_NC_", "V_ADD_"),
    ("V_SUB_NC_", "V_SUB_"),
    ("V_SUBREV_NC_", "V_SUBREV_"),
    ("V_ADD_CO_CI_", "V_ADDC_"),
    ("V_SUB_CO_CI_", "V_SUBB_"),
    ("V_SUBREV_CO_CI_", "V_SUBBREV_"),
    ("S_LOAD_B32_", "S_LOAD_DWORD_"),
    ("S_LOAD_B64_", "S_LOAD_DWORDX2_"),
    ("S_LOAD_B128_", "S_LOAD_DWORDX4_"),
    ("S_LOAD_B256_", "S_LOAD_DWORDX8_"),
    ("S_LOAD_B512_", "S_LOAD_DWORDX16_"),
    ("V_CVT_PK_RTZ_", "V_CVT_PKRTZ_"),
];

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
    let renamed = RENAMED.iter().find_map(|(new, old)| Some(format!("{old}{}", bare.strip_prefix(new)?)));
    names.extend(renamed);
    // Comparisons that write EXEC alone, and not a scalar register as well.
    if let Some((of, encoding)) = bare.rsplit_once('_').filter(|_| bare.starts_with("V_CMPX_")) {
        names.push(format!("{of}_nosdst_{encoding}"));
    }
    names.extend([bare.to_owned(), format!("{bare}_e64"), format!("{bare}_gfx9"), opcode.to_owned()]);
    // Reads and writes of single lanes have one encoding alone.
    names.extend(bare.strip_suffix("_e64").map(str::to_owned));
    names
}

/// Implicit operands that most instructions of a kind have. The recognizer does not mind those of them that
/// one does not have.
fn usual_implicit(name: &str) -> impl Iterator<Item = &'static str> {
    let usual: &[_] = if name.starts_with("V_") { &["implicit $mode", "implicit $exec"] } else { &[] };
    usual.iter().copied()
}

/// `missing implicit register operand 'implicit $exec'`.
fn missing_operand(error: &str) -> Option<String> {
    let (_, rest) = error.split_once("missing implicit register operand '")?;
    Some(rest.split_once('\'')?.0.to_owned())
}

/// Aligns LLVM's output with its input. Of waits that stand one behind the other, none tells which LLVM
/// added: what there are more of counts for the instruction behind them, or, at the end of a block, for the
/// last one of it. A wait for results that stands there already is none more: behind writes of lane masks
/// LLVM puts one without looking.
fn compare(output: &str, input: &[Vec<String>]) -> Result<Vec<Vec<u32>>> {
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
    if written.len() != input.len() {
        bail!("{} blocks went in, {} came out", input.len(), written.len());
    }
    input.iter().zip(written).map(|(before, after)| compare_block(before, &after)).collect()
}

fn compare_block(before: &[String], after: &[&str]) -> Result<Vec<u32>> {
    let mut lines = after.iter();
    let mut added = Vec::with_capacity(before.len());
    let (mut own, mut found) = (Waits::default(), Waits::default());
    for line in before {
        if own.take(line) {
            added.push(0);
            continue;
        }
        loop {
            let Some(next) = lines.next() else { bail!("fewer instructions came out than went in") };
            if found.take(next) {
                continue;
            }
            match opcode(next) {
                same if same == opcode(line) => break,
                // Of a register to itself, or of anything to none; and a wait for stores.
                "V_MOV_B32_e32" | "S_MOV_B32" | "S_WAITCNT_VSCNT" => found.states += 1,
                _ => bail!("`{next}` came out, which did not go in"),
            }
        }
        added.push(std::mem::take(&mut found).more_than(&std::mem::take(&mut own))?);
    }
    if let Some(line) = lines.find(|line| !found.take(line)) {
        bail!("`{line}` came out, which did not go in");
    }
    let behind = found.more_than(&own)?;
    match added.last_mut() {
        Some(last) => *last += behind,
        None if behind > 0 => bail!("waits came out, where nothing went in"),
        None => {}
    }
    Ok(added)
}

/// Waits that stand one behind the other.
#[derive(Debug, Default)]
struct Waits<'a> {
    /// Wait states, those of what only comes between included.
    states: u32,
    /// Waits for results.
    results: Vec<&'a str>,
}

impl<'a> Waits<'a> {
    /// Takes a line, if it is a wait.
    fn take(&mut self, line: &'a str) -> bool {
        match opcode(line) {
            "S_NOP" => {
                let count = line.strip_prefix("S_NOP ").and_then(|count| count.trim().parse::<u32>().ok());
                self.states += count.unwrap_or(0) + 1;
            }
            "V_NOP_e32" => self.states += 1,
            "S_WAITCNT_DEPCTR" => self.results.push(line.trim()),
            _ => return false,
        }
        true
    }

    /// How many more there are than went in. One that LLVM has made wait for more is one more.
    fn more_than(&self, own: &Self) -> Result<u32> {
        let not_in =
            |these: &[&str], others: &[&str]| these.iter().filter(|wait| !others.contains(wait)).count();
        let (lost, results) = (not_in(&own.results, &self.results), not_in(&self.results, &own.results));
        if self.states < own.states || lost > results {
            bail!("{own:?} went in, {self:?} came out");
        }
        Ok(self.states - own.states + results as u32)
    }
}

/// The opcode in a line of machine IR, which is all that begins with a capital letter.
fn opcode(line: &str) -> &str {
    line.split(' ').find(|word| word.starts_with(|letter: char| letter.is_ascii_uppercase())).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(before: &[&str], after: &[&str]) -> Result<Vec<u32>> {
        let before: Vec<String> = before.iter().map(|&line| line.to_owned()).collect();
        compare_block(&before, after)
    }

    #[test]
    fn what_llvm_adds_is_found() {
        let before =
            ["V_MOV_B32_e32 def $vgpr0, $vgpr1, implicit $exec", "S_WAITCNT_DEPCTR 3999", "S_ENDPGM 0"];
        let mov = "$vgpr0 = V_MOV_B32_e32 $vgpr1, implicit $exec";
        assert_eq!(added(&before, &[mov, "S_WAITCNT_DEPCTR 3999", "S_ENDPGM 0"]).unwrap(), [0, 0, 0]);
        let more = ["S_NOP 1", mov, "S_WAITCNT_DEPCTR 1", "S_WAITCNT_DEPCTR 3999", "S_ENDPGM 0", "V_NOP_e32"];
        assert_eq!(added(&before, &more).unwrap(), [2, 0, 2]);
        let twice = [mov, "S_WAITCNT_DEPCTR 3999", "S_WAITCNT_DEPCTR 3999", "S_ENDPGM 0"];
        assert_eq!(added(&before, &twice).unwrap(), [0, 0, 0], "it waits already");
        assert_eq!(
            added(&before, &[mov, "S_WAITCNT_DEPCTR 0", "S_ENDPGM 0"]).unwrap(),
            [0, 0, 1],
            "for more"
        );
        assert!(added(&before, &[mov, "S_ENDPGM 0"]).is_err(), "a wait is gone");
        assert!(added(&before, &[mov, "S_WAITCNT_DEPCTR 3999"]).is_err(), "an instruction is gone");
        assert!(added(&before, &[mov, "S_WAITCNT_DEPCTR 3999", "S_TRAP 2", "S_ENDPGM 0"]).is_err());
    }

    #[test]
    fn a_move_that_parts_others_is_one_wait() {
        let before = ["V_PERMLANE16_B32_e64 def $vgpr0, 0, $vgpr1"];
        let after = ["$vgpr1 = V_MOV_B32_e32 killed $vgpr1", "$vgpr0 = V_PERMLANE16_B32_e64 0, $vgpr1"];
        assert_eq!(added(&before, &after).unwrap(), [1]);
    }

    #[test]
    fn free_sgprs_stand_for_ttmp_registers() {
        let lines = [
            "S_MUL_I32 def $sgpr105, $sgpr104, $ttmp9",
            "S_AND_B32 def $sgpr102_sgpr103, $ttmp1, 65535, implicit-def $scc",
            "S_MOV_B32 def $sgpr1, $ttmp10",
        ];
        let mut lines = [lines.map(str::to_owned).to_vec()];
        name_trap_registers(&mut lines);
        let wanted = [
            "S_MUL_I32 def $sgpr105, $sgpr104, $sgpr101",
            "S_AND_B32 def $sgpr102_sgpr103, $sgpr99, 65535, implicit-def $scc",
            "S_MOV_B32 def $sgpr1, $sgpr100",
        ];
        assert_eq!(lines[0], wanted);
    }

    #[test]
    fn pseudo_instructions_are_named_as_those_of_gfx9() {
        let first = |opcode| pseudo_names(opcode).remove(0);
        assert_eq!(first("V_ADD_NC_U32_e32_gfx11"), "V_ADD_U32_e32");
        assert_eq!(first("S_LOAD_B64_IMM_gfx11"), "S_LOAD_DWORDX2_IMM");
        assert_eq!(first("V_CMPX_GT_F32_e32_gfx11"), "V_CMPX_GT_F32_nosdst_e32");
        assert_eq!(first("V_ADD_U32_e32_gfx9"), "V_ADD_U32_e32");
        assert!(pseudo_names("V_READLANE_B32_e64_gfx11").contains(&"V_READLANE_B32".to_owned()));
    }
}
