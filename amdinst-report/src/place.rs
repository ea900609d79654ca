//! Where in a line the expression stands that a report points at.

use std::ops::Range;

/// The bytes of `line` from the 1-based byte column `column` to the end of the expression that begins there:
/// up to the `{` of its block, a `;`, a closing bracket of something around it, or a comment. At least one
/// character, unless the line is shorter; `None` then.
///
/// Lexical: a compiler's column is where a condition begins, and its end is not in debug information.
pub(crate) fn expression(line: &str, column: u32) -> Option<Range<usize>> {
    let wanted = (column as usize).checked_sub(1)?;
    if wanted >= line.len() {
        return None;
    }
    let start = line.floor_char_boundary(wanted);
    let rest = &line[start..];
    let mut depth = 0_u32;
    let mut end = rest.len();
    let mut characters = rest.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => {
                // To the closing quote, over what is escaped.
                while let Some((_, character)) = characters.next() {
                    match character {
                        '\\' => drop(characters.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '\'' => {
                // A character, not a lifetime: 'a' or '\n'.
                let mut ahead = rest[at + 1..].char_indices();
                let skip = match ahead.next() {
                    Some((_, '\\')) => rest[at + 2..].find('\'').map(|more| at + 2 + more),
                    Some(_) => ahead.next().filter(|(_, next)| *next == '\'').map(|(next, _)| at + 1 + next),
                    None => None,
                };
                if let Some(close) = skip {
                    while characters.next_if(|(next, _)| *next <= close).is_some() {}
                }
            }
            '(' | '[' => depth += 1,
            ')' | ']' => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => {
                    end = at;
                    break;
                }
            },
            '{' | '}' | ';' if depth == 0 => {
                end = at;
                break;
            }
            '/' if matches!(characters.peek(), Some((_, '/' | '*'))) => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    let length = rest[..end].trim_end().len();
    let least = rest.chars().next().map_or(1, char::len_utf8);
    Some(start..start + length.max(least))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: &str, column: u32) -> &str {
        expression(line, column).map_or("<none>", |range| &line[range])
    }

    #[test]
    fn conditions_end_before_their_blocks() {
        assert_eq!(at("    if i < n {", 8), "i < n");
        assert_eq!(at("    while value > 1 {", 11), "value > 1");
        assert_eq!(at("    while f(a[i], (b)) > 1 { x }", 11), "f(a[i], (b)) > 1");
        assert_eq!(at("    for round in 0..rounds {", 5), "for round in 0..rounds");
        assert_eq!(
            at("    if c == '{' || c == '\\'' || s == \"{\\\"\" {", 8),
            "c == '{' || c == '\\'' || s == \"{\\\"\""
        );
        assert_eq!(at("    if f::<'a>(x) {", 8), "f::<'a>(x)");
    }

    #[test]
    fn other_ends() {
        assert_eq!(at("  if (i < n) c[i] = 0;", 7), "i < n");
        assert_eq!(at("  let x = a && b; // why", 11), "a && b");
        assert_eq!(at("  f(a && b, c)", 5), "a && b, c");
        assert_eq!(at("  a && // more", 3), "a &&");
        assert_eq!(at("  a", 3), "a");
        assert_eq!(at("  {", 3), "{");
    }

    #[test]
    fn columns_that_are_not_there() {
        assert_eq!(expression("ab", 0), None);
        assert_eq!(expression("ab", 3), None);
        assert_eq!(expression("", 1), None);
        // Inside of a character: from its beginning.
        assert_eq!(at("é < 1 {", 2), "é < 1");
    }
}
