//! `cru bookmark`: names for steps.

use serde::Serialize;

use super::TraceWorld;
use super::bookmarks;
use crate::base::text::{one_line, sanitise};
use crate::base::{Error, Result};
use crate::commands::{Context, Output, Reach, View};
use crate::note::edit::ChangedPage;
use crate::note::{Note, Patch};
use crate::vault::{VaultPath, page};

/// Give a step a name
///
/// Adds `- NAME: [[SESSION#^n-014]]` to `bookmarks.md` of the vault; `@NAME` then names the step in every command.
/// Without REF: the last step of the current session. `cru list bookmarks` shows all and where they lead.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 success, 1 no such step or bookmark, 2 usage error, 3 I/O error.")]
pub struct Args {
    /// The name
    name: Option<String>,
    /// Which step: `^`, `n-014`, `SESSION#n-014`
    #[arg(value_name = "REF", conflicts_with = "remove")]
    reference: Option<String>,
    /// Remove a bookmark from `bookmarks.md`
    #[arg(long, value_name = "NAME", conflicts_with = "name")]
    remove: Option<String>,
}

impl Args {
    /// Whether it adds one, and so tells of no other.
    pub(in crate::commands) const fn adds(&self) -> bool {
        self.name.is_some() && self.reference.is_some()
    }
}

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let world = TraceWorld::read(cx)?;
    let references = world.references(None, cx);
    if let Some(name) = &args.remove {
        return remove(name, &world);
    }
    let Some(name) = &args.name else {
        return Err(Error::usage("which name?").with_hint("`cru list bookmarks` shows those there are"));
    };
    let name = checked(name)?;
    let block = references.block(args.reference.as_deref().unwrap_or("^"))?;
    if let Some(known) = bookmarks::listed(&world.vault)?.into_iter().find(|it| it.name.eq_ignore_ascii_case(name)) {
        // It may lead to a session that is kept from who asks.
        let shown = references.follow(&known).is_ok() || cx.global.reach == Reach::All;
        let target = if shown { format!(": [[{}]]", known.target) } else { String::new() };
        return Err(Error::usage(format!("the bookmark \"{name}\" exists{target}"))
            .with_hint(format!("use another name, or remove it: `cru bookmark --remove '{name}'`")));
    }
    let id = match block.place.item_in(&block.session).and_then(crate::session::Item::id) {
        Some(id) => id.to_owned(),
        None if block.place.item.is_none() => block.id().to_owned(),
        None => {
            return Err(Error::usage("this step has no id, so nothing can point at it")
                .with_hint(format!("`cru check --fix {}` gives ids to steps", block.path)));
        }
    };
    let target = format!("{}#^{id}", block.path.stem());
    write(&world, |note| bookmarks::with(note, name, &target))?;
    Ok(Box::new(Bookmarked { name: name.to_owned(), id, target, removed: false }))
}

/// A name that can stand in a list and behind `@`.
fn checked(name: &str) -> Result<&str> {
    let name = name.trim().trim_start_matches('@');
    let odd = |c: char| c.is_control() || matches!(c, '[' | ']' | '|' | '#' | '^' | '@');
    if name.is_empty() || name.chars().count() > 80 || name.contains(odd) || name.contains("..") {
        return Err(Error::usage(format!("`{}` cannot be a name", sanitise(name)))
            .with_hint("use up to 80 letters, digits, blanks and dashes"));
    }
    Ok(name)
}

fn remove(name: &str, world: &TraceWorld) -> Result<Box<dyn Output>> {
    let name = name.trim().trim_start_matches('@');
    let known = bookmarks::listed(&world.vault)?.into_iter().find(|it| it.name.eq_ignore_ascii_case(name));
    let Some(known) = known else {
        return Err(Error::no(format!("{} has no bookmark `{}`", bookmarks::NOTE, sanitise(name)))
            .with_hint("`cru list bookmarks` shows them; those of imported sessions stand in their notes"));
    };
    write(world, |note| bookmarks::without(note.text(), name))?;
    let id = bookmarks::link(&known.target).block.unwrap_or_default();
    Ok(Box::new(Bookmarked { name: known.name, id, target: known.target, removed: true }))
}

/// Changes `bookmarks.md`, whoever else does so too.
fn write(world: &TraceWorld, change: impl Fn(&Note) -> Patch) -> Result<()> {
    let Some(path) = VaultPath::new(bookmarks::NOTE) else { return Ok(()) };
    page::change(&world.vault, &world.vault.file(&path), |old| {
        let note = Note::parse(old.unwrap_or_default());
        Ok(ChangedPage::new(change(&note).apply(note.bytes())))
    })?;
    Ok(())
}

#[derive(Debug, Serialize)]
struct Bookmarked {
    name: String,
    id: String,
    target: String,
    removed: bool,
}

impl Output for Bookmarked {
    fn text(&self, _: &View) -> String {
        let (id, name) = (one_line(&self.id), one_line(&self.name));
        if self.removed {
            format!("Removed \"{name}\", which named {id}\n")
        } else {
            format!("Bookmarked {id} as \"{name}\"\n")
        }
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        Ok(serde_json::json!({ "schema": 1, "name": self.name, "target": self.target, "removed": self.removed }))
    }
}
