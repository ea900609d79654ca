//! The metadata note (`NT_AMDGPU_METADATA`, MessagePack) of one kernel (AMDGPU user guide, "Code Object V3
//! Metadata").

#[cfg(test)]
pub(super) mod tests;

mod edit;

use std::sync::Arc;

use super::messagepack::{Damaged, Item, Recent, Stream, describe, write};
use super::{KernelProblem, ObjectError};
pub use edit::MetadataEdit;

/// One kernel's part of the note. Zero or `None` where it is silent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelMetadata {
    /// Arguments in order, hidden ones included. Kernels of one note that have the same share them.
    pub args: Arc<[KernelArg]>,
    /// Bytes of the kernarg segment.
    pub kernarg_segment_size: u32,
    /// Its alignment in bytes.
    pub kernarg_segment_align: u32,
    /// Static LDS, bytes a workgroup.
    pub group_segment_fixed_size: u32,
    /// Scratch, bytes a work-item.
    pub private_segment_fixed_size: u32,
    /// The stack may grow at run time.
    pub uses_dynamic_stack: bool,
    /// Lanes a wave (64 on GFX9).
    pub wavefront_size: u32,
    /// Waves of a workgroup spread over both compute units of a work-group processor (RDNA).
    pub workgroup_processor_mode: bool,
    /// SGPRs used, specials included.
    pub sgpr_count: u32,
    /// VGPRs used (gfx90a: VGPRs and AGPRs together).
    pub vgpr_count: u32,
    /// AGPRs used.
    pub agpr_count: u32,
    /// SGPRs the compiler spilled, if the note tells.
    pub sgpr_spill_count: Option<u32>,
    /// VGPRs the compiler spilled, if the note tells.
    pub vgpr_spill_count: Option<u32>,
    /// Most work-items a workgroup may have.
    pub max_flat_workgroup_size: u32,
    /// Required workgroup size, if the kernel has one.
    pub reqd_workgroup_size: Option<[u32; 3]>,
    /// Source language.
    pub language: Option<String>,
}

impl KernelMetadata {
    /// Whether work-items have scratch memory, of a size that is known or not.
    pub const fn has_scratch(&self) -> bool {
        self.private_segment_fixed_size > 0 || self.uses_dynamic_stack
    }
}

/// One kernel argument.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelArg {
    /// Source name, if known.
    pub name: Option<String>,
    /// Byte offset in the kernarg segment.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// `by_value`, `global_buffer`, `hidden_block_count_x`, …
    pub value_kind: String,
    /// `global`, `generic`, `local`, … for pointers.
    pub address_space: Option<String>,
}

impl KernelArg {
    /// Filled in by the runtime, not by the caller.
    pub fn is_hidden(&self) -> bool {
        self.value_kind.starts_with("hidden_")
    }
}

/// What the metadata says of one kernel, and what it calls it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KernelEntry {
    /// `.name`.
    pub(crate) name: String,
    /// `.symbol`.
    pub(crate) symbol: String,
    pub(crate) metadata: KernelMetadata,
}

/// The key of the top level that has the kernels.
pub(super) const KERNELS: &[u8] = b"amdhsa.kernels";

/// The entries of `amdhsa.kernels`; none if the key is absent. Problems that have no place of their own are
/// said to be `at`.
pub(super) fn kernels(metadata: Stream<'_>, at: u64) -> Result<Vec<KernelEntry>, ObjectError> {
    read(metadata, at).map_err(|error| {
        // Where all of it is not MessagePack, that is what is wrong with it, whatever was read before.
        let mut whole = metadata;
        whole.skip().err().map_or(error, ObjectError::from)
    })
}

fn read(mut metadata: Stream<'_>, at: u64) -> Result<Vec<KernelEntry>, ObjectError> {
    let damaged = |problem: &str| ObjectError::malformed("metadata note", at, problem);
    let Item::Map(length) = metadata.item()? else { return Err(damaged("its top level is not a map")) };
    let mut kernels = None;
    let mut recent = Recent::default();
    metadata.entries(length, |stream, key| {
        if key != Some(KERNELS) || kernels.is_some() {
            return Ok(stream.skip()?);
        }
        let Item::Array(length) = stream.item()? else {
            return Err(damaged("amdhsa.kernels is not an array"));
        };
        let kernels = kernels.insert(Vec::new());
        stream.items(length, |stream| {
            kernels.push(KernelEntry::read(stream, &mut recent, kernels.len(), at)?);
            Ok(())
        })
    })?;
    Ok(kernels.unwrap_or_default())
}

impl From<Damaged> for ObjectError {
    fn from(damaged: Damaged) -> Self {
        Self::malformed("metadata note", damaged.at as u64, damaged.to_string())
    }
}

/// Why a value could not be read.
enum Problem {
    Damaged(Damaged),
    /// A value of the wrong type or range.
    Wrong(KernelProblem),
}

impl From<Damaged> for Problem {
    fn from(damaged: Damaged) -> Self {
        Self::Damaged(damaged)
    }
}

/// The next value, as what it should be.
fn expect<'a, T>(
    stream: &mut Stream<'a>,
    key: &'static str,
    expected: &'static str,
    convert: impl FnOnce(Item<'a>) -> Option<T>,
) -> Result<T, Problem> {
    let value = *stream;
    convert(stream.item()?).ok_or_else(|| wrong(value, key, expected))
}

#[cold]
fn wrong(value: Stream<'_>, key: &'static str, expected: &'static str) -> Problem {
    Problem::Wrong(KernelProblem::Metadata { key, found: describe(value), expected })
}

fn as_u32(item: Item<'_>) -> Option<u32> {
    match item {
        Item::Unsigned(number) => number.try_into().ok(),
        _ => None,
    }
}

fn number(stream: &mut Stream<'_>, key: &'static str) -> Result<u32, Problem> {
    expect(stream, key, "a 32-bit unsigned integer", as_u32)
}

fn string(stream: &mut Stream<'_>, key: &'static str) -> Result<String, Problem> {
    expect(stream, key, "a string", |item| match item {
        Item::String(bytes) => Some(amdinst_text::name(bytes).into_owned()),
        _ => None,
    })
}

fn boolean(stream: &mut Stream<'_>, key: &'static str) -> Result<bool, Problem> {
    expect(stream, key, "a boolean", |item| match item {
        Item::Boolean(value) => Some(value),
        _ => None,
    })
}

fn workgroup_size(stream: &mut Stream<'_>, key: &'static str) -> Result<[u32; 3], Problem> {
    let value = *stream;
    let wrong = || wrong(value, key, "three 32-bit unsigned integers");
    if stream.item()? != Item::Array(3) {
        return Err(wrong());
    }
    let mut size = [0; 3];
    for number in &mut size {
        *number = as_u32(stream.item()?).ok_or_else(wrong)?;
    }
    Ok(size)
}

/// Most of a note is arguments, and most kernels of a library have the same as one that was just read.
type RecentArgs<'a> = Recent<'a, Arc<[KernelArg]>>;

fn args<'a>(
    stream: &mut Stream<'a>,
    recent: &mut RecentArgs<'a>,
    key: &'static str,
) -> Result<Arc<[KernelArg]>, Problem> {
    recent.read(stream, |stream| {
        let length = expect(stream, key, "an array", |item| match item {
            Item::Array(length) => Some(length),
            _ => None,
        })?;
        // The length is the file's word, which is not believed beyond what kernels have.
        let mut args = Vec::with_capacity(length.min(32) as usize);
        stream.items(length, |stream| {
            let length = expect(stream, key, "an array of maps", |item| match item {
                Item::Map(length) => Some(length),
                _ => None,
            })?;
            args.push(KernelArg::read(stream, length)?);
            Ok::<_, Problem>(())
        })?;
        Ok(args.into())
    })
}

/// The value of a key, of which the first counts.
fn first<'a, T>(
    value: &mut Option<T>,
    stream: &mut Stream<'a>,
    key: &'static str,
    read: impl FnOnce(&mut Stream<'a>, &'static str) -> Result<T, Problem>,
) -> Result<(), Problem> {
    match value {
        None => *value = Some(read(stream, key)?),
        Some(_) => stream.skip()?,
    }
    Ok(())
}

/// An entry of `amdhsa.kernels` that is being read.
struct Found<'r, 'a> {
    recent: &'r mut RecentArgs<'a>,
    name: Option<String>,
    symbol: Option<String>,
    metadata: KernelMetadata,
}

/// Reads the value of a key, which is named for messages.
type Read = for<'a> fn(&mut Found<'_, 'a>, &mut Stream<'a>, &'static str) -> Result<(), Problem>;

/// What is read of an entry of `amdhsa.kernels`.
const KEYS: [(&str, Read); 18] = [
    (".agpr_count", |found, stream, key| set(&mut found.metadata.agpr_count, number(stream, key))),
    (".args", |found, stream, key| set(&mut found.metadata.args, args(stream, found.recent, key))),
    (".group_segment_fixed_size", |found, stream, key| {
        set(&mut found.metadata.group_segment_fixed_size, number(stream, key))
    }),
    (".kernarg_segment_align", |found, stream, key| {
        set(&mut found.metadata.kernarg_segment_align, number(stream, key))
    }),
    (".kernarg_segment_size", |found, stream, key| {
        set(&mut found.metadata.kernarg_segment_size, number(stream, key))
    }),
    (".language", |found, stream, key| set(&mut found.metadata.language, string(stream, key).map(Some))),
    (".max_flat_workgroup_size", |found, stream, key| {
        set(&mut found.metadata.max_flat_workgroup_size, number(stream, key))
    }),
    (".name", |found, stream, key| set(&mut found.name, string(stream, key).map(Some))),
    (".private_segment_fixed_size", |found, stream, key| {
        set(&mut found.metadata.private_segment_fixed_size, number(stream, key))
    }),
    (".reqd_workgroup_size", |found, stream, key| {
        let size = workgroup_size(stream, key).map(|size| Some(size).filter(|size| *size != [0; 3]));
        set(&mut found.metadata.reqd_workgroup_size, size)
    }),
    (".sgpr_count", |found, stream, key| set(&mut found.metadata.sgpr_count, number(stream, key))),
    (".sgpr_spill_count", |found, stream, key| {
        set(&mut found.metadata.sgpr_spill_count, number(stream, key).map(Some))
    }),
    (".symbol", |found, stream, key| set(&mut found.symbol, string(stream, key).map(Some))),
    (".uses_dynamic_stack", |found, stream, key| {
        set(&mut found.metadata.uses_dynamic_stack, boolean(stream, key))
    }),
    (".vgpr_count", |found, stream, key| set(&mut found.metadata.vgpr_count, number(stream, key))),
    (".vgpr_spill_count", |found, stream, key| {
        set(&mut found.metadata.vgpr_spill_count, number(stream, key).map(Some))
    }),
    (".wavefront_size", |found, stream, key| set(&mut found.metadata.wavefront_size, number(stream, key))),
    // LLVM writes it as a number.
    (".workgroup_processor_mode", |found, stream, key| {
        let mode = number(stream, key).map(|mode| mode != 0);
        set(&mut found.metadata.workgroup_processor_mode, mode)
    }),
];

fn set<T>(place: &mut T, value: Result<T, Problem>) -> Result<(), Problem> {
    *place = value?;
    Ok(())
}

impl<'r, 'a> Found<'r, 'a> {
    fn new(recent: &'r mut RecentArgs<'a>) -> Self {
        Self { recent, name: None, symbol: None, metadata: KernelMetadata::default() }
    }

    /// Reads a map of that length, its keys in any order, though fastest in theirs. Of several values of a
    /// key the first counts. What is wrong with a value is told at the end, when the kernel has a name.
    fn read(&mut self, stream: &mut Stream<'a>, length: u32) -> Result<Option<KernelProblem>, Damaged> {
        let (mut problem, mut seen, mut next) = (None, 0u32, 0);
        stream.entries(length, |stream, key| {
            let Some(key) = key else { return stream.skip() };
            let is_key = |(name, _): &(&str, Read)| name.as_bytes() == key;
            let is_next = KEYS.get(next).is_some_and(is_key);
            let index = if is_next { Some(next) } else { KEYS.iter().position(is_key) };
            let Some(index) = index.filter(|index| seen & 1 << index == 0) else { return stream.skip() };
            next = index + 1;
            seen |= 1 << index;
            let (name, read) = KEYS[index];
            let value = *stream;
            match read(self, stream, name) {
                Ok(()) => Ok(()),
                Err(Problem::Damaged(damaged)) => Err(damaged),
                Err(Problem::Wrong(wrong)) => {
                    problem.get_or_insert(wrong);
                    *stream = value;
                    stream.skip()
                }
            }
        })?;
        Ok(problem)
    }
}

impl KernelEntry {
    fn read<'a>(
        stream: &mut Stream<'a>,
        recent: &mut RecentArgs<'a>,
        index: usize,
        at: u64,
    ) -> Result<Self, ObjectError> {
        let mut found = Found::new(recent);
        let problem = match stream.item()? {
            Item::Map(length) => found.read(stream, length)?,
            // Which has no name either.
            other => {
                stream.skip_inside(other)?;
                None
            }
        };
        let Found { name, symbol, metadata, .. } = found;
        let string = |key: &str, found: Option<String>| {
            found.ok_or_else(|| {
                ObjectError::malformed("metadata note", at, format!("kernel {index} has no string {key}"))
            })
        };
        let (name, symbol) = (string(".name", name)?, string(".symbol", symbol)?);
        match problem {
            None => Ok(Self { name, symbol, metadata }),
            Some(problem) => Err(ObjectError::Kernel { kernel: name, problem }),
        }
    }
}

impl KernelMetadata {
    /// Bytes of the largest kernarg segment that is believed: a thousand times what compilers emit.
    pub const MAX_KERNARG_SEGMENT: u32 = 1 << 22;
}

impl KernelArg {
    /// Reads an entry of `.args`, which is a map of that length.
    fn read(stream: &mut Stream<'_>, length: u32) -> Result<Self, Problem> {
        let (mut name, mut value_kind, mut address_space) = (None, None, None);
        let (mut offset, mut size) = (None, None);
        stream.entries(length, |stream, key| match key {
            Some(b".address_space") => first(&mut address_space, stream, ".address_space", string),
            Some(b".name") => first(&mut name, stream, ".name", string),
            Some(b".offset") => first(&mut offset, stream, ".offset", number),
            Some(b".size") => first(&mut size, stream, ".size", number),
            Some(b".value_kind") => first(&mut value_kind, stream, ".value_kind", string),
            _ => Ok(stream.skip()?),
        })?;
        Ok(Self {
            name,
            offset: offset.unwrap_or_default(),
            size: size.unwrap_or_default(),
            value_kind: value_kind.unwrap_or_default(),
            address_space,
        })
    }

    /// Appends the entry of `.args` that says the same.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let optional = [(".address_space", &self.address_space), (".name", &self.name)];
        let optional = optional.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?)));
        write::map(out, 3 + optional.clone().count() as u32);
        for (key, text) in optional {
            write::string(out, key);
            write::name(out, text);
        }
        for (key, number) in [(".offset", self.offset), (".size", self.size)] {
            write::string(out, key);
            write::number(out, number.into());
        }
        write::string(out, ".value_kind");
        write::name(out, &self.value_kind);
    }
}
