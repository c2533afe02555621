//! The relations that a note writes down: typed links, files, and links of any kind.

use std::collections::{HashMap, HashSet};

use super::draft::{Access, Claim, Draft};
use super::index::Found;
use super::node::{Body, NodeId};
use super::{EdgeKind, check};
use cru_base::Span;
use cru_session::{FileRef, Link, Step, Subagent, SubagentMode};

/// Adds the relations of one session. All sessions' nodes are there already.
pub(super) fn add(draft: &mut Draft<'_>, session: u32) {
    let Some(&root) = draft.index.sessions.get(session as usize) else { return };
    let end = draft.index.sessions.get(session as usize + 1).map_or(draft.last_in_session, |next| next.0);
    let mut typed = Typed::of(draft, session);
    for number in root.0..end {
        let node = NodeId(number);
        match draft.nodes[node.index()].body.clone() {
            Body::Phase(phase) => {
                join(draft, session, node, EdgeKind::After, &phase.after, &mut typed);
                join(draft, session, node, EdgeKind::From, phase.from.as_slice(), &mut typed);
            }
            Body::Step(step) => add_step(draft, session, node, step, &mut typed),
            Body::Decision(it) => join(draft, session, node, EdgeKind::RestsOn, &it.rests_on, &mut typed),
            Body::Error(it) => {
                join(draft, session, node, EdgeKind::RestsOn, &it.steps, &mut typed);
                join(draft, session, node, EdgeKind::Resolves, &it.resolved_by, &mut typed);
            }
            Body::Subagent(it) => add_subagent(draft, session, node, it, &mut typed),
            Body::Session(_)
            | Body::Callout(_)
            | Body::Prose(_)
            | Body::User(_)
            | Body::File { .. }
            | Body::Note(_)
            | Body::Attachment(_) => {}
        }
    }
    add_origin(draft, session, root, &mut typed);
    add_links(draft, session, &typed);
}

/// Pairs of nodes that a typed relation joins, so that the link that says so is not a second, untyped one; and the
/// places of all links, because those of typed fields come without.
#[derive(Default)]
struct Typed<'a> {
    pairs: HashSet<(NodeId, NodeId)>,
    places: HashMap<LinkKey<'a>, Span>,
}

type LinkKey<'a> = (NodeId, &'a str, Option<&'a str>, Option<&'a str>);

fn key(node: NodeId, link: &Link) -> LinkKey<'_> {
    (node, &link.target, link.heading.as_deref(), link.block.as_deref())
}

impl<'a> Typed<'a> {
    fn of(draft: &Draft<'a>, session: u32) -> Self {
        let links = &draft.sessions[session as usize].outline.links;
        let mut places = HashMap::with_capacity(links.len());
        for link in links {
            let node = draft.index.at(session, link.span.start, &draft.nodes);
            places.entry(key(node, link)).or_insert(link.span);
        }
        Self { pairs: HashSet::new(), places }
    }

    fn place(&self, node: NodeId, link: &Link) -> Option<Span> {
        if link.span.is_empty() { self.places.get(&key(node, link)).copied() } else { Some(link.span) }
    }

    fn add(&mut self, a: NodeId, b: NodeId) {
        self.pairs.insert((a.min(b), a.max(b)));
    }

    fn has(&self, a: NodeId, b: NodeId) -> bool {
        self.pairs.contains(&(a.min(b), a.max(b)))
    }
}

/// Adds typed edges. A link that leads nowhere is told by [`add_links`], which sees every link of the note once.
fn join(draft: &mut Draft<'_>, session: u32, node: NodeId, kind: EdgeKind, links: &[Link], typed: &mut Typed<'_>) {
    for link in links {
        let Some(target) = follow(draft, session, link) else { continue };
        typed.add(node, target);
        let (from, to) = if kind == EdgeKind::Resolves { (target, node) } else { (node, target) };
        let place = typed.place(node, link).unwrap_or_else(|| draft.nodes[node.index()].span());
        draft.edge(from, kind, to, Some(place));
    }
}

fn follow(draft: &mut Draft<'_>, session: u32, link: &Link) -> Option<NodeId> {
    match draft.index.follow(session, link, &draft.world()) {
        Found::Node(node) => Some(node),
        Found::Other(target) => draft.other(target),
        Found::NoNote | Found::NoBlock(_) | Found::NoHeading(_) => None,
    }
}

fn add_step<'a>(draft: &mut Draft<'a>, session: u32, node: NodeId, step: &'a Step, typed: &mut Typed<'_>) {
    join(draft, session, node, EdgeKind::After, &step.after, typed);
    join(draft, session, node, EdgeKind::Replays, step.replays.as_slice(), typed);
    // Read before written: an edit reads the file it changes.
    for (refs, kind) in [(&step.reads, EdgeKind::Reads), (&step.writes, EdgeKind::Writes)] {
        for FileRef { path, hash, .. } in refs {
            let file = draft.file(path, session);
            draft.edge(node, kind, file, Some(step.span));
            let write = kind == EdgeKind::Writes;
            draft.accesses.push(Access { file, step: node, session, hash: hash.as_deref(), write });
        }
    }
}

fn add_subagent(draft: &mut Draft<'_>, session: u32, node: NodeId, subagent: &Subagent, typed: &mut Typed<'_>) {
    let Some(link) = &subagent.link else { return };
    let span = typed.place(node, link).unwrap_or(subagent.callout.span);
    let Some(child) = follow(draft, session, link) else { return };
    typed.add(node, child);
    let kind = if subagent.mode == SubagentMode::Embed { EdgeKind::Embeds } else { EdgeKind::LinksTo };
    draft.edge(node, kind, child, Some(span));
    claim(draft, session, child, node, span);
}

fn claim(draft: &mut Draft<'_>, session: u32, child: NodeId, by: NodeId, span: Span) {
    let child_session = draft.nodes[child.index()].session.filter(|&child| child != session);
    if let Some(child_session) = child_session.filter(|_| draft.nodes[child.index()].parent.is_none()) {
        draft.edge(child, EdgeKind::From, by, None);
        draft.claims.push(Claim { child: child_session, by, span });
    }
}

/// What the frontmatter says of sub-agents and of the parent.
fn add_origin(draft: &mut Draft<'_>, session: u32, root: NodeId, typed: &mut Typed<'_>) {
    let loaded = &draft.sessions[session as usize];
    let named: HashSet<u32> =
        draft.claims.iter().rev().map_while(|it| draft.is_of(it.by, session).then_some(it.child)).collect();
    let place = |name: &str| loaded.outline.property(name);
    for row in &loaded.session.meta.subagents {
        let link = Link::to_note(row.session.clone());
        match follow(draft, session, &link) {
            Some(child) => {
                typed.add(root, child);
                // The callout says it better than the list.
                if draft.nodes[child.index()].session.is_some_and(|child| !named.contains(&child)) {
                    claim(draft, session, child, root, place("subagents"));
                }
            }
            None => draft.findings.push(check::subagent_without_note(&loaded.path, &row.session, place("subagents"))),
        }
    }
    let Some(link) = &loaded.session.meta.parent else { return };
    match follow(draft, session, link) {
        Some(parent) if parent != root => {
            typed.add(root, parent);
            draft.parents.push((session, parent));
        }
        Some(_) => {}
        None => {
            let link = Link { span: place("parent"), ..link.clone() };
            draft.findings.push(check::dangling(&loaded.path, &link, &Found::NoNote, false));
        }
    }
}

/// Links of any kind, and those that lead nowhere.
fn add_links(draft: &mut Draft<'_>, session: u32, typed: &Typed<'_>) {
    let loaded = &draft.sessions[session as usize];
    // Of several links to one place that with a relation says the most.
    let says_why = |link: &&Link| loaded.outline.relations.contains_key(&link.span.start);
    let (related, plain): (Vec<&Link>, Vec<&Link>) = loaded.outline.links.iter().partition(says_why);
    let count = related.len();
    let mut told: HashSet<(NodeId, NodeId)> = HashSet::new();
    for (at, link) in related.into_iter().chain(plain).enumerate() {
        let from = draft.index.at(session, link.span.start, &draft.nodes);
        let found = draft.index.follow(session, link, &draft.world());
        let target = match &found {
            Found::Node(node) => Some(*node),
            Found::Other(other) => draft.other(*other),
            Found::NoNote | Found::NoBlock(_) | Found::NoHeading(_) => {
                let is_child = matches!(draft.nodes[from.index()].body, Body::Subagent(it) if it.link.as_ref().is_some_and(|it| key(from, it) == key(from, link)));
                draft.findings.push(check::dangling(&loaded.path, link, &found, is_child));
                None
            }
        };
        let Some(to) = target.filter(|&to| to != from || link.embed) else { continue };
        if link.embed {
            draft.edge(from, EdgeKind::Embeds, to, Some(link.span));
        } else if !typed.has(from, to) && (told.insert((from, to)) || at < count) {
            draft.edge(from, EdgeKind::LinksTo, to, Some(link.span));
        }
    }
}
