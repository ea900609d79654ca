//! The metadata note after the edit, and whether it agrees with the descriptors.

use rmpv::ValueRef as Value;

use super::fixups::Context;
use super::{KernelEdit, MetadataEdit, NewNote, RewriteError};
use crate::object::note::Contents;
use crate::object::{Kernel, KernelMetadata, metadata, note};

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
    let replace = |record: &[u8]| {
        let contents =
            [&bytes[section.start..note.record.start], record, &bytes[note.record.end..section.end]].concat();
        NewNote { section: note.section, contents }
    };
    let mut value = match note.contents {
        Contents::MessagePack(value) => value,
        Contents::Yaml(yaml) => {
            let edits = |name: &str| context.kernels.get(name).map(|edit| &edit.metadata);
            let text = yaml.edited(edits).map_err(|what| RewriteError::Unsupported {
                what: format!("the metadata note: {what}; it"),
                advice: "rebuild with -mcode-object-version=4 or newer",
            })?;
            return Ok(text.map(|text| replace(&note::encode_yaml(&text))));
        }
    };
    let Some(Value::Array(kernels)) = metadata::get_mut(&mut value, "amdhsa.kernels") else {
        return Ok(None);
    };

    let mut changed = false;
    for entry in kernels {
        let name = metadata::get(entry, ".name").and_then(metadata::text);
        let edit = name.and_then(|name| context.kernels.get(name));
        if let Some(edit) = edit.filter(|edit| edit.metadata != MetadataEdit::default()) {
            apply(&edit.metadata, entry);
            changed = true;
        }
    }
    Ok(changed.then(|| replace(&note::encode(&value))))
}

fn apply<'a>(edit: &'a MetadataEdit, entry: &mut Value<'a>) {
    for (key, value) in [
        (".kernarg_segment_size", edit.kernarg_segment_size),
        (".group_segment_fixed_size", edit.group_segment_fixed_size),
        (".private_segment_fixed_size", edit.private_segment_fixed_size),
        (".sgpr_count", edit.sgpr_count),
        (".vgpr_count", edit.vgpr_count),
        (".agpr_count", edit.agpr_count),
    ] {
        if let Some(value) = value {
            metadata::set(entry, key, Value::from(value));
        }
    }
    if !edit.append_args.is_empty() {
        let added = edit.append_args.iter().map(|arg| arg.to_value());
        match metadata::get_mut(entry, ".args") {
            Some(Value::Array(args)) => args.extend(added),
            _ => metadata::set(entry, ".args", Value::Array(added.collect())),
        }
    }
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
