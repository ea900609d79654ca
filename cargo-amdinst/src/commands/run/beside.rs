//! `--with`: code objects that are loaded beside the kernel's.

use std::path::PathBuf;

use amdgpu_isa::Arch;
use amdinst_launch::Beside;

use crate::cli::FileArgs;
use crate::commands::input::{File, Input};
use crate::exit::CommandResult;

/// Reads the code object for a processor in each file.
///
/// # Errors
/// When a file has none, or several.
pub(super) fn open(files: &[PathBuf], arch: Arch) -> CommandResult<Beside> {
    let read = |path: &PathBuf| {
        let target_cpu = Some(arch.name().to_owned());
        let args = FileArgs { file: path.clone(), target_cpu, object: None };
        let file = File::open(path)?;
        Ok(Input::new(&args, &file)?.to_execute().one(None, None)?.object)
    };
    Ok(Beside { objects: files.iter().map(read).collect::<CommandResult<_>>()? })
}
