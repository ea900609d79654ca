//! Tables of single instructions with edge values: `tables/generate/` works the expected values out with
//! exact arithmetic, from the manuals. On every processor that has the instruction.

use amdgpu_isa::Arch;
use amdinst_emu::{Config, Machine, WaveState};

use crate::coverage::Snippet;
use crate::tables::{lines, set};
use crate::targets::PROCESSORS;

const TABLES: [(&str, &str); 8] = [
    ("floats", include_str!("tables/floats.txt")),
    ("float_parts", include_str!("tables/float_parts.txt")),
    ("conversions", include_str!("tables/conversions.txt")),
    ("division", include_str!("tables/division.txt")),
    ("integers", include_str!("tables/integers.txt")),
    ("packed", include_str!("tables/packed.txt")),
    ("scalars", include_str!("tables/scalars.txt")),
    ("sdwa", include_str!("tables/sdwa.txt")),
];

/// A register operand of a text, or a pair of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Register {
    Vector { first: usize, wide: bool },
    Scalar { first: usize, wide: bool },
    Vcc,
}

impl Register {
    fn parse(text: &str) -> Option<Self> {
        let word = text.split_whitespace().next()?;
        let word = word.trim_start_matches("sext(").trim_end_matches(')').trim_matches(['-', '|']);
        if word == "vcc" {
            return Some(Self::Vcc);
        }
        let (file, rest) = word.split_at_checked(1)?;
        let wide = rest.starts_with('[');
        let first = rest.trim_start_matches('[').split(':').next()?.trim_end_matches(']').parse().ok()?;
        match file {
            "v" => Some(Self::Vector { first, wide }),
            "s" => Some(Self::Scalar { first, wide }),
            _ => None,
        }
    }

    fn put(self, state: &mut WaveState, lane: usize, value: u64) {
        match self {
            Self::Vector { first, wide } => {
                for (at, bits) in
                    [value as u32, (value >> 32) as u32].into_iter().take(1 + usize::from(wide)).enumerate()
                {
                    let mut row = state.vgpr(first + at);
                    row[lane] = bits;
                    state.set_vgpr(first + at, row);
                }
            }
            Self::Scalar { first, wide: true } => state.set_sgpr_pair(first, value),
            Self::Scalar { first, .. } => state.sgprs[first] = value as u32,
            Self::Vcc => panic!("VCC is no source of a table"),
        }
    }

    fn get(self, state: &WaveState, lane: usize) -> u64 {
        match self {
            Self::Vector { first, wide: true } => state.vgpr_pair(first)[lane],
            Self::Vector { first, .. } => state.vgpr(first)[lane].into(),
            Self::Scalar { first, wide: true } => state.sgpr_pair(first),
            Self::Scalar { first, .. } => state.sgprs[first].into(),
            Self::Vcc => state.vcc >> lane & 1,
        }
    }
}

/// An instruction with its rows.
struct Section<'a> {
    text: &'a str,
    settings: &'a str,
    rows: Vec<&'a str>,
}

fn sections(table: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for line in lines(table) {
        match line.split_once('|') {
            Some((text, settings)) if !line.contains(" = ") => {
                // An absolute value's bars are not the column's.
                let (text, settings) = line.rsplit_once(" |").unwrap_or((text, settings));
                sections.push(Section { text, settings, rows: Vec::new() });
            }
            _ => sections.last_mut().unwrap_or_else(|| panic!("{line}: no instruction")).rows.push(line),
        }
    }
    sections
}

fn hex(text: &str) -> Vec<u64> {
    let number = |word| u64::from_str_radix(word, 16).unwrap_or_else(|error| panic!("{word}: {error}"));
    text.split_whitespace().map(number).collect()
}

/// Results first, sources after them. A second result is VCC; SCC has no operand.
fn registers(text: &str) -> (Vec<Register>, Vec<Register>) {
    let operands = text.split_once(' ').map_or("", |(_, operands)| operands);
    let mut all: Vec<Register> = operands.split(',').filter_map(Register::parse).collect();
    let results = if all.get(1) == Some(&Register::Vcc) { 2 } else { 1 };
    let sources = all.split_off(results);
    (all, sources)
}

/// Compare the rows of a section on a processor; the number of them.
fn compare(arch: Arch, section: &Section<'_>, snippet: &Snippet, failures: &mut Vec<String>) {
    let (results, sources) = registers(section.text);
    let scalar = matches!(results[0], Register::Scalar { .. });
    let mut machine = Machine::new(arch, Config::default());
    for rows in section.rows.chunks(if scalar { 1 } else { 64 }) {
        let mut state = WaveState { exec: u64::MAX >> (64 - rows.len()), ..WaveState::default() };
        section.settings.split_whitespace().for_each(|item| set(&mut state, item));
        let rows: Vec<(Vec<u64>, Vec<u64>)> = rows
            .iter()
            .map(|row| row.split_once('=').unwrap_or_else(|| panic!("{row}: no result")))
            .map(|(values, expected)| (hex(values), hex(expected)))
            .collect();
        for (lane, (values, _)) in rows.iter().enumerate() {
            assert_eq!(values.len(), sources.len(), "{}", section.text);
            for (register, value) in sources.iter().zip(values) {
                register.put(&mut state, lane, *value);
            }
        }
        let after = snippet.run(&mut machine, &state).unwrap_or_else(|fault| panic!("{arch} {fault}"));
        for (lane, (values, expected)) in rows.iter().enumerate() {
            let mut found: Vec<u64> = results.iter().map(|register| register.get(&after, lane)).collect();
            if scalar && expected.len() > 1 {
                found.push(after.scc.into());
            }
            if found != *expected {
                failures.push(format!(
                    "{arch} {} {} of {values:x?}: {found:x?}, not {expected:x?}",
                    section.text, section.settings
                ));
            }
        }
    }
}

#[test]
pub(crate) fn edge_values() {
    let mut failures = Vec::new();
    for (name, table) in TABLES {
        let (mut cases, mut runs) = (0, 0);
        for section in sections(table) {
            cases += section.rows.len();
            let mut exists = false;
            for arch in PROCESSORS {
                let Ok(snippet) = Snippet::assemble(arch, section.text) else { continue };
                exists = true;
                runs += section.rows.len();
                compare(arch, &section, &snippet, &mut failures);
            }
            if !exists {
                failures.push(format!("{}: no processor has it", section.text));
            }
        }
        println!("{name}: {cases} cases, {runs} on all processors");
    }
    let shown: Vec<&str> = failures.iter().map(String::as_str).take(60).collect();
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), shown.join("\n"));
}
