//! The table of tokens: one for a session, added up by model, at the end of the note when work pauses or ends.

use super::amend::NoteCallout;
use super::item;
use super::page::Page;
use crate::entry;
use cru_base::text::{fold_whitespace, sanitise};
use cru_session::{Item, usage};

impl Page<'_> {
    /// Adds tokens to the table.
    pub(super) fn use_tokens(&mut self, it: &entry::Usage) {
        let used = cru_session::event::Usage {
            input: it.input,
            output: it.output,
            cache_write: it.cache_write,
            cache_read: it.cache_read,
            ..cru_session::event::Usage::default()
        };
        let model = fold_whitespace(&sanitise(&it.model));
        match self.usage.iter_mut().find(|(name, _)| *name == model) {
            Some((_, sum)) => sum.add(used),
            None => self.usage.push((model, used)),
        }
        self.cost += it.cost.filter(|cost| cost.is_finite() && *cost > 0.0).unwrap_or_default();
    }

    /// The table with what was used since, if anything was; `last`: at the end of the note.
    pub(super) fn write_usage(&mut self, last: bool) {
        let old = self.known.usage.clone();
        let moves = last && old.is_some() && !self.known.usage_is_last;
        if self.usage.is_empty() && self.cost == 0.0 && !moves {
            return;
        }
        let mut callout =
            old.as_ref().map_or_else(|| item::callout(usage::KIND, String::new(), None), NoteCallout::callout);
        let mut rows = usage::read(&callout.body);
        let told = usage::title(&rows);
        for (model, used) in std::mem::take(&mut self.usage) {
            match rows.iter_mut().find(|(name, _)| *name == model) {
                Some((_, sum)) => sum.add(used),
                None => rows.push((model, used)),
            }
        }
        let cost = self.written_cost() + std::mem::take(&mut self.cost);
        // What somebody wrote beside the sum, and around the table, stays there.
        callout.title = match callout.title.strip_prefix(&told) {
            Some(words) => usage::title(&rows) + words,
            None if callout.title.is_empty() => usage::title(&rows),
            None => callout.title,
        };
        let others = callout.body.lines().filter(|line| !usage::is_row(line) && !is_cost(line));
        let others = others.collect::<Vec<_>>().join("\n");
        let cost = (cost > 0.0).then(|| format!("Cost: {} USD", dollars(cost)));
        let parts = [usage::table(&rows), cost.unwrap_or_default(), others.trim().to_owned()];
        callout.body = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
        let item = Item::Callout(callout);
        let mut new = NoteCallout::new(None, &item);
        match old {
            Some(old) if !moves => {
                new.phase.clone_from(&old.phase);
                self.replace(&old, new.text.clone());
            }
            old => {
                if let Some(old) = old {
                    self.replace(&old, String::new());
                }
                new.phase = self.phase.as_ref().map(|phase| phase.id.clone());
                self.put(item);
                self.known.usage_is_last = true;
                self.flush();
            }
        }
        self.known.usage = Some(new);
    }

    /// The cost that the table says, in dollars.
    pub(super) fn written_cost(&self) -> f64 {
        let callout = self.known.usage.as_ref().map(NoteCallout::callout).unwrap_or_default();
        let line = callout.body.lines().find_map(|line| line.strip_prefix("Cost: ").map(str::to_owned));
        line.and_then(|line| line.split(' ').next()?.parse().ok()).filter(|cost: &f64| cost.is_finite()).unwrap_or(0.0)
    }
}

/// `0.12`, `0.0034`: two decimals, four where they say something.
fn dollars(cost: f64) -> String {
    let text = format!("{cost:.4}");
    text.strip_suffix("00").map_or(text.clone(), str::to_owned)
}

/// Whether a line says the cost and nothing else.
fn is_cost(line: &str) -> bool {
    let cost = line.strip_prefix("Cost: ").and_then(|line| line.strip_suffix(" USD"));
    cost.is_some_and(|cost| cost.parse::<f64>().is_ok())
}
