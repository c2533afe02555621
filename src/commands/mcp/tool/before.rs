//! `before`: what the record says at the moment of acting.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::search::quoted;
use super::{Answer, Arguments, Caller, decided, list, minute, project, text};
use crate::action::Action;
use crate::base::{Error, Result};
use crate::commands::Reach;
use crate::commands::ask::{option, words};
use crate::commands::mcp::reference::Reference;
use crate::graph::{Place, recoveries};
use crate::session::words::list;
use crate::session::{Item, Session};
use crate::vault::Catalog;

/// Rows of each list.
const MOST: usize = 8;

pub(super) fn call(arguments: &Arguments, caller: &Caller<'_>) -> Result<Answer> {
    match (arguments.text("file")?, arguments.text("command")?, arguments.text("error")?) {
        (Some(path), None, None) => file(path, caller),
        (None, Some(line), None) => command(line, caller),
        (None, None, Some(message)) => error(message, caller),
        _ => Err(Error::usage("give one of `file`, `command` and `error`")),
    }
}

/// Who changed a file, when and why: the phase each change stands in, and the decisions that name the file.
fn file(path: &str, caller: &Caller<'_>) -> Result<Answer> {
    let mut line = words(&["files", "--writers"]);
    line.push(format!("--limit={MOST}"));
    line.extend(["--".to_owned(), path.to_owned()]);
    let found = caller.value(&line, Reach::Shared)?;
    let mut answer = Answer::default();
    let mut changes = Vec::new();
    for file in list(&found, "files") {
        for touch in list(&file, "touches") {
            changes.push(json!({
                "ref": Reference::of(text(&touch, "session").unwrap_or_default(), text(&touch, "step")),
                "when": minute(&touch, "time"),
                "agent": text(&touch, "agent"),
                "tool": text(&touch, "tool"),
                "why": text(&touch, "phase_title").or_else(|| text(&touch, "session_title")),
            }));
        }
    }
    answer = answer.fact("changed", changes.len());
    answer.add("changes", changes);
    let mut decisions = decided(None, Some(path), None, 0, caller)?;
    if let Some((name, rows)) = decisions.rows.pop() {
        answer.add(name, rows.into_iter().take(MOST).collect());
    }
    Ok(answer)
}

/// How a command was run in this project, and whether it worked.
fn command(asked: &str, caller: &Caller<'_>) -> Result<Answer> {
    let action = Action::of("Bash", asked);
    // What stands before `cd x &&` and its like is the way there.
    let own = action.commands.iter().find(|it| it.program != "cd");
    let wanted = own.map_or_else(|| asked.to_owned(), |it| format!("{} {}", it.program, it.verb).trim().to_owned());
    let ask = |project: Option<&str>| {
        let mut line = words(&["list", "--columns=session,id,time,status,check,exit,args,result", "--limit=200"]);
        line.push(format!("--where=args~{}", quoted(&wanted)));
        option(&mut line, "project", project);
        line.extend(["--".to_owned(), "steps".to_owned()]);
        caller.value(&line, Reach::Shared)
    };
    let here = project(None, caller.env);
    let mut found = ask(here.as_deref())?;
    let mut answer = Answer::default().fact("looked_for", wanted.as_str());
    if here.is_some() && list(&found, "rows").is_empty() {
        found = ask(None)?;
        answer = answer.fact("project", "not run in this project; runs of all projects");
    }
    let mut runs = list(&found, "rows");
    let worked = |run: &Value| text(run, "status") == Some("complete") && text(run, "check") != Some("failed");
    answer = answer.fact("runs", runs.len()).fact("worked", runs.iter().filter(|run| worked(run)).count());
    runs.sort_by(|a, b| text(b, "time").cmp(&text(a, "time")));
    // A way that worked is worth more than the newest one that did not.
    let (first, rest): (Vec<Value>, Vec<Value>) = runs.into_iter().partition(worked);
    let shown = first.iter().take(MOST - 3).chain(rest.iter().take(3));
    let row = |run: &Value| {
        json!({
            "ref": Reference::of(text(run, "session").unwrap_or_default(), text(run, "id")),
            "when": minute(run, "time"),
            "status": text(run, "status"),
            "check": text(run, "check"),
            "exit": run.get("exit"),
            "command": text(run, "args"),
            "result": text(run, "result"),
        })
    };
    answer.add("runs_shown", shown.map(row).collect());
    Ok(answer)
}

/// Where an error occurred before, and what solved it. A search by any of its words finds what may be it; only errors that say
/// the same in most of their words are it.
fn error(message: &str, caller: &Caller<'_>) -> Result<Answer> {
    let sought = content_words(message);
    if sought.is_empty() {
        return Err(Error::usage("`error` holds no word"));
    }
    // Words of an error that are looked for.
    let quoted: Vec<String> = sought.iter().take(12).map(|word| quoted(word)).collect();
    let mut hits = Vec::new();
    for (how, between) in [("--limit=24", " "), ("--limit=48", " or ")] {
        let mut line = words(&["search", how, "--"]);
        line.push(format!("({}) (kind:error or is:failed)", quoted.join(between)));
        hits.extend(list(&caller.value(&line, Reach::Earlier)?, "hits"));
    }
    let (mut solved, mut open) = (Vec::new(), Vec::new());
    let mut seen: HashSet<String> = HashSet::new();
    let mut sessions: Vec<(String, Option<Session>)> = Vec::new();
    for hit in hits {
        let (Some(id), Some(block)) = (text(&hit, "session"), text(&hit, "block")) else { continue };
        if !seen.insert(format!("{id}#{block}")) {
            continue;
        }
        let at = sessions.iter().position(|(known, _)| known == id).unwrap_or_else(|| {
            sessions.push((id.to_owned(), session(id, caller)));
            sessions.len() - 1
        });
        let Some(session) = &sessions[at].1 else { continue };
        let Some((_, item)) = session.items().find(|(_, item)| item.id() == Some(block)) else { continue };
        if !is_like(&sought, &said(item)) {
            continue;
        }
        let after = followed(session, block);
        let row = json!({
            "ref": Reference::of(id, Some(block)),
            "when": minute(&hit, "time"),
            "error": text(&hit, "text"),
            "solved_by": after.as_ref().map(|(text, _)| text.as_str()),
            "at": after.as_ref().and_then(|(_, place)| place.as_deref()),
        });
        if after.is_some() { solved.push(row) } else { open.push(row) }
    }
    let mut answer = Answer::default().fact("found", solved.len() + open.len()).fact("solved", solved.len());
    let few = MOST.saturating_sub(solved.len()).max(2);
    answer.add("errors", solved.into_iter().take(MOST).chain(open.into_iter().take(few)).collect());
    Ok(answer)
}

/// The words of a message that tell one error from another, each once: no numbers, ids and small words.
fn content_words(text: &str) -> Vec<String> {
    let is_id = |word: &str| word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let tells = |word: &str| {
        word.chars().count() > 1 && word.chars().any(char::is_alphabetic) && !is_id(word) && !list::STOP.has(word)
    };
    let mut words: Vec<String> = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_lowercase) {
        if tells(&word) && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// Whether an error says the same: most words of either are words of the other. Of a long message a note keeps a part.
fn is_like(sought: &[String], said: &str) -> bool {
    let said = content_words(said);
    let common = sought.iter().filter(|word| said.contains(word)).count();
    let is_most = |of: &[String]| common * 5 >= of.len() * 3;
    is_most(sought) || said.len() >= 3 && is_most(&said)
}

/// What an error or a failing step said.
fn said(item: &Item) -> String {
    match item {
        Item::Step(step) => {
            [step.result.as_deref(), step.output.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ")
        }
        other => other.callout().map_or_else(String::new, |it| format!("{} {}", it.title, it.body)),
    }
}

/// A session's note, read; nothing where it is kept from agents.
fn session(id: &str, caller: &Caller<'_>) -> Option<Session> {
    caller.with(Reach::Shared, crate::commands::Format::Json, |cx| {
        let vault = crate::commands::reading::vault(cx).ok()?;
        let catalog = Catalog::read(&vault);
        let head = catalog.session(id, &vault, cx.env).ok()?;
        cx.global.reach.check(&head.meta).ok()?;
        Some(vault.load(&head.path).ok()?.session)
    })
}

/// What followed an error or a failing step and held, and the block that says it.
fn followed(session: &Session, block: &str) -> Option<(String, Option<String>)> {
    let (_, item) = session.items().find(|(_, item)| item.id() == Some(block))?;
    if let Item::Error(error) = item {
        return Some((error.resolution.clone()?, Some(block.to_owned())));
    }
    let recovery = recoveries(session).into_iter().find(|it| {
        let is = |place: Place| place.id_in(session) == Some(block);
        is(it.failed) || is(it.again)
    })?;
    let worked = recovery.worked.id_in(session)?;
    let (_, item) = session.items().find(|(_, item)| item.id() == Some(worked))?;
    let Item::Step(step) = item else { return None };
    Some((format!("{} {}", step.tool, step.args), Some(worked.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_the_same_in_most_of_their_words() {
        let like = |asked: &str, said: &str| is_like(&content_words(asked), said);
        let refused = "Error: connect ECONNREFUSED 127.0.0.1:5432 at TCPConnectWrap";
        assert!(like("connect ECONNREFUSED 10.0.0.7:6379", refused));
        assert!(like(
            "error[E0425]: cannot find value `tides` in this scope --> src/a.rs:12:9",
            "cannot find value `tides` in this scope"
        ));
        assert!(!like("cannot find module 'left-pad'", refused));
        assert!(!like("connect to the station failed after three attempts", refused));
        assert!(!like("TypeError: undefined is not a function", "error"));
    }
}
