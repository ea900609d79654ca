//! What was not instrumented, in as few lines as say it.
//!
//! A refusal of the user's own code is a line of its own. Those of a dependency are one line for each reason:
//! a kernel that formats numbers reaches hundreds of functions of `core`, and all that do not fit are refused
//! for the same.

use std::collections::{BTreeMap, BTreeSet};

use super::origin::{Origin, short};

/// A refusal as [`super::refusal_text`] writes it, taken apart.
struct Refused<'a> {
    /// File, line and column.
    place: &'a str,
    pc: &'a str,
    function: Option<&'a str>,
    why: &'a str,
}

impl<'a> Refused<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (place, rest) = text.split_once(" (pc ")?;
        let (pc, detail) = rest.split_once("): ")?;
        let (function, why) = match detail.strip_prefix("in `").and_then(|rest| rest.split_once("`: ")) {
            Some((function, why)) => (Some(function), why),
            None => (None, detail),
        };
        Some(Self { place, pc, function, why })
    }
}

/// The refusals with those of dependencies folded, in the order in which each kind comes first.
pub fn folded(refusals: &[String]) -> Vec<String> {
    let mut lines: Vec<Vec<Refused<'_>>> = Vec::new();
    let mut texts: Vec<&str> = Vec::new();
    let mut groups = BTreeMap::<(String, &str), usize>::new();
    for text in refusals {
        let refused = Refused::of(text);
        let package =
            refused.as_ref().and_then(|refused| Origin::of(refused.place).package().map(str::to_owned));
        match (refused, package) {
            (Some(refused), Some(package)) => {
                let at = *groups.entry((package, refused.why)).or_insert(lines.len());
                if at == lines.len() {
                    lines.push(Vec::new());
                    texts.push(text);
                }
                lines[at].push(refused);
            }
            _ => {
                lines.push(Vec::new());
                texts.push(text);
            }
        }
    }
    let line = |(refused, text): (&Vec<Refused<'_>>, &&str)| match &refused[..] {
        [] => (*text).to_owned(),
        [Refused { place, pc, .. }] => {
            let rest = text.split_once("): ").map_or(*text, |(_, rest)| rest);
            format!("{} (pc {pc}): {rest}", short(place))
        }
        [first, ..] => {
            let functions: BTreeSet<_> = refused.iter().filter_map(|refused| refused.function).collect();
            let functions = match functions.len() {
                0 => String::new(),
                1 => "a function of ".to_owned(),
                number => format!("{number} functions of "),
            };
            let package = Origin::of(first.place).package().unwrap_or_default().to_owned();
            format!("{} places in {functions}{package}: {} (--verbose lists them)", refused.len(), first.why)
        }
    };
    lines.iter().zip(&texts).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_of_a_dependency_with_one_reason_are_one_line() {
        let core = |line: u32, function: &str, why: &str| {
            format!(
                "/t/lib/rustlib/src/rust/library/core/src/fmt/mod.rs:{line}:9 (pc {line:#x}): in `{function}`: {why}"
            )
        };
        let own = "src/lib.rs:3:8 (pc 0x40): no SGPR is free".to_owned();
        let whole = "the kernel's descriptor has no room".to_owned();
        let refusals = [
            core(1, "one", "too much"),
            own.clone(),
            core(2, "two", "too much"),
            core(3, "two", "too far"),
            whole.clone(),
            core(4, "two", "too much"),
        ];
        let expected = [
            "3 places in 2 functions of core: too much (--verbose lists them)",
            &own,
            "core/src/fmt/mod.rs:3:9 (pc 0x3): in `two`: too far",
            &whole,
        ];
        assert_eq!(folded(&refusals), expected);
    }
}
