//! The tokens of every note against a count of the raw lines.

use std::collections::{BTreeMap, HashMap};

use crate::transcript_set::{TranscriptSet, on_both_sets};

use super::raw::Line;
use super::world::world;

/// Tokens of a line's message: input, output and cache creation, each missing or odd one as nothing.
fn used(line: &Line) -> u64 {
    let usage = &line.json["message"]["usage"];
    let count = |key: &str| usage[key].as_u64().unwrap_or(0);
    count("input_tokens") + count("output_tokens") + count("cache_creation_input_tokens")
}

/// The last usage of every message of a stream, put together. A message without an id, or with one that was masked,
/// counts by its line.
fn count<'l>(lines: impl Iterator<Item = &'l Line>) -> BTreeMap<&'l str, u64> {
    let mut messages: HashMap<(&str, &str), u64> = HashMap::new();
    for line in lines.filter(|line| !line.copy && line.text(&["type"]) == "assistant") {
        let model = line.text(&["message", "model"]);
        if model == "<synthetic>" || line.flag("isApiErrorMessage") || line.json["message"]["usage"].is_null() {
            continue;
        }
        let id = Some(line.text(&["message", "id"])).filter(|id| !matches!(*id, "" | "REDACTED"));
        let last = messages.entry((&line.stream, id.unwrap_or_else(|| line.text(&["uuid"])))).or_default();
        *last = used(line);
    }
    let mut streams: BTreeMap<&str, u64> = BTreeMap::new();
    for ((stream, _), tokens) in messages {
        *streams.entry(stream).or_default() += tokens;
    }
    streams
}

fn tokens_are_those_of_the_last_usage_of_each_message(set: &TranscriptSet) {
    let world = world(set);
    let counted = count(world.lines());
    let mut with_tokens = 0;
    let mut wrong = Vec::new();
    for note in &world.notes {
        let wanted = counted.get(note.host_session()).copied().unwrap_or(0);
        let told = note.session.meta.tokens_used.unwrap_or(0);
        with_tokens += usize::from(told > 0);
        if told != wanted {
            wrong.push(format!("{}: {told} in the note, {wanted} in the transcript", note.path));
        }
    }
    assert!(wrong.is_empty(), "{} notes:\n{}", wrong.len(), wrong.join("\n"));
    assert!(with_tokens > set.least(10, 50), "{with_tokens} notes with tokens");
}

on_both_sets!(tokens_are_those_of_the_last_usage_of_each_message);
