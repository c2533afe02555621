//! `cru init`.

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};

use cru_settings::{SettingsFormat, entry};
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::Value;

use super::output::style::{self, paint};
use super::{Context, Output, PlainOutput, View};
use crate::base::{Error, Result, files};
use crate::live::hook::shell;
use crate::vault::scaffold::{Action, Change, scaffold};
use crate::vault::{LinkTrust, UserConfig, Vault};

/// Initialize a vault in a folder
///
/// Works in an empty folder and in an Obsidian vault alike, and asks nothing. Adds the settings in `.cru/config.toml`, a
/// CSS snippet that colours the callouts, property types, colours of the graph view, a template, and the views
/// `Sessions.base`, `Workflows.base`, `Cases.base`, `Lessons.base` and `Projects.base`. Files that exist are completed, never
/// replaced. A property that other notes of the vault use gets no type.
///
/// Nothing is written through a symbolic link that leads out of the vault, until `--trust-links` has put it into the user's
/// configuration, with the folder that it leads to now.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder, created if it is missing; else that of `--vault`, or this one
    dir: Option<PathBuf>,
    /// Trust the symbolic links to folders outside that the vault holds now, in the user's configuration
    #[arg(long)]
    trust_links: bool,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let dir = match (args.dir.as_deref(), cx.vault_arg()) {
        (Some(dir), Some(vault)) if cx.absolute(dir) != cx.absolute(vault) => {
            return Err(Error::usage("`init` was given two folders").with_hint("leave out DIR or `--vault`"));
        }
        (dir, vault) => dir.or(vault).unwrap_or(Path::new(".")),
    };
    let root = cx.absolute(dir);
    let trusted = if args.trust_links { trust_links(&root, cx)? } else { Vec::new() };
    let (changes, problems) = scaffold(&root, &new_id(&root, cx), &zone(cx))?;
    for problem in problems {
        cx.ui.warn(&problem.to_string());
    }
    let root = std::fs::canonicalize(&root).unwrap_or(root);
    let is_here = cx.env.cwd().canonicalize().is_ok_and(|here| here.starts_with(&root));
    let enter = if is_here { String::new() } else { format!("`cd {}`, then ", shell::quote(&dir.to_string_lossy())) };
    Ok(Box::new(InitReport { schema: 1, vault: root, changes, trusted, enter }))
}

/// Writes the links of a vault that lead to folders outside into the user's configuration: their owner has seen them.
fn trust_links(root: &Path, cx: &Context<'_>) -> Result<Vec<TrustedLink>> {
    let folder = cx.env.config_dir().ok_or_else(|| {
        Error::usage("there is no folder for the user's configuration").with_hint("set XDG_CONFIG_HOME or HOME")
    })?;
    // It must be one that can be read, or what is added to it is not either.
    let (known, _) = UserConfig::read(cx.env)?;
    let root = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let outside = Vault::open(&root)?.links().into_iter().filter(|link| link.trust == LinkTrust::Refused);
    let mut trusted = Vec::new();
    for link in outside {
        let place = root.join(link.path.as_path());
        let target = place.canonicalize().ok().filter(|target| target.is_dir());
        let Some(target) = target else {
            cx.ui.warn(&format!("{} leads to no folder; it stays untrusted", link.path));
            continue;
        };
        trusted.push(TrustedLink { path: place, target });
    }
    let path = folder.join("config.toml");
    let old = if path.exists() { Some(String::from_utf8_lossy(&files::read(&path)?).into_owned()) } else { None };
    let fresh = trusted.iter().filter(|link| known.links.get(&link.path) != Some(&link.target));
    let new = with_links(old.as_deref().unwrap_or_default(), &fresh.collect::<Vec<_>>(), &path)?;
    match &old {
        Some(old) => files::replace(&path, old.as_bytes(), new.as_bytes())?,
        None if new.is_empty() => {}
        None if !files::create_private(&path, new.as_bytes())? => return Err(Error::Changed { path }),
        None => {}
    }
    for link in &trusted {
        files::trust_link(&link.path, &link.target);
    }
    Ok(trusted)
}

/// The user's configuration with these links under `[links]`.
fn with_links(text: &str, links: &[&TrustedLink], path: &Path) -> Result<String> {
    if links.is_empty() {
        return Ok(text.to_owned());
    }
    let name = |path: &Path| {
        let name = path.to_str().filter(|name| !name.chars().any(char::is_control)).map(str::to_owned);
        name.ok_or_else(|| Error::usage(format!("{} is a name that no TOML text can hold", path.display())))
    };
    let fields = links.iter().map(|link| Ok((name(&link.path)?, Value::from(name(&link.target)?))));
    entry::put(text, SettingsFormat::Toml, &["links"], &fields.collect::<Result<_>>()?).map_err(|refused| {
        let place = refused.place.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
        Error::usage(format!("{}{place}: {}", path.display(), refused.message))
    })
}

/// A name for the vault's state on each machine: unlike any other, and nobody has to choose it.
fn new_id(root: &Path, cx: &Context<'_>) -> String {
    // The same folder at the same time may be another vault: the first was removed.
    let chance = || RandomState::new().build_hasher().finish();
    let seed = format!("{}\n{}\n{:x}{:x}", root.display(), cx.env.now(), chance(), chance());
    blake3::hash(seed.as_bytes()).to_hex()[..12].to_owned()
}

/// The time zone of the system, by its name; `TZ` comes first.
fn zone(cx: &Context<'_>) -> String {
    let named = cx.env.var("TZ").filter(|name| TimeZone::get(name).is_ok()).map(str::to_owned);
    let system = || TimeZone::try_system().ok()?.iana_name().map(str::to_owned);
    named.or_else(system).unwrap_or_else(|| "UTC".to_owned())
}

/// A link that is trusted from now on.
#[derive(Debug, Serialize)]
struct TrustedLink {
    path: PathBuf,
    target: PathBuf,
}

#[derive(Debug, Serialize)]
struct InitReport {
    schema: u32,
    vault: PathBuf,
    changes: Vec<Change>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trusted: Vec<TrustedLink>,
    /// What comes before the next command where the vault is another folder than this one.
    #[serde(skip)]
    enter: String,
}

impl PlainOutput for InitReport {
    fn shown(&self, _: &View) -> String {
        let mut text = format!("Vault {}\n", paint(style::TITLE, self.vault.display()));
        for change in &self.changes {
            let (mark, word) = match change.action {
                Action::Created => (paint(style::GOOD, "+"), "created"),
                Action::Merged => (paint(style::WARN, "~"), "completed"),
                Action::Kept => (paint(style::DIM, "="), "kept"),
            };
            let _ = writeln!(text, "  {mark} {:<28} {}", change.path, paint(style::DIM, word));
        }
        for link in &self.trusted {
            let _ =
                writeln!(text, "  {} {} -> {}", paint(style::GOOD, "+"), link.path.display(), link.target.display());
        }
        let _ = writeln!(text, "\nNext: {}`cru import` lists the sessions of agents on this machine.", self.enter);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_written_under_their_head() {
        let link = TrustedLink { path: "/v/sessions".into(), target: "/disk/a \"b\"".into() };
        let line = "\"/v/sessions\" = '/disk/a \"b\"'\n";
        for (old, new) in [
            ("", format!("[links]\n{line}")),
            ("vault = \"/v\"", format!("vault = \"/v\"\n\n[links]\n{line}")),
            ("[links]\n\"/w/x\" = \"/y\"\n[run]\n", format!("[links]\n\"/w/x\" = \"/y\"\n{line}[run]\n")),
            ("[links]\n\"/v/sessions\" = \"/old\" # mine\n", format!("[links]\n{} # mine\n", line.trim_end())),
            (
                "[ links ] # mine\n'/v/sessions' = '/old'\n",
                format!("[ links ] # mine\n{}", line.replacen("\"/v/sessions\"", "'/v/sessions'", 1)),
            ),
            ("a = \"\"\"\n[links]\n\"\"\"\n", format!("a = \"\"\"\n[links]\n\"\"\"\n\n[links]\n{line}")),
        ] {
            assert_eq!(with_links(old, &[&link], Path::new("c")).unwrap(), new, "{old}");
        }
        let error = with_links("links = 1\n", &[&link], Path::new("c")).unwrap_err().to_string();
        assert_eq!(error, "c: `links` is no table");
    }
}
