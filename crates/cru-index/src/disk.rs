//! The folder of the index: what is in it, and whether it can be used.
//!
//! `notes` is the manifest, `rows.N` the file of rows that it names, `entries/` tantivy's files, `lock` is held by
//! whoever writes. The manifest is written last. What a killed writer left is told by `pending`: the notes that it had
//! begun with.

use std::fs::File;
use std::path::PathBuf;

use tantivy::{Index, ReloadPolicy, Searcher, TantivyError};

use super::manifest::{Manifest, Place, Unfit};
use super::record::SessionRow;
use super::{rows, schema};
use cru_base::files::{self, Lock};
use cru_base::{Error, Result};
use cru_vault::Vault;

/// The folder of an index.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    dir: PathBuf,
}

/// An index that can be used.
pub(super) struct Opened {
    /// What it knows.
    pub(super) manifest: Manifest,
    /// Its rows, opened while they were there.
    pub(super) rows: File,
    /// Its entries.
    pub(super) index: Index,
    /// Searches them as they were committed with the manifest.
    pub(super) searcher: Searcher,
}

impl Opened {
    /// One of its rows; `None` where it is damaged.
    pub(super) fn row(&self, place: Place) -> Option<SessionRow> {
        rows::read(&self.rows, place)
    }
}

/// Why an index cannot be used.
#[derive(Debug)]
pub(super) enum Trouble {
    /// There is none.
    Missing,
    /// It is of another version.
    Outdated,
    /// It is not what was written.
    Damaged(String),
    /// Entries and manifest are of different generations: somebody is writing, or was killed in between.
    Between,
}

impl Disk {
    /// That of a vault.
    pub(super) fn of(vault: &Vault) -> Self {
        Self { dir: vault.root().join(cru_vault::folder::MARK).join("cache").join("index") }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Where tantivy's files are.
    pub(super) fn entries(&self) -> PathBuf {
        self.file("entries")
    }

    /// A file of rows.
    pub(super) fn rows(&self, number: u64) -> PathBuf {
        self.file(&format!("rows.{number}"))
    }

    /// Opens it.
    pub(super) fn open(&self) -> Result<Opened, Trouble> {
        let bytes = match std::fs::read(self.file("notes")) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(Trouble::Missing),
            Err(error) => return Err(Trouble::Damaged(error.to_string())),
        };
        let manifest = Manifest::decode(&bytes).map_err(|unfit| match unfit {
            Unfit::Outdated => Trouble::Outdated,
            Unfit::Damaged => Trouble::Damaged("its list of notes is not what was written".to_owned()),
        })?;
        // Whoever wrote since may have taken these rows away.
        let rows = File::open(self.rows(manifest.rows)).map_err(|_| Trouble::Between)?;
        let index = Index::open_in_dir(self.entries()).map_err(damaged)?;
        schema::register(&index);
        if index.schema() != schema::schema().0 {
            return Err(Trouble::Outdated);
        }
        // The generation is asked for after the entries were opened: generations only grow, so if it is still the
        // manifest's, then the entries are of it too.
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().map_err(damaged)?;
        let payload = index.load_metas().map_err(damaged)?.payload;
        if payload != Some(manifest.generation.to_string()) {
            return Err(Trouble::Between);
        }
        let searcher = tantivy::IndexReader::searcher(&reader);
        Ok(Opened { manifest, rows, index, searcher })
    }

    /// Makes an empty one in the place of whatever is there; only under the lock.
    pub(super) fn create(&self) -> Result<Index> {
        for name in ["notes", "pending"] {
            files::remove(&self.file(name))?;
        }
        files::remove_derived(&self.entries())?;
        self.sweep(None)?;
        files::create_dir(&self.entries())?;
        let index = Index::create_in_dir(self.entries(), schema::schema().0).map_err(failed)?;
        schema::register(&index);
        Ok(index)
    }

    /// Opens the entries alone, whatever generation they are of; only under the lock.
    pub(super) fn index(&self) -> Result<Index, Trouble> {
        let index = Index::open_in_dir(self.entries()).map_err(damaged)?;
        schema::register(&index);
        Ok(index)
    }

    /// The generation of the entries.
    pub(super) fn committed(index: &Index) -> Option<u64> {
        index.load_metas().ok()?.payload?.parse().ok()
    }

    /// The manifest alone; only under the lock.
    pub(super) fn manifest(&self) -> Option<Manifest> {
        Manifest::decode(&std::fs::read(self.file("notes")).ok()?).ok()
    }

    /// Whether the rows are there that a manifest names.
    pub(super) fn has_rows(&self, manifest: &Manifest) -> bool {
        self.rows(manifest.rows).is_file()
    }

    /// Lets nobody else write; waits for whoever does.
    pub(super) fn lock(&self) -> Result<Lock> {
        files::lock(&self.file("lock"))
    }

    /// The same; `None` where somebody else writes.
    pub(super) fn try_lock(&self) -> Result<Option<Lock>> {
        files::try_lock(&self.file("lock"))
    }

    /// What time it is for the file system, in nanoseconds.
    pub(super) fn clock(&self) -> Result<i64> {
        let path = self.file("clock");
        files::put(&path, b"")?;
        Ok(files::fingerprint(&path)?.mtime)
    }

    /// Says which notes are about to be written with `generation`.
    pub(super) fn begin(&self, generation: u64, paths: &[String]) -> Result<()> {
        let bytes = postcard::to_allocvec(&(generation, paths)).unwrap_or_default();
        files::put(&self.file("pending"), &bytes)
    }

    /// The notes that a killed writer had begun with, if it was on its way to `generation`.
    pub(super) fn begun(&self, generation: u64) -> Option<Vec<String>> {
        let bytes = std::fs::read(self.file("pending")).ok()?;
        let (begun, paths): (u64, Vec<String>) = postcard::from_bytes(&bytes).ok()?;
        (begun == generation).then_some(paths)
    }

    /// Makes what is committed count, whose rows are written.
    pub(super) fn finish(&self, manifest: &Manifest) -> Result<()> {
        let bytes =
            manifest.encode().ok_or_else(|| Error::internal("encode the list of indexed notes", "it is too long"))?;
        files::put(&self.file("notes"), &bytes)?;
        self.sweep(Some(manifest.rows))
    }

    /// Takes away all files of rows but one.
    fn sweep(&self, keep: Option<u64>) -> Result<()> {
        let Ok(found) = std::fs::read_dir(&self.dir) else { return Ok(()) };
        for name in found.flatten().filter_map(|entry| entry.file_name().into_string().ok()) {
            let number = name.strip_prefix("rows.").and_then(|number| number.parse().ok());
            if number.is_some_and(|number: u64| keep != Some(number)) {
                files::remove(&self.file(&name))?;
            }
        }
        Ok(())
    }
}

fn damaged(error: TantivyError) -> Trouble {
    match error {
        TantivyError::OpenDirectoryError(_) => Trouble::Missing,
        other => Trouble::Damaged(other.to_string()),
    }
}

/// An error of the index that cannot be mended by making it anew.
pub(super) fn failed(error: TantivyError) -> Error {
    Error::internal("write the search index", error).with_hint("delete `.cru/cache`; the next command builds it again")
}
