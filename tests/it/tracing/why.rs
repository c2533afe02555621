//! `cru why` on repositories with histories.

#![expect(clippy::disallowed_methods, reason = "a person writes without cru")]

use std::fs;

use super::world::{TraceLab, anchor};

const ID: &str = "2026-11-20-tides";

const BASE: &str = "pub fn station_names() -> Vec<String> {\n    Vec::new()\n}\n";

/// What the session writes behind the base.
const WRITTEN: [&str; 4] =
    ["", "pub fn height_above_datum(raw: i32) -> i32 {", "    raw.saturating_add(CHART_DATUM)", "}"];

/// A person's commit, then one of a session that adds a function and checks it.
fn lab(note_has_anchors: bool) -> TraceLab {
    let lab = TraceLab::new();
    lab.git(&["init", "-q"]);
    lab.write("src/tides.rs", BASE);
    lab.commit("2026-11-19T08:00:00Z", "Station names");
    lab.write("src/tides.rs", &format!("{BASE}{}\n", WRITTEN.join("\n")));
    let commit = lab.commit("2026-11-20T09:31:10Z", "Heights above chart datum");
    let writes = if note_has_anchors { anchor("src/tides.rs", 4, &WRITTEN) } else { "src/tides.rs".to_owned() };
    lab.note(
        ID,
        "",
        &format!(
            "- `Read src/tides.rs` → `3 lines` (09:00:10) ^n-001\n    - reads: `src/tides.rs`\n\
             - `Edit src/tides.rs` → `+4 −0` (09:30:00) ^n-002\n    - writes: `{writes}`\n\
             - `Bash cargo test` → `7 passed` (09:30:30) ^n-003\n    - check: passed\n\
             - `Bash git commit -am \"Heights above chart datum\"` → `1 file changed` (09:31:00) ^n-004\n    \
             - commit: `{commit}` Heights above chart datum\n"
        ),
    );
    lab
}

fn step_of(lab: &TraceLab, place: &str) -> (i32, String, String) {
    let ran = lab.cru(&["why", place, "-f", "json"]);
    let value: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
    let origin = &value["ranges"][0]["origin"];
    let text = |name: &str| origin[name].as_str().unwrap_or("–").to_owned();
    (ran.code, text("step"), text("by"))
}

fn is(lab: &TraceLab, place: &str, code: i32, step: &str, by: &str) {
    assert_eq!(step_of(lab, place), (code, step.to_owned(), by.to_owned()), "{place}");
}

#[test]
fn a_line_has_a_step_a_request_and_a_check() {
    let lab = lab(true);
    let ran = lab.cru(&["why", "src/tides.rs:6"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let shown = ran.out.replace(lab.git(&["rev-parse", "--short=7", "HEAD"]).trim(), "COMMIT0");
    assert_eq!(
        shown,
        "src/tides.rs:6\n  \
           line     raw.saturating_add(CHART_DATUM)\n  \
           commit   COMMIT0  2026-11-20  Heights above chart datum\n  \
           step     2026-11-20-tides#n-002  Edit src/tides.rs → +4 −0  by commit and text\n  \
           agent    @coder\n  \
           asked    p-01 “Keep heights above chart datum.”\n  \
           decided  –\n  \
           checked  n-003 cargo test: passed, 30 s later\n  \
           open     sessions/2026-11-20-tides.md:21\n"
    );
}

#[test]
fn a_line_of_a_person_has_none_and_its_readers_are_named() {
    let lab = lab(true);
    let ran = lab.cru(&["why", "src/tides.rs:1"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("no session in this vault wrote this line; committed by Ann"), "{}", ran.out);
    assert!(ran.out.contains("read by  2026-11-20-tides#n-001"), "{}", ran.out);
}

#[test]
fn old_notes_answer_by_the_commit_alone_and_evidence_makes_it_a_step() {
    let lab = lab(false);
    is(&lab, "src/tides.rs:6", 0, "–", "by commit");
    lab.evidence(ID, "n-002", "src/tides.rs", 4, &WRITTEN);
    is(&lab, "src/tides.rs:6", 0, "n-002", "by commit and text");
    is(&lab, "src/tides.rs:7", 0, "n-002", "by commit and text");
}

#[test]
fn a_rebase_a_rename_and_a_moved_block_lose_nothing() {
    let lab = lab(false);
    lab.evidence(ID, "n-002", "src/tides.rs", 4, &WRITTEN);
    // Another id, the same subject and author's date: what a rebase leaves.
    lab.git_at("2026-11-25T09:00:00Z", &["commit", "-q", "--amend", "--no-edit", "--date=2026-11-20T09:31:10Z"]);
    is(&lab, "src/tides.rs:6", 0, "n-002", "by commit and text");
    lab.git(&["mv", "src/tides.rs", "src/heights.rs"]);
    lab.commit("2026-11-26T09:00:00Z", "Another name");
    is(&lab, "src/heights.rs:6", 0, "n-002", "by commit and text");
    let text = lab.read("src/heights.rs");
    lab.write("src/heights.rs", &format!("// One\n// Two\n{text}"));
    is(&lab, "src/heights.rs:8", 0, "n-002", "by commit and text");
    is(&lab, "src/heights.rs:1", 1, "–", "–");
}

#[test]
fn a_squash_is_told_by_text_and_a_later_commit_of_others_is_not_claimed() {
    let lab = lab(false);
    lab.evidence(ID, "n-002", "src/tides.rs", 4, &WRITTEN);
    lab.git(&["reset", "-q", "--soft", "HEAD~1"]);
    let text = lab.read("src/tides.rs");
    lab.write("src/tides.rs", &format!("{text}// By a person, who merges the branch of an agent.\n"));
    lab.commit("2026-11-27T09:00:00Z", "Squashed (#12)");
    is(&lab, "src/tides.rs:6", 0, "n-002", "by text");
    is(&lab, "src/tides.rs:8", 1, "–", "–");
}

#[test]
fn a_person_who_writes_the_same_again_wrote_it() {
    let lab = lab(false);
    lab.evidence(ID, "n-002", "src/tides.rs", 4, &WRITTEN);
    let whole = lab.read("src/tides.rs");
    lab.write("src/tides.rs", BASE);
    lab.commit("2026-11-22T09:00:00Z", "Remove heights");
    lab.write("src/tides.rs", &whole);
    is(&lab, "src/tides.rs:6", 1, "–", "–");
    lab.commit("2026-11-23T09:00:00Z", "Heights again, by a person");
    is(&lab, "src/tides.rs:6", 1, "–", "–");
}

#[test]
fn lines_that_are_in_no_commit_and_folders_without_git() {
    let lab = lab(false);
    lab.evidence(ID, "n-002", "src/tides.rs", 4, &WRITTEN);
    lab.git(&["reset", "-q", "--soft", "HEAD~1"]);
    is(&lab, "src/tides.rs:6", 0, "n-002", "by text");
    fs::rename(lab.path("home/code/.git"), lab.path("home/code/no-git")).unwrap();
    is(&lab, "src/tides.rs:6", 0, "n-002", "by text");
    let ran = lab.cru(&["why", "src/tides.rs:6"]);
    assert!(ran.out.contains("commit   no repository"), "{}", ran.out);
}

#[test]
fn crlf_a_merge_a_worktree_and_a_submodule() {
    let lab = lab(false);
    lab.evidence(ID, "n-002", "src/tides.rs", 4, &WRITTEN);
    lab.git(&["checkout", "-q", "-b", "other", "HEAD~1"]);
    lab.write("README.md", "Words.\n");
    lab.commit("2026-11-20T11:00:00Z", "Words");
    lab.git(&["merge", "-q", "--no-ff", "-m", "Merge main", "main"]);
    is(&lab, "src/tides.rs:6", 0, "n-002", "by commit and text");
    lab.git(&["worktree", "add", "-q", "../tree", "main"]);
    let ran = lab.cru_in("home/tree", &["why", "src/tides.rs:6"]);
    assert!(ran.code == 0 && ran.out.contains("#n-002"), "{ran:?}");
    lab.write("src/tides.rs", &lab.read("src/tides.rs").replace('\n', "\r\n"));
    is(&lab, "src/tides.rs:6", 0, "n-002", "by commit and text");
    lab.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        lab.path("home/tree").to_str().unwrap(),
        "sub",
    ]);
    let ran = lab.cru(&["why", "sub/src/tides.rs:6"]);
    assert!(ran.code == 0 && ran.out.contains("#n-002"), "{ran:?}");
}

#[test]
fn at_a_revision() {
    let lab = lab(true);
    lab.write("src/tides.rs", "");
    lab.commit("2026-11-22T09:00:00Z", "Start again");
    let ran = lab.cru(&["why", "src/tides.rs:6", "--at", "HEAD~1"]);
    assert!(ran.code == 0 && ran.out.contains("#n-002"), "{ran:?}");
    for (args, code, words) in [
        (["why", "src/tides.rs:6", "--at", "HEAD"], 2, "src/tides.rs has 0 lines and no line 6"),
        (["why", "src/tides.rs:6", "--at", "none"], 2, "no commit `none`"),
        (["why", "src/tides.rs:6", "--at", "--output=x"], 2, "no commit `--output=x`"),
        (["why", "src/none.rs:6", "--at", "HEAD"], 1, "src/none.rs is not in HEAD"),
    ] {
        let args: Vec<&str> =
            args.iter().map(|arg| if arg.starts_with("--out") { "--at=--output=x" } else { arg }).collect();
        let args: Vec<&str> = if args.contains(&"--at=--output=x") { vec![args[0], args[1], args[3]] } else { args };
        let ran = lab.cru(&args);
        assert_eq!(ran.code, code, "{args:?} {ran:?}");
        assert!(ran.err.contains(words), "{args:?} {}", ran.err);
    }
    assert!(!lab.path("home/code/x").exists());
}

#[test]
fn a_whole_file_is_a_table() {
    let lab = lab(true);
    lab.write("src/tides.rs", &format!("// new\n{}// newer\n", lab.read("src/tides.rs")));
    let ran = lab.cru(&["why", "src/tides.rs"]);
    assert_eq!(ran.code, 0);
    let rows: Vec<&str> = ran.out.lines().map(str::trim).collect();
    assert_eq!(rows.len(), 5, "{}", ran.out);
    assert!(
        rows[2].starts_with("5-8 ") && rows[2].ends_with("2026-11-20-tides#n-002  by commit and text"),
        "{}",
        ran.out
    );
    assert_eq!(rows[4], "4 of 9 lines have a session");
}

#[test]
fn places_that_are_none() {
    let lab = lab(true);
    for (place, code, words) in [
        ("src/tides.rs:99", 2, "src/tides.rs has 7 lines and no line 99"),
        ("src/tides.rs:3-1", 2, "write src/tides.rs:1-3"),
        ("src/tides.rs:0", 2, "lines count from 1"),
        ("src", 2, "src is a folder"),
        ("src/none.rs:1", 1, "no file src/none.rs"),
    ] {
        let ran = lab.cru(&["why", place]);
        assert_eq!(ran.code, code, "{place} {ran:?}");
        assert!(ran.err.contains(words), "{place} {}", ran.err);
    }
}

/// What a repository configures is not run: it may come from anyone.
#[cfg(unix)]
#[test]
fn nothing_of_the_repository_is_run() {
    let lab = lab(true);
    let trap = super::world::trap(&lab.path("state"));
    let trap = trap.to_str().unwrap();
    let ext = format!("ext::sh -c {trap}");
    for (key, value) in [
        ("core.fsmonitor", trap),
        ("core.pager", trap),
        ("core.sshCommand", trap),
        ("core.alternateRefsCommand", trap),
        ("diff.external", trap),
        ("diff.rs.textconv", trap),
        ("diff.rs.command", trap),
        ("filter.rs.smudge", trap),
        ("filter.rs.clean", trap),
        ("gpg.program", trap),
        ("log.showSignature", "true"),
        ("alias.blame", &format!("!{trap}")),
        ("pager.blame", trap),
        ("pager.log", trap),
        ("protocol.ext.allow", "always"),
        ("protocol.allow", "always"),
        ("remote.origin.url", &ext),
        ("remote.origin.promisor", "true"),
        ("extensions.partialClone", "origin"),
        ("core.repositoryFormatVersion", "1"),
    ] {
        lab.git(&["config", key, value]);
    }
    lab.write(".git/info/attributes", "*.rs diff=rs filter=rs\n");
    lab.write(".gitattributes", "*.rs diff=rs filter=rs\n");
    for hook in ["post-index-change", "reference-transaction", "post-checkout"] {
        fs::copy(trap, lab.path("home/code/.git/hooks").join(hook)).unwrap();
    }
    lab.write("src/tides.rs", &format!("{}// more\n", lab.read("src/tides.rs")));
    assert_eq!(lab.cru(&["why", "src/tides.rs:6"]).code, 0);
    lab.cru(&["why", "src/tides.rs", "--at", "HEAD"]);
    lab.cru(&["why", "src/tides.rs", "--at", "0123456789012345678901234567890123456789"]);
    lab.cru(&["verify", ID]);
    lab.cru(&["verify", ID, "--at", "HEAD"]);
    fs::remove_file(lab.path("home/code/src/tides.rs")).unwrap();
    lab.cru(&["verify", ID]);
    lab.cru(&["stale", "--all"]);
    assert!(!lab.path("state/sprung").exists(), "a program of the repository was run");
}
