//! The vault of `examples/gen_vault`: notes as `docs/format.md` has them, of the mix of real ones, the same each time.

use cru::vault::{Catalog, Loaded, Vault, VaultPath};

use crate::generate::{self, COMMON, RARE, RARE_FIRST, Recipe, Sources};

fn recipe(sessions: usize) -> Recipe {
    Recipe { sessions, ..Recipe::default() }
}

fn read(path: &str, text: &str) -> Loaded {
    Loaded::parse(VaultPath::new(path).unwrap(), text.as_bytes())
}

#[test]
fn nothing_is_odd_about_a_note() {
    let recipe = recipe(40);
    let (mut steps, mut failed, mut children) = (0, 0, 0);
    for number in 0..recipe.sessions {
        let (path, text, kinds) = recipe.note(number);
        let loaded = read(&path, &text);
        assert!(loaded.diagnostics.is_empty(), "{path}: {:?}\n{text}", loaded.diagnostics);
        assert_eq!(kinds.iter().sum::<usize>(), text.len(), "{path}: every byte is of one kind");
        assert_eq!(loaded.id(), loaded.path.stem(), "{path}");
        let own = loaded.session.steps().count();
        assert_eq!(own, text.lines().filter(|line| line.contains(" ^n-")).count(), "{path}: every step is read as one");
        steps += own;
        failed += loaded.session.steps().filter(|(_, step)| step.status == cru::session::StepStatus::Failed).count();
        children += usize::from(loaded.session.meta.parent.is_some());
    }
    assert_eq!(children, 10);
    assert!(steps > 1_500 && failed > steps / 50, "{steps} steps, {failed} failed");
}

#[test]
fn links_lead_somewhere_and_the_mix_is_that_of_real_notes() {
    let dir = tempfile::tempdir().unwrap();
    let made = recipe(200).write(dir.path()).unwrap();
    let vault = Vault::open(dir.path()).unwrap();
    let (loaded, problems) = vault.load_sessions(&Catalog::read(&vault));
    assert_eq!((loaded.len(), problems.len(), made.notes), (200, 0, 200));
    let names: std::collections::HashSet<String> = loaded.iter().map(|it| it.path.stem().into_owned()).collect();
    for it in &loaded {
        let meta = &it.session.meta;
        let named = meta.parent.iter().map(|link| &link.target).chain(meta.subagents.iter().map(|row| &row.session));
        for name in named {
            assert!(names.contains(name), "{}: no note {name}", it.path);
        }
    }
    let parts = made.kinds.map(|bytes| bytes as f64 * 100.0 / made.bytes as f64);
    for (part, wanted) in parts.into_iter().zip([26.0, 18.0, 30.0, 11.0, 8.0, 7.0]) {
        assert!((part - wanted).abs() < 2.5, "{parts:?}");
    }
    let (steps, each) = (loaded.iter().map(|it| it.session.steps().count()).sum::<usize>() / 200, made.bytes / 200);
    assert!((70..140).contains(&steps) && (20_000..45_000).contains(&each), "{steps} steps and {each} bytes each");
}

#[test]
fn the_same_recipe_makes_the_same_notes() {
    let number = RARE_FIRST;
    let (first, second) = (recipe(1_000).note(number), recipe(1_000).note(number));
    assert_eq!(first, second);
    assert!(first.1.contains(RARE), "{}", first.1);
    let common = (0..20).filter(|number| recipe(1_000).note(*number).1.contains(&format!(" {COMMON} "))).count();
    assert!((15..=20).contains(&common), "{COMMON} stands in {common} of 20");
    assert!(!recipe(1_000).note(number + 1).1.contains(RARE));
    assert_ne!(Recipe { seed: 2, ..recipe(1_000) }.note(number).0, first.0);
}

#[test]
fn notes_of_a_vault_again_under_other_names() {
    let example = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("vault-example");
    let sources = Sources::read(&example).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let own = Catalog::read(&Vault::open(&example).unwrap()).sessions().count();
    let made = generate::write_again(&sources, own * 3, dir.path()).unwrap();
    assert_eq!(made.notes, own * 3);
    let vault = Vault::open(dir.path()).unwrap();
    let (loaded, problems) = vault.load_sessions(&Catalog::read(&vault));
    assert!(problems.is_empty());
    let ids: std::collections::BTreeSet<String> = loaded.iter().map(Loaded::id).collect();
    assert_eq!(ids.len(), own * 3, "each copy has an id of its own: {ids:?}");
    for it in &loaded {
        let meta = &it.session.meta;
        for row in &meta.subagents {
            assert!(ids.contains(&row.session), "{}: no session {}", it.path, row.session);
        }
    }
    assert!(ids.contains("2026-11-18-refresh-tokens-r2"), "two days later: {ids:?}");
}
