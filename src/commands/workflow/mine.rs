//! The rows of `cru list groups`.

use rayon::prelude::*;
use serde_json::{Value, json};

use crate::index::SessionRow;
use crate::session::read;
use crate::vault::{Vault, VaultPath};
use crate::workflow::mine::groups;
use crate::workflow::{Profile, profile};

/// Sessions that did the same kind of work, a row for each group.
///
/// Sessions with the same request are of one kind, and those that did the same things: files by their type, commands by
/// program and verb.
pub(in crate::commands) fn kinds(sessions: &[&SessionRow], vault: &Vault) -> Vec<Value> {
    let read = |row: &&SessionRow| -> Option<(String, Profile)> {
        let path = VaultPath::new(&row.path)?;
        let bytes = vault.read(&path).ok()?.to_vec();
        Some((path.stem().into_owned(), profile(&read::content_of(bytes))?))
    };
    let read: Vec<(String, Profile)> = sessions.par_iter().filter_map(read).collect();
    let (names, profiles): (Vec<String>, Vec<Profile>) = read.into_iter().unzip();
    let row = |group: crate::workflow::mine::Group| {
        let sessions: Vec<&String> = group.members.iter().filter_map(|at| names.get(*at)).collect();
        json!({
            "size": group.members.len(), "same_request": group.same_request, "shared": group.shared, "sessions": sessions,
        })
    };
    groups(&profiles).into_iter().map(row).collect()
}
