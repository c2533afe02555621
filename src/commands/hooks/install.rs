//! `cru connect`: the hooks.

use std::path::{Path, PathBuf};

use super::change::{Change, Consent};
use super::handler::Program;
use super::place::{Level, SettingsPlace, Which, below_home};
use super::record::{Record, RecordKind};
use super::user_config::{UserVault, user_vault};
use super::{installed_plugin, manifest, settings};
use crate::base::text::plural;
use crate::base::{Env, Error, Result};
use crate::commands::{Context, Output};
use crate::live::hook::{HOSTS, Host, unfiled};
use crate::vault::folder::MARK;
use crate::vault::{State, Vault};

/// Hosts with a folder in the home folder.
pub(in crate::commands) fn found_hosts(env: &Env) -> Vec<&'static Host> {
    let is_there = |host: &&Host| below_home(host.settings.folder, env).is_some_and(|folder| folder.is_dir());
    HOSTS.iter().map(|host| &**host).filter(is_there).collect()
}

/// Adds the hooks of `program`, else of this one, to the settings of a host, or renews them there.
pub(in crate::commands) fn install(
    host: &'static Host,
    (which, consent): (&Which, Consent),
    program: Option<&str>,
    cx: &Context<'_>,
) -> Result<Box<dyn Output>> {
    let place = which.place(host, cx)?;
    let old = place.read()?;
    let text = old.as_deref().unwrap_or("");
    let found = settings::find(text, host).map_err(|refused| place.refuse(&refused))?;
    refuse_changed_script(text, host, &place, cx)?;
    // A vault that was named once stays, until another is.
    let vault = match cx.vault_arg() {
        Some(path) => Some(utf8(&cx.absolute(path))?),
        // One that is not there any more was moved: the user's configuration names where to.
        None => {
            found.iter().find_map(|found| found.ours.program.vault.clone()).filter(|vault| is_vault(Path::new(vault)))
        }
    };
    let path = program_path(program, place.level, cx.env)?;
    let program = Program { path, vault };
    let new = settings::install(text, host, &program).map_err(|refused| place.refuse(&refused))?;
    let before = if found.is_empty() {
        old.clone()
    } else if let Some(record) = Record::read(RecordKind::Hooks, &place, text, cx.env) {
        record.into_before()
    } else {
        settings::uninstall(text, host).map_err(|refused| place.refuse(&refused))?
    };
    let done = if found.is_empty() { "installed" } else { "renewed" };
    let (mut beside, known) = match user_vault(cx.vault_arg(), cx.env)? {
        UserVault::Named(root, change) => (vec![*change], Some(root)),
        UserVault::There(root) => (Vec::new(), Some(root)),
        UserVault::Unknown => (Vec::new(), None),
    };
    beside.extend(manifest::change(host, &place, true)?);
    let change = Change { place: place.clone(), old, new: Some(new.clone()), beside };
    let report = change.make(consent, done, "already installed", cx)?;
    let mut adopted = None;
    if report.is_written() {
        Record::write(RecordKind::Hooks, &place, before.as_deref(), &new, None, cx.env);
    }
    if !consent.is_dry_run() {
        // That of the hooks themselves comes first: it is where all their events go.
        let target = program.vault.as_deref().map(Path::new).or(known.as_deref());
        adopted = target.filter(|root| is_vault(root)).and_then(|root| adopt(root, cx.env));
    }
    let vault_note = match (&known, &program.vault) {
        (_, Some(vault)) => Some(format!("all events go to the vault {vault}")),
        (Some(root), None) if !is_vault(root) => Some(format!(
            "`vault` in the user configuration names {}, which is no vault: where it was moved, run `cru \
             connect` in its new folder; `cru init` makes an empty one there",
            root.display()
        )),
        (Some(root), None) => Some(format!(
            "events from folders outside of a vault go to {} (`vault` in the user configuration)",
            root.display()
        )),
        (None, None) => Some(NO_VAULT.to_owned()),
    };
    let report = report.note(vault_note).note(adopted).note(plugin_note(&new)).note(disabled_note(&new));
    let report = report.note(host.settings.note.map(str::to_owned));
    Ok(Box::new(report.note(own_name_note(&place, &program, host))))
}

/// Refuses to replace or remove a file of ours into which a person wrote.
pub(super) fn refuse_changed_script(text: &str, host: &Host, place: &SettingsPlace, cx: &Context<'_>) -> Result<()> {
    let is_ours = Record::read(RecordKind::Hooks, place, text, cx.env).is_some();
    if is_ours || !settings::is_changed_script(text, host) {
        return Ok(());
    }
    Err(Error::usage(format!("{} was changed since cru wrote it", place.path.display()))
        .with_hint("move what you wrote into a file of its own and remove this one"))
}

/// The program that settings call: as named, else this one; in settings that are shared, by its name alone.
pub(in crate::commands) fn program_path(named: Option<&str>, level: Level, env: &Env) -> Result<String> {
    match named {
        Some(path) => Ok(path.to_owned()),
        None if level == Level::Project => Ok("cru".to_owned()),
        None => utf8(&this_program(env)?),
    }
}

/// Hooks are installed and have nowhere to put their events.
const NO_VAULT: &str = "no vault is known: events from folders outside of a vault are kept until one is; run this \
                        command in the vault, or with --vault";

fn is_vault(root: &Path) -> bool {
    root.join(MARK).is_dir()
}

/// Gives a vault the events that found none before; what is told of that.
fn adopt(root: &Path, env: &Env) -> Option<String> {
    let vault = Vault::open(root).ok()?;
    let state = State::of(&vault, env).ok()?;
    let events = unfiled::adopt_all(&state, env).ok().filter(|events| *events > 0)?;
    let events = plural(events as u64, "event");
    let root = root.display();
    Some(format!("{events} that had found no vault moved to {root}; `cru admin flush --all` there writes the notes"))
}

/// Both would send each event twice.
pub(super) fn plugin_note(text: &str) -> Option<String> {
    let plugin = installed_plugin::enabled(text)?;
    Some(format!("the plugin {plugin} brings the same hooks: disable it or uninstall these, or events come twice"))
}

/// Installed and yet never called.
pub(super) fn disabled_note(text: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    (value.get("disableAllHooks")? == true)
        .then(|| "`disableAllHooks` is set in these settings: no hook is called".to_owned())
}

fn own_name_note(place: &SettingsPlace, program: &Program, host: &Host) -> Option<String> {
    (place.level == Level::Project && !program.path.contains('/'))
        .then(|| format!("whoever works in this project needs `{}` on the PATH of {}", program.path, host.title()))
}

/// The running program, by its name on `PATH` where that leads to it: such a name outlives an update.
fn this_program(env: &Env) -> Result<PathBuf> {
    let unknown = || Error::usage("the path of this program is unknown").with_hint("name it with --program");
    let file = env.program().ok_or_else(unknown)?;
    let named = env.var("PATH").into_iter().flat_map(std::env::split_paths).filter(|dir| dir.is_absolute());
    let mut named = named.map(|dir| dir.join("cru"));
    Ok(named.find(|path| same_file(path, &file)).unwrap_or(file))
}

/// Whether two paths lead to one file.
pub(super) fn same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

pub(in crate::commands) fn utf8(path: &Path) -> Result<String> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
    text.map(str::to_owned).ok_or_else(|| Error::usage(format!("{} cannot stand in settings", path.display())))
}
