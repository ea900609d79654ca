//! The `#[probe]`s that a kernel crate left in its code object.
//!
//! The attribute macros write one line a probe into the section [`SECTION`]:
//! `1 name kind file line column end_line end_column function`, separated by tabs. The leading 1 is the
//! format's version; the name of a probe without one is empty. A probe whose divergence is meant has version
//! 2 and a last field, `expect`: a tool that does not know of it says that it needs another version. Sections
//! of several crates stand one after another.

use amdgpu_object::CodeObject;
use thiserror::Error;

use crate::instrument::options::{ProbeKind, ProbeSpec};

/// Name of the section.
pub const SECTION: &str = ".amdinst.probes";

/// A line of the section that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line} of section {SECTION} {problem}: rebuild the kernels with the same version of this tool")]
pub struct ProbeSectionError {
    /// Which line, from 1.
    pub line: usize,
    /// Its problem.
    pub problem: &'static str,
}

/// Every probe of a code object, in order of file and line; none if it has no such section. A probe that was
/// compiled into several functions is listed once.
///
/// # Errors
/// When the section is not as the macros write it.
pub fn probe_specs(object: &CodeObject) -> Result<Vec<ProbeSpec>, ProbeSectionError> {
    object.section_bytes(SECTION).map_or(Ok(Vec::new()), parse)
}

fn parse(section: &[u8]) -> Result<Vec<ProbeSpec>, ProbeSectionError> {
    let mut specs = Vec::new();
    // The linker may pad between the sections it joins.
    let lines = section.split(|&byte| byte == b'\n' || byte == 0).filter(|line| !line.is_empty());
    for (index, line) in lines.enumerate() {
        let fail = |problem| ProbeSectionError { line: index + 1, problem };
        let line = std::str::from_utf8(line).map_err(|_| fail("is not UTF-8"))?;
        let fields: Vec<&str> = line.split('\t').collect();
        let (fields, expect) = match &fields[..] {
            ["1", fields @ ..] => (fields, false),
            ["2", fields @ .., "expect"] => (fields, true),
            ["2", ..] => return Err(fail("does not end in `expect`")),
            _ => return Err(fail("has another version than 1 or 2")),
        };
        let &[name, kind, file, line, column, end_line, end_column, function] = fields else {
            return Err(fail("does not have eight fields behind its version"));
        };
        let number = |text: &str| text.parse::<u32>().map_err(|_| fail("has a place that is not a number"));
        let spec = ProbeSpec {
            name: if name.is_empty() { format!("{file}:{line}:{column}") } else { name.to_owned() },
            kind: kind_of(kind).ok_or_else(|| fail("names an unknown kind of probe"))?,
            file: file.to_owned(),
            line: number(line)?,
            column: number(column)?,
            end_line: number(end_line)?,
            end_column: number(end_column)?,
            function: function.to_owned(),
            expect,
        };
        specs.push(spec);
    }
    specs.sort_by(|a, b| {
        let key = |spec: &ProbeSpec| (spec.line, spec.column, spec.end_line, spec.end_column);
        (&a.file, key(a), &a.name).cmp(&(&b.file, key(b), &b.name))
    });
    specs.dedup();
    Ok(specs)
}

fn kind_of(word: &str) -> Option<ProbeKind> {
    Some(match word {
        "kernel" => ProbeKind::Kernel,
        "function" => ProbeKind::Function,
        "if" => ProbeKind::If,
        "match" => ProbeKind::Match,
        "while" => ProbeKind::While,
        "for" => ProbeKind::For,
        "loop" => ProbeKind::Loop,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_probes_in_order() {
        let section =
            b"1\t\twhile\tsrc/b.rs\t9\t5\t12\t6\tk::b\n\x00\x001\ttail\tif\tsrc/a.rs\t3\t1\t4\t2\tk::a\n\
                        1\ttail\tif\tsrc/a.rs\t3\t1\t4\t2\tk::a\n";
        let specs = parse(section).unwrap();
        assert!(specs.iter().all(|spec| !spec.expect));
        let meant = parse(b"2\tleader\tif\tsrc/a.rs\t3\t1\t4\t2\tk::a\texpect\n").unwrap();
        assert_eq!(
            (meant[0].name.as_str(), meant[0].function.as_str(), meant[0].expect),
            ("leader", "k::a", true)
        );
        let names: Vec<_> = specs.iter().map(|spec| (spec.name.as_str(), spec.kind, spec.line)).collect();
        assert_eq!(names, [("tail", ProbeKind::If, 3), ("src/b.rs:9:5", ProbeKind::While, 9)]);
    }

    #[test]
    fn every_mistake_is_told() {
        for (section, problem) in [
            (&b"3\ttail"[..], "version"),
            (b"1\ttail", "eight fields"),
            (b"2\ttail\texpect", "eight fields"),
            (b"2\ta\tif\tf\t1\t1\t1\t1\tk", "`expect`"),
            (b"1\ta\tif\tf\tx\t1\t1\t1\tk", "not a number"),
            (b"1\ta\tdo\tf\t1\t1\t1\t1\tk", "unknown kind"),
            (b"\xff", "UTF-8"),
        ] {
            let error = parse(section).unwrap_err();
            assert!(error.problem.contains(problem), "{error}");
        }
    }
}
