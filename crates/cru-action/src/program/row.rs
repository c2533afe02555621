//! The data file of programs, `data/programs.toml`, as it is read. Its head says what each key means.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// All of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProgramFile {
    pub(super) stem: Vec<StemRow>,
    pub(super) program: BTreeMap<String, ProgramRow>,
    /// Rules by the program, separated by commas; none where it is always so.
    pub(super) answers: BTreeMap<String, String>,
}

/// What a script does by a word of its name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StemRow {
    pub(super) class: String,
    pub(super) words: String,
}

/// A program and those that share its rules.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ProgramRow {
    pub(super) names: String,
    pub(super) same: String,
    pub(super) alias: String,
    pub(super) takes: String,
    pub(super) default: Option<String>,
    pub(super) local: bool,
    pub(super) versions: bool,
    pub(super) scratch: String,
    pub(super) stays: String,
    pub(super) wrap: Option<String>,
    pub(super) command_option: Option<String>,
    pub(super) command_any_option: Option<String>,
    pub(super) script_option: Option<String>,
    pub(super) script_args: bool,
    pub(super) dialect: String,
    pub(super) scripts: Option<String>,
    pub(super) script_key: String,
    /// Rules by the name of their class.
    #[serde(flatten)]
    pub(super) rules: BTreeMap<String, String>,
}

/// The file in this program. A test proves that it can be read.
pub(super) static FILE: LazyLock<ProgramFile> =
    LazyLock::new(|| toml::from_str(include_str!("../../data/programs.toml")).unwrap_or_default());
