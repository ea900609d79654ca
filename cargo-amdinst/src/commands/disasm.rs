//! `cargo amdinst disasm`: disassemble a code object, line for line as `llvm-objdump -d` does, with `-S` and
//! `-l` of it.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::ops::{ControlFlow, Range};

use amdgpu_object::CodeObject;
use amdgpu_object::lines::SourceMap;
use amdinst_core::instrument::{self, Options, SiteKind, probe_specs};
use amdinst_core::listing::{Annotate, Item, Listing};
use serde::Serialize;

use super::input::{File, Found, Input};
use super::source::Sources;
use crate::cli::{DisasmArgs, Format};
use crate::context::Context;
use crate::exit::{CommandResult, Exit};
use crate::instrumenting::kernel_of;
use crate::output;

/// Version of the JSON form, which `schemas/disasm.v1.json` describes.
pub const SCHEMA: u32 = 1;

/// Runs the command.
///
/// # Errors
/// When the file cannot be read, or does not have the kernels.
pub fn run(context: &mut Context, args: &DisasmArgs) -> CommandResult {
    let file_args = args.input.resolve(context)?;
    let file = File::open(&file_args.file)?;
    let input = Input::new(&file_args, &file)?.tell_odd_names(context);
    let mut missing: HashSet<&str> = args.kernel.iter().map(String::as_str).collect();
    let mut sources = Sources::default();
    let mut views = Vec::new();
    input.for_each(|found| {
        let object = &found.object;
        let mut ranges = Vec::new();
        for name in &args.kernel {
            if let Some(kernel) = kernel_of(object, name) {
                missing.remove(name.as_str());
                ranges.push(kernel.code.clone());
            }
        }
        if args.kernel.is_empty() {
            ranges.push(0..u64::MAX);
        } else if ranges.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        let sites =
            if args.sites || args.format == Format::Json { sites(context, &found) } else { BTreeMap::new() };
        if args.format == Format::Json {
            views.push(ObjectView::new(&found, &ranges, sites));
            return Ok(ControlFlow::Continue(()));
        }
        let mut notes = Notes::new(args, object, sites, &mut sources);
        output::stream(|out| {
            if input.len() > 1 {
                writeln!(out, "\n{} at {:#x}:", found.target, found.offset)?;
            }
            let listing = Listing::new(object);
            ranges.into_iter().try_for_each(|range| listing.write_annotated(range, out, &mut notes))
        })
    })?;
    if let Some(name) = args.kernel.iter().find(|name| missing.contains(name.as_str())) {
        return Err(input.no_kernel(name));
    }
    for file in sources.missing() {
        context.shell.warn(format_args!("cannot read {file}, whose lines are not shown"));
    }
    if args.format == Format::Json {
        let file = file_args.file.display().to_string();
        output::print_json(&FileView { schema: SCHEMA, file, code_objects: views })?;
    }
    Ok(Exit::Success)
}

/// What is known of an instruction at which lanes part.
#[derive(Clone, Debug, Serialize)]
struct SiteView {
    /// What it is.
    kind: SiteKind,
    /// Name of the `#[probe]` that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    probe: Option<String>,
    /// The kernels that it counts for. A site of a function can be one of several kernels.
    kernels: Vec<SiteOf>,
}

/// A kernel that has a site.
#[derive(Clone, Debug, Serialize)]
struct SiteOf {
    kernel: String,
    /// The site's number in the kernel's record.
    id: u32,
}

/// The sites of a code object, by address. A code object that cannot be analysed has none, with a warning.
fn sites(context: &Context, found: &Found) -> BTreeMap<u64, SiteView> {
    let object = &found.object;
    let plan = probe_specs(object).map_err(|error| error.to_string()).and_then(|probes| {
        let options = Options { probes, ..Options::default() };
        instrument::plan(object, &options).map_err(|error| error.to_string())
    });
    let plan = match plan {
        Ok(plan) => plan,
        Err(error) => {
            context.shell.warn(format_args!("{}: sites are not marked: {error}", found.target));
            return BTreeMap::new();
        }
    };
    let mut sites: BTreeMap<u64, SiteView> = BTreeMap::new();
    for kernel in plan.kernels() {
        for site in &kernel.sites {
            let view = sites.entry(site.pc).or_insert_with(|| SiteView {
                kind: site.kind,
                probe: site.name.clone(),
                kernels: Vec::new(),
            });
            view.kernels.push(SiteOf { kernel: kernel.name.clone(), id: site.id });
        }
    }
    sites
}

/// A place in the source.
type Place = (String, u32);

/// The innermost place of an instruction. Line 0 is what the compiler made without a line.
fn place(map: Option<&SourceMap>, address: u64) -> Option<Place> {
    let frame = map?.frames(address).into_iter().next().filter(|frame| !frame.file.is_empty())?;
    let line = if frame.approximate { 0 } else { frame.line };
    Some((frame.file.to_string(), line))
}

/// The lines before those of instructions: function, file and line, source text, sites.
struct Notes<'a> {
    lines: bool,
    source: bool,
    map: Option<SourceMap>,
    sites: BTreeMap<u64, SiteView>,
    sources: &'a mut Sources,
    /// The symbol of the instruction before.
    symbol: String,
    /// The place of the instruction before.
    place: Option<Place>,
}

impl<'a> Notes<'a> {
    fn new(
        args: &DisasmArgs,
        object: &CodeObject,
        sites: BTreeMap<u64, SiteView>,
        sources: &'a mut Sources,
    ) -> Self {
        let map = if args.source || args.line_numbers { SourceMap::new(object).ok() } else { None };
        Self {
            lines: args.line_numbers,
            source: args.source,
            map,
            // Without `--sites` there are none.
            sites: if args.sites { sites } else { BTreeMap::new() },
            sources,
            symbol: String::new(),
            place: None,
        }
    }
}

impl Annotate for Notes<'_> {
    fn before(&mut self, address: u64, symbol: &str, out: &mut String) {
        if self.map.is_some() {
            let place = place(self.map.as_ref(), address);
            let in_other = self.symbol != symbol;
            let line = place.as_ref().filter(|(_, line)| *line > 0);
            let is_new = place != self.place;
            // Writing to a String cannot fail, here and below.
            if self.lines && in_other {
                let _ = writeln!(out, "; {symbol}():");
                symbol.clone_into(&mut self.symbol);
            }
            if let Some((file, line)) = line {
                if self.lines && (is_new || in_other) {
                    let _ = writeln!(out, "; {file}:{line}");
                }
                if let (true, true, Some(text)) = (self.source, is_new, self.sources.line(file, *line)) {
                    let _ = writeln!(out, "; {text}");
                }
            }
            self.place = place;
        }
        if let Some(SiteView { kind, probe, kernels }) = self.sites.get(&address) {
            let probe = probe.as_ref().map_or(String::new(), |probe| format!(", probe `{probe}`"));
            let of: Vec<_> =
                kernels.iter().map(|SiteOf { kernel, id }| format!("{id} of {kernel}")).collect();
            let _ = writeln!(out, "; site {}: {}{probe}", of.join(", "), kind.name());
        }
    }
}

/// A file: the JSON form.
#[derive(Debug, Serialize)]
struct FileView {
    schema: u32,
    file: String,
    code_objects: Vec<ObjectView>,
}

/// A code object of the file.
#[derive(Debug, Serialize)]
struct ObjectView {
    target: String,
    /// Where it stands in the file.
    offset: u64,
    symbols: Vec<SymbolView>,
}

/// What stands under one label.
#[derive(Debug, Serialize)]
struct SymbolView {
    name: String,
    address: u64,
    instructions: Vec<InstructionView>,
}

/// An instruction, or bytes that are none.
#[derive(Debug, Serialize)]
struct InstructionView {
    address: u64,
    /// In hexadecimal, in the order of memory.
    bytes: String,
    /// The instruction, as LLVM writes it; bytes that are none have no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Where it branches to.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<SiteView>,
}

impl ObjectView {
    fn new(found: &Found, ranges: &[Range<u64>], mut sites: BTreeMap<u64, SiteView>) -> Self {
        let object = &found.object;
        let map = SourceMap::new(object).ok();
        let listing = Listing::new(object);
        let mut symbols: Vec<SymbolView> = Vec::new();
        for range in ranges {
            let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            // Nothing stops it.
            let _: Result<(), io::Error> = listing.items(range.clone(), |item| {
                let instruction = match item {
                    Item::Label { address, name } => {
                        symbols.push(SymbolView { name: name.to_owned(), address, instructions: Vec::new() });
                        return Ok(());
                    }
                    Item::Instruction { address, bytes, text, target } => {
                        let place = place(map.as_ref(), address).filter(|(_, line)| *line > 0);
                        let (file, line) = place.unzip();
                        let site = sites.remove(&address);
                        InstructionView {
                            address,
                            bytes: hex(bytes),
                            text: Some(text),
                            target,
                            file,
                            line,
                            site,
                        }
                    }
                    Item::Data { address, bytes } => InstructionView {
                        address,
                        bytes: hex(bytes),
                        text: None,
                        target: None,
                        file: None,
                        line: None,
                        site: None,
                    },
                };
                if let Some(symbol) = symbols.last_mut() {
                    symbol.instructions.push(instruction);
                }
                Ok(())
            });
        }
        Self { target: found.target.clone(), offset: found.offset, symbols }
    }
}
