//! `--html`: the page, with the disassembly of the kernels that were run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use amdgpu_object::CodeObject;
use amdgpu_object::lines::SourceMap;
use amdinst_core::report::run::content_hash;
use amdinst_report::html::{self, Extras, GpuLinks, KernelListing};
use amdinst_report::{Diff, Summary, Violation};

use super::input::SavedRun;
use crate::context::Context;
use crate::exit::{CommandResult, Exit, OrExit as _};

/// What stands on the page besides the summary.
pub(super) struct Parts<'a> {
    pub(super) violations: &'a [Violation],
    pub(super) diff: Option<&'a Diff>,
    pub(super) baseline: Option<&'a Summary>,
    /// If it is the page of one GPU of several.
    pub(super) gpus: Option<GpuLinks<'a>>,
}

/// Writes `directory/index.html`.
///
/// # Errors
/// A directory or a file that cannot be written.
pub(super) fn write(
    context: &Context,
    directory: &Path,
    input: &SavedRun,
    summary: &Summary,
    parts: &Parts<'_>,
) -> CommandResult<()> {
    let listings = listings(context, input, summary);
    let Parts { violations, diff, baseline, gpus } = *parts;
    let extras = Extras { listings: &listings, violations, diff, baseline, gpus };
    let page = html::render(summary, &input.sources, &extras).or_exit(Exit::OutputFailed)?;
    self::directory(directory)?;
    super::write(context, &directory.join("index.html"), page.as_bytes())
}

/// Makes a directory for pages, if it is not there.
///
/// # Errors
/// It cannot be made.
pub(super) fn directory(path: &Path) -> CommandResult<()> {
    fs::create_dir_all(path).or_exit_with(Exit::OutputFailed, || format!("cannot write {}", path.display()))
}

/// The disassembly of every kernel of the summary, of code objects that are as they were when they ran.
/// Others are left out, with a warning.
fn listings(context: &Context, input: &SavedRun, summary: &Summary) -> Vec<KernelListing> {
    let root = input.root.to_string_lossy();
    let mut objects = BTreeMap::<&str, Option<(CodeObject, SourceMap)>>::new();
    let mut listings = Vec::new();
    for facts in &input.run.kernels {
        if !summary.kernels.iter().any(|kernel| kernel.name == facts.name && kernel.cpu == facts.cpu) {
            continue;
        }
        let object = objects.entry(&facts.code_object).or_insert_with(|| {
            let read = code_object(&input.artifacts.join(&facts.code_object), &facts.code_object_hash);
            read.map_err(|why| {
                context.shell.warn(format_args!("no disassembly: {}: {why}", facts.code_object))
            })
            .ok()
        });
        let Some((object, lines)) = object else { continue };
        if let Some(kernel) = object.kernel(&facts.name) {
            listings.push(KernelListing::new(object, kernel, lines, facts, &root));
        }
    }
    listings
}

fn code_object(path: &Path, hash: &str) -> Result<(CodeObject, SourceMap), String> {
    let bytes = fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "the kernels were built again after the run".to_owned(),
        _ => error.to_string(),
    })?;
    if content_hash(&bytes) != hash {
        return Err("it is not the one that was run".to_owned());
    }
    let object = CodeObject::parse(bytes).map_err(|error| error.to_string())?;
    // Without source lines the disassembly is still worth seeing.
    let lines = SourceMap::new(&object).unwrap_or_default();
    Ok((object, lines))
}
