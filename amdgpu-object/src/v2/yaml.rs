//! The YAML of the metadata note: a tree of it, and text again.

use std::fmt::Write as _;

use saphyr_parser::{Event, Parser, ScalarStyle};

/// Deepest nesting that is followed; the metadata of the user guide needs 5.
const MAX_DEPTH: usize = 32;

/// A part of a document. Keys are scalars, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// A number, a word or a text.
    Scalar(Scalar),
    /// A list.
    Sequence(Vec<Node>),
    /// Keys and their values.
    Mapping(Vec<(Scalar, Node)>),
}

/// A scalar, its quotes and escapes resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scalar {
    pub(super) text: String,
    /// The scalar stood there without quotes, so it may be a number.
    pub(super) plain: bool,
}

impl Scalar {
    /// One without quotes.
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), plain: true }
    }
}

/// What has begun and not ended.
enum Open {
    Sequence(Vec<Node>),
    /// With a key that waits for its value.
    Mapping(Vec<(Scalar, Node)>, Option<Scalar>),
}

/// The one document of a text. Anchors, aliases and tags, which no compiler writes here, are refused.
pub(super) fn parse(text: &str) -> Result<Node, String> {
    let mut open: Vec<Open> = Vec::new();
    let mut root = None;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| error.to_string())?;
        let at = |problem: &str| format!("line {}: {problem}", span.start.line());
        if open.len() > MAX_DEPTH {
            return Err(at("it is nested too deeply"));
        }
        let done = match event {
            Event::Alias(_) => return Err(at("aliases are not supported")),
            Event::Scalar(_, _, anchor, ref tag)
            | Event::SequenceStart(anchor, ref tag)
            | Event::MappingStart(anchor, ref tag)
                if anchor != 0 || tag.is_some() =>
            {
                return Err(at("anchors and tags are not supported"));
            }
            Event::Scalar(text, style, ..) => {
                Node::Scalar(Scalar { text: text.into_owned(), plain: style == ScalarStyle::Plain })
            }
            Event::SequenceStart(..) => {
                open.push(Open::Sequence(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Mapping(Vec::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::Sequence(items)) => Node::Sequence(items),
                Some(Open::Mapping(entries, None)) => Node::Mapping(entries),
                _ => return Err(at("a key has no value")),
            },
            _ => continue,
        };
        match open.last_mut() {
            None if root.is_some() => return Err(at("there is more than one document")),
            None => root = Some(done),
            Some(Open::Sequence(items)) => items.push(done),
            Some(Open::Mapping(entries, key)) => match (key.take(), done) {
                (Some(key), value) => entries.push((key, value)),
                (None, Node::Scalar(scalar)) => *key = Some(scalar),
                (None, _) => return Err(at("a key is not a word")),
            },
        }
    }
    root.ok_or_else(|| "it is empty".to_owned())
}

impl Node {
    /// The value of a key, if this is a mapping that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Mapping(entries) = self else { return None };
        entries.iter().find(|(name, _)| name.text == key).map(|(_, value)| value)
    }

    /// The value of a key, made from `default` at the end of the mapping if it is not there. `None` if this
    /// is no mapping.
    pub(super) fn entry(&mut self, key: &str, default: Self) -> Option<&mut Self> {
        let Self::Mapping(entries) = self else { return None };
        let at = entries.iter().position(|(name, _)| name.text == key).unwrap_or_else(|| {
            entries.push((Scalar::plain(key), default));
            entries.len() - 1
        });
        Some(&mut entries[at].1)
    }

    /// The text of a document, as LLVM lays it out.
    pub(super) fn document(&self) -> String {
        let mut out = "---\n".to_owned();
        match self {
            Self::Mapping(entries) if !entries.is_empty() => block(&mut out, entries, 0),
            other => {
                flow(&mut out, other);
                out.push('\n');
            }
        }
        out.push_str("...\n");
        out
    }
}

/// Writes a mapping, each key on a line of its own, `indent` spaces from the left.
fn block(out: &mut String, entries: &[(Scalar, Node)], indent: usize) {
    for (key, value) in entries {
        // Writing to a String cannot fail, here and below.
        let _ = write!(out, "{:indent$}", "");
        scalar(out, key, false);
        out.push(':');
        match value {
            Node::Mapping(entries) if !entries.is_empty() => {
                out.push('\n');
                block(out, entries, indent + 2);
            }
            Node::Sequence(items) if items.iter().any(|item| matches!(item, Node::Mapping(_))) => {
                out.push('\n');
                for item in items {
                    let _ = write!(out, "{:1$}- ", "", indent + 2);
                    match item {
                        Node::Mapping(entries) if !entries.is_empty() => {
                            // The first key stands on the line of the dash.
                            let mut lines = String::new();
                            block(&mut lines, entries, indent + 4);
                            out.push_str(&lines[indent + 4..]);
                        }
                        other => {
                            flow(out, other);
                            out.push('\n');
                        }
                    }
                }
            }
            Node::Scalar(value) => {
                out.push(' ');
                scalar(out, value, false);
                out.push('\n');
            }
            other => {
                out.push(' ');
                flow(out, other);
                out.push('\n');
            }
        }
    }
}

/// Writes all of a node on one line.
fn flow(out: &mut String, node: &Node) {
    match node {
        Node::Scalar(value) => scalar(out, value, true),
        Node::Sequence(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { " " } else { ", " });
                flow(out, item);
            }
            out.push_str(" ]");
        }
        Node::Mapping(entries) => {
            out.push('{');
            for (index, (key, value)) in entries.iter().enumerate() {
                out.push_str(if index == 0 { " " } else { ", " });
                scalar(out, key, true);
                out.push_str(": ");
                flow(out, value);
            }
            out.push_str(" }");
        }
    }
}

/// Writes a scalar without quotes if it had none and can be read back so, else in double quotes.
fn scalar(out: &mut String, scalar: &Scalar, in_flow: bool) {
    let text = &scalar.text;
    let ends_a_flow = |c| in_flow && matches!(c, ',' | '[' | ']' | '{' | '}' | ':' | '#');
    let stays_plain = scalar.plain
        && !text.chars().any(|c| ends_a_flow(c) || c.is_control())
        && !(in_flow && text.is_empty());
    if stays_plain {
        out.push_str(text);
        return;
    }
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => _ = write!(out, "\\U{:08X}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_llvm_writes_comes_back_as_it_was() {
        let text = "---
Version: [ 1, 0 ]
Printf:
  - '1:1:4:%d\\n'
Kernels:
  - Name: test
    SymbolName: 'test@kd'
    Args:
      - TypeName: 'uint*'
        Size: 8
    CodeProps:
      KernargSegmentSize: 20
  - Name: other
    Attrs:
      ReqdWorkGroupSize: [ 64, 1, 1 ]
...
";
        let tree = parse(text).expect("YAML");
        let kernels = tree.get("Kernels").expect("kernels");
        let Node::Sequence(items) = kernels else { panic!("{kernels:?}") };
        let size = items[0].get("CodeProps").and_then(|props| props.get("KernargSegmentSize"));
        assert_eq!(size, Some(&Node::Scalar(Scalar::plain("20"))));
        let name = items[0].get("SymbolName");
        assert_eq!(name, Some(&Node::Scalar(Scalar { text: "test@kd".to_owned(), plain: false })));
        let again = tree.document();
        assert!(
            again.contains("\n  - Name: test\n    SymbolName: \"test@kd\"\n    Args:\n      - TypeName:"),
            "{again}"
        );
        assert_eq!(parse(&again).expect(&again), tree);
    }

    #[test]
    fn what_nobody_writes_is_refused() {
        let problem = |text: &str| parse(text).expect_err(text);
        assert!(problem("").contains("empty"));
        assert!(problem("a: &x 1\nb: *x\n").contains("anchors"));
        assert!(problem("a: !!int 1\n").contains("tags"));
        assert!(problem("a: 1\n---\nb: 2\n").contains("more than one document"));
        assert!(problem("? [ 1 ]\n: 2\n").contains("not a word"));
        assert!(problem(&("[".repeat(40) + &"]".repeat(40))).contains("too deeply"));
        assert!(!problem(&"[".repeat(100_000)).is_empty());
        assert!(problem("a: \"\n").len() > 3);
    }

    fn scalars() -> impl Strategy<Value = Scalar> {
        prop_oneof![
            "[ -~\t\n\u{85}\u{e9}]{0,12}".prop_map(|text| Scalar { text, plain: false }),
            // Without quotes, `...` is the end of a document.
            "[A-Za-z0-9_][A-Za-z0-9_.]{0,8}".prop_map(Scalar::plain),
        ]
    }

    fn trees() -> impl Strategy<Value = Node> {
        scalars().prop_map(Node::Scalar).prop_recursive(4, 40, 5, |inner| {
            let keys = "[A-Z][A-Za-z0-9]{0,8}".prop_map(Scalar::plain);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Node::Sequence),
                prop::collection::vec((keys, inner), 0..5).prop_map(Node::Mapping),
            ]
        })
    }

    proptest! {
        #[test]
        fn trees_survive_being_written(tree in trees()) {
            let text = tree.document();
            prop_assert_eq!(parse(&text).map_err(|error| format!("{error}\n{text}")), Ok(tree));
        }

        #[test]
        fn no_text_is_too_strange(text in "[-:?&*!|>'\"%@`\\[\\]{}, a1\n\t#]{0,60}") {
            let _ = parse(&text);
        }
    }
}
