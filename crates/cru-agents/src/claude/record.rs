//! The host's records as typed structs that borrow from the line.
//!
//! One struct for all record types: only what the importer uses is named, everything else is passed over by the
//! parser. No meaning is decided here.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::detail::Outcome;
use crate::file::lenient::{Flag, List, Maybe, Number, Text, otherwise};

/// The fields by which a record is placed: all that is read of a progress line.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct ClaudeEnvelope<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) uuid: Text<'a>,
    pub(super) parent_uuid: Text<'a>,
    pub(super) session_id: Text<'a>,
    pub(super) is_sidechain: Flag,
    pub(super) message_id: Text<'a>,
    pub(super) leaf_uuid: Text<'a>,
}

/// One line of a transcript.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct ClaudeRecord<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) subtype: Text<'a>,
    pub(super) uuid: Text<'a>,
    pub(super) parent_uuid: Text<'a>,
    pub(super) logical_parent_uuid: Text<'a>,
    pub(super) session_id: Text<'a>,
    pub(super) agent_id: Text<'a>,
    pub(super) is_sidechain: Flag,
    pub(super) timestamp: Text<'a>,
    pub(super) cwd: Text<'a>,
    pub(super) git_branch: Text<'a>,
    pub(super) version: Text<'a>,
    pub(super) forked_from: Maybe<ForkedFrom<'a>>,

    // user and assistant
    pub(super) message: Maybe<ClaudeMessage<'a>>,
    pub(super) tool_use_result: Outcome<'a>,
    #[serde(rename = "sourceToolAssistantUUID")]
    pub(super) source_uuid: Text<'a>,
    pub(super) is_meta: Flag,
    pub(super) is_compact_summary: Flag,
    pub(super) is_api_error_message: Flag,
    pub(super) plan_content: Text<'a>,
    pub(super) prompt_source: Text<'a>,
    pub(super) origin: Maybe<Origin<'a>>,
    pub(super) tool_denial_kind: Text<'a>,
    pub(super) user_feedback: Text<'a>,
    #[serde(rename = "costUSD")]
    pub(super) cost: Number,

    // system, attachment and the rest
    pub(super) content: ClaudeContent<'a>,
    pub(super) compact_metadata: Maybe<CompactMetadata<'a>>,
    pub(super) attachment: Maybe<Attachment<'a>>,
    pub(super) operation: Text<'a>,
    pub(super) summary: Text<'a>,
    pub(super) leaf_uuid: Text<'a>,
    pub(super) ai_title: Text<'a>,
    pub(super) custom_title: Text<'a>,
    pub(super) pr_url: Text<'a>,
    pub(super) pr_number: Number,
    #[serde(rename = "totalCostUSD")]
    pub(super) total_cost: Number,
    pub(super) model_usage: Value,
    pub(super) worktree_session: Maybe<Worktree<'a>>,
    pub(super) relocated_cwd: Text<'a>,
    pub(super) continued_in_session_id: Text<'a>,
    pub(super) session_kind: Text<'a>,
}

/// The work tree that a session works in.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Worktree<'a> {
    #[serde(borrow, default)]
    pub(super) original_cwd: Text<'a>,
    #[serde(borrow, default)]
    pub(super) worktree_name: Text<'a>,
}

/// Where a copied record was copied from.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ForkedFrom<'a> {
    #[serde(borrow, default)]
    pub(super) session_id: Text<'a>,
}

/// Who or what a user line came from.
#[derive(Debug, Deserialize)]
pub(super) struct Origin<'a> {
    #[serde(borrow, default)]
    pub(super) kind: Text<'a>,
}

/// What is known of a compaction.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompactMetadata<'a> {
    #[serde(borrow, default)]
    pub(super) trigger: Text<'a>,
    #[serde(default)]
    pub(super) pre_tokens: Number,
}

/// What the host put beside the conversation.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Attachment<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow, default)]
    pub(super) prompt: ClaudeContent<'a>,
    #[serde(borrow, default)]
    pub(super) timestamp: Text<'a>,
    #[serde(borrow, default)]
    pub(super) origin: Maybe<Origin<'a>>,
}

/// A message of the model service.
#[derive(Debug, Deserialize)]
pub(super) struct ClaudeMessage<'a> {
    #[serde(borrow, default)]
    pub(super) id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) model: Text<'a>,
    #[serde(borrow, default)]
    pub(super) content: ClaudeContent<'a>,
    #[serde(borrow, default)]
    pub(super) usage: Maybe<ClaudeTokens<'a>>,
}

/// Token counts of a message.
#[derive(Debug, Deserialize)]
pub(super) struct ClaudeTokens<'a> {
    #[serde(default, rename = "input_tokens")]
    pub(super) input: Number,
    #[serde(default, rename = "output_tokens")]
    pub(super) output: Number,
    #[serde(default, rename = "cache_creation_input_tokens")]
    pub(super) cache_write: Number,
    #[serde(default, rename = "cache_read_input_tokens")]
    pub(super) cache_read: Number,
    #[serde(default, rename = "cache_creation")]
    pub(super) by_life: Maybe<ClaudeCacheWrites>,
    #[serde(default, rename = "server_tool_use")]
    pub(super) by_maker: Maybe<ClaudeMakerCalls>,
    /// `fast`, or as usual.
    #[serde(borrow, default)]
    pub(super) speed: Text<'a>,
    /// `us` where it ran there alone.
    #[serde(borrow, default)]
    pub(super) inference_geo: Text<'a>,
}

/// Calls that the maker of the model ran for it.
#[derive(Debug, Deserialize)]
pub(super) struct ClaudeMakerCalls {
    #[serde(default)]
    pub(super) web_search_requests: Number,
}

/// Tokens written to the cache, by how long they are kept.
#[derive(Debug, Deserialize)]
pub(super) struct ClaudeCacheWrites {
    #[serde(default, rename = "ephemeral_1h_input_tokens")]
    pub(super) hour: Number,
}

/// What a message says: words, or a list of blocks.
#[derive(Debug, Default)]
pub(super) enum ClaudeContent<'a> {
    /// Missing, or of a kind that says nothing.
    #[default]
    None,
    /// Words.
    Text(Text<'a>),
    /// Blocks.
    Blocks(Vec<ClaudeBlock<'a>>),
}

/// One block of a message.
#[derive(Debug, Deserialize)]
pub(super) struct ClaudeBlock<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow, default, alias = "connector_text")]
    pub(super) text: Text<'a>,
    #[serde(borrow, default)]
    pub(super) thinking: Text<'a>,
    #[serde(borrow, default)]
    pub(super) id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) name: Text<'a>,
    #[serde(default)]
    pub(super) input: Value,
    #[serde(borrow, default)]
    pub(super) tool_use_id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) content: Parts<'a>,
    #[serde(default)]
    pub(super) is_error: Flag,
    #[serde(borrow, default)]
    pub(super) source: Maybe<ClaudeSource<'a>>,
}

/// What a tool answered: words, or a list of parts.
#[derive(Debug, Default)]
pub(super) enum Parts<'a> {
    /// Missing.
    #[default]
    None,
    /// Words.
    Text(Text<'a>),
    /// Parts.
    List(Vec<ClaudePart<'a>>),
}

/// One part of a tool's answer.
#[derive(Debug, Deserialize)]
pub(super) struct ClaudePart<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow, default)]
    pub(super) text: Text<'a>,
    #[serde(borrow, default)]
    pub(super) tool_name: Text<'a>,
    #[serde(borrow, default)]
    pub(super) source: Maybe<ClaudeSource<'a>>,
}

/// The data of a picture or document.
#[derive(Debug, Deserialize)]
pub(super) struct ClaudeSource<'a> {
    #[serde(borrow, default)]
    pub(super) media_type: Text<'a>,
    #[serde(borrow, default)]
    pub(super) data: Option<&'a RawValue>,
}

impl ClaudeSource<'_> {
    /// Decoded size of its base64 data.
    pub(super) fn bytes(&self) -> u64 {
        let data = self.data.map_or("", RawValue::get).trim_matches('"').trim_end_matches('=');
        (data.len() as u64).saturating_mul(3) / 4
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = ClaudeContent<'de>;

    otherwise!(ClaudeContent::None; visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64));

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<ClaudeContent<'de>, E> {
        Ok(ClaudeContent::Text(Text(Some(text.into()))))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<ClaudeContent<'de>, E> {
        Ok(ClaudeContent::Text(Text(Some(text.to_owned().into()))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<ClaudeContent<'de>, A::Error> {
        let mut blocks = Vec::new();
        while let Some(Maybe(block)) = seq.next_element()? {
            blocks.extend(block);
        }
        Ok(ClaudeContent::Blocks(blocks))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ClaudeContent<'de>, A::Error> {
        ClaudeBlock::deserialize(MapAccessDeserializer::new(map)).map(|block| ClaudeContent::Blocks(vec![block]))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ClaudeContent<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct PartsVisitor;

impl<'de> Visitor<'de> for PartsVisitor {
    type Value = Parts<'de>;

    otherwise!(Parts::None; visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64));

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Parts<'de>, E> {
        Ok(Parts::Text(Text(Some(text.into()))))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Parts<'de>, E> {
        Ok(Parts::Text(Text(Some(text.to_owned().into()))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Parts<'de>, A::Error> {
        List::deserialize(serde::de::value::SeqAccessDeserializer::new(seq)).map(|List(parts)| Parts::List(parts))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Parts<'de>, A::Error> {
        ClaudePart::deserialize(MapAccessDeserializer::new(map)).map(|part| Parts::List(vec![part]))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Parts<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PartsVisitor)
    }
}

/// Reads a line; `None` where it is no JSON object.
///
/// A line that names a key twice fails the typed parser; it is then read once more by way of a generic value, where
/// the last one counts.
pub(super) fn with_record<T>(line: &str, then: impl FnOnce(&mut ClaudeRecord<'_>) -> T) -> Option<T> {
    if let Ok(Maybe(record)) = serde_json::from_str::<Maybe<Box<ClaudeRecord<'_>>>>(line) {
        return record.map(|mut record| then(&mut record));
    }
    let value: Value = serde_json::from_str(line).ok()?;
    let line = serde_json::to_string(&value).ok()?;
    let Maybe(record) = serde_json::from_str::<Maybe<Box<ClaudeRecord<'_>>>>(&line).ok()?;
    record.map(|mut record| then(&mut record))
}

impl fmt::Display for ClaudeContent<'_> {
    /// The words alone.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Text(text) => f.write_str(text.str()),
            Self::Blocks(blocks) => {
                let mut first = true;
                for text in blocks.iter().filter_map(|block| block.text.filled()) {
                    f.write_str(if first { "" } else { "\n\n" })?;
                    f.write_str(text)?;
                    first = false;
                }
                Ok(())
            }
        }
    }
}
