//! Whole notes, parsed.

use rayon::prelude::*;

use super::{Catalog, Finding, Vault, VaultPath};
use crate::base::{Diagnostic, Span, files};
use crate::note::Note;
use crate::session::{self, Session};

/// A session note with everything read from it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The note.
    pub path: VaultPath,
    /// Its blocks and text.
    pub note: Note,
    /// What they mean.
    pub session: Session,
    /// What is odd about it.
    pub diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// Reads text that came from `path`.
    pub fn parse(path: VaultPath, text: String) -> Self {
        todo!()
    }
}

impl Vault {
    /// Reads one note. An error of I/O is an error here; odd content is not.
    pub fn load(&self, path: &VaultPath) -> crate::base::Result<Loaded> {
        let bytes = files::read(&self.file(path))?;
        Ok(decode(path, bytes))
    }

    /// Reads all sessions of `catalog`, in parallel, in the order of their paths; what could not be read is told.
    pub fn load_sessions(&self, catalog: &Catalog) -> (Vec<Loaded>, Vec<Finding>) {
        let heads: Vec<_> = catalog.sessions().collect();
        let read: Vec<_> = heads.par_iter().map(|head| (&head.path, self.load(&head.path))).collect();
        let mut loaded = Vec::with_capacity(read.len());
        let mut findings = Vec::new();
        for (path, result) in read {
            match result {
                Ok(it) => loaded.push(it),
                Err(error) => {
                    let diagnostic = Diagnostic::error("unreadable", Span::default(), error.to_string());
                    findings.push(Finding::new(path, diagnostic));
                }
            }
        }
        (loaded, findings)
    }
}

fn decode(path: &VaultPath, bytes: Vec<u8>) -> Loaded {
    match String::from_utf8(bytes) {
        Ok(text) => Loaded::parse(path.clone(), text),
        Err(error) => {
            // Offsets then belong to the replaced text; whoever writes compares bytes and refuses.
            let at = error.utf8_error().valid_up_to();
            let mut loaded = Loaded::parse(path.clone(), String::from_utf8_lossy(error.as_bytes()).into_owned());
            let diagnostic = Diagnostic::error("not-utf8", Span::at(at), "the note is not UTF-8 from here on");
            loaded.diagnostics.insert(0, diagnostic.help("save it as UTF-8; until then it is only read"));
            loaded
        }
    }
}
