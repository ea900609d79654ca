//! What functions are called.
//!
//! An inlined copy has no name of its own. The name is looked up once for each function that was copied.

use std::sync::Arc;

use gimli::{Attribute, AttributeValue, UnitOffset, constants as dw};
use rustc_hash::FxHashMap;

use super::sections::{Slice, Units};

/// How far a name is followed from an inlined copy to its origin to its declaration.
const MAX_ORIGINS: usize = 16;

/// The names of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Name {
    /// For people.
    pub(crate) function: Option<Arc<str>>,
    /// For linkers.
    pub(super) linkage: Option<Arc<str>>,
}

impl Name {
    /// From the mangled name and the name in the source, of which either may be missing.
    pub(super) fn new(linkage: Option<Arc<str>>, source: Option<Arc<str>>) -> Self {
        let demangled = linkage.as_deref().and_then(|name| rustc_demangle::try_demangle(name).ok());
        // The alternate form leaves out the hash at the end of legacy names.
        let function =
            demangled.map(|name| Arc::from(format!("{name:#}"))).or(source).or_else(|| linkage.clone());
        Self { function, linkage }
    }

    /// Reads the names of an entry, and of the entries that it is a copy of, up to some entries away.
    fn read<'a>(units: &Units<'a>, place: EntryPlace, entries: usize) -> Self {
        let mut linkage = None;
        let mut source = None;
        let mut next = Some(place);
        for _ in 0..entries {
            let Some((entry, unit)) = next.and_then(|place| Some((Named::read(units, place)?, place.0)))
            else {
                break;
            };
            let text = |value: Value<'a>| value.and_then(|value| units.text(unit, value.value()));
            linkage = linkage.or_else(|| text(entry.linkage_name).or_else(|| text(entry.mips_linkage_name)));
            source = source.or_else(|| text(entry.name));
            next = entry.origin.and_then(|origin| origin_place(units, unit, origin.value()));
        }
        Self::new(linkage, source)
    }
}

/// Where an entry is: the number of its unit, and the offset in that.
pub(super) type EntryPlace = (usize, UnitOffset);

/// The place of the entry that one in a unit is a copy of, or declared by.
pub(super) fn origin_place(
    units: &Units<'_>,
    unit: usize,
    origin: AttributeValue<Slice<'_>>,
) -> Option<EntryPlace> {
    match origin {
        AttributeValue::UnitRef(offset) => Some((unit, offset)),
        AttributeValue::DebugInfoRef(offset) => units.find(offset),
        _ => None,
    }
}

/// The names of functions, by number. Copies of one function share a number.
#[derive(Default)]
pub(super) struct FunctionNames {
    names: Vec<Name>,
    /// The numbers of what entries are copies of.
    origins: FxHashMap<EntryPlace, usize>,
}

impl FunctionNames {
    /// The number of the name that an entry has itself.
    pub(super) fn own(&mut self, units: &Units<'_>, entry: EntryPlace) -> usize {
        self.add(Name::read(units, entry, MAX_ORIGINS))
    }

    /// The number of the name of what an entry without one is a copy of.
    pub(super) fn of_origin(&mut self, units: &Units<'_>, origin: Option<EntryPlace>) -> usize {
        let Some(origin) = origin else { return self.add(Name::default()) };
        if let Some(&known) = self.origins.get(&origin) {
            return known;
        }
        let number = self.add(Name::read(units, origin, MAX_ORIGINS - 1));
        self.origins.insert(origin, number);
        number
    }

    /// By number.
    pub(super) fn into_names(self) -> Vec<Name> {
        self.names
    }

    fn add(&mut self, name: Name) -> usize {
        self.names.push(name);
        self.names.len() - 1
    }
}

type Value<'a> = Option<Attribute<Slice<'a>>>;

/// What an entry tells of names.
#[derive(Default)]
struct Named<'a> {
    linkage_name: Value<'a>,
    mips_linkage_name: Value<'a>,
    name: Value<'a>,
    origin: Value<'a>,
}

impl<'a> Named<'a> {
    fn read(units: &Units<'a>, (unit, offset): EntryPlace) -> Option<Self> {
        let mut entries = units.units[unit].entries_raw(Some(offset)).ok()?;
        let abbreviation = entries.read_abbreviation().ok()??;
        let mut this = Self::default();
        let mut specification = None;
        for &attribute in abbreviation.attributes() {
            let place = match attribute.name() {
                dw::DW_AT_linkage_name => &mut this.linkage_name,
                dw::DW_AT_MIPS_linkage_name => &mut this.mips_linkage_name,
                dw::DW_AT_name => &mut this.name,
                dw::DW_AT_abstract_origin => &mut this.origin,
                dw::DW_AT_specification => &mut specification,
                _ => {
                    entries.skip_attributes(&[attribute]).ok()?;
                    continue;
                }
            };
            place.get_or_insert(entries.read_attribute(attribute).ok()?);
        }
        this.origin = this.origin.or(specification);
        Some(this)
    }
}
