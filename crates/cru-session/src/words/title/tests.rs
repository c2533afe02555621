//! Titles of prompts.

use super::super::list::QUANTIFIER;
use super::*;

fn text(prompt: &str) -> Option<String> {
    of(prompt).map(|title| title.text)
}

#[test]
fn marks_of_programs_are_no_words() {
    let prompt = "[[ ## user_query ## ]]\n\nReply with the marker of the station.";
    assert_eq!(text(prompt).as_deref(), Some("Reply with the marker of the station"));
    assert_eq!(unmarked(prompt), "Reply with the marker of the station.");
    assert_eq!(unmarked("[[ ## user_query ## ]]"), "[[ ## user_query ## ]]");
    assert_eq!(text("## User Input\n\n```text\nMend the pump\n```").as_deref(), Some("Mend the pump"));
}

#[test]
fn table_of_titles() {
    let rows: &[(&str, &str)] = &[
        ("fix the login bug", "Fix the login bug"),
        ("Hey Claude, can you please add a Github Action to run tests?", "Add a Github Action to run tests"),
        ("Implement the following plan:\n\n# Rotate signing keys\n\n## Problem", "Rotate signing keys"),
        ("please look at `src/auth/token.rs` and **fix** it", "Look at token.rs and fix it"),
        ("Compute 3**3 *now*, **not a*b**", "Compute 3**3 now, not a*b"),
        ("use the **--force flag** of **C++**, **.env** and **100%**", "Use the --force flag of C++, .env and 100%"),
        ("* *.tmp files are 2 * 3", "*.tmp files are 2 * 3"),
        ("Delete *.tmp below src/keys/* and (**old**) notes", "Delete *.tmp below src/keys/* and (old) notes"),
        ("Add tests for @src/cache.py and and/or logic", "Add tests for cache.py and and/or logic"),
        ("https://example.org/team/app/issues/7668 investigate this", "team/app#7668 investigate this"),
        ("see https://example.org/search?q=private+words for pumps", "See example.org/search for pumps"),
        ("Use version 1.2 of the pump. Then test. And more", "Use version 1.2 of the pump"),
        ("[a b.rs](/x/a%20b.rs) and [c_(d)](e_(f)) say no (yet)", "A b.rs and c_(d) say no (yet)"),
        (r"[g.lua](c:/Apps/rail(2001\)/g.lua) [h.lua](c:/h.lua) broadcast it", "g.lua h.lua broadcast it"),
        ("f[x](y and arr[0](z) differ", "f[x](y and arr[0](z) differ"),
        ("Hi.\nThe build fails on CI", "The build fails on CI"),
        ("[Image #1] what is this?", "What is this?"),
        ("<context>deploy the thing</context> now", "Deploy the thing now"),
        ("启动应用时确保环境变量已经设置。然后测试", "启动应用时确保环境变量已经设置"),
        ("/review src", "/review src"),
        ("ok", "Ok"),
        ("Never mind! But I'd like to ask you to add a test of the parser", "Add a test of the parser"),
        ("❯ is this legit?", "Is this legit?"),
        ("=== Step 6: Verify ===", "Step 6: Verify"),
        ("Do you think you could write a parser for the logs?", "Write a parser for the logs"),
        ("oh, do we have a merge conflict now?", "Do we have a merge conflict now?"),
        ("The tests fail. Repair the clock of the parser.", "The tests fail"),
        ("You are **ann**, a helper.\n\nMend the valve of the pump", "Mend the valve of the pump"),
        ("You are ann.\n\n## Context\n\nA cellar.\n\n## Task\n\nMend the pump for good", "Mend the pump for good"),
        ("➜ api git:(main) ✗ make\nmake: *** no rule;\nMend the rule of the Makefile", "Mend the rule of the Makefile"),
        ("kannst du bitte den Zähler im Keller reparieren?", "Den Zähler im Keller reparieren"),
        ("请修复登录页面", "修复登录页面"),
        ("why is this slow?", "Why is this slow?"),
    ];
    for (prompt, title) in rows {
        assert_eq!(text(prompt).as_deref(), Some(*title), "{prompt}");
    }
}

/// A title keeps what denies and what counts, in whatever language.
#[test]
fn table_of_negations_and_quantifiers() {
    let rows: &[(&str, &str)] = &[
        ("No tests should be deleted", "No tests should be deleted"),
        ("ok, no tests should be deleted", "Ok, no tests should be deleted"),
        ("please do not touch the docs of the pump", "Please do not touch the docs of the pump"),
        ("we should not display the file", "We should not display the file"),
        ("you must never push to main", "You must never push to main"),
        ("can you not log the secrets?", "Can you not log the secrets?"),
        ("Oh no, we lost the navigation", "Oh no, we lost the navigation"),
        ("Don't use the cache", "Don't use the cache"),
        ("all tests must pass", "All tests must pass"),
        ("ok now only the first test of the pump", "Only the first test of the pump"),
        ("just the docs, not the code of the pump", "Just the docs, not the code of the pump"),
        ("please remove every second line of the log", "Remove every second line of the log"),
        ("let's keep both parsers", "Keep both parsers"),
        ("bitte keine Tests löschen", "Bitte keine Tests löschen"),
        ("bitte alle Tests löschen", "Alle Tests löschen"),
        ("wir sollten nie die Tests löschen", "Wir sollten nie die Tests löschen"),
        ("ne supprime pas les tests", "Ne supprime pas les tests"),
        ("maintenant tous les tests doivent passer", "Tous les tests doivent passer"),
        ("por favor no borres las pruebas", "Por favor no borres las pruebas"),
        ("não apague os testes", "Não apague os testes"),
        ("per favore non cancellare i test", "Per favore non cancellare i test"),
        ("verwijder geen tests", "Verwijder geen tests"),
        ("nie usuwaj testów", "Nie usuwaj testów"),
        ("пожалуйста, не удаляй тесты", "Пожалуйста, не удаляй тесты"),
        ("请不要删除测试", "请不要删除测试"),
        ("请删除所有测试", "删除所有测试"),
        ("テストを削除しないでください", "テストを削除しないでください"),
    ];
    for (prompt, title) in rows {
        assert_eq!(text(prompt).as_deref(), Some(*title), "{prompt}");
    }
}

#[test]
fn what_names_nothing_tells_nothing() {
    for prompt in ["fix it", "find out why and fix them all", "ok", "what is this?", "do it again", "继续"] {
        assert!(of(prompt).is_some_and(|title| !title.tells), "{prompt}");
    }
    for prompt in ["fix the login bug", "Do NOT use a subagent", "why is the parser slow?", "修复登录页面"] {
        assert!(of(prompt).is_some_and(|title| title.tells), "{prompt}");
    }
    assert_eq!(
        text("Do NOT use a subagent. Read the manual of the pump").as_deref(),
        Some("Read the manual of the pump")
    );
}

#[test]
fn nothing_to_say() {
    for prompt in ["", " \n", "```\n```", "…", "[Image #1]"] {
        assert_eq!(of(prompt), None, "{prompt}");
    }
}

#[test]
fn long_ones_end_at_a_word() {
    let title =
        text("rework the whole of the storage layer so that every single write is durable and undoable").unwrap();
    assert_eq!(title, "Rework the whole of the storage layer so that every single write is durable and…");
    assert_eq!(text(&"x".repeat(100)).unwrap().chars().count(), MAX);
}

#[test]
fn commands() {
    assert_eq!(of_command("/review src"), "Command /review src");
    assert_eq!(of_command(""), "Command /");
}

proptest::proptest! {
    /// But for its capital and its mark, a title is the end of one sentence's beginning: nothing is turned or joined, and
    /// nothing that denies or counts was taken off.
    #[test]
    fn a_title_stands_in_its_prompt(
        words in proptest::collection::vec(
            "please|can you|no|not|all|only|we should|ok|don't|never|each|fix|pump|valve|the|hello|bitte|keine|请|不要|tests|\\.|\\?|,",
            1..24,
        ),
    ) {
        let prompt = words.join(" ");
        let Some(title) = of(&prompt) else { return Ok(()) };
        let kept = title.text.trim_end_matches('…').to_lowercase();
        let lower = prompt.to_lowercase();
        let dropped = |at: usize| {
            let last = sentences(&prompt[..at]).last().filter(|last| !last.trim_end().ends_with(['.', '?']));
            last.unwrap_or("").to_owned()
        };
        // The same words may stand in several places.
        let dropped: Vec<String> = lower.match_indices(&kept).map(|(at, _)| dropped(at)).collect();
        let is_kept = dropped.iter().any(|words| !NEGATION.is_in(words) && !QUANTIFIER.is_in(words));
        proptest::prop_assert!(is_kept, "{dropped:?} before {kept:?} of {prompt:?}");
    }
}
