//! Factory's droid: its sessions as events.
//!
//! A session is a file of JSON lines: one that begins it, then messages whose blocks are those of the Anthropic service,
//! with the task list and compactions between them. Its model and tokens stand in a file beside it.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::bundles;
use crate::call::task_list;
use crate::file::jsonl::{self, Format, beginning, head};
use crate::file::value::{self, count, filled, list, usage, word};
use crate::record::session::{HOST_WORDS, RecordSession};
use crate::record::{self, RecordHost, message};
use crate::stream::out::Out;
use crate::unknown::unknown;
use cru_base::{Error, Result};
use cru_session::event::{EventKind, Usage};
use cru_session::source::{Account, Bundle, Header, Importer, Sink};

/// Its row in the table.
pub(crate) const IMPORTER: Importer = Importer { id: HOST.id, recognise, bundle, together, read, beside, hooked: None };

/// Records that are looked at.
const RECORDS: usize = 20;

/// Whether the file begins as a session of this host does, or is the settings of one.
fn recognise(path: &Path, bytes: &[u8]) -> bool {
    if is_named(path) {
        return bytes.trim_ascii_start().starts_with(b"{") && transcript(path).is_file();
    }
    head(bytes, RECORDS).any(|record| match word(&record, "/type") {
        "session_start" => !word(&record, "/id").is_empty() && record.get("payload").is_none(),
        // A slice: a message with a role, of a kind that no other host writes with blocks of this form.
        "message" => {
            let role = matches!(word(&record, "/message/role"), "user" | "assistant");
            let blocks = record.pointer("/message/content").is_some_and(Value::is_array);
            let block = word(&record, "/message/content/0/type");
            let of_pi =
                ["usage", "api", "timestamp", "stopReason"].iter().any(|key| record["message"].get(key).is_some());
            role && blocks && !of_pi && record.get("parentId").is_none_or(|id| !id.is_null()) && block.contains("tool_")
        }
        _ => false,
    })
}

/// Groups files by session: transcripts before settings, which go with theirs.
fn bundle(mut files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    // One is not without the other, whichever was named.
    for at in 0..files.len() {
        let path = &files[at];
        let named = is_named(path);
        let other = if named { transcript(path) } else { of_transcript(path) };
        if other.is_file() {
            files.push(other);
        }
    }
    bundles::by_session(files, place)
}

/// The session that a file is of. Settings are put with their transcript by their names.
fn together(path: &Path) -> Result<Vec<String>> {
    let transcript = if is_named(path) { transcript(path) } else { path.to_owned() };
    Ok(vec![place(path)?.0, format!("{}", transcript.display())])
}

fn place(path: &Path) -> Result<(String, bool, Option<jiff::Timestamp>)> {
    let named = is_named(path);
    let transcript = if named { transcript(path) } else { path.to_owned() };
    if named && !transcript.is_file() {
        return Ok((bundles::stem(&transcript), true, None));
    }
    let records = beginning(&Bundle::default(), &transcript, RECORDS)?;
    let time = records.iter().find_map(|record| word(record, "/timestamp").parse().ok());
    Ok((session_of(&records, &transcript), named, time))
}

/// A transcript and its settings.
fn beside(transcript: &Path) -> Vec<PathBuf> {
    let settings = Some(of_transcript(transcript)).filter(|path| path.is_file());
    [transcript.to_owned()].into_iter().chain(settings).collect()
}

/// Reads a bundle and hands its events to the sink. Of several settings those are told that count the most: the others
/// are of its copies.
fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let (settings, transcripts): (Vec<PathBuf>, Vec<PathBuf>) =
        bundle.files.iter().cloned().partition(|path| is_named(path));
    let mut all = Vec::with_capacity(settings.len());
    for path in settings {
        let it = Settings::read(bundle, &path)?;
        all.push((path, it));
    }
    let told = (0..all.len()).rev().filter(|_| !transcripts.is_empty());
    let told = told.max_by_key(|&at| all[at].1.as_ref().filter(|it| it.says_something()).map(Settings::weight));
    let mut accounts = Vec::with_capacity(all.len());
    for (at, (path, it)) in all.iter().enumerate() {
        let mut account = Account::default();
        match it {
            _ if transcripts.is_empty() => account.skip("settings of no transcript"),
            None => account.skip("broken settings"),
            Some(it) if !it.says_something() => account.skip("empty settings"),
            Some(_) if told != Some(at) => account.skip("settings of a copy"),
            Some(_) => account.represent(),
        }
        accounts.push((path.clone(), account));
    }
    let settings = told.map(|at| all.swap_remove(at)).and_then(|(_, it)| it);
    jsonl::read_some(Droid { settings }, bundle, &transcripts, sink)?;
    for (path, account) in accounts {
        sink.account(&path, account);
    }
    Ok(())
}

/// The session that the first line names, else the one that the file's name does.
fn session_of(records: &[Value], path: &Path) -> String {
    let start = records.iter().find(|record| word(record, "/type") == "session_start");
    let named = start.map_or("", |record| word(record, "/id").trim());
    if named.is_empty() || named == "REDACTED" { bundles::stem(path) } else { named.to_owned() }
}

/// The stream of a file.
struct Droid {
    settings: Option<Settings>,
}

impl Format for Droid {
    type State = RecordSession;

    fn file(&mut self, bundle: &Bundle, path: &Path) -> Result<Header> {
        let records = beginning(bundle, path, RECORDS)?;
        let start = records.iter().find(|record| word(record, "/type") == "session_start");
        let parent = start.map(|record| word(record, "/parentSessionId"));
        Ok(record::header(path, session_of(&records, path), parent))
    }

    fn begin(&mut self, header: &Header) -> RecordSession {
        let settings = self.settings.take();
        RecordSession::new(&HOST, header.key.clone(), settings.map(|it| it.head()).unwrap_or_default())
    }
}

const HOST: RecordHost = RecordHost { id: "droid", ids: &["id"], times: &["timestamp"], tell, ..RecordHost::PLAIN };

fn tell(session: &mut RecordSession, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    match word(record, "/type") {
        "session_start" => {
            // `title` is only the beginning of the first words.
            session.head(&json!({ "cwd": record["cwd"], "title": record["sessionTitle"] }), out);
            out.told = true;
            None
        }
        "message" => {
            let hidden = matches!(word(record, "/message/visibility"), "llm" | "llm_only" | "hidden" | "model_only");
            if !hidden || word(record, "/message/role") != "user" {
                return message::tell(session, &record["message"], out);
            }
            let answers = list(record, "/message/content").iter().filter(|block| word(block, "/type") == "tool_result");
            let answers: Vec<&Value> = answers.collect();
            message::tell(session, &json!({ "role": "user", "content": answers }), out).or(Some(HOST_WORDS))
        }
        "todo_state" => {
            let input = if record.pointer("/todos/todos").is_some() { &record["todos"] } else { record };
            let rows = task_list::of_call(input);
            if rows.is_empty() {
                return Some("empty task list");
            }
            out.emit(EventKind::Tasks(rows));
            None
        }
        "compaction_state" => {
            let summary = filled(record, ["/summaryText", "/summary"]).map(Cow::Borrowed);
            let tokens = Some(count(record, "/tokensBefore")).filter(|tokens| *tokens > 0);
            out.emit(EventKind::Compaction { trigger: None, tokens_before: tokens, summary });
            None
        }
        "session_end" => Some("end of the session"),
        "" => Some("no record type"),
        kind => Some(unknown("unknown record type", kind)),
    }
}

/// How the name of such a file ends.
const END: &str = ".settings.json";

/// Settings larger than that are none.
const LARGEST: u64 = 1 << 20;

/// Words that go into the note, and their names there.
const WORDS: &[(&str, &str)] = &[
    ("/reasoningEffort", "reasoning_effort"),
    ("/providerLock", "provider"),
    ("/apiProviderLock", "api_provider"),
    ("/interactionMode", "mode"),
    ("/autonomyLevel", "autonomy"),
];

/// The settings of one session.
#[derive(Debug)]
struct Settings(Value);

/// Whether a file is called like settings.
fn is_named(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(END))
}

/// The settings beside a transcript.
fn of_transcript(path: &Path) -> PathBuf {
    path.with_extension("settings.json")
}

/// The transcript beside settings.
fn transcript(path: &Path) -> PathBuf {
    path.with_extension("").with_extension("jsonl")
}

impl Settings {
    /// Reads them; nothing where they are none, or were just being written.
    fn read(bundle: &Bundle, path: &Path) -> Result<Option<Self>> {
        let failed = |source| Error::io("read", path, source);
        let mut bytes = Vec::new();
        bundle.open(path).map_err(failed)?.take(LARGEST).read_to_end(&mut bytes).map_err(failed)?;
        Ok(value::read(&bytes).filter(Value::is_object).map(Self))
    }

    /// Whether they say something that a note has.
    fn says_something(&self) -> bool {
        !self.model().is_empty() || self.usage() != Usage::default() || !self.properties().is_empty()
    }

    /// How much they count: what they count only grows.
    fn weight(&self) -> u64 {
        let usage = self.usage();
        usage.used().saturating_add(usage.cache_read)
    }

    /// What they say of the session. What the model was in the end is all that is known of the models.
    fn head(&self) -> Value {
        let Usage { input, output, cache_read, cache_write, .. } = self.usage();
        let usage = json!({ "input": input, "output": output, "cache_read": cache_read, "cache_write": cache_write });
        json!({ "model": self.model(), "more": self.properties(), "usage": usage })
    }

    fn model(&self) -> &str {
        word(&self.0, "/model").trim()
    }

    /// Those of the session's own work: its sub-agents have settings of their own.
    fn usage(&self) -> Usage {
        usage(&self.0["tokenUsage"], ["inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens"])
    }

    fn properties(&self) -> Map<String, Value> {
        let words = WORDS.iter().map(|(place, name)| (*name, word(&self.0, place).trim()));
        let words = words.filter(|(_, word)| !word.is_empty()).map(|(name, word)| (name, Value::from(word)));
        let seconds = count(&self.0, "/assistantActiveTimeMs").div_ceil(1000);
        let thought = count(&self.0, "/tokenUsage/thinkingTokens");
        let numbers = [("active_seconds", seconds), ("thinking_tokens", thought)].into_iter();
        let numbers = numbers.filter(|(_, number)| *number > 0).map(|(name, number)| (name, Value::from(number)));
        words.chain(numbers).map(|(name, value)| (name.to_owned(), value)).collect()
    }
}
