//! Names of programs and paths.

/// The name of a program without its folder, ending and version: `./node_modules/.bin/jest` is `jest`, `tool.exe` is
/// `tool`, `prettier@3` is `prettier`. A package with a scope keeps it: `@biomejs/biome`.
pub fn program_name(word: &str) -> &str {
    if let Some(scoped) = word.strip_prefix('@')
        && scoped.contains('/')
    {
        let end = scoped.find('@').map_or(word.len(), |at| at + 1);
        return &word[..end];
    }
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let name = match name.find('@') {
        Some(at) if at > 0 => &name[..at],
        _ => name,
    };
    let lower = |ending: &str| {
        let at = name.len().checked_sub(ending.len())?;
        let (stem, end) = name.split_at_checked(at)?;
        (end.eq_ignore_ascii_case(ending) && !stem.is_empty()).then_some(stem)
    };
    [".exe", ".cmd"].iter().find_map(|ending| lower(ending)).unwrap_or(name)
}

/// Whether a path leads to where programs are installed.
pub(super) fn is_installed(path: &str) -> bool {
    const FOLDERS: &[&str] = &["bin", "sbin", ".bin", "Scripts", "System32", "Git", "libexec", "cmd"];
    let mut parts = path.rsplit(['/', '\\']).skip(1);
    let folder = parts.next().unwrap_or("");
    // `bin/x` of the project itself is a script of the project.
    FOLDERS.contains(&folder)
        && (path.starts_with(['/', '~', '$'])
            || folder == ".bin"
            || parts.next().is_some_and(|it| !matches!(it, "." | "" | "..")))
}

/// Whether a path is that of a document in prose, which no check judges: `.md`, `.txt`, `.rst`.
pub fn is_prose(path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["md", "txt", "rst"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Whether a program writes a file rather than an author: a lock file (`Cargo.lock`, `package-lock.json`, `go.sum`), what a build
/// leaves, a snapshot of a test.
pub fn is_generated(path: &str) -> bool {
    const FOLDERS: &[&str] = &["dist", "build", "target", "node_modules", "generated", "__snapshots__"];
    const ENDS: &[&str] =
        &[".lock", "-lock.json", "-lock.yaml", "lockb", ".sum", ".min.js", ".min.css", ".map", ".snap"];
    let (folders, name) = path.rsplit_once(['/', '\\']).unwrap_or(("", path));
    let is_made = |folder: &str| FOLDERS.contains(&folder);
    ENDS.iter().any(|end| name.ends_with(end)) || folders.split(['/', '\\']).any(is_made)
}

/// Whether a path leads out of the folder of a project: it is that of another place of the machine. Where no project is known,
/// none does. Both are written alike: `~` for home, or the whole way.
pub fn is_outside(path: &str, project: Option<&str>) -> bool {
    let inside = project.is_none_or(|project| {
        path.strip_prefix(project.trim_end_matches('/')).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    path.starts_with(['/', '~']) && !inside
}

/// Whether a path lies where nothing is kept: a folder for temporary files, a device.
pub fn is_scratch(path: &str) -> bool {
    const PLACES: &[&str] = &[
        "/tmp/",
        "/dev/",
        "/private/tmp/",
        "/var/tmp/",
        "/var/folders/",
        "/private/var/folders/",
        "/proc/",
        "$TMPDIR",
        "${TMPDIR",
        "$TMP/",
        "${TMP}",
        "$env:TEMP",
        "%TEMP%",
        "$(mktemp",
    ];
    const PARTS: &[&str] = &["/scratchpad/", "\\AppData\\Local\\Temp\\", "/AppData/Local/Temp/"];
    PLACES.iter().any(|place| path.starts_with(place)) || PARTS.iter().any(|part| path.contains(part))
}
