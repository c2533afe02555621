//! What a command is given: the world, the common options, and a way to talk while it works.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::time::Duration;

use super::Global;
use crate::base::Env;

/// What a command is given.
pub struct Context<'a> {
    /// Time, folders, variables.
    pub env: &'a Env,
    /// Options of every command.
    pub global: &'a Global,
    /// Talk: stderr, for people.
    pub ui: &'a dyn Ui,
}

impl Context<'_> {
    /// `--vault`.
    pub fn vault_arg(&self) -> Option<&Path> {
        self.global.vault.as_deref()
    }

    /// A path given on the command line, made absolute.
    pub fn absolute(&self, path: &Path) -> std::path::PathBuf {
        self.env.cwd().join(path)
    }

    /// The program that opens addresses and files as the desktop does.
    pub const fn opener() -> &'static str {
        if cfg!(target_os = "macos") {
            "open"
        } else if cfg!(windows) {
            "explorer"
        } else {
            "xdg-open"
        }
    }

    /// The words that start the person's editor: `VISUAL`, else `EDITOR`; none where neither is set.
    pub fn editor(&self) -> Vec<String> {
        let words = |name| self.env.var(name).unwrap_or_default().split_whitespace().map(str::to_owned).collect();
        let visual: Vec<String> = words("VISUAL");
        if visual.is_empty() { words("EDITOR") } else { visual }
    }
}

/// How a command talks while it works. Data does not go here: it is the command's [`super::Output`].
pub trait Ui: Sync {
    /// Something is odd; the command goes on.
    fn warn(&self, message: &str);
    /// Worth knowing; not shown with `-q`.
    fn note(&self, message: &str);
    /// Shown with `-v`.
    fn detail(&self, message: &str);
    /// A bar of `total` steps on a terminal; nothing elsewhere.
    fn progress(&self, label: &str, total: u64) -> Box<dyn Progress>;
    /// Starts this program once more with `args`: nobody waits for it, and it outlives this process. What it has to
    /// complain about goes to the end of `log`.
    fn spawn_detached(&self, args: &[&OsStr], log: &Path) -> io::Result<()> {
        let _ = (args, log);
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Ends this process once a time is over, whatever it does then; it says so. A killed process loses nothing.
    fn end_after(&self, limit: Duration) {
        let _ = limit;
    }
    /// Starts a program, gives it `input`, and waits for what it says, `seconds` at most.
    /// It runs in a folder and with variables of its own; `None` for one that is not to be set.
    fn ask_in(&self, call: &ProgramCall<'_>, input: &str, seconds: u64) -> io::Result<AgentAnswer> {
        let _ = (call, input, seconds);
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Asks git in a folder, with no hook, pager or other program of the repository's configuration; `seconds` at most.
    fn git(&self, dir: &Path, args: &[&str], input: &str, seconds: u64) -> io::Result<GitAnswer> {
        let _ = (dir, args, input, seconds);
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Runs a program in the place of this one: it has our stdin, and its output goes to where ours goes.
    fn pass(&self, call: &PassedCall<'_>) -> io::Result<PassedEnd> {
        let _ = call;
        Err(io::ErrorKind::Unsupported.into())
    }
    /// The same within milliseconds, for who cannot wait.
    fn git_within(&self, dir: &Path, args: &[&str], input: &str, limit: std::time::Duration) -> io::Result<GitAnswer> {
        let _ = (dir, args, input, limit);
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Opens a file in an editor and waits until it is closed; whether the editor ended well.
    /// [`io::ErrorKind::Unsupported`] where there is no terminal.
    fn edit(&self, editor: &[String], file: &Path) -> io::Result<bool> {
        let _ = (editor, file);
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Lets a person pick a row on the terminal; `None` where they leave without. [`io::ErrorKind::Unsupported`] where there is
    /// no terminal.
    fn pick(&self, from: &mut dyn Pickable) -> io::Result<Option<(usize, PickVerb)>> {
        let _ = from;
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Opens an address in the program that the desktop has for it, and does not wait.
    fn open(&self, address: &str) -> io::Result<()> {
        let _ = address;
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Asks a person for `y` or `n`, where one can answer; `None` where there is no terminal.
    fn confirm(&self, question: &str) -> Option<bool> {
        let _ = question;
        None
    }
}

/// Rows to pick one from.
pub trait Pickable {
    /// The words that it begins with.
    fn words(&self) -> String;
    /// The rows that words leave, each in a line.
    fn rows(&mut self, words: &str) -> Vec<String>;
    /// More of a row of these, in lines of that width.
    fn preview(&mut self, row: usize, width: usize) -> String;
}

/// What is done with a picked row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickVerb {
    /// It is shown.
    Show,
    /// Its work goes on.
    Resume,
    /// Its note is edited.
    Edit,
}

/// A program that is started somewhere else.
#[derive(Clone, Copy, Debug)]
pub struct ProgramCall<'a> {
    /// The program and its arguments.
    pub command: &'a [String],
    /// Its working folder.
    pub dir: &'a Path,
    /// Variables that differ from those of this process.
    pub vars: &'a [(&'a str, Option<&'a OsStr>)],
}

/// Where the output of a program goes on to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// stdout to stdout, stderr to stderr; it has our stdin.
    Both,
    /// Both to stderr: stdout is for data.
    ToStderr,
    /// Nowhere, and it has no stdin.
    Nothing,
}

/// A program that runs in the place of this one.
#[derive(Clone, Copy, Debug)]
pub struct PassedCall<'a> {
    /// The program.
    pub program: &'a OsStr,
    /// What it is told to be called, where that is not the program as it is named here.
    pub name: Option<&'a str>,
    /// Its arguments.
    pub args: &'a [OsString],
    /// Its working folder.
    pub dir: &'a Path,
    /// All of its variables; `None` for ours.
    pub vars: Option<&'a [(String, String)]>,
    /// Where its output goes on to.
    pub passing: Passing,
    /// How long it may take; as long as it takes where there is none.
    pub limit: Option<Duration>,
}

/// How such a program ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassedEnd {
    /// Its output, stdout and stderr as they came; of a long one the beginning and the end.
    pub output: Vec<u8>,
    /// Bytes between these two that were left out.
    pub left_out: u64,
    /// Its exit code as a shell has it: 128 and the signal where one ended it.
    pub code: u8,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it took too long and was ended.
    pub timed_out: bool,
    /// How long it ran.
    pub duration: Duration,
}

/// What a program said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentAnswer {
    /// Its stdout.
    pub text: String,
    /// The end of its stderr.
    pub errors: String,
    /// Its exit code; `None` where it was ended.
    pub code: Option<i32>,
    /// Whether it took too long.
    pub timed_out: bool,
}

/// What git printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitAnswer {
    /// Its stdout.
    pub bytes: Vec<u8>,
    /// Its exit code; `None` where it was ended.
    pub code: Option<i32>,
    /// Whether it took too long.
    pub timed_out: bool,
}

/// A running progress bar; it goes away when dropped.
pub trait Progress: Sync + Send {
    /// `by` more steps are done.
    fn advance(&self, by: u64);
    /// What is being done now.
    fn say(&self, message: &str);
}
