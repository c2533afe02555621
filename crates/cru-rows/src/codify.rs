//! A workflow of the sessions of one cluster, from their notes.

use cru_session::Session;
use cru_workflow::mine::{Source, mine};
use cru_workflow::{Options, Workflow, codify, render};

/// Sessions that a workflow is made of at most: laying them side by side costs more than their sum.
pub const MOST: usize = 200;

/// A workflow, and what it was made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterWorkflow {
    /// `session_uid` of the sessions, sorted.
    pub sessions: Vec<String>,
    /// Sessions of the cluster beyond [`MOST`]: those with the last ids.
    pub left_out: usize,
    /// Its title.
    pub title: String,
    /// Number of steps.
    pub steps: usize,
    /// The workflow as its file says it.
    pub text: String,
    /// What there is to say of it.
    pub diagnostics: Vec<String>,
}

/// Makes a workflow of notes, each with its `session_uid`; of one alone what codify makes of it. The order of notes
/// changes nothing.
pub fn workflow(mut notes: Vec<(String, String)>) -> ClusterWorkflow {
    notes.sort();
    notes.dedup();
    let left_out = notes.len().saturating_sub(MOST);
    notes.truncate(MOST);
    let sessions: Vec<(String, Session)> =
        notes.into_iter().map(|(uid, text)| (uid, cru_session::read::content_of(text.into_bytes()))).collect();
    let options = Options::default();
    let (workflow, found): (Workflow, _) = if let [(_, session)] = sessions.as_slice() {
        codify(session, &options)
    } else {
        let sources: Vec<Source<'_>> =
            sessions.iter().map(|(id, session)| Source { id: id.as_str(), session }).collect();
        let (workflow, found, _) = mine(&sources, &options);
        (workflow, found)
    };
    ClusterWorkflow {
        left_out,
        title: workflow.title.clone(),
        steps: workflow.steps.len(),
        text: render(&workflow),
        diagnostics: found.into_iter().map(|it| it.message).collect(),
        sessions: sessions.into_iter().map(|(uid, _)| uid).collect(),
    }
}
