//! Who agrees that commands of a note run: the rules of [`crate::trace::consent`], a person on a terminal, and the user's
//! own configuration. Nothing of a vault has a say.

use std::fmt::Write as _;
use std::path::Path;

use crate::base::text::{plural, sanitise};
use crate::commands::Context;
use crate::trace::consent::{Consent, ConsentRules};
use crate::vault::{UserConfig, Vault};

/// Whether a command may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Agreement {
    Yes,
    /// Why not.
    No(String),
}

/// What the rules say of each text, without asking anybody. `folder` is the project on this machine, `project` its name
/// in the note.
pub(super) fn decide(texts: &[&str], folder: &Path, project: Option<&str>, user: &UserConfig) -> Vec<Consent> {
    let folder = folder.to_string_lossy();
    let names: Vec<&str> = std::iter::once(folder.as_ref()).chain(project).collect();
    let rules = ConsentRules::new(&user.run.allow);
    texts.iter().map(|text| rules.decide(text, &names)).collect()
}

/// Which of the commands may run: those that are allowed, and those that a person agrees to, who is shown each of them
/// whole and is asked once.
pub(super) fn agree(
    texts: &[&str],
    folder: &Path,
    project: Option<&str>,
    vault: &Vault,
    user: &UserConfig,
    cx: &Context<'_>,
) -> Vec<Agreement> {
    warn_of_vault(vault, cx);
    let consents = decide(texts, folder, project, user);
    let asked: Vec<&str> =
        texts.iter().zip(&consents).filter(|(_, it)| **it == Consent::Ask).map(|(text, _)| *text).collect();
    let answer = if asked.is_empty() { None } else { cx.ui.confirm(&question(&asked, folder)) };
    let settle = |consent: Consent| match (consent, answer) {
        (Consent::ByHand(why), _) => Agreement::No(why),
        (Consent::Allowed, _) | (Consent::Ask, Some(true)) => Agreement::Yes,
        (Consent::Ask, Some(false)) => Agreement::No("you said no".to_owned()),
        (Consent::Ask, None) => {
            Agreement::No("not a terminal, and `[run] allow` of your own configuration does not name it".to_owned())
        }
    };
    consents.into_iter().map(settle).collect()
}

fn question(texts: &[&str], folder: &Path) -> String {
    let mut question = String::new();
    for text in texts {
        for (at, line) in sanitise(text).lines().enumerate() {
            let _ = writeln!(question, "{} {line}", if at == 0 { "$" } else { ">" });
        }
    }
    let count = plural(texts.len() as u64, "command");
    let _ = write!(question, "Run {count} in {}?", sanitise(&folder.to_string_lossy()));
    question
}

/// The words of `[run] wrap` before a command that runs in a folder.
pub(super) fn wrap(user: &UserConfig, folder: &Path) -> Vec<String> {
    user.run.wrap.iter().map(|word| word.replace("{dir}", &folder.to_string_lossy())).collect()
}

/// Says that `[run]` of a vault is no use.
fn warn_of_vault(vault: &Vault, cx: &Context<'_>) {
    let is_run = |message: &str| message == "unknown key 'run'";
    if vault.warnings().iter().any(|finding| is_run(&finding.diagnostic.message)) {
        cx.ui.warn("[run] of the vault's configuration is ignored: only your own configuration allows commands");
    }
}
