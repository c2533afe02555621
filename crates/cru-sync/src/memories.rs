//! Memory files of other programs as notes: what Serena keeps in `.serena/memories` and SuperClaude in `docs/memory`.
//!
//! A note says `type: memory` and where its file lies (`source`). The file's text stands in a region: what a person writes around it
//! stays, and a file that changed fills the region anew. A note that a person deleted is not made again. Files are only read.
//! Sources: oraios.github.io/serena, "Memories & Onboarding" (2026-11); the repository of SuperClaude, `docs/memory` (2026-02).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value as Json;

use crate::plan::imported::{self, ImportedSessions};
use cru_base::text::{fold_whitespace, slug};
use cru_base::{Env, Error, Result, files};
use cru_note::Note;
use cru_note::edit::{ChangedPage, Fill, Missing, region};
use cru_note::frontmatter::{self, Value, emit};
use cru_session::escape;
use cru_session::mask::Masks;
use cru_vault::{State, Vault, VaultPath, page, walk::Walk};

/// Where the notes stand.
pub const FOLDER: &str = "memories";
/// What the list of imported things calls the host of a memory.
const HOST: &str = "memory";
/// The region that holds the file's text.
const REGION: &str = "memory";

/// A folder of memory files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemoryFolder {
    /// Where it is.
    pub path: PathBuf,
    /// The project that it belongs to; `None` for memories of all projects.
    pub project: Option<PathBuf>,
}

/// The folders of memories that a path names: a project, or such a folder itself.
pub fn folders(path: &Path) -> Vec<MemoryFolder> {
    let ends = |tail: &[&str]| {
        let mut parts = path.components().rev();
        tail.iter().rev().all(|part| parts.next().is_some_and(|own| own.as_os_str() == *part))
    };
    let above = |count: usize| path.ancestors().nth(count).map(Path::to_owned);
    if ends(&[".serena", "memories", "global"]) {
        return vec![MemoryFolder { path: path.to_owned(), project: None }];
    }
    if ends(&[".serena", "memories"]) || ends(&["docs", "memory"]) {
        return vec![MemoryFolder { path: path.to_owned(), project: above(2) }];
    }
    let own = |path: PathBuf, project: &Path| MemoryFolder { path, project: Some(project.to_owned()) };
    let mut found = Vec::new();
    let serena = path.join(".serena/memories");
    if serena.is_dir() {
        found.push(own(serena, path));
    }
    let docs = path.join("docs/memory");
    // Any project may have a folder of this name.
    if names(&docs).iter().any(|name| is_superclaude(name)) {
        found.push(own(docs, path));
    }
    found
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn is_superclaude(name: &str) -> bool {
    ["pm_context.md", "last_session.md", "next_actions.md"].contains(&name) || name.ends_with("_learned.jsonl")
}

/// What became of the files.
#[derive(Debug, Default, Serialize)]
pub struct MemoryReport {
    /// Notes that were made.
    pub made: Vec<String>,
    /// Notes whose file had changed.
    pub updated: Vec<String>,
    /// Notes whose file is as it was.
    pub unchanged: u64,
    /// Files whose note a person deleted.
    pub deleted: Vec<String>,
    /// Files that were not imported, and why.
    pub left: Vec<(String, String)>,
}

/// Who imports, and when.
#[derive(Debug)]
pub struct MemoryImport<'a> {
    /// The vault.
    pub vault: &'a Vault,
    /// What the machine keeps for it.
    pub state: &'a State,
    /// Home and time.
    pub env: &'a Env,
    /// Make notes again that a person deleted.
    pub restore: bool,
    /// Write nothing.
    pub dry_run: bool,
}

/// A memory file as a note has it.
#[derive(Debug)]
struct MemoryFile {
    /// The path as notes write it.
    source: String,
    /// The project's folder as notes write it.
    project: Option<String>,
    /// The path of the note without its folder and end.
    name: String,
    title: String,
    text: String,
    modified: Option<Timestamp>,
}

impl MemoryImport<'_> {
    /// Brings the files of these folders into the vault.
    pub fn run(&self, folders: &[MemoryFolder]) -> Result<MemoryReport> {
        let mut report = MemoryReport::default();
        let known = self.known();
        let listed = ImportedSessions::read(self.vault, HOST)?;
        let mut taken: BTreeSet<String> = known.values().map(|path| path.text().to_lowercase()).collect();
        taken.extend(Walk::of(self.vault).paths().map(|path| path.text().to_lowercase()));
        for folder in folders.iter().collect::<BTreeSet<_>>() {
            // Folders below each other.
            for path in below(&folder.path, 8) {
                let source = self.env.short(&path.to_string_lossy());
                let file = match self.read(&path, folder) {
                    Ok(file) => file,
                    Err(why) => {
                        report.left.push((source, why));
                        continue;
                    }
                };
                let key = blake3::hash(file.source.as_bytes()).to_hex()[..32].to_owned();
                match known.get(&file.source) {
                    Some(note) => {
                        let changed = self.dry_run || self.write(&file, note)?;
                        if changed { report.updated.push(note.to_string()) } else { report.unchanged += 1 }
                    }
                    None if listed.has(&key) && !self.restore => report.deleted.push(file.source),
                    None => {
                        let note = free(&file.name, &mut taken)?;
                        if !self.dry_run {
                            self.write(&file, &note)?;
                            imported::enter(self.vault, self.state, self.env.now(), HOST, [key.as_str()])?;
                        }
                        report.made.push(note.to_string());
                    }
                }
            }
        }
        Ok(report)
    }

    /// The notes of memories by their files.
    fn known(&self) -> BTreeMap<String, VaultPath> {
        let source = |path: VaultPath| {
            let bytes = self.vault.read(&path).ok()?;
            memchr::memmem::find(&bytes, b"type: memory")?;
            let text = String::from_utf8_lossy(&bytes);
            let bounds = frontmatter::split(&text).block?;
            let values = frontmatter::read(&text, &bounds).0;
            (values.string("type") == Some("memory"))
                .then(|| values.string("source").map(str::to_owned))?
                .zip(Some(path))
        };
        Walk::of(self.vault).notes.into_iter().map(|(path, _)| path).filter_map(source).collect()
    }

    fn read(&self, path: &Path, folder: &MemoryFolder) -> Result<MemoryFile, String> {
        // Larger files are no memories.
        let bytes = files::read_regular(path, 1 << 20).map_err(|error| error.to_string())?;
        let bytes = bytes.ok_or("it is larger than 1 MiB")?;
        let text = String::from_utf8(bytes).map_err(|_| "it is no UTF-8 text")?;
        let text = text.trim_start_matches('\u{feff}');
        let is_rows = path.extension().is_some_and(|end| end == "jsonl");
        let text = if is_rows { rows(text) } else { text.to_owned() };
        if text.trim().is_empty() {
            return Err("it is empty".to_owned());
        }
        let short = |path: &Path| self.env.short(&path.to_string_lossy());
        let inner = path.strip_prefix(&folder.path).unwrap_or(path).with_extension("");
        let parts: Vec<String> = inner.iter().map(|part| slug(&part.to_string_lossy(), 12)).collect();
        let project = folder.project.as_deref().and_then(Path::file_name).map(|name| slug(&name.to_string_lossy(), 6));
        let parts = std::iter::once(project.unwrap_or_else(|| "global".to_owned())).chain(parts);
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        let heading = text.lines().find_map(|line| line.strip_prefix("# ")).map(fold_whitespace);
        let title = heading.filter(|title| !title.is_empty() && !is_rows);
        let modified = std::fs::metadata(path).and_then(|it| it.modified()).ok();
        Ok(MemoryFile {
            source: short(path),
            project: folder.project.as_deref().map(short),
            name: parts.join("/"),
            title: Masks::unnumbered()
                .text(&title.unwrap_or_else(|| inner.to_string_lossy().into_owned()))
                .into_owned(),
            text: Masks::unnumbered().text(&text).into_owned(),
            modified: modified.and_then(|time| Timestamp::try_from(time).ok()),
        })
    }

    /// Writes a note, or fills its region anew; whether it was changed.
    fn write(&self, file: &MemoryFile, note: &VaultPath) -> Result<bool> {
        let day = file.modified.map(|time| time.to_zoned(self.vault.config().zone.clone()).date().to_string());
        let texts = [
            ("type", Some("memory")),
            ("title", Some(file.title.as_str())),
            ("date", day.as_deref()),
            ("project", file.project.as_deref()),
            ("source", Some(file.source.as_str())),
        ];
        let properties: Vec<(&str, Value)> =
            texts.iter().filter_map(|(key, text)| Some((*key, Value::from((*text)?)))).collect();
        let fresh = format!("---\n{}---\n", emit(&properties));
        let text = inert(&file.text);
        page::change(self.vault, &self.vault.file(note), |old| {
            let mut page = ChangedPage::new(old.unwrap_or(fresh.as_bytes()).to_vec());
            let fill = Fill::new(REGION, &text, Missing::Append(None));
            let filled = page.fill(&fill, &|seal| page::generated(self.vault, seal));
            filled.map_err(|error| page::unfilled(&note.text(), REGION, &error))?;
            Ok(page)
        })
    }
}

/// A path of a note that no other has.
fn free(name: &str, taken: &mut BTreeSet<String>) -> Result<VaultPath> {
    let numbered = |number: u32| if number == 1 { String::new() } else { format!("-{number}") };
    let paths = (1..).map(|number| format!("{FOLDER}/{name}{}.md", numbered(number)));
    let path = paths.into_iter().find(|path| taken.insert(path.to_lowercase())).unwrap_or_default();
    VaultPath::new(&path).ok_or_else(|| Error::usage(format!("'{path}' is no note of the vault")))
}

/// The files below a folder, by path; links are not followed, and what is hidden is not looked at.
fn below(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut walk = WalkBuilder::new(folder);
    walk.standard_filters(false).hidden(true).max_depth(Some(depth + 1)).sort_by_file_name(Ord::cmp);
    let files = walk.build().flatten().filter(|it| it.file_type().is_some_and(|kind| kind.is_file()));
    let is_memory = |path: &PathBuf| path.extension().is_some_and(|end| end == "md" || end == "jsonl");
    files.map(DirEntry::into_path).filter(is_memory).collect()
}

/// Lines of JSON as lists, each row once: the rows of these files are often the same but for their time.
fn rows(text: &str) -> String {
    let mut told: BTreeSet<String> = BTreeSet::new();
    let mut out = String::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let row = match serde_json::from_str::<Json>(line) {
            Ok(Json::Object(map)) => {
                let fields = map.iter().filter(|(key, value)| !value.is_null() && *key != "timestamp");
                let field = |(key, value): (&String, &Json)| {
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    format!("{key}: {}", fold_whitespace(&value))
                };
                fields.map(field).collect::<Vec<_>>().join("\n    - ")
            }
            _ => fold_whitespace(line),
        };
        if told.insert(row.clone()) {
            let _ = writeln!(out, "- {row}");
        }
    }
    out
}

/// A text of others that runs nothing and leaves the marks of its region what they are; as code where its layout would not.
fn inert(text: &str) -> String {
    let text = escape::inert(text.trim_end(), &[]).replace("<!-- cru:", "<!-- cru\\:");
    let page = format!("<!-- cru:begin {REGION} x -->\n{text}\n<!-- cru:end -->\n");
    let is_whole = region(&Note::parse(page), REGION).is_ok_and(|found| found.inside.trim_end() == text.trim_end());
    if is_whole && !text.starts_with("---") {
        return text;
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0).max(2);
    let fence = "`".repeat(longest + 1);
    format!("{fence}text\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use cru_note::BlockKind;

    use super::*;

    #[test]
    fn rows_stand_once() {
        let text = "{\"error_type\":\"ImportError\",\"solution\":\"pip install x\",\"timestamp\":\"1\"}\n\
                    {\"error_type\":\"ImportError\",\"solution\":\"pip install x\",\"timestamp\":\"2\"}\nno json\n";
        assert_eq!(rows(text), "- error_type: ImportError\n    - solution: pip install x\n- no json\n");
    }

    #[test]
    fn whatever_a_file_holds_stays_in_its_region() {
        for text in [
            "a\n",
            "```sh\nopen",
            "<!-- open",
            "<!-- cru:end -->\nx",
            "---\na: b\n---\n",
            "> [!x]\n> y\n\n%% z",
            "````\n```\n",
        ] {
            let told = inert(text);
            let page = format!("<!-- cru:begin {REGION} x -->\n{told}\n<!-- cru:end -->\n\nMine.\n");
            let note = Note::parse(page);
            assert_eq!(region(&note, REGION).unwrap().inside.trim_end(), told.trim_end(), "{text}");
            let is_code = note.blocks().iter().any(|block| matches!(block.kind, BlockKind::Fence { .. }));
            assert!(is_code || told.trim_end().len() >= text.trim_end().len(), "{text}: {told}");
        }
    }
}
