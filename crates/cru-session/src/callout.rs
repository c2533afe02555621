//! The callout kinds that mean something here, and the fields each has: the one table.

/// One kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// In lower case.
    pub name: &'static str,
    /// Names of its fields, in the order they are written.
    pub fields: &'static [&'static str],
}

/// Kinds with fields of their own. In any other kind every `Name: value` line counts as a field.
pub const KINDS: &[Kind] = &[
    Kind { name: "decision", fields: &["Why", "Rejected", "Impact", "Rests on", "At"] },
    Kind { name: "error", fields: &["Step", "Resolution", "At"] },
    Kind { name: "user", fields: &[] },
    Kind { name: "subagent", fields: &["mode", "Task", "Summary", "Tokens", "Step", "At"] },
];

/// The title of a `context` that is nothing but a link: to the note of the session that this one goes on in.
pub const CONTINUED: &str = "Continued in";

/// Fields that are one line: what stands below them is text again.
const ONE_LINE: &[&str] = &["mode", "At", "Step", "Rests on"];

/// Whether a field's value may go on over lines.
pub fn goes_on(name: &str) -> bool {
    !ONE_LINE.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// The fields of `kind` (in lower case); `None`: any name.
pub fn fields(kind: &str) -> Option<&'static [&'static str]> {
    KINDS.iter().find(|row| row.name == kind).map(|row| row.fields)
}

/// The field that `line` starts, and the rest of the line.
///
/// With `names`, one of them, case ignored; else one to three words that begin with a letter.
pub fn split_field<'a>(line: &'a str, names: Option<&[&str]>) -> Option<(&'a str, &'a str)> {
    let (name, value) = line.split_once(':')?;
    let named = match names {
        Some(names) => names.iter().any(|known| known.eq_ignore_ascii_case(name)),
        None => {
            name.starts_with(char::is_alphabetic)
                && name.split(' ').count() <= 3
                && name.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        }
    };
    (named && (value.is_empty() || value.starts_with(' '))).then(|| (name, value.trim()))
}
