//! Where agents keep their transcripts on this machine.
//!
//! The table of importers says it for a machine on which nobody changed anything; an agent's own variables move its
//! folder. They are looked at by folder and not by agent, so an importer need not think of it.

use std::path::{Path, PathBuf};

use cru_base::Env;
use cru_session::agent_table;
use cru_session::source::Importer;

/// Variables of the system, and the folders that they move.
const OF_THE_SYSTEM: &[(&str, &str, &str)] =
    &[("XDG_DATA_HOME", "~/.local/share", ""), ("XDG_CONFIG_HOME", "~/.config", "")];

/// The folders of an agent, in the order of the table, each once; whether there is anything is not asked.
pub fn of(importer: &Importer, env: &Env) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in importer.agent().places.iter().flat_map(|place| expand_all(place, env)).flat_map(|path| named_so(&path))
    {
        if !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

/// A folder of an agent, as the table writes it: on this machine. Of several the first.
pub fn expand(place: &str, env: &Env) -> Option<PathBuf> {
    expand_all(place, env).into_iter().next()
}

fn expand_all(place: &str, env: &Env) -> Vec<PathBuf> {
    let of_agents = agent_table::all().iter().flat_map(|agent| &agent.moved);
    let of_agents = of_agents.map(|moved| (moved.variable.as_str(), moved.folder.as_str(), moved.below.as_str()));
    // The first that is set and fits counts.
    for (var, folder, below) in of_agents.chain(OF_THE_SYSTEM.iter().copied()) {
        let rest = place.strip_prefix(folder).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        if let Some((rest, to)) = rest.zip(env.var(var)) {
            let at = |to: String| join(join(env.cwd().join(to), below), rest);
            return folders(to, env).into_iter().map(at).collect();
        }
    }
    match place.strip_prefix('~') {
        Some(rest) => env.home().map(|home| join(home.to_owned(), rest)).into_iter().collect(),
        None => vec![PathBuf::from(place)],
    }
}

/// The folders that a variable names: one, or a list.
fn folders(value: &str, env: &Env) -> Vec<String> {
    let long = |part: &str| match (part.strip_prefix("~/"), env.home()) {
        (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
        _ => part.to_owned(),
    };
    // A folder may have any name.
    if env.cwd().join(value).is_dir() {
        return vec![value.to_owned()];
    }
    let parts = value.split(',').flat_map(|part| std::env::split_paths(part.trim()).collect::<Vec<_>>());
    let parts = parts.map(|part| part.to_string_lossy().into_owned()).filter(|part| !part.is_empty());
    parts.map(|part| long(&part)).collect()
}

/// What is there of a path with a `*` in some of its names; a path without one as it is.
fn named_so(path: &Path) -> Vec<PathBuf> {
    let (mut found, mut is_sure) = (vec![PathBuf::new()], true);
    for part in path.components() {
        let name = part.as_os_str().to_string_lossy();
        found = match name.split_once('*') {
            None => found.into_iter().map(|path| path.join(part)).filter(|path| is_sure || path.exists()).collect(),
            Some((start, end)) => {
                is_sure = false;
                found.iter().flat_map(|folder| entries(folder, start, end)).collect()
            }
        };
    }
    found
}

/// What lies in a folder under a name that begins and ends so.
fn entries(folder: &Path, start: &str, end: &str) -> Vec<PathBuf> {
    let fits = |name: &str| name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.filter(|entry| fits(&entry.file_name().to_string_lossy())).map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// A folder below another, which stays as it was written where there is nothing below it.
fn join(folder: PathBuf, rest: &str) -> PathBuf {
    match rest.trim_start_matches('/') {
        "" => folder,
        rest => folder.join(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(place: &str, vars: &[(&str, &str)]) -> Option<String> {
        let env = Env::fixed("2026-11-20T12:00:00Z".parse().unwrap(), "/home/mara/api", vars);
        expand(place, &env).map(|path| path.to_string_lossy().into_owned())
    }

    #[test]
    fn a_star_stands_for_any_name() {
        let temp = tempfile::tempdir().unwrap();
        for name in ["a.db", "a-one.db", "a-.txt", "b-two.db", "a-two.db"] {
            cru_base::files::create(&temp.path().join(name), b"x").unwrap();
        }
        let of = |name: &str| {
            let found = named_so(&temp.path().join(name)).into_iter();
            found.map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of("a-*.db"), ["a-one.db", "a-two.db"]);
        cru_base::files::create(&temp.path().join("a-two.db.d/in/c.db"), b"x").unwrap();
        cru_base::files::create(&temp.path().join("b-two.db.d/in/d"), b"x").unwrap();
        assert_eq!((of("*.d/in/c.db"), of("*.d/on")), (vec!["c.db".to_owned()], Vec::new()));
        assert_eq!((of("a.db"), of("none")), (vec!["a.db".to_owned()], vec!["none".to_owned()]));
    }

    /// Editors that are made of the same source keep sessions in folders of their own names.
    #[test]
    fn editors_of_any_name_are_looked_into() {
        let home = tempfile::tempdir().unwrap();
        let task = "User/globalStorage/saoudrizwan.claude-dev/tasks";
        let wanted =
            [("vscode", ".config/Surf/User/workspaceStorage"), ("cline", &format!(".cursor-server/data/{task}"))];
        for (agent, place) in wanted {
            cru_base::files::create(&home.path().join(place).join("a/b.json"), b"x").unwrap();
            let vars = [("HOME", home.path().to_str().unwrap())];
            let env = Env::fixed("2026-11-20T12:00:00Z".parse().unwrap(), "/w", &vars);
            assert!(of(crate::find(agent).unwrap(), &env).contains(&home.path().join(place)), "{place}");
        }
    }

    #[test]
    fn variables_move_folders() {
        let home = ("HOME", "/home/mara");
        assert_eq!(at("~/.codex/sessions", &[home]).as_deref(), Some("/home/mara/.codex/sessions"));
        assert_eq!(at("~/.codex/sessions", &[home, ("CODEX_HOME", "/x")]).as_deref(), Some("/x/sessions"));
        assert_eq!(at("~/.codex/sessions", &[home, ("CODEX_HOME", "")]).as_deref(), Some("/home/mara/.codex/sessions"));
        assert_eq!(
            at("~/.claude/projects", &[("CLAUDE_CONFIG_DIR", "c")]).as_deref(),
            Some("/home/mara/api/c/projects")
        );
        let gemini = [home, ("GEMINI_CLI_HOME", "/g")];
        assert_eq!(at("~/.gemini/tmp", &gemini).as_deref(), Some("/g/.gemini/tmp"));
        let both = [("PI_CODING_AGENT_DIR", "/a"), ("PI_CODING_AGENT_SESSION_DIR", "/s")];
        assert_eq!(at("~/.pi/agent/sessions", &both).as_deref(), Some("/s"));
        assert_eq!(at("~/.pi/agent/sessions", &both[..1]).as_deref(), Some("/a/sessions"));
        assert_eq!(at("~/.claudette", &[home, ("CLAUDE_CONFIG_DIR", "/c")]).as_deref(), Some("/home/mara/.claudette"));
        let all = |value: &str| {
            let env = Env::fixed(
                "2026-11-20T12:00:00Z".parse().unwrap(),
                "/home/mara/api",
                &[home, ("CLAUDE_CONFIG_DIR", value)],
            );
            let all = expand_all("~/.claude/projects", &env).into_iter();
            all.map(|path| path.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(all("/a, ~/b"), ["/a/projects", "/home/mara/b/projects"]);
        #[cfg(unix)]
        assert_eq!(all("/a:/b"), ["/a/projects", "/b/projects"]);
        assert_eq!(at("~/.codex", &[]), None, "no home is known");
        assert_eq!(at("/var/x", &[]).as_deref(), Some("/var/x"));
    }
}
