//! One history while it is told: each piece to its events.

use std::borrow::Cow;

use jiff::Timestamp;

use super::head::{SpecStoryHead, is_first};
use super::piece::{PieceKind, Speaker, SpecStoryPiece, finished, pieces, speaker};
use super::tool::{self, Tool};
use crate::call::touched::TouchedFiles;
use crate::call::{argument, patch, task_list, tools};
use crate::claude::assistant::{SYNTHETIC, synthetic};
use crate::claude::decision::approved;
use crate::claude::said::{ClaudeSaid, plan_in, tell};
use crate::file::markdown::History;
use crate::stream::out::{Out, changed};
use crate::stream::place::Place;
use cru_session::FileRef;
use cru_session::event::{CallResult, EventKind, PromptOrigin, SessionFact};

/// The answer that a host gives the model where a person refused a call.
const REFUSED: &str = "The user doesn't want to proceed with this tool use.";

/// The state of a history.
#[derive(Default)]
pub(super) struct SpecStorySession {
    title: Option<String>,
    agent: Option<String>,
    model: String,
    /// When it began, until that is told.
    begun: Option<Timestamp>,
    place: Place,
    speaker: Speaker,
    calls: u64,
}

impl History for SpecStorySession {
    type Kind = PieceKind;

    fn begins(number: u64, _: &str) -> bool {
        number == 1
    }

    fn of(lines: &[&str]) -> (String, Option<Timestamp>, Self) {
        let head = SpecStoryHead::of(lines);
        (head.identity(), head.time, Self { title: head.title, agent: head.agent, begun: head.time, ..Self::default() })
    }

    fn whole(lines: &[&str]) -> usize {
        finished(lines)
    }

    fn blocks<'l>(lines: &[&'l str]) -> Vec<SpecStoryPiece<'l>> {
        pieces(lines)
    }

    fn tell(&mut self, piece: &SpecStoryPiece<'_>, out: &mut Out<'_>) -> Option<&'static str> {
        let first = piece.lines.first().unwrap_or(&"");
        if piece.kind == PieceKind::Untold {
            out.changes_untold();
        }
        match piece.kind {
            PieceKind::Rule | PieceKind::Untold if first.trim() == "---" => return Some("line between turns"),
            PieceKind::Head if is_first(first) => return None,
            PieceKind::Head => {
                out.title(self.title.take().as_deref());
                out.facts(self.agent.take().map(|agent| SessionFact::Agent(agent.into())));
                return None;
            }
            PieceKind::Speaker => {
                self.speaker = speaker(first).unwrap_or_default();
                return None;
            }
            _ => {}
        }
        // Old histories have a time at their beginning alone.
        out.time = self.speaker.time.or_else(|| self.begun.take());
        if self.speaker.aside {
            return Some("work of a sub-agent");
        }
        let model = self.speaker.model.as_deref().unwrap_or_default();
        if model == SYNTHETIC {
            return synthetic(&piece.lines.join("\n"), false, out);
        }
        out.model(changed(&mut self.model, model));
        match piece.kind {
            PieceKind::Thought => thought(&piece.lines, out),
            PieceKind::Tool => self.tool(&piece.lines, out),
            _ if self.speaker.is_user => user(&piece.lines, out),
            _ => {
                out.emit(EventKind::Reply(piece.lines.join("\n").into()));
                None
            }
        }
    }
}

impl SpecStorySession {
    fn tool(&mut self, lines: &[&str], out: &mut Out<'_>) -> Option<&'static str> {
        let Tool { name, input, output, brief, path, reads, writes, failed } = tool::read(lines);
        if lines.first().is_some_and(|line| line.starts_with("```")) {
            // What a tool changed that is not named, nobody knows.
            out.changes_untold();
        }
        self.calls += 1;
        let id = format!("t{}", self.calls);
        task_list::tell(&name, &input, out);
        let mut touched = TouchedFiles::default();
        let patched = argument::patched(&name, &input, &self.place);
        let args = tools::telling(&name, &input, &self.place);
        let known = output.is_some() || brief.is_some();
        out.call(&id, name, args, input);
        let output = output.unwrap_or_default();
        let start = output.trim_start();
        let denied = start.starts_with(REFUSED);
        let exit = start.strip_prefix("Error: ").unwrap_or(start).strip_prefix("Exit code ");
        let exit = exit.and_then(|rest| rest.lines().next()?.trim().parse::<i32>().ok()).filter(|code| *code != 0);
        let heads = [REFUSED, "Error: ", "<tool_use_error>"];
        let failed = failed || exit.is_some() || heads.iter().any(|head| start.starts_with(head));
        let file = path.map(|path| FileRef { path: self.place.show(&path).into_owned(), ..FileRef::default() });
        if !failed {
            touched.reads.extend(file.clone().filter(|_| reads && known));
            touched.writes.extend(file.filter(|_| writes));
            patch::written(if writes { &patched } else { &[] }, &mut touched);
        }
        let brief = match brief {
            Some(brief) => Some(patch::brief(&patched).unwrap_or(brief)),
            None if !known => Some("answer not recorded".to_owned()),
            None if reads && !failed => Some(cru_base::text::plural(output.lines().count() as u64, "line")),
            None if writes => Some("written".to_owned()),
            None => None,
        };
        out.emit(EventKind::Result(CallResult {
            call: id.into(),
            output: output.into(),
            brief: brief.map(Cow::Owned),
            failed,
            denied,
            exit,
            ..touched.into()
        }));
        None
    }
}

/// What a person, or the host in their name, said.
fn user(lines: &[&str], out: &mut Out<'_>) -> Option<&'static str> {
    let text = lines.join("\n");
    let (words, origin): (Cow<'_, str>, _) = match tell(&text) {
        ClaudeSaid::Words(words) => (words, PromptOrigin::Typed),
        ClaudeSaid::Plan(text) => {
            out.emit(EventKind::Decision(approved(plan_in(&text), None)));
            (text, PromptOrigin::Typed)
        }
        ClaudeSaid::Command(line) => (line.into(), PromptOrigin::Command),
        ClaudeSaid::Shell(line) => (line, PromptOrigin::Shell),
        ClaudeSaid::Interrupt { .. } => {
            out.emit(EventKind::Interrupt { call: None, unnamed: false });
            return None;
        }
        ClaudeSaid::Nothing(reason) => return Some(reason),
        _ => return Some("words of the host"),
    };
    if words.trim().is_empty() {
        return Some("empty message");
    }
    out.prompt(words, origin);
    None
}

/// What stands between the marks of a thought.
fn thought(lines: &[&str], out: &mut Out<'_>) -> Option<&'static str> {
    let text = lines.join("\n");
    let text = text.split_once("</summary>").map_or(text.as_str(), |(_, rest)| rest);
    let text = text.trim_end().trim_end_matches("</think>").trim_end_matches("</details>").trim();
    if text.is_empty() {
        return Some("empty message");
    }
    out.emit(EventKind::Thinking(text.into()));
    None
}
