//! How the lines of a note end, so that what is inserted ends the same way.

/// A note's line ending, decided by its first line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LineEnd {
    /// `\n`.
    #[default]
    Lf,
    /// `\r\n`.
    CrLf,
}

impl LineEnd {
    /// The ending of the first line of `text`; a text of one line counts as `\n`.
    pub fn of(text: &str) -> Self {
        match memchr::memchr(b'\n', text.as_bytes()) {
            Some(at) if text.as_bytes()[..at].ends_with(b"\r") => Self::CrLf,
            _ => Self::Lf,
        }
    }

    /// The bytes.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }

    /// `text` with every line ended this way. A lone `\r` stays.
    pub fn apply(self, text: &str) -> String {
        let text = text.replace("\r\n", "\n");
        match self {
            Self::Lf => text,
            Self::CrLf => text.replace('\n', "\r\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_decides() {
        assert_eq!(LineEnd::of("a\r\nb\n"), LineEnd::CrLf);
        assert_eq!(LineEnd::of("a\nb\r\n"), LineEnd::Lf);
        assert_eq!(LineEnd::of("\n"), LineEnd::Lf);
        assert_eq!(LineEnd::of("a"), LineEnd::Lf);
    }

    #[test]
    fn applies_once() {
        assert_eq!(LineEnd::CrLf.apply("a\nb\r\n"), "a\r\nb\r\n");
        assert_eq!(LineEnd::Lf.apply("a\nb\r\n"), "a\nb\n");
    }
}
