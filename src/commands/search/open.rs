//! `--open`: a hit in the editor or in Obsidian.

use std::path::Path;
use std::str::FromStr;

use crate::base::{Error, Result};
use crate::commands::output::{Opened, obsidian_link};
use crate::commands::{Context, Launch, Output};

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
            (Context::opener().to_owned(), vec![obsidian_link(&cx.absolute(note))])
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
        assert_eq!(obsidian_link(note), "obsidian://open?path=%2Fv%2Fa%20b%26c.md");
    }
}
