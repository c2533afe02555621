//! Recipes that wait for a decision, and what a person decides.

use super::find;
use crate::base::{Error, Result, files};
use crate::commands::Context;
use crate::commands::session::recipe_as;
use crate::note::Note;
use crate::vault::{Catalog, Vault, VaultPath};
use crate::workflow::RecipeStatus;

/// A recipe that nobody has decided about.
pub(in crate::commands) struct ProposedRecipe {
    /// Its path in the vault.
    pub(in crate::commands) path: String,
    /// Name of the file without `.md`.
    pub(in crate::commands) stem: String,
    /// Its title.
    pub(in crate::commands) title: String,
}

/// The recipes of a vault that nobody has decided about.
pub(in crate::commands) fn proposed(vault: &Vault, catalog: &Catalog, cx: &Context<'_>) -> Vec<ProposedRecipe> {
    let all = find::all(vault, catalog, cx).into_iter();
    let waiting = all.filter(|found| found.workflow.recipe == Some(RecipeStatus::Proposed));
    waiting
        .map(|found| ProposedRecipe { title: found.title().to_owned(), path: found.path, stem: found.stem })
        .collect()
}

/// Says in a recipe's note what a person decided about it.
pub(in crate::commands) fn decide(path: &str, status: RecipeStatus, cx: &Context<'_>) -> Result<()> {
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    vault.writable()?;
    let path = VaultPath::new(path).ok_or_else(|| Error::no(format!("no recipe {path}")))?;
    let old = vault.read(&path)?;
    let new = recipe_as(Note::parse(old.to_vec()).text(), status)?;
    files::replace_within(vault.root(), &vault.file(&path), &old, new.as_bytes())
}
