//! `find` with `-delete`, and with programs that it runs on what it finds.

use std::borrow::Cow;

use super::{Loss, of_words};

/// What `find` finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundFiles {
    /// The folders that it looks into; `.` where none is named.
    pub roots: Vec<String>,
    /// Patterns of names, all of which hold, and whether case is ignored. More than that cannot be told where
    /// [`FoundFiles::is_whole`] does not hold.
    pub names: Vec<(String, bool)>,
    /// Whether only files that are no folders are found: `-type f`.
    pub only_files: bool,
    /// Levels that are looked into.
    pub max_depth: Option<usize>,
}

/// Tests that narrow what is found, and that are not understood further: what is found is at most what is told.
const TESTS: &str = "\
    -mtime -mmin -atime -amin -ctime -cmin -size -user -group -perm -newer -mindepth -path -ipath -wholename \
    -regex -iregex -links -inum -fstype -newermt -uid -gid -samefile -regextype";

/// What a call of `find` takes away.
pub(super) fn losses(words: &[Cow<'_, str>]) -> Vec<Loss> {
    let words: Vec<&str> = words.iter().skip(1).map(AsRef::as_ref).collect();
    let is_root = |word: &&&str| !word.starts_with(['-', '(', '!', '\\']);
    let first = words.iter().take_while(|word| matches!(**word, "-L" | "-H" | "-P" | "-O1" | "-O2" | "-O3")).count();
    let words = &words[first..];
    let roots: Vec<String> = words.iter().take_while(is_root).map(|word| (*word).to_owned()).collect();
    let mut found = FoundFiles { roots, ..FoundFiles::default() };
    let mut rest = words[found.roots.len()..].iter();
    if found.roots.is_empty() {
        found.roots.push(".".to_owned());
    }
    let (mut takes, mut is_sure) = (false, true);
    while let Some(word) = rest.next() {
        match *word {
            "-delete" => takes = true,
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let inner: Vec<Cow<'_, str>> = rest
                    .by_ref()
                    .take_while(|word| !matches!(**word, ";" | "\\;" | "+"))
                    .map(|word| Cow::Borrowed(*word))
                    .collect();
                takes |= runs_loss(&inner);
            }
            "-name" | "-iname" => {
                found.names.extend(rest.next().map(|name| ((*name).to_owned(), *word == "-iname")));
            }
            "-type" => found.only_files |= rest.next().is_some_and(|kind| *kind != "d"),
            "-maxdepth" => found.max_depth = rest.next().and_then(|depth| depth.parse().ok()),
            // Either of two, or not so: any name may be meant.
            "-o" | "-or" | "!" | "-not" | "," | "-prune" => is_sure = false,
            word if TESTS.split(' ').any(|test| test == word) => drop(rest.next()),
            _ => {}
        }
    }
    if !takes {
        return Vec::new();
    }
    if !is_sure {
        found = FoundFiles { roots: found.roots, max_depth: found.max_depth, ..FoundFiles::default() };
    }
    vec![Loss::Found(found)]
}

/// Whether a program that is run on each file takes it away. A shell's text counts by its words.
fn runs_loss(words: &[Cow<'_, str>]) -> bool {
    if !of_words(words, true, "", &[]).is_empty() {
        return true;
    }
    let text = crate::argv::join(&words.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    crate::Action::of("Bash", &text).commands.iter().any(|it| !of_words(&it.words, true, "", &[]).is_empty())
}
