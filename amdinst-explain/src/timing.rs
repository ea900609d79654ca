//! A dispatch's timing by line of the source: as plain data, and as a table for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use amdgpu_object::lines::{Frame, SourceMap};
use amdinst_core::limiter;
use amdinst_emu::timing::{self, Breakdown, InstructionTime, SIMDS, Stall, Timing, WaveTime};
use amdinst_format::interface::{LineTime, Occupancy, Residency, TimingReport, Traffic};
use amdinst_format::probes::SiteFrame;
use amdinst_format::report::{Cycles, InstructionCycles, WaveSpan};

use crate::fault::nearest_frame;

/// Lines of the source that a table has.
const LINES: usize = 12;

/// The source line of each instruction that a dispatch ran, where the code object has it: the nearest of the
/// user's, as for a fault. Of a function that was not inlined, and is not the user's, its own.
#[derive(Clone, Debug)]
pub struct InstructionLines(Vec<Option<(String, u32)>>);

impl InstructionLines {
    /// Looks up the instructions of a dispatch.
    pub fn new(timing: &Timing, map: Option<&SourceMap>) -> Self {
        Self(timing.instructions.iter().map(|instruction| own_line(map, instruction.pc)).collect())
    }
}

/// A dispatch's timing as plain data.
pub fn timing_report(timing: &Timing, instruction_lines: &InstructionLines) -> TimingReport {
    let mut lines: BTreeMap<(&str, u32), (u64, Breakdown)> = BTreeMap::new();
    for (instruction, place) in timing.instructions.iter().zip(&instruction_lines.0) {
        let place = place.as_ref().map_or(("", 0), |(file, line)| (file, *line));
        let (executions, breakdown) = lines.entry(place).or_default();
        *executions += instruction.executions;
        breakdown.add(&instruction.breakdown);
    }
    let mut lines: Vec<LineTime> = lines
        .into_iter()
        .map(|((file, line), (executions, breakdown))| LineTime {
            file: file.to_owned(),
            line,
            executions,
            cycles: breakdown.total(),
            breakdown: cycles(&breakdown),
        })
        .collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.cycles));
    let timing::Residency { mean, least, median, most } = timing.residency();
    let timing::Traffic { l1_hits, l1_misses, l2_hits, l2_misses, hbm_read, hbm_written } = timing.traffic;
    TimingReport {
        device: timing.parameters.name.to_owned(),
        megahertz: timing.parameters.megahertz,
        compute_units: timing.parameters.compute_units,
        cycles: timing.cycles,
        seconds: timing.seconds(),
        waves: timing.waves.len() as u64,
        wave_instructions: timing.wave_instructions,
        residency: Residency { mean, least, median, most },
        occupancy: occupancy(&timing.occupancy),
        achieved_occupancy: timing.achieved,
        breakdown: cycles(&timing.breakdown),
        lines,
        traffic: Traffic { l1_hits, l1_misses, l2_hits, l2_misses, hbm_read, hbm_written },
    }
}

/// Where the cycles went, by instruction.
pub fn instruction_cycles(timing: &Timing, lines: &InstructionLines) -> Vec<InstructionCycles> {
    let instruction = |(time, place): (&InstructionTime, &Option<(String, u32)>)| {
        let (file, line) = place.clone().unzip();
        let (executions, cycles) = (time.executions, cycles(&time.breakdown));
        InstructionCycles { pc: time.pc, file, line, executions, cycles }
    };
    timing.instructions.iter().zip(&lines.0).map(instruction).collect()
}

/// When each wave ran, in order of number.
pub fn wave_spans(timing: &Timing) -> Vec<WaveSpan> {
    let span = |(wave, time): (usize, &WaveTime)| WaveSpan {
        compute_unit: time.compute_unit.into(),
        simd: time.simd.into(),
        start: time.start,
        end: time.end,
        wave: wave as u64,
    };
    timing.waves.iter().enumerate().map(span).collect()
}

/// File and line of an instruction: the place that a fault of it would be told at, as far as that needs no
/// calls.
pub(crate) fn own_line(map: Option<&SourceMap>, pc: u64) -> Option<(String, u32)> {
    let frame = |frame: Frame| SiteFrame {
        function: frame.function,
        file: Some(frame.file),
        line: Some(frame.line),
        column: None,
    };
    let frames = map?.frames(pc).into_iter().filter(|frame| !frame.file.is_empty() && frame.line != 0);
    let frames: Vec<_> = frames.map(frame).collect();
    let own = nearest_frame(&frames)?;
    Some((own.file.as_deref()?.to_owned(), own.line?))
}

/// Causes that did not occur are left out.
fn cycles(breakdown: &Breakdown) -> Cycles {
    let stalls = Stall::ALL.into_iter().map(|stall| (stall.name().to_owned(), breakdown.of(stall)));
    Cycles { issue: breakdown.issue, stalls: stalls.filter(|(_, cycles)| *cycles > 0).collect() }
}

fn occupancy(fitting: &amdgpu_object::Occupancy) -> Occupancy {
    Occupancy {
        waves_per_cu: fitting.waves_per_cu,
        waves_per_simd: fitting.waves_per_simd,
        max_waves_per_simd: fitting.max_waves_per_simd,
        limiter: limiter(fitting.limiter),
        by_vgprs: fitting.by_vgprs,
        by_sgprs: fitting.by_sgprs,
        by_lds: fitting.by_lds,
    }
}

/// A report as text for people; `short` shortens the names of files.
pub fn timing_table(report: &TimingReport, short: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    let Residency { mean, least, median, most } = report.residency;
    let _ = writeln!(
        text,
        "modeled on {} ({} compute units, {} MHz): {} cycles, {:.3} us",
        report.device,
        report.compute_units,
        report.megahertz,
        report.cycles,
        report.seconds * 1e6
    );
    let _ = writeln!(text, "  a wave      {mean:.0} cycles on average, {least} to {most}, median {median}");
    let _ = writeln!(
        text,
        "  occupancy   {} of {} waves a compute unit fit, limited by {}; {:.1} % of the slots were used",
        report.occupancy.waves_per_cu,
        report.occupancy.max_waves_per_simd * SIMDS as u32,
        report.occupancy.limiter.name(),
        100.0 * report.achieved_occupancy
    );
    let Traffic { l1_hits, l1_misses, l2_hits, l2_misses, hbm_read, hbm_written } = report.traffic;
    let share = |hits: u64, misses: u64| 100.0 * hits as f64 / (hits + misses).max(1) as f64;
    let _ = writeln!(
        text,
        "  memory      vL1D hits {:.1} %, L2 hits {:.1} %, HBM {hbm_read} bytes read, {hbm_written} written",
        share(l1_hits, l1_misses),
        share(l2_hits, l2_misses)
    );
    let _ = writeln!(text, "  wave-cycles {}", shares(&report.breakdown));
    let all = report.lines.iter().map(|line| line.cycles).sum::<u64>();
    let lines = &report.lines[..report.lines.len().min(LINES)];
    let places = lines.iter().map(|line| match line.file.as_str() {
        "" => "-".to_owned(),
        file => format!("{}:{}", short(file), line.line),
    });
    let places: Vec<String> = places.collect();
    let width = places.iter().map(|place| place.chars().count()).fold(36, usize::max);
    for (line, place) in lines.iter().zip(places) {
        let part = 100.0 * line.cycles as f64 / all.max(1) as f64;
        let _ = writeln!(text, "    {part:>5.1} %  {place:<width$} {}", shares(&line.breakdown));
    }
    text
}

/// Issue and causes in percent, the largest first.
fn shares(cycles: &Cycles) -> String {
    let mut parts: Vec<(&str, u64)> =
        cycles.stalls.iter().map(|(name, cycles)| (name.as_str(), *cycles)).collect();
    parts.push(("issue", cycles.issue));
    let all = parts.iter().map(|(_, cycles)| cycles).sum::<u64>().max(1);
    parts.sort_by_key(|(_, cycles)| std::cmp::Reverse(*cycles));
    let percent = |cycles: u64| 100.0 * cycles as f64 / all as f64;
    let told = parts.into_iter().filter(|(_, cycles)| percent(*cycles) >= 0.5).take(5);
    told.map(|(name, cycles)| format!("{name} {:.0} %", percent(cycles))).collect::<Vec<_>>().join(", ")
}
