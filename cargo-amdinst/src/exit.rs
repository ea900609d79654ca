//! How the process can end: one documented exit code for each expected kind of failure.

use std::fmt::{self, Write as _};
use std::process::ExitCode;

use amdinst_launch::files::FileError;
use amdinst_launch::{Refused, RefusedKind};

/// The exit codes. They are part of the interface: scripts may rely on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Exit {
    /// Everything asked for was done.
    Success = 0,
    /// A test failed, or two runs of one kernel differ in memory or counters.
    Mismatch = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// No toolchain that can build kernels was found or could be prepared.
    ToolchainMissing = 3,
    /// Cargo, rustc or the link step failed.
    BuildFailed = 4,
    /// A file could not be read, or is not of the expected kind.
    BadInput = 5,
    /// Not one site could be instrumented; nothing was written.
    NothingInstrumented = 6,
    /// The output was written, and some sites or kernels were refused.
    SomeRefused = 7,
    /// The input is understood, and this version cannot do the task with it.
    Unsupported = 8,
    /// The kernel did not end well: an illegal access, an endless loop, an unknown instruction.
    LaunchFailed = 9,
    /// The device that was asked for is not there.
    DeviceMissing = 10,
    /// The output could not be written.
    OutputFailed = 11,
    /// A run is beyond a limit of `--fail-on`.
    LimitPassed = 12,
    /// The machine has too little memory for the task.
    OutOfMemory = 13,
    /// A state that cannot be: a bug in this tool.
    Internal = 101,
}

impl Exit {
    /// Every code, in order.
    pub const ALL: [Self; 15] = [
        Self::Success,
        Self::Mismatch,
        Self::Usage,
        Self::ToolchainMissing,
        Self::BuildFailed,
        Self::BadInput,
        Self::NothingInstrumented,
        Self::SomeRefused,
        Self::Unsupported,
        Self::LaunchFailed,
        Self::DeviceMissing,
        Self::OutputFailed,
        Self::LimitPassed,
        Self::OutOfMemory,
        Self::Internal,
    ];

    /// The number the process ends with.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The meaning of the code, in a few words.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Success => "everything asked for was done",
            Self::Mismatch => "a test failed, or two runs of one kernel differ in memory or counters",
            Self::Usage => "wrong command line",
            Self::ToolchainMissing => "no toolchain that can build kernels",
            Self::BuildFailed => "cargo, rustc or the link step failed",
            Self::BadInput => "a file could not be read or understood",
            Self::NothingInstrumented => "no site could be instrumented, nothing was written",
            Self::SomeRefused => "output written, some sites or kernels were refused",
            Self::Unsupported => "input understood, but not supported by this version",
            Self::LaunchFailed => "the kernel faulted or exceeded its budget",
            Self::DeviceMissing => "the requested device is not there",
            Self::OutputFailed => "the output could not be written",
            Self::LimitPassed => "a limit of --fail-on is passed",
            Self::OutOfMemory => "this machine has too little memory",
            Self::Internal => "a bug in this tool",
        }
    }

    /// The table that `--help` ends with.
    pub fn help_table() -> String {
        let mut text = "Exit codes:\n".to_owned();
        for exit in Self::ALL {
            let _ = writeln!(text, " {:>3}  {}", exit.code(), exit.meaning());
        }
        text.push_str(
            "\nA signal that ends the command (Ctrl-C) is no exit code: shells show 128 and its number.",
        );
        text
    }
}

/// What is asked of whoever meets a state that cannot be.
pub(crate) const REPORT: &str = concat!(
    "this is a bug in cargo-amdinst: please report it, with the command line and its input, at ",
    env!("CARGO_PKG_REPOSITORY"),
    "/issues"
);

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a command failed: the exit code, what went wrong and, where there is one, what mends it.
#[derive(Debug)]
pub struct Failure {
    /// The code the process ends with.
    pub exit: Exit,
    /// What failed; causes are printed below it, as cargo does.
    pub error: anyhow::Error,
    /// What to do about it.
    pub help: Option<String>,
    /// More facts, one line each, as the names that a file has.
    pub notes: Vec<String>,
}

impl Failure {
    /// A failure with nothing but a message.
    pub fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self { exit, error: error.into(), help: None, notes: Vec::new() }
    }

    /// A state that cannot be.
    pub fn internal(error: impl Into<anyhow::Error>) -> Self {
        Self::new(Exit::Internal, error).help(REPORT)
    }

    /// A failure told in words.
    pub fn msg(exit: Exit, message: impl fmt::Display) -> Self {
        Self::new(exit, anyhow::Error::msg(message.to_string()))
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.error)
    }
}

impl From<Refused> for Failure {
    fn from(Refused { kind, message, help, notes }: Refused) -> Self {
        let exit = match kind {
            RefusedKind::Usage => Exit::Usage,
            RefusedKind::Unreadable => Exit::BadInput,
            RefusedKind::Unsupported => Exit::Unsupported,
            RefusedKind::NoRoom => Exit::OutOfMemory,
        };
        Self { exit, error: anyhow::Error::msg(message), help, notes }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        let exit = match error {
            FileError::Io { .. } | FileError::NoFile { .. } => Exit::BadInput,
            FileError::TooLarge { .. } => Exit::OutOfMemory,
        };
        let help = error.help().map(str::to_owned);
        Self { help, ..Self::new(exit, error) }
    }
}

/// What every command returns.
pub type CommandResult<T = Exit> = Result<T, Failure>;

/// Gives an error its exit code.
pub trait OrExit<T> {
    /// Fails with `exit`, keeping the error as the message.
    fn or_exit(self, exit: Exit) -> CommandResult<T>;

    /// Fails with `exit`, with `message` in front of the error.
    fn or_exit_with<M: fmt::Display + Send + Sync + 'static>(
        self,
        exit: Exit,
        message: impl FnOnce() -> M,
    ) -> CommandResult<T>;
}

impl<T, E: Into<anyhow::Error>> OrExit<T> for Result<T, E> {
    fn or_exit(self, exit: Exit) -> CommandResult<T> {
        self.map_err(|error| Failure::new(exit, error))
    }

    fn or_exit_with<M: fmt::Display + Send + Sync + 'static>(
        self,
        exit: Exit,
        message: impl FnOnce() -> M,
    ) -> CommandResult<T> {
        self.map_err(|error| Failure::new(exit, error.into().context(message())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_numbered_without_gaps() {
        let (last, others) = Exit::ALL.split_last().unwrap();
        for (number, exit) in others.iter().enumerate() {
            assert_eq!(usize::from(exit.code()), number);
        }
        // What Rust ends with that panics.
        assert_eq!((*last, last.code()), (Exit::Internal, 101));
    }
}
