//! Which file a program's name means.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{Env, files};

/// The file of a program that is found by its name: the first in the folders of `PATH`. Folders that are relative, and so
/// would mean another one in each folder, are passed over: no program is taken from where a command happens to stand.
pub fn find(name: &str, env: &Env) -> Option<PathBuf> {
    within(OsStr::new(name), OsStr::new(env.var("PATH")?))
}

/// [`find`] in the `PATH` of this process.
pub fn find_here(name: &OsStr) -> Option<PathBuf> {
    within(name, &Env::search_path()?)
}

/// The folders of `PATH` that are whole paths, as `PATH` has them.
pub fn whole_folders(path: &str) -> String {
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    std::env::join_paths(folders).map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
}

fn within(name: &OsStr, path: &OsStr) -> Option<PathBuf> {
    let is_name = |name: &&OsStr| Path::new(name).components().count() == 1 && !name.is_empty();
    let name = Some(name).filter(is_name)?;
    let suffixes: &[&str] = if cfg!(windows) { &[".exe", ".cmd", ".bat", ""] } else { &[""] };
    let in_folder = |folder: PathBuf| {
        suffixes.iter().map(move |suffix| {
            let mut file = name.to_owned();
            file.push(suffix);
            folder.join(file)
        })
    };
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.flat_map(in_folder).find(|file| is_executable(file))
}

/// Whether a path is a file that may be started.
pub fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && files::is_executable(&metadata))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    #[expect(clippy::disallowed_methods, reason = "programs for the test")]
    fn relative_folders_are_passed_over() {
        use std::os::unix::fs::PermissionsExt as _;

        let temp = tempfile::tempdir().unwrap();
        for folder in ["a", "b"] {
            std::fs::create_dir(temp.path().join(folder)).unwrap();
        }
        let program = temp.path().join("b/tool");
        std::fs::write(&program, "").unwrap();
        let path = format!(".::b:{0}/a:{0}/b", temp.path().display());
        let env = Env::fixed(jiff::Timestamp::UNIX_EPOCH, temp.path(), &[("PATH", &path)]);
        assert_eq!(find("tool", &env), None, "it may not be started");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find("tool", &env), Some(program));
        assert_eq!((find("", &env), find("b/tool", &env), find("..", &env)), (None, None, None));
        assert_eq!(whole_folders(&path), format!("{0}/a:{0}/b", temp.path().display()));
    }
}
