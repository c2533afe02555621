//! Commands of notes that only show whether something holds: run with consent, in the folder of their project, recorded
//! nowhere.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::agree::{Agreement, agree, wrap};
use super::run::record::{RunCommand, program_of};
use crate::base::{Error, Result};
use crate::commands::{Context, PassedCall, Passing};
use crate::vault::UserConfig;

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

/// Runs the commands that may run, each in `folder`; the others say why they were not run. A person is asked once for all.
pub(in crate::commands) fn probe(
    commands: &[&str],
    folder: &Path,
    project: Option<&str>,
    cx: &Context<'_>,
) -> Result<Vec<ProbeEnd>> {
    let (user, _) = UserConfig::read(cx.env)?;
    let agreements = agree(commands, folder, project, &user, cx);
    let run = |(command, agreement): (&&str, Agreement)| {
        if let Agreement::No(why) = agreement {
            return Ok(ProbeEnd::NotRun { why });
        }
        let command = RunCommand::Text { text: (*command).to_owned(), wrap: wrap(&user, folder) };
        let (program, args) = program_of(&command);
        let limit = Some(Duration::from_secs(LIMIT));
        let call = PassedCall { program: &program, args: &args, dir: folder, passing: Passing::Nothing, limit };
        let end = cx.ui.pass(&call).map_err(|source| Error::io("run", folder, source))?;
        Ok(match end.code {
            _ if end.timed_out => ProbeEnd::Failed { why: format!("takes longer than {LIMIT} s") },
            0 => ProbeEnd::Passed,
            code => ProbeEnd::Failed { why: format!("exits with {code}") },
        })
    };
    commands.iter().zip(agreements).map(run).collect()
}
