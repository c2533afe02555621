//! Many new files with one synchronisation at the end.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::create::{create_unsynced, sync_dir};
use crate::Result;

/// Makes many files: each is whole or absent at any moment, all are durable once [`Bulk::finish`] returns.
///
/// For files that can be made again after a loss of power, such as notes of transcripts that still stand.
#[derive(Debug, Default)]
#[must_use = "finish() makes the files durable"]
pub struct Bulk {
    dirs: BTreeSet<PathBuf>,
    #[cfg(not(target_os = "linux"))]
    made: Vec<PathBuf>,
}

impl Bulk {
    /// Nothing made yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes a new file whole; `Ok(false)` when the name is taken. Folders above are made.
    pub fn create(&mut self, path: &Path, bytes: &[u8]) -> Result<bool> {
        let made = create_unsynced(path, bytes)?;
        if let Some(dir) = path.parent().filter(|dir| made && !self.dirs.contains(*dir)) {
            self.dirs.insert(dir.to_owned());
        }
        #[cfg(not(target_os = "linux"))]
        if made {
            self.made.push(path.to_owned());
        }
        Ok(made)
    }

    /// Makes all of it durable: one call for each file system on Linux, one for each file elsewhere.
    pub fn finish(self) -> Result<()> {
        #[cfg(target_os = "linux")]
        self.sync_file_systems()?;
        #[cfg(not(target_os = "linux"))]
        for path in &self.made {
            let synced = std::fs::File::open(path).and_then(|file| file.sync_all());
            synced.map_err(|source| crate::Error::io("write", path, source))?;
        }
        for dir in &self.dirs {
            sync_dir(dir);
        }
        Ok(())
    }

    #[cfg(target_os = "linux")]
    fn sync_file_systems(&self) -> Result<()> {
        use std::os::unix::fs::MetadataExt as _;
        let mut synced = BTreeSet::new();
        for dir in &self.dirs {
            let mut sync = || -> std::io::Result<()> {
                let handle = std::fs::File::open(dir)?;
                if synced.insert(handle.metadata()?.dev()) {
                    rustix::fs::syncfs(&handle)?;
                }
                Ok(())
            };
            sync().map_err(|source| crate::Error::io("write", dir, source))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::read;

    #[test]
    fn makes_many() {
        let dir = tempfile::tempdir().unwrap();
        let mut bulk = Bulk::new();
        for number in 0..50 {
            let path = dir.path().join(format!("{}/{number}.md", number % 3));
            assert!(bulk.create(&path, number.to_string().as_bytes()).unwrap());
            assert!(!bulk.create(&path, b"again").unwrap());
        }
        bulk.finish().unwrap();
        assert_eq!(read(&dir.path().join("2/47.md")).unwrap(), b"47");
    }
}
