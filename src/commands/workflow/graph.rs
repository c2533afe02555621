//! `cru graph w:NAME`.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::find;
use crate::base::Result;
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Format, Output, View};
use crate::workflow::export::graph::{ArrowKind, Box as Node, Picture, picture};
use crate::workflow::export::{dot, mermaid};

/// Which step of a workflow waits for which.
pub(in crate::commands) fn draw(name: &str, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let found = find::one(name, cx)?;
    Ok(Box::new(Drawn { path: found.path, picture: picture(&found.workflow) }))
}

struct Drawn {
    path: String,
    picture: Picture,
}

impl Output for Drawn {
    fn text(&self, _: &View) -> String {
        let mut out = String::new();
        let picture = &self.picture;
        let place: HashMap<usize, &Node> = picture.steps.iter().map(|step| (step.index, step)).collect();
        let title = |index: usize| place.get(&index).map_or("", |step| step.title.as_str());
        for &index in &picture.order {
            let Some(step) = place.get(&index) else { continue };
            let agent = step.agent.as_ref().map_or(String::new(), |agent| paint(style::AGENT, format!(" @{agent}")));
            let _ = writeln!(out, "{}{agent}", paint(style::TITLE, &step.title));
            // They are sorted by where they begin.
            let first = picture.arrows.partition_point(|arrow| arrow.from < index);
            for arrow in picture.arrows[first..].iter().take_while(|arrow| arrow.from == index) {
                let how = match arrow.kind {
                    ArrowKind::Data => paint(style::DIM, &arrow.label),
                    ArrowKind::Step => String::new(),
                    ArrowKind::Order => paint(style::DIM, "in this order"),
                    ArrowKind::Condition => {
                        paint(style::WARN, format!("if {}", arrow.label).replace("if otherwise", "otherwise"))
                    }
                    ArrowKind::Child => paint(style::DIM, "below it"),
                };
                let gap = if how.is_empty() { "" } else { "  " };
                let _ = writeln!(out, "  → {}{gap}{how}", title(arrow.to));
            }
        }
        for (name, data) in [("takes", &picture.inputs), ("gives", &picture.results)] {
            if !data.is_empty() {
                let _ = writeln!(out, "{} {}", paint(style::DIM, name), data.join(", "));
            }
        }
        out
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        let mut value = serde_json::to_value(&self.picture)?;
        if let Some(map) = value.as_object_mut() {
            map.insert("schema".into(), 1.into());
            map.insert("path".into(), self.path.clone().into());
        }
        Ok(value)
    }

    fn export(&self, format: Format) -> Option<String> {
        match format {
            Format::Mermaid => Some(mermaid::export(&self.picture)),
            Format::Dot => Some(dot::export(&self.picture)),
            _ => None,
        }
    }
}
