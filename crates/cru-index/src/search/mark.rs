//! Where the words of a query stand in a text.

use super::pattern::{Pattern, slips};
use crate::query::Query;
use crate::words::cut;
use cru_base::Span;

/// Finds the words of a query.
#[derive(Clone, Debug)]
pub struct Marker {
    patterns: Vec<Pattern>,
}

/// What was found in a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// Where, in order, without overlaps.
    pub spans: Vec<Span>,
    /// How many of the query's words and phrases are there.
    pub different: usize,
}

impl Marker {
    /// A marker of all words that are not excluded.
    pub fn new(query: &Query) -> Self {
        Self { patterns: query.words().into_iter().filter_map(Pattern::of).collect() }
    }

    /// Marks them in `text`.
    pub fn marks(&self, text: &str) -> Marks {
        if self.patterns.is_empty() {
            return Marks::default();
        }
        // By position: its words, the shortest first.
        let mut places: Vec<Vec<(Span, String)>> = Vec::new();
        for token in cut(text) {
            let span = Span::new(token.offset_from, token.offset_to);
            match places.last_mut() {
                Some(place) if place.first().is_some_and(|(first, _)| first.end > span.start) => {
                    place.push((span, token.text));
                    place.sort_by_key(|(span, _)| span.len());
                }
                _ => places.push(vec![(span, token.text)]),
            }
        }
        let mut marks = Marks::default();
        for pattern in &self.patterns {
            let before = marks.spans.len();
            pattern.find(&places, &mut marks.spans);
            marks.different += usize::from(marks.spans.len() > before);
        }
        marks.spans.sort();
        let mut merged: Vec<Span> = Vec::new();
        for span in marks.spans {
            match merged.last_mut() {
                Some(last) if span.start < last.end => last.end = last.end.max(span.end),
                _ => merged.push(span),
            }
        }
        marks.spans = merged;
        marks
    }
}

/// Whether the words of `part` stand in `path` side by side; the last may go on where `prefix` says so.
pub(crate) fn is_path_of(part: &str, prefix: bool, path: &str) -> bool {
    let Some(pattern) = Pattern::phrase(part) else { return false };
    Marker { patterns: vec![Pattern { prefix, ..pattern }] }.marks(path).different > 0
}

impl Pattern {
    fn find(&self, places: &[Vec<(Span, String)>], spans: &mut Vec<Span>) {
        let last = self.parts.len() - 1;
        let whole = |word: &str, own: &str| word == own || (self.prefix && own.starts_with(word));
        for (at, place) in places.iter().enumerate() {
            if let Some(joined) = &self.joined
                && let Some((span, _)) = place.iter().find(|(_, own)| whole(joined, own))
            {
                spans.push(*span);
            }
            let mut end = None;
            for (index, part) in self.parts.iter().enumerate() {
                let here = places.get(at + index);
                let found = here.and_then(|words| {
                    words.iter().find(|(_, own)| if index == last { whole(part, own) } else { part == own })
                });
                end = found.map(|(span, _)| span.end);
                if end.is_none() {
                    break;
                }
            }
            if let Some((end, (first, _))) = end.zip(place.first()) {
                // A name that is found as one word is marked as one.
                spans.push(Span::new(first.start, end.max(first.end)));
            }
            if self.fuzzy {
                let near = |own: &str| {
                    self.parts.iter().any(|part| {
                        let slips = usize::from(slips(part));
                        own.len().abs_diff(part.len()) <= slips * 4 && strsim::osa_distance(part, own) <= slips
                    })
                };
                spans.extend(place.iter().find(|(_, own)| near(own)).map(|(span, _)| *span));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(query: &str, text: &str) -> String {
        let query = Query::parse(query, &jiff::Zoned::default()).unwrap();
        let mut out = text.to_owned();
        for span in Marker::new(&query).marks(text).spans.iter().rev() {
            out.insert(span.end, ']');
            out.insert(span.start, '[');
        }
        out
    }

    #[test]
    fn marks_words_and_phrases() {
        assert_eq!(marked("login -time", "A Login in no time, login."), "A [Login] in no time, [login].");
        assert_eq!(marked("\"in no time\"", "A login in no time."), "A login [in no time].");
        assert_eq!(marked("src/auth.rs", "see `src/auth.rs:7`, not auth.rs"), "see `[src/auth.rs]:7`, not auth.rs");
        assert_eq!(marked("auth*", "authorise the author"), "[authorise] the [author]");
        assert_eq!(marked("tokne~", "a token"), "a [token]");
        assert_eq!(marked("is:failed", "failed"), "failed");
    }
}
