//! `cargo xtask corpus hazard-pairs`: the rules of wait states, one pair of instructions after the other,
//! against LLVM's.
//!
//! Every instruction that is inserted in some way ([`super::ways`]) is put right before and right behind
//! every opcode of the processor, with registers that the one writes and the other reads, both write, or the
//! second writes after the first has read them. LLVM's hazard recognizer tells how many wait states it adds;
//! the rewriter's rules must ask for as many. XNACK is off: with it LLVM also parts memory instructions in a
//! row, but insertions neither begin nor end with one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use amdgpu_isa::{Access, Arch, Flow, Inst, Slot, Value, decode, opcodes};
use amdgpu_object::CodeObject;
use amdinst_core::analysis::program::Program;
use amdinst_core::instrument::{InstrumentError, Neighbour, apply, plan, wait_states};
use anyhow::{Context as _, Result};

use super::mcinst::McInsts;
use super::mir::{Block, Recognizer, Step};
use super::{inserted, source, ways, written};

/// Options of `cargo xtask corpus hazard-pairs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only this processor
    #[arg(long, value_name = "CPU")]
    target_cpu: Option<Arch>,
    /// One opcode of so many
    #[arg(long, value_name = "N", default_value_t = 1)]
    every: usize,
}

/// Processors that differ in their rules for wait states.
pub(super) const CPUS: [Arch; 6] =
    [Arch::Gfx900, Arch::Gfx906, Arch::Gfx908, Arch::Gfx90a, Arch::Gfx942, Arch::Gfx950];

/// Pairs that LLVM is given at once.
const BATCH: usize = 4000;

/// Compares. `Ok(false)` when LLVM asks for more wait states than the rules somewhere.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let mut is_enough = true;
    for arch in CPUS.into_iter().filter(|arch| options.target_cpu.is_none_or(|only| only == *arch)) {
        let tally = compare(arch, options.every)?;
        println!(
            "{arch}: {} inserted instructions, {} others, {} pairs; LLVM asks for wait states in {}, for more than the rules in {}, \
             for fewer in {}",
            tally.inserted,
            tally.others,
            tally.pairs,
            tally.hazards,
            tally.too_few.values().map(|(count, _)| count).sum::<usize>(),
            tally.too_many.values().map(|(count, _)| count).sum::<usize>()
        );
        for (which, found) in [("too few", &tally.too_few), ("too many", &tally.too_many)] {
            for ((inserted, place, llvm, ours), (count, example)) in found {
                println!(
                    "    {which}: {ours} instead of {llvm}, {count} times {place} {inserted}: {example}"
                );
            }
        }
        if !tally.missing.is_empty() {
            let names: Vec<&str> = tally.missing.iter().map(String::as_str).collect();
            println!("    {} not translated: {}", names.len(), names.join(", "));
        }
        is_enough &= tally.too_few.is_empty();
    }
    Ok(is_enough)
}

/// What differs: the inserted instruction's mnemonic, where the other one stands, LLVM's wait states and
/// those of the rules. How often, and an example.
type Differences = BTreeMap<(String, &'static str, u32, u32), (usize, String)>;

/// What was compared.
#[derive(Debug, Default)]
pub(super) struct Tally {
    inserted: usize,
    others: usize,
    pub(super) pairs: usize,
    /// Pairs between which LLVM adds wait states.
    pub(super) hazards: usize,
    pub(super) too_few: Differences,
    too_many: Differences,
    /// Mnemonics of what could not be translated for LLVM's recognizer.
    pub(super) missing: BTreeSet<String>,
}

/// Registers of an instruction: the first of those that it writes, and of those that it only reads. Scalar
/// ones begin a quarter as far on, at s16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    writes: u8,
    reads: u8,
}

/// Registers of the first and of the second instruction: the second reads what the first writes, both write
/// the same, the second writes what the first reads, and all are the same.
const OVERLAPS: [[Placed; 2]; 4] = [
    [Placed { writes: 0, reads: 64 }, Placed { writes: 128, reads: 0 }],
    [Placed { writes: 0, reads: 64 }, Placed { writes: 0, reads: 128 }],
    [Placed { writes: 64, reads: 0 }, Placed { writes: 0, reads: 128 }],
    [Placed { writes: 0, reads: 0 }, Placed { writes: 0, reads: 0 }],
];

/// An instruction with its bytes.
#[derive(Clone, Debug)]
struct Coded {
    inst: Inst,
    bytes: Vec<u8>,
}

impl Coded {
    /// The instruction with other registers; as it is where it cannot have those.
    fn placed(arch: Arch, inst: &Inst, at: Placed) -> Option<Self> {
        let mut moved = inst.clone();
        for operand in moved.operands.iter_mut().filter(|operand| operand.slot != Slot::Implied) {
            let base = if operand.access == Access::Read { at.reads } else { at.writes };
            operand.value = match operand.value {
                Value::Vgpr(_) => Value::Vgpr(base),
                Value::Agpr(_) => Value::Agpr(base),
                Value::Scalar(0..=101) => Value::Scalar(16 + base / 4),
                other => other,
            };
        }
        Self::new(arch, &moved).or_else(|| Self::new(arch, inst))
    }

    fn new(arch: Arch, inst: &Inst) -> Option<Self> {
        let bytes: Vec<u8> = inst.encode(arch).ok()?.iter().flat_map(|word| word.to_le_bytes()).collect();
        // What the operands say of one another may have changed with them.
        Some(Self { inst: decode(arch, &bytes).ok()?, bytes })
    }
}

/// Compares the rules of a processor with LLVM's, with one of `every` opcodes.
pub(super) fn compare(arch: Arch, every: usize) -> Result<Tally> {
    let inserted = inserted_instructions(arch)?;
    let others: Vec<Inst> = opcodes(arch)
        .step_by(every)
        .filter_map(|opcode| opcode.plain().ok())
        .filter(|inst| inst.flow() == Flow::Next)
        .collect();
    let mut tally = Tally { inserted: inserted.len(), others: others.len(), ..Tally::default() };
    let (mut insts, mut recognizer) = (McInsts::new(arch.into()), Recognizer::new(arch.into(), false));
    let reset = Coded { inst: decode(arch, &RESET)?, bytes: RESET.to_vec() };
    insts.learn(std::iter::once(&reset.bytes[..]))?;
    let mut batch: Vec<Pair> = Vec::new();
    for new in &inserted {
        for other in &others {
            for [first, second] in OVERLAPS {
                for place in [Neighbour::Before, Neighbour::Behind] {
                    let [of_new, of_other] = match place {
                        Neighbour::Before => [second, first],
                        Neighbour::Behind => [first, second],
                    };
                    let coded = Coded::placed(arch, new, of_new).zip(Coded::placed(arch, other, of_other));
                    batch.extend(coded.map(|(new, other)| Pair { new, other, place }));
                }
            }
            if batch.len() >= BATCH {
                judge(arch, &mut insts, &mut recognizer, &reset, &std::mem::take(&mut batch), &mut tally)?;
            }
        }
    }
    judge(arch, &mut insts, &mut recognizer, &reset, &batch, &mut tally)?;
    Ok(tally)
}

/// `s_nop 7`: three of them are as long as any wait.
const RESET: [u8; 4] = 0xbf80_0007_u32.to_le_bytes();

/// An inserted instruction and another one, which stands before it or behind it.
struct Pair {
    new: Coded,
    other: Coded,
    place: Neighbour,
}

impl Pair {
    fn in_order(&self) -> [&Coded; 2] {
        match self.place {
            Neighbour::Before => [&self.other, &self.new],
            Neighbour::Behind => [&self.new, &self.other],
        }
    }
}

fn judge(
    arch: Arch,
    insts: &mut McInsts,
    recognizer: &mut Recognizer,
    reset: &Coded,
    pairs: &[Pair],
    tally: &mut Tally,
) -> Result<()> {
    insts.learn(pairs.iter().flat_map(|pair| pair.in_order()).map(|coded| &coded.bytes[..]))?;
    let step =
        |coded: &Coded| Step { inst: insts.get(&coded.bytes), written: written(&coded.inst), target: None };
    // What LLVM takes for no instruction is no side of a pair, nor is what cannot be translated.
    let mut known = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let mut is_known = true;
        for coded in pair.in_order() {
            if !recognizer.knows(&step(coded))? {
                tally.missing.insert(coded.inst.text(arch).split(' ').next().unwrap_or_default().to_owned());
                is_known = false;
            }
        }
        known.extend(is_known.then_some(pair));
    }
    let pairs = known;
    let mut block = Block::default();
    for pair in &pairs {
        block.steps.extend([reset; 3].map(step));
        block.steps.extend(pair.in_order().map(step));
    }
    let states = recognizer
        .missing_states(&[block], false, &mut HashMap::new())
        .with_context(|| format!("pairs on {arch}"))?
        .concat();
    for (pair, states) in pairs.iter().zip(states.chunks(5)) {
        let &[.., llvm] = states else { continue };
        let ours = wait_states(arch, &pair.new.inst, &pair.other.inst, pair.place);
        tally.pairs += 1;
        tally.hazards += usize::from(llvm > 0);
        let differences = match ours.cmp(&llvm) {
            std::cmp::Ordering::Less => &mut tally.too_few,
            std::cmp::Ordering::Equal => continue,
            std::cmp::Ordering::Greater => &mut tally.too_many,
        };
        let place = if pair.place == Neighbour::Before { "before" } else { "behind" };
        let key = (pair.new.inst.op.name().to_owned(), place, llvm, ours);
        let example = || pair.in_order().map(|coded| coded.inst.text(arch)).join("; ");
        differences.entry(key).or_insert_with(|| (0, example())).0 += 1;
    }
    Ok(())
}

/// Every instruction that is inserted into kernels of all sorts, each once but for its registers.
fn inserted_instructions(arch: Arch) -> Result<Vec<Inst>> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for level in ["-O0", "-O2"] {
        let object = source::compile(arch.into(), level)?;
        for way in ways() {
            let instrumented = match apply(&object, plan(&object, &way)?) {
                Ok(instrumented) => instrumented,
                Err(InstrumentError::NothingInstrumented(_)) => continue,
                Err(error) => return Err(error.into()),
            };
            let program = Program::new(&CodeObject::parse(instrumented.bytes)?);
            for (index, located) in program.insts.iter().enumerate() {
                let inst = program.inst(index);
                if !located.goes_on || !inserted(&instrumented.map.addresses, located.pc) {
                    continue;
                }
                // Registers, offsets and lanes aside.
                let shape = inst.text(arch).replace(|letter: char| letter.is_ascii_hexdigit(), "");
                if seen.insert((inst.op.name(), inst.encoding, shape)) {
                    found.push(inst.clone());
                }
            }
        }
    }
    Ok(found)
}
