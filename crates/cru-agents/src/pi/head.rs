//! The header of a session: that a file is one, whose it is, and what it was forked from.
//!
//! The header is not always the first line, and a slice of a session has none: then the file's name says what it can.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use crate::file::jsonl;
use crate::file::value::{self, filled, word};
use cru_base::Result;
use cru_session::source::Bundle;

/// Records that are looked at.
const RECORDS: usize = 50;

/// What the beginning of a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PiHead {
    /// The session.
    pub(super) session: String,
    /// When it was begun: a fork, when it was forked.
    pub(super) time: Option<Timestamp>,
    /// The file that it was forked from, as the header names it.
    pub(super) origin: Option<String>,
    /// The session in whose folder it lies, which had it run.
    pub(super) above: Option<Above>,
}

/// The session that a file lies below: `<time>_<id>.jsonl` of `<time>_<id>/run-0/session.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Above {
    /// Its file.
    File(PathBuf),
    /// Its id; the file is gone.
    Id(String),
}

impl Above {
    fn of(path: &Path) -> Option<Self> {
        /// Folders between a session and what it had run.
        const DEPTH: usize = 5;
        let folders = path.ancestors().skip(1).take(DEPTH);
        folders.into_iter().find_map(|folder| {
            let name = folder.file_name()?.to_str()?;
            let file = folder.with_file_name(format!("{name}.jsonl"));
            let id = id_in(name);
            // A name of the host: `2026-11-20T09-00-00-000Z_<id>`.
            let is_dated = name.len() > id.len() && name.starts_with("20") && name.contains('T');
            if file.is_file() { Some(Self::File(file)) } else { is_dated.then(|| Self::Id(id.to_owned())) }
        })
    }

    /// The session's id.
    fn session(&self) -> String {
        match self {
            Self::File(file) => {
                let read = PiHead::read(&Bundle::default(), file).map(|head| head.session);
                read.unwrap_or_else(|_| id_in(&crate::bundles::stem(file)).to_owned())
            }
            Self::Id(id) => id.clone(),
        }
    }
}

impl PiHead {
    /// Reads the beginning of a file.
    pub(super) fn read(bundle: &Bundle, path: &Path) -> Result<Self> {
        let mut head = Self { above: Above::of(path), ..Self::default() };
        for record in jsonl::beginning(bundle, path, RECORDS)? {
            let time = value::time(&record, "timestamp");
            if word(&record, "type") == "session" {
                let origin = filled(&record, ["parentSession", "branchedFrom"]);
                head.origin = origin.map(str::to_owned);
                word(&record, "id").trim().clone_into(&mut head.session);
                head.time = time.or(head.time);
                break;
            }
            head.time = head.time.or(time);
        }
        if head.session.is_empty() || head.session == "REDACTED" {
            path.file_stem().and_then(|stem| stem.to_str()).map_or("", id_in).clone_into(&mut head.session);
        }
        Ok(head)
    }

    /// The session in whose folder it lies.
    pub(super) fn runner(&self) -> Option<String> {
        self.above.as_ref().map(Above::session).filter(|above| *above != self.session)
    }

    /// The session before it: the one that had it run, else the one that it was forked from.
    pub(super) fn before(&self, path: &Path) -> Option<String> {
        self.runner().or_else(|| self.origin(path).map(|(session, _)| session))
    }

    /// The session that it was forked from, and whether its file is at hand beside this one, which is at `path`.
    pub(super) fn origin(&self, path: &Path) -> Option<(String, bool)> {
        let origin = self.origin.as_deref()?;
        let name = origin.rsplit(['/', '\\']).next().unwrap_or(origin);
        let above = match &self.above {
            Some(Above::File(file)) if file.file_name().is_some_and(|it| it == name) => Some(file.clone()),
            _ => None,
        };
        let file = above.or_else(|| beside(path, origin)).filter(|file| file != path);
        let read = file.as_ref().and_then(|file| Self::read(&Bundle::default(), file).ok());
        let named = || id_in(name.strip_suffix(".jsonl").unwrap_or(name)).to_owned();
        let session = read.as_ref().map_or_else(named, |head| head.session.clone());
        (!session.is_empty() && session != self.session).then_some((session, read.is_some()))
    }
}

/// The session of a file, and the file of a fork's origin by its name.
pub(super) fn together(path: &Path) -> Result<Vec<String>> {
    let head = PiHead::read(&Bundle::default(), path)?;
    let named = |path: &str| path.rsplit(['/', '\\']).next().map(|name| format!("file {name}"));
    let own = path.file_name().and_then(|name| named(&name.to_string_lossy()));
    let before = head.before(path);
    Ok([Some(head.session), own, head.origin.as_deref().and_then(named), before].into_iter().flatten().collect())
}

/// The id in a file's name: `<time>_<id>`.
fn id_in(stem: &str) -> &str {
    stem.rsplit_once('_').map_or(stem, |(_, id)| id)
}

/// The file that `origin` names, where it lies in the same folder as `path` or in one next to it. The path that is
/// written there is of the machine it was written on, and any text may stand there.
fn beside(path: &Path, origin: &str) -> Option<PathBuf> {
    let mut parts = origin.rsplit(['/', '\\']);
    let name = parts.next().filter(|name| name.strip_suffix(".jsonl").is_some())?;
    let folder = parts.next().filter(|folder| !matches!(*folder, "" | "." | ".."));
    let here = path.parent()?;
    let next = || Some(here.parent()?.join(folder?).join(name));
    let is_file = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    Some(here.join(name)).filter(is_file).or_else(|| next().filter(is_file))
}

/// Whether the file begins with a session's header, or with entries of a session that was cut.
pub(super) fn recognise(path: &Path, head: &[u8]) -> bool {
    // Copies of what stands in the sessions themselves, for whoever looks for faults.
    const COPIES: &str = "subagent-artifacts";
    if path.ancestors().skip(1).any(|folder| folder.file_name().is_some_and(|name| name == COPIES)) {
        return false;
    }
    jsonl::head(head, 20).find_map(|record| sign(&record)).unwrap_or(false)
}

/// What one line says; `None` where it says nothing.
fn sign(record: &Value) -> Option<bool> {
    let has_id = filled(record, "id").is_some();
    match word(record, "type") {
        "session" => Some(has_id),
        // oh-my-pi writes one before the header.
        "title" => None,
        "message" => {
            let role = word(&record["message"], "role");
            let known = matches!(role, "user" | "assistant" | "toolResult" | "bashExecution");
            Some(known && filled(record, "timestamp").is_some())
        }
        "model_change"
        | "thinking_level_change"
        | "compaction"
        | "branch_summary"
        | "session_info"
        | "custom_message" => Some(filled(record, "timestamp").is_some()),
        // Droid begins its files so, and goes on with messages of the same form.
        "session_start" => Some(false),
        // A kind of a newer version, or of an extension.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_in_names() {
        assert_eq!(id_in("2025-12-09T00-52-54-397Z_d97339c6"), "d97339c6");
        assert_eq!(id_in("mine"), "mine");
    }

    #[test]
    fn what_a_session_had_run_lies_below_it() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("2026-11-20T09-00-00-000Z_m1");
        let run = folder.join("r1/run-0/session.jsonl");
        let write = |path: &Path, id: &str| {
            let line = format!("{{\"type\":\"session\",\"id\":\"{id}\"}}\n");
            cru_base::files::create(path, line.as_bytes()).unwrap();
        };
        let of = |path: &Path| PiHead::read(&Bundle::default(), path).unwrap().runner();
        write(&run, "c1");
        assert_eq!(of(&run).as_deref(), Some("m1"), "the session's own file is gone");
        let main = folder.with_file_name("2026-11-20T09-00-00-000Z_m1.jsonl");
        write(&main, "main");
        assert_eq!((of(&main), of(&run).as_deref()), (None, Some("main")));
        let deeper = run.with_file_name("session").join("run-1/session.jsonl");
        write(&deeper, "d1");
        assert_eq!(of(&deeper).as_deref(), Some("c1"));
    }

    #[test]
    fn an_origin_is_looked_for_beside_the_fork_only() {
        let temp = tempfile::tempdir().unwrap();
        let (one, two) = (temp.path().join("one"), temp.path().join("two"));
        for folder in [&one, &two] {
            std::fs::create_dir(folder).unwrap();
        }
        let fork = one.join("fork.jsonl");
        cru_base::files::create(&two.join("a.jsonl"), b"x").unwrap();
        cru_base::files::create(&temp.path().join("b.jsonl"), b"x").unwrap();
        assert_eq!(beside(&fork, "/home/mia/two/a.jsonl"), Some(two.join("a.jsonl")));
        assert_eq!(beside(&fork, "C:\\s\\two\\a.jsonl"), Some(two.join("a.jsonl")));
        assert_eq!(beside(&fork, "/home/mia/one/a.jsonl"), None);
        assert_eq!(beside(&fork, "../b.jsonl"), None);
        assert_eq!(beside(&fork, "/etc/passwd"), None);
        assert_eq!(beside(&fork, ""), None);
    }

    fn is(head: &str) -> bool {
        recognise(Path::new("a.jsonl"), head.as_bytes())
    }

    #[test]
    fn copies_are_none() {
        let head = b"{\"type\":\"session\",\"id\":\"s\"}\n";
        assert!(recognise(Path::new("/s/1_a/run-0/session.jsonl"), head));
        assert!(!recognise(Path::new("/s/1_a/subagent-artifacts/a.jsonl"), head));
    }

    #[test]
    fn by_content() {
        assert!(is("{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/x\"}\n"));
        assert!(is("{\"type\":\"session\",\"id\":\"s\"}"));
        assert!(is("{\"type\":\"title\",\"v\":1,\"title\":\"x\"}\n{\"type\":\"session\",\"id\":\"s\"}\n"));
        assert!(is("broken\n\n{\"type\":\"session\",\"id\":\"s\"}\n"));
        assert!(is("{\"type\":\"message\",\"timestamp\":\"t\",\"message\":{\"role\":\"toolResult\"}}\n"));
        assert!(!is("{\"type\":\"session_start\",\"id\":\"s\"}\n{\"type\":\"session\",\"id\":\"s\"}\n"));
        assert!(!is("{\"type\":\"user\",\"sessionId\":\"s\",\"uuid\":\"u\"}\n"));
        assert!(!is("{\"type\":\"session_meta\",\"payload\":{}}\n"));
        assert!(!is("{\"type\":\"session.start\",\"id\":\"s\"}\n"));
        assert!(!is(""));
    }
}
