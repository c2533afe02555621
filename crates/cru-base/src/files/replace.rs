//! Replacing a file that still holds what was read.
//!
//! The new file is exchanged with the old one in one step, and what was displaced is looked at afterwards: an editor
//! that saved in between has its text put back. Where the system has no exchange, the file is compared and renamed
//! over, which leaves a moment in which a save can be lost.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::create::create_private;
use super::dir::{Access, Dir};
use super::fault;
use super::mode;
use super::place::{self, Place, SHARED_DIR};
use super::read::Fingerprint;
use super::root::{absolute, confine, root_of};
use super::temp::Temp;
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
    temp: Temp,
    path: PathBuf,
    target: Place,
}

impl Prepared {
    /// Puts `new` beside `path`, under `name` (one that nobody else can have) or a name of chance.
    pub fn new(path: &Path, new: &[u8], name: Option<&str>) -> Result<Self> {
        let target = Place::followed(path)?;
        let failed = |source| Error::io("write", path, source);
        let metadata = match target.open(Access::Read).and_then(|file| file.metadata()) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::Changed { path: path.to_owned() });
            }
            Err(error) => return Err(failed(error)),
        };
        if metadata.permissions().readonly() {
            return Err(failed(io::ErrorKind::PermissionDenied.into()));
        }
        let temp = Temp::filled(&target.dir, new, mode::beside(&metadata), false, name).map_err(failed)?;
        fault::point().and_then(|()| mode::keep(temp.file(), &metadata)).map_err(failed)?;
        fault::point().and_then(|()| temp.file().sync_all()).map_err(failed)?;
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
        let _folder = lock_folder(&target.dir);
        match fault::point().and_then(|()| target.read()) {
            Ok(bytes) if bytes == old => {}
            Ok(_) => return Err(changed()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(changed()),
            Err(error) => return Err(failed(error)),
        }
        let replaced = exchange(temp, &target, &Texts { old, new, aside, keep }).map_err(failed)?;
        place::sync(&target.dir);
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
    places.iter().any(|place| Place::making(place, SHARED_DIR).is_ok() && rename(path, place).is_ok())
}

/// Gives a file of our own another name.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    let failed = |source| Error::io("write", to, source);
    let (from, to) = (Place::of(from)?, Place::of(to)?);
    fault::point().and_then(|()| from.dir.rename(&from.name, &to.dir, &to.name)).map_err(failed)
}

/// [`replace`], only for a file that lies in the folder `root` when all links are followed.
pub fn replace_within(root: &Path, path: &Path, old: &[u8], new: &[u8]) -> Result<()> {
    replace(&within(root, path)?, old, new)
}

/// The place of `path`, all links followed, if it lies in the folder `root` or behind a link in it that is trusted. The
/// file itself may be missing.
pub fn within(root: &Path, path: &Path) -> Result<PathBuf> {
    let (root, path) = (absolute(root), absolute(path));
    let is_below = |root: &Path| path.starts_with(root) && path != root;
    if !is_below(&root) && !root.canonicalize().is_ok_and(|root| is_below(&root)) {
        return Err(outside(&path));
    }
    if root_of(&path).is_none_or(|own| !own.named.starts_with(&root)) {
        confine(&root);
    }
    Ok(Place::followed(&path)?.path())
}

fn outside(path: &Path) -> Error {
    Error::usage(format!("{} leads out of the vault", path.display()))
        .with_hint("move the file into the vault, or open the folder it lies in as a vault of its own")
}

/// Keeps other writers of ours out of the folder while texts are exchanged: they must not take for settled what may
/// still be put back. Where a folder cannot be locked (some network mounts), the caller's own locks must do.
fn lock_folder(dir: &Dir) -> Option<File> {
    let handle = dir.to_file().ok()?;
    handle.lock().ok()?;
    Some(handle)
}

/// Puts the temporary file in the place of `target`; `false` when somebody else was faster, whose text then stays.
fn exchange(temp: Temp, target: &Place, texts: &Texts<'_>) -> io::Result<bool> {
    fault::point()?;
    match target.dir.exchange(temp.name(), &target.name) {
        Ok(()) => return settle(temp, target, texts),
        // The person removed or renamed the note: that stays so.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
        Err(error) => return Err(error),
    }
    // A second name keeps the file that is renamed over.
    let seen = target.open(Access::Read).and_then(|file| file.metadata());
    let mtime = seen.map_or(0, |metadata| Fingerprint::of(&metadata).mtime);
    let places = (texts.keep)(Displaced { mtime, is_new: false });
    let linked = places.iter().find(|place| {
        let link = |place: Place| fault::point().and_then(|()| target.dir.link(&target.name, &place.dir, &place.name));
        Place::making(place, SHARED_DIR).is_ok_and(|place| link(place).is_ok())
    });
    if let Err(error) = temp.persist(&target.name) {
        linked.map(|place| super::remove(place));
        return Err(error);
    }
    Ok(true)
}

/// Looks at what an exchange displaced. If it is not what was expected, it is the newest text of somebody else: it
/// goes back, and what that displaces is looked at in turn. The file keeps its identity on the way, so an editor that
/// is still writing into it writes to the right place.
fn settle(temp: Temp, target: &Place, texts: &Texts<'_>) -> io::Result<bool> {
    // Taken before the text is read: what is written after that is seen by a later look.
    let mtime = |temp: &Temp| temp.metadata().map_or(0, |it| Fingerprint::of(&it).mtime);
    let before = mtime(&temp);
    let mut displaced = match fault::point().and_then(|()| temp.read()) {
        Ok(displaced) => displaced,
        Err(error) => return Err(set_aside(temp, texts, &error)),
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
        if let Err(error) = target.dir.exchange(temp.name(), &target.name) {
            return Err(set_aside(temp, texts, &error));
        }
        let before = mtime(&temp);
        let found = match temp.read() {
            Ok(found) => found,
            Err(error) => return Err(set_aside(temp, texts, &error)),
        };
        if found == ours {
            if round == 0 {
                // Ours stood there for a moment, in which somebody may have opened it.
                release(temp, &(texts.keep)(Displaced { mtime: before, is_new: true }));
            }
            return Ok(false);
        }
        ours = std::mem::replace(&mut displaced, found);
    }
    Err(set_aside(temp, texts, &io::Error::other("somebody else writes it all the time")))
}

/// Moves a displaced file to where it is kept, or removes it.
fn release(mut temp: Temp, places: &[PathBuf]) {
    let mut put = |place: &PathBuf| {
        Place::making(place, SHARED_DIR).is_ok_and(|place| fault::point().is_ok() && temp.move_to(&place).is_ok())
    };
    // What was not moved goes with the temporary file.
    let _ = places.iter().any(&mut put);
}

/// Keeps the displaced text, which is not ours: in the folder for it, else under its temporary name. Says where it is.
fn set_aside(temp: Temp, texts: &Texts<'_>, cause: &io::Error) -> io::Error {
    let told = |path: &Path| io::Error::new(cause.kind(), format!("{cause}; its last text is in {}", path.display()));
    let name = temp.name().to_string_lossy().trim_start_matches('.').to_owned();
    if let (Some(dir), Ok(bytes)) = (texts.aside, temp.read()) {
        let path = dir.join(format!("{name}.md"));
        if create_private(&path, &bytes).is_ok_and(|made| made) {
            return told(&path);
        }
    }
    told(&temp.keep())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::files::{create, fingerprint, read, remove};

    const NOWHERE: &dyn Fn(Displaced) -> Vec<PathBuf> = &|_| Vec::new();
    const TEXTS: Texts<'_> = Texts { old: b"old", new: b"ours", aside: None, keep: NOWHERE };

    fn note(dir: &Path, text: &str) -> PathBuf {
        let path = dir.join("note.md");
        create(&path, text.as_bytes()).unwrap();
        path
    }

    fn beside(path: &Path, text: &[u8]) -> Temp {
        Temp::filled(&Place::of(path).unwrap().dir, text, 0o600, false, None).unwrap()
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
        let temp = beside(&path, b"ours");
        assert!(!exchange(temp, &Place::of(&path).unwrap(), &TEXTS).unwrap());
        assert_eq!(read(&path).unwrap(), b"saved by the editor");
        assert_eq!(names(dir.path()), ["note.md"]);
        // And it was removed in that moment.
        let temp = beside(&path, b"ours");
        remove(&path).unwrap();
        assert!(!exchange(temp, &Place::of(&path).unwrap(), &TEXTS).unwrap());
        assert_eq!(names(dir.path()), [] as [&str; 0]);
    }

    #[cfg(any(target_os = "linux", target_os = "macos"))]
    #[test]
    fn the_newest_of_two_saves_stays() {
        let dir = tempfile::tempdir().unwrap();
        // The exchange displaced a first save, and before it went back the editor saved again over our text.
        let path = note(dir.path(), "second save");
        let temp = beside(&path, b"first save");
        assert!(!settle(temp, &Place::of(&path).unwrap(), &TEXTS).unwrap());
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
