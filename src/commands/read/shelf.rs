//! The readings and lessons of a vault.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use crate::base::text::sanitise;
use crate::base::{Error, Result};
use crate::commands::Reach;
use crate::commands::reach::Withheld;
use crate::readings::accepted::{Accepted, accepted, counting};
use crate::readings::lesson::{Lesson, LessonNote};
use crate::readings::note::{self, ReadingNote, ReviewStatus};
use crate::vault::config::Globs;
use crate::vault::{Catalog, Loaded, Vault};

/// Entries of a list that are told of a session that is taken up again.
const TOLD: usize = 8;

/// The readings and lessons of a vault.
#[derive(Debug, Default)]
pub(in crate::commands) struct Shelf {
    /// By path.
    pub(in crate::commands) readings: Vec<ReadingNote>,
    /// By path.
    pub(in crate::commands) lessons: Vec<LessonNote>,
}

impl Shelf {
    /// Reads them. Lessons are notes of that type wherever they stand.
    pub(in crate::commands) fn read(catalog: &Catalog, vault: &Vault) -> Self {
        let mut shelf = Self::default();
        for head in catalog.heads.iter().filter(|head| !head.is_session()) {
            let kind = head.meta.kind.as_deref();
            if !matches!(kind, Some("reading" | "lesson")) {
                continue;
            }
            let Ok(bytes) = vault.read(&head.path) else { continue };
            let (text, path) = (String::from_utf8_lossy(&bytes), head.path.text());
            if kind == Some("reading") {
                shelf.readings.extend(note::read(&path, &text));
            } else {
                shelf.lessons.extend(LessonNote::read(&path, &text));
            }
        }
        shelf
    }

    /// The same without what is kept from agents: notes of their own, and those about such a session.
    pub(in crate::commands) fn within(catalog: &Catalog, vault: &Vault, reach: Reach) -> Self {
        let mut shelf = Self::read(catalog, vault);
        let mut kept: HashSet<String> = HashSet::new();
        for head in catalog.heads.iter().filter(|head| !reach.allows(&head.meta)) {
            kept.extend([head.path.text().into_owned(), head.path.stem().into_owned(), head.id()]);
        }
        let withheld = Withheld::of(catalog, vault, reach);
        shelf.readings.retain(|it| !kept.contains(&it.path) && !withheld.holds(&it.head.session));
        shelf
            .lessons
            .retain(|it| !kept.contains(&it.path) && !it.lesson.sessions.iter().any(|session| withheld.holds(session)));
        shelf
    }

    /// The readings of a session's note, the oldest version first.
    pub(in crate::commands) fn of(&self, session: &str) -> Vec<&ReadingNote> {
        let mut all: Vec<&ReadingNote> = self.readings.iter().filter(|it| it.head.session == session).collect();
        all.sort_by_key(|it| (it.version(), it.path.clone()));
        all
    }

    /// The reading of a session's note that counts.
    pub(in crate::commands) fn counting(&self, session: &str) -> Option<&ReadingNote> {
        counting(self.of(session))
    }

    /// What is accepted about a session's note.
    pub(in crate::commands) fn accepted(&self, session: &str) -> Option<Accepted> {
        accepted(self.of(session))
    }

    /// What is accepted about each session that has something, by the name of its note.
    pub(in crate::commands) fn all_accepted(&self) -> BTreeMap<String, Accepted> {
        let mut by_session: BTreeMap<&str, Vec<&ReadingNote>> = BTreeMap::new();
        for it in &self.readings {
            by_session.entry(&it.head.session).or_default().push(it);
        }
        let all = by_session.into_iter();
        all.filter_map(|(session, readings)| Some((session.to_owned(), accepted(readings)?))).collect()
    }

    /// What is told of a session that is taken up again: of its accepted reading what was wanted and is open, and accepted lessons
    /// of its project.
    pub(in crate::commands) fn told(&self, note: &Loaded) -> Vec<(String, String)> {
        let mut told: Vec<(String, String)> = Vec::new();
        let mut say = |name: &str, text: &str| told.push((name.to_owned(), text.to_owned()));
        let name = note.path.stem();
        if let Some(it) = self.accepted(&name) {
            // What came of it and what is open is said of the record that was read.
            let is_of = it.is_of(&note.session);
            let and_more =
                |name: &'static str| if is_of { name.to_owned() } else { format!("{name} (before what came later)") };
            it.goal.iter().for_each(|text| say("Goal", text));
            it.outcome.iter().for_each(|it| say(&and_more("Outcome"), &format!("{}: {}", it.state.as_str(), it.text)));
            it.decisions.iter().take(TOLD).for_each(|text| say("Decided", text));
            it.open.iter().take(TOLD).for_each(|text| say(&and_more("Open"), text));
        }
        for it in self.lessons_for(note).into_iter().take(TOLD) {
            let place = it.place.as_deref().map(|place| format!(" ({place})")).unwrap_or_default();
            say("Lesson", &format!("{}{place}", it.text));
        }
        told
    }

    /// Accepted lessons of readings that hold for a session's project: first those of files that the session touched, then those
    /// that hold everywhere, then those of other files.
    fn lessons_for(&self, note: &Loaded) -> Vec<&Lesson> {
        let (name, project) = (note.path.stem(), note.session.meta.project.as_deref());
        let here = |it: &&LessonNote| {
            it.lesson.status == ReviewStatus::Accepted
                && it.of_reading
                && (it.lesson.project.as_deref() == project || it.lesson.sessions.iter().any(|own| *own == *name))
        };
        let touched: Vec<&str> = note
            .session
            .steps()
            .flat_map(|(_, step)| step.reads.iter().chain(&step.writes))
            .map(|file| within(&file.path, project))
            .collect();
        let rank = |lesson: &Lesson| match &lesson.place {
            None => 1,
            Some(place)
                if Globs::new(&[place])
                    .is_ok_and(|globs| touched.iter().any(|path| globs.matches(Path::new(path)))) =>
            {
                0
            }
            Some(_) => 2,
        };
        let mut lessons: Vec<&Lesson> = self.lessons.iter().filter(here).map(|it| &it.lesson).collect();
        lessons.sort_by_cached_key(|lesson| rank(lesson));
        lessons
    }

    /// The reading of that path, name, or the newest of that session.
    pub(in crate::commands) fn find(&self, wanted: &str) -> Result<&ReadingNote> {
        let wanted = wanted.trim_end_matches(".md").trim_start_matches("./");
        let stem = |it: &ReadingNote| it.path.trim_end_matches(".md").to_owned();
        let name = wanted.rsplit('/').next().unwrap_or(wanted);
        let exact = |it: &&ReadingNote| stem(it) == wanted || stem(it).rsplit('/').next() == Some(name);
        if let Some(found) = self.readings.iter().find(exact) {
            return Ok(found);
        }
        if let Some(found) = self.of(name).pop() {
            return Ok(found);
        }
        let mut found: Vec<&ReadingNote> =
            self.readings.iter().filter(|it| !name.is_empty() && it.head.session.contains(name)).collect();
        found.sort_by_key(|it| it.version());
        let mut sessions: Vec<&str> = found.iter().map(|it| it.head.session.as_str()).collect();
        sessions.sort_unstable();
        sessions.dedup();
        match (sessions.len(), found.pop()) {
            (1, Some(one)) => Ok(one),
            (0, _) | (_, None) => Err(Error::no(format!("no reading `{}`", sanitise(wanted)))
                .with_hint("`cru review` lists them; `cru read SESSION` makes one")),
            (count, _) => {
                let shown = sessions.iter().take(5).copied().collect::<Vec<_>>().join(", ");
                Err(Error::usage(format!("`{}` means {count} readings", sanitise(wanted)))
                    .with_hint(format!("say more of it: {shown}")))
            }
        }
    }

    /// The lesson of that id, or of which the id is a part.
    pub(in crate::commands) fn lesson(&self, wanted: &str) -> Option<&LessonNote> {
        let wanted = wanted.trim_end_matches(".md").rsplit('/').next().unwrap_or(wanted);
        if let Some(found) = self.lessons.iter().find(|it| it.lesson.id == wanted) {
            return Some(found);
        }
        let mut found = self.lessons.iter().filter(|it| !wanted.is_empty() && it.lesson.id.contains(wanted));
        found.next().filter(|_| found.next().is_none())
    }
}

/// A path as it lies in the project.
fn within<'p>(path: &'p str, project: Option<&str>) -> &'p str {
    let below = project.and_then(|project| path.strip_prefix(project)).and_then(|rest| rest.strip_prefix('/'));
    below.unwrap_or(path)
}
