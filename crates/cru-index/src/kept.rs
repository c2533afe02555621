//! Notes beside the sessions that a query asks for by their kind: lessons, readings, bookmarks, projects, cases, workflows,
//! summaries and memories.
//!
//! They are few and short, and most queries are not about them: their entries are made in memory for the query that names
//! their kind, and are no part of the index on disk.

use cru_base::Span;
use cru_note::frontmatter;
use cru_note::{BlockKind, Note, nested};
use cru_session::{Public, time};
use cru_vault::{Vault, VaultPath};
use jiff::Timestamp;

use super::entry::Entry;
use super::query::{Field, Query, QueryNode, entry_kind};
use super::record::SessionRow;

/// Kinds of notes that can be asked for, as `kind:` names them.
pub const KINDS: [&str; 8] = ["lesson", "reading", "bookmark", "project", "case", "workflow", "summary", "memory"];

/// The note that bookmarks stand in.
const BOOKMARKS: &str = "bookmarks.md";

/// A note that is no session, with what can be found in it.
#[derive(Clone, Debug, Default)]
pub struct KeptNote {
    /// What it is shown as: path, title and time alone are filled in.
    pub row: SessionRow,
    /// Its entries, one for each section; of bookmarks one for each line.
    pub entries: Vec<Entry>,
}

/// The kinds of notes that a query asks for: those that `kind:` and `is:` name, and that it does not exclude.
pub fn asked(query: &Query) -> Vec<&'static str> {
    let mut found = Vec::new();
    collect(&query.root, &mut found);
    found
}

fn collect(node: &QueryNode, found: &mut Vec<&'static str>) {
    match node {
        QueryNode::All(parts) | QueryNode::Any(parts) => parts.iter().for_each(|part| collect(part, found)),
        QueryNode::Test(test) if matches!(test.field, Field::Kind | Field::Is) && !test.op.positive().1 => {
            for value in &test.values {
                let kind = KINDS.iter().find(|kind| **kind == entry_kind(&value.folded));
                found.extend(kind.filter(|kind| !found.contains(kind)));
            }
        }
        QueryNode::Not(_) | QueryNode::Words(_) | QueryNode::Test(_) => {}
    }
}

/// Tells which texts are about a session that may not be read.
pub type IsWithheld<'a> = dyn Fn(&str) -> bool + Sync + 'a;

/// Reads a note; `None` where it is of none of `kinds`. `withheld` where only what may leave the vault is read: then a note
/// that keeps itself from agents is left out, as every reading is, and of others the parts about such sessions.
pub fn read(
    vault: &Vault,
    path: &VaultPath,
    kinds: &[&'static str],
    withheld: Option<&IsWithheld<'_>>,
) -> Option<KeptNote> {
    let note = Note::parse(vault.read(path).ok()?.into_owned());
    let public = Public::of(&note);
    let bounds = frontmatter::split(public.as_str()).block;
    let values = bounds.map(|bounds| frontmatter::read(public.as_str(), &bounds).0).unwrap_or_default();
    let name = path.text().into_owned();
    let kind = if name == BOOKMARKS { "bookmark" } else { values.string("type")? };
    let kind = kinds.iter().find(|known| known.eq_ignore_ascii_case(kind))?;
    // A reading quotes its session, which may be private itself.
    let head = bounds.and_then(|bounds| public.as_str().get(..bounds.span.end)).unwrap_or_default();
    if withheld.is_some_and(|is_withheld| values.is_kept_from_agents() || *kind == "reading" || is_withheld(head)) {
        return None;
    }
    let time =
        ["learned", "date", "started", "created"].iter().find_map(|key| values.string(key)).and_then(time::parse);
    let heading = || public.as_str().lines().find_map(|line| line.strip_prefix("# ")).map(str::to_owned);
    let stem = path.stem().into_owned();
    let title = values.string("title").map(str::to_owned).or_else(heading).unwrap_or_else(|| stem.clone());
    let row = SessionRow {
        id: stem,
        path: name,
        title,
        status: values.string("status").map(str::to_owned),
        started: time,
        ..SessionRow::default()
    };
    let mut entries = entries(&note, kind, time);
    if let Some(is_withheld) = withheld {
        let told = nested::lines_about(&note, is_withheld);
        let is_told = |entry: &Entry| told.iter().any(|it| it.start < entry.span.end && entry.span.start < it.end);
        entries.retain(|entry| !is_told(entry) && !is_withheld(&entry.text));
    }
    Some(KeptNote { row, entries })
}

/// An entry for each section of a note, its frontmatter with the first; of bookmarks one for each line of a list. The data of
/// a reading repeat what stands above them for the program.
fn entries(note: &Note, kind: &str, time: Option<Timestamp>) -> Vec<Entry> {
    let text = Public::of(note).blanked();
    let mut starts = vec![0];
    if kind == "bookmark" {
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            if line.starts_with("- ") || line.starts_with("* ") {
                starts.push(at);
            }
            at += line.len();
        }
    } else {
        let heads = note.blocks().iter().filter(|block| matches!(block.kind, BlockKind::Heading { level: 2, .. }));
        starts.extend(heads.map(|block| block.span.start));
    }
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain(std::iter::once(text.len()));
    let spans = starts.iter().zip(ends).map(|(start, end)| Span::new(*start, end));
    let entry =
        |span: Span| Entry { kind: kind.to_owned(), text: span.of(&text).to_owned(), span, time, ..Entry::default() };
    let is_data = |span: &Span| {
        kind == "reading"
            && note.blocks().iter().any(|block| {
                matches!(block.kind, BlockKind::Fence { .. })
                    && (span.start..span.end).contains(&block.span.start)
                    && block.span.of(&text).lines().next().is_some_and(|line| line.ends_with("json reading"))
            })
    };
    spans.filter(|span| !is_data(span)).map(entry).filter(|entry| !entry.text.trim().is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_that_a_query_asks_for() {
        for (query, kinds) in [
            ("pnpm", &[][..]),
            ("kind:lesson pnpm", &["lesson"]),
            ("kind:readings", &["reading"]),
            ("is:lessons or kind:workflow", &["lesson", "workflow"]),
            ("-kind:case kind:step", &[]),
            ("kind:bookmark,project", &["bookmark", "project"]),
        ] {
            let query = Query::parse(query, &jiff::Zoned::default()).unwrap();
            assert_eq!(asked(&query), kinds, "{}", query.text);
        }
    }

    #[test]
    fn sections_and_lines() {
        let temp = tempfile::tempdir().unwrap();
        let lesson = "---\ntype: lesson\ntitle: Use pnpm\nlearned: 2026-11-20T09:00:00Z\n---\n# Use pnpm\n\ntext %%mine%%\n\n## More\n\nend\n";
        cru_base::files::create(&temp.path().join("lessons/a.md"), lesson.as_bytes()).unwrap();
        cru_base::files::create(&temp.path().join("bookmarks.md"), b"# Bookmarks\n\n- a: [[s#^n-001]]\n- b: [[s]]\n")
            .unwrap();
        cru_base::files::create(&temp.path().join("p.md"), b"---\ntype: lesson\nexport: false\n---\nx\n").unwrap();
        let vault = Vault::open(temp.path()).unwrap();
        let is_withheld = |text: &str| text.contains("[[s]]");
        let note = |path: &str, shared: bool| {
            let withheld = shared.then_some(&is_withheld as &IsWithheld<'_>);
            read(&vault, &VaultPath::new(path).unwrap(), &KINDS, withheld)
        };
        let kept = note("lessons/a.md", true).unwrap();
        assert_eq!((kept.row.title.as_str(), kept.entries.len()), ("Use pnpm", 2));
        assert!(kept.entries.iter().all(|entry| !entry.text.contains("mine") && entry.time.is_some()));
        assert_eq!(note("bookmarks.md", false).unwrap().entries.len(), 3);
        let told = b"---\ntype: project\n---\n# P\n\n## A\n\n- [[t]]\n\n# Of [[s]]\n\n## B\n\nb\n";
        cru_base::files::create(&temp.path().join("q.md"), told).unwrap();
        assert_eq!(note("q.md", false).unwrap().entries.len(), 3);
        assert!(note("q.md", true).unwrap().entries.iter().all(|it| !it.text.contains('b')), "what is below goes too");
        for (at, keeps) in ["tags: [No-MCP]", "Private: yes", "tag: a, no-mcp/x"].iter().enumerate() {
            let path = format!("kept-{at}.md");
            let text = format!("---\ntype: lesson\n{keeps}\n---\nx\n");
            cru_base::files::create(&temp.path().join(&path), text.as_bytes()).unwrap();
            assert!(note(&path, true).is_none() && note(&path, false).is_some(), "{keeps}");
        }
        assert_eq!(note("bookmarks.md", true).unwrap().entries.len(), 2, "one is of a session that may not leave");
        let reading = "---\ntype: reading\n---\n# Reading: a\n\n## Goal\n\n- mend it\n\n## Data\n\n```json reading\n{\"goal\": \"mend it\"}\n```\n";
        cru_base::files::create(&temp.path().join("r.md"), reading.as_bytes()).unwrap();
        let told: Vec<String> = note("r.md", false).unwrap().entries.into_iter().map(|entry| entry.text).collect();
        assert!(told.len() == 2 && told[1].contains("mend it") && !told.concat().contains('{'), "{told:?}");
        assert!(note("r.md", true).is_none(), "it quotes a session that may be private");
        assert!(note("p.md", true).is_none() && note("p.md", false).is_some());
    }
}
