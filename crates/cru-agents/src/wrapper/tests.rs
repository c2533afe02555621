//! Wrappers of the hosts, by example.

use proptest::prelude::*;

use super::*;

#[test]
fn whole_texts() {
    let rows: &[(&str, &str, Option<Means>)] = &[
        ("claude", "<agent-notification>\n<agent-id>a</agent-id>\n</agent-notification>", Some(Means::Notice)),
        (
            "claude",
            "Another Claude session sent a message:\n<teammate-message teammate_id=\"x\">hi",
            Some(Means::Agent),
        ),
        ("claude", "<teammate-message teammate_id=\"x\">hi</teammate-message>", Some(Means::Agent)),
        ("claude", "Implement the following plan:\n\n# P\n", None),
        (
            "claude",
            "Implement the following plan:\n\n# P\n\nIf you need specific details from before exiting plan mode (…), read it",
            Some(Means::Plan),
        ),
        ("claude", "<tickets> are what I mean", None),
        ("codex", "<permissions instructions>\nx\n</permissions instructions>", Some(Means::Host)),
        ("codex", "<skill> is what I mean", None),
        ("codex", "<agent-notification>", None),
        ("gemini", "<session_context>\nx", Some(Means::Host)),
        ("pi", "A new session was started via /new or /reset. Run it.", Some(Means::Host)),
    ];
    for (agent, text, wanted) in rows {
        assert_eq!(means(agent, text), *wanted, "{text}");
    }
}

#[test]
fn words_in_their_wrappers() {
    let steering =
        "User steering update:\n<user_input>\nuse tabs\n</user_input>\nInternal instruction: Re-evaluate the plan.";
    let meta = "Conversation info (untrusted metadata):\n```json\n{\n  \"sender\": \"1\"\n}\n```\n\nSender (untrusted metadata):\n```json\n{}\n```\n\n";
    let rows: &[(&str, String, &str)] = &[
        ("gemini", steering.to_owned(), "use tabs"),
        ("gemini", "what is <user_input>x</user_input>?".to_owned(), "what is <user_input>x</user_input>?"),
        ("gemini", "look @a.rs\n--- Content from referenced files ---\nfn a() {}".to_owned(), "look @a.rs"),
        ("pi", format!("{meta}Check it.\n[message_id: 77]"), "Check it."),
        ("pi", format!("{meta}[Sun 2026-04-19 00:33 GMT+8] and now?"), "and now?"),
        ("pi", format!("[Wed 2026-03-11 23:51 PDT] {meta}and now?"), "and now?"),
        ("pi", "System: [2026-01-02 10:00:00] Node: up\nSystem: [2026-01-02] x\n\nhello".to_owned(), "hello"),
        ("pi", "[Telegram Mia id:1 2026-01-05 10:30 UTC] hello".to_owned(), "hello"),
        ("pi", "[1] he said (untrusted metadata): and left".to_owned(), "[1] he said (untrusted metadata): and left"),
        ("pi", "[see 2026-01-05] hello".to_owned(), "[see 2026-01-05] hello"),
        ("droid", "a<system-reminder>b</system-reminder>c".to_owned(), "ac"),
        ("claude", "what is <system-reminder>?".to_owned(), "what is <system-reminder>?"),
        (
            "cursor",
            "<user_info>x</user_info>\n<user_query>a</user_query>\n<user_query>b</user_query>".to_owned(),
            "a\n\nb",
        ),
    ];
    for (agent, text, wanted) in rows {
        assert_eq!(own_words(agent, text), *wanted, "{text}");
    }
}

#[test]
fn tags_within_words_are_words() {
    let own = |text: &'static str| own_words("cline", text).into_owned();
    assert_eq!(own("<task>Why is <feedback>no</feedback> there?</task>"), "Why is <feedback>no</feedback> there?");
    assert_eq!(own("<user_message>Use <answer> & <b>x</b></user_message>"), "Use <answer> & <b>x</b>");
    assert_eq!(own("<feedback>one</feedback>\n<answer>two</answer><feedback>three"), "one\n\ntwo\n\nthree");
}

#[test]
fn ends_of_answers() {
    let text = "Two findings.\nagentId: a12 (for resuming to continue this agent's work if needed)\n<usage>total_tokens: 1\ntool_uses: 2</usage>";
    assert_eq!(answer("claude", text, true), "Two findings.");
    assert_eq!(answer("claude", "text\n<system-reminder>a</system-reminder>\n", false), "text");
    assert_eq!(answer("claude", "</usage>", true), "</usage>");
    assert_eq!(answer("codex", text, true), text);
    assert_eq!(answer("claude", text, false), text);
    assert_eq!(reply("pi", "[[reply_to_current]] Yes."), "Yes.");
    assert_eq!(reply("pi", "[[reply_to: 12]] Yes."), "Yes.");
    assert_eq!(reply("pi", "[[link]] Yes."), "[[link]] Yes.");
}

proptest! {
    #[test]
    fn total_and_never_longer(
        agent in prop::sample::select(crate::IMPORTERS.iter().map(|importer| importer.id).collect::<Vec<_>>()),
        parts in prop::collection::vec(prop::sample::select(vec![
            "<user_query>", "</user_query>", "<system-reminder>", "</system-reminder>", "<usage>", "</usage>", "\n", "```",
            "```json\n", "\n```\n", " (untrusted metadata):", "[", "]", "2026-01-02 10:00 UTC", "System: [", "é", "word ",
            "<rules ", "</rules>", "agentId: ", "[message_id: 1]", "User hints:", "<user_input>", "<", ">", "/",
        ]), 0..24),
    ) {
        let text: String = parts.concat();
        prop_assert!(own_words(agent, &text).len() <= text.len() + 2 * parts.len());
        prop_assert!(text.starts_with(answer(agent, &text, true)));
        prop_assert!(text.ends_with(reply(agent, &text)));
        means(agent, &text);
    }
}

#[test]
fn a_path_or_a_sentence_is_no_command() {
    for words in [
        "/review src",
        "/review the changes of today",
        "/gsd:quick",
        "/clear",
        "/model opus",
        "/compact keep the names",
    ] {
        assert!(is_command("cline", words), "{words}");
    }
    for words in
        ["/", "/home/mia is full", "/2 of them failed", "/login page is broken", "/status, please", "fix /login"]
    {
        assert!(!is_command("cline", words), "{words}");
    }
}
