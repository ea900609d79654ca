//! The metadata note after the edit, and whether it agrees with the descriptors.
//!
//! The MessagePack of the note is read and edited as a stream, without a tree (`splice`). What does not
//! change is copied byte for byte, whether it is understood or not. Most kernels share their arguments with a
//! kernel before them; such arguments are recognised by their bytes.

mod splice;

use super::fixups::Context;
use super::{KernelEdit, NewNote, RewriteError};
use crate::note::{self, WrittenMetadata};
use crate::{Kernel, KernelMetadata, ObjectError};

/// The changed note section. `None` if nothing changes in it.
pub(super) fn edit(context: &Context<'_>) -> Result<Option<NewNote>, RewriteError> {
    for kernel in &context.object.kernels {
        if let Some(edit) = context.edit_of(kernel) {
            check(context, kernel, edit)?;
        }
    }
    let bytes = &context.object.bytes;
    let Some(note) = note::find(context.elf, bytes)? else { return Ok(None) };
    let section = context.elf.sections[note.section].file_range();
    let edits = |name: &str| context.kernels.get(name).map(|edit| &edit.metadata);
    // Kernels grow by an argument or two, of a dozen or more.
    let mut contents = Vec::with_capacity(section.len() * 5 / 4);
    contents.extend(&bytes[section.start..note.record.start]);
    let is_edited = match note.contents {
        WrittenMetadata::MessagePack(metadata) => {
            let edited = note::encode(&mut contents, |out| splice::edited(bytes, metadata, edits, out));
            edited.map_err(ObjectError::from)?
        }
        WrittenMetadata::Yaml(yaml) => {
            let text = yaml.edited(edits).map_err(|what| RewriteError::Unsupported {
                what: format!("the metadata note: {what}; it"),
                advice: "rebuild with -mcode-object-version=4 or newer",
            })?;
            text.map(|text| note::encode_yaml(&mut contents, &text)).is_some()
        }
    };
    contents.extend(&bytes[note.record.end..section.end]);
    Ok(is_edited.then_some(NewNote { section: note.section, contents }))
}

/// Sizes must agree wherever they agreed before, and the registers that the metadata counts must be allotted.
fn check(context: &Context<'_>, kernel: &Kernel, edit: &KernelEdit) -> Result<(), RewriteError> {
    if kernel.metadata == KernelMetadata::default() {
        return Ok(());
    }
    let (old, new) = (&kernel.descriptor, &edit.descriptor);
    let (was, change) = (&kernel.metadata, &edit.metadata);
    let sizes = [
        (
            "kernarg size",
            (old.kernarg_size(), was.kernarg_segment_size),
            (new.kernarg_size(), change.kernarg_segment_size),
        ),
        (
            "group segment size",
            (old.group_segment_fixed_size(), was.group_segment_fixed_size),
            (new.group_segment_fixed_size(), change.group_segment_fixed_size),
        ),
        (
            "private segment size",
            (old.private_segment_fixed_size(), was.private_segment_fixed_size),
            (new.private_segment_fixed_size(), change.private_segment_fixed_size),
        ),
    ];
    let disagree = |field, descriptor, metadata| RewriteError::Disagree {
        kernel: kernel.name.clone(),
        field,
        descriptor,
        metadata,
    };
    for (field, (old, was), (new, change)) in sizes {
        let now = change.unwrap_or(was);
        if old == was && new != now {
            return Err(disagree(field, new, now));
        }
    }
    let arch = context.object.target.arch;
    let counts = [
        ("an SGPR count of", new.sgpr_count(arch), change.sgpr_count),
        ("a VGPR count of", new.vgpr_count(arch), change.vgpr_count),
    ];
    for (field, allotted, count) in counts {
        if let Some(count) = count.filter(|&count| count > allotted) {
            return Err(disagree(field, allotted, count));
        }
    }
    Ok(())
}
