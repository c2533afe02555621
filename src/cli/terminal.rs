//! Talk on stderr: messages and progress bars.

use std::ffi::OsStr;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::Mutex;

use anstream::{AutoStream, ColorChoice};
use indicatif::{ProgressBar, ProgressStyle};

use crate::base::text::sanitise;
use crate::commands::output::style::{self, paint};
use crate::commands::{
    AgentAnswer, GitAnswer, Global, PassedCall, PassedEnd, PickVerb, Pickable, ProgramCall, Progress, Ui,
};

/// stderr as a [`Ui`].
pub(super) struct Terminal {
    choice: ColorChoice,
    quiet: bool,
    verbose: bool,
    bar: Mutex<Option<ProgressBar>>,
}

impl Terminal {
    pub(super) fn new(choice: ColorChoice, global: &Global) -> Self {
        Self { choice, quiet: global.quiet, verbose: global.verbose > 0, bar: Mutex::new(None) }
    }

    /// Writes one line, above a bar if one is shown.
    pub(super) fn line(&self, line: &str) {
        let write = || {
            let mut stderr = AutoStream::new(io::stderr().lock(), self.choice);
            let _ = writeln!(stderr, "{line}");
        };
        let bar = self.bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        match bar.filter(|bar| !bar.is_finished()) {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

impl Ui for Terminal {
    fn warn(&self, message: &str) {
        if !self.quiet {
            self.line(&format!("{} {}", paint(style::WARN, "warning:"), sanitise(message)));
        }
    }

    fn note(&self, message: &str) {
        if !self.quiet {
            self.line(&sanitise(message));
        }
    }

    fn detail(&self, message: &str) {
        if self.verbose {
            self.line(&paint(style::DIM, sanitise(message)));
        }
    }

    fn progress(&self, label: &str, total: u64) -> Box<dyn Progress> {
        let shown = !self.quiet && io::stderr().is_terminal();
        let bar = if shown { ProgressBar::new(total) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} {wide_msg}") {
            bar.set_style(style.progress_chars("━╸ "));
        }
        bar.set_prefix(label.to_owned());
        *self.bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(bar.clone());
        Box::new(Bar(bar))
    }

    fn spawn_detached(&self, args: &[&OsStr], log: &Path) -> io::Result<()> {
        super::spawn::detached(args, log)
    }

    fn end_after(&self, limit: std::time::Duration) {
        super::spawn::end_after(limit);
    }

    fn ask_in(&self, call: &ProgramCall<'_>, input: &str, seconds: u64) -> io::Result<AgentAnswer> {
        super::spawn::ask_in(call, input, std::time::Duration::from_secs(seconds))
    }

    fn git(&self, dir: &Path, args: &[&str], input: &str, seconds: u64) -> io::Result<GitAnswer> {
        super::spawn::git(dir, args, input, std::time::Duration::from_secs(seconds))
    }

    fn pass(&self, call: &PassedCall<'_>) -> io::Result<PassedEnd> {
        super::child::run(call)
    }

    fn git_within(&self, dir: &Path, args: &[&str], input: &str, limit: std::time::Duration) -> io::Result<GitAnswer> {
        super::spawn::git(dir, args, input, limit)
    }

    fn edit(&self, editor: &[String], file: &Path) -> io::Result<bool> {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        super::spawn::edit(editor, file)
    }

    fn pick(&self, from: &mut dyn Pickable) -> io::Result<Option<(usize, PickVerb)>> {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let colours = AutoStream::new(io::stderr(), self.choice).current_choice() != ColorChoice::Never;
        super::pick::pick(from, colours)
    }

    fn open(&self, address: &str) -> io::Result<()> {
        super::spawn::open(address)
    }

    fn confirm(&self, question: &str) -> Option<bool> {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return None;
        }
        let mut stderr = AutoStream::new(io::stderr().lock(), self.choice);
        let _ = write!(stderr, "{} [y/N] ", sanitise(question));
        let _ = stderr.flush();
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).ok()?;
        Some(matches!(answer.trim(), "y" | "Y" | "yes"))
    }
}

struct Bar(ProgressBar);

impl Progress for Bar {
    fn advance(&self, by: u64) {
        self.0.inc(by);
    }

    fn say(&self, message: &str) {
        self.0.set_message(sanitise(message).into_owned());
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
