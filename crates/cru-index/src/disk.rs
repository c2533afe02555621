//! The folder of the index: what is in it, and whether it can be used.
//!
//! It lies with the machine, never in the vault. `notes` is the manifest, `rows.N` and `tables.N` the files of rows and
//! tables that it names, `entries/` tantivy's files, `lock` is held by whoever writes. The manifest is written last. What a killed writer left
//! is told by `pending`: the notes that it had begun with.
//!
//! Nothing of it is believed unseen: manifest, rows and `pending` have checksums of ours, the files of the entries those of
//! tantivy. That the latter were compared is remembered in `checked` for as long as no file changes.

use std::fs::{self, File};
use std::path::PathBuf;

use rayon::prelude::*;
use tantivy::index::SegmentComponent;
use tantivy::{Index, ReloadPolicy, Searcher, SegmentMeta, TantivyError};

use super::manifest::{Manifest, Place, Unfit, hash};
use super::record::SessionRow;
use super::rows::{self, KeptFiles};
use super::schema;
use cru_base::files::{self, Lock};
use cru_base::{Error, Result};
use cru_vault::Vault;

/// What a segment of the entries may consist of.
const PARTS: [SegmentComponent; 7] = [
    SegmentComponent::Postings,
    SegmentComponent::Positions,
    SegmentComponent::Terms,
    SegmentComponent::Store,
    SegmentComponent::FastFields,
    SegmentComponent::FieldNorms,
    SegmentComponent::Delete,
];

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
    /// The tables of its records, likewise.
    pub(super) tables: File,
    /// Its entries.
    pub(super) index: Index,
    /// Searches them as they were committed with the manifest.
    pub(super) searcher: Searcher,
}

impl Opened {
    /// One of its rows; `None` where it is damaged.
    pub(super) fn row(&self, place: Place) -> Option<SessionRow> {
        postcard::from_bytes(&rows::read(&self.rows, place)?).ok()
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
    /// That of a vault; `None` where the machine has no folder for it.
    pub(super) fn of(vault: &Vault) -> Option<Self> {
        Some(Self { dir: vault.cache()?.join("index") })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Where tantivy's files are.
    pub(super) fn entries(&self) -> PathBuf {
        self.file("entries")
    }

    /// The files of rows and tables of that number.
    pub(super) fn kept(&self, number: u64) -> KeptFiles {
        KeptFiles { rows: self.file(&format!("rows.{number}")), tables: self.file(&format!("tables.{number}")) }
    }

    /// Opens it.
    pub(super) fn open(&self) -> Result<Opened, Trouble> {
        self.is_own()?;
        let bytes = files::read_if_there(&self.file("notes")).map_err(|error| Trouble::Damaged(error.to_string()))?;
        let bytes = bytes.ok_or(Trouble::Missing)?;
        let manifest = Manifest::decode(&bytes).map_err(|unfit| match unfit {
            Unfit::Outdated => Trouble::Outdated,
            Unfit::Damaged => Trouble::Damaged("its list of notes is not what was written".to_owned()),
        })?;
        // Whoever wrote since may have taken these rows away.
        let kept = self.kept(manifest.rows);
        let open = |path: PathBuf| File::open(path).map_err(|_| Trouble::Between);
        let (rows, tables) = (open(kept.rows)?, open(kept.tables)?);
        let index = Index::open_in_dir(self.entries()).map_err(damaged)?;
        schema::register(&index);
        if index.schema() != schema::schema().0 {
            return Err(Trouble::Outdated);
        }
        let is_between = || {
            let payload = index.load_metas().map_err(damaged)?.payload;
            Ok(payload != Some(manifest.generation.to_string()))
        };
        if is_between()? {
            return Err(Trouble::Between);
        }
        // A damaged file is never opened: its reader takes the bytes for places in it.
        if self.meta() != manifest.meta {
            return Err(Trouble::Damaged("its list of files is not what was written".to_owned()));
        }
        self.check(&index)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().map_err(damaged)?;
        // Asked for again after the entries were opened: generations only grow, so if it is still the manifest's, then the
        // entries are of it too.
        if is_between()? {
            return Err(Trouble::Between);
        }
        let searcher = tantivy::IndexReader::searcher(&reader);
        Ok(Opened { manifest, rows, tables, index, searcher })
    }

    /// Whether it is two folders with files: no links that lead elsewhere, and no pipe that would be waited for.
    fn is_own(&self) -> Result<(), Trouble> {
        for folder in [self.dir.clone(), self.entries()] {
            let is_odd = fs::symlink_metadata(&folder).is_ok_and(|it| !it.is_dir());
            let mut entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            let is_file = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_odd || entries.any(|entry| !is_file(&entry) && entry.path() != self.entries()) {
                return Err(Trouble::Damaged("it holds a link, or what is no file".to_owned()));
            }
        }
        Ok(())
    }

    /// Compares the files of the entries with their checksums, unless that was done and none has changed since.
    fn check(&self, index: &Index) -> Result<(), Trouble> {
        let segments = index.searchable_segment_metas().map_err(damaged)?;
        let parts = |segment: &SegmentMeta| PARTS.map(|part| segment.relative_path(part));
        let mut files: Vec<PathBuf> = segments.iter().flat_map(parts).collect();
        files.retain(|file| self.entries().join(file).exists());
        files.sort_unstable();
        let mut seen = Vec::new();
        for file in &files {
            let metadata = fs::metadata(self.entries().join(file)).map_err(|_| Trouble::Between)?;
            seen.extend(file.as_os_str().as_encoded_bytes());
            seen.extend(stamp(&metadata));
        }
        let seen = hash(&seen);
        if files::read(&self.file("checked")).is_ok_and(|known| known == seen) {
            return Ok(());
        }
        files.par_iter().try_for_each(|file| match index.directory().validate_checksum(file) {
            Ok(true) => Ok(()),
            // Whoever wrote since may have taken it away.
            Err(_) if !self.entries().join(file).exists() => Err(Trouble::Between),
            Ok(false) | Err(_) => Err(Trouble::Damaged(format!("{} is not what was written", file.display()))),
        })?;
        // Where it cannot be noted it is done again.
        let _ = files::put(&self.file("checked"), &seen);
        Ok(())
    }

    /// The hash of tantivy's list of its files.
    pub(super) fn meta(&self) -> [u8; 16] {
        hash(&files::read(&self.entries().join("meta.json")).unwrap_or_default())
    }

    /// Makes an empty one in the place of whatever is there; only under the lock.
    pub(super) fn create(&self) -> Result<Index> {
        for name in ["notes", "pending", "checked"] {
            self.remove(name)?;
        }
        self.remove("entries")?;
        self.sweep(None)?;
        files::create_private_dir(&self.entries())?;
        let index = Index::create_in_dir(self.entries(), schema::schema().0).map_err(failed)?;
        schema::register(&index);
        Ok(index)
    }

    /// Takes away whatever has a name in its folder.
    fn remove(&self, name: &str) -> Result<()> {
        let path = self.file(name);
        let is_dir = fs::symlink_metadata(&path).is_ok_and(|it| it.is_dir());
        if is_dir { files::remove_derived(&path) } else { files::remove(&path).map(drop) }
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
        Manifest::decode(&files::read(&self.file("notes")).ok()?).ok()
    }

    /// Whether the rows are there that a manifest names.
    pub(super) fn has_rows(&self, manifest: &Manifest) -> bool {
        let kept = self.kept(manifest.rows);
        kept.rows.is_file() && kept.tables.is_file()
    }

    /// Lets nobody else write; waits for whoever does.
    pub(super) fn lock(&self) -> Result<Lock> {
        files::create_private_dir(&self.dir)?;
        files::lock(&self.file("lock"))
    }

    /// The same; `None` where somebody else writes.
    pub(super) fn try_lock(&self) -> Result<Option<Lock>> {
        files::create_private_dir(&self.dir)?;
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
        files::put(&self.file("pending"), &[&hash(&bytes), bytes.as_slice()].concat())
    }

    /// The notes that a killed writer had begun with, if it was on its way to `generation`.
    pub(super) fn begun(&self, generation: u64) -> Option<Vec<String>> {
        let bytes = files::read(&self.file("pending")).ok()?;
        let (sum, bytes) = bytes.split_at_checked(16)?;
        let (begun, paths): (u64, Vec<String>) =
            if hash(bytes) == sum { postcard::from_bytes(bytes).ok()? } else { return None };
        (begun == generation).then_some(paths)
    }

    /// Makes what is committed count, whose rows are written.
    pub(super) fn finish(&self, manifest: &Manifest) -> Result<()> {
        let bytes =
            manifest.encode().ok_or_else(|| Error::internal("encode the list of indexed notes", "it is too long"))?;
        files::put(&self.file("notes"), &bytes)?;
        self.sweep(Some(manifest.rows))
    }

    /// Takes away all files of rows and tables but those of one number.
    fn sweep(&self, keep: Option<u64>) -> Result<()> {
        let Ok(found) = std::fs::read_dir(&self.dir) else { return Ok(()) };
        for name in found.flatten().filter_map(|entry| entry.file_name().into_string().ok()) {
            let number = name.strip_prefix("rows.").or_else(|| name.strip_prefix("tables."));
            let number = number.and_then(|number| number.parse().ok());
            if number.is_some_and(|number: u64| keep != Some(number)) {
                self.remove(&name)?;
            }
        }
        Ok(())
    }
}

/// What tells that a file was written to, whatever its time of modification was set to.
fn stamp(metadata: &fs::Metadata) -> Vec<u8> {
    let files::Fingerprint { size, mtime, inode } = files::Fingerprint::of(metadata);
    #[cfg(unix)]
    let changed = {
        use std::os::unix::fs::MetadataExt as _;
        (metadata.ctime(), metadata.ctime_nsec())
    };
    #[cfg(not(unix))]
    let changed = (0_i64, 0_i64);
    let parts = [size, inode, mtime.cast_unsigned(), changed.0.cast_unsigned(), changed.1.cast_unsigned()];
    parts.iter().flat_map(|part| part.to_le_bytes()).collect()
}

/// Has the index of a vault made anew by whoever asks next.
pub(super) fn forget(vault: &Vault) {
    let Some(disk) = Disk::of(vault) else { return };
    // Who writes it in this moment does so anyway, or finds the damage.
    if let Ok(Some(_lock)) = disk.try_lock() {
        let _ = files::remove(&disk.file("notes"));
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
    Error::internal("write the search index", error).with_hint("`cru admin index --rebuild` builds it again")
}
