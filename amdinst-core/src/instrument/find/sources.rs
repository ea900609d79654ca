//! Source locations of instructions, as the probe map writes them.
//!
//! Instructions stand together at one place, and a planner asks for those of whole loops: each place is made once, and known by a number.

use std::cell::RefCell;
use std::ops::{ControlFlow, Range};
use std::rc::Rc;

use amdgpu_object::CodeObject;
use amdgpu_object::lines::{Frame, SourceMap, Spot};
use amdinst_format::probes::SiteFrame;
use amdinst_format::report::is_library_file;
use rustc_hash::FxHashMap;

/// The line table of a code object, if it has one.
pub(crate) struct Sources {
    map: SourceMap,
    known: RefCell<Known>,
}

/// What has been asked for.
#[derive(Default)]
struct Known {
    places: Vec<Rc<SourcePlace>>,
    by_spot: FxHashMap<Spot, PlaceNumber>,
    /// By function and block.
    of_blocks: FxHashMap<(usize, usize), Rc<[PlaceNumber]>>,
    libraries: Libraries,
}

/// Whether files are of Rust's own library, by where the source map has their names.
type Libraries = FxHashMap<usize, bool>;

/// Which of the places that have been asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PlaceNumber(u32);

impl Sources {
    /// Broken debug information counts as none: it must not keep a kernel from being instrumented.
    pub(crate) fn new(object: &CodeObject) -> Self {
        Self { map: SourceMap::new(object).unwrap_or_default(), known: RefCell::default() }
    }

    /// The inline chain at `pc`, innermost first; empty if nothing is known.
    pub(crate) fn frames(&self, pc: u64) -> Vec<SiteFrame> {
        self.place(pc).frames.clone()
    }

    /// Where the instruction at `pc` stands.
    pub(crate) fn place(&self, pc: u64) -> Rc<SourcePlace> {
        self.numbered(self.number(pc).0)
    }

    /// A place by its number.
    pub(crate) fn numbered(&self, PlaceNumber(number): PlaceNumber) -> Rc<SourcePlace> {
        Rc::clone(&self.known.borrow().places[number as usize])
    }

    /// Sees the places of instructions by their addresses, those side by side at one place once, until one is the last.
    pub(crate) fn each(
        &self,
        pcs: impl Iterator<Item = u64>,
        see: &mut impl FnMut(PlaceNumber) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (mut last, mut around) = (None, 0..0);
        for pc in pcs {
            if around.contains(&pc) {
                continue;
            }
            let number;
            (number, around) = self.number(pc);
            if last.replace(number) != Some(number) {
                see(number)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// The places of a block's instructions, whose addresses are asked for once.
    pub(crate) fn of_block<I: Iterator<Item = u64>>(
        &self,
        block: (usize, usize),
        pcs: impl FnOnce() -> I,
    ) -> Rc<[PlaceNumber]> {
        if let Some(known) = self.known.borrow().of_blocks.get(&block) {
            return Rc::clone(known);
        }
        let mut numbers = Vec::new();
        let _ = self.each(pcs(), &mut |number| {
            numbers.push(number);
            ControlFlow::Continue(())
        });
        let numbers: Rc<[_]> = numbers.into();
        self.known.borrow_mut().of_blocks.insert(block, Rc::clone(&numbers));
        numbers
    }

    /// The number of the place of `pc`, and the addresses around it that are there, too.
    fn number(&self, pc: u64) -> (PlaceNumber, Range<u64>) {
        let (spot, around) = self.map.spot(pc);
        let mut known = self.known.borrow_mut();
        if let Some(&number) = known.by_spot.get(&spot) {
            return (number, around);
        }
        let number = PlaceNumber(known.places.len() as u32);
        let place = SourcePlace::new(self.map.frames(pc), &mut known.libraries);
        known.places.push(Rc::new(place));
        known.by_spot.insert(spot, number);
        (number, around)
    }
}

/// Where an instruction stands.
pub(crate) struct SourcePlace {
    /// The inline chain, innermost first.
    pub(crate) frames: Vec<SiteFrame>,
    /// Otherwise the compiler gave it no line, and this is the one before it.
    pub(crate) is_exact: bool,
    /// By frame.
    is_library: Vec<bool>,
    /// The frame that is named for the chain ([`location`](amdinst_format::report::location)), if there is any.
    told: usize,
}

impl SourcePlace {
    fn new(found: Vec<Frame>, libraries: &mut Libraries) -> Self {
        let known = |number: u32| (number != 0).then_some(number);
        let is_approximate = found.first().is_some_and(|inner| inner.approximate);
        let mut is_library =
            |file: &str| *libraries.entry(file.as_ptr().addr()).or_insert_with(|| is_library_file(file));
        let is_library: Vec<bool> = found.iter().map(|frame| is_library(&frame.file)).collect();
        let own = |at: &usize| !found[*at].file.is_empty() && !is_library[*at];
        let told = (0..found.len()).find(own).unwrap_or(0);
        let frame = |frame: Frame| SiteFrame {
            function: frame.function,
            file: (!frame.file.is_empty()).then_some(frame.file),
            line: known(frame.line),
            column: known(frame.column),
        };
        let frames: Vec<_> = found.into_iter().map(frame).collect();
        // Calls have their own places.
        Self { is_exact: !is_approximate || told > 0, frames, is_library, told }
    }

    /// Whether a frame is of Rust's own library.
    pub(crate) fn is_library(&self, frame: usize) -> bool {
        self.is_library.get(frame).copied().unwrap_or(false)
    }

    /// The frame that is named for the part of the chain from one on.
    pub(crate) fn told_from(&self, first: usize) -> usize {
        if first <= self.told {
            return self.told;
        }
        let own = |at: &usize| self.frames[*at].file.is_some() && !self.is_library[*at];
        (first..self.frames.len()).find(own).unwrap_or(first)
    }
}
