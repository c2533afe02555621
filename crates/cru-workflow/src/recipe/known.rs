//! What an answer may name: agents, channels, files, commands and quotations of the extract and of the cited steps.

use std::collections::BTreeSet;

use cru_base::Span;

use super::cited::{Cited, ids};
use super::{is_section, letters, texts};
use crate::align::unnumbered_state;
use crate::model::{Part, Step, Workflow};
use crate::unify::unifies;

/// What an answer may name.
pub(super) struct Known<'a> {
    agents: BTreeSet<&'a str>,
    channels: BTreeSet<&'a str>,
    files: BTreeSet<&'a str>,
    /// Texts in which a file may be named.
    naming: Vec<&'a str>,
    /// Commands.
    run: Vec<&'a str>,
    /// Commands of which it is said that they pass.
    passing: Vec<&'a str>,
    /// What is told, letters and digits in lower case.
    telling: Vec<String>,
    cited: &'a Cited,
}

/// Something that is wrong: code, place, message.
pub(super) type Wrong = (&'static str, Span, String);

impl<'a> Known<'a> {
    pub(super) fn of(extract: &'a Workflow, cited: &'a Cited) -> Self {
        let parts = || extract.preface.iter().chain(extract.steps.iter().flat_map(|step| &step.parts));
        let of_checks = || extract.checks.iter().filter_map(|check| check.command.as_deref());
        let scripts = parts().filter_map(|part| match part {
            Part::Command(it) => Some(it.command.as_str()),
            Part::Script(it) => Some(it.text.as_str()),
            _ => None,
        });
        let run: Vec<&str> = scripts.chain(of_checks()).collect();
        // Words of a person or a remark may name a file too.
        let worded = parts().filter_map(|part| match part {
            Part::Prose(it) => Some(it.markdown.as_str()),
            Part::Remark(it) => Some(it.text.as_str()),
            _ => None,
        });
        let noted = parts().filter_map(|part| match part {
            Part::Command(it) => Some((it.command.as_str(), it.note.as_deref()?)),
            _ => None,
        });
        let checks = extract.checks.iter().filter_map(|it| Some((it.command.as_deref()?, it.text.as_str())));
        let passing = noted.chain(checks).filter(|(_, note)| note.starts_with("pass")).map(|(command, _)| command);
        let stages = extract.steps.iter().flat_map(Step::flows).flat_map(|flow| flow.stages.iter().flatten());
        Self {
            agents: extract.steps.iter().filter_map(|step| Some(step.agent.as_ref()?.name.as_str())).collect(),
            channels: extract.steps.iter().filter_map(|step| step.channel.as_deref()).collect(),
            files: stages.map(|operand| unnumbered_state(&operand.name)).collect(),
            naming: run.iter().copied().chain(worded).collect(),
            passing: passing.collect(),
            telling: texts(extract).collect(),
            run,
            cited,
        }
    }

    /// What a step names that is not known.
    pub(super) fn step(&self, step: &Step, wrong: &mut Vec<Wrong>) {
        if let Some(agent) = step.agent.as_ref().filter(|agent| !self.agents.contains(agent.name.as_str())) {
            wrong.push((
                "refine-agent",
                step.heading_span,
                format!("the agent @{} is not in the skeleton", agent.name),
            ));
        }
        if let Some(channel) = step.channel.as_ref().filter(|channel| !self.channels.contains(channel.as_str())) {
            wrong.push(("refine-channel", step.heading_span, format!("the channel #{channel} is not in the skeleton")));
        }
        for part in &step.parts {
            match part {
                Part::Command(it) => self.command(&it.command, it.note.as_deref().unwrap_or(""), it.span, wrong),
                Part::Script(it) => self.command(&it.text, "", it.span, wrong),
                Part::Flow(flow) => {
                    let operands = flow.stages.iter().flatten();
                    for operand in operands.filter(|operand| !self.knows_file(unnumbered_state(&operand.name))) {
                        let message = format!("the file '{}' is not in the skeleton", unnumbered_state(&operand.name));
                        wrong.push(("refine-file", operand.span, message));
                    }
                }
                Part::Remark(it) if !super::is_free(step) => self.words(&it.text, it.span, wrong),
                Part::Prose(it) if !super::is_free(step) => self.words(&it.markdown, it.span, wrong),
                Part::Gate(it) => self.words(&it.body, it.span, wrong),
                _ => {}
            }
        }
    }

    /// Ids and quotations of a text that no session has.
    pub(super) fn words(&self, text: &str, span: Span, wrong: &mut Vec<Wrong>) {
        if self.cited.is_empty() {
            return;
        }
        for words in quotations(text).filter(|words| !self.says(words)) {
            let message = format!("nobody said “{words}” in the session; quote what was said, or leave the marks");
            wrong.push(("refine-quote", span, message));
        }
        for id in ids(text).into_iter().filter(|id| !self.cited.knows(id)) {
            wrong.push(("refine-cite", span, format!("the session has no {id}")));
        }
    }

    /// Whether a command may stand in an answer, with what is said of it.
    pub(super) fn command(&self, command: &str, note: &str, span: Span, wrong: &mut Vec<Wrong>) {
        let ids = ids(note);
        if !self.ran(command, &ids) {
            let message = if ids.is_empty() {
                "the command is not in the skeleton and cites no step that ran it; cite one behind `—`: (n-014)"
            } else {
                "no step that is cited ran this command; only `<name>` may take the place of a value, and nothing be added"
            };
            wrong.push(("refine-tool", span, message.to_owned()));
        }
        let proven = self.passing.iter().any(|own| unifies(command, own)) || self.cited.passed(&ids);
        if letters(note).starts_with("pass") && !proven {
            wrong.push(("refine-passes", span, "no check that passed is cited for “passes”".to_owned()));
        }
        for id in ids.into_iter().filter(|id| !self.cited.is_empty() && !self.cited.knows(id)) {
            wrong.push(("refine-cite", span, format!("the session has no {id}")));
        }
    }

    /// Whether a command was run: it stands in the extract, or one of the steps ran it.
    pub(super) fn ran(&self, command: &str, ids: &[&str]) -> bool {
        self.run.iter().copied().chain(self.cited.commands(ids)).any(|own| unifies(command, own))
    }

    fn knows_file(&self, name: &str) -> bool {
        if !is_file(name) || self.files.contains(name) {
            return true;
        }
        let within = |known: &str| known.ends_with('/') && name.starts_with(known);
        self.files.iter().any(|known| within(known))
            || self.naming.iter().any(|text| {
                text.match_indices(name).any(|(at, _)| {
                    let edge =
                        |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '/' | '.'));
                    let after = &text[at + name.len()..];
                    let ends = edge(after.chars().next()) || after.starts_with(". ") || after == ".";
                    edge(text[..at].chars().next_back()) && ends
                })
            })
    }

    /// Whether the extract or a session has these words.
    fn says(&self, words: &str) -> bool {
        let in_extract = |part: &str| self.telling.iter().any(|own| own.contains(&letters(part)));
        words.split('…').all(|part| self.cited.has_words(part) || in_extract(part))
    }

    /// Why a line is no part of a recipe: neither the skeleton says it, nor does it cite what proves it.
    pub(super) fn doubt(&self, line: &str) -> Option<String> {
        let own = letters(line);
        if self.telling.iter().any(|telling| telling.contains(&own)) {
            return None;
        }
        if ids(line).is_empty() { Some("it cites nothing".to_owned()) } else { self.unproven(line) }
    }

    /// Why what a line names is not proven.
    pub(super) fn unproven(&self, line: &str) -> Option<String> {
        if self.cited.is_empty() {
            return None;
        }
        let in_extract = |name: &String| self.naming.iter().any(|text| text.contains(name.as_str()));
        let names: Vec<String> = self.cited.unproven(line).into_iter().filter(|name| !in_extract(name)).collect();
        let first = names.first()?;
        Some(if first.len() <= 2 && first.bytes().all(|byte| byte.is_ascii_digit()) {
            format!("the number {first} does not stand in what it cites")
        } else {
            format!("“{first}” stands nowhere in the session")
        })
    }
}

/// Texts between “ and ”.
fn quotations(text: &str) -> impl Iterator<Item = &str> {
    text.split('“').skip(1).filter_map(|rest| Some(rest.split_once('”')?.0))
}

/// Whether a name of data is that of a file.
fn is_file(name: &str) -> bool {
    let is_extension = |text: &str| {
        (1..=6).contains(&text.len())
            && text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    name.contains('/')
        || name.rsplit_once('.').is_some_and(|(stem, extension)| !stem.is_empty() && is_extension(extension))
}

/// Whether a step is a section of that name.
pub(super) fn section<'w>(workflow: &'w Workflow, title: &str) -> impl Iterator<Item = &'w Step> {
    let title = title.to_owned();
    workflow.steps.iter().filter(move |step| is_section(step, &title))
}
