//! What failed, what was looked at and what was written, in its place.

use super::*;
use crate::{Evidence, FileDiff, render};

const HEAD: &str = "---\ntype: session\nsession_id: s\ntitle: Pumps\nproject: ~/pump\ncru_cursor: 1 5\n---\n# Pumps\n\n\
                    ## Mend the leaking pump @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"Mend the leaking pump\"\n\n";

fn read(body: &str) -> Session {
    cru_session::read::session(&Note::parse(format!("{HEAD}{body}"))).0
}

fn text(body: &str) -> String {
    with(body, &Evidence::default())
}

fn with(body: &str, evidence: &Evidence) -> String {
    render(&crate::codify_with(&read(body), &Options::REPLAY, evidence).0)
}

fn has(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.contains(line), "{line}\n---\n{text}");
    }
}

/// A failed command stands in its place; only literally the same command is said to work later.
#[test]
fn failures_stand_in_their_place() {
    let text = text(
        "- `Bash tool validate x` → ✗ Unknown arguments (exit 2) ^n-001\n- `Edit a.c` → ok ^n-002\n    - writes: `a.c`\n\
         - `Bash tool eval run x` → ok ^n-003\n- `Bash make all -j2` → ✗ no rule (exit 2) ^n-004\n- `Bash make -j2 all 2>&1 | tail -3` → ok ^n-005\n\
         - `Bash npm run dev` → ✗ Interrupt (exit 130) ^n-006\n",
    );
    has(
        &text,
        &[
            "- `tool validate x` — failed, exit 2: Unknown arguments ([[s#^n-001|n-001]])\n",
            "- `make all -j2` — failed, exit 2: no rule ([[s#^n-004|n-004]]); the same command works later ([[s#^n-005|n-005]])\n",
            "- `npm run dev` — ended by a signal, exit 130\n",
        ],
    );
    for word in ["Dead end", "fixed by", "after 1 change", "works later ([[s#^n-003"] {
        assert!(!text.contains(word), "{word}\n{text}");
    }
}

/// Of several checks in one call that failed none is said to have failed, unless its own part of the output tells.
#[test]
fn a_failed_chain_judges_no_part() {
    let steps = |call: &str| {
        format!(
            "- `Edit a.rs` → ok ^n-001\n    - writes: `a.rs`\n- `Bash cargo test` → 3 passed ^n-002\n    - check: passed\n\
             - `Bash {call}` → ✗ failed, no output (exit 1) ^n-003\n    - check: failed\n"
        )
    };
    let told = text(&steps("cargo test && npm run lint"));
    assert!(!told.contains("`cargo test` fails") && !told.contains("`npm run lint` fails"), "{told}");
    assert!(!told.contains("`cargo test` passes"), "{told}");
}

/// Looks stand folded between what they stand between.
#[test]
fn looks_are_listed_in_order() {
    let text = text(
        "- `Grep valve src` → 3 files ^n-001\n- `Read src/a.c` → 9 lines ^n-002\n    - reads: `src/a.c`\n- `Bash git diff --staged` → 9 lines ^n-003\n\
         - `Edit src/a.c` → ok ^n-004\n    - writes: `src/a.c`\n- `Read src/a.c` → 9 lines ^n-005\n    - reads: `src/a.c`\n- `Bash make` → ok ^n-006\n",
    );
    has(
        &text,
        &[
            "> [!looks]- 3 looks\n> - `Grep valve src`\n> - `Read src/a.c`\n> - `git diff --staged`\n\n- Changed: `src/a.c`",
            "> [!looks]- 1 look\n> - `Read src/a.c`\n\n- `make`",
        ],
    );
}

fn change(path: &str, removed: &[&str], added: &[&str]) -> Vec<FileDiff> {
    let lines = removed.iter().map(|line| ('-', (*line).to_owned()));
    let lines = lines.chain(added.iter().map(|line| ('+', (*line).to_owned()))).collect();
    vec![FileDiff { path: path.into(), lines, ..FileDiff::default() }]
}

/// A document is words; what was changed again, and a commit that was amended, say so.
#[test]
fn documents_are_whole_and_what_was_replaced_says_so() {
    let body = "- `Write brief.md` → ok ^n-001\n    - writes: `brief.md` (created)\n- `Edit a.c` → ok ^n-002\n    - writes: `a.c`\n\
                - `Edit a.c` → ok ^n-003\n    - writes: `a.c`\n- `Bash git commit -am one` → ok ^n-004\n\
                - `Bash git commit --amend -m two` → ok ^n-005\n";
    let mut evidence = Evidence::default();
    evidence.add_changes("n-001".into(), change("brief.md", &[], &["# Brief", "", "- `x` first"]));
    evidence.add_changes("n-002".into(), change("a.c", &["int a;"], &["int b;", "}"]));
    evidence.add_changes("n-003".into(), change("a.c", &["int b;", "}"], &["int c;"]));
    let text = with(body, &evidence);
    has(
        &text,
        &[
            "> [!document]- brief.md\n> ```markdown\n> # Brief\n>\n> - `x` first\n> ```",
            "; its lines are changed again later in [[s#^n-003|n-003]]\n",
            "- `git commit -am one` — amended later in [[s#^n-005|n-005]]\n",
        ],
    );
    assert_eq!(text.matches("again later").count(), 1, "{text}");
}

/// Every command stands where it was run; one that ended well again and again where it was run last.
#[test]
fn all_commands_are_told() {
    let runs: Vec<String> = (1..30).map(|n| format!("- `Bash ./measure.sh {n}` → ok\n- `Bash make` → ok\n")).collect();
    let runs = runs.concat();
    let text = text(&runs);
    for n in 1..30 {
        assert!(text.contains(&format!("- `./measure.sh {n}`\n")), "{n}\n{text}");
    }
    assert_eq!(text.matches("- `make` — passes").count(), 2, "the step and the validation\n{text}");
}

/// A repository is no branch; what `git` is given as one is.
#[test]
fn branches_are_what_git_takes() {
    let body = "- `Bash gh repo clone acme/red-pump` → ok\n- `Bash git checkout -b ann/red-hose` → ok\n- `Bash git push -u origin ann/red-hose` → ok\n";
    let session = read(body);
    let mut session = session;
    if let Some(Item::User(user)) = session.phases[0].items.first_mut() {
        user.words = "Take acme/red-pump and make ann/red-hose".into();
    }
    let text = render(&codify(&session, &Options::REPLAY).0);
    has(
        &text,
        &["Inputs: `<branch>` (ann/red-hose)", "- `gh repo clone acme/red-pump`", "- `git checkout -b <branch>`"],
    );
}

/// What was stopped before anything was done, and a number after it, are no rules.
#[test]
fn slips_and_answers_are_no_rules() {
    let text = text(
        "- `Bash make` → ok ^n-001\n\nWhich one?\n\n> [!user]\n> \"8\"\n\n*Interrupted by the user.*\n\n> [!user] Correction\n> \"6\"\n\n\
         - `Edit a.c` → ok ^n-002\n    - writes: `a.c`\n\n*Interrupted by the user.*\n\n> [!user]\n> \"you good there?\"\n\n- `Edit b.c` → ok ^n-003\n    - writes: `b.c`\n",
    );
    assert!(!text.contains("Mind:") && text.contains("- Then: 6"), "{text}");
    assert!(
        !text.contains("8\n") && !text.contains("“*Interrupted") && text.contains("- Then: you good there?"),
        "{text}"
    );
}
