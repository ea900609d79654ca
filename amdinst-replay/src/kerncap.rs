//! Folders of kerncap: one launch, with all memory that the GPU had just before it.
//!
//! | file | contents |
//! |---|---|
//! | `dispatch.json` | the kernel's name, grid in work-items, block, LDS, bytes of the kernarg segment |
//! | `kernarg.bin` | the kernarg segment |
//! | `kernel.hsaco` | the code object |
//! | `memory_regions.json` | address and size of each piece of memory |
//! | `memory/region_ADDRESS.bin` | its contents |
//! | `module_variables.json` | values of variables, each in a file; may be absent |
//!
//! What the launch left behind is not in there, so there is nothing to hold the emulator's result against.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::calls::{Address, Arguments, Call, DataName, Event, LaunchCall, Lds};
use crate::error::ArchiveError;
use crate::folder::Folder;
use crate::process::Process;

const DISPATCH: &str = "dispatch.json";
const REGIONS: &str = "memory_regions.json";
const VARIABLES: &str = "module_variables.json";
const CODE: &str = "kernel.hsaco";
const KERNARG: &str = "kernarg.bin";

/// The handle that the code object gets.
const MODULE: u64 = 1;

#[derive(Debug, Deserialize)]
struct Dispatch {
    #[serde(default)]
    mangled_name: String,
    #[serde(default)]
    demangled_name: String,
    /// Work-items.
    grid: Vec<u32>,
    block: Vec<u32>,
    #[serde(default)]
    group_segment_size: u32,
    #[serde(default)]
    isa_name: String,
}

#[derive(Debug, Deserialize)]
struct Regions {
    regions: Vec<Region>,
}

#[derive(Debug, Deserialize)]
struct Region {
    base: u64,
    size: u64,
}

#[derive(Debug, Deserialize)]
struct Variables {
    variables: Vec<Variable>,
}

#[derive(Debug, Deserialize)]
struct Variable {
    #[serde(default)]
    executable_sha256: String,
    name: String,
    size: u64,
    blob: String,
}

#[derive(Debug, Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    hsaco_sha256: String,
}

/// Whether a folder is one of kerncap.
pub(crate) fn is_archive(folder: &Folder) -> bool {
    folder.has(DISPATCH)
}

fn json<T: DeserializeOwned>(folder: &Folder, name: &str) -> Result<T, ArchiveError> {
    let bytes = folder.read(name)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| ArchiveError::Json { path: folder.file(name), problem: error.to_string() })
}

/// Reads a folder.
///
/// # Errors
/// One of its files cannot be read or lacks something.
pub(crate) fn read(folder: Folder) -> Result<Process, ArchiveError> {
    let dispatch: Dispatch = json(&folder, DISPATCH)?;
    let regions: Regions = json(&folder, REGIONS)?;
    let mut events = Vec::new();
    let mut add = |name, call| {
        let number = events.len() as u64;
        events.push(Event { number, thread: 0, stream: None, name, call });
    };
    add("load", Call::Load { module: MODULE, code: DataName::File(CODE.to_owned()) });
    for Region { base, size } in regions.regions {
        let (at, data) = (Address(base), DataName::File(format!("memory/region_{base:x}.bin")));
        add("memory", Call::Allocate { at, bytes: size, is_host: false });
        add("contents", Call::CopyIn { to: at, from: Address(0), bytes: size, data: Some(data) });
    }
    for call in variables(&folder)? {
        add("variable", call);
    }
    let (_, bytes) = folder.open(KERNARG)?;
    let (grid, block) = grid(&folder, &dispatch)?;
    let named = |name: &String| !name.is_empty() && name != "unknown";
    let kernel = [&dispatch.mangled_name, &dispatch.demangled_name].into_iter().find(|name| named(name));
    let kernel = kernel.cloned().unwrap_or_default();
    let launch = LaunchCall {
        kernel: kernel.strip_suffix(".kd").map_or(kernel.clone(), str::to_owned),
        code: Some(DataName::File(CODE.to_owned())),
        grid,
        block,
        lds: Lds::All(dispatch.group_segment_size),
        arguments: Arguments::Segment { data: DataName::File(KERNARG.to_owned()), bytes },
    };
    add("launch", Call::Launch(Box::new(launch)));
    let processor = dispatch.isa_name.rsplit('-').find(|part| part.starts_with("gfx"));
    let processor = processor.map(|name| name.split(':').next().unwrap_or(name).to_owned());
    let notes = vec![
        "kerncap keeps memory as it was before the launch, so there is nothing to compare its result with"
            .to_owned(),
    ];
    Ok(Process { name: None, folder, events, notes, recorded_on: processor.into_iter().collect() })
}

/// Workgroups and work-items of a workgroup.
fn grid(folder: &Folder, dispatch: &Dispatch) -> Result<([u32; 3], [u32; 3]), ArchiveError> {
    let problem = |problem: String| ArchiveError::Json { path: folder.file(DISPATCH), problem };
    let sizes = |name: &str, given: &[u32]| {
        let mut sizes = [1; 3];
        if given.is_empty() || given.len() > sizes.len() || given.contains(&0) {
            return Err(problem(format!("`{name}` is {given:?}, and not one to three sizes from 1 on")));
        }
        sizes[..given.len()].copy_from_slice(given);
        Ok(sizes)
    };
    let (items, block) = (sizes("grid", &dispatch.grid)?, sizes("block", &dispatch.block)?);
    let mut groups = [1; 3];
    for ((groups, items), block) in groups.iter_mut().zip(items).zip(block) {
        if !items.is_multiple_of(block) {
            let told = format!(
                "`grid` is {:?}, no whole number of blocks of {:?}: that is not replayed yet",
                dispatch.grid, dispatch.block
            );
            return Err(problem(told));
        }
        *groups = items / block;
    }
    Ok((groups, block))
}

/// What gives the kernel's variables their values.
fn variables(folder: &Folder) -> Result<Vec<Call>, ArchiveError> {
    if !folder.has(VARIABLES) {
        return Ok(Vec::new());
    }
    let known: Variables = json(folder, VARIABLES)?;
    // Other code objects may have variables of the same names.
    let own = match folder.has("metadata.json") {
        true => json::<Metadata>(folder, "metadata.json")?.hsaco_sha256,
        false => String::new(),
    };
    let is_own = |variable: &Variable| own.is_empty() || variable.executable_sha256 == own;
    let call = |Variable { name, size, blob, .. }: Variable| Call::SetVariable {
        module: MODULE,
        name,
        bytes: size,
        data: DataName::File(blob),
    };
    Ok(known.variables.into_iter().filter(is_own).map(call).collect())
}
