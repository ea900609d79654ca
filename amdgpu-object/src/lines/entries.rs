//! A walk through the entries of a unit in which few attributes are read. How to pass over the others is
//! worked out once for each abbreviation; what is neither frequent nor of fixed size is left to gimli.

use std::collections::BTreeMap;

use gimli::{
    AttributeSpecification, AttributeValue, DebugAddrIndex, DebugLocListsIndex, DebugRngListsIndex, DwAt,
    DwForm, DwTag, EntriesRaw, Expression, Reader as _, ReaderOffset as _, Unit, UnitOffset, constants as dw,
};

use super::leb;
use super::sections::Slice;

/// An entry of which attributes are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) tag: DwTag,
    /// How many entries it is inside of.
    pub(crate) depth: isize,
    /// The least depth of this one and of all between the last one and it.
    pub(crate) least_depth: isize,
    /// Where it stands in its unit.
    pub(crate) offset: UnitOffset,
}

/// An attribute whose value is what is read next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attribute {
    pub(crate) name: DwAt,
    pub(crate) form: DwForm,
    /// Its number in [`Shapes::specifications`].
    number: u32,
}

/// The entries of a unit that have attributes that `asks` is true of, one after the other, and these
/// attributes.
pub(crate) struct Entries<'u, 'a, F> {
    unit: &'u Unit<Slice<'a>>,
    asks: F,
    shapes: Shapes,
    rest: Slice<'a>,
    /// The offset in the unit behind its entries.
    end: usize,
    depth: isize,
    /// The parts of the entry that are yet to come: from one number to another.
    parts: [u32; 2],
}

impl<'u, 'a, F: Fn(DwTag, AttributeSpecification) -> bool> Entries<'u, 'a, F> {
    pub(crate) fn new(unit: &'u Unit<Slice<'a>>, asks: F) -> gimli::Result<Self> {
        let rest = unit.header.range_from(unit.header.root_offset()..)?;
        let end = unit.header.length_including_self();
        Ok(Self { unit, asks, shapes: Shapes::default(), rest, end, depth: 0, parts: [0, 0] })
    }

    /// The next entry. What was not read of the last one is passed over.
    #[inline]
    pub(crate) fn next(&mut self) -> gimli::Result<Option<Entry>> {
        if self.parts[0] < self.parts[1] {
            self.pass_rest()?;
        }
        let mut least_depth = isize::MAX;
        while !self.rest.is_empty() {
            let offset = self.offset();
            let code = leb::unsigned(&mut self.rest)?;
            // The end of what is inside an entry.
            if code == 0 {
                self.depth -= 1;
                continue;
            }
            let shape = self.shapes.of(code, self.unit, &self.asks)?;
            let depth = self.depth;
            least_depth = least_depth.min(depth);
            self.depth += isize::from(shape.has_children);
            self.rest.skip(shape.fixed as usize)?;
            if shape.has_number {
                leb::skip(&mut self.rest)?;
                self.rest.skip(shape.behind as usize)?;
            }
            self.parts = shape.parts;
            if shape.is_asked {
                let offset = UnitOffset(offset);
                return Ok(Some(Entry { tag: shape.tag, depth, least_depth, offset }));
            }
            if self.parts[0] < self.parts[1] {
                self.pass_rest()?;
            }
        }
        Ok(None)
    }

    /// Passes over what is left of an entry.
    fn pass_rest(&mut self) -> gimli::Result<()> {
        let [next, end] = self.parts;
        self.parts[0] = end;
        for number in next..end {
            let part = self.shapes.parts[number as usize];
            self.rest.skip(part.fixed)?;
            match part.then {
                Then::Number => leb::skip(&mut self.rest)?,
                Then::Asked(attribute) | Then::Passed(attribute) => self.pass(attribute)?,
                Then::End => {}
            }
        }
        Ok(())
    }

    /// The next attribute of the entry that was asked for. Its value is to be read next, or passed over.
    #[inline(always)]
    pub(crate) fn attribute(&mut self) -> gimli::Result<Option<Attribute>> {
        let [next, end] = self.parts;
        for number in next..end {
            let part = self.shapes.parts[number as usize];
            self.rest.skip(part.fixed)?;
            self.parts[0] = number + 1;
            match part.then {
                Then::Asked(attribute) => return Ok(Some(attribute)),
                Then::Number => leb::skip(&mut self.rest)?,
                Then::Passed(attribute) => self.pass(attribute)?,
                Then::End => {}
            }
        }
        Ok(None)
    }

    /// The value of an attribute: gimli's normalized one.
    #[inline]
    pub(crate) fn value(&mut self, attribute: Attribute) -> gimli::Result<AttributeValue<Slice<'a>>> {
        let rest = &mut self.rest;
        Ok(match attribute.form {
            dw::DW_FORM_addrx => AttributeValue::DebugAddrIndex(DebugAddrIndex(index(rest)?)),
            dw::DW_FORM_loclistx => AttributeValue::DebugLocListsIndex(DebugLocListsIndex(index(rest)?)),
            dw::DW_FORM_rnglistx => AttributeValue::DebugRngListsIndex(DebugRngListsIndex(index(rest)?)),
            dw::DW_FORM_exprloc => {
                let length = index(rest)?;
                AttributeValue::Exprloc(Expression(rest.split(length)?))
            }
            dw::DW_FORM_ref4 => AttributeValue::UnitRef(UnitOffset(usize::from_u32(rest.read_u32()?))),
            _ => return self.other_value(attribute),
        })
    }

    /// The value of an attribute that is mostly a number, or what it is else.
    #[inline]
    pub(crate) fn number(
        &mut self,
        attribute: Attribute,
    ) -> gimli::Result<Result<u64, AttributeValue<Slice<'a>>>> {
        let rest = &mut self.rest;
        Ok(Ok(match attribute.form {
            dw::DW_FORM_data1 => rest.read_u8()?.into(),
            dw::DW_FORM_data2 => rest.read_u16()?.into(),
            dw::DW_FORM_data4 => rest.read_u32()?.into(),
            _ => match self.other_value(attribute)? {
                AttributeValue::FileIndex(number) => number,
                value => return Ok(value.udata_value().ok_or(value)),
            },
        }))
    }

    /// Passes over an attribute.
    #[inline]
    pub(crate) fn pass(&mut self, attribute: Attribute) -> gimli::Result<()> {
        match attribute.form {
            form if is_number(form) => leb::skip(&mut self.rest),
            dw::DW_FORM_exprloc => {
                let length = index(&mut self.rest)?;
                self.rest.skip(length)
            }
            dw::DW_FORM_strx1 => self.rest.skip(1),
            dw::DW_FORM_strx2 => self.rest.skip(2),
            _ => self.pass_other(attribute),
        }
    }

    /// Where in the unit is read next.
    #[inline]
    pub(crate) fn offset(&self) -> usize {
        self.end - self.rest.len()
    }

    #[inline(never)]
    fn other_value(&mut self, attribute: Attribute) -> gimli::Result<AttributeValue<Slice<'a>>> {
        let mut raw = self.raw();
        let specification = self.shapes.specifications[attribute.number as usize];
        let value = raw.read_attribute(specification)?.value();
        self.rest.skip(raw.next_offset().0)?;
        Ok(value)
    }

    #[inline(never)]
    fn pass_other(&mut self, attribute: Attribute) -> gimli::Result<()> {
        let mut raw = self.raw();
        raw.skip_attributes(&[self.shapes.specifications[attribute.number as usize]])?;
        self.rest.skip(raw.next_offset().0)
    }

    /// gimli's reader of what is next; its offsets count from there.
    fn raw(&self) -> EntriesRaw<'u, Slice<'a>> {
        let unit = self.unit;
        EntriesRaw::new(self.rest, unit.header.encoding(), &unit.abbreviations, UnitOffset(0))
    }
}

/// Forms of one LEB128 number.
fn is_number(form: DwForm) -> bool {
    matches!(
        form,
        dw::DW_FORM_udata
            | dw::DW_FORM_sdata
            | dw::DW_FORM_strx
            | dw::DW_FORM_addrx
            | dw::DW_FORM_loclistx
            | dw::DW_FORM_rnglistx
    )
}

fn index(input: &mut Slice<'_>) -> gimli::Result<usize> {
    usize::from_u64(leb::unsigned(input)?)
}

/// What an abbreviation says of its entries. One is copied for each entry, so it is small.
#[derive(Clone, Copy)]
struct Shape {
    /// The shape was worked out.
    is_known: bool,
    has_children: bool,
    /// There are attributes that are asked for.
    is_asked: bool,
    /// Nothing is asked for, and all attributes but a number are of fixed size.
    has_number: bool,
    tag: DwTag,
    /// The bytes of all attributes, if nothing is asked for and all are of fixed size; of those before the
    /// number, if there is but that. Then there are no parts.
    fixed: u32,
    /// The bytes of those behind the number.
    behind: u32,
    /// The attributes, from one number to another of [`Shapes::parts`].
    parts: [u32; 2],
}

impl Shape {
    const UNKNOWN: Self = Self {
        is_known: false,
        has_children: false,
        is_asked: false,
        has_number: false,
        tag: DwTag(0),
        fixed: 0,
        behind: 0,
        parts: [0, 0],
    };
}

/// Some attributes of fixed size, together so many bytes, and what is behind them.
#[derive(Clone, Copy)]
struct Part {
    fixed: usize,
    then: Then,
}

#[derive(Clone, Copy)]
enum Then {
    Asked(Attribute),
    Passed(Attribute),
    /// An attribute that is passed over: it is enough to know that it is a number.
    Number,
    End,
}

/// The abbreviations of a unit, each worked out when it is first used.
#[derive(Default)]
struct Shapes {
    /// By number, as far as compilers count.
    near: Vec<Shape>,
    /// Shapes of abbreviations with large numbers.
    far: BTreeMap<u64, Shape>,
    parts: Vec<Part>,
    /// What gimli is told of the attributes in them.
    specifications: Vec<AttributeSpecification>,
}

/// From there on numbers of abbreviations are large. A table by number must not be, for there may be one in
/// every few bytes.
const FAR: usize = 512;

impl Shapes {
    #[inline]
    fn of(
        &mut self,
        code: u64,
        unit: &Unit<Slice<'_>>,
        asks: &impl Fn(DwTag, AttributeSpecification) -> bool,
    ) -> gimli::Result<Shape> {
        match self.near.get(code as usize) {
            Some(&shape) if shape.is_known => Ok(shape),
            _ => self.learn(code, unit, asks),
        }
    }

    #[cold]
    fn learn(
        &mut self,
        code: u64,
        unit: &Unit<Slice<'_>>,
        asks: &impl Fn(DwTag, AttributeSpecification) -> bool,
    ) -> gimli::Result<Shape> {
        if let Some(&shape) = self.far.get(&code) {
            return Ok(shape);
        }
        let abbreviation = unit.abbreviations.get(code).ok_or(gimli::Error::InvalidAbbreviationCode(code))?;
        let first = self.parts.len() as u32;
        let mut fixed = 0;
        let mut any_asked = false;
        for &specification in abbreviation.attributes() {
            let is_asked = asks(abbreviation.tag(), specification);
            any_asked |= is_asked;
            if let Some(size) = specification.size(&unit.header).filter(|_| !is_asked) {
                fixed += size;
                continue;
            }
            let number = self.specifications.len() as u32;
            self.specifications.push(specification);
            let attribute = Attribute { name: specification.name(), form: specification.form(), number };
            let then = match is_asked {
                true => Then::Asked(attribute),
                false if is_number(attribute.form) => Then::Number,
                false => Then::Passed(attribute),
            };
            self.parts.push(Part { fixed, then });
            fixed = 0;
        }
        let (mut has_number, mut behind) = (false, 0);
        if let [Part { fixed: before, then: Then::Number }] = self.parts[first as usize..] {
            (has_number, behind, fixed) = (true, fixed, before);
            self.parts.pop();
        } else if fixed > 0 && self.parts.len() > first as usize {
            self.parts.push(Part { fixed, then: Then::End });
            fixed = 0;
        }
        let shape = Shape {
            is_known: true,
            tag: abbreviation.tag(),
            has_children: abbreviation.has_children(),
            is_asked: any_asked,
            has_number,
            // More than that there is not.
            fixed: fixed.try_into().unwrap_or(u32::MAX),
            behind: behind.try_into().unwrap_or(u32::MAX),
            parts: [first, self.parts.len() as u32],
        };
        match usize::try_from(code) {
            Ok(near) if near < FAR => {
                self.near.resize(self.near.len().max(near + 1), Shape::UNKNOWN);
                self.near[near] = shape;
            }
            _ => _ = self.far.insert(code, shape),
        }
        Ok(shape)
    }
}

#[cfg(test)]
mod tests {
    use gimli::{DwAt, DwForm, Dwarf, LittleEndian, SectionId};
    use proptest::prelude::*;

    use super::*;

    const NAMES: [DwAt; 10] = [
        dw::DW_AT_low_pc,
        dw::DW_AT_high_pc,
        dw::DW_AT_name,
        dw::DW_AT_call_file,
        dw::DW_AT_call_line,
        dw::DW_AT_decl_file,
        dw::DW_AT_location,
        dw::DW_AT_ranges,
        dw::DW_AT_type,
        dw::DW_AT_const_value,
    ];

    const NUMBERS: [DwAt; 4] =
        [dw::DW_AT_high_pc, dw::DW_AT_call_file, dw::DW_AT_call_line, dw::DW_AT_decl_file];

    /// From `DW_FORM_addr` on; some are none.
    const FORMS: std::ops::Range<u8> = 1..0x2d;

    const SEPARATE: [u8; 3] = [0, 0, 0];

    /// Name and form of an attribute, and whether it is asked for.
    type Spec = (DwAt, u8, bool);

    /// Tag, children and attributes of abbreviations, the first of which has number 1.
    fn abbreviations() -> impl Strategy<Value = Vec<(u8, bool, Vec<Spec>)>> {
        let spec = (prop::sample::select(&NAMES[..]), FORMS, any::<bool>());
        prop::collection::vec((1u8..0x30, any::<bool>(), prop::collection::vec(spec, 0..5)), 1..4)
    }

    /// `.debug_abbrev` with these abbreviations, whose numbers are of two bytes, and an empty one for the
    /// root.
    fn abbreviation_table(first: usize, abbreviations: &[(u8, bool, Vec<Spec>)]) -> Vec<u8> {
        let mut table = vec![0x7f, 0x11, 1, 0, 0];
        for (number, (tag, children, specs)) in (first..).zip(abbreviations) {
            let number = [number as u8 | 0x80, (number >> 7) as u8];
            table.extend([&number[..], &[*tag, u8::from(*children)]].concat());
            for (name, form, _) in specs {
                table.extend([name.0 as u8, *form]);
                // The value is in the abbreviation.
                table.extend((DwForm(u16::from(*form)) == dw::DW_FORM_implicit_const).then_some(0x7b));
            }
            table.extend(&SEPARATE[..2]);
        }
        table.extend(SEPARATE);
        table
    }

    /// `.debug_info` with one unit: the root, and entries that begin with the first of each twelve bytes as
    /// the number of an abbreviation.
    fn info(version: u16, first: usize, bytes: &[u8]) -> Vec<u8> {
        let mut unit = version.to_le_bytes().to_vec();
        match version {
            5.. => unit.extend([1, 8, 0, 0, 0, 0]),
            _ => unit.extend([0, 0, 0, 0, 8]),
        }
        unit.push(0x7f);
        for chunk in bytes.chunks(12) {
            let number = first + usize::from(chunk[0]);
            unit.extend([number as u8 | 0x80, (number >> 7) as u8]);
            unit.extend(&chunk[1..]);
        }
        [&(unit.len() as u32).to_le_bytes()[..], &unit].concat()
    }

    /// An entry, and its attributes that are asked for: name, value, and the offset behind it.
    type Walked<'a> = (Entry, Vec<(DwAt, AttributeValue<Slice<'a>>, usize)>);

    /// Whether attributes are read, and whether those that are numbers are read as such.
    #[derive(Clone, Copy)]
    struct Reading {
        reads: bool,
        numbers: bool,
    }

    fn walk_by_ours<'a>(
        unit: &Unit<Slice<'a>>,
        asked: &impl Fn(AttributeSpecification) -> bool,
        Reading { reads, numbers }: Reading,
        walked: &mut Vec<Walked<'a>>,
    ) -> gimli::Result<()> {
        let mut entries = Entries::new(unit, |_, attribute| asked(attribute))?;
        while let Some(entry) = entries.next()? {
            let mut values = Vec::new();
            while reads && let Some(attribute) = entries.attribute()? {
                // What numbers are, gimli tells by the name.
                let value = if numbers && NUMBERS.contains(&attribute.name) {
                    let number = entries.number(attribute)?;
                    number.map_or_else(|value| value, AttributeValue::Udata)
                } else {
                    entries.value(attribute)?
                };
                values.push((attribute.name, value, entries.offset()));
            }
            walked.push((entry, values));
        }
        Ok(())
    }

    fn walk_by_gimli<'a>(
        unit: &Unit<Slice<'a>>,
        asked: &impl Fn(AttributeSpecification) -> bool,
        Reading { reads, numbers }: Reading,
        walked: &mut Vec<Walked<'a>>,
    ) -> gimli::Result<()> {
        let mut entries = unit.entries_raw(None)?;
        let mut least_depth = isize::MAX;
        while !entries.is_empty() {
            let (offset, depth) = (entries.next_offset(), entries.next_depth());
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            least_depth = least_depth.min(depth);
            let mut values = Vec::new();
            for &attribute in abbreviation.attributes() {
                if reads && asked(attribute) {
                    let value = match entries.read_attribute(attribute)?.value() {
                        AttributeValue::FileIndex(file) if numbers => AttributeValue::Udata(file),
                        value => value,
                    };
                    values.push((attribute.name(), value, entries.next_offset().0));
                } else {
                    entries.skip_attributes(&[attribute])?;
                }
            }
            if abbreviation.attributes().iter().any(|&attribute| asked(attribute)) {
                walked.push((Entry { tag: abbreviation.tag(), depth, least_depth, offset }, values));
                least_depth = isize::MAX;
            }
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) })]
        #[test]
        fn entries_and_values_are_those_of_gimli(
            version in 4u16..6,
            // Large numbers too.
            first in prop_oneof![Just(1usize), Just(FAR - 1)],
            abbreviations in abbreviations(),
            (reads, numbers) in any::<(bool, bool)>(),
            bytes in prop::collection::vec(prop_oneof![0u8..6, any::<u8>()], 0..200),
        ) {
            let table = abbreviation_table(first, &abbreviations);
            let info = info(version, first, &bytes);
            let dwarf = Dwarf::load(|id| Ok::<_, gimli::Error>(Slice::new(
                match id {
                    SectionId::DebugInfo => &info,
                    SectionId::DebugAbbrev => &table,
                    _ => &[],
                },
                LittleEndian,
            )))?;
            let header = dwarf.units().next()?.expect("a unit");
            // An abbreviation of an unknown form is damaged before.
            let Ok(unit) = dwarf.unit(header) else { return Ok(()) };

            // The same attribute twice is asked for each time.
            let asked = |attribute: AttributeSpecification| {
                abbreviations.iter().flat_map(|(_, _, specs)| specs).any(|&(name, form, is_asked)| {
                    is_asked && (name, DwForm(form.into())) == (attribute.name(), attribute.form())
                })
            };
            let reading = Reading { reads, numbers };
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            let our_end = walk_by_ours(&unit, &asked, reading, &mut ours);
            let their_end = walk_by_gimli(&unit, &asked, reading, &mut theirs);

            // An entry that is cut short may be told of before its attributes are passed over.
            if !reads && their_end.is_err() {
                ours.truncate(theirs.len());
            }
            prop_assert_eq!(ours, theirs);
            // Where the end comes too soon is told by an address, which differs where several attributes are
            // passed over at once.
            prop_assert_eq!(our_end.map_err(|e| e.to_string()), their_end.map_err(|e| e.to_string()));
        }
    }
}
