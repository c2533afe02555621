//! What stands under a step: what to do, what goes in and out, what was decided, the commands that mattered.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::data::{self, Data};
use super::deed::Deed;
use super::draft::Draft;
use super::kind::Kind;
use super::outcome::Passes;
use super::{clean, head, inline, outcome, paragraph, request, shell, title};
use crate::base::Span;
use crate::base::text::truncate;
use crate::session::{Error, User};
use crate::workflow::model::{Command, Gate, Part, Prose, Remark, RemarkKind, Script};

const MAX_WORDS: usize = 240;
const MAX_REMARK: usize = 280;
const MAX_COMMAND: usize = 200;
const MAX_COMMANDS: usize = 8;
const MAX_SCRIPT_LINES: usize = 14;
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
        let text = truncate(&clean(&text), MAX_REMARK).into_owned();
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
    let asking = |user: &User| draft.requests.iter().any(|asked| std::ptr::eq(*asked, user));
    for user in draft.corrections.iter().filter(|user| !asking(user) && corrects(user)).take(4) {
        remark(RemarkKind::Mind, spoken(user, 160));
    }
    let asked = draft.requests.iter().filter(|user| !user.correction && !request::is_talk(&user.words));
    for user in asked.skip(1).take(5) {
        let then = request::imperative(&user.words).or_else(|| request::request(&user.words, 120)).unwrap_or_default();
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
    parts
}

/// Whether it went wrong in the work: a host that had no room for it says nothing to somebody who does it again.
fn is_of_work(error: &Error) -> bool {
    const HOST: &[&str] = &["capacity", "rate limit", "overloaded", "quota will reset"];
    let told = error.callout.title.to_lowercase();
    !(told.contains("model") || told.contains("quota") || told.contains("api"))
        || !HOST.iter().any(|word| told.contains(word))
}

/// Whether a correction says what to mind: a question or an exclamation does not.
fn corrects(user: &User) -> bool {
    let words = user.words.trim();
    let told = user.interpretation.as_deref().is_some_and(|made| !made.trim().is_empty());
    told || (words.split_whitespace().count() >= 4 && !words.ends_with('?'))
}

/// A summary without the exclamation that it begins with.
fn plainly(summary: &str) -> &str {
    match summary.split_once("! ") {
        Some((cry, rest)) if cry.split_whitespace().count() <= 3 && !rest.trim().is_empty() => rest.trim_start(),
        _ => summary,
    }
}

/// Code in a remark: without backticks, so that cutting the text cannot leave a code span open.
fn code(command: &str) -> String {
    truncate(&clean(command).replace('`', "'"), 90).into_owned()
}

/// One or two sentences of what to do.
fn intent(draft: &Draft<'_>) -> Option<String> {
    if let Some(subagent) = draft.subagent {
        let summary = subagent.summary.as_deref().map(|text| plainly(&clean(&strip_links(text))).to_owned());
        let task = subagent
            .task
            .as_deref()
            .and_then(|task| request::request(task, MAX_WORDS))
            .filter(|task| !same(task, &draft.title));
        return match (task, summary.filter(|text| !text.is_empty())) {
            (Some(task), Some(summary)) => {
                Some(format!("{}. Gave: {}", task.trim_end_matches('.'), truncate(&summary, MAX_WORDS)))
            }
            (None, Some(summary)) => Some(format!("Gave: {}", truncate(&summary, MAX_WORDS))),
            (task, None) => task,
        };
    }
    let asked = draft.requests.iter().find(|user| !request::is_talk(&user.words));
    if let Some(user) = asked {
        return Some(spoken(user, MAX_WORDS)).filter(|words| !words.is_empty() && !same(words, &draft.title));
    }
    let prose = draft.intent.filter(|_| draft.said.is_empty());
    let prose = prose.filter(|text| !text.trim_start().starts_with(['|', '`', '<', '-', '*']))?;
    let paragraph = prose.split("\n\n").next().unwrap_or(prose);
    request::request(&strip_links(paragraph), MAX_WORDS).filter(|words| !same(words, &draft.title))
}

/// Whether the title `b` says what the text `a` says, punctuation aside.
fn same(a: &str, b: &str) -> bool {
    let mut letters = a.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
    let mut title = b.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
    // A title that is the text but for its last words says it too.
    title.all(|c| letters.next() == Some(c)) && letters.take(12).map(char::len_utf8).sum::<usize>() < 12
}

/// A person's words as a request, and what was made of them.
fn spoken(user: &User, max: usize) -> String {
    let words = request::request(&strip_links(head(&user.words, request::SEEN)), max).unwrap_or_default();
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
        lines.push(inline(&truncate(line.trim_start_matches(['#', '>', '|', ' ']), MAX_WORDS)));
    }
    Gate { title, body: lines.join("\n"), span: Span::default() }
}

/// How people's words in a step begin.
struct Said(Vec<String>);

impl Said {
    fn of(draft: &Draft<'_>) -> Self {
        Self(draft.said.iter().map(|user| clean(head(&user.words, SEEN))).collect())
    }

    /// Whether `text` is what a person said: then it is the refusal of a call, not something that went wrong.
    fn has(&self, text: &str) -> bool {
        let text = clean(head(text.trim_end_matches('…'), SEEN / 2));
        text.len() > 8 && self.0.iter().any(|words| words.starts_with(&text))
    }
}

/// What went wrong, and what helped: in words, else the files that were changed to put it right.
fn trouble(error: &Error, deeds: &[Deed<'_>]) -> String {
    let what = clean(&strip_links(&error.callout.title));
    let what = if what.is_empty() { request::request(&error.text, 120).unwrap_or_default() } else { what };
    let help = error.resolution.as_deref().map(|text| clean(&strip_links(text))).unwrap_or_default();
    let told = help.trim_end_matches(['.', ';', ' ']);
    if !matches!(told, "" | "fixed; worked" | "fixed; passed" | "worked" | "passed") {
        return format!("{what} — {help}");
    }
    let mut files: Vec<&str> = Vec::new();
    for link in &error.resolved_by {
        let deed = deeds.iter().find(|deed| deed.step.id.is_some() && deed.step.id == link.block);
        for path in deed.into_iter().flat_map(|deed| &deed.writes) {
            let name = title::file_name(path);
            if !files.contains(&name) && files.len() < 3 {
                files.push(name);
            }
        }
    }
    if files.is_empty() { what } else { format!("{what} — fixed in {}", files.join(", ")) }
}

/// Text without links to blocks of the session's own note, which mean nothing elsewhere.
fn strip_links(text: &str) -> String {
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
    out
}

/// The commands worth repeating: what ended well and did more than look, each once, in order.
fn commands(deeds: &[Deed<'_>], data: &Data) -> Vec<Part> {
    let mut order: Vec<&Deed<'_>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for deed in
        deeds.iter().filter(|deed| deed.tells() && deed.kind != Kind::Edit && deed.succeeded() && !deed.core.is_empty())
    {
        if let Some(&at) = places.get(deed.core.as_str()) {
            order[at] = deed;
        } else {
            places.insert(&deed.core, order.len());
            order.push(deed);
        }
    }
    // Of checks of one kind the last tells most; of many commands the more telling kinds stay.
    let mut last: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, deed) in order.iter().enumerate().filter(|(_, deed)| deed.kind == Kind::Check) {
        last.insert(deed.key(), at);
    }
    let keep: HashSet<usize> = last.values().copied().collect();
    let mut places: Vec<usize> =
        (0..order.len()).filter(|at| order[*at].kind != Kind::Check || keep.contains(at)).collect();
    let total = places.len();
    // Code that was typed once to find something out, and does not fit a line, cannot be run again as it is shown.
    let inline = |deed: &Deed<'_>| {
        let cut = deed.core.lines().next().is_some_and(|line| line.chars().count() > MAX_COMMAND);
        cut && deed.kind == Kind::Run && [" -e ", " -c ", " --eval "].iter().any(|option| deed.core.contains(option))
    };
    if places.iter().any(|&at| !inline(order[at])) {
        places.retain(|&at| !inline(order[at]));
    }
    places.sort_by_key(|&at| (std::cmp::Reverse(order[at].kind), at));
    places.truncate(MAX_COMMANDS);
    places.sort_unstable();
    let shown = places.len();
    let mut parts: Vec<Part> = places.into_iter().filter_map(|at| command(order[at], data)).collect();
    if total > shown {
        let text = format!("and {} in the session", crate::base::text::plural((total - shown) as u64, "more command"));
        parts.push(Part::Remark(Remark { kind: RemarkKind::Plain, text, span: Span::default() }));
    }
    parts
}

/// A script with the texts in it cut to their first lines: what is done with them stands behind them.
fn without_documents<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut short = Vec::with_capacity(lines.len());
    let mut rest = lines.iter().copied();
    while let Some(line) = rest.next() {
        short.push(line);
        let Some(mark) = line.split_once("<<").and_then(|(_, after)| shell::here_mark(after)) else { continue };
        for (at, line) in rest.by_ref().enumerate() {
            let ends = line.strip_prefix(mark.as_str()).is_some_and(|after| !after.starts_with(char::is_alphanumeric));
            match at {
                _ if ends => short.push(line),
                0 | 1 => short.push(line),
                2 => short.push("…"),
                _ => {}
            }
            if ends {
                break;
            }
        }
    }
    short
}

/// `None` where nothing readable is left of it.
fn command(deed: &Deed<'_>, data: &Data) -> Option<Part> {
    let core = data.named(&crate::base::text::sanitise(&deed.core));
    let mut lines: Vec<&str> = core.lines().map(str::trim_end).collect();
    if lines.len() > MAX_SCRIPT_LINES {
        lines = without_documents(&lines);
    }
    if lines.len() > 1 && lines.len() <= MAX_SCRIPT_LINES {
        return Some(Part::Script(Script { text: lines.join("\n"), span: Span::default() }));
    }
    let first = lines.first().copied().unwrap_or("");
    let mut text = truncate(&clean(first), MAX_COMMAND).into_owned();
    if text.is_empty() {
        return None;
    }
    if lines.len() > 1 && !text.ends_with('…') {
        text.push_str(" …");
    }
    let note = (deed.kind == Kind::Check).then(|| outcome::verdict(deed));
    Some(Part::Command(Command { command: text, note, span: Span::default() }))
}

/// Commands that failed and did not end well later in the step, with what they said.
/// That which is told as trouble already, or was refused by a person, is left out.
fn failures<'a>(draft: &'a Draft<'_>, said: &Said) -> Vec<(&'a Deed<'a>, String)> {
    let deeds = &draft.deeds;
    let told: HashSet<&str> =
        draft.errors.iter().flat_map(|error| &error.steps).filter_map(|link| link.block.as_deref()).collect();
    let fine: HashSet<&str> = deeds.iter().filter(|deed| deed.succeeded()).map(Deed::key).collect();
    let mut seen = HashSet::new();
    let mut ends: Vec<(&Deed<'_>, String)> = deeds
        .iter()
        .rev()
        .filter(|deed| deed.shell && deed.tells() && deed.failed())
        .filter(|deed| !deed.step.id.as_deref().is_some_and(|id| told.contains(id)))
        .filter(|deed| !deed.step.result.as_deref().is_some_and(|result| said.has(result)))
        .filter(|deed| !fine.contains(deed.key()) && seen.insert(deed.key()))
        .map(|deed| {
            let words = |text: &String| text.chars().filter(|c| c.is_alphanumeric()).count() * 2 > text.chars().count();
            let result = deed.step.result.as_deref().map(clean).filter(words);
            (deed, result.unwrap_or_else(|| "failed".into()))
        })
        .take(3)
        .collect();
    ends.reverse();
    ends
}
