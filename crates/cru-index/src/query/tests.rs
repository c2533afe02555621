//! What a query means, what is wrong with one, and that nothing makes reading panic.

use std::fmt::Write as _;

use jiff::Zoned;
use proptest::prelude::*;

use super::*;

fn now() -> Zoned {
    "2026-11-20T12:30:00Z[UTC]".parse().unwrap()
}

fn shown(node: &QueryNode) -> String {
    let many = |nodes: &[QueryNode], word: &str| nodes.iter().map(shown).collect::<Vec<_>>().join(word);
    match node {
        QueryNode::All(nodes) => format!("({})", many(nodes, " & ")),
        QueryNode::Any(nodes) => format!("({})", many(nodes, " | ")),
        QueryNode::Not(node) => format!("!{}", shown(node)),
        QueryNode::Words(words) => {
            let mark = if words.prefix { "*" } else { "" };
            let mark = if words.fuzzy { "~" } else { mark };
            if words.quoted { format!("“{}”{mark}", words.text) } else { format!("{}{mark}", words.text) }
        }
        QueryNode::Test(it) => {
            let name = match it.field {
                Field::Column(column) => format!("[{}]", column.name),
                field => format!("{field:?}").to_lowercase(),
            };
            let values = it.values.iter().map(|value| {
                let text = match &value.operand {
                    Operand::Text => value.text.clone(),
                    Operand::Time(from, to) if to.duration_since(*from).as_nanos() == 1 => from.to_string(),
                    Operand::Time(from, to) => format!("{from}–{to}"),
                    other => format!("{other:?}"),
                };
                if value.prefix { format!("{text}*") } else { text }
            });
            format!("{name}{}{}", it.op.sign(), values.collect::<Vec<_>>().join("/"))
        }
    }
}

fn read(text: &str) -> String {
    match Query::parse(text, &now()) {
        Ok(query) => shown(&query.root),
        Err(error) => format!("{}\nhelp: {}", error.frame(text), error.help),
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
        // Comparisons.
        "tokens>100000 cost_usd>=1 started>=2026-11 model~opus title!~\"two words\" branch=null exit=1",
        "tokens > 1e3 status != failed,paused model ~ opus subagent=no session_tokens<5",
        "tool=bash agent!=coder tag=auth session=s1 kind=step is!=failed",
        "path~'a b' title=\"say \\\"hi\\\"\"",
        "x=1 fn()->T i<10 a!=b Vec<String> status=>done steps>>1 model~ key=value errors::Kind",
        // Lower case: operators beside a field, words between words.
        "search and replace or not",
        "status=failed and panic",
        "panic or (not tag:x)",
        "(status=failed or tokens>5) and not (is:step or crash)",
        "not(tag:x) not(f) and(y)",
        "status:failed And Not tag:x",
    ] {
        writeln!(table, "{text}\n    {}", read(text)).unwrap();
    }
    insta::assert_snapshot!(table);
}

#[test]
fn errors() {
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
        "tokns>1000",
        "tokens~5",
        "tokens>many",
        "tokens=",
        "subagent=maybe",
        "after=7d",
        "file~src",
        "session:",
        "größe \u{1b}[31m after:\"日本\"",
    ] {
        writeln!(table, "{text:?}\n{}\n", read(text)).unwrap();
    }
    insta::assert_snapshot!(table);
}

#[test]
fn depth_and_length_are_bounded() {
    assert!(read(&"(".repeat(100_000)).starts_with("too many parentheses"));
    assert!(read(&"NOT ".repeat(100_000)).starts_with("nothing follows"));
    assert!(read(&"x ".repeat(100_000)).starts_with("more than 512 words"));
    let fits = format!("{}x{}", "(".repeat(60), ")".repeat(60));
    assert_eq!(read(&fits), "x");
}

#[test]
fn knows_what_is_about_sessions() {
    let about = |text: &str| Query::parse(text, &now()).unwrap().root.is_about_sessions();
    assert!(about("status:failed"));
    assert!(about("NOT (tag:x OR is:active)"));
    assert!(!about("status:failed auth"));
    assert!(!about("is:failed"));
    assert!(!about("is:active,decision"));
}

/// Each is read in a fraction of a second; with anything quadratic in it, minutes.
#[test]
fn long_queries_are_read_in_linear_time() {
    for part in
        ["(", "not(", "\"", "a ", "status=a and ", "tokens > ", "tag:'", "x:", "-(", "not ", "é", "~", "=(", "a<"]
    {
        let begun = std::time::Instant::now();
        check(&part.repeat(200_000));
        check(&format!("status=\"{}\"", part.repeat(200_000)));
        assert!(begun.elapsed().as_secs() < 10, "{part:?}");
    }
}

proptest! {
    /// Any text is a tree or a error with a place in it.
    #[test]
    fn any_text(text in ".{0,80}") {
        check(&text);
    }

    /// Most of these are nearly right.
    #[test]
    fn nearly_queries(parts in prop::collection::vec(prop::sample::select(vec![
        "(", ")", "\"", "AND", "OR", "NOT", "-", " ", " ", "auth", "é日", "status:", "is:", "after:", "7d", "*", "~", ":", ",", "foo:",
        "and", "or", "not", "not(", "tokens", "title", "=", "<", ">=", "!~", "'", "\\", "null", "5",
    ]), 0..24)) {
        check(&parts.concat());
    }
}

fn check(text: &str) {
    match Query::parse(text, &now()) {
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
        Err(error) => {
            assert!(text.get(error.span.range()).is_some(), "{text:?} {error:?}");
            assert!(!error.frame(text).contains('\u{1b}'));
        }
    }
}
