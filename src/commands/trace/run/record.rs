//! A command that runs as a step: before it starts it is known which session it belongs to, and afterwards what it read,
//! wrote, said and proved is a step of that session.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::snapshot::{ChangedFiles, FilesBefore};
use crate::action::{Action, CallEnd};
use crate::base::text::{one_line, sanitise};
use crate::base::{Error, Result, files};
use crate::commands::trace::agree::ReadyCommand;
use crate::commands::{Context, PassedCall, PassedEnd, Passing};
use crate::live::entry::{self, Entry};
use crate::live::file::{self, Place};
use crate::live::git;
use crate::live::hook::shell;
use crate::live::log::{Log, Target};
use crate::session::file_ref;
use crate::session::fold::result_line;
use crate::session::mask::Masks;
use crate::session::{Status, StepStatus};
use crate::sync::flush::to_log;
use crate::trace::consent::Start;
use crate::vault::config::expand_home;
use crate::vault::state::key;
use crate::vault::{Catalog, State, Vault};

/// What recorded a step, in its nested line `by:`.
pub(in crate::commands) const RECORDER: &str = "cru run";

/// Files of a step that its note names.
const MOST_WRITES: usize = 100;

/// What runs.
#[derive(Clone, Debug)]
pub(in crate::commands::trace) enum RunCommand {
    /// A program with its arguments.
    Words(Vec<OsString>),
    /// A command of a note that somebody agreed to.
    Note(ReadyCommand),
}

/// What runs, and what is known of it.
#[derive(Clone, Debug)]
pub(in crate::commands::trace) struct RunRequest {
    pub(in crate::commands::trace) command: RunCommand,
    /// What the note shows of it, where that is not the command itself.
    pub(in crate::commands::trace) shown: Option<String>,
    /// Files that it reads, as somebody named them.
    pub(in crate::commands::trace) reads: Vec<String>,
    /// Files that it writes.
    pub(in crate::commands::trace) writes: Vec<String>,
    /// Links to steps that it depends on.
    pub(in crate::commands::trace) after: Vec<String>,
    /// A link to the step that it runs again.
    pub(in crate::commands::trace) replays: Option<String>,
    /// A link to the cell that it runs.
    pub(in crate::commands::trace) cell: Option<String>,
    /// The folder that it runs in.
    pub(in crate::commands::trace) dir: PathBuf,
    /// The folder that stands for the project, where it does not run in the project itself.
    pub(in crate::commands::trace) scratch: Option<PathBuf>,
}

/// A step that was run.
#[derive(Debug, Serialize)]
pub(in crate::commands::trace) struct RecordedStep {
    pub(in crate::commands::trace) session: String,
    /// `None` where the note could not be written; the step waits in the journal then.
    pub(in crate::commands::trace) step: Option<String>,
    pub(in crate::commands::trace) command: String,
    pub(in crate::commands::trace) exit: u8,
    pub(in crate::commands::trace) result: String,
    pub(in crate::commands::trace) reads: Vec<String>,
    pub(in crate::commands::trace) writes: Vec<String>,
    pub(in crate::commands::trace) check: Option<&'static str>,
    /// The file that has all of its output.
    pub(in crate::commands::trace) evidence: Option<String>,
}

/// Records steps of one session.
pub(in crate::commands::trace) struct StepRecorder<'c> {
    vault: Vault,
    state: State,
    pub(in crate::commands::trace) target: Target,
    /// The folder of the session's project, where it is on this machine.
    pub(in crate::commands::trace) project: Option<PathBuf>,
    /// Other active sessions of the folder.
    also_active: Vec<String>,
    cx: &'c Context<'c>,
}

impl<'c> StepRecorder<'c> {
    /// For the session of that name, else the current one, as `cru log` finds it.
    ///
    /// Errors: there is none.
    pub(in crate::commands::trace) fn find(session: Option<&str>, cx: &'c Context<'c>) -> Result<Self> {
        let vault = Vault::find(cx.vault_arg(), cx.env)?;
        let state = State::of(&vault, cx.env)?;
        let logging = to_log(session, &vault, &state, cx.env, &|text| cx.ui.warn(text))?;
        if let Some(error) = logging.away {
            return Err(error);
        }
        let target = logging.target;
        let folder = |project: Option<&str>| expand_home(project?, cx.env).filter(|dir| dir.is_dir());
        let project = folder(target.meta.project.as_deref());
        let here = project.clone().unwrap_or_else(|| cx.env.cwd().to_owned());
        let catalog = Catalog::read(&vault);
        let is_beside = |head: &&crate::vault::Head| {
            let own = folder(head.meta.project.as_deref());
            head.meta.status == Some(Status::Active)
                && head.path != target.path
                && own.is_some_and(|own| own.starts_with(&here) || here.starts_with(&own))
        };
        let also_active = catalog.sessions().filter(is_beside).map(crate::vault::Head::id).collect();
        Ok(Self { vault, state, target, project, also_active, cx })
    }

    /// Runs it and records the step. `passing`: where its output goes on to.
    ///
    /// Errors: it cannot be logged at all. A note that cannot be written now is a warning.
    pub(in crate::commands::trace) fn run(&self, request: &RunRequest, passing: Passing) -> Result<RecordedStep> {
        let cx = self.cx;
        let project = request.scratch.as_ref().or(self.project.as_ref());
        let place = Place { cwd: &request.dir, project: project.map(PathBuf::as_path), home: cx.env.home() };
        let named_reads: Vec<String> = request.reads.iter().map(|path| file::named(path, place)).collect();
        let implied_reads: Vec<String> = Self::implied(request).iter().map(|path| file::named(path, place)).collect();
        let root = project.cloned().filter(|root| request.dir.starts_with(root));
        let root = root.unwrap_or_else(|| request.dir.clone());
        let before = FilesBefore::take(&root, &self.vault, cx);
        if before.is_none() {
            cx.ui.note("the project has more than 50,000 files: only files that are named count as written");
        }
        let head = git::checkout(&request.dir).commit;
        let started = cx.env.now();
        let end = self.pass(request, passing);
        let changes = before.map(|before| before.changes(&self.vault, cx)).unwrap_or_default();
        let mut step = entry::Tool {
            at: Some(started),
            tool: "Bash".to_owned(),
            args: request.shown.clone().unwrap_or_else(|| self.text(request)),
            after: request.after.clone(),
            replays: request.replays.clone(),
            cell: request.cell.clone(),
            also_active: self.also_active.clone(),
            by: Some(RECORDER.to_owned()),
            ..entry::Tool::default()
        };
        self.add_files(&mut step, &named_reads, &implied_reads, &request.writes, &changes, &root, place);
        let output = Self::end(&mut step, &end);
        if let Some(commit) = git::checkout(&request.dir).commit.filter(|now| head.as_ref() != Some(now)) {
            step.commits.push(self.commit(&request.dir, &commit));
        }
        self.record(step, &end, &output)
    }

    fn pass(&self, request: &RunRequest, passing: Passing) -> PassedEnd {
        let none = (OsStr::new(""), &[][..]);
        let call = match &request.command {
            RunCommand::Words(words) => {
                let (program, args) = words.split_first().map_or(none, |(program, args)| (program.as_os_str(), args));
                PassedCall { program, name: None, args, dir: &request.dir, vars: None, passing, limit: None }
            }
            RunCommand::Note(command) => command.call(passing, None),
        };
        let program = call.program;
        match self.cx.ui.pass(&call) {
            Ok(end) => end,
            Err(error) => {
                let message = format!("cannot run `{}`: {error}", one_line(&program.to_string_lossy()));
                self.cx.ui.warn(&message);
                // As shells say it.
                let code = if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 };
                PassedEnd { output: message.into_bytes(), code, ..PassedEnd::default() }
            }
        }
    }

    /// The command as one text of a shell that starts in the project's folder.
    fn text(&self, request: &RunRequest) -> String {
        let text = match &request.command {
            RunCommand::Note(ReadyCommand { start: Start::Shell(text), .. }) => text.clone(),
            RunCommand::Note(ReadyCommand { start: Start::Words(words), .. }) => {
                words.iter().map(|word| shell::quote(word)).collect::<Vec<_>>().join(" ")
            }
            RunCommand::Words(words) => {
                let quoted = |word: &OsString| shell::quote(&word.to_string_lossy()).into_owned();
                words.iter().map(quoted).collect::<Vec<_>>().join(" ")
            }
        };
        let Some(project) = self.project.as_deref().filter(|project| *project != request.dir) else { return text };
        let dir = request.dir.strip_prefix(project).unwrap_or(&request.dir);
        format!("cd {} && {text}", shell::quote(&dir.to_string_lossy()))
    }

    /// Arguments that are files, and what a text prints of files.
    fn implied(request: &RunRequest) -> Vec<String> {
        let is_file = |path: &str| !path.is_empty() && !path.starts_with('-') && request.dir.join(path).is_file();
        let named = |words: &mut dyn Iterator<Item = &str>| -> Vec<String> {
            words.skip(1).filter(|word| is_file(word)).map(str::to_owned).collect()
        };
        let text = match &request.command {
            RunCommand::Note(ReadyCommand { start: Start::Shell(text), .. }) => Some(text.as_str()),
            RunCommand::Note(ReadyCommand { start: Start::Words(words), .. }) => {
                return named(&mut words.iter().map(String::as_str));
            }
            RunCommand::Words(words) => match words.as_slice() {
                [shell, option, text] if is_shell(shell) && option.to_str() == Some("-c") => text.to_str(),
                words => return named(&mut words.iter().filter_map(|word| word.to_str())),
            },
        };
        let script = crate::action::shell::Script::read(text.unwrap_or_default());
        let mut paths: Vec<String> = Vec::new();
        for command in &script.commands {
            let literal = command.words.iter().skip(1).filter(|word| word.is_literal());
            paths.extend(literal.map(|word| word.text.to_string()));
            let read = command.redirections.iter().filter(|it| !it.is_write() && it.target.is_literal());
            paths.extend(read.map(|it| it.target.text.to_string()));
        }
        paths.retain(|path| is_file(path));
        paths.dedup();
        paths
    }

    #[expect(clippy::too_many_arguments, reason = "one step of recording, cut out for its length")]
    fn add_files(
        &self,
        step: &mut entry::Tool,
        named_reads: &[String],
        implied_reads: &[String],
        named_writes: &[String],
        changes: &ChangedFiles,
        root: &Path,
        place: Place<'_>,
    ) {
        let at_root = Place { cwd: root, ..place };
        let path_of = |name: &str| file_ref::parse(name).path;
        let named = |paths: &[String]| paths.iter().map(|path| file::named(path, at_root)).collect::<Vec<_>>();
        let created = named(&changes.created);
        let mut writes = named(&changes.changed);
        writes.extend(changes.deleted.iter().map(|path| path_of(&file::named(path, at_root))));
        let known = |paths: &[String], path: &str| paths.iter().any(|it| path_of(it) == path);
        for name in named_writes.iter().map(|path| file::named(path, place)) {
            if !known(&created, &path_of(&name)) && !known(&writes, &path_of(&name)) {
                writes.push(name);
            }
        }
        for name in named_reads.iter().chain(implied_reads) {
            let path = path_of(name);
            let is_written = known(&created, &path) || known(&writes, &path);
            let is_named = named_reads.contains(name);
            // What it was like before is gone by its own doing; nobody but who named it says that it was read.
            if is_written && !is_named || known(&step.reads, &path) {
                continue;
            }
            step.reads.push(if is_written { path } else { name.clone() });
        }
        let all = created.len() + writes.len();
        if all > MOST_WRITES {
            self.cx.ui.warn(&format!("it wrote {all} files; the note names {MOST_WRITES} of them"));
        }
        step.created = created.into_iter().take(MOST_WRITES).collect();
        writes.truncate(MOST_WRITES.saturating_sub(step.created.len()));
        step.writes = writes;
    }

    /// How it ended; the output without secrets.
    fn end(step: &mut entry::Tool, end: &PassedEnd) -> String {
        let text = String::from_utf8_lossy(&end.output);
        let output = Masks::unnumbered().text(&sanitise(&text)).into_owned();
        step.failed = end.code != 0;
        step.exit = (end.code != 0).then_some(i32::from(end.code));
        step.duration = Some(end.duration.as_secs_f64()).filter(|seconds| *seconds >= 0.1);
        let line = result_line(&output, step.failed);
        let stopped = StepStatus::Interrupted.words().unwrap_or_default();
        step.result = Some(match end.signal {
            Some(1 | 2 | 3 | 15) => format!("{stopped}: signal {}", end.signal.unwrap_or_default()),
            Some(signal) => format!("ended by signal {signal}"),
            None => line,
        });
        let call = CallEnd { output: &output, exit: Some(i32::from(end.code)), failed: step.failed, has_status: true };
        let decided = Action::of(&step.tool, &step.args).decide(&call);
        step.check = decided.map(|decided| decided.verdict.as_str().to_owned());
        output
    }

    /// `` `4f1c2ab` Subject ``
    fn commit(&self, dir: &Path, commit: &str) -> String {
        let answer = self.cx.ui.git(dir, &["log", "-1", "--format=%s", commit], "", 10).ok();
        let subject = answer.filter(|it| it.code == Some(0)).map(|it| String::from_utf8_lossy(&it.bytes).into_owned());
        let subject = subject.map(|text| one_line(&text)).unwrap_or_default();
        format!("`{commit}` {subject}").trim_end().to_owned()
    }

    fn record(&self, step: entry::Tool, end: &PassedEnd, output: &str) -> Result<RecordedStep> {
        let cx = self.cx;
        let log = Log::new(&self.vault, &self.state, cx.env.now())?;
        let mut recorded = RecordedStep {
            session: self.target.id.clone(),
            step: None,
            command: step.args.clone(),
            exit: end.code,
            result: step.result.clone().unwrap_or_default(),
            reads: step.reads.clone(),
            writes: step.created.iter().chain(&step.writes).cloned().collect(),
            check: step.check.as_deref().and_then(crate::action::Verdict::of_word).map(crate::action::Verdict::as_str),
            evidence: None,
        };
        let entry = log.masked(Entry::Tool(step)).map_err(|bad| Error::usage(bad.message))?;
        let id = log.add(&self.target, &entry)?;
        match log.flush_entry(&self.target, &id, "run") {
            Ok(flushed) => {
                for lost in &flushed.lost {
                    cx.ui.warn(&lost.message);
                }
                recorded.step = flushed.made.get(&id).filter(|step| !step.is_empty()).cloned();
            }
            Err(error) => {
                cx.ui.warn(&format!("{} could not be written: {}", self.target.path, error.with_causes()));
                let path = log.journal(&self.target).path().display().to_string();
                cx.ui.warn(&format!("the step is kept in {path} without its output; `cru admin flush` writes it"));
            }
        }
        if let Some(step) = &recorded.step {
            let path = output_path(&self.vault, &self.target.id, step);
            match files::create_private(&path, output.as_bytes()) {
                Ok(true) => recorded.evidence = Some(path.display().to_string()),
                Ok(false) => {}
                Err(error) => cx.ui.warn(&format!("its output could not be kept: {}", error.with_causes())),
            }
            let files = recorded.writes.len();
            cx.ui.detail(&format!("{step} in {}: {}, {files} files written", recorded.session, recorded.result));
        }
        Ok(recorded)
    }
}

fn is_shell(program: &OsStr) -> bool {
    let name = Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or_default();
    matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh")
}

/// Where all of a step's output is kept.
pub(in crate::commands) fn output_path(vault: &Vault, session_id: &str, step: &str) -> PathBuf {
    vault.root().join("evidence").join(key(session_id)).join(format!("{}.txt", key(step)))
}
