//! What is said where nothing was found.

use crate::base::Result;
use crate::base::text::{plural, sanitise};
use crate::commands::Context;
use crate::index::search::{Advice, Options, advise};
use crate::index::{Query, Snapshot};

/// Says what to try, on stderr.
pub(super) fn give(snapshot: &Snapshot, query: &Query, options: &Options, cx: &Context<'_>) -> Result<()> {
    if snapshot.is_empty() {
        cx.ui.note("nothing found: there are no sessions in this vault yet");
        return Ok(());
    }
    cx.ui.note("nothing found");
    for advice in advise(snapshot, query, options)? {
        cx.ui.note(&format!("  {}", words(&advice)));
    }
    Ok(())
}

fn words(advice: &Advice) -> String {
    let clean = |text: &str| sanitise(text).replace(['\n', '\t'], " ");
    match advice {
        Advice::Alone(part, totals) => format!("`{}` alone: {}", clean(part), plural(totals.hits, "hit")),
        Advice::Without(part, totals) => format!("without `{}`: {}", clean(part), plural(totals.hits, "hit")),
        Advice::Nowhere(part) => format!("`{}` is nowhere", clean(part)),
        Advice::Near(part, near) => {
            let near: Vec<String> = near.iter().map(|(word, count)| format!("{} ({count})", clean(word))).collect();
            format!("`{}` is nowhere; nearly: {}", clean(part), near.join(", "))
        }
    }
}
