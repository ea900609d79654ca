//! Whatever a run holds, each rendering adds up to it.

use amdinst_core::report::Counts;
use amdinst_report::html::Extras;
use amdinst_report::{Sources, Summary, html, lcov, markdown};
use proptest::prelude::*;

use super::model;

/// All, none, diverged, and the lanes of a wave; one that is no contradiction.
fn wave() -> impl Strategy<Value = (u64, u64, u64, u64, u64)> {
    (0_u64..9, 0_u64..9, 0_u64..9, 1_u64..64).prop_map(|(all, none, diverged, off)| {
        (all, none, diverged, 64 * (all + none + diverged), 64 * all + (64 - off) * diverged)
    })
}

/// A launch of 1 to 3 sites on a few lines, with the figures of 1 to 4 waves each.
fn launch() -> impl Strategy<Value = amdinst_core::report::Report> {
    let site = (1_u32..4, 0_usize..2, proptest::collection::vec(wave(), 1..4));
    (0_usize..2, proptest::collection::vec(site, 1..4)).prop_map(|(kernel, sites)| {
        let site = |(id, (line, kind, waves)): (usize, (u32, usize, Vec<_>))| {
            let row =
                |(wave, (all, none, diverged, lanes_in, lanes_taken)): (usize, (u64, u64, u64, u64, u64))| {
                    (wave as u32, all + none + diverged, all, none, lanes_in, lanes_taken)
                };
            let rows: Vec<_> = waves.into_iter().enumerate().map(row).collect();
            model::site(id as u32, ["if", "loop-exit"][kind], model::location(line, 8), None, &rows)
        };
        model::launch(["one", "two"][kernel], 4, sites.into_iter().enumerate().map(site).collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_rendering_adds_up(launches in proptest::collection::vec(launch(), 0..6)) {
        let mut run = model::run();
        run.programs[0].tests.truncate(1);
        run.programs[0].tests[0].launches = launches;
        run.kernels.clear();
        let truth: Counts = run.tests().flat_map(|(_, test)| &test.launches).flat_map(|report| &report.sites).map(|site| site.counts).sum();

        let summary = Summary::new(&run);
        let branches = || summary.kernels.iter().flat_map(|kernel| &kernel.branches);
        prop_assert_eq!(branches().map(|branch| branch.counts).sum::<Counts>(), truth);
        let waves = branches().flat_map(|branch| &branch.waves).map(|wave| wave.wave.counts);
        prop_assert_eq!(waves.sum::<Counts>(), truth);
        for branch in branches() {
            // No more can be lost than were switched off in each of the executions.
            prop_assert!(branch.lost.lanes <= 64 * branch.counts.executions);
            prop_assert!(branch.counts.diverged > 0 || branch.lost.lanes == 0);
        }

        // LCOV: all, some, none in turn.
        let mut taken = [0_u64; 3];
        for line in lcov::render(&summary, |_| true).lines().filter_map(|line| line.strip_prefix("BRDA:")) {
            let fields: Vec<_> = line.split(',').collect();
            taken[fields[2].parse::<usize>().unwrap()] += fields[3].parse::<u64>().unwrap_or(0);
        }
        prop_assert_eq!(taken, [truth.all, truth.diverged, truth.none]);

        // Markdown shows the branches that diverged.
        let text = markdown::render(&summary, &[], usize::MAX);
        let rows = text.lines().filter(|line| line.starts_with("| `") && line.contains(" %)"));
        let shown: u64 = rows.map(|row| row.split('|').nth(5).unwrap().split_whitespace().next().unwrap().parse::<u64>().unwrap()).sum();
        prop_assert_eq!(shown, truth.diverged);

        let page = html::render(&summary, &Sources::default(), &Extras::default()).unwrap();
        let json = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
        let data: serde_json::Value = serde_json::from_str(json).unwrap();
        let rows: Vec<_> = data["kernels"].as_array().unwrap().iter().flat_map(|kernel| kernel["branches"].as_array().unwrap()).collect();
        let sum = |index: usize| rows.iter().map(|row| row["counts"][index].as_u64().unwrap()).sum::<u64>();
        prop_assert_eq!([sum(0), sum(1), sum(2), sum(3), sum(4), sum(5)], [truth.executions, truth.all, truth.none, truth.diverged, truth.lanes_in, truth.lanes_taken]);
        let strips = rows.iter().flat_map(|row| row["strip"].as_array().unwrap().chunks(7));
        prop_assert_eq!(strips.clone().map(|cell| cell[1].as_u64().unwrap()).sum::<u64>(), truth.executions);
        let lost = branches().map(|branch| branch.lost.lanes).sum::<u64>();
        prop_assert_eq!(strips.map(|cell| cell[6].as_u64().unwrap()).sum::<u64>(), lost);
    }
}
