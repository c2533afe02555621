//! `cru summary`: accounts of a day, a week or a topic.

mod page;
mod period;
mod topic;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::{Context, Output, PlainOutput, View, reading};
use crate::base::{Error, Result};
use crate::vault::Vault;

pub(super) use page::refresh_daily;

/// Sum up a day, a week or a topic
///
/// Of a day: sessions with their time, steps and proof; what was asked, corrected, decided, committed and learned; errors and what is
/// open. A session stands on each day on which it has steps, with the facts of that day. At most 5 kB; what has no room is counted.
/// The day is that of `[summary] zone` in `.cru/config.toml`, else of `[vault] zone`. A week is the ISO week of a date. Of a topic:
/// lessons, decisions, errors and sessions, of the sessions with a tag, or of the phases that wrote files below a path.
///
/// With `--write` it stands between markers in `summaries/NAME.md`, a day in your daily note where `[summary] daily =
/// "Daily/{date}.md"` names it; what you write around it stays. A daily note is then brought up to date when a session ends.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What is summed up
    #[arg(value_enum)]
    kind: SummaryKind,
    /// Of a day or week a date, `2026-11-20`, `today`, `yesterday`, else today; of a topic a tag, with or without `#`, or a path with a `/`
    #[arg(value_name = "DATE|TAG|PATH", required_if_eq("kind", "topic"))]
    of: Option<String>,
    /// Write it between markers into its note
    #[arg(long)]
    write: bool,
}

/// What is summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SummaryKind {
    /// One day
    Day,
    /// One week
    Week,
    /// A tag or a folder
    Topic,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = reading::vault(cx)?;
    let of = args.of.as_deref().unwrap_or("today");
    let told = match args.kind {
        SummaryKind::Day => period::day(date(of, &vault, cx)?, &vault, cx)?,
        SummaryKind::Week => period::week(date(of, &vault, cx)?, &vault, cx)?,
        SummaryKind::Topic => topic::topic(of, &vault, cx)?,
    };
    Ok(Box::new(if args.write { page::write(told, &vault)? } else { told }))
}

/// The zone whose days are meant.
fn zone(vault: &Vault) -> TimeZone {
    let config = vault.config();
    config.summary.zone.clone().unwrap_or_else(|| config.zone.clone())
}

/// The day it is.
pub(super) fn today(vault: &Vault, cx: &Context<'_>) -> Date {
    cx.env.now().to_zoned(zone(vault)).date()
}

fn date(text: &str, vault: &Vault, cx: &Context<'_>) -> Result<Date> {
    let today = today(vault, cx);
    let odd = || Error::usage(format!("'{text}' is no date")).with_hint("write 2026-11-20, today or yesterday");
    match text {
        "today" => Ok(today),
        "yesterday" => today.yesterday().map_err(|_| odd()),
        text => text.parse().map_err(|_| odd()),
    }
}

/// An account, and where it stands.
#[derive(Debug, Serialize)]
struct ToldSummary {
    schema: u32,
    /// `day`, `week`, `topic`.
    kind: &'static str,
    /// `2026-11-20`, `2026-W47`, the topic.
    name: String,
    /// IANA name of the zone whose days are meant; empty for a topic.
    zone: String,
    sessions: u64,
    /// Markdown.
    text: String,
    /// The note that has it, where it was asked to be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// Whether the note was changed.
    written: bool,
}

impl PlainOutput for ToldSummary {
    fn shown(&self, _: &View) -> String {
        match &self.note {
            Some(note) if self.written => format!("{note}  written\n"),
            Some(note) => format!("{note}  as it was\n"),
            None => self.text.clone(),
        }
    }
}
