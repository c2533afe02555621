//! `cru check c:`: what is wrong in case notes.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::base::{Diagnostic, Result, Span};
use crate::commands::Context;
use crate::commands::check::CheckedNote;
use crate::commands::session::learn::{WantedCases, extract};
use crate::learn::review::{Part, UNANSWERED};
use crate::learn::{Kind, Review, ReviewStatus};
use crate::note::Note;
use crate::session::{Public, mask};
use crate::vault::{Catalog, Vault, VaultPath};

/// A status that is none, parts that are missing or empty, links to sessions and steps that are gone, two notes of one
/// case, secrets, and cases that the sessions no longer tell. A name is a case; without names all of them.
pub(in crate::commands) fn checked(names: &[String], cx: &Context<'_>) -> Result<Vec<CheckedNote>> {
    let (vault, catalog, reviews) = super::read(cx)?;
    let mut chosen: Vec<&Review> = names.iter().map(|name| super::find(name, &reviews)).collect::<Result<_>>()?;
    if names.is_empty() {
        chosen = reviews.notes.iter().collect();
    }
    let what = WantedCases { sessions: &[], kinds: &Kind::IN_SESSIONS, filter: None };
    let known: HashSet<String> = if chosen.is_empty() {
        HashSet::new()
    } else {
        extract(what, &catalog, &vault, cx)?.cases.into_iter().map(|case| case.id).collect()
    };
    let mut first: HashMap<&str, &str> = HashMap::new();
    let mut twins: BTreeMap<&str, &str> = BTreeMap::new();
    for review in &reviews.notes {
        let of = first.entry(&review.id).or_insert(&review.path);
        if *of != review.path {
            twins.insert(&review.path, of);
        }
    }
    let check = |review: &Review| {
        let text = Public::of(&Note::parse(review.text.as_str())).shown();
        let mut diagnostics = of_note(review, &text, known.contains(&review.id), &catalog, &vault);
        if let Some(other) = twins.get(review.path.as_str()) {
            let message = format!("the same case as {other}: the first of them counts");
            diagnostics.push(Diagnostic::error("case-twice", Span::default(), message));
        }
        CheckedNote { path: review.path.clone(), text, diagnostics, ..CheckedNote::default() }
    };
    Ok(chosen.into_iter().map(check).collect())
}

fn of_note(review: &Review, text: &str, is_known: bool, catalog: &Catalog, vault: &Vault) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    // Where the words stand that a remark is about; else the beginning of the note.
    let place = |words: &str| {
        let at = text.find(words);
        at.map_or_else(Span::default, |at| Span::new(at, at + words.trim_end().len()))
    };
    if let Some(word) = &review.odd_status {
        let message = format!("`status: {word}` is none of proposed, accepted, rejected");
        found.push(Diagnostic::error("review-status", place(&format!("status: {word}")), message));
    }
    if !Kind::IN_SESSIONS.iter().any(|kind| kind.as_str() == review.kind) {
        let message = format!("`case_type: {}` is no type of case", review.kind);
        found.push(Diagnostic::error("case-type", place(&format!("case_type: {}", review.kind)), message));
    }
    let session = place("session: ");
    let mut error = |code, message: String| found.push(Diagnostic::error(code, session, message));
    if review.status == ReviewStatus::Rejected {
        return found;
    }
    let parts = review.parts();
    let needed: &[(Part, &str)] = match Kind::parse(&review.kind) {
        Some(Kind::Demonstration) => &[(Part::Context, "task"), (Part::Expected, "what was done")],
        _ => &[(Part::Context, "context"), (Part::Failure, "failure"), (Part::Expected, "expected behaviour")],
    };
    for (part, name) in needed {
        match parts.iter().find(|(known, _)| known == part) {
            None => error("case-part", format!("the part with the {name} is missing")),
            Some((Part::Context, _)) => {}
            Some((_, text)) if text.trim().is_empty() => {
                error("case-part", format!("the part with the {name} is empty"));
            }
            Some(_) => {}
        }
    }
    let (name, block) = review.session.split_once("#^").unwrap_or((&review.session, ""));
    match VaultPath::new(&review.path).and_then(|path| catalog.note(name, &path)) {
        None => error("no-session", format!("the session {name} is not in the vault")),
        Some(head) if !block.is_empty() && !vault.read(&head.path).is_ok_and(|bytes| holds(&bytes, block)) => {
            error("missing-block", format!("{name} has no block ^{block}"));
        }
        Some(_) => {}
    }
    for secret in mask::find(&review.text) {
        let line = review.text[..secret.range.start].matches('\n').count() + 1;
        error("secret", format!("line {line}: a secret ({})", secret.rule));
    }
    let mut warning = |span, message: &str| found.push(Diagnostic::warning("case-unused", span, message));
    let is_written = |(part, text): &(Part, &str)| *part == Part::Expected && !text.trim().is_empty();
    if parts.iter().any(is_written) && review.is_unanswered() {
        warning(place(UNANSWERED), "no expected behaviour: it is in no export until somebody writes it");
    }
    if !is_known {
        warning(session, "the session does not tell this case any more: it is in no export");
    }
    found
}

/// Whether a note has a block of that id.
fn holds(bytes: &[u8], block: &str) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let mark = format!("^{block}");
    text.match_indices(&mark)
        .any(|(at, _)| !text[at + mark.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '-'))
}
