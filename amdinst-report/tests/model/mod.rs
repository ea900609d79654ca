//! A run made up by hand, with its source, so that every figure in the tests can be worked out on paper.
//!
//! `demo` was launched twice with two waves each:
//!
//! | branch | launch, wave | executions | all | none | diverged | lanes |
//! |---|---|--:|--:|--:|--:|---|
//! | `tail`, 4:8 | 0, 0 | 1 | 1 | 0 | 0 | 64 of 64 |
//! | | 0, 1 | 1 | 0 | 0 | 1 | 36 of 64 |
//! | | 1, 0 | 1 | 1 | 0 | 0 | 64 of 64 |
//! | | 1, 1 | 1 | 0 | 1 | 0 | 0 of 64 |
//! | loop, 5:15, first site | 0, 0 | 4 | 0 | 1 | 3 | 6 of 10 |
//! | loop, 5:15, second site | 0, 0 | 5 | 4 | 1 | 0 | 256 of 320 |
//!
//! Both launches of `demo` were modelled: 1000 and 1400 cycles, half as much again when instrumented. Of the
//! wave-cycles the loop took 300 and 500, the branch 60 each.
//!
//! The tail lost the 28 lanes of one wave. Of the first site's loop 4 lanes left after 1, 2, 3 and 4 rounds,
//! so that 0, 1, 2 and 3 were idle: 6. Of the second all 64 left together.

use amdinst_core::counters::{BlockCounts, Probe};
use amdinst_core::instrument::{Cost, Occupancy, SiteFrame};
use amdinst_core::report::run::{
    EarlierReport, Ending, FaultReport, KernelFacts, Program, Run, SCHEMA, Sampled, SiteFacts, SourceStamp,
    Test, content_hash,
};
use amdinst_core::report::{
    BlockReport, Counts, Cycles, InstructionCycles, Location, Modelled, Outcome, ProbeReport, Report,
    SiteReport, WaveId, WaveReport, WaveSpan,
};
use amdinst_report::Sources;

pub(crate) const SOURCE: &str = "\
//! A made-up kernel.

pub unsafe fn demo(n: i32) {
    if i < n {
        while value > 1 {
            step();
        }
    }
    let leak = if x > 0.0 { x } else { y };
}
";

/// The source in a directory of its own.
pub(crate) fn sources() -> (tempfile::TempDir, Sources) {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("src")).unwrap();
    std::fs::write(directory.path().join("src/demo.rs"), SOURCE).unwrap();
    let sources = Sources::new(directory.path(), &run().sources);
    (directory, sources)
}

pub(crate) fn location(line: u32, column: u32) -> Location {
    Location { file: Some("src/demo.rs".to_owned()), line: Some(line), column: Some(column) }
}

pub(crate) fn frame(function: &str, line: u32, column: u32) -> SiteFrame {
    SiteFrame {
        function: Some(function.into()),
        file: Some("src/demo.rs".into()),
        line: Some(line),
        column: Some(column),
    }
}

/// Wave, executions, all, none, lanes before, lanes after.
type Row = (u32, u64, u64, u64, u64, u64);

pub(crate) fn site(id: u32, kind: &str, place: Location, name: Option<&str>, rows: &[Row]) -> SiteReport {
    let wave = |&(wave, executions, all, none, lanes_in, lanes_taken): &Row| WaveReport {
        id: WaveId { workgroup: [0, 0, 0], wave },
        counts: Counts { executions, all, none, diverged: executions - all - none, lanes_in, lanes_taken },
    };
    let waves: Vec<_> = rows.iter().map(wave).collect();
    SiteReport {
        id,
        kind: kind.to_owned(),
        pc: 0x1000 + 0x10 * u64::from(id),
        location: place,
        near: false,
        name: name.map(str::to_owned),
        caller: None,
        expected: false,
        counts: waves.iter().map(|wave| wave.counts).sum(),
        waves,
        left_out: None,
    }
}

pub(crate) fn launch(kernel: &str, waves: u64, sites: Vec<SiteReport>) -> Report {
    Report {
        schema: 1,
        kernel: kernel.to_owned(),
        demangled: None,
        target: "gfx90a".to_owned(),
        probe: Default::default(),
        lanes: Default::default(),
        counter_storage: if sites.is_empty() { "none" } else { "register" }.to_owned(),
        grid: [1, 1, 1],
        block: [64 * waves as u32, 1, 1],
        waves,
        unfinished: Vec::new(),
        memory_equal: Some(true),
        oracle_equal: Some(true),
        blocks: Vec::new(),
        time: None,
        sites,
        probes: Vec::new(),
        sites_not_selected: Vec::new(),
        uniform: Vec::new(),
        not_instrumented: None,
        not_selected: false,
        refusals: Vec::new(),
    }
}

fn demo(second: bool) -> Report {
    let last = if second { (1, 1, 0, 1, 64, 0) } else { (1, 1, 0, 0, 64, 36) };
    let rounds = |id, row| {
        let rows: &[Row] = if second { &[] } else { &[row] };
        site(id, "loop-exit", location(5, 15), None, rows)
    };
    let mut report = launch(
        "demo",
        2,
        vec![
            site(0, "if", location(4, 8), Some("tail"), &[(0, 1, 1, 0, 64, 64), last]),
            rounds(1, (0, 4, 0, 1, 10, 6)),
            rounds(2, (0, 5, 4, 1, 320, 256)),
        ],
    );
    report.probes = vec![
        ProbeReport {
            name: "tail".to_owned(),
            location: location(4, 8),
            outcome: Outcome::Counted { sites: vec![0] },
        },
        ProbeReport { name: "leak".to_owned(), location: location(9, 19), outcome: Outcome::IfConverted },
    ];
    report.refusals = vec!["pc 0x40: its mask could not be traced".to_owned()];
    report
}

fn test(name: &str, launches: Vec<Report>) -> Test {
    Test {
        name: name.to_owned(),
        ending: Ending::Passed,
        message: None,
        launches,
        faults: Vec::new(),
        doubts: Vec::new(),
        sampled: Vec::new(),
        modelled: Vec::new(),
        memory: Vec::new(),
    }
}

/// A test with a launch that was modelled: `cycles`, and `waiting` wave-cycles for memory at the loop.
fn modelled(mut test: Test, cycles: u64, waiting: u64) -> Test {
    let instruction = |pc, line, issue, stalls: &[(&str, u64)]| InstructionCycles {
        pc,
        file: Some("src/demo.rs".to_owned()),
        line: Some(line),
        executions: issue / 4,
        cycles: Cycles {
            issue,
            stalls: stalls.iter().map(|(name, cycles)| ((*name).to_owned(), *cycles)).collect(),
        },
    };
    test.modelled = vec![Modelled {
        kernel: "demo".to_owned(),
        device: "mi210".to_owned(),
        megahertz: 1700,
        cycles,
        instrumented_cycles: Some(cycles + cycles / 2),
        waves: 2,
        achieved_occupancy: 0.25,
        instructions: vec![
            instruction(0x1000, 4, 40, &[("dependency", 20)]),
            instruction(0x1010, 5, 100, &[("vector-memory", waiting)]),
        ],
        spans: vec![
            WaveSpan { compute_unit: 0, simd: 0, start: 0, end: cycles / 2, wave: 0 },
            WaveSpan { compute_unit: 0, simd: 0, start: cycles / 2, end: cycles, wave: 1 },
        ],
    }];
    test
}

/// Where `libm` is on some machine.
pub(crate) const LIBM: &str =
    "/home/somebody/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/libm-0.2.16/src/math/powf.rs";

/// The run of [`run`] with a dependency and a leader: the first launch of `demo` has three more branches of
/// `libm`, at lines 85 and 90 of [`LIBM`], which line 6 led to, and at line 99, which was not inlined. Each
/// diverged once, with 32, 16 and 8 of 64 lanes active. `other` has a branch `leader`, whose divergence is
/// meant: 1 of 64 lanes went on.
pub(crate) fn with_a_dependency() -> Run {
    let mut run = run();
    let place = |line| Location { file: Some(LIBM.to_owned()), line: Some(line), column: Some(8) };
    let tests = &mut run.programs[0].tests;
    for (id, line, lanes, is_inlined) in [(3, 85, 32, true), (4, 90, 16, true), (5, 99, 8, false)] {
        let mut site = site(id, "if", place(line), None, &[(0, 1, 0, 0, 64, lanes)]);
        site.caller = is_inlined.then(|| location(6, 13));
        tests[1].launches[0].sites.push(site);
        let mut frames = vec![SiteFrame { file: Some(LIBM.into()), ..frame("powf", line, 8) }];
        frames.extend(is_inlined.then(|| frame("demo", 6, 13)));
        let instruction = "s_and_saveexec_b64 s[0:1], vcc".to_owned();
        let pc = 0x1000 + 0x10 * u64::from(id);
        run.kernels[0].sites.push(SiteFacts { pc, instruction, frames, loop_depth: 0 });
    }
    let mut leader = site(9, "if", location(6, 13), Some("leader"), &[(0, 1, 0, 0, 64, 1)]);
    leader.expected = true;
    tests[0].launches[0].sites.push(leader);
    run
}

/// The run of [`run`] with blocks for branches: `demo` alone, twice. Each launch has two blocks at line 5,
/// which ran 3 and 9 times with 64 and 40 lanes, one at line 4 that ran twice, of 50 lanes each, and one at
/// line 9 that never ran.
pub(crate) fn blocks() -> Run {
    let block = |id: u32, line, executions, lanes| BlockReport {
        id,
        pc: 0x1000 + 0x10 * u64::from(id),
        end_pc: 0x1010 + 0x10 * u64::from(id),
        instructions: 4,
        location: location(line, 5),
        lines: Vec::new(),
        scalar_lines: Vec::new(),
        function: "demo".to_owned(),
        counts: BlockCounts { executions, lanes },
        waves: Vec::new(),
        waves_left_out: 0,
    };
    let mut run = run();
    let tests = &mut run.programs[0].tests;
    tests.retain(|test| test.ending == Ending::Passed);
    for test in tests {
        test.modelled.clear();
        let launch = &mut test.launches[0];
        launch.probe = Probe::Blocks;
        (launch.sites, launch.probes, launch.refusals) = Default::default();
        launch.blocks =
            vec![block(0, 4, 2, 100), block(1, 5, 3, 192), block(2, 5, 9, 360), block(3, 9, 0, 0)];
    }
    run.kernels.truncate(1);
    run.kernels[0].sites.clear();
    run
}

pub(crate) fn run() -> Run {
    let site = |id: u64, frames: Vec<SiteFrame>| SiteFacts {
        pc: 0x1000 + 0x10 * id,
        instruction: "s_and_saveexec_b64 s[0:1], vcc".to_owned(),
        frames,
        loop_depth: 0,
    };
    let inlined = || vec![frame("countdown", 5, 15), frame("demo", 6, 9)];
    let fault = FaultReport {
        kernel: "other".to_owned(),
        kind: "out-of-bounds".to_owned(),
        message: "out of bounds: read of 4 bytes at 0x10 | so".to_owned(),
        panic: None,
        location: location(6, 13),
        frames: vec![frame("step", 6, 13)],
        pc: Some(0x2000),
        executed_pc: None,
        instruction: "global_load_dword v0, v[0:1], off".to_owned(),
        wave: WaveId { workgroup: [1, 0, 0], wave: 2 },
        lane: Some(7),
        earlier: None,
        waves: Vec::new(),
        help: vec!["compare the index".to_owned()],
        why: None,
    };
    let doubt = FaultReport {
        kernel: "demo".to_owned(),
        kind: "atomicity-unknown".to_owned(),
        message: "data race (unless both accesses are atomic) in LDS: write of 4 bytes at 0x10, after a read by wave 0 with \
                  no barrier in between"
            .to_owned(),
        location: location(4, 8),
        frames: vec![frame("demo", 4, 8)],
        instruction: "ds_write_b32 v0, v1".to_owned(),
        earlier: Some(EarlierReport {
            location: location(5, 15),
            frames: vec![frame("demo", 5, 15)],
            pc: Some(0x1f00),
            instruction: "ds_read_b32 v0, v1".to_owned(),
        }),
        ..fault.clone()
    };
    let mut failed = test("fails", vec![launch("other", 1, Vec::new())]);
    failed.ending = Ending::Failed;
    failed.message = Some("a <fault>".to_owned());
    failed.faults = vec![fault];
    // In two launches, and told once.
    failed.doubts = vec![doubt.clone(), doubt];
    let sampled = |kernel: &str, workgroups| Sampled {
        kernel: kernel.to_owned(),
        check: "races".to_owned(),
        workgroups,
        of: 256,
    };
    failed.sampled = vec![sampled("demo", 32), sampled("other", 30), sampled("demo", 40)];
    let demo_cost = Cost {
        sgprs: [10, 18],
        vgprs: [8, 8],
        occupancy: Occupancy { before: 8, after: 7, ..Occupancy::default() },
        ..Cost::default()
    };
    let other_cost = Cost {
        sgprs: [6, 6],
        occupancy: Occupancy { before: 4, after: 4, ..Occupancy::default() },
        ..Cost::default()
    };
    let facts = |name: &str, cost: Cost, sites| KernelFacts {
        name: name.to_owned(),
        cpu: "gfx90a".to_owned(),
        code_object: "gfx90a/release/demo.elf".to_owned(),
        code_object_hash: content_hash(b""),
        cost: Some(cost),
        workgroup: None,
        moved_lds: None,
        sites,
    };
    Run {
        schema: SCHEMA,
        package: "demo-kernels".to_owned(),
        profile: "release".to_owned(),
        programs: vec![Program {
            name: "kernels".to_owned(),
            cpu: "gfx90a".to_owned(),
            finished: true,
            tests: vec![
                failed,
                modelled(test("first", vec![demo(false)]), 1000, 200),
                modelled(test("second", vec![demo(true)]), 1400, 400),
            ],
        }],
        kernels: vec![
            facts(
                "demo",
                demo_cost,
                vec![site(0, vec![frame("demo", 4, 8)]), site(1, inlined()), site(2, inlined())],
            ),
            facts("other", other_cost, Vec::new()),
        ],
        unlaunched: Vec::new(),
        chosen_by: Vec::new(),
        sources: vec![SourceStamp { file: "src/demo.rs".to_owned(), hash: content_hash(SOURCE.as_bytes()) }],
    }
}
