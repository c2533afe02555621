//! Acting on what a person decided, each decision once, whoever else writes the page.

use std::collections::BTreeMap;

use jiff::civil::Date;

use super::collect;
use super::{DoneItem, Inbox};
use crate::base::text::{one_line, sanitise};
use crate::base::{Error, Result};
use crate::commands::output::Several;
use crate::commands::{Context, Output, View, cases, lessons, read, workflow};
use crate::memory::review::{Mark, NOTE, ReviewItem, ReviewKind, ordered, page, reworded};
use crate::readings::note::ReviewStatus;
use crate::vault::{Vault, VaultPath, page as vault_page};
use crate::workflow::RecipeStatus;

/// What was decided about items, with the words of each.
type Done = BTreeMap<String, (Mark, String)>;

/// The text of the page; empty where there is none.
pub(super) fn text(vault: &Vault) -> Result<String> {
    let Some(path) = VaultPath::new(NOTE).filter(|path| vault.file(path).is_file()) else { return Ok(String::new()) };
    Ok(crate::note::Note::parse(vault.read(&path)?).text().to_owned())
}

/// The day, where what was put off counts from.
pub(super) fn today(vault: &Vault, cx: &Context<'_>) -> Date {
    vault.now(cx.env).date()
}

/// What waits and was not put off or settled, the most important first, and how much more there is.
pub(super) fn waiting(vault: &Vault, cx: &Context<'_>) -> Result<(Vec<ReviewItem>, usize)> {
    let text = text(vault)?;
    let hidden = page::read(&text, today(vault, cx)).hidden;
    let mut items = collect::items(vault, cx)?;
    items.retain(|item| !hidden.contains(item.id.as_str()));
    Ok(ordered(items))
}

/// Shows each item and asks about it. What is decided is done at once, so that an end in the middle loses nothing.
pub(super) fn ask(cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let (mut items, more) = waiting(&vault, cx)?;
    let mut done = Done::new();
    for item in &items {
        for line in detail(item, cx).lines() {
            cx.ui.note(line);
        }
        let confirm = |word: &str| cx.ui.confirm(&format!("{word} {}  {}?", item.id, one_line(&item.words())));
        let mark = match confirm("accept") {
            None => {
                cx.ui.warn("not a terminal; the list is printed instead");
                break;
            }
            Some(true) => Mark::Accept,
            Some(false) if confirm("reject") == Some(true) => Mark::Reject,
            Some(false) => continue,
        };
        carry_out(item, mark, None, cx)?;
        done.insert(item.id.clone(), (mark, item.words()));
        write(&vault, &items, &done, cx)?;
    }
    items.retain(|item| !done.contains_key(&item.id));
    Ok(Box::new(inbox(items, more, &done, false)))
}

/// What an item is about, in full, where it is a note.
fn detail(item: &ReviewItem, cx: &Context<'_>) -> String {
    let shown = match item.kind {
        ReviewKind::Reading => read::show(&item.subject, cx),
        ReviewKind::Lesson if !item.subject.contains('#') => lessons::show(&item.subject, cx),
        _ => return String::new(),
    };
    shown.map(|it| it.text(&View::plain())).unwrap_or_default()
}

/// Decides about what is named: items of the review by their ids, readings, lessons, cases.
pub(super) fn decide(names: &[String], mark: Mark, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let is_item = |name: &&String| name.trim().trim_matches('%').starts_with("r-");
    let (items, others): (Vec<String>, Vec<String>) = names.iter().cloned().partition(|name| is_item(&name));
    if mark == Mark::Later || others.is_empty() {
        return decide_items(names, mark, cx);
    }
    let (mut readings, mut cases) = (Vec::new(), Vec::new());
    for name in others {
        if read::is_known(&name, cx)? { readings.push(name) } else { cases.push(name) }
    }
    let status = if mark == Mark::Accept { ReviewStatus::Accepted } else { ReviewStatus::Rejected };
    let mut outputs: Vec<Box<dyn Output>> = Vec::new();
    if !cases.is_empty() {
        outputs.push(cases::decide(&cases, status, cx)?);
    }
    if !readings.is_empty() {
        outputs.push(read::decide(&readings, status, cx)?);
    }
    if !items.is_empty() {
        outputs.push(decide_items(&items, mark, cx)?);
    }
    Ok(Several::of("decided", outputs))
}

/// Decides about items by their ids.
fn decide_items(ids: &[String], mark: Mark, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let items = collect::items(&vault, cx)?;
    let mut chosen = Vec::new();
    for id in ids {
        let id = id.trim().trim_matches('%');
        let item = items.iter().find(|item| item.id == id || item.id.trim_start_matches("r-") == id);
        chosen.push(item.ok_or_else(|| {
            Error::no(format!("nothing waits with the id `{}`", sanitise(id)))
                .with_hint("`cru review` lists what waits")
        })?);
    }
    let mut done = Done::new();
    for item in chosen {
        carry_out(item, mark, None, cx)?;
        done.insert(item.id.clone(), (mark, item.words()));
    }
    let (items, more) = ordered(items);
    write(&vault, &items, &done, cx)?;
    Ok(Box::new(inbox(Vec::new(), more, &done, false)))
}

/// Acts on the ticks of the page; with `renew` the page gets what waits now.
pub(super) fn apply(renew: bool, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let text = text(&vault)?;
    let today = today(&vault, cx);
    let items = collect::items(&vault, cx)?;
    let mut done = Done::new();
    for line in page::read(&text, today).lines {
        let Some(mark) = line.mark else { continue };
        let Some(item) = items.iter().find(|item| item.id == line.id) else {
            // What it was about is gone or was decided elsewhere: the tick is noted, and nothing else is to be done.
            done.insert(line.id.to_owned(), (mark, line.words.to_owned()));
            continue;
        };
        let words = reworded(&line, item).filter(|_| mark == Mark::Accept && item.kind == ReviewKind::Lesson);
        carry_out(item, mark, words, cx)?;
        done.insert(item.id.clone(), (mark, line.words.to_owned()));
    }
    if !renew && done.is_empty() {
        return Ok(Box::new(inbox(Vec::new(), 0, &done, false)));
    }
    let hidden: Vec<String> = page::read(&text, today).hidden.iter().map(|id| (*id).to_owned()).collect();
    let open = items.into_iter().filter(|item| !done.contains_key(&item.id) && !hidden.contains(&item.id)).collect();
    let (open, more) = ordered(open);
    write(&vault, &open, &done, cx)?;
    Ok(Box::new(inbox(open, more, &done, true)))
}

fn inbox(items: Vec<ReviewItem>, more: usize, done: &Done, written: bool) -> Inbox {
    let row = |(id, (mark, words)): (&String, &(Mark, String))| {
        let what = match mark {
            Mark::Accept => "accepted",
            Mark::Reject => "rejected",
            Mark::Later => "later",
        };
        DoneItem { id: id.clone(), what, words: words.clone() }
    };
    Inbox { schema: 1, items, more, done: done.iter().map(row).collect(), written }
}

/// What a decision does beside the page. Doing it twice does nothing more.
fn carry_out(item: &ReviewItem, mark: Mark, words: Option<&str>, cx: &Context<'_>) -> Result<()> {
    if !item.kind.is_proposal() {
        return Ok(());
    }
    let status = match mark {
        Mark::Accept => ReviewStatus::Accepted,
        Mark::Reject => ReviewStatus::Rejected,
        Mark::Later => return Ok(()),
    };
    if item.kind == ReviewKind::Recipe {
        let status = if mark == Mark::Accept { RecipeStatus::Accepted } else { RecipeStatus::Rejected };
        return workflow::decide(&item.subject, status, cx);
    }
    // One that is no note yet: what was said in sessions.
    if item.kind == ReviewKind::Lesson && item.subject.contains('#') {
        let references: Vec<&str> = item.subject.split(' ').collect();
        return if mark == Mark::Accept { lessons::accept(words, &references, cx) } else { Ok(()) };
    }
    if let Some(words) = words {
        read::reword(&item.subject, words, cx)?;
    }
    read::decide(std::slice::from_ref(&item.subject), status, cx).map(drop)
}

/// Writes the page, whoever else does so too: what they wrote is kept.
fn write(vault: &Vault, items: &[ReviewItem], done: &Done, cx: &Context<'_>) -> Result<()> {
    let Some(path) = VaultPath::new(NOTE) else { return Ok(()) };
    let known = |seal: &str| vault_page::generated(vault, seal);
    vault_page::change(vault, &vault.file(&path), |old| {
        page::write(old.unwrap_or_default(), items, done, today(vault, cx), &known)
            .map_err(|error| vault_page::unfilled(NOTE, page::NAME, &error))
    })?;
    Ok(())
}
