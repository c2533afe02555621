//! What the success of a shell command proves.

use crate::stream::place::Place;
use cru_action::Action;

/// What a command did, given that it succeeded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// Files that it certainly wrote, as a note writes them.
    pub(crate) writes: Vec<String>,
}

/// Reads a command of the tool `tool`, whose name says which shell reads it.
pub(crate) fn effects(tool: &str, command: &str, place: &Place) -> Effects {
    let action = Action::of(tool, command);
    Effects { writes: written(&action).map(|path| place.show_shell(path)).collect() }
}

/// The files that a call certainly wrote; devices are none.
pub(crate) fn written<'a>(action: &'a Action<'_>) -> impl Iterator<Item = &'a str> {
    let is_file = |path: &&str| !path.starts_with("/dev/") && !path.starts_with("/proc/");
    action.writes().iter().filter(|write| write.certain).map(|write| write.path.as_str()).filter(is_file)
}
