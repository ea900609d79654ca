//! The proof that probes change nothing and count right.
//!
//! Every kernel is compiled by clang, run as it is and instrumented in each way, and compared: memory must be
//! equal, and the counters of every site, wave by wave, must equal what the emulator itself saw of EXEC in
//! the original. A pc at which the emulator saw lanes go away must be a site, or be explained by the
//! analysis.

mod assembly;
mod cost;
mod generator;
mod kernels;
mod overflow;
mod prelude;
mod proof;
#[path = "../../../amdinst-emu/tests/support/mod.rs"]
mod support;
#[path = "../../../amdgpu-object/tests/support/version2.rs"]
mod version2;

use std::process::Command;

use amdgpu_isa::{Feature, Flow, Generation, Inst, Op, decode};
use amdgpu_object::{CodeObject, UserSgpr};
use amdinst_core::analysis::program::Program;
use amdinst_core::instrument::{Counters, Options, Probe, Reason, apply, plan};
use amdinst_core::listing::Listing;

use assembly::Assembly;
use prelude::with_prelude;
use proof::Ways;

/// Processors of each generation: other work-item ids, AGPRs or none, other scratch.
const CPUS: [&str; 5] = ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"];

/// As these, of RDNA, in waves of both sizes.
const RDNA: [&str; 10] = [
    "gfx1010",
    "gfx1010:wave64",
    "gfx1030",
    "gfx1030:wave64",
    "gfx1100",
    "gfx1100:wave64",
    "gfx1151",
    "gfx1151:wave64",
    "gfx1201",
    "gfx1201:wave64",
];

/// Whether a kernel has assembly of GFX9 in it.
fn is_of_gfx9(source: &str) -> bool {
    source.contains("asm") && !source.contains(PORTABLE_ASSEMBLY)
}

/// The registers that [`kernels::every_vgpr`] clears, by instructions that every processor has.
const PORTABLE_ASSEMBLY: &str = "v_mov_b32 v255, 0";

#[test]
fn hand_written_kernels_on_rdna() {
    if !support::tools("hand_written_kernels_on_rdna") {
        return;
    }
    let mut proved = proof::Totals::default();
    let portable = || kernels::ALL.iter().filter(|kernel| !is_of_gfx9(kernel.source));
    for (processor, cpu) in RDNA.into_iter().enumerate() {
        for (number, kernel) in portable().enumerate() {
            for (turn, level) in (number + processor..).zip(["-O0", "-O2"]) {
                // Each kernel at one of the levels on every third processor, the next kernel on the next
                // ones.
                if !(number + processor).is_multiple_of(3) && !support::everything() {
                    continue;
                }
                let ways = Ways::Turn(turn);
                proved.add(proof::prove(kernel.name, kernel.source, cpu, level, kernel.geometry, ways));
            }
        }
    }
    println!("{proved}");
    assert_eq!(proved.refusals(), 0);
    assert!(proved.sites > 200, "only {} sites were counted", proved.sites);
    assert!(proved.through_scratch > 0, "no kernel had its VGPRs borrowed through scratch memory");
}

#[test]
fn hand_written_kernels_at_every_level() {
    if !support::tools("hand_written_kernels_at_every_level") {
        return;
    }
    let mut proved = proof::Totals::default();
    for kernel in kernels::ALL {
        for &level in support::LEVELS {
            proved.add(proof::prove(
                kernel.name,
                kernel.source,
                "gfx90a",
                level,
                kernel.geometry,
                Ways::Every,
            ));
        }
    }
    println!("{proved}");
    assert_eq!(proved.refusals(), 0);
    assert!(proved.timed > 500, "only {} waves were timed", proved.timed);
    assert!(proved.left_out > 50, "only {} sites were left out", proved.left_out);
    assert!(proved.sites > 200, "only {} sites were counted", proved.sites);
    for vgprs in [1, 2] {
        let runs = proved.lent.get(&vgprs).copied().unwrap_or(0);
        assert!(runs > 50, "only {runs} runs in which sites borrowed lanes of {vgprs} VGPRs");
    }
}

#[test]
fn hand_written_kernels_on_every_processor() {
    if !support::tools("hand_written_kernels_on_every_processor") {
        return;
    }
    let mut proved = proof::Totals::default();
    for cpu in CPUS {
        for (number, kernel) in kernels::ALL.iter().enumerate() {
            for (turn, level) in (number..).zip(["-O0", "-O2"]) {
                let ways = Ways::Turn(turn);
                proved.add(proof::prove(kernel.name, kernel.source, cpu, level, kernel.geometry, ways));
            }
        }
    }
    println!("{proved}");
    assert_eq!(proved.refusals(), 0);
    assert!(proved.borrowing > 0, "no kernel was short of SGPRs");
    assert!(proved.through_scratch > 0, "no kernel had its VGPRs borrowed through scratch memory");
}

/// Proves each file of assembly on those of its processors that are of GFX9, or of RDNA; everything on one of
/// them in every way.
fn prove_assembly(of_gfx9: bool, thorough: &str) -> proof::Totals {
    let mut proved = proof::Totals::default();
    for (number, assembly) in Assembly::all().into_iter().enumerate() {
        let is_wanted = |cpu: &&str| Assembly::target(cpu).arch.generation().eq(&Generation::Gfx9) == of_gfx9;
        for (turn, cpu) in assembly.cpus().filter(is_wanted).enumerate() {
            // There are many of RDNA: each file on every other one, and the next file on those between.
            if !of_gfx9 && cpu != thorough && (number + turn).is_multiple_of(2) && !support::everything() {
                continue;
            }
            let object = assembly.object(cpu);
            let is_refused = assembly.check_refusals(cpu, &object);
            // The emulator loads code for waves of one size.
            if assembly.has_two_wave_sizes() {
                continue;
            }
            let ways = if is_refused || cpu == thorough { Ways::Every } else { Ways::Turn(turn) };
            let geometry = proof::Geometry::new([2, 1, 1], [100, 1, 1]);
            proved.add(assembly.prove(cpu, &object, geometry, ways));
        }
    }
    println!("{proved}");
    proved
}

/// What no compiler writes counts right, or is refused for the reason that its file tells.
#[test]
fn code_that_no_compiler_writes() {
    if !support::tools("code_that_no_compiler_writes") {
        return;
    }
    let proved = prove_assembly(true, "gfx90a");
    assert!(proved.executions > 5000, "only {} executions were counted", proved.executions);
}

#[test]
fn code_for_rdna_that_no_compiler_writes() {
    if !support::tools("code_for_rdna_that_no_compiler_writes") {
        return;
    }
    let proved = prove_assembly(false, "gfx1100");
    assert!(proved.executions > 5000, "only {} executions were counted", proved.executions);
    assert!(proved.borrowing > 0, "no kernel was short of SGPRs");
}

/// What is inserted is for waves of one size: kernels of the other one stay as they are.
#[test]
fn kernels_of_the_rarer_wave_size_stay_as_they_are() {
    if !support::tools("kernels_of_the_rarer_wave_size_stay_as_they_are") {
        return;
    }
    let all = Assembly::all();
    let assembly = all.iter().find(|assembly| assembly.has_two_wave_sizes()).expect("the file");
    let object = assembly.object("gfx1100");
    let plan = plan(&object, &Options::default()).expect("a plan");
    let counted: Vec<&str> = plan
        .kernels()
        .iter()
        .filter(|kernel| kernel.is_instrumented())
        .map(|kernel| &kernel.name[..])
        .collect();
    assert_eq!(counted, ["test", "also"]);
    let instrumented = apply(&object, plan).expect("instrumented");
    let after = CodeObject::parse(instrumented.bytes).expect("a code object");
    let code = |object: &CodeObject, name: &str| {
        let code = object.kernel(name).expect("the kernel").code.clone();
        object.bytes_at(code.start, (code.end - code.start) as usize).expect("its code").to_vec()
    };
    assert_eq!(code(&object, "other"), code(&after, "other"));
    assert_ne!(code(&object, "test"), code(&after, "test"));
}

/// Behind the message by which a wave gives its vector registers back, nothing is inserted that uses any.
#[test]
fn records_are_written_before_vector_registers_are_given_back() {
    if !support::tools("records_are_written_before_vector_registers_are_given_back") {
        return;
    }
    let all = Assembly::all();
    let assembly = all.iter().find(|assembly| assembly.name == "rdna_vgprs_given_back").expect("the file");
    for cpu in ["gfx1100", "gfx1100:wave64", "gfx1201", "gfx1201:wave64"] {
        let object = assembly.object(cpu);
        for probe in [Probe::Branches, Probe::Blocks, Probe::Time] {
            for counters in [Counters::Auto, Counters::Global] {
                let options = Options { probe, counters, ..Options::default() };
                let plan = plan(&object, &options).expect("a plan");
                let instrumented = apply(&object, plan).expect("instrumented");
                let after = CodeObject::parse(instrumented.bytes).expect("a code object");
                let program = Program::new(&after);
                let message = |inst: &Inst| inst.deallocates_vgprs(program.arch.generation());
                let at =
                    (0..program.insts.len()).find(|&index| message(program.inst(index))).expect("a message");
                let behind: Vec<Op> =
                    (at + 1..program.insts.len()).map(|index| program.inst(index).op).collect();
                let end = behind.iter().position(|&op| op == Op::s_endpgm).expect("an end");
                assert_eq!(end, 0, "{cpu} {probe:?} {counters:?}: {behind:?}");
            }
        }
    }
}

/// Alone, a kernel whose waves may end in a function that another one calls, too, would not write its records
/// there.
#[test]
fn a_kernel_whose_waves_end_in_a_function_of_others_is_refused() {
    if !support::tools("a_kernel_whose_waves_end_in_a_function_of_others_is_refused") {
        return;
    }
    let all = Assembly::all();
    let assembly = all.iter().find(|assembly| assembly.name == "end_in_a_shared_function").expect("the file");
    let object = assembly.object("gfx90a");
    for probe in [Probe::Branches, Probe::Time] {
        let options = Options { kernels: Some(vec!["test".to_owned()]), probe, ..Options::default() };
        let plan = plan(&object, &options).expect("a plan");
        let [kernel] = plan.kernels() else { panic!("{} kernels", plan.kernels().len()) };
        let refusal = kernel.refusals.iter().find(|refusal| refusal.pc.is_none()).expect("a refusal");
        assert_eq!(refusal.reason, Reason::SharedFunction);
        assert!(refusal.detail.starts_with("waves end in `ends`"), "{}", refusal.detail);
        assert!(!kernel.is_instrumented());
    }
}

/// What a kernel's records have room for is what it may call, not what others do that share a function with
/// it.
#[test]
fn a_kernel_has_room_for_what_it_calls() {
    if !support::tools("a_kernel_has_room_for_what_it_calls") {
        return;
    }
    let all = Assembly::all();
    let assembly = all.iter().find(|assembly| assembly.name == "room_for_what_is_called").expect("the file");
    let object = assembly.object("gfx90a");
    let options = Options { counters: Counters::Lds, ..Options::default() };
    let plan = plan(&object, &options).expect("a plan");
    let found = |name: &str| {
        let kernel = plan.kernels().iter().find(|kernel| kernel.name == name).expect(name);
        (kernel.sites.len(), kernel.cost.lds[1])
    };
    let [(sites, lds), (of_large, lds_of_large), (of_larger, _)] = ["test", "large", "larger"].map(found);
    assert_eq!((sites, of_large, of_larger), (3, 42, 43));
    assert!(10 * lds < lds_of_large, "{lds} bytes of LDS, and {lds_of_large}");
}

/// Code that stays where it was has a section of its own, which is listed behind `.text`, line by line as
/// LLVM does.
#[test]
fn what_stays_is_listed() {
    if !support::tools("what_stays_is_listed") {
        return;
    }
    let all = Assembly::all();
    let assembly = all.iter().find(|assembly| assembly.name == "beside_what_cannot_move").expect("the file");
    let object = assembly.object("gfx90a");
    let plan = plan(&object, &Options::default()).expect("a plan");
    let instrumented = apply(&object, plan).expect("it can be instrumented");
    let after = CodeObject::parse(instrumented.bytes).expect("the instrumented code object");
    assert!(after.kept.is_some(), "nothing stays");
    let mut ours = Vec::new();
    Listing::new(&after).write(&mut ours).expect("memory can be written to");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("kernel.elf");
    std::fs::write(&file, &after.bytes).expect("writing");
    let llvm =
        Command::new("llvm-objdump-22").arg("-d").arg(&file).output().expect("running llvm-objdump-22");
    let (ours, theirs) = (String::from_utf8_lossy(&ours), String::from_utf8_lossy(&llvm.stdout));
    let sections = |text: &str| text.matches("Disassembly of section").count();
    assert_eq!(sections(&ours), 2, "{ours}");
    let begin = theirs.find("\nDisassembly of section").expect("sections");
    for (ours, theirs) in ours.lines().zip(theirs[begin..].lines()) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs[begin..].len());
}

/// With XNACK, scalar loads right behind each other may be issued again: none may overwrite where the
/// prologue's reads from.
#[test]
fn loads_are_kept_apart_where_they_may_be_issued_again() {
    if !support::tools("loads_are_kept_apart_where_they_may_be_issued_again") {
        return;
    }
    let overwrites = "s_load_dwordx2 s[8:9], s[4:5], 0x0\n s_load_dwordx4 s[0:3], s[6:7], 0x0\n";
    let reads = "s_load_dwordx4 s[8:11], s[0:1], 0x0\n s_load_dwordx4 s[12:15], s[6:7], 0x0\n";
    for (cpu, loads, is_apart) in [
        ("gfx90a:xnack+", overwrites, true),
        ("gfx906", overwrites, true),
        ("gfx90a:xnack+", reads, false),
        ("gfx90a:xnack-", overwrites, false),
        ("gfx1010:xnack+", overwrites, true),
        ("gfx1010:xnack-", overwrites, false),
        ("gfx1030", overwrites, false),
    ] {
        let text = format!(
            "kernel test\n {loads} s_waitcnt lgkmcnt(0)\n v_mov_b32_e32 v2, v0\n site\n s_endpgm\nend test\n"
        );
        let object = Assembly::of("loads", &text).object(cpu);
        let options = Options { counters: Counters::Register, ..Options::default() };
        let plan = plan(&object, &options).expect("a plan");
        let instrumented = apply(&object, plan).expect("it can be instrumented");
        let after = CodeObject::parse(instrumented.bytes).expect("the instrumented code object");
        let code = &after.bytes[after.text.range.clone()];
        let mut at = (after.kernel("test").expect("the kernel").code.start - after.text.address) as usize;
        let mut ops = Vec::new();
        for _ in 0..2 {
            let inst = decode(after.target.arch, &code[at..]).expect("an instruction");
            ops.push(inst.op);
            at += usize::from(inst.size);
        }
        assert_eq!(ops[0], Op::s_load_dwordx8, "{cpu}: the argument comes first");
        assert_eq!(ops[1] == Op::s_nop, is_apart, "{cpu}: {ops:?}");
    }
}

/// Where hardware does not set FLAT_SCRATCH the prologue does, from what the kernel itself may not ask for;
/// kernels that do so themselves go on as they are. Descriptor and note tell of it.
#[test]
fn sites_go_through_scratch_memory_on_every_processor() {
    if !support::tools("sites_go_through_scratch_memory_on_every_processor") {
        return;
    }
    let (generic, full) = (kernels::generic_pointers(""), kernels::every_vgpr());
    let geometry = proof::Geometry::new([3, 1, 1], [100, 1, 1]);
    let own = [
        ("generic pointers", generic.as_str(), geometry),
        ("every VGPR in use", full.as_str(), geometry),
        ("much scratch memory", kernels::MUCH_SCRATCH, geometry),
    ];
    let all = kernels::ALL.iter().map(|kernel| (kernel.name, kernel.source, kernel.geometry));
    let all: Vec<_> = own.into_iter().chain(all).collect();
    for cpu in CPUS.into_iter().chain(RDNA) {
        let is_rdna = RDNA.contains(&cpu);
        let mut proved = proof::Totals::default();
        let portable = all.iter().enumerate().filter(|(_, (_, source, _))| !(is_rdna && is_of_gfx9(source)));
        for (number, (name, source, geometry)) in portable {
            let level = ["-O0", "-O2"][number % 2];
            let source = with_prelude(source);
            let object = support::compile(&source, cpu, level);
            if *name == "generic pointers" {
                let descriptor = object.kernel("test").expect("the kernel").descriptor;
                let sets_it_up = descriptor.has_user_sgpr(UserSgpr::FlatScratchInit);
                assert_eq!(sets_it_up, !object.target.arch.has(Feature::ArchitectedFlatScratch), "{cpu}");
            }
            let context = format!("{name} {cpu} {level}");
            proved.add(proof::prove_object(&context, &object, *geometry, Ways::NoRegister));
            check_scratch(&context, &object);
            if matches!(cpu, "gfx900" | "gfx906") {
                let new = support::compile_with(&source, cpu, level, &["-mcode-object-version=4"]);
                let bytes = version2::from_version_4(&new, version2::Processor::Flags);
                let old = CodeObject::parse(bytes).expect("code object version 2");
                let context = format!("{context} in version 2");
                proved.add(proof::prove_object(&context, &old, *geometry, Ways::NoRegister));
                check_scratch(&context, &old);
            }
        }
        println!("{cpu}: {proved}");
        assert_eq!(proved.refusals(), 0, "{cpu}");
        assert!(
            proved.through_scratch >= 10,
            "{cpu}: only {} runs through scratch memory",
            proved.through_scratch
        );
        assert!(proved.diverged > 1000, "{cpu}: only {} executions diverged", proved.diverged);
    }
}

/// Counters in LDS, as in kernels that leave no VGPR unused, and so many SGPRs.
fn without_vgprs(spare_sgprs: u8) -> Options {
    Options {
        counters: Counters::Lds,
        spare_vgprs: Some(0),
        spare_sgprs: Some(spare_sgprs),
        ..Options::default()
    }
}

/// What a kernel whose sites go through scratch memory asks for.
fn check_scratch(context: &str, object: &CodeObject) {
    let Ok(instrumented) = plan(object, &without_vgprs(0)).and_then(|plan| apply(object, plan)) else {
        return;
    };
    let arch = object.target.arch;
    let after = CodeObject::parse(instrumented.bytes).expect("the instrumented code object");
    for (before, after) in object.kernels.iter().zip(&after.kernels) {
        let probes = instrumented.map.kernel(&after.name).expect("the kernel in the map");
        let bytes = after.metadata.private_segment_fixed_size;
        assert_eq!(bytes, after.descriptor.private_segment_fixed_size(), "{context}");
        if bytes == before.metadata.private_segment_fixed_size {
            continue;
        }
        assert_eq!(probes.cost.scratch, [before.metadata.private_segment_fixed_size, bytes], "{context}");
        assert!(after.descriptor.enable_private_segment(), "{context}");
        let asks = after.descriptor.has_user_sgpr(UserSgpr::FlatScratchInit);
        assert_eq!(asks, !arch.has(Feature::ArchitectedFlatScratch), "{context}");
        let (sgprs, allotted) = (after.metadata.sgpr_count, after.descriptor.sgpr_count(arch));
        assert!(sgprs <= allotted, "{context}: {sgprs} of {allotted} SGPRs");
    }
}

/// FLAT_SCRATCH lies in the last SGPRs that are allotted. A kernel that has none uses all but VCC for other
/// things.
#[test]
fn flat_scratch_lies_beside_the_sgprs_of_a_kernel() {
    if !support::tools("flat_scratch_lies_beside_the_sgprs_of_a_kernel") {
        return;
    }
    let source = with_prelude(&kernels::every_vgpr());
    for cpu in ["gfx900:xnack-", "gfx90a:xnack-"] {
        let object = support::compile(&source, cpu, "-O2");
        let arch = object.target.arch;
        assert_eq!(object.kernel("test").expect("the kernel").descriptor.sgpr_count(arch), 96, "{cpu}");
        // The probes' own SGPRs are low.
        let plan = plan(&object, &without_vgprs(4)).expect("a plan");
        let instrumented = apply(&object, plan).expect("it can be instrumented");
        let after = CodeObject::parse(instrumented.bytes).expect("the instrumented code object");
        let after = after.kernel("test").expect("the kernel");
        assert!(after.descriptor.enable_private_segment(), "{cpu}");
        assert_eq!((after.metadata.sgpr_count, after.descriptor.sgpr_count(arch)), (100, 112), "{cpu}");
    }
}

/// Where FLAT_SCRATCH is not what arrives in SGPRs, no site can go through scratch memory.
#[test]
fn kernels_that_move_their_scratch_memory_are_refused() {
    if !support::tools("kernels_that_move_their_scratch_memory_are_refused") {
        return;
    }
    let moves = |text: &str| {
        kernels::generic_pointers(&format!("__asm__ volatile(\"{text}\" ::: \"scc\", \"s19\");"))
    };
    let (reads, reads_rdna) =
        ("s_mov_b32 s19, flat_scratch_lo", "s_getreg_b32 s19, hwreg(HW_REG_FLAT_SCR_LO)");
    for (cpu, text) in [
        ("gfx906", "s_add_u32 flat_scratch_lo, flat_scratch_lo, 0"),
        ("gfx906", "s_mov_b32 flat_scratch_hi, flat_scratch_hi"),
        ("gfx906", reads),
        ("gfx1010", "s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s19"),
        ("gfx1030", "s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI, 0, 8), s19"),
        ("gfx1030:wave64", "s_setreg_imm32_b32 hwreg(HW_REG_FLAT_SCR_HI), 3"),
        ("gfx1030", reads_rdna),
    ] {
        let source = with_prelude(&moves(text));
        let object = support::compile(&source, cpu, "-O0");
        let plan = plan(&object, &without_vgprs(0)).expect("a plan");
        let [kernel] = plan.kernels() else { panic!("{text}: {} kernels", plan.kernels().len()) };
        let [before, after] = kernel.cost.scratch;
        if [reads, reads_rdna].contains(&text) {
            assert_eq!(after, before.next_multiple_of(4) + 8, "{text}: {:?}", kernel.refusals);
            continue;
        }
        let [refusal] = kernel.refusals.as_slice() else { panic!("{text}: {}", kernel.why) };
        assert_eq!(refusal.reason, Reason::NoFreeVgpr);
        assert!(refusal.detail.contains(&format!("`{text}` at 0x")), "{}", refusal.detail);
        assert!(refusal.detail.ends_with("changes where its scratch memory is"), "{}", refusal.detail);
    }
}

/// Where hardware preloads arguments, a kernel has two entries, 256 bytes apart.
#[test]
fn preloaded_arguments() {
    if !support::tools("preloaded_arguments") {
        return;
    }
    let mut proved = proof::Totals::default();
    let mut executions = 0;
    for (number, kernel) in kernels::ALL.iter().enumerate().take(8) {
        let source = with_prelude(kernel.source);
        let options = ["-mllvm", "-amdgpu-kernarg-preload-count=3"];
        let object = support::compile_with(&source, "gfx942", "-O2", &options);
        let under_test = object.kernel("test").expect("the kernel");
        assert!(under_test.descriptor.kernarg_preload().1 > 0, "{}: nothing is preloaded", kernel.name);
        let context = format!("{} with preloaded arguments", kernel.name);
        executions += proof::both_entries(&context, &object, kernel.geometry);
        proved.add(proof::prove_object(&context, &object, kernel.geometry, Ways::Turn(number)));
    }
    println!("{proved}");
    assert_eq!(proved.refusals(), 0);
    assert!(executions > 100, "only {executions} site executions");
}

/// AGPRs begin behind the VGPRs, and move when the VGPRs become more.
#[test]
fn agprs_that_move() {
    if !support::tools("agprs_that_move") {
        return;
    }
    let mut proved = proof::Totals::default();
    for cpu in ["gfx90a", "gfx942"] {
        let mut moved = 0;
        // Of four kernels that use one VGPR more each, one uses all before the AGPRs.
        for top in 16..20 {
            let object = support::compile_with(&with_agprs(top), cpu, "-O2", &[]);
            let arch = object.target.arch;
            let before = object.kernel("test").expect("the kernel").descriptor;
            // A VGPR of the probe's own, for there is no SGPR.
            let options =
                Options { counters: Counters::Register, spare_sgprs: Some(0), ..Options::default() };
            let plan = plan(&object, &options).expect("a plan");
            let instrumented = apply(&object, plan).expect("it can be instrumented");
            let after = CodeObject::parse(instrumented.bytes).expect("a code object");
            let after = after.kernel("test").expect("the kernel").descriptor;
            assert!(after.vector_registers(arch).agprs >= 4, "{cpu}");
            moved += usize::from(after.accum_offset(arch) > before.accum_offset(arch));
            let geometry = proof::Geometry::new([2, 1, 1], [100, 1, 1]);
            let context = format!("v0 to v{top} and AGPRs on {cpu}");
            proved.add(proof::prove_object(&context, &object, geometry, Ways::Every));
        }
        assert!(moved > 0, "{cpu}: the AGPRs stay where they are");
    }
    println!("{proved}");
}

/// A kernel that keeps two values in AGPRs past a branch, and writes all VGPRs up to one.
fn with_agprs(top: u32) -> String {
    let (moves, written) = kernels::zeroed_vgprs(4..=top);
    with_prelude(&format!(
        "kernel void test(global uint *out, global const uint *in, uint n) {{
            uint i = get_global_id(0), x = in[i], sum = 0;
            __asm__ volatile(
                \"v_accvgpr_write_b32 a0, %0\\n v_accvgpr_write_b32 a3, %1\\n s_nop 3\\n {moves}\"
                :: \"v\"(x), \"v\"(i) : \"a0\", \"a3\", {written});
            if (x > 7) out[i] = x; else if (i < n) sum = in[i + 1];
            __asm__ volatile(
                \"v_accvgpr_read_b32 %0, a0\\n v_accvgpr_read_b32 %1, a3\\n s_nop 3\"
                : \"=v\"(x), \"=v\"(i));
            out[i + 512] = x + sum;
        }}"
    ))
}

/// Code object version 2 describes a kernel otherwise, and runs it as version 4 does, instrumented or not.
#[test]
fn kernels_of_code_object_version_2() {
    if !support::tools("kernels_of_code_object_version_2") {
        return;
    }
    let mut proved = proof::Totals::default();
    let (cpus, levels) = (["gfx900", "gfx906"], ["-O0", "-O2"]);
    for (number, kernel) in kernels::ALL.iter().enumerate() {
        let (cpu, level) = (cpus[number % 2], levels[number / 2 % 2]);
        let source = with_prelude(kernel.source);
        let new = support::compile_with(&source, cpu, level, &["-mcode-object-version=4"]);
        let bytes = version2::from_version_4(&new, version2::Processor::Flags);
        let old = CodeObject::parse(bytes).expect("code object version 2");
        assert_eq!((new.version, old.version), (4, 2));
        let context = format!("{} {cpu} {level} in version 2", kernel.name);
        let [before, after] =
            [&new, &old].map(|object| proof::memory_after(&context, object, kernel.geometry));
        assert!(before == after, "{context}: memory differs from version 4's");
        proved.add(proof::prove_object(&context, &old, kernel.geometry, Ways::Turn(number)));
    }
    println!("{proved}");
    assert_eq!(proved.refusals(), 0);
    assert!(proved.sites > 100, "only {} sites were counted", proved.sites);
}

#[test]
fn branches_over_a_huge_body() {
    if !support::tools("branches_over_a_huge_body") {
        return;
    }
    let source = kernels::huge(1200);
    let geometry = proof::Geometry::new([1, 1, 1], [64, 1, 1]);
    let mut proved = proof::Totals::default();
    for (turn, cpu) in (1..).zip(["gfx900", "gfx90a"]) {
        proved.add(proof::prove("a huge body", &source, cpu, "-O1", geometry, Ways::Turn(turn)));
    }
    // Nor however many SGPRs: what is told is not that they ran short before some were borrowed.
    let object = support::compile(&with_prelude(&source), "gfx900", "-O1");
    let options = Options { counters: Counters::Lds, spare_sgprs: Some(0), ..Options::default() };
    let plan = plan(&object, &options).expect("a plan");
    let reasons: Vec<Reason> =
        plan.kernels().iter().flat_map(|kernel| &kernel.refusals).map(|refusal| refusal.reason).collect();
    assert_eq!(reasons, [Reason::LdsLimit]);
    println!("{proved}");
    // Counters for 1203 sites of four waves are more than LDS holds, however many VGPRs there are.
    assert_eq!(proved.refused.into_iter().collect::<Vec<_>>(), [(Reason::LdsLimit, 5)]);
    // With lanes of one VGPR borrowed, and of two, at sites beyond the reach of an offset.
    assert_eq!(proved.lent.into_iter().collect::<Vec<_>>(), [(1, 1), (2, 1)]);
    // A branch spans 128 KiB at most.
    assert!(proved.largest_text > 0x40000, "the instrumented code is too small: {}", proved.largest_text);
}

/// Immediate offsets are shorter on RDNA 1 and 2 than on the others.
#[test]
fn counters_beyond_the_reach_of_offsets_on_rdna() {
    if !support::tools("counters_beyond_the_reach_of_offsets_on_rdna") {
        return;
    }
    let source = kernels::huge(150);
    let geometry = proof::Geometry::new([1, 1, 1], [64, 1, 1]);
    let mut proved = proof::Totals::default();
    for cpu in RDNA {
        for turn in 0..3 {
            proved.add(proof::prove("many branches", &source, cpu, "-O1", geometry, Ways::Turn(turn)));
        }
    }
    println!("{proved}");
    assert_eq!(proved.refusals(), 0);
    for vgprs in [1, 2] {
        let runs = proved.lent.get(&vgprs).copied().unwrap_or(0);
        assert!(runs >= RDNA.len(), "only {runs} runs in which sites borrowed lanes of {vgprs} VGPRs");
    }
}

/// RDNA 1 goes elsewhere by a branch over 63 dwords: none comes about, however far what is inserted moves
/// code apart.
#[test]
fn no_branch_of_rdna_1_goes_over_63_dwords() {
    if !support::tools("no_branch_of_rdna_1_goes_over_63_dwords") {
        return;
    }
    // A site between the branches and where they go; one goes back.
    let kernel = |name: &str, apart: usize| {
        let nops = "s_nop 0\n".repeat(apart);
        format!(
            "kernel {name}\n begin\n s_mov_b32 s9, 2\n1: s_cmp_eq_u32 s8, 77\n s_cbranch_scc1 2f\n {nops} site\n2: site\n \
             s_sub_u32 s9, s9, 1\n s_cmp_lg_u32 s9, 0\n s_cbranch_scc1 1b\n finish\nend {name}\n"
        )
    };
    let (names, kernels): (Vec<_>, String) =
        (20..62).map(|apart| (format!("apart{apart}"), kernel(&format!("apart{apart}"), apart))).unzip();
    let all = Assembly::of("branches", &format!("// kernels: {}\n{kernels}", names.join(" ")));
    let mut broken = std::collections::BTreeMap::new();
    for cpu in ["gfx1010", "gfx1010:wave64", "gfx1012", "gfx1030", "gfx1030:wave64"] {
        let object = all.object(cpu);
        for counters in [Counters::Register, Counters::Lds, Counters::Global] {
            let plan = plan(&object, &Options { counters, ..Options::default() }).expect("a plan");
            let instrumented = apply(&object, plan).expect("it can be instrumented");
            let after = CodeObject::parse(instrumented.bytes).expect("a code object");
            let program = Program::new(&after);
            let flows = program.insts.iter().map(|located| located.flow());
            let over = |flow: &Flow| matches!(flow, Flow::Branch { offset } | Flow::CondBranch { offset, .. } if *offset == 4 * 0x3f);
            *broken.entry(cpu).or_insert(0) += flows.filter(over).count();
        }
        let mut proved = proof::Totals::default();
        for apart in [20, 40, 60] {
            let assembly = Assembly::of("branches", &kernel("test", apart));
            let geometry = proof::Geometry::new([2, 1, 1], [100, 1, 1]);
            proved.add(assembly.prove(cpu, &assembly.object(cpu), geometry, Ways::Turn(apart)));
        }
        println!("{cpu}: {proved}");
        assert_eq!(proved.refusals(), 0, "{cpu}");
    }
    for (cpu, count) in broken {
        let has_erratum = Assembly::target(cpu).arch.has(Feature::BranchOver63Bug);
        assert_eq!(count == 0, has_erratum, "{cpu}: {count} branches over 63 dwords");
    }
}

#[test]
fn counters_in_vgprs_stop_at_their_end() {
    if !support::tools("counters_in_vgprs_stop_at_their_end") {
        return;
    }
    let kernel = kernels::ALL.iter().find(|kernel| kernel.name.starts_with("many branches")).expect("it");
    for cpu in CPUS.into_iter().chain(RDNA) {
        let stopped = overflow::stopped_counters(kernel, cpu);
        assert!(stopped > 50, "only {stopped} counters stopped on {cpu}");
    }
}

#[test]
fn generated_kernels() {
    if !support::tools("generated_kernels") {
        return;
    }
    let count =
        std::env::var("AMDINST_GENERATED_KERNELS").ok().and_then(|text| text.parse().ok()).unwrap_or(24);
    let mut proved = proof::Totals::default();
    for seed in 0..count {
        let source = generator::kernel(seed);
        let cpus: Vec<&str> = CPUS.into_iter().chain(RDNA).collect();
        let cpu = cpus[seed as usize % cpus.len()];
        let level = support::LEVELS[seed as usize / cpus.len() % support::LEVELS.len()];
        let name = format!("generated kernel {seed}");
        proved.add(proof::prove(
            &name,
            &source,
            cpu,
            level,
            proof::Geometry::new([2, 1, 1], [96, 1, 1]),
            Ways::Turn(seed as usize),
        ));
    }
    println!("{proved}");
    // Calls whose target is not known are refused by name; that must stay rare.
    assert!(proved.refusals() * 10 <= proved.kernels * 5, "too many refusals");
}

/// The tables of costs at the head of `instrument/emit/site.rs` are what the emulator counts. [`cost`]
/// compares it with each plan, and counters in SGPRs with their bound.
#[test]
fn site_executions_cost_what_the_table_says() {
    if !support::tools("site_executions_cost_what_the_table_says") {
        return;
    }
    let rows = cost::tables();
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../amdinst-core/src/instrument/emit/site.rs");
    let source = std::fs::read_to_string(table).expect("emit/site.rs");
    let lines = source.lines().filter_map(|line| line.strip_prefix("//! "));
    let is_row =
        |line: &&str| ["| global |", "| lds |", "| register,"].iter().any(|home| line.starts_with(home));
    let stated: Vec<&str> = lines.filter(is_row).collect();
    assert_eq!(stated, rows, "the tables in {table} should be\n{}", rows.join("\n"));
}
