//! Objects laid on the disk for importers, which read files.
//!
//! Several hosts keep a session in more than one file and find one by the place of the other; databases can be read from a
//! disk only. So the objects of a family are laid into a private temporary folder, each at the path that its URI names,
//! and nothing else is there. A large object comes in pieces and is never whole in memory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use cru_base::{Error, Result, files};
use tempfile::TempDir;

/// How a database of `SQLite` begins.
const DATABASE: &[u8] = b"SQLite format 3\0";

/// Bytes of one name of a path; file systems take 255.
const NAME: usize = 200;

/// Folders of a path; of a deeper one the last are kept.
const DEPTH: usize = 16;

/// Where objects lie until they are read. Dropping it removes them.
#[derive(Debug)]
pub struct Stage {
    folder: TempDir,
    root: PathBuf,
    uri_of: HashMap<PathBuf, String>,
    path_of: HashMap<String, PathBuf>,
    /// Objects that could not be laid down, with the reason.
    failed: Vec<(String, String)>,
}

impl Stage {
    /// An empty one, in the folder for temporary files of this machine. Only its owner can look into it.
    pub fn new() -> Result<Self> {
        let failed = |source| Error::io("create", std::env::temp_dir(), source);
        let mut builder = tempfile::Builder::new();
        builder.prefix("cru-rows-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.tempdir().map_err(failed)?;
        // What importers look for above a transcript must not be found outside.
        let root = folder.path().join("objects");
        Ok(Self { folder, root, uri_of: HashMap::new(), path_of: HashMap::new(), failed: Vec::new() })
    }

    /// Lays down an object, or its next piece. What cannot be written is kept as failed, and told by [`Stage::failed`].
    pub fn add(&mut self, uri: &str, bytes: &[u8]) {
        if self.failed.iter().any(|(failed, _)| failed == uri) {
            return;
        }
        let path = match self.path_of.get(uri) {
            Some(path) => path.clone(),
            None => self.place(uri),
        };
        if let Err(error) = files::append(&path, bytes) {
            self.failed.push((uri.to_owned(), error.with_causes()));
        }
    }

    /// Lays down a file of this machine under its own name without copying it; whether that was possible. Not a database,
    /// into which reading may write.
    pub fn link(&mut self, path: &Path) -> bool {
        let uri = path.to_string_lossy();
        let is_file = path.symlink_metadata().is_ok_and(|it| it.is_file());
        let is_plain = is_file && files::beginning(path, DATABASE.len() as u64).is_ok_and(|begin| begin != DATABASE);
        if !is_plain || self.path_of.contains_key(uri.as_ref()) {
            return false;
        }
        let place = self.place(&uri);
        let folder = place.parent().unwrap_or(&self.root);
        let linked = files::create_dir(folder).is_ok() && std::fs::hard_link(path, &place).is_ok();
        if !linked {
            self.uri_of.remove(&place);
            self.path_of.remove(uri.as_ref());
        }
        linked
    }

    /// Keeps an object as one that cannot be read.
    pub fn fail(&mut self, uri: &str, reason: &str) {
        self.failed.push((uri.to_owned(), reason.to_owned()));
    }

    /// A path of its own for an object.
    fn place(&mut self, uri: &str) -> PathBuf {
        let plain = self.root.join("0").join(relative(uri));
        let mut path = plain;
        let mut copy = 0;
        // Two URIs may differ in what no path keeps.
        while self.uri_of.contains_key(&path) {
            copy += 1;
            path = self.root.join(copy.to_string()).join(relative(uri));
        }
        self.uri_of.insert(path.clone(), uri.to_owned());
        self.path_of.insert(uri.to_owned(), path.clone());
        path
    }

    /// The paths of the objects, in order.
    pub fn paths(&self) -> Vec<PathBuf> {
        let failed = |uri: &String| self.failed.iter().any(|(failed, _)| failed == uri);
        let mut paths: Vec<PathBuf> =
            self.uri_of.iter().filter(|(_, uri)| !failed(uri)).map(|(path, _)| path.clone()).collect();
        paths.sort();
        paths
    }

    /// The URI of the object at `path`; the path itself without the folder where none lies there.
    pub fn uri(&self, path: &Path) -> String {
        self.uri_of.get(path).cloned().unwrap_or_else(|| self.public(&path.to_string_lossy()))
    }

    /// Objects that could not be laid down, with the reason.
    pub fn failed(&self) -> &[(String, String)] {
        &self.failed
    }

    /// `text` without the name of the folder, which is another each time: paths in it become the names of objects.
    pub fn public(&self, text: &str) -> String {
        let root = self.root.to_string_lossy();
        text.replace(&format!("{root}/0/"), "").replace(&format!("{root}/"), "").replace(root.as_ref(), "")
    }

    /// Removes the objects.
    pub fn clear(&mut self) -> Result<()> {
        files::remove_derived(&self.folder.path().join("objects"))?;
        self.uri_of.clear();
        self.path_of.clear();
        self.failed.clear();
        Ok(())
    }
}

/// The path that a URI names, below any folder: it leads nowhere else, whatever stands in it.
fn relative(uri: &str) -> PathBuf {
    let names: Vec<String> = uri.split(['/', '\\']).filter(|name| !matches!(*name, "" | ".")).map(name).collect();
    let skipped = names.len().saturating_sub(DEPTH);
    let mut path = PathBuf::new();
    if skipped > 0 {
        let above: Vec<&str> = names.iter().take(skipped).map(String::as_str).collect();
        path.push(crate::digest(&above, 16));
    }
    path.extend(names.iter().skip(skipped));
    if path.as_os_str().is_empty() { PathBuf::from("object") } else { path }
}

fn name(name: &str) -> String {
    let plain: String = match name {
        ".." => "%2E%2E".to_owned(),
        _ => name.chars().map(|c| if c.is_control() { '%' } else { c }).collect(),
    };
    if plain.len() <= NAME && plain == name {
        return plain;
    }
    let at = plain.len().saturating_sub(NAME / 2);
    let at = (at..=plain.len()).find(|at| plain.is_char_boundary(*at)).unwrap_or(plain.len());
    format!("{}-{}", crate::digest(&[name], 16), &plain[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_linked_and_a_database_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            files::put(&path, bytes).unwrap();
            path
        };
        let (plain, database) = (put("a.jsonl", b"one\n"), put("a.db", b"SQLite format 3\0..."));
        let mut stage = Stage::new().unwrap();
        assert!(!stage.link(&database) && !stage.link(&folder.path().join("gone")));
        assert!(stage.paths().is_empty());
        // Whether it can be done is the file system's business.
        if stage.link(&plain) {
            assert_eq!(std::fs::read(&stage.paths()[0]).unwrap(), b"one\n");
            assert_eq!(stage.uri(&stage.paths()[0]), plain.to_string_lossy());
            drop(stage);
            assert_eq!(std::fs::read(&plain).unwrap(), b"one\n");
        }
    }

    #[test]
    fn pieces_of_an_object_are_put_together_in_their_order() {
        let mut stage = Stage::new().unwrap();
        stage.add("s3://bucket/a.jsonl", b"one\n");
        stage.add("s3://bucket/b.jsonl", b"x");
        stage.add("s3://bucket/a.jsonl", b"two\n");
        let paths = stage.paths();
        let uris: Vec<String> = paths.iter().map(|path| stage.uri(path)).collect();
        assert_eq!(uris, ["s3://bucket/a.jsonl", "s3://bucket/b.jsonl"]);
        assert_eq!(std::fs::read(&paths[0]).unwrap(), b"one\ntwo\n");
        assert_eq!(stage.public(&format!("see {}", paths[0].display())), "see s3:/bucket/a.jsonl");
        stage.clear().unwrap();
        assert!(!paths[0].exists() && stage.paths().is_empty());
    }

    #[test]
    fn uris_that_differ_in_what_no_path_keeps_stay_apart() {
        let mut stage = Stage::new().unwrap();
        stage.add("a//b", b"1");
        stage.add("a/b", b"2");
        assert_eq!(stage.paths().len(), 2);
        // A file cannot be a folder too.
        stage.add("a/b/c", b"3");
        assert_eq!(stage.failed().len(), 1);
        assert_eq!(stage.paths().len(), 2);
    }

    proptest::proptest! {
        #[test]
        fn no_uri_leads_out_of_the_folder(uri in r"(\.\.|[a-z]{1,3}|/|\\|:|\x00|~|é|\PC){0,40}") {
            let path = relative(&uri);
            let plain = |part: std::path::Component<'_>| matches!(part, std::path::Component::Normal(_));
            proptest::prop_assert!(path.components().all(plain), "{:?}", path);
            proptest::prop_assert!(path.components().count() > 0);
        }
    }
}
