//! Lessons that nobody has decided about yet: what agents logged as one, and corrections that a person had to say twice.

use std::collections::HashSet;

use jiff::Timestamp;

use crate::base::Result;
use crate::base::text::{fold_whitespace, note_name};
use crate::commands::Context;
use crate::commands::lessons::told::{Told, notes_with, told};
use crate::commands::lessons::verdict::{content_words, is_alike};
use crate::commands::read::Shelf;
use crate::index::{Record, Snapshot, Table};
use crate::memory::review::{ReviewItem, ReviewKind};
use crate::readings::lesson::{Likeness, likeness};
use crate::vault::Vault;

/// Corrections that are compared, the newest.
const MOST: usize = 500;

/// Something that was said in a session.
struct SaidThing {
    /// `session#u-05`, as commands take it.
    reference: String,
    /// The same as it stands in a link.
    link: String,
    session: String,
    project: Option<String>,
    at: Option<Timestamp>,
    text: String,
    words: HashSet<String>,
}

impl SaidThing {
    /// Of sessions that tell of the same project.
    fn says_what(&self, other: &Self) -> bool {
        self.project == other.project && is_alike(&self.words, &other.words)
    }
}

/// The lessons of agents and of corrections that no lesson of the vault has. Their subjects are references.
pub(super) fn proposals(
    shelf: &Shelf,
    snapshot: &Snapshot,
    vault: &Vault,
    cx: &Context<'_>,
    items: &mut Vec<ReviewItem>,
) -> Result<()> {
    let is_known = |it: &SaidThing| {
        shelf.lessons.iter().map(|known| &known.lesson).any(|lesson| {
            let is_same = likeness(&lesson.text, &it.text) == Likeness::Same;
            is_same || lesson.evidence.iter().any(|line| line.contains(&format!("[[{}]]", it.link)))
        })
    };
    let logged = logged(shelf, snapshot, vault, cx)?;
    for group in groups(logged, |a, b| likeness(&a.text, &b.text) == Likeness::Same) {
        if !group.iter().any(is_known) {
            items.extend(item(&group));
        }
    }
    for group in groups(corrections(snapshot, cx)?, SaidThing::says_what) {
        let sessions: HashSet<&str> = group.iter().map(|it| it.session.as_str()).collect();
        if sessions.len() > 1 && !group.iter().any(is_known) {
            items.extend(item(&group));
        }
    }
    Ok(())
}

/// The oldest is what it is called by, so that it stays the same matter; the newest says it.
fn item(group: &[SaidThing]) -> Option<ReviewItem> {
    let (first, last) = (group.first()?, group.last()?);
    let mut item = ReviewItem::new(ReviewKind::Lesson, &first.reference, "", &last.text, &last.link);
    let references: Vec<&str> = group.iter().rev().map(|it| it.reference.as_str()).collect();
    item.subject = references.join(" ");
    Some(item.weighing(group.len() as f64))
}

/// Those that say the same together, each group in the order of time.
fn groups(mut all: Vec<SaidThing>, is_same: impl Fn(&SaidThing, &SaidThing) -> bool) -> Vec<Vec<SaidThing>> {
    all.sort_by(|a, b| (a.at, &a.reference).cmp(&(b.at, &b.reference)));
    let mut groups: Vec<Vec<SaidThing>> = Vec::new();
    for it in all {
        match groups.iter_mut().find(|group| group.iter().any(|other| is_same(other, &it))) {
            Some(group) => group.push(it),
            None => groups.push(vec![it]),
        }
    }
    groups
}

/// What agents logged as lessons, imports found, and persons wrote down in sessions.
fn logged(shelf: &Shelf, snapshot: &Snapshot, vault: &Vault, cx: &Context<'_>) -> Result<Vec<SaidThing>> {
    let of = |it: Told| SaidThing {
        link: it.lesson.link().to_owned(),
        reference: it.lesson.lesson.id,
        session: it.session,
        project: it.project,
        at: it.at,
        words: content_words(&it.lesson.lesson.text),
        text: it.lesson.lesson.text,
    };
    Ok(told(shelf, snapshot, vault, cx)?.into_iter().map(of).collect())
}

/// What persons corrected, the newest.
fn corrections(snapshot: &Snapshot, cx: &Context<'_>) -> Result<Vec<SaidThing>> {
    let newest = notes_with("is:correction", MOST, snapshot, cx)?;
    let mut all: Vec<SaidThing> = Vec::new();
    let of = |record: Record| {
        let (row, user) = (record.session, record.user);
        let said = user.into_iter().filter(|it| it.correction).filter_map(|it| {
            let (id, text) = (it.id?, fold_whitespace(&it.words));
            Some(SaidThing {
                reference: format!("{}#{id}", row.id),
                link: format!("{}#^{id}", note_name(&row.path)),
                session: row.id.clone(),
                project: row.project.clone(),
                at: it.at.or(row.started),
                words: content_words(&text),
                text,
            })
        });
        said.collect::<Vec<_>>()
    };
    snapshot.each_record(|row| newest.contains(&row.path), &[Table::User], of, |it| all.extend(it));
    all.retain(|it| !it.words.is_empty());
    all.sort_by_key(|it| std::cmp::Reverse(it.at));
    all.truncate(MOST);
    Ok(all)
}
