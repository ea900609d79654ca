//! The report for a terminal, in rustc's look: each branch that diverged under its source line, the worst first.

use std::fmt::Write as _;

use amdinst_core::instrument::SiteFrame;
use amdinst_core::report::Location;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::fault;
use crate::lines;
use crate::sources::Sources;
use crate::summary::{Branch, KernelSummary, Resources, Summary, TestFault, Uncounted};

/// How to print.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// With colours.
    pub color: bool,
    /// Branches shown, at most; and so many lines of each kernel.
    pub top: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { color: false, top: 10 }
    }
}

/// Waves named under a branch, at most.
const WAVES: usize = 4;

/// The whole report. Ends with a newline.
pub fn render(summary: &Summary, sources: &Sources, options: &Options) -> String {
    let renderer = if options.color { Renderer::styled() } else { Renderer::plain() };
    let printer = Printer { renderer, sources };
    let mut text = String::new();
    for fault in summary.unexpected_faults() {
        printer.fault(&mut text, fault);
    }
    let branches = summary.worst_first();
    let diverged: Vec<_> = branches.iter().filter(|(_, branch)| branch.counts.diverged > 0).collect();
    for (kernel, branch) in diverged.iter().take(options.top) {
        printer.branch(&mut text, kernel, branch);
    }
    for kernel in &summary.kernels {
        kernel.uncounted.iter().for_each(|probe| printer.uncounted(&mut text, kernel, probe));
        for refusal in &kernel.refusals {
            printer.title(
                &mut text,
                Level::WARNING,
                &format!("{}: not instrumented: {refusal}", kernel.name),
            );
        }
    }
    for program in &summary.unfinished_programs {
        let message =
            format!("test program `{program}` did not come to its end; its other tests are missing here");
        printer.title(&mut text, Level::WARNING, &message);
    }
    for file in sources.changed() {
        let message = format!(
            "{file} has changed since the run; what is shown of it may be another line than was measured"
        );
        printer.title(&mut text, Level::WARNING, &message);
    }
    for kernel in &summary.kernels {
        let _ = writeln!(text, "{}", heading(kernel));
        text.push_str(&lines::table(kernel, sources, options.top));
    }
    if !summary.unlaunched.is_empty() {
        let _ = writeln!(text, "not launched: {}", summary.unlaunched_names().join(", "));
    }
    let expected = summary.faults.iter().filter(|fault| fault.expected).count() as u64;
    if expected > 0 {
        let _ = writeln!(text, "{} in tests that passed", count(expected, "fault"));
    }
    let hidden = diverged.len().saturating_sub(options.top);
    let more =
        if hidden == 0 { String::new() } else { format!("; {hidden} of them not shown, --top shows more") };
    let _ = writeln!(
        text,
        "{}: {}, {}{more}",
        summary.package,
        count(summary.kernels.len() as u64, "kernel"),
        found(summary)
    );
    text
}

/// How many branches diverged; if blocks were measured instead, how many lines ran.
pub(crate) fn found(summary: &Summary) -> String {
    let branches = summary.kernels.iter().map(|kernel| kernel.branches.len() as u64).sum();
    let lines = || summary.kernels.iter().flat_map(|kernel| &kernel.lines);
    let of_unlaunched = summary.unlaunched.iter().flat_map(|kernel| &kernel.lines);
    let all = lines().count() as u64 + of_unlaunched.map(|of_file| of_file.lines.len() as u64).sum::<u64>();
    if branches == 0 && all > 0 {
        let ran = lines().filter(|line| line.executions > 0).count();
        return format!("{ran} of {} ran", count(all, "line"));
    }
    format!("{} of {} diverged", summary.diverged_branches(), count(branches, "branch"))
}

struct Printer<'a> {
    renderer: Renderer,
    sources: &'a Sources,
}

impl Printer<'_> {
    fn branch(&self, text: &mut String, kernel: &KernelSummary, branch: &Branch) {
        let counts = &branch.counts;
        let title = format!(
            "{} of {} diverged in {} of {} ({:.1} %)",
            branch.title(),
            kernel.name,
            counts.diverged,
            count(counts.executions, "execution"),
            branch.diverged_percent
        );
        let mut notes = vec![waves(branch)];
        notes.extend(inlined(&branch.frames));
        if branch.sites > 1 {
            notes.push(format!("the compiler made {} machine branches of it", branch.sites));
        }
        self.at(text, Level::WARNING, &title, &branch.location, &figures(branch), &notes);
    }

    fn uncounted(&self, text: &mut String, kernel: &KernelSummary, probe: &Uncounted) {
        let level = if probe.outcome == "refused" { Level::WARNING } else { Level::NOTE };
        let title = format!("probe `{}` of {} has no counts: {}", probe.probe, kernel.name, probe.outcome);
        self.at(text, level, &title, &probe.location, explain(&probe.outcome), &[]);
    }

    fn fault(&self, text: &mut String, fault: &TestFault) {
        let TestFault { test, fault, .. } = fault;
        let group = fault::group(fault, self.sources, &[format!("in test `{test}`")], Level::ERROR);
        let _ = writeln!(text, "{}\n", self.renderer.render(&[group]));
    }

    fn title(&self, text: &mut String, level: Level<'_>, title: &str) {
        let group = Group::with_title(level.primary_title(title));
        let _ = writeln!(text, "{}\n", self.renderer.render(&[group]));
    }

    /// A title, the source line with what is meant underlined, and notes.
    fn at(
        &self,
        text: &mut String,
        level: Level<'_>,
        title: &str,
        location: &Location,
        label: &str,
        notes: &[String],
    ) {
        let path = location.file.as_deref().unwrap_or("<unknown>");
        let source = location.file.as_deref().and_then(|file| self.sources.get(file));
        let span = source.as_ref().and_then(|source| Some((source.text.as_str(), source.span(location)?)));
        let group = level.primary_title(title);
        let mut group = match span {
            Some((source, span)) => {
                let annotation = AnnotationKind::Primary.span(span).label(label);
                group.element(Snippet::source(source).path(path).annotation(annotation))
            }
            None => {
                let mut origin = Origin::path(path);
                if let Some(line) = location.line {
                    origin = origin.line(line as usize);
                    if let Some(column) = location.column {
                        origin = origin.char_column(column as usize);
                    }
                }
                let group = group.element(origin);
                if label.is_empty() { group } else { group.element(Level::NOTE.message(label)) }
            }
        };
        for note in notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        let _ = writeln!(text, "{}\n", self.renderer.render(&[group]));
    }
}

/// What stands under the source line.
fn figures(branch: &Branch) -> String {
    if !branch.has_lanes() {
        return "lanes not counted".to_owned();
    }
    let executions = branch.counts.executions.max(1) as f64;
    format!(
        "{:.1} of {:.1} lanes stay active on average; {}",
        branch.average_active,
        branch.counts.lanes_in as f64 / executions,
        branch.lost
    )
}

/// In which waves it diverged: the first few by name.
fn waves(branch: &Branch) -> String {
    let all = format!("diverged in {} of {}", branch.waves_diverged, count(branch.waves_here, "wave"));
    let diverged = branch.waves.iter().filter(|wave| wave.wave.counts.diverged > 0);
    let several = branch.waves.last().is_some_and(|last| last.launch > 0);
    let name = |wave: &crate::summary::LaunchWave| {
        if several {
            format!("launch {}, {}", wave.launch + 1, wave.wave.id)
        } else {
            wave.wave.id.to_string()
        }
    };
    let mut names: Vec<_> = diverged.take(WAVES + 1).map(name).collect();
    if names.is_empty() {
        return all;
    }
    if names.len() > WAVES {
        names[WAVES] = "…".to_owned();
    }
    format!("{all}: {}", names.join(", "))
}

/// The calls that an inlined function's place came by.
fn inlined(frames: &[SiteFrame]) -> Option<String> {
    if frames.len() < 2 {
        return None;
    }
    let frame = |frame: &SiteFrame| {
        let location = Location::from(frame);
        format!("{} at {location}", frame.function.as_deref().unwrap_or("<unknown>"))
    };
    Some(format!("inlined: {}", frames.iter().map(frame).collect::<Vec<_>>().join("\n  in ")))
}

/// What an outcome without counts means.
pub(crate) fn explain(outcome: &str) -> &'static str {
    match outcome {
        "uniform" => "its condition is the same in every lane: it cannot diverge",
        "if-converted" => "both sides are computed and a select picks: no lane is ever switched off",
        "removed" => "the compiler left no code for it",
        "refused" => "its sites could not be instrumented safely",
        "left-out" => "only other branches were asked for",
        _ => "",
    }
}

/// A kernel in a line: launches, waves, and what the probes took.
pub(crate) fn heading(kernel: &KernelSummary) -> String {
    let mut text = format!(
        "{} on {}: {}, {}",
        kernel.name,
        kernel.cpu,
        count(kernel.launches, "launch"),
        count(kernel.waves, "wave")
    );
    if let Some(resources) = &kernel.resources {
        let Resources { sgprs, vgprs, lds, scratch, occupancy } = resources;
        let mut change = |name: &str, [before, after]: [u32; 2]| {
            if before != after {
                let _ = write!(text, ", {name} {before} -> {after}");
            }
        };
        change("SGPRs", *sgprs);
        change("VGPRs", *vgprs);
        change("LDS", *lds);
        change("scratch", *scratch);
        let [before, after] = *occupancy;
        let _ = match before == after {
            true => write!(text, ", occupancy {before}"),
            false => write!(text, ", occupancy {before} -> {after}"),
        };
    }
    if let Some(time) = &kernel.time {
        let _ = write!(text, ", ticks {} to {}, median {}", time.least, time.most, time.median);
    }
    if let Some(modelled) = &kernel.modelled {
        let _ = write!(
            text,
            ", modelled on {}: {:.0} cycles a launch ({})",
            modelled.device,
            modelled.cycles_a_launch(),
            modelled.largest(2)
        );
        if let Some(slowdown) = modelled.slowdown() {
            let _ = write!(text, ", {slowdown:.2}x when counted");
        }
    }
    text
}

/// `1 launch`, `2 launches`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    let plural = match thing {
        _ if number == 1 => "",
        _ if thing.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{number} {thing}{plural}")
}
