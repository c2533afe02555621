//! The result of `cru verify --write` in a note: a region below `## Verified`.

use std::fmt::Write as _;

use super::session::VerifiedSession;
use crate::base::text::one_line;
use crate::base::{Result, files};
use crate::commands::Context;
use crate::commands::trace::TraceWorld;
use crate::vault::VaultPath;

/// Marks of the region that `--write` owns.
const BEGIN: &str = "<!-- cru:begin verify -->";
const END: &str = "<!-- cru:end verify -->";

/// Puts the result into the note; nothing else of it changes.
pub(super) fn write(
    world: &TraceWorld,
    path: &VaultPath,
    verified: &VerifiedSession,
    at: Option<&str>,
    cx: &Context<'_>,
) -> Result<()> {
    world.vault.writable()?;
    let file = world.vault.file(path);
    let old = files::read(&file)?;
    let new = with(&String::from_utf8_lossy(&old), &region(verified, at, cx));
    if new.as_bytes() == old {
        return Ok(());
    }
    files::replace(&file, &old, new.as_bytes())
}

/// The text with the region in the place of the one that is there, else at the end below its own heading.
fn with(text: &str, region: &str) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let region = region.replace('\n', end);
    let old = text.find(BEGIN).and_then(|from| Some((from, from + text[from..].find(END)? + END.len())));
    match old {
        Some((from, to)) => format!("{}{region}{}", &text[..from], &text[to..]),
        None => format!("{}{end}{end}## Verified{end}{end}{region}{end}", text.trim_end()),
    }
}

fn region(verified: &VerifiedSession, at: Option<&str>, cx: &Context<'_>) -> String {
    let cell = |text: &str| one_line(text).replace('|', "\\|");
    let mut out = format!("{BEGIN}\n\n");
    let when = crate::session::time::format(cx.env.now());
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
    out + "\n" + END
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_region_alone_changes() {
        let region = format!("{BEGIN}\nnew\n{END}");
        let first = with("# A\n\nWords.\n\n\n", &region);
        assert_eq!(first, format!("# A\n\nWords.\n\n## Verified\n\n{region}\n"));
        let again = with(&first.replace("new", "old"), &region);
        assert_eq!(again, first);
        assert_eq!(with("a\r\n", &region), format!("a\r\n\r\n## Verified\r\n\r\n{BEGIN}\r\nnew\r\n{END}\r\n"));
        // An end before the beginning is no region.
        let odd = with(&format!("{END}\n{BEGIN}\n"), &region);
        assert!(odd.ends_with(&format!("## Verified\n\n{region}\n")), "{odd}");
    }
}
