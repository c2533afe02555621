//! What the host's hooks told, as the lines that its transcript would hold.
//!
//! For sessions whose transcript cannot be read: so the same importer reads both, and a step looks the same whichever
//! way it came. Lines are only ever added at the end as more is told, so that what was read once stays as it was. What
//! the hooks do not tell is not made up: words of the agent between two calls, tokens, the branch. Texts that the
//! journal has cut prove no hash and no count.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use cru_session::cursor::HOOKED;
use cru_session::source::Hook;

/// The transcripts of a session and its sub-agents, by path; the session's own first.
pub(super) fn transcripts(path: &Path, hooks: &[Hook<'_>]) -> Vec<(PathBuf, Vec<u8>)> {
    let session = hooks.iter().find_map(|hook| text(hook.input, "session_id")).unwrap_or_default();
    let mut told = HookedSession { session: session.to_owned(), ..HookedSession::default() };
    let mut seen = HashSet::new();
    for hook in hooks.iter().filter(|hook| seen.insert(hook.id)) {
        told.take(hook);
    }
    let folder = path.with_extension("").join("subagents");
    let agents = told.agents.into_iter().filter(|(_, page)| !page.bytes.is_empty()).map(|(agent, page)| {
        // An id from outside becomes a name of a file that is never made, and must still be one name.
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
        let name: String = agent.chars().map(plain).collect();
        (folder.join(format!("agent-{name}.jsonl")), page.bytes)
    });
    let agents: Vec<_> = agents.collect();
    std::iter::once((path.to_owned(), told.main.bytes)).chain(agents).collect()
}

/// One transcript as it grows.
#[derive(Default)]
struct Page {
    bytes: Vec<u8>,
    last: Option<String>,
    lines: usize,
    /// Calls by the host's id, with the line that made them.
    calls: HashMap<String, String>,
}

#[derive(Default)]
struct HookedSession {
    session: String,
    main: Page,
    agents: BTreeMap<String, Page>,
    /// Calls of sub-agents that none was seen to work for: type and task.
    asked: Vec<(String, String)>,
    title: String,
    /// A compaction was begun and its summary not told.
    compacting: bool,
}

impl HookedSession {
    fn take(&mut self, hook: &Hook<'_>) {
        let input = hook.input;
        let agent = text(input, "agent_id").map(str::to_owned);
        self.title(hook);
        match hook.event {
            "prompt" => {
                let words = command(text(input, "prompt").unwrap_or_default());
                self.line(hook, agent.as_deref(), "user", json!({ "message": { "role": "user", "content": words } }));
            }
            "pre-tool" => {
                self.call(hook, agent.as_deref());
            }
            "post-tool" => {
                let answer = input.get("tool_response").cloned().unwrap_or(Value::Null);
                self.answer(hook, agent.as_deref(), &output(&answer), false, Some(whole(answer)));
            }
            "post-tool-failure" => {
                let error = text(input, "error").unwrap_or_default().to_owned();
                self.answer(hook, agent.as_deref(), &error, true, None);
                if input.get("is_interrupt").and_then(Value::as_bool) == Some(true) {
                    let words = "[Request interrupted by user for tool use]";
                    let content = json!([{ "type": "text", "text": words }]);
                    self.line(hook, agent.as_deref(), "user", json!({ "message": { "content": content } }));
                }
            }
            "permission-denied" => {
                let reason = text(input, "reason").unwrap_or("denied").to_owned();
                self.answer(hook, agent.as_deref(), &reason, true, None);
            }
            "stop" | "subagent-stop" => self.say(hook, agent.as_deref(), "last_assistant_message", false),
            "stop-failure" => self.say(hook, agent.as_deref(), "error", true),
            "subagent-start" => self.begin(hook, agent.as_deref()),
            "pre-compact" => self.compact(hook),
            "post-compact" => {
                if !self.compacting {
                    self.compact(hook);
                }
                self.compacting = false;
                let words = text(input, "compact_summary").unwrap_or_default();
                let summary = json!({ "isCompactSummary": true, "message": { "role": "user", "content": words } });
                self.line(hook, None, "user", summary);
            }
            _ => {}
        }
    }

    fn page(&mut self, agent: Option<&str>) -> &mut Page {
        match agent {
            Some(agent) => self.agents.entry(agent.to_owned()).or_default(),
            None => &mut self.main,
        }
    }

    /// Adds a line with what all lines have; its id.
    fn line(&mut self, hook: &Hook<'_>, agent: Option<&str>, kind: &str, more: Value) -> String {
        let session = self.session.clone();
        let page = self.page(agent);
        page.lines += 1;
        let name = format!("{} {} {}", hook.id, agent.unwrap_or_default(), page.lines);
        let uuid = format!("{HOOKED}-{}", &blake3::hash(name.as_bytes()).to_hex()[..16]);
        let mut line = Map::new();
        line.insert("type".to_owned(), kind.into());
        line.insert("uuid".to_owned(), uuid.as_str().into());
        line.insert("parentUuid".to_owned(), page.last.clone().map_or(Value::Null, Value::String));
        line.insert("sessionId".to_owned(), session.into());
        line.insert("timestamp".to_owned(), format!("{:.3}", hook.time).into());
        if let Some(cwd) = text(hook.input, "cwd") {
            line.insert("cwd".to_owned(), cwd.into());
        }
        line.insert("isSidechain".to_owned(), agent.is_some().into());
        if let Some(agent) = agent {
            line.insert("agentId".to_owned(), agent.into());
        }
        if let Value::Object(more) = more {
            line.extend(more);
        }
        page.bytes.extend(Value::Object(line).to_string().into_bytes());
        page.bytes.push(b'\n');
        page.last = Some(uuid.clone());
        uuid
    }

    fn title(&mut self, hook: &Hook<'_>) {
        let Some(title) = text(hook.input, "session_title").filter(|title| *title != self.title) else { return };
        title.clone_into(&mut self.title);
        self.line(hook, None, "ai-title", json!({ "aiTitle": title }));
    }

    /// A call, once; the id of its line.
    fn call(&mut self, hook: &Hook<'_>, agent: Option<&str>) -> (String, String) {
        let tool = text(hook.input, "tool_name").unwrap_or("tool").to_owned();
        let input = hook.input.get("tool_input").cloned().unwrap_or(Value::Null);
        // Old hosts name no call; then what was called names it.
        let id = text(hook.input, "tool_use_id").map_or_else(
            || format!("{HOOKED}-{}", &blake3::hash(format!("{tool} {input}").as_bytes()).to_hex()[..16]),
            str::to_owned,
        );
        if let Some(line) = self.page(agent).calls.get(&id) {
            return (id.clone(), line.clone());
        }
        if matches!(tool.as_str(), "Task" | "Agent") {
            let of = |name: &str| text(&input, name).unwrap_or_default().to_owned();
            self.asked.push((of("subagent_type"), of("prompt")));
        }
        let content = json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }]);
        let message = json!({ "message": { "role": "assistant", "content": content } });
        let line = self.line(hook, agent, "assistant", message);
        self.page(agent).calls.insert(id.clone(), line.clone());
        (id, line)
    }

    fn answer(&mut self, hook: &Hook<'_>, agent: Option<&str>, output: &str, failed: bool, detail: Option<Value>) {
        let (id, line) = self.call(hook, agent);
        let content = json!([{ "type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed }]);
        let mut more = json!({ "message": { "role": "user", "content": content }, "sourceToolAssistantUUID": line });
        if let (Some(detail), Value::Object(more)) = (detail, &mut more) {
            more.insert("toolUseResult".to_owned(), detail);
        }
        self.line(hook, agent, "user", more);
    }

    fn say(&mut self, hook: &Hook<'_>, agent: Option<&str>, field: &str, is_error: bool) {
        let Some(words) = text(hook.input, field) else { return };
        let content = json!([{ "type": "text", "text": words }]);
        let message = json!({ "message": { "role": "assistant", "content": content }, "isApiErrorMessage": is_error });
        self.line(hook, agent, "assistant", message);
    }

    /// A sub-agent begins: its first line is what it was asked.
    fn begin(&mut self, hook: &Hook<'_>, agent: Option<&str>) {
        let Some(agent) = agent.filter(|agent| !self.agents.contains_key(*agent)) else { return };
        let kind = text(hook.input, "agent_type").unwrap_or_default();
        let at = self.asked.iter().position(|(asked, _)| asked == kind).or((!self.asked.is_empty()).then_some(0));
        let Some(at) = at else { return };
        let (_, prompt) = self.asked.remove(at);
        let message = json!({ "message": { "role": "user", "content": prompt } });
        self.line(hook, Some(agent), "user", message);
    }

    fn compact(&mut self, hook: &Hook<'_>) {
        self.compacting = true;
        let trigger = text(hook.input, "trigger").unwrap_or("auto");
        let more = json!({ "subtype": "compact_boundary", "compactMetadata": { "trigger": trigger } });
        self.line(hook, None, "system", more);
    }
}

/// A field with words in it.
fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A command of the host in the form that its transcripts have.
fn command(words: &str) -> String {
    let (name, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let plain =
        |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':'));
    match name.strip_prefix('/').filter(|name| !name.is_empty() && plain(name)) {
        Some(bare) => format!(
            "<command-name>{name}</command-name>\n<command-message>{bare}</command-message>\n\
             <command-args>{}</command-args>",
            rest.trim()
        ),
        None => words.to_owned(),
    }
}

/// What the agent was shown of an answer, as far as its parts tell.
fn output(answer: &Value) -> String {
    match answer {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| text(part, "text")).collect();
            texts.join("\n")
        }
        Value::Object(map) => {
            let both = [text(answer, "stdout"), text(answer, "stderr")];
            if map.contains_key("stdout") {
                return both.into_iter().flatten().collect::<Vec<_>>().join("\n");
            }
            let listed = |name: &str| {
                let names = answer.get(name)?.as_array()?;
                Some(names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"))
            };
            if let Some(answers) = answer.get("answers").and_then(Value::as_object) {
                let given = |(question, answer): (&String, &Value)| {
                    let answer = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
                    format!("\"{question}\"=\"{answer}\"")
                };
                let given: Vec<String> = answers.iter().map(given).collect();
                return format!(
                    "User has answered your questions: {}. You can now continue with the user's answers in mind.",
                    given.join(", ")
                );
            }
            let content = answer.get("content").map(output).filter(|text| !text.is_empty());
            let file = || answer.get("file").and_then(|file| text(file, "content")).map(str::to_owned);
            let result = || text(answer, "result").map(str::to_owned);
            let told = content.or_else(file).or_else(result).or_else(|| listed("filenames"));
            // Tools of which nothing is known answer with all they have.
            told.unwrap_or_else(|| if map.is_empty() { String::new() } else { answer.to_string() })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// An answer without the parts that prove nothing because the journal has cut them, and without whole old files.
fn whole(mut answer: Value) -> Value {
    if let Value::Object(map) = &mut answer {
        map.remove("originalFile");
        map.retain(|name, value| name == "stdout" || name == "stderr" || !is_cut(value));
    }
    answer
}

/// Whether a text or list ends in the journal's mark of a cut.
fn is_cut(value: &Value) -> bool {
    match value {
        Value::String(text) => text.ends_with(']') && text.rfind("… [cut: ").is_some_and(|at| text.len() - at < 80),
        Value::Array(items) => items.iter().any(is_cut),
        _ => false,
    }
}
