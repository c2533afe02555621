//! This program once more, in the background.

use std::ffi::OsStr;
use std::io;
use std::process::{Command, Stdio};

/// Starts it with `args` and does not wait. It has no terminal and none of the streams of this process, so that nobody
/// who waits for those to close waits for it; in a process group of its own it survives the end of ours.
pub(super) fn detached(args: &[&OsStr]) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map(drop)
}
