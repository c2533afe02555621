//! Why a command stopped, what to do about it, and the exit code that follows.

use std::path::{Path, PathBuf};

/// Shorthand.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can stop a command. Odd notes do not: they give diagnostics.
///
/// `Display` gives one line in lower case without a full stop; [`Error::hint`] says what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The command line or its input asks for something that cannot be (exit 2).
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do next.
        hint: Option<String>,
    },
    /// A file or folder could not be read or written (exit 3).
    #[error("could not {action} {}", path.display())]
    Io {
        /// A verb: `read`, `write`, `create`.
        action: &'static str,
        /// Which one.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
        /// What to do next.
        hint: Option<String>,
    },
    /// A note that was to be changed is not there any more (exit 1): deleted, or renamed.
    #[error("{} is not there any more", path.display())]
    Missing {
        /// Where it was.
        path: PathBuf,
        /// What to do next.
        hint: Option<String>,
    },
    /// A file changed between reading and writing (exit 3); nothing was written.
    #[error("{} changed while it was being written; nothing was changed", path.display())]
    Changed {
        /// Which one.
        path: PathBuf,
    },
    /// A part of the program failed at something that no input should make fail (exit 3): the search index, an encoder,
    /// a watch on folders.
    #[error("could not {action}")]
    Internal {
        /// What it was about to do: `write the search index`.
        action: &'static str,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
        /// What to do next.
        hint: Option<String>,
    },
    /// The answer is "no": nothing found, a check failed (exit 1). The message may be empty when all is said already.
    #[error("{message}")]
    No {
        /// What was not found, or `""`.
        message: String,
        /// What to do next.
        hint: Option<String>,
    },
}

impl Error {
    /// A usage or input error.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: None }
    }

    /// The answer "no", said in words.
    pub fn no(message: impl Into<String>) -> Self {
        Self::No { message: message.into(), hint: None }
    }

    /// A failed file operation.
    pub fn io(action: &'static str, path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Self::Io { action, path: path.as_ref().to_owned(), source, hint: None }
    }

    /// A failure of a part of the program.
    pub fn internal(action: &'static str, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal { action, source: source.into(), hint: None }
    }

    /// With a line that says what to do next. Ignored where the kind has its own.
    #[must_use]
    pub fn with_hint(mut self, text: impl Into<String>) -> Self {
        if let Self::Usage { hint, .. }
        | Self::No { hint, .. }
        | Self::Io { hint, .. }
        | Self::Missing { hint, .. }
        | Self::Internal { hint, .. } = &mut self
        {
            *hint = Some(text.into());
        }
        self
    }

    /// The message with all of its causes.
    pub fn with_causes(&self) -> String {
        let mut message = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(cause) = source {
            message.push_str(": ");
            message.push_str(&cause.to_string());
            source = cause.source();
        }
        message
    }

    /// What to do next.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Usage { hint, .. }
            | Self::No { hint, .. }
            | Self::Io { hint, .. }
            | Self::Missing { hint, .. }
            | Self::Internal { hint, .. } => hint.as_deref(),
            Self::Changed { .. } => Some("run the command again"),
        }
    }

    /// The process's exit code, the one place that maps errors to it: 1 the answer is no, 2 usage or input, 3 I/O or a
    /// failure of the program.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::No { .. } | Self::Missing { .. } => 1,
            Self::Usage { .. } => 2,
            Self::Io { .. } | Self::Changed { .. } | Self::Internal { .. } => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes() {
        let io = || std::io::Error::other("disk on fire");
        let codes = [
            (Error::no("no match"), 1),
            (Error::no(""), 1),
            (Error::Missing { path: "a.md".into(), hint: None }, 1),
            (Error::usage("no such option"), 2),
            (Error::io("read", "a.md", io()), 3),
            (Error::Changed { path: "a.md".into() }, 3),
            (Error::internal("write the search index", io()), 3),
        ];
        for (error, code) in codes {
            assert_eq!(error.exit_code(), code, "{error}");
        }
        let error = Error::internal("write the search index", io());
        assert_eq!(error.with_causes(), "could not write the search index: disk on fire");
    }
}
