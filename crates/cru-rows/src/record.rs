//! The rows of one session, from its record: the rows that `cru list` answers from.

use std::collections::{HashMap, HashSet};

use jiff::tz::TimeZone;

use crate::note::NotedSession;
use crate::table::{RowCell, RowTable, TableRows, day};
use crate::{FOLD_VERSION, digest};
use cru_base::lines::floor_char_boundary;
use cru_graph::{Place, Reason, Turn, dependencies, recoveries, turns};
use cru_index::table::{CellValue, RowItem, TableRow, column, rows};
use cru_index::{Record, Table};
use cru_session::{Item, Session, Step};
use cru_vault::VaultPath;

/// Bytes of the arguments of a step.
const ARGS: usize = 1024;

/// Actions that `activity` names.
const ACTIONS: usize = 24;

/// Where the calls of the steps of a session stand.
pub(crate) type StepPlaces = HashMap<String, RowCell>;

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
    pub(crate) fn cells(&self) -> Vec<RowCell> {
        vec![
            self.uid.clone().into(),
            self.family.into(),
            i64::from(self.day).into(),
            self.host.clone().into(),
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
    fn add<const N: usize>(&mut self, table: RowTable, cells: [RowCell; N]) {
        let place = self.places.entry(table).or_default();
        let mut row = self.head.cells();
        row.push((*place).into());
        row.extend(cells);
        *place += 1;
        self.rows.push(table, row);
    }

    /// Adds the rows of a table of the record. A cell is what `own` gives, else what `cru list` has in the column.
    fn add_table(
        &mut self,
        table: RowTable,
        of: Table,
        record: &Record,
        own: impl Fn(&mut Self, usize, &str, TableRow<'_>) -> Option<RowCell>,
    ) {
        let columns: Vec<_> = table.own().iter().skip(1).collect();
        let query: Vec<_> =
            columns.iter().map(|column| of.columns().iter().find(|it| it.name == column.source)).collect();
        for (index, row) in rows(record, record.session.subagent, of.rows(), &TimeZone::UTC).enumerate() {
            let mut cells = self.head.cells();
            cells.push(index.into());
            for (column, query) in columns.iter().zip(&query) {
                let value = || query.map_or(CellValue::Null, |query| (query.get)(row).into_owned());
                cells.push(own(self, index, column.name, row).unwrap_or_else(value));
            }
            self.rows.push(table, cells);
        }
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
    let above = |index: usize| session.phases.get(index)?.parent.and_then(|above| session.phases.get(above));
    to.add_table(RowTable::Phases, Table::Phases, &record, |_, index, name, row| match name {
        "parent_phase" => Some(above(index).map(|it| it.id.clone()).into()),
        "agent" => Some(row.phase.and_then(|it| it.agent.clone()).into()),
        "channel" => Some(row.phase.and_then(|it| it.channel.clone()).into()),
        _ => None,
    });
    add_steps(&mut to, session, &record, places);
    add_messages(&mut to, session);
    // What has no id gets one.
    let made = |to: &mut SessionRows<'_>, _: usize, name: &str, row: TableRow<'_>| match (name, row.item) {
        ("decision_id", RowItem::Decision(it)) => {
            Some(to.id(it.id.as_deref(), "decision", &format!("{}\n{}", it.title, it.text)).into())
        }
        ("error_id", RowItem::Error(it)) => {
            Some(to.id(it.id.as_deref(), "error", &format!("{}\n{}", it.title, it.text)).into())
        }
        ("subagent_id", RowItem::Subagent(it)) => {
            Some(to.id(it.id.as_deref(), "subagent", it.task.as_deref().unwrap_or_default()).into())
        }
        _ => None,
    };
    to.add_table(RowTable::Decisions, Table::Decisions, &record, made);
    to.add_table(RowTable::Errors, Table::Errors, &record, made);
    to.add_table(RowTable::Tasks, Table::Tasks, &record, made);
    to.add_table(RowTable::Subagents, Table::Subagents, &record, made);
    to.add_table(RowTable::Files, Table::Files, &record, made);
    for row in &record.session.usage {
        to.add(
            RowTable::Tokens,
            [
                row.model.clone().into(),
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
    let utc = TimeZone::UTC;
    let query = TableRow::session(row, row.subagent, &utc);
    cells.extend(RowTable::Sessions.own().iter().map(|column| match column.name {
        "host_version" => meta.host_version.clone().into(),
        "commit" => meta.commit.clone().into(),
        "activity" => activity(&noted.session).into(),
        "masked" => noted.masked.into(),
        "tags" => meta.tags.clone().into(),
        "note" => noted.text.clone().into(),
        _ => column::of_session(column.source).map_or(CellValue::Null, |it| (it.get)(query).into_owned()),
    }));
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
    let actions: Vec<_> = steps.iter().map(|step| step.action()).collect();
    to.add_table(RowTable::Steps, Table::Steps, record, |_, index, name, row| {
        let (step, action) = (steps.get(index)?, actions.get(index)?);
        let RowItem::Step(own) = row.item else { return None };
        Some(match name {
            "agent" => own.phase.as_deref().and_then(|phase| agents.get(phase).copied().flatten()).cloned().into(),
            "kind" => action.kind.name().into(),
            "action" => action.class().name().into(),
            "args" => step.full_args()[..floor_char_boundary(step.full_args(), ARGS)].to_owned().into(),
            "args_hash" => digest(&[step.full_args()], 16).into(),
            "evidence" => own.id.as_deref().and_then(|id| places.get(id)).cloned().unwrap_or_default(),
            _ => return None,
        })
    });
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
        to.add(
            RowTable::Messages,
            [id.into(), phase.into(), role.into(), kind.into(), text.to_owned().into(), time.into()],
        );
    }
}

fn add_edges(to: &mut SessionRows<'_>, session: &Session) {
    let own = to.head.uid.clone();
    let id = |place: Place| place.id_in(session).map(str::to_owned);
    // From which block, kind, reason, to which session and block of it.
    let mut edges = Vec::new();
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
