//! The lines of a session as typed structs that borrow from the line.
//!
//! One struct for all kinds: only what the importer uses is named, everything else is passed over by the parser.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::file::lenient::{Flag, List, Maybe, Number, Text, drained};

/// One line of a session.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct PiRecord<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) id: Text<'a>,
    pub(super) parent_id: Parent<'a>,
    pub(super) timestamp: Text<'a>,

    // the header
    pub(super) cwd: Text<'a>,
    pub(super) parent_session: Text<'a>,
    pub(super) branched_from: Text<'a>,

    // entries
    pub(super) message: Maybe<PiMessage<'a>>,
    pub(super) model_id: Text<'a>,
    pub(super) model: Text<'a>,
    pub(super) summary: Text<'a>,
    pub(super) tokens_before: Number,
    pub(super) from_id: Text<'a>,
    pub(super) usage: Maybe<PiTokens>,
    pub(super) name: Text<'a>,
    pub(super) title: Text<'a>,
    pub(super) source: Text<'a>,
    pub(super) target_id: Text<'a>,
    pub(super) label: Text<'a>,
    pub(super) custom_type: Text<'a>,
    pub(super) data: Maybe<Data<'a>>,
}

/// What an extension keeps, as far as it tells of a failure.
#[derive(Debug, Deserialize)]
pub(super) struct Data<'a> {
    #[serde(borrow, default)]
    pub(super) error: Text<'a>,
}

/// A message.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PiMessage<'a> {
    #[serde(borrow, default)]
    pub(super) role: Text<'a>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) timestamp: Number,

    // assistant
    #[serde(borrow, default)]
    pub(super) model: Text<'a>,
    #[serde(default)]
    pub(super) usage: Maybe<PiTokens>,
    #[serde(borrow, default)]
    pub(super) stop_reason: Text<'a>,
    #[serde(borrow, default, rename = "errorMessage")]
    pub(super) error: Text<'a>,

    // toolResult
    #[serde(borrow, default)]
    pub(super) tool_call_id: Text<'a>,
    #[serde(default)]
    pub(super) is_error: Flag,
    #[serde(borrow, default)]
    pub(super) details: Maybe<Details<'a>>,

    // bashExecution
    #[serde(borrow, default)]
    pub(super) command: Text<'a>,
    #[serde(borrow, default)]
    pub(super) output: Text<'a>,
    #[serde(default)]
    pub(super) exit_code: Number,
    #[serde(default)]
    pub(super) cancelled: Flag,

    // branchSummary, compactionSummary
    #[serde(borrow, default)]
    pub(super) summary: Text<'a>,
    #[serde(borrow, default)]
    pub(super) from_id: Text<'a>,
    #[serde(default)]
    pub(super) tokens_before: Number,
}

impl<'a> PiMessage<'a> {
    /// What it says: words are one block.
    pub(super) fn blocks(&self) -> Vec<PiBlock<'a>> {
        let Some(raw) = self.content else { return Vec::new() };
        if raw.get().starts_with('[') {
            return serde_json::from_str(raw.get()).map(|List(blocks)| blocks).unwrap_or_default();
        }
        let text: Text<'a> = serde_json::from_str(raw.get()).unwrap_or_default();
        vec![PiBlock { kind: Text(Some("text".into())), text, ..PiBlock::default() }]
    }
}

/// What a tool's answer says beside its text.
#[derive(Debug, Deserialize)]
pub(super) struct Details<'a> {
    #[serde(borrow, default)]
    pub(super) diff: Text<'a>,
    #[serde(borrow, default)]
    pub(super) status: Text<'a>,
}

/// Token counts and what they cost.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PiTokens {
    #[serde(default)]
    pub(super) input: Number,
    #[serde(default)]
    pub(super) output: Number,
    #[serde(default)]
    pub(super) cache_read: Number,
    #[serde(default)]
    pub(super) cache_write: Number,
    #[serde(default)]
    pub(super) cost: Maybe<Cost>,
}

/// Dollars.
#[derive(Debug, Deserialize)]
pub(super) struct Cost {
    #[serde(default)]
    pub(super) total: Number,
}

/// One block of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct PiBlock<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) text: Text<'a>,
    pub(super) thinking: Text<'a>,
    pub(super) id: Text<'a>,
    pub(super) name: Text<'a>,
    pub(super) arguments: Value,
    pub(super) mime_type: Text<'a>,
    data: Option<&'a RawValue>,
}

impl PiBlock<'_> {
    /// Decoded size of its base64 data.
    pub(super) fn bytes(&self) -> u64 {
        let data = self.data.map_or("", RawValue::get).trim_matches('"').trim_end_matches('=');
        (data.len() as u64).saturating_mul(3) / 4
    }
}

/// What an entry says of its parent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Parent<'a> {
    /// Nothing: the first version of the format has no tree.
    #[default]
    Unsaid,
    /// That it has none.
    Root,
    /// Its id.
    Id(Text<'a>),
}

impl Parent<'_> {
    /// The id, `""` where there is none.
    pub(super) fn id(&self) -> &str {
        match self {
            Self::Id(id) => id.str(),
            _ => "",
        }
    }
}

struct ParentVisitor;

impl<'de> Visitor<'de> for ParentVisitor {
    type Value = Parent<'de>;

    fn visit_borrowed_str<E>(self, id: &'de str) -> Result<Parent<'de>, E> {
        Ok(Parent::Id(Text(Some(id.into()))))
    }

    fn visit_str<E>(self, id: &str) -> Result<Parent<'de>, E> {
        Ok(Parent::Id(Text(Some(id.to_owned().into()))))
    }

    fn visit_unit<E>(self) -> Result<Parent<'de>, E> {
        Ok(Parent::Root)
    }

    fn visit_none<E>(self) -> Result<Parent<'de>, E> {
        Ok(Parent::Root)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Parent<'de>, E> {
        Ok(Parent::Unsaid)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Parent<'de>, E> {
        Ok(Parent::Unsaid)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Parent<'de>, E> {
        Ok(Parent::Unsaid)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Parent<'de>, E> {
        Ok(Parent::Unsaid)
    }

    drained!(Parent::Unsaid; map);
    drained!(Parent::Unsaid; seq);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Parent<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ParentVisitor)
    }
}

/// Reads a line; `None` where it is no JSON object.
///
/// A line that names a key twice fails the typed parser; it is then read once more by way of a generic value, where
/// the last one counts.
pub(super) fn with_record<T>(line: &str, then: impl FnOnce(&mut PiRecord<'_>) -> T) -> Option<T> {
    if let Ok(Maybe(record)) = serde_json::from_str::<Maybe<Box<PiRecord<'_>>>>(line) {
        return record.map(|mut record| then(&mut record));
    }
    let value: Value = serde_json::from_str(line).ok()?;
    let line = serde_json::to_string(&value).ok()?;
    let Maybe(record) = serde_json::from_str::<Maybe<Box<PiRecord<'_>>>>(&line).ok()?;
    record.map(|mut record| then(&mut record))
}
