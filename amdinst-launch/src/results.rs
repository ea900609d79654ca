//! `--print`: what a buffer holds after the launch, as numbers.

use std::fmt::Write as _;

use amdinst_text::count;
use serde::Serialize;

use crate::arguments::{Arguments, BufferInfo};
use crate::language::{Element, Scalar, Selector};
use crate::refused::{Refused, RefusedKind};

/// Columns that a line of numbers takes, at most.
const WIDTH: usize = 100;

/// Elements of a buffer argument.
#[derive(Clone, Debug)]
pub struct ElementRange {
    /// Which buffer.
    pub of: BufferInfo,
    /// Their type.
    pub element: Element,
    /// The first.
    pub from: u64,
    /// The one before which they end.
    pub to: u64,
}

impl ElementRange {
    /// The elements that a selector names. Their type is the selector's, else `element`, else the buffer's
    /// own, else bytes.
    ///
    /// # Errors
    /// The buffer has not so many.
    pub fn new(
        of: &BufferInfo,
        selector: &Selector,
        element: Option<Element>,
        option: &str,
    ) -> Result<Self, Refused> {
        let element = selector.element.or(element).or(of.element).unwrap_or(Element::U8);
        let there = of.bytes / element.size() as u64;
        let fail =
            |message: String| Refused::new(RefusedKind::Usage, format!("{option} {selector}: {message}"));
        let is_whole = of.bytes.is_multiple_of(element.size() as u64);
        if !is_whole && selector.to.is_none() {
            let (what, bytes) = (of.what(), of.bytes);
            return Err(fail(format!("{what} has {bytes} bytes, which are not whole {element}s")));
        }
        let to = selector.to.unwrap_or(there);
        if to > there || selector.from > to {
            let end = selector.to.unwrap_or(selector.from);
            let message =
                format!("{} has {there} {element}, and element {} is asked for", of.what(), end.max(1) - 1);
            return Err(fail(message).note(format!("its size is {}", count(of.bytes, "byte"))));
        }
        Ok(Self { of: of.clone(), element, from: selector.from, to })
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.to - self.from
    }

    /// Their values; `buffers` are those of all buffer arguments.
    pub fn numbers<'b>(&self, buffers: &'b [Vec<u8>]) -> impl Iterator<Item = Scalar> + use<'b> {
        let element = self.element;
        let size = element.size();
        let bytes = buffers.get(self.of.index).map_or(&[][..], Vec::as_slice);
        let range = self.from as usize * size..self.to as usize * size;
        bytes.get(range).unwrap_or_default().chunks_exact(size).map(move |bytes| element.read(bytes))
    }
}

/// Printed elements: the JSON form.
#[derive(Clone, Debug, Serialize)]
pub struct Printed {
    /// The argument's number, from 1.
    pub argument: usize,
    /// Its name, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The type of the elements.
    #[serde(rename = "type")]
    pub element: String,
    /// Place of the first of them in the argument.
    pub from: u64,
    /// Numbers; `"NaN"`, `"inf"` and `"-inf"` for what JSON has none for.
    pub values: Vec<Scalar>,
    #[serde(skip)]
    what: String,
}

/// Elements to print, checked before the launch.
///
/// # Errors
/// No such argument, or fewer elements.
pub fn to_print(arguments: &Arguments, selectors: &[Selector]) -> Result<Vec<ElementRange>, Refused> {
    let of = |selector: &Selector| {
        ElementRange::new(arguments.buffer(&selector.argument, "--print")?, selector, None, "--print")
    };
    selectors.iter().map(of).collect()
}

impl Printed {
    /// The contents of the buffers.
    pub fn new(elements: &ElementRange, buffers: &[Vec<u8>]) -> Self {
        Self {
            argument: elements.of.number,
            name: elements.of.name.clone(),
            element: elements.element.to_string(),
            from: elements.from,
            values: elements.numbers(buffers).collect(),
            what: elements.of.what(),
        }
    }

    /// For people: a heading, then lines of numbers, each with the place of its first.
    pub fn human(&self) -> String {
        let Self { what, element, from, values, .. } = self;
        let to = from + values.len() as u64;
        let mut text = format!("{what}, {element}[{from}..{to}]\n");
        let values: Vec<_> = values.iter().map(Scalar::to_string).collect();
        let width = values.iter().map(String::len).max().unwrap_or(1);
        let index_width = to.saturating_sub(1).to_string().len().max(4);
        let fitting = (WIDTH - index_width - 3) / (width + 2);
        // A power of two, so that places are round.
        let in_line = if fitting < 2 { 1 } else { 1 << fitting.ilog2().min(4) };
        for (line, numbers) in values.chunks(in_line).enumerate() {
            // Writing to a String cannot fail.
            let _ = write!(text, "  {:>index_width$}:", from + (line * in_line) as u64);
            for number in numbers {
                let _ = write!(text, "  {number:>width$}");
            }
            text.push('\n');
        }
        text
    }
}
