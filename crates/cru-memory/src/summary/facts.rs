//! What a session says of a stretch of time.

use jiff::{SignedDuration, Timestamp};

use cru_base::text::fold_whitespace;
use cru_session::open::open_points;
use cru_session::words::quote::quote;
use cru_session::{Item, Session};

/// A pause of this length and more is no work.
const PAUSE: SignedDuration = SignedDuration::from_mins(10);

/// From a moment up to another one, which does not belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeWindow {
    /// The first moment.
    pub start: Timestamp,
    /// The first moment behind it.
    pub end: Timestamp,
}

impl TimeWindow {
    /// Whether a moment lies in it.
    pub fn has(&self, at: Timestamp) -> bool {
        self.start <= at && at < self.end
    }

    /// Whether a stretch of time touches it.
    pub fn touches(&self, from: Timestamp, to: Timestamp) -> bool {
        from < self.end && self.start <= to
    }
}

/// What a session did in a stretch of time. Texts are one line each, as they were said; long ones are cut with a mark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeriodFacts {
    /// The first and the last moment in it that the note tells.
    pub from: Option<Timestamp>,
    /// See `from`.
    pub to: Option<Timestamp>,
    /// Steps.
    pub steps: usize,
    /// Work without pauses of ten minutes and more.
    pub active: SignedDuration,
    /// Whether all that the session tells lies in it.
    pub is_whole: bool,
    /// The first line that a person said in each phase.
    pub requests: Vec<String>,
    /// Words that set the agent right.
    pub corrections: Vec<String>,
    /// Decisions, with the reason behind a dash.
    pub decisions: Vec<String>,
    /// Commits: id and subject.
    pub commits: Vec<(String, String)>,
    /// Errors without a resolution.
    pub errors: Vec<String>,
    /// How many errors were resolved.
    pub fixed: usize,
    /// Lessons.
    pub lessons: Vec<String>,
    /// Tasks and questions that are open now, where the last work of the session lies in the stretch.
    pub open: Vec<String>,
}

impl PeriodFacts {
    /// Of a session; `None` where it did nothing in that time. A thing without a time of its own happened when the thing
    /// before it did. Linear in the session.
    pub fn of(session: &Session, window: TimeWindow) -> Option<Self> {
        let mut facts = Self { is_whole: true, ..Self::default() };
        let mut now = session.meta.started;
        let mut last: Option<Timestamp> = None;
        let mut phase = None;
        let mut asked = false;
        let mut latest = now;
        for (of, item) in session.items() {
            let of = of.map(|it| it.id.as_str());
            if of != phase {
                (phase, asked) = (of, false);
                now = session.phases.iter().find(|it| Some(it.id.as_str()) == of).and_then(|it| it.started).or(now);
            }
            now = own_time(item).or(now);
            latest = latest.max(now);
            let is_in = now.is_some_and(|at| window.has(at));
            let is_first = is_words(item) && !asked;
            asked |= is_first;
            if !is_in {
                facts.is_whole &= !tells(item);
                continue;
            }
            if tells(item) {
                facts.from = facts.from.or(now);
                facts.to = facts.to.max(now);
                if let (Some(before), Some(at)) = (last, now) {
                    let pause = at.duration_since(before);
                    if pause.is_positive() && pause < PAUSE {
                        facts.active += pause;
                    }
                }
                last = now;
            }
            facts.take(item, is_first);
        }
        let has_any = facts.steps > 0 || !facts.requests.is_empty() || !facts.decisions.is_empty();
        if !has_any {
            return None;
        }
        if latest.is_some_and(|at| window.has(at)) {
            facts.open = open(session);
        }
        Some(facts)
    }

    fn take(&mut self, item: &Item, is_first: bool) {
        match item {
            Item::Step(step) => {
                self.steps += 1;
                let named = step.commits().filter(|(id, _)| !id.is_empty());
                self.commits.extend(named.map(|(id, subject)| (id.to_owned(), line(subject))));
            }
            Item::User(user) => {
                if user.correction {
                    self.corrections.push(line(&user.words));
                } else if is_first {
                    // A fence is no words.
                    let says = |line: &&str| !line.starts_with("```") && line.contains(char::is_alphanumeric);
                    let first = user.words.lines().map(str::trim).find(says).unwrap_or_default();
                    let words = line(first);
                    if !words.is_empty() && !self.requests.contains(&words) {
                        self.requests.push(words);
                    }
                }
            }
            Item::Decision(it) => {
                let title = line(&it.callout.title);
                let told = match it.why.as_deref().map(line).filter(|why| !why.is_empty()) {
                    Some(why) => format!("{title} – {why}"),
                    None => title,
                };
                if !told.is_empty() {
                    self.decisions.push(told);
                }
            }
            Item::Error(it) => match it.resolution {
                Some(_) => self.fixed += 1,
                None => self.errors.push(line(&it.callout.title)),
            },
            Item::Callout(it) if it.kind == "lesson" => {
                let first = it.body.lines().find(|line| !line.trim().is_empty()).unwrap_or(&it.title);
                self.lessons.push(line(first));
            }
            _ => {}
        }
    }
}

fn line(text: &str) -> String {
    // Characters of one fact.
    fold_whitespace(&quote(text, 240))
}

/// When an item says that it happened.
fn own_time(item: &Item) -> Option<Timestamp> {
    match item {
        Item::Step(step) => step.time,
        other => other.callout().and_then(|callout| callout.at),
    }
}

/// Whether an item is something that was said or done, and no account of the whole session.
fn tells(item: &Item) -> bool {
    match item {
        Item::Step(_) | Item::User(_) | Item::Decision(_) | Item::Error(_) | Item::Subagent(_) => true,
        Item::Callout(it) => it.at.is_some(),
        Item::Tasks(_) | Item::Prose(_) => false,
    }
}

fn is_words(item: &Item) -> bool {
    matches!(item, Item::User(user) if !user.correction)
}

/// What is open at the end of a session.
fn open(session: &Session) -> Vec<String> {
    open_points(session).iter().map(|point| line(&point.to_line())).filter(|text| !text.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    use cru_note::Note;

    const NOTE: &str = "---\ntype: session\nsession_id: s\nstarted: 2026-11-20T22:50:00Z\n---\n# Pump\n\n\
        **Tasks:**\n- [ ] Paint it ^task-1\n- [x] Mend it ^task-2\n\n\
        ## Mend the pump @a #dev\n\n*2026-11-20T22:50:00Z* ^p-01\n\n> [!user]\n> \"Mend the pump.\n> It leaks.\"\n\n\
        - `Edit pump.c` → ok (22:55:00) ^n-001\n    - commit: `4f1c2ab` Mend the pump\n\
        - `Bash make` → ok (2026-11-20T23:20:00Z) ^n-002\n\n\
        > [!user] Correction\n> \"No, the red valve.\"\n> At: 2026-11-20T23:21:00Z\n\n\
        > [!decision] The red valve\n> Why: it is in stock\n\n> [!error] It leaks\n> Resolution: tightened\n\n\
        > [!error] It is loud\n> At all times.\n\n> [!question] Who pays?\n> At: 2026-11-20T23:22:00Z\n\n> [!lesson] Measure first\n";

    fn facts(from: &str, to: &str) -> Option<PeriodFacts> {
        let session = cru_session::read::session(&Note::parse(NOTE)).0;
        PeriodFacts::of(&session, TimeWindow { start: from.parse().unwrap(), end: to.parse().unwrap() })
    }

    #[test]
    fn a_session_stands_on_each_day_with_the_facts_of_that_day() {
        let first = facts("2026-11-19T23:00:00Z", "2026-11-20T23:00:00Z").unwrap();
        assert_eq!((first.steps, first.is_whole, first.active), (1, false, SignedDuration::from_mins(5)));
        assert_eq!((first.requests.as_slice(), first.open.len()), (&["Mend the pump.".to_owned()][..], 0));
        assert_eq!(first.commits, [("4f1c2ab".to_owned(), "Mend the pump".to_owned())]);
        let second = facts("2026-11-20T23:00:00Z", "2026-11-21T23:00:00Z").unwrap();
        assert_eq!((second.steps, second.requests.len(), second.fixed), (1, 0, 1));
        assert_eq!(second.corrections, ["No, the red valve."]);
        assert_eq!(second.decisions, ["The red valve – it is in stock"]);
        assert_eq!((second.errors.as_slice(), second.lessons.len()), (&["It is loud".to_owned()][..], 1));
        assert_eq!(second.open, ["task not done: Paint it", "unanswered: \"Who pays?\""]);
        assert_eq!(facts("2026-11-22T00:00:00Z", "2026-11-23T00:00:00Z"), None);
        assert!(facts("2026-11-20T00:00:00Z", "2026-11-22T00:00:00Z").unwrap().is_whole);
    }
}
