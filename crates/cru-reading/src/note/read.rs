//! A reading out of its note.

use cru_note::frontmatter;

use super::{ReadingHead, ReadingNote, ReviewStatus, rendered};
use crate::answer;
use cru_session::public;

/// Reads a note; `None` where it is no reading.
pub fn read(path: &str, text: &str) -> Option<ReadingNote> {
    let (whole, text) = (text, &*public::text(text));
    let (values, _) = frontmatter::read(text, &frontmatter::split(text).block?);
    let value = |key| values.string(key).unwrap_or_default();
    if value("type") != "reading" {
        return None;
    }
    let status = ReviewStatus::parse_any_case(value("status"));
    let number = |text: &str| text.trim().parse::<usize>().unwrap_or_default();
    let claims = value("claims").split_once('/').map(|(kept, all)| (number(kept), number(all))).unwrap_or_default();
    let head = ReadingHead {
        session: target(value("session")).to_owned(),
        note: value("note").to_owned(),
        through: value("through").to_owned(),
        before: value("before").to_owned(),
        reader: value("reader").to_owned(),
        prompt: value("prompt").to_owned(),
        key: value("key").to_owned(),
        judge: values.string("judge").map(str::to_owned),
        claims,
        tokens: values.u64("tokens"),
        read: values.string("read").map(str::to_owned),
        reason: value("reason").to_owned(),
        status: status.unwrap_or_default(),
    };
    let (answer, error) = match json(text).map(answer::read) {
        Some(Ok(answer)) => (Some(answer), None),
        Some(Err(errors)) => (None, errors.first().map(ToString::to_string)),
        None => (None, Some("the fence with the data is gone".to_owned())),
    };
    Some(ReadingNote {
        path: path.to_owned(),
        changed: value("rendered") != rendered(whole),
        odd_status: status.is_none().then(|| value("status").to_owned()),
        head,
        answer,
        error,
        text: whole.to_owned(),
    })
}

/// What a link in a property names.
fn target(link: &str) -> &str {
    let link = link.trim().trim_start_matches("[[").trim_end_matches("]]");
    link.split(['#', '|']).next().unwrap_or(link)
}

/// The JSON in the last fence `json reading`.
fn json(text: &str) -> Option<&str> {
    let mut found = None;
    let mut open: Option<(usize, &str)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_end();
        let ticks = &trimmed[..trimmed.len() - trimmed.trim_start_matches('`').len()];
        match open {
            Some((start, fence)) if trimmed == fence => {
                found = text.get(start..at);
                open = None;
            }
            None if ticks.len() >= 3 && trimmed[ticks.len()..].trim() == "json reading" => {
                open = Some((at + line.len(), ticks));
            }
            _ => {}
        }
        at += line.len();
    }
    found
}
