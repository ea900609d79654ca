//! A dispatch's timing as plain data: the JSON form, and a table for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use amdinst_core::analysis::{Occupancy, SIMDS};
use amdinst_core::instrument::SiteFrame;
use amdinst_core::object::lines::{Frame, SourceMap};
use amdinst_core::report::{Cycles, InstructionCycles, WaveSpan};
use serde::Serialize;

use super::hierarchy::Traffic;
use super::outcome::{InstructionTime, Residency, Timing, WaveTime};
use super::stall::{Breakdown, Stall};
use crate::check::nearest_frame;

/// What the model says of a dispatch. Every figure is modelled, none measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimingReport {
    /// The device that was modelled.
    pub device: &'static str,
    /// Its engine clock.
    pub megahertz: u32,
    /// Its compute units.
    pub compute_units: u32,
    /// Cycles from the dispatch's start until its last wave has left.
    pub cycles: u64,
    /// The same in seconds.
    pub seconds: f64,
    /// Waves.
    pub waves: u64,
    /// Instructions, summed over waves.
    pub wave_instructions: u64,
    /// How long waves were there.
    pub residency: Residency,
    /// Waves that fit.
    pub occupancy: Occupancy,
    /// Waves that were there, on average, of the device's wave slots.
    pub achieved_occupancy: f64,
    /// Where the waves' cycles went.
    pub breakdown: BreakdownView,
    /// The same by line of the source, the most expensive first; instructions without one are a line without file.
    pub lines: Vec<LineTime>,
    /// Memory traffic.
    pub traffic: Traffic,
}

/// Wave-cycles of issue, and of waiting by cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BreakdownView {
    /// Cycles of issue.
    pub issue: u64,
    /// Cycles of waiting, by [`Stall::name`]; causes that did not occur are left out.
    pub stalls: BTreeMap<&'static str, u64>,
}

impl From<&Breakdown> for BreakdownView {
    fn from(breakdown: &Breakdown) -> Self {
        let stalls = Stall::ALL.into_iter().map(|stall| (stall.name(), breakdown.of(stall)));
        Self { issue: breakdown.issue, stalls: stalls.filter(|(_, cycles)| *cycles > 0).collect() }
    }
}

/// One line of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineTime {
    /// The file; empty if unknown.
    pub file: String,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
    /// Wave-instructions.
    pub executions: u64,
    /// All of its wave-cycles.
    pub cycles: u64,
    /// Where they went.
    pub breakdown: BreakdownView,
}

/// Lines of the source that a table has.
const LINES: usize = 12;

/// The source lines of the instructions that a dispatch ran.
#[derive(Clone, Debug)]
pub struct InstructionLines(Vec<Option<(String, u32)>>);

impl Timing {
    /// The source line of each instruction, where the code object has it: the nearest of the user's, as for a fault.
    /// Of a function that was not inlined, and is not the user's, its own.
    pub fn instruction_lines(&self, map: Option<&SourceMap>) -> InstructionLines {
        InstructionLines(self.instructions.iter().map(|instruction| own_line(map, instruction.pc)).collect())
    }

    /// As plain data, with [`Self::instruction_lines`].
    pub fn report(&self, instruction_lines: &InstructionLines) -> TimingReport {
        let mut lines: BTreeMap<(&str, u32), (u64, Breakdown)> = BTreeMap::new();
        for (instruction, place) in self.instructions.iter().zip(&instruction_lines.0) {
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
                breakdown: (&breakdown).into(),
            })
            .collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.cycles));
        TimingReport {
            device: self.parameters.name,
            megahertz: self.parameters.megahertz,
            compute_units: self.parameters.compute_units,
            cycles: self.cycles,
            seconds: self.seconds(),
            waves: self.waves.len() as u64,
            wave_instructions: self.wave_instructions,
            residency: self.residency(),
            occupancy: self.occupancy,
            achieved_occupancy: self.achieved,
            breakdown: (&self.breakdown).into(),
            lines,
            traffic: self.traffic,
        }
    }

    /// Where the cycles went, by instruction, with [`Self::instruction_lines`].
    pub fn instruction_cycles(&self, lines: &InstructionLines) -> Vec<InstructionCycles> {
        let instruction = |(time, place): (&InstructionTime, &Option<(String, u32)>)| {
            let (file, line) = place.clone().unzip();
            let (executions, cycles) = (time.executions, (&time.breakdown).into());
            InstructionCycles { pc: time.pc, file, line, executions, cycles }
        };
        self.instructions.iter().zip(&lines.0).map(instruction).collect()
    }

    /// When each wave ran, in order of number.
    pub fn wave_spans(&self) -> Vec<WaveSpan> {
        let span = |(wave, time): (usize, &WaveTime)| WaveSpan {
            compute_unit: time.compute_unit.into(),
            simd: time.simd.into(),
            start: time.start,
            end: time.end,
            wave: wave as u64,
        };
        self.waves.iter().enumerate().map(span).collect()
    }
}

/// File and line of an instruction: the place that a fault of it would be told at, as far as that needs no calls.
fn own_line(map: Option<&SourceMap>, pc: u64) -> Option<(String, u32)> {
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

impl From<&Breakdown> for Cycles {
    fn from(breakdown: &Breakdown) -> Self {
        let BreakdownView { issue, stalls } = breakdown.into();
        Self { issue, stalls: stalls.into_iter().map(|(name, cycles)| (name.to_owned(), cycles)).collect() }
    }
}

impl TimingReport {
    /// The text for people; `short` shortens the names of files.
    pub fn table(&self, short: impl Fn(&str) -> String) -> String {
        let mut text = String::new();
        let Residency { mean, least, median, most } = self.residency;
        let _ = writeln!(
            text,
            "modelled on {} ({} compute units, {} MHz): {} cycles, {:.3} us",
            self.device,
            self.compute_units,
            self.megahertz,
            self.cycles,
            self.seconds * 1e6
        );
        let _ =
            writeln!(text, "  a wave      {mean:.0} cycles on average, {least} to {most}, median {median}");
        let _ = writeln!(
            text,
            "  occupancy   {} of {} waves a compute unit fit, limited by {}; {:.1} % of the slots were used",
            self.occupancy.waves_per_cu,
            self.occupancy.max_waves_per_simd * SIMDS,
            self.occupancy.limiter.name(),
            100.0 * self.achieved_occupancy
        );
        let Traffic { l1_hits, l1_misses, l2_hits, l2_misses, hbm_read, hbm_written } = self.traffic;
        let share = |hits: u64, misses: u64| 100.0 * hits as f64 / (hits + misses).max(1) as f64;
        let _ = writeln!(
            text,
            "  memory      vL1D hits {:.1} %, L2 hits {:.1} %, HBM {hbm_read} bytes read, {hbm_written} written",
            share(l1_hits, l1_misses),
            share(l2_hits, l2_misses)
        );
        let _ = writeln!(text, "  wave-cycles {}", shares(&self.breakdown));
        let all = self.lines.iter().map(|line| line.cycles).sum::<u64>();
        let lines = &self.lines[..self.lines.len().min(LINES)];
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
}

/// Issue and causes in percent, the largest first.
fn shares(breakdown: &BreakdownView) -> String {
    let mut parts: Vec<(&str, u64)> =
        breakdown.stalls.iter().map(|(name, cycles)| (*name, *cycles)).collect();
    parts.push(("issue", breakdown.issue));
    let all = parts.iter().map(|(_, cycles)| cycles).sum::<u64>().max(1);
    parts.sort_by_key(|(_, cycles)| std::cmp::Reverse(*cycles));
    let percent = |cycles: u64| 100.0 * cycles as f64 / all as f64;
    let told = parts.into_iter().filter(|(_, cycles)| percent(*cycles) >= 0.5).take(5);
    told.map(|(name, cycles)| format!("{name} {:.0} %", percent(cycles))).collect::<Vec<_>>().join(", ")
}
