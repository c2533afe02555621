//! `cru graph SESSION --states`.

use std::fmt::Write as _;

use crate::base::text::sanitise;
use crate::commands::output::style::{self, paint};
use crate::commands::{Format, Output, View};
use crate::graph::StateGraph;
use crate::session::Session;

/// A session whose states are shown.
pub(super) struct ShownStates {
    pub(super) session: Session,
}

impl Output for ShownStates {
    fn text(&self, _: &View) -> String {
        let states = StateGraph::of(&self.session);
        let mut out = format!("{}\n", paint(style::TITLE, sanitise(self.session.title())));
        for (state, at) in states.states.iter().zip(&states.moves) {
            let turn = state.turn.map(|turn| format!("  {}", paint(style::DIM, sanitise(turn)))).unwrap_or_default();
            let _ = writeln!(out, "\n{}{turn}\n  {}", state.words(), state.outcome());
            let _ = writeln!(out, "  {} {}", paint(style::DIM, "→"), states.sentence(at));
        }
        out
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        let mut value = serde_json::to_value(StateGraph::of(&self.session))?;
        value["schema"] = 1.into();
        Ok(value)
    }

    fn export(&self, format: Format) -> Option<String> {
        let states = StateGraph::of(&self.session);
        match format {
            Format::Mermaid => Some(states.mermaid()),
            Format::Dot => Some(states.dot()),
            _ => None,
        }
    }
}
