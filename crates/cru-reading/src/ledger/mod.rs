//! A session as a reader is shown it: every step and every word with its id, and what rules find worth a look.
//!
//! It is made of the note alone, so that its hash is the same on every machine that has the note. Ends of long outputs, and the
//! first lines of what edits changed, are shown as well where the transcript is at hand, and are not part of the hash.

mod line;
mod trigger;

use std::collections::HashMap;
use std::fmt::Write as _;

use cru_base::text::{one_line, plural, sanitise};
use cru_graph::segment;
use cru_session::attempt::is_shell;
use cru_session::mask::Masks;
use cru_session::{Item, Session, Step, StepStatus};

use crate::answer::ended;
use crate::full_text::{FullText, shortcut};
use line::ShownLine;
pub(crate) use trigger::is_last_check_failed;
pub use trigger::{Trigger, triggers};

/// Characters of words and prose that are shown; of longer ones the beginning and the end.
const LONGEST: usize = 6_000;
/// Characters of a line where all are too long, from the most to the fewest.
const WIDTHS: &[usize] = &[1_600, 800, 400, 240, 160, 100, 60];
/// Characters of a command.
const COMMAND: usize = 700;

/// A session as a reader is shown it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// What is said of the session as a whole.
    pub head: String,
    /// The lines that stand below each step, by its id.
    lines: HashMap<String, Vec<ShownLine>>,
    /// What stands in each phase; the first one holds what stands before all phases as well.
    pub phases: Vec<LedgerPhase>,
}

/// A phase as a reader is shown it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerPhase {
    /// Block id without `^`; empty for what stands before the first phase.
    pub id: String,
    /// The text.
    pub text: String,
    /// The text as it is hashed: without what the transcript adds.
    hashed: String,
}

impl Ledger {
    /// Of a session; `forked` as [`segment::breaks`] wants it, `full` the texts of its transcript.
    pub fn of(session: &Session, forked: bool, full: &HashMap<String, FullText>) -> Self {
        let lines = line::shown(session, full);
        let mut phases = Vec::new();
        let mut masks = Masks::unnumbered();
        let mut add = |id: &str, heading: String, items: &[Item]| {
            let mut phase = LedgerPhase { id: id.to_owned(), ..LedgerPhase::default() };
            phase.push(&heading, "");
            let mut repeats = Repeats::default();
            for item in items {
                repeats.before(item, &mut phase);
                phase.add(item, full, &lines, repeats.hides());
            }
            repeats.end(&mut phase);
            phase.text = masks.text(&phase.text).into_owned();
            phases.push(phase);
        };
        let preface: Vec<Item> = session.preface.iter().filter(|item| !item.is_top()).cloned().collect();
        if preface.iter().any(|item| !is_derived(item)) {
            add("", "## (before the first phase)\n".to_owned(), &preface);
        }
        for phase in &session.phases {
            let agent = phase.agent.as_ref().map(|agent| format!(" @{}", agent.name)).unwrap_or_default();
            let from = phase.from.as_ref().map(|from| format!(" (goes back to {from})")).unwrap_or_default();
            let heading = format!("## {} {}{agent}{from}\n", phase.id, one_line(&phase.title));
            add(&phase.id, heading, &phase.items);
        }
        Self { head: head(session, forked), lines, phases }
    }

    /// The lines that stand below a step, in the order of their numbers.
    pub(crate) fn lines(&self, id: &str) -> impl Iterator<Item = &str> {
        self.lines.get(id).into_iter().flatten().map(|line| line.text.as_str())
    }

    /// The hash of the record: of all that is shown but for what the transcript adds.
    pub fn note(&self) -> String {
        self.hash_before(self.phases.len())
    }

    /// The hash of the first `count` phases.
    pub fn hash_before(&self, count: usize) -> String {
        let texts: Vec<&str> = self.phases.iter().take(count).map(|phase| phase.hashed.as_str()).collect();
        crate::hash(&texts)
    }

    /// Head and phases in about `room` bytes: where they are longer, the middles of long lines are left out. No line is.
    pub fn within(&self, room: usize) -> String {
        let texts = std::iter::once(self.head.as_str()).chain(self.phases.iter().map(|phase| phase.text.as_str()));
        let whole: String = texts.collect::<Vec<_>>().join("\n");
        if whole.len() <= room {
            return whole;
        }
        let mut text = String::new();
        for &width in WIDTHS {
            text = whole.lines().flat_map(|line| [middle_out(line, width), "\n".to_owned()]).collect();
            if text.len() <= room {
                break;
            }
        }
        text
    }

    /// The place of a phase.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.phases.iter().position(|phase| phase.id == id)
    }

    /// The phases from `from` on in parts of at most `most` tokens, counted by `tokens`; a phase that is longer alone is cut
    /// at its lines.
    pub fn parts(&self, from: usize, most: u64, tokens: &dyn Fn(&str) -> u64) -> Vec<String> {
        let mut parts: Vec<String> = Vec::new();
        let (mut part, mut size) = (String::new(), 0);
        for phase in self.phases.iter().skip(from) {
            let fits = tokens(&phase.text) <= most;
            let pieces: Vec<&str> =
                if fits { vec![phase.text.as_str()] } else { phase.text.split_inclusive('\n').collect() };
            let heading = phase.text.split_inclusive('\n').next().unwrap_or_default();
            for (at, piece) in pieces.into_iter().enumerate() {
                let cost = tokens(piece);
                if size + cost > most && !part.is_empty() {
                    parts.push(std::mem::take(&mut part));
                    size = 0;
                    if at > 0 {
                        // Words of the agent are cited by their phase: it is named again.
                        part.push_str(heading);
                    }
                }
                part.push_str(piece);
                size += cost;
            }
        }
        if !part.is_empty() {
            parts.push(part);
        }
        parts
    }
}

impl LedgerPhase {
    fn push(&mut self, text: &str, more: &str) {
        self.text.push_str(text);
        self.text.push_str(more);
        self.hashed.push_str(text);
    }

    /// Adds an item; one that is `hidden` is hashed and not shown.
    fn add(
        &mut self,
        item: &Item,
        full: &HashMap<String, FullText>,
        lines: &HashMap<String, Vec<ShownLine>>,
        hidden: bool,
    ) {
        match item {
            Item::Step(step) => {
                let id = step.id.as_deref().unwrap_or_default();
                let full = full.get(id);
                let text = without_end(step);
                if !hidden {
                    let end = ended(step.status, step.verdict(), step.exit);
                    let off = shortcut(&step.action(), full);
                    let off = off.map(|off| format!(", switches a check off: `{off}`")).unwrap_or_default();
                    // A call that never ran reads like one that did.
                    let shown = match text.split_once(' ') {
                        Some((id, call)) if step.status == StepStatus::Denied => format!("{id} (did not run) {call}"),
                        _ => text.clone(),
                    };
                    let _ = writeln!(self.text, "{shown} [{end}{off}]");
                    let changed = full.filter(|_| !line::took_no_effect(step));
                    self.text.push_str(&line::below(lines.get(id).map(Vec::as_slice).unwrap_or_default(), changed));
                }
                self.hashed.push_str(&format!("{text} [{}]\n", hashed_end(step)));
            }
            Item::User(user) => {
                // Words without an id of their own are cited by their phase.
                let id = user.callout.id.as_deref().unwrap_or(&self.id).to_owned();
                let title = one_line(&user.callout.title);
                let title = if title.is_empty() { title } else { format!(" ({title})") };
                self.push(&format!("{id} person{title}:\n{}", block(&user.words)), "");
            }
            Item::Prose(prose) => {
                let text = prose.text.trim();
                if !text.is_empty() && !cru_graph::turn::is_label(text) {
                    self.push(&format!("agent:\n{}", block(text)), "");
                }
            }
            Item::Tasks(tasks) => {
                for task in &tasks.tasks {
                    self.push(&format!("task {} [{}]: {}\n", task.id, task.status, one_line(&task.content)), "");
                }
            }
            other => {
                let Some(callout) = other.callout().filter(|callout| !is_bookkeeping(&callout.kind)) else { return };
                if is_derived(other) {
                    return;
                }
                let id = callout.id.as_deref().map(|id| format!("{id} ")).unwrap_or_default();
                let title = one_line(&callout.title);
                self.push(&format!("{id}[{}] {title}\n{}", callout.kind, block(&callout.body)), "");
            }
        }
    }
}

/// Calls that come again and again with one end, as polls do: the first is shown, then how many followed.
#[derive(Default)]
struct Repeats {
    /// Arguments and end of the last call, and how often it came.
    last: Option<(String, u64)>,
    /// The first and last call that is not shown.
    hidden: Option<(String, String)>,
}

impl Repeats {
    /// Takes the next item in; tells of what was hidden before it, where that is over.
    fn before(&mut self, item: &Item, phase: &mut LedgerPhase) {
        let key = match item {
            // Only of a command all of the call is known here; one that changes files is none that only asks again.
            Item::Step(step) if is_shell(&step.tool) && step.writes.is_empty() => {
                Some(format!("{} {}", step.full_args(), hashed_end(step)))
            }
            _ => None,
        };
        match (&mut self.last, key) {
            (Some((known, times)), Some(key)) if *known == key => {
                *times += 1;
                let id = if let Item::Step(step) = item { step.id.clone().unwrap_or_default() } else { String::new() };
                match &mut self.hidden {
                    Some((_, last)) => *last = id,
                    None => self.hidden = Some((id.clone(), id)),
                }
            }
            (_, key) => {
                self.end(phase);
                self.last = key.map(|key| (key, 1));
            }
        }
    }

    /// Whether the item at hand is not shown.
    fn hides(&self) -> bool {
        self.last.as_ref().is_some_and(|(_, times)| *times > 1)
    }

    fn end(&mut self, phase: &mut LedgerPhase) {
        if let (Some((_, times)), Some((first, last))) = (self.last.take(), self.hidden.take()) {
            let ids = if first == last { first } else { format!("{first}..{last}") };
            let _ = writeln!(phase.text, "{ids} the same call, {}, with the same end", plural(times - 1, "more time"));
        }
    }
}

/// Callouts that say nothing of the work.
fn is_bookkeeping(kind: &str) -> bool {
    matches!(kind, "usage" | "checkpoint" | "conflict" | "deviation" | "thought")
}

/// Whether an item says nothing of the work.
fn is_derived(item: &Item) -> bool {
    match item {
        Item::Prose(prose) => prose.text.trim().is_empty(),
        other => other.callout().is_some_and(|callout| is_bookkeeping(&callout.kind)),
    }
}

fn head(session: &Session, forked: bool) -> String {
    let meta = &session.meta;
    let mut out = String::new();
    let mut say = |name: &str, value: Option<&str>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            let _ = writeln!(out, "{name}: {}", one_line(value));
        }
    };
    say("session", meta.session_id.as_deref());
    say("title", Some(session.title()));
    say("host", meta.host.as_deref());
    say("model", meta.model.as_deref());
    say("project", meta.project.as_deref());
    say("branch", meta.branch.as_deref());
    say("commit", meta.commit.as_deref());
    say("status", meta.status.as_ref().map(cru_session::Status::as_str));
    let breaks = segment::breaks(session, forked);
    for it in segment::segments(session, &breaks) {
        let name = |index: usize| session.phases.get(index).map(|phase| phase.id.as_str()).unwrap_or_default();
        let (first, last) = (name(it.phases.start), name(it.phases.end.saturating_sub(1)));
        let _ = writeln!(out, "segment {}: {first} to {last}, {} steps", it.id, it.steps);
    }
    out
}

/// A text with each line set off, so that it is told from what the program says.
fn block(text: &str) -> String {
    let mut out = String::new();
    for line in cut(&sanitise(text), LONGEST).lines() {
        let _ = writeln!(out, "| {line}");
    }
    out
}

/// A line without its middle where it is longer than `width` characters.
fn middle_out(line: &str, width: usize) -> String {
    let length = line.chars().count();
    if length <= width {
        return line.to_owned();
    }
    let head: String = line.chars().take(width * 2 / 3).collect();
    let tail: String = line.chars().skip(length - width / 3).collect();
    format!("{} […] {}", head.trim_end(), tail.trim_start())
}

/// A text of which the middle is left out where it is longer than `most` characters.
fn cut(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let (head, tail) = (most * 2 / 3, most / 3);
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{start}\n[{} characters left out]\n{end}", count - head - tail)
}

/// How a step ended, as it is hashed: readings of older versions name this hash.
fn hashed_end(step: &Step) -> String {
    let mut facts = Vec::new();
    facts.push(match step.status {
        StepStatus::Complete => "ok".to_owned(),
        other => other.name().to_owned(),
    });
    facts.extend(step.exit.map(|exit| format!("exit {exit}")));
    facts.extend(step.verdict().map(|verdict| format!("check {}", verdict.as_str())));
    facts.join(", ")
}

/// The line of a step without how it ended.
fn without_end(step: &Step) -> String {
    let args = one_line(&cut(step.full_args(), COMMAND));
    let result = step.result.as_deref().map(one_line).unwrap_or_default();
    let id = step.id.as_deref().unwrap_or("?");
    let result = if result.is_empty() { result } else { format!(" → {result}") };
    format!("{id} {} {args}{result}", one_line(&step.tool))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_note::Note;

    #[test]
    fn parts_hold_everything_and_name_their_phase() {
        let words = "word ".repeat(40);
        let lines: Vec<String> = (1..60).map(|n| format!("- `Bash make {n}` → {words} ^n-{n:03}\n")).collect();
        let lines = lines.concat();
        let text = format!(
            "---\ntype: session\nsession_id: s\n---\n# T\n\n## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n{lines}\n## Two @a #dev\n\n*2026-11-20T10:00:00Z* ^p-02\n\n- `Read x` → ok ^n-099\n"
        );
        let session = cru_session::read::session(&Note::parse(text)).0;
        let ledger = Ledger::of(&session, false, &HashMap::new());
        let count = |text: &str| text.len() as u64;
        let parts = ledger.parts(0, 4_000, &count);
        assert!(parts.len() > 2);
        assert!(parts.iter().all(|part| part.starts_with("## p-01 One") && part.len() < 4_200));
        for n in 1..60 {
            assert_eq!(parts.iter().filter(|part| part.contains(&format!("n-{n:03} Bash"))).count(), 1);
        }
        assert_eq!(ledger.parts(0, 1_000_000, &count).len(), 1);
        for room in [1, 10_000, 1_000_000] {
            let text = ledger.within(room);
            assert!((1..60).all(|n| text.contains(&format!("\nn-{n:03} Bash"))), "{room}\n{text}");
        }
        assert!(ledger.within(10_000).len() <= 10_000);
        assert_eq!(ledger.parts(1, 1_000_000, &count), [ledger.phases[1].text.clone()]);
        assert_eq!(ledger.parts(9, 10, &count), Vec::<String>::new());
        assert_ne!(ledger.note(), ledger.hash_before(1));
    }
}
