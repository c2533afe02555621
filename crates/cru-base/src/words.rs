//! Closed sets of words: enums each of whose values has one word in notes, options and output.

/// A value that has a word.
pub trait WordSet: Sized + Copy + 'static {
    /// The words with their values.
    const PAIRS: &'static [(&'static str, Self)];
    /// Words of older versions that are still read.
    const OLD: &'static [(&'static str, Self)] = &[];

    /// The word of the value.
    fn word(self) -> &'static str;

    /// The words that can be written, with their values: a value whose word is empty cannot be asked for.
    fn written() -> impl Iterator<Item = (&'static str, Self)> {
        Self::PAIRS.iter().copied().filter(|(word, _)| !word.is_empty())
    }
}

/// An enum with the word of each value beside it, and what follows from that: all values, all words, the way to the word and back.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$inner:meta])* $variant:ident = $word:literal),+ $(,)? }
     $(old { $($old:literal = $now:ident),+ $(,)? })?) => {
        $(#[$meta])*
        $vis enum $name { $($(#[$inner])* $variant),+ }

        #[allow(dead_code, reason = "not every set is asked for all of it")]
        impl $name {
            /// All values, in their order.
            $vis const ALL: [Self; Self::WORDS.len()] = [$(Self::$variant),+];

            /// All words, in the order of the values.
            $vis const WORDS: [&'static str; [$($word),+].len()] = [$($word),+];

            /// The word of the value.
            $vis const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The value of exactly this word.
            $vis fn parse(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str() == word)
            }

            /// The value of a word that a person wrote: case, and blanks around it, make no difference.
            $vis fn parse_any_case(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str().eq_ignore_ascii_case(word.trim()))
            }
        }

        impl $crate::words::WordSet for $name {
            const PAIRS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),+];
            $(const OLD: &'static [(&'static str, Self)] = &[$(($old, Self::$now)),+];)?

            fn word(self) -> &'static str {
                self.as_str()
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::WordSet as _;

    words! {
        /// A set for this test.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Size {
            /// Little.
            Small = "small",
            /// Much.
            VeryLarge = "very large",
            /// Nobody said.
            Unsaid = "",
        }
        old { "big" = VeryLarge }
    }

    #[test]
    fn values_and_words_lead_to_each_other() {
        for (value, word) in Size::ALL.into_iter().zip(Size::WORDS) {
            assert_eq!((Size::parse(word), value.as_str(), value.to_string()), (Some(value), word, word.to_owned()));
        }
        assert_eq!((Size::parse("Small"), Size::parse_any_case(" Small ")), (None, Some(Size::Small)));
        assert_eq!((Size::parse("big"), Size::OLD), (None, [("big", Size::VeryLarge)].as_slice()));
        assert_eq!(Size::written().collect::<Vec<_>>(), [("small", Size::Small), ("very large", Size::VeryLarge)]);
    }
}
