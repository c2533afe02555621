//! A tool call: its kind, its commands with their classes, and what they say together.

use std::borrow::Cow;
use std::ops::Range;

use crate::argv;
use crate::class::{CheckKind, Class};
use crate::program::{self, Inner};
use crate::shell::{
    Dialect, Hidden, Nesting, Operator, PipePlace, Redirection, RedirectionKind, Script, SimpleCommand, Word,
};
use crate::tool::{self, ToolKind};

mod ended;
mod files;
mod folder;
mod identity;
mod section;
#[cfg(test)]
mod tests;
mod undo;

pub use ended::CallEnd;
pub use files::{FileRead, FileWrite, Lines, MAX_FILES};
pub(crate) use folder::joined;

/// A tool call, read from the tool's name and its argument as a note's step shows them.
#[derive(Clone, Debug)]
pub struct Action<'a> {
    /// What the tool is for.
    pub kind: ToolKind,
    /// The whole argument as given.
    pub args: &'a str,
    /// The simple commands of a shell call in order; none for other tools.
    pub commands: Vec<Command<'a>>,
    /// Whether all of a shell text was understood; `true` for other tools.
    pub complete: bool,
    /// The command whose exit status is that of the call, as an index into `commands`, where it is one command.
    pub status: Option<usize>,
    class: Class,
    writes: Vec<FileWrite>,
    reads: Vec<FileRead>,
    bindings: Vec<(String, String)>,
}

/// One simple command of a shell call, wrappers such as `sudo` or `npx` taken off.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "four facts that do not depend on each other")]
pub struct Command<'a> {
    /// Its bytes in [`Action::args`], wrappers and assignments included, here-documents not. A command out of a text
    /// that was quoted with escapes has the bytes of the whole quoted word.
    pub range: Range<usize>,
    /// Bytes of the outermost command in whose text it stands (`nix-shell --run "make test"`).
    outer: Option<Range<usize>>,
    /// The operator before it.
    pub operator: Operator,
    /// Its place in its pipeline.
    pub pipe: PipePlace,
    /// What it stands in.
    pub nesting: Nesting,
    /// Why the exit status of the call says nothing sure about it.
    pub hidden: Option<Hidden>,
    /// The name of the program as the table has it (`gradle` for `./gradlew`); empty for an assignment alone.
    pub program: Cow<'a, str>,
    /// The words from the program on, as written without quotes.
    pub words: Vec<Cow<'a, str>>,
    /// The words that name what it does: `test`, `run lint`; may be empty.
    pub verb: String,
    /// What it does.
    pub class: Class,
    /// What it checks; only with [`Class::Check`].
    pub check: Option<CheckKind>,
    /// Whether it changes nothing anywhere. Other machines may be asked.
    pub reads_only: bool,
    /// Whether others see what it made: `git push`, `npm publish`, `gh pr create`.
    pub publishes: bool,
    /// Whether only the name of a file says what it does: `./scripts/check-all.sh`, `python test_x.py`.
    pub by_file: bool,
    /// Whether some of its output goes to a file or nowhere: `2>/dev/null`, `> log`.
    pub diverts_output: bool,
    /// Bytes of the bodies of its here-documents in [`Action::args`].
    pub bodies: Vec<Range<usize>>,
    /// Files that its redirections write anew, as written: `> log`, not `>> log`.
    pub truncates: Vec<Cow<'a, str>>,
}

/// Levels of texts within texts (`bash -c 'sh -c …'`) that are read.
const MAX_TEXTS: usize = 4;

/// Values of variables that are kept.
const MAX_BINDINGS: usize = 200;

/// Wrappers of one command that are taken off.
const MAX_WRAPPERS: usize = 12;

impl<'a> Action<'a> {
    /// Reads a call.
    pub fn of(tool: &str, args: &'a str) -> Self {
        let (kind, class) = tool::class(tool);
        let mut action = Self { class, ..Self::unread(kind, args) };
        if kind != ToolKind::Shell {
            return action;
        }
        let name = tool.to_ascii_lowercase();
        let dialect = match name.as_str() {
            "powershell" | "pwsh" => Dialect::PowerShell,
            "cmd" => Dialect::Cmd,
            _ => Dialect::Posix,
        };
        match argv::unpack(args) {
            Cow::Borrowed(text) => {
                let script = Script::read_as(text, dialect);
                action.add(&script, &Place::default(), 0);
                action.status = action.status_of(&script);
            }
            Cow::Owned(text) => action.add_foreign(&text, 0..args.len(), dialect),
        }
        action.find_files();
        action.class = action.commands.iter().map(|command| command.class).max().unwrap_or_default();
        action
    }

    /// Whether this exit status of the call is an answer, "nothing found" or "not equal", and no failure: that of the one
    /// command whose status is that of the call, where its program answers so.
    pub fn answers(&self, exit: i32) -> bool {
        let command = self.status.and_then(|at| self.commands.get(at));
        exit == 1 && command.is_some_and(|command| program::answers(&command.words))
    }

    /// The first command that has a linter, a formatter or a script of the project rewrite sources, `npm run lint:fix`:
    /// which files, nobody knows.
    pub fn mends(&self) -> Option<&Command<'a>> {
        self.commands.iter().find(|it| it.class == Class::Change && program::may_check(&it.program))
    }

    /// The strongest class among its commands, in the order of [`Class`]: destroy, git-change, install, network,
    /// change, check, run, unknown, git-look, look. For other tools the class of their kind.
    pub const fn class(&self) -> Class {
        self.class
    }

    /// Whether it is known to change nothing, here or elsewhere. A shell call with a part that is not understood, that
    /// goes on in the background or that writes anything but to a device is not known to.
    pub fn is_read_only(&self) -> bool {
        if self.kind != ToolKind::Shell {
            return matches!(self.class, Class::Look | Class::GitLook) || self.kind == ToolKind::Fetch;
        }
        self.complete
            && !self.commands.is_empty()
            && self.writes.iter().all(|write| write.path.starts_with("/dev/"))
            && self.commands.iter().all(|it| it.reads_only && it.hidden != Some(Hidden::Background))
    }

    /// Its checks in order.
    pub fn checks(&self) -> impl Iterator<Item = Check<'_, 'a>> {
        self.commands.iter().filter(|command| command.class == Class::Check).map(Check)
    }

    /// Whether it is a check or holds one.
    pub fn is_check(&self) -> bool {
        self.checks().next().is_some()
    }

    /// Files that it writes by redirections and `tee`.
    pub fn writes(&self) -> &[FileWrite] {
        &self.writes
    }

    /// Values that variables get in a shell text, as written, each with the name: of assignments, and of the words of
    /// `for`. A name may have several.
    pub fn bindings(&self) -> &[(String, String)] {
        &self.bindings
    }

    /// Files that it prints by `cat`, `nl`, `head`, `tail` and `sed -n`.
    pub fn reads(&self) -> &[FileRead] {
        &self.reads
    }

    /// The read that all of its output is of: one file, printed as it is, with nothing else run beside it.
    pub fn only_read(&self) -> Option<&FileRead> {
        let [read] = self.reads() else { return None };
        let alone = self.complete && self.writes.is_empty() && read.stages == self.commands.len();
        Some(read).filter(|read| alone && read.verbatim)
    }

    /// The text of a command as it was written.
    pub fn text(&self, command: &Command<'_>) -> &'a str {
        self.args.get(command.range.clone()).unwrap_or("")
    }

    /// What was run of a command: where it stands in a text, the command that was given the text.
    pub fn whole_text(&self, command: &Command<'_>) -> &'a str {
        self.args.get(command.outer.clone().unwrap_or_else(|| command.range.clone())).unwrap_or("")
    }

    /// Whether it makes a commit: `git commit`, `merge`, `rebase`, `cherry-pick`, `revert`, `am`, `pull`.
    pub fn commits(&self) -> bool {
        self.git_verbs()
            .any(|verb| matches!(verb, "commit" | "merge" | "rebase" | "cherry-pick" | "revert" | "am" | "pull"))
    }

    /// Whether it pushes commits.
    pub fn pushes(&self) -> bool {
        self.commands.iter().any(Command::pushes)
    }

    /// Whether it makes something that others see: a push, a release, a pull request, a comment.
    pub fn publishes(&self) -> bool {
        self.commands.iter().any(|command| command.publishes)
    }

    fn git_verbs(&self) -> impl Iterator<Item = &str> {
        let git = self.commands.iter().filter(|it| it.program == "git" && it.class != Class::GitLook);
        git.filter_map(|command| command.verb.split(' ').next())
    }

    /// The patch of a call of `apply_patch` through a shell: the text from its first to its last mark.
    pub fn patch_text(&self) -> Option<&'a str> {
        let named = self.kind == ToolKind::Patch || self.commands.iter().any(Command::applies_patch);
        named.then(|| crate::patch::find(self.args)).flatten()
    }

    /// What the call does apart from looks and folders, where that is one patch.
    pub fn only_patch(&self) -> Option<&'a str> {
        let patch = self.patch_text()?;
        let only = self.commands.iter().all(|it| it.applies_patch() || it.words.is_empty() || it.program == "cd");
        only.then_some(patch)
    }

    /// Reads a text that is not part of the arguments as they stand.
    fn add_foreign(&mut self, text: &str, whole: Range<usize>, dialect: Dialect) {
        let mut inner = Action::unread(self.kind, text);
        let script = Script::read_as(text, dialect);
        inner.add(&script, &Place::default(), 0);
        self.complete &= inner.complete;
        self.status = inner.status_of(&script).map(|at| at + self.commands.len());
        self.commands.extend(inner.commands.into_iter().map(|command| command.into_owned(&whole)));
        self.writes.extend(inner.writes);
        self.bindings.append(&mut inner.bindings);
    }

    /// Adds the commands of a text.
    fn add(&mut self, script: &Script<'a>, place: &Place, depth: usize) {
        self.complete &= script.complete;
        self.bind(script);
        let mut before = files::Before::default();
        for (at, simple) in script.commands.iter().enumerate() {
            let first = self.commands.len();
            self.add_simple(script, simple, place, depth);
            files::writes(script, at, first.min(self.commands.len().saturating_sub(1)), &mut before, &mut self.writes);
        }
    }

    /// Keeps what variables get, as far as it is written out.
    fn bind(&mut self, script: &Script<'a>) {
        let mut add = |name: &str, value: &str| {
            if self.bindings.len() < MAX_BINDINGS {
                self.bindings.push((name.to_owned(), value.to_owned()));
            }
        };
        for each in &script.loops {
            each.words.iter().for_each(|word| add(&each.name, &word.text));
        }
        for simple in &script.commands {
            let declares = simple.words.first().is_some_and(|word| {
                matches!(word.text.as_ref(), "export" | "local" | "readonly" | "declare" | "typeset")
            });
            let declared = simple.words.get(1..).filter(|_| declares).unwrap_or_default();
            let pairs =
                simple.assignments.iter().chain(declared).filter_map(|word: &Word<'_>| word.text.split_once('='));
            pairs.for_each(|(name, value)| add(name, value));
        }
    }

    fn add_simple(&mut self, script: &Script<'a>, simple: &SimpleCommand<'a>, place: &Place, depth: usize) {
        let mut words: Vec<Cow<'a, str>> = simple.words.iter().map(|word| word.text.clone()).collect();
        let mut start = 0;
        for _ in 0..MAX_WRAPPERS {
            match program::unwrap(&words) {
                Some(Inner::Words(at)) => {
                    words.drain(..at);
                    start += at;
                }
                Some(Inner::Script { at, joined, dialect }) if depth < MAX_TEXTS => {
                    let before = self.commands.len();
                    self.add_inner(script, simple, start + at, joined, dialect, place, depth);
                    if self.commands.len() > before {
                        return;
                    }
                    break;
                }
                Some(Inner::Script { .. }) => {
                    self.complete = false;
                    break;
                }
                None => break,
            }
        }
        let expands = simple.words.get(start).is_some_and(|word| word.expands);
        let mut command = Command {
            range: place.range(&simple.range),
            outer: place.outer.map(|(from, to)| from..to),
            operator: simple.operator,
            pipe: simple.pipe,
            nesting: simple.nesting.max(place.nesting),
            hidden: simple.hidden.or(place.hidden),
            program: Cow::Borrowed(""),
            words,
            class: Class::Unknown,
            diverts_output: simple.redirections.iter().any(Redirection::is_write),
            bodies: simple
                .redirections
                .iter()
                .filter_map(|it| it.body.as_ref())
                .map(|body| place.range(body))
                .collect(),
            truncates: simple
                .redirections
                .iter()
                .filter(|it| it.kind == RedirectionKind::Write)
                .map(|it| it.target.text.clone())
                .collect(),
            ..Command::default()
        };
        command.classify(expands, &simple.redirections);
        self.commands.push(command);
    }

    /// Adds the commands of a text within a command.
    #[expect(clippy::too_many_arguments, reason = "one step of the reading of a command, cut out for its length")]
    fn add_inner(
        &mut self,
        script: &Script<'a>,
        simple: &SimpleCommand<'a>,
        at: usize,
        joined: bool,
        dialect: Dialect,
        place: &Place,
        depth: usize,
    ) {
        let Some(word) = simple.words.get(at) else { return };
        let last = simple.words.last().unwrap_or(word);
        let whole = word.range.start..if joined { last.range.end } else { word.range.end };
        let hidden = simple.hidden.or(place.hidden);
        let nesting = simple.nesting.max(place.nesting);
        let own = place.range(&simple.range);
        let outer = place.outer.or(Some((own.start, own.end)));
        let before = self.commands.len();
        let written = self.writes.len();
        // The text as it stands in the source, where quotes hide nothing in it.
        let raw = script.text.get(whole.clone()).unwrap_or("");
        let several = joined && word.range != last.range;
        let verbatim = match &word.text {
            _ if several => Some((raw, whole.start)),
            Cow::Borrowed(text) => raw.find(text).map(|offset| (*text, whole.start + offset)),
            Cow::Owned(_) => None,
        };
        if let Some((text, offset)) = verbatim
            && !place.is_foreign
        {
            let inner = Script::read_as(text, dialect);
            let place = Place { offset: place.offset + offset, hidden, nesting, is_foreign: false, outer };
            self.add(&inner, &place, depth + 1);
        } else {
            let mut inner = Action::of_text(&word.text, dialect);
            self.complete &= inner.complete;
            self.bindings.append(&mut inner.bindings);
            let first = self.commands.len();
            self.writes
                .extend(inner.writes.drain(..).map(|write| FileWrite { command: write.command + first, ..write }));
            let whole = place.range(&whole);
            self.commands.extend(inner.commands.into_iter().map(|command| {
                let mut command = command.into_owned(&whole);
                command.hidden = command.hidden.or(hidden);
                command.nesting = command.nesting.max(nesting);
                command.outer = outer.map(|(from, to)| from..to);
                command
            }));
        }
        // A text within others does not know when it runs, nor in which folder.
        if script.commands.len() > 1 || nesting != Nesting::Top {
            self.writes.iter_mut().skip(written).for_each(|write| write.certain = false);
        }
        if let Some(first) = self.commands.get_mut(before) {
            first.operator = simple.operator;
        }
    }

    /// Of a text that is still to be read.
    const fn unread(kind: ToolKind, args: &'a str) -> Self {
        Self {
            kind,
            args,
            commands: Vec::new(),
            complete: true,
            status: None,
            class: Class::Unknown,
            writes: Vec::new(),
            reads: Vec::new(),
            bindings: Vec::new(),
        }
    }

    /// A text that is read once, without the texts within it.
    fn of_text(text: &'a str, dialect: Dialect) -> Self {
        let mut action = Self::unread(ToolKind::Shell, text);
        let script = Script::read_as(text, dialect);
        action.add(&script, &Place { is_foreign: true, ..Place::default() }, MAX_TEXTS);
        action
    }

    /// The command that has the status of a text, as an index into `commands`.
    fn status_of(&self, script: &Script<'_>) -> Option<usize> {
        let range = &script.commands.get(script.status?)?.range;
        // A text within it ends with its last command.
        let within = |command: &Command<'_>| command.range.start >= range.start && command.range.end <= range.end;
        let exact = self.commands.iter().position(|command| command.range == *range);
        exact.or_else(|| self.commands.iter().rposition(|it| within(it) && it.nesting < Nesting::Substitution))
    }

    fn find_files(&mut self) {
        self.reads = files::reads(&self.commands);
    }
}

/// Where a text stands in the arguments.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    offset: usize,
    hidden: Option<Hidden>,
    nesting: Nesting,
    /// Whether the text is not part of the arguments as they stand.
    is_foreign: bool,
    /// The bytes of the outermost command that was given the text.
    outer: Option<(usize, usize)>,
}

impl Place {
    fn range(&self, range: &Range<usize>) -> Range<usize> {
        self.offset + range.start..self.offset + range.end
    }
}

impl Command<'_> {
    fn classify(&mut self, expands: bool, redirections: &[Redirection<'_>]) {
        if self.words.is_empty() {
            // An assignment, or the redirections of a loop.
            self.class = Class::Look;
            self.reads_only = true;
        } else if can_be_program(&self.words[0], expands) {
            let known = program::classify(&self.words);
            self.program = known.program;
            self.verb = known.verb;
            self.class = known.effect.class;
            self.check = known.effect.check;
            self.reads_only = known.effect.reads_only;
            self.publishes = known.effect.publishes;
            self.by_file = known.effect.by_file;
        }
        // What is kept of the output of a look is a change.
        let keeps = |it: &Redirection<'_>| it.is_write() && !program::is_scratch(&it.target.text);
        let tees = self.program == "tee"
            && self.words.iter().skip(1).any(|word| !word.starts_with('-') && !program::is_scratch(word));
        if tees || redirections.iter().any(keeps) {
            self.reads_only = false;
            if matches!(self.class, Class::Look | Class::GitLook) {
                self.class = Class::Change;
            }
        }
    }

    fn into_owned<'b>(self, whole: &Range<usize>) -> Command<'b> {
        Command {
            range: whole.clone(),
            outer: None,
            operator: self.operator,
            pipe: self.pipe,
            nesting: self.nesting,
            hidden: self.hidden,
            program: Cow::Owned(self.program.into_owned()),
            words: self.words.into_iter().map(|word| Cow::Owned(word.into_owned())).collect(),
            verb: self.verb,
            class: self.class,
            check: self.check,
            reads_only: self.reads_only,
            publishes: self.publishes,
            by_file: self.by_file,
            diverts_output: self.diverts_output,
            bodies: Vec::new(),
            truncates: self.truncates.into_iter().map(|file| Cow::Owned(file.into_owned())).collect(),
        }
    }

    /// Whether it is the program by which hosts apply patches of agents.
    fn applies_patch(&self) -> bool {
        matches!(self.program.as_ref(), "apply_patch" | "applypatch")
    }

    /// Program and verb: `cargo test`, `git commit`, `npm run lint`. Two checks are the same check where this is equal.
    pub fn key(&self) -> String {
        match (self.program.as_ref(), self.verb.as_str()) {
            (program, "") => program.to_owned(),
            // The script `test` has a command of its own.
            (program @ ("npm" | "pnpm" | "yarn" | "bun"), "run test") => format!("{program} test"),
            (program, verb) => format!("{program} {verb}"),
        }
    }

    /// Whether it pushes commits: whole kinds of refs, what the branch is set up for, or a branch, tag or commit by its name. To
    /// delete a branch brings none along, nor do refs of other kinds, such as `refs/notes/ai`.
    pub fn pushes(&self) -> bool {
        let mut options = Vec::new();
        let mut operands = Vec::new();
        let mut words = self.words.iter().map(Cow::as_ref).skip_while(|word| *word != "push").skip(1);
        while let Some(word) = words.next() {
            match word {
                "-o" | "--push-option" | "--repo" | "--receive-pack" | "--exec" => drop(words.next()),
                _ if word.starts_with('-') => options.push(word),
                _ => operands.push(word),
            }
        }
        let has = |names: &[&str]| options.iter().any(|option| names.contains(option));
        let is_all = has(&["--all", "--branches", "--mirror", "--tags"]);
        let brings_commits = |word: &&str| {
            let source = word.trim_start_matches('+').split(':').next().unwrap_or_default();
            let is_commits = |kind: &str| ["heads/", "tags/", "remotes/"].iter().any(|it| kind.starts_with(it));
            // A single colon is every branch that both repositories have.
            matches!(*word, ":" | "+:") || !source.is_empty() && source.strip_prefix("refs/").is_none_or(is_commits)
        };
        // The first operand names the other repository.
        let refs = operands.get(1..).unwrap_or_default();
        let pushes = self.publishes && self.class == Class::GitChange && !has(&["-d", "--delete"]);
        pushes && (is_all || refs.is_empty() || refs.iter().any(brings_commits))
    }

    /// Whether its program keeps versions of files, or talks with a host of them: `git`, `gh`.
    pub fn keeps_versions(&self) -> bool {
        program::keeps_versions(&self.program)
    }

    /// Whether it is called as programs name their commands that only show something: `tool status`, `tool list-x`.
    /// A convention, so [`Command::class`] does not rest on it.
    pub fn is_named_look(&self) -> bool {
        const SHOWING: &[&str] = &[
            "describe", "doctor", "get", "help", "info", "inspect", "list", "logs", "ls", "ps", "show", "status",
            "version", "view", "whoami", "capture", "wait",
        ];
        let verb = self.words.get(1).map_or("", |word| word.split('-').next().unwrap_or(word));
        SHOWING.contains(&verb)
    }
}

/// Whether a first word names a program: not where it is an expression of another language, or an expansion whose end
/// is not written out.
fn can_be_program(word: &str, expands: bool) -> bool {
    let name = program::program_name(word);
    !name.contains(['\n', '$', '`', '{', ','])
        && !name.is_empty()
        && (!expands || name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.contains(' '))
}

/// A command that checks something.
#[derive(Clone, Copy, Debug)]
pub struct Check<'c, 'a>(&'c Command<'a>);

impl<'c, 'a> Check<'c, 'a> {
    /// The command.
    pub const fn command(&self) -> &'c Command<'a> {
        self.0
    }

    /// What it checks.
    pub fn kind(&self) -> CheckKind {
        self.0.check.unwrap_or(CheckKind::General)
    }

    /// What makes two checks the same check: program and verb, `cargo test`, `npm run lint`, `pytest`.
    pub fn key(&self) -> String {
        self.0.key()
    }

    /// Why the exit status of the call says nothing sure about it; `None` where success means that it passed.
    pub const fn hidden(&self) -> Option<Hidden> {
        self.0.hidden
    }
}
