//! The account of an import as people read it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anstyle::Style;

use crate::base::text::{note_name, plural, sanitise, thousands};
use crate::commands::output::byte_size;
use crate::commands::output::style::{self, paint};
use crate::commands::{Output, View};
use crate::import::UNREADABLE;
use crate::sync::report::{Outcome, Report, SessionReport};

/// The exit code of an import that could not read a file.
const UNREAD: u8 = 2;

/// Rows of a list before the rest is only counted.
const LISTED: usize = 12;

/// A report and how much of it is wanted.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) report: Report,
    /// Shown as `~`.
    pub(super) home: Option<PathBuf>,
    /// List everything.
    pub(super) verbose: bool,
}

impl Output for Account {
    fn text(&self, _: &View) -> String {
        self.told() + self.next()
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(&self.report)
    }

    fn exit_code(&self) -> u8 {
        if self.report.unread().is_empty() { 0 } else { UNREAD }
    }
}

impl Account {
    /// What became of the sessions, files and records.
    fn told(&self) -> String {
        let report = &self.report;
        let mut text = String::new();
        let verb = if report.dry_run { "Would import" } else { "Imported" };
        let _ = writeln!(text, "{}", paint(style::TITLE, format_args!("{verb} from {}", report.title)));
        for outcome in Outcome::ALL {
            let count = report.count(outcome);
            if count > 0 || outcome == Outcome::Created {
                let children = report.with(outcome).filter(|session| session.subagent).count();
                let _ = writeln!(text, "  {}", summary(outcome, count, children, report.new_records));
            }
        }
        if report.earlier_files > 0 {
            let files = plural(report.earlier_files, "file");
            let _ = writeln!(text, "  {}", paint(style::DIM, format_args!("{files} skipped by --since, not read")));
        }
        if report.filtered_files > 0 {
            let files = plural(report.filtered_files, "file");
            let said = format_args!("{files} of skipped sessions, not counted below");
            let _ = writeln!(text, "  {}", paint(style::DIM, said));
        }
        let made = report.with(Outcome::Created).filter(|session| self.verbose || !session.subagent);
        list(&mut text, "New notes", made.map(|session| row(session, session.title.as_deref())), self.verbose);
        let grown = report.with(Outcome::Grown);
        let grown = grown.map(|session| row(session, session.detail.as_deref()));
        list(&mut text, "Left as they are", grown, self.verbose);
        let rewritten = report.sessions.iter().filter(|session| session.rewritten && session.outcome != Outcome::Grown);
        let rewritten = rewritten.map(|session| row(session, session.detail.as_deref()));
        list(&mut text, "Rewritten transcripts", rewritten, self.verbose);
        self.records(&mut text);
        self.masked(&mut text);
        self.kept(&mut text);
        let without = report.files.iter().filter_map(|file| {
            if file.unread.is_some() {
                return None;
            }
            // What somebody chose to leave out need not be told one by one.
            let reason =
                file.reason.as_deref().filter(|reason| self.verbose || !reason.starts_with("skipped by --"))?;
            Some((file.path.as_path(), reason))
        });
        files(&mut text, "Files without a note", without, report.other_files, (self.home.as_deref(), self.verbose));
        self.unread(&mut text);
        text
    }

    /// What to do next; nothing where nothing was made.
    fn next(&self) -> &'static str {
        match (self.report.dry_run, self.report.count(Outcome::Created)) {
            (true, _) => "\nDry run complete: nothing was written. Run it without --dry-run to import.\n",
            (false, 0) => "",
            (false, _) => "\nNext: `cru list` shows them.\n",
        }
    }

    /// Names the files that could not be read.
    fn unread(&self, text: &mut String) {
        let row = |(path, why): (&Path, &str)| {
            let path = short(path, self.home.as_deref());
            format!("{path}  {}", paint(style::BAD, sanitise(why)))
        };
        list(text, "Files that could not be read", self.report.unread().into_iter().map(row), true);
    }

    /// How many records are in notes, and why the others are not.
    fn records(&self, text: &mut String) {
        let all = &self.report.records;
        let known = self.report.known_files;
        let counted = (self.report.files.len() as u64).saturating_sub(self.report.filtered_files);
        let files = plural(counted, "file");
        if known > 0 {
            let is = if known == 1 { "is" } else { "are" };
            let _ = writeln!(text, "\n{} {is} as at the last import: not read again", plural(known, "file"));
        }
        if all.records == 0 && (known > 0 || (counted == 0 && self.report.filtered_files > 0)) {
            return;
        }
        let _ = writeln!(text, "\n{} in {files}", plural(all.records, "record"));
        let _ = writeln!(text, "  {:>8}  in notes", thousands(all.represented));
        let mut skipped: Vec<_> = all.skipped.iter().collect();
        skipped.sort_by_key(|(reason, count)| (Reverse(**count), **reason));
        for (reason, count) in skipped {
            let _ =
                writeln!(text, "  {}", paint(style::DIM, format_args!("{:>8}  skipped: {reason}", thousands(*count))));
        }
        let lines = self.report.unknown.iter().map(|kind| sanitise(&kind.line(self.report.host)).into_owned());
        list(text, "Not known to this version", lines, self.verbose);
        if !self.report.unknown.is_empty() {
            let hint = "`cru import --report-format FILE` prints keys and types of a file, no text, for a report";
            let _ = writeln!(text, "  {}", paint(style::DIM, hint));
        }
    }

    /// What was kept of the transcripts.
    fn kept(&self, text: &mut String) {
        let Some(kept) = &self.report.kept else { return };
        let more = match kept.new_bytes {
            0 => "nothing new".to_owned(),
            new => format!("{} more, which take {}", byte_size(new), byte_size(kept.packed_bytes)),
        };
        let _ = writeln!(text, "\nCopies of {} in evidence/: {more}", plural(kept.files, "file"));
        if kept.not_kept > 0 {
            let not = plural(kept.not_kept, "file");
            let _ = writeln!(text, "  {}", paint(style::DIM, format_args!("{not} not kept: databases, or too large")));
        }
    }

    /// What was taken out, by rule: never the values.
    fn masked(&self, text: &mut String) {
        let masked = &self.report.masked;
        if masked.is_empty() {
            return;
        }
        let verb = if self.report.dry_run { "would be masked" } else { "masked" };
        let _ = writeln!(text, "\n{} {verb}", plural(masked.values().sum(), "secret"));
        let mut rules: Vec<_> = masked.iter().collect();
        rules.sort_by_key(|(rule, count)| (Reverse(**count), **rule));
        for (rule, count) in rules {
            let _ = writeln!(text, "  {:>8}  {rule}", thousands(*count));
        }
    }
}

/// Files that gave no note, each with its reason; where they are many, how many for which reason.
fn files<'f>(
    text: &mut String,
    title: &str,
    rows: impl Iterator<Item = (&'f Path, &'f str)>,
    others: u64,
    (home, all): (Option<&Path>, bool),
) {
    let rows: Vec<(&Path, &str)> = rows.collect();
    if all || rows.len() <= LISTED {
        let row = |(path, reason): (&Path, &str)| format!("{}  {}", short(path, home), paint(style::DIM, reason));
        list(text, title, rows.into_iter().map(row), true);
    } else {
        let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
        for (_, reason) in &rows {
            *reasons.entry(reason).or_default() += 1;
        }
        let mut reasons: Vec<_> = reasons.into_iter().collect();
        reasons.sort_by_key(|(reason, count)| (Reverse(*count), *reason));
        let title = format!("{title}: {} (-v lists them)", thousands(rows.len() as u64));
        let row = |(reason, count): (&str, u64)| format!("{:>8}  {}", thousands(count), paint(style::DIM, reason));
        list(text, &title, reasons.into_iter().map(row), true);
    }
    if others > 0 {
        let said =
            format!("{} in the folders not named like a transcript: not looked into", plural(others, "other file"));
        let _ = writeln!(text, "\n{}", paint(style::DIM, said));
    }
}

/// A titled list; what is more than a screen takes is counted.
fn list(text: &mut String, title: &str, rows: impl Iterator<Item = String>, all: bool) {
    let rows: Vec<String> = rows.collect();
    if rows.is_empty() {
        return;
    }
    let shown = if all || rows.len() <= LISTED + 2 { rows.len() } else { LISTED };
    let _ = writeln!(text, "\n{}", paint(style::TITLE, title));
    for row in rows.iter().take(shown) {
        let _ = writeln!(text, "  {row}");
    }
    if shown < rows.len() {
        let more = format!("… and {} more (-v lists them)", thousands((rows.len() - shown) as u64));
        let _ = writeln!(text, "  {}", paint(style::DIM, more));
    }
}

fn short(path: &Path, home: Option<&Path>) -> String {
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    let text = below.map_or_else(|| path.to_string_lossy().into_owned(), |rest| format!("~/{}", rest.display()));
    sanitise(&text).into_owned()
}

/// The accounts of several agents, one after the other.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    pub(super) agents: Vec<Account>,
    /// Files that were named or found and are transcripts of no agent that is known.
    pub(super) strangers: Vec<(PathBuf, &'static str)>,
    /// Files in the folders that are named like no transcript.
    pub(super) others: u64,
    /// Shown as `~`.
    pub(super) home: Option<PathBuf>,
    /// List everything.
    pub(super) verbose: bool,
}

impl Output for Accounts {
    fn text(&self, _: &View) -> String {
        let mut text = self.agents.iter().map(Account::told).collect::<Vec<_>>().join("\n");
        let rows = self.strangers.iter().map(|(path, reason)| (path.as_path(), *reason));
        let how = (self.home.as_deref(), self.verbose);
        files(&mut text, "Files of no agent that is known", rows, self.others, how);
        text + self.agents.iter().map(Account::next).find(|next| !next.is_empty()).unwrap_or_default()
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        let reports = self.agents.iter().map(Output::json).collect::<serde_json::Result<Vec<_>>>()?;
        let stranger =
            |(path, reason): &(PathBuf, &str)| serde_json::json!({ "path": path.to_string_lossy(), "reason": reason });
        let strangers: Vec<_> = self.strangers.iter().map(stranger).collect();
        Ok(serde_json::json!({
            "schema": 1, "reports": reports, "strangers": strangers, "other_files": self.others,
        }))
    }

    fn exit_code(&self) -> u8 {
        let strange = self.strangers.iter().any(|(_, reason)| *reason == UNREADABLE);
        let own = self.agents.iter().map(Output::exit_code).max().unwrap_or(0);
        if strange { UNREAD } else { own }
    }
}

/// `73 sessions new (12 of sub-agents)`.
fn summary(outcome: Outcome, count: u64, children: usize, new_records: u64) -> String {
    let (look, words) = match outcome {
        Outcome::Created => (style::GOOD, "new"),
        Outcome::Updated => (style::GOOD, "updated"),
        Outcome::Unchanged => (Style::new(), "unchanged"),
        Outcome::Grown => (style::WARN, "with a transcript that changed since; their notes were left as they are"),
        Outcome::Deleted => (style::DIM, "skipped: the note is gone; --restore makes it again"),
        Outcome::Forgotten => (style::DIM, "skipped by --forget; --restore takes them up again"),
        Outcome::Empty => (style::DIM, "empty: no prompt, or no answer to it"),
        Outcome::Excluded => (style::DIM, "skipped by [import] exclude"),
        Outcome::Duplicate => (style::DIM, "found twice; the first was taken"),
        Outcome::Earlier => (style::DIM, "skipped by --since"),
        Outcome::Elsewhere => (style::DIM, "skipped by --project"),
    };
    let children =
        if children > 0 { format!(" ({} of sub-agents)", thousands(children as u64)) } else { String::new() };
    let records = match outcome {
        Outcome::Updated if new_records > 0 => format!(" (+{})", plural(new_records, "record")),
        _ => String::new(),
    };
    paint(look, format_args!("{} {words}{children}{records}", plural(count, "session")))
}

/// A note and what is to be said of it.
fn row(session: &SessionReport, remark: Option<&str>) -> String {
    let name = session.note.as_deref().map_or(session.host_session.as_str(), note_name);
    format!("{}  {}", paint(style::ID, name), paint(style::DIM, remark.unwrap_or_default()))
}
