//! Temporary files that the journal does not know: of an older version, of another machine, after a loss of power.
//!
//! One goes when its bytes prove that nothing is lost with it: there are none, they are what its name says was read or
//! written, or a file of the folder begins with them. Any other stays, and is told.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::access::Access;
use super::dir::Dir;
use super::exchange::{Origin, finish_in, tell_later};
use super::long::digest_of;
use super::place::{self, Place};
use super::{fault, finish};

/// How old a temporary file must be to be nobody's any more.
pub(super) const ABANDONED: Duration = Duration::from_hours(1);

/// The file in a folder of ours that tells when it was swept.
const MARK: &str = "swept";

/// Folders that this process has tidied.
static TIDIED: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);

/// Finishes what killed writers left undone, and takes away what they left in a folder that is about to be written to:
/// once in each process, but where intentions stand beside the files.
pub(super) fn tidy(dir: &Arc<Dir>) {
    if super::intention::folder().is_none() {
        tell_later(finish_in(dir, Origin::Beside));
    }
    let is_first = {
        let mut tidied = TIDIED.lock().unwrap_or_else(PoisonError::into_inner);
        tidied.get_or_insert_default().insert(dir.path.clone())
    };
    if is_first {
        tell_later(finish());
        sweep_in(dir);
    }
}

/// Takes temporary files away that are nobody's and whose bytes prove that nothing is lost with them.
fn sweep_in(dir: &Arc<Dir>) {
    tell_later(finish_in(dir, Origin::Beside));
    for place in abandoned(dir) {
        if is_proven(&place) && fault::point().is_ok() {
            // One that cannot be removed is only in the way.
            let _ = dir.remove(&place.name);
        }
    }
}

#[cfg(test)]
pub(super) fn sweep(dir: &Path) {
    sweep_in(&place::folder(dir, None).unwrap());
}

/// Temporary files in a folder that stay because nothing proves that no text of a person is lost with them.
pub fn strays(dir: &Path) -> Vec<PathBuf> {
    let Ok(dir) = place::folder(dir, None) else { return Vec::new() };
    let mut strays: Vec<_> = abandoned(&dir).filter(|place| !is_proven(place)).map(|place| place.path()).collect();
    strays.sort();
    strays
}

/// [`strays`] of a folder and of all below it; links are not followed.
pub fn strays_below(dir: &Path) -> Vec<PathBuf> {
    let mut strays = strays(dir);
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_name() != ".git" && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            strays.extend(strays_below(&entry.path()));
        }
    }
    strays
}

/// Takes temporary files away in a folder that only this program writes to, and in those below: nothing of a person can
/// be in them. At most once in an hour.
pub fn sweep_own(dir: &Path) {
    let Ok(folder) = place::folder(dir, None) else { return };
    let mark = Place { dir: folder.clone(), name: MARK.into() };
    let swept = mark.open(Access::Read).and_then(|file| file.metadata()).and_then(|it| it.modified());
    if swept.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < ABANDONED)) {
        return;
    }
    // Where that cannot be noted it is looked at again.
    let _ = super::put_private(&dir.join(MARK), b"");
    sweep_own_in(&folder);
}

fn sweep_own_in(dir: &Arc<Dir>) {
    for place in abandoned(dir) {
        let _ = fault::point().and_then(|()| dir.remove(&place.name));
    }
    for name in dir.names().unwrap_or_default() {
        // A link is none: it is not followed.
        if let Ok(inner) = dir.inside(&name) {
            sweep_own_in(&Arc::new(inner));
        }
    }
}

/// The temporary files in a folder that are nobody's.
fn abandoned(dir: &Arc<Dir>) -> impl Iterator<Item = Place> {
    let names = dir.names().unwrap_or_default().into_iter().filter(|name| is_temporary(name));
    names.map(|name| Place { dir: dir.clone(), name }).filter(|place| {
        let changed = place.open(Access::Read).and_then(|file| file.metadata()).and_then(|it| it.modified());
        changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age >= ABANDONED))
    })
}

/// Whether a file has a name of the kind that is given to temporary files.
pub(super) fn is_temporary(name: &OsStr) -> bool {
    let middle = name.to_str().and_then(|name| name.strip_prefix(".cru-")?.strip_suffix(".tmp"));
    middle.is_some_and(|middle| {
        let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        middle.len() >= 6 && middle.bytes().all(is_of_name)
    })
}

fn is_proven(place: &Place) -> bool {
    let Ok(len) = place.open(Access::Read).and_then(|file| file.metadata()).map(|it| it.len()) else { return false };
    if len == 0 {
        return true;
    }
    let name = place.name.to_str().unwrap_or_default().trim_end_matches(".tmp");
    let named: Vec<&str> = name.split('_').skip(1).filter(|part| part.len() == super::intention::SHOWN).collect();
    if !named.is_empty() {
        let found = digest_of(place.open(Access::Read)).ok().flatten();
        let found = found.map(|found| blake3::Hash::from_bytes(found).to_hex());
        if found.is_some_and(|found| named.iter().any(|named| found.starts_with(named))) {
            return true;
        }
    }
    // Bytes of the longest temporary file that is compared with the files of its folder.
    len <= (64 << 20) && is_beginning(place, len)
}

/// Whether another file of the folder begins with the bytes of this one.
fn is_beginning(place: &Place, len: u64) -> bool {
    let Ok(bytes) = place.read() else { return false };
    let names = place.dir.names().unwrap_or_default();
    names.iter().filter(|name| !is_temporary(name)).any(|name| {
        let begins = || -> io::Result<bool> {
            let file = place.dir.file(name, Access::Read)?;
            if file.metadata()?.len() < len {
                return Ok(false);
            }
            let mut start = Vec::new();
            file.take(len).read_to_end(&mut start)?;
            Ok(start == bytes)
        };
        begins().unwrap_or(false)
    })
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;
    use crate::files::create;

    fn make(dir: &Path, name: &str, text: &str, age: Duration) -> PathBuf {
        let path = dir.join(name);
        fs::create_dir_all(dir).unwrap();
        let mut file = File::options().write(true).create_new(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        let made = file.metadata().unwrap().modified().unwrap();
        file.set_modified(made - age).unwrap();
        path
    }

    #[test]
    fn only_what_holds_nothing_of_a_person_goes() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        create(&dir.join("note.md"), b"what was written, and more").unwrap();
        let shown = &blake3::hash(b"written or read").to_hex()[..16];
        let old = ABANDONED * 2;
        let gone = [
            make(dir, ".cru-AbCdEf.tmp", "", old),
            make(dir, ".cru-AbCdE2.tmp", "what was wri", old),
            make(dir, &format!(".cru-AbCdE3_{shown}_-.tmp"), "written or read", old),
        ];
        let kept = [
            make(dir, ".cru-AbCdE4.tmp", "a save", old),
            make(dir, &format!(".cru-AbCdE5_-_{shown}.tmp"), "a save", old),
        ];
        let others = [
            make(dir, ".cru-AbCdE6.tmp", "", ABANDONED / 2),
            make(dir, ".cru-mine.tmp", "", old),
            make(dir, ".cruAbCdEf.tmp", "", old),
        ];
        sweep(dir);
        assert!(gone.iter().all(|path| !path.exists()));
        assert!(kept.iter().chain(&others).all(|path| path.exists()));
        assert_eq!(strays(dir), kept);
        sweep_own(dir);
        sweep_own(dir);
        assert!(kept.iter().all(|path| !path.exists()) && others.iter().all(|path| path.exists()));
    }

    #[test]
    fn a_folder_is_tidied_by_who_writes_to_it() {
        let dir = tempfile::tempdir().unwrap();
        let left = make(dir.path(), ".cru-AbCdEf.tmp", "one", ABANDONED);
        create(&dir.path().join("a"), b"one").unwrap();
        assert!(left.exists(), "nothing had its bytes then");
        sweep(dir.path());
        assert!(!left.exists());
    }
}
