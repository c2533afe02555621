//! How much of a transcript its note tells, and `cru_detail`, by which the note remembers it.
//!
//! A note that was made brief goes on being brief, so the choice stands in the note itself: no cache is needed to know
//! it. The usual amount is not written down. The text is the level and the word `thinking` where that is kept.

use std::fmt;

use serde::Deserialize;

cru_base::words! {
    /// How much.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Level {
        /// What was asked, decided, changed and what failed, with the last words to each request; what only looked is counted.
        Brief = "brief",
        /// Every call as a line, and all that was said.
        #[default]
        Normal = "normal",
        /// Also what calls were given and what they answered, as far as a person reads it.
        Full = "full",
    }
}

/// What a note remembers of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// How much.
    pub level: Level,
    /// Whether the agent's thinking is in it.
    pub thinking: bool,
}

impl Detail {
    /// The word that says that thinking is kept.
    const THINKING: &str = "thinking";

    /// Reads the text; words that mean nothing here change nothing.
    pub fn parse(text: &str) -> Self {
        text.split([' ', ',']).fold(Self::default(), |detail, word| match Level::parse_any_case(word) {
            Some(level) => Self { level, ..detail },
            None => Self { thinking: detail.thinking || word.eq_ignore_ascii_case(Self::THINKING), ..detail },
        })
    }

    /// The text for a note's frontmatter; `None` for the usual.
    pub fn written(self) -> Option<String> {
        (self != Self::default()).then(|| self.to_string())
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.level.as_str())?;
        if self.thinking { write!(f, " {}", Self::THINKING) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for level in Level::ALL {
            for thinking in [false, true] {
                let detail = Detail { level, thinking };
                assert_eq!(Detail::parse(&detail.to_string()), detail);
                assert_eq!(Detail::parse(detail.written().as_deref().unwrap_or_default()), detail);
            }
        }
        assert_eq!(Detail::default().written(), None);
    }

    #[test]
    fn other_words_say_nothing() {
        assert_eq!(Detail::parse("Brief, thinking, later"), Detail { level: Level::Brief, thinking: true });
        assert_eq!(Detail::parse("verbose"), Detail::default());
    }
}
