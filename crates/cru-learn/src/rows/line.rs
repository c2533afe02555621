//! A row of a pipe: one for each case that has an answer, with its side. It loads as a file for supervised tuning too.

use serde::Serialize;

use crate::case::{Case, Kind};
use crate::rows::chat::Message;
use crate::rows::example::Example;
use crate::rows::row::Metadata;

/// A row.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Line<'a> {
    id: &'a str,
    r#type: Kind,
    title: &'a str,
    split: &'static str,
    prompt: &'a [Message],
    completion: &'a [Message],
    /// What did not work.
    rejected: String,
    tools: &'a str,
    metadata: Metadata,
}

impl<'a> Line<'a> {
    /// The row of a case; its side is filled in later.
    pub(crate) fn of(case: &'a Case, example: &'a Example) -> Self {
        Self {
            id: &case.id,
            r#type: case.kind(),
            title: &case.title,
            split: "train",
            prompt: &example.prompt,
            completion: &example.chosen,
            rejected: case.failure(),
            tools: &example.tools,
            metadata: Metadata::of(case, example.tokens, false),
        }
    }
}
