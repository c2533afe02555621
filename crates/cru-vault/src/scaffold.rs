//! What `cru init` puts into a folder: settings, and what makes sessions look right in Obsidian.
//!
//! A vault is somebody's own: what is there stays as it is. A missing file is written, a JSON settings file gets the
//! keys it lacks, a list file the lines it lacks; nothing is replaced.

use std::path::Path;

use serde_json::Value;

use super::properties::{foreign_properties, without_types};
use cru_base::{Error, Result, files};
use cru_note::LineEnd;
use cru_settings::Refused;
use cru_settings::entry::without_mark;
use cru_settings::json::{self, Node};

/// One thing to put into a vault.
#[derive(Debug)]
struct Asset {
    /// Path in the vault.
    path: &'static str,
    /// What to write where there is nothing.
    content: &'static str,
    /// What to do where something is.
    merge: ScaffoldMerge,
}

#[derive(Clone, Copy, Debug)]
enum ScaffoldMerge {
    /// Leave it.
    Keep,
    /// Add keys that are missing, at any depth; append missing items to lists.
    Json,
    /// Append missing lines.
    Lines,
}

/// What a new `.cru/config.toml` says; `{id}` and `{zone}` are filled in. Lines that begin with `#` and a key hold the default.
const CONFIG: &str = include_str!("../../../templates/config.toml");

/// The property types of Obsidian: one key for each property of a session note.
const TYPES: &str = ".obsidian/types.json";

/// Views of the notes.
const BASES: &[&str] = &["Sessions.base", "Workflows.base", "Cases.base", "Lessons.base", "Projects.base"];

/// The settings of Obsidian's graph view.
const GRAPH: &str = ".obsidian/graph.json";

/// The template of a session: in the folder that Obsidian takes templates from, where its settings name another.
const TEMPLATE: &str = "templates/New session.md";

const fn keep(path: &'static str, content: &'static str) -> Asset {
    Asset { path, content, merge: ScaffoldMerge::Keep }
}

const fn json(path: &'static str, content: &'static str) -> Asset {
    Asset { path, content, merge: ScaffoldMerge::Json }
}

const ASSETS: &[Asset] = &[
    Asset { path: ".gitignore", content: "/.cru/local/\n/evidence/\n", merge: ScaffoldMerge::Lines },
    keep(".obsidian/snippets/cru.css", include_str!("../../../templates/obsidian/cru.css")),
    json(".obsidian/appearance.json", "{\n  \"enabledCssSnippets\": [\n    \"cru\"\n  ]\n}\n"),
    json(TYPES, include_str!("../../../templates/obsidian/types.json")),
    json(".obsidian/templates.json", "{\n  \"folder\": \"templates\"\n}\n"),
    keep(GRAPH, include_str!("../../../templates/obsidian/graph.json")),
    keep(TEMPLATE, include_str!("../../../templates/obsidian/New session.md")),
    keep(BASES[0], include_str!("../../../templates/obsidian/Sessions.base")),
    keep(BASES[1], include_str!("../../../templates/obsidian/Workflows.base")),
    keep(BASES[2], include_str!("../../../templates/obsidian/Cases.base")),
    keep(BASES[3], include_str!("../../../templates/obsidian/Lessons.base")),
    keep(BASES[4], include_str!("../../../templates/obsidian/Projects.base")),
];

/// What became of one file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Change {
    /// Path in the vault.
    pub path: String,
    /// What was done.
    pub action: Action,
}

/// What was done with one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It is new.
    Created,
    /// Keys or lines were added to it.
    Merged,
    /// It has all it needs, or is the user's own.
    Kept,
}

/// Makes `root` a vault, or completes one. `id` names it in machine state, `zone` is the time zone of its dates; both are
/// only used when it has no settings.
///
/// A settings file that is not JSON is left alone and named in the error list of the result, after all else is done.
pub fn scaffold(root: &Path, id: &str, zone: &str) -> Result<(Vec<Change>, Vec<Error>)> {
    files::create_dir(root)?;
    files::confine(root);
    let config = CONFIG.replace("{id}", id).replace("{zone}", zone);
    // Before anything is added: a property that other notes use has the type that these give it.
    let foreign = foreign_properties(root);
    let mut changes = vec![put(root, ".cru/config.toml", &config, ScaffoldMerge::Keep)?];
    let mut problems = Vec::new();
    let templates = super::obsidian::template_folder(root);
    for asset in ASSETS {
        let own = templates.as_ref().filter(|_| asset.path == TEMPLATE);
        let path = own.map(|folder| format!("{folder}/New session.md"));
        let content = match (&templates, asset.path) {
            (_, TYPES) => without_types(asset.content, &foreign),
            (Some(folder), path) if BASES.contains(&path) => in_base(asset.content, &folder.to_string()),
            (Some(folder), GRAPH) => in_graph(asset.content, &folder.to_string()),
            _ => asset.content.to_owned(),
        };
        match put(root, path.as_deref().unwrap_or(asset.path), &content, asset.merge) {
            Ok(change) => changes.push(change),
            Err(problem @ Error::Usage { .. }) => problems.push(problem),
            Err(error) => return Err(error),
        }
    }
    files::create_dir(&root.join("sessions"))?;
    Ok((changes, problems))
}

/// A base with another folder of templates in its filter.
fn in_base(content: &str, folder: &str) -> String {
    // In single quotes YAML knows one escape.
    let folder = Value::from(folder).to_string().replace('\'', "''");
    content.replace("inFolder(\"templates\")", &format!("inFolder({folder})"))
}

/// The settings of the graph view with another folder of templates in its search.
fn in_graph(content: &str, folder: &str) -> String {
    // An `init` that was cut short has made it already.
    if folder == "templates" {
        return content.to_owned();
    }
    let search = Value::from(format!("-path:{}", Value::from(folder)));
    content.replace("\"-path:templates\"", &search.to_string())
}

fn put(root: &Path, path: &str, content: &str, merge: ScaffoldMerge) -> Result<Change> {
    let done = |action| Change { path: path.to_owned(), action };
    let target = root.join(path);
    if files::create(&target, content.as_bytes())? {
        return Ok(done(Action::Created));
    }
    let old = files::read(&target)?;
    let new = match merge {
        ScaffoldMerge::Keep => return Ok(done(Action::Kept)),
        ScaffoldMerge::Lines => merge_lines(&old, content),
        ScaffoldMerge::Json => merge_json(&target, &old, content)?,
    };
    let Some(new) = new else { return Ok(done(Action::Kept)) };
    files::replace(&target, &old, &new)?;
    Ok(done(Action::Merged))
}

/// `old` with the lines of `wanted` that it lacks; `None` when it has all.
fn merge_lines(old: &[u8], wanted: &str) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(old);
    // A line that ignores the same in every folder does so here too.
    let same = |own: &str, line: &str| own.trim().trim_start_matches('/') == line.trim_start_matches('/');
    let missing: Vec<&str> = wanted.lines().filter(|line| !text.lines().any(|own| same(own, line))).collect();
    if missing.is_empty() {
        return None;
    }
    let eol = LineEnd::of(&text).as_str();
    let lines = missing.join(eol);
    // A last line without a line end stays one.
    let added = if text.is_empty() || text.ends_with('\n') { format!("{lines}{eol}") } else { format!("{eol}{lines}") };
    Some([old, added.as_bytes()].concat())
}

/// `old` with the keys and list items of `wanted` that it lacks; `None` when it has all.
fn merge_json(path: &Path, old: &[u8], wanted: &str) -> Result<Option<Vec<u8>>> {
    let broken = |error: serde_json::Error| {
        Error::usage(format!("{} is not JSON ({error}); left as it is", path.display()))
            .with_hint("correct the file and run `cru init` again")
    };
    let refused = |refused: Refused| {
        Error::usage(format!("{} cannot be edited ({}); left as it is", path.display(), refused.message))
            .with_hint("correct the file and run `cru init` again")
    };
    let text = std::str::from_utf8(old)
        .map_err(|_| Error::usage(format!("{} is no UTF-8 text; left as it is", path.display())))?;
    let (mark, text) = without_mark(text);
    let wanted: Value = serde_json::from_str(wanted).map_err(broken)?;
    if text.trim().is_empty() {
        return Ok(Some([mark.as_bytes(), &serde_json::to_vec_pretty(&wanted).map_err(broken)?].concat()));
    }
    let mut now = text.to_owned();
    loop {
        let own: Value = serde_json::from_str(&now).map_err(broken)?;
        let Some(Missing { at, key, value }) = missing(&own, &wanted, &mut Vec::new()) else { break };
        let (root, _) = json::parse(&now, false).map_err(refused)?;
        let Some(node) = at.iter().try_fold(&root, |node: &Node, key| node.get(key)) else { break };
        let new = json::append(&now, node, key.as_deref(), &value);
        if new == now {
            break;
        }
        now = new;
    }
    Ok((now != text).then(|| [mark, &now].concat().into_bytes()))
}

/// What a settings text lacks.
struct Missing {
    /// The keys that lead to the object or list.
    at: Vec<String>,
    /// The key, of an object.
    key: Option<String>,
    value: Value,
}

/// The first key or list item of `wanted` that `own` lacks.
fn missing(own: &Value, wanted: &Value, at: &mut Vec<String>) -> Option<Missing> {
    match (own, wanted) {
        (Value::Object(own), Value::Object(wanted)) => wanted.iter().find_map(|(key, value)| {
            let Some(old) = own.get(key) else {
                return Some(Missing { at: at.clone(), key: Some(key.clone()), value: value.clone() });
            };
            at.push(key.clone());
            let found = missing(old, value, at);
            at.pop();
            found
        }),
        (Value::Array(own), Value::Array(wanted)) => {
            let value = wanted.iter().find(|value| !own.contains(value))?.clone();
            Some(Missing { at: at.clone(), key: None, value })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_a_vault_and_then_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (first, problems) = scaffold(dir.path(), "x", "UTC").unwrap();
        assert!(problems.is_empty());
        assert!(first.iter().all(|change| change.action == Action::Created), "{first:?}");
        let (second, _) = scaffold(dir.path(), "y", "UTC").unwrap();
        assert!(second.iter().all(|change| change.action == Action::Kept), "{second:?}");
        assert!(files::read(&dir.path().join(".cru/config.toml")).unwrap().windows(8).any(|w| w == b"id = \"x\""));
    }

    #[test]
    fn merges_into_settings_and_keeps_what_a_person_chose() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| assert!(files::create(&dir.path().join(path), text.as_bytes()).unwrap());
        put(".obsidian/appearance.json", "{\"theme\":\"moonstone\",\"enabledCssSnippets\":[\"mine\"]}");
        put(".obsidian/types.json", "{\"types\":{\"started\":\"datetime\",\"mood\":\"text\"}}");
        put(".obsidian/templates.json", "{\"folder\":\"My templates\"}");
        put(".gitignore", "target\n.cru/local/");
        scaffold(dir.path(), "x", "UTC").unwrap();
        let read = |path: &str| String::from_utf8(files::read(&dir.path().join(path)).unwrap()).unwrap();
        let appearance: Value = serde_json::from_str(&read(".obsidian/appearance.json")).unwrap();
        assert_eq!(appearance, serde_json::json!({"theme": "moonstone", "enabledCssSnippets": ["mine", "cru"]}));
        let types: Value = serde_json::from_str(&read(".obsidian/types.json")).unwrap();
        assert_eq!(types["types"]["started"], "datetime");
        assert_eq!(types["types"]["mood"], "text");
        assert_eq!(types["types"]["ended"], "text");
        assert_eq!(read(".obsidian/templates.json"), "{\"folder\":\"My templates\"}");
        assert!(dir.path().join("My templates/New session.md").is_file() && !dir.path().join("templates").exists());
        assert_eq!(read(".gitignore"), "target\n.cru/local/\n/evidence/");
    }

    #[test]
    fn a_type_that_other_notes_give_a_property_stays() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| assert!(files::create(&dir.path().join(path), text.as_bytes()).unwrap());
        put("books/a.md", "\u{feff}---\nstatus: 3\n\"channel\": x\nlist:\n  - model: m\n---\ntokens_used: 1\n");
        put("sessions/a.md", "---\ntype: session\nparent: x\n---\n");
        put("no.md", "status: x\n---\ncommit: x\n---\n");
        scaffold(dir.path(), "x", "UTC").unwrap();
        let types = files::read(&dir.path().join(TYPES)).unwrap();
        let types: Value = serde_json::from_slice(&types).unwrap();
        let types = types["types"].as_object().unwrap();
        assert!(!types.contains_key("status") && !types.contains_key("channel"));
        for own in ["model", "tokens_used", "parent", "commit", "session_id"] {
            assert!(types.contains_key(own), "{own}");
        }
    }

    #[test]
    fn what_is_added_keeps_the_form_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| assert!(files::create(&dir.path().join(path), text.as_bytes()).unwrap());
        let types = "\u{feff}{\r\n\t\"big\": 12345678901234567890123, \"types\": {\r\n\t\t\"started\":   \"datetime\"\r\n\t}\r\n}";
        put(".obsidian/types.json", types);
        put(".gitignore", "target\r\n");
        scaffold(dir.path(), "x", "UTC").unwrap();
        let read = |path: &str| String::from_utf8(files::read(&dir.path().join(path)).unwrap()).unwrap();
        let new = read(".obsidian/types.json");
        let (above, below) = types.split_at(types.find("\r\n\t}").unwrap());
        assert!(new.starts_with(above) && new.ends_with(below) && new.contains("\r\n\t\t\"ended\": \"text\""), "{new}");
        assert!(!new.replace("\r\n", "").contains('\n'), "{new}");
        assert_eq!(read(".gitignore"), "target\r\n/.cru/local/\r\n/evidence/\r\n");
        scaffold(dir.path(), "x", "UTC").unwrap();
        assert_eq!(read(".obsidian/types.json"), new, "a second time changes nothing");
    }

    #[test]
    fn a_graph_view_that_is_there_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".obsidian/graph.json");
        assert!(files::create(&path, b"{\"scale\":2}").unwrap());
        scaffold(dir.path(), "x", "UTC").unwrap();
        assert_eq!(files::read(&path).unwrap(), b"{\"scale\":2}");
    }

    #[test]
    fn the_settings_of_a_new_vault_are_the_defaults() {
        let text = CONFIG.replace("{id}", "x").replace("{zone}", "UTC");
        let path = Path::new("config.toml");
        let (config, warnings) = crate::Config::parse(&text, path).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(config, crate::Config { id: Some("x".to_owned()), ..crate::Config::default() });
        // The keys that are commented out exist, and their values can be read.
        let uncommented = |line: &str| {
            let key = line.strip_prefix("# ").filter(|key| key.contains(" = ") || key.starts_with('['));
            key.unwrap_or(line).to_owned()
        };
        let shown = text.lines().map(uncommented).collect::<Vec<_>>().join("\n");
        let (_, warnings) = crate::Config::parse(&shown, path).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        assert!(shown.matches("\n[").count() > 4);
    }

    #[test]
    fn leaves_broken_settings_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".obsidian/types.json");
        assert!(files::create(&path, b"{ nonsense").unwrap());
        let (changes, problems) = scaffold(dir.path(), "x", "UTC").unwrap();
        assert_eq!(problems.len(), 1);
        assert!(changes.iter().any(|change| change.path == "Sessions.base"));
        assert_eq!(files::read(&path).unwrap(), b"{ nonsense");
    }
}
