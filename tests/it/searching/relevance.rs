//! Questions with a known answer, asked of the sessions of a set: the right one is among the first three.
//!
//! A question is what a person remembers of a
//! session, typed as words; the answer is the beginning of its id.

use cru::base::files;
use cru::import;
use cru::index::search::{Search, SearchOptions, any_word};
use cru::index::{Query, Snapshot};
use cru::sync::import::{Options as Ingest, Unwatched, ingest};
use cru::vault::Vault;

use crate::imports::growth::World;
use crate::transcript_set::{TranscriptSet, on_both_sets};

/// What is asked of the corpus, and the session that answers it.
const CORPUS: &[(&str, &str)] = &[
    ("rounding level", "2026-09-02-"),
    ("push changelog", "2026-09-03-"),
    ("quiet hours", "2026-09-04-"),
    ("reviewers route", "2026-09-05-"),
    ("what is a datum", "2026-09-06-"),
    ("tool:bash docker is:failed", "2026-09-07-"),
    ("läuft", "2026-09-07-"),
    ("mypy types", "2026-09-09-"),
    ("deploy.sh executable", "2026-09-12-"),
    ("legend colours", "2026-09-13-"),
];

/// What is asked of the real transcripts, and the session that answers it.
const SHARED: &[(&str, &str)] = &[
    // Common words that stand in many sessions.
    ("fix tests", "2026-02-03-fix-test-code-right"),
    ("lint fails", "2026-01-15-mise-run-lint-fails"),
    ("code review", "2026-06-03-review-code-change"),
    ("merge conflicts", "2026-02-08-fix-some-merge-conflicts"),
    ("plan mode", "2026-04-18-going-make-little-experiment-general-purpose"),
    ("refactoring phase", "2025-07-20-just-big-refactoring-phase"),
    ("template injection", "2026-07-22-oh-posh-template-injection-vulnerability"),
    ("websearch claude", "2026-01-23-search-claude-p-make-use-websearch"),
    ("PR description", "2026-06-04-improve-pr-description-auth-flow-changes"),
    // What a person said.
    ("goreleaser OR \"go releaser\"", "2026-07-13-go-releaser-integration-investigation"),
    ("merging blocked protected ref", "2026-02-10-getting-merging-blocked-cannot-update-protected"),
    ("total tokens index.html", "2025-06-18-update-top-level-index-html-contain"),
    ("环境变量", "2026-01-21-"),
    // What was done.
    ("steve yegge beads", "2026-04-18-going-make-little-experiment-general-purpose-3"),
    ("logging.WithAgent", "2026-01-20-add-agent-name-logging-context"),
    ("linear document attachment", "2026-01-19-working-linear-ent-98"),
    ("tool:bash pyright is:failed", "2025-06-14-add-github-action-run-tests-linting"),
    ("file:timeline.html is:failed", "2025-07-05-refactoring-timeline-filtering-hide-group-instead"),
    // What somebody remembers half.
    ("truncat* byte UTF-8", "2026-01-09-got-feedback-changes-manual-commit-hooks"),
    ("shadowbranch~ message", "2026-02-03-print-shadowbranch-message-only-hasshadowbranch-trye"),
];

fn the_right_session_is_among_the_first_three(set: &TranscriptSet) {
    let questions = if set.is_shared() { SHARED } else { CORPUS };
    let places = set.folders(&["claude", "claude-projects"]);
    let world = World::new();
    let importer = import::find("claude").unwrap();
    ingest(&world.vault, importer, &places, &Ingest::default(), &Unwatched).unwrap();
    let snapshot = Snapshot::open(&world.vault).unwrap();
    let options = SearchOptions { limit: 20, per_session: 3, ..SearchOptions::default() };
    let mut missed = Vec::new();
    for (text, answer) in questions {
        let query = Query::parse(text, &world.vault.now(&world.env)).unwrap();
        let mut sessions: Vec<&str> = Vec::new();
        for hit in Search::new(&snapshot, &query, &options).hits().unwrap() {
            let id = snapshot.session(hit.key).unwrap().id.as_str();
            if !sessions.contains(&id) {
                sessions.push(id);
            }
        }
        if !sessions.iter().take(3).any(|id| id.starts_with(answer)) {
            missed.push(format!("{text}: {answer}, but {:?}", sessions.iter().take(5).collect::<Vec<_>>()));
        }
    }
    println!("{} of {} answered", questions.len() - missed.len(), questions.len());
    assert!(missed.len() <= questions.len() / 10, "{}", missed.join("\n"));
}

on_both_sets!(the_right_session_is_among_the_first_three);

/// A question whose words no block holds finds the session that is about it.
#[test]
fn a_question_finds_its_session() {
    let world = World::new();
    let note = |name: &str, words: &[&str]| {
        let steps: Vec<String> = words.iter().map(|words| format!("{words}\n")).collect();
        let text = format!("---\ntype: session\nsession_id: {name}\n---\n# {name}\n\n## Work\n\n{}", steps.join("\n"));
        files::create(&world.vault.sessions_dir().join(format!("{name}.md")), text.as_bytes()).unwrap();
    };
    note("pump", &["The pumps leaked in the cellar.", "We tightened a valve.", "Nothing leaks now."]);
    note("guide", &["The guide is about the cellar.", "A chapter on lamps.", "What did we say of how it was?"]);
    note("lamp", &["The lamp was dim.", "Where did the fuse go?"]);
    let snapshot = Snapshot::open(&Vault::open(world.vault.root()).unwrap()).unwrap();
    let asked = |text: &str| {
        let query = Query::parse(text, &world.vault.now(&world.env)).unwrap();
        assert!(Search::new(&snapshot, &query, &SearchOptions::default()).hits().unwrap().is_empty(), "{text}");
        let found = any_word(&snapshot, &query, &SearchOptions::default()).unwrap();
        found.hits.iter().map(|hit| snapshot.session(hit.key).unwrap().id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(asked("What did we do about the leaking pump in the cellar?")[0], "pump");
    assert_eq!(asked("which valves were tightened for the lamp")[0], "pump");
    assert_eq!(asked("the of and zebra"), Vec::<String>::new());
}

/// What a query restricts holds for any of its words too, in brackets or joined by `or`.
#[test]
fn any_word_keeps_restrictions() {
    let world = World::new();
    let text = "---\ntype: session\nsession_id: pump\ntags: [cellar]\n---\n# Pump\n\n## Work\n\nThe pump leaks.\n";
    files::create(&world.vault.sessions_dir().join("pump.md"), text.as_bytes()).unwrap();
    let snapshot = Snapshot::open(&Vault::open(world.vault.root()).unwrap()).unwrap();
    let found = |text: &str| {
        let query = Query::parse(text, &world.vault.now(&world.env)).unwrap();
        any_word(&snapshot, &query, &SearchOptions::default()).unwrap().hits.len()
    };
    assert_eq!((found("pump zebra"), found("(pump zebra) valve"), found("tag:cellar pump zebra")), (1, 1, 1));
    assert_eq!((found("(tag:nope or tag:nada) pump zebra"), found("tag:nope pump zebra")), (0, 0));
    assert_eq!(found("pump zebra -tag:cellar"), 0);
}

/// A question in a script that writes no blanks finds the session by stretches of two characters. A session that holds one
/// common word of it is none.
#[test]
fn a_question_without_blanks_finds_its_session() {
    let world = World::new();
    let note = |name: &str, title: &str, words: &[&str]| {
        let steps: Vec<String> = words.iter().map(|words| format!("{words}\n")).collect();
        let text = format!("---\ntype: session\nsession_id: {name}\n---\n# {title}\n\n## Work\n\n{}", steps.join("\n"));
        files::create(&world.vault.sessions_dir().join(format!("{name}.md")), text.as_bytes()).unwrap();
    };
    note(
        "login",
        "Login",
        &["認証の失敗を直しました。", "The redirect of the login loops.", "The cookie was too old."],
    );
    note("build", "Build", &["ビルドを速くしました。", "The build is faster.", "We asked of the cookie once."]);
    note("words", "Words", &["A word or two.", "Nothing else."]);
    let snapshot = Snapshot::open(&Vault::open(world.vault.root()).unwrap()).unwrap();
    let asked = |text: &str| {
        let query = Query::parse(text, &world.vault.now(&world.env)).unwrap();
        let found = any_word(&snapshot, &query, &SearchOptions::default()).unwrap();
        found.hits.iter().map(|hit| snapshot.session(hit.key).unwrap().id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(asked("どうして認証が失敗したのか"), ["login"]);
    assert_eq!(asked("为什么构建"), Vec::<String>::new());
    assert_eq!(asked("why does the login redirect loop"), ["login"]);
    assert_eq!(asked("login redirect loops cookie")[0], "login");
}
