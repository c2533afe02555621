//! What the user said: corrections of the whole session, what was asked at first, and the words of recent phases that
//! the pack does not show in full.

use std::collections::HashSet;

use super::entry::Entry;
use super::point::{ItemPlace, Point};
use super::text;
use cru_graph::turns;
use cru_session::{Item, Session, User};

/// Words with their place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a> {
    pub(super) place: ItemPlace,
    user: &'a User,
    kind: WordKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordKind {
    First,
    Correction,
    Other,
}

/// Everything the user said up to the resume point, in order.
fn all<'a>(session: &'a Session, point: &Point<'a>) -> Vec<Said<'a>> {
    let preface = session.preface.iter().enumerate().map(|(at, item)| ((None, at), item));
    let phases = point.before().iter().enumerate();
    let phases = phases
        .flat_map(|(index, phase)| phase.items.iter().enumerate().map(move |(at, item)| ((Some(index), at), item)));
    // A person's title decides; untitled words are judged once, for whoever asks.
    let turns = turns(session);
    let corrections: HashSet<*const User> =
        turns.iter().filter_map(|turn| turn.correction).map(|it| std::ptr::from_ref(it.user)).collect();
    let corrects = |user: &User| user.correction || corrections.contains(&std::ptr::from_ref(user));
    let mut said = Vec::new();
    for (place, item) in preface.chain(phases) {
        let Item::User(user) = item else { continue };
        if user.words.trim().is_empty() {
            continue;
        }
        let kind = match said.is_empty() {
            true => WordKind::First,
            false if corrects(user) => WordKind::Correction,
            false => WordKind::Other,
        };
        said.push(Said { place, user, kind });
    }
    said
}

/// What was asked first and every correction, in order.
pub(super) fn standing<'a>(session: &'a Session, point: &Point<'a>) -> Vec<Said<'a>> {
    let mut said = all(session, point);
    said.retain(|it| it.kind != WordKind::Other);
    said
}

/// The other words of the phases in `phases`, in order.
pub(super) fn others<'a>(session: &'a Session, point: &Point<'a>, phases: std::ops::Range<usize>) -> Vec<Said<'a>> {
    let mut said = all(session, point);
    said.retain(|it| it.kind == WordKind::Other && it.place.0.is_some_and(|index| phases.contains(&index)));
    said
}

impl Said<'_> {
    /// How much it matters: corrections first, the newest before the older ones.
    pub(super) fn rank(&self) -> (bool, bool, std::cmp::Reverse<ItemPlace>) {
        (self.kind == WordKind::Other, self.kind == WordKind::First, std::cmp::Reverse(self.place))
    }

    /// As it stands in a pack.
    pub(super) fn entry(&self, session: &Session) -> Entry {
        let phase = self.place.0.and_then(|index| session.phases.get(index));
        let place = phase.map_or_else(|| "before the first phase".to_owned(), |it| text::short(&it.id, 20));
        let kind = match self.kind {
            WordKind::First => "Asked first",
            WordKind::Correction => "Correction",
            WordKind::Other => "Said",
        };
        let done = self.user.interpretation.as_deref().map(|words| text::short(words, 160));
        let done = done.filter(|words| !words.is_empty()).map_or_else(String::new, |words| format!(" (then: {words})"));
        // Tokens of one person's remark; what is longer is cut and says so.
        let (words, cut) = text::cut(&text::clean(&self.user.words), 400);
        let text = format!("- {kind}, {place}{done}:\n{}", text::quote(&words, "  ").trim_end());
        Entry::new(text::short(&words, 80), text).cut(cut)
    }
}
