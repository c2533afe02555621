//! What a person said, without what the host put around it: the text of a skill, the content of files sent along.

use std::borrow::Cow;
use std::fmt::Write as _;

/// What a person typed, of the text that the host made of it.
pub(super) fn typed(text: &str) -> Cow<'_, str> {
    skill(text).or_else(|| files(text)).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// `/skill:<name> <words>` for the text that the host makes of it.
fn skill(text: &str) -> Option<String> {
    let (name, rest) = opened(text, "<skill name=\"")?;
    let at = rest.rfind("</skill>")?;
    let words = rest[at + "</skill>".len()..].trim();
    let mut command = format!("/skill:{name}");
    if !words.is_empty() {
        let _ = write!(command, " {words}");
    }
    Some(command)
}

/// The words behind files sent along, which stand before them as `@<path>`.
fn files(text: &str) -> Option<String> {
    let mut marks = String::new();
    let mut rest = text;
    while let Some((name, inside)) = opened(rest, "<file name=\"") {
        let Some(at) = memchr::memmem::find(inside.as_bytes(), b"</file>") else { break };
        let _ = write!(marks, "{}@{name}", if marks.is_empty() { "" } else { " " });
        rest = inside[at + "</file>".len()..].trim_start();
    }
    if marks.is_empty() {
        return None;
    }
    if !rest.is_empty() {
        let _ = write!(marks, "\n{rest}");
    }
    Some(marks)
}

/// The name in a tag that `text` begins with, and what stands behind the tag.
fn opened<'a>(text: &'a str, tag: &str) -> Option<(&'a str, &'a str)> {
    let (name, rest) = text.strip_prefix(tag)?.split_once('"')?;
    let (attributes, rest) = rest.split_once('>')?;
    let plain = !name.trim().is_empty() && !name.contains('\n') && !attributes.contains('\n');
    plain.then_some((name, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skills_are_the_command_that_called_them() {
        let skill = "<skill name=\"release\" location=\"/home/mia/SKILL.md\">\nReferences.\n\n# Release\n</skill>";
        assert_eq!(typed(skill), "/skill:release");
        assert_eq!(typed(&format!("{skill}\n\n1.2 please")), "/skill:release 1.2 please");
        assert_eq!(typed("<skill name=\"release\" never closed"), "<skill name=\"release\" never closed");
    }

    #[test]
    fn files_are_marks() {
        assert_eq!(typed("<file name=\"/a/b.rs\">\nfn a() {}\n</file>\nwhat is it?"), "@/a/b.rs\nwhat is it?");
        assert_eq!(typed("<file name=\"a\">x</file>\n<file name=\"b.png\"></file>\n"), "@a @b.png");
        assert_eq!(typed("<file name=\"a\">x"), "<file name=\"a\">x");
        assert_eq!(typed("plain"), "plain");
    }
}
