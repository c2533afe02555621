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

/// Accounts of what sessions did.
#[derive(Debug, clap::Subcommand)]
pub enum SummaryCommand {
    Day(PeriodArgs),
    Week(PeriodArgs),
    Topic(TopicArgs),
}

/// Sum up a day
///
/// Sessions with their time, steps and proof; what was asked, corrected, decided, committed and learned; errors and what is open. A
/// session stands on each day on which it has steps, with the facts of that day. At most 5 kB; what has no room is counted.
/// The day is that of `[summary] zone` in `.cru/config.toml`, else of `[vault] zone`.
///
/// With `--write` it stands between markers in `summaries/DATE.md`, or in your daily note where `[summary] daily = "Daily/{date}.md"` names
/// it; what you write around it stays. A daily note is then brought up to date when a session ends.
#[derive(Debug, clap::Args)]
pub struct PeriodArgs {
    /// A date `2026-11-20`, `today`, `yesterday`
    #[arg(default_value = "today", value_name = "DATE")]
    date: String,
    /// Write it between markers into its note
    #[arg(long)]
    write: bool,
}

/// Sum up a tag or a folder
///
/// Lessons, decisions, errors and sessions: of the sessions with a tag, or of the phases that wrote files below a path.
#[derive(Debug, clap::Args)]
pub struct TopicArgs {
    /// A tag, with or without `#`, or a path with a `/`
    #[arg(value_name = "TAG|PATH")]
    topic: String,
    /// Write it between markers into `summaries/TOPIC.md`
    #[arg(long)]
    write: bool,
}

impl SummaryCommand {
    pub(super) fn run(self, cx: &Context<'_>) -> Result<Box<dyn Output>> {
        let vault = reading::vault(cx)?;
        let (told, write) = match self {
            Self::Day(args) => (period::day(date(&args.date, &vault, cx)?, &vault, cx)?, args.write),
            Self::Week(args) => (period::week(date(&args.date, &vault, cx)?, &vault, cx)?, args.write),
            Self::Topic(args) => (topic::topic(&args.topic, &vault, cx)?, args.write),
        };
        Ok(Box::new(if write { page::write(told, &vault)? } else { told }))
    }
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
