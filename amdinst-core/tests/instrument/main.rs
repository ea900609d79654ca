//! Instrumented code objects, judged by LLVM's tools: they disassemble whole, and every original instruction is still
//! there, in order.

use std::path::Path;
use std::process::Command;

use amdinst_core::instrument::{
    Counters, ExecWriteClass, Home, InstrumentError, Options, Reason, SiteKind, apply, plan,
};
use amdinst_core::object::CodeObject;

const SOURCE: &str = "
typedef __attribute__((address_space(1))) int gint;
__attribute__((noinline)) int walk(int x, gint *p) {
    int sum = 0;
    for (int i = 0; i < x; i++) { if (p[i] > 3) sum += p[i]; if (sum > 1000) break; }
    return sum;
}
__attribute__((amdgpu_kernel)) void first(gint *p, gint *q, int n) {
    int i = __builtin_amdgcn_workitem_id_x();
    if (i < n) q[i] = walk(p[i], p); else q[i] = 0;
}
__attribute__((amdgpu_kernel)) void second(gint *p, gint *q, int n) {
    int i = __builtin_amdgcn_workitem_id_x();
    if (p[i] > n) q[i] = walk(i, p);
}
__attribute__((amdgpu_kernel)) void halves(gint *p) {
    __asm__ volatile(\"s_mov_b64 s[20:21], exec\\n s_mov_b32 exec_lo, -1\\n s_mov_b32 exec_hi, 5\\n s_mov_b64 exec, s[20:21]\"
                     ::: \"s20\", \"s21\");
    p[__builtin_amdgcn_workitem_id_x()] = 1;
}
__attribute__((amdgpu_kernel)) void handed(gint *p, __attribute__((address_space(3))) int *tile) {
    int i = __builtin_amdgcn_workitem_id_x();
    if (tile[i] > 3) p[i] = tile[i + 1];
}
__attribute__((amdgpu_kernel)) void straight(gint *p) { p[__builtin_amdgcn_workitem_id_x()] = 1; }
";

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
    let (input, output) = (directory.join("kernels.c"), directory.join("kernels.elf"));
    std::fs::write(&input, SOURCE).expect("writing the source");
    let status = Command::new("clang-22")
        .args(["--target=amdgcn-amd-amdhsa", "-nogpulib", "-fuse-ld=lld-22", level])
        .arg(format!("-mcpu={cpu}"))
        .arg("-o")
        .args([&output, &input])
        .status()
        .expect("running clang-22");
    assert!(status.success(), "clang failed for {cpu} {level}");
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
            for counters in Home::ALL.map(Counters::from) {
                let context = format!("{cpu} {level} {counters:?}");
                let plan = plan(&object, &Options { counters, ..Options::default() }).expect(&context);
                let instrumented = apply(&object, &plan).expect(&context);
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
                    let last = kernel.metadata.args.last().expect("the appended argument");
                    assert_eq!(Some(last.offset), probes.buffer_argument, "{context}");
                    for site in &probes.sites {
                        assert_eq!(instrumented.map.original_pc(site.new_pc), Some(site.pc), "{context}");
                    }
                }
            }
        }
    }
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
        first.sites.iter().filter(|site| site.function == "walk").map(|site| site.pc).collect();
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
    assert!(matches!(apply(&object, &straight), Err(InstrumentError::NothingInstrumented(_))));
    // `walk` is also called by `second`, which is not asked for: its sites are refused, `first`'s own is not.
    let first = plan(&object, &only("first")).expect("a plan");
    let probes = &first.kernels()[0];
    assert!(probes.is_instrumented() && !probes.refusals.is_empty());
    assert!(probes.sites.iter().all(|site| site.function == "first"));
}

/// Where a launcher puts LDS that an argument points to depends on the static size, which counters in LDS change.
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
        (probes.home, probes.refusals.iter().map(|refusal| refusal.reason).collect::<Vec<_>>())
    };
    assert_eq!(home_of(Counters::Lds), (None, vec![Reason::LdsPlacement]));
    assert_eq!(home_of(Counters::Auto), (Some(Home::Register), Vec::new()));
}

/// What is written by hand: masks that comparisons made are narrowings wherever all lanes are on before, time and again; a mask
/// that was copied from EXEC is a restore; one that comes from elsewhere is refused by name.
#[test]
fn predicated_code_is_a_site_a_restore_or_a_refusal() {
    if !tools("predicated_code_is_a_site_a_restore_or_a_refusal") {
        return;
    }
    const LINES: [(&str, &str); 13] = [
        ("v_cmp_lt_u32 s[20:21], v0, v1", ""),
        ("s_mov_b64 s[22:23], exec", ""),
        ("s_load_dwordx2 s[24:25], s[8:9], 0x0", ""),
        ("s_cselect_b64 s[26:27], -1, 0", ""),
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
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (input, output) = (directory.path().join("predicated.c"), directory.path().join("predicated.elf"));
    let lines = LINES.map(|(line, _)| line).join("\\n");
    let source =
        format!("__attribute__((amdgpu_kernel)) void kernel(void) {{ __asm__ volatile(\"{lines}\"); }}");
    std::fs::write(&input, source).expect("writing the source");
    let status = Command::new("clang-22")
        .args(["--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-fuse-ld=lld-22", "-O1", "-o"])
        .args([&output, &input])
        .status()
        .expect("running clang-22");
    assert!(status.success());
    let object = CodeObject::parse(std::fs::read(&output).expect("the file")).expect("a code object");
    let plan = plan(&object, &Options::default()).expect("a plan");
    let [kernel] = plan.kernels() else { panic!("one kernel") };
    let mut found: Vec<(u64, String)> =
        kernel.sites.iter().map(|site| (site.pc, "site".to_owned())).collect();
    found.extend(kernel.exec_writes.iter().map(|write| {
        let name = serde_json::to_value(write.class).expect("a word");
        (write.pc, name.as_str().expect("a word").to_owned())
    }));
    found.sort();
    let found: Vec<&str> = found.iter().map(|(_, class)| class.as_str()).collect();
    let expected: Vec<&str> =
        LINES.iter().map(|(_, class)| *class).filter(|class| !class.is_empty()).collect();
    assert_eq!(found, expected);
    let refused: Vec<&str> = kernel.refusals.iter().map(|refusal| refusal.detail.as_str()).collect();
    assert_eq!(refused, ["`s_mov_b64 exec, s[24:25]` sets a mask of unknown origin"]);
}
