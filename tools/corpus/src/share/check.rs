//! Other readers' opinion of an instrumented code object.

use std::path::{Path, PathBuf};
use std::process::Command;

use amdgpu_object::container;
use anyhow::{Context as _, Result, anyhow, ensure};
use goblin::elf::Elf;
use serde_json::Value;

use crate::disasm::compare::compare;

/// Runs LLVM's tools. That goblin reads a code object, and that each descriptor says what the note says,
/// `rewrite` has checked already.
#[derive(Debug)]
pub(super) struct Checker {
    objdump: PathBuf,
    readelf: PathBuf,
}

/// What two readers must agree about: a name or kind, then numbers.
type Header = (String, [u64; 5]);

impl Checker {
    pub(super) fn new() -> Self {
        Self { objdump: "llvm-objdump-22".into(), readelf: "llvm-readelf-22".into() }
    }

    /// Checks that `llvm-readelf` reads everything without a warning and finds the headers that goblin finds,
    /// and that `llvm-objdump`'s listing is ours, line by line.
    pub(super) fn check(&self, bytes: Vec<u8>) -> Result<()> {
        let directory = tempfile::tempdir()?;
        let file = directory.path().join("instrumented.elf");
        std::fs::write(&file, &bytes)?;
        self.readelf(&file, &["--all", "-W"])?;
        let json = self.readelf(&file, &["--elf-output-style=JSON", "-S", "-l"])?;
        let theirs = llvm_headers(&serde_json::from_slice(&json)?).context("llvm-readelf's JSON")?;
        let ours = goblin_headers(&Elf::parse(&bytes)?);
        for (ours, theirs) in ours.iter().zip(&theirs) {
            ensure!(ours == theirs, "goblin and llvm-readelf differ: {ours:x?}, {theirs:x?}");
        }
        ensure!(
            ours.len() == theirs.len(),
            "{} headers, of which llvm-readelf sees {}",
            ours.len(),
            theirs.len()
        );
        for code in container::open(&bytes)? {
            let comparison = compare(&self.objdump, directory.path(), &code)?;
            let examples = comparison.examples.first().map_or("", String::as_str);
            ensure!(
                comparison.different == 0,
                "{} lines of the listing differ:\n{examples}",
                comparison.different
            );
        }
        Ok(())
    }

    fn readelf(&self, file: &Path, options: &[&str]) -> Result<Vec<u8>> {
        let output = Command::new(&self.readelf).args(options).arg(file).output();
        let output = output.with_context(|| format!("running {}", self.readelf.display()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success() && said.is_empty(), "llvm-readelf: {said}");
        Ok(output.stdout)
    }
}

fn goblin_headers(elf: &Elf<'_>) -> Vec<Header> {
    let sections = elf.section_headers.iter().map(|section| {
        let name = elf.shdr_strtab.get_at(section.sh_name).unwrap_or("?").to_owned();
        let numbers =
            [section.sh_type.into(), section.sh_flags, section.sh_addr, section.sh_offset, section.sh_size];
        (name, numbers)
    });
    let segments = elf.program_headers.iter().map(|segment| {
        let numbers =
            [segment.p_flags.into(), segment.p_offset, segment.p_vaddr, segment.p_filesz, segment.p_memsz];
        (segment.p_type.to_string(), numbers)
    });
    sections.chain(segments).collect()
}

fn llvm_headers(json: &Value) -> Result<Vec<Header>> {
    let list = |key: &str| json[0][key].as_array().ok_or_else(|| anyhow!("no {key}"));
    let number = |value: &Value| value.as_u64().ok_or_else(|| anyhow!("no number: {value}"));
    let mut headers = Vec::new();
    for entry in list("Sections")? {
        let section = &entry["Section"];
        let name = section["Name"]["Name"].as_str().unwrap_or("?").to_owned();
        let numbers = [
            number(&section["Type"]["Value"])?,
            number(&section["Flags"]["Value"])?,
            number(&section["Address"])?,
            number(&section["Offset"])?,
            number(&section["Size"])?,
        ];
        headers.push((name, numbers));
    }
    for entry in list("ProgramHeaders")? {
        let segment = &entry["ProgramHeader"];
        let numbers = [
            number(&segment["Flags"]["Value"])?,
            number(&segment["Offset"])?,
            number(&segment["VirtualAddress"])?,
            number(&segment["FileSize"])?,
            number(&segment["MemSize"])?,
        ];
        headers.push((number(&segment["Type"]["Value"])?.to_string(), numbers));
    }
    Ok(headers)
}
