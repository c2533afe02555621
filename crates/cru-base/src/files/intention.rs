//! The journal of intentions: what a writer is about to do beside a file, so that whoever comes next can finish it.
//!
//! An intention is a small file that its writer holds locked. It names the file, the temporary file beside it, and the
//! digests of what was read and of what is written; it is on disk before the file is touched, and goes when the
//! temporary file is gone. A process that dies leaves it behind, unlocked. No temporary file beside a file of a person
//! is ever without one, so none has to be judged by its name.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::access::Access;
use super::append::{is_removed, unless_unsupported};
use super::dir::Dir;
use super::fault;
use super::long::Digest;
use super::place::{self, PRIVATE_DIR, Place};
use super::temp::chance;

/// Beginning and end of the names of intentions.
const PREFIX: &str = ".cru-";
const SUFFIX: &str = ".intent";

/// The first line, with the version of the form.
const HEAD: &str = "cru intention 1";

/// The last line of one whose temporary file is whole: the exchange may have been made.
const READY: &str = "ready";

/// Hexadecimal digits of a digest in the name of a temporary file.
pub(super) const SHOWN: usize = 16;

/// The folder of this machine for intentions.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Keeps the intentions of this process in a folder of this machine, where any command finds them. Without one they
/// stand beside the file, where the next write into that folder finds them. The first call counts.
pub fn keep_intentions_in(folder: PathBuf) {
    // A second call changes nothing: intentions of one process are not scattered.
    let _ = FOLDER.set(folder);
}

/// The folder of this machine for intentions, where one is known.
pub(super) fn folder() -> Option<&'static Path> {
    FOLDER.get().map(PathBuf::as_path)
}

/// Where a displaced file goes that some program may still have open: each list in the order of preference. Nothing:
/// it is removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// The file that was replaced.
    pub old: Vec<PathBuf>,
    /// The new file, where it stood in the place for a moment only.
    pub new: Vec<PathBuf>,
}

/// What an intention says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Intended {
    /// The file; no link leads to it.
    pub(super) target: PathBuf,
    /// Name of the temporary file, in the same folder.
    pub(super) temp: OsString,
    /// What was read; `None` for a new file.
    pub(super) old: Option<Digest>,
    /// What is written; `None` where that is not known yet, or the file is removed.
    pub(super) new: Option<Digest>,
    /// Where displaced files go.
    pub(super) keep: Keep,
    /// Whether the file itself may have been touched.
    pub(super) is_ready: bool,
}

impl Intended {
    fn begin_text(&self) -> String {
        format!(
            "{HEAD}\ntarget {}\ntemp {}\n{}",
            encoded(self.target.as_os_str().as_encoded_bytes()),
            encoded(self.temp.as_encoded_bytes()),
            digests(self.old, self.new)
        )
    }

    /// `None` where it was cut off before it was whole: then its temporary file was not made yet.
    fn parse(text: &str) -> Option<Self> {
        // What does not end is torn.
        let text = &text[..=text.rfind('\n')?];
        let mut lines = text.lines();
        if lines.next()? != HEAD {
            return None;
        }
        let mut intended = Self::default();
        let (mut target, mut temp, mut old, mut new) = (None, None, None, None);
        for line in lines {
            match line.split_once(' ') {
                None if line == READY => intended.is_ready = true,
                Some(("target", value)) => target = Some(PathBuf::from(decoded(value)?)),
                Some(("temp", value)) => temp = Some(decoded(value)?),
                Some(("old", value)) => old = Some(digest_of(value)?),
                Some(("new", value)) => new = Some(digest_of(value)?),
                Some(("keep", value)) => intended.keep.old.push(decoded(value)?.into()),
                Some(("keep-new", value)) => intended.keep.new.push(decoded(value)?.into()),
                _ => {}
            }
        }
        let (target, temp) = (target?, temp?);
        // A name, and no way to another folder.
        if Path::new(&temp).file_name() != Some(&temp) {
            return None;
        }
        Some(Self { target, temp, old: old?, new: new?, ..intended })
    }
}

/// An intention of this process. Dropping it takes it away, unless its temporary file is still there: then the next
/// command finishes what was begun.
#[derive(Debug)]
pub(super) struct Intention {
    place: Place,
    temp: Place,
    file: File,
}

impl Intention {
    /// Notes that a temporary file will be made beside `target`; the digests are given where they are known.
    pub(super) fn begin(target: &Place, old: Option<Digest>, new: Option<Digest>) -> io::Result<Self> {
        let own = folder().map(|dir| place::folder(dir, Some(PRIVATE_DIR)));
        let own = own.transpose().map_err(io::Error::other);
        let first = match own {
            Ok(Some(dir)) => match Self::begin_in(&dir, target, old, new) {
                Ok(intention) => return Ok(intention),
                Err(error) => Some(error),
            },
            Ok(None) => None,
            Err(error) => Some(error),
        };
        Self::begin_in(&target.dir, target, old, new).map_err(|error| first.unwrap_or(error))
    }

    fn begin_in(dir: &Arc<Dir>, target: &Place, old: Option<Digest>, new: Option<Digest>) -> io::Result<Self> {
        // Found again by a way on which there is no link.
        let real = target.dir.path.canonicalize()?.join(&target.name);
        // How often an intention that a finisher took for abandoned is made again.
        for _ in 0..20 {
            fault::point()?;
            let chance = chance();
            let place = Place { dir: dir.clone(), name: format!("{PREFIX}{chance}{SUFFIX}").into() };
            let file = match place.open(Access::New { mode: 0o600 }) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            unless_unsupported(file.lock())?;
            // Whoever finishes what others left may have been faster than the lock.
            if is_removed(&file.metadata()?) {
                continue;
            }
            let shown =
                |digest: Option<Digest>| digest.map_or_else(|| "-".to_owned(), |it| hex(&it)[..SHOWN].to_owned());
            let name = OsString::from(format!("{PREFIX}{chance}_{}_{}.tmp", shown(old), shown(new)));
            let temp = Place { dir: target.dir.clone(), name: name.clone() };
            let intended = Intended { target: real, temp: name, old, new, ..Intended::default() };
            let mut intention = Self { place, temp, file };
            intention.write(intended.begin_text().as_bytes())?;
            return Ok(intention);
        }
        Err(io::Error::other("it is removed all the time"))
    }

    /// The name of the temporary file.
    pub(super) fn temp(&self) -> &OsStr {
        &self.temp.name
    }

    /// Notes, durable, that the temporary file is whole and the file itself will be touched now.
    pub(super) fn ready(&mut self, old: Option<Digest>, new: Option<Digest>, keep: &Keep) -> io::Result<()> {
        let mut text = digests(old, new);
        for (word, places) in [("keep", &keep.old), ("keep-new", &keep.new)] {
            for place in places {
                let _ = writeln!(text, "{word} {}", encoded(place.as_os_str().as_encoded_bytes()));
            }
        }
        let _ = writeln!(text, "{READY}");
        self.write(text.as_bytes())?;
        fault::point()?;
        self.file.sync_data()?;
        place::sync(&self.place.dir);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        fault::write_point(&mut self.file, bytes)?;
        self.file.write_all(bytes)
    }
}

impl Drop for Intention {
    fn drop(&mut self) {
        let is_there = |name: &OsStr| self.temp.dir.has(name);
        if !is_there(&self.temp.name) && !is_there(&spare(&self.temp.name)) && fault::point().is_ok() {
            // One that stays says what is true: there is no such temporary file.
            let _ = self.place.dir.remove(&self.place.name);
        }
    }
}

/// The second name of a file that is displaced in steps, where the system has no exchange.
pub(super) fn spare(temp: &OsStr) -> OsString {
    let mut name = temp.to_owned();
    name.push("2");
    name
}

/// The intentions in a folder whose writers are gone, with their age, each held until `finish` was called with it; they
/// go where that says so.
pub(super) fn abandoned(dir: &Arc<Dir>, finish: &mut dyn FnMut(Intended, Duration) -> bool) {
    for name in dir.names().unwrap_or_default() {
        let is_intention = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        if !is_intention {
            continue;
        }
        let place = Place { dir: dir.clone(), name };
        let Some((file, intended)) = taken(&place) else { continue };
        let changed = file.metadata().and_then(|it| it.modified());
        let age = changed.map_or(Duration::ZERO, |at| at.elapsed().unwrap_or_default());
        if intended.is_none_or(|intended| finish(intended, age)) && fault::point().is_ok() {
            let _ = dir.remove(&place.name);
        }
        // It is the lock, held until here.
        drop(file);
    }
}

/// Locks an intention whose writer is gone, and reads it; the inner `None` is one that was never whole.
fn taken(place: &Place) -> Option<(File, Option<Intended>)> {
    let file = place.open(Access::Lines).ok()?;
    match file.try_lock() {
        Ok(()) => {}
        // Where files cannot be locked, nobody can know that its writer is gone: it is finished when it is old.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
            let age = file.metadata().ok()?.modified().ok()?.elapsed().ok()?;
            if age < super::sweep::ABANDONED {
                return None;
            }
        }
        Err(_) => return None,
    }
    if is_removed(&file.metadata().ok()?) {
        return None;
    }
    let mut bytes = Vec::new();
    // Bytes of an intention that are read at most.
    (&file).take(1 << 20).read_to_end(&mut bytes).ok()?;
    let intended = String::from_utf8(bytes).ok().and_then(|text| Intended::parse(&text));
    Some((file, intended))
}

fn digests(old: Option<Digest>, new: Option<Digest>) -> String {
    let digest = |digest: Option<Digest>| digest.map_or_else(|| "-".to_owned(), |it| hex(&it));
    format!("old {}\nnew {}\n", digest(old), digest(new))
}

fn hex(digest: &Digest) -> String {
    blake3::Hash::from_bytes(*digest).to_hex().to_string()
}

/// The outer `None` where it is no digest.
#[expect(clippy::option_option, reason = "`-` is a digest that is not known")]
fn digest_of(text: &str) -> Option<Option<Digest>> {
    if text == "-" { Some(None) } else { blake3::Hash::from_hex(text).ok().map(|hash| Some(*hash.as_bytes())) }
}

/// Bytes of a path in one line, `%` before two hexadecimal digits for all that is not plain.
fn encoded(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii_graphic() && byte != b'%' {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02x}");
        }
    }
    text
}

fn decoded(text: &str) -> Option<OsString> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            bytes.push(digit(rest.next())? * 16 + digit(rest.next())?);
        } else {
            bytes.push(byte);
        }
    }
    #[cfg(unix)]
    return Some(std::os::unix::ffi::OsStringExt::from_vec(bytes));
    #[cfg(not(unix))]
    String::from_utf8(bytes).ok().map(OsString::from)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text_of(intended: &Intended) -> String {
        let mut text = intended.begin_text();
        for (word, places) in [("keep", &intended.keep.old), ("keep-new", &intended.keep.new)] {
            for place in places {
                let _ = writeln!(text, "{word} {}", encoded(place.as_os_str().as_encoded_bytes()));
            }
        }
        if intended.is_ready {
            let _ = writeln!(text, "{READY}");
        }
        text
    }

    proptest! {
        /// What was noted is read, and a part of it never says more than the whole.
        #[cfg(unix)]
        #[test]
        fn there_and_back(
            name in prop::collection::vec(1_u8.., 1..12),
            new in any::<[u8; 32]>(),
            is_ready in any::<bool>(),
            cut in any::<prop::sample::Index>(),
        ) {
            use std::os::unix::ffi::OsStringExt as _;
            let name: Vec<u8> = name.into_iter().filter(|byte| *byte != b'/').chain(*b"x").collect();
            let path = Path::new("/v").join(OsString::from_vec(name.clone()));
            let intended = Intended {
                target: path.clone(),
                temp: OsString::from_vec(name),
                old: None,
                new: Some(new),
                keep: Keep { old: vec![path.clone()], new: vec![path] },
                is_ready,
            };
            let text = text_of(&intended);
            prop_assert_eq!(Intended::parse(&text), Some(intended));
            let part = Intended::parse(&text[..cut.index(text.len())]);
            prop_assert!(part.is_none_or(|part| !part.is_ready));
        }
    }

    #[test]
    fn an_intention_stays_as_long_as_its_temporary_file() {
        let dir = tempfile::tempdir().unwrap();
        let target = Place::of(&dir.path().join("note.md")).unwrap();
        let path = dir.path().canonicalize().unwrap().join("note.md");
        let seen = || {
            let mut seen = Vec::new();
            abandoned(&target.dir, &mut |intended, _| {
                seen.push(intended.target);
                false
            });
            seen
        };
        let held = Intention::begin(&target, None, None).unwrap();
        assert_eq!(seen(), [] as [PathBuf; 0], "its writer lives");
        let temp = dir.path().join(held.temp());
        File::create_new(&temp).unwrap();
        drop(held);
        assert_eq!(seen(), [path]);
        abandoned(&target.dir, &mut |_, _| true);
        assert_eq!(seen(), [] as [PathBuf; 0]);
        crate::files::remove(&temp).unwrap();
        drop(Intention::begin(&target, None, None).unwrap());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
