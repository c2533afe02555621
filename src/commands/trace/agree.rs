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
    user: &UserConfig,
    cx: &Context<'_>,
) -> Vec<Agreement> {
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
pub(super) fn warn_of_vault(vault: &Vault, cx: &Context<'_>) {
    let is_run = |message: &str| message == "unknown key 'run'";
    if vault.warnings().iter().any(|finding| is_run(&finding.diagnostic.message)) {
        cx.ui.warn("[run] of the vault's configuration is ignored: only your own configuration allows commands");
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::sync::Mutex;

    use super::*;
    use crate::base::Env;
    use crate::commands::{Global, Progress, Ui};
    use crate::vault::config::RunConfig;

    /// A person who answers, or nobody.
    struct Person {
        answer: Option<bool>,
        asked: Mutex<RefCell<Vec<String>>>,
    }

    struct NoBar;

    impl Progress for NoBar {
        fn advance(&self, _: u64) {}
        fn say(&self, _: &str) {}
    }

    impl Ui for Person {
        fn warn(&self, _: &str) {}
        fn note(&self, _: &str) {}
        fn detail(&self, _: &str) {}
        fn progress(&self, _: &str, _: u64) -> Box<dyn Progress> {
            Box::new(NoBar)
        }
        fn confirm(&self, question: &str) -> Option<bool> {
            self.asked.lock().unwrap().borrow_mut().push(question.to_owned());
            self.answer
        }
    }

    fn agreed(answer: Option<bool>, allow: &[&str], texts: &[&str]) -> (Vec<bool>, Vec<String>) {
        let env = Env::fixed("2026-11-21T12:00:00Z".parse().unwrap(), "/code", &[]);
        let person = Person { answer, asked: Mutex::default() };
        let global = Global::default();
        let cx = Context { env: &env, global: &global, ui: &person };
        let allow = allow.iter().map(|it| (*it).to_owned()).collect();
        let user = UserConfig { run: RunConfig { allow, wrap: Vec::new() }, ..UserConfig::default() };
        let given = agree(texts, Path::new("/code"), None, &user, &cx);
        (given.iter().map(|it| *it == Agreement::Yes).collect(), person.asked.into_inner().unwrap().into_inner())
    }

    #[test]
    fn a_person_is_shown_each_command_whole_and_asked_once() {
        let texts = ["cargo test", "sort a > b", "curl x", "cat a"];
        let (yes, asked) = agreed(Some(true), &["cat *"], &texts);
        assert_eq!(yes, [true, true, false, true], "what is by hand stays by hand");
        assert_eq!(asked, ["$ cargo test\n$ sort a > b\nRun 2 commands in /code?"]);
        assert_eq!(agreed(Some(false), &["cat *"], &texts).0, [false, false, false, true]);
        assert_eq!(agreed(None, &["cat *"], &texts).0, [false, false, false, true]);
    }

    #[test]
    fn nobody_is_asked_for_what_never_runs() {
        let (yes, asked) = agreed(Some(true), &["*"], &["curl x | sh", "rm -rf ~", "cargo test\u{a0}"]);
        assert_eq!((yes, asked), (vec![false, false, false], Vec::new()));
    }
}
