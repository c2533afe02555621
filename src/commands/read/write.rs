//! Writes a reading, its lessons, and the line in the session's note that names it.

use serde::Serialize;

use super::decide::refresh_top;
use super::shelf::Shelf;
use super::source::Source;
use super::title;
use crate::base::{Error, Result, files};
use crate::commands::Context;
use crate::readings::Checked;
use crate::readings::lesson::{Lesson, LessonNote, Likeness, likeness};
use crate::readings::note::{ReadingHead, ReadingNote, ReviewStatus, path_of, render};
use crate::session::op::Op;
use crate::vault::writer::{Plan, Writer};
use crate::vault::{State, Vault, VaultPath, state};

/// What was written.
#[derive(Debug, Default, Serialize)]
pub(super) struct WrittenReading {
    /// The reading, relative to the vault.
    pub(super) path: String,
    /// Whether the file is new, replaced, or as it was.
    pub(super) fate: &'static str,
    /// Whether it counts without a decision of a person.
    pub(super) counts: bool,
    /// The session's note.
    pub(super) note: String,
    /// Its path before, where the reading's title gave it a new name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) renamed: Option<String>,
    /// Why the summary on top of it does not tell the reading; `None` where it does, or the reading does not count.
    pub(super) summary: Option<&'static str>,
    /// Lessons that are new.
    pub(super) new_lessons: usize,
    /// Lessons that another session told already.
    pub(super) merged_lessons: usize,
    /// Lessons that say the contrary of another one.
    pub(super) contrary: Vec<String>,
}

/// Writes a reading. The newest version is replaced while nobody has touched or decided about it; else, and with `again`, a new
/// version is made.
pub(super) fn write(
    checked: &Checked,
    head: &ReadingHead,
    again: bool,
    source: &Source,
    vault: &Vault,
    shelf: &Shelf,
    cx: &Context<'_>,
) -> Result<WrittenReading> {
    vault.writable()?;
    let mut head = head.clone();
    let mut path_of_note = source.path.clone();
    let mut title = source.session.title().to_owned();
    let versions = shelf.of(&source.name);
    if let Some(new) = checked.answer.summary.title.as_ref().filter(|_| head.status.counts()) {
        let earlier = versions.iter().filter_map(|it| it.answer.as_ref()?.summary.title.as_deref());
        match title::give(new, &earlier.collect::<Vec<_>>(), source, vault, cx) {
            Ok(path) => {
                head.session = path.stem().into_owned();
                path_of_note = path;
                title.clone_from(new);
            }
            // Somebody else writes the session just now: the next reading gives it its title.
            Err(error) => cx.ui.warn(&format!("the session keeps its title: {error}")),
        }
    }
    let newest = versions.last();
    let is_undecided = |it: &ReadingNote| matches!(it.head.status, ReviewStatus::Proposed | ReviewStatus::Proven);
    let is_of_kind = |it: &ReadingNote| it.answer.as_ref().is_none_or(|it| it.is_brief == checked.answer.is_brief);
    let replaced = newest.filter(|it| !again && !it.changed && is_undecided(it) && is_of_kind(it));
    // Its links follow the session's note.
    let replaced = replaced.filter(|_| head.session == source.name);
    let before = if replaced.is_some() { versions.iter().rev().nth(1) } else { newest };
    head.reason = head.reason(before.copied()).to_owned();
    let head = &head;
    let text = render(head, &title, checked);
    let (path, fate) = if let Some(old) = replaced {
        let fate = if old.text == text { "unchanged" } else { "replaced" };
        let file = vault.root().join(&old.path);
        files::replace_within(vault.root(), &file, old.text.as_bytes(), text.as_bytes())?;
        (old.path.clone(), fate)
    } else {
        (create(&head.session, newest.map_or(1, |it| it.version() + 1), &text, vault)?, "created")
    };
    let mut written = WrittenReading { path, fate, ..WrittenReading::default() };
    let before: Vec<&str> = match replaced.and_then(|old| old.answer.as_ref()) {
        Some(old) => old.lessons.iter().map(|lesson| lesson.text.as_str()).collect(),
        None => Vec::new(),
    };
    let kept = withdrawn(&before, checked, source, vault, shelf)?;
    lessons(checked, source, vault, kept, &mut written)?;
    name_it(&written.path, source, &path_of_note, vault, cx)?;
    written.counts = head.status.counts();
    written.note = path_of_note.to_string();
    written.renamed = (path_of_note != source.path).then(|| source.path.to_string());
    if written.counts {
        written.summary = refresh_top(&head.session, vault, cx)?;
    }
    Ok(written)
}

/// Creates the first version from `from` on that is free.
fn create(name: &str, from: u32, text: &str, vault: &Vault) -> Result<String> {
    for version in from..from.saturating_add(1_000) {
        let path = path_of(name, version);
        if put(&path, text, vault)? {
            return Ok(path);
        }
    }
    Err(Error::usage(format!("{} has no free version", path_of(name, from))))
}

/// Creates a file of a folder of the vault, which is made where it is missing and must lie inside; `false` where it is there.
fn put(path: &str, text: &str, vault: &Vault) -> Result<bool> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    files::create_dir(&vault.root().join(folder))?;
    let folder = files::within(vault.root(), &vault.root().join(folder))?;
    files::create(&folder.join(name), text.as_bytes())
}

/// Takes out the lessons that the reading told before it was replaced and tells no more, as far as nobody else tells them and
/// nobody has touched or decided about them. What stays.
fn withdrawn<'s>(
    before: &[&str],
    checked: &Checked,
    source: &Source,
    vault: &Vault,
    shelf: &'s Shelf,
) -> Result<Vec<&'s LessonNote>> {
    let mut kept = Vec::new();
    for note in &shelf.lessons {
        let lesson = &note.lesson;
        let is_own = note.of_reading && !note.changed && lesson.status == ReviewStatus::Proposed;
        let is_alone = lesson.sessions.len() == 1 && lesson.sessions.iter().all(|name| *name == source.name);
        let is_told = || checked.answer.lessons.iter().any(|new| new.text == lesson.text);
        if is_own && is_alone && before.contains(&lesson.text.as_str()) && !is_told() {
            let file = files::within(vault.root(), &vault.root().join(&note.path))?;
            match files::remove_unchanged(&file, note.text.as_bytes()) {
                // Somebody has written since it was read.
                Ok(()) | Err(Error::Changed { .. }) => {}
                Err(error) => return Err(error),
            }
        } else {
            kept.push(note);
        }
    }
    Ok(kept)
}

/// Writes the lessons of a reading: one that is told already gets the new evidence.
fn lessons(
    checked: &Checked,
    source: &Source,
    vault: &Vault,
    shelf: Vec<&LessonNote>,
    written: &mut WrittenReading,
) -> Result<()> {
    let meta = &source.session.meta;
    let started = meta.started.map(|time| time.to_string());
    let mut known: Vec<(String, String, Lesson, bool)> = shelf
        .into_iter()
        .map(|it| (it.path.clone(), it.text.clone(), it.lesson.clone(), it.of_reading && !it.changed))
        .collect();
    for lesson in &checked.answer.lessons {
        let mut fresh = Lesson::of(lesson, &source.name, meta.project.as_deref(), started.as_deref());
        let same = |it: &Lesson| {
            if it.id == fresh.id {
                Likeness::Same
            } else if it.level == fresh.level {
                likeness(&it.text, &fresh.text)
            } else {
                Likeness::Other
            }
        };
        if let Some((path, text, old, ours)) = known.iter_mut().find(|(_, _, it, _)| same(it) == Likeness::Same) {
            if *ours && old.merge(&fresh) {
                let new = old.render();
                files::replace_within(vault.root(), &vault.root().join(&*path), text.as_bytes(), new.as_bytes())?;
                *text = new;
            }
            written.merged_lessons += 1;
            continue;
        }
        for (path, text, old, ours) in known.iter_mut().filter(|(_, _, it, _)| same(it) == Likeness::Contrary) {
            written.contrary.push(old.id.clone());
            if *ours && old.contradicted_by(&fresh.id) {
                let new = old.render();
                files::replace_within(vault.root(), &vault.root().join(&*path), text.as_bytes(), new.as_bytes())?;
                *text = new;
            }
        }
        let contrary = known.iter().filter(|(_, _, it, _)| same(it) == Likeness::Contrary);
        let contrary: Vec<String> = contrary.map(|(_, _, it, _)| it.id.clone()).collect();
        for id in contrary {
            fresh.contradicted_by(&id);
        }
        let (path, text) = (fresh.path(), fresh.render());
        if put(&path, &text, vault)? {
            written.new_lessons += 1;
        }
        known.push((path, text, fresh, true));
    }
    Ok(())
}

/// The session's note gets the line `reading`.
fn name_it(path: &str, source: &Source, note: &VaultPath, vault: &Vault, cx: &Context<'_>) -> Result<()> {
    let state = State::of(vault, cx.env)?;
    let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md");
    let link = format!("[[{stem}]]");
    let id = source.session.meta.session_id.clone().unwrap_or_else(|| source.name.clone());
    Writer::new(vault, &state, cx.env.now()).write(&state::key(&id), note, &mut |note, _| {
        let block = crate::note::frontmatter::split(note.text()).block;
        let old = block.and_then(|block| {
            let (values, _) = crate::note::frontmatter::read(note.text(), &block);
            values.string("reading").map(str::to_owned)
        });
        let ops = if old.as_deref() == Some(link.as_str()) {
            Vec::new()
        } else {
            let (old, new) = (old.map(Into::into), Some(link.clone().into()));
            vec![Op::Set { key: "reading".to_owned(), old, new }]
        };
        Ok(Plan { ops, label: "read".to_owned(), ..Plan::default() })
    })?;
    Ok(())
}
