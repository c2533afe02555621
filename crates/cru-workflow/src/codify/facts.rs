//! What is worked out of all steps together, once for the skeleton and the replay.

use super::data::{self, Data};
use super::draft::Draft;
use super::input::Inputs;
use super::outcome::{self, Outcome, Passes, WorkChecks};
use super::standing::Checks;
use super::{Options, Work, dependency};
use crate::evidence::Evidence;
use cru_base::Diagnostic;
use cru_session::Session;

/// From what a workflow is made.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub work: &'a Work<'a>,
    pub session: &'a Session,
    pub options: Options,
    pub evidence: &'a Evidence,
}

/// What the steps take, give and prove.
pub(super) struct Facts<'d> {
    pub setting: &'d Setting<'d>,
    /// The steps.
    pub drafts: &'d [Draft<'d>],
    /// Values that people gave.
    pub inputs: Inputs,
    /// What each step takes and gives.
    pub flows: Vec<Data>,
    /// For each step the one that it follows where nothing else joins them.
    pub order: Vec<Option<usize>>,
    /// How the checks stand.
    pub standing: Checks<'d>,
    /// Where what was tried ends well.
    pub passes: Passes<'d>,
    /// How each step went.
    pub outcomes: Vec<Outcome>,
    /// The checks of the workflow.
    pub checks: WorkChecks,
    /// What is odd about the checks that are left out.
    pub odd: Vec<Diagnostic>,
}

impl<'d> Facts<'d> {
    pub(super) fn of(setting: &'d Setting<'d>, drafts: &'d [Draft<'d>]) -> Self {
        let session = setting.session;
        let inputs = Inputs::of(session, drafts);
        let flows = dependency::joined(session, drafts, data::flows(drafts, &inputs));
        let order = dependency::order(drafts, &flows);
        let standing = Checks::of(drafts, setting.evidence, session.meta.project.as_deref());
        let passes = Passes::of(drafts);
        let outcomes = outcome::outcomes(session, drafts, &passes);
        let (mut checks, odd) = outcome::checks(&standing, drafts, &setting.work.asked);
        for check in &mut checks.rows {
            check.command = check.command.take().map(|command| inputs.named(&command, true).into_owned());
        }
        Self { setting, drafts, inputs, flows, order, standing, passes, outcomes, checks, odd }
    }
}
