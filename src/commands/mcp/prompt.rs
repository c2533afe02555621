//! Prompts that a person picks in their client: a request with the record it is about.

use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use super::answer::LARGEST_BUDGET;
use super::reference::Reference;
use crate::base::{Error, Result};
use crate::commands::Reach;
use crate::commands::ask::{Caller, words};

/// A prompt: its name, what it is for, whether it needs a session, and the request.
struct Row {
    name: &'static str,
    about: &'static str,
    argument: &'static str,
    needed: bool,
    request: &'static str,
}

const PROMPTS: [Row; 4] = [
    Row {
        name: "resume",
        about: "Go on with a session",
        argument: "session",
        needed: false,
        request: "Go on with the work of this session. First say in three sentences where it stands, then look at the \
                  present state of the files before you change anything.",
    },
    Row {
        name: "decide",
        about: "Weigh a decision against earlier ones",
        argument: "question",
        needed: true,
        request: "Weigh this decision. Say which earlier decisions bear on it, by their refs, what they rejected and \
                  why, and recommend one option. If tool `log` is offered and the person agrees, log the decision.",
    },
    Row {
        name: "retro",
        about: "What a session teaches",
        argument: "session",
        needed: false,
        request: "Look back on this session: what was reached, what cost time and why, what should be done otherwise \
                  next time. Cite steps by their refs; claim nothing that the record does not show.",
    },
    Row {
        name: "codify",
        about: "A session as a workflow to repeat",
        argument: "session",
        needed: false,
        request: "Make of this session a workflow that another agent can follow: steps in order, what each needs, how \
                  each is checked. Below stands a draft that was made from the record; improve it, cite its steps.",
    },
];

/// The prompts as clients see them.
pub(super) fn list() -> Vec<Prompt> {
    let prompt = |row: &Row| {
        let argument = PromptArgument::new(row.argument).with_required(row.needed);
        Prompt::new(row.name, Some(row.about), Some(vec![argument]))
    };
    PROMPTS.iter().map(prompt).collect()
}

/// One of them, filled in.
pub(super) fn get(name: &str, arguments: Option<&JsonObject>, caller: &Caller<'_>) -> Result<GetPromptResult> {
    let row = PROMPTS.iter().find(|row| row.name == name).ok_or_else(|| Error::usage("there is no such prompt"))?;
    let given = arguments.and_then(|map| map.get(row.argument)).and_then(Value::as_str).map(str::trim);
    let given = given.filter(|text| !text.is_empty() && text.len() <= 2_000);
    if row.needed && given.is_none() {
        return Err(Error::usage(format!("`{}` is missing", row.argument)));
    }
    let record = match row.name {
        "decide" => super::tool::decided(None, None, None, 0, caller)?.render(LARGEST_BUDGET / 2),
        "codify" => {
            let line = session(&["session", "codify"], given)?;
            super::answer::framed(&caller.text(&line, Reach::Shared)?, LARGEST_BUDGET)
        }
        _ => {
            let line = session(&["session", "resume", "--print", "--budget=7000"], given)?;
            super::answer::framed(&caller.text(&line, Reach::Shared)?, LARGEST_BUDGET)
        }
    };
    let asked = if row.needed { format!("\n\n{}", given.unwrap_or_default()) } else { String::new() };
    let text = format!("{}{asked}\n\n{record}", row.request);
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).with_description(row.about))
}

/// A command line about a session, where one is named.
fn session(line: &[&str], named: Option<&str>) -> Result<Vec<String>> {
    let mut line = words(line);
    if let Some(name) = named {
        line.push("--".to_owned());
        line.push(Reference::parse(name)?.session);
    }
    Ok(line)
}
