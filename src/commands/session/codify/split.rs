//! `--split`: a workflow for each job of a session.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{Args, extract, taken};
use crate::base::text::{plural, slug};
use crate::base::{Result, Severity, files};
use crate::commands::{Context, Output, PlainOutput, View};
use crate::workflow::{Workflow, render_as};

/// Words of a file's name.
const NAME_WORDS: usize = 8;

/// The workflows of a session.
#[derive(Serialize)]
struct Jobs {
    schema: u32,
    jobs: Vec<Job>,
}

/// The workflow of a job.
#[derive(Serialize)]
struct Job {
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<PathBuf>,
    workflow: Workflow,
    markdown: String,
}

pub(super) fn run(args: &Args, folder: Option<&Path>, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let dialect = args.dialect;
    let mut jobs: Vec<Job> = Vec::new();
    let mut told: Vec<String> = Vec::new();
    for (workflow, remarks) in extract::jobs(args, cx)? {
        for remark in remarks {
            if told.contains(&remark.message) {
                continue;
            }
            match remark.severity {
                Severity::Info => cx.ui.note(&remark.message),
                _ => cx.ui.warn(&remark.message),
            }
            told.push(remark.message);
        }
        let markdown = render_as(&workflow, dialect);
        jobs.push(Job { output: None, workflow, markdown });
    }
    if let Some(folder) = folder {
        for (number, job) in (1..).zip(&mut jobs) {
            let name = slug(&job.workflow.title, NAME_WORDS);
            let name = if name.is_empty() { format!("{number}.md") } else { format!("{number}-{name}.md") };
            let path = folder.join(name);
            if !files::create(&path, job.markdown.as_bytes())? {
                return Err(taken(&path));
            }
            job.output = Some(path);
        }
    }
    Ok(Box::new(Jobs { schema: 1, jobs }))
}

impl PlainOutput for Jobs {
    fn shown(&self, _: &View) -> String {
        let mut text = String::new();
        for job in &self.jobs {
            match &job.output {
                Some(path) => {
                    let steps = job.workflow.step_flags().into_iter().filter(|flag| *flag).count();
                    text.push_str(&format!("{}  {}\n", path.display(), plural(steps as u64, "step")));
                }
                None if text.is_empty() => text.push_str(&job.markdown),
                None => text.push_str(&format!("\n{}", job.markdown)),
            }
        }
        text
    }
}
