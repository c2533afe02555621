//! Bytes of files by their BLAKE3 hash, compressed, each once.

use std::path::{Path, PathBuf};

use cru_base::{Error, Result, files};
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Read as _;

/// Bytes of the largest object that is read back.
pub const LARGEST: u64 = 8 << 20;

/// An object that is older is written anew when it is kept once more, so that nobody who removes old ones takes it.
const REFRESHED: std::time::Duration = std::time::Duration::from_hours(12);

/// A folder of objects.
#[derive(Clone, Debug)]
pub struct ObjectStore {
    dir: PathBuf,
}

impl ObjectStore {
    /// That of a machine's state.
    pub fn of(state: &Path) -> Self {
        Self { dir: state.join("objects") }
    }

    /// The hash that names some bytes, 64 hexadecimal digits.
    pub fn name(bytes: &[u8]) -> String {
        blake3::hash(bytes).to_hex().to_string()
    }

    /// Keeps bytes under their hash. A process that is killed leaves a whole object or none.
    pub fn put(&self, bytes: &[u8]) -> Result<String> {
        let name = Self::name(bytes);
        let path = self.path(&name).ok_or_else(|| Error::usage("a hash has 64 hexadecimal digits"))?;
        // A loss of power may leave an empty file under the name, and an old one may be removed at this moment.
        let is_young = |it: &std::fs::Metadata| {
            it.modified().ok().and_then(|at| at.elapsed().ok()).is_none_or(|age| age < REFRESHED)
        };
        let is_there = std::fs::metadata(&path).is_ok_and(|it| it.is_file() && it.len() > 0 && is_young(&it));
        if !is_there {
            let packed = compress_to_vec(bytes, CompressionLevel::Fastest);
            files::put_private(&path, &packed)?;
        }
        Ok(name)
    }

    /// The bytes of an object; `None` where it is missing or is not what its name says.
    pub fn get(&self, name: &str) -> Option<Vec<u8>> {
        let packed = files::read_regular(&self.path(name)?, LARGEST * 2).ok()??;
        let mut bytes = Vec::new();
        // What is packed may claim to be larger than anything that was kept.
        StreamingDecoder::new(packed.as_slice()).ok()?.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
        (Self::name(&bytes) == name).then_some(bytes)
    }

    /// Whether an object is there; its bytes are not looked at.
    pub fn has(&self, name: &str) -> bool {
        self.path(name).is_some_and(|path| std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() > 0))
    }

    /// Names and packed sizes in bytes of all objects, in order.
    pub fn all(&self) -> Vec<(String, u64)> {
        let folders = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten().flatten());
        let mut found: Vec<(String, u64)> = files
            .filter_map(|file| Some((file.file_name().into_string().ok()?, file.metadata().ok()?.len())))
            .filter(|(name, _)| is_name(name))
            .collect();
        found.sort();
        found
    }

    /// Removes an object.
    pub fn remove(&self, name: &str) -> Result<bool> {
        self.path(name).map_or(Ok(false), |path| files::remove(&path))
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        is_name(name).then(|| self.dir.join(&name[..2]).join(name))
    }
}

/// Whether a name is a hash; nothing else becomes a path.
fn is_name(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn damaged_and_missing_objects_are_none() {
        let temp = tempfile::tempdir().unwrap();
        let store = ObjectStore::of(temp.path());
        let name = store.put(b"text").unwrap();
        assert_eq!(store.get(&name).as_deref(), Some(&b"text"[..]));
        assert_eq!(store.all().len(), 1);
        let path = store.path(&name).unwrap();
        files::put_private(&path, &compress_to_vec(b"other".as_slice(), CompressionLevel::Fastest)).unwrap();
        assert_eq!(store.get(&name), None, "a wrong hash");
        files::put_private(&path, b"").unwrap();
        assert!(!store.has(&name));
        assert_eq!(store.put(b"text").unwrap(), name, "an empty file is written anew");
        assert!(store.get(&name).is_some());
        assert!(store.remove(&name).unwrap() && store.get(&name).is_none());
        for odd in ["", "..", "../../etc/passwd", &"A".repeat(64), &format!("{}/", "a".repeat(63))] {
            assert_eq!((store.get(odd), store.has(odd)), (None, false), "{odd}");
        }
    }

    proptest! {
        #[test]
        fn gives_back_every_byte(bytes in proptest::collection::vec(any::<u8>(), 0..4000)) {
            let temp = tempfile::tempdir().unwrap();
            let store = ObjectStore::of(temp.path());
            let name = store.put(&bytes).unwrap();
            prop_assert_eq!(store.get(&name), Some(bytes));
        }
    }
}
