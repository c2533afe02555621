//! `docs/format.md` says what is true.
//!
//! Every markdown example in it is a note: it is read, and the `text` fence below it says what was read. A block marked
//! `written` is also what the renderer writes, byte for byte. The tables of keys and diagnostics are compared with the
//! code.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use cru::base::Severity;
use cru::note::Note;
use cru::session::model::{Item, Session, StepStatus, SubagentMode};
use cru::session::{read, render};

const DOC: &str = include_str!("../../../docs/format.md");

/// A fence of the document.
struct Fence<'a> {
    info: &'a str,
    body: String,
    line: usize,
}

fn fences(text: &str) -> Vec<Fence<'_>> {
    let mut found = Vec::new();
    let mut open: Option<(usize, Fence<'_>)> = None;
    for (index, line) in text.lines().enumerate() {
        let ticks = line.bytes().take_while(|byte| *byte == b'`').count();
        match &mut open {
            Some((len, fence)) if ticks >= *len && line.len() == ticks => {
                found.push(Fence { body: std::mem::take(&mut fence.body), ..*fence });
                open = None;
            }
            Some((_, fence)) => {
                fence.body.push_str(line);
                fence.body.push('\n');
            }
            None if ticks >= 3 => {
                open = Some((ticks, Fence { info: line[ticks..].trim(), body: String::new(), line: index + 1 }));
            }
            None => {}
        }
    }
    assert!(open.is_none(), "a fence of docs/format.md is not closed");
    found
}

/// What was read, in a few lines; what there is none of is left out.
fn summary(session: &Session, codes: &[&str]) -> String {
    let mut out = String::new();
    for phase in &session.phases {
        let mark = if phase.level == 2 { "phase" } else { "sub-phase" };
        let derived = if phase.id_written { "" } else { " (derived)" };
        let _ = write!(out, "{mark} {}{derived}: {:?}", phase.id, phase.title);
        if let Some(agent) = &phase.agent {
            let _ = write!(out, " by {agent}");
        }
        if let Some(channel) = &phase.channel {
            let _ = write!(out, " in {channel}");
        }
        out.push('\n');
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = |name: &str, more: usize| *counts.entry(name.to_owned()).or_default() += more;
    for (_, item) in session.items() {
        match item {
            Item::Step(step) => {
                count("steps", 1);
                count("failed", usize::from(step.status == StepStatus::Failed));
                count("running", usize::from(step.status == StepStatus::Running));
                count("pending", usize::from(step.status == StepStatus::Pending));
                count("commands", usize::from(step.command.is_some()));
                count("timed", usize::from(step.time.is_some()));
                count("exits", usize::from(step.exit.is_some()));
                count("reads", step.reads.len());
                count("writes", step.writes.len());
                count("created", step.writes.iter().filter(|file| file.created).count());
                count("hashes", step.reads.iter().chain(&step.writes).filter(|file| file.hash.is_some()).count());
                count("after", step.after.len());
                count("replays", usize::from(step.replays.is_some()));
                count("fields", step.fields.len());
            }
            Item::Tasks(it) => count("tasks", it.tasks.len()),
            Item::Prose(_) => count("prose", 1),
            other => {
                let kind = other.callout().map_or("", |callout| callout.kind.as_str());
                count(&format!("[!{kind}]"), 1);
            }
        }
    }
    counts.insert("memory".to_owned(), session.memory.len());
    let counts: Vec<String> =
        counts.iter().filter(|(_, count)| **count > 0).map(|(name, count)| format!("{name} {count}")).collect();
    let _ = writeln!(out, "{}", counts.join(", "));
    for (_, item) in session.items() {
        match item {
            Item::User(user) => {
                let _ = write!(out, "user{}: {:?}", if user.correction { " corrects" } else { "" }, user.words);
                if let Some(deed) = &user.interpretation {
                    let _ = write!(out, " -> {deed:?}");
                }
                out.push('\n');
            }
            Item::Decision(it) => {
                let fields = [("why", &it.why), ("rejected", &it.rejected), ("impact", &it.impact)];
                let fields = fields.iter().filter(|(_, value)| value.is_some()).map(|(name, _)| *name);
                let fields: Vec<&str> = fields.chain((!it.rests_on.is_empty()).then_some("rests on")).collect();
                let _ = writeln!(out, "decision {:?}: {}", it.callout.title, fields.join(", "));
            }
            Item::Error(it) => {
                let state = if it.resolution.is_some() { "resolved" } else { "open" };
                let _ = writeln!(out, "error {:?}: {state}, {} failing", it.callout.title, it.steps.len());
            }
            Item::Subagent(it) => {
                let mode = match it.mode {
                    SubagentMode::Inline => "inline",
                    SubagentMode::Link => "link",
                    SubagentMode::Embed => "embed",
                };
                let agent = it.agent.as_ref().map(ToString::to_string).unwrap_or_default();
                let _ = writeln!(out, "sub-agent {agent}: {mode}, {} inside", it.items.len());
            }
            Item::Prose(it) => {
                let _ = writeln!(out, "prose: {:?}", it.text);
            }
            _ => {}
        }
    }
    if !codes.is_empty() {
        let _ = writeln!(out, "remarks: {}", codes.join(", "));
    }
    out
}

#[test]
fn examples_are_read_as_the_document_says() {
    let fences = fences(DOC);
    let (mut seen, mut written) = (0, 0);
    let mut wrong = String::new();
    for (index, fence) in fences.iter().enumerate() {
        if !fence.info.starts_with("markdown") {
            continue;
        }
        let line = fence.line;
        assert!(
            ["markdown note", "markdown note written"].contains(&fence.info),
            "docs/format.md:{line}: an example is `markdown note` or `markdown note written`, not `{}`",
            fence.info
        );
        let note = Note::parse(fence.body.clone().into_bytes());
        let (session, mut diagnostics) = read::session(&note);
        diagnostics.extend_from_slice(note.diagnostics());
        diagnostics.sort_by_key(|it| (it.span.start, it.code));
        diagnostics.dedup();
        let errors: Vec<_> = diagnostics.iter().filter(|it| it.severity == Severity::Error).collect();
        assert!(errors.is_empty(), "docs/format.md:{line}: {errors:?}");
        let codes: Vec<&str> = diagnostics.iter().map(|it| it.code).collect();
        let read = summary(&session, &codes);
        let next = fences.get(index + 1).filter(|next| next.info == "text");
        let said = next.map_or("", |next| next.body.as_str());
        if said != read {
            let _ = writeln!(wrong, "docs/format.md:{line} says\n{said}\nand is\n{read}");
        }
        seen += 1;
        if fence.info.ends_with("written") {
            let rendered = render::note(&session);
            if rendered != fence.body {
                let _ = writeln!(wrong, "docs/format.md:{line} is written as\n{rendered}");
            }
            written += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(seen >= 6 && written >= 2, "{seen} examples, {written} of them as written");
}

/// Rows of the tables in the section with this heading: the cells, without backticks around the first.
fn rows(heading: &str) -> Vec<Vec<&'static str>> {
    let section = DOC.split(&format!("\n## {heading}\n")).nth(1).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    let cells = |line: &'static str| line.trim_matches('|').split(" | ").map(str::trim).collect::<Vec<_>>();
    section.lines().filter(|line| line.starts_with("| `")).map(cells).collect()
}

fn name(cell: &str) -> String {
    cell.trim_matches('`').to_owned()
}

#[test]
fn every_key_that_is_written_is_in_the_table() {
    let mut keys: BTreeSet<String> = render::KEYS.map(str::to_owned).into();
    // Set beside what is rendered, as a key of a person would be.
    keys.insert("reading".to_owned());
    let told: BTreeSet<String> = rows("Frontmatter").iter().map(|row| name(row[0])).collect();
    assert_eq!(told, keys);
}

/// Every diagnostic in the code of these folders, with its severity.
fn codes() -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    let crates = ["cru-note", "cru-session", "cru-vault", "cru-graph"].map(|name| format!("crates/{name}/src"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut open: Vec<PathBuf> =
        crates.iter().map(String::as_str).chain(["src/commands/trace"]).map(|it| root.join(it)).collect();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for severity in ["error", "warning", "info"] {
            for part in code.split(&format!("Diagnostic::{severity}(")).skip(1) {
                let literal = part.trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"'));
                found.extend(literal.map(|(code, _)| (code.to_owned(), severity.to_owned())));
            }
        }
        // The one table whose rows become errors by a variable.
        if path.ends_with("frontmatter/remark.rs") {
            for part in code.split("(\"frontmatter-").skip(1).chain(code.split("        \"frontmatter-").skip(1)) {
                let code = part.split('"').next().unwrap_or_default();
                let known = found.iter().any(|(name, _)| *name == format!("frontmatter-{code}"));
                if !known || ["alias", "key"].contains(&code) {
                    found.insert((format!("frontmatter-{code}"), "error".to_owned()));
                }
            }
        }
    }
    // What the graph makes for a link that leads somewhere; it is never told.
    found.remove(&("link".to_owned(), "info".to_owned()));
    found
}

#[test]
fn every_diagnostic_is_in_the_table() {
    let told: BTreeSet<(String, String)> = rows("Diagnostics")
        .iter()
        .flat_map(|row| row[1].split(", ").map(|severity| (name(row[0]), severity.to_owned())))
        .collect();
    assert_eq!(told, codes());
}

/// The anchor of a heading on a page.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_')).collect::<String>().replace(' ', "-")
}

/// Relative links of a page, those in code left out.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        let prose: String = line.split('`').step_by(2).collect();
        for part in prose.split("](").skip(1).filter(|_| !fenced) {
            let target = part.split(')').next().unwrap_or_default();
            found.extend((!target.contains("://")).then(|| target.to_owned()));
        }
    }
    found
}

#[test]
fn links_between_documents_lead_somewhere() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let mut seen = 0;
    for entry in fs::read_dir(&docs).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        for link in links(&fs::read_to_string(&path).unwrap()) {
            let (file, heading) = link.split_once('#').map_or((link.as_str(), None), |(file, it)| (file, Some(it)));
            let target = if file.is_empty() { path.clone() } else { docs.join(file) };
            assert!(target.exists(), "docs/{name}: `{link}` leads to no file");
            if let Some(heading) = heading {
                let text = fs::read_to_string(&target).unwrap();
                let mut headings = text.lines().filter(|line| line.starts_with('#'));
                let found = headings.any(|line| anchor(line.trim_start_matches('#')) == heading);
                assert!(found, "docs/{name}: `{link}` leads to no heading");
            }
            seen += 1;
        }
    }
    assert!(seen > 8, "{seen} links");
}
