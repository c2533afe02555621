//! Text of arguments and of stdin.

use std::io::{self, IsTerminal as _, Read as _};

use crate::base::{Error, Result};

/// The words of the command line as one text; from stdin where they are `-`, or missing while stdin is no terminal.
pub(super) fn of_words(words: &[String], what: &str) -> Result<String> {
    let text = words.join(" ");
    let text = match text.trim() {
        "-" => stdin()?,
        "" if !io::stdin().is_terminal() => stdin()?,
        _ => text,
    };
    if text.trim().is_empty() {
        return Err(Error::usage(format!("{what} is missing")).with_hint("give it as an argument, or on stdin"));
    }
    Ok(text)
}

/// The value of an option; from stdin where it is `-`.
pub(super) fn of_option(value: Option<&String>) -> Result<Option<String>> {
    match value.map(String::as_str) {
        Some("-") => stdin().map(Some),
        other => Ok(other.map(str::to_owned)),
    }
}

/// All of stdin.
pub(super) fn stdin() -> Result<String> {
    let mut bytes = Vec::new();
    // More than this is no entry of a log.
    let read = io::stdin().lock().take(64 * 1024 * 1024).read_to_end(&mut bytes);
    read.map_err(|error| Error::io("read", "stdin", error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
