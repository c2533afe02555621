//! All of a note below its frontmatter, written anew: three versions put together block by block.
//!
//! Blocks are known by their id, headings of phases by that of the phase, others by their text; what is left over between
//! two known ones is paired by kind. A block that a person changed, added or took out since it was generated is as they
//! left it; the others become what would be generated now. Tasks are left to [`super::Op::Tasks`]. In time `n log n`.

use std::collections::{HashMap, HashSet};

use super::draft::TextDraft;
use super::merge;
use super::run::Outcome;
use super::task_list;
use super::unit::{Unit, normal, units};
use crate::delta::align;
use crate::render::STEPS_HEADER;
use crate::seal;
use cru_base::Span;
use cru_note::{Block, BlockKind, Note, Patch};

/// The hash by which [`super::Op::Body`] knows a text.
pub fn body_hash(note: &Note) -> String {
    blake3::hash(&note.bytes()[note.split().body_start..]).to_hex().to_string()
}

/// Replaces the body, where it is the one that is meant.
pub(super) fn replace(draft: &mut TextDraft, old: &str, new: &str) -> Outcome {
    let note = draft.note();
    if body_hash(note) != old {
        return Outcome::Gone;
    }
    let span = Span::new(note.split().body_start, note.text().len());
    let current = span.of(note.text()).to_owned();
    let edits = merge::edits(note, span, &current, new);
    let Some(patch) = edits.and_then(|edits| Patch::new(edits).ok()) else { return Outcome::Gone };
    if patch.is_empty() {
        return Outcome::Present;
    }
    draft.apply(&patch);
    Outcome::Done
}

/// What decides about the blocks of a note that is written anew.
pub trait Proof {
    /// Whether this very text was generated, so that it may become another one or go.
    fn is_generated(&self, text: &str) -> bool;
    /// Whether a person took out what was generated at a place ([`seal::places`]).
    fn is_deleted(&self, place: &str) -> bool;
    /// Whether the block with this id, in small letters, is not to be taken out.
    fn is_held(&self, id: &str) -> bool;
}

/// The body of `note` with what changed from `base` to `new`, where `proof` allows it.
pub fn renewed(base: &Note, note: &Note, new: &Note, proof: &dyn Proof) -> String {
    let [before, theirs, ours] = [base, note, new].map(BodyBlock::all);
    let (to_theirs, to_ours) = (aligned(&before, &theirs), aligned(&before, &ours));
    let ids: HashSet<&str> = theirs.iter().filter_map(|block| block.id.as_deref()).collect();
    let known: HashMap<&str, usize> = before.iter().enumerate().map(|(at, block)| (block.key.as_str(), at)).collect();
    let here: HashSet<&str> = theirs.iter().map(|block| block.place.as_str()).collect();
    let is_untouched = |at: usize| to_theirs.of[at].is_some_and(|there| proof.is_generated(&theirs[there].text));
    let is_lost = |block: &BodyBlock<'_>| match known.get(block.key.as_str()) {
        // It stood elsewhere, and somebody changed it or took it out there.
        Some(&at) => to_ours.of[at].is_none() && !is_untouched(at),
        None => block.id.as_deref().is_some_and(|id| ids.contains(id)),
    };
    let is_deleted = |block: &BodyBlock<'_>| !here.contains(block.place.as_str()) && proof.is_deleted(&block.place);
    // What is new, by its key, for blocks of the note that were generated and that `base` does not know.
    let fresh: HashMap<&str, usize> =
        to_ours.between.iter().flatten().map(|at| (ours[*at].key.as_str(), *at)).collect();
    // What is new and stands in the note already, elsewhere: it stands there once.
    let mut elsewhere = elsewhere(&before, (&theirs, &to_theirs), (&ours, &to_ours));
    let mut stands_elsewhere = |block: &BodyBlock<'_>| {
        let left = elsewhere.get_mut(block.text.as_ref()).filter(|left| **left > 0);
        left.map(|left| *left -= 1).is_some()
    };
    let mut page = Page { note, new, theirs: &theirs, ours: &ours, out: String::new(), last: None };
    page.out.push_str(&note.text()[note.split().body_start..theirs.first().map_or(note.text().len(), |it| it.start)]);
    for gap in 0..=before.len() {
        let mut news = to_ours.between[gap].iter().copied().filter(|at| !ours[*at].is_tasks).collect::<Vec<_>>();
        for &at in &to_theirs.between[gap] {
            // What both have added stands there once.
            let both = news.iter().position(|new| ours[*new].text == theirs[at].text).map(|place| news.remove(place));
            let renewed = both.or_else(|| {
                let now = fresh.get(theirs[at].key.as_str()).filter(|now| ours[**now].id.is_some());
                now.copied().filter(|_| proof.is_generated(&theirs[at].text))
            });
            let block = renewed.map_or(&theirs[at], |now| &ours[now]);
            page.put(if both.is_some() { &theirs[at] } else { block }, (Some(at), renewed));
        }
        for at in news.into_iter().filter(|at| !is_lost(&ours[*at]) && !is_deleted(&ours[*at])) {
            if !stands_elsewhere(&ours[at]) {
                page.put(&ours[at], (None, Some(at)));
            }
        }
        let Some(block) = before.get(gap) else { break };
        let Some(there) = to_theirs.of[gap] else { continue };
        // One that differs was paired by its kind alone: where it stands elsewhere now, it is another one.
        let is_other = theirs[there].key != block.key && ours.iter().any(|it| it.key == theirs[there].key);
        let is_free = !block.is_tasks && !is_other && proof.is_generated(&theirs[there].text);
        match to_ours.of[gap] {
            Some(now) if is_free => {
                let block = if ours[now].text == theirs[there].text { &theirs[there] } else { &ours[now] };
                page.put(block, (Some(there), Some(now)));
            }
            None if is_free => {
                if theirs[there].id.as_deref().is_some_and(|id| proof.is_held(id)) {
                    page.put(&theirs[there], (Some(there), None));
                }
            }
            now => page.put(&theirs[there], (Some(there), now)),
        }
    }
    page.end()
}

/// How often each text that was not there before stands in the note at another place than in the new text.
fn elsewhere<'a>(
    before: &[BodyBlock<'_>],
    (theirs, to_theirs): (&'a [BodyBlock<'a>], &AlignedBlocks),
    (ours, to_ours): (&[BodyBlock<'_>], &AlignedBlocks),
) -> HashMap<&'a str, usize> {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for (theirs_here, ours_here) in to_theirs.between.iter().zip(&to_ours.between) {
        let mut news: Vec<&str> = ours_here.iter().map(|at| ours[*at].text.as_ref()).collect();
        for text in theirs_here.iter().map(|at| theirs[*at].text.as_ref()) {
            match news.iter().position(|new| *new == text) {
                Some(at) => drop(news.swap_remove(at)),
                None => *left.entry(text).or_default() += 1,
            }
        }
    }
    // One that differs was paired by its kind alone.
    for (at, there) in to_theirs.of.iter().enumerate().filter_map(|(at, there)| Some((at, (*there)?))) {
        let text = theirs[there].text.as_ref();
        let is_same = |block: &BodyBlock<'_>| block.text == text;
        if !is_same(&before[at]) && !to_ours.of[at].is_some_and(|now| is_same(&ours[now])) {
            *left.entry(text).or_default() += 1;
        }
    }
    left
}

/// A block of one version.
struct BodyBlock<'a> {
    key: String,
    kind: String,
    /// The id in small letters.
    id: Option<String>,
    /// Where it stands, as seals say it.
    place: String,
    /// With the id, line ends `\n`.
    text: std::borrow::Cow<'a, str>,
    is_step: bool,
    is_tasks: bool,
    start: usize,
    end: usize,
}

impl<'a> BodyBlock<'a> {
    fn all(note: &'a Note) -> Vec<Self> {
        let all = units(note, false);
        let mut places = seal::places(note);
        let id = |unit: &Unit| unit.id(note).map(str::to_lowercase);
        let made = all.iter().enumerate().map(|(at, unit)| {
            let id = id(unit);
            let block = unit.block(note);
            let whole = unit.whole();
            let start = if unit.item.is_some() { seal::line_start(note, whole.start) } else { whole.start };
            let text = seal::text(note, unit);
            let place = places.remove(&unit.span.start).unwrap_or_default();
            let is_heading = block.is_some_and(|block| matches!(block.kind, BlockKind::Heading { level: 2 | 3, .. }));
            let next = all.get(at + 1).filter(|_| is_heading).and_then(|next| next.id(note));
            let phase = next.filter(|id| id.starts_with("p-")).map(|id| format!("heading {}", id.to_lowercase()));
            let key =
                phase.or_else(|| id.as_ref().map(|id| format!("^{id}"))).unwrap_or_else(|| text.trim_end().to_owned());
            let is_tasks = unit.item.is_none() && is_tasks(note, unit.top);
            let kind = kind(note, block, is_tasks);
            Self { key, kind, id, place, text, is_step: unit.item.is_some(), is_tasks, start, end: whole.end }
        });
        made.collect()
    }
}

fn is_tasks(note: &Note, top: usize) -> bool {
    let is_fence =
        |block: &Block| matches!(&block.kind, BlockKind::Fence { info, .. } if info.of(note.text()).trim() == "tasks");
    task_list::is_list(note, top) || task_list::is_list(note, top + 1) || note.blocks().get(top).is_some_and(is_fence)
}

/// What a block is, as far as two that differ are taken for one another by it.
fn kind(note: &Note, block: Option<&Block>, is_tasks: bool) -> String {
    let Some(block) = block else { return String::new() };
    match &block.kind {
        _ if is_tasks => "tasks".to_owned(),
        BlockKind::Heading { level, .. } => format!("heading {level}"),
        BlockKind::Callout { kind, .. } => format!("callout {}", kind.of(note.text()).to_lowercase()),
        BlockKind::ListItem { .. } => "step".to_owned(),
        BlockKind::Paragraph => "text".to_owned(),
        BlockKind::List { .. } => "list".to_owned(),
        BlockKind::Fence { .. } => "fence".to_owned(),
        _ => "other".to_owned(),
    }
}

/// Where the blocks of one version are in another one.
struct AlignedBlocks {
    /// The other block of each; none where it is gone.
    of: Vec<Option<usize>>,
    /// Blocks that are new, by how many of the first version stand before them.
    between: Vec<Vec<usize>>,
}

fn aligned(before: &[BodyBlock<'_>], after: &[BodyBlock<'_>]) -> AlignedBlocks {
    fn keys<'b>(blocks: &'b [BodyBlock<'_>]) -> Vec<&'b str> {
        blocks.iter().map(|block| block.key.as_str()).collect()
    }
    let mut all = AlignedBlocks { of: vec![None; before.len()], between: vec![Vec::new(); before.len() + 1] };
    let (keys_before, keys_after) = (keys(before), keys(after));
    let (known, now): (HashSet<&str>, HashSet<&str>) =
        (keys_before.iter().copied().collect(), keys_after.iter().copied().collect());
    let mut from = (0, 0);
    let end = (before.len(), after.len());
    for (at, place) in align::pairs(&keys_before, &keys_after).into_iter().chain([end]) {
        // Between two known blocks: those of one kind, in order, as far as neither is known elsewhere.
        let mut next = from.0;
        for other in from.1..place {
            let is_new = !known.contains(keys_after[other]);
            let found = (next..at).find(|&it| {
                is_new
                    && before[it].kind == after[other].kind
                    && !now.contains(keys_before[it])
                    && is_named(&before[it]) == is_named(&after[other])
            });
            match found {
                Some(it) => {
                    all.of[it] = Some(other);
                    next = it + 1;
                }
                None => all.between[next].push(other),
            }
        }
        if at < before.len() {
            all.of[at] = Some(place);
        }
        from = (at + 1, place + 1);
    }
    all
}

/// Whether a block has an id, or its phase has: two that have one are not the same.
fn is_named(block: &BodyBlock<'_>) -> bool {
    block.id.is_some() || (block.kind.starts_with("heading") && block.key.starts_with("heading p-"))
}

/// The body as it grows.
struct Page<'p, 'a> {
    note: &'a Note,
    new: &'a Note,
    theirs: &'p [BodyBlock<'a>],
    ours: &'p [BodyBlock<'a>],
    out: String,
    /// The last block: whether it is a step, and its places in the note and in what is generated now.
    last: Option<(bool, Places)>,
}

/// Where a block stands in the note, and in what is generated now.
type Places = (Option<usize>, Option<usize>);

impl<'a> Page<'_, 'a> {
    fn put(&mut self, block: &BodyBlock<'a>, places: Places) {
        let line_end = self.note.split().line_end;
        let between = match self.last {
            None if block.is_step && places.0 != Some(0) => format!("{STEPS_HEADER}\n"),
            None => String::new(),
            Some((after_step, last)) => {
                let own = between(self.note, self.theirs, last.0, places.0);
                let ours = between(self.new, self.ours, last.1, places.1);
                // A list goes on where what stood between two of them was taken out.
                let own = own.filter(|own| ours.is_none() || *own != format!("\n\n{STEPS_HEADER}\n"));
                own.or(ours).unwrap_or_else(|| match (after_step, block.is_step) {
                    (true, true) => "\n".to_owned(),
                    (false, true) => format!("\n\n{STEPS_HEADER}\n"),
                    (_, false) => "\n\n".to_owned(),
                })
            }
        };
        self.out.push_str(&line_end.apply(&between));
        self.out.push_str(&line_end.apply(&block.text));
        self.last = Some((block.is_step, places));
    }

    fn end(mut self) -> String {
        let end = |note: &Note, blocks: &[BodyBlock<'_>], last: Option<usize>| {
            let block = blocks.last().filter(|_| last.is_some_and(|last| last + 1 == blocks.len()))?;
            Some(normal(&note.text()[block.end..]).into_owned())
        };
        let (theirs, ours) = self.last.map(|(_, places)| places).unwrap_or_default();
        let rest = end(self.note, self.theirs, theirs).or_else(|| end(self.new, self.ours, ours));
        let rest = rest.unwrap_or_else(|| if self.out.is_empty() { String::new() } else { "\n".to_owned() });
        self.out.push_str(&self.note.split().line_end.apply(&rest));
        self.out
    }
}

/// What stands between two blocks that follow one another in a version.
fn between(note: &Note, blocks: &[BodyBlock<'_>], last: Option<usize>, next: Option<usize>) -> Option<String> {
    let (last, next) = last.zip(next).filter(|(last, next)| last + 1 == *next)?;
    Some(normal(&note.text()[blocks[last].end..blocks[next].start]).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BASE: &str = "---\ntype: session\n---\n# Tokens\n\n> [!summary] Tokens\n> Result: Done.\n\n## Start @a\n\n\
        *2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"Fix it\"\n\n^u-001\n\n**Tool calls:**\n\
        - `Read a` → `1 line` ^n-001\n    - reads: `a`\n- `Edit a` → `ok` ^n-002\n- `Bash ls` → `a` ^n-003\n\nLooking at it.\n\n\
        ## Go on\n\n*2026-11-20T10:00:00Z* ^p-02\n\n**Tool calls:**\n- `Bash x` → `ok` ^n-004\n\nDone.\n";
    const NEW: &str = "---\ntype: session\n---\n# Short tokens\n\n> [!summary] Short tokens\n> Asked: Fix it\n> Result: Done.\n\n## Start @a\n\n\
        *2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"Fix it\"\n\n^u-001\n\n**Tool calls:**\n\
        - `Read a` → `1 line` ^n-001\n- `Edit a` → `ok` ^n-002\n    - commit: `4f1c2ab` x\n\n\
        ## Go on with it\n\n*2026-11-20T10:00:00Z* ^p-02\n\n> [!error] x\n> y\n\n**Tool calls:**\n- `Bash x` → `ok` ^n-004\n- `Bash y` → `ok` ^n-005\n\nAll done.\n";

    /// What was generated, by its seals, and the ids of what is not taken out.
    struct Sealed(seal::Seals, &'static [&'static str]);

    impl Proof for Sealed {
        fn is_generated(&self, text: &str) -> bool {
            self.0.has_block(text)
        }

        fn is_deleted(&self, place: &str) -> bool {
            self.0.is_deleted(place)
        }

        fn is_held(&self, id: &str) -> bool {
            self.1.contains(&id)
        }
    }

    fn sealed(base: &str) -> seal::Seals {
        let base = Note::parse(base);
        seal::Seals::parse(&seal::Seals::first(&base, &base))
    }

    fn merged(base: &str, note: &str, new: &str) -> String {
        let note = Note::parse(note);
        let head = &note.text()[..note.split().body_start];
        format!("{head}{}", renewed(&Note::parse(base), &note, &Note::parse(new), &Sealed(sealed(base), &[])))
    }

    #[test]
    fn an_untouched_note_becomes_the_new_one() {
        assert_eq!(merged(BASE, BASE, NEW), NEW);
        assert_eq!(merged(NEW, NEW, BASE), BASE);
        assert_eq!(merged(BASE, &BASE.replace('\n', "\r\n"), NEW), NEW.replace('\n', "\r\n"));
    }

    #[test]
    fn what_a_person_changed_added_or_took_out_stays_so() {
        let note = BASE
            .replace("- `Edit a` → `ok` ^n-002\n", "- `Edit a` → `ok`, by hand ^n-002\n    - my remark\n")
            .replace("**Tool calls:**\n- `Bash x` → `ok` ^n-004\n\n", "")
            .replace("\n\nDone.\n", "\n\nMy own words.\n\n## My phase\n\nmore\n");
        insta::assert_snapshot!(merged(BASE, &note, NEW), @r#"
        ---
        type: session
        ---
        # Short tokens

        > [!summary] Short tokens
        > Asked: Fix it
        > Result: Done.

        ## Start @a

        *2026-11-20T09:00:00Z* ^p-01

        > [!user]
        > "Fix it"

        ^u-001

        **Tool calls:**
        - `Read a` → `1 line` ^n-001
        - `Edit a` → `ok`, by hand ^n-002
            - my remark

        ## Go on with it

        *2026-11-20T10:00:00Z* ^p-02

        > [!error] x
        > y

        **Tool calls:**
        - `Bash y` → `ok` ^n-005

        My own words.

        ## My phase

        more
        "#);
    }

    #[test]
    fn what_is_there_already_is_not_added_again() {
        assert_eq!(merged(BASE, NEW, NEW), NEW);
        assert_eq!(merged(NEW, BASE, BASE), BASE);
    }

    #[test]
    fn a_block_that_is_held_is_not_taken_out() {
        let held = Sealed(sealed(BASE), &["n-003"]);
        let text = renewed(&Note::parse(BASE), &Note::parse(BASE), &Note::parse(NEW), &held);
        assert!(text.contains("^n-003"), "{text}");
    }

    /// An edit of one line: taken out, changed, or one put before it.
    fn edit() -> impl Strategy<Value = (usize, u8, String)> {
        (0..60_usize, 0..3_u8, "(> |- |## |    )?[a-z]{3,8} mine")
    }

    proptest! {
        /// No line that a person wrote is lost, no id is there twice, and twice is the same as once.
        #[test]
        fn any_edit_survives(edits in prop::collection::vec(edit(), 0..6), back: bool) {
            let (base, new) = if back { (NEW, BASE) } else { (BASE, NEW) };
            let mut lines: Vec<String> = base.lines().map(str::to_owned).collect();
            let head = 3;
            for (at, what, text) in &edits {
                let at = head + at % (lines.len() - head);
                match what {
                    0 if lines.len() > head + 1 => drop(lines.remove(at)),
                    1 => lines[at] = text.clone(),
                    _ => lines.insert(at, text.clone()),
                }
            }
            let note = lines.join("\n") + "\n";
            let once = merged(base, &note, new);
            for line in note.lines().map(str::trim).filter(|line| line.contains("mine")) {
                prop_assert!(once.lines().any(|it| it.trim() == line), "{line:?} is lost:\n{note}\n=>\n{once}");
            }
            prop_assert_eq!(merged(new, &once, new), once.clone());
            if edits.is_empty() {
                prop_assert_eq!(once, new);
            }
        }
    }
}
