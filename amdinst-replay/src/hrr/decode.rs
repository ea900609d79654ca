//! What each record means: fields by function, in the order of HIP's parameters.
//!
//! A record has the function's result first (32 bits), then its parameters: pointers, handles and sizes as 64
//! bits, a `char` or a `short` too, enumerations and `int` as 32. What an output pointer was given is
//! recorded in its place. Some have more behind these: hashes of contents. A launch has a form of its own.

use super::fields::{Fields, TooShort};
use super::functions;
use super::log::{HEADER, Record};
use crate::calls::{Address, Arguments, Call, DataName, Event, LaunchCall, Lds, Value, ValueKind};
use crate::hash::ContentHash;

/// `hipMemcpyHostToHost` and so on.
mod direction {
    pub(super) const HOST_TO_HOST: u32 = 0;
    pub(super) const HOST_TO_DEVICE: u32 = 1;
    pub(super) const DEVICE_TO_HOST: u32 = 2;
}

/// The event of a record.
pub(super) fn event(record: &Record) -> Event {
    let name = functions::name(record.function);
    let mut fields = Fields::new(&record.bytes, HEADER);
    let call = call(name, &mut fields).unwrap_or_else(|short| {
        let at = record.at;
        Call::Unknown(format!("its record at byte {at} has {} bytes: {short}", record.bytes.len()))
    });
    Event { number: record.number, thread: record.thread, stream: fields.stream(), name, call }
}

fn call(name: &str, fields: &mut Fields<'_>) -> Result<Call, TooShort> {
    // The log may spell the same call for streams of threads in another way.
    let plain = name.strip_suffix("_spt").unwrap_or(name);
    match plain {
        "hipModuleLaunchKernel" | "hipExtModuleLaunchKernel" | "hipLaunchKernel" | "hipLaunchByPtr"
            if plain == name =>
        {
            return launch(fields);
        }
        "__hipRegisterFatBinary" => return fat_binary(fields),
        // They have no result.
        "__hipRegisterFunction" | "__hipUnregisterFatBinary" => return Ok(Call::Order),
        "__hipRegisterVar" | "__hipRegisterManagedVar" => {
            return Ok(Call::Unknown("archives of version 3 do not hold the variable's name".to_owned()));
        }
        "hipModuleGetGlobal" => {}
        _ if functions::is_order(name) => return Ok(Call::Order),
        _ => {}
    }
    if fields.word()? != 0 {
        return Ok(Call::Failed);
    }
    match allocation(plain, fields)? {
        Some(call) => Ok(call),
        None => match copy(plain, plain == name, fields)? {
            Some(call) => Ok(call),
            None => other(plain, fields),
        },
    }
}

/// Calls that allocate and free.
fn allocation(name: &str, fields: &mut Fields<'_>) -> Result<Option<Call>, TooShort> {
    let allocate = |fields: &mut Fields<'_>, is_host| {
        Ok(Call::Allocate { at: Address(fields.long()?), bytes: fields.long()?, is_host })
    };
    Ok(Some(match name {
        "hipMalloc" | "hipMallocAsync" | "hipMallocFromPoolAsync" | "hipExtMallocWithFlags" => {
            allocate(fields, false)?
        }
        // Both sides write to managed memory without a call, too.
        "hipMallocManaged" | "hipHostMalloc" | "hipHostAlloc" | "hipExtHostAlloc" | "hipMallocHost"
        | "hipMemAllocHost" => allocate(fields, true)?,
        "hipFree" | "hipFreeAsync" | "hipHostFree" | "hipFreeHost" | "hipHostUnregister" => {
            Call::Free { at: Address(fields.long()?) }
        }
        _ => return Ok(None),
    }))
}

/// A hash of contents that may be absent.
fn blob(fields: &mut Fields<'_>) -> Result<Option<DataName>, TooShort> {
    let hash = ContentHash { low: fields.long()?, high: fields.long()? };
    Ok(hash.is_some().then_some(DataName::Blob(hash)))
}

/// Calls that copy and fill. Those of a thread's own stream have no hashes (`has_hash`).
fn copy(name: &str, has_hash: bool, fields: &mut Fields<'_>) -> Result<Option<Call>, TooShort> {
    Ok(Some(match name {
        "hipMemcpy" | "hipMemcpyAsync" | "hipMemcpyWithStream" => {
            let (to, from, bytes) = (Address(fields.long()?), Address(fields.long()?), fields.long()?);
            let direction = fields.word()?;
            if name != "hipMemcpy" {
                fields.take_stream()?;
            }
            let data = if has_hash { blob(fields)? } else { None };
            match direction {
                direction::HOST_TO_HOST => Call::Order,
                direction::HOST_TO_DEVICE => Call::CopyIn { to, from, bytes, data },
                direction::DEVICE_TO_HOST => Call::CopyOut { from, to, bytes, data },
                _ => Call::Copy { from, to, bytes },
            }
        }
        "hipMemcpyHtoD" | "hipMemcpyHtoDAsync" => {
            let (to, from, bytes) = (Address(fields.long()?), Address(fields.long()?), fields.long()?);
            if name.ends_with("Async") {
                fields.take_stream()?;
            }
            Call::CopyIn { to, from, bytes, data: blob(fields)? }
        }
        "hipMemcpyDtoH" | "hipMemcpyDtoHAsync" => {
            let (to, from, bytes) = (Address(fields.long()?), Address(fields.long()?), fields.long()?);
            if name.ends_with("Async") {
                fields.take_stream()?;
            }
            Call::CopyOut { from, to, bytes, data: blob(fields)? }
        }
        "hipMemcpyDtoD" | "hipMemcpyDtoDAsync" => {
            let (to, from, bytes) = (Address(fields.long()?), Address(fields.long()?), fields.long()?);
            if name.ends_with("Async") {
                fields.take_stream()?;
            }
            Call::Copy { from, to, bytes }
        }
        "hipMemcpyPeer" | "hipMemcpyPeerAsync" => {
            let to = Address(fields.long()?);
            fields.word()?;
            let from = Address(fields.long()?);
            fields.word()?;
            let bytes = fields.long()?;
            if name.ends_with("Async") {
                fields.take_stream()?;
            }
            Call::Copy { from, to, bytes }
        }
        _ => return fill(name, fields),
    }))
}

/// Calls that fill memory.
fn fill(name: &str, fields: &mut Fields<'_>) -> Result<Option<Call>, TooShort> {
    let one_row = |to, element: Vec<u8>, count| Call::Fill { to, element, count, rows: 1, pitch: 0 };
    let plain = name.strip_suffix("Async").unwrap_or(name);
    let call = match plain {
        "hipMemset" => {
            let (to, value, count) = (Address(fields.long()?), fields.word()?, fields.long()?);
            one_row(to, vec![value as u8], count)
        }
        "hipMemsetD8" => {
            let (to, value, count) = (Address(fields.long()?), fields.long()?, fields.long()?);
            one_row(to, vec![value as u8], count)
        }
        "hipMemsetD16" => {
            let (to, value, count) = (Address(fields.long()?), fields.long()?, fields.long()?);
            one_row(to, (value as u16).to_le_bytes().to_vec(), count)
        }
        "hipMemsetD32" => {
            let (to, value, count) = (Address(fields.long()?), fields.word()?, fields.long()?);
            one_row(to, value.to_le_bytes().to_vec(), count)
        }
        "hipMemset2D" => {
            let (to, pitch, value) = (Address(fields.long()?), fields.long()?, fields.word()?);
            let (count, rows) = (fields.long()?, fields.long()?);
            Call::Fill { to, element: vec![value as u8], count, rows, pitch }
        }
        "hipMemsetD2D8" | "hipMemsetD2D16" | "hipMemsetD2D32" => {
            let (to, pitch) = (Address(fields.long()?), fields.long()?);
            let element = match plain {
                "hipMemsetD2D8" => vec![fields.long()? as u8],
                "hipMemsetD2D16" => (fields.long()? as u16).to_le_bytes().to_vec(),
                _ => fields.word()?.to_le_bytes().to_vec(),
            };
            Call::Fill { to, element, count: fields.long()?, rows: fields.long()?, pitch }
        }
        _ => return Ok(None),
    };
    if plain != name {
        fields.take_stream()?;
    }
    Ok(Some(call))
}

/// Modules, memory of the host that is made the GPU's, and all that is not replayed.
fn other(name: &str, fields: &mut Fields<'_>) -> Result<Call, TooShort> {
    Ok(match name {
        "hipModuleLoad" | "hipModuleLoadData" | "hipModuleLoadDataEx" => {
            let module = fields.long()?;
            fields.long()?;
            if name == "hipModuleLoadDataEx" {
                fields.bytes(4 + 8 + 8)?;
            }
            let hash = ContentHash { low: fields.long()?, high: fields.long()? };
            match hash.is_some() {
                true => Call::Load { module, code: DataName::Code(hash) },
                false => Call::Unknown("the archive does not hold its code object".to_owned()),
            }
        }
        "hipModuleGetGlobal" => {
            let at = Address(fields.long()?);
            fields.long()?;
            Call::FindVariable { module: fields.long()?, at }
        }
        "hipStreamBeginCapture" => {
            fields.take_stream()?;
            Call::BeginGraph
        }
        "hipStreamEndCapture" => {
            fields.take_stream()?;
            Call::EndGraph
        }
        "hipModuleUnload" => Call::Unload { module: fields.long()? },
        "hipHostRegister" => {
            Call::Allocate { at: Address(fields.long()?), bytes: fields.long()?, is_host: true }
        }
        "hipMemcpyToSymbol"
        | "hipMemcpyToSymbolAsync"
        | "hipMemcpyFromSymbol"
        | "hipMemcpyFromSymbolAsync" => {
            Call::Unknown("archives of version 3 hold neither the variable's name nor its value".to_owned())
        }
        "hipMemcpy2D" | "hipMemcpy2DAsync" | "hipMemcpyParam2D" | "hipMemcpyParam2DAsync" => {
            Call::Unknown("archives of version 3 do not hold what it copied".to_owned())
        }
        functions::NO_FUNCTION => Call::Unknown("no function of version 3 has its number".to_owned()),
        _ => Call::Unknown("it is not replayed yet".to_owned()),
    })
}

/// A bundle that is part of the program. Its result is a pointer.
fn fat_binary(fields: &mut Fields<'_>) -> Result<Call, TooShort> {
    let module = fields.long()?;
    Ok(match blob(fields)? {
        Some(code) => Call::Load { module, code },
        None => Call::Unknown("the archive does not hold its code objects".to_owned()),
    })
}

/// A launch: the stream, the kernel's name, the hash of its code object, grid, block, LDS, arguments.
fn launch(fields: &mut Fields<'_>) -> Result<Call, TooShort> {
    fields.take_stream()?;
    let length = usize::from(fields.half()?);
    let kernel = String::from_utf8_lossy(fields.bytes(length)?).into_owned();
    let hash = ContentHash { low: fields.long()?, high: fields.long()? };
    let (grid, block, lds) = (fields.sizes()?, fields.sizes()?, fields.word()?);
    let (arguments, _snapshots) = (fields.half()?, fields.half()?);
    let values = (0..arguments).map(|_| argument(fields)).collect::<Result<_, _>>()?;
    Ok(Call::Launch(Box::new(LaunchCall {
        kernel,
        code: hash.is_some().then_some(DataName::Code(hash)),
        grid,
        block,
        lds: Lds::Added(lds),
        arguments: Arguments::Values(values),
    })))
}

/// An argument: its kind, size and bytes, and where pointers stand in it.
fn argument(fields: &mut Fields<'_>) -> Result<Value, TooShort> {
    let kind = fields.byte()?;
    let size = usize::from(fields.half()?);
    let bytes = fields.bytes(size)?.to_vec();
    let kind = match kind {
        1 => ValueKind::Pointer,
        2 => ValueKind::Hidden,
        3 => {
            let count = fields.half()?;
            ValueKind::WithPointers((0..count).map(|_| fields.half()).collect::<Result<_, _>>()?)
        }
        _ => ValueKind::Plain,
    };
    Ok(Value { kind, bytes })
}
