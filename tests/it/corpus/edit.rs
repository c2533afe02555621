//! Changes of imported notes: the lines that were asked for, and no other.

use cru::note::edit::{Join, Target, append, insert_after, set_key};
use cru::note::frontmatter::Value;
use cru::note::{Note, Patch};
use cru::session::{Item, Session, Status, read};

use crate::transcript_set::{TranscriptSet, on_both_sets};

use super::world::{Written, world};

/// The lines taken out and put in. Everything before and after them is the same.
fn difference<'t>(old: &'t str, new: &'t str) -> (Vec<&'t str>, Vec<&'t str>) {
    let (old, new): (Vec<_>, Vec<_>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(one, other)| one == other).count();
    let head = same(&mut old.iter().zip(&new));
    let most = old.len().min(new.len()) - head;
    let tail = same(&mut old.iter().rev().zip(new.iter().rev())).min(most);
    (old[head..old.len() - tail].to_vec(), new[head..new.len() - tail].to_vec())
}

fn changed(written: &Written, patch: &Patch) -> (Vec<String>, Vec<String>, Session) {
    let new = patch.apply_to(written.note.text());
    let (removed, added) = difference(written.note.text(), &new);
    let owned = |lines: Vec<&str>| {
        lines.into_iter().map(str::trim_end).filter(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    let (removed, added) = (owned(removed), owned(added));
    let (session, _) = read::session(&Note::parse(new));
    (removed, added, session)
}

/// The items as they are told apart by a reader, without their places.
fn items(session: &Session) -> Vec<String> {
    session.items().map(|(phase, item)| format!("{:?} {:?}", phase.map(|phase| &phase.id), outline(item))).collect()
}

fn outline(item: &Item) -> (Option<&str>, Option<&str>) {
    let text = match item {
        Item::Step(step) => Some(step.args.as_str()),
        Item::Prose(prose) => Some(prose.text.as_str()),
        other => other.callout().map(|callout| callout.body.as_str()),
    };
    (item.id(), text)
}

fn a_key_is_one_line(set: &TranscriptSet) {
    let world = world(set);
    for written in &world.notes {
        let text = written.note.text();
        let patch = set_key(text, "reviewed_by", &Value::String("mara".to_owned())).unwrap();
        let (removed, added, session) = changed(written, &patch);
        assert_eq!((removed.len(), added), (0, vec!["reviewed_by: mara".to_owned()]), "{}", written.path);
        assert_eq!(session.meta.extra.last().map(|(key, _)| key.as_str()), Some("reviewed_by"), "{}", written.path);
        assert_eq!(items(&session), items(&written.session), "{}", written.path);

        let patch = set_key(text, "status", &Value::String("paused".to_owned())).unwrap();
        let (removed, added, session) = changed(written, &patch);
        assert_eq!((removed.len(), added), (1, vec!["status: paused".to_owned()]), "{}", written.path);
        assert_eq!(session.meta.status, Some(Status::Paused));
    }
}

fn a_step_is_appended_to_the_last_phase(set: &TranscriptSet) {
    let world = world(set);
    for written in &world.notes {
        let phase = written.session.phases.last().unwrap_or_else(|| panic!("{} has no phase", written.path));
        let step = "- `Bash make corpus` → done ^n-9999";
        let text = match phase.items.last() {
            Some(Item::Step(_)) => step.to_owned(),
            _ => format!("**Tool calls:**\n{step}"),
        };
        let target = Target::At(phase.heading_span.start);
        let patch = append(&written.note, target, &text, Join::List).unwrap_or_else(|error| {
            panic!("{}: {error}", written.path);
        });
        let (removed, added, session) = changed(written, &patch);
        assert!(removed.is_empty(), "{}: {removed:?}", written.path);
        assert_eq!(added.join("\n"), text, "{}", written.path);
        let last = session.phases.last().and_then(|phase| phase.items.last());
        let Some(Item::Step(last)) = last else { panic!("{}: {last:?}", written.path) };
        assert_eq!((last.id.as_deref(), last.args.as_str()), (Some("n-9999"), "make corpus"), "{}", written.path);
        let mut after = items(&session);
        after.pop();
        assert_eq!(after, items(&written.session), "{}", written.path);
    }
}

fn a_callout_goes_after_a_step(set: &TranscriptSet) {
    let world = world(set);
    let mut inserted = 0;
    for written in &world.notes {
        let steps: Vec<_> = written.session.steps().filter_map(|(_, step)| step.id.as_deref()).collect();
        let Some(id) = steps.get(steps.len() / 2) else { continue };
        let text = "> [!lesson] Read it before\n> It had said so all along.";
        let patch = insert_after(&written.note, Target::Id(id), text).unwrap_or_else(|error| {
            panic!("{} ^{id}: {error}", written.path);
        });
        let (removed, added, session) = changed(written, &patch);
        assert!(removed.is_empty(), "{}: {removed:?}", written.path);
        assert_eq!(added.join("\n"), text, "{}", written.path);
        let is_new = |item: &Item| item.callout().is_some_and(|callout| callout.title == "Read it before");
        let place = session.items().position(|(_, item)| is_new(item));
        let place = place.unwrap_or_else(|| panic!("{}: not read back", written.path));
        let mut after = items(&session);
        after.remove(place);
        assert_eq!(after, items(&written.session), "{}", written.path);
        let before = session.items().nth(place - 1);
        assert!(matches!(before, Some((_, Item::Step(_)))), "{}: after {before:?}", written.path);
        inserted += 1;
    }
    assert!(inserted > set.least(10, 50), "{inserted} notes with steps");
}

on_both_sets!(a_key_is_one_line, a_step_is_appended_to_the_last_phase, a_callout_goes_after_a_step);
