//! What a session left open: one list for its note, its workflow, the review, a resume, project notes and lists.
//!
//! What only the record shows is written once, at import, into the property `open`, a text for each point; a person may
//! add to it and take away. Tasks and questions stand in the note itself, where they are ticked and answered.

use cru_base::text::fold_whitespace;

use crate::escape::code;
use crate::words::shorten;
use crate::{Item, Session, Status, Task};

/// Points of one kind that are named on one line; of more their number is told.
const NAMED: usize = 3;

/// Something that a session left open.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OpenPoint {
    /// The session ended before the agent's closing words: how it ended, or what was in progress.
    Unfinished(String),
    /// A plan that was handed over and not approved: its title, which may be empty.
    Plan(String),
    /// A task of the list that is not done.
    Task(String),
    /// A question of the agent that nobody answered.
    Question(String),
    /// A check whose last run failed, as it was called.
    Check(String),
    /// A command that commits, pushes or publishes and whose last attempt did not succeed: how it ended, and its name.
    Attempt(String, String),
    /// A check that the plan names and that did not run.
    NotRun(String),
    /// Work that is not committed; how much, where that is known.
    NotCommitted(String),
    /// Commits that were not pushed.
    NotPushed,
    /// What a person added.
    Other(String),
}

/// A kind of point by its text.
type Kind = fn(String) -> OpenPoint;

/// How the property `open` names the kinds that have a text.
const KINDS: [(&str, Kind); 6] = [
    ("unfinished", OpenPoint::Unfinished),
    ("plan not approved", OpenPoint::Plan),
    ("question", OpenPoint::Question),
    ("failing", OpenPoint::Check),
    ("not run", OpenPoint::NotRun),
    ("not committed", OpenPoint::NotCommitted),
];

/// How an attempt ended of which the record has no result.
pub(crate) const WITHOUT_RESULT: &str = "without a result";

/// How an attempt may have ended.
const ENDS: [&str; 4] = ["failed", "denied", "interrupted", WITHOUT_RESULT];

const NOT_PUSHED: &str = "not pushed";

impl OpenPoint {
    /// The point as the property `open` has it. [`OpenPoint::parse`] reads it back.
    pub fn as_property(&self) -> String {
        let named = |kind: &str, text: &str| if text.is_empty() { kind.to_owned() } else { format!("{kind}: {text}") };
        match self {
            Self::Unfinished(text) => named("unfinished", text),
            Self::Plan(text) => named("plan not approved", text),
            Self::Question(text) => named("question", text),
            Self::Check(text) => named("failing", text),
            Self::NotRun(text) => named("not run", text),
            Self::NotCommitted(text) => named("not committed", text),
            Self::Attempt(end, command) => named(end, command),
            Self::NotPushed => NOT_PUSHED.to_owned(),
            Self::Task(text) | Self::Other(text) => text.clone(),
        }
    }

    /// Reads a text of the property `open`. What has the form of no kind is a person's own point.
    pub fn parse(property: &str) -> Self {
        let (kind, text) = property.split_once(": ").unwrap_or((property, ""));
        if property == NOT_PUSHED {
            return Self::NotPushed;
        }
        if ENDS.contains(&kind) && !text.is_empty() {
            return Self::Attempt(kind.to_owned(), text.to_owned());
        }
        match KINDS.iter().find(|(known, _)| *known == kind) {
            Some((_, point)) => point(text.to_owned()),
            None => Self::Other(property.to_owned()),
        }
    }

    /// The point on one line, commands as code spans. Words of others in it are as they were said: who writes the line into
    /// markdown makes it inert.
    pub fn to_line(&self) -> String {
        // Characters of the text of a point where several are told on one line.
        let short = |text: &str| shorten::at_word(&fold_whitespace(text), 100);
        match self {
            Self::Check(text) => format!("failing: {}", code::span(&short(text))),
            Self::NotRun(text) => format!("of the plan not run: {}", code::span(&short(text))),
            Self::Attempt(end, command) => format!("{} {end}", code::span(&short(command))),
            Self::Task(text) => format!("task not done: {}", short(text)),
            Self::Question(text) => format!("unanswered: \"{}\"", short(text)),
            Self::Plan(text) if !text.is_empty() => format!("plan not approved: \"{}\"", short(text)),
            other => short(&other.as_property()),
        }
    }
}

/// What a session left open, the most urgent first: the property `open`, a status that is not that of completed work, tasks
/// that are not done, questions without an answer.
pub fn open_points(session: &Session) -> Vec<OpenPoint> {
    let text = |text: &str| Some(fold_whitespace(text)).filter(|text| !text.is_empty());
    let tasks = session.tasks().into_iter().filter(|task| Task::is_open(task)).filter_map(|task| text(&task.content));
    let questions = session.items().filter_map(|(_, item)| match item {
        Item::Callout(it) => text(it.unanswered()?),
        _ => None,
    });
    let mut points: Vec<OpenPoint> = session.meta.open.iter().map(|text| OpenPoint::parse(text)).collect();
    let is_told = points.iter().any(|it| matches!(it, OpenPoint::Unfinished(_) | OpenPoint::Plan(_)));
    if let Some(status @ (Status::Paused | Status::Failed | Status::Abandoned)) = &session.meta.status
        && !is_told
    {
        points.push(OpenPoint::Unfinished(format!("the session is {}", status.as_str())));
    }
    points.extend(tasks.map(OpenPoint::Task));
    points.extend(questions.map(OpenPoint::Question));
    // Of one kind, in the order of the note.
    points.sort_by_key(OpenPoint::rank);
    points.dedup();
    points
}

impl OpenPoint {
    fn rank(&self) -> usize {
        match self {
            Self::Unfinished(_) => 0,
            Self::Plan(_) => 1,
            Self::Task(_) => 2,
            Self::Question(_) => 3,
            Self::Check(_) => 4,
            Self::Attempt(..) => 5,
            Self::NotRun(_) => 6,
            Self::NotCommitted(_) => 7,
            Self::NotPushed => 8,
            Self::Other(_) => 9,
        }
    }
}

/// The points on one line, as [`OpenPoint::to_line`] has each; of each kind the first few, then how many more. `None` where nothing is open.
pub fn open_line(points: &[OpenPoint]) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for points in points.chunk_by(|one, other| one.rank() == other.rank()) {
        parts.extend(points.iter().take(NAMED).map(OpenPoint::to_line));
        if points.len() > NAMED {
            parts.push(format!("… and {} more", points.len() - NAMED));
        }
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
mod tests {
    use cru_note::Note;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_note_has_one_list_of_what_is_open() {
        let note = "---\ntype: session\nsession_id: s\nopen:\n  - not pushed\n  - \"failing: cargo test\"\n  - ask Ann\n---\n# T\n\n\
            **Tasks:**\n- [ ] Paint it ^task-1\n- [x] Mend it ^task-2\n\n## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n\
            > [!question] Who pays?\n> At: 2026-11-20T23:22:00Z\n\n> [!question] When?\n> Answer: now\n";
        let points = open_points(&crate::read::session(&Note::parse(note)).0);
        assert_eq!(
            open_line(&points).unwrap(),
            "task not done: Paint it; unanswered: \"Who pays?\"; failing: `cargo test`; not pushed; ask Ann"
        );
        assert_eq!(open_line(&[]), None);
    }

    #[test]
    fn many_points_of_a_kind_are_counted() {
        let tasks: Vec<OpenPoint> = (1..=5).map(|n| OpenPoint::Task(format!("t{n}"))).collect();
        assert_eq!(open_line(&tasks).unwrap(), "task not done: t1; task not done: t2; task not done: t3; … and 2 more");
    }

    proptest! {
        #[test]
        fn a_property_is_read_back(kind in 0..10_usize, text in "[a-z:*`\\[\\]é ]{1,30}") {
            let text = fold_whitespace(&text);
            prop_assume!(!text.is_empty());
            let point = match kind {
                0..6 => KINDS[kind].1(text),
                6 => OpenPoint::NotPushed,
                7 => OpenPoint::NotCommitted(String::new()),
                _ => OpenPoint::Attempt(ENDS[kind % ENDS.len()].to_owned(), text),
            };
            prop_assert_eq!(OpenPoint::parse(&point.as_property()), point);
        }

        #[test]
        fn a_point_is_one_line(text in cru_testing::nasty()) {
            let points = [OpenPoint::Check(text.clone()), OpenPoint::Question(text.clone()), OpenPoint::parse(&text)];
            prop_assert_eq!(open_line(&points).unwrap().lines().count(), 1);
        }
    }
}
