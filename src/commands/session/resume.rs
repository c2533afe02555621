//! `cru session resume`.

use std::fmt::Write as _;

use serde::Serialize;

use crate::base::text::{plural, thousands};
use crate::base::{Error, Result};
use crate::commands::checkpoint;
use crate::commands::output::style::{self, paint};
use crate::commands::read::Shelf;
use crate::commands::trace::agree::Consenting;
use crate::commands::{Context, Format, Launch, Output, View, reading};
use crate::live::log::{Log, Target};
use crate::live::resume::activate::{self, Begin};
use crate::live::resume::{self, BUDGET, Options, Pack, host};
use crate::live::status;
use crate::session::op::Op;
use crate::session::{Agent, Status, agent_table, read};
use crate::vault::writer::Plan;
use crate::vault::{Catalog, Head, Loaded, State, UserConfig, Vault, Writer};

/// The most bytes of a pack that are given to a program as an argument; systems take 128 KiB.
const LARGEST_ARGUMENT: usize = 120_000;

/// Resume a session, with its own agent or another
///
/// Makes the pack that the next agent needs: what the session is, where it stopped, all decisions, open tasks and
/// questions, the last checkpoint, what the user said, and the newest phases, within a budget of tokens. Then sets the
/// session active and starts its host: with the host's own session where its transcript is still there, else with a new
/// one that gets the pack as its prompt. It starts in the project's folder: where you stand in that, or `[projects]` of your
/// own configuration names it; else you are asked. Where nothing can be started, its status stays as it is. SESSION is a
/// path, a file name, a session id, or enough of one; without it, the current session, else the only paused one.
///
/// Tokens are estimated by a rule of words and marks; on notes it gives 5 to 35 % more than public encoders count, so
/// a pack is rather too short than too long.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which session
    session: Option<String>,
    /// Go on from this checkpoint: `cp-20261116-101212`, `latest`; without SESSION, in the session that has it. The host starts
    /// anew with the pack
    #[arg(long, value_name = "ID")]
    checkpoint: Option<String>,
    /// Print the pack, write nothing and start nothing
    #[arg(long, conflicts_with_all = ["no_start", "dry_run", "phase", "agent"])]
    print: bool,
    /// Tokens of the pack; else `[resume] budget` of the vault, else 8000
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,
    /// Set the session active and print the pack, but start no program
    #[arg(long)]
    no_start: bool,
    /// Start this host with the context, whatever host the session is of: `codex`, `gemini`
    #[arg(long, value_name = "HOST", conflicts_with = "no_start")]
    host: Option<String>,
    /// Say what would be written and started, and do neither
    #[arg(long, conflicts_with = "no_start")]
    dry_run: bool,
    /// Begin a phase of this title; without it, one is begun only for hosts that do not write their phases themselves
    #[arg(long, value_name = "TITLE")]
    phase: Option<String>,
    /// Agent of the phase that is begun: `coder@2.0`
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
}

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let (vault, catalog) = reading::vault_with_catalog(cx)?;
    let checkpoint = args.checkpoint.as_deref().map(|id| checkpoint::place(id, args.session.as_deref(), &vault, cx));
    let checkpoint = checkpoint.transpose()?;
    let loaded = match &checkpoint {
        Some((path, _)) => vault.load(path)?,
        None => vault.load(&find(args.session.as_deref(), &catalog, &vault, cx)?.path)?,
    };
    cx.global.reach.check(&loaded.session.meta)?;
    let from = checkpoint.map(|(_, id)| id);
    let config = &vault.config().resume;
    let options = Options {
        budget: args.budget.or(config.budget).unwrap_or(BUDGET),
        path: Some(loaded.path.text().into_owned()),
        from: from.clone(),
        missing: resume::missing(&loaded, &catalog, &vault, cx.env),
        reading: Shelf::within(&catalog, &vault, cx.global.reach).told(&loaded),
    };
    let pack = Pack::of(&loaded.session, &options);
    for notice in &pack.notices {
        cx.ui.warn(notice);
    }
    if args.print {
        return Ok(Box::new(Resumed::new(&loaded, pack, None)));
    }
    let prompt = prompt(&loaded, &options);
    let mut meta = loaded.session.meta.clone();
    if from.is_some() {
        // The host's own session goes on from its end.
        meta.host_session = None;
    }
    let (meta, id) = (&meta, loaded.id());
    let (user, warnings) = UserConfig::read(cx.env)?;
    for warning in warnings {
        cx.ui.warn(&format!("config.toml: {}", warning.message));
    }
    let filling = host::Filling { session: &id, pack: &prompt };
    let command = match &args.host {
        None => host::command(meta, config, &user.hosts, cx.env, filling),
        Some(named) => Some(host::command_of(named, meta, config, &user.hosts, cx.env, filling).ok_or_else(|| {
            Error::usage(format!("no command starts the host '{named}'")).with_hint(format!(
                "known hosts: {}; `[hosts]` in your own config.toml can name another",
                host::startable().collect::<Vec<_>>().join(", ")
            ))
        })?),
    };
    let mut done = Resumed::new(&loaded, pack, command);
    done.phase = if args.dry_run { begun(args, from.as_deref(), &loaded, &vault, cx).map(|(_, id)| id) } else { None };
    done.next(args, cx, &loaded, &vault);
    // Where nothing goes on with it, the session stays as it is.
    if args.no_start || done.launch.is_some() {
        done.phase = write(args, from.as_deref(), &loaded, &vault, cx)?;
        done.written = true;
    } else if !args.dry_run && loaded.session.meta.status != Some(Status::Active) {
        cx.ui.note("nothing was started, so its status stays; `cru session resume --no-start` sets it active");
    }
    Ok(Box::new(done))
}

fn find<'a>(name: Option<&str>, catalog: &'a Catalog, vault: &Vault, cx: &Context<'_>) -> Result<&'a Head> {
    if let Some(name) = name {
        return catalog.session(name, vault, cx.env);
    }
    catalog.resumable(vault, cx.env)?.ok_or_else(|| {
        let newest = catalog.newest().map(|head| format!("`cru resume {}` takes up the newest again; ", head.id()));
        let hint = newest.unwrap_or_default() + "`cru list` shows all sessions";
        Error::no("no session of this vault is active or paused").with_hint(hint)
    })
}

/// The pack as an argument of a program: shorter where a system would refuse it.
fn prompt(loaded: &Loaded, options: &Options) -> String {
    let mut options = options.clone();
    loop {
        let text = format!(
            "Go on with this session of work. First read what it says, then look at the present state of the files.\n\n{}",
            Pack::of(&loaded.session, &options).markdown()
        );
        if text.len() <= LARGEST_ARGUMENT || options.budget < 100 {
            return text;
        }
        options.budget = options.budget.min(60_000) * 3 / 4;
    }
}

/// The operations that begin a phase, where one is to be begun, and its id.
fn begun(
    args: &Args,
    from: Option<&str>,
    loaded: &Loaded,
    vault: &Vault,
    cx: &Context<'_>,
) -> Option<(Vec<Op>, String)> {
    let config = vault.config();
    let by_host = host::name(&loaded.session.meta, &config.resume).and_then(agent_table::by_host);
    // A phase in which nothing was done yet is there to be used.
    let point = loaded.session.meta.resume_point.as_deref();
    let is_ready =
        loaded.session.phases.last().is_some_and(|phase| phase.items.is_empty() && point == Some(phase.id.as_str()));
    let is_told = by_host.is_some_and(|agent| agent.hooks);
    let wanted = args.phase.is_some() || args.agent.is_some() || !(is_told || is_ready && from.is_none());
    wanted.then(|| {
        let agent = args.agent.as_deref().map(Agent::parse);
        let own = config.session.agent.as_deref().map(Agent::parse);
        let has_one = loaded.session.phases.iter().any(|phase| phase.agent.is_some());
        let begin = Begin {
            title: args.phase.clone(),
            from: from.map(str::to_owned),
            agent: agent.or_else(|| own.filter(|_| !has_one)),
            channel: config.channel.clone(),
        };
        activate::phase(&loaded.session, &begin, cx.env.now())
    })
}

/// Sets the session active, and begins a phase where one is due; its id.
fn write(args: &Args, from: Option<&str>, loaded: &Loaded, vault: &Vault, cx: &Context<'_>) -> Result<Option<String>> {
    let state = State::of(vault, cx.env)?;
    let log = Log::new(vault, &state, cx.env.now())?;
    let target = Target { path: loaded.path.clone(), id: loaded.id(), meta: loaded.session.meta.clone() };
    // What waits in the journal comes before what now begins.
    status::resume(&log, &target)?.written?;
    let mut made = None;
    if begun(args, from, loaded, vault, cx).is_some() {
        Writer::new(vault, &state, cx.env.now()).write(&target.key(), &loaded.path, &mut |note, _| {
            let (session, _) = read::session(note);
            let newest = Loaded { session, ..loaded.clone() };
            let (ops, id) = begun(args, from, &newest, vault, cx).unzip();
            made = id;
            Ok(Plan { ops: ops.unwrap_or_default(), label: "session resume".to_owned(), ..Plan::default() })
        })?;
    }
    Ok(made)
}

/// What was done, and what is done next.
#[derive(Debug, Serialize)]
struct Resumed {
    schema: u32,
    path: String,
    status: Option<Status>,
    #[serde(flatten)]
    pack: Pack,
    markdown: String,
    /// Whether the session was set active.
    written: bool,
    /// The phase that was begun.
    phase: Option<String>,
    /// What goes on with it.
    command: Option<host::Command>,
    #[serde(skip)]
    show: Show,
    #[serde(skip)]
    launch: Option<Launch>,
}

/// What people see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Show {
    /// The pack.
    Pack,
    /// What is in it.
    Summary,
}

impl Resumed {
    fn new(loaded: &Loaded, pack: Pack, command: Option<host::Command>) -> Self {
        Self {
            schema: 1,
            path: loaded.path.text().into_owned(),
            status: loaded.session.meta.status.clone(),
            markdown: pack.markdown(),
            pack,
            written: false,
            phase: None,
            command,
            show: Show::Pack,
            launch: None,
        }
    }

    /// Decides what is started and what is printed, and says why nothing is started.
    fn next(&mut self, args: &Args, cx: &Context<'_>, loaded: &Loaded, vault: &Vault) {
        let Some(command) = &self.command else {
            let name = host::name(&loaded.session.meta, &vault.config().resume);
            let name = name
                .map_or_else(|| "this session names no host".to_owned(), |it| format!("the host '{it}' is not known"));
            cx.ui.note(&format!("{name}, so here is the pack; `[hosts]` in your own config.toml can name a command"));
            return;
        };
        if args.no_start {
            return;
        }
        if args.dry_run {
            self.show = Show::Summary;
            return;
        }
        // JSON is read by a program, which may start the command itself.
        if cx.global.format == Format::Json {
            return;
        }
        let Some(program) = host::find(&command.program, cx.env) else {
            let line = command_line(command);
            cx.ui.warn(&format!(
                "{} is not installed here, so nothing was started; it would have been: {line}",
                command.program
            ));
            return;
        };
        let project = loaded.session.meta.project.as_deref();
        let agreed = Consenting::of(vault, cx).map(|it| it.start_in(&command.cwd, project, &command.program));
        if let Err(why) = agreed.unwrap_or_else(|error| Err(error.to_string())) {
            cx.ui.warn(&why);
            return;
        }
        self.show = Show::Summary;
        self.launch = Some(Launch {
            program,
            args: command.args.clone(),
            cwd: command.cwd.clone(),
            vars: vec![("CRU_SESSION".to_owned(), loaded.id())],
        });
    }
}

/// A command for people, who need not see the pack again.
fn command_line(command: &host::Command) -> String {
    let word = |word: &String| {
        if word.contains('\n') {
            return "<the pack>".to_owned();
        }
        let plain = |c: char| c.is_alphanumeric() || "-_./:=@~".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    std::iter::once(&command.program).chain(&command.args).map(word).collect::<Vec<_>>().join(" ")
}

impl Output for Resumed {
    fn text(&self, _: &View) -> String {
        if self.show == Show::Pack {
            return self.markdown.clone();
        }
        let mut text =
            format!("{}\n{}\n\n", paint(style::TITLE, crate::base::text::sanitise(&self.pack.title)), self.path);
        for part in &self.pack.parts {
            let heading = part.heading.trim_start_matches('#').trim();
            if part.heading.starts_with("##") {
                let more = if part.left_out > 0 { format!(", {} omitted", part.left_out) } else { String::new() };
                let _ = writeln!(text, "  {:28} {:>6} tokens{more}", heading, thousands(part.tokens));
            }
        }
        let _ = writeln!(
            text,
            "  {:28} {:>6} of {}",
            "all",
            thousands(self.pack.tokens),
            plural(self.pack.budget, "token")
        );
        let verb = if self.written { "is" } else { "would be" };
        if self.status != Some(Status::Active) {
            let was = self.status.as_ref().map_or("without a status", Status::as_str);
            let _ = writeln!(text, "\nThe session was {was} and {verb} active.");
        }
        if let Some(phase) = &self.phase {
            let _ = writeln!(text, "The phase {phase} {} begun.", if self.written { "is" } else { "would be" });
        }
        if let Some(command) = &self.command {
            let how = if command.native { "resumes its own session" } else { "starts with the pack" };
            let away = if command.is_away { "; the folder that it worked in is not on this machine" } else { "" };
            let line = paint(style::ID, command_line(command));
            let _ = writeln!(text, "{line}  {} in {}{away}", paint(style::DIM, how), command.cwd.display());
        }
        text
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }

    fn handover(&self) -> Option<Launch> {
        self.launch.clone()
    }
}
