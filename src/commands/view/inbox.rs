//! What waits for a person, with what each item rests on.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::vault::{ViewedVault, prune};
use crate::base::Result;
use crate::commands::ask::Caller;
use crate::commands::output::{PageFrame, place};
use crate::commands::session::show::html::markdown;
use crate::note::{InlineKind, Note};
use crate::session::{Session, Step};
use crate::vault::{Head, VaultPath};

/// What waits and may be shown.
pub(super) fn waiting(caller: &Caller<'_>, world: &ViewedVault) -> Result<Vec<Value>> {
    let (mut value, _) = caller.page_value(&["review".to_owned()])?;
    prune(&mut value, &world.withheld);
    Ok(match value["items"].take() {
        Value::Array(items) => items,
        _ => Vec::new(),
    })
}

/// The same, each with what it rests on.
pub(super) fn items(caller: &Caller<'_>, world: &ViewedVault, frame: &PageFrame<'_>) -> Result<Vec<Value>> {
    let mut items = waiting(caller, world)?;
    let nowhere = VaultPath::new("review.md");
    for item in &mut items {
        let link = item["link"].as_str().unwrap_or_default().to_owned();
        let (name, block) = link.split_once('#').unwrap_or((&link, ""));
        let head = nowhere.as_ref().and_then(|from| world.catalog.note(name, from));
        let cited = head.map(|head| cited(item, head, block.trim_start_matches('^'), world)).transpose()?;
        let cited = cited.unwrap_or_default();
        let seen = format!("{item}{cited:?}");
        let shown = |(link, from, text): &(String, VaultPath, String)| {
            // A place of the note itself is none of this page.
            let page = |target: &str| match target.strip_prefix('#') {
                Some(block) => Some(place(&from.text(), Some(block), frame.live)),
                None => world.page_of(target, from, frame.live),
            };
            let frame = PageFrame { page: &page, ..frame.clone() };
            json!({ "link": link, "page": world.page_of(link, from, frame.live), "html": markdown(text, Some(&frame)) })
        };
        item["cited"] = cited.iter().map(shown).collect();
        item["page"] = head.and_then(|head| world.page_of(&link, &head.path, frame.live)).into();
        item["seen"] = blake3::hash(seen.as_bytes()).to_hex()[..32].into();
    }
    Ok(items)
}

/// The places that an item rests on, each as its link, the note that it is in, and its text: the block that the item names; of a
/// session else what says what it says, or all callouts of its kind; of another note all of it, with the blocks that it cites.
fn cited(item: &Value, head: &Head, block: &str, world: &ViewedVault) -> Result<Vec<(String, VaultPath, String)>> {
    let path = &head.path;
    let note = Note::parse(world.text(path)?);
    let stem = path.stem().into_owned();
    if !block.is_empty() {
        let text = note.block(block).map(|it| it.content.of(note.text()).to_owned());
        return Ok(text.map(|text| (format!("{stem}#^{block}"), path.clone(), text)).into_iter().collect());
    }
    if head.is_session() {
        let kind = item["kind"].as_str().unwrap_or_default();
        let whole = |text: &str| (stem.clone(), path.clone(), text.to_owned());
        if kind == "unproven" {
            let ids = after_last_check(&world.vault.load(path)?.session);
            let text = |id: String| Some((note.block(&id)?.content.of(note.text()).to_owned(), id));
            let found = ids.into_iter().filter_map(text);
            return Ok(found.map(|(text, id)| (format!("{stem}#^{id}"), path.clone(), text)).collect());
        }
        if kind == "copy" {
            let copies = world.catalog.conflict_copies().filter(|(_, of)| of.path == *path);
            let own: BTreeSet<&str> = note.text().lines().collect();
            let other = |copy: &Head| {
                let text = world.text(&copy.path)?;
                let lines: Vec<&str> = text.lines().filter(|line| !own.contains(line)).take(6).collect();
                Ok((copy.path.stem().into_owned(), copy.path.clone(), lines.join("\n\n")))
            };
            return copies.map(|(copy, _)| other(copy)).collect();
        }
        // An item is one line of what may be several in a callout.
        let folded = |text: &str| {
            let lines = text.lines().map(|line| line.trim_start_matches(['>', ' ']));
            lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
        };
        let words: String = folded(item["text"].as_str().unwrap_or_default()).chars().take(60).collect();
        let texts = note.blocks().iter().map(|block| block.content.of(note.text()));
        let same: Vec<&str> = texts.clone().filter(|text| !words.is_empty() && folded(text).contains(&words)).collect();
        let begin = format!("> [!{kind}]");
        let told = if same.is_empty() { texts.filter(|text| text.starts_with(&begin)).collect() } else { same };
        return Ok(told.into_iter().take(6).map(whole).collect());
    }
    let body: String = note.blocks().iter().map(|block| block.span.of(note.text())).collect();
    let mut found = vec![(stem, path.clone(), body)];
    for link in note.inlines() {
        let InlineKind::Wikilink { inner, .. } = link.kind else { continue };
        let target = inner.of(note.text()).split('|').next().unwrap_or_default();
        let Some((name, id)) = target.split_once("#^") else { continue };
        let Some(other) = world.catalog.note(name, path) else { continue };
        if found.len() > 6 || found.iter().any(|(known, ..)| known == target) {
            continue;
        }
        let cited = Note::parse(world.text(&other.path)?);
        if let Some(block) = cited.block(id) {
            found.push((target.to_owned(), other.path.clone(), block.content.of(cited.text()).to_owned()));
        }
    }
    Ok(found)
}

/// The last check of a session, and what was written after it.
fn after_last_check(session: &Session) -> Vec<String> {
    let steps: Vec<&Step> = session.steps().map(|(_, step)| step).collect();
    let last = steps.iter().rposition(|step| step.check.is_some());
    let (check, after) = last.map_or((None, &steps[..]), |at| (Some(&steps[at]), &steps[at + 1..]));
    let written = after.iter().filter(|step| !step.writes.is_empty()).take(6);
    check.into_iter().chain(written).filter_map(|step| step.id.clone()).collect()
}
