//! What is allowed is what two real shells make of the text: `dash` and `bash` are given texts made of words and nasty
//! characters, with a `PATH` of programs that write down how they were called, and so is `cru run`.

#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "a person writes without cru")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use cru::trace::RunFolder;
use cru::trace::consent::{Consent, ConsentRules, Start};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRunner};

use super::world::TraceLab;

/// Programs that are called; of the first two a pattern says that they may be.
const PROGRAMS: &[&str] = &["node", "cargo", "rm", "curl", "python3", "sort", "cat"];

const ALLOW: &[&str] = &["node *", "cargo test *", "cargo build"];

/// A folder of programs, each of which writes its name, how many words it got, and these into `log`, NUL behind each.
fn stubs(dir: &Path) {
    fs::create_dir_all(dir.join("bin")).unwrap();
    for name in PROGRAMS {
        let script = dir.join("bin").join(name);
        let log = dir.join("log").display().to_string();
        fs::write(&script, format!("#!/bin/dash\nprintf '%s\\0' {name} \"$#\" \"$@\" >> '{log}'\n")).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// The calls that were written down since the last look.
fn called(dir: &Path) -> Vec<Vec<String>> {
    let path = dir.join("log");
    let text = String::from_utf8(fs::read(&path).unwrap_or_default()).unwrap();
    let _ = fs::remove_file(&path);
    let mut words = text.split_terminator('\0').map(str::to_owned);
    let mut calls = Vec::new();
    while let Some(name) = words.next() {
        let count: usize = words.next().unwrap().parse().unwrap();
        calls.push(std::iter::once(name).chain(words.by_ref().take(count)).collect());
    }
    calls
}

/// Runs a program in the folder with few variables; nothing it says is looked at.
fn run(dir: &Path, program: &Path, args: &[&str]) {
    let path = format!("{}:/usr/bin:/bin", dir.join("bin").display());
    let mut command = Command::new(program);
    command.args(args).current_dir(dir.join("code")).env_clear().env("PATH", path).env("HOME", dir.join("home"));
    command.env("HISTFILE", "/dev/null").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = command.status();
}

/// A part of a text.
fn part() -> impl Strategy<Value = String> {
    let fixed = |all: &'static [&'static str]| proptest::sample::select(all).prop_map(str::to_owned);
    prop_oneof![
        6 => fixed(PROGRAMS),
        6 => fixed(&[" ", "  ", "\t"]),
        4 => fixed(&["test", "build", "-p", "a", "--x=y", "a.csv", "./a", "+%F", "ü"]),
        2 => fixed(&["; rm x", " && rm x", " | rm", "& rm x", " &>x rm x", "\nrm x", "((rm x)); ", "$(rm x)", "`rm x`", " >x "]),
        3 => "['\"][a-z *;$&|<>(){}~#!\\\\-]{0,6}['\"]",
        2 => "\\\\[ -~]",
        2 => "[;&|<>(){}$`*?\\[\\]~#!=%^,:@'\"\\\\\n\r\u{a0}]",
        1 => fixed(&["CI=1 ", "PATH=. ", "sh -c ", "cd a && ", "if true; then ", "{ ", "time ", "exec ", "! ", "env "]),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let first = proptest::sample::select(&["node", "cargo test", "cargo", "", "sh -c 'node a'", "cd a && node"][..]);
    (first, proptest::collection::vec(part(), 0..8)).prop_map(|(first, parts)| {
        let parts = parts.concat();
        if first.is_empty() { parts } else { format!("{first} {parts}") }
    })
}

/// How many texts are tried: a test run tries few, `PROPTEST_CASES` more.
fn cases(few: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(few)
}

#[test]
fn what_is_allowed_is_what_the_shells_make_of_it() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path();
    fs::create_dir_all(dir.join("code/a")).unwrap();
    fs::create_dir_all(dir.join("home")).unwrap();
    stubs(dir);
    let allow: Vec<String> = ALLOW.iter().map(|it| (*it).to_owned()).collect();
    let (rules, faults) = ConsentRules::new(&allow);
    assert_eq!(faults, [""; 0]);
    let names = vec![dir.join("code").to_string_lossy().into_owned()];
    let project = RunFolder { path: dir.join("code"), names, is_known: true, ..RunFolder::default() };
    let (dash, bash) = (Path::new("/bin/dash"), Path::new("/bin/bash"));
    assert!(dash.exists() && bash.exists(), "this test needs both");
    let mut allowed = 0;
    let config = Config { cases: cases(400), failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    )
    .run(&text(), |text| {
        let Consent::Allowed(command) = rules.decide(&text, &project) else { return Ok(()) };
        let (start, folder) = command.in_folder(&project.path).map_err(TestCaseError::fail)?;
        let Start::Words(words) = start else { return Err(TestCaseError::fail("it needs a shell")) };
        prop_assert!(
            words[0] == "node" || words[..2] == ["cargo", "test"] || words == ["cargo", "build"],
            "{:?}",
            words
        );
        prop_assert!(folder.starts_with(dir.join("code")));
        for shell in [dash, bash] {
            run(dir, shell, &["-c", &text]);
            prop_assert_eq!(called(dir), vec![words.clone()], "{:?} of {:?}", shell, &text);
            let left: Vec<_> = fs::read_dir(dir.join("code")).unwrap().flatten().map(|it| it.file_name()).collect();
            prop_assert_eq!(left, ["a"], "{:?} of {:?}", shell, &text);
        }
        Ok(())
    })
    .unwrap();
    // The strategy gives texts of both kinds.
    let mut runner = TestRunner::deterministic();
    for _ in 0..400 {
        let text = text().new_tree(&mut runner).unwrap().current();
        allowed += u32::from(matches!(rules.decide(&text, &project), Consent::Allowed(_)));
    }
    assert!((20..380).contains(&allowed), "{allowed} of 400 texts are allowed");
}

#[test]
fn nothing_runs_that_no_pattern_names() {
    let lab = TraceLab::new();
    let dir = lab.path("");
    lab.git(&["init", "-q"]);
    lab.write("a/x.txt", "x\n");
    lab.commit("2026-11-19T08:00:00Z", "X");
    lab.begin("2026-11-21-mine");
    lab.allow(ALLOW);
    stubs(&dir);
    let path = format!("{}:/usr/bin:/bin", dir.join("bin").display());
    let mut runner = TestRunner::deterministic();
    let many = cases(24);
    for _ in 0..many {
        let text = text().new_tree(&mut runner).unwrap().current();
        if text.contains('\n') || text.contains('\r') {
            continue;
        }
        fs::write(lab.path("vault/cells.md"), format!("```sh cell\n{text}\n```\n^c-01\n")).unwrap();
        let ran = lab.cru_with(&[("PATH", &path)], &["run", "[[cells#^c-01]]"]);
        let calls = called(&dir);
        assert!(calls.len() <= 1, "{text:?} {calls:?} {ran:?}");
        for call in &calls {
            let is_named =
                call[0] == "node" || call.len() > 1 && call[..2] == ["cargo", "test"] || *call == ["cargo", "build"];
            assert!(is_named, "{text:?} {call:?} {ran:?}");
        }
        assert!(lab.exists("a/x.txt") && !lab.exists("x"), "{text:?} {ran:?}");
    }
}
