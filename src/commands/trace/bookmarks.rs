//! Bookmarks: `- NAME: [[session#^n-003]]` in `bookmarks.md`, and the `[!bookmark]` callouts of sessions.

use crate::base::{Result, Span};
use crate::note::{Edit, Note, Patch};
use crate::session::{Item, Link, Session, public};
use crate::vault::{Vault, VaultPath};

/// The note that `cru bookmark` writes.
pub(in crate::commands) const NOTE: &str = "bookmarks.md";

/// A bookmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands) struct KeptBookmark {
    pub(in crate::commands) name: String,
    /// What stands between `[[` and `]]`.
    pub(in crate::commands) target: String,
    /// The note it stands in.
    pub(in crate::commands) note: String,
    /// Its line in the note, from 1; 0 where it is a callout.
    pub(in crate::commands) line: usize,
}

/// Those of `bookmarks.md`, in its order.
pub(in crate::commands) fn listed(vault: &Vault) -> Result<Vec<KeptBookmark>> {
    let text = public::text(&text(vault)?);
    let lines = text.lines().zip(1..);
    let own = lines.filter_map(|(line, number)| {
        let (name, target) = of_line(line)?;
        Some(KeptBookmark { name: name.to_owned(), target: target.to_owned(), note: NOTE.to_owned(), line: number })
    });
    Ok(own.collect())
}

/// The text of `bookmarks.md`; empty where there is none.
pub(super) fn text(vault: &Vault) -> Result<String> {
    let Some(path) = VaultPath::new(NOTE) else { return Ok(String::new()) };
    if !vault.file(&path).is_file() {
        return Ok(String::new());
    }
    Ok(String::from_utf8_lossy(&vault.read(&path)?).into_owned())
}

/// `- NAME: [[target]]`.
pub(in crate::commands) fn of_line(line: &str) -> Option<(&str, &str)> {
    let item = line.trim_start().strip_prefix("- ").or_else(|| line.trim_start().strip_prefix("* "))?;
    let at = item.rfind("[[")?;
    let name = item[..at].trim().strip_suffix(':')?.trim();
    let target = item[at + 2..].split("]]").next()?;
    (!name.is_empty() && item[at..].contains("]]")).then_some((name, target))
}

/// Those of a session's callouts: the title is the name, the text the link.
pub(super) fn of_session(session: &Session, id: &str) -> Vec<KeptBookmark> {
    let of = |item: &Item| {
        let Item::Callout(callout) = item else { return None };
        let body = callout.body.trim();
        let target = body.split_once("[[").and_then(|(_, rest)| rest.split("]]").next());
        let own = callout.id.as_ref().map(|id| format!("#^{id}"));
        let target = target.map(str::to_owned).or(own).filter(|_| callout.kind == "bookmark")?;
        let target = if target.starts_with('#') { format!("{id}{target}") } else { target };
        Some(KeptBookmark { name: callout.title.trim().to_owned(), target, note: id.to_owned(), line: 0 })
    };
    session.items().filter_map(|(_, item)| of(item)).filter(|it| !it.name.is_empty()).collect()
}

/// The link that a bookmark is.
pub(in crate::commands) fn link(target: &str) -> Link {
    let (place, _) = target.split_once('|').unwrap_or((target, ""));
    match place.split_once('#') {
        Some((note, block)) => Link {
            target: note.trim().to_owned(),
            block: Some(block.trim_start_matches('^').to_owned()),
            ..Link::default()
        },
        None => Link::to_note(place.trim()),
    }
}

/// What adds one to the page, at the end of the first list.
pub(super) fn with(note: &Note, name: &str, target: &str) -> Patch {
    let (text, end) = (note.text(), note.split().line_end.as_str());
    let row = format!("- {name}: [[{target}]]");
    if text.trim_matches(['\u{feff}', ' ', '\t', '\r', '\n']).is_empty() {
        return Patch::insert(text.len(), format!("# Bookmarks{end}{end}{row}{end}"));
    }
    let is_item = |line: &str| line.starts_with("- ") || line.starts_with("* ");
    let mut at = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        match at {
            None if !is_item(line) => {}
            Some(_) if !is_item(line) && !line.starts_with([' ', '\t']) => break,
            _ => at = Some(start + line.len()),
        }
        start += line.len();
    }
    let place = at.unwrap_or(text.len());
    let is_open = !text[..place].ends_with('\n');
    let last = text[..place].lines().next_back().unwrap_or_default();
    let blank = if at.is_none() && !last.trim().is_empty() { end } else { "" };
    // A last line without a line end stays one.
    let (above, below) = if is_open { (end, "") } else { ("", end) };
    Patch::insert(place, [above, blank, &row, below].concat())
}

/// What takes those of a name away.
pub(super) fn without(text: &str, name: &str) -> Patch {
    let mut start = 0;
    let mut gone = Vec::new();
    for line in text.split_inclusive('\n') {
        let span = Span::new(start, start + line.len());
        start = span.end;
        if of_line(line).is_some_and(|(own, _)| own.eq_ignore_ascii_case(name)) {
            gone.push(Edit { span, text: String::new() });
        }
    }
    Patch::new(gone).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_grow_and_shrink() {
        let with = |text: &str, name: &str, target: &str| with(&Note::parse(text), name, target).apply_to(text);
        let one = with("", "slow", "s#^n-003");
        assert_eq!(one, "# Bookmarks\n\n- slow: [[s#^n-003]]\n");
        let two = with(&format!("{one}\nWords below.\n"), "plan: b", "s#^n-004");
        assert_eq!(two, "# Bookmarks\n\n- slow: [[s#^n-003]]\n- plan: b: [[s#^n-004]]\n\nWords below.\n");
        assert_eq!(of_line("- plan: b: [[s#^n-004]]"), Some(("plan: b", "s#^n-004")));
        assert_eq!(without(&two, "SLOW").apply_to(&two), "# Bookmarks\n\n- plan: b: [[s#^n-004]]\n\nWords below.\n");
        assert_eq!(with("Words.", "a", "b"), "Words.\n\n- a: [[b]]");
        assert_eq!(
            with("\u{feff}- a: [[b]]\r\n\tmine\n\nx", "c", "d"),
            "\u{feff}- a: [[b]]\r\n\tmine\n\nx\r\n\r\n- c: [[d]]"
        );
        assert_eq!(
            with("- a: [[b]]\r\n\tmine\n\nx", "c", "d"),
            "- a: [[b]]\r\n\tmine\n- c: [[d]]\r\n\nx",
            "mixed line ends stay"
        );
        assert_eq!(of_line("- [[a]]"), None);
        assert_eq!(link("s#^n-1|x").block.as_deref(), Some("n-1"));
    }
}
