//! The calls of a step as its parts: commands as they were run with how they ended, other tools, and what was refused.
//!
//! A command that ended well again and again is told where it was run last, a failure where it happened. What only looked is a
//! command where nothing else was done. Refused calls are never told as commands.

use std::collections::HashMap;

use cru_action::ToolKind;
use cru_session::StepStatus;
use foldhash::HashSet;

use super::call::{Call, CallKind, Ended, bodies, is_signal};
use super::data::Data;
use super::input::Inputs;
use super::whole::{MAX_SAID, Whole};
use super::{clean, looks, plain_code};
use crate::model::{Command, Part, RemarkKind, Script};
use cru_base::Span;
use cru_base::text::{sanitise, truncate};

/// Characters of a command on a line.
const MAX_COMMAND: usize = 300;
/// Characters of a command that is shown as a script.
const MAX_SCRIPT: usize = 6_000;
/// Lines of a here-document that are shown.
const MAX_BODY: usize = 120;

/// The calls of the draft at `index` as parts, by the index of their entry. A failure of a call that is `known` is told
/// elsewhere.
pub(super) fn parts(index: usize, whole: &Whole<'_>, known: &dyn Fn(&Call<'_>) -> bool) -> HashMap<usize, Vec<Part>> {
    let (Some(draft), Some(data)) = (whole.drafts.get(index), whole.facts.flows.get(index)) else {
        return HashMap::new();
    };
    let calls = || draft.entries.iter().enumerate().filter_map(|(at, entry)| Some((at, entry.call()?)));
    let acts = calls().any(|(_, call)| call.acts() && call.succeeded());
    // Two calls that run the same checks are one command.
    let subject = |call: &Call<'_>| match call.kind {
        CallKind::Check if !call.commits && !call.publishes => {
            call.checks.iter().map(|check| check.text.as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => call.text.clone(),
    };
    let is_run = |call: &Call<'_>| call.succeeded() || (call.ended == Ended::Open && call.kind == CallKind::Check);
    let last: HashMap<String, usize> =
        calls().filter(|(_, call)| is_run(call)).map(|(at, call)| (subject(call), at)).collect();
    let mut failures: HashSet<String> = HashSet::default();
    let mut parts: HashMap<usize, Vec<Part>> = HashMap::new();
    let remark = |kind, text| vec![Part::remark(kind, text)];
    for (at, call) in calls() {
        let is_command = call.shell && !call.text.is_empty() && (call.acts() || !acts);
        let used = call.acts() || matches!(call.tool, ToolKind::Skill | ToolKind::Fetch | ToolKind::Mcp);
        let is_tool = used && call.kind != CallKind::Edit && !call.shell && !call.text.is_empty();
        let told = match call.ended {
            Ended::Denied => {
                let at = if call.tool == ToolKind::Plan { whole.at(call) } else { String::new() };
                refusal(call).map(|text| remark(RemarkKind::Mind, format!("{text}{at}")))
            }
            Ended::Badly if call.acts() && !call.text.is_empty() && !known(call) => {
                let how = whole.how_it_failed(call);
                // The same failure of the same command is told once in a step.
                failures.insert(format!("{}: {how}", call.text)).then(|| {
                    let end = whole.finished_later(call).map(|end| format!("; {end}"));
                    let end = end.unwrap_or_else(|| whole.works_later(call));
                    let how = format!("{how}{}{end}", whole.at(call));
                    if call.shell {
                        command(call, Some(how), data, &whole.facts.inputs)
                    } else {
                        remark(RemarkKind::Trouble, format!("{}: {how}", first_line(&call.text)))
                    }
                })
            }
            Ended::Open if is_command && call.acts() => {
                let how = cut_short(call).filter(|_| call.kind != CallKind::Check);
                let is_told = how.is_some() || last.get(&subject(call)) == Some(&at);
                is_told.then(|| command(call, how, data, &whole.facts.inputs))
            }
            Ended::Well if is_command && last.get(&subject(call)) == Some(&at) => {
                let notes = [whole.facts.standing.note(call), whole.replaced(call)];
                let notes: Vec<String> = notes.into_iter().flatten().collect();
                Some(command(call, (!notes.is_empty()).then(|| notes.join("; ")), data, &whole.facts.inputs))
            }
            Ended::Well if is_tool && call.tool != ToolKind::Subagent && last.get(&subject(call)) == Some(&at) => {
                let text = data.named(&whole.facts.inputs.named(&call.text, call.keeps_versions));
                Some(remark(RemarkKind::Plain, format!("called {}", first_line(&text))))
            }
            _ => None,
        };
        parts.extend(told.filter(|told| !told.is_empty()).map(|told| (at, told)));
    }
    looks::add(draft, data, whole, &mut parts);
    parts
}

/// What a person or the host refused, and what was said of it; `None` where it was nothing, or only a look.
pub(super) fn refusal(call: &Call<'_>) -> Option<String> {
    if call.ended != Ended::Denied {
        return None;
    }
    if call.tool == ToolKind::Plan {
        let title = clean(call.step.full_args());
        let title = if title.is_empty() { String::new() } else { format!(" “{}”", truncate(&title, MAX_SAID)) };
        let said = call.step.result.as_deref().map(clean).unwrap_or_default();
        return Some(format!("the plan{title} that the agent proposed was rejected: {said}"));
    }
    let said = clean(call.step.result.as_deref().unwrap_or("denied"));
    let file = call.writes.first().map_or("", AsRef::as_ref);
    let what = if call.text.is_empty() { format!("{} {file}", call.step.tool) } else { call.text.clone() };
    let what = plain_code(what.lines().next().unwrap_or("").trim());
    call.acts().then(|| format!("{what}: {}", truncate(&said, MAX_SAID)))
}

/// How a call ended that neither did what it should nor failed: stopped by a person, ended by a signal, or without a result;
/// `None` where the record says no more than that it is not known.
fn cut_short(call: &Call<'_>) -> Option<String> {
    match (call.step.status, call.step.exit) {
        (StepStatus::Interrupted, _) => Some("stopped".to_owned()),
        (_, Some(code)) if is_signal(code) => Some(format!("ended by a signal, exit {code}")),
        (StepStatus::NoResult, _) => Some("no result is recorded".to_owned()),
        _ => None,
    }
}

/// The first line of a command, and a mark where more follow.
fn first_line(command: &str) -> String {
    let mut lines = command.lines();
    let first = plain_code(lines.next().unwrap_or(""));
    if lines.next().is_some() && !first.ends_with('…') { format!("{first} …") } else { first }
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
    parts.extend(note.map(|text| Part::remark(RemarkKind::Plain, text)));
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
