//! `cru resolve`: the files behind steps.

use std::fmt::Write as _;

use serde::Serialize;

use super::TraceWorld;
use super::refs::NamedThing;
use crate::base::{Error, Result};
use crate::commands::output::PlainOutput;
use crate::commands::{Context, Output, View};
use crate::session::FileRef;

/// Print the files of steps
///
/// REF is `^` (the last step of the current session), `^2` (the one before), `n-014`, `14`, `SESSION#n-014`, `@NAME` (a
/// step, a bookmark or a file) or a range `n-003..n-007`. Prints what a step wrote, else what it read, one path a line.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 success, 1 no such step or no file, 2 usage error, 3 I/O error.")]
pub struct Args {
    /// Which steps
    #[arg(required = true, value_name = "REF")]
    references: Vec<String>,
}

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let world = TraceWorld::read(cx)?;
    let references = world.references(None, cx);
    let mut things = Vec::new();
    for text in &args.references {
        for thing in references.all(text)? {
            things.push(match thing {
                NamedThing::File(path) => {
                    ResolvedThing { paths: vec![path.clone()], reference: path, ..ResolvedThing::default() }
                }
                NamedThing::Block(block) => {
                    let step = block.step();
                    let paths = |files: &[FileRef]| files.iter().map(|file| file.path.clone()).collect::<Vec<_>>();
                    let (reads, writes) = step.map(|it| (paths(&it.reads), paths(&it.writes))).unwrap_or_default();
                    let own = if writes.is_empty() { reads.clone() } else { writes.clone() };
                    ResolvedThing {
                        reference: block.key(),
                        note: Some(block.path.to_string()),
                        line: Some(super::line_of(&world.vault, &block.path, span(&block))),
                        tool: step.map(|it| it.tool.clone()),
                        args: step.map(|it| it.full_args().to_owned()),
                        paths: own,
                        reads,
                        writes,
                    }
                }
            });
        }
    }
    if things.iter().all(|it| it.paths.is_empty()) && !cx.global.format.is_json() {
        let names: Vec<&str> = things.iter().map(|it| it.reference.as_str()).collect();
        let verb = if names.len() == 1 { "reads and writes" } else { "read and write" };
        return Err(Error::no(format!("{} {verb} no file that the note names", names.join(", ")))
            .with_hint("`cru show` shows a step, `-f json` its call"));
    }
    Ok(Box::new(Resolved { schema: 1, things }))
}

fn span(block: &super::refs::NamedBlock) -> usize {
    block.place.item_in(&block.session).map_or(0, |item| item.span().start)
}

#[derive(Debug, Default, Serialize)]
struct ResolvedThing {
    reference: String,
    note: Option<String>,
    line: Option<u64>,
    tool: Option<String>,
    args: Option<String>,
    /// What it wrote, else what it read.
    paths: Vec<String>,
    reads: Vec<String>,
    writes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Resolved {
    schema: u32,
    things: Vec<ResolvedThing>,
}

impl PlainOutput for Resolved {
    fn is_no(&self) -> bool {
        self.things.is_empty()
    }

    fn shown(&self, _: &View) -> String {
        let mut out = String::new();
        for path in self.things.iter().flat_map(|it| &it.paths) {
            let _ = writeln!(out, "{}", crate::base::text::one_line(path));
        }
        out
    }
}
