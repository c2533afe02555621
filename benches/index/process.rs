//! Whole processes: how long they take and how much memory they ever held.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A command of the program in a vault, in a world of its own.
pub(crate) fn cru(root: &Path, args: &[&str]) -> Command {
    let home = root.parent().unwrap_or(root);
    let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
    command.args(args).current_dir(root).env_clear().env("HOME", home).env("XDG_STATE_HOME", home.join("state"));
    command.stdin(Stdio::null());
    command
}

/// Whether a program is there.
pub(crate) fn installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Runs it to its end, all that it says read.
pub(crate) fn timed(command: &mut Command) -> std::io::Result<(Duration, Output)> {
    let start = Instant::now();
    let output = command.output()?;
    Ok((start.elapsed(), output))
}

/// Runs it to its end; the most memory that it held, in MB. `None` where the system does not tell.
pub(crate) fn peak(command: &mut Command) -> Option<f64> {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    let status = format!("/proc/{}/status", child.id());
    let mut most = None;
    while let Ok(None) = child.try_wait() {
        // The system's own high mark: looking seldom loses only what comes after the last look.
        most = std::fs::read_to_string(&status).ok().as_deref().and_then(high_mark).or(most);
        std::thread::sleep(Duration::from_micros(200));
    }
    most
}

/// `VmHWM` of a status of `/proc`, in MB.
pub(crate) fn high_mark(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes / 1024.0)
}
