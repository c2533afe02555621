//! The shape of notes as text, and what must hold for any bytes.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use cru_base::Span;

/// The tree of a note, a line for each block: kind, content, id.
fn outline(text: &str) -> String {
    let note = Note::parse(text);
    check(&note).expect("the ranges are sound");
    let mut out = String::new();
    for block in note.blocks() {
        write_block(&note, block, 0, &mut out);
    }
    for diagnostic in note.diagnostics() {
        writeln!(out, "! {}", diagnostic.code).expect("a string");
    }
    out
}

fn write_block(note: &Note, block: &Block, depth: usize, out: &mut String) {
    let text = note.text();
    let of = |span: Span| format!("{:?}", span.of(text));
    let what = match &block.kind {
        BlockKind::Heading { level, text } => format!("h{level} {}", of(*text)),
        BlockKind::Paragraph => format!("p {}", of(block.content)),
        BlockKind::List { ordered: false } => "ul".into(),
        BlockKind::List { ordered: true } => "ol".into(),
        BlockKind::ListItem { text, task: None } => format!("li {}", of(*text)),
        BlockKind::ListItem { text, task: Some(task) } => format!("li [{task}] {}", of(*text)),
        BlockKind::Callout { kind, metadata, fold, title, body } => {
            let fold = fold.map_or(String::new(), |fold| fold.to_string());
            let metadata = metadata.map_or(String::new(), |metadata| format!("|{}", metadata.of(text)));
            format!("callout {}{metadata}{fold} {} body {}", kind.of(text), of(*title), of(*body))
        }
        BlockKind::Quote => format!("quote {}", of(block.content)),
        BlockKind::Fence { info, body, closed } => format!("fence {} {} {closed}", of(*info), of(*body)),
        BlockKind::Code => format!("code {}", of(block.content)),
        BlockKind::Table => format!("table {}", of(block.content)),
        BlockKind::Html => format!("html {}", of(block.content)),
        BlockKind::Rule => "rule".into(),
        BlockKind::Comment { private } => {
            format!("comment {}{}", if *private { "private " } else { "" }, of(block.content))
        }
        BlockKind::Footnote => format!("footnote {}", of(block.content)),
        BlockKind::OrphanId => "orphan".into(),
        BlockKind::Opaque => "opaque".into(),
        BlockKind::Definition => format!("definition {}", of(block.content)),
        BlockKind::Blank => "blank".into(),
    };
    let id = note.id(block).map_or(String::new(), |id| format!(" ^{id}"));
    writeln!(out, "{:depth$}{what}{id}", "", depth = depth * 2).expect("a string");
    for child in &block.children {
        write_block(note, child, depth + 1, out);
    }
}

/// What must hold for every note: frontmatter and blocks cover the file, children lie in order inside their parents, and
/// every range fits the text.
pub(crate) fn check(note: &Note) -> Result<(), String> {
    let text = note.text();
    if note.bytes().len() != text.len() {
        return Err("text and bytes differ in length".into());
    }
    let mut joined = note.split().body_start;
    for block in note.blocks() {
        if block.span.start != joined || block.span.is_empty() {
            return Err(format!("gap or overlap at {joined}: {block:?}"));
        }
        joined = block.span.end;
        check_block(text, block)?;
    }
    if joined != text.len() {
        return Err(format!("the blocks end at {joined} of {}", text.len()));
    }
    let mut last = 0;
    for inline in note.inlines() {
        fits(text, inline.span, Span::new(last, text.len()), "inline")?;
        last = inline.span.start;
        match inline.kind {
            InlineKind::Wikilink { inner, .. } => fits(text, inner, inline.span, "inner")?,
            InlineKind::Tag(name) => fits(text, name, inline.span, "tag")?,
            InlineKind::Field { key, value } => {
                fits(text, key, inline.span, "key")?;
                fits(text, value, inline.span, "value")?;
            }
            InlineKind::Link { .. } | InlineKind::Comment { .. } => {}
        }
    }
    Ok(())
}

fn check_block(text: &str, block: &Block) -> Result<(), String> {
    fits(text, block.content, block.span, "content")?;
    if let Some(id) = block.id {
        fits(text, id, block.span, "id")?;
    }
    let parts: &[Span] = match &block.kind {
        BlockKind::Heading { text, .. } | BlockKind::ListItem { text, .. } => &[*text],
        BlockKind::Callout { kind, title, body, .. } => &[*kind, *title, *body],
        BlockKind::Fence { info, body, .. } => &[*info, *body],
        _ => &[],
    };
    for part in parts {
        fits(text, *part, block.span, "part")?;
    }
    let mut end = block.span.start;
    for child in &block.children {
        fits(text, child.span, Span::new(end, block.span.end), "child")?;
        end = child.span.end;
        check_block(text, child)?;
    }
    Ok(())
}

fn fits(text: &str, span: Span, outer: Span, what: &str) -> Result<(), String> {
    if outer.encloses(span) && text.get(span.range()).is_some() {
        return Ok(());
    }
    Err(format!("{what} {span:?} is not inside {outer:?}"))
}

#[test]
fn headings_and_ids() {
    insta::assert_snapshot!(outline("# Title\n\n## Research @planner@1.2 #dev\n\n*2026* ^p-01\n\nSetext ^s\n===\n"), @r#"
    h1 "Title"
    h2 "Research @planner@1.2 #dev"
    p "*2026* ^p-01" ^p-01
    h1 "Setext" ^s
    "#);
}

#[test]
fn step_lists() {
    insta::assert_snapshot!(outline("- `Read a` → ok ^n-001\n    - reads: `a@9f`\n- [/] x ^n-002\n  lazy\n\n  more ^z\n1. b\n"), @r#"
    ul
      li "`Read a` → ok" ^n-001
        p "`Read a` → ok ^n-001"
        ul
          li "reads: `a@9f`"
            p "reads: `a@9f`"
      li [/] "x" ^n-002
        p "x ^n-002\n  lazy"
        p "more ^z" ^z
    ol
      li "b"
        p "b"
    "#);
}

#[test]
fn callouts() {
    insta::assert_snapshot!(outline("> [!decision]- Short **x**\n> a\n>\n> > [!my-kind|wide]\n> > | a |\n> > |---|\n> > | b |\n\n^d-1\n\n> [!user]\n\n> plain\n> [!note] not first\n"), @r#"
    callout decision- "Short **x**" body "> a\n>\n> > [!my-kind|wide]\n> > | a |\n> > |---|\n> > | b |" ^d-1
      p "a"
      callout my-kind|wide "" body "> > | a |\n> > |---|\n> > | b |"
        table "| a |\n> > |---|\n> > | b |"
    callout user "" body ""
    quote "> plain\n> [!note] not first"
      p "plain\n> [!note] not first"
    "#);
}

#[test]
fn fences_tables_html() {
    insta::assert_snapshot!(outline("```rs x\na\n```\n^f\n\n~~~\nopen\n\n"), @r#"
    fence "rs x" "a\n" true ^f
    fence "" "open" false
    "#);
    insta::assert_snapshot!(outline("| a |\n|---|\n| [[x\\|y]] |\n^t-1\n\n<!-- x -->\n\n---\n\n    code\n\n[a]: http://x\n[^1]: note\n"), @r#"
    table "| a |\n|---|\n| [[x\\|y]] |" ^t-1
    html "<!-- x -->"
    rule
    code "code"
    definition "[a]: http://x"
    footnote "[^1]: note"
      p "note"
    "#);
}

#[test]
fn comments() {
    insta::assert_snapshot!(outline("%%private a\n\n# hidden\n%%tail\n\n%% one line %%\ntext %%inline%% more\n%% open\n# not a heading\n"), @r#"
    comment private "%%private a\n\n# hidden\n%%"
    p "tail"
    comment "%% one line %%"
    p "text %%inline%% more"
    comment "%% open\n# not a heading"
    ! comment-unclosed
    "#);
    insta::assert_snapshot!(outline("```\n%%time\n```\n\n> %%\n> a\n> %% tail\n> b\n\n- x\n  %%\n  # y\n  %%\n- z\n"), @r#"
    fence "" "%%time\n" true
    quote "> %%\n> a\n> %% tail\n> b"
      comment "%%\n> a\n> %% tail"
      p "b"
    ul
      li "x"
        p "x"
        comment "%%\n  # y\n  %%"
      li "z"
        p "z"
    ! comment-tail
    "#);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let note = Note::parse(bytes.clone());
        prop_assert_eq!(note.bytes(), &bytes[..]);
        prop_assert_eq!(check(&note), Ok(()));
    }

    #[test]
    fn any_markdown(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..60)) {
        let text = tokens.concat();
        let note = Note::parse(text.as_str());
        prop_assert_eq!(check(&note), Ok(()), "{:?}", text);
        for block in note.blocks() {
            let _ = note.unquoted(block);
        }
    }
}

const TOKENS: &[&str] = &[
    "\n",
    "\n",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    " ",
    "  ",
    "    ",
    "\t",
    "> ",
    ">",
    "> ",
    "- ",
    "* ",
    "+ ",
    "1. ",
    "12) ",
    "# ",
    "## ",
    "===\n",
    "---\n",
    "***",
    "```",
    "~~~",
    "````rs\n",
    "`",
    "``",
    "[!note]",
    "[!x|y]- t",
    "[",
    "]",
    "[[",
    "]]",
    "![[a#^b|c]]",
    "(",
    ")",
    "](x)",
    "[a]: b\n",
    "[^1]: ",
    "[^1]",
    "|",
    "|---|",
    "| a |",
    "\\",
    "\\|",
    "<",
    ">",
    "<!--",
    "-->",
    "<div>",
    "</div>",
    "<script>",
    "<a b=\"c\">",
    "&amp;",
    "%%",
    "%%private ",
    " ^id",
    "^n-1\n",
    "^",
    "#tag",
    "@a",
    "key:: v",
    "::",
    "[k:: v]",
    "(k:: v)",
    "a",
    "word",
    "é",
    "日本",
    "👩‍👩‍👧",
    "\0",
    "\u{feff}",
    "\u{202e}",
    "\u{c}",
    "\u{b}",
    "\u{a0}",
    "\u{2028}",
    "*",
    "_",
    "~~",
    "$",
    "[ ] ",
    "[x] ",
    "---\na: b\n---\n",
    "http://x.y",
];

/// The largest depth of containers that the markdown parser reaches, and the number of its events.
fn work(text: &str) -> (usize, usize) {
    let body = split_start(text);
    let scan = prescan::scan(text, body);
    let view = scan.view.as_deref().unwrap_or(&text[body..]);
    assert_eq!(view.len(), text.len() - body);
    builder::work(view)
}

fn split_start(text: &str) -> usize {
    frontmatter::split(text).body_start
}

#[test]
fn hostile_texts_are_read_with_bounded_work() {
    for ((name, small), (_, large)) in hostile::texts(15_000).into_iter().zip(hostile::texts(30_000)) {
        let note = Note::parse(small.as_str());
        assert_eq!(check(&note), Ok(()), "{name}");
        let (depth, small_events) = work(&small);
        let (large_depth, large_events) = work(&large);
        assert!(depth.max(large_depth) <= depth::MAX, "{name}: {large_depth} containers deep");
        assert!(large_events <= 3 * small_events + 100, "{name}: {small_events} events, then {large_events}");
    }
}

#[test]
fn the_deepest_that_is_read() {
    let quotes = |count: usize| format!("{}a", "> ".repeat(count));
    let opaque = |text: &str| Note::parse(text).diagnostics().iter().any(|odd| odd.code == "nested-too-deep");
    assert!(!opaque(&quotes(depth::MAX)));
    assert!(opaque(&quotes(depth::MAX + 1)));
    assert!(opaque(&quotes(50_000)));
    assert!(opaque(&"+ ".repeat(50_000)));
    assert!(!opaque(&"- ".repeat(50_000)), "a rule");
    let code = format!("```\n{}\n```\n\n# after\n", quotes(40));
    assert!(!opaque(&code), "in code nothing nests");
    assert!(outline(&code).ends_with("h1 \"after\"\n"));
    assert_eq!(outline(&format!("a\n\n{}\nlazy\n\n# b\n", quotes(40))).lines().nth(1), Some("opaque"));
}

#[test]
fn the_widest_table_that_is_read() {
    let table = |columns: usize| {
        format!("{}|\n{}|\n{}|\n\nafter\n", "|a".repeat(columns), "|-".repeat(columns), "|b".repeat(columns))
    };
    assert!(outline(&table(table::MAX_COLUMNS)).starts_with("table"));
    assert_eq!(outline(&table(table::MAX_COLUMNS + 1)), "opaque\np \"after\"\n! table-too-wide\n");
    let code = format!("```\n{}```\n\nafter\n", table(200));
    assert!(outline(&code).starts_with("fence"), "in code there are no tables");
}

#[test]
fn a_table_that_lacks_cells_is_read_in_part() {
    let text = format!("{}\n{}\n{}\nafter\n", "|a".repeat(128), "|-".repeat(128), "|a\n".repeat(3_000));
    let kinds: Vec<_> = outline(&text).lines().map(|line| line.split(' ').next().map(str::to_owned)).collect();
    assert_eq!(kinds.into_iter().flatten().collect::<Vec<_>>(), ["table", "opaque", "p", "!"]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_parser_never_nests_deeper_than_the_bound(
        marks in prop::collection::vec(prop::sample::select(MARKS), 0..250),
    ) {
        let text = marks.concat();
        prop_assert!(work(&text).0 <= depth::MAX, "{:?}", text);
    }
}

/// Mostly what opens containers, and what could hide that.
const MARKS: &[&str] = &[
    "> ",
    ">",
    "> > > > > > ",
    "- ",
    "+ ",
    "* ",
    "+ - + - + - ",
    "1. ",
    "[^1]: ",
    "[^a\\]b]: ",
    "  ",
    "    ",
    "\t",
    "a",
    "\n",
    "\n",
    "\n\n",
    "```\n",
    "~~~\n",
    "<!--\n",
    "-->\n",
    "<div>\n",
    "%%\n",
    "[!a] ",
    "| a |\n|---|\n",
    "# ",
    "\u{c}",
    "\r",
    "    - ",
    "[a]: b\n",
    "              - ",
];

/// The project's own folder, above the folder of this crate.
fn project() -> &'static std::path::Path {
    let mut above = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    above.find(|folder| folder.join("tests/corpus").is_dir()).expect("tests/corpus is part of the project")
}

/// The markdown transcripts of the corpus and the notes of the example vault.
pub(crate) fn markdown_of_corpus() -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut files = markdown_below(&project().join("tests/corpus"));
    files.extend(markdown_below(&project().join("vault-example")));
    files
}

/// Real markdown transcripts, which are no part of the project. Fails where there are none.
#[expect(clippy::disallowed_methods, reason = "a test reads where its optional files are")]
pub(crate) fn markdown_of_shared() -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let beside = || project().join("../shared/transcripts");
    let root = std::env::var_os("CRU_TEST_TRANSCRIPTS").map_or_else(beside, Into::into).join("specstory");
    assert!(root.is_dir(), "no transcripts in {}: CRU_TEST_TRANSCRIPTS names them", root.display());
    markdown_below(&root)
}

fn markdown_below(root: &std::path::Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let bytes = std::fs::read(&path).expect("a file");
                files.push((path, bytes));
            }
        }
    }
    assert!(!files.is_empty(), "no markdown below {}", root.display());
    files
}

mod transcripts {
    use super::{Note, check, markdown_of_corpus, markdown_of_shared};

    fn keep_all(files: Vec<(std::path::PathBuf, Vec<u8>)>) {
        for (path, bytes) in files {
            assert_eq!(check(&Note::parse(bytes)), Ok(()), "{}", path.display());
        }
    }

    #[test]
    fn corpus() {
        keep_all(markdown_of_corpus());
    }

    #[test]
    #[ignore = "needs ../shared/transcripts"]
    fn shared() {
        keep_all(markdown_of_shared());
    }
}

#[test]
fn a_lone_carriage_return_hides_no_marks() {
    assert!(work(&format!("-\r{}a", "> ".repeat(50))).0 <= depth::MAX);
    assert_eq!(outline("a\r# b\n"), "p \"a\\r# b\"\n");
}
