//! The account of an import: every session, every file, every record.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use crate::read::bundle::FileAccount;
use cru_agents::UNREADABLE;
use cru_session::event::StreamKey;
use cru_session::fold::Draft;
use cru_session::source::{Account, Importer};

/// Copies of transcripts that one import kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KeptCopies {
    /// Files with a copy that has all of them.
    pub files: u64,
    /// Bytes that were not kept before.
    pub new_bytes: u64,
    /// What they take.
    pub packed_bytes: u64,
    /// Files without a copy: databases, and files that are too large.
    pub not_kept: u64,
}

/// A note that stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftNote {
    /// Its path.
    pub note: String,
    /// Why.
    pub why: String,
}

cru_base::words! {
    /// What became of a session.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Outcome {
        /// A note was made.
        #[default]
        Created = "created",
        /// Its note got what the transcript gained.
        Updated = "updated",
        /// Its note represents these records already.
        Unchanged = "unchanged",
        /// Its note represents other records; the note was left as it is.
        Grown = "grown",
        /// A person deleted its note.
        Deleted = "deleted",
        /// `cru import --forget` named it; its note, if there is one, was left as it is.
        Forgotten = "forgotten",
        /// It has no prompt of a person or no turn of an agent.
        Empty = "empty",
        /// `[import] exclude` names it.
        Excluded = "excluded",
        /// Another bundle gave the same session.
        Duplicate = "duplicate",
        /// It went on last before `--since`.
        Earlier = "earlier",
        /// It is not of `--project`.
        Elsewhere = "elsewhere",
    }
}

impl Outcome {
    /// Whether there is a note of it.
    pub const fn has_note(self) -> bool {
        matches!(self, Self::Created | Self::Updated | Self::Unchanged | Self::Grown)
    }

    /// Whether a filter of the command line leaves it out: then its records are no part of the account.
    pub const fn is_filtered(self) -> bool {
        matches!(self, Self::Earlier | Self::Elsewhere)
    }

    /// Under which reason records of such a session stand; `None` where its note has them.
    pub const fn withheld(self) -> Option<&'static str> {
        match self {
            Self::Created | Self::Updated | Self::Unchanged => None,
            Self::Grown => Some("in a session whose note was left as it is"),
            Self::Deleted => Some("in a session whose note you deleted"),
            Self::Forgotten => Some("in a session that `cru import --forget` named"),
            Self::Empty => Some("in a session without a prompt or an answer"),
            Self::Excluded => Some("in a session that [import] exclude names"),
            Self::Duplicate => Some("in a session that another file holds"),
            Self::Earlier => Some("in a session skipped by --since"),
            Self::Elsewhere => Some("in a session skipped by --project"),
        }
    }

    /// Why there is no note, for people.
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            Self::Created | Self::Updated | Self::Unchanged | Self::Grown => None,
            Self::Deleted => Some("its note is gone; --restore makes it again"),
            Self::Forgotten => Some("`cru import --forget` named its session"),
            Self::Empty => Some("empty: no prompt, or no answer to it"),
            Self::Excluded => Some("excluded by [import] exclude"),
            Self::Duplicate => Some("the same session is in another file"),
            Self::Earlier => Some("skipped by --since"),
            Self::Elsewhere => Some("skipped by --project"),
        }
    }
}

/// One session.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SessionReport {
    /// The host's id.
    pub host_session: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Its note, as a path of the vault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The note of the session that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// When it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// Whether a sub-agent did it.
    pub subagent: bool,
    /// More about the outcome, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// How many secrets each rule took out of it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub masked: BTreeMap<&'static str, u64>,
    /// Whether its transcript no longer begins with the records that its note was made of.
    #[serde(skip)]
    pub rewritten: bool,
    #[serde(skip)]
    key: StreamKey,
}

impl SessionReport {
    /// Of a draft that nothing is decided about.
    pub(crate) fn of(draft: &Draft) -> Self {
        Self {
            host_session: draft.key.to_string(),
            outcome: Outcome::Created,
            title: draft.session.meta.title.clone(),
            started: draft.start(),
            subagent: draft.agent.is_some(),
            masked: draft.masked.clone(),
            key: draft.key.clone(),
            ..Self::default()
        }
    }

    /// Of a session that was not read again.
    pub(crate) fn known(
        key: StreamKey,
        outcome: Outcome,
        note: Option<String>,
        title: Option<String>,
        subagent: bool,
    ) -> Self {
        Self { host_session: key.to_string(), outcome, note, title, subagent, key, ..Self::default() }
    }

    /// Which stream.
    pub(crate) const fn key(&self) -> &StreamKey {
        &self.key
    }
}

/// One file.
#[derive(Clone, Debug, Serialize)]
pub struct FileReport {
    /// Where it is.
    pub path: PathBuf,
    /// The host's ids of the sessions in it.
    pub sessions: Vec<String>,
    /// What became of its records.
    #[serde(flatten)]
    pub account: Account,
    /// Why it gave no note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why it could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
}

/// Something in records that the importer does not know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownKind {
    /// What it is, by the name that the host gives it.
    pub what: &'static str,
    /// How many records have it.
    pub count: u64,
    /// The versions of the host that wrote them, as far as the files say.
    pub versions: BTreeSet<String>,
}

impl UnknownKind {
    /// What `files` hold that their importer does not know, the most first.
    pub fn all(files: &[FileAccount]) -> Vec<Self> {
        let mut found: BTreeMap<&'static str, Self> = BTreeMap::new();
        for file in files {
            for (&what, count) in file.account.skipped.iter().filter(|(what, _)| what.starts_with("unknown ")) {
                let kind = found.entry(what).or_insert_with(|| Self { what, count: 0, versions: BTreeSet::new() });
                kind.count += count;
                kind.versions.extend(file.version.clone());
            }
        }
        let mut found: Vec<Self> = found.into_values().collect();
        found.sort_by_key(|kind| std::cmp::Reverse(kind.count));
        found
    }

    /// `unknown record type cost-state ×2 (claude-code 2.1.250)`.
    pub fn line(&self, host: &str) -> String {
        let versions: Vec<&str> = self.versions.iter().map(String::as_str).collect();
        let by = if versions.is_empty() { host.to_owned() } else { format!("{host} {}", versions.join(", ")) };
        format!("{} ×{} ({by})", self.what.replace('`', ""), self.count)
    }
}

/// The whole account.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Version of this form.
    pub schema: u32,
    /// Which importer.
    pub importer: &'static str,
    /// Name of the agent, for people.
    #[serde(skip)]
    pub title: &'static str,
    /// Name of the agent in notes.
    #[serde(skip)]
    pub host: &'static str,
    /// Whether nothing was to be written.
    pub dry_run: bool,
    /// How many sessions had which outcome.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// Records that notes which were there got.
    pub new_records: u64,
    /// Notes of which something stays as it is, because they have no seals.
    #[serde(skip)]
    pub unsealed: u64,
    /// Files that were last written before `--since` and were not read.
    pub earlier_files: u64,
    /// Files all of whose sessions `--since` or `--project` leaves out: their records are not counted.
    pub filtered_files: u64,
    /// Files in the folders that are not named like transcripts and were not looked into.
    pub other_files: u64,
    /// Files that are as they were at the last import, as are their notes: not read again, and not in `files`.
    pub known_files: u64,
    /// What was kept of the transcripts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptCopies>,
    /// How many secrets each rule took out of what was written, each counted once in a session.
    pub masked: BTreeMap<&'static str, u64>,
    /// All records together, of the files that no filter leaves out. Those that a note shows or uses are in a note.
    pub records: Account,
    /// What the importer does not know of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<UnknownKind>,
    /// Every session, in order of start.
    pub sessions: Vec<SessionReport>,
    /// Every file that is or seems a transcript, by path.
    pub files: Vec<FileReport>,
}

impl Report {
    pub(crate) fn new(
        importer: &Importer,
        dry_run: bool,
        sessions: Vec<SessionReport>,
        read: Vec<FileAccount>,
        strangers: Vec<(PathBuf, &'static str)>,
    ) -> Self {
        let mut best: BTreeMap<&StreamKey, Outcome> = BTreeMap::new();
        let mut outcomes: BTreeMap<Outcome, u64> = BTreeMap::new();
        for session in &sessions {
            *outcomes.entry(session.outcome).or_default() += 1;
            let outcome = best.entry(&session.key).or_insert(session.outcome);
            *outcome = session.outcome.min(*outcome);
        }
        let mut records = Account::default();
        let mut files: Vec<FileReport> = Vec::new();
        let mut filtered_files = 0;
        let unknown = UnknownKind::all(&read);
        for mut read in read {
            withhold(&mut read, &best);
            if is_filtered(&read, &best) {
                filtered_files += 1;
            } else {
                records.add(&read.account);
            }
            let reason = reason(&read, &best);
            let sessions = read.streams.iter().map(ToString::to_string).collect();
            files.push(FileReport { path: read.path, sessions, account: read.account, reason, unread: read.error });
        }
        let refused = strangers.into_iter().map(|(path, reason)| FileReport {
            path,
            sessions: Vec::new(),
            account: Account::default(),
            reason: Some(reason.to_owned()),
            unread: (reason == UNREADABLE).then(|| reason.to_owned()),
        });
        files.extend(refused);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut report = Self {
            schema: 1,
            importer: importer.id,
            title: importer.title(),
            host: importer.host(),
            dry_run,
            outcomes,
            filtered_files,
            records,
            unknown,
            sessions,
            files,
            ..Self::default()
        };
        report.count_masked();
        report
    }

    /// Counts again what was taken out of the sessions that were written.
    pub(crate) fn count_masked(&mut self) {
        self.masked.clear();
        let written = |session: &&SessionReport| matches!(session.outcome, Outcome::Created | Outcome::Updated);
        for (rule, count) in self.sessions.iter().filter(written).flat_map(|session| &session.masked) {
            *self.masked.entry(rule).or_default() += count;
        }
    }

    /// The files that could not be read, each with the reason. Files that are read together are named by the one that
    /// could not.
    pub fn unread(&self) -> Vec<(&Path, &str)> {
        let mut told = BTreeSet::new();
        let files = self.files.iter().filter_map(|file| Some((file.path.as_path(), file.unread.as_deref()?)));
        let names_it = |(path, why): &(&Path, &str)| why.contains(&*path.to_string_lossy());
        let mut unread: Vec<_> = files.collect();
        unread.sort_by_key(|file| !names_it(file));
        unread.retain(|(_, why)| *why == UNREADABLE || told.insert(*why));
        unread.sort();
        unread
    }

    /// How many sessions had `outcome`.
    pub fn count(&self, outcome: Outcome) -> u64 {
        self.outcomes.get(&outcome).copied().unwrap_or(0)
    }

    /// The sessions that had `outcome`.
    pub fn with(&self, outcome: Outcome) -> impl Iterator<Item = &SessionReport> {
        self.sessions.iter().filter(move |session| session.outcome == outcome)
    }
}

/// Whether filters leave out all that a file holds.
fn is_filtered(read: &FileAccount, best: &BTreeMap<&StreamKey, Outcome>) -> bool {
    let mut outcomes = read.streams.iter().filter_map(|key| best.get(key)).peekable();
    outcomes.peek().is_some() && outcomes.all(|outcome| outcome.is_filtered())
}

/// Counts the records of sessions that are in no note under the reason why, so that what is left is in one.
fn withhold(read: &mut FileAccount, best: &BTreeMap<&StreamKey, Outcome>) {
    const FAILED: &str = "in a file that could not be read";
    const WAITING: &str = "in a session that waits for the one that started it";
    let why = |key: &StreamKey| match best.get(key) {
        Some(outcome) => outcome.withheld(),
        None => Some(if read.error.is_some() { FAILED } else { WAITING }),
    };
    let of = read.account.by_stream.clone();
    let known: u64 = of.values().sum();
    let mut withheld: Vec<(u64, &'static str)> = Vec::new();
    for (key, count) in &of {
        withheld.extend(why(key).map(|reason| (*count, reason)));
    }
    // Of records that are no stream's own, a note has what any of the file's sessions has.
    let rest = read.account.represented.saturating_sub(known);
    let whose: Vec<Option<&'static str>> = read.streams.iter().map(why).collect();
    let reason = match whose.iter().find_map(|reason| *reason) {
        _ if read.error.is_some() => Some(FAILED),
        _ if whose.is_empty() => Some("in no session"),
        reason => reason.filter(|_| whose.iter().all(Option::is_some)),
    };
    withheld.extend(reason.map(|reason| (rest, reason)));
    for (count, reason) in withheld {
        read.account.withhold(count, reason);
    }
}

/// Why a file gave no note; `None` when it gave one.
fn reason(read: &FileAccount, best: &BTreeMap<&StreamKey, Outcome>) -> Option<String> {
    let outcomes: BTreeSet<Outcome> = read.streams.iter().filter_map(|key| best.get(key)).copied().collect();
    if outcomes.iter().any(|outcome| outcome.has_note()) {
        return None;
    }
    if let Some(error) = &read.error {
        return Some(error.clone());
    }
    let told = outcomes.first().and_then(|outcome| outcome.reason());
    let most = read.account.skipped.iter().max_by_key(|(_, count)| **count).map(|(reason, _)| *reason);
    Some(match (told, most) {
        (Some(reason), _) => reason.to_owned(),
        (None, _) if read.account.records == 0 => "no records".to_owned(),
        (None, Some(reason)) => format!("nothing of a session in it (mostly {reason})"),
        (None, None) => "nothing of a session in it".to_owned(),
    })
}
