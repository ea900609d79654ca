//! Source locations of instructions, as the probe map writes them.

use amdgpu_object::CodeObject;
use amdgpu_object::lines::{Frame, SourceMap};
use amdinst_format::probes::SiteFrame;

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
        let known = |number: u32| (number != 0).then_some(number);
        let frame = |frame: Frame| SiteFrame {
            function: frame.function,
            file: (!frame.file.is_empty()).then_some(frame.file),
            line: known(frame.line),
            column: known(frame.column),
        };
        self.map.frames(pc).into_iter().map(frame).collect()
    }
}
