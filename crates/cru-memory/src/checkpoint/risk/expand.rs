//! Words of a shell text as paths that are there: variables that the text sets, braces, patterns.

use std::path::{Component, Path, PathBuf};

use cru_action::{Action, is_scratch};
use cru_base::path::without_dots;
use globset::{GlobBuilder, GlobMatcher};

use super::CallPlace;
use super::files::is_there;

/// Paths that one word may stand for, and words of one command that are looked at.
const MOST: usize = 512;

/// Entries of folders that are looked at for one pattern.
const MOST_ENTRIES: usize = 20_000;

/// Levels of variables within variables that are followed.
const DEEPEST: usize = 4;

/// What words stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Expanded {
    /// What is there.
    pub(super) paths: Vec<PathBuf>,
    /// Whether some of it is known to the shell alone.
    pub(super) unknown: bool,
}

/// What is known of the words of one call.
pub(super) struct Words<'a> {
    place: CallPlace<'a>,
    /// The project, in which nothing is scratch.
    project: PathBuf,
    bindings: Vec<(String, String)>,
    /// Whether what nobody keeps counts as well.
    has_scratch: bool,
}

impl<'a> Words<'a> {
    /// Of a call without variables.
    pub(super) fn plain(place: CallPlace<'a>) -> Self {
        let top = place.cwd.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(place.cwd);
        Self { place, project: top.to_owned(), bindings: Vec::new(), has_scratch: false }
    }

    /// Of a shell text.
    pub(super) fn of(action: &Action<'_>, place: CallPlace<'a>) -> Self {
        Self { bindings: action.bindings().to_vec(), ..Self::plain(place) }
    }

    /// The same, where files in folders for temporary files count too.
    pub(super) fn with_scratch(&self) -> Self {
        Self { project: self.project.clone(), bindings: self.bindings.clone(), has_scratch: true, ..*self }
    }

    /// What several words stand for.
    pub(super) fn expand_all(&self, words: &[String], folder: &str) -> Expanded {
        let mut all = Expanded { unknown: words.len() > MOST, ..Expanded::default() };
        for word in words.iter().take(MOST) {
            let Expanded { paths, unknown } = self.expand(word, folder);
            all.paths.extend(paths);
            all.unknown |= unknown;
        }
        all
    }

    /// What a word stands for in a folder, as far as it is there and is no file for a moment.
    pub(super) fn expand(&self, word: &str, folder: &str) -> Expanded {
        let words = self.values(word, folder);
        let mut all = Expanded { unknown: words.len() >= MOST, ..Expanded::default() };
        for word in words {
            if word.contains(['$', '`']) && !is_there(&absolute(&word, folder, self.place)) {
                all.unknown |= !is_scratch(&word);
                continue;
            }
            all.paths.extend(self.matching(&word, folder));
        }
        all
    }

    /// The texts that the words of a command become.
    pub(super) fn texts(&self, words: &[std::borrow::Cow<'_, str>], folder: &str) -> Vec<String> {
        words.iter().take(MOST).flat_map(|word| self.values(word, folder)).take(MOST).collect()
    }

    /// The places that a word names, there or not.
    pub(super) fn places(&self, word: &str, folder: &str) -> Vec<PathBuf> {
        let found = self.expand(word, folder).paths;
        if !found.is_empty() {
            return found;
        }
        let plain = self.values(word, folder).into_iter().filter(|word| !word.contains(['$', '`', '*', '?']));
        plain
            .map(|word| absolute(&word, folder, self.place))
            .filter(|path| !self.is_scratch(word, folder, path))
            .collect()
    }

    /// The texts that a word becomes: variables of the text, `$HOME`, `$PWD`, braces.
    fn values(&self, word: &str, folder: &str) -> Vec<String> {
        let mut words = vec![word.to_owned()];
        for _ in 0..DEEPEST {
            let mut next = Vec::new();
            for word in words.iter().take(MOST) {
                next.extend(self.one_variable(word, folder).unwrap_or_else(|| vec![word.clone()]));
            }
            if next == words {
                break;
            }
            words = next;
        }
        words.iter().take(MOST).flat_map(|word| braces(word, 0)).take(MOST).collect()
    }

    /// A word with its first known variable replaced, by each of its values.
    fn one_variable(&self, word: &str, folder: &str) -> Option<Vec<String>> {
        if let Some((before, after)) = word.split_once("$(pwd)") {
            let here = absolute("", folder, self.place);
            return Some(vec![format!("{before}{}{after}", here.to_str()?)]);
        }
        for (at, _) in word.match_indices('$') {
            let behind = &word[at + 1..];
            let braced = behind.strip_prefix('{');
            let text = braced.unwrap_or(behind);
            let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
            let (name, mut rest) = text.split_at(end);
            if name.is_empty() {
                continue;
            }
            let mut cut = None;
            if braced.is_some() {
                let Some(close) = rest.find('}') else { continue };
                // `${X%.md}`, `${X:-default}`: the first is a part of it, which is not told.
                match rest[..close].strip_prefix(":-") {
                    Some(default) => cut = Some(default.to_owned()),
                    None if close > 0 => continue,
                    None => {}
                }
                rest = &rest[close + 1..];
            }
            let mut values: Vec<String> =
                self.bindings.iter().filter(|(known, _)| known == name).map(|(_, value)| value.clone()).collect();
            if values.is_empty() {
                match name {
                    "HOME" => values.extend(self.place.home.and_then(Path::to_str).map(str::to_owned)),
                    "PWD" => values.extend(absolute("", folder, self.place).to_str().map(str::to_owned)),
                    _ => values.extend(cut),
                }
            }
            if !values.is_empty() {
                let before = &word[..at];
                // A value of itself has no end.
                let values = values
                    .into_iter()
                    .filter(|value| !value.contains(&format!("${name}")) && !value.contains(&format!("${{{name}")));
                // `for f in *.txt` and `X="a b"` are words each.
                return Some(values.map(|value| format!("{before}{value}{rest}")).collect());
            }
        }
        None
    }

    /// Whether a word names what nobody keeps.
    fn is_scratch(&self, word: &str, folder: &str, path: &Path) -> bool {
        let written = if word.starts_with(['/', '~', '$']) { word.to_owned() } else { format!("{folder}/{word}") };
        !self.has_scratch && is_scratch(&written) && !path.starts_with(&self.project)
    }

    /// A path that is there, or what a pattern matches: the folder in which that stands where it is too much.
    fn matching(&self, word: &str, folder: &str) -> Vec<PathBuf> {
        let path = absolute(word, folder, self.place);
        if self.is_scratch(word, folder, &path) {
            return Vec::new();
        }
        if is_there(&path) {
            return vec![path];
        }
        if word.contains('\\') {
            // `PowerShell` and `cmd` write folders so.
            let other = absolute(&word.replace('\\', "/"), folder, self.place);
            if is_there(&other) {
                return vec![other];
            }
        }
        if !word.contains(['*', '?', '[']) {
            return Vec::new();
        }
        let (mut looked, mut top) = (0, None);
        let mut found = vec![PathBuf::new()];
        for part in path.components() {
            let Component::Normal(name) = part else {
                for path in &mut found {
                    path.push(part);
                }
                continue;
            };
            let name = name.to_string_lossy();
            if let Some(pattern) = pattern(&name) {
                top = top.or_else(|| found.first().cloned());
                found = found.iter().flat_map(|dir| entries(dir, &name, &pattern, &mut looked)).take(MOST).collect();
            } else {
                for path in &mut found {
                    path.push(part);
                }
            }
        }
        if looked > MOST_ENTRIES || found.len() >= MOST {
            return top.into_iter().collect();
        }
        found.retain(|path| is_there(path));
        found
    }
}

/// What a pattern matches in a folder, in order; `**` any folder below, too.
fn entries(dir: &Path, name: &str, pattern: &GlobMatcher, looked: &mut usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            *looked += 1;
            if *looked > MOST_ENTRIES || found.len() >= MOST {
                return found;
            }
            let file = entry.file_name();
            // As a shell has it: a hidden file is meant only by a pattern that begins with a dot.
            let hidden = file.as_encoded_bytes().first() == Some(&b'.');
            if hidden && !name.starts_with('.') {
                continue;
            }
            if name == "**" && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
            if name == "**" || pattern.is_match(Path::new(&file)) {
                found.push(entry.path());
            }
        }
    }
    if name == "**" {
        found.push(dir.to_owned());
    }
    found.sort();
    found
}

fn pattern(name: &str) -> Option<GlobMatcher> {
    if !name.contains(['*', '?', '[']) {
        return None;
    }
    GlobBuilder::new(name).literal_separator(true).build().ok().map(|glob| glob.compile_matcher())
}

/// `a{b,c}d` as `abd`, `acd`.
fn braces(word: &str, depth: usize) -> Vec<String> {
    let whole = || vec![word.to_owned()];
    let Some(open) = word.find('{').filter(|at| depth < DEEPEST && !word[..*at].ends_with('$')) else { return whole() };
    let (mut level, mut cuts, mut close) = (0_usize, vec![open], None);
    for (at, c) in word[open..].char_indices().map(|(at, c)| (open + at, c)) {
        match c {
            '{' => level += 1,
            '}' => {
                level = level.saturating_sub(1);
                if level == 0 {
                    close = Some(at);
                    break;
                }
            }
            ',' if level == 1 => cuts.push(at),
            _ => {}
        }
    }
    let Some(close) = close.filter(|_| cuts.len() > 1) else { return whole() };
    cuts.push(close);
    let parts = cuts.windows(2).map(|pair| &word[pair[0] + 1..pair[1]]);
    parts
        .flat_map(|part| braces(&format!("{}{part}{}", &word[..open], &word[close + 1..]), depth + 1))
        .take(MOST)
        .collect()
}

/// A word as an absolute path; `~` is the home folder.
pub(super) fn absolute(word: &str, folder: &str, place: CallPlace<'_>) -> PathBuf {
    let home = |word: &str| {
        let rest = word.strip_prefix('~')?;
        (rest.is_empty() || rest.starts_with('/'))
            .then(|| Some(place.home?.join(rest.trim_start_matches('/'))))
            .flatten()
    };
    let folder = home(folder).unwrap_or_else(|| place.cwd.join(folder));
    without_dots(&home(word).unwrap_or_else(|| folder.join(word)))
}
