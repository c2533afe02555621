//! What a query means, what is wrong with one, and that nothing makes reading panic.

use std::fmt::Write as _;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;

fn now() -> Timestamp {
    "2026-11-20T12:30:00Z".parse().unwrap()
}

fn shown(node: &Node) -> String {
    let many = |nodes: &[Node], word: &str| nodes.iter().map(shown).collect::<Vec<_>>().join(word);
    match node {
        Node::All(nodes) => format!("({})", many(nodes, " & ")),
        Node::Any(nodes) => format!("({})", many(nodes, " | ")),
        Node::Not(node) => format!("!{}", shown(node)),
        Node::Words(words) => {
            let mark = if words.prefix { "*" } else { "" };
            let mark = if words.fuzzy { "~" } else { mark };
            if words.quoted { format!("“{}”{mark}", words.text) } else { format!("{}{mark}", words.text) }
        }
        Node::Field(it) => {
            let values = it.values.iter().map(|value| {
                let text = value.time.map_or_else(|| value.text.clone(), |time| time.to_string());
                if value.prefix { format!("{text}*") } else { text }
            });
            format!("{}={}", it.field.name(), values.collect::<Vec<_>>().join("/"))
        }
    }
}

fn read(text: &str) -> String {
    match Query::parse(text, now()) {
        Ok(query) => shown(&query.root),
        Err(trouble) => format!("{}\nhelp: {}", trouble.frame(text), trouble.help),
    }
}

#[test]
fn means() {
    let mut table = String::new();
    for text in [
        "auth",
        "auth login timeout",
        "auth OR login timeout",
        "auth AND (login OR timeout)",
        "auth -login NOT timeout",
        "NOT NOT auth",
        "NOT(auth login)",
        "-(auth login) -\"by heart\"",
        "\"exact phrase\" \"say \"\"hi\"\"\" \"open en\"*",
        "auth* tokne~ src/auth.rs fooBar error[E0308] main() (f(x))",
        "std::env https://example.org localhost:8080 warning: 10:30 --no-verify -> x",
        "agent:@coder channel:#dev status:active,paused is:failed tag:\"a, b\" file:\"my file.rs\" tool:mcp*",
        "after:7d before:2026-11-01 after:today",
        "AGENT:coder Status:failed",
        "and or not",
        "* foo",
    ] {
        writeln!(table, "{text}\n    {}", read(text)).unwrap();
    }
    insta::assert_snapshot!(table);
}

#[test]
fn troubles() {
    let mut table = String::new();
    for text in [
        "",
        "  ",
        "-> !!",
        "auth \"open",
        "()",
        "auth ( ) login",
        "(auth",
        "auth)",
        "auth AND",
        "OR auth",
        "auth OR AND login",
        "auth NOT",
        "a && b",
        "a || b",
        "staus:failed",
        "foo:bar",
        "status: failed",
        "after:someday auth",
        "größe \u{1b}[31m after:\"日本\"",
    ] {
        writeln!(table, "{text:?}\n{}\n", read(text)).unwrap();
    }
    insta::assert_snapshot!(table);
}

#[test]
fn depth_and_length_are_bounded() {
    assert!(read(&"(".repeat(100_000)).starts_with("too many brackets"));
    assert!(read(&"NOT ".repeat(100_000)).starts_with("nothing follows"));
    assert!(read(&"x ".repeat(100_000)).starts_with("more than 512 words"));
    let fits = format!("{}x{}", "(".repeat(60), ")".repeat(60));
    assert_eq!(read(&fits), "x");
}

#[test]
fn knows_what_is_about_sessions() {
    let about = |text: &str| Query::parse(text, now()).unwrap().root.is_about_sessions();
    assert!(about("status:failed"));
    assert!(about("NOT (tag:x OR is:active)"));
    assert!(!about("status:failed auth"));
    assert!(!about("is:failed"));
    assert!(!about("is:active,decision"));
}

proptest! {
    /// Any text is a tree or a trouble with a place in it.
    #[test]
    fn any_text(text in ".{0,80}") {
        check(&text);
    }

    /// Most of these are nearly right.
    #[test]
    fn nearly_queries(parts in prop::collection::vec(prop::sample::select(vec![
        "(", ")", "\"", "AND", "OR", "NOT", "-", " ", " ", "auth", "é日", "status:", "is:", "after:", "7d", "*", "~", ":", ",", "foo:",
    ]), 0..24)) {
        check(&parts.concat());
    }
}

fn check(text: &str) {
    match Query::parse(text, now()) {
        Ok(query) => {
            let span = query.root.span();
            assert!(text.get(span.range()).is_some());
            for part in query.parts() {
                assert!(!query.of(part).is_empty(), "{text:?}");
            }
            for words in query.words() {
                assert!(!crate::words::cut(&words.text).is_empty(), "{text:?}");
            }
        }
        Err(trouble) => {
            assert!(text.get(trouble.span.range()).is_some(), "{text:?} {trouble:?}");
            assert!(!trouble.frame(text).contains('\u{1b}'));
        }
    }
}
