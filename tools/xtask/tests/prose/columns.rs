//! Comments are as narrow as code.

use crate::files;

/// As `max_width` in `rustfmt.toml`.
const MOST_COLUMNS: usize = 110;

/// Kernels whose lines reports, pages and pictures name: a line more would change them all.
const SHOWN: [&str; 3] = ["test-kernels", "examples", "template"];

/// The text of a comment, if the line is one.
fn comment(line: &str) -> Option<&str> {
    Some(line.trim_start().strip_prefix("//")?.trim_start_matches(['/', '!']).trim())
}

/// Whether a comment is wider than it need be: a row of a table, and a single word, cannot be broken.
fn is_wide(line: &str) -> bool {
    let breaks = comment(line).is_some_and(|text| !text.starts_with("| ") && text.contains(' '));
    breaks && line.chars().count() > MOST_COLUMNS
}

#[test]
fn comments_are_as_narrow_as_code() {
    let (mut lines, mut wide) = (0, Vec::new());
    for (path, text) in files::sources(&crate::root()) {
        if path.iter().any(|part| SHOWN.iter().any(|shown| part == *shown)) {
            continue;
        }
        lines += text.lines().filter(|line| comment(line).is_some()).count();
        let found = text.lines().enumerate().filter(|(_, line)| is_wide(line));
        wide.extend(found.map(|(at, line)| format!("{}:{}: {line}", path.display(), at + 1)));
    }
    assert!(lines > 20_000, "only {lines} lines of comments");
    assert!(
        wide.is_empty(),
        "{} comments of more than {MOST_COLUMNS} columns:\n{}",
        wide.len(),
        wide.join("\n")
    );
}
