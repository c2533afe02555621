//! The summary on top of a note: what was asked, what came of it, what was changed, checked and left open.
//!
//! Facts of the record alone, each decided elsewhere; nothing is judged here. A line without content is left out.

mod made;
mod open;

use std::collections::HashSet;

use cru_action::is_outside;
use cru_base::text::{fold_whitespace, plural};

use self::made::{Made, file};
use self::open::open;
use super::conclusions;
use super::planned::PlannedWork;
use super::step::StepDraft;
use super::turns::ToldTurn;
use crate::words::closing::Closing;
use crate::words::sentence::sentences;
use crate::words::{shorten, summary};
use crate::{Item, Task};

/// Characters of what was asked, in one of many turns and in the only one, and of closing words on one line.
const SAID: usize = 240;
const SAID_OF_MANY: usize = 160;
const CONCLUDED_OF_MANY: usize = 200;

/// Turns that are listed; of more the first, the last, and those that changed something.
const TURNS: usize = 10;

/// Files, commits, checks and decisions that are named; of more their number is told.
const FILES: usize = 8;
const COMMITS: usize = 5;
const CHECKS: usize = 4;
const DECISIONS: usize = 3;

/// Characters of a command, a task, a question.
const SHORT: usize = 100;

/// What the stream knows beside its steps.
#[derive(Debug)]
pub(in crate::fold) struct Told<'a> {
    /// The turns in order, and how many more there were.
    pub(in crate::fold) turns: Vec<ToldTurn>,
    pub(in crate::fold) more: usize,
    /// The last plan that was given or approved.
    pub(in crate::fold) planned: Option<PlannedWork>,
    /// What a sub-agent was asked.
    pub(in crate::fold) task: Option<&'a str>,
    /// The last words of the agent, where nothing was done after them.
    pub(in crate::fold) conclusion: Option<&'a str>,
    /// The branches that the work was on.
    pub(in crate::fold) branches: &'a [String],
    /// How it ended otherwise.
    pub(in crate::fold) end: Option<String>,
    /// Whether the agent's last words are a question that nobody answered.
    pub(in crate::fold) asks: bool,
    pub(in crate::fold) tasks: &'a [Task],
    /// The working directory, as paths below it are written.
    pub(in crate::fold) project: Option<&'a str>,
    /// Titles of decisions.
    pub(in crate::fold) decisions: Vec<String>,
    /// Seconds of work without pauses, and from first to last.
    pub(in crate::fold) active: i64,
    pub(in crate::fold) whole: i64,
}

/// The callout's body; `None` where there is no more than what was asked.
pub(in crate::fold) fn body(told: &Told<'_>, steps: &[StepDraft]) -> Option<String> {
    let made = Made::of(steps, told.project);
    let is_long = told.turns.len() + told.more > 1;
    let (shown, at_length) = shown(told, &made, steps);
    let last = at_length.iter().find(|(at, _)| at + 1 == told.turns.len()).map(|(_, words)| words);
    // A sub-agent may have been told nothing but its task.
    let alone = told.conclusion.filter(|_| told.turns.is_empty()).map(conclusions::alone);
    let last = last.or(alone.as_ref());
    let lines = [
        ("Decided", listed(decided(told), "; ", DECISIONS)),
        ("Files", files(&made, told.project)),
        ("Branches", (told.branches.len() > 1).then(|| told.branches.join(" → "))),
        ("Commits", listed(made.commits.iter().map(|commit| commit.field()), "; ", COMMITS)),
        ("Published", listed(made.published(), "; ", COMMITS)),
        ("Checks", listed(made.checks(), "; ", CHECKS)),
        ("Open", open(told, &made, last, steps)),
        ("Time", time(told)),
    ];
    let tells = |(name, value): &&(&str, Option<String>)| {
        value.as_ref().is_some_and(|value| !value.is_empty()) && !matches!(*name, "Branches" | "Time")
    };
    let concludes = told.turns.iter().any(|it| !it.concluded.is_empty());
    let says = concludes || lines.iter().any(|line| tells(&line));
    let fields = lines.into_iter().filter_map(|(name, value)| Some((name, value.filter(|value| !value.is_empty())?)));
    let fields: Vec<String> = fields.map(|(name, value)| format!("{name}: {value}")).collect();
    let fields = fields.join("  \n");
    let head = if is_long { turns(told, &shown, &at_length) } else { only_turn(told, last) };
    // A list and a field below it would be one paragraph.
    let between = if is_long || head.contains("\n- ") { "\n\n" } else { "  \n" };
    let parts: Vec<String> = [head, fields].into_iter().filter(|it| !it.is_empty()).collect();
    says.then(|| parts.join(between))
}

/// What was asked and what came of it, where that was once.
fn only_turn(told: &Told<'_>, words: Option<&Closing>) -> String {
    let phase = told.turns.last().map_or(0, |turn| turn.phase);
    let result = words.map(|words| conclusions::listed(words, phase, "")).filter(|it| !it.is_empty());
    let lines = [asked(told).map(|line| format!("Asked: {line}")), result.map(|line| format!("Result: {line}"))];
    lines.into_iter().flatten().collect::<Vec<_>>().join("  \n")
}

/// Decisions that say something else than what was asked.
fn decided<'t>(told: &'t Told<'_>) -> impl Iterator<Item = String> + 't {
    let said = || told.turns.iter().flat_map(|turn| &turn.said);
    let is_said = move |decision: &&String| {
        let text = decision.trim_start_matches("Plan: ");
        said().any(|line| line.contains(text))
    };
    let mut seen = HashSet::new();
    told.decisions.iter().filter(move |decision| !is_said(decision) && seen.insert(decision.as_str())).cloned()
}

/// What was asked, where that was once.
fn asked(told: &Told<'_>) -> Option<String> {
    let said = told.turns.first().map(|turn| turn.said.join(" · "));
    let line = said.or_else(|| told.task.map(fold_whitespace))?;
    Some(quoted(&line, SAID)).filter(|line| !line.is_empty())
}

/// The turns that are told: of many the first, the last, those that changed something, then the others, as far as there is
/// room; and the closing words of those that are told at length.
fn shown(told: &Told<'_>, made: &Made<'_>, steps: &[StepDraft]) -> (Vec<usize>, Vec<(usize, Closing)>) {
    let all = &told.turns;
    let changes = |turn: &ToldTurn| made.changing.range(turn.steps.clone()).next().is_some();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&at| (at != 0 && at + 1 != all.len(), !changes(&all[at])));
    order.truncate(TURNS);
    order.sort_unstable();
    let at_length = conclusions::at_length(all, &order, steps);
    (order, at_length)
}

/// The turns as a list: what was said, and what was concluded.
fn turns(told: &Told<'_>, shown: &[usize], at_length: &[(usize, Closing)]) -> String {
    let all = &told.turns;
    let mut lines: Vec<String> = Vec::new();
    let mut next = 0;
    let left_out = |count: usize| format!("- … {}", plural(count as u64, "more request"));
    for &at in shown {
        if at > next {
            lines.push(left_out(at - next));
        }
        next = at + 1;
        let said = all[at].said.join(" · ");
        let said = quoted(&said, SAID_OF_MANY);
        let words = at_length.iter().find(|(known, _)| *known == at).map(|(_, words)| words);
        let concluded = match words.filter(|words| !words.lines.is_empty()) {
            Some(words) => conclusions::listed(words, all[at].phase, "    "),
            None => concluded(&all[at].concluded, CONCLUDED_OF_MANY),
        };
        let arrow = if concluded.is_empty() { "" } else { " → " };
        lines.push(format!("- \"{said}\"{arrow}{concluded}"));
    }
    if next < all.len() {
        lines.push(left_out(all.len() - next));
    }
    if told.more > 0 {
        lines.push(left_out(told.more));
    }
    lines.join("\n")
}

/// Words of a person in whole sentences: all of them, else the first ones and the last, which often says what is wanted.
fn quoted(line: &str, max: usize) -> String {
    if line.chars().count() <= max {
        return line.to_owned();
    }
    let last = sentences(line).last().map(str::trim).filter(|last| last.chars().count() * 2 <= max);
    match last.filter(|last| !last.contains('…')) {
        Some(last) => {
            let first = whole(line, max - last.chars().count(), line);
            if first.ends_with(last) { first } else { format!("{} … {last}", first.trim_end_matches(['…', ' '])) }
        }
        None => whole(line, max, line),
    }
}

/// Closing words in whole sentences.
fn concluded(text: &str, max: usize) -> String {
    let short = summary(text, max);
    if !short.contains('…') {
        return short;
    }
    whole(&summary(text, 4 * max), max, &short)
}

/// The first sentences of `text` that fit, the first one in any case unless it is far too long: then `short`.
fn whole(text: &str, max: usize, short: &str) -> String {
    let mut line = String::new();
    for sentence in sentences(text) {
        let length = line.chars().count() + sentence.trim_end().chars().count();
        if sentence.contains('…') || length > if line.is_empty() { max * 3 / 2 } else { max } {
            break;
        }
        line.push_str(sentence);
    }
    // The number of an item that did not fit.
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' ');
    let bare = line.trim_end_matches(is_number);
    let line = if bare.ends_with(['.', ':', '!', '?']) { bare } else { line.trim_end() };
    // A colon announces what is wanted.
    let announces = line.ends_with([':', '：']) && line.len() < text.trim_end().len();
    match line {
        "" => shorten::at_word(short, max),
        _ if announces => shorten::at_word(text, max),
        _ => line.to_owned(),
    }
}

/// The files of the project; of others beside them the number.
fn files(made: &Made<'_>, project: Option<&str>) -> Option<String> {
    let (outside, inside): (Vec<_>, Vec<_>) = made.files.iter().partition(|file| is_outside(&file.path, project));
    if inside.is_empty() {
        return listed(outside.into_iter().map(|count| file(count, project)), ", ", FILES);
    }
    let line = listed(inside.into_iter().map(|count| file(count, project)), ", ", FILES)?;
    Some(match outside.len() {
        0 => line,
        more => format!("{line}; {} outside the project", plural(more as u64, "file")),
    })
}

/// The first few, and how many more there are.
fn listed(items: impl IntoIterator<Item = String>, between: &str, most: usize) -> Option<String> {
    let all: Vec<String> = items.into_iter().map(|item| fold_whitespace(&item)).collect();
    let mut line = all.iter().take(most).cloned().collect::<Vec<_>>().join(between);
    if all.len() > most {
        line.push_str(&format!("{between}… and {} more", all.len() - most));
    }
    (!line.is_empty()).then_some(line)
}

/// `34 min active, 2 h 10 min in all`; nothing below a minute.
fn time(told: &Told<'_>) -> Option<String> {
    let spell = |seconds: i64| match (seconds / 60, seconds / 3600) {
        (minutes, 0) => format!("{minutes} min"),
        (minutes, hours @ 1..48) if minutes % 60 > 0 => format!("{hours} h {} min", minutes % 60),
        (_, hours @ 1..48) => format!("{hours} h"),
        (_, hours) => format!("{} days", hours / 24),
    };
    if told.active < 60 {
        return None;
    }
    let active = format!("{} active", spell(told.active));
    // Less than a tenth more is the same.
    let longer = told.whole > told.active + told.active / 10 + 60;
    Some(if longer { format!("{active}, {} in all", spell(told.whole)) } else { active })
}

/// The titles of the decisions among a note's items.
pub(in crate::fold) fn decision(item: &Item) -> Option<String> {
    match item {
        Item::Decision(it) => Some(shorten::at_word(&it.callout.title, SHORT)).filter(|title| !title.is_empty()),
        _ => None,
    }
}
