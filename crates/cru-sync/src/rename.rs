//! A session's note gets another title and name, and the links to it follow.
//!
//! The `session_id` stays, so the machine state, sub-agents and evidence are found as before. First the title is written,
//! then the file is renamed, then the links are rewritten. What one that is killed in between leaves, the next command
//! that writes notes finishes ([`finish`]).

mod pending;

use jiff::Timestamp;
use memchr::memmem;
use rayon::prelude::*;
use serde_json::Value as Json;

use crate::hooked::journal::Hooked;
use crate::plan::made::{self, Made};
use cru_base::text::{fold_whitespace, sanitise, slug};
use cru_base::{Error, Result, files};
use cru_live::turn::Turn;
use cru_note::{BlockKind, Note};
use cru_session::escape;
use cru_session::op::Op;
use cru_session::words::title::name_part;
use cru_vault::link::Target;
use cru_vault::naming::Names;
use cru_vault::relink::{RelinkedText, relinked, relinked_canvas};
use cru_vault::state::key;
use cru_vault::writer::Plan;
use cru_vault::{Catalog, Head, State, Vault, VaultPath, Writer, seals};

pub use pending::{MovedNote, finish};

/// What the operation log calls the write of a new title.
pub const LABEL: &str = "rename";

/// Words of a title that stand in a file name.
const WORDS: usize = 6;

/// A vault and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct RenameGround<'a> {
    /// It.
    pub vault: &'a Vault,
    /// All of its notes.
    pub catalog: &'a Catalog,
    /// Machine state.
    pub state: &'a State,
    /// The time.
    pub now: Timestamp,
}

/// What a rename did, or would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renamed {
    /// The note before.
    pub from: String,
    /// The note after; the same where only the title changed.
    pub to: String,
    /// The renamed note's text, before and after.
    pub note: (String, String),
    /// The other notes and canvases that link it: path, text before and after.
    pub linking: Vec<(String, String, String)>,
    /// Links that were rewritten, those of the note itself included.
    pub links: usize,
    /// Files that could not be written, and why.
    pub failed: Vec<(String, String)>,
}

impl RenameGround<'_> {
    /// Gives a session another title, and its note the name that is made of it; a date in front of the name stays. With
    /// `dry`, only looks.
    ///
    /// Errors: a title without a word; another process writes the note just now; the note could not be written.
    pub fn rename(&self, head: &Head, title: &str, dry: bool) -> Result<Renamed> {
        let title = fold_whitespace(&sanitise(title));
        if !title.chars().any(char::is_alphanumeric) {
            return Err(Error::usage("a title needs a word"));
        }
        let to = self.name(head, &title)?;
        let _turn = if dry { None } else { self.turn(head)? };
        let note = self.retitled(head, &title, dry)?;
        let mut renamed = Renamed { note, ..self.rename_file(head, &to, dry)? };
        if let Some(own) = renamed.linking.iter().position(|(path, ..)| *path == renamed.to || *path == renamed.from) {
            let (_, _, after) = renamed.linking.remove(own);
            if !dry {
                renamed.note.1 = after;
            }
        }
        Ok(renamed)
    }

    /// Gives a session another title; its note keeps its name. Errors as [`Self::rename`].
    pub fn retitle(&self, head: &Head, title: &str) -> Result<()> {
        let _turn = self.turn(head)?;
        self.retitled(head, &fold_whitespace(&sanitise(title)), false).map(drop)
    }

    /// Writes a title into a note: its text before and after.
    fn retitled(&self, head: &Head, title: &str, dry: bool) -> Result<(String, String)> {
        let writer = Writer::new(self.vault, self.state, self.now);
        let session = key(&head.id());
        let mut plan = |note: &Note, _: &cru_vault::writer::Known| {
            Ok(Plan { ops: operations(note, head, title), label: LABEL.to_owned(), ..Plan::default() })
        };
        let before = self.vault.read(&head.path)?.into_owned();
        let after = if dry {
            writer.preview(&session, &before, &mut plan)?
        } else {
            writer.write(&session, &head.path, &mut plan)?;
            self.vault.read(&head.path)?.into_owned()
        };
        Ok((lossy(&before), lossy(&after)))
    }

    /// Gives a session's note another path and rewrites the links to it; the title stays. With `dry`, only looks.
    pub fn rename_file(&self, head: &Head, to: &VaultPath, dry: bool) -> Result<Renamed> {
        let from = &head.path;
        let mut renamed = Renamed { from: from.to_string(), to: to.to_string(), ..Renamed::default() };
        let is_moved = !dry && from != to;
        // Held until the links are rewritten: who finds the intention of a rename whose lock is free goes on with it.
        let _lock = is_moved.then(|| files::lock(&self.state.lock(&key(&head.id())))).transpose()?;
        if is_moved {
            pending::note(self.state, head, to);
            if let Err(error) = self.move_note(head, to) {
                pending::done(self.state, &head.id());
                return Err(error);
            }
        }
        self.relink(head, to, dry, &mut renamed);
        if !dry && renamed.failed.is_empty() {
            pending::done(self.state, &head.id());
        }
        Ok(renamed)
    }

    /// Rewrites the links to a note of the catalog that has, or is to have, another path.
    fn relink(&self, head: &Head, to: &VaultPath, dry: bool, renamed: &mut Renamed) {
        let (from, stem) = (&head.path, to.stem().into_owned());
        let Some(own) = self.catalog.position(from) else { return };
        let needles = needles(head);
        let names = |bytes: &[u8]| {
            let lower = bytes.to_ascii_lowercase();
            needles.iter().any(|needle| memmem::find(&lower, needle).is_some())
        };
        let heads = self.catalog.heads.par_iter();
        let notes = heads.map(|other| {
            // Links are resolved as they were before the note had its new name.
            let means = |target: &str| self.catalog.links().resolve(target, &other.path) == Some(Target::Note(own));
            let path = if other.path == *from && !dry { to } else { &other.path };
            self.rewrite(path, dry, &|bytes| {
                names(bytes).then(|| relinked(&Note::parse(bytes.to_vec()), &means, &stem)).flatten()
            })
        });
        let mut written: Vec<RelinkedFile> = notes.flatten_iter().collect();
        let canvases = self.catalog.others.iter().filter(|path| {
            path.as_path().extension().is_some_and(|extension| extension.eq_ignore_ascii_case("canvas"))
        });
        let (old, new) = (from.text(), to.text());
        written
            .extend(canvases.filter_map(|path| self.rewrite(path, dry, &|bytes| relinked_canvas(bytes, &old, &new))));
        for RelinkedFile { path, outcome } in written {
            match outcome {
                Ok((before, after, links)) => {
                    renamed.links += links;
                    renamed.linking.push((path, before, after));
                }
                Err(why) => renamed.failed.push((path, why)),
            }
        }
    }

    /// Where the note goes: beside where it is, under a name that no other note has.
    fn name(&self, head: &Head, title: &str) -> Result<VaultPath> {
        let stem = head.path.stem();
        let is_date = |date: &&str| date.parse::<jiff::civil::Date>().is_ok();
        let date = stem.get(..10).filter(is_date).filter(|_| stem.as_bytes().get(10).is_none_or(|byte| *byte == b'-'));
        let title = &cru_session::public::text(title);
        let words = Some(slug(&name_part(title), WORDS)).filter(|slug| !slug.is_empty());
        let words = words.or_else(|| Some(slug(title, WORDS)).filter(|slug| !slug.is_empty()));
        let words = words.ok_or_else(|| Error::usage("a title needs a word"))?;
        let wanted = date.map_or_else(|| words.clone(), |date| format!("{date}-{words}"));
        // The note's own name and id are free for it.
        let own = |name: &str| name.eq_ignore_ascii_case(&stem) || name.eq_ignore_ascii_case(&head.id());
        let mut names = Names::default();
        for other in self.catalog.heads.iter().filter(|other| other.path != head.path) {
            names.take(&other.path.stem());
            if let Some(id) = &other.meta.session_id {
                names.take(id);
            }
        }
        // What the vault does not read has its name, too.
        let folder = head.path.as_path().parent().unwrap_or_else(|| std::path::Path::new(""));
        for entry in std::fs::read_dir(self.vault.root().join(folder)).into_iter().flatten().flatten() {
            let path = std::path::PathBuf::from(entry.file_name());
            let is_note = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("md"));
            let is_other = Some(path.as_os_str()) != head.path.as_path().file_name();
            if let Some(stem) = path.file_stem().filter(|_| is_note && is_other) {
                names.take(&stem.to_string_lossy());
            }
        }
        let name = if own(&wanted) && !names.is_taken(&wanted) { wanted } else { names.claim(&wanted) };
        VaultPath::new(folder.join(format!("{name}.md"))).ok_or_else(|| Error::usage("no name for the note is free"))
    }

    /// The turn to write the session, which nobody may have; nothing where no host writes it.
    pub(crate) fn turn(&self, head: &Head) -> Result<Option<Turn>> {
        let busy = || Error::no(format!("another process is writing {}", head.path)).with_hint("run the command again");
        if files::try_lock(&self.state.lock(&key(&head.id())))?.is_none() {
            return Err(busy());
        }
        let meta = &head.meta;
        let (Some(host), Some(session)) = (&meta.host, &meta.host_session) else { return Ok(None) };
        let main = session.split("/agent-").next().unwrap_or(session);
        Turn::take_free(self.state, &Hooked::key(host, main))?.map(Some).ok_or_else(busy)
    }

    /// Renames the file; only under the session's lock.
    pub(crate) fn move_note(&self, head: &Head, to: &VaultPath) -> Result<()> {
        let (old, new) = (self.vault.file(&head.path), self.vault.file(to));
        files::within(self.vault.root(), &new)?;
        if !files::rename_new(&old, &new)? {
            return Err(Error::no(format!("{to} exists, or a name that differs in case; the note keeps its name"))
                .with_hint("choose other words"));
        }
        // Where these cannot be noted, the note is found by its ids.
        let _ = files::put_private(&self.state.known(&key(&head.id())), to.text().as_bytes());
        if let (Some(host), Some(host_session)) = (&head.meta.host, &head.meta.host_session) {
            let made = Made {
                host: host.clone(),
                host_session: host_session.clone(),
                session: head.id(),
                note: to.text().into_owned(),
            };
            let _ = made::remember(self.state, &[made]);
        }
        Ok(())
    }

    /// Changes one file as `change` says, on its newest bytes; nothing where it changes nothing.
    fn rewrite(
        &self,
        path: &VaultPath,
        dry: bool,
        change: &dyn Fn(&[u8]) -> Option<RelinkedText>,
    ) -> Option<RelinkedFile> {
        let file = self.vault.file(path);
        let told = |outcome| Some(RelinkedFile { path: path.to_string(), outcome });
        // How often a note is read again that somebody else wrote meanwhile.
        for _ in 0..8 {
            let Ok(bytes) = files::read(&file) else { return None };
            let RelinkedText { bytes: new, links } = change(&bytes)?;
            let write = || {
                seals::carry(self.vault, &bytes, &new)?;
                files::replace_within(self.vault.root(), &file, &bytes, &new)
            };
            let written = if dry { Ok(()) } else { write() };
            match written {
                Ok(()) => return told(Ok((lossy(&bytes), lossy(&new), links))),
                Err(Error::Changed { .. }) => {}
                Err(error) => return told(Err(error.to_string())),
            }
        }
        told(Err("somebody else wrote it meanwhile; run the command again".to_owned()))
    }
}

/// What became of one file: its text before and after, and its links; or why it could not be written.
struct RelinkedFile {
    path: String,
    outcome: std::result::Result<(String, String, usize), String>,
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What stands in every text that links the note, in small letters as far as they are ASCII.
fn needles(head: &Head) -> Vec<Vec<u8>> {
    let stem = head.path.stem();
    // In a markdown link, letters beyond ASCII and blanks may stand as percent signs: then the longest plain part counts.
    let plain = |name: &str| {
        let parts = name.split(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c));
        parts.max_by_key(|part| part.len()).unwrap_or_default().to_ascii_lowercase().into_bytes()
    };
    vec![plain(&stem), plain(&head.id())]
}

/// The changes of the note itself: title, aliases, heading and the title of the summary, as far as they say the old title.
fn operations(note: &Note, head: &Head, title: &str) -> Vec<Op> {
    let text = |value: &str| Json::String(value.to_owned());
    let meta = cru_session::read::written_meta(note.text()).0;
    let old = meta.title.clone();
    if old.as_deref() == Some(title) {
        return Vec::new();
    }
    let set = |key: &str, old: Option<Json>, new: Json| Op::Set { key: key.to_owned(), old, new: Some(new) };
    let mut ops = vec![set("title", old.as_deref().map(text), text(title))];
    let mut aliases: Vec<String> = meta.aliases.clone();
    aliases.retain(|alias| Some(alias) != old.as_ref() && alias != title);
    aliases.insert(0, title.to_owned());
    let list = |names: &[String]| Json::Array(names.iter().map(|name| text(name)).collect());
    let before = (!meta.aliases.is_empty()).then(|| list(&meta.aliases));
    ops.push(set("aliases", before, list(&aliases)));
    let old = old.unwrap_or_else(|| head.title());
    let preface = note.blocks().iter().take_while(|it| !matches!(it.kind, BlockKind::Heading { level: 2.., .. }));
    for block in preface {
        let whole = block.content.of(note.text()).replace("\r\n", "\n");
        let (first, rest) = whole.split_once('\n').map_or((whole.as_str(), None), |(first, rest)| (first, Some(rest)));
        let said = match &block.kind {
            BlockKind::Heading { level: 1, text } => escape::untitle(text.of(note.text())),
            BlockKind::Callout { kind, title, .. } if kind.of(note.text()).eq_ignore_ascii_case("summary") => {
                escape::uninline(title.of(note.text()))
            }
            _ => continue,
        };
        let Some(lead) = first.find(' ').filter(|_| said == old) else { continue };
        let is_heading = matches!(block.kind, BlockKind::Heading { .. });
        let lead = if is_heading { &first[..=lead] } else { first.find("] ").map_or("", |at| &first[..at + 2]) };
        let new_title = if is_heading { escape::title(title) } else { escape::inline(title) };
        if lead.is_empty() {
            continue;
        }
        let new = match rest {
            Some(rest) => format!("{lead}{new_title}\n{rest}"),
            None => format!("{lead}{new_title}"),
        };
        ops.push(Op::Replace { phase: None, old: whole.clone(), new });
    }
    ops
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_somebody_writes_is_not_renamed() {
        let temp = tempfile::tempdir().unwrap();
        let text = "---\ntype: session\nsession_id: s\nhost: h\nhost_session: a/agent-1\n---\n# S\n";
        files::create(&temp.path().join("vault/.cru/config.toml"), b"").unwrap();
        files::create(&temp.path().join("vault/s.md"), text.as_bytes()).unwrap();
        let vault = Vault::open(&temp.path().join("vault")).unwrap();
        let (catalog, state) = (Catalog::read(&vault), State::at(temp.path().join("state")));
        let ground = RenameGround { vault: &vault, catalog: &catalog, state: &state, now: Timestamp::UNIX_EPOCH };
        let rename = || ground.rename(&catalog.heads[0], "Other words", false).map_err(|error| error.to_string());
        let busy = Err("another process is writing s.md".to_owned());
        let writing = files::lock(&state.lock("s")).unwrap();
        assert_eq!(rename(), busy);
        drop(writing);
        let flushing = Turn::take(&state, &Hooked::key("h", "a")).unwrap();
        assert_eq!(rename(), busy);
        drop(flushing);
        assert_eq!(files::read(&vault.root().join("s.md")).unwrap(), text.as_bytes());
        assert_eq!(rename().unwrap().to, "other-words.md");
        let text = String::from_utf8(files::read(&vault.root().join("other-words.md")).unwrap()).unwrap();
        assert!(text.contains("title: Other words\n") && text.contains("session_id: s\n"), "{text}");
    }

    struct World {
        temp: tempfile::TempDir,
    }

    impl World {
        fn new() -> Self {
            let world = Self { temp: tempfile::tempdir().unwrap() };
            world.put(".cru/config.toml", "[vault]\nexclude = [\"own/**\", \"sessions/Other-*\"]\n");
            world.put("sessions/s.md", "---\ntype: session\nsession_id: s\n---\n# S\n");
            world.put("links.md", "[[s]] [it](sessions/s.md) ![[sessions/s#^a|b]]\n");
            world
        }

        fn put(&self, path: &str, text: &str) {
            files::create(&self.temp.path().join("vault").join(path), text.as_bytes()).unwrap();
        }

        fn read(&self, path: &str) -> String {
            String::from_utf8(files::read(&self.temp.path().join("vault").join(path)).unwrap()).unwrap()
        }

        fn vault(&self) -> Vault {
            Vault::open(&self.temp.path().join("vault")).unwrap()
        }

        fn state(&self) -> State {
            State::at(self.temp.path().join("state"))
        }

        fn with<T>(&self, run: impl FnOnce(&RenameGround<'_>, &Head) -> T) -> T {
            let (vault, state) = (self.vault(), self.state());
            let catalog = Catalog::read(&vault);
            let ground = RenameGround { vault: &vault, catalog: &catalog, state: &state, now: Timestamp::UNIX_EPOCH };
            run(&ground, catalog.sessions().next().unwrap())
        }
    }

    #[test]
    fn a_file_that_the_vault_does_not_read_is_not_replaced() {
        let world = World::new();
        world.put("sessions/Other-Words.md", "a person's\n");
        assert_eq!(
            world.with(|ground, head| ground.rename(head, "Other words", false)).unwrap().to,
            "sessions/other-words-2.md"
        );
        assert_eq!(world.read("sessions/Other-Words.md"), "a person's\n");
        // Whoever names the place itself is refused.
        let to = VaultPath::new("sessions/OTHER-words.md").unwrap();
        let refused = world.with(|ground, head| ground.rename_file(head, &to, false)).unwrap_err().to_string();
        assert!(refused.contains("the note keeps its name"), "{refused}");
        assert_eq!(world.read("sessions/Other-Words.md"), "a person's\n");
        world.with(|ground, head| ground.rename(head, "Other words 2", false)).unwrap();
        let case = VaultPath::new("sessions/Other-words-2.md").unwrap();
        world.with(|ground, head| ground.rename_file(head, &case, false)).unwrap();
        assert!(world.read("sessions/Other-words-2.md").contains("session_id: s"), "case alone may change");
    }

    #[test]
    fn links_of_a_rename_that_was_killed_are_finished() {
        let world = World::new();
        let to = VaultPath::new("sessions/new.md").unwrap();
        world.with(|ground, head| {
            pending::note(ground.state, head, &to);
            ground.move_note(head, &to).unwrap();
        });
        assert_eq!(finish(&world.vault(), &world.state(), Timestamp::UNIX_EPOCH), 3);
        assert_eq!(world.read("links.md"), "[[new]] [it](sessions/new.md) ![[sessions/new#^a|b]]\n");
        assert_eq!(finish(&world.vault(), &world.state(), Timestamp::UNIX_EPOCH), 0);
        // One that goes on, or is about to be noted, is left to who does it.
        world.with(|ground, head| pending::note(ground.state, head, &to));
        let folder = world.state().dir().join("renames");
        let writing = folder.join(".cru-a1b2c3.tmp");
        files::put_private(&writing, b"{").unwrap();
        let names = || std::fs::read_dir(&folder).unwrap().count();
        let lock = files::lock(&world.state().lock(&key(&world.with(|_, head| head.id())))).unwrap();
        finish(&world.vault(), &world.state(), Timestamp::UNIX_EPOCH);
        assert_eq!(names(), 2);
        drop(lock);
        finish(&world.vault(), &world.state(), Timestamp::UNIX_EPOCH);
        assert_eq!(names(), 1);
        // One that was killed before the note had its name has nothing to finish.
        world.with(|ground, head| pending::note(ground.state, head, &VaultPath::new("sessions/x.md").unwrap()));
        assert_eq!(finish(&world.vault(), &world.state(), Timestamp::UNIX_EPOCH), 0);
        assert_eq!(world.read("links.md"), "[[new]] [it](sessions/new.md) ![[sessions/new#^a|b]]\n");
    }
}
