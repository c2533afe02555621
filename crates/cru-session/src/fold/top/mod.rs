//! The summary on top of a note: facts of the record, and words of the person and of the agent as quotations.
//!
//! Nothing is judged, paired or concluded here: that is a reader's. A line without content is left out.

mod made;
mod open;

use cru_action::is_outside;
use cru_base::text::plural;

use self::made::{ChangedFile, LINE, Made, SHORT, file, listed};
use super::planned::PlannedChecks;
use super::step::StepDraft;
use crate::open::{OpenPoint, open_line};
use crate::words::{quote, shorten};
use crate::{Session, active_ms};

/// Characters of the person's words, and of the agent's.
const QUOTED: usize = 200;

/// Files, commits, addresses and checks that are named; of more their number is told.
const FILES: usize = 5;
const COMMITS: usize = 3;
const CHECKS: usize = 3;

/// Between two lines, and the most characters of a quotation's name, quotes and count.
pub(in crate::fold) const BREAK: &str = "  \n";
const FRAME: usize = 34;

/// What the stream knows beside its steps.
#[derive(Debug)]
pub(in crate::fold) struct Told<'a> {
    /// The words of the first request, and how many more there were.
    pub(in crate::fold) asked: Option<&'a str>,
    pub(in crate::fold) more: usize,
    /// The agent's closing words: nothing was done after them.
    pub(in crate::fold) conclusion: Option<&'a str>,
    /// Whether the host's records hold no words of the agent at all.
    pub(in crate::fold) is_silent: bool,
    /// Whether they are a question that nobody answered.
    pub(in crate::fold) asks: bool,
    /// The last plan that was given or approved.
    pub(in crate::fold) planned: Option<PlannedChecks>,
    /// Whether a branch is known, without which there may be no repository.
    pub(in crate::fold) has_branch: bool,
    /// How it ended otherwise.
    pub(in crate::fold) end: Option<&'static str>,
    /// The working directory, as paths below it are written.
    pub(in crate::fold) project: Option<&'a str>,
}

/// What the record alone shows of what a session left open.
pub(in crate::fold) fn open_points(told: &Told<'_>, steps: &[StepDraft]) -> Vec<OpenPoint> {
    open::points(told, &Made::of(steps, told.project), steps)
}

/// The callout's body without its last line, [`time_line`]: at most eight lines and 900 characters with it; `None` where there is no more than what was asked. `open` is
/// all that is open, tasks of the note included.
pub(in crate::fold) fn body(told: &Told<'_>, open: &[OpenPoint], steps: &[StepDraft]) -> Option<String> {
    let made = Made::of(steps, told.project);
    let commits = made.commits.iter().map(|commit| commit.field());
    let facts = [
        ("Files", files(&made, told.project)),
        ("Commits", listed(commits.map(|commit| shorten::at_word(&commit, SHORT)), "; ", COMMITS)),
        ("Published", listed(made.published(), "; ", COMMITS)),
        ("Checks", made.checks(CHECKS)),
        ("Open", open_line(open)),
    ];
    let line = |(name, value): (&str, Option<String>)| {
        let cut = shorten::at_word(&value?, LINE);
        // Code that is cut ends with the line.
        let end = if cut.ends_with('…') && cut.matches('`').count() % 2 == 1 { "`" } else { "" };
        Some(format!("{name}: {cut}{end}"))
    };
    let says = facts.iter().any(|(_, value)| value.is_some());
    let facts: Vec<String> = facts.into_iter().filter_map(line).collect();
    let lines = facts.iter().map(String::as_str).chain([LONGEST_TIME]);
    let taken: usize = lines.map(|line| line.chars().count() + BREAK.len()).sum();
    // Facts come first where there is no room for all: the words stand below anyhow.
    // Characters of the whole.
    let room = (900_usize.saturating_sub(taken) / 2).saturating_sub(FRAME).min(QUOTED);
    let asked = asked(told, room).map(|words| format!("Asked: {words}"));
    let last = told.conclusion.and_then(|words| quotation(words, room)).map(|words| format!("Agent, last: {words}"));
    let says = says || last.is_some();
    let lines: Vec<String> = asked.into_iter().chain(last).chain(facts).collect();
    says.then(|| lines.join(BREAK))
}

/// `"Mend the pump" (+ 2 requests)`.
fn asked(told: &Told<'_>, room: usize) -> Option<String> {
    let words = quotation(told.asked?, room)?;
    Some(match told.more {
        0 => words,
        more => format!("{words} (+ {})", plural(more as u64, "request")),
    })
}

/// Somebody's words as they were said, the first sentences of them.
fn quotation(words: &str, room: usize) -> Option<String> {
    let words = quote(words, room);
    (!words.is_empty()).then(|| format!("\"{words}\""))
}

/// The files of the project by lines changed, those that programs write last; of others beside them the number.
fn files(made: &Made<'_>, project: Option<&str>) -> Option<String> {
    let mut all: Vec<&ChangedFile> = made.files.iter().collect();
    // The sort keeps the order of the record where nothing else decides.
    all.sort_by_key(|file| (file.is_by_program() || file.deleted, std::cmp::Reverse(file.size())));
    let (outside, inside): (Vec<_>, Vec<_>) = all.into_iter().partition(|file| is_outside(&file.path, project));
    let of = |files: Vec<&ChangedFile>| listed(files.into_iter().map(|count| file(count, project)), ", ", FILES);
    if inside.is_empty() {
        return of(outside);
    }
    let line = of(inside)?;
    Some(match outside.len() {
        0 => line,
        more => format!("{line}; {} outside the project", plural(more as u64, "file")),
    })
}

/// The longest that [`time_line`] gives.
const LONGEST_TIME: &str = "Time: 47 h 59 min active, 9999 days in all";

/// `Time: 34 min active, 2 h 10 min in all`; nothing below a minute.
pub(in crate::fold) fn time_line(session: &Session) -> Option<String> {
    let spell = |seconds: i64| match (seconds / 60, seconds / 3600) {
        (minutes, 0) => format!("{minutes} min"),
        (minutes, hours @ 1..48) if minutes % 60 > 0 => format!("{hours} h {} min", minutes % 60),
        (_, hours @ 1..48) => format!("{hours} h"),
        (_, hours) => format!("{} days", hours / 24),
    };
    let active = i64::try_from(active_ms(session)? / 1_000).ok().filter(|active| *active >= 60)?;
    let whole = session.meta.started.zip(session.meta.ended).map_or(0, |(from, to)| to.as_second() - from.as_second());
    // Less than a tenth more is the same.
    let longer = whole > active + active / 10 + 60;
    let in_all = if longer { format!(", {} in all", spell(whole)) } else { String::new() };
    Some(format!("Time: {} active{in_all}", spell(active)))
}
