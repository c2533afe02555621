//! What is shown of a line's origin.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde::Serialize;

use super::WantedLines;
use super::find::{Origins, WriterNote};
use crate::action::Verdict;
use crate::base::text::{one_line, plural, truncate};
use crate::commands::View;
use crate::commands::output::style::{self, paint};
use crate::commands::output::{PlainOutput, cut, duration};
use crate::commands::trace::{TraceWorld, line_of};
use crate::graph::Place;
use crate::graph::place::items;
use crate::session::{FileRef, Item, Session};
use crate::trace::project::inside;
use crate::trace::why::{LineAnswer, LineOrigin, is_same_file, is_trivial};

/// Ranges that are told in full; more are a table.
const IN_FULL: usize = 3;

/// Characters of words that are shown.
const WORDS: usize = 72;

#[derive(Debug, Serialize)]
pub(super) struct WhyReport {
    schema: u32,
    path: String,
    in_repository: bool,
    /// Lines that were asked for, and those that a session wrote.
    lines: u64,
    traced: u64,
    ranges: Vec<OriginRange>,
}

/// Lines of one origin.
#[derive(Debug, Serialize)]
struct OriginRange {
    first: u64,
    last: u64,
    text: String,
    commit: Option<CommitShown>,
    origin: Option<OriginShown>,
    /// Where it cannot be told: a session that may have written the lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    perhaps: Option<String>,
    /// Sessions that read the file, the newest first; only where no session wrote the lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    readers: Vec<String>,
}

#[derive(Debug, Serialize)]
struct CommitShown {
    id: String,
    day: String,
    author: String,
    subject: String,
}

#[derive(Debug, Serialize)]
struct OriginShown {
    session: String,
    step: Option<String>,
    phase: Option<String>,
    /// `by commit and text`, `by commit`, `by text`.
    by: &'static str,
    agent: Option<String>,
    subagent_of: Option<String>,
    call: Option<String>,
    asked: Option<String>,
    steered: Vec<String>,
    decided: Vec<String>,
    checked: Option<String>,
    note: String,
    line: u64,
}

impl WhyReport {
    pub(super) fn of(origins: &Origins, wanted: &WantedLines, world: &TraceWorld) -> Self {
        let count = origins.lines.len();
        let at = |line: u64| usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX).min(count);
        let (from, to) = wanted.range.map_or((0, count), |(first, last)| (at(first), at(last) + 1));
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        let key = |at: usize| (origins.blame.lines[at].commit, shown(origins.lines[at]));
        for at in from..to.min(count) {
            match ranges.last_mut() {
                Some(last) if key(last.0) == key(at) => last.1 = at,
                _ => ranges.push((at, at)),
            }
        }
        let full = ranges.len() <= IN_FULL;
        let traced = origins.lines[from..to.min(count)].iter().filter(|it| it.origin.is_some()).count() as u64;
        let ranges = ranges.iter().map(|(first, last)| OriginRange::of(origins, *first, *last, full, world)).collect();
        Self {
            schema: 1,
            path: origins.path.clone(),
            in_repository: origins.in_repository,
            lines: (to.min(count) - from) as u64,
            traced,
            ranges,
        }
    }
}

impl OriginRange {
    fn of(origins: &Origins, first: usize, last: usize, full: bool, world: &TraceWorld) -> Self {
        let line = &origins.blame.lines[first];
        let commit = line.commit.and_then(|at| origins.blame.commits.get(at)).map(|it| CommitShown {
            id: it.id.get(..7).unwrap_or(&it.id).to_owned(),
            day: it.time.strftime("%F").to_string(),
            author: it.author.clone(),
            subject: it.subject.clone(),
        });
        let answer = origins.lines[first];
        let origin = answer.origin.map(|origin| OriginShown::of(origins, origin, full, world));
        let perhaps = answer.perhaps.and_then(|writer| origins.notes.get(writer)).map(|note| note.id.clone());
        let readers = if origin.is_none() && full { readers(origins) } else { Vec::new() };
        // A brace or a blank line says nothing of the range that it begins.
        let lines = &origins.blame.lines[first..=last];
        let text = lines.iter().map(|line| line.text.trim()).find(|text| !is_trivial(text)).unwrap_or(line.text.trim());
        let (first, last) = (first as u64 + 1, last as u64 + 1);
        Self { first, last, text: text.to_owned(), commit, origin, perhaps, readers }
    }
}

/// What lines of one range have in common.
fn shown(answer: LineAnswer) -> (Option<(usize, Place, bool)>, Option<usize>) {
    (answer.origin.map(|it| (it.writer, it.place, it.is_step)), answer.perhaps)
}

/// The sessions that read the file, the newest first.
fn readers(origins: &Origins) -> Vec<String> {
    const MOST: usize = 3;
    let reads = |note: &WriterNote| {
        let project = note.session.meta.project.as_deref().unwrap_or_default();
        let is_it = |file: &FileRef| {
            let path = inside(project, &file.path).unwrap_or_else(|| file.path.clone());
            is_same_file(&path, &origins.path)
        };
        let step = note.session.steps().filter(|(_, step)| step.reads.iter().any(is_it)).last()?.1;
        Some((step.time, format!("{}#{}", note.id, step.id.as_deref().unwrap_or("–"))))
    };
    // A file of the same name in another repository is another file.
    let here = origins.notes.iter().filter(|note| note.is_here);
    let mut all: Vec<(Option<Timestamp>, String)> = here.filter_map(reads).collect();
    all.sort_by(|a, b| b.cmp(a));
    all.into_iter().take(MOST).map(|(_, name)| name).collect()
}

impl OriginShown {
    fn of(origins: &Origins, origin: LineOrigin, full: bool, world: &TraceWorld) -> Self {
        let note = &origins.notes[origin.writer];
        let session = &note.session;
        let step = origin.place.step_in(session);
        let phase = origin.place.phase.and_then(|at| session.phases.get(at));
        let call = step.filter(|_| origin.is_step).map(|it| {
            let result = it.result.as_deref().map(|result| format!(" → {}", one_line(result)));
            format!("{} {}{}", it.tool, truncate(&one_line(&it.args), WORDS), result.unwrap_or_default())
        });
        let offset = origin.place.item_in(session).map_or(0, |item| item.span().start);
        let around = Around::of(session, origin.place);
        Self {
            session: note.id.clone(),
            step: step.and_then(|it| it.id.clone()).filter(|_| origin.is_step),
            phase: phase.map(|phase| phase.id.clone()),
            by: origin.proof.as_str(),
            agent: phase.and_then(|phase| phase.agent.as_ref()).map(ToString::to_string),
            subagent_of: session.meta.parent.as_ref().map(|link| link.target.clone()).filter(|_| note.is_subagent),
            call,
            asked: around.asked,
            steered: around.steered,
            decided: around.decided,
            checked: around.checked,
            note: note.path.to_string(),
            line: if full { line_of(&world.vault, &note.path, offset) } else { 0 },
        }
    }

    fn name(&self) -> String {
        let end = self.step.as_ref().or(self.phase.as_ref()).map(|id| format!("#{id}"));
        format!("{}{}", self.session, end.unwrap_or_default())
    }
}

/// What a person said around a step, and the check that followed.
#[derive(Default)]
struct Around {
    asked: Option<String>,
    steered: Vec<String>,
    decided: Vec<String>,
    checked: Option<String>,
}

impl Around {
    fn of(session: &Session, place: Place) -> Self {
        const MOST: usize = 2;
        let mut around = Self::default();
        let phase = |at: Option<usize>| at.and_then(|at| session.phases.get(at));
        let id = |at: Option<usize>| phase(at).map(|it| format!("{} ", it.id)).unwrap_or_default();
        let quoted =
            |at: Option<usize>, words: &str| format!("{}“{}”", id(at), truncate(&one_line(words.trim()), WORDS));
        let time = place.step_in(session).and_then(|step| step.time);
        for (at, item) in items(session) {
            let before = at < place;
            match item {
                Item::User(user) if before && user.correction => {
                    around.steered.push(quoted(at.phase, &user.words));
                }
                Item::User(user) if before => {
                    around.asked = Some(quoted(at.phase, &user.words));
                    around.steered.clear();
                }
                Item::Decision(decision) if at.phase == place.phase => {
                    around.decided.push(one_line(&decision.callout.title));
                }
                Item::Step(step) if at > place && around.checked.is_none() => {
                    let Some(verdict) = step.verdict() else { continue };
                    let later = step.time.zip(time).map(|(later, time)| later.duration_since(time).as_secs());
                    let later = later.and_then(|later| u64::try_from(later).ok());
                    let later = later.map(|later| format!(", {} later", duration(later))).unwrap_or_default();
                    let verdict = match verdict {
                        Verdict::Passed => "passed",
                        Verdict::Failed => "failed",
                        Verdict::Unknown => "result not known",
                    };
                    let call = truncate(&one_line(&step.args), 48).into_owned();
                    around.checked = Some(format!("{} {call}: {verdict}{later}", step.id.as_deref().unwrap_or("–")));
                }
                _ => {}
            }
        }
        if around.asked.is_none() {
            around.asked = phase(place.phase).map(|phase| format!("{} {}", phase.id, one_line(&phase.title)));
        }
        around.steered = around.steered.split_off(around.steered.len().saturating_sub(MOST));
        around.decided.truncate(MOST);
        around
    }
}

impl PlainOutput for WhyReport {
    fn is_no(&self) -> bool {
        self.traced == 0
    }

    fn shown(&self, view: &View) -> String {
        let mut out = String::new();
        if self.ranges.len() <= IN_FULL {
            for (at, range) in self.ranges.iter().enumerate() {
                if at > 0 {
                    out.push('\n');
                }
                range.text(&self.path, self.in_repository, view, &mut out);
            }
            return out;
        }
        for range in &self.ranges {
            let lines = if range.first == range.last {
                range.first.to_string()
            } else {
                format!("{}-{}", range.first, range.last)
            };
            let commit = range.commit.as_ref().map_or("–      ", |it| it.id.as_str());
            let origin = if let Some(origin) = &range.origin {
                let by = paint(style::DIM, origin.by);
                format!("{}  {by}", paint(style::ID, one_line(&origin.name())))
            } else {
                let author = range.commit.as_ref().map(|it| format!(" ({})", one_line(&it.author)));
                let words = match &range.perhaps {
                    Some(session) => format!("cannot tell; perhaps {}", one_line(session)),
                    None => "no session".to_owned(),
                };
                paint(style::DIM, format_args!("{words}{}", author.unwrap_or_default()))
            };
            let _ = writeln!(out, "{lines:>11}  {}  {origin}", paint(style::DIM, commit));
        }
        let _ = writeln!(out, "{} of {} have a session", self.traced, plural(self.lines, "line"));
        out
    }
}

impl OriginRange {
    fn text(&self, path: &str, in_repository: bool, view: &View, out: &mut String) {
        let lines =
            if self.first == self.last { self.first.to_string() } else { format!("{}-{}", self.first, self.last) };
        let _ = writeln!(out, "{}", paint(style::TITLE, format_args!("{}:{lines}", one_line(path))));
        let room = if view.terminal { view.width.saturating_sub(12).max(20) } else { 100 };
        let mut row = |name: &str, text: &str| {
            let _ = writeln!(out, "  {}  {}", paint(style::DIM, format_args!("{name:<7}")), text);
        };
        let count = 1 + self.last - self.first;
        let more = if count == 1 { String::new() } else { format!("  ({count} lines)") };
        row("line", &format!("{}{more}", cut(&one_line(&self.text), room)));
        match &self.commit {
            Some(it) => row("commit", &format!("{}  {}  {}", it.id, it.day, cut(&one_line(&it.subject), room))),
            None => row("commit", if in_repository { "not committed" } else { "no repository" }),
        }
        let Some(origin) = &self.origin else {
            let author = self.commit.as_ref().map(|it| format!("; committed by {}", one_line(&it.author)));
            let words = match &self.perhaps {
                Some(session) => format!("cannot tell; perhaps {}", one_line(session)),
                None => "no session in this vault wrote this line".to_owned(),
            };
            row("step", &format!("{words}{}", author.unwrap_or_default()));
            for reader in &self.readers {
                row("read by", &one_line(reader));
            }
            return;
        };
        let call = origin.call.as_deref().map(|call| format!("  {}", cut(&one_line(call), room)));
        let name = paint(style::ID, one_line(&origin.name()));
        row("step", &format!("{name}{}  {}", call.unwrap_or_default(), paint(style::DIM, origin.by)));
        if let Some(agent) = &origin.agent {
            let of = origin.subagent_of.as_ref().map(|parent| format!(", sub-agent of {}", one_line(parent)));
            row("agent", &format!("@{}{}", one_line(agent), of.unwrap_or_default()));
        }
        row("asked", &origin.asked.as_deref().map_or("–".into(), one_line));
        for words in &origin.steered {
            row("steered", &one_line(words));
        }
        match origin.decided.as_slice() {
            [] => row("decided", "–"),
            all => all.iter().for_each(|it| row("decided", &one_line(it))),
        }
        row("checked", &origin.checked.as_deref().map_or("–".into(), one_line));
        row("open", &format!("{}:{}", one_line(&origin.note), origin.line));
    }
}
