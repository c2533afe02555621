//! Replacing a file that still holds what was read.
//!
//! The new file is exchanged with the old one in one step, and what was displaced is looked at afterwards: an editor
//! that saved in between has its text put back. Where the system has no exchange, the file is compared and renamed
//! over, which leaves a moment in which a save can be lost.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::create::{create, create_dir, filled, parent, sync_dir};
use super::fault;
use super::read::Fingerprint;
use crate::{Error, Result};

/// How often a save that came between is put back before the text is set aside instead.
const ROUNDS: usize = 16;

/// Replaces a file that still holds `old`; refuses with [`Error::Changed`] when it does not, or is gone. Equal bytes
/// write nothing. A link is followed: the file behind it is replaced. Permissions stay, and on Unix, where allowed,
/// the owner; a file that may not be written is not replaced either.
pub fn replace(path: &Path, old: &[u8], new: &[u8]) -> Result<()> {
    if old == new {
        return Ok(());
    }
    Prepared::new(path, new, None)?.replace(old, new, None)
}

/// A new text that lies, durable, beside the file it is to replace. Dropping it takes it away.
#[derive(Debug)]
pub struct Prepared {
    temp: NamedTempFile,
    path: PathBuf,
    target: PathBuf,
}

impl Prepared {
    /// Puts `new` beside `path`, under `name` (one that nobody else can have) or a name of chance.
    pub fn new(path: &Path, new: &[u8], name: Option<&str>) -> Result<Self> {
        let target = resolve(path)?;
        let failed = |source| Error::io("write", path, source);
        let metadata = fs::metadata(&target).map_err(failed)?;
        if metadata.permissions().readonly() || !metadata.is_file() {
            return Err(failed(io::ErrorKind::PermissionDenied.into()));
        }
        let temp = filled(parent(&target), new, private_mode(&metadata), false, name).map_err(failed)?;
        keep_owner(&temp, &metadata);
        fault::point().and_then(|()| fs::set_permissions(temp.path(), metadata.permissions())).map_err(failed)?;
        fault::point().and_then(|()| temp.as_file().sync_all()).map_err(failed)?;
        Ok(Self { temp, path: path.to_owned(), target })
    }

    /// Puts it in the place of the file if that still holds `old`; [`Error::Changed`] if not. `new` is what it was made
    /// of. Where somebody else writes without end, the last text that was displaced is kept in the folder `aside`.
    pub fn replace(self, old: &[u8], new: &[u8], aside: Option<&Path>) -> Result<()> {
        self.replace_keeping(old, new, aside, &|_| Vec::new())
    }

    /// [`Prepared::replace`]; the file that was displaced is moved to the first path of `keep` that it can be moved to,
    /// and keeps its identity: a program that still has it open goes on writing into it. No path: it is removed.
    pub fn replace_keeping(
        self,
        old: &[u8],
        new: &[u8],
        aside: Option<&Path>,
        keep: &dyn Fn(Displaced) -> Vec<PathBuf>,
    ) -> Result<()> {
        let Self { temp, path, target } = self;
        let failed = |source| Error::io("write", &path, source);
        let changed = || Error::Changed { path: path.clone() };
        let _folder = lock_folder(parent(&target));
        match fault::point().and_then(|()| fs::read(&target)) {
            Ok(bytes) if bytes == old => {}
            Ok(_) => return Err(changed()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(changed()),
            Err(error) => return Err(failed(error)),
        }
        let replaced = exchange(temp, &target, &Texts { old, new, aside, keep }).map_err(failed)?;
        sync_dir(parent(&target));
        if replaced { Ok(()) } else { Err(changed()) }
    }
}

/// What takes part in an exchange.
struct Texts<'a> {
    old: &'a [u8],
    new: &'a [u8],
    aside: Option<&'a Path>,
    keep: &'a dyn Fn(Displaced) -> Vec<PathBuf>,
}

/// A file that an exchange took from its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Displaced {
    /// Its modification time before its text was compared, in nanoseconds since 1970.
    pub mtime: i64,
    /// Whether it holds the new text, which was in the place for a moment only; else the text that was replaced.
    pub is_new: bool,
}

/// Moves a file to the first of `places` that it can be moved to, on the same file system; whether one was. Folders
/// above are made.
pub fn put_away(path: &Path, places: &[PathBuf]) -> bool {
    places.iter().any(|place| create_dir(parent(place)).is_ok() && rename(path, place).is_ok())
}

/// Gives a file of our own another name.
#[expect(clippy::disallowed_methods, reason = "files are moved in this folder alone")]
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    fault::point().and_then(|()| fs::rename(from, to)).map_err(|source| Error::io("write", to, source))
}

/// [`replace`], only for a file that lies in the folder `root` when all links are followed.
pub fn replace_within(root: &Path, path: &Path, old: &[u8], new: &[u8]) -> Result<()> {
    replace(&within(root, path)?, old, new)
}

/// The place of `path`, all links followed, if it lies in the folder `root`. The file itself may be missing.
pub fn within(root: &Path, path: &Path) -> Result<PathBuf> {
    let root = resolve(root)?;
    let real = match fs::symlink_metadata(path) {
        Ok(_) => resolve(path)?,
        Err(_) => match path.file_name() {
            Some(name) => resolve(parent(path))?.join(name),
            None => return Err(outside(path)),
        },
    };
    if real.starts_with(&root) { Ok(real) } else { Err(outside(path)) }
}

fn outside(path: &Path) -> Error {
    Error::usage(format!("{} leads out of the vault", path.display()))
        .with_hint("move the file into the vault, or open the folder it lies in as a vault of its own")
}

fn resolve(path: &Path) -> Result<PathBuf> {
    fs::canonicalize(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Error::Changed { path: path.to_owned() },
        _ => Error::io("read", path, source),
    })
}

/// Keeps other writers of ours out of the folder while texts are exchanged: they must not take for settled what may
/// still be put back. Where a folder cannot be locked (some network mounts), the caller's own locks must do.
fn lock_folder(dir: &Path) -> Option<fs::File> {
    let handle = fs::File::open(dir).ok()?;
    handle.lock().ok()?;
    Some(handle)
}

/// Puts the temporary file in the place of `target`; `false` when somebody else was faster, whose text then stays.
fn exchange(temp: NamedTempFile, target: &Path, texts: &Texts<'_>) -> io::Result<bool> {
    fault::point()?;
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::io::Errno;
        match swap(temp.path(), target) {
            Ok(()) => return settle(temp, target, texts),
            // The person removed or renamed the note: that stays so.
            Err(Errno::NOENT) => return Ok(false),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // A second name keeps the file that is renamed over.
    let mtime = fs::metadata(target).map_or(0, |metadata| Fingerprint::of(&metadata).mtime);
    let places = (texts.keep)(Displaced { mtime, is_new: false });
    let linked = places.iter().find(|place| {
        create_dir(parent(place)).is_ok() && fault::point().is_ok() && fs::hard_link(target, place).is_ok()
    });
    if let Err(error) = temp.persist(target) {
        linked.map(|place| super::remove(place));
        return Err(error.error);
    }
    Ok(true)
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn swap(one: &Path, other: &Path) -> rustix::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)
}

/// Looks at what an exchange displaced. If it is not what was expected, it is the newest text of somebody else: it
/// goes back, and what that displaces is looked at in turn. The file keeps its identity on the way, so an editor that
/// is still writing into it writes to the right place.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn settle(temp: NamedTempFile, target: &Path, texts: &Texts<'_>) -> io::Result<bool> {
    // Taken before the text is read: what is written after that is seen by a later look.
    let mtime = |temp: &NamedTempFile| fs::metadata(temp.path()).map_or(0, |it| Fingerprint::of(&it).mtime);
    let before = mtime(&temp);
    let mut displaced = match fault::point().and_then(|()| fs::read(temp.path())) {
        Ok(displaced) => displaced,
        Err(error) => return Err(set_aside(temp, texts, error)),
    };
    if displaced == texts.old {
        // Ours is in its place; a file that cannot be moved or taken away is only in the way.
        if fault::point().is_ok() {
            release(temp, &(texts.keep)(Displaced { mtime: before, is_new: false }));
        }
        return Ok(true);
    }
    let mut ours = texts.new.to_vec();
    for round in 0..ROUNDS {
        if let Err(error) = swap(temp.path(), target) {
            return Err(set_aside(temp, texts, error.into()));
        }
        let before = mtime(&temp);
        let found = fs::read(temp.path())?;
        if found == ours {
            if round == 0 {
                // Ours stood there for a moment, in which somebody may have opened it.
                release(temp, &(texts.keep)(Displaced { mtime: before, is_new: true }));
            }
            return Ok(false);
        }
        ours = std::mem::replace(&mut displaced, found);
    }
    Err(set_aside(temp, texts, io::Error::other("somebody else writes it all the time")))
}

/// Moves a displaced file to where it is kept, or removes it.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn release(temp: NamedTempFile, places: &[PathBuf]) {
    // Whether it was moved or not: there is nothing under its temporary name then.
    put_away(temp.path(), places);
    let _ = temp.close();
}

/// Keeps the displaced text, which is not ours: in the folder for it, else under its temporary name. Says where it is.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn set_aside(temp: NamedTempFile, texts: &Texts<'_>, cause: io::Error) -> io::Error {
    let name = temp.path().file_name().map(|name| name.to_string_lossy().trim_start_matches('.').to_owned());
    if let (Some(dir), Some(name), Ok(bytes)) = (texts.aside, name, fs::read(temp.path())) {
        let path = dir.join(format!("{name}.md"));
        if create(&path, &bytes).is_ok_and(|made| made) {
            return io::Error::new(cause.kind(), format!("{cause}; its last text is in {}", path.display()));
        }
    }
    match temp.keep() {
        Ok((_, path)) => io::Error::new(cause.kind(), format!("{cause}; its last text is in {}", path.display())),
        Err(_) => cause,
    }
}

#[cfg(unix)]
fn private_mode(metadata: &fs::Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    // Never readable by more people than the note is, not even for the moment before its permissions are set.
    metadata.permissions().mode() & 0o700 | 0o600
}

#[cfg(not(unix))]
fn private_mode(_: &fs::Metadata) -> u32 {
    0
}

#[cfg(unix)]
fn keep_owner(temp: &NamedTempFile, metadata: &fs::Metadata) {
    use std::os::unix::fs::MetadataExt as _;
    let own = temp.as_file().metadata().map(|it| (it.uid(), it.gid()));
    if own.is_ok_and(|own| own != (metadata.uid(), metadata.gid())) {
        // Only allowed to some; a note that changes its owner is still the right note.
        let _ = std::os::unix::fs::fchown(temp.as_file(), Some(metadata.uid()), Some(metadata.gid()));
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &NamedTempFile, _: &fs::Metadata) {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{create, fingerprint, read, remove};

    const NOWHERE: &dyn Fn(Displaced) -> Vec<PathBuf> = &|_| Vec::new();
    const TEXTS: Texts<'_> = Texts { old: b"old", new: b"ours", aside: None, keep: NOWHERE };

    fn note(dir: &Path, text: &str) -> PathBuf {
        let path = dir.join("note.md");
        create(&path, text.as_bytes()).unwrap();
        path
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(dir).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn replaces_what_was_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = note(dir.path(), "one");
        replace(&path, b"one", b"two").unwrap();
        assert_eq!(read(&path).unwrap(), b"two");
        assert!(matches!(replace(&path, b"one", b"three"), Err(Error::Changed { .. })));
        assert_eq!(read(&path).unwrap(), b"two");
        assert_eq!(names(dir.path()), ["note.md"]);
    }

    #[test]
    fn equal_bytes_write_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = note(dir.path(), "one");
        let before = fingerprint(&path).unwrap();
        replace(&path, b"one", b"one").unwrap();
        assert_eq!(fingerprint(&path).unwrap(), before);
    }

    #[test]
    fn a_note_that_is_gone_stays_gone() {
        let dir = tempfile::tempdir().unwrap();
        let path = note(dir.path(), "one");
        remove(&path).unwrap();
        assert!(matches!(replace(&path, b"one", b"two"), Err(Error::Changed { .. })));
        assert_eq!(names(dir.path()), [] as [&str; 0]);
    }

    #[cfg(any(target_os = "linux", target_os = "macos"))]
    #[test]
    fn a_faster_editor_gets_its_text_back() {
        let dir = tempfile::tempdir().unwrap();
        // The comparison went well, then the editor saved, then came the exchange.
        let path = note(dir.path(), "saved by the editor");
        let temp = filled(dir.path(), b"ours", 0o600, false, None).unwrap();
        assert!(!exchange(temp, &path, &TEXTS).unwrap());
        assert_eq!(read(&path).unwrap(), b"saved by the editor");
        assert_eq!(names(dir.path()), ["note.md"]);
        // And it was removed in that moment.
        let temp = filled(dir.path(), b"ours", 0o600, false, None).unwrap();
        remove(&path).unwrap();
        assert!(!exchange(temp, &path, &TEXTS).unwrap());
        assert_eq!(names(dir.path()), [] as [&str; 0]);
    }

    #[cfg(any(target_os = "linux", target_os = "macos"))]
    #[test]
    fn the_newest_of_two_saves_stays() {
        let dir = tempfile::tempdir().unwrap();
        // The exchange displaced a first save, and before it went back the editor saved again over our text.
        let path = note(dir.path(), "second save");
        let temp = filled(dir.path(), b"first save", 0o600, false, None).unwrap();
        assert!(!settle(temp, &path, &TEXTS).unwrap());
        assert_eq!(read(&path).unwrap(), b"second save");
        assert_eq!(names(dir.path()), ["note.md"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_was_displaced_keeps_its_writers() {
        use std::io::Write as _;
        let dir = tempfile::tempdir().unwrap();
        let path = note(dir.path(), "old");
        let mut held = fs::OpenOptions::new().append(true).open(&path).unwrap();
        let kept = dir.path().join("kept/one");
        let prepared = Prepared::new(&path, b"ours", None).unwrap();
        prepared.replace_keeping(b"old", b"ours", None, &|_| vec![kept.clone()]).unwrap();
        held.write_all(b" and more").unwrap();
        assert_eq!((read(&path).unwrap(), read(&kept).unwrap()), (b"ours".to_vec(), b"old and more".to_vec()));
        assert_eq!(names(dir.path()), ["kept", "note.md"]);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = note(dir.path(), "one");
        for mode in [0o600, 0o664, 0o755] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let text = read(&path).unwrap();
            replace(&path, &text, format!("{mode:o}").as_bytes()).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        assert!(matches!(replace(&path, b"755", b"x"), Err(Error::Io { .. })));
        assert_eq!(read(&path).unwrap(), b"755");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_but_not_out_of_the_vault() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let vault = dir.path().join("vault");
        create(&vault.join("real.md"), b"one").unwrap();
        create(&dir.path().join("secret"), b"one").unwrap();
        symlink("real.md", vault.join("link.md")).unwrap();
        symlink("../secret", vault.join("out.md")).unwrap();
        symlink("..", vault.join("up")).unwrap();
        replace_within(&vault, &vault.join("link.md"), b"one", b"two").unwrap();
        assert_eq!(read(&vault.join("real.md")).unwrap(), b"two");
        assert!(fs::symlink_metadata(vault.join("link.md")).unwrap().is_symlink());
        for path in ["out.md", "up/secret", "../secret"] {
            assert!(
                matches!(replace_within(&vault, &vault.join(path), b"one", b"two"), Err(Error::Usage { .. })),
                "{path}"
            );
        }
        assert_eq!(read(&dir.path().join("secret")).unwrap(), b"one");
        assert!(within(&vault, &vault.join("new.md")).is_ok());
        assert!(within(&vault, &vault.join("up/new.md")).is_err());
        assert!(within(&vault, &vault.join("..")).is_err());
    }

    #[test]
    fn no_update_of_three_writers_is_lost() {
        const EACH: usize = 40;
        let dir = tempfile::tempdir().unwrap();
        let path = note(dir.path(), "");
        std::thread::scope(|scope| {
            for name in ["a", "b", "c"] {
                let path = &path;
                scope.spawn(move || {
                    for number in 0..EACH {
                        loop {
                            let old = read(path).unwrap();
                            let new = [&*old, format!("{name}{number}\n").as_bytes()].concat();
                            match replace(path, &old, &new) {
                                Ok(()) => break,
                                Err(Error::Changed { .. }) => {}
                                Err(error) => panic!("{error}"),
                            }
                        }
                    }
                });
            }
        });
        let text = String::from_utf8(read(&path).unwrap()).unwrap();
        assert_eq!(text.lines().count(), 3 * EACH);
        for name in ["a", "b", "c"] {
            let own: Vec<_> = text.lines().filter(|line| line.starts_with(name)).collect();
            assert_eq!(own, (0..EACH).map(|number| format!("{name}{number}")).collect::<Vec<_>>());
        }
        assert_eq!(names(dir.path()), ["note.md"]);
    }
}
