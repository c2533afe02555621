//! What a person may choose of an import, and the machine it runs on.

use std::sync::Arc;

use jiff::Timestamp;

use crate::plan::choice::Choice;
use crate::read::heard::Heard;
use cru_base::Env;
use cru_session::fold;
use cru_vault::State;

/// What a person may choose.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "choices that have nothing to do with one another")]
pub struct Options {
    /// Write nothing, only say what would be done.
    pub dry_run: bool,
    /// How events become notes.
    pub fold: fold::Options,
    /// Make notes again that a person deleted.
    pub restore: bool,
    /// Write the steps of rewritten transcripts that their notes lack.
    pub reattach: bool,
    /// Which sessions.
    pub choice: Choice,
    /// Whether a session that went on lately counts as running, though no hook says so.
    pub live: bool,
    /// Keep copies of the transcripts, named as this machine names them.
    pub keep: Option<Env>,
    /// Where what calls say is kept for the index, so that it need not read the transcripts again.
    pub heard: Option<Arc<Heard>>,
    /// Machine state and the time: without them no note that is there is changed.
    pub machine: Option<Machine>,
}

/// The machine that notes are written on.
#[derive(Clone, Debug)]
pub struct Machine {
    /// What it keeps for the vault.
    pub state: State,
    /// The time.
    pub now: Timestamp,
}
