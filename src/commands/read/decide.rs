//! `cru review accept` and `reject`: readings and lessons.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::Shelf;
use crate::base::text::sanitise;
use crate::base::{Error, Result, files};
use crate::commands::output::style::{self, paint};
use crate::commands::session::learn::{self, Reviews};
use crate::commands::{Context, Output, PlainOutput, View, reading};
use crate::learn::LeftOut;
use crate::note::edit::set_key;
use crate::note::frontmatter::Value;
use crate::readings::note::{ReadingNote, ReviewStatus};
use crate::sync::top;
use crate::vault::{Catalog, State, Vault, state};

/// Decides about readings and lessons: names of readings, sessions or ids of lessons.
pub(in crate::commands) fn decide(what: &[String], status: ReviewStatus, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = reading::vault(cx)?;
    let shelf = Shelf::read(&Catalog::read(&vault), &vault);
    let mut decided = DecidedReadings { schema: 1, status, ..DecidedReadings::default() };
    // Nothing is written before all of them are known.
    let mut plan: Vec<(&str, &str, ReviewStatus, &str)> = Vec::new();
    for what in what {
        if let Some(it) = shelf.lesson(what) {
            plan.push((&it.path, &it.text, it.lesson.status, "lesson"));
            continue;
        }
        let note = shelf.find(what)?;
        if status == ReviewStatus::Accepted && note.answer.is_none() {
            let why = note.error.clone().unwrap_or_default();
            return Err(Error::usage(format!("{} cannot be used: {}", note.path, sanitise(&why))));
        }
        plan.push((&note.path, &note.text, note.head.status, "reading"));
        plan.extend(with_it(note, status, &shelf));
    }
    let readings: Vec<&ReadingNote> =
        what.iter().filter(|what| shelf.lesson(what).is_none()).map(|what| shelf.find(what)).collect::<Result<_>>()?;
    for (path, text, was, kind) in plan {
        if decided.changed.iter().any(|it| it.path == path) {
            continue;
        }
        set(path, text, status, &vault)?;
        decided.changed.push(DecidedReading { path: path.to_owned(), kind: kind.to_owned(), was });
    }
    for reading in readings {
        let why = refresh_top(&reading.head.session, &vault, cx)?;
        decided.untold.extend(why.map(|why| format!("{}: {why}", reading.head.session)));
        if status == ReviewStatus::Accepted {
            let (created, left_out) = learn::write_read_cases(&reading.head.session, &vault, cx)?;
            decided.cases.extend(created);
            decided.left_out.extend(left_out);
        } else if status == ReviewStatus::Rejected {
            reject_cases(&reading.head.key, &vault, &mut decided)?;
        }
    }
    Ok(Box::new(decided))
}

/// Brings the summary on top of a session's note in line with the reading that counts now; why it does not tell one.
pub(super) fn refresh_top(session: &str, vault: &Vault, cx: &Context<'_>) -> Result<Option<&'static str>> {
    let catalog = Catalog::read(vault);
    let Some(head) = catalog.sessions().find(|head| head.path.stem() == session) else {
        return Ok(Some("the session's note is not in the vault"));
    };
    let shelf = Shelf::read(&catalog, vault);
    let state = State::of(vault, cx.env)?;
    top::refresh((vault, &state, cx.env.now()), &state::key(&head.id()), &head.path, &shelf.of(session))
}

/// Whether a name means a reading or a lesson.
pub(in crate::commands) fn is_known(what: &str, cx: &Context<'_>) -> Result<bool> {
    let vault = reading::vault(cx)?;
    let shelf = Shelf::read(&Catalog::read(&vault), &vault);
    Ok(shelf.lesson(what).is_some() || shelf.find(what).is_ok())
}

/// Gives a lesson other words, in its title and its heading.
pub(in crate::commands) fn reword(lesson: &str, words: &str, cx: &Context<'_>) -> Result<()> {
    let vault = reading::vault(cx)?;
    vault.writable()?;
    let shelf = Shelf::read(&Catalog::read(&vault), &vault);
    let Some(it) = shelf.lesson(lesson) else {
        return Err(Error::no(format!("no lesson `{}`", sanitise(lesson))));
    };
    let words = crate::base::text::fold_whitespace(&sanitise(words));
    let failed = |error| Error::usage(format!("could not change {}: {error}", it.path));
    let titled = set_key(&it.text, "title", &Value::String(words.clone())).map_err(failed)?;
    let text = String::from_utf8_lossy(&titled.apply(it.text.as_bytes())).into_owned();
    let heading = format!("# {}", crate::session::escape::inline(&words));
    // A `#` of the frontmatter is a comment.
    let (front, body) = text.split_at(crate::note::frontmatter::split(&text).body_start);
    let mut new = front.to_owned();
    let mut is_set = false;
    for line in body.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        if !is_set && body.starts_with("# ") {
            new.push_str(&heading);
            new.push_str(&line[body.len()..]);
            is_set = true;
        } else {
            new.push_str(line);
        }
    }
    files::replace_within(vault.root(), &vault.root().join(&it.path), it.text.as_bytes(), new.as_bytes())
}

/// Rejects the notes of a reading's cases that nobody has touched.
fn reject_cases(key: &str, vault: &Vault, decided: &mut DecidedReadings) -> Result<()> {
    let reviews = Reviews::read(&Catalog::read(vault), vault);
    for case in reviews.notes.iter().filter(|it| !it.reading.is_empty() && it.reading == key && !it.changed) {
        set(&case.path, &case.text, ReviewStatus::Rejected, vault)?;
        let was = ReviewStatus::parse_any_case(case.status.as_str()).unwrap_or_default();
        decided.changed.push(DecidedReading { path: case.path.clone(), kind: "case".to_owned(), was });
    }
    Ok(())
}

/// Lessons that go with a reading, since no other session tells them: those that nobody has decided about, and with a rejected
/// one those that were accepted.
fn with_it<'s>(
    note: &ReadingNote,
    status: ReviewStatus,
    shelf: &'s Shelf,
) -> Vec<(&'s str, &'s str, ReviewStatus, &'s str)> {
    let said = |text: &str| note.answer.as_ref().is_some_and(|it| it.lessons.iter().any(|lesson| lesson.text == text));
    let of = |it: &&crate::readings::lesson::LessonNote| {
        let is_meant = match status {
            ReviewStatus::Rejected => it.lesson.status != ReviewStatus::Rejected,
            _ => it.lesson.status == ReviewStatus::Proposed && it.lesson.contradicts.is_empty(),
        };
        it.of_reading && is_meant && it.lesson.sessions == [note.head.session.clone()] && said(&it.lesson.text)
    };
    shelf.lessons.iter().filter(of).map(|it| (it.path.as_str(), it.text.as_str(), it.lesson.status, "lesson")).collect()
}

/// Sets `status` of a note.
pub(super) fn set(path: &str, text: &str, status: ReviewStatus, vault: &Vault) -> Result<()> {
    vault.writable()?;
    let patch = set_key(text, "status", &Value::String(status.as_str().to_owned()))
        .map_err(|error| Error::usage(format!("could not change {path}: {error}")))?;
    if !patch.is_empty() {
        let new = patch.apply(text.as_bytes());
        files::replace_within(vault.root(), &vault.root().join(path), text.as_bytes(), &new)?;
    }
    Ok(())
}

#[derive(Debug, Default, Serialize)]
struct DecidedReadings {
    schema: u32,
    status: ReviewStatus,
    changed: Vec<DecidedReading>,
    /// Sessions of which the summary on top does not tell the reading that counts, and why.
    untold: Vec<String>,
    /// Notes of cases that were written.
    cases: Vec<PathBuf>,
    /// Cases of which the record gives none.
    left_out: Vec<LeftOut>,
}

#[derive(Debug, Serialize)]
struct DecidedReading {
    path: String,
    kind: String,
    was: ReviewStatus,
}

impl PlainOutput for DecidedReadings {
    fn shown(&self, _: &View) -> String {
        let look = if self.status == ReviewStatus::Rejected { style::BAD } else { style::GOOD };
        let now = paint(look, self.status.as_str());
        let mut out = String::new();
        for it in &self.changed {
            let change =
                if it.was == self.status { format!("{now} already") } else { format!("{} → {now}", it.was.as_str()) };
            let _ = writeln!(out, "{}  {change}", paint(style::ID, sanitise(&it.path)));
        }
        for why in &self.untold {
            let _ = writeln!(out, "summary on top unchanged: {}", sanitise(why));
        }
        for path in &self.cases {
            let _ = writeln!(out, "{}  written", paint(style::ID, sanitise(&path.to_string_lossy())));
        }
        for it in &self.left_out {
            let _ = writeln!(out, "no case: {}: {}", sanitise(&it.title), it.reason.as_str());
        }
        out
    }
}
