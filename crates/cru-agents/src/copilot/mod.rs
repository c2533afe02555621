//! GitHub Copilot CLI: its sessions as events.
//!
//! A session is a file of JSON lines, each an event with a type, data and a time. Words, calls and answers are events of
//! their own; hooks and the host's own bookkeeping are most of the lines. Sub-agents write into the file of the session
//! that started them and are told apart by the call that did.

mod answer;
mod format;
mod session;
mod tokens;

#[cfg(test)]
mod tests;

use crate::bundles;
use crate::file::jsonl;
use cru_session::source::Importer;

/// Its row in the table.
pub(crate) const IMPORTER: Importer = Importer {
    id: "copilot",
    recognise: format::recognise,
    bundle: |files| bundles::by_session(files, format::place),
    together: |path| Ok(vec![format::place(path)?.0]),
    read: |bundle, sink| jsonl::read(format::Copilot::default(), bundle, sink),
    beside: bundles::alone,
    hooked: None,
};
