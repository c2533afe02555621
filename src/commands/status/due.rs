//! What is due: said in a line each, and only then.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::super::output::byte_size;
use super::super::read::Shelf;
use crate::base::text::plural;
use crate::commands::Context;
use crate::commands::hooks::last_event;
use crate::index::SessionRow;
use crate::live::hook::{HOSTS, Host};
use crate::memory::prune::{Prunable, candidates};
use crate::readings::note::ReviewStatus;
use crate::vault::{Catalog, State, Vault};

/// Hooks that are silent for longer may be broken.
const SILENT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// What is due.
#[derive(Debug, Default, Serialize)]
pub(super) struct Due {
    /// Lessons and readings that somebody proposed.
    pub(super) proposals: u64,
    /// Sessions that were closed with writes after their last check.
    pub(super) unproven: u64,
    /// Bytes of copies of files that `cru admin prune` would remove, where these are many.
    pub(super) old_copies: u64,
    /// Bytes of the search index, where these are many.
    pub(super) large_index: u64,
    /// Hosts whose hooks wrote here once and have been silent for a week, while sessions of theirs began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) silent: Vec<SilentHooks>,
}

/// Hooks that do not arrive any more.
#[derive(Debug, Serialize)]
pub(super) struct SilentHooks {
    /// As `host` of a note says it.
    host: &'static str,
    #[serde(skip)]
    title: &'static str,
    /// When the last event arrived.
    last_event: Timestamp,
    /// Sessions that began since, for which no hook was called.
    sessions: u64,
}

impl SilentHooks {
    fn of(host: &Host, rows: &[SessionRow], state: &State, now: Timestamp) -> Option<Self> {
        let (_, last) = last_event(state, host);
        let last = last.filter(|last| now.duration_since(*last) > SILENT)?;
        let since = |row: &&SessionRow| {
            row.host.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(host.id))
                && row.started.is_some_and(|started| started > last)
        };
        let sessions = rows.iter().filter(since).count() as u64;
        (sessions > 0).then_some(Self { host: host.id, title: host.title(), last_event: last, sessions })
    }
}

impl Due {
    /// Looks for it; `index`: bytes of the search index.
    pub(super) fn of(rows: &[SessionRow], catalog: &Catalog, vault: &Vault, index: u64, cx: &Context<'_>) -> Self {
        let shelf = Shelf::read(catalog, vault);
        let lessons = shelf.lessons.iter().filter(|it| it.lesson.status == ReviewStatus::Proposed).count();
        let readings = shelf.readings.iter().filter(|it| it.head.status == ReviewStatus::Proposed).count();
        let state = State::existing(vault, cx.env);
        let silent =
            |state: &State| HOSTS.iter().filter_map(|host| SilentHooks::of(host, rows, state, cx.env.now())).collect();
        let old = state.as_ref().map_or(0, |state| {
            let before = cx.env.now().checked_sub(SignedDuration::from_hours(90 * 24)).unwrap_or(Timestamp::MIN);
            candidates(state.dir(), &[Prunable::Copies], before, cx.env.now()).iter().map(|file| file.bytes).sum()
        });
        // What the program keeps on this machine is worth a word from so many bytes on.
        let large = |bytes: u64| if bytes >= 1_000_000_000 { bytes } else { 0 };
        Self {
            proposals: (lessons + readings) as u64,
            unproven: rows.iter().filter(|row| row.is_unproven()).count() as u64,
            old_copies: large(old),
            large_index: large(index),
            silent: state.as_ref().map(silent).unwrap_or_default(),
        }
    }

    /// A name and a sentence each.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        if self.proposals > 0 {
            lines.push(("Review", format!("{} wait; `cru review` shows them", plural(self.proposals, "proposal"))));
        }
        if self.unproven > 0 {
            let have = if self.unproven == 1 { "has" } else { "have" };
            let sessions = plural(self.unproven, "closed session");
            lines.push(("Unproven", format!("{sessions} {have} writes after the last check; `cru review` shows them")));
        }
        if self.old_copies > 0 {
            lines.push((
                "Copies",
                format!("{} of old copies of files; `cru admin prune` removes them", byte_size(self.old_copies)),
            ));
        }
        if self.large_index > 0 {
            let size = byte_size(self.large_index);
            let text = "a smaller `[index] evidence_bytes` and `cru admin index --rebuild` make it smaller";
            lines.push(("Index size", format!("{size}; {text}")));
        }
        for it in &self.silent {
            let (title, day, sessions) = (it.title, it.last_event.strftime("%Y-%m-%d"), plural(it.sessions, "session"));
            let text = format!("of {title} silent since {day}, and {sessions} began; `cru check hooks` tests them");
            lines.push(("Hooks", text));
        }
        lines
    }
}
