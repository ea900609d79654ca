//! Instrumented code objects, judged by LLVM's tools: they disassemble whole, and every original instruction
//! is still there, in order.

mod session;
mod spilling;

use std::path::Path;
use std::process::Command;

use amdgpu_object::CodeObject;
use amdinst_core::counters::SiteForm;
use amdinst_core::instrument::{
    Abi, BUFFER_SYMBOL, BlockProbe, Counters, ExecWriteClass, Home, InstrumentError, Options, Probe, Reason,
    Refusal, SiteKind, apply, plan,
};
use amdinst_core::report::cover::{self, CoverFault};
use amdinst_core::report::refusal_text;

const SOURCE: &str = include_str!("kernels.c");

fn tools(test: &str) -> bool {
    let found = ["clang-22", "ld.lld-22", "llvm-objdump-22"]
        .iter()
        .all(|tool| Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success()));
    if !found {
        let message = format!("{test}: LLVM 22 is not installed (apt-get install clang-22 lld-22 llvm-22)");
        assert!(std::env::var_os("AMDINST_REQUIRE_TOOLS").is_none_or(|value| value != "1"), "{message}");
        eprintln!("SKIPPED: {message}");
    }
    found
}

fn compile(directory: &Path, cpu: &str, level: &str) -> CodeObject {
    compile_source(directory, SOURCE, cpu, &[level])
}

fn compile_source(directory: &Path, source: &str, cpu: &str, options: &[&str]) -> CodeObject {
    let (input, output) = (directory.join("kernels.c"), directory.join("kernels.elf"));
    std::fs::write(&input, source).expect("writing the source");
    let status = Command::new("clang-22")
        .args(["--target=amdgcn-amd-amdhsa", "-nogpulib", "-fuse-ld=lld-22"])
        .args(options)
        .arg(format!("-mcpu={cpu}"))
        .arg("-o")
        .args([&output, &input])
        .status()
        .expect("running clang-22");
    assert!(status.success(), "clang failed for {cpu} {options:?}");
    CodeObject::parse(std::fs::read(&output).expect("reading the code object")).expect("a code object")
}

/// The instructions of `.text` without padding; branch targets and literals of address pairs left out.
fn disassembly(directory: &Path, bytes: &[u8]) -> Vec<String> {
    let file = directory.join("disassembled.elf");
    std::fs::write(&file, bytes).expect("writing a code object");
    let output = Command::new("llvm-objdump-22")
        .args(["-d", "--no-show-raw-insn"])
        .arg(&file)
        .output()
        .expect("objdump");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let lines = text.lines().filter_map(|line| line.strip_prefix('\t')).map(|line| {
        let line = line.split("//").next().unwrap_or_default().trim();
        assert!(!line.contains("illegal") && !line.starts_with(".long"), "{line}");
        let mnemonic = line.split(' ').next().unwrap_or_default();
        let moves = mnemonic.contains("branch")
            || matches!(mnemonic, "s_add_u32" | "s_addc_u32")
                && (line.contains("0x") || line.contains("lit("));
        if moves { mnemonic.to_owned() } else { line.to_owned() }
    });
    lines.filter(|line| line != "s_nop 0").collect()
}

#[test]
fn every_original_instruction_is_still_there() {
    if !tools("every_original_instruction_is_still_there") {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    for cpu in ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"] {
        for level in ["-O0", "-O1", "-O2"] {
            let object = compile(directory.path(), cpu, level);
            let original = disassembly(directory.path(), &object.bytes);
            let with_argument = Home::ALL.map(|home| (Counters::from(home), Abi::Argument));
            for (counters, abi) in with_argument.into_iter().chain([(Counters::Auto, Abi::Global)]) {
                let context = format!("{cpu} {level} {counters:?} {abi:?}");
                let plan = plan(&object, &Options { counters, abi, ..Options::default() }).expect(&context);
                let instrumented = apply(&object, plan).expect(&context);
                let new = disassembly(directory.path(), &instrumented.bytes);
                let mut rest = new.iter();
                for line in &original {
                    assert!(rest.any(|other| other == line), "{context}: `{line}` is missing");
                }
                let reparsed = CodeObject::parse(instrumented.bytes.clone()).expect(&context);
                for probes in instrumented.map.kernels.iter().filter(|kernel| kernel.is_instrumented()) {
                    let kernel =
                        reparsed.kernels.iter().find(|kernel| kernel.name == probes.name).expect(&context);
                    assert_eq!(
                        kernel.metadata.kernarg_segment_size,
                        kernel.descriptor.kernarg_size(),
                        "{context}"
                    );
                    let lds = kernel.descriptor.group_segment_fixed_size();
                    assert_eq!(kernel.metadata.group_segment_fixed_size, lds, "{context}");
                    let own = object.kernel(&probes.name).expect(&context).descriptor;
                    assert_eq!(probes.cost.lds, [own.group_segment_fixed_size(), lds], "{context}");
                    assert_eq!(probes.cost.lds[0] < lds, probes.home == Some(Home::Lds), "{context}");
                    let before = &object.kernel(&probes.name).expect(&context).metadata;
                    if abi == Abi::Argument {
                        let added = &kernel.metadata.args[before.args.len()..];
                        assert_eq!(Some(added[0].offset), probes.buffer_argument, "{context}");
                        assert_eq!(added.len(), 1 + usize::from(probes.wave_ids.is_some()), "{context}");
                    } else {
                        assert_eq!(kernel.metadata.args, before.args, "{context}");
                        let size = kernel.metadata.kernarg_segment_size;
                        assert_eq!(size, before.kernarg_segment_size, "{context}");
                        assert_eq!(probes.buffer_symbol.as_deref(), Some(BUFFER_SYMBOL), "{context}");
                    }
                    for site in &probes.sites {
                        assert_eq!(instrumented.map.original_pc(site.new_pc), Some(site.pc), "{context}");
                    }
                }
            }
        }
    }
}

/// Found without running anything, and without what found the blocks; each kind of fault is seen where there
/// is one.
#[test]
fn each_instruction_is_in_exactly_one_block() {
    if !tools("each_instruction_is_in_exactly_one_block") {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let options = Options { probe: Probe::Blocks, counters: Counters::Global, ..Options::default() };
    for cpu in ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"] {
        for level in ["-O0", "-O1", "-O2"] {
            let object = compile(directory.path(), cpu, level);
            let plan = plan(&object, &options).expect(cpu);
            for kernel in plan.kernels() {
                let context = format!("{cpu} {level} {}", kernel.name);
                assert!(kernel.refusals.is_empty() && !kernel.blocks.is_empty(), "{context}");
                assert_eq!(cover::faults(&object, kernel), [], "{context}");
                // What a wave comes to first, of which no block tells.
                let entry = object.kernel(&kernel.name).expect("it is there").code.start;
                let first = kernel.blocks.iter().position(|block| block.pc == entry).expect(&context);
                let mut damaged = kernel.clone();
                let of = damaged.blocks.remove(first);
                let found = cover::faults(&object, &damaged);
                assert_eq!(found.len(), of.instructions as usize, "{context}: {found:?}");
                assert_eq!(found[0], CoverFault::NoBlock { pc: entry }, "{context}");
                // Unless it is told that just this block was refused.
                let refused = |pcs| Refusal::of_block(pcs, Reason::SharedFunction, String::new());
                damaged.refusals = vec![refused(of.pc..of.end_pc)];
                assert_eq!(cover::faults(&object, &damaged), [], "{context}");
                damaged.refusals = vec![refused(of.end_pc..of.end_pc + 4)];
                assert_eq!(cover::faults(&object, &damaged), found, "{context}");
                damaged.refusals = vec![Refusal::at(of.pc, Reason::SharedFunction, String::new())];
                assert_eq!(cover::faults(&object, &damaged), found, "{context}");
                // A block twice; one of an instruction less than it says; one whose lanes are those of no
                // instruction.
                let mut damaged = kernel.clone();
                damaged.blocks.push(BlockProbe { id: 1000, ..of.clone() });
                let twice = CoverFault::TwoBlocks { pc: entry, first: of.id, second: 1000 };
                assert_eq!(cover::faults(&object, &damaged), [twice], "{context}");
                let mut damaged = kernel.clone();
                damaged.blocks[first].instructions += 1;
                let instructions = of.instructions + 1;
                let fault = CoverFault::Instructions { block: of.id, pc: entry, instructions };
                assert_eq!(cover::faults(&object, &damaged), [fault], "{context}");
                let mut damaged = kernel.clone();
                damaged.blocks.iter_mut().for_each(|block| block.lanes_pcs = [block.pc; 2]);
                let found = cover::faults(&object, &damaged);
                let is_lanes = |fault: &CoverFault| matches!(fault, CoverFault::Lanes { .. });
                assert!(!found.is_empty() && found.iter().all(is_lanes), "{context}");
            }
        }
    }
}

/// Loaders search the hash tables: every dynamic symbol must be found there, the new one among them, and
/// relocations must name the symbols that they named. The second reader is the `object` crate, the third
/// `llvm-readelf`.
#[test]
fn a_variable_for_the_buffer_is_found_as_loaders_find_it() {
    if !tools("a_variable_for_the_buffer_is_found_as_loaders_find_it") {
        return;
    }
    // Visible symbols are named by relocations, and kernels enough make several buckets.
    let visible = "__attribute__((visibility(\"default\")))";
    let mut source = format!("{SOURCE}\n{visible} gint one = 1; {visible} gint *to_one = &one;\n");
    for number in 0..30 {
        source += &format!("{visible} gint v{number} = {number}; {visible} gint *p{number} = &v{number};\n");
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    for style in ["both", "gnu", "sysv"] {
        let link = format!("-Wl,--hash-style={style}");
        let object = compile_source(directory.path(), &source, "gfx90a", &["-O2", "-g", &link]);
        let plan = plan(&object, &Options { abi: Abi::Global, ..Options::default() }).expect("a plan");
        let bytes = apply(&object, plan).expect("an instrumented code object").bytes;
        let found = found_by_hash(&bytes, style);
        let old = found_by_hash(&object.bytes, style);
        assert!(old.len() > 60 && found.len() == old.len() + 1, "{} and {}", old.len(), found.len());
        // Data, which no one has moved, is where it was.
        let stays = |name: &str| name.ends_with(".kd") || name.starts_with(['v', 'p']);
        assert!(old.iter().filter(|(name, ..)| stays(name)).all(|symbol| found.contains(symbol)));
        let (_, size, address) = found.iter().find(|(name, ..)| name == BUFFER_SYMBOL).expect("the variable");
        assert_eq!((*size, address % 8), (8, 0));
        let rewritten = CodeObject::parse(bytes.clone()).expect("a code object");
        let segment = rewritten
            .segments
            .iter()
            .find(|segment| (segment.address..segment.address + segment.size).contains(address))
            .expect("a segment");
        assert!(segment.writable && !segment.executable && segment.range.is_empty());
        // Each field is relocated as it was, by the same symbol.
        let named = |object: &CodeObject| -> Vec<_> {
            let name = |symbol: &Option<(String, Option<u64>)>| symbol.as_ref().map(|(name, _)| name.clone());
            object.relocations.iter().map(|one| (one.address, one.kind, name(&one.symbol))).collect()
        };
        assert!(named(&object).iter().filter(|(.., symbol)| symbol.is_some()).count() > 30);
        assert_eq!(named(&object), named(&rewritten));
        let file = directory.path().join("rewritten.elf");
        std::fs::write(&file, &bytes).expect("writing a code object");
        let output = Command::new("llvm-readelf-22")
            .args(["-a", "-W", "--hash-table", "--gnu-hash-table", "--hash-symbols"])
            .arg(&file)
            .output()
            .expect("llvm-readelf-22");
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        // `.dynsym`, `.symtab`, and each hash table.
        let tables = if style == "both" { 4 } else { 3 };
        assert_eq!(text.lines().filter(|line| line.ends_with(BUFFER_SYMBOL)).count(), tables, "{text}");
    }
}

/// The dynamic symbols that the hash tables of a file lead to: name, size, address.
fn found_by_hash(bytes: &[u8], style: &str) -> Vec<(String, u64, u64)> {
    use object::elf::{FileHeader64, gnu_hash, hash};
    use object::read::elf::{FileHeader, Sym, VersionTable};
    let endian = object::LittleEndian;
    let header = FileHeader64::<object::LittleEndian>::parse(bytes).expect("a header");
    let sections = header.sections(endian, bytes).expect("sections");
    let symbols = sections.symbols(endian, bytes, object::elf::SHT_DYNSYM).expect("dynamic symbols");
    let gnu = sections.gnu_hash(endian, bytes).expect("a table").map(|(table, _)| table);
    let sysv = sections.hash(endian, bytes).expect("a table").map(|(table, _)| table);
    assert_eq!((gnu.is_some(), sysv.is_some()), (style != "sysv", style != "gnu"));
    let versions = VersionTable::default();
    let mut found = Vec::new();
    for (number, symbol) in symbols.enumerate().skip(1) {
        let name = symbols.symbol_name(endian, symbol).expect("a name");
        if let Some(table) = &gnu {
            let hit = table.find(endian, name, gnu_hash(name), None, &symbols, &versions);
            assert_eq!(hit.map(|(index, _)| index), Some(number), "{}", String::from_utf8_lossy(name));
        }
        if let Some(table) = &sysv {
            let hit = table.find(endian, name, hash(name), None, &symbols, &versions);
            assert_eq!(hit.map(|(index, _)| index), Some(number), "{}", String::from_utf8_lossy(name));
        }
        let name = String::from_utf8_lossy(name).into_owned();
        found.push((name, symbol.st_size(endian), symbol.st_value(endian)));
    }
    found
}

#[test]
fn sites_of_a_shared_function_come_first_in_each_kernel() {
    if !tools("sites_of_a_shared_function_come_first_in_each_kernel") {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let object = compile(directory.path(), "gfx90a", "-O2");
    let plan = plan(&object, &Options::default()).expect("a plan");
    let kernel = |name: &str| plan.kernels().iter().find(|kernel| kernel.name == name).expect("the kernel");
    let (first, second, straight) = (kernel("first"), kernel("second"), kernel("straight"));
    let shared: Vec<u64> =
        first.sites.iter().filter(|site| &*site.function == "walk").map(|site| site.pc).collect();
    assert!(!shared.is_empty());
    for kernel in [first, second] {
        let head: Vec<u64> = kernel.sites.iter().take(shared.len()).map(|site| site.pc).collect();
        assert_eq!(head, shared);
        assert!(kernel.sites.iter().any(|site| site.kind == SiteKind::LoopExit && site.loop_depth == 1));
    }
    assert!(!straight.is_instrumented() && straight.refusals.is_empty());
}

#[test]
fn halves_of_exec_are_told_apart() {
    if !tools("halves_of_exec_are_told_apart") {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let object = compile(directory.path(), "gfx90a", "-O2");
    let plan = plan(&object, &Options::default()).expect("a plan");
    let halves = plan.kernels().iter().find(|kernel| kernel.name == "halves").expect("the kernel");
    assert!(halves.sites.is_empty() && halves.refusals.is_empty(), "{:?}", halves.refusals);
    let classes: Vec<ExecWriteClass> = halves.exec_writes.iter().map(|write| write.class).collect();
    assert_eq!(classes, [ExecWriteClass::WholeWave, ExecWriteClass::Constant, ExecWriteClass::Restore]);
}

#[test]
fn what_is_not_instrumented_has_a_named_outcome() {
    if !tools("what_is_not_instrumented_has_a_named_outcome") {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let object = compile(directory.path(), "gfx90a", "-O2");
    let only = |name: &str| Options { kernels: Some(vec![name.to_owned()]), ..Options::default() };
    assert!(matches!(plan(&object, &only("nobody")), Err(InstrumentError::NoSuchKernel { .. })));
    let straight = plan(&object, &only("straight")).expect("a plan");
    assert!(matches!(apply(&object, straight), Err(InstrumentError::NothingInstrumented(_))));
    // `walk` is also called by `second`, which is not asked for: its sites are refused, `first`'s own is not.
    let first = plan(&object, &only("first")).expect("a plan");
    let probes = &first.kernels()[0];
    assert!(probes.is_instrumented() && !probes.refusals.is_empty());
    assert!(probes.sites.iter().all(|site| &*site.function == "first"));

    // So are its blocks; and where there is debug information, a refusal says where.
    let object = compile_source(directory.path(), SOURCE, "gfx90a", &["-O2", "-g"]);
    for probe in [Probe::Branches, Probe::Blocks] {
        let first = plan(&object, &Options { probe, ..only("first") }).expect("a plan");
        let refusals = &first.kernels()[0].refusals;
        assert!(!refusals.is_empty(), "{probe:?}");
        for refusal in refusals {
            assert_eq!(refusal.reason, Reason::SharedFunction);
            let told = refusal_text(refusal);
            assert!(
                told.contains("kernels.c:") && told.contains("`walk` is also called by `second`"),
                "{told}"
            );
        }
    }
}

/// Counters in SGPRs: where a record goes is worked out while the kernel waits for memory, and of a site that
/// no wave ends without having passed, with the lanes that it was started with, one mask is kept.
#[test]
fn what_the_end_needs_is_worked_out_while_memory_is_waited_for() {
    if !tools("what_the_end_needs_is_worked_out_while_memory_is_waited_for") {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    for cpu in ["gfx900", "gfx90a", "gfx942"] {
        let object = compile(directory.path(), cpu, "-O2");
        let kernels = Some(vec!["waits".to_owned()]);
        let options = Options { counters: Counters::Register, kernels, ..Options::default() };
        let plan = plan(&object, &options).expect("a plan");
        let probes = &plan.kernels()[0];
        assert_eq!(probes.site_forms, [SiteForm::Start; 2], "{cpu}");
        assert_eq!((probes.packed_sites, probes.record_stride), (2, 32), "{cpu}");
        let new = apply(&object, plan).expect("instrumented");
        let text = disassembly(directory.path(), &new.bytes);
        let start =
            text.iter().position(|line| line.starts_with("s_load_dwordx8")).expect("the argument's load");
        let text = &text[start..];
        let wait = text.iter().position(|line| line.starts_with("s_waitcnt vmcnt(0)")).expect("a wait");
        let end = text.iter().position(|line| line == "s_endpgm").expect("an end");
        let multiplies = |lines: &[String]| lines.iter().filter(|line| line.starts_with("s_mul_i32")).count();
        assert!(text[..wait].iter().any(|line| line.starts_with("global_load_dword")), "{cpu}: {text:#?}");
        assert!(text[wait - 1].starts_with("s_add_u32"), "{cpu}: {text:#?}");
        assert!(
            multiplies(&text[wait - 12..wait]) >= 5 && multiplies(&text[wait..end]) == 0,
            "{cpu}: {text:#?}"
        );
    }
}

/// Where a launcher puts LDS that an argument points to depends on the static size, which counters in LDS
/// change.
#[test]
fn lds_that_a_launcher_places_keeps_counters_out() {
    if !tools("lds_that_a_launcher_places_keeps_counters_out") {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let object = compile(directory.path(), "gfx90a", "-O2");
    let home_of = |counters| {
        let kernels = Some(vec!["handed".to_owned()]);
        let plan = plan(&object, &Options { counters, kernels, ..Options::default() }).expect("a plan");
        let probes = &plan.kernels()[0];
        let told = probes.refusals.iter().map(|refusal| (refusal.reason, refusal.detail.clone()));
        (probes.home, told.collect::<Vec<_>>())
    };
    // As `inspect` and `run` count arguments.
    let told = "argument 2 points to LDS that the launcher places".to_owned();
    assert_eq!(home_of(Counters::Lds), (None, vec![(Reason::LdsPlacement, told)]));
    assert_eq!(home_of(Counters::Auto), (Some(Home::Register), Vec::new()));
}

/// What each write of EXEC is in a kernel of these lines of assembly, in order; and what is refused.
fn classified(lines: &[&str]) -> (Vec<String>, Vec<String>) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let lines = lines.join("\\n");
    let source =
        format!("__attribute__((amdgpu_kernel)) void kernel(void) {{ __asm__ volatile(\"{lines}\"); }}");
    let object = compile_source(directory.path(), &source, "gfx90a", &["-O1"]);
    let plan = plan(&object, &Options::default()).expect("a plan");
    let [kernel] = plan.kernels() else { panic!("one kernel") };
    let mut found: Vec<(u64, String)> =
        kernel.sites.iter().map(|site| (site.pc, "site".to_owned())).collect();
    found.extend(kernel.exec_writes.iter().map(|write| {
        let name = serde_json::to_value(write.class).expect("a word");
        (write.pc, name.as_str().expect("a word").to_owned())
    }));
    found.sort();
    let refused = kernel.refusals.iter().map(|refusal| refusal.detail.clone()).collect();
    (found.into_iter().map(|(_, class)| class).collect(), refused)
}

/// A mask that a loop changes is none that was saved, however many loops lie between.
#[test]
fn what_loops_change_is_known_around_all_of_them() {
    if !tools("what_loops_change_is_known_around_all_of_them") {
        return;
    }
    const LOOPS: usize = 16;
    let mut lines = vec!["s_mov_b64 s[20:21], exec".to_owned()];
    // Each loop goes back to the one before it, the last one with another mask.
    for number in 0..LOOPS {
        lines.push(format!(".Lloop{number}:"));
        if number == 0 {
            lines.push("s_mov_b64 exec, s[20:21]".to_owned());
        } else if number == LOOPS - 1 {
            lines.push("s_load_dwordx2 s[20:21], s[8:9], 0x0".to_owned());
        }
        if number > 0 {
            lines.push(format!("s_cbranch_scc1 .Lloop{}", number - 1));
        }
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(classified(&lines).0, ["unclassified"]);
    // Without that, it is what was saved.
    let same: Vec<&str> = lines.into_iter().filter(|line| !line.starts_with("s_load")).collect();
    assert_eq!(classified(&same).0, ["restore"]);
}

/// What is written by hand: masks that comparisons made are narrowings wherever all lanes are on before, time
/// and again, and so are numbers that are taken for masks; a mask that was copied from EXEC is a restore, one
/// of folded constants a constant; one that comes from elsewhere is refused by name.
#[test]
fn predicated_code_is_a_site_a_restore_or_a_refusal() {
    if !tools("predicated_code_is_a_site_a_restore_or_a_refusal") {
        return;
    }
    const LINES: [(&str, &str); 25] = [
        ("v_cmp_lt_u32 s[20:21], v0, v1", ""),
        ("s_mov_b64 s[22:23], exec", ""),
        ("s_load_dwordx2 s[24:25], s[8:9], 0x0", ""),
        ("s_cselect_b64 s[26:27], -1, 0", ""),
        ("s_add_u32 s28, s8, s9", ""),
        ("s_addc_u32 s29, s8, 0", ""),
        // The wave may have been started with fewer lanes than the sum has.
        ("s_mov_b64 exec, s[28:29]", "unclassified"),
        ("s_mov_b64 exec, -1", "whole-wave"),
        ("s_mov_b64 exec, s[28:29]", "site"),
        ("s_mov_b64 exec, -1", "whole-wave"),
        ("s_lshl_b32 s30, 0xff, 8", ""),
        ("s_lshr_b32 s31, s30, 12", ""),
        ("s_or_b32 s30, s30, 1", ""),
        ("s_and_b32 s31, s31, 7", ""),
        ("s_mov_b64 exec, s[30:31]", "constant"),
        ("s_mov_b64 exec, -1", "whole-wave"),
        ("s_mov_b64 exec, s[20:21]", "site"),
        ("s_mov_b64 exec, -1", "whole-wave"),
        ("s_mov_b64 exec, s[20:21]", "site"),
        ("s_mov_b64 exec, -1", "whole-wave"),
        ("s_bfm_b64 exec, s12, 0", "site"),
        ("s_mov_b64 exec, s[22:23]", "restore"),
        ("s_mov_b64 exec, s[26:27]", "site"),
        ("s_mov_b64 exec, -1", "whole-wave"),
        ("s_mov_b64 exec, s[24:25]", "unclassified"),
    ];
    let (found, refused) = classified(&LINES.map(|(line, _)| line));
    let expected: Vec<&str> =
        LINES.iter().map(|(_, class)| *class).filter(|class| !class.is_empty()).collect();
    assert_eq!(found, expected);
    let unknown = ["s[28:29]", "s[24:25]"]
        .map(|mask| format!("`s_mov_b64 exec, {mask}` sets a mask of unknown origin"));
    assert_eq!(refused, unknown);
}

/// The counters of 2022 know one form of a narrowing, ours all of them.
#[test]
fn the_counters_of_2022_are_at_saveexec_alone() {
    if !tools("the_counters_of_2022_are_at_saveexec_alone") {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let source = r#"__attribute__((amdgpu_kernel)) void kernel(void) {
        __asm__ volatile("v_cmp_lt_u32 vcc, v0, v1\ns_and_saveexec_b64 s[20:21], vcc\n"
                         "v_cmp_lt_u32 vcc, v2, v1\ns_and_b64 exec, exec, vcc\ns_mov_b64 exec, s[20:21]");
    }"#;
    let object = compile_source(directory.path(), source, "gfx90a", &["-O1"]);
    let counted = |counters: Counters| -> Vec<String> {
        let plan = plan(&object, &Options { counters, ..Options::default() }).expect("a plan");
        let [kernel] = plan.kernels() else { panic!("one kernel") };
        kernel.sites.iter().map(|site| site.instruction.to_string()).collect()
    };
    let saveexec = "s_and_saveexec_b64 s[20:21], vcc";
    for counters in [Counters::SeedLds, Counters::SeedGlobal] {
        assert_eq!(counted(counters), [saveexec]);
    }
    for counters in [Counters::Lds, Counters::Global] {
        assert_eq!(counted(counters), [saveexec, "s_and_b64 exec, exec, vcc"]);
    }
}

/// As the code objects that were measured then have it: what waits behind which operation, and where the
/// clock is read.
#[test]
fn the_counters_of_2022_wait_and_read_the_clock() {
    if !tools("the_counters_of_2022_wait_and_read_the_clock") {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let source =
        "__attribute__((amdgpu_kernel)) void kernel(__attribute__((address_space(1))) int *p, int n) {
        int i = __builtin_amdgcn_workitem_id_x();
        if (i < n) p[i] = 1;
    }";
    for cpu in ["gfx900", "gfx90a"] {
        let object = compile_source(directory.path(), source, cpu, &["-O2"]);
        // Of the instructions inserted: those that use memory or LDS, and what waits for all.
        let memory = |counters, probe| -> String {
            let options = Options { counters, probe, ..Options::default() };
            let new = apply(&object, plan(&object, &options).expect("a plan")).expect("it is instrumented");
            let mut original = disassembly(directory.path(), &object.bytes).into_iter().peekable();
            let inserted = disassembly(directory.path(), &new.bytes)
                .into_iter()
                .filter(|line| original.next_if_eq(line).is_none())
                .filter_map(|line| {
                    let name = line.split(' ').next().unwrap_or_default().to_owned();
                    let waits = line == "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)";
                    let uses = ["ds_", "global_", "s_memtime"].iter().any(|prefix| name.starts_with(prefix));
                    waits.then(|| "wait".to_owned()).or_else(|| uses.then_some(name))
                });
            inserted.collect::<Vec<_>>().join(" ")
        };
        let stored = "global_store_dwordx2 wait global_store_dwordx2";
        assert_eq!(
            memory(Counters::SeedClock, Probe::Time),
            format!("s_memtime s_memtime {stored}"),
            "{cpu}"
        );
        let counted = "ds_add_u32 wait ds_add_u32 wait ds_inc_u32 wait";
        let copied = "ds_read_b64 wait global_store_dwordx2 wait";
        assert_eq!(
            memory(Counters::SeedLds, Probe::Branches),
            format!("s_memtime ds_write_b64 {counted} {copied} s_memtime {stored}"),
            "{cpu}"
        );
        let counted = "global_atomic_add global_atomic_add global_atomic_inc wait";
        assert_eq!(
            memory(Counters::SeedGlobal, Probe::Branches),
            format!("s_memtime {counted} s_memtime {stored}"),
            "{cpu}"
        );
        // Their place is known from the argument alone.
        for (counters, probe) in [
            (Counters::SeedClock, Probe::Time),
            (Counters::SeedLds, Probe::Branches),
            (Counters::SeedGlobal, Probe::Branches),
            // And each has its own probe.
            (Counters::SeedClock, Probe::Branches),
            (Counters::SeedLds, Probe::Time),
        ] {
            let abi = if (probe == Probe::Time) == (counters == Counters::SeedClock) {
                Abi::Global
            } else {
                Abi::Argument
            };
            let plan =
                plan(&object, &Options { counters, probe, abi, ..Options::default() }).expect("a plan");
            let reasons: Vec<Reason> =
                plan.kernels()[0].refusals.iter().map(|refusal| refusal.reason).collect();
            assert_eq!(reasons, [Reason::CountersDoNotFit], "{cpu}: {counters:?}, {probe:?}, {abi:?}");
        }
    }
}

/// What the probes insert has branches and masks of its own, which are nobody's.
#[test]
fn an_instrumented_kernel_is_not_instrumented_again() {
    if !tools("an_instrumented_kernel_is_not_instrumented_again") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let object = compile(directory.path(), "gfx90a", "-O2");
    for abi in [Abi::Argument, Abi::Global] {
        let options = Options { abi, kernels: Some(vec!["first".to_owned()]), ..Options::default() };
        let once = apply(&object, plan(&object, &options).expect("a plan")).expect("it is instrumented");
        let once = CodeObject::parse(once.bytes).expect("a code object");
        for again in [Abi::Argument, Abi::Global] {
            let options = Options { abi: again, ..options.clone() };
            let plan = plan(&once, &options).expect("a plan");
            let reasons: Vec<Reason> =
                plan.kernels()[0].refusals.iter().map(|refusal| refusal.reason).collect();
            assert_eq!(reasons, [Reason::AlreadyInstrumented], "{abi:?}, then {again:?}");
            let error = apply(&once, plan).expect_err("nothing is left to instrument").to_string();
            assert!(error.contains("`first`: instrumented already: instrument the original"), "{error}");
        }
    }
}

/// Kernels that leave one register that costs no occupancy have lanes of another borrowed rather than fewer
/// waves.
#[test]
fn automatic_homes_keep_occupancy() {
    if !tools("automatic_homes_keep_occupancy") {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    // Up to there registers cost no wave; six more SGPRs have no number.
    for (cpu, vgprs, sgprs, waves) in [("gfx906", 24, 74, 10), ("gfx908", 24, 74, 10), ("gfx90a", 64, 90, 8)]
    {
        let names = |letter: char, first: u32, end: u32, separator: &str| {
            let all: Vec<String> = (first..end).map(|number| format!("{letter}{number}")).collect();
            all.join(separator)
        };
        let moves = names('v', 3, vgprs - 1, ", 0\\nv_mov_b32 ");
        let scalar_moves = names('s', 20, sgprs, ", 0\\ns_mov_b32 ");
        let clobbered = [names('v', 3, vgprs - 1, "\", \""), names('s', 20, sgprs, "\", \"")].join("\", \"");
        let branch = |number| format!("if (p[k + {number}] > i) p[64 * k + i + {number}] = sum++;");
        let branches: String = (0..12).map(branch).collect();
        let source = format!(
            "typedef __attribute__((address_space(1))) int gint;
             __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(64, 64))) void full(gint *p) {{
                 int i = __builtin_amdgcn_workitem_id_x(), sum = 0;
                 __asm__ volatile(\"v_mov_b32 {moves}, 0\\ns_mov_b32 {scalar_moves}, 0\" ::: \"{clobbered}\");
                 for (int k = 0; k < p[i]; k++) {{ {branches} }}
                 p[i] = sum;
             }}"
        );
        let object = compile_source(directory.path(), &source, cpu, &["-O2"]);
        for probe in [Probe::Branches, Probe::Blocks] {
            let plan = plan(&object, &Options { probe, ..Options::default() }).expect(cpu);
            let instrumented = apply(&object, plan).expect(cpu);
            let kernel = instrumented.map.kernel("full").expect(cpu);
            let occupancy = kernel.cost.occupancy;
            assert_eq!(
                (occupancy.before, occupancy.after),
                (waves, waves),
                "{cpu}: {} {:?}",
                kernel.why,
                kernel.cost
            );
            assert!(kernel.cost.borrowed_vgprs > 0, "{cpu}: {}", kernel.why);
            assert_eq!(kernel.cost.scratch[0], kernel.cost.scratch[1], "{cpu}: {}", kernel.why);
        }
    }
}
