//! The command line that continues a session, made from the table of agents.
//!
//! A command is a program and its arguments, never a line for a shell. What a note says goes into an argument only
//! after it was looked at: an id that a program could take for an option is not used.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use cru_base::{Env, program};
use cru_session::{Meta, agent_table};
use cru_vault::config::{HostConfig, ResumeConfig, expand_home};

/// A program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Command {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where it starts.
    #[serde(serialize_with = "lossy")]
    pub cwd: PathBuf,
    /// Whether the folder that the session worked in is not there: `cwd` is the current one then.
    pub is_away: bool,
    /// Whether it goes on with the host's own session, instead of a new one that is given the pack.
    pub native: bool,
}

fn lossy<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&path.to_string_lossy())
}

/// What the placeholders of a command mean.
#[derive(Clone, Copy, Debug)]
pub struct Filling<'a> {
    /// `{session}`.
    pub session: &'a str,
    /// `{pack}`.
    pub pack: &'a str,
}

/// The name of the host: the note's, else the vault's `[resume] host`.
pub fn name<'a>(meta: &'a Meta, config: &'a ResumeConfig) -> Option<&'a str> {
    let named = [meta.host.as_deref(), config.host.as_deref()];
    named.into_iter().flatten().map(str::trim).find(|name| !name.is_empty())
}

/// The command that goes on with a session; `None` where none is known for its host.
///
/// `own` are the user's commands by host, in place of the built-in ones.
pub fn command(
    meta: &Meta,
    config: &ResumeConfig,
    own: &BTreeMap<String, HostConfig>,
    env: &Env,
    filling: Filling<'_>,
) -> Option<Command> {
    let name = name(meta, config)?;
    let known = agent_table::by_host(name);
    // The configuration may name the host by any of its names.
    let own = own.get(name).or_else(|| {
        let agent = known?;
        [&agent.host].into_iter().chain(&agent.aliases).find_map(|name| own.get(name))
    });
    let pick = |own: Option<&Vec<String>>, known: Option<&Vec<String>>| -> Vec<String> {
        own.filter(|line| !line.is_empty()).or(known).cloned().unwrap_or_default()
    };
    let resume = pick(own.map(|own| &own.resume), known.map(|agent| &agent.resume));
    let start = pick(own.map(|own| &own.start), known.map(|agent| &agent.start));
    let transcript = transcript(meta, env);
    let host_session = meta.host_session.as_deref().filter(|id| is_plain(id));
    let native = !resume.is_empty() && host_session.is_some() && transcript.is_some();
    let line = if native { resume } else { start };
    let project = meta.project.as_deref().and_then(|project| expand_home(project, env));
    let project = project.filter(|project| project.is_absolute() && project.is_dir());
    let is_away = meta.project.is_some() && project.is_none();
    let cwd = project.unwrap_or_else(|| env.cwd().to_owned());
    let transcript = transcript.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = cwd.to_string_lossy().into_owned();
    let values = [
        ("{host_session}", host_session.unwrap_or_default()),
        ("{session}", if is_plain(filling.session) { filling.session } else { "" }),
        ("{transcript}", transcript.as_str()),
        ("{project}", folder.as_str()),
        ("{pack}", filling.pack),
    ];
    let mut words = line.iter().map(|word| fill(word, &values));
    let program = words.next().filter(|program| !program.trim().is_empty())?;
    Some(Command { program, args: words.collect(), cwd, is_away, native })
}

/// The hosts that a session can be started with.
pub fn startable() -> impl Iterator<Item = &'static str> {
    agent_table::all().iter().filter(|agent| !agent.start.is_empty()).map(|agent| agent.host.as_str())
}

/// The command that goes on with a session under the host that `named` means: natively where the session is that host's
/// own, else a new one that is given the pack. `None` where no command is known.
pub fn command_of(
    named: &str,
    meta: &Meta,
    config: &ResumeConfig,
    own: &BTreeMap<String, HostConfig>,
    env: &Env,
    filling: Filling<'_>,
) -> Option<Command> {
    let agent = |name: &str| {
        let entry = agent_table::by_host(name).or_else(|| agent_table::by_id(name));
        entry.map_or_else(|| name.to_owned(), |it| it.host.clone())
    };
    let wanted = agent(named.trim());
    let is_own = meta.host.as_deref().is_some_and(|host| agent(host.trim()) == wanted);
    let meta = if is_own {
        meta.clone()
    } else {
        // The session of another host means nothing to this one.
        Meta { host: Some(wanted), host_session: None, ..meta.clone() }
    };
    command(&meta, config, own, env, filling)
}

/// Puts in what placeholders mean; what was put in is not looked at again.
fn fill(word: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some((name, value)) = values.iter().find(|(name, _)| rest.starts_with(name)) {
            // No program can be given a zero byte.
            out.extend(value.chars().filter(|c| *c != '\0'));
            rest = &rest[name.len()..];
        } else {
            out.push('{');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out
}

/// Whether an id is one word that no program takes for an option or a path.
fn is_plain(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= 200
        && id.starts_with(char::is_alphanumeric)
        && id.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':'))
}

/// The transcript of a session, where it can be read.
pub fn transcript(meta: &Meta, env: &Env) -> Option<PathBuf> {
    let path = expand_home(meta.transcript.as_deref()?.trim(), env)?;
    (path.is_absolute() && cru_base::files::open_regular(&path).is_ok()).then_some(path)
}

/// Where a program is that a name means: in `PATH`, or the path itself.
pub fn find(program: &str, env: &Env) -> Option<PathBuf> {
    if program.contains('/') || program.contains(std::path::MAIN_SEPARATOR) {
        let path = expand_home(program, env).map(|path| env.cwd().join(path));
        return path.filter(|path| program::is_executable(path));
    }
    program::find(program, env)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_vault::config::HostConfig;

    fn meta(host: &str) -> Meta {
        Meta {
            host: Some(host.to_owned()),
            host_session: Some("949d76fb".to_owned()),
            session_id: Some("2026-11-20-auth".to_owned()),
            ..Meta::default()
        }
    }

    fn line(meta: &Meta, config: &ResumeConfig, env: &Env) -> Option<Vec<String>> {
        line_of(meta, config, &BTreeMap::new(), env)
    }

    fn line_of(
        meta: &Meta,
        config: &ResumeConfig,
        own: &BTreeMap<String, HostConfig>,
        env: &Env,
    ) -> Option<Vec<String>> {
        let filling = Filling { session: "2026-11-20-auth", pack: "Go on.\n{session}" };
        let command = command(meta, config, own, env, filling)?;
        Some(std::iter::once(command.program).chain(command.args).collect())
    }

    fn env(vars: &[(&str, &str)]) -> Env {
        Env::fixed(jiff::Timestamp::UNIX_EPOCH, "/", vars)
    }

    #[test]
    fn every_known_host_starts_with_the_pack() {
        for agent in agent_table::all().iter().filter(|agent| !agent.start.is_empty()) {
            let line = line(&meta(&agent.host), &ResumeConfig::default(), &env(&[])).unwrap();
            assert_eq!(line.last().unwrap(), "Go on.\n{session}", "the pack is not looked at again");
        }
        assert_eq!(line(&meta("typewriter"), &ResumeConfig::default(), &env(&[])), None);
        assert_eq!(line(&Meta::default(), &ResumeConfig::default(), &env(&[])), None);
    }

    #[test]
    fn goes_on_natively_where_the_transcript_is_there() {
        let temp = tempfile::tempdir().unwrap();
        cru_base::files::create(&temp.path().join("t.jsonl"), b"{}").unwrap();
        let home = temp.path().to_str().unwrap();
        let env = env(&[("HOME", home)]);
        let mut meta = Meta { transcript: Some("~/t.jsonl".to_owned()), ..meta("claude-code") };
        let config = ResumeConfig::default();
        assert_eq!(line(&meta, &config, &env).unwrap(), ["claude", "--resume", "949d76fb"]);
        meta.host = Some("pi".to_owned());
        assert_eq!(line(&meta, &config, &env).unwrap(), ["pi", "--session", &format!("{home}/t.jsonl")]);
        for odd in ["--dangerously-skip-permissions", "a b", "../x", "", "a/agent-1"] {
            meta.host_session = Some(odd.to_owned());
            assert_eq!(line(&meta, &config, &env).unwrap()[..1], ["pi"], "{odd}");
            assert!(!line(&meta, &config, &env).unwrap().iter().any(|word| word == odd), "{odd}");
        }
        meta.transcript = Some("~/t.jsonl".to_owned());
        meta.host_session = Some("949d76fb".to_owned());
        // What the importer writes, what a person may write, and an agent without hooks.
        for (host, program) in [("gemini-cli", "gemini"), ("Gemini", "gemini"), ("hermes", "hermes")] {
            meta.host = Some(host.to_owned());
            assert_eq!(line(&meta, &config, &env).unwrap(), [program, "--resume", "949d76fb"]);
        }
        meta.host = Some("pi".to_owned());
        meta.transcript = Some("~/gone.jsonl".to_owned());
        assert_eq!(line(&meta, &config, &env).unwrap().len(), 2);
    }

    #[test]
    fn a_session_goes_on_under_another_host() {
        let temp = tempfile::tempdir().unwrap();
        cru_base::files::create(&temp.path().join("t.jsonl"), b"{}").unwrap();
        let env = env(&[("HOME", temp.path().to_str().unwrap())]);
        let meta = Meta { transcript: Some("~/t.jsonl".to_owned()), ..meta("claude-code") };
        let under = |named: &str| {
            let filling = Filling { session: "s", pack: "Go on." };
            let command = command_of(named, &meta, &ResumeConfig::default(), &BTreeMap::new(), &env, filling)?;
            Some(std::iter::once(command.program).chain(command.args).collect::<Vec<_>>())
        };
        assert_eq!(under("claude").unwrap(), ["claude", "--resume", "949d76fb"], "its own session");
        for host in startable().filter(|host| *host != "claude-code") {
            let line = under(host).unwrap();
            assert_eq!(line.last().unwrap(), "Go on.", "{host}");
            assert!(!line.iter().any(|word| word == "949d76fb"), "{host}");
        }
        assert_eq!(under("Gemini").unwrap(), ["gemini", "--prompt-interactive", "Go on."]);
        assert_eq!(under("typewriter"), None);
    }

    #[test]
    fn the_user_may_name_other_commands() {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let own =
            HostConfig { resume: Vec::new(), start: words(&["wrap", "--in={project}", "{session}", "{x}{pack}"]) };
        let hosts = [("claude-code".to_owned(), own)].into_iter().collect();
        let config = ResumeConfig { host: Some("claude-code".to_owned()), ..ResumeConfig::default() };
        let wanted = ["wrap", "--in=/", "2026-11-20-auth", "{x}Go on.\n{session}"];
        assert_eq!(line_of(&meta("claude-code"), &config, &hosts, &env(&[])).unwrap(), wanted);
        let none = Meta { host: None, ..meta("") };
        assert_eq!(line_of(&none, &config, &hosts, &env(&[])).unwrap(), wanted, "the vault's host stands in");
    }
}
