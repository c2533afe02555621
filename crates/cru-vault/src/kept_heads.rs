//! Heads as they were last read, kept with the machine: to read a frontmatter takes a hundred times as long as to look
//! whether its file is still the same.
//!
//! A head is kept only if what is written of it reads back as the same, and counts only while its file looks as it did. A
//! file that was changed so shortly before it was read that one more change may not show is read again.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Vault, VaultPath};
use cru_base::files::{self, Fingerprint};
use cru_session::Meta;

/// Its name in the folder of caches.
const FILE: &str = "heads";

/// The versions of its form, and of the rules that a frontmatter is read by and secrets are found by.
const VERSION: &str = concat!("3 ", env!("CARGO_PKG_VERSION"));

/// How long after a change one more may not show: some file systems count time in steps of two seconds.
const SETTLES: Duration = Duration::from_secs(2);

/// One head.
#[derive(Serialize, Deserialize)]
struct KeptHead<'a> {
    path: Cow<'a, str>,
    seen: Fingerprint,
    meta: Cow<'a, Meta>,
}

/// A head that may be kept.
pub(super) struct SeenHead<'a> {
    pub(super) path: &'a VaultPath,
    pub(super) meta: &'a Meta,
    /// What the file system said of its note before it was read.
    pub(super) seen: Fingerprint,
    /// Whether it had to be read.
    pub(super) is_new: bool,
}

pub(super) struct KeptHeads {
    file: Option<PathBuf>,
    begun: Instant,
    /// Files that were changed before this were read when no other change could be hidden.
    settled: i64,
    /// By the paths of their notes.
    heads: HashMap<String, (Fingerprint, Box<Meta>)>,
}

impl KeptHeads {
    /// What is kept of a vault; nothing where that cannot be read.
    pub(super) fn of(vault: &Vault) -> Self {
        let begun = Instant::now();
        let file = vault.cache().map(|folder| folder.join(FILE));
        let kept = file.as_deref().and_then(|file| read(file, begun));
        kept.unwrap_or(Self { file, begun, settled: 0, heads: HashMap::new() })
    }

    /// Whether anything is kept of a note: it is read from its file.
    pub(super) fn is_kept(&self, vault: &Vault, path: &VaultPath) -> bool {
        self.file.is_some() && vault.overlay(path).is_none()
    }

    /// What is kept of a note, once, where it is of the file as it was `seen`.
    pub(super) fn take(&mut self, path: &VaultPath, seen: &Fingerprint) -> Option<Box<Meta>> {
        let (known, meta) = self.heads.remove(path.as_path().to_str()?)?;
        (known == *seen && known.mtime < self.settled).then_some(meta)
    }

    /// Keeps heads for the next time, where more of them had to be read than it takes to write all. That nothing can be
    /// written is no error: they are read again.
    pub(super) fn keep(&self, heads: &[SeenHead<'_>]) {
        let new = heads.iter().filter(|it| it.is_new).count();
        let Some(file) = self.file.as_deref().filter(|_| new > heads.len() / 64) else { return };
        let encoded: Vec<Vec<u8>> = heads.par_iter().filter_map(encode).collect();
        let took = i64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(i64::MAX);
        let Ok(body) = postcard::to_allocvec(&(VERSION, took, &encoded)) else { return };
        let _ = files::put_private(file, &[blake3::hash(&body).as_bytes(), body.as_slice()].concat());
    }
}

/// A head as bytes; `None` for one that would not be read back as the same.
fn encode(SeenHead { path, meta, seen, .. }: &SeenHead<'_>) -> Option<Vec<u8>> {
    let kept = KeptHead { path: path.as_path().to_str()?.into(), seen: *seen, meta: Cow::Borrowed(meta) };
    let bytes = postcard::to_allocvec(&kept).ok()?;
    let back: KeptHead<'_> = postcard::from_bytes(&bytes).ok()?;
    (*back.meta == **meta).then_some(bytes)
}

/// What a file keeps.
fn read(file: &Path, begun: Instant) -> Option<KeptHeads> {
    // Should it be replaced meanwhile, this is the earlier time.
    let written = files::fingerprint(file).ok()?.mtime;
    let bytes = files::read(file).ok()?;
    let (sum, body) = bytes.split_at_checked(blake3::OUT_LEN)?;
    if blake3::hash(body).as_bytes() != sum {
        return None;
    }
    // Each head is bytes of its own: several threads read them.
    let (version, took, heads): (&str, i64, Vec<&[u8]>) = postcard::from_bytes(body).ok()?;
    if version != VERSION {
        return None;
    }
    let settles = i64::try_from(SETTLES.as_nanos()).ok()?;
    let settled = written.checked_sub(took)?.checked_sub(settles)?;
    let heads = heads.par_iter().map(|bytes| {
        let KeptHead { path, seen, meta } = postcard::from_bytes(bytes).ok()?;
        Some((path.into_owned(), (seen, Box::new(meta.into_owned()))))
    });
    Some(KeptHeads { file: Some(file.to_owned()), begun, settled, heads: heads.collect::<Option<_>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalog, Head};
    use std::fs::File;
    use std::time::SystemTime;

    /// Writes a note that looks as if it had been changed an hour ago.
    fn write(root: &Path, name: &str, text: &str, ago: u64) {
        let file = root.join(name);
        files::put(&file, text.as_bytes()).unwrap();
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 - ago);
        File::options().write(true).open(&file).unwrap().set_modified(then).unwrap();
    }

    fn bed() -> (tempfile::TempDir, Vault) {
        let temp = tempfile::tempdir().unwrap();
        for at in 0..9 {
            let text = format!(
                "---\ntype: session\nsession_id: s{at}\nstarted: 2026-01-0{}T10:00:00Z\nstatus: Paused\ncost_usd: 0.1{at}\n\
                 parent: \"[[s0|x]]\"\nparticipants: [a@1, b]\nsubagents:\n  - {{session: \"[[s{at}-a]]\", tokens: 3}}\n\
                 z: 1\na: [x, 2]\n---\n# T\n",
                at + 1
            );
            write(temp.path(), &format!("notes/s{at}.md"), &text, at);
        }
        write(temp.path(), "notes/odd.md", "---\ntype: session\nstarted: soon\n---\n", 0);
        let vault = Vault::open(&temp.path().join("notes")).unwrap().cached_in(temp.path().join("cache"));
        (temp, vault)
    }

    #[test]
    fn what_is_kept_is_what_would_be_read() {
        let (temp, vault) = bed();
        let fresh = Catalog::read(&Vault::open(vault.root()).unwrap());
        let first = Catalog::read(&vault);
        assert_eq!(first.heads, fresh.heads);
        assert_eq!(KeptHeads::of(&vault).heads.len(), 9, "what has a finding is read again");
        // Proof that they are what is kept: nobody else says so.
        let file = temp.path().join("cache").join(FILE);
        let mut bytes = files::read(&file).unwrap();
        let at = blake3::OUT_LEN;
        // A text stands behind its length.
        let place = at + memchr::memmem::rfind(&bytes[at..], b"\x02s3").unwrap() + 1;
        bytes[place..place + 2].copy_from_slice(b"kp");
        let sum = blake3::hash(&bytes[at..]);
        bytes[..at].copy_from_slice(sum.as_bytes());
        files::put(&file, &bytes).unwrap();
        let ids = |catalog: &Catalog| catalog.heads.iter().map(Head::id).collect::<Vec<_>>();
        assert!(ids(&Catalog::read(&vault)).contains(&"kp".to_owned()));
        // A flipped bit, and everything is read.
        bytes[at] ^= 1;
        files::put(&file, &bytes).unwrap();
        assert_eq!(Catalog::read(&vault).heads, fresh.heads);
    }

    #[test]
    fn a_change_is_seen() {
        let (_temp, vault) = bed();
        Catalog::read(&vault);
        let text = "---\ntype: session\nsession_id: other\n---\n";
        write(vault.root(), "s1.md", text, 1);
        assert_eq!(Catalog::read(&vault).at(&VaultPath::new("s1.md").unwrap()).unwrap().id(), "other");
        // Of one moment, one length, in place: what shows nothing is read until it has settled.
        let now = "---\ntype: session\nsession_id: one00\n---\n";
        files::put(&vault.root().join("s2.md"), now.as_bytes()).unwrap();
        let id = || Catalog::read(&vault).at(&VaultPath::new("s2.md").unwrap()).unwrap().id();
        assert_eq!(id(), "one00");
        let file = File::options().write(true).open(vault.root().join("s2.md")).unwrap();
        let then = file.metadata().unwrap().modified().unwrap();
        std::io::Write::write_all(&mut &file, now.replace("one00", "two00").as_bytes()).unwrap();
        file.set_modified(then).unwrap();
        assert_eq!(id(), "two00");
    }
}
