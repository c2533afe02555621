//! Keeps copies of the transcripts that were just imported, each with the note that it belongs to.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::evidence::store::{Owner, Store};
use crate::existing::Existing;
use crate::read::bundle::FileAccount;
use crate::report::{KeptCopies, SessionReport};
use cru_base::Result;
use cru_session::event::StreamKey;
use cru_session::source::{Bundle, Importer};

/// Keeps every file that some note tells of. Files that are not on the disk are copies already.
pub(crate) fn all(
    store: &Store,
    importer: &Importer,
    existing: &Existing<'_>,
    bundles: &[Bundle],
    read: &[FileAccount],
    sessions: &[SessionReport],
) -> Result<KeptCopies> {
    let on_disk = bundles.iter().filter(|bundle| bundle.memory.is_empty());
    let places = on_disk.flat_map(|bundle| bundle.files.iter().enumerate());
    let places: HashMap<&Path, usize> = places.map(|(at, path)| (path.as_path(), at)).collect();
    let noted = sessions.iter().filter(|row| row.outcome.has_note());
    let notes: BTreeMap<&StreamKey, &SessionReport> = noted.map(|row| (row.key(), row)).collect();
    let mut sum = KeptCopies::default();
    for read in read {
        let Some(order) = places.get(read.path.as_path()) else { continue };
        for (key, row) in read.streams.iter().filter_map(|key| Some((key, notes.get(key)?))) {
            let known = existing.of_stream(key).map(cru_vault::Head::id);
            let stem = || {
                let name = row.note.as_deref()?.rsplit('/').next()?;
                Some(name.strip_suffix(".md").unwrap_or(name).to_owned())
            };
            let Some(session) = known.or_else(stem) else { continue };
            let host_session = key.to_string();
            let owner = Owner { session: &session, host: importer.host(), host_session: &host_session };
            store.keep(owner, *order, &read.path, &mut sum)?;
        }
    }
    Ok(sum)
}
