//! Which step depends on which, by the files they read and wrote.
//!
//! The rule: a step that reads a file comes after the step that wrote it last. In its own session "last" is the order
//! of the page. A write of another session counts when it is later than that one and earlier, by time, than the read.
//! A write of exactly the content that was read, known by its hash, goes before both. A session's time never goes
//! backwards here (a step without time, or with one that is too early, has that of the step before it), so that these
//! edges alone can never form a cycle. Sorting is the most it costs.

use std::collections::HashMap;

use jiff::Timestamp;

use super::draft::Access;
use super::node::{Body, Node, NodeId};
use super::{Edge, EdgeKind};
use cru_vault::Loaded;

/// Hashes of different length agree when their common beginning, at least this long, does.
const SHORTEST_HASH: usize = 8;

#[derive(Clone, Copy)]
struct Write<'a> {
    time: Option<Timestamp>,
    step: NodeId,
    session: u32,
    hash: Option<&'a str>,
}

/// Writes of one file (or of one content of it) that have a time, by time.
type Timeline<'a> = Vec<(Timestamp, Write<'a>)>;

/// The `after` edges that follow from `accesses`, which stand in the order of the page, session by session.
pub(super) fn edges(accesses: &[Access<'_>], nodes: &[Node<'_>], sessions: &[Loaded]) -> Vec<Edge> {
    let pairs = pairs(accesses, &times(accesses, nodes, sessions));
    pairs.into_iter().map(|(from, to)| Edge { from, kind: EdgeKind::After, to, written: None }).collect()
}

/// Which step depends on which, `(reader, writer)`: the one rule, for a vault and for a session alone. `times` are those
/// of the accesses and never go back within a session.
pub(super) fn pairs(accesses: &[Access<'_>], times: &[Option<Timestamp>]) -> Vec<(NodeId, NodeId)> {
    let mut by_file: HashMap<NodeId, Timeline<'_>> = HashMap::new();
    let mut by_content: HashMap<(NodeId, &str), Timeline<'_>> = HashMap::new();
    for (access, &time) in accesses.iter().zip(times).filter(|(access, _)| access.write) {
        let Some(at) = time else { continue };
        let write = Write { time, step: access.step, session: access.session, hash: access.hash };
        by_file.entry(access.file).or_default().push((at, write));
        if let Some(hash) = access.hash.and_then(short) {
            by_content.entry((access.file, hash)).or_default().push((at, write));
        }
    }
    for timeline in by_file.values_mut().chain(by_content.values_mut()) {
        timeline.sort_by_key(|(at, write)| (*at, write.step));
    }

    let mut pairs = Vec::new();
    // The newest write of each file in the session at hand.
    let mut own: HashMap<NodeId, Write<'_>> = HashMap::new();
    let mut session = None;
    for (access, &time) in accesses.iter().zip(times) {
        if session.replace(access.session) != Some(access.session) {
            own.clear();
        }
        if access.write {
            own.insert(access.file, Write { time, step: access.step, session: access.session, hash: access.hash });
            continue;
        }
        let own = own.get(&access.file).copied();
        let content = access.hash.and_then(short).and_then(|hash| by_content.get(&(access.file, hash)));
        let writer = match own {
            Some(own) if agree(own.hash, access.hash) => Some(own),
            own => content
                .and_then(|timeline| before(timeline, time))
                .filter(|write| agree(write.hash, access.hash))
                .or_else(|| {
                    let other = by_file.get(&access.file).and_then(|timeline| before(timeline, time));
                    let other = other.filter(|other| other.session != access.session);
                    match (own, other) {
                        (Some(own), Some(other)) => Some(if other.time > own.time { other } else { own }),
                        (own, other) => own.or(other),
                    }
                }),
        };
        if let Some(writer) = writer.filter(|writer| writer.step != access.step) {
            pairs.push((access.step, writer.step));
        }
    }
    pairs
}

/// The last write strictly before a time.
fn before<'a>(timeline: &Timeline<'a>, time: Option<Timestamp>) -> Option<Write<'a>> {
    let time = time?;
    let end = timeline.partition_point(|(at, _)| *at < time);
    end.checked_sub(1).map(|last| timeline[last].1)
}

/// The time of each access, never going backwards within a session.
fn times(accesses: &[Access<'_>], nodes: &[Node<'_>], sessions: &[Loaded]) -> Vec<Option<Timestamp>> {
    let mut times = Vec::with_capacity(accesses.len());
    let mut session = None;
    let mut latest: Option<Timestamp> = None;
    for access in accesses {
        if session.replace(access.session) != Some(access.session) {
            latest = sessions.get(access.session as usize).and_then(|loaded| loaded.session.meta.started);
        }
        let own = match &nodes[access.step.index()].body {
            Body::Step(step) => step.time,
            _ => None,
        };
        latest = latest.max(own);
        times.push(latest);
    }
    times
}

fn short(hash: &str) -> Option<&str> {
    hash.get(..SHORTEST_HASH)
}

fn agree(a: Option<&str>, b: Option<&str>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return false };
    let common = a.len().min(b.len());
    common >= SHORTEST_HASH && a.as_bytes()[..common] == b.as_bytes()[..common]
}
