//! `cru read show`.

use super::Shelf;
use crate::base::Result;
use crate::base::text::sanitise;
use crate::commands::{Context, Output, View, reading};
use crate::readings::note::ReadingNote;
use crate::vault::Catalog;

/// Show a reading
///
/// WHAT is a reading (`2026-11-20-refresh-tokens@2`) or a session, then its newest reading.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// Which reading
    #[arg(value_name = "WHAT")]
    what: String,
    /// Only its data, as JSON
    #[arg(long)]
    data: bool,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = reading::vault(cx)?;
    let shelf = Shelf::read(&Catalog::read(&vault), &vault);
    Ok(Box::new(ShownReading { data: args.data, note: shelf.find(&args.what)?.clone() }))
}

struct ShownReading {
    data: bool,
    note: ReadingNote,
}

impl Output for ShownReading {
    fn text(&self, _: &View) -> String {
        if self.data {
            return self.note.answer.as_ref().map(|it| it.to_json() + "\n").unwrap_or_default();
        }
        let text = self.note.text.split("\n## Data\n").next().unwrap_or_default();
        format!("{}\n", sanitise(text.trim_end()))
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        let mut value = serde_json::to_value(&self.note)?;
        if let Some(map) = value.as_object_mut() {
            map.insert("schema".to_owned(), 1.into());
        }
        Ok(value)
    }
}
