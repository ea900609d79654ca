//! What textual LLVM IR refers to, found without reading the rest of it.

/// A reference to something that stands elsewhere in a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference<'a> {
    /// `@name`: a function or a variable.
    Symbol(&'a str),
    /// `%name`: a value of the same function, or a type.
    Value(&'a str),
    /// `$name`: a group of symbols that a linker takes or leaves as one.
    Comdat(&'a str),
    /// `#7`: a group of attributes.
    Attributes(u32),
    /// `!7`: a node of metadata.
    Node(u32),
}

/// The references of `text`, each with the bytes that it has there. Names are without quotes.
pub(crate) fn references(text: &str) -> impl Iterator<Item = (std::ops::Range<usize>, Reference<'_>)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(&byte) = bytes.get(at) {
            let start = at;
            at += 1;
            match byte {
                // A quote within a string is written as its number.
                b'"' => at = quote(bytes, at),
                b'@' | b'%' | b'$' => {
                    let name = if bytes.get(at) == Some(&b'"') {
                        at = quote(bytes, at + 1);
                        text.get(start + 2..at - 1)
                    } else {
                        at += bytes[at..].iter().take_while(|byte| is_of_name(**byte)).count();
                        text.get(start + 1..at).filter(|name| !name.is_empty())
                    };
                    let Some(name) = name else { continue };
                    let reference = match byte {
                        b'@' => Reference::Symbol(name),
                        b'%' => Reference::Value(name),
                        _ => Reference::Comdat(name),
                    };
                    return Some((start..at, reference));
                }
                b'!' | b'#' => {
                    at += bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                    let Ok(number) = text[start + 1..at].parse() else { continue };
                    let of = if byte == b'!' { Reference::Node } else { Reference::Attributes };
                    return Some((start..at, of(number)));
                }
                _ => {}
            }
        }
        None
    })
}

/// Appends `text` with other references where `other` has some.
pub(crate) fn replaced<'t>(
    text: &'t str,
    out: &mut String,
    mut other: impl FnMut(Reference<'t>) -> Option<String>,
) {
    let mut written = 0;
    for (range, reference) in references(text) {
        if let Some(other) = other(reference) {
            out.extend([&text[written..range.start], &other]);
            written = range.end;
        }
    }
    out.push_str(&text[written..]);
}

/// Whether names have it that are not quoted.
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-$._".contains(&byte)
}

/// Behind the string whose contents begin at `at`.
fn quote(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|byte| *byte == b'"').map_or(bytes.len(), |length| at + length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_and_none_in_strings() {
        let text = r##"define void @"a b"(ptr %x) #3 comdat($c) !dbg !12 { c"@no !4", !"#5", !DIExpression(), @f.1, %"t y", #dbg_value( }"##;
        let found: Vec<_> = references(text).map(|(range, reference)| (&text[range], reference)).collect();
        assert_eq!(
            found,
            [
                ("@\"a b\"", Reference::Symbol("a b")),
                ("%x", Reference::Value("x")),
                ("#3", Reference::Attributes(3)),
                ("$c", Reference::Comdat("c")),
                ("!12", Reference::Node(12)),
                ("@f.1", Reference::Symbol("f.1")),
                ("%\"t y\"", Reference::Value("t y")),
            ]
        );
    }
}
