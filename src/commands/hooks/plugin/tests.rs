use std::collections::BTreeSet;
use std::path::Path;

use clap::{CommandFactory as _, Parser as _};

use super::*;
use crate::commands::Cli;

/// Events that the host's documentation names.
const EVENTS: &[&str] = &[
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "PreModelSwitch",
    "PostModelSwitch",
    "PermissionRequest",
    "PermissionDenied",
    "Setup",
    "TeammateIdle",
    "TaskCreated",
    "TaskCompleted",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "WorktreeCreate",
    "WorktreeRemove",
    "InstructionsLoaded",
    "CwdChanged",
    "FileChanged",
    "DirectoryAdded",
    "MessageDisplay",
];

/// Fields of `plugin.json`.
const FIELDS: &[&str] = &[
    "name",
    "version",
    "description",
    "author",
    "homepage",
    "repository",
    "license",
    "keywords",
    "skills",
    "commands",
    "agents",
    "hooks",
    "mcpServers",
    "outputStyles",
    "lspServers",
    "dependencies",
    "userConfig",
    "defaultEnabled",
];

fn committed() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin")
}

#[test]
fn the_committed_folder_is_what_is_generated() {
    let mut expected = BTreeSet::new();
    for (path, text) in folder(&HOSTS[0]) {
        let file = committed().join(path);
        let found = std::fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(found, text, "plugin/{path}: `cru connect --plugin plugin` writes it anew");
        expected.insert(file);
    }
    let mut folders = vec![committed()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                assert!(expected.contains(&path), "{} is not generated", path.display());
            }
        }
    }
}

#[test]
fn the_manifest_has_the_documented_form() {
    let manifest: Value = serde_json::from_str(&manifest()).unwrap();
    let manifest = manifest.as_object().unwrap();
    for key in manifest.keys() {
        assert!(FIELDS.contains(&key.as_str()), "{key}");
    }
    let name = manifest["name"].as_str().unwrap();
    assert!(
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    );
    assert_eq!(manifest["version"].as_str().unwrap().split('.').count(), 3);
    assert!(manifest["keywords"].as_array().unwrap().iter().all(Value::is_string));
    // The default places are read anyway; naming them would load them twice.
    for place in ["hooks", "commands", "skills"] {
        assert!(!manifest.contains_key(place));
    }
}

#[test]
fn the_marketplace_of_the_repository_offers_the_plugin() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(".claude-plugin/marketplace.json");
    let marketplace: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let manifest: Value = serde_json::from_str(&manifest()).unwrap();
    assert_eq!(marketplace["owner"]["name"], manifest["author"]["name"]);
    let [plugin] = marketplace["plugins"].as_array().unwrap().as_slice() else { panic!("one plugin") };
    assert_eq!(plugin["name"], manifest["name"]);
    assert_eq!(plugin["description"], manifest["description"]);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(plugin["source"].as_str().unwrap());
    assert_eq!(source.canonicalize().unwrap(), committed());
}

#[test]
fn hooks_have_the_documented_form() {
    for row in HOSTS[0].rows() {
        assert!(EVENTS.contains(&row.name), "{}", row.name);
    }
    let hooks: Value = serde_json::from_str(&hooks(&HOSTS[0])).unwrap();
    let keys: Vec<_> = hooks.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["description", "hooks"]);
    let events = hooks["hooks"].as_object().unwrap();
    assert_eq!(events.len(), HOSTS[0].installed.len());
    for (event, groups) in events {
        for group in groups.as_array().unwrap() {
            assert!(group.as_object().unwrap().keys().all(|key| ["matcher", "hooks"].contains(&key.as_str())));
            for handler in group["hooks"].as_array().unwrap() {
                assert_eq!(handler["type"], "command");
                let line = handler["command"].as_str().unwrap();
                assert!(!line.contains('/') && !line.contains('$'), "{line}: the same on every machine");
                let seconds = handler["timeout"].as_u64().unwrap();
                assert!((1..=60).contains(&seconds));
                let cli = Cli::try_parse_from(line.split(' ')).unwrap();
                assert!(matches!(cli.command, crate::commands::Command::Hook(_)), "{event}");
            }
        }
    }
    assert!(events["SessionEnd"][0]["hooks"][0]["timeout"].as_u64().unwrap() > 1, "else all have 1.5 s together");
}

/// The fields between `---` lines; values are one line each.
fn frontmatter(text: &str) -> Vec<(&str, &str)> {
    let (head, _) = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    head.lines().map(|line| line.split_once(": ").unwrap()).collect()
}

#[test]
fn skill_and_commands_have_the_documented_form() {
    for (path, text) in TEXTS {
        if let Some(name) = path.strip_prefix("skills/").and_then(|rest| rest.strip_suffix("/SKILL.md")) {
            let fields = frontmatter(text);
            assert_eq!(fields[0], ("name", name));
            assert!(fields[1].0 == "description" && (20..=1024).contains(&fields[1].1.len()));
        } else if path.starts_with("commands/") {
            for (key, value) in frontmatter(text) {
                assert!(["description", "argument-hint"].contains(&key) && !value.is_empty(), "{path}: {key}");
            }
        }
        assert!(!text.contains("/home/") && !text.contains("/Users/"), "{path}: no machine's paths");
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"));
    }
}

/// The command lines in the texts: lines of `sh` fences that begin with `cru`.
fn command_lines() -> Vec<&'static str> {
    let mut lines = Vec::new();
    for (_, text) in TEXTS {
        let mut shell = false;
        for line in text.lines() {
            match line {
                "```sh" => shell = true,
                "```" => shell = false,
                line if shell && line.starts_with("cru ") => lines.push(line),
                _ => {}
            }
        }
    }
    lines
}

#[test]
fn the_commands_that_the_texts_show_exist() {
    let verbs: Vec<String> = Cli::command().get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    let lines = command_lines();
    assert!(lines.len() > 4);
    for line in lines {
        let line = line.split(" <<").next().unwrap_or(line);
        let words = crate::live::hook::shell::words(line).unwrap();
        // A verb that is not in this program yet cannot be checked.
        if verbs.contains(&words[1])
            && let Err(error) = Cli::try_parse_from(&words)
        {
            panic!("{line}: {error}");
        }
    }
}
