//! `cru review`: the one inbox.

mod act;
mod collect;
mod learned;

use std::fmt::Write as _;

use serde::Serialize;

use super::output::style::{self, paint};
use super::{Context, Output, PlainOutput, View, reading};
use crate::base::Result;
use crate::base::text::{one_line, plural};
use crate::memory::review::{Mark, NOTE, ReviewItem};

/// Show what waits for a decision of yours
///
/// At most 20, most important first:
///
/// - transcripts that their host will delete, copies and conflicts of notes
///
/// - decisions and bookmarks that rest on what has changed, bookmarks that lead nowhere
///
/// - completed sessions with writes after their last check
///
/// - proposed lessons, readings and recipes, how many cases are proposed (`cru list cases`), and words that an agent logged, or a person said twice, as a lesson
///
/// - questions that are open for a week
///
/// With `--write` they stand in `review.md` of the vault, where you tick them: `[x]` accepts, `[-]` rejects, `[>]` puts off for a
/// week; of a ticked lesson your edited text is used. `--apply` acts on the ticks, each once; `--write` first applies the ticks that
/// are there, then writes the file anew. Items under `## Rejected` and `## Settled` are not shown again. With `--interactive` each item is
/// shown on a terminal, and it is asked whether to accept it, and if not, whether to reject it.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    /// Write them into `review.md`, after acting on its ticks
    #[arg(long)]
    write: bool,
    /// Act on the ticks in `review.md`
    #[arg(long)]
    apply: bool,
    /// Ask for each item whether it is accepted or rejected
    #[arg(short, long, conflicts_with_all = ["write", "apply"])]
    interactive: bool,
    #[command(subcommand)]
    command: Option<ReviewCommand>,
}

/// What is decided about items.
#[derive(Debug, clap::Subcommand)]
enum ReviewCommand {
    /// Accept: a lesson, a reading, a recipe or a case is right; any other item is marked as settled
    ///
    /// Lessons that a reading alone tells and nobody has decided about are accepted with it. Its cases become notes under `cases/`, and
    /// `cru learn` exports them.
    Accept(Ids),
    /// Reject: it is used nowhere and not shown again
    ///
    /// Lessons that a reading alone tells, and notes of its cases that nobody has touched, are rejected with it. A rejected case is in no
    /// export, and no run brings it back.
    Reject(Ids),
    /// Put off for a week
    Later(Ids),
}

/// Which items.
#[derive(Debug, clap::Args)]
struct Ids {
    /// `r-9f2c11ab`, as `cru review` shows it; a reading, its session, a lesson or a case by its id, or a part of that
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    match &args.command {
        Some(ReviewCommand::Accept(it)) => act::decide(&it.ids, Mark::Accept, cx),
        Some(ReviewCommand::Reject(it)) => act::decide(&it.ids, Mark::Reject, cx),
        Some(ReviewCommand::Later(it)) => act::decide(&it.ids, Mark::Later, cx),
        None if args.write || args.apply => act::apply(args.write, cx),
        None if args.interactive => act::ask(cx),
        None => {
            let (items, more) = act::waiting(&reading::vault(cx)?, cx)?;
            Ok(Box::new(Inbox { schema: 1, items, more, done: Vec::new(), written: false }))
        }
    }
}

/// Something that was decided.
#[derive(Debug, Serialize)]
struct DoneItem {
    id: String,
    what: &'static str,
    words: String,
}

#[derive(Debug, Serialize)]
struct Inbox {
    schema: u32,
    items: Vec<ReviewItem>,
    /// How many more wait.
    more: usize,
    /// What was decided now.
    done: Vec<DoneItem>,
    /// Whether `review.md` was written.
    written: bool,
}

impl PlainOutput for Inbox {
    fn shown(&self, _: &View) -> String {
        let mut out = String::new();
        for it in &self.done {
            let _ = writeln!(out, "{}  {}", it.what, one_line(&it.words));
        }
        if self.written {
            let _ = writeln!(out, "{NOTE}: {}", plural(self.items.len() as u64, "item"));
            return out;
        }
        if self.items.is_empty() && self.done.is_empty() {
            return "nothing waits for a decision\n".to_owned();
        }
        for item in &self.items {
            let _ = writeln!(out, "{}  {}", paint(style::ID, &item.id), one_line(&item.words()));
        }
        if self.more > 0 {
            let _ = writeln!(out, "{} more wait", self.more);
        }
        out
    }
}
