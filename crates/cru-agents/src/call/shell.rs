//! What the success of a shell command proves.

use serde_json::Value;

use super::argument;
use super::touched::{ShellRead, TouchedFiles};
use crate::stream::out::Out;
use crate::stream::place::Place;
use cru_action::Action;
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

/// Paths that a call of a shell names as what it changes, as a note writes them, with `/` behind where all below is meant.
pub(crate) fn named(tool: &str, input: &Value, place: &Place) -> Vec<String> {
    let script = argument::command(tool, input).unwrap_or_default();
    let named = Action::of(tool, &script).named_changes(&place.whole(argument::folder(input)));
    let shown = |path: &String| match path.strip_suffix('/') {
        Some(folder) => place.show_shell(folder) + "/",
        None => place.show_shell(path),
    };
    named.iter().map(shown).collect()
}

/// Whether one of these paths is `path`, or a folder that it lies in of which all is meant.
pub(crate) fn is_named(named: &[String], path: &str) -> bool {
    named.iter().any(|known| match known.strip_suffix('/') {
        Some(".") => !path.starts_with(['/', '~']),
        Some(folder) => path == folder || path.starts_with(known.as_str()),
        None => path == known,
    })
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
