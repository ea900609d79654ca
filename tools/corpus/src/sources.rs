//! Where code objects come from.

use std::path::{Path, PathBuf};

use amdgpu_isa::Arch;
use amdgpu_object::container::{self, Embedded};
use anyhow::{Context as _, Result, ensure};
use memmap2::Mmap;

/// The end of the help text: how to get what is known by name.
pub(crate) const HELP: &str = "\
Known collections, none of which is part of the project:
  rocrand    apt-get install librocrand1     80 kernels a target, for gfx803, gfx900, gfx906, gfx908 and gfx90a
  rocsparse  apt-get install librocsparse0   12,591 kernels a target, for the same; 1.3 GB
  aiter      pip download --no-deps amd-aiter
             python3 -m zipfile -e amd_aiter-*.whl target/corpora/aiter
             hand-tuned kernels for gfx942 and gfx950, about 1,250 each";

/// A collection of code objects that is known by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Corpus {
    /// Debian's rocRAND
    Rocrand,
    /// Debian's rocSPARSE
    Rocsparse,
    /// AMD's aiter, from PyPI
    Aiter,
}

impl Corpus {
    /// What it is called.
    const fn name(self) -> &'static str {
        match self {
            Self::Rocrand => "rocRAND",
            Self::Rocsparse => "rocSPARSE",
            Self::Aiter => "aiter",
        }
    }

    /// Where it is on this machine.
    pub(crate) fn path(self) -> Result<PathBuf> {
        let path = match self {
            Self::Rocrand => "/usr/lib/x86_64-linux-gnu/librocrand.so.1".into(),
            Self::Rocsparse => "/usr/lib/x86_64-linux-gnu/librocsparse.so.0".into(),
            Self::Aiter => crate::workspace_root().join("target/corpora/aiter"),
        };
        ensure!(path.exists(), "{} is not there\n{HELP}", path.display());
        Ok(path)
    }
}

/// What a command goes over.
#[derive(Debug, clap::Args)]
pub(crate) struct Sources {
    /// Code objects, offload bundles, programs or libraries with GPU code, and directories of them
    #[arg(value_name = "PATH", required_unless_present = "corpus")]
    paths: Vec<PathBuf>,
    /// A collection that is known by name, see below
    #[arg(long, value_name = "NAME")]
    corpus: Vec<Corpus>,
    /// Only code objects for this processor, for example gfx90a
    #[arg(long, value_name = "CPU", value_parser = known)]
    target_cpu: Option<Arch>,
}

impl Sources {
    /// The files: those named themselves, and in directories those that end like code objects, in order.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>> {
        Ok(self.named_files()?.into_iter().map(|(_, path)| path).collect())
    }

    /// The files, each with the name of the file, directory or collection that was given.
    pub(crate) fn named_files(&self) -> Result<Vec<(String, PathBuf)>> {
        let mut all = Vec::new();
        let name_of = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut given: Vec<_> = self.paths.iter().map(|path| (name_of(path), path.clone())).collect();
        for corpus in &self.corpus {
            given.push((corpus.name().to_owned(), corpus.path()?));
        }
        for (name, path) in given {
            let mut found = Vec::new();
            if path.is_dir() {
                in_directory(&path, &mut found)?;
            } else {
                found.push(path);
            }
            all.extend(found.into_iter().map(|path| (name.clone(), path)));
        }
        Ok(all)
    }

    /// The code objects for the processors asked for in a file's bytes.
    pub(crate) fn code_objects<'a>(&self, bytes: &'a [u8]) -> Result<Vec<(Arch, Embedded<'a>)>> {
        let mut objects = Vec::new();
        for embedded in container::open(bytes)? {
            let name = embedded.target_id().split(':').next().unwrap_or_default();
            if let Some(arch) = Arch::from_name(name)
                && self.target_cpu.is_none_or(|only| only == arch)
            {
                objects.push((arch, embedded));
            }
        }
        Ok(objects)
    }
}

/// The processor of a name.
pub(crate) fn known(name: &str) -> Result<Arch, String> {
    Arch::from_name(name).ok_or_else(|| format!("known are {}", Arch::KNOWN.map(Arch::name).join(", ")))
}

/// A file's bytes.
pub(crate) fn map(path: &Path) -> std::io::Result<Mmap> {
    let file = std::fs::File::open(path)?;
    // SAFETY: only bytes are read, for which each value is valid; nobody here writes to the file.
    unsafe { Mmap::map(&file) }
}

fn in_directory(directory: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let read = || format!("reading {}", directory.display());
    let entries = std::fs::read_dir(directory).with_context(read)?.collect::<std::io::Result<Vec<_>>>();
    let mut paths: Vec<_> = entries.with_context(read)?.iter().map(std::fs::DirEntry::path).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            in_directory(&path, found)?;
        } else if path.extension().is_some_and(|end| ["co", "hsaco", "elf"].iter().any(|known| end == *known))
        {
            found.push(path);
        }
    }
    Ok(())
}
