//! The sentences of Markdown: of paragraphs, items, cells and headings. Code is one word, a block of it none.

use std::fs;
use std::path::Path;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::rules::{Sentence, split};

/// The sentences of a text, with the lines at which their paragraphs begin.
pub(crate) fn sentences(name: &str, text: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    let (mut part, mut begins, mut in_code) = (String::new(), 0, false);
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let mut ended = false;
        match event {
            Event::Start(Tag::CodeBlock(_)) => (in_code, ended) = (true, true),
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Start(Tag::Paragraph | Tag::Item | Tag::TableCell | Tag::Heading { .. })
            | Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell | TagEnd::Heading(_)) => {
                ended = true
            }
            Event::Text(text) if !in_code => part.push_str(&text),
            Event::Code(_) => part.push_str("CODE"),
            Event::SoftBreak | Event::HardBreak => part.push(' '),
            _ => {}
        }
        if ended {
            let line = 1 + text[..begins].matches('\n').count();
            split(&format!("{name}:{line}"), &part, &mut found);
            part.clear();
            begins = range.start;
        }
    }
    found
}

/// The sentences of all Markdown under a directory.
pub(crate) fn under(directory: &Path, found: &mut Vec<Sentence>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            under(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.extend(sentences(&path.display().to_string(), &fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn code_is_a_word_and_blocks_are_none() {
    let text = "# A head\n\nOne `two three` four.\nFive.\n\n```\nnot read\n```\n\n- six\n\n| a | b |\n|---|---|\n| c | d |\n";
    let found = sentences("f", text);
    let texts: Vec<&str> = found.iter().map(|sentence| sentence.text.as_str()).collect();
    assert_eq!(texts, ["A head", "One CODE four.", "Five.", "six", "a", "b", "c", "d"]);
    assert_eq!(found[1].place, "f:3");
}
