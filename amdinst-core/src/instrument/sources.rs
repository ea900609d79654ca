//! Source locations of instructions, as the probe map writes them.

use crate::object::CodeObject;
use crate::object::lines::SourceMap;
use amdinst_format::probes::SiteFrame;

/// The line table of a code object, if it has one.
pub(super) struct Sources {
    map: SourceMap,
}

impl Sources {
    /// Broken debug information counts as none: it must not keep a kernel from being instrumented.
    pub(super) fn new(object: &CodeObject) -> Self {
        Self { map: SourceMap::new(object).unwrap_or_default() }
    }

    /// The inline chain at `pc`, innermost first; empty if nothing is known.
    pub(super) fn frames(&self, pc: u64) -> Vec<SiteFrame> {
        let known = |number: u32| (number != 0).then_some(number);
        self.map.frames_as(pc, |name, file, place| SiteFrame {
            function: name.function.clone(),
            file: (!file.is_empty()).then(|| file.clone()),
            line: known(place.line),
            column: known(place.column),
        })
    }
}
