use proptest::prelude::*;

use super::*;
use cru_note::hidden;
use cru_session::{Public, read};

const NOTE: &str = r#"---
type: session
session_id: 2026-11-20-example
title: Fix the "login"
subagents:
  - session: "[[helper-note]]"
    agent: helper@1
mykey: own-value
---
# Fix the login

A preface. %%private prefacesecret%%

## Research @coder@2.0 #dev
*2026-11-20T09:31:04Z* ^p-01

**Tool calls:**
- `Read src/auth.rs` → 412 lines (09:31:10Z) ^n-001
  - reads: [[src/auth.rs]]
  - note: nestedword
- `Bash cargo test` → ✗ 2 failed ^n-002

%%
blockremark
%%

> [!decision]- Short tokens
> Why: limits a leak. %%private decisionsecret%%
> > [!note] nestedcallout

^d-01

> [!error] Flaky clock
> Resolution: inject a clock

> [!user] Correction
> "no, like this"

> [!subagent] @reviewer@1.0 (model-x)
> mode: inline
> Task: look at innertask
>
> - `Grep needle` → 3 places
> > [!error] innererror
>
> innerprose

```yaml memory
goal: memoryword
```

```tasks
[{"id": "T-1", "content": "a\ntaskword", "status": "pending"}]
```

| a | tableword |
|---|---|
| b | c |

<!-- htmlword -->

[label]: https://example.org/definitionword

### Deeper
#### Four fourword
[^1]: footnoteword
"#;

fn entries(text: &str) -> Vec<Entry> {
    let note = Note::parse(text);
    let session = read::content(&note);
    Entry::all(&note, &session)
}

fn shown(entries: &[Entry]) -> String {
    let line = |entry: &Entry| {
        let text = entry.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let facts = [&entry.agent, &entry.channel, &entry.tool].map(|fact| fact.as_deref().unwrap_or("-"));
        let time = entry.time.map(|time| time.strftime("%H:%M:%S").to_string()).unwrap_or_default();
        format!(
            "{} {} {:?} {:?} {time} {} | {text}",
            entry.kind,
            facts.join(" "),
            entry.files,
            entry.is,
            entry.span.start
        )
    };
    entries.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_a_note_says_is_in_its_entries() {
    insta::assert_snapshot!(shown(&entries(NOTE)));
}

#[test]
fn each_word_is_in_exactly_one() {
    let entries = entries(NOTE);
    for word in [
        "2026-11-20-example",
        "own-value",
        "helper",
        "preface",
        "412",
        "nestedword",
        "001",
        "limits",
        "nestedcallout",
        "d-01",
        "Flaky",
        "innertask",
        "needle",
        "innererror",
        "innerprose",
        "memoryword",
        "taskword",
        "tableword",
        "htmlword",
        "definitionword",
        "Deeper",
        "fourword",
        "footnoteword",
        "p-01",
        "reviewer",
    ] {
        let found: Vec<&Entry> = entries.iter().filter(|entry| entry.text.contains(word)).collect();
        let enough = match word {
            "helper" | "taskword" => found.len() == 1,
            _ => found.len() == 1 && found[0].span.of(NOTE).contains(word),
        };
        assert!(enough, "{word}: {found:?}");
    }
    for word in ["prefacesecret", "blockremark", "decisionsecret", "Tool calls"] {
        assert!(entries.iter().all(|entry| !entry.text.contains(word)), "{word}");
    }
}

#[test]
fn the_hash_is_of_all() {
    let entry = Entry { text: "a".to_owned(), ..Entry::default() };
    let others = [
        Entry { kind: "a".to_owned(), ..Entry::default() },
        Entry { agent: Some("a".to_owned()), ..entry.clone() },
        Entry { channel: Some("a".to_owned()), ..entry.clone() },
        Entry { tool: Some(String::new()), ..entry.clone() },
        Entry { files: vec!["a".to_owned()], ..entry.clone() },
        Entry { is: vec!["failed"], ..entry.clone() },
        Entry { span: Span::new(0, 1), ..entry.clone() },
        Entry { time: Some(Timestamp::from_second(1).unwrap()), ..entry.clone() },
        Entry { evidence: Some(1), ..entry.clone() },
        Entry { source: Some(String::new()), ..entry.clone() },
    ];
    let hashes: std::collections::HashSet<u64> = others.iter().chain([&entry]).map(Entry::hash).collect();
    assert_eq!(hashes.len(), others.len() + 1);
    assert_eq!(entry.hash(), entry.clone().hash());
}

#[test]
fn broken_frontmatter_and_escapes_are_found() {
    let text = |yaml: &str| entries(&format!("---\n{yaml}---\n"))[0].text.clone();
    assert!(text("type: session\ntitle: [oops\n").contains("oops"));
    assert!(text("type: session\ntitle: \"caf\\u00e9\"\n").contains("café"));
    assert!(!text("type: session\nsession_id: x\n").contains("session_id"));
}

/// Lines of which a note may be made; `W` becomes a word of its own.
const LINES: &[&str] = &[
    "",
    "",
    "# W",
    "## W @a@1 #c",
    "*2026-11-20T09:31:04Z* W ^p-01",
    "### W",
    "#### W",
    "**Tool calls:**",
    "- `Read W` → W ^n-001",
    "  - reads: W",
    "  ```",
    "- W",
    "1. W",
    "> [!decision]- W",
    "> Why: W",
    "> [!subagent] @W",
    "> mode: inline",
    "> - `Grep W` → W",
    "> > [!error] W",
    "> [!note] W %%private W",
    "> W%% W",
    "> > W %%private W",
    "> W",
    "> ",
    "^d-W",
    "```tasks",
    "```yaml memory",
    "```",
    "[{\"content\": \"W\\nW\"}]",
    "**Inputs**: W",
    "%%",
    "%%private W",
    "W %%W%% W",
    "`%%` W",
    "| W | W |",
    "|---|---|",
    "<!-- W -->",
    "<div>W",
    "[W]: W",
    "[^1]: W",
    "    W",
    "W",
    "---",
    "全W",
];

fn note() -> impl Strategy<Value = (String, usize)> {
    proptest::collection::vec(proptest::sample::select(LINES), 0..30).prop_map(|lines| {
        let mut count = 0;
        let mut text = "---\ntype: session\n---\n".to_owned();
        for part in lines.join("\n").split_inclusive('W') {
            text.push_str(part.strip_suffix('W').unwrap_or(part));
            if part.ends_with('W') {
                text.push_str(&format!("w{count}q"));
                count += 1;
            }
        }
        (text, count)
    })
}

proptest! {
    #[test]
    fn blanked_text_is_as_long_and_has_the_same_lines((text, count) in note()) {
        let parsed = Note::parse(text.as_str());
        let (blanked, hidden) = (Public::of(&parsed).blanked(), hidden::comments(&parsed));
        prop_assert_eq!(blanked.len(), text.len());
        let lines = |text: &str| text.match_indices('\n').map(|(at, _)| at).collect::<Vec<_>>();
        prop_assert_eq!(lines(&blanked), lines(&text));
        for word in (0..count).map(|number| format!("w{number}q")) {
            let at = text.find(&word).unwrap();
            let is_hidden = hidden.iter().any(|comment| comment.contains(at));
            prop_assert_eq!(blanked.contains(&word), !is_hidden, "{}", word);
        }
    }

    #[test]
    fn nothing_is_left_out_and_no_comment_is_in((text, count) in note()) {
        let parsed = Note::parse(text.as_str());
        let entries = Entry::all(&parsed, &read::content(&parsed));
        let hidden = hidden::comments(&parsed);
        for word in (0..count).map(|number| format!("w{number}q")) {
            let at = text.find(&word).unwrap();
            let found: Vec<&Entry> = entries.iter().filter(|entry| entry.text.contains(&word)).collect();
            if hidden.iter().any(|comment| comment.contains(at)) {
                prop_assert!(found.is_empty(), "{word} of a comment in {found:?}");
            } else {
                prop_assert_eq!(found.len(), 1, "{} in {:?}", word, found);
                prop_assert!(found[0].span.contains(at), "{word} at {at} in {:?}", found[0]);
            }
        }
    }
}
