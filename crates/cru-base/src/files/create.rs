//! New files, appended lines, and files of our own that are simply put.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use tempfile::NamedTempFile;

use super::fault;
use crate::{Error, Result};

/// Makes a folder and those above it.
pub fn create_dir(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|source| Error::io("create", path, source))
}

/// Makes a folder and those above it for its owner alone; one that is there stays as it is.
pub fn create_private_dir(path: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|source| Error::io("create", path, source))
}

/// Takes a file or folder of our own from everybody but its owner, where an older version made it for all.
pub fn make_private(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        let is_open = |it: &fs::Metadata| !it.is_symlink() && it.mode() & 0o077 != 0;
        if let Ok(metadata) = fs::symlink_metadata(path).as_ref()
            && is_open(metadata)
        {
            // Somebody else's stays theirs; nothing depends on it.
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(metadata.mode() & 0o700));
        }
    }
    #[cfg(not(unix))]
    let _ = path;
}

/// Whether others than its owner may read a file or folder.
pub fn is_shared(path: &Path) -> bool {
    #[cfg(unix)]
    return fs::metadata(path).is_ok_and(|it| std::os::unix::fs::MetadataExt::mode(&it) & 0o077 != 0);
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Whether its owner may run a file.
pub fn is_executable(metadata: &fs::Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::mode(metadata) & 0o100 != 0;
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}

/// Lets those run a file who may read it, or nobody.
pub fn set_executable(path: &Path, executable: bool) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        let failed = |source| Error::io("write", path, source);
        let mode = fs::metadata(path).map_err(failed)?.mode() & 0o777;
        let run = (mode & 0o444) >> 2;
        let wanted = if executable { mode | run } else { mode & !0o111 };
        if wanted != mode {
            fs::set_permissions(path, fs::Permissions::from_mode(wanted)).map_err(failed)?;
        }
    }
    #[cfg(not(unix))]
    let _ = (path, executable);
    Ok(())
}

/// Whether files can be made in a folder, as far as its permissions and its file system say.
pub fn is_writable(dir: &Path) -> bool {
    #[cfg(unix)]
    return rustix::fs::access(dir, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_ok();
    #[cfg(not(unix))]
    fs::metadata(dir).is_ok_and(|metadata| !metadata.permissions().readonly())
}

/// Writes a new file whole and durable; `Ok(false)` when the name is taken. Folders above are made.
pub fn create(path: &Path, bytes: &[u8]) -> Result<bool> {
    let made = create_unsynced(path, bytes, true)?;
    if made {
        sync_dir(parent(path));
    }
    Ok(made)
}

/// Like [`create`], for its owner alone.
pub fn create_private(path: &Path, bytes: &[u8]) -> Result<bool> {
    create_private_dir(parent(path))?;
    let made = create_with(path, bytes, true, 0o600)?;
    if made {
        sync_dir(parent(path));
    }
    Ok(made)
}

/// Like [`create`]; with `sync` false the bytes may be lost with the machine's power.
pub(super) fn create_unsynced(path: &Path, bytes: &[u8], sync: bool) -> Result<bool> {
    create_dir(parent(path))?;
    create_with(path, bytes, sync, 0o666)
}

fn create_with(path: &Path, bytes: &[u8], sync: bool, mode: u32) -> Result<bool> {
    let failed = |source| Error::io("write", path, source);
    let temp = filled(parent(path), bytes, mode, sync, None).map_err(failed)?;
    fault::point().map_err(failed)?;
    match temp.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(error.error)),
    }
}

/// Writes a file of our own that no person edits (cache, state), whatever stood there. Folders above are made.
pub fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    create_dir(parent(path))?;
    put_with(path, bytes, 0o666)
}

/// Like [`put`], readable by its owner alone.
pub fn put_private(path: &Path, bytes: &[u8]) -> Result<()> {
    create_private_dir(parent(path))?;
    put_with(path, bytes, 0o600)
}

fn put_with(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let failed = |source| Error::io("write", path, source);
    let temp = filled(parent(path), bytes, mode, false, None).map_err(failed)?;
    fault::point().map_err(failed)?;
    temp.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Appends to a file with one write, so that lines of several processes do not mix. Folders above are made; the
/// bytes survive the end of the process, not that of the machine.
pub fn append(path: &Path, bytes: &[u8]) -> Result<()> {
    create_dir(parent(path))?;
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(bytes)).map_err(|source| Error::io("write", path, source))
}

/// Like [`append`], readable by its owner alone.
pub fn append_private(path: &Path, bytes: &[u8]) -> Result<()> {
    open_append_private(path)?.write_all(bytes).map_err(|source| Error::io("write", path, source))
}

/// A file that is only appended to, for another program to write its log to; readable by its owner alone. Folders above
/// are made.
pub fn open_append_private(path: &Path) -> Result<fs::File> {
    create_private_dir(parent(path))?;
    make_private(path);
    let file = private(OpenOptions::new().append(true).create(true)).open(path);
    file.map_err(|source| Error::io("write", path, source))
}

/// What these options make is readable by its owner alone.
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Copies a file with its permissions, and a link as a link; makes the folders above it. For copies of our own: they are
/// not made durable.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        create_dir(folder)?;
    }
    let copied = fs::symlink_metadata(from).and_then(|metadata| {
        #[cfg(unix)]
        if metadata.is_symlink() {
            return std::os::unix::fs::symlink(fs::read_link(from)?, to);
        }
        let _ = metadata;
        fs::copy(from, to).map(drop)
    });
    copied.map_err(|source| Error::io("copy", from, source))
}

/// Removes a file of our own; `Ok(false)` when there is none.
#[expect(clippy::disallowed_methods, reason = "the one place that removes files")]
pub fn remove(path: &Path) -> Result<bool> {
    match fault::point().and_then(|()| fs::remove_file(path)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(Error::io("remove", path, source)),
    }
}

/// Removes a folder of derived files with all that is in it; nothing where there is none.
pub fn remove_derived(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", dir, source)),
        _ => Ok(()),
    }
}

/// Makes what was created in `dir` durable.
pub fn sync_dir(dir: &Path) {
    // A folder that cannot be opened for sync (some network mounts) does not make the write wrong.
    if let Ok(handle) = fault::point().and_then(|()| fs::File::open(dir)) {
        let _ = handle.sync_all();
    }
}

/// Beginning and end of the names of temporary files that are given by chance.
const PREFIX: &str = ".cru-";
const SUFFIX: &str = ".tmp";

/// How old a temporary file of a creation must be to be nobody's any more.
const ABANDONED: std::time::Duration = std::time::Duration::from_hours(1);

/// Takes temporary files of creations away that killed processes left in `dir`: those with a name of chance, an hour old
/// and more at `now` (nanoseconds since 1970). `may_go` is given the bytes of each.
pub fn sweep_created(dir: &Path, now: i128, may_go: &dyn Fn(&[u8]) -> bool) {
    let names = fs::read_dir(dir).into_iter().flatten().flatten();
    for path in names.filter(|entry| is_created(&entry.file_name())).map(|entry| entry.path()) {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        let age = now - i128::from(super::Fingerprint::of(&metadata).mtime);
        let is_old = age >= i128::try_from(ABANDONED.as_nanos()).unwrap_or(i128::MAX);
        if metadata.is_file() && is_old && fs::read(&path).is_ok_and(|bytes| may_go(&bytes)) {
            // One that cannot be removed is only in the way.
            let _ = remove(&path);
        }
    }
}

/// Whether a file has a name that [`filled`] gives by chance.
fn is_created(name: &std::ffi::OsStr) -> bool {
    let middle = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
    middle.is_some_and(|middle| middle.len() == 6 && middle.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// A temporary file in `dir` with these bytes and, as far as the umask leaves them, these permissions; with a name of
/// chance unless it is given.
pub(super) fn filled(dir: &Path, bytes: &[u8], mode: u32, sync: bool, name: Option<&str>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    match name {
        Some(name) => builder.prefix(name).rand_bytes(0),
        None => builder.prefix(PREFIX).suffix(SUFFIX),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = mode;
    fault::point()?;
    let mut temp = builder.tempfile_in(dir)?;
    fault::write_point(temp.as_file_mut(), bytes)?;
    temp.write_all(bytes)?;
    if sync {
        fault::point()?;
        temp.as_file().sync_all()?;
    }
    Ok(temp)
}

/// The folder a path stands in; `.` for a bare name.
pub(super) fn parent(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::read;

    #[test]
    fn a_name_is_taken_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.md");
        assert!(create(&path, b"one").unwrap());
        assert!(!create(&path, b"two").unwrap());
        assert_eq!(read(&path).unwrap(), b"one");
        assert_eq!(fs::read_dir(dir.path().join("a")).unwrap().count(), 1, "no temporary file is left");
    }

    #[cfg(unix)]
    #[test]
    fn a_dangling_link_takes_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.md");
        std::os::unix::fs::symlink("/nowhere/x", &path).unwrap();
        assert!(!create(&path, b"one").unwrap());
    }

    #[test]
    fn what_a_killed_creation_left_is_swept_when_it_is_old() {
        const HOUR: i128 = 3_600_000_000_000;
        let dir = tempfile::tempdir().unwrap();
        let left = filled(dir.path(), b"half", 0o600, false, None).unwrap().keep().unwrap().1;
        create(&dir.path().join(".cru-mine.tmp"), b"a person's").unwrap();
        let made = i128::from(crate::files::fingerprint(&left).unwrap().mtime);
        let sweep = |now, may_go| sweep_created(dir.path(), now, &move |bytes| may_go && bytes == b"half");
        sweep(made + HOUR - 1, true);
        sweep(made + HOUR, false);
        assert!(left.exists());
        sweep(made + HOUR, true);
        assert_eq!((left.exists(), fs::read_dir(dir.path()).unwrap().count()), (false, 1));
    }

    #[test]
    fn puts_appends_removes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/x");
        append(&path, b"a\n").unwrap();
        append(&path, b"b\n").unwrap();
        assert_eq!(read(&path).unwrap(), b"a\nb\n");
        put(&path, b"c").unwrap();
        assert_eq!(read(&path).unwrap(), b"c");
        assert!(remove(&path).unwrap());
        assert!(!remove(&path).unwrap());
    }
}
