//! From `--arg` values to a kernarg segment and device buffers, checked against the kernel's own arguments.

use std::fs;
use std::path::PathBuf;

use amdinst_core::object::{Kernel, KernelArg, KernelMetadata};
use amdinst_emu::{Machine, MemoryError};

use super::args::{ArgSpec, Scalar};
use super::room::Room;
use crate::commands::output::count;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};

/// What one argument becomes.
#[derive(Clone, Debug)]
pub enum Value {
    /// A device buffer.
    Buffer {
        /// What faults call it.
        label: String,
        /// What it holds before the launch.
        contents: Vec<u8>,
        /// Where it goes after the launch.
        save: Option<PathBuf>,
    },
    /// A number or a structure, as it lies in the kernarg segment.
    Bytes(Vec<u8>),
}

/// The arguments of a launch, read from their files and checked; what a launch on each machine starts from.
#[derive(Clone, Debug)]
pub struct Arguments {
    /// Values with their offsets in the kernarg segment, in the kernel's order.
    pub values: Vec<(u32, Value)>,
    /// Bytes of the kernarg segment, to the end of the last explicit argument.
    pub size: u32,
}

impl Arguments {
    /// Checks `specs` against the kernel's explicit arguments and reads the files.
    ///
    /// # Errors
    /// When number, kind or size differ, this machine has no room for the buffers, or a file cannot be read.
    pub fn new(kernel: &Kernel, specs: &[ArgSpec]) -> CommandResult<Self> {
        let specs = &with_bytes_read(specs)?;
        let slots = slots(kernel, specs)?;
        for (index, (spec, slot)) in specs.iter().zip(&slots).enumerate() {
            check(kernel, index, spec, slot)?;
        }
        Room::here().check(specs.iter().map(buffer_size)).map_err(|(index, error)| {
            let what = describe(index, &slots[index]);
            Failure::msg(Exit::Usage, format!("kernel `{}`, {what}: {error}", kernel.name))
        })?;
        let mut values = Vec::new();
        let mut size = 0;
        for (index, (spec, slot)) in specs.iter().zip(&slots).enumerate() {
            values.push((slot.offset, value(index, spec, slot)?));
            let end = slot
                .offset
                .checked_add(slot.size)
                .filter(|&end| end <= KernelMetadata::MAX_KERNARG_SEGMENT)
                .ok_or_else(|| {
                    let what =
                        format!("{} at offset {}: the note is damaged", describe(index, slot), slot.offset);
                    Failure::msg(Exit::BadInput, what)
                })?;
            size = size.max(end);
        }
        Ok(Self { values, size })
    }

    /// Allocates and fills the buffers on `machine`, and returns the kernarg segment and each buffer's address, in the
    /// order of the arguments. Two machines that are filled alike give the same addresses.
    ///
    /// # Errors
    /// When the device has no room.
    pub fn place(&self, machine: &mut Machine) -> Result<Placed, MemoryError> {
        let mut placed = Placed { kernarg: vec![0; self.size as usize], buffers: Vec::new() };
        for (offset, value) in &self.values {
            let bytes = match value {
                Value::Bytes(bytes) => bytes.clone(),
                Value::Buffer { label, contents, .. } => {
                    let address = machine.alloc(contents.len() as u64, 256, label)?;
                    machine.write(address, contents)?;
                    placed.buffers.push((address, contents.len()));
                    address.to_le_bytes().to_vec()
                }
            };
            placed.kernarg[*offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        Ok(placed)
    }

    /// Where each buffer goes after the launch, in the order of the arguments.
    pub fn saves(&self) -> impl Iterator<Item = Option<&PathBuf>> {
        self.values.iter().filter_map(|(_, value)| match value {
            Value::Buffer { save, .. } => Some(save.as_ref()),
            Value::Bytes(_) => None,
        })
    }
}

/// [`Arguments`] on a machine.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The explicit part of the kernarg segment.
    pub kernarg: Vec<u8>,
    /// Address and size of each buffer, in the order of the arguments.
    pub buffers: Vec<(u64, usize)>,
}

impl Placed {
    /// What the buffers hold, in the order of the arguments.
    ///
    /// # Errors
    /// When a buffer is gone, which no launch does.
    pub fn read(&self, machine: &Machine) -> Result<Vec<Vec<u8>>, MemoryError> {
        let read = |&(address, size): &(u64, usize)| {
            let mut bytes = vec![0; size];
            machine.read(address, &mut bytes).map(|()| bytes)
        };
        self.buffers.iter().map(read).collect()
    }
}

/// The kernel's explicit arguments; for a note that lists none, what the given ones would be in C.
fn slots(kernel: &Kernel, specs: &[ArgSpec]) -> CommandResult<Vec<KernelArg>> {
    let metadata = &kernel.metadata;
    let explicit: Vec<_> = metadata.args.iter().filter(|arg| !arg.is_hidden()).cloned().collect();
    if explicit.is_empty() && metadata.args.is_empty() && metadata.kernarg_segment_size > 0 {
        return Ok(natural_layout(specs));
    }
    if explicit.len() == specs.len() {
        return Ok(explicit);
    }
    let mut failure = Failure::msg(
        Exit::Usage,
        format_args!(
            "kernel `{}` takes {}, {} given",
            kernel.name,
            count(explicit.len(), "argument"),
            specs.len()
        ),
    );
    for (index, arg) in explicit.iter().enumerate() {
        failure = failure.note(format!("{}: {}", describe(index, arg), wanted(arg)));
    }
    Err(failure)
}

/// `bytes:FILE` arguments as what the files hold.
fn with_bytes_read(specs: &[ArgSpec]) -> CommandResult<Vec<ArgSpec>> {
    let read = |(index, spec): (usize, &ArgSpec)| match spec {
        ArgSpec::Bytes(path) => {
            let bytes = fs::read(path).or_exit_with(Exit::BadInput, || {
                format!("argument {}: cannot read {}", index + 1, path.display())
            })?;
            Ok(ArgSpec::Hex(bytes))
        }
        other => Ok(other.clone()),
    };
    specs.iter().enumerate().map(read).collect()
}

/// Each argument at the next multiple of its size, as C lays them out.
fn natural_layout(specs: &[ArgSpec]) -> Vec<KernelArg> {
    let mut offset = 0u32;
    let mut slots = Vec::new();
    for spec in specs {
        let (size, align) = match spec {
            ArgSpec::Scalar(scalar) => (scalar.bytes().len() as u32, scalar.bytes().len() as u32),
            // A structure's alignment divides its size.
            ArgSpec::Hex(bytes) => (bytes.len() as u32, 1 << (bytes.len() as u32).trailing_zeros().min(3)),
            _ => (8, 8),
        };
        offset = offset.next_multiple_of(align);
        slots.push(KernelArg { offset, size, value_kind: "by_value".to_owned(), ..KernelArg::default() });
        offset += size;
    }
    slots
}

/// ``argument 2 (`n`)``, counted from 1.
fn describe(index: usize, arg: &KernelArg) -> String {
    match &arg.name {
        Some(name) => format!("argument {} (`{name}`)", index + 1),
        None => format!("argument {}", index + 1),
    }
}

/// What to give for an argument.
fn wanted(arg: &KernelArg) -> String {
    match (arg.value_kind.as_str(), arg.size) {
        ("global_buffer", _) => "a pointer: give in:, out:, inout: or buf:".to_owned(),
        (_, 1) => "1 byte: give u8:".to_owned(),
        (_, 2) => "2 bytes: give u16:".to_owned(),
        (_, 4) => "4 bytes: give u32:, i32: or f32:".to_owned(),
        (_, 8) => "8 bytes: give u64:, i64:, f64: or a buffer".to_owned(),
        (_, size) => format!("{size} bytes by value: give hex: or bytes:"),
    }
}

/// Kinds that an argument of this command can be.
const KINDS: [&str; 2] = ["by_value", "global_buffer"];

fn check(kernel: &Kernel, index: usize, spec: &ArgSpec, slot: &KernelArg) -> CommandResult<()> {
    let fail = |exit, what: String| {
        let message = format!("kernel `{}`, {}: {what}", kernel.name, describe(index, slot));
        Err(Failure::msg(exit, message))
    };
    if !KINDS.contains(&slot.value_kind.as_str()) {
        return fail(Exit::Unsupported, format!("arguments of kind `{}` are not supported", slot.value_kind));
    }
    let (given, size) = match spec {
        // A raw address, or null.
        ArgSpec::Scalar(Scalar::U64(_)) => ("u64".to_owned(), 8),
        ArgSpec::Scalar(scalar) if slot.value_kind == "global_buffer" => {
            return fail(Exit::Usage, format!("{} given; it is {}", scalar.type_name(), wanted(slot)));
        }
        ArgSpec::Scalar(scalar) => (scalar.type_name().to_owned(), scalar.bytes().len() as u32),
        ArgSpec::Hex(_) if slot.value_kind == "global_buffer" => {
            return fail(Exit::Usage, format!("bytes given; it is {}", wanted(slot)));
        }
        ArgSpec::Hex(bytes) => ("bytes".to_owned(), bytes.len() as u32),
        _ => ("a buffer's address".to_owned(), 8),
    };
    if size != slot.size {
        return fail(Exit::Usage, format!("{given} ({size} bytes) given; it is {}", wanted(slot)));
    }
    Ok(())
}

/// Bytes of the buffer that an argument points to; 0 of one that is none, and of a file that cannot be asked (reading it tells).
fn buffer_size(spec: &ArgSpec) -> u64 {
    match spec {
        ArgSpec::Out(bytes, _) | ArgSpec::Buf(bytes) => *bytes,
        ArgSpec::In(path) | ArgSpec::InOut(path, _) => fs::metadata(path).map_or(0, |file| file.len()),
        ArgSpec::Scalar(_) | ArgSpec::Hex(_) | ArgSpec::Bytes(_) => 0,
    }
}

fn value(index: usize, spec: &ArgSpec, slot: &KernelArg) -> CommandResult<Value> {
    let read = |path: &PathBuf| {
        fs::read(path).or_exit_with(Exit::BadInput, || {
            format!("{}: cannot read {}", describe(index, slot), path.display())
        })
    };
    let (contents, save) = match spec {
        ArgSpec::Scalar(scalar) => return Ok(Value::Bytes(scalar.bytes())),
        ArgSpec::Hex(bytes) => return Ok(Value::Bytes(bytes.clone())),
        ArgSpec::Bytes(path) => return read(path).map(Value::Bytes),
        ArgSpec::In(path) => (read(path)?, None),
        ArgSpec::InOut(from, to) => (read(from)?, Some(to.clone())),
        ArgSpec::Out(bytes, path) => (vec![0; *bytes as usize], Some(path.clone())),
        ArgSpec::Buf(bytes) => (vec![0; *bytes as usize], None),
    };
    Ok(Value::Buffer { label: describe(index, slot).replace('`', ""), contents, save })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel_arg(name: &str, offset: u32, size: u32, kind: &str) -> KernelArg {
        KernelArg {
            name: Some(name.to_owned()),
            offset,
            size,
            value_kind: kind.to_owned(),
            address_space: None,
        }
    }

    #[test]
    fn arguments_without_a_note_are_laid_out_as_in_c() {
        let specs = ["u8:1", "buf:4", "u16:2", "f32:1"].map(|text| text.parse().unwrap());
        let offsets: Vec<_> = natural_layout(&specs).iter().map(|slot| slot.offset).collect();
        assert_eq!(offsets, [0, 8, 16, 20]);
    }

    #[test]
    fn what_to_give_is_told() {
        assert_eq!(describe(1, &kernel_arg("n", 0, 4, "by_value")), "argument 2 (`n`)");
        assert!(wanted(&kernel_arg("p", 0, 8, "global_buffer")).contains("inout:"));
        assert!(wanted(&kernel_arg("s", 0, 24, "by_value")).contains("24 bytes"));
    }
}
