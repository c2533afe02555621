//! What the notes of a vault say of themselves: their frontmatter, and nothing below it.
//!
//! Listing and naming need no more, so a note costs one bounded read. The whole of a note is [`super::Loaded`].

use std::io::{self, Read as _};
use std::path::Path;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::kept_heads::{KeptHeads, SeenHead};
use super::link::number;
use super::{Finding, LinkTable, Target, Vault, VaultPath, Walk};
use cru_base::files::Fingerprint;
use cru_base::{Diagnostic, Span};
use cru_session::Meta;

/// How much of a note is read at first, and how much a frontmatter may take before it is given up.
const FIRST_READ: usize = 8 * 1024;
const LARGEST_HEAD: usize = 4 * 1024 * 1024;

/// A note's frontmatter.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// The note.
    pub path: VaultPath,
    /// What its frontmatter says; empty where there is none.
    pub meta: Box<Meta>,
    /// What is odd about it.
    pub findings: Vec<Finding>,
}

impl Head {
    /// Reads one note's head. A note that cannot be read has an empty one.
    pub fn read(vault: &Vault, path: VaultPath) -> Self {
        head(vault, path)
    }

    /// Whether the note is a session.
    pub fn is_session(&self) -> bool {
        self.meta.is_session()
    }

    /// `session_id`, else the file's name.
    pub fn id(&self) -> String {
        self.meta.session_id.clone().unwrap_or_else(|| self.path.stem().into_owned())
    }

    /// Title, else id.
    pub fn title(&self) -> String {
        self.meta.title.clone().unwrap_or_else(|| self.id())
    }
}

/// All notes of a vault by their heads, and the table that resolves links between them.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// Every note, sorted by path.
    pub heads: Vec<Head>,
    /// Every other file, sorted by path.
    pub others: Vec<VaultPath>,
    /// Folders that could not be read; what is odd about a note is with its head.
    pub findings: Vec<Finding>,
    /// Resolves links; made by whoever asks first, for most questions follow none.
    links: OnceLock<LinkTable>,
    /// Copies that a sync service left, and what they are copies of: indices of [`Catalog::heads`], sorted.
    copies: Vec<(usize, usize)>,
}

impl Catalog {
    /// Walks the vault and reads the head of every note.
    pub fn read(vault: &Vault) -> Self {
        Self::of(vault, Walk::of(vault))
    }

    /// The head of every note of `walk`, in parallel; read where what is kept with the machine is older.
    pub fn of(vault: &Vault, walk: Walk) -> Self {
        let Walk { notes, others, findings } = walk;
        let mut kept = KeptHeads::of(vault);
        let take = |(path, seen): (VaultPath, Fingerprint)| {
            let seen = kept.is_kept(vault, &path).then_some(seen);
            (seen.and_then(|seen| kept.take(&path, &seen)), path, seen)
        };
        let notes: Vec<_> = notes.into_iter().map(take).collect();
        let read = |(known, path, seen)| match known {
            Some(meta) => (seen, false, Head { path, meta, findings: Vec::new() }),
            None => (seen, true, head(vault, path)),
        };
        let heads: Vec<_> = notes.into_par_iter().map(read).collect();
        let to_keep = heads.iter().filter(|(.., head)| head.findings.is_empty());
        let to_keep = to_keep.filter_map(|(seen, is_new, head)| {
            Some(SeenHead { path: &head.path, meta: &head.meta, seen: (*seen)?, is_new: *is_new })
        });
        kept.keep(&to_keep.collect::<Vec<_>>());
        Self::new(heads.into_iter().map(|(.., head)| head).collect(), others, findings)
    }

    /// From heads that were read elsewhere. Both lists are sorted by path.
    pub fn new(heads: Vec<Head>, others: Vec<VaultPath>, findings: Vec<Finding>) -> Self {
        let copies = conflict_copies(&heads);
        Self { heads, others, findings, links: OnceLock::new(), copies }
    }

    /// Resolves links.
    pub fn links(&self) -> &LinkTable {
        self.links.get_or_init(|| LinkTable::of(&self.heads, &self.others))
    }

    /// Only the notes for which `is_kept` holds: no link leads to another.
    #[must_use]
    pub fn only(self, is_kept: impl Fn(&Head) -> bool) -> Self {
        if self.heads.iter().all(&is_kept) {
            return self;
        }
        Self::new(self.heads.into_iter().filter(is_kept).collect(), self.others, self.findings)
    }

    /// The sessions, sorted by path; one of which a sync service left a copy counts once.
    pub fn sessions(&self) -> impl Iterator<Item = &Head> {
        let is_copy = |at: usize| self.copies.binary_search_by_key(&at, |(copy, _)| *copy).is_ok();
        let heads = self.heads.iter().enumerate().filter(move |(at, head)| head.is_session() && !is_copy(*at));
        heads.map(|(_, head)| head)
    }

    /// The copies of sessions that a sync service left, each with the note that it is a copy of.
    pub fn conflict_copies(&self) -> impl Iterator<Item = (&Head, &Head)> {
        self.copies.iter().filter_map(|(copy, of)| Some((self.heads.get(*copy)?, self.heads.get(*of)?)))
    }

    /// The note that a link in the note at `from` means.
    pub fn note(&self, target: &str, from: &VaultPath) -> Option<&Head> {
        match self.links().resolve(target, from)? {
            Target::Note(index) => self.heads.get(index as usize),
            Target::Other(_) => None,
        }
    }

    /// The session that `head` names as its parent.
    pub fn parent(&self, head: &Head) -> Option<&Head> {
        self.note(&head.meta.parent.as_ref()?.target, &head.path)
    }

    /// The note at a path of the vault.
    pub fn at(&self, path: &VaultPath) -> Option<&Head> {
        self.position(path).and_then(|index| self.heads.get(index as usize))
    }

    /// The index in [`Catalog::heads`] of the note at a path.
    pub fn position(&self, path: &VaultPath) -> Option<u32> {
        self.heads.binary_search_by(|head| head.path.cmp(path)).ok().map(number)
    }
}

/// The copies among notes, as [`super::copies::conflict_copies`] finds them.
pub fn conflict_copies(heads: &[Head]) -> Vec<(usize, usize)> {
    let stems: Vec<_> = heads.iter().map(|head| head.path.stem()).collect();
    let stems: Vec<&str> = stems.iter().map(|stem| &**stem).collect();
    let id = |at: usize| heads.get(at).filter(|head| head.is_session())?.meta.session_id.clone();
    super::copies::conflict_copies(&stems, id)
}

/// A note that cannot be read is still there: links to it are whole.
fn head(vault: &Vault, path: VaultPath) -> Head {
    let text = match vault.overlay(&path) {
        Some(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
        None => read_head(&vault.file(&path)),
    };
    let (meta, diagnostics) = match text {
        Ok(text) => cru_session::read::meta(&text),
        Err(error) => {
            let message = format!("could not read this: {error}");
            (Meta::default(), vec![Diagnostic::error("unreadable", Span::default(), message)])
        }
    };
    let findings = diagnostics.into_iter().map(|diagnostic| Finding::new(&path, diagnostic)).collect();
    Head { path, meta: Box::new(meta), findings }
}

/// The beginning of a note up to the end of its frontmatter; the whole beginning where none ends within the limit.
pub(super) fn read_head(path: &Path) -> io::Result<String> {
    let mut file = cru_base::files::open_regular(path)?;
    let mut bytes = Vec::with_capacity(FIRST_READ);
    let mut wanted = FIRST_READ;
    loop {
        let missing = wanted.saturating_sub(bytes.len());
        let read = file.by_ref().take(missing as u64).read_to_end(&mut bytes)?;
        if read < missing || !is_open(&bytes) || wanted >= LARGEST_HEAD {
            return Ok(String::from_utf8_lossy(&bytes).into_owned());
        }
        wanted *= 4;
    }
}

/// Whether `bytes` begin a frontmatter that does not end in them.
fn is_open(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines = bytes.split_inclusive(|&byte| byte == b'\n');
    let ends = |line: &[u8]| line.ends_with(b"\n") && line.trim_ascii_end() == b"---";
    lines.next().is_some_and(ends) && !lines.any(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog(notes: &[(&str, String)]) -> Catalog {
        let temp = tempfile::tempdir().unwrap();
        for (path, text) in notes {
            cru_base::files::create(&temp.path().join(path), text.as_bytes()).unwrap();
        }
        Catalog::read(&Vault::open(temp.path()).unwrap())
    }

    #[test]
    fn reads_as_much_as_the_frontmatter_needs() {
        let tags = "  - tag\n".repeat(20_000);
        let body = "text\n".repeat(100_000);
        let catalog = catalog(&[
            ("long.md", format!("---\ntype: session\nsession_id: long\ntags:\n{tags}title: At the end\n---\n{body}")),
            ("marked.md", "\u{feff}---\r\ntype: Session\r\ntitle: Marked\r\n---\r\n".to_owned()),
            ("none.md", body),
            ("open.md", "---\ntype: session\nnever closed\n".to_owned()),
            ("rule.md", format!("---\n{}", "- x\n".repeat(10_000))),
        ]);
        let shown: Vec<String> =
            catalog.heads.iter().map(|head| format!("{} {} {}", head.path, head.is_session(), head.title())).collect();
        assert_eq!(
            shown,
            [
                "long.md true At the end",
                "marked.md true Marked",
                "none.md false none",
                "open.md false open",
                "rule.md false rule"
            ]
        );
        assert_eq!(catalog.heads[0].meta.tags.len(), 20_000);
    }

    #[test]
    fn a_parent_is_found_by_its_link() {
        let note = |more: &str| format!("---\ntype: session\n{more}---\n");
        let catalog =
            catalog(&[("a/first.md", note("")), ("b.md", note("parent: \"[[first]]\"\n")), ("c.md", note(""))]);
        let parent = |place: usize| catalog.parent(&catalog.heads[place]).map(|head| head.path.to_string());
        assert_eq!([parent(0), parent(1), parent(2)], [None, Some("a/first.md".to_owned()), None]);
    }
}
