//! The lines of a file, who committed them, and the sessions that may have written them.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rayon::prelude::*;

use super::WantedLines;
use crate::base::{Error, Result};
use crate::commands::Context;
use crate::commands::trace::TraceWorld;
use crate::commands::trace::git::Repository;
use crate::session::Session;
use crate::session::mask;
use crate::trace::why::{
    AddedLines, Blame, BlamedLine, FileWriter, LineAnswer, WriterInput, commits_of, origins, uncommitted,
};
use crate::trace::{LARGEST_FILE, SearchedText};
use crate::vault::{Head, VaultPath};

/// A session that may have written to the file.
pub(super) struct WriterNote {
    pub(super) path: VaultPath,
    pub(super) id: String,
    pub(super) session: Session,
    pub(super) is_subagent: bool,
    patch: String,
    /// Whether its project is the repository of the file, lies in it or holds it.
    pub(super) is_here: bool,
}

impl WriterNote {
    fn writer<'a>(&'a self, names: &[&str], file: &SearchedText<'_>, taken: &'a HashSet<String>) -> FileWriter<'a> {
        let input = WriterInput { session: &self.session, patch: &self.patch, is_here: self.is_here, taken };
        FileWriter::of(&input, names, file)
    }
}

/// What is known of each line.
pub(super) struct Origins {
    /// From the top of the repository, else as it was given.
    pub(super) path: String,
    /// Whether the file lies in a repository.
    pub(super) in_repository: bool,
    pub(super) blame: Blame,
    pub(super) notes: Vec<WriterNote>,
    pub(super) lines: Vec<LineAnswer>,
}

impl Origins {
    pub(super) fn find(
        path: &Path,
        wanted: &WantedLines,
        at: Option<&str>,
        world: &TraceWorld,
        cx: &Context<'_>,
    ) -> Result<Self> {
        let real = path.parent().and_then(|dir| dir.canonicalize().ok()).zip(path.file_name());
        let path = &real.map_or_else(|| path.to_owned(), |(dir, name)| dir.join(name));
        let repository = Repository::of(path.parent().unwrap_or(path), cx);
        let inside = repository.as_ref().and_then(|it| path.strip_prefix(it.top()).ok());
        let shown = inside.map_or_else(|| wanted.path.clone(), |it| it.to_string_lossy().replace('\\', "/"));
        let commit = match (&repository, at) {
            (Some(repository), rev) => {
                let commit = repository.commit(rev.unwrap_or("HEAD"));
                if let (Some(rev), None) = (rev, &commit) {
                    return Err(Error::usage(format!("no commit `{rev}` in {}", repository.top().display())));
                }
                commit
            }
            (None, Some(_)) => return Err(Error::usage(format!("{} is in no repository", path.display()))),
            (None, None) => None,
        };
        let committed = repository.as_ref().zip(commit.as_deref()).and_then(|(it, commit)| it.blame(commit, &shown));
        let bytes = match (at, repository.as_ref().zip(commit.as_deref())) {
            (Some(rev), Some((repository, commit))) => repository.file(commit, &shown).ok_or_else(|| {
                Error::no(format!("{shown} is not in {rev}")).with_hint("name the file as it was called then")
            })?,
            _ => read(path, &shown)?,
        };
        let text = SearchedText::of(&bytes);
        let lines: Vec<String> = text.lines().iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect();
        if let Some((_, last)) = wanted.range.filter(|(_, last)| *last > lines.len() as u64) {
            return Err(Error::usage(format!("{shown} has {} lines and no line {last}", lines.len())));
        }
        let blame = if let Some(blame) = committed {
            uncommitted(blame, &lines, &shown)
        } else {
            let line = |text: &String| BlamedLine { commit: None, path: shown.clone(), text: text.clone() };
            Blame { commits: Vec::new(), lines: lines.iter().map(line).collect() }
        };
        let mut names: Vec<&str> = blame.lines.iter().map(|line| line.path.as_str()).chain([shown.as_str()]).collect();
        names.sort_unstable();
        names.dedup();
        for path in &mut names {
            *path = path.rsplit('/').next().unwrap_or(path);
        }
        names.sort_unstable();
        names.dedup();
        let top = repository.as_ref().map_or_else(|| path.parent().unwrap_or(path), Repository::top);
        let notes = notes(world, &blame, &names, top);
        let taken = match repository.as_ref().zip(commit.as_deref()) {
            Some((repository, commit)) => taken(repository, commit, &notes, &blame, &shown),
            None => HashSet::new(),
        };
        let origins = {
            let mut writers: Vec<FileWriter<'_>> = notes.iter().map(|it| it.writer(&names, &text, &taken)).collect();
            for (writer, relatives) in writers.iter_mut().zip(relatives(&notes)) {
                writer.set_relatives(relatives);
            }
            let added = match repository.as_ref().zip(commit.as_deref()) {
                Some((repository, commit)) => added(repository, commit, &writers, &blame, &shown),
                None => AddedLines::default(),
            };
            origins(&blame, &writers, &added)
        };
        let in_repository = repository.is_some();
        let mut blame = blame;
        mask_lines(&mut blame.lines);
        Ok(Self { path: shown, in_repository, blame, notes, lines: origins })
    }
}

/// Takes secrets out of the lines of a file: pages and agents are shown them. Some secrets have several lines.
fn mask_lines(lines: &mut [BlamedLine]) {
    let whole = lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n");
    let found = mask::find(&whole);
    let mut from = 0;
    for line in lines.iter_mut().filter(|_| !found.is_empty()) {
        let to = from + line.text.len();
        for secret in found.iter().rev().filter(|it| it.range.start < to && from < it.range.end) {
            let own = secret.range.start.max(from) - from..secret.range.end.min(to) - from;
            line.text.replace_range(own, &format!("[secret:{}]", secret.rule));
        }
        from = to + 1;
    }
}

/// The commits of sessions, by id as notes have it, that lead to `commit` and touched the file under one of its names.
fn taken(
    repository: &Repository<'_, '_>,
    commit: &str,
    notes: &[WriterNote],
    blame: &Blame,
    path: &str,
) -> HashSet<String> {
    let ids: HashSet<String> = notes.iter().flat_map(|note| commits_of(&note.session)).map(|tie| tie.id).collect();
    let paths: HashSet<&str> = blame.lines.iter().map(|line| line.path.as_str()).chain([path]).collect();
    let touching = repository.touching(&ids, &paths.into_iter().collect::<Vec<_>>());
    repository.reachable(&touching.into_iter().collect::<Vec<_>>(), commit)
}

/// The lines that commits behind the first step which wrote to the file added to it.
fn added(
    repository: &Repository<'_, '_>,
    commit: &str,
    writers: &[FileWriter<'_>],
    blame: &Blame,
    path: &str,
) -> AddedLines {
    let Some(since) = writers.iter().filter_map(FileWriter::first).min() else { return AddedLines::default() };
    let paths: HashSet<&str> = blame.lines.iter().map(|line| line.path.as_str()).chain([path]).collect();
    let wanted: HashSet<&str> = blame.lines.iter().map(|line| line.text.trim()).collect();
    repository.added(commit, &paths.into_iter().collect::<Vec<_>>(), since, &wanted)
}

/// The file as it is in the working copy.
fn read(path: &Path, shown: &str) -> Result<Vec<u8>> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::no(format!("no file {shown}")).with_hint(
                "`--at REV` reads the file as it is in a commit; `cru files` lists the files that steps wrote",
            ));
        }
        Err(source) => return Err(Error::io("read", path, source)),
    };
    if metadata.is_dir() {
        return Err(Error::usage(format!("{shown} is a folder")).with_hint("name one file, or a line of it: FILE:LINE"));
    }
    if !metadata.is_file() {
        return Err(Error::usage(format!("{shown} is not a regular file")));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(Error::usage(format!("{shown} is larger than 8 MiB")));
    }
    crate::base::files::read(path)
}

/// The sessions that name such a file, or show one of the commits.
fn notes(world: &TraceWorld, blame: &Blame, names: &[&str], top: &Path) -> Vec<WriterNote> {
    let ids: HashSet<&str> = blame.commits.iter().filter_map(|it| it.id.get(..7)).collect();
    let subjects: HashSet<String> = blame.commits.iter().map(|it| folded(&it.subject)).collect();
    let heads: Vec<&Head> = world.catalog.sessions().collect();
    let top = top.canonicalize().unwrap_or_else(|_| top.to_owned());
    let read = |head: &&Head| {
        let bytes = world.vault.read(&head.path).ok()?;
        if !may_tell(&bytes, names, &ids, &subjects) {
            return None;
        }
        let session = crate::session::read::content_of(bytes);
        let project = session.meta.project.as_deref().unwrap_or_default();
        let root = world.roots.root(project).and_then(|root| root.canonicalize().ok());
        let last = |path: &str| path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        // A project that is not on this machine is taken for the repository by its name.
        let is_here = match root {
            Some(root) => root.starts_with(&top) || top.starts_with(&root),
            None => !project.is_empty() && Some(last(project).as_str()) == top.file_name().and_then(|it| it.to_str()),
        };
        let id = head.id();
        let patch = world.patch(&id);
        let is_subagent = world.catalog.is_subagent(head);
        Some(WriterNote { path: head.path.clone(), id, session, is_subagent, patch, is_here })
    };
    heads.par_iter().filter_map(read).collect()
}

/// Whether a note names such a file or shows one of the commits: a look at its bytes, before it is parsed.
fn may_tell(bytes: &[u8], names: &[&str], ids: &HashSet<&str>, subjects: &HashSet<String>) -> bool {
    if names.iter().any(|name| memchr::memmem::find(bytes, name.as_bytes()).is_some()) {
        return true;
    }
    memchr::memmem::find_iter(bytes, b"commit: `").any(|at| {
        let line = bytes[at + 9..].split(|&byte| byte == b'\n').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let (id, subject) = line.split_once('`').unwrap_or((&line, ""));
        id.get(..7).is_some_and(|id| ids.contains(id)) || subjects.contains(&folded(subject))
    })
}

/// A subject as it is compared; what a note cut short is compared by its id and by the file's name alone.
fn folded(subject: &str) -> String {
    subject.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// For each session its sub-agents and the session it was started from, as far as they are among these.
fn relatives(notes: &[WriterNote]) -> Vec<Vec<usize>> {
    let by_id: HashMap<&str, usize> = notes.iter().enumerate().map(|(at, note)| (note.id.as_str(), at)).collect();
    let mut all = vec![Vec::new(); notes.len()];
    for (at, note) in notes.iter().enumerate() {
        let children = note.session.meta.subagents.iter().map(|row| row.session.as_str());
        let parent = note.session.meta.parent.as_ref().map(|link| link.target.as_str());
        for other in children.chain(parent).filter_map(|id| by_id.get(id).copied()) {
            all[at].push(other);
            all[other].push(at);
        }
    }
    for relatives in &mut all {
        relatives.sort_unstable();
        relatives.dedup();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_one_line_and_of_several_go() {
        // Put together here, so that the source holds nothing that looks like a secret.
        let token = ["ghp", "_16C7e42F292c6912E7710c838347Ae178B4a"].concat();
        let of_key = |word: &str| format!("-----{word} RSA PRIVATE {}-----", "KEY");
        let key = format!("{}\nMIIEowIBAAKCAQEAx7Y3v4Q9kq2mT0uHcF1rJw8eZ5nVbG6s\n{}", of_key("BEGIN"), of_key("END"));
        let text = format!("export GITHUB_TOKEN={token} # é\nlet key = \"\n{key}\nfn pump() {{}}");
        let line = |text: &str| BlamedLine { commit: None, path: String::new(), text: text.to_owned() };
        let mut lines: Vec<BlamedLine> = text.lines().map(line).collect();
        let count = lines.len();
        mask_lines(&mut lines);
        let told = lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n");
        assert!(!told.contains("ghp_") && !told.contains("MIIE"), "{told}");
        assert!(
            told.contains("[secret:github-token]") && told.contains("# é") && told.ends_with("fn pump() {}"),
            "{told}"
        );
        assert_eq!(lines.len(), count);
    }
}
