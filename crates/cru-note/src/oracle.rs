//! The same notes read by another parser: headings, fences, callouts, comments, tasks and wikilinks must agree.
//!
//! Differences that are meant:
//! - Text behind a comment that spans lines inside a quote or list is not read here; the note says so (`comment-tail`).
//! - A comment that stands alone on its line is a block here and an inline there.
//! - The bracket of a callout may be indented by up to three blanks here.
//! - Comments over several lines of one paragraph are comments here and text there.
//! - A lone carriage return is a blank here and a line end there.
//! - A line that follows a callout's first line without a quote mark stands outside the callout here.

use comrak::nodes::{ListType, NodeValue};
use comrak::{Arena, Options, parse_document};
use pulldown_cmark::{Event, Parser};

use super::{Block, BlockKind, InlineKind, Note, id, link, tests};
use cru_base::Span;

/// What both parsers tell, as lines in order of kind.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    headings: Vec<(u8, String)>,
    fences: Vec<String>,
    callouts: Vec<String>,
    tasks: Vec<char>,
    wikilinks: Vec<(String, bool)>,
    tables: usize,
    lists: Vec<bool>,
}

fn ours(text: &str) -> Seen {
    let note = Note::parse(text);
    let mut seen = Seen::default();
    visit(note.text(), note.blocks(), &mut seen);
    for inline in note.inlines() {
        if let InlineKind::Wikilink { inner, embed } = inline.kind {
            seen.wikilinks.push((link_target(inner.of(text)), embed));
        }
    }
    seen
}

fn link_target(inner: &str) -> String {
    let path = inner.split_once('|').map_or(inner, |(path, _)| path);
    assert_eq!(link::parse(inner).target, link::parse(path.trim_end_matches('\\')).target);
    path.trim_end_matches('\\').trim().to_owned()
}

fn visit(text: &str, blocks: &[Block], seen: &mut Seen) {
    for block in blocks {
        match &block.kind {
            BlockKind::Heading { level, text: inner } => seen.headings.push((*level, plain(inner.of(text)))),
            BlockKind::Fence { info, .. } => seen.fences.push(info.of(text).to_owned()),
            BlockKind::Callout { kind, .. } => seen.callouts.push(kind.of(text).to_lowercase()),
            BlockKind::ListItem { task: Some(task), .. } => seen.tasks.push(*task),
            BlockKind::Table => seen.tables += 1,
            BlockKind::List { ordered } => seen.lists.push(*ordered),
            _ => {}
        }
        visit(text, &block.children, seen);
    }
}

/// The letters and digits of a piece of markdown.
fn plain(markdown: &str) -> String {
    let text: String = Parser::new(&format!("# {}", markdown.replace('\n', " ")))
        .map(|event| match event {
            Event::Text(text) | Event::Code(text) => text.into_string(),
            _ => String::new(),
        })
        .collect();
    letters(&text)
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

fn theirs(text: &str) -> Seen {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.footnotes = true;
    options.extension.tasklist = true;
    options.parse.relaxed_tasklist_matching = true;
    options.extension.ofm_callouts = true;
    options.extension.ofm_comments = true;
    options.extension.wikilinks_title_after_pipe = true;
    let body = super::frontmatter::split(text).body_start;
    let arena = Arena::new();
    let root = parse_document(&arena, &text[body..], &options);
    let mut seen = Seen::default();
    for node in root.descendants() {
        match &node.data.borrow().value {
            NodeValue::Heading(heading) => {
                let mut text = String::new();
                for inner in node.descendants() {
                    match &inner.data.borrow().value {
                        NodeValue::Text(part) => text.push_str(part),
                        NodeValue::Code(code) => text.push_str(&code.literal),
                        NodeValue::SoftBreak | NodeValue::LineBreak => text.push(' '),
                        _ => {}
                    }
                }
                let end = id::trailing(&text, Span::new(0, text.len())).map_or(text.len(), |(_, end)| end);
                seen.headings.push((heading.level, letters(&text[..end])));
            }
            NodeValue::CodeBlock(code) if code.fenced => seen.fences.push(code.info.trim().to_owned()),
            NodeValue::Callout(callout) => seen.callouts.push(callout.callout_type.clone()),
            NodeValue::TaskItem(task) => seen.tasks.push(task.symbol.unwrap_or(' ')),
            NodeValue::WikiLink(link) => seen.wikilinks.push((link.url.trim().to_owned(), link.embed)),
            NodeValue::Table(_) => seen.tables += 1,
            NodeValue::List(list) => seen.lists.push(list.list_type == ListType::Ordered),
            _ => {}
        }
    }
    seen
}

#[test]
fn agrees_on_single_forms() {
    for text in CASES {
        assert_eq!(ours(text), theirs(text), "{text:?}");
    }
}

#[test]
fn differs_where_it_is_meant() {
    for (text, count) in
        [("> %%\n> a\n> %% [[tail]]\n", 0), ("text %%a\n[[hidden]] b%%\n", 0), (">   [!note] [[a]]\n", 1)]
    {
        let (ours, theirs) = (ours(text), theirs(text));
        assert_ne!(ours, theirs, "{text:?}");
        assert_eq!(ours.wikilinks.len(), count, "{text:?}");
    }
}

fn agrees_on(files: Vec<(std::path::PathBuf, Vec<u8>)>) {
    for (path, bytes) in files {
        let Ok(text) = String::from_utf8(bytes) else { continue };
        let (ours, theirs) = (ours(&text), theirs(&text));
        assert_eq!(ours.headings, theirs.headings, "{}", path.display());
        assert_eq!(ours.fences, theirs.fences, "{}", path.display());
        assert_eq!(ours.callouts, theirs.callouts, "{}", path.display());
        assert_eq!(ours.wikilinks, theirs.wikilinks, "{}", path.display());
    }
}

mod agrees_on_transcripts {
    use super::{agrees_on, tests};

    #[test]
    fn corpus() {
        agrees_on(tests::markdown_of_corpus());
    }

    #[test]
    #[ignore = "needs ../shared/transcripts"]
    fn shared() {
        agrees_on(tests::markdown_of_shared());
    }
}

const CASES: &[&str] = &[
    "# A\n\n## B `c` *d* ^p-01\n\nSetext\nmore\n---\n\n####### no\n#no\n",
    "# A #\n## B ## ^x\n### ### \n",
    "> # in a quote\n- # in an item\n  ## too\n",
    "> [!note]\n> a\n",
    "> [!NOTE]- Title with `code` and [[link]]\n> body\n> > [!my-kind|wide]+ inner\n> > ![[embed#^id|100]]\n",
    "> text\n> [!not] a callout\n",
    "> [!usage]\n> | a | b |\n> |---|---|\n> | 1 | [[x\\|y]] |\n",
    "> [!x]\n> ---\n> # h\n",
    "> [!x](link)\n> [!y]z\n",
    "- > [!in-item] t\n  > body\n- b\n",
    "> - a\n>   > [!deep] t\n",
    "```\n> [!no]\n# no\n[[no]]\n```\n[[yes]]\n",
    "    > [!no]\n\n    # no\n",
    "~~~ rust x\n```\n~~~\n````\n```\n````\n",
    "- ```a\n  b\n  ```\n- ~~~\nc\n",
    "> ```a\nb\n```c\n",
    "<div>\n```no\n# no\n\n```yes\n```\n",
    "<!--\n```no\n\n# no\n-->\n# yes\n",
    "<script>\n\n# no\n</script>\n# yes\n",
    "<?php\n# no\n?>\n# yes\n<b>\n# no\n\n# yes\n",
    "text\n<b>\n# yes\n<pre>\n\n# no </pre>\n# yes\n",
    "- [ ] a\n- [x] b\n- [/] c\n- [-] d\n- [>] e\n* [?] f\n1. [ ] g\n",
    "- [x](y)\n- [[a]]\n- [] a\n",
    "[[a]] ![[b|c]] `[[no]]` \\[[no]] [[#^x]] [[n#H#S|t]]\n",
    "%%\n# hidden\n\n[[no]]\n%%\n# shown\n",
    "%%hidden [[no]]\nstill [[no]]\n%%\n[[yes]]\n",
    "a\n%%\n# no\n%%\n# yes\n",
    "text %%[[no]]%% [[yes]] `%%` 100%%\n",
    "> %%\n> # no\n> %%\n> # yes\n",
    "- a\n  %%\n  # no\n\n  %%\n  # yes\n- b\n",
    "```\n%%time\n```\n# yes\n",
    "%%\n```\n%%\n# yes\n",
    "%%a\nb%%# yes\n",
    "%%\nunclosed\n# no\n",
    "1. a\n   - b\n     1) c\n\n        d\n2. e\n- f\n* g\n",
    "a\n2. not a list\n- a list\n\n2. a list\n",
    "- a\n\n\n  b\n-\n\n  c\n- \n  d\n",
    "| a |\n|---|\n| b |\n\ntext\n| a |\n|:-:|\n",
    "[^1]: note\n    # in the note\n\n[^1] text\n",
    "* * *\n- - -\n_ _ _\n- * -\n",
    "\t# code\n\n-\ttab\n\n\t# in the item\n>\t# in the quote\n",
    "---\ntitle: a\n---\n# A\n---\n\n---\n",
    "a\r\n===\r\n> [!x] t\r\n> b\r\n\r\n- c\r\n",
];
