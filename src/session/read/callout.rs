//! Callouts: typed where a kind has a meaning, kept whole where it has none.

use jiff::civil::Date;

use crate::base::{Diagnostic, Span};
use crate::note::{Block, BlockKind, Note};
use crate::session::callout::{fields, goes_on, split_field};
use crate::session::model::{Agent, Callout, Decision, Error, Item, Link, Subagent, SubagentMode, User};
use crate::session::{escape, time};

use super::{link, section, text};

/// The item that a callout block is.
pub(super) fn read(note: &Note, block: &Block, day: Option<Date>, diagnostics: &mut Vec<Diagnostic>) -> Item {
    let BlockKind::Callout { kind, fold, title, .. } = &block.kind else { return Item::Callout(Callout::default()) };
    let kind = kind.of(note.text()).to_lowercase();
    let raw = text::of(note, &note.unquoted(block));
    let names = fields(&kind);
    let body = escape::unprose(&raw);
    let (plain, found) = if kind == "user" { (String::new(), Vec::new()) } else { split(&body, names) };
    let at = found
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("at"))
        .and_then(|(_, value)| time::parse_clock(value, day));
    let callout = Callout {
        id: note.id(block).map(str::to_owned),
        title: escape::uninline(title.of(note.text())),
        folded: fold.map(|mark| mark == '-'),
        body,
        fields: found,
        at,
        span: block.content,
        kind,
    };
    let own = |name: &str| callout.field(name).map(str::to_owned);
    match callout.kind.as_str() {
        "decision" => Item::Decision(Decision {
            text: plain,
            why: own("Why"),
            rejected: own("Rejected"),
            impact: own("Impact"),
            rests_on: links_of(note, block, &["rests on"], names),
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
                text: plain,
                resolution: (!resolutions.is_empty()).then(|| resolutions.join("\n")),
                resolved_by: links_of(note, block, &["resolution"], names),
                steps: links_of(note, block, &["step", ""], names),
                callout,
            })
        }
        "user" => {
            let escape::Words { words, interpretation, .. } = escape::split_quoted(&raw);
            let correction = callout.title.trim().to_lowercase().starts_with("correction");
            Item::User(User { callout, words, interpretation, correction })
        }
        "subagent" => Item::Subagent(subagent(note, block, callout, diagnostics)),
        _ => Item::Callout(callout),
    }
}

/// Body without field lines, and the fields. A value goes on until the next field or a blank line.
fn split(body: &str, names: Option<&[&str]>) -> (String, Vec<(String, String)>) {
    let mut plain: Vec<&str> = Vec::new();
    let mut found: Vec<(String, String)> = Vec::new();
    let mut open = false;
    for line in body.lines() {
        if let Some((name, value)) = split_field(line, names) {
            found.push((name.to_owned(), value.to_owned()));
            open = goes_on(name);
        } else if open && !line.trim().is_empty() {
            if let Some((_, value)) = found.last_mut() {
                value.push('\n');
                value.push_str(line);
            }
        } else {
            open = false;
            plain.push(line);
        }
    }
    (plain.join("\n").trim().to_owned(), found)
}

/// The links of a callout that stand in one of the fields `wanted`; `""` means: in no field.
fn links_of(note: &Note, block: &Block, wanted: &[&str], names: Option<&[&str]>) -> Vec<Link> {
    let mut links = Vec::new();
    let mut field = String::new();
    for (at, line) in note.unquoted(block).lines() {
        if line.trim().is_empty() {
            field.clear();
        }
        if let Some((name, _)) = split_field(line, names) {
            field = name.to_lowercase();
        }
        if wanted.contains(&field.as_str()) {
            links.extend(link::all(note, Span::new(at, at + line.len())));
        }
    }
    links
}

fn subagent(note: &Note, block: &Block, callout: Callout, diagnostics: &mut Vec<Diagnostic>) -> Subagent {
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
    let items = if mode == SubagentMode::Inline { inline(note, block, diagnostics) } else { Vec::new() };
    let own = |name: &str| callout.field(name).map(str::to_owned);
    let link = link.filter(|_| mode != SubagentMode::Inline);
    Subagent { agent, model, mode, link, task: own("Task"), summary: own("Summary"), items, callout }
}

/// What stands in an inline sub-agent below its fields.
fn inline(note: &Note, block: &Block, diagnostics: &mut Vec<Diagnostic>) -> Vec<Item> {
    let names = fields("subagent");
    let is_fields = |child: &Block| {
        matches!(child.kind, BlockKind::Paragraph)
            && note.unquoted(child).as_str().lines().next().is_some_and(|line| split_field(line, names).is_some())
    };
    let blocks = match block.children.first() {
        Some(first) if is_fields(first) => &block.children[1..],
        _ => &block.children[..],
    };
    section::items(note, &note.unquoted(block), blocks, diagnostics)
}

/// `@agent@version (model)`.
fn title(text: &str) -> (Option<Agent>, Option<String>) {
    let text = text.trim();
    let (name, model) = match text.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
        Some((name, model)) => (name.trim(), Some(model.trim().to_owned())),
        None => (text, None),
    };
    let agent = name.strip_prefix('@').filter(|name| !name.is_empty()).map(Agent::parse);
    (agent, model.filter(|model| !model.is_empty()))
}
