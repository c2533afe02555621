//! Whether a file is a session of this host, and which one.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::session::HOST;
use super::settings::{self, Settings};
use crate::bundles;
use crate::file::jsonl::{self, Format, beginning, head};
use crate::file::value::word;
use crate::record;
use crate::record::session::RecordSession;
use cru_base::Result;
use cru_session::source::{Account, Bundle, Header, Sink};

/// Records that are looked at.
const RECORDS: usize = 20;

/// Whether the file begins as a session of this host does, or is the settings of one.
pub(super) fn recognise(path: &Path, bytes: &[u8]) -> bool {
    if settings::is_named(path) {
        return bytes.trim_ascii_start().starts_with(b"{") && settings::transcript(path).is_file();
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
pub(super) fn bundle(mut files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    // One is not without the other, whichever was named.
    for at in 0..files.len() {
        let path = &files[at];
        let named = settings::is_named(path);
        let other = if named { settings::transcript(path) } else { settings::of_transcript(path) };
        if other.is_file() {
            files.push(other);
        }
    }
    bundles::by_session(files, place)
}

/// The session that a file is of. Settings are put with their transcript by their names.
pub(super) fn together(path: &Path) -> Result<Vec<String>> {
    let transcript = if settings::is_named(path) { settings::transcript(path) } else { path.to_owned() };
    Ok(vec![place(path)?.0, format!("{}", transcript.display())])
}

fn place(path: &Path) -> Result<(String, bool, Option<jiff::Timestamp>)> {
    let named = settings::is_named(path);
    let transcript = if named { settings::transcript(path) } else { path.to_owned() };
    if named && !transcript.is_file() {
        return Ok((bundles::stem(&transcript), true, None));
    }
    let records = beginning(&Bundle::default(), &transcript, RECORDS)?;
    let time = records.iter().find_map(|record| word(record, "/timestamp").parse().ok());
    Ok((session_of(&records, &transcript), named, time))
}

/// A transcript and its settings.
pub(super) fn beside(transcript: &Path) -> Vec<PathBuf> {
    let settings = Some(settings::of_transcript(transcript)).filter(|path| path.is_file());
    [transcript.to_owned()].into_iter().chain(settings).collect()
}

/// Reads a bundle and hands its events to the sink. Of several settings those are told that count the most: the others
/// are of its copies.
pub(super) fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let (settings, transcripts): (Vec<PathBuf>, Vec<PathBuf>) =
        bundle.files.iter().cloned().partition(|path| settings::is_named(path));
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
pub(super) struct Droid {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_content() {
        let is = |head: &str| recognise(Path::new("a.jsonl"), head.as_bytes());
        assert!(is("{\"type\":\"session_start\",\"id\":\"s\",\"cwd\":\"/x\"}\n"));
        assert!(is(
            "{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\"}]}}\n"
        ));
        assert!(!is("{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n"));
        assert!(!is(
            "{\"type\":\"message\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\"}]}}\n"
        ));
        assert!(!is("{\"type\":\"session\",\"id\":\"s\"}\n"));
        assert!(!is(""));
    }
}
