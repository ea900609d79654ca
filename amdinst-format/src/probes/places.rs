//! Where a kernel's code stands in the source: chains of calls that were inlined, which share their outer
//! ones.
//!
//! The branches of templates and iterators stand in chains of many calls, and most of a chain is that of the
//! branch before. So each frame is kept once, and knows the call that it was inlined at; a site has the
//! number of its innermost.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A place in a kernel's source, by number. [`Places::frames`] has its inline chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Place(u32);

/// A source location, in an inline chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteFrame {
    /// Function, demangled as far as known. Many frames share it.
    pub function: Option<Arc<str>>,
    /// File. Many frames share it.
    pub file: Option<Arc<str>>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column, from 1.
    pub column: Option<u32>,
}

/// A [`SiteFrame`] by numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PlaceFrame {
    /// Function, in [`Places::functions`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<u32>,
    /// File, in [`Places::files`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<u32>,
    /// Line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The call that its function was inlined at, in [`Places::frames`], where it comes before; `None` if it
    /// was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inlined_at: Option<Place>,
}

/// The places of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// Functions, demangled as far as known.
    pub functions: Vec<Arc<str>>,
    /// Paths of files.
    pub files: Vec<Arc<str>>,
    /// Frames, by the numbers of places.
    pub frames: Vec<PlaceFrame>,
}

impl Places {
    /// The inline chain at a place, innermost first. It ends where numbers do not fit; a map that was read
    /// has none such.
    pub fn frames(&self, place: Option<Place>) -> Vec<SiteFrame> {
        let text = |texts: &[Arc<str>], number: Option<u32>| texts.get(number? as usize).cloned();
        let frame = |frame: &PlaceFrame| SiteFrame {
            function: text(&self.functions, frame.function),
            file: text(&self.files, frame.file),
            line: frame.line,
            column: frame.column,
        };
        self.outwards(place).map(frame).collect()
    }

    /// A place and the calls around it.
    fn outwards(&self, place: Option<Place>) -> impl Iterator<Item = &PlaceFrame> {
        let numbered = |place: Place| Some((place, self.frames.get(place.0 as usize)?));
        // Calls come before what was inlined at them, or the chain would have no end.
        let outer = move |(number, frame): &(Place, &PlaceFrame)| {
            frame.inlined_at.filter(|outer| outer < number).and_then(numbered)
        };
        std::iter::successors(place.and_then(numbered), outer).map(|(_, frame)| frame)
    }

    /// Whether there is such a place.
    pub(super) fn contains(&self, place: Place) -> bool {
        (place.0 as usize) < self.frames.len()
    }

    /// Whether all numbers of the frames fit.
    pub(super) fn is_sound(&self) -> bool {
        let fits = |number: Option<u32>, texts: &[Arc<str>]| {
            number.is_none_or(|number| (number as usize) < texts.len())
        };
        (0..).zip(&self.frames).all(|(number, frame)| {
            fits(frame.function, &self.functions)
                && fits(frame.file, &self.files)
                && frame.inlined_at.is_none_or(|outer| outer < Place(number))
        })
    }
}

/// Collects the places of a kernel, each frame once.
#[derive(Clone, Debug, Default)]
pub struct PlaceCollector {
    places: Places,
    functions: FxHashMap<Arc<str>, u32>,
    files: FxHashMap<Arc<str>, u32>,
    known: FxHashMap<PlaceFrame, Place>,
}

impl PlaceCollector {
    /// The number of a function's name.
    pub fn function(&mut self, name: &Arc<str>) -> u32 {
        number(&mut self.functions, &mut self.places.functions, name)
    }

    /// The number of a file's path.
    pub fn file(&mut self, path: &Arc<str>) -> u32 {
        number(&mut self.files, &mut self.places.files, path)
    }

    /// The number of a frame.
    pub fn frame(&mut self, frame: PlaceFrame) -> Place {
        let frames = &mut self.places.frames;
        *self.known.entry(frame).or_insert_with(|| {
            frames.push(frame);
            Place(frames.len() as u32 - 1)
        })
    }

    /// The place of an inline chain, innermost first; `None` if it is empty.
    pub fn chain(&mut self, frames: &[SiteFrame]) -> Option<Place> {
        frames.iter().rev().fold(None, |inlined_at, frame| {
            let function = frame.function.as_ref().map(|name| self.function(name));
            let file = frame.file.as_ref().map(|path| self.file(path));
            let SiteFrame { line, column, .. } = *frame;
            Some(self.frame(PlaceFrame { function, file, line, column, inlined_at }))
        })
    }

    /// The places so far.
    pub const fn places(&self) -> &Places {
        &self.places
    }

    /// All of them.
    pub fn finish(self) -> Places {
        self.places
    }
}

fn number(known: &mut FxHashMap<Arc<str>, u32>, texts: &mut Vec<Arc<str>>, text: &Arc<str>) -> u32 {
    *known.entry(Arc::clone(text)).or_insert_with(|| {
        texts.push(Arc::clone(text));
        texts.len() as u32 - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, file: &str, line: u32) -> SiteFrame {
        SiteFrame { function: Some(function.into()), file: Some(file.into()), line: Some(line), column: None }
    }

    #[test]
    fn frames_that_chains_share_are_kept_once() {
        let (outer, inner) = (frame("kernel", "lib.rs", 7), frame("next", "range.rs", 700));
        let chains = [vec![inner.clone(), outer.clone()], vec![outer], Vec::new(), vec![inner]];
        let mut collector = PlaceCollector::default();
        let places = chains.each_ref().map(|chain| collector.chain(chain));
        assert_eq!(places, chains.each_ref().map(|chain| collector.chain(chain)), "known again");
        let table = collector.finish();
        assert_eq!((table.frames.len(), table.functions.len(), table.files.len()), (3, 2, 2));
        assert_eq!(places.map(|place| table.frames(place)), chains);
        assert!(table.is_sound() && places.into_iter().flatten().all(|place| table.contains(place)));
    }

    #[test]
    fn chains_without_an_end_are_not_sound_and_end() {
        let around = |inlined_at| PlaceFrame { inlined_at: Some(Place(inlined_at)), ..PlaceFrame::default() };
        let table = Places { frames: vec![around(1), around(0)], ..Places::default() };
        assert!(!table.is_sound());
        assert_eq!(table.frames(Some(Place(1))).len(), 2);
        assert!(table.frames(Some(Place(2))).is_empty() && !table.contains(Place(2)));
        let unnamed = PlaceFrame { function: Some(0), ..PlaceFrame::default() };
        assert!(!Places { frames: vec![unnamed], ..Places::default() }.is_sound());
    }
}
