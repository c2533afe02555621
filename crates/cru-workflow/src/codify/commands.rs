//! The calls of a step that are told: what somebody would run again, what failed, and what was refused.
//!
//! Told are calls that changed something, that checked something, that ran a program, and those that only looked where
//! looking was the work or where the conclusion rests on what they printed. Refused calls are never told as commands.

use std::collections::HashMap;

use cru_action::ToolKind;
use cru_graph::Place;
use cru_session::Session;
use cru_session::words::shorten::file_name;
use foldhash::HashSet;

use super::call::{Call, CallKind, Ended, bodies};
use super::data::Data;
use super::draft::Draft;
use super::input::Inputs;
use super::standing::Checks;
use super::unit::Entry;
use super::value::values;
use super::{block_link, clean, plain_code};
use crate::evidence::Evidence;
use crate::model::{Command, Part, Remark, RemarkKind, Script};
use crate::text::code_span;
use cru_base::Span;
use cru_base::text::{plural, sanitise, truncate};

/// Characters of a command on a line.
const MAX_COMMAND: usize = 300;
/// Characters of a command that is shown as a script.
const MAX_SCRIPT: usize = 6_000;
/// Lines of a here-document that are shown.
const MAX_BODY: usize = 60;
/// Runs of a step of which no more is known than that.
const MAX_RUNS: usize = 12;
/// Runs of code of several lines of a step that did nothing else.
const MAX_TYPED: usize = 2;
/// Looks of a step that did nothing else.
const MAX_LOOKS: usize = 10;
/// Looks at other machines of a step that did more.
const MAX_ASKED: usize = 4;
/// Later tries of a call, and places of a name, that are looked at.
const MAX_LATER: usize = 200;
/// Changes between a failure and a success that are looked at.
const MAX_CHANGES: usize = 200;
/// Changes that are named.
const MAX_NAMED: usize = 4;
/// Characters of what a call said that failed.
const MAX_SAID: usize = 200;

/// What is known of the whole session when the calls of a step are told.
pub(super) struct Whole<'a> {
    /// How the checks stand.
    pub checks: &'a Checks<'a>,
    /// Values that people gave.
    pub inputs: &'a Inputs,
    /// What the transcript says of the steps.
    pub evidence: &'a Evidence,
    /// The session's note, for links into it.
    pub note: Option<&'a str>,
    /// For each key the calls that tried it and of which it is known how they ended, in order.
    tried: HashMap<&'a str, Vec<&'a Call<'a>>>,
    /// Calls that changed something, in order.
    changes: Vec<&'a Call<'a>>,
    /// Places of calls that make commits or go on with a stopped one.
    finished: Vec<Place>,
}

impl<'a> Whole<'a> {
    pub(super) fn of(
        session: &'a Session,
        drafts: &'a [Draft<'_>],
        checks: &'a Checks<'a>,
        inputs: &'a Inputs,
        evidence: &'a Evidence,
    ) -> Self {
        let note = session.meta.session_id.as_deref();
        let mut whole =
            Self { checks, inputs, evidence, note, tried: HashMap::new(), changes: Vec::new(), finished: Vec::new() };
        for call in drafts.iter().flat_map(Draft::calls) {
            if let Some(key) = call.key.as_deref().filter(|_| call.succeeded() || call.failed()) {
                whole.tried.entry(key).or_default().push(call);
            }
            if call.succeeded() {
                let mends = matches!(call.kind, CallKind::Change | CallKind::Edit) || !call.writes.is_empty();
                whole.changes.extend(mends.then_some(call));
                whole.finished.extend(call.commits.then_some(call.place));
            }
        }
        whole.finished.sort_unstable();
        whole.changes.sort_by_key(|call| call.place);
        whole.tried.values_mut().for_each(|calls| calls.sort_by_key(|call| call.place));
        whole
    }

    /// The next call that tried what a failed one did, on all that it was tried on.
    fn next(&self, failed: &Call<'_>) -> Option<&'a Call<'a>> {
        let tried = self.tried.get(failed.key.as_deref()?)?;
        let later = &tried[tried.partition_point(|call| call.place <= failed.place)..];
        later.iter().take(MAX_LATER).find(|call| answers(call, failed)).copied()
    }

    /// Whether another try of it ended well later.
    fn worked_later(&self, failed: &Call<'_>) -> bool {
        let Some(tried) = failed.key.as_deref().and_then(|key| self.tried.get(key)) else { return false };
        let later = &tried[tried.partition_point(|call| call.place <= failed.place)..];
        later.iter().take(MAX_LATER).any(|call| call.succeeded() && answers(call, failed))
    }

    /// The link to the step of a call, in brackets with a blank before them; nothing where it has no id.
    fn at(&self, call: &Call<'_>) -> String {
        call.step.id.as_deref().map_or_else(String::new, |id| format!(" ({})", block_link(self.note, id)))
    }

    /// What lies between a failure and the try of it that worked, in words: what was changed that the failure names, else
    /// all that was changed. Which of several changes mended it nobody wrote down.
    fn between(&self, failed: &Call<'_>, worked: &Call<'_>) -> String {
        let from = self.changes.partition_point(|call| call.place <= failed.place);
        let until = self.changes.partition_point(|call| call.place < worked.place).max(from);
        let changes = &self.changes[from..until];
        let id = failed.step.id.as_deref();
        let printed = [self.evidence.output(id), failed.step.output.as_deref(), failed.step.result.as_deref()];
        let names = |path: &str| {
            let name = file_name(path);
            let mut told = printed.iter().flatten().copied().chain([failed.text.as_str()]);
            name.len() > 2 && told.any(|text| names_file(text, name))
        };
        let mut told: Vec<(String, Vec<&Call<'_>>)> = Vec::new();
        for call in changes.iter().take(MAX_CHANGES) {
            for path in call.writes.iter().filter(|path| names(path)) {
                add(&mut told, code_span(&clean(path)), call);
            }
        }
        let is_named = !told.is_empty();
        if !is_named {
            for call in changes.iter().take(MAX_CHANGES) {
                let name = match call.writes.first() {
                    Some(path) => clean(path),
                    None => first_line(&call.text),
                };
                add(&mut told, code_span(&name), call);
            }
        }
        let mut told_names: Vec<String> = Vec::new();
        for (name, calls) in told.iter().take(MAX_NAMED) {
            let links = calls.iter().filter_map(|call| call.step.id.as_deref()).map(|id| block_link(self.note, id));
            let links: Vec<String> = links.take(MAX_NAMED).collect();
            let links = if links.is_empty() { String::new() } else { format!(" {}", links.join(" ")) };
            told_names.push(format!("{name}{links}"));
        }
        let more = told.len().saturating_sub(MAX_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let list = format!("{}{more}", told_names.join(", "));
        match (is_named, changes.len()) {
            (_, 0) => "nothing recorded was changed between them".to_owned(),
            (true, _) => format!("after a change of what the failure names: {list}"),
            (false, count) => format!("after {}: {list}", plural(count as u64, "change")),
        }
    }

    /// Whether a merge or its like stopped and a later commit ended it.
    fn is_finished_later(&self, call: &Call<'_>) -> bool {
        let verb =
            |verb: &str| call.programs.iter().any(|it| it.strip_prefix("git ").is_some_and(|it| it.starts_with(verb)));
        let stops = ["merge", "rebase", "pull", "cherry-pick", "revert", "am", "stash pop"].into_iter().any(verb);
        stops && self.finished.last().is_some_and(|place| *place > call.place)
    }
}

/// How a call is told.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Command(Option<String>),
    Remark(RemarkKind, String),
}

/// The calls of the draft at `index` as parts, by the index of their entry, and how many that only ran or looked are not
/// told.
pub(super) fn parts(
    index: usize,
    drafts: &[Draft<'_>],
    data: &Data,
    whole: &Whole<'_>,
    refused: &dyn Fn(&Call<'_>) -> bool,
) -> (HashMap<usize, Vec<Part>>, usize) {
    let Some(draft) = drafts.get(index) else { return (HashMap::new(), 0) };
    let calls: Vec<(usize, &Call<'_>)> =
        draft.entries.iter().enumerate().filter_map(|(at, entry)| Some((at, entry.call()?))).collect();
    let mut told: Vec<(usize, &Call<'_>, Told)> = Vec::new();
    let keep = kept(draft, &calls);
    let mut left = keep.left;
    let mut dead: HashSet<String> = HashSet::default();
    for (at, call) in &calls {
        let how = match call.ended {
            Ended::Denied if call.tool == ToolKind::Plan => {
                let title = clean(call.step.full_args());
                let title =
                    if title.is_empty() { String::new() } else { format!(" “{}”", truncate(&title, MAX_SAID)) };
                let said = call.step.result.as_deref().map(clean).unwrap_or_default();
                let text = format!("the plan{title} that the agent proposed was rejected: {said}{}", whole.at(call));
                Some(Told::Remark(RemarkKind::Mind, text))
            }
            Ended::Denied if call.acts() => {
                let said = clean(call.step.result.as_deref().unwrap_or("denied"));
                let file = call.writes.first().map_or("", AsRef::as_ref);
                let what = if call.text.is_empty() { format!("{} {file}", call.step.tool) } else { call.text.clone() };
                let what = plain_code(what.lines().next().unwrap_or("").trim());
                Some(Told::Remark(RemarkKind::Mind, format!("{what}: {}", truncate(&said, MAX_SAID))))
            }
            Ended::Denied => None,
            Ended::Badly if call.acts() && !call.text.is_empty() && !refused(call) => failure(call, whole, &mut dead),
            Ended::Badly => None,
            Ended::Open if call.kind == CallKind::Check && keep.at.contains(at) => {
                Some(Told::Command(whole.checks.note(call)))
            }
            Ended::Open => None,
            Ended::Well if keep.at.contains(at) => Some(Told::Command(whole.checks.note(call))),
            Ended::Well => None,
        };
        told.extend(how.map(|how| (*at, *call, how)));
    }
    let mut parts: HashMap<usize, Vec<Part>> = HashMap::new();
    for (at, call, how) in told {
        match how {
            Told::Command(note) => {
                let made = command(call, note, data, whole.inputs);
                left += usize::from(made.is_empty());
                parts.insert(at, made);
            }
            Told::Remark(kind, text) => {
                parts.insert(at, vec![Part::Remark(Remark { kind, text, span: Span::default() })]);
            }
        }
    }
    (parts, left)
}

/// The commands of a step that are told where they ended well.
struct Kept {
    at: HashSet<usize>,
    left: usize,
}

fn kept(draft: &Draft<'_>, calls: &[(usize, &Call<'_>)]) -> Kept {
    let shell = || calls.iter().filter(|(_, call)| call.shell && !call.text.is_empty());
    let changes = calls.iter().any(|(_, call)| call.acts() && call.succeeded());
    let cited: HashSet<&str> = draft
        .entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Conclusion(prose, _) => Some(prose.text.as_str()),
            _ => None,
        })
        .flat_map(|text| values(text, ""))
        .map(|(value, _)| value)
        .collect();
    let cites = |call: &Call<'_>| {
        let printed = call.step.result.as_deref().into_iter().chain(call.step.output.as_deref());
        !cited.is_empty() && printed.flat_map(|text| values(text, "")).any(|(value, _)| cited.contains(value))
    };
    let mut at: HashSet<usize> = HashSet::default();
    // Of one check run again and again the last run counts, of any other command the first.
    let mut checks: HashMap<String, usize> = HashMap::new();
    let mut seen: HashSet<&str> = HashSet::default();
    let (mut runs, mut typed): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let (mut looks, mut best): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let tried: HashSet<&str> =
        calls.iter().filter(|(_, call)| call.failed()).filter_map(|(_, call)| call.key.as_deref()).collect();
    let recovers = |call: &Call<'_>| call.key.as_deref().is_some_and(|key| tried.contains(key));
    for (index, call) in shell() {
        if !(call.succeeded() || (call.ended == Ended::Open && call.kind == CallKind::Check)) {
            continue;
        }
        if call.kind == CallKind::Check && !call.checks.is_empty() && !call.commits && !call.publishes {
            let key: Vec<&str> = call.checks.iter().map(|check| check.text.as_str()).collect();
            checks.insert(key.join("\n"), *index);
            continue;
        }
        if !seen.insert(&call.text) {
            continue;
        }
        match call.kind {
            CallKind::Change | CallKind::Check | CallKind::Edit => {
                at.insert(*index);
            }
            CallKind::Run if cites(call) || recovers(call) => {
                at.insert(*index);
            }
            // Code of several lines was typed once to find something out.
            CallKind::Run if call.text.contains('\n') => typed.push(*index),
            CallKind::Run => runs.push(*index),
            CallKind::Look if recovers(call) => {
                at.insert(*index);
            }
            CallKind::Look if cites(call) || call.asks_elsewhere => best.push(*index),
            CallKind::Look => looks.push(*index),
        }
    }
    at.extend(checks.into_values());
    // Where it is all that was done, it is the work.
    let mut left = typed.len();
    if at.is_empty() && runs.is_empty() {
        at.extend(typed.iter().rev().take(MAX_TYPED));
        left = left.saturating_sub(MAX_TYPED);
    }
    // Of runs the last ones: what came before them was trying.
    left += runs.len().saturating_sub(MAX_RUNS);
    at.extend(runs.iter().rev().take(MAX_RUNS));
    if changes {
        left += best.len().saturating_sub(MAX_ASKED);
        at.extend(best.iter().take(MAX_ASKED));
    } else {
        left += (best.len() + looks.len()).saturating_sub(MAX_LOOKS);
        at.extend(best.iter().chain(&looks).take(MAX_LOOKS));
    }
    Kept { at, left }
}

/// How a failed call is told: as a step where a later commit ended it, as trouble where it was tried again or is a check,
/// else as a dead end.
fn failure(call: &Call<'_>, whole: &Whole<'_>, dead: &mut HashSet<String>) -> Option<Told> {
    let said = call.step.result.as_deref().map(clean).filter(|said| said.contains(char::is_alphanumeric));
    let said = said.map_or_else(|| "failed".to_owned(), |said| truncate(&said, MAX_SAID).into_owned());
    let command = first_line(&call.text);
    if whole.is_finished_later(call) {
        return Some(Told::Command(Some(format!("stops ({said}); a later commit ends it"))));
    }
    let text = format!("{command}: {said}{}", whole.at(call));
    let verb = if call.kind == CallKind::Check { "passes" } else { "works" };
    if let Some(next) = whole.next(call) {
        let at = whole.at(next);
        let text = if next.succeeded() {
            let other = clean(&next.text) != clean(&call.text);
            let how = if other { format!(", as {}", code_span(&first_line(&next.text))) } else { String::new() };
            format!("{text} — {verb} later{how}{at}, {}", whole.between(call, next))
        } else if whole.worked_later(call) {
            format!("{text} — fails again{at}")
        } else {
            format!("{text} — fails again{at}, and no later run of it is known to end well")
        };
        return Some(Told::Remark(RemarkKind::Trouble, text));
    }
    if !dead.insert(format!("{command}: {said}")) {
        return None;
    }
    if call.kind == CallKind::Check {
        return Some(Told::Remark(RemarkKind::Trouble, format!("{text} — no later run of it is known to end well")));
    }
    Some(Told::Remark(RemarkKind::DeadEnd, text))
}

/// The first line of a command, and a mark where more follow.
fn first_line(command: &str) -> String {
    let mut lines = command.lines();
    let first = plain_code(lines.next().unwrap_or(""));
    if lines.next().is_some() && !first.ends_with('…') { format!("{first} …") } else { first }
}

/// Whether a later call tries all that a failed one did. Where both are checks, the first of each is compared.
fn answers(later: &Call<'_>, failed: &Call<'_>) -> bool {
    match failed.checks.first() {
        Some(check) => later.checks.iter().any(|own| own.answers(check)),
        None => true,
    }
}

/// Adds a call to those of a name.
fn add<'c>(told: &mut Vec<(String, Vec<&'c Call<'c>>)>, name: String, call: &'c Call<'c>) {
    match told.iter_mut().find(|(known, _)| *known == name) {
        Some((_, calls)) => calls.push(call),
        None => told.push((name, vec![call])),
    }
}

/// Whether a text names a file, with nothing of another name beside it.
fn names_file(text: &str, name: &str) -> bool {
    let is_part =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    memchr::memmem::find_iter(text.as_bytes(), name).take(MAX_LATER).any(|at| {
        let before = at.checked_sub(1).and_then(|before| text.as_bytes().get(before));
        let behind = text.as_bytes().get(at + name.len()..).unwrap_or_default();
        let ends = !is_part(behind.first()) || (behind.first() == Some(&b'.') && !is_part(behind.get(1)));
        !is_part(before) && ends
    })
}

/// A command as it was run, with names in the place of what belongs to one run; nothing where nothing readable is left.
fn command(call: &Call<'_>, note: Option<String>, data: &Data, inputs: &Inputs) -> Vec<Part> {
    let text = sanitise(&call.text);
    let text = shortened(&text);
    let text = data.named(&inputs.named(&text, call.keeps_versions));
    let text = text.trim();
    if text.is_empty() {
        return Vec::new();
    }
    if !text.contains('\n') && text.chars().count() <= MAX_COMMAND {
        let command = clean(text);
        return vec![Part::Command(Command { command, note, span: Span::default() })];
    }
    let text = text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    let text = truncate(&text, MAX_SCRIPT).into_owned();
    let mut parts = vec![Part::Script(Script { text, span: Span::default() })];
    parts.extend(note.map(|text| Part::Remark(Remark { kind: RemarkKind::Plain, text, span: Span::default() })));
    parts
}

/// A command with a mark in the place of the later lines of long here-documents.
fn shortened(text: &str) -> String {
    if !text.contains("<<") {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut from = 0;
    for body in bodies(text) {
        let Some(inside) = text.get(body.clone()).filter(|_| body.start >= from) else { continue };
        let lines = inside.lines().count();
        if lines <= MAX_BODY {
            continue;
        }
        let kept: usize = inside.split_inclusive('\n').take(MAX_BODY - 2).map(str::len).sum();
        out.push_str(&text[from..body.start + kept]);
        out.push_str(&format!("… ({} more lines in the session)\n", lines - (MAX_BODY - 2)));
        from = body.end;
    }
    out.push_str(&text[from..]);
    out
}
