//! A place to write to: a name in a folder that is held open.
//!
//! The way from a confined folder down to it is gone name by name. A link on the way counts only where it leads to
//! another place of the same folder; what stands at the place itself is opened without following.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::access::Access;
use super::dir::Dir;
use super::fault;
use super::root::{Root, absolute, is_closed, leads_out, root_of};
use crate::{Error, Result};

/// Permissions of folders, as far as the umask leaves them.
pub(super) const SHARED_DIR: u32 = 0o777;
pub(super) const PRIVATE_DIR: u32 = 0o700;

/// A name in a folder that is held open.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The folder.
    pub(super) dir: Arc<Dir>,
    /// The name.
    pub(super) name: OsString,
}

impl Place {
    /// That of `path`, whose folder is there; what stands at its end is not followed.
    pub(super) fn of(path: &Path) -> Result<Self> {
        Self::find(path, None, false).map_err(|failure| failure.error("write", path))
    }

    /// The same; folders above are made with these permissions.
    pub(super) fn making(path: &Path, mode: u32) -> Result<Self> {
        Self::find(path, Some(mode), false).map_err(|failure| failure.error("create", path))
    }

    /// The same, of a file that may stand behind a link; [`Error::Changed`] where its folder is gone.
    pub(super) fn followed(path: &Path) -> Result<Self> {
        Self::find(path, None, true).map_err(|failure| match failure {
            Failure::Io(error) if error.kind() == io::ErrorKind::NotFound => Error::Changed { path: path.to_owned() },
            failure => failure.error("read", path),
        })
    }

    /// [`Place::of`] for who takes a folder that is not there for nothing.
    pub(super) fn existing(path: &Path) -> Result<Option<Self>> {
        match Self::find(path, None, false) {
            Ok(place) => Ok(Some(place)),
            Err(Failure::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(failure) => Err(failure.error("write", path)),
        }
    }

    fn find(path: &Path, make: Option<u32>, follow: bool) -> Result<Self, Failure> {
        let path = absolute(path);
        let Some(parent) = path.parent() else { return Err(io::Error::other("it names no file").into()) };
        let Some(root) = root_of(parent) else { return Self::anywhere(&path, make, follow) };
        let below = path.strip_prefix(&root.named).unwrap_or(&path);
        Way::new(root, below, make)?.into_place(follow)
    }

    /// That of a path that lies in no confined folder: links are followed.
    fn anywhere(path: &Path, make: Option<u32>, follow: bool) -> Result<Self, Failure> {
        let real = if follow { path.canonicalize().unwrap_or_else(|_| path.to_owned()) } else { path.to_owned() };
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(io::Error::other("it names no file").into());
        };
        Ok(Self { dir: Arc::new(open(parent, make)?), name: name.to_owned() })
    }

    /// Its path.
    pub(super) fn path(&self) -> PathBuf {
        self.dir.path.join(&self.name)
    }

    /// Whether a link stands there.
    pub(super) fn is_link(&self) -> bool {
        self.dir.link_target(&self.name).is_some()
    }

    /// Opens the regular file that stands there.
    pub(super) fn open(&self, access: Access) -> io::Result<File> {
        self.dir.file(&self.name, access)
    }

    /// The bytes of the regular file that stands there.
    pub(super) fn read(&self) -> io::Result<Vec<u8>> {
        use std::io::Read as _;
        let mut bytes = Vec::new();
        self.open(Access::Read)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// Makes what was made in a folder durable.
pub(super) fn sync(dir: &Dir) {
    // A folder that cannot be synchronised (some network mounts) does not make the write wrong.
    let _ = fault::point().and_then(|()| dir.sync());
}

/// Opens a folder with all that is above it; those below a confined folder without following a link out of it.
pub(super) fn folder(path: &Path, make: Option<u32>) -> Result<Arc<Dir>> {
    let path = absolute(path);
    let found = match root_of(&path) {
        Some(root) => {
            let below = path.strip_prefix(&root.named).unwrap_or(&path).to_owned();
            Way::new(root, &below, make).and_then(Way::into_folder)
        }
        None => open(&path, make).map(Arc::new).map_err(Failure::Io),
    };
    found.map_err(|failure| failure.error(if make.is_some() { "create" } else { "read" }, &path))
}

/// Opens a folder whose path is trusted.
fn open(path: &Path, make: Option<u32>) -> io::Result<Dir> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    match (Dir::open(path), make) {
        (Err(error), Some(mode)) if error.kind() == io::ErrorKind::NotFound => {
            let mut builder = std::fs::DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, mode);
            #[cfg(not(unix))]
            let _ = mode;
            builder.create(path)?;
            Dir::open(path)
        }
        (opened, _) => opened,
    }
}

/// Why a place cannot be opened.
enum Failure {
    Io(io::Error),
    LeadsOut { link: PathBuf, root: Root },
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Failure {
    fn error(self, action: &'static str, path: &Path) -> Error {
        match self {
            Self::Io(source) => Error::io(action, path, source),
            Self::LeadsOut { link, root } => leads_out(&link, &root),
        }
    }
}

/// The way down from a confined folder.
struct Way {
    root: Root,
    /// The folders that were entered, that of the root first.
    entered: Vec<Arc<Dir>>,
    /// What is to come.
    left: VecDeque<OsString>,
    /// Permissions of folders that are made.
    make: Option<u32>,
    links: usize,
}

impl Way {
    fn new(root: Root, below: &Path, make: Option<u32>) -> Result<Self, Failure> {
        let top = Arc::new(open(&root.folder, make)?);
        let mut way = Self { root, entered: vec![top], left: VecDeque::new(), make, links: 0 };
        way.put_before(below).map_err(|()| way.out(OsStr::new("")))?;
        Ok(way)
    }

    /// Puts the names of a relative path before what is to come.
    fn put_before(&mut self, path: &Path) -> Result<(), ()> {
        for component in path.components().rev() {
            match component {
                Component::Normal(name) => self.left.push_front(name.to_owned()),
                Component::ParentDir => self.left.push_front(OsString::from("..")),
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return Err(()),
            }
        }
        Ok(())
    }

    fn top(&self) -> Arc<Dir> {
        // The root is never left.
        self.entered[self.entered.len() - 1].clone()
    }

    fn out(&self, name: &OsStr) -> Failure {
        Failure::LeadsOut { link: self.top().path.join(name), root: self.root.clone() }
    }

    fn into_folder(mut self) -> Result<Arc<Dir>, Failure> {
        while let Some(name) = self.left.pop_front() {
            self.step(&name)?;
        }
        Ok(self.top())
    }

    fn into_place(mut self, follow: bool) -> Result<Place, Failure> {
        while let Some(name) = self.left.pop_front() {
            let is_last = self.left.is_empty() && name != "..";
            if !is_last {
                self.step(&name)?;
            } else if follow && self.top().link_target(&name).is_some() {
                self.follow(&name)?;
            } else if self.links > 0 && is_closed(&name) {
                return Err(self.out(&name));
            } else {
                return Ok(Place { dir: self.top(), name });
            }
        }
        Err(io::Error::other("it names no file").into())
    }

    /// Enters a folder, or the one above.
    fn step(&mut self, name: &OsStr) -> Result<(), Failure> {
        if name == ".." {
            if self.entered.len() == 1 {
                return Err(self.out(name));
            }
            self.entered.pop();
            return Ok(());
        }
        if self.links > 0 && is_closed(name) {
            return Err(self.out(name));
        }
        let top = self.top();
        let opened = match (top.inside(name), self.make) {
            (Err(error), Some(mode)) if error.kind() == io::ErrorKind::NotFound => match top.make_dir(name, mode) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
                _ => top.inside(name),
            },
            (opened, _) => opened,
        };
        match opened {
            Ok(dir) => {
                self.entered.push(Arc::new(dir));
                Ok(())
            }
            Err(error) if top.link_target(name).is_none() => Err(error.into()),
            Err(_) => self.follow(name),
        }
    }

    /// Goes where a link leads, unless that is out of the confined folder or past a closed one.
    fn follow(&mut self, name: &OsStr) -> Result<(), Failure> {
        self.links += 1;
        let top = self.top();
        let is_inside_closed = self.entered.iter().skip(1).any(|dir| dir.path.file_name().is_some_and(is_closed));
        let Some(target) = top.link_target(name) else { return Err(io::Error::from(io::ErrorKind::NotFound).into()) };
        // How many links one path may go through.
        if is_closed(name) || is_inside_closed || self.links > 40 {
            return Err(self.out(name));
        }
        let below = if target.is_absolute() {
            let real = self.root.folder.canonicalize().unwrap_or_else(|_| self.root.folder.clone());
            let below = target.strip_prefix(&self.root.named).or_else(|_| target.strip_prefix(real));
            let Ok(below) = below.map(Path::to_owned) else { return Err(self.out(name)) };
            self.entered.truncate(1);
            below
        } else {
            target
        };
        self.put_before(&below).map_err(|()| self.out(name))
    }
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, symlink};

    use crate::files::{self, confine, create, read, trust_link};
    use crate::{Error, Result};

    /// What is tried on a path.
    #[expect(clippy::type_complexity, reason = "a name and a function; named once")]
    const WRITERS: &[(&str, fn(&std::path::Path) -> Result<()>)] = &[
        ("create", |path| files::create(path, b"new").map(drop)),
        ("create_private", |path| files::create_private(path, b"new").map(drop)),
        ("put", |path| files::put(path, b"new")),
        ("put_private", |path| files::put_private(path, b"new")),
        ("append", |path| files::append(path, b"new")),
        ("append_private", |path| files::append_private(path, b"new")),
        ("append_line", |path| files::append_line(path, b"new", &String::new)),
        ("append_durable", |path| files::append_durable(path, b"new")),
        ("replace", |path| files::replace(path, b"old", b"new")),
        ("remove", |path| files::remove(path).map(drop)),
        ("remove_lines", |path| files::remove_lines(path, 9, &|_, _, _| true).map(drop)),
        ("remove_derived", files::remove_derived),
        ("create_dir", |path| files::create_dir(&path.join("new"))),
        ("rename", |path| files::rename(path, &path.with_file_name("other"))),
        ("rename to", |path| {
            let from = path.with_file_name("from");
            files::create(&from, b"from")?;
            files::rename(&from, path)
        }),
        ("lock", |path| files::lock(path).map(drop)),
        ("copy", |path| files::copy(std::path::Path::new("Cargo.toml"), path)),
        ("set_executable", |path| files::set_executable(path, true)),
        ("make_private", |path| {
            files::make_private(path);
            Ok(())
        }),
        ("bulk", |path| files::Bulk::new().create(path, b"new").map(drop)),
        ("long", |path| files::Long::new(path)?.settle(None)),
    ];

    struct World {
        dir: tempfile::TempDir,
    }

    impl World {
        /// A confined folder `vault`, and a person's own things outside of it.
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let path = |name: &str| dir.path().join(name);
            for name in ["vault/own/file", "outside/file", "outside/entries/file"] {
                create(&path(name), b"old").unwrap();
            }
            confine(&path("vault"));
            Self { dir }
        }

        fn path(&self, name: &str) -> std::path::PathBuf {
            self.dir.path().join(name)
        }

        fn link(&self, target: &str, name: &str) {
            let name = self.path(name);
            files::create_dir(name.parent().unwrap()).unwrap();
            symlink(target, name).unwrap();
        }

        /// All that is outside of the vault.
        fn outside(&self) -> Vec<String> {
            let mut found = Vec::new();
            for folder in ["outside", "outside/entries"] {
                for entry in fs::read_dir(self.path(folder)).unwrap() {
                    let path = entry.unwrap().path();
                    let text = fs::read_to_string(&path).unwrap_or_default();
                    found.push(format!("{} {:o} {text}", path.display(), path.metadata().unwrap().mode()));
                }
            }
            found.sort();
            found
        }
    }

    #[test]
    fn nothing_is_written_through_a_link_that_leads_out() {
        for (name, write) in WRITERS {
            for (link, target, path) in [
                ("vault/l", "../outside/file", "vault/l"),
                ("vault/l", "../outside", "vault/l/file"),
                ("vault/l", "../outside", "vault/l/entries/file"),
                ("vault/l", "../outside/entries", "vault/l"),
                ("vault/own/l", "../../outside/entries", "vault/own/l/file"),
                ("vault/l", "own/../../outside", "vault/l/new/deep"),
                ("vault/l", "..", "vault/l/outside/file"),
                ("vault/own/x/../l", "../../outside", "vault/own/l/file"),
            ] {
                let world = World::new();
                files::create_dir(&world.path("vault/own/x")).unwrap();
                let before = world.outside();
                world.link(target, link);
                let _ = write(&world.path(path));
                assert_eq!(world.outside(), before, "{name} {link} -> {target}: {path}");
            }
            let world = World::new();
            world.link(world.path("outside").to_str().unwrap(), "vault/l");
            let before = world.outside();
            let _ = write(&world.path("vault/l/file"));
            assert_eq!(world.outside(), before, "{name}: a link from the root on");
        }
    }

    #[test]
    fn a_file_with_another_name_is_not_written_in_place() {
        for (name, write) in WRITERS {
            let world = World::new();
            fs::hard_link(world.path("outside/file"), world.path("vault/f")).unwrap();
            let before = world.outside();
            let _ = write(&world.path("vault/f"));
            assert_eq!(world.outside(), before, "{name}");
        }
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        for (name, write) in WRITERS {
            let world = World::new();
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            #[cfg(target_os = "linux")]
            rustix::fs::mknodat(rustix::fs::CWD, world.path("vault/pipe"), rustix::fs::FileType::Fifo, mode, 0)
                .unwrap();
            let _ = mode;
            // That it comes back is what is tested.
            let _ = write(&world.path("vault/pipe"));
            assert!(world.path("vault").is_dir(), "{name}");
        }
    }

    #[test]
    fn links_that_stay_inside_are_followed_but_not_into_closed_folders() {
        let world = World::new();
        create(&world.path("vault/.git/config"), b"old").unwrap();
        create(&world.path("vault/.cru/config.toml"), b"old").unwrap();
        world.link("own", "vault/l");
        world.link("l", "vault/l2");
        files::replace(&world.path("vault/l2/file"), b"old", b"new").unwrap();
        assert_eq!(read(&world.path("vault/own/file")).unwrap(), b"new");
        create(&world.path("vault/l/deep/new"), b"new").unwrap();
        assert!(world.path("vault/own/deep/new").is_file());
        world.link("../.git/config", "vault/own/git");
        world.link(".git", "vault/g");
        world.link("../own", "vault/.cru/seals");
        for path in ["vault/own/git", "vault/g/config", "vault/.cru/seals/file"] {
            let error = files::replace(&world.path(path), b"old", b"new").unwrap_err();
            assert!(matches!(error, Error::Usage { .. }), "{path}: {error}");
        }
        assert_eq!(read(&world.path("vault/.git/config")).unwrap(), b"old");
    }

    #[test]
    fn a_vault_that_is_a_link_and_a_trusted_link_are_followed() {
        let world = World::new();
        world.link("vault", "named");
        confine(&world.path("named"));
        create(&world.path("named/deep/new"), b"new").unwrap();
        assert!(world.path("vault/deep/new").is_file());
        world.link("../outside", "vault/l");
        assert!(create(&world.path("vault/l/note"), b"new").is_err());
        trust_link(&world.path("vault/l"), &world.path("outside"));
        assert!(create(&world.path("vault/l/note"), b"new").unwrap());
        assert_eq!(read(&world.path("outside/note")).unwrap(), b"new");
        // What is trusted is the place, not whatever the link leads to by now.
        files::remove(&world.path("vault/l")).unwrap();
        create(&world.path("elsewhere/note"), b"old").unwrap();
        world.link("../elsewhere", "vault/l");
        files::put(&world.path("vault/l/note"), b"newer").unwrap();
        assert_eq!(read(&world.path("elsewhere/note")).unwrap(), b"old");
        assert_eq!(read(&world.path("outside/note")).unwrap(), b"newer");
    }

    #[test]
    fn permissions_are_never_wider() {
        use std::os::unix::fs::PermissionsExt as _;
        let world = World::new();
        let path = world.path("vault/own/file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let mode = || path.metadata().unwrap().mode() & 0o777;
        files::replace(&path, b"old", b"new").unwrap();
        assert_eq!(mode(), 0o600);
        files::put(&path, b"put").unwrap();
        assert_eq!(mode(), 0o600);
        let old = files::digest(&path).unwrap();
        files::Long::new(&path).unwrap().settle(old).unwrap();
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        files::put_private(&path, b"own").unwrap();
        assert_eq!(mode(), 0o600);
    }
}
