//! The host's records as typed structs that borrow from the line.
//!
//! A line is an envelope with a payload; the oldest files hold payloads alone. One struct for all payloads: only what the
//! importer uses is named. What comes in several forms stays raw and is read where it is needed. No meaning is decided
//! here.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::file::lenient::{Flag, Length, List, Maybe, Number, Text};
use cru_session::event::Attachment;

/// One line.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct CodexEnvelope<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) record_type: Text<'a>,
    pub(super) timestamp: Text<'a>,
    pub(super) payload: Option<&'a RawValue>,
    pub(super) id: Text<'a>,
    /// Its number in the history of the session, which goes on over the files of it.
    pub(super) ordinal: Number,
}

/// What a line says.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Payload<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) id: Text<'a>,

    // session and turn
    pub(super) session_id: Text<'a>,
    pub(super) timestamp: Text<'a>,
    pub(super) cwd: Text<'a>,
    pub(super) cli_version: Text<'a>,
    pub(super) git: Maybe<Git<'a>>,
    pub(super) source: Option<&'a RawValue>,
    pub(super) forked_from_id: Text<'a>,
    pub(super) history_base: Maybe<HistoryBase<'a>>,
    pub(super) parent_thread_id: Text<'a>,
    pub(super) agent_nickname: Text<'a>,
    pub(super) agent_role: Text<'a>,
    pub(super) model: Text<'a>,

    // items
    pub(super) role: Text<'a>,
    pub(super) content: Option<&'a RawValue>,
    pub(super) summary: List<CodexPart<'a>>,
    pub(super) name: Text<'a>,
    pub(super) namespace: Text<'a>,
    pub(super) function: Maybe<Named<'a>>,
    pub(super) arguments: Option<&'a RawValue>,
    pub(super) input: Option<&'a RawValue>,
    pub(super) call_id: Text<'a>,
    pub(super) status: Option<&'a RawValue>,
    pub(super) output: Option<&'a RawValue>,
    pub(super) result: Option<&'a RawValue>,
    pub(super) action: Option<&'a RawValue>,
    pub(super) tools: Length,
    pub(super) revised_prompt: Text<'a>,

    // events
    pub(super) message: Text<'a>,
    pub(super) text: Text<'a>,
    pub(super) images: Option<&'a RawValue>,
    pub(super) local_images: Option<&'a RawValue>,
    pub(super) info: Maybe<Info>,
    pub(super) results: Length,
    pub(super) exit_code: Number,
    pub(super) duration: Maybe<Duration>,
    pub(super) changes: Option<&'a RawValue>,
    pub(super) reason: Text<'a>,
    pub(super) num_turns: Number,
    pub(super) thread_name: Text<'a>,
    pub(super) new_thread_id: Text<'a>,
    pub(super) new_agent_nickname: Text<'a>,
    pub(super) new_agent_role: Text<'a>,
    pub(super) user_facing_hint: Text<'a>,
    pub(super) error: Maybe<Failure<'a>>,
    pub(super) item: Maybe<CodexItem<'a>>,
}

/// A part of a message or of an answer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct CodexPart<'a> {
    pub(super) text: Text<'a>,
    pub(super) image_url: Text<'a>,
    /// Of a picture that is a file.
    pub(super) path: Text<'a>,
    pub(super) content: Text<'a>,
    pub(super) success: Option<bool>,
}

/// Where the work tree stood.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Git<'a> {
    pub(super) commit_hash: Text<'a>,
    pub(super) branch: Text<'a>,
}

/// Something with a name.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Named<'a> {
    pub(super) name: Text<'a>,
}

/// What went wrong.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Failure<'a> {
    pub(super) message: Text<'a>,
}

/// A finished item of newer versions.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct CodexItem<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) content: Option<&'a RawValue>,
    pub(super) id: Text<'a>,
    pub(super) exit_code: Number,
    pub(super) duration: Maybe<Duration>,
    pub(super) duration_ms: Number,
    pub(super) changes: Option<&'a RawValue>,
    pub(super) status: Text<'a>,
    pub(super) summary_text: Option<&'a RawValue>,
}

/// The earlier history that a file goes on with, and does not repeat.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct HistoryBase<'a> {
    /// The file that it stands in, by the id in its name.
    pub(super) thread_id: Text<'a>,
    /// The number of the first record that is no part of it.
    #[serde(alias = "ordinal")]
    pub(super) end_ordinal_exclusive: Number,
}

/// Token counts: of the session so far, and of the last message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Info {
    pub(super) total_token_usage: Maybe<CodexTokens>,
    pub(super) last_token_usage: Maybe<CodexTokens>,
}

/// Token counts. Cached ones are a part of the input.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CodexTokens {
    #[serde(rename = "input_tokens")]
    pub(super) input: Number,
    #[serde(rename = "cached_input_tokens")]
    pub(super) cached: Number,
    #[serde(rename = "cache_write_input_tokens")]
    pub(super) cache_write: Number,
    #[serde(rename = "output_tokens")]
    pub(super) output: Number,
    #[serde(rename = "total_tokens")]
    pub(super) total: Number,
}

/// A time that something took.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Duration {
    secs: Number,
    nanos: Number,
}

impl Duration {
    /// In milliseconds.
    pub(super) fn millis(self) -> u64 {
        self.secs.or_zero().saturating_mul(1000).saturating_add(self.nanos.or_zero() / 1_000_000)
    }
}

/// The parts of a message or answer: a text is one part.
pub(super) fn parts(raw: Option<&RawValue>) -> Vec<CodexPart<'_>> {
    let Some(raw) = raw else { return Vec::new() };
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'"') => {
            string(raw).map(|text| CodexPart { text: Text(Some(text)), ..CodexPart::default() }).into_iter().collect()
        }
        Some(b'[') => serde_json::from_str::<List<CodexPart<'_>>>(text).map(|List(parts)| parts).unwrap_or_default(),
        Some(b'{') => {
            serde_json::from_str::<Maybe<CodexPart<'_>>>(text).ok().and_then(|part| part.0).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// A raw string.
pub(super) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Text<'_>>(raw.get()).ok()?.0
}

/// A raw list of strings; other members are left out.
pub(super) fn strings(raw: Option<&RawValue>) -> Vec<Cow<'_, str>> {
    let list = raw.and_then(|raw| serde_json::from_str::<Vec<Text<'_>>>(raw.get()).ok());
    list.unwrap_or_default().into_iter().filter_map(|text| text.0).collect()
}

/// The words of parts, joined by an empty line.
pub(super) fn words<'a>(parts: Vec<CodexPart<'a>>) -> Cow<'a, str> {
    let mut joined: Option<Cow<'a, str>> = None;
    for text in parts.into_iter().filter_map(|mut part| part.text.take()) {
        joined = Some(match joined {
            None => text,
            Some(before) => Cow::Owned(format!("{before}\n\n{text}")),
        });
    }
    joined.unwrap_or_default()
}

/// What a data address says of a picture: `data:image/png;base64,…`.
pub(super) fn picture(url: &str) -> Attachment<'static> {
    let (media, data) = url.strip_prefix("data:").and_then(|rest| rest.split_once(',')).unwrap_or(("image", ""));
    let media = media.split(';').next().filter(|media| !media.is_empty()).unwrap_or("image");
    let bytes = (data.trim_end_matches('=').len() as u64).saturating_mul(3) / 4;
    Attachment { media_type: Cow::Owned(media.to_owned()), bytes }
}

/// A picture that is a file.
pub(super) fn local_picture(path: &str) -> Attachment<'static> {
    let kind = path.rsplit_once('.').map(|(_, kind)| kind.to_ascii_lowercase());
    let media = match kind.as_deref() {
        Some("jpg" | "jpeg") => "image/jpeg".to_owned(),
        Some(kind @ ("png" | "gif" | "webp")) => format!("image/{kind}"),
        _ => "image".to_owned(),
    };
    Attachment { media_type: media.into(), bytes: 0 }
}

/// The pictures among the parts of a message.
pub(super) fn pictures(parts: &[CodexPart<'_>]) -> Vec<Attachment<'static>> {
    let picture =
        |part: &CodexPart<'_>| part.image_url.filled().map(picture).or_else(|| part.path.filled().map(local_picture));
    parts.iter().filter_map(picture).collect()
}

/// Reads a line; `None` where it is no JSON object.
///
/// A line that names a key twice fails the typed parser; it is then read once more by way of a generic value, where
/// the last one counts.
pub(super) fn with_record<T>(line: &str, then: impl FnOnce(&CodexEnvelope<'_>, &mut Payload<'_>) -> T) -> Option<T> {
    if let Ok(read) = typed(line) {
        return read.map(|(envelope, mut payload)| then(&envelope, &mut payload));
    }
    let value: Value = serde_json::from_str(line).ok()?;
    let line = serde_json::to_string(&value).ok()?;
    typed(&line).ok()?.map(|(envelope, mut payload)| then(&envelope, &mut payload))
}

/// A line with its payload; a line without one is its own.
fn typed(line: &str) -> serde_json::Result<Option<(CodexEnvelope<'_>, Box<Payload<'_>>)>> {
    let Maybe(envelope) = serde_json::from_str::<Maybe<CodexEnvelope<'_>>>(line)?;
    let Some(envelope) = envelope else { return Ok(None) };
    let text = envelope.payload.map_or(line, RawValue::get);
    let Maybe(payload) = serde_json::from_str::<Maybe<Box<Payload<'_>>>>(text)?;
    Ok(Some((envelope, payload.unwrap_or_default())))
}

/// Whether the answer of a server says that it failed.
pub(super) fn is_error(raw: Option<&RawValue>) -> Option<bool> {
    #[derive(Deserialize)]
    struct Outcome {
        #[serde(default, rename = "Ok")]
        ok: Maybe<CodexAnswer>,
        #[serde(default, rename = "Err")]
        err: Option<Value>,
    }
    #[derive(Deserialize)]
    struct CodexAnswer {
        #[serde(default, rename = "isError")]
        is_error: Flag,
    }
    let Maybe(outcome) = serde_json::from_str::<Maybe<Outcome>>(raw?.get()).ok()?;
    let outcome = outcome?;
    Some(outcome.err.is_some() || outcome.ok.0.is_some_and(|answer| answer.is_error.0))
}
