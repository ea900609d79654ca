//! A walk through the entries of a unit in which few attributes are read. How to pass over the others is worked out once for each
//! abbreviation; what is neither frequent nor of fixed size is left to gimli.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use gimli::{
    AttributeSpecification, AttributeValue, DebugAddrIndex, DebugLocListsIndex, DebugRngListsIndex, DwTag,
    EntriesRaw, Expression, Reader as _, ReaderOffset as _, Unit, UnitOffset, constants as dw,
};

use super::leb;
use super::sections::Slice;
use crate::Mixer;

/// An entry, but for its attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::object) struct Entry {
    pub(in crate::object) tag: DwTag,
    /// How many entries it is inside of.
    pub(in crate::object) depth: isize,
    /// Where it stands in its unit.
    pub(in crate::object) offset: UnitOffset,
}

/// The entries of a unit, one after the other, and of each the attributes that `asks` is true of.
pub(in crate::object) struct Entries<'u, 'a, F> {
    unit: &'u Unit<Slice<'a>>,
    asks: F,
    shapes: Shapes,
    rest: Slice<'a>,
    depth: isize,
    /// The parts of the entry that are yet to come: from one number to another.
    parts: [u32; 2],
}

impl<'u, 'a, F: Fn(DwTag, AttributeSpecification) -> bool> Entries<'u, 'a, F> {
    pub(in crate::object) fn new(unit: &'u Unit<Slice<'a>>, asks: F) -> gimli::Result<Self> {
        let rest = unit.header.range_from(unit.header.root_offset()..)?;
        Ok(Self { unit, asks, shapes: Shapes::default(), rest, depth: 0, parts: [0, 0] })
    }

    /// The next entry. What was not read of the last one is passed over.
    #[inline]
    pub(in crate::object) fn next(&mut self) -> gimli::Result<Option<Entry>> {
        while let Some(attribute) = self.attribute()? {
            self.pass(attribute)?;
        }
        while !self.rest.is_empty() {
            let offset = UnitOffset(self.offset());
            let code = leb::unsigned(&mut self.rest)?;
            // The end of what is inside an entry.
            if code == 0 {
                self.depth -= 1;
                continue;
            }
            let shape = self.shapes.of(code, self.unit, &self.asks)?;
            self.parts = shape.parts;
            let entry = Entry { tag: shape.tag, depth: self.depth, offset };
            self.depth += isize::from(shape.has_children);
            return Ok(Some(entry));
        }
        Ok(None)
    }

    /// The next attribute of the entry that was asked for. Its value is what is read next, or passed over.
    #[inline]
    pub(in crate::object) fn attribute(&mut self) -> gimli::Result<Option<AttributeSpecification>> {
        let [next, end] = self.parts;
        for number in next..end {
            let part = self.shapes.parts[number as usize];
            self.rest.skip(part.fixed)?;
            self.parts[0] = number + 1;
            match part.then {
                Then::Asked(attribute) => return Ok(Some(attribute)),
                Then::Passed(attribute) => self.pass(attribute)?,
                Then::End => {}
            }
        }
        Ok(None)
    }

    /// The value of an attribute that is next: gimli's normalized one.
    #[inline]
    pub(in crate::object) fn value(
        &mut self,
        attribute: AttributeSpecification,
    ) -> gimli::Result<AttributeValue<Slice<'a>>> {
        let rest = &mut self.rest;
        Ok(match attribute.form() {
            dw::DW_FORM_addrx => AttributeValue::DebugAddrIndex(DebugAddrIndex(index(rest)?)),
            dw::DW_FORM_loclistx => AttributeValue::DebugLocListsIndex(DebugLocListsIndex(index(rest)?)),
            dw::DW_FORM_rnglistx => AttributeValue::DebugRngListsIndex(DebugRngListsIndex(index(rest)?)),
            dw::DW_FORM_exprloc => {
                let length = index(rest)?;
                AttributeValue::Exprloc(Expression(rest.split(length)?))
            }
            dw::DW_FORM_ref4 => AttributeValue::UnitRef(UnitOffset(usize::from_u32(rest.read_u32()?))),
            form @ (dw::DW_FORM_data1 | dw::DW_FORM_data2 | dw::DW_FORM_data4) => {
                let of_number = match attribute.name() {
                    dw::DW_AT_high_pc | dw::DW_AT_call_line | dw::DW_AT_call_column => AttributeValue::Udata,
                    dw::DW_AT_call_file => AttributeValue::FileIndex,
                    _ => return self.other_value(attribute),
                };
                of_number(match form {
                    dw::DW_FORM_data1 => rest.read_u8()?.into(),
                    dw::DW_FORM_data2 => rest.read_u16()?.into(),
                    _ => rest.read_u32()?.into(),
                })
            }
            _ => return self.other_value(attribute),
        })
    }

    /// Passes over an attribute that is next.
    #[inline]
    pub(in crate::object) fn pass(&mut self, attribute: AttributeSpecification) -> gimli::Result<()> {
        match attribute.form() {
            dw::DW_FORM_udata
            | dw::DW_FORM_sdata
            | dw::DW_FORM_strx
            | dw::DW_FORM_addrx
            | dw::DW_FORM_loclistx
            | dw::DW_FORM_rnglistx => leb::skip(&mut self.rest),
            dw::DW_FORM_exprloc => {
                let length = index(&mut self.rest)?;
                self.rest.skip(length)
            }
            _ => self.pass_other(attribute),
        }
    }

    /// Where in the unit is read next.
    #[inline]
    pub(in crate::object) fn offset(&self) -> usize {
        self.unit.header.length_including_self() - self.rest.len()
    }

    #[inline(never)]
    fn other_value(&mut self, attribute: AttributeSpecification) -> gimli::Result<AttributeValue<Slice<'a>>> {
        let mut raw = self.raw();
        let value = raw.read_attribute(attribute)?.value();
        self.rest.skip(raw.next_offset().0)?;
        Ok(value)
    }

    #[inline(never)]
    fn pass_other(&mut self, attribute: AttributeSpecification) -> gimli::Result<()> {
        let mut raw = self.raw();
        raw.skip_attributes(&[attribute])?;
        self.rest.skip(raw.next_offset().0)
    }

    /// gimli's reader of what is next; its offsets count from there.
    fn raw(&self) -> EntriesRaw<'u, Slice<'a>> {
        let unit = self.unit;
        EntriesRaw::new(self.rest, unit.header.encoding(), &unit.abbreviations, UnitOffset(0))
    }
}

fn index(input: &mut Slice<'_>) -> gimli::Result<usize> {
    usize::from_u64(leb::unsigned(input)?)
}

/// What an abbreviation says of its entries.
#[derive(Clone, Copy)]
struct Shape {
    tag: DwTag,
    has_children: bool,
    /// The attributes, from one number to another of [`Shapes::parts`].
    parts: [u32; 2],
}

/// Some attributes of fixed size, together so many bytes, and what is behind them.
#[derive(Clone, Copy)]
struct Part {
    fixed: usize,
    then: Then,
}

#[derive(Clone, Copy)]
enum Then {
    Asked(AttributeSpecification),
    Passed(AttributeSpecification),
    End,
}

/// The abbreviations of a unit, each worked out when it is first used.
#[derive(Default)]
struct Shapes {
    /// By number, as far as compilers count.
    near: Vec<Option<Shape>>,
    /// Those of large numbers.
    far: HashMap<u64, Shape, BuildHasherDefault<Mixer>>,
    parts: Vec<Part>,
}

/// From there on numbers of abbreviations are large. A table by number must not be, for there may be one in every few bytes.
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
            Some(&Some(shape)) => Ok(shape),
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
        for &attribute in abbreviation.attributes() {
            let then = if asks(abbreviation.tag(), attribute) {
                Then::Asked(attribute)
            } else if let Some(size) = attribute.size(&unit.header) {
                fixed += size;
                continue;
            } else {
                Then::Passed(attribute)
            };
            self.parts.push(Part { fixed, then });
            fixed = 0;
        }
        if fixed > 0 {
            self.parts.push(Part { fixed, then: Then::End });
        }
        let shape = Shape {
            tag: abbreviation.tag(),
            has_children: abbreviation.has_children(),
            parts: [first, self.parts.len() as u32],
        };
        match usize::try_from(code) {
            Ok(near) if near < FAR => {
                self.near.resize(self.near.len().max(near + 1), None);
                self.near[near] = Some(shape);
            }
            _ => _ = self.far.insert(code, shape),
        }
        Ok(shape)
    }
}
