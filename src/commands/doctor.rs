//! `cru admin doctor`: what is wrong around the notes: the machine's state, hooks, transcripts, copies.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::hooks::place::SettingsPlace;
use super::output::style::{self, paint};
use super::{Context, Output, PlainOutput, View, check, hooks, status};
use crate::base::text::{one_line, plural};
use crate::base::{Result, files};
use crate::live::hook::HOSTS;
use crate::memory::prune::{Prunable, candidates};
use crate::trace::consent::ConsentRules;
use crate::vault::template::Template;
use crate::vault::{Catalog, State, UserConfig, Vault};
use jiff::Timestamp;

/// Diagnose configuration, hooks, state and links
///
/// The configuration, the state of this machine, hooks that do not run, transcripts that are gone or will be deleted, copies that a
/// sync service left, links that lead nowhere, stored copies that belong to nothing. Changes nothing; each line that is not `ok` names the command that helps.
///
/// Where the vault was moved or copied, `--adopt` brings over what waits in the state that it had elsewhere on this machine: journals,
/// the log of writes for `cru undo`, copies of files. Any command that writes does so, too.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 all is well, 1 something is wrong, 2 usage error, 3 I/O error.")]
pub struct Args {
    /// Bring over the state of another place
    #[arg(long)]
    adopt: bool,
}

/// How a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Health {
    /// As it should be.
    Ok,
    /// Worth a look; nothing is lost.
    Note,
    /// Something does not work.
    Bad,
}

#[derive(Debug, Serialize)]
struct DoctorRow {
    part: &'static str,
    health: Health,
    text: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

impl DoctorRow {
    fn ok(part: &'static str, text: impl Into<String>) -> Self {
        Self { part, health: Health::Ok, text: text.into(), help: None }
    }

    fn with(part: &'static str, health: Health, text: impl Into<String>, help: impl Into<String>) -> Self {
        Self { part, health, text: text.into(), help: Some(help.into()) }
    }
}

#[derive(Debug, Serialize)]
struct DoctorReport {
    schema: u32,
    rows: Vec<DoctorRow>,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = Vault::find_to_read(cx.vault_arg(), cx.env)?;
    let mut rows = vec![configuration(&vault), commands(cx)];
    rows.push(state(args.adopt, &vault, cx)?);
    rows.push(objects(&vault, cx));
    rows.extend(waiting_and_transcripts(cx)?);
    rows.push(copies(&vault));
    rows.push(temporary_files(&vault, cx));
    rows.push(templates(&vault));
    rows.push(notes(cx)?);
    rows.push(of_hooks(cx));
    Ok(Box::new(DoctorReport { schema: 1, rows }))
}

fn configuration(vault: &Vault) -> DoctorRow {
    const PART: &str = "configuration";
    if let Err(error) = vault.writable() {
        return DoctorRow::with(PART, Health::Bad, error.to_string(), "install a newer cru; reading works");
    }
    match vault.warnings() {
        [] => DoctorRow::ok(PART, format!("schema {}", vault.config().schema)),
        [first, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
            DoctorRow::with(PART, Health::Note, format!("{}{more}", first.diagnostic.message), "edit .cru/config.toml")
        }
    }
}

/// What the user's own configuration allows commands of notes.
fn commands(cx: &Context<'_>) -> DoctorRow {
    const PART: &str = "commands of notes";
    let help = "edit [run] allow of your own configuration";
    match UserConfig::read(cx.env).map(|(user, _)| ConsentRules::new(&user.run.allow).1) {
        Ok(faults) => match faults.first() {
            None => DoctorRow::ok(PART, "each pattern can be used"),
            Some(fault) => DoctorRow::with(PART, Health::Note, fault.clone(), help),
        },
        Err(error) => DoctorRow::with(PART, Health::Bad, error.to_string(), help),
    }
}

fn state(adopt: bool, vault: &Vault, cx: &Context<'_>) -> Result<DoctorRow> {
    const PART: &str = "state";
    let others = State::others(vault, cx.env);
    let own = State::there_or_not(vault, cx.env).dir().display().to_string();
    if others.is_empty() {
        return Ok(DoctorRow::ok(PART, own));
    }
    let named: Vec<String> = others.iter().map(|other| other.dir().display().to_string()).collect();
    let text = format!("{own}; of another place of this vault: {}", named.join(", "));
    if !adopt {
        return Ok(DoctorRow::with(PART, Health::Note, text, "`cru admin doctor --adopt` brings it over"));
    }
    vault.writable()?;
    State::of(vault, cx.env)?;
    Ok(match State::others(vault, cx.env).as_slice() {
        [] => DoctorRow::ok(PART, format!("{own}; brought over: {}", named.join(", "))),
        _ => DoctorRow::with(
            PART,
            Health::Bad,
            text,
            "not all of it could be brought over; see the permissions of these folders",
        ),
    })
}

/// Stored copies of files that no checkpoint names.
fn objects(vault: &Vault, cx: &Context<'_>) -> DoctorRow {
    const PART: &str = "copies of files";
    let Some(state) = State::existing(vault, cx.env) else { return DoctorRow::ok(PART, "none") };
    // Nothing is older than the beginning of time: what is left belongs to nothing.
    let orphans = candidates(state.dir(), &[Prunable::Copies], Timestamp::MIN, cx.env.now());
    match orphans.len() as u64 {
        0 => DoctorRow::ok(PART, "each belongs to a checkpoint"),
        count => DoctorRow::with(
            PART,
            Health::Note,
            format!("{} belong to no checkpoint", plural(count, "file")),
            "`cru admin prune` removes them",
        ),
    }
}

fn count(value: &Value) -> u64 {
    value.as_u64().or_else(|| value.as_array().map(|all| all.len() as u64)).unwrap_or(0)
}

fn waiting_and_transcripts(cx: &Context<'_>) -> Result<[DoctorRow; 2]> {
    let told = status::run(&status::Args::default(), cx)?.json().unwrap_or_default();
    let (waiting, unfiled) = (count(&told["waiting"]), count(&told["unfiled"]));
    let waiting = match (waiting, unfiled) {
        (0, 0) => DoctorRow::ok("journals", "nothing waits"),
        (0, events) => DoctorRow::with(
            "journals",
            Health::Note,
            format!("{} of hooks found no vault", plural(events, "event")),
            "`cru connect` moves them to this one",
        ),
        (sessions, _) => DoctorRow::with(
            "journals",
            Health::Note,
            format!("entries of {} wait", plural(sessions, "session")),
            "`cru admin flush --all` writes them",
        ),
    };
    let (risk, gone) = (count(&told["evidence"]["at_risk"]), count(&told["evidence"]["gone"]));
    let transcripts = match (risk, gone) {
        (0, 0) => DoctorRow::ok("transcripts", "all are there"),
        (0, gone) => DoctorRow::ok("transcripts", format!("{gone} not on this machine; their notes are all there is")),
        (risk, _) => DoctorRow::with(
            "transcripts",
            Health::Note,
            format!("{} will be deleted by the host", plural(risk, "transcript")),
            "`cru status` says which are in no note yet, and what keeps the others",
        ),
    };
    Ok([waiting, transcripts])
}

fn copies(vault: &Vault) -> DoctorRow {
    let catalog = Catalog::read(vault);
    let all: Vec<String> = catalog.conflict_copies().map(|(copy, _)| copy.path.to_string()).collect();
    match all.first() {
        None => DoctorRow::ok("copies of notes", "none"),
        Some(first) => DoctorRow::with(
            "copies of notes",
            Health::Note,
            format!("{}: {first}{}", plural(all.len() as u64, "note"), if all.len() > 1 { " …" } else { "" }),
            "`cru admin merge NOTE COPY` brings one into its note",
        ),
    }
}

/// Temporary files of commands that were killed, of which nobody can prove that no text of a person is lost with them.
fn temporary_files(vault: &Vault, cx: &Context<'_>) -> DoctorRow {
    const PART: &str = "temporary files";
    let mut folders: BTreeSet<PathBuf> = [cx.env.cwd().to_owned()].into();
    folders.extend(cx.env.config_dir());
    for host in &HOSTS {
        let places = SettingsPlace::all(host, cx.env);
        folders.extend(places.iter().filter_map(|place| place.path.parent()).map(Path::to_owned));
    }
    let mut strays: BTreeSet<PathBuf> = files::strays_below(vault.root()).into_iter().collect();
    strays.extend(folders.iter().flat_map(|folder| files::strays(folder)));
    let Some(first) = strays.first() else { return DoctorRow::ok(PART, "none") };
    let more = if strays.len() > 1 { format!(", and {} more", strays.len() - 1) } else { String::new() };
    DoctorRow::with(
        PART,
        Health::Note,
        format!("{}{more} may hold a text that was saved while a command was killed", first.display()),
        "look into it: copy what you miss into the file beside it, then delete it",
    )
}

/// The vault's own templates.
fn templates(vault: &Vault) -> DoctorRow {
    const PART: &str = "templates";
    match Template::faults(vault).first() {
        None => DoctorRow::ok(PART, "each can be used"),
        Some((name, fault)) => DoctorRow::with(
            PART,
            Health::Bad,
            fault.message.clone(),
            format!("mend {name}; until then the built-in one is used"),
        ),
    }
}

fn notes(cx: &Context<'_>) -> Result<DoctorRow> {
    let told = check::run(&check::Args::default(), cx)?.json().unwrap_or_default();
    let (errors, warnings) = (count(&told["errors"]), count(&told["warnings"]));
    let text = format!("{}, {}", plural(errors, "error"), plural(warnings, "warning"));
    Ok(match (errors, warnings) {
        (0, 0) => DoctorRow::ok("notes", format!("{} without a fault", plural(count(&told["notes"]), "note"))),
        (0, _) => DoctorRow::with("notes", Health::Note, text, "`cru check` shows them"),
        _ => DoctorRow::with("notes", Health::Bad, text, "`cru check` shows them"),
    })
}

/// Hooks that are installed, and whether an event arrives through them.
fn of_hooks(cx: &Context<'_>) -> DoctorRow {
    const PART: &str = "hooks";
    let told = hooks::status(None, cx).ok().and_then(|told| told.json().ok()).unwrap_or_default();
    let programs = |value: &Value| value["programs"].as_array().map_or(0, Vec::len);
    let settings = told["settings"].as_array().into_iter().flatten();
    let installed = settings.map(programs).sum::<usize>() + programs(&told["plugin"]);
    if installed == 0 {
        return DoctorRow::ok(PART, "none are installed");
    }
    let failed: Vec<&Value> =
        told["tests"].as_array().into_iter().flatten().filter(|test| test["result"] == "lost").collect();
    let last = told["trouble"].as_array().and_then(|all| all.first()).and_then(|it| it["last"].as_str());
    match (failed.first(), last) {
        (Some(_), _) => {
            DoctorRow::with(PART, Health::Bad, "an event that was sent for a test did not arrive", "`cru check hooks`")
        }
        (None, Some(last)) => {
            DoctorRow::with(PART, Health::Note, format!("last trouble: {}", one_line(last)), "`cru check hooks`")
        }
        (None, None) => DoctorRow::ok(PART, "an event arrives"),
    }
}

impl PlainOutput for DoctorReport {
    fn shown(&self, _: &View) -> String {
        let width = self.rows.iter().map(|row| row.part.len()).max().unwrap_or(0);
        let mut out = String::new();
        for row in &self.rows {
            let (word, look) = match row.health {
                Health::Ok => ("ok  ", style::GOOD),
                Health::Note => ("note", style::WARN),
                Health::Bad => ("bad ", style::BAD),
            };
            let _ = writeln!(out, "{}  {:width$}  {}", paint(look, word), row.part, one_line(&row.text));
            if let Some(help) = &row.help {
                let _ = writeln!(out, "{:1$}{help}", "", width + 8);
            }
        }
        out
    }

    fn is_no(&self) -> bool {
        self.rows.iter().any(|row| row.health == Health::Bad)
    }
}
