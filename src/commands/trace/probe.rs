//! Commands of notes that only show whether something holds: run with consent, in the folder of their project, recorded
//! nowhere.

use std::time::Duration;

use serde::Serialize;

use super::TraceWorld;
use super::agree::{Agreement, Consenting};
use crate::base::{Error, Result};
use crate::commands::{Context, Passing};

/// Seconds that such a command may take.
const LIMIT: u64 = 60;

/// What came of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub(in crate::commands) enum ProbeEnd {
    /// It exited with 0.
    Passed,
    /// It exited with another status, or took too long.
    Failed {
        /// `exits with 1`
        why: String,
    },
    /// It was not run.
    NotRun {
        /// Why not.
        why: String,
    },
}

/// Runs the commands that may run, each in the folder of its project; the others say why they were not run. A person is
/// asked once for all.
pub(in crate::commands) fn probe(
    commands: &[&str],
    project: Option<&str>,
    world: &TraceWorld,
    cx: &Context<'_>,
) -> Result<Vec<ProbeEnd>> {
    let consenting = Consenting::of(&world.vault, cx)?;
    let not_run = |why: &str| ProbeEnd::NotRun { why: why.to_owned() };
    let Some(folder) = consenting.folder(project) else {
        return Ok(vec![not_run("its project is not on this machine"); commands.len()]);
    };
    let decided = commands.iter().map(|text| (*text, consenting.decide(text, &folder))).collect();
    let run = |agreement: Agreement| {
        let ready = match agreement {
            Agreement::Yes(command) => command.ready(&folder.path, cx),
            Agreement::No(why) => Err(why),
        };
        let ready = match ready {
            Ok(ready) => ready,
            Err(why) => return Ok(not_run(&why)),
        };
        let call = ready.call(Passing::Nothing, Some(Duration::from_secs(LIMIT)));
        let end = cx.ui.pass(&call).map_err(|source| Error::io("run", &ready.dir, source))?;
        Ok(match end.code {
            _ if end.timed_out => ProbeEnd::Failed { why: format!("takes longer than {LIMIT} s") },
            0 => ProbeEnd::Passed,
            code => ProbeEnd::Failed { why: format!("exits with {code}") },
        })
    };
    consenting.agree(decided, &folder).into_iter().map(run).collect()
}
