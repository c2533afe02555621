//! `cru read --from`: an answer that somebody else has got.

use std::path::Path;

use super::answer::{join, judge, listed, only, told};
use super::one::head;
use super::prompt::Prompts;
use super::shelf::Shelf;
use super::source::Source;
use super::text::TakenReading;
use super::{Args, write};
use crate::base::{Error, Result, files};
use crate::commands::session::current_or_newest;
use crate::commands::{Context, Output, reading};
use crate::readings::answer::{MAX_BYTES, patched};
use crate::session::mask::mask;

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    if args.sessions.len() > 1 {
        return Err(Error::usage("--from takes one session"));
    }
    let texts: Vec<String> = args.from.iter().map(|file| text_of(file, cx)).collect::<Result<_>>()?;
    let how = TakenHow { only: &args.only, again: args.again, reader: args.reader.as_deref() };
    take(&texts, args.sessions.first().map(String::as_str), &how, cx)
}

/// How answers are taken.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::commands) struct TakenHow<'a> {
    /// Only these parts; all where it is empty.
    pub(in crate::commands) only: &'a [String],
    /// Into a new version.
    pub(in crate::commands) again: bool,
    /// Who wrote them.
    pub(in crate::commands) reader: Option<&'a str>,
}

/// Takes answers: to the parts of a session, or an answer and patches of it.
pub(in crate::commands) fn take(
    texts: &[String],
    session: Option<&str>,
    how: &TakenHow<'_>,
    cx: &Context<'_>,
) -> Result<Box<dyn Output>> {
    let (vault, catalog) = reading::vault_with_catalog(cx)?;
    let session = match session {
        None => current_or_newest(&catalog, &vault, cx)?,
        Some(one) => catalog.session(one, &vault, cx.env)?,
    };
    cx.global.reach.check(&session.meta)?;
    let source = Source::of(session, &catalog, &vault, cx)?;
    let unusable = |why: &str| {
        Error::usage(format!("the answer cannot be used; nothing was written\n{}", why.trim_end()))
            .with_hint(format!("correct it, or ask again with `cru read --prompt {}`", session.id()))
    };
    // A patch takes the place of the answer before it.
    let mut whole: Vec<String> = Vec::new();
    for text in texts {
        let last = whole.last().map(String::as_str);
        let new = patched(last, text).map_err(|errors| unusable(&listed(errors.iter())))?;
        if new != *text {
            whole.pop();
        }
        whole.push(new);
    }
    let mut answers = Vec::new();
    for text in &whole {
        answers.push(judge(text, &source).map_err(|why| unusable(&why))?);
    }
    let given = answers.len();
    let mut checked = if answers.len() == 1 {
        answers.remove(0)
    } else {
        let findings: Vec<_> = answers.iter().flat_map(|it| it.findings.clone()).collect();
        let refused: usize = answers.iter().map(|it| it.claims - it.kept).sum();
        let parts: Vec<_> = answers.into_iter().map(|it| it.answer).collect();
        let Some(mut whole) = join(&parts, &source) else { return Err(Error::usage("--from names no answer")) };
        whole.findings.splice(0..0, findings);
        whole.claims += refused;
        whole
    };
    only(&mut checked, how.only);
    if checked.kept == 0 {
        return Err(Error::no(format!("no claim is left; nothing was written\n{}", told(&checked).trim_end())));
    }
    let prompts = Prompts::of(&source, 0, how.only, !checked.answer.is_brief, &vault)?;
    let uncited = prompts.uncited(&checked.answer);
    if given < prompts.parts.len() && !uncited.is_empty() {
        let parts: Vec<String> = uncited.iter().map(ToString::to_string).collect();
        cx.ui.note(&format!(
            "the prompt has {} parts, and no statement cites part {}; `cru read --prompt --part N {}` prints one",
            prompts.parts.len(),
            parts.join(", "),
            session.id(),
        ));
    }
    let reader = how.reader.unwrap_or("unknown");
    let head = head(&source, &prompts, reader, how.only, &checked, None);
    let shelf = Shelf::read(&catalog, &vault);
    let written = write::write(&checked, &head, how.again, &source, &vault, &shelf, cx)?;
    Ok(Box::new(TakenReading { schema: 1, session: session.id(), written, checked }))
}

/// The text of an answer: of a file, or of stdin; without secrets, since it is kept.
pub(in crate::commands) fn text_of(file: &Path, cx: &Context<'_>) -> Result<String> {
    if file == Path::new("-") {
        let mut text = String::new();
        let mut stdin = std::io::Read::take(std::io::stdin(), MAX_BYTES as u64 + 1);
        std::io::Read::read_to_string(&mut stdin, &mut text).map_err(|error| Error::io("read", "stdin", error))?;
        return Ok(mask(&text).into_owned());
    }
    Ok(mask(&String::from_utf8_lossy(&files::read_given(&cx.absolute(file))?)).into_owned())
}
