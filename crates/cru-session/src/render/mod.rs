//! The one place that renders session markdown.
//!
//! What it writes, [`super::read`] reads back to the same model. Text of others is escaped here and nowhere else, so
//! callers hand over what was said as it was said. The parts are public for later appends to a note.

mod callout;
mod frontmatter;
mod label;

use std::fmt::Write as _;

use jiff::civil::Date;

use super::escape;
use super::model::{Agent, Item, Phase, Prose, Session, Step, Task};
use super::task_line::{self, TaskLine};
use super::{step_line, time};
use cru_base::text::{fold_whitespace, sanitise, truncate};
use cru_note::edit::SEPARATOR;
use cru_note::{BlockKind, Note};

pub use callout::callout;
pub use frontmatter::{FIRST_KEYS, KEYS, frontmatter};
pub use label::agent;

/// The line above a run of steps.
pub const STEPS_HEADER: &str = "**Tool calls:**";

/// The fence below a step that holds what it was given.
pub const INPUT: &str = "input";

/// The one that holds what it answered.
pub const OUTPUT: &str = "output";

/// A whole new note, line ends `\n`, one at the end.
pub fn note(session: &Session) -> String {
    format!("{}{}", frontmatter(&session.meta), body(session))
}

/// Everything below the frontmatter.
pub fn body(session: &Session) -> String {
    let mut out = format!("# {}\n", title(session.title()));
    append(&mut out, &items(&session.preface, None));
    for fence in &session.memory {
        append(&mut out, &fenced(&fence.info, &escape::code_text(&fence.body)));
    }
    let mut named = Named::default();
    for it in &session.phases {
        append(&mut out, &phase_after(it, &mut named));
    }
    out
}

/// Agent and channel that the headings so far name.
#[derive(Default)]
struct Named<'s> {
    agent: Option<&'s Agent>,
    channel: Option<&'s str>,
}

/// A phase: heading, the line under it, its items.
pub fn phase(phase: &Phase) -> String {
    phase_after(phase, &mut Named::default())
}

/// The same behind other phases: its heading names agent and channel where they change.
fn phase_after<'s>(phase: &'s Phase, named: &mut Named<'s>) -> String {
    let inherits = phase.level == 2 && phase.id_written;
    let (before_agent, before_channel) = if inherits { (named.agent, named.channel) } else { (None, None) };
    if inherits {
        named.agent = phase.agent.as_ref().or(named.agent);
        named.channel = phase.channel.as_deref().or(named.channel);
    }
    let mut out = format!("{} {}", "#".repeat(usize::from(phase.level.clamp(2, 3))), title(&phase.title));
    if let Some(agent) = phase.agent.as_ref().filter(|agent| before_agent != Some(*agent)) {
        let _ = write!(out, " @{}", label::agent(agent));
    }
    let channel = phase.channel.as_deref().filter(|channel| before_channel != Some(*channel));
    if let Some(channel) = channel.and_then(label::channel) {
        let _ = write!(out, " #{channel}");
    }
    out.push('\n');
    let mut line = phase.started.map(|started| format!("*{}*", time::format(started))).unwrap_or_default();
    if let Some(from) = &phase.from {
        let _ = write!(line, " from: {from}");
    }
    if !phase.after.is_empty() {
        let links: Vec<_> = phase.after.iter().map(ToString::to_string).collect();
        let _ = write!(line, " after: {}", links.join(", "));
    }
    if phase.id_written {
        let _ = write!(line, " ^{}", phase.id);
    }
    if !line.is_empty() {
        append(&mut out, &format!("{}\n", line.trim_start()));
    }
    append(&mut out, &items(&phase.items, phase.started.map(time::date)));
    out
}

/// Items with the blank lines between them; a header line above each run of steps.
pub fn items(items: &[Item], day: Option<Date>) -> String {
    list(items, day, false)
}

/// Items of an inline sub-agent: prose that looks like a field of the callout is escaped, and nothing carries an id.
fn inner(items: &[Item], day: Option<Date>) -> String {
    list(items, day, true)
}

fn list(items: &[Item], day: Option<Date>, inner: bool) -> String {
    let mut out = String::new();
    let mut listed = false;
    for item in items {
        if let Item::Step(it) = item {
            if !listed {
                append(&mut out, STEPS_HEADER);
                out.push('\n');
            }
            out.push_str(&step(it, day));
            listed = true;
            continue;
        }
        let text = match item {
            Item::Step(_) => continue,
            Item::Prose(it) => prose(it, inner),
            // Nothing within a sub-agent's callout carries an id.
            Item::Tasks(it) if inner => task_fence(&it.tasks),
            Item::Tasks(it) => tasks(&it.tasks),
            other => callout(other, day),
        };
        if listed && is_joined_to_list(&text) {
            append(&mut out, SEPARATOR);
            out.push('\n');
        }
        listed &= text.is_empty();
        append(&mut out, &text);
    }
    out
}

/// Whether a text right behind a list would be part of it.
fn is_joined_to_list(text: &str) -> bool {
    let may_be = text.starts_with(|c: char| c.is_ascii_digit() || c.is_whitespace() || matches!(c, '-' | '*' | '+'));
    let list = "- a";
    may_be && {
        let both = Note::parse(format!("\n{list}\n\n{text}"));
        both.blocks()
            .iter()
            .find(|block| !matches!(block.kind, BlockKind::Blank))
            .is_some_and(|first| first.content.len() > list.len())
    }
}

fn prose(prose: &Prose, inner: bool) -> String {
    let text = if inner { escape::inner_prose(&prose.text) } else { escape::prose(&prose.text) };
    match &prose.id {
        _ if text.is_empty() => text,
        None => format!("{text}\n"),
        Some(id) if escape::ends_in_text(&text) => format!("{text} ^{id}\n"),
        Some(id) => format!("{text}\n\n^{id}\n"),
    }
}

/// A step: its line, nested lines, and the command in a fence where it did not fit.
pub fn step(step: &Step, day: Option<Date>) -> String {
    let mut short = step.clone();
    if let Some(result) = &step.result {
        let folded = fold_whitespace(result);
        short.result = Some(truncate(&folded, step_line::LONGEST_RESULT).into_owned());
    }
    short.args = fold_whitespace(&sanitise(&step.args));
    short.tool = sanitise(&step.tool).split_whitespace().collect::<Vec<_>>().join("_");
    let mut out = format!("- {}", step_line::format(&short, day));
    if let Some(id) = &step.id {
        let _ = write!(out, " ^{id}");
    }
    out.push('\n');
    for (info, text) in [("", &step.command), (INPUT, &step.input), (OUTPUT, &step.output)] {
        let Some(text) = text else { continue };
        for line in fenced(info, &escape::code_text(&sanitise(text))).lines() {
            let _ = writeln!(out, "{}{line}", if line.is_empty() { "" } else { "    " });
        }
    }
    for line in step_line::nested_lines(&short) {
        let _ = writeln!(out, "    - {line}");
    }
    out
}

/// A list of checkboxes; a `tasks` fence where a line cannot say all of a task.
pub fn tasks(tasks: &[Task]) -> String {
    let lines: Option<Vec<TaskLine>> = tasks.iter().map(task_line::format).collect();
    match lines.filter(|lines| !lines.is_empty()) {
        Some(lines) => {
            let lines = lines.iter().map(|line| format!("- {}\n", line.line()));
            format!("{}\n{}", task_line::HEADER, lines.collect::<String>())
        }
        None => task_fence(tasks),
    }
}

/// A `tasks` fence, a task a line.
fn task_fence(tasks: &[Task]) -> String {
    let rows: Vec<String> =
        tasks.iter().filter_map(|task| serde_json::to_string(task).ok()).map(|row| escape::json(&row)).collect();
    let body = if rows.is_empty() { "[]".to_owned() } else { format!("[\n  {}\n]", rows.join(",\n  ")) };
    fenced("tasks", &body)
}

/// A fence that is longer than any run of backticks in it.
pub fn fenced(info: &str, body: &str) -> String {
    let mut longest = 2;
    let mut run = 0;
    for byte in body.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    format!("{fence}{info}\n{}\n{fence}\n", body.trim_end_matches('\n'))
}

/// A title on one line.
fn title(text: &str) -> String {
    let text = escape::title(text);
    if text.is_empty() { "Untitled".to_owned() } else { text }
}

/// Appends a block, one blank line before it.
fn append(out: &mut String, block: &str) {
    if block.is_empty() {
        return;
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(block);
}
