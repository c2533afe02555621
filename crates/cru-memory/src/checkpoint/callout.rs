//! What a checkpoint's callout says beside what is open.

use std::fmt::Write as _;

use cru_action::Verdict;
use cru_session::open::{OpenPoint, open_points};
use cru_session::{Item, Session, Step};
use jiff::Timestamp;

use super::manifest::{CopiedFile, CopyManifest};

/// Hexadecimal digits of a hash.
const DIGITS: usize = 8;

/// The line `Files:`; nothing where the checkpoint has none.
pub fn files(manifest: &CopyManifest) -> Option<String> {
    let one = |file: &CopiedFile| {
        let hash = file.hash.as_deref().map_or("-", |hash| hash.get(..DIGITS).unwrap_or(hash));
        let mark = match (&file.hash, file.untracked) {
            (None, _) => " (deleted)",
            (Some(_), true) => " (new)",
            (Some(_), false) => "",
        };
        format!("`{}@{hash}`{mark}", code(file.path()))
    };
    let refs = manifest
        .refs
        .refs
        .iter()
        .map(|it| (it.name.trim_start_matches("refs/heads/").trim_start_matches("refs/"), &it.id));
    let refs = refs.chain(manifest.refs.stashes.iter().map(|it| ("stash", &it.id)));
    let refs = refs.map(|(name, id)| format!("`{}` at `{}`", code(name), id.get(..DIGITS).unwrap_or(id)));
    let all = manifest.files.len() + manifest.refs.refs.len() + manifest.refs.stashes.len();
    (all > 0).then(|| listed(refs.chain(manifest.files.iter().map(one)), all as u64))
}

/// The line `Left out:`; nothing where all was copied.
pub fn left_out(manifest: &CopyManifest) -> Option<String> {
    let all = manifest.left_out.len() as u64 + manifest.more_left_out;
    let one = |it: &super::LeftOut| format!("`{}` ({})", code(&it.path), it.words());
    (all > 0).then(|| listed(manifest.left_out.iter().map(one), all))
}

/// The line `Base:`.
pub fn base(manifest: &CopyManifest) -> Option<String> {
    let commit = manifest.base.as_deref()?;
    let on = manifest.branch.as_deref().map(|branch| format!(" on {branch}")).unwrap_or_default();
    Some(format!("`{commit}`{on}"))
}

/// The line `Restore:`; nothing without a copy.
pub fn restore(manifest: &CopyManifest) -> Option<String> {
    manifest.has_copy().then(|| format!("`cru checkpoint restore {}`", manifest.id))
}

fn listed(names: impl Iterator<Item = String>, all: u64) -> String {
    // Files, and files that were left out, that a callout names.
    let mut shown: Vec<String> = names.take(5).collect();
    let more = all.saturating_sub(shown.len() as u64);
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    shown.join(", ")
}

fn code(text: &str) -> String {
    text.replace('`', "'").replace(['\n', '\r'], " ")
}

/// What was done in a session since its last written checkpoint up to `time`: `14 steps, 3 files, tests passed at n-041`.
pub fn since(session: &Session, time: Timestamp) -> Option<String> {
    let mut steps: Vec<&Step> = Vec::new();
    for (_, item) in session.items() {
        match item {
            Item::Callout(callout) if callout.kind == "checkpoint" => steps.clear(),
            Item::Step(step) if step.time.is_none_or(|at| at <= time) => steps.push(step),
            _ => {}
        }
    }
    if steps.is_empty() {
        return None;
    }
    let files: std::collections::HashSet<&str> =
        steps.iter().flat_map(|step| &step.writes).map(|file| file.path.as_str()).collect();
    let plural = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let mut line = plural(steps.len(), "step");
    if !files.is_empty() {
        let _ = write!(line, ", {}", plural(files.len(), "file"));
    }
    let check = steps.iter().rev().find_map(|step| Some((step.check?, step.id.as_deref())));
    if let Some((verdict, id)) = check {
        let word = match verdict {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::Unknown => "not known",
        };
        let _ = write!(line, ", checks {word}");
        if let Some(id) = id {
            let _ = write!(line, " at {id}");
        }
    }
    Some(line)
}

/// The last step of a session that began before `time`: what a checkpoint of that moment stands behind.
pub fn step_before(session: &Session, time: Timestamp) -> Option<String> {
    let steps = session.steps().filter(|(_, step)| step.time.is_some_and(|at| at <= time));
    steps.filter_map(|(_, step)| step.id.clone()).last()
}

/// Whether a session has something open, and no final checkpoint behind its last step.
pub fn needs_final(session: &Session) -> bool {
    let open = open_points(session).iter().any(|it| matches!(it, OpenPoint::Task(_) | OpenPoint::Question(_)));
    let mut told = false;
    for (_, item) in session.items() {
        match item {
            Item::Step(_) => told = false,
            Item::Callout(callout) if callout.kind == "checkpoint" => {
                told = super::CheckpointKind::of_title(&callout.title).0 == super::CheckpointKind::Final;
            }
            _ => {}
        }
    }
    open && !told
}

#[cfg(test)]
mod tests {
    use super::super::LeftOut;
    use super::*;

    #[test]
    fn lines() {
        let file = |path: &str, hash: Option<&str>, untracked| CopiedFile {
            at: super::super::StoredPath { path: path.into(), raw: None },
            hash: hash.map(|it| it.repeat(8)),
            untracked,
            ..CopiedFile::default()
        };
        let mut manifest = CopyManifest {
            id: "cp-1".into(),
            files: vec![
                file("src/a.rs", Some("1d3e5f70"), false),
                file("b", Some("aa10bb20"), true),
                file("c", None, false),
            ],
            base: Some("4f1c2ab".into()),
            branch: Some("feature/x".into()),
            ..CopyManifest::default()
        };
        assert_eq!(files(&manifest).unwrap(), "`src/a.rs@1d3e5f70`, `b@aa10bb20` (new), `c@-` (deleted)");
        assert_eq!(base(&manifest).unwrap(), "`4f1c2ab` on feature/x");
        assert_eq!(restore(&manifest).unwrap(), "`cru checkpoint restore cp-1`");
        assert_eq!(left_out(&manifest), None);
        manifest.left_out = vec![LeftOut::new("big", "larger than 8 MiB")];
        manifest.more_left_out = 7;
        assert_eq!(left_out(&manifest).unwrap(), "`big` (larger than 8 MiB), 7 more");
    }

    #[test]
    fn what_was_done_since() {
        let note = "---\ntype: session\nsession_id: s\nstarted: 2026-11-20T09:00:00Z\n---\n# S\n\n## P @a\n\n*2026-11-20T09:00:00Z* ^p-01\n\n**Tool calls:**\n- `Bash cargo test` → 3 passed (09:01:00) ^n-001\n    - check: passed\n- `Edit a.rs` → ok (09:02:00) ^n-002\n    - writes: `a.rs`\n\n> [!question] Revoke?\n\n^q-001\n";
        let session = cru_session::read::content_of(note.as_bytes().to_vec());
        let at = |time: &str| since(&session, time.parse().unwrap());
        assert_eq!(at("2026-11-20T09:05:00Z").unwrap(), "2 steps, 1 file, checks passed at n-001");
        assert_eq!(at("2026-11-20T09:01:30Z").unwrap(), "1 step, checks passed at n-001");
        assert_eq!(at("2026-11-20T08:00:00Z"), None);
        assert_eq!(step_before(&session, "2026-11-20T09:01:30Z".parse().unwrap()).as_deref(), Some("n-001"));
        assert!(needs_final(&session));
        let told = format!("{note}\n> [!checkpoint] final\n> Question: Revoke?\n\n^cp-1\n");
        assert!(!needs_final(&cru_session::read::content_of(told.into_bytes())));
    }
}
