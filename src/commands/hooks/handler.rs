//! A command in a host's settings that calls `cru hook`, and how ours are told from other people's.

use std::path::Path;

use serde_json::{Value, json};

use crate::live::hook::{HOSTS, HookLayout, Host, Row, TIMEOUT, shell};

/// What our commands have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// The file, or a bare name that is looked up.
    pub(super) path: String,
    /// `--vault`.
    pub(super) vault: Option<String>,
}

/// A command of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ours {
    pub(super) program: Program,
    /// As written: `post-tool`.
    pub(super) event: String,
    /// `--host`.
    host: Option<String>,
}

impl Program {
    /// The command line for an event.
    pub(super) fn line(&self, host: &Host, row: &Row) -> String {
        let mut line = format!("{} hook {}", shell::quote(&self.path), row.event.name());
        if host.id != HOSTS[0].id {
            line.push_str(&format!(" --host {}", host.id));
        }
        if let Some(vault) = &self.vault {
            line.push_str(&format!(" --vault {}", shell::quote(vault)));
        }
        line
    }

    /// An entry of the list that the settings keep for an event.
    pub(super) fn group(&self, host: &Host, row: &Row) -> Value {
        let line = self.line(host, row);
        let seconds = TIMEOUT;
        match host.settings.layout {
            HookLayout::Flat { timeout: false } => json!({ "command": line }),
            HookLayout::Flat { timeout: true } => json!({ "type": "command", "command": line, "timeoutSec": seconds }),
            HookLayout::Rows => json!({ "event": row.name, "command": line, "timeout": seconds }),
            HookLayout::Groups { .. } | HookLayout::Script(_) => {
                let millis = host.settings.layout == HookLayout::Groups { millis: true };
                let timeout = if millis { seconds * 1000 } else { seconds };
                let handler = json!({ "type": "command", "command": line, "timeout": timeout });
                json!({ "hooks": [handler] })
            }
        }
    }

    /// The words of the command line of any event but its name, which stands after the second.
    pub(super) fn words(&self, host: &Host) -> Vec<String> {
        let mut words = vec![self.path.clone(), "hook".to_owned(), "--host".to_owned(), host.id.to_owned()];
        words.extend(self.vault.iter().flat_map(|vault| ["--vault".to_owned(), vault.clone()]));
        words
    }
}

impl Ours {
    /// The command of a program for an event of a host.
    pub(super) fn new(program: Program, event: &str, host: &Host) -> Self {
        Self { program, event: event.to_owned(), host: Some(host.id.to_owned()) }
    }

    /// Whether it is what would be installed.
    pub(super) fn is(&self, program: &Program, host: &Host, row: &Row) -> bool {
        let host_id = self.host.as_deref().unwrap_or(HOSTS[0].id);
        self.program == *program && self.event == row.event.name() && host_id == host.id
    }
}

/// The command of ours that a handler is. One that does more than to call `cru hook` is not ours.
pub(super) fn ours(handler: &Value) -> Option<Ours> {
    if handler.get("type").is_some_and(|kind| kind != "command") {
        return None;
    }
    let mut words = shell::words(handler.get("command")?.as_str()?)?;
    for word in handler.get("args").and_then(Value::as_array).into_iter().flatten() {
        words.push(word.as_str()?.to_owned());
    }
    let mut words = words.into_iter();
    let path = words.next()?;
    let stem = Path::new(&path).file_name()?.to_str()?;
    if !matches!(stem, "cru" | "cru.exe") || words.next()? != "hook" {
        return None;
    }
    let event = words.next().filter(|event| !event.starts_with('-'))?;
    let mut found = Ours { program: Program { path, vault: None }, event, host: None };
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => (word, words.next()?),
        };
        match name.as_str() {
            "--vault" => found.program.vault = Some(value),
            "--host" => found.host = Some(value),
            _ => return None,
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &str) -> Option<Ours> {
        ours(&json!({"type": "command", "command": line}))
    }

    #[test]
    fn knows_its_own() {
        let host = &HOSTS[0];
        for path in ["/opt/cru", "cru", "/my tools/it's/cru"] {
            for vault in [None, Some("/a vault".to_owned())] {
                let program = Program { path: path.to_owned(), vault };
                for row in host.rows() {
                    let group = program.group(host, row);
                    let found = ours(&group["hooks"][0]).unwrap();
                    assert!(found.is(&program, host, row), "{found:?}");
                }
            }
        }
        let with_args = json!({"command": "/opt/cru", "args": ["hook", "stop", "--vault=/v"]});
        assert_eq!(ours(&with_args).unwrap().program.vault.as_deref(), Some("/v"));
    }

    #[test]
    fn leaves_those_of_others() {
        for line in [
            "cru",
            "cru hook",
            "cru check hooks",
            "cru hook stop; notify-send done",
            "cru hook stop | tee log",
            "env A=1 cru hook stop",
            "/opt/crunch hook stop",
            "cru hook --help",
            "cru hook stop --verbose",
            "cru hook stop --vault",
        ] {
            assert_eq!(command(line), None, "{line}");
        }
        assert_eq!(ours(&json!({"type": "prompt", "command": "cru hook stop"})), None);
        assert_eq!(ours(&json!({"command": "cru", "args": ["hook", 3]})), None);
        assert_eq!(ours(&json!(null)), None);
    }
}
