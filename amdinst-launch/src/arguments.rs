//! Values that are given for a kernel's arguments, as a kernarg segment and device buffers.

use std::fs;
use std::path::PathBuf;

use amdgpu_object::{CodeObject, Kernel, KernelArg, KernelMetadata};
use amdinst_emu::{Machine, MemoryError, Program, Room};

use crate::beside::{Beside, Place};
use crate::contents::{self, Contents};
use crate::error::LaunchError;
use crate::language::{ArgSpec, Argument, Element, Save, Which};
use crate::refused::{Refused, RefusedKind};
use crate::slots::{arg_name, check, describe, described, natural_layout, slots};
use crate::{files, room};

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
    pub fn new(kernel: &Kernel, specs: &[ArgSpec]) -> Result<Self, Refused> {
        let arguments: Vec<_> = specs.iter().cloned().map(Argument::from).collect();
        Self::named(kernel, &arguments, Beside::default())
    }

    /// Binds arguments, some by their names. Those of symbols are looked for in the code objects beside the
    /// kernel's.
    ///
    /// # Errors
    /// As those of [`Self::new`], and a name that no argument has, or no function and variable.
    pub fn named(kernel: &Kernel, given: &[Argument], beside: Beside) -> Result<Self, Refused> {
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
            Refused::new(RefusedKind::NoRoom, format!("kernel `{}`, {what}: {error}", kernel.name))
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
                    Refused::new(RefusedKind::Unreadable, what)
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
    pub fn buffer(&self, which: &Which, option: &str) -> Result<&BufferInfo, Refused> {
        let found = self.given.iter().find(|(number, name, _)| match which {
            Which::Number(wanted) => wanted == number,
            Which::Name(wanted) => name.as_ref() == Some(wanted),
        });
        let Some((number, name, _)) = found else {
            let known: Vec<_> =
                self.given.iter().map(|(number, name, _)| described(*number, name.as_deref())).collect();
            let of_kernel = format!("kernel `{}` has no argument `{which}`", self.kernel);
            let failure = Refused::new(RefusedKind::Usage, format!("{option} {which}: {of_kernel}"));
            return Err(if known.is_empty() {
                failure.note("it has no arguments")
            } else {
                failure.note(format!("it has {}", known.join(", ")))
            });
        };
        self.buffers.iter().find(|buffer| buffer.number == *number).ok_or_else(|| {
            let what = described(*number, name.as_deref());
            let message = format!("{option} {which}: {what} is a value, which a launch does not change");
            Refused::new(RefusedKind::Usage, message)
        })
    }

    /// Adds a file that a buffer is written to after the launch.
    ///
    /// # Errors
    /// There is no such buffer, or it is none that the file can hold.
    pub fn save(&mut self, save: &Save) -> Result<(), Refused> {
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
    fn value(&mut self, index: usize, spec: &ArgSpec, slot: &KernelArg) -> Result<Value, Refused> {
        let what = describe(index, slot);
        let (contents, save) = match spec {
            ArgSpec::Scalar(scalar) => return Ok(Value::Bytes(scalar.bytes())),
            ArgSpec::Hex(bytes) => return Ok(Value::Bytes(bytes.clone())),
            ArgSpec::Symbol(name) => return Ok(Value::Symbol(self.beside.find(name)?)),
            ArgSpec::Bytes(path) => {
                let bytes = files::read(path).map_err(|error| Refused::from(error).context(&what))?;
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

/// `bytes:FILE` arguments as what the files hold; their names are for what cannot be read.
fn with_bytes_read(specs: &[ArgSpec], names: &[Option<&str>]) -> Result<Vec<ArgSpec>, Refused> {
    let read = |(index, spec): (usize, &ArgSpec)| match spec {
        ArgSpec::Bytes(path) => {
            let what = described(index + 1, names.get(index).copied().flatten());
            let bytes = files::read(path).map_err(|error| Refused::from(error).context(&what))?;
            Ok(ArgSpec::Hex(bytes))
        }
        other => Ok(other.clone()),
    };
    specs.iter().enumerate().map(read).collect()
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
