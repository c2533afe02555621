//! Programs that start servers of the protocol: where their settings lie and what an entry looks like.
//!
//! Each as its maker documents it; docs/mcp.md names the pages and their dates.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use cru_settings::SettingsFormat;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::base::Env;
use crate::commands::hooks::place::{below_home, project};
use crate::session::agent_table;

/// The name of the server.
pub(in crate::commands) const NAME: &str = "cru";

/// A program and its settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct McpHost {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) format: SettingsFormat,
    /// Files of the user; the first that is there counts, else the first.
    user: Vec<&'static str>,
    /// The same on macOS, where they lie elsewhere.
    #[serde(default)]
    mac: Vec<&'static str>,
    /// A variable that names a folder, and the file in it.
    moved: Option<(&'static str, &'static str)>,
    /// Files of a project.
    #[serde(default)]
    project: Vec<&'static str>,
    /// The key of all servers.
    key: &'static str,
    #[serde(default)]
    form: ServerForm,
}

/// What an entry looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ServerForm {
    /// `command` and `args`.
    #[default]
    Plain,
    /// With `"type": "stdio"`.
    Stdio,
    /// With `"type": "local"` and the tools that are allowed.
    Local,
    /// One list of words, with `"type": "local"` and `"enabled": true`.
    Words,
    /// YAML that a person adds by hand.
    ByHand,
}

/// All of them; a test reads each.
pub(super) static MCP_HOSTS: LazyLock<Vec<McpHost>> = LazyLock::new(|| {
    let text = include_str!("hosts.toml");
    toml::from_str::<BTreeMap<String, Vec<McpHost>>>(text)
        .ok()
        .and_then(|mut all| all.remove("host"))
        .unwrap_or_default()
});

impl McpHost {
    /// By its id, or another name of its agent.
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        let own = |name: &str| MCP_HOSTS.iter().find(|host| host.id.eq_ignore_ascii_case(name));
        own(name).or_else(|| own(&agent_table::by_host(name).or_else(|| agent_table::by_id(name))?.host))
    }

    /// Its file for all projects of the user.
    pub(super) fn user(&self, env: &Env) -> Option<PathBuf> {
        if let Some(moved) = self.moved.and_then(|(name, file)| Some(env.cwd().join(env.var(name)?).join(file))) {
            return Some(moved);
        }
        let files = if cfg!(target_os = "macos") && !self.mac.is_empty() { &self.mac } else { &self.user };
        first_there(files.iter().filter_map(|file| below_home(file, env)))
    }

    /// Its file in the project.
    pub(super) fn project(&self, env: &Env) -> Option<PathBuf> {
        let root = project(env);
        first_there(self.project.iter().map(|file| root.join(file)))
    }

    /// Whether a folder for its settings is there.
    pub(super) fn is_found(&self, env: &Env) -> bool {
        let Some(path) = self.user(env) else { return false };
        let folder = path.parent().filter(|folder| Some(*folder) != env.home());
        path.is_file() || folder.is_some_and(std::path::Path::is_dir)
    }

    /// The keys that lead to the entry of this name.
    pub(super) fn keys<'n>(&self, name: &'n str) -> [&'n str; 2] {
        [self.key, name]
    }

    /// Whether an entry has the form of one that `cru` writes: it starts `cru [--vault DIR] mcp [--write]`, and nothing more.
    pub(super) fn is_our_form(entry: &Value) -> bool {
        let Some(words) = Self::words(entry) else { return false };
        let mut words = words.iter().map(String::as_str);
        let program = words.next().and_then(|path| path.rsplit(['/', '\\']).next());
        let mut next = words.next();
        if next == Some("--vault") {
            next = words.next().and_then(|_| words.next());
        }
        let is_server = matches!(program, Some("cru" | "cru.exe")) && next == Some("mcp");
        let rest: Vec<&str> = words.collect();
        is_server && matches!(rest.as_slice(), [] | ["--write"])
    }

    /// Whether an entry has fields that `cru` does not write.
    pub(super) fn has_more(&self, entry: &Value) -> bool {
        let ours = self.fields("", &[]);
        entry.as_object().is_some_and(|entry| entry.keys().any(|key| !ours.contains_key(key)))
    }

    /// Whether the entry is added by hand.
    pub(super) fn is_by_hand(&self) -> bool {
        self.form == ServerForm::ByHand
    }

    /// The fields of the entry that are ours.
    pub(super) fn fields(&self, program: &str, arguments: &[String]) -> Map<String, Value> {
        let value = match self.form {
            ServerForm::Plain | ServerForm::ByHand => json!({ "command": program, "args": arguments }),
            ServerForm::Stdio => json!({ "type": "stdio", "command": program, "args": arguments }),
            ServerForm::Local => json!({ "type": "local", "command": program, "args": arguments, "tools": ["*"] }),
            ServerForm::Words => {
                let words: Vec<&str> = std::iter::once(program).chain(arguments.iter().map(String::as_str)).collect();
                json!({ "type": "local", "command": words, "enabled": true })
            }
        };
        if let Value::Object(fields) = value { fields } else { Map::new() }
    }

    /// What a person adds to settings that are not edited.
    pub(super) fn by_hand(program: &str, arguments: &[String]) -> String {
        let (program, arguments) = (json!(program), json!(arguments));
        format!(
            "extensions:\n  cru:\n    name: cru\n    type: stdio\n    cmd: {program}\n    args: {arguments}\n    \
             enabled: true\n    timeout: 300\n"
        )
    }

    /// The words of the command of an entry: program and arguments.
    pub(super) fn words(entry: &Value) -> Option<Vec<String>> {
        let texts = |value: &Value| -> Option<Vec<String>> {
            value.as_array()?.iter().map(|it| it.as_str().map(str::to_owned)).collect()
        };
        let command = entry.get("command")?;
        let Some(program) = command.as_str() else { return texts(command) };
        let mut words = vec![program.to_owned()];
        words.extend(entry.get("args").and_then(texts).unwrap_or_default());
        Some(words)
    }
}

fn first_there(files: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    let files: Vec<PathBuf> = files.collect();
    files.iter().find(|file| file.is_file()).or(files.first()).cloned()
}

#[cfg(test)]
mod tests {
    use cru_settings::entry;

    use super::*;

    #[test]
    fn entries_come_and_go_in_the_settings_of_every_host() {
        assert_eq!(MCP_HOSTS.len(), include_str!("hosts.toml").matches("[[host]]").count());
        let arguments = ["mcp".to_owned(), "--write".to_owned()];
        for host in MCP_HOSTS.iter().filter(|host| !host.is_by_hand()) {
            let text = match host.format {
                SettingsFormat::Toml => "# mine\nmodel = \"o3\" # fast\n\n[tui]\nx = 1\n",
                SettingsFormat::Json => "{\n  \"theme\": \"dark\"\n}\n",
                SettingsFormat::JsonWithComments => "// mine\n{\n  \"theme\": \"dark\", // of course\n}\n",
            };
            let fields = host.fields("/opt/cru", &arguments);
            let more = entry::put(text, host.format, &host.keys(NAME), &fields).unwrap();
            let found = entry::find(&more, host.format, &host.keys(NAME)).unwrap().unwrap();
            assert_eq!(found, Value::Object(fields), "{more}");
            assert_eq!(McpHost::words(&found).unwrap(), ["/opt/cru", "mcp", "--write"]);
            assert!(McpHost::is_our_form(&found) && !host.has_more(&found), "{found}");
            assert_eq!(entry::take(&more, host.format, &host.keys(NAME)).unwrap(), text, "{}", host.id);
        }
        for words in
            [&["/opt/cru", "mcp"][..], &["cru.exe", "--vault", "/v", "mcp", "--write"], &["cru", "mcp", "--write"]]
        {
            assert!(McpHost::is_our_form(&json!({ "command": words[0], "args": &words[1..] })), "{words:?}");
            assert!(McpHost::is_our_form(&json!({ "command": words })), "{words:?}");
        }
        for words in [
            &["cru"][..],
            &["cru", "mcp", "serve"],
            &["cru", "--vault", "mcp"],
            &["npx", "cru", "mcp"],
            &["/opt/crux", "mcp"],
            &["sh", "-c", "cru mcp"],
            &["cru", "mcp", "--write", "--verbose"],
            &["cru", "hook", "stop"],
        ] {
            assert!(!McpHost::is_our_form(&json!({ "command": words[0], "args": &words[1..] })), "{words:?}");
        }
        assert!(!McpHost::is_our_form(&json!({ "url": "https://cru.example/mcp" })));
        assert_eq!(McpHost::find("Gemini").unwrap().id, "gemini-cli");
        assert_eq!(McpHost::find("claude").unwrap().id, "claude-code");
        assert!(McpHost::find("typewriter").is_none());
    }
}
