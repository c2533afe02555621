//! Project notes: one for each folder that sessions ran in, linked from the sessions.
//!
//! A project note says `type: project` and names its folders in `folders`. Its path is made of the folder's name when it is
//! created; afterwards the note is a person's: it is found by `folders`, whatever it is called and wherever it lies. Two
//! folders with one name have two notes, and a person who wants one for both lists both folders in it.

use std::collections::HashMap;

use super::naming::Names;
use super::{Catalog, Head, Vault, VaultPath};
use cru_base::text::{fold_whitespace, sanitise, slug};
use cru_note::Note;
use cru_note::frontmatter::{self, Value, emit};
use cru_session::{Link, escape};

/// What `type` says in a project note.
pub const PROJECT: &str = "project";

/// The folder that new project notes are put in, inside the vault.
const FOLDER: &str = "projects";

/// Words of a folder's name that stand in the name of its note.
const WORDS: usize = 6;

/// The generated regions of a project note, each with the heading above it in a new note.
pub const REGIONS: [(&str, &str); 3] =
    [("open-tasks", "Open tasks"), ("decisions", "Decisions"), ("sessions", "Sessions")];

/// The project notes of a vault, by folder.
#[derive(Debug, Default)]
pub struct ProjectNotes {
    by_folder: HashMap<String, ProjectLink>,
    new: Vec<NewProjectNote>,
}

/// Where the sessions of a folder point.
#[derive(Clone, Debug)]
enum ProjectLink {
    /// To this note.
    Note(VaultPath),
    /// Nowhere: sessions of the folder point to a note that a person deleted.
    Deleted,
}

/// A project note that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewProjectNote {
    /// Where.
    pub path: VaultPath,
    /// Its whole text.
    pub text: String,
}

/// Whether a note is a project's.
pub fn is_project(head: &Head) -> bool {
    head.meta.kind.as_deref().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(PROJECT))
}

impl ProjectNotes {
    /// Those of a vault. Reads the project notes again, which are few, and no other note.
    pub fn of(vault: &Vault, catalog: &Catalog) -> Self {
        let mut notes = Self::default();
        for head in catalog.sessions() {
            let (Some(folder), Some(link)) = (head.meta.project.as_deref().and_then(key), &head.meta.project_note)
            else {
                continue;
            };
            if catalog.note(&link.target, &head.path).is_none() {
                notes.by_folder.insert(folder, ProjectLink::Deleted);
            }
        }
        // The first of two notes that name one folder has it.
        for head in catalog.heads.iter().rev().filter(|head| is_project(head)) {
            for folder in folders(vault, head).iter().filter_map(|folder| key(folder)) {
                notes.by_folder.insert(folder, ProjectLink::Note(head.path.clone()));
            }
        }
        notes
    }

    /// Makes notes again that a person deleted.
    pub fn restore_deleted(&mut self) {
        self.by_folder.retain(|_, link| matches!(link, ProjectLink::Note(_)));
    }

    /// The note of a folder that is there, or that is to be made.
    pub fn note(&self, folder: &str) -> Option<&VaultPath> {
        match self.by_folder.get(&key(folder)?)? {
            ProjectLink::Note(path) => Some(path),
            ProjectLink::Deleted => None,
        }
    }

    /// The link to the note of a folder. Where there is none, one is to be made, under a name that `names` has free. No link
    /// for a home folder or a root, where a person deleted the note, and where the vault does not read it.
    pub fn link(&mut self, vault: &Vault, folder: &str, names: &mut Names) -> Option<Link> {
        let key = key(folder)?;
        let path = match self.by_folder.get(&key) {
            Some(ProjectLink::Note(path)) => path.clone(),
            Some(ProjectLink::Deleted) => return None,
            None => {
                let note = new_note(vault, &key, names)?;
                let path = note.path.clone();
                self.by_folder.insert(key, ProjectLink::Note(path.clone()));
                self.new.push(note);
                path
            }
        };
        let text = path.text();
        let target = text.strip_suffix(".md").unwrap_or(&text).to_owned();
        Some(Link { target, alias: Some(path.stem().into_owned()), ..Link::default() })
    }

    /// The notes that are to be made.
    pub fn into_new(self) -> Vec<NewProjectNote> {
        self.new
    }
}

/// The folder as notes are found by it: that of the repository for a worktree inside of it. `None` for a home folder or a
/// root, which are no projects.
fn key(folder: &str) -> Option<String> {
    let plain = |folder: &str| {
        let folder = folder.trim().trim_end_matches(['/', '\\']);
        let is_drive = folder.len() == 2 && folder.ends_with(':');
        (!folder.is_empty() && folder != "~" && !is_drive).then(|| folder.to_owned())
    };
    repository(folder).and_then(plain).or_else(|| plain(folder))
}

/// The repository that a worktree lies in: `x` for `x/.worktrees/a`, and `x/.tool/worktrees/a`.
fn repository(folder: &str) -> Option<&str> {
    let mut at = 0;
    let mut hidden = None;
    for part in folder.split(['/', '\\']) {
        match (part, hidden) {
            (".worktrees", _) => return folder.get(..at),
            ("worktrees", Some(hidden)) => return folder.get(..hidden),
            _ => {}
        }
        hidden = part.starts_with('.').then_some(at);
        at += part.len() + 1;
    }
    None
}

/// The folders that a project note names.
fn folders(vault: &Vault, head: &Head) -> Vec<String> {
    let Ok(bytes) = vault.read(&head.path) else { return Vec::new() };
    let note = Note::parse(bytes.into_owned());
    let Some(bounds) = note.frontmatter() else { return Vec::new() };
    let (values, _) = frontmatter::read(note.text(), &bounds);
    values.strings("folders").into_iter().map(str::to_owned).collect()
}

/// The note of a folder that has none: `projects/api.md`, and `projects/work-api.md` where that name is taken.
fn new_note(vault: &Vault, folder: &str, names: &mut Names) -> Option<NewProjectNote> {
    let name = name_of(folder)?;
    let own = Some(slug(&name, WORDS)).filter(|slug| !slug.is_empty()).unwrap_or_else(|| PROJECT.to_owned());
    let above = parts(folder).nth(1).map(|above| slug(above, WORDS)).filter(|above| !above.is_empty());
    let wanted = match above {
        Some(above) if names.is_taken(&own) => format!("{above}-{own}"),
        _ => own,
    };
    let path = VaultPath::new(format!("{FOLDER}/{}.md", names.claim(&wanted)))?;
    let config = vault.config();
    let is_read = (config.include.is_empty() || config.include.matches(path.as_path()))
        && !config.exclude.matches(path.as_path())
        && !config.exclude.matches(std::path::Path::new(FOLDER));
    is_read.then(|| NewProjectNote { path, text: text(&name, folder) })
}

fn text(name: &str, folder: &str) -> String {
    let entries = [
        ("type", Value::from(PROJECT)),
        ("title", Value::from(name)),
        ("folders", Value::from(vec![sanitise(folder).into_owned()])),
    ];
    let mut text = format!("---\n{}---\n# {}\n", emit(&entries), escape::title(name));
    for (region, heading) in REGIONS {
        text.push_str(&format!("\n## {heading}\n\n<!-- cru:begin {region} -->\n<!-- cru:end -->\n"));
    }
    text
}

/// Whether the note of a project says no more than when it was made: nobody wrote in it, and no session stands in it.
pub fn is_bare(note: &str) -> bool {
    let parsed = Note::parse(note);
    let Some(bounds) = parsed.frontmatter() else { return false };
    let (values, _) = frontmatter::read(note, &bounds);
    let [folder] = values.strings("folders")[..] else { return false };
    // A seal follows the name of a region; other words there are a person's.
    let unsealed = |line: &str| {
        let (mark, seal) = line.strip_suffix(" -->").and_then(|mark| mark.rsplit_once(' ')).unwrap_or((line, ""));
        let is_seal = seal.len() == 8 && seal.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_mark = REGIONS.iter().any(|(name, _)| mark.strip_prefix("<!-- cru:begin ") == Some(*name));
        if is_seal && is_mark { format!("{mark} -->") } else { line.to_owned() }
    };
    let is_told = |line: &&str| !line.is_empty();
    name_of(folder)
        .is_some_and(|name| note.lines().filter(is_told).map(unsealed).eq(text(&name, folder).lines().filter(is_told)))
}

/// What a project is called whose note is made: the name of its folder.
fn name_of(folder: &str) -> Option<String> {
    parts(folder).next().map(|name| fold_whitespace(&sanitise(name)))
}

/// The names in a path from its end.
fn parts(folder: &str) -> impl Iterator<Item = &str> {
    folder.rsplit(['/', '\\']).filter(|part| !part.is_empty() && *part != "~")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_bare_where_nobody_wrote() {
        let made = text("api", "~/work/api");
        let sealed = made.replace("cru:begin sessions -->", "cru:begin sessions 1a2b3c4d -->");
        assert!(is_bare(&made) && is_bare(&sealed));
        for (old, new) in [
            ("# api\n", "# Our api\n"),
            ("title: api", "title: Our api"),
            ("cru:begin sessions -->", "cru:begin sessions ask Mia -->"),
            ("cru:begin sessions -->", "cru:begin sessions --> ask Mia"),
            ("## Decisions\n", "## Decisions\n\nMine.\n"),
        ] {
            assert!(!is_bare(&made.replace(old, new)), "{new}");
        }
    }

    fn vault(notes: &[(&str, &str)], config: &str) -> (tempfile::TempDir, Vault, Catalog) {
        let temp = tempfile::tempdir().unwrap();
        cru_base::files::create(&temp.path().join(".cru/config.toml"), config.as_bytes()).unwrap();
        for (path, text) in notes {
            cru_base::files::create(&temp.path().join(path), text.as_bytes()).unwrap();
        }
        let vault = Vault::open(temp.path()).unwrap();
        let catalog = Catalog::read(&vault);
        (temp, vault, catalog)
    }

    #[test]
    fn two_folders_of_one_name_have_two_notes() {
        let (_temp, vault, catalog) = vault(&[("web.md", "mine\n")], "");
        let (mut projects, mut names) = (ProjectNotes::of(&vault, &catalog), Names::of(&catalog));
        let mut link = |folder: &str| projects.link(&vault, folder, &mut names).map(|link| link.to_string());
        let rows = [
            ("~/code/api", Some("[[projects/api|api]]")),
            ("~/code/api/", Some("[[projects/api|api]]")),
            ("~/code/api/.worktrees/fix", Some("[[projects/api|api]]")),
            (r"~/code/api/.claude\worktrees\a\b", Some("[[projects/api|api]]")),
            ("~/.tool/worktrees/1a2b/web-ui", Some("[[projects/web-ui|web-ui]]")),
            ("~/work/api", Some("[[projects/work-api|work-api]]")),
            ("/srv/work/api", Some("[[projects/work-api-2|work-api-2]]")),
            ("/srv/web", Some("[[projects/srv-web|srv-web]]")),
            (r"C:\work\My project", Some("[[projects/my-project|my-project]]")),
            ("~/…", Some("[[projects/project|project]]")),
            ("~", None),
            ("/", None),
            (r"C:\", None),
            ("", None),
        ];
        for (folder, wanted) in rows {
            assert_eq!(link(folder).as_deref(), wanted, "{folder}");
        }
        let made = projects.into_new();
        assert_eq!(made.len(), 7);
        insta::assert_snapshot!(made[5].text, @r"
        ---
        type: project
        title: My project
        folders:
          - C:\work\My project
        ---
        # My project

        ## Open tasks

        <!-- cru:begin open-tasks -->
        <!-- cru:end -->

        ## Decisions

        <!-- cru:begin decisions -->
        <!-- cru:end -->

        ## Sessions

        <!-- cru:begin sessions -->
        <!-- cru:end -->
        ");
    }

    #[test]
    fn a_note_is_found_by_its_folders_and_a_deleted_one_stays_deleted() {
        let session = "---\ntype: session\nproject: ~/code/gone\nproject_note: \"[[projects/gone|gone]]\"\n---\n";
        let notes = [
            ("Areas/Backend.md", "---\ntype: project\nfolders: [~/code/api, ~/work/api]\n---\nMine.\n"),
            ("projects/other.md", "---\ntype: project\n---\n"),
            ("sessions/a.md", session),
        ];
        let (_temp, vault, catalog) = vault(&notes, "");
        let (mut projects, mut names) = (ProjectNotes::of(&vault, &catalog), Names::of(&catalog));
        let mut link = |folder: &str| projects.link(&vault, folder, &mut names).map(|link| link.to_string());
        assert_eq!(link("~/work/api").as_deref(), Some("[[Areas/Backend|Backend]]"));
        assert_eq!(link("~/code/other").as_deref(), Some("[[projects/code-other|code-other]]"), "it names no folder");
        assert_eq!(link("~/code/gone"), None);
        assert_eq!(projects.into_new().len(), 1);
    }

    #[test]
    fn a_vault_that_does_not_read_the_folder_gets_none() {
        for config in ["exclude = [\"projects/**\"]", "exclude = [\"projects\"]", "include = [\"sessions/**\"]"] {
            let (_temp, vault, catalog) = vault(&[], &format!("[vault]\n{config}\n"));
            let (mut projects, mut names) = (ProjectNotes::of(&vault, &catalog), Names::of(&catalog));
            assert_eq!(projects.link(&vault, "~/code/api", &mut names), None, "{config}");
            assert!(projects.into_new().is_empty());
        }
    }
}
