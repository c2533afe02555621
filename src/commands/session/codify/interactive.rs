//! `--interactive`: the workflow in the user's editor, until it is one or they give up. What they wrote is never lost.

use std::io;
use std::path::PathBuf;

use super::made::Made;
use crate::base::{Diagnostic, Error, Lines, Result, Severity, files};
use crate::commands::{Context, View, frame};
use crate::note::Note;
use crate::workflow::{parse, validate};

/// Opens the workflow; the draft that is to be removed once it is written elsewhere. `None` where there is no terminal: then
/// it is only shown.
pub(super) fn edit(made: &mut Made, cx: &Context<'_>) -> Result<Option<PathBuf>> {
    let draft = draft(made, cx)?;
    let mut editor = cx.editor();
    if editor.is_empty() {
        editor.push("vi".to_owned());
    }
    loop {
        match cx.ui.edit(&editor, &draft) {
            Ok(true) => {}
            Ok(false) => return Err(kept(&draft, "the editor ended with an error, so nothing was written")),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                cx.ui.note("there is no terminal to edit on; the workflow is written as it is");
                made.shown = true;
                return Ok(Some(draft));
            }
            Err(error) => {
                let name = editor.first().map_or("", String::as_str);
                return Err(kept(&draft, &format!("could not start the editor '{name}': {error}")));
            }
        }
        let text = String::from_utf8_lossy(&files::read(&draft)?).into_owned();
        let note = Note::parse(text.as_str());
        let (workflow, mut odd) = parse(&note);
        odd.extend(validate(&workflow));
        odd.retain(|it| it.severity > Severity::Info);
        odd.sort_by_key(|it| it.span.start);
        show(&draft.display().to_string(), &text, &odd, cx);
        let empty = !workflow.step_flags().contains(&true);
        if empty {
            cx.ui.warn("there is no step in it: a heading with an agent, a channel or a flow line");
        }
        if !empty && odd.iter().all(|it| it.severity < Severity::Error) {
            (made.workflow, made.markdown) = (workflow, text);
            return Ok(Some(draft));
        }
        match cx.ui.confirm("It is no workflow yet. Open it again?") {
            Some(true) => {}
            Some(false) | None => {
                return Err(kept(&draft, "what you wrote is no workflow yet, so nothing was written"));
            }
        }
    }
}

/// A file with the workflow that no other has.
fn draft(made: &Made, cx: &Context<'_>) -> Result<PathBuf> {
    let dir = cx.env.state_dir().unwrap_or_else(|| cx.env.cwd().to_owned()).join("drafts");
    let time = cx.env.now().strftime("%Y%m%dT%H%M%SZ");
    let mut number = 1;
    loop {
        let path = dir.join(format!("{}-{time}-{number}.md", made.stem));
        if files::create(&path, made.markdown.as_bytes())? {
            return Ok(path);
        }
        number += 1;
    }
}

fn kept(draft: &std::path::Path, message: &str) -> Error {
    Error::no(message).with_hint(format!("your text is in {}", draft.display()))
}

fn show(path: &str, text: &str, odd: &[Diagnostic], cx: &Context<'_>) {
    let lines = Lines::of(text);
    for diagnostic in odd.iter().take(20) {
        let framed = frame::render(path, text, &lines, diagnostic, &View::plain());
        // Styles are for stdout; talk is plain.
        cx.ui.note(&anstream::adapter::strip_str(&framed).to_string());
    }
}
