//! One stream of events, taken in as it comes.
//!
//! Holds the state between two events and the entries so far; [`super::assembly`] makes the session of them. Everything
//! that comes from a record is cleaned of control characters here or in [`super::part`].

use std::collections::HashSet;

use jiff::Timestamp;

use super::changes::CallChanges;
use super::facts::{StreamFacts, TaskRows};
use super::name::SaidNames;
use super::phase_rule::{self, PromptEffect};
use super::planned::PlannedChecks;
use super::step::{Steps, step_link};
use super::talk::Talk;
use super::{long, part, whole};
use crate::boundary::GAP;
use crate::correction;
use crate::detail::{Detail, Level};
use crate::event::{Call, Event, EventKind, Prompt, PromptOrigin, SessionFact};
use crate::mask::{MaskEvents as _, Masks};
use crate::source::Header;
use crate::words::{Title, shorten, title};
use crate::{Item, Link};
use cru_base::lines::floor_char_boundary;
use cru_base::text::{fold_whitespace, sanitise};

/// What a person may choose.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Keep the agent's thinking, as folded callouts.
    pub thinking: bool,
    /// Leave secrets as they are.
    pub no_redact: bool,
    /// How much is told.
    pub level: Level,
    /// Keep what steps write into files, as [`super::DraftPatch`]es.
    pub patches: bool,
}

impl Options {
    /// What the note remembers of it.
    pub const fn detail(self) -> Detail {
        Detail { level: self.level, thinking: self.thinking }
    }

    /// The same for a note that is there and remembers `detail`: its level is its own, and thinking that it has stays.
    #[must_use]
    pub const fn of_note(self, detail: Detail) -> Self {
        Self { level: detail.level, thinking: self.thinking || detail.thinking, ..self }
    }
}

/// A stream of events on its way to a [`super::Draft`].
#[derive(Debug, Default)]
pub struct Fold {
    pub(super) header: Header,
    pub(super) host: String,
    pub(super) options: Options,
    pub(super) masks: Masks,
    pub(super) entries: Vec<NoteEntry>,
    pub(super) steps: Steps,
    /// Record that each phase begins with, and its title.
    pub(super) phases: Vec<(u64, String)>,
    /// Commands of a person and approved plans that no phase holds yet: they stand in the next one.
    waiting: Vec<NoteEntry>,
    /// Inputs of a person so far: each has its number as its block id.
    inputs: usize,
    /// Lines for the shell that a person typed and whose calls were not told yet.
    own_lines: u32,
    /// A boundary was passed and the phase behind it not yet begun.
    pub(super) boundary: Option<PendingBoundary>,
    pub(super) talk: Talk,
    /// The beginning of the last prompt.
    last_prompt: Option<Box<str>>,
    names: SaidNames,
    /// Latest time of work or of a request.
    active: Option<Timestamp>,
    pub(super) facts: StreamFacts,
    pub(super) tasks: TaskRows,
    api_error: Option<(usize, String, u32)>,
    pulls: HashSet<String>,
    pub(super) last: Last,
    /// Steps there were at the agent's last words.
    pub(super) steps_at_reply: usize,
    /// The last plan that was given or approved.
    pub(super) planned: Option<PlannedChecks>,
}

/// What stands in the note, in order; small, for there may be a million of them.
#[derive(Debug)]
pub(super) enum NoteEntry {
    /// A phase begins.
    Phase(Box<Begun>),
    /// The step with this index.
    Step(usize),
    /// What the agent said.
    Reply(Box<str>),
    /// Anything else.
    Item(Box<Item>),
}

/// How a phase begins.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) title: String,
    pub(super) time: Option<Timestamp>,
    pub(super) from: Option<Link>,
    pub(super) version: Option<String>,
}

impl NoteEntry {
    pub(super) fn item(item: Item) -> Self {
        Self::Item(Box::new(item))
    }

    /// Whether a person typed it, or it is what came of that.
    fn is_typed(&self) -> bool {
        match self {
            Self::Step(_) => true,
            Self::Item(item) => matches!(**item, Item::User(_) | Item::Prose(_)),
            Self::Phase(_) | Self::Reply(_) => false,
        }
    }
}

/// What will stand at the start of the phase to come.
#[derive(Debug, Default)]
pub(super) struct PendingBoundary {
    pub(super) items: Vec<Item>,
    from: Option<Link>,
}

/// The last thing that says how the session ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Last {
    /// Work.
    #[default]
    Work,
    /// A person stopped the agent.
    Interrupt,
    /// Nobody says who did.
    BrokenOff,
    /// The model service failed.
    ApiError,
}

impl Fold {
    /// A stream that begins. `host` is the importer's, `claude-code`.
    pub fn new(header: Header, host: &str, options: Options) -> Self {
        Self::with_masks(header, host, options, Masks::default())
    }

    /// The same with what is known of its secrets ([`Masks::with_hindsight`]).
    pub fn with_masks(mut header: Header, host: &str, options: Options, mut masks: Masks) -> Self {
        if !options.no_redact {
            masks.header(&mut header);
        }
        Self {
            header,
            host: host.to_owned(),
            options,
            masks,
            steps: Steps::new(host, options.level == Level::Full),
            ..Self::default()
        }
    }

    /// What was told of the stream before its first event.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Its secrets so far.
    pub const fn masks(&self) -> &Masks {
        &self.masks
    }

    /// Id of the step that a call became, as [`Fold::finish`] gives it. `None` for a call that is no step.
    pub fn step_of(&self, call: &str) -> Option<String> {
        self.steps.index_of(call).map(super::step::step_id)
    }

    /// Takes in the next event. Here all that an importer tells passes on its way to a note, so here it loses its secrets.
    pub fn event(&mut self, mut event: Event<'_>) {
        long::shorten(&mut event);
        let given = match &event.kind {
            EventKind::Call(call) if self.options.level == Level::Full => whole::given(&call.input, &call.args),
            _ => String::new(),
        };
        let changes = match &event.kind {
            EventKind::Call(call) => CallChanges::of(call),
            _ => None,
        };
        if !self.options.no_redact {
            self.masks.event(&mut event);
        }
        let Event { record, time, kind } = event;
        if let Some(time) = time {
            self.facts.at(time, &kind);
        }
        match kind {
            EventKind::Prompt(prompt) => self.prompt(&prompt, time, record),
            EventKind::Reply(text) => self.reply(&text, time, record),
            EventKind::Thinking(text) => self.thinking(&text, time, record),
            EventKind::Call(mut call) => {
                self.own_name(&mut call);
                self.call(&call, time, record);
                self.given(&call, &given);
                self.changes(&call, changes);
            }
            EventKind::Result(mut result) => {
                if !self.options.patches {
                    result.changes = Box::default();
                }
                self.active = self.active.max(time);
                self.talk.denied |= result.denied && result.denial.is_none();
                if !result.failed && !result.denied {
                    self.last = Last::Work;
                }
                self.steps.result(&result, time);
            }
            EventKind::Usage { message, model, usage } => {
                self.facts.usage.insert(message.into_owned(), (fold_whitespace(&sanitise(&model)), usage));
            }
            EventKind::Compaction { trigger, tokens_before, summary } => {
                let item = part::compaction(trigger.as_deref(), tokens_before, summary.as_deref());
                self.boundary.get_or_insert_default().items.push(item);
            }
            EventKind::Rewind { to } => self.rewind(to),
            EventKind::Branch { to, summary } => {
                self.rewind(to);
                let item = part::branch_summary(summary.as_deref());
                self.boundary.get_or_insert_default().items.extend(item);
            }
            EventKind::Bookmark { to, label } => {
                let place = self.phase_of(to);
                self.set_down(NoteEntry::item(part::bookmark(&label, place)));
            }
            EventKind::Interrupt { unnamed: true, .. } => {
                self.last = Last::BrokenOff;
                let item = part::error("Interrupted", "The record does not say by whom or why.", None, None);
                self.set_down(NoteEntry::item(item));
            }
            EventKind::Interrupt { call, .. } => self.interrupt(call.as_deref()),
            EventKind::ApiError(text) => self.api_error(&text, time, record),
            EventKind::Decision(decision) => {
                if decision.approval {
                    self.plan(&decision.text);
                }
                let step = decision.call.as_deref().and_then(|call| self.steps.index_of(call)).map(step_link);
                self.set_down(NoteEntry::item(part::decision(&decision, step)));
            }
            EventKind::Tasks(rows) => self.tasks.replace(rows),
            EventKind::Task(row) => self.tasks.change(row),
            EventKind::Subagent { call, run } => self.steps.also_started(&call, &run),
            EventKind::SubagentDone { stream, summary, failed } => {
                self.steps.subagent_done(&stream, summary.as_deref(), failed);
            }
            EventKind::Detail { call, name, value } => self.steps.detail(&call, &name, &value),
            EventKind::Phase(title) => self.phase(&title, time, record),
            EventKind::Remark(remark) => {
                let step = remark.about.as_deref().and_then(|call| self.steps.index_of(call)).map(step_link);
                self.facts.kept = true;
                self.set_down(NoteEntry::item(part::remark(&remark, step)));
            }
            EventKind::Meta(SessionFact::Memory { key, value }) => {
                self.facts.kept = true;
                self.facts.memory.add(&key, &value);
            }
            EventKind::Meta(meta) => self.facts.meta(meta),
            EventKind::PullRequest { url, number } => self.pull_request(&url, number, time, record),
        }
    }

    fn prompt(&mut self, prompt: &Prompt<'_>, time: Option<Timestamp>, record: u64) {
        let clean = sanitise(&prompt.text);
        let words = clean.trim();
        if words.is_empty() && prompt.attachments.is_empty() {
            return;
        }
        self.own_lines += u32::from(prompt.origin == PromptOrigin::Shell);
        let effect = phase_rule::judge(words, &prompt.origin, self.talk, &self.names);
        // An automatic prompt comes again and again, word for word.
        let again = self.is_repeated(words) && effect == PromptEffect::Starts && self.talk.worked;
        let effect = if again { PromptEffect::Continues } else { effect };
        self.names.learn(words);
        let first = !self.facts.asked;
        if effect != PromptEffect::Aside {
            self.plan(words);
        }
        self.facts.said(words, &prompt.origin, effect);
        let item = if prompt.origin == PromptOrigin::Task {
            part::task(words)
        } else {
            let shown = match prompt.origin {
                PromptOrigin::Shell if !words.starts_with('!') => format!("!{words}"),
                _ => words.to_owned(),
            };
            let corrects = !first && effect != PromptEffect::Aside && self.corrects(words, &prompt.origin);
            self.inputs += 1;
            part::user(&shown, corrects, self.inputs)
        };
        let pictures = part::attachments(&prompt.attachments);
        if effect == PromptEffect::Aside {
            self.set_down(NoteEntry::item(item));
            if let Some(pictures) = pictures {
                self.set_down(NoteEntry::item(pictures));
            }
            return;
        }
        // After a pause, words that only let the agent go on begin nothing.
        if self.is_gap(time) && !again && !correction::lets_go_on(words) {
            self.boundary.get_or_insert_default();
        }
        if effect == PromptEffect::Starts || self.boundary.is_some() || self.phases.is_empty() {
            let says = effect == PromptEffect::Starts || title::tells(words) || self.phases.is_empty();
            let title = if says { self.heading(words, prompt) } else { self.continued() };
            for entry in &mut self.waiting {
                if let NoteEntry::Item(item) = entry {
                    part::without_repetition(item, words);
                }
            }
            let opening = [Some(item), pictures];
            self.open_phase(title, opening.into_iter().flatten(), time, record);
        } else {
            self.push(item);
            self.entries.extend(pictures.map(NoteEntry::item));
        }
        self.active = self.active.max(time);
        self.talk.prompt();
    }

    /// Keeps a plan, if `text` is one.
    fn plan(&mut self, text: &str) {
        self.planned = PlannedChecks::of(text, self.steps.len()).or_else(|| self.planned.take());
    }

    /// Whether the prompt before had the same words.
    fn is_repeated(&mut self, words: &str) -> bool {
        const SEEN: usize = 400;
        let start = &words[..floor_char_boundary(words, SEEN)];
        let same = self.last_prompt.as_deref() == Some(start);
        if !same {
            self.last_prompt = Some(start.into());
        }
        same
    }

    /// The record names a phase.
    fn phase(&mut self, title: &str, time: Option<Timestamp>, record: u64) {
        self.facts.asked = true;
        let title = title::given(title).unwrap_or_else(|| self.continued());
        self.facts.naming.phase(&title);
        self.open_phase(title, std::iter::empty(), time, record);
        self.active = self.active.max(time);
    }

    /// Whether `words` correct the agent: they take back or forbid, whatever stands before them.
    fn corrects(&self, words: &str, origin: &PromptOrigin<'_>) -> bool {
        match origin {
            PromptOrigin::Command | PromptOrigin::Shell | PromptOrigin::Task => false,
            PromptOrigin::Typed | PromptOrigin::Queued | PromptOrigin::Denial { .. } => {
                self.facts.worked && correction::opens_correction(words)
            }
        }
    }

    fn heading(&self, words: &str, prompt: &Prompt<'_>) -> String {
        let heading = match &prompt.origin {
            PromptOrigin::Command => Some(title::of_command(words)),
            PromptOrigin::Task => {
                self.header.task.as_deref().and_then(title::of).or_else(|| title::of(words)).map(Title::into_text)
            }
            _ => title::of(words).map(Title::into_text),
        };
        let heading = heading.map(|heading| title::heading(&heading));
        let sent = prompt.attachments.first().filter(|_| words.is_empty());
        heading.unwrap_or_else(|| match sent {
            Some(sent) => if sent.media_type.starts_with("image") { "Picture" } else { "File" }.to_owned(),
            None => self.continued(),
        })
    }

    fn is_gap(&self, time: Option<Timestamp>) -> bool {
        let (Some(active), Some(time)) = (self.active, time) else { return false };
        time.as_second().saturating_sub(active.as_second()) >= GAP
    }

    /// The phase that the record `to` stands in.
    fn phase_of(&self, to: u64) -> Option<Link> {
        let phase = self.phases.partition_point(|(first, _)| *first <= to);
        (phase > 0).then(|| Link::to_block(super::assembly::phase_id(phase - 1)))
    }

    /// What follows goes on from the record `to`.
    fn rewind(&mut self, to: u64) {
        let from = self.phase_of(to);
        self.boundary.get_or_insert_default().from = from;
        self.talk = Talk { worked: self.talk.worked, ..Talk::default() };
    }

    /// The name that a person's own lines have belongs to them: a host may have a tool that is called so.
    fn own_name(&mut self, call: &mut Call<'_>) {
        if Steps::is_by_person(call) {
            match self.own_lines.checked_sub(1) {
                Some(left) => self.own_lines = left,
                None => call.tool = call.tool.to_lowercase().into(),
            }
        }
    }

    fn call(&mut self, call: &Call<'_>, time: Option<Timestamp>, record: u64) {
        self.names.learn(&call.tool);
        self.names.learn(&call.args);
        if Steps::is_by_person(call) {
            if let Some(index) = self.steps.call(call, time) {
                self.set_down(NoteEntry::Step(index));
            }
            return;
        }
        self.work(time, record);
        self.talk.call();
        self.last = Last::Work;
        if let Some(index) = self.steps.call(call, time) {
            self.entries.push(NoteEntry::Step(index));
        }
    }

    /// What a call does to files, should it succeed.
    fn changes(&mut self, call: &Call<'_>, changes: Option<CallChanges>) {
        let Some(mut changes) = changes else { return };
        if !self.options.no_redact {
            changes.files.iter_mut().for_each(|file| file.path = self.masks.text(&file.path).into_owned());
        }
        self.steps.changes(&call.id, changes);
    }

    /// What a call was given, where that is shown.
    fn given(&mut self, call: &Call<'_>, input: &str) {
        let Some(index) = self.steps.index_of(&call.id).filter(|_| !input.is_empty()) else { return };
        let input = if self.options.no_redact { sanitise(input) } else { self.masks.text(input) };
        self.steps.given(index, &input);
    }

    fn reply(&mut self, text: &str, time: Option<Timestamp>, record: u64) {
        let text = sanitise(text);
        if text.trim().is_empty() {
            return;
        }
        self.work(time, record);
        self.talk.reply(&text);
        self.facts.naming.reply(&text);
        self.names.learn(&text);
        self.last = Last::Work;
        self.steps_at_reply = self.steps.len();
        self.entries.push(NoteEntry::Reply(text.trim_matches('\n').into()));
    }

    fn thinking(&mut self, text: &str, time: Option<Timestamp>, record: u64) {
        let text = sanitise(text);
        if self.options.thinking && !text.trim().is_empty() {
            self.work(time, record);
            self.push(part::thought(text.trim()));
        }
    }

    fn interrupt(&mut self, call: Option<&str>) {
        if let Some(call) = call {
            self.steps.interrupt(call);
        }
        self.talk.interrupted = true;
        self.last = Last::Interrupt;
        let said = matches!(self.entries.last(), Some(NoteEntry::Item(it)) if matches!(&**it, Item::Prose(it) if it.text == correction::INTERRUPTED));
        if !said && !self.phases.is_empty() {
            self.push(part::prose(correction::INTERRUPTED));
        }
    }

    fn api_error(&mut self, text: &str, time: Option<Timestamp>, record: u64) {
        const TITLE: usize = 80;
        let text = sanitise(text).trim().to_owned();
        self.begin(time, record);
        self.last = Last::ApiError;
        let again = self.api_error.take().filter(|(at, old, _)| *at + 1 == self.entries.len() && *old == text);
        let count = again.map_or(1, |(_, _, count)| {
            self.entries.pop();
            count + 1
        });
        let line = fold_whitespace(&text);
        let title = shorten::at_word(if line.is_empty() { "API error" } else { &line }, TITLE);
        let mut body = if title == line { String::new() } else { text.clone() };
        if count > 1 {
            body = format!("{body}{}{count} times in a row.", if body.is_empty() { "" } else { "\n" });
        }
        self.api_error = Some((self.entries.len(), text, count));
        self.push(part::error(&title, &body, None, None));
    }

    fn pull_request(&mut self, url: &str, number: u64, time: Option<Timestamp>, record: u64) {
        let url = sanitise(url).into_owned();
        if !self.pulls.insert(url.clone()) {
            return;
        }
        self.begin(time, record);
        let plain = url.starts_with("https://") && !url.contains(|c: char| c.is_whitespace() || "()<>[]".contains(c));
        let link = if plain { format!("[#{number}]({url})") } else { format!("#{number}") };
        self.push(part::prose(format!("Pull request {link}")));
    }

    /// The agent does something: there must be a phase for it.
    fn work(&mut self, time: Option<Timestamp>, record: u64) {
        self.begin(time, record);
        self.facts.worked = true;
        self.active = self.active.max(time);
    }

    /// Begins a phase where there is none, or a boundary was passed.
    fn begin(&mut self, time: Option<Timestamp>, record: u64) {
        if self.phases.is_empty() || self.boundary.is_some() {
            let title = self.continued();
            self.open_phase(title, std::iter::empty(), time, record);
        }
    }

    /// The heading of a phase that no prompt opens.
    fn continued(&self) -> String {
        const MAX: usize = 70;
        match self.phases.last() {
            Some((_, title)) if title.starts_with(CONTINUED) => title.clone(),
            Some((_, title)) => shorten::at_word(&format!("{CONTINUED}: {title}"), MAX),
            None => {
                self.header.task.as_deref().and_then(title::of).map_or_else(|| CONTINUED.to_owned(), Title::into_text)
            }
        }
    }

    fn open_phase(&mut self, title: String, opening: impl Iterator<Item = Item>, time: Option<Timestamp>, record: u64) {
        let boundary = self.boundary.take().unwrap_or_default();
        self.phases.push((record, title.clone()));
        let version = self.facts.version.clone();
        self.entries.push(NoteEntry::Phase(Box::new(Begun { title, time, from: boundary.from, version })));
        // What a person typed before stands before; what was decided stands below the request that it is about.
        let (before, below): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(NoteEntry::is_typed);
        self.entries.extend(before);
        self.entries.extend(opening.chain(boundary.items).map(NoteEntry::item));
        self.entries.extend(below);
    }

    /// Puts down what opens no phase by itself.
    fn set_down(&mut self, entry: NoteEntry) {
        if self.phases.is_empty() || self.boundary.is_some() {
            self.waiting.push(entry);
        } else {
            self.entries.push(entry);
        }
    }

    /// The stream ends: what still waits gets a phase.
    pub(super) fn end(&mut self) {
        if !self.waiting.is_empty() && self.phases.is_empty() {
            self.begin(self.facts.started(), 0);
        }
        self.entries.append(&mut self.waiting);
    }

    fn push(&mut self, item: Item) {
        self.entries.push(NoteEntry::item(item));
    }
}

const CONTINUED: &str = "Continue";
