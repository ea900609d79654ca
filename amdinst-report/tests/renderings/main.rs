//! What people and tools read, of a run made up by hand (`tests/model`).

#[path = "../model/mod.rs"]
mod model;

mod compared;
mod dependencies;
mod matrix;
mod memory;
mod schemas;
mod totals;

use amdinst_core::instrument::FileLines;
use amdinst_core::report::run::{EarlierReport, Run, SourceStamp, UnlaunchedKernel};
use amdinst_core::report::{Location, WaveBlockReport, WaveId};
use amdinst_report::html::{Extras, Instruction, KernelListing};
use amdinst_report::{Certainty, Gate, Lost, Sources, Summary, github, html, human, lcov, markdown, sarif};

fn summary() -> Summary {
    Summary::new(&model::run())
}

/// The table at the head of `tests/model`, added up.
#[test]
fn the_figures_of_the_summary() {
    let summary = summary();
    let names: Vec<_> = summary.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["demo", "other"]);
    let demo = &summary.kernels[0];
    assert_eq!((demo.launches, demo.waves, demo.branches.len()), (2, 4, 2));

    let tail = &demo.branches[0];
    assert_eq!(tail.probe.as_deref(), Some("tail"));
    let counts = &tail.counts;
    assert_eq!((counts.executions, counts.all, counts.none, counts.diverged), (4, 2, 1, 1));
    assert_eq!((counts.lanes_in, counts.lanes_taken), (256, 164));
    assert_eq!((tail.diverged_percent, tail.average_lanes_active), (25.0, 41.0));
    assert_eq!(tail.lost, Lost { lanes: 28, certainty: Certainty::Exact });
    assert_eq!((tail.waves_here, tail.waves_diverged, tail.sites), (4, 1, 1));

    let rounds = &demo.branches[1];
    assert_eq!((rounds.counts.executions, rounds.counts.diverged, rounds.counts.none), (9, 3, 2));
    assert_eq!(rounds.lost, Lost { lanes: 6, certainty: Certainty::About });
    assert_eq!((rounds.waves_here, rounds.waves_diverged, rounds.sites), (1, 1, 2));
    assert_eq!(rounds.frames.len(), 2);

    assert_eq!((summary.tests.passed, summary.tests.failed, summary.diverged_branches()), (2, 1, 2));
    let json = serde_json::to_vec(&summary).unwrap();
    let read = Summary::from_json(&json).unwrap();
    assert_eq!(serde_json::to_vec(&read).unwrap(), json);
    let error = Summary::from_json(br#"{"schema":2}"#).unwrap_err().to_string();
    assert_eq!(error, "it has schema 2, and this version reads schema 1");
}

#[test]
fn for_a_terminal() {
    let (_directory, sources) = model::sources();
    insta::assert_snapshot!(human::render(&summary(), &sources, &human::Options::default()));
    let one = human::Options { top: 1, ..human::Options::default() };
    let text = human::render(&summary(), &sources, &one);
    assert!(text.contains("tail") && !text.contains("loop of demo"), "{text}");
    assert!(text.ends_with("2 of 2 branches diverged; 1 of them not shown, --top shows more\n"), "{text}");
}

/// Two launches, in each of which line 5 ran as often as its most frequent block, 9 times.
#[test]
fn lines_where_blocks_were_measured() {
    let (_directory, sources) = model::sources();
    let summary = Summary::new(&model::blocks());
    let lines: Vec<_> =
        summary.lines_most_first().iter().map(|(_, line)| (line.line, line.executions, line.lanes)).collect();
    assert_eq!(lines, [(5, 18, 720), (4, 4, 200), (9, 0, 0)]);
    insta::assert_snapshot!(
        "lines_for_a_terminal",
        human::render(&summary, &sources, &human::Options::default())
    );
    insta::assert_snapshot!("lines_as_markdown", markdown::render(&summary, &[], 10));
    let top = |top| human::render(&summary, &sources, &human::Options { top, ..human::Options::default() });
    assert!(
        top(2).contains("src/demo.rs:4 ") && top(2).contains("  1 more not shown, --top shows more\n"),
        "{}",
        top(2)
    );
    assert!(!top(2).contains("src/demo.rs:9 ") && !top(3).contains("not shown"), "{}", top(3));
    // No lanes where executions alone were counted.
    let mut basic = model::blocks();
    let launches = basic.programs[0].tests.iter_mut().flat_map(|test| &mut test.launches);
    launches.flat_map(|launch| &mut launch.blocks).for_each(|block| block.counts.lanes = 0);
    let text = human::render(&Summary::new(&basic), &sources, &human::Options::default());
    assert!(text.contains("  src/demo.rs:5          18              -  while value > 1 {\n"), "{text}");

    let page = html::render(&summary, &sources, &Extras::default()).unwrap();
    assert!(page.contains("<td>demo<td>src/demo.rs:5<td>18<td>40.0"), "without a script");
    let json = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: serde_json::Value = serde_json::from_str(json).unwrap();
    insta::assert_json_snapshot!("lines_as_a_page", data["kernels"]);
}

/// The run of [`model::blocks`] with every line of the blocks, and with a kernel that was not launched.
pub(crate) fn coverage() -> Run {
    let lines = |file: &str, lines: &[u32]| FileLines { file: file.into(), lines: lines.to_vec() };
    let mut run = model::blocks();
    for launch in run.programs[0].tests.iter_mut().flat_map(|test| &mut test.launches) {
        let [first, second, third, fourth] = &mut launch.blocks[..] else { panic!("four blocks") };
        first.lines = vec![lines("src/demo.rs", &[4, 7]), lines("src/shared.rs", &[2])];
        first.waves =
            vec![WaveBlockReport { id: WaveId { workgroup: [0; 3], wave: 0 }, counts: first.counts }];
        // Waves came there with no lane active; of line 12 that is not known.
        (second.counts.lanes, second.lines) = (0, vec![lines("src/demo.rs", &[5, 8])]);
        second.scalar_lines = vec![lines("src/demo.rs", &[7, 12])];
        third.lines = vec![lines("src/demo.rs", &[5, 7])];
        fourth.lines = vec![lines("src/demo.rs", &[9])];
    }
    run.unlaunched = vec![UnlaunchedKernel {
        name: "idle".to_owned(),
        cpu: "gfx90a".to_owned(),
        lines: vec![lines("src/idle.rs", &[30]), lines("src/shared.rs", &[2, 3])],
    }];
    run
}

/// Each line that a block has an instruction of, and those of kernels that no test launched: nothing ran
/// there, unless it did in another kernel.
#[test]
fn every_line_of_a_block_and_of_kernels_that_were_not_launched() {
    let summary = Summary::new(&coverage());
    let tracefile = lcov::render(&summary, |_| true);
    let told: Vec<&str> = tracefile.lines().filter(|line| ["SF", "DA"].contains(&&line[..2])).collect();
    let expected = [
        "SF:src/demo.rs",
        "DA:4,4",
        "DA:5,18",
        "DA:7,18",
        "DA:8,0",
        "DA:9,0",
        "DA:12,6",
        "SF:src/idle.rs",
        "DA:30,0",
        "SF:src/shared.rs",
        "DA:2,4",
        "DA:3,0",
    ];
    assert_eq!(told, expected);
    let (_directory, sources) = model::sources();
    let text = human::render(&summary, &sources, &human::Options::default());
    assert!(text.contains("\nnot launched: idle\n"), "{text}");
    // Of seven lines two did not run, nor did three of the kernel that was not launched.
    assert!(text.ends_with("1 kernel, 5 of 10 lines ran\n"), "{text}");
    let page = html::render(&summary, &sources, &Extras::default()).unwrap();
    assert!(page.contains("\"unlaunched\":[\"idle\"]"), "the page's data");
    let text = markdown::render(&summary, &[], 10);
    assert!(text.contains("\n\nNot launched: `idle`.\n\n"), "{text}");
    let mut named = summary;
    named.retain_named(&["demo".to_owned()]);
    assert!(named.unlaunched.is_empty());
}

#[test]
fn colours_are_for_terminals() {
    let (_directory, sources) = model::sources();
    let print =
        |color| human::render(&summary(), &sources, &human::Options { color, ..human::Options::default() });
    assert!(!print(false).contains('\u{1b}'));
    assert!(print(true).contains('\u{1b}'));
}

#[test]
fn sources_that_changed_or_are_gone_are_told() {
    let (directory, _) = model::sources();
    let stamp = SourceStamp { file: "src/demo.rs".to_owned(), hash: "fnv1a:0".to_owned() };
    let text = |sources: &Sources| human::render(&summary(), sources, &human::Options::default());
    let changed = text(&Sources::new(directory.path(), std::slice::from_ref(&stamp)));
    assert!(changed.contains("src/demo.rs has changed since the run"), "{changed}");
    let gone = text(&Sources::new(directory.path().join("elsewhere"), &[stamp]));
    assert!(gone.contains("--> src/demo.rs:4:8") && gone.contains("28 lanes lost"), "{gone}");
}

/// A test that looks for a fault, and passes: it is nobody's mistake.
#[test]
fn faults_that_a_test_expects_are_no_errors() {
    let mut run = model::run();
    run.programs[0].tests[0].ending = amdinst_core::report::run::Ending::Passed;
    let summary = Summary::new(&run);
    let text = human::render(&summary, &Sources::default(), &human::Options::default());
    assert!(!text.contains("error:") && text.contains("\n1 fault in tests that passed\n"), "{text}");
    assert!(!markdown::render(&summary, &[], 10).contains("Faults"));
    assert!(!github::render(&summary, &[], 10).contains("::error"));
    let sarif = serde_json::to_value(sarif::log(&summary, &[])).unwrap();
    // What may be a race is told all the same.
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert!(results.iter().all(|result| result["level"] == "warning"), "{results:#?}");
    assert_eq!(results.len(), 1);
}

#[test]
fn as_markdown() {
    let summary = summary();
    let gate: Gate = "occupancy<8".parse().unwrap();
    insta::assert_snapshot!(markdown::render(&summary, &gate.check(&summary, None), 10));
}

#[test]
fn as_annotations() {
    let summary = summary();
    let gate: Gate = "diverged>30%".parse().unwrap();
    insta::assert_snapshot!(github::render(&summary, &gate.check(&summary, None), 10));
}

#[test]
fn as_coverage() {
    insta::assert_snapshot!(lcov::render(&summary(), |_| true));
    assert_eq!(lcov::render(&summary(), |_| false), "");
}

#[test]
fn as_sarif() {
    let summary = summary();
    let gate: Gate = "active<35".parse().unwrap();
    insta::assert_json_snapshot!(sarif::log(&summary, &gate.check(&summary, None)));
}

/// The model's run, with a race in place of its fault.
fn raced() -> Run {
    let mut run = model::run();
    let fault = &mut run.programs[0].tests[0].faults[0];
    fault.kind = "race".to_owned();
    fault.message = "data race in LDS".to_owned();
    fault.earlier = Some(EarlierReport {
        location: Location { line: Some(5), ..fault.location.clone() },
        frames: fault.frames.clone(),
        pc: Some(0x2040),
        instruction: "ds_read_b32 v0, v0".to_owned(),
    });
    run
}

/// Where a race is with, too, as a place that one can go to.
#[test]
fn a_race_as_sarif() {
    let document = serde_json::to_value(sarif::log(&Summary::new(&raced()), &[])).unwrap();
    let result = &document["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "fault/race");
    let related = result["relatedLocations"].as_array().unwrap();
    assert_eq!(related.len(), 1);
    assert_eq!(related[0]["physicalLocation"]["region"]["startLine"], 5);
    assert_eq!(related[0]["message"]["text"], "the earlier access: `ds_read_b32 v0, v0`");
    // No other result has any, but what may be a race.
    let document = serde_json::to_value(sarif::log(&summary(), &[])).unwrap();
    let results = document["runs"][0]["results"].as_array().unwrap();
    assert!(results.iter().all(|result| {
        result["ruleId"] == "fault/atomicity-unknown" || result.get("relatedLocations").is_none()
    }));
}

#[test]
fn as_a_page() {
    let (_directory, sources) = model::sources();
    let mut summary = summary();
    // What would end the script, if it were not escaped.
    summary.kernels[0].refusals.push("</script><script>alert(1)</script>".to_owned());
    let listing = KernelListing {
        kernel: "demo".to_owned(),
        cpu: "gfx90a".to_owned(),
        instructions: vec![Instruction {
            pc: 0x1000,
            text: "s_and_saveexec_b64 s[0:1], vcc".to_owned(),
            source: Some(("src/demo.rs".to_owned(), 4)),
        }],
        occupancy: None,
    };
    let extras = Extras { listings: &[listing], ..Extras::default() };
    let page = html::render(&summary, &sources, &extras).unwrap();
    assert_eq!(page.matches("</script>").count(), 2);
    // It asks the network for nothing.
    for forbidden in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    let json = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: serde_json::Value = serde_json::from_str(json).unwrap();
    insta::assert_json_snapshot!(data);
}
