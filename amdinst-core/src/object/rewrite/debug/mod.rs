//! Debug information of the new code: the old DWARF, written anew with every code address where the code went.
//!
//! Lines, functions, inlined calls, scopes and the ranges of variables' locations follow the code; inserted code belongs to the
//! line of the instruction that it stands beside. Left out: indexes that a debugger rebuilds (`.debug_names`,
//! `.debug_aranges`, `.debug_pub*`), `.debug_frame`, macros, and locations in operations that `gimli` does not know (such
//! a variable has no location). Debug information as a whole is left out where it cannot be carried over: damaged ones,
//! type units, split ones.

mod lines;
mod unit;

use gimli::write::{Dwarf, EndianVec, Sections};
use gimli::{LittleEndian, UnitType, read};

use super::Edge;
use super::fixups::Context;
use crate::object::lines::sections::{Sections as OldSections, Slice};

/// What became of debug information.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DebugInfo {
    /// There was none.
    Absent,
    /// It tells of the new code.
    Carried,
    /// Left out, and why.
    LeftOut(String),
}

impl DebugInfo {
    /// Why it is left out, if it is.
    pub fn problem(&self) -> Option<&str> {
        match self {
            Self::LeftOut(reason) => Some(reason),
            Self::Absent | Self::Carried => None,
        }
    }
}

/// New contents of a section, by its number.
pub(super) struct NewSection {
    pub(super) section: usize,
    pub(super) contents: Vec<u8>,
}

/// Debug information that cannot be carried over.
pub(super) struct Problem(String);

impl<E: std::error::Error> From<E> for Problem {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// The sections of the new debug information, empty when it is left out.
pub(super) fn relocated(context: &Context<'_>) -> (DebugInfo, Vec<NewSection>) {
    match convert(context) {
        Ok(None) => (DebugInfo::Absent, Vec::new()),
        Ok(Some(sections)) => (DebugInfo::Carried, sections),
        Err(Problem(reason)) => (DebugInfo::LeftOut(reason), Vec::new()),
    }
}

fn convert(context: &Context<'_>) -> Result<Option<Vec<NewSection>>, Problem> {
    let old = OldSections::read(context.object)?;
    if old.is_empty() {
        return Ok(None);
    }
    let old = read::Dwarf::load(|id| Ok::<_, Problem>(old.get(id)))?;
    let mut headers = old.units();
    while let Some(header) = headers.next()? {
        if !matches!(header.type_(), UnitType::Compilation | UnitType::Partial) {
            return Err(Problem("it has a unit of types, or one that is split over files".to_owned()));
        }
    }
    if old.type_units().next()?.is_some() {
        return Err(Problem("it has a unit of types".to_owned()));
    }
    let moves = Moves { context };
    let mut new = Dwarf::new();
    let mut units = new.convert(&old)?;
    while let Some((mut unit, root)) = units.read_unit()? {
        unit::convert(&mut unit, root, &moves)?;
    }
    let mut written = Sections::new(EndianVec::new(LittleEndian));
    new.write(&mut written)?;
    let mut sections = Vec::new();
    written.for_each(|id, contents| {
        if contents.slice().is_empty() {
            return Ok(());
        }
        let Some((section, _)) = context.elf.section(id.name()) else {
            return Err(Problem(format!("it needs a section {}, which is not there", id.name())));
        };
        sections.push(NewSection { section, contents: contents.slice().to_vec() });
        Ok(())
    })?;
    Ok(Some(sections))
}

/// Where addresses went.
struct Moves<'a> {
    context: &'a Context<'a>,
}

/// How debug data is read.
type Reader<'a> = Slice<'a>;

impl Moves<'_> {
    /// The new address of old code; `None` for other addresses, such as those of functions that the linker dropped.
    fn start(&self, old: u64) -> Option<u64> {
        let is_code = self.context.text_section().memory().contains(&old);
        (self.context.edit.address_map)(old, Edge::Start).filter(|_| is_code)
    }

    /// The new end of old code.
    fn end(&self, old: u64) -> Option<u64> {
        let is_code = self.context.text_section().memory().contains(&old.checked_sub(1)?);
        (self.context.edit.address_map)(old, Edge::End).filter(|_| is_code)
    }

    /// The new range of old code.
    fn range(&self, old: gimli::Range) -> Option<gimli::Range> {
        let new = gimli::Range { begin: self.start(old.begin)?, end: self.end(old.end)? };
        (new.begin < new.end).then_some(new)
    }

    /// An address as it is written: data stay where they are.
    fn address(&self, old: u64) -> gimli::write::Address {
        gimli::write::Address::Constant(self.start(old).unwrap_or(old))
    }
}
