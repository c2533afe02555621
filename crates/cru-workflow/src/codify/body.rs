//! What stands under a step: what to do, what goes in and out, then what was said, decided and run, in the order of the
//! session.
//!
//! Words of a person stand there as they were said, shortened at the ends of sentences with a mark.

use std::borrow::Cow;

use super::call::Call;
use super::commands::{self, Whole};
use super::data::{self, Data};
use super::draft::Draft;
use super::unit::Entry;
use super::{clean, head, inline, paragraph, request};
use crate::model::{Gate, Part, Prose, Remark, RemarkKind};
use cru_action::ToolKind;
use cru_base::Span;
use cru_base::text::truncate;
use cru_graph::turn::is_mark;
use cru_graph::{Taken, plan};
use cru_session::words::pasted::is_fence;
use cru_session::words::sentence::sentences;
use cru_session::words::{emphasis, quote, shorten};
use cru_session::{Decision, Error, Item, User};

/// Characters of what a step is to do.
const MAX_WORDS: usize = 6_000;
/// Characters of a further request, a correction, a line of a gate.
const MAX_FURTHER: usize = 1_200;
/// Characters of what a turn came to.
const MAX_RESULT: usize = 600;
/// Characters of the last paragraph that stays where the rest is cut.
const MAX_END: usize = 200;
/// Characters of any other remark.
const MAX_REMARK: usize = 900;
/// Lines of a gate.
const MAX_GATE: usize = 40;
/// Things that a step used.
const MAX_USES: usize = 20;
/// Words of an agent that tell more than that it begins.
const TOLD: usize = 16;
/// Bytes of somebody's words that are compared.
const SEEN: usize = 800;

/// The parts of the draft at `index`. `after` is the draft that it follows where nothing else joins them.
pub(super) fn parts(
    index: usize,
    drafts: &[Draft<'_>],
    data: &Data,
    after: Option<usize>,
    whole: &Whole<'_>,
) -> Vec<Part> {
    let Some(draft) = drafts.get(index) else { return Vec::new() };
    let said: Vec<String> = draft.said().map(|user| clean(head(&user.words, SEEN))).collect();
    let mut page = StepBody::default();
    if let Some(words) = intent(draft) {
        page.parts.push(Part::Prose(Prose { markdown: paragraph(&words), span: Span::default() }));
    }
    page.parts.extend(data::flow(data).map(Part::Flow));
    if let Some(before) = after.and_then(|at| drafts.get(at)) {
        page.remark(RemarkKind::After, &before.title);
    }
    for it in &data.carried {
        if let Some(from) = drafts.get(it.from) {
            let text = format!("{}, printed by “{}” ({} in the session)", it.operand.name, from.title, it.value);
            page.remark(RemarkKind::Uses, &text);
        }
    }
    for used in uses(draft) {
        page.remark(RemarkKind::Uses, &used);
    }
    let told: Vec<&str> = draft
        .entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Item(Item::Error(error), _) => Some(&error.steps),
            _ => None,
        })
        .flatten()
        .filter_map(|link| link.block.as_deref())
        .collect();
    // What an error tells already, and what a person said when they refused a call, is told once.
    let known = |call: &Call<'_>| {
        call.step.id.as_deref().is_some_and(|id| told.contains(&id))
            || call.step.result.as_deref().is_some_and(|result| is_said(&said, result))
    };
    let (mut commands, left) = commands::parts(index, drafts, data, whole, &known);
    for (at, entry) in draft.entries.iter().enumerate() {
        match entry {
            Entry::Call(_) => page.parts.extend(commands.remove(&at).unwrap_or_default()),
            Entry::Request { user, corrects } => page.request(draft, user, *corrects),
            Entry::Conclusion(prose, taken) => page.conclusion(&prose.text, *taken),
            Entry::Item(Item::Decision(decision), _) => page.decision(decision),
            Entry::Item(Item::Error(error), _) if !is_said(&said, &error.callout.title) => {
                page.remark(RemarkKind::Trouble, &trouble(error, draft));
            }
            Entry::Item(Item::Callout(callout), _) if callout.kind == "gate" => {
                page.gate(&callout.title, &callout.body);
            }
            Entry::Item(..) => {}
        }
    }
    if let Some(subagent) = draft.subagent {
        let last = subagent.items.iter().rev().find_map(|item| match item {
            Item::Prose(prose) => Some(prose.text.as_str()),
            _ => None,
        });
        if let Some(told) = subagent.summary.as_deref().or(last) {
            page.conclusion(told, Taken::Unknown);
        }
    }
    if left > 0 {
        let text = format!("and {} that only looked or tried", cru_base::text::plural(left as u64, "command"));
        page.remark(RemarkKind::Plain, &text);
    }
    page.parts
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

/// Parts under construction.
#[derive(Default)]
struct StepBody {
    parts: Vec<Part>,
}

impl StepBody {
    fn remark(&mut self, kind: RemarkKind, text: &str) {
        let text = shorten::at_sentence(&clean(text), MAX_REMARK).into_owned();
        if text.contains(char::is_alphanumeric) {
            self.parts.push(Part::Remark(Remark { kind, text, span: Span::default() }));
        }
    }

    fn request(&mut self, draft: &Draft<'_>, user: &User, corrects: bool) {
        if draft.opening.is_some_and(|opening| std::ptr::eq(opening, user)) {
            return;
        }
        if corrects {
            self.remark(RemarkKind::Mind, &spoken(user, MAX_FURTHER));
        } else if !request::is_nod(&user.words) {
            let then = quote::quote(&user.words, MAX_FURTHER);
            if !same(&then, &draft.title) {
                self.remark(RemarkKind::Then, &then);
            }
        }
    }

    /// What a turn came to. What the person did not let stand is an attempt that failed.
    fn conclusion(&mut self, text: &str, taken: Taken) {
        let told = concluded(text);
        if !told.contains(char::is_alphanumeric) {
            return;
        }
        let (kind, how) = match taken {
            Taken::Corrects => (RemarkKind::DeadEnd, " — the person corrected this"),
            Taken::Refutes => (RemarkKind::DeadEnd, " — the person showed that it fails"),
            Taken::Stopped => (RemarkKind::Result, " — the person stopped it"),
            Taken::Accepts => (RemarkKind::Result, " — the person accepted it"),
            _ => (RemarkKind::Result, ""),
        };
        self.remark(kind, &format!("{told}{how}"));
    }

    fn decision(&mut self, decision: &Decision) {
        if plan::is_approval(decision) {
            self.gate(&decision.callout.title, &decision.text);
            return;
        }
        let clause = |text: &str| clean(&linked(text)).trim_end_matches('.').to_owned();
        let quoted = |text: &str| quote::quote(&linked(text), MAX_FURTHER);
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

    fn gate(&mut self, title: &str, body: &str) {
        let title = clean(&linked(title));
        let title = if title.is_empty() { "A person agrees".to_owned() } else { truncate(&title, 160).into_owned() };
        let mut lines: Vec<String> = Vec::new();
        for line in linked(body).lines() {
            let line = clean(line);
            if line.is_empty() {
                continue;
            }
            if lines.len() == MAX_GATE {
                lines.push("…".into());
                break;
            }
            lines.push(inline(&truncate(line.trim_start_matches(['#', '>', '|', '`', '~', ' ']), MAX_FURTHER)));
        }
        lines.retain(|line| !line.is_empty());
        self.parts.push(Part::Gate(Gate { title, body: lines.join("\n"), span: Span::default() }));
    }
}

/// An agent's closing words on one line: whole where they fit, else whole lines and sentences from their beginning, and
/// the last paragraph, in which many say what came of it. `…` stands for what is left out.
fn concluded(text: &str) -> String {
    let plain = emphasis::without_emphasis(&linked(text));
    // `None` for code and tables.
    let mut lines: Vec<Option<String>> = Vec::new();
    let mut fenced = false;
    for line in plain.lines().filter(|line| !is_mark(line)) {
        let fence = is_fence(line.trim());
        fenced ^= fence;
        let line = clean(without_mark(line));
        if fence || fenced || line.starts_with('|') {
            lines.extend((lines.last() != Some(&None)).then_some(None));
        } else if !line.is_empty() {
            lines.push(Some(line));
        }
    }
    let size = |line: &Option<String>| line.as_ref().map_or(1, |line| line.chars().count()) + 1;
    let fits = lines.iter().map(size).sum::<usize>() <= MAX_RESULT;
    let is_item = |line: &str| line.starts_with(['-', '*', '+', '>']) || line.starts_with(|c: char| c.is_ascii_digit());
    let end = match lines.last() {
        Some(Some(last)) if !fits && lines.len() > 1 && !is_item(last) && last.chars().count() <= MAX_END => {
            lines.pop()
        }
        _ => None,
    };
    let end = end.flatten();
    let max = MAX_RESULT - end.as_ref().map_or(0, |end| end.chars().count() + 3);
    let mut told = String::new();
    for line in &lines {
        let used = told.chars().count();
        if used > 0 && !told.ends_with(' ') {
            told.push(' ');
        }
        let Some(line) = line else {
            if !told.trim_end().ends_with('…') {
                told.push('…');
            }
            continue;
        };
        if used + line.chars().count() + 1 < max {
            told.push_str(line);
            continue;
        }
        // Of a long line whole sentences; of one that does not fit at all only the mark.
        let room = max.saturating_sub(used + 4);
        let first = sentences(line).next().map_or(0, |first| first.chars().count());
        if first < room || used == 0 {
            told.push_str(&shorten::at_sentence(line, room));
        }
        if !told.trim_end().ends_with('…') {
            told.push('…');
        }
        break;
    }
    let told = without_number(told.trim_end().to_owned());
    let told = end.map_or(told.clone(), |end| clean(&format!("{told} {end}")));
    if told.is_ascii() { told } else { told.replace(['→', '⟶'], "⇒") }
}

/// Words that were cut right behind the number of the next item, without that number.
fn without_number(mut told: String) -> String {
    if let Some(rest) = told.strip_suffix(" …")
        && let Some((before, last)) = rest.rsplit_once(' ')
        && last.ends_with(['.', ')'])
        && last.trim_end_matches(['.', ')']).bytes().all(|byte| byte.is_ascii_digit())
    {
        told = format!("{before} …");
    }
    told
}

/// A line without the marks of a heading.
fn without_mark(line: &str) -> &str {
    let rest = line.trim_start().trim_start_matches('#');
    if rest.len() < line.trim_start().len() && rest.starts_with(' ') { rest.trim_start() } else { line }
}

/// Skills, pages and tools of servers that the step used, each once.
fn uses(draft: &Draft<'_>) -> Vec<String> {
    let mut used: Vec<String> = Vec::new();
    let mut more = 0;
    for call in draft.calls().filter(|call| call.succeeded()) {
        let args = clean(call.step.full_args());
        let text = match call.tool {
            ToolKind::Skill if !args.is_empty() => format!("skill {}", truncate(&args, 120)),
            ToolKind::Fetch if !args.is_empty() => {
                let address = args.split_whitespace().map(|word| word.trim_matches(['"', ',', '{', '}']));
                match address.into_iter().find_map(|word| word.find("http").map(|at| &word[at..])) {
                    Some(address) => format!("page {}", truncate(address, 200)),
                    None => format!("{} {}", call.step.tool, truncate(&args, 120)),
                }
            }
            ToolKind::Mcp => format!("tool {}", call.step.tool),
            ToolKind::Other if call.acts() && !call.shell && !call.text.is_empty() => {
                format!("tool {}", call.step.tool)
            }
            _ => continue,
        };
        if used.contains(&text) {
            continue;
        }
        if used.len() == MAX_USES {
            more += 1;
        } else {
            used.push(text);
        }
    }
    if more > 0 {
        used.push(format!("{} in the session", cru_base::text::plural(more, "other page or tool")));
    }
    used
}

/// What to do, in the words of those who asked for it.
fn intent(draft: &Draft<'_>) -> Option<String> {
    let task = draft.subagent.map_or(draft.task, |subagent| subagent.task.as_deref());
    let asked = draft.opening.filter(|_| draft.subagent.is_none());
    let words = match (asked, task) {
        (Some(user), _) => Some(spoken(user, MAX_WORDS)),
        (None, Some(task)) => Some(quote::quote(task, MAX_WORDS)),
        (None, None) if draft.activity.is_some() || draft.subagent.is_some() => None,
        (None, None) => {
            // Where people only said to go on, an agent may tell at some length what it goes on with.
            let prose = draft.entries.iter().find_map(|entry| match entry {
                Entry::Item(Item::Prose(prose), _) => Some(prose.text.as_str()),
                _ => None,
            });
            let silent = draft.said().next().is_none();
            let prose = prose.filter(|prose| silent || prose.split_whitespace().nth(TOLD).is_some());
            let prose = prose.filter(|text| !text.trim_start().starts_with(['|', '`', '<', '-', '*']))?;
            let paragraph = prose.split("\n\n").next().unwrap_or(prose);
            Some(quote::quote(&linked(paragraph), MAX_FURTHER))
        }
    };
    words.filter(|words| !words.is_empty() && !same(words, &draft.title))
}

/// Whether the title `b` says what the text `a` says, punctuation aside.
fn same(a: &str, b: &str) -> bool {
    let letters =
        |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect() };
    letters(a) == letters(b)
}

/// A person's words as they were said, and what was made of them.
fn spoken(user: &User, max: usize) -> String {
    let words = quote::quote(&user.words, max);
    match user.interpretation.as_deref().map(|text| clean(&linked(text))) {
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
fn trouble(error: &Error, draft: &Draft<'_>) -> String {
    let what = clean(&linked(&error.callout.title));
    let mut text = if what.is_empty() { shorten::at_sentence(&clean(&error.text), 120).into_owned() } else { what };
    let help = error.resolution.as_deref().map(|text| clean(&linked(text))).unwrap_or_default();
    if !help.is_empty() {
        text = format!("{text} — {help}");
    }
    let mut files: Vec<&str> = Vec::new();
    for link in &error.resolved_by {
        let call = draft.calls().find(|call| call.step.id.is_some() && call.step.id == link.block);
        for path in call.into_iter().flat_map(|call| &call.writes) {
            let name = shorten::file_name(path);
            if !files.contains(&name) && files.len() < 3 {
                files.push(name);
            }
        }
    }
    if files.is_empty() { text } else { format!("{text} ({})", files.join(", ")) }
}

/// Text with the ids of blocks of the session's own note in the place of links to them, which lead nowhere elsewhere.
fn linked(text: &str) -> Cow<'_, str> {
    if memchr::memmem::find(text.as_bytes(), b"[[").is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest.as_bytes(), b"[[") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        let Some((inner, tail)) = after.split_once("]]") else { break };
        out.push_str(before.strip_suffix('!').unwrap_or(before));
        let own = inner.strip_prefix('#').map(|id| id.trim_start_matches('^'));
        out.push_str(own.unwrap_or(inner).rsplit('|').next().unwrap_or(inner));
        rest = tail;
    }
    out.push_str(rest);
    Cow::Owned(out)
}
