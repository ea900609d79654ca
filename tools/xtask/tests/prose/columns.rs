//! Comments are as narrow as code.

use std::fs;
use std::path::Path;

/// As `max_width` in `rustfmt.toml`.
const MOST_COLUMNS: usize = 110;

/// Kernels whose lines reports, pages and pictures name: a line more would change them all.
const SHOWN: [&str; 3] = ["test-kernels", "examples", "template"];

/// Whether a comment is wider than it need be: tables have rows, and a single word, or code, is not broken.
fn is_wide(line: &str) -> bool {
    let Some(comment) = line.trim_start().strip_prefix("//") else { return false };
    let text = comment.trim_start_matches(['/', '!']).trim();
    let is_table = text.starts_with('|') && text.ends_with('|') || text.starts_with("| `");
    let is_code = comment.trim_start_matches(['/', '!']).starts_with("     ") || text.starts_with("s_");
    let is_word =
        !text.contains(' ') || text.starts_with("([`") || text.starts_with('`') && text.ends_with("`.");
    line.chars().count() > MOST_COLUMNS && !is_table && !is_code && !is_word
}

fn read(directory: &Path, lines: &mut usize, wide: &mut Vec<String>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" && !SHOWN.contains(&name) {
                read(&path, lines, wide);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source");
            *lines += text.lines().filter(|line| line.trim_start().starts_with("//")).count();
            let found = text.lines().enumerate().filter(|(_, line)| is_wide(line));
            wide.extend(found.map(|(at, line)| format!("{}:{}: {line}", path.display(), at + 1)));
        }
    }
}

#[test]
fn comments_are_as_narrow_as_code() {
    let (mut lines, mut wide) = (0, Vec::new());
    read(&crate::root(), &mut lines, &mut wide);
    assert!(lines > 20_000, "only {lines} lines of comments");
    assert!(
        wide.is_empty(),
        "{} comments of more than {MOST_COLUMNS} columns:\n{}",
        wide.len(),
        wide.join("\n")
    );
}
