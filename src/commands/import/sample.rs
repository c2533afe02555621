//! `cru import --report-format`: what files look like, for a report of a form that is not known. No word of them is shown.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::what::{FoundTranscripts, TranscriptSource, What};
use crate::base::Result;
use crate::base::text::sanitise;
use crate::commands::{Context, Output, PlainOutput, View};
use crate::import::{self, sample};

/// Files of one agent, or of none that is known.
#[derive(Debug, Serialize)]
struct SampledAgent {
    agent: Option<&'static str>,
    files: u64,
    forms: Vec<Value>,
}

#[derive(Debug, Serialize)]
struct FormatReport {
    schema: u32,
    cru: &'static str,
    agents: Vec<SampledAgent>,
}

pub(super) fn run(what: &What, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let mut sources: Vec<(Option<&'static str>, Vec<PathBuf>)> = Vec::new();
    match (what.search(false, cx), what) {
        (Ok(FoundTranscripts { sources: found, .. }), _) => {
            for (importer, source) in found {
                let files = match source {
                    TranscriptSource::Paths(paths) => import::list(importer, &paths)?.files.into_iter().collect(),
                    TranscriptSource::Found(found) => found.bundles.into_iter().flat_map(|it| it.files).collect(),
                };
                sources.push((Some(importer.id), files));
            }
        }
        // A form that no importer knows is what a report is most wanted of.
        (Err(_), What::Paths(paths)) if paths.iter().all(|path| path.is_file()) => sources.push((None, paths.clone())),
        (Err(error), _) => return Err(error),
    }
    let mut agents = Vec::new();
    for (agent, files) in sources {
        let mut forms: Vec<Value> = Vec::new();
        for file in &files {
            forms.extend(sample::shapes(file)?);
        }
        // The same form of several files is told once.
        let mut seen = std::collections::HashSet::new();
        forms.retain(|form| seen.insert((form["kind"].to_string(), form["form"].to_string())));
        agents.push(SampledAgent { agent, files: files.len() as u64, forms });
    }
    Ok(Box::new(FormatReport { schema: 1, cru: env!("CARGO_PKG_VERSION"), agents }))
}

impl PlainOutput for FormatReport {
    fn shown(&self, _: &View) -> String {
        let mut text = format!("cru {}\n", self.cru);
        for agent in &self.agents {
            let files = crate::base::text::plural(agent.files, "file");
            let _ =
                writeln!(text, "\n{}, {files}: names of members and types of values", agent.agent.unwrap_or("unknown"));
            for form in &agent.forms {
                let _ = writeln!(text, "{}", sanitise(&form.to_string()));
            }
        }
        text
    }
}
