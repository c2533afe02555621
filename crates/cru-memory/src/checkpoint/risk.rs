//! Whether a call takes something away that cannot be made again, told before it runs.
//!
//! What commands take away is told by [`cru_action::loss`]; here the words become files that are there.

mod expand;
mod files;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use cru_action::loss::{Loss, WorktreeLoss};
use cru_action::tool::{self, Role};
use cru_action::{Action, Command, ToolKind, argv, patch};
use serde_json::{Map, Value};

use expand::{Expanded, Words};

/// Files that a turn edits before one more is a risk.
pub const MANY_FILES: usize = 50;

/// What is at risk. All paths are absolute, there, and named once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Risk {
    /// In words: ``before `git reset --hard` ``. The command may hold secrets, which the caller masks.
    pub title: String,
    /// Files and folders that go, with all that is in them.
    pub named: Vec<PathBuf>,
    /// Files that are written anew.
    pub overwritten: Vec<PathBuf>,
    /// What differs from git and goes.
    pub worktree: Option<WorktreeRisk>,
    /// The words of the commands that take branches, tags, stashes or entries of the reflog away.
    pub refs: Vec<String>,
    /// Whether something goes that is no file here, or of which nobody knows what it is.
    pub elsewhere: bool,
    /// The folder that the first of its commands works in, where that is known.
    pub folder: Option<PathBuf>,
    /// Commands whose files are not known: their names come from elsewhere.
    pub unknown: Vec<String>,
}

/// What a command of git takes from a working copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorktreeRisk {
    /// Below these paths alone; the whole working copy where there are none.
    pub paths: Vec<PathBuf>,
    /// Whether changes of files that git knows go.
    pub changed: bool,
    /// Whether files that git does not know go.
    pub untracked: bool,
    /// Whether files that git ignores go.
    pub ignored: bool,
}

impl Risk {
    /// Whether nothing but files that are written anew is at risk: where git has their bytes, nothing is.
    pub fn only_overwrites(&self) -> bool {
        !self.overwritten.is_empty() && self.worktree.is_none() && self.is_without_overwrites()
    }

    /// Whether nothing is at risk but what git is to be asked for.
    pub fn only_worktree(&self) -> bool {
        self.worktree.is_some() && self.overwritten.is_empty() && self.is_without_overwrites()
    }

    fn is_without_overwrites(&self) -> bool {
        self.named.is_empty() && self.refs.is_empty() && !self.elsewhere && self.unknown.is_empty()
    }

    fn is_nothing(&self) -> bool {
        self.worktree.is_none() && self.overwritten.is_empty() && self.is_without_overwrites()
    }

    fn add_named(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        paths.into_iter().for_each(|path| push(&mut self.named, path));
    }

    fn add_overwritten(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        let written = paths.into_iter().filter_map(|path| files::written_through(&path));
        written.for_each(|path| push(&mut self.overwritten, path));
    }
}

fn push(paths: &mut Vec<PathBuf>, path: PathBuf) {
    cru_base::list::push_new(paths, path);
}

/// Where a call begins.
#[derive(Clone, Copy, Debug)]
pub struct CallPlace<'a> {
    /// Its working folder.
    pub cwd: &'a Path,
    /// What `~` means.
    pub home: Option<&'a Path>,
}

/// What a call puts at risk; `None` where it is not known to take anything away.
///
/// A tool that deletes is one, a patch that deletes, and one that writes a whole file over one that is there; and an edit
/// of a file that is `watched`, which is asked with a path relative to the working folder where it lies there.
pub fn of_call(
    name: &str,
    input: &Map<String, Value>,
    place: CallPlace<'_>,
    watched: &dyn Fn(&Path) -> bool,
) -> Option<Risk> {
    if ToolKind::of(name) == ToolKind::Shell {
        let (_, command) = tool::argument(name, input, Role::Command)?;
        return of_command(name, &argv::script(command)?, place);
    }
    let makes_new = input.get("command").and_then(Value::as_str) == Some("create");
    let kind = if makes_new && ToolKind::of(name) == ToolKind::Edit { ToolKind::Write } else { ToolKind::of(name) };
    let paths = tool::paths(input);
    let words = Words::plain(place);
    let title = format!("before {name} {}", shown(paths.first().copied().unwrap_or_default()));
    let mut risk = Risk { title: title.trim_end().to_owned(), ..Risk::default() };
    let there = |path: &&str| words.expand(path, "").paths;
    match kind {
        ToolKind::Delete => {
            risk.add_named(paths.iter().flat_map(there));
            risk.elsewhere = paths.is_empty();
        }
        ToolKind::Mcp if tool::deletes(name) => {
            risk.add_named(paths.iter().flat_map(there));
            risk.elsewhere = risk.named.is_empty();
        }
        ToolKind::Patch => {
            let text = tool::argument(name, input, Role::Patch).and_then(|(_, text)| text.as_str()).unwrap_or_default();
            of_patch(text, &words, "", &mut risk);
        }
        _ if kind == ToolKind::Write || kind == ToolKind::Mcp && tool::writes(name) => {
            // Of a file that is moved or copied the place counts.
            let target = tool::destination(input);
            risk.add_overwritten(target.iter().chain(paths.first().filter(|_| target.is_none())).flat_map(there));
        }
        _ => {}
    }
    let edited = paths.first().filter(|_| kind.writes_files()).map(|path| expand::absolute(path, "", place));
    if let Some(file) = edited.filter(|file| watched(file.strip_prefix(place.cwd).unwrap_or(file))) {
        risk.add_named(Some(file).filter(|file| files::is_there(file)));
        return Some(risk);
    }
    (!risk.is_nothing()).then_some(risk)
}

/// The files that a patch deletes, or writes over.
fn of_patch(text: &str, words: &Words<'_>, folder: &str, risk: &mut Risk) {
    for file in patch::read(text) {
        match (file.old_path, file.new_path) {
            (Some(old), None) => risk.add_named(words.expand(old, folder).paths),
            (None, Some(new)) => risk.add_overwritten(words.expand(new, folder).paths),
            (Some(old), Some(new)) if old != new => risk.add_overwritten(words.expand(new, folder).paths),
            _ => {}
        }
    }
}

/// What a shell command puts at risk.
pub fn of_command(tool: &str, text: &str, place: CallPlace<'_>) -> Option<Risk> {
    let action = Action::of(tool, text);
    let words = Words::of(&action, place);
    let mut risk = Risk::default();
    // What was moved, in this text, to a name that is not there yet.
    let mut moved: Vec<PathBuf> = Vec::new();
    for (command, loss) in action.losses() {
        let before = risk.clone();
        let folder = action.folder(command).filter(|folder| !folder.contains(['$', '`', '*']));
        match (&loss, &folder) {
            (Loss::Onto(names), Some(folder)) if command.program == "mv" => {
                moved.extend(words.expand_all(names, folder).paths);
            }
            (Loss::Removed(names), Some(folder))
                if names.iter().any(|name| words.expand(name, folder).paths.is_empty()) =>
            {
                risk.add_named(std::mem::take(&mut moved));
            }
            _ => {}
        }
        match &folder {
            Some(folder) => add(&loss, command, &action, folder, &words, &mut risk),
            None if loss == Loss::Elsewhere => risk.elsewhere = true,
            None if matches!(loss, Loss::Overwritten(_) | Loss::Onto(_)) => {}
            None => risk.unknown.push(shown(action.text(command))),
        }
        if risk != before {
            if risk.title.is_empty() {
                risk.title = format!("before {}", shown(action.text(command)));
            }
            let folder = folder.map(|folder| expand::absolute("", &folder, place));
            risk.folder = risk.folder.or(folder);
        }
    }
    if let Some(patch) = action.patch_text() {
        let folder = action.commands.last().and_then(|command| action.folder(command)).unwrap_or_default();
        of_patch(patch, &words, &folder, &mut risk);
        if risk.title.is_empty() {
            "before apply_patch".clone_into(&mut risk.title);
        }
    }
    (!risk.is_nothing()).then_some(risk)
}

/// Adds what one command takes away in a folder.
fn add(loss: &Loss, command: &Command<'_>, action: &Action<'_>, folder: &str, words: &Words<'_>, risk: &mut Risk) {
    let unknown = || shown(action.text(command));
    match loss {
        Loss::Removed(names) => {
            let Expanded { paths, unknown: odd } = words.expand_all(names, folder);
            risk.add_named(paths);
            if odd {
                risk.unknown.push(unknown());
            }
        }
        // A name that is not known is mostly that of a new file.
        Loss::Overwritten(names) => risk.add_overwritten(words.expand_all(names, folder).paths),
        Loss::Onto(names) => {
            let Some((place, sources)) = names.split_last() else { return };
            // What is put there may come from a folder for temporary files, and be made by the same text.
            let from = words.with_scratch();
            let sources: Vec<PathBuf> = sources.iter().flat_map(|word| from.places(word, folder)).collect();
            let places = words.places(place, folder);
            let found = places.iter().flat_map(|place| files::put_onto(place, &sources));
            // A folder stands for more files than are named one by one.
            let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = found.partition(|path| path.is_dir());
            risk.add_named(folders);
            risk.add_overwritten(files);
        }
        Loss::Mirrored(name) => risk.add_named(words.expand(name, folder).paths),
        Loss::Found(found) => {
            let roots = words.expand_all(&found.roots, folder).paths;
            risk.add_named(roots.iter().flat_map(|root| files::found(found, root)));
        }
        Loss::Worktree(loss) => add_worktree(loss, folder, words, risk),
        Loss::Refs => risk.refs.extend(words.texts(&command.words, folder)),
        Loss::Anything => risk.unknown.push(unknown()),
        Loss::Elsewhere => {
            risk.elsewhere = true;
            // A word of it may be a file all the same.
            let named: Vec<String> = command.words.iter().skip(1).map(ToString::to_string).collect();
            risk.add_named(words.expand_all(&named, folder).paths.into_iter().filter(|path| path.is_file()));
        }
    }
}

fn add_worktree(loss: &WorktreeLoss, folder: &str, words: &Words<'_>, risk: &mut Risk) {
    let Expanded { paths, mut unknown } = words.expand_all(&loss.paths, folder);
    // What git makes of a pattern is more than a shell does.
    unknown |= loss.paths.iter().any(|word| word.starts_with(':') || word.contains(['*', '?', '[']));
    if loss.only_paths && paths.is_empty() && !unknown {
        return;
    }
    let is_whole = loss.paths.is_empty() || unknown;
    let old = risk.worktree.take();
    let was_whole = old.as_ref().is_some_and(|old| old.paths.is_empty());
    let mut new = old.unwrap_or_default();
    new.changed |= loss.changed;
    new.untracked |= loss.untracked;
    new.ignored |= loss.ignored;
    if is_whole || was_whole {
        new.paths.clear();
    } else {
        for path in paths {
            push(&mut new.paths, path);
        }
    }
    risk.worktree = Some(new);
}

/// A command in a title: one line, in backticks.
fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'");
    if line.is_empty() {
        return line;
    }
    // Characters of a command that a title shows.
    let cut: String = line.chars().take(80).collect();
    if cut.len() < line.len() { format!("`{cut}…`") } else { format!("`{cut}`") }
}
