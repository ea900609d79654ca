//! `cargo xtask corpus seeds`: what the fuzz targets in `tools/fuzz/` begin with.

use std::path::{Path, PathBuf};

use amdgpu_isa::{Arch, opcodes};
use amdgpu_object::{CodeObject, container};
use amdinst_core::counters::{Layout, record_stride};
use amdinst_core::instrument::{self, Options as Instrumentation};
use anyhow::{Context as _, Result};

/// Options of `cargo xtask corpus seeds`.
///
/// Writes one directory for each fuzz target: code objects in their containers, every opcode as bytes and as
/// text, probe maps and counter buffers.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Where the directories go; where cargo-fuzz looks for them when left out
    #[arg(long, value_name = "DIR", default_value = "tools/fuzz/corpus")]
    output: PathBuf,
    /// Further code objects to begin with
    #[arg(value_name = "PATH")]
    objects: Vec<PathBuf>,
}

/// Writes the seeds.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let root = crate::workspace_root();
    let output = root.join(&options.output);
    let fixture = root.join("cargo-amdinst/tests/fixtures/branches.elf");
    let mut number = 0;
    let mut write = |target: &str, bytes: &[u8]| -> Result<()> {
        number += 1;
        let directory = output.join(target);
        std::fs::create_dir_all(&directory)?;
        let path = directory.join(format!("seed-{number:05}"));
        std::fs::write(&path, bytes).with_context(|| format!("writing {}", path.display()))
    };
    let mut paths = vec![fixture];
    for entry in std::fs::read_dir(root.join("tools/fuzz/seeds/whole_path"))? {
        paths.push(entry?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "elf"));
    paths.sort();
    for path in paths.iter().chain(&options.objects) {
        let bytes = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
        write("code_object", &bytes)?;
        write("code_object", &bundle(&bytes))?;
        write("whole_path", &bytes)?;
        write("whole_path", &bundle(&bytes))?;
        for embedded in container::open(&bytes).with_context(|| format!("{}", path.display()))? {
            let object = CodeObject::parse(embedded.bytes.to_vec())?;
            // Of some processors code is executed, and not instrumented.
            let Ok(plan) = instrument::plan(&object, &Instrumentation::default()) else { continue };
            let Ok(instrumented) = instrument::apply(&object, plan) else { continue };
            write("code_object", &instrumented.bytes)?;
            write("records", &serde_json::to_vec(&instrumented.map)?)?;
        }
    }
    for (index, &arch) in Arch::ALL.iter().enumerate() {
        for opcode in opcodes(arch) {
            let Ok(inst) = opcode.plain() else { continue };
            let mut bytes = vec![index as u8];
            bytes.extend(inst.encode(arch)?.iter().flat_map(|word| word.to_le_bytes()));
            write("instruction", &bytes)?;
            write("assembly", &[&[index as u8][..], inst.text(arch).as_bytes()].concat())?;
        }
    }
    for sites in 0..4 {
        let layout = Layout::new([2, 1, 1], [128, 1, 1], record_stride(sites));
        write("records", &layout.initial_buffer())?;
    }
    println!("{number} seeds in {}", Path::new(&output).display());
    Ok(true)
}

/// An offload bundle with one entry.
fn bundle(code_object: &[u8]) -> Vec<u8> {
    let target = b"hipv4-amdgcn-amd-amdhsa--gfx90a";
    let start = (24 + 8 + 24 + target.len()).next_multiple_of(64);
    let mut bytes = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    for word in [1, start, code_object.len(), target.len()] {
        bytes.extend((word as u64).to_le_bytes());
    }
    bytes.extend(target);
    bytes.resize(start, 0);
    bytes.extend(code_object);
    bytes
}
