//! Sessions put together by what they have in common.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::figures::{Counted, FigureSum, Figures};
use crate::index::SessionRow;
use crate::session::Agent;

/// What sessions have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum By {
    /// The first agent that took part
    Agent,
    /// The same with its version, as `--agent-versions` asks
    #[value(skip)]
    #[serde(rename = "agent")]
    AgentVersion,
    /// The channel
    Channel,
    /// The status
    Status,
    /// The primary model
    Model,
    /// The tool of a step
    Tool,
    /// The working directory
    Project,
    /// The day they began
    Day,
    /// The week they began, ISO 8601
    Week,
    /// What came of them, by accepted readings
    Outcome,
    /// What most of their segments were, by accepted readings
    Type,
}

impl By {
    /// Heading of its table.
    pub(super) fn heading(self) -> String {
        self.name().to_uppercase()
    }

    /// Its value on the command line.
    pub(super) const fn name(self) -> &'static str {
        const NAMES: [&str; 11] =
            ["agent", "agent", "channel", "status", "model", "tool", "project", "day", "week", "outcome", "type"];
        NAMES[self as usize]
    }

    /// Whether its groups follow one another.
    pub(super) const fn is_time(self) -> bool {
        matches!(self, Self::Day | Self::Week)
    }

    /// Whether only readings tell it.
    pub(super) const fn is_read(self) -> bool {
        matches!(self, Self::Outcome | Self::Type)
    }

    /// What a session belongs to; `None` also for tools, of which it has several, and for what only readings tell.
    pub(super) fn key<'a>(self, row: &'a SessionRow, zone: &TimeZone) -> Option<Cow<'a, str>> {
        let text = match self {
            Self::Agent => return row.agent.as_deref().map(|agent| Agent::parse(agent).name.into()),
            Self::AgentVersion => row.agent.as_deref(),
            Self::Channel => row.channel.as_deref().map(|channel| channel.trim_start_matches('#')),
            Self::Status => row.status.as_deref(),
            Self::Model => row.model.as_deref(),
            Self::Tool | Self::Outcome | Self::Type => None,
            Self::Project => row.project.as_deref(),
            Self::Day => return row.started.map(|time| day(time, zone)).map(Cow::Owned),
            Self::Week => return row.started.map(|time| week(time, zone)).map(Cow::Owned),
        };
        text.map(Cow::Borrowed)
    }
}

/// `2026-11-20`, in the zone of the vault.
pub(super) fn day(time: Timestamp, zone: &TimeZone) -> String {
    time.to_zoned(zone.clone()).date().to_string()
}

/// `2026-W47`.
fn week(time: Timestamp, zone: &TimeZone) -> String {
    let week = time.to_zoned(zone.clone()).date().iso_week_date();
    format!("{}-W{:02}", week.year(), week.week())
}

/// Groups of one kind.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Grouped<S> {
    /// Of which kind.
    pub(super) by: By,
    /// All of them: by time the first comes first, others by tokens or by cost.
    pub(super) groups: Vec<SessionGroup<S>>,
}

/// Sessions that have something in common, and what they come to.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SessionGroup<S> {
    /// What they have in common; nothing where they do not tell.
    pub(super) key: Option<String>,
    #[serde(flatten)]
    pub(super) sum: S,
}

impl<S> Grouped<S> {
    /// Whether any of its sessions tells what it is grouped by.
    pub(super) fn has_keys(&self) -> bool {
        self.groups.iter().any(|it| it.key.is_some())
    }
}

impl Grouped<Figures> {
    /// Groups sessions.
    pub(super) fn of(by: By, sessions: &[Counted<'_>], zone: &TimeZone) -> Self {
        Self::with(by, sessions, zone, |_| None)
    }

    /// Groups sessions, where `read` gives what readings tell of one.
    pub(super) fn with<'a>(
        by: By,
        sessions: &'a [Counted<'a>],
        zone: &TimeZone,
        read: impl Fn(&SessionRow) -> Option<&'static str>,
    ) -> Self {
        let mut sums: BTreeMap<Option<Cow<'a, str>>, FigureSum> = BTreeMap::new();
        for it in sessions {
            if by == By::Tool {
                for tool in &it.row.tools {
                    sums.entry(Some(tool.tool.as_str().into())).or_default().add_tool(it, tool);
                }
                continue;
            }
            let key = if by.is_read() { read(it.row).map(Cow::Borrowed) } else { by.key(it.row, zone) };
            sums.entry(key).or_default().add(it);
        }
        let group = |(key, sum): (Option<Cow<'_, str>>, FigureSum)| SessionGroup {
            key: key.map(Cow::into_owned),
            sum: sum.done(),
        };
        let mut groups: Vec<SessionGroup<Figures>> = sums.into_iter().map(group).collect();
        if !by.is_time() {
            groups.sort_by_key(|it| std::cmp::Reverse((it.sum.tokens, it.sum.sessions, it.sum.steps)));
        }
        Self { by, groups }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::ToolUse;
    use crate::index::table::Families;
    use crate::price::Prices;

    fn keys(by: By, rows: &[SessionRow]) -> Vec<String> {
        let prices = Prices::default();
        let families = Families::of(rows);
        let counted: Vec<_> = rows.iter().map(|row| Counted::of(row, &families, &prices)).collect();
        let shown = |it: &SessionGroup<Figures>| format!("{} {}", it.key.as_deref().unwrap_or("–"), it.sum.sessions);
        Grouped::of(by, &counted, &TimeZone::UTC).groups.iter().map(shown).collect()
    }

    #[test]
    fn groups_stand_in_order() {
        let row = |started: &str, agent: Option<&str>, tokens| SessionRow {
            started: started.parse().ok(),
            agent: agent.map(Into::into),
            channel: Some("#dev".into()),
            tokens: Some(tokens),
            ..SessionRow::default()
        };
        let rows = [
            row("2027-01-01T23:59:59Z", Some("b"), 1),
            row("2026-12-28T00:00:00Z", Some("a@1.0"), 5),
            row("2026-11-20T00:00:00Z", Some("b"), 1),
            row("", None, 9),
        ];
        assert_eq!(keys(By::Agent, &rows), ["– 1", "a 1", "b 2"], "the most tokens first");
        assert_eq!(keys(By::Week, &rows), ["– 1", "2026-W47 1", "2026-W53 2"], "a week belongs to one year");
        assert_eq!(keys(By::Day, &rows), ["– 1", "2026-11-20 1", "2026-12-28 1", "2027-01-01 1"]);
        assert_eq!(keys(By::Channel, &rows), ["dev 4"]);
        assert_eq!(keys(By::AgentVersion, &rows), ["– 1", "a@1.0 1", "b 2"]);
        let used = |tool: &str| ToolUse { tool: tool.into(), steps: 2, failed: 1 };
        let rows = [
            SessionRow { tools: vec![used("Bash"), used("Read")], ..SessionRow::default() },
            SessionRow { tools: vec![used("Bash")], ..SessionRow::default() },
        ];
        assert_eq!(keys(By::Tool, &rows), ["Bash 2", "Read 1"], "a session without steps has no tool");
    }
}
