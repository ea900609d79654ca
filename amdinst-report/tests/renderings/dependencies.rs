//! Branches of dependencies, and branches whose divergence is meant, in every rendering: the run of
//! `model::with_a_dependency`.

use amdinst_core::report::{Certainty, Layout};
use amdinst_report::html::Extras;
use amdinst_report::{Diff, Gate, Sources, Summary, github, html, human, markdown, sarif};

use super::model;

fn summary() -> Summary {
    Summary::new(&model::with_a_dependency())
}

fn terminal(layout: Layout, top: usize) -> String {
    let (_directory, sources) = model::sources();
    human::render(&summary(), &sources, &human::Options { top, layout, color: false })
}

/// 32 and 48 lanes lost by the line that called, 56 in the function that was not inlined.
#[test]
fn for_a_terminal_a_dependency_is_one_warning_at_the_line_that_called_it() {
    let text = terminal(Layout::default(), 10);
    insta::assert_snapshot!(text);
    assert!(text.contains("2 branches of libm-0.2.16 in demo diverged in 2 of 2 executions"), "{text}");
    assert!(text.contains("called here; 80 lanes lost"), "{text}");
    assert!(!text.contains(".cargo/registry"), "{text}");
    // Of the leader no word but that it is there.
    assert!(!text.contains("`leader`") && text.contains("6 of 6 branches diverged, 1 as expected"), "{text}");
}

#[test]
fn all_of_it_has_each_branch_with_its_whole_path() {
    let text = terminal(Layout { width: 80, all: true }, 10);
    for line in [85, 90, 99] {
        assert!(text.contains(&format!("--> {}:{line}:8", model::LIBM)), "{text}");
    }
    assert!(text.contains(&format!("inlined: powf at {}:85:8", model::LIBM)), "{text}");
    assert!(!text.contains("branches of libm"), "{text}");
}

#[test]
fn none_of_it_is_none() {
    let text = terminal(Layout::default(), 0);
    assert!(!text.contains("-->") || text.starts_with("error: kernel `other`"), "{text}");
    assert!(!text.contains("diverged in") && !text.contains("probe `leak`"), "{text}");
    assert!(text.contains("6 of 6 branches diverged, 1 as expected; 5 of them not shown"), "{text}");
}

#[test]
fn headings_of_kernels_fit() {
    for width in [70, 80, 120] {
        let text = terminal(Layout { width, all: false }, 0);
        let headings: Vec<_> = text.lines().skip_while(|line| !line.starts_with("demo on")).collect();
        let fits = |line: &&str| line.chars().count() <= width || line.starts_with("demo-kernels:");
        assert!(headings.len() > 2 && headings.iter().all(fits), "{width}: {text}");
    }
}

#[test]
fn annotations_are_the_users_lines_and_none_is_of_what_is_meant() {
    let text = github::render(&summary(), &[], 10);
    let wanted = "::warning file=src/demo.rs,line=6,col=13,title=divergence in demo::2 branches of libm-0.2.16 diverged";
    assert!(text.contains(wanted), "{text}");
    assert_eq!(text.matches("libm-0.2.16").count(), 2 + 1, "one of them is named by its path: {text}");
    assert!(!text.contains("leader"), "{text}");
}

#[test]
fn markdown_says_which_are_meant() {
    let text = markdown::render(&summary(), &[], 10);
    assert!(
        text.contains("| `src/demo.rs:6:13` | 2 branches of `libm-0.2.16` | 2 | 2 (100.0 %) |"),
        "{text}"
    );
    assert!(text.contains("| branch `leader` (expected) | 1 | 1 (100.0 %) | 1.0 of 64.0 | 63 |"), "{text}");
}

/// What is meant passes no limit on branches, and so is nothing that code scanning sees.
#[test]
fn limits_are_not_for_what_is_meant() {
    let summary = summary();
    for gate in ["diverged>0", "active<60", "lost>0"] {
        let violations = gate.parse::<Gate>().unwrap().check(&summary, None);
        assert!(
            violations.len() >= 4 && violations.iter().all(|found| found.kernel == "demo"),
            "{violations:?}"
        );
        let document = serde_json::to_string(&sarif::log(&summary, &violations)).unwrap();
        assert!(!document.contains("leader"), "{gate}");
    }
    // It still counts.
    let leader = &summary.kernels[1].branches[0];
    assert_eq!((leader.counts.diverged, leader.lost.lanes), (1, 63));
    assert_eq!(leader.lost.certainty, Certainty::Exact);
    assert_eq!(summary.diverged_branches(), 6);
}

/// A dependency's branch that another line led to is another branch; to an earlier run it is compared by the
/// line.
#[test]
fn lines_that_call_a_dependency_are_told_apart() {
    let mut run = model::with_a_dependency();
    let sites = &mut run.programs[0].tests[1].launches[0].sites;
    sites[4].location = sites[3].location.clone();
    sites[4].caller = Some(model::location(9, 5));
    let other = Summary::new(&run);
    let of_libm = |summary: &Summary| {
        let branches = summary.kernels[0].branches.iter();
        branches.filter(|branch| branch.location.file.as_deref() == Some(model::LIBM)).count()
    };
    assert_eq!(of_libm(&other), 3);
    let diff = Diff::new(&other, &other);
    assert!(diff.changes.is_empty(), "{:?}", diff.changes);
}

#[test]
fn the_page_has_short_names_and_what_a_branch_is() {
    let before = Summary::new(&model::run());
    let now = summary();
    let diff = Diff::new(&before, &now);
    let extras = Extras { diff: Some(&diff), baseline: Some(&before), ..Extras::default() };
    let page = html::render(&now, &Sources::default(), &extras).unwrap();
    let json = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: serde_json::Value = serde_json::from_str(json).unwrap();
    let names: Vec<_> =
        data["sources"].as_array().unwrap().iter().map(|source| (&source["name"], &source["own"])).collect();
    assert_eq!(
        serde_json::to_value(names).unwrap(),
        serde_json::json!([["libm-0.2.16/src/math/powf.rs", false], ["src/demo.rs", true]])
    );
    let demo = &data["kernels"][0];
    let of_libm: Vec<_> =
        demo["branches"].as_array().unwrap().iter().filter(|row| row["package"] == "libm-0.2.16").collect();
    assert_eq!(of_libm.len(), 3);
    assert_eq!(of_libm.iter().filter(|row| row["caller"] == serde_json::json!([1, 6])).count(), 2);
    assert_eq!(data["kernels"][1]["branches"][0]["expected"], true);
    // 28 and 6 lanes before.
    assert_eq!(demo["was"]["lost"], 34);
    assert!(of_libm.iter().all(|row| row["was"].is_null()));
    assert!(
        demo["branches"].as_array().unwrap().iter().any(|row| row["was"] == serde_json::json!([4, 1, 28]))
    );
}
