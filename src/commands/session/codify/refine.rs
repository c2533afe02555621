//! `--refine`: an agent is asked, its answer is judged, and nothing is lost whatever it says.

use std::path::{Path, PathBuf};

use super::made::Made;
use crate::base::text::sanitise;
use crate::base::{Diagnostic, Lines, Result, files};
use crate::commands::Context;
use crate::commands::agent::{Asked, Refused, ask_twice};
use crate::vault::config::AgentConfig;
use crate::vault::template::{Kind, Template};
use crate::workflow::refine::{Cited, accept_cited, fenced, markdown};
use crate::workflow::{Workflow, ledger, render_as};

/// Bytes of the ledgers of all sessions, where each entry may be shortened to that.
const MAX_LEDGER: usize = 160_000;

/// Asks the agent, once more where its answer cannot be used. Either the refined workflow takes the place of the extract, or
/// the answer is kept beside it.
pub(super) fn refine(agent: &AgentConfig, made: &mut Made, output: Option<&Path>, cx: &Context<'_>) -> Result<()> {
    let template = match &made.vault {
        Some(vault) => Template::of(vault, Kind::Refine)?,
        None => Template::built_in(Kind::Refine),
    };
    let room = MAX_LEDGER / made.sessions.len().max(1);
    let ledgers: Vec<String> = made.sessions.iter().map(|session| ledger::ledger(session, room)).collect();
    let cited = Cited::of(&made.sessions);
    let (extract, session) = (fenced(&made.markdown), fenced(&ledgers.join("\n\n")));
    let mut prompt = |refused: Option<&Refused>| {
        let mut values = vec![("extract", extract.as_str()), ("session", session.as_str())];
        let before = refused.map(|refused| fenced(&refused.answer)).unwrap_or_default();
        if let Some(refused) = refused {
            values.extend([("errors", refused.errors.as_str()), ("answer", before.as_str())]);
        }
        template.fill(&values)
    };
    let mut judge = |answer: &str, last: bool| -> std::result::Result<Workflow, String> {
        accept_cited(&made.workflow, &cited, answer, last).map_err(|problems| told(answer, &problems))
    };
    match ask_twice(agent, cx, &mut prompt, &mut judge)? {
        Asked::Taken(workflow) => {
            let text = render_as(&workflow, made.dialect);
            let diff = similar::TextDiff::from_lines(&made.markdown, &text);
            let diff = diff.unified_diff().context_radius(2).header("extract", "refined").to_string();
            if output.is_none() {
                for line in diff.lines() {
                    cx.ui.note(line);
                }
            }
            (made.refined, made.workflow, made.markdown) = (Some(diff), workflow, text);
        }
        Asked::Silent(why, refused) => {
            cx.ui.warn(&format!("{why}; the workflow is as it was extracted"));
            // What was said the first time is kept all the same.
            made.refused = match refused {
                Some(refused) => Some(keep(&refused.answer, made, output, cx)?),
                None => Some(PathBuf::new()),
            };
        }
        Asked::Refused(refused) => {
            let path = keep(&refused.answer, made, output, cx)?;
            for line in refused.errors.lines() {
                cx.ui.note(line);
            }
            cx.ui.warn(&format!(
                "the agent's answer could not be used twice; it is kept in {}, and the workflow is as it was extracted",
                path.display()
            ));
            made.refused = Some(path);
        }
    }
    Ok(())
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
