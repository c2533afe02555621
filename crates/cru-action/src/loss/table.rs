//! The data file of losses, `data/losses.toml`. Its head says what each key means.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::program::{self, Parts, Rule};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LossFile {
    pub(super) loss: BTreeMap<String, LossRow>,
}

/// A program and those that share its rules.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LossRow {
    pub(super) names: String,
    pub(super) takes: String,
    pub(super) verbs: bool,
    pub(super) none: Option<String>,
    pub(super) removed: Option<String>,
    pub(super) overwritten: Option<String>,
    pub(super) onto: Option<String>,
    pub(super) moves: bool,
    pub(super) mirrored: Option<String>,
    pub(super) paths: Option<String>,
    pub(super) changed: Option<String>,
    pub(super) cleaned: Option<String>,
    pub(super) untracked: Option<String>,
    pub(super) ignored: Option<String>,
    pub(super) refs: Option<String>,
    pub(super) anything: Option<String>,
    pub(super) elsewhere: Option<String>,
    pub(super) script: Option<String>,
    pub(super) values: Option<String>,
    pub(super) file: bool,
    pub(super) statements: Option<String>,
    pub(super) code: Option<String>,
    pub(super) removes: String,
    pub(super) writes: String,
}

impl LossRow {
    /// Whether the first operand of a command is a program text.
    pub(super) fn has_script(&self, parts: &Parts<'_>) -> bool {
        self.script.is_some() && best(self.script.as_deref(), parts).is_none()
    }
}

/// The file in this program. A test proves that it can be read.
pub(super) static FILE: LazyLock<LossFile> =
    LazyLock::new(|| toml::from_str(include_str!("../../data/losses.toml")).unwrap_or_default());

static BY_NAME: LazyLock<HashMap<String, &'static LossRow>> = LazyLock::new(|| {
    let mut by_name = HashMap::new();
    for (name, row) in &FILE.loss {
        for name in std::iter::once(name.as_str()).chain(row.names.split_ascii_whitespace()) {
            by_name.insert(name.to_lowercase(), row);
        }
    }
    by_name
});

/// The row of the program that these words begin with.
pub(super) fn find(words: &[Cow<'_, str>]) -> Option<&'static LossRow> {
    let name = program::program_name(words.first()?);
    let known = BY_NAME.get(name.to_lowercase().as_str());
    known.or_else(|| BY_NAME.get(program::main_name(name)?.to_lowercase().as_str())).copied()
}

/// How well a rule fits: its parts, and the words that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fit {
    pub(super) parts: usize,
    pub(super) plain: usize,
}

/// The best of the rules that fit; nothing where there are none.
pub(super) fn best(rules: Option<&str>, parts: &Parts<'_>) -> Option<Fit> {
    let fit = |text: &str| {
        let rule = Rule::read(text, program::Effect::default());
        let (all, _) = rule.fit(parts)?;
        Some(Fit { parts: all, plain: rule.named_len() })
    };
    rules?.split(',').filter_map(fit).max()
}
