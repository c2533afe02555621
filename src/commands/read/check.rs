//! `cru check r:`: readings, and answers in files, against the record.

use std::path::Path;

use super::answer::judge;
use super::source::Source;
use super::{Shelf, text_of};
use crate::base::{Diagnostic, Error, Result, Span};
use crate::commands::check::CheckedNote;
use crate::commands::{Context, reading};
use crate::note::Note;
use crate::readings::check::Severity;
use crate::readings::note::{ReadingNote, ReviewStatus};
use crate::readings::{Checked, Finding, check};
use crate::session::Public;
use crate::vault::{Catalog, Vault, VaultPath};

/// Compares each claim with the session as it is now. A name is a reading, a session, or a file with an answer (`-`: stdin); without
/// names all readings that are not rejected.
pub(in crate::commands) fn checked(names: &[String], cx: &Context<'_>) -> Result<Vec<CheckedNote>> {
    let (vault, catalog) = reading::vault_with_catalog(cx)?;
    let shelf = Shelf::read(&catalog, &vault);
    if names.is_empty() {
        let used = shelf.readings.iter().filter(|it| it.head.status != ReviewStatus::Rejected);
        return Ok(used.map(|note| of_note(note, &catalog, &vault, cx)).collect());
    }
    let of = |name: &String| {
        let file = cx.absolute(Path::new(name));
        if name == "-" || file.is_file() && file.extension().is_none_or(|it| it != "md") {
            return of_answer(name, text_of(Path::new(name), cx)?, &catalog, &vault, cx);
        }
        let found = shelf.find(name).map_err(|error| match catalog.session(name, &vault, cx.env) {
            Ok(_) => error.with_hint("an answer in a file names its session: `cru check r:FILE`"),
            Err(_) => error,
        });
        Ok(of_note(found?, &catalog, &vault, cx))
    };
    names.iter().map(of).collect()
}

/// An answer in a file, of the session that it names.
fn of_answer(name: &str, text: String, catalog: &Catalog, vault: &Vault, cx: &Context<'_>) -> Result<CheckedNote> {
    let unusable = |reason: String| Diagnostic::error("unusable-answer", Span::default(), reason);
    let diagnostics = match crate::readings::answer::read(&text) {
        Err(errors) => errors.iter().map(|error| unusable(error.to_string())).collect(),
        Ok(answer) => {
            let head = catalog.session(&answer.session, vault, cx.env)?;
            match judge(&text, &Source::of(head, catalog, vault, cx)?) {
                Ok(checked) => diagnostics(&checked, &text),
                Err(why) => vec![unusable(why.trim().to_owned())],
            }
        }
    };
    Ok(CheckedNote {
        path: if name == "-" { "stdin" } else { name }.to_owned(),
        text,
        diagnostics,
        ..Default::default()
    })
}

fn of_note(note: &ReadingNote, catalog: &Catalog, vault: &Vault, cx: &Context<'_>) -> CheckedNote {
    let text = Public::of(&Note::parse(note.text.as_str())).shown();
    let session = || {
        let path = VaultPath::new(&note.path);
        let head = path.and_then(|path| catalog.note(&note.head.session, &path));
        let gone = || Error::no(format!("the session {} is not in the vault", note.head.session));
        Source::of(head.ok_or_else(gone)?, catalog, vault, cx)
    };
    let fault = |code, reason| vec![Diagnostic::error(code, Span::default(), reason)];
    let diagnostics = match (&note.answer, &note.odd_status) {
        (None, _) => {
            let why = note.error.as_deref().unwrap_or_default();
            fault("unusable-answer", format!("the data of the note cannot be read: {why}"))
        }
        (_, Some(word)) => fault("review-status", format!("`status: {word}` is none of proposed, accepted, rejected")),
        (Some(answer), None) => match session() {
            Ok(source) => diagnostics(&check(answer, &source.record), &text),
            Err(error) => fault("no-session", error.to_string()),
        },
    };
    CheckedNote { path: note.path.clone(), text, diagnostics, ..CheckedNote::default() }
}

/// What does not hold, each where its claim stands in the text, and how many statements do.
fn diagnostics(checked: &Checked, text: &str) -> Vec<Diagnostic> {
    let of = |finding: &Finding| {
        let claim = finding.text.as_str();
        let place = text.find(claim).filter(|_| !claim.is_empty());
        let span = place.map_or_else(Span::default, |at| Span { start: at, end: at + claim.len() });
        let message = finding.to_string().replace('\n', " ");
        match finding.severity {
            Severity::Refused => Diagnostic::error("refused-claim", span, message),
            Severity::Doubted => Diagnostic::warning("doubted-claim", span, message),
        }
    };
    let holds = format!("{} of {} statements hold", checked.kept, checked.claims);
    let holds = Diagnostic::info("claims", Span::default(), holds);
    checked.findings.iter().map(of).chain([holds]).collect()
}
