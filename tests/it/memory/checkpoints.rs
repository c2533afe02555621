//! Checkpoints through the real program: commands that destroy are really run, and every byte comes back.

use std::fs;

use serde_json::{Value, json};

use super::world::{MemoryLab, checkpoints};

/// A repository with changed, staged, untracked and ignored files.
fn project() -> MemoryLab {
    project_in(MemoryLab::new())
}

fn project_in(lab: MemoryLab) -> MemoryLab {
    lab.write(".gitignore", b"data/\n*.tmp\n");
    lab.write("src/auth.rs", b"fn auth() {}\n");
    lab.write("src/clock.rs", b"fn clock() {}\n");
    lab.write("run.sh", b"#!/bin/sh\n");
    lab.repository();
    for number in 0..200_u32 {
        let bytes: Vec<u8> = (0..50 + number).map(|at| u8::try_from((at * 7 + number) % 251).unwrap()).collect();
        lab.write(&format!("data/{number:03}.bin"), &bytes);
    }
    lab.write("src/auth.rs", b"fn auth() { changed() }\n");
    lab.write("src/clock.rs", b"fn clock() { staged() }\n");
    lab.git(&["add", "src/clock.rs"]);
    lab.write("notes/new file.txt", "untracked \u{fc}\n".as_bytes());
    lab.write("cache.tmp", b"ignored");
    lab
}

#[cfg(unix)]
#[test]
fn what_a_risky_command_destroys_comes_back() {
    let lab = project();
    lab.prompt("s-1", "clean up");
    let before = lab.files();
    assert_eq!(lab.bash("s-1", "rm -rf data && git reset -q --hard && git clean -fdqx"), 0);
    lab.hook("s-1", "stop", &json!({}));
    assert_eq!(lab.hook_log(), "");
    assert_eq!(lab.files().len(), 4, "the command did what it says");
    lab.write("foreign.txt", b"made since");
    let (_, note) = lab.note();
    assert!(note.contains("> [!checkpoint] risk: before `rm -rf data`"), "{note}");
    assert!(note.contains("> Files: ") && note.contains("> Restore: `cru checkpoint restore cp-"), "{note}");
    let id = checkpoints(&note).remove(0);

    let plan = lab.ok(&["checkpoint", "restore", &id, "--dry-run"]);
    assert!(plan.contains("create   data/000.bin") && plan.contains("replace  src/auth.rs"), "{plan}");
    assert_eq!(lab.files().len(), 5, "nothing was written");
    let done = lab.ok(&["checkpoint", "restore", &id]);
    let mut wanted = before.clone();
    wanted.insert("foreign.txt".into(), b"made since".to_vec());
    assert_eq!(lab.files(), wanted);
    let (_, note) = lab.note();
    assert!(
        note.contains(&format!("> [!summary] Restored {id}")) && note.contains("manual: before restore of"),
        "{note}"
    );

    // And back, with the command that it named.
    let undo = done.lines().last().unwrap().split("Undo: cru ").nth(1).unwrap();
    let args: Vec<&str> = undo.split(' ').collect();
    lab.wait(60);
    lab.ok(&args);
    let names: Vec<String> = lab.files().into_keys().collect();
    assert_eq!(names, [".gitignore", "foreign.txt", "run.sh", "src/auth.rs", "src/clock.rs"]);
    assert_eq!(lab.files()["src/auth.rs"], b"fn auth() {}\n");
    assert_eq!(lab.git(&["status", "--porcelain"]), "?? foreign.txt\n");
}

#[test]
fn a_file_of_somebody_else_is_refused() {
    let lab = project();
    lab.prompt("s-1", "go");
    lab.bash("s-1", "git checkout -q -- src/auth.rs");
    lab.hook("s-1", "stop", &json!({}));
    let id = checkpoints(&lab.note().1).remove(0);
    lab.write("src/auth.rs", b"a person's work\n");
    let refused = lab.cru(&["checkpoint", "restore", &id]);
    assert_eq!(refused.code, 1, "{}{}", refused.out, refused.err);
    assert!(refused.out.contains("refused  src/auth.rs: somebody else changed it"), "{}", refused.out);
    assert_eq!(lab.files()["src/auth.rs"], b"a person's work\n");
    let diff = lab.ok(&["checkpoint", "diff", &id, "src/auth.rs"]);
    assert!(diff.contains("-fn auth() { changed() }") && diff.contains("+a person's work"), "{diff}");
    let on = format!("`cru checkpoint restore {id} --force src/auth.rs` overwrites it");
    assert!(refused.out.contains(&on), "{}", refused.out);
    let done = lab.ok(&["checkpoint", "restore", &id, "src/auth.rs", "--force"]);
    assert_eq!(lab.files()["src/auth.rs"], b"fn auth() { changed() }\n");
    lab.wait(60);
    // The latest is never the copy that a restore made.
    let latest = lab.ok(&["checkpoint", "restore", "latest", "--dry-run"]);
    assert!(latest.contains("1 file as in the copy") || latest.contains("as in the copy"), "{latest}");
    lab.ok(&done.lines().last().unwrap().split("Undo: cru ").nth(1).unwrap().split(' ').collect::<Vec<_>>());
    assert_eq!(lab.files()["src/auth.rs"], b"a person's work\n", "the person's text was kept as well");
}

#[test]
fn a_damaged_copy_names_the_one_before() {
    let lab = project();
    lab.ok(&["session", "start", "Work"]);
    lab.ok(&["checkpoint", "first"]);
    lab.wait(60);
    lab.write("src/auth.rs", b"later\n");
    let second = lab.ok(&["checkpoint", "second"]);
    let id = second.split_whitespace().next().unwrap();
    let hash = blake3::hash(b"later\n").to_hex().to_string();
    let states = fs::read_dir(lab.path("state/cru")).unwrap().flatten().map(|state| state.path());
    let state = states.into_iter().find(|state| state.join("objects").is_dir()).unwrap();
    let object = state.join("objects").join(&hash[..2]).join(&hash);
    #[expect(clippy::disallowed_methods, reason = "a disk does damage without cru")]
    fs::write(&object, b"torn").unwrap();
    lab.write("src/auth.rs", b"lost\n");
    let refused = lab.cru(&["checkpoint", "restore", id]);
    assert_eq!(refused.code, 1);
    assert!(refused.out.contains("refused  src/auth.rs: its copy is damaged"), "{}", refused.out);
    assert!(
        refused.out.contains(&format!("the checkpoint before {id} with a copy is cp-20261120-090000")),
        "{}",
        refused.out
    );
    let shown = lab.ok(&["checkpoint", "show", id]);
    assert!(shown.contains("damaged") && shown.contains("cp-20261120-090000"), "{shown}");
}

#[test]
fn seven_kinds_are_listed_and_three_are_written() {
    let lab = project();
    lab.prompt("s-1", "work for an hour");
    // Twice thirty active minutes, with an idle hour between.
    for _ in 0..7 {
        lab.bash("s-1", "cat src/auth.rs");
        lab.wait(300);
    }
    lab.wait(3600);
    for _ in 0..7 {
        lab.bash("s-1", "cat src/clock.rs");
        lab.wait(300);
    }
    lab.edit("s-1", "check.sh", "test -f built || { echo nothing is built; exit 3; }\n");
    lab.bash("s-1", "sh check.sh");
    lab.edit("s-1", "built", "yes\n");
    lab.bash("s-1", "sh check.sh");
    lab.bash("s-1", "rm -rf notes");
    lab.hook("s-1", "pre-compact", &json!({ "trigger": "auto" }));
    lab.hook("s-1", "stop", &json!({}));
    let session = lab.note().0.file_stem().unwrap().to_str().unwrap().to_owned();
    lab.ok(&["log", "task", "add", "Rotate the keys", "--priority", "high", "--session", &session]);
    lab.ok(&["log", "task", "add", "Write the docs", "--session", &session]);
    lab.ok(&["log", "task", "done", "Rotate the keys", "--session", &session]);
    lab.ok(&["checkpoint", "before the release", "--session", &session]);
    lab.wait(60);
    lab.hook("s-1", "session-end", &json!({ "reason": "exit" }));
    assert_eq!(lab.hook_log(), "");
    let (_, note) = lab.note();
    let written: Vec<&str> = note.lines().filter_map(|line| line.strip_prefix("> [!checkpoint] ")).collect();
    assert_eq!(
        written,
        [
            "risk: before `rm -rf notes`",
            "compaction: the host's context is full",
            "manual: before the release",
            "final"
        ],
        "{note}"
    );
    let listed: Value = serde_json::from_str(&lab.ok(&["checkpoint", "list", &session, "-f", "json"])).unwrap();
    let rows = listed["checkpoints"].as_array().unwrap();
    for kind in ["manual", "task", "auto", "risk", "recovery", "compaction", "final"] {
        let of_kind: Vec<&Value> = rows.iter().filter(|row| row["kind"] == kind).collect();
        assert!(!of_kind.is_empty() && of_kind.iter().all(|row| row["time"].is_string()), "{kind}: {rows:#?}");
    }
    assert_eq!(rows.iter().filter(|row| row["kind"] == "auto").count(), 2, "{rows:#?}");
    // A second flush, and the end once more, add nothing.
    lab.ok(&["flush", "--all"]);
    assert_eq!(lab.note().1.matches("[!checkpoint]").count(), 4);
}

/// Work goes on from a checkpoint that is named: in its phase, from what was open then, in a new session of the host.
#[test]
fn a_session_goes_on_from_a_named_checkpoint() {
    let lab = project();
    lab.ok(&["session", "start", "Keys", "--agent", "a@1"]);
    let session = lab.note().0.file_stem().unwrap().to_str().unwrap().to_owned();
    let log = |args: &[&str]| lab.ok(&[&["log", "--session", &session], args].concat());
    log(&["phase", "Plan"]);
    log(&["tool", "Read", "src/auth.rs"]);
    lab.ok(&["checkpoint", "the plan stands", "--blocked", "an answer of Ann", "--no-files", "--session", &session]);
    lab.wait(3_600);
    log(&["phase", "Build"]);
    log(&["tool", "Edit", "src/auth.rs"]);
    lab.ok(&["checkpoint", "half built", "--no-files", "--session", &session]);
    let ids = checkpoints(&lab.note().1);
    let [first, second] = ids.as_slice() else { panic!("{ids:?}") };
    let pack = |more: &[&str]| lab.ok(&[&["session", "resume", "--print"], more].concat());

    let plain = pack(&[&session]);
    assert!(plain.contains("## Last checkpoint") && plain.contains("half built"), "{plain}");
    let told = pack(&["--checkpoint", first]);
    assert!(told.contains("## The checkpoint to go on from") && told.contains("the plan stands"), "{told}");
    assert!(told.contains("an answer of Ann") && told.contains("p-01"), "{told}");
    assert!(pack(&["--checkpoint", "latest"]).contains("half built"));
    assert!(pack(&["--checkpoint", second, &session]).contains("half built"));
    let ran = lab.cru(&["session", "resume", "--print", "--checkpoint", "cp-20200101-000000"]);
    assert!(ran.code == 1 && ran.err.contains("no checkpoint `cp-20200101-000000`"), "{ran:?}");

    // The phase that begins says where it comes from, and is what goes on from now on.
    lab.ok(&["session", "mark", "paused", &session]);
    lab.ok(&["session", "resume", "--no-start", "--checkpoint", first]);
    let note = lab.note().1;
    let begun = note.lines().find(|line| line.contains("from: [[#^p-01]]")).unwrap_or_else(|| panic!("{note}"));
    let id = begun.rsplit('^').next().unwrap();
    assert!(note.contains(&format!("resume_point: {id}\n")) && note.contains("status: active"), "{note}");
}

/// What was asked, decided and done since the last checkpoint, where it is asked for; each thing in one account.
#[test]
fn a_checkpoint_may_sum_up_what_was_done() {
    let lab = project();
    lab.ok(&["session", "start", "Keys", "--agent", "a@1"]);
    let session = lab.note().0.file_stem().unwrap().to_str().unwrap().to_owned();
    let log = |args: &[&str]| lab.ok(&[&["log", "--session", &session], args].concat());
    log(&["phase", "Plan"]);
    log(&["tool", "Read", "src/auth.rs"]);
    log(&["decision", "Two keys", "--why", "one verifies"]);
    lab.ok(&["checkpoint", "planned", "--summary", "--no-files", "--session", &session]);
    lab.wait(600);
    log(&["tool", "Edit", "src/auth.rs"]);
    log(&["error", "It does not compile", "--text", "missing `;`"]);
    lab.ok(&["checkpoint", "built", "--summarize", "--no-files", "--session", &session]);
    lab.ok(&["checkpoint", "nothing", "--summary", "--no-files", "--session", &session]);
    let note = lab.note().1;
    let accounts: Vec<&str> =
        note.split("> [!summary] Up to cp-").skip(1).map(|rest| rest.split("\n\n").next().unwrap()).collect();
    let [first, second, ..] = accounts.as_slice() else { panic!("{note}") };
    assert!(first.contains("> - 1 step") && first.contains("> - Decided: Two keys – one verifies"), "{note}");
    assert!(second.contains("> - Error: It does not compile") && !second.contains("Two keys"), "{note}");
    assert!(lab.ok(&["check"]).contains("nothing wrong"), "{note}");
}

#[test]
fn without_git_the_files_of_the_session_are_copied() {
    let lab = MemoryLab::new();
    lab.prompt("s-1", "write");
    lab.edit("s-1", "a.txt", "one\n");
    lab.edit("s-1", "b/c.txt", "two\n");
    lab.write("private.txt", b"of a person");
    let before = lab.files();
    lab.bash("s-1", "rm -r a.txt b");
    lab.hook("s-1", "stop", &json!({}));
    let id = checkpoints(&lab.note().1).remove(0);
    lab.ok(&["checkpoint", "restore", &id]);
    assert_eq!(lab.files(), before);
    let shown = lab.ok(&["checkpoint", "show", &id]);
    assert!(!shown.contains("private.txt"), "{shown}");
}

#[test]
fn limits_hold_and_are_told() {
    let lab = project();
    lab.prompt("s-1", "go");
    lab.bash("s-1", "true");
    let large =
        fs::File::options().create(true).truncate(true).write(true).open(lab.path("home/code/data/huge.bin")).unwrap();
    large.set_len(5 << 30).unwrap();
    drop(large);
    let call = json!({ "tool_name": "Bash", "tool_use_id": "t1", "tool_input": { "command": "rm -rf data" } });
    lab.hook("s-1", "pre-tool", &call);
    lab.hook("s-1", "stop", &json!({}));
    let note = lab.note().1;
    assert!(note.contains("> Left out: `data/huge.bin` (larger than 8 MiB)"), "{note}");
    let told = lab.cru(&["checkpoint", "restore", "latest"]).out;
    assert!(told.contains("no copy  data/huge.bin: larger than 8 MiB"), "{told}");
    // Without any time the call goes on, and the note says what there is no copy of.
    let lab = project_in(MemoryLab::with_config("[hooks]\nflush = \"inline\"\n[checkpoint]\nlimit_ms = 0\n"));
    lab.prompt("s-1", "go");
    lab.bash("s-1", "true");
    lab.hook("s-1", "pre-tool", &call);
    lab.hook("s-1", "stop", &json!({}));
    let note = lab.note().1;
    assert!(note.contains("(the time was up)"), "{note}");
}

#[test]
fn what_a_repository_names_is_never_started() {
    let lab = project();
    let mark = lab.path("sprung");
    let script = format!("touch '{}'; cat", mark.display());
    for (key, value) in [
        ("core.fsmonitor", script.as_str()),
        ("filter.trap.clean", &script),
        ("filter.trap.smudge", &script),
        ("diff.external", &script),
        ("core.pager", &script),
    ] {
        lab.git(&["config", key, value]);
    }
    lab.write(".git/info/attributes", b"*.rs filter=trap\n");
    if mark.exists() {
        fs::remove_dir_all(&mark).ok();
    }
    lab.prompt("s-1", "go");
    lab.bash("s-1", "true");
    let call = json!({ "tool_name": "Bash", "tool_use_id": "t1", "tool_input": { "command": "git reset --hard" } });
    lab.hook("s-1", "pre-tool", &call);
    lab.hook("s-1", "stop", &json!({}));
    let id = checkpoints(&lab.note().1).remove(0);
    lab.ok(&["checkpoint", "show", &id]);
    lab.ok(&["checkpoint", "restore", &id, "--dry-run"]);
    assert!(!mark.exists(), "a program of the repository was started");
}

#[test]
fn kinds_are_seven_words() {
    let lab = project();
    lab.ok(&["session", "start", "Work"]);
    assert_eq!(lab.cru(&["checkpoint", "x", "--kind", "important"]).code, 2);
    assert_eq!(lab.cru(&["checkpoint", "restore", "cp-20000101-000000"]).code, 1);
    let made: Value =
        serde_json::from_str(&lab.ok(&["checkpoint", "--no-files", "--kind", "recovery", "-f", "json"])).unwrap();
    assert_eq!((&made["kind"], &made["files"]), (&json!("recovery"), &json!(0)));
    assert!(lab.note().1.contains("> [!checkpoint] recovery\n"), "{}", lab.note().1);
}
