//! What a person reads of transcripts that go.

use super::evidence::{AtRisk, Deletes, Evidence};
use super::*;

fn host(host: &'static str, title: &'static str, importer: &'static str) -> Deletes {
    Deletes { host, title, importer, setting: "days", hours: Some(30 * 24), set: false, most: None }
}

fn text(hosts: Vec<Deletes>, at_risk: Vec<AtRisk>) -> String {
    let report = StatusReport {
        due: super::due::Due::default(),
        schema: 1,
        vault: "/vault".into(),
        notes: 1,
        sessions: 1,
        statuses: Vec::new(),
        current: None,
        waiting: Vec::new(),
        unfiled: 0,
        copies: Vec::new(),
        links: Vec::new(),
        foreign_cache: false,
        index: IndexSize { entries: 0, bytes: 0 },
        evidence: Evidence { hosts, at_risk, ..Evidence::default() },
        now: "2026-11-20T12:00:00Z".parse().unwrap(),
        most: MOST,
    };
    let mut out = String::new();
    report.at_risk(&View::plain(), &mut out);
    anstream::adapter::strip_str(&out).to_string().trim_start().to_owned()
}

fn risk(session: &str, host: &'static str, from: &str) -> AtRisk {
    let transcript = format!("~/{session}.jsonl");
    AtRisk { session: Some(session.to_owned()), host, transcript, from: from.parse().unwrap() }
}

#[test]
fn what_is_large_is_told_with_what_makes_it_smaller() {
    let due = super::due::Due { old_copies: 1_300_000_000, large_index: 2_050_000_000, ..Default::default() };
    let lines = due.lines();
    assert_eq!((lines[0].0, lines[1].0, lines.len()), ("Copies", "Index size", 2));
    assert!(lines[0].1.starts_with("1.3 GB of old copies of files; `cru admin prune`"), "{}", lines[0].1);
    assert!(lines[1].1.starts_with("2.0 GB; a smaller `[index] evidence_bytes`"), "{}", lines[1].1);
}

#[test]
fn each_host_that_deletes_something_says_when() {
    let claude = || host("claude-code", "Claude Code", "claude");
    let gemini = || Deletes {
        setting: "maxAge",
        hours: Some(36),
        set: true,
        most: Some(50),
        ..host("gemini-cli", "Gemini CLI", "gemini")
    };
    let soon = || risk("a", "claude-code", "2026-11-22T12:00:01Z");
    assert_eq!(text(vec![claude(), gemini()], Vec::new()), "");
    insta::assert_snapshot!(text(vec![claude(), gemini()], vec![soon()]), @r"
    1 transcript will be deleted by Claude Code in 2 days
    Claude Code deletes a transcript 30 days after its last line (days, the default).
    A note stays, without the outputs that it shortens. A longer time in the host's settings keeps the transcripts;
    `cru import claude --keep-evidence` keeps copies in `evidence/` of the vault.
    DELETED    SESSION  TRANSCRIPT
    in 2 days  a        ~/a.jsonl
    ");
    let both = vec![soon(), risk("b", "gemini-cli", "2026-11-20T12:00:00Z")];
    insta::assert_snapshot!(text(vec![claude(), gemini()], both), @r"
    1 transcript will be deleted by Claude Code in 2 days
    Claude Code deletes a transcript 30 days after its last line (days, the default).
    1 transcript will be deleted by Gemini CLI at its next start
    Gemini CLI deletes a transcript 36 hours after its last line (maxAge), and all but the newest 50 transcripts of a project (maxCount).
    A note stays, without the outputs that it shortens. A longer time in the host's settings keeps the transcripts;
    `cru import claude --keep-evidence` or `cru import gemini --keep-evidence` keeps copies in `evidence/` of the vault.
    DELETED            SESSION  TRANSCRIPT
    in 2 days          a        ~/a.jsonl
    at its next start  b        ~/b.jsonl
    ");
    let several = (0..12).map(|n| risk(&format!("s{n}"), "claude-code", "2026-11-23T13:00:00Z"));
    let mut several: Vec<AtRisk> = several.collect();
    several[0].session = None;
    insta::assert_snapshot!(text(vec![claude()], several).lines().take(3).collect::<Vec<_>>().join("\n"), @r"
    12 transcripts will be deleted by Claude Code in 3 days
    Claude Code deletes a transcript 30 days after its last line (days, the default).
    1 of them is in no note yet: `cru import --all` imports them.
    ");
    let counted = Deletes { hours: None, most: Some(1), ..gemini() };
    let late = risk("b", "gemini-cli", "2026-11-19T12:00:00Z");
    insta::assert_snapshot!(text(vec![counted], vec![late]), @r"
    1 transcript will be deleted by Gemini CLI at its next start
    Gemini CLI deletes all but the newest 1 transcript of a project (maxCount).
    A note stays, without the outputs that it shortens. A longer time in the host's settings keeps the transcripts;
    `cru import gemini --keep-evidence` keeps copies in `evidence/` of the vault.
    DELETED            SESSION  TRANSCRIPT
    at its next start  b        ~/b.jsonl
    ");
}
