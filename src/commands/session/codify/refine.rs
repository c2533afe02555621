//! `--refine`: an agent is asked, its answer is judged, and nothing is lost whatever it says.

use std::path::{Path, PathBuf};

use super::made::Made;
use crate::base::text::{sanitise, truncate};
use crate::base::{Diagnostic, Error, Lines, Result, files};
use crate::commands::Context;
use crate::vault::config::{AgentConfig, UserConfig};
use crate::vault::template::{Kind, Template};
use crate::workflow::refine::{accept, fenced, markdown};
use crate::workflow::render_as;

/// Seconds that an agent may take.
const TIMEOUT: u64 = 300;

/// Examples for the message that says how to name one.
pub(in crate::commands) const EXAMPLES: &str = "for example `command = [\"claude\", \"-p\"]`, `[\"codex\", \"exec\", \"-\"]`, `[\"gemini\"]` or \
                        `[\"llm\"]`: any program that takes a prompt on stdin and answers on stdout";

/// The agent of the user's own configuration.
pub(super) fn agent(cx: &Context<'_>) -> Result<AgentConfig> {
    let (config, _) = UserConfig::read(cx.env)?;
    if config.agent.command.is_empty() {
        let path = cx.env.config_dir().unwrap_or_default().join("config.toml");
        return Err(Error::usage("no agent is named that could refine it")
            .with_hint(format!("write `[agent]` with a `command` into {}; {EXAMPLES}", path.display())));
    }
    Ok(config.agent)
}

/// Asks the agent, once more where its answer cannot be used. Either the refined workflow takes the place of the extract, or
/// the answer is kept beside it.
pub(super) fn refine(agent: &AgentConfig, made: &mut Made, output: Option<&Path>, cx: &Context<'_>) -> Result<()> {
    let template = match &made.vault {
        Some(vault) => Template::of(vault, Kind::Refine)?,
        None => Template::built_in(Kind::Refine),
    };
    let (extract, session) = (fenced(&made.markdown), fenced(&made.texts.join("\n\n")));
    let (mut errors, mut before) = (String::new(), String::new());
    let mut last = String::new();
    for attempt in 0..2 {
        let mut values = vec![("extract", extract.as_str()), ("session", session.as_str())];
        if attempt == 1 {
            values.extend([("errors", errors.as_str()), ("answer", before.as_str())]);
        }
        let prompt = template.fill(&values)?;
        let answer = match ask(agent, &prompt, cx) {
            Ok(answer) => answer,
            Err(why) => {
                cx.ui.warn(&format!("{why}; the workflow is as it was extracted"));
                // What was said the first time is kept all the same.
                made.refused =
                    if last.is_empty() { Some(PathBuf::new()) } else { Some(keep(&last, made, output, cx)?) };
                return Ok(());
            }
        };
        match accept(&made.workflow, &answer) {
            Ok(workflow) => {
                let text = render_as(&workflow, made.dialect);
                let diff = similar::TextDiff::from_lines(&made.markdown, &text);
                let diff = diff.unified_diff().context_radius(2).header("extract", "refined").to_string();
                if output.is_none() {
                    for line in diff.lines() {
                        cx.ui.note(line);
                    }
                }
                (made.refined, made.workflow, made.markdown) = (Some(diff), workflow, text);
                return Ok(());
            }
            Err(problems) => {
                errors = told(&answer, &problems);
                before = fenced(&answer);
                last = answer;
            }
        }
    }
    let path = keep(&last, made, output, cx)?;
    for line in errors.lines() {
        cx.ui.note(line);
    }
    cx.ui.warn(&format!(
        "the agent's answer could not be used twice; it is kept in {}, and the workflow is as it was extracted",
        path.display()
    ));
    made.refused = Some(path);
    Ok(())
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

/// Problems with the lines of the answer's markdown, as one text.
fn told(answer: &str, problems: &[Diagnostic]) -> String {
    let text = markdown(answer);
    let lines = Lines::of(&text);
    let mut out = String::new();
    for problem in problems.iter().take(20) {
        let (line, _) = lines.place(&text, problem.span.start);
        out.push_str(&format!("- line {line}: {}\n", sanitise(&problem.message)));
    }
    out
}

/// Keeps an answer beside the output, else in the machine's state; where.
fn keep(answer: &str, made: &Made, output: Option<&Path>, cx: &Context<'_>) -> Result<PathBuf> {
    let (dir, stem) = if let Some(output) = output {
        let stem = output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        (output.parent().map(Path::to_owned).unwrap_or_default(), stem)
    } else {
        let state = cx.env.state_dir();
        (state.unwrap_or_else(|| cx.env.cwd().to_owned()).join("refused"), made.stem.clone())
    };
    // Not a note: nobody should take it for a workflow.
    let mut number = 1;
    loop {
        let name = if number == 1 { format!("{stem}.refused.txt") } else { format!("{stem}.refused-{number}.txt") };
        let path = dir.join(name);
        if files::create(&path, answer.as_bytes())? {
            return Ok(path);
        }
        number += 1;
    }
}
