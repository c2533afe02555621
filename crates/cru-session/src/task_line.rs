//! A task on a line: `- [x] Rotate signing keys ⏫ ^task-008`. Both directions.
//!
//! What a line cannot say (other keys, ids with other characters, a status of one's own) stands in a `tasks` fence.

use cru_base::text::{fold_whitespace, sanitise};

use super::escape;
use super::model::Task;

/// The line above a list of tasks.
pub const HEADER: &str = "**Tasks:**";

/// Marks in the box, and what they say; the first of a status is the one that is written.
const MARKS: &[(char, &str)] =
    &[(' ', "pending"), ('/', "in_progress"), ('x', "completed"), ('X', "completed"), ('-', "cancelled")];

/// Signs behind the words, as plugins for tasks know them.
const PRIORITIES: &[(&str, &str)] = &[("⏫", "high"), ("🔼", "medium"), ("🔽", "low")];

/// What a block id of a task begins with.
const ID: &str = "task-";

/// Digits from which a number is one of the scheme `TASK-008`.
const DIGITS: usize = 3;

/// Whether a paragraph is the line above a list of tasks.
pub fn is_header(line: &str) -> bool {
    line.trim().eq_ignore_ascii_case(HEADER)
}

/// The task of a list item: the mark in its box, its words without the id, the id.
pub fn parse(mark: char, text: &str, id: Option<&str>) -> Task {
    let status = MARKS.iter().find(|(known, _)| *known == mark).map_or("pending", |(_, status)| status);
    let text = text.trim();
    let sign = PRIORITIES.iter().find_map(|(sign, word)| Some((text.strip_suffix(sign)?, *word)));
    let (text, priority) = sign.map_or((text, None), |(rest, word)| (rest.trim_end(), Some(word.to_owned())));
    let id = id.map(|id| match id.strip_prefix(ID) {
        Some(number) if number.len() >= DIGITS && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("TASK-{number}")
        }
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => id.to_owned(),
    });
    let content = escape::uninline(text);
    Task { id: id.unwrap_or_default(), content, status: status.to_owned(), priority, ..Task::default() }
}

/// The parts of a task's line: the mark, the words with the sign of the priority, the block id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskLine {
    /// In the box.
    pub mark: char,
    /// Behind it.
    pub text: String,
    /// Block id without `^`.
    pub id: Option<String>,
}

impl TaskLine {
    /// The line without bullet.
    pub fn line(&self) -> String {
        let id = self.id.as_ref().map(|id| format!(" ^{id}")).unwrap_or_default();
        format!("[{}] {}{id}", self.mark, self.text)
    }
}

/// What [`parse`] reads as this task; `None` where a line cannot say all of it.
pub fn format(task: &Task) -> Option<TaskLine> {
    let line = lossy(task);
    (!task.content.is_empty() && parse(line.mark, &line.text, line.id.as_deref()) == *task).then_some(line)
}

/// As much of a task as a line can say.
pub fn lossy(task: &Task) -> TaskLine {
    let mark = MARKS.iter().find(|(_, status)| *status == task.status).map_or(' ', |(mark, _)| *mark);
    let mut text = escape::inline(&fold_whitespace(&sanitise(&task.content)));
    let sign = task.priority.as_deref().and_then(|word| PRIORITIES.iter().find(|(_, known)| *known == word));
    if let Some((sign, _)) = sign {
        text.push(' ');
        text.push_str(sign);
    }
    let number = task.id.strip_prefix("TASK-").filter(|number| number.len() >= DIGITS);
    let number = number.filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    let name = number.unwrap_or(&task.id);
    let plain = !name.is_empty() && name.len() <= 60 && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
    TaskLine { mark, text, id: plain.then(|| format!("{ID}{name}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, content: &str, status: &str) -> Task {
        Task { id: id.into(), content: content.into(), status: status.into(), ..Task::default() }
    }

    #[test]
    fn table_of_lines() {
        let rows = [
            (task("TASK-008", "Rotate signing keys", "in_progress"), Some("[/] Rotate signing keys ^task-008")),
            (task("1", "Mend the pump", "completed"), Some("[x] Mend the pump ^task-1")),
            (task("fix-it", "Mend", "cancelled"), Some("[-] Mend ^task-fix-it")),
            (task("", "Mend #5", "pending"), Some("[ ] Mend #5")),
            (task("100", "Mend", "pending"), None),
            (task("a b", "Mend", "pending"), None),
            (task("1", "", "pending"), None),
            (task("1", "Mend", "waiting"), None),
            (task("1", "Mend ⏫", "pending"), None),
        ];
        for (task, line) in rows {
            assert_eq!(format(&task).map(|line| line.line()).as_deref(), line, "{task:?}");
        }
        let high = Task { priority: Some("high".into()), ..task("2", "Mend", "pending") };
        assert_eq!(format(&high).unwrap().line(), "[ ] Mend ⏫ ^task-2");
        assert_eq!(parse('X', "Mend", None).status, "completed");
    }
}
