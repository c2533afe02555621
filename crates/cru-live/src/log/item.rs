//! One entry as the item of a note that it becomes.

use jiff::Timestamp;

use super::link;
use crate::entry;
use cru_action::{Action, Verdict};
use cru_base::text::{fold_whitespace, sanitise, truncate};
use cru_session::{
    Agent, Callout, Decision, Error, FileRef, Item, Link, Prose, Step, StepStatus, Subagent, SubagentMode, User,
    file_ref, step_line,
};

/// A step without id. `time` is when it was called.
pub(super) fn step(it: &entry::Tool, time: Timestamp) -> Step {
    let answers = |code: i32| Action::of(&it.tool, &it.args).answers(code);
    let failed = it.failed || it.exit.is_some_and(|code| code != 0 && !answers(code));
    let (args, command) = shortened(&it.args);
    let tool = fold_whitespace(&sanitise(&it.tool)).replace(' ', "_");
    Step {
        tool,
        args,
        command,
        result: it.result.as_deref().map(|text| fold_whitespace(&sanitise(text))).filter(|text| !text.is_empty()),
        status: if failed { StepStatus::Failed } else { StepStatus::Complete },
        time: Some(time),
        exit: it.exit,
        duration_ms: it.duration.and_then(milliseconds),
        reads: files(&it.reads, false),
        writes: files(&it.writes, false).into_iter().chain(files(&it.created, true)).collect(),
        check: it.check.as_deref().and_then(Verdict::of_word),
        after: it.after.iter().map(|name| link::parse(name)).collect(),
        replays: it.replays.as_deref().map(link::parse),
        cell: it.cell.as_deref().map(link::parse),
        fields: fields(it),
        ..Step::default()
    }
}

/// The nested lines of a step that have no place of their own in the model.
fn fields(it: &entry::Tool) -> Vec<(String, String)> {
    let clean = |text: &String| fold_whitespace(&sanitise(text));
    let all = it.commits.iter().map(|text| ("commit", text));
    let all = all.chain(it.also_active.iter().map(|text| ("also active", text)));
    let all = all.chain(it.by.iter().map(|text| ("by", text)));
    all.map(|(name, text)| (name.to_owned(), clean(text))).filter(|(_, text)| !text.is_empty()).collect()
}

pub(super) fn decision(it: &entry::Decision, id: &str) -> Item {
    let (title, text) = titled(&it.title, &it.text);
    let callout = Callout { id: Some(id.to_owned()), ..callout("decision", title, it.at) };
    let rests_on = it.rests_on.iter().map(|name| link::parse(name)).collect();
    Item::Decision(Decision {
        callout,
        text,
        why: value(it.why.as_deref()),
        rejected: value(it.rejected.as_deref()),
        impact: value(it.impact.as_deref()),
        rests_on,
    })
}

pub(super) fn error(it: &entry::Error, id: &str) -> Item {
    let (title, text) = titled(&it.title, &it.text);
    let callout = Callout { id: Some(id.to_owned()), ..callout("error", title, it.at) };
    let steps: Vec<Link> = it.step.iter().map(|name| link::parse(name)).collect();
    let resolution = value(it.resolution.as_deref());
    let resolved_by = resolution.as_deref().map(link::within).unwrap_or_default();
    Item::Error(Error { callout, text, resolution, resolved_by, steps })
}

pub(super) fn user(it: &entry::User, id: &str) -> Item {
    let title = if it.correction { "Correction" } else { "" };
    let callout = Callout { id: Some(id.to_owned()), ..callout("user", title.to_owned(), it.at) };
    let words = sanitise(&it.words).trim().to_owned();
    let interpretation = it.action.as_deref().map(|text| fold_whitespace(&sanitise(text)));
    let interpretation = interpretation.filter(|text| !text.is_empty());
    Item::User(User { callout, words, interpretation, correction: it.correction })
}

/// A sub-agent's callout; `link` is the note of its work.
pub(super) fn subagent(it: &entry::SubagentDone, mode: SubagentMode, link: Option<Link>, items: Vec<Item>) -> Item {
    let agent = Agent::parse(&it.agent);
    let mut callout = callout("subagent", String::new(), it.at);
    if let Some(tokens) = it.tokens {
        callout.fields.push(("Tokens".to_owned(), cru_base::text::thousands(tokens)));
    }
    Item::Subagent(Subagent {
        callout,
        agent: Some(agent).filter(|agent| !agent.name.is_empty()),
        model: it.model.as_deref().map(|text| fold_whitespace(&sanitise(text))),
        mode,
        link,
        task: value(it.task.as_deref()),
        summary: value(it.summary.as_deref()),
        text: String::new(),
        items,
    })
}

/// The title says what a lesson is about and how sure it is; the claim is its text.
pub(super) fn lesson(it: &entry::Lesson, id: &str) -> Item {
    let clean = |text: &str| fold_whitespace(&sanitise(text));
    let title: Vec<String> = [&it.level, &it.confidence].into_iter().flatten().map(|text| clean(text)).collect();
    let title = title.join(" · ");
    let mut body = sanitise(&it.text).trim().to_owned();
    let evidence: Vec<String> = it.evidence.iter().map(|id| link::parse(id).to_string()).collect();
    let fields =
        [("Do", it.advice.as_deref().map(clean)), ("Evidence", (!evidence.is_empty()).then(|| evidence.join(", ")))];
    for (name, value) in fields {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            let gap = if body.is_empty() { "" } else { "  \n" };
            body.push_str(&format!("{gap}{name}: {value}"));
        }
    }
    Item::Callout(Callout { body, id: Some(id.to_owned()), ..callout("lesson", title, it.at) })
}

pub(super) fn note(it: &entry::Note) -> Item {
    Item::Prose(Prose { text: sanitise(&it.text).trim().to_owned(), ..Prose::default() })
}

pub(super) fn summary(it: &entry::Summary) -> Item {
    let title = fold_whitespace(&sanitise(&it.title));
    let body = sanitise(&it.text).trim().to_owned();
    Item::Callout(Callout { body, ..callout("summary", title, it.at) })
}

pub(super) fn context(it: &entry::Context) -> Item {
    let body = sanitise(&it.text).trim().to_owned();
    Item::Callout(Callout { body, folded: Some(true), ..callout("context", "Told at the start".to_owned(), it.at) })
}

pub(super) fn question(it: &entry::Question, id: &str) -> Item {
    let (title, body) = titled(&it.text, "");
    Item::Callout(Callout { body, id: Some(id.to_owned()), ..callout("question", title, it.at) })
}

/// An untyped callout.
pub(super) fn callout(kind: &str, title: String, at: Option<Timestamp>) -> Callout {
    Callout { kind: kind.to_owned(), title, at, ..Callout::default() }
}

/// The first line as a title, the others before the text.
fn titled(title: &str, text: &str) -> (String, String) {
    let (title, text) = (sanitise(title), sanitise(text));
    let (first, rest) = title.trim().split_once('\n').unwrap_or((title.trim(), ""));
    let body = [rest.trim(), text.trim()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
    (fold_whitespace(first), body)
}

/// The value of a field, or nothing.
fn value(text: Option<&str>) -> Option<String> {
    let text = sanitise(text?).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// What stands on the line and, where that is not all, the whole.
fn shortened(args: &str) -> (String, Option<String>) {
    let full = sanitise(args);
    let full = full.trim();
    let folded = fold_whitespace(full);
    if !full.contains('\n') && folded.chars().count() <= step_line::LONGEST_ARGS {
        return (folded, None);
    }
    let first = fold_whitespace(full.lines().next().unwrap_or_default());
    let short = truncate(&first, step_line::LONGEST_ARGS - 2).into_owned();
    let short = if short.ends_with('…') { short } else { format!("{short} …") };
    (short, Some(full.to_owned()))
}

fn files(names: &[String], created: bool) -> Vec<FileRef> {
    let clean = |name: &String| fold_whitespace(&sanitise(name));
    let names = names.iter().map(clean).filter(|name| !name.is_empty());
    names.map(|name| FileRef { created, ..file_ref::parse(&name) }).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what a duration can be")]
fn milliseconds(seconds: f64) -> Option<u64> {
    (seconds.is_finite() && seconds >= 0.0).then(|| (seconds * 1000.0).min(1e12).round() as u64)
}
