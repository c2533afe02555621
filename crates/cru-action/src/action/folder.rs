//! The folder that a command of a shell call works in, as far as the call says.

use std::borrow::Cow;

use super::{Action, Command};
use crate::shell::{Nesting, Script, is_drive};

/// Options that name the folder a program works in, or the part of a project that it works on.
const OF_FOLDER: &[&str] =
    &["-C", "--cwd", "--prefix", "--directory", "--dir", "--project-dir", "--root-dir", "--filter", "--workspace"];

/// Options that name a file in the folder.
const OF_FILE: &[&str] = &["--manifest-path", "--project", "--rootdir"];

impl Action<'_> {
    /// The folder that a command works in, relative to where the call began or absolute; empty where it is the same one,
    /// `None` where that is not known. The last of `cd` before it and of its own options.
    pub fn folder(&self, command: &Command<'_>) -> Option<String> {
        let mut folder = self.shell_folder(command)?;
        let mut words = command.words.iter().skip(1).map(AsRef::as_ref);
        while let Some(word) = words.next() {
            let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
            let mut value = || value.or_else(|| words.next()).filter(|value| !value.is_empty());
            if OF_FOLDER.contains(&name) {
                folder = joined(&folder, value()?)?;
            } else if OF_FILE.contains(&name) {
                let path = value()?;
                let of_file = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                let is_file =
                    path.rsplit('/').next().is_some_and(|name| name.contains('.') && name != "." && name != "..");
                folder = joined(&folder, if is_file { of_file } else { path })?;
            }
        }
        Some(folder)
    }

    /// The folder that the shell is in when it runs a command, to which its redirections are relative; `None` where that is not known.
    pub(crate) fn shell_folder(&self, command: &Command<'_>) -> Option<String> {
        let mut folder = String::new();
        for before in self.commands.iter().take_while(|it| it.range != command.range) {
            let is_group = before.nesting != Nesting::Top && before.nesting > command.nesting;
            if is_group || !matches!(before.program.as_ref(), "cd" | "pushd" | "popd") {
                continue;
            }
            let target = before.words.get(1..).unwrap_or_default().iter().find(|word| !word.starts_with('-'))?;
            folder = joined(&folder, target)?;
        }
        Some(folder)
    }

    /// The text of a command without its redirections.
    pub fn plain_text(&self, command: &Command<'_>) -> String {
        let text = self.text(command);
        let script = Script::read(text);
        let mut cuts: Vec<_> = match script.commands.as_slice() {
            [only] => {
                only.redirections.iter().map(|it| operator(text, it.target.range.start)..it.target.range.end).collect()
            }
            _ => Vec::new(),
        };
        cuts.sort_by_key(|range| range.start);
        let (mut out, mut at) = (String::new(), 0);
        for cut in cuts {
            out.push_str(text.get(at..cut.start).unwrap_or_default());
            at = cut.end.max(at);
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Where the operator begins, with the descriptor before it, whose word begins at `target`.
fn operator(text: &str, target: usize) -> usize {
    let before = text.get(..target).unwrap_or_default().trim_end();
    let before = before.trim_end_matches(['<', '>', '&', '|']);
    let bare = before.trim_end_matches(|c: char| c.is_ascii_digit());
    if bare.is_empty() || bare.ends_with(char::is_whitespace) { bare.len() } else { before.len() }
}

/// `folder/path`; `None` where the path is not written out.
pub(crate) fn joined(folder: &str, path: &str) -> Option<String> {
    if path.contains(['$', '`', '*']) || path == "-" {
        return None;
    }
    let is_drive = is_drive(path.as_bytes());
    let path = &*if is_drive { Cow::Owned(path.replace('\\', "/")) } else { Cow::Borrowed(path) };
    let mut parts: Vec<&str> = Vec::new();
    let absolute = is_drive || path.starts_with(['/', '~']);
    let begin = if absolute { "" } else { folder };
    for part in begin.split('/').chain(path.split('/')).filter(|part| !matches!(*part, "" | ".")) {
        match (part, parts.last()) {
            ("..", Some(last)) if *last != ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    let root = if begin.starts_with('/') || path.starts_with('/') { "/" } else { "" };
    Some(format!("{root}{}", parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(args: &str) -> Option<String> {
        let action = Action::of("Bash", args);
        let command = action.commands.last().unwrap();
        action.folder(command)
    }

    #[test]
    fn the_folder_of_a_command() {
        let rows: &[(&str, Option<&str>)] = &[
            ("tsc", Some("")),
            ("cd web && tsc --noEmit", Some("web")),
            ("cd web && cd ../api && tsc", Some("api")),
            ("cd /srv/api; cargo test", Some("/srv/api")),
            ("(cd web && npm ci) && tsc", Some("")),
            ("cd \"$DIR\" && tsc", None),
            ("make -C lib test", Some("lib")),
            ("cargo test --manifest-path api/Cargo.toml", Some("api")),
            ("cargo test --manifest-path=Cargo.toml", Some("")),
            ("cd js && pnpm --filter web test", Some("js/web")),
            ("cd .. && tsc", Some("..")),
            (r"cd c:\Apps\x && tsc", Some("c:/Apps/x")),
            (r"cd web && terraform -C=C:\Apps\_x plan", Some("C:/Apps/_x")),
        ];
        for (args, expected) in rows {
            assert_eq!(folder(args).as_deref(), *expected, "{args}");
        }
    }

    #[test]
    fn a_command_without_its_redirections() {
        for (args, expected) in [
            ("cargo test 2>&1 | tail -5", "cargo test"),
            ("FOO=1 npm test > log.txt 2>/dev/null", "FOO=1 npm test"),
            ("pytest -k 'a > b'", "pytest -k 'a > b'"),
        ] {
            let action = Action::of("Bash", args);
            assert_eq!(action.plain_text(&action.commands[0]), expected);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_call_has_its_answer(args in "(cd|-C|--filter=|\\.\\./|a/|&&|;| |\\(|\\)|>|2>&1|\\PC){0,30}") {
            let action = Action::of("Bash", &args);
            for command in &action.commands {
                let _ = (action.folder(command), action.plain_text(command));
            }
        }
    }
}
