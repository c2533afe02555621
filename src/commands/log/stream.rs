//! Events as JSON, one object a line: from stdin, or as an agent gives them.

use jiff::Timestamp;

use super::output::Logged;
use super::{LogTarget, prepare};
use crate::base::{Error, Result};
use crate::commands::{Context, Output};
use crate::live::entry::Entry;
use crate::live::log::Log;
use crate::live::open::Open;

/// Logs every line that can be read, in one write; tells the others by line and column.
pub(super) fn run(
    log: &Log<'_>,
    to: &mut LogTarget,
    at: Option<Timestamp>,
    input: &str,
    cx: &Context<'_>,
) -> Result<Box<dyn Output>> {
    let target = &to.target.clone();
    let mut logged = Logged::of(target);
    logged.stream = true;
    // One event may be spread over lines.
    let whole = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(input).is_ok();
    let lines: Vec<(usize, &str)> =
        if whole { vec![(1, input)] } else { input.lines().enumerate().map(|(at, line)| (at + 1, line)).collect() };
    let mut read = Vec::new();
    for (number, line) in lines.into_iter().filter(|(_, line)| !line.trim().is_empty()) {
        match Entry::told(line).and_then(|entry| log.masked(entry)) {
            Ok(mut entry) => {
                if let Some(at) = at {
                    entry.set_at(at);
                }
                read.push((number, entry));
            }
            Err(bad) => logged.refuse(number, bad.column, &bad.message, cx),
        }
    }
    if read.is_empty() && logged.refused == 0 {
        return Err(Error::usage("there is no event on stdin")
            .with_hint(r#"one JSON object a line: {"event":"note","text":"…"}"#));
    }
    let entries: Vec<Entry> = read.iter().map(|(_, entry)| entry.clone()).collect();
    for ((number, entry), missing) in read.into_iter().zip(log.missing(target, &entries)) {
        if let Some(missing) = missing {
            logged.refuse(number, 0, &format!("{} ({})", missing.message, missing.hint), cx);
            continue;
        }
        let prepared = match to.check(&entry).and_then(|()| prepare::whole(entry, log, target, cx)) {
            Ok(prepared) => prepared,
            Err(error) => {
                logged.refuse(number, 0, &error.to_string(), cx);
                continue;
            }
        };
        match prepared.entry {
            Some(entry) => {
                let id = log.add(target, &entry)?;
                if let Some(ends) = prepared.ends {
                    Open::of(log.state, &target.key()).end(&ends)?;
                }
                logged.push(&entry, id);
            }
            None => logged.begun(),
        }
        if let Some(handle) = prepared.handle {
            logged.name(handle);
        }
    }
    if let Some(newest) = logged.newest() {
        let flushed = to.flush(log, newest, "log")?;
        logged.settle(flushed, log, target, cx);
    }
    Ok(Box::new(logged))
}
