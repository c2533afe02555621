//! What edits changed, as far as the record has it: how many lines, the step, and the lines themselves, folded away: the largest edits first where room is short. A document
//! that was written is words, and stands there as such.

use foldhash::HashMap;

use super::call::{Call, CallKind};
use super::draft::Draft;
use super::whole::Whole;
use super::{block_link, clean, file_type};
use crate::evidence::FileDiff;
use crate::model::{Part, RemarkKind};
use crate::text::{code_span, longest_run};
use cru_base::text::{plural, sanitise, truncate};
use cru_graph::Place;

/// Edits of a step that are told one by one.
const MAX_TOLD: usize = 60;
/// Lines of an edit of code that are shown.
const MAX_DIFF: usize = 120;
/// Lines of a document that are shown.
const MAX_DOCUMENT: usize = 300;
/// Lines of a step that are shown, all edits together.
const ROOM: usize = 900;
/// Lines of an edit that is shown whatever room is left.
const SMALL: usize = 12;
/// Small edits of a step that are shown where no room is left.
const MAX_SMALL: usize = 16;
/// Characters of a line of an edit that is shown.
const MAX_LINE: usize = 300;
/// Files of an edit that are told.
const MAX_FILES: usize = 8;
/// Edits that are told, under construction.
#[derive(Debug, Default)]
pub(super) struct Changes {
    told: usize,
    /// Lines of each edit that have room, by the places of its call.
    room: HashMap<Place, usize>,
    small: usize,
    /// Files of edits that are not told.
    more: Vec<String>,
}

impl Changes {
    /// Of a step: the largest edits have room first.
    pub(super) fn of(draft: &Draft<'_>, whole: &Whole<'_>) -> Self {
        let mut edits: Vec<(Place, usize)> = Vec::new();
        for call in draft.calls().filter(|call| call.kind == CallKind::Edit && call.succeeded()).take(MAX_TOLD) {
            let lines = known(call, whole).iter().map(|it| it.lines.len().min(bound(&it.path))).sum::<usize>();
            edits.push((call.place, lines));
        }
        edits.sort_by_key(|(_, lines)| std::cmp::Reverse(*lines));
        let mut left = ROOM;
        let mut room = HashMap::default();
        for (place, lines) in edits {
            let own = lines.min(left);
            left -= own;
            room.insert(place, own);
        }
        Self { room, ..Self::default() }
    }

    /// The parts for one edit.
    pub(super) fn parts(&mut self, call: &Call<'_>, whole: &Whole<'_>) -> Vec<Part> {
        let paths: Vec<&str> = call.writes.iter().map(AsRef::as_ref).filter(|it| !cru_action::is_scratch(it)).collect();
        if paths.is_empty() {
            return Vec::new();
        }
        if self.told == MAX_TOLD {
            self.more.extend(paths.into_iter().map(str::to_owned));
            return Vec::new();
        }
        self.told += 1;
        let id = call.step.id.as_deref();
        let known = known(call, whole);
        let counted = call.step.result.as_deref().filter(|result| is_count(result));
        let mut files: Vec<String> = Vec::new();
        for path in paths.iter().take(MAX_FILES) {
            let of_path: Vec<&FileDiff> =
                known.iter().copied().filter(|it| paths.len() == 1 || is_same_file(&it.path, path)).collect();
            let whole_file = call.step.writes.iter().any(|file| file.created && file.path.ends_with(path));
            let mut text = code_span(&clean(path));
            let complete = !of_path.is_empty() && of_path.iter().all(|it| it.more == 0);
            if let Some(counted) = counted.filter(|_| paths.len() == 1) {
                text.push_str(&format!(" {counted}"));
            } else if complete {
                let count = |mark| of_path.iter().map(|it| it.count(mark)).sum::<usize>();
                text.push_str(&format!(" +{} −{}", count('+'), count('-')));
            }
            if whole_file {
                text.push_str(", a new file");
            }
            files.push(text);
        }
        let mut text = files.join("; ");
        if paths.len() > MAX_FILES {
            text.push_str(&format!("; and {}", plural((paths.len() - MAX_FILES) as u64, "other file")));
        }
        if let Some(id) = id {
            text.push_str(&format!(" ({})", block_link(whole.note, id)));
        }
        if let Some(replaced) = whole.replaced(call) {
            text.push_str(&format!("; {replaced}"));
        }
        let mut parts = vec![Part::remark(RemarkKind::Changed, text)];
        let mut room = self.room.get(&call.place).copied().unwrap_or_default();
        let lines = known.iter().map(|it| it.lines.len()).sum::<usize>();
        if room == 0 && (1..=SMALL).contains(&lines) && self.small < MAX_SMALL {
            self.small += 1;
            room = SMALL;
        }
        for change in known.into_iter().filter(|it| it.count('+') + it.count('-') > 0) {
            if room == 0 {
                break;
            }
            let named = paths.iter().find(|path| paths.len() == 1 || is_same_file(&change.path, path));
            let most = room.min(bound(&change.path));
            room -= change.lines.len().min(most);
            let link = id.map(|id| block_link(whole.note, id));
            parts.push(shown(change, named.copied().unwrap_or(&change.path), most, link.as_deref()));
        }
        parts
    }

    /// What is said of the edits that are not told.
    pub(super) fn rest(self) -> Option<Part> {
        let count = self.more.len();
        let mut names = self.more;
        names.sort_unstable();
        names.dedup();
        let shown: Vec<String> = names.iter().take(MAX_FILES).map(|path| code_span(&clean(path))).collect();
        let text = format!("{} more, of {}", plural(count as u64, "edit"), shown.join(", "));
        (count > 0).then(|| Part::remark(RemarkKind::Plain, text))
    }
}

/// Whether a result is the count of lines that an import writes: `+5 −1`.
fn is_count(result: &str) -> bool {
    let mut words = result.split(' ');
    let number = |word: Option<&str>, mark: char| {
        word.and_then(|word| word.strip_prefix(mark))
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    number(words.next(), '+') && number(words.next(), '−') && words.next().is_none()
}

/// Whether a path of the transcript names a file of the note: the one may be absolute.
fn is_same_file(own: &str, path: &str) -> bool {
    own == path || own.strip_suffix(path).is_some_and(|before| before.ends_with(['/', '\\']))
}

/// What the transcript has of the files that a call changed. A patch of several files may be several steps.
fn known<'w>(call: &Call<'_>, whole: &Whole<'w>) -> Vec<&'w FileDiff> {
    let all = whole.evidence.changes(call.step.id.as_deref());
    let is_own = |it: &&FileDiff| all.len() == 1 || call.writes.iter().any(|path| is_same_file(&it.path, path));
    all.iter().filter(is_own).collect()
}

/// Lines of an edit of a file that are shown at most.
fn bound(path: &str) -> usize {
    if file_type::is_document(path) { MAX_DOCUMENT } else { MAX_DIFF }
}

/// The first `most` lines of an edit, folded away: of a document that is new the words themselves, else what came and went.
/// `link` leads to the step that has all of them.
fn shown(change: &FileDiff, path: &str, most: usize, link: Option<&str>) -> Part {
    let is_text = file_type::is_document(path) && change.lines.iter().all(|(mark, _)| *mark == '+');
    let longest = change.lines.iter().map(|(_, line)| longest_run(line)).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let (kind, language) = if is_text { ("document", "markdown") } else { ("diff", "diff") };
    let mut text = format!("> [!{kind}]- {}\n> {fence}{language}\n", super::inline(path));
    for (mark, line) in change.lines.iter().take(most) {
        let line = sanitise(line);
        let mark = if is_text { String::new() } else { mark.to_string() };
        text.push_str(&format!("> {mark}{}", truncate(line.trim_end(), MAX_LINE)));
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    text.push_str(&format!("> {fence}"));
    let left = change.lines.len().saturating_sub(most) + change.more;
    if left > 0 {
        let at = link.map_or_else(String::new, |link| format!(" (all of it: {link})"));
        text.push_str(&format!("\n>\n> … {}{at}", plural(left as u64, "more line")));
    }
    Part::prose(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_and_went() {
        let lines = [('-', "fn old() {"), ('-', "fn both(a: u8) {"), ('+', "fn both(a: u16) {"), ('+', "fn new() {")];
        let lines = lines.map(|(mark, line)| (mark, line.to_owned())).to_vec();
        let change = FileDiff { path: "a.rs".into(), lines, ..FileDiff::default() };
        let Part::Prose(prose) = shown(&change, "a.rs", 10, None) else { panic!() };
        assert_eq!(
            prose.markdown,
            "> [!diff]- a.rs\n> ```diff\n> -fn old() {\n> -fn both(a: u8) {\n> +fn both(a: u16) {\n> +fn new() {\n> ```"
        );
    }

    #[test]
    fn counts_are_known() {
        assert!(is_count("+5 −1") && !is_count("ok") && !is_count("+5") && !is_count("+5 −1 x"));
    }
}
