//! The calls of a step that are told: what somebody would run again, what failed, and what was refused.
//!
//! Told are calls that changed something, that checked something, that ran a program, and those that only looked where
//! looking was the work or where the conclusion rests on what they printed. Refused calls are never told as commands.

use std::collections::HashMap;

use cru_graph::{Place, Recovery};
use foldhash::HashSet;

use super::call::{Call, CallKind, Ended, bodies};
use super::data::Data;
use super::draft::Draft;
use super::input::Inputs;
use super::standing::Checks;
use super::unit::Entry;
use super::value::values;
use super::{clean, plain_code};
use crate::model::{Command, Part, Remark, RemarkKind, Script};
use cru_base::Span;
use cru_base::text::{sanitise, truncate};

/// Characters of a command on a line.
const MAX_COMMAND: usize = 300;
/// Characters of a command that is shown as a script.
const MAX_SCRIPT: usize = 6_000;
/// Lines of a here-document that are shown.
const MAX_BODY: usize = 12;
/// Runs of a step of which no more is known than that.
const MAX_RUNS: usize = 12;
/// Runs of code of several lines of a step that did nothing else.
const MAX_TYPED: usize = 2;
/// Looks of a step that did nothing else.
const MAX_LOOKS: usize = 10;
/// Looks at other machines of a step that did more.
const MAX_ASKED: usize = 4;
/// Characters of what a call said that failed.
const MAX_SAID: usize = 200;

/// What is known of the whole session when the calls of a step are told.
pub(super) struct Whole<'a> {
    /// How the checks stand.
    pub checks: &'a Checks<'a>,
    /// Values that people gave.
    pub inputs: &'a Inputs,
    /// The recoveries by the place of their first failure: what was changed between, and what worked.
    recovered: HashMap<Place, (Vec<Place>, Place)>,
    /// For each key the place of its last success.
    worked: HashMap<&'a str, Place>,
    /// Places of calls that make commits or go on with a stopped one.
    finished: Vec<Place>,
    /// The draft of each call.
    homes: HashMap<Place, usize>,
    /// The files that each call wrote.
    writes: HashMap<Place, Vec<&'a str>>,
}

impl<'a> Whole<'a> {
    pub(super) fn of(
        recoveries: &[Recovery],
        drafts: &'a [Draft<'_>],
        checks: &'a Checks<'a>,
        inputs: &'a Inputs,
    ) -> Self {
        let mut whole = Self {
            checks,
            inputs,
            recovered: HashMap::new(),
            worked: HashMap::new(),
            finished: Vec::new(),
            homes: HashMap::new(),
            writes: HashMap::new(),
        };
        for it in recoveries {
            whole.recovered.insert(it.failed, (it.between.clone(), it.worked));
        }
        for (index, draft) in drafts.iter().enumerate() {
            for call in draft.calls() {
                whole.homes.insert(call.place, index);
                if !call.writes.is_empty() {
                    whole.writes.insert(call.place, call.writes.iter().map(AsRef::as_ref).collect());
                }
                if !call.succeeded() {
                    continue;
                }
                if call.commits {
                    whole.finished.push(call.place);
                }
                if let Some(key) = call.key.as_deref() {
                    let place = whole.worked.entry(key).or_insert(call.place);
                    *place = (*place).max(call.place);
                }
            }
        }
        whole.finished.sort_unstable();
        whole
    }

    fn worked_later(&self, call: &Call<'_>) -> bool {
        call.key.as_deref().and_then(|key| self.worked.get(key)).is_some_and(|place| *place > call.place)
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
    let mut dead: HashSet<&str> = HashSet::default();
    let failed = calls.iter().filter(|(_, call)| call.failed());
    let last: HashMap<&str, &Call<'_>> = failed.filter_map(|(_, call)| Some((call.key.as_deref()?, *call))).collect();
    for (at, call) in &calls {
        let how = match call.ended {
            Ended::Denied if call.acts() => {
                let said = clean(call.step.result.as_deref().unwrap_or("denied"));
                let file = call.writes.first().map_or("", AsRef::as_ref);
                let what = if call.text.is_empty() { format!("{} {file}", call.step.tool) } else { call.text.clone() };
                let what = plain_code(what.lines().next().unwrap_or("").trim());
                Some(Told::Remark(RemarkKind::Mind, format!("{what}: {}", truncate(&said, MAX_SAID))))
            }
            Ended::Denied => None,
            Ended::Badly if call.acts() && call.shell && !refused(call) => {
                failure(call, drafts, index, whole, &last, &mut dead)
            }
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
    // A check that fails at the end is told once, where it was run last.
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

/// How a failed call is told: as trouble where another try of it worked, as a step where a later commit ended it, else as
/// a dead end.
fn failure<'c>(
    call: &'c Call<'_>,
    drafts: &[Draft<'_>],
    index: usize,
    whole: &Whole<'_>,
    last: &HashMap<&str, &Call<'_>>,
    dead: &mut HashSet<&'c str>,
) -> Option<Told> {
    let said = call.step.result.as_deref().map(clean).filter(|said| said.contains(char::is_alphanumeric));
    let said = said.map_or_else(|| "failed".to_owned(), |said| truncate(&said, MAX_SAID).into_owned());
    let command = plain_code(call.text.lines().next().unwrap_or(""));
    if whole.is_finished_later(call) {
        return Some(Told::Command(Some(format!("stops ({said}); a later commit ends it"))));
    }
    if whole.worked_later(call) {
        let (between, worked) = whole.recovered.get(&call.place)?;
        let mut files: Vec<&str> = Vec::new();
        for path in between.iter().filter_map(|place| whole.writes.get(place)).flatten() {
            if !files.contains(path) && files.len() < 3 {
                files.push(path);
            }
        }
        let other = whole.homes.get(worked).filter(|home| **home != index).and_then(|home| drafts.get(*home));
        let mut text = format!("{command}: {said} — works");
        if !files.is_empty() {
            text.push_str(&format!(" after a change of {}", files.join(", ")));
        }
        if let Some(draft) = other {
            text.push_str(&format!(" in “{}”", draft.title));
        }
        return Some(Told::Remark(RemarkKind::Trouble, text));
    }
    if !dead.insert(call.key.as_deref().unwrap_or(&call.text)) {
        return None;
    }
    // Told as it was tried last in the step.
    let last = call.key.as_deref().and_then(|key| last.get(key));
    if let Some(last) = last.filter(|last| last.place != call.place) {
        let said = last.step.result.as_deref().map(clean).unwrap_or_default();
        return Some(Told::Remark(
            RemarkKind::DeadEnd,
            format!("{}: {}", plain_code(last.text.lines().next().unwrap_or("")), truncate(&said, MAX_SAID)),
        ));
    }
    Some(Told::Remark(RemarkKind::DeadEnd, format!("{command}: {said}")))
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
