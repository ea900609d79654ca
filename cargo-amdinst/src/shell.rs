//! What the user sees on stderr, in cargo's own voice.
//!
//! Statuses are a right-aligned green verb and an object (` Compiling test-kernels`). Colours follow
//! `--color`, else `CARGO_TERM_COLOR`, else the terminal and `NO_COLOR`. Work that lasts over a second shows
//! a progress line, on a terminal only.

#![allow(clippy::disallowed_methods, reason = "the way out")]

use std::collections::BTreeSet;
use std::env;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use amdinst_core::report::Layout;
use amdinst_text::{Clean, shown, shown_lines};
use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::{ColorChoice, GlobalArgs};
use crate::exit::Failure;

const STATUS: Style = AnsiColor::BrightGreen.on_default().bold();
const ERROR: Style = AnsiColor::BrightRed.on_default().bold();
const WARNING: Style = AnsiColor::BrightYellow.on_default().bold();
const NOTE: Style = AnsiColor::BrightCyan.on_default().bold();

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Errors only.
    Quiet,
    /// Statuses, warnings and errors.
    Normal,
    /// The exact commands as well.
    Verbose,
}

/// The terminal.
#[derive(Debug)]
pub struct Shell {
    verbosity: Verbosity,
    color: anstream::ColorChoice,
    /// What was asked for, which holds for data on stdout, too.
    asked: Option<ColorChoice>,
    interactive: bool,
    /// Warnings that are told once.
    told: Mutex<BTreeSet<String>>,
    /// Builds that run at the same time say nothing of how far they are.
    quiet_builds: AtomicBool,
}

impl Shell {
    /// A shell as the global options and the environment ask for it.
    pub fn new(args: &GlobalArgs) -> Self {
        let verbosity = match (args.quiet, args.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 0) => Verbosity::Normal,
            (false, _) => Verbosity::Verbose,
        };
        let asked = args.color.or_else(|| match env::var("CARGO_TERM_COLOR").ok()?.as_str() {
            "always" => Some(ColorChoice::Always),
            "never" => Some(ColorChoice::Never),
            _ => None,
        });
        let color = match asked {
            Some(ColorChoice::Always) => anstream::ColorChoice::Always,
            Some(ColorChoice::Never) => anstream::ColorChoice::Never,
            Some(ColorChoice::Auto) | None => AutoStream::choice(&io::stderr()),
        };
        let interactive =
            io::stderr().is_terminal() && verbosity > Verbosity::Quiet && env::var_os("CI").is_none();
        Self {
            verbosity,
            color,
            asked,
            interactive,
            told: Mutex::default(),
            quiet_builds: AtomicBool::new(false),
        }
    }

    /// How much is said.
    pub fn verbosity(&self) -> Verbosity {
        self.verbosity
    }

    /// From now on, builds say nothing of how far they are: several run at the same time.
    pub fn quiet_builds(&self) {
        self.quiet_builds.store(true, Ordering::Relaxed);
    }

    /// Whether builds say how far they are.
    pub fn shows_builds(&self) -> bool {
        let is_quiet = self.quiet_builds.load(Ordering::Relaxed) && self.verbosity < Verbosity::Verbose;
        self.verbosity > Verbosity::Quiet && !is_quiet
    }

    /// Whether a person can be asked: a terminal at both ends, and not a CI machine.
    pub fn can_ask(&self) -> bool {
        self.interactive && io::stdin().is_terminal()
    }

    /// The value for a child's `--color` or `CARGO_TERM_COLOR`, so that it looks as we do.
    pub fn color_for_children(&self) -> &'static str {
        match self.color {
            anstream::ColorChoice::Always | anstream::ColorChoice::AlwaysAnsi => "always",
            _ => "never",
        }
    }

    /// Whether data on stdout may have colors.
    pub fn color_for_data(&self) -> bool {
        match self.asked {
            Some(ColorChoice::Always) => true,
            Some(ColorChoice::Never) => false,
            Some(ColorChoice::Auto) | None => {
                AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
            }
        }
    }

    /// How wide tables on stdout are, and whether they show everything: as `COLUMNS` says, else the terminal,
    /// else 120 columns; everything with `-v`.
    pub fn layout(&self) -> Layout {
        let of_terminal =
            || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.to_string());
        let columns = env::var("COLUMNS").ok().or_else(of_terminal);
        Layout::of_columns(columns.as_deref(), self.verbosity >= Verbosity::Verbose)
    }

    fn write(&self, line: &str) {
        // What has styles, as a fault with its source line, loses them where none are wanted.
        let mut stderr = Clean::text(AutoStream::new(stderr(), self.color), true);
        // Nobody is left to tell when stderr is gone.
        let _ = writeln!(stderr, "{line}").and_then(|()| stderr.flush());
    }

    /// `   Compiling test-kernels`.
    pub fn status(&self, verb: &str, object: impl Display) {
        if self.verbosity > Verbosity::Quiet {
            self.write(&format!("{STATUS}{verb:>12}{STATUS:#} {object}"));
        }
    }

    /// A status that only `-v` shows.
    pub fn verbose_status(&self, verb: &str, object: impl Display) {
        if self.verbosity >= Verbosity::Verbose {
            self.status(verb, object);
        }
    }

    /// With `-v`, the exact command about to run, as a shell would take it.
    pub fn command(&self, command: &Command) {
        if self.verbosity >= Verbosity::Verbose {
            self.status("Running", format_args!("`{}`", command_line(command)));
        }
    }

    /// `warning: …`.
    pub fn warn(&self, message: impl Display) {
        if self.verbosity > Verbosity::Quiet {
            self.labelled(WARNING, "warning", message);
        }
    }

    /// `warning: …`, unless the same was told before.
    pub fn warn_once(&self, message: impl Display) {
        let message = message.to_string();
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(message.clone()) {
            self.warn(message);
        }
    }

    /// What rustc says, with its styles, unless it said the same of another processor's build.
    pub fn rendered_once(&self, text: &str) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(text.to_owned()) {
            tell_rendered(text);
        }
    }

    /// `note: …`.
    pub fn note(&self, message: impl Display) {
        if self.verbosity > Verbosity::Quiet {
            self.labelled(NOTE, "note", message);
        }
    }

    /// `help: …`.
    pub fn help(&self, message: impl Display) {
        self.labelled(NOTE, "help", message);
    }

    /// `error: …`.
    pub fn error(&self, message: impl Display) {
        self.labelled(ERROR, "error", message);
    }

    fn labelled(&self, style: Style, label: &str, message: impl Display) {
        self.write(&format!("{style}{label}{style:#}: {message}"));
    }

    /// The last words of a failed command: the error, its causes, its notes, and what mends it.
    pub fn failure(&self, failure: &Failure) {
        self.error(&failure.error);
        let causes: Vec<_> = failure.error.chain().skip(1).collect();
        if !causes.is_empty() {
            self.write("\nCaused by:");
            for cause in causes {
                self.write(&format!("  {}", cause.to_string().replace('\n', "\n  ")));
            }
        }
        for note in &failure.notes {
            self.labelled(NOTE, "note", note);
        }
        if let Some(help) = &failure.help {
            self.help(help);
        }
    }

    /// A line that shows itself once the work has lasted a second, and goes when dropped or finished.
    /// `length` is the number of steps, or zero when unknown.
    pub fn progress(&self, verb: &str, object: impl Display, length: u64) -> Progress {
        if !self.interactive {
            return Progress(None);
        }
        let template = if length == 0 {
            "{prefix:>12.bold.cyan} {msg} {spinner} {elapsed}"
        } else {
            "{prefix:>12.bold.cyan} [{bar:25}] {pos}/{len}: {msg}"
        };
        let style = ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ");
        let bar = if length == 0 { ProgressBar::new_spinner() } else { ProgressBar::new(length) };
        bar.set_draw_target(ProgressDrawTarget::hidden());
        bar.set_style(style);
        bar.set_prefix(verb.to_owned());
        bar.set_message(shown(&object.to_string()).into_owned());
        let shown_later = bar.clone();
        // Quick work shows nothing at all: the line is attached to the terminal only after a second.
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(1));
            if !shown_later.is_finished() {
                shown_later.set_draw_target(ProgressDrawTarget::stderr());
                shown_later.enable_steady_tick(Duration::from_millis(100));
            }
        });
        Progress(Some(bar))
    }
}

/// A progress line; see [`Shell::progress`].
#[derive(Debug)]
pub struct Progress(Option<ProgressBar>);

impl Progress {
    /// One more step is done, and `object` is next.
    pub fn step(&self, object: impl Display) {
        if let Some(bar) = &self.0 {
            bar.inc(1);
            bar.set_message(shown(&object.to_string()).into_owned());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// The process's stderr, which other rooms reach through [`Shell`] and [`tell`].
fn stderr() -> io::StderrLock<'static> {
    io::stderr().lock()
}

/// Text of strangers, as what a kernel prints, on stderr.
pub fn tell(text: &str) {
    let _ = write!(stderr(), "{}", shown_lines(text));
}

/// Text of our own tools on stderr, with their styles: what rustc says.
pub fn tell_rendered(text: &str) {
    let _ = write!(stderr(), "{text}");
}

/// A command as a POSIX shell would take it, the environment it adds in front.
pub fn command_line(command: &Command) -> String {
    let mut line = String::new();
    for (key, value) in command.get_envs() {
        if let Some(value) = value {
            line.push_str(&format!("{}={} ", key.to_string_lossy(), quoted(&value.to_string_lossy())));
        }
    }
    line.push_str(&quoted(&command.get_program().to_string_lossy()));
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&quoted(&argument.to_string_lossy()));
    }
    line
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=/.,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_quoted_for_a_shell() {
        let mut command = Command::new("rustc");
        command.env("RUSTC_BOOTSTRAP", "1").args(["-C", "link-arg=it's", ""]);
        assert_eq!(command_line(&command), r"RUSTC_BOOTSTRAP=1 rustc -C 'link-arg=it'\''s' ''");
    }
}
