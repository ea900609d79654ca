//! Two runs side by side, and limits.

use amdinst_report::diff::Verdict;
use amdinst_report::html::{self, Extras};
use amdinst_report::{Diff, Gate, Summary, human, markdown};

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
    // Two branches, the occupancy of two kernels, and the modelled time of one.
    assert_eq!((diff.unchanged, diff.is_worse()), (5, false));
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
            // The loop lost 6 lanes in 4 waves.
            entry(Verdict::Worse, "demo", "lanes lost a wave"),
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
            entry(Verdict::Gone, "other", "kernel"),
            entry(Verdict::Better, "demo", "lanes lost a wave")
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
        // 1000 and 1400 cycles; of the other kernel nothing was modelled.
        ("cycles>1200", 1),
        ("cycles>1199", 2),
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

/// 1200 cycles a launch, beside other baselines; less than one per cent is neither slower nor faster.
#[test]
fn what_got_slower() {
    let summary = summary();
    let with_cycles = |cycles: u64| {
        let mut other = summary.clone();
        other.kernels[0].modelled.as_mut().unwrap().cycles = 2 * cycles;
        other
    };
    let of_time = |diff: &Diff| {
        let mut changes = diff.changes.iter().filter(|change| change.slower_percent.is_some());
        changes.next().map(|change| (change.verdict, change.slower_percent.unwrap().round()))
    };
    for (before, told) in [
        (1000, Some((Verdict::Worse, 20.0))),
        (1500, Some((Verdict::Better, -20.0))),
        (1199, Some((Verdict::Changed, 0.0))),
        (1200, None),
    ] {
        assert_eq!(of_time(&Diff::new(&with_cycles(before), &summary)), told, "{before}");
    }
    let diff = Diff::new(&with_cycles(1000), &summary);
    let line = "worse   demo on gfx90a: cycles a launch, modeled on mi210: 1000 -> 1200 (+20.0 %)";
    assert!(diff.human().contains(line), "{}", diff.human());

    let slower = |limit: &str| -> Vec<_> {
        let gate: Gate = limit.parse().unwrap();
        assert!(gate.needs_baseline());
        gate.check(&summary, Some(&diff)).into_iter().map(|violation| violation.message).collect()
    };
    let unknown = "other on gfx90a: its time was neither measured nor modeled";
    let demo = "demo on gfx90a: 20.0 % slower: 1000 -> 1200 cycles a launch, modeled on mi210";
    assert_eq!(slower("slower>20%"), [unknown]);
    assert_eq!(slower("slower>=20%"), [demo, unknown]);

    // Another device is no comparison.
    let mut elsewhere = with_cycles(1000);
    elsewhere.kernels[0].modelled.as_mut().unwrap().device = "mi250x".to_owned();
    assert_eq!(of_time(&Diff::new(&elsewhere, &summary)), None);
}

/// Sums over the two launches of `demo`, by hand.
#[test]
fn modelled_cycles_are_summed_by_line() {
    let summary = summary();
    let modelled = summary.kernels[0].modelled.as_ref().unwrap();
    assert_eq!((modelled.launches, modelled.cycles, modelled.instrumented_cycles), (2, 2400, Some(3600)));
    assert_eq!((modelled.cycles_a_launch(), modelled.slowdown()), (1200.0, Some(1.5)));
    let lines: Vec<_> =
        modelled.lines.iter().map(|line| (line.line, line.executions, line.cycles.total())).collect();
    assert_eq!(lines, [(Some(5), 50, 800), (Some(4), 20, 120)]);
    assert_eq!(modelled.wave_cycles.total(), 920);
    assert_eq!(modelled.largest(3), "vector-memory 65 %, issue 30 %, dependency 4 %");
    assert_eq!(summary.kernels[1].modelled, None);
}

/// A kernel that a run did not select has no branches to compare, and passes limits on them; what it takes is
/// compared.
#[test]
fn a_kernel_that_was_not_selected() {
    let (_directory, sources) = model::sources();
    let before = summary();
    let mut now = before.clone();
    let kernel = &mut now.kernels[0];
    (kernel.not_selected, kernel.counter_storage) = (true, "none".to_owned());
    (kernel.branches, kernel.uncounted, kernel.refusals) = Default::default();
    let diff = Diff::new(&before, &now);
    assert!(diff.changes.is_empty() && diff.unchanged > 0, "{}", diff.human());
    let limits: [Gate; 3] = ["diverged>0%", "lost>0", "refused>0"].map(|limit| limit.parse().unwrap());
    let beyond = limits.iter().flat_map(|limit| limit.check(&now, None));
    assert!(beyond.clone().all(|violation| violation.kernel != "demo"), "{:?}", beyond.collect::<Vec<_>>());
    let occupancy: Gate = "occupancy<99".parse().unwrap();
    assert_eq!(occupancy.check(&now, None)[0].kernel, "demo");

    let text = human::render(&now, &sources, &human::Options::default());
    assert!(text.contains("not selected: demo\n"), "{text}");
    let text = markdown::render(&now, &[], 10);
    assert!(text.contains("| `demo` (gfx90a) | | | not selected |\n"), "{text}");
    let page = html::render(&now, &sources, &Extras::default()).unwrap();
    assert!(page.contains("\"not_selected\":true"), "the page");
}

/// A baseline of before 0.1.0 has other names.
#[test]
fn old_names_of_fields_are_read() {
    let json = serde_json::to_string(&summary()).unwrap();
    let mut old = json.clone();
    for (name, before) in
        [("counter_storage", "home"), ("average_lanes_active", "average_active"), ("modeled", "modelled")]
    {
        assert!(old.contains(&format!("{name:?}:")), "{name}");
        old = old.replace(&format!("{name:?}:"), &format!("{before:?}:"));
    }
    assert_eq!(Summary::from_json(old.as_bytes()).unwrap(), Summary::from_json(json.as_bytes()).unwrap());
}
