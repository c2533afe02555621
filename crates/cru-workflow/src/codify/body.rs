//! What stands under a step: what to do, what goes in and out, what was decided, the commands that mattered.

use std::borrow::Cow;

use super::commands::{commands, failures};
use super::data::{self, Data};
use super::deed::Deed;
use super::draft::Draft;
use super::outcome::Passes;
use super::{clean, head, inline, paragraph, request};
use crate::model::{Gate, Part, Prose, Remark, RemarkKind};
use cru_base::Span;
use cru_base::text::truncate;
use cru_session::words::{list, quote, shorten, summary};
use cru_session::{Error, User};

/// Characters of what a step is to do.
const MAX_WORDS: usize = 1_500;
/// Characters of a further request, a correction, a line of a gate.
const MAX_FURTHER: usize = 400;
/// Characters of what a step came to.
const MAX_RESULT: usize = 640;
/// Characters of any other remark.
const MAX_REMARK: usize = 440;
/// Words of an agent that tell more than that it begins.
const TOLD: usize = 16;
/// Bytes of somebody's words that are compared.
const SEEN: usize = 800;

/// The parts of the draft at `index`.
pub(super) fn parts(index: usize, drafts: &[Draft<'_>], data: &Data, passes: &Passes<'_>) -> Vec<Part> {
    let Some(draft) = drafts.get(index) else { return Vec::new() };
    let said = Said::of(draft);
    let mut parts = Vec::new();
    if let Some(words) = intent(draft) {
        parts.push(Part::Prose(Prose { markdown: paragraph(&words), span: Span::default() }));
    }
    parts.extend(data::flow(data).map(Part::Flow));
    parts.extend(draft.gates.iter().map(|(title, body)| Part::Gate(gate(title, body))));
    let mut remark = |kind, text: String| {
        let text = shorten::at_sentence(&clean(&text), MAX_REMARK).into_owned();
        if text.contains(char::is_alphanumeric) {
            parts.push(Part::Remark(Remark { kind, text, span: Span::default() }));
        }
    };
    for decision in draft.decisions.iter().take(8) {
        let clause = |text: &str| clean(&strip_links(text)).trim_end_matches('.').to_owned();
        let mut text = clause(&decision.callout.title);
        if let Some(why) = decision.why.as_deref().map(clause).filter(|why| !why.is_empty()) {
            text = if text.is_empty() { why } else { format!("{text} — {why}") };
        }
        if let Some(rejected) = decision.rejected.as_deref().map(clause).filter(|rejected| !rejected.is_empty()) {
            text = format!("{text} (not: {rejected})");
        }
        remark(RemarkKind::Decided, text);
    }
    let opening = opening(draft);
    let opens = |user: &User| opening.is_some_and(|opening| std::ptr::eq(opening, user));
    for user in draft.corrections.iter().filter(|user| !opens(user) && corrects(user)).take(8) {
        remark(RemarkKind::Mind, spoken(user, MAX_FURTHER));
    }
    let further = draft.asked.iter().filter(|user| !opens(user));
    for user in further.take(8) {
        let then = quote(&user.words, MAX_FURTHER);
        if !same(&then, &draft.title) {
            remark(RemarkKind::Then, then);
        }
    }
    for error in draft.errors.iter().filter(|error| is_of_work(error) && !said.has(&error.callout.title)).take(4) {
        remark(RemarkKind::Trouble, trouble(error, &draft.deeds));
    }
    for it in &data.carried {
        if let Some(from) = drafts.get(it.from) {
            remark(
                RemarkKind::Uses,
                format!("{}, printed by “{}” ({} in the session)", it.operand.name, from.title, it.value),
            );
        }
    }
    for (value, operand) in &data.lifted {
        remark(RemarkKind::Uses, format!("{}, given with the request ({value} in the session)", operand.name));
    }
    parts.extend(commands(&draft.deeds, data));
    for (deed, result) in failures(draft, &said) {
        let command = code(deed.core.lines().next().unwrap_or(""));
        let passing = passes.after(deed, index).and_then(|at| drafts.get(at));
        let (kind, text) = match passing.map(|draft| &draft.title) {
            Some(title) => (RemarkKind::Trouble, format!("{command}: {result} — passes in “{title}”")),
            None => (RemarkKind::DeadEnd, format!("{command}: {result}")),
        };
        let text = truncate(&text, MAX_REMARK).into_owned();
        parts.push(Part::Remark(Remark { kind, text, span: Span::default() }));
    }
    if let Some(text) = result(draft) {
        parts.push(Part::Remark(Remark { kind: RemarkKind::Result, text, span: Span::default() }));
    }
    parts
}

/// What the step came to, where somebody said so in more than a word.
fn result(draft: &Draft<'_>) -> Option<String> {
    let said = match draft.subagent {
        Some(subagent) => subagent.summary.as_deref()?,
        None => draft.closing?,
    };
    let mut text = clean(&summary(&strip_links(said), MAX_RESULT));
    if !text.is_ascii() {
        text = text.replace(['→', '⟶'], "⇒");
    }
    // Where an agent only says what it will do, nothing came of it yet.
    let intends = ["Let me ", "I'll ", "I will ", "I’ll "].iter().any(|words| text.starts_with(words));
    (text.split_whitespace().nth(2).is_some() && !intends).then_some(text)
}

/// The request that the step opens with.
fn opening<'a>(draft: &Draft<'a>) -> Option<&'a User> {
    draft.requests.iter().copied().find(|user| !request::is_talk(&user.words))
}

/// Whether it went wrong in the work: a host that had no room for it says nothing to somebody who does it again.
fn is_of_work(error: &Error) -> bool {
    const HOST: &[&str] = &["capacity", "rate limit", "overloaded", "quota will reset"];
    let told = error.callout.title.to_lowercase();
    !(told.contains("model") || told.contains("quota") || told.contains("api"))
        || !HOST.iter().any(|word| told.contains(word))
}

/// Whether a correction says what to mind: an exclamation or a short question does not.
fn corrects(user: &User) -> bool {
    let words = user.words.trim();
    let told = user.interpretation.as_deref().is_some_and(|made| !made.trim().is_empty());
    let asks = words.ends_with('?') && !words.trim_end_matches('?').contains(['.', '?', '!', '\n']);
    // Words cannot be counted where no blanks stand between them.
    let unspaced = words.chars().filter(|c| list::is_unspaced(*c)).nth(3).is_some();
    told || unspaced || words.split_whitespace().nth(if asks { 5 } else { 3 }).is_some()
}

/// Code in a remark: without backticks, so that cutting the text cannot leave a code span open.
fn code(command: &str) -> String {
    truncate(&clean(command).replace('`', "'"), 90).into_owned()
}

/// What to do, in the words of those who asked for it.
fn intent(draft: &Draft<'_>) -> Option<String> {
    let task = draft.subagent.map_or(draft.task, |subagent| subagent.task.as_deref());
    let asked = opening(draft).filter(|_| draft.subagent.is_none());
    let words = match (asked, task) {
        (Some(user), _) => Some(spoken(user, MAX_WORDS)),
        (None, Some(task)) => Some(quote(task, MAX_WORDS)),
        (None, None) => {
            // Where people only said to go on, an agent may tell at some length what it goes on with.
            let told = |prose: &&str| {
                let talked = draft.said.iter().all(|user| request::is_talk(&user.words));
                draft.said.is_empty() || (talked && prose.split_whitespace().nth(TOLD).is_some())
            };
            let prose = draft.intent.filter(told);
            let prose = prose.filter(|text| !text.trim_start().starts_with(['|', '`', '<', '-', '*']))?;
            let paragraph = prose.split("\n\n").next().unwrap_or(prose);
            Some(quote(&strip_links(paragraph), MAX_FURTHER))
        }
    };
    words.filter(|words| !words.is_empty() && !same(words, &draft.title))
}

/// Whether the title `b` says what the text `a` says, punctuation aside.
fn same(a: &str, b: &str) -> bool {
    let mut letters = a.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
    let mut title = b.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
    // A title that is the text but for its last words says it too.
    title.all(|c| letters.next() == Some(c)) && letters.take(12).map(char::len_utf8).sum::<usize>() < 12
}

/// A person's words as they were said, and what was made of them.
fn spoken(user: &User, max: usize) -> String {
    let words = quote(&user.words, max);
    match user.interpretation.as_deref().map(|text| clean(&strip_links(text))) {
        Some(made) if !made.is_empty() && !words.is_empty() => format!("{words} — {}", truncate(&made, max)),
        Some(made) => made,
        None => words,
    }
}

fn gate(title: &str, body: &str) -> Gate {
    let title = clean(&strip_links(title));
    let title = if title.is_empty() { "A person agrees".to_owned() } else { truncate(&title, 120).into_owned() };
    let mut lines: Vec<String> = Vec::new();
    let mut fenced = false;
    for line in strip_links(body).lines() {
        let line = clean(line);
        fenced ^= line.starts_with("```") || line.starts_with("~~~");
        if line.is_empty() || fenced || line.starts_with("```") || line.starts_with("~~~") {
            continue;
        }
        if lines.len() == 12 {
            lines.push("…".into());
            break;
        }
        lines.push(inline(&truncate(line.trim_start_matches(['#', '>', '|', ' ']), MAX_FURTHER)));
    }
    Gate { title, body: lines.join("\n"), span: Span::default() }
}

/// How people's words in a step begin.
pub(super) struct Said(Vec<String>);

impl Said {
    fn of(draft: &Draft<'_>) -> Self {
        Self(draft.said.iter().map(|user| clean(head(&user.words, SEEN))).collect())
    }

    /// Whether `text` is what a person said: then it is the refusal of a call, not something that went wrong.
    pub(super) fn has(&self, text: &str) -> bool {
        let text = clean(head(text.trim_end_matches('…'), SEEN / 2));
        text.len() > 8 && self.0.iter().any(|words| words.starts_with(&text))
    }
}

/// What went wrong, and what helped: in words, else the files that were changed to put it right.
fn trouble(error: &Error, deeds: &[Deed<'_>]) -> String {
    let what = clean(&strip_links(&error.callout.title));
    let what = if what.is_empty() { shorten::at_sentence(&clean(&error.text), 120).into_owned() } else { what };
    let help = error.resolution.as_deref().map(|text| clean(&strip_links(text))).unwrap_or_default();
    let told = help.trim_end_matches(['.', ';', ' ']);
    if !matches!(told, "" | "fixed; worked" | "fixed; passed" | "worked" | "passed") {
        return format!("{what} — {help}");
    }
    let mut files: Vec<&str> = Vec::new();
    for link in &error.resolved_by {
        let deed = deeds.iter().find(|deed| deed.step.id.is_some() && deed.step.id == link.block);
        for path in deed.into_iter().flat_map(|deed| &deed.writes) {
            let name = shorten::file_name(path);
            if !files.contains(&name) && files.len() < 3 {
                files.push(name);
            }
        }
    }
    if files.is_empty() { what } else { format!("{what} — fixed in {}", files.join(", ")) }
}

/// Text without links to blocks of the session's own note, which mean nothing elsewhere.
fn strip_links(text: &str) -> Cow<'_, str> {
    if memchr::memmem::find(text.as_bytes(), b"[[").is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest.as_bytes(), b"[[") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        let Some((inner, tail)) = after.split_once("]]") else { break };
        let own = inner.starts_with('#');
        let mut before = before.trim_end_matches('!');
        if own {
            before = before.trim_end();
            for lead in ["see", "in", "with", "by", "at", ",", "(", ":"] {
                before = before.strip_suffix(lead).unwrap_or(before).trim_end();
            }
        }
        out.push_str(before);
        if !own {
            out.push_str(inner.rsplit('|').next().unwrap_or(inner));
        }
        rest = if own { tail.trim_start_matches(')') } else { tail };
    }
    out.push_str(rest);
    Cow::Owned(out)
}
