//! A note as the next entry finds it, kept up to date while entries become operations.
//!
//! Items that go to the same place wait until something else comes, so that a thousand steps are one operation. What
//! an entry needs is in tables; the note is read once.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::Value as Json;

use super::amend::Block;
use super::known::{Known, Missing, Place};
use super::{frontmatter, item, link, task};
use crate::base::text::{fold_whitespace, sanitise};
use crate::live::entry::{self, Entry};
use crate::note::Note;
use crate::session::op::Op;
use crate::session::usage;
use crate::session::{self, Agent, Callout, Item, Link, Phase, Status, SubagentMode, Task, render, time};

/// What is taken where an entry does not say.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    /// Agent of phases, where the session has no participant.
    pub agent: Option<Agent>,
    /// How sub-agents are shown.
    pub mode: SubagentMode,
}

/// The phase that goes on.
#[derive(Clone, Debug)]
pub(super) struct Current {
    pub(super) id: String,
    pub(super) written: bool,
    day: Option<Date>,
}

/// A note as the next entry finds it.
#[derive(Debug)]
pub struct Page<'a> {
    pub(super) defaults: &'a Defaults,
    pub(super) known: Known,
    pub(super) ops: Vec<Op>,
    made: BTreeMap<String, String>,
    /// Items that wait to be one operation at the end of the current phase.
    run: Vec<Item>,
    pub(super) phase: Option<Current>,
    pub(super) values: BTreeMap<String, Json>,
    pub(super) status: Option<Status>,
    channel: Option<String>,
    host: Option<String>,
    /// Agents of the phases, in order.
    pub(super) agents: Vec<Agent>,
    pub(super) tasks: Vec<Task>,
    /// Rows of tasks that wait to be one operation.
    rows: Vec<Task>,
    /// Usage that is not yet in the note's table.
    pub(super) usage: Vec<(String, session::event::Usage)>,
    pub(super) cost: f64,
    /// Entries that named something which is not there.
    pub(super) lost: Vec<Missing>,
}

impl<'a> Page<'a> {
    /// That of a note; `made` are ids that were given lately.
    pub fn of<'m>(note: &Note, defaults: &'a Defaults, made: impl Iterator<Item = &'m str>) -> Self {
        let (session, _) = session::read::session(note);
        let known = Known::of(note, &session, made);
        // A section without agent and id is a person's: nothing is logged below it.
        let open = session.phases.iter().rfind(|phase| phase.agent.is_some() || phase.id_written);
        let phase = open.map(|phase| Current {
            id: phase.id.clone(),
            written: phase.id_written,
            day: phase.started.map(time::date),
        });
        let mut page = Self {
            defaults,
            known,
            ops: Vec::new(),
            made: BTreeMap::new(),
            run: Vec::new(),
            phase,
            values: frontmatter::read(note).into_iter().collect(),
            status: session.meta.status.clone(),
            channel: session.meta.channel.clone(),
            host: session.meta.host.clone(),
            agents: session.phases.iter().filter_map(|phase| phase.agent.clone()).collect(),
            tasks: session.tasks().into_iter().cloned().collect(),
            rows: Vec::new(),
            usage: Vec::new(),
            cost: 0.0,
            lost: Vec::new(),
        };
        page.known.in_list &= session.phases.last().is_some_and(|last| page.is_current(&last.id));
        page
    }

    fn is_current(&self, id: &str) -> bool {
        self.phase.as_ref().is_some_and(|phase| phase.id == id)
    }

    /// What an entry names and this note does not have; for those who can still be told.
    pub fn missing(&self, entry: &Entry) -> Option<Missing> {
        for name in entry.names().into_iter().filter_map(link::block) {
            if matches!(entry, Entry::Tool(_)) && name == self.known.peek("n", 3) {
                let message = format!("a step cannot come after itself: {name} is what this one will be");
                return Some(Missing { message, hint: self.steps() });
            }
            if !self.known.has(&name) {
                return Some(Missing { message: format!("no block '{name}' in this session"), hint: self.steps() });
            }
        }
        let titles = |blocks: &[Block], what: &str| {
            let of = |block: &Block| format!("{} {}", block.item.id().unwrap_or("-"), block.callout().title);
            let lines: Vec<String> = blocks.iter().rev().take(8).map(of).collect();
            if lines.is_empty() { format!("it has no {what}s") } else { format!("{what}s:\n  {}", lines.join("\n  ")) }
        };
        match entry {
            Entry::Resolve(it) if Known::find(&self.known.errors, &it.error, is_open).is_none() => Some(Missing {
                message: format!("no error '{}' in this session", it.error),
                hint: titles(&self.known.errors, "error"),
            }),
            Entry::Answer(it) if Known::find(&self.known.questions, &it.question, is_open).is_none() => Some(Missing {
                message: format!("no question '{}' in this session", it.question),
                hint: titles(&self.known.questions, "question"),
            }),
            Entry::Task(entry::Task { task: Some(name), content: None, .. }) => {
                task::find(&self.tasks, name).is_none().then(|| task::missing(&self.tasks, name))
            }
            _ => None,
        }
    }

    fn steps(&self) -> String {
        let next = self.known.peek("n", 3);
        match next.trim_start_matches("n-").parse::<u64>() {
            Ok(2) => "its only step is n-001".to_owned(),
            Ok(next) if next > 2 => format!("its steps are n-001 to n-{:03}", next - 1),
            _ => "it has no step yet".to_owned(),
        }
    }

    /// Takes in one entry of the journal. `at` is when it was logged.
    pub fn entry(&mut self, id: &str, at: Timestamp, entry: &Entry) {
        let at = entry.at().unwrap_or(at);
        if !matches!(entry, Entry::Status(_)) && self.status == Some(Status::Paused) {
            self.set_status(&Status::Active);
        }
        let made = match entry {
            Entry::Phase(it) => Some(self.begin(it, at)),
            Entry::Tool(it) => Some(self.tool(it, at)),
            Entry::Decision(it) => self.place(item::decision(it), it.after.as_deref().or(last(&it.rests_on))),
            Entry::Error(it) => {
                let id = self.known.next("e", 3);
                let item = item::error(it, &id);
                let phase = self.place_of(it.after.as_deref().or(last(&it.step)));
                self.known.errors.push(Block::new(phase.as_deref(), &item));
                self.place(item, it.after.as_deref().or(last(&it.step)));
                Some(id)
            }
            Entry::Resolve(it) => self.resolve(it, at),
            Entry::User(it) => self.place(item::user(it), it.after.as_deref()),
            Entry::Subagent(it) => self.subagent(it),
            Entry::SubagentDone(it) => self.subagent_done(it),
            Entry::Task(it) => {
                // Before the first phase the fence stands among the items.
                let among = self.phase.is_none();
                if among {
                    self.flush();
                }
                let row = task::row(&mut self.tasks, it);
                let id = row.id.clone();
                self.rows.push(row);
                if among {
                    self.flush();
                }
                Some(id)
            }
            Entry::Lesson(it) => self.place(item::lesson(it), it.after.as_deref()),
            Entry::Note(it) => self.place(item::note(it), it.after.as_deref()),
            Entry::Question(it) => {
                let id = self.known.next("q", 3);
                let item = item::question(it, &id);
                let phase = self.place_of(it.after.as_deref());
                self.known.questions.push(Block::new(phase.as_deref(), &item));
                self.place(item, it.after.as_deref());
                Some(id)
            }
            Entry::Answer(it) => self.answer(it),
            Entry::Checkpoint(it) => Some(self.checkpoint(it, at)),
            Entry::Usage(it) => {
                self.use_tokens(it);
                None
            }
            Entry::Status(it) => {
                self.change_status(it, at);
                None
            }
        };
        self.made.insert(id.to_owned(), made.unwrap_or_default());
    }

    /// Everything as operations, and the ids that were given by entry.
    pub fn finish(mut self) -> (Vec<Op>, BTreeMap<String, String>) {
        self.flush();
        self.write_usage(false);
        (self.ops, self.made)
    }

    /// A phase begins; its id.
    fn begin(&mut self, it: &entry::Phase, at: Timestamp) -> String {
        self.flush();
        self.totals();
        let agent = it.agent.as_deref().map(Agent::parse).filter(|agent| !agent.name.is_empty());
        // A part of a phase is the work of whoever does the phase.
        let same = || self.agents.last().cloned().filter(|_| it.sub);
        let agent = agent.or_else(same).unwrap_or_else(|| self.agent());
        let channel = it.channel.as_deref().map(|channel| channel.trim().trim_start_matches('#').to_owned());
        let phase = Phase {
            id: self.known.next("p", 2),
            id_written: true,
            level: if it.sub && self.phase.is_some() { 3 } else { 2 },
            title: fold_whitespace(&sanitise(&it.title)),
            agent: Some(agent.clone()),
            channel: channel.filter(|channel| !channel.is_empty()).or_else(|| self.channel.clone()),
            started: Some(at),
            ..Phase::default()
        };
        self.ops.push(Op::Phase { text: render::phase(&phase) });
        self.agents.push(agent);
        self.known.begin();
        self.phase = Some(Current { id: phase.id.clone(), written: true, day: Some(time::date(at)) });
        phase.id
    }

    /// Who works where nobody says: the session's first participant, the configured agent, the agent of the phase
    /// before, the host.
    fn agent(&self) -> Agent {
        let participants = self.values.get("participants");
        let first = participants.and_then(|value| value.as_array().map_or(value.as_str(), |all| all.first()?.as_str()));
        let named =
            first.map(Agent::parse).or_else(|| self.defaults.agent.clone()).or_else(|| self.agents.last().cloned());
        let named = named.or_else(|| self.host.as_deref().map(Agent::parse));
        named.filter(|agent| !agent.name.is_empty()).unwrap_or_else(|| Agent::parse("agent"))
    }

    fn tool(&mut self, it: &entry::Tool, at: Timestamp) -> String {
        if self.phase.is_none() {
            self.begin(&entry::Phase { title: "Work".to_owned(), ..entry::Phase::default() }, at);
        }
        let mut step = item::step(it, at);
        let id = self.known.next("n", 3);
        step.id = Some(id.clone());
        self.put(Item::Step(step));
        id
    }

    /// The phase that an item goes to.
    pub(super) fn place_of(&self, after: Option<&str>) -> Option<String> {
        let named = after.and_then(link::block).and_then(|id| self.known.places.get(&id.to_lowercase()));
        named.map_or_else(|| self.phase.as_ref().map(|phase| phase.id.clone()), |place| place.phase.clone())
    }

    /// An item behind the block that `after` names, else at the end of the phase.
    pub(super) fn place(&mut self, item: Item, after: Option<&str>) -> Option<String> {
        let after = after.and_then(link::block).filter(|id| self.known.has(id));
        let Some(id) = after else {
            self.put(item);
            return None;
        };
        let place = self.known.places.get(&id.to_lowercase()).cloned().unwrap_or_default();
        // Behind the last list of the phase is at its end, and there what comes later stands later.
        let here = self.phase.as_ref().map(|phase| phase.id.as_str()) == place.phase.as_deref();
        if here && place.list.is_some_and(|list| list == self.known.lists) {
            self.put(item);
            return None;
        }
        self.flush();
        let text = render::items(std::slice::from_ref(&item), None);
        // Behind what stands there already, as far as that can be named.
        let block = place.list.and_then(|list| self.known.tails.get(&list).cloned()).unwrap_or(id);
        if let Some(id) = item.id() {
            self.known.take(id);
            self.known.places.insert(id.to_lowercase(), Place { phase: place.phase.clone(), list: None });
            if let Some(list) = place.list {
                self.known.tails.insert(list, id.to_owned());
            }
        }
        self.ops.push(Op::InsertAfter { block, phase: place.phase, text });
        None
    }

    /// An item at the end of the phase, or of the preface where there is none.
    pub(super) fn put(&mut self, item: Item) {
        let phase = self.phase.as_ref().map(|phase| phase.id.clone());
        self.known.put(phase.as_deref(), &item);
        self.known.usage_is_last = false;
        self.run.push(item);
    }

    /// What waits becomes operations.
    pub(super) fn flush(&mut self) {
        if !self.rows.is_empty() {
            self.ops.push(Op::Tasks { rows: std::mem::take(&mut self.rows), all: false });
        }
        if self.run.is_empty() {
            return;
        }
        let run = std::mem::take(&mut self.run);
        let text = render::items(&run, self.phase.as_ref().and_then(|phase| phase.day));
        self.ops.push(match &self.phase {
            Some(phase) => Op::Append { phase: Some(phase.id.clone()), text },
            None => Op::Preface { text },
        });
    }

    /// A block becomes another one.
    pub(super) fn replace(&mut self, old: &Block, new: String) {
        self.flush();
        self.ops.push(Op::Replace { phase: old.phase.clone(), old: old.text.clone(), new });
    }

    fn resolve(&mut self, it: &entry::Resolve, at: Timestamp) -> Option<String> {
        let Some(index) = Known::find(&self.known.errors, &it.error, is_open) else {
            // Named before somebody deleted it: what was done about it is still told.
            let entry =
                entry::Error { title: it.error.clone(), resolution: Some(it.text.clone()), ..Default::default() };
            self.lose(format!("no error '{}'; its resolution stands as an error of its own", it.error));
            let id = self.known.next("e", 3);
            let mut item = item::error(&entry, &id);
            if let Item::Error(error) = &mut item {
                error.callout.at = it.at.map(|_| at);
            }
            self.put(item);
            return Some(id);
        };
        let old = self.known.errors[index].clone();
        let said = item::error(&entry::Error { resolution: Some(it.text.clone()), ..Default::default() }, "");
        if let (Item::Error(mut whole), Item::Error(mut more)) = (old.item.clone(), said) {
            more.callout.id = None;
            let texts = [whole.resolution.take(), more.resolution.clone()];
            whole.resolution = Some(texts.into_iter().flatten().collect::<Vec<_>>().join("\n"));
            whole.resolved_by.extend(more.resolved_by.iter().cloned());
            let new = old.with(&Item::Error(more), 1, Item::Error(whole));
            self.replace(&old, new.text.clone());
            self.known.errors[index] = new;
        }
        old.item.id().map(str::to_owned)
    }

    fn answer(&mut self, it: &entry::Answer) -> Option<String> {
        let body = format!("Answer: {}", sanitise(&it.text).trim());
        let Some(index) = Known::find(&self.known.questions, &it.question, is_open) else {
            self.lose(format!("no question '{}'; its answer stands as one of its own", it.question));
            let id = self.known.next("q", 3);
            let title = fold_whitespace(&sanitise(&it.question));
            let callout = Callout { body, id: Some(id.clone()), ..item::callout("question", title, it.at) };
            self.put(Item::Callout(callout));
            return Some(id);
        };
        let old = self.known.questions[index].clone();
        let mut whole = old.callout();
        whole.body =
            [whole.body.trim_end(), &body].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
        let more = Callout { body, ..item::callout("question", String::new(), it.at) };
        let mut new = old.with(&Item::Callout(more), 1, Item::Callout(whole.clone()));
        whole.fields.push(("Answer".to_owned(), it.text.clone()));
        new.item = Item::Callout(whole);
        self.replace(&old, new.text.clone());
        self.known.questions[index] = new;
        old.item.id().map(str::to_owned)
    }

    fn checkpoint(&mut self, it: &entry::Checkpoint, at: Timestamp) -> String {
        let open = self.tasks.iter().filter(|task| task.status != "completed");
        let mut lines: Vec<String> = open.map(|task| format!("Open: {}", open_task(task))).collect();
        let questions = self.known.questions.iter().filter(|block| is_open(block));
        lines.extend(questions.map(|block| format!("Question: {}", block.callout().title)));
        let blocked = it.blocked.as_deref().map(|text| fold_whitespace(&sanitise(text)));
        lines.extend(blocked.map(|text| format!("Blocked: {text}")));
        let kind = it.kind.as_deref().map(|kind| fold_whitespace(&sanitise(kind)));
        let kind = kind.filter(|kind| !kind.is_empty()).unwrap_or_else(|| "manual".to_owned());
        let title = fold_whitespace(&sanitise(&it.title));
        let title = if title.is_empty() { kind } else { format!("{kind}: {title}") };
        let stamp: String = time::format(at).replace('T', "-").chars().filter(|c| !matches!(c, ':' | 'Z')).collect();
        // `2026-11-20-100212`: the date's dashes go.
        let stamp = stamp.replacen('-', "", 2);
        let id = self.known.claim(format!("cp-{stamp}"));
        let callout =
            Callout { id: Some(id.clone()), body: lines.join("\n"), ..item::callout("checkpoint", title, None) };
        self.put(Item::Callout(callout));
        id
    }

    fn subagent(&mut self, it: &entry::Subagent) -> Option<String> {
        let mode = it.mode.unwrap_or(self.defaults.mode);
        let session = it.session.clone().filter(|_| mode != SubagentMode::Inline)?;
        self.add_row(&session, it);
        if mode == SubagentMode::Link {
            let told = entry::SubagentDone {
                agent: it.agent.clone(),
                model: it.model.clone(),
                task: it.task.clone(),
                ..Default::default()
            };
            let item = item::subagent(&told, mode, Some(Link::to_note(session.clone())), Vec::new());
            let phase = self.place_of(it.after.as_deref());
            self.known.subagents.push(Block::new(phase.as_deref(), &item));
            self.place(item, it.after.as_deref());
        }
        Some(session)
    }

    pub(super) fn lose(&mut self, message: String) {
        self.lost.push(Missing { message, hint: String::new() });
    }
}

/// `0.12`, `0.0034`: two decimals, four where they say something.
fn dollars(cost: f64) -> String {
    let text = format!("{cost:.4}");
    text.strip_suffix("00").map_or(text.clone(), str::to_owned)
}

/// `TASK-008 Rotate signing keys (in_progress)`.
fn open_task(task: &Task) -> String {
    let words = fold_whitespace(&sanitise(&task.content));
    let id = if task.id.is_empty() { String::new() } else { format!("{} ", task.id) };
    format!("{id}{words} ({})", task.status)
}

/// Whether an error has no resolution, a question no answer.
fn is_open(block: &Block) -> bool {
    match &block.item {
        Item::Error(it) => it.resolution.is_none(),
        Item::Callout(it) => it.field("Answer").is_none(),
        _ => true,
    }
}

fn last(names: &[String]) -> Option<&str> {
    names.last().map(String::as_str)
}

impl Page<'_> {
    /// Adds tokens to the table.
    fn use_tokens(&mut self, it: &entry::Usage) {
        let used = session::event::Usage {
            input: it.input,
            output: it.output,
            cache_write: it.cache_write,
            cache_read: it.cache_read,
        };
        let model = fold_whitespace(&sanitise(&it.model));
        match self.usage.iter_mut().find(|(name, _)| *name == model) {
            Some((_, sum)) => sum.add(used),
            None => self.usage.push((model, used)),
        }
        self.cost += it.cost.filter(|cost| cost.is_finite() && *cost > 0.0).unwrap_or_default();
    }

    /// The table with what was used since, if anything was; `last`: at the end of the note.
    pub(super) fn write_usage(&mut self, last: bool) {
        let old = self.known.usage.clone();
        let moves = last && old.is_some() && !self.known.usage_is_last;
        if self.usage.is_empty() && self.cost == 0.0 && !moves {
            return;
        }
        let mut callout =
            old.as_ref().map(Block::callout).unwrap_or_else(|| item::callout(usage::KIND, String::new(), None));
        let mut rows = usage::read(&callout.body);
        for (model, used) in std::mem::take(&mut self.usage) {
            match rows.iter_mut().find(|(name, _)| *name == model) {
                Some((_, sum)) => sum.add(used),
                None => rows.push((model, used)),
            }
        }
        let cost = self.written_cost() + std::mem::take(&mut self.cost);
        callout.title = usage::title(&rows);
        // What somebody wrote around the table stays there.
        let others =
            callout.body.lines().filter(|line| !line.trim_start().starts_with('|') && !line.starts_with("Cost: "));
        let others = others.collect::<Vec<_>>().join("\n");
        let cost = (cost > 0.0).then(|| format!("Cost: {} USD", dollars(cost)));
        let parts = [usage::table(&rows), cost.unwrap_or_default(), others.trim().to_owned()];
        callout.body = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
        let item = Item::Callout(callout);
        let mut new = Block::new(None, &item);
        match old {
            Some(old) if !moves => {
                new.phase.clone_from(&old.phase);
                self.replace(&old, new.text.clone());
            }
            old => {
                if let Some(old) = old {
                    self.replace(&old, String::new());
                }
                new.phase = self.phase.as_ref().map(|phase| phase.id.clone());
                self.put(item);
                self.known.usage_is_last = true;
                self.flush();
            }
        }
        self.known.usage = Some(new);
    }

    /// The cost that the table says, in dollars.
    pub(super) fn written_cost(&self) -> f64 {
        let callout = self.known.usage.as_ref().map(Block::callout).unwrap_or_default();
        let line = callout.body.lines().find_map(|line| line.strip_prefix("Cost: ").map(str::to_owned));
        line.and_then(|line| line.split(' ').next()?.parse().ok()).filter(|cost: &f64| cost.is_finite()).unwrap_or(0.0)
    }
}
