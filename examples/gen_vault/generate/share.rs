//! How many bytes of a note are of what kind, so that what is written next is what the note still lacks.

/// Kinds of text in a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Lines of steps.
    Step,
    /// Lines and fences below a step.
    Nested,
    /// Prose of agents.
    Prose,
    /// Words of the user.
    User,
    /// Decisions, errors and other callouts.
    Callout,
    /// Frontmatter, headings, tasks.
    Head,
}

/// What 78 notes of real sessions are made of, in hundredths of their bytes; what is left is headings.
const MIX: [(Kind, usize); 5] =
    [(Kind::Step, 26), (Kind::Nested, 18), (Kind::Prose, 30), (Kind::User, 11), (Kind::Callout, 8)];

/// A note's text with the bytes of each kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Share {
    pub(crate) text: String,
    bytes: [usize; 6],
}

impl Share {
    /// Writes something of a kind.
    pub(crate) fn add(&mut self, kind: Kind, write: impl FnOnce(&mut String)) {
        let from = self.text.len();
        write(&mut self.text);
        self.bytes[kind as usize] += self.text.len() - from;
    }

    /// Whether there is less of a kind than its share, as measured by the steps, of which the number is given.
    pub(crate) fn lacks(&self, kind: Kind) -> bool {
        let share = |kind| MIX.iter().find(|(of, _)| *of == kind).map_or(0, |(_, share)| *share);
        let steps = self.bytes[Kind::Step as usize].max(1);
        self.bytes[kind as usize] * share(Kind::Step) < steps * share(kind)
    }

    /// Bytes of each kind, in the order of [`Kind`].
    pub(crate) fn bytes(&self) -> [usize; 6] {
        self.bytes
    }
}
