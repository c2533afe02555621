//! Entries about what stands in the note already: an error is handled, a question answered, the open state gathered.

use jiff::Timestamp;

use super::amend::NoteCallout;
use super::item;
use super::known::Known;
use super::page::Page;
use crate::entry;
use cru_base::text::{fold_whitespace, sanitise};
use cru_session::{Callout, Item, Task, time};

impl Page<'_> {
    pub(super) fn resolve(&mut self, it: &entry::Resolve, at: Timestamp) -> Option<String> {
        let Some(index) = Known::find(&self.known.errors, &it.error, is_open) else {
            // Named before somebody deleted it: what was done about it is still told.
            let entry =
                entry::Error { title: it.error.clone(), resolution: Some(it.text.clone()), ..Default::default() };
            self.lose(format!("no error '{}'; its resolution stands as an error of its own", it.error));
            let id = self.known.next("e", 3);
            let mut item = item::error(&entry, &id);
            if let Item::Error(error) = &mut item {
                error.callout.at = it.at.map(|_| at);
            }
            let phase = self.place_of(None);
            self.known.errors.push(NoteCallout::new(phase.as_deref(), &item));
            self.put(item);
            return Some(id);
        };
        let old = self.known.errors[index].clone();
        let said = item::error(&entry::Error { resolution: Some(it.text.clone()), ..Default::default() }, "");
        if let (Item::Error(mut whole), Item::Error(mut more)) = (old.item.clone(), said) {
            more.callout.id = None;
            let texts = [whole.resolution.take(), more.resolution.clone()];
            whole.resolution = Some(texts.into_iter().flatten().collect::<Vec<_>>().join("\n"));
            whole.resolved_by.extend(more.resolved_by.iter().cloned());
            let new = old.with(&Item::Error(more), 1, Item::Error(whole));
            self.replace(&old, new.text.clone());
            self.known.errors[index] = new;
        }
        old.item.id().map(str::to_owned)
    }

    pub(super) fn answer(&mut self, it: &entry::Answer) -> Option<String> {
        let body = format!("Answer: {}", sanitise(&it.text).trim());
        let Some(index) = Known::find(&self.known.questions, &it.question, is_open) else {
            self.lose(format!("no question '{}'; its answer stands as one of its own", it.question));
            let id = self.known.next("q", 3);
            let title = fold_whitespace(&sanitise(&it.question));
            let mut callout = Callout { body, id: Some(id.clone()), ..item::callout("question", title, it.at) };
            let phase = self.place_of(None);
            let mut block = NoteCallout::new(phase.as_deref(), &Item::Callout(callout.clone()));
            self.put(Item::Callout(callout.clone()));
            callout.fields.push(("Answer".to_owned(), it.text.clone()));
            block.item = Item::Callout(callout);
            self.known.questions.push(block);
            return Some(id);
        };
        let old = self.known.questions[index].clone();
        let mut whole = old.callout();
        whole.body =
            [whole.body.trim_end(), &body].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
        let more = Callout { body, ..item::callout("question", String::new(), it.at) };
        let mut new = old.with(&Item::Callout(more), 1, Item::Callout(whole.clone()));
        whole.fields.push(("Answer".to_owned(), it.text.clone()));
        new.item = Item::Callout(whole);
        self.replace(&old, new.text.clone());
        self.known.questions[index] = new;
        old.item.id().map(str::to_owned)
    }

    pub(super) fn checkpoint(&mut self, it: &entry::Checkpoint, at: Timestamp) -> String {
        let open = self.tasks.iter().filter(|task| task.status != "completed");
        let open = open.filter_map(|task| Some(open_task(task, &self.shown.told(Some(&task.id), &task.content)?)));
        let mut lines: Vec<String> = open.map(|task| format!("Open: {task}")).collect();
        let questions = self.known.questions.iter().filter(|block| is_open(block));
        let questions = questions.filter_map(|block| self.shown.told(block.item.id(), &block.callout().title));
        lines.extend(questions.map(|title| format!("Question: {title}")));
        let blocked = it.blocked.as_deref().map(|text| fold_whitespace(&sanitise(text)));
        lines.extend(blocked.map(|text| format!("Blocked: {text}")));
        let word = |text: &Option<String>| {
            text.as_deref().map(|text| fold_whitespace(&sanitise(text))).filter(|it| !it.is_empty())
        };
        for (name, value) in [
            ("Since", &it.since),
            ("Files", &it.files),
            ("Left out", &it.left_out),
            ("Base", &it.base),
            ("Restore", &it.restore),
        ] {
            lines.extend(word(value).map(|text| format!("{name}: {text}")));
        }
        let kind = word(&it.kind).unwrap_or_else(|| "manual".to_owned());
        let title = fold_whitespace(&sanitise(&it.title));
        let title = if title.is_empty() { kind } else { format!("{kind}: {title}") };
        let stamp: String = time::format(at).replace('T', "-").chars().filter(|c| !matches!(c, ':' | 'Z')).collect();
        // `2026-11-20-100212`: the date's dashes go.
        let stamp = stamp.replacen('-', "", 2);
        let own = it.id.as_deref().filter(|id| is_id(id));
        if let Some(id) = own.filter(|id| self.known.has(id)) {
            return id.to_owned();
        }
        let id = self.known.claim(&own.map_or_else(|| format!("cp-{stamp}"), str::to_owned));
        let callout =
            Callout { id: Some(id.clone()), body: lines.join("\n"), ..item::callout("checkpoint", title, None) };
        self.place(Item::Callout(callout), it.after.as_deref());
        id
    }
}

/// Whether a text can be the id of a checkpoint.
fn is_id(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    text.starts_with("cp-") && text.len() <= 80 && text.chars().all(plain)
}

/// `TASK-008 Rotate signing keys (in_progress)`.
fn open_task(task: &Task, words: &str) -> String {
    let words = fold_whitespace(&sanitise(words));
    let id = if task.id.is_empty() { String::new() } else { format!("{} ", task.id) };
    format!("{id}{words} ({})", task.status)
}

/// Whether an error has no resolution, a question no answer.
pub(super) fn is_open(block: &NoteCallout) -> bool {
    match &block.item {
        Item::Error(it) => it.resolution.is_none(),
        Item::Callout(it) => it.unanswered().is_some(),
        _ => true,
    }
}
