//! Who agrees that commands of a note run: the rules of [`crate::trace::consent`], a person on a terminal, and the user's
//! own configuration. Nothing of a vault has a say.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::git::Repository;
use crate::base::text::{plural, sanitise};
use crate::base::{Result, program};
use crate::commands::{Context, PassedCall, Passing};
use crate::trace::consent::{self, Consent, ConsentRules, NoteCommand, Start};
use crate::trace::{ProjectRoots, RunFolder};
use crate::vault::{UserConfig, Vault};

/// The shell that is given a text which a person agreed to. Of each part of it all shells make the same.
const SHELL: &str = "/bin/sh";

/// Whether a command may run.
#[derive(Debug)]
pub(super) enum Agreement {
    Yes(AgreedCommand),
    /// Why not.
    No(String),
}

/// A command that somebody agreed to: the text that they were shown, read once. Nothing else makes one.
#[derive(Debug)]
pub(super) struct AgreedCommand {
    command: NoteCommand,
    wrap: Vec<String>,
    vars: Vec<(String, String)>,
}

/// A command of a note that can be started.
#[derive(Clone, Debug)]
pub(in crate::commands::trace) struct ReadyCommand {
    program: PathBuf,
    /// As it was named: what it says of itself begins with that.
    name: String,
    args: Vec<OsString>,
    /// The folder that it starts in.
    pub(in crate::commands::trace) dir: PathBuf,
    /// All of its variables.
    vars: Vec<(String, String)>,
    /// What it is without `[run] wrap`.
    pub(in crate::commands::trace) start: Start,
}

impl ReadyCommand {
    /// How it is started.
    pub(super) fn call(&self, passing: Passing, limit: Option<std::time::Duration>) -> PassedCall<'_> {
        let Self { program, name, args, dir, vars, .. } = self;
        PassedCall { program: program.as_os_str(), name: Some(name), args, dir, vars: Some(vars), passing, limit }
    }
}

impl AgreedCommand {
    /// It, where `folder` stands for the project's folder: that itself, or a copy.
    ///
    /// Errors: why it cannot be started.
    pub(super) fn ready(&self, folder: &Path, cx: &Context<'_>) -> Result<ReadyCommand, String> {
        let (start, dir) = self.command.in_folder(folder)?;
        let real = |path: &Path| path.canonicalize().map_err(|error| format!("{}: {error}", path.display()));
        if !real(&dir)?.starts_with(real(folder)?) {
            return Err(format!("{} leads out of the project", dir.display()));
        }
        let words = match &start {
            Start::Words(words) => words.clone(),
            Start::Shell(_) if cfg!(not(unix)) => return Err("it needs a shell, and there is none here".to_owned()),
            Start::Shell(text) => vec![SHELL.to_owned(), "-c".to_owned(), text.clone()],
        };
        let wrap = self.wrap.iter().map(|word| word.replace("{dir}", &folder.to_string_lossy()));
        let wrap: Vec<String> = wrap.collect();
        let file = |name: &String| -> Result<PathBuf, String> {
            let found = match Path::new(name).components().count() {
                1 => program::find(name, cx.env),
                _ => Some(dir.join(name)).filter(|path| path.exists()),
            };
            found.ok_or_else(|| format!("there is no program `{}` in a folder of PATH", sanitise(name)))
        };
        let mut all: Vec<OsString> = Vec::new();
        for part in [&wrap, &words] {
            let Some((first, rest)) = part.split_first() else { continue };
            all.push(file(first)?.into_os_string());
            all.extend(rest.iter().map(OsString::from));
        }
        if all.is_empty() {
            return Err("there is no command".to_owned());
        }
        let program = PathBuf::from(all.remove(0));
        let name = wrap.first().or(words.first()).cloned().unwrap_or_default();
        Ok(ReadyCommand { program, name, args: all, dir, vars: self.vars.clone(), start })
    }
}

/// The rules that commands of this vault's notes run by.
pub(in crate::commands) struct Consenting<'c> {
    rules: ConsentRules,
    user: UserConfig,
    roots: ProjectRoots,
    /// The folders that the person stands in: that of the repository first.
    stood: Vec<PathBuf>,
    vault: PathBuf,
    cx: &'c Context<'c>,
}

impl<'c> Consenting<'c> {
    /// Of the user's configuration. What in it allows nothing is a warning, and so is `[run]` of a vault.
    pub(in crate::commands) fn of(vault: &Vault, cx: &'c Context<'c>) -> Result<Self> {
        let (user, _) = UserConfig::read(cx.env)?;
        let is_run = |message: &str| message == "unknown key 'run'";
        if vault.warnings().iter().any(|finding| is_run(&finding.diagnostic.message)) {
            cx.ui.warn("[run] of the vault's configuration is ignored: only your own configuration allows commands");
        }
        let (rules, faults) = ConsentRules::new(&user.run.allow);
        let place = cx.env.config_dir().unwrap_or_default().join("config.toml");
        for fault in faults {
            cx.ui.warn(&format!("{}: {fault}", place.display()));
        }
        let here = cx.env.cwd().to_owned();
        let top = Repository::of(&here, cx).map(|repository| repository.top().to_owned());
        let stood = top.into_iter().chain([here]).collect();
        let roots = ProjectRoots::new(&user.projects, cx.env);
        Ok(Self { rules, user, roots, stood, vault: vault.root().to_owned(), cx })
    }

    /// Whether a program may be started in `folder` because a note names it as its project: the person stands there, their
    /// configuration knows it, or they are asked; why not.
    pub(in crate::commands) fn start_in(
        &self,
        folder: &Path,
        project: Option<&str>,
        program: &str,
    ) -> Result<(), String> {
        let real = |path: &Path| path.canonicalize().ok();
        let is_here = self.stood.iter().any(|stood| real(stood) == real(folder));
        let is_known = |it: RunFolder| it.is_known && real(&it.path) == real(folder);
        if is_here || self.folder(project).is_some_and(is_known) {
            return Ok(());
        }
        let place = sanitise(&folder.to_string_lossy()).into_owned();
        match self.cx.ui.confirm(&format!("The note names the folder {place}. Start {} there?", sanitise(program))) {
            Some(true) => Ok(()),
            Some(false) => Err("nothing was started".to_owned()),
            None => Err(format!(
                "only the note names the folder {place}, so nothing was started; run the command from there, or name it in \
                 `[projects]` of your own configuration"
            )),
        }
    }

    /// The folder that commands of a project run in, as a note names the project; `None` where it is not on this machine.
    pub(super) fn folder(&self, project: Option<&str>) -> Option<RunFolder> {
        self.roots.run_folder(project.unwrap_or_default(), &self.stood, &self.vault)
    }

    /// What the rules say of a text, without asking anybody.
    pub(super) fn decide(&self, text: &str, folder: &RunFolder) -> Consent {
        self.rules.decide(text, folder)
    }

    /// Which commands of one project may run, each with its text and what [`Self::decide`] said of it: those that are
    /// allowed, and those that a person agrees to, who is shown each of them whole and is asked once.
    pub(super) fn agree(&self, commands: Vec<(&str, Consent)>, folder: &RunFolder) -> Vec<Agreement> {
        let asked: Vec<(&str, &NoteCommand)> = commands
            .iter()
            .filter_map(|(text, consent)| match consent {
                Consent::Ask(command) => Some((*text, command)),
                _ => None,
            })
            .collect();
        let answer = if asked.is_empty() { None } else { self.cx.ui.confirm(&question(&asked, folder)) };
        let settle = |(_, consent): (&str, Consent)| match (consent, answer) {
            (Consent::ByHand(why), _) => Agreement::No(why),
            (Consent::Allowed(command), _) | (Consent::Ask(command), Some(true)) => Agreement::Yes(AgreedCommand {
                command,
                wrap: self.user.run.wrap.clone(),
                vars: consent::variables(&self.user.run.env, self.cx.env),
            }),
            (Consent::Ask(_), Some(false)) => Agreement::No("you said no".to_owned()),
            (Consent::Ask(command), None) => Agreement::No(unasked(&command, folder)),
        };
        commands.into_iter().map(settle).collect()
    }
}

/// Why a command did not run that nobody could be asked for.
fn unasked(command: &NoteCommand, folder: &RunFolder) -> String {
    if !folder.is_known {
        let folder = sanitise(&folder.path.to_string_lossy()).into_owned();
        return format!(
            "not a terminal, and only the note names its folder {folder}; run it from there, or name it in `[projects]` of \
             your own configuration"
        );
    }
    if !command.is_plain() {
        return "not a terminal, and it needs a shell: `[run] allow` allows plain commands alone".to_owned();
    }
    "not a terminal, and `[run] allow` of your own configuration does not name it".to_owned()
}

fn question(commands: &[(&str, &NoteCommand)], folder: &RunFolder) -> String {
    let mut question = String::new();
    for (text, command) in commands {
        let prompt = if command.is_plain() { "$" } else { "sh$" };
        for (at, line) in sanitise(text).lines().enumerate() {
            let _ = writeln!(question, "{} {line}", if at == 0 { prompt } else { ">" });
        }
    }
    let count = plural(commands.len() as u64, "command");
    let by = if folder.is_known { "" } else { ", a folder that only the note names" };
    let _ = write!(question, "Run {count} in {}{by}?", sanitise(&folder.path.to_string_lossy()));
    question
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
        let allow_is_known = !allow.contains(&"nobody");
        let allow = allow.iter().map(|it| (*it).to_owned()).collect();
        let user = UserConfig { run: RunConfig { allow, ..RunConfig::default() }, ..UserConfig::default() };
        let (rules, _) = ConsentRules::new(&user.run.allow);
        let roots = ProjectRoots::default();
        let consenting = Consenting { rules, user, roots, stood: Vec::new(), vault: PathBuf::from("/vault"), cx: &cx };
        let names = vec!["/code".to_owned()];
        let folder = RunFolder { path: "/code".into(), names, is_known: allow_is_known, ..RunFolder::default() };
        let commands = texts.iter().map(|text| (*text, consenting.decide(text, &folder))).collect();
        let given = consenting.agree(commands, &folder);
        (
            given.iter().map(|it| matches!(it, Agreement::Yes(_))).collect(),
            person.asked.into_inner().unwrap().into_inner(),
        )
    }

    #[test]
    fn a_person_is_shown_each_command_whole_and_asked_once() {
        let texts = ["cargo test", "sort a > b", "curl x", "cat a"];
        let (yes, asked) = agreed(Some(true), &["cat *"], &texts);
        assert_eq!(yes, [true, true, false, true], "what is by hand stays by hand");
        assert_eq!(asked, ["$ cargo test\nsh$ sort a > b\nRun 2 commands in /code?"]);
        assert_eq!(agreed(Some(false), &["cat *"], &texts).0, [false, false, false, true]);
        assert_eq!(agreed(None, &["cat *"], &texts).0, [false, false, false, true]);
    }

    #[test]
    fn a_folder_that_only_a_note_names_is_asked_for() {
        let (yes, asked) = agreed(Some(true), &["cat *", "nobody"], &["cat a"]);
        assert_eq!(
            (yes, asked),
            (vec![true], vec!["$ cat a\nRun 1 command in /code, a folder that only the note names?".to_owned()])
        );
        assert_eq!(agreed(None, &["cat *", "nobody"], &["cat a"]).0, [false]);
    }

    #[test]
    fn nobody_is_asked_for_what_never_runs() {
        let (yes, asked) = agreed(Some(true), &["*"], &["curl x | sh", "rm -rf ~", "cargo test\u{a0}"]);
        assert_eq!((yes, asked), (vec![false, false, false], Vec::new()));
    }
}
