//! What a copy of a note has beyond it, as operations: every step once, and nothing of either side lost.
//!
//! Blocks are known by their id, else by their text. With a base (what both sides had) a block that one side changed or
//! removed is changed or removed; without one everything that either has stays, and where both have a block of one id
//! with different texts, the copy's stands in a `[!conflict]` callout behind the note's. In time `n log n`.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::part::{self, DeltaUnit, NoteParts, Part, PieceKind};
use super::phase::{self, Fate, replace};
use super::property;
use crate::model::Task;
use crate::op::task_list::key;
use crate::op::unit::{alone, normal, units};
use crate::op::{self, Op, task_list, task_merge};
use crate::render;
use crate::seal::has_comment;
use cru_note::patch::Edit;
use cru_note::{Note, Patch, frontmatter};

/// Properties that the next import or flush sets again.
const GENERATED: [&str; 5] = ["ended", "status", "tokens_used", "transcript", "participants"];

/// The operations that bring into `note` what `copy` has beyond it. `base` is what both sides were made of, where that is
/// known: the same records of one transcript.
pub fn union(base: Option<&Note>, note: &Note, copy: &Note) -> Vec<Op> {
    let mut ops = properties(base, note, copy);
    tasks(base, note, copy, &mut ops);
    ops.extend(other_lines(base, note, copy));
    let unix = |note: &Note| Note::parse(normal(note.text()).into_owned());
    let (base, note, copy) = (base.map(unix), unix(note), unix(copy));
    let base = base.as_ref().map(part::split).unwrap_or_default();
    let theirs = part::split(&note);
    let before = Known::of(&base);
    let copy = renumbered(copy, &before, &Known::of(&theirs));
    let ours = part::split(&copy);
    let mut sides = Sides { base: &base, theirs: &theirs, before, left: Known::of(&theirs), ops: Vec::new() };
    let fates = sides.fates(&ours.preface, (Some(&base.preface), Some(&theirs.preface)));
    phase::insertions(None, None, &ours.preface.units, &fates, &copy, &mut sides.ops);
    let phases = ours.phases.iter().zip(phases_in(&theirs, &ours)).zip(phases_in(&base, &ours));
    for ((part, there), old) in phases {
        let mut fates = sides.fates(part, (old, there));
        // Where the note deleted it, and the copy has the heading that it had, it does not come back.
        let deleted = part.id.as_deref().filter(|_| old.is_some_and(|old| head(old) == head(part)));
        if let Some(id) = there.and_then(|there| there.id.as_deref()).or(deleted) {
            phase::insertions(Some(id), Some(id), &part.units, &fates, &copy, &mut sides.ops);
        } else {
            // A phase has its heading, wherever else that stands, and its id, where nothing else has it.
            let is_id =
                part.units.get(1).is_some_and(|unit| is_line(part, unit) && sides.left.by_id(unit.id).is_none());
            fates[..=usize::from(is_id)].fill(Fate::Fresh);
            sides.ops.extend(phase::whole(part, &fates, &copy).map(|text| Op::Phase { text }));
        }
    }
    ops.append(&mut sides.ops);
    // What the copy removed, and the note left as it was.
    let (own, standing) = (Known::of(&ours), Known::of(&theirs));
    let is_free = |unit: &&DeltaUnit<'_>| {
        let is_head = matches!(unit.kind, PieceKind::Heading | PieceKind::Header | PieceKind::Title | PieceKind::Tasks);
        !is_head && theirs.title != Some(unit.text) && !own.has(unit) && standing.texts.contains_key(unit.text)
    };
    for part in base.all() {
        ops.extend(part.units.iter().filter(is_free).map(|unit| replace(part, unit.text, "")));
    }
    ops
}

/// A callout for what the copy's frontmatter says beside its properties, and neither of the others: comments, and lines that
/// are no property.
fn other_lines(base: Option<&Note>, note: &Note, copy: &Note) -> Option<Op> {
    let bounds = copy.frontmatter()?;
    let mut known = HashSet::new();
    for it in base.into_iter().chain([note]) {
        let (head, body) = it.text().split_at(it.frontmatter().map_or(0, |bounds| bounds.span.end));
        // A callout of an earlier merge tells it too.
        known.extend(head.lines().chain(body.lines().filter(|line| line.starts_with('>'))).map(bare));
    }
    let (values, _) = frontmatter::read(copy.text(), &bounds);
    let said: HashSet<&str> = values
        .entries()
        .iter()
        .filter(|entry| entry.whole && !has_comment(copy, entry))
        .filter_map(|entry| Some(entry.lines?.of(copy.text())))
        .flat_map(str::lines)
        .map(str::trim)
        .collect();
    let is_other = |line: &&str| !line.trim().is_empty() && !known.contains(bare(line)) && !said.contains(line.trim());
    let left: Vec<&str> = bounds.yaml.of(copy.text()).lines().filter(is_other).collect();
    (!left.is_empty()).then(|| Op::Preface { text: conflict("properties", &left.join("\n")) })
}

/// A line without the marks of a callout.
fn bare(line: &str) -> &str {
    line.trim_start_matches(['>', ' ', '\t']).trim_end()
}

fn conflict(title: &str, text: &str) -> String {
    let fence = render::fenced("markdown", text.trim_matches('\n'));
    op::conflict_callout(title, &format!("Both copies of the note have changed this. The other one said\n\n{fence}"))
}

/// The phases of `parts` that the phases of `ours` are, each once: by an id that is written, else by the heading, else by
/// the place.
fn phases_in<'p, 't>(parts: &'p NoteParts<'t>, ours: &NoteParts<'_>) -> Vec<Option<&'p Part<'t>>> {
    let is_written = |part: &Part<'_>| part.units.iter().take(2).any(|unit| is_line(part, unit));
    let is_same = |way: u8, one: &Part<'_>, other: &Part<'_>| match way {
        0 => one.id == other.id && is_written(other),
        1 => head(one) == head(other),
        _ => one.id == other.id && !is_written(other),
    };
    let mut left: Vec<&Part<'_>> = parts.phases.iter().collect();
    let mut found = vec![None; ours.phases.len()];
    for way in 0..3 {
        for (part, found) in ours.phases.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
            *found = left.iter().position(|it| is_same(way, it, part)).map(|at| left.remove(at));
        }
    }
    found
}

/// Whether a block has the id of its phase.
fn is_line(part: &Part<'_>, unit: &DeltaUnit<'_>) -> bool {
    unit.id.is_some() && unit.id == part.id.as_deref()
}

fn head<'t>(part: &Part<'t>) -> Option<&'t str> {
    part.units.first().map(|unit| unit.text)
}

/// Blocks by id, with their phases, and how often each text stands in each phase.
struct Known<'p, 't> {
    by_id: HashMap<String, (&'p Part<'t>, &'p DeltaUnit<'t>)>,
    texts: HashMap<&'t str, BTreeMap<Option<&'p str>, usize>>,
}

impl<'p, 't> Known<'p, 't> {
    fn of(parts: &'p NoteParts<'t>) -> Self {
        let mut known = Self { by_id: HashMap::new(), texts: HashMap::new() };
        for (part, unit) in parts.all().flat_map(|part| part.units.iter().map(move |unit| (part, unit))) {
            if let Some(id) = unit.id {
                known.by_id.entry(id.to_lowercase()).or_insert((part, unit));
            }
            *known.texts.entry(unit.text).or_default().entry(part.id.as_deref()).or_default() += 1;
        }
        known
    }

    fn by_id(&self, id: Option<&str>) -> Option<(&'p Part<'t>, &'p DeltaUnit<'t>)> {
        self.by_id.get(&id?.to_lowercase()).copied()
    }

    fn has(&self, unit: &DeltaUnit<'_>) -> bool {
        self.by_id(unit.id).is_some() || self.texts.contains_key(unit.text)
    }

    /// Takes one block of that text away, so that each counts once: of that phase, else of another. What becomes of it.
    fn take(&mut self, text: &str, phase: Option<&Part<'_>>) -> Option<Fate> {
        let here = phase.map(|phase| phase.id.as_deref());
        let left = self.texts.get_mut(text)?.iter_mut().filter(|(_, left)| **left > 0);
        let (id, left) = left.min_by_key(|(id, _)| here != Some(**id))?;
        let fate = if here == Some(*id) { Fate::Kept } else { Fate::Lost };
        *left -= 1;
        Some(fate)
    }
}

/// What decides about the blocks of a copy.
struct Sides<'p, 't> {
    base: &'p NoteParts<'t>,
    theirs: &'p NoteParts<'t>,
    before: Known<'p, 't>,
    /// What of the note is not found in the copy yet.
    left: Known<'p, 't>,
    /// What becomes of the blocks that both have.
    ops: Vec<Op>,
}

impl Sides<'_, '_> {
    /// What becomes of the blocks of a phase, which was `old` in the base and is `there` in the note.
    fn fates(&mut self, part: &Part<'_>, (old, there): (Option<&Part<'_>>, Option<&Part<'_>>)) -> Vec<Fate> {
        let mut fates: Vec<Fate> = part.units.iter().map(|unit| self.fate(unit, (old, there))).collect();
        // The line above steps comes with them.
        let is_step = |at: &usize| part.units.get(*at).is_some_and(|unit| matches!(unit.kind, PieceKind::Step(_)));
        for at in (0..fates.len()).filter(|at| part.units[*at].kind == PieceKind::Header && is_step(&(at + 1))) {
            let is_fresh = (at + 1..fates.len()).take_while(is_step).any(|step| fates[step] == Fate::Fresh);
            fates[at] = if is_fresh { Fate::Fresh } else { Fate::Lost };
        }
        fates
    }

    fn fate(&mut self, unit: &DeltaUnit<'_>, (old, there): (Option<&Part<'_>>, Option<&Part<'_>>)) -> Fate {
        match unit.kind {
            PieceKind::Tasks => return Fate::Lost,
            PieceKind::Heading => {
                let to = |text| Op::Append { phase: there.and_then(|there| there.id.clone()), text };
                return self.line(there, [old.and_then(head), there.and_then(head)], unit.text, to);
            }
            _ => {}
        }
        if let Some(fate) = self.left.take(unit.text, there) {
            return fate;
        }
        if unit.kind == PieceKind::Title && self.theirs.title.is_some() {
            let lines = [self.base.title, self.theirs.title];
            return self.line(None, lines, unit.text, |text| Op::Preface { text });
        }
        let stands = |found: &Part<'_>| if there.is_some_and(|it| it.id == found.id) { Fate::Kept } else { Fate::Lost };
        match (self.left.by_id(unit.id), self.before.by_id(unit.id)) {
            // The copy is as it was; the note was changed, or the block was deleted there.
            (found, Some((_, old))) if old.text == unit.text => found.map_or(Fate::Lost, |(part, _)| stands(part)),
            // Deleted there, and changed here: what a person wrote comes back.
            (None, Some(_)) => Fate::Fresh,
            (Some((part, _)), Some((_, old))) if is_named(old) => {
                self.ops.push(replace(part, old.text, unit.text));
                stands(part)
            }
            (Some((part, found)), _) => {
                let block = found.id.unwrap_or_default();
                let text = conflict(block, unit.text);
                self.ops.push(Op::InsertAfter { block: block.to_owned(), phase: part.id.clone(), text });
                stands(part)
            }
            // Without an id: what the base has was changed or deleted in the note.
            (None, None) if self.before.texts.contains_key(unit.text) => Fate::Lost,
            (None, None) => Fate::Fresh,
        }
    }

    /// A line that there is one of in the base and in a part of the note: the side that changed it is right; where both did,
    /// `to` says where the copy's goes.
    fn line(
        &mut self,
        part: Option<&Part<'_>>,
        [base, theirs]: [Option<&str>; 2],
        ours: &str,
        to: impl FnOnce(String) -> Op,
    ) -> Fate {
        let Some(theirs) = theirs else { return Fate::Lost };
        if theirs == ours {
            return Fate::Kept;
        }
        if base == Some(ours) {
            return Fate::Lost;
        }
        if base == Some(theirs) {
            self.ops.push(replace(part.unwrap_or(&self.theirs.preface), theirs, ours));
            return Fate::Kept;
        }
        self.ops.push(to(conflict("heading", ours)));
        Fate::Lost
    }
}

/// Whether an operation finds a block by its id: an item of a list that is no step by itself has none.
fn is_named(unit: &DeltaUnit<'_>) -> bool {
    let note = alone(unit.text);
    matches!(units(&note, false).as_slice(), [it] if it.id(&note) == unit.id)
}

/// The copy, where steps of it have ids that other calls have in the note, or two blocks of it one id: with ids that are
/// free.
fn renumbered(copy: Note, before: &Known<'_, '_>, theirs: &Known<'_, '_>) -> Note {
    let all = units(&copy, false);
    let mut last: HashMap<String, u64> = HashMap::new();
    for id in theirs.by_id.keys().map(String::as_str).chain(all.iter().filter_map(|unit| unit.id(&copy))) {
        let (prefix, number) = numbered(id);
        let most = last.entry(prefix.to_lowercase()).or_default();
        *most = (*most).max(number.parse().unwrap_or(0));
    }
    let mut seen = HashSet::new();
    let mut edits = Vec::new();
    for unit in &all {
        let (Some(span), text) = (unit.id, unit.whole().of(copy.text()).trim_end()) else { continue };
        let id = span.of(copy.text());
        let is_second = !seen.insert(id.to_lowercase());
        let found = theirs.by_id(Some(id)).filter(|_| unit.item.is_some());
        let is_other = is_second || found.is_some_and(|(_, found)| call(found.text) != call(text));
        if !is_other || before.by_id(Some(id)).is_some() || theirs.texts.contains_key(text) {
            continue;
        }
        let (prefix, digits) = numbered(id);
        let number = last.entry(prefix.to_lowercase()).or_default();
        *number = number.saturating_add(1);
        // A number has no more digits than this; zeros before it are a person's.
        let width = digits.len().min(20);
        edits.push(Edit { span, text: format!("{prefix}{number:0width$}") });
    }
    match Patch::new(edits) {
        Ok(patch) if !patch.is_empty() => Note::parse(patch.apply(copy.bytes())),
        _ => copy,
    }
}

/// What stands before the number of an id, and its digits.
fn numbered(id: &str) -> (&str, &str) {
    id.split_at(id.trim_end_matches(|c: char| c.is_ascii_digit()).len())
}

/// The call that a step is of: what stands in its first code span.
fn call(text: &str) -> Option<&str> {
    text.split('`').nth(1)
}

/// Lines of `copy` that stand neither in `result` nor in `base`: what a merge did not bring over.
pub fn missing_lines(base: Option<&Note>, result: &Note, copy: &Note) -> Vec<String> {
    let bare = |line: &str| {
        let line = self::bare(line);
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
    let mut result: HashMap<_, &Task> = own.iter().map(|task| (key(task), task)).collect();
    let mut merged = task_merge::merge(&before, Some(&own), &theirs);
    if let Some(Op::Tasks { rows, all }) = &mut merged {
        let both: HashSet<_> = before.iter().filter(|_| base.is_some()).map(key).collect();
        // What both have added under one id is as the note says, and the copy's is told.
        let is_taken = |task: &Task| result.contains_key(&key(task)) && !both.contains(&key(task));
        *all &= base.is_some();
        rows.retain(|task| *all || !is_taken(task));
        for row in rows.iter_mut().filter(|row| is_taken(row)) {
            *row = result.get(&key(row)).map_or_else(Task::default, |own| (*own).clone());
        }
    }
    let merged = merged.filter(|op| !matches!(op, Op::Tasks { rows, all: false } if rows.is_empty()));
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
    fn what_a_copy_says_beside_its_properties_is_told() {
        let copy = HEAD.replace("session_id: a\n", "mykey: mine\nno yaml\n# a comment\nsession_id: a # and one\n");
        let result = merged(None, HEAD, &copy);
        for words in ["\nmykey: mine\n", "> no yaml\n", "> # a comment\n", "> session_id: a # and one\n"] {
            assert_eq!(result.matches(words).count(), 1, "{words}: {result}");
        }
        assert_eq!(merged(None, &result, &copy).matches("# a comment").count(), 1);
        // A comment that reads like a line of the text, and one behind a value with its mark in it.
        let copy = HEAD.replace("session_id: a\n", "# A\nsession_id: a\ntitle: 'Fix #12' # mine\n");
        let result = merged(None, HEAD, &copy);
        assert!(result.contains("> # A\n") && result.contains("> title: 'Fix #12' # mine\n"), "{result}");
        assert!(!merged(Some(&copy), HEAD, &copy).contains("[!conflict]"));
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
        // Both have added a row under one id, where the copy took another one out or not.
        for copy in [base.clone(), base.replace("- [ ] Old ^task-3\n", "")] {
            let result = merged(
                Some(&base),
                &base.replace("^task-3\n", "^task-3\n- [ ] Mine ^task-4\n"),
                &copy.replace("^task-2\n", "^task-2\n- [ ] Theirs ^task-4\n"),
            );
            assert!(result.contains("- [ ] Mine ^task-4") && result.contains("Theirs"), "{result}");
        }
        // Without a base nothing is taken out, and nothing is there twice.
        let result = merged(None, &note, &copy);
        for row in ["Rotate keys, both ^task-1", "[ ] Old ^task-3", "[ ] Mine", "[ ] Theirs ^task-4"] {
            assert_eq!(result.matches(row).count(), 1, "{row}: {result}");
        }
        assert!(result.contains("Ask Mia and Jo"), "{result}");
    }

    #[test]
    fn two_blocks_of_a_copy_with_one_id_both_come() {
        let copy = format!("{}- `Bash one` → `a` ^n-001\n\nBetween.\n\n- `Bash two` → `b` ^n-001\n", note(&[], &[]));
        let result = merged(None, &note(&[], &[7]), &copy);
        assert!(result.contains("`Bash one` → `a` ^n-001") && result.contains("`Bash two` → `b` ^n-002"), "{result}");
    }

    #[test]
    fn an_item_that_is_no_step_by_itself_is_not_lost() {
        let with = |item: &str| format!("{}\n{item}", note(&[1], &[]));
        let (base, copy) = (with("- [ ] Ask Mia ^x-1\n"), with("- [ ] Ask Mia, and Jo ^x-1\n"));
        let result = merged(Some(&base), &base, &copy);
        assert!(result.contains("Ask Mia, and Jo"), "{result}");
        // A list that would go on with the list above it stands below.
        let result = merged(Some(&base), &base, &base.replace("Mia ^x-1\n", "Mia ^x-1\n- Bring maps\n- Bring rope\n"));
        assert!(result.contains("- Bring maps") && result.contains("- Bring rope"), "{result}");
    }

    #[test]
    fn a_phase_that_the_note_deleted_comes_back_with_what_the_copy_changed() {
        let phase = "\n## Sail\n\n*2026-11-20T10:00:00Z* ^p-02\n\nWind.\n";
        let base = note(&[1], &[]) + phase;
        let result = merged(Some(&base), &note(&[1], &[]), &base.replace("## Sail", "## Sail home"));
        assert!(result.ends_with("## Sail home\n\n*2026-11-20T10:00:00Z* ^p-02\n"), "{result}");
        let result = merged(Some(&base), &note(&[1], &[]), &base.replace("Wind.", "Wind.\n\nRain."));
        assert!(result.contains("Rain.") && !result.contains("## Sail") && !result.contains("Wind."), "{result}");
    }

    #[test]
    fn a_heading_is_changed_in_its_phase() {
        let phases = |one: &str, other: &str| {
            format!(
                "{HEAD}a\n\n## {one}\n\n*2026-11-20T10:00:00Z* ^p-02\n\nb\n\n## {other}\n\n*2026-11-20T11:00:00Z* ^p-03\n\nc\n"
            )
        };
        let base = phases("Sail", "Row");
        assert_eq!(merged(Some(&base), &base, &phases("Row", "Swim")), phases("Row", "Swim"));
    }

    #[test]
    fn what_is_new_stands_behind_what_it_stood_behind() {
        let base = note(&[1], &[1, 2]);
        let copy = base.replace("Remark 1.", "Remark 1.\n\nAnd more.");
        let result = merged(None, &base.replace("Remark 2.", "Remark 2.\n\nMine."), &copy);
        assert!(result.ends_with("Remark 1.\n\nAnd more.\n\nRemark 2.\n\nMine.\n"), "{result}");
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
                let Ok(applied) = apply(one.bytes(), &ops, Mode::First) else { continue };
                let result = Note::parse(applied.bytes);
                prop_assert_eq!(missing_lines(base, &result, &other), Vec::<String>::new(), "{}", result.text());
                prop_assert_eq!(missing_lines(base, &result, &one), Vec::<String>::new(), "{}", result.text());
            }
        }
    }
}
