//! The agent of the user's own configuration: `[agent] command`, a program that takes a prompt on stdin and answers on
//! stdout. Whoever needs an answer asks here; a vault never names a program.

use crate::base::text::{sanitise, truncate};
use crate::base::{Error, Result};
use crate::commands::Context;
use crate::vault::config::{AgentConfig, UserConfig};

/// Seconds that an agent may take.
const TIMEOUT: u64 = 300;

/// Examples for the message that says how to name one.
const EXAMPLES: &str = "for example `command = [\"claude\", \"-p\"]`, `[\"codex\", \"exec\", \"-\"]`, `[\"gemini\"]` or \
                        `[\"llm\"]`: any program that takes a prompt on stdin and answers on stdout";

/// The agent of the user's own configuration. Error: none is named; `otherwise` says what works without one.
pub(in crate::commands) fn agent(cx: &Context<'_>, otherwise: &str) -> Result<AgentConfig> {
    let (config, _) = UserConfig::read(cx.env)?;
    if config.agent.command.is_empty() {
        let path = cx.env.config_dir().unwrap_or_default().join("config.toml");
        return Err(Error::usage("no agent is named that could do it")
            .with_hint(format!("write `[agent]` with a `command` into {}; {EXAMPLES}{otherwise}", path.display())));
    }
    Ok(config.agent)
}

/// What the agent says; why there is nothing, in words.
pub(in crate::commands) fn ask(agent: &AgentConfig, prompt: &str, cx: &Context<'_>) -> Result<String, String> {
    let name = agent.command.first().map_or("", String::as_str);
    let seconds = agent.timeout.unwrap_or(TIMEOUT);
    cx.ui.detail(&format!("asking {name}"));
    let answer = cx.ui.ask(&agent.command, prompt, seconds);
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
