//! The walk over a note's blocks: phases and what stands in them. No phase depends on another, so those of a long note
//! are read side by side.

use jiff::civil::Date;
use rayon::prelude::*;

use crate::callout::fields;
use crate::model::{Agent, Fence, Item, Phase, Prose, Session, SubagentMode, Task, Tasks};
use crate::op::task_list;
use crate::{escape, field, task_line, time};
use cru_base::{Diagnostic, Span, threads};
use cru_note::edit::SEPARATOR;
use cru_note::heading::Tail;
use cru_note::{Block, BlockKind, Note, Unquoted};

use super::{callout, link, list, tasks, text};

/// Everything below the frontmatter, and what is odd about it.
pub(super) fn read(note: &Note) -> (Session, Vec<Diagnostic>) {
    if note.text().len() > threads::LONG {
        // Every section asks for them, and they are found once.
        note.inlines();
    }
    join([sections(note, false)])
}

/// The phases with nothing in them.
pub(super) fn phases(note: &Note) -> Vec<Phase> {
    join([sections(note, true)]).0.phases
}

/// What stands below the frontmatter of a note or of a part of it.
pub(super) fn part(note: &Note) -> Sections {
    sections(note, false)
}

/// The sections of a note, or of a part of it that begins with a phase.
pub(super) struct Sections {
    /// The note's own heading.
    heading: Option<String>,
    preface: Section,
    phases: Vec<Section>,
}

fn sections(note: &Note, shallow: bool) -> Sections {
    let blocks = note.blocks();
    let is_phase = |block: &Block| matches!(block.kind, BlockKind::Heading { level: 2 | 3, .. });
    let starts: Vec<usize> = (0..blocks.len()).filter(|index| is_phase(&blocks[*index])).collect();
    let first = starts.first().copied().unwrap_or(blocks.len());
    let section = |(place, start): (usize, &usize)| {
        let end = starts.get(place + 1).copied().unwrap_or(blocks.len());
        Section::read(note, &blocks[*start..end], shallow)
    };
    let bytes = blocks.last().zip(blocks.first()).map_or(0, |(last, first)| last.span.end - first.span.start);
    let phases = if bytes > threads::LONG {
        starts.par_iter().enumerate().map(section).collect()
    } else {
        starts.iter().enumerate().map(section).collect()
    };
    let (heading, preface) = preface(note, &blocks[..first], shallow);
    Sections { heading, preface, phases }
}

/// What the parts of a note say together, and what is odd about it.
pub(super) fn join(parts: impl IntoIterator<Item = Sections>) -> (Session, Vec<Diagnostic>) {
    let (mut session, mut diagnostics, mut outer) = (Session::default(), Vec::new(), None);
    for Sections { heading, preface, phases } in parts {
        session.heading = session.heading.or(heading);
        session.preface.extend(preface.items);
        session.memory.extend(preface.memory);
        diagnostics.extend(preface.diagnostics);
        session.phases.reserve(phases.len());
        for section in phases {
            let Some(mut phase) = section.phase else { continue };
            phase.items = section.items;
            match phase.level {
                2 => outer = Some(session.phases.len()),
                _ => phase.parent = outer,
            }
            session.phases.push(phase);
            session.memory.extend(section.memory);
            diagnostics.extend(section.diagnostics);
        }
    }
    name_phases(&mut session.phases);
    inherit(&mut session.phases);
    (session, diagnostics)
}

/// A heading names agent and channel where they change: a phase with an id of its own, by which it is no mere section of
/// prose, has those of the phase before it.
pub(crate) fn inherit(phases: &mut [Phase]) {
    let (mut agent, mut channel) = (None, None);
    for phase in phases.iter_mut().filter(|phase| phase.level == 2 && phase.id_written) {
        match &phase.agent {
            Some(own) => agent = Some(own.clone()),
            None => phase.agent.clone_from(&agent),
        }
        match &phase.channel {
            Some(own) => channel = Some(own.clone()),
            None => phase.channel.clone_from(&channel),
        }
    }
}

/// What stands before the first phase, and the note's own heading.
fn preface(note: &Note, blocks: &[Block], shallow: bool) -> (Option<String>, Section) {
    let own = blocks.iter().position(|block| matches!(block.kind, BlockKind::Heading { level: 1, .. }));
    let heading = own.and_then(|index| match blocks[index].kind {
        BlockKind::Heading { text, .. } => Some(title(text.of(note.text()))),
        _ => None,
    });
    let mut walk = Walk { shallow, ..Walk::new(note, None) };
    for (index, block) in blocks.iter().enumerate() {
        if own != Some(index) {
            walk.block(block);
        }
    }
    (heading, walk.end(None))
}

/// A phase and what stands in it, up to the next heading of a phase.
#[derive(Debug, Default)]
struct Section {
    /// Without its items; `None` for what stands before the first one.
    phase: Option<Phase>,
    items: Vec<Item>,
    memory: Vec<Fence>,
    diagnostics: Vec<Diagnostic>,
}

impl Section {
    /// Reads the blocks of one phase, its heading first.
    fn read(note: &Note, blocks: &[Block], shallow: bool) -> Self {
        let Some((first, rest)) = blocks.split_first() else { return Self::default() };
        let BlockKind::Heading { level, text } = first.kind else { return Self::default() };
        let mut open = phase(note, first, level, text);
        open.span.end = blocks.last().map_or(first.span.end, |last| last.span.end);
        let mut walk = Walk { shallow, ..Walk::new(note, None) };
        if !shallow {
            // Each item of a list may be a step; what prose gathers is less than that.
            walk.items.reserve_exact(rest.iter().map(|block| block.children.len().max(1)).sum());
        }
        walk.begin(open.started);
        for block in rest {
            match block.kind {
                BlockKind::Paragraph if walk.is_fresh() && walk.opens_phase(block) => {
                    line_under_heading(note, block, &mut open);
                    if open.started.is_none() && block.content.of(note.text()).starts_with('*') {
                        walk.diagnostics.push(
                            Diagnostic::warning("bad-time", block.content, "the phase's time cannot be read")
                                .help("write it as `*2026-11-20T09:31:04Z*`"),
                        );
                    }
                    walk.begin(open.started);
                    walk.past_line();
                }
                BlockKind::OrphanId if walk.is_fresh() => {
                    if !open.id_written {
                        note.id(block).unwrap_or_default().clone_into(&mut open.id);
                        open.id_written = !open.id.is_empty();
                    }
                    walk.past_line();
                }
                _ => walk.block(block),
            }
        }
        walk.end(Some(open))
    }
}

/// What stands in an inline sub-agent below its fields.
fn inline(note: &Note, block: &Block, day: Option<Date>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Item> {
    let lines = note.unquoted(block);
    let parts = field::split(lines.as_str(), fields("subagent"));
    // Fields stand first; the line after the last of them begins the work.
    let fields = parts.owner.iter().take_while(|owner| owner.is_some()).count();
    let from = lines.lines().nth(fields).map_or(block.span.end, |(at, _)| at);
    let from = if fields == 0 { block.span.start } else { from };
    let mut blocks: Vec<&Block> = Vec::new();
    for child in &block.children {
        if child.content.start >= from {
            blocks.push(child);
        } else if matches!(child.kind, BlockKind::List { .. }) {
            // A list that ends a field's value and one that begins the work are one list to the parser.
            blocks.extend(child.children.iter().filter(|item| item.content.start >= from));
        }
    }
    let mut items = items(note, &lines, &blocks, day, diagnostics);
    // Text right below the last field is one paragraph with it to the parser.
    let begun = block.children.iter().find(|child| child.content.start < from && child.content.end > from);
    if let Some(child) = begun.filter(|child| matches!(child.kind, BlockKind::Paragraph)) {
        let span = Span::new(from, child.content.end);
        let own = lines.lines().filter(|(at, _)| (span.start..span.end).contains(at)).map(|(_, line)| line);
        let text = escape::inner_unprose(&own.collect::<Vec<_>>().join("\n"));
        if !text.trim().is_empty() {
            items.insert(0, Item::Prose(Prose { id: None, text, span }));
        }
    }
    items
}

/// The items of a container (an inline sub-agent): no phases, headings are prose.
fn items(
    note: &Note,
    within: &Unquoted,
    blocks: &[&Block],
    day: Option<Date>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Item> {
    let mut walk = Walk { day, ..Walk::new(note, Some(within)) };
    for block in blocks {
        walk.block(block);
    }
    let read = walk.end(None);
    diagnostics.extend(read.diagnostics);
    read.items
}

fn phase(note: &Note, block: &Block, level: u8, text: Span) -> Phase {
    let heading = text.of(note.text());
    let tail = Tail::parse(heading);
    let part = |span: Option<Span>| span.map(|span| span.of(heading).to_owned());
    let id = note.id(block).map(str::to_owned);
    Phase {
        id_written: id.is_some(),
        id: id.unwrap_or_default(),
        level,
        title: title(tail.title.of(heading)),
        agent: part(tail.agent).map(|name| Agent { name, version: part(tail.version) }),
        channel: part(tail.channel),
        span: Span::new(block.content.start, block.content.end),
        heading_span: block.content,
        ..Phase::default()
    }
}

/// A heading's text with its escapes undone.
fn title(text: &str) -> String {
    escape::untitle(text)
}

/// `*2026-11-20T09:31:04Z* from: [[#^p-01]] ^p-02`.
fn line_under_heading(note: &Note, block: &Block, phase: &mut Phase) {
    let line = block.content.of(note.text());
    phase.started =
        line.strip_prefix('*').and_then(|rest| rest.split_once('*')).and_then(|(text, _)| time::parse(text));
    if let Some(id) = note.id(block) {
        id.clone_into(&mut phase.id);
        phase.id_written = true;
    }
    let from = line.find("from:").unwrap_or(line.len());
    let after = line.find("after:").unwrap_or(line.len());
    for link in link::all(note, block.content) {
        let at = link.span.start.saturating_sub(block.content.start);
        if at > from && (after < from || at < after) {
            phase.from = Some(link);
        } else if at > after {
            phase.after.push(link);
        }
    }
}

/// Gives every phase that carries no id one by its place, so that it can be named; never one that is taken.
fn name_phases(phases: &mut [Phase]) {
    let mut taken: std::collections::HashSet<String> = phases.iter().map(|phase| phase.id.clone()).collect();
    let mut next = 1;
    for (index, phase) in phases.iter_mut().enumerate().filter(|(_, phase)| phase.id.is_empty()) {
        next = next.max(index + 1);
        while taken.contains(&format!("p-{next:02}")) {
            next += 1;
        }
        phase.id = format!("p-{next:02}");
        taken.insert(phase.id.clone());
    }
}

/// Collects items; prose gathers until something else comes.
struct Walk<'a> {
    note: &'a Note,
    within: Option<&'a Unquoted>,
    diagnostics: Vec<Diagnostic>,
    memory: Vec<Fence>,
    items: Vec<Item>,
    prose: Vec<&'a Block>,
    day: Option<Date>,
    /// The line that names the list below it, where that was the last thing seen.
    above: Above,
    /// Nothing stands below the phase's heading so far.
    fresh: bool,
    /// No items are wanted.
    shallow: bool,
}

/// What a line says of the list below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Above {
    #[default]
    Nothing,
    /// `**Tool calls:**`
    Steps,
    /// `**Tasks:**`
    Tasks,
}

impl<'a> Walk<'a> {
    fn new(note: &'a Note, within: Option<&'a Unquoted>) -> Self {
        let (diagnostics, memory, items, prose) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self {
            note,
            within,
            diagnostics,
            memory,
            items,
            prose,
            day: None,
            above: Above::Nothing,
            fresh: false,
            shallow: false,
        }
    }

    /// A phase begins.
    fn begin(&mut self, started: Option<jiff::Timestamp>) {
        self.day = started.map(time::date);
        self.fresh = true;
        self.above = Above::Nothing;
    }

    const fn past_line(&mut self) {
        self.fresh = false;
    }

    const fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Whether a paragraph is the line under a heading: a time in emphasis, what it goes on from, or nothing but an id.
    fn opens_phase(&self, block: &Block) -> bool {
        let line = block.content.of(self.note.text());
        let timed = line.strip_prefix('*').and_then(|rest| rest.split_once('*'));
        let linked = ["from: [[", "after: [["].iter().any(|start| line.starts_with(start));
        let timed = timed.is_some_and(|(text, _)| time::parse(text).is_some() || is_bad_time(text));
        !line.contains('\n') && (timed || linked || line.starts_with('^'))
    }

    fn block(&mut self, block: &'a Block) {
        self.fresh = false;
        if self.shallow {
            return;
        }
        let above = std::mem::take(&mut self.above);
        let (header, named) = (above == Above::Steps, above == Above::Tasks);
        if matches!(block.kind, BlockKind::Paragraph) && task_line::is_header(block.content.of(self.note.text())) {
            self.above = if self.within.is_none() { Above::Tasks } else { Above::Nothing };
        }
        match &block.kind {
            BlockKind::Paragraph if is_header(block.content.of(self.note.text())) => {
                self.flush();
                self.above = Above::Steps;
            }
            BlockKind::Paragraph | BlockKind::List { .. } if self.report(block) => {}
            BlockKind::List { .. } if named && self.tasks(block) => {}
            BlockKind::List { .. } => self.list(block, header),
            BlockKind::Callout { .. } => {
                self.flush();
                let mut item = callout::read(self.note, block, self.day, &mut self.diagnostics);
                if let Item::Subagent(subagent) = &mut item
                    && subagent.mode == SubagentMode::Inline
                {
                    subagent.items = inline(self.note, block, self.day, &mut self.diagnostics);
                }
                self.items.push(item);
            }
            BlockKind::Fence { info, .. } => self.fence(block, info.of(self.note.text()).trim()),
            // A person's remarks to themselves and marks of generated regions are not part of the account.
            BlockKind::Comment { .. } | BlockKind::Blank => self.flush(),
            // What keeps two lists apart says nothing.
            BlockKind::Html if block.content.of(self.note.text()) == SEPARATOR => self.flush(),
            BlockKind::OrphanId => self.flush_named(self.note.id(block)),
            _ => self.prose.push(block),
        }
        if block.id.is_some() {
            self.flush_named(self.note.id(block));
        }
    }

    fn fence(&mut self, block: &'a Block, info: &str) {
        match info {
            "tasks" => {
                self.flush();
                let tasks = tasks::read(self.note, block, &mut self.diagnostics);
                self.items.push(Item::Tasks(Tasks { tasks, span: block.content }));
            }
            "yaml memory" => {
                self.flush();
                let body = escape::uncode_text(self.note.unquoted(block).as_str()).into_owned();
                self.memory.push(Fence { info: info.to_owned(), body, span: block.content });
            }
            _ => self.prose.push(block),
        }
    }

    /// A list of checkboxes below the line that names it; `false` where it holds none.
    fn tasks(&mut self, block: &'a Block) -> bool {
        let tasks: Vec<Task> = block.children.iter().filter_map(|item| task_list::task(self.note, item)).collect();
        if tasks.is_empty() {
            return false;
        }
        let header = self.prose.pop();
        self.flush();
        let start = header.map_or(block.content.start, |header| header.content.start);
        self.items.push(Item::Tasks(Tasks { tasks, span: Span::new(start, block.content.end) }));
        let others = block.children.iter().filter(|item| task_list::task(self.note, item).is_none());
        self.prose.extend(others);
        true
    }

    fn list(&mut self, block: &'a Block, header: bool) {
        // Numbers count somebody's points: without the line above they are no steps, whatever arrows they hold.
        let counted = matches!(block.kind, BlockKind::List { ordered: true }) && !header;
        if counted || !block.children.iter().any(|item| list::is_step(self.note, item, header)) {
            self.prose.push(block);
            return;
        }
        // Steps stand close together: behind a blank line, a code span alone is somebody's list.
        let mut header = header;
        let mut end = block.content.start;
        for item in &block.children {
            let gap = Span::new(end, item.content.start).of(self.note.text());
            header &= gap.matches('\n').count() < 2;
            end = item.content.end;
            match list::step(self.note, item, header, self.day) {
                Some(step) => {
                    self.flush();
                    self.items.push(Item::Step(step));
                }
                None => self.prose.push(item),
            }
        }
    }

    /// A structured report of what the step before read and wrote: `**Inputs**: …`.
    fn report(&mut self, block: &Block) -> bool {
        if !self.prose.is_empty() {
            return false;
        }
        let Some(Item::Step(step)) = self.items.last_mut() else { return false };
        list::report(self.note, block, step)
    }

    fn flush(&mut self) {
        self.flush_named(None);
    }

    /// `id` names the whole block that the last of the gathered ones is a part of.
    fn flush_named(&mut self, id: Option<&str>) {
        let prose = std::mem::take(&mut self.prose);
        let (Some(first), Some(last)) = (prose.first(), prose.last()) else { return };
        let text = text::of_blocks(self.note, self.within, &prose);
        let id = self.note.id(last).or(id).map(str::to_owned);
        let text = match &id {
            // The id belongs to the block, not to what it says.
            Some(id) => text.trim_end().strip_suffix(&format!("^{id}")).map_or(text.as_str(), str::trim_end).to_owned(),
            None => text,
        };
        let text = if self.within.is_some() { escape::inner_unprose(&text) } else { escape::unprose(&text) };
        if !text.trim().is_empty() {
            let span = Span::new(first.content.start, last.content.end);
            self.items.push(Item::Prose(Prose { id, text, span }));
        }
    }

    /// What was collected below the heading of `phase`.
    fn end(mut self, phase: Option<Phase>) -> Section {
        self.flush();
        Section { phase, items: self.items, memory: self.memory, diagnostics: self.diagnostics }
    }
}

/// A date that is none, as in `*2026-13-40T09:00:00Z*`.
fn is_bad_time(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    digits == 4 && text[digits..].starts_with('-') && !text.contains(char::is_whitespace) && time::parse(text).is_none()
}

/// Whether a paragraph is the line above a run of steps.
pub fn is_header(line: &str) -> bool {
    let line = line.trim();
    line.eq_ignore_ascii_case("**tool calls:**") || line.eq_ignore_ascii_case("**tool calls**:")
}
