//! Tools of agents: their kinds, by name in any spelling, and which of their arguments carry what. The table is
//! `data/tools.toml`.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::class::Class;

/// What a tool is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolKind {
    /// Runs a shell command.
    Shell,
    /// Reads a file or what the editor shows.
    Read,
    /// Changes a part of a file.
    Edit,
    /// Writes a whole file.
    Write,
    /// Deletes a file.
    Delete,
    /// Applies a patch, which may touch several files.
    Patch,
    /// Searches or lists files.
    Search,
    /// Reads or searches the web.
    Fetch,
    /// Asks the person.
    Ask,
    /// Enters or leaves plan mode, or shows a plan.
    Plan,
    /// Keeps a list of tasks.
    Task,
    /// Starts another agent.
    Subagent,
    /// Loads a skill.
    Skill,
    /// A tool of a server of the Model Context Protocol.
    Mcp,
    /// Any other.
    #[default]
    Other,
}

impl ToolKind {
    /// Whether a call of it ends with the answer of a person: a question, a plan to approve.
    pub const fn waits_for_person(self) -> bool {
        matches!(self, Self::Ask | Self::Plan)
    }

    /// The kind of a tool by its name.
    pub fn of(tool: &str) -> Self {
        find(tool).0
    }

    /// The kind of a call: some tools of editors do several things, by an argument `command`.
    pub fn of_call(tool: &str, input: &Value) -> Self {
        let kind = Self::of(tool);
        // A tool of both gives a patch, or a text and the one that takes its place.
        let is_edit = || {
            let has_blocks = |text: &str| !crate::patch::blocks(text).is_empty();
            input.get("old_string").is_some_and(Value::is_string)
                || input.get("diff").and_then(Value::as_str).is_some_and(has_blocks)
        };
        if kind == Self::Patch && is_edit() {
            return Self::Edit;
        }
        match input.get("command").and_then(Value::as_str).filter(|_| matches!(kind, Self::Edit | Self::Write)) {
            Some("str_replace" | "strReplace" | "insert" | "append") => Self::Edit,
            Some("view") => Self::Read,
            Some("create" | "write") => Self::Write,
            _ => kind,
        }
    }

    /// Whether it looks, asks or keeps books: it changes no file and runs nothing, and its failure is a miss.
    pub const fn is_look(self) -> bool {
        use ToolKind::{Ask, Fetch, Plan, Read, Search, Skill, Task};
        matches!(self, Read | Search | Fetch | Ask | Plan | Task | Skill)
    }

    /// Its name in data and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Write => "write",
            Self::Delete => "delete",
            Self::Patch => "patch",
            Self::Search => "search",
            Self::Fetch => "fetch",
            Self::Ask => "ask",
            Self::Plan => "plan",
            Self::Task => "task",
            Self::Subagent => "subagent",
            Self::Skill => "skill",
            Self::Mcp => "mcp",
            Self::Other => "other",
        }
    }

    /// Whether its success writes files that it names: edit, write, delete, patch.
    pub const fn writes_files(self) -> bool {
        matches!(self, Self::Edit | Self::Write | Self::Delete | Self::Patch)
    }
}

/// What an argument of a tool carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A shell command.
    Command,
    /// The file whose text is read or written, or the folder that is searched.
    Path,
    /// What is searched for.
    Pattern,
    /// Which files a search looks at.
    Filter,
    /// A patch.
    Patch,
    /// An address, a question, a description.
    Query,
}

/// The argument of a call that plays a role: the first that is there and not empty, and its name. A tool that is not
/// known is read by the names of arguments that many tools share.
pub fn argument<'v>(tool: &str, input: &'v Map<String, Value>, role: Role) -> Option<(&'static str, &'v Value)> {
    let row = find(tool).2.unwrap_or(&FILE.shared);
    argument_in(row, input, role)
}

/// Whether an argument of that name holds a text of a file, in a call of any tool that edits: as it stands there
/// (`Some(false)`) or as it shall stand there (`Some(true)`).
pub(crate) fn is_new_text(name: &str) -> Option<bool> {
    let is = |names: &str| names.split_ascii_whitespace().any(|word| word == name);
    if is(&FILE.shared.new) { Some(true) } else { is(&FILE.shared.old).then_some(false) }
}

/// The argument that plays a role by the names that many tools share.
pub fn shared_argument(input: &Map<String, Value>, role: Role) -> Option<&Value> {
    argument_in(&FILE.shared, input, role).map(|(_, value)| value)
}

/// The file that an object of arguments names, by names that many tools share.
pub(crate) fn shared_path(input: &Map<String, Value>) -> Option<&str> {
    argument_in(&FILE.shared, input, Role::Path)?.1.as_str()
}

fn argument_in<'v>(
    row: &'static ToolRow,
    input: &'v Map<String, Value>,
    role: Role,
) -> Option<(&'static str, &'v Value)> {
    let names = match role {
        Role::Command => &row.command,
        Role::Path => &row.path,
        Role::Pattern => &row.pattern,
        Role::Filter => &row.filter,
        Role::Patch => &row.patch,
        Role::Query => &row.query,
    };
    names.split_ascii_whitespace().find_map(|name| {
        let value = input.get(name)?;
        let empty = value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty());
        (!empty).then_some((name, value))
    })
}

/// The files that a call names, by names of arguments that many tools share; lists count.
pub fn paths(input: &Map<String, Value>) -> Vec<&str> {
    let names = FILE.shared.path.split_ascii_whitespace().chain(FILE.shared.paths.split_ascii_whitespace());
    let values = names.filter_map(|name| input.get(name));
    let mut found: Vec<&str> = Vec::new();
    for value in values {
        let all = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
        let texts = all.iter().filter_map(Value::as_str).filter(|text| !text.is_empty());
        texts.for_each(|text| {
            if !found.contains(&text) {
                found.push(text);
            }
        });
    }
    found
}

/// Where a call that moves or copies a file puts it.
pub fn destination(input: &Map<String, Value>) -> Option<&str> {
    let names = FILE.shared.destination.split_ascii_whitespace();
    names.filter_map(|name| input.get(name)?.as_str()).find(|text| !text.is_empty())
}

/// Whether a tool of a server takes something away, by the words of its own name: `mcp__github__delete_file`.
pub fn deletes(tool: &str) -> bool {
    has_word(tool, &FILE.mcp.delete)
}

/// Whether a tool of a server writes a whole file, by the words of its own name.
pub fn writes(tool: &str) -> bool {
    has_word(tool, &FILE.mcp.write)
}

fn has_word(tool: &str, words: &str) -> bool {
    let own = tool.rsplit_once("__").map_or(tool, |(_, own)| own);
    let mut cut = String::new();
    for c in own.chars() {
        if c.is_uppercase() || !c.is_alphanumeric() {
            cut.push(' ');
        }
        cut.extend(c.to_lowercase().filter(|c| c.is_alphanumeric()));
    }
    cut.split_ascii_whitespace().any(|word| words.split_ascii_whitespace().any(|known| known == word))
}

/// What stands for the main argument of a call that has none: `.` for lists of a folder.
pub fn default_argument(tool: &str) -> Option<&'static str> {
    find(tool).2?.default.as_deref()
}

/// What a call of a tool does, where its kind or name says it. Shell commands are not looked at.
pub(crate) fn class(tool: &str) -> (ToolKind, Class) {
    let (kind, class, _) = find(tool);
    (kind, class)
}

/// The data file of tools, `data/tools.toml`. Its head says what each key means.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolFile {
    tool: Vec<ToolRow>,
    shared: ToolRow,
    mcp: VerbRow,
}

/// Tools of one kind.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ToolRow {
    kind: String,
    names: String,
    class: Option<String>,
    command: String,
    path: String,
    default: Option<String>,
    pattern: String,
    filter: String,
    patch: String,
    query: String,
    old: String,
    new: String,
    paths: String,
    destination: String,
}

/// What tools of servers do by the first word of their name.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct VerbRow {
    look: String,
    change: String,
    delete: String,
    write: String,
}

/// The file in this program. A test proves that it can be read.
static FILE: LazyLock<ToolFile> =
    LazyLock::new(|| toml::from_str(include_str!("../data/tools.toml")).unwrap_or_default());

static BY_NAME: LazyLock<HashMap<String, &'static ToolRow>> = LazyLock::new(|| {
    let mut by_name = HashMap::with_capacity(512);
    for row in &FILE.tool {
        for name in row.names.split_ascii_whitespace() {
            by_name.entry(normal(name)).or_insert(row);
        }
    }
    by_name
});

/// A name as the table compares it.
fn normal(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | '.' | ' ')).take(60).flat_map(char::to_lowercase).collect()
}

fn find(tool: &str) -> (ToolKind, Class, Option<&'static ToolRow>) {
    let tool = tool.trim();
    if let Some(row) = BY_NAME.get(normal(tool).as_str()) {
        let kind = kind_named(&row.kind);
        return (kind, row.class.as_deref().and_then(class_named).unwrap_or(class_of(kind)), Some(row));
    }
    // `mcp__server__tool`, `server__tool`: what it does is in the tool's own name.
    if let Some((_, last)) = tool.rsplit_once("__").filter(|(server, last)| !server.is_empty() && !last.is_empty()) {
        return (ToolKind::Mcp, verb_class(last), None);
    }
    (ToolKind::Other, Class::Unknown, None)
}

fn verb_class(name: &str) -> Class {
    let name = name.strip_prefix("browser_").unwrap_or(name);
    let end = name.char_indices().find(|(at, c)| !c.is_alphanumeric() || (*at > 0 && c.is_uppercase()));
    let verb = name[..end.map_or(name.len(), |(at, _)| at)].to_lowercase();
    let holds = |words: &str| words.split_ascii_whitespace().any(|word| word == verb);
    if holds(&FILE.mcp.look) {
        Class::Look
    } else if holds(&FILE.mcp.change) {
        Class::Change
    } else {
        Class::Unknown
    }
}

fn kind_named(name: &str) -> ToolKind {
    use ToolKind::{
        Ask, Delete, Edit, Fetch, Mcp, Other, Patch, Plan, Read, Search, Shell, Skill, Subagent, Task, Write,
    };
    let all = [Shell, Read, Edit, Write, Delete, Patch, Search, Fetch, Ask, Plan, Task, Subagent, Skill, Mcp, Other];
    all.into_iter().find(|kind| kind.name() == name).unwrap_or_default()
}

fn class_named(name: &str) -> Option<Class> {
    [Class::Look, Class::Run, Class::Change, Class::Network].into_iter().find(|class| class.name() == name)
}

const fn class_of(kind: ToolKind) -> Class {
    match kind {
        ToolKind::Read | ToolKind::Search | ToolKind::Ask | ToolKind::Plan | ToolKind::Task | ToolKind::Skill => {
            Class::Look
        }
        ToolKind::Fetch => Class::Network,
        ToolKind::Edit | ToolKind::Write | ToolKind::Patch => Class::Change,
        ToolKind::Delete => Class::Destroy,
        ToolKind::Subagent => Class::Run,
        ToolKind::Shell | ToolKind::Mcp | ToolKind::Other => Class::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_table_is_sound() {
        let mut seen = HashMap::new();
        let mut twice = Vec::new();
        let file: ToolFile = toml::from_str(include_str!("../data/tools.toml")).unwrap();
        for row in &file.tool {
            let kind = row.kind.as_str();
            assert_eq!(kind_named(kind).name(), kind);
            assert!(row.class.as_deref().is_none_or(|class| class_named(class).is_some()));
            for name in row.names.split_ascii_whitespace() {
                if seen.insert(normal(name), kind).is_some() {
                    twice.push(name);
                }
            }
        }
        assert!(twice.is_empty(), "{twice:?}");
    }

    #[test]
    fn kinds_in_any_spelling() {
        for (tool, kind) in [
            ("Bash", ToolKind::Shell),
            ("Execute", ToolKind::Shell),
            ("container.exec", ToolKind::Shell),
            ("run_shell_command", ToolKind::Shell),
            ("ReadFile", ToolKind::Read),
            ("str_replace_based_edit_tool", ToolKind::Edit),
            ("ApplyPatch", ToolKind::Patch),
            ("exit_plan_mode", ToolKind::Plan),
            ("ExitPlanMode", ToolKind::Plan),
            ("todo_write", ToolKind::Task),
            ("AskUserQuestion", ToolKind::Ask),
            ("mcp__github__create_issue", ToolKind::Mcp),
            ("Task", ToolKind::Subagent),
            ("", ToolKind::Other),
            ("[trimmed]", ToolKind::Other),
        ] {
            assert_eq!(ToolKind::of(tool), kind, "{tool}");
        }
        assert_eq!(class("mcp__github__get_issue").1, Class::Look);
        assert_eq!(class("mcp__github__create_issue").1, Class::Change);
        assert_eq!(class("mcp__x__frobnicate").1, Class::Unknown);
        assert_eq!(ToolKind::of_call("str_replace_editor", &json!({"command": "view"})), ToolKind::Read);
    }

    #[test]
    fn arguments_by_role() {
        let input = json!({"cmd": "ls", "workdir": "/x", "path": ""});
        let Value::Object(input) = input else { panic!("an object") };
        assert_eq!(argument("exec_command", &input, Role::Command), Some(("cmd", &json!("ls"))));
        assert_eq!(argument("Read", &input, Role::Path), None);
        assert_eq!(argument("unheard_of", &input, Role::Path), None);
        assert_eq!(argument("unheard_of", &input, Role::Command), Some(("cmd", &json!("ls"))));
        // What the table knows of a tool is all there is.
        let view = json!({"command": "view", "path": "a.rs"});
        let Value::Object(view) = view else { panic!("an object") };
        assert_eq!(argument("str_replace_editor", &view, Role::Command), None);
        assert_eq!(
            (default_argument("LS"), default_argument("Grep"), default_argument("unheard_of")),
            (Some("."), None, None)
        );
    }
}
