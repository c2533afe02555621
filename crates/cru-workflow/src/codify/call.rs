//! The tool calls of a session as a workflow sees them: what each did, on what, and how it ended.
//!
//! Every fact is that of the step and of [`cru_action`]; nothing is read out of an output here.

use std::borrow::Cow;
use std::ops::Range;

use cru_action::shell::{Nesting, Operator};
use cru_action::{Action, CheckKind, Class, Command, ToolKind, Verdict, is_scratch};
use cru_base::list::distinct;
use cru_graph::Place;
use cru_session::{FileRef, Step, StepStatus};

use super::place::{named, relative};

/// What a call is for a workflow, least telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CallKind {
    /// Only looks, or prepares: `ls`, `git status`, `cd`.
    Look,
    /// Runs something of which no more is known.
    Run,
    /// Changes something that lasts: `git commit`, `npm install`.
    Change,
    /// Tests, builds or judges the work.
    Check,
    /// Changes a file through an editing tool.
    Edit,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It did what it should; a check passed.
    Well,
    /// It failed; a check did not pass.
    Badly,
    /// A person or the host refused it.
    Denied,
    /// The record does not say.
    Open,
}

/// A check within a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CheckCommand {
    /// The command as it was run, with the way to its folder, without what reads its output.
    pub text: String,
    /// Program and verb.
    pub key: String,
    /// What it judges.
    pub kind: CheckKind,
    /// Its words behind the program that name files or folders.
    pub paths: Vec<String>,
    /// The way to its folder; empty where it ran in the project's.
    folder: String,
    /// What it is run on: its words behind program and verb, options without their values left out.
    targets: Vec<String>,
    /// Its place among the commands of the call.
    pub index: usize,
    /// What another run of the same check has in common with it ([`Action::identity`]), and the way to its folder.
    pub identity: String,
}

impl CheckCommand {
    /// Whether a run of it that passed answers a run of `other` that failed: the same program in the same folder, on all
    /// that the other was run on. One that names nothing is run on everything.
    pub(super) fn answers(&self, other: &Self) -> bool {
        self.key == other.key
            && self.folder == other.folder
            && self.targets.iter().all(|target| other.targets.contains(target))
    }
}

/// One tool call of a session.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub(super) struct Call<'a> {
    /// The step.
    pub step: &'a Step,
    /// Where it stands; for a call of an inline sub-agent where its callout stands.
    pub place: Place,
    /// What kind of tool it is.
    pub tool: ToolKind,
    /// What it is for a workflow.
    pub kind: CallKind,
    /// Whether it ran in a shell, or is what a host ran in one.
    pub shell: bool,
    /// The command as it was run, paths of the project as `<project>/…`; for other tools that do something `tool args`.
    pub text: String,
    /// What it has in common with a call that is literally the same command ([`Action::identity`]).
    pub identity: Option<String>,
    /// Its checks.
    pub checks: Vec<CheckCommand>,
    /// Whether it makes a commit: by `git commit` or its like, or because its output shows one.
    pub commits: bool,
    /// Whether what it printed shows a commit that it made.
    pub shows_commit: bool,
    /// Whether nothing in the record says how its commit, or its push, ended: a pipe or a later command hides it.
    pub hides_commit: bool,
    /// The same of its push.
    pub hides_push: bool,
    /// Whether it may end a merge or its like that stopped: by a commit, or by going on with it.
    pub finishes: bool,
    /// Whether it gives a merge or its like up: `git rebase --abort`.
    pub gives_up: bool,
    /// Whether it runs `git commit` itself.
    pub records: bool,
    /// Whether its commit takes the place of the one before it: `git commit --amend`.
    pub amends: bool,
    /// Whether it pushes.
    pub pushes: bool,
    /// Whether others see what it made.
    pub publishes: bool,
    /// Whether one of its programs keeps versions, or talks with a host of them.
    pub keeps_versions: bool,
    /// Whether it asks another machine and changes nothing there.
    pub asks_elsewhere: bool,
    /// Programs and verbs of its commands that do the most.
    pub programs: Vec<String>,
    /// Words of its commands that may name files.
    pub words: Vec<String>,
    /// Words of its `git` commands that may name branches.
    pub branches: Vec<String>,
    /// Paths that it removes or puts back, and whether it puts everything back.
    pub taken_back: TakenBack,
    /// How it ended.
    pub ended: Ended,
    /// Paths it read.
    pub reads: Vec<Cow<'a, str>>,
    /// Paths it wrote.
    pub writes: Vec<Cow<'a, str>>,
}

/// Changes of files that a call takes back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TakenBack {
    /// Everything that is not committed.
    pub all: bool,
    /// Paths that are put back to what was committed.
    pub restored: Vec<String>,
    /// Paths that are removed.
    pub removed: Vec<String>,
    /// Whether everything that is not committed is put aside, or back again: `git stash`, `git stash pop`.
    pub stash: Option<Stash>,
}

/// What happens to a stash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stash {
    /// Changes are put aside.
    Away,
    /// They come back.
    Back,
}

/// Bytes of a word that may be a path.
const MAX_PATH: usize = 300;
/// Words of a call that are kept as possible paths.
const MAX_WORDS: usize = 64;

impl<'a> Call<'a> {
    /// Reads a step. `project` is the folder of the session, `~` for home.
    pub(super) fn of(step: &'a Step, place: Place, project: Option<&str>) -> Self {
        let text = step.full_args().trim();
        let mut action = Action::of(&step.tool, text);
        // A hand-written step may be the command itself, without the tool that ran it.
        let bare = if action.kind == ToolKind::Other && step.tool.starts_with(|c: char| c.is_ascii_lowercase()) {
            format!("{} {text}", step.tool)
        } else {
            String::new()
        };
        let typed = Action::of("Bash", &bare);
        if !bare.is_empty() && typed.class() != Class::Unknown {
            action = typed;
        }
        let shell = action.kind == ToolKind::Shell;
        let (mut reads, mut writes) = (paths(&step.reads, project), paths(&step.writes, project));
        for write in action.writes().iter().filter(|write| write.certain && step.writes.is_empty()) {
            let path = relative(&write.path, project);
            if is_plain(&path) && !is_scratch(&path) && !writes.contains(&path) {
                writes.push(Cow::Owned(path.into_owned()));
            }
        }
        let one_path = || is_one_path(text).then_some(Cow::Borrowed(text));
        // What a host committed by itself, told by hash and message.
        let by_host = Some(text).filter(|_| step.tool.eq_ignore_ascii_case("commit"));
        let by_host = by_host.and_then(|text| text.split_once(' ')).map(|(_, message)| message);
        let (kind, command) = if shell {
            (kind_of(&action), as_run(&action, project))
        } else if let Some(message) = by_host {
            (CallKind::Change, format!("git commit -m \"{}\"", message.replace('"', "'")))
        } else if action.kind.writes_files() {
            writes.extend(one_path().filter(|_| writes.is_empty()));
            (CallKind::Edit, String::new())
        } else if action.kind == ToolKind::Read {
            reads.extend(one_path().filter(|_| reads.is_empty()));
            (CallKind::Look, String::new())
        } else if !writes.is_empty() {
            (CallKind::Edit, String::new())
        } else {
            let look = action.kind.is_look()
                || action.kind == ToolKind::Subagent
                || text.is_empty()
                || matches!(action.class(), Class::Look | Class::GitLook);
            let command = if text.is_empty() { String::new() } else { format!("{} {text}", step.tool) };
            (if look { CallKind::Look } else { CallKind::Run }, command)
        };
        let shows_commit = step.commits().next().is_some();
        let gives_up = action
            .commands
            .iter()
            .any(|it| it.program == "git" && it.words.iter().any(|word| matches!(word.as_ref(), "--abort" | "--quit")));
        let mut call = Self {
            step,
            place,
            tool: action.kind,
            kind,
            shell: shell || by_host.is_some(),
            text: command,
            identity: action.identity().map(|identity| format!("{} {identity}", action.kind.name())),
            checks: checks(&action, project),
            commits: shows_commit || by_host.is_some() || action.commands.iter().any(makes_commit),
            shows_commit: shows_commit || by_host.is_some(),
            hides_commit: action.commands.iter().filter(|it| makes_commit(it)).all(|it| it.hidden.is_some()),
            hides_push: action.commands.iter().filter(|it| it.pushes()).all(|it| it.hidden.is_some()),
            finishes: (action.commits() && !gives_up) || by_host.is_some(),
            gives_up,
            records: action.commands.iter().any(|it| it.key() == "git commit") || by_host.is_some(),
            amends: action.amends(),
            pushes: action.pushes(),
            publishes: action.publishes(),
            keeps_versions: action.commands.iter().any(Command::keeps_versions),
            asks_elsewhere: shell
                && kind == CallKind::Look
                && action.commands.iter().any(|it| it.reads_only && it.class == Class::Network),
            programs: programs(&action),
            words: Vec::new(),
            branches: branches(&action),
            taken_back: taken_back(&action),
            ended: ended(step, shell, action.is_check()),
            reads,
            writes,
        };
        let words = action.commands.iter().flat_map(|it| it.words.iter().skip(1)).filter(|word| may_be_path(word));
        call.words =
            words.take(MAX_WORDS).map(|word| relative(word.trim_start_matches("./"), project).into_owned()).collect();
        call
    }

    /// What it does, with its commands.
    pub(super) fn action(&self) -> Action<'a> {
        self.step.action()
    }

    /// Whether it is known to have made a commit.
    pub(super) fn has_committed(&self) -> bool {
        self.shows_commit || (self.commits && self.succeeded() && !self.hides_commit)
    }

    /// Whether it is known to have pushed; `output` is what it printed, as far as that is known.
    pub(super) fn has_pushed(&self, output: Option<&str>) -> bool {
        let told = output.or(self.step.output.as_deref());
        let refused = told.is_some_and(|output| {
            output
                .lines()
                .map(str::trim_start)
                .any(|line| line.starts_with("! [") || line.starts_with("error: failed to push"))
        });
        let shown = || told.is_some_and(|output| output.lines().any(|line| line.contains(" -> ")));
        self.pushes && self.succeeded() && !refused && (!self.hides_push || shown())
    }

    /// Whether it is known to have failed.
    pub(super) fn failed(&self) -> bool {
        self.ended == Ended::Badly
    }

    /// Whether it ended well.
    pub(super) fn succeeded(&self) -> bool {
        self.ended == Ended::Well
    }

    /// Whether it is more than a look.
    pub(super) fn acts(&self) -> bool {
        self.kind != CallKind::Look
    }
}

/// How a step ended: a check by its verdict, anything else by its status and exit code.
fn ended(step: &Step, shell: bool, check: bool) -> Ended {
    match step.status {
        StepStatus::Denied => return Ended::Denied,
        StepStatus::Interrupted | StepStatus::NoResult | StepStatus::Pending | StepStatus::Running => {
            return Ended::Open;
        }
        StepStatus::Complete | StepStatus::Failed => {}
    }
    let verdict = if check && shell { step.verdict() } else { step.check };
    match verdict {
        Some(Verdict::Passed) => Ended::Well,
        Some(Verdict::Failed) => Ended::Badly,
        Some(Verdict::Unknown) => Ended::Open,
        // Whoever ends a server by a signal is done with it.
        None if step.exit.is_some_and(is_signal) => Ended::Open,
        None if step.status == StepStatus::Failed || step.exit.is_some_and(|code| code != 0) => Ended::Badly,
        None => Ended::Well,
    }
}

/// Whether an exit code says that somebody ended the command by a signal: an interrupt, a kill, a termination.
pub(super) const fn is_signal(code: i32) -> bool {
    matches!(code, 130 | 137 | 143)
}

/// Whether a command makes commits of its own, where it does not stop. A merge or a pull may make none.
fn makes_commit(command: &Command<'_>) -> bool {
    let verb = command.verb.split(' ').next().unwrap_or("");
    command.program == "git"
        && matches!(verb, "commit" | "cherry-pick" | "revert" | "am")
        && !command.words.iter().any(|word| matches!(word.as_ref(), "--abort" | "--quit" | "--dry-run"))
}

/// Words of the `git` commands of a call that may name branches: those behind the verb that are no options.
fn branches(action: &Action<'_>) -> Vec<String> {
    /// Verbs behind which no branch of the project stands.
    const OTHER: &[&str] = &["clone", "remote", "config", "submodule", "add", "rm", "mv"];
    let takes = |it: &&Command<'_>| it.program == "git" && !OTHER.contains(&it.verb.split(' ').next().unwrap_or(""));
    let words = action.commands.iter().filter(takes).flat_map(|it| it.words.iter().skip(2));
    let named = words.filter(|word| !word.starts_with('-') && !word.contains(char::is_whitespace));
    named.take(MAX_WORDS).map(|word| word.clone().into_owned()).collect()
}

/// What a shell call is: the most telling kind of what it runs.
fn kind_of(action: &Action<'_>) -> CallKind {
    action.commands.iter().map(kind_of_command).max().unwrap_or(CallKind::Look)
}

fn kind_of_command(command: &Command<'_>) -> CallKind {
    match command.class {
        Class::Look | Class::GitLook => CallKind::Look,
        Class::Check => CallKind::Check,
        Class::Destroy if removes_scratch(command) => CallKind::Look,
        Class::Change | Class::Install | Class::GitChange | Class::Destroy => CallKind::Change,
        Class::Network if command.reads_only => CallKind::Look,
        Class::Network if command.publishes => CallKind::Change,
        Class::Unknown if command.is_named_look() => CallKind::Look,
        Class::Network | Class::Run | Class::Unknown => CallKind::Run,
    }
}

/// Whether it takes away only what nobody keeps.
fn removes_scratch(command: &Command<'_>) -> bool {
    let mut named = command.words.iter().skip(1).filter(|word| !word.starts_with('-')).peekable();
    named.peek().is_some() && named.all(|path| is_scratch(path))
}

/// The checks of a call, each as it was run.
fn checks(action: &Action<'_>, project: Option<&str>) -> Vec<CheckCommand> {
    let mut checks = Vec::new();
    let mut folder: Vec<&str> = Vec::new();
    for (index, command) in action.commands.iter().enumerate() {
        if command.program == "cd" && command.nesting == Nesting::Top {
            let own = command.words.get(1).is_some_and(|path| is_project(path, project));
            folder = if own { Vec::new() } else { vec![action.text(command)] };
        }
        let (Class::Check, Some(kind)) = (command.class, command.check.or(Some(CheckKind::General))) else { continue };
        let own = action.whole_text(command).trim();
        let own = own.strip_suffix("2>&1").map_or(own, str::trim_end);
        let text = folder.iter().chain(&[own]).copied().collect::<Vec<_>>().join(" && ");
        let paths = command.words.iter().skip(1).filter(|word| !word.starts_with('-') && may_be_path(word));
        checks.push(CheckCommand {
            text: super::clean(&named(&text, project)),
            key: command.key(),
            kind,
            paths: paths.map(|path| relative(path, project).into_owned()).collect(),
            folder: folder.first().map_or_else(String::new, |way| relative(way, project).into_owned()),
            targets: targets(command),
            index,
            identity: format!("{} {}", folder.first().copied().unwrap_or_default(), action.identity_of(command)),
        });
    }
    checks
}

/// The words of a check behind program and verb that are no options: files, folders, packages, names of tests.
fn targets(command: &Command<'_>) -> Vec<String> {
    let verb: Vec<&str> = command.verb.split(' ').collect();
    let words = command.words.iter().skip(1).filter(|word| !word.starts_with('-') && !verb.contains(&word.as_ref()));
    words.take(MAX_WORDS).map(|word| word.trim_start_matches("./").to_owned()).collect()
}

/// Program and verb of the commands of the most telling kind, each once.
fn programs(action: &Action<'_>) -> Vec<String> {
    let kind = kind_of(action);
    let telling = |it: &&Command<'_>| kind_of_command(it) == kind && !it.program.is_empty() && it.program != "cd";
    distinct(action.commands.iter().filter(telling).map(Command::key), usize::MAX)
}

/// What a call takes back.
fn taken_back(action: &Action<'_>) -> TakenBack {
    let mut back = TakenBack::default();
    for command in &action.commands {
        let words: Vec<&str> = command.words.iter().map(Cow::as_ref).collect();
        let verb = command.verb.split(' ').next().unwrap_or("");
        let named = || words.iter().skip(1).filter(|word| !word.starts_with('-')).map(|word| (*word).to_owned());
        match (command.program.as_ref(), verb) {
            ("rm", _) => back.removed.extend(named()),
            ("git", "rm") => back.removed.extend(named().skip(1)),
            ("git", "checkout" | "restore") => {
                back.all |= named().any(|word| word == ".");
                back.restored.extend(named().skip(1));
            }
            ("git", "reset") => back.all |= words.contains(&"--hard"),
            ("git", "stash") => {
                let verb = named().nth(1);
                back.stash = match verb.as_deref() {
                    None | Some("push" | "save") if !words.contains(&"--") => Some(Stash::Away),
                    Some("pop" | "apply") => Some(Stash::Back),
                    _ => back.stash,
                };
            }
            _ => {}
        }
    }
    back
}

/// The command as it was run, without a way to the project's own folder before it.
fn as_run(action: &Action<'_>, project: Option<&str>) -> String {
    let text = action.args;
    let mut from = 0;
    if let [first, next, ..] = action.commands.as_slice()
        && first.program == "cd"
        && first.range.start == 0
        && first.words.len() == 2
        && is_project(&first.words[1], project)
        && matches!(next.operator, Operator::And | Operator::Sequence)
        && next.nesting == Nesting::Top
    {
        from = text.len() - text[first.range.end..].trim_start_matches([' ', '\n', '&', ';']).len();
    }
    named(text.get(from..).unwrap_or(text), project).into_owned()
}

/// Bytes of the bodies of here-documents in `text`.
pub(super) fn bodies(text: &str) -> Vec<Range<usize>> {
    Action::of("Bash", text).commands.into_iter().flat_map(|command| command.bodies).collect()
}

/// Whether a folder is the project's.
fn is_project(folder: &str, project: Option<&str>) -> bool {
    let plain = |path: &str| path.replace('\\', "/").trim_end_matches('/').to_lowercase();
    let (folder, Some(project)) = (plain(folder), project.map(plain)) else { return false };
    match project.strip_prefix('~') {
        Some("") => false,
        Some(tail) => folder.ends_with(tail),
        None => folder == project,
    }
}

fn paths<'a>(files: &'a [FileRef], project: Option<&str>) -> Vec<Cow<'a, str>> {
    files.iter().map(|file| relative(&file.path, project)).filter(|path| is_plain(path)).collect()
}

/// Whether a path can stand in a flow line: one line of plain text.
fn is_plain(path: &str) -> bool {
    let printable = path.bytes().all(|byte| byte.is_ascii_graphic());
    !path.is_empty() && (printable || super::clean(path) == path)
}

/// Whether the argument of a file tool is one path and nothing else.
fn is_one_path(args: &str) -> bool {
    is_plain(args)
        && args.len() < MAX_PATH
        && !args.contains(['\n', '`', '"', '…'])
        && args.split_whitespace().count() == 1
}

/// Whether a word of a command can be the path of a file.
fn may_be_path(word: &str) -> bool {
    word.len() < MAX_PATH
        && word.contains(['/', '.'])
        && !word.contains("://")
        && word.contains(char::is_alphanumeric)
        && !word.contains(['\n', '`', '"', '$', '*', '(', '{', '<', '>'])
        && !word.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place { phase: None, item: None };

    fn step(tool: &str, args: &str) -> Step {
        Step { tool: tool.into(), args: args.into(), ..Step::default() }
    }

    #[test]
    fn kinds_of_calls() {
        let kind = |tool: &str, args: &str| Call::of(&step(tool, args), PLACE, None).kind;
        for (command, expected) in [
            ("ls -la", CallKind::Look),
            ("sudo timeout 60 cargo +nightly test -p auth", CallKind::Check),
            ("RUST_LOG=debug cargo run", CallKind::Run),
            ("cargo fmt", CallKind::Change),
            ("npm run dev", CallKind::Run),
            ("sed -i s/a/b/ x", CallKind::Change),
            ("echo hi > out.txt", CallKind::Change),
            ("cat > /tmp/notes.md", CallKind::Look),
            ("rm -rf /tmp/x", CallKind::Look),
            ("rm -rf build", CallKind::Change),
            ("git add a.rs", CallKind::Change),
            ("gh api repos/a/b/pulls --jq .", CallKind::Look),
            ("tool status", CallKind::Look),
            ("tool push", CallKind::Run),
            ("", CallKind::Look),
        ] {
            assert_eq!(kind("Bash", command), expected, "{command}");
        }
        for (tool, args, expected) in [
            ("Read", "src/a.rs", CallKind::Look),
            ("Edit", "src/a.rs", CallKind::Edit),
            ("TodoWrite", "3 tasks", CallKind::Look),
            ("mcp__github__create_issue", "x", CallKind::Run),
            ("mcp__github__get_issue", "x", CallKind::Look),
            ("WebFetch", "https://example.org", CallKind::Look),
            ("cargo", "test -p auth", CallKind::Check),
        ] {
            assert_eq!(kind(tool, args), expected, "{tool}");
        }
    }

    #[test]
    fn commands_stay_as_they_were_run() {
        let text = |command: &str| Call::of(&step("Bash", command), PLACE, Some("~/code/api")).text;
        for (command, expected) in [
            ("cd /home/me/code/api && cargo test 2>&1 | tail -5", "cargo test 2>&1 | tail -5"),
            ("cd web && npm test; echo done", "cd web && npm test; echo done"),
            ("make serve & sleep 3; curl -s localhost:80", "make serve & sleep 3; curl -s localhost:80"),
            ("cat /home/me/code/api/a b", "cat <project>/a b"),
            ("git -C /home/me/code/api status", "git -C <project> status"),
            ("cat > a <<'EOF'\nx && y\nEOF\nls", "cat > a <<'EOF'\nx && y\nEOF\nls"),
        ] {
            assert_eq!(text(command), expected);
        }
    }

    #[test]
    fn checks_have_their_folder_and_no_filter() {
        let checks = |command: &str| -> Vec<String> {
            Call::of(&step("Bash", command), PLACE, Some("~/code/api")).checks.into_iter().map(|it| it.text).collect()
        };
        assert_eq!(checks("cd /home/me/code/api && cargo test 2>&1 | tail -5"), ["cargo test"]);
        assert_eq!(checks("cd web && npm test && npm run lint"), ["cd web && npm test", "cd web && npm run lint"]);
    }

    #[test]
    fn only_a_failure_is_one() {
        let ended = |status, exit| {
            let step = Step { status, exit, result: Some("error: no".into()), ..step("Bash", "./deploy") };
            Call::of(&step, PLACE, None).ended
        };
        assert_eq!(ended(StepStatus::Complete, Some(0)), Ended::Well);
        assert_eq!(ended(StepStatus::Complete, Some(2)), Ended::Badly);
        assert_eq!(ended(StepStatus::Failed, None), Ended::Badly);
        assert_eq!(ended(StepStatus::Denied, None), Ended::Denied);
        assert_eq!(ended(StepStatus::Interrupted, None), Ended::Open);
        assert_eq!(ended(StepStatus::NoResult, None), Ended::Open);
    }

    #[test]
    fn paths_come_from_arguments_where_nothing_is_recorded() {
        let call = |tool: &str, args: &str| {
            let step = step(tool, args);
            let call = Call::of(&step, PLACE, None);
            let text = |paths: &[Cow<'_, str>]| paths.join(" ");
            (text(&call.reads), text(&call.writes))
        };
        assert_eq!(call("Write", "src/a.rs"), (String::new(), "src/a.rs".into()));
        assert_eq!(call("Read", "src/a.rs"), ("src/a.rs".into(), String::new()));
        assert_eq!(call("Edit", "two words"), (String::new(), String::new()));
        assert_eq!(call("Bash", "sort a.csv > b.csv").1, "b.csv");
    }
}
