//! What of the vault a page may show.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::base::Result;
use crate::commands::output::place;
use crate::commands::reach::Withheld;
use crate::commands::{Context, Reach, reading};
use crate::note::nested;
use crate::session::public;
use crate::vault::{Catalog, Head, Vault, VaultPath};

/// The vault without what is kept in it.
pub(super) struct ViewedVault {
    pub(super) vault: Vault,
    /// Notes that may be shown.
    pub(super) catalog: Catalog,
    pub(super) withheld: Withheld,
    /// The files that have pages, where all pages are written.
    pub(super) files: BTreeSet<String>,
}

impl ViewedVault {
    pub(super) fn read(cx: &Context<'_>) -> Result<Self> {
        let vault = reading::vault(cx)?;
        let all = Catalog::read(&vault);
        let withheld = Withheld::of(&all, &vault, Reach::Shared);
        // What was made of sessions goes with them; of other notes only what tells of one goes.
        let is_made = |head: &Head| {
            matches!(head.meta.kind.as_deref(), Some("lesson" | "reading" | "case" | "workflow" | "recipe"))
        };
        let tells =
            |head: &Head| vault.read(&head.path).is_ok_and(|it| withheld.is_told_of(&String::from_utf8_lossy(&it)));
        let catalog = all
            .only(|head| Reach::Shared.allows(&head.meta) && (withheld.is_empty() || !is_made(head) || !tells(head)));
        Ok(Self { vault, catalog, withheld, files: BTreeSet::new() })
    }

    /// The page and the place that a link in a note means, from the first page.
    pub(super) fn page_of(&self, target: &str, from: &VaultPath, live: bool) -> Option<String> {
        let (name, block) = target.split_once('#').unwrap_or((target, ""));
        let head = self.catalog.note(Some(name).filter(|name| !name.is_empty())?, from)?;
        Some(place(&head.path.text(), block.strip_prefix('^'), live))
    }

    /// What of a note may be shown: no comment, no secret, nothing that tells of a session that is kept.
    pub(super) fn text(&self, path: &VaultPath) -> Result<String> {
        let text = public::text(&String::from_utf8_lossy(&self.vault.read(path)?));
        Ok(nested::without(text, &|part| self.withheld.is_told_of(part)))
    }
}

/// Takes rows out that tell of a session that is kept in the vault.
pub(super) fn prune(value: &mut Value, withheld: &Withheld) {
    match value {
        Value::Array(rows) => {
            rows.retain(|row| !withheld.is_told_of(&row.to_string()));
        }
        Value::Object(fields) => fields.values_mut().for_each(|value| prune(value, withheld)),
        Value::String(text) if withheld.is_told_of(text) => text.clear(),
        _ => {}
    }
}
