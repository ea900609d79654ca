//! `cargo xtask corpus hazards`: wait states and waits in instrumented code, judged by LLVM's hazard
//! recognizer.
//!
//! Each kernel, with all it calls, is instrumented in every way that inserts other code ([`ways`]) and
//! translated to machine IR, whole, so that LLVM sees every path to an inserted instruction and from it. LLVM
//! may add nothing to an insertion. Before an original instruction it may add no more than it adds in the
//! original.

mod mcinst;
mod mir;
pub(super) mod pairs;
mod source;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use amdgpu_isa::{Access, FeatureState, Flow, Inst, Op, Slot, Target};
use amdgpu_object::{CodeObject, container};
use amdinst_core::analysis::program::{Function, Program};
use amdinst_core::counters::SiteForm;
use amdinst_core::instrument::{
    Abi, AddressMap, Cost, Counters, Home, InstrumentError, KernelProbes, Level, Options as Instrument,
    Probe, apply, plan,
};
use anyhow::{Context as _, Result};

use mcinst::McInsts;
use mir::{Block, Recognizer, Step};

/// Options of `cargo xtask corpus hazards`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Code objects, bundles, or libraries that carry them
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Only code objects whose target has this in its name, for example gfx90a:xnack-
    #[arg(long, value_name = "TARGET")]
    target_cpu: Option<String>,
    /// Instructions of the largest function that is translated
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    largest: usize,
}

/// What was judged.
#[derive(Debug, Default)]
struct Tally {
    objects: usize,
    functions: usize,
    too_large: usize,
    instructions: usize,
    inserted: usize,
    /// Kernels, and sites with masks for counters, by what is inserted for them.
    shapes: BTreeMap<String, usize>,
    /// Ways in which nothing was instrumented, and why.
    refused: Vec<String>,
    /// Instructions that stood as `s_nop 0`, by opcode.
    missing: HashMap<String, usize>,
    /// Wait states that LLVM adds, for people.
    findings: Vec<String>,
}

/// Judges. `Ok(false)` when LLVM adds a wait state.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut judges: HashMap<(Target, bool), Judge> = HashMap::new();
    for file in &options.files {
        let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        for one in container::open(&bytes)? {
            let name = one.target_id().to_owned();
            if options.target_cpu.as_ref().is_some_and(|wanted| !name.contains(wanted)) {
                continue;
            }
            let Ok(object) = CodeObject::parse(one.bytes.to_vec()) else { continue };
            if object.target.arch.to_instrument().is_err() {
                continue;
            }
            let target = object.code_target();
            let replays = object.target.xnack != FeatureState::Off;
            let judge = judges
                .entry((target, replays))
                .or_insert_with(|| Judge::new(target, replays, options.largest));
            let tally = tallies.entry(format!("{name}{}", super::wave_suffix(target))).or_default();
            for way in ways() {
                judge.object(&object, &way, tally).with_context(|| format!("{} {name}", file.display()))?;
            }
        }
    }
    let mut findings = 0;
    for (target, tally) in &tallies {
        findings += tally.findings.len();
        println!(
            "{target}: {} instrumented code objects, {} functions ({} too large), {} instructions, {} of them inserted; {} places where LLVM adds wait states",
            tally.objects,
            tally.functions,
            tally.too_large,
            tally.instructions,
            tally.inserted,
            tally.findings.len()
        );
        for finding in tally.findings.iter().take(20) {
            println!("    {finding}");
        }
        for (shape, count) in &tally.shapes {
            println!("    {count:>7} {shape}");
        }
        let mut missing: Vec<_> = tally.missing.iter().collect();
        missing.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
        for (name, count) in missing.iter().take(20) {
            println!("    not translated: {name}, {count} times");
        }
    }
    Ok(findings == 0)
}

/// Every shape of inserted code: each home at each level, with the address in a variable, and for blocks;
/// times in registers and in memory; and what is inserted where registers are short, so that sites borrow
/// SGPRs, lanes of VGPRs, or scratch memory.
fn ways() -> Vec<Instrument> {
    let levels = [Level::Basic, Level::Lanes];
    let homes = Home::ALL.map(Counters::from);
    let mut ways = Vec::new();
    for probe in [Probe::Branches, Probe::Blocks] {
        for counters in homes {
            ways.extend(levels.map(|level| Instrument { probe, counters, level, ..Instrument::default() }));
        }
        ways.extend(SHORT.map(|(counters, spare_vgprs, spare_sgprs)| Instrument {
            probe,
            counters,
            spare_vgprs,
            spare_sgprs,
            ..Instrument::default()
        }));
    }
    ways.extend(homes.map(|counters| Instrument { abi: Abi::Global, counters, ..Instrument::default() }));
    ways.extend([Counters::Register, Counters::Global].map(|counters| Instrument {
        probe: Probe::Time,
        counters,
        ..Instrument::default()
    }));
    ways
}

/// Homes, and the VGPRs and SGPRs that are left to them.
const SHORT: [(Counters, Option<u8>, Option<u8>); 7] = [
    // Counters in lanes of VGPRs.
    (Counters::Register, None, Some(0)),
    (Counters::Register, None, Some(4)),
    // Lanes of one VGPR in use, of two, and of two by way of scratch memory.
    (Counters::Lds, Some(1), None),
    (Counters::Global, Some(1), None),
    (Counters::Global, Some(0), None),
    (Counters::Lds, Some(0), Some(0)),
    (Counters::Global, Some(0), Some(0)),
];

/// A way of [`ways`], for people.
fn describe(way: &Instrument) -> String {
    let Instrument { probe, counters, abi, level, spare_vgprs, spare_sgprs, .. } = way;
    let mut text = format!("{probe:?} {counters:?} {level:?}");
    if *abi == Abi::Global {
        text.push_str(", by variable");
    }
    for (spare, what) in [(spare_vgprs, "VGPRs"), (spare_sgprs, "SGPRs")] {
        text.extend(spare.map(|spare| format!(", {spare} spare {what}")));
    }
    text
}

/// What is inserted for a kernel, and for sites of it that have masks for counters.
fn shapes(kernel: &KernelProbes) -> Vec<String> {
    let Some(home) = kernel.home else { return Vec::new() };
    let Cost { borrowed_sgprs, borrowed_vgprs, scratch: [before, after], .. } = kernel.cost;
    let mut text = format!("kernels, {:?} {}", kernel.probe, home.name());
    for (is_so, what) in [
        (borrowed_sgprs > 0, ", borrowed SGPRs"),
        (borrowed_vgprs > 0, ", borrowed lanes of VGPRs"),
        (after > before, ", by way of scratch memory"),
        (kernel.wave_ids.is_some(), ", record's place worked out later"),
    ] {
        text.push_str(if is_so { what } else { "" });
    }
    let forms = kernel.site_forms.iter().filter(|&&form| form != SiteForm::Counts);
    std::iter::once(text).chain(forms.map(|form| format!("sites, {form:?}"))).collect()
}

/// LLVM's tools for one processor, in waves of one size.
struct Judge {
    insts: McInsts,
    recognizer: Recognizer,
    largest: usize,
}

impl Judge {
    fn new(target: Target, replays: bool, largest: usize) -> Self {
        Self { insts: McInsts::new(target), recognizer: Recognizer::new(target, replays), largest }
    }

    fn object(&mut self, object: &CodeObject, way: &Instrument, tally: &mut Tally) -> Result<()> {
        let plan = plan(object, way)?;
        let instrumented = match apply(object, plan) {
            Ok(instrumented) => instrumented,
            Err(InstrumentError::NothingInstrumented(why)) => {
                tally.refused.push(format!("{}: {why}", describe(way)));
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        let rewritten = CodeObject::parse(instrumented.bytes)?;
        let (before, after) = (Program::new(object), Program::new(&rewritten));
        let bytes = |object: &CodeObject, pc: u64, size: u8| {
            object.bytes_at(pc, size.into()).unwrap_or_default().to_vec()
        };
        for (program, object) in [(&before, object), (&after, &rewritten)] {
            let all: Vec<Vec<u8>> =
                program.insts.iter().map(|located| bytes(object, located.pc, located.size)).collect();
            self.insts.learn(all.iter().map(Vec::as_slice))?;
        }
        tally.objects += 1;
        for shape in instrumented.map.kernels.iter().flat_map(shapes) {
            *tally.shapes.entry(shape).or_default() += 1;
        }
        let map = &instrumented.map.addresses;
        for function in &after.functions {
            let range = function.blocks.first().map(|block| block.insts.start)
                ..function.blocks.last().map(|block| block.insts.end);
            let (Some(first), Some(end)) = (range.start, range.end) else { continue };
            let is_inserted = |pc: u64| inserted(map, pc);
            let inserted = after.insts[first..end].iter().filter(|located| is_inserted(located.pc)).count();
            if inserted == 0 {
                continue;
            }
            if end - first > self.largest {
                tally.too_large += 1;
                continue;
            }
            let states = self.states(&after, function, &rewritten, tally)?;
            tally.functions += 1;
            tally.instructions += end - first;
            tally.inserted += inserted;
            if states.iter().flatten().all(|&states| states == 0) {
                continue;
            }
            // What LLVM would add in the original, by address.
            let mut original: HashMap<u64, u32> = HashMap::new();
            if let Some(function) = map
                .original(after.insts[first].pc)
                .and_then(|pc| before.function_at(pc))
                .map(|index| &before.functions[index])
            {
                let states = self.states(&before, function, object, &mut Tally::default())?;
                for (block, states) in function.blocks.iter().zip(states) {
                    original.extend(
                        block
                            .insts
                            .clone()
                            .zip(states)
                            .map(|(index, states)| (before.insts[index].pc, states)),
                    );
                }
            }
            for (block, states) in function.blocks.iter().zip(states) {
                for (index, states) in block.insts.clone().zip(states) {
                    let located = &after.insts[index];
                    let known = match is_inserted(located.pc) {
                        true => 0,
                        false => {
                            map.original(located.pc).and_then(|pc| original.get(&pc).copied()).unwrap_or(0)
                        }
                    };
                    if states > known {
                        tally.findings.push(format!(
                            "{}, `{}` at {:#x}: {states} wait states before `{}` ({known} in the original)",
                            describe(way),
                            function.name,
                            located.pc,
                            after.inst(index).text(after.target())
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// The wait states that LLVM adds before each instruction of a function, by block.
    fn states(
        &mut self,
        program: &Program,
        function: &Function,
        object: &CodeObject,
        tally: &mut Tally,
    ) -> Result<Vec<Vec<u32>>> {
        let insts = &self.insts;
        let blocks: Vec<Block<'_>> = function
            .blocks
            .iter()
            .map(|block| Block {
                steps: block
                    .insts
                    .clone()
                    .map(|index| {
                        let located = &program.insts[index];
                        let bytes = object.bytes_at(located.pc, located.size.into()).unwrap_or_default();
                        let target = match located.flow() {
                            Flow::Branch { offset } | Flow::CondBranch { offset, .. } => {
                                let to = located.end().wrapping_add_signed(offset.into());
                                let starts = |&other: &usize| {
                                    program.insts[function.blocks[other].insts.start].pc == to
                                };
                                block.successors.iter().copied().find(starts)
                            }
                            _ => None,
                        };
                        Step { inst: insts.get(bytes), written: written(program.inst(index)), target }
                    })
                    .collect(),
                successors: block.successors.to_vec(),
            })
            .collect();
        self.recognizer.missing_states(&blocks, function.kernel.is_some(), &mut tally.missing)
    }
}

/// How many operands an instruction writes by name; they come first.
fn written(inst: &Inst) -> usize {
    // LLVM has the register first that `s_setreg_b32` reads.
    if inst.op == Op::s_setreg_b32 {
        return 0;
    }
    let named = inst.operands.iter().filter(|operand| operand.slot != Slot::Implied);
    named.take_while(|operand| operand.access != Access::Read).count()
}

/// Whether the code at an address was inserted.
fn inserted(map: &AddressMap, pc: u64) -> bool {
    let index = map.runs.partition_point(|run| run.new <= pc);
    index.checked_sub(1).is_some_and(|index| map.runs[index].inserted)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use amdgpu_isa::{Arch, Feature, WaveSize};

    use super::*;

    fn tools_are_there() -> bool {
        for tool in ["clang-22", "ld.lld-22", "llc-22", "llvm-mc-22"] {
            if Command::new(tool).arg("--version").output().is_err() {
                let message = format!("{tool} is not installed (apt-get install clang-22 lld-22 llvm-22)");
                assert!(
                    std::env::var_os("AMDINST_REQUIRE_TOOLS").is_none_or(|value| value != "1"),
                    "{message}"
                );
                eprintln!("SKIPPED: {message}");
                return false;
            }
        }
        true
    }

    /// Has what is inserted into a code object, in each way, judged.
    fn judged(object: &CodeObject, target: Target) -> Tally {
        let mut judge = Judge::new(target, true, usize::MAX);
        let mut tally = Tally::default();
        for way in ways() {
            let name = target.arch.name();
            judge.object(object, &way, &mut tally).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        }
        tally
    }

    /// Processors of RDNA that differ in their hazards, and those of them that have the most.
    const RDNA: [Arch; 5] = [Arch::Gfx1010, Arch::Gfx1030, Arch::Gfx1100, Arch::Gfx1150, Arch::Gfx1201];
    const FEWER: [Arch; 2] = [Arch::Gfx1010, Arch::Gfx1201];
    /// In waves of 64 lanes.
    const FEWER_OF_64: [Arch; 1] = [Arch::Gfx1100];

    const fn wave32(arch: Arch) -> Target {
        Target { arch, wave: WaveSize::Wave32 }
    }

    const fn wave64(arch: Arch) -> Target {
        Target { arch, wave: WaveSize::Wave64 }
    }

    #[test]
    fn llvm_parts_no_inserted_memory_instructions_from_others() {
        if !tools_are_there() {
            return;
        }
        for arch in [Arch::Gfx900, Arch::Gfx90a, Arch::Gfx942] {
            let object = source::assemble(arch.into()).unwrap_or_else(|error| panic!("{arch}: {error:#}"));
            let tally = judged(&object, arch.into());
            assert_eq!(tally.findings, [""; 0], "{arch}");
            assert!(tally.objects >= 20, "{arch}: {tally:?}");
        }
    }

    /// Vector instructions write and read the same registers before and behind sites, so that what is
    /// inserted stands between; LLVM adds nothing in the original.
    #[test]
    fn llvm_adds_no_waits_beside_sites_of_rdna() {
        if !tools_are_there() {
            return;
        }
        let each = |arch| [wave32(arch), wave64(arch)];
        for target in [Arch::Gfx1010, Arch::Gfx1030, Arch::Gfx1100, Arch::Gfx1201].into_iter().flat_map(each)
        {
            let object = source::assemble(target).unwrap_or_else(|error| panic!("{target:?}: {error:#}"));
            let tally = judged(&object, target);
            assert_eq!(tally.findings, [""; 0], "{target:?}");
            assert_eq!(tally.missing, HashMap::new(), "{target:?}: not translated");
            assert!(tally.objects >= 20, "{target:?}: {tally:?}");
        }
    }

    /// The judge sees what it is there for: where a wait is missing, LLVM adds it, on the processors of which
    /// we know that they need it.
    #[test]
    fn llvm_adds_waits_where_they_are_missing() {
        if !tools_are_there() {
            return;
        }
        let cases = |arch: Arch| {
            [
                (wave32(arch), source::TRANS_USE, Feature::TransUseHazard),
                (wave64(arch), source::TRANS_USE, Feature::TransUseHazard),
                (wave64(arch), source::PARTIAL_FORWARDING, Feature::PartialForwardingHazard),
                (wave64(arch), source::MASK_WRITE, Feature::MaskWriteHazard),
            ]
        };
        let overtaken = |arch: Arch| {
            [
                (wave32(arch), source::MEMORY_READ, Feature::MemoryReadHazard),
                (wave64(arch), source::SCALAR_LOAD, Feature::ScalarLoadHazard),
                (wave32(arch), source::COMPARE_EXEC, Feature::CompareExecHazard),
                (wave64(arch), source::COMPARE_EXEC, Feature::CompareExecHazard),
                (wave32(arch), source::LDS_BRANCH, Feature::LdsBranchHazard),
            ]
        };
        let read_later = |arch: Arch| {
            let texts = [source::SCALAR_RESULT, source::VECTOR_RESULT, source::VCC_RESULT];
            [wave32(arch), wave64(arch)]
                .into_iter()
                .flat_map(move |target| texts.map(|text| (target, text, Feature::ScalarReadHazard)))
        };
        let of_gfx12 = [Arch::Gfx1200, Arch::Gfx1201].into_iter().flat_map(read_later);
        let of_gfx11 = [Arch::Gfx1100, Arch::Gfx1150].into_iter().flat_map(cases);
        let of_gfx10 = [Arch::Gfx1010, Arch::Gfx1012, Arch::Gfx1030].into_iter().flat_map(overtaken);
        for (target, text, feature) in of_gfx12.chain(of_gfx11).chain(of_gfx10) {
            let object = source::assemble_text(target, text).expect("it assembles");
            let program = Program::new(&object);
            assert_eq!(program.target(), target);
            let mut judge = Judge::new(target, true, usize::MAX);
            let bytes = program.insts.iter().map(|located| object.bytes_at(located.pc, located.size.into()));
            judge.insts.learn(bytes.flatten()).expect("LLVM's view");
            let mut tally = Tally::default();
            let states =
                judge.states(&program, &program.functions[0], &object, &mut tally).expect("its opinion");
            let added: u32 = states.iter().flatten().sum();
            assert_eq!(added, u32::from(target.arch.has(feature)), "{target:?}: {text}");
            assert_eq!(tally.missing, HashMap::new(), "{target:?}: not translated");
        }
    }

    /// One in many of the pairs that `cargo xtask corpus hazard-pairs` compares.
    #[test]
    fn rules_ask_for_as_many_wait_states_as_llvm_between_pairs() {
        if !tools_are_there() {
            return;
        }
        // It has the most rules.
        let tally = pairs::compare(Arch::Gfx950, 101).expect("a comparison");
        assert!(tally.too_few.is_empty(), "{:#?}", tally.too_few);
        assert!(tally.pairs > 5000 && tally.hazards > 100, "{tally:?}");
    }

    /// Judges what is inserted into kernels of all sorts in every shape that there is, at each level of
    /// optimisation.
    fn judge_every_shape(target: Target, levels: &[&str]) {
        for &level in levels {
            let name = format!("{target:?} {level}");
            let object = source::compile(target, level).unwrap_or_else(|error| panic!("{name}: {error:#}"));
            let tally = judged(&object, target);
            assert_eq!(tally.findings, [""; 0], "{name}");
            assert_eq!(tally.missing, HashMap::new(), "{name}: not translated");
            assert!(tally.objects >= 20 && tally.inserted > 1000, "{name}: {tally:?}");
            let shapes = |word: &str| tally.shapes.keys().any(|shape| shape.contains(word));
            let always = ["Branches", "Blocks", "Time", "borrowed lanes of VGPRs", "worked out later"];
            // Without optimisation nothing is known of how often a site runs, and few registers are live:
            // sites have what they need to go through scratch memory.
            let of_level: &[&str] = match level {
                "-O2" => &["borrowed SGPRs", "Masks", "Start", "Next"],
                _ => &["scratch memory"],
            };
            let wanted = always.iter().chain(of_level);
            let absent: Vec<_> = wanted.filter(|word| !shapes(word)).collect();
            assert!(absent.is_empty(), "{name}: {absent:?} in none of {:#?}", tally.shapes);
        }
    }

    /// With `AMDINST_HAZARD_TARGETS=all` tests judge each generation, also without optimisation, which takes
    /// minutes.
    fn all_targets() -> bool {
        std::env::var("AMDINST_HAZARD_TARGETS").is_ok_and(|value| value == "all")
    }

    #[test]
    fn llvm_adds_no_wait_states_to_any_shape_of_inserted_code() {
        if !tools_are_there() {
            return;
        }
        match all_targets() {
            true => pairs::CPUS.iter().for_each(|&arch| judge_every_shape(arch.into(), &["-O0", "-O2"])),
            false => judge_every_shape(Arch::Gfx90a.into(), &["-O2"]),
        }
    }

    #[test]
    fn llvm_adds_no_waits_to_any_shape_of_code_for_waves_of_32_lanes() {
        if !tools_are_there() {
            return;
        }
        match all_targets() {
            true => RDNA.iter().for_each(|&arch| judge_every_shape(wave32(arch), &["-O0", "-O2"])),
            false => FEWER.iter().for_each(|&arch| judge_every_shape(wave32(arch), &["-O2"])),
        }
    }

    #[test]
    fn llvm_adds_no_waits_to_any_shape_of_code_for_waves_of_64_lanes() {
        if !tools_are_there() {
            return;
        }
        match all_targets() {
            true => RDNA.iter().for_each(|&arch| judge_every_shape(wave64(arch), &["-O0", "-O2"])),
            false => FEWER_OF_64.iter().for_each(|&arch| judge_every_shape(wave64(arch), &["-O2"])),
        }
    }
}
