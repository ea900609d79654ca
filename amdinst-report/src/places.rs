//! At which source line a branch is told.
//!
//! Optimisation gives a branch that it made of several the place of none: the line before a loop, say, that
//! computes what goes round in it. The sources are not at hand where code is instrumented, so
//! [`Site::nearby`] keeps the other places of the branch's own instructions, and who has the sources picks
//! with [`Sources::place`]: a branch is told at a line that has one. If there is none, the place is said to
//! be near. Where a source cannot be read, its places stay as they were.
//!
//! A line that calls into Rust's own library has the branches of what was inlined there: the library's
//! sources are read, too, which are at hand where `core` was built.
//!
//! Lexical, and the same for Rust, C and HIP: words and operators outside of comments and strings.

use amdinst_core::instrument::{KernelProbes, Places, Site, SiteFrame, SiteKind};
use amdinst_core::report::{Location, Origin, location};

use crate::sources::{Source, Sources};

/// Words that begin a loop.
const LOOPS: [&str; 4] = ["while", "for", "loop", "do"];
/// Words that begin another branch.
const BRANCHES: [&str; 4] = ["if", "match", "switch", "case"];
/// Operators that branch.
const OPERATORS: [&str; 3] = ["&&", "||", "?"];

/// Lines that a statement is followed upwards, at most.
const STATEMENT: usize = 8;

/// What a line says of branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Says {
    Loop,
    /// Calls what Rust's library has for iterators, in which a loop was inlined.
    Iterates,
    Branch,
    Nothing,
}

impl Sources {
    /// Moves sites from lines without a branch to the nearest of their own that have one.
    pub fn place(&self, probes: &mut KernelProbes) {
        let KernelProbes { places, sites, .. } = probes;
        sites.iter_mut().for_each(|site| self.place_site(places, site));
    }

    fn place_site(&self, places: &Places, site: &mut Site) {
        let nearby = std::mem::take(&mut site.nearby);
        let is_known = nearby.is_empty() && !site.is_near;
        if is_known {
            return;
        }
        let own = self.says(&places.frames(site.place));
        if own.is_some_and(|says| says != Says::Nothing) {
            site.is_near = false;
            return;
        }
        let chains: Vec<_> = nearby.iter().map(|&place| places.frames(Some(place))).collect();
        match nearest(site.kind, &chains, |frames| self.says(frames)) {
            Some(index) => {
                site.place = Some(nearby[index]);
                site.is_near = false;
            }
            None => site.is_near |= own.is_some(),
        }
    }

    /// What a place says: its line, and those of the library that was inlined there. `None` if its source
    /// cannot be read.
    fn says(&self, frames: &[SiteFrame]) -> Option<Says> {
        let told = location(frames);
        let line = |place: &Location| says(self.get(place.file.as_ref()?)?.as_ref(), place.line?);
        let own = line(&told)?;
        let inlined = || frames.iter().map(Location::from).take_while(|frame| *frame != told);
        let own = if inlined().any(|frame| iterates(&frame)) { own.min(Says::Iterates) } else { own };
        Some(inlined().filter_map(|frame| line(&frame)).fold(own, Says::min))
    }
}

/// Whether a place is in what Rust's library has for iterators: `core/src/iter`, `core/src/slice/iter.rs`.
fn iterates(place: &Location) -> bool {
    matches!(place.origin(), Origin::Library { path, .. } if path.contains("/iter"))
}

/// Which of a site's other places has its branch. A loop's is the first line of a loop among them, for that
/// stands before its body; or the nearest call of an iterator.
fn nearest(
    kind: SiteKind,
    nearby: &[Vec<SiteFrame>],
    says: impl Fn(&[SiteFrame]) -> Option<Says>,
) -> Option<usize> {
    let branches = || (0..nearby.len()).filter_map(|index| Some((says(&nearby[index])?, index)));
    let is_loop = kind == SiteKind::LoopExit;
    let loops = branches().filter(|(says, _)| is_loop && *says == Says::Loop);
    let first_loop = loops.min_by_key(|(_, index)| location(&nearby[*index]));
    let found = first_loop
        .or_else(|| branches().find(|(says, _)| is_loop && *says == Says::Iterates))
        .or_else(|| branches().find(|(says, _)| *says != Says::Nothing));
    found.map(|(_, index)| index)
}

/// What a line says, with the lines before it that its statement begins on. `None` if there is no such line.
fn says(source: &Source, line: u32) -> Option<Says> {
    let code_of = |line| source.line(line).map(|(_, text)| code(text));
    let own = code_of(line)?;
    let goes_on =
        |line: &String| !(line.trim().is_empty() || line.trim_end().ends_with([';', '{', '}', ',', ':']));
    let before = (1..line).rev().take(STATEMENT).map_while(code_of);
    before.take_while(goes_on).chain([own]).map(|line| of_code(&line)).min()
}

fn of_code(code: &str) -> Says {
    let mut words = code.split(|character: char| !(character.is_alphanumeric() || character == '_'));
    let has = |list: &[&str]| words.clone().any(|word| list.contains(&word));
    if has(&LOOPS) {
        Says::Loop
    } else if words.any(|word| BRANCHES.contains(&word))
        || OPERATORS.iter().any(|operator| code.contains(operator))
    {
        Says::Branch
    } else {
        Says::Nothing
    }
}

/// A line without what stands in its comments, strings and characters.
fn code(line: &str) -> String {
    let mut code = String::new();
    let mut rest = line;
    while let Some(character) = rest.chars().next() {
        let skip = match character {
            '/' if rest.starts_with("//") => rest.len(),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => closing(rest, '"').unwrap_or(rest.len()),
            // A character, not a lifetime.
            '\'' if rest.starts_with("'\\") || rest.chars().nth(2) == Some('\'') => {
                closing(rest, '\'').unwrap_or(rest.len())
            }
            _ => 0,
        };
        if skip == 0 {
            code.push(character);
            rest = &rest[character.len_utf8()..];
        } else {
            code.push(' ');
            rest = &rest[skip..];
        }
    }
    code
}

/// Behind the quote that closes the one at the beginning.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            _ if character == quote => return Some(at + character.len_utf8()),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use amdinst_core::instrument::PlaceCollector;

    use super::*;

    const TEXT: &str = "fn f() {\n    let c = 1.0 / w; // if so\n    let text = \"while\";\n    for i in 0..n {\n        if a\n            > b\n        {\n            x += 1;\n        }\n        let y = '?' as u32 + b;\n        while z < 4 {}\n";

    #[test]
    fn what_lines_say() {
        let text = Source::new(TEXT.to_owned(), false);
        let told = |line| says(&text, line);
        assert_eq!(told(2), Some(Says::Nothing));
        assert_eq!(told(3), Some(Says::Nothing));
        assert_eq!(told(4), Some(Says::Loop));
        // The statement began before.
        assert_eq!(told(6), Some(Says::Branch));
        assert_eq!(told(8), Some(Says::Nothing));
        assert_eq!(told(10), Some(Says::Nothing));
        assert_eq!((told(0), told(99)), (None, None));
        for (line, expected) in [
            ("    x = a > b ? a : b;", Says::Branch),
            ("    do {", Says::Loop),
            ("    } while (x);", Says::Loop),
            ("    switch (x) {", Says::Branch),
            ("    let format = iffy & format_loop;", Says::Nothing),
            ("    f::<'a>(x) || y", Says::Branch),
        ] {
            let line = Source::new(line.to_owned(), false);
            assert_eq!(says(&line, 1), Some(expected), "{}", line.text);
        }
    }

    fn frames(line: u32) -> Vec<SiteFrame> {
        vec![frame("a.rs", line)]
    }

    fn frame(file: &str, line: u32) -> SiteFrame {
        SiteFrame { function: None, file: Some(file.into()), line: Some(line), column: Some(1) }
    }

    fn site(kind: SiteKind, frames: Vec<SiteFrame>, nearby: Vec<Vec<SiteFrame>>) -> (Places, Site) {
        let mut places = PlaceCollector::default();
        let site = Site {
            id: 0,
            kind,
            pc: 0,
            new_pc: 0,
            instruction: "".into(),
            place: places.chain(&frames),
            nearby: nearby.iter().filter_map(|frames| places.chain(frames)).collect(),
            is_near: false,
            name: None,
            loop_depth: 0,
            function: "".into(),
            else_pcs: Vec::new(),
        };
        (places.finish(), site)
    }

    fn placed(kind: SiteKind, own: u32, nearby: &[u32], is_there: bool) -> (Option<u32>, bool) {
        let directory = tempfile::tempdir().unwrap();
        if is_there {
            std::fs::write(directory.path().join("a.rs"), TEXT).unwrap();
        }
        let (places, mut site) = site(kind, frames(own), nearby.iter().map(|&line| frames(line)).collect());
        Sources::new(directory.path(), &[]).place_site(&places, &mut site);
        (places.frames(site.place)[0].line, site.is_near)
    }

    #[test]
    fn calls_of_a_library_hold_its_branches() {
        let directory = tempfile::tempdir().unwrap();
        let within = |file: &str, text: &str| {
            let path = directory.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        within("a.rs", TEXT);
        within("library/core/src/cmp.rs", "\n    if self < other {\n    self + other\n");
        let sources = Sources::new(directory.path(), &[]);
        let inlined = |file: &str, line, own| vec![frame(file, line), frame("a.rs", own)];
        let placed = |kind, nearby: Vec<Vec<SiteFrame>>| {
            let (places, mut site) = site(kind, frames(2), nearby);
            site.is_near = true;
            sources.place_site(&places, &mut site);
            (location(&places.frames(site.place)).line, site.is_near)
        };
        let (exit, branch) = (SiteKind::LoopExit, SiteKind::If);
        let library = "library/core/src/cmp.rs";
        assert_eq!(placed(branch, vec![inlined(library, 2, 8)]), (Some(8), false));
        assert_eq!(placed(branch, vec![inlined(library, 3, 8)]), (Some(2), true));
        // A loop is in what the iterator does, whose source cannot be read here; a loop that is written down
        // goes before.
        let iterator = inlined("library/core/src/iter/adapters/zip.rs", 281, 3);
        assert_eq!(placed(exit, vec![frames(5), iterator.clone()]), (Some(3), false));
        assert_eq!(placed(exit, vec![iterator, frames(4)]), (Some(4), false));
        // The compiler gave it no place, and the line at hand has a branch; or there is none.
        let (places, mut found) = site(branch, frames(5), Vec::new());
        found.is_near = true;
        sources.place_site(&places, &mut found);
        assert!(!found.is_near);
        assert_eq!(placed(branch, Vec::new()), (Some(2), true));
    }

    #[test]
    fn a_branch_is_told_at_a_line_that_has_one() {
        let (exit, branch) = (SiteKind::LoopExit, SiteKind::If);
        // The loop's own line, not that of a branch or a loop in it.
        assert_eq!(placed(exit, 2, &[8, 5, 11, 4], true), (Some(4), false));
        assert_eq!(placed(branch, 2, &[8, 5, 4], true), (Some(5), false));
        // None has one.
        assert_eq!(placed(exit, 2, &[8, 3], true), (Some(2), true));
        // It stands where it should; nothing else is known; nothing can be read.
        assert_eq!(placed(exit, 5, &[4], true), (Some(5), false));
        assert_eq!(placed(exit, 2, &[], true), (Some(2), false));
        assert_eq!(placed(exit, 2, &[4], false), (Some(2), false));
    }
}
