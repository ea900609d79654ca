//! Clang, for the device and for the host.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use amdgpu_isa::Feature;
use amdgpu_object::CodeObject;
use anyhow::{Context as _, Result, bail};

use crate::render::{PRELUDE, number_macros};
use crate::target::{Target, Waves};

/// Flags that make C mean one thing on both sides: no fused operations that were not asked for, integers that
/// wrap, any object reachable by any pointer, and no rounding to more than a type holds.
const MEANING: [&str; 8] = [
    "-w",
    "-std=gnu23",
    "-ffp-contract=off",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-math-errno",
    "-Xclang",
    "-ffloat16-excess-precision=none",
];

/// Singles keep subnormals, as on the host: for processors that are slow with them clang has it otherwise.
const SUBNORMALS: [&str; 2] = ["-Xclang", "-fdenormal-fp-math-f32=ieee"];

/// The last code object version with which LLVM 22 makes right code of generic pointers in functions, where
/// no register says where LDS and private memory are.
const APERTURES_BY_QUEUE: &str = "-mcode-object-version=4";

/// The order of instructions is of no account here, and a fifth of the time goes into it.
const QUICK: [&str; 6] =
    ["-mllvm", "-disable-machine-sink", "-mllvm", "-enable-misched=0", "-mllvm", "-enable-post-misched=0"];

/// What the prelude is told of the waves.
fn waves_macros(waves: Waves) -> [String; 3] {
    let Waves { lanes, is_gfx9, reach } = waves;
    [format!("-DLANES={lanes}"), format!("-DIS_GFX9={}", u8::from(is_gfx9)), format!("-DREACH={reach}")]
}

/// Whether clang and the linker are installed.
pub fn installed() -> bool {
    ["clang-22", "ld.lld-22"]
        .iter()
        .all(|tool| Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success()))
}

/// A directory with a source and the programs made from it.
#[derive(Debug)]
pub struct Workshop {
    directory: tempfile::TempDir,
}

impl Workshop {
    /// A directory with the prelude and this source.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub fn new(source: &str) -> Result<Self> {
        let directory = tempfile::tempdir().context("a temporary directory")?;
        std::fs::write(directory.path().join("prelude.h"), PRELUDE)?;
        std::fs::write(directory.path().join("programs.c"), source)?;
        Ok(Self { directory })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The code object for a processor.
    ///
    /// # Errors
    /// Clang refuses the source, with its words, or its output is no code object.
    pub fn device(&self, target: &Target) -> Result<CodeObject> {
        self.device_with(target, &[])
    }

    /// The same, with more flags, of which the last count.
    pub(crate) fn device_with(&self, target: &Target, more: &[&str]) -> Result<CodeObject> {
        let output = self.path(&format!("{}.elf", target.arch));
        self.compile_for(target, more, &output)?;
        Ok(CodeObject::parse(std::fs::read(output)?)?)
    }

    /// The passes of the compiler that it can leave out, in order, each with its number.
    pub(crate) fn passes(&self, target: &Target) -> Result<Vec<String>> {
        let said = self.compile_for(target, &["-mllvm", "-opt-bisect-limit=-1"], &self.path("passes.elf"))?;
        let passes = said.lines().filter_map(|line| line.strip_prefix("BISECT: running pass ("));
        Ok(passes.map(|pass| pass.replacen(')', ":", 1)).collect())
    }

    /// What clang says when it compiles for a processor.
    fn compile_for(&self, target: &Target, more: &[&str], output: &Path) -> Result<String> {
        let cpu = format!("-mcpu={}", target.arch);
        let macros = waves_macros(target.waves());
        let mut flags =
            vec!["--target=amdgcn-amd-amdhsa", "-nogpulib", "-fuse-ld=lld-22", &cpu, target.level];
        if target.lanes != target.arch.default_wave().lanes() {
            flags.push(match target.lanes {
                64 => "-mwavefrontsize64",
                _ => "-mno-wavefrontsize64",
            });
        }
        flags.extend(macros.iter().map(String::as_str));
        flags.extend(QUICK);
        flags.extend(SUBNORMALS);
        if !target.arch.has(Feature::ApertureRegisters) {
            flags.push(APERTURES_BY_QUEUE);
        }
        flags.extend(more);
        self.compile(&flags, output)
    }

    /// The host's program, which does between the lanes of a wave what such waves do.
    ///
    /// # Errors
    /// Clang refuses the source, with its words.
    pub fn host(&self, waves: Waves) -> Result<Host> {
        let output = self.path("host");
        let macros: Vec<String> = number_macros().into_iter().chain(waves_macros(waves)).collect();
        // Not optimised: quicker to compile, and all that can err is the plainest code there is. FMA and F16C
        // are on, so that single operations are single instructions.
        let mut flags = vec!["-O0", "-march=x86-64-v3", "-lm"];
        flags.extend(macros.iter().map(String::as_str));
        self.compile(&flags, &output)?;
        Ok(Host { program: output })
    }

    /// What clang says.
    fn compile(&self, flags: &[&str], output: &Path) -> Result<String> {
        let result = Command::new("clang-22")
            .args(MEANING)
            .args(flags)
            .arg(self.path("programs.c"))
            .arg("-o")
            .arg(output)
            .stdin(Stdio::null())
            .output()
            .context("running clang-22")?;
        let said = String::from_utf8_lossy(&result.stderr);
        if !result.status.success() {
            bail!("clang-22 {}: {said}", flags.join(" "));
        }
        Ok(said.into_owned())
    }
}

/// The programs, compiled for the host.
#[derive(Debug)]
pub struct Host {
    program: PathBuf,
}

impl Host {
    /// Every program's output, one after the other; `input` holds the input and the output's first contents.
    ///
    /// # Errors
    /// It cannot be run, or fails.
    pub fn run(&self, input: &Path) -> Result<Vec<u8>> {
        let result = Command::new(&self.program).arg(input).output().context("running the host's program")?;
        if !result.status.success() {
            bail!("the host's program failed: {}", result.status);
        }
        Ok(result.stdout)
    }
}
