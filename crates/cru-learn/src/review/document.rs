//! A case as a note that a person reads: context, failure, expected behaviour, each step with a link to the session.
//!
//! The layout is the template's (`templates/case.md`, which a vault may replace); this file prepares the values. Text
//! of agents and persons stands in quotes, so that nothing it holds can end a section or open another.

use cru_template::Template;
use serde::Serialize;

use crate::case::action;
use crate::case::entry::{Entry, Told};
use crate::case::{Case, Kind, Origin, Story, Turn};
use crate::context::budget::{self, cut_middle};
use cru_action::ToolKind;
use cru_base::{Result, text};
use cru_session::ReviewStatus;
use cru_session::escape::inert;

/// The layout used where a vault has none of its own.
pub const TEMPLATE: &str = include_str!("../../../../templates/case.md");

/// Entries of a turn that are shown: the first ones, and those that led to the failure.
const FIRST: usize = budget::FIRST;
const LAST: usize = 12;

/// Characters of what was asked: who judges an answer reads all of it, but for what somebody has pasted.
const ASKED: usize = budget::PART;

/// How much of one thing is shown.
#[derive(Clone, Copy)]
struct Room {
    /// Characters of a quoted text.
    quote: usize,
    /// Lines of a difference, or of an output.
    lines: usize,
}

impl Room {
    /// In a context.
    const CONTEXT: Self = Self { quote: 1_500, lines: 40 };
    /// In the turn before the last words.
    const SPOKEN: Self = Self { quote: budget::PART, lines: 40 };
    /// In what a case is about.
    const WHOLE: Self = Self { quote: usize::MAX, lines: 240 };
}

/// What a template is given.
#[derive(Debug, Serialize)]
struct Values<'a> {
    id: &'a str,
    kind: Kind,
    /// The kind, as a sentence begins with it.
    name: &'static str,
    title: String,
    /// Whether the case is a file of its own, with frontmatter.
    standalone: bool,
    #[serde(flatten)]
    origin: &'a Origin,
    /// Wikilink to the very block, the session's title as its text.
    link: String,
    /// The same for the frontmatter.
    link_to: String,
    path: &'a str,
    line: usize,
    phase: String,
    evidence: &'static str,
    reading: &'a str,
    answer_from: &'static str,
    verified: bool,
    content_hash: &'a str,
    context: Vec<TurnValues>,
    failure: String,
    /// What was said and done between it and the correction.
    until: String,
    /// What was said and done between that and the answer, where somebody found them apart.
    between: String,
    correction: String,
    rule: &'static str,
    /// What is right in the words of a reader.
    told: String,
    /// That nobody has decided about it yet.
    status: &'static str,
    /// Empty where the record has none.
    expected: String,
}

#[derive(Debug, Serialize)]
struct TurnValues {
    /// Quoted words, or a heading as it is.
    asked: String,
    heading: bool,
    done: String,
}

/// Renders cases by one template.
#[derive(Debug)]
pub struct Layout<'t> {
    template: Template<'t>,
}

impl<'t> Layout<'t> {
    /// Reads a template; `name` is what errors call it.
    pub fn new(name: &'t str, template: &'t str) -> Result<Self> {
        Ok(Self { template: Template::read(name, template)?.with_yaml(yaml) })
    }

    /// A case as markdown, ending with a newline; `standalone` for a file of its own.
    pub fn render(&self, case: &Case, standalone: bool) -> Result<String> {
        // Only what the case says: a template of the vault is its person's, with what it runs.
        let mut values = serde_json::to_value(values(case, standalone)).unwrap_or_default();
        each_text(&mut values, &|text| *text = inert(text, &[]));
        let text = self.template.render(values)?;
        Ok(format!("{}\n", text.trim_end()))
    }
}

fn each_text(value: &mut serde_json::Value, change: &impl Fn(&mut String)) {
    match value {
        serde_json::Value::String(text) => change(text),
        serde_json::Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, change)),
        serde_json::Value::Object(map) => map.values_mut().for_each(|item| each_text(item, change)),
        _ => {}
    }
}

/// The file name of a case's note: kind, title and the first half of the number that ends its id.
pub fn file_name(kind: Kind, id: &str, title: &str) -> String {
    let number = id.rsplit('-').next().unwrap_or_default();
    let short = &number[..number.len().min(8)];
    let slug = text::slug(title, 7);
    let kind = kind.as_str();
    if slug.is_empty() { format!("{kind}-{short}.md") } else { format!("{kind}-{slug}-{short}.md") }
}

fn values(case: &Case, standalone: bool) -> Values<'_> {
    let origin = &case.origin;
    // The last words ask about what the agent said before them.
    let spoken = case.context.iter().rposition(|turn| !turn.done.is_empty());
    let turns = case.context.iter().enumerate().map(|(at, turn)| TurnValues {
        asked: if turn.heading { line(&turn.asked) } else { quote(&cut_middle(&turn.asked, ASKED)) },
        heading: turn.heading,
        done: entries(
            &elided(turn, &origin.note),
            origin,
            if Some(at) == spoken { Room::SPOKEN } else { Room::CONTEXT },
        ),
    });
    let mut rule = "";
    let (failure, correction) = match &case.story {
        Story::Puzzle(it) => {
            let step = it.step.as_ref().map(|step| entries(&[ShownCase::Entry(step)], origin, Room::WHOLE));
            let callout = match (it.title.is_empty(), it.text.is_empty()) {
                (true, true) => String::new(),
                (false, true) => format!("> [!error] {}", line(&it.title)),
                (_, false) => format!("> [!error] {}\n{}", line(&it.title), quote(&it.text)),
            };
            (crate::case::entry::paragraphs([step.unwrap_or_default().as_str(), &callout]), String::new())
        }
        Story::Correction(it) | Story::Preference(it) => {
            rule = it.rule;
            (entries(&with_plans(&it.behaviour), origin, Room::WHOLE), quote(&it.words))
        }
        Story::Demonstration(_) | Story::Trajectory => (String::new(), String::new()),
    };
    // The correction has a part of its own.
    let words = case.correction().map(|it| it.words.as_str()).unwrap_or_default();
    let shown = |turns: &[Turn]| {
        let turns = turns.iter().map(|turn| {
            let asked = if turn.asked.is_empty() || turn.asked == words {
                String::new()
            } else {
                format!("> [!user]\n{}", quote(&turn.asked))
            };
            crate::case::entry::paragraphs([
                asked.as_str(),
                &entries(&elided(turn, &origin.note), origin, Room::CONTEXT),
            ])
        });
        let turns: Vec<String> = turns.collect();
        crate::case::entry::paragraphs(turns.iter().map(String::as_str))
    };
    // What stands before the correcting words was done before them.
    let corrected = case.between.iter().position(|turn| !words.is_empty() && turn.asked == words).unwrap_or_default();
    let (until, between) = case.between.split_at(corrected);
    let (until, between) = (shown(until), shown(between));
    let expected = match &case.story {
        Story::Puzzle(it) => {
            let words = it.resolution.as_deref().map(quote).unwrap_or_default();
            crate::case::entry::paragraphs([words.as_str(), &entries(&all(&it.fix), origin, Room::WHOLE)])
        }
        Story::Correction(it) | Story::Preference(it) => {
            let words = it.interpretation.as_deref().map(quote).unwrap_or_default();
            let mut shown = with_plans(&it.response);
            if it.more > 0 {
                shown.push(ShownCase::Line(format!("- … {} more in [[{}]]", it.more, origin.note)));
            }
            crate::case::entry::paragraphs([words.as_str(), &entries(&shown, origin, Room::WHOLE)])
        }
        Story::Demonstration(it) => entries(&all(&it.done), origin, Room::WHOLE),
        Story::Trajectory => String::new(),
    };
    Values {
        id: &case.id,
        kind: case.kind(),
        name: match case.kind() {
            Kind::Puzzle => "Puzzle",
            Kind::Correction => "Correction",
            Kind::Demonstration => "Demonstration",
            Kind::Preference => "Preference",
            Kind::Trajectory => "Session",
        },
        title: line(&case.title),
        standalone,
        origin,
        link_to: if origin.source.block_id.is_empty() {
            format!("[[{}]]", origin.note)
        } else {
            format!("[[{}#^{}]]", origin.note, origin.source.block_id)
        },
        link: link(&origin.note, &origin.source.block_id, &origin.session_title),
        path: &origin.source.path,
        line: origin.source.line_start,
        phase: line(&origin.phase),
        evidence: case.evidence.as_str(),
        reading: &case.reading,
        answer_from: case.answer_from(),
        verified: case.verified(),
        content_hash: &case.content_hash,
        context: turns.collect(),
        failure,
        until,
        between,
        correction,
        rule,
        told: if case.expected.is_empty() { String::new() } else { quote(&case.expected) },
        status: ReviewStatus::Proposed.as_str(),
        expected,
    }
}

/// An entry, or a line in the place of some.
enum ShownCase<'a> {
    Entry(&'a Entry),
    Line(String),
    Text(String),
}

fn all(entries: &[Entry]) -> Vec<ShownCase<'_>> {
    entries.iter().map(ShownCase::Entry).collect()
}

/// Entries, and below a call that showed a plan the plan itself, which only the transcript has.
fn with_plans(entries: &[Entry]) -> Vec<ShownCase<'_>> {
    let mut shown = Vec::new();
    for entry in entries {
        shown.push(ShownCase::Entry(entry));
        let plan = entry.whole().and_then(|call| call.arguments.get("plan")).and_then(|plan| plan.as_str());
        shown.extend(plan.filter(|plan| !plan.trim().is_empty()).map(|plan| ShownCase::Text(quote(plan))));
    }
    shown
}

/// The entries of a turn, the middle of a long one left out.
fn elided<'a>(turn: &'a Turn, note: &str) -> Vec<ShownCase<'a>> {
    let entries = &turn.done;
    if turn.skipped_done == 0 && entries.len() <= FIRST + LAST + 1 {
        return all(entries);
    }
    let first = FIRST.min(entries.len());
    let last = entries.len().saturating_sub(LAST).max(first);
    let left_out = last - first + turn.skipped_done;
    let mut shown = all(&entries[..first]);
    shown.push(ShownCase::Line(format!("- … {left_out} more in [[{note}]]")));
    shown.extend(all(&entries[last..]));
    shown
}

/// Entries as markdown: steps as a list with links, everything else quoted.
fn entries(shown: &[ShownCase<'_>], origin: &Origin, room: Room) -> String {
    let mut out = String::new();
    let mut in_list = false;
    for entry in shown {
        let (is_item, text) = match entry {
            ShownCase::Line(line) => (true, line.clone()),
            ShownCase::Text(text) => (false, text.clone()),
            ShownCase::Entry(entry) => (entry.is_step(), written(entry, origin, room)),
        };
        if !out.is_empty() {
            out.push_str(if in_list && is_item { "\n" } else { "\n\n" });
        }
        in_list = is_item;
        out.push_str(&text);
    }
    out
}

fn written(entry: &Entry, origin: &Origin, room: Room) -> String {
    let link = entry.block.as_ref().map(|block| format!(" [[{}#^{block}]]", origin.note)).unwrap_or_default();
    match &entry.told {
        Told::Step { call, result, .. } => {
            let (line, fence) = call.split_once('\n').unwrap_or((call, ""));
            let result = if result.is_empty() { String::new() } else { format!(" → {}", escaped(result)) };
            let blocks = [
                fence.to_owned(),
                arguments(entry, line),
                changed_lines(entry, room.lines),
                output_lines(entry, room.lines),
            ];
            let blocks = blocks.iter().filter(|block| !block.is_empty());
            let blocks: String = blocks.map(|block| format!("\n{block}").replace('\n', "\n  ")).collect();
            format!("- {line}{result}{link}{blocks}")
        }
        Told::Prose(text) => quote(&cut_middle(text, room.quote)),
        // What the note says of the work is none of the agent's words.
        Told::Remark(text) => format!("> [!note] In the note\n{}", quote(&cut_middle(text, room.quote))),
    }
}

/// The arguments of a call that its line does not show, of tools that neither read nor change something: there they are what matters.
/// Of a command its switches.
fn arguments(entry: &Entry, line: &str) -> String {
    let Some(call) = entry.whole() else { return String::new() };
    let kind = call.kind();
    if !matches!(kind, ToolKind::Shell | ToolKind::Subagent | ToolKind::Skill | ToolKind::Mcp | ToolKind::Other) {
        return String::new();
    }
    let is_switch = |value: &serde_json::Value| value.is_boolean();
    let arguments = call.arguments.iter().filter(|(_, value)| kind != ToolKind::Shell || is_switch(value));
    let told = arguments.map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (name, text::fold_whitespace(&value))
    });
    let hidden = told.filter(|(_, value)| !value.is_empty() && !line.contains(value.as_str()));
    let lines: Vec<String> = hidden.map(|(name, value)| format!("{name}: {value}")).collect();
    fenced("text", &lines, Room::CONTEXT.lines)
}

/// What a call changes, as a difference in a fence; empty where the call is not known as it was made.
fn changed_lines(entry: &Entry, max: usize) -> String {
    let mut lines = Vec::new();
    for change in entry.changes() {
        let diff = action::diff(&change);
        let inside = diff.trim_start_matches("```diff\n").trim_end_matches("```");
        lines.extend(inside.lines().map(str::to_owned));
    }
    fenced("diff", &lines, max)
}

/// What a call answered, where its line shows less: of one that failed the lines that say so, with those around them; of others
/// the beginning and the end, where `max` allows some. Empty where all of it is shown, or it only repeats a file.
fn output_lines(entry: &Entry, max: usize) -> String {
    let Some(call) = entry.whole() else { return String::new() };
    let Some(output) = call.output.as_deref() else { return String::new() };
    let shown = match &entry.told {
        Told::Step { result, .. } => result.as_str(),
        _ => "",
    };
    let mut lines: Vec<(usize, &str)> = Vec::new();
    let mut start = 0;
    for line in output.split_inclusive('\n') {
        if !line.trim().is_empty() {
            lines.push((start, line.trim_end()));
        }
        start += line.len();
    }
    let is_told = if entry.is_failed() {
        if lines.len() > SHORT {
            let failing = entry.failing();
            let last = lines.len().saturating_sub(ENDING);
            let at: Vec<usize> = failing
                .iter()
                .filter_map(|range| {
                    lines.iter().position(|(start, line)| (*start..=start + line.len()).contains(&range.start))
                })
                .collect();
            let is_near = |index: usize| at.iter().any(|at| index.abs_diff(*at) <= AROUND);
            let mut index = 0;
            lines.retain(|_| {
                index += 1;
                if at.is_empty() { index > last } else { is_near(index - 1) }
            });
        }
        true
    } else {
        call.kind() == ToolKind::Shell && max > SHORT
    };
    let told: Vec<String> = lines.into_iter().map(|(_, line)| line.to_owned()).collect();
    let is_shown = |line: &String| shown.contains(line.trim());
    if !is_told || told.iter().all(is_shown) { String::new() } else { fenced("text", &told, SHORT) }
}

/// Lines of an output that is shown whole, and the most that are shown.
const SHORT: usize = 40;

/// Lines around one that says what failed.
const AROUND: usize = 3;

/// Lines at the end of an output that are shown where none is known to say what failed.
const ENDING: usize = 12;

/// Lines in a fence that none of them closes, the middle of many left out.
fn fenced(language: &str, lines: &[String], max: usize) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let longest = lines.iter().map(|line| line.chars().take_while(|c| *c == '`').count()).max().unwrap_or_default();
    let inner =
        lines.iter().map(|line| line.trim_start_matches([' ', '+', '-']).chars().take_while(|c| *c == '`').count());
    let fence = "`".repeat(longest.max(inner.max().unwrap_or_default()).max(2) + 1);
    let left_out = lines.len().saturating_sub(max);
    let (head, tail) = if left_out > 0 { (max * 2 / 3, max / 3) } else { (lines.len(), 0) };
    let more = (lines.len() - head - tail > 0).then(|| format!("… {} lines", lines.len() - head - tail));
    let kept = lines[..head].iter().chain(&more).chain(&lines[lines.len() - tail..]);
    let text: Vec<_> = kept.map(|line| text::truncate(line, WIDTH)).collect();
    format!("{fence}{language}\n{}\n{fence}", text.join("\n"))
}

/// Characters of such a line.
const WIDTH: usize = 240;

/// A wikilink to a block of a note, or to the note.
fn link(note: &str, block: &str, shown: &str) -> String {
    // The text of a link holds no brackets: what stands for a secret would look like one without them.
    let mut shown = shown.to_owned();
    while let Some(start) = shown.find("[secret:") {
        let end = shown[start..].find(']').map_or(shown.len(), |end| start + end + 1);
        shown.replace_range(start..end, "$SECRET");
    }
    let shown = shown.replace(['[', ']', '|', '\n'], " ");
    let block = if block.is_empty() { String::new() } else { format!("#^{block}") };
    format!("[[{note}{block}|{}]]", text::fold_whitespace(&shown))
}

/// Every line as a quote; comment marks are escaped, in code they are none.
fn quote(words: &str) -> String {
    let mut out = String::new();
    let mut fenced = false;
    for (index, line) in words.trim().lines().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        out.push('>');
        let mark = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        fenced ^= mark;
        if !line.is_empty() {
            out.push(' ');
            out.push_str(&if fenced || mark { line.to_owned() } else { uncommented(line) });
        }
    }
    out
}

/// One line in which nothing opens a comment.
fn line(words: &str) -> String {
    uncommented(&text::fold_whitespace(words))
}

fn uncommented(words: &str) -> String {
    words.replace("%%", "\\%\\%")
}

/// A result line: what would open a link, a tag, an element, a formula or an emphasis is escaped.
fn escaped(result: &str) -> String {
    let mut out = String::with_capacity(result.len());
    let mut before = ' ';
    let mut chars = result.chars().peekable();
    while let Some(c) = chars.next() {
        let opens = match c {
            // Inside a word an underscore is one.
            '_' => !(before.is_alphanumeric() && chars.peek().is_some_and(|next| next.is_alphanumeric())),
            '#' | '^' => before.is_whitespace(),
            _ => matches!(c, '*' | '`' | '[' | ']' | '<' | '%' | '\\' | '$'),
        };
        if opens {
            out.push('\\');
        }
        out.push(c);
        before = c;
    }
    out
}

/// A YAML scalar: plain where that is safe, else in double quotes.
fn yaml(value: &str) -> String {
    let plain = !value.is_empty()
        && value.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | '/'))
        && value.chars().next().is_some_and(char::is_alphabetic)
        && !["true", "false", "yes", "no", "on", "off", "null", "y", "n"].contains(&value.to_lowercase().as_str());
    if plain { value.to_owned() } else { serde_json::Value::from(value).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_scalars() {
        for plain in ["planner@1.2", "claude-opus-4-5", "dev"] {
            assert_eq!(yaml(plain), plain);
        }
        for (value, quoted) in [("no", "\"no\""), ("12", "\"12\""), ("a: b", "\"a: b\""), ("", "\"\"")] {
            assert_eq!(yaml(value), quoted);
        }
    }

    #[test]
    fn quotes_hold_whatever_they_quote() {
        assert_eq!(quote("a\n\n# b\n%%private%%"), "> a\n>\n> # b\n> \\%\\%private\\%\\%");
    }

    #[test]
    fn a_wrong_template_says_where() {
        let error = Layout::new("templates/case.md", "# {{ title }}\n{% if %}\n").unwrap_err();
        assert!(
            error.to_string().starts_with("could not use the template templates/case.md:2: syntax error"),
            "{error}"
        );
        assert!(error.hint().is_some());
    }
}
