//! What hooks tell, replayed: a session that is flushed while it runs ends up as the one that a single import makes,
//! with its transcript growing beside it, and as near as the hooks can tell without any.

use std::fs;
use std::path::{Path, PathBuf};

use cru::base::files;
use cru::live::hook::HookEntry;
use cru::session::{Item, Session, Status};
use cru::sync::hooked::{Hooked, Synced, sync_one};
use cru::sync::report::Outcome;
use cru::vault::Journal;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::imports::growth::{World, nameless, without_cursor};
use crate::transcript_set::{TranscriptSet, on_both_sets};

/// A session as its files tell it.
pub(crate) struct Recorded {
    pub(crate) session: String,
    pub(crate) lines: Vec<(String, Value)>,
    agents: Vec<Agent>,
}

pub(crate) struct Agent {
    id: String,
    kind: String,
    text: String,
    meta: Option<Vec<u8>>,
    lines: Vec<Value>,
}

/// An event, and how many lines of the transcript were written when it came.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) name: &'static str,
    pub(crate) time: Timestamp,
    pub(crate) input: Value,
    pub(crate) written: usize,
}

impl Recorded {
    pub(crate) fn read(path: &Path) -> Self {
        let parse = |text: &str| -> Vec<(String, Value)> {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            lines.map(|line| (line.to_owned(), serde_json::from_str(line).unwrap_or(Value::Null))).collect()
        };
        let lines = parse(&String::from_utf8_lossy(&fs::read(path).unwrap()));
        let folder = path.with_extension("").join("subagents");
        let mut agents = Vec::new();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_none_or(|extension| extension != "jsonl") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let meta = fs::read(path.with_extension("meta.json")).ok();
            let kind = meta.as_ref().and_then(|meta| serde_json::from_slice::<Value>(meta).ok());
            agents.push(Agent {
                id: path.file_stem().unwrap().to_str().unwrap().trim_start_matches("agent-").to_owned(),
                kind: kind.and_then(|meta| Some(meta["agentType"].as_str()?.to_owned())).unwrap_or_default(),
                lines: parse(&text).into_iter().map(|(_, line)| line).collect(),
                text,
                meta,
            });
        }
        let session = lines.iter().find_map(|(_, line)| line["sessionId"].as_str()).unwrap().to_owned();
        Self { session, lines, agents }
    }

    /// The events that the host's hooks would have told.
    pub(crate) fn events(&self, transcript: &Path) -> Vec<Event> {
        let lines: Vec<&Value> = self.lines.iter().map(|(_, line)| line).collect();
        let mut events = Vec::new();
        self.tell(&lines, None, transcript, &mut events);
        let last = events.iter().map(|event| event.time).max().unwrap_or_default();
        let input = json!({ "session_id": self.session, "transcript_path": transcript, "reason": "other" });
        events.push(Event { name: "session-end", time: last, input, written: lines.len() });
        events
    }

    fn tell(&self, lines: &[&Value], agent: Option<&Agent>, transcript: &Path, events: &mut Vec<Event>) {
        let mut words: Option<(Timestamp, String)> = None;
        let mut calls: Vec<(String, Value, Value)> = Vec::new();
        let mut time = Timestamp::default();
        for (at, line) in lines.iter().enumerate() {
            time = line["timestamp"].as_str().and_then(|text| text.parse().ok()).unwrap_or(time);
            let written = if agent.is_some() { events.last().map_or(0, |event| event.written) } else { at };
            let push = |events: &mut Vec<Event>, name, time, more: Value| {
                let mut input = json!({
                    "session_id": self.session, "transcript_path": transcript, "cwd": line["cwd"],
                });
                if let Some(agent) = agent {
                    input["agent_id"] = agent.id.clone().into();
                    input["agent_type"] = agent.kind.clone().into();
                }
                for (key, value) in more.as_object().unwrap() {
                    input[key] = value.clone();
                }
                events.push(Event { name, time, input, written });
            };
            if line["isSidechain"] == true && agent.is_none() {
                continue;
            }
            match line["type"].as_str().unwrap_or_default() {
                "assistant" => {
                    for block in line["message"]["content"].as_array().into_iter().flatten() {
                        match block["type"].as_str() {
                            Some("text") => words = Some((time, block["text"].as_str().unwrap_or_default().to_owned())),
                            Some("tool_use") => {
                                let (tool, given) = (block["name"].clone(), block["input"].clone());
                                let id = block["id"].as_str().unwrap_or_default().to_owned();
                                let more = json!({ "tool_name": tool, "tool_input": given, "tool_use_id": id });
                                push(events, "pre-tool", time, more);
                                calls.push((id, tool, given));
                            }
                            _ => {}
                        }
                    }
                }
                "user" => {
                    let content = &line["message"]["content"];
                    for block in content.as_array().into_iter().flatten().filter(|it| it["type"] == "tool_result") {
                        let id = block["tool_use_id"].as_str().unwrap_or_default();
                        let Some((_, tool, given)) = calls.iter().find(|(call, ..)| call == id) else { continue };
                        let mut more = json!({ "tool_name": tool, "tool_input": given, "tool_use_id": id });
                        let agent_id = line["toolUseResult"]["agentId"].as_str();
                        if let Some(agent) = self.agents.iter().find(|agent| Some(agent.id.as_str()) == agent_id) {
                            let start = agent.lines.first().and_then(|line| line["timestamp"].as_str()?.parse().ok());
                            let cwd = agent.lines.first().map_or(Value::Null, |line| line["cwd"].clone());
                            let who = json!({ "agent_id": agent.id, "agent_type": agent.kind, "cwd": cwd });
                            push(events, "subagent-start", start.unwrap_or(time), who);
                            let own: Vec<&Value> = agent.lines.iter().collect();
                            self.tell(&own, Some(agent), transcript, events);
                        }
                        if block["is_error"] == true {
                            more["error"] = text(&block["content"]).into();
                            push(events, "post-tool-failure", time, more);
                        } else {
                            more["tool_response"] = line["toolUseResult"].clone();
                            push(events, "post-tool", time, more);
                        }
                    }
                    if line["isCompactSummary"] == true {
                        push(events, "post-compact", time, json!({ "compact_summary": text(content) }));
                        continue;
                    }
                    let said = text(content);
                    let is_prompt = line["isMeta"] != true
                        && !said.is_empty()
                        && !said.starts_with(['<', '['])
                        && line["toolUseResult"].is_null();
                    if is_prompt && agent.is_none() {
                        if let Some((time, words)) = words.take() {
                            push(events, "stop", time, json!({ "last_assistant_message": words }));
                        }
                        push(events, "prompt", time, json!({ "prompt": said }));
                    } else if let Some(prompt) = command(&said).filter(|_| agent.is_none()) {
                        push(events, "prompt", time, json!({ "prompt": prompt }));
                    }
                }
                "system" if line["subtype"] == "compact_boundary" => {
                    push(events, "pre-compact", time, json!({ "trigger": line["compactMetadata"]["trigger"] }));
                }
                _ => {}
            }
            if at + 1 == lines.len()
                && let Some((time, words)) = words.take()
            {
                let name = if agent.is_some() { "subagent-stop" } else { "stop" };
                push(events, name, time, json!({ "last_assistant_message": words }));
            }
        }
    }

    /// The files as they were when so many lines of the transcript were written.
    pub(crate) fn write(&self, transcript: &Path, written: usize) {
        let lines: Vec<&str> = self.lines[..written].iter().flat_map(|(line, _)| [line.as_str(), "\n"]).collect();
        let text = lines.concat();
        files::create_dir(transcript.parent().unwrap()).unwrap();
        files::put(transcript, text.as_bytes()).unwrap();
        let shown = |agent: &&Agent| text.contains(&agent.id) || written == self.lines.len();
        for agent in self.agents.iter().filter(shown) {
            let path = transcript.with_extension("").join(format!("subagents/agent-{}.jsonl", agent.id));
            files::create_dir(path.parent().unwrap()).unwrap();
            files::put(&path, agent.text.as_bytes()).unwrap();
            if let Some(meta) = &agent.meta {
                files::put(&path.with_extension("meta.json"), meta).unwrap();
            }
        }
    }
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            // An editor's remark beside the words is none of them.
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            let texts: Vec<&str> = texts.filter(|text| !text.starts_with("<ide_")).collect();
            texts.join("\n\n")
        }
        _ => String::new(),
    }
}

/// A command as a person typed it.
fn command(said: &str) -> Option<String> {
    let part = |tag: &str| Some(said.split_once(&format!("<{tag}>"))?.1.split_once(&format!("</{tag}>"))?.0);
    let name = part("command-name")?;
    Some(format!("{name} {}", part("command-args").unwrap_or_default()).trim().to_owned())
}

/// Nothing where the journal is in the note already and was removed.
fn flush(world: &World, session: &str) -> Option<Synced> {
    let hooked = Hooked::read(&world.state, "claude-code", session).unwrap()?;
    Some(sync_one(&world.vault, &world.state, &world.env, &hooked, None).unwrap())
}

fn tell(world: &World, session: &str, event: &Event) {
    let journal = Journal::at(world.state.journal(&Hooked::key("claude-code", session)));
    let (host, files) = ("claude-code".to_owned(), Vec::new());
    let entry = HookEntry {
        host,
        event: event.name.to_owned(),
        input: event.input.clone(),
        files,
        head: None,
        continues: None,
    };
    journal.append(&entry, event.time).unwrap();
}

/// The session of the fixtures, of which hooks can tell all, and further ones of a set.
pub(crate) fn recorded(set: &TranscriptSet) -> Vec<(PathBuf, bool)> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude/-home-mara-code-tidepool");
    let mut paths = vec![(project.join("5f0c2f1e-7a44-4d0e-9c39-2f6f4f1d0a11.jsonl"), true)];
    let importer = cru::import::find("claude").unwrap();
    let bundles = cru::import::search(importer, &[set.folder("claude-projects")]).unwrap().bundles;
    let fits = |path: &&PathBuf| {
        let size = fs::metadata(path).unwrap().len();
        (set.least(5_000, 60_000)..600_000).contains(&size) && !path.to_str().unwrap().contains("agent-")
    };
    let mut others: Vec<PathBuf> =
        bundles.iter().filter_map(|bundle| bundle.files.first()).filter(fits).cloned().collect();
    others.sort_by_key(|path| (!path.with_extension("").join("subagents").is_dir(), path.clone()));
    paths.extend(others.into_iter().take(3).map(|path| (path, false)));
    assert_eq!(paths.len(), 4);
    paths
}

pub(crate) fn imported(recorded: &Recorded) -> World {
    let world = World::new();
    recorded.write(&place(&world, recorded), recorded.lines.len());
    world.import();
    world
}

pub(crate) fn place(world: &World, recorded: &Recorded) -> PathBuf {
    world.input().join(format!("project/{}.jsonl", recorded.session))
}

fn plain(world: &World, text: &str) -> String {
    without_cursor(text).replace(world.temp.path().to_str().unwrap(), "")
}

/// A note that hooks began, completed by its transcript: it began with the first hook.
pub(crate) const COMPLETED: &str = "completed";

pub(crate) fn compare(one: &World, other: &World, what: &str) {
    let (one_notes, other_notes) = (one.sessions(), other.sessions());
    assert_eq!(one_notes.keys().collect::<Vec<_>>(), other_notes.keys().collect::<Vec<_>>(), "{what}");
    let without: &[&str] = if what == COMPLETED { &["transcript", "started"] } else { &["transcript"] };
    for (host, (text, session)) in &one_notes {
        let (other_text, other_session) = &other_notes[host];
        let (a, b) = (without_what_is_live(session), without_what_is_live(other_session));
        let (a, b) = (nameless(&a, &one_notes, without), nameless(&b, &other_notes, without));
        assert!(a == b, "{what} {host}\n{}\n=====\n{}", plain(one, text), plain(other, other_text));
    }
}

/// Without what only a live session has: what was in a file at the moment of the call, whether it was there, and the
/// checkpoint at its end, which is computed of an imported one.
fn without_what_is_live(session: &Session) -> Session {
    let mut session = session.clone();
    for phase in &mut session.phases {
        phase.items.retain(|item| !matches!(item, Item::Callout(it) if it.kind == "checkpoint"));
    }
    for item in session.phases.iter_mut().flat_map(|phase| &mut phase.items) {
        let Item::Step(step) = item else { continue };
        for file in step.reads.iter_mut().chain(&mut step.writes) {
            (file.hash, file.created) = (None, false);
        }
    }
    session
}

fn with_the_transcript_growing_beside_it_is_the_imported_one(set: &TranscriptSet) {
    for (path, _) in recorded(set) {
        let recorded = Recorded::read(&path);
        let whole = imported(&recorded);
        let world = World::new();
        let transcript = place(&world, &recorded);
        let (mut flushes, mut seen_active) = (0, false);
        for (number, event) in recorded.events(&transcript).iter().enumerate() {
            tell(&world, &recorded.session, event);
            let end = event.name == "session-end";
            if end || event.name == "stop" || number % 7 == 3 {
                recorded.write(&transcript, if end { recorded.lines.len() } else { event.written });
                flush(&world, &recorded.session);
                flushes += 1;
                let notes = world.sessions();
                let main = notes.get(&recorded.session);
                if let Some((text, session)) = main.filter(|_| !end) {
                    assert_eq!(session.meta.status, Some(Status::Active), "{text}");
                    assert!(!text.contains("no result recorded") || whole_has(&whole, "no result recorded"), "{text}");
                    seen_active = true;
                }
                let before = world.notes();
                flush(&world, &recorded.session);
                assert_eq!(world.notes(), before, "a second flush changes no byte");
            }
        }
        assert!(flushes > 2 && seen_active, "{flushes} flushes");
        compare(&world, &whole, "flushed");
        let report = {
            fs::create_dir_all(world.input()).unwrap();
            world.import()
        };
        assert_eq!(report.count(Outcome::Created) + report.count(Outcome::Updated), 0, "{:?}", report.sessions);
    }
}

fn whole_has(world: &World, words: &str) -> bool {
    world.notes().values().any(|text| text.contains(words))
}

/// What hooks can tell: phases by their titles and opening words, steps, words of the person, tasks, sub-agents.
pub(crate) fn told(session: &Session) -> Vec<String> {
    let mut told = Vec::new();
    for phase in &session.phases {
        told.push(format!("## {}", phase.title));
        for item in &phase.items {
            match item {
                Item::Step(step) => {
                    let files =
                        |files: &[cru::session::FileRef]| files.iter().map(|it| it.path.clone()).collect::<Vec<_>>();
                    told.push(format!(
                        "{:?} {} {} → {:?} {:?} {:?} {:?} {:?}",
                        step.id,
                        step.tool,
                        step.args,
                        step.status,
                        step.result,
                        step.exit,
                        files(&step.reads),
                        files(&step.writes)
                    ));
                }
                Item::User(user) => told.push(format!("user: {} {}", user.words, user.correction)),
                Item::Subagent(it) => {
                    told.push(format!("subagent: {:?} {:?} {}", it.agent, it.task, it.link.is_some()));
                }
                Item::Decision(it) => told.push(format!("decision: {}", it.callout.title)),
                Item::Error(it) => told.push(format!("error: {}", it.callout.title)),
                _ => {}
            }
        }
    }
    told.extend(session.tasks().iter().map(|task| format!("task: {} {}", task.content, task.status)));
    told
}

fn without_a_transcript_it_tells_what_the_hooks_told_and_is_completed_by_the_transcript(set: &TranscriptSet) {
    for (path, invented) in recorded(set) {
        let recorded = Recorded::read(&path);
        let whole = imported(&recorded);
        let world = World::new();
        let transcript = place(&world, &recorded);
        for event in recorded.events(&transcript) {
            tell(&world, &recorded.session, &event);
            if matches!(event.name, "stop" | "session-end" | "subagent-stop") {
                assert!(!flush(&world, &recorded.session).unwrap().from_transcript);
            }
        }
        let (notes, want) = (world.sessions(), whole.sessions());
        let main = &notes[&recorded.session].1;
        let (have, wanted) = (told(main), told(&want[&recorded.session].1));
        let lacking: Vec<&String> = wanted.iter().filter(|line| !have.contains(line)).collect();
        let more: Vec<&String> = have.iter().filter(|line| !wanted.contains(line)).collect();
        println!("{}: {} told, lacking {lacking:#?}, instead {more:#?}", path.display(), wanted.len());
        if invented {
            // Words of the agent part a list of steps: without them a callout stands below the longer list.
            assert!(lacking.is_empty() && more.is_empty());
            assert_eq!(notes.len(), want.len());
        }
        recorded.write(&transcript, recorded.lines.len());
        let report = world.import();
        assert_eq!(report.count(Outcome::Grown), 0, "{:#?}", report.sessions);
        compare(&world, &whole, COMPLETED);
    }
}

on_both_sets!(
    with_the_transcript_growing_beside_it_is_the_imported_one,
    without_a_transcript_it_tells_what_the_hooks_told_and_is_completed_by_the_transcript,
);
