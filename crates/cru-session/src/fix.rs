//! What can be mended in a note without asking: keys that YAML refuses, ids that are missing or stand twice.
//!
//! Every fix is a patch of its own kind and says what it does. Nothing a person wrote is taken away: a broken value is
//! quoted, a repeated id gets a new name where it stands for the second time.

use std::collections::{BTreeMap, HashSet};

use super::model::{Item, Session};
use super::{public, read};
use cru_base::Span;
use cru_note::edit::{add_id, set_key};
use cru_note::frontmatter::{self, Value, emit};
use cru_note::{Block, Note, Patch};

/// A change and what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// `gave the step an id: n-003`.
    pub what: String,
    /// The change.
    pub patch: Patch,
}

/// Mends a note: its bytes afterwards, and what was done, in order. `stem` is the file's name without `.md`.
///
/// Fixes that would overlap, or that the editor refuses, are left out; calling it again changes nothing more.
pub fn fix(bytes: &[u8], stem: &str) -> (Vec<u8>, Vec<String>) {
    let mut bytes = bytes.to_vec();
    let mut done = Vec::new();
    // Each kind is looked for on the result of the one before: an id that was renamed counts as taken.
    for kind in [broken_keys, session_id, repeated_ids, missing_ids] {
        let note = Note::parse(bytes.clone());
        if note.bytes() != note.text().as_bytes() {
            return (bytes, done);
        }
        let fixes = kind(&note, stem);
        let mut all = Patch::default();
        for fix in fixes {
            if fix.patch.is_empty() {
                continue;
            }
            if let Ok(both) = all.clone().and(fix.patch) {
                all = both;
                done.push(fix.what);
            }
        }
        bytes = all.apply(&bytes);
    }
    (bytes, done)
}

/// Values that YAML cannot take as they stand are quoted.
fn broken_keys(note: &Note, _: &str) -> Vec<Fix> {
    let Some(bounds) = note.frontmatter() else { return Vec::new() };
    let (values, _) = frontmatter::read(note.text(), &bounds);
    let broken = values.entries().iter().filter(|entry| !entry.whole && entry.lines.is_some());
    broken
        .filter_map(|entry| {
            let text =
                entry.value.text().filter(|text| !text.is_empty() && *text == entry.span.of(note.text()).trim())?;
            // A value cannot stay plain here, so it is quoted whatever the emitter would choose by itself.
            let line = emit(&[("k", Value::from(text))]);
            let spelled = line.strip_prefix("k: ")?.trim_end();
            let spelled = if spelled == text { serde_json::to_string(text).ok()? } else { spelled.to_owned() };
            let trimmed = entry.span.of(note.text());
            let start = entry.span.start + (trimmed.len() - trimmed.trim_start().len());
            let span = Span::new(start, start + text.len());
            let what = format!("quoted the value of `{}`", entry.key);
            Some(Fix { what, patch: Patch::replace(span, spelled) })
        })
        .collect()
}

fn session_id(note: &Note, stem: &str) -> Vec<Fix> {
    let (meta, _) = read::written_meta(note.text());
    if !meta.is_session() || meta.session_id.is_some() || stem.is_empty() {
        return Vec::new();
    }
    let patch = set_key(note.text(), "session_id", &Value::from(stem)).unwrap_or_default();
    vec![Fix { what: format!("set `session_id` to `{stem}`"), patch }]
}

/// The later of two blocks with one id gets a new one; links go on meaning the first.
fn repeated_ids(note: &Note, _: &str) -> Vec<Fix> {
    let ids = ids(note);
    let mut names = FreeNumbers::of(note, &ids);
    let mut seen = HashSet::new();
    let mut fixes = Vec::new();
    for span in ids {
        let id = span.of(note.text());
        if !seen.insert(id.to_lowercase()) {
            let new = names.next(prefix(id));
            fixes.push(Fix { what: format!("renamed the second `{id}` to `{new}`"), patch: Patch::replace(span, new) });
        }
    }
    fixes
}

/// Steps, phases and a person's inputs without id get one.
fn missing_ids(note: &Note, _: &str) -> Vec<Fix> {
    let (session, _) = read::written(note);
    if !session.meta.is_session() {
        return Vec::new();
    }
    let mut names = FreeNumbers::of(note, &ids(note));
    let mut fixes = phase_ids(note, &session, &mut names);
    for (_, item) in session.items() {
        match item {
            Item::Step(step) if step.id.is_none() => {
                let Some(block) = find(note.blocks(), step.span.start) else { continue };
                let new = names.next("n-");
                if let Ok(patch) = add_id(note, block, &new) {
                    fixes.push(Fix { what: format!("gave the step `{}` the id `{new}`", step.tool), patch });
                }
            }
            Item::User(user) if user.callout.id.is_none() => {
                let Some(block) = top(note, user.callout.span.start) else { continue };
                let new = names.next("u-");
                if let Ok(patch) = add_id(note, block, &new) {
                    fixes.push(Fix { what: format!("gave the user's words the id `{new}`"), patch });
                }
            }
            _ => {}
        }
    }
    fixes
}

fn phase_ids(note: &Note, session: &Session, names: &mut FreeNumbers) -> Vec<Fix> {
    let mut fixes = Vec::new();
    for phase in &session.phases {
        let is_work = phase.agent.is_some() || phase.items.iter().any(|item| matches!(item, Item::Step(_)));
        if phase.id_written || !is_work {
            continue;
        }
        let new = names.next("p-");
        let at = note.blocks().iter().position(|block| block.content.start == phase.heading_span.start);
        let Some(at) = at else { continue };
        let line = note.blocks().get(at + 1).filter(|_| phase.started.is_some());
        let patch = match line {
            Some(line) => add_id(note, line, &new),
            // Below the heading rather than in it, where it would be shown as part of the title.
            None => Ok(Patch::insert(phase.heading_span.end, format!("{0}{0}^{new}", note.split().line_end.as_str()))),
        };
        if let Ok(patch) = patch {
            fixes.push(Fix { what: format!("gave the phase `{}` the id `{new}`", public::text(&phase.title)), patch });
        }
    }
    fixes
}

/// The block at top level that starts at `start`.
fn top(note: &Note, start: usize) -> Option<&Block> {
    note.blocks().binary_search_by_key(&start, |block| block.content.start).ok().map(|at| &note.blocks()[at])
}

/// The list item that starts at `start`.
fn find(blocks: &[Block], start: usize) -> Option<&Block> {
    let block = blocks.iter().rfind(|block| block.content.start <= start)?;
    block.children.iter().find(|item| item.content.start == start)
}

/// Every block id of the note, in order.
fn ids(note: &Note) -> Vec<Span> {
    let mut found = Vec::new();
    let mut open: Vec<&Block> = note.blocks().iter().collect();
    while let Some(block) = open.pop() {
        found.extend(block.id);
        open.extend(&block.children);
    }
    found.sort_unstable();
    // A list's last item and the list itself may share one.
    found.dedup();
    found
}

/// `n-` of `n-014`; a name of somebody's own keeps itself before the number.
fn prefix(id: &str) -> &str {
    let digits = id.bytes().rev().take_while(u8::is_ascii_digit).count();
    &id[..id.len() - digits]
}

/// Numbers that are free, by prefix.
struct FreeNumbers {
    taken: HashSet<String>,
    last: BTreeMap<String, u64>,
}

impl FreeNumbers {
    fn of(note: &Note, ids: &[Span]) -> Self {
        let taken: HashSet<String> = ids.iter().map(|id| id.of(note.text()).to_lowercase()).collect();
        let mut last = BTreeMap::new();
        for id in &taken {
            let prefix = prefix(id);
            let number = id[prefix.len()..].parse().unwrap_or(0);
            let most: &mut u64 = last.entry(prefix.to_owned()).or_default();
            *most = (*most).max(number);
        }
        Self { taken, last }
    }

    fn next(&mut self, prefix: &str) -> String {
        let last = self.last.entry(prefix.to_lowercase()).or_default();
        loop {
            *last = last.saturating_add(1);
            let id = match prefix {
                "p-" | "u-" => format!("{prefix}{last:02}"),
                prefix if prefix.ends_with('-') => format!("{prefix}{last:03}"),
                prefix => format!("{prefix}-{last}"),
            };
            if self.taken.insert(id.to_lowercase()) {
                return id;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(text: &str) -> (String, Vec<String>) {
        let (bytes, done) = fix(text.as_bytes(), "2026-11-20-x");
        let (again, more) = fix(&bytes, "2026-11-20-x");
        assert_eq!((&again, more.len()), (&bytes, 0), "a second run changes nothing: {more:?}");
        (String::from_utf8(bytes).unwrap(), done)
    }

    #[test]
    fn a_note_by_hand_gets_ids() {
        let (text, done) = fixed(
            "---\ntype: session\nstarted: 2026-11-20\nstatus: active\n---\n\n## Draft @x #dev\n\n- `ls` → ok\n- `cat a` -> b ^n-007\n\n## Notes\n\nmine\n",
        );
        insta::assert_snapshot!(text, @"
        ---
        type: session
        started: 2026-11-20
        status: active
        session_id: 2026-11-20-x
        ---

        ## Draft @x #dev

        ^p-01

        - `ls` → ok ^n-008
        - `cat a` -> b ^n-007

        ## Notes

        mine
        ");
        assert_eq!(done.len(), 3, "{done:?}");
    }

    #[test]
    fn words_of_a_person_get_ids() {
        let (text, done) = fixed(
            "---\ntype: session\nsession_id: a\n---\n\n## Draft @x\n\n*2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"go\"\n\nYes.\n\n> [!user]\n> \"stop\"\n\n^u-01\n\n> [!subagent] @b\n> mode: inline\n>\n> > [!user]\n> > \"inner\"\n",
        );
        insta::assert_snapshot!(text, @r#"
        ---
        type: session
        session_id: a
        ---

        ## Draft @x

        *2026-11-20T09:00:00Z* ^p-01

        > [!user]
        > "go"

        ^u-02

        Yes.

        > [!user]
        > "stop"

        ^u-01

        > [!subagent] @b
        > mode: inline
        >
        > > [!user]
        > > "inner"
        "#);
        assert_eq!(done, ["gave the user's words the id `u-02`"]);
    }

    #[test]
    fn values_are_quoted_and_repeated_ids_renamed() {
        let (text, done) = fixed(
            "---\ntype: session\nsession_id: a\ntitle: Fix: the bug\nagent: @me\n---\n## A @x\n\n*2026-11-20T09:00:00Z*\n\n- `a` → 1 ^n-001\n- `b` → 2 ^n-001\n",
        );
        insta::assert_snapshot!(text, @r#"
        ---
        type: session
        session_id: a
        title: "Fix: the bug"
        agent: "@me"
        ---
        ## A @x

        *2026-11-20T09:00:00Z* ^p-01

        - `a` → 1 ^n-001
        - `b` → 2 ^n-002
        "#);
        assert_eq!(done.len(), 4, "{done:?}");
    }

    #[test]
    fn other_notes_are_left_alone() {
        for text in ["# A note\n\n- `code` → arrow\n", "", "---\nbroken", "\u{feff}---\n---\n"] {
            assert_eq!(fixed(text), (text.to_owned(), Vec::new()));
        }
    }
}
