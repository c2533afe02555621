//! The session of this moment, out of rows: no note is read.

use crate::base::Env;
use crate::index::SessionRow;
use crate::session::{Link, Meta, Status};
use crate::vault::resolve::host_sessions;
use crate::vault::{Catalog, Head, Vault, VaultPath};

/// The path of the note of the current session, as [`Catalog::current`] finds it. None where several could be meant.
pub(super) fn path(rows: &[SessionRow], vault: &Vault, env: &Env) -> Option<String> {
    let head = |row: &SessionRow| {
        let meta = Meta {
            kind: Some("session".to_owned()),
            session_id: Some(row.id.clone()),
            title: Some(row.title.clone()),
            started: row.started,
            status: row.status.as_deref().map(Status::parse),
            project: row.project.clone(),
            host_session: row.host_session.clone(),
            parent: row.parent.as_ref().map(Link::to_note),
            ..Meta::default()
        };
        Some(Head { path: VaultPath::new(&row.path)?, meta: Box::new(meta), findings: Vec::new() })
    };
    // Only these can be it, unless it is named.
    let is_named = env.var("CRU_SESSION").is_some();
    let hosts: Vec<&str> = host_sessions(env).collect();
    let may_be = |row: &&SessionRow| {
        let of_host = || row.host_session.as_deref().is_some_and(|host| hosts.contains(&host));
        is_named || row.status.as_deref() == Some("active") || of_host()
    };
    let catalog = Catalog::new(rows.iter().filter(may_be).filter_map(head).collect(), Vec::new(), Vec::new());
    let current = catalog.current(vault, env).ok().flatten()?;
    Some(current.path.text().into_owned())
}
