//! The report for a terminal, in rustc's look: each branch that diverged under its source line, the worst
//! first. Branches of a dependency are one entry, under the user's line that called it; those whose
//! divergence is meant are counted alone.

use std::fmt::Write as _;

use amdinst_core::instrument::SiteFrame;
use amdinst_core::report::Location;
use amdinst_core::report::columns::{Layout, folded};
use amdinst_core::report::origin::short;
use amdinst_core::report::refused;
use amdinst_core::report::run::Sampled;
use amdinst_text::count;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::fault;
use crate::fold::{Dependency, Shown, fold};
use crate::lines;
use crate::memory;
use crate::sources::Sources;
use crate::summary::{Branch, KernelSummary, Resources, Summary, TestFault, Tests, Uncounted};

/// How to print.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// With colors.
    pub color: bool,
    /// Branches shown, at most; and so many lines of each kernel. 0 also leaves out probes without counts.
    pub top: usize,
    /// How wide, and whether branches of dependencies are shown one by one and paths whole.
    pub layout: Layout,
}

impl Default for Options {
    fn default() -> Self {
        Self { color: false, top: 10, layout: Layout::default() }
    }
}

/// Waves named under a branch, at most.
const WAVES: usize = 4;
/// Branches named under a dependency, at most.
const WORST: usize = 3;

/// The whole report. Ends with a newline.
pub fn render(summary: &Summary, sources: &Sources, options: &Options) -> String {
    let renderer = if options.color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(options.layout.width);
    let printer = Printer { renderer, sources, all: options.layout.all };
    let mut text = String::new();
    for fault in summary.unexpected_faults() {
        printer.fault(&mut text, fault, Level::ERROR);
    }
    for doubt in &summary.doubts {
        printer.fault(&mut text, doubt, Level::WARNING);
    }
    let branches = summary.worst_first();
    let diverged = fold(branches.into_iter().filter(|(_, branch)| branch.is_worth_a_warning()), printer.all);
    for shown in diverged.iter().take(options.top) {
        match shown {
            Shown::Branch(kernel, branch) => printer.branch(&mut text, kernel, branch),
            Shown::Dependency(dependency) => printer.dependency(&mut text, dependency),
        }
    }
    for kernel in &summary.kernels {
        if options.top > 0 {
            kernel.uncounted.iter().for_each(|probe| printer.uncounted(&mut text, kernel, probe));
        }
    }
    for (kernels, refusal) in refusals(summary, printer.all) {
        let of = match kernels[..] {
            [kernel] => kernel.to_owned(),
            _ => count(kernels.len() as u64, "kernel"),
        };
        printer.title(&mut text, Level::WARNING, &format!("{of}: not instrumented: {refusal}"));
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
        let _ = writeln!(text, "{}", folded(&heading(kernel), options.layout.width, 4));
        if let Some(moved) = kernel.resources.and_then(|resources| resources.moved_text()) {
            let _ = writeln!(text, "{}", folded(&format!("  {moved}"), options.layout.width, 4));
        }
        text.push_str(&lines::table(kernel, sources, options.top, &options.layout));
        if let Some(memory) = &kernel.memory {
            text.push_str(&memory::table(memory, options.top, &options.layout));
        }
    }
    if !summary.unlaunched.is_empty() {
        let _ = writeln!(text, "not launched: {}", summary.unlaunched_names().join(", "));
    }
    let not_selected = summary.not_selected_names();
    if !not_selected.is_empty() {
        let _ = writeln!(text, "not selected: {}", not_selected.join(", "));
    }
    let expected = summary.faults.iter().filter(|fault| fault.expected).count() as u64;
    if expected > 0 {
        let _ = writeln!(text, "{} in tests that passed", count(expected, "fault"));
    }
    for sampled in &summary.sampled {
        let _ = writeln!(text, "{}", sentence(sampled));
    }
    let hidden: usize = diverged.iter().skip(options.top).map(Shown::branches).sum();
    let mut more =
        if hidden == 0 { String::new() } else { format!("; {hidden} of them not shown, --top shows more") };
    let shown = diverged.iter().take(options.top);
    if shown.clone().any(|shown| matches!(shown, Shown::Dependency(_))) {
        more.push_str("; -v shows those of dependencies one by one");
    }
    let _ = writeln!(
        text,
        "{}: {}, {}{more}",
        summary.package,
        count(summary.kernels.len() as u64, "kernel"),
        found(summary)
    );
    text
}

/// What was not instrumented, with its kernels: a line for each kernel if all is asked for, else one for
/// those that share it.
fn refusals(summary: &Summary, all: bool) -> Vec<(Vec<&str>, String)> {
    let mut lines: Vec<(Vec<&str>, String)> = Vec::new();
    for kernel in &summary.kernels {
        let of_kernel = if all { kernel.refusals.clone() } else { refused::folded(&kernel.refusals) };
        for refusal in of_kernel {
            match lines.iter_mut().find(|(_, known)| !all && *known == refusal) {
                Some((kernels, _)) => kernels.push(&kernel.name),
                None => lines.push((vec![&kernel.name], refusal)),
            }
        }
    }
    lines
}

/// That not all tests were run, if so.
pub fn chosen(summary: &Summary) -> Option<String> {
    let words = summary.chosen_by.join(" ");
    (!words.is_empty()).then(|| {
        let Tests { passed, failed, .. } = summary.tests;
        format!(
            "this is the last run, which was of {} alone (`cargo amdinst test {words}`); `cargo amdinst test` runs all",
            count(passed + failed, "test")
        )
    })
}

/// What was looked for in some workgroups only.
pub(crate) fn sentence(sampled: &Sampled) -> String {
    let Sampled { kernel, check, workgroups, of } = sampled;
    let what = if check == "uninitialized" { "uninitialized values" } else { check };
    format!("{kernel}: looked for {what} in {workgroups} of {of} workgroups, to save time")
}

/// How many branches diverged; if blocks were measured instead, how many lines ran.
pub(crate) fn found(summary: &Summary) -> String {
    let all_branches = || summary.kernels.iter().flat_map(|kernel| &kernel.branches);
    let branches = all_branches().count() as u64;
    let lines = || summary.kernels.iter().flat_map(|kernel| &kernel.lines);
    let of_unlaunched = summary.unlaunched.iter().flat_map(|kernel| &kernel.lines);
    let all = lines().count() as u64 + of_unlaunched.map(|of_file| of_file.lines.len() as u64).sum::<u64>();
    if branches == 0 && all > 0 {
        let ran = lines().filter(|line| line.executions > 0).count();
        return format!("{ran} of {} ran", count(all, "line"));
    }
    let is_uncounted = |kernel: &KernelSummary| kernel.not_selected || !kernel.refusals.is_empty();
    if branches == 0 && summary.kernels.iter().any(is_uncounted) {
        return "no branch counted".to_owned();
    }
    let expected = all_branches().filter(|branch| branch.counts.diverged > 0 && branch.expected).count();
    let expected = if expected > 0 { format!(", {expected} as expected") } else { String::new() };
    format!("{} of {} diverged{expected}", summary.diverged_branches(), count(branches, "branch"))
}

struct Printer<'a> {
    renderer: Renderer,
    sources: &'a Sources,
    /// Paths are whole.
    all: bool,
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
        if branch.near {
            notes.push("it is near: the compiler gave it a line without a branch".to_owned());
        }
        notes.extend(self.inlined(&branch.frames));
        if branch.sites > 1 {
            notes.push(format!("the compiler made {} machine branches of it", branch.sites));
        }
        self.at(text, Level::WARNING, &title, &branch.location, &figures(branch), &notes);
    }

    /// Branches of a dependency, under the line that called it.
    fn dependency(&self, text: &mut String, dependency: &Dependency<'_>) {
        let counts = dependency.counts();
        let title = format!(
            "{} of {} in {} diverged in {} of {} ({:.1} %)",
            count(dependency.branches.len() as u64, "branch"),
            dependency.package,
            dependency.kernel.name,
            counts.diverged,
            count(counts.executions, "execution"),
            100.0 * counts.divergence()
        );
        let worst = dependency.branches.iter().take(WORST).map(|branch| {
            let place = if self.all { branch.location.to_string() } else { branch.location.short() };
            format!("{} at {place}: {}", branch.title(), branch.lost)
        });
        let mut notes = vec![format!("the worst: {}", worst.collect::<Vec<_>>().join("\n  "))];
        let label = match dependency.caller {
            Some(_) => format!("called here; {}", dependency.lost()),
            None => {
                notes.push("it was not inlined, so that its callers are not known".to_owned());
                dependency.lost().to_string()
            }
        };
        self.at(text, Level::WARNING, &title, &dependency.place(), &label, &notes);
    }

    fn uncounted(&self, text: &mut String, kernel: &KernelSummary, probe: &Uncounted) {
        let level = if probe.outcome == "refused" { Level::WARNING } else { Level::NOTE };
        let title = format!("probe `{}` of {} has no counts: {}", probe.probe, kernel.name, probe.outcome);
        self.at(text, level, &title, &probe.location, explain(&probe.outcome), &[]);
    }

    fn fault(&self, text: &mut String, fault: &TestFault, level: Level<'_>) {
        let TestFault { test, fault, .. } = fault;
        let group = fault::group(fault, self.sources, &[format!("in test `{test}`")], level);
        let _ = writeln!(text, "{}\n", self.renderer.render(&[group]));
    }

    /// The calls that an inlined function's place came by.
    fn inlined(&self, frames: &[SiteFrame]) -> Option<String> {
        // The calls of libraries inside of each other say little.
        let is_shown = |frame: &&SiteFrame| self.all || Location::from(*frame).origin().is_own();
        let shown: Vec<&SiteFrame> = frames.iter().filter(is_shown).collect();
        if frames.len() < 2 || shown.len() < 2 {
            return None;
        }
        let frame = |frame: &&SiteFrame| {
            let (location, name) = (Location::from(*frame), frame.function.as_deref().unwrap_or("<unknown>"));
            match self.all {
                true => format!("{name} at {location}"),
                false => format!("{} at {}", without_types(name), location.short()),
            }
        };
        Some(format!("inlined: {}", shown.iter().map(frame).collect::<Vec<_>>().join("\n  in ")))
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
        let path = if self.all { path.into() } else { short(path) };
        let path = path.as_ref();
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

/// A function's name without the types that it is an instance for: `fold` of
/// `fold<u32, {closure_env#0}<f32>>`.
fn without_types(name: &str) -> String {
    // `{closure_env#0}`, `<A as B>::f` and `operator<` begin with what stands in brackets here.
    match name.find('<') {
        Some(at) if at > 0 && name.ends_with('>') => name[..at].trim_end_matches("::").to_owned(),
        _ => name.to_owned(),
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
        branch.average_lanes_active,
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

/// What an outcome without counts means.
pub(crate) fn explain(outcome: &str) -> &'static str {
    match outcome {
        "uniform" => "its condition is the same in every lane: it cannot diverge",
        "if-converted" => "both sides are computed and a select picks: no lane is ever switched off",
        "removed" => "the compiler left no code for it",
        "refused" => "its sites could not be instrumented safely",
        "not-selected" | "left-out" => "`--probe` or `--line` chose other branches",
        _ => "",
    }
}

/// How many waves a kernel had, and their lanes where these are not the usual number.
fn all_waves(kernel: &KernelSummary) -> String {
    let waves = count(kernel.waves, "wave");
    if kernel.lanes.is_default() { waves } else { format!("{waves} of {} lanes", kernel.lanes.get()) }
}

/// A kernel in a line: launches, waves, and what the probes took.
pub(crate) fn heading(kernel: &KernelSummary) -> String {
    let mut text = format!(
        "{} on {}: {}, {}",
        kernel.name,
        kernel.cpu,
        count(kernel.launches, "launch"),
        all_waves(kernel)
    );
    if let Some(resources) = &kernel.resources {
        let Resources { sgprs, vgprs, lds, scratch, .. } = resources;
        let mut change = |name: &str, [before, after]: [u32; 2]| {
            if before != after {
                let _ = write!(text, ", {name} {before} -> {after}");
            }
        };
        change("SGPRs", *sgprs);
        change("VGPRs", *vgprs);
        change("LDS", *lds);
        change("scratch", *scratch);
        let _ = write!(text, ", occupancy {}", resources.occupancy_text(" -> "));
    }
    if let Some(time) = &kernel.time {
        let _ = write!(text, ", ticks {} to {}, median {}", time.least, time.most, time.median);
    }
    if let Some(modelled) = &kernel.modelled {
        let _ = write!(
            text,
            ", modeled on {}: {:.0} cycles a launch ({})",
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
