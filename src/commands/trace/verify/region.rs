//! The result of `cru verify --write` in a note: a region below `## Verified`.

use std::fmt::Write as _;

use super::session::VerifiedSession;
use crate::base::Result;
use crate::base::text::one_line;
use crate::commands::Context;
use crate::commands::trace::TraceWorld;
use crate::note::Note;
use crate::note::edit::{self, ChangedPage, Fill, GeneratedLines, Missing};
use crate::vault::{Head, State, Writer, page, state};

/// The region that `--write` fills.
const NAME: &str = "verify";

/// Puts the result into the note; nothing else of it changes, and what a person wrote into the region moves below it.
pub(super) fn write(
    world: &TraceWorld,
    head: &Head,
    verified: &VerifiedSession,
    at: Option<&str>,
    cx: &Context<'_>,
) -> Result<()> {
    let (vault, path) = (&world.vault, &head.path);
    let now = crate::session::time::format(cx.env.now());
    let state = State::of(vault, cx.env)?;
    Writer::new(vault, &state, cx.env.now()).rewrite(&state::key(&head.id()), path, "verify", &mut |old| {
        let mut page = ChangedPage::new(old.to_vec());
        // The same result at another time is no news.
        let note = Note::parse(old);
        let same = edit::region(&note, NAME).ok().and_then(|found| {
            let text = told(verified, at, found.inside.trim_start().split([' ', '\r', '\n']).next()?);
            (GeneratedLines::of(&text).seal() == found.seal).then_some(text)
        });
        let text = same.unwrap_or_else(|| told(verified, at, &now));
        let fill = Fill::new(NAME, &text, Missing::Append(Some("## Verified")));
        let filled = page.fill(&fill, &|seal| page::generated(vault, seal));
        filled.map_err(|error| page::unfilled(&path.text(), NAME, &error))?;
        page::remember(vault, &page);
        Ok(page.bytes)
    })?;
    Ok(())
}

fn told(verified: &VerifiedSession, at: Option<&str>, when: &str) -> String {
    let cell = |text: &str| one_line(text).replace('|', "\\|");
    let mut out = String::new();
    let at = at.map(|at| format!(" at `{}`", cell(at).replace('`', ""))).unwrap_or_default();
    let _ = writeln!(out, "{when}{at}\n");
    let _ = writeln!(out, "| | |\n| --- | --- |");
    for (name, value) in verified.head() {
        let _ = writeln!(out, "| {name} | {} |", cell(&value));
    }
    if !verified.stale.is_empty() {
        let _ = writeln!(out, "\n| step | file | verdict |\n| --- | --- | --- |");
        for it in &verified.stale {
            let path =
                if it.path.is_empty() { String::new() } else { format!("`{}`", cell(&it.path).replace('`', "'")) };
            let _ = writeln!(out, "| {} | {path} | {} |", cell(&it.step), cell(&it.detail));
        }
    }
    crate::session::escape::inert(&out, &[])
}
