//! The ledger of a session for an agent: every turn and every step with its id, what it did and how it ended. Where it would
//! be too long each entry becomes shorter; none is left out.

use std::fmt::Write as _;

use cru_action::Verdict;
use cru_base::text::{fold_whitespace, sanitise};
use cru_session::{Item, Session, Step, StepStatus};

/// Characters of an entry, from the most to the fewest.
const WIDTHS: &[usize] = &[4_000, 1_600, 800, 400, 240, 160, 100, 60];

/// The ledger of a session, at most about `room` bytes of it where each entry may be shortened to that.
pub fn ledger(session: &Session, room: usize) -> String {
    let mut text = String::new();
    for &width in WIDTHS {
        text = at_width(session, width);
        if text.len() <= room {
            break;
        }
    }
    text
}

fn at_width(session: &Session, width: usize) -> String {
    let mut out = format!("session {}\n", excerpt(session.meta.session_id.as_deref().unwrap_or(""), width));
    items(&session.preface, width, "", &mut out);
    for phase in &session.phases {
        let _ = writeln!(out, "\n{} phase: {}", phase.id, excerpt(&phase.title, width));
        items(&phase.items, width, "", &mut out);
    }
    out
}

fn items(items: &[Item], width: usize, indent: &str, out: &mut String) {
    for item in items {
        match item {
            Item::User(user) => {
                let id = user.callout.id.as_deref().unwrap_or("");
                let corrects = if user.correction { ", who corrects" } else { "" };
                let _ = writeln!(out, "{indent}{id} the person{corrects}: {}", excerpt(&user.words, width));
            }
            Item::Step(step) => line(step, width, indent, out),
            Item::Prose(prose) => {
                let _ = writeln!(out, "{indent}the agent: {}", excerpt(&prose.text, width));
            }
            Item::Decision(decision) => {
                let text = format!("{} {}", decision.callout.title, decision.text);
                let _ = writeln!(out, "{indent}decision: {}", excerpt(&text, width));
            }
            Item::Error(error) => {
                let text = format!("{} {}", error.callout.title, error.resolution.as_deref().unwrap_or(""));
                let _ = writeln!(out, "{indent}error: {}", excerpt(&text, width));
            }
            Item::Subagent(subagent) => {
                let task = excerpt(subagent.task.as_deref().unwrap_or(""), width);
                let _ = writeln!(out, "{indent}sub-agent: {task}");
                self::items(&subagent.items, width, "  ", out);
            }
            Item::Callout(callout) => {
                let text = format!("{} {}", callout.title, callout.body);
                let _ = writeln!(out, "{indent}{}: {}", excerpt(&callout.kind, 40), excerpt(&text, width));
            }
            Item::Tasks(_) => {}
        }
    }
}

fn line(step: &Step, width: usize, indent: &str, out: &mut String) {
    let id = step.id.as_deref().unwrap_or("");
    let class = format!("{:?}", step.action().class()).to_lowercase();
    let verdict = match (step.verdict(), step.status) {
        (Some(Verdict::Passed), _) => "check passed",
        (Some(Verdict::Failed), _) => "check failed",
        (Some(Verdict::Unknown), _) => "check, outcome unknown",
        (None, StepStatus::Failed) => "failed",
        (None, StepStatus::Denied) => "denied",
        (None, StepStatus::Complete) => "done",
        (None, _) => "not ended",
    };
    let args = excerpt(step.full_args(), width);
    let printed = step.output.as_deref().or(step.result.as_deref()).map(|text| excerpt(text, width));
    let writes: Vec<&str> = step.writes.iter().map(|file| file.path.as_str()).take(12).collect();
    let _ = write!(out, "{indent}{id} [{class}; {verdict}] {} {args}", excerpt(&step.tool, 80));
    if !writes.is_empty() {
        let _ = write!(out, " | writes {}", excerpt(&writes.join(", "), width));
    }
    match printed {
        Some(printed) if !printed.is_empty() => {
            let _ = writeln!(out, " | printed: {printed}");
        }
        _ => out.push('\n'),
    }
}

/// The beginning and the end of a text on one line.
fn excerpt(text: &str, width: usize) -> String {
    let text = fold_whitespace(&sanitise(text));
    let length = text.chars().count();
    if length <= width {
        return text;
    }
    let head: String = text.chars().take(width * 2 / 3).collect();
    let tail: String = text.chars().skip(length - width / 3).collect();
    format!("{} […] {}", head.trim_end(), tail.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_note::Note;

    #[test]
    fn no_entry_is_left_out() {
        let mut text = "---\ntype: session\nsession_id: s\n---\n# T\n\n## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"Mend it\"\n\n^u-01\n\n".to_owned();
        for n in 1..=300 {
            let _ = writeln!(text, "- `Bash echo {n} {}` → ok ^n-{n:03}", "long ".repeat(30));
        }
        let (session, _) = cru_session::read::session(&Note::parse(text));
        for room in [1, 10_000, 1_000_000] {
            let ledger = ledger(&session, room);
            assert!((1..=300).all(|n| ledger.contains(&format!("\nn-{n:03} ["))), "{room}");
            assert!(ledger.contains("u-01 the person: Mend it"));
        }
        assert!(ledger(&session, 40_000).len() <= 40_000);
    }
}
