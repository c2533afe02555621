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
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct Detail<'a> {
    // files
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) file: Maybe<FileDetail<'a>>,
    pub(super) old_string: Text<'a>,
    pub(super) new_string: Text<'a>,
    pub(super) replace_all: Flag,
    pub(super) original_file: Option<&'a RawValue>,
    pub(super) content: Option<&'a RawValue>,
    pub(super) structured_patch: List<Hunk<'a>>,
    // searches
    pub(super) mode: Text<'a>,
    pub(super) num_files: Number,
    pub(super) num_lines: Number,
    pub(super) num_matches: Number,
    pub(super) truncated: Flag,
    pub(super) matches: Length,
    pub(super) results: Length,
    // the web
    pub(super) code: Number,
    pub(super) code_text: Text<'a>,
    pub(super) bytes: Number,
    // a run of a workflow
    pub(super) run_id: Text<'a>,
    // an answer that stands in a file of its own
    pub(super) persisted_output_path: Text<'a>,
    // durations
    pub(super) duration_ms: Number,
    pub(super) duration_seconds: Number,
    pub(super) total_duration_ms: Number,
    // commands
    pub(super) interrupted: Flag,
    pub(super) background_task_id: Text<'a>,
    pub(super) return_code_interpretation: Text<'a>,
    pub(super) git_operation: Maybe<GitOperation<'a>>,
    // sub-agents
    pub(super) agent_id: Text<'a>,
    pub(super) agent_type: Text<'a>,
    pub(super) resolved_model: Text<'a>,
    pub(super) status: Text<'a>,
    pub(super) is_async: Flag,
    // tasks
    pub(super) task: Maybe<TaskDetail<'a>>,
    // questions and plans
    pub(super) answers: Option<&'a RawValue>,
    pub(super) annotations: Option<&'a RawValue>,
    pub(super) plan: Text<'a>,
}

/// A file that was read.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct FileDetail<'a> {
    pub(super) content: Option<&'a RawValue>,
    pub(super) start_line: Number,
    pub(super) num_lines: Number,
    pub(super) total_lines: Number,
    pub(super) cells: Length,
    pub(super) count: Number,
}

/// One hunk of a change.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct Hunk<'a> {
    pub(super) old_start: Number,
    pub(super) new_start: Number,
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
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct GitOperation<'a> {
    pub(super) commit: Maybe<GitCommit<'a>>,
}

/// A commit.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct GitCommit<'a> {
    pub(super) sha: Text<'a>,
}

/// A task of the list or one that runs in the background.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct TaskDetail<'a> {
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
