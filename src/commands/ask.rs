//! Calling the commands of this program for an agent or a page.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::base::{Env, Error, Result};
use crate::commands::output::View;
use crate::commands::{Cli, Context, Format, GitAnswer, Global, Output, Progress, Reach, Ui};
use crate::index::LastSnapshots;

/// The world of one call.
pub(super) struct Caller<'a> {
    pub(super) env: &'a Env,
    /// `--vault` of the server.
    pub(super) vault: Option<std::path::PathBuf>,
    /// Asks git, where the caller lets it.
    git: Option<&'a dyn Ui>,
    warnings: Mutex<Vec<String>>,
    last: Arc<LastSnapshots>,
}

impl<'a> Caller<'a> {
    pub(super) fn new(env: &'a Env, vault: Option<std::path::PathBuf>) -> Self {
        Self { env, vault, git: None, warnings: Mutex::default(), last: Arc::default() }
    }

    /// The same, with git asked by `git`.
    pub(super) fn with_git(self, git: &'a dyn Ui) -> Self {
        Self { git: Some(git), ..self }
    }

    /// What commands warned of.
    pub(super) fn warnings(&self) -> Vec<String> {
        std::mem::take(&mut *self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Does something with a context that reads what `reach` allows.
    pub(super) fn with<T>(&self, reach: Reach, format: Format, work: impl FnOnce(&Context<'_>) -> T) -> T {
        let last = Some(Arc::clone(&self.last));
        let global = Global { vault: self.vault.clone(), format, reach, last, ..Global::default() };
        work(&Context { env: self.env, global: &global, ui: &Collected(self) })
    }

    /// What a command line of this program gives, written without the program's name.
    pub(super) fn output(&self, words: &[String], reach: Reach, format: Format) -> Result<Box<dyn Output>> {
        let cli = Self::parsed(words)?;
        if reach != Reach::All && !cli.command.minds_reach() {
            return Err(Error::no("this command reads all sessions, also those that are kept from agents"));
        }
        self.with(reach, format, |cx| cli.command.run(cx).map_err(|error| reach.shown(error, cx)))
    }

    /// The value for programs of a command that people call, and whether that leaves out what is kept to the vault; else the caller
    /// has to.
    pub(super) fn page_value(&self, words: &[String]) -> Result<(Value, bool)> {
        let cli = Self::parsed(words)?;
        let is_shared = cli.command.minds_reach();
        let reach = if is_shared { Reach::Shared } else { Reach::All };
        let output =
            self.with(reach, Format::Json, |cx| cli.command.run(cx).map_err(|error| Reach::Shared.shown(error, cx)))?;
        Ok((output.json().map_err(|error| Error::internal("encode an answer", error))?, is_shared))
    }

    fn parsed(words: &[String]) -> Result<Cli> {
        let words: Vec<_> = std::iter::once("cru").chain(words.iter().map(String::as_str)).map(Into::into).collect();
        Cli::read(&words).map_err(|error| Error::usage(first_line(&error.to_string())))
    }

    /// Its value for programs; of `list`, the columns that people are shown.
    pub(super) fn value(&self, words: &[String], reach: Reach) -> Result<Value> {
        let format = if words.first().is_some_and(|verb| verb == "list") { Format::Text } else { Format::Json };
        let output = self.output(words, reach, format)?;
        output.json().map_err(|error| Error::internal("encode an answer", error))
    }

    /// Its text for people, without colours.
    pub(super) fn text(&self, words: &[String], reach: Reach) -> Result<String> {
        let output = self.output(words, reach, Format::Text)?;
        let text = output.ready().map_or_else(|| output.text(&View::plain()), str::to_owned);
        Ok(anstream::adapter::strip_str(&text).to_string())
    }
}

/// The words of a command line.
pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// `--name=value` where there is a value.
pub(super) fn option(words: &mut Vec<String>, name: &str, value: Option<&str>) {
    words.extend(value.map(|value| format!("--{name}={value}")));
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// Warnings of commands, for the answer; what else they say is for people at a terminal.
struct Collected<'a>(&'a Caller<'a>);

impl Ui for Collected<'_> {
    fn git(&self, dir: &Path, args: &[&str], input: &str, seconds: u64) -> io::Result<GitAnswer> {
        let git = self.0.git.ok_or(io::ErrorKind::Unsupported)?;
        git.git(dir, args, input, seconds)
    }
    fn warn(&self, message: &str) {
        self.0.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(message.to_owned());
    }
    fn note(&self, _: &str) {}
    fn detail(&self, _: &str) {}
    fn progress(&self, _: &str, _: u64) -> Box<dyn Progress> {
        Box::new(())
    }
}

impl Progress for () {
    fn advance(&self, _: u64) {}
    fn say(&self, _: &str) {}
}
