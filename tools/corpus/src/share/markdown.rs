//! The shares as a page of the guide.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use amdinst_core::instrument::Reason;

use super::{Tallies, Tally};

/// What stands before the figures.
const HEAD: &str = "\
# Shares of real code

This page says how much of three libraries is instrumented. rocRAND 5.3.3 and rocSPARSE 5.3.0 are those of Debian 12, compiled from HIP. aiter
0.1.7 is mostly tuned by hand. A site is an instruction that switches lanes off by a condition, or may do so. The percentages are the
sites that are counted, per counter storage. `auto`, the default, takes the next storage if one does not fit. gfx90a occurs with xnack
and without.

The command that measures writes this page. With `--check`, LLVM's tools read each result as well:

    cargo xtask corpus share --corpus rocrand --corpus rocsparse --corpus aiter --format markdown > docs/src/share.md

";

/// The homes in the order of columns.
const HOMES: [&str; 4] = ["auto", "register", "lds", "global"];

/// What stands before what is refused.
const REFUSED: &str = "
## Refusals

Everything else is instrumented. If a kernel has no room for its counters in the chosen storage, it is refused. `auto` takes another storage.

| collection | processor | counters | reason | kernels refused | sites not counted | one of them |
|---|---|---|---|--:|--:|---|
";

/// The page: shares by collection and processor, then what is refused.
pub(super) fn render(tallies: &Tallies) -> String {
    let mut text = HEAD.to_owned();
    text.push_str("| collection | processor | kernels | with branches | sites |");
    HOMES.iter().for_each(|home| _ = write!(text, " `{home}` |"));
    text.push_str("\n|---|---|--:|--:|--:|--:|--:|--:|--:|\n");
    let rows: BTreeSet<_> = tallies.keys().map(|(collection, target, _)| (collection, target)).collect();
    for &(collection, target) in &rows {
        let of = |home: &str| tallies.get(&(collection.clone(), target.clone(), home.to_owned()));
        let [kernels, with_sites, all] = HOMES.iter().find_map(|home| of(home)).map_or([0; 3], Tally::sizes);
        let _ = write!(text, "| {collection} | {target} | {kernels} | {with_sites} | {all} |");
        for home in HOMES {
            let _ = match of(home) {
                Some(tally) => write!(text, " {} % |", percent(tally.share())),
                None => write!(text, " – |"),
            };
        }
        text.push('\n');
    }
    let mut refused = String::new();
    for (collection, target) in rows {
        // Homes that lose the same are one row.
        let mut losses = BTreeMap::<(Reason, usize, usize, &str), Vec<&str>>::new();
        for home in HOMES {
            let tally = tallies.get(&(collection.clone(), target.clone(), home.to_owned()));
            for (reason, (kernels, sites, example)) in tally.iter().flat_map(|tally| tally.losses()) {
                losses.entry((reason, kernels, sites, example)).or_default().push(home);
            }
        }
        for ((reason, kernels, sites, example), homes) in losses {
            let homes: Vec<_> = homes.into_iter().map(|home| format!("`{home}`")).collect();
            let _ = writeln!(
                refused,
                "| {collection} | {target} | {} | {} | {kernels} | {sites} | {} |",
                homes.join(", "),
                name(reason),
                detail(example).replace('|', "\\|")
            );
        }
    }
    if !refused.is_empty() {
        text.push_str(REFUSED);
        text.push_str(&refused);
    }
    text
}

/// A share, never rounded up to all.
fn percent(share: f64) -> String {
    let rounded = (share * 100.0).floor() / 100.0;
    if share == 100.0 { "100".to_owned() } else { format!("{rounded:.2}") }
}

/// The word that reports and JSON have for a reason.
fn name(reason: Reason) -> String {
    let word = serde_json::to_value(reason).ok();
    word.as_ref().and_then(|word| word.as_str()).unwrap_or("?").to_owned()
}

/// What an example says, without the names of file and kernel.
fn detail(example: &str) -> &str {
    example.splitn(3, ": ").nth(2).unwrap_or(example)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_never_rounded_up_to_all() {
        assert_eq!(percent(100.0), "100");
        assert_eq!(percent(99.999), "99.99");
        assert_eq!(percent(95.388), "95.38");
        assert_eq!(percent(0.0), "0.00");
    }

    #[test]
    fn the_page_is_what_this_writes() {
        let page = include_str!("../../../../docs/src/share.md");
        assert!(page.starts_with(HEAD) && page.contains(REFUSED), "write it anew");
    }

    #[test]
    fn an_example_is_told_without_names() {
        assert_eq!(detail("a.co: kernel at 0x40: `s_mov_b64` of: unknown"), "`s_mov_b64` of: unknown");
        assert_eq!(name(Reason::LdsLimit), "lds-limit");
    }

    /// A home that was not asked for has no figure; homes that lose nothing have no row.
    #[test]
    fn the_page_has_a_row_a_processor() {
        let mut tallies = Tallies::new();
        tallies.insert(("x".to_owned(), "gfx90a".to_owned(), "lds".to_owned()), Tally::default());
        let page = render(&tallies);
        assert!(page.starts_with("# Shares of real code"), "{page}");
        assert!(page.ends_with("| x | gfx90a | 0 | 0 | 0 | – | – | 0.00 % | – |\n"), "{page}");
    }
}
