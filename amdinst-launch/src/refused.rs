//! Why a launch cannot be made as it was asked for.

use std::fmt;

/// What kind of mistake it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedKind {
    /// An argument or an option does not fit the kernel.
    Usage,
    /// A file that cannot be read, or is not what its name says.
    Unreadable,
    /// Arguments that cannot be given.
    Unsupported,
    /// This machine has too little memory.
    NoRoom,
}

/// A launch that was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its kind.
    pub kind: RefusedKind,
    /// The reason, in a line.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// More facts, one line each.
    pub notes: Vec<String>,
}

impl Refused {
    /// A reason in words.
    pub fn new(kind: RefusedKind, message: impl fmt::Display) -> Self {
        Self { kind, message: message.to_string(), help: None, notes: Vec::new() }
    }

    /// Puts words in front of the message.
    #[must_use]
    pub fn context(self, what: &str) -> Self {
        Self { message: format!("{what}: {}", self.message), ..self }
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

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refused {}
