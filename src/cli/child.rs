//! A program that runs in the place of this one: its output goes on to where ours goes, and a copy of it is kept.
//!
//! It has our stdin. A signal that is meant for it reaches it, and does not end us before what it did is recorded.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::commands::{PassedCall, PassedEnd, Passing};

/// Bytes of the output that are kept: as many of its beginning as of its end.
const KEPT: usize = 1 << 20;

/// What is waited for once a program has ended, where something that it started holds its output open.
const AFTER_THE_END: Duration = Duration::from_millis(500);

/// Runs it and waits for its end.
///
/// Errors: it cannot be started.
pub(super) fn run(call: &PassedCall<'_>) -> io::Result<PassedEnd> {
    let mut command = Command::new(call.program);
    command.args(call.args).current_dir(call.dir).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    if let Some(name) = call.name {
        std::os::unix::process::CommandExt::arg0(&mut command, name);
    }
    if let Some(vars) = call.vars {
        command.env_clear().envs(vars.iter().map(|(name, value)| (name, value)));
    }
    if call.passing == Passing::Nothing {
        command.stdin(Stdio::null());
    }
    let signals = signals::Caught::new();
    let mut child = command.spawn()?;
    let kept = Arc::new(Mutex::new(KeptOutput::default()));
    let (done, ends) = channel();
    let out: Box<dyn Write + Send> = match call.passing {
        Passing::Both => Box::new(io::stdout()),
        Passing::ToStderr => Box::new(io::stderr()),
        Passing::Nothing => Box::new(io::sink()),
    };
    let err: Box<dyn Write + Send> =
        if call.passing == Passing::Nothing { Box::new(io::sink()) } else { Box::new(io::stderr()) };
    let mut open = 0;
    if let Some(stream) = child.stdout.take() {
        pass(stream, out, &kept, done.clone());
        open += 1;
    }
    if let Some(stream) = child.stderr.take() {
        pass(stream, err, &kept, done.clone());
        open += 1;
    }
    drop(done);
    let started = Instant::now();
    let status = wait(&mut child, &signals, call.limit.map(|limit| started + limit))?;
    let duration = started.elapsed();
    let end = Instant::now() + AFTER_THE_END;
    while open > 0 {
        match ends.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(()) => open -= 1,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    let (output, left_out) = kept.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (code, signal, timed_out) = match status {
        Some(status) => (code(status), signal(status), false),
        None => (124, None, true),
    };
    Ok(PassedEnd { output, left_out, code, signal, timed_out, duration })
}

/// Waits for the end of a program, and hands on the signals that only we were sent; `None` where it took too long.
fn wait(child: &mut Child, signals: &signals::Caught, end: Option<Instant>) -> io::Result<Option<ExitStatus>> {
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if end.is_some_and(|end| Instant::now() >= end) {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        signals.hand_on(child);
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// The exit code, as a shell has it: 128 and the signal where one ended it.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| signal(status).map(|signal| 128 + signal)).unwrap_or(1);
    // Other systems have larger ones; none of them may become a success.
    u8::try_from(code & 0xff).ok().filter(|low| *low != 0 || code == 0).unwrap_or(1)
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
    None
}

/// Hands a stream on in a thread of its own, and keeps a copy. Where nobody reads it on, the stream is closed, as it
/// would be without us.
fn pass(
    mut from: impl Read + Send + 'static,
    mut to: Box<dyn Write + Send>,
    kept: &Arc<Mutex<KeptOutput>>,
    done: Sender<()>,
) {
    let kept = Arc::clone(kept);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let read = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => &buffer[..read],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            kept.lock().unwrap_or_else(PoisonError::into_inner).add(read);
            if to.write_all(read).and_then(|()| to.flush()).is_err() {
                break;
            }
        }
        let _ = done.send(());
    });
}

/// The beginning and the end of an output.
#[derive(Debug, Default)]
struct KeptOutput {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl KeptOutput {
    fn add(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(KEPT / 2 - self.head.len().min(KEPT / 2)));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(KEPT / 2);
        drop(self.tail.drain(..over));
        self.left_out += over as u64;
    }

    /// What is kept, and how many bytes between its beginning and its end are not.
    fn take(&mut self) -> (Vec<u8>, u64) {
        let mut all = std::mem::take(&mut self.head);
        if self.left_out > 0 {
            all.extend(format!("\n[… {} bytes left out …]\n", self.left_out).bytes());
        }
        all.extend(std::mem::take(&mut self.tail));
        (all, self.left_out)
    }
}

/// Signals while another program runs.
mod signals {
    use std::process::Child;

    #[cfg(unix)]
    use std::io::IsTerminal as _;
    #[cfg(unix)]
    use std::process::Command;
    #[cfg(unix)]
    use std::sync::Arc;
    #[cfg(unix)]
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Those that would end us. They are caught for the rest of the process, which has little left to do then.
    #[cfg(unix)]
    pub(super) struct Caught {
        flags: Vec<(&'static str, Arc<AtomicBool>)>,
        /// A terminal sends `INT` and `QUIT` to the program as well.
        has_terminal: bool,
    }

    #[cfg(unix)]
    impl Caught {
        pub(super) fn new() -> Self {
            use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
            let all = [("INT", SIGINT), ("QUIT", SIGQUIT), ("TERM", SIGTERM), ("HUP", SIGHUP)];
            let flags = all.into_iter().filter_map(|(name, signal)| {
                let flag = Arc::new(AtomicBool::new(false));
                signal_hook::flag::register(signal, Arc::clone(&flag)).ok()?;
                Some((name, flag))
            });
            let has_terminal =
                std::io::stdin().is_terminal() || std::io::stdout().is_terminal() || std::io::stderr().is_terminal();
            Self { flags: flags.collect(), has_terminal }
        }

        /// Sends what came since to the program.
        pub(super) fn hand_on(&self, child: &Child) {
            for (name, flag) in &self.flags {
                let of_terminal = self.has_terminal && matches!(*name, "INT" | "QUIT");
                if flag.swap(false, Ordering::Relaxed) && !of_terminal {
                    // The library has no safe way to send another signal than `KILL`.
                    let Some(kill) = crate::base::program::find_here("kill".as_ref()) else { continue };
                    let _ = Command::new(kill).args(["-s", name, &child.id().to_string()]).status();
                }
            }
        }
    }

    #[cfg(not(unix))]
    pub(super) struct Caught;

    #[cfg(not(unix))]
    impl Caught {
        pub(super) fn new() -> Self {
            Self
        }

        #[expect(clippy::unused_self, reason = "other systems have something to hand on")]
        pub(super) fn hand_on(&self, _: &Child) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginning_and_end_are_kept() {
        let mut kept = KeptOutput::default();
        kept.add(b"first ");
        for _ in 0..40 {
            kept.add(&vec![b'x'; 50_000]);
        }
        kept.add(b" last");
        let (bytes, left_out) = kept.take();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.starts_with("first x") && text.ends_with("x last"));
        assert_eq!(left_out, 6 + 2_000_000 + 5 - KEPT as u64);
        assert!(text.contains(&format!("[… {left_out} bytes left out …]")));
        assert_eq!(KeptOutput::default().take(), (Vec::new(), 0));
    }
}
