//! What is measured on real sessions and the public repositories that they worked in.
//!
//! `CRU_TEST_REPOSITORIES` names a folder that holds their mirrors as `OWNER+NAME/repo`. Everything is imported once.

#![expect(clippy::disallowed_methods, reason = "a test's own settings, and files without cru")]

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::transcript_set::TranscriptSet;

const PI: &str = "badlogic+pi-mono";

/// Session, last moment, claims that stand, were rewritten, and do not stand; what was not measured is not compared.
type VerdictRow = (&'static str, &'static str, i64, Option<i64>, Option<i64>);

/// A vault of all sessions, and clones of repositories without files.
struct Measured {
    temp: tempfile::TempDir,
}

fn measured() -> &'static Measured {
    static MEASURED: OnceLock<Measured> = OnceLock::new();
    MEASURED.get_or_init(|| {
        let it = Measured { temp: tempfile::tempdir().unwrap() };
        fs::create_dir_all(it.path("vault/.cru")).unwrap();
        fs::create_dir_all(it.path("config/cru")).unwrap();
        let clone = it.clone(PI);
        fs::write(
            it.path("config/cru/config.toml"),
            format!("[projects]\n\"~/workspaces/pi-mono\" = {:?}\n", clone.to_str().unwrap()),
        )
        .unwrap();
        let transcripts = TranscriptSet::shared();
        it.cru(&it.path("vault"), &["import", transcripts.root().to_str().unwrap()]);
        it
    })
}

/// The mirror of a repository.
fn mirror(name: &str) -> PathBuf {
    let root = std::env::var_os("CRU_TEST_REPOSITORIES").map(PathBuf::from);
    let root = root.expect("this test is ignored without mirrors of repositories; CRU_TEST_REPOSITORIES names them");
    let path = root.join(name).join("repo");
    assert!(path.is_dir(), "{} is missing", path.display());
    path
}

fn git(dir: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).current_dir(dir).output().expect("these tests need git");
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

impl Measured {
    fn path(&self, path: &str) -> PathBuf {
        self.temp.path().join(path)
    }

    fn clone(&self, name: &str) -> PathBuf {
        let to = self.path(name);
        let from = mirror(name);
        let args = ["clone", "-q", "--shared", "--no-checkout", from.to_str().unwrap(), to.to_str().unwrap()];
        assert!(git(self.temp.path(), &args).is_some());
        to
    }

    fn cru(&self, dir: &Path, args: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_cru"))
            .args(["--vault", self.path("vault").to_str().unwrap()])
            .args(args)
            .current_dir(dir)
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("CRU_NOW", "2026-10-01T12:00:00Z")
            .output()
            .unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{args:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn json(&self, dir: &Path, args: &[&str]) -> Value {
        let mut all = args.to_vec();
        all.extend(["-f", "json"]);
        serde_json::from_str(&self.cru(dir, &all)).unwrap()
    }

    /// Notes by their `session_id`.
    fn notes(&self) -> BTreeMap<String, String> {
        let entries = fs::read_dir(self.path("vault/sessions")).unwrap().flatten();
        let note = |path: PathBuf| {
            let id = path.file_stem()?.to_str()?.to_owned();
            Some((id, fs::read_to_string(path).ok()?))
        };
        entries.filter_map(|entry| note(entry.path())).collect()
    }
}

/// Ids and subjects of `- commit:` lines.
fn commits(note: &str) -> Vec<(&str, &str)> {
    let lines = note.lines().filter_map(|line| line.trim_start().strip_prefix("- commit: `"));
    lines.filter_map(|rest| rest.split_once('`')).map(|(id, subject)| (id, subject.trim())).collect()
}

#[test]
#[ignore = "needs ../shared/transcripts and CRU_TEST_REPOSITORIES"]
fn repository_commits_are_tied() {
    let it = measured();
    let notes = it.notes();
    let mut steps = 0;
    let (mut known, mut found) = (0, 0);
    for note in notes.values() {
        let mut last = "";
        let mut seen = HashSet::new();
        for line in note.lines() {
            if line.starts_with("- `") {
                last = line;
            } else if line.starts_with("    - commit: ") {
                seen.insert(last);
            }
        }
        steps += seen.len();
        let project = note.lines().find_map(|line| line.strip_prefix("project: ")).unwrap_or_default();
        let name = project.trim_matches('"').rsplit('/').next().unwrap_or_default();
        for owner in [PI, "entireio+auth-go", "FSM1+cipher-box", "EntityProcess+agentv"] {
            if owner.ends_with(&format!("+{name}")) && !name.is_empty() {
                for (id, _) in commits(note) {
                    known += 1;
                    found += usize::from(git(&mirror(owner), &["cat-file", "-e", id]).is_some());
                }
            }
        }
    }
    println!("{steps} steps with commits; {found} of {known} are in the mirrors");
    assert!(steps >= 102 && known >= 60 && found * 93 >= known * 88);
    // The step whose push failed, by its subject: a rebase gave it another id.
    let subject = git(&mirror(PI), &["log", "-1", "--format=%s", "9851ee3"]).unwrap();
    let failed = notes
        .values()
        .flat_map(|note| note.lines().zip(note.lines().skip(1)))
        .any(|(step, line)| step.contains("→ ✗") && line.contains("- commit:") && line.ends_with(subject.trim()));
    assert!(failed, "{subject}");
}

/// Claims of a session that stand, were rewritten by the work itself, do not stand, and are not told.
#[test]
#[ignore = "needs ../shared/transcripts and CRU_TEST_REPOSITORIES"]
fn repository_claims_of_a_session_are_told() {
    const LONG: &str = "2025-12-24-untangle-oauth-api-key-mess";
    const SHORT: &str = "2025-12-17-improve-system-prompt-docs-clean-theme";
    let it = measured();
    let clone = it.path(PI);
    let rows: &[VerdictRow] = &[
        (LONG, "2025-12-24T12:57:00Z", 51, Some(27), Some(7)),
        (LONG, "2025-12-30T12:00:00Z", 40, None, Some(21)),
        (LONG, "2026-03-14T12:53:00Z", 12, None, None),
        (SHORT, "2025-12-17T21:24:00Z", 32, Some(10), Some(1)),
        (SHORT, "2025-12-24T21:24:00Z", 29, None, None),
        (SHORT, "2026-03-07T21:24:00Z", 2, None, None),
    ];
    for (session, moment, stand, rewritten, not) in rows {
        let before = format!("--before={moment}");
        let commit = git(&clone, &["rev-list", "-n", "1", "--first-parent", &before, "origin/main"]).unwrap();
        let told = it.json(&clone, &["verify", session, "--at", commit.trim()]);
        let writes = &told["sessions"][0]["writes"];
        let count = |names: &[&str]| names.iter().map(|name| writes[*name].as_i64().unwrap_or(0)).sum::<i64>();
        let (now, over, gone) = (count(&["holds", "moved"]), count(&["superseded"]), count(&["drifted", "gone"]));
        println!("{session} {moment}: {now} stand, {over} superseded, {gone} not; {writes}");
        assert!((now - stand).abs() <= 2, "{session} {moment}: {now} stand and not {stand}");
        assert!(rewritten.is_none_or(|it| (over - it).abs() <= 2), "{session} {moment}: {over} superseded");
        assert!(not.is_none_or(|it| (gone - it).abs() <= 2), "{session} {moment}: {gone} do not stand");
    }
    // Nobody keeps anything of them: nothing is told unasked.
    let stale = it.json(&clone, &["stale", "--project", "pi-mono"]);
    assert_eq!(stale["rows"].as_array().map(Vec::len), Some(0), "{stale}");
}

#[test]
#[ignore = "needs ../shared/transcripts and CRU_TEST_REPOSITORIES"]
fn repository_lines_name_the_step_that_wrote_them() {
    let it = measured();
    let clone = it.path(PI);
    let notes = it.notes();
    let (mut own, mut named, mut stepped, mut others, mut claimed) = (0, 0, 0, 0, 0);
    for (start, revision) in
        [("2025-12-24-", "a2664ba3"), ("2025-12-08-", "803d4b65"), ("2025-12-17-improve", "3424550d")]
    {
        let (id, note) = notes.iter().find(|(id, note)| id.starts_with(start) && note.contains("pi-mono")).unwrap();
        let ties = commits(note);
        let subjects: HashSet<&str> = ties.iter().map(|(_, subject)| *subject).collect();
        let mut files: Vec<&str> = note
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("- writes: "))
            .flat_map(|line| line.split('`').skip(1).step_by(2))
            .map(|span| span.rsplit_once('@').map_or(span, |(path, _)| path))
            .map(|path| path.rsplit_once(':').map_or(path, |(path, _)| path))
            .collect();
        files.sort_unstable();
        files.dedup();
        for file in files {
            let Some(blame) = git(&clone, &["blame", "--line-porcelain", revision, "--", file]) else { continue };
            let told = it.json(&clone, &["why", file, "--at", revision]);
            let mut by_line: BTreeMap<u64, (bool, bool)> = BTreeMap::new();
            for range in told["ranges"].as_array().into_iter().flatten() {
                let is_own = range["origin"]["session"].as_str() == Some(id.as_str());
                let has_step = is_own && range["origin"]["step"].is_string();
                let (first, last) = (range["first"].as_u64().unwrap(), range["last"].as_u64().unwrap());
                by_line.extend((first..=last).map(|line| (line, (is_own, has_step))));
            }
            let mut line = 0;
            let mut is_tied = false;
            for text in blame.lines() {
                let mut words = text.split(' ');
                let first = words.next().unwrap_or_default();
                if first.len() == 40 && first.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    line = words.nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
                    // The last commit of one session stands in a call without a result.
                    is_tied = ties.iter().any(|(tie, _)| first.starts_with(tie)) || first.starts_with("3424550d");
                } else if let Some(subject) = text.strip_prefix("summary ") {
                    is_tied |= subjects.contains(subject);
                } else if text.starts_with('\t') {
                    let (is_named, has_step) = by_line.get(&line).copied().unwrap_or_default();
                    own += usize::from(is_tied);
                    others += usize::from(!is_tied);
                    named += usize::from(is_tied && is_named);
                    stepped += usize::from(is_tied && has_step);
                    claimed += usize::from(!is_tied && is_named);
                }
            }
        }
    }
    println!("{named} of {own} lines name the session, {stepped} a step; {claimed} of {others} others are claimed");
    assert!(own > 1_000 && named * 100 >= own * 97 && stepped * 100 >= own * 92);
    assert!(claimed * 1_000 <= others);
}

#[test]
#[ignore = "needs ../shared/transcripts and CRU_TEST_REPOSITORIES"]
fn repository_proof_and_line_anchors() {
    let it = measured();
    let mut proofs: BTreeMap<String, usize> = BTreeMap::new();
    let rows = it.cru(&it.path("vault"), &["query", "sessions", "--columns", "proof", "-f", "csv", "-n", "0"]);
    rows.lines().skip(1).for_each(|row| *proofs.entry(row.trim().to_owned()).or_default() += 1);
    println!("{proofs:?}");
    let count = |name: &str| proofs.get(name).copied().unwrap_or(0);
    // Documents do not count: a session that wrote nothing else has no proof at all.
    assert!(count("green") >= 36 && count("never_checked") >= 20 && count("") >= 60, "{proofs:?}");
    // Steps that read or wrote a file by a tool of its own, and those that claim lines or bytes.
    let (mut steps, mut anchored) = (0, 0);
    let notes = it.notes();
    let meant = |note: &&String| note.lines().any(|line| matches!(line, "host: claude-code" | "host: pi"));
    for note in notes.values().filter(meant) {
        let lines: Vec<&str> = note.lines().collect();
        for (at, step) in lines.iter().enumerate() {
            let words = ["- `Read ", "- `Edit ", "- `Write ", "- `read ", "- `edit ", "- `write "];
            if words.iter().any(|word| step.starts_with(word)) && !step.contains("→ ✗") {
                let nested = lines[at + 1..].iter().take_while(|line| line.starts_with("    "));
                let is_file = |line: &&&str| line.contains("- reads:") || line.contains("- writes:");
                let files: Vec<&&str> = nested.filter(is_file).collect();
                steps += usize::from(!files.is_empty());
                anchored += usize::from(files.iter().any(|line| line.contains('@')));
            }
        }
    }
    println!("{anchored} of {steps} steps with files have an anchor");
    assert!(steps > 1_000 && anchored * 100 >= steps * 95);
}

/// Lines that a step read from the first line on are those of a version that git knows, in files that the session did not write.
#[test]
#[ignore = "needs ../shared/transcripts and CRU_TEST_REPOSITORIES"]
fn repository_reads_are_lines_of_a_blob() {
    let it = measured();
    let clone = it.path(PI);
    let mut asked: HashSet<(String, usize, String)> = HashSet::new();
    for note in it.notes().values().filter(|note| note.contains("project: ~/workspaces/pi-mono")) {
        // A file that the session wrote is read as it was between two commits.
        let written: Vec<&str> = note.lines().filter(|line| line.trim_start().starts_with("- writes:")).collect();
        for line in note.lines().filter_map(|line| line.trim_start().strip_prefix("- reads: ")) {
            for span in line.split('`').skip(1).step_by(2) {
                let Some((path, hash)) = span.rsplit_once('@') else { continue };
                let Some((path, lines)) = path.rsplit_once(':') else { continue };
                let Some(last) = lines.strip_prefix("1-").and_then(|last| last.parse().ok()) else { continue };
                if !written.iter().any(|line| line.contains(path)) {
                    asked.insert((path.to_owned(), last, hash.to_owned()));
                }
            }
        }
    }
    let (mut known, mut equal) = (0, 0);
    for (path, last, hash) in &asked {
        let log = git(&clone, &["log", "--all", "--format=%H", "--", path]).unwrap_or_default();
        let mut blobs: HashSet<String> = HashSet::new();
        for commit in log.lines().take(400) {
            blobs.extend(git(&clone, &["rev-parse", &format!("{commit}:{path}")]).map(|id| id.trim().to_owned()));
        }
        if blobs.is_empty() {
            continue;
        }
        known += 1;
        let is_it = |blob: &String| {
            let output = Command::new("git").args(["cat-file", "blob", blob]).current_dir(&clone).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let anchor = cru::session::LineAnchor::of(Some(1), text.lines().take(*last));
            anchor.is_some_and(|anchor| anchor.hash == *hash)
        };
        let found = blobs.iter().any(is_it);
        equal += usize::from(found);
        if !found {
            println!("{path}:1-{last}@{hash} stands in none of {} blobs", blobs.len());
        }
    }
    println!("{equal} of {known} reads from the first line on are those of a blob ({} asked)", asked.len());
    // What a person had changed and not committed is in no version.
    assert!(known > 10 && equal * 10 >= known * 7, "{equal} of {known}");
}
