//! Replacing a file that still holds what was read, and removing one.

use std::io;
use std::path::{Path, PathBuf};

use super::access::Access;
use super::exchange::{Pair, lock_folder};
use super::fault;
use super::intention::{Intention, Keep};
use super::long::{Digest, digest_of};
use super::mode;
use super::place::{self, Place};
use super::root::{absolute, confine, root_of};
use super::staged::Staged;
use super::sweep;
use crate::{Error, Result};

/// Replaces a file that still holds `old`; refuses with [`Error::Changed`] when it does not, or is gone. Equal bytes
/// write nothing. A link is followed: the file behind it is replaced. Permissions stay, and on Unix, where allowed,
/// the owner; a file that may not be written is not replaced either.
pub fn replace(path: &Path, old: &[u8], new: &[u8]) -> Result<()> {
    if old == new {
        return Ok(());
    }
    Prepared::new(path, old, new)?.replace(&Keep::default())
}

/// A new text that lies, durable, beside the file it is to replace. Dropping it takes it away.
#[derive(Debug)]
pub struct Prepared {
    staged: Staged,
    path: PathBuf,
    old: blake3::Hash,
    new: blake3::Hash,
}

impl Prepared {
    /// Puts `new`, made of `old`, beside `path`.
    pub fn new(path: &Path, old: &[u8], new: &[u8]) -> Result<Self> {
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
        let (old, made) = (blake3::hash(old), blake3::hash(new));
        let digests = (Some(*old.as_bytes()), Some(*made.as_bytes()));
        let mut staged = Staged::new(&target, digests, new, mode::beside(&metadata), false).map_err(failed)?;
        fault::point().and_then(|()| mode::keep(staged.file(), &metadata)).map_err(failed)?;
        staged.sync().map_err(failed)?;
        Ok(Self { staged, path: path.to_owned(), old, new: made })
    }

    /// Puts it in the place of the file if that still holds what it was made of; [`Error::Changed`] if not. The file that
    /// was displaced goes where `keep` says and keeps its identity: a program that still has it open goes on writing
    /// into it.
    pub fn replace(self, keep: &Keep) -> Result<()> {
        let Self { staged, path, old, new } = self;
        match staged.replace(*old.as_bytes(), *new.as_bytes(), keep) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::Changed { path }),
            Err(source) => Err(Error::io("write", &path, source)),
        }
    }
}

/// Removes a file that still holds `old`; refuses with [`Error::Changed`] when it does not, or is gone. A link is
/// followed.
pub fn remove_unchanged(path: &Path, old: &[u8]) -> Result<()> {
    remove_of(path, *blake3::hash(old).as_bytes())
}

/// [`remove_unchanged`], for a file of that digest.
pub fn remove_of(path: &Path, old: Digest) -> Result<()> {
    let target = Place::followed(path)?;
    let failed = |source| Error::io("remove", path, source);
    let changed = || Error::Changed { path: path.to_owned() };
    sweep::tidy(&target.dir);
    let mut intention = Intention::begin(&target, Some(old), None).map_err(failed)?;
    intention.ready(Some(old), None, &Keep::default()).map_err(failed)?;
    let _folder = lock_folder(&target.dir);
    if fault::point().and_then(|()| digest_of(target.open(Access::Read))).map_err(failed)? != Some(old) {
        return Err(changed());
    }
    let pair = Pair { dir: &target.dir, temp: intention.temp(), target: &target.name };
    let removed = pair.take_away(old).map_err(failed)?;
    place::sync(&target.dir);
    if removed { Ok(()) } else { Err(changed()) }
}

/// Gives a file of our own another name.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    let failed = |source| Error::io("write", to, source);
    let (from, to) = (Place::of(from)?, Place::of(to)?);
    fault::point().and_then(|()| from.dir.rename(&from.name, &to.dir, &to.name)).map_err(failed)
}

/// Gives a file of a person another name, which nothing in its folder has, read or not: case does not tell two names
/// apart. `false`: something has it, and nothing was done.
pub fn rename_new(from: &Path, to: &Path) -> Result<bool> {
    let failed = |source| Error::io("write", to, source);
    let (path, target) = (from, to);
    let (from, to) = (Place::of(from)?, Place::of(to)?);
    let lower = |name: &std::ffi::OsStr| name.to_string_lossy().to_lowercase();
    let is_here = path.parent() == target.parent();
    let others = to.dir.names().map_err(failed)?;
    if others.iter().any(|name| lower(name) == lower(&to.name) && !(is_here && *name == from.name)) {
        return Ok(false);
    }
    match fault::point().and_then(|()| from.dir.rename_new(&from.name, &to.dir, &to.name)) {
        Ok(()) => {}
        // The same file where case does not count: nothing else has the name.
        Err(error)
            if error.kind() == io::ErrorKind::AlreadyExists && is_here && lower(&from.name) == lower(&to.name) =>
        {
            from.dir.rename(&from.name, &to.dir, &to.name).map_err(failed)?;
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(failed(error)),
    }
    let _ = to.dir.sync();
    Ok(true)
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::files::{create, fingerprint, read, remove};

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
    fn only_what_was_read_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = note(dir.path(), "one");
        assert!(matches!(remove_unchanged(&path, b"two"), Err(Error::Changed { .. })));
        assert_eq!(names(dir.path()), ["note.md"]);
        remove_unchanged(&path, b"one").unwrap();
        assert_eq!(names(dir.path()), [] as [&str; 0]);
        assert!(matches!(remove_unchanged(&path, b"one"), Err(Error::Changed { .. })));
    }

    #[test]
    fn a_note_that_is_gone_stays_gone() {
        let dir = tempfile::tempdir().unwrap();
        let path = note(dir.path(), "one");
        remove(&path).unwrap();
        assert!(matches!(replace(&path, b"one", b"two"), Err(Error::Changed { .. })));
        assert_eq!(names(dir.path()), [] as [&str; 0]);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_was_displaced_keeps_its_writers() {
        use std::io::Write as _;
        let dir = tempfile::tempdir().unwrap();
        let path = note(dir.path(), "old");
        let mut held = fs::OpenOptions::new().append(true).open(&path).unwrap();
        let kept = dir.path().join("kept/one");
        let keep = Keep { old: vec![kept.clone()], new: Vec::new() };
        Prepared::new(&path, b"old", b"ours").unwrap().replace(&keep).unwrap();
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
