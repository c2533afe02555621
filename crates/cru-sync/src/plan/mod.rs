//! Which drafts become notes, under which names, and how parents and children point at each other.

pub(crate) mod choice;
pub(crate) mod imported;
pub(crate) mod made;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use jiff::tz::TimeZone;

use crate::existing::Existing;
use crate::plan::imported::ImportedSessions;
use crate::plan::made::MadeNotes;
use crate::report::{Outcome, SessionReport};
use cru_session::cursor::Cursor;
use cru_session::event::StreamKey;
use cru_session::fold::{Draft, Linked};
use cru_session::{Agent, Meta};
use cru_vault::config::{Globs, ImportConfig};
use cru_vault::naming::{Names, child_name, session_name};
use cru_vault::project::{NewProjectNote, ProjectNotes};
use cru_vault::{Catalog, Head, Vault, VaultPath};

/// What will be done.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Drafts to write with the row of the report they belong to, named and linked, in the order of their names' making.
    pub(crate) drafts: Vec<(usize, Draft)>,
    /// Drafts whose notes are there and must be looked at.
    pub(crate) olds: Vec<Old>,
    /// Every stream, in order of start, then host id.
    pub(crate) sessions: Vec<SessionReport>,
    /// Project notes that the new notes link and that are to be made.
    pub(crate) projects: Vec<NewProjectNote>,
}

/// What a vault has when notes are to be made.
pub(crate) struct Taken {
    names: Names,
    projects: ProjectNotes,
}

impl Taken {
    pub(crate) fn of(vault: &Vault, catalog: &Catalog) -> Self {
        Self { names: Names::of(catalog), projects: ProjectNotes::of(vault, catalog) }
    }
}

/// A draft whose note is there.
#[derive(Debug)]
pub(crate) struct Old {
    /// Row of the report.
    pub(crate) row: usize,
    /// The note as it was found.
    pub(crate) head: Head,
    /// Named and linked.
    pub(crate) draft: Draft,
    /// How many records are new.
    pub(crate) records: u64,
    /// Where the transcript no longer begins with the records that the note was made of: how many of it the note tells.
    pub(crate) rewritten: Option<Rewritten>,
}

/// Where the part that a note tells ends in a transcript that was rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rewritten {
    /// Records up to there; where neither ids nor times tell, the note's own words do when it grows.
    pub(crate) records: Option<u64>,
    /// Whether that is known by the last record's id.
    pub(crate) by_id: bool,
}

impl Rewritten {
    fn of(draft: &Draft) -> Self {
        let before_end = draft.consumed.before_end;
        let Some((last, behind)) = draft.consumed.located else {
            return Self { records: before_end, by_id: false };
        };
        // Records without an id that were written with the last one belong to it.
        let records = before_end.map_or(last, |end| end.clamp(last, behind));
        Self { records: Some(records), by_id: true }
    }
}

/// What is known of the vault.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "choices that have nothing to do with one another")]
pub(crate) struct Ground<'a> {
    pub(crate) vault: &'a Vault,
    pub(crate) existing: &'a Existing<'a>,
    /// Notes that this machine made.
    pub(crate) made: &'a MadeNotes,
    /// Sessions that had a note in this vault, made on any machine.
    pub(crate) imported: &'a ImportedSessions,
    pub(crate) rules: &'a Rules<'a>,
    /// Streams that filters leave out.
    pub(crate) left: &'a HashMap<StreamKey, Outcome>,
    /// Make notes again that a person deleted.
    pub(crate) restore: bool,
    /// Whether notes can grow: only where the machine state is at hand.
    pub(crate) can_grow: bool,
    /// Whether every note is looked at, also where the records are the same.
    pub(crate) all: bool,
    /// Write the steps of transcripts that their notes lack.
    pub(crate) reattach: bool,
}

impl Plan {
    /// Decides about every draft. `taken` is asked for only where a note is to be made.
    pub(crate) fn make(ground: &Ground<'_>, taken: impl FnOnce() -> Taken, mut drafts: Vec<Draft>) -> Self {
        drafts.sort_by(|a, b| (a.start(), &a.key).cmp(&(b.start(), &b.key)));
        name_origins(&mut drafts);
        let Ground { vault, existing, rules, .. } = *ground;
        // What this machine made at the vault's path was of another vault where this one knows of no session.
        let is_known = !ground.imported.is_empty() || !existing.is_empty();
        let mut seen: HashMap<StreamKey, usize> = HashMap::new();
        let mut sessions = Vec::with_capacity(drafts.len());
        let (mut new, mut olds) = (Vec::new(), Vec::new());
        for (row, mut draft) in drafts.into_iter().enumerate() {
            let mut report = SessionReport::of(&draft);
            let host = draft.session.meta.host_session.clone().unwrap_or_default();
            if seen.insert(draft.key.clone(), row).is_some() {
                report.outcome = Outcome::Duplicate;
            } else if rules.excludes(&draft) {
                report.outcome = Outcome::Excluded;
            } else if let Some(outcome) = ground.left.get(&draft.key) {
                report.outcome = *outcome;
            } else if ground.imported.is_forgotten(&host) && !ground.restore {
                let head = existing.find(&host, draft.session.meta.cursor.as_deref());
                report.outcome = Outcome::Forgotten;
                report.note = head.map(|head| head.path.to_string());
            } else if let Some(head) = existing.find(&host, draft.session.meta.cursor.as_deref()) {
                report.note = Some(head.path.to_string());
                let mut rewritten = None;
                (report.outcome, report.detail) = compare(&head.meta, &draft, ground.can_grow, &mut rewritten);
                report.rewritten = rewritten.is_some();
                let hooked = head.meta.cursor.as_deref().and_then(Cursor::parse).is_some_and(|it| it.is_hooked());
                if ground.reattach && report.outcome == Outcome::Unchanged && !hooked {
                    rewritten = Some(Rewritten { records: Some(draft.consumed.records), by_id: true });
                }
                if ground.can_grow && matches!(report.outcome, Outcome::Updated | Outcome::Unchanged) {
                    rules.apply(&mut draft);
                    draft.name(&head.id());
                    let known = head.meta.cursor.as_deref().and_then(Cursor::parse).map_or(0, |cursor| cursor.records);
                    let known = rewritten.and_then(|part: Rewritten| part.records).unwrap_or(known);
                    let records = draft.consumed.records.saturating_sub(known);
                    olds.push(Old { row, head: head.clone(), draft, records, rewritten });
                }
            } else if draft.empty {
                report.outcome = Outcome::Empty;
            } else if !ground.restore && (ground.imported.has(&host) || (is_known && ground.made.of(&host).is_some())) {
                let made = ground.made.of(&host).map_or("a note", |made| made.note.as_str());
                report.outcome = Outcome::Deleted;
                report.detail = Some(format!("{made} was made before"));
            } else {
                rules.apply(&mut draft);
                new.push((row, draft));
            }
            sessions.push(report);
        }
        let learned = olds.iter().any(learns_project);
        let mut taken = (!new.is_empty() || learned).then(taken);
        if let Some(taken) = &mut taken {
            if ground.restore {
                taken.projects.restore_deleted();
            }
            name(&mut new, existing, &mut taken.names, rules.zone);
        }
        link(&mut new, &mut olds, existing);
        let projects = taken.map(|taken| link_projects(&mut new, &mut olds, vault, taken)).unwrap_or_default();
        for (row, draft) in &new {
            let id = draft.session.meta.session_id.as_deref().unwrap_or_default();
            let path = VaultPath::new(vault.config().sessions.as_path().join(format!("{id}.md")));
            if let Some(report) = sessions.get_mut(*row) {
                report.note = path.map(|path| path.to_string());
                report.title.clone_from(&draft.session.meta.title);
                report.parent = draft.session.meta.parent.as_ref().map(|link| link.target.clone());
            }
        }
        // A note whose records are the same changes only where it shows a sub-agent that does not.
        let outcome = |row: usize| sessions.get(row).map(|report: &SessionReport| report.outcome);
        let grown = olds.iter().filter(|old| outcome(old.row) == Some(Outcome::Updated)).map(|old| &old.draft);
        let touched: Vec<&Draft> = new.iter().map(|(_, draft)| draft).chain(grown).collect();
        let parents: HashSet<StreamKey> = touched.iter().filter_map(|draft| draft.parent.clone()).collect();
        // And where something stands beside the records, and one whose parent had no note until now.
        let made: HashSet<StreamKey> = new.iter().map(|(_, draft)| draft.key.clone()).collect();
        let touched: HashSet<StreamKey> = touched.iter().map(|draft| draft.key.clone()).collect();
        olds.retain(|old| {
            let shows = || old.draft.children.iter().any(|child| touched.contains(&child.stream));
            let goes_on = || old.draft.continued_in.as_ref().is_some_and(|next| made.contains(next));
            let began = || old.draft.parent.as_ref().is_some_and(|parent| made.contains(parent));
            ground.all
                || old.rewritten.is_some()
                || is_moved(&old.head.meta, &old.draft)
                || old.draft.aside
                || began()
                || goes_on()
                || outcome(old.row) == Some(Outcome::Updated)
                || parents.contains(&old.draft.key)
                || shows()
        });
        Self { drafts: new, olds, sessions, projects }
    }
}

/// Names the origin of sessions in which others say that they go on.
fn name_origins(drafts: &mut [Draft]) {
    let origins = drafts.iter().filter_map(|draft| Some((draft.continued_in.clone()?, draft.key.clone())));
    let origins: HashMap<StreamKey, StreamKey> = origins.collect();
    for draft in drafts.iter_mut().filter(|draft| draft.parent.is_none()) {
        draft.parent = origins.get(&draft.key).filter(|origin| **origin != draft.key).cloned();
    }
}

/// What an existing note says against what the transcript now gives.
fn compare(old: &Meta, draft: &Draft, can_grow: bool, rewritten: &mut Option<Rewritten>) -> (Outcome, Option<String>) {
    const ANOTHER: &str = "the transcript is another one than it was";
    let new = Cursor::first(&draft.consumed);
    let Some(cursor) = old.cursor.as_deref().and_then(Cursor::parse) else {
        return (Outcome::Grown, Some("the note has no cru_cursor".to_owned()));
    };
    if cursor.same_records(&new) {
        return (Outcome::Unchanged, None);
    }
    let continues = match (cursor.is_hooked(), new.is_hooked()) {
        // What hooks told is completed by the transcript, and never the other way round.
        (true, false) => true,
        (false, true) => return (Outcome::Grown, Some("its transcript cannot be read any more".to_owned())),
        _ => draft.consumed.marked.as_deref().is_some_and(|hash| cursor.is_of(hash)),
    };
    let more = new.records.saturating_sub(cursor.records);
    if continues && can_grow {
        return (Outcome::Updated, Some(cru_base::text::plural(more, "new record")));
    }
    if new.records > cursor.records && draft.consumed.marked.as_deref().is_none_or(|hash| cursor.is_of(hash)) {
        return (Outcome::Grown, Some(cru_base::text::plural(more, "new record")));
    }
    if can_grow && !cursor.is_hooked() && !new.is_hooked() {
        let part = Rewritten::of(draft);
        *rewritten = Some(part);
        let more = new.records.saturating_sub(part.records.unwrap_or(cursor.records));
        return (
            Outcome::Updated,
            Some(format!("transcript rewritten; {}", cru_base::text::plural(more, "new record"))),
        );
    }
    (Outcome::Grown, Some(ANOTHER.to_owned()))
}

/// Whether a note names a file that is gone, and its transcript is in another now.
pub(crate) fn is_moved(old: &Meta, draft: &Draft) -> bool {
    let (Some(then), Some(now)) = (old.transcript.as_deref(), draft.session.meta.transcript.as_deref()) else {
        return false;
    };
    if then == now || now.is_empty() || !draft.transcript.exists() {
        return false;
    }
    // The path as it is and as the note says it differ by home alone.
    let home = |rest: &str| {
        let own = draft.transcript.to_str()?.strip_suffix(now.strip_prefix("~/")?)?;
        Some(std::path::PathBuf::from(format!("{own}{rest}")))
    };
    let path = match then.strip_prefix("~/") {
        Some(rest) => home(rest),
        None => Some(std::path::PathBuf::from(then)),
    };
    path.is_some_and(|path| path.is_absolute() && !path.exists())
}

/// Names every draft: main sessions by date and words, sub-agents after the session that started them.
fn name(new: &mut [(usize, Draft)], existing: &Existing<'_>, names: &mut Names, zone: &TimeZone) {
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
            let wanted = wanted_name(new, index, &by_key, existing, zone);
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
    zone: &TimeZone,
) -> String {
    let Some((_, draft)) = new.get(index) else { return "session".to_owned() };
    let own = || session_name(draft.start(), &draft.slug, zone);
    let (Some(agent), Some(parent)) = (&draft.agent, &draft.parent) else { return own() };
    let named = by_key.get(parent).and_then(|&at| new.get(at)).and_then(|(_, it)| it.session.meta.session_id.clone());
    named.or_else(|| existing.stem(parent)).and_then(|parent| child_name(&parent, &agent.name)).unwrap_or_else(own)
}

/// Points children to their parents and parents to their children, new and old.
fn link(new: &mut [(usize, Draft)], olds: &mut [Old], existing: &Existing<'_>) {
    let mut notes: HashMap<StreamKey, Linked> = HashMap::new();
    let mut children: HashMap<StreamKey, Vec<StreamKey>> = HashMap::new();
    let named = new.iter().map(|(_, draft)| (draft.session.meta.session_id.clone().unwrap_or_default(), draft));
    let there = olds.iter().map(|old| (old.head.path.stem().into_owned(), &old.draft));
    for (note, draft) in named.chain(there) {
        let meta = &draft.session.meta;
        let agent = draft.agent.clone().or_else(|| meta.participants.first().cloned());
        let linked = Linked { note, agent, model: meta.model.clone(), tokens: meta.tokens_used };
        notes.insert(draft.key.clone(), linked);
        if let (Some(parent), Some(_)) = (&draft.parent, &draft.agent) {
            children.entry(parent.clone()).or_default().push(draft.key.clone());
        }
    }
    for draft in new.iter_mut().map(|(_, draft)| draft).chain(olds.iter_mut().map(|old| &mut old.draft)) {
        if let Some(parent) = draft.parent.clone() {
            let known = notes.get(&parent).map(|linked| linked.note.clone());
            if let Some(note) = known.or_else(|| existing.stem(&parent)) {
                draft.link_parent(&note);
            }
        }
        if let Some(next) = &draft.continued_in {
            let known = notes.get(next).map(|linked| linked.note.clone());
            if let Some(note) = known.or_else(|| existing.stem(next)) {
                draft.link_next(&note);
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

/// Points new notes to those of their projects; the project notes that are to be made. A sub-agent hangs on its parent.
fn link_projects(new: &mut [(usize, Draft)], olds: &mut [Old], vault: &Vault, taken: Taken) -> Vec<NewProjectNote> {
    let Taken { mut names, mut projects } = taken;
    let olds = olds.iter_mut().filter(|old| learns_project(old)).map(|old| &mut old.draft);
    for draft in new.iter_mut().map(|(_, draft)| draft).chain(olds) {
        let meta = &mut draft.session.meta;
        if let Some(folder) = meta.project.as_deref().filter(|_| draft.agent.is_none() || meta.parent.is_none()) {
            meta.project_note = projects.link(vault, folder, &mut names);
        }
    }
    projects.into_new()
}

/// Whether a note that is there gets the folder of its session now.
fn learns_project(old: &Old) -> bool {
    old.head.meta.project.is_none() && old.draft.session.meta.project.is_some()
}

/// What `[import]` of the configuration says.
pub(crate) struct Rules<'a> {
    ids: Vec<&'a str>,
    projects: Vec<Globs>,
    agent: Option<Agent>,
    channel: Option<&'a str>,
    /// For sessions that name no channel.
    fallback: Option<&'a str>,
    /// Whose dates notes have.
    zone: &'a TimeZone,
}

impl<'a> Rules<'a> {
    pub(crate) fn of(config: &'a ImportConfig, fallback: Option<&'a str>, zone: &'a TimeZone) -> Self {
        Self {
            zone,
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

    pub(crate) fn apply(&self, draft: &mut Draft) {
        draft.set_date(self.zone);
        if let (Some(agent), None) = (&self.agent, &draft.agent) {
            draft.set_agent(agent);
        }
        let fallback = self.fallback.filter(|_| draft.session.meta.channel.is_none());
        if let Some(channel) = self.channel.or(fallback) {
            draft.set_channel(channel);
        }
    }
}
