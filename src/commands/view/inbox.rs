//! What waits for a person, with what each item rests on.

use serde_json::{Value, json};

use super::vault::{ViewedVault, prune};
use crate::base::Result;
use crate::commands::ask::Caller;
use crate::commands::output::{PageFrame, link_to, note_page};
use crate::commands::session::show::html::markdown;
use crate::note::{InlineKind, Note};
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
        let (name, place) = link.split_once('#').unwrap_or((&link, ""));
        let head = nowhere.as_ref().and_then(|from| world.catalog.note(name, from));
        let cited = head.map(|head| cited(item, head, place.trim_start_matches('^'), world)).transpose()?;
        let cited = cited.unwrap_or_default();
        let seen = format!("{item}{cited:?}");
        let shown = |(link, from, text): &(String, VaultPath, String)| {
            // A place of the note itself is none of this page.
            let own = link_to(&note_page(&from.text()));
            let page = |target: &str| match target.strip_prefix('#') {
                Some(place) => Some(format!("{own}#{}", link_to(place))),
                None => world.page_of(target, from),
            };
            let frame = PageFrame { page: &page, ..frame.clone() };
            json!({ "link": link, "page": world.page_of(link, from), "html": markdown(text, Some(&frame)) })
        };
        item["cited"] = cited.iter().map(shown).collect();
        item["page"] = head.and_then(|head| world.page_of(&link, &head.path)).into();
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
        let (kind, words) = (item["kind"].as_str().unwrap_or_default(), item["text"].as_str().unwrap_or_default());
        let words: String = words.trim_start_matches(['>', ' ']).chars().take(60).collect();
        let texts = note.blocks().iter().map(|block| block.content.of(note.text()));
        let same: Vec<&str> = texts.clone().filter(|text| !words.is_empty() && text.contains(&words)).collect();
        let begin = format!("> [!{kind}]");
        let told = if same.is_empty() { texts.filter(|text| text.starts_with(&begin)).collect() } else { same };
        return Ok(told.into_iter().take(6).map(|text| (stem.clone(), path.clone(), text.to_owned())).collect());
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
