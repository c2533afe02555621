//! Three versions of a task list: what was generated last, the note's, and what would be generated now.

use std::collections::{HashMap, HashSet};

use super::Op;
use super::task_list::key;
use crate::model::Task;

/// The rows of a note's list that change, so that it says what `after` says beyond `before`, field by field: what a person
/// changed stays, a row that a person took out stays out, and one that a person added or changed is not taken out.
/// `own` is `None` where the note is as `before`.
pub(crate) fn merge(before: &[Task], own: Option<&[Task]>, after: &[Task]) -> Option<Op> {
    let known: HashMap<_, _> = before.iter().map(|task| (key(task), task)).collect();
    let there: Option<HashMap<_, _>> = own.map(|own| own.iter().map(|task| (key(task), task)).collect());
    let settle = |task: &Task| -> Option<Task> {
        let (Some(there), Some(was)) = (&there, known.get(&key(task))) else { return Some(task.clone()) };
        let is = there.get(&key(task))?;
        Some(Task {
            content: if is.content == was.content { task.content.clone() } else { is.content.clone() },
            status: if is.status == was.status { task.status.clone() } else { is.status.clone() },
            priority: if is.priority == was.priority { task.priority.clone() } else { is.priority.clone() },
            ..task.clone()
        })
    };
    let stay: HashSet<_> = after.iter().map(key).collect();
    if before.iter().all(|task| stay.contains(&key(task))) {
        let changed = after.iter().filter(|task| known.get(&key(task)) != Some(task));
        let rows: Vec<Task> = changed.filter_map(settle).collect();
        return (!rows.is_empty()).then_some(Op::Tasks { rows, all: false });
    }
    let is_theirs = |task: &&Task| {
        let same =
            |was: &&Task| (&was.content, &was.status, &was.priority) == (&task.content, &task.status, &task.priority);
        !stay.contains(&key(task)) && !known.get(&key(task)).is_some_and(same)
    };
    let theirs = own.unwrap_or_default().iter().filter(is_theirs).cloned();
    Some(Op::Tasks { rows: after.iter().filter_map(settle).chain(theirs).collect(), all: true })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn task(id: &str, content: &str, status: &str) -> Task {
        Task { id: id.to_owned(), content: content.to_owned(), status: status.to_owned(), ..Task::default() }
    }

    fn merged(before: &[Task], own: &[Task], after: &[Task]) -> Vec<(String, String, String)> {
        let mut rows: Vec<Task> = own.to_vec();
        if let Some(Op::Tasks { rows: new, all }) = merge(before, Some(own), after) {
            rows.retain(|row| !all || new.iter().any(|it| it.id == row.id));
            for task in new {
                match rows.iter_mut().find(|row| row.id == task.id) {
                    Some(row) => *row = task,
                    None => rows.push(task),
                }
            }
        }
        rows.into_iter().map(|it| (it.id, it.content, it.status)).collect()
    }

    #[test]
    fn each_field_is_merged_by_itself() {
        let before =
            [task("1", "Rotate keys", "pending"), task("2", "Ask Mia", "pending"), task("3", "Old", "pending")];
        let own = [task("1", "Rotate keys, both", "pending"), task("3", "Old, but mine", "pending")];
        let after =
            [task("1", "Rotate keys", "completed"), task("2", "Ask Mia", "completed"), task("4", "New", "pending")];
        let row = |id: &str, content: &str, status: &str| (id.to_owned(), content.to_owned(), status.to_owned());
        assert_eq!(
            merged(&before, &own, &after),
            [
                row("1", "Rotate keys, both", "completed"),
                row("3", "Old, but mine", "pending"),
                row("4", "New", "pending")
            ],
        );
    }

    fn list() -> impl Strategy<Value = Vec<Task>> {
        let status = prop_oneof![Just("pending"), Just("completed")];
        let row = (0..4_u8, "[ab]", status).prop_map(|(id, content, status)| task(&id.to_string(), &content, status));
        proptest::collection::vec(row, 0..4).prop_map(|mut rows| {
            let mut seen = HashSet::new();
            rows.retain(|row| seen.insert(row.id.clone()));
            rows
        })
    }

    proptest! {
        #[test]
        fn what_a_person_wrote_stays(before in list(), own in list(), after in list()) {
            let result = merged(&before, &own, &after);
            for row in &own {
                let was = before.iter().find(|it| it.id == row.id);
                let found = result.iter().find(|(id, ..)| *id == row.id);
                if was.is_none_or(|was| was.content != row.content) && was.is_some() {
                    prop_assert_eq!(found.map(|it| &it.1), Some(&row.content));
                }
                if was.is_some_and(|was| was.status != row.status) {
                    prop_assert_eq!(found.map(|it| &it.2), Some(&row.status));
                }
                prop_assert!(was.is_some() || found.is_some(), "a row of theirs is gone");
            }
            for row in &before {
                if !own.iter().any(|it| it.id == row.id) {
                    prop_assert!(!result.iter().any(|(id, ..)| *id == row.id), "a row that was taken out came back");
                }
            }
        }
    }
}
