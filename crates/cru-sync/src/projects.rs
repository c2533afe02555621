//! The generated regions of project notes: sessions, decisions and open tasks.
//!
//! One pass over rows of the index for all projects that an import touched; no session note is read for it. Only what
//! stands between the markers of a region is written. Lines that a person wrote there are put behind the region before it
//! is written again: what `cru` generated last is known by the region's seal, and line by line in the machine state.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use jiff::Timestamp;

use cru_base::{Error, Result, files};
use cru_index::record::{DecisionRow, Record};
use cru_index::{SessionRow, Snapshot, Table};
use cru_note::edit::{EditError, region, replace_region, seal, theirs};
use cru_note::{Note, Patch};
use cru_session::words::shorten::at_word;
use cru_session::{Link, Task, escape};
use cru_vault::project::{ProjectNotes, REGIONS, is_project};
use cru_vault::state::key;
use cru_vault::{Catalog, State, Vault, VaultPath};

/// Decisions and tasks that a project note lists, newest first.
const MOST: usize = 100;

/// Characters of a title in a list.
const TITLE: usize = 100;

/// How often a note is read again that somebody else wrote meanwhile.
const TRIES: usize = 4;

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefreshedProjects {
    /// Notes whose regions changed.
    pub written: Vec<VaultPath>,
    /// Notes that could not be written, and why.
    pub failed: Vec<(VaultPath, String)>,
}

/// The lists of one project, newest first.
#[derive(Debug, Default)]
struct ProjectLists {
    sessions: Vec<(Option<Timestamp>, String)>,
    decisions: Vec<(Option<Timestamp>, String)>,
    tasks: Vec<(Option<Timestamp>, String)>,
}

/// Brings the regions of the project notes up to date whose sessions are among `touched`, paths in the vault, or of all. A
/// session belongs to the project that its `project_note` names, else to that of its folder; sub-agents belong to their parents.
pub fn refresh(
    vault: &Vault,
    state: &State,
    snapshot: &Snapshot,
    touched: Option<&BTreeSet<String>>,
) -> Result<RefreshedProjects> {
    let catalog = Catalog::read(vault);
    if !catalog.heads.iter().any(is_project) {
        return Ok(RefreshedProjects::default());
    }
    let projects = ProjectNotes::of(vault, &catalog);
    let mut project_of: HashMap<String, &VaultPath> = HashMap::new();
    for head in catalog.sessions() {
        let linked = head.meta.project_note.as_ref().and_then(|link| catalog.note(&link.target, &head.path));
        let linked = linked.filter(|note| is_project(note)).map(|note| &note.path);
        let is_own = linked.is_some() || !catalog.is_subagent(head);
        let by_folder = || head.meta.project.as_deref().filter(|_| is_own).and_then(|folder| projects.note(folder));
        if let Some(note) = linked.or_else(by_folder) {
            project_of.insert(head.path.text().into_owned(), note);
        }
    }
    if let Some(touched) = touched {
        let wanted: HashSet<&VaultPath> = touched.iter().filter_map(|path| project_of.get(path).copied()).collect();
        project_of.retain(|_, note| wanted.contains(note));
    }
    let mut lists: BTreeMap<&VaultPath, ProjectLists> = BTreeMap::new();
    for row in snapshot.sessions() {
        if let Some(note) = project_of.get(&row.path) {
            lists.entry(note).or_default().sessions.push((row.started, line(row, None, &row.title, row.started)));
        }
    }
    let has = |row: &SessionRow| (row.decisions > 0 || row.open_tasks > 0) && project_of.contains_key(&row.path);
    let tables = [Table::Decisions, Table::Tasks];
    snapshot.each_record(
        has,
        &tables,
        |record| record,
        |record| {
            if let Some(note) = project_of.get(&record.session.path) {
                lists.entry(note).or_default().add(record);
            }
        },
    )?;
    let mut refreshed = RefreshedProjects::default();
    for (note, lists) in lists {
        match write(vault, state, note, &lists.into_texts()) {
            Ok(true) => refreshed.written.push(note.clone()),
            Ok(false) => {}
            Err(error) => refreshed.failed.push((note.clone(), error.to_string())),
        }
    }
    Ok(refreshed)
}

impl ProjectLists {
    fn add(&mut self, record: Record) {
        let row = &record.session;
        for made in &record.decisions {
            let time = made.at.or(row.started);
            let DecisionRow { title, id, .. } = made;
            self.decisions.push((time, line(row, id.as_deref(), title, time)));
        }
        for task in record.tasks {
            let is_open = Task { status: task.status.clone(), ..Task::default() }.is_open();
            if is_open {
                let id = Some(task.id.to_lowercase()).filter(|id| is_block_id(id));
                self.tasks.push((row.started, line(row, id.as_deref(), &task.content, row.started)));
            }
        }
    }

    /// The text of each region, in the order of [`REGIONS`].
    fn into_texts(self) -> [String; 3] {
        let text = |mut lines: Vec<(Option<Timestamp>, String)>, most: usize| {
            // Of one time, the order of the notes.
            lines.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
            let more = lines.len().saturating_sub(most);
            let mut text: Vec<String> = lines.into_iter().take(most).map(|(_, line)| line).collect();
            if more > 0 {
                text.push(format!("- … and {more} more"));
            }
            text.join("\n")
        };
        [text(self.tasks, MOST), text(self.decisions, MOST), text(self.sessions, usize::MAX)]
    }
}

fn is_block_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// `- 2026-11-20 [[note#^d-001|Title]]`; a title that a link cannot show stands behind it.
fn line(row: &SessionRow, block: Option<&str>, title: &str, time: Option<Timestamp>) -> String {
    let name = row.path.rsplit('/').next().unwrap_or(&row.path);
    let mut link = Link::to_note(name.strip_suffix(".md").unwrap_or(name));
    link.block = block.map(str::to_owned);
    let title = at_word(&cru_base::text::fold_whitespace(&cru_base::text::sanitise(title)), TITLE);
    let is_plain = !title.is_empty() && title.chars().all(|c| c.is_alphanumeric() || " ,.;:'’–-()!?/&+…".contains(c));
    let mut behind = String::new();
    if is_plain {
        link.alias = Some(title);
    } else if !title.is_empty() {
        behind = format!(" {}", escape::inline(&title));
    }
    let day = time.map(|time| format!("{} ", time.strftime("%F"))).unwrap_or_default();
    format!("- {day}{link}{behind}")
}

/// Writes the regions of one note; whether its bytes changed. Regions that a person removed or broke are left.
fn write(vault: &Vault, state: &State, path: &VaultPath, texts: &[String; 3]) -> Result<bool> {
    let file = vault.file(path);
    for _ in 0..TRIES {
        let bytes = files::read(&file)?;
        let mut new = bytes.clone();
        for ((name, _), text) in REGIONS.iter().zip(texts) {
            let note = Note::parse(new.clone());
            let patch = renewed(state, path, &note, name, text)?;
            new = patch.apply(&new);
        }
        let written = if new == bytes { Ok(()) } else { files::replace_within(vault.root(), &file, &bytes, &new) };
        match written {
            Err(Error::Changed { .. }) => {}
            Err(error) => return Err(error),
            Ok(()) => {
                for ((name, _), text) in REGIONS.iter().zip(texts) {
                    // Without it more lines than a person's are kept when they write into the region; none is lost.
                    let _ = files::put_private(&generated(state, path, name), text.as_bytes());
                }
                return Ok(new != bytes);
            }
        }
    }
    Err(Error::Changed { path: file })
}

/// The change of one region; none where the note has no such region.
fn renewed(state: &State, path: &VaultPath, note: &Note, name: &str, text: &str) -> Result<Patch> {
    let Ok(found) = region(note, name) else { return Ok(Patch::default()) };
    let is_ours = found.seal == seal(found.inside) || found.inside.trim().is_empty();
    let below = if is_ours {
        String::new()
    } else {
        let last = files::read(&generated(state, path, name)).unwrap_or_default();
        theirs(found.inside, &[&String::from_utf8_lossy(&last), text])
    };
    match replace_region(note, name, &seal(text), text, &below) {
        Ok(patch) => Ok(patch),
        Err(EditError::NoRegion(_)) => Ok(Patch::default()),
        Err(error) => Err(Error::usage(format!("the region `{name}` cannot be written: {error}"))
            .with_hint("move your own text out of the region")),
    }
}

/// Where the machine state keeps what was last generated of a region.
fn generated(state: &State, path: &VaultPath, name: &str) -> PathBuf {
    state.dir().join("regions").join(key(&format!("{}--{name}", path.text())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct World {
        _temp: tempfile::TempDir,
        vault: Vault,
        state: State,
        path: VaultPath,
    }

    const NOTE: &str = "# P\n\nmine\n\n<!-- cru:begin sessions -->\n<!-- cru:end -->\n\nmine too\n";

    impl World {
        fn new(text: &str) -> Self {
            let temp = tempfile::tempdir().unwrap();
            files::create(&temp.path().join("vault/.cru/config.toml"), b"").unwrap();
            files::create(&temp.path().join("vault/projects/p.md"), text.as_bytes()).unwrap();
            let vault = Vault::open(&temp.path().join("vault")).unwrap();
            let state = State::at(temp.path().join("state"));
            Self { _temp: temp, vault, state, path: VaultPath::new("projects/p.md").unwrap() }
        }

        fn write(&self, sessions: &str) -> bool {
            let texts = [String::new(), String::new(), sessions.to_owned()];
            write(&self.vault, &self.state, &self.path, &texts).unwrap()
        }

        fn text(&self) -> String {
            String::from_utf8(files::read(&self.vault.file(&self.path)).unwrap()).unwrap()
        }

        fn edit(&self, from: &str, to: &str) {
            let old = self.text();
            assert!(old.contains(from), "{old}");
            files::put(&self.vault.file(&self.path), old.replacen(from, to, 1).as_bytes()).unwrap();
        }
    }

    #[test]
    fn what_a_person_wrote_inside_stands_behind_the_region() {
        let world = World::new(NOTE);
        assert!(world.write("- [[a]]\n- [[b]]"));
        assert!(!world.write("- [[a]]\n- [[b]]"), "the same again writes nothing");
        world.edit("- [[b]]", "- [[b]] was hard\n\n> and a quote");
        assert!(world.write("- [[c]]\n- [[b]]"));
        insta::assert_snapshot!(world.text().replace(&seal("- [[c]]\n- [[b]]"), "SEAL"), @r"
        # P

        mine

        <!-- cru:begin sessions SEAL -->

        - [[c]]
        - [[b]]

        <!-- cru:end -->

        - [[b]] was hard

        > and a quote

        mine too
        ");
        let before = world.text();
        assert!(!world.write("- [[c]]\n- [[b]]"));
        assert_eq!(world.text(), before);
    }

    #[test]
    fn a_region_that_is_gone_or_broken_is_left() {
        for text in [
            "# P\n",
            "<!-- cru:begin sessions -->\n\nmine\n",
            "```\n<!-- cru:begin sessions -->\n<!-- cru:end -->\n```\n",
        ] {
            let world = World::new(text);
            assert!(!world.write("- [[a]]"));
            assert_eq!(world.text(), text);
        }
    }

    #[test]
    fn another_machine_rewrites_what_nobody_touched() {
        let world = World::new(NOTE);
        world.write("- [[a]]");
        files::remove(&generated(&world.state, &world.path, "sessions")).unwrap();
        world.write("- [[b]]");
        assert!(!world.text().contains("[[a]]"));
        assert!(world.text().contains("- [[b]]"));
    }

    #[test]
    fn a_renamed_session_is_no_edit() {
        let world = World::new(NOTE);
        world.write("- 2026-11-20 [[a#^d-01|A]]\n- [[b]] B");
        world.edit("[[a#", "[[sessions/other#");
        world.edit("[[b]]", "[[c]]");
        assert!(world.write("- 2026-11-20 [[other#^d-01|New]]"));
        assert_eq!(world.text().lines().filter(|line| line.contains("[[")).count(), 1);
    }

    proptest! {
        /// Whatever a person writes between generated lines is in the note after the next write, or the write is refused.
        #[test]
        fn no_line_of_a_person_is_lost(
            own in prop::collection::vec("[-a-z>#`*|<!: ]{0,12}", 1..5),
            at in 0_usize..3,
            new in "[abc]{1,3}",
            forget: bool,
        ) {
            let world = World::new(NOTE);
            world.write("- [[a]]\n- [[b]]");
            let own_text = own.join("\n");
            let mark = ["- [[a]]", "- [[b]]", "\n<!-- cru:end"][at];
            world.edit(mark, &format!("{own_text}\n{mark}"));
            if forget {
                files::remove(&generated(&world.state, &world.path, "sessions")).unwrap();
            }
            let before = world.text();
            let texts = [String::new(), String::new(), format!("- [[{new}]]")];
            let _ = write(&world.vault, &world.state, &world.path, &texts);
            let after = world.text();
            for line in own.iter().map(|line| line.trim_end()) {
                let count = |text: &str| text.lines().filter(|it| it.trim_end() == line).count();
                prop_assert!(line.is_empty() || count(&after) >= count(&before), "{line:?}\n{before}\n---\n{after}");
            }
            prop_assert!(after.contains("\nmine\n") && after.contains("\nmine too\n"));
        }
    }
}
