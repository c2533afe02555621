//! Entries into the journal, and what is pending of it into the note.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;

use super::page::{Defaults, Page};
use super::task::Missing;
use crate::entry::{Bad, Entry};
use cru_base::{Env, Error, Result, files};
use cru_note::Note;
use cru_session::cursor::Cursor;
use cru_session::seal::Seals;
use cru_session::{Agent, Meta, SubagentMode};
use cru_vault::operations::Operations;
use cru_vault::seals;
use cru_vault::state::key;
use cru_vault::writer::{Known, Plan, Written};
use cru_vault::{Catalog, Head, Journal, State, Vault, VaultPath, Writer};

/// The session that is logged to.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its note.
    pub path: VaultPath,
    /// `session_id`, else the file's name.
    pub id: String,
    /// What its frontmatter says.
    pub meta: Meta,
}

impl Target {
    /// That of a note whose head is at hand.
    pub fn of(head: &Head) -> Self {
        Self { path: head.path.clone(), id: head.id(), meta: (*head.meta).clone() }
    }

    /// The session that `named` or `CRU_SESSION` names, else the current one.
    ///
    /// A plain name of a file in the folder of sessions is looked at first: no other note is then read.
    pub fn find(named: Option<&str>, vault: &Vault, env: &Env) -> Result<Self> {
        let name = named.or_else(|| env.var("CRU_SESSION"));
        if let Some(found) = name.and_then(|name| Self::by_stem(name, vault)) {
            return Ok(found);
        }
        let catalog = Catalog::read(vault);
        let head = match name {
            Some(name) => Some(catalog.session(name, vault, env)?),
            None => catalog.current(vault, env)?,
        };
        head.map(Self::of).ok_or_else(|| {
            Error::usage("no session is active here")
                .with_hint("`cru session start TITLE` begins one; name another by its id, or in CRU_SESSION")
        })
    }

    /// The session in the file of that name in the folder of sessions; nothing where there is none.
    pub fn by_stem(name: &str, vault: &Vault) -> Option<Self> {
        let plain = !name.is_empty() && !name.contains(['/', '\\', '[', '#', '|']);
        let path = VaultPath::new(vault.config().sessions.as_path().join(format!("{name}.md"))).filter(|_| plain)?;
        let file = vault.file(&path);
        if !file.is_file() {
            return None;
        }
        let head = Head::read(vault, path.clone());
        if head.is_session() {
            return Some(Self::of(&head));
        }
        // An editor that saves in place leaves a moment in which the note says nothing: it is looked at once it settled.
        files::read_stable(&file).ok()?;
        let head = Head::read(vault, path);
        head.is_session().then(|| Self::of(&head))
    }

    /// The session that the machine state knows under this very name, wherever its note is now.
    pub fn known(name: &str, state: &State) -> Option<Self> {
        let name = name.trim().trim_start_matches("[[").trim_end_matches("]]");
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let id = name.strip_suffix(".md").unwrap_or(name);
        let newest = Operations::at(state.operations(&key(id))).newest().ok().flatten();
        let path = newest.map(|newest| newest.note).or_else(|| {
            let bytes = files::read(&state.known(&key(id))).ok()?;
            String::from_utf8(bytes).ok()
        });
        let meta = Meta { session_id: Some(id.to_owned()), ..Meta::default() };
        Some(Self { path: VaultPath::new(path?)?, id: id.to_owned(), meta }).filter(|_| !id.is_empty())
    }

    /// Whether its note is there in whatever state, or is being saved: an editor put it aside under a name of its own.
    pub fn is_about(&self, vault: &Vault) -> bool {
        let file = vault.file(&self.path);
        let name = self.path.as_path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let beside = file.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
        let mut names = beside.filter_map(|entry| entry.file_name().into_string().ok());
        let is_aside = |other: String| other != name && other.trim_start_matches(['.', '#']).starts_with(&name);
        file.symlink_metadata().is_ok() || names.any(is_aside)
    }

    /// The name of its files in the machine's state.
    pub fn key(&self) -> String {
        key(&self.id)
    }
}

/// What was written of a session's journal.
#[derive(Debug, Default)]
pub struct Flushed {
    /// Entries that were taken in.
    pub entries: usize,
    /// Ids that were given, by entry.
    pub made: BTreeMap<String, String>,
    /// Whether the note changed.
    pub changed: bool,
    /// Entries that named what is not there; they stand in the note in another way.
    pub lost: Vec<Missing>,
    /// Lines of the journal that could not be read.
    pub odd: usize,
    /// A text that a killed writer had left beside the note.
    pub recovered: Option<PathBuf>,
}

/// Logs to the sessions of one vault.
#[derive(Debug)]
pub struct Log<'a> {
    /// The vault.
    pub vault: &'a Vault,
    /// Its machine state.
    pub state: &'a State,
    /// When this is.
    pub now: Timestamp,
    defaults: Defaults,
    /// Whether entries keep their secrets.
    no_redact: bool,
}

impl<'a> Log<'a> {
    /// For a vault. Error: its configuration names a mode of sub-agents that does not exist.
    pub fn new(vault: &'a Vault, state: &'a State, now: Timestamp) -> Result<Self> {
        let config = &vault.config().session;
        let mode = match config.subagents.as_deref() {
            None | Some("link") => SubagentMode::Link,
            Some("inline") => SubagentMode::Inline,
            Some("embed") => SubagentMode::Embed,
            Some(other) => {
                return Err(Error::usage(format!("`subagents = \"{other}\"` in .cru/config.toml is no mode"))
                    .with_hint("link, inline or embed"));
            }
        };
        let agent = config.agent.as_deref().map(Agent::parse).filter(|agent| !agent.name.is_empty());
        Ok(Self { vault, state, now, defaults: Defaults { agent, mode }, no_redact: false })
    }

    /// For a vault whose configuration cannot be read: entries reach their journal, and nothing is made of them.
    pub fn to_journals(vault: &'a Vault, state: &'a State, now: Timestamp) -> Self {
        Self { vault, state, now, defaults: Defaults { agent: None, mode: SubagentMode::Link }, no_redact: false }
    }

    /// The same; with `no_redact` entries keep their secrets.
    #[must_use]
    pub const fn keeping_secrets(mut self, no_redact: bool) -> Self {
        self.no_redact = no_redact;
        self
    }

    /// An entry as it may be written: whatever is logged goes through here first, before anything is made of it.
    pub fn masked(&self, entry: Entry) -> std::result::Result<Entry, Bad> {
        if self.no_redact { Ok(entry) } else { entry.masked() }
    }

    /// How sub-agents are shown where nobody says.
    pub const fn mode(&self) -> SubagentMode {
        self.defaults.mode
    }

    /// Agent where nobody says.
    pub fn agent(&self) -> Option<&Agent> {
        self.defaults.agent.as_ref()
    }

    /// The session's journal.
    pub fn journal(&self, target: &Target) -> Journal {
        Journal::at(self.state.journal(&target.key()))
    }

    /// Puts an entry into the journal as [`Self::masked`] gave it: from here on it is safe. Its id.
    pub fn add(&self, target: &Target, entry: &Entry) -> Result<String> {
        self.journal(target).append(entry, self.now)
    }

    /// The first thing that each of `entries` names and the session does not have. Nothing where the note cannot be
    /// read: the entries are kept all the same.
    pub fn missing(&self, target: &Target, entries: &[Entry]) -> Vec<Option<Missing>> {
        let named = entries.iter().any(Entry::points);
        let bytes = named.then(|| files::read_note(&self.vault.file(&target.path)).ok()).flatten();
        let Some(bytes) = bytes else { return vec![None; entries.len()] };
        let mut page = Page::of(&Note::parse(bytes), Seals::default, &self.defaults, std::iter::empty());
        let check = |entry: &Entry| {
            let missing = page.missing(entry);
            page.entry("", self.now, entry);
            missing
        };
        entries.iter().map(check).collect()
    }

    /// Writes all that is pending. An error leaves it in the journal.
    pub fn flush(&self, target: &Target, label: &str) -> Result<Flushed> {
        self.write(target, None, label)
    }

    /// Writes all that is pending unless somebody else has written the entry with this id meanwhile.
    pub fn flush_entry(&self, target: &Target, entry: &str, label: &str) -> Result<Flushed> {
        self.write(target, Some(entry), label)
    }

    fn write(&self, target: &Target, entry: Option<&str>, label: &str) -> Result<Flushed> {
        let key = target.key();
        let mut flushed = Flushed::default();
        let mut plan = |note: &Note, known: &Known| self.plan(target, note, known, label, &mut flushed);
        let Written { changed, made, recovered, .. } = match entry {
            Some(entry) => self.writer().write_entry(&key, &target.path, entry, &mut plan)?,
            None => self.writer().write(&key, &target.path, &mut plan)?,
        };
        flushed.made = made;
        flushed.changed = changed;
        flushed.recovered = recovered;
        Ok(flushed)
    }

    /// The bytes that the note would have if all that is pending were written; nothing where nothing is. Writes nothing.
    pub fn preview(&self, target: &Target) -> Result<Option<Vec<u8>>> {
        if !self.journal(target).path().exists() {
            return Ok(None);
        }
        let bytes = files::read_note(&self.vault.file(&target.path))?;
        let mut flushed = Flushed::default();
        let new = self
            .writer()
            .preview(&target.key(), &bytes, &mut |note, known| self.plan(target, note, known, "", &mut flushed))?;
        Ok((new != bytes).then_some(new))
    }

    fn writer(&self) -> Writer<'a> {
        Writer::new(self.vault, self.state, self.now)
    }

    /// What is pending, as a plan for the note as it is.
    fn plan(&self, target: &Target, note: &Note, known: &Known, label: &str, flushed: &mut Flushed) -> Result<Plan> {
        let key = target.key();
        let read = self.journal(target).read(known.consumed.get(&key))?;
        let mut odd = read.odd;
        let (mut ops, mut made) = (Vec::new(), BTreeMap::new());
        if !read.entries.is_empty() {
            let seals = || {
                let cursor = cru_session::read::meta(note.text()).0.cursor.as_deref().and_then(Cursor::parse);
                seals::read(self.vault, &key).of_revision(cursor.map_or(0, |cursor| cursor.revision))
            };
            let mut page = Page::of(note, seals, &self.defaults, known.made.values().map(String::as_str));
            for line in &read.entries {
                match Entry::parse(line.event.get()) {
                    Ok(entry) => page.entry(&line.id, line.time, &entry),
                    Err(_) => odd += 1,
                }
            }
            flushed.lost.append(&mut page.lost);
            (ops, made) = page.finish();
        }
        // Asked again, it is about what came since.
        flushed.entries += read.entries.len();
        flushed.odd += odd;
        let consumed = BTreeMap::from([(key, read.mark)]);
        Ok(Plan { ops, consumed, made, label: label.to_owned(), ..Plan::default() })
    }
}
