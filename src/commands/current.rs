//! The session of this moment, out of rows: no note is read.

use crate::base::Env;
use crate::index::SessionRow;
use crate::session::{Link, Meta, Status};
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
        Some(Head { path: VaultPath::new(&row.path)?, meta, findings: Vec::new() })
    };
    let catalog = Catalog::new(rows.iter().filter_map(head).collect(), Vec::new(), Vec::new());
    let current = catalog.current(vault, env).ok().flatten()?;
    Some(current.path.text().into_owned())
}
