//! A cache that came with a vault is never looked at, and the machine's own is not believed unseen.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::small_vault::SmallVault;

fn world() -> SmallVault {
    let world = SmallVault::new("");
    for number in 0..12 {
        world.put(
            &format!("vault/sessions/s{number}.md"),
            &format!(
                "---\ntype: session\nsession_id: s{number}\ntitle: Pump {number}\nstatus: completed\n---\n# Pump {number}\n\n\
                 ## Mend @coder\n\n- `Bash mend --part {number}` → ok ^n-001\n\nThe valve of pump {number} leaked.\n"
            ),
        );
    }
    world
}

/// What is answered about the vault.
fn answers(world: &SmallVault) -> Vec<String> {
    [
        &["session", "list", "-f", "json"][..],
        &["search", "valve", "-f", "json"],
        &["query", "steps", "-f", "json"],
        &["stats", "-f", "json"],
    ]
    .map(|args| world.ok(args))
    .into()
}

#[test]
fn what_a_vault_brings_as_its_cache_is_neither_read_nor_written() {
    let world = world();
    let right = answers(&world);
    world.put(".profile", "export EDITOR=vi\n");
    world.put("work/entries/precious", "precious\n");
    for name in ["rows.1", "notes", "lock", "clock", "pending", "checked"] {
        fs::create_dir_all(world.path("vault/.cru/cache/index")).unwrap();
        symlink(world.path(".profile"), world.path("vault/.cru/cache/index").join(name)).unwrap();
    }
    symlink(world.path("work/entries"), world.path("vault/.cru/cache/index/entries")).unwrap();
    symlink(world.path(".profile"), world.path("vault/.cru/cache/files")).unwrap();
    assert_eq!(answers(&world), right);
    world.ok(&["index", "--rebuild"]);
    assert_eq!(answers(&world), right);
    assert!(world.ok(&["status"]).contains(".cru/cache"), "it is told that it may go");
    fs::remove_dir_all(world.path("vault/.cru/cache")).unwrap();
    symlink(world.path("work"), world.path("vault/.cru/cache")).unwrap();
    assert_eq!(answers(&world), right);
    world.ok(&["index", "--rebuild"]);
    assert_eq!(world.read(".profile"), "export EDITOR=vi\n");
    assert_eq!(world.read("work/entries/precious"), "precious\n");
    assert_eq!(fs::read_dir(world.path("work")).unwrap().count(), 1);
}

/// All files of the machine's cache.
fn cached(world: &SmallVault) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![world.path(".cache/cru")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a disk damages the file")]
fn one_flipped_bit_gives_no_wrong_answer_and_mends_itself() {
    let world = world();
    let right = answers(&world);
    let files = cached(&world);
    assert!(files.len() > 6, "{files:?}");
    for file in files {
        let Ok(whole) = fs::read(&file) else { continue };
        for part in 1..4 {
            // Each flip meets an index that was mended after the one before.
            let Ok(now) = fs::read(&file) else { continue };
            let Some(at) = (now.len() * part / 4).checked_sub(1) else { continue };
            let mut damaged = now.clone();
            damaged[at] ^= 1 << (part * 2);
            fs::write(&file, damaged).unwrap();
            assert_eq!(answers(&world), right, "byte {at} of {} in {}", whole.len(), file.display());
        }
        // Said of the index as it is after all of that.
        world.ok(&["index", "--check"]);
    }
}

#[test]
fn without_a_folder_for_caches_answers_are_the_same() {
    let world = world();
    let right = answers(&world);
    fs::remove_dir_all(world.path(".cache")).unwrap();
    world.put(".cache", "no folder\n");
    assert_eq!(answers(&world), right);
    assert_eq!(world.read(".cache"), "no folder\n");
}
