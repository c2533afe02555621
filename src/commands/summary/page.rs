//! The note of an account: what is generated stands between markers, and everything else is a person's.

use super::{ToldSummary, period, zone};
use crate::base::text::slug;
use crate::base::{Error, Result, files};
use crate::commands::{Context, reading};
use crate::memory::summary::FOLDER;
use crate::note::edit::replace_region;
use crate::note::{Note, Patch};
use crate::vault::{Vault, VaultPath};

/// How often a note that somebody else writes is written again.
const TRIES: usize = 8;

/// Writes an account into its note.
pub(super) fn write(mut told: ToldSummary, vault: &Vault) -> Result<ToldSummary> {
    vault.writable()?;
    let daily = vault.config().summary.daily.as_deref().filter(|_| told.kind == "day");
    let path = match daily {
        Some(template) => template.replace("{date}", &told.name),
        None if told.kind == "topic" => format!("{FOLDER}/{}.md", slug(&told.name, 8)),
        None => format!("{FOLDER}/{}.md", told.name),
    };
    let path = VaultPath::new(&path).ok_or_else(|| {
        Error::usage(format!("'{path}' is not a note inside the vault"))
            .with_hint("`[summary] daily` is a relative path such as \"Daily/{date}.md\"")
    })?;
    let fresh = if daily.is_some() { String::new() } else { head(&told) };
    let file = vault.file(&path);
    for _ in 0..TRIES {
        let old = if file.exists() { Some(files::read(&file)?) } else { None };
        let text = match &old {
            Some(old) => {
                std::str::from_utf8(old).map_err(|_| Error::usage(format!("{path} is no UTF-8 text")))?.to_owned()
            }
            None => fresh.clone(),
        };
        let new = with_region(&text, &told).map_err(|()| {
            Error::usage(format!("the marks in {path} are broken")).with_hint(format!(
                "correct `<!-- cru:begin {} -->` and `<!-- cru:end -->`, each once and on a line of its own",
                told.kind
            ))
        })?;
        told.note = Some(path.to_string());
        match old {
            Some(old) if new.as_bytes() == old => return Ok(told),
            Some(old) => match files::replace_within(vault.root(), &file, &old, new.as_bytes()) {
                Err(Error::Changed { .. }) => continue,
                other => other?,
            },
            None => {
                if let Some(folder) = file.parent() {
                    files::create_dir(folder)?;
                }
                if !files::create(&file, new.as_bytes())? {
                    continue;
                }
            }
        }
        told.written = true;
        return Ok(told);
    }
    Err(Error::Changed { path: file })
}

/// The beginning of a note of its own.
fn head(told: &ToldSummary) -> String {
    let title = match told.kind {
        "day" => told.name.clone(),
        "week" => format!("Week {}", told.name),
        _ => format!("Topic: {}", told.name),
    };
    let quoted = serde_json::to_string(&title).unwrap_or_default();
    format!("---\ntype: summary\ntitle: {quoted}\n---\n# {}\n", crate::session::escape::inline(&title))
}

/// The text with the account in its region, which is put at the end where there is none.
fn with_region(text: &str, told: &ToldSummary) -> Result<String, ()> {
    let kind = told.kind;
    let mut text = text.to_owned();
    if !text.contains(&format!("<!-- cru:begin {kind}")) {
        if !text.is_empty() {
            let end = if text.ends_with("\n\n") {
                ""
            } else if text.ends_with('\n') {
                "\n"
            } else {
                "\n\n"
            };
            text.push_str(end);
        }
        text.push_str(&format!("<!-- cru:begin {kind} -->\n<!-- cru:end -->\n"));
    }
    let note = Note::parse(text.as_str());
    let patch: Patch = replace_region(&note, kind, &told.zone, &told.text, "").map_err(drop)?;
    Ok(patch.apply_to(&text))
}

/// Brings the daily note of this day up to date, where the vault names one. What fails is said, and stops nothing.
pub(in crate::commands) fn refresh_daily(vault: &Vault, cx: &Context<'_>) {
    if vault.config().summary.daily.is_none() {
        return;
    }
    let today = cx.env.now().to_zoned(zone(vault)).date();
    let written = reading::vault(cx).and_then(|vault| write(period::day(today, &vault, cx)?, &vault));
    if let Err(error) = written {
        cx.ui.warn(&format!("the daily note is not up to date: {error}"));
    }
}
