//! Changes to a text as a list of byte ranges and what goes there.
//!
//! The only way a note is changed: bytes that no edit names cannot change. A patch belongs to the bytes it was made
//! for; the writer in `base::files` sees to it that these are still the bytes on disk.

use cru_base::Span;

/// One change: the bytes of `span` become `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Which bytes; an empty range inserts.
    pub span: Span,
    /// What stands there afterwards.
    pub text: String,
}

/// Edits in the order of the text, none overlapping another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    edits: Vec<Edit>,
}

/// Two edits want the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("two changes of the bytes {}..{}", .0.start, .0.end)]
pub struct Overlap(pub Span);

impl Patch {
    /// A patch of `edits` in any order. Insertions at one place keep the order they are given in, and stand before a
    /// replacement that starts there. Edits that change nothing are left out.
    pub fn new(mut edits: Vec<Edit>) -> Result<Self, Overlap> {
        edits.retain(|edit| !(edit.span.is_empty() && edit.text.is_empty()));
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        for pair in edits.windows(2) {
            let [before, after] = pair else { continue };
            if after.span.start < before.span.end {
                return Err(Overlap(Span::new(after.span.start, before.span.end)));
            }
        }
        Ok(Self { edits })
    }

    /// A patch of one edit.
    pub fn replace(span: Span, text: impl Into<String>) -> Self {
        let edit = Edit { span, text: text.into() };
        Self { edits: if edit.span.is_empty() && edit.text.is_empty() { Vec::new() } else { vec![edit] } }
    }

    /// A patch that inserts `text` at `offset`.
    pub fn insert(offset: usize, text: impl Into<String>) -> Self {
        Self::replace(Span::at(offset), text)
    }

    /// Both patches, made for the same bytes, as one; insertions at one place keep `self` first.
    pub fn and(mut self, other: Self) -> Result<Self, Overlap> {
        self.edits.extend(other.edits);
        Self::new(self.edits)
    }

    /// The edits in order.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The new bytes. An edit beyond the end of `bytes` counts as at the end.
    pub fn apply(&self, bytes: &[u8]) -> Vec<u8> {
        let inserted: usize = self.edits.iter().map(|edit| edit.text.len()).sum();
        let mut out = Vec::with_capacity(bytes.len() + inserted);
        let mut at = 0;
        for edit in &self.edits {
            let start = edit.span.start.clamp(at, bytes.len());
            out.extend_from_slice(&bytes[at..start]);
            out.extend_from_slice(edit.text.as_bytes());
            at = edit.span.end.clamp(start, bytes.len());
        }
        out.extend_from_slice(&bytes[at..]);
        out
    }

    /// The new text. Edits that cut a character in two leave replacement characters.
    pub fn apply_to(&self, text: &str) -> String {
        match String::from_utf8(self.apply(text.as_bytes())) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edit(start: usize, end: usize, text: &str) -> Edit {
        Edit { span: Span::new(start, end), text: text.to_owned() }
    }

    #[test]
    fn applies_in_order() {
        let patch = Patch::new(vec![edit(4, 4, "x"), edit(0, 1, "A"), edit(4, 4, "y"), edit(4, 5, "")]).unwrap();
        assert_eq!(patch.apply_to("abcdef"), "Abcdxyf");
    }

    #[test]
    fn nothing_is_nothing() {
        let patch = Patch::new(vec![edit(3, 3, "")]).unwrap();
        assert!(patch.is_empty() && Patch::insert(2, "").is_empty());
        assert!(patch.is_empty() && patch.apply_to("abc") == "abc");
    }

    #[test]
    fn overlap_is_refused() {
        assert_eq!(Patch::new(vec![edit(2, 5, "x"), edit(0, 3, "y")]), Err(Overlap(Span::new(2, 3))));
        assert_eq!(Patch::new(vec![edit(0, 5, "x"), edit(3, 3, "y")]), Err(Overlap(Span::new(3, 5))));
        assert!(Patch::new(vec![edit(0, 3, "x"), edit(3, 5, "y")]).is_ok());
        assert!(Patch::insert(4, "x").and(Patch::replace(Span::new(0, 9), "y")).is_err());
    }

    proptest! {
        /// What no edit names comes through in order; taking the inserted texts out again gives what was kept.
        #[test]
        fn bytes_outside_stay(bytes in prop::collection::vec(any::<u8>(), 0..60), cuts in prop::collection::vec(0usize..60, 0..12), text in "[a-z]{0,4}") {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.min(bytes.len())).collect();
            cuts.sort_unstable();
            let edits: Vec<Edit> = cuts.chunks_exact(2).map(|pair| edit(pair[0], pair[1], &text)).collect();
            let patch = Patch::new(edits).unwrap();
            let new = patch.apply(&bytes);
            let (mut old_at, mut new_at) = (0, 0);
            for edit in patch.edits() {
                let kept = edit.span.start - old_at;
                prop_assert_eq!(&bytes[old_at..edit.span.start], &new[new_at..new_at + kept]);
                new_at += kept;
                prop_assert_eq!(&new[new_at..new_at + edit.text.len()], edit.text.as_bytes());
                new_at += edit.text.len();
                old_at = edit.span.end;
            }
            prop_assert_eq!(&bytes[old_at..], &new[new_at..]);
        }
    }
}
