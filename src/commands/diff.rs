//! `cru diff`: two things side by side.

use super::{Context, Output, checkpoint, read, workflow};
use crate::base::{Error, Result};

/// Compare two readings, two workflows, or a checkpoint with what is there now
///
/// `w:A B` compares two workflows step by step: steps are found again by what they are, not by where they stand. `cp-… [PATH]` shows how
/// the files of a checkpoint's copy differ from what is there now: all, one, or those below a folder. Else A and B are readings, or A is
/// a session, of which the two newest are compared. Exit code 1 when they differ, for readings and workflows.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A reading, a session, `w:NAME` or `cp-…`
    a: String,
    /// The other
    b: Option<String>,
    #[command(flatten)]
    checkpoint: checkpoint::CheckpointOptions,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let b = args.b.as_deref();
    if let Some(id) = checkpoint::named(&args.a) {
        return checkpoint::diff(id, b, &args.checkpoint, cx);
    }
    if let Some(option) = args.checkpoint.given() {
        return Err(Error::usage(format!("{option} is an option of a checkpoint")));
    }
    let Some(before) = args.a.strip_prefix("w:") else { return read::diff(&args.a, b, cx) };
    let after = b.ok_or_else(|| Error::usage("which other workflow?").with_hint("`cru diff w:A B`"))?;
    workflow::diff(before, after.strip_prefix("w:").unwrap_or(after), cx)
}
