//! Tasks: their ids, and which one somebody means.

use super::shown::ShownWords;
use crate::entry;
use cru_session::Task;

/// A name that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// What is not there.
    pub message: String,
    /// What is.
    pub hint: String,
}

/// `TASK-008` for the eighth.
pub(super) fn next_id(tasks: &[Task]) -> String {
    let number = |task: &Task| task.id.strip_prefix("TASK-").and_then(|number| number.parse::<u32>().ok());
    let highest = tasks.iter().filter_map(number).filter(|number| *number < 1_000_000).max().unwrap_or(0);
    format!("TASK-{:03}", highest + 1)
}

/// The task that `name` means: its id, its number, or words that only one has.
pub(super) fn find(tasks: &[Task], name: &str) -> Option<usize> {
    let wanted = name.trim().to_lowercase();
    let number = wanted.parse::<u32>().ok().map(|number| format!("task-{number:03}"));
    let by_id = |task: &Task| {
        !task.id.is_empty() && (task.id.to_lowercase() == wanted || Some(task.id.to_lowercase()) == number)
    };
    let words = || {
        let mut found = tasks.iter().enumerate().filter(|(_, task)| task.content.to_lowercase().contains(&wanted));
        found.next().filter(|_| found.next().is_none()).map(|(index, _)| index)
    };
    tasks
        .iter()
        .position(by_id)
        .or_else(|| tasks.iter().position(|task| task.content.to_lowercase() == wanted))
        .or_else(words)
}

/// The row that an entry writes (empty fields leave what is there); `tasks` are then as the note will say.
pub(super) fn row(tasks: &mut Vec<Task>, it: &entry::Task) -> Task {
    let named = it.task.as_deref();
    let Some(task) = named.and_then(|name| find(tasks, name)).and_then(|index| tasks.get_mut(index)) else {
        let is_id = |name: &&str| name.starts_with("TASK-") && cru_note::id::is_id(name);
        let task = Task {
            id: named.filter(is_id).map_or_else(|| next_id(tasks), str::to_owned),
            content: it.content.clone().or_else(|| it.task.clone()).unwrap_or_default(),
            status: it.status.clone().unwrap_or_else(|| "pending".to_owned()),
            priority: it.priority.clone(),
            ..Task::default()
        };
        tasks.push(task.clone());
        return task;
    };
    // A row that somebody wrote without id is known by its words.
    let words = it.content.clone().or_else(|| task.id.is_empty().then(|| task.content.clone()));
    let row = Task {
        id: task.id.clone(),
        content: words.unwrap_or_default(),
        status: it.status.clone().unwrap_or_default(),
        priority: it.priority.clone(),
        ..Task::default()
    };
    if let Some(content) = &it.content {
        task.content.clone_from(content);
    }
    if let Some(status) = &it.status {
        task.status.clone_from(status);
    }
    if it.priority.is_some() {
        task.priority.clone_from(&it.priority);
    }
    row
}

/// Puts a row among those that are written together: a task stands in them once.
pub(super) fn wait(rows: &mut Vec<Task>, row: Task) {
    let Some(known) = rows.iter_mut().find(|known| !row.id.is_empty() && known.id == row.id) else {
        return rows.push(row);
    };
    if !row.content.is_empty() {
        known.content = row.content;
    }
    if !row.status.is_empty() {
        known.status = row.status;
    }
    if row.priority.is_some() {
        known.priority = row.priority;
    }
}

/// What to say where no task is meant.
pub(super) fn missing(tasks: &[Task], shown: &ShownWords, name: &str) -> Missing {
    let open: Vec<String> = tasks
        .iter()
        .filter(|task| task.status != "completed")
        .filter_map(|task| Some(format!("{} {}", task.id, shown.told(Some(&task.id), &task.content)?)))
        .take(8)
        .collect();
    let hint = match open.as_slice() {
        [] => "`cru log task add TEXT` makes one".to_owned(),
        open => format!("open tasks:\n  {}", open.join("\n  ")),
    };
    Missing { message: format!("no task '{name}' in this session"), hint }
}
