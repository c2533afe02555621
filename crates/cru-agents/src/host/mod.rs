//! Hosts whose sessions are told record by record, one file each.

mod amp;
mod antigravity;
mod cline;
mod continued;
mod crush;
mod export;
mod goose;
mod grok;
mod hermes;
mod kimi;
mod kiro;
mod openhands;
mod qwen;
mod vibe;
mod vscode;
mod zed;

#[cfg(test)]
mod tests;

use crate::record::RecordHost;
use crate::{bundles, claude};
use cru_session::source::Importer;

/// All of them; the table of importers names each by its place.
pub(crate) const ALL: [RecordHost; 17] = [
    goose::HOST,
    hermes::HOST,
    zed::HOST,
    crush::HOST,
    kiro::HOST,
    vscode::HOST,
    qwen::HOST,
    kimi::HOST,
    cline::HOST,
    amp::HOST,
    antigravity::HOST,
    grok::HOST,
    openhands::HOST,
    vibe::HOST,
    continued::HOST,
    export::CLAUDE,
    export::CHATGPT,
];

/// The importer of the host at that place of the list.
pub(crate) const fn importer<const AT: usize>() -> Importer {
    Importer {
        id: ALL[AT].id,
        recognise: |path, head| ALL[AT].recognises(path, head),
        bundle: |files| ALL[AT].bundle(files),
        together: |path| Ok(ALL[AT].together(path)),
        read: |bundle, sink| ALL[AT].read(bundle, sink),
        beside: bundles::alone,
        hooked: if ALL[AT].hooked { claude::IMPORTER.hooked } else { None },
    }
}
