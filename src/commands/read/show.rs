//! `cru show r:NAME`.

use super::Shelf;
use crate::base::Result;
use crate::base::text::sanitise;
use crate::commands::{Context, Output, View, reading};
use crate::readings::note::ReadingNote;
use crate::vault::Catalog;

/// A reading by its name (`2026-11-20-refresh-tokens@2`), or the newest one of a session.
pub(in crate::commands) fn show(name: &str, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = reading::vault(cx)?;
    Ok(Box::new(ShownReading(Shelf::read(&Catalog::read(&vault), &vault).find(name)?.clone())))
}

struct ShownReading(ReadingNote);

impl Output for ShownReading {
    fn text(&self, _: &View) -> String {
        let text = self.0.text.split("\n## Data\n").next().unwrap_or_default();
        format!("{}\n", sanitise(text.trim_end()))
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        let mut value = serde_json::to_value(&self.0)?;
        if let Some(map) = value.as_object_mut() {
            map.insert("schema".to_owned(), 1.into());
        }
        Ok(value)
    }
}
