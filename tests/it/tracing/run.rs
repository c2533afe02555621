//! `cru run`: commands as steps, and cells of notes.

#![expect(clippy::disallowed_methods, reason = "a person writes without cru")]

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use super::world::TraceLab;

const ID: &str = "2026-11-21-samples";

fn lab() -> TraceLab {
    let lab = TraceLab::new();
    lab.git(&["init", "-q"]);
    lab.write("samples.csv", "b,2\na,1\n");
    lab.write(".gitignore", "ignored/\n");
    lab.commit("2026-11-19T08:00:00Z", "Samples");
    lab.begin(ID);
    lab
}

/// The lines of a step, without those of hashes.
fn step(lab: &TraceLab, id: &str) -> String {
    let text = lab.note_text(ID);
    let at = text.find(&format!(" ^{id}\n")).unwrap_or_else(|| panic!("no {id} in {text}"));
    let start = text[..at].rfind("\n- ").unwrap() + 1;
    let end = text[at..].find("\n- ").map_or(text.len(), |end| at + end);
    text[start..end].trim_end().to_owned()
}

fn output(lab: &TraceLab, id: &str) -> String {
    fs::read_to_string(lab.path("vault/evidence").join(ID).join(format!("{id}.txt"))).unwrap()
}

#[test]
fn output_and_exit_code_pass_through() {
    let lab = lab();
    let ran = lab.cru(&["run", "--", "sh", "-c", "echo out; echo err >&2; exit 7"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (7, "out\n", "err\n"));
    assert!(step(&lab, "n-001").contains("exit 7"), "{}", step(&lab, "n-001"));
    let kept = output(&lab, "n-001");
    assert!(kept.contains("out\n") && kept.contains("err\n"), "{kept}");

    let ran = lab.cru(&["run", "true"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "nothing is said beside the command");
    let ran = lab.cru(&["run", "--", "no-such-program"]);
    assert_eq!(ran.code, 127, "{ran:?}");
    assert!(step(&lab, "n-003").contains("exit 127"), "{}", step(&lab, "n-003"));
    let ran = lab.cru(&["run", "ls", "--no-such-option"]);
    assert_eq!(ran.code, 2, "options behind the command are the command's: {ran:?}");
}

#[test]
fn data_is_on_stdout_alone_where_it_is_asked_for() {
    let lab = lab();
    let ran = lab.cru(&["-f", "json", "run", "--", "sh", "-c", "echo out > made.txt; echo out"]);
    let value: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!(ran.err, "out\n");
    assert_eq!(value["steps"][0]["step"], "n-001");
    assert_eq!(value["steps"][0]["exit"], 0);
    assert!(value["steps"][0]["writes"][0].as_str().unwrap().starts_with("made.txt@"));
}

#[test]
fn stdin_goes_to_the_command() {
    let lab = lab();
    let mut child =
        lab.command("home/code", &["run", "cat"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"through\n").unwrap();
    let out = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stdout), "through\n");
}

#[cfg(unix)]
#[test]
fn a_signal_is_an_exit_code_and_an_interruption() {
    let lab = lab();
    let ran = lab.cru(&["run", "--", "sh", "-c", "kill -TERM $$"]);
    assert_eq!(ran.code, 143);
    assert!(step(&lab, "n-001").contains("✗ `interrupted: signal 15`"), "{}", step(&lab, "n-001"));
    let ran = lab.cru(&["run", "--", "sh", "-c", "kill -KILL $$"]);
    assert_eq!(ran.code, 137);
}

#[cfg(unix)]
#[test]
fn a_signal_reaches_the_command_and_the_step_is_recorded() {
    let lab = lab();
    let text = "trap 'echo caught; exit 9' TERM; touch ignored-started; while :; do sleep 0.05; done";
    let mut child = lab
        .command("home/code", &["run", "--", "sh", "-c", text])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    for _ in 0..600 {
        if lab.exists("ignored-started") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(9));
    assert!(step(&lab, "n-001").contains("exit 9"), "{}", step(&lab, "n-001"));
    assert_eq!(output(&lab, "n-001"), "caught\n");
}

#[test]
fn what_differs_was_written() {
    let lab = lab();
    lab.write("gone.txt", "x\n");
    lab.write("same.txt", "x\n");
    let text =
        "sort samples.csv > sorted.csv; echo c,3 >> samples.csv; rm gone.txt; mkdir -p ignored; echo x > ignored/a";
    lab.cru(&["run", "--", "sh", "-c", text]);
    let step = step(&lab, "n-001");
    assert!(step.contains("`sorted.csv@") && step.contains("(created)"), "{step}");
    assert!(step.contains("`samples.csv@") && step.contains("`gone.txt`"), "{step}");
    assert!(!step.contains("ignored/a`") && !step.contains("same.txt"), "{step}");
    assert!(!step.contains("reads:"), "what it changed itself is no input: {step}");
}

#[test]
fn arguments_that_are_files_were_read() {
    let lab = lab();
    lab.write("more.csv", "c,3\n");
    lab.cru(&["run", "--read", "more.csv", "--", "sort", "samples.csv", "no-file"]);
    let told = step(&lab, "n-001");
    assert!(
        told.contains("reads: `more.csv@") && told.contains("`samples.csv@") && !told.contains("`no-file"),
        "{told}"
    );
    lab.cru(&["run", "--", "sh", "-c", "sort < samples.csv > sorted.csv && cat more.csv"]);
    let told = step(&lab, "n-002");
    assert!(told.contains("`samples.csv@") && told.contains("`more.csv@"), "{told}");
}

#[test]
fn a_check_a_commit_and_a_folder_are_told() {
    let lab = lab();
    lab.write("test.sh", "echo 'test result: ok. 3 passed; 0 failed'\n");
    lab.git(&["config", "user.name", "Ann"]);
    lab.git(&["config", "user.email", "ann@example.org"]);
    lab.cru(&["run", "--", "git", "commit", "-q", "--allow-empty", "-m", "Heights above datum"]);
    let told = step(&lab, "n-001");
    let commit = lab.git(&["rev-parse", "--short=7", "HEAD"]);
    assert!(told.contains(&format!("- commit: `{}` Heights above datum", commit.trim())), "{told}");
    let ran = lab.cru_in("home/code/src", &["run", "pwd"]);
    assert!(ran.out.trim_end().ends_with("/code/src"), "{ran:?}");
    assert!(step(&lab, "n-002").contains("`Bash cd src && pwd`"), "{}", step(&lab, "n-002"));
}

#[test]
fn secrets_of_the_output_are_not_kept() {
    let lab = lab();
    let token = format!("ghp_{}", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
    let ran = lab.cru(&["run", "echo", &token]);
    assert!(ran.out.contains(&token), "what the person sees is what the program said");
    assert!(!lab.note_text(ID).contains(&token) && !output(&lab, "n-001").contains(&token), "{}", lab.note_text(ID));
}

#[test]
fn another_active_session_and_what_comes_before_are_told() {
    let lab = lab();
    lab.cru(&["run", "true"]);
    lab.begin("2026-11-21-other");
    let ran = lab.cru(&["run", "--session", ID, "--after", &format!("{ID}#n-001"), "--", "true"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let told = step(&lab, "n-002");
    assert!(told.contains("- after: [[#^n-001]]") && told.contains("- also active: 2026-11-21-other"), "{told}");
    let ran = lab.cru(&["run", "--session", ID, "--after", "n-009", "--", "touch", "made"]);
    assert!(ran.code == 1 && !lab.exists("made"), "a reference that leads nowhere is told before it runs: {ran:?}");
}

#[test]
fn without_a_session_nothing_runs() {
    let lab = TraceLab::new();
    let ran = lab.cru(&["run", "touch", "made"]);
    assert!(ran.code == 2 && !lab.exists("made") && ran.err.contains("cru session start"), "{ran:?}");
}

const CELLS: &str = "---\ntype: note\n---\n# Checks\n\n```sh cell\ncat samples.csv\n```\n^c-01\n\n```sh\ncat /etc/passwd\n```\n^c-02\n\n\
                     ## Validation\n\n- `cat samples.csv` — there are samples ^v-01\n- look at it\n- `wc -l samples.csv` — two\n";

#[test]
fn cells_run_with_consent() {
    let lab = lab();
    fs::write(lab.path("vault/checks.md"), CELLS).unwrap();
    let ran = lab.cru(&["run", "[[checks#^c-01]]"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    assert!(ran.err.contains("not a terminal") && ran.err.contains("cat samples.csv"), "{ran:?}");
    lab.allow(&["cat samples.csv", "wc *"]);
    let ran = lab.cru(&["run", "[[checks#^c-01]]"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "b,2\na,1\n"), "{ran:?}");
    let told = step(&lab, "n-001");
    assert!(told.contains("`Bash cat samples.csv`") && told.contains("- cell: [[checks#^c-01]]"), "{told}");
    assert_eq!(lab.read("samples.csv"), "b,2\na,1\n");
    let ran = lab.cru(&["run", "[[checks#Validation]]"]);
    assert!(ran.code == 0 && ran.out.contains("b,2") && ran.out.contains("samples.csv"), "{ran:?}");
    assert!(step(&lab, "n-002").contains("- cell: [[checks#^v-01]]"), "{}", step(&lab, "n-002"));
    assert!(step(&lab, "n-003").contains("- cell: [[checks#Validation]]"), "{}", step(&lab, "n-003"));
    for (cell, words) in
        [("[[checks#^c-02]]", "there is no cell"), ("[[checks#^c-09]]", "no cell"), ("[[nowhere#^c-01]]", "no note")]
    {
        let ran = lab.cru(&["run", cell]);
        assert!(ran.code == 1 && ran.err.contains(words), "{ran:?}");
    }
}

#[test]
fn a_long_output_is_cut_in_the_middle() {
    let lab = lab();
    let ran = lab.cru(&[
        "run",
        "--",
        "sh",
        "-c",
        "echo first; yes 0123456789012345678901234567890123456789 | head -60000; echo last",
    ]);
    assert_eq!(ran.out.len(), 6 + 60_000 * 41 + 5);
    let kept = output(&lab, "n-001");
    assert!(kept.len() < 1_100_000 && kept.starts_with("first\n") && kept.ends_with("last\n"), "{}", kept.len());
    assert!(kept.contains("bytes left out"));
}
