//! The pages that are made of sessions' notes: the lists in project notes, the daily note.
//!
//! `pages` in the machine state holds what the vault was when they were last right. A command that writes notes marks it
//! before it begins, so that one that was killed in between is made up for by the next: nothing depends on what that next
//! one writes itself.

use std::path::PathBuf;

use jiff::civil::Date;

use super::{Context, reading, summary};
use crate::base::files;
use crate::sync::rename;
use crate::vault::{State, Vault, Walk};

/// What the mark of a command begins with; the day stands behind it.
const WAITS: &str = "waits ";

/// Derived pages while notes are written. Dropped without an end, they wait for the next command.
#[must_use]
pub(super) struct DerivedPages<'a> {
    vault: &'a Vault,
    state: &'a State,
    cx: &'a Context<'a>,
    /// What the state held.
    before: String,
}

impl<'a> DerivedPages<'a> {
    /// To be called before notes are written.
    pub(super) fn begin(vault: &'a Vault, state: &'a State, cx: &'a Context<'a>) -> Self {
        rename::finish(vault, state, cx.env.now());
        let before = kept(state);
        if !before.starts_with(WAITS) {
            let _ = files::put_private(&place(state), format!("{WAITS}{}", summary::today(vault, cx)).as_bytes());
        }
        Self { vault, state, cx, before }
    }

    /// Whether an earlier command did not come to its end.
    pub(super) fn were_left(&self) -> bool {
        self.before.starts_with(WAITS)
    }

    /// No note was written, or what was is not yet told by these pages.
    pub(super) fn leave(self) {
        let _ = if self.before.is_empty() {
            files::remove(&place(self.state)).map(drop)
        } else {
            files::put_private(&place(self.state), self.before.as_bytes())
        };
    }

    /// Brings the pages up to date, where the vault is another than it was when they were.
    pub(super) fn finish(self) {
        let Self { vault, state, cx, before } = self;
        let today = summary::today(vault, cx);
        if before != stamp(vault, today) {
            let is_right = reading::refresh_projects(vault, cx);
            // Notes of that day may have been written behind its page.
            let since = before.rsplit(' ').next().and_then(|day| day.trim().parse().ok()).unwrap_or(today);
            if !(summary::refresh_daily(since, vault, cx) && is_right) {
                return;
            }
        }
        let _ = files::put_private(&place(state), stamp(vault, today).as_bytes());
    }
}

/// Makes up for a command that was killed behind its notes.
pub(super) fn catch_up(vault: &Vault, state: &State, cx: &Context<'_>) {
    rename::finish(vault, state, cx.env.now());
    if kept(state).starts_with(WAITS) {
        DerivedPages::begin(vault, state, cx).finish();
    }
}

fn place(state: &State) -> PathBuf {
    state.dir().join("pages")
}

fn kept(state: &State) -> String {
    files::read(&place(state)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// What tells one state of the vault's notes, and of the day, from another; the day stands behind it.
fn stamp(vault: &Vault, today: Date) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(today.to_string().as_bytes());
    for (path, seen) in Walk::of(vault).notes {
        hasher.update(format!("\n{} {seen:?}", path.text()).as_bytes());
    }
    format!("{} {today}", &hasher.finalize().to_hex()[..16])
}
