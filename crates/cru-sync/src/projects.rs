//! The generated regions of project notes: sessions, decisions and open tasks.
//!
//! One pass over rows of the index for all projects that an import touched; no session note is read for it. Only what
//! stands between the markers of a region is written. Lines that a person wrote there are put behind the region before it
//! is written again ([`cru_note::edit::renew_region`]).

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use cru_base::{Error, Result};
use cru_index::record::{DecisionRow, Record, TaskRow};
use cru_index::{SessionRow, Snapshot, Table};
use cru_note::edit::{ChangedPage, EditError, Fill, Missing};
use cru_session::words::shorten::at_word;
use cru_session::{Link, Task, escape, task_line};
use cru_vault::project::{ProjectNotes, REGIONS, is_project};
use cru_vault::{Catalog, Vault, VaultPath, page};

/// Decisions and tasks that a project note lists, newest first.
const MOST: usize = 100;

/// Characters of a title in a list, and of what a session left open.
const TITLE: usize = 100;
const OPEN: usize = 160;

/// What was written.
#[derive(Debug, Default)]
pub struct RefreshedProjects {
    /// Notes whose regions changed.
    pub written: Vec<VaultPath>,
    /// Notes that could not be written, and why.
    pub failed: Vec<(VaultPath, Error)>,
}

/// The lists of one project, newest first.
#[derive(Debug, Default)]
struct ProjectLists {
    sessions: Vec<(Option<Timestamp>, String)>,
    decisions: Vec<(Option<Timestamp>, String)>,
    tasks: Vec<(Option<Timestamp>, String)>,
}

/// Brings the regions of all project notes up to date. A
/// session belongs to the project that its `project_note` names, else to that of its folder; sub-agents belong to their parents.
/// One that is kept from agents is in no list, which they read.
pub fn refresh(vault: &Vault, snapshot: &Snapshot) -> Result<RefreshedProjects> {
    let catalog = Catalog::read(vault);
    if !catalog.heads.iter().any(is_project) {
        return Ok(RefreshedProjects::default());
    }
    let projects = ProjectNotes::of(vault, &catalog);
    let mut project_of: HashMap<String, &VaultPath> = HashMap::new();
    for head in catalog.sessions().filter(|head| head.meta.export != Some(false)) {
        let linked = head.meta.project_note.as_ref().and_then(|link| catalog.note(&link.target, &head.path));
        let linked = linked.filter(|note| is_project(note)).map(|note| &note.path);
        let is_own = linked.is_some() || !catalog.is_subagent(head);
        let by_folder = || head.meta.project.as_deref().filter(|_| is_own).and_then(|folder| projects.note(folder));
        if let Some(note) = linked.or_else(by_folder) {
            project_of.insert(head.path.text().into_owned(), note);
        }
    }
    let mut lists: BTreeMap<&VaultPath, ProjectLists> = BTreeMap::new();
    for row in snapshot.sessions() {
        if let Some(note) = project_of.get(&row.path) {
            let mut told = line(row, None, &row.title, row.started, &vault.config().zone);
            if !row.open.is_empty() {
                told.push_str(&format!(" · open: {}", escape::inline(&at_word(&row.open, OPEN))));
            }
            lists.entry(note).or_default().sessions.push((row.started, told));
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
                lists.entry(note).or_default().add(&record, vault);
            }
        },
    );
    // The last session of a project may be gone: nothing stays in its lists.
    let [.., (sessions, _)] = REGIONS;
    let is_listed = |path: &VaultPath| {
        let mark = format!("<!-- cru:begin {sessions} ");
        vault.read(path).is_ok_and(|bytes| memchr::memmem::find(&bytes, mark.as_bytes()).is_some())
    };
    for head in catalog.heads.iter().filter(|head| is_project(head)) {
        if !lists.contains_key(&head.path) && is_listed(&head.path) {
            lists.insert(&head.path, ProjectLists::default());
        }
    }
    let mut refreshed = RefreshedProjects::default();
    for (note, lists) in lists {
        match write(vault, note, &lists.into_texts()) {
            Ok(true) => refreshed.written.push(note.clone()),
            Ok(false) => {}
            Err(error) => refreshed.failed.push((note.clone(), error)),
        }
    }
    Ok(refreshed)
}

impl ProjectLists {
    fn add(&mut self, record: &Record, vault: &Vault) {
        let row = &record.session;
        for made in &record.decisions {
            let time = made.at.or(row.started);
            let DecisionRow { title, id, .. } = made;
            self.decisions.push((time, line(row, id.as_deref(), title, time, &vault.config().zone)));
        }
        let is_open = |task: &TaskRow| Task { status: task.status.clone(), ..Task::default() }.is_open();
        let open: Vec<&TaskRow> = record.tasks.iter().filter(|task| is_open(task)).collect();
        if open.is_empty() {
            return;
        }
        let note = VaultPath::new(&row.path).and_then(|path| vault.read(&path).ok()).unwrap_or_default();
        let blocks = block_ids(&note);
        for task in open {
            let id = block_of(task, &blocks);
            self.tasks.push((row.started, line(row, id.as_deref(), &task.content, row.started, &vault.config().zone)));
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

/// What stands behind ` ^` at the ends of a note's lines.
fn block_ids(note: &[u8]) -> HashSet<&[u8]> {
    let ends = note.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    ends.filter_map(|line| Some(&line[line.iter().rposition(|byte| *byte == b'^')? + 1..])).collect()
}

/// The block that a task is in its note: one in a fence is none.
fn block_of(task: &TaskRow, blocks: &HashSet<&[u8]>) -> Option<String> {
    let written = task_line::lossy(&Task { id: task.id.clone(), ..Task::default() }).id;
    let own = Some(task.id.clone()).filter(|id| !id.is_empty());
    written.into_iter().chain(own).find(|id| blocks.contains(id.as_bytes()))
}

/// `- 2026-11-20 [[note#^d-001|Title]]`; a title that a link cannot show stands behind it.
fn line(row: &SessionRow, block: Option<&str>, title: &str, time: Option<Timestamp>, zone: &TimeZone) -> String {
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
    let day = time.map(|time| format!("{} ", time.to_zoned(zone.clone()).date())).unwrap_or_default();
    format!("- {day}{link}{behind}")
}

/// Writes the regions of one note; whether its bytes changed. Regions that a person removed are left. Those whose marks are
/// broken are left too, and are the error once the others are written.
fn write(vault: &Vault, path: &VaultPath, texts: &[String; 3]) -> Result<bool> {
    let mut broken = None;
    let written = page::change(vault, &vault.file(path), |old| {
        let Some(old) = old else { return Err(Error::Changed { path: vault.file(path) }) };
        let mut page = ChangedPage::new(old.to_vec());
        broken = None;
        for ((name, _), text) in REGIONS.iter().zip(texts) {
            match page.fill(&Fill::new(name, text, Missing::Leave), &|seal| page::generated(vault, seal)) {
                Ok(()) => {}
                Err(error @ EditError::BrokenRegion(_)) => broken = Some(page::unfilled(&path.text(), name, &error)),
                Err(error) => return Err(page::unfilled(&path.text(), name, &error)),
            }
        }
        Ok(page)
    })?;
    broken.map_or(Ok(written), Err)
}

#[cfg(test)]
mod tests {
    use cru_base::files;
    use cru_note::edit::GeneratedLines;
    use proptest::prelude::*;

    use super::*;

    fn seal(text: &str) -> String {
        GeneratedLines::of(text).seal()
    }

    struct World {
        _temp: tempfile::TempDir,
        vault: Vault,
        path: VaultPath,
    }

    #[test]
    fn the_link_of_a_task_leads_to_its_line() {
        let note = b"**Tasks:**\n- [ ] Mend the pump ^task-6\n- [ ] By hand ^7\n\n```tasks\n[{\"id\":\"8\"}]\n```\n";
        let blocks = block_ids(note);
        let of = |id: &str| block_of(&TaskRow { id: id.to_owned(), ..TaskRow::default() }, &blocks);
        assert_eq!((of("6").as_deref(), of("7").as_deref(), of("8"), of("")), (Some("task-6"), Some("7"), None, None));
    }

    const NOTE: &str = "# P\n\nmine\n\n<!-- cru:begin sessions -->\n<!-- cru:end -->\n\nmine too\n";

    impl World {
        fn new(text: &str) -> Self {
            let temp = tempfile::tempdir().unwrap();
            files::create(&temp.path().join("vault/.cru/config.toml"), b"").unwrap();
            files::create(&temp.path().join("vault/projects/p.md"), text.as_bytes()).unwrap();
            let vault = Vault::open(&temp.path().join("vault")).unwrap();
            Self { _temp: temp, vault, path: VaultPath::new("projects/p.md").unwrap() }
        }

        fn write(&self, sessions: &str) -> bool {
            self.try_write(sessions).unwrap()
        }

        fn try_write(&self, sessions: &str) -> Result<bool> {
            let texts = [String::new(), String::new(), sessions.to_owned()];
            write(&self.vault, &self.path, &texts)
        }

        fn text(&self) -> String {
            String::from_utf8(files::read(&self.vault.file(&self.path)).unwrap()).unwrap()
        }

        fn forget(&self) {
            std::fs::read_dir(self.vault.root().join(".cru/seals/regions")).unwrap().flatten().for_each(|it| {
                files::remove(&it.path()).unwrap();
            });
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
        for (text, is_broken) in [
            ("# P\n", false),
            ("<!-- cru:begin sessions -->\n\nmine\n", true),
            ("```\n<!-- cru:begin sessions -->\n<!-- cru:end -->\n```\n", false),
        ] {
            let world = World::new(text);
            let told = world.try_write("- [[a]]").map_err(|error| error.to_string());
            assert_eq!(
                told,
                if is_broken { Err("the marks in projects/p.md are broken".to_owned()) } else { Ok(false) }
            );
            assert_eq!(world.text(), text);
        }
    }

    #[test]
    fn another_machine_rewrites_what_nobody_touched() {
        let world = World::new(NOTE);
        world.write("- [[a]]");
        world.forget();
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
        assert!(world.write("- 2026-11-20 [[other#^d-01|New]]\n- 2026-11-20 [[c#^d-01|C]]"));
        assert_eq!(world.text().lines().filter(|line| line.contains("[[")).count(), 2, "{}", world.text());
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
                world.forget();
            }
            let before = world.text();
            let texts = [String::new(), String::new(), format!("- [[{new}]]")];
            let _ = write(&world.vault, &world.path, &texts);
            let after = world.text();
            for line in own.iter().map(|line| line.trim_end()) {
                let count = |text: &str| text.lines().filter(|it| it.trim_end() == line).count();
                prop_assert!(line.is_empty() || count(&after) >= count(&before), "{line:?}\n{before}\n---\n{after}");
            }
            prop_assert!(after.contains("\nmine\n") && after.contains("\nmine too\n"));
        }
    }
}
