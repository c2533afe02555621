//! The words of people: exactly theirs, all of them, and nobody else's.

use std::collections::BTreeMap;

use cru::base::text::sanitise;
use cru::session::Item;

use crate::transcript_set::{TranscriptSet, on_both_sets};

use super::raw::{Line, by_stream, texts};
use super::world::{World, Written, world};

/// What the host puts under a person's name.
const HOSTS: &[&str] =
    &["<system-reminder>", "<command-name>", "<local-command", "tool_use_error", "[Request interrupted"];

/// Elements that the host inserts into a person's own text.
const INSERTED: &[&str] =
    &["system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics", "new-diagnostics"];

/// The words of every user callout of a note.
fn said(note: &Written) -> impl Iterator<Item = &str> {
    note.session.items().filter_map(|(_, item)| match item {
        Item::User(user) => Some(user.words.as_str()),
        _ => None,
    })
}

/// Texts of a line in which a person's words may stand: user messages and answers of tools, queued words.
fn sources(line: &Line) -> Vec<String> {
    let mut found = Vec::new();
    match line.text(&["type"]) {
        "user" => {
            let content = &line.json["message"]["content"];
            let own = texts(content);
            found.push(own.join("\n\n"));
            found.extend(own.into_iter().map(str::to_owned));
            for block in content.as_array().into_iter().flatten() {
                found.extend(texts(&block["content"]).into_iter().map(str::to_owned));
            }
            found.push(line.text(&["userFeedback"]).to_owned());
        }
        "queue-operation" => found.push(line.text(&["content"]).to_owned()),
        "attachment" => found.extend(texts(&line.json["attachment"]["prompt"]).into_iter().map(str::to_owned)),
        _ => {}
    }
    found.retain(|text| !text.trim().is_empty());
    found.into_iter().map(|text| plain(&text)).collect()
}

/// As a note shows it: clean, and without what the host inserted.
fn plain(text: &str) -> String {
    let mut text = text.to_owned();
    for name in INSERTED {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        while let Some(start) = text.find(&open) {
            let Some(length) = text[start..].find(&close) else { break };
            text.replace_range(start..start + length + close.len(), "");
        }
    }
    sanitise(&text).trim().to_owned()
}

/// A command as typed stands in the transcript in two elements, a line for the shell in one.
fn is_command(words: &str, sources: &[String]) -> bool {
    if let Some(line) = words.strip_prefix('!') {
        let inside = |text: &String| {
            let rest = text.strip_prefix("<bash-input>")?;
            Some(rest.split_once("</bash-input>")?.0.trim() == line)
        };
        return sources.iter().any(|text| inside(text) == Some(true));
    }
    let Some((name, args)) = words.strip_prefix('/').map(|rest| rest.split_once(' ').unwrap_or((rest, ""))) else {
        return false;
    };
    sources.iter().any(|text| {
        let named = [format!("<command-name>/{name}</"), format!("<command-name>{name}</")];
        named.iter().any(|named| text.contains(named)) && text.contains(args)
    })
}

fn by_session(world: &World) -> BTreeMap<&str, Vec<String>> {
    let all = world.raw.iter().flat_map(|file| &file.lines).flat_map(|line| {
        let texts = sources(line);
        texts.into_iter().map(move |text| (line, text))
    });
    by_stream(all)
}

fn words_stand_in_the_transcript_as_they_are(set: &TranscriptSet) {
    let world = world(set);
    let sources = by_session(world);
    let (mut whole, mut within, mut wrong) = (0, 0, Vec::new());
    for note in &world.notes {
        let sources = sources.get(note.host_session()).map(Vec::as_slice).unwrap_or_default();
        for words in said(note) {
            let words = words.trim();
            if words.is_empty() || sources.iter().any(|text| text == words) {
                whole += 1;
            } else if is_command(words, sources) || sources.iter().any(|text| text.contains(words)) {
                within += 1;
            } else {
                wrong.push(format!("{}: {words:?}", note.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} words:\n{}", wrong.len(), whole + within + wrong.len(), wrong.join("\n"));
    assert!(whole > set.least(20, 150) && whole > 4 * within, "{whole} whole, {within} within other text");
}

fn no_words_are_the_hosts(set: &TranscriptSet) {
    let world = world(set);
    for note in &world.notes {
        for words in said(note) {
            for mark in HOSTS {
                assert!(!words.contains(mark), "{}: {words}", note.path);
            }
        }
    }
}

/// Whether the line is plainly a prompt that a person typed: one text, and nothing that marks it as the host's.
fn is_prompt(line: &Line) -> bool {
    const WRITTEN: &[&str] = &[
        "<",
        "[Request interrupted",
        "Caveat: ",
        "Operation stopped by hook:",
        "Stop hook feedback:",
        "This session is being continued",
    ];
    let text = line.json["message"]["content"].as_str().unwrap_or("").trim();
    let origin = line.text(&["origin", "kind"]);
    line.text(&["type"]) == "user"
        && !["isMeta", "isCompactSummary", "isSidechain"].iter().any(|flag| line.flag(flag))
        && matches!(origin, "" | "human")
        && line.text(&["promptSource"]) != "system"
        && !text.is_empty()
        && !WRITTEN.iter().any(|head| text.starts_with(head))
}

fn every_prompt_is_in_its_note(set: &TranscriptSet) {
    let world = world(set);
    let hosts = world.by_host();
    let (mut found, mut missing) = (0, Vec::new());
    for line in world.lines().filter(|line| !line.copy && is_prompt(line)) {
        let Some(note) = hosts.get(line.stream.as_str()) else { continue };
        let text = plain(line.text(&["message", "content"]));
        if said(note).any(|words| words.trim() == text) {
            found += 1;
        } else {
            missing.push(format!("{}: {text:?}", note.path));
        }
    }
    assert!(missing.is_empty(), "{} of {}:\n{}", missing.len(), found + missing.len(), missing.join("\n"));
    assert!(found > set.least(15, 150), "{found} prompts");
}

on_both_sets!(words_stand_in_the_transcript_as_they_are, no_words_are_the_hosts, every_prompt_is_in_its_note);
