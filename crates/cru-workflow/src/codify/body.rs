//! What stands under a step: what to do, what goes in and out, then what was said, decided and run, in the order of the
//! session.
//!
//! Words of a person stand there as they were said, shortened at the ends of sentences with a mark.

use super::call::{Call, CallKind};
use super::change::Changes;
use super::data;
use super::draft::Draft;
use super::unit::Entry;
use super::whole::Whole;
use super::{block_link, clean, commands, head, inline, paragraph, quotation, request};
use crate::model::{Gate, Part, RemarkKind};
use cru_base::Span;
use cru_base::list::distinct;
use cru_base::text::{truncate, without_links};
use cru_graph::turn::{is_label, is_mark};
use cru_graph::{Place, Taken, plan, recovery};
use cru_session::correction::INTERRUPTED;
use cru_session::words::pasted::is_fence;
use cru_session::words::sentence::sentences;
use cru_session::words::{emphasis, quote, shorten};
use cru_session::{Decision, Error, Item, Link, Subagent, User};
use foldhash::HashSet;

/// Bytes of what a step is to do.
const MAX_WORDS: usize = 24_000;
/// Characters of a further request or correction on a line, of a line of a gate.
const MAX_FURTHER: usize = 1_200;
/// Bytes of a longer one.
const MAX_REQUEST: usize = 8_000;
/// Characters of the agent's words on a line.
const MAX_LINE: usize = 900;
/// Bytes of the one with which the session ends.
const MAX_LAST: usize = 24_000;
/// Characters of the first sentence of a longer one.
const MAX_FIRST: usize = 300;
/// Characters of any other remark.
const MAX_REMARK: usize = 3_000;
/// Lines of a gate.
const MAX_GATE: usize = 400;
/// Bytes of somebody's words that are compared.
const SEEN: usize = 800;

/// The parts of the draft at `index`.
pub(super) fn parts(index: usize, whole: &Whole<'_>) -> Vec<Part> {
    let (drafts, facts) = (whole.drafts, whole.facts);
    let (Some(draft), Some(data)) = (drafts.get(index), facts.flows.get(index)) else { return Vec::new() };
    let said: Vec<String> = draft.said().map(|user| clean(head(&user.words, SEEN))).collect();
    let mut page = StepBody { note: whole.note, ..StepBody::default() };
    page.intent(draft, whole);
    page.parts.extend(data::flow(data).map(Part::Flow));
    if let Some(before) = facts.order.get(index).copied().flatten().and_then(|at| drafts.get(at)) {
        page.remark(RemarkKind::After, &before.title);
    }
    for it in &data.carried {
        if let Some(from) = drafts.get(it.from) {
            let text = format!("{}, printed by “{}” ({} in the session)", it.operand.name, from.title, it.value);
            page.remark(RemarkKind::Uses, &text);
        }
    }
    let told: Vec<&str> = draft
        .entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Item(Item::Error(error), _) if !is_generated(error) => Some(&error.steps),
            _ => None,
        })
        .flatten()
        .filter_map(|link| link.block.as_deref())
        .collect();
    // What a person's error tells already, and what a person said when they refused a call, is told once.
    let known = |call: &Call<'_>| {
        call.step.id.as_deref().is_some_and(|id| told.contains(&id))
            || call.step.result.as_deref().is_some_and(|result| is_said(&said, result))
    };
    let mut commands = commands::parts(index, whole, &known);
    let mut changes = Changes::of(draft, whole);
    // Prose of a section without any work (`## Notes`) is no word of the agent.
    let worked: HashSet<Option<usize>> = draft.calls().map(|call| call.place.phase).collect();
    let is_of_agent = |place: &Place| draft.subagent.is_some() || worked.contains(&place.phase);
    let own = draft.subagent.map(|it| answer(it, whole));
    // Everything in the order of the session.
    for (at, entry) in draft.entries.iter().enumerate() {
        match entry {
            Entry::Call(call) if call.kind == CallKind::Edit && call.succeeded() => {
                page.parts.extend(changes.parts(call, whole));
            }
            Entry::Call(_) => page.parts.extend(commands.remove(&at).unwrap_or_default()),
            Entry::Request { user, rules, .. } => page.request(draft, user, *rules),
            Entry::Conclusion(prose, taken) => {
                let max = if *taken == Taken::Last { MAX_LAST } else { MAX_REQUEST };
                // The person's next words stand behind it as they were said.
                let how = match taken {
                    Taken::Stopped => " — the person stopped it",
                    Taken::Accepts => " — the person accepted it",
                    _ => "",
                };
                page.words(RemarkKind::Result, &prose.text, max, asked(draft, at), how);
            }
            Entry::Item(Item::Decision(decision), _) => page.decision(decision),
            // What an import found out of the calls, these tell themselves.
            Entry::Item(Item::Error(error), _) if !is_generated(error) && !is_said(&said, &error.callout.title) => {
                page.remark(RemarkKind::Trouble, &trouble(error, draft));
            }
            Entry::Item(Item::Callout(callout), _) if callout.kind == "gate" => {
                page.gate(&callout.title, &callout.body);
            }
            Entry::Item(Item::Prose(prose), place) if is_of_agent(place) && own.flatten() != Some(&prose.text) => {
                page.words(RemarkKind::Agent, &prose.text, MAX_REQUEST, next_id(draft, at), "");
            }
            Entry::Item(Item::Subagent(subagent), _) => {
                let own =
                    drafts.iter().skip(index + 1).find(|it| it.subagent.is_some_and(|it| std::ptr::eq(it, subagent)));
                if let Some(own) = own {
                    page.remark(RemarkKind::Plain, &format!("here the sub-agent works: “{}”", own.title));
                }
            }
            Entry::Item(..) => {}
        }
    }
    page.parts.extend(changes.rest());
    if let Some(told) = own.flatten() {
        page.words(RemarkKind::Result, told, MAX_REQUEST, None, "");
    }
    page.parts
}

/// With what a sub-agent answered: all of it where the transcript has it, else as its note says.
fn answer<'t>(subagent: &'t Subagent, whole: &'t Whole<'_>) -> Option<&'t str> {
    let last = subagent.items.iter().rev().find_map(|item| Some(item.as_prose()?.text.as_str()));
    whole.answer(subagent).or(subagent.summary.as_deref()).or(last)
}

/// The id of the call behind the entry at `at`.
fn next_id<'a>(draft: &Draft<'a>, at: usize) -> Option<&'a str> {
    draft.entries.get(at + 1..)?.iter().find_map(Entry::call)?.step.id.as_deref()
}

/// The parts of items that stand before the first step: gates, decisions, corrections.
pub(super) fn preface(entries: &[Entry<'_>]) -> Vec<Part> {
    let mut page = StepBody::default();
    for entry in entries {
        match entry {
            Entry::Item(Item::Decision(decision), _) => page.decision(decision),
            Entry::Item(Item::Callout(callout), _) if callout.kind == "gate" => {
                page.gate(&callout.title, &callout.body);
            }
            _ => {}
        }
    }
    page.parts
}

/// The id of the block of the words that the entry at `at` answers.
fn asked<'a>(draft: &Draft<'a>, at: usize) -> Option<&'a str> {
    draft.entries.get(..at)?.iter().rev().find_map(|entry| match entry {
        Entry::Request { user, .. } => user.callout.id.as_deref(),
        _ => None,
    })
}

/// Whether an error says nothing but what an import found out of the calls.
pub(super) fn is_generated(error: &Error) -> bool {
    let own = error.text.starts_with('`') && error.text.contains("` failed");
    own && error.resolution.as_deref().is_none_or(recovery::names_steps)
}

/// Parts under construction.
#[derive(Default)]
pub(super) struct StepBody<'a> {
    /// What was added.
    pub(super) parts: Vec<Part>,
    /// The session's note, for links into it.
    note: Option<&'a str>,
}

impl StepBody<'_> {
    pub(super) fn remark(&mut self, kind: RemarkKind, text: &str) {
        let text = shorten::at_sentence(&clean(text), MAX_REMARK).into_owned();
        if text.contains(char::is_alphanumeric) {
            self.parts.push(Part::remark(kind, text));
        }
    }

    fn prose(&mut self, markdown: String) {
        self.parts.push(Part::prose(markdown));
    }

    /// Where all of somebody's words stand.
    fn read_on(&self, id: Option<&str>) -> Option<String> {
        id.map(|id| block_link(self.note, id))
    }

    /// What the step is to do, in the words of those who asked for it.
    fn intent(&mut self, draft: &Draft<'_>, whole: &Whole<'_>) {
        let task = task(draft, whole);
        let asked = draft.opening.filter(|_| draft.subagent.is_none());
        if let Some(words) = asked.map(|user| user.words.as_str()).or(task)
            && is_long(words)
        {
            let id = asked.and_then(|user| user.callout.id.as_deref());
            let told = quotation(unmarked(words), MAX_WORDS, self.read_on(id).as_deref());
            self.prose(told);
            let made =
                asked.and_then(|user| user.interpretation.as_deref()).map(|text| clean(&without_links(text, true)));
            if let Some(made) = made.filter(|made| !made.is_empty()) {
                self.remark(RemarkKind::Plain, &format!("understood as: {made}"));
            }
        } else if let Some(words) = intent(draft, whole) {
            self.prose(paragraph(&words));
        }
    }

    fn request(&mut self, draft: &Draft<'_>, user: &User, rules: bool) {
        if draft.opening.is_some_and(|opening| std::ptr::eq(opening, user)) {
            return;
        }
        let kind = if rules { RemarkKind::Mind } else { RemarkKind::Then };
        if !rules && request::is_nod(&user.words) {
            return;
        }
        if is_long(&user.words) {
            let first = first_sentence(&user.words);
            let link = self.read_on(user.callout.id.as_deref());
            let at = link.as_deref().map_or_else(String::new, |link| format!(" ({link})"));
            self.remark(kind, &format!("{first}{at}"));
            self.prose(quotation(unmarked(&user.words), MAX_REQUEST, link.as_deref()));
            return;
        }
        let told = spoken(user, MAX_FURTHER);
        if rules || !same(&told, &draft.title) {
            self.remark(kind, &told);
        }
    }

    /// Words of the agent: on a line where they fit it, else their first sentence and below it all of them, up to `max` bytes.
    /// `id` is the block that has the rest; `how` stands behind them.
    fn words(&mut self, kind: RemarkKind, words: &str, max: usize, id: Option<&str>, how: &str) {
        let plain = without_links(words, true);
        let is_own = |line: &&str| line.trim() != INTERRUPTED && !is_mark(line) && !is_label(line.trim());
        let told = plain.lines().filter(is_own).collect::<Vec<_>>().join("\n");
        let line = clean(&emphasis::without_emphasis(&without_marks(&told)));
        if !line.contains(char::is_alphanumeric) {
            return;
        }
        if is_structured(&told) || line.chars().nth(MAX_LINE).is_some() {
            self.remark(kind, &format!("{}{how}", first_sentence(&told)));
            self.prose(quotation(&told, max, self.read_on(id).as_deref()));
        } else {
            self.remark(kind, &format!("{line}{how}"));
        }
    }

    pub(super) fn decision(&mut self, decision: &Decision) {
        if plan::is_approval(decision) {
            self.gate(&decision.callout.title, &decision.text);
            return;
        }
        let clause = |text: &str| clean(&without_links(text, true)).trim_end_matches('.').to_owned();
        let quoted = |text: &str| quote::quote(&without_links(text, true), MAX_FURTHER);
        let mut text = clause(&decision.callout.title);
        let mut add = |before: &str, words: String, behind: &str| {
            if words.contains(char::is_alphanumeric) && words != text {
                text = if text.is_empty() { words } else { format!("{text}{before}{words}{behind}") };
            }
        };
        add(": ", quoted(&decision.text), "");
        add(" — ", decision.why.as_deref().map(clause).unwrap_or_default(), "");
        add(" (not: ", decision.rejected.as_deref().map(clause).unwrap_or_default(), ")");
        add(" — leads to: ", decision.impact.as_deref().map(clause).unwrap_or_default(), "");
        self.remark(RemarkKind::Decided, &text);
    }

    pub(super) fn gate(&mut self, title: &str, body: &str) {
        let title = clean(&without_links(title, true));
        let title = if title.is_empty() { "A person agrees".to_owned() } else { truncate(&title, 160).into_owned() };
        let mut lines: Vec<String> = Vec::new();
        for line in without_links(body, true).lines() {
            let line = clean(line);
            if line.is_empty() {
                continue;
            }
            if lines.len() == MAX_GATE {
                lines.push("…".into());
                break;
            }
            let line = line.trim_start_matches(['#', '>', '|', '`', '~', ' ']);
            lines.push(inline(&shorten::at_sentence(line, MAX_FURTHER)));
        }
        lines.retain(|line| !line.is_empty());
        self.parts.push(Part::Gate(Gate { title, body: lines.join("\n"), span: Span::default() }));
    }
}

/// Whether words are told with their lines: they have several paragraphs, or are too long for one line.
fn is_long(words: &str) -> bool {
    let words = words.trim();
    words.chars().nth(MAX_FURTHER).is_some()
        || words.lines().filter(|line| !line.trim().is_empty()).nth(MAX_LINES).is_some()
}

/// Lines of words that are told on one.
const MAX_LINES: usize = 3;

/// Somebody's words without what a host put around them.
fn unmarked(words: &str) -> &str {
    cru_session::words::title::unmarked(cru_session::words::title::unwrapped(words))
}

/// Whether words hold a table, a list or code with its lines.
fn is_structured(words: &str) -> bool {
    words.lines().any(|line| is_fence(line.trim()) || line.trim_start().starts_with('|'))
        || words.lines().filter(|line| is_item(line)).nth(1).is_some()
}

/// Whether a line is an item of a list.
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = if rest.len() < line.len() { rest.strip_prefix(['.', ')']) } else { line.strip_prefix(['-', '*', '+']) };
    rest.is_some_and(|rest| rest.starts_with(' '))
}

/// The first sentence of words that are told below, and the mark that they go on.
fn first_sentence(words: &str) -> String {
    let line = words.lines().find(|line| line.contains(char::is_alphanumeric)).unwrap_or(words);
    let line = clean(&emphasis::without_emphasis(without_mark(line)));
    let first = sentences(&line).next().unwrap_or(&line).trim_end();
    let told = shorten::at_word(first, MAX_FIRST);
    if told.ends_with(['…', ':']) { told } else { format!("{told} …") }
}

/// Text without the marks of headings at its lines.
fn without_marks(text: &str) -> String {
    text.lines().map(without_mark).collect::<Vec<_>>().join("\n")
}

/// A line without the marks of a heading.
fn without_mark(line: &str) -> &str {
    let rest = line.trim_start().trim_start_matches('#');
    if rest.len() < line.trim_start().len() && rest.starts_with(' ') { rest.trim_start() } else { line }
}

/// What a parent agent asked for: all of it where the transcript has it, else as the note says.
fn task<'t>(draft: &'t Draft<'_>, whole: &'t Whole<'_>) -> Option<&'t str> {
    match draft.subagent {
        Some(subagent) => whole.prompt(subagent).or(subagent.task.as_deref()),
        None => draft.task,
    }
}

/// What to do, in the words of those who asked for it.
fn intent(draft: &Draft<'_>, whole: &Whole<'_>) -> Option<String> {
    let task = task(draft, whole);
    let asked = draft.opening.filter(|_| draft.subagent.is_none());
    let words = match (asked, task) {
        (Some(user), _) => Some(spoken(user, MAX_WORDS)),
        (None, Some(task)) => Some(quote::quote(task, MAX_WORDS)),
        (None, None) => None,
    };
    words.filter(|words| !words.is_empty() && !same(words, &draft.title))
}

/// Whether the title `b` says what the text `a` says, punctuation aside.
pub(super) fn same(a: &str, b: &str) -> bool {
    let letters =
        |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect() };
    letters(a) == letters(b)
}

/// A person's words as they were said, and what was made of them.
pub(super) fn spoken(user: &User, max: usize) -> String {
    let words = quote::quote(&user.words, max);
    match user.interpretation.as_deref().map(|text| clean(&without_links(text, true))) {
        Some(made) if !made.is_empty() && !words.is_empty() => format!("{words} — {}", truncate(&made, max)),
        Some(made) => made,
        None => words,
    }
}

/// Whether `text` is what a person said: then it is the refusal of a call, not something that went wrong.
fn is_said(said: &[String], text: &str) -> bool {
    let text = clean(head(text.trim_end_matches('…'), SEEN / 2));
    text.len() > 8 && said.iter().any(|words| words.starts_with(&text))
}

/// What went wrong, and what helped: in words, and the files that were changed to put it right.
pub(super) fn trouble(error: &Error, draft: &Draft<'_>) -> String {
    let what = clean(&without_links(&error.callout.title, true));
    let mut text = if what.is_empty() { shorten::at_sentence(&clean(&error.text), 120).into_owned() } else { what };
    let help = error.resolution.as_deref().map(|text| clean(&without_links(text, true))).unwrap_or_default();
    if !help.is_empty() {
        text = format!("{text} — {help}");
    }
    let call = |link: &Link| draft.calls().find(|call| call.step.id.is_some() && call.step.id == link.block);
    let written = error.resolved_by.iter().filter_map(call).flat_map(|call| &call.writes);
    let files = distinct(written.map(|path| shorten::file_name(path)), 3);
    if files.is_empty() { text } else { format!("{text} ({})", files.join(", ")) }
}
