//! `toolUseResult`: the structured twin of a tool's answer.
//!
//! It is an object whose fields depend on the tool, or an error text, or a list. All tools share one struct here;
//! whole files in it stay raw and are only unescaped where a hash of them is claimed.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::file::lenient::{Flag, Length, List, Maybe, Number, Text, drained, otherwise};

/// What stands under `toolUseResult`.
#[derive(Debug, Default)]
pub(super) enum Outcome<'a> {
    /// Missing, a list, or of a kind that says nothing.
    #[default]
    None,
    /// An error text.
    Text,
    /// Fields.
    Detail(Box<Detail<'a>>),
}

impl<'a> Outcome<'a> {
    /// The fields, where there are any.
    pub(super) fn detail(&self) -> Option<&Detail<'a>> {
        if let Self::Detail(detail) = self { Some(detail) } else { None }
    }
}

/// The fields of all tools.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Detail<'a> {
    // files
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow, default)]
    pub(super) file: Maybe<FileDetail<'a>>,
    #[serde(borrow, default)]
    pub(super) old_string: Text<'a>,
    #[serde(borrow, default)]
    pub(super) new_string: Text<'a>,
    #[serde(default)]
    pub(super) replace_all: Flag,
    #[serde(borrow, default)]
    pub(super) original_file: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) structured_patch: List<Hunk<'a>>,
    // searches
    #[serde(borrow, default)]
    pub(super) mode: Text<'a>,
    #[serde(default)]
    pub(super) num_files: Number,
    #[serde(default)]
    pub(super) num_lines: Number,
    #[serde(default)]
    pub(super) num_matches: Number,
    #[serde(default)]
    pub(super) truncated: Flag,
    #[serde(default)]
    pub(super) matches: Length,
    #[serde(default)]
    pub(super) results: Length,
    // the web
    #[serde(default)]
    pub(super) code: Number,
    #[serde(borrow, default)]
    pub(super) code_text: Text<'a>,
    #[serde(default)]
    pub(super) bytes: Number,
    // a run of a workflow
    #[serde(borrow, default)]
    pub(super) run_id: Text<'a>,
    // an answer that stands in a file of its own
    #[serde(borrow, default)]
    pub(super) persisted_output_path: Text<'a>,
    // durations
    #[serde(default)]
    pub(super) duration_ms: Number,
    #[serde(default)]
    pub(super) duration_seconds: Number,
    #[serde(default)]
    pub(super) total_duration_ms: Number,
    // commands
    #[serde(default)]
    pub(super) interrupted: Flag,
    #[serde(borrow, default)]
    pub(super) background_task_id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) return_code_interpretation: Text<'a>,
    #[serde(borrow, default)]
    pub(super) git_operation: Maybe<GitOperation<'a>>,
    // sub-agents
    #[serde(borrow, default)]
    pub(super) agent_id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) agent_type: Text<'a>,
    #[serde(borrow, default)]
    pub(super) resolved_model: Text<'a>,
    #[serde(borrow, default)]
    pub(super) status: Text<'a>,
    #[serde(default)]
    pub(super) is_async: Flag,
    // tasks
    #[serde(borrow, default)]
    pub(super) task: Maybe<TaskDetail<'a>>,
    // questions and plans
    #[serde(borrow, default)]
    pub(super) answers: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) annotations: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) plan: Text<'a>,
}

/// A file that was read.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileDetail<'a> {
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) start_line: Number,
    #[serde(default)]
    pub(super) num_lines: Number,
    #[serde(default)]
    pub(super) total_lines: Number,
    #[serde(default)]
    pub(super) cells: Length,
    #[serde(default)]
    pub(super) count: Number,
}

/// One hunk of a change.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Hunk<'a> {
    #[serde(default)]
    pub(super) old_start: Number,
    #[serde(default)]
    pub(super) new_start: Number,
    #[serde(borrow, default)]
    pub(super) lines: HunkLines<'a>,
}

/// The lines of a hunk, each behind its sign.
#[derive(Debug, Default)]
pub(super) struct HunkLines<'a>(pub(super) Vec<Cow<'a, str>>);

impl HunkLines<'_> {
    /// How many begin with `sign`.
    pub(super) fn count(&self, sign: char) -> u64 {
        self.0.iter().filter(|line| line.starts_with(sign)).count() as u64
    }
}

/// What git did.
#[derive(Debug, Default, Deserialize)]
pub(super) struct GitOperation<'a> {
    #[serde(borrow, default)]
    pub(super) commit: Maybe<GitCommit<'a>>,
}

/// A commit.
#[derive(Debug, Default, Deserialize)]
pub(super) struct GitCommit<'a> {
    #[serde(borrow, default)]
    pub(super) sha: Text<'a>,
}

/// A task of the list or one that runs in the background.
#[derive(Debug, Default, Deserialize)]
pub(super) struct TaskDetail<'a> {
    #[serde(borrow, default)]
    pub(super) id: Text<'a>,
}

struct OutcomeVisitor;

impl<'de> Visitor<'de> for OutcomeVisitor {
    type Value = Outcome<'de>;

    otherwise!(Outcome::None; visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64));
    drained!(Outcome::None; seq);

    fn visit_str<E: Error>(self, _: &str) -> Result<Outcome<'de>, E> {
        Ok(Outcome::Text)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Outcome<'de>, A::Error> {
        Detail::deserialize(MapAccessDeserializer::new(map)).map(|detail| Outcome::Detail(Box::new(detail)))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Outcome<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OutcomeVisitor)
    }
}

struct HunkLinesVisitor;

impl<'de> Visitor<'de> for HunkLinesVisitor {
    type Value = HunkLines<'de>;

    otherwise!(HunkLines::default(); visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));
    drained!(HunkLines::default(); map);

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<HunkLines<'de>, A::Error> {
        let mut lines = Vec::new();
        while let Some(Text(line)) = seq.next_element::<Text<'de>>()? {
            lines.extend(line);
        }
        Ok(HunkLines(lines))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for HunkLines<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HunkLinesVisitor)
    }
}
