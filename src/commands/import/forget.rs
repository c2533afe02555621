//! `cru import --forget`: sessions that are never to be imported.

use std::fmt::Write as _;

use serde::Serialize;

use super::super::{Context, Output, PlainOutput, View};
use crate::base::text::sanitise;
use crate::base::{Error, Result};
use crate::sync;
use crate::vault::{Catalog, State, Vault};

pub(super) fn run(names: &[String], cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let catalog = Catalog::read(&vault);
    let mut forgotten = Vec::new();
    for name in names {
        forgotten.push(find(name, &catalog, &vault, cx)?);
    }
    let state = State::of(&vault, cx.env)?;
    for row in &forgotten {
        sync::forget(&vault, &state, cx.env.now(), row.host.as_deref().unwrap_or_default(), &row.host_session)?;
    }
    Ok(Box::new(ForgetReport { schema: 1, forgotten }))
}

/// The session of that name; a name that no note has is the host's id.
fn find(name: &str, catalog: &Catalog, vault: &Vault, cx: &Context<'_>) -> Result<Forgotten> {
    let by_host = catalog.heads.iter().find(|head| head.meta.host_session.as_deref() == Some(name));
    let named = by_host.map_or_else(|| catalog.session(name, vault, cx.env), Ok);
    match named {
        Ok(head) => {
            let host_session = head.meta.host_session.clone().ok_or_else(|| {
                Error::usage(format!("{} was not imported: it has no `host_session`", head.path))
                    .with_hint("delete the note; nothing makes it again")
            })?;
            Ok(Forgotten { host: head.meta.host.clone(), host_session, note: Some(head.path.to_string()) })
        }
        // An id of a host is one word with a digit in it, and not a
        // note's name, which begins with a date; anything else is a name that was mistyped.
        Err(_) if is_host_id(name) => Ok(Forgotten { host: None, host_session: name.to_owned(), note: None }),
        Err(error) => Err(error),
    }
}

fn is_host_id(name: &str) -> bool {
    let is_date = name.len() > 10
        && name.bytes().zip(*b"0000-00-00-").all(|(a, b)| b == b'-' && a == b || b == b'0' && a.is_ascii_digit());
    !is_date && name.len() >= 8 && !name.contains(char::is_whitespace) && name.bytes().any(|byte| byte.is_ascii_digit())
}

#[derive(Debug, Serialize)]
struct ForgetReport {
    schema: u32,
    forgotten: Vec<Forgotten>,
}

#[derive(Debug, Serialize)]
struct Forgotten {
    /// As `host` of a note says it; absent where no note of the session is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    host_session: String,
    /// Its note, which stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl PlainOutput for ForgetReport {
    fn shown(&self, _: &View) -> String {
        let mut text = String::new();
        for row in &self.forgotten {
            let _ = match &row.note {
                Some(note) => writeln!(
                    text,
                    "{} is not imported any more; {} stays as it is",
                    sanitise(&row.host_session),
                    sanitise(note)
                ),
                None => writeln!(
                    text,
                    "no note has the id {}; a host's session with this id will not be imported",
                    sanitise(&row.host_session)
                ),
            };
        }
        text.push_str("`cru import AGENT --restore` imports it again\n");
        text
    }
}
