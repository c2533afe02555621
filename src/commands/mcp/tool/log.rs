//! `log`: events of `cru log --json`; a call with a name that was logged before logs nothing.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Answer, Arguments, Caller, list, text};
use crate::base::{Error, Result, files};
use crate::commands::{Format, Reach};
use crate::vault::{State, Vault};

/// A call that was logged.
#[derive(Debug, Serialize, Deserialize)]
struct LoggedCall {
    client_id: String,
    answer: Value,
}

pub(super) fn call(arguments: &Arguments, caller: &Caller<'_>) -> Result<Answer> {
    let events = arguments.list("events")?;
    if events.is_empty() {
        return Err(Error::usage("`events` is missing"));
    }
    let input: String = events.iter().flat_map(|event| [event.to_string(), "\n".to_owned()]).collect();
    // Bytes of the events of one call.
    if input.len() > (1 << 20) {
        return Err(Error::usage("the events are longer than 1 MiB"));
    }
    let session = arguments.text("session")?;
    let log = || {
        let logged = caller.with(Reach::Shared, Format::Json, |cx| {
            crate::commands::log::events(session, input.clone(), cx).map_err(|error| cx.global.reach.shown(error, cx))
        })?;
        let logged = logged.json().map_err(|error| Error::internal("encode an answer", error))?;
        let refused = logged.get("refused").and_then(Value::as_u64).unwrap_or_default();
        if refused > 0 && list(&logged, "entries").is_empty() {
            // Not remembered by its id: the caller corrects the events and calls again.
            let why = caller.warnings().into_iter().next().unwrap_or_default();
            return Err(Error::usage(format!("no event was logged: {why}")));
        }
        Ok(logged)
    };
    let Some(client_id) = arguments.text("client_id")? else { return Ok(answer(&log()?)) };
    let state = caller.with(Reach::All, Format::Json, |cx| {
        let (vault, _) = Vault::find_even_broken(cx.vault_arg(), cx.env)?;
        State::of(&vault, cx.env)
    })?;
    let path = state.dir().join("mcp-log.json");
    // Held until the call is remembered: a client that calls again at once waits.
    let _lock = files::lock(&state.lock("mcp-log"))?;
    let read =
        if path.is_file() { serde_json::from_slice(&files::read(&path)?).unwrap_or_default() } else { VecDeque::new() };
    let mut calls: VecDeque<LoggedCall> = read;
    if let Some(known) = calls.iter().find(|call| call.client_id == client_id) {
        return Ok(answer(&known.answer).fact("logged_before", true));
    }
    let logged = log()?;
    calls.push_back(LoggedCall { client_id: client_id.to_owned(), answer: logged.clone() });
    // Calls that are remembered.
    while calls.len() > 1_000 {
        calls.pop_front();
    }
    let bytes = serde_json::to_vec(&calls).map_err(|error| Error::internal("encode the logged calls", error))?;
    files::put_private(&path, &bytes)?;
    Ok(answer(&logged))
}

fn answer(logged: &Value) -> Answer {
    let mut answer = Answer::default()
        .fact("session", logged.get("session").cloned().unwrap_or_default())
        .fact("written", logged.get("written").cloned().unwrap_or_default());
    if let Some(refused) = logged.get("refused").and_then(Value::as_u64).filter(|refused| *refused > 0) {
        answer = answer.fact("refused", refused);
    }
    let row = |row: &Value| json!({ "event": text(row, "event"), "id": text(row, "id") });
    answer.add("entries", list(logged, "entries").iter().map(row).collect());
    answer
}
