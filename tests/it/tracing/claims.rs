//! `cru why` where sessions and people pull, rebase and commit what others wrote: a claim is made for who wrote the line.

#![expect(clippy::disallowed_methods, reason = "a person writes without cru")]

use super::world::{TraceLab, anchor};

const BASE: &str = "pub fn names() -> Vec<String> {\n    Vec::new()\n}\n";

/// The step that `cru why` names for a line of `src/tides.rs`, as `session#step`, and how it is known; `–` for none.
fn why(lab: &TraceLab, line: usize) -> String {
    let ran = lab.cru(&["why", &format!("src/tides.rs:{line}"), "-f", "json"]);
    let value: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
    let range = &value["ranges"][0];
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("–").to_owned();
    match (&range["origin"], &range["perhaps"]) {
        (origin, _) if origin.is_object() => {
            format!("{}#{} {}", text(&origin["session"]), text(&origin["step"]), text(&origin["by"]))
        }
        (_, perhaps) if perhaps.is_string() => format!("perhaps {}", text(perhaps)),
        _ => "–".to_owned(),
    }
}

/// A repository with a commit of a person before all sessions.
fn lab() -> TraceLab {
    let lab = TraceLab::new();
    lab.git(&["init", "-q"]);
    lab.write("src/tides.rs", BASE);
    lab.commit("2026-11-19T08:00:00Z", "Names");
    lab
}

/// A session of one write and what more it did.
fn session(lab: &TraceLab, id: &str, write: &str, more: &str) {
    let path = if write.is_empty() { String::new() } else { format!("    - writes: `{write}`\n") };
    lab.note(id, "", &format!("- `Edit src/tides.rs` → `+1 −0` (09:30:00) ^n-002\n{path}{more}"));
}

/// A step of the shell at a time, with the commit that its output or a hook showed.
fn shell(step: &str, time: &str, command: &str, commit: &str) -> String {
    format!("- `Bash {command}` → `done` ({time}) ^{step}\n    - commit: {commit}\n")
}

const MINE: &str = "pub const CHART_DATUM_OF_HEIGHTS: i32 = 42;";
const YOURS: &str = "pub const HIGHEST_ASTRONOMICAL: i32 = 77;";

#[test]
fn a_pulled_commit_is_not_of_who_pulled_it() {
    let lab = lab();
    let other = lab.path("home/other");
    let other = other.to_str().unwrap();
    lab.git(&["clone", "-q", ".", other]);
    std::fs::write(format!("{other}/src/tides.rs"), format!("{BASE}{YOURS}\nlet y = 1;\n")).unwrap();
    lab.git_at("2026-11-20T09:44:58Z", &["-C", other, "commit", "-q", "-am", "By a colleague"]);
    lab.git(&["pull", "-q", "--ff-only", other, "main"]);
    let id = lab.git(&["rev-parse", "--short=7", "HEAD"]);
    // The hook behind the call saw that another commit was checked out.
    session(&lab, "mine", "src/other.rs", &shell("n-003", "09:45:00", "git pull", &format!("`{}`", id.trim())));
    assert_eq!((why(&lab, 4), why(&lab, 5)), ("–".to_owned(), "–".to_owned()));
    // The same where git shows it as a merge of its own: what the colleague wrote stays theirs.
    lab.write("src/mine.rs", "fn mine() {}\n");
    lab.commit("2026-11-20T09:46:00Z", "Mine");
    assert_eq!(why(&lab, 4), "–");
}

#[test]
fn a_rebased_commit_is_of_who_wrote_it() {
    let lab = lab();
    lab.git(&["checkout", "-q", "-b", "topic"]);
    lab.write("src/tides.rs", &format!("{BASE}{MINE}\nlet short = 1;\n"));
    let old = lab.commit("2026-11-20T09:31:00Z", "Chart datum");
    session(&lab, "wrote", "src/tides.rs", &shell("n-003", "09:31:00", "git commit", &format!("`{old}` Chart datum")));
    lab.evidence("wrote", "n-002", "src/tides.rs", 4, &[MINE]);
    lab.git(&["checkout", "-q", "main"]);
    lab.write("src/more.rs", "fn more() {}\n");
    lab.commit("2026-11-20T09:40:00Z", "More");
    // Git keeps the author's date in a rebase; the environment of the test must not name another one.
    let rebase = |time: &str, args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]).args(args);
        command
            .current_dir(lab.path("home/code"))
            .env("GIT_COMMITTER_DATE", time)
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(command.output().unwrap().status.success(), "{args:?}");
    };
    rebase("2026-11-20T10:00:05Z", &["rebase", "-q", "main", "topic"]);
    let new = lab.git(&["rev-parse", "--short=7", "topic"]);
    assert_ne!(new.trim(), old);
    let step = shell("n-003", "10:00:00", "git rebase main topic", &format!("`{}`", new.trim()));
    session(&lab, "rebased", "src/other.rs", &step);
    assert_eq!(why(&lab, 4), "wrote#n-002 by commit and text");
    assert_eq!(why(&lab, 5), "wrote#– by commit");
    // Known by its hook alone, without a subject.
    session(&lab, "wrote", "src/tides.rs", &shell("n-003", "09:31:00", "git commit", &format!("`{old}`")));
    assert_eq!(why(&lab, 4), "wrote#n-002 by text");
    assert_ne!(why(&lab, 5), "rebased#– by commit");
    // What the one who rebased wrote to solve a conflict is theirs.
    let step = step.replace("^n-003", "^n-004");
    lab.note(
        "rebased",
        "",
        &format!("- `Edit src/tides.rs` → `+1 −0` (09:59:00) ^n-003\n    - writes: `src/tides.rs`\n{step}"),
    );
    lab.evidence("rebased", "n-003", "src/tides.rs", 5, &["let short = 1;"]);
    assert_eq!(why(&lab, 5), "rebased#n-003 by commit and text");
    assert_eq!(why(&lab, 4), "wrote#n-002 by text");
}

#[test]
fn what_one_session_wrote_and_the_next_committed() {
    let lab = lab();
    lab.write("src/tides.rs", &format!("{BASE}{MINE}\n{YOURS}\n// A person wrote this in between.\n"));
    let id = lab.commit("2026-11-20T10:10:02Z", "All of it");
    session(&lab, "first", "src/tides.rs", "");
    lab.evidence("first", "n-002", "src/tides.rs", 4, &[MINE]);
    let commit = shell("n-004", "10:10:00", "git commit -am 'All of it'", &format!("`{id}` All of it"));
    lab.note(
        "second",
        "",
        &format!("- `Edit src/tides.rs` → `+1 −0` (10:05:00) ^n-003\n    - writes: `src/tides.rs`\n{commit}"),
    );
    lab.evidence("second", "n-003", "src/tides.rs", 5, &[YOURS]);
    assert_eq!(why(&lab, 4), "first#n-002 by text");
    assert_eq!(why(&lab, 5), "second#n-003 by commit and text");
    assert_eq!(why(&lab, 6), "second#– by commit");
}

#[test]
fn a_later_copy_of_a_line_is_of_who_copied_it() {
    let lab = lab();
    session(&lab, "mine", "src/tides.rs", "");
    lab.evidence("mine", "n-002", "src/tides.rs", 4, &[MINE]);
    lab.write("src/tides.rs", &format!("{BASE}{MINE}\n"));
    lab.commit("2026-11-20T10:00:00Z", "A person commits it");
    lab.write("src/tides.rs", &format!("{MINE}\n{BASE}{MINE}\n"));
    assert_eq!(why(&lab, 1), "–", "a copy that is in no commit yet");
    lab.commit("2026-11-20T12:00:00Z", "A person copies it");
    assert_eq!(why(&lab, 1), "–");
    assert_eq!(why(&lab, 5), "mine#n-002 by text");
}

/// In a commit that holds much, a line that stands there several times is claimed where it was written alone: where it is indented
/// as it was written, and where its neighbours are those of the edit.
#[test]
fn of_lines_that_say_the_same_the_written_one_is_claimed() {
    let lab = lab();
    let other = "fn first() {\n    let client = new_client(handler, timeout);\n    client.start().unwrap();\n}\n";
    let own = "fn looped() {\n    for _ in 0..9 {\n        let client = new_client(handler, timeout);\n        assert!(client.wait());\n    }\n}\n";
    lab.write("src/tides.rs", &format!("{other}{own}"));
    lab.commit("2026-11-20T10:00:00Z", "All of the branch");
    session(&lab, "mine", "src/tides.rs", "");
    lab.evidence("mine", "n-002", "src/tides.rs", 5, &own.lines().collect::<Vec<_>>());
    assert_eq!(why(&lab, 7), "mine#n-002 by text");
    assert_ne!(why(&lab, 2), "mine#n-002 by text", "indented otherwise than it was written");

    // Indented alike: the neighbours tell.
    let lab = self::lab();
    let own = "fn second() {\n    let client = new_client(handler, timeout);\n    assert!(client.wait());\n}\n";
    lab.write("src/tides.rs", &format!("{other}{own}"));
    lab.commit("2026-11-20T10:00:00Z", "All of the branch");
    session(&lab, "mine", "src/tides.rs", "");
    lab.evidence("mine", "n-002", "src/tides.rs", 5, &own.lines().collect::<Vec<_>>());
    assert_ne!(why(&lab, 2), "mine#n-002 by text");
    assert_eq!(why(&lab, 6), "mine#n-002 by text");
}

#[test]
fn short_lines_are_known_by_their_neighbours_and_by_the_note_s_hash() {
    let lab = lab();
    lab.write("src/tides.rs", &BASE.replace("    Vec::new()\n", "    Vec::new()\n    // ok\n"));
    lab.commit("2026-11-20T10:00:00Z", "A person commits it");
    session(&lab, "mine", &anchor("src/tides.rs", 3, &["    // ok"]), "");
    assert_eq!(why(&lab, 3), "mine#n-002 by text", "the hash of the note is that of the line at its place");
    // Its text, and around it the lines that the edit kept.
    session(&lab, "mine", "src/tides.rs", "");
    let diff = "@@ -1,3 +1,4 @@\n pub fn names() -> Vec<String> {\n     Vec::new()\n+    // ok\n }\n";
    lab.put_evidence("mine", "n-002", "src/tides.rs", diff);
    assert_eq!(why(&lab, 3), "mine#n-002 by text");
    assert_eq!(why(&lab, 2), "–", "what the edit kept is not its own");
    // Such a line, and nothing that proves it to be this one.
    lab.put_evidence("mine", "n-002", "src/tides.rs", "@@ -8,0 +9,1 @@\n+    // ok\n");
    assert_eq!(why(&lab, 3), "perhaps mine");
    let told = lab.cru(&["why", "src/tides.rs:3"]);
    assert!(told.out.contains("cannot tell; perhaps mine; committed by Ann"), "{}", told.out);
    // A write of which nobody knows what it wrote.
    std::fs::remove_file(lab.path("vault/evidence/mine.patch")).unwrap();
    assert_eq!((why(&lab, 3), why(&lab, 1)), ("perhaps mine".to_owned(), "–".to_owned()));
}

#[test]
fn a_quiet_commit_and_an_amendment_are_of_their_session() {
    let lab = lab();
    lab.write("src/tides.rs", &format!("{BASE}{MINE}\nlet generated = 1;\n"));
    lab.commit("2026-11-20T09:31:00Z", "Chart datum");
    session(&lab, "mine", "src/tides.rs", &shell("n-003", "09:31:00", "git commit -q", "Chart datum"));
    lab.evidence("mine", "n-002", "src/tides.rs", 4, &[MINE]);
    assert_eq!((why(&lab, 4), why(&lab, 5)), ("mine#n-002 by commit and text".into(), "mine#– by commit".into()));
    lab.git(&["add", "-A"]);
    let mut command = std::process::Command::new("git");
    command.args([
        "-c",
        "user.name=Ann",
        "-c",
        "user.email=ann@example.org",
        "commit",
        "-q",
        "--amend",
        "-m",
        "Better words",
    ]);
    command
        .current_dir(lab.path("home/code"))
        .env("GIT_COMMITTER_DATE", "2026-11-20T10:00:01Z")
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    assert!(command.output().unwrap().status.success());
    let id = lab.git(&["rev-parse", "--short=7", "HEAD"]);
    let amend = shell("n-004", "10:00:00", "git commit --amend", &format!("`{}` Better words", id.trim()));
    let both = format!("{}{amend}", shell("n-003", "09:31:00", "git commit -q", "Chart datum"));
    session(&lab, "mine", "src/tides.rs", &both);
    assert_eq!((why(&lab, 4), why(&lab, 5)), ("mine#n-002 by commit and text".into(), "mine#– by commit".into()));
}
