//! Programs that are started: this one once more in the background, an agent that is asked, an editor.

use std::ffi::OsStr;
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::base::{files, program};
use crate::commands::{AgentAnswer, Context, GitAnswer, ProgramCall};
use crate::session::mask::Masks;

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

/// Ends this process after a time, in a thread of its own: what takes too long may be anything.
pub(super) fn end_after(limit: Duration) {
    #[expect(clippy::disallowed_methods, clippy::exit, reason = "nobody is left who could return")]
    std::thread::spawn(move || {
        std::thread::sleep(limit);
        let _ = writeln!(io::stderr(), "cru: ended after {} s; what it did not write waits", limit.as_secs());
        std::process::exit(1);
    });
}

/// Starts a program with `input` on its stdin, in a folder and with variables of its own, and waits for its answer.
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
    let mut command = named(program.as_ref())?;
    command.args(args);
    Ok(command)
}

/// A program by its name or path. One that is named is looked for in the folders of `PATH` that are whole paths alone.
pub(super) fn named(program: &OsStr) -> io::Result<Command> {
    if Path::new(program).components().count() != 1 {
        return Ok(Command::new(program));
    }
    program::find_here(program).map(Command::new).ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn answer(command: Command, input: &str, limit: Duration) -> io::Result<AgentAnswer> {
    let (text, errors, status) = said(command, input, limit, LONGEST_ANSWER)?;
    // What a program answers is kept, in notes and logs.
    let said = |bytes: &[u8]| Masks::unnumbered().text(&String::from_utf8_lossy(bytes)).into_owned();
    let (text, errors) = (said(&text), said(&errors));
    Ok(AgentAnswer { text, errors, code: status.and_then(|status| status.code()), timed_out: status.is_none() })
}

/// What a program printed, what it complained about, and how it ended; `None` where it had to be ended.
fn said(
    mut command: Command,
    input: &str,
    limit: Duration,
    most: u64,
) -> io::Result<(Vec<u8>, Vec<u8>, Option<ExitStatus>)> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_owned();
        // One that does not read its input is free to; writing must not wait for it here.
        std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    }
    let text = child.stdout.take().map(|stream| read(stream, most));
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
        stream.and_then(|stream| stream.recv_timeout(left).ok()).unwrap_or_default()
    };
    Ok((said(text), said(errors), status))
}

/// What is read of an answer of git.
const LONGEST_GIT_ANSWER: u64 = 64 * 1024 * 1024;

/// Settings that a repository could have set to a program of its own, or to something that changes what is printed.
const GIT_SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.pager=cat",
    "core.quotePath=false",
    "core.attributesFile=/dev/null",
    "core.alternateRefsCommand=",
    "diff.external=",
    "diff.renameLimit=2000",
    "blame.ignoreRevsFile=",
    "log.showSignature=false",
    "protocol.allow=never",
    "maintenance.auto=false",
    "gc.auto=0",
];

/// Variables of git that belong to another call; where they say something, it is of another repository.
const GIT_VARIABLES: &str = "\
    GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR \
    GIT_NAMESPACE GIT_PREFIX GIT_EXTERNAL_DIFF GIT_DIFF_OPTS GIT_CONFIG GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT \
    GIT_ATTR_SOURCE GIT_TRACE GIT_TRACE2 GIT_TRACE2_EVENT GIT_TRACE2_PERF GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS \
    GIT_PROXY_COMMAND";

/// Asks git in a folder. It reads the repository's own configuration, as it must, but starts no program for it: no hook,
/// pager, text conversion or file system monitor, and it fetches nothing.
pub(super) fn git(dir: &Path, args: &[&str], input: &str, limit: Duration) -> io::Result<GitAnswer> {
    let mut command = named("git".as_ref())?;
    command.args(["--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs"]);
    for setting in GIT_SETTINGS {
        command.args(["-c", setting]);
    }
    command.args(args).current_dir(dir);
    for name in GIT_VARIABLES.split(' ') {
        command.env_remove(name);
    }
    for (name, value) in [
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_PAGER", "cat"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
        // No protocol at all, whatever the repository allows: older versions fetch missing objects all the same.
        ("GIT_ALLOW_PROTOCOL", ""),
        ("LC_ALL", "C"),
    ] {
        command.env(name, value);
    }
    let (bytes, _, status) = said(command, input, limit, LONGEST_GIT_ANSWER)?;
    let timed_out = status.is_none();
    Ok(GitAnswer { bytes, code: status.and_then(|status| status.code()), timed_out })
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

/// Starts what opens an address on this desktop, with none of our streams.
pub(super) fn open(address: &str) -> io::Result<()> {
    let mut command = named(Context::opener().as_ref())?;
    let mut child = command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    // It may be the browser itself, or end at once: then nothing of it stays.
    std::thread::spawn(move || child.wait());
    Ok(())
}

/// Opens a file in an editor that has the terminal.
pub(super) fn edit(editor: &[String], file: &Path) -> io::Result<bool> {
    let (program, args) = editor.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(named(program.as_ref())?.args(args).arg(file).status()?.success())
}
