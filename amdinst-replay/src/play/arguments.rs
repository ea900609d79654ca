//! The kernarg segment of a recorded launch.

use amdgpu_object::{Kernel, KernelArg, KernelMetadata};
use amdinst_text::count;

use crate::calls::{Arguments, Value, ValueKind};
use crate::process::Process;

/// The explicit part of the segment. Hidden arguments are filled in by the machine.
pub(super) fn segment(process: &Process, kernel: &Kernel, arguments: &Arguments) -> Result<Vec<u8>, String> {
    match arguments {
        Arguments::Values(values) => of_values(kernel, values),
        Arguments::Segment { data, bytes } => {
            let (most, file) = (KernelMetadata::MAX_KERNARG_SEGMENT, data.file());
            if *bytes > u64::from(most) {
                return Err(format!("{file} has {bytes} bytes, and a kernarg segment {most} at most"));
            }
            process.folder.read_exactly(&file, *bytes).map_err(|error| error.to_string())
        }
    }
}

fn of_values(kernel: &Kernel, values: &[Value]) -> Result<Vec<u8>, String> {
    let values: Vec<&Value> = values.iter().filter(|value| value.kind != ValueKind::Hidden).collect();
    let explicit: Vec<&KernelArg> =
        kernel.metadata.args.iter().filter(|argument| !argument.is_hidden()).collect();
    if values.is_empty() && !explicit.is_empty() {
        return Err("the archive does not hold its arguments".to_owned());
    }
    if explicit.len() != values.len() {
        let takes = count(explicit.len(), "argument");
        return Err(format!("the kernel takes {takes}, and {} are recorded", values.len()));
    }
    let mut bytes = Vec::new();
    for (index, (argument, value)) in explicit.into_iter().zip(values).enumerate() {
        let size = argument.size as usize;
        if value.bytes.len() != size {
            let (number, recorded) = (index + 1, value.bytes.len());
            return Err(format!("its argument {number} has {size} bytes, and {recorded} are recorded"));
        }
        let start = argument.offset as usize;
        let end = start.checked_add(size).filter(|&end| end <= KernelMetadata::MAX_KERNARG_SEGMENT as usize);
        let end = end
            .ok_or_else(|| format!("its argument {} is at offset {start}: the note is damaged", index + 1))?;
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[start..end].copy_from_slice(&value.bytes);
    }
    Ok(bytes)
}

/// The words of a segment that may be pointers, with their offsets: pointers stand at multiples of 4.
pub(super) fn words(segment: &[u8]) -> impl Iterator<Item = (usize, u64)> {
    segment
        .windows(8)
        .enumerate()
        .step_by(4)
        .filter_map(|(at, word)| Some((at, u64::from_le_bytes(word.try_into().ok()?))))
}
