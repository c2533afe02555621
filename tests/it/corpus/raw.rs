//! Transcripts as the host wrote them: lines of JSON, and whose they are. Shares no code with the importer.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::world::below;

/// One transcript.
pub(super) struct File {
    pub(super) path: PathBuf,
    /// The records of all lines, and what is none: a broken line, or what is broken behind whole records.
    pub(super) records: u64,
    /// The records that are JSON objects.
    pub(super) lines: Vec<Line>,
}

/// One line.
pub(super) struct Line {
    /// The host session it belongs to, `<session>` or `<session>/agent-<agent>`.
    pub(super) stream: String,
    /// Whether a line of the same id was read before, or it was copied from another session.
    pub(super) copy: bool,
    pub(super) json: Value,
}

impl Line {
    /// The text at a path of keys, `""` where there is none.
    pub(super) fn text(&self, keys: &[&str]) -> &str {
        text(&self.json, keys)
    }

    pub(super) fn flag(&self, key: &str) -> bool {
        self.json[key].as_bool().unwrap_or(false)
    }
}

fn text<'v>(value: &'v Value, keys: &[&str]) -> &'v str {
    keys.iter().fold(value, |value, key| &value[*key]).as_str().unwrap_or("")
}

/// Every transcript below `sources`; main files before those of sub-agents, each by its first time.
pub(super) fn read(sources: &[PathBuf]) -> Vec<File> {
    let paths = sources.iter().flat_map(|source| below(source));
    let paths = paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let mut files: Vec<(Owner, String, File)> = paths.map(open).collect();
    files.sort_by(|(owner, time, file), (other, other_time, other_file)| {
        let rank = (owner.agent.is_some(), time, &file.path);
        rank.cmp(&(other.agent.is_some(), other_time, &other_file.path))
    });
    let mut seen = HashSet::new();
    for (owner, _, file) in &mut files {
        own(owner, &mut file.lines, &mut seen);
    }
    files.into_iter().map(|(_, _, file)| file).collect()
}

struct Owner {
    session: String,
    agent: Option<String>,
}

fn open(path: PathBuf) -> (Owner, String, File) {
    let bytes = std::fs::read(&path).unwrap();
    let mut file = File { path, records: 0, lines: Vec::new() };
    for line in bytes.split(|byte| *byte == b'\n') {
        let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
        if line.iter().all(blank) {
            continue;
        }
        let text = String::from_utf8_lossy(line);
        for value in serde_json::Deserializer::from_str(text.trim()).into_iter() {
            file.records += 1;
            let Ok(json @ Value::Object(_)) = value else { break };
            file.lines.push(Line { stream: String::new(), copy: false, json });
        }
    }
    let first = |key: &str| {
        let mut all = file.lines.iter().map(|line| line.text(&[key])).filter(|text| !text.is_empty());
        all.next().unwrap_or_default().to_owned()
    };
    let time = first("timestamp");
    let owner = owner(&file.path, first("sessionId"), &file.lines);
    (owner, time, file)
}

/// A session's file has its name; a sub-agent's says whose it is in its first record with an id.
fn owner(path: &Path, session: String, lines: &[Line]) -> Owner {
    let stem = path.file_stem().unwrap().to_str().unwrap();
    let chain = lines.iter().find(|line| !line.text(&["uuid"]).is_empty());
    let agent = chain.filter(|line| line.flag("isSidechain")).map(|line| line.text(&["agentId"]));
    let agent = agent.filter(|agent| !agent.is_empty()).or_else(|| stem.strip_prefix("agent-")).map(str::to_owned);
    let is_uuid = stem.len() == 36 && stem.bytes().filter(|byte| *byte == b'-').count() == 4;
    let session = if session.is_empty() || is_uuid { stem.to_owned() } else { session };
    Owner { session, agent }
}

/// Says of every line whose it is and whether it was read before.
fn own(owner: &Owner, lines: &mut [Line], seen: &mut HashSet<String>) {
    let of_agent = |agent: &str| format!("{}/agent-{agent}", owner.session);
    let main = owner.agent.as_deref().map_or_else(|| owner.session.clone(), of_agent);
    let mut inline: HashMap<String, String> = HashMap::new();
    let mut last = None;
    for line in lines {
        let uuid = line.text(&["uuid"]).to_owned();
        let origin = line.text(&["forkedFrom", "sessionId"]);
        let copied = !origin.is_empty() && origin != owner.session;
        line.copy = copied || (!uuid.is_empty() && uuid != "REDACTED" && !seen.insert(uuid.clone()));
        line.stream.clone_from(&main);
        if owner.agent.is_none() && line.flag("isSidechain") {
            let (parent, agent) = (line.text(&["parentUuid"]), line.text(&["agentId"]));
            let named = !agent.is_empty();
            let stream = match (agent, inline.get(parent), &last) {
                ("", Some(stream), _) => stream.clone(),
                ("", None, Some(last)) if !parent.is_empty() => String::clone(last),
                ("", None, _) => of_agent(&uuid),
                (agent, ..) => of_agent(agent),
            };
            if !named {
                last = Some(stream.clone());
                inline.insert(uuid, stream.clone());
            }
            line.stream = stream;
        }
    }
}

/// The texts of a message or of a tool's answer.
pub(super) fn texts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => Vec::new(),
    }
}

/// `values` of each stream put together.
pub(super) fn by_stream<'l, T>(lines: impl Iterator<Item = (&'l Line, T)>) -> BTreeMap<&'l str, Vec<T>> {
    let mut map: BTreeMap<&str, Vec<T>> = BTreeMap::new();
    for (line, value) in lines {
        map.entry(&line.stream).or_default().push(value);
    }
    map
}
