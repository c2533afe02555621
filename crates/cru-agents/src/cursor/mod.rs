//! Cursor's agent: its transcripts as events.
//!
//! A transcript is a file of JSON lines, each a message of a person or of the agent. It has no ids and, but for rare
//! versions, no answers of tools: who a file belongs to is told by its place, and a call whose answer is not recorded is
//! neither a success nor a failure. Newer versions put the time before a person's words; title, model and times stand in
//! the host's own folder of chats, too.
//!
//! The window keeps its sessions in a database, with the answers of tools, and tells those better that both have.

mod chat;
mod format;
mod recognise;
mod said;
mod session;
mod stamp;
mod window;
mod window_session;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::file::sqlite::is_database;
use crate::file::{jsonl, tables};
use cru_base::Result;
use cru_session::source::{Bundle, Importer, Sink};

/// Its row in the table.
pub(crate) const IMPORTER: Importer = Importer {
    id: "cursor",
    recognise: |path, head| {
        if is_database(head) { window::recognise(path) } else { recognise::recognise(path, head) }
    },
    bundle,
    together: format::together,
    read,
    beside: format::beside,
    hooked: None,
};

/// A database and the transcripts of the sessions that it has are read as one.
fn bundle(files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    let (bases, mut lines): (Vec<_>, Vec<_>) = files.into_iter().partition(|path| is_store(path));
    let mut bundles = Vec::new();
    for base in bases {
        let known = window::sessions(&base);
        let is_known = |path: &mut PathBuf| known.contains(&format::session(path));
        let mut beside: Vec<PathBuf> = lines.extract_if(.., is_known).collect();
        beside.sort();
        bundles.push(Bundle::of(std::iter::once(base).chain(beside).collect()));
    }
    bundles.sort_by(|one, other| one.files.cmp(&other.files));
    bundles.extend(format::bundle(lines)?);
    Ok(bundles)
}

fn is_store(path: &Path) -> bool {
    let mut head = [0; 16];
    let read = cru_base::files::open_regular(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut head));
    read.is_ok() && is_database(&head)
}

fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let Some((base, lines)) = bundle.files.split_first().filter(|(first, _)| is_store(first)) else {
        return jsonl::read(format::Cursor::default(), bundle, sink);
    };
    let known = tables::read(&window::CursorWindow::default(), base, sink)?;
    let (again, lines): (Vec<_>, Vec<_>) =
        lines.iter().cloned().partition(|path| known.iter().any(|key| key.session == format::session(path)));
    for path in &again {
        jsonl::leave(bundle, path, tables::TOLD, sink)?;
    }
    let rest = Bundle { files: lines, memory: BTreeMap::new() };
    jsonl::read(format::Cursor::default(), &rest, sink)
}
