//! The items of a note that are no steps, made so that what is typed and what the body says are the same.

use jiff::Timestamp;

use super::step::Run;
use crate::callout::CONTINUED;
use crate::event::{Attachment, DecisionEvent, Remark};
use crate::time;
use crate::words::shorten;
use crate::{Agent, Callout, Decision, Error, Item, Link, Prose, Subagent, SubagentMode, User};
use cru_base::text::{fold_whitespace, sanitise, thousands};

/// Characters above which a text that nobody typed here (a plan, a task, a summary) is folded.
const LONG_OF_OTHERS: usize = 600;

/// Characters of a callout's title.
const TITLE: usize = 90;

/// The note of a sub-agent, as its parent shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linked {
    /// File stem.
    pub note: String,
    /// Its agent.
    pub agent: Option<Agent>,
    /// Its model.
    pub model: Option<String>,
    /// Its own tokens.
    pub tokens: Option<u64>,
}

/// Agent prose and other markdown.
pub(super) fn prose(text: impl Into<String>) -> Item {
    Item::Prose(Prose { text: text.into(), ..Prose::default() })
}

/// A person's exact words. `number` counts the inputs of the session from one, in order of the record.
pub(super) fn user(words: &str, correction: bool, number: usize) -> Item {
    // Characters above which a callout is folded.
    let folded = (words.chars().count() > 4000).then_some(true);
    let title = if correction { "Correction" } else { "" };
    let id = Some(format!("u-{number:02}"));
    let callout = Callout { id, ..callout("user", title, format!("\"{words}\""), folded) };
    Item::User(User { callout, words: words.to_owned(), interpretation: None, correction })
}

/// What was sent along with words: `*[image/png, 34 kB]*`.
pub(super) fn attachments(attachments: &[Attachment<'_>]) -> Option<Item> {
    let marks: Vec<String> = attachments.iter().map(|it| format!("*[{}]*", super::outcome::attachment(it))).collect();
    (!marks.is_empty()).then(|| prose(marks.join(" ")))
}

/// The task that a parent gave: no person said it.
pub(super) fn task(text: &str) -> Item {
    let folded = (text.chars().count() > LONG_OF_OTHERS).then_some(true);
    Item::Callout(callout("context", "Task", text.to_owned(), folded))
}

/// The summary on top of the note.
pub(super) fn summary(body: String) -> Item {
    Item::Callout(callout("summary", "", body, None))
}

/// The host's summary at a compaction.
pub(super) fn compaction(trigger: Option<&str>, tokens: Option<u64>, summary: Option<&str>) -> Item {
    let tokens = tokens.map(|tokens| format!("{} tokens", thousands(tokens)));
    let facts: Vec<String> = trigger.map(|word| fold_whitespace(&sanitise(word))).into_iter().chain(tokens).collect();
    let title = if facts.is_empty() { "Compaction".to_owned() } else { format!("Compaction ({})", facts.join(", ")) };
    let body = summary.map(|text| sanitise(text).trim().to_owned()).unwrap_or_default();
    Item::Callout(callout("summary", &title, body, Some(true)))
}

/// The host's summary of a branch that was left.
pub(super) fn branch_summary(summary: Option<&str>) -> Option<Item> {
    let body = sanitise(summary?).trim().to_owned();
    (!body.is_empty()).then(|| Item::Callout(callout("summary", "Branch left", body, Some(true))))
}

/// A place that a person marked, in the phase that `place` links to.
pub(super) fn bookmark(label: &str, place: Option<Link>) -> Item {
    let name = shorten::at_word(&fold_whitespace(&sanitise(label)), TITLE);
    Item::Callout(callout("bookmark", &name, place.map(|link| link.to_string()).unwrap_or_default(), None))
}

/// Where a session goes on.
pub(super) fn continued(note: &str) -> Item {
    Item::Callout(callout("context", CONTINUED, Link::to_note(note).to_string(), None))
}

/// The agent's thinking, where it is wanted.
pub(super) fn thought(text: &str) -> Item {
    Item::Callout(callout("thought", "", text.to_owned(), Some(true)))
}

/// A decision that the record proves; `step` is the one that asked.
pub(super) fn decision(event: &DecisionEvent<'_>, step: Option<Link>) -> Item {
    let clean = |text: &str| sanitise(text).trim().to_owned();
    let one_line = |text: &str| fold_whitespace(&sanitise(text));
    let text = clean(&event.text);
    let why = event.why.as_deref().map(one_line).filter(|why| !why.is_empty());
    let rejected: Vec<String> = event.rejected.iter().map(|it| one_line(it)).filter(|it| !it.is_empty()).collect();
    let rejected = (!rejected.is_empty()).then(|| rejected.join("; "));
    let folded = (text.chars().count() > LONG_OF_OTHERS).then_some(true);
    let title = shorten::at_word(&one_line(&event.title), TITLE);
    let title = if title.is_empty() { "Decided".to_owned() } else { title };
    let rests_on: Vec<Link> = step.into_iter().collect();
    let mut fields = Vec::new();
    push_field(&mut fields, "Why", why.as_deref());
    push_field(&mut fields, "Rejected", rejected.as_deref());
    push_field(&mut fields, "Rests on", rests_on.first().map(ToString::to_string).as_deref());
    let callout = with_fields("decision", &title, &text, fields, folded);
    Item::Decision(Decision { callout, text, why, rejected, impact: None, rests_on })
}

/// Takes a decision's text away where `words`, which stand above it, hold all of it: an approved plan that is then
/// given as the request.
pub(super) fn without_repetition(item: &mut Item, words: &str) {
    let Item::Decision(it) = item else { return };
    if it.text.is_empty() || !words.contains(it.text.as_str()) {
        return;
    }
    it.text.clear();
    it.callout.folded = None;
    it.callout.body = lines(&it.callout.fields);
}

/// Something that went wrong. `resolution` is its sentence and the links in it.
pub(super) fn error(title: &str, text: &str, step: Option<Link>, resolution: Option<(String, Vec<Link>)>) -> Item {
    let steps: Vec<Link> = step.into_iter().collect();
    let (resolution, resolved_by) = resolution.map_or((None, Vec::new()), |(text, links)| (Some(text), links));
    let mut fields = Vec::new();
    push_field(&mut fields, "Step", steps.first().map(ToString::to_string).as_deref());
    push_field(&mut fields, "Resolution", resolution.as_deref());
    let callout = with_fields("error", &shorten::at_word(title, TITLE), text, fields, None);
    Item::Error(Error { callout, text: text.to_owned(), resolution, resolved_by, steps })
}

/// A sub-agent's work that a step started, before it is known which note holds it.
pub(super) fn subagent(agent: Agent, run: Run, step: &Link) -> Subagent {
    let Run { stream: _, agent: _, model, task, summary } = run;
    let mut fields = Vec::new();
    push_field(&mut fields, "Task", task.as_deref());
    push_field(&mut fields, "Summary", summary.as_deref());
    push_field(&mut fields, "Step", Some(&step.to_string()));
    let callout = with_fields("subagent", &subagent_title(&agent, model.as_deref()), "", fields, None);
    let mode = SubagentMode::Inline;
    Subagent {
        callout,
        agent: Some(agent),
        model,
        mode,
        link: None,
        task,
        summary,
        text: String::new(),
        items: Vec::new(),
    }
}

fn subagent_title(agent: &Agent, model: Option<&str>) -> String {
    model.map_or_else(|| format!("@{agent}"), |model| format!("@{agent} ({model})"))
}

/// Points a sub-agent's callout to the note of its work.
pub(super) fn link_subagent(item: &mut Subagent, child: &Linked) {
    let link = Link::to_note(child.note.clone());
    item.model = item.model.take().or_else(|| child.model.clone());
    if let Some(agent) = &item.agent {
        item.callout.title = subagent_title(agent, item.model.as_deref());
    }
    let mut fields = vec![("mode".to_owned(), "link".to_owned())];
    push_field(&mut fields, "Task", item.task.as_deref());
    push_field(&mut fields, "Summary", item.summary.as_deref());
    push_field(&mut fields, "Tokens", child.tokens.map(thousands).as_deref());
    push_field(&mut fields, "Step", item.callout.field("Step"));
    let (mode, rest) = fields.split_at(1);
    let mut body = lines(mode);
    body.push('\n');
    body.push_str(&link.to_string());
    if !rest.is_empty() {
        body.push('\n');
        body.push_str(&lines(rest));
    }
    item.callout.body = body;
    item.callout.fields = fields;
    item.mode = SubagentMode::Link;
    item.link = Some(link);
}

/// A remark that the record holds ready-made; `step` is the one that it is about.
pub(super) fn remark(remark: &Remark<'_>, step: Option<Link>) -> Item {
    let one_line = |text: &str| fold_whitespace(&sanitise(text));
    let text = sanitise(&remark.text).trim().to_owned();
    let title = shorten::at_word(&one_line(&remark.title), TITLE);
    if remark.kind == "error" {
        let resolution = remark.fields.iter().find(|(name, _)| name == "Resolution");
        let resolution = resolution.map(|(_, value)| (one_line(value), Vec::new()));
        return error(&title, &text, step, resolution);
    }
    let mut fields = Vec::new();
    for (name, value) in &remark.fields {
        push_field(&mut fields, name, Some(one_line(value)).filter(|value| !value.is_empty()).as_deref());
    }
    let text = match step {
        Some(step) if text.is_empty() => step.to_string(),
        Some(step) => format!("{text}\n\n{step}"),
        None => text,
    };
    let is_id =
        |id: &&str| (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let id = remark.id.as_deref().filter(is_id).map(str::to_owned);
    Item::Callout(Callout { id, ..with_fields(&remark.kind, &title, &text, fields, remark.folded.then_some(true)) })
}

/// What a short account does not show: which steps, and when the last of them was done.
pub(super) fn left_out(title: &str, ids: &str, last: Option<Timestamp>) -> Item {
    let mut fields = Vec::new();
    push_field(&mut fields, "At", last.map(time::format).as_deref());
    Item::Callout(Callout { at: last, ..with_fields("left-out", title, ids, fields, Some(true)) })
}

/// Tokens by model.
pub(super) fn usage(title: &str, table: String) -> Item {
    Item::Callout(callout(crate::usage::KIND, title, table, None))
}

fn callout(kind: &str, title: &str, body: String, folded: Option<bool>) -> Callout {
    Callout { kind: kind.to_owned(), title: title.to_owned(), body, folded, ..Callout::default() }
}

fn with_fields(kind: &str, title: &str, text: &str, fields: Vec<(String, String)>, folded: Option<bool>) -> Callout {
    let mut body = text.to_owned();
    if !body.is_empty() && !fields.is_empty() {
        body.push('\n');
    }
    body.push_str(&lines(&fields));
    Callout { fields, ..callout(kind, title, body, folded) }
}

fn lines(fields: &[(String, String)]) -> String {
    fields.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join("\n")
}

fn push_field(fields: &mut Vec<(String, String)>, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        fields.push((name.to_owned(), value.to_owned()));
    }
}
