//! Machine state of a vault: what belongs to this machine and cannot be made again from the notes.
//!
//! It lies outside the vault, in `$XDG_STATE_HOME/cru/<vault id>-<hash of the vault's path>/`, so that no sync service
//! moves it and no clean of the folder destroys it. Nobody but its owner can read it. Where that cannot be written:
//! `.cru/local/<machine>/`.

use std::path::{Path, PathBuf};

use super::adopt::NO_ID;
use super::journal::chance;
use super::{Vault, adopt};
use cru_base::{Env, Result, files};

/// Its folder of locks.
const LOCKS: &str = "locks";

/// Its file with the name of its revisions, and how long that is.
const WRITER: &str = "writer";
const SHOWN: usize = 8;

/// The folder of machine state of one vault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    dir: PathBuf,
}

impl State {
    /// That of `vault`; made where it is missing. What waits in the state of the time before a move, or of another id, is
    /// brought over.
    pub fn of(vault: &Vault, env: &Env) -> Result<Self> {
        let [dir, fallback] = Self::places(vault, env);
        let dir = dir.map(|dir| match vault.is_broken() {
            // Its id cannot be read: the state that its path had is meant.
            true if !dir.is_dir() => adopt::of_path(&dir).unwrap_or(dir),
            true => dir,
            false => {
                adopt::adopt(vault, &dir);
                dir
            }
        });
        if let Some(dir) = dir.filter(|dir| is_made(dir) && files::is_writable(dir)) {
            files::make_private(&dir);
            adopt::note_place(vault, &dir);
            return Ok(Self { dir });
        }
        let dir = fallback.unwrap_or_else(|| vault.root().join(".cru/local"));
        files::create_private_dir(&dir.join(LOCKS))?;
        files::make_private(&dir);
        Ok(Self { dir })
    }

    /// That of `vault` where there is one, for who only looks: makes nothing.
    pub fn existing(vault: &Vault, env: &Env) -> Option<Self> {
        let dir = Self::places(vault, env).into_iter().flatten().find(|dir| dir.is_dir())?;
        Some(Self { dir })
    }

    /// Other states of `vault`, of the time before it was moved or had another id: what waits in them is brought over by
    /// [`State::of`]. For who only looks.
    pub fn others(vault: &Vault, env: &Env) -> Vec<Self> {
        let [dir, _] = Self::places(vault, env);
        let others = dir.map(|dir| adopt::others(vault, &dir)).unwrap_or_default();
        others.into_iter().map(|dir| Self { dir }).collect()
    }

    /// That of `vault`, or where it would be: for who only looks. Makes nothing.
    pub fn there_or_not(vault: &Vault, env: &Env) -> Self {
        let [outside, inside] = Self::places(vault, env);
        let dir = || outside.or(inside).unwrap_or_else(|| vault.root().join(".cru/local"));
        Self::existing(vault, env).unwrap_or_else(|| Self { dir: dir() })
    }

    /// Where it may be: outside the vault, else inside.
    fn places(vault: &Vault, env: &Env) -> [Option<PathBuf>; 2] {
        let machine = env.var("HOSTNAME").map_or_else(|| "machine".to_owned(), file_name);
        let folder = env.state_dir();
        if let Some(folder) = &folder {
            files::confine(folder);
        }
        let outside = folder.map(|dir| dir.join(folder_name(vault)));
        [outside, Some(vault.root().join(".cru/local").join(machine))]
    }

    /// Takes away what killed processes left half made in it and in what the machine keeps beside it.
    pub fn tidy(&self, env: &Env) {
        // Mostly it lies below the folder of all states.
        if env.state_dir().is_none_or(|all| !self.dir.starts_with(all)) {
            files::sweep_own(&self.dir);
        }
        for dir in [env.state_dir(), env.cache_dir()].into_iter().flatten() {
            files::sweep_own(&dir);
        }
    }

    /// One for tests.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Its folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The journal of a session, by [`key`].
    pub fn journal(&self, key: &str) -> PathBuf {
        self.dir.join("journal").join(format!("{key}.jsonl"))
    }

    /// The lock of a session.
    pub fn lock(&self, key: &str) -> PathBuf {
        self.dir.join(LOCKS).join(format!("{key}.lock"))
    }

    /// The operation log of a session.
    pub fn operations(&self, key: &str) -> PathBuf {
        self.dir.join("operations").join(format!("{key}.jsonl"))
    }

    /// What `cru` last generated for a session from its transcript, as of a revision of its note.
    pub fn base(&self, key: &str, revision: u64) -> PathBuf {
        self.dir.join("base").join(format!("{key}.r{revision}.md"))
    }

    /// Recovery copies of a session's note.
    pub fn recovery(&self, key: &str) -> PathBuf {
        self.dir.join("recovery").join(key)
    }

    /// What its revisions are marked with in notes: another on each machine, for each user and in each container. Noted
    /// at the first call, since what it is made of may change.
    pub fn writer(&self) -> String {
        self.noted_writer().unwrap_or_else(|| {
            let name = self.writer_name(0);
            // Where it cannot be noted it is most likely the same the next time.
            let _ = files::put_private(&self.dir.join(WRITER), name.as_bytes());
            name
        })
    }

    /// [`Self::writer`] in the vault at `root`, where no other state has that name: two of one machine and user would have one.
    pub(crate) fn writer_in(&self, root: &Path) -> String {
        let claims = root.join(".cru/local/writers");
        let Some(own) = self.own_mark() else { return self.writer() };
        let is_own = |name: &str| {
            let claim = claims.join(name);
            let reads = || files::read_text(&claim);
            match reads() {
                Some(text) => text == own,
                // Where nothing can be claimed nobody else can claim it either.
                None => {
                    files::create(&claim, own.as_bytes()).unwrap_or(true) || reads().is_some_and(|text| text == own)
                }
            }
        };
        if let Some(noted) = self.noted_writer() {
            // A name that was in use before names were claimed stays: what was written is known by it.
            let _ = is_own(&noted);
            return noted;
        }
        match (0..1000).map(|number| self.writer_name(number)).find(|name| is_own(name)) {
            Some(name) => {
                let _ = files::put_private(&self.dir.join(WRITER), name.as_bytes());
                name
            }
            None => self.writer(),
        }
    }

    fn noted_writer(&self) -> Option<String> {
        let is_name = |text: &String| text.len() == SHOWN && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let noted = files::read_text(&self.dir.join(WRITER));
        noted.map(|text| text.trim().to_owned()).filter(is_name)
    }

    /// What tells this state from every other one: of chance, made once.
    fn own_mark(&self) -> Option<String> {
        let path = self.dir.join("mark");
        let read = || files::read_text(&path).filter(|text| !text.is_empty());
        read().or_else(|| {
            let mark = format!("{:08x}{:08x}", chance(), chance());
            let is_made = files::create_private(&path, mark.as_bytes()).ok()?;
            if is_made { Some(mark) } else { read() }
        })
    }

    /// The first name for its revisions, or a later one where those before are another's.
    fn writer_name(&self, number: u32) -> String {
        let mut hash = blake3::Hasher::new();
        hash.update(self.dir.file_name().unwrap_or_default().as_encoded_bytes());
        for place in ["/etc/machine-id", "/etc/hostname", "/proc/sys/kernel/hostname"] {
            hash.update(&std::fs::read(place).unwrap_or_default());
        }
        #[cfg(unix)]
        for place in [Path::new("/"), &self.dir] {
            use std::os::unix::fs::MetadataExt as _;
            // The root's number tells a container from its host; the user is who owns the state.
            let seen =
                std::fs::metadata(place).map(|it| if place == self.dir { u64::from(it.uid()) } else { it.ino() });
            hash.update(&seen.unwrap_or_default().to_le_bytes());
        }
        if number > 0 {
            hash.update(&number.to_le_bytes());
        }
        hash.finalize().to_hex()[..SHOWN].to_owned()
    }

    /// Where a session's note was made, as a path of the vault.
    pub fn known(&self, key: &str) -> PathBuf {
        self.dir.join("known").join(key)
    }

    /// Files that writes of a session's note took from its place.
    pub fn displaced(&self, key: &str) -> PathBuf {
        self.dir.join("displaced").join(key)
    }

    /// Where such files lie where the state is on another file system than the vault at `root`: a folder for each state,
    /// as two machines, or two users of one, may have one vault.
    pub(crate) fn displaced_inside(&self, root: &Path) -> PathBuf {
        let own = &blake3::hash(self.dir.as_os_str().as_encoded_bytes()).to_hex()[..8];
        root.join(".cru/local/displaced").join(own)
    }

    /// What hooks could not do.
    pub fn hook_log(&self) -> PathBuf {
        self.dir.join("hook.log")
    }
}

/// What the folders of a vault on this machine are called: by its id and its path.
pub(super) fn folder_name(vault: &Vault) -> String {
    let path = vault.root().canonicalize().unwrap_or_else(|_| vault.root().to_owned());
    let hash = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
    let id = vault.config().id.as_deref().map_or_else(|| NO_ID.to_owned(), file_name);
    format!("{id}-{}", &hash[..8])
}

/// Makes the folder and that of its locks, for its owner alone.
fn is_made(dir: &Path) -> bool {
    files::create_private_dir(&dir.join(LOCKS)).is_ok()
}

/// A name from outside as the name of a file: letters, digits, `-`, `_`, `.`; what was changed gets a hash, so that two
/// names never become one.
pub fn key(name: &str) -> String {
    file_name(name)
}

fn file_name(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let safe: String = name.chars().filter(|&c| plain(c)).take(120).collect();
    if safe == name && !safe.is_empty() && !safe.starts_with('.') {
        return safe;
    }
    format!("{}-{}", safe.trim_start_matches('.'), &blake3::hash(name.as_bytes()).to_hex()[..12])
}
