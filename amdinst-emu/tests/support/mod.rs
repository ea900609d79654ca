//! Kernels compiled by clang at test time.

#![allow(dead_code, reason = "each test binary uses a part")]

#[path = "../../../amdgpu-object/tests/support/once.rs"]
mod once;

use std::process::Command;

use amdgpu_isa::Arch;
use amdgpu_object::CodeObject;
use amdinst_emu::{Config, Execution, Fault, Launch, Machine, Program};

use once::{Once, installed};

/// What kernels are compiled for: a processor and how many lanes its waves have, and the optimisation levels.
/// One of each generation at all levels; the others with no optimisation and with all of it, since most of a
/// test's time is the compiler's.
pub(crate) const TARGETS: [((&str, u32), &[&str]); 12] = [
    (("gfx90a", 64), LEVELS),
    (("gfx906", 64), ENDS),
    (("gfx942", 64), ENDS),
    (("gfx1010", 32), ENDS),
    (("gfx1030", 32), LEVELS),
    (("gfx1030", 64), ENDS),
    (("gfx1100", 32), LEVELS),
    (("gfx1100", 64), ENDS),
    (("gfx1151", 32), ENDS),
    (("gfx1151", 64), ENDS),
    (("gfx1201", 32), LEVELS),
    (("gfx1201", 64), ENDS),
];
pub(crate) const LEVELS: &[&str] = &["-O0", "-O1", "-O2", "-O3", "-Os"];
const ENDS: &[&str] = &["-O0", "-O3"];

/// With `AMDINST_HAZARD_TARGETS=all`, each kernel on each processor at each level, which takes minutes.
pub(crate) fn everything() -> bool {
    std::env::var("AMDINST_HAZARD_TARGETS").is_ok_and(|value| value == "all")
}

/// Each target at each of its levels; where these are two, at one of them in turn, unless [`everything`] is
/// asked for.
pub(crate) fn targets() -> impl Iterator<Item = ((&'static str, u32), &'static str)> {
    let all = everything();
    TARGETS.into_iter().enumerate().flat_map(move |(number, (target, levels))| {
        let is_wanted = move |turn: usize| all || levels.len() > 2 || (number + turn).is_multiple_of(2);
        let levels = levels.iter().enumerate().filter(move |(turn, _)| is_wanted(*turn));
        levels.map(move |(_, level)| (target, *level))
    })
}

/// What clang is told so that waves have so many lanes.
pub(crate) fn wave_options(cpu: &str, lanes: u32) -> &'static [&'static str] {
    let arch = Arch::from_name(cpu).expect("a processor");
    if arch.default_wave().lanes() == lanes { &[] } else { &["-mwavefrontsize64"] }
}

/// Whether clang and the linker are there. Says so when they are not; a failure where tools are required.
pub(crate) fn tools(test: &str) -> bool {
    if !["clang-22", "ld.lld-22"].into_iter().all(installed) {
        let message =
            format!("{test}: clang-22 and ld.lld-22 are not installed (apt-get install clang-22 lld-22)");
        assert!(std::env::var_os("AMDINST_REQUIRE_TOOLS").is_none_or(|value| value != "1"), "{message}");
        eprintln!("SKIPPED: {message}");
        return false;
    }
    true
}

/// Compile OpenCL C to a code object.
pub(crate) fn compile(source: &str, cpu: &str, level: &str) -> CodeObject {
    compile_with(source, cpu, level, &[])
}

/// Compile for a processor, with waves of so many lanes.
pub(crate) fn compile_for(source: &str, (cpu, lanes): (&str, u32), level: &str) -> CodeObject {
    compile_with(source, cpu, level, wave_options(cpu, lanes))
}

/// Compile with further options. What was compiled before is not compiled again: starting clang takes longer
/// than most that is done here.
pub(crate) fn compile_with(source: &str, cpu: &str, level: &str, options: &[&str]) -> CodeObject {
    static COMPILED: Once<String, Vec<u8>> = Once::new();
    let key = format!("{cpu} {level} {options:?} {source}");
    CodeObject::parse(COMPILED.get(key, || run_clang(source, cpu, level, options))).expect("a code object")
}

/// Compile C, in which functions may recurse, to a code object.
pub(crate) fn compile_c(source: &str, cpu: &str, level: &str) -> CodeObject {
    let cpu = format!("-mcpu={cpu}");
    CodeObject::parse(build("kernel.c", source, ["-nogpulib", "-g", &cpu, level])).expect("a code object")
}

/// Has clang make a code object of a source file of this name. Its link is not left to clang, which would
/// take three processes and not two: starting them is most of a test's time.
pub(crate) fn build<'a>(name: &str, source: &str, options: impl IntoIterator<Item = &'a str>) -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = |name: &str| directory.path().join(name);
    std::fs::write(file(name), source).expect("writing the source");
    let run = |program: &str, command: &mut Command| {
        let result = command.output().unwrap_or_else(|error| panic!("running {program}: {error}"));
        assert!(result.status.success(), "{program}: {}", String::from_utf8_lossy(&result.stderr));
    };
    let mut clang = Command::new("clang-22");
    clang.args(["--target=amdgcn-amd-amdhsa", "-c"]).args(options).arg("-o");
    run("clang-22", clang.args([file("kernel.o"), file(name)]));
    let mut linker = Command::new("ld.lld-22");
    linker.args(["--no-undefined", "-shared", "-o"]);
    run("ld.lld-22", linker.args([file("kernel.elf"), file("kernel.o")]));
    std::fs::read(file("kernel.elf")).expect("reading the code object")
}

/// Behind a processor's name: its waves have 64 lanes, which is not what it has by default.
pub(crate) const WAVE64: &str = ":wave64";

/// What clang is told of a processor, behind whose name [`WAVE64`] may stand.
pub(crate) fn processor(cpu: &str) -> Vec<String> {
    let wave = cpu.ends_with(WAVE64).then(|| "-mwavefrontsize64".to_owned());
    [format!("-mcpu={}", cpu.trim_end_matches(WAVE64))].into_iter().chain(wave).collect()
}

fn run_clang(source: &str, cpu: &str, level: &str, options: &[&str]) -> Vec<u8> {
    let language = ["-nogpulib", "-x", "cl", "-cl-std=CL2.0", "-g", "-Xclang", "-finclude-default-header"];
    let code =
        ["-Xclang", "-disable-O0-optnone", "-ffp-contract=off", "-cl-fp32-correctly-rounded-divide-sqrt"];
    let processor = processor(cpu);
    let options = processor.iter().map(String::as_str).chain([level]).chain(options.iter().copied());
    build("kernel.cl", source, language.into_iter().chain(code).chain(options))
}

/// A machine with one program.
pub(crate) struct Device {
    pub machine: Machine,
    pub program: Program,
}

impl Device {
    pub(crate) fn new(source: &str, cpu: &str, level: &str) -> Self {
        Self::with(&compile(source, cpu, level), Config::default())
    }

    pub(crate) fn with(object: &CodeObject, config: Config) -> Self {
        let arch: Arch = object.target.arch;
        let mut machine = Machine::new(arch, config);
        let program = machine.load(object).expect("loading");
        Self { machine, program }
    }

    /// A buffer with these contents.
    pub(crate) fn buffer<T: Copy>(&mut self, label: &str, values: &[T]) -> u64 {
        let bytes = bytes_of(values);
        let address = self.machine.alloc(bytes.len() as u64, 16, label).expect("allocating");
        self.machine.write(address, &bytes).expect("writing");
        address
    }

    /// A buffer's contents.
    pub(crate) fn contents<const N: usize, T>(
        &self,
        address: u64,
        count: usize,
        from: impl Fn([u8; N]) -> T,
    ) -> Vec<T> {
        let mut bytes = vec![0; N * count];
        self.machine.read(address, &mut bytes).expect("reading");
        bytes.chunks_exact(N).map(|chunk| from(chunk.try_into().expect("a chunk"))).collect()
    }

    pub(crate) fn u32s(&self, address: u64, count: usize) -> Vec<u32> {
        self.contents(address, count, u32::from_le_bytes)
    }

    pub(crate) fn u64s(&self, address: u64, count: usize) -> Vec<u64> {
        self.contents(address, count, u64::from_le_bytes)
    }

    pub(crate) fn launch(
        &mut self,
        kernel: &str,
        grid: u32,
        block: u32,
        arguments: &[u64],
    ) -> Result<Execution, Fault> {
        let launch = Launch {
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            kernarg: arguments.iter().flat_map(|argument| argument.to_le_bytes()).collect(),
            record_masks: true,
            ..Launch::new(kernel)
        };
        self.machine.launch(&self.program, &launch)
    }
}

pub(crate) fn bytes_of<T: Copy>(values: &[T]) -> Vec<u8> {
    // SAFETY: any initialised memory may be read as bytes; the types used have no padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) }.to_vec()
}

/// Deterministic numbers.
pub(crate) fn random(count: usize, seed: u64) -> Vec<u64> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    std::iter::repeat_with(|| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = state;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    })
    .take(count)
    .collect()
}

/// What a kernel `k` written in assembly has.
pub(crate) struct Assembly<'a> {
    pub cpu: &'a str,
    /// Registers that it declares.
    pub vgprs: u32,
    pub sgprs: u32,
    /// Where AGPRs begin, from gfx90a on.
    pub accum_offset: u32,
    /// Bytes of the kernarg segment, whose address is in s[0:1].
    pub kernarg: u32,
    /// Bytes of scratch memory a work-item.
    pub scratch: u32,
    /// Bytes of LDS a workgroup.
    pub lds: u32,
    /// Lanes of a wave.
    pub lanes: u32,
}

impl Default for Assembly<'_> {
    fn default() -> Self {
        Self {
            cpu: "gfx90a",
            vgprs: 8,
            sgprs: 24,
            accum_offset: 8,
            kernarg: 16,
            scratch: 0,
            lds: 0,
            lanes: 64,
        }
    }
}

impl Assembly<'_> {
    /// Assembles a body, behind which the kernel ends.
    pub(crate) fn object(&self, body: &str) -> CodeObject {
        let Self { cpu, vgprs, sgprs, accum_offset, kernarg, scratch, lds, lanes } = self;
        let unified = ["gfx90a", "gfx942", "gfx950"].contains(cpu);
        let accum = if unified { format!(".amdhsa_accum_offset {accum_offset}") } else { String::new() };
        let text = format!(
            ".amdgcn_target \"amdgcn-amd-amdhsa--{cpu}\"
.text
.globl k
.p2align 8
.type k,@function
k:
{body}
  s_endpgm
.Lend:
.size k, .Lend-k
.rodata
.p2align 6
.amdhsa_kernel k
.amdhsa_next_free_vgpr {vgprs}
.amdhsa_next_free_sgpr {sgprs}
{accum}
.amdhsa_user_sgpr_kernarg_segment_ptr 1
.amdhsa_kernarg_size {kernarg}
.amdhsa_private_segment_fixed_size {scratch}
.amdhsa_group_segment_fixed_size {lds}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--{cpu}
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: {kernarg}
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: {scratch}
    .kernarg_segment_align: 8
    .wavefront_size: {lanes}
    .sgpr_count: {sgprs}
    .vgpr_count: {vgprs}
    .max_flat_workgroup_size: 1024
...
.end_amdgpu_metadata
"
        );
        let processor = format!("-mcpu={cpu}");
        let options = wave_options(self.cpu, *lanes).iter().copied().chain([&processor[..]]);
        CodeObject::parse(build("k.s", &text, options)).expect("a code object")
    }
}
