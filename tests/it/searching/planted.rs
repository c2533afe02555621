//! Forty cases that are planted are found with their right type and sides, and forty things that look like one are none.

use std::fmt::Write as _;

use cru::learn::{Case, Family, Kind, Note, Reason, extract};
use cru::session::read;

/// What is planted in a session, and what its case must hold: type, rule, before, after.
struct Plant {
    body: String,
    kind: Kind,
    rule: &'static str,
    before: String,
    after: String,
}

fn note(number: usize, body: &str) -> String {
    format!(
        "---\ntype: session\nsession_id: planted-{number:02}\ntitle: Task {number}\nstatus: completed\n---\n# Task {number}\n\n\
         ## Build part {number} @coder@1.0 #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"Write part {number} of the \
         parser.\"\n\n{body}"
    )
}

fn harvested(number: usize, body: &str) -> Vec<Case> {
    let text = note(number, body);
    let note = cru::note::Note::parse(text.as_str());
    let (session, _) = read::session(&note);
    let path = format!("sessions/planted-{number:02}.md");
    let note = Note { path: &path, text: &text, session: &session, calls: None };
    extract(&[note], &Kind::IN_SESSIONS, &Family::default()).cases
}

fn steps(lines: &[String]) -> String {
    lines.iter().fold("**Tool calls:**\n".to_owned(), |mut text, line| {
        let _ = writeln!(text, "- {line}");
        text
    }) + "\n"
}

fn user(title: &str, words: &str) -> String {
    format!("> [!user]{title}\n> \"{words}\"\n\n")
}

/// What an agent does right before: an edit, and what it says of it.
fn before(number: usize) -> String {
    format!(
        "{}Part {number} stands in `src/p{number}.rs` now.\n\n",
        steps(&[format!("`Edit src/p{number}.rs` → +{number}0 −1 ^n-001")])
    )
}

fn after(number: usize) -> String {
    format!("I do it so.\n\n{}", steps(&[format!("`Edit src/q{number}.rs` → +1 −{number} ^n-009")]))
}

/// Words that correct, in several tongues and tones.
const CORRECTING: [&str; 12] = [
    "No, use the other lexer",
    "don't touch the public interface",
    "That's not what I asked for: only the tests",
    "you forgot the error type",
    "Stop! The old parser stays",
    "wrong module, it belongs into syntax",
    "I said tabs, not blanks",
    "hmm, that is wrong in the header",
    "Nein, bitte ohne Makros",
    "non, pas celui-là",
    "actually, let's keep the old name",
    "why did you delete the comments?",
];

/// Words that only correct because the agent was stopped.
const STOPPING: [&str; 8] = [
    "use the crate that is there already",
    "the table must stay sorted",
    "tabs in generated files",
    "only the lexer, the parser is done",
    "put it into its own module",
    "write to a new branch",
    "keep the old interface",
    "leave the lock file as it is",
];

fn planted() -> Vec<Plant> {
    let mut plants = Vec::new();
    for number in 0..6 {
        // An error that was noted, with what solved it.
        let body = format!(
            "{}> [!error] Part {number} reads past the end\n> The loop ran to the length of the text.\n> Step: [[#^n-001]]\n> Resolution: stop one \
             before the end, see [[#^n-002]].\n\n",
            steps(&[
                format!(
                    "`Bash cargo test -p p{number}` → ✗ {number} of 9 failed: index out of range (exit 101) ^n-001"
                ),
                format!("`Edit src/p{number}.rs` → +1 −1 ^n-002"),
                format!("`Bash cargo test -p p{number}` → 9 passed ^n-003"),
            ])
        );
        let (before, after) = (format!("cargo test -p p{number}"), "stop one before the end".to_owned());
        plants.push(Plant { body, kind: Kind::Puzzle, rule: "", before, after });
    }
    for number in 6..12 {
        // A failure that nobody noted, and what made it pass.
        let body = format!(
            "{}It passes.\n\n",
            steps(&[
                format!("`Bash make part{number}` → ✗ error: missing separator in rule {number} (exit 2) ^n-001"),
                format!("`Edit part{number}.mk` → +1 −1 ^n-002"),
                format!("`Bash make part{number}` → built ^n-003"),
            ])
        );
        let (before, after) = (format!("missing separator in rule {number}"), format!("Edit part{number}.mk"));
        plants.push(Plant { body, kind: Kind::Puzzle, rule: "", before, after });
    }
    for (index, words) in CORRECTING.into_iter().enumerate() {
        let number = 12 + index;
        let body = before(number) + &user("", words) + &after(number);
        let (before, after) = (format!("Edit src/p{number}.rs"), format!("Edit src/q{number}.rs"));
        plants.push(Plant { body, kind: Kind::Correction, rule: "words", before, after });
    }
    for (index, words) in STOPPING.into_iter().enumerate() {
        let number = 24 + index;
        let (before, rule) = if index % 2 == 0 {
            (format!("{}*Interrupted by the user.*\n\n", before(number)), "interrupted")
        } else {
            let call = format!("`Write src/p{number}.rs` → ✗ denied by user ^n-001");
            (format!("I write part {number}.\n\n{}", steps(&[call])), "denied")
        };
        let body = before + &user(if index % 4 < 2 { "" } else { " Correction" }, words) + &after(number);
        let (before, after) = (format!("src/p{number}.rs"), format!("Edit src/q{number}.rs"));
        plants.push(Plant { body, kind: Kind::Correction, rule, before, after });
    }
    for number in 32..40 {
        // A plan that was refused, and the next one that was not.
        let plan =
            |name: &str, first: &str| format!("My plan for part {number}, {name}:\n\n1. {first}\n2. Test it.\n\n");
        let show = |result: &str, id: usize| steps(&[format!("`ExitPlanMode Part {number}` → {result} ^n-00{id}")]);
        let body = plan("first", &format!("Rewrite module {number}."))
            + &show("✗ denied by user", 1)
            + &user("", if number % 2 == 0 { "smaller steps" } else { "no, do not rewrite anything" })
            + &plan("second", &format!("Change one line of module {number}."))
            + &show("approved", 2);
        let (before, after) = (format!("Rewrite module {number}."), format!("Change one line of module {number}."));
        plants.push(Plant {
            body,
            kind: Kind::Preference,
            rule: if number % 2 == 0 { "denied" } else { "words" },
            before,
            after,
        });
    }
    plants
}

#[test]
fn all_that_is_planted_is_found() {
    let plants = planted();
    assert_eq!(plants.len(), 40);
    for (number, plant) in plants.iter().enumerate() {
        // Work that failed and passed in the end is also shown as a whole.
        let mut cases = harvested(number, &plant.body);
        cases.retain(|case| case.kind() != Kind::Demonstration);
        let [case] = cases.as_slice() else { panic!("{number}: {} cases\n{}", cases.len(), plant.body) };
        // A plan in words is known as one by nobody but who reads it.
        let gap = (plant.kind == Kind::Preference).then_some(Reason::PlanUnknown);
        assert_eq!((case.kind(), case.gap()), (plant.kind, gap), "{number}\n{}", plant.body);
        assert_eq!(case.correction().map_or("", |it| it.rule), plant.rule, "{number}\n{}", plant.body);
        assert!(case.failure().contains(&plant.before), "{number}: {}", case.failure());
        let answer = case.answer().unwrap_or_default();
        assert!(answer.contains(&plant.after), "{number}: {answer}");
        assert!(
            !answer.contains(&plant.before) || plant.kind == Kind::Puzzle,
            "{number}: the answer is none of what was wrong"
        );
    }
}

/// Words after work that was done which begin or look like a correction and are none.
const HARMLESS: [&str; 30] = [
    "no problem",
    "No problem, go on",
    "actually great",
    "Actually, that's great!",
    "actually good, ship it",
    "no worries",
    "No need to hurry",
    "no questions, go ahead",
    "no complaints",
    "no, that's fine",
    "no thanks",
    "nope, looks good",
    "No idea why it failed before, but thanks",
    "don't worry about the colours",
    "Don't forget to push",
    "Never mind! Now the documentation",
    "stopwatch is next",
    "nonsense values appear in the table, add a test for them",
    "the actual size comes next",
    "add a test for the wrong password",
    "I got `error: no such file or directory` yesterday, is that known?",
    "the log says: denied by user",
    "The old tool printed: Interrupted by the user.",
    "why does the build take so long?",
    "now fix the tests",
    "wait for the build, then push",
    "ok, no problem",
    "nothing else, thanks",
    "Notify me when it is done",
    "great, you did not break anything",
];

fn look_alikes() -> Vec<String> {
    let mut bodies: Vec<String> =
        HARMLESS.iter().enumerate().map(|(number, words)| before(number) + &user("", words) + &after(number)).collect();
    // Going on after an interruption, and what the title says is something else.
    for words in ["continue", "sorry, go on", "can you explain the first part?"] {
        bodies.push(before(30) + "*Interrupted by the user.*\n\n" + &user("", words) + &after(30));
    }
    bodies.push(before(33) + &user(" Question", "no tabs? why?") + &after(33));
    // Failures that teach nothing: they went away by themselves, were looks, or tell no reason.
    let fails = |first: &str, then: &str| {
        steps(&[first.to_owned(), "`Read a.md` → 3 lines ^n-002".to_owned(), then.to_owned()])
    };
    bodies.push(fails("`Bash make` → ✗ timed out ^n-001", "`Bash make` → built ^n-003"));
    bodies.push(fails("`Read b.md` → ✗ no such file or directory ^n-001", "`Read b.md` → 4 lines ^n-003"));
    bodies.push(fails("`Bash make x` → ✗ error: no rule for it here ^n-001", "`Bash make x` → built ^n-003"));
    bodies.push(fails("`Bash ls c` → ✗ no such file or directory ^n-001", "`Write c/d` → created ^n-003"));
    // Errors that are quoted.
    bodies.push("The manual says:\n\n```\n> [!error] Broken pipe\n> Resolution: try again\n```\n\n".to_owned());
    bodies.push(format!("{}> Error: this is from an old report.\n> It was solved later.\n\n", before(39)));
    bodies
}

#[test]
fn what_only_looks_like_a_case_is_none() {
    let bodies = look_alikes();
    assert_eq!(bodies.len(), 40);
    for (number, body) in bodies.iter().enumerate() {
        let cases: Vec<(Kind, String)> =
            harvested(number, body).into_iter().map(|case| (case.kind(), case.title)).collect();
        assert!(cases.is_empty(), "{number}: {cases:?}\n{body}");
    }
}
