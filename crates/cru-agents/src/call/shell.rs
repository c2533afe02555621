//! What the success of a shell command proves.

use std::path::Path;

use serde_json::Value;

use super::argument;
use super::touched::{ShellRead, TouchedFiles};
use crate::stream::out::Out;
use crate::stream::place::Place;
use cru_action::loss::Loss;
use cru_action::{Action, Class, Command, is_generated};
use cru_session::event::{CallResult, EventKind};

/// What a command did, given that it succeeded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// Files that it certainly wrote, as a note writes them.
    pub(crate) writes: Vec<String>,
    /// The file that it prints, where it prints one and nothing else.
    pub(crate) read: Option<ShellRead>,
}

/// What a call of the tool `tool`, whose name says which shell reads it, does to files if it succeeds.
pub(crate) fn effects(tool: &str, input: &Value, place: &Place) -> Effects {
    let script = argument::script(tool, input, place).unwrap_or_default();
    let action = Action::of(tool, &script);
    let read = read(&action, false, place);
    // The null device of Windows is no file.
    let is_file = |path: &&str| !place.is_windows() || !path.eq_ignore_ascii_case("nul");
    Effects { writes: written(&action).filter(is_file).map(|path| place.show_shell(path)).collect(), read }
}

/// Whether a script certainly changes no file.
pub(crate) fn only_looks(tool: &str, script: &str) -> bool {
    Action::of(tool, script).is_read_only()
}

/// Whether a script says that it writes the file `path`: a redirection has it as its target, or a command names it that may
/// change files and neither checks nor keeps versions. A program that is given as text has to write something in it. What gets
/// dependencies writes the lock file that has its name.
pub(crate) fn names_write(tool: &str, script: &str, path: &str) -> bool {
    let is_it = |word: &str| {
        let word = word.trim_start_matches("./").trim_start_matches('/');
        !word.is_empty() && Path::new(path).ends_with(word)
    };
    let names = |text: &str| text.split(|c: char| !c.is_alphanumeric() && !"/._-@+".contains(c)).any(is_it);
    let action = Action::of(tool, script);
    let losses = action.losses();
    let takes = |command: &Command<'_>| {
        let own = |loss: &Loss| !matches!(loss, Loss::Refs | Loss::Elsewhere);
        losses.iter().any(|(of, loss)| std::ptr::eq(*of, command) && own(loss))
    };
    let may_write = |command: &Command<'_>| {
        let is_plain = command.bodies.is_empty() && !matches!(command.class, Class::Check | Class::GitChange);
        is_plain && !command.reads_only || takes(command)
    };
    let texts = |command: &Command<'_>| {
        let bodies = command.bodies.iter().filter_map(|body| script.get(body.clone()));
        bodies.chain([action.text(command)]).any(names)
    };
    let file = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let locks = |command: &Command<'_>| {
        let is_install = command.class == Class::Install && !command.program.is_empty();
        is_install && is_generated(&file) && file.starts_with(command.program.as_ref())
    };
    let may_be_of = |command: &Command<'_>| locks(command) || (may_write(command) && texts(command));
    action.writes().iter().any(|write| is_it(&write.path)) || action.commands.iter().any(may_be_of)
}

/// The one file that all of a call's output is of. `elsewhere`: it runs in another folder than the place's.
pub(crate) fn read(action: &Action<'_>, elsewhere: bool, place: &Place) -> Option<ShellRead> {
    let read = action.only_read().filter(|read| read.certain)?;
    let known = !elsewhere || read.path.starts_with(['/', '~']);
    known.then(|| ShellRead::of(read, place.show_shell(&read.path)))
}

/// The files that a call certainly wrote; devices are none.
pub(crate) fn written<'a>(action: &'a Action<'_>) -> impl Iterator<Item = &'a str> {
    let is_file = |path: &&str| !path.starts_with("/dev/") && !path.starts_with("/proc/");
    action.writes().iter().filter(|write| write.certain).map(|write| write.path.as_str()).filter(is_file)
}

/// Tells how a command ended that ran in the background: its exit code, and whether it failed. What it writes if it succeeds was
/// kept of its call.
pub(crate) fn ended(
    call: String,
    writes: Vec<String>,
    (exit, failed): (Option<i32>, bool),
    output: &str,
    out: &mut Out<'_>,
) {
    let mut files = TouchedFiles::default();
    files.wrote_paths(writes.into_iter().filter(|_| !failed));
    out.emit(EventKind::Result(CallResult {
        call: call.into(),
        output: output.into(),
        failed,
        exit,
        unstated: exit.is_none(),
        ..files.into()
    }));
}

/// The files that a command touched that succeeded with this output.
pub(crate) fn touched(effects: &Effects, output: &str, touched: &mut TouchedFiles) {
    if let Some(read) = &effects.read
        && let Some(lines) = read.anchor(output)
    {
        touched.read(read.path.clone(), Some(lines));
    }
    touched.wrote_paths(effects.writes.iter().cloned());
}
