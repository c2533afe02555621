//! The agent of the user's own configuration: `[agent] command`, a program that takes a prompt on stdin and answers on
//! stdout. Whoever needs an answer asks here; a vault never names a program.

use crate::base::text::{sanitise, truncate};
use crate::base::{Error, Result};
use crate::commands::{Context, ProgramCall};
use crate::vault::config::{AgentConfig, UserConfig};

/// The variable that a program has that was asked: hooks of its host write nothing of what it does.
pub(in crate::commands) const READER: &str = "CRU_READER";

/// Seconds that an agent may take.
const TIMEOUT: u64 = 300;

/// Programs that are known, with the options by which they take a prompt on stdin, answer on stdout, use no tools that change
/// something, and keep no session of it, as far as they have such options.
pub(in crate::commands) const PRESETS: &[(&str, &[&str])] = &[
    ("claude", &["claude", "-p", "--tools", "", "--no-session-persistence"]),
    ("codex", &["codex", "exec", "--skip-git-repo-check", "--sandbox", "read-only", "--ephemeral", "-"]),
    ("gemini", &["gemini", "--approval-mode", "default"]),
    ("opencode", &["opencode", "run", "--agent", "plan"]),
    ("pi", &["pi", "--print", "--no-tools", "--no-session"]),
    ("llm", &["llm"]),
];

/// How to name one.
const EXAMPLES: &str = "`preset = \"claude\"` (or codex, gemini, opencode, pi, llm), or a `command` of your own: any program that takes a \
                        prompt on stdin and answers on stdout";

/// The agent of the user's own configuration. Error: none is named; `otherwise` says what works without one.
pub(in crate::commands) fn agent(cx: &Context<'_>, otherwise: &str) -> Result<AgentConfig> {
    let (config, _) = UserConfig::read(cx.env)?;
    let path = || cx.env.config_dir().unwrap_or_default().join("config.toml");
    named(config.agent)?.filter(|agent| !agent.command.is_empty()).ok_or_else(|| {
        Error::usage("no agent is named that could do it")
            .with_hint(format!("write `[agent]` into {} with {EXAMPLES}{otherwise}", path().display()))
    })
}

/// The agent with the command of its preset, where it has none of its own; `None` where it names neither.
pub(in crate::commands) fn named(agent: AgentConfig) -> Result<Option<AgentConfig>> {
    if !agent.command.is_empty() {
        return Ok(Some(agent));
    }
    let Some(preset) = agent.preset.clone() else { return Ok(None) };
    let Some((name, command)) = PRESETS.iter().find(|(name, _)| *name == preset) else {
        let known: Vec<&str> = PRESETS.iter().map(|(name, _)| *name).collect();
        return Err(Error::usage(format!("[agent] preset = '{}': no such preset", sanitise(&preset)))
            .with_hint(format!("use one of {}, or a `command` of your own", known.join(", "))));
    };
    let command = command.iter().map(|word| (*word).to_owned()).collect();
    Ok(Some(AgentConfig { command, model: agent.model.clone().or_else(|| Some((*name).to_owned())), ..agent }))
}

/// What the agent says; why there is nothing, in words.
pub(in crate::commands) fn ask(agent: &AgentConfig, prompt: &str, cx: &Context<'_>) -> Result<String, String> {
    let name = agent.command.first().map_or("", String::as_str);
    let seconds = agent.timeout.unwrap_or(TIMEOUT);
    cx.ui.detail(&format!("asking {name}"));
    // An empty folder: nothing of a project is at hand, and no instructions of one are read.
    let answer = tempfile::tempdir().and_then(|dir| {
        let vars = [(READER, Some(std::ffi::OsStr::new("1")))];
        cx.ui.ask_in(&ProgramCall { command: &agent.command, dir: dir.path(), vars: &vars }, prompt, seconds)
    });
    let answer = answer.map_err(|error| format!("could not start the agent '{name}': {error}"))?;
    let said = answer.errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("").trim();
    let said = truncate(&sanitise(said), 200).into_owned();
    let said = if said.is_empty() { said } else { format!(": {said}") };
    if answer.timed_out {
        return Err(format!("the agent '{name}' took longer than {seconds} s (`[agent] timeout` allows more){said}"));
    }
    match answer.code {
        Some(0) if answer.text.trim().is_empty() => Err(format!("the agent '{name}' said nothing{said}")),
        Some(0) => Ok(answer.text),
        Some(code) => Err(format!("the agent '{name}' failed with exit code {code}{said}")),
        None => Err(format!("the agent '{name}' was ended{said}")),
    }
}

/// An answer that could not be used, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::commands) struct Refused {
    /// The answer.
    pub(in crate::commands) answer: String,
    /// What is wrong with it, a line each.
    pub(in crate::commands) errors: String,
}

/// What came of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Asked<T> {
    /// An answer that can be used.
    Taken(T),
    /// Both answers could not be used; the last one.
    Refused(Refused),
    /// The agent could not be asked, in words; with the first answer, where that could not be used and the second question
    /// failed.
    Silent(String, Option<Refused>),
}

/// Asks the agent, and once more where its answer cannot be used. `prompt` makes the prompt, the second time with what was
/// wrong; `judge` takes an answer (`true`: the last one) or says what is wrong with it. Error: the prompt cannot be made.
pub(in crate::commands) fn ask_twice<T>(
    agent: &AgentConfig,
    cx: &Context<'_>,
    prompt: &mut dyn FnMut(Option<&Refused>) -> Result<String>,
    judge: &mut dyn FnMut(&str, bool) -> Result<T, String>,
) -> Result<Asked<T>> {
    let mut refused: Option<Refused> = None;
    for last in [false, true] {
        let text = prompt(refused.as_ref())?;
        let answer = match ask(agent, &text, cx) {
            Ok(answer) => answer,
            Err(why) => return Ok(Asked::Silent(why, refused)),
        };
        match judge(&answer, last) {
            Ok(taken) => return Ok(Asked::Taken(taken)),
            Err(errors) => refused = Some(Refused { answer, errors }),
        }
    }
    Ok(Asked::Refused(refused.unwrap_or_default()))
}
