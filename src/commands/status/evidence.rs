//! What is left of the transcripts that notes point to, and which of them their host will delete.
//!
//! A host deletes what nothing was written to for some time, and only below its own folder; which do, and when, is in the
//! table of agents.

use std::collections::{HashMap, HashSet};
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use rayon::prelude::*;
use serde::Serialize;

use super::chats::{Chats, written};
use super::retention::{Rule, together};
use crate::base::Env;
use crate::import::{self, places};
use crate::index::SessionRow;
use crate::session::agent_table::{self, AgentEntry, Retention};
use crate::sync::import::seen_files;
use crate::vault::config::expand_home;
use crate::vault::{State, Vault};

/// Who is told of: those that go within so many hours.
const SOON: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The transcripts of all sessions.
#[derive(Debug, Default, Serialize)]
pub(super) struct Evidence {
    /// The hosts that delete transcripts, and when.
    pub(super) hosts: Vec<Deletes>,
    /// Sessions whose transcript is there.
    pub(super) there: u64,
    /// Sessions with a copy in the vault's folder `evidence`.
    pub(super) kept: u64,
    /// Sessions that name no transcript.
    pub(super) unnamed: u64,
    /// Transcripts that will be deleted within seven days, the first to go first.
    pub(super) at_risk: Vec<AtRisk>,
    /// Sessions whose transcript is not on this machine, and not kept.
    pub(super) gone: Vec<Gone>,
}

/// A host that deletes transcripts.
#[derive(Debug, Serialize)]
pub(super) struct Deletes {
    /// As `host` of a note says it.
    pub(super) host: &'static str,
    /// Its name for people.
    pub(super) title: &'static str,
    /// Its name for `cru import`.
    pub(super) importer: &'static str,
    /// The setting that says after how long.
    pub(super) setting: &'static str,
    /// Hours after the last line of a transcript; nothing where age does not count.
    pub(super) hours: Option<u64>,
    /// Whether its settings say so.
    pub(super) set: bool,
    /// How many transcripts of a project are kept; nothing where all are.
    pub(super) most: Option<usize>,
}

/// A transcript that goes.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct AtRisk {
    /// The session whose note names it; `None` where it was never imported.
    pub(super) session: Option<String>,
    pub(super) host: &'static str,
    pub(super) transcript: String,
    /// From when on it may be deleted: the next start of the host does it.
    pub(super) from: Timestamp,
}

/// A session whose transcript is gone.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Gone {
    pub(super) session: String,
    pub(super) transcript: String,
}

/// A host on this machine.
struct Own {
    agent: &'static AgentEntry,
    retention: &'static Retention,
    rule: Rule,
    folder: Option<PathBuf>,
}

/// What is remembered from one session to the next.
struct EvidenceLook<'a> {
    hosts: Vec<Own>,
    folders: HashMap<PathBuf, Chats>,
    /// Ids of sessions with a copy in the vault.
    kept: HashSet<String>,
    vault: &'a Vault,
    env: &'a Env,
}

impl Evidence {
    /// Looks at the transcripts of sessions.
    pub(super) fn of(rows: &[SessionRow], vault: &Vault, env: &Env) -> Self {
        let own = |agent: &'static AgentEntry| {
            let retention = agent.retention.as_ref()?;
            let folder = places::expand(&retention.folder, env);
            Some(Own { agent, retention, rule: Rule::of(retention, env), folder })
        };
        let hosts = agent_table::all().iter().filter_map(own).collect();
        let mut look = EvidenceLook { hosts, folders: HashMap::new(), kept: kept_ids(vault), vault, env };
        let mut it = Self { hosts: look.hosts.iter().filter_map(Own::deletes).collect(), ..Self::default() };
        let find = |row: &SessionRow| {
            let path = env.cwd().join(expand_home(row.transcript.as_deref()?, env)?);
            Some((written(&path), path))
        };
        let found: Vec<_> = rows.par_iter().with_min_len(256).map(find).collect();
        let mut named = HashSet::new();
        for (row, transcript) in rows.iter().zip(found) {
            named.extend(it.add(row, transcript, &mut look));
        }
        it.add_unnamed(&named, &mut look);
        it.at_risk.sort_by(|a, b| (a.from, &a.session).cmp(&(b.from, &b.session)));
        it
    }

    /// Counts the transcript of a session; its path, where the note names one. `found`: when it was written, where it is a
    /// file, and its path.
    fn add(
        &mut self,
        row: &SessionRow,
        found: Option<(Option<Timestamp>, PathBuf)>,
        look: &mut EvidenceLook<'_>,
    ) -> Option<PathBuf> {
        let Some(transcript) = &row.transcript else {
            self.unnamed += 1;
            return None;
        };
        if look.kept.contains(&row.id) {
            self.kept += 1;
            return found.map(|(_, path)| path);
        }
        let Some((Some(time), path)) = found else {
            self.gone.push(Gone { session: row.id.clone(), transcript: transcript.clone() });
            return None;
        };
        self.there += 1;
        if let Some((host, from)) = row.host.as_deref().and_then(|host| look.deleted(host, &path, time)) {
            self.at_risk.push(AtRisk { session: Some(row.id.clone()), host, transcript: transcript.clone(), from });
        }
        Some(path)
    }

    /// Adds the transcripts that go and that no note names. Those that an import found empty or no transcripts are none.
    fn add_unnamed(&mut self, named: &HashSet<PathBuf>, look: &mut EvidenceLook<'_>) {
        let state = State::existing(look.vault, look.env);
        let own = look.hosts.iter().filter_map(|own| Some((own.agent.host.as_str(), own.folder.clone()?)));
        let own: Vec<_> = own.filter_map(|(host, folder)| Some((import::of_host(host)?, host, folder))).collect();
        for (importer, host, folder) in own {
            let Ok(listed) = import::list(importer, &[folder]) else { continue };
            let seen = state.as_ref().map(|state| seen_files(importer, state)).unwrap_or_default();
            for path in listed.files.into_iter().filter(|path| !named.contains(path) && !seen.contains(path)) {
                if let Some((host, from)) = written(&path).and_then(|time| look.deleted(host, &path, time)) {
                    let transcript = look.env.at(&path).folder();
                    self.at_risk.push(AtRisk { session: None, host, transcript, from });
                }
            }
        }
    }
}

impl Own {
    fn deletes(&self) -> Option<Deletes> {
        let importer = import::of_host(&self.agent.host)?;
        let hours = self.rule.age.map(|age| age.as_hours().unsigned_abs());
        let (host, setting) = (self.agent.host.as_str(), self.retention.setting.as_str());
        let (set, most) = (self.rule.set, self.rule.most);
        Some(Deletes { host, title: importer.title(), importer: importer.id, setting, hours, set, most })
    }
}

impl EvidenceLook<'_> {
    /// From when on its host may delete a transcript that was written at that time, where it is soon.
    fn deleted(&mut self, host: &str, path: &Path, mut time: Timestamp) -> Option<(&'static str, Timestamp)> {
        let own = self.hosts.iter().find(|own| own.agent.host == host)?;
        own.folder.as_ref().filter(|folder| path.starts_with(folder))?;
        let mut beyond = None;
        if let Some((folder, session)) = together(path, &own.retention.together) {
            let chats = self.folders.entry(folder.to_owned()).or_insert_with(|| Chats::of(folder));
            time = session.and_then(|id| chats.session(id)).unwrap_or(time);
            beyond = own.rule.most.and_then(|most| chats.beyond(most, time));
        }
        let old = own.rule.age.and_then(|age| time.checked_add(age).ok());
        let old = old.filter(|from| from.duration_since(self.env.now()) <= SOON);
        let from = old.into_iter().chain(beyond).min()?;
        Some((own.agent.host.as_str(), from))
    }
}

/// The ids of sessions of whose evidence the vault has a copy.
fn kept_ids(vault: &Vault) -> HashSet<String> {
    let folders = std::fs::read_dir(vault.root().join("evidence")).into_iter().flatten().flatten();
    let has_files = |folder: &DirEntry| std::fs::read_dir(folder.path()).is_ok_and(|mut files| files.next().is_some());
    let names = folders.filter(has_files).filter_map(|folder| folder.file_name().into_string().ok());
    names.filter(|name| !name.starts_with('.')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::files;

    #[test]
    fn a_transcript_is_there_at_risk_kept_or_gone() {
        let temp = tempfile::tempdir().unwrap();
        let (home, root) = (temp.path().join("home"), temp.path().join("vault"));
        let put = |path: &str| files::put(&home.join(path), b"{}").unwrap();
        put(".claude/projects/x/a.jsonl");
        put(".claude/projects/x/kept.jsonl");
        put("elsewhere/b.jsonl");
        files::put(&root.join(".cru/config.toml"), b"").unwrap();
        files::put(&root.join("evidence/kept/t.jsonl"), b"{}").unwrap();
        let row = |id: &str, transcript: Option<&str>| SessionRow {
            id: id.into(),
            host: Some("claude-code".into()),
            transcript: transcript.map(Into::into),
            ..SessionRow::default()
        };
        let rows = [
            row("a", Some("~/.claude/projects/x/a.jsonl")),
            row("b", Some("~/elsewhere/b.jsonl")),
            row("kept", Some("~/.claude/projects/x/kept.jsonl")),
            row("../kept", Some("~/.claude/projects/x/never.jsonl")),
            row("none", None),
        ];
        let written = home.join(".claude/projects/x/a.jsonl").metadata().unwrap().modified().unwrap();
        let written = Timestamp::try_from(written).unwrap();
        let look = |after: i64| {
            let now = written + SignedDuration::from_hours(24 * after);
            let env = Env::fixed(now, &root, &[("HOME", home.to_str().unwrap())]);
            let it = Evidence::of(&rows, &Vault::open(&root).unwrap(), &env);
            assert_eq!((it.there, it.kept, it.unnamed), (2, 1, 1));
            assert_eq!(it.gone.iter().map(|it| it.session.as_str()).collect::<Vec<_>>(), ["../kept"]);
            let risk = it
                .at_risk
                .iter()
                .map(|it| (it.session.clone().unwrap_or_default(), it.from.duration_since(now).as_hours() / 24));
            (it.hosts[0].hours.unwrap() / 24, risk.collect::<Vec<_>>())
        };
        assert_eq!(look(22), (30, vec![]));
        assert_eq!(look(23), (30, vec![("a".to_owned(), 7)]), "never one outside the host's folder");
        assert_eq!(look(40), (30, vec![("a".to_owned(), -10)]));
        files::put(&home.join(".claude/settings.json"), br#"{"cleanupPeriodDays": 400}"#).unwrap();
        assert_eq!(look(390), (400, vec![]));
        assert_eq!(look(395), (400, vec![("a".to_owned(), 5)]));
        files::put(&home.join(".claude/settings.json"), br#"{"cleanupPeriodDays": 9223372036854775807}"#).unwrap();
        assert_eq!(look(395).1, []);
        files::put(&home.join(".claude/settings.json"), b"{").unwrap();
        assert_eq!(look(1), (30, vec![]));
    }

    #[test]
    fn gemini_deletes_by_age_by_count_and_the_work_of_a_sub_agent_with_its_session() {
        let temp = tempfile::tempdir().unwrap();
        let (home, root) = (temp.path().join("home"), temp.path().join("vault"));
        files::put(&root.join(".cru/config.toml"), b"").unwrap();
        let now: Timestamp = "2026-11-20T12:00:00Z".parse().unwrap();
        let put = |path: &str, days: i64| {
            let path = home.join(path);
            files::put(&path, b"{}").unwrap();
            let file = std::fs::File::options().write(true).open(&path).unwrap();
            file.set_modified((now - SignedDuration::from_hours(days * 24)).into()).unwrap();
        };
        let chats = ".gemini/tmp/x/chats";
        put(&format!("{chats}/session-2026-10-01T10-00-aaaaaaaa.json"), 26);
        put(&format!("{chats}/session-2026-11-01T10-00-bbbbbbbb.jsonl"), 10);
        put(&format!("{chats}/session-2026-11-02T10-00-cccccccc.jsonl"), 9);
        put(&format!("{chats}/bbbbbbbb-1/sub.jsonl"), 29);
        put("copies/session-2026-10-01T10-00-aaaaaaaa.json", 26);
        let row = |id: &str, path: &str| SessionRow {
            id: id.into(),
            host: Some("gemini-cli".into()),
            transcript: Some(format!("~/{path}")),
            ..SessionRow::default()
        };
        let rows = [
            row("a", &format!("{chats}/session-2026-10-01T10-00-aaaaaaaa.json")),
            row("b", &format!("{chats}/session-2026-11-01T10-00-bbbbbbbb.jsonl")),
            row("c", &format!("{chats}/session-2026-11-02T10-00-cccccccc.jsonl")),
            row("sub", &format!("{chats}/bbbbbbbb-1/sub.jsonl")),
            row("copy", "copies/session-2026-10-01T10-00-aaaaaaaa.json"),
        ];
        let look = |settings: &str| {
            files::put(&home.join(".gemini/settings.json"), settings.as_bytes()).unwrap();
            let env = Env::fixed(now, &root, &[("HOME", home.to_str().unwrap())]);
            let it = Evidence::of(&rows, &Vault::open(&root).unwrap(), &env);
            assert_eq!(it.there, 5);
            let risk = it
                .at_risk
                .iter()
                .map(|it| (it.session.clone().unwrap_or_default(), it.from.duration_since(now).as_hours() / 24));
            risk.collect::<Vec<_>>()
        };
        let at = |id: &str, days: i64| (id.to_owned(), days);
        assert_eq!(look("{"), [at("a", 4)], "settings that are none say nothing");
        assert_eq!(look(r#"{"general": {"sessionRetention": {"enabled": false}}}"#), []);
        let week = r#"{"general": {"sessionRetention": {"maxAge": "7d" /* a week */}}}"#;
        assert_eq!(look(week), [at("a", -19), at("b", -3), at("sub", -3), at("c", -2)]);
        let two = r#"{"general": {"sessionRetention": {"maxAge": "1m", "maxCount": 2}}}"#;
        assert_eq!(look(two), [at("a", -9)], "since the second newer one was written");
        let one = r#"{"general": {"sessionRetention": {"maxAge": "", "maxCount": 1}}}"#;
        assert_eq!(look(one), [at("a", -10), at("b", -9), at("sub", -9)]);
    }
}
