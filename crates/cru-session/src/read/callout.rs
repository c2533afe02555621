//! Callouts: typed where a kind has a meaning, kept whole where it has none.

use jiff::civil::Date;

use crate::callout::fields;
use crate::correction::opens_correction;
use crate::escape::{self, Words};
use crate::field;
use crate::model::{Agent, Callout, Decision, Error, Item, Link, Subagent, SubagentMode, User};
use crate::time;
use cru_base::{Diagnostic, Span};
use cru_note::{Block, BlockKind, Note, Unquoted};

use super::{link, text};

/// The item that a callout block is; that of an inline sub-agent without the items of its work.
pub(super) fn read(note: &Note, block: &Block, day: Option<Date>, diagnostics: &mut Vec<Diagnostic>) -> Item {
    let BlockKind::Callout { kind, fold, title, .. } = &block.kind else { return Item::Callout(Callout::default()) };
    let kind = kind.of(note.text()).to_lowercase();
    let lines = note.unquoted(block);
    let raw = text::of(note, &lines);
    let names = fields(&kind);
    let words = if kind == "user" { escape::split_quoted(&raw) } else { Words::default() };
    let own = if kind == "user" { words.rest.as_str() } else { raw.as_str() };
    let parts = field::split(own, if kind == "user" { Some(&["At"]) } else { names });
    let at = parts
        .fields
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("at"))
        .and_then(|(_, value)| time::parse_clock(value, day));
    let callout = Callout {
        id: note.id(block).map(str::to_owned),
        title: escape::uninline(title.of(note.text())),
        folded: fold.map(|mark| mark == '-'),
        body: field::body(&raw, names),
        fields: parts.fields,
        at,
        span: block.content,
        kind,
    };
    let own = |name: &str| callout.field(name).map(str::to_owned);
    let links = |wanted: &[&str]| links_of(note, &lines, names, wanted);
    let text = parts.text;
    match callout.kind.as_str() {
        "decision" => Item::Decision(Decision {
            text,
            why: own("Why"),
            rejected: own("Rejected"),
            impact: own("Impact"),
            rests_on: links(&["rests on"]),
            callout,
        }),
        "error" => {
            let resolutions: Vec<&str> = callout
                .fields
                .iter()
                .filter(|(name, _)| name.eq_ignore_ascii_case("resolution"))
                .map(|(_, value)| value.as_str())
                .collect();
            Item::Error(Error {
                text,
                resolution: (!resolutions.is_empty()).then(|| resolutions.join("\n")),
                resolved_by: links(&["resolution"]),
                steps: links(&["step", ""]),
                callout,
            })
        }
        "user" => {
            let Words { words, interpretation, .. } = words;
            let title = callout.title.trim().to_lowercase();
            // What was done about words that take back or forbid makes them a correction, whoever wrote the note.
            let is_remark = title.is_empty() && interpretation.is_some() && opens_correction(&words);
            let correction = title.starts_with("correction") || is_remark;
            Item::User(User { callout, words, interpretation, correction })
        }
        "subagent" => Item::Subagent(subagent(note, block, callout, &text, diagnostics)),
        "checkpoint" => {
            diagnostics.extend(unreadable(&callout));
            Item::Callout(callout)
        }
        _ => Item::Callout(callout),
    }
}

/// What keeps a checkpoint from being of use.
fn unreadable(checkpoint: &Callout) -> Option<Diagnostic> {
    let copy = checkpoint.field("Restore").and_then(|it| it.split(['`', ' ']).find(|word| word.starts_with("cp-")));
    let (message, help) = match copy {
        _ if checkpoint.is_empty() => {
            ("the checkpoint says nothing".to_owned(), "`cru session resume` goes on from the one before it".to_owned())
        }
        Some(copy) if checkpoint.id.as_deref() != Some(copy) => {
            (format!("the checkpoint names the copy {copy} and has not its id"), format!("put `^{copy}` below it"))
        }
        _ => return None,
    };
    Some(Diagnostic::warning("checkpoint-unreadable", checkpoint.span, message).help(help))
}

/// The links of a callout that stand in one of the fields `wanted`; `""` means: in no field.
fn links_of(note: &Note, lines: &Unquoted, names: Option<&[&str]>, wanted: &[&str]) -> Vec<Link> {
    let parts = field::split(lines.as_str(), names);
    let mut links = Vec::new();
    for ((at, line), owner) in lines.lines().zip(&parts.owner) {
        let field = owner.and_then(|index| parts.fields.get(index)).map_or("", |(name, _)| name.as_str());
        if wanted.iter().any(|name| name.eq_ignore_ascii_case(field)) {
            links.extend(link::all(note, Span::new(at, at + line.len())));
        }
    }
    links
}

fn subagent(note: &Note, block: &Block, callout: Callout, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Subagent {
    let (agent, model) = title(&callout.title);
    if agent.is_none() {
        let message = "the sub-agent has no name";
        diagnostics.push(
            Diagnostic::warning("subagent-name", block.content, message)
                .help("title it `@name` or `@name@version (model)`"),
        );
    }
    let link = link::all(note, block.content).into_iter().next();
    let named = callout.field("mode").map(str::to_lowercase);
    let mode = match named.as_deref() {
        Some("inline") => SubagentMode::Inline,
        Some("link") => SubagentMode::Link,
        Some("embed") => SubagentMode::Embed,
        _ => match &link {
            Some(link) if link.embed => SubagentMode::Embed,
            Some(_) => SubagentMode::Link,
            None => SubagentMode::Inline,
        },
    };
    if let Some(word) = named.filter(|word| !["inline", "link", "embed"].contains(&word.as_str())) {
        let message = format!("unknown mode `{word}`");
        diagnostics.push(Diagnostic::warning("subagent-mode", block.content, message).help("inline, link or embed"));
    }
    if mode != SubagentMode::Inline && link.is_none() {
        let message = "the sub-agent's session is not linked";
        diagnostics.push(
            Diagnostic::warning("subagent-link", block.content, message)
                .help("add a line `[[session]]` or `![[session]]`"),
        );
    }
    let own = |name: &str| callout.field(name).map(str::to_owned);
    let link = link.filter(|_| mode != SubagentMode::Inline);
    let is_link =
        |line: &str| line.trim().trim_start_matches(['→', ' ', '!']).starts_with("[[") && line.trim().ends_with("]]");
    let text = match mode {
        SubagentMode::Inline => String::new(),
        _ => text.lines().filter(|line| !is_link(line)).collect::<Vec<_>>().join("\n").trim().to_owned(),
    };
    let (task, summary) = (own("Task"), own("Summary"));
    Subagent { agent, model, mode, link, task, summary, text, items: Vec::new(), callout }
}

/// `@agent@version (model)`.
fn title(text: &str) -> (Option<Agent>, Option<String>) {
    let text = text.trim();
    let end = text.find(|c: char| c.is_whitespace() || c == '(').unwrap_or(text.len());
    let (name, rest) = if text.starts_with(['@', '(']) { text.split_at(end) } else { ("", "") };
    let model = rest.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).map(str::trim);
    let agent = name.strip_prefix('@').filter(|name| !name.is_empty()).map(Agent::parse);
    (agent, model.filter(|model| !model.is_empty()).map(str::to_owned))
}
