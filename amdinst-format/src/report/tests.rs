//! The report of a made-up kernel: 2 workgroups of 100 work-items, so 4 waves of 64, 36, 64 and 36 lanes.
//!
//! Site 0 (`tail`, an `if` on line 12) keeps 64, 36, 64 and 6 lanes: only the last wave diverges.
//! Sites 1 and 2 (`steps`, line 20, one loop that the compiler made two of) run only in the first wave.

use std::collections::BTreeMap;

use crate::counters::{BlockCounts, Lanes, Probe, SiteCounts, WaveRecord, WaveTime, record_stride};
use crate::probes::{
    BlockProbe, ExecWrite, ExecWriteClass, Home, KernelProbes, Level, PlaceCollector, Places, ProbeKind,
    ProbeOutcome, ProbeResult, ProbeSpec, Reason, Refusal, Site, SiteFrame, SiteKind,
};

use super::oracle::{Disagreement, Native, compare, compare_blocks, compare_times};
use super::{Launch, Layout, Outcome, Report, ReportError, SelectError, WaveId};

fn frame(file: &str, line: u32) -> SiteFrame {
    SiteFrame { function: None, file: Some(file.into()), line: Some(line), column: Some(8) }
}

/// A loop of the library's, inlined at a line.
fn inlined_at(line: u32) -> Vec<SiteFrame> {
    vec![
        frame("/usr/lib/rustlib/src/rust/library/core/src/iter/range.rs", 700),
        frame("/home/me/kernels/src/demo.rs", line),
    ]
}

/// Gives a kernel's sites their places.
fn place_sites(kernel: &mut KernelProbes, chains: &[Vec<SiteFrame>]) {
    let mut places = PlaceCollector::default();
    for (site, chain) in kernel.sites.iter_mut().zip(chains) {
        site.place = places.chain(chain);
    }
    kernel.places = places.finish();
}

fn site(id: u32, kind: SiteKind, name: &str) -> Site {
    Site {
        id,
        kind,
        pc: 0x1000 + u64::from(id) * 0x10,
        new_pc: 0,
        instruction: "s_and_saveexec_b64 s[0:1], vcc".into(),
        place: None,
        nearby: Vec::new(),
        is_near: false,
        name: Some(name.to_owned()),
        loop_depth: 0,
        function: "demo".into(),
        else_pcs: vec![0x1100],
    }
}

fn probe(name: &str, line: u32, result: ProbeResult) -> ProbeOutcome {
    let probe = ProbeSpec {
        name: name.to_owned(),
        kind: ProbeKind::If,
        file: "src/demo.rs".to_owned(),
        line,
        column: 5,
        end_line: line + 2,
        end_column: 6,
        function: "demo".into(),
        expect: name == "steps",
    };
    ProbeOutcome { probe, result }
}

fn kernel() -> KernelProbes {
    let mut kernel = KernelProbes {
        name: "demo".to_owned(),
        probe: Probe::Branches,
        lanes: Lanes::default(),
        home: Some(Home::Register),
        why: String::new(),
        level: Level::Lanes,
        buffer_argument: Some(16),
        wave_ids: None,
        site_forms: Vec::new(),
        packed_sites: 0,
        buffer_symbol: None,
        kernarg_segment_size: 24,
        record_stride: record_stride(3),
        cost: Default::default(),
        places: Places::default(),
        sites: vec![
            site(0, SiteKind::If, "tail"),
            site(1, SiteKind::LoopExit, "steps"),
            site(2, SiteKind::LoopExit, "steps"),
        ],
        blocks: Vec::new(),
        left_out: Vec::new(),
        uniform: Vec::new(),
        exec_writes: vec![ExecWrite { pc: 0x1200, class: ExecWriteClass::Restore }],
        probes: vec![
            probe("tail", 12, ProbeResult::Sites(vec![0])),
            probe("steps", 20, ProbeResult::Sites(vec![1, 2])),
            probe("pick", 30, ProbeResult::IfConverted),
        ],
        refusals: Vec::new(),
    };
    place_sites(&mut kernel, &[12, 20, 20].map(inlined_at));
    kernel
}

const fn counts(executions: u64, all: u64, none: u64, lanes_in: u64, lanes_taken: u64) -> SiteCounts {
    SiteCounts { executions, all, none, lanes_in, lanes_taken }
}

fn records() -> Vec<WaveRecord> {
    let tails =
        [counts(1, 1, 0, 64, 64), counts(1, 1, 0, 36, 36), counts(1, 1, 0, 64, 64), counts(1, 0, 0, 36, 6)];
    let record = |(index, tail): (usize, SiteCounts)| {
        let steps = |counts| if index == 0 { counts } else { SiteCounts::default() };
        WaveRecord {
            workgroup: [index as u32 / 2, 0, 0],
            wave: index as u32 % 2,
            flushed: true,
            sites: vec![tail, steps(counts(5, 2, 1, 200, 100)), steps(counts(3, 3, 0, 64, 64))],
            blocks: Vec::new(),
            time: None,
        }
    };
    tails.into_iter().enumerate().map(record).collect()
}

fn native(records: &[WaveRecord]) -> Vec<BTreeMap<u64, Native>> {
    let wave = |record: &WaveRecord| {
        let of_site = |(id, counts): (usize, &SiteCounts)| {
            let SiteCounts { executions, all, none, lanes_in, lanes_taken } = *counts;
            let narrowed = lanes_taken < lanes_in;
            let diverged = counts.diverged();
            (
                0x1000 + id as u64 * 0x10,
                Native { executions, all, none, diverged, lanes_in, lanes_taken, narrowed },
            )
        };
        record.sites.iter().enumerate().map(of_site).collect()
    };
    records.iter().map(wave).collect()
}

fn report() -> Report {
    report_of(&kernel())
}

fn report_of(probes: &KernelProbes) -> Report {
    let records = records();
    let launch = Launch {
        demangled: None,
        probes,
        target: "gfx90a",
        grid: [2, 1, 1],
        block: [100, 1, 1],
        records: &records,
        seconds: None,
    };
    Report::new(&launch).unwrap()
}

#[test]
fn sums_over_waves_and_over_the_sites_of_a_probe() {
    let report = report();
    assert_eq!(report.waves, 4);
    let tail = report.find("tail").unwrap();
    assert_eq!((tail.executions(), tail.all(), tail.none(), tail.diverged()), (4, 3, 0, 1));
    assert_eq!((tail.lanes_in(), tail.lanes_taken()), (200, 170));
    assert_eq!(tail.divergence(), 0.25);
    assert_eq!(tail.average_lanes_active(), 42.5);
    assert_eq!(tail.diverged_waves(), 1);
    let waves = tail.waves();
    assert_eq!((waves[3].id.workgroup, waves[3].id.wave, waves[3].counts.diverged), ([1, 0, 0], 1, 1));

    let steps = report.find("steps").unwrap();
    assert_eq!(steps.sites().len(), 2);
    assert_eq!((steps.executions(), steps.diverged(), steps.lanes_taken()), (8, 2, 164));
    assert_eq!(steps.waves().len(), 1, "only the first wave came here");
    assert_eq!((steps.of_kind("loop-exit").sites().len(), steps.of_kind("if").executions()), (2, 0));
    assert_eq!(report.at_line(20).unwrap().counts(), steps.counts());
}

#[test]
fn a_probe_without_counts_says_why_and_never_zero() {
    let report = report();
    assert_eq!(report.outcome("pick"), Some(&Outcome::IfConverted));
    let error = report.find("pick").unwrap_err();
    assert!(error.to_string().contains("if-converted"), "{error}");
    assert!(error.to_string().contains("src/demo.rs:30"), "{error}");
    let error = report.find("nope").unwrap_err();
    assert!(error.to_string().contains("`tail`, `steps`, `pick`"), "{error}");
    assert!(matches!(report.at_line(13), Err(SelectError::NoSuchLine { line: 13, .. })));
}

#[test]
fn probes_of_functions_that_the_kernel_never_calls_are_left_out() {
    let mut kernel = kernel();
    kernel.probes.push(probe("gone", 40, ProbeResult::Removed));
    kernel.probes.push(probe("elsewhere", 50, ProbeResult::Removed));
    kernel.probes[3].probe.function = "crate::file::demo".to_owned();
    kernel.probes[4].probe.function = "crate::file::helper".to_owned();
    let records = records();
    let launch = Launch {
        probes: &kernel,
        demangled: None,
        target: "gfx90a",
        grid: [2, 1, 1],
        block: [100, 1, 1],
        records: &records,
        seconds: None,
    };
    let report = Report::new(&launch).unwrap();
    assert_eq!(report.outcome("gone"), Some(&Outcome::Removed));
    assert_eq!(report.outcome("elsewhere"), None);
}

#[test]
fn locations_skip_the_standard_library_and_can_be_cut() {
    let mut report = report();
    assert_eq!(report.sites[0].location.to_string(), "/home/me/kernels/src/demo.rs:12:8");
    report.relative_to("/home/me");
    assert_eq!(report.sites[0].location.to_string(), "kernels/src/demo.rs:12:8");
}

#[test]
fn nothing_is_near_an_unknown_place() {
    let site_of = |frames: Vec<SiteFrame>| {
        let mut probes = kernel();
        place_sites(&mut probes, &[frames]);
        probes.sites[0] = Site { is_near: true, name: None, ..probes.sites[0].clone() };
        report_of(&probes).sites[0].clone()
    };
    assert!(site_of(vec![frame("/home/me/kernels/src/demo.rs", 12)]).near);
    assert!(!site_of(vec![SiteFrame { file: None, line: None, ..frame("", 0) }]).near);
}

#[test]
fn the_table_has_one_line_a_source_place() {
    let mut report = report();
    report.relative_to("/home/me/kernels");
    // The loop's first wave: 100 lanes left once, so that each of 5 rounds could have had 64; 200 were there.
    let expected = "  \
  source            branch                 executions  diverged   share  lanes active  lanes lost  sites
  src/demo.rs:20:8  loop steps (expected)           8         2  25.0 %  20.5 of 33.0       ≈ 120      2
  src/demo.rs:12:8  if tail                         4         1  25.0 %  42.5 of 50.0          30      1
  src/demo.rs:30:5  pick                   if-converted
";
    assert_eq!(report.table(), expected);
    assert_eq!(
        report.heading(),
        "demo on gfx90a: 2 workgroups of 100 work-items, 4 waves, counters in registers"
    );
}

const LIBM: &str = "/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/libm-0.2.16/src/math/powf.rs";

/// The report with sites of `libm`: three places that two lines led to, and one in a function that was not
/// inlined.
fn with_a_dependency() -> Report {
    let mut kernel = kernel();
    let mut chains = Vec::from([12, 20, 20].map(inlined_at));
    for (id, line, caller) in [(3, 85, Some(12)), (4, 90, Some(12)), (5, 85, Some(20)), (6, 99, None)] {
        let mut chain = vec![frame(LIBM, line)];
        chain.extend(caller.map(|line| frame("/home/me/kernels/src/demo.rs", line)));
        chains.push(chain);
        kernel.sites.push(Site { name: None, ..site(id, SiteKind::If, "") });
    }
    place_sites(&mut kernel, &chains);
    let mut records = records();
    for record in &mut records {
        record.sites.extend([64, 60, 32, 0].map(|taken| counts(2, 1, 0, 128, 64 + taken)));
    }
    let (grid, block) = ([2, 1, 1], [100, 1, 1]);
    let launch = Launch {
        probes: &kernel,
        demangled: None,
        target: "gfx90a",
        grid,
        block,
        records: &records,
        seconds: None,
    };
    let mut report = Report::new(&launch).unwrap();
    report.relative_to("/home/me/kernels");
    report
}

/// Each wave loses 0 and 4 lanes by the first line, 32 by the second, and 64 in the function that was not
/// inlined.
#[test]
fn branches_of_a_dependency_are_one_row_with_the_lines_that_led_there() {
    let report = with_a_dependency();
    assert_eq!(report.sites[3].caller.as_ref().unwrap().to_string(), "src/demo.rs:12:8");
    assert_eq!((&report.sites[6].caller, &report.sites[0].caller), (&None, &None));
    let wide = report.table();
    let rows: Vec<_> = wide.lines().skip(1).take(4).collect();
    let expected = [
        ("libm-0.2.16", "3 branches", "≤ 400"),
        ("  not inlined", "1 branch", "256"),
        ("  from src/demo.rs:20:8", "1 branch", "128"),
        ("  from src/demo.rs:12:8", "2 branches", "16"),
    ];
    for (row, (source, branches, lost)) in rows.iter().zip(expected) {
        let lost = lost.trim_start_matches("≤ ");
        assert!(row.starts_with(&format!("  {source} ")) && row.contains(branches), "{wide}");
        assert!(row.split_whitespace().any(|cell| cell == lost), "{lost}: {wide}");
    }
    assert!(!wide.contains("powf") && wide.contains("src/demo.rs:12:8"), "{wide}");
    // Counts are those of all.
    assert!(rows[0].contains(" 32 "), "{wide}");
    for width in [80, 100, 120] {
        let text = report.table_in(&Layout { width, all: false });
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        assert!(text.contains("lanes lost") && text.contains("share"), "{text}");
    }
    let all = report.table_in(&Layout { width: 80, all: true });
    for place in [":85:8", ":90:8", ":99:8"] {
        assert!(all.contains(&format!("{LIBM}{place}")), "{all}");
    }
    assert!(all.contains("sites") && !all.contains("not inlined"), "{all}");
    // What one line led to is a row of that line.
    let mut called_once = report.clone();
    called_once.sites.retain(|site| site.id < 5);
    let text = called_once.table();
    assert!(text.contains("  src/demo.rs:12:8  2 in libm-0.2.16 "), "{text}");
    assert!(!text.contains("from") && !text.contains("2 branches"), "{text}");
}

#[test]
fn the_snapshot_has_no_addresses_and_no_homes() {
    let expected = "\
kernel demo, 4 waves
src/demo.rs:12:8 if \"tail\": executions 4, all 3, none 0, diverged 1, lanes 170 of 200
src/demo.rs:20:8 loop-exit \"steps\": executions 8, all 5, none 1, diverged 2, lanes 164 of 264
probe \"pick\": if-converted
";
    assert_eq!(report().snapshot(), expected);
}

#[test]
fn json_has_the_fields_of_run_and_reads_back() {
    let report = report();
    let json = serde_json::to_value(&report).unwrap();
    let site = json["sites"][0].as_object().unwrap();
    let keys: Vec<_> = site.keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "id",
            "kind",
            "pc",
            "file",
            "line",
            "column",
            "name",
            "executions",
            "all",
            "none",
            "diverged",
            "lanes_in",
            "lanes_taken",
            "waves"
        ]
    );
    assert_eq!(json["probes"][2]["outcome"], "if-converted");
    assert_eq!(serde_json::from_value::<Report>(json).unwrap(), report);
}

#[test]
fn records_of_another_kernel_are_an_error() {
    let kernel = kernel();
    let records = records();
    let launch = |records| Launch {
        probes: &kernel,
        demangled: None,
        target: "gfx90a",
        grid: [2, 1, 1],
        block: [100, 1, 1],
        records,
        seconds: None,
    };
    assert!(matches!(
        Report::new(&launch(&records[..3])),
        Err(ReportError::Waves { waves: 4, records: 3, .. })
    ));
    let mut records = records.clone();
    records[2].sites.truncate(2);
    assert!(matches!(Report::new(&launch(&records)), Err(ReportError::Sites { sites: 3, counted: 2, .. })));
}

#[test]
fn counters_that_may_have_overflowed_are_an_error() {
    let kernel = kernel();
    let report = |executions| {
        let mut records = records();
        records[1].sites[2] = counts(executions, 0, 0, 5, 4);
        let (grid, block) = ([2, 1, 1], [100, 1, 1]);
        Report::new(&Launch {
            probes: &kernel,
            demangled: None,
            target: "gfx90a",
            grid,
            block,
            records: &records,
            seconds: None,
        })
    };
    // As many executions as cannot overflow the sum with 64 lanes each, and one more.
    let most = u64::from(u32::MAX) / 64;
    assert!(report(most).is_ok());
    assert!(matches!(report(most + 1), Err(ReportError::Overflow { site: 2, .. })));
}

#[test]
fn a_launch_long_enough_for_an_unseen_overflow_is_an_error() {
    let mut kernel = kernel();
    kernel.cost.instructions_per_site = [5, 9];
    let records = records();
    let report = |seconds| {
        let (grid, block) = ([2, 1, 1], [100, 1, 1]);
        let seconds = Some(seconds);
        Report::new(&Launch {
            probes: &kernel,
            demangled: None,
            target: "gfx90a",
            grid,
            block,
            records: &records,
            seconds,
        })
    };
    // Six instructions 2^32 times, at 3 GHz: 8.59 s.
    assert!(report(8.58).is_ok());
    for seconds in [8.60, f64::INFINITY, f64::NAN] {
        assert!(matches!(report(seconds), Err(ReportError::Long { .. })), "{seconds}");
    }
}

#[test]
fn a_kernel_that_was_not_instrumented_has_refusals_and_no_counts() {
    let mut kernel = kernel();
    kernel.home = None;
    let refusal = Refusal::at(0x1000, Reason::NoFreeSgpr, "no SGPR is free".to_owned());
    kernel.refusals = vec![Refusal { frames: kernel.frames(kernel.sites[0].place), ..refusal }];
    let launch = Launch {
        probes: &kernel,
        demangled: None,
        target: "gfx90a",
        grid: [1, 1, 1],
        block: [64, 1, 1],
        records: &[],
        seconds: None,
    };
    let report = Report::new(&launch).unwrap();
    assert!(report.sites.is_empty());
    assert_eq!(report.outcome("tail"), Some(&Outcome::Refused));
    assert!(report.table().contains("demo.rs:12:8 (pc 0x1000): no SGPR is free"), "{}", report.table());
    let mut shorter = report.clone();
    shorter.relative_to("/home/me");
    assert_eq!(shorter.refusals, ["kernels/src/demo.rs:12:8 (pc 0x1000): no SGPR is free"]);

    let timed = KernelProbes { probe: Probe::Time, ..kernel.clone() };
    let error =
        Report::new(&Launch { probes: &timed, demangled: None, ..launch }).unwrap().find("tail").unwrap_err();
    assert!(
        error.to_string().contains("with `--measure time`; run the test with `--measure branches`"),
        "{error}"
    );
}

#[test]
fn a_kernel_that_was_not_selected_says_so() {
    let mut report = report();
    (report.sites, report.probes, report.not_selected) = (Vec::new(), Vec::new(), true);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["not_selected"], true);
    for told in [report.find("tail").unwrap_err(), report.at_line(12).unwrap_err()] {
        assert_eq!(
            told.to_string(),
            "kernel `demo` has no counts: it was not selected; `--kernel` chose others"
        );
    }
    assert_eq!(report.table(), "  not selected: `--kernel` chose other kernels\n");
}

/// Documents of before 0.1.0 are read.
#[test]
fn old_names_of_fields_are_read() {
    let report = report();
    let mut json = serde_json::to_value(&report).unwrap();
    let fields = json.as_object_mut().unwrap();
    let storage = fields.remove("counter_storage").unwrap();
    fields.insert("home".to_owned(), storage);
    fields.insert(
        "left_out".to_owned(),
        serde_json::json!([{ "pc": 4, "file": null, "line": null, "column": null, "name": "x" }]),
    );
    let old: Report = serde_json::from_value(json).unwrap();
    assert_eq!((&old.counter_storage, old.sites_not_selected.len()), (&report.counter_storage, 1));
}

#[test]
fn a_wave_that_never_ended_is_listed_and_not_counted() {
    let mut records = records();
    records[0].flushed = false;
    let kernel = kernel();
    let launch = Launch {
        probes: &kernel,
        demangled: None,
        target: "gfx90a",
        grid: [2, 1, 1],
        block: [100, 1, 1],
        records: &records,
        seconds: None,
    };
    let report = Report::new(&launch).unwrap();
    assert_eq!(report.unfinished.len(), 1);
    assert_eq!(report.find("tail").unwrap().executions(), 3);
    assert_eq!(report.find("steps").unwrap().executions(), 0, "the loop ran in the lost wave only");
}

#[test]
fn the_oracle_agrees_with_itself_and_names_what_differs() {
    let kernel = kernel();
    let records = records();
    let mut native = native(&records);
    // An explained else-half and a restore may switch lanes off.
    let narrowing = Native { executions: 1, narrowed: true, ..Native::default() };
    native[0].insert(0x1100, narrowing);
    native[0].insert(0x1200, narrowing);
    assert_eq!(compare(&kernel, &records, &native, 10), []);

    native[2].insert(0x1400, narrowing);
    native[3].insert(0x1400, narrowing);
    native[3].get_mut(&0x1000).unwrap().lanes_taken = 7;
    let found = compare(&kernel, &records, &native, 10);
    assert_eq!(found.len(), 2);
    assert!(
        matches!(&found[0], Disagreement::Counts { site: 0, pc: 0x1000, seen, .. } if seen.lanes_taken == 7)
    );
    assert!(matches!(&found[1], Disagreement::Unexplained { pc: 0x1400, waves: 2, .. }));
    assert!(found[0].to_string().contains("demo.rs:12:8"), "{}", found[0]);
}

#[test]
fn launches_of_one_kernel_add_up() {
    let mut sum = report();
    sum.oracle_equal = Some(true);
    sum.add_launch(&sum.clone());
    assert_eq!((sum.waves, sum.oracle_equal, sum.memory_equal), (8, Some(true), None));
    assert_eq!(sum.find("tail").unwrap().diverged(), 2);
    assert_eq!(sum.find("steps").unwrap().executions(), 16);
}

#[test]
fn times_are_compared_with_the_emulators_clock() {
    let record = |wave, begin, end| WaveRecord {
        workgroup: [0; 3],
        wave,
        flushed: true,
        sites: Vec::new(),
        blocks: Vec::new(),
        time: Some(WaveTime { begin, end }),
    };
    // 100 instructions, 64 ticks for the second reading, and up to 24 of the probe's own.
    let records = [record(0, 1000, 1164), record(1, 1000, 1188)];
    assert_eq!(compare_times(&records, &[100, 100], 10), []);
    for end in [1163, 1189, 999] {
        let wave = WaveId { workgroup: [0; 3], wave: 0 };
        let counted = record(0, 1000, end).time.unwrap().ticks();
        let told = compare_times(&[record(0, 1000, end)], &[100], 10);
        assert_eq!(told, [Disagreement::Time { wave, seen: 164, counted }]);
    }
    let unfinished = WaveRecord { flushed: false, ..record(0, 0, 0) };
    assert!(matches!(compare_times(&[unfinished], &[100], 10)[..], [Disagreement::Unfinished { .. }]));
}

#[test]
fn blocks_are_compared_with_each_instruction() {
    let block = BlockProbe {
        id: 0,
        pc: 0x100,
        end_pc: 0x10c,
        lanes_pcs: [0x104, 0x10c],
        instructions: 3,
        place: None,
        lines: Vec::new(),
        scalar_lines: Vec::new(),
        function: "demo".into(),
    };
    let probes = KernelProbes { probe: Probe::Blocks, blocks: vec![block], sites: Vec::new(), ..kernel() };
    let counts = |executions, lanes| BlockCounts { executions, lanes };
    let record = |counted| WaveRecord {
        workgroup: [0; 3],
        wave: 0,
        flushed: true,
        sites: Vec::new(),
        blocks: vec![counted],
        time: None,
    };
    // The first instruction does not depend on the lanes, and may have others.
    let native =
        |of_last| vec![BTreeMap::from([(0x100, counts(2, 128)), (0x104, counts(2, 70)), (0x108, of_last)])];
    let told = |counted, native: &[_]| compare_blocks(&probes, &[record(counted)], native, true, 10);
    let wave = WaveId { workgroup: [0; 3], wave: 0 };
    assert_eq!(told(counts(2, 70), &native(counts(2, 70))), []);
    for (counted, last, pc, seen) in [
        (counts(3, 70), counts(2, 70), 0x100, counts(2, 128)),
        (counts(2, 71), counts(2, 70), 0x104, counts(2, 70)),
        (counts(2, 70), counts(1, 70), 0x108, counts(1, 70)),
    ] {
        let expected = Disagreement::Block { block: 0, pc, wave, seen, counted };
        assert_eq!(told(counted, &native(last)), [expected]);
    }
    // A block that never ran, and an instruction that ran outside of all.
    let never = Disagreement::Block { block: 0, pc: 0x100, wave, seen: counts(0, 0), counted: counts(1, 64) };
    assert_eq!(told(counts(1, 64), &[BTreeMap::new()]), [never]);
    let outside = vec![BTreeMap::from([(0x200, counts(1, 64))])];
    assert_eq!(told(counts(0, 0), &outside), [Disagreement::NoBlock { pc: 0x200, wave }]);
    assert_eq!(compare_blocks(&probes, &[record(counts(0, 0))], &outside, false, 10), []);
    // Which may be in a block that was refused: no other refusal explains it.
    let detail = || "shared".to_owned();
    let lost = Disagreement::NoBlock { pc: 0x200, wave };
    for (refusal, told) in [
        (Refusal::of_block(0x1fc..0x204, Reason::SharedFunction, detail()), vec![]),
        (Refusal::of_block(0x200..0x204, Reason::SharedFunction, detail()), vec![]),
        (Refusal::of_block(0x204..0x208, Reason::SharedFunction, detail()), vec![lost.clone()]),
        (Refusal::of_block(0x1f0..0x200, Reason::SharedFunction, detail()), vec![lost.clone()]),
        (Refusal::at(0x200, Reason::SharedFunction, detail()), vec![lost.clone()]),
        (Refusal::of_kernel(Reason::SharedFunction, detail()), vec![lost.clone()]),
    ] {
        let refused = KernelProbes { refusals: vec![refusal], ..probes.clone() };
        assert_eq!(compare_blocks(&refused, &[record(counts(0, 0))], &outside, true, 10), told);
    }
}
