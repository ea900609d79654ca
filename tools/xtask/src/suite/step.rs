//! One step of the suite: a cargo command, what it needs, and how its outcome is counted.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, PipeReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use super::tally::Tally;

/// How a step's outcome is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counting {
    /// The command is one test.
    One,
    /// The command runs tests and prints their results.
    Tests,
}

/// Something a step cannot do without.
#[derive(Clone, Debug)]
enum Need {
    /// A cargo subcommand of the host toolchain, from a rustup component.
    Component(&'static str),
    /// A file, from a Debian package.
    File(&'static str, &'static str),
}

/// One step.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// What it is called.
    pub(crate) name: String,
    /// Cargo's arguments.
    pub(crate) args: Vec<String>,
    /// The command itself writes the step's JUnit file.
    pub(crate) writes_junit: bool,
    /// Runs while the steps that are not `beside` do, after others that are; what it says is shown when all
    /// have ended.
    pub(crate) beside: bool,
    /// Begins when all before it have ended.
    pub(crate) after_all: bool,
    /// Takes the cores that steps beside it leave idle.
    gives_way: bool,
    counting: Counting,
    env: Vec<(&'static str, &'static str)>,
    needs: Vec<Need>,
}

impl Step {
    /// A step that runs cargo with `args`.
    pub(crate) fn new<'a>(name: &str, counting: Counting, args: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            name: name.to_owned(),
            args: args.into_iter().map(str::to_owned).collect(),
            writes_junit: false,
            beside: false,
            after_all: false,
            gives_way: false,
            counting,
            env: Vec::new(),
            needs: Vec::new(),
        }
    }

    /// Sets a variable for the command.
    pub(crate) fn env(mut self, key: &'static str, value: &'static str) -> Self {
        self.env.push((key, value));
        self
    }

    /// The step begins when all before it have ended.
    pub(crate) fn after_all(mut self) -> Self {
        self.after_all = true;
        self
    }

    /// The step takes the cores that the steps beside it leave idle, for their turn is the longer one.
    pub(crate) fn gives_way(mut self) -> Self {
        self.gives_way = true;
        self
    }

    /// Where the step's results are in the directory of JUnit files.
    pub(crate) fn junit(&self, directory: &Path) -> PathBuf {
        directory.join(format!("{}.xml", self.name.replace(' ', "-")))
    }

    /// The step's command, which has the option for that, writes its results there itself.
    pub(crate) fn writing_junit(mut self, directory: &Path) -> Self {
        let file = self.junit(directory).display().to_string();
        self.args.extend(["--junit".to_owned(), file]);
        self.writes_junit = true;
        self
    }

    /// The step runs while others do: one that leaves cores idle can.
    pub(crate) fn beside(mut self) -> Self {
        self.beside = true;
        self
    }

    /// The step needs a component of the host toolchain.
    pub(crate) fn needs_component(mut self, component: &'static str) -> Self {
        self.needs.push(Need::Component(component));
        self
    }

    /// The step needs a file that a Debian package brings.
    pub(crate) fn needs_file(mut self, file: &'static str, package: &'static str) -> Self {
        self.needs.push(Need::File(file, package));
        self
    }

    /// Why the step cannot run here.
    fn missing(&self) -> Option<String> {
        self.needs.iter().find_map(|need| match *need {
            Need::Component(name) => {
                let subcommand = if name == "rustfmt" { "fmt" } else { name };
                let output = crate::cargo().args([subcommand, "--version"]).output();
                let there = output.is_ok_and(|output| output.status.success());
                (!there).then(|| format!("{name} is not installed (`rustup component add {name}`)"))
            }
            Need::File(file, package) => (!Path::new(file).exists())
                .then(|| format!("{file} is not there (`apt-get install {package}`)")),
        })
    }

    /// The step's command. With a limit in minutes, coreutils' `timeout` ends it and all that it has started:
    /// in a process group of its own, which Ctrl-C does not reach.
    fn command(&self, limit: Option<u32>) -> Command {
        let cargo = crate::cargo();
        let mut words: Vec<OsString> = Vec::new();
        if self.gives_way {
            words.extend(["nice", "-n", "15"].map(OsString::from));
        }
        if let Some(minutes) = limit {
            words.extend(["timeout", "--verbose", "--kill-after=10s"].map(OsString::from));
            words.push(format!("{minutes}m").into());
        }
        words.push(cargo.get_program().to_owned());
        words.extend(self.args.iter().map(OsString::from));
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(crate::workspace_root()).envs(self.env.iter().copied());
        command
    }

    /// Prints what the step is called, and does.
    pub(crate) fn announce(&self) {
        println!("\n==> {}: cargo {}", self.name, self.args.join(" "));
    }

    /// What a step comes to that cannot run here; `None` for one that can. `strict` makes a failure of it.
    fn skipped(&self, strict: bool) -> Option<Tally> {
        let reason = format!("{}: {}", self.name, self.missing()?);
        let mut tally = if strict { Tally::one(&self.name, false) } else { Tally::default() };
        tally.skips.push(reason);
        Some(tally)
    }

    /// Runs a step that is [`Self::beside`] others: what it came to, and what is to be shown of all that it
    /// printed.
    pub(crate) fn run_beside(&self, strict: bool, limit: Option<u32>) -> Result<(Tally, Vec<u8>)> {
        let mut shown = Vec::new();
        let (reader, writer) = std::io::pipe().context("a pipe for the step's output")?;
        let mut command = self.command(limit);
        command.stdout(writer.try_clone().context("a pipe for the step's output")?).stderr(writer);
        let tally = self.tally(strict, command, Some(reader), &mut shown)?;
        Ok((tally, shown))
    }

    /// Runs the step, for so many minutes at most. `strict` makes a failure of what would be skipped.
    pub(crate) fn run(&self, strict: bool, limit: Option<u32>) -> Result<Tally> {
        self.tally(strict, self.command(limit), None, &mut std::io::stdout())
    }

    /// What the step comes to, which writes to `output` if that is given, else where this program does. The
    /// output of its tests goes to `shown` but for that of tests that passed.
    fn tally(
        &self,
        strict: bool,
        mut command: Command,
        output: Option<PipeReader>,
        shown: &mut impl Write,
    ) -> Result<Tally> {
        if let Some(tally) = self.skipped(strict) {
            for reason in &tally.skips {
                writeln!(shown, "SKIPPED {reason}")?;
            }
            return Ok(tally);
        }
        if self.counting == Counting::Tests && output.is_none() {
            command.stdout(Stdio::piped());
        }
        let mut child = command.spawn().context("running cargo")?;
        // It holds both of the pipe's ends that are written to; the pipe has no end before they are closed.
        drop(command);
        let stdout = child.stdout.take().map(|stdout| Box::new(stdout) as Box<dyn Read>);
        let output = stdout.or(output.map(|output| Box::new(output) as Box<dyn Read>));
        let mut tally = Tally::default();
        let mut in_successes = false;
        for line in output.into_iter().flat_map(|output| BufReader::new(output).split(b'\n')) {
            let line = line.context("reading the step's output")?;
            let line = String::from_utf8_lossy(&line);
            if self.counting == Counting::Tests {
                tally.line(&line);
                match line.as_ref() {
                    "successes:" => in_successes = true,
                    "failures:" => in_successes = false,
                    _ if line.starts_with("test result: ") => in_successes = false,
                    _ => {}
                }
            }
            if !in_successes || line.contains("SKIPPED: ") {
                writeln!(shown, "{line}")?;
            }
        }
        let status = child.wait().context("waiting for cargo")?;
        if self.counting == Counting::One {
            return Ok(Tally::one(&self.name, status.success()));
        }
        // A step that broke before its tests could tell, and one that found no test, have failed as well.
        if tally.failed == 0 && (tally.passed == 0 || !status.success()) {
            let why = if status.success() { "no test ran".to_owned() } else { status.to_string() };
            writeln!(shown, "{}: {why}", self.name)?;
            tally.add(Tally::one(&self.name, false));
        }
        if strict && !tally.skips.is_empty() {
            tally.add(Tally::one(&format!("{}: nothing may be skipped", self.name), false));
        }
        Ok(tally)
    }
}
