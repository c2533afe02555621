//! `--refine`: somebody writes a recipe from the skeleton and the record; it is judged, and nothing is lost whatever it says.

use std::path::{Path, PathBuf};

use super::made::Made;
use crate::base::text::sanitise;
use crate::base::{Diagnostic, Error, Lines, Result, files};
use crate::commands::Context;
use crate::commands::agent::{Asked, Refused, ask_twice};
use crate::commands::read::recorded;
use crate::vault::config::AgentConfig;
use crate::vault::template::{Kind, Template};
use crate::workflow::recipe::{Cited, Recipe, accept, fenced, markdown};
use crate::workflow::render_as;

/// Bytes of the ledgers of all sessions, where each line may be shortened to that.
const MAX_LEDGER: usize = 160_000;

/// What is asked.
struct Question {
    template: Template,
    extract: String,
    brief: String,
    session: String,
    /// What the answer is compared with.
    cited: Cited,
}

impl Question {
    fn of(made: &Made, cx: &Context<'_>) -> Result<Self> {
        let template = match &made.vault {
            Some(vault) => Template::of(vault, Kind::Refine)?,
            None => Template::built_in(Kind::Refine),
        };
        let room = MAX_LEDGER / made.sessions.len().max(1);
        let recorded = |session| recorded(session, false, made.vault.as_ref(), cx);
        let (ledgers, records): (Vec<_>, Vec<_>) = made.sessions.iter().map(recorded).unzip();
        let ledgers: Vec<String> = ledgers.iter().map(|ledger| ledger.within(room)).collect();
        let cited = Cited::of(made.sessions.iter().zip(records));
        let brief = if made.brief.is_empty() { String::new() } else { fenced(&made.brief) };
        Ok(Self { template, extract: fenced(&made.markdown), brief, session: fenced(&ledgers.join("\n\n")), cited })
    }

    fn prompt(&self, refused: Option<&Refused>) -> Result<String> {
        let mut values = vec![
            ("extract", self.extract.as_str()),
            ("brief", self.brief.as_str()),
            ("session", self.session.as_str()),
        ];
        let before = refused.map(|refused| fenced(&refused.answer)).unwrap_or_default();
        if let Some(refused) = refused {
            values.extend([("errors", refused.errors.as_str()), ("answer", before.as_str())]);
        }
        self.template.fill(&values)
    }
}

/// The prompt, for whoever asks an agent by hand.
pub(super) fn prompt(made: &Made, cx: &Context<'_>) -> Result<String> {
    Question::of(made, cx)?.prompt(None)
}

/// Takes an answer that somebody has got.
pub(super) fn take(answer: &str, made: &mut Made, cx: &Context<'_>) -> Result<()> {
    let question = Question::of(made, cx)?;
    let recipe = accept(&made.workflow, &question.cited, answer, true).map_err(|problems| {
        Error::usage(format!("the answer cannot be used; nothing was written\n{}", told(answer, &problems).trim_end()))
            .with_hint("correct it, or ask again with `cru session codify --refine --prompt`")
    })?;
    taken(recipe, made, false, cx);
    Ok(())
}

/// Asks the agent, once more where its answer cannot be used. Either the recipe takes the place of the skeleton, or the answer is
/// kept beside it.
pub(super) fn refine(agent: &AgentConfig, made: &mut Made, output: Option<&Path>, cx: &Context<'_>) -> Result<()> {
    let question = Question::of(made, cx)?;
    let mut prompt = |refused: Option<&Refused>| question.prompt(refused);
    let mut judge = |answer: &str, last: bool| -> std::result::Result<Recipe, String> {
        accept(&made.workflow, &question.cited, answer, last).map_err(|problems| told(answer, &problems))
    };
    match ask_twice(agent, cx, &mut prompt, &mut judge)? {
        Asked::Taken(recipe) => taken(recipe, made, output.is_none(), cx),
        Asked::Silent(why, refused) => {
            cx.ui.warn(&format!("{why}; there is no recipe, only the skeleton"));
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
                "the agent's answer could not be used twice; it is kept in {}, and there is no recipe, only the skeleton",
                path.display()
            ));
            made.refused = Some(path);
        }
    }
    Ok(())
}

/// Puts a recipe in the place of the skeleton, and says what was changed in it.
fn taken(recipe: Recipe, made: &mut Made, shows_diff: bool, cx: &Context<'_>) {
    let text = render_as(&recipe.workflow, made.dialect);
    let diff = similar::TextDiff::from_lines(&made.markdown, &text);
    let diff = diff.unified_diff().context_radius(2).header("skeleton", "recipe").to_string();
    if shows_diff {
        for line in diff.lines() {
            cx.ui.note(line);
        }
    }
    for line in &recipe.apart {
        cx.ui.note(&format!("not in the session, set apart: {}", sanitise(line)));
    }
    for line in &recipe.lost {
        cx.ui.note(&format!("lost, put back: {}", sanitise(line)));
    }
    (made.refined, made.workflow, made.markdown) = (Some(diff), recipe.workflow, text);
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
