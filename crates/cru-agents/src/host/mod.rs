//! Hosts whose sessions are told record by record, one file each.

mod amp;
mod antigravity;
mod cline;
mod continued;
mod grok;
mod kimi;
mod openhands;
mod qwen;
mod vibe;
mod vscode;

#[cfg(test)]
mod tests;

use crate::record::RecordHost;

/// All of them; the table of importers names each by its place.
pub(crate) const ALL: [RecordHost; 10] = [
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
];
