//! Texts and paths made shorter. What is left out of a text is always marked with `…`.

use std::borrow::Cow;

use cru_base::text::truncate;

use super::sentence::sentences;

/// `text` cut at a word to at most `max` characters (grapheme clusters), with `…` where something was cut.
pub fn at_word(text: &str, max: usize) -> String {
    let short = truncate(text, max);
    let Some(body) = short.strip_suffix('…').filter(|_| short.len() != text.len()) else { return short.into_owned() };
    // A word that is longer than half of what is kept is cut inside, else nothing would be said.
    let at_word = text[body.len()..].starts_with(char::is_whitespace);
    let body = match body.rfind(char::is_whitespace) {
        Some(at) if !at_word && at * 2 >= body.len() => &body[..at],
        _ => body,
    };
    format!("{}…", body.trim_end_matches(|c: char| c.is_whitespace() || ",;:-–(".contains(c)))
}

/// Whole sentences of `text`, at most `max` characters of them, and ` …` where some were left out. Where the first one
/// alone is longer, it is cut as by [`at_word`].
pub fn at_sentence(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max || text.chars().count() <= max {
        return Cow::Borrowed(text);
    }
    let mut room = max.saturating_sub(2);
    let mut end = 0;
    for sentence in sentences(text) {
        let length = sentence.trim_end().chars().count();
        if length > room {
            break;
        }
        room = room.saturating_sub(sentence.chars().count());
        end += sentence.len();
    }
    match text[..end].trim_end() {
        "" => Cow::Owned(at_word(text, max)),
        kept => Cow::Owned(format!("{kept} …")),
    }
}

/// The last part of a path of any system.
pub fn file_name(path: &str) -> &str {
    path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or("")
}

/// A path or address as it stands in a title: `src/auth/token.rs` → `token.rs`, `https://host/a/b/7668?q=1` →
/// `host/…/7668`, an issue or pull request as `owner/name#7668`. Words like `and/or` stay.
pub fn path(word: &str) -> String {
    if let Some((_, address)) = word.split_once("://") {
        return self::address(address);
    }
    let slashes = word.matches(['/', '\\']).count();
    let rooted = word.starts_with(['/', '~']) || word.starts_with("./") || word.starts_with("../");
    // A single slash at the start is a command of the host: `/review`.
    let is_path = slashes >= 2 || (slashes == 1 && !word.starts_with('/') && (rooted || word.contains('.')));
    match file_name(word) {
        name if is_path && name.contains(char::is_alphanumeric) => name.to_owned(),
        _ => word.to_owned(),
    }
}

/// What follows the scheme of an address: without query, and without what lies between its host and its end.
fn address(address: &str) -> String {
    let plain = address.split(['?', '#']).next().unwrap_or(address);
    let parts: Vec<&str> = plain.split('/').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [] => String::new(),
        [_, owner, name, .., kind, number] | [_, owner, name, kind, number, ..]
            if matches!(*kind, "issues" | "pull" | "pulls" | "merge_requests" | "discussions")
                && number.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            format!("{owner}/{name}#{number}")
        }
        [host] => (*host).to_owned(),
        [host, last] => format!("{host}/{last}"),
        [host, .., last] => format!("{host}/…/{last}"),
    }
}

/// `text` without the queries of addresses: `https://host/a?token=x` → `https://host/a`, also where the scheme is missing.
pub fn without_queries(text: &str) -> Cow<'_, str> {
    if !text.contains(['?', '#']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(char::is_whitespace) {
        let Some(at) = query(word) else {
            out.push_str(word);
            continue;
        };
        let end = word.trim_end_matches(|c: char| c.is_whitespace() || ")]>}\"'`.,;:!".contains(c)).len();
        out.push_str(&word[..at]);
        out.push_str(&word[end.max(at)..]);
    }
    Cow::Owned(out)
}

/// Where the query or the fields of a fragment of an address begin.
fn query(word: &str) -> Option<usize> {
    let is_address = word.contains("://");
    word.match_indices(['?', '#']).map(|(at, sign)| (at, sign == "?")).find_map(|(at, asks)| {
        let rest = &word[at + 1..];
        let name = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"_.-[]%".contains(byte)).count();
        let field = name > 0 && rest[name..].starts_with('=');
        let bare = is_address && asks && name > 0;
        (at > 0 && (field || bare)).then_some(at)
    })
}

/// `line` with absolute and deep paths cut to their last part behind `…/`.
pub fn deep_paths(line: &str) -> String {
    let short = |word: &str| {
        let path = word.trim_start_matches(['(', '"', '\'', '`']);
        let deep = path.matches('/').count() >= 3 && !path.contains("://");
        if !deep {
            return word.to_owned();
        }
        let start = word.len() - path.len();
        let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
        format!("{}…/{last}", &word[..start])
    };
    line.split(' ').map(short).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_at_a_word() {
        assert_eq!(at_word("one two three", 20), "one two three");
        assert_eq!(at_word("one two three four", 12), "one two…");
        assert_eq!(at_word("x".repeat(30).as_str(), 10).chars().count(), 10);
    }

    #[test]
    fn addresses_lose_their_queries() {
        for (text, want) in [
            ("see https://host.org/a?token=x1&b=2 there", "see https://host.org/a there"),
            ("(https://host.org/a?code=x1).", "(https://host.org/a)."),
            ("www.host.org/a?key=x1", "www.host.org/a"),
            ("https://host.org/#access_token=x1", "https://host.org/"),
            ("https://host.org/a?x1 y", "https://host.org/a y"),
            ("[here](https://host.org/a?b=c)", "[here](https://host.org/a)"),
        ] {
            assert_eq!(without_queries(text), want, "{text}");
        }
        for text in ["why? a=b", "is it a?", "what?no", "https://host.org/a#part", "C# = d", "#12 and a ?= b"] {
            assert_eq!(without_queries(text), text);
        }
    }

    #[test]
    fn cut_at_a_sentence() {
        let text = "The clock was read twice. The second reading came late, e.g. after the sleep. So it failed.";
        assert_eq!(at_sentence(text, 60), "The clock was read twice. …");
        assert_eq!(
            at_sentence(text, 84),
            "The clock was read twice. The second reading came late, e.g. after the sleep. …"
        );
        assert_eq!(at_sentence(text, 20), "The clock was read…");
        assert_eq!(at_sentence(text, 200), text);
        assert_eq!(at_sentence("启动应用时。确保环境变量已经设置。", 10), "启动应用时。 …");
    }

    #[test]
    fn paths_and_addresses() {
        let rows = [
            ("src/auth/token.rs", "token.rs"),
            ("and/or", "and/or"),
            ("/review", "/review"),
            ("~/notes", "notes"),
            (r"C:\Users\mia\a.txt", "a.txt"),
            ("https://example.org/team/app/7668", "example.org/…/7668"),
            ("https://example.org/team/app/issues/7668", "team/app#7668"),
            ("https://example.org/team/app/pull/12/files", "team/app#12"),
            ("https://example.org/team/app/-/merge_requests/3", "team/app#3"),
            ("https://example.org/search?q=secret#here", "example.org/search"),
            ("https://example.org/?utm_source=x", "example.org"),
            ("https://", ""),
        ];
        for (word, short) in rows {
            assert_eq!(path(word), short, "{word}");
        }
    }

    proptest::proptest! {
        #[test]
        fn never_longer_and_marked(text in "([a-z]{1,9}|[.!?。] ?| |é|👩‍👩‍👧|\\n){0,60}", max in 2_usize..80) {
            for short in [at_word(&text, max), at_sentence(&text, max).into_owned()] {
                proptest::prop_assert!(short == text || short.ends_with('…'), "{short:?}");
                let kept = short.trim_end_matches(['…', ' ']);
                proptest::prop_assert!(text.starts_with(kept), "{kept:?}");
            }
        }
    }
}
