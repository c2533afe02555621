//! The parts of a wikilink: `target#heading#^block|alias`.
//!
//! Only splits; what a target means is the vault's business.

/// What stands between `[[` and `]]`, blanks at the ends of each part left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts<'a> {
    /// Note name or path; empty for the same note.
    pub target: &'a str,
    /// Heading, `A#B` for one below another.
    pub heading: Option<&'a str>,
    /// Block id without `^`.
    pub block: Option<&'a str>,
    /// What is shown instead, or the size of an embedded picture.
    pub alias: Option<&'a str>,
}

/// Splits what stands between the brackets. In a table the bar is written `\|`.
pub fn parse(inner: &str) -> Parts<'_> {
    let (path, alias) = match inner.split_once('|') {
        Some((path, alias)) => (path.strip_suffix('\\').unwrap_or(path), Some(alias.trim())),
        None => (inner, None),
    };
    let (target, subpath) = match path.split_once('#') {
        Some((target, subpath)) => (target, Some(subpath)),
        None => (path, None),
    };
    let (heading, block) = match subpath {
        None => (None, None),
        Some(subpath) => match subpath.rsplit_once('#') {
            Some((heading, last)) if last.trim_start().starts_with('^') => (Some(heading), Some(last)),
            _ if subpath.trim_start().starts_with('^') => (None, Some(subpath)),
            _ => (Some(subpath), None),
        },
    };
    let block = block.map(|block| block.trim().trim_start_matches('^'));
    Parts { target: target.trim(), heading: heading.map(str::trim), block, alias }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        let none = Parts::default();
        assert_eq!(parse("note"), Parts { target: "note", ..none });
        assert_eq!(parse(" a/b | shown "), Parts { target: "a/b", alias: Some("shown"), ..none });
        assert_eq!(parse("#^n-002"), Parts { block: Some("n-002"), ..none });
        assert_eq!(parse("n#A#B"), Parts { target: "n", heading: Some("A#B"), ..none });
        assert_eq!(parse("n#A#^b"), Parts { target: "n", heading: Some("A"), block: Some("b"), ..none });
        assert_eq!(parse("n#^b|100x100"), Parts { target: "n", block: Some("b"), alias: Some("100x100"), ..none });
        assert_eq!(parse("a\\|b"), Parts { target: "a", alias: Some("b"), ..none });
        assert_eq!(parse("a|b|c"), Parts { target: "a", alias: Some("b|c"), ..none });
        assert_eq!(parse(""), none);
    }
}
