//! The verbs: one file each, with its arguments, its work and its output.
//!
//! A command reads the world through [`Context`], returns an [`Output`] and prints nothing: `cli` decides about
//! terminal, colours and pager. Adding a command is one file and one line in [`Command`] and [`Command::run`].

mod admin;
mod agent;
mod ask;
mod cases;
mod check;
mod checkpoint;
mod completions;
mod connect;
mod context;
mod current;
mod deferred;
mod derived;
mod diff;
mod doctor;
mod drift;
mod events;
mod files;
mod flush;
mod frame;
mod graph;
mod groups;
mod history;
pub mod hook;
mod hooks;
pub mod import;
mod index;
mod init;
mod language;
mod lessons;
mod list;
mod log;
mod man;
mod mcp;
mod merge;
mod onset;
pub mod output;
mod pick;
mod prices;
mod prune;
mod reach;
mod read;
mod reading;
mod renamed;
mod review;
#[cfg(feature = "rows")]
mod rows;
mod search;
mod secrets;
mod segment;
pub mod session;
mod show;
mod stats;
mod status;
mod step;
mod subject;
mod summary;
mod trace;
mod undo;
mod view;
mod watching;
mod words;
mod workflow;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

#[doc(hidden)]
pub use hooks::edited as fuzz_settings;

pub use context::{
    AgentAnswer, Context, GitAnswer, PassedCall, PassedEnd, Passing, PickVerb, Pickable, ProgramCall, Progress, Ui,
};
pub use deferred::Deferred;
pub use output::{Format, Launch, Output, PlainOutput, Raw, View};
pub use reach::Reach;

use self::deferred::deferring;
use crate::base::{Error, Result};
use crate::session::mask::Masks;

/// What stands below the list of commands.
const AFTER_HELP: &str =
    "Exit codes: 0 success, 1 no match or check failed, 2 usage or input error, 3 I/O or internal error.";

/// The sessions of AI agents as markdown notes.
///
/// Keeps one readable note for each session of a coding agent, in a folder that is an Obsidian vault or anything
/// else. The notes are the source of truth: edit them, move them, delete from them; `cru` reads what is there.
#[derive(Debug, Parser)]
#[command(name = "cru", version, propagate_version = false, disable_help_subcommand = true, max_term_width = 100)]
#[command(after_help = AFTER_HELP)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// The verb.
    #[command(subcommand)]
    pub command: Command,
    /// The name of a command that was used and has another now, with that.
    #[arg(skip)]
    pub renamed: Option<(String, String)>,
}

impl Cli {
    /// What a command line says, without keys and passwords where the command keeps what it is told: titles, names,
    /// reasons. An argument that names a file stays as it is.
    ///
    /// Errors: those of clap, also help and version.
    pub fn read(args: &[OsString]) -> std::result::Result<Self, clap::Error> {
        let (args, renamed) = renamed::in_todays_names(args);
        let mut cli = Self { renamed, ..Self::of_words(&args)? };
        // The text of most commands is markdown, or nearly.
        if cli.global.format == Format::Markdown && !cli.command.formats().contains(&Format::Markdown) {
            cli.global.format = Format::Text;
        }
        Ok(cli)
    }

    fn of_words(args: &[OsString]) -> std::result::Result<Self, clap::Error> {
        let parse = |args: &[OsString]| {
            let parsed = |command: clap::Command| Self::from_arg_matches(&command.try_get_matches_from(args)?);
            deferring(|| parsed(Self::command())).or_else(|_| parsed(groups::with_groups(Self::command())))
        };
        let cli = parse(args)?;
        if !cli.command.keeps_words() {
            return Ok(cli);
        }
        let said: Vec<OsString> = args.iter().map(|arg| without_secrets(arg)).collect();
        if said == args { Ok(cli) } else { parse(&said) }
    }
}

/// An argument without keys and passwords; one that names a file as it is.
fn without_secrets(arg: &OsStr) -> OsString {
    let text = arg.to_string_lossy();
    let masked = Masks::unnumbered().text(&text).into_owned();
    let value = text.split_once('=').filter(|(name, _)| name.starts_with('-')).map_or(&*text, |(_, value)| value);
    if masked == text || Path::new(value).exists() { arg.to_owned() } else { masked.into() }
}

/// Options of every command.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// The vault to work on; else `CRU_VAULT`, the nearest folder above with `.cru/`, `vault` in the user's config
    #[arg(long, global = true, value_name = "DIR")]
    pub vault: Option<std::path::PathBuf>,
    /// Output for people or for programs
    #[arg(short, long, global = true, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Colours: `auto` follows the terminal and `NO_COLOR`
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: clap::ColorChoice,
    /// Say more on stderr
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Say nothing on stderr but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Which sessions are read; no option, but set by who calls a command for somebody else.
    #[arg(skip)]
    pub reach: Reach,
    /// What a program that calls commands again and again keeps for them.
    #[arg(skip)]
    pub last: Option<std::sync::Arc<crate::index::LastSnapshots>>,
}

/// All commands.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "a variant's help is the doc comment of its arguments")]
pub enum Command {
    Init(Deferred<init::Args>),
    Import(Deferred<import::Args>),
    Connect(Deferred<connect::ConnectArgs>),
    /// Take back what `connect` added to an agent's settings
    ///
    /// Gives back the very bytes from before where nobody changed the file since; else takes out what is ours and nothing more. An
    /// entry of a server that starts anything but `cru mcp`, or has fields that somebody added, is left. Sessions and what waits in
    /// their journals stay: `cru admin flush` writes it. The vault stays in the user's configuration, since other commands use it.
    Disconnect(Deferred<connect::ConnectTarget>),
    List(Deferred<list::Args>),
    Show(Deferred<show::Args>),
    Diff(Deferred<diff::Args>),
    Resume(Deferred<session::resume::Args>),
    Codify(Deferred<session::codify::Args>),
    Learn(Deferred<session::learn::Args>),
    /// Start, close, rename and archive sessions
    ///
    /// `cru session list`, `show`, `resume`, `codify` and `learn` are `cru list`, `show`, `resume`, `codify` and `learn`.
    #[command(subcommand)]
    Session(Deferred<session::SessionCommand>),
    /// List, check and compare workflows
    #[command(subcommand)]
    Workflow(Deferred<workflow::WorkflowCommand>),
    Read(Deferred<read::Args>),
    /// List lessons, and write them where agents read them
    #[command(subcommand)]
    Lessons(Deferred<lessons::LessonsCommand>),
    Context(Deferred<onset::Args>),
    Review(Deferred<review::Args>),
    View(Deferred<view::Args>),
    Summary(Deferred<summary::Args>),
    Search(Deferred<search::Args>),
    Log(Deferred<log::Args>),
    Checkpoint(Deferred<checkpoint::Args>),
    Graph(Deferred<graph::Args>),
    Stats(Deferred<stats::Args>),
    History(Deferred<history::Args>),
    Files(Deferred<files::Args>),
    Why(Deferred<trace::why::Args>),
    Deps(Deferred<trace::deps::Args>),
    Verify(Deferred<trace::verify::Args>),
    Stale(Deferred<trace::stale::Args>),
    Run(Deferred<trace::run::Args>),
    Replay(Deferred<trace::replay::Args>),
    Bookmark(Deferred<trace::bookmark::Args>),
    Resolve(Deferred<trace::resolve::Args>),
    Status(Deferred<status::Args>),
    Check(Deferred<check::Args>),
    Hook(Deferred<hook::Args>),
    Mcp(Deferred<mcp::Args>),
    Undo(Deferred<undo::Args>),
    /// Write sessions in forms that other programs read
    #[cfg(feature = "rows")]
    #[command(subcommand)]
    Export(Deferred<rows::export::ExportCommand>),
    /// Stream sessions as rows of tables, for engines that spread work over many machines
    #[cfg(feature = "rows")]
    #[command(subcommand)]
    Rows(Deferred<rows::RowsCommand>),
    /// Maintain a vault: search index, pending events, backups, secrets, completions
    #[command(subcommand)]
    Admin(Deferred<admin::AdminCommand>),
}

impl Command {
    /// Whether it leaves out the sessions that [`Global::reach`] does.
    pub(in crate::commands) fn minds_reach(&self) -> bool {
        match self {
            Self::List(args) => args.minds_reach(),
            Self::Show(args) => args.minds_reach(),
            Self::Search(_) | Self::Files(_) | Self::Resume(_) | Self::Codify(_) => true,
            Self::Context(_) | Self::Why(_) | Self::Stale(_) | Self::Stats(_) => true,
            Self::Bookmark(args) => args.adds(),
            Self::Read(args) => args.only_prints(),
            _ => false,
        }
    }

    /// Whether it keeps words of its command line, in a note, a name of a file or a state. A new command does not compile
    /// until somebody has said so here.
    const fn keeps_words(&self) -> bool {
        match self {
            Self::Session(_)
            | Self::List(_)
            | Self::Show(_)
            | Self::Diff(_)
            | Self::Resume(_)
            | Self::Codify(_)
            | Self::Learn(_)
            | Self::Workflow(_)
            | Self::Read(_)
            | Self::Lessons(_)
            | Self::Context(_)
            | Self::Review(_)
            | Self::Summary(_)
            | Self::Checkpoint(_)
            | Self::Graph(_)
            | Self::Verify(_)
            | Self::Stale(_)
            | Self::Bookmark(_)
            | Self::Status(_)
            | Self::Undo(_) => true,
            Self::Admin(command) => command.0.keeps_words(),
            Self::Log(args) => !args.0.keeps_secrets(),
            // What is run, looked for or read is what was said; what `run` records of it is masked as what is logged is.
            Self::Init(_)
            | Self::Import(_)
            | Self::Connect(_)
            | Self::Disconnect(_)
            | Self::Search(_)
            | Self::Stats(_)
            | Self::View(_)
            | Self::History(_)
            | Self::Files(_)
            | Self::Why(_)
            | Self::Deps(_)
            | Self::Run(_)
            | Self::Replay(_)
            | Self::Resolve(_)
            | Self::Check(_)
            | Self::Hook(_)
            | Self::Mcp(_) => false,
            #[cfg(feature = "rows")]
            Self::Export(_) | Self::Rows(_) => false,
        }
    }

    /// The formats it has beside those that every command has.
    const fn formats(&self) -> &'static [Format] {
        match self {
            Self::Graph(_) => &[Format::Mermaid, Format::Dot, Format::Canvas],
            Self::Codify(_) => &[Format::Mermaid, Format::Dot],
            Self::List(_) => &[Format::Jsonl, Format::Csv, Format::Markdown],
            _ => &[],
        }
    }

    /// Does it.
    pub fn run(self, cx: &Context<'_>) -> Result<Box<dyn Output>> {
        let format = cx.global.format;
        if !format.is_common() && !self.formats().contains(&format) {
            return Err(Error::usage("this command does not support this format").with_hint(
                "text, json or toon; jsonl, csv and markdown are of `cru list`, the others of `cru graph`",
            ));
        }
        match self {
            Self::Init(args) => init::run(&args, cx),
            Self::Import(args) => import::run(&args, cx),
            Self::Connect(args) => connect::connect(&args, cx),
            Self::Disconnect(args) => connect::disconnect(&args, cx),
            Self::List(args) => list::run(&args, cx),
            Self::Show(args) => show::run(&args, cx),
            Self::Diff(args) => diff::run(&args, cx),
            Self::Resume(args) => session::resume::run(&args, cx),
            Self::Codify(args) => session::codify::run(&args, cx),
            Self::Learn(args) => session::learn::run(&args, cx),
            Self::Session(command) => command.0.run(cx),
            Self::Workflow(command) => command.0.run(cx),
            Self::Read(args) => read::run(&args, cx),
            Self::Lessons(command) => command.0.run(cx),
            Self::Context(args) => onset::run(&args, cx),
            Self::Review(args) => review::run(&args, cx),
            Self::View(args) => view::run(&args, cx),
            Self::Summary(args) => summary::run(&args, cx),
            Self::Search(args) => search::run(&args, cx),
            Self::Log(args) => log::run(args.0, cx),
            Self::Checkpoint(args) => checkpoint::run(args.0, cx),
            Self::Graph(args) => graph::run(&args, cx),
            Self::Stats(args) => stats::run(&args, cx),
            Self::History(args) => history::run(&args, cx),
            Self::Files(args) => files::run(&args, cx),
            Self::Why(args) => trace::why::run(&args, cx),
            Self::Deps(args) => trace::deps::run(&args, cx),
            Self::Verify(args) => trace::verify::run(&args, cx),
            Self::Stale(args) => trace::stale::run(&args, cx),
            Self::Run(args) => trace::run::run(&args, cx),
            Self::Replay(args) => trace::replay::run(&args, cx),
            Self::Bookmark(args) => trace::bookmark::run(&args, cx),
            Self::Resolve(args) => trace::resolve::run(&args, cx),
            Self::Status(args) => status::run(&args, cx),
            Self::Check(args) => check::run(&args, cx),
            Self::Hook(args) => Ok(hook::run(&args, cx)),
            Self::Mcp(args) => mcp::run(&args, cx),
            Self::Undo(args) => undo::run(&args, cx),
            #[cfg(feature = "rows")]
            Self::Export(command) => command.0.run(cx),
            #[cfg(feature = "rows")]
            Self::Rows(command) => Ok(command.0.run()),
            Self::Admin(command) => command.0.run(cx),
        }
    }
}
