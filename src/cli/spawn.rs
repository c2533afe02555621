//! This program once more, in the background.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::base::files;

/// Starts it with `args` and does not wait; its errors go to `log`. It has no terminal and none of the streams of this process, so that nobody
/// who waits for those to close waits for it; in a process group of its own it survives the end of ours.
pub(super) fn detached(args: &[&OsStr], log: &Path) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    // Without a log it works in silence.
    let log = files::open_append(log).map_or_else(|_| Stdio::null(), Stdio::from);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map(drop)
}
