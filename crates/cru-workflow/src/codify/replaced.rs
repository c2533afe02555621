//! What a later call of the session put in the place of what an earlier one made: a commit that was amended, an edit whose
//! lines were changed again or taken back, a file that was written anew.
//!
//! Only what the record holds counts: lines of both edits, the whole new file, `--amend`, `git restore`. Linear in the lines.

use foldhash::{HashMap, HashSet};

use super::block_link;
use super::call::{Call, Stash};
use crate::evidence::Evidence;
use cru_action::ToolKind;
use cru_graph::Place;

/// How something was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Replacement {
    /// The commit was amended.
    Amended,
    /// Every line that it added was changed or removed again.
    Changed,
    /// The whole file was written again.
    Written,
    /// The files were put back to what was committed.
    TakenBack,
    /// It was put aside with `git stash` and did not come back.
    PutAside,
    /// The commit was undone with `git reset`; what it changed may have stayed.
    Undone,
}

/// For each call that was replaced, by its place, the later call and how.
#[derive(Clone, Debug, Default)]
pub(super) struct Replaced<'a>(HashMap<Place, (&'a Call<'a>, Replacement)>);

/// An edit of one file that still stands.
struct LiveEdit<'a> {
    call: &'a Call<'a>,
    /// Lines of it that nothing has replaced, with how often each is there.
    lines: HashMap<&'a str, usize>,
    left: usize,
}

/// Edits that were put aside.
struct Stashed<'a> {
    by: &'a Call<'a>,
    files: HashMap<&'a str, Vec<LiveEdit<'a>>>,
    holders: HashMap<(&'a str, &'a str), Vec<usize>>,
}

impl<'a> Replaced<'a> {
    /// Of calls in their order.
    pub(super) fn of(calls: &[&'a Call<'a>], evidence: &'a Evidence) -> Self {
        let mut found: HashMap<Place, (&'a Call<'a>, Replacement)> = HashMap::default();
        let mut files: HashMap<&str, Vec<LiveEdit<'a>>> = HashMap::default();
        // Which edits of a file hold a line, last ones last.
        let mut holders: HashMap<(&str, &str), Vec<usize>> = HashMap::default();
        // Commits of the session's own that stand, last ones last.
        let mut commits: Vec<&'a Call<'a>> = Vec::new();
        let mut aside: Vec<Stashed<'a>> = Vec::new();
        for &call in calls.iter().filter(|call| call.succeeded() || call.shows_commit) {
            if call.commits {
                if call.amends
                    && let Some(before) = commits.pop()
                {
                    found.insert(before.place, (call, Replacement::Amended));
                }
                // A commit by a merge or a pull is none that an amended one of the session's own replaces.
                if call.records {
                    commits.push(call);
                } else {
                    commits.clear();
                }
                // What is committed is no longer put back.
                files.clear();
                holders.clear();
                continue;
            }
            let back = &call.taken_back;
            let ids: Vec<&str> = commits.iter().map(|_| "").collect();
            let standing = commits.len() - call.step.action().undone(&ids);
            found.extend(commits.drain(standing..).map(|it| (it.place, (call, Replacement::Undone))));
            match back.stash {
                Some(Stash::Away) => {
                    aside.push(Stashed {
                        by: call,
                        files: std::mem::take(&mut files),
                        holders: std::mem::take(&mut holders),
                    });
                }
                // Where work went on between, only what was put aside comes back here: its lines may have changed.
                Some(Stash::Back) => {
                    if let Some(stashed) = aside.pop().filter(|_| files.is_empty()) {
                        (files, holders) = (stashed.files, stashed.holders);
                    }
                }
                None => {}
            }
            if back.all || !back.restored.is_empty() {
                let is_back = |path: &str| {
                    back.all || back.restored.iter().any(|word| path == word || path.ends_with(&format!("/{word}")))
                };
                for (_, edits) in files.iter_mut().filter(|(path, _)| is_back(path)) {
                    found.extend(edits.drain(..).map(|edit| (edit.call.place, (call, Replacement::TakenBack))));
                }
                holders.retain(|(path, _), _| !is_back(path));
            }
            let [path] = call.writes.as_slice() else { continue };
            let path: &str = path;
            let changes = evidence.changes(call.step.id.as_deref());
            let removed = changes.iter().flat_map(|it| &it.lines).filter(|(mark, line)| *mark == '-' && counts(line));
            let edits = files.entry(path).or_default();
            if call.tool == ToolKind::Write {
                found.extend(edits.drain(..).map(|edit| (edit.call.place, (call, Replacement::Written))));
                holders.retain(|(own, _), _| *own != path);
            }
            for (_, line) in removed {
                let Some(holding) = holders.get_mut(&(path, line.as_str())) else { continue };
                let Some(edit) = holding.pop().and_then(|at| edits.get_mut(at)) else { continue };
                if let Some(count) = edit.lines.get_mut(line.as_str()).filter(|count| **count > 0) {
                    *count -= 1;
                    edit.left -= 1;
                }
                if edit.left == 0 {
                    found.insert(edit.call.place, (call, Replacement::Changed));
                }
            }
            if changes.is_empty() || !changes.iter().all(|it| it.more == 0) {
                continue;
            }
            let mut edit = LiveEdit { call, lines: HashMap::default(), left: 0 };
            let removed: HashSet<&str> = lines(changes, '-').collect();
            for line in lines(changes, '+').filter(|line| !removed.contains(line)).take(MAX_LINES) {
                holders.entry((path, line)).or_default().push(edits.len());
                *edit.lines.entry(line).or_insert(0) += 1;
                edit.left += 1;
            }
            if edit.left > 0 {
                edits.push(edit);
            }
        }
        for Stashed { by, files, .. } in aside {
            let edits = files.into_values().flatten();
            found.extend(edits.map(|edit| (edit.call.place, (by, Replacement::PutAside))));
        }
        Self(found)
    }

    /// How `call` was replaced, in words with a link into the session's `note`.
    pub(super) fn told(&self, call: &Call<'_>, note: Option<&str>) -> Option<String> {
        let (by, how) = self.0.get(&call.place)?;
        let at = by.step.id.as_deref().map_or_else(String::new, |id| format!(" in {}", block_link(note, id)));
        let what = match how {
            Replacement::Amended => "amended later",
            Replacement::Changed => "its lines are changed again later",
            Replacement::Written => "the whole file is written again later",
            Replacement::TakenBack => "taken back later",
            Replacement::PutAside => "put aside later with `git stash`",
            Replacement::Undone => "the commit is undone later",
        };
        Some(format!("{what}{at}"))
    }
}

/// Lines of an edit that are compared.
const MAX_LINES: usize = 600;

/// The lines with a mark that say something.
fn lines(changes: &[crate::evidence::FileDiff], mark: char) -> impl Iterator<Item = &str> {
    let of_mark = move |(own, line): &'_ &(char, String)| *own == mark && counts(line);
    changes.iter().flat_map(|it| &it.lines).filter(of_mark).map(|(_, line)| line.as_str())
}

/// Whether a line says anything: a brace alone stands in every edit.
fn counts(line: &str) -> bool {
    line.contains(char::is_alphanumeric)
}
