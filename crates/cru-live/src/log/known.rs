//! What of a note the next entry needs to know: ids that are taken, steps that can be named, callouts that can change.

use std::collections::{HashMap, HashSet};

use super::amend::NoteCallout;
use cru_note::Note;
use cru_session::{Item, Phase, Session, usage};

/// Where something that can be named stands.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownPlace {
    pub(super) phase: Option<String>,
    /// Which list of steps it is in; `None` for what is no step.
    pub(super) list: Option<usize>,
}

/// The tables.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The highest number of each kind of id: `n`, `p`, `u`, `e`, `q`.
    numbers: HashMap<&'static str, u64>,
    ids: HashSet<String>,
    pub(super) places: HashMap<String, KnownPlace>,
    pub(super) errors: Vec<NoteCallout>,
    pub(super) questions: Vec<NoteCallout>,
    pub(super) subagents: Vec<NoteCallout>,
    pub(super) usage: Option<NoteCallout>,
    /// Whether the usage is the last that stands in the note.
    pub(super) usage_is_last: bool,
    /// Lists of steps so far.
    pub(super) lists: usize,
    /// The last block with an id among the callouts that stand directly behind a list.
    pub(super) tails: HashMap<usize, String>,
    /// Whether nothing but callouts stands between here and the last list of the phase.
    behind_list: bool,
    /// Whether the last thing in the open phase is a list of steps.
    pub(super) in_list: bool,
}

impl Known {
    /// Those of a note. `made` are ids that were given before, whether they stand in it or not.
    pub(super) fn of<'a>(note: &Note, session: &Session, made: impl Iterator<Item = &'a str>) -> Self {
        let mut known = Self::default();
        let mut open: Vec<_> = note.blocks().iter().collect();
        while let Some(block) = open.pop() {
            if let Some(id) = note.id(block) {
                known.take(id);
            }
            open.extend(&block.children);
        }
        made.for_each(|id| known.take(id));
        session.phases.iter().for_each(|phase| known.take(&phase.id));
        known.read(note, None, &session.preface);
        for phase in &session.phases {
            known.read(note, Some(phase), &phase.items);
        }
        known
    }

    fn read(&mut self, note: &Note, phase: Option<&Phase>, items: &[Item]) {
        let phase = phase.map(|phase| phase.id.as_str());
        self.in_list = false;
        self.behind_list = false;
        for item in items {
            let block = || NoteCallout::read(note, phase, item);
            self.usage_is_last = false;
            match item {
                Item::Error(_) => self.errors.push(block()),
                Item::Subagent(_) => self.subagents.push(block()),
                Item::Callout(it) if it.kind == "question" => self.questions.push(block()),
                Item::Callout(it) if it.kind == usage::KIND => {
                    self.usage = Some(block());
                    self.usage_is_last = true;
                }
                _ => {}
            }
            self.put(phase, item);
        }
    }

    /// An item stands at the end of a phase.
    pub(super) fn put(&mut self, phase: Option<&str>, item: &Item) {
        let step = matches!(item, Item::Step(_));
        self.lists += usize::from(step && !self.in_list);
        self.in_list = step;
        self.behind_list = step || (self.behind_list && item.callout().is_some());
        if let (Some(id), true, false) = (item.id(), self.behind_list, step) {
            self.tails.insert(self.lists, id.to_owned());
        }
        if let Some(id) = item.id() {
            let list = step.then_some(self.lists);
            self.places.insert(id.to_lowercase(), KnownPlace { phase: phase.map(str::to_owned), list });
            self.take(id);
        }
    }

    /// A phase begins.
    pub(super) fn begin(&mut self) {
        self.in_list = false;
        self.behind_list = false;
        self.usage_is_last = false;
    }

    /// An id is used.
    pub(super) fn take(&mut self, id: &str) {
        let id = id.to_lowercase();
        for prefix in ["n", "p", "u", "e", "q", "d", "l"] {
            let number = id.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('-'));
            // Numbers beyond this are nobody's count.
            if let Some(number) = number.and_then(|number| number.parse().ok()).filter(|number| *number <= 99_999_999) {
                let highest = self.numbers.entry(prefix).or_default();
                *highest = (*highest).max(number);
            }
        }
        self.ids.insert(id);
    }

    /// Whether a block has the id.
    pub(super) fn has(&self, id: &str) -> bool {
        self.ids.contains(&id.to_lowercase())
    }

    /// The next id of a kind, which is then taken.
    pub(super) fn next(&mut self, prefix: &'static str, digits: usize) -> String {
        loop {
            let id = self.peek(prefix, digits);
            *self.numbers.entry(prefix).or_default() += 1;
            if self.ids.insert(id.clone()) {
                return id;
            }
        }
    }

    /// The next id of a kind.
    pub(super) fn peek(&self, prefix: &'static str, digits: usize) -> String {
        let number = self.numbers.get(prefix).copied().unwrap_or_default() + 1;
        format!("{prefix}-{number:0digits$}")
    }

    /// `id`, or `id-2` and so on where it is taken; taken then.
    pub(super) fn claim(&mut self, id: &str) -> String {
        let mut claimed = id.to_owned();
        let mut number = 2;
        while !self.ids.insert(claimed.clone()) {
            claimed = format!("{id}-{number}");
            number += 1;
        }
        claimed
    }

    /// The block that `name` means: an id, `last`, or a title (whole, or words that only one has). `open` tells those
    /// that `last` means first.
    pub(super) fn find(blocks: &[NoteCallout], name: &str, open: impl Fn(&NoteCallout) -> bool) -> Option<usize> {
        let wanted = name.trim().trim_start_matches('^').to_lowercase();
        if wanted == "last" {
            return blocks.iter().rposition(open).or_else(|| blocks.len().checked_sub(1));
        }
        let title = |block: &NoteCallout| block.callout().title.to_lowercase();
        let by_id = blocks.iter().position(|block| block.item.id().is_some_and(|id| id.eq_ignore_ascii_case(&wanted)));
        let whole = || blocks.iter().rposition(|block| title(block) == wanted);
        let words = || {
            let mut found = blocks.iter().enumerate().filter(|(_, block)| title(block).contains(&wanted));
            found.next().filter(|_| found.next().is_none()).map(|(index, _)| index)
        };
        by_id.or_else(whole).or_else(words)
    }
}
