//! `cru connect --plugin`: the folder that Claude Code takes as a plugin.
//!
//! Its hooks come from the table of events; its words for agents and people are files of the repository's own copy.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::handler::Program;
use crate::base::{Result, files};
use crate::commands::{Context, Output, View};
use crate::live::hook::{HOSTS, Host};

/// Writes the plugin folder of Claude Code; files of the same names are replaced.
///
/// The plugin brings the same hooks as `cru connect`, a skill that tells the agent how to log decisions, errors
/// and tasks, commands for the person, and `cru mcp` as a server. It calls `cru` by that name, so `cru` has to be on `PATH`.
pub(in crate::commands) fn plugin(dir: &Path, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let root = cx.absolute(dir);
    let mut written = Vec::new();
    for (path, text) in folder(&HOSTS[0]) {
        let file = root.join(path);
        if !files::create(&file, text.as_bytes())? {
            let old = files::read(&file)?;
            if old == text.as_bytes() {
                continue;
            }
            files::replace(&file, &old, text.as_bytes())?;
        }
        written.push(path);
    }
    Ok(Box::new(PluginReport { root: dir.to_owned(), written }))
}

/// Who the plugin is from.
const AUTHOR: &str = "The cru contributors";

/// Texts that are the same in every copy.
const TEXTS: &[(&str, &str)] = &[
    ("skills/cru/SKILL.md", include_str!("../../../plugin/skills/cru/SKILL.md")),
    ("commands/brief.md", include_str!("../../../plugin/commands/brief.md")),
    ("commands/decide.md", include_str!("../../../plugin/commands/decide.md")),
    ("commands/pause.md", include_str!("../../../plugin/commands/pause.md")),
    ("commands/resume.md", include_str!("../../../plugin/commands/resume.md")),
    ("README.md", include_str!("../../../plugin/README.md")),
];

/// All files: path and text.
fn folder(host: &Host) -> Vec<(&'static str, String)> {
    let mut folder =
        vec![(".claude-plugin/plugin.json", manifest()), ("hooks/hooks.json", hooks(host)), (".mcp.json", server())];
    folder.extend(TEXTS.iter().map(|&(path, text)| (path, text.to_owned())));
    folder
}

fn manifest() -> String {
    let mut manifest = json!({
        "name": "cru",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Keeps each session as a markdown note that you can read and edit: requests, steps, decisions, errors, tasks.",
        "author": { "name": AUTHOR },
        "license": env!("CARGO_PKG_LICENSE"),
        "keywords": ["sessions", "notes", "markdown", "obsidian", "log"],
    });
    // `repository` of Cargo.toml, as soon as it names one.
    if let Some(repository) = option_env!("CARGO_PKG_REPOSITORY").filter(|url| !url.is_empty()) {
        manifest["repository"] = json!(repository);
    }
    pretty(&manifest)
}

fn hooks(host: &Host) -> String {
    let program = Program { path: "cru".to_owned(), vault: None };
    let events = host.installed.iter().map(|row| (row.name.to_owned(), json!([program.group(host, row)])));
    pretty(&json!({
        "description": "Tells cru what happens, one short line for each event. Prints nothing and never stops the agent.",
        "hooks": Value::Object(events.collect::<Map<_, _>>()),
    }))
}

/// The server of the Model Context Protocol that the plugin starts.
fn server() -> String {
    pretty(&json!({ "mcpServers": { "cru": { "command": "cru", "args": ["mcp", "--write"] } } }))
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

struct PluginReport {
    root: PathBuf,
    written: Vec<&'static str>,
}

impl Output for PluginReport {
    fn text(&self, _: &View) -> String {
        if self.written.is_empty() {
            return format!("{}: nothing to change\n", self.root.display());
        }
        let lines: Vec<_> = self.written.iter().map(|path| self.root.join(path).display().to_string()).collect();
        lines.join("\n") + "\n"
    }

    fn json(&self) -> serde_json::Result<Value> {
        Ok(json!({ "schema": 1, "folder": self.root, "written": self.written }))
    }
}

#[cfg(test)]
mod tests;
