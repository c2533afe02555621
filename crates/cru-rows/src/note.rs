//! Drafts of a family as notes: named by their identity, linked among themselves, written and read back. What a note says
//! is what commands answer from, so rows are made of the note and not of the draft.

use std::collections::{BTreeMap, HashMap, HashSet};

use cru_base::Lines;
use cru_session::event::StreamKey;
use cru_session::fold::{Draft, Linked};
use cru_session::{Session, render};

use crate::stage::Stage;

/// A session with its note.
#[derive(Debug)]
pub(crate) struct NotedSession {
    pub(crate) uid: String,
    pub(crate) key: StreamKey,
    pub(crate) host: &'static str,
    pub(crate) text: String,
    pub(crate) session: Session,
    pub(crate) lines: Lines,
    /// Secrets that were taken out.
    pub(crate) masked: u64,
}

/// Identity of a session, on every machine and in every run: 32 hex digits.
pub(crate) fn uid(host: &str, key: &StreamKey, stage: &Stage) -> String {
    crate::digest(&[host, &stage.public(&key.to_string())], 32)
}

/// Makes notes of the drafts of one host that are no empty ones, in the order of their begin. Of drafts of one stream the
/// first counts; the keys of the others are given back.
pub(crate) fn noted(host: &'static str, mut drafts: Vec<Draft>, stage: &Stage) -> (Vec<NotedSession>, Vec<StreamKey>) {
    drafts.sort_by(|a, b| (a.start(), &a.key).cmp(&(b.start(), &b.key)));
    let mut seen = HashSet::new();
    let mut twice = Vec::new();
    drafts.retain(|draft| {
        let is_first = seen.insert(draft.key.clone());
        if !is_first {
            twice.push(draft.key.clone());
        }
        is_first && !draft.empty
    });
    let uids: HashMap<StreamKey, String> =
        drafts.iter().map(|draft| (draft.key.clone(), uid(host, &draft.key, stage))).collect();
    link(&mut drafts, &uids);
    let note = |mut draft: Draft| {
        let uid = uids.get(&draft.key).cloned().unwrap_or_default();
        draft.name(&uid);
        draft.set_date(&jiff::tz::TimeZone::UTC);
        draft.session.meta.transcript = Some(stage.uri(&draft.transcript));
        draft.session.meta.host_session = draft.session.meta.host_session.map(|it| stage.public(&it));
        let text = stage.public(&render::note(&draft.session));
        let session = cru_session::read::content_of(text.as_bytes());
        let lines = Lines::of(&text);
        NotedSession { uid, key: draft.key, host, text, session, lines, masked: draft.masked.values().sum() }
    };
    (drafts.into_iter().map(note).collect(), twice)
}

/// Points children to their parents and parents to their children.
fn link(drafts: &mut [Draft], uids: &HashMap<StreamKey, String>) {
    let mut known: HashMap<StreamKey, Linked> = HashMap::new();
    let mut children: BTreeMap<StreamKey, Vec<StreamKey>> = BTreeMap::new();
    for draft in drafts.iter() {
        let meta = &draft.session.meta;
        let linked = Linked {
            note: uids.get(&draft.key).cloned().unwrap_or_default(),
            agent: draft.agent.clone().or_else(|| meta.participants.first().cloned()),
            model: meta.model.clone(),
            tokens: meta.tokens_used,
        };
        known.insert(draft.key.clone(), linked);
        if let (Some(parent), Some(_)) = (&draft.parent, &draft.agent) {
            children.entry(parent.clone()).or_default().push(draft.key.clone());
        }
    }
    for draft in drafts {
        if let Some(uid) = draft.parent.as_ref().and_then(|parent| uids.get(parent)) {
            draft.link_parent(uid);
        }
        // In the order of the callouts, then those that have none.
        let mut seen: HashSet<StreamKey> = HashSet::from([draft.key.clone()]);
        let called = draft.children.iter().map(|child| child.stream.clone());
        let others = children.remove(&draft.key).unwrap_or_default();
        let streams: Vec<StreamKey> = called.chain(others).filter(|stream| seen.insert(stream.clone())).collect();
        let linked = streams.into_iter().filter_map(|stream| Some((stream.clone(), known.get(&stream)?.clone())));
        draft.link_children(linked.collect());
    }
}
