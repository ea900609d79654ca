//! From `--arg` values to a kernarg segment and device buffers, checked against the kernel's own arguments.

use std::fs;
use std::path::PathBuf;

use amdgpu_object::{CodeObject, Kernel, KernelArg, KernelMetadata};
use amdinst_emu::{Machine, MemoryError, Program, Room};

use super::LaunchError;
use super::beside::{Beside, Place};
use super::contents::{self, Contents};
use super::language::{ArgSpec, Argument, Element, Save, Scalar, Which};
use super::room;
use crate::commands::files;
use crate::commands::output::count;
use crate::exit::{CommandResult, Exit, Failure};

/// What one argument becomes.
#[derive(Clone, Debug)]
pub enum Value {
    /// A device buffer.
    Buffer {
        /// What faults call it.
        label: String,
        /// Its contents before the launch.
        contents: Vec<u8>,
    },
    /// A number or a structure, as it lies in the kernarg segment.
    Bytes(Vec<u8>),
    /// The address of a function or variable of another code object.
    Symbol(Place),
}

/// A buffer among the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferInfo {
    /// Its place among the buffers, from 0.
    pub index: usize,
    /// The argument's number, from 1.
    pub number: usize,
    /// The argument's name, if it has one.
    pub name: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// The type of its elements, if `--arg` or an array says one.
    pub element: Option<Element>,
    /// The dimensions of the array that it was read from.
    pub shape: Option<Vec<u64>>,
}

impl BufferInfo {
    /// What people call it.
    pub fn what(&self) -> String {
        described(self.number, self.name.as_deref())
    }
}

/// A file that a buffer is written to after the launch.
#[derive(Clone, Debug)]
pub struct Output {
    /// Which buffer.
    pub of: BufferInfo,
    /// The file; `-` for standard output.
    pub path: PathBuf,
}

/// The arguments of a launch, read from their files and checked; what a launch on each machine starts from.
#[derive(Clone, Debug)]
pub struct Arguments {
    /// Values with their offsets in the kernarg segment, in the kernel's order.
    pub values: Vec<(u32, Value)>,
    /// Bytes of the kernarg segment, to the end of the last explicit argument.
    pub size: u32,
    /// The buffers among them, in the kernel's order.
    pub buffers: Vec<BufferInfo>,
    /// Where buffers go after the launch.
    pub outputs: Vec<Output>,
    /// What each was given as, seeds filled in: number, name, and the shortest form of the value.
    pub given: Vec<(usize, Option<String>, ArgSpec)>,
    /// Code objects that are loaded beside the kernel's.
    beside: Beside,
    /// The kernel's name.
    kernel: String,
}

impl Arguments {
    /// Checks `specs` against the kernel's explicit arguments and reads the files.
    ///
    /// # Errors
    /// When number, kind or size differ, this machine has no room for the buffers, or a file cannot be read.
    pub fn new(kernel: &Kernel, specs: &[ArgSpec]) -> CommandResult<Self> {
        let arguments: Vec<_> = specs.iter().cloned().map(Argument::from).collect();
        Self::named(kernel, &arguments, Beside::default())
    }

    /// Binds arguments, some by their names. Those of symbols are looked for in the code objects beside the
    /// kernel's.
    ///
    /// # Errors
    /// As those of [`Self::new`], and a name that no argument has, or no function and variable.
    pub fn named(kernel: &Kernel, given: &[Argument], beside: Beside) -> CommandResult<Self> {
        let (slots, specs) = slots(kernel, given)?;
        let names: Vec<_> = slots.iter().flatten().map(arg_name).collect();
        let mut specs = with_bytes_read(&specs, &names)?;
        let slots = match slots {
            Some(slots) => slots,
            None => natural_layout(&specs),
        };
        for (index, spec) in specs.iter_mut().enumerate() {
            if let ArgSpec::Random { seed, .. } = spec {
                seed.get_or_insert(index as u64 + 1);
            }
        }
        for (index, (spec, slot)) in specs.iter().zip(&slots).enumerate() {
            check(kernel, index, spec, slot)?;
        }
        room::check(Room::here(), specs.iter().map(buffer_size)).map_err(|(index, error)| {
            let what = describe(index, &slots[index]);
            Failure::msg(Exit::OutOfMemory, format!("kernel `{}`, {what}: {error}", kernel.name))
        })?;
        let mut arguments = Self {
            values: Vec::new(),
            size: 0,
            buffers: Vec::new(),
            outputs: Vec::new(),
            given: Vec::new(),
            beside,
            kernel: kernel.name.clone(),
        };
        for (index, (spec, slot)) in specs.into_iter().zip(&slots).enumerate() {
            let end = slot
                .offset
                .checked_add(slot.size)
                .filter(|&end| end <= KernelMetadata::MAX_KERNARG_SEGMENT)
                .ok_or_else(|| {
                    let what =
                        format!("{} at offset {}: the note is damaged", describe(index, slot), slot.offset);
                    Failure::msg(Exit::BadInput, what)
                })?;
            let value = arguments.value(index, &spec, slot)?;
            arguments.values.push((slot.offset, value));
            arguments.size = arguments.size.max(end);
            arguments.given.push((index + 1, arg_name(slot).map(str::to_owned), spec));
        }
        Ok(arguments)
    }

    /// The buffer that an argument of an option is.
    ///
    /// # Errors
    /// There is no such argument, or it is a value.
    pub fn buffer(&self, which: &Which, option: &str) -> CommandResult<&BufferInfo> {
        let found = self.given.iter().find(|(number, name, _)| match which {
            Which::Number(wanted) => wanted == number,
            Which::Name(wanted) => name.as_ref() == Some(wanted),
        });
        let Some((number, name, _)) = found else {
            let known: Vec<_> =
                self.given.iter().map(|(number, name, _)| described(*number, name.as_deref())).collect();
            let of_kernel = format!("kernel `{}` has no argument `{which}`", self.kernel);
            let failure = Failure::msg(Exit::Usage, format!("{option} {which}: {of_kernel}"));
            return Err(if known.is_empty() {
                failure.note("it has no arguments")
            } else {
                failure.note(format!("it has {}", known.join(", ")))
            });
        };
        self.buffers.iter().find(|buffer| buffer.number == *number).ok_or_else(|| {
            let what = described(*number, name.as_deref());
            let message = format!("{option} {which}: {what} is a value, which a launch does not change");
            Failure::msg(Exit::Usage, message)
        })
    }

    /// Adds a file that a buffer is written to after the launch.
    ///
    /// # Errors
    /// There is no such buffer, or it is none that the file can hold.
    pub fn save(&mut self, save: &Save) -> CommandResult<()> {
        let of = self.buffer(&save.argument, "--save")?.clone();
        self.outputs.push(Output { of, path: save.path.clone() });
        Ok(())
    }

    /// Allocates and fills the buffers on `machine`, and returns the kernarg segment and each buffer's
    /// address, in the order of the arguments. Two machines that are filled alike give the same addresses.
    ///
    /// # Errors
    /// When the device has no room.
    pub fn place(&self, machine: &mut Machine) -> Result<Placed, MemoryError> {
        let mut placed = Placed { kernarg: vec![0; self.size as usize], buffers: Vec::new() };
        for (offset, value) in &self.values {
            let bytes = match value {
                Value::Bytes(bytes) => bytes.clone(),
                Value::Buffer { label, contents } => {
                    let address = machine.alloc(contents.len() as u64, 256, label)?;
                    machine.write(address, contents)?;
                    placed.buffers.push((address, contents.len()));
                    address.to_le_bytes().to_vec()
                }
                // Known when it is loaded.
                Value::Symbol(_) => continue,
            };
            placed.kernarg[*offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        Ok(placed)
    }

    /// Fills a machine with the buffers, the code objects beside the kernel's, and the kernel's.
    ///
    /// # Errors
    /// When the device has no room, or a code object cannot be loaded.
    pub fn load(&self, machine: &mut Machine, object: &CodeObject) -> Result<(Placed, Program), LaunchError> {
        let mut placed = self.place(machine)?;
        let others =
            self.beside.objects.iter().map(|other| machine.load(other)).collect::<Result<Vec<_>, _>>()?;
        for (offset, value) in &self.values {
            if let Value::Symbol(Place { object, address }) = value {
                let address = others[*object].device_address(*address);
                placed.kernarg[*offset as usize..][..8].copy_from_slice(&address.to_le_bytes());
            }
        }
        Ok((placed, machine.load_beside(object, &others)?))
    }

    /// What an argument is in memory.
    fn value(&mut self, index: usize, spec: &ArgSpec, slot: &KernelArg) -> CommandResult<Value> {
        let what = describe(index, slot);
        let (contents, save) = match spec {
            ArgSpec::Scalar(scalar) => return Ok(Value::Bytes(scalar.bytes())),
            ArgSpec::Hex(bytes) => return Ok(Value::Bytes(bytes.clone())),
            ArgSpec::Symbol(name) => return Ok(Value::Symbol(self.beside.find(name)?)),
            ArgSpec::Bytes(path) => {
                let bytes = files::read(path).map_err(|failure| failure.context(&what))?;
                return Ok(Value::Bytes(bytes));
            }
            ArgSpec::In(path) | ArgSpec::Npy(path) => (Contents::of_file(path, &what)?, None),
            ArgSpec::InOut(from, to) => (Contents::of_file(from, &what)?, Some(to)),
            ArgSpec::Out(size, path) => (Contents::zeroed(size.bytes(), size.element()), Some(path)),
            ArgSpec::Buf(size) => (Contents::zeroed(size.bytes(), size.element()), None),
            ArgSpec::List(element, numbers) => (Contents::of(*element, numbers.iter().copied()), None),
            ArgSpec::Iota { elements, start, step } => {
                (Contents::of(elements.element, contents::iota(*elements, *start, *step)), None)
            }
            ArgSpec::Fill(elements, value) => {
                let numbers = (0..elements.count).map(|_| *value);
                (Contents::of(elements.element, numbers), None)
            }
            ArgSpec::Random { elements, range, seed } => {
                let numbers = contents::random(*elements, *range, seed.unwrap_or_default());
                (Contents::of(elements.element, numbers), None)
            }
        };
        let of = BufferInfo {
            index: self.buffers.len(),
            number: index + 1,
            name: arg_name(slot).map(str::to_owned),
            bytes: contents.bytes.len() as u64,
            element: contents.element,
            shape: contents.shape,
        };
        self.outputs.extend(save.map(|path| Output { of: of.clone(), path: path.clone() }));
        self.buffers.push(of);
        Ok(Value::Buffer { label: what.replace('`', ""), contents: contents.bytes })
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
    /// The contents of the buffers, in the order of the arguments.
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

/// The kernel's explicit arguments, and what each of them is given as. No slots for a note that lists none.
fn slots(kernel: &Kernel, given: &[Argument]) -> CommandResult<(Option<Vec<KernelArg>>, Vec<ArgSpec>)> {
    let metadata = &kernel.metadata;
    let explicit: Vec<_> = metadata.args.iter().filter(|arg| !arg.is_hidden()).cloned().collect();
    let listed = |mut failure: Failure| {
        for (index, arg) in explicit.iter().enumerate() {
            failure = failure.note(format!("{}: {}", describe(index, arg), wanted(arg)));
        }
        failure
    };
    let usage = |message: String| Failure::msg(Exit::Usage, format!("kernel `{}` {message}", kernel.name));
    if explicit.is_empty() && metadata.args.is_empty() && metadata.kernarg_segment_size > 0 {
        if let Some(name) = given.iter().find_map(|argument| argument.name.as_ref()) {
            let message = format!("has no argument `{name}`: its note lists no arguments");
            return Err(usage(message).help("give the arguments in their order, without names"));
        }
        return Ok((None, given.iter().map(|argument| argument.spec.clone()).collect()));
    }
    let mut specs: Vec<Option<ArgSpec>> = vec![None; explicit.len()];
    for Argument { name, spec } in given {
        let Some(name) = name else { continue };
        let Some(index) = explicit.iter().position(|arg| is_called(arg, name)) else {
            let failure = usage(format!("has no argument `{name}`"));
            return Err(if explicit.iter().all(|arg| arg.name.is_none()) {
                listed(failure).help("its note has no names: give the arguments in their order")
            } else {
                listed(failure)
            });
        };
        if specs[index].replace(spec.clone()).is_some() {
            return Err(usage(format!("is given its argument `{name}` twice")));
        }
    }
    let mut free = specs.iter_mut().filter(|spec| spec.is_none());
    let mut too_many = false;
    for Argument { spec, .. } in given.iter().filter(|argument| argument.name.is_none()) {
        match free.next() {
            Some(place) => *place = Some(spec.clone()),
            None => too_many = true,
        }
    }
    match specs.into_iter().collect::<Option<Vec<_>>>() {
        Some(specs) if !too_many => Ok((Some(explicit), specs)),
        _ => {
            let takes = count(explicit.len(), "argument");
            Err(listed(usage(format!("takes {takes}, {} given", given.len()))))
        }
    }
}

/// What clang puts behind the name of an argument that it passes as another type.
const COERCED: &str = ".coerce";

/// An argument's name in the source.
fn arg_name(arg: &KernelArg) -> Option<&str> {
    arg.name.as_deref().map(|name| name.strip_suffix(COERCED).unwrap_or(name))
}

/// Whether a user means this argument.
fn is_called(arg: &KernelArg, name: &str) -> bool {
    arg.name.as_deref() == Some(name) || arg_name(arg) == Some(name)
}

/// `bytes:FILE` arguments as what the files hold; their names are for what cannot be read.
fn with_bytes_read(specs: &[ArgSpec], names: &[Option<&str>]) -> CommandResult<Vec<ArgSpec>> {
    let read = |(index, spec): (usize, &ArgSpec)| match spec {
        ArgSpec::Bytes(path) => {
            let what = described(index + 1, names.get(index).copied().flatten());
            let bytes = files::read(path).map_err(|failure| failure.context(&what))?;
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
fn described(number: usize, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("argument {number} (`{name}`)"),
        None => format!("argument {number}"),
    }
}

/// Describes an argument by its place in the note.
fn describe(index: usize, arg: &KernelArg) -> String {
    described(index + 1, arg_name(arg))
}

/// What to give for an argument.
fn wanted(arg: &KernelArg) -> String {
    match (arg.value_kind.as_str(), arg.size) {
        ("global_buffer", _) => {
            "a pointer: give a buffer, as f32[100], f32:[1,2,3], FILE.npy, in:, out:, inout: or buf:"
                .to_owned()
        }
        (_, 1) => "1 byte: give u8: or i8:".to_owned(),
        (_, 2) => "2 bytes: give u16:, i16:, f16: or bf16:".to_owned(),
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
        ArgSpec::Symbol(_) => ("a symbol's address".to_owned(), 8),
        ArgSpec::Scalar(scalar) if slot.value_kind == "global_buffer" => {
            return fail(Exit::Usage, format!("{} given; it is {}", scalar.element(), wanted(slot)));
        }
        ArgSpec::Scalar(scalar) => (scalar.element().to_string(), scalar.bytes().len() as u32),
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

/// Bytes of the buffer that an argument points to; 0 of one that is none, and of a file that cannot be asked
/// (reading it tells).
fn buffer_size(spec: &ArgSpec) -> u64 {
    match spec {
        ArgSpec::Out(size, _) | ArgSpec::Buf(size) => size.bytes(),
        ArgSpec::In(path) | ArgSpec::InOut(path, _) | ArgSpec::Npy(path) => {
            fs::metadata(path).map_or(0, |file| file.len())
        }
        ArgSpec::List(element, numbers) => (element.size() * numbers.len()) as u64,
        ArgSpec::Iota { elements, .. } | ArgSpec::Fill(elements, _) | ArgSpec::Random { elements, .. } => {
            elements.bytes()
        }
        ArgSpec::Scalar(_) | ArgSpec::Hex(_) | ArgSpec::Bytes(_) | ArgSpec::Symbol(_) => 0,
    }
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
