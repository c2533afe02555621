//! `cru_cursor`: how far a note has been written from its transcript, and which revision of the note that is.
//!
//! The text is `r<revision> <records> <last id> <hash>`; the id and the hash are their first eight characters. Behind it may
//! stand which machine state wrote which revision last, `3fa2b1c0:7,77aa01b2:6`: several may write one note that is synced
//! between them. It lives in the note, so no cache is needed to know that a transcript was already imported.

use std::fmt;

use super::source::Consumed;

/// How ids of records begin that were made of what hooks told.
pub const HOOKED: &str = "hook";

/// Characters of an id or hash that the text shows.
const SHOWN: usize = 8;

/// A cursor, read or to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Raised by every write of the note.
    pub revision: u64,
    /// Records of the stream that the note represents.
    pub records: u64,
    /// First characters of the id of the last of them; `-` when it has none.
    pub last: String,
    /// First characters of the hash over all of them.
    pub hash: String,
    /// The revision that each machine state wrote last, of those that this text has; sorted by name. Empty where nobody has
    /// said who wrote it.
    pub writers: Vec<(String, u64)>,
}

impl Cursor {
    /// The cursor of a new note of these records.
    pub fn first(consumed: &Consumed) -> Self {
        Self {
            revision: 1,
            records: consumed.records,
            last: shorten(consumed.last.as_deref().unwrap_or("")),
            hash: shorten(&consumed.hash),
            writers: Vec::new(),
        }
    }

    /// The newest revision of a machine state that this text has; that of the text where nobody has said who wrote it.
    pub fn revision_of(&self, writer: &str) -> u64 {
        if self.writers.is_empty() { self.revision } else { self.written_by(writer) }
    }

    /// The newest revision that is said to be of a machine state; 0 where none is.
    pub fn written_by(&self, writer: &str) -> u64 {
        self.writers.iter().find(|(name, _)| name == writer).map_or(0, |(_, revision)| *revision)
    }

    /// With a revision that a machine state writes now.
    pub fn set_writer(&mut self, writer: &str, revision: u64) {
        self.writers.retain(|(name, _)| name != writer);
        self.writers.push((writer.to_owned(), revision));
        self.writers.sort();
    }

    /// Reads the text; `None` when it is not a cursor.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let revision = words.next()?.strip_prefix('r')?.parse().ok()?;
        let records = words.next()?.parse().ok()?;
        let (last, hash) = (words.next()?.to_owned(), words.next()?.to_owned());
        let writer = |text: &str| {
            let (name, revision) = text.split_once(':')?;
            Some((name.to_owned(), revision.parse().ok()?)).filter(|_| !name.is_empty())
        };
        let writers = words.next().map_or(Some(Vec::new()), |all| all.split(',').map(writer).collect())?;
        words.next().is_none().then_some(Self { revision, records, last, hash, writers })
    }

    /// The last record's id as [`record_key`] gives it; none where it has none.
    pub fn last_key(&self) -> Option<[u8; 8]> {
        (self.last != "-").then(|| record_key(&self.last)).flatten()
    }

    /// What it shows of the last record's id; none where that record has none.
    pub fn last_id(&self) -> Option<String> {
        (self.last != "-").then(|| self.last.clone())
    }

    /// Whether the note was made of what a host's hooks told, for want of a transcript.
    pub fn is_hooked(&self) -> bool {
        self.last.starts_with(HOOKED)
    }

    /// Whether `hash` is that of the records behind it.
    pub fn is_of(&self, hash: &str) -> bool {
        self.hash == shorten(hash)
    }

    /// Whether the same records are behind both, whatever was written to the notes since.
    pub fn same_records(&self, other: &Self) -> bool {
        (self.records, &self.last, &self.hash) == (other.records, &other.last, &other.hash)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{} {} {} {}", self.revision, self.records, self.last, self.hash)?;
        for (at, (name, revision)) in self.writers.iter().enumerate() {
            write!(f, "{}{name}:{revision}", if at == 0 { ' ' } else { ',' })?;
        }
        Ok(())
    }
}

/// What the cursor keeps of a record's id, for comparing many; none where it keeps nothing.
pub fn record_key(id: &str) -> Option<[u8; SHOWN]> {
    let mut key = [0; SHOWN];
    let kept = id.bytes().filter(u8::is_ascii_alphanumeric);
    let count = key.iter_mut().zip(kept).map(|(to, from)| *to = from).count();
    (count > 0).then_some(key)
}

/// The first characters that are safe in a line of frontmatter.
fn shorten(id: &str) -> String {
    let short: String = id.chars().filter(char::is_ascii_alphanumeric).take(SHOWN).collect();
    if short.is_empty() { "-".to_owned() } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let consumed = Consumed {
            records: 1834,
            last: Some("6f1c2ab0-33d1-4b2e-9f3a-0c7d2a9a1e11".to_owned()),
            hash: "9f2c11ab77aa01b2".to_owned(),
            ..Consumed::default()
        };
        let cursor = Cursor::first(&consumed);
        assert_eq!(cursor.to_string(), "r1 1834 6f1c2ab0 9f2c11ab");
        assert_eq!(Cursor::parse("r1 1834 6f1c2ab0 9f2c11ab"), Some(cursor));
    }

    #[test]
    fn says_who_wrote_it() {
        let mut cursor = Cursor::parse("r7 0 - - 3fa2b1c0:7,77aa01b2:6").unwrap();
        assert_eq!(
            (cursor.revision_of("3fa2b1c0"), cursor.revision_of("77aa01b2"), cursor.revision_of("x")),
            (7, 6, 0)
        );
        cursor.set_writer("00", 8);
        assert_eq!(cursor.to_string(), "r7 0 - - 00:8,3fa2b1c0:7,77aa01b2:6");
        assert_eq!(Cursor::parse("r7 0 - -").unwrap().revision_of("x"), 7);
        for text in ["r1 2 3 4 a", "r1 2 3 4 a:", "r1 2 3 4 :5", "r1 2 3 4 a:5,", "r1 2 3 4 a:5 b:6"] {
            assert_eq!(Cursor::parse(text), None, "{text}");
        }
    }

    #[test]
    fn ids_cannot_break_the_line() {
        let consumed = Consumed { records: 1, last: Some("a b\nc: d".to_owned()), ..Consumed::default() };
        assert_eq!(Cursor::first(&consumed).to_string(), "r1 1 abcd -");
    }

    #[test]
    fn refuses_other_texts() {
        for text in ["", "r1", "1 2 3 4", "r1 2 3 4 5", "rx 2 3 4"] {
            assert_eq!(Cursor::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_new_revision_has_the_same_records() {
        let old = Cursor::parse("r1 2 aa bb").unwrap();
        assert!(old.same_records(&Cursor::parse("r9 2 aa bb").unwrap()));
        assert!(!old.same_records(&Cursor::parse("r1 3 aa bb").unwrap()));
    }
}
