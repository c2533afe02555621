//! `cru session learn`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Serialize;

use crate::base::text::{plural, sanitise};
use crate::base::{Error, Result, files};
use crate::commands::output::style::{self, paint};
use crate::commands::output::{Align, Cell, Table};
use crate::commands::{Context, Output, View};
use crate::learn::{self, Case, Export, Family, File, Format, Harvest, Kind, LeftOut, Story, card, export};
use crate::note::Note;
use crate::session::{self, Session};
use crate::vault::{Catalog, Vault, VaultPath};

/// A layout of the vault's own for cases in markdown.
const LAYOUT: &str = "templates/case.md";

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
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let harvest = harvest(args, &vault, cx)?;
    let Some(format) = args.export else { return Ok(Box::new(List::of(harvest))) };
    if harvest.cases.is_empty() {
        return Err(Error::no("no cases to export").with_hint("`cru session learn` says what was left out and why"));
    }
    let layout = layout(&vault)?;
    let layout = (LAYOUT, layout.as_deref().unwrap_or(learn::TEMPLATE));
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
    let written = write(&dir, &export, format)?;
    for name in left_over(&dir, &export) {
        cx.ui.warn(&format!("{name} is from an earlier export and has no rows now"));
    }
    Ok(Box::new(Written::of(output, format, written, &export)))
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
    let note = Note::parse(files::read(&vault.file(path))?);
    let (session, _) = session::read::session(&note);
    Ok((note, session))
}

fn layout(vault: &Vault) -> Result<Option<String>> {
    let path = vault.root().join(LAYOUT);
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = files::read(&path)?;
    String::from_utf8(bytes).map(Some).map_err(|_| Error::usage(format!("{LAYOUT} is not UTF-8")))
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Fate {
    Created,
    Replaced,
    Unchanged,
    Kept,
}

/// Writes the files of an export. Rows replace rows of an earlier export; a note that stands there already may have been
/// edited and is kept. Refuses a folder whose files of these names are somebody else's, before anything is written.
fn write(dir: &Path, export: &Export, format: Format) -> Result<Vec<(String, usize, Fate)>> {
    let mut plan = Vec::new();
    for file in &export.files {
        let path = dir.join(&file.name);
        let old = if path.exists() { Some(files::read(&path)?) } else { None };
        if format != Format::Markdown && old.as_ref().is_some_and(|old| !is_ours(file, old)) {
            return Err(Error::usage(format!("{} was not written by an export", path.display()))
                .with_hint("choose an empty folder, or move the file away"));
        }
        plan.push((file, path, old));
    }
    let mut written = Vec::new();
    for (file, path, old) in plan {
        let fate = match old {
            Some(old) if old == file.bytes => Fate::Unchanged,
            Some(_) if format == Format::Markdown => Fate::Kept,
            Some(old) => {
                files::replace(&path, &old, &file.bytes)?;
                Fate::Replaced
            }
            None if files::create(&path, &file.bytes)? => Fate::Created,
            None => return Err(Error::Changed { path }),
        };
        written.push((file.name.clone(), file.rows, fate));
    }
    files::sync_dir(dir);
    Ok(written)
}

/// Whether bytes in the place of a file of rows or a card come from an earlier export.
fn is_ours(file: &File, old: &[u8]) -> bool {
    let text = String::from_utf8_lossy(old);
    match file.name.as_str() {
        "README.md" => text.contains(card::MARK),
        _ => text.trim().is_empty() || text.lines().next().is_some_and(|row| row.contains(r#""exporter":"cru "#)),
    }
}

/// Files of rows that an earlier export left and this one has no rows for.
fn left_over(dir: &Path, export: &Export) -> Vec<&'static str> {
    let has_card = export.files.iter().any(|file| file.name == "README.md");
    let rows = ["sft.jsonl", "preference.jsonl"].into_iter().filter(|_| has_card);
    rows.filter(|name| export.files.iter().all(|file| file.name != *name) && dir.join(name).exists()).collect()
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

/// What an export wrote.
#[derive(Debug, Serialize)]
struct Written {
    schema: u32,
    format: &'static str,
    dir: PathBuf,
    files: Vec<WrittenFile>,
    left_out: Vec<LeftOut>,
}

#[derive(Debug, Serialize)]
struct WrittenFile {
    name: String,
    rows: usize,
    fate: Fate,
}

impl Written {
    fn of(dir: &Path, format: Format, written: Vec<(String, usize, Fate)>, export: &Export) -> Self {
        let files = written.into_iter().map(|(name, rows, fate)| WrittenFile { name, rows, fate }).collect();
        Self { schema: 1, format: format.as_str(), dir: dir.to_owned(), files, left_out: export.left_out.clone() }
    }

    fn count(&self, fate: Fate) -> usize {
        self.files.iter().filter(|file| file.fate == fate).count()
    }
}

impl Output for Written {
    fn text(&self, view: &View) -> String {
        let mut text = String::new();
        let dir = self.dir.display();
        if self.format == Format::Markdown.as_str() {
            let _ = writeln!(text, "{} in {dir}", paint(style::TITLE, plural(self.files.len() as u64, "case")));
            for (fate, words) in [
                (Fate::Created, "written"),
                (Fate::Unchanged, "unchanged"),
                (Fate::Kept, "kept as they are: edited, or from other text"),
            ] {
                if self.count(fate) > 0 {
                    let _ = writeln!(text, "  {} {words}", self.count(fate));
                }
            }
        } else {
            let mut table = Table::new(&[("FILE", Align::Left), ("ROWS", Align::Right), ("", Align::Left)]);
            for file in &self.files {
                let rows = if file.rows > 0 { file.rows.to_string() } else { "–".to_owned() };
                let fate = match file.fate {
                    Fate::Created => Cell::new("created").style(style::GOOD),
                    Fate::Replaced => Cell::new("replaced").style(style::WARN),
                    Fate::Unchanged | Fate::Kept => Cell::new("unchanged").style(style::DIM),
                };
                let path = self.dir.join(&file.name);
                table.row([Cell::new(path.to_string_lossy()).style(style::ID), Cell::new(rows), fate]);
            }
            text.push_str(&table.render(view));
        }
        left_out(&mut text, &self.left_out);
        if self.format == Format::Jsonl.as_str() {
            let _ =
                write!(text, "\nNext: load_dataset(\"{dir}\", \"sft\") in Python; {dir}/README.md says the rest.\n");
        }
        text
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }
}

/// What there is, without an export.
#[derive(Debug, Serialize)]
struct List {
    schema: u32,
    puzzles: usize,
    corrections: usize,
    /// How many of them an export that needs an answer takes.
    with_answer: usize,
    cases: Vec<Row>,
    left_out: Vec<LeftOut>,
}

#[derive(Debug, Serialize)]
struct Row {
    id: String,
    kind: Kind,
    title: String,
    session: String,
    path: String,
    line: usize,
    block: String,
    /// How the answer is known: `later success`, `resolution`, `response`, or empty.
    evidence: &'static str,
    verified: bool,
    rule: &'static str,
    /// Things done in the answer.
    steps: usize,
}

impl List {
    fn of(harvest: Harvest) -> Self {
        let count = |kind| harvest.cases.iter().filter(|case| case.kind() == kind).count();
        let mut left_out = harvest.left_out;
        left_out.extend(harvest.cases.iter().filter_map(|case| Some(case.left_out(case.gap()?))));
        Self {
            schema: 1,
            puzzles: count(Kind::Puzzle),
            corrections: count(Kind::Correction),
            with_answer: harvest.cases.iter().filter(|case| case.gap().is_none()).count(),
            cases: harvest.cases.iter().map(Row::of).collect(),
            left_out,
        }
    }
}

impl Row {
    fn of(case: &Case) -> Self {
        let (rule, answer) = match &case.story {
            Story::Puzzle(it) => ("", &it.fix),
            Story::Correction(it) => (it.rule, &it.response),
        };
        Self {
            id: case.id.clone(),
            kind: case.kind(),
            title: case.title.clone(),
            session: case.origin.session.clone(),
            path: case.origin.source.path.clone(),
            line: case.origin.source.line_start,
            block: case.origin.source.block_id.clone(),
            evidence: case.evidence(),
            verified: case.verified(),
            rule,
            steps: answer.iter().filter(|entry| entry.is_step()).count(),
        }
    }

    /// `later success, 4 steps`; `denied, 3 steps`; `no answer`.
    fn hints(&self) -> Cell {
        if self.evidence.is_empty() {
            return Cell::new("no answer").style(style::DIM);
        }
        let word = if self.rule.is_empty() { self.evidence } else { self.rule };
        let steps = if self.steps > 0 { format!(", {}", plural(self.steps as u64, "step")) } else { String::new() };
        let look = if self.verified { style::GOOD } else { anstyle::Style::new() };
        Cell::new(format!("{word}{steps}")).style(look)
    }
}

impl Output for List {
    fn text(&self, view: &View) -> String {
        let mut text = String::new();
        if self.cases.is_empty() {
            text.push_str("No cases: no error with a callout and no correction in these sessions.\n");
            left_out(&mut text, &self.left_out);
            return text;
        }
        let mut table = Table::new(&[
            ("SESSION", Align::Left),
            ("CASE", Align::Left),
            ("ANSWER", Align::Left),
            ("TITLE", Align::Left),
        ]);
        let mut before = "";
        for row in &self.cases {
            // The id once for each session, so that the eye finds where one begins; a pipe has it on every line.
            let session = if view.terminal && row.session == before { "" } else { row.session.as_str() };
            before = &row.session;
            table.row([
                Cell::new(session).style(style::ID),
                Cell::new(row.kind.as_str()).style(match row.kind {
                    Kind::Puzzle => style::WARN,
                    Kind::Correction => style::AGENT,
                }),
                row.hints(),
                Cell::new(&row.title),
            ]);
        }
        text.push_str(&table.render(view));
        let sessions = self.cases.iter().map(|row| &row.session).collect::<BTreeSet<_>>().len();
        let _ = writeln!(
            text,
            "\n{}: {} and {}, {} with an answer",
            paint(
                style::TITLE,
                format!("{} in {}", plural(self.cases.len() as u64, "case"), plural(sessions as u64, "session"))
            ),
            plural(self.puzzles as u64, "puzzle"),
            plural(self.corrections as u64, "correction"),
            self.with_answer,
        );
        left_out(&mut text, &self.left_out);
        if self.with_answer > 0 {
            text.push_str("\nNext: `cru session learn --export jsonl -o cases` writes rows to train on, `--export markdown` notes to read,\n`--export puzzle` samples to evaluate with.\n");
        }
        text
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }

    fn paged(&self) -> bool {
        true
    }

    /// Nothing found is the answer "no".
    fn exit_code(&self) -> u8 {
        u8::from(self.cases.is_empty())
    }
}

/// What was left out, by reason, each with its place.
fn left_out(text: &mut String, left_out: &[LeftOut]) {
    const SHOWN: usize = 5;
    if left_out.is_empty() {
        return;
    }
    text.push_str("\nLeft out:\n");
    for (reason, count) in export::counts(left_out) {
        let _ = writeln!(text, "  {count} {}", paint(style::WARN, &reason));
        let mut of_reason = left_out.iter().filter(|it| it.reason.as_str() == reason);
        for it in of_reason.by_ref().take(SHOWN) {
            let place = format!("{}:{}", it.source.path, it.source.line_start);
            let _ = writeln!(text, "    {}  {}", paint(style::DIM, sanitise(&place)), sanitise(&it.title));
        }
        let more = of_reason.count();
        if more > 0 {
            let _ = writeln!(text, "    {}", paint(style::DIM, format!("… {more} more")));
        }
    }
}
