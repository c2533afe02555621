//! A workflow with what its lines cite below each: for a person who decides about it.

use std::fmt::Write as _;

use crate::base::Result;
use crate::base::text::{one_line, truncate};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, reading};
use crate::session::{Item, Session};
use crate::vault::Catalog;
use crate::workflow::Workflow;
use crate::workflow::recipe::ids;

/// Characters of a line of the record.
const LONGEST: usize = 200;

/// The text of a note with the cited steps and words below each line.
pub(super) fn beside(text: &str, workflow: &Workflow, cx: &Context<'_>) -> Result<String> {
    let vault = reading::vault(cx)?;
    let catalog = Catalog::read(&vault);
    let mut sessions: Vec<Session> = Vec::new();
    for source in &workflow.sources {
        let head = catalog.session(&source.target, &vault, cx.env)?;
        cx.global.reach.check(&head.meta)?;
        sessions.push(vault.load(&head.path)?.session);
    }
    let mut out = String::new();
    for line in text.lines() {
        let _ = writeln!(out, "{}", one_line_of(line));
        let mut told: Vec<&str> = Vec::new();
        for id in ids(line) {
            if told.contains(&id) {
                continue;
            }
            told.push(id);
            for said in sessions.iter().filter_map(|session| line_of(session, id)) {
                let said = truncate(&one_line(&said), LONGEST).into_owned();
                let _ = writeln!(out, "    {} {}", paint(style::ID, id), paint(style::DIM, said));
            }
        }
    }
    Ok(out)
}

/// A line of a note as it can stand on a terminal.
fn one_line_of(line: &str) -> String {
    crate::base::text::sanitise(line).into_owned()
}

/// What a block of a session says.
fn line_of(session: &Session, id: &str) -> Option<String> {
    if let Some((_, step)) = session.steps().find(|(_, step)| step.id.as_deref() == Some(id)) {
        let result = step.result.as_deref().map_or_else(String::new, |result| format!(" → {result}"));
        return Some(format!("{} {}{result} [{}]", step.tool, step.full_args(), step.status.name()));
    }
    let said = session.items().find_map(|(_, item)| match item {
        Item::User(user) if user.callout.id.as_deref() == Some(id) => Some(format!("person: {}", user.words)),
        _ => None,
    });
    said.or_else(|| {
        let phase = session.phases.iter().find(|phase| phase.id == id)?;
        Some(format!("phase: {}", phase.title))
    })
}
