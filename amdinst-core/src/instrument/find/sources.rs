//! Source locations of instructions, as the probe map writes them.

use amdgpu_object::CodeObject;
use amdgpu_object::lines::{Frame, SourceMap};
use amdinst_format::probes::SiteFrame;
use amdinst_format::report::{Location, location};

/// The line table of a code object, if it has one.
pub(crate) struct Sources {
    map: SourceMap,
}

impl Sources {
    /// Broken debug information counts as none: it must not keep a kernel from being instrumented.
    pub(crate) fn new(object: &CodeObject) -> Self {
        Self { map: SourceMap::new(object).unwrap_or_default() }
    }

    /// The inline chain at `pc`, innermost first; empty if nothing is known.
    pub(crate) fn frames(&self, pc: u64) -> Vec<SiteFrame> {
        self.place(pc).frames
    }

    /// The inline chain at `pc`, and whether the place that is told of it is that of the instruction itself.
    pub(crate) fn place(&self, pc: u64) -> SourcePlace {
        let known = |number: u32| (number != 0).then_some(number);
        let frame = |frame: Frame| SiteFrame {
            function: frame.function,
            file: (!frame.file.is_empty()).then_some(frame.file),
            line: known(frame.line),
            column: known(frame.column),
        };
        let found = self.map.frames(pc);
        let is_approximate = found.first().is_some_and(|inner| inner.approximate);
        let frames: Vec<_> = found.into_iter().map(frame).collect();
        // Calls have their own places.
        let is_call = frames.first().is_some_and(|inner| Location::from(inner) != location(&frames));
        SourcePlace { is_exact: !is_approximate || is_call, frames }
    }
}

/// Where an instruction stands.
pub(crate) struct SourcePlace {
    pub(crate) frames: Vec<SiteFrame>,
    /// Otherwise the compiler gave it no line, and this is the one before it.
    pub(crate) is_exact: bool,
}
