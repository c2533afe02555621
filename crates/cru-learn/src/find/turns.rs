//! A session as one line of talk: what was asked, and what was done upon it, turn by turn.
//!
//! The turns are [`cru_graph::turn`]'s, with what each item tells; bookkeeping and what tells nothing is left out.

use std::collections::HashMap;

use crate::case::Turn;
use crate::case::entry::{self, Entry};
use crate::case::note::{Cleaner, Note};
use crate::context::budget;
use cru_graph::turn::{self, Correction, Taken};
use cru_session::{Callout, Item, Link, User, correction};

/// One thing done, with the item it was read from.
#[derive(Debug)]
pub(crate) struct TurnItem<'a> {
    /// The item.
    pub(crate) item: &'a Item,
    /// What it tells.
    pub(crate) entry: Entry,
}

/// Words of a person, or a phase, and what was done upon it.
#[derive(Debug, Default)]
pub(crate) struct SessionTurn<'a> {
    /// The level-2 phase it stands in.
    pub(crate) phase: Option<usize>,
    /// The person's words; several when nothing was done between them, none when a phase opens without.
    pub(crate) users: Vec<&'a User>,
    /// What a parent agent asked, where the session is a sub-agent's: `[!context] Task`.
    pub(crate) task: Option<&'a Callout>,
    /// What was done.
    pub(crate) beats: Vec<TurnItem<'a>>,
    /// What the person ran with the words (`!ls`): theirs, and none of the agent's deeds.
    pub(crate) own: Vec<Entry>,
    /// Whether a person stopped it.
    pub(crate) interrupted: bool,
    /// Whether a picture came with the words, which the record does not hold.
    pub(crate) picture: bool,
    /// How its words correct the round before.
    pub(crate) correction: Option<Correction<'a>>,
    /// How the next words took it.
    pub(crate) taken: Taken,
}

/// The turns of a session, in order.
#[derive(Debug)]
pub(crate) struct Turns<'a> {
    /// The turns.
    pub(crate) rounds: Vec<SessionTurn<'a>>,
    /// Cleans the texts of the note.
    pub(crate) cleaner: Cleaner<'a>,
    note: Note<'a>,
    /// Turn and item of each block id.
    places: HashMap<&'a str, (usize, usize)>,
}

impl<'a> Turns<'a> {
    /// Reads the turns of a note.
    pub(crate) fn of(note: Note<'a>) -> Self {
        let session = note.session;
        let cleaner = Cleaner::new(note);
        let entry = |item: &'a Item| {
            let entry = entry::of_item(item, &|words: &str| cleaner.text(words))?;
            let mut entry = if says_stopped(item) { entry.without_stop()? } else { entry };
            entry.complete(note.calls);
            Some(entry)
        };
        let round = |turn: turn::Turn<'a>| SessionTurn {
            phase: turn.phase,
            own: turn.own.iter().filter_map(|it| entry(it.item)).collect(),
            beats: turn.work.iter().filter_map(|it| Some(TurnItem { item: it.item, entry: entry(it.item)? })).collect(),
            users: turn.requests,
            task: turn.task,
            interrupted: turn.interrupted,
            picture: turn.picture,
            correction: turn.correction,
            taken: turn.taken,
        };
        let mut rounds: Vec<SessionTurn<'a>> = turn::turns(session).into_iter().map(round).collect();
        rounds.retain(|round| !round.is_empty());
        let mut places = HashMap::new();
        for (index, round) in rounds.iter().enumerate() {
            for (at, beat) in round.beats.iter().enumerate() {
                if let Some(id) = beat.item.id() {
                    places.entry(id).or_insert((index, at));
                }
            }
        }
        Self { rounds, cleaner, note, places }
    }

    /// Whether `cru` wrote the note.
    pub(crate) const fn written(&self) -> bool {
        self.note.session.meta.cursor.is_some()
    }

    /// Turn and item of what a link points at.
    pub(crate) fn place(&self, link: &Link) -> Option<(usize, usize)> {
        self.place_of(link.block.as_deref()?)
    }

    /// Turn and item of a block.
    pub(crate) fn place_of(&self, block: &str) -> Option<(usize, usize)> {
        self.places.get(block).copied()
    }

    /// The turns before beat `until` of round `index`, from the beginning of its phase, and at least those that its words
    /// may speak of.
    pub(crate) fn context(&self, index: usize, until: usize) -> Vec<Turn> {
        let first = self.opening(index).min(index.saturating_sub(budget::BEFORE));
        // The first turn says what it is all about, the last ones what led here.
        let mut turns: Vec<Turn> = Vec::new();
        let last = (index + 2).saturating_sub(budget::TURNS).max(first + 1);
        for at in std::iter::once(first).chain(last..=index) {
            let round = &self.rounds[at];
            let until = if at == index { until.min(round.beats.len()) } else { round.beats.len() };
            let turn = self.turn(at, bounded(until));
            match turns.last_mut() {
                // Words without an answer belong to those after them.
                Some(last) if last.done.is_empty() && !turn.heading && !last.heading => {
                    let asked = entry::paragraphs([last.asked.as_str(), &turn.asked]);
                    let rounds = [last.rounds.as_slice(), &turn.rounds].concat();
                    *last = Turn { asked, rounds, ..turn };
                }
                Some(last) if last.done.is_empty() => *last = turn,
                _ => turns.push(turn),
            }
        }
        self.measure(&mut turns);
        turns
    }

    /// The first round of the phase that round `index` stands in.
    fn opening(&self, index: usize) -> usize {
        let phase = self.rounds[index].phase;
        self.rounds[..index].iter().rposition(|round| round.phase != phase).map_or(0, |at| at + 1)
    }

    /// A round, and those of its things that are shown.
    pub(crate) fn turn(&self, index: usize, shown: impl Iterator<Item = usize>) -> Turn {
        let round = &self.rounds[index];
        let words = self.words(round);
        let heading = words.is_empty();
        let asked = if heading { self.heading(round.phase) } else { words };
        let at: Vec<usize> = shown.filter(|&at| !round.beats[at].entry.is_blank()).collect();
        let done = at.iter().map(|&at| round.beats[at].entry.clone()).collect();
        let corrects = round.correction.is_some();
        Turn { asked, heading, corrects, done, at, rounds: vec![index], ..Turn::default() }
    }

    /// The words that open a round.
    #[expect(clippy::unused_self, reason = "a round is always one of these turns")]
    pub(crate) fn words(&self, round: &SessionTurn<'a>) -> String {
        let words = |user: &&User| Cleaner::words(&user.words);
        let task = round.task.map(|task| Cleaner::words(&task.body));
        let own = round.own.iter().map(|entry| entry.answer().to_owned());
        let words: Vec<String> = task.into_iter().chain(round.users.iter().map(words)).chain(own).collect();
        entry::paragraphs(words.iter().map(String::as_str))
    }

    /// Session title and phase heading: what stands for the task where nobody's words do.
    fn heading(&self, phase: Option<usize>) -> String {
        let title = self.title();
        let heading = self.phase_title(phase);
        if heading.is_empty() || heading == title { title } else { format!("{title}: {heading}") }
    }

    /// Whether the session has a title.
    pub(crate) fn is_named(&self) -> bool {
        self.note.session.meta.title.is_some() || self.note.session.heading.is_some()
    }

    /// What the session is called.
    pub(crate) fn title(&self) -> String {
        // A title has no place of its own among the blocks.
        Cleaner::words(self.note.session.title())
    }

    /// The heading of a phase, without agent and channel.
    pub(crate) fn phase_title(&self, phase: Option<usize>) -> String {
        let phase = phase.and_then(|index| self.note.session.phases.get(index));
        phase.map(|phase| Cleaner::words(&phase.title)).unwrap_or_default()
    }
}

/// What was done, without marks that tell nothing.
pub(crate) fn told(beats: &[TurnItem<'_>]) -> Vec<Entry> {
    beats.iter().map(|beat| &beat.entry).filter(|entry| !entry.is_blank()).cloned().collect()
}

/// Which of so many things done are shown: the middle of a long way is left out.
fn bounded(beats: usize) -> impl Iterator<Item = usize> {
    let all = beats <= budget::FIRST + budget::LAST + 1;
    (0..beats).filter(move |&at| all || at < budget::FIRST || at >= beats - budget::LAST)
}

impl SessionTurn<'_> {
    fn is_empty(&self) -> bool {
        self.users.is_empty() && self.task.is_none() && self.beats.is_empty()
    }
}

/// Whether an item holds a line that says that a person stopped the agent.
fn says_stopped(item: &Item) -> bool {
    matches!(item, Item::Prose(prose) if prose.text.lines().any(|line| line.trim() == correction::INTERRUPTED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_session::{Phase, Prose, Session};

    fn phase(id: &str, from: Option<&str>, items: Vec<Item>) -> Phase {
        let from = from.map(Link::to_block);
        Phase { id: id.into(), title: id.to_uppercase(), level: 2, from, items, ..Phase::default() }
    }

    fn user(words: &str) -> Item {
        Item::User(User { words: words.into(), callout: Callout::default(), ..User::default() })
    }

    fn prose(text: &str) -> Item {
        Item::Prose(Prose { text: text.into(), ..Prose::default() })
    }

    fn told(session: &Session) -> Vec<(String, Vec<String>)> {
        let trail = Turns::of(Note { path: "s.md", text: "", session, calls: None });
        let entries = |round: &SessionTurn<'_>| round.beats.iter().map(|beat| beat.entry.text()).collect();
        trail.rounds.iter().map(|round| (trail.words(round), entries(round))).collect()
    }

    #[test]
    fn turns_begin_with_words_or_a_phase() {
        let session = Session {
            phases: vec![
                phase("p-01", None, vec![user("a"), user("b"), prose("x"), user("c"), prose("y")]),
                phase("p-02", None, vec![prose("z")]),
            ],
            ..Session::default()
        };
        let expected = [("a\n\nb", vec!["x"]), ("c", vec!["y"]), ("", vec!["z"])];
        let expected = expected.map(|(words, did)| (words.to_owned(), did.into_iter().map(str::to_owned).collect()));
        assert_eq!(told(&session), expected);
        let trail = Turns::of(Note { path: "s.md", text: "", session: &session, calls: None });
        let context = trail.context(2, 1);
        let asked: Vec<(&str, bool)> = context.iter().map(|turn| (turn.asked.as_str(), turn.heading)).collect();
        assert_eq!(asked, [("a\n\nb", false), ("c", false), ("untitled: P-02", true)], "with what was said before");
    }

    #[test]
    fn abandoned_phases_are_left_out() {
        let session = Session {
            phases: vec![
                phase("p-01", None, vec![prose("1")]),
                phase("p-02", None, vec![prose("2")]),
                phase("p-03", Some("p-02"), vec![prose("3")]),
                phase("p-04", Some("p-01"), vec![prose("4")]),
                phase("p-05", Some("nowhere"), vec![prose("5")]),
            ],
            ..Session::default()
        };
        let did: Vec<String> = told(&session).into_iter().flat_map(|(_, did)| did).collect();
        assert_eq!(did, ["1", "4", "5"]);
    }
}
