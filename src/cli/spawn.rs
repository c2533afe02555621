//! Programs that are started: this one once more in the background, an agent that is asked, an editor.

use std::ffi::OsStr;
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::base::files;
use crate::commands::{AgentAnswer, ProgramCall};

/// Bytes of an answer, and of complaints, that are read at most.
const LONGEST_ANSWER: u64 = 8 * 1024 * 1024;
const LONGEST_ERRORS: u64 = 64 * 1024;

/// Starts it with `args` and does not wait; its errors go to `log`. It has no terminal and none of the streams of this process, so that nobody
/// who waits for those to close waits for it; in a process group of its own it survives the end of ours.
pub(super) fn detached(args: &[&OsStr], log: &Path) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    // Without a log it works in silence.
    let log = files::open_append_private(log).map_or_else(|_| Stdio::null(), Stdio::from);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map(drop)
}

/// Starts a program with `input` on its stdin and waits for its answer.
pub(super) fn ask(command: &[String], input: &str, limit: Duration) -> io::Result<AgentAnswer> {
    answer(start(command)?, input, limit)
}

/// The same in another folder and with other variables.
pub(super) fn ask_in(call: &ProgramCall<'_>, input: &str, limit: Duration) -> io::Result<AgentAnswer> {
    let mut command = start(call.command)?;
    command.current_dir(call.dir);
    for (name, value) in call.vars {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    answer(command, input, limit)
}

fn start(command: &[String]) -> io::Result<Command> {
    let (program, args) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(args);
    Ok(command)
}

fn answer(mut command: Command, input: &str, limit: Duration) -> io::Result<AgentAnswer> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_owned();
        // One that does not read its input is free to; writing must not wait for it here.
        std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    }
    let text = child.stdout.take().map(|stream| read(stream, LONGEST_ANSWER));
    let errors = child.stderr.take().map(|stream| read(stream, LONGEST_ERRORS));
    let end = Instant::now() + limit;
    let status = wait(&mut child, end)?;
    if status.is_none() {
        child.kill()?;
        child.wait()?;
    }
    // What it started itself may hold the streams open.
    let left = end.saturating_duration_since(Instant::now()).max(Duration::from_secs(1));
    let said = |stream: Option<Receiver<Vec<u8>>>| {
        let bytes = stream.and_then(|stream| stream.recv_timeout(left).ok()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (text, errors) = (said(text), said(errors));
    Ok(AgentAnswer { text, errors, code: status.and_then(|status| status.code()), timed_out: status.is_none() })
}

fn wait(child: &mut Child, end: Instant) -> io::Result<Option<ExitStatus>> {
    let mut pause = Duration::from_millis(2);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= end {
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// Reads a stream to its end in a thread of its own.
fn read(stream: impl Read + Send + 'static, most: u64) -> Receiver<Vec<u8>> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut stream = stream;
        let _ = stream.by_ref().take(most).read_to_end(&mut bytes);
        let _ = send.send(bytes);
        // The rest is taken from it, so that it can end.
        let _ = io::copy(&mut stream, &mut io::sink());
    });
    receive
}

/// Opens a file in an editor that has the terminal.
pub(super) fn edit(editor: &[String], file: &Path) -> io::Result<bool> {
    let (program, args) = editor.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(Command::new(program).args(args).arg(file).status()?.success())
}
