//! What a sub-agent did, in the note of the session that started it.

use serde_json::{Value as Json, json};

use super::amend::NoteCallout;
use super::item;
use super::page::Page;
use crate::entry;
use cru_base::text::{sanitise, thousands};
use cru_note::patch::{Edit, Patch};
use cru_note::{BlockKind, Note};
use cru_session::{Item, Link, Prose, Subagent, SubagentMode, render};

impl Page<'_> {
    /// A row of `subagents`, and its link.
    pub(super) fn add_row(&mut self, child: &str, it: &entry::Subagent) {
        let mut rows = list(self.values.get("subagents"));
        if rows.iter().any(|row| is_of(row, child)) {
            return;
        }
        let mut row = serde_json::Map::new();
        row.insert("session".to_owned(), json!(child));
        row.insert("agent".to_owned(), json!(render::agent(&cru_session::Agent::parse(&it.agent))));
        if let Some(model) = &it.model {
            row.insert("model".to_owned(), json!(model));
        }
        rows.push(Json::Object(row));
        let mut links = list(self.values.get("subagent_links"));
        links.push(json!(format!("[[{child}]]")));
        self.set("subagents", Some(Json::Array(rows)));
        self.set("subagent_links", Some(Json::Array(links)));
    }

    /// A sub-agent is done: its callout is completed, or made where it comes at the end.
    pub(super) fn subagent_done(&mut self, it: &entry::SubagentDone) -> Option<String> {
        let child = it.session.clone();
        if let (Some(child), Some(tokens)) = (&child, it.tokens) {
            let mut rows = list(self.values.get("subagents"));
            for row in rows.iter_mut().filter(|row| is_of(row, child)) {
                match row {
                    Json::Object(row) => {
                        row.insert("tokens".to_owned(), json!(tokens));
                    }
                    other => *other = json!({ "session": child, "tokens": tokens }),
                }
            }
            if !rows.is_empty() {
                self.set("subagents", Some(Json::Array(rows)));
            }
        }
        let of_child = |link: &Option<Link>| link.as_ref().map(|link| link.target.as_str()) == child.as_deref();
        let found = self
            .known
            .subagents
            .iter()
            .rposition(|block| matches!(&block.item, Item::Subagent(it) if of_child(&it.link) && child.is_some()));
        if let Some(index) = found {
            self.complete(index, it);
            return child;
        }
        let mode = it.mode.unwrap_or(self.defaults.mode);
        let item = match mode {
            SubagentMode::Inline => inline(it),
            _ => item::subagent(it, mode, child.clone().map(Link::to_note), Vec::new()),
        };
        if child.is_some() {
            let phase = self.place_of(None);
            self.known.subagents.push(NoteCallout::new(phase.as_deref(), &item));
        }
        self.put(item);
        child
    }

    fn complete(&mut self, index: usize, it: &entry::SubagentDone) {
        let old = self.known.subagents[index].clone();
        let Item::Subagent(was) = &old.item else { return };
        let mut more = Subagent { mode: was.mode, link: was.link.clone(), ..Subagent::default() };
        let mut whole = was.clone();
        let summary = it.summary.as_deref().map(|text| sanitise(text).trim().to_owned());
        if let Some(summary) = summary.filter(|text| !text.is_empty() && was.summary.as_ref() != Some(text)) {
            let both = [whole.summary.take(), Some(summary.clone())];
            whole.summary = Some(both.into_iter().flatten().collect::<Vec<_>>().join("\n"));
            more.summary = Some(summary);
        }
        if let Some(tokens) = it.tokens.map(thousands).filter(|_| was.callout.field("Tokens").is_none()) {
            more.callout.fields.push(("Tokens".to_owned(), tokens.clone()));
            whole.callout.fields.push(("Tokens".to_owned(), tokens));
        }
        if more.summary.is_none() && more.callout.fields.is_empty() {
            return;
        }
        // The renderer says title, mode and link again; the lines that are new stand below them.
        let skip = 2 + usize::from(more.link.is_some() && more.mode != SubagentMode::Inline);
        let new = old.with(&Item::Subagent(more), skip, Item::Subagent(whole));
        self.replace(&old, new.text.clone());
        self.known.subagents[index] = new;
    }
}

/// All of a sub-agent's work inside the callout. What is a step, list, fence or callout there is one here too; where
/// that cannot be, the whole is prose.
fn inline(it: &entry::SubagentDone) -> Item {
    let text = sanitise(it.text.as_deref().unwrap_or_default()).trim().to_owned();
    let with = |items: Vec<Item>| item::subagent(it, SubagentMode::Inline, None, items);
    if text.is_empty() {
        return with(Vec::new());
    }
    let items = items_of(&text);
    let structured = with(items.clone());
    // Comments are not part of what is read.
    let has_comment = text.contains("%%") || text.contains("<!--");
    let read = || {
        let note = Note::parse(render::callout(&structured, None));
        cru_session::read::written(&note).0.preface.into_iter().next()
    };
    let comes_back = |item: Item| render::callout(&item, None) == render::callout(&structured, None);
    if !items.is_empty() && !has_comment && read().is_some_and(comes_back) {
        return structured;
    }
    with(vec![Item::Prose(Prose { text, ..Prose::default() })])
}

/// The text read as a note, its headings made smaller so that none of them begins a phase.
fn items_of(text: &str) -> Vec<Item> {
    let note = Note::parse(format!("\n{text}\n"));
    let mut edits = Vec::new();
    for block in note.blocks() {
        let BlockKind::Heading { level, text } = block.kind else { continue };
        let marks = "#".repeat(usize::from(level.saturating_add(3)).min(6));
        edits.push(Edit { span: block.content, text: format!("{marks} {}", text.of(note.text())) });
    }
    let Ok(patch) = Patch::new(edits) else { return Vec::new() };
    let (session, _) = cru_session::read::written(&Note::parse(patch.apply(note.bytes())));
    if session.phases.is_empty() && session.memory.is_empty() && session.heading.is_none() {
        return session.preface.into_iter().map(without_ids).collect();
    }
    Vec::new()
}

/// Blocks inside carry no ids, so what points at one of them points nowhere.
fn without_ids(mut item: Item) -> Item {
    let elsewhere = |link: &Link| !link.target.is_empty();
    match &mut item {
        Item::Step(it) => {
            it.id = None;
            it.after.retain(elsewhere);
            it.replays = it.replays.take().filter(elsewhere);
        }
        Item::Decision(it) => {
            it.callout.id = None;
            it.rests_on.retain(elsewhere);
        }
        Item::Error(it) => {
            it.callout.id = None;
            it.steps.retain(elsewhere);
            it.resolved_by.retain(elsewhere);
        }
        Item::User(it) => it.callout.id = None,
        Item::Subagent(it) => it.callout.id = None,
        Item::Callout(it) => it.id = None,
        Item::Prose(it) => it.id = None,
        Item::Tasks(_) => {}
    }
    item
}

fn list(value: Option<&Json>) -> Vec<Json> {
    match value {
        Some(Json::Array(rows)) => rows.clone(),
        Some(Json::Null) | None => Vec::new(),
        Some(one) => vec![one.clone()],
    }
}

/// Whether a row is that of a session: a map, or a name or link for itself.
fn is_of(row: &Json, child: &str) -> bool {
    let name = row.get("session").and_then(Json::as_str).or_else(|| row.as_str()).unwrap_or_default();
    name.trim_start_matches("[[").trim_end_matches("]]") == child
}
