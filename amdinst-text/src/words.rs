//! Numbers and lists of things in a sentence.

use std::fmt::Display;

/// `1 kernel`, `2 kernels`.
///
/// ```
/// # use amdinst_text::count;
/// assert_eq!([count(1_u64, "launch"), count(2_usize, "launch")], ["1 launch", "2 launches"]);
/// ```
pub fn count<N: Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    let plural = match thing {
        _ if number == N::from(1) => "",
        _ if thing.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{number} {thing}{plural}")
}

/// Distinct names in their order, `most` of them, and how many more there are.
///
/// ```
/// # use amdinst_text::listed;
/// let names = ["a", "b", "a", "c"].map(str::to_owned);
/// assert_eq!(listed(&names, 2), "a, b and 1 more");
/// assert_eq!(listed(&names, 3), "a, b, c");
/// ```
pub fn listed(names: &[String], most: usize) -> String {
    let mut distinct: Vec<&str> = Vec::new();
    for name in names {
        if !distinct.contains(&name.as_str()) {
            distinct.push(name);
        }
    }
    let more = distinct.len().saturating_sub(most);
    distinct.truncate(most);
    let text = distinct.join(", ");
    if more > 0 { format!("{text} and {more} more") } else { text }
}
