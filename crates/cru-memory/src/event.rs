//! What happened in a session since somebody was told of it: what programs of a person are started for.

use cru_session::{Item, Session, Status, Task};
use serde::{Deserialize, Serialize};

/// How much of a session was told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToldEvents {
    /// Whether it was seen before.
    pub seen: bool,
    /// Phases that ended.
    pub phases: usize,
    /// Tasks that are done, by their words.
    pub tasks: Vec<String>,
    /// Corrections.
    pub corrections: usize,
    /// Errors.
    pub errors: usize,
    /// Errors with a resolution.
    pub recoveries: usize,
    /// Checkpoints.
    pub checkpoints: usize,
    /// Whether it is closed.
    pub closed: bool,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionEvent {
    /// Its name in `[events]` of the user's configuration.
    pub event: &'static str,
    /// What it is about: a title, words, a task.
    pub text: String,
}

/// What happened in a session beyond what was `told`, in no more detail than its note has, and all of it as told. Of a
/// session that is not active when it is seen first nothing is told, unless its note `is_fresh`: it was brought in, or is
/// old.
pub fn events(session: &Session, told: &ToldEvents, is_fresh: bool) -> (Vec<SessionEvent>, ToldEvents) {
    let mut events = Vec::new();
    let mut add = |event: &'static str, text: &str| events.push(SessionEvent { event, text: text.trim().to_owned() });
    let status = session.meta.status.as_ref();
    let closed = status.is_some_and(Status::is_closed);
    let is_new = !told.seen;
    let is_told = told.seen || is_fresh || status.is_none_or(|status| *status == Status::Active);
    if is_new && is_told {
        add("session-start", session.title());
    }
    let all = session.phases.len();
    // The last phase goes on as long as the session does.
    let phases = if closed { all } else { all.saturating_sub(1) };
    for phase in session.phases.iter().take(phases).skip(told.phases) {
        add("phase-end", &phase.title);
    }
    let done = |task: &&Task| !task.is_open() && task.status != "cancelled";
    let tasks: Vec<String> = session.tasks().into_iter().filter(done).map(|task| task.content.clone()).collect();
    for task in tasks.iter().filter(|task| !told.tasks.contains(task)) {
        add("task-complete", task);
    }
    let mut now = ToldEvents { seen: true, phases, tasks: tasks.clone(), closed, ..ToldEvents::default() };
    for (_, item) in session.items() {
        match item {
            Item::User(it) if it.correction => {
                now.corrections += 1;
                if now.corrections > told.corrections {
                    add("correction", &it.words);
                }
            }
            Item::Error(it) => {
                now.errors += 1;
                if now.errors > told.errors {
                    add("error", &it.callout.title);
                }
                if it.resolution.is_some() {
                    now.recoveries += 1;
                    if now.recoveries > told.recoveries {
                        add("recovery", &it.callout.title);
                    }
                }
            }
            Item::Callout(it) if it.kind == "checkpoint" => {
                now.checkpoints += 1;
                if now.checkpoints > told.checkpoints {
                    add("checkpoint", &it.title);
                }
            }
            _ => {}
        }
    }
    if closed && !told.closed {
        add("session-end", status.map_or("", Status::as_str));
    }
    if !is_told {
        events.clear();
    }
    (events, now)
}

#[cfg(test)]
mod tests {
    use super::*;

    use cru_note::Note;

    fn told(text: &str, told: &ToldEvents) -> (Vec<String>, ToldEvents) {
        told_of(text, told, false)
    }

    fn told_of(text: &str, told: &ToldEvents, is_fresh: bool) -> (Vec<String>, ToldEvents) {
        let session = cru_session::read::session(&Note::parse(text)).0;
        let (events, now) = events(&session, told, is_fresh);
        (events.into_iter().map(|it| format!("{}: {}", it.event, it.text)).collect(), now)
    }

    #[test]
    fn each_thing_is_told_once() {
        let head = |status: &str| format!("---\ntype: session\nsession_id: s\nstatus: {status}\n---\n# S\n\n");
        let phases = "**Tasks:**\n- [x] Mend it ^task-1\n- [ ] Paint it ^task-2\n\n## A @a #x\n\n> [!error] It leaks\n\n## B @a #x\n\n\
                      > [!user] Correction\n> \"No.\"\n";
        let (first, now) = told(&format!("{}{phases}", head("active")), &ToldEvents::default());
        assert_eq!(
            first,
            ["session-start: S", "phase-end: A", "task-complete: Mend it", "error: It leaks", "correction: No."]
        );
        assert_eq!(told(&format!("{}{phases}", head("active")), &now).0, [""; 0]);
        let later = phases.replace("It leaks\n", "It leaks\n> Resolution: tightened\n").replace("[ ]", "[x]");
        let (second, done) = told(&format!("{}{later}", head("completed")), &now);
        assert_eq!(second, ["phase-end: B", "task-complete: Paint it", "recovery: It leaks", "session-end: completed"]);
        assert!(done.closed);
        assert_eq!(
            told(&format!("{}{later}", head("completed")), &ToldEvents::default()).0,
            [""; 0],
            "it was imported"
        );
        let short = told_of(&format!("{}{later}", head("completed")), &ToldEvents::default(), true).0;
        assert_eq!(short.first().map(String::as_str), Some("session-start: S"), "its note was made when it was over");
        assert_eq!(short.last().map(String::as_str), Some("session-end: completed"));
    }
}
