//! What is said where nothing was found.

use crate::base::Result;
use crate::base::text::{one_line, plural};
use crate::commands::Context;
use crate::index::search::{Advice, SearchOptions, advise};
use crate::index::{Query, Snapshot};

/// Says what to try, on stderr.
pub(super) fn give(snapshot: &Snapshot, query: &Query, options: &SearchOptions, cx: &Context<'_>) -> Result<()> {
    if snapshot.is_empty() {
        cx.ui.note("no match: the vault holds no session");
        return Ok(());
    }
    cx.ui.note("no match");
    for advice in advise(snapshot, query, options)? {
        cx.ui.note(&format!("  {}", words(&advice)));
    }
    Ok(())
}

/// Names the words that are nowhere, on stderr.
pub(super) fn nowhere(snapshot: &Snapshot, query: &Query, options: &SearchOptions, cx: &Context<'_>) -> Result<()> {
    for advice in advise(snapshot, query, options)?
        .iter()
        .filter(|advice| matches!(advice, Advice::Near(..) | Advice::Nowhere(_)))
    {
        cx.ui.note(&words(advice));
    }
    Ok(())
}

fn words(advice: &Advice) -> String {
    match advice {
        Advice::Alone(part, totals) => format!("`{}` alone: {}", one_line(part), plural(totals.hits, "hit")),
        Advice::Without(part, totals) => format!("without `{}`: {}", one_line(part), plural(totals.hits, "hit")),
        Advice::Apart(ids, count) => {
            let more = if *count > ids.len() as u64 { ", …" } else { "" };
            let verb = if *count == 1 { "holds" } else { "hold" };
            let ids: Vec<String> = ids.iter().map(|id| one_line(id)).collect();
            format!("{} {verb} all of it, in different blocks: {}{more}", plural(*count, "session"), ids.join(", "))
        }
        Advice::Nowhere(part) => format!("`{}` has no match", one_line(part)),
        Advice::Near(part, near) => {
            let near: Vec<String> = near.iter().map(|(word, count)| format!("{} ({count})", one_line(word))).collect();
            format!("`{}` has no match; similar: {}", one_line(part), near.join(", "))
        }
    }
}
