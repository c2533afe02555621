//! The lists of `data/consent.toml`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

/// They, as the file has them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KnownWords {
    pub(super) wrappers: Vec<String>,
    pub(super) shells: Vec<String>,
    pub(super) builtins: Vec<String>,
    pub(super) keywords: Vec<String>,
    pub(super) changes: Vec<String>,
    pub(super) machine: Vec<String>,
    pub(super) variables: Vec<String>,
    pub(super) passed: Vec<String>,
    pub(super) options: Vec<String>,
    pub(super) program_options: BTreeMap<String, Vec<String>>,
    pub(super) plain_options: BTreeMap<String, Vec<String>>,
}

/// Read once. A file that cannot be read gives empty lists, and a test that says so.
pub(super) fn known() -> &'static KnownWords {
    static KNOWN: OnceLock<KnownWords> = OnceLock::new();
    KNOWN.get_or_init(|| toml::from_str(include_str!("../../data/consent.toml")).unwrap_or_default())
}
