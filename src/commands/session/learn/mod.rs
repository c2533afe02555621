//! `cru session learn`: cases to a list, a folder or a pipe.

mod folder;
mod list;

use std::collections::BTreeSet;
use std::path::PathBuf;

use rayon::prelude::*;

use crate::base::text::plural;
use crate::base::{Error, Result};
use crate::commands::{Context, Output, View, reading};
use crate::learn::{self, Export, Family, Format, Harvest, Kind, export};
use crate::note::Note;
use crate::session::{self, Session};
use crate::vault::template::{self, Template};
use crate::vault::{Catalog, Vault, VaultPath};

/// Make training and evaluation cases from sessions
///
/// A failure and what solved it is a puzzle; a person's words that set the agent right, with what it did before and
/// after, are a correction. Every answer stands in the notes: a case without one is listed with the reason, and left out
/// of what needs one. Sessions with `export: false` or the tag `no-train` stay out.
///
/// Without `--export`: a list of what there is.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which sessions; all of them when none is named
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    /// All sessions
    #[arg(short, long, conflicts_with = "sessions")]
    all: bool,
    /// Only cases of this type
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    kind: Option<KindArg>,
    /// Write the cases instead of listing them
    #[arg(long, value_enum, value_name = "FORMAT")]
    export: Option<FormatArg>,
    /// The folder to write to, made if it is missing; without it one text goes to stdout
    #[arg(short, long, value_name = "DIR", requires = "export")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum KindArg {
    /// Failures and what solved them
    Puzzle,
    /// A person's corrections
    Correction,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum FormatArg {
    /// Rows to train on, for TRL and what builds on it, with a dataset card
    Jsonl,
    /// Notes to read, by `templates/case.md`
    Markdown,
    /// Samples for evaluation with Inspect
    Puzzle,
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Jsonl => Self::Jsonl,
            FormatArg::Markdown => Self::Markdown,
            FormatArg::Puzzle => Self::Puzzle,
        }
    }
}

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = reading::vault(cx)?;
    let harvest = harvest(args, &vault, cx)?;
    let Some(format) = args.export else { return Ok(Box::new(list::List::of(harvest))) };
    if harvest.cases.is_empty() {
        return Err(Error::no("no cases to export").with_hint("`cru session learn` says what was left out and why"));
    }
    let (case, prompt) = (Template::of(&vault, template::Kind::Case)?, Template::of(&vault, template::Kind::Prompt)?);
    let layout = export::Layouts { name: &case.name, case: &case.text, prompt: prompt.text.trim() };
    let format = Format::from(format);
    let export = match &args.output {
        Some(_) => export::folder(&harvest.cases, format, layout)?,
        None => export::stream(&harvest.cases, format, layout)?,
    };
    if export.is_empty() {
        for left_out in &export.left_out {
            cx.ui.note(&format!("left out: {}: {}", left_out.title, left_out.reason.as_str()));
        }
        return Err(Error::no("no case has what this export needs"));
    }
    let Some(output) = &args.output else {
        tell(&export, cx);
        return Ok(Box::new(Stream { format, export }));
    };
    let dir = cx.absolute(output);
    let written = folder::write(&dir, &export, format)?;
    for name in folder::left_over(&dir, &export) {
        cx.ui.warn(&format!("{name} is from an earlier export and has no rows now"));
    }
    Ok(Box::new(folder::Written::of(output, format, written, &export)))
}

fn harvest(args: &Args, vault: &Vault, cx: &Context<'_>) -> Result<Harvest> {
    let catalog = Catalog::read(vault);
    let wanted = args.sessions.iter().map(|name| Ok(catalog.session(name, vault, cx.env)?.path.clone()));
    let wanted = wanted.collect::<Result<BTreeSet<_>>>()?;
    let paths = catalog.sessions().map(|head| &head.path).filter(|path| wanted.is_empty() || wanted.contains(*path));
    let read: Vec<_> = paths.collect::<Vec<_>>().par_iter().map(|path| (*path, read(vault, path))).collect();
    let mut sources = Vec::with_capacity(read.len());
    for (path, result) in read {
        match result {
            Ok((note, session)) => sources.push((path.text(), note, session)),
            Err(error) => cx.ui.warn(&error.to_string()),
        }
    }
    let notes: Vec<_> =
        sources.iter().map(|(path, note, session)| learn::Note { path, text: note.text(), session }).collect();
    let kinds: &[Kind] = match args.kind {
        None => &Kind::ALL,
        Some(KindArg::Puzzle) => &[Kind::Puzzle],
        Some(KindArg::Correction) => &[Kind::Correction],
    };
    let names: Vec<_> = catalog.sessions().map(|head| (head.path.stem(), &head.meta)).collect();
    Ok(learn::harvest(&notes, kinds, &Family::of(names.iter().map(|(name, meta)| (name.as_ref(), *meta)))))
}

/// A note with its text, which says on what line a case stands.
fn read(vault: &Vault, path: &VaultPath) -> Result<(Note, Session)> {
    let note = Note::parse(vault.read(path)?);
    let (session, _) = session::read::session(&note);
    Ok((note, session))
}

/// Says on stderr what a pipe does not show.
fn tell(export: &Export, cx: &Context<'_>) {
    for (reason, count) in export::counts(&export.left_out) {
        cx.ui.note(&format!("left out {}: {reason}", plural(count as u64, "case")));
    }
}

/// One text on stdout.
struct Stream {
    format: Format,
    export: Export,
}

impl Output for Stream {
    fn text(&self, _: &View) -> String {
        self.export.files.iter().map(|file| String::from_utf8_lossy(&file.bytes)).collect()
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        let text = self.text(&View::plain());
        let format = self.format.as_str();
        if self.format == Format::Markdown {
            return Ok(serde_json::json!({ "schema": 1, "format": format, "text": text }));
        }
        let rows: Vec<serde_json::Value> = text.lines().map(serde_json::from_str).collect::<serde_json::Result<_>>()?;
        Ok(serde_json::json!({ "schema": 1, "format": format, "rows": rows, "left_out": self.export.left_out }))
    }
}
