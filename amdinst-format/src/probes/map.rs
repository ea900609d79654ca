//! The probe map: what a reader of counters must know of an instrumented code object.
//!
//! It is JSON beside each instrumented code object (`*.probes.json`, [`SCHEMA`] 3): the target, what is
//! measured, the counter home per kernel, and sites with their address (original and rewritten), kind, place
//! in the source and probe names. A map of another schema is refused. Schema 1 had no strides to pass and no
//! forms of sites, so its readers would launch kernels of schema 2 wrongly; schema 2 had a chain of frames at
//! each site.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Home, Level, Limiter, Place, Places, ProbeSpec, Refusal, SiteFrame};
use crate::counters::{ArgumentError, Lanes, Layout, Probe, SiteForm, SiteForms, WaveIds};
use crate::schema;

/// Version of the JSON form of [`ProbeMap`]. In version 1, no kernel had more than the address of the buffer
/// behind its arguments, and each site of a record five counts: its readers would pass over `wave_ids`,
/// `site_forms` and `packed_sites`. Version 2 had no `places`.
pub const SCHEMA: u32 = 3;

/// A document that cannot be read as a [`ProbeMap`].
#[derive(Debug, Error)]
pub enum ProbeMapError {
    /// The document has another version of the schema.
    #[error(
        "it has schema {found}, and this version reads schema {SCHEMA}: \
         instrument the code object again with this version, or read the map with the one that wrote it"
    )]
    Schema {
        /// The document's.
        found: u32,
    },
    /// The document is damaged, or is no probe map.
    #[error("it is no probe map: {0}")]
    Damaged(#[from] serde_json::Error),
    /// A kernel's code stands at places that its list of places does not have.
    #[error(
        "it is damaged: kernel `{kernel}` has numbers of places in the source that its list does not have"
    )]
    Places {
        /// Its name.
        kernel: String,
    },
}

/// Everything about the probes of one code object; `*.probes.json` beside the instrumented file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeMap {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Target id of the code object (`gfx90a:xnack-`).
    pub target: String,
    /// `xxh128:` and the hash of the original code object.
    #[serde(default)]
    pub original: String,
    /// Hash of the instrumented code object, if there is one. It has the hash of this map in turn, in its
    /// section `.amdinst.map`: of the file with zeros for these digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_object: Option<String>,
    /// Every kernel that was asked for, instrumented or not, in order of entry address.
    pub kernels: Vec<KernelProbes>,
    /// Where code moved.
    pub addresses: AddressMap,
}

/// What a kernel takes in the file, roughly.
const BYTES_OF_KERNEL: usize = 2048;
/// What a site or a uniform branch takes in the file with the frames of its place, roughly.
const BYTES_OF_SITE: usize = 320;

impl ProbeMap {
    /// Reads a probe map.
    ///
    /// # Errors
    /// Another version, no such document, or places that are not there.
    // Inlined, so that its code is made in crates that call it: test programs do not, and are built more
    // often.
    #[inline]
    pub fn from_json(bytes: &[u8]) -> Result<Self, ProbeMapError> {
        let map: Self = schema::read(bytes, SCHEMA)?.map_err(|found| ProbeMapError::Schema { found })?;
        match map.kernels.iter().find(|kernel| !kernel.has_its_places()) {
            Some(kernel) => Err(ProbeMapError::Places { kernel: kernel.name.clone() }),
            None => Ok(map),
        }
    }

    /// Writes a probe map: on one line, for those of whole libraries are large.
    ///
    /// # Errors
    /// None that this type has.
    // Inlined, so that its code is made in crates that call it: test programs do not, and are built more
    // often.
    #[inline]
    pub fn to_json(&self) -> Result<Vec<u8>, serde_json::Error> {
        // About as much as most take, so that what is written is not moved. Memory that is not written to
        // costs nothing.
        let sites: usize = self.kernels.iter().map(|kernel| kernel.sites.len() + kernel.uniform.len()).sum();
        let mut bytes = Vec::with_capacity(BYTES_OF_KERNEL * self.kernels.len() + BYTES_OF_SITE * sites);
        serde_json::to_writer(&mut bytes, self)?;
        let mut bytes = amdinst_text::json::clean(bytes);
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// The kernel of that name.
    pub fn kernel(&self, name: &str) -> Option<&KernelProbes> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// The original address of the instruction at `new_pc` of the instrumented code object. Inserted
    /// instructions belong to the instruction they were inserted for.
    pub fn original_pc(&self, new_pc: u64) -> Option<u64> {
        self.addresses.original(new_pc)
    }
}

/// The probes of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelProbes {
    /// Name, as in the note's `.name`.
    #[serde(deserialize_with = "amdinst_text::deserialize")]
    pub name: String,
    /// The subject of the measurement.
    #[serde(default)]
    pub probe: Probe,
    /// Lanes of its waves.
    #[serde(default, skip_serializing_if = "Lanes::is_default")]
    pub lanes: Lanes,
    /// Where its counters are stored; `None` when the kernel was not instrumented (refused, or without a
    /// site).
    #[serde(rename = "counter_storage", alias = "home")]
    pub home: Option<Home>,
    /// Why this home was taken, in a sentence.
    pub why: String,
    /// How much each site counts.
    pub level: Level,
    /// Byte offset of the counter buffer's address in the kernarg segment, when instrumented with
    /// `Abi::Argument`.
    pub buffer_argument: Option<u32>,
    /// How the kernel tells waves apart, if six words follow the address that say where records are
    /// ([`Layout::argument`]); `None` if it reads the head of the buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wave_ids: Option<WaveIds>,
    /// The form of each site's words in the record, in its order; empty if all are counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub site_forms: Vec<SiteForm>,
    /// Sites of its records, if these are packed ([`Packing`](crate::counters::Packing)); 0 if they are not.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub packed_sites: u32,
    /// The symbol of the variable for the counter buffer's address, when instrumented with
    /// `Abi::Global`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_symbol: Option<String>,
    /// Bytes of the kernarg segment of the instrumented kernel.
    pub kernarg_segment_size: u32,
    /// Bytes of one wave's record.
    pub record_stride: u32,
    /// The cost of the probes.
    pub cost: Cost,
    /// Where its code stands in the source.
    #[serde(default)]
    pub places: Places,
    /// The sites, in the order of the record. Sites of functions the kernel may call come first.
    pub sites: Vec<Site>,
    /// The blocks, in the order of the record; only if blocks are measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<BlockProbe>,
    /// Sites that are not counted because they were not asked for.
    #[serde(
        rename = "sites_not_selected",
        alias = "left_out",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub left_out: Vec<LeftOut>,
    /// Branches that cannot diverge.
    pub uniform: Vec<UniformBranch>,
    /// Every other instruction that writes EXEC, with its class; a narrowing observed at none of these and at
    /// no site is a miss of the analysis.
    pub exec_writes: Vec<ExecWrite>,
    /// The `#[probe]`s that stand in this kernel or in functions it may call.
    pub probes: Vec<ProbeOutcome>,
    /// The code that was not instrumented, and why. One with no `pc` refuses the whole kernel.
    pub refusals: Vec<Refusal>,
}

impl KernelProbes {
    /// The counter buffer of a launch of this kernel, when instrumented.
    pub fn layout(&self, workgroups: [u32; 3], workgroup_size: [u32; 3]) -> Layout {
        let layout = Layout::new(workgroups, workgroup_size, self.record_stride);
        let layout = layout.with_lanes(self.lanes).holding(self.probe);
        let forms = SiteForms::new(&self.site_forms, self.level == Level::Lanes);
        let layout = layout.with_forms(forms.packed(self.packed_sites));
        match self.wave_ids {
            Some(WaveIds::Together) => layout.hashed(),
            Some(WaveIds::Apart) | None => layout,
        }
    }

    /// Puts the address of the counter buffer, and the words behind it, into a kernarg segment, if the kernel
    /// takes them as arguments. The segment grows to the size of the instrumented kernel's.
    ///
    /// # Errors
    /// When the kernel could not reach all of the buffer.
    pub fn set_argument(
        &self,
        kernarg: &mut Vec<u8>,
        layout: &Layout,
        address: u64,
    ) -> Result<(), ArgumentError> {
        let Some(offset) = self.buffer_argument else { return Ok(()) };
        let address_alone = address.to_le_bytes();
        let with_strides;
        let bytes: &[u8] = match self.wave_ids {
            Some(ids) => {
                with_strides = layout.argument(address, ids)?;
                &with_strides
            }
            None => &address_alone,
        };
        let (start, end) = (offset as usize, offset as usize + bytes.len());
        kernarg.resize(end.max(self.kernarg_segment_size as usize).max(kernarg.len()), 0);
        kernarg[start..end].copy_from_slice(bytes);
        Ok(())
    }

    /// The inline chain at a place of its code, innermost first; empty if it has none.
    pub fn frames(&self, place: Option<Place>) -> Vec<SiteFrame> {
        self.places.frames(place)
    }

    fn has_its_places(&self) -> bool {
        let sites = self.sites.iter().flat_map(|site| site.place.iter().chain(&site.nearby));
        let places = sites
            .chain(self.blocks.iter().flat_map(|block| &block.place))
            .chain(self.left_out.iter().flat_map(|site| &site.place))
            .chain(self.uniform.iter().flat_map(|branch| &branch.place));
        self.places.is_sound() && { places }.all(|&place| self.places.contains(place))
    }

    /// Its counters are there to be read.
    pub fn is_instrumented(&self) -> bool {
        self.home.is_some()
    }

    /// The pcs of the original that may narrow EXEC without being counted: else-halves, restores, constants,
    /// sites that were not selected, and those that were refused by name.
    pub fn explained_pcs(&self) -> impl Iterator<Item = u64> {
        let writes = self.exec_writes.iter().map(|write| write.pc);
        let refused = self.refusals.iter().filter_map(|refusal| refusal.pc);
        let left_out = self.left_out.iter().map(|site| site.pc);
        writes
            .chain(refused)
            .chain(left_out)
            .chain(self.sites.iter().flat_map(|site| site.else_pcs.iter().copied()))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The cost of a kernel's probes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Instructions added a site execution, least and most over the sites.
    pub instructions_per_site: [u32; 2],
    /// Of these, operations on memory.
    pub memory_operations_per_site: u32,
    /// Of these, operations on LDS.
    pub lds_operations_per_site: u32,
    /// SGPRs in use that a site saves, takes and puts back: the most at any.
    #[serde(default)]
    pub borrowed_sgprs: u32,
    /// VGPRs in use of which each site saves, takes and puts back the lowest lanes.
    #[serde(default)]
    pub borrowed_vgprs: u32,
    /// Instructions added at the kernel's entry.
    pub prologue: u32,
    /// Instructions added before each `s_endpgm`.
    pub epilogue: u32,
    /// SGPRs in use, original and instrumented.
    pub sgprs: [u32; 2],
    /// VGPRs in use (AGPRs included where they share the file), original and instrumented.
    pub vgprs: [u32; 2],
    /// Private memory of a work-item in bytes, original and instrumented.
    #[serde(default)]
    pub scratch: [u32; 2],
    /// Static LDS in bytes, original and instrumented.
    pub lds: [u32; 2],
    /// Bytes of code added to the kernel and its functions.
    pub code_bytes: u64,
    /// Waves a SIMD can hold.
    pub occupancy: Occupancy,
}

/// Waves a SIMD can hold, as registers and LDS limit it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupancy {
    /// Of the original kernel.
    pub before: u32,
    /// Of the instrumented kernel.
    pub after: u32,
    /// What limits the original.
    #[serde(default)]
    pub limiter_before: Limiter,
    /// What limits the instrumented kernel.
    #[serde(default)]
    pub limiter_after: Limiter,
}

impl Occupancy {
    /// A sentence on it where instrumentation makes fewer waves fit.
    pub fn loss(&self) -> Option<String> {
        let Self { before, after, limiter_after, .. } = self;
        (after < before).then(|| {
            format!(
                "instrumented, {after} instead of {before} waves a SIMD fit: {} limit",
                limiter_after.name()
            )
        })
    }
}

/// What a site is in the structure of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SiteKind {
    /// Lanes go on into a branch, and are rejoined by the others later.
    If,
    /// Lanes stay in a loop, or leave it.
    LoopExit,
}

impl SiteKind {
    /// The word for it in JSON and in reports (`loop-exit`).
    pub const fn name(self) -> &'static str {
        match self {
            Self::If => "if",
            Self::LoopExit => "loop-exit",
        }
    }
}

/// An instruction that narrows EXEC by a condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// Position in the kernel's record, from 0. Positions of functions that other kernels alone call are left
    /// out.
    pub id: u32,
    /// Its kind.
    pub kind: SiteKind,
    /// Address of the narrowing instruction in the original code object.
    pub pc: u64,
    /// Its address in the instrumented one.
    pub new_pc: u64,
    /// The narrowing instruction, as LLVM writes it.
    pub instruction: Arc<str>,
    /// Where it stands in the source; `None` without debug information.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Other places of the branch's own instructions: for the compiler may have given it a line without a
    /// branch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearby: Vec<Place>,
    /// The branch is only near `place`: the compiler gave it none; or, where the sources were read, neither
    /// it nor `nearby` has one.
    #[serde(default, rename = "near", skip_serializing_if = "std::ops::Not::not")]
    pub is_near: bool,
    /// Name of the `#[probe]` it belongs to: the innermost construct that contains it.
    pub name: Option<String>,
    /// Loops around it, within its function.
    pub loop_depth: u32,
    /// Symbol of the kernel or function it stands in, mangled.
    pub function: Arc<str>,
    /// Addresses, in the original, of the instructions that start the other half of this branch.
    pub else_pcs: Vec<u64>,
}

/// A basic block, or a part of one between writes of EXEC, whose executions are counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockProbe {
    /// Position in the kernel's record, from 0. Positions of functions that other kernels alone call are left
    /// out.
    pub id: u32,
    /// Address of its first instruction in the original code object.
    pub pc: u64,
    /// The address after its last one.
    pub end_pc: u64,
    /// Original addresses of the instructions whose lanes are counted, first and end: all of the block that
    /// depend on EXEC.
    pub lanes_pcs: [u64; 2],
    /// Instructions.
    pub instructions: u32,
    /// Where its first instruction that has a place stands in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The source lines that its instructions come from which do something in active lanes alone, those of
    /// calls that were inlined among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<FileLines>,
    /// Lines that only its other instructions come from: scalar ones, those of a lane by its number, those in
    /// whole-wave mode. Active lanes tell nothing of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scalar_lines: Vec<FileLines>,
    /// Symbol of the kernel or function it stands in, mangled.
    pub function: Arc<str>,
}

/// Lines of a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileLines {
    /// The file.
    pub file: Arc<str>,
    /// From 1, ascending.
    pub lines: Vec<u32>,
}

impl FileLines {
    /// Places put together by file, in order.
    pub fn of_places(places: impl IntoIterator<Item = (Arc<str>, u32)>) -> Vec<Self> {
        let mut files = BTreeMap::<Arc<str>, BTreeSet<u32>>::new();
        for (file, line) in places {
            files.entry(file).or_default().insert(line);
        }
        let of_file = |(file, lines): (_, BTreeSet<u32>)| Self { file, lines: lines.into_iter().collect() };
        files.into_iter().map(of_file).collect()
    }

    /// Its places.
    pub fn places(&self) -> impl Iterator<Item = (Arc<str>, u32)> {
        self.lines.iter().map(|&line| (Arc::clone(&self.file), line))
    }
}

/// A site that is not counted because it was not asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its kind.
    pub kind: SiteKind,
    /// Address of the narrowing instruction in the original code object.
    pub pc: u64,
    /// Where it stands in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Name of the `#[probe]` it belongs to.
    pub name: Option<String>,
}

/// A branch all lanes take alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UniformBranch {
    /// Address in the original code object.
    pub pc: u64,
    /// The branch, as LLVM writes it.
    pub instruction: Arc<str>,
    /// Where it stands in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Name of the `#[probe]` it belongs to.
    pub name: Option<String>,
    /// Symbol of the kernel or function it stands in, mangled.
    pub function: Arc<str>,
}

/// An instruction that writes EXEC and is no site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecWrite {
    /// Address in the original code object.
    pub pc: u64,
    /// Its class.
    pub class: ExecWriteClass,
}

/// What a write of EXEC that is no site does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExecWriteClass {
    /// Turns to the other half of a branch.
    Else,
    /// Adds lanes back.
    Join,
    /// Sets a mask that EXEC had before.
    Restore,
    /// Enables all lanes (or all inactive ones) around spills and calls.
    WholeWave,
    /// Sets a constant.
    Constant,
    /// Could not be told; there is a refusal of the same address.
    Unclassified,
}

/// A `#[probe]` and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeOutcome {
    /// The probe, as the source has it.
    pub probe: ProbeSpec,
    /// What became of it.
    pub result: ProbeResult,
}

/// What became of a `#[probe]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeResult {
    /// The probe has these sites (ids). Sites that were left out are not among them.
    Sites(Vec<u32>),
    /// The probe has sites, and none of them was asked for.
    LeftOut,
    /// The probe's branch is taken alike by all lanes (addresses in the original).
    Uniform(Vec<u64>),
    /// The probe's construct is computed without a branch: its code is there, and no branch belongs to it.
    IfConverted,
    /// No instruction belongs to it.
    Removed,
}

/// Where code moved: runs of the new text in order of address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressMap {
    /// The runs, contiguous.
    pub runs: Vec<Run>,
}

/// A stretch of the instrumented text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// First address in the instrumented code object.
    pub new: u64,
    /// First address in the original; for inserted code, the instruction it belongs to.
    pub old: u64,
    /// Bytes.
    pub size: u64,
    /// Not in the original.
    pub inserted: bool,
}

impl AddressMap {
    /// The original address of an instruction that the original has; `None` for one that was inserted.
    pub fn kept(&self, new: u64) -> Option<u64> {
        let (run, within) = self.find(new)?;
        (!run.inserted).then_some(run.old + within)
    }

    /// The original address of an address of the instrumented code.
    pub fn original(&self, new: u64) -> Option<u64> {
        let (run, within) = self.find(new)?;
        Some(if run.inserted { run.old } else { run.old + within })
    }

    /// The run that an address of the instrumented code is in, and how many bytes in.
    fn find(&self, new: u64) -> Option<(&Run, u64)> {
        let index = self.runs.partition_point(|run| run.new <= new).checked_sub(1)?;
        let run = &self.runs[index];
        let within = new - run.new;
        (within < run.size).then_some((run, within))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_of_another_version_are_refused_with_what_to_do() {
        let map = ProbeMap {
            schema: SCHEMA,
            target: "gfx90a".to_owned(),
            original: String::new(),
            code_object: None,
            kernels: Vec::new(),
            addresses: AddressMap::default(),
        };
        let mut json = serde_json::to_value(&map).unwrap();
        assert_eq!(ProbeMap::from_json(json.to_string().as_bytes()).unwrap(), map);
        for other in [1, 2, 4] {
            json["schema"] = other.into();
            let error = ProbeMap::from_json(json.to_string().as_bytes()).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("it has schema {other}, and this version reads schema 3")),
                "{error}"
            );
            assert!(error.contains("instrument the code object again"), "{error}");
        }
        let error = ProbeMap::from_json(br#"{"schema":3}"#).unwrap_err().to_string();
        assert!(error.starts_with("it is no probe map: missing field"), "{error}");
    }

    #[test]
    fn places_that_are_not_there_are_named() {
        let map = |frames: &str, place: u32| {
            let site = format!(
                r#"{{"id":0,"kind":"if","pc":0,"new_pc":0,"instruction":"","place":{place},"name":null,
                    "loop_depth":0,"function":"f","else_pcs":[]}}"#
            );
            let kernel = format!(
                r#"{{"name":"f","counter_storage":null,"why":"","level":"lanes","buffer_argument":null,
                    "kernarg_segment_size":0,"record_stride":0,"cost":{},"sites":[{site}],"uniform":[],
                    "places":{{"functions":["f"],"files":[],"frames":[{frames}]}},
                    "exec_writes":[],"probes":[],"refusals":[]}}"#,
                serde_json::to_string(&Cost::default()).unwrap()
            );
            let map = format!(
                r#"{{"schema":{SCHEMA},"target":"gfx90a","kernels":[{kernel}],"addresses":{{"runs":[]}}}}"#
            );
            ProbeMap::from_json(map.as_bytes())
        };
        let (inner, outer) = (r#"{"function":0,"line":3,"inlined_at":0}"#, r#"{"line":7}"#);
        let read = map(&format!("{outer},{inner}"), 1).unwrap();
        let kernel = &read.kernels[0];
        let lines: Vec<_> = kernel.frames(kernel.sites[0].place).iter().map(|frame| frame.line).collect();
        assert_eq!(lines, [Some(3), Some(7)]);
        let damaged = [
            (format!("{outer},{inner}"), 2),
            (inner.to_owned(), 0),
            (r#"{"function":1}"#.to_owned(), 0),
            (r#"{"file":0}"#.to_owned(), 0),
        ];
        for (frames, place) in damaged {
            let error = map(&frames, place).unwrap_err().to_string();
            assert!(
                error.starts_with("it is damaged: kernel `f` has numbers of places"),
                "{frames}: {error}"
            );
        }
    }

    #[test]
    fn inserted_code_belongs_to_its_instruction() {
        let map = AddressMap {
            runs: vec![
                Run { new: 0x2000, old: 0x1000, size: 8, inserted: false },
                Run { new: 0x2008, old: 0x1004, size: 16, inserted: true },
                Run { new: 0x2018, old: 0x1008, size: 4, inserted: false },
            ],
        };
        assert_eq!(map.original(0x1fff), None);
        assert_eq!(map.original(0x2004), Some(0x1004));
        assert_eq!(map.original(0x2010), Some(0x1004));
        assert_eq!(map.original(0x2018), Some(0x1008));
        assert_eq!(map.original(0x201c), None);
    }
}
