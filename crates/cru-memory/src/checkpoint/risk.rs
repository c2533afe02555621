//! Whether a call takes something away that cannot be made again, told before it runs.

use std::path::{Path, PathBuf};

use cru_action::tool::{self, Role};
use cru_action::{Action, Class, Command, ToolKind, argv, is_scratch};
use globset::{GlobBuilder, GlobMatcher};
use serde_json::{Map, Value};

/// Characters of a command that a title shows.
const SHOWN: usize = 80;

/// Words of commands that are looked for on disk, and names that one pattern may stand for.
const MOST_WORDS: usize = 512;

/// Files that a turn edits before one more is a risk.
pub const MANY_FILES: usize = 50;

/// What is at risk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Risk {
    /// In words: ``before `git reset --hard` ``. The command may hold secrets, which the caller masks.
    pub title: String,
    /// Files and folders that the call names and that are there, absolute; each once.
    pub named: Vec<PathBuf>,
    /// Whether files that git ignores go as well: `git clean -x`.
    pub ignored: bool,
    /// The folder that the first risky command of git works in, where that is known: its working copy is meant.
    pub folder: Option<PathBuf>,
    /// Commands whose folder is not known, so that what they name is not either.
    pub unknown: Vec<String>,
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
/// A shell command is a risk if it destroys ([`Class::Destroy`]), rebases, or pushes with force, and anything but what
/// lies in a folder for temporary files may be meant; another tool if it deletes, or edits a file that is `watched`, which
/// is asked with a path relative to the working folder where it lies there.
pub fn of_call(
    name: &str,
    input: &Map<String, Value>,
    place: CallPlace<'_>,
    watched: &dyn Fn(&Path) -> bool,
) -> Option<Risk> {
    let kind = ToolKind::of(name);
    if kind == ToolKind::Shell {
        let (_, command) = tool::argument(name, input, Role::Command)?;
        return of_command(name, &argv::script(command)?, place);
    }
    let path = tool::argument(name, input, Role::Path).and_then(|(_, value)| value.as_str());
    match (kind, path) {
        (ToolKind::Delete, path) => {
            let named: Vec<PathBuf> =
                path.map(|path| absolute(path, "", place)).into_iter().filter(|path| is_there(path)).collect();
            let title = format!("before {name} {}", shown(path.unwrap_or_default()));
            Some(Risk { title: title.trim_end().to_owned(), named, ..Risk::default() })
        }
        (kind, Some(path)) if kind.writes_files() => {
            let file = absolute(path, "", place);
            let inside = file.strip_prefix(place.cwd).unwrap_or(&file);
            watched(inside).then(|| Risk {
                title: format!("before {name} {}", shown(path)),
                named: Some(file.clone()).filter(|file| is_there(file)).into_iter().collect(),
                ..Risk::default()
            })
        }
        _ => None,
    }
}

/// What a shell command puts at risk.
pub fn of_command(tool: &str, text: &str, place: CallPlace<'_>) -> Option<Risk> {
    let action = Action::of(tool, text);
    let risky: Vec<&Command<'_>> = action.commands.iter().filter(|it| is_risky(it)).collect();
    if risky.is_empty() || risky.iter().all(|command| is_about_scratch(command)) {
        return None;
    }
    let first = risky.iter().find(|command| !is_about_scratch(command))?;
    let mut risk = Risk { title: format!("before {}", shown(action.text(first))), ..Risk::default() };
    for command in risky {
        risk.ignored |= cleans_ignored(command);
        let words = named_words(command);
        let Some(folder) = action.folder(command).filter(|folder| !folder.contains(['$', '`', '*'])) else {
            if !words.is_empty() || command.program == "git" {
                risk.unknown.push(shown(action.text(command)));
            }
            continue;
        };
        if command.program == "git" && risk.folder.is_none() {
            risk.folder = Some(absolute("", &folder, place));
        }
        for word in words.into_iter().take(MOST_WORDS) {
            for path in matching(word, &folder, place) {
                if !risk.named.contains(&path) {
                    risk.named.push(path);
                }
            }
        }
    }
    Some(risk)
}

fn is_risky(command: &Command<'_>) -> bool {
    let has = |wanted: &[&str]| command.words.iter().any(|word| wanted.contains(&word.as_ref()));
    if command.class == Class::Destroy {
        return true;
    }
    if command.program != "git" {
        return false;
    }
    match command.verb.split(' ').next().unwrap_or_default() {
        "rebase" => !has(&["--continue", "--edit-todo", "--show-current-patch"]),
        "push" => has(&["--force", "-f"]) || command.words.iter().any(|word| word.starts_with("--force-with-lease")),
        _ => false,
    }
}

/// Whether a command names only what lies in folders for temporary files.
fn is_about_scratch(command: &Command<'_>) -> bool {
    let words = named_words(command);
    command.program != "git" && !words.is_empty() && words.iter().all(|word| is_scratch(word))
}

fn cleans_ignored(command: &Command<'_>) -> bool {
    let is_option = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.contains(['x', 'X']);
    command.program == "git" && command.verb == "clean" && command.words.iter().any(|word| is_option(word))
}

/// The words of a command that may name files.
fn named_words<'c>(command: &'c Command<'_>) -> Vec<&'c str> {
    let words = command.words.get(1..).unwrap_or_default().iter().map(AsRef::as_ref);
    // What differs from git's own is copied whole.
    if command.program == "git" {
        return Vec::new();
    }
    if command.program == "find" {
        let is_root = |word: &&str| !word.starts_with(['-', '(', '!']);
        let roots: Vec<&str> = words.take_while(is_root).collect();
        return if roots.is_empty() { vec!["."] } else { roots };
    }
    let value = |word: &'c str| word.strip_prefix("of=").or_else(|| word.strip_prefix("if=")).unwrap_or(word);
    words.filter(|word| !word.starts_with('-')).map(value).filter(|word| !word.is_empty()).collect()
}

/// What a word means on disk: a path that is there, or what a pattern matches in one folder.
fn matching(word: &str, folder: &str, place: CallPlace<'_>) -> Vec<PathBuf> {
    let path = absolute(word, folder, place);
    if is_there(&path) {
        return vec![path];
    }
    let (dir, name) = word.rsplit_once('/').unwrap_or(("", word));
    let Some(pattern) = pattern(name).filter(|_| !dir.contains(['*', '?', '[', '{', '$'])) else { return Vec::new() };
    let dir = absolute(dir, folder, place);
    let names = std::fs::read_dir(&dir).into_iter().flatten().flatten().map(|entry| entry.file_name());
    // As a shell has it: a hidden file is meant only by a pattern that begins with a dot.
    let is_meant = |found: &std::ffi::OsString| {
        let hidden = found.as_encoded_bytes().first() == Some(&b'.');
        (!hidden || name.starts_with('.')) && pattern.is_match(Path::new(found))
    };
    let mut found: Vec<PathBuf> = names.filter(is_meant).take(MOST_WORDS).map(|name| dir.join(name)).collect();
    found.sort();
    found
}

fn pattern(name: &str) -> Option<GlobMatcher> {
    if !name.contains(['*', '?', '[', '{']) {
        return None;
    }
    GlobBuilder::new(name).literal_separator(true).build().ok().map(|glob| glob.compile_matcher())
}

/// A word as an absolute path; `~` is the home folder.
fn absolute(word: &str, folder: &str, place: CallPlace<'_>) -> PathBuf {
    let home = |word: &str| {
        let rest = word.strip_prefix('~')?;
        (rest.is_empty() || rest.starts_with('/'))
            .then(|| Some(place.home?.join(rest.trim_start_matches('/'))))
            .flatten()
    };
    let folder = home(folder).unwrap_or_else(|| place.cwd.join(folder));
    plain(&home(word).unwrap_or_else(|| folder.join(word)))
}

/// A path without `.` and `..`, as far as it can be told without looking.
fn plain(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

fn is_there(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

/// A command in a title: one line, in backticks.
fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'");
    if line.is_empty() {
        return line;
    }
    let cut: String = line.chars().take(SHOWN).collect();
    if cut.len() < line.len() { format!("`{cut}…`") } else { format!("`{cut}`") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn risk(command: &str, cwd: &Path) -> Option<Risk> {
        of_command("Bash", command, CallPlace { cwd, home: Some(Path::new("/home/ann")) })
    }

    fn world() -> tempfile::TempDir {
        let temp = tempfile::tempdir().unwrap();
        for path in ["data/a.txt", "data/.hidden", "src/x.rs", "one.log", "two.log", "app.db", "branch/f"] {
            cru_base::files::create(&temp.path().join(path), b"x").unwrap();
        }
        temp
    }

    #[test]
    fn commands_that_take_something_away() {
        let temp = world();
        let named = |command: &str| -> Option<Vec<String>> {
            let risk = risk(command, temp.path())?;
            let short = |path: &PathBuf| path.strip_prefix(temp.path()).unwrap_or(path).display().to_string();
            Some(risk.named.iter().map(short).collect())
        };
        let some = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(named("rm -rf data && git reset --hard && git clean -fdx"), some(&["data"]));
        assert_eq!(named("cd data && rm a.txt"), some(&["data/a.txt"]));
        assert_eq!(named("rm *.log"), some(&["one.log", "two.log"]));
        assert_eq!(named("rm data/*"), some(&["data/a.txt"]));
        assert_eq!(named("git checkout -- src/x.rs"), some(&[]), "git's working copy is meant");
        assert_eq!(risk("git -C src reset --hard", temp.path()).unwrap().folder, Some(temp.path().join("src")));
        assert_eq!(risk("cd data && git clean -fd", temp.path()).unwrap().folder, Some(temp.path().join("data")));
        assert_eq!(named("find data -name '*.txt' -delete"), some(&["data"]));
        assert_eq!(named("git branch -D branch"), some(&[]), "a branch is no folder");
        assert_eq!(named("git stash drop"), some(&[]));
        assert_eq!(named("git rebase main"), some(&[]));
        assert_eq!(named("git push --force origin main"), some(&[]));
        assert_eq!(named("cd \"$X\" && rm y"), some(&[]));
        for harmless in
            ["git push", "git rebase --continue", "rm /tmp/x.log", "cargo test", "echo rm -rf data", "git commit -am x"]
        {
            assert_eq!(named(harmless), None, "{harmless}");
        }
        assert!(risk("git clean -fdx", temp.path()).unwrap().ignored);
        assert!(!risk("git clean -fd", temp.path()).unwrap().ignored);
        assert_eq!(risk("rm  -rf   data", temp.path()).unwrap().title, "before `rm -rf data`");
        assert_eq!(risk("cd \"$X\" && rm y", temp.path()).unwrap().unknown, ["`rm y`"]);
    }

    #[test]
    fn tools_that_delete_and_paths_that_are_watched() {
        let temp = world();
        let place = CallPlace { cwd: temp.path(), home: None };
        let watched = |path: &Path| path.starts_with("src");
        let call = |tool: &str, path: &str| {
            let input = serde_json::json!({"file_path": path, "path": path});
            of_call(tool, input.as_object().unwrap(), place, &watched).map(|risk| (risk.title, risk.named.len()))
        };
        assert_eq!(call("delete_file", "app.db"), Some(("before delete_file `app.db`".to_owned(), 1)));
        assert_eq!(call("Edit", "src/x.rs"), Some(("before Edit `src/x.rs`".to_owned(), 1)));
        assert_eq!(call("Edit", "app.db"), None);
        assert_eq!(call("Read", "src/x.rs"), None);
    }

    proptest! {
        #[test]
        fn total(command in "\\PC{0,60}|(rm|git clean|find|cd|&&|;|\\$\\(|\\*|\\.\\.|/| |-rf|\\[|\\{){0,20}") {
            let _ = risk(&command, Path::new("/nowhere/at/all"));
        }
    }
}
