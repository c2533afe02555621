//! What a person said, without what the host put around it.

use std::borrow::Cow;

/// Around a person's own words.
const QUERY: (&str, &str) = ("<user_query>", "</user_query>");

/// Tags of what the host adds by itself.
const ADDED: &[&str] = &[
    "additional_data",
    "agent_skills",
    "attached_files",
    "cursor_commands",
    "environment",
    "git_status",
    "image_files",
    "manually_attached_skills",
    "open_and_recently_viewed_files",
    "project_layout",
    "rules",
    "system_reminder",
    "timestamp",
    "user_info",
    "user_rules",
];

/// The words of a message; `None` where the host alone spoke.
pub(super) fn words(text: &str) -> Option<Cow<'_, str>> {
    let queries = queries(text);
    match queries.as_slice() {
        [] => {}
        [one] => return Some(Cow::Borrowed(one)),
        several => return Some(Cow::Owned(several.join("\n\n"))),
    }
    let mut rest = text.trim();
    while let Some(behind) = without_added(rest) {
        rest = behind.trim_start();
    }
    (!rest.is_empty()).then_some(Cow::Borrowed(rest))
}

/// What stands between the marks of a person's words.
fn queries(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, inside)) = rest.split_once(QUERY.0) {
        // Where it is not closed, it goes on to the end.
        let (query, behind) = inside.split_once(QUERY.1).unwrap_or((inside, ""));
        found.extend(Some(query.trim()).filter(|query| !query.is_empty()));
        rest = behind;
    }
    found
}

/// What stands behind a part that the host added, where the text begins with one.
fn without_added(text: &str) -> Option<&str> {
    let name_end = text.strip_prefix('<')?.find(['>', ' ', '\n'])?;
    let name = &text[1..=name_end];
    if !ADDED.contains(&name) {
        return None;
    }
    let close = format!("</{name}>");
    Some(memchr::memmem::find(text.as_bytes(), close.as_bytes()).map_or("", |at| &text[at + close.len()..]))
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
