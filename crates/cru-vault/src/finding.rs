//! A remark about a place in a file of the vault.

use serde::Serialize;

use super::VaultPath;
use cru_base::{Diagnostic, Span};

/// A diagnostic with the file it is about, and other places that belong to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The file; for the vault's own configuration `.cru/config.toml`.
    pub path: VaultPath,
    /// What is odd, and where in that file.
    #[serde(flatten)]
    pub diagnostic: Diagnostic,
    /// The other note of a pair, the other links of a cycle.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
}

/// Another place that belongs to a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Related {
    /// The file.
    pub path: VaultPath,
    /// Where in it.
    pub span: Span,
    /// What stands there, a few words.
    pub label: String,
}

impl Finding {
    /// A finding about one place.
    pub fn new(path: &VaultPath, diagnostic: Diagnostic) -> Self {
        Self { path: path.clone(), diagnostic, related: Vec::new() }
    }

    /// With another place.
    #[must_use]
    pub fn related(mut self, path: &VaultPath, span: Span, label: impl Into<String>) -> Self {
        self.related.push(Related { path: path.clone(), span, label: label.into() });
        self
    }
}
