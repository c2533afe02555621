//! The way over a note that passes everything once: items, and what stands between them.
//!
//! Items and fences of memory are laid side by side, and the gaps between them are looked at too; so whatever a note
//! says is in an entry, also what the reading of sessions passes over.

use jiff::Timestamp;

use super::{Entry, front};
use cru_base::Span;
use cru_note::Note;
use cru_session::read::is_header;
use cru_session::{Fence, Item, Phase, Public, Session, Step, StepStatus, Subagent, SubagentMode};

/// Every entry of a note, in order.
pub(super) fn entries(note: &Note, session: &Session) -> Vec<Entry> {
    let mut walk = Walk { note, public: Public::of(note), memory: &session.memory, entries: Vec::new(), named: 0 };
    let body = note.split().body_start;
    let first = session.phases.first().map_or(note.text().len(), |phase| phase.span.start);
    let about = Entry { kind: "session".to_owned(), time: session.meta.started, ..Entry::default() };
    walk.entries.push(Entry { text: front::text(note, &walk.public), span: Span::new(0, body), ..about.clone() });
    walk.region(Span::new(body, first), &session.preface, &about, about.time);
    for phase in &session.phases {
        let parent = phase.parent.and_then(|parent| session.phases.get(parent));
        let own = |of: fn(&Phase) -> Option<String>| of(phase).or_else(|| parent.and_then(of));
        let base = Entry {
            kind: "phase".to_owned(),
            agent: own(|phase| phase.agent.as_ref().map(ToString::to_string)),
            channel: own(|phase| phase.channel.clone()),
            ..Entry::default()
        };
        let time = phase.started.or_else(|| parent?.started).or(session.meta.started);
        walk.entries.push(Entry { span: phase.heading_span, time, ..base.clone() });
        walk.region(phase.span, &phase.items, &base, time);
    }
    walk.entries
}

struct Walk<'a> {
    note: &'a Note,
    public: Public<'a>,
    /// Fences of memory that are still to come.
    memory: &'a [Fence],
    entries: Vec<Entry>,
    /// The entry of the item that was passed last, which an id behind it names.
    named: usize,
}

/// What stands in a region.
enum Mark<'a> {
    Item(&'a Item),
    Memory,
}

impl<'a> Walk<'a> {
    /// Passes over `region`, whose own entry is the last one so far. `base` is what its entries have in common; gaps
    /// before the first item belong to the region itself, others where the preface has them too.
    fn region(&mut self, region: Span, items: &'a [Item], base: &Entry, mut time: Option<Timestamp>) {
        let own = self.entries.len().saturating_sub(1);
        self.named = own;
        let mut marks: Vec<(Span, Mark<'a>)> = items.iter().map(|item| (item.span(), Mark::Item(item))).collect();
        let memory = self.memory.partition_point(|fence| fence.span.start < region.end);
        let (here, later) = self.memory.split_at(memory);
        self.memory = later;
        if !here.is_empty() {
            marks.extend(here.iter().map(|fence| (fence.span, Mark::Memory)));
            marks.sort_by_key(|(span, _)| span.start);
        }
        let mut at = region.start;
        for (span, mark) in marks {
            self.gap(Span::new(at, span.start), own, base, time);
            at = at.max(span.end);
            let entry = |kind: &str| Entry { kind: kind.to_owned(), span, ..base.clone() };
            let place = self.entries.len();
            match mark {
                Mark::Item(item) => self.item(item, entry(kind(item)), &mut time),
                Mark::Memory => {
                    let text = self.visible(span);
                    self.entries.push(Entry { text, time, ..entry("memory") });
                }
            }
            self.named = place;
        }
        self.gap(Span::new(at, region.end), own, base, time);
    }

    fn item(&mut self, item: &'a Item, mut entry: Entry, time: &mut Option<Timestamp>) {
        let told = match item {
            Item::Step(step) => {
                about_step(step, &mut entry);
                step.time
            }
            Item::User(user) => {
                entry.is.extend(user.correction.then_some("correction"));
                user.callout.at
            }
            Item::Error(error) => {
                let resolved = error.resolution.is_some() || !error.resolved_by.is_empty();
                entry.is.push(if resolved { "resolved" } else { "open" });
                error.callout.at
            }
            Item::Tasks(tasks) => {
                let open = tasks.tasks.iter().any(|task| !task.status.eq_ignore_ascii_case("completed"));
                entry.is.extend(open.then_some("open"));
                None
            }
            other => other.callout().and_then(|callout| callout.at),
        };
        *time = told.or(*time);
        entry.time = *time;
        match item {
            Item::Subagent(subagent) if subagent.mode == SubagentMode::Inline && !subagent.items.is_empty() => {
                self.subagent(subagent, entry);
            }
            _ => {
                entry.text = self.visible(entry.span);
                if let Item::Tasks(tasks) = item
                    && entry.text.contains('\\')
                {
                    // What is written with escapes is found by what it means.
                    for task in &tasks.tasks {
                        entry.text.push('\n');
                        entry.text.push_str(&task.content);
                    }
                }
                self.entries.push(entry);
            }
        }
    }

    /// An inline sub-agent: what it did stands in entries of its own.
    fn subagent(&mut self, subagent: &'a Subagent, entry: Entry) {
        let agent = subagent.agent.as_ref().map(ToString::to_string).or_else(|| entry.agent.clone());
        let (span, time) = (entry.span, entry.time);
        let base = Entry { kind: entry.kind.clone(), agent, channel: entry.channel.clone(), ..Entry::default() };
        self.entries.push(entry);
        let memory = std::mem::take(&mut self.memory);
        self.region(span, &subagent.items, &base, time);
        self.memory = memory;
    }

    /// What stands between items. Before the first one it belongs to the entry of the region, `own`, and an id belongs to
    /// what it names; the rest is prose.
    fn gap(&mut self, gap: Span, own: usize, base: &Entry, time: Option<Timestamp>) {
        let raw = gap.of(self.note.text());
        if !raw.bytes().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()) {
            return;
        }
        let text = self.visible(gap);
        let text: Vec<&str> = text.lines().filter(|line| !is_header(line)).collect();
        let text = text.join("\n");
        let trimmed = text.trim();
        if !trimmed.contains(char::is_alphanumeric) {
            return;
        }
        let start = gap.start + (raw.len() - raw.trim_start().len());
        let span = Span::new(start, gap.start + raw.trim_end().len());
        let last = self.entries.len().saturating_sub(1);
        let is_id = trimmed.trim_start_matches(['>', ' ']).starts_with('^') && !trimmed.contains(['\n', ' ']);
        let inside = base.kind == "subagent";
        if last == own || inside || is_id {
            let at = if inside || last == own { own } else { self.named };
            let Some(entry) = self.entries.get_mut(at) else { return };
            if !entry.text.is_empty() {
                entry.text.push('\n');
            }
            entry.text.push_str(trimmed);
            if !inside {
                entry.span.end = entry.span.end.max(span.end);
            }
            return;
        }
        let kind = if base.kind == "session" { "session" } else { "prose" };
        let (text, kind) = (trimmed.to_owned(), kind.to_owned());
        self.entries.push(Entry { kind, text, span, time, ..base.clone() });
    }

    /// What of the bytes of `span` may be shown.
    fn visible(&self, span: Span) -> String {
        self.public.words(span)
    }
}

fn kind(item: &Item) -> &str {
    match item {
        Item::Step(_) => "step",
        Item::Tasks(_) => "task",
        Item::Prose(_) => "prose",
        other => other.callout().map_or("prose", |callout| callout.kind.as_str()),
    }
}

fn about_step(step: &Step, entry: &mut Entry) {
    entry.tool = Some(step.tool.clone());
    for file in step.reads.iter().chain(&step.writes) {
        if !file.path.is_empty() && !entry.files.contains(&file.path) {
            entry.files.push(file.path.clone());
        }
    }
    entry.is.extend((step.status == StepStatus::Failed).then_some("failed"));
}
