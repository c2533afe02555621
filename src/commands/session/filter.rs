//! Which sessions a command is about: `--status`, `--agent`, `--since` and their like, each a test of the query language.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::base::text::sanitise;
use crate::base::{Env, Error, Result};
use crate::commands::Context;
use crate::index::Query;
use crate::index::SessionRow;
use crate::index::query::{Field, FieldTest, QueryNode, TestValue};
use crate::index::table::{TableRow, column};
use crate::session::Status;
use crate::session::time::moment;

/// Filters over sessions; all that are given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "Filters")]
pub(in crate::commands) struct SessionFilter {
    /// Status; may be given again
    #[arg(long, value_name = "STATUS")]
    pub(in crate::commands) status: Vec<String>,
    /// An agent that took part, with or without version; may be given again
    #[arg(long, value_name = "AGENT")]
    pub(in crate::commands) agent: Vec<String>,
    /// Channel; may be given again
    #[arg(long, value_name = "CHANNEL")]
    pub(in crate::commands) channel: Vec<String>,
    /// Started at or after: `2026-11-01`, `2026-11-01T09:00Z`, `7d`, `12h`, `today`, `yesterday`
    #[arg(long, value_name = "TIME")]
    pub(in crate::commands) since: Option<String>,
    /// Started before the end of that day, or before that time
    #[arg(long, value_name = "TIME")]
    pub(in crate::commands) until: Option<String>,
    /// Part of the project's path; `.` is the current folder
    #[arg(long, value_name = "PATH")]
    pub(in crate::commands) project: Option<String>,
}

/// The query that a filter stands for.
#[derive(Debug)]
pub(in crate::commands) struct Chosen {
    tests: Vec<QueryNode>,
    zone: TimeZone,
    /// The folder that `.` means.
    here: String,
}

impl SessionFilter {
    /// Reads times and words. Usage error: a time that cannot be read, a status that does not exist.
    pub(in crate::commands) fn read(&self, now: &Zoned, env: &Env) -> Result<Chosen> {
        let mut chosen = Chosen { tests: Vec::new(), zone: now.time_zone().clone(), here: env.folder() };
        let words = |words: &[String]| words.iter().flat_map(|it| it.split(',')).map(str::to_owned).collect::<Vec<_>>();
        let status: Vec<Status> = words(&self.status).iter().map(|word| status(word)).collect::<Result<_>>()?;
        chosen.add(session_column("status"), status.iter().map(|it| TestValue::text(it.as_str())));
        let named = |given: &[String], mark| {
            words(given).into_iter().map(move |it| TestValue::text(it.trim_start_matches(mark)))
        };
        chosen.add(Some(Field::Agent), named(&self.agent, '@'));
        chosen.add(Some(Field::Channel), named(&self.channel, '#'));
        let limit = |option: &str, text: &Option<String>, end| {
            text.as_deref().map(|text| time(option, text, end, now)).transpose()
        };
        let (since, until) = (limit("--since", &self.since, false)?, limit("--until", &self.until, true)?);
        if since.zip(until).is_some_and(|(since, until)| since >= until) {
            return Err(Error::usage("--until ends before --since begins"));
        }
        chosen.add(Some(Field::After), since.map(TestValue::limit));
        chosen.add(Some(Field::Before), until.map(TestValue::limit));
        chosen.add(session_column("project"), self.project.as_deref().map(TestValue::text));
        Ok(chosen)
    }
}

/// The column of that name that sessions have.
pub(in crate::commands) fn session_column(name: &str) -> Option<Field> {
    column::of_session(name).map(Field::Column)
}

impl SessionFilter {
    /// Says that no session is meant, and which agents there are where one was named.
    pub(in crate::commands) fn tell_none(&self, rows: &[SessionRow], cx: &Context<'_>) {
        let agents: BTreeSet<&str> = rows.iter().filter_map(|row| row.agent.as_deref()?.split('@').next()).collect();
        let hint = if self.agent.is_empty() || agents.is_empty() {
            String::new()
        } else {
            format!("\nhint: agents here: {}", sanitise(&agents.into_iter().collect::<Vec<_>>().join(", ")))
        };
        cx.ui.note(&format!("no session matches{hint}"));
    }
}

impl Chosen {
    /// One more test: one of the values must hold, where there are any.
    pub(in crate::commands) fn add(&mut self, field: Option<Field>, values: impl IntoIterator<Item = TestValue>) {
        let values: Vec<TestValue> = values.into_iter().collect();
        self.tests
            .extend(field.filter(|_| !values.is_empty()).map(|field| QueryNode::Test(FieldTest::has(field, values))));
    }

    /// A query that must hold. Usage error: it cannot be read, or asks for more than fields of sessions.
    pub(in crate::commands) fn add_query(&mut self, text: &str, now: &Zoned) -> Result<()> {
        let query = Query::parse(text, now).map_err(|error| error.into_usage(text))?;
        if !query.parts().iter().all(QueryNode::is_about_sessions) {
            return Err(Error::usage(format!("`{text}` asks for more than fields of sessions"))
                .with_hint("`cru search` finds words, steps and blocks"));
        }
        self.tests.extend(query.parts().iter().cloned());
        Ok(())
    }

    /// The zone whose days are meant.
    pub(in crate::commands) fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// Whether this session is meant.
    pub(in crate::commands) fn matches_row(&self, row: &SessionRow) -> bool {
        let row = TableRow::session(row, row.subagent, &self.zone);
        self.tests.iter().all(|test| test.holds(row, Some(&self.here)))
    }
}

fn status(word: &str) -> Result<Status> {
    match Status::parse(word) {
        Status::Other(word) => Err(Error::usage(format!("no status `{word}`"))
            .with_hint("statuses: active, paused, completed, failed, abandoned")),
        known => Ok(known),
    }
}

/// A point in time, as [`moment`] reads it.
pub(in crate::commands) fn time(option: &str, text: &str, end: bool, now: &Zoned) -> Result<Timestamp> {
    moment(text, end, now).ok_or_else(|| {
        Error::usage(format!("{option}: `{text}` is not a time"))
            .with_hint("2026-11-01, 2026-11-01T09:00Z, 7d, 12h, today or yesterday")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env() -> Env {
        Env::fixed("2026-11-20T12:30:00Z".parse().unwrap(), "/home/me/code/api", &[("HOME", "/home/me")])
    }

    fn now(zone: &str) -> Zoned {
        env().now().to_zoned(TimeZone::get(zone).unwrap())
    }

    fn at(text: &str, end: bool) -> String {
        time("--since", text, end, &now("UTC")).map_or_else(|error| error.to_string(), |time| time.to_string())
    }

    #[test]
    fn reads_times() {
        assert_eq!(at("2026-11-01", false), "2026-11-01T00:00:00Z");
        assert_eq!(at("2026-11-01", true), "2026-11-02T00:00:00Z");
        assert_eq!(at("2026-11-01T09:00:00+01:00", false), "2026-11-01T08:00:00Z");
        assert_eq!(at("7d", false), "2026-11-13T12:30:00Z");
        assert_eq!(at("yesterday", false), "2026-11-19T00:00:00Z");
        let tokyo = |text: &str, end| time("--since", text, end, &now("Asia/Tokyo")).unwrap().to_string();
        assert_eq!(tokyo("2026-11-01", false), "2026-10-31T15:00:00Z");
        assert_eq!(tokyo("2026-11", true), "2026-11-30T15:00:00Z");
        assert_eq!(tokyo("today", false), "2026-11-19T15:00:00Z");
        assert_eq!(tokyo("2026-11-01T09:00", false), "2026-11-01T00:00:00Z");
        assert_eq!(tokyo("2026-11-01T09:00Z", false), "2026-11-01T09:00:00Z");
        assert_eq!(at("someday", false), "--since: `someday` is not a time");
        assert_eq!(at("9999999999999999w", false), "--since: `9999999999999999w` is not a time");
        assert_eq!(at("é", false), "--since: `é` is not a time");
    }

    #[test]
    fn all_filters_must_hold() {
        let row = SessionRow {
            status: Some("completed".into()),
            channel: Some("dev".into()),
            participants: "planner, Coder@2.0".into(),
            started: Some("2026-11-20T10:00:00Z".parse().unwrap()),
            project: Some("~/code/api".into()),
            ..SessionRow::default()
        };
        let holds = |filter: SessionFilter| filter.read(&now("UTC"), &env()).unwrap().matches_row(&row);
        assert!(holds(SessionFilter::default()));
        assert!(holds(SessionFilter { status: vec!["failed,completed".into()], ..SessionFilter::default() }));
        assert!(!holds(SessionFilter { status: vec!["failed".into()], ..SessionFilter::default() }));
        assert!(holds(SessionFilter {
            agent: vec!["@coder".into()],
            channel: vec!["#dev".into()],
            ..SessionFilter::default()
        }));
        assert!(holds(SessionFilter { agent: vec!["coder@2.0".into()], ..SessionFilter::default() }));
        assert!(!holds(SessionFilter { agent: vec!["coder@1.0".into()], ..SessionFilter::default() }));
        assert!(holds(SessionFilter {
            project: Some(".".into()),
            since: Some("today".into()),
            ..SessionFilter::default()
        }));
        assert!(!holds(SessionFilter { until: Some("yesterday".into()), ..SessionFilter::default() }));
        assert!(
            SessionFilter { status: vec!["done".into()], ..SessionFilter::default() }
                .read(&now("UTC"), &env())
                .is_err()
        );
    }
}
