//! Rows of training data: what stands in the files, in the words of each family of trainers.
//!
//! Every row of a file has the same keys in the same order with the same types, metadata included: a column that is
//! absent or null in the first rows breaks the loading of the later ones.

use serde::Serialize;
use serde_json::{Value, json};

use crate::case::worth::Grade;
use crate::case::{Case, Evidence, Fidelity, Kind, Source};
use crate::rows::chat::{Message, flat};
use crate::rows::example::Example;

cru_base::words! {
    /// Whose words a row is written in.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Dialect {
        /// Hugging Face TRL, and what builds on it.
        #[default]
        Hf = "hf",
        /// `OpenAI`'s fine-tuning, Together, Fireworks.
        Openai = "openai",
        /// Axolotl and LLaMA-Factory.
        Axolotl = "axolotl",
    }
}

impl Dialect {
    /// Whether an answer in a table is one message of text: calls are then told as lines, in the prompt too, which those
    /// trainers read without calls, and which must not end with a tool.
    pub const fn takes_one_message(self, table: Table) -> bool {
        match self {
            Self::Hf => false,
            Self::Openai => matches!(table, Table::Preference),
            Self::Axolotl => matches!(table, Table::Preference | Table::Kto),
        }
    }

    /// Whether metadata stands in each row: some loaders refuse a column that they do not know.
    pub const fn has_metadata(self) -> bool {
        !matches!(self, Self::Openai)
    }
}

cru_base::words! {
    /// What the rows of a file are for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Table {
        /// Whole conversations.
        Sft = "sft",
        /// A prompt and the one answer that is trained on.
        Completion = "completion",
        /// A prompt, the right and the wrong answer.
        Preference = "preference",
        /// A prompt, an answer, and whether it is right.
        Kto = "kto",
        /// Whole sessions.
        Trajectory = "trajectories",
    }
}

impl Table {
    /// What it is for, in a few words.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Sft => "supervised tuning on whole stretches of work",
            Self::Completion => "supervised tuning on one answer",
            Self::Preference => "preference tuning (DPO and its like)",
            Self::Kto => "tuning on single answers, right and wrong (KTO)",
            Self::Trajectory => "supervised tuning on whole sessions; `mask` is 1 for each message to learn from",
        }
    }
}

/// What a case can be filtered by, and found again by. No value is null.
#[expect(clippy::struct_excessive_bools, reason = "each is a column of its own")]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Metadata {
    /// Id of the case.
    pub id: String,
    /// `puzzle`, `correction`, `demonstration` or `preference`.
    pub case_type: Kind,
    /// One line.
    pub title: String,
    /// Session id.
    pub session_id: String,
    /// The session at the top of the tree of sub-agents.
    pub root_session_id: String,
    /// Where in which note.
    pub source: Source,
    /// `planner@1.2`.
    pub agent: String,
    /// Model.
    pub model: String,
    /// Program.
    pub host: String,
    /// Channel.
    pub channel: String,
    /// Heading of the phase.
    pub phase: String,
    /// Tags of the session, joined by blanks.
    pub tags: String,
    /// Status of the session.
    pub outcome: String,
    /// Who found it: a `rule` or a `reading`.
    pub evidence: Evidence,
    /// The key of the reading.
    pub reading: String,
    /// How sure it is: `accepted`, `judged`, `proven` or `proposed`.
    pub grade: Grade,
    /// How the right answer is known.
    pub answer_from: &'static str,
    /// Whether the record itself shows that it worked.
    pub verified: bool,
    /// Why it is a correction: `words`, `denied`, `interrupted` or `titled`; empty for the others.
    pub rule: &'static str,
    /// Whether the answer is all that was done: long work after a correction is told by its beginning.
    pub complete: bool,
    /// Whether what was done upon a correction was corrected too.
    pub corrected_again: bool,
    /// `proposed` or `accepted`.
    pub status: &'static str,
    /// Whether a person wrote a part of it anew.
    pub edited: bool,
    /// How much of tool calls is there: `full`, `summary` (a line for each) or `none`.
    pub tool_fidelity: &'static str,
    /// How many secrets and personal data were taken out.
    pub redactions: usize,
    /// Tokens of the row (`o200k_base`).
    pub tokens: usize,
    /// Rows that are nearly the same have one number; 0 for a row that is like no other.
    pub dup_group: usize,
    /// Changes with any text of the case.
    pub content_hash: String,
    /// Program and version that wrote the row.
    pub exporter: &'static str,
}

impl Metadata {
    /// The metadata of a case in a row of so many tokens; what it is like is only known later ([`super::hole`]).
    /// With `lines` its calls are told as lines although they are known whole.
    pub(crate) fn of(case: &Case, tokens: usize, lines: bool) -> Self {
        let origin = &case.origin;
        let correction = case.correction();
        Self {
            id: case.id.clone(),
            case_type: case.kind(),
            title: case.title.clone(),
            session_id: origin.session.clone(),
            root_session_id: origin.root.clone(),
            source: origin.source.clone(),
            agent: origin.agent.clone(),
            model: origin.model.clone(),
            host: origin.host.clone(),
            channel: origin.channel.clone(),
            phase: origin.phase.clone(),
            tags: origin.tags.join(" "),
            outcome: origin.outcome.clone(),
            evidence: case.evidence,
            reading: case.reading.clone(),
            grade: case.grade(),
            answer_from: case.answer_from(),
            verified: case.verified(),
            rule: correction.map_or("", |it| it.rule),
            complete: case.is_complete(),
            corrected_again: correction.is_some_and(|it| it.corrected_again),
            status: if case.accepted { "accepted" } else { "proposed" },
            edited: case.edits.is_some(),
            tool_fidelity: if lines { case.fidelity.min(Fidelity::Summary) } else { case.fidelity }.as_str(),
            redactions: case.redactions,
            tokens,
            dup_group: 0,
            content_hash: case.content_hash.clone(),
            exporter: concat!("cru ", env!("CARGO_PKG_VERSION")),
        }
    }
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// The row as JSON: many rows as values would take ten times the memory.
    pub text: String,
    /// Its metadata as JSON, where the row must not hold it.
    pub aside: Option<String>,
    /// What makes two rows one example.
    pub(crate) body: blake3::Hash,
    /// How many of its columns hold messages of several shapes: who loads a file without its card takes what differs in
    /// the first row for values without fixed keys, as arguments are.
    pub shapes: usize,
}

/// The row of an example; `label` is whether its answer is right, where a table asks for that.
pub(crate) fn row(table: Table, dialect: Dialect, example: &Example, label: bool, metadata: &Metadata) -> Row {
    let Example { prompt, chosen, rejected, tools, .. } = example;
    let answer = if label { chosen } else { rejected };
    let whole = || [prompt.as_slice(), answer.as_slice()].concat();
    let (columns, value) = match (dialect, table) {
        (Dialect::Hf, Table::Sft) => (vec![whole()], json!({ "messages": whole(), "tools": tools })),
        (Dialect::Hf, Table::Completion) => {
            (vec![prompt.clone(), chosen.clone()], json!({ "prompt": prompt, "completion": chosen, "tools": tools }))
        }
        (Dialect::Hf, Table::Preference) => {
            let (prompt, shared) = prompt.split_at(prompt.len() - shared_step(prompt, chosen, rejected));
            let [chosen, rejected] = [chosen, rejected].map(|side| [shared, side].concat());
            let value = json!({ "prompt": prompt, "chosen": chosen, "rejected": rejected, "tools": tools });
            (vec![prompt.to_vec(), chosen, rejected], value)
        }
        (Dialect::Hf, Table::Kto) => (
            vec![prompt.clone(), answer.clone()],
            json!({ "prompt": prompt, "completion": answer, "label": label, "tools": tools }),
        ),
        (Dialect::Openai, Table::Preference) => {
            let value = json!({
                "input": { "messages": spelled(prompt) },
                "preferred_output": [single(chosen)],
                "non_preferred_output": [single(rejected)],
            });
            (Vec::new(), value)
        }
        (Dialect::Openai, Table::Completion | Table::Kto) => {
            // What came before is not trained on.
            let mut messages = spelled(&whole());
            for (index, message) in messages.iter_mut().enumerate() {
                if message["role"] == "assistant" {
                    message["weight"] = json!(u8::from(index >= prompt.len()));
                }
            }
            (whole_if_called(tools, whole()), with_tools(json!({ "messages": messages }), tools))
        }
        (Dialect::Openai, Table::Sft) => {
            (whole_if_called(tools, whole()), with_tools(json!({ "messages": spelled(&whole()) }), tools))
        }
        (_, Table::Trajectory) => (Vec::new(), json!({})),
        (Dialect::Axolotl, Table::Sft) => (vec![whole()], json!({ "messages": whole(), "tools": tools })),
        (Dialect::Axolotl, Table::Completion) => {
            let mut messages = serde_json::to_value(whole()).unwrap_or_default();
            for (index, message) in messages.as_array_mut().into_iter().flatten().enumerate() {
                message["train"] = json!(message["role"] == "assistant" && index >= prompt.len());
            }
            (vec![whole()], json!({ "messages": messages, "tools": tools }))
        }
        (Dialect::Axolotl, Table::Preference) => (
            vec![prompt.clone()],
            json!({ "messages": prompt, "chosen": single(chosen), "rejected": single(rejected), "tools": tools }),
        ),
        (Dialect::Axolotl, Table::Kto) => {
            (vec![whole()], json!({ "messages": whole(), "label": label, "tools": tools }))
        }
    };
    let shapes = columns.iter().filter(|messages| is_mixed(messages)).count();
    Row::finished(value, shapes, dialect, metadata)
}

impl Row {
    /// A row of these columns.
    pub(crate) fn finished(mut value: Value, shapes: usize, dialect: Dialect, metadata: &Metadata) -> Self {
        let body = body(&value);
        let mut aside = None;
        if dialect.has_metadata() {
            value["metadata"] = serde_json::to_value(metadata).unwrap_or_default();
        } else {
            aside = serde_json::to_string(metadata).ok();
        }
        Self { text: value.to_string(), aside, body, shapes }
    }
}

/// Messages in the words of a dialect.
pub(crate) fn written(messages: &[Message], dialect: Dialect) -> Vec<Value> {
    match dialect {
        Dialect::Openai => spelled(messages),
        Dialect::Hf | Dialect::Axolotl => {
            messages.iter().map(|message| serde_json::to_value(message).unwrap_or_default()).collect()
        }
    }
}

/// What makes two rows one example.
fn body(row: &Value) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for (key, value) in row.as_object().into_iter().flatten().filter(|(key, _)| *key != "metadata" && *key != "tools") {
        hasher.update(key.as_bytes());
        hasher.update(value.to_string().as_bytes());
    }
    hasher.finalize()
}

/// Whether some messages call and others do not.
fn is_mixed(messages: &[Message]) -> bool {
    let calls = messages.iter().filter(|message| !message.tool_calls.is_empty()).count();
    calls > 0 && calls < messages.len()
}

/// How many messages at the end of a prompt both sides of a pair begin with: the step before them, where one side is
/// nothing but a call. A loader that reads a row at a time takes the arguments of a single call for those of all; what
/// both sides share makes no difference between them.
fn shared_step(prompt: &[Message], chosen: &[Message], rejected: &[Message]) -> usize {
    let lone = |side: &[Message]| !is_mixed(side) && side.iter().any(|message| !message.tool_calls.is_empty());
    match prompt {
        [_, .., call, answer]
            if !call.tool_calls.is_empty() && answer.role == "tool" && (lone(chosen) || lone(rejected)) =>
        {
            2
        }
        _ => 0,
    }
}

/// A row with the tools, where there are any: an empty list is refused.
pub(crate) fn with_tools(mut row: Value, tools: &str) -> Value {
    let tools: Value = serde_json::from_str(tools).unwrap_or_default();
    if tools.as_array().is_some_and(|tools| !tools.is_empty()) {
        row["tools"] = tools;
        row["parallel_tool_calls"] = false.into();
    }
    row
}

/// The messages of a row that has tools: it shows a loader more than one without.
fn whole_if_called(tools: &str, whole: Vec<Message>) -> Vec<Vec<Message>> {
    if tools == "[]" { Vec::new() } else { vec![whole] }
}

/// Messages whose arguments are spelled as text, with the keys that are known for their roles.
fn spelled(messages: &[Message]) -> Vec<Value> {
    let mut messages = messages.to_vec();
    for message in &mut messages {
        message.name.clear();
    }
    for call in messages.iter_mut().flat_map(|message| &mut message.tool_calls) {
        call.function.spell();
    }
    messages.into_iter().map(|message| serde_json::to_value(message).unwrap_or_default()).collect()
}

/// An answer as the one message that some trainers take.
fn single(messages: &[Message]) -> Value {
    let turn = |message: &Message| {
        let calls = message.tool_calls.iter().map(|call| {
            let line = crate::case::entry::code_span(&format!("{} {}", call.function.name, call.function.arguments));
            format!("- {line}")
        });
        crate::case::entry::paragraphs([message.content.as_str(), &calls.collect::<Vec<_>>().join("\n")])
    };
    let own: Vec<Message> = messages
        .iter()
        .filter(|message| message.role == "assistant")
        .map(|message| Message::text("assistant", turn(message)))
        .collect();
    json!({ "role": "assistant", "content": flat(&own) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::chat::{Function, ToolCall};

    #[test]
    fn sides_of_one_call_share_the_step_before() {
        let said = |role: &'static str| Message::text(role, "x");
        let call = || {
            let function = Function { name: "Edit".into(), arguments: json!({ "path": "pump.c" }) };
            let call = ToolCall { id: "call_0".into(), r#type: "function", function };
            Message { tool_calls: vec![call], ..Message::text("assistant", "") }
        };
        let prompt = [said("system"), said("user"), call(), said("tool")];
        assert_eq!(shared_step(&prompt, &[call(), said("tool"), said("assistant")], &[call()]), 2);
        assert_eq!(shared_step(&prompt, &[said("assistant")], &[said("assistant")]), 0);
        assert_eq!(shared_step(&prompt[..2], &[call()], &[call()]), 0);
    }
}
