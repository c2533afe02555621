//! The phase that is written when work goes on and nobody else writes one.
//!
//! The phase stands at the end of the note, where its time puts it. `from:` is written only where somebody went back:
//! it then says which phase goes on, as with any branch that was left. Where the last phase goes on, the order on the
//! page says so, and `after:` is for what depends on something.

use jiff::Timestamp;
use serde_json::{Value as Json, json};

use cru_session::op::Op;
use cru_session::{Agent, Link, Phase, Session, render};

use super::point::Point;

/// A phase that is to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Begin {
    /// Its title; `None`: that of the phase that goes on.
    pub title: Option<String>,
    /// Its agent; `None`: that of the phase that goes on, else of the session.
    pub agent: Option<Agent>,
    /// The block that it goes on from; `None`: the resume point of the session.
    pub from: Option<String>,
    /// Its channel where neither phase nor session has one.
    pub channel: Option<String>,
}

/// A new phase at the end of the note, which is the resume point from now on; and its id.
pub fn phase(session: &Session, begin: &Begin, now: Timestamp) -> (Vec<Op>, String) {
    let point = Point::of(session, begin.from.as_deref());
    let last = point.phase();
    let id = next_id(session);
    let mut ops = Vec::new();
    let from = last.filter(|_| !point.behind().is_empty());
    if let Some(from) = from.filter(|from| !from.id_written) {
        ops.push(Op::Identify { phase: from.id.clone(), time: None });
    }
    let agent = begin.agent.clone().or_else(|| last.and_then(|phase| phase.agent.clone()));
    let phase = Phase {
        id: id.clone(),
        id_written: true,
        level: 2,
        title: begin
            .title
            .clone()
            .or_else(|| last.map(|phase| phase.title.clone()))
            .unwrap_or_else(|| "Go on".to_owned()),
        agent: agent.or_else(|| session.meta.participants.first().cloned()),
        channel: last
            .and_then(|phase| phase.channel.clone())
            .or_else(|| session.meta.channel.clone())
            .or_else(|| begin.channel.clone()),
        started: Some(now),
        from: from.map(|phase| Link::to_block(phase.id.as_str())),
        ..Phase::default()
    };
    ops.push(Op::Phase { text: render::phase(&phase) });
    // It takes part from its first phase on.
    let known: Vec<String> = session.meta.participants.iter().map(ToString::to_string).collect();
    let is_known = |agent: &Agent| known.iter().any(|it| *it == agent.to_string() || *it == agent.name);
    let works = |agent: &Agent| session.phases.iter().any(|phase| phase.agent.as_ref() == Some(agent));
    let is_new = |agent: &&Agent| !is_known(agent) && !works(agent);
    if let Some(agent) = phase.agent.as_ref().filter(is_new) {
        let new = [known.as_slice(), &[agent.to_string()]].concat();
        ops.push(Op::Set { key: "participants".to_owned(), old: Some(json!(known)), new: Some(json!(new)) });
    }
    let old = session.meta.resume_point.clone().map(Json::String);
    ops.push(Op::Set { key: "resume_point".to_owned(), old, new: Some(Json::String(id.clone())) });
    (ops, id)
}

/// One more than the highest number of a phase.
fn next_id(session: &Session) -> String {
    let numbers = session.phases.iter().filter_map(|phase| phase.id.strip_prefix("p-")?.parse::<u32>().ok());
    format!("p-{:02}", numbers.max().unwrap_or(0).saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_note::Note;
    use cru_session::{read, time};

    const NOTE: &str = "---\ntype: session\nsession_id: s\nstatus: completed\nended: 2026-11-20T10:00:00Z\nresume_point: p-01\n\
                        ---\n# S\n\n## Plan @coder@2.0 #dev\n\n## Build @coder #dev\n\n*2026-11-20T09:00:00Z* ^p-07\n";

    fn told(ops: &[Op]) -> String {
        ops.iter().map(|op| serde_json::to_string(op).unwrap()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_phase_goes_on_from_where_somebody_went_back_to() {
        let (session, _) = read::session(&Note::parse(NOTE));
        let now = time::parse("2026-11-21T12:00:00Z").unwrap();
        let (ops, id) = phase(&session, &Begin::default(), now);
        assert_eq!(id, "p-08");
        insta::assert_snapshot!(told(&ops), @r###"
        {"op":"identify","phase":"p-01","time":null}
        {"op":"phase","text":"## Plan @coder@2.0 #dev\n\n*2026-11-21T12:00:00Z* from: [[#^p-01]] ^p-08\n"}
        {"op":"set","key":"resume_point","old":"p-01","new":"p-08"}
        "###);
        let mut session = session;
        session.meta.resume_point = None;
        let begin = Begin { title: Some("Test # it".into()), agent: Some(Agent::parse("tester")), ..Begin::default() };
        insta::assert_snapshot!(told(&phase(&session, &begin, now).0), @r###"
        {"op":"phase","text":"## Test \\# it @tester #dev\n\n*2026-11-21T12:00:00Z* ^p-08\n"}
        {"op":"set","key":"participants","old":[],"new":["tester"]}
        {"op":"set","key":"resume_point","old":null,"new":"p-08"}
        "###);
    }
}
