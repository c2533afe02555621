//! How a person names a step: `^`, `^2`, `n-015`, `session#n-015`, `[[session#^n-015]]`, `@name`, `n-003..n-007`.

use std::fmt;

/// One thing that is named.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StepReference {
    /// `^` is the last step of the current session, `^2` the one before.
    Back(usize),
    /// A block: a step by its id, or by its number.
    Block {
        /// The session; the current one where none is named.
        session: Option<String>,
        /// The id without `^`.
        id: String,
    },
    /// `@name`: a step's id, a bookmark or a file.
    Name(String),
    /// `cp:latest`: the last checkpoint.
    LatestCheckpoint,
}

/// What stands where a step is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ReferenceText {
    /// One thing.
    One(StepReference),
    /// `a..b`: from one to the other, both among them.
    Range(StepReference, StepReference),
}

/// Reads a reference; `None` where it names nothing (`#`, `@`, an empty text).
pub fn parse(text: &str) -> Option<ReferenceText> {
    let text = text.trim();
    if let Some((from, to)) = text.split_once("..").filter(|(from, to)| !from.is_empty() && !to.is_empty()) {
        let (from, to) = (one(from)?, one(to)?);
        // `s#n-003..n-007` stays in its session.
        let to = match (&from, to) {
            (StepReference::Block { session: Some(session), .. }, StepReference::Block { session: None, id }) => {
                StepReference::Block { session: Some(session.clone()), id }
            }
            (_, to) => to,
        };
        return Some(ReferenceText::Range(from, to));
    }
    one(text).map(ReferenceText::One)
}

/// Reads one thing.
pub fn one(text: &str) -> Option<StepReference> {
    let text = text.trim();
    let inner = text.strip_prefix("![[").or_else(|| text.strip_prefix("[["));
    let text = inner.map_or(text, |inner| {
        let inner = inner.strip_suffix("]]").unwrap_or(inner);
        inner.split('|').next().unwrap_or(inner).trim()
    });
    if text == "cp:latest" {
        return Some(StepReference::LatestCheckpoint);
    }
    if let Some(name) = text.strip_prefix('@') {
        return (!name.trim().is_empty()).then(|| StepReference::Name(name.trim().to_owned()));
    }
    if let Some(rest) = text.strip_prefix('^') {
        if rest.is_empty() {
            return Some(StepReference::Back(1));
        }
        if rest.bytes().all(|byte| byte.is_ascii_digit()) {
            return rest.parse().ok().filter(|back| *back > 0).map(StepReference::Back);
        }
    }
    let (session, id) = match text.rsplit_once('#').or_else(|| text.rsplit_once(':')) {
        Some((session, id)) => (Some(session.trim()), id),
        None => (None, text),
    };
    let id = id.trim().trim_start_matches('^');
    let session = session.filter(|session| !session.is_empty()).map(str::to_owned);
    (!id.is_empty()).then(|| StepReference::Block { session, id: id.to_owned() })
}

/// Whether a word can only be a step, not a session: `^2`, `@name`, a number, the id of a step, a block of a session, a range.
pub fn names_step(word: &str) -> bool {
    let is_step = |reference: &StepReference| match reference {
        StepReference::Block { session, id } => {
            let number = id.strip_prefix("n-").or_else(|| id.strip_prefix("n_")).unwrap_or(id);
            session.is_some() || (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        }
        StepReference::Back(_) | StepReference::Name(_) | StepReference::LatestCheckpoint => true,
    };
    match parse(word) {
        Some(ReferenceText::One(one)) => is_step(&one),
        Some(ReferenceText::Range(from, to)) => is_step(&from) && is_step(&to),
        None => false,
    }
}

/// The session that a reference to one step names.
pub fn session_of(word: &str) -> Option<String> {
    match one(word)? {
        StepReference::Block { session, .. } => session,
        _ => None,
    }
}

impl fmt::Display for StepReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Back(1) => f.write_str("^"),
            Self::Back(back) => write!(f, "^{back}"),
            Self::Block { session: Some(session), id } => write!(f, "{session}#{id}"),
            Self::Block { session: None, id } => f.write_str(id),
            Self::Name(name) => write!(f, "@{name}"),
            Self::LatestCheckpoint => f.write_str("cp:latest"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> String {
        match parse(text) {
            None => "none".to_owned(),
            Some(ReferenceText::One(it)) => it.to_string(),
            Some(ReferenceText::Range(from, to)) => format!("{from} to {to}"),
        }
    }

    #[test]
    fn forms() {
        for (text, wanted) in [
            ("^", "^"),
            ("^1", "^"),
            ("^2", "^2"),
            ("^0", "none"),
            ("^n-015", "n-015"),
            ("n-015", "n-015"),
            ("n_015", "n_015"),
            ("14", "14"),
            ("cell_a1b2c3d4", "cell_a1b2c3d4"),
            ("s#n-015", "s#n-015"),
            ("s#^n-015", "s#n-015"),
            ("s:n-015", "s#n-015"),
            ("[[s#^n-015]]", "s#n-015"),
            ("![[s#^n-015|that one]]", "s#n-015"),
            ("[[#^n-015]]", "n-015"),
            ("@plan", "@plan"),
            ("@", "none"),
            ("", "none"),
            ("s#", "none"),
            ("cp:latest", "cp:latest"),
            ("n-003..n-007", "n-003 to n-007"),
            ("s#n-003..n-007", "s#n-003 to s#n-007"),
            ("^3..^", "^3 to ^"),
            ("n-003..", "n-003.."),
        ] {
            assert_eq!(read(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_session_is_no_step() {
        for (word, is_step) in [
            ("n-014", true),
            ("n_014", true),
            ("14", true),
            ("^", true),
            ("@plan", true),
            ("s#n-014", true),
            ("s:n-014", true),
            ("[[s#^n-014]]", true),
            ("n-003..n-007", true),
            ("2026-11-20-mend-the-pump", false),
            ("pump", false),
            ("sessions/pump.md", false),
            ("", false),
        ] {
            assert_eq!(names_step(word), is_step, "{word}");
        }
    }

    proptest! {
        #[test]
        fn total(text in "\\PC{0,20}|[\\[\\]#^@:.n0-9-]{0,12}") {
            parse(&text);
        }
    }
}
