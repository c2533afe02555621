//! `brief`: what is asked of a reader of a session, and its answer, for the agent that did the work.

use super::{Answer, Arguments, Caller};
use crate::base::{Error, Result};
use crate::commands::ask::words;
use crate::commands::read::{TakenHow, take};
use crate::commands::{Format, Reach};

pub(super) fn call(arguments: &Arguments, caller: &Caller<'_>) -> Result<Answer> {
    let session = arguments.text("session")?;
    let Some(text) = arguments.text("answer")? else {
        let mut line = words(&["read", "--prompt"]);
        if let Some(part) = arguments.number("part")? {
            line.extend(["--part".to_owned(), part.to_string()]);
        }
        line.extend(session.map(str::to_owned));
        let text = caller.text(&line, Reach::Shared)?;
        return Ok(Answer { text: Some(text), skipped: arguments.cursor()?, ..Answer::default() });
    };
    // Bytes of an answer.
    if text.len() > (256 << 10) {
        return Err(Error::usage("the answer is longer than 256 KiB"));
    }
    let how = TakenHow { reader: arguments.text("reader")?.or(Some("the agent itself")), ..TakenHow::default() };
    let taken = caller.with(Reach::Shared, Format::Json, |cx| {
        let taken = take(&[text.to_owned()], session, &how, cx);
        taken.map_err(|error| cx.global.reach.shown(error, cx))
    })?;
    let taken = taken.text(&crate::commands::output::View::plain());
    Ok(Answer { text: Some(anstream::adapter::strip_str(&taken).to_string()), ..Answer::default() })
}
