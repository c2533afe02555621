//! One history while it is told: each piece to its events.

use std::borrow::Cow;
use std::rc::Rc;

use jiff::Timestamp;

use super::head::SpecStoryHead;
use super::piece::{PieceKind, Speaker, speaker};
use super::tool::{self, Tool};
use crate::call::tools;
use crate::claude::decision::approved;
use crate::claude::said::{ClaudeSaid, plan_in, tell};
use crate::stream::out::{Fate, Out};
use crate::stream::place::Place;
use cru_session::FileRef;
use cru_session::event::{Call, CallResult, EventKind, Prompt, PromptOrigin, SessionFact, StreamKey, TitleRank};
use cru_session::source::Sink;

/// The answer that a host gives the model where a person refused a call.
const REFUSED: &str = "The user doesn't want to proceed with this tool use.";

/// The state of a history.
pub(super) struct SpecStorySession {
    key: Rc<StreamKey>,
    title: Option<String>,
    /// When it began, until that is told.
    begun: Option<Timestamp>,
    place: Place,
    speaker: Speaker,
    calls: u64,
}

impl SpecStorySession {
    /// A history with that head.
    pub(super) fn new(key: Rc<StreamKey>, head: &SpecStoryHead) -> Self {
        Self {
            key,
            title: head.title.clone(),
            begun: head.time,
            place: Place::default(),
            speaker: Speaker::default(),
            calls: 0,
        }
    }

    /// Tells one piece.
    pub(super) fn piece(&mut self, kind: PieceKind, lines: &[&str], record: u64, sink: &mut dyn Sink) -> Fate {
        if kind == PieceKind::Speaker {
            let next = lines.first().and_then(|line| speaker(line)).unwrap_or_default();
            self.speaker = next;
            return Fate::Shown;
        }
        if kind == PieceKind::Head {
            if let Some(text) = self.title.take() {
                let mut out = Out::new(sink, self.key.clone(), record, None);
                out.quiet(EventKind::Meta(SessionFact::Title { rank: TitleRank::Host, text: text.into() }));
            }
            return Fate::Shown;
        }
        // Old histories have a time at their beginning alone.
        let time = self.speaker.time.or_else(|| self.begun.take());
        let mut out = Out::new(sink, self.key.clone(), record, time);
        if self.speaker.aside {
            return Fate::Skipped("work of a sub-agent");
        }
        match kind {
            PieceKind::Thought => thought(lines, &mut out),
            PieceKind::Tool => self.tool(lines, &mut out),
            _ if self.speaker.is_user => user(lines, &mut out),
            _ => {
                out.emit(EventKind::Reply(lines.join("\n").into()));
                Fate::Shown
            }
        }
    }

    fn tool(&mut self, lines: &[&str], out: &mut Out<'_>) -> Fate {
        let Tool { name, input, output, brief, path, reads, writes } = tool::read(lines);
        self.calls += 1;
        let id = format!("t{}", self.calls);
        // `Shell` is what a person ran.
        let name = if name == "Shell" { "shell".to_owned() } else { name };
        let args = tools::telling(&name, &input, &self.place);
        let known = output.is_some() || brief.is_some();
        let call = Call { id: id.clone().into(), tool: name.into(), args: args.into(), input };
        out.emit(EventKind::Call(call));
        let output = output.unwrap_or_default();
        let start = output.trim_start();
        let denied = start.starts_with(REFUSED);
        let exit = start.strip_prefix("Error: ").unwrap_or(start).strip_prefix("Exit code ");
        let exit = exit.and_then(|rest| rest.lines().next()?.trim().parse::<i32>().ok()).filter(|code| *code != 0);
        let failed =
            denied || exit.is_some() || ["Error: ", "<tool_use_error>"].iter().any(|head| start.starts_with(head));
        let file =
            || path.iter().map(|path| FileRef { path: self.place.show(path).into_owned(), ..FileRef::default() });
        let is = |claimed: bool| if claimed && !failed { file().collect() } else { Vec::new() };
        let brief = match brief {
            Some(brief) => Some(brief),
            None if !known => Some("answer not recorded".to_owned()),
            None if reads && !failed => Some(cru_base::text::plural(output.lines().count() as u64, "line")),
            None if writes => Some("written".to_owned()),
            None => None,
        };
        let (reads, writes) = (is(reads && known), is(writes));
        out.emit(EventKind::Result(CallResult {
            call: id.into(),
            output: output.into(),
            brief: brief.map(Cow::Owned),
            failed,
            denied,
            exit,
            reads,
            writes,
            ..CallResult::default()
        }));
        Fate::Shown
    }
}

/// What a person, or the host in their name, said.
fn user(lines: &[&str], out: &mut Out<'_>) -> Fate {
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
            out.emit(EventKind::Interrupt { call: None });
            return Fate::Shown;
        }
        ClaudeSaid::Nothing(reason) => return Fate::Skipped(reason),
        _ => return Fate::Skipped("words of the host"),
    };
    if words.trim().is_empty() {
        return Fate::Skipped("empty message");
    }
    out.emit(EventKind::Prompt(Prompt { text: words.into_owned().into(), origin, attachments: Vec::new() }));
    Fate::Shown
}

/// What stands between the marks of a thought.
fn thought(lines: &[&str], out: &mut Out<'_>) -> Fate {
    let text = lines.join("\n");
    let text = text.split_once("</summary>").map_or(text.as_str(), |(_, rest)| rest);
    let text = text.trim_end().trim_end_matches("</think>").trim_end_matches("</details>").trim();
    if text.is_empty() {
        return Fate::Skipped("empty message");
    }
    out.emit(EventKind::Thinking(text.into()));
    Fate::Shown
}
