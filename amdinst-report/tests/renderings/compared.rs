//! Two runs side by side, and limits.

use amdinst_report::diff::Verdict;
use amdinst_report::{Diff, Gate, Summary};

use super::model;

fn summary() -> Summary {
    Summary::new(&model::run())
}

/// A run in which the second launch of `demo` has another last wave: of its tail, and on another line.
fn other() -> Summary {
    let mut run = model::run();
    let report = &mut run.programs[0].tests[2].launches[0];
    report.sites[0] = model::site(
        0,
        "if",
        model::location(14, 8),
        Some("tail"),
        &[(0, 1, 1, 0, 64, 64), (1, 1, 0, 0, 64, 32)],
    );
    let first = &mut run.programs[0].tests[1].launches[0];
    first.sites[0].location = model::location(14, 8);
    // Addresses are of no importance.
    first.sites.iter_mut().for_each(|site| site.pc += 0x100);
    run.kernels[1].cost.as_mut().unwrap().occupancy.before = 3;
    Summary::new(&run)
}

#[test]
fn the_same_run_has_no_changes() {
    let diff = Diff::new(&summary(), &summary());
    assert_eq!(diff.changes, []);
    // Two branches, and the occupancy of two kernels.
    assert_eq!((diff.unchanged, diff.is_worse()), (4, false));
    assert!(diff.markdown().contains("Nothing has changed"));
}

/// The tail diverges in 2 of 4 executions instead of 1, and loses 28 + 32 lanes.
#[test]
fn what_is_worse_comes_first_and_moved_probes_are_found() {
    let diff = Diff::new(&summary(), &other());
    insta::assert_snapshot!(diff.human());
    insta::assert_snapshot!("as_markdown", diff.markdown());
    assert!(diff.is_worse());
    let back = Diff::new(&other(), &summary());
    assert!(back.changes.iter().all(|change| change.verdict == Verdict::Better), "{:?}", back.changes);
}

#[test]
fn kernels_and_branches_come_and_go() {
    let mut before = summary();
    before.kernels[1].name = "old".to_owned();
    before.kernels[0].branches.remove(1);
    let verdicts = |diff: &Diff| -> Vec<_> {
        diff.changes
            .iter()
            .map(|change| (change.verdict, change.kernel.clone(), change.what.clone()))
            .collect()
    };
    let entry = |verdict, kernel: &str, what: &str| (verdict, kernel.to_owned(), what.to_owned());
    assert_eq!(
        verdicts(&Diff::new(&before, &summary())),
        [
            entry(Verdict::New, "demo", "loop"),
            entry(Verdict::New, "other", "kernel"),
            entry(Verdict::Gone, "old", "kernel")
        ]
    );
    assert_eq!(
        verdicts(&Diff::new(&summary(), &before)),
        [
            entry(Verdict::New, "old", "kernel"),
            entry(Verdict::Gone, "demo", "loop"),
            entry(Verdict::Gone, "other", "kernel")
        ]
    );
}

/// How many things in the run of `tests/model` do not keep a limit.
#[test]
fn limits() {
    let summary = summary();
    for (limit, violations) in [
        ("diverged>25%", 1),
        ("diverged>=25%", 2),
        ("diverged>34%", 0),
        ("diverged>=3", 1),
        ("diverged<1", 0),
        ("active<41", 1),
        ("active<=41", 2),
        ("lost>6", 1),
        ("lost>28", 0),
        ("occupancy<8", 1),
        ("occupancy<=8", 2),
        ("sgprs>9", 1),
        ("vgprs>8", 0),
        ("scratch>0", 0),
        ("refused>0", 1),
        // Never silently kept: no times were measured.
        ("ticks>5", 2),
    ] {
        let gate: Gate = limit.parse().unwrap();
        assert_eq!(gate.check(&summary, None).len(), violations, "{limit}");
    }
    let worse: Gate = "worse".parse().unwrap();
    assert!(worse.needs_baseline());
    assert_eq!(worse.check(&summary, Some(&Diff::new(&summary, &summary))), []);
    let violations = worse.check(&summary, Some(&Diff::new(&summary, &other())));
    let messages: Vec<_> = violations.iter().map(|violation| violation.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "branch `tail` of demo: 50.0 % of 4 diverged, 60 lanes lost, and was 25.0 % of 4 diverged, 28 lanes lost",
            "occupancy of other: 3, and was 4",
        ]
    );
}

#[test]
fn lanes_that_were_not_counted_keep_no_limit() {
    let mut run = model::run();
    for test in &mut run.programs[0].tests {
        for site in test.launches.iter_mut().flat_map(|report| &mut report.sites) {
            for counts in site.waves.iter_mut().map(|wave| &mut wave.counts).chain([&mut site.counts]) {
                (counts.lanes_in, counts.lanes_taken) = (0, 0);
            }
        }
    }
    let summary = Summary::new(&run);
    let check = |limit: &str| limit.parse::<Gate>().unwrap().check(&summary, None).len();
    assert_eq!((check("lost>1000000"), check("active<1"), check("diverged>25%")), (2, 2, 1));
}
