//! A fault for a terminal, in rustc's look: what happened, the nearest line of the user's, who called it, and
//! behind that the frames of Rust's own library and of packages.
//!
//! Wherever a fault is told, in a test, by a command or in a report, it is told by this.

use amdinst_core::instrument::SiteFrame;
use amdinst_core::report::Location;
use amdinst_core::report::origin::short;
use amdinst_core::report::run::{EarlierReport, FaultReport, WaveStand};
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::sources::Sources;

/// Frames that are told of callers, and of what was called, at most.
const FRAMES: usize = 16;

/// The fault: its title first, as an error's message goes behind `error: `; what mends it last. Ends without
/// a newline.
pub fn text(fault: &FaultReport, sources: &Sources, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let group = group(fault, sources, &[], Level::ERROR.no_name());
    let mut text = renderer.render(&[group]).to_string();
    text.truncate(text.trim_end().len());
    text
}

/// What happened, for where there is no room for an excerpt: with the place of a race's other access.
pub(crate) fn sentence(fault: &FaultReport) -> String {
    match &fault.earlier {
        Some(earlier) if earlier.location.file.is_some() => {
            format!("{}, at {}", fault.message, earlier.location.short())
        }
        _ => fault.message.clone(),
    }
}

/// A fault as a part of a report, with more notes.
pub(crate) fn group<'a>(
    fault: &'a FaultReport,
    sources: &Sources,
    notes: &[String],
    level: Level<'a>,
) -> Group<'a> {
    let title = format!("kernel `{}`: {}", fault.kernel, fault.message);
    let mut group = Group::with_title(level.primary_title(title));
    // A trap's own instruction says nothing that its title does not; one of a function that the line calls,
    // nothing of the line.
    let instruction = |instruction: &str, frames: &[SiteFrame], location: &Location| {
        let own = fault.kind != "trap" && position(frames, location) == Some(0);
        if own { code(instruction) } else { String::new() }
    };
    let label = instruction(&fault.instruction, &fault.frames, &fault.location);
    let here = Mark { location: &fault.location, label, kind: AnnotationKind::Primary };
    let before = fault.earlier.as_ref().map(|earlier| {
        let EarlierReport { instruction: text, frames, location, .. } = earlier;
        let label = format!("before it {}", instruction(text, frames, location)).trim_end().to_owned();
        Mark { location, label, kind: AnnotationKind::Context }
    });
    let marks: Vec<Mark<'_>> = std::iter::once(here).chain(before).collect();
    match &*marks {
        // Both in one excerpt.
        [one, other] if one.location.file == other.location.file => group = excerpt(group, &marks, sources),
        marks => {
            group =
                marks.iter().fold(group, |group, mark| excerpt(group, std::slice::from_ref(mark), sources))
        }
    }
    let mut told: Vec<String> = notes.to_vec();
    told.extend(callers("called by", &fault.frames, &fault.location));
    if let Some(EarlierReport { frames, location, .. }) = &fault.earlier {
        told.extend(callers("before it, called by", frames, location));
    }
    told.extend(inside(&fault.frames, &fault.location));
    told.extend(place(fault));
    told.extend(standing(&fault.waves));
    told.extend(fault.why.as_ref().map(|why| why.human().trim_end().to_owned()));
    let group = told.into_iter().fold(group, |group, note| group.element(Level::NOTE.message(note)));
    fault.help.iter().fold(group, |group, help| group.element(Level::HELP.message(help)))
}

/// Where the waves of the workgroup are; those of one place are one. Nothing where there is one wave alone.
fn standing(waves: &[WaveStand]) -> Option<String> {
    if waves.len() < 2 {
        return None;
    }
    let mut groups: Vec<(&WaveStand, Vec<u32>)> = Vec::new();
    for wave in waves {
        // Of one that has ended, the line says nothing.
        let is_alike = |known: &WaveStand| {
            known.stand == wave.stand && (known.location == wave.location || wave.stand == "ended")
        };
        match groups.iter_mut().find(|(known, _)| is_alike(known)) {
            Some((_, numbers)) => numbers.push(wave.wave),
            None => groups.push((wave, vec![wave.wave])),
        }
    }
    let told = groups.into_iter().map(|(wave, numbers)| {
        let place = wave.location.short();
        let what = match (&*wave.stand, numbers.len()) {
            ("ended", 1) => "has ended".to_owned(),
            ("ended", _) => "have ended".to_owned(),
            ("at-barrier", 1) => format!("waits at the barrier at {place}"),
            ("at-barrier", _) => format!("wait at the barrier at {place}"),
            ("at-sync", 1) => format!("waits for other workgroups at {place}"),
            ("at-sync", _) => format!("wait for other workgroups at {place}"),
            ("halted", _) => format!("halted at {place}"),
            (_, 1) => format!("is at {place}"),
            _ => format!("are at {place}"),
        };
        format!("{} {what}{}", named(&numbers), lanes(wave, numbers.len()))
    });
    Some(format!("of the workgroup, {}", told.collect::<Vec<_>>().join("; ")))
}

/// How many lanes of a wave go on, where it is one alone, and some are off.
fn lanes(wave: &WaveStand, waves: usize) -> String {
    match (wave.exec.count_ones(), waves) {
        (active, 1) if active > 0 && wave.stand != "ended" => {
            format!(" with {}", amdinst_text::count(active, "active lane"))
        }
        _ => String::new(),
    }
}

/// `wave 3`, `waves 0 to 2 and 5`.
fn named(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let range = |&(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        1 => format!("{first} and {last}"),
        _ => format!("{first} to {last}"),
    };
    let noun = if numbers.len() == 1 { "wave" } else { "waves" };
    format!("{noun} {}", ranges.iter().map(range).collect::<Vec<_>>().join(", "))
}

/// A place to be marked.
struct Mark<'a> {
    location: &'a Location,
    label: String,
    kind: AnnotationKind,
}

/// Adds the lines of some places in one file; where there is no source, the places alone.
fn excerpt<'a>(group: Group<'a>, marks: &[Mark<'_>], sources: &Sources) -> Group<'a> {
    let Some(path) = marks[0].location.file.as_deref() else { return group };
    let source = sources.get(path);
    let spans: Option<Vec<_>> =
        source.as_ref().and_then(|source| marks.iter().map(|mark| source.span(mark.location)).collect());
    let name = short(path).into_owned();
    if let (Some(source), Some(spans)) = (&source, spans) {
        let annotations =
            marks.iter().zip(spans).map(|(mark, span)| mark.kind.span(span).label(mark.label.clone()));
        return group.element(Snippet::source(source.text.clone()).path(name).annotations(annotations));
    }
    marks.iter().fold(group, |group, Mark { location, label, .. }| {
        let mut origin = Origin::path(name.clone());
        if let Some(line) = location.line {
            origin = origin.line(line as usize);
            if let Some(column) = location.column {
                origin = origin.char_column(column as usize);
            }
        }
        let group = group.element(origin);
        if label.is_empty() { group } else { group.element(Level::NOTE.message(label.clone())) }
    })
}

/// The calls that led to a place.
fn callers(title: &str, frames: &[SiteFrame], location: &Location) -> Option<String> {
    list(title, &frames[position(frames, location)? + 1..])
}

/// What the place called: where the instruction is.
fn inside(frames: &[SiteFrame], location: &Location) -> Option<String> {
    list("inside", &frames[..position(frames, location)?])
}

/// Which frame a place is that of.
fn position(frames: &[SiteFrame], location: &Location) -> Option<usize> {
    frames.iter().position(|frame| Location::from(frame) == *location)
}

/// Frames in lines of their own; those that are the same several times, as in recursion, once.
fn list(title: &str, frames: &[SiteFrame]) -> Option<String> {
    let mut lines: Vec<(String, usize)> = Vec::new();
    for frame in frames {
        let name = frame.function.as_deref().unwrap_or("<unknown>");
        let line = format!("{name} at {}", Location::from(frame).short());
        match lines.last_mut() {
            Some((last, times)) if *last == line => *times += 1,
            _ => lines.push((line, 1)),
        }
    }
    let more = lines.len().saturating_sub(FRAMES);
    let mut lines: Vec<String> = lines
        .into_iter()
        .take(FRAMES)
        .map(|(line, times)| if times > 1 { format!("{line}, {times} times") } else { line })
        .collect();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    (!lines.is_empty()).then(|| format!("{title} {}", lines.join("\n  ")))
}

/// Who executed what.
fn place(fault: &FaultReport) -> Option<String> {
    let FaultReport { pc, executed_pc, instruction, wave, lane, .. } = fault;
    let mut text = match (pc, executed_pc) {
        (Some(pc), Some(executed)) => format!("pc {executed:#x} (original {pc:#x})"),
        (Some(pc), None) | (None, Some(pc)) => format!("pc {pc:#x}"),
        // Of a launch that never began.
        (None, None) if lane.is_none() => return None,
        (None, None) => String::new(),
    };
    let [x, y, z] = wave.workgroup;
    if !text.is_empty() {
        text += &format!(" {}, ", code(instruction));
    }
    text += &format!("workgroup ({x}, {y}, {z}), wave {}", wave.wave);
    if let Some(lane) = lane {
        text += &format!(", lane {lane}");
    }
    if let Some(EarlierReport { pc: Some(pc), instruction, .. }) = &fault.earlier {
        text += &format!("; before it pc {pc:#x} {}", code(instruction));
    }
    Some(text)
}

fn code(instruction: &str) -> String {
    if instruction.is_empty() { String::new() } else { format!("`{instruction}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recursion_is_told_in_few_lines() {
        let frame = |function: &str, line| SiteFrame {
            function: Some(function.into()),
            file: Some("src/lib.rs".into()),
            line: Some(line),
            column: None,
        };
        let mut frames = vec![frame("walk", 3); 40];
        frames.push(frame("kernel", 9));
        let expected = "called by walk at src/lib.rs:3, 40 times\n  kernel at src/lib.rs:9";
        assert_eq!(list("called by", &frames).as_deref(), Some(expected));
        let frames: Vec<_> = (0..20).map(|line| frame("walk", line)).collect();
        let told = list("called by", &frames).unwrap();
        assert!(told.ends_with("walk at src/lib.rs:15\n  and 4 more"), "{told}");
        assert_eq!(list("called by", &[]), None);
    }
}
