//! What must hold for any text.

use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use super::{inline, prose, quoted, split_quoted, uninline, unprose};
use cru_base::text;
use cru_note::{Block, BlockKind, InlineKind, Note};
use cru_testing::nasty;

fn cleaned(text: &str) -> String {
    text::sanitise(text).trim().to_owned()
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn check_blocks(note: &Note, blocks: &[Block]) -> Result<(), TestCaseError> {
    for block in blocks {
        let bad = match &block.kind {
            BlockKind::Heading { level, .. } => *level < 4,
            BlockKind::Callout { .. }
            | BlockKind::Html
            | BlockKind::Footnote
            | BlockKind::Comment { .. }
            | BlockKind::OrphanId
            | BlockKind::Opaque => true,
            _ => false,
        };
        prop_assert!(!bad, "{:?} {:?}", block.kind, block.content.of(note.text()));
        prop_assert!(block.id.is_none(), "id in {:?}", block.content.of(note.text()));
        check_blocks(note, &block.children)?;
    }
    Ok(())
}

fn check_inlines(note: &Note) -> Result<(), TestCaseError> {
    for inline in note.inlines() {
        let fine = matches!(inline.kind, InlineKind::Link { .. });
        prop_assert!(fine, "{:?} in {:?}", inline.kind, note.text());
    }
    Ok(())
}

/// What an editor or a plugin of it runs in a text, as a reader of markdown sees it.
fn run(text: &str) -> Vec<String> {
    let mut found: Vec<String> = text.match_indices("<%").map(|(at, _)| text[at..].chars().take(9).collect()).collect();
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                let name = info.split_whitespace().next().unwrap_or_default();
                let names = ["dataview", "dataviewjs", "query", "base", "tasks", "button", "mermaid", "js-engine"];
                found.extend(names.contains(&name.trim_matches(['{', '}', '.'])).then(|| name.to_owned()));
            }
            Event::Code(code) => {
                let calls = ["=", "$=", "INPUT[", "VIEW[", "[!!", "{{", "button-", "dice:"];
                found.extend(calls.iter().any(|call| code.trim().starts_with(call)).then(|| code.trim().to_owned()));
            }
            _ => {}
        }
    }
    found
}

#[test]
fn what_is_run_is_found() {
    for (text, runs) in [
        ("```dataviewjs\n", "dataviewjs"),
        ("> ```\n> ```\n> ~~~ query\n", "query"),
        ("- ```\n- ```dataviewjs\n", "dataviewjs"),
        ("> - ```\n> ```base\n", "base"),
        ("a `\n= this.x` b", "= this.x"),
        ("`` `\n> `$= a ``", ""),
        ("a <% b", "<% b"),
    ] {
        assert_eq!(run(text).concat(), runs, "{text}");
        assert_eq!(run(&super::inert(text, &[])), Vec::<String>::new(), "{text}");
    }
}

/// Pieces of what plugins run, between others.
fn active_text() -> impl Strategy<Value = String> {
    let pieces = [
        "```dataviewjs\n",
        "~~~ query\n",
        "````base\n",
        "```tasks\n",
        "> ```mermaid\n",
        "- ```button\n",
        "```js-engine x\n",
        "``` {dataviewjs}\n",
        "```",
        "\n",
        "\n\n",
        "`= this.x`",
        "`$= app`",
        "`` =a ` b ``",
        "` = x `",
        "`INPUT[a]`",
        "`",
        "<%* x %>",
        "<%",
        "<\\%",
        "a",
        " b ",
        "> ",
        "- ",
        "    ",
        "`ls`",
        "`<% x %>`",
        "`{{date}}`",
        "`button-a`",
        "%%",
        "\\",
        "[x](obsidian://a)",
        "key::v",
        "(k::v)",
        "```rust\n",
        "```\n",
        "> ```\n",
        "- ```\n",
        "1. ",
        "  ",
        "`\n= x",
    ];
    let piece = prop_oneof![proptest::sample::select(pieces.to_vec()).prop_map(str::to_owned), nasty()];
    proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn nothing_is_run(text in active_text()) {
        // What is written inline stands behind something.
        let behind = [format!("x {}", inline(&text)), format!("# {}", super::title(&text))];
        let alone = [prose(&text), quoted(&text, Some(&text)), super::inert(&text, &[])];
        for written in behind.into_iter().chain(alone) {
            prop_assert_eq!(run(&written), Vec::<String>::new(), "{}", written);
        }
        prop_assert_eq!(unprose(&prose(&text)), cleaned(&text));
        let once = super::inert(&text, &[]);
        prop_assert_eq!(super::inert(&once, &[]), once);
    }
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn prose_comes_back(text in nasty()) {
        let written = prose(&text);
        prop_assert_eq!(unprose(&written), cleaned(&text), "{}", written);
    }

    #[test]
    fn a_line_comes_back(text in nasty()) {
        let written = inline(&text);
        prop_assert_eq!(uninline(&written), text::fold_whitespace(&text::sanitise(&text)), "{}", written);
    }

    #[test]
    fn words_come_back(words in nasty(), interpreted in nasty(), field in any::<bool>()) {
        let field = if field { "\nAt: 2026-11-20T09:31:04Z" } else { "" };
        let written = format!("{}{field}", quoted(&words, Some(&interpreted)));
        let read = split_quoted(&written);
        prop_assert_eq!(read.words, cleaned(&words), "{}", written);
        prop_assert_eq!(read.interpretation.unwrap_or_default(), text::fold_whitespace(&text::sanitise(&interpreted)), "{}", written);
        prop_assert_eq!(read.rest, field.trim());
    }

    #[test]
    fn prose_opens_nothing(text in nasty()) {
        let note = Note::parse(format!("{}\n\n**Tool calls:**\n- `x`\n", prose(&text)));
        check_blocks(&note, note.blocks())?;
        check_inlines(&note)?;
        let last = note.blocks().last().map(|block| block.content.of(note.text()));
        prop_assert_eq!(last, Some("- `x`"), "{}", note.text());
    }

    #[test]
    fn words_open_nothing(text in nasty()) {
        let body = quoted(&text, None);
        let note = Note::parse(format!("> [!user]\n> {}\n\nafter\n", body.replace('\n', "\n> ")));
        let kinds: Vec<_> = note.blocks().iter().filter(|block| !matches!(block.kind, BlockKind::Blank)).collect();
        prop_assert_eq!(kinds.len(), 2, "{}", note.text());
        check_blocks(&note, &kinds[0].children)?;
        check_inlines(&note)?;
    }

    #[test]
    fn undoing_is_total(text in nasty()) {
        let _ = (unprose(&text), uninline(&text), split_quoted(&text));
    }
}

#[test]
fn ordinary_markdown_stays() {
    for text in [
        "Plain words, **bold**, *it*, `code [[x]] #y`, a [link](http://x.y/#z) and issue #12.",
        "- one\n- two\n    - nested\n\n1. first\n2. second",
        "Run this:\n\n```sh\n# not a heading\n[[ -f x ]] && echo %% ^id\n```\n\nThen go on.",
        "1. Do it:\n   ```rust\n   #[test]\n   fn a() {}\n   ```\n2. Done",
        "| a | b |\n|---|---|\n| 1 | `x` |",
        "> quoted words\n> more\n\n---\n\n***",
        "- [ ] open\n- [x] done",
        "So:\n\n    indented # code [[x]]",
        "`a | b` and `ps aux | grep x`",
        "\"quoted\" - dash, std::io, 50 %, a < b, x^2, C#, user@example.org",
    ] {
        assert_eq!(prose(text), text.trim());
    }
}

#[test]
fn headings_go_below_the_third_level() {
    let written = prose("# One\n## Two\n### Three\n#### Four\n### x ###");
    insta::assert_snapshot!(written, @r"
    #### One
    ##### Two
    ###### Three
    ###### Four ####
    ###### x ### ###
    ");
}

#[test]
fn structure_becomes_text() {
    let text = "> [!error] no\n\ntext ^n-001\n%%hidden%% [[link]] ![[embed]] #tag key:: v\n<!-- x -->\nTitle\n---\n\
                **Tool calls:**\n- `Bash ls` → ok\n- `a` stays\n\n```tasks\n[]\n```\n[x]: y\n*2026-11-20T09:31:04Z*";
    insta::assert_snapshot!(prose(text), @r"
    > \[!error] no

    text \^n-001
    \%\%hidden\%\% \[[link]] !\[[embed]] \#tag key\:: v
    \<!-- x -->
    Title
    \---
    \*\*Tool calls:**
    - `Bash ls` \→ ok
    - `a` stays

    ```\tasks
    []
    ```
    \[x]: y
    \*2026-11-20T09:31:04Z*
    ");
}

#[test]
fn fences_are_closed() {
    assert_eq!(prose("```sh\nls"), "```sh\nls\n````");
    assert_eq!(unprose("```sh\nls\n````"), "```sh\nls");
    assert_eq!(prose("```\nls\n````"), "```\nls\n`````");
    assert_eq!(prose("a\n~~~\n``` x"), "a\n~~~\n``` x\n~~~~");
}

#[test]
fn words_in_quotes() {
    let shown = |words: &str| quoted(words, Some("done"));
    assert_eq!(shown("don't"), "\"don't\" - done");
    assert_eq!(shown("say \"hi\" to me"), "\"say \"hi\" to me\" - done");
    assert_eq!(shown("he said \"no\" - twice"), "\"he said \"no\\\" - twice\" - done");
    assert_eq!(shown("this:\n```\nx\n```"), "\"this:\n```\nx\n```\n\" - done");
    assert_eq!(shown("- a\n- b"), "\"\n- a\n- b\n\n\" - done");
}

#[test]
fn words_by_hand() {
    let read = |body: &str| {
        let read = split_quoted(body);
        (read.words, read.interpretation.unwrap_or_default())
    };
    let is = |words: &str, interpreted: &str| (words.to_owned(), interpreted.to_owned());
    assert_eq!(read("\"don't\" - switched to \"x\""), is("don't", "switched to \"x\""));
    assert_eq!(read("\"a\" (twice) - b - c"), is("a", "c"));
    assert_eq!(read("no quotes at all"), is("no quotes at all", ""));
    assert_eq!(read("\"open"), is("\"open", ""));
    assert_eq!(read("\"two\nlines\" -\nwrapped interpreted"), is("two\nlines", "wrapped interpreted"));
}

#[test]
fn long_hostile_texts_come_back() {
    for piece in [
        "`", "``` x\n", "- ", "> ", "1. ", "[[", "%", "\\", "\\[", "\"", "#1 ", "<", "| `a|b` ", "- ```\n", "\t- ",
        "[x]: ", "^a ",
    ] {
        let text = piece.repeat(20_000);
        let written = prose(&text);
        assert_eq!(unprose(&written), cleaned(&text), "{piece:?}");
        assert!(written.len() <= 3 * text.len() + 16, "{piece:?}");
        assert_eq!(split_quoted(&quoted(&text, None)).words, cleaned(&text), "{piece:?}");
    }
}

#[test]
fn images_from_elsewhere_are_text() {
    for (text, want) in [
        ("![x](https://host.org/a.png)", "\\![x](https://host.org/a.png)"),
        ("a ![](//host.org/a.png) b", "a \\![](//host.org/a.png) b"),
        ("![x]( http://host.org)", "\\![x]( http://host.org)"),
        ("![x](https&colon;//host.org)", "\\![x\\](https&colon;//host.org)"),
        ("![x](data:image/svg+xml;base64,aGk=)", "\\![x\\](data:image/svg+xml;base64,aGk=)"),
        ("![a [b](c) d](https://host.org)", "\\![a [b](c) d](https://host.org)"),
        ("![x](\nhttps://host.org)", "\\![x\\](\nhttps://host.org)"),
        ("![x\ny](https://host.org)", "\\![x\ny](https://host.org)"),
        ("\\![x](https://host.org)", "\\\\\\![x](https://host.org)"),
        ("![[https://host.org]]", "!\\[[https://host.org]]"),
        ("<img src=https://host.org/a.png>", "\\<img src=https://host.org/a.png>"),
        ("<iframe src=\"https://host.org\">", "\\<iframe src=\"https://host.org\">"),
    ] {
        assert_eq!(prose(text), want);
        assert_eq!(unprose(want), text);
    }
    for text in
        ["![x](img/a.png)", "`![x](https://host.org)`", "[x](https://host.org)", "wow![1]", "vec![1, 2]", "a != b"]
    {
        assert_eq!(prose(text), text);
    }
}
