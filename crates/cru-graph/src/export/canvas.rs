//! The graph as a JSON Canvas 1.0 file, which Obsidian opens.
//!
//! Sessions stand below each other, their phases in columns to the right; what has a place in a note is a card that
//! shows that place. All numbers are whole, as the format asks.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{caption, known};
use crate::{Body, Depth, EdgeKind, Graph, NodeId, NodeKind, Picture};
use cru_base::text;
use cru_session::StepStatus;
use cru_session::escape::inert;
use cru_vault::VaultPath;
use cru_vault::outline::heading_key;

const SESSION: (i64, i64) = (380, 280);
const COLUMN: i64 = 360;
/// Between columns and bands.
const GAP: i64 = 80;
/// Between cards, and from a group's edge to its cards.
const PAD: i64 = 20;

/// What a card shows: its type, and what else it has.
type CardFields = [(&'static str, Value); 3];

fn text_card(text: String) -> CardFields {
    [("type", "text".into()), ("text", text.into()), ("subpath", Value::Null)]
}

fn file_card(file: &VaultPath, subpath: Option<String>) -> CardFields {
    [("type", "file".into()), ("file", file.text().into()), ("subpath", subpath.into())]
}

/// A card with its left edge and top, width and height.
fn card(id: String, [x, y, width, height]: [i64; 4], color: Option<&str>, content: CardFields) -> Value {
    let [kind, what, subpath] = content;
    let place =
        [("id", id.into()), ("x", x.into()), ("y", y.into()), ("width", width.into()), ("height", height.into())];
    let [id, x, y, width, height] = place;
    known([id, x, y, width, height, ("color", color.into()), kind, what, subpath])
}

/// The picture as a canvas.
pub fn export(picture: &Picture<'_, '_>) -> Value {
    let mut draft = DraftNode { picture, cards: Vec::new(), places: HashMap::new() };
    let mut top = 0;
    for (session, depth) in picture.forest() {
        // How far sub-agents stand to the right of what started them.
        let indent = 40 * i64::try_from(depth.min(20)).unwrap_or(0);
        top = draft.band(session, indent, top) + GAP;
    }
    // What is only pointed at stands to the left.
    let mut beside = 0;
    for &node in &picture.nodes {
        let alone = picture.graph.node(node).session.is_none() && picture.graph.node(node).kind() != NodeKind::File;
        if alone || picture.outside.contains(&node) {
            draft.put(node, -(SESSION.0 + 2 * GAP), beside, SESSION.0, 160);
            beside += 160 + PAD;
        }
    }
    let edges = draft.lines();
    json!({ "nodes": draft.cards, "edges": edges })
}

struct DraftNode<'p, 'g, 'a> {
    picture: &'p Picture<'g, 'a>,
    cards: Vec<Value>,
    /// Left edge and top of each card.
    places: HashMap<NodeId, (i64, i64)>,
}

impl DraftNode<'_, '_, '_> {
    /// One session with its phases; gives the lower edge.
    fn band(&mut self, session: NodeId, indent: i64, top: i64) -> i64 {
        self.put(session, indent, top, SESSION.0, SESSION.1);
        let mut bottom = top + SESSION.1;
        let mut left = indent + SESSION.0 + GAP;
        for phase in self.phases(session) {
            if self.picture.depth == Depth::Phase {
                self.put(phase, left, top, COLUMN, SESSION.1);
            } else {
                bottom = bottom.max(self.column(phase, left, top));
            }
            left += COLUMN + GAP;
        }
        bottom
    }

    /// Phases and sub-phases in the order of the page; the session itself first where it holds something outside of any.
    fn phases(&self, session: NodeId) -> Vec<NodeId> {
        let is_phase = |id: &NodeId| self.picture.graph.node(*id).kind() == NodeKind::Phase;
        let mut phases: Vec<NodeId> = Vec::new();
        if self.picture.children(session).any(|id| !is_phase(&id)) {
            phases.push(session);
        }
        let mut open: Vec<NodeId> = self.picture.children(session).filter(is_phase).collect();
        open.reverse();
        while let Some(phase) = open.pop() {
            phases.push(phase);
            let below: Vec<NodeId> = self.picture.children(phase).filter(is_phase).collect();
            open.extend(below.into_iter().rev());
        }
        phases
    }

    /// A group with a card for everything in a phase; gives the lower edge.
    fn column(&mut self, phase: NodeId, left: i64, top: i64) -> i64 {
        let picture = self.picture;
        let place = self.cards.len();
        let mut y = top + PAD;
        let is_phase = |id: &NodeId| picture.graph.node(*id).kind() == NodeKind::Phase;
        let mut open: Vec<(NodeId, i64)> =
            picture.children(phase).filter(|id| !is_phase(id)).map(|id| (id, 0)).collect();
        open.reverse();
        while let Some((node, depth)) = open.pop() {
            let indent = PAD * depth.min(5);
            let height = self.height(node);
            self.put(node, left + PAD + indent, y, COLUMN - 2 * PAD - indent, height);
            y += height + PAD;
            let below: Vec<NodeId> = picture.children(node).collect();
            open.extend(below.into_iter().rev().map(|id| (id, depth + 1)));
        }
        let bottom = y.max(top + 120);
        // The group of what stands in a session but in no phase is not the session's own card.
        let name = id(&format!("group {}", picture.graph.key(phase)));
        let label =
            [("type", "group".into()), ("label", caption(picture.graph, phase).into()), ("subpath", Value::Null)];
        let group = card(name, [left, top, COLUMN, bottom - top], None, label);
        // A group lies below its cards, so it comes before them.
        self.cards.insert(place, group);
        self.places.entry(phase).or_insert((left, top));
        bottom
    }

    fn put(&mut self, node: NodeId, x: i64, y: i64, width: i64, height: i64) {
        self.cards.push(card(self.id(node), [x, y, width, height], color(self.picture, node), self.content(node)));
        self.places.insert(node, (x, y));
    }

    /// The id of the card or group that stands for a node.
    fn id(&self, node: NodeId) -> String {
        let key = self.picture.graph.key(node);
        let is_group = self.picture.graph.node(node).kind() == NodeKind::Phase && self.picture.depth == Depth::Step;
        if is_group { id(&format!("group {key}")) } else { id(&key) }
    }

    fn height(&self, node: NodeId) -> i64 {
        let node = self.picture.graph.node(node);
        let length = match node.callout() {
            Some(callout) => callout.title.len() + callout.body.len(),
            None => return 70,
        };
        let lines = i64::try_from(length / 38).unwrap_or(i64::MAX).min(10);
        90 + 24 * lines
    }

    fn content(&self, node: NodeId) -> CardFields {
        let graph = self.picture.graph;
        let it = graph.node(node);
        match (&it.body, graph.path(node)) {
            (Body::Session(_), Some(path)) => file_card(path, None),
            (Body::Phase(phase), Some(path)) => match subpath(self.picture, node, phase) {
                Some(subpath) => file_card(path, Some(subpath)),
                None => text_card(inert(&plain(&caption(graph, node)), &[])),
            },
            (Body::Step(step), Some(path)) => {
                let name = path.text();
                let name = name.strip_suffix(".md").unwrap_or(&name);
                let linkable = !name.contains(['[', ']', '|', '#', '^', '%']);
                let link = step.id.as_deref().filter(|_| linkable).map(|id| format!("[[{name}#^{id}|{id}]] "));
                let link = link.unwrap_or_default();
                text_card(inert(&format!("{} {link}{}", step.status.mark(), code(&it.label())), &[]))
            }
            (Body::Note(head), _) => file_card(&head.path, None),
            (Body::Attachment(path), _) => file_card(path, None),
            (_, path) => match (it.block_id(), path) {
                (Some(block), Some(path)) => file_card(path, Some(format!("#^{block}"))),
                _ => text_card(inert(&words(graph, node), &[])),
            },
        }
    }

    fn lines(&self) -> Vec<Value> {
        let mut lines = Vec::new();
        for arrow in &self.picture.arrows {
            let is_phase = |node: NodeId| self.picture.graph.node(node).kind() == NodeKind::Phase;
            let (from, to, label) = match arrow.kind {
                // Within a column the order is seen.
                EdgeKind::Prev if !is_phase(arrow.from) => continue,
                EdgeKind::Prev => (arrow.to, arrow.from, None),
                kind => (arrow.from, arrow.to, Some(kind.to_string())),
            };
            let (Some(&a), Some(&b)) = (self.places.get(&from), self.places.get(&to)) else { continue };
            let (from_side, to_side) = match a.0.cmp(&b.0) {
                std::cmp::Ordering::Less => ("right", "left"),
                std::cmp::Ordering::Greater => ("left", "right"),
                std::cmp::Ordering::Equal => ("right", "right"),
            };
            lines.push(known([
                ("id", id(&format!("{} {} {}", self.id(from), arrow.kind, self.id(to))).into()),
                ("fromNode", self.id(from).into()),
                ("fromSide", from_side.into()),
                ("toNode", self.id(to).into()),
                ("toSide", to_side.into()),
                ("label", label.into()),
            ]));
        }
        lines
    }
}

/// Sixteen hex digits, as the editor makes them, but always the same for the same name.
fn id(name: &str) -> String {
    blake3::hash(name.as_bytes()).to_hex()[..16].to_owned()
}

/// Where in its note a phase stands: its heading, which shows the whole section; its id where two headings are alike.
fn subpath(picture: &Picture<'_, '_>, node: NodeId, phase: &cru_session::Phase) -> Option<String> {
    let session = picture.graph.node(node).session?;
    let loaded = picture.graph.sessions().get(session as usize)?;
    let mut heading = phase.title.clone();
    if let Some(agent) = &phase.agent {
        let _ = write!(heading, " @{agent}");
    }
    if let Some(channel) = &phase.channel {
        let _ = write!(heading, " #{channel}");
    }
    let first = loaded.outline.headings.get(&heading_key(&heading));
    if first.is_some_and(|span| span.start == phase.heading_span.start) {
        let plain: String = heading.chars().map(|c| if "#|^:[]%".contains(c) { ' ' } else { c }).collect();
        return Some(format!("#{}", text::fold_whitespace(&plain)));
    }
    phase.id_written.then(|| format!("#^{}", phase.id))
}

/// `1` red, `2` orange, `3` yellow, `4` green, `5` cyan, `6` purple.
fn color(picture: &Picture<'_, '_>, node: NodeId) -> Option<&'static str> {
    let node = picture.graph.node(node);
    match node.kind() {
        NodeKind::Session | NodeKind::Subagent => Some("5"),
        NodeKind::Step if node.status() == Some(StepStatus::Failed) => Some("1"),
        NodeKind::Error => Some("2"),
        NodeKind::User => Some("3"),
        NodeKind::Decision => Some("4"),
        NodeKind::Lesson | NodeKind::Workflow => Some("6"),
        NodeKind::Step | NodeKind::Phase | NodeKind::Block | NodeKind::File | NodeKind::Note => None,
    }
}

/// What a callout without a place of its own says: there is more room on a card than in a box.
fn words(graph: &Graph<'_>, node: NodeId) -> String {
    let it = graph.node(node);
    let label = it.label();
    let said = plain(&text::truncate(&label, 280));
    match it.kind() {
        NodeKind::User => format!("“{said}”"),
        NodeKind::Decision | NodeKind::Error | NodeKind::Lesson | NodeKind::Subagent => {
            format!("**{}** {said}", it.kind())
        }
        _ => plain(&caption(graph, node)),
    }
}

/// A code span around anything.
fn code(text: &str) -> String {
    let text = text::truncate(text, 80);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Text in which nothing is markup.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_punctuation() && !".,;:?'\"()/-+@".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_no_markup() {
        assert_eq!(plain("a [[b]] <c> #d *e*"), "a \\[\\[b\\]\\] \\<c\\> \\#d \\*e\\*");
        assert_eq!(code("a `` b"), "```a `` b```");
        assert_eq!(code("`a`"), "`` `a` ``");
    }
}
