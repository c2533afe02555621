//! `cru deps`: what a step depends on, and what depends on it.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fmt::Write as _;

use serde::Serialize;

use super::TraceWorld;
use super::refs::NamedThing;
use crate::base::text::one_line;
use crate::base::{Error, Result};
use crate::commands::files::place::{FilePlace, WantedFile};
use crate::commands::output::style::{self, paint};
use crate::commands::output::{PlainOutput, cut};
use crate::commands::{Context, Output, View};
use crate::graph::node::{Body, NodeId, NodeKind};
use crate::graph::{EdgeKind, Graph};
use crate::trace::reference::{self, ReferenceText};

/// Show what a step depends on and what depends on it
///
/// REF is a step (`^`, `n-014`, `SESSION#n-014`, `@NAME`) or a file, which stands for the steps that read or wrote it.
/// Dependencies are written (`after:`) or follow from the files that steps read and wrote. Each step is shown once,
/// dependencies first, with its depth, the longest path to it: -2 is two steps before, 0 is REF, +1 depends on it. `root`
/// depends on nothing, nothing depends on `leaf`, and `alone` is both.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 success, 1 no such step or file, 2 usage error, 3 I/O error.")]
pub struct Args {
    /// A step or a file
    #[arg(value_name = "REF|FILE")]
    of: String,
    /// Only what it depends on
    #[arg(long, conflicts_with = "down")]
    up: bool,
    /// Only what depends on it
    #[arg(long)]
    down: bool,
    /// Leave out what is further away
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
}

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let world = TraceWorld::read(cx)?;
    let (sessions, _) = world.vault.load_sessions(&world.catalog);
    let graph = Graph::of(&world.catalog, &sessions);
    let references = world.references(None, cx);
    let starts = match references.one(&args.of) {
        Ok(NamedThing::Block(block)) => {
            let number = sessions.iter().position(|loaded| loaded.path == block.path);
            let number = number.and_then(|number| u32::try_from(number).ok());
            let start = block.place.item_in(&block.session).map_or(0, |item| item.span().start);
            number.and_then(|number| graph.at(number, start)).into_iter().collect()
        }
        Ok(NamedThing::File(path)) => of_file(&graph, &path, cx),
        Err(error) => {
            let found = of_file(&graph, &args.of, cx);
            if found.is_empty() {
                return Err(if may_be_file(&args.of) { no_file(&args.of) } else { error });
            }
            found
        }
    };
    if starts.is_empty() {
        return Err(no_file(&args.of));
    }
    let deepest = args.depth.unwrap_or(u32::MAX);
    let mut all: Vec<(NodeId, i64)> = Vec::new();
    if !args.down {
        let found = graph.upstream_of(&starts);
        let mut near: Vec<_> = found.iter().filter(|it| it.depth <= deepest).collect();
        // The furthest first, and those of one depth in the order of the page.
        near.sort_by_key(|it| Reverse(it.depth));
        all.extend(near.iter().map(|it| (it.node, -i64::from(it.depth))));
    }
    all.extend(starts.iter().map(|start| (*start, 0)));
    if !args.up {
        let found = graph.downstream_of(&starts);
        all.extend(found.iter().filter(|it| it.depth <= deepest).map(|it| (it.node, i64::from(it.depth))));
    }
    // What stands in a cycle with the step is both before and after it.
    let mut seen = HashSet::new();
    all.retain(|(node, _)| seen.insert(*node));
    let steps = all.into_iter().map(|(node, depth)| DependencyRow::of(&graph, node, depth)).collect();
    Ok(Box::new(Dependencies { schema: 1, steps }))
}

/// Whether a text looks like a path, and not like a step.
fn may_be_file(text: &str) -> bool {
    let is_range = matches!(reference::parse(text), Some(ReferenceText::Range(..)));
    text.contains(['/', '\\', '.']) && !text.contains(['#', '[', '^']) && !is_range
}

fn no_file(text: &str) -> Error {
    Error::no(format!("no step reads or writes `{}`", one_line(text)))
        .with_hint("`cru files` lists the files that steps read and wrote")
}

/// The steps that read or wrote a file, where a path names one.
fn of_file(graph: &Graph<'_>, path: &str, cx: &Context<'_>) -> Vec<NodeId> {
    let wanted = WantedFile::read(path, cx.env);
    let files: Vec<(NodeId, FilePlace)> = graph
        .nodes()
        .filter_map(|(id, node)| match &node.body {
            Body::File { path, project } => {
                Some((id, FilePlace::of(path, Some(*project).filter(|it| !it.is_empty()), cx.env)))
            }
            _ => None,
        })
        .collect();
    let chosen: HashSet<&FilePlace> =
        wanted.choose(files.iter().map(|(_, place)| place).collect::<Vec<_>>().into_iter()).into_iter().collect();
    let chosen = files.iter().filter(|(_, place)| chosen.contains(place)).map(|(id, _)| *id);
    let mut steps: Vec<NodeId> = chosen
        .flat_map(|file| [EdgeKind::Writes, EdgeKind::Reads].map(|kind| graph.sources(file, kind).collect::<Vec<_>>()))
        .flatten()
        .filter(|node| graph.node(*node).kind() == NodeKind::Step)
        .collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}

#[derive(Debug, Serialize)]
struct DependencyRow {
    reference: String,
    /// Below 0 for what it depends on.
    depth: i64,
    /// Depends on nothing.
    root: bool,
    /// Nothing depends on it.
    leaf: bool,
    kind: &'static str,
    label: String,
}

impl DependencyRow {
    fn of(graph: &Graph<'_>, node: NodeId, depth: i64) -> Self {
        let it = graph.node(node);
        Self {
            reference: graph.key(node),
            depth,
            root: !graph.out(node).iter().any(|edge| edge.kind.is_dependency()),
            leaf: !graph.incoming(node).any(|edge| edge.kind.is_dependency()),
            kind: it.kind().as_str(),
            label: it.label(),
        }
    }
}

#[derive(Debug, Serialize)]
struct Dependencies {
    schema: u32,
    steps: Vec<DependencyRow>,
}

impl PlainOutput for Dependencies {
    fn is_no(&self) -> bool {
        self.steps.is_empty()
    }

    fn shown(&self, view: &View) -> String {
        let mut out = String::new();
        let wide = self.steps.iter().map(|row| row.reference.chars().count()).max().unwrap_or(0).min(70);
        for row in &self.steps {
            let mark = match (row.root, row.leaf) {
                (true, true) => "alone",
                (true, false) => "root",
                (false, true) => "leaf",
                (false, false) => "",
            };
            let depth = if row.depth == 0 { "0".to_owned() } else { format!("{:+}", row.depth) };
            let name = paint(style::ID, format_args!("{:<wide$}", one_line(&row.reference)));
            let room = if view.terminal { view.width.saturating_sub(wide + 16).max(20) } else { usize::MAX };
            let label = cut(&one_line(&row.label), room);
            let line = format!("{depth:>4}  {name}  {}  {label}", paint(style::DIM, format_args!("{mark:<5}")));
            let _ = writeln!(out, "{}", line.trim_end());
        }
        out
    }
}
