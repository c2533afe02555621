//! The status of a note whose host's hooks are installed: what the host says, beside what a person or an agent set.
//!
//! A pause holds until the host goes on. A status that closes the session was somebody's word on how it ended: the host's
//! own end does not speak against it, but a host that takes the session up again does.

use serde_json::{Value as Json, json};

use cru_live::hook::{Event, HookEntry};
use cru_session::op::Op;
use cru_session::{Session, Status, time};
use cru_vault::Journal;
use cru_vault::journal::Mark;

const STATUS: &str = "status";
const ENDED: &str = "ended";

/// Makes the operations on status and end fit the note as it is `there`. `goes_on`: whether the host has told since of
/// work that begins.
pub(crate) fn settle(ops: &mut Vec<Op>, there: &Session, new: &Session, goes_on: impl FnOnce() -> bool) {
    let (Some(now), Some(wanted)) = (&there.meta.status, &new.meta.status) else { return };
    if now.is_closed() && wanted.is_closed() {
        ops.retain(|op| !matches!(op, Op::Set { key, .. } if key == STATUS || key == ENDED));
        return;
    }
    let status = json!(now.as_str());
    let ended = there.meta.ended.map(|ended| json!(time::format(ended)));
    let mut changes = false;
    for op in ops.iter_mut() {
        match op {
            Op::Set { key, old, .. } if key == STATUS => {
                *old = Some(status.clone());
                changes = true;
            }
            Op::Set { key, old, .. } if key == ENDED => old.clone_from(&ended),
            _ => {}
        }
    }
    if !changes && *now == Status::Paused && *wanted == Status::Active && goes_on() {
        let new: Option<Json> = Some(json!(wanted.as_str()));
        ops.push(Op::Set { key: STATUS.to_owned(), old: Some(status), new });
    }
}

/// Whether a journal tells behind `from` that work begins. What only ends is no sign of it: the call that paused the
/// session ends as well.
pub(crate) fn goes_on(journal: &Journal, from: Option<&Mark>) -> bool {
    let begins = |event| matches!(event, Event::SessionStart | Event::Prompt | Event::PreTool | Event::SubagentStart);
    let lines = journal.read(from).map(|read| read.entries).unwrap_or_default();
    let entries = lines.iter().filter_map(|line| serde_json::from_str::<HookEntry>(line.event.get()).ok());
    entries.filter_map(|entry| entry.event()).any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(status: Status, ended: Option<&str>) -> Session {
        let mut session = Session::default();
        session.meta.status = Some(status);
        session.meta.ended = ended.map(|text| text.parse().unwrap());
        session
    }

    fn set(key: &str, old: Option<&str>, new: Option<&str>) -> Op {
        Op::Set { key: key.to_owned(), old: old.map(Json::from), new: new.map(Json::from) }
    }

    #[test]
    fn a_pause_holds_until_the_host_goes_on() {
        let (paused, active) = (session(Status::Paused, None), session(Status::Active, None));
        let mut ops = Vec::new();
        settle(&mut ops, &paused, &active, || false);
        assert_eq!(ops, []);
        settle(&mut ops, &paused, &active, || true);
        assert_eq!(ops, [set("status", Some("paused"), Some("active"))]);
        let mut ops = vec![set("status", Some("active"), Some("completed")), set("ended", None, Some("x"))];
        settle(&mut ops, &paused, &session(Status::Completed, None), || true);
        assert_eq!(ops, [set("status", Some("paused"), Some("completed")), set("ended", None, Some("x"))]);
    }

    #[test]
    fn how_somebody_closed_it_stays_until_it_is_taken_up_again() {
        let at = "2026-11-20T09:00:00Z";
        let failed = session(Status::Failed, Some(at));
        let mut ops = vec![set("status", Some("active"), Some("completed")), set("ended", None, Some("x"))];
        settle(&mut ops, &failed, &session(Status::Completed, None), || true);
        assert_eq!(ops, []);
        let mut ops = vec![set("status", Some("completed"), Some("active")), set("ended", Some("y"), None)];
        settle(&mut ops, &failed, &session(Status::Active, None), || true);
        assert_eq!(ops, [set("status", Some("failed"), Some("active")), set("ended", Some(at), None)]);
    }
}
