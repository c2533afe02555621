//! From what a person types to a step: `^`, `n-015`, `session#n-015`, `@name`, ranges.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::bookmarks::{self, KeptBookmark};
use crate::base::text::sanitise;
use crate::base::{Diagnostic, Error, Result, Span};
use crate::commands::lessons::told::notes_with;
use crate::commands::session::current_or_newest;
use crate::commands::{Context, Reach, reading};
use crate::graph::Place;
use crate::graph::place::{is_same_id, items};
use crate::index::Snapshot;
use crate::note::Note;
use crate::readings::lesson::ToldLesson;
use crate::session::{Item, Public, Session, Step};
use crate::trace::reference::{self, ReferenceText, StepReference};
use crate::vault::{Catalog, Head, Vault, VaultPath};

/// A block of a session that was named.
#[derive(Clone, Debug)]
pub(in crate::commands) struct NamedBlock {
    pub(in crate::commands) path: VaultPath,
    /// `session_id`.
    pub(in crate::commands) session_id: String,
    pub(in crate::commands) session: Session,
    pub(in crate::commands) place: Place,
}

impl NamedBlock {
    pub(in crate::commands) fn step(&self) -> Option<&Step> {
        self.place.step_in(&self.session)
    }

    /// `session#n-015`.
    pub(in crate::commands) fn key(&self) -> String {
        format!("{}#{}", self.session_id, self.id())
    }

    pub(in crate::commands) fn id(&self) -> &str {
        self.place.id_in(&self.session).unwrap_or_default()
    }
}

/// What was named.
#[derive(Clone, Debug)]
pub(in crate::commands) enum NamedThing {
    Block(Box<NamedBlock>),
    /// A file of `@name`, as notes write it.
    File(String),
}

/// Finds what a person names.
pub(in crate::commands) struct References<'a, 'c> {
    pub(in crate::commands) vault: &'a Vault,
    pub(in crate::commands) catalog: &'a Catalog,
    pub(in crate::commands) cx: &'a Context<'c>,
    /// The session of what names none; else the current one, or the newest.
    pub(in crate::commands) home: Option<&'a str>,
    /// The index, where it is open; else it is opened when it is needed.
    pub(in crate::commands) snapshot: Option<&'a OnceLock<Arc<Snapshot>>>,
}

impl References<'_, '_> {
    /// The one thing that a text names. Errors: nothing, several, or a range where one is asked for.
    pub(in crate::commands) fn one(&self, text: &str) -> Result<NamedThing> {
        match reference::parse(text) {
            Some(ReferenceText::One(reference)) => self.thing(&reference, text),
            Some(ReferenceText::Range(..)) => {
                Err(Error::usage(format!("`{}` is a range; name one step", sanitise(text))))
            }
            None => Err(Error::usage(format!("invalid reference `{}`", sanitise(text))).with_hint(FORMS)),
        }
    }

    /// The one step that a text names.
    pub(in crate::commands) fn block(&self, text: &str) -> Result<NamedBlock> {
        match self.one(text)? {
            NamedThing::Block(block) => Ok(*block),
            NamedThing::File(path) => Err(Error::usage(format!("`{}` is the file {path} and no step", sanitise(text)))),
        }
    }

    /// All that a text names: one thing, or the steps of a range.
    pub(in crate::commands) fn all(&self, text: &str) -> Result<Vec<NamedThing>> {
        let Some(ReferenceText::Range(from, to)) = reference::parse(text) else { return Ok(vec![self.one(text)?]) };
        let (first, last) = (self.thing(&from, text)?, self.thing(&to, text)?);
        let (NamedThing::Block(first), NamedThing::Block(last)) = (first, last) else {
            return Err(Error::usage(format!("`{}`: a range goes from step to step", sanitise(text))));
        };
        if first.path != last.path {
            return Err(Error::usage(format!("`{}`: both ends must be in one session", sanitise(text)))
                .with_hint(format!("they are {} and {}", first.key(), last.key())));
        }
        if first.place > last.place {
            return Err(Error::usage(format!("`{}` ends before it begins", sanitise(text)))
                .with_hint(format!("write {to}..{from}")));
        }
        let steps = items(&first.session)
            .filter(|(place, item)| matches!(item, Item::Step(_)) && (first.place..=last.place).contains(place));
        let named = steps.map(|(place, _)| NamedThing::Block(Box::new(NamedBlock { place, ..(*first).clone() })));
        Ok(named.collect())
    }

    fn thing(&self, reference: &StepReference, text: &str) -> Result<NamedThing> {
        let block = |block: NamedBlock| NamedThing::Block(Box::new(block));
        match reference {
            StepReference::Back(back) => self.back(*back).map(block),
            StepReference::Block { session, id } => self.by_id(session.as_deref(), id).map(block),
            StepReference::LatestCheckpoint => self.checkpoint().map(block),
            StepReference::Name(name) => self.by_name(name, text),
        }
    }

    /// A session as a whole.
    pub(in crate::commands) fn session(&self, named: Option<&str>) -> Result<NamedBlock> {
        let head = match named.or(self.home) {
            Some(name) => self.catalog.session(name, self.vault, self.cx.env)?,
            None => current_or_newest(self.catalog, self.vault, self.cx)?,
        };
        self.cx.global.reach.check(&head.meta)?;
        let session = self.vault.load(&head.path)?.session;
        let place = Place { phase: None, item: None };
        Ok(NamedBlock { path: head.path.clone(), session_id: head.id(), session, place })
    }

    /// The last step of the session, or one before it.
    fn back(&self, back: usize) -> Result<NamedBlock> {
        let mut block = self.session(None)?;
        let steps: Vec<Place> =
            items(&block.session).filter(|(_, item)| matches!(item, Item::Step(_))).map(|(place, _)| place).collect();
        match steps.len().checked_sub(back).and_then(|at| steps.get(at)) {
            Some(place) => block.place = *place,
            None => {
                return Err(Error::no(format!("{} has {} steps", block.session_id, steps.len()))
                    .with_hint("`^` is the last step, `^2` the one before"));
            }
        }
        Ok(block)
    }

    fn by_id(&self, session: Option<&str>, id: &str) -> Result<NamedBlock> {
        let mut block = self.session(session)?;
        match find(&block.session, id) {
            Some(place) => block.place = place,
            None => return Err(no_step(&block.session, &block.session_id, id)),
        }
        Ok(block)
    }

    fn checkpoint(&self) -> Result<NamedBlock> {
        let mut block = self.session(None)?;
        let last = items(&block.session)
            .filter(|(_, item)| matches!(item, Item::Callout(callout) if callout.kind == "checkpoint"))
            .map(|(place, _)| place)
            .last();
        block.place = last.ok_or_else(|| Error::no(format!("{} has no checkpoint", block.session_id)))?;
        Ok(block)
    }

    /// `@name`: a step's id of the current session, a bookmark, a file that sessions name; an error where several are.
    fn by_name(&self, name: &str, text: &str) -> Result<NamedThing> {
        let mut found: Vec<(String, NamedThing)> = Vec::new();
        if let Ok(mut block) = self.session(None)
            && let Some(place) = find(&block.session, name)
        {
            block.place = place;
            found.push((format!("the step {}", block.key()), NamedThing::Block(Box::new(block))));
        }
        let mut dangling = None;
        for bookmark in self.bookmarks()?.into_iter().filter(|it| it.name.eq_ignore_ascii_case(name)) {
            match self.follow(&bookmark) {
                Ok(block) => {
                    found.push((format!("the bookmark of {}", block.key()), NamedThing::Block(Box::new(block))));
                }
                Err(error) => dangling = Some((bookmark, error)),
            }
        }
        if found.is_empty()
            && let Some((bookmark, error)) = dangling
        {
            return Err(Error::no(format!("the bookmark \"{name}\" pointed at [[{}]]: {error}", bookmark.target))
                .with_hint(format!("`cru bookmark --remove '{name}'` removes it")));
        }
        for path in self.files(name) {
            found.push((format!("the file {path}"), NamedThing::File(path)));
        }
        let mut names: Vec<String> = found.iter().map(|(what, _)| what.clone()).collect();
        names.dedup();
        match (found.len(), names.len()) {
            (1.., 1) => Ok(found.swap_remove(0).1),
            (0, _) => Err(Error::no(format!("nothing is called `{}`", sanitise(text)))
                .with_hint("`cru list bookmarks` shows bookmarks, `cru files` files")),
            _ => {
                let mut hint = String::from("it could be");
                for what in names.iter().take(8) {
                    let _ = write!(hint, "\n  {what}");
                }
                if names.len() > 8 {
                    let _ = write!(hint, "\n  … and {} more", names.len() - 8);
                }
                Err(Error::usage(format!("`{}` is ambiguous", sanitise(text))).with_hint(hint))
            }
        }
    }

    /// All sessions as they are in the index.
    fn snapshot(&self) -> Result<Arc<Snapshot>> {
        if let Some(snapshot) = self.snapshot.and_then(OnceLock::get) {
            return Ok(Arc::clone(snapshot));
        }
        let snapshot = reading::snapshot(self.vault, self.cx)?;
        Ok(match self.snapshot {
            Some(cell) => Arc::clone(cell.get_or_init(|| snapshot)),
            None => snapshot,
        })
    }

    /// All bookmarks: of `bookmarks.md`, then of callouts.
    pub(in crate::commands) fn bookmarks(&self) -> Result<Vec<KeptBookmark>> {
        let mut all = bookmarks::listed(self.vault)?;
        // The index knows which notes have one.
        let snapshot = self.snapshot()?;
        let marked = notes_with("kind:bookmark", usize::MAX, &snapshot, self.cx)?;
        let heads = self.catalog.sessions().filter(|head| marked.contains(head.path.text().as_ref()));
        for head in heads {
            let session = crate::session::read::content_of(self.vault.read(&head.path)?);
            all.extend(bookmarks::of_session(&session, &head.id()));
        }
        if self.cx.global.reach != Reach::All {
            // What leads nowhere may lead to a session that is kept from who asks.
            all.retain(|bookmark| self.follow(bookmark).is_ok());
        }
        Ok(all)
    }

    /// The text of `bookmarks.md` and what is wrong with it: names that stand twice, and links that lead nowhere.
    pub(in crate::commands) fn bookmark_diagnostics(&self) -> Result<(String, Vec<Diagnostic>)> {
        let text = Public::of(&Note::parse(bookmarks::text(self.vault)?)).shown();
        let mut diagnostics = Vec::new();
        let mut names: HashSet<String> = HashSet::new();
        let mut start = 0;
        for row in text.split_inclusive('\n') {
            let span = Span::new(start, start + row.trim_end().len());
            start += row.len();
            let Some((name, target)) = bookmarks::of_line(row.trim_end()) else { continue };
            if !names.insert(name.to_lowercase()) {
                let message = format!("the bookmark \"{}\" stands twice", sanitise(name));
                diagnostics
                    .push(Diagnostic::error("duplicate-bookmark", span, message).help("give one of them another name"));
            }
            let bookmark = KeptBookmark {
                name: name.to_owned(),
                target: target.to_owned(),
                note: bookmarks::NOTE.to_owned(),
                line: 0,
            };
            if let Err(error) = self.follow(&bookmark) {
                diagnostics.push(Diagnostic::warning("dangling-bookmark", span, error.to_string()));
            }
        }
        Ok((text, diagnostics))
    }

    /// Where a bookmark leads.
    pub(in crate::commands) fn follow(&self, bookmark: &KeptBookmark) -> Result<NamedBlock> {
        let link = bookmarks::link(&bookmark.target);
        let from = VaultPath::new(bookmarks::NOTE);
        let head = from.and_then(|from| self.catalog.note(&link.target, &from)).filter(|head| head.is_session());
        let head = head.ok_or_else(|| Error::no(format!("there is no session `{}`", sanitise(&link.target))))?;
        self.cx.global.reach.check(&head.meta)?;
        let session = self.vault.load(&head.path)?.session;
        let id = link.block.unwrap_or_default();
        let place = find(&session, &id).ok_or_else(|| Error::no(format!("there is no `^{}`", sanitise(&id))))?;
        Ok(NamedBlock { path: head.path.clone(), session_id: head.id(), session, place })
    }

    /// Files of the current session's steps, and of all sessions where it has none, by the end of their path.
    fn files(&self, name: &str) -> Vec<String> {
        let ends = |path: &str| path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        let of = |session: &Session| -> BTreeSet<String> {
            let files = session.steps().flat_map(|(_, step)| step.reads.iter().chain(&step.writes));
            files.map(|file| &file.path).filter(|path| ends(path)).cloned().collect()
        };
        let own = self.session(None).map(|block| of(&block.session)).unwrap_or_default();
        if !own.is_empty() {
            return own.into_iter().collect();
        }
        let heads: Vec<&Head> = self.catalog.sessions().collect();
        let named = |head: &&Head| {
            // A note that does not hold the name names no such file; reading bytes is cheap beside parsing.
            let bytes = self.vault.read(&head.path).ok()?;
            memchr::memmem::find(&bytes, name.as_bytes())?;
            Some(of(&crate::session::read::content_of(bytes)))
        };
        let all: BTreeSet<String> = heads.par_iter().filter_map(named).flatten_iter().collect();
        all.into_iter().collect()
    }
}

/// The forms of a reference, for errors.
const FORMS: &str = "use ^ (the last step), ^2, n-014, 14, SESSION#n-014, @NAME or n-003..n-007";

/// The block with an id; a step also by its number.
pub(in crate::commands) fn find(session: &Session, id: &str) -> Option<Place> {
    let number = id.parse::<u64>().ok();
    let is_it = |own: &str| {
        is_same_id(own, id)
            || number.is_some_and(|number| own.strip_prefix("n-").and_then(|own| own.parse().ok()) == Some(number))
    };
    let is_name = |name: &str| name.eq_ignore_ascii_case("node") || name.eq_ignore_ascii_case("cell");
    let is_own = |(name, value): &(String, String)| is_name(name) && is_same_id(value.trim().trim_matches('`'), id);
    let named = |step: &Step| step.fields.iter().any(is_own);
    let all = || items(session);
    let own = all().find(|(_, item)| item.id().is_some_and(is_it));
    // An importer keeps the name that a record gave.
    let own = own.or_else(|| all().find(|(_, item)| matches!(item, Item::Step(step) if named(step))));
    // A lesson without an id is known by its words.
    let own = own.or_else(|| all().find(|(_, item)| item.callout().is_some_and(|it| ToldLesson::is_known_as(it, id))));
    let phase = || session.phases.iter().position(|phase| is_same_id(&phase.id, id));
    own.map(|(place, _)| place).or_else(|| phase().map(|phase| Place { phase: Some(phase), item: None }))
}

/// The error for an id that a session does not have.
pub(in crate::commands) fn no_step(session: &Session, name: &str, id: &str) -> Error {
    let ids: Vec<&str> = session.steps().filter_map(|(_, step)| step.id.as_deref()).collect();
    let hint = match (ids.first(), ids.last()) {
        (Some(first), Some(last)) => format!("it has {first} … {last}; `cru session show {name}` lists them"),
        _ => "it has no steps".to_owned(),
    };
    Error::no(format!("no step {} in {name}", sanitise(id))).with_hint(hint)
}
