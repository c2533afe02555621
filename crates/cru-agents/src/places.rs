//! Where agents keep their transcripts on this machine.
//!
//! The table of importers says it for a machine on which nobody changed anything; an agent's own variables move its
//! folder. They are looked at by folder and not by agent, so an importer need not think of it.

use std::path::PathBuf;

use cru_base::Env;
use cru_session::agent_table;
use cru_session::source::Importer;

/// Variables of the system, and the folders that they move.
const OF_THE_SYSTEM: &[(&str, &str, &str)] =
    &[("XDG_DATA_HOME", "~/.local/share", ""), ("XDG_CONFIG_HOME", "~/.config", "")];

/// The folders of an agent, in the order of the table; whether there is anything is not asked.
pub fn of(importer: &Importer, env: &Env) -> Vec<PathBuf> {
    importer.agent().places.iter().filter_map(|place| expand(place, env)).collect()
}

/// A folder of an agent, as the table writes it: on this machine.
pub fn expand(place: &str, env: &Env) -> Option<PathBuf> {
    let of_agents = agent_table::all().iter().flat_map(|agent| &agent.moved);
    let of_agents = of_agents.map(|moved| (moved.variable.as_str(), moved.folder.as_str(), moved.below.as_str()));
    // The first that is set and fits counts.
    for (var, folder, below) in of_agents.chain(OF_THE_SYSTEM.iter().copied()) {
        let rest = place.strip_prefix(folder).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        if let Some((rest, to)) = rest.zip(env.var(var)) {
            return Some(join(join(env.cwd().join(to), below), rest));
        }
    }
    match place.strip_prefix('~') {
        Some(rest) => Some(join(env.home()?.to_owned(), rest)),
        None => Some(PathBuf::from(place)),
    }
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
        assert_eq!(at("~/.codex", &[]), None, "no home is known");
        assert_eq!(at("/var/x", &[]).as_deref(), Some("/var/x"));
    }
}
