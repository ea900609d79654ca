//! The metadata note (`NT_AMDGPU_METADATA`, MessagePack) of one kernel (AMDGPU user guide, "Code Object V3 Metadata").

use rmpv::ValueRef as Value;

use super::{KernelProblem, ObjectError};

/// What the note says of one kernel. Zero or `None` where it is silent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelMetadata {
    /// Arguments in order, hidden ones included.
    pub args: Vec<KernelArg>,
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
    /// Lanes a wavefront (64 on GFX9).
    pub wavefront_size: u32,
    /// SGPRs used, specials included.
    pub sgpr_count: u32,
    /// VGPRs used (gfx90a: VGPRs and AGPRs together).
    pub vgpr_count: u32,
    /// AGPRs used.
    pub agpr_count: u32,
    /// SGPRs the compiler spilled.
    pub sgpr_spill_count: u32,
    /// VGPRs the compiler spilled.
    pub vgpr_spill_count: u32,
    /// Most work-items a workgroup may have.
    pub max_flat_workgroup_size: u32,
    /// Required workgroup size, if the kernel has one.
    pub reqd_workgroup_size: Option<[u32; 3]>,
    /// Source language.
    pub language: Option<String>,
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

/// The entries of `amdhsa.kernels`; empty if the key is absent.
pub(crate) fn kernel_entries<'n, 'a>(note: &'n Value<'a>, at: u64) -> Result<&'n [Value<'a>], ObjectError> {
    let damaged = |problem: &str| ObjectError::malformed("metadata note", at, problem);
    if !matches!(note, Value::Map(_)) {
        return Err(damaged("its top level is not a map"));
    }
    match get(note, "amdhsa.kernels") {
        None => Ok(&[]),
        Some(Value::Array(kernels)) => Ok(kernels),
        Some(_) => Err(damaged("amdhsa.kernels is not an array")),
    }
}

/// `.name` and `.symbol` of an entry of `amdhsa.kernels`.
pub(crate) fn names<'a>(entry: &Value<'a>, index: usize, at: u64) -> Result<(&'a str, &'a str), ObjectError> {
    let string = |key: &str| {
        get(entry, key).and_then(text).ok_or_else(|| {
            ObjectError::malformed("metadata note", at, format!("kernel {index} has no string {key}"))
        })
    };
    Ok((string(".name")?, string(".symbol")?))
}

/// The value of a string key in a map.
pub(crate) fn get<'m, 'a>(map: &'m Value<'a>, key: &str) -> Option<&'m Value<'a>> {
    let Value::Map(entries) = map else { return None };
    entries.iter().find(|(name, _)| text(name) == Some(key)).map(|(_, value)| value)
}

/// The same, to be changed.
pub(crate) fn get_mut<'m, 'a>(map: &'m mut Value<'a>, key: &str) -> Option<&'m mut Value<'a>> {
    let Value::Map(entries) = map else { return None };
    entries.iter_mut().find(|(name, _)| text(name) == Some(key)).map(|(_, value)| value)
}

/// The text of a string.
pub(crate) fn text<'a>(value: &Value<'a>) -> Option<&'a str> {
    match value {
        Value::String(string) => string.into_str(),
        _ => None,
    }
}

/// Sets a string key of a map: in place if it is there, else where MessagePack writers that sort would put it.
pub(crate) fn set<'a>(map: &mut Value<'a>, key: &'a str, value: Value<'a>) {
    if let Some(old) = get_mut(map, key) {
        *old = value;
    } else if let Value::Map(entries) = map {
        let place = entries.partition_point(|(name, _)| text(name) < Some(key));
        entries.insert(place, (Value::from(key), value));
    }
}

/// Reads the typed keys of one map, naming kernel and key in errors.
struct Reader<'m, 'a> {
    kernel: &'m str,
    map: &'m Value<'a>,
}

impl<'m, 'a> Reader<'m, 'a> {
    fn wrong(&self, key: &'static str, found: &Value<'a>, expected: &'static str) -> ObjectError {
        let mut found = found.to_string();
        if found.len() > 40 {
            found = format!("{}…", found.chars().take(40).collect::<String>());
        }
        let problem = KernelProblem::Metadata { key, found, expected };
        ObjectError::Kernel { kernel: self.kernel.to_owned(), problem }
    }

    fn read<T>(
        &self,
        key: &'static str,
        expected: &'static str,
        convert: impl Fn(&'m Value<'a>) -> Option<T>,
    ) -> Result<Option<T>, ObjectError> {
        let Some(value) = get(self.map, key) else { return Ok(None) };
        convert(value).map(Some).ok_or_else(|| self.wrong(key, value, expected))
    }

    fn u32(&self, key: &'static str) -> Result<u32, ObjectError> {
        Ok(self.read(key, "a 32-bit unsigned integer", as_u32)?.unwrap_or(0))
    }

    fn string(&self, key: &'static str) -> Result<Option<String>, ObjectError> {
        self.read(key, "a string", |value| text(value).map(str::to_owned))
    }
}

fn as_u32(value: &Value<'_>) -> Option<u32> {
    value.as_u64()?.try_into().ok()
}

fn as_u32x3(value: &Value<'_>) -> Option<[u32; 3]> {
    let numbers = as_array(value)?.iter().map(as_u32).collect::<Option<Vec<_>>>()?;
    numbers.try_into().ok()
}

fn as_array<'m, 'a>(value: &'m Value<'a>) -> Option<&'m [Value<'a>]> {
    match value {
        Value::Array(items) => Some(items),
        _ => None,
    }
}

fn as_bool(value: &Value<'_>) -> Option<bool> {
    match value {
        Value::Boolean(value) => Some(*value),
        _ => None,
    }
}

impl KernelMetadata {
    /// Bytes of the largest kernarg segment that is believed: a thousand times what compilers emit.
    pub const MAX_KERNARG_SEGMENT: u32 = 1 << 22;

    /// Reads an entry of `amdhsa.kernels`.
    pub(crate) fn read(kernel: &str, entry: &Value<'_>) -> Result<Self, ObjectError> {
        let map = Reader { kernel, map: entry };
        let args = map.read(".args", "an array", as_array)?;
        let args = args.into_iter().flatten().map(|arg| KernelArg::read(kernel, arg));
        let reqd = map.read(".reqd_workgroup_size", "three 32-bit unsigned integers", as_u32x3)?;
        Ok(Self {
            args: args.collect::<Result<_, _>>()?,
            kernarg_segment_size: map.u32(".kernarg_segment_size")?,
            kernarg_segment_align: map.u32(".kernarg_segment_align")?,
            group_segment_fixed_size: map.u32(".group_segment_fixed_size")?,
            private_segment_fixed_size: map.u32(".private_segment_fixed_size")?,
            uses_dynamic_stack: map.read(".uses_dynamic_stack", "a boolean", as_bool)?.unwrap_or(false),
            wavefront_size: map.u32(".wavefront_size")?,
            sgpr_count: map.u32(".sgpr_count")?,
            vgpr_count: map.u32(".vgpr_count")?,
            agpr_count: map.u32(".agpr_count")?,
            sgpr_spill_count: map.u32(".sgpr_spill_count")?,
            vgpr_spill_count: map.u32(".vgpr_spill_count")?,
            max_flat_workgroup_size: map.u32(".max_flat_workgroup_size")?,
            reqd_workgroup_size: reqd.filter(|size| *size != [0; 3]),
            language: map.string(".language")?,
        })
    }
}

impl KernelArg {
    fn read(kernel: &str, entry: &Value<'_>) -> Result<Self, ObjectError> {
        let map = Reader { kernel, map: entry };
        if !matches!(entry, Value::Map(_)) {
            return Err(map.wrong(".args", entry, "an array of maps"));
        }
        Ok(Self {
            name: map.string(".name")?,
            offset: map.u32(".offset")?,
            size: map.u32(".size")?,
            value_kind: map.string(".value_kind")?.unwrap_or_default(),
            address_space: map.string(".address_space")?,
        })
    }

    /// The entry of `.args` that says the same.
    pub(crate) fn to_value(&self) -> Value<'_> {
        let mut entries = vec![
            (Value::from(".offset"), Value::from(self.offset)),
            (Value::from(".size"), Value::from(self.size)),
            (Value::from(".value_kind"), Value::from(self.value_kind.as_str())),
        ];
        if let Some(name) = &self.name {
            entries.insert(0, (Value::from(".name"), Value::from(name.as_str())));
        }
        if let Some(space) = &self.address_space {
            entries.insert(0, (Value::from(".address_space"), Value::from(space.as_str())));
        }
        Value::Map(entries)
    }
}
