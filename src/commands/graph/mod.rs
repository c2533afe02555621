//! `cru graph`.

mod count;
mod row;
mod states;
mod tree;

use crate::base::{Error, Result};
use crate::commands::words::words;
use crate::commands::{Context, Format, Output, View, reading, workflow};
use crate::graph::export::{canvas, dot, json, mermaid};
use crate::graph::{Depth, Graph, Picture};
use crate::vault::{Catalog, Loaded};

/// Show sessions, phases, steps and files as a graph
///
/// Without SESSION the whole vault: sessions below those they came out of, and the files that several of them touched.
/// With SESSION its phases and steps, its sub-agents in their places, and what depends on what. Of a workflow, `w:NAME`, which step
/// waits for which.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Formats: text, json, toon, mermaid, dot (Graphviz), canvas (JSON Canvas; save it as a `.canvas` file in \
                        the vault and open it in Obsidian)."
)]
pub struct Args {
    /// Path, file name, id, or enough of one to tell it apart; or `w:NAME`
    session: Option<String>,
    /// The smallest thing to show; else `phase` for the vault, `step` for one session
    #[arg(short, long, value_name = "DEPTH", value_parser = words::<Depth>())]
    depth: Option<Depth>,
    /// The states of SESSION: where the work stood after each turn, and how the person went on
    #[arg(long, requires = "session", conflicts_with = "depth")]
    states: bool,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    if let Some(name) = args.session.as_deref().and_then(|name| name.strip_prefix("w:")) {
        if args.states || args.depth.is_some() || cx.global.format == Format::Canvas {
            return Err(Error::usage("--states, --depth and the format canvas are of sessions"));
        }
        return workflow::draw(name, cx);
    }
    let (vault, catalog) = reading::vault_with_catalog(cx)?;
    let focus = args.session.as_deref().map(|name| catalog.session(name, &vault, cx.env)).transpose()?;
    if let Some(head) = focus.filter(|_| args.states) {
        cx.global.reach.check(&head.meta)?;
        if cx.global.format == Format::Canvas {
            return Err(
                Error::usage("the states of a session have no canvas").with_hint("text, json, toon, mermaid or dot")
            );
        }
        return Ok(Box::new(states::ShownStates { session: vault.load(&head.path)?.session }));
    }
    let (sessions, problems) = vault.load_sessions(&catalog);
    for problem in &problems {
        cx.ui.warn(&problem.diagnostic.message);
    }
    let focus = match focus {
        None => None,
        Some(head) => {
            let number = sessions.iter().position(|loaded| loaded.path == head.path);
            let number = number.and_then(|number| u32::try_from(number).ok());
            Some(number.ok_or_else(|| Error::no(format!("{} could not be read", head.path)))?)
        }
    };
    let whole = if focus.is_some() { Depth::Step } else { Depth::Phase };
    let shown = ShownGraph { catalog, sessions, focus, depth: args.depth.unwrap_or(whole) };
    if cx.global.format == Format::Mermaid {
        warn_about_size(&shown, cx);
    }
    Ok(Box::new(shown))
}

/// Programs that draw Mermaid refuse large diagrams without saying what to do.
fn warn_about_size(shown: &ShownGraph, cx: &Context<'_>) {
    let graph = shown.graph();
    let picture = shown.picture(&graph);
    let text = mermaid::export(&picture);
    if picture.arrows.len() > mermaid::MOST_EDGES || text.len() > mermaid::MOST_TEXT {
        let smaller = match shown.depth {
            Depth::Step => "`--depth phase` makes it smaller",
            Depth::Phase if shown.focus.is_none() => "`--depth session`, or one session alone, makes it smaller",
            Depth::Phase | Depth::Session => "`-f dot` has no such limit",
        };
        cx.ui.warn(&format!("most programs will not draw so large a Mermaid diagram; {smaller}"));
    }
}

/// What was read, and what part of it to show.
struct ShownGraph {
    catalog: Catalog,
    sessions: Vec<Loaded>,
    focus: Option<u32>,
    depth: Depth,
}

impl ShownGraph {
    fn graph(&self) -> Graph<'_> {
        Graph::of(&self.catalog, &self.sessions)
    }

    fn picture<'g, 'a>(&self, graph: &'g Graph<'a>) -> Picture<'g, 'a> {
        Picture::of(graph, self.focus, self.depth)
    }
}

impl Output for ShownGraph {
    fn text(&self, view: &View) -> String {
        let graph = self.graph();
        tree::render(&self.picture(&graph), view)
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        let graph = self.graph();
        Ok(json::export(&self.picture(&graph)))
    }

    fn export(&self, format: Format) -> Option<String> {
        let graph = self.graph();
        let picture = self.picture(&graph);
        match format {
            Format::Mermaid => Some(mermaid::export(&picture)),
            Format::Dot => Some(dot::export(&picture)),
            Format::Canvas => {
                let mut text = serde_json::to_string_pretty(&canvas::export(&picture)).ok()?;
                text.push('\n');
                Some(text)
            }
            _ => None,
        }
    }
}
