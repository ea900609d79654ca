//! The places of a kernel's probe map, from those of its code object.

use amdinst_format::probes::{Place, PlaceCollector, PlaceFrame, Places};
use rustc_hash::FxHashMap;

use crate::instrument::find::sources::{CodeFrame, PlaceNumber, Sources};

/// The part of a place's inline chain from a frame on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Chain {
    pub(super) place: PlaceNumber,
    pub(super) first: usize,
}

/// What is known of the places of one kernel's code.
pub(super) struct KernelPlaces<'a> {
    pub(super) sources: &'a Sources,
    collector: PlaceCollector,
    /// By the numbers of [`Sources`].
    functions: FxHashMap<u32, u32>,
    files: FxHashMap<u32, u32>,
    known: FxHashMap<Chain, Option<Place>>,
}

impl<'a> KernelPlaces<'a> {
    pub(super) fn new(sources: &'a Sources) -> Self {
        Self {
            sources,
            collector: PlaceCollector::default(),
            functions: FxHashMap::default(),
            files: FxHashMap::default(),
            known: FxHashMap::default(),
        }
    }

    /// The place of the instruction at `pc`; `None` if nothing is known of it.
    pub(super) fn at(&mut self, pc: u64) -> Option<Place> {
        let (place, _) = self.sources.place(pc);
        self.of(Chain { place, first: 0 })
    }

    /// The place of an inline chain; `None` if it is empty.
    pub(super) fn of(&mut self, chain: Chain) -> Option<Place> {
        if let Some(&known) = self.known.get(&chain) {
            return known;
        }
        let place = self.sources.numbered(chain.place);
        let frames = place.frames[chain.first..].iter().rev();
        let found = frames.fold(None, |inlined_at, frame| Some(self.frame(frame, inlined_at)));
        self.known.insert(chain, found);
        found
    }

    fn frame(&mut self, frame: &CodeFrame, inlined_at: Option<Place>) -> Place {
        let Self { sources, collector, functions, files, .. } = self;
        let function = frame.function.map(|number| {
            *functions.entry(number).or_insert_with(|| collector.function(&sources.function(number)))
        });
        let file = frame
            .file
            .map(|number| *files.entry(number).or_insert_with(|| collector.file(&sources.file(number))));
        let CodeFrame { line, column, .. } = *frame;
        collector.frame(PlaceFrame { function, file, line, column, inlined_at })
    }

    /// The places so far.
    pub(super) const fn places(&self) -> &Places {
        self.collector.places()
    }

    /// All of them.
    pub(super) fn finish(self) -> Places {
        self.collector.finish()
    }
}
