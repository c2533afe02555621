//! The note of an account: what is generated stands between markers, and everything else is a person's.

use jiff::ToSpan as _;
use jiff::civil::Date;

use super::{ToldSummary, period};
use crate::base::text::slug;
use crate::base::{Error, Result};
use crate::commands::{Context, reading};
use crate::memory::summary::FOLDER;
use crate::note::edit::{ChangedPage, Fill, Missing};
use crate::note::frontmatter::{Value, emit};
use crate::vault::{Vault, VaultPath, page};

/// Days that are looked back to for a daily note that a killed command did not write.
const DAYS: i64 = 7;

/// Writes an account into its note.
pub(super) fn write(mut told: ToldSummary, vault: &Vault) -> Result<ToldSummary> {
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
    told.written = page::change(vault, &vault.file(&path), |old| {
        let mut page = ChangedPage::new(old.unwrap_or(fresh.as_bytes()).to_vec());
        let fill = Fill { about: &told.zone, ..Fill::new(told.kind, &told.text, Missing::Append(None)) };
        let filled = page.fill(&fill, &|seal| page::generated(vault, seal));
        filled.map_err(|error| page::unfilled(&path.text(), told.kind, &error))?;
        Ok(page)
    })?;
    told.note = Some(path.to_string());
    Ok(told)
}

/// The beginning of a note of its own.
fn head(told: &ToldSummary) -> String {
    let title = match told.kind {
        "day" => told.name.clone(),
        "week" => format!("Week {}", told.name),
        _ => format!("Topic: {}", told.name),
    };
    let properties = emit(&[("type", Value::from("summary")), ("title", Value::from(title.as_str()))]);
    format!("---\n{properties}---\n# {}\n", crate::session::escape::inline(&title))
}

/// Brings the daily notes from this day on up to date, where the vault names them; whether they are so, but for what only a
/// person can mend. Days on which no session did anything get none. What fails is said, and stops nothing.
pub(in crate::commands) fn refresh_daily(since: Date, vault: &Vault, cx: &Context<'_>) -> bool {
    if vault.config().summary.daily.is_none() {
        return true;
    }
    let today = super::today(vault, cx);
    let first = today.checked_sub(DAYS.days()).map_or(today, |first| first.max(since.min(today)));
    let failed = |error: &Error| {
        cx.ui.warn(&format!("the daily note is not up to date: {error}"));
        matches!(error, Error::Usage { .. })
    };
    let vault = match reading::vault(cx) {
        Ok(vault) => vault,
        Err(error) => return failed(&error),
    };
    let refresh = |day| match period::day(day, &vault, cx)? {
        told if told.sessions > 0 => write(told, &vault).map(drop),
        _ => Ok(()),
    };
    let mut is_right = true;
    for day in first.series(1.day()).take_while(|day| *day <= today) {
        // A note that a person has to mend does not hold the others up.
        is_right &= refresh(day).map_or_else(|error| failed(&error), |()| true);
    }
    is_right
}
