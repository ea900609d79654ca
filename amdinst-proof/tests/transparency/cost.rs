//! What a site execution costs: the instructions that the emulator runs beside the original ones.

use std::collections::BTreeMap;

use amdgpu_isa::{Logic, MaskOp, MemoryKind, Op, Reg};
use amdgpu_object::CodeObject;
use amdinst_core::analysis::liveness::Liveness;
use amdinst_core::analysis::program::Program;
use amdinst_core::counters::decode;
use amdinst_core::instrument::{Counters, Level, Options, apply, plan};

use super::kernels::{self, Kernel};
use super::prelude::with_prelude;
use super::proof::{Geometry, KERNEL, fresh, launch};
use crate::support::compile;

/// Columns of the second table.
const RDNA: [&str; 6] =
    ["gfx1030", "gfx1030:wave64", "gfx1100", "gfx1100:wave64", "gfx1201", "gfx1201:wave64"];

/// By home and level, what site executions cost.
type Costs = BTreeMap<(&'static str, &'static str), Cost>;

/// Measures the rows of the tables of costs at the head of `instrument/emit/site.rs`: one for gfx90a, and one
/// for RDNA.
pub(crate) fn tables() -> Vec<String> {
    let row = |((home, level), cost): (&(&str, &str), &Cost)| format!("| {home} | {level} | {cost} |");
    let first: Vec<String> = costs("gfx90a").iter().map(row).collect();
    let columns = RDNA.map(costs);
    let row = |&(home, level): &(&str, &str)| {
        let cells = columns.iter().map(|costs| match costs.get(&(home, level)) {
            Some(cost) => format!("{}, {:.1}", cost.range(), cost.average()),
            None => String::new(),
        });
        format!("| {home} | {level} | {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    first.into_iter().chain(columns[0].keys().map(row)).collect()
}

/// What site executions cost on one processor. The kernels are the hand-written ones, and one with more sites
/// than SGPRs have room for.
fn costs(cpu: &str) -> Costs {
    let mut costs = Costs::new();
    let mut measure = |name: &str, source: &str, geometry| {
        let object = compile(&with_prelude(source), cpu, "-O2");
        for (level, level_name) in [(Level::Basic, "basic"), (Level::Lanes, "lanes")] {
            for counters in [Counters::Register, Counters::Lds, Counters::Global] {
                let context = format!("{name} {cpu} {counters:?} {level_name}");
                run(
                    &context,
                    &object,
                    geometry,
                    Options { counters, level, ..Options::default() },
                    |home, cost| {
                        costs.entry((home, level_name)).or_default().add(cost);
                    },
                );
            }
        }
    };
    for Kernel { name, source, geometry } in kernels::ALL {
        if !RDNA.contains(&cpu) || !crate::is_of_gfx9(source) {
            measure(name, source, *geometry);
        }
    }
    measure("many branches", &kernels::huge(40), Geometry::new([1, 1, 1], [64, 1, 1]));
    costs
}

/// The cost of site executions, over many sites.
#[derive(Clone, Debug)]
struct Cost {
    executions: u64,
    /// Instructions that sites ran.
    added: u64,
    /// Least and most instructions of a site execution.
    range: [u64; 2],
    /// Most operations on memory, and on LDS, of a site execution.
    memory: u64,
    lds: u64,
}

impl Default for Cost {
    fn default() -> Self {
        Self { executions: 0, added: 0, range: [u64::MAX, 0], memory: 0, lds: 0 }
    }
}

impl Cost {
    fn add(&mut self, other: &Self) {
        self.executions += other.executions;
        self.added += other.added;
        self.range = [self.range[0].min(other.range[0]), self.range[1].max(other.range[1])];
        self.memory = self.memory.max(other.memory);
        self.lds = self.lds.max(other.lds);
    }

    fn average(&self) -> f64 {
        self.added as f64 / self.executions as f64
    }

    fn range(&self) -> String {
        format!("{}-{}", self.range[0], self.range[1])
    }
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} | {:.1} | {} | {}", self.range(), self.average(), self.memory, self.lds)
    }
}

/// Runs a kernel as it is and instrumented, and shows what each site's executions cost, with the home that
/// was taken.
fn run(
    context: &str,
    object: &CodeObject,
    geometry: Geometry,
    options: Options,
    mut see: impl FnMut(&'static str, &Cost),
) {
    let plan = plan(object, &options).unwrap_or_else(|error| panic!("{context}: {error}"));
    let Ok(instrumented) = apply(object, plan) else { return };
    let Some(probes) = instrumented.map.kernel(KERNEL).filter(|probes| probes.is_instrumented()) else {
        return;
    };
    let rewritten = CodeObject::parse(instrumented.bytes.clone()).expect("the instrumented code object");

    let (mut machine, mut kernarg, _) = fresh(object);
    let original = launch(&mut machine.clone(), object, kernarg.clone(), geometry, false)
        .unwrap_or_else(|fault| panic!("{context}: {fault}"));
    let layout = probes.layout(geometry.grid, geometry.block);
    let buffer = machine.alloc(layout.buffer_size(), 16, "counters").expect("the counter buffer");
    machine.write(buffer, &layout.initial_buffer()).expect("writing the counter buffer");
    kernarg.resize(probes.kernarg_segment_size as usize, 0);
    probes.set_argument(&mut kernarg, &layout, buffer).expect("a buffer that the kernel reaches");
    let execution = launch(&mut machine, &rewritten, kernarg, geometry, true)
        .unwrap_or_else(|fault| panic!("{context}: {fault}"));
    let mut bytes = vec![0; layout.buffer_size() as usize];
    machine.read(buffer, &mut bytes).expect("reading the counter buffer");
    let records = decode(&bytes).unwrap_or_else(|error| panic!("{context}: {error}"));

    // What the emulator ran of the inserted code, by the original instruction that it belongs to.
    let code = Program::new(&rewritten);
    let runs = &instrumented.map.addresses.runs;
    let mut inserted: BTreeMap<u64, Vec<(u64, Op, Option<MemoryKind>)>> = BTreeMap::new();
    let mut all_inserted = 0;
    for step in &execution.steps {
        let run = &runs[runs.partition_point(|run| run.new <= step.pc) - 1];
        if run.inserted {
            all_inserted += step.executions;
            let inst = code.inst(code.at(step.pc).expect("an instruction"));
            let memory = inst.effects(code.arch).memory.map(|memory| memory.kind);
            inserted.entry(run.old).or_default().push((step.executions, inst.op, memory));
        }
    }
    // Nothing else was added, and nothing left out.
    assert_eq!(execution.wave_instructions, original.wave_instructions + all_inserted, "{context}");

    let in_sgprs = probes.why.starts_with("counters in SGPRs");
    let home = match probes.home.expect("a home").name() {
        "register" if in_sgprs => "register, SGPRs",
        "register" => "register, lanes of VGPRs",
        other => other,
    };
    let before = Program::new(object);
    let liveness = Liveness::new(&before);
    let entry = probes_entry(&before);
    for site in &probes.sites {
        let executions: u64 = records.iter().map(|record| record.sites[site.id as usize].executions).sum();
        // The prologue stands at the same instruction as the kernel's first.
        if executions == 0 || site.pc == entry {
            continue;
        }
        let ran = inserted.get(&site.pc).map_or(&[][..], Vec::as_slice);
        let count = |is_counted: &dyn Fn(&Op, Option<MemoryKind>) -> bool| {
            let counted = ran.iter().filter(|(_, op, memory)| is_counted(op, *memory));
            let sum: u64 = counted.map(|(executions, ..)| executions).sum();
            assert_eq!(sum % executions, 0, "{context}: every execution runs the same code");
            sum / executions
        };
        let added = count(&|_, _| true);
        let cost = Cost {
            executions,
            added: added * executions,
            range: [added; 2],
            memory: count(&|_, memory| memory.is_some_and(|kind| kind != MemoryKind::Lds)),
            lds: count(&|_, memory| memory == Some(MemoryKind::Lds)),
        };
        // What the plan says of it.
        let [least, most] = probes.cost.instructions_per_site.map(u64::from);
        assert!(
            (least..=most).contains(&added),
            "{context}: {added} at {:#x}, planned {least} to {most}",
            site.pc
        );
        assert_eq!(cost.memory, u64::from(probes.cost.memory_operations_per_site), "{context}");
        assert_eq!(cost.lds, u64::from(probes.cost.lds_operations_per_site), "{context}");
        if in_sgprs {
            let scalar = count(&|op, _| op.name().starts_with("s_"));
            assert_eq!(scalar, added, "{context}: {ran:?}");
            if options.level == Level::Basic && keeps_old(&before, &liveness, site.pc) {
                // One more where all lanes may be gone before the site, and waits where vector instructions
                // have read the registers.
                let selects = count(&|op, _| op.mask_op(code.wave_size()) == Some(MaskOp::Select));
                let waits = count(&|op, _| *op == Op::s_waitcnt_depctr);
                assert!(
                    added <= 4 + selects + waits && selects <= 1,
                    "{context}: {added} instructions at {:#x}: {ran:?}",
                    site.pc
                );
            }
        }
        see(home, &cost);
    }
}

/// The address of the kernel's first instruction.
fn probes_entry(program: &Program) -> u64 {
    let kernels = program.functions.iter().filter(|function| function.kernel.is_some());
    kernels.into_iter().find(|function| &*function.name == KERNEL).map_or(0, |function| function.range.start)
}

/// Whether the instruction at `pc` saves the old mask itself, and nobody reads SCC after it.
fn keeps_old(program: &Program, liveness: &Liveness, pc: u64) -> bool {
    let inst = program.at(pc).expect("an instruction");
    let function = program.function_at(pc).expect("a function");
    let blocks = &program.functions[function].blocks;
    let block = blocks.iter().position(|block| block.insts.contains(&inst)).expect("a block");
    let (_, after) = liveness.around(program, function, block, inst);
    let saves = Some(MaskOp::Saveexec(Logic::And));
    program.insts[inst].op.mask_op(program.wave_size()) == saves && !after.contains(Reg::SCC)
}
