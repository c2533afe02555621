//! Which drafts become notes, under which names, and how parents and children point at each other.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::report::{Outcome, SessionReport};
use crate::session::cursor::Cursor;
use crate::session::event::StreamKey;
use crate::session::fold::{Draft, Linked};
use crate::session::source::Importer;
use crate::session::{Agent, Meta};
use crate::vault::config::{Globs, ImportConfig};
use crate::vault::naming::{Names, child_name, session_name};
use crate::vault::{Catalog, Head, Vault, VaultPath};

/// What will be done.
#[derive(Debug)]
pub(super) struct Plan {
    /// Drafts to write with the row of the report they belong to, named and linked, in the order of their names' making.
    pub(super) drafts: Vec<(usize, Draft)>,
    /// Every stream, in order of start, then host id.
    pub(super) sessions: Vec<SessionReport>,
}

impl Plan {
    /// Decides about every draft.
    pub(super) fn make(vault: &Vault, importer: &Importer, catalog: &Catalog, mut drafts: Vec<Draft>) -> Self {
        drafts.sort_by(|a, b| (a.start(), &a.key).cmp(&(b.start(), &b.key)));
        let existing = Existing::of(catalog, importer.host);
        let rules = Rules::of(&vault.config().import, vault.config().channel.as_deref());
        let mut seen: HashMap<StreamKey, usize> = HashMap::new();
        let mut sessions = Vec::with_capacity(drafts.len());
        let mut new = Vec::new();
        for (row, mut draft) in drafts.into_iter().enumerate() {
            let mut report = SessionReport::of(&draft);
            let host = draft.session.meta.host_session.as_deref().unwrap_or_default();
            if seen.insert(draft.key.clone(), row).is_some() {
                report.outcome = Outcome::Duplicate;
            } else if rules.excludes(&draft) {
                report.outcome = Outcome::Excluded;
            } else if let Some(head) = existing.find(host, draft.session.meta.cursor.as_deref()) {
                report.note = Some(head.path.to_string());
                (report.outcome, report.detail) = compare(&head.meta, &draft);
            } else if draft.empty {
                report.outcome = Outcome::Empty;
            } else {
                rules.apply(&mut draft);
                new.push((row, draft));
            }
            sessions.push(report);
        }
        let mut names = Names::of(catalog);
        name(&mut new, &existing, &mut names);
        link(&mut new, &existing);
        for (row, draft) in &new {
            let id = draft.session.meta.session_id.as_deref().unwrap_or_default();
            let path = VaultPath::new(vault.config().sessions.as_path().join(format!("{id}.md")));
            if let Some(report) = sessions.get_mut(*row) {
                report.note = path.map(|path| path.to_string());
                report.title.clone_from(&draft.session.meta.title);
                report.parent = draft.session.meta.parent.as_ref().map(|link| link.target.clone());
            }
        }
        Self { drafts: new, sessions }
    }
}

/// What an existing note says against what the transcript now gives.
fn compare(old: &Meta, draft: &Draft) -> (Outcome, Option<String>) {
    let new = Cursor::first(&draft.consumed);
    match old.cursor.as_deref().and_then(Cursor::parse) {
        Some(cursor) if cursor.same_records(&new) => (Outcome::Unchanged, None),
        Some(cursor) if new.records > cursor.records => {
            let more = crate::base::text::plural(new.records - cursor.records, "new record");
            (Outcome::Grown, Some(more))
        }
        Some(_) => (Outcome::Grown, Some("the transcript is another one than it was".to_owned())),
        None => (Outcome::Grown, Some("the note has no cru_cursor".to_owned())),
    }
}

/// The notes that are there, by host session.
struct Existing<'a> {
    by_host: BTreeMap<&'a str, Vec<&'a Head>>,
}

impl<'a> Existing<'a> {
    fn of(catalog: &'a Catalog, host: &str) -> Self {
        let mut by_host: BTreeMap<&str, Vec<&Head>> = BTreeMap::new();
        let of_host = |head: &&Head| head.meta.host.as_deref().is_none_or(|name| name == host);
        for head in catalog.heads.iter().filter(of_host) {
            if let Some(host) = head.meta.host_session.as_deref() {
                by_host.entry(host).or_default().push(head);
            }
        }
        Self { by_host }
    }

    /// The note of a host session; of several, the one that holds the same records.
    fn find(&self, host: &str, cursor: Option<&str>) -> Option<&'a Head> {
        let heads = self.by_host.get(host)?;
        let wanted = cursor.and_then(Cursor::parse);
        let same = heads.iter().find(|head| {
            let cursor = head.meta.cursor.as_deref().and_then(Cursor::parse);
            cursor.zip(wanted.as_ref()).is_some_and(|(one, other)| one.same_records(other))
        });
        same.or_else(|| heads.first()).copied()
    }

    /// A note that is there, as the child of a new one.
    fn linked(&self, key: &StreamKey) -> Option<Linked> {
        let head = self.find(&key.to_string(), None)?;
        let (meta, note) = (&head.meta, head.path.stem().into_owned());
        let agent = meta.participants.first().cloned();
        Some(Linked { note, agent, model: meta.model.clone(), tokens: meta.tokens_used })
    }

    fn stem(&self, key: &StreamKey) -> Option<String> {
        self.find(&key.to_string(), None).map(|head| head.path.stem().into_owned())
    }
}

/// Names every draft: main sessions by date and words, sub-agents after the session that started them.
fn name(new: &mut [(usize, Draft)], existing: &Existing<'_>, names: &mut Names) {
    let by_key: HashMap<StreamKey, usize> =
        new.iter().enumerate().map(|(index, (_, draft))| (draft.key.clone(), index)).collect();
    let mut children: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut queue = VecDeque::new();
    for (index, (_, draft)) in new.iter().enumerate() {
        let parent = draft.parent.as_ref().filter(|_| draft.agent.is_some()).and_then(|parent| by_key.get(parent));
        match parent {
            Some(&parent) if parent != index => children.entry(parent).or_default().push(index),
            _ => queue.push_back(index),
        }
    }
    loop {
        while let Some(index) = queue.pop_front() {
            let wanted = wanted_name(new, index, &by_key, existing);
            if let Some((_, draft)) = new.get_mut(index) {
                draft.name(&names.claim(&wanted));
            }
            queue.extend(children.remove(&index).unwrap_or_default());
        }
        // Sub-agents that name each other as parents hang on no session: the first of them is taken as one.
        let Some((_, rest)) = children.pop_first() else { break };
        queue.extend(rest);
    }
}

fn wanted_name(
    new: &[(usize, Draft)],
    index: usize,
    by_key: &HashMap<StreamKey, usize>,
    existing: &Existing<'_>,
) -> String {
    let Some((_, draft)) = new.get(index) else { return "session".to_owned() };
    let own = || session_name(draft.start(), &draft.slug);
    let (Some(agent), Some(parent)) = (&draft.agent, &draft.parent) else { return own() };
    let named = by_key.get(parent).and_then(|&at| new.get(at)).and_then(|(_, it)| it.session.meta.session_id.clone());
    named.or_else(|| existing.stem(parent)).and_then(|parent| child_name(&parent, &agent.name)).unwrap_or_else(own)
}

/// Points children to their parents and parents to their children, new and old.
fn link(new: &mut [(usize, Draft)], existing: &Existing<'_>) {
    let mut notes: HashMap<StreamKey, Linked> = HashMap::new();
    let mut children: HashMap<StreamKey, Vec<StreamKey>> = HashMap::new();
    for (_, draft) in new.iter() {
        let meta = &draft.session.meta;
        let note = meta.session_id.clone().unwrap_or_default();
        let agent = draft.agent.clone().or_else(|| meta.participants.first().cloned());
        let linked = Linked { note, agent, model: meta.model.clone(), tokens: meta.tokens_used };
        notes.insert(draft.key.clone(), linked);
        if let (Some(parent), Some(_)) = (&draft.parent, &draft.agent) {
            children.entry(parent.clone()).or_default().push(draft.key.clone());
        }
    }
    for (_, draft) in new.iter_mut() {
        if let Some(parent) = draft.parent.clone() {
            let known = notes.get(&parent).map(|linked| linked.note.clone());
            if let Some(note) = known.or_else(|| existing.stem(&parent)) {
                draft.link_parent(&note);
            }
        }
        // In the order of the callouts, then those that have none.
        let mut seen: HashSet<StreamKey> = HashSet::from([draft.key.clone()]);
        let called: Vec<StreamKey> = draft.children.iter().map(|child| child.stream.clone()).collect();
        let others = children.remove(&draft.key).unwrap_or_default();
        let streams = called.into_iter().chain(others).filter(|stream| seen.insert(stream.clone()));
        let linked = streams.filter_map(|stream| {
            let linked = notes.get(&stream).cloned().or_else(|| existing.linked(&stream))?;
            Some((stream, linked))
        });
        let linked = linked.collect();
        draft.link_children(linked);
    }
}

/// What `[import]` of the configuration says.
struct Rules<'a> {
    ids: Vec<&'a str>,
    projects: Vec<Globs>,
    agent: Option<Agent>,
    channel: Option<&'a str>,
    /// For sessions that name no channel.
    fallback: Option<&'a str>,
}

impl<'a> Rules<'a> {
    fn of(config: &'a ImportConfig, fallback: Option<&'a str>) -> Self {
        Self {
            ids: config.exclude.iter().map(String::as_str).collect(),
            // What is no glob can still be an id.
            projects: config.exclude.iter().filter_map(|glob| Globs::new(&[glob.as_str()]).ok()).collect(),
            agent: config.agent.as_deref().map(Agent::parse).filter(|agent| !agent.name.is_empty()),
            channel: config.channel.as_deref().map(|channel| channel.trim_start_matches('#')),
            fallback,
        }
    }

    fn excludes(&self, draft: &Draft) -> bool {
        let meta = &draft.session.meta;
        let id = |id: &&str| *id == draft.key.session || Some(*id) == meta.host_session.as_deref();
        let project = meta.project.as_deref();
        self.ids.iter().any(id)
            || project.is_some_and(|path| self.projects.iter().any(|globs| globs.matches(std::path::Path::new(path))))
    }

    fn apply(&self, draft: &mut Draft) {
        if let (Some(agent), None) = (&self.agent, &draft.agent) {
            draft.set_agent(agent);
        }
        let fallback = self.fallback.filter(|_| draft.session.meta.channel.is_none());
        if let Some(channel) = self.channel.or(fallback) {
            draft.set_channel(channel);
        }
    }
}
