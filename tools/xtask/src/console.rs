//! What commands print, and patterns of it.

/// Whether lines are as the pattern has them, a line `...` standing for any number of lines.
pub(crate) fn matches_lines(pattern: &[&str], lines: &[&str]) -> bool {
    match pattern {
        [] => lines.is_empty(),
        ["...", rest @ ..] => (0..=lines.len()).any(|skipped| matches_lines(rest, &lines[skipped..])),
        [first, rest @ ..] => match lines {
            [line, others @ ..] => matches_line(first, line) && matches_lines(rest, others),
            [] => false,
        },
    }
}

/// Whether a line is as the pattern has it, `[..]` standing for anything.
fn matches_line(pattern: &str, line: &str) -> bool {
    let Some((head, tail)) = pattern.split_once("[..]") else { return pattern == line };
    let Some(rest) = line.strip_prefix(head) else { return false };
    rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| matches_line(tail, &rest[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards() {
        assert!(matches_line("a [..] s", "a 1.5 s"));
        assert!(matches_line("[..]", ""));
        assert!(!matches_line("a [..] s", "a 1.5 ms."));
        assert!(matches_lines(&["a", "...", "z"], &["a", "b", "c", "z"]));
        assert!(!matches_lines(&["a", "..."], &["b"]));
    }
}
