//! The arguments of `cru list`.

use jiff::Zoned;

use super::kind::ListKind;
use crate::base::Result;
use crate::commands::Format;
use crate::commands::session::filter::{Chosen, SessionFilter, session_column};
use crate::index::SessionRow;
use crate::index::query::{Field, TestValue};

/// List sessions, or rows of another kind: filter, group, aggregate
///
/// Without KIND: an overview of the sessions, without those of sub-agents; with `--grep`, `--by` or `--sum`, and with `--columns` in
/// another format than text, rows of `sessions`. With KIND: its rows, newest session first; within a
/// session, in the order of its note. The text shows a few columns; the formats json, jsonl, csv and toon hold them all;
/// markdown is the text as a table with links, for a note.
#[derive(Debug, clap::Args)]
#[command(after_long_help = ListKind::help(), after_help = "Columns, sums and the query language: --help")]
pub struct Args {
    /// What to list
    #[arg(value_enum)]
    pub(super) kind: Option<ListKind>,
    /// Limit the rows to these sessions; those of `workflows` and `runs` to these workflows
    #[arg(requires = "kind", value_name = "SESSION|WORKFLOW")]
    pub(super) of: Vec<String>,
    /// Include the sessions of sub-agents; of `checkpoints` those of all sessions
    #[arg(short, long)]
    pub(super) all: bool,
    /// Pick a session on the terminal: type to filter; it is shown, resumed or edited
    #[arg(short, long, conflicts_with_all = ["kind", "grep", "by", "aggregates"])]
    pub(super) interactive: bool,
    /// Only rows with this text in a column of text; case does not matter
    #[arg(long, value_name = "TEXT")]
    pub(super) grep: Option<String>,
    /// Which columns, in this order
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub(super) columns: Vec<String>,
    /// Group by a column: agent, channel, status, model, project, tool, day, week, or any other
    #[arg(long, alias = "group-by", value_name = "COLUMN,…", value_delimiter = ',', conflicts_with = "columns")]
    pub(super) by: Vec<String>,
    /// Aggregates: count, or sum, avg, min, max, p50, p95 of a column, such as `avg:duration_ms` [default: count]
    #[arg(
        long = "sum",
        alias = "agg",
        value_name = "FUNCTION:COLUMN,…",
        value_delimiter = ',',
        conflicts_with = "columns"
    )]
    pub(super) aggregates: Vec<String>,
    /// Order by a column, ascending; unknown values come last. Without KIND: started, cost, tokens, steps, failures, active or
    /// duration, descending, or title
    #[arg(long, value_name = "COLUMN")]
    pub(super) sort: Option<String>,
    /// Reverse the order
    #[arg(long)]
    pub(super) reverse: bool,
    /// Rows to show; 0 for all [default: 30 sessions as text, else all]
    #[arg(short = 'n', long, value_name = "N")]
    pub(super) limit: Option<usize>,
    #[command(flatten)]
    pub(super) filter: SessionFilter,
    #[command(flatten)]
    pub(super) more: More,
}

impl Args {
    /// The kind whose rows are listed; none where the overview of the sessions is.
    pub(super) fn rows_of(&self, format: Format) -> Option<ListKind> {
        let named = !self.columns.is_empty() && format != Format::Text && !self.interactive;
        let asks = named || self.grep.is_some() || !self.by.is_empty() || !self.aggregates.is_empty();
        self.kind.or(asks.then_some(ListKind::Sessions))
    }

    /// Whether what is listed leaves out sessions that are kept from who asks.
    pub(in crate::commands) fn minds_reach(&self) -> bool {
        self.kind.is_none_or(ListKind::minds_reach)
    }
}

/// Filters of this command alone; all that are given must hold, and case does not matter.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Filters")]
pub(super) struct More {
    /// A query on fields, `check=failed and duration_ms>=1000`; may be given again: all must hold
    #[arg(short = 'w', long = "where", value_name = "QUERY")]
    pub(super) conditions: Vec<String>,
    /// Part of the primary model's name
    #[arg(long, value_name = "MODEL")]
    pub(super) model: Option<String>,
    /// Branch
    #[arg(long, value_name = "BRANCH")]
    pub(super) branch: Option<String>,
    /// A tag or its parent tag; may be given again: all must be there
    #[arg(long, value_name = "TAG")]
    pub(super) tag: Vec<String>,
    /// The session it was started from, as its note names it
    #[arg(long, value_name = "SESSION")]
    pub(super) parent: Option<String>,
}

impl More {
    /// Adds its tests to those of all commands, but for the queries.
    pub(super) fn add_to(&self, chosen: &mut Chosen) {
        chosen.add(session_column("model"), self.model.as_deref().map(TestValue::text));
        chosen.add(session_column("branch"), self.branch.as_deref().map(TestValue::text));
        for tag in &self.tag {
            chosen.add(Some(Field::Tag), [TestValue::text(tag.trim_start_matches('#'))]);
        }
    }

    /// Adds its queries too, which ask for nothing but fields of sessions.
    pub(super) fn add_all_to(&self, chosen: &mut Chosen, now: &Zoned) -> Result<()> {
        self.add_to(chosen);
        self.conditions.iter().try_for_each(|text| chosen.add_query(text, now))
    }

    /// Whether a session was started from the one that is named; a link may name the note by its path.
    pub(super) fn is_child(&self, row: &SessionRow) -> bool {
        let name = |link: &str| link.rsplit('/').next().unwrap_or(link).trim_end_matches(".md").to_lowercase();
        self.parent.as_ref().is_none_or(|wanted| row.parent.as_ref().is_some_and(|own| name(own) == name(wanted)))
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::base::Env;

    #[test]
    fn every_filter_must_hold() {
        let row = SessionRow {
            model: Some("claude-opus-4-5".into()),
            branch: Some("feature/tides".into()),
            tags: "auth/tokens, API".into(),
            parent: Some("sessions/2026-11-02-plan".into()),
            ..SessionRow::default()
        };
        let holds = |model: &str, branch: &str, tags: &[&str], parent: &str| {
            let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            let tag = tags.iter().map(ToString::to_string).collect();
            let conditions = Vec::new();
            let more = More { conditions, model: some(model), branch: some(branch), tag, parent: some(parent) };
            let env = Env::fixed(Timestamp::UNIX_EPOCH, "/", &[]);
            let mut chosen = SessionFilter::default().read(&jiff::Zoned::default(), &env).unwrap();
            more.add_all_to(&mut chosen, &jiff::Zoned::default()).unwrap();
            (chosen.matches_row(&row) && more.is_child(&row), chosen.matches_row(&SessionRow::default()))
        };
        assert!(holds("", "", &[], "").0);
        assert!(holds("OPUS", "Feature/tides", &["#api", "auth"], "2026-11-02-plan").0);
        assert!(holds("", "", &["auth/tokens"], "other/2026-11-02-plan.md").0);
        assert!(!holds("haiku", "", &[], "").0);
        assert!(!holds("", "feature", &[], "").0);
        assert!(!holds("", "", &["api", "au"], "").0);
        assert!(!holds("", "", &[], "2026-11-02").0);
        assert_eq!(holds("opus", "", &[], ""), (true, false));
    }
}
