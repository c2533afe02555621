//! Links as somebody types them.

use cru_session::Link;

/// `n-002`, `^n-002`, `other#^n-002`, `[[other#^n-002]]` or the name of a note.
pub(super) fn parse(text: &str) -> Link {
    let text = text.trim();
    if let Some(link) = within(text).into_iter().next() {
        return link;
    }
    match text.split_once('#') {
        Some((target, block)) => {
            Link { target: plain(target), block: Some(plain(block.trim_start_matches('^'))), ..Link::default() }
        }
        None => Link::to_block(plain(text.trim_start_matches('^'))),
    }
}

/// The block of this note that `text` names.
pub(super) fn block(text: &str) -> Option<String> {
    let link = parse(text);
    link.block.filter(|_| link.target.is_empty())
}

/// The links in a text, as written between `[[` and `]]`.
pub(super) fn within(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find("[[") {
        let inner = &rest[open + 2..];
        let Some(len) = inner.find("]]") else { break };
        let link = Link::parse(&inner[..len]);
        if link.to_string() == rest[open..open + 2 + len + 2]
            && !inner[..len].contains(['[', '\n'])
            && !inner[..len].contains("%%")
        {
            links.push(link);
        }
        rest = &inner[len + 2..];
    }
    links
}

/// Without what would end the link, or begin a comment.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.trim().chars().filter(|c| !matches!(c, '[' | ']' | '|' | '#' | '^') && !c.is_control()) {
        if c != '%' || !plain.ends_with('%') {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let shown = |text: &str| parse(text).to_string();
        assert_eq!(shown("n-002"), "[[#^n-002]]");
        assert_eq!(shown(" ^n-002 "), "[[#^n-002]]");
        assert_eq!(shown("other#^n-002"), "[[other#^n-002]]");
        assert_eq!(shown("[[a note#Part|x]]"), "[[a note#Part|x]]");
        assert_eq!(shown("n]]-[[x"), "[[#^n-x]]");
        assert_eq!(block("n-002").as_deref(), Some("n-002"));
        assert_eq!(block("other#^n-002"), None);
    }

    #[test]
    fn links_of_a_text() {
        let shown: Vec<String> =
            within("see [[#^n-005]] and [[b|c]], not [[d").iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["[[#^n-005]]", "[[b|c]]"]);
    }
}
