//! A note as the next entry finds it, kept up to date while entries become operations.
//!
//! Items that go to the same place wait until something else comes, so that a thousand steps are one operation. What
//! an entry needs is in tables; the note is read once.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::Value as Json;

use super::amend::NoteCallout;
use super::known::{Known, KnownPlace};
use super::shown::ShownWords;
use super::task::Missing;
use super::{frontmatter, item, link, task};
use crate::entry::{self, Entry};
use cru_base::text::{fold_whitespace, sanitise};
use cru_note::Note;
use cru_session::op::Op;
use cru_session::seal::Seals;
use cru_session::{Agent, Item, Link, Phase, Status, SubagentMode, Task, render, time};

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
    pub(super) shown: ShownWords,
    pub(super) ops: Vec<Op>,
    made: BTreeMap<String, String>,
    /// Items that wait to be one operation at the end of the current phase.
    run: Vec<Item>,
    pub(super) phase: Option<Current>,
    pub(super) values: BTreeMap<String, Json>,
    /// Which values of these `cru` wrote.
    pub(super) seals: LazyCell<Seals, Box<dyn FnOnce() -> Seals + 'a>>,
    /// Which of the properties that say sums are those of the note's table of usage.
    pub(super) right_sums: Vec<&'static str>,
    pub(super) status: Option<Status>,
    channel: Option<String>,
    host: Option<String>,
    /// Agents of the phases, in order.
    pub(super) agents: Vec<Agent>,
    pub(super) tasks: Vec<Task>,
    /// Rows of tasks that wait to be one operation.
    rows: Vec<Task>,
    /// Usage that is not yet in the note's table.
    pub(super) usage: Vec<(String, cru_session::event::Usage)>,
    pub(super) cost: f64,
    /// Entries that named something which is not there.
    pub(super) lost: Vec<Missing>,
}

impl<'a> Page<'a> {
    /// That of a note; `seals` reads those of it, which few entries need, and `made` are ids that were given lately.
    pub fn of<'m>(
        note: &Note,
        seals: impl FnOnce() -> Seals + 'a,
        defaults: &'a Defaults,
        made: impl Iterator<Item = &'m str>,
    ) -> Self {
        let session = cru_session::read::written_content(note);
        let known = Known::of(note, &session, made);
        let shown = ShownWords::of(note, &session);
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
            shown,
            ops: Vec::new(),
            made: BTreeMap::new(),
            run: Vec::new(),
            phase,
            values: frontmatter::read(note).into_iter().collect(),
            seals: LazyCell::new(Box::new(seals)),
            right_sums: Vec::new(),
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
        let is_right = |(key, sum): &(&str, Json)| {
            page.values.get(*key).and_then(Json::as_f64).is_some_and(|now| Some(now) == sum.as_f64())
        };
        page.right_sums = page.sums().into_iter().filter(is_right).map(|(key, _)| key).collect();
        page.known.in_list &= session.phases.last().is_some_and(|last| page.is_current(&last.id));
        page
    }

    fn is_current(&self, id: &str) -> bool {
        self.phase.as_ref().is_some_and(|phase| phase.id == id)
    }

    /// Takes in one entry of the journal. `at` is when it was logged.
    pub fn entry(&mut self, id: &str, at: Timestamp, entry: &Entry) {
        let at = entry.at().unwrap_or(at);
        if !is_bookkeeping(entry) && self.status == Some(Status::Paused) {
            self.set_status(&Status::Active);
        }
        let made = match entry {
            Entry::Phase(it) => Some(self.begin(it, at)),
            Entry::Tool(it) => Some(self.tool(it, at)),
            Entry::Decision(it) => {
                let id = self.known.next("d", 2);
                self.place(item::decision(it, &id), it.after.as_deref().or(last(&it.rests_on)));
                Some(id)
            }
            Entry::Error(it) => {
                let id = self.known.next("e", 3);
                let item = item::error(it, &id);
                let phase = self.place_of(it.after.as_deref().or(last(&it.step)));
                self.known.errors.push(NoteCallout::new(phase.as_deref(), &item));
                self.place(item, it.after.as_deref().or(last(&it.step)));
                Some(id)
            }
            Entry::Resolve(it) => self.resolve(it, at),
            Entry::User(it) => {
                let id = self.known.next("u", 2);
                self.place(item::user(it, &id), it.after.as_deref());
                Some(id)
            }
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
                task::wait(&mut self.rows, row);
                if among {
                    self.flush();
                }
                Some(id)
            }
            Entry::Lesson(it) => {
                let id = self.known.next("l", 2);
                self.place(item::lesson(it, &id), it.after.as_deref());
                Some(id)
            }
            Entry::Note(it) => self.place(item::note(it), it.after.as_deref()),
            Entry::Summary(it) => self.place(item::summary(it), it.after.as_deref()),
            Entry::Context(it) => self.place(item::context(it), None),
            Entry::Question(it) => {
                let id = self.known.next("q", 3);
                let item = item::question(it, &id);
                let phase = self.place_of(it.after.as_deref());
                self.known.questions.push(NoteCallout::new(phase.as_deref(), &item));
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
        // As the heading can say it, and as it is then read.
        let agent = Agent::parse(&render::agent(&agent));
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
        self.join(agent);
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
            self.known.places.insert(id.to_lowercase(), KnownPlace { phase: place.phase.clone(), list: None });
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
        if self.run.last().is_some_and(|last| would_join(last, &item)) {
            // As an operation of its own it is kept apart.
            self.flush();
        }
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
    pub(super) fn replace(&mut self, old: &NoteCallout, new: String) {
        self.flush();
        self.ops.push(Op::Replace { phase: old.phase.clone(), old: old.text.clone(), new });
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
            self.known.subagents.push(NoteCallout::new(phase.as_deref(), &item));
            self.place(item, it.after.as_deref());
        }
        Some(session)
    }

    pub(super) fn lose(&mut self, message: String) {
        self.lost.push(Missing { message, hint: String::new() });
    }
}

/// Whether two items that stand together could be one list to a reader of markdown.
fn would_join(before: &Item, item: &Item) -> bool {
    let list = |text: &str| text.starts_with(['-', '*', '+']) || text.starts_with(|c: char| c.is_ascii_digit());
    match (before, item) {
        (Item::Step(_) | Item::Prose(_), Item::Prose(it)) => list(&it.text),
        _ => false,
    }
}

fn last(names: &[String]) -> Option<&str> {
    names.last().map(String::as_str)
}

/// Whether an entry tells of the session and not of work in it: it does not take a paused session up again.
fn is_bookkeeping(entry: &Entry) -> bool {
    match entry {
        Entry::Status(_) | Entry::Summary(_) | Entry::Context(_) => true,
        Entry::Checkpoint(it) => it.kind.as_deref().is_some_and(|kind| kind != "manual"),
        _ => false,
    }
}
