//! What is left of the transcripts that notes point to, and which of them their host will delete.
//!
//! Claude Code deletes a transcript when nothing was written to it for `cleanupPeriodDays` (30 where the settings say
//! nothing), and only below its own folder.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::base::{Env, files};
use crate::index::SessionRow;
use crate::vault::Vault;
use crate::vault::config::expand_home;

/// Days where the settings say nothing.
const DEFAULT_DAYS: i64 = 30;
/// Who is told of: those that go within so many days.
const SOON: i64 = 7;
/// Settings larger than that are none.
const LARGEST: u64 = 4 << 20;

/// The transcripts of all sessions.
#[derive(Debug, Default, Serialize)]
pub(super) struct Evidence {
    /// After how many days Claude Code deletes one.
    pub(super) cleanup_days: i64,
    /// Whether its settings say so.
    pub(super) cleanup_days_set: bool,
    /// Sessions whose transcript is there.
    pub(super) there: u64,
    /// Sessions with a copy in the vault's folder `evidence`.
    pub(super) kept: u64,
    /// Sessions that name no transcript.
    pub(super) unnamed: u64,
    /// Sessions whose transcript will be deleted within seven days, the first to go first.
    pub(super) at_risk: Vec<AtRisk>,
    /// Sessions whose transcript is not on this machine, and not kept.
    pub(super) gone: Vec<Gone>,
}

/// A session whose transcript goes.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct AtRisk {
    pub(super) session: String,
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

impl Evidence {
    /// Looks at the transcripts of sessions.
    pub(super) fn of(rows: &[SessionRow], vault: &Vault, env: &Env) -> Self {
        let home = config(env);
        let days = home.as_deref().and_then(days);
        let mut it =
            Self { cleanup_days: days.unwrap_or(DEFAULT_DAYS), cleanup_days_set: days.is_some(), ..Self::default() };
        let projects = home.map(|home| home.join("projects"));
        for row in rows {
            it.look(row, vault, projects.as_deref(), env);
        }
        it.at_risk.sort_by(|a, b| (a.from, &a.session).cmp(&(b.from, &b.session)));
        it
    }

    fn look(&mut self, row: &SessionRow, vault: &Vault, projects: Option<&Path>, env: &Env) {
        let Some(transcript) = &row.transcript else {
            self.unnamed += 1;
            return;
        };
        if is_kept(vault, &row.id) {
            self.kept += 1;
            return;
        }
        let path = expand_home(transcript, env).map(|path| env.cwd().join(path));
        let found = path.as_deref().and_then(|path| Some((path, std::fs::metadata(path).ok()?)));
        let Some((path, metadata)) = found.filter(|(_, metadata)| metadata.is_file()) else {
            self.gone.push(Gone { session: row.id.clone(), transcript: transcript.clone() });
            return;
        };
        self.there += 1;
        let own = row.host.as_deref() == Some("claude-code") && projects.is_some_and(|dir| path.starts_with(dir));
        let written = metadata.modified().ok().and_then(|time| Timestamp::try_from(time).ok()).filter(|_| own);
        let days = |days: i64| days.checked_mul(24).map_or(SignedDuration::MAX, SignedDuration::from_hours);
        let from = written.and_then(|written| written.checked_add(days(self.cleanup_days)).ok());
        if let Some(from) = from.filter(|from| from.duration_since(env.now()) <= days(SOON)) {
            self.at_risk.push(AtRisk { session: row.id.clone(), transcript: transcript.clone(), from });
        }
    }
}

/// Whether the vault has a copy of a session's evidence.
fn is_kept(vault: &Vault, id: &str) -> bool {
    // An id is somebody's text: only one that names a folder is looked for.
    let plain = !id.is_empty() && !id.contains(['/', '\\', '\0']) && !id.starts_with('.');
    let folder = || std::fs::read_dir(vault.root().join("evidence").join(id));
    plain && folder().is_ok_and(|mut files| files.next().is_some())
}

/// Claude Code's own folder.
fn config(env: &Env) -> Option<PathBuf> {
    let named = env.var("CLAUDE_CONFIG_DIR").map(|dir| env.cwd().join(dir));
    named.or_else(|| Some(env.home()?.join(".claude")))
}

/// `cleanupPeriodDays` of the user's settings.
fn days(config: &Path) -> Option<i64> {
    let bytes = files::read_regular(&config.join("settings.json"), LARGEST).ok().flatten()?;
    let settings: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
    settings.get("cleanupPeriodDays")?.as_i64().filter(|days| *days >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let risk = it.at_risk.iter().map(|it| (it.session.clone(), it.from.duration_since(now).as_hours() / 24));
            (it.cleanup_days, risk.collect::<Vec<_>>())
        };
        assert_eq!(look(22), (30, vec![]));
        assert_eq!(look(23), (30, vec![("a".to_owned(), 7)]), "never one outside the host's folder");
        assert_eq!(look(40), (30, vec![("a".to_owned(), -10)]));
        files::put(&home.join(".claude/settings.json"), br#"{"cleanupPeriodDays": 400}"#).unwrap();
        assert_eq!(look(390), (400, vec![]));
        assert_eq!(look(395), (400, vec![("a".to_owned(), 5)]));
        files::put(&home.join(".claude/settings.json"), br#"{"cleanupPeriodDays": 9223372036854775807}"#).unwrap();
        assert_eq!(look(395), (i64::MAX, vec![]));
        files::put(&home.join(".claude/settings.json"), b"{").unwrap();
        assert_eq!(look(1), (30, vec![]));
    }
}
