//! A phase in a pack: in full, in short, with its middle left out, or as one line.

use std::collections::HashSet;

use jiff::Timestamp;

use super::after::After;
use super::entry::Entry;
use super::point::ItemPlace;
use super::{decision, text, token};
use cru_base::text::plural;
use cru_session::{Agent, Callout, Item, Meta, Phase, Step, StepStatus, Subagent, User};

/// Kinds that say nothing about how to go on.
const LEFT_OUT: &[&str] = &["usage", "segment"];
/// Characters of a command and of a result on the line of a step.
const COMMAND: usize = 160;
const RESULT: usize = 120;

/// How much of each item is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// All of it.
    Full,
    /// Long texts cut to some tokens.
    Short,
}

impl Detail {
    const fn most(self, short: u64) -> u64 {
        match self {
            Self::Full => u64::MAX,
            Self::Short => short,
        }
    }
}

/// What holds for the whole session, and so need not stand at each phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usual<'a> {
    agent: Option<&'a Agent>,
    channel: Option<&'a str>,
    after: &'a After,
}

impl<'a> Usual<'a> {
    /// The only participant and the session's channel; and what comes after what.
    pub(super) fn of(meta: &'a Meta, after: &'a After) -> Self {
        let agent = Some(&meta.participants).filter(|all| all.len() == 1).and_then(|all| all.first());
        Self { agent, channel: meta.channel.as_deref(), after }
    }
}

/// What the pack has shown before its phases, so that they only name it.
#[derive(Debug, Default)]
pub(super) struct Above {
    /// The user's words.
    pub(super) words: HashSet<ItemPlace>,
    /// The last checkpoint.
    pub(super) checkpoint: Option<ItemPlace>,
}

/// A piece of a phase.
#[derive(Clone, Debug)]
struct PhasePiece {
    text: String,
    tokens: u64,
    /// A line of a list, which needs no blank line to the next.
    tight: bool,
    /// The user's.
    words: bool,
}

impl PhasePiece {
    fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { tokens: token::count(&text), text, tight: false, words: false }
    }
}

/// A phase on its way into a pack.
#[derive(Debug)]
pub(super) struct Drawn {
    head: PhasePiece,
    blocks: Vec<PhasePiece>,
    /// Leading blocks that are what the user wanted of the phase.
    asked: usize,
}

/// Draws the phase at `index`.
pub(super) fn draw(phase: &Phase, index: usize, usual: Usual<'_>, above: &Above, detail: Detail) -> Drawn {
    let heading = format!("### {}", name(phase));
    let facts = facts(phase, index, usual);
    let head = PhasePiece::new(if facts.is_empty() { heading } else { format!("{heading}\n\n{facts}") });
    let mut blocks = Vec::new();
    let mut asked = 0;
    for (at, item) in phase.items.iter().enumerate() {
        let place = (Some(index), at);
        if matches!(item, Item::User(_)) && asked == blocks.len() {
            asked += 1;
        }
        blocks.extend(block(item, place, phase.agent.is_some(), usual.after, above, detail));
    }
    Drawn { head, asked: asked.min(blocks.len()), blocks }
}

impl Drawn {
    /// What all of it costs.
    pub(super) fn tokens(&self) -> u64 {
        self.head.tokens + self.blocks.iter().map(|block| block.tokens).sum::<u64>()
    }

    /// All of it.
    pub(super) fn text(&self) -> String {
        join(std::iter::once(&self.head).chain(&self.blocks))
    }

    /// Its beginning (what was asked) and its end, with what the user said between, within `room` tokens; `None` where
    /// that is too little to say anything.
    pub(super) fn trimmed(&self, room: u64) -> Option<String> {
        // What a line costs that says how much was left out.
        const GAP: u64 = 20;
        let count = self.blocks.len();
        let mut left = room.checked_sub(self.head.tokens + GAP)?;
        let mut kept = vec![false; count];
        for (index, block) in self.blocks[..self.asked].iter().enumerate() {
            if block.tokens > left / 2 {
                break;
            }
            left -= block.tokens;
            kept[index] = true;
        }
        let mut words = left / 4;
        for index in (self.asked..count).rev().filter(|&index| self.blocks[index].words) {
            let cost = self.blocks[index].tokens + GAP;
            if cost > words {
                break;
            }
            words -= cost;
            left -= cost;
            kept[index] = true;
        }
        for index in (0..count).rev() {
            if !kept[index] {
                if self.blocks[index].tokens > left {
                    break;
                }
                left -= self.blocks[index].tokens;
                kept[index] = true;
            }
        }
        if !kept.last().copied().unwrap_or(false) {
            return None;
        }
        let mut shown = vec![self.head.clone()];
        let mut index = 0;
        while index < count {
            let gap = kept[index..].iter().take_while(|kept| !**kept).count();
            if gap > 0 {
                shown.push(left_out(&self.blocks[index..index + gap]));
            }
            index += gap;
            shown.extend(self.blocks.get(index).cloned());
            index += 1;
        }
        Some(join(shown.iter()))
    }
}

/// A line that says what does not stand here.
fn left_out(blocks: &[PhasePiece]) -> PhasePiece {
    let steps = blocks.iter().filter(|block| block.tight).count() as u64;
    let others = blocks.len() as u64 - steps;
    let words = [(steps, "step"), (others, "remark")];
    let words: Vec<_> = words.iter().filter(|(n, _)| *n > 0).map(|(n, noun)| plural(*n, noun)).collect();
    PhasePiece::new(format!("… {} left out here …", words.join(" and ")))
}

fn join<'a>(blocks: impl Iterator<Item = &'a PhasePiece>) -> String {
    let mut out = String::new();
    let mut tight = false;
    for block in blocks {
        if !out.is_empty() {
            out.push_str(if tight && block.tight { "\n" } else { "\n\n" });
        }
        out.push_str(block.text.trim_end());
        tight = block.tight;
    }
    out
}

/// One line: what the phase was, who did it, how much, when.
pub(super) fn line(phase: &Phase, index: usize, usual: Usual<'_>) -> String {
    let facts = facts(phase, index, usual);
    format!("- {}{}{facts}", name(phase), if facts.is_empty() { "" } else { ": " })
}

/// Id and title.
pub(super) fn name(phase: &Phase) -> String {
    let title = text::short(&phase.title, 80);
    format!("{} {}", text::short(&phase.id, 20), if title.is_empty() { "Untitled" } else { &title })
}

/// Agent, time, steps.
fn facts(phase: &Phase, index: usize, usual: Usual<'_>) -> String {
    let mut facts = Vec::new();
    let agent = phase.agent.as_ref().filter(|agent| usual.agent != Some(*agent));
    let agent = agent.map(|agent| format!("@{}", text::short(&agent.to_string(), 40)));
    let channel = phase.channel.as_deref().filter(|channel| usual.channel != Some(*channel));
    let channel = channel.map(|channel| format!("#{}", text::short(channel, 40)));
    let who: Vec<String> = [agent, channel].into_iter().flatten().collect();
    if !who.is_empty() {
        facts.push(who.join(" "));
    }
    let steps: Vec<&Step> = steps(phase).collect();
    if let Some(started) = phase.started {
        let mut when = minute(started);
        if let Some(end) = steps.iter().filter_map(|step| step.time).max() {
            when.push_str(&lasted(started, end));
        }
        facts.push(when);
    }
    if !steps.is_empty() {
        facts.push(plural(steps.len() as u64, "step"));
        let failed = steps.iter().filter(|step| step.status == StepStatus::Failed).count();
        if failed > 0 {
            facts.push(format!("{failed} failed"));
        }
    }
    if let Some(from) = phase.from.as_ref().and_then(|link| link.block.as_deref()) {
        facts.push(format!("goes on from {}", text::short(from, 20)));
    }
    facts.extend(usual.after.phase(index).map(str::to_owned));
    facts.join(", ")
}

/// The steps of a phase itself.
pub(super) fn steps(phase: &Phase) -> impl Iterator<Item = &Step> {
    phase.items.iter().filter_map(Item::as_step)
}

/// `2026-11-20 09:31`.
pub(super) fn minute(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M").to_string()
}

fn lasted(from: Timestamp, to: Timestamp) -> String {
    match to.as_second().saturating_sub(from.as_second()) / 60 {
        minutes if minutes <= 0 => String::new(),
        minutes if minutes < 60 => format!(" ({minutes} min)"),
        minutes => format!(" ({} h {} min)", minutes / 60, minutes % 60),
    }
}

fn block(
    item: &Item,
    place: ItemPlace,
    of_agent: bool,
    after: &After,
    above: &Above,
    detail: Detail,
) -> Option<PhasePiece> {
    match item {
        Item::Step(it) => Some(PhasePiece { tight: true, ..PhasePiece::new(step(it, after.step(place), detail)) }),
        Item::User(it) => {
            Some(PhasePiece { words: true, ..PhasePiece::new(user(it, above.words.contains(&place), detail)) })
        }
        Item::Decision(it) => Some(PhasePiece::new(format!("Decided: **{}** (above)", decision::title(it)))),
        Item::Error(it) => {
            let mut body = it.text.trim().to_owned();
            if let Some(resolution) = &it.resolution {
                body.push_str(&format!("\nResolution: {}", resolution.trim()));
            }
            let step: Vec<_> = it.steps.iter().filter_map(|link| link.block.as_deref()).collect();
            let step = if step.is_empty() { String::new() } else { format!(" ({})", text::inline(&step.join(", "))) };
            let title = format!("Error: **{}**{step}", or(text::inline(&it.callout.title), "untitled"));
            Some(PhasePiece::new(remark(&title, &body, detail)))
        }
        Item::Subagent(it) => Some(PhasePiece::new(subagent(it, detail))),
        Item::Tasks(_) => None,
        Item::Callout(it) if LEFT_OUT.contains(&it.kind.as_str()) => None,
        Item::Callout(_) if above.checkpoint == Some(place) => Some(PhasePiece::new("Checkpoint (above)")),
        Item::Callout(it) => Some(PhasePiece::new(remark(&label(it), &it.body, detail))),
        Item::Prose(it) => {
            let (said, _) = text::cut(&text::clean(&it.text), detail.most(120));
            let quote = text::quote(&said, "");
            let who = if of_agent { "The agent" } else { "Text" };
            (!quote.is_empty()).then(|| PhasePiece::new(format!("{who}:\n{quote}")))
        }
    }
}

/// The gates among items that stand in no phase.
pub(super) fn gates(items: &[Item]) -> Vec<Entry> {
    let gates = items.iter().filter_map(|item| item.as_callout("gate"));
    gates.map(|it| Entry::new(text::inline(&it.title), remark(&label(it), &it.body, Detail::Short))).collect()
}

/// `Lesson: **title**`.
pub(super) fn label(callout: &Callout) -> String {
    let mut kind = text::short(&callout.kind, 30);
    if let Some(first) = kind.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let title = text::inline(&callout.title);
    if title.is_empty() { format!("{kind}:") } else { format!("{kind}: **{title}**") }
}

/// A line of ours, and words below it.
pub(super) fn remark(title: &str, body: &str, detail: Detail) -> String {
    let (body, _) = text::cut(&text::clean(body), detail.most(100));
    let quote = text::quote(&body, "");
    if quote.is_empty() { title.trim_end_matches(':').to_owned() } else { format!("{title}\n{quote}") }
}

fn user(it: &User, shown: bool, detail: Detail) -> String {
    let title = if it.correction { "The user, correcting" } else { "The user" };
    let done = it.interpretation.as_deref().map(|words| text::short(words, 160)).filter(|words| !words.is_empty());
    let done = done.map_or_else(String::new, |words| format!(" (then: {words})"));
    let words = text::clean(&it.words);
    if shown && token::count(&words) > 25 {
        return format!("{title}{done}: {} (in full above)", text::short(&words, 70));
    }
    let (words, _) = text::cut(&words, detail.most(200));
    format!("{title}{done}:\n{}", text::quote(&words, ""))
}

fn subagent(it: &Subagent, detail: Detail) -> String {
    let agent = it
        .agent
        .as_ref()
        .map_or_else(|| "Sub-agent".to_owned(), |agent| format!("Sub-agent @{}", text::short(&agent.to_string(), 40)));
    let link = it.link.as_ref().map(|link| format!(", note {}", text::code(&link.target, 100))).unwrap_or_default();
    let inner = it.items.iter().filter(|item| matches!(item, Item::Step(_))).count() as u64;
    let inner = if inner == 0 { String::new() } else { format!(", {}", plural(inner, "step")) };
    let mut body = String::new();
    // In the plain form its last words are what it came to.
    let last = it.items.iter().rev().find_map(|item| match item {
        Item::Prose(prose) if !prose.text.trim().is_empty() => Some(&prose.text),
        _ => None,
    });
    for (name, value) in [("Task", it.task.as_ref()), ("Result", it.summary.as_ref().or(last))] {
        if let Some(value) = value {
            let (value, _) = text::cut(&text::clean(value), detail.most(80));
            body.push_str(&format!("{name}: {}\n", value.trim()));
        }
    }
    remark(&format!("{agent}{link}{inner}:"), &body, Detail::Full)
}

/// `` - ✗ `Bash make` → error (exit 2, n-002, after n-001) ``, the whole of a long command below it.
fn step(step: &Step, after: Option<&str>, detail: Detail) -> String {
    let mark = match step.status {
        StepStatus::Complete => "",
        StepStatus::Failed | StepStatus::Denied | StepStatus::Interrupted | StepStatus::NoResult => "✗ ",
        StepStatus::Pending => "(pending) ",
        StepStatus::Running => "(running) ",
    };
    let whole = step.command.as_deref().filter(|_| detail == Detail::Full);
    let args = if whole.is_some() { "" } else { &step.args };
    let mut line = format!("- {mark}{}", text::code(format!("{} {args}", step.tool).trim(), COMMAND));
    if let Some(result) = step.result.as_deref().map(|result| text::short(result, RESULT)).filter(|it| !it.is_empty()) {
        line.push_str(&format!(" → {result}"));
    }
    let exit = step.exit.filter(|code| *code != 0).map(|code| format!("exit {code}"));
    let id = step.id.as_deref().map(|id| text::short(id, 20));
    let facts: Vec<String> = [exit, id, after.map(str::to_owned)].into_iter().flatten().collect();
    if !facts.is_empty() {
        line.push_str(&format!(" ({})", facts.join(", ")));
    }
    let written = step.writes.iter().map(|file| file.path.as_str()).filter(|path| !step.args.contains(path));
    let written: Vec<String> = written.map(|path| text::code(path, 100)).collect();
    if !written.is_empty() {
        line.push_str(&format!(", wrote {}", written.join(", ")));
    }
    if let Some(command) = whole {
        let (command, _) = text::cut(&text::clean(command), 150);
        line.push_str(&format!("\n{}", text::fence(&command, "  ").trim_end()));
    }
    line
}

pub(super) fn or(text: String, other: &str) -> String {
    if text.is_empty() { other.to_owned() } else { text }
}
