//! What a copy of a note has beyond the note, as operations: every step once, and nothing of either side lost.
//!
//! Blocks are known by their id, else by their text. With a base (what both sides had) a block that one side changed or
//! removed is changed or removed; without one everything that either has stays, and where both have a block of one id
//! with different texts, the copy's stands in a `[!conflict]` callout behind the note's. In time `n log n`.

use std::collections::{HashMap, HashSet};

use super::task::key;
use super::unit::{Unit, units};
use super::{Op, task_list, task_merge};
use crate::delta::property;
use crate::model::{Callout, Item, Task};
use crate::{read, render};
use cru_note::{BlockKind, Note};

/// Properties that the next import or flush sets again.
const GENERATED: [&str; 5] = ["ended", "status", "tokens_used", "transcript", "participants"];

/// A block of one side.
struct SideBlock<'a> {
    text: String,
    id: Option<&'a str>,
    /// The id of the phase it stands in; `None` above the first.
    phase: Option<String>,
    /// Whether it is a step or another item of a list of steps.
    is_item: bool,
    is_heading: bool,
}

impl<'a> SideBlock<'a> {
    fn all(note: &'a Note) -> Vec<Self> {
        let (session, _) = read::written(note);
        let mut phases = session.phases.iter().peekable();
        let mut phase = None;
        let piece = |unit: Unit| {
            while let Some(next) = phases.next_if(|next| next.heading_span.start <= unit.span.start) {
                phase = Some(next.id.clone());
            }
            let block = unit.block(note);
            let text = super::unit::normal(unit.whole().of(note.text())).trim_matches('\n').to_owned();
            let is_heading = block.is_some_and(|block| matches!(block.kind, BlockKind::Heading { .. }));
            SideBlock { text, id: unit.id(note), phase: phase.clone(), is_item: unit.item.is_some(), is_heading }
        };
        // Lists of tasks are merged row by row.
        let is_tasks = |unit: &Unit| task_list::is_list(note, unit.top) || task_list::is_list(note, unit.top + 1);
        let units = units(note, false).into_iter().filter(|unit| !is_tasks(unit));
        units.map(piece).filter(|piece| !piece.text.is_empty()).collect()
    }

    /// The call that a step is of: what stands in its first code span.
    fn call(&self) -> Option<&str> {
        self.text.split('`').nth(1).filter(|_| self.is_item)
    }
}

/// Blocks by id, and how often each text stands there.
struct Known<'p, 'a> {
    by_id: HashMap<String, &'p SideBlock<'a>>,
    texts: HashMap<&'p str, usize>,
}

impl<'p, 'a> Known<'p, 'a> {
    fn of(pieces: &'p [SideBlock<'a>]) -> Self {
        let mut known = Self { by_id: HashMap::new(), texts: HashMap::new() };
        for piece in pieces {
            if let Some(id) = piece.id {
                known.by_id.entry(id.to_lowercase()).or_insert(piece);
            }
            *known.texts.entry(&piece.text).or_default() += 1;
        }
        known
    }

    fn by_id(&self, piece: &SideBlock<'_>) -> Option<&'p SideBlock<'a>> {
        self.by_id.get(&piece.id?.to_lowercase()).copied()
    }

    fn has(&self, piece: &SideBlock<'_>) -> bool {
        self.by_id(piece).is_some() || self.texts.contains_key(piece.text.as_str())
    }

    /// Takes one block of that text away, so that each counts once.
    fn take(&mut self, text: &str) -> bool {
        match self.texts.get_mut(text) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }
}

/// The operations that bring into `note` what `copy` has beyond it. `base` is what both sides were made of, where that is
/// known: the same records of one transcript.
pub fn union(base: Option<&Note>, note: &Note, copy: &Note) -> Vec<Op> {
    let base_pieces = base.map(SideBlock::all).unwrap_or_default();
    let (theirs, ours) = (SideBlock::all(note), SideBlock::all(copy));
    let (before, own) = (Known::of(&base_pieces), Known::of(&ours));
    let mut there = Known::of(&theirs);
    let mut ops = properties(base, note, copy);
    tasks(base, note, copy, &mut ops);
    let phases: HashSet<&str> = theirs.iter().filter_map(|piece| piece.phase.as_deref()).collect();
    let mut free = FreeIds::of(theirs.iter().chain(&ours));
    let ends: HashMap<Option<&str>, &str> =
        theirs.iter().map(|piece| (piece.phase.as_deref(), piece.text.as_str())).collect();
    let mut added = Added::default();
    for piece in &ours {
        if there.take(&piece.text) {
            added.anchor(piece, &ends, &mut ops);
            continue;
        }
        let found = there.by_id(piece);
        let old = before.by_id(piece);
        match (found, old) {
            // The copy is as it was; the note was changed, or the block was deleted there.
            (_, Some(old)) if old.text == piece.text => added.anchor(piece, &ends, &mut ops),
            // Deleted there, and changed here: what a person wrote comes back.
            (None, Some(_)) => added.add(piece, &piece.text, piece.id.map(str::to_owned), &phases, &mut ops),
            (Some(found), Some(old)) => {
                added.anchor(piece, &ends, &mut ops);
                let (old, new) = (old.text.clone(), piece.text.clone());
                ops.push(Op::Replace { phase: found.phase.clone(), old, new });
            }
            // Two steps that were given one id.
            (Some(found), None) if piece.is_item && found.call() != piece.call() => {
                let (text, id) = free.rename(piece);
                added.add(piece, &text, Some(id), &phases, &mut ops);
            }
            (Some(_), None) => {
                added.anchor(piece, &ends, &mut ops);
                let id = piece.id.unwrap_or_default();
                let text = conflict(id, &piece.text);
                ops.push(Op::InsertAfter { block: id.to_owned(), phase: piece.phase.clone(), text });
            }
            // Without an id: what the base has was changed or deleted in the note.
            (None, None) if before.texts.contains_key(piece.text.as_str()) => {}
            // A heading of a phase that the note has under another title.
            (None, None) if piece.is_heading && is_known(piece, &phases, &theirs) => {
                heading(piece, &theirs, &base_pieces, &mut ops);
            }
            (None, None) => added.add(piece, &piece.text, piece.id.map(str::to_owned), &phases, &mut ops),
        }
    }
    added.flush(&mut ops);
    // What the copy removed, and the note left as it was.
    let standing: HashSet<&str> = theirs.iter().map(|piece| piece.text.as_str()).collect();
    for piece in base_pieces.iter().filter(|piece| !piece.is_heading && !own.has(piece)) {
        if standing.contains(piece.text.as_str()) {
            ops.push(Op::Replace { phase: piece.phase.clone(), old: piece.text.clone(), new: String::new() });
        }
    }
    ops
}

/// Lines of `copy` that stand neither in `result` nor in `base`: what a merge did not bring over.
pub fn missing_lines(base: Option<&Note>, result: &Note, copy: &Note) -> Vec<String> {
    let bare = |line: &str| {
        let line = line.trim_start_matches(['>', ' ', '\t']).trim_end();
        let line = line.rsplit_once(" ^").filter(|(_, id)| !id.contains(' ')).map_or(line, |(line, _)| line);
        line.trim_end().to_owned()
    };
    let body = |note: &Note| note.text()[note.split().body_start..].lines().map(bare).collect::<HashSet<_>>();
    let (known, before) = (body(result), base.map(body).unwrap_or_default());
    let lines = copy.text()[copy.split().body_start..].lines();
    let is_id = |line: &str| line.starts_with('^') && !line.contains(' ');
    let missing = lines.filter(|line| {
        let line = bare(line);
        !line.is_empty() && !is_id(&line) && !known.contains(&line) && !before.contains(&line)
    });
    missing.map(str::to_owned).collect()
}

/// The rows of the copy's task lists, and a callout for what the note's lists cannot say beside their own.
fn tasks(base: Option<&Note>, note: &Note, copy: &Note, ops: &mut Vec<Op>) {
    let rows = |note: &Note| -> Vec<Task> {
        task_list::lists(note).into_iter().flat_map(|list| list.tasks).map(|(_, task)| task).collect()
    };
    let (own, theirs) = (rows(note), rows(copy));
    if theirs.is_empty() && base.is_none_or(|base| task_list::lists(base).is_empty()) {
        return;
    }
    // Without a base each side keeps its rows: those that both have are as the note says.
    let before = base.map_or_else(|| own.clone(), rows);
    let merged = task_merge::merge(&before, Some(&own), &theirs).map(|op| match op {
        Op::Tasks { rows, .. } if base.is_none() => Op::Tasks { rows: added(&rows, &own), all: false },
        op => op,
    });
    let merged = merged.filter(|op| !matches!(op, Op::Tasks { rows, all: false } if rows.is_empty()));
    let mut result: HashMap<_, &Task> = own.iter().map(|task| (key(task), task)).collect();
    if let Some(Op::Tasks { rows, .. }) = &merged {
        result.extend(rows.iter().map(|task| (key(task), task)));
    }
    let lines = |note: &Note| -> HashSet<String> { lines(note).map(|(line, _)| line).collect() };
    let known: HashSet<String> = lines(note).into_iter().chain(base.map(lines).unwrap_or_default()).collect();
    let is_told = |task: &Task| {
        let said = |it: &Task| (it.content.clone(), it.status.clone(), it.priority.clone());
        result.get(&key(task)).is_some_and(|it| said(it) == said(task))
    };
    let left = self::lines(copy).filter(|(line, task)| !known.contains(line) && !task.as_ref().is_some_and(is_told));
    let left: Vec<String> = left.map(|(line, _)| line).collect();
    if !left.is_empty() {
        ops.push(Op::Preface { text: conflict("tasks", &left.join("\n")) });
    }
    ops.extend(merged);
}

fn added(rows: &[Task], own: &[Task]) -> Vec<Task> {
    let known: HashSet<_> = own.iter().map(key).collect();
    rows.iter().filter(|task| !known.contains(&key(task))).cloned().collect()
}

/// The lines of a note's task lists, and the task of each that is one.
fn lines(note: &Note) -> impl Iterator<Item = (String, Option<Task>)> {
    task_list::lists(note).into_iter().flat_map(|list| {
        let block = &note.blocks()[list.top];
        let start = |at: usize| memchr::memrchr(b'\n', &note.bytes()[..at]).map_or(0, |end| end + 1);
        let mut tasks: HashMap<usize, Task> =
            list.tasks.into_iter().map(|(item, task)| (start(block.children[item].content.start), task)).collect();
        let mut at = start(block.content.start);
        let lines = note.text()[at..block.content.end.max(at)].split('\n').map(move |line| {
            let task = tasks.remove(&at);
            at += line.len() + 1;
            (line.trim_end().to_owned(), task)
        });
        lines.filter(|(line, _)| !line.is_empty()).collect::<Vec<_>>()
    })
}

/// Whether the note has the phase of a heading, or its title.
fn is_known(piece: &SideBlock<'_>, phases: &HashSet<&str>, theirs: &[SideBlock<'_>]) -> bool {
    match piece.phase.as_deref() {
        Some(phase) => phases.contains(phase),
        None => theirs.iter().any(|it| it.is_heading && it.phase.is_none()),
    }
}

fn heading(piece: &SideBlock<'_>, theirs: &[SideBlock<'_>], base: &[SideBlock<'_>], ops: &mut Vec<Op>) {
    let same = |it: &&SideBlock<'_>| it.is_heading && it.phase == piece.phase;
    let (found, old) = (theirs.iter().find(same), base.iter().find(same));
    match (found, old) {
        (Some(found), Some(old)) if found.text == old.text => {
            ops.push(Op::Replace { phase: None, old: old.text.clone(), new: piece.text.clone() });
        }
        _ => {
            let text = conflict("heading", &piece.text);
            ops.push(match &piece.phase {
                Some(phase) => Op::Append { phase: Some(phase.clone()), text },
                None => Op::Preface { text },
            });
        }
    }
}

/// Blocks that stand one behind another in the copy and not in the note.
#[derive(Default)]
struct Added {
    /// The last block with an id that both have or that was added, and its phase.
    after: Option<(String, Option<String>)>,
    /// The phase whose last block both have.
    ended: Option<String>,
    text: String,
    phase: Option<String>,
    /// Whether the phase itself is new.
    is_new: bool,
    ends_with_item: bool,
    last: Option<String>,
}

impl Added {
    /// A block that both have: what comes stands behind it.
    fn anchor(&mut self, piece: &SideBlock<'_>, ends: &HashMap<Option<&str>, &str>, ops: &mut Vec<Op>) {
        self.flush(ops);
        let is_last = ends.get(&piece.phase.as_deref()) == Some(&piece.text.as_str());
        self.ended = piece.phase.clone().filter(|_| is_last);
        if let Some(id) = piece.id {
            self.after = Some((id.to_owned(), piece.phase.clone()));
        }
    }

    fn add(
        &mut self,
        piece: &SideBlock<'_>,
        text: &str,
        id: Option<String>,
        phases: &HashSet<&str>,
        ops: &mut Vec<Op>,
    ) {
        // Steps go into the list they stand in; what follows them is another insertion behind the last.
        let turns = self.ends_with_item != piece.is_item && self.last.is_some();
        if !self.text.is_empty() && (self.phase != piece.phase || (turns && !self.is_new)) {
            self.flush(ops);
        }
        if self.text.is_empty() {
            self.phase.clone_from(&piece.phase);
            self.is_new = piece.is_heading && piece.phase.as_deref().is_some_and(|phase| !phases.contains(phase));
        } else {
            self.text.push_str(if self.ends_with_item && piece.is_item { "\n" } else { "\n\n" });
        }
        self.text.push_str(text);
        self.ends_with_item = piece.is_item;
        if id.is_some() {
            self.last = id;
        }
    }

    fn flush(&mut self, ops: &mut Vec<Op>) {
        if self.text.is_empty() {
            return;
        }
        let (text, phase) = (std::mem::take(&mut self.text), self.phase.take());
        let behind = self.after.as_ref().filter(|(_, of)| *of == phase).map(|(id, _)| id.clone());
        ops.push(match (behind, &phase) {
            _ if std::mem::take(&mut self.is_new) => Op::Phase { text },
            _ if phase.is_some() && self.ended == phase => Op::Append { phase: phase.clone(), text },
            (Some(block), _) => Op::InsertAfter { block, phase: phase.clone(), text },
            (None, Some(_)) => Op::Append { phase: phase.clone(), text },
            (None, None) => Op::Preface { text },
        });
        if let Some(id) = self.last.take() {
            self.after = Some((id, phase));
        }
    }
}

/// Numbers that no block of either side has, by prefix.
struct FreeIds(HashMap<String, u64>);

impl FreeIds {
    fn of<'p, 'a: 'p>(pieces: impl Iterator<Item = &'p SideBlock<'a>>) -> Self {
        let mut last: HashMap<String, u64> = HashMap::new();
        for id in pieces.filter_map(|piece| piece.id) {
            let digits = id.bytes().rev().take_while(u8::is_ascii_digit).count();
            let (prefix, number) = id.split_at(id.len() - digits);
            let most = last.entry(prefix.to_owned()).or_default();
            *most = (*most).max(number.parse().unwrap_or(0));
        }
        Self(last)
    }

    /// The text of a block with an id that is free, and the id.
    fn rename(&mut self, piece: &SideBlock<'_>) -> (String, String) {
        let id = piece.id.unwrap_or_default();
        let digits = id.bytes().rev().take_while(u8::is_ascii_digit).count();
        let prefix = &id[..id.len() - digits];
        let number = self.0.entry(prefix.to_owned()).or_default();
        *number = number.saturating_add(1);
        // A number has no more digits than this; zeros before it are a person's.
        let width = digits.min(20);
        let new = format!("{prefix}{number:0width$}");
        let mark = format!("^{id}");
        // The id ends its line; what else says the same is a link, or the beginning of another id.
        let ends = |at: &usize| piece.text[at + mark.len()..].chars().next().is_none_or(|c| matches!(c, '\n' | '\r'));
        let text = match piece.text.match_indices(&mark).map(|(at, _)| at).find(ends) {
            Some(at) => format!("{}^{new}{}", &piece.text[..at], &piece.text[at + mark.len()..]),
            None => piece.text.clone(),
        };
        (text, new)
    }
}

fn conflict(title: &str, text: &str) -> String {
    let fence = render::fenced("markdown", text.trim_matches('\n'));
    let body = format!("Both copies of the note have changed this. The other one said\n\n{fence}");
    let callout = Callout { kind: "conflict".to_owned(), title: title.to_owned(), body, ..Callout::default() };
    render::callout(&Item::Callout(callout), None).trim_end().to_owned()
}

/// Properties that the copy has beyond the note. Without a base, lists are put together, and a value that differs becomes
/// a callout.
fn properties(base: Option<&Note>, note: &Note, copy: &Note) -> Vec<Op> {
    let is_ours = |op: &Op| matches!(op, Op::Set { key, .. } if key.starts_with("cru_"));
    if let Some(base) = base {
        let mut ops = property::changes(base, copy, Some(note));
        ops.retain(|op| !is_ours(op));
        ops.extend(property::names_changed_twice(base, note, copy));
        return ops;
    }
    let mut ops = property::changes(note, copy, Some(note));
    ops.retain_mut(|op| {
        if is_ours(op) {
            return false;
        }
        let Op::Set { key, old, new } = op else { return true };
        match (&*old, new) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(serde_json::Value::Array(theirs)), Some(serde_json::Value::Array(list))) => {
                let more = list.iter().filter(|item| !theirs.contains(item)).cloned();
                let all: Vec<_> = theirs.iter().cloned().chain(more).collect();
                let is_more = all.len() > theirs.len();
                *list = all;
                is_more
            }
            (Some(_), Some(_)) => {
                *old = None;
                !GENERATED.contains(&key.as_str())
            }
        }
    });
    ops
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::op::{Mode, apply};

    fn merged(base: Option<&str>, note: &str, copy: &str) -> String {
        let base = base.map(Note::parse);
        let ops = union(base.as_ref(), &Note::parse(note), &Note::parse(copy));
        String::from_utf8(apply(note.as_bytes(), &ops, Mode::First).unwrap().bytes).unwrap()
    }

    const HEAD: &str = "---\ntype: session\nsession_id: a\n---\n# A\n\n## Look\n\n*2026-11-20T09:00:00Z* ^p-01\n\n";

    /// A note of steps and prose: the numbers of its steps, and its paragraphs.
    fn note(steps: &[u8], prose: &[u8]) -> String {
        let mut text = HEAD.to_owned();
        for step in steps {
            text += &format!("- `Bash ls {step}` → file {step} ^n-{step:03}\n");
        }
        for words in prose {
            text += &format!("\nRemark {words}.\n");
        }
        text
    }

    #[test]
    fn tasks_are_merged_row_by_row() {
        let list = |rows: &str| HEAD.replace("# A\n", &format!("# A\n\n**Tasks:**\n\n{rows}"));
        let base = list("- [ ] Rotate keys ^task-1\n- [ ] Ask Mia ^task-2\n- [ ] Old ^task-3\n");
        let note = list("- [ ] Rotate keys, both ^task-1\n- [x] Ask Mia ^task-2\n- [ ] Old ^task-3\n- [ ] Mine\n");
        let copy = list("- [x] Rotate keys ^task-1\n- [ ] Ask Mia and Jo ^task-2\n- [ ] Theirs ^task-4\n");
        let result = merged(Some(&base), &note, &copy);
        let lines: Vec<&str> = result.lines().filter(|line| line.starts_with("- [")).collect();
        assert_eq!(
            lines,
            ["- [x] Rotate keys, both ^task-1", "- [x] Ask Mia and Jo ^task-2", "- [ ] Mine", "- [ ] Theirs ^task-4",],
            "{result}"
        );
        assert_eq!(result.matches("**Tasks:**").count(), 1);
        // One side's words and one side's words: both stand in the note.
        let other = note.replace("both", "mine");
        let result = merged(Some(&base), &note, &other);
        assert!(result.contains("- [ ] Rotate keys, both ^task-1") && result.contains("keys, mine"), "{result}");
        assert!(result.contains("[!conflict] tasks"), "{result}");
        // Without a base nothing is taken out, and nothing is there twice.
        let result = merged(None, &note, &copy);
        for row in ["Rotate keys, both ^task-1", "[ ] Old ^task-3", "[ ] Mine", "[ ] Theirs ^task-4"] {
            assert_eq!(result.matches(row).count(), 1, "{row}: {result}");
        }
        assert!(result.contains("Ask Mia and Jo"), "{result}");
    }

    #[test]
    fn two_titles_are_a_conflict() {
        let titled = |title: &str| HEAD.replace("session_id: a\n", &format!("session_id: a\ntitle: {title}\n"));
        let result = merged(Some(&titled("Base")), &titled("Mine"), &titled("Theirs"));
        assert!(result.contains("title: Mine") && result.contains("Theirs"), "{result}");
    }

    fn numbers() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::btree_set(1..9_u8, 0..6).prop_map(|set| set.into_iter().collect())
    }

    proptest! {
        #[test]
        fn every_block_of_both_sides_stands_once(
            steps in numbers(), others in numbers(), prose in numbers(), more in numbers(),
        ) {
            let (one, other) = (note(&steps, &prose), note(&others, &more));
            let result = merged(None, &one, &other);
            for step in steps.iter().chain(&others) {
                prop_assert_eq!(result.matches(&format!("^n-{step:03}")).count(), 1, "{}", result);
            }
            for words in prose.iter().chain(&more) {
                prop_assert_eq!(result.matches(&format!("Remark {words}.")).count(), 1, "{}", result);
            }
            prop_assert!(missing_lines(None, &Note::parse(result.as_str()), &Note::parse(other.as_str())).is_empty());
            prop_assert_eq!(merged(None, &result, &other), result.clone(), "a second time changes nothing");
        }

        #[test]
        fn a_base_takes_away_what_one_side_deleted(base in numbers(), gone in numbers(), here in numbers()) {
            let without = |gone: &[u8]| base.iter().copied().filter(|it| !gone.contains(it)).collect::<Vec<_>>();
            let old = note(&base, &[]);
            let result = merged(Some(&old), &note(&without(&here), &[]), &note(&without(&gone), &[]));
            for step in &base {
                let wanted = usize::from(!gone.contains(step) && !here.contains(step));
                prop_assert_eq!(result.matches(&format!("^n-{step:03}")).count(), wanted, "{}", result);
            }
        }

        #[test]
        fn total_on_any_text(
            base in "([-#>` ^n01a]{0,8}\n){0,8}", one in "([-#>` ^n01a]{0,8}\n){0,8}", other in "([-#>` ^n01a]{0,8}\n){0,8}",
        ) {
            let (base, one, other) = (Note::parse(base), Note::parse(one), Note::parse(other));
            for base in [None, Some(&base)] {
                let ops = union(base, &one, &other);
                let _ = apply(one.bytes(), &ops, Mode::First);
            }
        }
    }
}
