//! `--open`: a hit in the editor or in Obsidian.

use std::path::Path;
use std::str::FromStr;

use serde_json::{Value, json};

use crate::base::{Error, Result};
use crate::commands::{Context, Launch, Output, View};

/// Which hit, and where to open it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenPlace {
    /// From 1.
    pub(super) number: usize,
    obsidian: bool,
}

impl FromStr for OpenPlace {
    type Err = String;

    /// `3`, `obsidian`, `obsidian:3`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (obsidian, number) = match text.strip_prefix("obsidian") {
            Some("") => return Ok(Self { number: 1, obsidian: true }),
            Some(rest) => (true, rest.strip_prefix(':').unwrap_or(rest)),
            None => (false, text),
        };
        match number.parse() {
            Ok(number) if number > 0 => Ok(Self { number, obsidian }),
            _ => Err("the number of a hit, `obsidian`, or `obsidian:3`".to_owned()),
        }
    }
}

impl OpenPlace {
    /// Opens a line of a note.
    pub(super) fn open(&self, note: &Path, line: usize, cx: &Context<'_>) -> Result<Box<dyn Output>> {
        let (program, args) = if self.obsidian {
            let opener = if cfg!(target_os = "macos") {
                "open"
            } else if cfg!(windows) {
                "explorer"
            } else {
                "xdg-open"
            };
            (opener.to_owned(), vec![uri(&cx.absolute(note))])
        } else {
            let mut words = cx.editor().into_iter();
            let program = words.next().ok_or_else(|| {
                Error::usage("no editor is known").with_hint("set VISUAL or EDITOR, or use --open=obsidian")
            })?;
            let args = words.chain(at_line(&program, note, line)).collect();
            (program, args)
        };
        let launch = Launch { program: program.into(), args, cwd: cx.env.cwd().to_owned(), vars: Vec::new() };
        Ok(Box::new(Opened { launch, path: note.to_string_lossy().into_owned(), line }))
    }
}

/// How an editor is told the line.
fn at_line(program: &str, note: &Path, line: usize) -> Vec<String> {
    let path = note.to_string_lossy();
    let name = Path::new(program).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match name.as_str() {
        "code" | "code-insiders" | "codium" | "cursor" | "windsurf" => vec!["--goto".into(), format!("{path}:{line}")],
        "hx" | "helix" | "subl" | "zed" => vec![format!("{path}:{line}")],
        _ => vec![format!("+{line}"), path.into_owned()],
    }
}

/// `obsidian://open?path=…`.
fn uri(path: &Path) -> String {
    let mut uri = "obsidian://open?path=".to_owned();
    for byte in path.to_string_lossy().bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

struct Opened {
    launch: Launch,
    path: String,
    line: usize,
}

impl Output for Opened {
    fn text(&self, _: &View) -> String {
        String::new()
    }

    fn json(&self) -> serde_json::Result<Value> {
        Ok(json!({ "schema": 1, "path": self.path, "line": self.line, "launch": self.launch }))
    }

    fn handover(&self) -> Option<Launch> {
        Some(self.launch.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let place = |text: &str| text.parse::<OpenPlace>().map(|place| (place.number, place.obsidian));
        assert_eq!(place("3"), Ok((3, false)));
        assert_eq!(place("obsidian"), Ok((1, true)));
        assert_eq!(place("obsidian:2"), Ok((2, true)));
        assert!(place("0").is_err() && place("vim").is_err() && place("obsidian:x").is_err());
    }

    #[test]
    fn editors_and_obsidian() {
        let note = Path::new("/v/a b&c.md");
        assert_eq!(at_line("vim", note, 7), ["+7", "/v/a b&c.md"]);
        assert_eq!(at_line("/usr/bin/code", note, 7), ["--goto", "/v/a b&c.md:7"]);
        assert_eq!(uri(note), "obsidian://open?path=%2Fv%2Fa%20b%26c.md");
    }
}
