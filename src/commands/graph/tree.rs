//! The graph as a tree for people.
//!
//! Nesting shows what contains what and which sub-agent worked where; the order is that of the page. An edge is named
//! where it says more than that: a dependency on the step just before it is not.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthStr as _;

use super::count::Count;
use super::row::{self, TreeRow};

use crate::base::text::{fold_whitespace, plural, sanitise, thousands, truncate};
use crate::commands::View;
use crate::commands::output::duration;
use crate::commands::output::style::{self, paint};
use crate::commands::output::{amount, minute, zoned_minute};
use crate::graph::segment::Break;
use crate::graph::{Arrow, Body, Depth, EdgeKind, Graph, NodeId, NodeKind, Picture};
use crate::session::Status;
use crate::session::boundary::BoundaryKind;

/// How many files the list at the end names.
const FILES: usize = 20;
/// How much of a label is shown where lines are not cut.
const LABEL: usize = 90;

/// The picture as text.
pub(super) fn render(picture: &Picture<'_, '_>, view: &View) -> String {
    let page = TreePage::of(picture, &view.zone);
    let mut out = String::new();
    match picture.focus.and_then(|focus| picture.graph.session(focus)) {
        Some(session) => out.push_str(&page.head(session)),
        None => out.push_str(&page.summary()),
    }
    out.push('\n');
    out.push_str(&row::draw(&page.rows(), view));
    page.files(&mut out);
    page.elsewhere(&mut out);
    let findings = picture.graph.findings().len() as u64;
    if picture.focus.is_none() && findings > 0 {
        let remark = format!("\n{}: `cru check` shows them\n", plural(findings, "diagnostic"));
        out.push_str(&paint(style::DIM, remark));
    }
    out
}

struct TreePage<'p, 'g, 'a> {
    picture: &'p Picture<'g, 'a>,
    zone: &'p TimeZone,
    counts: Vec<Count>,
    arrows: HashMap<NodeId, Vec<&'p Arrow>>,
    resolved: HashMap<NodeId, Vec<NodeId>>,
}

impl<'p, 'g, 'a> TreePage<'p, 'g, 'a> {
    fn of(picture: &'p Picture<'g, 'a>, zone: &'p TimeZone) -> Self {
        let graph = picture.graph;
        let mut counts: Vec<Count> = graph.nodes().map(|(id, _)| Count::of(graph, id)).collect();
        // Contents stand after what contains them, so one pass from the end adds everything up. Sub-agents inside a
        // note work on their own account.
        let parents: Vec<(NodeId, Option<NodeId>)> = graph.nodes().map(|(id, node)| (id, node.parent)).collect();
        for (id, parent) in parents.into_iter().rev() {
            if let Some(parent) = parent.filter(|parent| graph.node(*parent).kind() != NodeKind::Subagent) {
                let own = counts[id.index()];
                counts[parent.index()].add(own);
            }
        }
        let mut arrows: HashMap<NodeId, Vec<&Arrow>> = HashMap::new();
        let mut resolved: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for arrow in &picture.arrows {
            arrows.entry(arrow.from).or_default().push(arrow);
            if arrow.kind == EdgeKind::Resolves {
                resolved.entry(arrow.to).or_default().push(arrow.from);
            }
        }
        Self { picture, zone, counts, arrows, resolved }
    }

    fn graph(&self) -> &'g Graph<'a> {
        self.picture.graph
    }

    /// One session's first lines.
    fn head(&self, session: NodeId) -> String {
        let node = self.graph().node(session);
        let Body::Session(loaded) = &node.body else { return String::new() };
        let meta = &loaded.session.meta;
        let mut out = format!("{}\n{}\n", paint(style::TITLE, node.label()), paint(style::ID, clean(&node.id)));
        let mut parts = Vec::new();
        parts.extend(meta.status.as_ref().map(status));
        parts.extend(meta.started.map(|time| zoned_minute(time, self.zone)));
        parts.extend(meta.project.as_deref().map(clean));
        parts.push(self.counts[session.index()].words());
        parts.extend(meta.tokens_used.map(|tokens| format!("{} tokens", amount(tokens))));
        parts.retain(|part| !part.is_empty());
        out.push_str(&parts.join(" · "));
        out.push('\n');
        let relations = self.relations(session);
        if !relations.is_empty() {
            out.push_str(&relations);
            out.push('\n');
        }
        out
    }

    /// The vault in one line.
    fn summary(&self) -> String {
        let words: Vec<String> = self
            .graph()
            .counts()
            .into_iter()
            .filter(|(kind, _)| !matches!(kind, NodeKind::User | NodeKind::Block | NodeKind::Note))
            .map(|(kind, count)| {
                let noun = if kind == NodeKind::Subagent { "sub-agent" } else { kind.as_str() };
                plural(count as u64, noun)
            })
            .collect();
        if words.is_empty() { "no sessions\n".to_owned() } else { format!("{}\n", words.join(", ")) }
    }

    fn rows(&self) -> Vec<TreeRow> {
        let focus = self.picture.focus.and_then(|focus| self.graph().session(focus));
        let mut below: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        let mut roots = Vec::new();
        for (session, depth) in self.picture.forest() {
            let origin = self.graph().targets(session, EdgeKind::From).find_map(|to| self.picture.stands_for(to));
            match origin.filter(|_| depth > 0 && Some(session) != focus) {
                Some(origin) => below.entry(origin).or_default().push(session),
                None => roots.push(session),
            }
        }
        let mut rows = Vec::new();
        let mut open: Vec<(NodeId, usize)> = roots.into_iter().rev().map(|id| (id, 0)).collect();
        while let Some((id, depth)) = open.pop() {
            // The lines above the tree say it all of the session it is about.
            let inner = if Some(id) == focus {
                0
            } else {
                rows.push(self.row(id, depth));
                depth + 1
            };
            let mut children: Vec<NodeId> =
                self.picture.children(id).filter(|&child| self.is_worth_a_line(child)).collect();
            if let (Some(only), Some(row)) = (self.says_it_again(id, &children), rows.last_mut().filter(|_| inner > 0))
            {
                self.join(row, only);
                children = below.get(&only).cloned().unwrap_or_default();
            }
            children.extend(below.get(&id).into_iter().flatten());
            open.extend(children.into_iter().rev().map(|child| (child, inner)));
        }
        rows
    }

    /// The only phase of a session when it has the session's name: one line for both.
    fn says_it_again(&self, session: NodeId, children: &[NodeId]) -> Option<NodeId> {
        let [only] = children else { return None };
        let (node, phase) = (self.graph().node(session), self.graph().node(*only));
        let alike =
            node.kind() == NodeKind::Session && phase.kind() == NodeKind::Phase && node.label() == phase.label();
        let inner = || self.picture.children(*only).next();
        (alike && inner().is_none()).then_some(*only)
    }

    /// Puts what a phase's line would add to its session's line behind it.
    fn join(&self, row: &mut TreeRow, phase: NodeId) {
        if let Body::Phase(phase) = &self.graph().node(phase).body
            && let Some(agent) = &phase.agent
        {
            let _ = write!(row.tail, "  {}", paint(style::AGENT, format!("@{}", clean(&agent.to_string()))));
        }
        let relations = self.relations(phase);
        if !relations.is_empty() {
            let _ = write!(row.tail, "  {relations}");
        }
    }

    /// Callouts that only say what the tree says anyway have no line.
    fn is_worth_a_line(&self, id: NodeId) -> bool {
        match &self.graph().node(id).body {
            Body::Callout(callout) => callout.kind != "usage",
            _ => true,
        }
    }

    fn row(&self, id: NodeId, depth: usize) -> TreeRow {
        let node = self.graph().node(id);
        let name = node.block_id().map(|id| format!("{} ", paint(style::ID, clean(id)))).unwrap_or_default();
        let mut label = node.label();
        let mut facts = Vec::new();
        let head = match &node.body {
            Body::Session(loaded) => {
                let meta = &loaded.session.meta;
                let name = clean(&node.id);
                if label == name {
                    label.clear();
                }
                facts.extend(meta.status.as_ref().filter(|it| **it != Status::Completed).map(status));
                facts.push(self.counts[id.index()].words());
                let when = meta
                    .started
                    .filter(|_| depth == 0)
                    .map(|time| format!("{}  ", paint(style::DIM, minute(time, self.zone))));
                let gap = if label.is_empty() { "" } else { "  " };
                format!("{}{}{gap}", when.unwrap_or_default(), paint(style::ID, name))
            }
            Body::Phase(phase) => {
                let agent =
                    phase.agent.as_ref().map(|agent| paint(style::AGENT, format!("@{}", clean(&agent.to_string()))));
                facts.extend(agent);
                if self.picture.depth < Depth::Step || self.picture.children(id).next().is_none() {
                    facts.push(self.counts[id.index()].words());
                }
                format!("{name}{}", style::TITLE)
            }
            Body::Step(step) => {
                if let Some(result) = &step.result {
                    label = format!("{} → {}", truncate(&label, LABEL), clean(result));
                }
                format!("{} {name}", paint(style::of_step(step.status), step.status.mark()))
            }
            Body::Decision(_) => format!("{} {name}", paint(style::GOOD, "◆ decision")),
            Body::Error(_) => format!("{} {name}", paint(style::BAD, "✗ error")),
            Body::User(user) => {
                label = format!("“{label}”");
                let head = if user.correction { "▸ correction" } else { "▸ user" };
                format!("{} {name}", paint(style::WARN, head))
            }
            Body::Subagent(subagent) => {
                if subagent.agent.is_some() {
                    label.insert(0, '@');
                }
                facts.extend(subagent.summary.as_deref().map(|summary| format!("“{}”", truncate(&clean(summary), 60))));
                format!("{} {name}{}", paint(style::AGENT, "⤷ sub-agent"), style::AGENT)
            }
            Body::Callout(callout) => {
                format!("{} {name}", paint(style::CHANNEL, format!("· {}", clean(&callout.kind))))
            }
            Body::Prose(_) => format!("· {name}"),
            Body::File { .. } | Body::Note(_) | Body::Attachment(_) => String::new(),
        };
        facts.retain(|fact| !fact.is_empty());
        let mut tail = String::new();
        if !facts.is_empty() {
            tail.push_str("  ");
            tail.push_str(&facts.join(", "));
        }
        let relations = self.relations(id);
        if !relations.is_empty() {
            tail.push_str("  ");
            tail.push_str(&relations);
        }
        TreeRow { depth, head, label, tail }
    }

    /// What a node's edges say beyond the tree: `after n-003 · rests on n-004`.
    fn relations(&self, id: NodeId) -> String {
        let mut words: Vec<String> = Vec::new();
        let mut say = |phrase: &str, ends: Vec<String>| {
            if !ends.is_empty() {
                words.push(format!("{phrase} {}", ends.join(", ")));
            }
        };
        let of = |kind: EdgeKind| self.arrows.get(&id).into_iter().flatten().filter(move |arrow| arrow.kind == kind);
        let before = self.graph().targets(id, EdgeKind::Prev).next();
        // The very block that the edge leads to, where the picture only shows what it stands in.
        let named = |arrow: &&&Arrow| {
            let to = self.graph().targets(id, arrow.kind).find(|&to| self.picture.stands_for(to) == Some(arrow.to));
            self.name(to.unwrap_or(arrow.to), id, arrow.count)
        };
        let is_error = self.graph().node(id).kind() == NodeKind::Error;
        say("after", of(EdgeKind::After).filter(|arrow| Some(arrow.to) != before).map(|it| named(&it)).collect());
        say(if is_error { "at" } else { "rests on" }, of(EdgeKind::RestsOn).map(|it| named(&it)).collect());
        let resolved = self.resolved.get(&id).into_iter().flatten();
        say("resolved by", resolved.map(|&by| self.name(by, id, 1)).collect());
        say("runs again", of(EdgeKind::Replays).map(|it| named(&it)).collect());
        // Where a session came out of is seen in the tree, unless that is not shown.
        let unseen = |arrow: &&&Arrow| {
            self.picture.outside.contains(&arrow.to) || self.graph().node(id).kind() == NodeKind::Phase
        };
        say("↳", self.graph().break_before(id).and_then(|broke| boundary(&broke.is)).into_iter().collect());
        say("from", of(EdgeKind::From).filter(unseen).map(|it| named(&it)).collect());
        // A session that stands below this line in the tree needs no link to it.
        let is_child = |arrow: &&&Arrow| {
            self.graph().targets(arrow.to, EdgeKind::From).any(|from| self.picture.stands_for(from) == Some(id))
        };
        let links = || of(EdgeKind::LinksTo).filter(|it| !is_child(it));
        for arrow in links() {
            for relation in self.picture.relations(arrow) {
                let reason = relation.reason.as_deref().map_or_else(String::new, |why| format!(" ({})", clean(why)));
                say(&clean(&relation.name), vec![format!("{}{reason}", named(&arrow))]);
            }
        }
        say("see", links().filter(|it| self.picture.relations(it).is_empty()).map(|it| named(&it)).collect());
        say("shows", of(EdgeKind::Embeds).filter(|it| !is_child(it)).map(|it| named(&it)).collect());
        if words.is_empty() { String::new() } else { paint(style::DIM, words.join(" · ")) }
    }

    /// A node as another one's line names it: short within a session.
    fn name(&self, id: NodeId, from: NodeId, count: u32) -> String {
        let graph = self.graph();
        let (node, other) = (graph.node(id), graph.node(from));
        let name = match &node.body {
            Body::Note(head) if node.kind() == NodeKind::Note => clean(&head.path.stem()),
            // Its title may well be that of the session it was made from.
            Body::Note(head) => format!("{} {}", node.kind(), clean(&head.path.stem())),
            Body::File { .. } | Body::Attachment(_) => node.label(),
            _ if node.session == other.session && node.id.contains('.') => format!("“{}”", truncate(&node.label(), 30)),
            Body::Session(_) => clean(&graph.key(id)),
            _ if node.session == other.session => clean(&node.id),
            _ => clean(&graph.key(id)),
        };
        if count > 1 { format!("{name} ×{count}") } else { name }
    }

    /// The files: of one session all, of a vault those that several sessions touched.
    fn files(&self, out: &mut String) {
        let graph = self.graph();
        let mut rows = Vec::new();
        for &id in self.picture.nodes.iter().filter(|&&id| graph.node(id).kind() == NodeKind::File) {
            let (mut read, mut written) = (0, 0);
            let mut sessions: Vec<u32> = Vec::new();
            for edge in graph.incoming(id) {
                let Some(session) = graph.node(edge.from).session else { continue };
                let is_inside = graph
                    .session(session)
                    .is_some_and(|it| self.picture.shows(it) && !self.picture.outside.contains(&it));
                if is_inside {
                    if edge.kind == EdgeKind::Writes { written += 1 } else { read += 1 }
                }
                if sessions.last() != Some(&session) {
                    sessions.push(session);
                }
            }
            rows.push((sessions.len(), read, written, graph.node(id).label()));
        }
        if rows.is_empty() {
            return;
        }
        let title = if self.picture.focus.is_some() { "Files" } else { "Files that several sessions touched" };
        rows.sort_by(|a, b| (b.0, b.2, b.1, &a.3).cmp(&(a.0, a.2, a.1, &b.3)));
        let _ = write!(out, "\n{}\n", paint(style::TITLE, title));
        let width = rows.iter().take(FILES).map(|row| row.3.width()).max().unwrap_or(0).min(60);
        for (sessions, read, written, path) in rows.iter().take(FILES) {
            let mut facts = Vec::new();
            if *read > 0 {
                facts.push(format!("read {read}×"));
            }
            if *written > 0 {
                facts.push(format!("written {written}×"));
            }
            if *sessions > 1 {
                facts.push(format!("by {sessions} sessions"));
            }
            let pad = " ".repeat(width.saturating_sub(path.width()));
            let _ = writeln!(out, "  {path}{pad}  {}", paint(style::DIM, facts.join(", ")));
        }
        if rows.len() > FILES {
            out.push_str(&paint(style::DIM, format!("  … and {} more\n", rows.len() - FILES)));
        }
    }

    /// Other sessions that point at this one or go on from it.
    fn elsewhere(&self, out: &mut String) {
        let graph = self.graph();
        let mut rows: BTreeMap<NodeId, Vec<String>> = BTreeMap::new();
        for arrow in self.picture.arrows.iter().filter(|arrow| self.picture.outside.contains(&arrow.from)) {
            let phrase = match arrow.kind {
                EdgeKind::From => "came out of",
                EdgeKind::After => "comes after",
                EdgeKind::RestsOn => "rests on",
                EdgeKind::Resolves => "resolves",
                EdgeKind::Replays => "runs again",
                EdgeKind::Embeds => "shows",
                EdgeKind::LinksTo => "points at",
                EdgeKind::Fork => "is a fork of",
                EdgeKind::Contains | EdgeKind::Prev | EdgeKind::Reads | EdgeKind::Writes => continue,
                // These stay within one session.
                EdgeKind::Branch | EdgeKind::TreeJump | EdgeKind::Compaction | EdgeKind::Resume | EdgeKind::Handoff => {
                    continue;
                }
            };
            let to = graph.node(arrow.to);
            let name = match &to.body {
                Body::Session(_) => "it".to_owned(),
                _ => clean(&to.id),
            };
            rows.entry(arrow.from).or_default().push(format!("{phrase} {name}"));
        }
        if rows.is_empty() {
            return;
        }
        let _ = write!(out, "\n{}\n", paint(style::TITLE, "Other sessions"));
        for (session, words) in rows {
            let key = paint(style::ID, clean(&graph.key(session)));
            let _ = writeln!(out, "  {key}  {}", paint(style::DIM, words.join(", ")));
        }
    }
}

fn clean(text: &str) -> String {
    fold_whitespace(&sanitise(text))
}

fn status(status: &Status) -> String {
    let look = match status {
        Status::Completed => style::GOOD,
        Status::Failed | Status::Abandoned => style::BAD,
        Status::Active | Status::Paused | Status::Other(_) => style::WARN,
    };
    paint(look, clean(status.as_str()))
}

/// What broke before a phase: `compaction of 167,000 tokens, pause of 3 h`. A fork is told where its session begins.
pub(in crate::commands) fn boundary(is: &Break) -> Option<String> {
    let word = |kind: &BoundaryKind| match (kind, is.tokens_before, is.gap) {
        (BoundaryKind::Branch, ..) => "branch left".to_owned(),
        (BoundaryKind::TreeJump, ..) => "went back".to_owned(),
        (BoundaryKind::Compaction, Some(tokens), _) => format!("compaction of {} tokens", thousands(tokens)),
        (BoundaryKind::Compaction, None, _) => "compaction".to_owned(),
        (BoundaryKind::Resume, _, gap) => {
            format!("pause of {}", duration(gap.unwrap_or(0).unsigned_abs()))
        }
        (BoundaryKind::Fork, ..) => "fork".to_owned(),
        (BoundaryKind::Handoff, ..) => "asked to hand over".to_owned(),
    };
    let words: Vec<String> = is.kinds.iter().filter(|kind| **kind != BoundaryKind::Fork).map(word).collect();
    (!words.is_empty()).then(|| words.join(", "))
}
