//! What a person said, without what the host put around it.

use std::borrow::Cow;

/// The words of a message; `None` where the host alone spoke.
pub(super) fn words(text: &str) -> Option<Cow<'_, str>> {
    let words = match crate::wrapper::own_words("cursor", text) {
        Cow::Borrowed(words) => Cow::Borrowed(words.trim()),
        words @ Cow::Owned(_) => words,
    };
    (!words.trim().is_empty()).then_some(words)
}

/// Prose of the agent without the mark that stands for thoughts which were taken out.
pub(super) fn prose(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_suffix("[REDACTED]").unwrap_or(text);
    text.strip_prefix("[REDACTED]").unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_said() {
        let rows: &[(&str, Option<&str>)] = &[
            ("<user_query>\nrun it\n</user_query>", Some("run it")),
            ("<user_info>x</user_info>\n<user_query>a</user_query>\n<user_query>b</user_query>", Some("a\n\nb")),
            ("<user_query>never closed", Some("never closed")),
            // What stands within is theirs, also where it begins like something of the host's.
            ("<user_query><timestamp> in the header is wrong</user_query>", Some("<timestamp> in the header is wrong")),
            ("plain <b>words</b>", Some("plain <b>words</b>")),
            ("<timestamp>now</timestamp>\nplain", Some("plain")),
            ("<git_status>x</git_status>", None),
            ("<rules attr=\"1\">never closed", None),
            ("<div>kept</div>", Some("<div>kept</div>")),
            ("<", Some("<")),
            ("", None),
        ];
        for (text, wanted) in rows {
            assert_eq!(words(text).as_deref(), *wanted, "{text}");
        }
    }

    #[test]
    fn what_was_taken_out_says_nothing() {
        assert_eq!(prose("[REDACTED]"), "");
        assert_eq!(prose("Done.\n\n[REDACTED]"), "Done.");
        assert_eq!(prose("a [REDACTED] b"), "a [REDACTED] b");
    }
}
