//! A vault may come from somebody else, with any link in it. Each command that writes is run with a link at every place
//! that it writes to, and what is behind the link stays as it was.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::small_vault::SmallVault;

/// Folders that no link may lead out of: the vault, and what the machine keeps.
const ROOTS: [&str; 3] = ["vault", ".local/state/cru", ".cache/cru"];

/// Where the things of a person lie that no command of these may touch.
const OUTSIDE: &str = "outside";

/// Commands that write, each with what stands on its stdin.
const WRITERS: &[(&[&str], &str)] = &[
    (&["init"], ""),
    (&["session", "list"], ""),
    (&["index", "--rebuild"], ""),
    (&["search", "pump"], ""),
    (&["status"], ""),
    (&["import", "../t.jsonl", "--keep-evidence"], ""),
    (&["log", "--session", "s1", "note", "more"], ""),
    (&["log", "--session", "s1", "decision", "Keep it", "--why", "it runs"], ""),
    (&["session", "start", "Fresh"], ""),
    (&["session", "mark", "completed", "s1"], ""),
    (&["session", "archive"], ""),
    (&["session", "rename", "s1", "New words"], ""),
    (&["flush", "--all"], ""),
    (&["lessons", "add", "The pump has three lines", "--from", "s1#n-001"], ""),
    (&["lessons", "retire", "use-pnpm"], ""),
    (&["bookmark", "here", "s1#n-001"], ""),
    (&["bookmark", "--remove", "old"], ""),
    (&["review", "--write"], ""),
    (&["review", "--apply"], ""),
    (&["summary", "day", "2026-11-20", "--write"], ""),
    (&["summary", "week", "--write"], ""),
    (&["summary", "topic", "pump", "--write"], ""),
    (&["verify", "s1", "--write"], ""),
    (&["checkpoint", "Before", "--session", "s1"], ""),
    (&["hook", "stop"], "{\"session_id\":\"h1\",\"cwd\":\".\",\"hook_event_name\":\"Stop\"}"),
    (&["prune", "--yes"], ""),
    (&["stale"], ""),
];

/// A home with a vault that has something for each command.
fn world() -> SmallVault {
    let world = SmallVault::new("[vault]\nid = \"v\"\n[hooks]\nflush = \"inline\"\n");
    let session = |id: &str| {
        format!(
            "---\ntype: session\nsession_id: {id}\ntitle: Work of {id}\nstatus: active\nstarted: 2026-11-20T09:00:00Z\n\
             project: ~/code\ntags: [pump]\n---\n# Work of {id}\n\n## Mend it @coder #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n\
             - `Read src/pump.rs` → `3 lines` ^n-001\n\n> [!user] Correction\n> \"Use pnpm, never npm.\"\n\n^u-02\n"
        )
    };
    world.put("vault/sessions/s1.md", &session("s1"));
    world.put("vault/sessions/s2.md", &session("s2"));
    world.put("vault/bookmarks.md", "# Bookmarks\n\n- old: [[s1#^n-001]]\n");
    world.put(
        "vault/lessons/use-pnpm.md",
        "---\ntype: lesson\nstatus: accepted\ntitle: Use pnpm\n---\n# Use pnpm\n\n- [[s1#^u-02]]\n",
    );
    world.put("vault/review.md", "# Review\n");
    world.put("vault/summaries/pump.md", "# Pump\n\nMine.\n");
    world.put("vault/daily/2026-11-20.md", "# Day\n\nMine.\n");
    world.put("code/src/pump.rs", "one\ntwo\nthree\n");
    let line = |kind: &str, id: &str, parent: &str, text: &str| {
        format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"{id}\",\"parentUuid\":{parent},\"sessionId\":\"7f1c\",\"cwd\":\"/w\",\"version\":\"2.0\",\
             \"timestamp\":\"2026-11-20T10:00:00Z\",\"message\":{{\"role\":\"{kind}\",\"content\":\"{text}\"}}}}\n"
        )
    };
    world.put("t.jsonl", &(line("user", "a", "null", "Mend the pump.") + &line("assistant", "b", "\"a\"", "Mended.")));
    world.put("outside/precious.md", "precious\n");
    world
}

/// What is below a folder: bytes and permissions by path; a link by where it leads.
fn tree(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let metadata = path.symlink_metadata().unwrap();
            let bytes = match &metadata {
                it if it.is_file() => fs::read(&path).unwrap(),
                it if it.is_symlink() => fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
                _ => Vec::new(),
            };
            if metadata.is_dir() {
                folders.push(path.clone());
            }
            found.insert(path.strip_prefix(root).unwrap().to_owned(), (metadata.mode(), bytes));
        }
    }
    found
}

/// The paths that a command writes to, and the folders above them, relative to the home.
fn written(args: &[&str], input: &str) -> Vec<PathBuf> {
    let world = world();
    let before = tree(world.home());
    let output = world.run_in("vault", args, input);
    let told = String::from_utf8_lossy(&output.stderr);
    println!("{args:?}: {} {}", output.status, told.lines().last().unwrap_or_default());
    let mut places: Vec<PathBuf> = Vec::new();
    for (path, seen) in tree(world.home()) {
        let is_ours = ROOTS.iter().any(|root| path.starts_with(root) && path != Path::new(root));
        if is_ours && before.get(&path) != Some(&seen) {
            places.extend(
                path.ancestors().map(Path::to_owned).filter(|path| {
                    ROOTS.iter().any(|root| path.starts_with(root) && path.as_path() != Path::new(root))
                }),
            );
        }
    }
    places.sort();
    places.dedup();
    places
}

/// Puts a link in the place of `place` that leads to the same outside, or to a person's own file or folder.
fn plant(world: &SmallVault, place: &Path, is_folder: bool) {
    let (here, there) = (world.home().join(place), world.path(OUTSIDE).join("victim"));
    fs::create_dir_all(here.parent().unwrap()).unwrap();
    if here.symlink_metadata().is_ok() {
        #[expect(clippy::disallowed_methods, reason = "whoever made the vault does so")]
        fs::rename(&here, &there).unwrap();
    } else if is_folder {
        world.put("outside/victim/precious.md", "precious\n");
        world.put("outside/victim/entries/precious.md", "precious\n");
    } else {
        world.put("outside/victim", "precious\n");
    }
    symlink(&there, &here).unwrap();
}

#[test]
fn no_command_writes_through_a_link_that_leads_out() {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let tried = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((args, input)) = WRITERS.get(next.fetch_add(1, std::sync::atomic::Ordering::SeqCst)) {
                    let places = written(args, input);
                    for place in &places {
                        let is_folder = places.iter().any(|other| other != place && other.starts_with(place));
                        let world = world();
                        plant(&world, place, is_folder);
                        let before = tree(&world.path(OUTSIDE));
                        let output = world.run_in("vault", args, input);
                        let told = String::from_utf8_lossy(&output.stderr);
                        let named = format!("{args:?} with a link at {}: {told}", place.display());
                        assert_eq!(tree(&world.path(OUTSIDE)), before, "{named}");
                        assert!(!told.contains("panicked"), "{named}");
                        tried.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    }
                }
            });
        }
    });
    let tried = tried.into_inner();
    assert!(tried > 200, "only {tried} links were tried");
    println!("{tried} links");
}

/// What stands outside under a second name stays as it is too.
#[test]
fn no_command_writes_into_a_file_that_has_a_name_outside() {
    for (args, input) in WRITERS {
        for place in written(args, input) {
            let world = world();
            let here = world.home().join(&place);
            if !here.is_file() {
                continue;
            }
            fs::hard_link(&here, world.path("outside/victim")).unwrap();
            let before = tree(&world.path(OUTSIDE));
            world.run_in("vault", args, input);
            assert_eq!(tree(&world.path(OUTSIDE)), before, "{args:?}: {}", place.display());
        }
    }
}

#[test]
fn a_link_of_a_person_works_once_it_is_trusted_and_is_named() {
    let world = world();
    plant(&world, Path::new("vault/sessions"), true);
    let list = |world: &SmallVault| String::from_utf8(world.run(&["session", "list"]).stdout).unwrap();
    assert!(!list(&world).contains("Work of s1"), "nothing is read through it");
    let refused = world.run(&["session", "start", "Fresh"]);
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(told.contains("leads out of") && told.contains("cru init --trust-links"), "{told}");
    assert!(world.ok(&["status"]).contains("cru init --trust-links"));
    world.ok(&["init", "--trust-links"]);
    assert!(world.read(".config/cru/config.toml").contains("/vault/sessions\" = \""));
    assert!(list(&world).contains("Work of s1"));
    world.ok(&["session", "start", "Fresh"]);
    world.ok(&["log", "--session", "s1", "note", "more of the pump"]);
    assert!(world.read("outside/victim/s1.md").contains("more of the pump"));
    assert!(fs::read_dir(world.path("outside/victim")).unwrap().count() > 2);
    assert!(world.ok(&["status"]).contains("trusted"));
    // It was changed since: what it leads to now is not what was agreed to.
    world.put("other/precious.md", "precious\n");
    cru::base::files::remove(&world.path("vault/sessions")).unwrap();
    symlink(world.path("other"), world.path("vault/sessions")).unwrap();
    assert!(!world.run(&["session", "start", "Fresh again"]).status.success());
    assert_eq!(fs::read_dir(world.path("other")).unwrap().count(), 1);
}

#[test]
fn a_vault_that_is_a_link_works() {
    let world = world();
    #[expect(clippy::disallowed_methods, reason = "a person moves the vault")]
    fs::rename(world.path("vault"), world.path("disk")).unwrap();
    symlink("disk", world.path("vault")).unwrap();
    world.ok(&["log", "--session", "s1", "note", "more of the pump"]);
    assert!(world.read("disk/sessions/s1.md").contains("more of the pump"));
    assert!(world.ok(&["session", "list"]).contains("Work of s2"));
}

/// No command makes a file readable by more people than it was.
#[test]
fn permissions_stay_as_a_person_set_them() {
    use std::os::unix::fs::PermissionsExt as _;
    for (args, input) in WRITERS {
        let world = world();
        let private = |path: &Path| path.extension().is_some_and(|end| end == "md" || end == "toml");
        let files: Vec<PathBuf> = tree(&world.path("vault")).into_keys().filter(|path| private(path)).collect();
        let inodes = |world: &SmallVault| -> Vec<(PathBuf, u32)> {
            let mode = |path: &PathBuf| world.path("vault").join(path).metadata().ok().map(|it| it.mode() & 0o777);
            files.iter().filter_map(|path| Some((path.clone(), mode(path)?))).collect()
        };
        for path in &files {
            fs::set_permissions(world.path("vault").join(path), fs::Permissions::from_mode(0o600)).unwrap();
        }
        world.run_in("vault", args, input);
        for (path, mode) in inodes(&world) {
            assert_eq!(mode, 0o600, "{args:?}: {}", path.display());
        }
        // A note that was given another name is the same file.
        let moved = tree(&world.path("vault/sessions")).into_iter().filter(|(path, (mode, bytes))| {
            let text = String::from_utf8_lossy(bytes);
            text.contains("Work of s1") && mode & 0o777 != 0o600 && path.extension().is_some_and(|end| end == "md")
        });
        assert_eq!(moved.map(|(path, _)| path).collect::<Vec<_>>(), [] as [PathBuf; 0], "{args:?}");
    }
}
