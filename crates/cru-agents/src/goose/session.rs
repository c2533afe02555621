//! One session while it is read: its own row, and each message to its events.

use std::borrow::Cow;
use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::call::open::Calls;
use crate::call::started::StartedAgents;
use crate::call::task_list;
use crate::call::tools::{self, Answer};
use crate::file::document::{count, dollars, moment};
use crate::file::jsonl::{State, list, word};
use crate::file::value::{self, filled, flag};
use crate::stream::out::{Fate, Out};
use crate::stream::place::Place;
use crate::unknown::unknown;
use crate::wrapper;
use cru_session::event::{Attachment, EventKind, Prompt, PromptOrigin, SessionFact, SubagentRun, TitleRank, Usage};

/// Whose wrappers are taken off.
const AGENT: &str = "goose";

/// Names that the host gives before it has one.
const NO_TITLE: &[&str] = &["New session", "New Session", "New Chat", "CLI Session", "ACP Session"];

/// How the host begins its words that a person refused a call, and that its mode did.
const REFUSED: &str = "The user has declined to run this tool.";
const BY_MODE: &str = "Let the user know the tool call was skipped in";

/// Words that the host put under a person's or the agent's name.
const HOST_WORDS: &str = "words of the host";

/// What the host counted of a whole session.
#[derive(Debug, Default)]
pub(super) struct GooseTotals {
    /// Tokens by model.
    pub(super) models: Vec<(String, Usage)>,
    /// US dollars.
    pub(super) cost: Option<f64>,
}

/// Tokens of a row, whose columns are called so. The host counts what was read from and written to a cache as input, too.
pub(super) fn usage(row: &Value, before: &str) -> Usage {
    let of = |name: &str| count(row, &[format!("{before}{name}_tokens").as_str()]).unwrap_or(0);
    let (cache_read, cache_write) = (of("cache_read"), of("cache_write"));
    let cached = cache_read.saturating_add(cache_write);
    let input = of("input");
    Usage {
        input: input.checked_sub(cached).unwrap_or(input),
        output: of("output"),
        cache_write,
        cache_read,
        ..Usage::default()
    }
}

/// The state of one session.
#[derive(Debug, Default)]
pub(super) struct GooseSession {
    is_agent: bool,
    place: Place,
    calls: Calls,
    /// Sub-agents whose call was not met yet, and those of open calls, by the id of the call.
    started: StartedAgents,
    runs: HashMap<String, SubagentRun<'static>>,
    totals: GooseTotals,
    /// Whether the agent no longer sees the message before.
    was_compacted: bool,
}

impl GooseSession {
    pub(super) fn new(is_agent: bool, started: StartedAgents, totals: GooseTotals) -> Self {
        Self { is_agent, started, totals, ..Self::default() }
    }
}

/// A message with its parts, wherever they stand.
pub(super) fn content(record: &Value) -> Value {
    match filled(record, "content_json").and_then(|text| value::read(text.as_bytes())) {
        Some(parts) => json!({ "content": parts }),
        None => json!({ "content": record.get("content") }),
    }
}

impl State for GooseSession {
    fn id<'v>(&self, record: &'v Value) -> &'v str {
        let id = word(record, "/message_id");
        if id.is_empty() && record.get("content").is_some() { word(record, "/id") } else { id }
    }

    fn time(&self, record: &Value) -> Option<Timestamp> {
        moment(record, &["created_timestamp", "created", "timestamp", "created_at"])
    }

    fn waits(&self) -> bool {
        self.calls.waiting() > 0
    }

    fn tell(&mut self, record: Value, out: &mut Out<'_>) -> Fate {
        if record.get("working_dir").is_some() {
            self.head(&record, out);
            return Fate::Shown;
        }
        let message = content(&record);
        let Some(parts) = message.get("content").and_then(Value::as_array) else {
            return Fate::Skipped("broken message");
        };
        let seen = filled(&record, "metadata_json").and_then(|text| value::read(text.as_bytes()));
        let seen = seen.as_ref().or_else(|| record.get("metadata")).unwrap_or(&Value::Null);
        let is = |key: &str| seen.get(key) != Some(&Value::Bool(false));
        let after_compaction = std::mem::replace(&mut self.was_compacted, !is("agentVisible"));
        match word(&record, "/role") {
            role if !is("userVisible") => hidden(role, parts, after_compaction && is("agentVisible"), out),
            "user" => self.user(parts, out),
            "assistant" => self.assistant(parts, out),
            role => Fate::Skipped(unknown("unknown role", role)),
        }
    }
}

/// A message that a person does not see: of those, the summary after a compaction is told.
fn hidden(role: &str, parts: &[Value], is_summary: bool, out: &mut Out<'_>) -> Fate {
    let words = parts.iter().find_map(|part| filled(part, "text"));
    match words.filter(|_| is_summary && role == "user") {
        Some(words) => {
            out.emit(EventKind::Compaction { trigger: None, tokens_before: None, summary: Some(words.into()) });
            Fate::Shown
        }
        None => Fate::Skipped(HOST_WORDS),
    }
}

/// Why a part is left out that is no word, call or answer.
fn left_out(kind: &str) -> &'static str {
    match kind {
        "redactedThinking" => "thinking without its text",
        "toolConfirmationRequest" | "actionRequired" => "question of the host",
        "systemNotification" | "contextLengthExceeded" | "summarizationRequested" | "conversationCompacted" => {
            HOST_WORDS
        }
        kind => unknown("unknown part", kind),
    }
}

impl GooseSession {
    /// What is said of the session as a whole; it may be another the next time.
    fn head(&mut self, row: &Value, out: &mut Out<'_>) {
        out.folder(&mut self.place, word(row, "/working_dir"));
        let title = ["name", "description"].iter().find_map(|key| filled(row, key)).map(str::trim);
        if let Some(text) = title.filter(|title| !NO_TITLE.contains(title)) {
            let by_person = count(row, &["user_set_name"]) == Some(1) || flag(row, "user_set_name");
            let rank = if by_person { TitleRank::Custom } else { TitleRank::Host };
            out.quiet(EventKind::Meta(SessionFact::Title { rank, text: text.into() }));
        }
        let config = filled(row, "model_config_json").and_then(|text| value::read(text.as_bytes())).unwrap_or_default();
        let model = filled(&config, "model_name");
        out.model(model);
        let words = [("provider_name", "provider"), ("goose_mode", "mode")];
        let words = words.into_iter().filter_map(|(key, name)| Some((name.to_owned(), filled(row, key)?.into())));
        let words: Map<String, Value> = words.collect();
        if !words.is_empty() {
            out.quiet(EventKind::Meta(SessionFact::Property { key: AGENT.into(), value: words.into() }));
        }
        let mut models = std::mem::take(&mut self.totals.models);
        let sum = usage(row, "accumulated_");
        if models.is_empty() && sum != Usage::default() {
            models.push((model.unwrap_or("unknown").to_owned(), sum));
        }
        let all = count(row, &["accumulated_total_tokens"]).filter(|_| models.is_empty());
        if let Some(tokens) = all {
            out.quiet(EventKind::Meta(SessionFact::Tokens(tokens)));
        }
        for (model, usage) in models {
            out.quiet(EventKind::Usage { message: model.clone().into(), model: model.into(), usage });
        }
        if let Some(cost) = self.totals.cost.or_else(|| dollars(row, &["accumulated_cost"])) {
            out.quiet(EventKind::Meta(SessionFact::TotalCost(cost)));
        }
    }

    fn user(&mut self, parts: &[Value], out: &mut Out<'_>) -> Fate {
        let (mut words, mut attachments, mut skipped) = (Vec::new(), Vec::new(), None);
        for part in parts {
            match word(part, "/type") {
                "text" => {
                    let own = wrapper::own_words(AGENT, word(part, "/text"));
                    if own.trim().is_empty() {
                        skipped = Some(HOST_WORDS);
                    } else {
                        words.push(own.into_owned());
                    }
                }
                "image" => attachments.push(image(part)),
                "toolResponse" => skipped = self.answer(part, out).or(skipped),
                kind => skipped = Some(left_out(kind)),
            }
        }
        if !words.is_empty() || !attachments.is_empty() {
            self.calls.begin_turn();
            let origin = if self.is_agent { PromptOrigin::Task } else { PromptOrigin::Typed };
            out.emit(EventKind::Prompt(Prompt { text: words.join("\n\n").into(), origin, attachments }));
        }
        out.fate(skipped)
    }

    fn assistant(&mut self, parts: &[Value], out: &mut Out<'_>) -> Fate {
        let mut skipped = None;
        for part in parts {
            match word(part, "/type") {
                "text" if filled(part, "text").is_some() => {
                    out.emit(EventKind::Reply(word(part, "/text").trim().into()));
                }
                "thinking" | "reasoning" if filled(part, "thinking").or(filled(part, "text")).is_some() => {
                    let text = filled(part, "thinking").or(filled(part, "text")).unwrap_or_default();
                    out.emit(EventKind::Thinking(text.into()));
                }
                "text" | "thinking" | "reasoning" => {}
                "toolRequest" | "frontendToolRequest" => self.call(part, out),
                "toolResponse" => skipped = self.answer(part, out).or(skipped),
                kind => skipped = Some(left_out(kind)),
            }
        }
        out.fate(skipped)
    }

    fn call(&mut self, part: &Value, out: &mut Out<'_>) {
        let id = word(part, "/id");
        let tool = word(part, "/toolCall/value/name");
        let input = part.pointer("/toolCall/value/arguments").or_else(|| part.pointer("/toolCall/error"));
        let input = input.cloned().unwrap_or_default();
        task_list::tell(tool, &input, out);
        if let Some(run) = self.started.run(tool, &input) {
            self.runs.insert(id.to_owned(), run);
        }
        tools::call(&mut self.calls, &self.place, id, tool, input, out);
    }

    /// Why an answer is left out, where it is.
    fn answer(&mut self, part: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let id = word(part, "/id");
        let Some(call) = self.calls.close(id, ["", ""]) else { return Some("answer without its call") };
        let none = Value::Null;
        let value = part.pointer("/toolResult/value").unwrap_or(&none);
        let is_error = ["isError", "is_error"].iter().any(|key| flag(value, key));
        let failed = is_error || word(part, "/toolResult/status") == "error";
        let (output, attachments) = match part.pointer("/toolResult/error") {
            Some(error) => (error.as_str().or(filled(error, "message")).unwrap_or_default().to_owned(), Vec::new()),
            None => flat(value),
        };
        let exit = value.pointer("/structuredContent/exit_code").and_then(Value::as_i64);
        let exit = exit.and_then(|code| i32::try_from(code).ok());
        let denied = [REFUSED, BY_MODE].iter().any(|words| output.starts_with(words));
        let denial = output.lines().next().filter(|_| output.starts_with(BY_MODE)).map(|it| Cow::Owned(it.to_owned()));
        let failed = !denied && (failed || exit.is_some_and(|code| code != 0));
        let subagent = self.runs.remove(id);
        let exit = exit.filter(|_| failed);
        let answer =
            Answer { output: output.into(), failed, denied, denial, exit, attachments, subagent, ..Answer::default() };
        tools::answer(&call, answer, &self.place, out);
        None
    }
}

/// The text of an answer, and its pictures. What only a person is shown is told again for the agent.
fn flat(value: &Value) -> (String, Vec<Attachment<'static>>) {
    let parts = value.as_array().map_or_else(|| list(value, "/content"), Vec::as_slice);
    let for_agent = |part: &&Value| {
        let audience = part.pointer("/annotations/audience").or_else(|| part.get("audience")).and_then(Value::as_array);
        audience.is_none_or(|audience| audience.iter().any(|name| name == "assistant"))
    };
    let meant: Vec<&Value> = parts.iter().filter(for_agent).collect();
    let meant = if meant.is_empty() { parts.iter().collect() } else { meant };
    let text = meant.iter().filter_map(|part| filled(part, "text").or_else(|| filled(part.get("resource")?, "text")));
    let pictures = meant.iter().filter(|part| word(part, "/type") == "image").map(|part| image(part));
    (text.collect::<Vec<_>>().join("\n"), pictures.collect())
}

fn image(part: &Value) -> Attachment<'static> {
    let bytes = (word(part, "/data").trim_end_matches('=').len() as u64).saturating_mul(3) / 4;
    Attachment { media_type: filled(part, "mimeType").unwrap_or("image").to_owned().into(), bytes }
}
