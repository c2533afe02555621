//! The rows of one session, from its record: the rows that `cru query` answers from.

use std::collections::{HashMap, HashSet};

use crate::note::NotedSession;
use crate::table::{Cell, RowTable, TableRows, day};
use crate::{FOLD_VERSION, digest};
use cru_base::lines::floor_char_boundary;
use cru_graph::{Place, Reason, Turn, dependencies, recoveries, turns};
use cru_index::Record;
use cru_session::{Item, Session, Step};
use cru_vault::VaultPath;

/// Bytes of the arguments of a step.
const ARGS: usize = 1024;

/// Actions that `activity` names.
const ACTIONS: usize = 24;

/// Where the calls of the steps of a session stand.
pub(crate) type StepPlaces = HashMap<String, Cell>;

/// What every row begins with.
#[derive(Clone, Debug)]
pub(crate) struct SessionHead {
    pub(crate) uid: String,
    pub(crate) family: i64,
    pub(crate) day: i32,
    pub(crate) host: String,
}

impl SessionHead {
    /// The columns that every table has.
    pub(crate) fn cells(&self) -> Vec<Cell> {
        vec![
            self.uid.as_str().into(),
            self.family.into(),
            Cell::Day(self.day),
            self.host.as_str().into(),
            FOLD_VERSION.into(),
        ]
    }
}

/// Adds rows of one session, each with its place in its table.
struct SessionRows<'a> {
    head: SessionHead,
    rows: &'a mut TableRows,
    /// Ids that were made up, so that each is another.
    made: HashMap<String, usize>,
    places: HashMap<RowTable, usize>,
}

impl SessionRows<'_> {
    /// Adds a row of a table that has places.
    fn add<const N: usize>(&mut self, table: RowTable, cells: [Cell; N]) {
        let place = self.places.entry(table).or_default();
        let mut row = self.head.cells();
        row.push((*place).into());
        row.extend(cells);
        *place += 1;
        self.rows.push(table, row);
    }

    /// The id of a block, else one that depends on what it says and on how often that was said before.
    fn id(&mut self, id: Option<&str>, kind: &str, text: &str) -> String {
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            return id.to_owned();
        }
        let id = format!("{kind}-{}", digest(&[&self.head.uid, kind, text], 16));
        let times = self.made.entry(id.clone()).or_default();
        *times += 1;
        if *times == 1 { id } else { format!("{id}-{times}") }
    }
}

/// Adds the rows of a session to all tables but `cases` and `accounting`.
pub(crate) fn add(family: i64, noted: &NotedSession, places: &StepPlaces, rows: &mut TableRows) {
    let session = &noted.session;
    let Some(path) = VaultPath::new(format!("sessions/{}.md", noted.uid)) else { return };
    let record = Record::of(&path, session, &noted.lines);
    let head =
        SessionHead { uid: noted.uid.clone(), family, day: day(session.meta.started), host: noted.host.to_owned() };
    add_session(&head, noted, &record, rows);
    let mut to = SessionRows { head, rows, made: HashMap::new(), places: HashMap::new() };
    for (phase, row) in session.phases.iter().zip(&record.phases) {
        let above = phase.parent.and_then(|parent| session.phases.get(parent)).map(|it| it.id.clone());
        to.add(
            RowTable::Phases,
            [
                row.id.as_str().into(),
                above.into(),
                row.title.as_str().into(),
                row.agent.clone().into(),
                row.channel.clone().into(),
                row.started.into(),
                row.steps.into(),
                row.failed_steps.into(),
            ],
        );
    }
    add_steps(&mut to, session, &record, places);
    add_messages(&mut to, session);
    for row in &record.decisions {
        let id = to.id(row.id.as_deref(), "decision", &format!("{}\n{}", row.title, row.text));
        to.add(
            RowTable::Decisions,
            [
                id.into(),
                row.phase.clone().into(),
                row.title.as_str().into(),
                row.text.as_str().into(),
                row.why.clone().into(),
                row.rejected.clone().into(),
                row.impact.clone().into(),
                row.at.into(),
            ],
        );
    }
    for row in &record.errors {
        let id = to.id(row.id.as_deref(), "error", &format!("{}\n{}", row.title, row.text));
        to.add(
            RowTable::Errors,
            [
                id.into(),
                row.phase.clone().into(),
                row.title.as_str().into(),
                row.text.as_str().into(),
                row.resolution.clone().into(),
                row.at.into(),
            ],
        );
    }
    for row in &record.tasks {
        let cells = [
            row.id.as_str().into(),
            row.content.as_str().into(),
            row.status.as_str().into(),
            row.priority.clone().into(),
        ];
        to.add(RowTable::Tasks, cells);
    }
    for row in &record.subagents {
        let id = to.id(row.id.as_deref(), "subagent", row.task.as_deref().unwrap_or_default());
        to.add(
            RowTable::Subagents,
            [
                id.into(),
                row.phase.clone().into(),
                row.agent.clone().into(),
                row.model.clone().into(),
                row.mode.as_str().into(),
                row.session.clone().into(),
                row.task.clone().into(),
                row.summary.clone().into(),
                row.tokens.into(),
            ],
        );
    }
    for row in &record.files {
        to.add(
            RowTable::Files,
            [
                row.path.as_str().into(),
                row.access.as_str().into(),
                row.hash.clone().into(),
                row.step.clone().into(),
                row.phase.clone().into(),
                row.tool.as_str().into(),
                row.time.into(),
            ],
        );
    }
    for row in &record.session.usage {
        to.add(
            RowTable::Tokens,
            [
                row.model.as_str().into(),
                row.input.into(),
                row.output.into(),
                row.cache_write.into(),
                row.cache_write_1h.into(),
                row.cache_read.into(),
            ],
        );
    }
    add_edges(&mut to, session);
}

fn add_session(head: &SessionHead, noted: &NotedSession, record: &Record, rows: &mut TableRows) {
    let (row, meta) = (&record.session, &noted.session.meta);
    let mut cells = head.cells();
    cells.extend([
        row.host_session.clone().into(),
        meta.host_version.clone().into(),
        row.agent.clone().into(),
        row.subagent.into(),
        row.parent.clone().into(),
        row.title.as_str().into(),
        row.status.clone().into(),
        row.started.into(),
        row.ended.into(),
        row.duration_ms.into(),
        row.active_ms.into(),
        row.model.clone().into(),
        row.project.clone().into(),
        row.branch.clone().into(),
        meta.commit.clone().into(),
        row.channel.clone().into(),
        row.tokens.into(),
        row.cost_usd.into(),
        row.phases.into(),
        row.steps.into(),
        row.failed_steps.into(),
        row.user.into(),
        row.corrections.into(),
        row.errors.into(),
        row.decisions.into(),
        row.proof.clone().into(),
        activity(&noted.session).into(),
        noted.masked.into(),
        row.transcript.clone().into(),
        meta.tags.clone().into(),
        noted.text.as_str().into(),
    ]);
    rows.push(RowTable::Sessions, cells);
}

/// What its first actions did, one after the other, repetitions left out.
fn activity(session: &Session) -> String {
    let mut classes: Vec<&'static str> = Vec::new();
    for (_, step) in session.steps() {
        let class = step.action().class().name();
        if classes.last() != Some(&class) {
            classes.push(class);
        }
        if classes.len() == ACTIONS {
            break;
        }
    }
    classes.join(">")
}

fn add_steps(to: &mut SessionRows<'_>, session: &Session, record: &Record, places: &StepPlaces) {
    let agents: HashMap<&str, Option<&String>> =
        record.phases.iter().map(|phase| (phase.id.as_str(), phase.agent.as_ref())).collect();
    let steps: Vec<&Step> = session.steps().map(|(_, step)| step).collect();
    for (step, row) in steps.into_iter().zip(&record.steps) {
        let args = step.full_args();
        let agent = row.phase.as_deref().and_then(|phase| agents.get(phase).copied().flatten());
        let action = step.action();
        to.add(
            RowTable::Steps,
            [
                row.id.clone().into(),
                row.phase.clone().into(),
                agent.cloned().into(),
                row.tool.as_str().into(),
                action.kind.name().into(),
                action.class().name().into(),
                args[..floor_char_boundary(args, ARGS)].into(),
                digest(&[args], 16).into(),
                row.result.clone().into(),
                row.status.as_str().into(),
                row.check.clone().into(),
                row.exit.into(),
                row.time.into(),
                row.duration_ms.into(),
                row.id.as_deref().and_then(|id| places.get(id)).cloned().unwrap_or_default(),
            ],
        );
    }
}

/// What people and agents said, in the order of the page.
fn add_messages(to: &mut SessionRows<'_>, session: &Session) {
    let conclusions: HashSet<usize> =
        turns(session).iter().filter_map(Turn::conclusion).map(|prose| prose.span.start).collect();
    for (phase, item) in session.items() {
        let (role, kind, text, id, time) = match item {
            Item::User(it) => {
                let kind = if it.correction { "correction" } else { "request" };
                ("user", kind, it.words.as_str(), it.callout.id.as_deref(), it.callout.at)
            }
            Item::Prose(it) => {
                let kind = if conclusions.contains(&it.span.start) { "conclusion" } else { "reply" };
                ("agent", kind, it.text.as_str(), it.id.as_deref(), None)
            }
            _ => continue,
        };
        let id = to.id(id, role, text);
        let phase = phase.map(|phase| phase.id.clone());
        to.add(RowTable::Messages, [id.into(), phase.into(), role.into(), kind.into(), text.into(), time.into()]);
    }
}

/// From which block, kind, reason, to which session and block of it.
type SessionEdge = (Option<String>, &'static str, Option<&'static str>, String, Option<String>);

fn add_edges(to: &mut SessionRows<'_>, session: &Session) {
    let own = to.head.uid.clone();
    let id = |place: Place| place.id_in(session).map(str::to_owned);
    let mut edges: Vec<SessionEdge> = Vec::new();
    if let Some(parent) = &session.meta.parent {
        edges.push((None, "from", None, parent.target.clone(), None));
    }
    for it in dependencies(session) {
        let reason = if it.reason == Reason::Written { "written" } else { "data" };
        edges.push((id(it.of), "after", Some(reason), own.clone(), id(it.on)));
    }
    for it in recoveries(session) {
        edges.push((id(it.worked), "recovers", None, own.clone(), id(it.failed)));
    }
    let linked = |target: &str| if target.is_empty() { own.clone() } else { target.to_owned() };
    for (_, item) in session.items() {
        let links = match item {
            Item::Step(step) => step.replays.iter().map(|link| ("replays", link)).collect::<Vec<_>>(),
            Item::Decision(it) => it.rests_on.iter().map(|link| ("rests-on", link)).collect(),
            _ => continue,
        };
        for (kind, link) in links {
            edges.push((item.id().map(str::to_owned), kind, None, linked(&link.target), link.block.clone()));
        }
    }
    for (from, kind, reason, to_uid, to_id) in edges {
        // An edge between blocks has both of them.
        if kind == "from" || (from.is_some() && to_id.is_some()) {
            to.add(
                RowTable::Edges,
                [from.into(), kind.into(), reason.map(str::to_owned).into(), to_uid.into(), to_id.into()],
            );
        }
    }
}
