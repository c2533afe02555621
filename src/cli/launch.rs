//! Starts the program that a command hands over to.
//!
//! It gets the terminal as it is. On Unix it takes this process's place, so that signals and its exit code are its own;
//! elsewhere it is waited for.

use std::process::ExitCode;

use crate::base::{Error, Result};
use crate::commands::Launch;

/// Runs it; the exit code is the program's. Comes back with an error where it could not be started.
pub(super) fn run(launch: &Launch) -> Result<ExitCode> {
    let failed = |error| Error::io("start", &launch.program, error);
    let mut command = super::spawn::named(launch.program.as_os_str()).map_err(failed)?;
    command.args(&launch.args).current_dir(&launch.cwd);
    command.envs(launch.vars.iter().map(|(name, value)| (name, value)));
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        Err(failed(command.exec()))
    }
    #[cfg(not(unix))]
    {
        let status = command.status().map_err(failed)?;
        Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
    }
}
