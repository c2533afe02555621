//! The bytes that an operation took away and put there, as they are kept for undoing.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use cru_note::Patch;

/// How many bytes around a change are kept, to find its place again.
const CONTEXT: usize = 48;

/// One change: at `at` the bytes `removed` became `inserted`.
///
/// Changes in a list follow one another: `at` counts in the text as the changes before it left it. So the changes of
/// all operations of a write, put together, are the way from the old text to the new one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Offset in the text as it was before this change.
    pub at: usize,
    /// What stood there.
    #[serde(with = "text", default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<u8>,
    /// What stands there now.
    #[serde(with = "text", default, skip_serializing_if = "Vec::is_empty")]
    pub inserted: Vec<u8>,
    /// The bytes before it.
    #[serde(with = "text", default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<u8>,
    /// The bytes after it.
    #[serde(with = "text", default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<u8>,
    /// Ids, in small letters, of blocks that it took out and that stood elsewhere in the text too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubled: Vec<String>,
}

impl Change {
    /// The changes that `patch` makes in `bytes`, and the bytes afterwards.
    pub(super) fn of(patch: &Patch, bytes: &[u8]) -> (Vec<Self>, Vec<u8>) {
        let mut new = Vec::with_capacity(bytes.len());
        let mut changes: Vec<Self> = Vec::new();
        let mut kept = 0;
        for edit in patch.edits() {
            let start = edit.span.start.clamp(kept, bytes.len());
            let end = edit.span.end.clamp(start, bytes.len());
            new.extend_from_slice(&bytes[kept..start]);
            changes.push(Self {
                at: new.len(),
                removed: bytes[start..end].to_vec(),
                inserted: edit.text.as_bytes().to_vec(),
                before: tail(&new).to_vec(),
                after: head(&bytes[end..]).to_vec(),
                doubled: Vec::new(),
            });
            new.extend_from_slice(edit.text.as_bytes());
            kept = end;
        }
        new.extend_from_slice(&bytes[kept..]);
        (changes, new)
    }

    /// This insertion as several, one behind the other, cut where `ends` says. What stands behind the last cut goes
    /// in with the first, as it does when they are made one by one.
    pub(super) fn cut(&self, ends: &[usize]) -> Vec<Self> {
        let (Some(&first), Some(&last)) = (ends.first(), ends.last()) else { return vec![self.clone()] };
        let trail = &self.inserted[last..];
        let behind = [trail, &self.after].concat();
        let mut parts = vec![Self { inserted: [&self.inserted[..first], trail].concat(), ..self.clone() }];
        for pair in ends.windows(2) {
            let [from, to] = [pair[0], pair[1]];
            parts.push(Self {
                at: self.at + from,
                removed: Vec::new(),
                inserted: self.inserted[from..to].to_vec(),
                before: tail(&[&self.before, &self.inserted[..from]].concat()).to_vec(),
                after: head(&behind).to_vec(),
                doubled: Vec::new(),
            });
        }
        parts
    }
}

/// The last bytes, from the start of a character.
pub(super) fn tail(bytes: &[u8]) -> &[u8] {
    let from = bytes.len().saturating_sub(CONTEXT);
    let start = (from..bytes.len()).find(|&at| starts_character(bytes, at));
    &bytes[start.unwrap_or(bytes.len())..]
}

/// The first bytes, to the end of a character.
pub(super) fn head(bytes: &[u8]) -> &[u8] {
    let to = bytes.len().min(CONTEXT);
    let end = (0..=to).rev().find(|&at| starts_character(bytes, at));
    &bytes[..end.unwrap_or(to)]
}

fn starts_character(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|byte| byte & 0xC0 != 0x80)
}

/// `bytes` with `new` in the place of `len` bytes at `at`.
pub(super) fn splice(bytes: &[u8], at: usize, len: usize, new: &[u8]) -> Vec<u8> {
    let at = at.min(bytes.len());
    let end = (at + len).min(bytes.len());
    [&bytes[..at], new, &bytes[end..]].concat()
}

/// Bytes as text where they are, else as numbers.
mod text {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(bytes) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => bytes.serialize(serializer),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        Ok(match Form::deserialize(deserializer)? {
            Form::Text(text) => text.into_bytes(),
            Form::Bytes(bytes) => bytes,
        })
    }
}
