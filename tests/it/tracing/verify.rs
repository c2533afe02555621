//! `cru verify` and `cru stale` while files change.

#![expect(clippy::disallowed_methods, reason = "a person writes without cru")]

use std::fs;

use super::world::{TraceLab, anchor};

const ID: &str = "2026-11-20-tides";

const TEXT: &str = "one line of the file\ntwo lines of the file\nthree lines of the file\n";

/// A session that read one file and wrote another, of which it says the lines.
fn lab() -> TraceLab {
    let lab = TraceLab::new();
    lab.git(&["init", "-q"]);
    lab.write("src/in.rs", TEXT);
    lab.write("src/out.rs", TEXT);
    let commit = lab.commit("2026-11-20T09:10:00Z", "All");
    let lines: Vec<&str> = TEXT.lines().collect();
    lab.note(
        ID,
        "",
        &format!(
            "- `Read src/in.rs:2-3` → `2 lines` (09:00:10) ^n-001\n    - reads: `{}`\n\
             - `Edit src/out.rs` → `+2 −0` (09:01:00) ^n-002\n    - writes: `{}`\n    - after: [[#^n-001]]\n\
             - `Bash cargo test` → `7 passed` (09:02:00) ^n-003\n    - check: passed\n    - after: [[#^n-002]]\n\
             - `Bash git commit` → `1 file changed` (09:03:00) ^n-004\n    - commit: `{commit}` All\n\n\
             > [!decision] Two lines\n> Why: one is not enough.  \n> Rests on: [[#^n-001]]\n\n^d-01\n",
            anchor("src/in.rs", 2, &lines[1..]),
            anchor("src/out.rs", 1, &lines[..2]),
        ),
    );
    lab
}

/// Exit code and the rows of what was read and written.
fn verdicts(lab: &TraceLab, more: &[&str]) -> (i32, String, String) {
    let args: Vec<&str> = ["verify", ID].into_iter().chain(more.iter().copied()).collect();
    let ran = lab.cru(&args);
    let row = |name: &str| {
        let line = ran.out.lines().find_map(|line| line.trim().strip_prefix(name));
        line.unwrap_or_else(|| panic!("{ran:?}")).trim().to_owned()
    };
    (ran.code, row("reads"), row("writes"))
}

#[track_caller]
fn are(lab: &TraceLab, code: i32, reads: &str, writes: &str) {
    assert_eq!(verdicts(lab, &[]), (code, reads.to_owned(), writes.to_owned()));
}

#[test]
fn files_change_and_change_back() {
    let lab = lab();
    are(&lab, 0, "1 holds", "1 holds");
    lab.write("src/in.rs", TEXT);
    are(&lab, 0, "1 holds", "1 holds");
    lab.write("src/in.rs", &TEXT.replace('\n', "\r\n"));
    are(&lab, 0, "1 holds", "1 holds");
    lab.write("src/in.rs", &format!("// head\n{TEXT}"));
    are(&lab, 0, "1 moved", "1 holds");
    lab.write("src/in.rs", &TEXT.replace("three", "four"));
    are(&lab, 1, "1 drifted", "1 holds");
    lab.write("src/in.rs", TEXT);
    are(&lab, 0, "1 holds", "1 holds");
    fs::remove_file(lab.path("home/code/src/out.rs")).unwrap();
    are(&lab, 1, "1 holds", "1 gone");
}

#[test]
fn a_rename_is_followed() {
    let lab = lab();
    lab.git(&["mv", "src/in.rs", "src/input.rs"]);
    are(&lab, 0, "1 moved", "1 holds");
    lab.commit("2026-11-20T12:00:00Z", "Rename");
    lab.git(&["mv", "src/input.rs", "input.rs"]);
    lab.commit("2026-11-20T13:00:00Z", "Again");
    are(&lab, 0, "1 moved", "1 holds");
    let at = verdicts(&lab, &["--at", "HEAD"]);
    assert_eq!(at, (0, "1 moved".to_owned(), "1 holds".to_owned()));
}

#[test]
fn a_commit_is_looked_at() {
    let lab = lab();
    lab.write("src/in.rs", "another\n");
    lab.write("src/out.rs", "");
    lab.commit("2026-11-20T12:00:00Z", "Other");
    lab.write("src/in.rs", TEXT);
    assert_eq!(verdicts(&lab, &["--at", "HEAD"]), (1, "1 drifted".to_owned(), "1 drifted".to_owned()));
    assert_eq!(verdicts(&lab, &["--at", "HEAD~1"]), (0, "1 holds".to_owned(), "1 holds".to_owned()));
    let ran = lab.cru(&["verify", ID, "--at", "HEAD~1"]);
    let first = lab.git(&["rev-parse", "--short=7", "HEAD~1"]);
    assert!(ran.out.contains(&format!("commits    1 of 1 reachable from {}", first.trim())), "{}", ran.out);
    assert_eq!(lab.cru(&["verify", ID, "--at", "none"]).code, 2);
    assert_eq!(lab.cru(&["verify", "none"]).code, 2);
}

#[test]
fn what_does_not_hold_is_told_with_what_rests_on_it() {
    let lab = lab();
    lab.write("src/in.rs", "another\n");
    lab.commit("2026-11-21T12:00:00Z", "Other");
    let ran = lab.cru(&["verify", ID]);
    let touch = lab.git(&["log", "-1", "--format=%h %as"]);
    assert_eq!(
        ran.out,
        format!(
            "2026-11-20-tides\n  \
               proof      green\n  \
               writes     1 holds\n  \
               reads      1 drifted\n  \
               commits    1 of 1 reachable from HEAD\n  \
               decisions  1 drifted\n  \
               n-001  src/in.rs:2-3  read; drifted; last commit {} Ann\n  \
               n-002  rests on n-001, which does not hold\n  \
               n-003  rests on n-001, which does not hold\n",
            touch.trim()
        )
    );
    assert_eq!(ran.code, 1);
    let ran = lab.cru(&["stale"]);
    assert_eq!(ran.out, "2026-11-20-tides#d-01  rests on n-001: drifted  (decision)\n");
    assert_eq!(ran.code, 1);
}

#[test]
fn another_branch_and_another_machine_are_unknown() {
    let lab = lab();
    lab.git(&["checkout", "-q", "-b", "side"]);
    lab.write("src/in.rs", "side\n");
    let side = lab.commit("2026-11-20T12:00:00Z", "Side");
    lab.git(&["checkout", "-q", "main"]);
    lab.write("src/in.rs", "main\n");
    let text = lab.note_text(ID).replace("status:", &format!("commit: {side}\nstatus:"));
    lab.put_note(ID, &text);
    are(&lab, 0, "1 unknown", "1 holds");
    assert_eq!(verdicts(&lab, &["--strict"]).0, 1);
    lab.put_note(ID, &text.replace("~/code", "~/elsewhere"));
    are(&lab, 0, "1 unknown", "1 unknown");
    let ran = lab.cru(&["verify", ID]);
    assert!(ran.out.contains("project not on this machine"), "{}", ran.out);
    // The user's own configuration says where it is.
    fs::create_dir_all(lab.path("home/.config/cru")).unwrap();
    let config = format!("[projects]\n\"~/elsewhere\" = {:?}\n", lab.path("home/code").to_str().unwrap());
    fs::write(lab.path("home/.config/cru/config.toml"), config).unwrap();
    are(&lab, 0, "1 unknown", "1 holds");
}

#[test]
fn notes_without_hashes_say_so() {
    let lab = lab();
    let text = lab.note_text(ID);
    let plain: String = text
        .lines()
        .map(|line| {
            let is_file = line.contains("reads: `") || line.contains("writes: `");
            let cut = line.split(".rs:").next().unwrap_or_default();
            if is_file { format!("{cut}.rs`\n") } else { format!("{line}\n") }
        })
        .collect();
    lab.put_note(ID, &plain);
    are(&lab, 0, "1 without a hash", "1 without a hash");
    let ran = lab.cru(&["verify", ID]);
    assert!(ran.out.contains("the note has no hashes"), "{}", ran.out);
    assert!(ran.out.contains("`cru import --again 2026-11-20-tides` adds them"), "{}", ran.out);
    assert_eq!(lab.cru(&["stale", "--all"]).code, 0);
}

#[test]
fn a_later_step_supersedes() {
    let lab = lab();
    let new = ["two lines, as written later"];
    lab.write("src/out.rs", &TEXT.replace("two lines of the file", new[0]));
    let step =
        format!("- `Edit src/out.rs` → `+1 −1` (09:02:30) ^n-005\n    - writes: `{}`\n", anchor("src/out.rs", 2, &new));
    let text = lab.note_text(ID).replace("\n> [!decision]", &format!("{step}\n> [!decision]"));
    lab.put_note(ID, &text);
    are(&lab, 0, "1 holds", "2: 1 holds, 1 superseded");
}

#[test]
fn a_deletion_supersedes_only_what_it_took() {
    let lab = lab();
    let base = lab.note_text(ID);
    let step = |line: &str| base.replace("\n> [!decision]", &format!("{line}\n> [!decision]"));
    // What somebody else wrote into the file since.
    let drifted = TEXT.replace("two lines of the file", "by a person");
    lab.write("src/out.rs", &drifted);
    are(&lab, 1, "1 holds", "1 drifted");
    // A later edit that took away another line: its hash is that of the file then.
    let hash = &blake3::hash(b"another state").to_hex()[..8];
    let edit = "- `Edit src/out.rs` → `+0 −1` (09:02:30) ^n-005\n    - writes: ";
    lab.put_note(ID, &step(&format!("{edit}`src/out.rs@{hash}`\n")));
    lab.put_evidence(ID, "n-005", "src/out.rs", "@@ -9,1 +8,0 @@\n-another line\n");
    are(&lab, 1, "1 holds", "2 drifted");
    // The very lines.
    lab.put_evidence(ID, "n-005", "src/out.rs", "@@ -2,1 +1,0 @@\n-two lines of the file\n");
    lab.put_note(ID, &step(&format!("{edit}`src/out.rs`\n")));
    let (code, _, writes) = verdicts(&lab, &[]);
    assert!(code == 0 && writes.contains("1 superseded"), "{writes}");
    // Nobody knows which.
    std::fs::remove_file(lab.path(&format!("vault/evidence/{ID}.patch"))).unwrap();
    let (code, _, writes) = verdicts(&lab, &[]);
    assert!(code == 0 && !writes.contains("superseded") && !writes.contains("drifted"), "{writes}");
    // The whole file, which is there again.
    lab.put_note(ID, &step("- `Delete src/out.rs` → `gone` (09:02:30) ^n-005\n    - writes: `src/out.rs`\n"));
    let (_, _, writes) = verdicts(&lab, &[]);
    assert!(writes.contains("1 drifted"), "{writes}");
    std::fs::remove_file(lab.path("home/code/src/out.rs")).unwrap();
    let (code, _, writes) = verdicts(&lab, &[]);
    assert!(code == 0 && writes.contains("1 superseded"), "{writes}");
}

#[test]
fn a_cycle_is_unknown_and_all_else_is_answered() {
    let lab = lab();
    let text = lab.note_text(ID).replace("(09:00:10) ^n-001\n", "(09:00:10) ^n-001\n    - after: [[#^n-002]]\n");
    lab.put_note(ID, &text);
    let ran = lab.cru(&["verify", ID]);
    assert_eq!(ran.code, 0, "{ran:?}");
    lab.write("src/in.rs", "another\n");
    assert_eq!(lab.cru(&["verify", ID]).code, 1);
}

#[test]
fn the_result_can_be_kept_in_the_note() {
    let lab = lab();
    let before = lab.note_text(ID);
    assert_eq!(lab.cru(&["verify", ID, "--write"]).code, 0);
    let first = lab.note_text(ID);
    // The write is one of `cru`'s, which can be undone: the note says which.
    let is_cursor = |line: &&str| line.starts_with("cru_cursor: ");
    let rest: Vec<&str> = first.lines().filter(|line| !is_cursor(line)).collect();
    assert!(rest.join("\n").starts_with(before.trim_end()), "{first}");
    assert!(first.contains("## Verified\n\n<!-- cru:begin verify "), "{first}");
    lab.write("src/in.rs", "another\n");
    assert_eq!(lab.cru(&["verify", ID, "--write"]).code, 1);
    let second = lab.note_text(ID);
    assert_eq!(second.matches("cru:begin verify").count(), 1);
    assert!(second.contains("| n-001 | `src/in.rs:2-3` | read; drifted"), "{second}");
    let check = lab.cru(&["check"]);
    assert_eq!(check.code, 0, "{check:?}");
    assert_eq!(lab.cru(&["session", "show", ID]).code, 0);
}

#[test]
fn what_is_kept_is_reported_and_nothing_else() {
    let lab = lab();
    lab.write("src/in.rs", "another\n");
    let text = lab.note_text(ID).replace("> Rests on: [[#^n-001]]\n", "");
    lab.put_note(ID, &text);
    let ran = lab.cru(&["stale"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
    assert!(ran.err.contains("nothing is stale"), "{ran:?}");
    assert_eq!(lab.cru(&["bookmark", "source", &format!("{ID}#n-001")]).code, 0);
    assert_eq!(lab.cru(&["bookmark", "edit", &format!("{ID}#n-002")]).code, 0);
    let ran = lab.cru(&["stale"]);
    assert_eq!(
        ran.out,
        "2026-11-20-tides#n-001  input changed: src/in.rs:2-3  (bookmark source)\n\
         2026-11-20-tides#n-002  depends on stale: n-001  (bookmark edit)\n"
    );
    assert_eq!(ran.code, 1);
    // The last check of a session that is open.
    lab.put_note(ID, &text.replace("status: completed", "status: paused"));
    let ran = lab.cru(&["stale"]);
    assert!(ran.out.contains("2026-11-20-tides#n-003  depends on stale: n-001  (last check)"), "{}", ran.out);
    assert_eq!(lab.cru(&["stale", "--project", "elsewhere"]).out, "");
    assert_eq!(lab.cru(&["stale", "--project", "."]).code, 1);
    let rows: serde_json::Value = serde_json::from_str(&lab.cru(&["stale", "-f", "json"]).out).unwrap();
    // The same of every step, as a column.
    let ran = lab.cru(&["query", "steps", "--columns", "id,dependents,verdict", "-f", "csv"]);
    let wanted =
        "id,dependents,verdict\nn-001,n-002,drifted\nn-002,n-003,rests on stale\nn-003,,rests on stale\nn-004,,\n";
    assert_eq!(ran.out, wanted);
    let ran = lab.cru(&["query", "steps", "--where", "verdict~stale", "--columns", "id", "-f", "csv"]);
    assert_eq!(ran.out, "id\nn-002\nn-003\n");
    assert!(!lab.cru(&["query", "steps", "-f", "json"]).out.contains("verdict"));
    assert_eq!(rows["rows"].as_array().unwrap().len(), 3, "{rows}");
}

#[test]
fn whole_files_show_both_hashes() {
    let lab = lab();
    let old = &blake3::hash(TEXT.as_bytes()).to_hex()[..8];
    lab.note(ID, "", &format!("- `Read src/in.rs` → `3 lines` (09:00:10) ^n-001\n    - reads: `src/in.rs@{old}`\n"));
    are(&lab, 0, "1 holds", "none");
    lab.write("src/in.rs", "another\n");
    assert_eq!(lab.cru(&["bookmark", "data", &format!("{ID}#n-001")]).code, 0);
    let new = &blake3::hash(b"another\n").to_hex()[..8];
    let ran = lab.cru(&["stale"]);
    assert_eq!(ran.out, format!("2026-11-20-tides#n-001  input changed: src/in.rs ({old} → {new})  (bookmark data)\n"));
}

/// Checksums that another program wrote into its record are compared, with either line end.
#[test]
fn checksums_of_other_programs_are_compared() {
    let lab = TraceLab::new();
    lab.write("samples one.csv", "a\nb\n");
    lab.write("plot.txt", "x\n");
    lab.note(
        ID,
        "",
        "- `stat ttest` → `ok` (09:00:10) ^n-001\n    - reads: `samples one.csv`\n    - writes: `plot.txt` (created)\n    \
         - md5: `samples one.csv dd8c6a395b5dd36c56d23275028f526c`\n    \
         - sha256: `plot.txt 73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac`\n",
    );
    let verdict = |lab: &TraceLab| {
        lab.cru(&["query", "steps", "--columns", "id,verdict", "-f", "csv"]).out.lines().nth(1).unwrap().to_owned()
    };
    assert_eq!(verdict(&lab), "n-001,holds");
    lab.write("samples one.csv", "a\r\nb\r\n");
    assert_eq!(verdict(&lab), "n-001,holds");
    lab.write("samples one.csv", "a\nc\n");
    assert_eq!(verdict(&lab), "n-001,drifted");
    assert_eq!(lab.cru(&["bookmark", "test", &format!("{ID}#n-001")]).code, 0);
    let ran = lab.cru(&["stale"]);
    assert!(ran.out.contains("input changed: samples one.csv") && !ran.out.contains("plot.txt"), "{ran:?}");
    lab.write("samples one.csv", "a\nb\n");
    lab.write("plot.txt", "y\n");
    assert_eq!(verdict(&lab), "n-001,drifted");
}

#[test]
fn hostile_notes_are_answered() {
    let lab = lab();
    let files = [
        "../../etc/passwd:1@00112233",
        "/etc/passwd:1@00112233",
        "~/code/../../x:1@00112233",
        "src/in.rs:18446744073709551615@00112233",
        "src/in.rs:1-18446744073709551615@00112233",
        "src/in.rs:~18446744073709551615@00112233",
        "src/in.rs:2@00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
        ":@00112233",
        "-@00112233",
        "src/\u{202e}in.rs:1@00112233",
        "--output=x:1@00112233",
        "HEAD:src/in.rs:1@00112233",
        "*:1@00112233",
    ];
    let mut rows = String::new();
    for (at, file) in files.iter().enumerate() {
        let step = format!("- `Read x` → `x` (09:00:10) ^n-{:03}\n", at + 1);
        rows += &format!("{step}    - reads: `{file}`\n    - writes: `{file}`\n");
    }
    lab.note(ID, "commit: --help\n", &rows);
    for args in [
        &["verify", ID][..],
        &["verify", ID, "--at", "HEAD"],
        &["stale", "--all"],
        &["why", "src/in.rs"],
        &["deps", "src/in.rs"],
    ] {
        let ran = lab.cru(args);
        assert!((0..=2).contains(&ran.code), "{args:?} {ran:?}");
        assert!(!ran.out.contains('\u{202e}'), "{args:?} {}", ran.out);
    }
    assert!(!lab.path("home/code/x").exists());
}
