//! Whether a session shows a step of a workflow, whatever the steps of its own workflow are called and where they begin.
//!
//! A step made from one session rarely begins and ends where the same work of another does. So what a step names is looked
//! for in the session itself: its commands among the calls, words that it quotes among those of people, files among those
//! that were touched. What it says in other words is no proof.

use std::collections::HashSet;

use super::align::unnumbered_state;
use super::key::{command_keys, programs};
use super::model::{Part, RemarkKind, Step};
use super::text::{Piece, leading_code, pieces};
use cru_action::{Action, ToolKind};
use cru_base::Span;
use cru_session::words::shorten::file_name;
use cru_session::{Item, Session};

/// Share of the commands of a step that a session has to show.
const MOST: f64 = 0.5;
/// Words of a quotation that tell.
const LEAST_WORDS: usize = 3;
/// Files of a step that tell, where it names no command.
const LEAST_FILES: usize = 2;
/// Bytes of a person's words that are compared.
const MAX_HEARD: usize = 400_000;

/// Programs that search in files.
const SEARCHES: &[&str] = &["grep", "egrep", "rg", "ag", "ack"];

/// What a session shows.
#[derive(Debug, Default)]
pub(super) struct Shown<'a> {
    calls: Vec<ShownCall<'a>>,
    /// What people said, letters and digits in lower case with single blanks between.
    said: Vec<(String, Span, &'a str)>,
    /// Names of files that were touched or named in calls, in lower case.
    files: HashSet<String>,
}

/// A call in a shell.
#[derive(Debug)]
struct ShownCall<'a> {
    keys: Vec<String>,
    programs: Vec<String>,
    text: String,
    span: Span,
    phase: &'a str,
}

/// Where a session shows a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place<'a> {
    pub(super) span: Span,
    pub(super) phase: &'a str,
}

impl<'a> Shown<'a> {
    /// Of a session. Linear in it.
    pub(super) fn of(session: &'a Session) -> Self {
        let mut shown = Self::default();
        let mut heard = 0;
        for phase in &session.phases {
            for item in &phase.items {
                match item {
                    Item::Step(step) => {
                        let refs = step.reads.iter().chain(&step.writes);
                        shown.files.extend(refs.map(|file| file_name(&file.path).to_lowercase()));
                        let action = Action::of(&step.tool, step.full_args());
                        // A search by a tool of the host is what others do with these programs.
                        if action.kind == ToolKind::Search {
                            shown.calls.push(ShownCall {
                                keys: Vec::new(),
                                programs: SEARCHES.iter().map(|program| (*program).to_owned()).collect(),
                                text: step.full_args().to_lowercase(),
                                span: step.span,
                                phase: &phase.id,
                            });
                        }
                        if action.kind != ToolKind::Shell || step.status == cru_session::StepStatus::Denied {
                            continue;
                        }
                        let text = step.full_args();
                        shown.files.extend(files(text));
                        shown.calls.push(ShownCall {
                            keys: command_keys(text).into_iter().map(|(key, _)| key).collect(),
                            programs: programs(text),
                            text: text.to_lowercase(),
                            span: step.span,
                            phase: &phase.id,
                        });
                    }
                    Item::User(user) if heard < MAX_HEARD => {
                        heard += user.words.len();
                        shown.said.push((letters(&user.words), user.callout.span, &phase.id));
                    }
                    _ => {}
                }
            }
        }
        shown
    }

    /// The first place where the session shows a step; `None` where it does not, or where the step names nothing that
    /// could be looked for.
    pub(super) fn find(&self, step: &Step) -> Option<Place<'a>> {
        let mut commands: Vec<&str> = Vec::new();
        let mut quoted: Vec<String> = Vec::new();
        let mut named: HashSet<String> = HashSet::new();
        for part in &step.parts {
            match part {
                Part::Command(it) if !it.is_attempt() => commands.push(&it.command),
                Part::Script(it) => commands.push(&it.text),
                Part::Gate(it) => quoted.extend(quotations(&it.title).chain(quotations(&it.body))),
                Part::Remark(it) if it.kind != RemarkKind::After => {
                    quoted.extend(quotations(&it.text));
                    named.extend(files(&it.text));
                }
                Part::Prose(it) => quoted.extend(quotations(&it.markdown)),
                Part::Flow(flow) => {
                    let operands = flow.stages.iter().flatten().map(|it| unnumbered_state(&it.name));
                    named.extend(operands.flat_map(files));
                }
                _ => {}
            }
        }
        let places: Vec<Option<Place<'a>>> = commands.iter().map(|command| self.call(command)).collect();
        let shown = places.iter().flatten().count();
        if shown > 0 && shown as f64 >= places.len() as f64 * MOST {
            return places.into_iter().flatten().min_by_key(|place| place.span.start);
        }
        let heard = quoted.iter().find_map(|words| self.said.iter().find(|(said, ..)| said.contains(words.as_str())));
        if let Some((_, span, phase)) = heard {
            return Some(Place { span: *span, phase });
        }
        let touched = named.iter().filter(|name| self.files.contains(*name)).count();
        if !commands.is_empty() || touched < LEAST_FILES || touched * 2 < named.len() {
            return None;
        }
        let of_file = |call: &&ShownCall<'a>| named.iter().any(|name| call.text.contains(name.as_str()));
        let call = self.calls.iter().find(of_file).map(|call| Place { span: call.span, phase: call.phase });
        call.or_else(|| self.said.first().map(|(_, span, phase)| Place { span: *span, phase }))
    }

    /// The first call that runs what a command of a workflow does: all its programs with their verbs, and half of its words
    /// that are no names to fill in.
    fn call(&self, command: &str) -> Option<Place<'a>> {
        let keys: Vec<String> = command_keys(command).into_iter().map(|(key, _)| key).collect();
        let wanted = programs(command);
        let words = literals(command);
        let fits = |call: &&ShownCall<'a>| {
            let same = if keys.is_empty() {
                !wanted.is_empty() && wanted.iter().all(|program| call.programs.contains(program))
            } else {
                keys.iter().all(|key| call.keys.contains(key))
            };
            same && {
                let there = words.iter().filter(|word| call.text.contains(word.as_str())).count();
                there * 2 >= words.len()
            }
        };
        self.calls.iter().find(fits).map(|call| Place { span: call.span, phase: call.phase })
    }

    /// Whether a command of a session's own step runs what some command of a workflow does.
    pub(super) fn is_alike(template: &str, command: &str) -> bool {
        let keys = command_keys(template);
        let own: Vec<String> = command_keys(command).into_iter().map(|(key, _)| key).collect();
        !keys.is_empty() && keys.iter().all(|(key, _)| own.contains(key))
    }
}

/// The words of a command that are not to be filled in, in lower case: no option that changes only the output.
fn literals(command: &str) -> Vec<String> {
    let action = Action::of("Bash", command);
    let words = action.commands.iter().flat_map(|it| it.words.iter().skip(1));
    let plain = words.filter(|word| !word.contains(['<', '>', '…', '*', '$', '\n', ' ']) && !word.starts_with('-'));
    plain.map(|word| word.to_lowercase()).collect()
}

/// Names of files in a text, in lower case: words with an extension or in a folder.
fn files(text: &str) -> impl Iterator<Item = String> {
    let edge =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | ',' | ';' | ':' | '=' | '<' | '>');
    let words = text.split(edge).map(|word| word.trim_end_matches(['.', '!', '?']));
    words.filter_map(|word| {
        let name = file_name(word);
        let (stem, extension) = name.rsplit_once('.')?;
        let is_file = !stem.is_empty()
            && (1..=6).contains(&extension.len())
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && name.len() < 120
            && !word.contains("://");
        is_file.then(|| name.to_lowercase())
    })
}

/// Words in quotation marks, as [`letters`]. What stands in code is no quotation.
fn quotations(text: &str) -> impl Iterator<Item = String> {
    let mut found: Vec<String> = Vec::new();
    for piece in pieces(text, false) {
        let Piece::Text(text) = piece else { continue };
        for (open, close) in [('“', '”'), ('"', '"'), ('«', '»')] {
            let mut rest = text;
            while let Some((_, inside)) = rest.split_once(open) {
                let Some((words, after)) = inside.split_once(close) else { break };
                let words = letters(words);
                if words.split(' ').count() >= LEAST_WORDS {
                    found.push(words);
                }
                rest = after;
            }
        }
    }
    found.into_iter()
}

/// Letters and digits in lower case, one blank between words.
fn letters(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// The commands that a step names.
pub(super) fn commands(step: &Step) -> impl Iterator<Item = &str> {
    step.parts.iter().filter_map(|part| match part {
        Part::Command(it) => Some(it.command.as_str()),
        Part::Script(it) => Some(it.text.as_str()),
        Part::Prose(it) => leading_code(it.markdown.trim_start_matches("- ")).map(|(code, _)| code),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_note::Note;

    const SESSION: &str = "---\ntype: session\nsession_id: s\n---\n# T\n\n## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n\
        > [!user]\n> \"Is this true, and reasonable?\"\n\n^u-01\n\n- `Bash gh run list --repo a/b --workflow Publish` → ok ^n-001\n\
        - `Bash grep -rn OldName src/cli` → `3 lines` ^n-002\n- `Edit src/cli/state.go` → ok ^n-003\n    - writes: `src/cli/state.go`\n\
        - `Edit src/cli/main.go` → ok ^n-004\n    - writes: `src/cli/main.go`\n";

    #[test]
    fn steps_are_found_by_what_they_name() {
        let (session, _) = cru_session::read::session(&Note::parse(SESSION));
        let shown = Shown::of(&session);
        for (body, expected) in [
            ("- `gh run list --repo <repo> --workflow Publish --limit 20`", true),
            ("- `gh run list --repo <repo>`\n- `npm view <package>`", true),
            ("- `gh run watch <run>`", false),
            ("- `grep -rnE '<old>' src/cli` — rename each", true),
            ("- `grep -rnE '<old>' web`", false),
            ("> [!gate] The person asks “is this true and reasonable?”", true),
            ("> [!gate] The person agrees", false),
            ("- Open: two edits (main.go, cli/state.go) are not committed", true),
            ("- Open: edits of other.go and more.go", false),
            ("Say what is true.", false),
        ] {
            let text = format!("---\ntype: workflow\ntitle: T\n---\n# T\n\n## Do it @a\n\n{body}\n");
            let (workflow, _) = super::super::parse(&Note::parse(text.as_str()));
            assert_eq!(shown.find(&workflow.steps[0]).is_some(), expected, "{body}");
        }
    }
}
