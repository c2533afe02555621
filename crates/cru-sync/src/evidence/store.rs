//! Copies of transcripts in the vault: `evidence/<session_id>/files.jsonl` names the files of a session, and
//! `evidence/parts/` holds what is in them, packed, each part called by the hash of what it holds.
//!
//! A transcript that grew adds a part with what is new; one that was rewritten gets parts of its own. Nothing is ever
//! deleted here. Copies are what the transcripts are, secrets included: a masked one would be another transcript.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::report::KeptCopies;
use cru_agents::pack::{pack, unpack};
use cru_base::files::{self, Fingerprint};
use cru_base::{Env, Error, Result};
use cru_session::source::Bundle;
use cru_vault::Vault;
use cru_vault::config::expand_home;
use cru_vault::state::key;

/// Bytes of one part, and of one file that is kept and taken out again.
const PART: u64 = 16 << 20;
const MOST: u64 = 1 << 30;
/// How a file begins that is a database: it changes in place, so each copy would be a whole one.
const DATABASE: &[u8] = b"SQLite format 3\0";

/// A file of a session, as it was at one time. The last line of a source counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KeptFile {
    host: String,
    host_session: String,
    /// Where it was, `~` for home.
    source: String,
    /// Its place among the files that are read together.
    order: usize,
    bytes: u64,
    /// Modification time, in nanoseconds since 1970.
    mtime: i64,
    /// BLAKE3 over all bytes, hex.
    hash: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Part {
    hash: String,
    bytes: u64,
}

/// Whose files they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'a> {
    /// `session_id` of the note.
    pub(crate) session: &'a str,
    pub(crate) host: &'a str,
    pub(crate) host_session: &'a str,
}

/// The copies of a vault.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    env: Env,
}

impl Store {
    /// The copies that are kept in `vault`. Paths are named as on the machine of `env`.
    pub fn of(vault: &Vault, env: &Env) -> Self {
        Self { folder: vault.root().join("evidence"), env: env.clone() }
    }

    /// Keeps a file of a session, which is the `order`th of those that are read together.
    pub(crate) fn keep(&self, owner: Owner<'_>, order: usize, path: &Path, sum: &mut KeptCopies) -> Result<()> {
        let failed = |source| Error::io("read", path, source);
        let mut file = files::open_regular(path).map_err(failed)?;
        let now = Fingerprint::of(&file.metadata().map_err(failed)?);
        let source = self.env.at(path).folder();
        let known = self.list(owner.session).remove(&source);
        if known.as_ref().is_some_and(|known| known.bytes == now.size && known.mtime == now.mtime) {
            sum.files += 1;
            return Ok(());
        }
        let mut head = [0; DATABASE.len()];
        let database = file.read_exact(&mut head).is_ok() && head == DATABASE;
        if database || now.size > MOST {
            sum.not_kept += 1;
            return Ok(());
        }
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let mut hasher = blake3::Hasher::new();
        let mut parts = Vec::new();
        if let Some(known) = known.filter(|known| known.bytes <= now.size) {
            io::copy(&mut file.by_ref().take(known.bytes), &mut hasher).map_err(failed)?;
            if hasher.finalize().to_hex().as_str() == known.hash {
                parts = known.parts;
            } else {
                hasher.reset();
                file.seek(SeekFrom::Start(0)).map_err(failed)?;
            }
        }
        let mut bytes: u64 = parts.iter().map(|part| part.bytes).sum();
        // What is written meanwhile is kept the next time.
        while bytes < now.size {
            let mut part = Vec::new();
            file.by_ref().take(PART.min(now.size - bytes)).read_to_end(&mut part).map_err(failed)?;
            if part.is_empty() {
                break;
            }
            hasher.update(&part);
            bytes += part.len() as u64;
            sum.new_bytes += part.len() as u64;
            parts.push(self.put(&part, sum)?);
        }
        let kept = KeptFile {
            host: owner.host.to_owned(),
            host_session: owner.host_session.to_owned(),
            source,
            order,
            bytes,
            mtime: now.mtime,
            hash: hasher.finalize().to_hex().to_string(),
            parts,
        };
        let line = serde_json::to_string(&kept).map_err(|error| Error::internal("encode the list of copies", error))?;
        // A line that was torn by a crash must not take the next one with it.
        files::append(&self.list_path(owner.session), format!("\n{line}\n").as_bytes())?;
        sum.files += 1;
        Ok(())
    }

    fn put(&self, bytes: &[u8], sum: &mut KeptCopies) -> Result<Part> {
        let part = Part { hash: blake3::hash(bytes).to_hex().to_string(), bytes: bytes.len() as u64 };
        let path = self.part_path(&part.hash);
        if !path.exists() {
            let packed = pack(bytes).map_err(|source| Error::io("pack", &path, source))?;
            sum.packed_bytes += packed.len() as u64;
            files::put_private(&path, &packed)?;
        }
        Ok(part)
    }

    /// Whether there are copies of a session's files, as far as their list says.
    pub(crate) fn fingerprint(&self, session: &str) -> Option<Fingerprint> {
        let metadata = std::fs::metadata(self.list_path(session)).ok()?;
        metadata.is_file().then(|| Fingerprint::of(&metadata))
    }

    /// The files of a session, in the order they are read, and how many bytes they are.
    pub(crate) fn files(&self, session: &str) -> (Vec<PathBuf>, u64) {
        let mut kept: Vec<KeptFile> = self.list(session).into_values().collect();
        kept.sort_by(|a, b| (a.order, &a.source).cmp(&(b.order, &b.source)));
        let bytes = kept.iter().map(|kept| kept.bytes).sum();
        (kept.iter().filter_map(|kept| expand_home(&kept.source, &self.env)).collect(), bytes)
    }

    /// Takes the copies of a session's files out: as if they were where they were. A copy that is damaged is left out.
    pub(crate) fn bundle(&self, session: &str) -> Bundle {
        let mut bundle = Bundle::default();
        let mut kept: Vec<KeptFile> = self.list(session).into_values().collect();
        kept.sort_by(|a, b| (a.order, &a.source).cmp(&(b.order, &b.source)));
        for kept in kept {
            let Some((path, bytes)) = expand_home(&kept.source, &self.env).zip(self.bytes(&kept)) else { continue };
            bundle.files.push(path.clone());
            bundle.memory.insert(path, bytes);
        }
        bundle
    }

    fn bytes(&self, kept: &KeptFile) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for part in &kept.parts {
            let packed = files::read_regular(&self.part_path(&part.hash), PART * 2).ok().flatten()?;
            bytes.extend(unpack(&packed, part.bytes.min(PART)).ok()?);
            if bytes.len() as u64 > MOST {
                return None;
            }
        }
        (blake3::hash(&bytes).to_hex().as_str() == kept.hash).then_some(bytes)
    }

    /// Sessions of a host whose own files are all gone: those that are read together, by the host's session. `has` says
    /// of the host's id whether there is a note already.
    pub fn orphans(&self, host: &str, has: &dyn Fn(&str) -> bool) -> Vec<Bundle> {
        let folders = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut names: Vec<String> = folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        let mut sessions: BTreeMap<String, BTreeMap<(usize, PathBuf), KeptFile>> = BTreeMap::new();
        let mut missing: BTreeMap<String, bool> = BTreeMap::new();
        for kept in names.iter().flat_map(|name| self.list(name).into_values()).filter(|kept| kept.host == host) {
            let Some(path) = expand_home(&kept.source, &self.env) else { continue };
            let root = kept.host_session.split("/agent-").next().unwrap_or_default().to_owned();
            *missing.entry(root.clone()).or_default() |= !has(&kept.host_session);
            sessions.entry(root).or_default().insert((kept.order, path), kept);
        }
        sessions.retain(|root, files| missing.get(root) == Some(&true) && files.keys().all(|(_, path)| !path.exists()));
        let bundle = |files: BTreeMap<(usize, PathBuf), KeptFile>| {
            let mut bundle = Bundle::default();
            for ((_, path), kept) in files {
                let Some(bytes) = self.bytes(&kept) else { continue };
                bundle.files.push(path.clone());
                bundle.memory.insert(path, bytes);
            }
            bundle
        };
        sessions.into_values().map(bundle).filter(|bundle| !bundle.files.is_empty()).collect()
    }

    /// The last line of each source.
    fn list(&self, session: &str) -> BTreeMap<String, KeptFile> {
        // Longer lists of files are none.
        let bytes = files::read_regular(&self.list_path(session), 64 << 20).ok().flatten().unwrap_or_default();
        let lines = bytes.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice::<KeptFile>(line).ok());
        lines.map(|kept| (kept.source.clone(), kept)).collect()
    }

    fn list_path(&self, session: &str) -> PathBuf {
        self.folder.join(key(session)).join("files.jsonl")
    }

    /// The hash comes from a file that anybody may have written: it names a part and no path.
    fn part_path(&self, hash: &str) -> PathBuf {
        let plain: String = hash.chars().filter(char::is_ascii_alphanumeric).take(64).collect();
        self.folder.join("parts").join(format!("{plain}.zst"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_grow_with_their_transcript_and_outlive_it() {
        let temp = tempfile::tempdir().unwrap();
        files::put(&temp.path().join("vault/.cru/config.toml"), b"").unwrap();
        let vault = Vault::open(&temp.path().join("vault")).unwrap();
        let home = temp.path().to_str().unwrap();
        let env = Env::fixed("2026-11-20T12:00:00Z".parse().unwrap(), temp.path(), &[("HOME", home)]);
        let store = Store::of(&vault, &env);
        let path = temp.path().join("t.jsonl");
        let owner = Owner { session: "s", host: "h", host_session: "0f/agent-1" };
        let keep = |bytes: &[u8]| {
            files::put(&path, bytes).unwrap();
            let mut sum = KeptCopies::default();
            store.keep(owner, 0, &path, &mut sum).unwrap();
            assert_eq!(store.bundle("s").memory.get(&path).map(Vec::as_slice), Some(bytes));
            (sum.files, sum.new_bytes)
        };
        let parts = || std::fs::read_dir(temp.path().join("vault/evidence/parts")).unwrap().count();
        assert_eq!(keep(b"one\n"), (1, 4));
        assert_eq!((keep(b"one\ntwo\n"), parts()), ((1, 4), 2), "only what is new");
        assert_eq!((keep(b"another\n"), parts()), ((1, 8), 3), "rewritten");
        let mut again = KeptCopies::default();
        store.keep(owner, 0, &path, &mut again).unwrap();
        assert_eq!(again, KeptCopies { files: 1, ..KeptCopies::default() }, "nothing is new");

        assert!(store.orphans("h", &|_| false).is_empty(), "its file is there");
        files::remove(&path).unwrap();
        assert_eq!(store.orphans("h", &|_| false)[0].memory[&path], b"another\n");
        assert!(store.orphans("h", &|session| session == "0f/agent-1").is_empty());
        assert!(store.orphans("other", &|_| false).is_empty());
        let part = std::fs::read_dir(temp.path().join("vault/evidence/parts")).unwrap();
        part.for_each(|part| files::put(&part.unwrap().path(), b"damaged").unwrap());
        assert!(store.bundle("s").files.is_empty(), "a damaged copy is none");
    }

    #[test]
    fn a_database_is_not_kept() {
        let temp = tempfile::tempdir().unwrap();
        files::put(&temp.path().join(".cru/config.toml"), b"").unwrap();
        let env = Env::fixed("2026-11-20T12:00:00Z".parse().unwrap(), temp.path(), &[]);
        let store = Store::of(&Vault::open(temp.path()).unwrap(), &env);
        let path = temp.path().join("x.db");
        files::put(&path, b"SQLite format 3\0 and the rest").unwrap();
        let mut sum = KeptCopies::default();
        store.keep(Owner { session: "s", host: "h", host_session: "a" }, 0, &path, &mut sum).unwrap();
        assert_eq!((sum.files, sum.not_kept, store.fingerprint("s")), (0, 1, None));
    }
}
