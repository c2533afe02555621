//! What codify gives.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::Args;
use super::extract::Extract;
use crate::base::text::plural;
use crate::base::{Diagnostic, Error, Result};
use crate::commands::output::style::{self, paint};
use crate::commands::{Format, Output, View};
use crate::note::edit::set_key;
use crate::note::frontmatter::Value;
use crate::vault::Vault;
use crate::workflow::export::{dot, graph, mermaid};
use crate::workflow::{Dialect, Mining, RecipeStatus, Workflow};

/// The workflow, and how it came about.
#[derive(Serialize)]
pub(super) struct Made {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<PathBuf>,
    pub(super) workflow: Workflow,
    pub(super) markdown: String,
    remarks: Vec<Diagnostic>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mining: Option<Mining>,
    /// What an agent changed, as a diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refined: Option<String>,
    /// Where an answer lies that could not be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refused: Option<PathBuf>,
    /// Whether it is shown although it is written: nobody could edit it.
    #[serde(skip)]
    pub(super) shown: bool,
    #[serde(skip)]
    pub(super) dialect: Dialect,
    #[serde(skip)]
    pub(super) sessions: Vec<crate::session::Session>,
    /// What readers say of the session, where an agent is to write a recipe.
    #[serde(skip)]
    pub(super) brief: String,
    #[serde(skip)]
    pub(super) stem: String,
    #[serde(skip)]
    pub(super) vault: Option<Vault>,
}

impl Made {
    pub(super) fn new(extract: Extract, args: &Args) -> Self {
        Self {
            schema: 1,
            output: args.output.clone(),
            workflow: extract.workflow,
            markdown: extract.markdown,
            remarks: extract.remarks,
            mining: extract.mining,
            refined: None,
            refused: None,
            shown: false,
            dialect: args.dialect,
            sessions: extract.sessions,
            brief: extract.brief,
            stem: extract.stem,
            vault: extract.vault,
        }
    }
}

impl Made {
    /// Marks a recipe as accepted, unless whoever edited it says otherwise.
    pub(super) fn accept(&mut self) -> Result<()> {
        if self.workflow.recipe == Some(RecipeStatus::Proposed) {
            self.markdown = recipe_as(&self.markdown, RecipeStatus::Accepted)?;
            self.workflow.recipe = Some(RecipeStatus::Accepted);
        }
        Ok(())
    }
}

/// A recipe's note with another status.
pub(in crate::commands) fn recipe_as(text: &str, status: RecipeStatus) -> Result<String> {
    let patch = set_key(text, "recipe", &Value::String(status.as_str().to_owned()))
        .map_err(|error| Error::usage(format!("could not change the recipe: {error}")))?;
    Ok(String::from_utf8_lossy(&patch.apply(text.as_bytes())).into_owned())
}

impl Output for Made {
    fn ready(&self) -> Option<&str> {
        let written = self.output.is_some() && (!self.shown || self.refined.is_some());
        (!written).then_some(&self.markdown)
    }

    fn text(&self, _: &View) -> String {
        let Some(output) = self.output.as_ref().filter(|_| self.ready().is_none()) else {
            return self.markdown.clone();
        };
        let mut text = style::diff(self.refined.as_deref().unwrap_or_default(), "");
        let steps = self.workflow.step_flags().into_iter().filter(|flag| *flag).count();
        let _ = write!(text, "{}  {}", paint(style::ID, output.display()), plural(steps as u64, "step"));
        if !self.workflow.checks.is_empty() {
            let _ = write!(text, ", {}", plural(self.workflow.checks.len() as u64, "check"));
        }
        if let Some(mining) = &self.mining {
            let _ = write!(text, ", from {}", plural(mining.sessions.len() as u64, "session"));
            let _ = write!(text, " in {}", plural(mining.variants.len() as u64, "variant"));
        }
        text.push('\n');
        if self.shown {
            let _ = write!(text, "\n{}", self.markdown);
        }
        text
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }

    fn export(&self, format: Format) -> Option<String> {
        let picture = graph::picture(&self.workflow);
        match format {
            Format::Mermaid => Some(mermaid::export(&picture)),
            Format::Dot => Some(dot::export(&picture)),
            _ => None,
        }
    }

    fn exit_code(&self) -> u8 {
        u8::from(self.refused.is_some())
    }
}
