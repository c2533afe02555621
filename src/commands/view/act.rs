//! What a person decides on a page: items of the inbox and ticks of tasks, by the commands that write them.
//!
//! A form says what the person saw. Where that is not what there is any more, nothing is written and both are shown.

use std::collections::BTreeMap;

use super::http::HttpAnswer;
use super::inbox;
use super::site::Site;
use super::vault::ViewedVault;
use crate::base::{Error, Result};
use crate::commands::output::{link_to, note_page};
use crate::commands::{Format, Reach};
use crate::vault::VaultPath;

/// The number of items that wait.
pub(super) fn waiting(site: &Site<'_>) -> Result<usize> {
    site.caller.with(Reach::Shared, Format::Json, |cx| Ok(inbox::waiting(&site.caller, &ViewedVault::read(cx)?)?.len()))
}

/// Accepts, rejects or puts off an item, and shows the inbox again.
pub(super) fn decide(form: &BTreeMap<String, String>, site: &Site<'_>) -> Result<HttpAnswer> {
    let field = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    let verb = field("mark");
    if !matches!(verb, "accept" | "reject" | "later") {
        return Err(Error::usage("accept, reject or later"));
    }
    site.caller.with(Reach::Shared, Format::Json, |cx| {
        let world = ViewedVault::read(cx)?;
        let items = inbox::items(&site.caller, &world, &site.frame("inbox", "inbox"))?;
        let item = items.iter().find(|item| item["id"] == field("id"));
        let conflict = match item {
            None => "Nothing was written: this item does not wait any more.",
            Some(item) if item["seen"] != field("seen") => {
                "Nothing was written: this item has changed since it was shown. Look at it as it is now, and decide again."
            }
            Some(_) => {
                let words = ["review", verb, "--", field("id")].map(str::to_owned);
                return match site.caller.output(&words, Reach::All, Format::Json) {
                    Ok(_) => Ok(HttpAnswer::go_on("/inbox.html")),
                    Err(error) => Ok(HttpAnswer::html(409, site.inbox(&error.with_causes(), cx)?)),
                };
            }
        };
        Ok(HttpAnswer::html(409, site.inbox(conflict, cx)?))
    })
}

/// Ticks an open task of a session, and shows the session again.
pub(super) fn tick(form: &BTreeMap<String, String>, site: &Site<'_>) -> Result<HttpAnswer> {
    let field = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    site.caller.with(Reach::Shared, Format::Json, |cx| {
        let world = ViewedVault::read(cx)?;
        let path = VaultPath::new(field("note"));
        let head = path.as_ref().and_then(|path| world.catalog.at(path)).filter(|head| head.is_session());
        let head = head.ok_or_else(|| Error::no("there is no such session"))?;
        let session = world.vault.load(&head.path)?.session;
        let is_open = session.tasks().iter().any(|task| {
            task.id == field("task")
                && task.content == field("seen")
                && matches!(task.status.as_str(), "pending" | "in_progress")
        });
        if !is_open {
            let text = "Nothing was written: this task is not open any more, or says something else now.";
            return Ok(HttpAnswer::html(409, site.message("Conflict", text)?));
        }
        let session = format!("--session={}", head.path.text());
        let words = ["log", &session, "task", "done", "--", field("task")].map(str::to_owned);
        site.caller.output(&words, Reach::All, Format::Json)?;
        Ok(HttpAnswer::go_on(&format!("/{}", link_to(&note_page(&head.path.text())))))
    })
}
