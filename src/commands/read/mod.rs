//! `cru read`: what an agent says of a session, checked against the record.

mod answer;
mod batch;
mod check;
mod decide;
mod diff;
mod from;
mod one;
mod prompt;
mod shelf;
mod show;
mod source;
mod text;
mod title;
mod write;

use std::path::PathBuf;

use super::cases::{self, CasesToJudge};
use super::session::filter::SessionFilter;
use super::subject::marked;
use super::{Context, Output};
use crate::base::{Error, Result};

pub(super) use check::checked;
pub(super) use decide::{decide, is_known, reword};
pub(super) use diff::diff;
pub(super) use from::{TakenHow, take, text_of};
pub(super) use shelf::Shelf;
pub(super) use show::show;
pub(super) use source::recorded;

/// Read sessions with an agent, and check every claim against the record
///
/// An agent reads the record of a session and says what was asked and what came of it: the brief. With --deep it also says what can
/// be learned and which steps belong together. Each sentence cites steps or words; what the record does not show is refused.
/// The reading is a note `readings/SESSION@1.md` and changes nothing of the record.
///
/// `cru read c:ID` has cases judged instead: a reader of cases says which of them anybody should learn from, `good`, `weak` or `harmful`.
/// `c:` alone means all that are not rejected, have an answer and are not judged yet.
///
/// A brief of which every statement is proven counts at once: it gives the session its title and the summary on top of its note.
/// `cru review reject` takes that back. Everything else is proposed until somebody accepts it.
///
/// The agent is the program that `[agent] command` of your own configuration names. Without one, `--prompt` prints the
/// prompt and `--from` takes the answer. Without SESSION and without `--all`, `--since` or `--pending`: the current session,
/// else the newest.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  cru read --prompt 2026-11-20-refresh-tokens > prompt.txt
  cru read --from answer.json 2026-11-20-refresh-tokens
  cru read --all --since 7d --dry-run
  cru review
  cru review accept 2026-11-20-refresh-tokens

`[agent]` of your own configuration: command = [\"claude\", \"-p\"], timeout = 300, model = \"…\" (a name for the notes), \
judge = [\"…\"] (a second reader, better of another model).")]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub struct Args {
    /// Which sessions; or `c:ID …`, which cases
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    /// Print the prompt and start nothing
    #[arg(long, conflicts_with_all = ["all", "pending", "from", "dry_run"])]
    prompt: bool,
    /// Which part of a prompt that is longer than the limit, from 1
    #[arg(long, value_name = "N", requires = "prompt")]
    part: Option<usize>,
    /// Take an answer from a file, or from stdin with `-`; given again, the answers to the parts of one session
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "pending", "dry_run"])]
    from: Vec<PathBuf>,
    /// Who wrote the answer, for `reader` in the note
    #[arg(long, value_name = "NAME", requires = "from")]
    reader: Option<String>,
    /// All sessions with something worth a look or three prompts; none of sub-agents
    #[arg(long, conflicts_with = "sessions")]
    all: bool,
    /// Only sessions that have no reading of what they are now
    #[arg(long, conflicts_with = "sessions")]
    pending: bool,
    /// Read for cases, lessons, workflow and segments too; without it, the brief: title, outcome, requests, what is not verified,
    /// open or contradicted
    #[arg(long)]
    deep: bool,
    /// Only these parts, and --deep: cases, lessons, summary, workflow, segments
    #[arg(long, value_name = "PART,…", value_delimiter = ',', value_parser = ["cases", "lessons", "summary", "workflow", "segments"])]
    only: Vec<String>,
    /// Estimated tokens that a run may send
    #[arg(long, value_name = "TOKENS", default_value_t = 200_000)]
    budget: u64,
    /// No more than `[agent] daily_tokens` leaves of this day
    #[arg(long, hide = true)]
    daily: bool,
    /// Say which sessions would be read, with estimated tokens, and start nothing
    #[arg(long)]
    dry_run: bool,
    /// Read again what was read, into a new version
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    filter: SessionFilter,
}

impl Args {
    /// Whether it prints a prompt and nothing else.
    pub(super) const fn only_prints(&self) -> bool {
        self.prompt
    }

    /// What is asked of cases.
    fn of_cases(&self, ids: Vec<String>) -> Result<CasesToJudge> {
        let has_more =
            self.from.len() > 1 || self.part.is_some() || self.is_deep() || self.filter != SessionFilter::default();
        if has_more || self.dry_run || self.daily {
            let which = "`--prompt`, `--from FILE` once, `--reader`, `--again` and `--budget` are the options of cases";
            return Err(Error::usage("this option is one of sessions").with_hint(which));
        }
        Ok(CasesToJudge {
            ids,
            prompt: self.prompt,
            from: self.from.first().cloned(),
            reader: self.reader.clone(),
            again: self.again,
            budget: self.budget,
        })
    }

    /// Whether more than the brief is asked for.
    fn is_deep(&self) -> bool {
        self.deep || !self.only.is_empty()
    }
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    if let Some(ids) = marked("c:", &args.sessions) {
        return cases::judge(&args.of_cases(ids)?, cx);
    }
    if args.prompt {
        prompt::run(args, cx)
    } else if args.from.is_empty() {
        batch::run(args, cx)
    } else {
        from::run(args, cx)
    }
}
