//! One session of the three places that sessions are kept in: its row and its messages, one at a time.

use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::kept::OpenCodeMessage;
use super::message;
use super::state::OpenCodeSession;
use crate::file::tables::{self, StoredSession};
use crate::file::value::{filled, word};
use crate::stream::teller::Teller;
use cru_base::Result;
use cru_session::event::StreamKey;
use cru_session::source::{Account, Header, Sink};

/// A session, of what is said of it; `id` for one that does not say its own. One without an agent and with a parent is a fork: it
/// goes on from that session, in which the host keeps what was said before.
pub(super) fn session_of(info: Value, id: &str) -> StoredSession {
    let known = |key| filled(&info, key).filter(|id| *id != "REDACTED").map(str::to_owned);
    let id = known("id").unwrap_or_else(|| id.to_owned());
    let other = |key| known(key).filter(|other| *other != id);
    let (task, agent) = asked(&info);
    let agent = other("parentID").map(|_| agent.or(filled(&info, "agent")).unwrap_or("agent").to_owned());
    let task = Some(task.to_owned()).filter(|task| agent.is_some() && !task.is_empty());
    StoredSession { parent: other("parentID").or_else(|| other("forkedFrom")), id, agent, task, row: info }
}

/// What a sub-agent was asked, and its type: the host makes one title of both.
fn asked(info: &Value) -> (&str, Option<&str>) {
    let title = word(info, "title");
    let split = title.strip_suffix(" subagent)").and_then(|rest| rest.rsplit_once(" (@"));
    split.map_or((title, None), |(task, agent)| (task, Some(agent)))
}

/// The stream of a session that stands in `path`; `above` is the one that started its parent.
pub(super) fn header(session: &StoredSession, path: &Path, above: Option<String>) -> Header {
    let parent = session.parent.as_deref().unwrap_or_default();
    let above = above.filter(|above| *above != parent);
    let above = above.map(|above| (parent, StreamKey { session: above, agent: Some(parent.to_owned()) }));
    Header { aside: false, ..session.header(path, &above.into_iter().collect()) }
}

/// Whether the host has not named the session yet: `New session - 2026-04-16T07:37:55.644Z`.
fn is_placeholder(title: &str) -> bool {
    let rest = title.strip_prefix("New session - ").or_else(|| title.strip_prefix("Child session - "));
    rest.is_some_and(|rest| rest.parse::<Timestamp>().is_ok())
}

/// Tells a session of these messages, in order; which are the agent's, and how one of them is read.
pub(super) fn tell<M>(
    session: &StoredSession,
    header: Header,
    messages: &[M],
    is_agent: impl Fn(&M) -> Result<bool>,
    read: impl Fn(&M) -> Result<OpenCodeMessage>,
    sink: &mut dyn Sink,
    account: &mut Account,
) -> Result<()> {
    if !sink.wants(&header.key) {
        return Ok(());
    }
    let paths = [header.transcript.clone()];
    let mut state = OpenCodeSession::new(&header);
    let mut told = Teller::open(header, &paths, sink, std::slice::from_mut(account));
    let directory = word(&session.row, "directory");
    let title = Some(asked(&session.row).0).filter(|title| !is_placeholder(title));
    let head = json!({ "cwd": directory, "title": title, "version": session.row["version"] });
    let lasting = json!({ "session": session.id, "directory": directory });
    tables::take(&mut told, &mut state, &lasting, json!({ "session": head, "id": session.id }));
    let mut settled = messages.len();
    while settled > 0 {
        settled -= 1;
        if is_agent(&messages[settled])? {
            break;
        }
    }
    for (index, message) in messages.iter().enumerate() {
        message::take(&mut told, &mut state, read(message)?, index < settled);
    }
    if told.takes_more() {
        let last = told.intake.records();
        state.undone(word(&session.row, "/revert/messageID"), &mut told.out(last, None));
    }
    tables::close(told, &mut state);
    Ok(())
}
