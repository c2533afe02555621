//! The lines that stand below the steps of a ledger: what calls printed and changed, as much of it as a prompt has room for.

use std::collections::HashMap;
use std::fmt::Write as _;

use cru_base::text::{plural, sanitise};
use cru_session::attempt::is_shell;
use cru_session::{Session, Step, StepStatus};

use crate::full_text::FullText;

/// Characters of all lines of a session that is shown with more than the least of each step.
const ALL: usize = 16_000;
/// The least that is shown of each step where a session is long.
const LEAST: Room = Room { decides: 400, does: 200, looks: 0, change: 240 };

/// Characters that are shown of a step.
#[derive(Clone, Copy, Debug)]
struct Room {
    /// Of the output of one that failed or checked something.
    decides: usize,
    /// Of the output of a command that does something.
    does: usize,
    /// Of the output of a command that only looks.
    looks: usize,
    /// Of the lines that an edit takes out, and of those that it puts in.
    change: usize,
}

impl Room {
    /// From the most to the least; sessions differ by a factor of a thousand, so each step halves.
    fn all() -> impl Iterator<Item = Self> {
        [8, 4, 2].into_iter().map(|n| Self {
            decides: LEAST.decides * n,
            does: LEAST.does * n,
            looks: LEAST.does * n / 2,
            change: LEAST.change * n,
        })
    }
}

/// A line that stands below a step: a proof may name it by its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShownLine {
    /// `>` for a line of the output, `-` and `+` for lines that an edit took out and put in.
    mark: char,
    /// How many lines are left out before it.
    skipped: usize,
    /// The line, cut where it is long.
    pub(super) text: String,
}

/// The lines below each step, by its id: as many as a prompt has room for.
pub(super) fn shown(session: &Session, full: &HashMap<String, FullText>) -> HashMap<String, Vec<ShownLine>> {
    let of = |room: &Room, most: usize| {
        let (mut lines, mut size) = (HashMap::new(), 0);
        for (_, step) in session.steps() {
            let Some((id, full)) = step.id.as_ref().and_then(|id| Some((id, full.get(id)?))) else { continue };
            let of_step = shown_lines(step, full, room);
            size += of_step.iter().map(|line| line.text.len()).sum::<usize>();
            if size > most {
                return None;
            }
            lines.insert(id.clone(), of_step);
        }
        Some(lines)
    };
    Room::all().find_map(|room| of(&room, ALL)).or_else(|| of(&LEAST, usize::MAX)).unwrap_or_default()
}

/// What a step printed, as far as its line does not say it, and the first lines that it changed in files.
fn shown_lines(step: &Step, full: &FullText, room: &Room) -> Vec<ShownLine> {
    let mut lines = output_of(step, full, room);
    // What a call that failed was to change did not change.
    if took_no_effect(step) {
        return lines;
    }
    for (mark, changed) in [('-', &full.removed), ('+', &full.added)] {
        let changed = changed.iter().map(|line| sanitise(line)).filter(|line| !line.trim().is_empty());
        let mut left = room.change;
        for line in changed {
            if left == 0 {
                break;
            }
            // Cut between words and marked, as a quote may not end inside a word.
            let text = cut_at_word(line.trim_end(), left);
            left = left.saturating_sub(text.chars().count() + 1);
            if text.chars().any(char::is_alphanumeric) || text == line.trim_end() {
                lines.push(ShownLine { mark, skipped: 0, text });
            }
        }
    }
    lines
}

/// Whether a call changed nothing of what it was to change: an edit that failed. A command that failed may have.
pub(super) fn took_no_effect(step: &Step) -> bool {
    step.status == StepStatus::Failed && !is_shell(&step.tool)
}

/// The beginning and the end of an output. A quarter of the room is that of the beginning: the end tells how it ended.
fn output_of(step: &Step, full: &FullText, room: &Room) -> Vec<ShownLine> {
    let decides = step.status != StepStatus::Complete || step.verdict().is_some();
    let room = match () {
        () if decides => room.decides,
        // What an edit answers says what the call says.
        () if !is_shell(&step.tool) => 0,
        () if step.action().is_read_only() => room.looks,
        () => room.does,
    };
    let output = sanitise(&full.result);
    if room == 0 || step.result.as_deref().is_some_and(|known| known.trim() == output.trim()) {
        return Vec::new();
    }
    let all: Vec<&str> = output.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let is_long = all.iter().map(|line| line.chars().count() + 1).sum::<usize>() > room;
    let fill = |lines: &mut dyn Iterator<Item = &&str>, room: usize| {
        let (mut taken, mut left) = (Vec::new(), room);
        for line in lines {
            if left == 0 {
                break;
            }
            let text = cut_at_word(line, room);
            left = left.saturating_sub(text.chars().count() + 1);
            taken.push(text);
        }
        taken
    };
    let head = if is_long { fill(&mut all.iter(), room / 4) } else { Vec::new() };
    let rest = &all[head.len()..];
    let mut tail = fill(&mut rest.iter().rev(), if is_long { room - room / 4 } else { room });
    tail.reverse();
    let middle = &rest[..rest.len() - tail.len()];
    // The line that says why stands above the end of a long output.
    let told = cru_session::fold::result_line(&output, true);
    let why = middle.iter().position(|line| step.status == StepStatus::Failed && line.trim() == told);
    let mut lines: Vec<ShownLine> = Vec::with_capacity(head.len() + tail.len() + 1);
    let line = |skipped: usize, text: String| ShownLine { mark: '>', skipped, text };
    lines.extend(head.into_iter().map(|text| line(0, text)));
    lines.extend(why.map(|at| line(at, cut_at_word(middle[at], room))));
    let skipped = middle.len() - why.map_or(0, |at| at + 1);
    lines.extend(tail.into_iter().enumerate().map(|(at, text)| line(if at == 0 { skipped } else { 0 }, text)));
    lines
}

/// The lines below a step, numbered, and how many are not shown.
pub(super) fn below(lines: &[ShownLine], full: Option<&FullText>) -> String {
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        if line.skipped > 0 {
            let _ = writeln!(out, "    [{} left out]", plural(line.skipped as u64, "line"));
        }
        let _ = writeln!(out, "    {}{} {}", at + 1, line.mark, line.text);
    }
    let changes = full.into_iter().flat_map(|full| [('-', &full.removed), ('+', &full.added)]);
    for (mark, changed) in changes {
        let all = changed.iter().filter(|line| !line.trim().is_empty()).count();
        let more = all.saturating_sub(lines.iter().filter(|line| line.mark == mark).count());
        if more > 0 {
            let _ = writeln!(out, "    {mark} [{} left out]", plural(more as u64, "line"));
        }
    }
    out
}

/// The beginning of a line up to the last blank before `max` characters, with the mark of a cut; a line of no more than `max`
/// characters is whole.
fn cut_at_word(line: &str, max: usize) -> String {
    let Some((end, _)) = line.char_indices().nth(max) else { return line.to_owned() };
    let head = &line[..end];
    let head = head.rfind(char::is_whitespace).map_or(head, |blank| &head[..blank]);
    format!("{}…", head.trim_end())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ledger::Ledger;

    fn session(count: usize) -> Session {
        let steps: Vec<String> = (1..=count).map(|n| format!("- `Bash git push` → pushed ^n-{n:03}\n")).collect();
        let text = format!(
            "---\ntype: session\nsession_id: s\n---\n# T\n\n## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n{}",
            steps.concat()
        );
        cru_session::read::session(&cru_note::Note::parse(text)).0
    }

    fn texts(count: usize, output: &str) -> HashMap<String, FullText> {
        let full = FullText::of("Bash", &json!({ "command": "git push" }), "git push", Some(output));
        (1..=count).map(|n| (format!("n-{n:03}"), full.clone())).collect()
    }

    #[test]
    fn a_short_output_is_whole_and_keeps_its_blanks() {
        let ledger = Ledger::of(&session(1), false, &texts(1, " M a.rs\n\n?? b.rs\n"));
        let step = "n-001 Bash git push → pushed [ok]\n    1>  M a.rs\n    2> ?? b.rs\n";
        assert!(ledger.phases[0].text.ends_with(step), "{}", ledger.phases[0].text);
        assert_eq!(ledger.lines("n-001").collect::<Vec<_>>(), [" M a.rs", "?? b.rs"]);
    }

    #[test]
    fn of_a_long_output_the_beginning_and_the_end_are_shown() {
        let output: Vec<String> = (1..=500).map(|n| format!("line {n}\n")).collect();
        let text = Ledger::of(&session(1), false, &texts(1, &output.concat())).phases[0].text.clone();
        assert!(text.contains("    1> line 1\n    2> line 2\n") && text.contains(" left out]\n"), "{text}");
        assert!(text.ends_with("line 500\n"), "{text}");
        let shown = text.lines().filter(|line| line.contains("> line ")).count();
        assert!(text.contains(&format!("[{} lines left out]", 500 - shown)), "{text}");
    }

    /// The longer a session, the less of each step; never less than the least.
    #[test]
    fn a_prompt_has_room_for_so_many_lines() {
        let output: Vec<String> = (1..=500).map(|n| format!("line {n}\n")).collect();
        let size = |count: usize| {
            let ledger = Ledger::of(&session(count), false, &texts(count, &output.concat()));
            (1..=count)
                .flat_map(|n| ledger.lines(&format!("n-{n:03}")).map(str::len).collect::<Vec<_>>())
                .sum::<usize>()
        };
        assert!(size(1) > 1_000 && size(8) <= ALL && size(40) <= ALL);
        assert!((LEAST.does / 2..LEAST.does * 2).contains(&(size(900) / 900)));
    }
}
