//! Where instructions stand in the source.
//!
//! Instructions stand together at one place, and a planner asks for those of whole loops: each place is made
//! once, and known by a number. Functions and files are numbers, too, until the probe map is written.

use std::cell::RefCell;
use std::ops::{ControlFlow, Range};
use std::rc::Rc;
use std::sync::Arc;

use amdgpu_object::CodeObject;
use amdgpu_object::lines::{FrameNumbers, SourceMap, Spot};
use amdinst_format::probes::SiteFrame;
use amdinst_format::report::Origin;
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
    functions: Texts,
    files: Texts,
    /// By file.
    origins: Vec<FileOf>,
}

/// Texts of a source map, in which one text may have several numbers: here it has one.
#[derive(Default)]
struct Texts {
    texts: Vec<Arc<str>>,
    by_text: FxHashMap<Arc<str>, u32>,
    /// By the number in the source map, if it has been asked for.
    by_number: Vec<Option<u32>>,
}

impl Texts {
    fn number(&mut self, number: u32, text: &Arc<str>) -> u32 {
        let number = number as usize;
        if let Some(&Some(known)) = self.by_number.get(number) {
            return known;
        }
        let known = *self.by_text.entry(Arc::clone(text)).or_insert_with(|| {
            self.texts.push(Arc::clone(text));
            self.texts.len() as u32 - 1
        });
        self.by_number.resize(self.by_number.len().max(number + 1), None);
        self.by_number[number] = Some(known);
        known
    }
}

/// Whose a file is, as [`Origin`] tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileOf {
    User,
    Dependency,
    Library,
}

impl FileOf {
    fn new(file: &str) -> Self {
        match Origin::of(file) {
            Origin::Own => Self::User,
            Origin::Dependency { .. } => Self::Dependency,
            Origin::Library { .. } => Self::Library,
        }
    }
}

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
        let place = self.numbered(self.number(pc).0);
        let known = self.known.borrow();
        let text = |texts: &Texts, number: u32| Arc::clone(&texts.texts[number as usize]);
        let frame = |frame: &CodeFrame| SiteFrame {
            function: frame.function.map(|number| text(&known.functions, number)),
            file: frame.file.map(|number| text(&known.files, number)),
            line: frame.line,
            column: frame.column,
        };
        place.frames.iter().map(frame).collect()
    }

    /// Where the instruction at `pc` stands, and the number of that.
    pub(crate) fn place(&self, pc: u64) -> (PlaceNumber, Rc<SourcePlace>) {
        let (number, _) = self.number(pc);
        (number, self.numbered(number))
    }

    /// A place by its number.
    pub(crate) fn numbered(&self, PlaceNumber(number): PlaceNumber) -> Rc<SourcePlace> {
        Rc::clone(&self.known.borrow().places[number as usize])
    }

    /// The name of a function in a [`CodeFrame`].
    pub(crate) fn function(&self, number: u32) -> Arc<str> {
        Arc::clone(&self.known.borrow().functions.texts[number as usize])
    }

    /// The path of a file in a [`CodeFrame`].
    pub(crate) fn file(&self, number: u32) -> Arc<str> {
        Arc::clone(&self.known.borrow().files.texts[number as usize])
    }

    /// Sees the places of instructions by their addresses, those side by side at one place once, until one is
    /// the last.
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
        let place = known.new_place(&self.map, pc);
        known.places.push(Rc::new(place));
        known.by_spot.insert(spot, number);
        (number, around)
    }
}

impl Known {
    fn new_place(&mut self, map: &SourceMap, pc: u64) -> SourcePlace {
        let found = map.numbered_frames(pc);
        let is_approximate = found.first().is_some_and(|inner| inner.approximate);
        let frames: Box<[CodeFrame]> = found.into_iter().map(|frame| self.frame(map, frame)).collect();
        let own = |frame: &CodeFrame| frame.file.is_some() && !frame.is_library();
        let told = frames.iter().position(own).unwrap_or(0);
        // Calls have their own places.
        SourcePlace { is_exact: !is_approximate || told > 0, frames, told }
    }

    fn frame(&mut self, map: &SourceMap, frame: FrameNumbers) -> CodeFrame {
        let known = |number: u32| (number != 0).then_some(number);
        let name = frame.name.and_then(|name| Some((name, map.function(name)?)));
        let path = Some(map.file(frame.file)).filter(|path| !path.is_empty());
        let file = path.map(|path| self.files.number(frame.file, path));
        if let Some(path) = path.filter(|_| self.files.texts.len() > self.origins.len()) {
            self.origins.push(FileOf::new(path));
        }
        CodeFrame {
            function: name.map(|(number, name)| self.functions.number(number, name)),
            file,
            line: known(frame.line),
            column: known(frame.column),
            file_of: file.map(|file| self.origins[file as usize]),
        }
    }
}

/// A frame of the source location of an instruction. Numbers of equal texts are equal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodeFrame {
    /// [`Sources::function`] tells its name.
    pub(crate) function: Option<u32>,
    /// [`Sources::file`] tells its path.
    pub(crate) file: Option<u32>,
    pub(crate) line: Option<u32>,
    pub(crate) column: Option<u32>,
    file_of: Option<FileOf>,
}

impl CodeFrame {
    /// Whether its file is of Rust's own library.
    pub(crate) fn is_library(&self) -> bool {
        self.file_of == Some(FileOf::Library)
    }

    /// Whether its file is the user's.
    pub(crate) fn is_own(&self) -> bool {
        self.file_of == Some(FileOf::User)
    }
}

/// Where an instruction stands.
pub(crate) struct SourcePlace {
    /// The inline chain, innermost first.
    pub(crate) frames: Box<[CodeFrame]>,
    /// Otherwise the compiler gave it no line, and this is the one before it.
    pub(crate) is_exact: bool,
    /// The frame that is named for the chain ([`location`](amdinst_format::report::location)), if there is
    /// any.
    told: usize,
}

impl SourcePlace {
    /// Whether a frame is of Rust's own library.
    pub(crate) fn is_library(&self, frame: usize) -> bool {
        self.frames.get(frame).is_some_and(CodeFrame::is_library)
    }

    /// The frame that is named for the part of the chain from one on.
    pub(crate) fn told_from(&self, first: usize) -> usize {
        if first <= self.told {
            return self.told;
        }
        let own = |frame: &CodeFrame| frame.file.is_some() && !frame.is_library();
        self.frames[first..].iter().position(own).map_or(first, |at| first + at)
    }
}
