//! Texts of rows without what a person put in comments.
//!
//! The reader of sessions takes comments out of running text. What stands in one line (titles, results, paths) it gives
//! as written, because operations write such lines again; a row is only shown.

use std::borrow::Cow;
use std::cmp::Ordering;

const MARK: &str = "%%";

/// `text` without its comments; one that does not end here takes the rest with it where it says that it is private. In
/// what programs said (`told`) only such are comments.
pub(super) fn public(text: &str, told: bool) -> Cow<'_, str> {
    if !text.contains(MARK) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(MARK) {
        let (before, inside) = (&rest[..at], &rest[at + MARK.len()..]);
        out.push_str(before);
        let private = inside.trim_start().starts_with("private");
        match inside.find(MARK).filter(|_| private || !told) {
            Some(end) => rest = &inside[end + MARK.len()..],
            None if private => {
                rest = "";
            }
            None => {
                out.push_str(MARK);
                rest = inside;
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A callout's title and the texts below it, in order, without a comment that begins in the one and ends in the others.
/// Those have lost their own comments already.
pub(super) fn titled<const N: usize>(title: &str, texts: [Option<&String>; N]) -> (String, [Option<String>; N]) {
    let end = texts.iter().position(|text| text.is_some_and(|text| text.contains(MARK)));
    let (Some(end), Some((before, _))) = (end.filter(|_| goes_on(title)), title.rsplit_once(MARK)) else {
        return (public(title, false).into_owned(), texts.map(Option::<&String>::cloned));
    };
    let mut place = 0;
    let texts = texts.map(|text| {
        place += 1;
        match place.cmp(&(end + 1)) {
            Ordering::Less => None,
            Ordering::Equal => text?.split_once(MARK).map(|(_, behind)| behind.trim_start().to_owned()),
            Ordering::Greater => text.cloned(),
        }
    });
    (public(before, false).trim_end().to_owned(), texts)
}

/// Whether a comment begins in `title` and does not end there.
fn goes_on(title: &str) -> bool {
    title.matches(MARK).count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_left_out() {
        assert_eq!(public("a %%b%% c", false), "a c");
        assert_eq!(public("a %%b", false), "a %%b");
        assert_eq!(public("a %%private b", false), "a");
        assert_eq!(public("a %%b%% c %%private d%% e", true), "a %%b%% c e");
        assert_eq!(public("100 % of  a", false), "100 % of  a");
    }

    #[test]
    fn comments_that_go_on() {
        let read = |title: &str, texts: [&str; 3]| {
            let texts = texts.map(str::to_owned);
            let (title, texts) = titled(title, texts.each_ref().map(|text| (text != "-").then_some(text)));
            format!("{title}: {}", texts.map(|text| text.unwrap_or("-".to_owned())).join(", "))
        };
        assert_eq!(read("a %%b", ["c", "d%% e", "f %%g"]), "a: -, e, f %%g");
        assert_eq!(read("a %%x%% b %%c", ["-", "-", "d%% e"]), "a b: -, -, e");
        assert_eq!(read("a %%b", ["c", "-", "d"]), "a %%b: c, -, d");
        assert_eq!(read("a %%private b", ["c", "-", "d"]), "a: c, -, d");
        assert_eq!(read("a", ["b %% c", "-", "d"]), "a: b %% c, -, d");
    }
}
