//! Whole session notes, read and parsed.

use rayon::prelude::*;

use super::outline::Outline;
use super::{Catalog, Finding, Vault, VaultPath};
use cru_base::{Diagnostic, Error, Result, Span, threads};
use cru_note::Note;
use cru_session::{Public, Session, read};

/// A session note with everything read from it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The note.
    pub path: VaultPath,
    /// What it says.
    pub session: Session,
    /// What it points at, and what in it can be pointed at.
    pub outline: Outline,
    /// What is odd about it.
    pub diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// Reads bytes that came from `path`.
    pub fn parse(path: VaultPath, bytes: impl Into<Vec<u8>>) -> Self {
        let note = Note::parse(bytes);
        let public = Public::of(&note);
        let parsed = (!public.is_whole()).then(|| Note::parse(public.as_str()));
        let shown = parsed.as_ref().unwrap_or(&note);
        let ((mut session, mut diagnostics), mut outline) =
            threads::join(note.text().len(), || read::written(shown), || Outline::of(shown));
        if parsed.is_some() {
            public.lead_back(&mut session, &mut diagnostics);
            outline.lead_back(&public);
        }
        diagnostics.extend_from_slice(note.diagnostics());
        diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
        Self { path, session, outline, diagnostics }
    }

    /// `session_id`, else the file's name.
    pub fn id(&self) -> String {
        self.session.meta.session_id.clone().unwrap_or_else(|| self.path.stem().into_owned())
    }
}

impl Vault {
    /// Reads one note. An error of I/O is an error here; odd content is not.
    pub fn load(&self, path: &VaultPath) -> Result<Loaded> {
        Ok(Loaded::parse(path.clone(), self.read(path)?))
    }

    /// What one note says, when nobody asks what is odd about it or what it points at: cheaper in a long note.
    pub fn session(&self, path: &VaultPath) -> Result<Session> {
        Ok(read::content_of(self.read(path)?))
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
                // Somebody has deleted it since the walk.
                Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => {
                    let diagnostic = Diagnostic::error("unreadable", Span::default(), error.to_string());
                    findings.push(Finding::new(path, diagnostic));
                }
            }
        }
        (loaded, findings)
    }
}
