//! `cru view --html`: the pages as files that link to each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use rayon::prelude::*;
use serde_json::{Value, json};

use super::site::{ICON, NAMED, PAGES, SCRIPT, Site, stylesheet};
use super::vault::ViewedVault;
use crate::base::text::plural;
use crate::base::{Error, Result, files};
use crate::commands::output::{VIEW, is_as_written, link_to, named_page, note_page, write_sealed};
use crate::commands::session::show::SessionReader;
use crate::commands::{Context, Format, Output, Raw, Reach};
use crate::vault::Head;

/// The folders of pages whose notes may be gone by the next time.
const FOLDERS: &[&str] = &["note", "project", "file"];

/// Writes all pages. Error: a page cannot be read or written, or a file of that name is not as `cru view` wrote it.
pub(super) fn run(folder: &Path, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let site = Site::of(cx, false)?;
    if !folder.join("index.html").exists() && folder.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::usage(format!("{} holds other files", folder.display()))
            .with_hint("name a new folder, an empty one, or one that `cru view --html` wrote"));
    }
    let mut written = BTreeSet::new();
    write_sealed(&folder.join("icon.svg"), ICON, VIEW)?;
    for (name, text) in
        [("style.css", stylesheet()), ("view.js", SCRIPT.to_owned()), ("search-index.js", index(&site)?)]
    {
        write_sealed(&folder.join(name), &format!("/* {VIEW} */\n{text}"), VIEW)?;
    }
    let write =
        |address: &str, page: &str| write_sealed(&folder.join(address), page, VIEW).map(|()| address.to_owned());
    let nothing = BTreeMap::new();
    let listed =
        PAGES.iter().flat_map(super::site::PageKind::addresses).collect::<Vec<_>>().into_par_iter().map(|(name, _)| {
            let address = format!("{name}.html");
            site.page(&address, &nothing)?.map(|page| write(&address, &page)).transpose()
        });
    written.extend(listed.collect::<Result<Vec<_>>>()?.into_iter().flatten());
    let mut files = BTreeSet::new();
    for (folder, ..) in NAMED {
        let names = site.names(folder)?;
        let page = |name: &String| write(&named_page(folder, name), &site.named(folder, name, &nothing)?);
        written.extend(names.par_iter().map(page).collect::<Result<Vec<_>>>()?);
        files.extend(names.into_iter().filter(|_| folder == "file"));
    }
    let notes = site.caller.with(Reach::Shared, Format::Json, |cx| {
        let world = ViewedVault { files, ..ViewedVault::read(cx)? };
        let reader = SessionReader::of(&world.vault, &world.catalog, cx)?;
        let page = |head: &Head| write(&note_page(&head.path.text()), &site.note(head, "", &world, Some(&reader), cx)?);
        world.catalog.heads.par_iter().map(page).collect::<Result<Vec<_>>>()
    })?;
    written.extend(notes);
    // What is no longer shown does not stay in the folder.
    for name in FOLDERS {
        for entry in ignore::WalkBuilder::new(folder.join(name)).standard_filters(false).build().flatten() {
            let path = entry.path();
            let Ok(address) = path.strip_prefix(folder) else { continue };
            let address = address.to_string_lossy().replace('\\', "/");
            let is_page = path.extension().is_some_and(|end| end == "html") && path.is_file();
            if is_page && !written.contains(&address) && is_as_written(path, VIEW)? {
                files::remove(path)?;
            }
        }
    }
    let first = folder.join("index.html");
    let text = format!("{}  {}\n", first.display(), plural(written.len() as u64, "page"));
    Ok(Box::new(Raw { name: "written", text }))
}

/// The index of the search of files: a script that holds, for each session and for words, decisions and errors in it, the page, the
/// title, what it is and the text.
fn index(site: &Site<'_>) -> Result<String> {
    let mut entries: Vec<Value> = Vec::new();
    let text = |row: &Value, names: &[&str]| {
        let parts = names.iter().filter_map(|name| row[*name].as_str()).filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(" · ")
    };
    let asked = |kind: &str| -> Result<Vec<Value>> {
        let (mut value, _) = site.caller.page_value(&["list".to_owned(), kind.to_owned()])?;
        Ok(value["rows"].as_array_mut().map(std::mem::take).unwrap_or_default())
    };
    for row in asked("sessions")? {
        let Some(path) = row["path"].as_str() else { continue };
        let about = text(&row, &["project", "branch", "tags", "open"]);
        entries.push(json!([link_to(&note_page(path)), row["title"], text(&row, &["status", "started"]), about]));
    }
    for (kind, columns) in
        [("user", &["words"][..]), ("decisions", &["title", "text", "why"]), ("errors", &["title", "text"])]
    {
        for row in asked(kind)? {
            let Some(path) = row["note"].as_str() else { continue };
            let place = row["id"].as_str().map(|id| format!("#{}", link_to(id))).unwrap_or_default();
            let page = format!("{}{place}", link_to(&note_page(path)));
            entries.push(json!([page, row["session"], kind, text(&row, columns)]));
        }
    }
    let mut script = String::from("window.cruIndex = [\n");
    for entry in entries {
        let _ = writeln!(script, "{entry},");
    }
    Ok(script + "];\n")
}
